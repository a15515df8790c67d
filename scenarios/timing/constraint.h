/* The timing constraints of a scenario: which of its independently set times must exceed which, and by
 * how much they do. Those of the engine stand here; a sink type and a model bring their own as data
 * (struct sink_timing), and nothing here knows of any service. */
#ifndef SCENARIOS_TIMING_CONSTRAINT_H
#define SCENARIOS_TIMING_CONSTRAINT_H

#include "scenarios/timing/facts.h"

#define TIMING_CONSTRAINT_MAX 64u

/* What brings about the worst case of a constraint: by what one failure it can be shown. */
enum timing_shape {
    TIMING_SHAPE_NONE = 0,
    TIMING_SHAPE_REFUSED, /* nothing: the job is refused, before it runs or by its first calls */
    TIMING_SHAPE_CALM,    /* nothing: the run without any deviation */
    TIMING_SHAPE_CRASH,   /* a process dies */
    TIMING_SHAPE_RETRIES, /* an outage that a request's budget only just outlasts */
    TIMING_SHAPE_CLOCK,   /* a process dies, and the clock of its next life is another */
};

/* One summand. */
struct timing_term {
    const char
        *name; /* "sink.options.name_retention", "engine.checkpoint.timeout", "replay horizon" */
    nanos value;
};

struct timing_constraint {
    const struct sink_timing *timing;
    const char *owner; /* "engine", or the sink's or model's name */
    uint8_t shape;     /* enum timing_shape */
    struct timing_term left[SINK_TIMING_SIDE_MAX];
    uint32_t left_count;
    struct timing_term right[SINK_TIMING_SIDE_MAX];
    uint32_t right_count;
    int64_t margin; /* by how much right may grow and the constraint still be held; negative: it is
                       not. INT64_MAX and INT64_MIN: so much or more */
};

struct timing_constraints {
    struct timing_facts facts;
    struct timing_constraint items[TIMING_CONSTRAINT_MAX]; /* the worst margin first */
    uint32_t count;
};

/* List the constraints that apply. The scenario is borrowed. Nothing is run. */
void timing_constraints_of(const struct scenario *scenario, struct timing_constraints *constraints);

/* The one of a name, or NULL. */
const struct timing_constraint *timing_constraint_find(const struct timing_constraints *constraints,
                                                       const char *name);

/* "crash". */
const char *timing_shape_name(uint32_t shape);

/* What of a model's or sink's table of constraints is malformed, or NULL. */
const char *timing_fault_of(const struct sink_timing *timing, size_t option_count);

#endif
