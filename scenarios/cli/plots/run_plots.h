/* What run --plots draws of its scenarios: how long records take until they are visible, how that
 * follows the checkpoint interval, what is written through at which concurrency and share of a hot key,
 * and how fast a sweep reaches new behaviour. Virtual time, from the journals of runs made for it. */
#ifndef SCENARIOS_CLI_PLOTS_RUN_PLOTS_H
#define SCENARIOS_CLI_PLOTS_RUN_PLOTS_H

#include "reports/records.h"
#include "scenarios/cli/plots/plot_points.h"
#include "scenarios/cli/seeds.h"

#define RUN_PLOTS_SEEDS 200u /* of a sweep, at most, that are measured */

struct run_plots_subject {
    const char *word; /* how the user named the scenario */
    const struct scenario *scenario;
    const struct report_run *run;
    struct seed_range seeds;
};

/* Draw all of it. What a scenario has no place for (no checkpoints, no such option) is told in a
 * line. */
void run_plots_draw(struct plotting *plotting,
                    const struct run_plots_subject *subjects,
                    size_t count);

#endif
