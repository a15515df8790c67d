/* Finds a record by the digest of its value, in O(1): how effects of a service are recognised. */
#ifndef SCENARIOS_RECORD_INDEX_H
#define SCENARIOS_RECORD_INDEX_H

#include "sim/world.h"

#include <stdbool.h>
#include <stdint.h>

struct reader;

/* A digest and whose it is. */
struct record_index_entry {
    uint64_t digest;
    record_id record;
};

/* The slots are all that is visited at random; entries lie in the order of their adding, which is
 * about that in which they are looked for. */
struct record_index {
    struct record_index_entry *entries; /* private */
    uint32_t *slots;                    /* private: number of the entry + 1, 0 empty */
    uint32_t slot_count;                /* private: power of two */
    uint32_t count;                     /* private: entries */
    uint32_t count_max;                 /* private */
};

/* Prepare for at most so many entries, in the reader's memory. ERR_OK, ERR_LIMIT. */
MUST_USE enum err
record_index_init(struct reader *reader, uint32_t entries, struct record_index *index);

/* Add a digest; false when it is there already, and then the first record stays. */
bool record_index_add(struct record_index *index, uint64_t digest, record_id record);

/* The record of a digest, or 0. Guesses spare the search among the slots where the digest was added
 * next to one that was found lately. */
record_id
record_index_find(const struct record_index *index, uint64_t digest, struct world_guesses *guesses);

#endif
