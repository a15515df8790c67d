/* An insertion-ordered map from bytes to a 64-bit value. Iteration follows insertion, never the
 * hash: order can therefore be observed without breaking determinism. Keys are copied. */
#ifndef SINKS_BASE_MAP_H
#define SINKS_BASE_MAP_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Entries, removed ones that are not yet compacted included. */
#define MAP_COUNT_MAX (UINT32_C(1) << 25)

struct map_entry;

struct map {
    const struct allocator *allocator; /* private */
    struct map_entry *entries;         /* private: insertion order, removed ones tombstoned */
    uint32_t *slots;                   /* private: entry index + 1 */
    uint32_t entry_count;              /* private */
    uint32_t entry_capacity;           /* private */
    uint32_t slot_count;               /* private: power of two */
    uint32_t count;                    /* read: live entries */
};

void map_init(struct map *map, const struct allocator *allocator);
void map_fini(struct map *map);

/* Set key to value, replacing; a replaced key keeps its place, a removed one that comes back goes
 * to the end. A new key may move entries: end an iteration first. ERR_OK; ERR_LIMIT of the
 * allocator or of MAP_COUNT_MAX, and then the map is unchanged. O(1) amortised. */
MUST_USE enum err map_set(struct map *map, struct bytes key, uint64_t value);

/* Find a key: true and *value set, or false. O(1) expected. */
bool map_get(const struct map *map, struct bytes key, uint64_t *value);

/* Remove a key; false if absent. Allowed while iterating; key may be the view of map_next. */
bool map_remove(struct map *map, struct bytes key);

/* Iterate in insertion order: start with *cursor = 0; false at the end. *key is borrowed until that
 * key is removed. */
bool map_next(const struct map *map, uint32_t *cursor, struct bytes *key, uint64_t *value);

#endif
