/* What commands leave: files of results, and colours on a terminal. */
#ifndef SCENARIOS_CLI_OUTPUT_H
#define SCENARIOS_CLI_OUTPUT_H

#include "reports/gate.h"
#include "reports/records.h"
#include "reports/text.h"
#include "scenarios/cli/status.h"

/* Write records to path: STATUS_OK, or STATUS_USAGE with a line on standard error. A path that is
 * NULL asks for no file. */
enum status output_runs(const char *path_or_null, const struct report_run *runs, size_t count);
enum status
output_explored(const char *path_or_null, const struct report_explored *explored, size_t count);
enum status
output_mutants(const char *path_or_null, const struct report_mutant *mutants, size_t count);
enum status
output_entries(const char *path_or_null, const struct report_entry *entries, size_t count);
enum status output_survey(const char *path_or_null, const struct report_survey *survey);
enum status output_explanation(const char *path_or_null,
                               const struct report_explanation *explanation);
enum status output_gate(const char *path_or_null, const struct report_gate *gate);
enum status
output_metrics(const char *path_or_null, const struct report_metric *metrics, size_t count);

/* Whether a file can be made there; asked before long work. STATUS_OK or STATUS_USAGE, as above. */
enum status output_check(const char *path_or_null);
/* The same of an option that is not --json. */
enum status output_check_of(const char *option, const char *path_or_null);

/* Write by a writer to the file of an option, whole or not at all: the same. */
enum status output_whole(const char *option,
                         const char *path_or_null,
                         const void *context,
                         bool write(const void *context, FILE *file));

/* The same, added to what the file holds. */
enum status output_added(const char *option,
                         const char *path_or_null,
                         const void *context,
                         bool write(const void *context, FILE *file));

/* Colour where standard output is a terminal that can show it, and NO_COLOR is not set. */
enum report_style output_style(void);

#endif
