/* X1 through the explorer: exactly as many states and transitions as are published, however the work
 * is cut, and a planted bug is seen.
 * link: scenarios/bench/x1 sim/search/state_space sim/search/frontier sim/search/digest_set
 * link: sim/search/snapshot sim/arena sinks/base/allocator sinks/base/bytes sinks/base/digest
 */
#include "scenarios/bench/x1.h"

#include "sim/search/frontier.h"
#include "sinks/base/test.h"

#include <stdlib.h>

struct trip {
    struct state_space states;
    struct frontier frontier;
    void *memory;
};

static void
start(struct trip *trip, const struct state_system *system, uint32_t index, uint32_t count)
{
    struct frontier_options options = {
        .allocator = allocator_of_malloc(),
        .level_bound = UINT32_MAX,
        .shard_index = index,
        .shard_count = count,
    };
    trip->memory = malloc(state_space_memory_size(system));
    assert_non_null(trip->memory);
    state_space_init(&trip->states, system, trip->memory, &options.space);
    assert_int_equal(frontier_init(&trip->frontier, &options), ERR_OK);
    assert_int_equal(frontier_run(&trip->frontier, 0, NULL, NULL), ERR_OK);
}

static void end(struct trip *trip)
{
    frontier_fini(&trip->frontier);
    free(trip->memory);
}

static void the_small_size_has_the_published_counts(void **state)
{
    (void)state;
    struct state_system system;
    struct trip trip;
    assert_true(x1_by_name("x1-s", &system));
    start(&trip, &system, 1, 1);
    assert_int_equal(trip.frontier.seen.count, 102717);
    assert_int_equal(trip.frontier.made - 1, 452759);
    assert_int_equal(trip.frontier.seen.tag_sum, 452759);
    assert_int_equal(trip.frontier.violations, 0);
    assert_int_equal(system.states, 102717);
    assert_int_equal(system.transitions, 452759);
    end(&trip);
}

/* Shards meet many states more than once; what they have seen together is each state once, with the
 * transitions that start there. */
static void shards_have_seen_together_what_the_whole_has(void **state)
{
    (void)state;
    const struct x1_options options = {3, 2, 1, 1, 1, false};
    const struct state_system system = x1_system(&options);
    const struct allocator allocator = allocator_of_malloc();
    struct trip whole;
    struct digest_set seen;
    start(&whole, &system, 1, 1);
    digest_set_init(&seen, &allocator);
    for (uint32_t index = 1; index <= 2; index++) {
        struct trip part;
        start(&part, &system, index, 2);
        assert_int_equal(digest_set_join(&seen, &part.frontier.seen), ERR_OK);
        end(&part);
    }
    assert_true(whole.frontier.seen.count > 10000);
    assert_int_equal(seen.count, whole.frontier.seen.count);
    assert_int_equal(seen.tag_sum, whole.frontier.made - 1);
    digest_set_fini(&seen);
    end(&whole);
}

static void a_checkpoint_that_comes_too_early_is_seen(void **state)
{
    (void)state;
    const struct x1_options options = {2, 1, 1, 0, 1, true};
    const struct state_system system = x1_system(&options);
    struct trip trip;
    start(&trip, &system, 1, 1);
    assert_true(trip.frontier.violations > 0);
    end(&trip);
}

static void only_the_published_sizes_have_names(void **state)
{
    (void)state;
    struct state_system system;
    assert_true(x1_by_name("x1-m", &system));
    assert_true(x1_by_name("x1-l", &system));
    assert_false(x1_by_name("x1-xl", &system));
    assert_false(x1_by_name("x1", &system));
}

TEST_MAIN(x1,
          TEST(the_small_size_has_the_published_counts),
          TEST(shards_have_seen_together_what_the_whole_has),
          TEST(a_checkpoint_that_comes_too_early_is_seen),
          TEST(only_the_published_sizes_have_names))
