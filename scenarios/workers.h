/* A pool of forked processes that work through numbered items, so that code which crashes or hangs
 * costs its own item and nothing else.
 *
 * Items are handed out in chunks. A worker leaves its results in a slot of memory that it shares
 * with the parent, and the parent hands each full slot on in the order of the chunks, whatever the
 * number of workers: so results cannot depend on it. When a worker dies or stands still, the parent
 * notes that in the slot, too, and a new worker goes on behind the lost item.
 */
#ifndef SCENARIOS_WORKERS_H
#define SCENARIOS_WORKERS_H

#include "sinks/base/err.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORKERS_MAX 256u

enum workers_loss {
    WORKERS_LOSS_NONE = 0,
    WORKERS_LOSS_CRASH, /* detail: the signal, or 0 and it left by itself */
    WORKERS_LOSS_HANG,  /* no item finished in time, and the worker was killed */
};

struct workers_options {
    uint32_t jobs;
    uint64_t memory_max; /* bytes of address space that a worker may have; 0: no limit */
    size_t slot_size;    /* of results per chunk; zeroed before each */
    nanos hang_after;    /* wall time per item; 0: no limit */
    uint64_t count;      /* items 0 .. count - 1 */
    uint32_t chunk;      /* items handed out at once */
    void *context;       /* of all callbacks */
    /* In the worker, once: make what it works with; NULL ends the pool with ERR_LIMIT. */
    void *(*start)(void *context);
    /* In the worker: do one item; false ends the chunk, and the sweep behind it. */
    bool (*work)(void *context, void *state, void *slot, uint64_t item);
    /* In the parent: an item took its worker with it. May write to the slot; false as above. */
    bool (*lost)(void *context, void *slot, uint64_t item, enum workers_loss loss, int detail);
    /* In the parent, in the order of chunks: take the results. */
    void (*take)(void *context, const void *slot);
    /* In the parent, before a chunk is handed out: false ends the sweep before it; or NULL. */
    bool (*go_on)(void *context);
    /* In the parent, every now and then, with the number of items done; or NULL. */
    void (*tick)(void *context, uint64_t done);
};

/* Do all items. ERR_OK; ERR_SYSTEM (no process or memory to be had); ERR_LIMIT (a worker could not
 * start). *handed_out: items 0 .. that were taken. */
MUST_USE enum err workers_run(const struct workers_options *options, uint64_t *handed_out);

/* Zeroed memory that processes forked later share, at the same address in all; NULL: there is none.
 * Given back by workers_memory_free with the same size. */
void *workers_memory(size_t size);

/* Zeroed memory of this process alone, in large pages where the system has them to give: what is read
 * all over costs less in them. NULL, and given back, as above. */
void *workers_memory_alone(size_t size);
void workers_memory_free(void *memory, size_t size);

/* From now on this process keeps what it frees for what it takes next, however large it is: a wish. For a
 * worker whose items take and give back so much that the system's zeroing of pages would be a third of
 * their time. */
void workers_keep_freed(void);

#endif
