#include "sim/arena.h"

#include "sinks/base/units.h"

#include <string.h>

#define ALIGNMENT        16
#define ARRAY_BLOCKS_MIN 4u

/* A recycled block, linked through its own memory. */
struct arena_block {
    struct arena_block *next;
};

static bool arena_is_valid(const struct arena *arena)
{
    return arena->used <= arena->capacity && arena->soft_cap <= arena->capacity &&
           arena->used % ALIGNMENT == 0 && arena->used <= arena->high_water;
}

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void arena_init(struct arena *arena, void *memory, size_t capacity, size_t soft_cap)
{
    CHECK((uintptr_t)memory % ALIGNMENT == 0);
    CHECK(soft_cap <= capacity);
    *arena = (struct arena){.memory = memory, .capacity = capacity, .soft_cap = soft_cap};
}

void arena_reset(struct arena *arena)
{
    CHECK(arena_is_valid(arena));
    arena->used = 0;
    arena->reserved = 0;
    arena->allocator_live = 0;
    arena->allocator_calls = 0;
    arena->allocator_fail_at = 0;
    memset(arena->free_lists, 0, sizeof(arena->free_lists));
}

/* True when size bytes more than used, rounded up, stay within the limit. */
static inline bool fits(size_t used, size_t size, size_t limit)
{
    const size_t rounded = round_up(size);
    return rounded >= size && used <= limit && rounded <= limit - used;
}

static inline void *bump(struct arena *arena, size_t size)
{
    void *memory = arena->memory + arena->used;
    arena->used += round_up(size);
    if (arena->used > arena->high_water) {
        arena->high_water = arena->used;
    }
    CHECK_SLOW(arena_is_valid(arena));
    return memory;
}

void *arena_take(struct arena *arena, size_t size)
{
    CHECK(fits(arena->used, size, arena->capacity));
    return bump(arena, size);
}

void *arena_take_zeroed(struct arena *arena, size_t size)
{
    return memset(arena_take(arena, size), 0, size);
}

void *arena_try_take(struct arena *arena, size_t size)
{
    const size_t used = arena->used + arena->reserved;
    return fits(used, size, arena->soft_cap) ? bump(arena, size) : NULL;
}

void arena_reserve(struct arena *arena, size_t size)
{
    CHECK(fits(arena->reserved, size, SIZE_MAX / 2));
    arena->reserved += round_up(size);
}

/* The least class that holds size: class 0 is 16 bytes, 2k + 1 is 32 << k, 2k + 2 is 48 << k. Above
 * class 0 the number of whole units before the last byte tells: its highest bit is the power, and the
 * bit below, one if there is none, whether the lesser of the two classes is too small. */
static uint32_t class_of_units(size_t units)
{
    if (units == 0) {
        return 0;
    }
    const uint32_t power = highest_bit(units);
    return 2 * power + (uint32_t)((2 * units + 1) >> power & 1);
}

/* The same for nearly all that is ever asked for. */
static const uint8_t small_classes[] = {
    0,  1,  2,  3,  4,  4,  5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  8,  8,
    8,  8,  9,  9,  9,  9,  9,  9,  9,  9,  10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
    10, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
};

static inline uint32_t class_of(size_t size)
{
    const size_t units = (size - 1) / ALIGNMENT; /* huge for 0 */
    if (LIKELY(units < ARRAY_COUNT(small_classes))) {
        return small_classes[units];
    }
    CHECK(size > 0);
    CHECK(size <= ARENA_RECYCLED_MAX);
    return class_of_units(units);
}

static size_t class_size(uint32_t class)
{
    CHECK(class < ARENA_CLASS_COUNT);
    if (class == 0) {
        return 16;
    }
    return class % 2 == 1 ? (size_t)32 << class / 2 : (size_t)24 << class / 2;
}

static inline void *pop_free(struct arena *arena, uint32_t class)
{
    struct arena_block *block = arena->free_lists[class];
    if (block != NULL) {
        arena->free_lists[class] = block->next;
    }
    return block;
}

void *arena_take_recycled(struct arena *arena, size_t size)
{
    const uint32_t class = class_of(size);
    void *block = pop_free(arena, class);
    return block != NULL ? block : arena_take(arena, class_size(class));
}

void arena_give_recycled(struct arena *arena, void *memory, size_t size)
{
    const uint32_t class = class_of(size);
    const size_t offset = (size_t)((uintptr_t)memory - (uintptr_t)arena->memory);
    CHECK(offset % ALIGNMENT == 0);
    CHECK(offset < arena->used);
    CHECK(size <= arena->used - offset);
#if CHECK_SLOW_ON
    memset(memory, 0xdd, class_size(class));
#endif
    struct arena_block *block = memory;
    block->next = arena->free_lists[class];
    arena->free_lists[class] = block;
}

static void *sink_allocate(void *context, size_t size)
{
    struct arena *arena = context;
    arena->allocator_calls++;
    if (arena->allocator_calls == arena->allocator_fail_at || size > ARENA_RECYCLED_MAX) {
        return NULL;
    }
    const uint32_t class = class_of(size);
    void *block = pop_free(arena, class);
    if (block == NULL) {
        block = arena_try_take(arena, class_size(class));
    }
    arena->allocator_live += block == NULL ? 0 : size;
    return block;
}

static void sink_release(void *context, void *memory, size_t size)
{
    struct arena *arena = context;
    CHECK(size <= arena->allocator_live);
    arena->allocator_live -= size;
    arena_give_recycled(arena, memory, size);
}

struct allocator arena_allocator(struct arena *arena)
{
    return (struct allocator){arena, sink_allocate, sink_release};
}

static void grow_blocks(struct arena_array *array, struct arena *arena, uint32_t block)
{
    uint32_t capacity = array->capacity == 0 ? ARRAY_BLOCKS_MIN : array->capacity;
    while (capacity <= block) {
        CHECK(capacity <= UINT32_MAX / 2);
        capacity *= 2;
    }
    const size_t size = capacity * sizeof(void *);
    const size_t old_size = array->capacity * sizeof(void *);
    void **blocks = arena_take_recycled(arena, size);
    memset((void *)blocks, 0, size);
    if (old_size > 0) {
        memcpy((void *)blocks, (const void *)array->blocks, old_size);
        arena_give_recycled(arena, (void *)array->blocks, old_size);
    }
    array->blocks = blocks;
    array->capacity = capacity;
}

void arena_array_add_block(struct arena_array *array,
                           struct arena *arena,
                           uint32_t block,
                           size_t size)
{
    if (block >= array->capacity) {
        grow_blocks(array, arena, block);
    }
    CHECK(array->blocks[block] == NULL);
    array->blocks[block] = arena_take_zeroed(arena, ARENA_ARRAY_BLOCK * size);
}
