/* The frontier over toy spaces whose things are easily listed in another way: each is met once, fewest
 * deviations first; shards share them out; what is kept on the way goes on as if nothing had been.
 * link: sim/search/frontier sim/search/digest_set sinks/base/allocator sinks/base/bytes
 */
#include "sim/search/frontier.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define THINGS_MAX 8192u
#define STEPS_MAX  8u

/* --- a menu -------------------------------------------------------------------------------------- */

/* Runs of some draws. Draw d offers the values 1 to width(d); a deviation to 3 makes the run longer by
 * a draw, so that what is offered depends on what was chosen. A node holds its deviations, two bytes
 * each: draw and value. */
struct menu {
    uint32_t draws;
    uint32_t visits;
};

static uint32_t width(uint32_t draw)
{
    return 1 + draw % 3;
}

static uint32_t draws_of(const struct menu *menu, uint32_t level, const uint8_t *node)
{
    uint32_t draws = menu->draws;
    for (uint32_t i = 0; i < level; i++) {
        draws += node[2 * i + 1] == 3 ? 1 : 0;
    }
    return draws;
}

static void fill(const struct menu *menu, uint32_t level, struct space_found *found)
{
    const uint32_t first = level == 0 ? 0 : found->node[2 * (level - 1)] + 1u;
    found->children = 0;
    found->digest = digest_fold(0, level);
    for (uint32_t draw = first; draw < draws_of(menu, level, found->node); draw++) {
        found->children += width(draw);
    }
    for (uint32_t i = 0; i < 2 * level; i++) {
        found->digest = digest_fold(found->digest, found->node[i]);
    }
    found->violates = level == 2 && found->node[0] == 1 && found->node[2] == 2;
}

static void menu_root(void *context, struct space_found *found)
{
    struct menu *menu = context;
    memset(found, 0, sizeof *found);
    menu->visits++;
    fill(menu, 0, found);
}

static void menu_visit(
    void *context, uint32_t level, const uint8_t *node, uint32_t child, struct space_found *found)
{
    struct menu *menu = context;
    uint32_t draw = level == 1 ? 0 : node[2 * (level - 2)] + 1u;
    memset(found, 0, sizeof *found);
    memcpy(found->node, node, 2 * (size_t)(level - 1));
    while (child >= width(draw)) {
        child -= width(draw);
        draw++;
    }
    assert_true(draw < draws_of(menu, level - 1, node));
    found->node[2 * (level - 1)] = (uint8_t)draw;
    found->node[2 * (level - 1) + 1] = (uint8_t)(1 + child);
    menu->visits++;
    fill(menu, level, found);
}

static struct space menu_space(struct menu *menu)
{
    return (struct space){
        .node_size_step = 2,
        .level_max = STEPS_MAX,
        .context = menu,
        .root = menu_root,
        .visit = menu_visit,
    };
}

/* --- what was met -------------------------------------------------------------------------------- */

struct thing {
    uint32_t level;
    uint8_t node[2 * STEPS_MAX];
};

struct met {
    struct thing things[THINGS_MAX];
    uint32_t count;
    const struct frontier *frontier;
};

static void note(void *context, const struct space_found *found)
{
    struct met *met = context;
    assert_true(met->count < THINGS_MAX);
    struct thing *thing = &met->things[met->count++];
    memset(thing, 0, sizeof *thing);
    thing->level = met->frontier->level;
    memcpy(thing->node, found->node, 2 * (size_t)thing->level);
}

static int compare(const struct thing *a, const struct thing *b)
{
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    return memcmp(a->node, b->node, sizeof a->node);
}

/* All sets of deviations within the bound, by recursion over the draws: to go on without a deviation,
 * or with each value. */
static void
list(const struct menu *menu, struct thing *thing, uint32_t draw, uint32_t bound, struct met *met)
{
    if (draw == draws_of(menu, thing->level, thing->node)) {
        met->things[met->count++] = *thing;
        return;
    }
    list(menu, thing, draw + 1, bound, met);
    for (uint32_t value = 1; value <= width(draw) && thing->level < bound; value++) {
        struct thing more = *thing;
        more.node[2 * more.level] = (uint8_t)draw;
        more.node[2 * more.level + 1] = (uint8_t)value;
        more.level++;
        list(menu, &more, draw + 1, bound, met);
    }
}

static uint32_t places_of(const struct met *met, const struct thing *thing)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < met->count; i++) {
        places += compare(&met->things[i], thing) == 0 ? 1 : 0;
    }
    return places;
}

static struct met met;
static struct met other;

static void start(struct frontier *frontier,
                  struct menu *menu,
                  uint32_t bound,
                  uint32_t shard_index,
                  uint32_t shard_count)
{
    const struct frontier_options options = {
        .allocator = allocator_of_malloc(),
        .space = menu_space(menu),
        .level_bound = bound,
        .shard_index = shard_index,
        .shard_count = shard_count,
    };
    assert_int_equal(frontier_init(frontier, &options), ERR_OK);
}

static void explore(struct menu *menu, uint32_t bound, struct frontier *frontier)
{
    start(frontier, menu, bound, 1, 1);
    met.count = 0;
    met.frontier = frontier;
    assert_int_equal(frontier_run(frontier, 0, note, &met), ERR_OK);
}

/* --- the claims ---------------------------------------------------------------------------------- */

static void every_set_of_deviations_is_met_exactly_once(void **state)
{
    (void)state;
    for (uint32_t draws = 0; draws <= 7; draws++) {
        for (uint32_t bound = 0; bound <= 4; bound++) {
            struct menu menu = {.draws = draws};
            struct thing calm = {0};
            struct frontier frontier;
            explore(&menu, bound, &frontier);
            other.count = 0;
            list(&menu, &calm, 0, bound, &other);
            assert_int_equal(met.count, other.count);
            assert_int_equal(frontier.made, other.count);
            assert_int_equal(frontier.seen.count, other.count);
            for (uint32_t i = 0; i < other.count; i++) {
                assert_int_equal(places_of(&met, &other.things[i]), 1);
            }
            frontier_fini(&frontier);
        }
    }
}

/* Also: within a level in the order of draws and values, which is what shards are sorted by. */
static void fewest_deviations_come_first(void **state)
{
    (void)state;
    struct menu menu = {.draws = 6};
    struct frontier frontier;
    explore(&menu, 4, &frontier);
    uint64_t levels[FRONTIER_LEVELS_KEPT] = {0};
    assert_int_equal(met.things[0].level, 0);
    for (uint32_t i = 0; i < met.count; i++) {
        assert_true(i == 0 || compare(&met.things[i - 1], &met.things[i]) < 0);
        levels[met.things[i].level]++;
    }
    assert_memory_equal(levels, frontier.levels, sizeof levels);
    assert_int_equal(met.things[met.count - 1].level, 4);
    frontier_fini(&frontier);
}

/* The next level's size is known when a level is done, and what is promised is what comes. */
static void the_size_of_the_next_level_is_known(void **state)
{
    (void)state;
    struct menu menu = {.draws = 6};
    struct frontier frontier;
    uint64_t promised = 1;
    start(&frontier, &menu, 3, 1, 1);
    do {
        assert_int_equal(frontier_things(&frontier), promised);
        struct frontier_place place = {0};
        for (uint64_t i = 0; i < promised; i++) {
            struct space_found found;
            frontier_locate(&frontier, i, &place);
            if (frontier.level == 0) {
                menu_root(&menu, &found);
            } else {
                menu_visit(&menu, frontier.level, place.node, place.child, &found);
            }
            assert_int_equal(frontier_take(&frontier, &found), ERR_OK);
        }
        promised = frontier_things_next(&frontier);
    } while (frontier_advance(&frontier));
    assert_int_equal(frontier.level, 3);
    assert_int_equal(promised, 0);
    frontier_fini(&frontier);
}

/* A thing's place does not depend on which one was asked for before. */
static void a_thing_is_found_from_anywhere(void **state)
{
    (void)state;
    struct menu menu = {.draws = 7};
    struct frontier frontier;
    start(&frontier, &menu, 3, 1, 1);
    const uint64_t first_levels = 200;
    assert_int_equal(frontier_run(&frontier, first_levels, NULL, NULL), ERR_OK);
    const uint64_t things = frontier_things(&frontier);
    struct frontier_place moved = {0};
    for (uint64_t i = 0; i < things; i++) {
        const uint64_t index = i * 7919 % things;
        struct frontier_place fresh = {0};
        frontier_locate(&frontier, index, &moved);
        frontier_locate(&frontier, index, &fresh);
        assert_ptr_equal(moved.node, fresh.node);
        assert_int_equal(moved.child, fresh.child);
    }
    frontier_fini(&frontier);
}

static void shards_share_out_all_things_and_their_counts_add_up(void **state)
{
    (void)state;
    struct menu menu = {.draws = 6};
    struct frontier whole;
    explore(&menu, 3, &whole);
    for (uint32_t shards = 2; shards <= 20; shards += 3) {
        uint64_t made = 0;
        uint64_t violations = 0;
        uint64_t levels[FRONTIER_LEVELS_KEPT] = {0};
        struct digest_set seen;
        const struct allocator allocator = allocator_of_malloc();
        digest_set_init(&seen, &allocator);
        other.count = 0;
        for (uint32_t index = 1; index <= shards; index++) {
            struct frontier part;
            start(&part, &menu, 3, index, shards);
            other.frontier = &part;
            const uint32_t before = other.count;
            assert_int_equal(frontier_run(&part, 0, note, &other), ERR_OK);
            if (index > 1) {
                /* Its root is the first shard's. */
                assert_int_equal(other.things[before].level, 0);
                other.count--;
                memmove(&other.things[before],
                        &other.things[before + 1],
                        (other.count - before) * sizeof(struct thing));
            }
            made += part.made;
            violations += part.violations;
            for (uint32_t i = 0; i < FRONTIER_LEVELS_KEPT; i++) {
                levels[i] += part.levels[i];
            }
            assert_int_equal(digest_set_join(&seen, &part.seen), ERR_OK);
            frontier_fini(&part);
        }
        assert_int_equal(made, whole.made);
        assert_int_equal(violations, whole.violations);
        assert_true(violations > 0);
        assert_memory_equal(levels, whole.levels, sizeof levels);
        assert_int_equal(seen.count, whole.seen.count);
        assert_int_equal(other.count, met.count);
        for (uint32_t i = 0; i < met.count; i++) {
            assert_int_equal(places_of(&other, &met.things[i]), 1);
        }
        digest_set_fini(&seen);
    }
    frontier_fini(&whole);
}

/* --- folding ------------------------------------------------------------------------------------- */

/* Walks on a board: a state is a corner, reached by many ways; steps to the right and up. */
#define BOARD 6u

static void board_fill(uint8_t x, uint8_t y, struct space_found *found)
{
    memset(found, 0, sizeof *found);
    found->node[0] = x;
    found->node[1] = y;
    found->digest = digest_mix(1 + x + 256u * y);
    found->children = (x < BOARD ? 1u : 0u) + (y < BOARD ? 1u : 0u);
}

static void board_root(void *context, struct space_found *found)
{
    (void)context;
    board_fill(0, 0, found);
}

static void board_visit(
    void *context, uint32_t level, const uint8_t *node, uint32_t child, struct space_found *found)
{
    (void)context;
    (void)level;
    const bool right = node[0] < BOARD && child == 0;
    board_fill((uint8_t)(node[0] + (right ? 1 : 0)), (uint8_t)(node[1] + (right ? 0 : 1)), found);
}

static void what_is_equal_is_gone_on_from_once(void **state)
{
    (void)state;
    const struct frontier_options options = {
        .allocator = allocator_of_malloc(),
        .space = {.node_size = 2, .folds = true, .root = board_root, .visit = board_visit},
        .level_bound = UINT32_MAX,
        .shard_index = 1,
        .shard_count = 1,
    };
    struct frontier frontier;
    assert_int_equal(frontier_init(&frontier, &options), ERR_OK);
    assert_int_equal(frontier_run(&frontier, 0, NULL, NULL), ERR_OK);
    const uint64_t corners = (BOARD + 1) * (BOARD + 1);
    const uint64_t edges = (uint64_t)2 * BOARD * (BOARD + 1);
    assert_int_equal(frontier.seen.count, corners);
    assert_int_equal(frontier.made - 1, edges);
    assert_int_equal(frontier.seen.tag_sum, edges);
    assert_int_equal(frontier.level, 2 * BOARD);
    frontier_fini(&frontier);
}

/* --- kept on the way ----------------------------------------------------------------------------- */

static struct bytes encode(const struct frontier *frontier)
{
    const size_t size = frontier_encoded_size(frontier);
    uint8_t *data = malloc(size);
    struct byte_writer writer;
    assert_non_null(data);
    byte_writer_init(&writer, data, size);
    frontier_encode(frontier, &writer);
    assert_false(writer.overflowed);
    assert_int_equal(writer.size, size);
    return (struct bytes){data, size};
}

static void give(struct bytes bytes)
{
    uint8_t *data = NULL;
    memcpy(&data, &bytes.data, sizeof data);
    free(data);
}

/* Stop behind every stride-th thing, put the frontier into bytes, forget it, and go on from the bytes,
 * until there is nothing left. */
static void go_in_strides(
    struct frontier *part, struct menu *menu, uint32_t index, uint32_t count, uint64_t stride)
{
    start(part, menu, 3, index, count);
    other.count = 0;
    menu->visits = 0;
    for (uint64_t stop = stride; other.count < met.count; stop += stride) {
        other.frontier = part;
        assert_int_equal(frontier_run(part, stop, note, &other), ERR_OK);
        const struct bytes kept = encode(part);
        frontier_fini(part);
        start(part, menu, 3, index, count);
        struct byte_reader reader;
        byte_reader_init(&reader, kept);
        assert_int_equal(frontier_decode(part, &reader), ERR_OK);
        assert_int_equal(byte_reader_left(&reader), 0);
        give(kept);
    }
}

/* A stop loses nothing and makes nothing twice, also of a shard. */
static void stopping_anywhere_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t shards = 1; shards <= 3; shards++) {
        struct menu menu = {.draws = 5};
        struct frontier whole;
        start(&whole, &menu, 3, shards, shards);
        met.count = 0;
        met.frontier = &whole;
        assert_int_equal(frontier_run(&whole, 0, note, &met), ERR_OK);
        for (uint64_t stride = 1; stride < whole.made; stride = stride * 3 + 1) {
            struct frontier part;
            go_in_strides(&part, &menu, shards, shards, stride);
            assert_int_equal(menu.visits, met.count);
            assert_int_equal(other.count, met.count);
            assert_memory_equal(other.things, met.things, met.count * sizeof(struct thing));
            assert_int_equal(part.made, whole.made);
            assert_int_equal(part.violations, whole.violations);
            assert_int_equal(part.seen.count, whole.seen.count);
            frontier_fini(&part);
        }
        frontier_fini(&whole);
    }
}

static enum err decode(struct bytes bytes, struct menu *menu, uint32_t bound, uint32_t shards)
{
    struct frontier frontier;
    struct byte_reader reader;
    start(&frontier, menu, bound, 1, shards);
    byte_reader_init(&reader, bytes);
    const enum err error = frontier_decode(&frontier, &reader);
    frontier_fini(&frontier);
    return error;
}

static void a_cut_frontier_is_refused(void **state)
{
    (void)state;
    struct menu menu = {.draws = 4};
    struct frontier frontier;
    start(&frontier, &menu, 3, 1, 1);
    assert_int_equal(frontier_run(&frontier, 20, NULL, NULL), ERR_OK);
    const struct bytes kept = encode(&frontier);
    assert_int_equal(decode(kept, &menu, 3, 1), ERR_OK);
    for (size_t size = 0; size < kept.size; size++) {
        assert_int_not_equal(decode((struct bytes){kept.data, size}, &menu, 3, 1), ERR_OK);
    }
    assert_int_equal(decode(kept, &menu, 2, 1), ERR_CONFLICT);
    assert_int_equal(decode(kept, &menu, 3, 2), ERR_CONFLICT);
    give(kept);
    frontier_fini(&frontier);
}

/* Goal: bytes that pass for a frontier never crash the reader. Method: change each byte in turn; the
 * checksum of the file is not this module's. */
static void a_damaged_frontier_does_no_harm(void **state)
{
    (void)state;
    struct menu menu = {.draws = 4};
    struct frontier frontier;
    start(&frontier, &menu, 3, 1, 1);
    assert_int_equal(frontier_run(&frontier, 12, NULL, NULL), ERR_OK);
    const struct bytes kept = encode(&frontier);
    uint8_t *damaged = malloc(kept.size);
    assert_non_null(damaged);
    uint32_t refused = 0;
    for (size_t i = 0; i < kept.size; i++) {
        memcpy(damaged, kept.data, kept.size);
        damaged[i] ^= 0xff;
        refused += decode((struct bytes){damaged, kept.size}, &menu, 3, 1) != ERR_OK ? 1 : 0;
    }
    assert_true(refused > 64);
    free(damaged);
    give(kept);
    frontier_fini(&frontier);
}

static void out_of_memory_is_told(void **state)
{
    (void)state;
    struct menu menu = {.draws = 6};
    bool was_enough = false;
    for (uint64_t nth = 1; !was_enough; nth++) {
        struct test_memory memory = {.fail_at = nth};
        const struct frontier_options options = {
            .allocator = test_allocator(&memory),
            .space = menu_space(&menu),
            .level_bound = 3,
            .shard_index = 1,
            .shard_count = 1,
        };
        struct frontier frontier;
        enum err error = frontier_init(&frontier, &options);
        if (error == ERR_OK) {
            error = frontier_run(&frontier, 0, NULL, NULL);
        }
        was_enough = memory.calls < nth;
        assert_int_equal(error, was_enough ? ERR_OK : ERR_LIMIT);
        frontier_fini(&frontier);
        assert_int_equal(memory.live, 0);
    }
}

TEST_MAIN(frontier,
          TEST(every_set_of_deviations_is_met_exactly_once),
          TEST(fewest_deviations_come_first),
          TEST(the_size_of_the_next_level_is_known),
          TEST(a_thing_is_found_from_anywhere),
          TEST(shards_share_out_all_things_and_their_counts_add_up),
          TEST(what_is_equal_is_gone_on_from_once),
          TEST(stopping_anywhere_changes_nothing),
          TEST(a_cut_frontier_is_refused),
          TEST(a_damaged_frontier_does_no_harm),
          TEST(out_of_memory_is_told))
