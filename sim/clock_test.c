/* Wall clocks: exact drift, jumps, saturation, largest error.
 * link: sim/clock sinks/base/units
 */
#include "sim/clock.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

static void a_true_clock_starts_in_2026_and_runs_with_virtual_time(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    assert_int_equal(clock_wall(&clock, 0), UINT64_C(1767225600000000000));
    assert_int_equal(clock_wall(&clock, 12345), CLOCK_BASE + 12345);
    assert_int_equal(clock_true_wall(12345), CLOCK_BASE + 12345);
    assert_int_equal(clock_error_now(&clock, DAYS(1)), 0);
}

static void jumps_add_up_and_go_both_ways(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_jump(&clock, 100, 500);
    assert_int_equal(clock_wall(&clock, 100), CLOCK_BASE + 600);
    clock_jump(&clock, 200, -1500);
    assert_int_equal(clock_wall(&clock, 300), CLOCK_BASE + 300 - 1000);
}

static void drift_is_exact_and_rounds_down(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_drift(&clock, 0, 1);
    assert_int_equal(clock_wall(&clock, 999999), CLOCK_BASE + 999999);
    assert_int_equal(clock_wall(&clock, 1000000), CLOCK_BASE + 1000001);
    assert_int_equal(clock_wall(&clock, DAYS(1)), CLOCK_BASE + DAYS(1) + DAYS(1) / 1000000);
    clock_init(&clock);
    clock_drift(&clock, 0, -1);
    assert_int_equal(clock_wall(&clock, 1), CLOCK_BASE);
    assert_int_equal(clock_wall(&clock, 1000000), CLOCK_BASE + 999999);
    assert_int_equal(clock_wall(&clock, 1000001), CLOCK_BASE + 999999);
}

static void what_drifted_stays_when_the_drift_changes(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_drift(&clock, 0, 200);
    clock_drift(&clock, SECONDS(10), -100);
    assert_int_equal(clock_wall(&clock, SECONDS(10)), CLOCK_BASE + SECONDS(10) + MS(2));
    assert_int_equal(clock_wall(&clock, SECONDS(20)), CLOCK_BASE + SECONDS(20) + MS(1));
    clock_drift(&clock, SECONDS(20), 0);
    assert_int_equal(clock_wall(&clock, HOURS(5)), CLOCK_BASE + HOURS(5) + MS(1));
}

/* However often the drift is set anew to the same, nothing is lost to rounding. */
static void changes_lose_no_fraction_of_a_nanosecond(void **state)
{
    (void)state;
    struct clock once;
    struct clock often;
    clock_init(&once);
    clock_init(&often);
    clock_drift(&once, 0, -7);
    clock_drift(&often, 0, -7);
    nanos now = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        now += digest_mix(i) % 5000;
        clock_drift(&often, now, -7);
        assert_int_equal(clock_wall(&often, now), clock_wall(&once, now));
    }
    assert_int_equal(clock_wall(&often, DAYS(9)), clock_wall(&once, DAYS(9)));
}

static void a_clock_with_a_slow_drift_never_runs_backwards(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_drift(&clock, 0, -CLOCK_DRIFT_MAX);
    nanos last = 0;
    for (nanos now = 0; now < 5000; now++) {
        assert_true(clock_wall(&clock, now) >= last);
        last = clock_wall(&clock, now);
    }
}

static void wall_time_saturates_at_both_ends(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_jump(&clock, 0, INT64_MIN);
    assert_int_equal(clock_wall(&clock, 0), 0);
    assert_int_equal(clock_wall(&clock, UINT64_C(1) << 63), CLOCK_BASE);
    clock_jump(&clock, 0, INT64_MIN);
    assert_int_equal(clock_error_now(&clock, 0), UINT64_C(1) << 63);
    clock_init(&clock);
    clock_jump(&clock, 0, INT64_MAX);
    clock_jump(&clock, 0, INT64_MAX);
    assert_int_equal(clock_wall(&clock, UINT64_C(1) << 63), TIME_NEVER);
    assert_int_equal(clock_wall(&clock, TIME_NEVER), TIME_NEVER);
    clock_init(&clock);
    clock_drift(&clock, 0, -CLOCK_DRIFT_MAX);
    assert_int_equal(clock_wall(&clock, TIME_NEVER), TIME_NEVER);
    assert_int_equal(clock_error_now(&clock, TIME_NEVER - 1),
                     (TIME_NEVER - 1) / 1000 + ((TIME_NEVER - 1) % 1000 != 0));
}

static void the_largest_error_is_remembered(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    clock_jump(&clock, 0, -300);
    assert_int_equal(clock_error_now(&clock, 0), 300);
    clock_jump(&clock, 10, 310);
    assert_int_equal(clock_error_now(&clock, 10), 300);
    clock_jump(&clock, 20, 990);
    assert_int_equal(clock_error_now(&clock, 20), 1000);
    clock_drift(&clock, 20, -1);
    assert_int_equal(clock_error_now(&clock, MS(1)), 1000);
    assert_int_equal(clock_error_now(&clock, SECONDS(5) + 20), 4000);
}

static void a_drift_out_of_range_or_a_step_back_in_time_is_a_check(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    expect_check_failure(clock_drift(&clock, 0, CLOCK_DRIFT_MAX + 1));
    expect_check_failure(clock_drift(&clock, 0, -CLOCK_DRIFT_MAX - 1));
    clock_jump(&clock, 10, 1);
    expect_check_failure((void)clock_wall(&clock, 9));
}

TEST_MAIN(clock,
          TEST(a_true_clock_starts_in_2026_and_runs_with_virtual_time),
          TEST(jumps_add_up_and_go_both_ways),
          TEST(drift_is_exact_and_rounds_down),
          TEST(what_drifted_stays_when_the_drift_changes),
          TEST(changes_lose_no_fraction_of_a_nanosecond),
          TEST(a_clock_with_a_slow_drift_never_runs_backwards),
          TEST(wall_time_saturates_at_both_ends),
          TEST(the_largest_error_is_remembered),
          TEST(a_drift_out_of_range_or_a_step_back_in_time_is_a_check))
