/* How a scenario's sink does under other loads than the scenario's own: calm runs of it with one field
 * changed after the other. What it has no place for (no checkpoints, no such option) is told in a line. */
#ifndef SCENARIOS_CLI_PLOTS_LOAD_PLOTS_H
#define SCENARIOS_CLI_PLOTS_LOAD_PLOTS_H

#include "scenarios/cli/plots/run_plots.h"

/* Visibility latency against the checkpoint interval. */
void load_plots_interval(struct plotting *plotting, const struct run_plots_subject *subject);

/* Throughput against the requests in flight, for three shares of a hot key. */
void load_plots_throughput(struct plotting *plotting, const struct run_plots_subject *subject);

#endif
