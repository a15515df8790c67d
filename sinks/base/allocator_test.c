/* The allocator's helpers, over malloc and over the test allocator.
 * link: sinks/base/allocator
 */
#include "sinks/base/allocator.h"

#include "sinks/base/test.h"

#include <string.h>

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    for (size_t size = 1; size < 200; size++) {
        uint8_t *dirty = allocator_take(&allocator, size);
        assert_non_null(dirty);
        memset(dirty, 0xff, size);
        allocator_give(&allocator, dirty, size);
        uint8_t *memory = allocator_take_zeroed(&allocator, size);
        assert_non_null(memory);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(memory[i], 0);
        }
        allocator_give(&allocator, memory, size);
    }
}

static void memory_is_aligned_for_any_type(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    for (size_t size = 1; size < 200; size++) {
        void *memory = allocator_take(&allocator, size);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        allocator_give(&allocator, memory, size);
    }
}

static void giving_null_does_nothing(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    allocator_give(&allocator, NULL, 8);
    allocator_give(&allocator, NULL, 0);
    assert_int_equal(memory.live, 0);
}

static void the_limit_is_null_and_not_a_check(void **state)
{
    (void)state;
    struct test_memory memory = {.fail_at = 1};
    const struct allocator allocator = test_allocator(&memory);
    assert_null(allocator_take(&allocator, 8));
    memory = (struct test_memory){.fail_at = 1};
    assert_null(allocator_take_zeroed(&allocator, 8));
}

static void taking_nothing_is_a_check(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    void *memory = NULL;
    expect_check_failure(memory = allocator_take(&allocator, 0));
    expect_check_failure(memory = allocator_take_zeroed(&allocator, 0));
    assert_null(memory);
}

static void the_test_allocator_fails_exactly_the_nth_time(void **state)
{
    (void)state;
    struct test_memory memory = {.fail_at = 3};
    const struct allocator allocator = test_allocator(&memory);
    for (uint64_t n = 1; n <= 5; n++) {
        void *block = allocator_take(&allocator, 8);
        assert_int_equal(block == NULL, n == 3);
        allocator_give(&allocator, block, 8);
    }
    assert_int_equal(memory.calls, 5);
}

static void the_test_allocator_counts_what_is_outstanding(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    void *a = allocator_take(&allocator, 8);
    void *b = allocator_take(&allocator, 30);
    assert_int_equal(memory.live, 38);
    allocator_give(&allocator, a, 8);
    assert_int_equal(memory.live, 30);
    allocator_give(&allocator, b, 30);
    assert_int_equal(memory.live, 0);
}

static void giving_back_another_size_is_a_check_of_the_test_allocator(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    void *block = allocator_take(&allocator, 8);
    expect_check_failure(allocator_give(&allocator, block, 9));
    allocator_give(&allocator, block, 8);
}

TEST_MAIN(allocator,
          TEST(zeroed_memory_is_zero),
          TEST(memory_is_aligned_for_any_type),
          TEST(giving_null_does_nothing),
          TEST(the_limit_is_null_and_not_a_check),
          TEST(taking_nothing_is_a_check),
          TEST(the_test_allocator_fails_exactly_the_nth_time),
          TEST(the_test_allocator_counts_what_is_outstanding),
          TEST(giving_back_another_size_is_a_check_of_the_test_allocator))
