/* The sinks whose halves fuzz_state drives, and how the frames read that they leave in a checkpoint. */
#ifndef SCENARIOS_FUZZ_STATE_SINKS_H
#define SCENARIOS_FUZZ_STATE_SINKS_H

#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define STATE_OPTION_MAX 32u
#define STATE_QUEUE      "projects/p/locations/l/queues/q"

/* What the first byte of an input picks; the others of its bits stand for themselves. */
#define STATE_EXPIRY_OF(head)   ((head) >> 2 & 3)
#define STATE_READS_QUEUE(head) (((head) >> 5 & 1) != 0)
#define STATE_RESOLVES(head)    (((head) >> 6 & 1) != 0)

struct state_sink {
    const struct sink_type *type;
    /* Options that are not to have their defaults. */
    void (*set_options)(uint8_t head, struct sink_option_value *values);
    /* Whether a committable reads, and its identity, which points into it. */
    bool (*read)(struct bytes committable, struct bytes *identity);
    /* Whether that is the identity of a committable that reads; NULL: it is the one that was read. */
    bool (*fits_identity)(struct bytes committable, struct bytes identity);
    /* Whether a commit takes what reads; NULL: all of it. */
    bool (*is_at_home)(struct bytes committable);
    /* Whether a piece of the writer's state reads; NULL: it has none. */
    bool (*read_piece)(struct bytes piece);
    bool leaves_calls; /* its committer's, to their deadlines when it is closed */
    /* Put the right checksum into what may be a frame: no mutation finds it. */
    void (*seal)(uint8_t *data, size_t size);
};

const struct state_sink *state_sink_of(uint8_t head);

#endif
