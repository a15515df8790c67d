/* Reports as JSON: one object with "schema": 1 and a list of records, in insertion order, without
 * reals; ids, seeds and digests are strings. */
#ifndef REPORTS_JSON_H
#define REPORTS_JSON_H

#include "reports/matrix.h"
#include "reports/records.h"

#include <stdio.h>

/* Write a whole file. False when memory or the stream gave out. */
bool report_json_runs(FILE *file, const struct report_run *runs, size_t count);
bool report_json_explored(FILE *file, const struct report_explored *explored, size_t count);
/* Claims alone, and the whole matrix: docs/schema/matrix.json. */
bool report_json_matrix(FILE *file, const struct report_matrix *matrix);
bool report_json_mutants(FILE *file, const struct report_mutant *mutants, size_t count);
bool report_json_entries(FILE *file, const struct report_entry *entries, size_t count);
bool report_json_survey(FILE *file, const struct report_survey *survey);
bool report_json_explanations(FILE *file, const struct report_explanation *list, size_t count);
bool report_json_metrics(FILE *file, const struct report_metric *metrics, size_t count);

#endif
