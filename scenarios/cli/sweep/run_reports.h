/* The files that a command's results are written to, beside its text: JSON, JUnit XML, SARIF, step
 * summary. */
#ifndef SCENARIOS_CLI_SWEEP_RUN_REPORTS_H
#define SCENARIOS_CLI_SWEEP_RUN_REPORTS_H

#include "reports/records.h"
#include "scenarios/cli/session.h"

/* Whether all files that are asked for can be made; asked before long work. */
MUST_USE enum status run_reports_check(const struct options *options);

/* Fill what a record says of its scenario for reports: its file, as seen from the current folder, and
 * the oracles that judge. */
void run_reports_describe(struct session *session,
                          const struct scenario *scenario,
                          const char *word,
                          struct report_run *run);

/* Write them. STATUS_OK, or STATUS_USAGE with a line on standard error. */
MUST_USE enum status run_reports_write(struct session *session,
                                       const struct report_run *runs,
                                       size_t count,
                                       const struct report_baseline *baseline_or_null);
MUST_USE enum status run_reports_write_claims(const struct options *options,
                                              const struct report_claim *claims,
                                              size_t count);

#endif
