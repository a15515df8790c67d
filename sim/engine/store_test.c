/* The checkpoint store: life cycle, coverage, retention.
 * link: sim/engine/store sim/arena sinks/base/units
 */
#include "sim/engine/store.h"

#include "sinks/base/test.h"

#include <string.h>

static _Alignas(16) uint8_t memory[1 << 16];

/* Two splits of three and two records: ids 1 to 3 and 4 to 5. */
static const struct source_record records[5] = {
    {.record = {.split = 0, .position = 0}},
    {.record = {.split = 0, .position = 1}},
    {.record = {.split = 0, .position = 2}},
    {.record = {.split = 1, .position = 0}},
    {.record = {.split = 1, .position = 1}},
};
static const uint32_t split_starts[3] = {0, 3, 5};
static const struct source_log log_of_five = {
    .records = records,
    .record_count = 5,
    .split_starts = split_starts,
    .split_count = 2,
};
static const uint64_t positions_none[2] = {0, 0};
static const uint64_t positions_some[2] = {2, 1};
static const uint64_t positions_all[2] = {3, 2};
static const uint64_t positions_past_end[2] = {3, 3};

struct fixture {
    struct arena arena;
    struct store store;
};

static void prepare(struct fixture *fixture, uint32_t retained_max)
{
    arena_init(&fixture->arena, memory, sizeof(memory), sizeof(memory));
    memset(memory, 0xa5, sizeof(memory));
    store_init(&fixture->store, &fixture->arena, &log_of_five, retained_max);
}

static struct stored_checkpoint *complete(struct store *store, const uint64_t *positions, nanos now)
{
    struct stored_checkpoint *checkpoint = store_begin(store, 1);
    checkpoint->positions = positions;
    store_complete(store, checkpoint, now);
    return checkpoint;
}

/* Goal: numbers are 1, 2, 3 and every version stays readable; more than one growth of the table. */
static void numbers_are_given_in_order_and_all_versions_stay(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    for (uint32_t number = 1; number <= 100; number++) {
        struct stored_checkpoint *checkpoint = store_begin(&fixture.store, (uint16_t)number);
        assert_int_equal(checkpoint->number, number);
        assert_int_equal(checkpoint->state, STORE_PENDING);
        assert_null(checkpoint->positions);
    }
    for (uint32_t number = 1; number <= 100; number++) {
        assert_int_equal(store_get(&fixture.store, number)->number, number);
        assert_int_equal(store_get(&fixture.store, number)->attempt, number);
    }
}

/* Goal: coverage is per split, and all or nothing at the ends. */
static void a_checkpoint_covers_what_lies_below_its_positions(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 3);
    complete(&fixture.store, positions_none, 1);
    complete(&fixture.store, positions_some, 2);
    complete(&fixture.store, positions_all, 3);
    for (record_id record = 1; record <= 5; record++) {
        assert_false(store_covers(&fixture.store, 1, record));
        assert_true(store_covers(&fixture.store, 3, record));
    }
    assert_true(store_covers(&fixture.store, 2, 1));
    assert_true(store_covers(&fixture.store, 2, 2));
    assert_false(store_covers(&fixture.store, 2, 3));
    assert_true(store_covers(&fixture.store, 2, 4));
    assert_false(store_covers(&fixture.store, 2, 5));
}

static void a_pending_checkpoint_without_positions_covers_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    store_begin(&fixture.store, 1);
    assert_false(store_covers(&fixture.store, 1, 1));
}

/* Goal: exactly the newest completed ones are retained, aborted ones do not count. */
static void the_newest_completed_are_retained(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 2);
    complete(&fixture.store, positions_none, 10);
    store_abort(&fixture.store, store_begin(&fixture.store, 1));
    complete(&fixture.store, positions_some, 30);
    assert_true(store_get(&fixture.store, 1)->retained);
    assert_true(store_get(&fixture.store, 3)->retained);
    store_abort(&fixture.store, store_begin(&fixture.store, 1));
    struct stored_checkpoint *latest = complete(&fixture.store, positions_all, 50);
    assert_false(store_get(&fixture.store, 1)->retained);
    assert_false(store_get(&fixture.store, 2)->retained);
    assert_true(store_get(&fixture.store, 3)->retained);
    assert_false(store_get(&fixture.store, 4)->retained);
    assert_true(latest->retained);
    assert_int_equal(fixture.store.latest_completed, 5);
    assert_int_equal(latest->completed_at, 50);
    complete(&fixture.store, positions_all, 60);
    assert_false(store_get(&fixture.store, 3)->retained);
    assert_true(latest->retained);
}

static void no_limit_of_retained_means_one(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 0);
    complete(&fixture.store, positions_none, 1);
    complete(&fixture.store, positions_some, 2);
    assert_false(store_get(&fixture.store, 1)->retained);
    assert_true(store_get(&fixture.store, 2)->retained);
}

static void an_aborted_checkpoint_keeps_its_content_and_is_no_latest(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    struct stored_checkpoint *checkpoint = store_begin(&fixture.store, 7);
    checkpoint->positions = positions_some;
    store_abort(&fixture.store, checkpoint);
    assert_int_equal(checkpoint->state, STORE_ABORTED);
    assert_int_equal(fixture.store.latest_completed, 0);
    assert_true(store_covers(&fixture.store, 1, 1));
}

/* Goal: an end state is final, and completions go in the order of numbers. */
static void broken_life_cycles_are_checks(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    struct stored_checkpoint *subsumed = store_begin(&fixture.store, 1);
    subsumed->positions = positions_none;
    struct stored_checkpoint *done = complete(&fixture.store, positions_none, 1);
    expect_check_failure(store_complete(&fixture.store, done, 2));
    expect_check_failure(store_abort(&fixture.store, done));
    expect_check_failure(store_complete(&fixture.store, subsumed, 2));
    store_abort(&fixture.store, subsumed);
    expect_check_failure(store_abort(&fixture.store, subsumed));
}

static void positions_are_checked_at_completion(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    struct stored_checkpoint *checkpoint = store_begin(&fixture.store, 1);
    expect_check_failure(store_complete(&fixture.store, checkpoint, 1));
    checkpoint->positions = positions_past_end;
    expect_check_failure(store_complete(&fixture.store, checkpoint, 1));
    checkpoint->positions = positions_all;
    store_complete(&fixture.store, checkpoint, 1);
}

static void numbers_and_records_out_of_range_are_checks(void **state)
{
    (void)state;
    struct fixture fixture;
    prepare(&fixture, 1);
    complete(&fixture.store, positions_all, 1);
    expect_check_failure(store_get(&fixture.store, 0));
    expect_check_failure(store_get(&fixture.store, 2));
    expect_check_failure(store_covers(&fixture.store, 1, 0));
    expect_check_failure(store_covers(&fixture.store, 1, 6));
}

TEST_MAIN(store,
          TEST(numbers_are_given_in_order_and_all_versions_stay),
          TEST(a_checkpoint_covers_what_lies_below_its_positions),
          TEST(a_pending_checkpoint_without_positions_covers_nothing),
          TEST(the_newest_completed_are_retained),
          TEST(no_limit_of_retained_means_one),
          TEST(an_aborted_checkpoint_keeps_its_content_and_is_no_latest),
          TEST(broken_life_cycles_are_checks),
          TEST(positions_are_checked_at_completion),
          TEST(numbers_and_records_out_of_range_are_checks))
