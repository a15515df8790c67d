/* How far an exploration has come: which things of the present level are still to be made, what the
 * next level will be made from, and what was counted. Fewest deviations first: a level is complete
 * before the next one begins.
 *
 * Things of a level are numbered in the order of their parents and, below one parent, of their numbers
 * as children. They are handed in in that order, whoever made them, so a frontier is always a prefix
 * of the work, and what was not handed in is simply made again: nothing is lost or counted twice.
 *
 * A shard takes, of the children of the root, every N-th from the I-th on, with all that comes from
 * them: a split by prefix. The root itself counts for the first shard. So the shards' counts add up
 * to the whole's, but for what is distinct: that is the size of the union of their sets.
 */
#ifndef SIM_SEARCH_FRONTIER_H
#define SIM_SEARCH_FRONTIER_H

#include "sim/search/digest_set.h"
#include "sim/search/space.h"

#define FRONTIER_LEVELS_KEPT 16

/* Nodes of a level, each with the children that are to be made of it: a run of numbers. */
struct frontier_nodes {
    uint8_t *bytes;
    uint32_t *first;  /* number of the first child */
    uint64_t *starts; /* children of all nodes before it; one more than there are nodes */
    uint64_t count;
    uint64_t capacity;
    size_t size; /* of one node */
};

struct frontier_options {
    struct allocator allocator;
    struct space space;   /* its functions are not called but by frontier_run */
    uint32_t level_bound; /* the last level that is made */
    uint32_t shard_index; /* from 1 */
    uint32_t shard_count; /* 1: not split */
};

struct frontier {
    /* read */
    uint32_t level;                        /* of the things that are made now */
    uint64_t done;                         /* of them */
    uint64_t made;                         /* on all levels so far */
    uint64_t violations;                   /* of these */
    uint64_t levels[FRONTIER_LEVELS_KEPT]; /* made on the first levels */
    struct digest_set seen;
    /* private */
    struct frontier_options options;
    struct frontier_nodes now;
    struct frontier_nodes next;
};

/* Where a thing of the present level comes from. */
struct frontier_place {
    const uint8_t *node;
    uint32_t child;
    uint64_t node_index;
};

/* Prepare a frontier before the root. level_bound may be UINT32_MAX if the space folds. ERR_OK or
 * ERR_LIMIT, as for all that take memory here; then only frontier_fini may be called. */
MUST_USE enum err frontier_init(struct frontier *frontier, const struct frontier_options *options);
void frontier_fini(struct frontier *frontier);

/* Things on the present level, of which done are handed in. */
uint64_t frontier_things(const struct frontier *frontier);

/* Known things of the next level so far: exact when this level is done. */
uint64_t frontier_things_next(const struct frontier *frontier);

/* Where thing number index of the level comes from. The place of an earlier call makes the next one
 * cheap when index has grown by little; it is zeroed before the first. The root has no node. */
void frontier_locate(const struct frontier *frontier, uint64_t index, struct frontier_place *place);

/* Hand in the next thing of the level. */
MUST_USE enum err frontier_take(struct frontier *frontier, const struct space_found *found);

/* Go on to the next level when this one is done; false when there is none. */
bool frontier_advance(struct frontier *frontier);

/* Make everything from here on, in this process, until things were made in all (0: no limit).
 * on_found may be NULL. */
MUST_USE enum err frontier_run(struct frontier *frontier,
                               uint64_t made_max,
                               void (*on_found)(void *, const struct space_found *),
                               void *context);

/* The frontier as bytes, and back into one that was prepared with the same options. decode: ERR_OK,
 * ERR_TRUNCATED, ERR_CORRUPT (numbers that no frontier has), ERR_CONFLICT (of other options),
 * ERR_LIMIT. */
size_t frontier_encoded_size(const struct frontier *frontier);
void frontier_encode(const struct frontier *frontier, struct byte_writer *writer);
MUST_USE enum err frontier_decode(struct frontier *frontier, struct byte_reader *reader);

#endif
