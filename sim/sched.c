#include "sim/sched.h"

#include "sim/lane.h"
#include "sim/sched_wheel.h"
#include "sinks/base/check.h"

#include <string.h>

#define CAPACITY_FIRST    192u
#define COUNT_MAX_DEFAULT (UINT32_C(1) << 20)

/* clang-format off */
#define OUTCOME(name, weight, kind, clause) {name, weight, kind, clause}
#define SITE(id, key, name, sentence, ...)                                                         \
    static const struct choice_outcome id##_outcomes[] = {__VA_ARGS__};
#include "sim/sched_sites.def"
#undef SITE

const struct choice_site sched_sites[] = {
#define SITE(id, key, name, sentence, ...)                                                         \
    {key, ARRAY_COUNT(id##_outcomes), name, id##_outcomes, sentence},
#include "sim/sched_sites.def"
#undef SITE
#undef OUTCOME
};
/* clang-format on */

const size_t sched_site_count = ARRAY_COUNT(sched_sites);

_Static_assert(ARRAY_COUNT(tie_outcomes) == SCHED_TIE_MAX,
               "the menu names each place of a tie set");

/* --- events --------------------------------------------------------------------------------- */

/* Double the pool. What it leaves behind in the arena is less than what it takes. */
static void events_grow(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    const size_t old = wheel->capacity;
    const size_t new = old * 2;
    struct node *nodes = arena_take(sched->arena, (NODE_FIRST + new) * sizeof(*nodes));
    struct payload *payloads = arena_take(sched->arena, new * sizeof(*payloads));
    uint32_t *generations = arena_take(sched->arena, new * sizeof(*generations));
    memcpy(nodes, wheel->nodes, (NODE_FIRST + old) * sizeof(*nodes));
    memcpy(payloads, wheel->payloads, old * sizeof(*payloads));
    memcpy(generations, wheel->generations, old * sizeof(*generations));
    wheel->nodes = nodes;
    wheel->payloads = payloads;
    wheel->generations = generations;
    wheel->capacity = (uint32_t) new;
}

/* Take an event never used before. */
NOINLINE static uint32_t event_make(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    CHECK(wheel->made < (uint64_t)sched->options.event_count_max + SCHED_HEADROOM);
    if (wheel->made == wheel->capacity) {
        events_grow(sched);
    }
    wheel->generations[wheel->made] = 0;
    wheel->made++;
    sched->over = wheel->made > sched->options.event_count_max;
    return NODE_FIRST + wheel->made - 1;
}

static uint32_t event_take(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    const uint32_t index = wheel->free_head;
    if (UNLIKELY(index == NO_NODE)) {
        return event_make(sched);
    }
    wheel->free_head = wheel->nodes[index].next;
    return index;
}

static void event_give(struct sched_wheel *wheel, uint32_t index)
{
    wheel->generations[index - NODE_FIRST]++;
    wheel->nodes[index].next = wheel->free_head;
    wheel->free_head = index;
}

/* Index of the event that a handle names; NO_NODE if it is stale. Handles hold odd generations. */
static uint32_t handle_index(const struct sched *sched, sched_handle handle)
{
    const struct sched_wheel *wheel = sched->wheel;
    const uint32_t index = (uint32_t)handle;
    const uint32_t place = index - NODE_FIRST; /* wraps far up for SCHED_NONE */
    if (place >= wheel->made || wheel->generations[place] != (uint32_t)(handle >> 32)) {
        return NO_NODE;
    }
    return index;
}

/* --- ties ----------------------------------------------------------------------------------- */

/* Extend near by one step towards limit, which is beyond its end: false if nothing else is due until
 * then. */
NOINLINE static bool near_extend(struct sched_wheel *wheel, nanos limit)
{
    struct slot slot;
    if (!slot_first(wheel, &slot) || slot.start > limit) {
        return false;
    }
    slot_pull(wheel, &slot, limit);
    return true;
}

/* A walk over the tie set of the first event of near. */
struct tie_walk {
    nanos limit;
    uint32_t node;
    uint32_t place;  /* of the set's latest event */
    uint32_t looked; /* events looked at, of the set or not */
};

enum tie_found {
    TIE_NONE = 0,
    TIE_NEXT,   /* the walk is at the next event of the set */
    TIE_BEYOND, /* near holds no more: what is due until the limit may lie beyond its end */
};

/* Go to the next event of the tie set within near. */
static inline enum tie_found ties_walk(const struct sched_wheel *wheel, struct tie_walk *walk)
{
    const struct node *nodes = wheel->nodes;
    uint32_t place = walk->place;
    for (; walk->looked < SCHED_LOOK_MAX; walk->looked++) {
        const uint32_t next = nodes[place].next;
        if (next == NEAR) {
            walk->place = place;
            return wheel->near_end < walk->limit ? TIE_BEYOND : TIE_NONE;
        }
        place = next;
        if (nodes[place].due > walk->limit) {
            return TIE_NONE;
        }
        if (wheel->payloads[place - NODE_FIRST].node == walk->node) {
            walk->place = place;
            walk->looked++;
            return TIE_NEXT;
        }
    }
    return TIE_NONE;
}

/* Go to the next event of the tie set, wherever it is: false if there is none. */
static bool ties_advance(struct sched_wheel *wheel, struct tie_walk *walk)
{
    enum tie_found found = ties_walk(wheel, walk);
    while (found == TIE_BEYOND && near_extend(wheel, walk->limit)) {
        found = ties_walk(wheel, walk);
    }
    return found == TIE_NEXT;
}

/* Say who would come: the events of one kind on one node come in their own order. */
NOINLINE static void tell_chains(const struct sched_wheel *wheel,
                                 struct choice_order *order,
                                 const uint32_t *ties,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct payload *payload = &wheel->payloads[ties[i] - NODE_FIRST];
        order->chains[i] = (uint64_t)payload->node << 32 | payload->kind;
    }
    order->is_told = true;
}

/* Let the tape choose from the tie set and make what the chosen one overtakes due at its time. The walk
 * may have found the second event of the set; if it has not, there may be none. */
NOINLINE static uint32_t ties_choose(struct sched *sched, struct tie_walk walk, bool found)
{
    struct sched_wheel *wheel = sched->wheel;
    const uint32_t first = wheel->nodes[NEAR].next;
    uint32_t ties[SCHED_TIE_MAX] = {first};
    uint32_t count = 1;
    while (count < SCHED_TIE_MAX && (found || ties_advance(wheel, &walk))) {
        found = false;
        ties[count] = walk.place;
        count++;
    }
    if (count == 1) {
        return first;
    }
    const uint32_t mask = (UINT32_C(1) << count) - 1;
    if (UNLIKELY(sched->choice->options.order != NULL)) {
        tell_chains(wheel, sched->choice->options.order, ties, count);
    }
    const uint32_t value =
        choice_pick(sched->choice, &sched_sites[0], lane_make(LANE_RUN, 0), mask);
    CHECK(value < count);
    for (uint32_t place = first; place != ties[value]; place = wheel->nodes[place].next) {
        wheel->nodes[place].due = wheel->nodes[ties[value]].due;
    }
    return ties[value];
}

/* The event to hand out; near is not empty. */
static uint32_t choose(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    const uint32_t first = wheel->nodes[NEAR].next;
    if (!sched->options.ties_from_tape) {
        return first;
    }
    struct tie_walk walk = {
        .limit = nanos_add(wheel->nodes[first].due, sched->options.race_window),
        .node = wheel->payloads[first - NODE_FIRST].node,
        .place = first,
        .looked = 1,
    };
    const enum tie_found found = ties_walk(wheel, &walk);
    if (found == TIE_NONE) {
        return first;
    }
    if (found == TIE_NEXT && sched->choice->calm) {
        /* It is a draw as well, but it matters only that there is a tie at all. */
        (void)choice_pick(sched->choice, &sched_sites[0], lane_make(LANE_RUN, 0), 3);
        return first;
    }
    return ties_choose(sched, walk, found == TIE_NEXT);
}

/* --- interface ------------------------------------------------------------------------------ */

void sched_init(struct sched *sched,
                struct arena *arena,
                struct choice *choice_or_null,
                const struct sched_options *options)
{
    CHECK(!options->ties_from_tape || choice_or_null);
    struct sched_wheel *wheel = arena_take(arena, sizeof(*wheel));
    *wheel = (struct sched_wheel){
        .nodes = arena_take(arena, (NODE_FIRST + CAPACITY_FIRST) * sizeof(struct node)),
        .payloads = arena_take(arena, CAPACITY_FIRST * sizeof(struct payload)),
        .generations = arena_take(arena, CAPACITY_FIRST * sizeof(uint32_t)),
        .capacity = CAPACITY_FIRST,
        .free_head = NO_NODE,
        .first_due = TIME_NEVER,
    };
    ring_start(wheel->nodes, NEAR);
    ring_start(wheel->nodes, NEVER);
    *sched = (struct sched){
        .arena = arena,
        .choice = choice_or_null,
        .options = *options,
        .wheel = wheel,
    };
    if (sched->options.event_count_max == 0) {
        sched->options.event_count_max = COUNT_MAX_DEFAULT;
    }
}

sched_handle
sched_at(struct sched *sched, nanos due, uint32_t node, uint32_t kind, uint64_t a, uint64_t b)
{
    CHECK(due >= sched->now);
    const uint32_t index = event_take(sched);
    struct sched_wheel *wheel = sched->wheel;
    sched->seq++;
    sched->pending++;
    wheel->payloads[index - NODE_FIRST] =
        (struct payload){.seq = sched->seq, .a = a, .b = b, .node = node, .kind = kind};
    const uint32_t generation = ++wheel->generations[index - NODE_FIRST];
    wheel->nodes[index].due = due;
    place_new(wheel, index, due);
    return (sched_handle)generation << 32 | index;
}

sched_handle
sched_after(struct sched *sched, nanos delay, uint32_t node, uint32_t kind, uint64_t a, uint64_t b)
{
    const nanos due = sched->now + delay;
    return sched_at(sched, due < delay ? TIME_NEVER : due, node, kind, a, b);
}

void sched_cancel(struct sched *sched, sched_handle handle)
{
    const uint32_t index = handle_index(sched, handle);
    CHECK(index != NO_NODE);
    unlink_event(sched->wheel, index);
    event_give(sched->wheel, index);
    sched->pending--;
}

bool sched_is_pending(const struct sched *sched, sched_handle handle)
{
    return handle_index(sched, handle) != NO_NODE;
}

static struct sched_event event_of(const struct sched_wheel *wheel, uint32_t index)
{
    const struct payload *payload = &wheel->payloads[index - NODE_FIRST];
    return (struct sched_event){
        .due = wheel->nodes[index].due,
        .seq = payload->seq,
        .node = payload->node,
        .kind = payload->kind,
        .a = payload->a,
        .b = payload->b,
    };
}

struct sched_event sched_peek(const struct sched *sched, sched_handle handle)
{
    const uint32_t index = handle_index(sched, handle);
    CHECK(index != NO_NODE);
    return event_of(sched->wheel, index);
}

void sched_move(struct sched *sched, sched_handle handle, nanos due)
{
    struct sched_wheel *wheel = sched->wheel;
    const uint32_t index = handle_index(sched, handle);
    CHECK(index != NO_NODE);
    CHECK(due >= sched->now);
    unlink_event(wheel, index);
    sched->seq++;
    wheel->payloads[index - NODE_FIRST].seq = sched->seq;
    wheel->nodes[index].due = due;
    place_new(wheel, index, due);
}

/* Pull slots in until near holds the next event: false if none is pending. */
NOINLINE static bool near_fill(struct sched_wheel *wheel)
{
    while (wheel->nodes[NEAR].next == NEAR) {
        struct slot slot;
        if (!slot_first(wheel, &slot)) {
            return false;
        }
        slot_pull(wheel, &slot, TIME_NEVER);
    }
    return true;
}

bool sched_step(struct sched *sched, struct sched_event *event)
{
    struct sched_wheel *wheel = sched->wheel;
    if (wheel->nodes[NEAR].next == NEAR && !near_fill(wheel)) {
        return false;
    }
    const uint32_t index = choose(sched);
    const nanos due = wheel->nodes[index].due;
    CHECK(due >= sched->now);
    *event = event_of(wheel, index);
    ring_remove(wheel->nodes, index); /* from near */
    event_give(wheel, index);
    sched->now = due;
    sched->stepped++;
    sched->pending--;
    if (due > wheel->anchor) {
        wheel->anchor = due;
    }
    return true;
}

/* Only a step may deal out a long slot, because only then the clock follows the anchor. Such a slot
 * is looked through, once as long as nothing changes: what a step will do to it costs as much. */
nanos sched_next_due(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    if (wheel->nodes[NEAR].next != NEAR) {
        return wheel->nodes[wheel->nodes[NEAR].next].due;
    }
    /* Grows with every schedule, move, cancel and step. */
    const uint64_t stamp = 2 * (sched->seq + sched->stepped) - sched->pending;
    if (wheel->first_stamp == stamp) {
        return wheel->first_due;
    }
    struct slot slot;
    if (!slot_first(wheel, &slot)) {
        return TIME_NEVER;
    }
    wheel->first_due = slot_earliest(wheel, &slot);
    wheel->first_stamp = stamp;
    return wheel->first_due;
}

/* --- validity ------------------------------------------------------------------------------- */

/* Count a list's events; UINT32_MAX if its links are broken. */
static uint32_t ring_count(const struct sched *sched, uint32_t sentinel)
{
    const struct node *nodes = sched->wheel->nodes;
    uint32_t count = 0;
    uint32_t last = sentinel;
    for (uint32_t i = nodes[sentinel].next; i != sentinel; i = nodes[i].next) {
        const bool is_pending = sched->wheel->generations[i - NODE_FIRST] % 2 == 1;
        if (nodes[i].prev != last || !is_pending || count > sched->pending) {
            return UINT32_MAX;
        }
        count++;
        last = i;
    }
    return nodes[sentinel].prev == last ? count : UINT32_MAX;
}

static bool near_is_valid(const struct sched *sched)
{
    const struct sched_wheel *wheel = sched->wheel;
    nanos last = sched->now;
    for (uint32_t i = wheel->nodes[NEAR].next; i != NEAR; i = wheel->nodes[i].next) {
        if (wheel->nodes[i].due < last || wheel->nodes[i].due > wheel->near_end) {
            return false;
        }
        last = wheel->nodes[i].due;
    }
    return sched->now <= wheel->near_end && wheel->anchor <= wheel->near_end;
}

/* True when all events of an occupied slot belong there. */
static bool slot_is_valid(const struct sched_wheel *wheel, uint32_t sentinel)
{
    for (uint32_t i = wheel->nodes[sentinel].next; i != sentinel; i = wheel->nodes[i].next) {
        const nanos due = wheel->nodes[i].due;
        if (due <= wheel->near_end || due == TIME_NEVER) {
            return false;
        }
        const uint32_t level = digit_level(due ^ wheel->anchor);
        if (sentinel != level * 64u + ((uint32_t)(due >> level * DIGIT_BITS) & 63u)) {
            return false;
        }
    }
    return wheel->nodes[sentinel].next != sentinel;
}

bool sched_is_valid(const struct sched *sched)
{
    const struct sched_wheel *wheel = sched->wheel;
    uint64_t count = (uint64_t)ring_count(sched, NEAR) + ring_count(sched, NEVER);
    for (uint32_t sentinel = 0; sentinel < SLOT_COUNT; sentinel++) {
        const uint64_t occupancy = wheel->occupancy[sentinel / 64u];
        if ((wheel->levels >> sentinel / 64u & 1) != (occupancy != 0)) {
            return false;
        }
        if (occupancy >> sentinel % 64u & 1) {
            count += ring_count(sched, sentinel);
            if (count > sched->pending || !slot_is_valid(wheel, sentinel)) {
                return false;
            }
        }
    }
    return count == sched->pending && near_is_valid(sched);
}
