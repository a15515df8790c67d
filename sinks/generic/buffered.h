/* One record of the idempotent writer on its way, in one block with its key and value, and the frame
 * in which those that were not sent stand in a checkpoint:
 *
 *   version u32 | count u32 | count times: size u32, key | size u32, id | size u32, value | checksum u32
 *
 * big-endian; the checksum is that of all before it. Private to the idempotent sink. */
#ifndef SINKS_GENERIC_BUFFERED_H
#define SINKS_GENERIC_BUFFERED_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/base/list.h"
#include "sinks/port/keyed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFERED_VERSION 1u
#define BUFFERED_ID_SIZE 12u /* split and position */

struct buffered {
    struct list_link link;
    uint64_t token; /* of the record; of a restored one 0 */
    bool restored;  /* its record is of another life */
    bool solo;      /* it goes alone: a batch with it was refused as a whole */
    size_t block_size;
    struct keyed_entry entry; /* read */
};

/* Make an entry that owns copies of all; NULL without memory. */
struct buffered *buffered_make(const struct allocator *allocator, const struct keyed_entry *entry);

void buffered_release(const struct allocator *allocator, struct buffered *buffered);

/* The id that a replay gives a record again: where it stands in its source. */
struct bytes buffered_id(uint32_t split, uint64_t position, uint8_t id[BUFFERED_ID_SIZE]);

/* The frame of a list of entries. */
size_t buffered_frame_size(const struct list *entries);
void buffered_encode(const struct list *entries, uint8_t *data);

/* Read a frame and append its entries to the list; after an error some may have been appended.
 * ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT, ERR_LIMIT. */
MUST_USE enum err
buffered_decode(const struct allocator *allocator, struct bytes source, struct list *entries);

uint64_t buffered_digest(const struct list *entries);

#endif
