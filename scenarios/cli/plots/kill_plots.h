/* How many runs it takes until planted bugs are killed, per search. */
#ifndef SCENARIOS_CLI_PLOTS_KILL_PLOTS_H
#define SCENARIOS_CLI_PLOTS_KILL_PLOTS_H

#include "reports/records.h"
#include "scenarios/cli/session.h"

/* Of what mutants found by its own search. STATUS_OK, or what went wrong with the files. */
MUST_USE enum status
kill_plots_of_records(struct session *session, const struct report_mutant *records, size_t count);

/* Of the table that tools/searches printed: a line of heads, "mutant seeds pct explore ...", and a line
 * per bug with the runs of each search, "-" where it found nothing. STATUS_USAGE when it is none. */
MUST_USE enum status kill_plots_of_table(struct session *session, const char *path);

#endif
