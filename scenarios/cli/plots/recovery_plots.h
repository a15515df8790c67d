/* How one run recovers: records that were to arrive and those that are visible, and the lag between them,
 * over time, with the outages of the job. */
#ifndef SCENARIOS_CLI_PLOTS_RECOVERY_PLOTS_H
#define SCENARIOS_CLI_PLOTS_RECOVERY_PLOTS_H

#include "scenarios/cli/plots/plot_points.h"

/* Make the run of a request, which what names, and draw it. STATUS_OK, or what went wrong with the
 * files. */
MUST_USE enum status recovery_plots_draw(struct plotting *plotting,
                                         const struct scenario *scenario,
                                         const struct run_request *request,
                                         const char *what);

#endif
