/* The requests of a half that have no answer yet: numbers them from 1, finds them by number, and
 * keeps them in order of sending. Each attempt gets a number of its own, so that the late answer of
 * an attempt that was given up finds nothing. */
#ifndef SINKS_REQUESTS_H
#define SINKS_REQUESTS_H

#include "sinks/base/allocator.h"
#include "sinks/base/err.h"
#include "sinks/base/list.h"

#include <stdint.h>

/* Embed in what was sent; zeroed means not on its way. Must not move while on its way. */
struct request {
    struct list_link link; /* private */
    uint64_t number;       /* read: 0 when not on its way */
};

struct requests {
    const struct allocator *allocator; /* private */
    struct list order;                 /* read: in order of sending */
    struct request **slots;            /* private: open addressing by number */
    uint32_t slot_count;               /* private: power of two, or 0 */
    uint64_t last;                     /* read: last number given */
};

void requests_init(struct requests *requests, const struct allocator *allocator);
void requests_fini(struct requests *requests);

/* Number a request and keep it. ERR_OK, ERR_LIMIT. O(1) expected. */
MUST_USE enum err requests_add(struct requests *requests, struct request *request);

/* Take the request with a number out, or NULL if none has it. O(1) expected. */
struct request *requests_take(struct requests *requests, uint64_t number);

/* Take out a request that is on its way. */
void requests_remove(struct requests *requests, struct request *request);

/* The one that was sent first, or NULL. */
struct request *requests_first(const struct requests *requests);

uint32_t requests_count(const struct requests *requests);

#endif
