/* Handles, growth, exhaustion and stale handles of the pool.
 * link: sinks/base/pool sinks/base/units sinks/base/allocator
 */
#include "sinks/base/pool.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

#define MANY 5000

struct fixture {
    struct test_memory memory;
    struct allocator allocator;
    struct pool pool;
};

static void setup(struct fixture *fixture, size_t slot_size, uint32_t slot_count_max)
{
    fixture->memory = (struct test_memory){0};
    fixture->allocator = test_allocator(&fixture->memory);
    pool_init(&fixture->pool, &fixture->allocator, slot_size, slot_count_max);
}

static void teardown(struct fixture *fixture)
{
    pool_fini(&fixture->pool);
    assert_int_equal(fixture->memory.live, 0);
}

static void an_empty_pool_holds_no_memory(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 100);
    assert_int_equal(f.memory.calls, 0);
    assert_false(pool_is_live(&f.pool, POOL_NONE));
    teardown(&f);
}

/* For slot sizes around the alignment, over the borders of all chunk sizes. */
static void slots_are_aligned_and_keep_what_is_written(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 33; size++) {
        struct fixture f;
        setup(&f, size, 1100);
        pool_handle handles[1100];
        for (uint32_t i = 0; i < 1100; i++) {
            handles[i] = pool_take(&f.pool);
            assert_true(handles[i] != POOL_NONE);
            void *slot = pool_get(&f.pool, handles[i]);
            assert_int_equal((uintptr_t)slot % _Alignof(max_align_t), 0);
            memset(slot, (int)(i % 251), size);
        }
        for (uint32_t i = 0; i < 1100; i++) {
            const uint8_t *slot = pool_get(&f.pool, handles[i]);
            assert_int_equal(slot[0], i % 251);
            assert_int_equal(slot[size - 1], i % 251);
        }
        teardown(&f);
    }
}

static void handles_number_the_slots_from_one(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal((uint32_t)pool_take(&f.pool), i + 1);
    }
    teardown(&f);
}

static void slots_never_move_as_the_pool_grows(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, MANY);
    const pool_handle first = pool_take(&f.pool);
    const void *place = pool_get(&f.pool, first);
    for (uint32_t i = 1; i < MANY; i++) {
        assert_true(pool_take(&f.pool) != POOL_NONE);
        assert_ptr_equal(pool_get(&f.pool, first), place);
    }
    teardown(&f);
}

static void a_taken_slot_is_zero_even_when_reused(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 24, 10);
    static const uint8_t zeros[24];
    for (int i = 0; i < 10; i++) {
        const pool_handle handle = pool_take(&f.pool);
        void *slot = pool_get(&f.pool, handle);
        assert_memory_equal(slot, zeros, sizeof(zeros));
        memset(slot, 0xff, 24);
        pool_give(&f.pool, handle);
    }
    teardown(&f);
}

static void a_freed_slot_is_reused_last_in_first_out(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 10);
    const pool_handle a = pool_take(&f.pool);
    const pool_handle b = pool_take(&f.pool);
    pool_give(&f.pool, a);
    pool_give(&f.pool, b);
    assert_int_equal((uint32_t)pool_take(&f.pool), (uint32_t)b);
    assert_int_equal((uint32_t)pool_take(&f.pool), (uint32_t)a);
    teardown(&f);
}

/* Every limit around the borders of the chunks gives exactly that many slots. */
static void the_limit_of_count_is_exact(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 15, 16, 17, 47, 48, 49, 1008, 2031, 2032, 2033, 4000};
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        struct fixture f;
        setup(&f, 8, limits[i]);
        pool_handle last = POOL_NONE;
        for (uint32_t k = 0; k < limits[i]; k++) {
            last = pool_take(&f.pool);
            assert_true(last != POOL_NONE);
        }
        assert_true(pool_take(&f.pool) == POOL_NONE);
        assert_int_equal(f.pool.used, limits[i]);
        if (last != POOL_NONE) {
            pool_give(&f.pool, last);
            assert_true(pool_take(&f.pool) != POOL_NONE);
            assert_true(pool_take(&f.pool) == POOL_NONE);
        }
        teardown(&f);
    }
}

/* 17 slots with their headers: the second chunk is cut from 32 slots to the one allowed. */
static void memory_is_not_taken_for_slots_past_the_limit(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1024, 17);
    while (pool_take(&f.pool) != POOL_NONE) {
    }
    assert_in_range(f.memory.live, 17 * 1024, 18 * 1024);
    teardown(&f);
}

/* Fail each allocation in turn: the pool must stay as it was and go on at the next try. */
static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t fail_at = 1; fail_at <= 14; fail_at++) {
        struct fixture f;
        setup(&f, 8, MANY);
        f.memory.fail_at = fail_at;
        uint32_t taken = 0;
        uint32_t failed = 0;
        while (taken < MANY) {
            const pool_handle handle = pool_take(&f.pool);
            failed += handle == POOL_NONE;
            taken += handle != POOL_NONE;
            assert_int_equal(f.pool.used, taken);
        }
        assert_int_equal(failed, f.memory.calls >= fail_at ? 1 : 0);
        teardown(&f);
    }
}

static void a_given_handle_is_no_longer_live(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 10);
    const pool_handle stale = pool_take(&f.pool);
    assert_true(pool_is_live(&f.pool, stale));
    pool_give(&f.pool, stale);
    assert_false(pool_is_live(&f.pool, stale));
    const pool_handle fresh = pool_take(&f.pool);
    assert_int_equal((uint32_t)fresh, (uint32_t)stale);
    assert_true(pool_is_live(&f.pool, fresh));
    assert_false(pool_is_live(&f.pool, stale));
    teardown(&f);
}

static void a_handle_never_made_is_not_live(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 10);
    const pool_handle handle = pool_take(&f.pool);
    assert_false(pool_is_live(&f.pool, POOL_NONE));
    assert_false(pool_is_live(&f.pool, handle + 1));
    assert_false(pool_is_live(&f.pool, handle & UINT32_MAX));
    assert_false(pool_is_live(&f.pool, UINT64_MAX));
    pool_give(&f.pool, handle);
    assert_false(pool_is_live(&f.pool, handle + (UINT64_C(1) << 32)));
    teardown(&f);
}

static void using_a_stale_handle_is_a_check(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 10);
    const pool_handle stale = pool_take(&f.pool);
    pool_give(&f.pool, stale);
    expect_check_failure((void)pool_get(&f.pool, stale));
    expect_check_failure(pool_give(&f.pool, stale));
    assert_true(pool_take(&f.pool) != POOL_NONE);
    expect_check_failure((void)pool_get(&f.pool, stale));
    expect_check_failure(pool_give(&f.pool, stale));
    expect_check_failure((void)pool_get(&f.pool, POOL_NONE));
    assert_int_equal(f.pool.used, 1);
    teardown(&f);
}

static void after_fini_the_pool_is_empty_and_usable(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, 100);
    const pool_handle handle = pool_take(&f.pool);
    pool_fini(&f.pool);
    assert_int_equal(f.memory.live, 0);
    assert_false(pool_is_live(&f.pool, handle));
    assert_true(pool_take(&f.pool) != POOL_NONE);
    teardown(&f);
}

static void an_impossible_pool_is_a_check(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 8, POOL_SLOT_COUNT_MAX);
    struct pool pool;
    expect_check_failure(pool_init(&pool, &f.allocator, 0, 1));
    expect_check_failure(pool_init(&pool, &f.allocator, SIZE_MAX / 1024, 1));
    expect_check_failure(pool_init(&pool, &f.allocator, 8, POOL_SLOT_COUNT_MAX + 1));
    teardown(&f);
}

#define MODEL_SIZE 200

struct model {
    pool_handle handles[MODEL_SIZE];
    uint64_t values[MODEL_SIZE];
    uint32_t used;
};

static void step(struct pool *pool, struct model *model, uint64_t random)
{
    const size_t place = random % MODEL_SIZE;
    if (model->handles[place] == POOL_NONE) {
        model->handles[place] = pool_take(pool);
        model->values[place] = random;
        memcpy(pool_get(pool, model->handles[place]), &random, sizeof(random));
        model->used++;
    } else {
        const pool_handle handle = model->handles[place];
        assert_memory_equal(pool_get(pool, handle), &model->values[place], sizeof(uint64_t));
        pool_give(pool, handle);
        assert_false(pool_is_live(pool, handle));
        model->handles[place] = POOL_NONE;
        model->used--;
    }
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, sizeof(uint64_t), MODEL_SIZE);
    struct model model = {0};
    for (uint64_t i = 0; i < 50000; i++) {
        step(&f.pool, &model, digest_mix(i));
        assert_int_equal(f.pool.used, model.used);
    }
    for (size_t i = 0; i < MODEL_SIZE; i++) {
        if (model.handles[i] != POOL_NONE) {
            const void *slot = pool_get(&f.pool, model.handles[i]);
            assert_memory_equal(slot, &model.values[i], sizeof(uint64_t));
        }
    }
    teardown(&f);
}

TEST_MAIN(pool,
          TEST(an_empty_pool_holds_no_memory),
          TEST(slots_are_aligned_and_keep_what_is_written),
          TEST(handles_number_the_slots_from_one),
          TEST(slots_never_move_as_the_pool_grows),
          TEST(a_taken_slot_is_zero_even_when_reused),
          TEST(a_freed_slot_is_reused_last_in_first_out),
          TEST(the_limit_of_count_is_exact),
          TEST(memory_is_not_taken_for_slots_past_the_limit),
          TEST(a_failed_allocation_changes_nothing),
          TEST(a_given_handle_is_no_longer_live),
          TEST(a_handle_never_made_is_not_live),
          TEST(using_a_stale_handle_is_a_check),
          TEST(after_fini_the_pool_is_empty_and_usable),
          TEST(an_impossible_pool_is_a_check),
          TEST(random_operations_agree_with_an_array))
