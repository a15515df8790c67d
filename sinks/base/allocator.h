/* The allocator that a host passes to a sink. The sink gives back what it no longer needs: it must
 * be fit to run for months. */
#ifndef SINKS_BASE_ALLOCATOR_H
#define SINKS_BASE_ALLOCATOR_H

#include "sinks/base/check.h"

#include <stddef.h>

struct allocator {
    void *context;
    /* Return size bytes aligned for any type, uninitialised, or NULL at the host's limit. */
    void *(*allocate)(void *context, size_t size);
    /* Give memory back; size is what was asked for. */
    void (*release)(void *context, void *memory, size_t size);
};

/* Allocate, or NULL at the limit. size is at least 1. */
MUST_USE void *allocator_take(const struct allocator *allocator, size_t size);

/* Allocate zeroed memory, or NULL at the limit. */
MUST_USE void *allocator_take_zeroed(const struct allocator *allocator, size_t size);

/* Release; memory may be NULL (then nothing happens). */
void allocator_give(const struct allocator *allocator, void *memory_or_null, size_t size);

/* An allocator over malloc, for tests and real hosts. Never used by the simulator. */
struct allocator allocator_of_malloc(void);

#endif
