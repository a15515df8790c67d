/* The one block that holds a decoded or cloned message: structs and arrays from its start, bytes from
 * its end. Private to sinks/port. */
#ifndef SINKS_PORT_BLOCK_H
#define SINKS_PORT_BLOCK_H

#include "sinks/base/bytes.h"
#include "sinks/base/check.h"
#include "sinks/port/fields.h"
#include "sinks/port/port.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_ALIGN 8u

_Static_assert(_Alignof(void *) <= BLOCK_ALIGN, "pointers fit the alignment of blocks");
_Static_assert(_Alignof(uint64_t) <= BLOCK_ALIGN, "integers fit the alignment of blocks");

struct block_size {
    size_t structs;
    size_t bytes;
};

struct block {
    uint8_t *memory;
    size_t structs_end;
    size_t bytes_start;
};

static inline struct block block_of(void *memory, size_t size)
{
    return (struct block){.memory = memory, .bytes_start = size};
}

static inline size_t block_aligned(size_t size)
{
    return (size + (BLOCK_ALIGN - 1)) & ~(size_t)(BLOCK_ALIGN - 1);
}

static inline size_t block_left(const struct block *block)
{
    return block->bytes_start - block->structs_end;
}

static inline uint8_t *block_struct(struct block *block, size_t size)
{
    uint8_t *place = block->memory + block->structs_end;
    CHECK(block_aligned(size) <= block->bytes_start - block->structs_end);
    block->structs_end += block_aligned(size);
    return place;
}

static inline struct bytes block_copy(struct block *block, struct bytes source)
{
    if (source.size == 0) {
        return (struct bytes){0};
    }
    CHECK(source.size <= block->bytes_start - block->structs_end);
    block->bytes_start -= source.size;
    uint8_t *place = block->memory + block->bytes_start;
    memcpy(place, source.data, source.size);
    return (struct bytes){place, source.size};
}

/* Memory of the block that is known by a pointer to const. */
static inline uint8_t *block_writable(struct block *block, const void *place)
{
    return block->memory + ((const uint8_t *)place - block->memory);
}

static inline void block_size_add(struct block_size *size, const struct port_message *message)
{
    size->structs += block_aligned(message->size);
}

#endif
