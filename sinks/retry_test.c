/* The backoff schedule.
 * link: sinks/retry sinks/base/units
 */
#include "sinks/retry.h"

#include "sinks/base/test.h"

static const struct retry_schedule schedule = {
    .initial = MS(100), .max = SECONDS(10), .attempts_max = 8};

static void pauses_double_up_to_the_maximum_and_jitter_by_a_quarter(void **state)
{
    (void)state;
    static const nanos expected[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
    for (uint32_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const struct retry_window window = retry_backoff(&schedule, i + 1);
        assert_int_equal(window.min, MS(expected[i]) * 3 / 4);
        assert_int_equal(window.max, MS(expected[i]) * 5 / 4);
    }
    const struct retry_window last = retry_backoff(&schedule, UINT32_MAX);
    assert_int_equal(last.max, MS(12500));
}

static void no_pause_is_shorter_than_a_millisecond(void **state)
{
    (void)state;
    const struct retry_schedule shortest = {.initial = MS(1), .max = MS(1), .attempts_max = 1};
    const struct retry_window window = retry_backoff(&shortest, 1);
    assert_int_equal(window.min, MS(1));
    assert_int_equal(window.max, US(1250));
}

static void attempts_include_the_first(void **state)
{
    (void)state;
    assert_true(retry_is_allowed(&schedule, 7));
    assert_false(retry_is_allowed(&schedule, 8));
}

static void unusable_schedules_are_known(void **state)
{
    (void)state;
    assert_true(retry_schedule_is_valid(&schedule));
    const struct retry_schedule bad[] = {
        {.initial = MS(1) - 1, .max = MS(1), .attempts_max = 1},
        {.initial = MS(2), .max = MS(1), .attempts_max = 1},
        {.initial = MS(1), .max = MS(1), .attempts_max = 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_false(retry_schedule_is_valid(&bad[i]));
    }
    expect_check_failure((void)retry_backoff(&bad[0], 1));
    expect_check_failure((void)retry_backoff(&schedule, 0));
}

TEST_MAIN(retry,
          TEST(pauses_double_up_to_the_maximum_and_jitter_by_a_quarter),
          TEST(no_pause_is_shorter_than_a_millisecond),
          TEST(attempts_include_the_first),
          TEST(unusable_schedules_are_known))
