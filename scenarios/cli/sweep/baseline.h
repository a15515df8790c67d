/* An earlier run's results, read from its JSON: what of the failures found now is new, and what of the
 * ones known then is still there. A failure is known by its fingerprint (reports/failure.h). One that no
 * seed found again is looked for where it was: its tape is run. */
#ifndef SCENARIOS_CLI_SWEEP_BASELINE_H
#define SCENARIOS_CLI_SWEEP_BASELINE_H

#include "reports/records.h"
#include "scenarios/cli/session.h"

struct baseline;

/* Read the file. STATUS_OK, or STATUS_USAGE with a line on standard error. It lives in the session's
 * texts. */
MUST_USE enum status
baseline_read(struct session *session, const char *path, struct baseline **baseline);

/* Compare the record of a scenario that was run: mark its violations and its verdict as new or known,
 * and note what became of the earlier ones. */
void baseline_compare(struct baseline *baseline,
                      const struct scenario *scenario,
                      struct report_run *run);

/* What all comparisons came to. */
const struct report_baseline *baseline_record(struct baseline *baseline);

/* The exit status that a compared sweep asks for: as without a baseline, but for what is known. */
MUST_USE enum status baseline_status(const struct report_run *run);

#endif
