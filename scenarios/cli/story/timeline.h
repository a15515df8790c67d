/* Which event of a run made a draw or wrote a line of the journal. Found by runs that stop before an
 * event: halving needs about ten of them for each answer. */
#ifndef SCENARIOS_CLI_STORY_TIMELINE_H
#define SCENARIOS_CLI_STORY_TIMELINE_H

#include "scenarios/cli/sweep/reproducer.h"

struct timeline {
    struct reproducer *reproducer;
    const struct tape *tape;
    uint64_t events; /* of the whole run */
    uint64_t runs;   /* made so far */
};

/* The number of the event, from 1; 0: before the first. */
uint64_t timeline_event_of_draw(struct timeline *timeline, uint32_t draw);
uint64_t timeline_event_of_entry(struct timeline *timeline, uint32_t position);

/* Draws made, and lines written, before an event. */
struct timeline_point {
    uint32_t draws;
    uint32_t entries;
};
struct timeline_point timeline_before(struct timeline *timeline, uint64_t event);

#endif
