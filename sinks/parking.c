#include "sinks/parking.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"

#include <string.h>

#define CAPACITY_FIRST 16u

void parking_init(struct parking *parking, const struct allocator *allocator)
{
    *parking = (struct parking){.allocator = allocator};
}

void parking_fini(struct parking *parking)
{
    allocator_give(
        parking->allocator, parking->heap, parking->capacity * sizeof(struct parking_slot *));
    *parking = (struct parking){.allocator = parking->allocator};
}

static bool goes_before(const struct parking_slot *a, const struct parking_slot *b)
{
    return a->max != b->max ? a->max < b->max : a->order < b->order;
}

static void put(struct parking *parking, uint32_t index, struct parking_slot *slot)
{
    parking->heap[index] = slot;
    slot->place = index + 1;
}

static void sift_up(struct parking *parking, uint32_t index, struct parking_slot *slot)
{
    while (index > 0 && goes_before(slot, parking->heap[(index - 1) / 2])) {
        put(parking, index, parking->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put(parking, index, slot);
}

static void sift_down(struct parking *parking, uint32_t index, struct parking_slot *slot)
{
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child >= parking->count) {
            break;
        }
        if (child + 1 < parking->count &&
            goes_before(parking->heap[child + 1], parking->heap[child])) {
            child++;
        }
        if (!goes_before(parking->heap[child], slot)) {
            break;
        }
        put(parking, index, parking->heap[child]);
        index = child;
    }
    put(parking, index, slot);
}

static enum err grow(struct parking *parking)
{
    CHECK(parking->capacity <= UINT32_MAX / 2);
    const uint32_t capacity = parking->capacity == 0 ? CAPACITY_FIRST : 2 * parking->capacity;
    struct parking_slot **heap =
        allocator_take(parking->allocator, capacity * sizeof(struct parking_slot *));
    if (heap == NULL) {
        return ERR_LIMIT;
    }
    if (parking->count > 0) {
        memcpy(heap, parking->heap, parking->count * sizeof(struct parking_slot *));
    }
    allocator_give(
        parking->allocator, parking->heap, parking->capacity * sizeof(struct parking_slot *));
    parking->heap = heap;
    parking->capacity = capacity;
    return ERR_OK;
}

enum err
parking_add(struct parking *parking, struct parking_slot *slot, nanos now, nanos min, nanos max)
{
    CHECK(slot->place == 0);
    CHECK(min <= max);
    if (parking->count == parking->capacity) {
        const enum err err = grow(parking);
        if (err != ERR_OK) {
            return err;
        }
    }
    slot->min = nanos_add(now, min);
    slot->max = nanos_add(now, max);
    slot->order = parking->order;
    parking->order++;
    parking->count++;
    sift_up(parking, parking->count - 1, slot);
    return ERR_OK;
}

void parking_remove(struct parking *parking, struct parking_slot *slot)
{
    if (slot->place == 0) {
        return;
    }
    const uint32_t index = slot->place - 1;
    CHECK(parking->heap[index] == slot);
    parking->count--;
    struct parking_slot *last = parking->heap[parking->count];
    if (last != slot) {
        if (index > 0 && goes_before(last, parking->heap[(index - 1) / 2])) {
            sift_up(parking, index, last);
        } else {
            sift_down(parking, index, last);
        }
    }
    slot->place = 0;
    if (parking->armed == slot) {
        parking->armed = NULL;
        parking->armed_is_due = false;
    }
}

void parking_fired(struct parking *parking)
{
    parking->armed_is_due = parking->timer_set && parking->armed != NULL;
    parking->timer_set = false;
}

struct parking_slot *parking_take_due(struct parking *parking, nanos now)
{
    struct parking_slot *slot = NULL;
    if (parking->armed_is_due) {
        slot = parking->armed;
    } else if (parking->count > 0 && parking->heap[0]->max <= now) {
        slot = parking->heap[0];
    }
    if (slot != NULL) {
        parking_remove(parking, slot);
    }
    return slot;
}

void parking_arm(struct parking *parking, nanos now, struct sink_effects *effects)
{
    if (parking->count == 0) {
        if (parking->timer_set) {
            effects_simple(effects, SINK_EFFECT_TIMER_CLEAR);
        }
        parking->timer_set = false;
        parking->armed = NULL;
        return;
    }
    struct parking_slot *first = parking->heap[0];
    if (parking->timer_set && parking->armed_max <= first->max) {
        return;
    }
    parking->armed = first;
    parking->armed_max = first->max;
    parking->timer_set = true;
    effects_timer(effects, nanos_sub(first->min, now), nanos_sub(first->max, now));
}

struct parking_slot *parking_any(const struct parking *parking)
{
    return parking->count == 0 ? NULL : parking->heap[parking->count - 1];
}

void parking_clear(struct parking *parking)
{
    for (uint32_t i = 0; i < parking->count; i++) {
        parking->heap[i]->place = 0;
    }
    parking->count = 0;
    parking->armed = NULL;
    parking->timer_set = false;
    parking->armed_is_due = false;
}

uint64_t parking_digest(const struct parking *parking)
{
    uint64_t digest = digest_fold(parking->count, parking->timer_set ? parking->armed_max : 0);
    for (uint32_t i = 0; i < parking->count; i++) {
        const struct parking_slot *slot = parking->heap[i];
        digest = digest_fold(digest, slot->min);
        digest = digest_fold(digest, slot->max);
        digest = digest_fold(digest, slot == parking->armed);
    }
    return digest;
}
