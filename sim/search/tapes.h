/* Tapes in the memory that a search is given: what shrink and near share. Memory belongs to the
 * caller of the search and lasts as long as its result. Nothing here fails. */
#ifndef SIM_SEARCH_TAPES_H
#define SIM_SEARCH_TAPES_H

#include "sim/choice.h"
#include "sinks/base/check.h"

#include <string.h>

#define TAPES_ALIGNMENT 16u

/* Bytes that a piece of so many bytes takes. */
static inline size_t tapes_aligned(size_t size)
{
    return (size + TAPES_ALIGNMENT - 1) / TAPES_ALIGNMENT * TAPES_ALIGNMENT;
}

/* The next piece of *memory, which moves on behind it. */
static inline void *tapes_carve(uint8_t **memory, size_t size)
{
    void *piece = *memory;
    *memory += tapes_aligned(size);
    return piece;
}

/* An empty tape with room for as many entries as another one has, and its identity. */
static inline struct tape tapes_carve_tape(uint8_t **memory, const struct tape *like)
{
    return (struct tape){
        .entries =
            (struct tape_entry *)tapes_carve(memory, like->count * sizeof(struct tape_entry)),
        .capacity = like->count,
        .identity = like->identity,
    };
}

/* Copy the entries; that they fit is a CHECK. The target keeps its identity. */
static inline void tapes_copy(const struct tape *source, struct tape *target)
{
    CHECK(source->count <= target->capacity);
    if (source->count > 0) {
        memcpy(target->entries, source->entries, source->count * sizeof(*source->entries));
    }
    target->count = source->count;
}

#endif
