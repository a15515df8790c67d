/* The memory of one run: one block, bump allocation, reset at once.
 *
 * Every mutable byte of a run lies here, so that a snapshot is a copy of the used part. The arena
 * has a soft cap, which the run checks at event boundaries (stop reason limit, exit status 4), and
 * headroom above it, so that code inside one event need not handle exhaustion: only
 * arena_try_take may return NULL, and it is what sinks' allocators use. Running through the
 * headroom is a CHECK.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include "sinks/base/allocator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size classes 16, 32, 48, 64, 96, 128, 192 ... up to ARENA_RECYCLED_MAX (256 MiB). */
#define ARENA_CLASS_COUNT  48
#define ARENA_RECYCLED_MAX ((size_t)1 << 28)

struct arena {
    uint8_t *memory;            /* read: the block, owned by the caller */
    size_t capacity;            /* read: bytes of the block */
    size_t soft_cap;            /* read: bytes after which the run must stop */
    size_t used;                /* read: bytes handed out, free-listed ones included */
    size_t reserved;            /* read: bytes that count towards the soft cap but are not taken */
    size_t high_water;          /* read: greatest used since init (survives reset) */
    size_t allocator_live;      /* read: bytes outstanding of arena_allocator */
    uint64_t allocator_calls;   /* read: allocations asked of arena_allocator */
    uint64_t allocator_fail_at; /* set after reset: the n-th of them fails, from 1; 0 none */
    void *free_lists[ARENA_CLASS_COUNT]; /* private: recycled blocks by size class */
};

/* Prepare an arena over memory (aligned to 16) that the caller owns. soft_cap <= capacity. */
void arena_init(struct arena *arena, void *memory, size_t capacity, size_t soft_cap);

/* Forget everything handed out and set the allocator's account to zero. O(1): memory is neither
 * cleared nor freed. */
void arena_reset(struct arena *arena);

/* Take size bytes aligned to 16, uninitialised. Exhaustion of the headroom is a CHECK. */
void *arena_take(struct arena *arena, size_t size);

/* Take zeroed bytes. */
void *arena_take_zeroed(struct arena *arena, size_t size);

/* Take bytes, or NULL when that would pass the soft cap. */
MUST_USE void *arena_try_take(struct arena *arena, size_t size);

/* True when the soft cap is passed: the run must stop at this event boundary. */
static inline bool arena_is_over(const struct arena *arena)
{
    return arena->used + arena->reserved > arena->soft_cap;
}

/* Count size bytes, rounded up as if they were taken, towards the soft cap: what a run that keeps less
 * would otherwise have more room than one that keeps all, and end elsewhere. */
void arena_reserve(struct arena *arena, size_t size);

/* Size-classed recycling over the arena: what is given back is taken again by the next request of
 * its class, without touching the bump pointer. size is 1..ARENA_RECYCLED_MAX, the same in both.
 * In checked builds (CHECK_SLOW) what is given back is overwritten, so a use after it shows. */
void *arena_take_recycled(struct arena *arena, size_t size);
void arena_give_recycled(struct arena *arena, void *memory, size_t size);

/* An allocator for sinks over arena_try_take and the free lists: NULL at the soft cap, above
 * ARENA_RECYCLED_MAX and at allocator_fail_at. The result borrows the arena. */
struct allocator arena_allocator(struct arena *arena);

/* Items by small numbers, such as those of requests, in blocks that never move: an array that grows
 * with its numbers, without copying what it holds and without touching what is not used yet. Zeroed is
 * empty. */
#define ARENA_ARRAY_BLOCK 64u

struct arena_array {
    void **blocks;     /* private: NULL where nothing was asked for yet */
    uint32_t capacity; /* private: of blocks */
};

/* What arena_array_at leaves to do for the first item of a block; not for callers. */
void arena_array_add_block(struct arena_array *array,
                           struct arena *arena,
                           uint32_t block,
                           size_t size);

/* The item of a number, or NULL when neither it nor one of its block was ever asked for. O(1). */
static inline void *arena_array_find(const struct arena_array *array, uint32_t number, size_t size)
{
    const uint32_t block = number / ARENA_ARRAY_BLOCK;
    uint8_t *items = block < array->capacity ? array->blocks[block] : NULL;
    return items == NULL ? NULL : items + number % ARENA_ARRAY_BLOCK * size;
}

/* The item of a number, zeroed when it is new; it never moves. The size must be the same in each call
 * on an array. O(1), amortised. */
static inline void *
arena_array_at(struct arena_array *array, struct arena *arena, uint32_t number, size_t size)
{
    const uint32_t block = number / ARENA_ARRAY_BLOCK;
    if (UNLIKELY(block >= array->capacity || array->blocks[block] == NULL)) {
        arena_array_add_block(array, arena, block, size);
    }
    return (uint8_t *)array->blocks[block] + number % ARENA_ARRAY_BLOCK * size;
}

#endif
