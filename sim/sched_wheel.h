/* The timing wheel of the scheduler: where pending events lie, and which is the next. Private to
 * sched.c, and in a header of its own so that its small functions become part of their callers.
 *
 * Events are linked by index into rings, which are circular lists with a sentinel.
 *
 * Three kinds of lists hold the pending events:
 *   near    everything due up to near_end, sorted; its first event is the next one
 *   slots   the rest: a slot of level l is 64^l ns wide, and a level has 64 of them
 *   never   events at TIME_NEVER
 * An event beyond near_end lies on the level of the highest base-64 digit in which its due time
 * differs from the anchor, an instant at or before near_end, in the slot of that digit. So lower
 * levels come before higher ones and lower slots before higher ones, and two occupancy look-ups find
 * the first. When near is empty, the first slot is pulled in: a short one is sorted into near as it
 * is, which saves a sparse wheel the way down through its levels; a long one is dealt out over lower
 * levels, with the anchor moved to its earliest event. An insertion into near that has to walk far
 * cuts off near's tail and puts it back onto the wheel. So the cost of an operation does not depend
 * on how many events are pending nor on how they are spread.
 *
 * Why the order is exact. Two events with the same due time always share a list, because where an
 * event lies depends only on its due time, the anchor and near_end. Lists are appended to, dealt out
 * and sorted in stable ways, so equal due times stay in the order of their seq, which is never
 * compared. Overtaken events get a later due time without changing their place in near.
 *
 * Why the anchor may move. near_end + 1 is always the start of a slot, so an event on the wheel
 * differs from every instant between anchor and near_end in the same highest digit: the anchor may
 * take any of these instants and no event is misplaced. It follows the clock, so that what is
 * scheduled next lies on as fine a level as possible.
 */
#ifndef SIM_SCHED_WHEEL_H
#define SIM_SCHED_WHEEL_H

#include "sinks/base/check.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

#define DIGIT_BITS  6u
#define LEVEL_COUNT 11u
#define SLOT_COUNT  656u /* ten levels of 64 slots; 16 hold the four bits that are left */
#define NEAR        656u
#define NEVER       657u
#define NODE_FIRST  658u /* sentinels of all lists come before it */
#define WALK_MAX    12u
#define NO_NODE     0u

/* Ask for memory ahead of its use; without it, only slower. */
#if defined(__GNUC__)
#    define PREFETCH(address) __builtin_prefetch(address)
#else
#    define PREFETCH(address) ((void)0)
#endif

/* What the wheel itself works on, small, so that much of it stays in the nearest caches. A sentinel
 * is the head of a circular list; those of empty slots are not initialised. */
struct node {
    nanos due; /* 0 in sentinels: it ends the walk of an insertion */
    uint32_t next;
    uint32_t prev;
};

/* What is only needed when an event comes and goes. */
struct payload {
    uint64_t seq;
    uint64_t a;
    uint64_t b;
    uint32_t node;
    uint32_t kind;
};

struct sched_wheel {
    nanos anchor;
    nanos near_end;
    uint64_t occupancy[LEVEL_COUNT]; /* bit per slot */
    struct node *nodes;              /* sentinels, then capacity events */
    struct payload *payloads;        /* of event NODE_FIRST + i */
    uint32_t *generations;           /* of event NODE_FIRST + i; odd while it is pending */
    uint32_t levels;                 /* bit per level with an occupied slot */
    uint32_t capacity;
    uint32_t made;      /* events ever taken into use; those beyond are uninitialised */
    uint32_t free_head; /* linked by next, last in first out; NO_NODE ends it */
    nanos first_due;    /* what sched_next_due found last, good while first_stamp is the same */
    uint64_t first_stamp;
};

/* --- bits ----------------------------------------------------------------------------------- */

/* Index of the lowest set bit; value is not 0. */
static inline uint32_t lowest_bit(uint64_t value)
{
    return highest_bit(value & (~value + 1));
}

/* Level of the highest base-64 digit of a value that is not 0. */
static inline uint32_t digit_level(uint64_t value)
{
    return highest_bit(value) * 43u >> 8; /* exactly bit / 6 up to 63 */
}

/* --- rings ---------------------------------------------------------------------------------- */

static inline void ring_start(struct node *nodes, uint32_t sentinel)
{
    nodes[sentinel] = (struct node){.due = 0, .next = sentinel, .prev = sentinel};
}

static inline void ring_insert_after(struct node *nodes, uint32_t place, uint32_t index)
{
    const uint32_t next = nodes[place].next;
    nodes[index].prev = place;
    nodes[index].next = next;
    nodes[next].prev = index;
    nodes[place].next = index;
}

/* Append an event to the slot of its due time, which is beyond near_end. Without branches, for
 * whether a slot is empty cannot be foretold: the last one of an empty slot is the sentinel. */
static inline void slot_append(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    struct node *nodes = wheel->nodes;
    const uint32_t level = digit_level(due ^ wheel->anchor);
    const uint32_t slot = (uint32_t)(due >> level * DIGIT_BITS) & 63u;
    const uint32_t sentinel = level * 64u + slot;
    const uint64_t occupancy = wheel->occupancy[level];
    const uint32_t occupied_mask = 0u - (uint32_t)(occupancy >> slot & 1);
    const uint32_t last = sentinel ^ ((sentinel ^ nodes[sentinel].prev) & occupied_mask);
    wheel->occupancy[level] = occupancy | UINT64_C(1) << slot;
    wheel->levels |= UINT32_C(1) << level;
    nodes[index].prev = last;
    nodes[index].next = sentinel;
    nodes[last].next = index;
    nodes[sentinel].prev = index;
}

/* Mark a slot empty. */
static inline void slot_clear(struct sched_wheel *wheel, uint32_t sentinel)
{
    const uint32_t level = sentinel / 64u;
    wheel->occupancy[level] &= ~(UINT64_C(1) << sentinel % 64u);
    wheel->levels &= ~((uint32_t)(wheel->occupancy[level] == 0) << level);
}

static inline void ring_remove(struct node *nodes, uint32_t index)
{
    const uint32_t next = nodes[index].next;
    const uint32_t prev = nodes[index].prev;
    nodes[prev].next = next;
    nodes[next].prev = prev;
}

/* Take an event out of whatever list it is in. The neighbours of the only one in a list are both the
 * sentinel. Near and never have no occupancy: their bits are never set, and clearing them does
 * nothing. */
static inline void unlink_event(struct sched_wheel *wheel, uint32_t index)
{
    const uint32_t next = wheel->nodes[index].next;
    const bool is_alone = next == wheel->nodes[index].prev;
    ring_remove(wheel->nodes, index);
    if (is_alone) {
        slot_clear(wheel, next);
    }
}

/* --- near ----------------------------------------------------------------------------------- */

/* Choose a smaller near_end, the end of a slot, so that at least the last event of near leaves it if
 * one can: the end of the slot that due is in, or else what lies before this slot. */
static inline nanos near_end_before(const struct sched_wheel *wheel, nanos due, nanos last_due)
{
    if (due <= wheel->anchor) {
        return wheel->anchor;
    }
    const nanos mask = (UINT64_C(1) << digit_level(due ^ wheel->anchor) * DIGIT_BITS) - 1;
    const nanos end = due | mask;
    return last_due > end ? end : (due & ~mask) - 1;
}

/* Put the tail of near back onto the wheel, from about where due is. */
NOINLINE static void near_cut(struct sched_wheel *wheel, nanos due)
{
    struct node *nodes = wheel->nodes;
    uint32_t place = nodes[NEAR].prev;
    const nanos end = near_end_before(wheel, due, nodes[place].due);
    while (nodes[place].due > end) {
        place = nodes[place].prev;
    }
    uint32_t index = nodes[place].next;
    if (index == NEAR) {
        return; /* everything is due before the anchor: the clock will soon be there */
    }
    nodes[place].next = NEAR;
    nodes[NEAR].prev = place;
    wheel->near_end = end;
    while (index != NEAR) {
        const uint32_t next = nodes[index].next;
        slot_append(wheel, index, nodes[index].due);
        index = next;
    }
}

/* Sort an event into near, behind those with the same due time. */
static inline void near_insert(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    struct node *nodes = wheel->nodes;
    uint32_t place = nodes[NEAR].prev;
    uint32_t walked = 0;
    while (nodes[place].due > due) {
        place = nodes[place].prev;
        walked++;
    }
    PREFETCH(&wheel->payloads[index - NODE_FIRST]); /* it will soon be handed out */
    ring_insert_after(nodes, place, index);
    if (UNLIKELY(walked > WALK_MAX)) {
        near_cut(wheel, due);
    }
}

static inline void place_node(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    if (due <= wheel->near_end) {
        near_insert(wheel, index, due);
    } else {
        slot_append(wheel, index, due);
    }
}

/* Place an event that may be at TIME_NEVER. */
static inline void place_new(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    if (LIKELY(due != TIME_NEVER)) {
        place_node(wheel, index, due);
    } else {
        ring_insert_after(wheel->nodes, wheel->nodes[NEVER].prev, index);
    }
}

/* --- slots ---------------------------------------------------------------------------------- */

struct slot {
    uint32_t sentinel;
    uint32_t level;
    nanos start;
    nanos end; /* inclusive */
};

/* Find the first occupied slot: false if there is none. */
static inline bool slot_first(const struct sched_wheel *wheel, struct slot *slot)
{
    if (wheel->levels == 0) {
        return false;
    }
    slot->level = lowest_bit(wheel->levels);
    slot->sentinel = slot->level * 64u + lowest_bit(wheel->occupancy[slot->level]);
    const nanos mask = (UINT64_C(1) << slot->level * DIGIT_BITS) - 1;
    const nanos due = wheel->nodes[wheel->nodes[slot->sentinel].next].due;
    slot->start = due & ~mask;
    slot->end = due | mask;
    return true;
}

/* True when the slot holds at most as many events as an insertion may walk past. */
static inline bool slot_is_short(const struct sched_wheel *wheel, const struct slot *slot)
{
    const struct node *nodes = wheel->nodes;
    uint32_t index = nodes[slot->sentinel].next;
    for (uint32_t count = 0; count < WALK_MAX; count++) {
        index = nodes[index].next;
        if (index == slot->sentinel) {
            return true;
        }
    }
    return false;
}

/* Mark the slot empty and return its first event; the list still ends at the sentinel. */
static inline uint32_t slot_detach(struct sched_wheel *wheel, const struct slot *slot)
{
    slot_clear(wheel, slot->sentinel);
    return wheel->nodes[slot->sentinel].next;
}

/* Earliest due time in a slot. Walks from both ends, because in a long list each step waits for
 * memory: this halves the wait, and what is done with the list next finds it close. */
static inline nanos slot_earliest(const struct sched_wheel *wheel, const struct slot *slot)
{
    const struct node *nodes = wheel->nodes;
    uint32_t front = nodes[slot->sentinel].next;
    uint32_t back = nodes[slot->sentinel].prev;
    nanos earliest = nodes[front].due < nodes[back].due ? nodes[front].due : nodes[back].due;
    while (front != back && nodes[front].next != back) {
        front = nodes[front].next;
        back = nodes[back].prev;
        earliest = nodes[front].due < earliest ? nodes[front].due : earliest;
        earliest = nodes[back].due < earliest ? nodes[back].due : earliest;
    }
    return earliest;
}

/* Append all of a slot to near; its order must be the right one. */
static inline void slot_splice(struct sched_wheel *wheel, const struct slot *slot)
{
    struct node *nodes = wheel->nodes;
    const uint32_t first = slot_detach(wheel, slot);
    const uint32_t last = nodes[slot->sentinel].prev;
    const uint32_t place = nodes[NEAR].prev;
    nodes[place].next = first;
    nodes[first].prev = place;
    nodes[last].next = NEAR;
    nodes[NEAR].prev = last;
    wheel->near_end = slot->end;
}

/* Place all events of a slot anew, after near_end or the anchor have changed. */
static inline void slot_deal(struct sched_wheel *wheel, const struct slot *slot)
{
    uint32_t index = slot_detach(wheel, slot);
    while (index != slot->sentinel) {
        const uint32_t next = wheel->nodes[index].next;
        place_node(wheel, index, wheel->nodes[index].due);
        index = next;
    }
}

/* Bring the first slot closer: into near, or if it is long one level down. The anchor goes no further
 * than limit, which the clock must be about to reach. */
static inline void slot_pull(struct sched_wheel *wheel, const struct slot *slot, nanos limit)
{
    const struct node *nodes = wheel->nodes;
    CHECK_SLOW(slot->start > wheel->near_end);
    CHECK_SLOW(slot->start <= limit);
    if (slot->level == 0 || nodes[slot->sentinel].next == nodes[slot->sentinel].prev) {
        slot_splice(wheel, slot);
    } else if (slot_is_short(wheel, slot)) {
        wheel->near_end = slot->end;
        slot_deal(wheel, slot);
    } else {
        const nanos earliest = slot_earliest(wheel, slot);
        const nanos mask = (UINT64_C(1) << (slot->level - 1) * DIGIT_BITS) - 1;
        wheel->anchor = earliest < limit ? earliest : limit;
        wheel->near_end = wheel->anchor | mask;
        slot_deal(wheel, slot);
    }
}

#endif
