#include "sim/search/state_space.h"

#include "sinks/base/bytes.h"
#include "sinks/base/digest.h"

#include <string.h>

#define ARENA_SIZE ((size_t)128)

static void describe(const struct state_space *states, struct space_found *found)
{
    const struct state_system *system = states->system;
    const size_t size = system->state_size;
    memcpy(found->node, states->state, size);
    found->digest = digest_bytes((struct bytes){states->state, size});
    found->children = system->enabled(system->options, states->state);
    found->violates = !system->holds(system->options, states->state);
    CHECK(found->children <= UINT8_MAX);
}

static void make_root(void *context, struct space_found *found)
{
    struct state_space *states = context;
    states->is_set = false;
    states->system->start(states->system->options, states->state);
    describe(states, found);
}

static void
visit(void *context, uint32_t level, const uint8_t *node, uint32_t child, struct space_found *found)
{
    struct state_space *states = context;
    const struct state_system *system = states->system;
    (void)level;
    if (!states->is_set || memcmp(states->node, node, system->state_size) != 0) {
        memcpy(states->node, node, system->state_size);
        memcpy(states->state, node, system->state_size);
        snapshot_save(&states->before, &states->arena);
        states->is_set = true;
    } else {
        snapshot_restore(&states->before, &states->arena);
    }
    system->act(system->options, states->state, child);
    describe(states, found);
}

size_t state_space_memory_size(const struct state_system *system)
{
    CHECK(system->state_size <= SPACE_NODE_SIZE_MAX);
    return 2 * ARENA_SIZE;
}

struct space state_space_shape(const struct state_system *system)
{
    return (struct space){.node_size = system->state_size, .folds = true};
}

void state_space_init(struct state_space *states,
                      const struct state_system *system,
                      void *memory,
                      struct space *space)
{
    *states = (struct state_space){.system = system};
    arena_init(&states->arena, memory, ARENA_SIZE, ARENA_SIZE);
    snapshot_init(&states->before, (uint8_t *)memory + ARENA_SIZE, ARENA_SIZE);
    states->state = arena_take(&states->arena, system->state_size);
    *space = state_space_shape(system);
    space->context = states;
    space->root = make_root;
    space->visit = visit;
}
