/* What a scenario's times come to: how long a record takes to be seen, how much is staged, how long a
 * commit drains, and how long an outage is made up for. By formula, from the settings alone, and as a
 * run measures it: the calm one, and one in which a process dies in the middle. */
#ifndef SCENARIOS_TIMING_FIGURES_H
#define SCENARIOS_TIMING_FIGURES_H

#include "scenarios/timing/probe.h"

enum timing_figure_id {
    FIGURE_LATENCY_FLOOR =
        0,               /* of any record, from its arrival on: it comes just before its barrier */
    FIGURE_LATENCY_MOST, /* it comes just behind one */
    FIGURE_LATENCY_P95,
    FIGURE_LAG,            /* age of the oldest that arrived and is not seen, at its longest */
    FIGURE_SPACING,        /* of triggers, at its longest */
    FIGURE_DURATION,       /* from a trigger to its completion, at its longest */
    FIGURE_STAGED_RECORDS, /* between two barriers, at its most */
    FIGURE_STAGED_BYTES,   /* of their values */
    FIGURE_DRAIN,          /* of a commit, at its longest; its limit is the checkpoint timeout */
    FIGURE_UTILISATION,    /* of what requests at that concurrency could do, in thousandths */
    FIGURE_OUTAGE,         /* from the last position that a checkpoint has, to the restart */
    FIGURE_CATCH_UP,       /* from the restart until nothing is later than before */
    FIGURE_COUNT,
};

struct timing_figure {
    bool has_formula;
    bool has_simulated;
    uint64_t formula;
    uint64_t simulated;
    uint64_t limit; /* 0: none */
};

struct timing_figures {
    struct timing_figure items[FIGURE_COUNT];
};

const char *timing_figure_name(uint32_t id);
/* "ns", "records", "bytes" or "permille". */
const char *timing_figure_unit(uint32_t id);

/* Fill the formulas. Nothing is run. */
void timing_figures_of(const struct scenario *scenario, struct timing_figures *figures);

/* Make the runs and fill what they measure. ERR_OK; ERR_LIMIT without memory; ERR_INVALID when the
 * scenario cannot be varied, and *fault says why. */
MUST_USE enum err timing_simulate(struct text_pool *texts,
                                  const struct timing_source *source,
                                  const struct scenario *scenario,
                                  struct timing_figures *figures,
                                  struct scenario_fault *fault);

#endif
