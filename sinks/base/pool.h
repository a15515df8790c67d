/* A growing pool of equal slots with stale-safe handles: handle = index + generation. Slots never
 * move (they live in chunks); a freed slot is reused last-in first-out. */
#ifndef SINKS_BASE_POOL_H
#define SINKS_BASE_POOL_H

#include "sinks/base/allocator.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 is no handle. Low 32 bits index + 1, high 32 bits generation. */
typedef uint64_t pool_handle;
#define POOL_NONE UINT64_C(0)

#define POOL_SLOT_COUNT_MAX (UINT32_C(1) << 31)
#define POOL_BLOCK_SLOTS    16U

struct pool {
    const struct allocator *allocator; /* private */
    void **blocks;                     /* private: where each POOL_BLOCK_SLOTS slots begin */
    size_t slot_size;                  /* read */
    size_t stride;                     /* private: bytes from slot to slot */
    uint32_t chunk_count;              /* private: each is one allocation */
    uint32_t block_capacity;           /* private */
    uint32_t free_head;                /* private: index + 1, 0 none */
    uint32_t used;                     /* read: live slots */
    uint32_t made;                     /* private: slots ever made */
    uint32_t slot_count_max;           /* set before init through pool_init */
};

/* Prepare an empty pool of slots of slot_size bytes, at most slot_count_max live at once, which is
 * itself at most POOL_SLOT_COUNT_MAX. */
void pool_init(struct pool *pool,
               const struct allocator *allocator,
               size_t slot_size,
               uint32_t slot_count_max);

/* Release all memory, live slots included. */
void pool_fini(struct pool *pool);

/* Take a zeroed slot, aligned for any type; POOL_NONE at the limit (of count or allocator), and
 * then the pool is unchanged. */
MUST_USE pool_handle pool_take(struct pool *pool);

/* Give a live slot back; a stale handle is a CHECK. */
void pool_give(struct pool *pool, pool_handle handle);

/* True when the handle names a live slot. */
bool pool_is_live(const struct pool *pool, pool_handle handle);

/* The slot of a live handle; a stale handle is a CHECK. O(1). */
void *pool_get(const struct pool *pool, pool_handle handle);

#endif
