#include "scenarios/gate/verdict.h"

#include "sinks/base/digest.h"

#include <inttypes.h>
#include <string.h>

#define CONTROL_RUNS 1u

/* --- what is wanted ---------------------------------------------------------------------------- */

static struct cell_shape primitive_shape(const struct plan *plan)
{
    return (struct cell_shape){
        .payload_bytes = plan->primitive_payload_bytes,
        .keys = PLAN_KEYS_EVEN,
        .parallelism = 1,
        .concurrency = plan->primitive_concurrency,
        .interval = plan->primitive_interval,
    };
}

static struct cell
cell_of(uint32_t arm, const struct cell_shape *shape, enum cell_purpose purpose, uint32_t variant)
{
    struct cell cell = {
        .arm = arm, .shape = *shape, .purpose = (uint8_t)purpose, .variant = (uint8_t)variant};
    if (purpose == CELL_SERIAL) {
        cell.shape.concurrency = 1;
    }
    return cell;
}

/* The replay of a primitive: a tenth of the submissions made twice; where only the engine's own replays
 * are known for such, restores, whose downtime is no throughput. */
static bool is_replayed_by_restores(const struct plan *plan, uint32_t arm)
{
    return !plan->arms[arm].is_keyed;
}

static struct cell primitive_replay(const struct plan *plan,
                                    uint32_t arm,
                                    const struct cell_shape *shape,
                                    uint32_t variant)
{
    return is_replayed_by_restores(plan, arm) ? cell_of(arm, shape, CELL_CRASHED, COSTS_AS_GIVEN)
                                              : cell_of(arm, shape, CELL_REPEATED, variant);
}

static uint32_t repetitions_of(const struct verdicts *verdicts, uint32_t variant)
{
    return variant == COSTS_AS_GIVEN ? verdicts->repetitions : verdicts->repetitions_varied;
}

void verdict_want_stage_1(struct verdicts *verdicts, const struct plan_candidate *candidate)
{
    const struct cell_shape shape = primitive_shape(verdicts->book->plan);
    struct book *book = verdicts->book;
    for (uint32_t i = 0; i < COSTS_VARIANT_COUNT; i++) {
        const uint32_t count = repetitions_of(verdicts, i);
        const uint32_t primitive = candidate->primitive;
        book_want(book, cell_of(candidate->baseline, &shape, CELL_PRIMITIVE, i), count);
        book_want(book, cell_of(primitive, &shape, CELL_PRIMITIVE, i), count);
        book_want(book,
                  primitive_replay(book->plan, primitive, &shape, i),
                  is_replayed_by_restores(book->plan, primitive) ? 1 : count);
        book_want(book, cell_of(primitive, &shape, CELL_SERIAL, i), CONTROL_RUNS);
    }
}

void verdict_want_cell(struct verdicts *verdicts,
                       const struct plan_candidate *candidate,
                       const struct cell_shape *shape)
{
    struct book *book = verdicts->book;
    for (uint32_t i = 0; i < COSTS_VARIANT_COUNT; i++) {
        const uint32_t count = repetitions_of(verdicts, i);
        book_want(book, cell_of(candidate->baseline, shape, CELL_LOAD, i), count);
        book_want(book, cell_of(candidate->candidate, shape, CELL_LOAD, i), count);
    }
    book_want(book, cell_of(candidate->candidate, shape, CELL_CRASHED, COSTS_AS_GIVEN), 1);
}

/* --- from runs to the rule's input ------------------------------------------------------------- */

static uint32_t skew_of(const struct plan *plan, const struct cell_shape *shape)
{
    return shape->keys == PLAN_KEYS_HOT
               ? plan->hot_share.numerator * 1000 / plan->hot_share.denominator
               : 0;
}

/* An arm of the rule's input from a series; the control's one measurement is enough. */
static void
fill_arm(const struct verdicts *verdicts, const struct cell *cell, struct decision_arm *arm)
{
    const struct book *book = verdicts->book;
    const struct book_series *series = book_find(book, cell);
    CHECK(series != NULL);
    const struct cell *run = &series->cell;
    *arm = (struct decision_arm){
        .given = true,
        .shape = {.payload_bytes = run->shape.payload_bytes,
                  .key_skew = skew_of(book->plan, &run->shape),
                  .parallelism = run->shape.parallelism,
                  .concurrency = run->shape.concurrency,
                  .checkpoint_interval = run->shape.interval,
                  .capacity = cell_load_digest(&book->varied[run->variant], run)},
        .run_count = series->count,
        .repetitions = series->count,
        .warmed_up = run->warm_up > 0,
        .read_back = true,
        .miscalibrated = verdicts->miscalibrated[run->arm],
    };
    for (uint32_t i = 0; i < series->count; i++) {
        const struct observation *observed = &book->observations[series->first + i];
        arm->runs[i] =
            (struct decision_run){observed->standing, observed->throughput, observed->p95};
        arm->read_back = arm->read_back && observed->missing == 0;
        arm->errors += observed->errors;
        arm->doubled_effects += observed->doubled;
    }
}

/* Effects that the candidate doubled without any replay are no better. */
static void
move_doubled(const struct verdicts *verdicts, uint32_t arm, struct decision_input *input)
{
    struct decision_arm *candidate = &input->arms[DECISION_CANDIDATE];
    struct decision_arm *replay = &input->arms[DECISION_REPLAY];
    replay->doubled_effects += candidate->doubled_effects;
    if (!verdicts->book->plan->arms[arm].is_protected) {
        replay->doubled_effects = 0;
    }
}

/* Of a replay by restores: its downtime is no throughput (13.5), and its load is its own. */
static void ask_for_correctness_alone(struct decision_input *input)
{
    struct decision_arm *replay = &input->arms[DECISION_REPLAY];
    replay->repetitions = input->repetitions_least;
    replay->shape = input->arms[DECISION_CANDIDATE].shape;
}

static struct decision_input stage_1_input(const struct verdicts *verdicts,
                                           const struct plan_candidate *candidate,
                                           uint32_t variant)
{
    const struct cell_shape shape = primitive_shape(verdicts->book->plan);
    const uint32_t primitive = candidate->primitive;
    struct decision_input input = {
        .repetitions_least = 3,
        .replay_wanted = true,
        .control_wanted = true,
        .keys_counted = true,
        .keys_most = verdicts->keys.most,
        .keys_least = verdicts->keys.least,
    };
    const struct cell cells[DECISION_SIDE_COUNT] = {
        cell_of(candidate->baseline, &shape, CELL_PRIMITIVE, variant),
        cell_of(primitive, &shape, CELL_PRIMITIVE, variant),
        primitive_replay(verdicts->book->plan, primitive, &shape, variant),
        cell_of(primitive, &shape, CELL_SERIAL, variant),
    };
    for (uint32_t i = 0; i < DECISION_SIDE_COUNT; i++) {
        fill_arm(verdicts, &cells[i], &input.arms[i]);
    }
    /* As much as the service takes is offered to each: that the control is offered fewer records is
     * its concurrency's. */
    input.arms[DECISION_CONTROL].shape.capacity = input.arms[DECISION_BASELINE].shape.capacity;
    if (is_replayed_by_restores(verdicts->book->plan, primitive)) {
        ask_for_correctness_alone(&input);
    }
    move_doubled(verdicts, primitive, &input);
    return input;
}

static struct decision_input cell_input(const struct verdicts *verdicts,
                                        const struct plan_candidate *candidate,
                                        uint8_t stage_1,
                                        const struct cell_shape *shape,
                                        uint32_t variant)
{
    struct decision_input input = {
        .repetitions_least = 3,
        .replay_wanted = true,
        .needs_stage_1 = candidate->exempt_stage_1[0] == '\0',
        .stage_1 = stage_1,
        .latency_exempt = candidate->exempt_latency[0] != '\0',
        .keys_counted = shape->keys == PLAN_KEYS_EVEN,
        .keys_most = verdicts->keys.most,
        .keys_least = verdicts->keys.least,
    };
    const struct cell baseline = cell_of(candidate->baseline, shape, CELL_LOAD, variant);
    const struct cell mine = cell_of(candidate->candidate, shape, CELL_LOAD, variant);
    const struct cell crashed = cell_of(candidate->candidate, shape, CELL_CRASHED, COSTS_AS_GIVEN);
    fill_arm(verdicts, &baseline, &input.arms[DECISION_BASELINE]);
    fill_arm(verdicts, &mine, &input.arms[DECISION_CANDIDATE]);
    fill_arm(verdicts, &crashed, &input.arms[DECISION_REPLAY]);
    ask_for_correctness_alone(&input);
    move_doubled(verdicts, candidate->candidate, &input);
    return input;
}

/* --- records ----------------------------------------------------------------------------------- */

static void
fill_runs(const struct book *book, const struct book_series *series, struct report_gate_arm *arm)
{
    struct report_gate_run *runs = text_memory(book->texts, series->count, sizeof *runs);
    uint64_t observed_count = 0;
    for (uint32_t i = 0; i < series->count; i++) {
        const struct observation *observed = &book->observations[series->first + i];
        runs[i] = (struct report_gate_run){
            .seed = book->cells[series->first + i].seed,
            .standing = decision_standing_name(observed->standing),
            .cause = observed->cause,
            .throughput = observed->throughput,
            .p50 = observed->p50,
            .p95 = observed->p95,
            .p99 = observed->p99,
            .wait_p95 = observed->wait_p95,
            .drain_p95 = observed->drain_p95,
            .digest = observed->digest,
        };
        arm->again += observed->again;
        arm->doubled += observed->doubled;
        if (observed->standing == DECISION_OBSERVED) {
            observed_count++;
            arm->throughput += observed->throughput;
            arm->p95 += observed->p95;
            arm->wait_p95 += observed->wait_p95;
            arm->drain_p95 += observed->drain_p95;
        }
    }
    const uint64_t divisor = observed_count > 0 ? observed_count : 1;
    arm->throughput /= divisor;
    arm->p95 /= divisor;
    arm->wait_p95 /= divisor;
    arm->drain_p95 /= divisor;
    arm->runs = runs;
    arm->run_count = series->count;
}

static void add_arm(const struct verdicts *verdicts,
                    const struct decision *decision,
                    enum decision_side side,
                    struct cell run,
                    struct report_gate_cell *cell)
{
    const struct book *book = verdicts->book;
    const struct book_series *series = book_find(book, &run);
    CHECK(series != NULL);
    CHECK(cell->arm_count < REPORT_GATE_ARM_MAX);
    struct report_gate_arm *arm = &cell->arms[cell->arm_count];
    *arm = (struct report_gate_arm){
        .side = decision_side_name(side),
        .name = book->plan->arms[run.arm].name,
        .variation = decision_round(decision->variation[side], 3),
    };
    fill_runs(book, series, arm);
    cell->arm_count++;
    if (side == DECISION_BASELINE) {
        cell->offered = cell_offered(&series->cell);
        cell->at_ceiling = series->cell.at_ceiling;
    }
}

/* The first run of a cell that was not observed, in words. */
static const char *first_unobserved(const struct verdicts *verdicts,
                                    const struct report_gate_cell *cell)
{
    for (size_t i = 0; i < cell->arm_count; i++) {
        for (size_t k = 0; k < cell->arms[i].run_count; k++) {
            const struct report_gate_run *run = &cell->arms[i].runs[k];
            if (strcmp(run->standing, decision_standing_name(DECISION_OBSERVED)) != 0) {
                return text_format(verdicts->book->texts,
                                   "%s, seed %" PRIu64 ": %s: %s",
                                   cell->arms[i].side,
                                   run->seed,
                                   run->standing,
                                   run->cause);
            }
        }
    }
    return "a run under other costs was not observed";
}

static void fill_shape(const struct verdicts *verdicts,
                       const struct cell_shape *shape,
                       struct report_gate_cell *cell)
{
    *cell = (struct report_gate_cell){
        .shape = text_format(verdicts->book->texts,
                             "%" PRIu32 " B, %s keys, %" PRIu32 " x %" PRIu32 ", %" PRIu64 " s",
                             shape->payload_bytes,
                             plan_keys_name(shape->keys),
                             shape->parallelism,
                             shape->concurrency,
                             shape->interval / NANOS_PER_S),
        .payload_bytes = shape->payload_bytes,
        .keys = plan_keys_name(shape->keys),
        .parallelism = shape->parallelism,
        .concurrency = shape->concurrency,
        .interval_s = shape->interval / NANOS_PER_S,
        .verdict = decision_verdict_name(DECISION_NO_VERDICT),
        .rule = decision_rule_name(DECISION_BY_NOTHING),
        .clause = "",
        .reason = "",
        .as_written = "",
        .varied = "",
    };
}

static void fill_verdict(const struct verdicts *verdicts,
                         const struct decision *decision,
                         uint8_t expected,
                         struct report_gate_cell *cell)
{
    const bool speaks_of_one = decision->rule < DECISION_BY_THROUGHPUT_ONLY;
    cell->verdict = decision_verdict_name(decision->verdict);
    cell->rule = decision_rule_name(decision->rule);
    cell->clause = decision_rule_clause(decision->rule);
    cell->as_written = decision_verdict_name(decision->as_written);
    cell->throughput_ratio = decision_round(decision->throughput, 3);
    cell->latency_ratio = decision_round(decision->latency, 2);
    cell->has_ratios = decision->verdict != DECISION_NO_VERDICT;
    cell->as_expected = decision->verdict == expected || decision->verdict == DECISION_NO_VERDICT;
    cell->reason = decision->rule == DECISION_BY_STANDING
                       ? first_unobserved(verdicts, cell)
                       : text_format(verdicts->book->texts,
                                     "%s%s%s",
                                     speaks_of_one ? decision_side_name(decision->side) : "",
                                     speaks_of_one ? ": " : "",
                                     decision_rule_sentence(decision->rule));
}

/* Whether the verdict stands under other costs; what they say goes into the record. */
static void confirm(const struct verdicts *verdicts,
                    struct decision *decision,
                    const struct decision others[COSTS_VARIANT_COUNT - 1],
                    struct report_gate_cell *cell)
{
    const bool is_to_stand = decision->verdict == DECISION_GENERAL ||
                             decision->verdict == DECISION_CONSTRAINED ||
                             decision->verdict == DECISION_DECLINE;
    const char *words = "";
    for (uint32_t i = 1; i < COSTS_VARIANT_COUNT; i++) {
        if (others[i - 1].verdict != decision->verdict) {
            words = text_format(verdicts->book->texts,
                                "%s%s%s: %s",
                                words,
                                words[0] == '\0' ? "" : ", ",
                                costs_variant_name(i),
                                decision_verdict_name(others[i - 1].verdict));
        }
    }
    cell->varied = words[0] == '\0' ? "the same" : words;
    if (is_to_stand) {
        (void)decision_confirm(decision, others, COSTS_VARIANT_COUNT - 1);
    }
}

uint8_t verdict_stage_1(struct verdicts *verdicts,
                        const struct plan_candidate *candidate,
                        struct report_gate_cell *cell)
{
    const struct cell_shape shape = primitive_shape(verdicts->book->plan);
    struct decision decisions[COSTS_VARIANT_COUNT];
    const uint32_t primitive = candidate->primitive;
    for (uint32_t i = 0; i < COSTS_VARIANT_COUNT; i++) {
        const struct decision_input input = stage_1_input(verdicts, candidate, i);
        decision_make(&input, &decisions[i]);
    }
    fill_shape(verdicts, &shape, cell);
    const struct cell cells[DECISION_SIDE_COUNT] = {
        cell_of(candidate->baseline, &shape, CELL_PRIMITIVE, 0),
        cell_of(primitive, &shape, CELL_PRIMITIVE, 0),
        primitive_replay(verdicts->book->plan, primitive, &shape, 0),
        cell_of(primitive, &shape, CELL_SERIAL, 0),
    };
    for (uint32_t i = 0; i < DECISION_SIDE_COUNT; i++) {
        add_arm(verdicts, &decisions[0], (enum decision_side)i, cells[i], cell);
    }
    cell->offered = 0; /* as much as is taken */
    confirm(verdicts, &decisions[0], &decisions[1], cell);
    fill_verdict(verdicts, &decisions[0], candidate->expected_stage_1, cell);
    return decisions[0].verdict;
}

uint8_t verdict_cell(struct verdicts *verdicts,
                     const struct plan_candidate *candidate,
                     uint8_t stage_1,
                     const struct cell_shape *shape,
                     struct report_gate_cell *cell)
{
    struct decision decisions[COSTS_VARIANT_COUNT];
    for (uint32_t i = 0; i < COSTS_VARIANT_COUNT; i++) {
        const struct decision_input input = cell_input(verdicts, candidate, stage_1, shape, i);
        decision_make(&input, &decisions[i]);
    }
    fill_shape(verdicts, shape, cell);
    add_arm(verdicts,
            &decisions[0],
            DECISION_BASELINE,
            cell_of(candidate->baseline, shape, CELL_LOAD, 0),
            cell);
    add_arm(verdicts,
            &decisions[0],
            DECISION_CANDIDATE,
            cell_of(candidate->candidate, shape, CELL_LOAD, 0),
            cell);
    add_arm(verdicts,
            &decisions[0],
            DECISION_REPLAY,
            cell_of(candidate->candidate, shape, CELL_CRASHED, 0),
            cell);
    confirm(verdicts, &decisions[0], &decisions[1], cell);
    fill_verdict(verdicts, &decisions[0], candidate->expected_stage_2, cell);
    return decisions[0].verdict;
}

/* --- what is left out -------------------------------------------------------------------------- */

const char *verdict_unmeasured(const struct plan *plan,
                               const struct plan_candidate *candidate,
                               const struct cell_shape *shape)
{
    const char *why = plan->arms[candidate->baseline].hot_keys;
    if (shape->keys != PLAN_KEYS_HOT) {
        return "";
    }
    return why[0] != '\0' ? why : plan->arms[candidate->candidate].hot_keys;
}

void verdict_leave_out(struct verdicts *verdicts,
                       const struct cell_shape *shape,
                       const char *why,
                       struct report_gate_cell *cell)
{
    fill_shape(verdicts, shape, cell);
    cell->rule = decision_standing_name(DECISION_UNMEASURED);
    cell->reason = why;
    cell->as_expected = true;
}

uint64_t verdict_digest(const struct book *book)
{
    uint64_t digest = book->costs->digest;
    for (uint32_t i = 0; i < book->run_count; i++) {
        const struct observation *observed = &book->observations[i];
        digest = digest_fold(digest, observed->digest);
        digest = digest_fold(digest, observed->standing);
        digest = digest_fold(digest, observed->throughput);
        digest = digest_fold(digest, observed->p95);
        digest = digest_fold(digest, observed->doubled);
    }
    return digest;
}
