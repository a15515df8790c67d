/* Reports as a step summary: Markdown with a little HTML, as CI systems show it beside a build. Short:
 * a table, and each failure's lines behind a fold. No times: the same results are the same bytes. */
#ifndef REPORTS_STEP_SUMMARY_H
#define REPORTS_STEP_SUMMARY_H

#include "reports/records.h"

#include <stdio.h>

/* Write what is to be added to the summary. False when the stream gave out. */
bool report_step_summary_runs(FILE *file,
                              const struct report_run *runs,
                              size_t count,
                              const struct report_baseline *baseline_or_null);

bool report_step_summary_claims(FILE *file, const struct report_claim *claims, size_t count);

#endif
