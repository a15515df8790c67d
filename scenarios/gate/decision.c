#include "scenarios/gate/decision.h"

#define VARIATION_MAX_PERCENT 10u
#define CONTROL_BELOW_PERCENT 25u

/* Thresholds of 13.2; boundaries are inclusive as written. */
#define GENERAL_THROUGHPUT_PERCENT     70u
#define GENERAL_LATENCY_TIMES          2u
#define CONSTRAINED_THROUGHPUT_PERCENT 25u
#define CONSTRAINED_LATENCY_TIMES      4u

/* Of buckets of keys (13.4): most / least <= 12 / 10. */
#define KEYS_MOST_NUMERATOR   12u
#define KEYS_MOST_DENOMINATOR 10u

/* --- whole numbers ----------------------------------------------------------------------------- */

/* High and low half of a product of 64 by 32 bits. */
struct wide {
    uint64_t high;
    uint64_t low;
};

static struct wide multiply(uint64_t a, uint64_t factor)
{
    CHECK(factor <= UINT32_MAX);
    const uint64_t low = (a & UINT32_MAX) * factor;
    const uint64_t high = (a >> 32) * factor + (low >> 32);
    return (struct wide){high >> 32, high << 32 | (low & UINT32_MAX)};
}

static int compare(struct wide a, struct wide b)
{
    if (a.high != b.high) {
        return a.high < b.high ? -1 : 1;
    }
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

bool decision_at_least(struct decision_ratio a, uint64_t numerator, uint64_t denominator)
{
    return a.denominator > 0 &&
           compare(multiply(a.numerator, denominator), multiply(a.denominator, numerator)) >= 0;
}

bool decision_at_most(struct decision_ratio a, uint64_t numerator, uint64_t denominator)
{
    return a.denominator > 0 &&
           compare(multiply(a.numerator, denominator), multiply(a.denominator, numerator)) <= 0;
}

/* Digit by digit, as on paper: the remainder is below the denominator, so that ten of it fit. */
uint64_t decision_round(struct decision_ratio a, uint32_t decimals)
{
    CHECK(decimals <= 6);
    if (a.denominator == 0) {
        return 0;
    }
    CHECK(a.denominator < UINT64_C(1) << 60);
    uint64_t value = a.numerator / a.denominator;
    uint64_t rest = a.numerator % a.denominator;
    for (uint32_t i = 0; i < decimals; i++) {
        value = value * 10 + rest * 10 / a.denominator;
        rest = rest * 10 % a.denominator;
    }
    return value + (rest * 2 >= a.denominator ? 1 : 0);
}

/* --- arms -------------------------------------------------------------------------------------- */

struct sums {
    uint64_t throughput;
    uint64_t latency;
    uint64_t throughput_most;
    uint64_t throughput_least;
};

static struct sums sums_of(const struct decision_arm *arm)
{
    struct sums sums = {.throughput_least = arm->run_count > 0 ? UINT64_MAX : 0};
    CHECK(arm->run_count <= DECISION_RUN_MAX);
    for (uint32_t i = 0; i < arm->run_count; i++) {
        const struct decision_run *run = &arm->runs[i];
        CHECK(run->throughput <= DECISION_FIGURE_MAX);
        CHECK(run->latency <= DECISION_FIGURE_MAX);
        sums.throughput += run->throughput;
        sums.latency += run->latency;
        if (run->throughput > sums.throughput_most) {
            sums.throughput_most = run->throughput;
        }
        if (run->throughput < sums.throughput_least) {
            sums.throughput_least = run->throughput;
        }
    }
    return sums;
}

/* The ratio of two means: each sum times the other's count. */
static struct decision_ratio
ratio_of_means(uint64_t a, uint32_t a_count, uint64_t b, uint32_t b_count)
{
    return (struct decision_ratio){a * b_count, b * a_count};
}

static void find_ratios(const struct decision_input *input, struct decision *decision)
{
    struct sums sums[DECISION_SIDE_COUNT];
    for (uint32_t i = 0; i < DECISION_SIDE_COUNT; i++) {
        const struct decision_arm *arm = &input->arms[i];
        sums[i] = sums_of(arm);
        decision->variation[i] = (struct decision_ratio){
            (sums[i].throughput_most - sums[i].throughput_least) * arm->run_count,
            sums[i].throughput};
    }
    const uint32_t candidates = input->arms[DECISION_CANDIDATE].run_count;
    const uint32_t baselines = input->arms[DECISION_BASELINE].run_count;
    decision->throughput = ratio_of_means(sums[DECISION_CANDIDATE].throughput,
                                          candidates,
                                          sums[DECISION_BASELINE].throughput,
                                          baselines);
    decision->latency = ratio_of_means(
        sums[DECISION_CANDIDATE].latency, candidates, sums[DECISION_BASELINE].latency, baselines);
    decision->control = ratio_of_means(sums[DECISION_CONTROL].throughput,
                                       input->arms[DECISION_CONTROL].run_count,
                                       sums[DECISION_CANDIDATE].throughput,
                                       candidates);
}

static bool shapes_are_equal(const struct decision_shape *a, const struct decision_shape *b)
{
    return a->payload_bytes == b->payload_bytes && a->key_skew == b->key_skew &&
           a->parallelism == b->parallelism && a->concurrency == b->concurrency &&
           a->capacity == b->capacity && a->checkpoint_interval == b->checkpoint_interval;
}

/* --- the rules, in their order ----------------------------------------------------------------- */

/* A rule looks at one arm and says whether it decides against the cell. */
typedef bool arm_rule(const struct decision_input *input,
                      const struct decision *decision,
                      enum decision_side side);

static const struct decision_arm *arm_of(const struct decision_input *input,
                                         enum decision_side side)
{
    return &input->arms[side];
}

/* (1) Correctness first: any effect that a replay doubled, at whatever speed (PD-1). */
static bool is_doubled(const struct decision_input *input,
                       const struct decision *decision,
                       enum decision_side side)
{
    (void)decision;
    return side == DECISION_REPLAY && arm_of(input, side)->doubled_effects > 0;
}

/* A connector is judged only behind its primitive, unless it is exempt (PD-12). */
static bool lacks_stage_1(const struct decision_input *input,
                          const struct decision *decision,
                          enum decision_side side)
{
    (void)decision;
    return side == DECISION_CANDIDATE && input->needs_stage_1 &&
           input->stage_1 != DECISION_GENERAL && input->stage_1 != DECISION_CONSTRAINED;
}

/* The control has a concurrency of its own, that is what it is. */
static bool is_of_another_shape(const struct decision_input *input,
                                const struct decision *decision,
                                enum decision_side side)
{
    (void)decision;
    struct decision_shape shape = arm_of(input, side)->shape;
    const struct decision_shape *wanted = &arm_of(input, DECISION_BASELINE)->shape;
    if (side == DECISION_CONTROL) {
        shape.concurrency = wanted->concurrency;
    }
    return arm_of(input, side)->given && !shapes_are_equal(&shape, wanted);
}

static bool is_not_observed(const struct decision_input *input,
                            const struct decision *decision,
                            enum decision_side side)
{
    (void)decision;
    const struct decision_arm *arm = arm_of(input, side);
    for (uint32_t i = 0; i < arm->run_count; i++) {
        if (arm->runs[i].standing != DECISION_OBSERVED) {
            return true;
        }
    }
    return false;
}

static bool is_missing(const struct decision_input *input,
                       const struct decision *decision,
                       enum decision_side side)
{
    (void)decision;
    const bool wanted = side == DECISION_REPLAY    ? input->replay_wanted
                        : side == DECISION_CONTROL ? input->control_wanted
                                                   : true;
    return wanted && (!arm_of(input, side)->given || arm_of(input, side)->run_count == 0);
}

static bool is_cold(const struct decision_input *input,
                    const struct decision *decision,
                    enum decision_side side)
{
    (void)decision;
    return arm_of(input, side)->given && !arm_of(input, side)->warmed_up;
}

/* The control is one measurement, which may be made once. */
static bool has_too_few(const struct decision_input *input,
                        const struct decision *decision,
                        enum decision_side side)
{
    (void)decision;
    return side != DECISION_CONTROL && arm_of(input, side)->given &&
           arm_of(input, side)->repetitions < input->repetitions_least;
}

static bool has_errors(const struct decision_input *input,
                       const struct decision *decision,
                       enum decision_side side)
{
    (void)decision;
    return arm_of(input, side)->errors > 0;
}

static bool is_not_read_back(const struct decision_input *input,
                             const struct decision *decision,
                             enum decision_side side)
{
    (void)decision;
    return arm_of(input, side)->given && !arm_of(input, side)->read_back;
}

/* Exactly 10 % passes (13.3). */
static bool
varies(const struct decision_input *input, const struct decision *decision, enum decision_side side)
{
    return side != DECISION_CONTROL && arm_of(input, side)->given &&
           !decision_at_most(decision->variation[side], VARIATION_MAX_PERCENT, 100);
}

static bool was_held_back(const struct decision_input *input,
                          const struct decision *decision,
                          enum decision_side side)
{
    (void)decision;
    return arm_of(input, side)->pacing_waits > 0;
}

/* A control that reaches a quarter of the candidate shows an instrument that sees nothing (13.4). */
static bool is_insensitive(const struct decision_input *input,
                           const struct decision *decision,
                           enum decision_side side)
{
    return side == DECISION_CONTROL && arm_of(input, side)->given &&
           decision_at_least(decision->control, CONTROL_BELOW_PERCENT, 100);
}

static bool is_miscalibrated(const struct decision_input *input,
                             const struct decision *decision,
                             enum decision_side side)
{
    (void)decision;
    return arm_of(input, side)->miscalibrated;
}

static const struct {
    arm_rule *breaks;
    uint8_t rule;
    uint8_t verdict;
} rules[] = {
    {is_doubled, DECISION_BY_DOUBLED, DECISION_REJECT},
    {lacks_stage_1, DECISION_BY_STAGE, DECISION_REFUSED},
    {is_of_another_shape, DECISION_BY_SHAPE, DECISION_REFUSED},
    {is_not_observed, DECISION_BY_STANDING, DECISION_NO_VERDICT},
    {is_missing, DECISION_BY_MISSING_ARM, DECISION_INCONCLUSIVE},
    {is_cold, DECISION_BY_WARM_UP, DECISION_INCONCLUSIVE},
    {has_too_few, DECISION_BY_REPETITIONS, DECISION_INCONCLUSIVE},
    {has_errors, DECISION_BY_ERRORS, DECISION_INCONCLUSIVE},
    {is_not_read_back, DECISION_BY_READ_BACK, DECISION_INCONCLUSIVE},
    {varies, DECISION_BY_VARIATION, DECISION_INCONCLUSIVE},
    {was_held_back, DECISION_BY_LIMITER, DECISION_INCONCLUSIVE},
    {is_insensitive, DECISION_BY_CONTROL, DECISION_INCONCLUSIVE},
    {is_miscalibrated, DECISION_BY_CALIBRATION, DECISION_INCONCLUSIVE},
};

/* The thresholds of 13.2. */
static uint8_t judge_ratios(const struct decision *decision, bool latency_exempt, uint8_t *rule)
{
    const struct decision_ratio throughput = decision->throughput;
    const struct decision_ratio latency = decision->latency;
    if (decision_at_least(throughput, GENERAL_THROUGHPUT_PERCENT, 100) &&
        (latency_exempt || decision_at_most(latency, GENERAL_LATENCY_TIMES, 1))) {
        *rule = latency_exempt ? DECISION_BY_THROUGHPUT_ONLY : DECISION_BY_GENERAL;
        return DECISION_GENERAL;
    }
    const bool reaches = decision_at_least(throughput, CONSTRAINED_THROUGHPUT_PERCENT, 100);
    if (reaches && (latency_exempt || decision_at_most(latency, CONSTRAINED_LATENCY_TIMES, 1))) {
        *rule = latency_exempt ? DECISION_BY_THROUGHPUT_ONLY : DECISION_BY_CONSTRAINED;
        return DECISION_CONSTRAINED;
    }
    *rule = reaches ? DECISION_BY_LATENCY : DECISION_BY_THROUGHPUT;
    return DECISION_DECLINE;
}

static bool keys_are_even(const struct decision_input *input)
{
    const struct decision_ratio spread = {input->keys_most, input->keys_least};
    return !input->keys_counted ||
           decision_at_most(spread, KEYS_MOST_NUMERATOR, KEYS_MOST_DENOMINATOR);
}

void decision_make(const struct decision_input *input, struct decision *decision)
{
    *decision = (struct decision){0};
    uint8_t rule = DECISION_BY_NOTHING;
    find_ratios(input, decision);
    decision->as_written = judge_ratios(decision, false, &rule);
    decision->by_ratios = judge_ratios(decision, input->latency_exempt, &rule);
    for (uint32_t i = 0; i < ARRAY_COUNT(rules); i++) {
        for (uint32_t side = 0; side < DECISION_SIDE_COUNT; side++) {
            if (rules[i].breaks(input, decision, (enum decision_side)side)) {
                decision->verdict = rules[i].verdict;
                decision->rule = rules[i].rule;
                decision->side = (uint8_t)side;
                return;
            }
        }
    }
    decision->verdict = decision->by_ratios;
    decision->rule = rule;
    decision->side = DECISION_CANDIDATE;
    /* Keys in sequence land in one place and flatter nobody who is too slow all the same: they void a
     * pass, never a decline (F1 and F7 against F5 and F6 of 13.8). */
    if (decision->by_ratios != DECISION_DECLINE && !keys_are_even(input)) {
        decision->verdict = DECISION_INCONCLUSIVE;
        decision->rule = DECISION_BY_KEYS;
    }
}

bool decision_confirm(struct decision *decision, const struct decision *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (others[i].verdict != decision->verdict) {
            decision->verdict = DECISION_INCONCLUSIVE;
            decision->rule = DECISION_BY_COSTS;
            return false;
        }
    }
    return true;
}

/* --- names ------------------------------------------------------------------------------------- */

const char *decision_verdict_name(uint32_t verdict)
{
    static const char *const names[DECISION_VERDICT_COUNT] = {
        "no verdict", "GENERAL", "CONSTRAINED", "DECLINE", "REJECT", "INCONCLUSIVE", "REFUSED"};
    CHECK(verdict < DECISION_VERDICT_COUNT);
    return names[verdict];
}

const char *decision_standing_name(uint32_t standing)
{
    static const char *const names[DECISION_STANDING_COUNT] = {
        "UNMEASURED", "OBSERVED", "CENSORED", "FAILED", "INVALID"};
    CHECK(standing < DECISION_STANDING_COUNT);
    return names[standing];
}

const char *decision_side_name(uint32_t side)
{
    static const char *const names[DECISION_SIDE_COUNT] = {
        "baseline", "candidate", "replay", "control"};
    CHECK(side < DECISION_SIDE_COUNT);
    return names[side];
}

static const struct {
    const char *name;
    const char *clause;
    const char *sentence;
} rule_words[DECISION_RULE_COUNT] = {
#define X(constant, name, clause, sentence) {name, clause, sentence},
    DECISION_RULES(X)
#undef X
};

const char *decision_rule_name(uint32_t rule)
{
    CHECK(rule < DECISION_RULE_COUNT);
    return rule_words[rule].name;
}

const char *decision_rule_clause(uint32_t rule)
{
    CHECK(rule < DECISION_RULE_COUNT);
    return rule_words[rule].clause;
}

const char *decision_rule_sentence(uint32_t rule)
{
    CHECK(rule < DECISION_RULE_COUNT);
    return rule_words[rule].sentence;
}
