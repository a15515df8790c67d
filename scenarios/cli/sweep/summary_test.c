/* What runs add up to, and what is concluded from it.
 * link: product
 */
#include "scenarios/cli/sweep/summary.h"

#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Made-up runs, and the demand they are judged by. */
struct bench {
    struct summary summary;
    struct summary_marks marks;
    struct summary_demand demand;
    struct text_pool texts;
    struct report_run run;
    struct result result;
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->demand = (struct summary_demand){
        .expected = REPORT_HOLDS,
        .expected_oracle = "",
        .marks = &bench->marks,
        .oracles = SUMMARY_ORACLES_ALL,
    };
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    text_pool_fini(&bench->texts);
    free(bench);
    return 0;
}

static uint64_t add(struct bench *bench, uint64_t seed, enum run_verdict verdict)
{
    bench->result.verdict = (uint8_t)verdict;
    bench->result.digest = seed * 3;
    bench->result.events = 10;
    return summary_add(&bench->summary, seed, &bench->result);
}

static void add_many(struct bench *bench, uint64_t count, enum run_verdict verdict)
{
    for (uint64_t seed = 1; seed <= count; seed++) {
        (void)add(bench, seed, verdict);
    }
}

static void add_violation(struct bench *bench, uint64_t seed, uint8_t oracle, uint64_t record)
{
    bench->result.finding_count = 1;
    bench->result.findings[0] = (struct result_finding){
        .oracle = oracle,
        .finding = {.verdict = VERDICT_VIOLATION,
                    .subject_kind = SUBJECT_RECORD,
                    .subject = record},
    };
    assert_true(add(bench, seed, RUN_VIOLATION) == UINT64_C(1) << oracle);
    bench->result.finding_count = 0;
}

static void judge(struct bench *bench)
{
    bench->run = (struct report_run){0};
    summary_judge(&bench->summary, &bench->demand, &bench->texts, &bench->run);
}

static void vacuous_runs_do_not_count(void **state)
{
    struct bench *bench = *state;
    add_many(bench, 60, RUN_VACUOUS);
    add_many(bench, 40, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.runs, 100);
    assert_int_equal(bench->run.counted, 40);
    assert_int_equal(bench->run.verdict, REPORT_INCONCLUSIVE);
    assert_int_equal(bench->run.shortfall_count, 1);
    assert_int_equal(summary_status(&bench->run), STATUS_BROKEN);
}

static void a_quiet_sweep_holds(void **state)
{
    struct bench *bench = *state;
    add_many(bench, 500, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
    assert_true(bench->run.as_expected);
    assert_int_equal(bench->run.events, 5000);
    assert_int_equal(summary_status(&bench->run), STATUS_OK);
}

static void a_fault_kind_that_never_fired_is_missing(void **state)
{
    struct bench *bench = *state;
    bench->demand.kinds = UINT32_C(1) << FAULT_REQUEST_LOST | UINT32_C(1) << FAULT_LATENCY;
    add_many(bench, 1000, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_INCONCLUSIVE);
    assert_int_equal(bench->run.shortfall_count, 1);
    assert_non_null(strstr(bench->run.shortfalls[0], "request_lost"));
    bench->result.kinds_fired = UINT64_C(1) << FAULT_REQUEST_LOST;
    add_many(bench, 20, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
}

/* Goal: the share is one in a hundred, at least one, at most a hundred. Method: read what is wanted
 * of budgets around the bounds. */
static void how_often_a_kind_must_fire_grows_with_the_budget(void **state)
{
    struct bench *bench = *state;
    static const uint64_t budgets[][2] = {{50, 1}, {2000, 20}, {10000, 100}, {1000000, 100}};
    bench->demand.kinds = UINT32_C(1) << FAULT_CRASH;
    bench->summary.counted = SPOT_CHECK_BELOW;
    for (size_t i = 0; i < ARRAY_COUNT(budgets); i++) {
        bench->demand.budget = budgets[i][0];
        judge(bench);
        assert_int_equal(bench->run.kinds[0].wanted, budgets[i][1]);
    }
    bench->summary.counted = SPOT_CHECK_BELOW - 1;
    judge(bench);
    assert_int_equal(bench->run.kinds[0].wanted, 0);
}

static void a_claim_asks_for_its_budget_crashes_and_marks(void **state)
{
    struct bench *bench = *state;
    bench->demand.kinds = UINT32_C(1) << FAULT_CRASH;
    bench->demand.is_claim = true;
    bench->demand.budget = 1001;
    bench->marks.count = 1;
    bench->marks.items[0] = (struct summary_mark){
        .oracle = oracle_types[0]->name,
        .mark = sim_mark(MARK_JUDGE_HEAL),
    };
    bench->result.kinds_fired = UINT64_C(1) << FAULT_CRASH;
    add_many(bench, 1000, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.shortfall_count, 3);
    bench->result.crashes = 1;
    add_many(bench, 400, RUN_OK);
    bench->summary.behaviour.runs[MARK_JUDGE_HEAL] = 1;
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
    assert_int_equal(bench->run.crashes.count, 400);
    assert_int_equal(bench->run.crashes.wanted, 350);
}

static void a_mark_of_an_oracle_that_does_not_judge_is_not_asked_for(void **state)
{
    struct bench *bench = *state;
    bench->demand.is_claim = true;
    bench->demand.budget = SPOT_CHECK_BELOW;
    bench->demand.oracles = UINT64_C(1) << 1;
    bench->marks.count = 1;
    bench->marks.items[0] = (struct summary_mark){
        .oracle = oracle_types[0]->name,
        .mark = sim_mark(MARK_JUDGE_HEAL),
    };
    add_many(bench, SPOT_CHECK_BELOW, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
}

static void an_expected_failure_must_be_seen_by_its_oracle(void **state)
{
    struct bench *bench = *state;
    bench->demand.expected = REPORT_FAILS;
    bench->demand.expected_oracle = oracle_types[2]->name;
    add_many(bench, 100, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
    assert_false(bench->run.as_expected);
    add_violation(bench, 101, 1, 5);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_INCONCLUSIVE);
    add_violation(bench, 102, 2, 5);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_FAILS);
    assert_true(bench->run.as_expected);
}

static void a_refusal_is_a_verdict(void **state)
{
    struct bench *bench = *state;
    (void)snprintf(bench->result.message, sizeof bench->result.message, "option x is 3");
    add_many(bench, 3, RUN_REFUSED);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_REFUSED);
    assert_string_equal(bench->run.refusal, "option x is 3");
    assert_int_equal(summary_status(&bench->run), STATUS_BROKEN);
    bench->demand.expected = REPORT_REFUSED;
    judge(bench);
    assert_int_equal(summary_status(&bench->run), STATUS_OK);
}

static void a_limit_has_a_status_of_its_own(void **state)
{
    struct bench *bench = *state;
    add_many(bench, 200, RUN_OK);
    (void)add(bench, 300, RUN_LIMIT);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_INCONCLUSIVE);
    assert_int_equal(bench->run.limited, 1);
    assert_non_null(strstr(bench->run.limit, "seed 300"));
    assert_int_equal(summary_status(&bench->run), STATUS_INTERNAL);
}

static void the_lowest_seed_of_each_kind_of_violation_is_kept(void **state)
{
    struct bench *bench = *state;
    add_violation(bench, 50, 3, 1);
    add_violation(bench, 20, 3, 2);
    add_violation(bench, 30, 3, 3);
    add_violation(bench, 40, 4, 4);
    assert_int_equal(bench->summary.finding_count, 2);
    assert_int_equal(bench->summary.findings[0].seed, 20);
    assert_int_equal(bench->summary.findings[0].subject, 2);
    assert_int_equal(bench->summary.findings[1].seed, 40);
    assert_int_equal(bench->summary.violating, 4);
}

static void a_lost_run_is_a_violation_of_crash_or_hang(void **state)
{
    struct bench *bench = *state;
    add_many(bench, 10, RUN_OK);
    summary_add_lost(&bench->summary, 11, SUMMARY_ORACLE_CRASH, "died of signal 11");
    summary_add_lost(&bench->summary, 12, SUMMARY_ORACLE_HANG, "did not end");
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_FAILS);
    assert_int_equal(bench->summary.finding_count, 2);
    assert_string_equal(summary_oracle_name(bench->summary.findings[0].oracle), "crash");
    assert_string_equal(summary_oracle_name(bench->summary.findings[1].oracle), "hang");
}

static void assert_same(const struct summary *a, const struct summary *b)
{
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->counted, b->counted);
    assert_int_equal(a->vacuous, b->vacuous);
    assert_int_equal(a->limited, b->limited);
    assert_int_equal(a->limit_seed, b->limit_seed);
    assert_int_equal(a->violating, b->violating);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->crash_runs, b->crash_runs);
    assert_int_equal(a->crash_points_hit, b->crash_points_hit);
    assert_true(a->digest == b->digest);
    assert_memory_equal(a->kind_runs, b->kind_runs, sizeof a->kind_runs);
    assert_string_equal(a->limit, b->limit);
    assert_int_equal(a->finding_count, b->finding_count);
    for (uint32_t i = 0; i < a->finding_count; i++) {
        assert_int_equal(a->findings[i].seed, b->findings[i].seed);
        assert_int_equal(a->findings[i].oracle, b->findings[i].oracle);
    }
}

/* Goal: a sweep in parts is the sweep. Method: add the same runs to one summary, and to three that
 * are joined in order. */
static void parts_join_to_the_whole(void **state)
{
    struct bench *bench = *state;
    struct summary *parts = calloc(3, sizeof *parts);
    struct summary *joined = calloc(1, sizeof *joined);
    assert_non_null(parts);
    assert_non_null(joined);
    for (uint64_t seed = 1; seed <= 90; seed++) {
        struct result result = {
            .verdict = seed % 7 == 0    ? RUN_VACUOUS
                       : seed % 11 == 0 ? RUN_LIMIT
                                        : RUN_OK,
            .digest = seed * 77,
            .events = seed,
            .kinds_fired = seed,
            .crashes = seed % 2,
        };
        if (seed % 13 == 0) {
            result.verdict = RUN_VIOLATION;
            result.finding_count = 1;
            result.findings[0].oracle = (uint8_t)(seed % 3);
        }
        (void)summary_add(&bench->summary, seed, &result);
        (void)summary_add(&parts[(seed - 1) / 30], seed, &result);
    }
    for (size_t i = 0; i < 3; i++) {
        summary_join(joined, &parts[i]);
    }
    assert_same(joined, &bench->summary);
    free(parts);
    free(joined);
}

/* Goal: of each mark, how many runs reached it and which was the first, however the seeds are cut. */
static void marks_are_counted_with_their_first_seed(void **state)
{
    struct bench *bench = *state;
    const uint32_t place = MARK_LINK_PAUSED;
    for (uint32_t part = 2; part > 0; part--) {
        struct summary *parts = calloc(1, sizeof *parts);
        assert_non_null(parts);
        for (uint64_t seed = part * 500 - 499; seed <= part * 500; seed++) {
            struct result result = {.verdict = seed == 300 ? RUN_VACUOUS : RUN_OK};
            result.marks.bits[place / 64] = (uint64_t)(seed % 300 == 0) << place % 64;
            result.marks.moments[FAULT_CRASH] = seed == 7 ? 1 : 0;
            (void)summary_add(parts, seed, &result);
        }
        summary_join(&bench->summary, parts);
        free(parts);
    }
    const struct behaviour *behaviour = &bench->summary.behaviour;
    assert_int_equal(behaviour->runs[place], 2); /* not the vacuous one */
    assert_int_equal(behaviour->first_seed[place], 600);
    assert_true(behaviour_is_rare(behaviour, place, 201));
    assert_false(behaviour_is_rare(behaviour, place, 200));
    assert_false(behaviour_is_rare(behaviour, MARK_LINK_EXPIRED, 1000));
    const uint32_t pair = MARKS_PAIRS_AT + 16 * FAULT_CRASH;
    assert_int_equal(behaviour->runs[pair + SINK_PHASE_ABSENT], 1);
    assert_int_equal(behaviour->runs[pair + 8 + ENGINE_PHASE_DOWN], 1);
    assert_int_equal(behaviour->first_seed[pair], 7);
}

/* Goal: a mark that the scenario must reach is asked for once all of its seeds were run. */
static void what_must_be_reached_is_asked_of_all_seeds(void **state)
{
    struct bench *bench = *state;
    const struct report_count must[] = {{"scenario: a.b", 0, 1}, {"scenario: c.d", 3, 1}};
    bench->demand.must = must;
    bench->demand.must_count = ARRAY_COUNT(must);
    bench->demand.must_after = 20;
    add_many(bench, 19, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
    (void)add(bench, 20, RUN_OK);
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_INCONCLUSIVE);
    assert_int_equal(bench->run.shortfall_count, 1);
    assert_string_equal(bench->run.shortfalls[0], "mark scenario: a.b never reached in 20 runs");
    assert_int_equal(bench->run.mark_count, 2);
    bench->demand.one_run = true;
    judge(bench);
    assert_int_equal(bench->run.verdict, REPORT_HOLDS);
}

static void every_oracle_has_one_name_that_is_read_back(void **state)
{
    (void)state;
    uint8_t oracle = 0;
    for (uint8_t i = 0; i < oracle_type_count; i++) {
        assert_int_equal(summary_oracle_parse(summary_oracle_name(i), &oracle), ERR_OK);
        assert_int_equal(oracle, i);
    }
    assert_int_equal(summary_oracle_parse("crash", &oracle), ERR_OK);
    assert_int_equal(oracle, SUMMARY_ORACLE_CRASH);
    assert_int_equal(summary_oracle_parse("hang", &oracle), ERR_OK);
    assert_int_equal(oracle, SUMMARY_ORACLE_HANG);
    assert_int_equal(summary_oracle_parse("no-such", &oracle), ERR_NOT_FOUND);
}

#define RUN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(summary,
          RUN_TEST(vacuous_runs_do_not_count),
          RUN_TEST(a_quiet_sweep_holds),
          RUN_TEST(a_fault_kind_that_never_fired_is_missing),
          RUN_TEST(how_often_a_kind_must_fire_grows_with_the_budget),
          RUN_TEST(a_claim_asks_for_its_budget_crashes_and_marks),
          RUN_TEST(a_mark_of_an_oracle_that_does_not_judge_is_not_asked_for),
          RUN_TEST(an_expected_failure_must_be_seen_by_its_oracle),
          RUN_TEST(a_refusal_is_a_verdict),
          RUN_TEST(a_limit_has_a_status_of_its_own),
          RUN_TEST(the_lowest_seed_of_each_kind_of_violation_is_kept),
          RUN_TEST(a_lost_run_is_a_violation_of_crash_or_hang),
          RUN_TEST(parts_join_to_the_whole),
          RUN_TEST(marks_are_counted_with_their_first_seed),
          RUN_TEST(what_must_be_reached_is_asked_of_all_seeds),
          TEST(every_oracle_has_one_name_that_is_read_back))
