#include "sim/world.h"

#include "sinks/base/digest.h"

#include <string.h>

#define TABLE_COUNT_MIN 32u

struct resource_name {
    uint64_t hash;
    struct bytes name; /* in the arena */
};

/* Names by number - 1, and an open-addressed index over them that is at most half full. */
struct world_resources {
    struct resource_name *names;
    uint32_t *index; /* number of the resource, 0 empty */
    uint32_t count;
    uint32_t capacity; /* of names, a power of two; the index has twice as many places */
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

uint32_t world_publish(struct world *world, nanos now, uint32_t kind, uint64_t digest)
{
    struct journal *journal = world->journal;
    world->kinds_noted |= UINT64_C(1) << kind;
    world->kind_counts[kind]++;
    trace_fold(world->trace, TRACE_JOURNAL, now, 0, journal->count, digest);
    return journal_publish(journal);
}

/* --- tables by hash ---------------------------------------------------------------------------- */

/* Tables keep their items in order of arrival; the index over them is made anew when they grow. */
static uint32_t first_place(uint64_t hash, uint32_t capacity)
{
    return (uint32_t)hash & (capacity * 2 - 1);
}

static uint32_t next_place(uint32_t place, uint32_t capacity)
{
    return (place + 1) & (capacity * 2 - 1);
}

static void index_add(uint32_t *index, uint32_t capacity, uint64_t hash, uint32_t number)
{
    uint32_t place = first_place(hash, capacity);
    while (index[place] != 0) {
        place = next_place(place, capacity);
    }
    index[place] = number;
}

/* Move items to twice the room, and take an empty index for it. */
static void *
grow_table(struct arena *arena, void *items, uint32_t **index, uint32_t *capacity, size_t item_size)
{
    const uint32_t old = *capacity;
    const uint32_t new = old == 0 ? TABLE_COUNT_MIN : old * 2;
    CHECK(new > old);
    void *grown = arena_take_recycled(arena, new *item_size);
    const size_t index_size = (size_t) new * 2 * sizeof(**index);
    if (old != 0) {
        memcpy(grown, items, old * item_size);
        arena_give_recycled(arena, items, old * item_size);
        arena_give_recycled(arena, *index, (size_t)old * 2 * sizeof(**index));
    }
    *capacity = new;
    *index = arena_take_recycled(arena, index_size);
    memset(*index, 0, index_size);
    return grown;
}

/* --- resources --------------------------------------------------------------------------------- */

static uint32_t
resource_find(const struct world_resources *resources, uint64_t hash, struct bytes name)
{
    if (resources->count == 0) {
        return 0;
    }
    uint32_t place = first_place(hash, resources->capacity);
    while (resources->index[place] != 0) {
        const struct resource_name *known = &resources->names[resources->index[place] - 1];
        if (known->hash == hash && bytes_equal(known->name, name)) {
            return resources->index[place];
        }
        place = next_place(place, resources->capacity);
    }
    return 0;
}

static void resources_grow(struct world_resources *resources, struct arena *arena)
{
    resources->names = grow_table(arena,
                                  resources->names,
                                  &resources->index,
                                  &resources->capacity,
                                  sizeof(*resources->names));
    for (uint32_t i = 0; i < resources->count; i++) {
        index_add(resources->index, resources->capacity, resources->names[i].hash, i + 1);
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
    struct world_resources *resources = world->resources;
    const uint64_t hash = digest_bytes(name);
    const uint32_t known = resource_find(resources, hash, name);
    if (known != 0) {
        return known;
    }
    if (resources->count == resources->capacity) {
        resources_grow(resources, world->arena);
    }
    resources->names[resources->count] =
        (struct resource_name){hash, copy_bytes(world->arena, name)};
    resources->count++;
    index_add(resources->index, resources->capacity, hash, resources->count);
    return resources->count;
}

uint32_t world_resource_count(const struct world *world)
{
    return world->resources->count;
}

struct bytes world_resource_name(const struct world *world, uint32_t resource)
{
    CHECK(resource > 0);
    CHECK(resource <= world->resources->count);
    return world->resources->names[resource - 1].name;
}
