/* A copy of all that has been handed out of an arena, to go back to: the block's used part and the
 * arena's own account. Whatever points into the block stays good, for it is copied back to the same
 * place. What lies outside the arena (a context of a callback) is the caller's to set back. */
#ifndef SIM_SEARCH_SNAPSHOT_H
#define SIM_SEARCH_SNAPSHOT_H

#include "sim/arena.h"

struct snapshot {
    struct arena arena; /* private: as it was */
    uint8_t *memory;    /* private */
    size_t capacity;    /* private */
};

/* memory: at least what the arena's runs may use; owned by the caller. */
void snapshot_init(struct snapshot *snapshot, void *memory, size_t capacity);

/* Keep what the arena holds, which must fit. */
void snapshot_save(struct snapshot *snapshot, const struct arena *arena);

/* Put the arena back to where it was. It must be the one that was
 * saved. */
void snapshot_restore(const struct snapshot *snapshot, struct arena *arena);

#endif
