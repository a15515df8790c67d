/* Loads, and the scenarios that cells are made of.
 *
 * link: product
 */
#include "scenarios/gate/cell.h"

#include "sinks/base/test.h"

#include <string.h>

struct bench {
    struct text_pool texts;
    struct plan plan;
    struct costs costs;
};

static int open_bench(void **state)
{
    static struct bench bench;
    bench = (struct bench){0};
    assert_int_equal(plan_open(&bench.texts, &bench.plan), STATUS_OK);
    assert_int_equal(costs_read(&bench.texts, "region", &bench.costs), STATUS_OK);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    text_pool_fini(&bench->texts);
    return 0;
}

static struct cell cell_of(const char *arm, const struct bench *bench, struct cell_shape shape)
{
    struct cell cell = {.shape = shape, .seed = 5};
    while (strcmp(bench->plan.arms[cell.arm].name, arm) != 0) {
        cell.arm++;
        assert_true(cell.arm < bench->plan.arm_count);
    }
    return cell;
}

static struct scenario *scenario_of(struct bench *bench, const struct cell *cell)
{
    struct scenario_fault fault = {{0}};
    struct scenario *scenario = NULL;
    const struct scenario_options options = {.name = "cell"};
    const char *json = cell_json(&bench->texts, &bench->plan, &bench->costs, cell, &fault);
    if (json == NULL ||
        scenario_create(bytes_of_text(json), &options, &scenario, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return scenario;
}

/* PD-13: 2 payloads, 2 kinds of keys, 3 parallelisms, 3 windows, 3 intervals. */
static void the_grid_of_the_plan_has_108_cells(void **state)
{
    const struct bench *bench = *state;
    const struct plan_grid *grid = &bench->plan.grid;
    assert_int_equal(grid->payload_count * grid->keys_count * grid->parallelism_count *
                         grid->concurrency_count * grid->interval_count,
                     108);
    assert_int_equal(grid->payload_bytes[1], 65536);
    assert_int_equal(bench->plan.repetitions, 30);
}

/* Goal: half of what the current path carries: one request of 15.01 ms and two legs of 2.05 ms at a time
 * are 52.3 records per second. */
static void the_load_is_a_share_of_what_the_current_path_carries(void **state)
{
    const struct bench *bench = *state;
    struct cell cell =
        cell_of("tasks-unnamed", bench, (struct cell_shape){1024, 0, 1, 1, SECONDS(10)});
    assert_int_equal(cell_capacity(&bench->plan, &bench->costs, &cell.shape), 52328);
    cell_plan(&bench->plan, &bench->costs, 950, &cell);
    assert_in_range(cell_offered(&cell), 26160, 26165);
    assert_false(cell.at_ceiling);
    assert_int_equal(cell.warm_up, SECONDS(10));
    assert_int_equal(cell.measured, SECONDS(70));
    assert_in_range(cell.records, 2091, 2094);
}

static void a_ceiling_and_the_bytes_of_a_run_bound_the_load(void **state)
{
    const struct bench *bench = *state;
    struct cell cell =
        cell_of("tasks-unnamed", bench, (struct cell_shape){1024, 0, 16, 16, SECONDS(1)});
    cell_plan(&bench->plan, &bench->costs, 950, &cell);
    assert_in_range(cell_offered(&cell), 949000, 951000);
    assert_true(cell.at_ceiling);
    cell.shape.payload_bytes = 65536;
    cell.shape.interval = SECONDS(60);
    cell_plan(&bench->plan, &bench->costs, 950, &cell);
    assert_true(cell.at_ceiling);
    assert_true((uint64_t)cell.records * 65536 <= bench->plan.bytes_max);
    assert_true((uint64_t)cell.records * 65536 > bench->plan.bytes_max / 2);
}

/* Goal: with hot keys one subtask is full first, and what it carries bounds the load. */
static void hot_keys_fill_one_subtask_first(void **state)
{
    const struct bench *bench = *state;
    const struct cell_shape even = {1024, PLAN_KEYS_EVEN, 4, 1, SECONDS(1)};
    const struct cell_shape hot = {1024, PLAN_KEYS_HOT, 4, 1, SECONDS(1)};
    const struct cell_shape alone = {1024, PLAN_KEYS_HOT, 1, 1, SECONDS(1)};
    const uint64_t one = cell_capacity(&bench->plan, &bench->costs, &alone);
    assert_int_equal(cell_capacity(&bench->plan, &bench->costs, &even) / one, 4);
    assert_int_equal(cell_capacity(&bench->plan, &bench->costs, &hot), one * 10 / 9);
}

/* Goal: the arms of a cell differ in nothing but what they are (PD-6). */
static void all_arms_of_a_cell_get_the_same_load(void **state)
{
    struct bench *bench = *state;
    const struct cell_shape shape = {1024, 0, 4, 16, SECONDS(10)};
    static const char *const arms[] = {"tasks-unnamed", "tasks-named", "tasks-staged"};
    uint64_t digests[ARRAY_COUNT(arms)];
    for (size_t i = 0; i < ARRAY_COUNT(arms); i++) {
        struct cell cell = cell_of(arms[i], bench, shape);
        cell_plan(&bench->plan, &bench->costs, 100, &cell);
        digests[i] = cell_load_digest(&bench->costs, &cell);
        struct scenario *scenario = scenario_of(bench, &cell);
        const struct run_config *config = &scenario->config;
        assert_int_equal(config->job.subtasks, 4);
        assert_int_equal(config->job.sources, 4);
        assert_int_equal(config->job.checkpoint_interval, SECONDS(10));
        assert_int_equal(config->job.record_interval, cell.record_interval);
        assert_int_equal(config->job.source_pace, JOB_SOURCE_ARRIVALS);
        assert_int_equal(config->job.cpu_per_event, 21000);
        assert_int_equal(config->link.latency_least, 2050000);
        assert_int_equal(config->link.service_time_count, 16);
        assert_int_equal(config->link.service_times[0], 9010000);
        assert_int_equal(config->link.service_seed, 5);
        assert_int_equal(config->link.service_parallelism, 1000);
        assert_int_equal(config->facts.concurrency_max, 16);
        assert_int_equal(config->job.log->record_count, cell.records);
        assert_int_equal(config->job.log->records[0].record.value.size, 1024);
        scenario_destroy(scenario);
    }
    assert_int_equal(digests[0], digests[1]);
    assert_int_equal(digests[0], digests[2]);
}

static void other_costs_are_another_load(void **state)
{
    const struct bench *bench = *state;
    struct cell cell =
        cell_of("tasks-unnamed", bench, (struct cell_shape){1024, 0, 4, 16, SECONDS(10)});
    cell_plan(&bench->plan, &bench->costs, 100, &cell);
    const uint64_t digest = cell_load_digest(&bench->costs, &cell);
    struct costs other = bench->costs;
    other.digest++;
    assert_int_not_equal(cell_load_digest(&other, &cell), digest);
    cell.record_interval++;
    assert_int_not_equal(cell_load_digest(&bench->costs, &cell), digest);
}

static void a_base_scenario_that_is_not_there_is_told(void **state)
{
    struct bench *bench = *state;
    struct scenario_fault fault = {{0}};
    struct cell cell =
        cell_of("tasks-unnamed", bench, (struct cell_shape){1024, 0, 1, 1, SECONDS(1)});
    bench->plan.arms[cell.arm].scenario = "gate/nothing";
    cell_plan(&bench->plan, &bench->costs, 100, &cell);
    assert_null(cell_json(&bench->texts, &bench->plan, &bench->costs, &cell, &fault));
    assert_non_null(strstr(fault.message, "\"gate/nothing\": no such scenario"));
}

#define BENCH_TEST(function) cmocka_unit_test_setup_teardown(function, open_bench, close_bench)

TEST_MAIN(cell,
          BENCH_TEST(the_grid_of_the_plan_has_108_cells),
          BENCH_TEST(the_load_is_a_share_of_what_the_current_path_carries),
          BENCH_TEST(a_ceiling_and_the_bytes_of_a_run_bound_the_load),
          BENCH_TEST(hot_keys_fill_one_subtask_first),
          BENCH_TEST(all_arms_of_a_cell_get_the_same_load),
          BENCH_TEST(other_costs_are_another_load),
          BENCH_TEST(a_base_scenario_that_is_not_there_is_told))
