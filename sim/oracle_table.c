#include "sim/oracle_table.h"

#include "sinks/base/check.h"

#include <string.h>

#define CAPACITY_MIN 64u

static uint32_t home_of(const struct oracle_table *table, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->capacity - 1);
}

/* Where the key is, or would be. */
static uint32_t place_of(const struct oracle_table *table, uint64_t key)
{
    uint32_t place = home_of(table, key);
    for (uint32_t tries = 0; tries < table->capacity; tries++) {
        if (table->keys[place] == 0 || table->keys[place] == key) {
            return place;
        }
        place = (place + 1) & (table->capacity - 1);
    }
    UNREACHABLE();
}

/* Twice the room; the old memory stays behind in the arena. */
static void grow(struct oracle_table *table, struct arena *arena)
{
    const struct oracle_table old = *table;
    CHECK(old.capacity <= UINT32_MAX / 2);
    table->capacity = old.capacity == 0 ? CAPACITY_MIN : old.capacity * 2;
    table->keys = arena_take_zeroed(arena, table->capacity * sizeof(table->keys[0]));
    table->slots = arena_take_zeroed(arena, table->capacity * sizeof(table->slots[0]));
    for (uint32_t index = 0; index < old.capacity; index++) {
        if (old.keys[index] != 0) {
            const uint32_t place = place_of(table, old.keys[index]);
            table->keys[place] = old.keys[index];
            table->slots[place] = old.slots[index];
        }
    }
}

static uint64_t used_key(uint64_t key)
{
    return key == 0 ? UINT64_MAX : key;
}

static void *take_slot(struct oracle_table *table, struct arena *arena, size_t size)
{
    void *slot = table->free_slots;
    if (slot == NULL) {
        return arena_take_zeroed(arena, size);
    }
    memcpy(&table->free_slots, slot, sizeof(table->free_slots));
    return memset(slot, 0, size);
}

void *oracle_table_at(struct oracle_table *table, struct arena *arena, uint64_t key, size_t size)
{
    const uint64_t used = used_key(key);
    if (table->count * 2 >= table->capacity) {
        grow(table, arena);
    }
    const uint32_t place = place_of(table, used);
    if (table->keys[place] == 0) {
        table->keys[place] = used;
        table->slots[place] = take_slot(table, arena, size);
        table->count++;
    }
    return table->slots[place];
}

void *oracle_table_find(const struct oracle_table *table, uint64_t key)
{
    if (table->capacity == 0) {
        return NULL;
    }
    return table->slots[place_of(table, used_key(key))];
}

/* Empty a place and pull back those behind it that would no longer be found. */
static void vacate(struct oracle_table *table, uint32_t hole)
{
    const uint32_t mask = table->capacity - 1;
    for (uint32_t place = (hole + 1) & mask; table->keys[place] != 0; place = (place + 1) & mask) {
        const uint32_t home = home_of(table, table->keys[place]);
        if (((place - home) & mask) >= ((place - hole) & mask)) {
            table->keys[hole] = table->keys[place];
            table->slots[hole] = table->slots[place];
            hole = place;
        }
    }
    table->keys[hole] = 0;
    table->slots[hole] = NULL;
}

void oracle_table_drop(struct oracle_table *table, uint64_t key)
{
    CHECK(table->capacity > 0);
    const uint32_t place = place_of(table, used_key(key));
    void *slot = table->slots[place];
    CHECK(slot != NULL);
    memcpy(slot, &table->free_slots, sizeof(table->free_slots));
    table->free_slots = slot;
    table->count--;
    vacate(table, place);
}
