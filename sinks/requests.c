#include "sinks/requests.h"

#include "sinks/base/check.h"
#include "sinks/base/units.h"

#define SLOTS_FIRST 16u

void requests_init(struct requests *requests, const struct allocator *allocator)
{
    *requests = (struct requests){.allocator = allocator};
    list_init(&requests->order);
}

void requests_fini(struct requests *requests)
{
    allocator_give(
        requests->allocator, requests->slots, requests->slot_count * sizeof(struct request *));
    requests_init(requests, requests->allocator);
}

/* Numbers are given in sequence: unscattered they would stand in one long run, which every removal
 * would have to walk. */
static uint32_t home_of(const struct requests *requests, uint64_t number)
{
    const uint64_t scattered = number * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(scattered >> 32) & (requests->slot_count - 1);
}

static uint32_t next_of(const struct requests *requests, uint32_t slot)
{
    return (slot + 1) & (requests->slot_count - 1);
}

static void place(struct requests *requests, struct request *request)
{
    uint32_t slot = home_of(requests, request->number);
    while (requests->slots[slot] != NULL) {
        slot = next_of(requests, slot);
    }
    requests->slots[slot] = request;
}

static enum err grow(struct requests *requests)
{
    CHECK(requests->slot_count <= UINT32_MAX / 4);
    const uint32_t slot_count = requests->slot_count == 0 ? SLOTS_FIRST : 2 * requests->slot_count;
    struct request **slots =
        allocator_take_zeroed(requests->allocator, slot_count * sizeof(struct request *));
    if (slots == NULL) {
        return ERR_LIMIT;
    }
    allocator_give(
        requests->allocator, requests->slots, requests->slot_count * sizeof(struct request *));
    requests->slots = slots;
    requests->slot_count = slot_count;
    for (struct list_link *link = list_first(&requests->order); link != NULL;
         link = list_next(&requests->order, link)) {
        place(requests, LIST_ITEM(link, struct request, link));
    }
    return ERR_OK;
}

enum err requests_add(struct requests *requests, struct request *request)
{
    CHECK(request->number == 0);
    if (2 * requests->order.count >= requests->slot_count) {
        const enum err err = grow(requests);
        if (err != ERR_OK) {
            return err;
        }
    }
    requests->last++;
    request->number = requests->last;
    place(requests, request);
    list_push_back(&requests->order, &request->link);
    return ERR_OK;
}

/* The slot that holds a number, or slot_count. */
static uint32_t find(const struct requests *requests, uint64_t number)
{
    if (requests->slot_count == 0 || number == 0) {
        return requests->slot_count;
    }
    uint32_t slot = home_of(requests, number);
    while (requests->slots[slot] != NULL) {
        if (requests->slots[slot]->number == number) {
            return slot;
        }
        slot = next_of(requests, slot);
    }
    return requests->slot_count;
}

/* Empty a slot and pull back those behind it that would no longer be found. */
static void vacate(struct requests *requests, uint32_t hole)
{
    const uint32_t mask = requests->slot_count - 1;
    uint32_t slot = next_of(requests, hole);
    while (requests->slots[slot] != NULL) {
        const uint32_t home = home_of(requests, requests->slots[slot]->number);
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            requests->slots[hole] = requests->slots[slot];
            hole = slot;
        }
        slot = next_of(requests, slot);
    }
    requests->slots[hole] = NULL;
}

struct request *requests_take(struct requests *requests, uint64_t number)
{
    const uint32_t slot = find(requests, number);
    if (slot == requests->slot_count) {
        return NULL;
    }
    struct request *request = requests->slots[slot];
    vacate(requests, slot);
    list_remove(&requests->order, &request->link);
    request->number = 0;
    return request;
}

void requests_remove(struct requests *requests, struct request *request)
{
    struct request *taken = requests_take(requests, request->number);
    CHECK(taken == request);
}

struct request *requests_first(const struct requests *requests)
{
    struct list_link *link = list_first(&requests->order);
    return link == NULL ? NULL : LIST_ITEM(link, struct request, link);
}

uint32_t requests_count(const struct requests *requests)
{
    return narrow_u32(requests->order.count);
}
