/* The decision rule: every boundary on both sides, every rule and their order.
 *
 * link: scenarios/gate/decision
 */
#include "scenarios/gate/decision.h"

#include "sinks/base/test.h"

#include <string.h>

#define REPETITIONS 3u

static void set_arm(struct decision_arm *arm, uint64_t throughput, nanos latency)
{
    *arm = (struct decision_arm){
        .given = true,
        .shape = {1024, 0, 4, 16, 7, SECONDS(10)},
        .run_count = REPETITIONS,
        .repetitions = REPETITIONS,
        .warmed_up = true,
        .read_back = true,
    };
    for (uint32_t i = 0; i < REPETITIONS; i++) {
        arm->runs[i] = (struct decision_run){DECISION_OBSERVED, throughput, latency};
    }
}

/* A cell whose candidate is like its baseline: 1000 records per second, 100 ms. */
static struct decision_input good_cell(void)
{
    struct decision_input input = {.repetitions_least = REPETITIONS,
                                   .replay_wanted = true,
                                   .control_wanted = true,
                                   .keys_counted = true,
                                   .keys_most = 12,
                                   .keys_least = 10};
    set_arm(&input.arms[DECISION_BASELINE], 1000000, MS(100));
    set_arm(&input.arms[DECISION_CANDIDATE], 1000000, MS(100));
    set_arm(&input.arms[DECISION_REPLAY], 1000000, MS(100));
    set_arm(&input.arms[DECISION_CONTROL], 10000, MS(10));
    input.arms[DECISION_CONTROL].shape.concurrency = 1;
    return input;
}

static struct decision judge(const struct decision_input *input)
{
    struct decision decision;
    decision_make(input, &decision);
    return decision;
}

static void assert_decided(const struct decision_input *input,
                           enum decision_verdict verdict,
                           enum decision_rule rule)
{
    const struct decision decision = judge(input);
    assert_string_equal(decision_verdict_name(decision.verdict), decision_verdict_name(verdict));
    assert_string_equal(decision_rule_name(decision.rule), decision_rule_name(rule));
}

static void assert_ratios(uint64_t throughput,
                          nanos latency,
                          enum decision_verdict verdict,
                          enum decision_rule rule)
{
    struct decision_input input = good_cell();
    set_arm(&input.arms[DECISION_CANDIDATE], throughput, latency);
    assert_decided(&input, verdict, rule);
}

/* PD-2: one unit is a thousandth of a record per second, or a nanosecond. */
static void general_ends_at_seventy_percent_and_twice_the_latency(void **state)
{
    (void)state;
    assert_ratios(700000, MS(200), DECISION_GENERAL, DECISION_BY_GENERAL);
    assert_ratios(699999, MS(200), DECISION_CONSTRAINED, DECISION_BY_CONSTRAINED);
    assert_ratios(700000, MS(200) + 1, DECISION_CONSTRAINED, DECISION_BY_CONSTRAINED);
}

/* PD-3. */
static void constrained_ends_at_a_quarter_and_four_times_the_latency(void **state)
{
    (void)state;
    assert_ratios(250000, MS(400), DECISION_CONSTRAINED, DECISION_BY_CONSTRAINED);
    assert_ratios(249999, MS(400), DECISION_DECLINE, DECISION_BY_THROUGHPUT);
    assert_ratios(250000, MS(400) + 1, DECISION_DECLINE, DECISION_BY_LATENCY);
    assert_ratios(1500000, MS(300), DECISION_CONSTRAINED, DECISION_BY_CONSTRAINED);
}

/* Goal: means are compared, whatever the repetitions are one by one, and the two counts may differ.
 * Method: 68, 70 and 72 percent against a baseline of which only the mean is known. */
static void ratios_are_of_means(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    struct decision_arm *arm = &input.arms[DECISION_CANDIDATE];
    arm->runs[0].throughput = 680000;
    arm->runs[1].throughput = 700000;
    arm->runs[2].throughput = 720000;
    arm->runs[0].latency = MS(100);
    arm->runs[1].latency = MS(100);
    arm->runs[2].latency = MS(400);
    input.arms[DECISION_BASELINE].run_count = 1;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
    arm->runs[1].throughput--;
    assert_decided(&input, DECISION_CONSTRAINED, DECISION_BY_CONSTRAINED);
}

/* PD-1: before everything else, however fast and however broken the rest is. */
static void an_effect_that_a_replay_doubles_is_rejected_first(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    set_arm(&input.arms[DECISION_CANDIDATE], 100000000, 1);
    input.arms[DECISION_REPLAY].doubled_effects = 1;
    input.arms[DECISION_REPLAY].repetitions = 0;
    input.arms[DECISION_BASELINE].runs[0].standing = DECISION_FAILED;
    input.arms[DECISION_CANDIDATE].shape.payload_bytes++;
    assert_decided(&input, DECISION_REJECT, DECISION_BY_DOUBLED);
    assert_int_equal(judge(&input).side, DECISION_REPLAY);
}

/* Goal: an unprotected path may double what it likes: that is why it is replaced. */
static void effects_doubled_by_the_baseline_do_not_reject(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.arms[DECISION_BASELINE].doubled_effects = 1;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
}

/* PD-4, in each of the three arms: 950 to 1050 around 1000 is 10 percent. */
static void variation_of_ten_percent_passes_and_more_does_not(void **state)
{
    (void)state;
    static const enum decision_side sides[] = {
        DECISION_BASELINE, DECISION_CANDIDATE, DECISION_REPLAY};
    for (size_t i = 0; i < ARRAY_COUNT(sides); i++) {
        struct decision_input input = good_cell();
        struct decision_run *runs = input.arms[sides[i]].runs;
        runs[0].throughput = 950000;
        runs[1].throughput = 1050000;
        assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
        runs[1].throughput++;
        runs[2].throughput--;
        assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_VARIATION);
        assert_int_equal(judge(&input).side, sides[i]);
    }
}

/* Goal: the spread is taken over all repetitions, wherever they stand, and against their mean, not
 * their largest: 905 to 1000 is below 10 percent of the largest, and above 10 of the mean. */
static void variation_is_over_all_repetitions_and_of_their_mean(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    struct decision_run *runs = input.arms[DECISION_CANDIDATE].runs;
    runs[0].throughput = 905000;
    runs[1].throughput = 1000000;
    runs[2].throughput = 905000;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_VARIATION);
    runs[0].throughput = 1000000;
    runs[1].throughput = 905000;
    runs[2].throughput = 1000000;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
}

/* PD-5. */
static void evidence_that_is_not_complete_decides_nothing(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.arms[DECISION_CANDIDATE].warmed_up = false;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_WARM_UP);
    input = good_cell();
    input.arms[DECISION_BASELINE].run_count = 2;
    input.arms[DECISION_BASELINE].repetitions = 2;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_REPETITIONS);
    input = good_cell();
    input.arms[DECISION_REPLAY].read_back = false;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_READ_BACK);
    input = good_cell();
    input.arms[DECISION_CANDIDATE].errors = 1;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_ERRORS);
}

static void an_arm_that_is_missing_decides_nothing_where_it_is_wanted(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    memset(&input.arms[DECISION_CONTROL], 0, sizeof(input.arms[0]));
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_MISSING_ARM);
    input.control_wanted = false;
    memset(&input.arms[DECISION_REPLAY], 0, sizeof(input.arms[0]));
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_MISSING_ARM);
    input.replay_wanted = false;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
    memset(&input.arms[DECISION_BASELINE], 0, sizeof(input.arms[0]));
    input.arms[DECISION_CANDIDATE].given = false;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_MISSING_ARM);
}

/* PD-6: each thing by itself. */
static void arms_that_differ_are_not_compared(void **state)
{
    (void)state;
    for (uint32_t what = 0; what < 6; what++) {
        struct decision_input input = good_cell();
        struct decision_shape *shape = &input.arms[DECISION_CANDIDATE].shape;
        shape->payload_bytes += what == 0;
        shape->key_skew += what == 1;
        shape->concurrency += what == 2;
        shape->parallelism += what == 3;
        shape->capacity += what == 4;
        shape->checkpoint_interval += what == 5;
        assert_decided(&input, DECISION_REFUSED, DECISION_BY_SHAPE);
    }
}

/* The control alone has a concurrency of its own, and nothing else of its own. */
static void the_control_differs_in_concurrency_alone(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.arms[DECISION_CONTROL].shape.payload_bytes++;
    assert_decided(&input, DECISION_REFUSED, DECISION_BY_SHAPE);
    input = good_cell();
    input.arms[DECISION_REPLAY].shape.concurrency++;
    assert_decided(&input, DECISION_REFUSED, DECISION_BY_SHAPE);
}

static void one_run_that_was_not_observed_leaves_no_verdict(void **state)
{
    (void)state;
    static const enum decision_standing others[] = {
        DECISION_UNMEASURED, DECISION_CENSORED, DECISION_FAILED, DECISION_INVALID};
    for (uint32_t i = 0; i < ARRAY_COUNT(others); i++) {
        struct decision_input input = good_cell();
        input.arms[i].runs[i % REPETITIONS].standing = (uint8_t)others[i];
        assert_decided(&input, DECISION_NO_VERDICT, DECISION_BY_STANDING);
        assert_int_equal(judge(&input).side, i);
    }
}

/* PD-7: one request at a time must be seen to be slower. */
static void a_control_of_a_quarter_shows_an_insensitive_instrument(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    set_arm(&input.arms[DECISION_CONTROL], 250000, MS(10));
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_CONTROL);
    set_arm(&input.arms[DECISION_CONTROL], 249999, MS(10));
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
    input.arms[DECISION_CONTROL].run_count = 1;
    input.arms[DECISION_CONTROL].repetitions = 1;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
}

/* PD-8: F1 and F7 are void, F5 and F6 declined. */
static void uneven_keys_void_a_pass_and_no_decline(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.keys_most++;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_KEYS);
    assert_int_equal(judge(&input).by_ratios, DECISION_GENERAL);
    input.keys_most = 100;
    input.keys_least = 0; /* all in one bucket */
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_KEYS);
    set_arm(&input.arms[DECISION_CANDIDATE], 249999, MS(100));
    assert_decided(&input, DECISION_DECLINE, DECISION_BY_THROUGHPUT);
    input = good_cell();
    input.keys_most++;
    input.keys_counted = false;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
}

/* PD-9. */
static void a_limiter_that_held_the_load_back_decides_nothing(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.arms[DECISION_BASELINE].pacing_waits = 1;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_LIMITER);
    assert_int_equal(judge(&input).side, DECISION_BASELINE);
}

/* PD-11: the ratio is printed and not applied, and what it would have said is kept. */
static void an_exemption_lets_throughput_alone_decide(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    input.latency_exempt = true;
    set_arm(&input.arms[DECISION_CANDIDATE], 700000, SECONDS(60));
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_THROUGHPUT_ONLY);
    assert_int_equal(judge(&input).as_written, DECISION_DECLINE);
    assert_int_equal(decision_round(judge(&input).latency, 1), 6000);
    set_arm(&input.arms[DECISION_CANDIDATE], 699999, SECONDS(60));
    assert_decided(&input, DECISION_CONSTRAINED, DECISION_BY_THROUGHPUT_ONLY);
    set_arm(&input.arms[DECISION_CANDIDATE], 249999, MS(1));
    assert_decided(&input, DECISION_DECLINE, DECISION_BY_THROUGHPUT);
}

/* Goal: 13.1, never reorder. Method: a cell in which everything is wrong; each rule is taken away in
 * turn, and the next one decides. */
static void rules_decide_in_their_order(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    struct decision_arm *candidate = &input.arms[DECISION_CANDIDATE];
    struct decision_arm *control = &input.arms[DECISION_CONTROL];
    set_arm(control, 900000, MS(10));
    candidate->miscalibrated = true;
    candidate->pacing_waits = 1;
    candidate->runs[0].throughput = 1200000;
    candidate->read_back = false;
    candidate->errors = 1;
    candidate->repetitions = 2;
    candidate->warmed_up = false;
    candidate->runs[1].standing = DECISION_CENSORED;
    candidate->shape.parallelism++;
    input.arms[DECISION_REPLAY].doubled_effects = 1;
    assert_decided(&input, DECISION_REJECT, DECISION_BY_DOUBLED);
    input.arms[DECISION_REPLAY].doubled_effects = 0;
    input.needs_stage_1 = true;
    assert_decided(&input, DECISION_REFUSED, DECISION_BY_STAGE);
    input.stage_1 = DECISION_CONSTRAINED;
    assert_decided(&input, DECISION_REFUSED, DECISION_BY_SHAPE);
    candidate->shape.parallelism--;
    assert_decided(&input, DECISION_NO_VERDICT, DECISION_BY_STANDING);
    candidate->runs[1].standing = DECISION_OBSERVED;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_WARM_UP);
    candidate->warmed_up = true;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_REPETITIONS);
    candidate->repetitions = 3;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_ERRORS);
    candidate->errors = 0;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_READ_BACK);
    candidate->read_back = true;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_VARIATION);
    candidate->runs[0].throughput = 1000000;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_LIMITER);
    candidate->pacing_waits = 0;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_CONTROL);
    set_arm(control, 1, MS(10));
    control->shape.concurrency = 1;
    assert_decided(&input, DECISION_INCONCLUSIVE, DECISION_BY_CALIBRATION);
    candidate->miscalibrated = false;
    assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
}

static void a_verdict_stands_only_under_other_costs_as_well(void **state)
{
    (void)state;
    struct decision decision = {.verdict = DECISION_GENERAL, .rule = DECISION_BY_GENERAL};
    struct decision others[] = {{.verdict = DECISION_GENERAL}, {.verdict = DECISION_GENERAL}};
    assert_true(decision_confirm(&decision, others, 2));
    assert_int_equal(decision.verdict, DECISION_GENERAL);
    others[1].verdict = DECISION_CONSTRAINED;
    assert_false(decision_confirm(&decision, others, 2));
    assert_int_equal(decision.verdict, DECISION_INCONCLUSIVE);
    assert_int_equal(decision.rule, DECISION_BY_COSTS);
}

/* PD-12. */
static void a_connector_is_judged_only_behind_its_primitive(void **state)
{
    (void)state;
    for (uint32_t verdict = 0; verdict < DECISION_VERDICT_COUNT; verdict++) {
        struct decision_input input = good_cell();
        const bool passes = verdict == DECISION_GENERAL || verdict == DECISION_CONSTRAINED;
        input.stage_1 = (uint8_t)verdict;
        assert_decided(&input, DECISION_GENERAL, DECISION_BY_GENERAL);
        input.needs_stage_1 = true;
        assert_decided(&input,
                       passes ? DECISION_GENERAL : DECISION_REFUSED,
                       passes ? DECISION_BY_GENERAL : DECISION_BY_STAGE);
    }
}

static void ratios_are_exact_and_round_half_up(void **state)
{
    (void)state;
    const struct decision_ratio third = {1, 3};
    assert_int_equal(decision_round(third, 3), 333);
    assert_int_equal(decision_round((struct decision_ratio){2, 3}, 3), 667);
    assert_int_equal(decision_round((struct decision_ratio){5, 1000}, 2), 1);
    assert_int_equal(decision_round((struct decision_ratio){4999, 1000000}, 2), 0);
    assert_int_equal(decision_round((struct decision_ratio){7, 0}, 2), 0);
    /* Products of these do not fit into 64 bits, and floating point would not tell them apart. */
    const uint64_t large = UINT64_C(1) << 59;
    assert_true(decision_at_least((struct decision_ratio){large, large}, 100, 100));
    assert_false(decision_at_least((struct decision_ratio){large - 1, large}, 100, 100));
    assert_false(decision_at_most((struct decision_ratio){large + 1, large}, 100, 100));
    assert_false(decision_at_least((struct decision_ratio){1, 0}, 0, 1));
    assert_false(decision_at_most((struct decision_ratio){0, 0}, 1, 1));
}

static void figures_beyond_exact_arithmetic_are_refused(void **state)
{
    (void)state;
    struct decision_input input = good_cell();
    struct decision decision;
    input.arms[DECISION_BASELINE].runs[0].latency = DECISION_FIGURE_MAX + 1;
    expect_check_failure(decision_make(&input, &decision));
}

TEST_MAIN(decision,
          TEST(general_ends_at_seventy_percent_and_twice_the_latency),
          TEST(constrained_ends_at_a_quarter_and_four_times_the_latency),
          TEST(ratios_are_of_means),
          TEST(an_effect_that_a_replay_doubles_is_rejected_first),
          TEST(effects_doubled_by_the_baseline_do_not_reject),
          TEST(variation_of_ten_percent_passes_and_more_does_not),
          TEST(variation_is_over_all_repetitions_and_of_their_mean),
          TEST(evidence_that_is_not_complete_decides_nothing),
          TEST(an_arm_that_is_missing_decides_nothing_where_it_is_wanted),
          TEST(arms_that_differ_are_not_compared),
          TEST(the_control_differs_in_concurrency_alone),
          TEST(one_run_that_was_not_observed_leaves_no_verdict),
          TEST(a_control_of_a_quarter_shows_an_insensitive_instrument),
          TEST(uneven_keys_void_a_pass_and_no_decline),
          TEST(a_limiter_that_held_the_load_back_decides_nothing),
          TEST(an_exemption_lets_throughput_alone_decide),
          TEST(rules_decide_in_their_order),
          TEST(a_verdict_stands_only_under_other_costs_as_well),
          TEST(a_connector_is_judged_only_behind_its_primitive),
          TEST(ratios_are_exact_and_round_half_up),
          TEST(figures_beyond_exact_arithmetic_are_refused))
