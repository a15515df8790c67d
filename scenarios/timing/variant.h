/* A variant of a scenario in which only one failure of a kind may happen, and nothing is excused. */
#ifndef SCENARIOS_TIMING_VARIANT_H
#define SCENARIOS_TIMING_VARIANT_H

#include "scenarios/timing/probe.h"

#include <jansson.h>

/* Zeroed, it may be closed. */
struct timing_variant {
    struct scenario *scenario; /* read */
    json_t *root;              /* private */
};

/* Make it. by_arrival: records arrive by themselves, so that what an outage held back comes late.
 * ERR_OK; ERR_LIMIT; another error when the scenario cannot be read, and *fault says why. */
MUST_USE enum err timing_variant_open(struct timing_variant *variant,
                                      struct text_pool *texts,
                                      const struct timing_source *source,
                                      enum timing_shape shape,
                                      bool by_arrival,
                                      struct scenario_fault *fault);
void timing_variant_close(struct timing_variant *variant);

/* Its JSON with a tape, which may be empty, and an expectation in it; into the pool. */
const char *timing_variant_text(const struct timing_variant *variant,
                                struct text_pool *texts,
                                const char *tape,
                                const char *expectation);

#endif
