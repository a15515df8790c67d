/* What gate --plots draws of its cells: p95 against the checkpoint interval, and throughput against
 * concurrency and hot keys, of a candidate beside its current path. Its own figures: no runs are made. */
#ifndef SCENARIOS_CLI_PLOTS_GATE_PLOTS_H
#define SCENARIOS_CLI_PLOTS_GATE_PLOTS_H

#include "reports/gate.h"
#include "scenarios/cli/plots/plotting.h"

/* Of each candidate that has cells with a verdict; others are told in a line. */
void gate_plots_draw(struct plotting *plotting, const struct report_gate *gate);

#endif
