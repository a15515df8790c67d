/* Small literals of results, for the tests of the formats that they are written in. */
#ifndef REPORTS_REPORT_TESTKIT_H
#define REPORTS_REPORT_TESTKIT_H

#include "reports/records.h"

#include <stdio.h>

/* Text that tries to be more than text in every format. */
#define KIT_HOSTILE "a\x01\xff<b>&\"']]>\n|*"

/* Two violations of one sweep, of which the first has a story. */
extern const struct report_violation kit_violations[2];

/* A sweep that fails by them; as expected; that is inconclusive; and that a limit ended. */
struct report_run kit_failing(void);
struct report_run kit_holding(void);
struct report_run kit_inconclusive(void);
struct report_run kit_limited(void);

/* What was written to a file, which is closed. Free it. */
char *kit_read(FILE *file);

/* Require that a file, which is closed, has the bytes of reports/golden/NAME. What it has instead is
 * left as build/golden-NAME. */
void kit_assert_golden(FILE *file, const char *name);

#endif
