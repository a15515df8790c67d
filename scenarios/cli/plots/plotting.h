/* Plots in a folder: of each the table, the script, and what gnuplot draws of it. */
#ifndef SCENARIOS_CLI_PLOTS_PLOTTING_H
#define SCENARIOS_CLI_PLOTS_PLOTTING_H

#include "reports/plot.h"
#include "scenarios/cli/session.h"

struct plotting {
    struct session *session;
    const char *folder; /* of --plots */
    bool lacks_gnuplot; /* read: it was told */
    uint32_t written;   /* read: plots */
    enum status status; /* read: the worst so far */
};

/* Make the folder. STATUS_OK, or STATUS_USAGE with a line on standard error. */
MUST_USE enum status plotting_open(struct plotting *plotting, struct session *session);

/* Write and draw a plot. One whose series hold no point is told and not written. */
void plotting_add(struct plotting *plotting, const struct report_plot *plot);

/* A file's name from what it is of: "latency-interval-cloudtasks-exactly-once". */
const char *plotting_name(struct plotting *plotting, const char *kind, const char *scenario);

/* Say what was left where. */
void plotting_close(const struct plotting *plotting);

#endif
