/* A constraint put to the test: its worst case is looked for in runs of the scenario, judged by what the
 * sink's guarantee promises.
 *
 * The runs are those of a variant of the scenario: only the constraint's own failure may happen, and one
 * of it; the oracles are those of the sink's guarantee, and progress; nothing is excused, and a job that
 * stops by its own making is not restarted. So whatever breaks, that failure broke it, and a run that
 * breaks nothing was none the worse for it. */
#ifndef SCENARIOS_TIMING_PROBE_H
#define SCENARIOS_TIMING_PROBE_H

#include "scenarios/cli/text.h"
#include "scenarios/timing/constraint.h"

/* The scenario's own text, and how it is to be read. Borrowed. */
struct timing_source {
    struct bytes json;
    struct scenario_options options;
};

struct timing_shown {
    bool is_shown;
    bool is_refused;     /* the sink refuses the job, or its configuration */
    const char *oracle;  /* that was broken; empty when refused */
    const char *message; /* what broke, or why it is refused */
    const char *tape;    /* text; of a tape that the variant may be replayed with */
    const char *variant; /* the scenario that was run, as JSON, with the tape in it */
    uint32_t entries;    /* on the tape */
    uint32_t runs;       /* made until then, or all that there are */
    bool all_tried;      /* of those: none is left */
    const char *anyway;  /* oracle that the run without any failure breaks; empty: none */
};

/* Look for it in at most so many runs. Texts go to the pool. ERR_OK; ERR_LIMIT without memory;
 * ERR_INVALID when the scenario cannot be varied, and *fault says why. */
MUST_USE enum err timing_probe(struct text_pool *texts,
                               const struct timing_source *source,
                               const struct timing_constraint *constraint,
                               uint32_t runs_max,
                               struct timing_shown *shown,
                               struct scenario_fault *fault);

#endif
