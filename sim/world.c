#include "sim/world.h"

#include "sinks/base/digest.h"

#include <string.h>

#define RESOURCES_MIN 128u

struct resource_name {
    uint64_t hash;
    struct bytes name; /* in the arena */
};

/* Names by number, and an open-addressed index over them that is at most half full. */
struct world_resources {
    struct arena_array names; /* struct resource_name */
    uint32_t *index;          /* number of the resource, 0 empty; made anew when it grows */
    uint32_t count;
    uint32_t capacity; /* names that the index has room for, a power of two: half of its places */
};

void world_init(struct world *world,
                struct arena *arena,
                struct choice *choice,
                struct sched *sched,
                struct journal *journal,
                struct trace *trace,
                struct fault *fault)
{
    *world = (struct world){
        .arena = arena,
        .choice = choice,
        .sched = sched,
        .journal = journal,
        .trace = trace,
        .fault = fault,
        .resources = arena_take_zeroed(arena, sizeof(struct world_resources)),
    };
    const uint32_t run_node = world_add_node(world, lane_make(LANE_RUN, 0));
    CHECK(run_node == 0);
}

uint32_t world_add_node(struct world *world, lane who)
{
    CHECK(world->node_count < WORLD_NODE_MAX);
    struct world_node *node = &world->nodes[world->node_count];
    *node = (struct world_node){.lane = who};
    clock_init(&node->clock);
    world->node_count++;
    return world->node_count - 1;
}

/* --- journal and trace ------------------------------------------------------------------------- */

void world_publish(struct world *world, nanos now, uint32_t kind, uint64_t digest)
{
    struct journal *journal = world->journal;
    world->kinds_noted |= UINT64_C(1) << kind;
    world->kind_counts[kind]++;
    trace_fold(world->trace, TRACE_JOURNAL, now, 0, journal->count, digest);
    journal_publish(journal);
}

/* --- resources --------------------------------------------------------------------------------- */

static struct resource_name *name_at(const struct world_resources *resources, uint32_t number)
{
    struct resource_name *name =
        arena_array_find(&resources->names, number, sizeof(struct resource_name));
    CHECK(name != NULL);
    return name;
}

static uint32_t next_place(const struct world_resources *resources, uint32_t place)
{
    return (place + 1) & (resources->capacity * 2 - 1);
}

/* The place of the name, or the empty one where it belongs. */
static uint32_t place_of(const struct world_resources *resources, uint64_t hash, struct bytes name)
{
    uint32_t place = (uint32_t)hash & (resources->capacity * 2 - 1);
    while (resources->index[place] != 0) {
        const struct resource_name *known = name_at(resources, resources->index[place]);
        if (known->hash == hash && bytes_equal(known->name, name)) {
            break;
        }
        place = next_place(resources, place);
    }
    return place;
}

static void index_grow(struct world_resources *resources, struct arena *arena)
{
    const uint32_t old = resources->capacity;
    const uint32_t new = old == 0 ? RESOURCES_MIN : old * 2;
    const size_t size = (size_t) new * 2 * sizeof(*resources->index);
    CHECK(new > old);
    if (old != 0) {
        arena_give_recycled(arena, resources->index, (size_t)old * 2 * sizeof(*resources->index));
    }
    resources->index = arena_take_recycled(arena, size);
    memset(resources->index, 0, size);
    resources->capacity = new;
    for (uint32_t number = 1; number <= resources->count; number++) {
        uint32_t place = (uint32_t)name_at(resources, number)->hash & (new * 2 - 1);
        while (resources->index[place] != 0) {
            place = next_place(resources, place);
        }
        resources->index[place] = number;
    }
}

static struct bytes copy_bytes(struct arena *arena, struct bytes source)
{
    if (source.size == 0) {
        return (struct bytes){NULL, 0};
    }
    uint8_t *copy = arena_take(arena, source.size);
    memcpy(copy, source.data, source.size);
    return (struct bytes){copy, source.size};
}

uint32_t world_resource(struct world *world, struct bytes name)
{
    return world_resource_hashed(world, name, digest_bytes(name));
}

uint32_t world_resource_hashed(struct world *world, struct bytes name, uint64_t hash)
{
    struct world_resources *resources = world->resources;
    CHECK_SLOW(hash == digest_bytes(name));
    if (resources->count == resources->capacity) {
        index_grow(resources, world->arena);
    }
    const uint32_t place = place_of(resources, hash, name);
    if (resources->index[place] == 0) {
        resources->count++;
        resources->index[place] = resources->count;
        struct resource_name *added = arena_array_at(
            &resources->names, world->arena, resources->count, sizeof(struct resource_name));
        *added = (struct resource_name){hash, copy_bytes(world->arena, name)};
    }
    return resources->index[place];
}

uint32_t world_resource_count(const struct world *world)
{
    return world->resources->count;
}

struct bytes world_resource_name(const struct world *world, uint32_t resource)
{
    CHECK(resource > 0);
    CHECK(resource <= world->resources->count);
    return name_at(world->resources, resource)->name;
}
