#include "sinks/base/map.h"

#include "sinks/base/digest.h"

#include <string.h>

/* A checked build sets another seed to show that hash order is never observable. */
#ifndef MAP_HASH_SEED
#    define MAP_HASH_SEED UINT64_C(0)
#endif

#define ENTRY_CAPACITY_MIN 8

struct map_entry {
    uint64_t value;
    uint8_t *key; /* NULL when key_size is 0 */
    size_t key_size;
    uint32_t hash;
    bool live;
};

void map_init(struct map *map, const struct allocator *allocator)
{
    *map = (struct map){.allocator = allocator};
}

static void give_tables(const struct map *map)
{
    allocator_give(map->allocator, map->entries, map->entry_capacity * sizeof(*map->entries));
    allocator_give(map->allocator, map->slots, map->slot_count * sizeof(*map->slots));
}

void map_fini(struct map *map)
{
    for (uint32_t i = 0; i < map->entry_count; i++) {
        allocator_give(map->allocator, map->entries[i].key, map->entries[i].key_size);
    }
    give_tables(map);
    map_init(map, map->allocator);
}

static uint32_t hash_of(struct bytes key)
{
    return (uint32_t)digest_mix(digest_bytes(key) ^ MAP_HASH_SEED);
}

static struct bytes key_of(const struct map_entry *entry)
{
    return (struct bytes){entry->key, entry->key_size};
}

/* Live entry of a key, or NULL. Slots are at most half full, so a probe meets an empty one. */
static struct map_entry *find(const struct map *map, struct bytes key, uint32_t hash)
{
    const uint32_t mask = map->slot_count - 1;
    for (uint32_t probe = 0; probe < map->slot_count; probe++) {
        const uint32_t number = map->slots[(hash + probe) & mask];
        if (number == 0) {
            return NULL;
        }
        struct map_entry *entry = &map->entries[number - 1];
        if (entry->live && entry->hash == hash && bytes_equal(key_of(entry), key)) {
            return entry;
        }
    }
    return NULL;
}

/* Enter the number of an entry (index + 1) into the first empty slot of its probe. */
static void enter(struct map *map, uint32_t hash, uint32_t number)
{
    const uint32_t mask = map->slot_count - 1;
    uint32_t slot = hash & mask;
    while (map->slots[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    map->slots[slot] = number;
}

/* Move the live entries to the front of a table, which may be the present one, and enter them anew
 * into the map's slots. */
static void rebuild(struct map *map, struct map_entry *entries)
{
    memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->entry_count; i++) {
        if (map->entries[i].live) {
            entries[kept] = map->entries[i];
            kept++;
            enter(map, entries[kept - 1].hash, kept);
        }
    }
    CHECK(kept == map->count);
    map->entry_count = kept;
}

/* Move to tables of the given capacity. */
static enum err grow(struct map *map, uint32_t capacity)
{
    if (capacity > MAP_COUNT_MAX) {
        return ERR_LIMIT;
    }
    const uint32_t slot_count = 2 * capacity;
    struct map_entry *entries = allocator_take(map->allocator, capacity * sizeof(*entries));
    uint32_t *slots = allocator_take(map->allocator, slot_count * sizeof(*slots));
    if (entries == NULL || slots == NULL) {
        allocator_give(map->allocator, entries, capacity * sizeof(*entries));
        allocator_give(map->allocator, slots, slot_count * sizeof(*slots));
        return ERR_LIMIT;
    }
    const struct map old = *map;
    map->slots = slots;
    map->slot_count = slot_count;
    rebuild(map, entries);
    map->entries = entries;
    map->entry_capacity = capacity;
    give_tables(&old);
    return ERR_OK;
}

/* Make room for one more entry. Growing only when a quarter or less are tombstones keeps both the
 * memory and the cost per operation in proportion to the live entries. */
static enum err reserve(struct map *map)
{
    if (map->entry_count < map->entry_capacity) {
        return ERR_OK;
    }
    if (map->entry_capacity == 0) {
        return grow(map, ENTRY_CAPACITY_MIN);
    }
    if (map->count < map->entry_capacity - map->entry_capacity / 4) {
        rebuild(map, map->entries);
        return ERR_OK;
    }
    return grow(map, 2 * map->entry_capacity);
}

enum err map_set(struct map *map, struct bytes key, uint64_t value)
{
    const uint32_t hash = hash_of(key);
    struct map_entry *found = find(map, key, hash);
    if (found != NULL) {
        found->value = value;
        return ERR_OK;
    }
    uint8_t *copy = key.size == 0 ? NULL : allocator_take(map->allocator, key.size);
    if (key.size > 0 && copy == NULL) {
        return ERR_LIMIT;
    }
    if (reserve(map) != ERR_OK) {
        allocator_give(map->allocator, copy, key.size);
        return ERR_LIMIT;
    }
    if (key.size > 0) {
        memcpy(copy, key.data, key.size);
    }
    CHECK(map->entry_count < map->entry_capacity);
    map->entries[map->entry_count] = (struct map_entry){value, copy, key.size, hash, true};
    map->entry_count++;
    map->count++;
    enter(map, hash, map->entry_count);
    return ERR_OK;
}

bool map_get(const struct map *map, struct bytes key, uint64_t *value)
{
    const struct map_entry *entry = find(map, key, hash_of(key));
    if (entry == NULL) {
        return false;
    }
    *value = entry->value;
    return true;
}

bool map_remove(struct map *map, struct bytes key)
{
    struct map_entry *entry = find(map, key, hash_of(key));
    if (entry == NULL) {
        return false;
    }
    CHECK(map->count > 0);
    /* Last use of key: it may be the entry's own. */
    allocator_give(map->allocator, entry->key, entry->key_size);
    entry->key = NULL;
    entry->key_size = 0;
    entry->live = false;
    map->count--;
    return true;
}

bool map_next(const struct map *map, uint32_t *cursor, struct bytes *key, uint64_t *value)
{
    while (*cursor < map->entry_count) {
        const struct map_entry *entry = &map->entries[*cursor];
        (*cursor)++;
        if (entry->live) {
            *key = key_of(entry);
            *value = entry->value;
            return true;
        }
    }
    return false;
}
