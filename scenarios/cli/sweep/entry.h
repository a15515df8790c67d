/* Regressions: tapes that are kept, with what their runs are to show (STYLE 55). An entry is a text
 * tape whose header names scenario, verdict, oracle and subject: "fails" where the oracle must still
 * find that subject broken, "holds" where what it found was mended and must not come back.
 *
 * Code changes, and tapes with it. Where an entry's tape is out of step with its run, or no longer
 * shows the failure, what it stands for is looked for near it (sim/search/near.h) before it is called
 * stale. */
#ifndef SCENARIOS_CLI_SWEEP_ENTRY_H
#define SCENARIOS_CLI_SWEEP_ENTRY_H

#include "reports/records.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/reproducer.h"

struct entry {
    const char *path;
    struct tape_header header;
    struct tape tape; /* entries live in the session's texts */
    struct culprit culprit;
    enum report_verdict was;
};

/* Read an entry; its header must be whole. STATUS_OK, or STATUS_USAGE with a line on standard
 * error. */
MUST_USE enum status entry_read(struct session *session, const char *path, struct entry *entry);

/* Its scenario, under its profile. The same. */
MUST_USE enum status
entry_scenario(struct session *session, const struct entry *entry, struct scenario **scenario);

/* Run it, and look near it where that is called for; texts of the record live in the session's.
 * STATUS_OK, or STATUS_INTERNAL with a line on standard error. */
MUST_USE enum status entry_judge(struct session *session,
                                 const struct entry *entry,
                                 const struct scenario *scenario,
                                 struct report_entry *record);

/* The exit status that a judged entry asks for. */
enum status entry_status(const struct options *options, const struct report_entry *record);

/* Write over the file what the record found: STATUS_OK, or STATUS_USAGE with a line. Comments above
 * the tape are kept. */
MUST_USE enum status
entry_update(struct session *session, const struct entry *entry, const struct report_entry *record);

/* A tape as text, into the pool. */
char *
entry_text(struct text_pool *texts, const struct tape_header *header, const struct tape *tape);

/* What a kept tape says of the finding that its run is to show, and of the run. */
void entry_fill_header(struct text_pool *texts,
                       const struct culprit *culprit,
                       uint64_t digest,
                       struct tape_header *header);

#endif
