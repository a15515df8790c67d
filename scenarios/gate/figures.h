/* Published figures: decimal texts with the digits that they were printed with. What was rounded before
 * it was printed may move the last digit of a ratio that is made of it; how far is computed, too. */
#ifndef SCENARIOS_GATE_FIGURES_H
#define SCENARIOS_GATE_FIGURES_H

#include "scenarios/gate/decision.h"

/* What a figure is counted in. */
enum figure_scale {
    FIGURE_MILLI = 3, /* records per 1000 s, of records per second; decimals that fit */
    FIGURE_NANOS = 6, /* ns, of ms */
};

struct figure {
    uint64_t value;
    uint64_t unit; /* of its last printed digit */
};

/* Parse "24.39"; false when it is none, or has more decimals than the scale. */
bool figure_parse(const char *text, enum figure_scale scale, struct figure *figure);

struct figures_arm {
    uint64_t throughput_unit;
    uint64_t latency_unit;
};

struct figures {
    const struct decision_input *input;
    struct figures_arm arms[DECISION_SIDE_COUNT];
};

/* What a ratio may have been before its figures were rounded. */
struct figures_range {
    struct decision_ratio least;
    struct decision_ratio most;
};

struct figures_range figures_throughput_range(const struct figures *figures);
struct figures_range figures_latency_range(const struct figures *figures);
/* (max - min) / mean, in percent. */
struct figures_range figures_variation_range(const struct figures *figures,
                                             enum decision_side side);

enum figures_match {
    FIGURES_DIFFER = 0,
    FIGURES_EQUAL,           /* rounded to as many digits */
    FIGURES_WITHIN_ROUNDING, /* what was published is possible */
};

/* Compare a ratio with what was published; computed gets it with as many digits. */
enum figures_match figures_compare(const char *published,
                                   struct decision_ratio ratio,
                                   struct figures_range range,
                                   char computed[32]);

#endif
