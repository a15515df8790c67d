/* Runs that bring about the worst case of a constraint, one after another: each is a run of its own
 * that one failure of the constraint's shape makes, at every place where it can happen. */
#ifndef SCENARIOS_TIMING_WORST_H
#define SCENARIOS_TIMING_WORST_H

#include "scenarios/timing/constraint.h"
#include "sim/choice.h"

#define WORST_LANE_MAX 64u

/* The failure of one run: a policy decides every draw by it. */
struct worst {
    uint8_t shape;     /* enum timing_shape */
    nanos outage;      /* RETRIES: how long nothing of a lane arrives, by way */
    nanos call_outage; /* the same of another kind of request; 0: there is none */
    nanos (*now)(const void *context);
    const void *now_context;
    /* what varies from run to run */
    uint32_t nth;   /* of the draws at which it may happen */
    uint32_t value; /* CRASH, CLOCK: outcome of the crash */
    uint32_t way;   /* CLOCK: which clock is wrong, and how, 0 none; RETRIES: which outage */
    /* of the run */
    uint32_t seen; /* draws at which it might have happened */
    bool has_happened;
    nanos happened_at;
    const struct choice_site *lost_at;
    lane lost_on;
    uint32_t clocks; /* first lives of lanes, as bits by number */
};

/* Prepare for the first run; shape, outage and now are set before. */
void worst_init(struct worst *worst);

/* A choice_policy over a struct worst. */
uint32_t worst_pick(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask);

/* Go on to the next run, after one was made; false when there is none any more. */
bool worst_next(struct worst *worst);

#endif
