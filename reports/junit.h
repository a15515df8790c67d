/* Reports as JUnit XML, as CI systems read it: a test case per scenario, profile and property, and one
 * for the verdict where no property was broken and it is not as expected all the same. No times, no
 * host, no date: the same results are the same bytes.
 *
 * What is known from a baseline is a skipped case, not a failed one. */
#ifndef REPORTS_JUNIT_H
#define REPORTS_JUNIT_H

#include "reports/records.h"

#include <stdio.h>

/* Write a whole file. False when the stream gave out. */
bool report_junit_runs(FILE *file, const struct report_run *runs, size_t count);

/* A test case per claim. */
bool report_junit_claims(FILE *file, const struct report_claim *claims, size_t count);

#endif
