/* A violation in the lines that a person acts on, whatever the format they stand in: verdict, subject,
 * the minimal choices in words, the event that decided, the command that replays it. */
#ifndef REPORTS_FAILURE_H
#define REPORTS_FAILURE_H

#include "reports/records.h"

/* Lines of one violation, the command included (DESIGN section 7). */
#define REPORT_FAILURE_LINES 12

/* What a line is about, for a format that sets them apart. */
enum failure_part {
    FAILURE_PART_PLAIN = 0,
    FAILURE_PART_BROKEN,
    FAILURE_PART_COMMAND,
};

/* Takes each line, without its end, and with its indent; it holds no control character. */
typedef void failure_line(void *context, enum failure_part part, const char *line);

void failure_lines(const struct report_violation *violation, void *context, failure_line *take);

/* The same in one line, where there are too many. */
void failure_brief(const struct report_violation *violation, void *context, failure_line *take);

#define FAILURE_FINGERPRINT_SIZE 33

/* What stays the same of a violation wherever it is found again: a digest of scenario, oracle, subject
 * and the entries of its tape. Neither seed nor build nor place is in it. */
void failure_fingerprint(const char *scenario,
                         const struct report_violation *violation,
                         char fingerprint[FAILURE_FINGERPRINT_SIZE]);

#endif
