#include "sinks/base/allocator.h"

#include <stdlib.h>
#include <string.h>

void *allocator_take(const struct allocator *allocator, size_t size)
{
    CHECK(size > 0);
    return allocator->allocate(allocator->context, size);
}

void *allocator_take_zeroed(const struct allocator *allocator, size_t size)
{
    void *memory = allocator_take(allocator, size);
    return memory == NULL ? NULL : memset(memory, 0, size);
}

void allocator_give(const struct allocator *allocator, void *memory_or_null, size_t size)
{
    if (memory_or_null == NULL) {
        return;
    }
    CHECK(size > 0);
    allocator->release(allocator->context, memory_or_null, size);
}

static void *malloc_allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void malloc_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

struct allocator allocator_of_malloc(void)
{
    return (struct allocator){.allocate = malloc_allocate, .release = malloc_release};
}
