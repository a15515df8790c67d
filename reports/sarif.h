/* Reports as SARIF 2.1.0 (OASIS standard, 27 March 2020): a rule per oracle, a result per violation
 * that was not asked for, at the file of its scenario, with the story of its subject as a code flow. A
 * result is matched with those of other runs by its fingerprint (3.27.17), never by a line. */
#ifndef REPORTS_SARIF_H
#define REPORTS_SARIF_H

#include "reports/records.h"

#include <stdio.h>

struct report_rule {
    const char *name;
    const char *sentence; /* what must hold */
};

struct report_sarif {
    const char *version; /* of the program */
    const char *clauses; /* digest of what the models follow */
    const struct report_rule *rules;
    size_t rule_count;
    const struct report_run *runs;
    size_t run_count;
};

/* The rule of a verdict that is not as expected where no oracle says why; always among the rules. */
#define REPORT_RULE_VERDICT "verdict"

/* Write a whole file. False when memory or the stream gave out. */
bool report_sarif_runs(FILE *file, const struct report_sarif *sarif);

#endif
