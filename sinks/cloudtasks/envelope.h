/* The envelope: what the exactly-once writer stages and the committer sends. Immutable; one per
 * committable.
 *
 * Bytes: version u32 = 1, then the frame, all integers big-endian:
 *   magic u32 0x43545345 | queue size u32 | queue | origin i64 ms | deadline i64 ms
 *   | task size u32 | task | checksum u32 over the frame so far
 * The task is its complete wire form, with its name first. Decoding takes hostile bytes. */
#ifndef SINKS_CLOUDTASKS_ENVELOPE_H
#define SINKS_CLOUDTASKS_ENVELOPE_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/cloudtasks/identity.h"

#include <stdint.h>

#define ENVELOPE_VERSION       1u
#define ENVELOPE_VERSION_SIZE  4u
#define ENVELOPE_MAGIC         UINT32_C(0x43545345)
#define ENVELOPE_FIXED_SIZE    32u
#define ENVELOPE_PART_SIZE_MAX 100000u /* of a queue, and of a task */
/* Instants must also be expressible in nanoseconds. */
#define ENVELOPE_MS_MAX (UINT64_MAX / 1000000 - 1)

struct envelope {
    struct bytes queue;   /* points into the source */
    uint64_t origin_ms;   /* wall time of staging since 1970 */
    uint64_t deadline_ms; /* no attempt is sent from here on */
    struct bytes task;    /* wire form; points into the source */
    struct bytes name;    /* of the task; points into task */
    size_t view_size;     /* of the task, by port_view_size */
};

/* Size of the wire form of a task with this name in front of its nameless payload. */
size_t envelope_task_size(size_t name_size, size_t payload_size);

/* Size of an envelope in bytes. */
size_t envelope_size(size_t queue_size, size_t task_size);

/* What an envelope is made of. */
struct envelope_parts {
    struct bytes queue;
    const struct identity *identity;
    struct bytes payload; /* wire form of the task without its name */
    uint64_t origin_ms;
    uint64_t deadline_ms; /* past origin */
};

/* Write an envelope to data, which has room for envelope_size of it; returns the name within. */
struct bytes envelope_encode(const struct envelope_parts *parts, uint8_t *data);

/* ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT (magic, checksum, bytes behind the end) or
 * ERR_INVALID (sizes, UTF-8, deadline not after origin, a task that is none or has a wrong name). */
MUST_USE enum err envelope_decode(struct bytes source, struct envelope *envelope);

/* Find the parts of an envelope that envelope_decode has accepted, without judging them again; name
 * and view_size are left empty. */
struct envelope envelope_read(struct bytes source);

#endif
