/* Runs whose figures are known beforehand, and what becomes of those that go wrong.
 *
 * link: product
 */
#include "scenarios/gate/observe.h"

#include "sinks/base/test.h"

#include <string.h>

struct bench {
    struct text_pool texts;
    struct plan plan;
    struct costs costs;
};

/* Each request takes 10 ms and each leg 1 ms, nothing else costs anything. */
static int open_bench(void **state)
{
    static struct bench bench;
    bench = (struct bench){0};
    assert_int_equal(plan_open(&bench.texts, &bench.plan), STATUS_OK);
    assert_int_equal(costs_read(&bench.texts, "region", &bench.costs), STATUS_OK);
    for (uint32_t i = 0; i < COST_COUNT; i++) {
        bench.costs.all[i].values[0] = 0;
    }
    bench.costs.all[COST_LEG].values[0] = MS(1);
    bench.costs.all[COST_SERVICE_TIMES].values[0] = MS(10);
    bench.costs.all[COST_SERVICE_TIMES].count = 1;
    bench.costs.all[COST_PARALLELISM].values[0] = 1000;
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    text_pool_fini(&bench->texts);
    return 0;
}

static struct observation observe_arm(struct bench *bench,
                                      const char *arm,
                                      enum cell_purpose purpose,
                                      struct cell_shape shape)
{
    struct observation observed;
    struct cell cell = {.shape = shape, .seed = 3, .purpose = (uint8_t)purpose};
    while (strcmp(bench->plan.arms[cell.arm].name, arm) != 0) {
        cell.arm++;
        assert_true(cell.arm < bench->plan.arm_count);
    }
    cell_plan(&bench->plan, &bench->costs, 50, &cell);
    struct observe_memory memory = {0};
    observe(&bench->texts, &memory, &bench->plan, &bench->costs, &cell, &observed);
    observe_memory_fini(&memory);
    return observed;
}

static void assert_standing(const struct observation *observed,
                            enum decision_standing standing,
                            const char *cause)
{
    assert_string_equal(decision_standing_name(observed->standing),
                        decision_standing_name(standing));
    assert_string_equal(observed->cause, cause);
}

/* Goal: an eager arm that is not loaded takes a leg and the service's time, for each record. */
static void an_eager_arm_takes_a_leg_and_the_service(void **state)
{
    const struct observation observed = observe_arm(
        *state, "tasks-unnamed", CELL_LOAD, (struct cell_shape){64, 0, 1, 1, SECONDS(1)});
    assert_standing(&observed, DECISION_OBSERVED, "");
    assert_int_equal(observed.p50, MS(11));
    assert_int_equal(observed.most, MS(11));
    assert_int_equal(observed.wait_p95, 0);
    assert_in_range(observed.throughput, 41000, 42300); /* half of 1000 / 12 */
    assert_int_equal(observed.missing + observed.doubled + observed.errors + observed.again, 0);
    assert_in_range(observed.requests, observed.records, observed.records + 2);
    assert_in_range(observed.checkpoints, 20, 31);
}

/* Goal: a staged arm waits for its checkpoint: from nothing to an interval, and then for its place in the
 * commit (TM-1). */
static void a_staged_arm_waits_for_its_checkpoint_and_then_for_its_place(void **state)
{
    const struct observation observed = observe_arm(
        *state, "tasks-staged", CELL_LOAD, (struct cell_shape){64, 0, 1, 1, SECONDS(1)});
    assert_standing(&observed, DECISION_OBSERVED, "");
    assert_in_range(observed.throughput, 41000, 42300);
    assert_in_range(observed.wait_p95, MS(900), MS(1100));
    assert_in_range(observed.drain_p95, MS(400), MS(600));
    assert_true(observed.least >= MS(11));
    assert_in_range(observed.p95, MS(900), MS(1700));
    assert_int_equal(observed.missing + observed.doubled, 0);
}

/* Goal: as much as the service takes: 16 at a time, of 12 ms each. */
static void a_primitive_takes_as_much_as_the_service(void **state)
{
    const struct observation observed = observe_arm(
        *state, "tasks-unnamed", CELL_PRIMITIVE, (struct cell_shape){64, 0, 1, 16, SECONDS(1)});
    assert_standing(&observed, DECISION_OBSERVED, "");
    assert_in_range(observed.throughput, 1300000, 1340000);
}

/* Goal: a submission that is made twice takes effect once, where it is named, and is no error. */
static void a_named_submission_made_twice_takes_effect_once(void **state)
{
    struct bench *bench = *state;
    const struct cell_shape shape = {64, 0, 1, 16, SECONDS(1)};
    const struct observation named = observe_arm(bench, "tasks-named", CELL_REPEATED, shape);
    assert_standing(&named, DECISION_OBSERVED, "");
    assert_int_equal(named.doubled + named.errors + named.missing, 0);
    assert_in_range(named.requests - named.records, named.records / 10, named.records / 8);
    const struct observation unnamed = observe_arm(bench, "tasks-unnamed", CELL_REPEATED, shape);
    assert_in_range(unnamed.doubled, unnamed.records / 10, unnamed.records / 8);
}

/* Goal: restores replay a tenth of the window at the least; staged tasks take effect once all the same,
 * and unnamed ones do not. */
static void restores_replay_a_tenth_and_only_the_unprotected_doubles(void **state)
{
    struct bench *bench = *state;
    const struct cell_shape shape = {64, 0, 2, 4, SECONDS(1)};
    const struct observation staged = observe_arm(bench, "tasks-staged", CELL_CRASHED, shape);
    assert_standing(&staged, DECISION_OBSERVED, "");
    assert_in_range(staged.restarts, 3, 3);
    assert_true(staged.again * 10 >= staged.records * 3 / 4 * 8 / 10);
    assert_int_equal(staged.doubled + staged.missing, 0);
    const struct observation unnamed = observe_arm(bench, "tasks-unnamed", CELL_CRASHED, shape);
    assert_standing(&unnamed, DECISION_OBSERVED, "");
    assert_true(unnamed.doubled > 0);
}

/* Goal: what a staged arm cannot hold fails the run, with the cause of 13.8's split. */
static void an_interval_that_overflows_is_a_failure_by_capacity(void **state)
{
    struct bench *bench = *state;
    const struct observation observed = observe_arm(
        bench, "tasks-staged", CELL_LOAD, (struct cell_shape){100000, 0, 1, 16, SECONDS(60)});
    assert_int_equal(observed.standing, DECISION_FAILED);
    assert_true(observed.cause[0] != '\0');
}

static void too_few_checkpoints_are_no_measurement(void **state)
{
    struct bench *bench = *state;
    bench->plan.checkpoints_least = 1000;
    const struct observation observed = observe_arm(
        bench, "tasks-unnamed", CELL_LOAD, (struct cell_shape){64, 0, 1, 1, SECONDS(1)});
    assert_int_equal(observed.standing, DECISION_INVALID);
    assert_non_null(strstr(observed.cause, "wanted: 1000"));
}

static void a_scenario_that_cannot_be_made_is_told(void **state)
{
    struct bench *bench = *state;
    bench->plan.arms[0].concurrency_option = "no_such_option";
    const struct observation observed = observe_arm(
        bench, bench->plan.arms[0].name, CELL_LOAD, (struct cell_shape){64, 0, 1, 1, SECONDS(1)});
    assert_int_equal(observed.standing, DECISION_INVALID);
    assert_non_null(strstr(observed.cause, "no_such_option"));
}

#define BENCH_TEST(function) cmocka_unit_test_setup_teardown(function, open_bench, close_bench)

TEST_MAIN(observe,
          BENCH_TEST(an_eager_arm_takes_a_leg_and_the_service),
          BENCH_TEST(a_staged_arm_waits_for_its_checkpoint_and_then_for_its_place),
          BENCH_TEST(a_primitive_takes_as_much_as_the_service),
          BENCH_TEST(a_named_submission_made_twice_takes_effect_once),
          BENCH_TEST(restores_replay_a_tenth_and_only_the_unprotected_doubles),
          BENCH_TEST(an_interval_that_overflows_is_a_failure_by_capacity),
          BENCH_TEST(too_few_checkpoints_are_no_measurement),
          BENCH_TEST(a_scenario_that_cannot_be_made_is_told))
