/* A table from keys to slots of a fixed size, in the run's arena: what an oracle remembers of each
 * key, request, lane or resource. Slots never move; those of dropped keys are used again. */
#ifndef SIM_ORACLE_TABLE_H
#define SIM_ORACLE_TABLE_H

#include "sim/arena.h"

#include <stdint.h>

/* Zeroed is empty. */
struct oracle_table {
    uint64_t *keys;    /* private: open addressing, 0 is free */
    void **slots;      /* private: beside the keys */
    void *free_slots;  /* private: linked through their first bytes */
    uint32_t capacity; /* private: a power of two */
    uint32_t count;    /* read: keys */
};

/* The slot of a key, zeroed when the key is new. The size must be the same in each call on a table,
 * and at least a pointer's if keys are ever dropped. O(1), amortised. */
void *oracle_table_at(struct oracle_table *table, struct arena *arena, uint64_t key, size_t size);

/* The slot of a key, or NULL. O(1). */
void *oracle_table_find(const struct oracle_table *table, uint64_t key);

/* Forget a key that is there; its slot may be another key's from now on. O(1). */
void oracle_table_drop(struct oracle_table *table, uint64_t key);

#endif
