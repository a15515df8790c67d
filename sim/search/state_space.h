/* The space of all states of a small system: the root is its initial state, a child of a state is what
 * one enabled action makes of it, and states with equal digests are one. A level is a number of
 * transitions. It shares all but the making of things with the space of runs: frontier, set of
 * digests, shards, snapshots.
 *
 * A system keeps its state in bytes of its own: at most SPACE_NODE_SIZE_MAX, which are the node. They
 * lie in an arena while actions are tried on them, and each action starts from a snapshot. */
#ifndef SIM_SEARCH_STATE_SPACE_H
#define SIM_SEARCH_STATE_SPACE_H

#include "sim/search/snapshot.h"
#include "sim/search/space.h"

struct state_system {
    const char *name;
    size_t state_size;
    const void *options; /* of all functions */
    void (*start)(const void *options, uint8_t *state);
    /* How many actions are enabled; they are numbered from 0. At most UINT8_MAX. */
    uint32_t (*enabled)(const void *options, const uint8_t *state);
    void (*act)(const void *options, uint8_t *state, uint32_t action);
    bool (*holds)(const void *options, const uint8_t *state);
    /* What is known of it; 0: nothing. */
    uint64_t states;
    uint64_t transitions;
};

struct state_space {
    const struct state_system *system;
    struct arena arena;
    struct snapshot before;
    uint8_t *state; /* in the arena */
    bool is_set;    /* before holds the state of node */
    uint8_t node[SPACE_NODE_SIZE_MAX];
};

/* Bytes of memory, aligned to 16, that a space needs. */
size_t state_space_memory_size(const struct state_system *system);

void state_space_init(struct state_space *states,
                      const struct state_system *system,
                      void *memory,
                      struct space *space);

/* What the explorer needs to know of the space without being able to make states. */
struct space state_space_shape(const struct state_system *system);

#endif
