#include "sim/search/snapshot.h"

#include <string.h>

void snapshot_init(struct snapshot *snapshot, void *memory, size_t capacity)
{
    *snapshot = (struct snapshot){.memory = memory, .capacity = capacity};
}

void snapshot_save(struct snapshot *snapshot, const struct arena *arena)
{
    CHECK(arena->used <= snapshot->capacity);
    snapshot->arena = *arena;
    memcpy(snapshot->memory, arena->memory, arena->used);
}

void snapshot_restore(const struct snapshot *snapshot, struct arena *arena)
{
    CHECK(snapshot->arena.memory == arena->memory);
    memcpy(arena->memory, snapshot->memory, snapshot->arena.used);
    *arena = snapshot->arena;
}
