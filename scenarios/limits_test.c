/* The sinks at the limits of memory, in whole runs against their models: what a sink is refused and
 * what a run may take in all. A run under a limit ends with a verdict, never in a failed check.
 * link: product
 */
#include "scenarios/scenario.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)8 << 20)
#define CAP_STEP  ((size_t)512)

/* All three sinks, alone and with two subtasks; the failure policy's machine allocates, too. */
static const char *const scenarios[] = {
    "cloudtasks/at-least-once-small",
    "cloudtasks/at-least-once-named-small",
    "cloudtasks/exactly-once-small",
    "cloudtasks/at-least-once-2x-small",
    "cloudtasks/at-least-once-dead-letter",
    "cloudtasks/at-least-once-named",
    "cloudtasks/exactly-once",
};
#define SCENARIO_COUNT ARRAY_COUNT(scenarios)
/* Seed 0 is the calm run. */
#define SEED_COUNT 4

struct bench {
    struct scenario *scenario;
    struct runner runner;
    struct result result;
};

static void open_bench(struct bench *bench, const char *name)
{
    const struct scenario_options options = {.name = name};
    struct scenario_fault fault;
    if (scenario_load(name, &options, &bench->scenario, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
}

static void close_bench(struct bench *bench)
{
    scenario_destroy(bench->scenario);
}

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    void *memory = aligned_alloc(16, ARENA_MAX + RUN_HEADROOM);
    assert_non_null(memory);
    runner_init(&bench->runner, memory, ARENA_MAX + RUN_HEADROOM);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    free(bench->runner.memory);
    free(bench);
    return 0;
}

static void run(struct bench *bench, size_t soft_cap, uint64_t seed, uint64_t allocation_fails_at)
{
    struct run_config config = bench->scenario->config;
    config.arena_soft_cap = soft_cap;
    const struct run_request request = {
        .choice = {.mode = seed == 0 ? CHOICE_CALM : CHOICE_SEEDED, .seed = seed, .swarm = true},
        .allocation_fails_at = allocation_fails_at,
    };
    runner_run(&bench->runner, &config, &request, &bench->result);
}

/* Goal: a sink that gets no memory fails its job, and what restarts it loses nothing. Method: each
 * allocation of each run fails once; the run must show it, and end as if a task had failed. */
static void each_allocation_of_a_sink_may_fail(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        open_bench(bench, scenarios[i]);
        for (uint64_t seed = 0; seed < SEED_COUNT; seed++) {
            run(bench, ARENA_MAX, seed, 0);
            const uint64_t calls = bench->runner.arena.allocator_calls;
            const uint64_t digest = bench->result.digest;
            assert_int_equal(bench->result.verdict, RUN_OK);
            assert_true(calls >= 3);
            for (uint64_t n = 1; n <= calls; n++) {
                run(bench, ARENA_MAX, seed, n);
                if (bench->result.verdict != RUN_OK || bench->result.digest == digest) {
                    fail_msg("%s, seed %u, allocation %u: verdict %u: %s",
                             scenarios[i],
                             (unsigned)seed,
                             (unsigned)n,
                             bench->result.verdict,
                             bench->result.finding_count > 0
                                 ? bench->result.findings[0].finding.message
                                 : "no trace of it");
                }
            }
        }
        close_bench(bench);
    }
}

/* One run under a cap: true when it was enough, and the run was the one that has more than enough. */
static bool is_enough(struct bench *bench, size_t cap, uint64_t seed, uint64_t digest)
{
    run(bench, cap, seed, 0);
    if (bench->result.verdict == RUN_LIMIT) {
        assert_non_null(strstr(bench->result.message, "memory is used up"));
        return false;
    }
    assert_int_equal(bench->result.verdict, RUN_OK);
    assert_true(bench->result.digest == digest);
    return true;
}

/* Goal: from hardly any memory to enough, a run that lacks memory says so, and one that has enough is
 * the same run whatever it may have beyond. */
static void an_arena_of_any_size_gives_a_verdict(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        open_bench(bench, scenarios[i]);
        for (uint64_t seed = 0; seed < SEED_COUNT; seed++) {
            run(bench, ARENA_MAX, seed, 0);
            const uint64_t digest = bench->result.digest;
            const size_t used = bench->runner.arena.used + bench->runner.arena.reserved;
            /* The end checks may go past the cap: then no event is left to stop at. */
            size_t cap = CAP_STEP;
            while (!is_enough(bench, cap, seed, digest)) {
                cap += CAP_STEP;
                assert_true(cap < used + CAP_STEP);
            }
            assert_true(cap > used / 2);
            for (; cap < used + CAP_STEP; cap += CAP_STEP) {
                assert_true(is_enough(bench, cap, seed, digest));
            }
        }
        close_bench(bench);
    }
}

#define RUN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(limits,
          RUN_TEST(each_allocation_of_a_sink_may_fail),
          RUN_TEST(an_arena_of_any_size_gives_a_verdict))
