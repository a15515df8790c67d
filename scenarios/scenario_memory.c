#include "scenarios/scenario_reader.h"

#include <stdlib.h>

/* The header of a block; what is handed out follows it, aligned for any type. */
struct scenario_block {
    struct scenario_block *next;
    max_align_t data[];
};

void *scenario_take(struct scenario_store *store, size_t size)
{
    if (size > SCENARIO_BYTES_MAX - store->total) {
        return NULL;
    }
    struct scenario_block *block = calloc(1, sizeof(*block) + size);
    if (block == NULL) {
        return NULL;
    }
    block->next = store->blocks;
    store->blocks = block;
    store->total += size;
    return block->data;
}

void scenario_give_all(struct scenario_store *store)
{
    struct scenario_block *block = store->blocks;
    while (block != NULL) {
        struct scenario_block *next = block->next;
        free(block);
        block = next;
    }
    *store = (struct scenario_store){0};
}
