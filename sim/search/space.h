/* What can be explored (DESIGN section 6): a space of things that are made one by one, each from its
 * parent, and counted level by level. Two spaces are known: the runs of a scenario, where the level is
 * the number of deviations from the calm run (run_space.h), and the states of a small system, where it
 * is the number of transitions (state_space.h). Frontier, sharding, snapshots and certificate are the
 * same for both.
 *
 * A node is a string of bytes that says how to make the thing again. Its children are numbered from 0;
 * visiting child i of a node makes that child and tells how many children it has itself.
 */
#ifndef SIM_SEARCH_SPACE_H
#define SIM_SEARCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_NODE_SIZE_MAX 64

/* A thing that was made. */
struct space_found {
    uint64_t digest;   /* of what it is: equal things have equal ones */
    uint32_t children; /* of its own */
    bool violates;
    uint8_t node[SPACE_NODE_SIZE_MAX]; /* as many bytes as its level's nodes have */
};

struct space {
    size_t node_size;      /* bytes of a node of level 0 */
    size_t node_size_step; /* how many more each further level has */
    uint32_t level_max;    /* nodes beyond it would be larger than SPACE_NODE_SIZE_MAX */
    bool folds;            /* things with equal digests are one, and are gone on from once only */
    void *context;
    /* Make the one thing of level 0. */
    void (*root)(void *context, struct space_found *found);
    /* Make child i of a node of a level. Going through the children of a node in order is cheaper
     * than any other order. */
    void (*visit)(void *context,
                  uint32_t level,
                  const uint8_t *node,
                  uint32_t child,
                  struct space_found *found);
};

#endif
