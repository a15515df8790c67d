/* Events lie in a pool, linked by index into circular lists.
 *
 * Three kinds of lists hold the pending events:
 *   near    everything due up to near_end, sorted; its first event is the next one
 *   slots   the rest: a slot of level l is 64^l ns wide, and a level has 64 of them
 *   never   events at TIME_NEVER
 * An event beyond near_end lies on the level of the highest base-64 digit in which its due time
 * differs from the anchor, an instant at or before near_end, in the slot of that digit. So lower
 * levels come before higher ones and lower slots before higher ones, and two occupancy look-ups find
 * the first. When near is empty, the first slot is pulled in: a short one is sorted into near as it
 * is, which saves a sparse wheel the way down through its levels; a long one is dealt out one level
 * down, with the anchor moved to its start. An insertion into near that has to walk too far cuts off
 * near's tail and puts it back onto the wheel. What an operation costs is thus bounded, whatever is
 * pending and however it is spread.
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
#include "sim/sched.h"

#include "sim/lane.h"
#include "sinks/base/check.h"

#include <string.h>

#define DIGIT_BITS        6u
#define LEVEL_COUNT       11u
#define SLOT_COUNT        656u /* ten levels of 64 slots; 16 hold the four bits that are left */
#define NEAR              656u
#define NEVER             657u
#define NODE_FIRST        658u /* sentinels of all lists come before it */
#define CAPACITY_FIRST    192u
#define COUNT_MAX_DEFAULT (UINT32_C(1) << 20)
#define WALK_MAX          12u
#define NO_NODE           0u

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
    uint32_t *generations;           /* odd while the event is pending */
    uint32_t levels;                 /* bit per level with an occupied slot */
    uint32_t capacity;
    uint32_t made;      /* events ever taken into use; those beyond are uninitialised */
    uint32_t free_head; /* linked by next, last in first out; NO_NODE ends it */
    nanos first_due;    /* what sched_next_due found last, good while first_stamp is the same */
    uint64_t first_stamp;
};

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

/* --- bits ----------------------------------------------------------------------------------- */

/* Index of the lowest set bit; value is not 0. */
static uint32_t lowest_bit(uint64_t value)
{
    return highest_bit(value & (~value + 1));
}

/* Shift that brings the highest base-64 digit of a value down; value is not 0. */
static uint32_t digit_shift(uint64_t value)
{
    const uint32_t level = highest_bit(value) * 43u >> 8; /* exactly bit / 6 up to 63 */
    return level * DIGIT_BITS;
}

/* --- lists ---------------------------------------------------------------------------------- */

static void list_start(struct node *nodes, uint32_t sentinel)
{
    nodes[sentinel] = (struct node){.due = 0, .next = sentinel, .prev = sentinel};
}

static void list_insert_after(struct node *nodes, uint32_t place, uint32_t index)
{
    const uint32_t next = nodes[place].next;
    nodes[index].prev = place;
    nodes[index].next = next;
    nodes[next].prev = index;
    nodes[place].next = index;
}

/* Append an event to the slot of its due time, which is beyond near_end. */
static void slot_append(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    struct node *nodes = wheel->nodes;
    const uint32_t shift = digit_shift(due ^ wheel->anchor);
    const uint32_t level = shift / DIGIT_BITS;
    const uint32_t slot = (uint32_t)(due >> shift) & 63u;
    const uint32_t sentinel = level * 64u + slot;
    const uint64_t bit = UINT64_C(1) << slot;
    const bool is_empty = (wheel->occupancy[level] & bit) == 0;
    const uint32_t last = is_empty ? sentinel : nodes[sentinel].prev;
    nodes[index].prev = last;
    nodes[index].next = sentinel;
    nodes[last].next = index;
    nodes[sentinel].prev = index;
    wheel->occupancy[level] |= bit;
    wheel->levels |= UINT32_C(1) << level;
}

/* Take an event out of whatever list it is in. The bits of near and never are never set, so that
 * clearing them changes nothing. */
static void list_unlink(struct sched_wheel *wheel, uint32_t index)
{
    struct node *nodes = wheel->nodes;
    const uint32_t next = nodes[index].next;
    const uint32_t prev = nodes[index].prev;
    nodes[prev].next = next;
    nodes[next].prev = prev;
    if (next == prev && next < SLOT_COUNT) {
        const uint32_t level = next / 64u;
        wheel->occupancy[level] &= ~(UINT64_C(1) << next % 64u);
        wheel->levels &= ~((uint32_t)(wheel->occupancy[level] == 0) << level);
    }
}

/* --- near ----------------------------------------------------------------------------------- */

/* Choose a smaller near_end, the end of a slot, so that at least the last event of near leaves it if
 * one can: the end of the slot that due is in, or else what lies before this slot. */
static nanos near_end_before(const struct sched_wheel *wheel, nanos due, nanos last_due)
{
    if (due <= wheel->anchor) {
        return wheel->anchor;
    }
    const nanos mask = (UINT64_C(1) << digit_shift(due ^ wheel->anchor)) - 1;
    const nanos end = due | mask;
    return last_due > end ? end : (due & ~mask) - 1;
}

/* Put the tail of near back onto the wheel, from about where due is. */
static void near_cut(struct sched_wheel *wheel, nanos due)
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
static void near_insert(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    struct node *nodes = wheel->nodes;
    uint32_t place = nodes[NEAR].prev;
    uint32_t walked = 0;
    while (nodes[place].due > due) {
        place = nodes[place].prev;
        walked++;
    }
    list_insert_after(nodes, place, index);
    if (UNLIKELY(walked > WALK_MAX)) {
        near_cut(wheel, due);
    }
}

static void place_node(struct sched_wheel *wheel, uint32_t index, nanos due)
{
    if (due <= wheel->near_end) {
        near_insert(wheel, index, due);
    } else if (LIKELY(due != TIME_NEVER)) {
        slot_append(wheel, index, due);
    } else {
        list_insert_after(wheel->nodes, wheel->nodes[NEVER].prev, index);
    }
}

/* --- slots ---------------------------------------------------------------------------------- */

struct slot {
    uint32_t sentinel;
    uint32_t level;
    nanos start;
    nanos end; /* inclusive, below TIME_NEVER */
};

/* Find the first occupied slot: false if there is none. */
static bool slot_first(const struct sched_wheel *wheel, struct slot *slot)
{
    if (wheel->levels == 0) {
        return false;
    }
    slot->level = lowest_bit(wheel->levels);
    slot->sentinel = slot->level * 64u + lowest_bit(wheel->occupancy[slot->level]);
    const nanos mask = (UINT64_C(1) << slot->level * DIGIT_BITS) - 1;
    const nanos due = wheel->nodes[wheel->nodes[slot->sentinel].next].due;
    slot->start = due & ~mask;
    slot->end = (due | mask) < TIME_NEVER ? (due | mask) : TIME_NEVER - 1;
    return true;
}

/* True when the slot holds at most as many events as an insertion may walk past. */
static bool slot_is_short(const struct sched_wheel *wheel, const struct slot *slot)
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
static uint32_t slot_detach(struct sched_wheel *wheel, const struct slot *slot)
{
    wheel->occupancy[slot->level] &= ~(UINT64_C(1) << slot->sentinel % 64u);
    wheel->levels &= ~((uint32_t)(wheel->occupancy[slot->level] == 0) << slot->level);
    return wheel->nodes[slot->sentinel].next;
}

/* Append all of a slot one nanosecond wide to near: its order is the right one. */
static void slot_splice(struct sched_wheel *wheel, const struct slot *slot)
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
static void slot_deal(struct sched_wheel *wheel, const struct slot *slot)
{
    uint32_t index = slot_detach(wheel, slot);
    while (index != slot->sentinel) {
        const uint32_t next = wheel->nodes[index].next;
        place_node(wheel, index, wheel->nodes[index].due);
        index = next;
    }
}

/* Bring the first slot closer: into near, or if it is long one level down. The clock is about to
 * reach at least the slot's start, but for a race window. */
static void slot_pull(struct sched_wheel *wheel, const struct slot *slot)
{
    CHECK_SLOW(slot->start > wheel->near_end);
    if (slot->level == 0) {
        slot_splice(wheel, slot);
    } else if (slot_is_short(wheel, slot)) {
        wheel->near_end = slot->end;
        slot_deal(wheel, slot);
    } else {
        const uint32_t shift = (slot->level - 1) * DIGIT_BITS;
        wheel->anchor = slot->start;
        wheel->near_end = slot->start | ((UINT64_C(1) << shift) - 1);
        slot_deal(wheel, slot);
    }
}

/* --- pool ----------------------------------------------------------------------------------- */

/* Double the pool. What it leaves behind in the arena is less than what it takes. */
static void pool_grow(struct sched *sched)
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
static uint32_t pool_make(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    CHECK(wheel->made < (uint64_t)sched->options.event_count_max + SCHED_HEADROOM);
    if (wheel->made == wheel->capacity) {
        pool_grow(sched);
    }
    wheel->generations[wheel->made] = 0;
    wheel->made++;
    return NODE_FIRST + wheel->made - 1;
}

static uint32_t pool_take(struct sched *sched)
{
    struct sched_wheel *wheel = sched->wheel;
    const uint32_t index = wheel->free_head;
    if (UNLIKELY(index == NO_NODE)) {
        return pool_make(sched);
    }
    wheel->free_head = wheel->nodes[index].next;
    return index;
}

static void pool_give(struct sched_wheel *wheel, uint32_t index)
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

/* Extend near by one step towards limit: false if nothing else is due until then. */
static bool near_extend(struct sched_wheel *wheel, nanos limit)
{
    struct slot slot;
    if (wheel->near_end >= limit || !slot_first(wheel, &slot) || slot.start > limit) {
        return false;
    }
    slot_pull(wheel, &slot);
    return true;
}

/* Gather the tie set of the first event. Returns its size. */
static uint32_t ties_gather(struct sched_wheel *wheel, nanos limit, uint32_t ties[SCHED_TIE_MAX])
{
    uint32_t place = wheel->nodes[NEAR].next;
    const uint32_t node = wheel->payloads[place - NODE_FIRST].node;
    uint32_t count = 1;
    ties[0] = place;
    for (uint32_t looked = 1; looked < SCHED_LOOK_MAX && count < SCHED_TIE_MAX; looked++) {
        while (wheel->nodes[place].next == NEAR && near_extend(wheel, limit)) {
        }
        place = wheel->nodes[place].next;
        if (place == NEAR || wheel->nodes[place].due > limit) {
            break;
        }
        if (wheel->payloads[place - NODE_FIRST].node == node) {
            ties[count++] = place;
        }
    }
    return count;
}

/* Let the tape choose from the tie set and make what the chosen one overtakes due at its time. */
static uint32_t ties_choose(struct sched *sched, nanos limit)
{
    uint32_t ties[SCHED_TIE_MAX];
    const uint32_t count = ties_gather(sched->wheel, limit, ties);
    if (count == 1) {
        return ties[0];
    }
    const uint32_t mask = (UINT32_C(1) << count) - 1;
    const uint32_t value =
        choice_pick(sched->choice, &sched_sites[0], lane_make(LANE_RUN, 0), mask);
    CHECK(value < count);
    struct node *nodes = sched->wheel->nodes;
    for (uint32_t place = ties[0]; place != ties[value]; place = nodes[place].next) {
        nodes[place].due = nodes[ties[value]].due;
    }
    return ties[value];
}

/* The event to hand out; near is not empty. */
static uint32_t choose(struct sched *sched)
{
    const struct sched_wheel *wheel = sched->wheel;
    const uint32_t first = wheel->nodes[NEAR].next;
    if (!sched->options.ties_from_tape) {
        return first;
    }
    const nanos limit = nanos_add(wheel->nodes[first].due, sched->options.race_window);
    const uint32_t second = wheel->nodes[first].next;
    const nanos second_due = second == NEAR ? wheel->near_end : wheel->nodes[second].due;
    if (second == NEAR ? second_due >= limit : second_due > limit) {
        return first;
    }
    return ties_choose(sched, limit);
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
    list_start(wheel->nodes, NEAR);
    list_start(wheel->nodes, NEVER);
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
    const uint32_t index = pool_take(sched);
    struct sched_wheel *wheel = sched->wheel;
    sched->seq++;
    sched->pending++;
    wheel->payloads[index - NODE_FIRST] =
        (struct payload){.seq = sched->seq, .a = a, .b = b, .node = node, .kind = kind};
    wheel->nodes[index].due = due;
    place_node(wheel, index, due);
    const uint32_t generation = ++wheel->generations[index - NODE_FIRST];
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
    list_unlink(sched->wheel, index);
    pool_give(sched->wheel, index);
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
    list_unlink(wheel, index);
    sched->seq++;
    wheel->payloads[index - NODE_FIRST].seq = sched->seq;
    wheel->nodes[index].due = due;
    place_node(wheel, index, due);
}

bool sched_step(struct sched *sched, struct sched_event *event)
{
    struct sched_wheel *wheel = sched->wheel;
    while (wheel->nodes[NEAR].next == NEAR) {
        struct slot slot;
        if (!slot_first(wheel, &slot)) {
            return false;
        }
        slot_pull(wheel, &slot);
    }
    const uint32_t index = choose(sched);
    const nanos due = wheel->nodes[index].due;
    CHECK(due >= sched->now);
    *event = event_of(wheel, index);
    list_unlink(wheel, index);
    pool_give(wheel, index);
    sched->now = due;
    sched->stepped++;
    sched->pending--;
    if (due > wheel->anchor) {
        wheel->anchor = due;
    }
    return true;
}

/* Earliest due time in a slot. */
static nanos slot_earliest(const struct sched_wheel *wheel, const struct slot *slot)
{
    const struct node *nodes = wheel->nodes;
    nanos earliest = TIME_NEVER;
    for (uint32_t i = nodes[slot->sentinel].next; i != slot->sentinel; i = nodes[i].next) {
        earliest = nodes[i].due < earliest ? nodes[i].due : earliest;
    }
    return earliest;
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

bool sched_is_over(const struct sched *sched)
{
    return sched->wheel->made > sched->options.event_count_max;
}

/* --- validity ------------------------------------------------------------------------------- */

/* Count a list's events; UINT32_MAX if its links are broken. */
static uint32_t list_count(const struct sched *sched, uint32_t sentinel)
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
        const uint32_t shift = digit_shift(due ^ wheel->anchor);
        if (sentinel != shift / DIGIT_BITS * 64u + ((uint32_t)(due >> shift) & 63u)) {
            return false;
        }
    }
    return wheel->nodes[sentinel].next != sentinel;
}

bool sched_is_valid(const struct sched *sched)
{
    const struct sched_wheel *wheel = sched->wheel;
    uint64_t count = (uint64_t)list_count(sched, NEAR) + list_count(sched, NEVER);
    for (uint32_t sentinel = 0; sentinel < SLOT_COUNT; sentinel++) {
        const uint64_t occupancy = wheel->occupancy[sentinel / 64u];
        if ((wheel->levels >> sentinel / 64u & 1) != (occupancy != 0)) {
            return false;
        }
        if (occupancy >> sentinel % 64u & 1) {
            count += list_count(sched, sentinel);
            if (count > sched->pending || !slot_is_valid(wheel, sentinel)) {
                return false;
            }
        }
    }
    return count == sched->pending && near_is_valid(sched);
}
