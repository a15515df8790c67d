#include "scenarios/cli/story/timeline.h"

struct timeline_point timeline_before(struct timeline *timeline, uint64_t event)
{
    struct run_request request = reproducer_tape_request(timeline->tape);
    request.until_event = event;
    const struct result *result = reproducer_run(timeline->reproducer, &request);
    const struct world *world = reproducer_world(timeline->reproducer);
    timeline->runs++;
    return (struct timeline_point){
        .draws = result->draws,
        .entries = world == NULL ? 0 : world->journal->count,
    };
}

/* The last event before which no more than so many draws, or lines, had been made. */
static uint64_t find(struct timeline *timeline, uint32_t number, bool is_draw)
{
    uint64_t low = 0; /* before it: no more than number; event 1 comes behind what has no event */
    uint64_t high = timeline->events + 1;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        const struct timeline_point point = timeline_before(timeline, middle);
        if ((is_draw ? point.draws : point.entries) <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

uint64_t timeline_event_of_draw(struct timeline *timeline, uint32_t draw)
{
    return find(timeline, draw, true);
}

uint64_t timeline_event_of_entry(struct timeline *timeline, uint32_t position)
{
    return find(timeline, position, false);
}
