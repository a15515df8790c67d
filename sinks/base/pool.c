#include "sinks/base/pool.h"

#include "sinks/base/units.h"

#include <stdalign.h>
#include <string.h>

/* Chunks hold 16, 32, ... 1024 slots, and from then on 1024 each, so that a small pool stays small.
 * Each 16 of their slots are a block, and blocks are listed: a slot is found by a shift and a mask. */
#define CHUNK_SLOTS_MIN   POOL_BLOCK_SLOTS
#define CHUNK_SLOTS_MAX   1024U
#define CHUNKS_DOUBLING   6U
#define BLOCK_LIST_GROWTH 8U

/* Stands before each slot. The generation is odd while the slot is live: it grows at each take and
 * give, so that a handle fits only the one life it was made for (until it wraps after 2^31). */
struct pool_slot {
    alignas(max_align_t) uint32_t generation;
    uint32_t free_next; /* index + 1, 0 none */
};

/* Index of a chunk's first slot. */
static uint32_t chunk_start(uint32_t chunk)
{
    if (chunk <= CHUNKS_DOUBLING) {
        return (CHUNK_SLOTS_MIN << chunk) - CHUNK_SLOTS_MIN;
    }
    return CHUNK_SLOTS_MAX * (chunk - CHUNKS_DOUBLING + 1) - CHUNK_SLOTS_MIN;
}

static size_t stride_of(size_t slot_size)
{
    const size_t unit = alignof(struct pool_slot);
    return sizeof(struct pool_slot) + (slot_size + unit - 1) / unit * unit;
}

/* The last chunk is cut to the pool's limit. */
static size_t chunk_size(const struct pool *pool, uint32_t chunk)
{
    const uint32_t start = chunk_start(chunk);
    const uint32_t slots = chunk_start(chunk + 1) - start;
    const uint32_t left = pool->slot_count_max - start;
    return (slots < left ? slots : left) * pool->stride;
}

static struct pool_slot *slot_at(const struct pool *pool, uint32_t index)
{
    uint8_t *block = pool->blocks[index / POOL_BLOCK_SLOTS];
    return (struct pool_slot *)(void *)(block + index % POOL_BLOCK_SLOTS * pool->stride);
}

/* The live slot of a handle, or NULL. */
static struct pool_slot *find(const struct pool *pool, pool_handle handle)
{
    const uint32_t number = (uint32_t)handle;
    if (number == 0 || number > pool->made) {
        return NULL;
    }
    struct pool_slot *slot = slot_at(pool, number - 1);
    const uint32_t generation = (uint32_t)(handle >> 32);
    return generation % 2 == 1 && slot->generation == generation ? slot : NULL;
}

void pool_init(struct pool *pool,
               const struct allocator *allocator,
               size_t slot_size,
               uint32_t slot_count_max)
{
    CHECK(slot_size > 0);
    CHECK(slot_size <= SIZE_MAX / CHUNK_SLOTS_MAX - 2 * sizeof(struct pool_slot));
    CHECK(slot_count_max <= POOL_SLOT_COUNT_MAX);
    *pool = (struct pool){.allocator = allocator,
                          .slot_size = slot_size,
                          .stride = stride_of(slot_size),
                          .slot_count_max = slot_count_max};
}

void pool_fini(struct pool *pool)
{
    for (uint32_t chunk = 0; chunk < pool->chunk_count; chunk++) {
        void *memory = pool->blocks[chunk_start(chunk) / POOL_BLOCK_SLOTS];
        allocator_give(pool->allocator, memory, chunk_size(pool, chunk));
    }
    allocator_give(pool->allocator, pool->blocks, pool->block_capacity * sizeof(*pool->blocks));
    pool_init(pool, pool->allocator, pool->slot_size, pool->slot_count_max);
}

/* Make room in the list of blocks for so many of them. */
static bool reserve_blocks(struct pool *pool, uint32_t count)
{
    if (count <= pool->block_capacity) {
        return true;
    }
    const size_t size = pool->block_capacity * sizeof(*pool->blocks);
    uint32_t capacity = BLOCK_LIST_GROWTH;
    while (capacity < count) {
        capacity *= 2;
    }
    void **blocks = allocator_take(pool->allocator, capacity * sizeof(*blocks));
    if (blocks == NULL) {
        return false;
    }
    if (size > 0) {
        memcpy(blocks, pool->blocks, size);
    }
    allocator_give(pool->allocator, pool->blocks, size);
    pool->blocks = blocks;
    pool->block_capacity = capacity;
    return true;
}

static bool add_chunk(struct pool *pool)
{
    const size_t size = chunk_size(pool, pool->chunk_count);
    uint32_t block = chunk_start(pool->chunk_count) / POOL_BLOCK_SLOTS;
    if (!reserve_blocks(pool, chunk_start(pool->chunk_count + 1) / POOL_BLOCK_SLOTS)) {
        return false;
    }
    uint8_t *chunk = allocator_take(pool->allocator, size);
    if (chunk == NULL) {
        return false;
    }
    for (size_t offset = 0; offset < size; offset += POOL_BLOCK_SLOTS * pool->stride) {
        pool->blocks[block] = chunk + offset;
        block++;
    }
    pool->chunk_count++;
    return true;
}

/* Make one more slot, in a new chunk when the last one is full. Puts it on the free list. */
static bool make_slot(struct pool *pool)
{
    if (pool->made == pool->slot_count_max) {
        return false;
    }
    if (pool->made == chunk_start(pool->chunk_count) && !add_chunk(pool)) {
        return false;
    }
    *slot_at(pool, pool->made) = (struct pool_slot){0};
    pool->made++;
    pool->free_head = pool->made;
    return true;
}

pool_handle pool_take(struct pool *pool)
{
    if (pool->free_head == 0 && !make_slot(pool)) {
        return POOL_NONE;
    }
    const uint32_t number = pool->free_head;
    struct pool_slot *slot = slot_at(pool, number - 1);
    CHECK(slot->generation % 2 == 0);
    pool->free_head = slot->free_next;
    slot->generation++;
    slot->free_next = 0;
    memset(slot + 1, 0, pool->slot_size);
    pool->used++;
    CHECK(pool->used <= pool->made);
    return (pool_handle)slot->generation << 32 | number;
}

void pool_give(struct pool *pool, pool_handle handle)
{
    struct pool_slot *slot = find(pool, handle);
    CHECK(slot != NULL);
    CHECK(pool->used > 0);
#if CHECK_SLOW_ON
    memset(slot + 1, 0xdd, pool->slot_size);
#endif
    slot->generation++;
    slot->free_next = pool->free_head;
    pool->free_head = (uint32_t)handle;
    pool->used--;
}

bool pool_is_live(const struct pool *pool, pool_handle handle)
{
    return find(pool, handle) != NULL;
}

void *pool_get(const struct pool *pool, pool_handle handle)
{
    struct pool_slot *slot = find(pool, handle);
    CHECK(slot != NULL);
    return slot + 1;
}
