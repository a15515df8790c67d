#include "sim/search/frontier.h"

#include <string.h>

#define NODES_FIRST UINT64_C(64)

/* --- nodes --------------------------------------------------------------------------------------- */

static void nodes_fini(struct frontier_nodes *nodes, const struct allocator *allocator)
{
    const size_t capacity = (size_t)nodes->capacity;
    if (capacity != 0) {
        allocator_give(allocator, nodes->bytes, capacity * nodes->size + 1);
        allocator_give(allocator, nodes->first, capacity * sizeof(*nodes->first));
        allocator_give(allocator, nodes->starts, (capacity + 1) * sizeof(*nodes->starts));
    }
    *nodes = (struct frontier_nodes){.size = nodes->size};
}

static enum err
nodes_reserve(struct frontier_nodes *nodes, const struct allocator *allocator, uint64_t wanted)
{
    const size_t capacity = (size_t)wanted;
    const struct frontier_nodes grown = {
        .bytes = allocator_take(allocator, capacity * nodes->size + 1),
        .first = allocator_take(allocator, capacity * sizeof(*nodes->first)),
        .starts = allocator_take(allocator, (capacity + 1) * sizeof(*nodes->starts)),
        .count = nodes->count,
        .capacity = wanted,
        .size = nodes->size,
    };
    if (grown.bytes == NULL || grown.first == NULL || grown.starts == NULL) {
        allocator_give(allocator, grown.bytes, capacity * nodes->size + 1);
        allocator_give(allocator, grown.first, capacity * sizeof(*nodes->first));
        allocator_give(allocator, grown.starts, (capacity + 1) * sizeof(*nodes->starts));
        return ERR_LIMIT;
    }
    grown.starts[0] = 0;
    if (nodes->capacity != 0) {
        const size_t count = (size_t)nodes->count;
        memcpy(grown.bytes, nodes->bytes, count * nodes->size);
        memcpy(grown.first, nodes->first, count * sizeof(*nodes->first));
        memcpy(grown.starts, nodes->starts, (count + 1) * sizeof(*nodes->starts));
    }
    nodes_fini(nodes, allocator);
    *nodes = grown;
    return ERR_OK;
}

static enum err nodes_add(struct frontier_nodes *nodes,
                          const struct allocator *allocator,
                          const uint8_t *node_or_null,
                          uint32_t first,
                          uint32_t count)
{
    if (nodes->count == nodes->capacity) {
        const uint64_t wanted = nodes->capacity == 0 ? NODES_FIRST : nodes->capacity * 2;
        const enum err error = nodes_reserve(nodes, allocator, wanted);
        if (error != ERR_OK) {
            return error;
        }
    }
    if (nodes->size > 0) {
        CHECK(node_or_null != NULL);
        memcpy(nodes->bytes + (size_t)nodes->count * nodes->size, node_or_null, nodes->size);
    }
    nodes->first[nodes->count] = first;
    nodes->count++;
    nodes->starts[nodes->count] = nodes->starts[nodes->count - 1] + count;
    return ERR_OK;
}

static uint64_t nodes_things(const struct frontier_nodes *nodes)
{
    return nodes->count == 0 ? 0 : nodes->starts[nodes->count];
}

/* --- life ---------------------------------------------------------------------------------------- */

static size_t node_size(const struct frontier *frontier, uint32_t level)
{
    const struct space *space = &frontier->options.space;
    const size_t size = space->node_size + (size_t)level * space->node_size_step;
    CHECK(size <= SPACE_NODE_SIZE_MAX);
    return size;
}

enum err frontier_init(struct frontier *frontier, const struct frontier_options *options)
{
    static const uint8_t none[SPACE_NODE_SIZE_MAX] = {0};
    CHECK(options->shard_index >= 1);
    CHECK(options->shard_index <= options->shard_count);
    CHECK(options->space.folds || options->level_bound <= options->space.level_max);
    *frontier = (struct frontier){.options = *options};
    digest_set_init(&frontier->seen, &options->allocator);
    frontier->next.size = node_size(frontier, 0);
    return nodes_add(&frontier->now, &options->allocator, none, 0, 1);
}

void frontier_fini(struct frontier *frontier)
{
    digest_set_fini(&frontier->seen);
    nodes_fini(&frontier->now, &frontier->options.allocator);
    nodes_fini(&frontier->next, &frontier->options.allocator);
}

uint64_t frontier_things(const struct frontier *frontier)
{
    return nodes_things(&frontier->now);
}

uint64_t frontier_things_next(const struct frontier *frontier)
{
    return nodes_things(&frontier->next);
}

static bool holds(const struct frontier_nodes *nodes, uint64_t index, uint64_t thing)
{
    return index < nodes->count && nodes->starts[index] <= thing &&
           thing < nodes->starts[index + 1];
}

/* The last node that starts at or before a thing. */
static uint64_t find(const struct frontier_nodes *nodes, uint64_t thing)
{
    uint64_t low = 0;
    uint64_t high = nodes->count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (nodes->starts[middle] <= thing) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void frontier_locate(const struct frontier *frontier, uint64_t index, struct frontier_place *place)
{
    const struct frontier_nodes *nodes = &frontier->now;
    CHECK(index < nodes_things(nodes));
    uint64_t at = place->node_index;
    if (!holds(nodes, at, index)) {
        at = holds(nodes, at + 1, index) ? at + 1 : find(nodes, index);
    }
    CHECK(holds(nodes, at, index));
    place->node_index = at;
    place->node = nodes->bytes + (size_t)at * nodes->size;
    place->child = nodes->first[at] + (uint32_t)(index - nodes->starts[at]);
}

/* --- handing in ---------------------------------------------------------------------------------- */

/* The children of the root that are this shard's, one by one. */
static enum err deal_out(struct frontier *frontier, const struct space_found *root)
{
    const struct frontier_options *options = &frontier->options;
    for (uint32_t child = options->shard_index - 1; child < root->children;
         child += options->shard_count) {
        const enum err error =
            nodes_add(&frontier->next, &options->allocator, root->node, child, 1);
        if (error != ERR_OK) {
            return error;
        }
    }
    return ERR_OK;
}

static void count(struct frontier *frontier, const struct space_found *found)
{
    if (frontier->level == 0 && frontier->options.shard_index != 1) {
        return; /* the first shard's */
    }
    frontier->made++;
    frontier->violations += found->violates ? 1 : 0;
    if (frontier->level < FRONTIER_LEVELS_KEPT) {
        frontier->levels[frontier->level]++;
    }
}

enum err frontier_take(struct frontier *frontier, const struct space_found *found)
{
    const struct frontier_options *options = &frontier->options;
    bool added = false;
    CHECK(frontier->done < frontier_things(frontier));
    const uint8_t tag = found->children > UINT8_MAX ? UINT8_MAX : (uint8_t)found->children;
    enum err error = digest_set_add(&frontier->seen, found->digest, tag, &added);
    if (error != ERR_OK) {
        return error;
    }
    const bool goes_on = found->children > 0 && frontier->level < options->level_bound &&
                         (added || !options->space.folds);
    if (goes_on && frontier->level == 0 && options->shard_count > 1) {
        error = deal_out(frontier, found);
    } else if (goes_on) {
        error = nodes_add(&frontier->next, &options->allocator, found->node, 0, found->children);
    }
    if (error != ERR_OK) {
        return error;
    }
    frontier->done++;
    count(frontier, found);
    return ERR_OK;
}

bool frontier_advance(struct frontier *frontier)
{
    CHECK(frontier->done == frontier_things(frontier));
    if (frontier->next.count == 0) {
        return false;
    }
    nodes_fini(&frontier->now, &frontier->options.allocator);
    frontier->now = frontier->next;
    frontier->level++;
    frontier->done = 0;
    frontier->next = (struct frontier_nodes){0};
    if (frontier->level < frontier->options.level_bound) {
        frontier->next.size = node_size(frontier, frontier->level);
    }
    return true;
}

enum err frontier_run(struct frontier *frontier,
                      uint64_t made_max,
                      void (*on_found)(void *, const struct space_found *),
                      void *context)
{
    const struct space *space = &frontier->options.space;
    struct space_found found;
    do {
        struct frontier_place place = {0};
        const uint64_t things = frontier_things(frontier);
        while (frontier->done < things) {
            if (made_max != 0 && frontier->made >= made_max) {
                return ERR_OK;
            }
            frontier_locate(frontier, frontier->done, &place);
            if (frontier->level == 0) {
                space->root(space->context, &found);
            } else {
                space->visit(space->context, frontier->level, place.node, place.child, &found);
            }
            const enum err error = frontier_take(frontier, &found);
            if (error != ERR_OK) {
                return error;
            }
            if (on_found != NULL) {
                on_found(context, &found);
            }
        }
    } while (frontier_advance(frontier));
    return ERR_OK;
}

/* --- encoded ------------------------------------------------------------------------------------- */

#define NUMBERS_SIZE ((size_t)8 * (8 + FRONTIER_LEVELS_KEPT))

static size_t nodes_encoded_size(const struct frontier_nodes *nodes)
{
    return 16 + (size_t)nodes->count * (nodes->size + 8);
}

size_t frontier_encoded_size(const struct frontier *frontier)
{
    return NUMBERS_SIZE + nodes_encoded_size(&frontier->now) + nodes_encoded_size(&frontier->next) +
           digest_set_encoded_size(&frontier->seen);
}

static void nodes_encode(const struct frontier_nodes *nodes, struct byte_writer *writer)
{
    byte_writer_u64_le(writer, nodes->size);
    byte_writer_u64_le(writer, nodes->count);
    for (uint64_t i = 0; i < nodes->count; i++) {
        const uint8_t *node = nodes->bytes + (size_t)i * nodes->size;
        byte_writer_bytes(writer, (struct bytes){node, nodes->size});
        byte_writer_u32_le(writer, nodes->first[i]);
        byte_writer_u32_le(writer, (uint32_t)(nodes->starts[i + 1] - nodes->starts[i]));
    }
}

void frontier_encode(const struct frontier *frontier, struct byte_writer *writer)
{
    byte_writer_u64_le(writer, frontier->options.level_bound);
    byte_writer_u64_le(writer, frontier->options.shard_index);
    byte_writer_u64_le(writer, frontier->options.shard_count);
    byte_writer_u64_le(writer, frontier->options.space.folds ? 1 : 0);
    byte_writer_u64_le(writer, frontier->level);
    byte_writer_u64_le(writer, frontier->done);
    byte_writer_u64_le(writer, frontier->made);
    byte_writer_u64_le(writer, frontier->violations);
    for (uint32_t i = 0; i < FRONTIER_LEVELS_KEPT; i++) {
        byte_writer_u64_le(writer, frontier->levels[i]);
    }
    nodes_encode(&frontier->now, writer);
    nodes_encode(&frontier->next, writer);
    digest_set_encode(&frontier->seen, writer);
}

static enum err nodes_decode(struct frontier_nodes *nodes,
                             const struct allocator *allocator,
                             size_t size,
                             struct byte_reader *reader)
{
    const uint64_t encoded_size = byte_reader_u64_le(reader);
    const uint64_t count = byte_reader_u64_le(reader);
    if (reader->failed || count > byte_reader_left(reader) / (size + 8)) {
        return ERR_TRUNCATED;
    }
    nodes_fini(nodes, allocator);
    nodes->size = size;
    if (encoded_size != size) {
        return ERR_CORRUPT;
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct bytes node = byte_reader_bytes(reader, size);
        const uint32_t first = byte_reader_u32_le(reader);
        const uint32_t things = byte_reader_u32_le(reader);
        if (things == 0 || things > UINT32_MAX - first) {
            return ERR_CORRUPT;
        }
        const enum err error = nodes_add(nodes, allocator, node.data, first, things);
        if (error != ERR_OK) {
            return error;
        }
    }
    return ERR_OK;
}

static bool numbers_hold(const struct frontier *frontier)
{
    const struct frontier_options *options = &frontier->options;
    return frontier->level <= options->level_bound &&
           (options->space.folds || frontier->level <= options->space.level_max) &&
           frontier->violations <= frontier->made;
}

enum err frontier_decode(struct frontier *frontier, struct byte_reader *reader)
{
    const struct frontier_options *options = &frontier->options;
    const bool same = byte_reader_u64_le(reader) == options->level_bound &&
                      byte_reader_u64_le(reader) == options->shard_index &&
                      byte_reader_u64_le(reader) == options->shard_count &&
                      byte_reader_u64_le(reader) == (options->space.folds ? 1 : 0);
    if (!same) {
        return reader->failed ? ERR_TRUNCATED : ERR_CONFLICT;
    }
    const uint64_t level = byte_reader_u64_le(reader);
    frontier->level = level > UINT32_MAX ? UINT32_MAX : (uint32_t)level;
    frontier->done = byte_reader_u64_le(reader);
    frontier->made = byte_reader_u64_le(reader);
    frontier->violations = byte_reader_u64_le(reader);
    for (uint32_t i = 0; i < FRONTIER_LEVELS_KEPT; i++) {
        frontier->levels[i] = byte_reader_u64_le(reader);
    }
    if (reader->failed) {
        return ERR_TRUNCATED;
    }
    if (!numbers_hold(frontier)) {
        return ERR_CORRUPT;
    }
    const bool is_last = frontier->level == options->level_bound;
    const size_t now_size = frontier->level == 0 ? 0 : node_size(frontier, frontier->level - 1);
    const size_t next_size =
        is_last && frontier->level > 0 ? 0 : node_size(frontier, frontier->level);
    enum err error = nodes_decode(&frontier->now, &options->allocator, now_size, reader);
    if (error == ERR_OK) {
        error = nodes_decode(&frontier->next, &options->allocator, next_size, reader);
    }
    if (error == ERR_OK) {
        error = digest_set_decode(&frontier->seen, reader);
    }
    if (error == ERR_OK && frontier->done > frontier_things(frontier)) {
        error = ERR_CORRUPT;
    }
    return error;
}
