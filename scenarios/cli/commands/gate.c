/* gate: is a candidate fast enough to take the place of its current path? The performance decision rule
 * (scenarios/gate/decision.h) over simulated cells, and over the data sets that were published.
 *
 *   calibration  each arm against a service that costs nothing, and one that costs a known time
 *   stage 1      the candidate's primitive against the current path: as much as the service takes, with
 *                a replay of a tenth and a control of one request at a time
 *   stage 2      the connector in each cell of the grid: an open loop at a rate that the current path
 *                carries, latencies from intended arrival, and a run with restores for correctness
 *
 * Each verdict is asked for again with latencies, and with processor time, halved and doubled. */
#include "reports/gate.h"

#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/plots/gate_plots.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/session.h"
#include "scenarios/gate/cases.h"
#include "scenarios/gate/verdict.h"
#include "sim/engine/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_DEFAULT      "region"
#define HANG_AFTER_DEFAULT MINUTES(5)

struct gate {
    struct session *session;
    struct plan plan;
    struct costs costs;
    struct book book;
    struct verdicts verdicts;
    const struct plan_grid *grid; /* what is asked for */
    struct plan_grid one;         /* of --cell */
    const struct plan_candidate *chosen[PLAN_CANDIDATE_MAX];
    uint32_t chosen_count;
    uint8_t stage_1[PLAN_CANDIDATE_MAX];
    struct report_gate report;
    struct report_gate_candidate candidates[PLAN_CANDIDATE_MAX];
    struct report_gate_calibration calibrations[PLAN_ARM_MAX];
};

/* --- what is asked for ------------------------------------------------------------------------- */

static bool is_published_only(const struct options *options)
{
    return options->argument_count == 1 && strcmp(options->arguments[0], "published") == 0;
}

static enum status choose_candidates(struct gate *gate)
{
    const struct options *options = gate->session->options;
    if (is_published_only(options)) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < options->argument_count; i++) {
        const uint32_t found = plan_find_candidate(&gate->plan, options->arguments[i]);
        if (found == PLAN_CANDIDATE_MAX || gate->chosen_count == PLAN_CANDIDATE_MAX) {
            const char *allowed = "published";
            for (uint32_t k = 0; k < gate->plan.candidate_count; k++) {
                allowed = text_format(
                    &gate->session->texts, "%s, %s", allowed, gate->plan.candidates[k].name);
            }
            complain("gate \"%s\": no such candidate; allowed: %s", options->arguments[i], allowed);
            return STATUS_USAGE;
        }
        gate->chosen[gate->chosen_count++] = &gate->plan.candidates[found];
    }
    for (uint32_t i = 0; options->argument_count == 0 && i < gate->plan.candidate_count; i++) {
        gate->chosen[gate->chosen_count++] = &gate->plan.candidates[i];
    }
    return STATUS_OK;
}

static enum status set_repetitions(struct gate *gate)
{
    const struct options *options = gate->session->options;
    const bool is_quick = option_is_given(options, OPTION_BIT(QUICK));
    struct verdicts *verdicts = &gate->verdicts;
    verdicts->repetitions = is_quick ? gate->plan.quick_repetitions : gate->plan.repetitions;
    if (option_is_given(options, OPTION_BIT(SEEDS))) {
        const uint64_t count = options->seeds.last - options->seeds.first + 1;
        if (count > DECISION_RUN_MAX || options->seeds.last < options->seeds.first) {
            complain("gate: --seeds: %" PRIu64 " repetitions; allowed: 1 to %u",
                     count,
                     DECISION_RUN_MAX);
            return STATUS_USAGE;
        }
        gate->book.seed_first = options->seeds.first;
        verdicts->repetitions = (uint32_t)count;
    }
    verdicts->repetitions_varied = verdicts->repetitions < gate->plan.repetitions_varied
                                       ? verdicts->repetitions
                                       : gate->plan.repetitions_varied;
    return STATUS_OK;
}

/* "1024,even,4,16,10": a grid of one cell. */
static enum status set_cell(struct gate *gate)
{
    const char *text = gate->session->options->cell;
    struct plan_grid *one = &gate->one;
    uint64_t numbers[5] = {0};
    char *end = NULL;
    bool is_good = true;
    const char *at = text;
    for (uint32_t i = 0; i < ARRAY_COUNT(numbers) && is_good; i++) {
        const bool is_keys = i == 1;
        const size_t size = strcspn(at, ",");
        is_good = (i + 1 < ARRAY_COUNT(numbers)) == (at[size] == ',') && size > 0 && size < 8;
        if (is_keys) {
            const bool is_hot = strncmp(at, plan_keys_name(PLAN_KEYS_HOT), size) == 0;
            numbers[i] = is_hot ? PLAN_KEYS_HOT : PLAN_KEYS_EVEN;
            is_good = is_good && (is_hot || strncmp(at, plan_keys_name(PLAN_KEYS_EVEN), size) == 0);
        } else {
            numbers[i] = strtoull(at, &end, 10);
            is_good = is_good && at[0] >= '0' && at[0] <= '9' && end == at + size;
        }
        at += size + (at[size] == ',' ? 1 : 0);
    }
    if (!is_good || numbers[0] < 16 || numbers[0] > 2000000 || numbers[2] < 1 ||
        numbers[2] > JOB_SUBTASK_MAX || numbers[3] < 1 || numbers[3] > 1000 || numbers[4] < 1 ||
        numbers[4] > 3600) {
        complain(
            "gate: --cell \"%s\": allowed: B,K,P,C,S with B from 16 to 2000000, K even or hot, "
            "P from 1 to %d, C from 1 to 1000, S from 1 to 3600",
            text,
            JOB_SUBTASK_MAX);
        return STATUS_USAGE;
    }
    *one = (struct plan_grid){.payload_bytes = {(uint32_t)numbers[0]},
                              .payload_count = 1,
                              .keys = {(uint32_t)numbers[1]},
                              .keys_count = 1,
                              .parallelism = {(uint32_t)numbers[2]},
                              .parallelism_count = 1,
                              .concurrency = {(uint32_t)numbers[3]},
                              .concurrency_count = 1,
                              .intervals = {SECONDS(numbers[4])},
                              .interval_count = 1};
    gate->grid = one;
    return STATUS_OK;
}

static enum status open_gate(struct gate *gate, struct session *session)
{
    const struct options *options = session->options;
    const bool is_quick = option_is_given(options, OPTION_BIT(QUICK));
    gate->session = session;
    enum status status = plan_open(&session->texts, &gate->plan);
    if (status == STATUS_OK) {
        status = costs_read(
            &session->texts, options->costs == NULL ? COSTS_DEFAULT : options->costs, &gate->costs);
    }
    if (status == STATUS_OK) {
        status = choose_candidates(gate);
    }
    book_init(&gate->book, &session->texts, &gate->plan, &gate->costs);
    gate->verdicts.book = &gate->book;
    gate->grid = is_quick ? &gate->plan.quick : &gate->plan.grid;
    gate->book.ceiling_per_s = is_quick ? gate->plan.quick_ceiling_per_s : gate->plan.ceiling_per_s;
    if (status == STATUS_OK) {
        status = set_repetitions(gate);
    }
    return status == STATUS_OK && options->cell != NULL ? set_cell(gate) : status;
}

/* The cells of a grid, one after another: false behind the last one. */
static bool grid_shape(const struct plan_grid *grid, uint32_t index, struct cell_shape *shape)
{
    uint32_t rest = index;
    const uint32_t interval = rest % grid->interval_count;
    rest /= grid->interval_count;
    const uint32_t concurrency = rest % grid->concurrency_count;
    rest /= grid->concurrency_count;
    const uint32_t parallelism = rest % grid->parallelism_count;
    rest /= grid->parallelism_count;
    const uint32_t keys = rest % grid->keys_count;
    rest /= grid->keys_count;
    if (rest >= grid->payload_count) {
        return false;
    }
    *shape = (struct cell_shape){
        .payload_bytes = grid->payload_bytes[rest],
        .keys = (uint8_t)grid->keys[keys],
        .parallelism = grid->parallelism[parallelism],
        .concurrency = grid->concurrency[concurrency],
        .interval = grid->intervals[interval],
    };
    return true;
}

static uint32_t grid_size(const struct plan_grid *grid)
{
    return grid->payload_count * grid->keys_count * grid->parallelism_count *
           grid->concurrency_count * grid->interval_count;
}

/* --- running ----------------------------------------------------------------------------------- */

static enum status run_book(struct gate *gate)
{
    const struct options *options = gate->session->options;
    const nanos hang_after =
        option_is_given(options, OPTION_BIT(HANG_AFTER)) ? options->hang_after : HANG_AFTER_DEFAULT;
    const enum err err = book_run(&gate->book, options->jobs, hang_after);
    if (err != ERR_OK) {
        complain("gate: %s: no process or memory to be had", err_name(err));
        return STATUS_INTERNAL;
    }
    return STATUS_OK;
}

static bool is_arm_wanted(const struct gate *gate, uint32_t arm)
{
    for (uint32_t i = 0; i < gate->chosen_count; i++) {
        const struct plan_candidate *candidate = gate->chosen[i];
        if (candidate->baseline == arm || candidate->candidate == arm ||
            candidate->primitive == arm) {
            return true;
        }
    }
    return false;
}

/* One cell by itself does not ask for stage 1 where it needs no pass of it. */
static bool has_stage_1(const struct gate *gate, uint32_t index)
{
    const struct plan_candidate *candidate = gate->chosen[index];
    const bool is_left_out =
        gate->session->options->cell != NULL && candidate->exempt_stage_1[0] != '\0';
    return candidate->primitive != PLAN_ARM_MAX && !is_left_out;
}

static enum status run_stage_1(struct gate *gate)
{
    for (uint32_t arm = 0; arm < gate->plan.arm_count; arm++) {
        if (is_arm_wanted(gate, arm)) {
            verdict_want_calibration(&gate->verdicts, arm);
        }
    }
    for (uint32_t i = 0; i < gate->chosen_count; i++) {
        if (has_stage_1(gate, i)) {
            verdict_want_stage_1(&gate->verdicts, gate->chosen[i]);
        }
    }
    return run_book(gate);
}

static void judge_stage_1(struct gate *gate)
{
    for (uint32_t arm = 0; arm < gate->plan.arm_count; arm++) {
        if (is_arm_wanted(gate, arm)) {
            gate->calibrations[gate->report.calibration_count++] =
                verdict_calibration(&gate->verdicts, arm);
        }
    }
    for (uint32_t i = 0; i < gate->chosen_count; i++) {
        const struct plan_candidate *candidate = gate->chosen[i];
        struct report_gate_candidate *record = &gate->candidates[i];
        *record = (struct report_gate_candidate){
            .name = candidate->name,
            .candidate = gate->plan.arms[candidate->candidate].name,
            .baseline = gate->plan.arms[candidate->baseline].name,
            .exempt = candidate->exempt_latency,
            .has_stage_1 = has_stage_1(gate, i),
            .refused = "",
            .grid_count = grid_size(&gate->plan.grid),
        };
        if (record->has_stage_1) {
            gate->stage_1[i] = verdict_stage_1(&gate->verdicts, candidate, &record->stage_1);
        }
    }
}

/* A connector is not measured behind a primitive that did not pass (PD-12). */
static bool is_admitted(const struct gate *gate, uint32_t index)
{
    const bool is_exempt = gate->chosen[index]->exempt_stage_1[0] != '\0';
    const uint8_t verdict = gate->stage_1[index];
    return is_exempt || verdict == DECISION_GENERAL || verdict == DECISION_CONSTRAINED;
}

static enum status run_stage_2(struct gate *gate)
{
    struct cell_shape shape = {0};
    for (uint32_t i = 0; i < gate->chosen_count; i++) {
        for (uint32_t k = 0; is_admitted(gate, i) && grid_shape(gate->grid, k, &shape); k++) {
            if (verdict_unmeasured(&gate->plan, gate->chosen[i], &shape)[0] == '\0') {
                verdict_want_cell(&gate->verdicts, gate->chosen[i], &shape);
            }
        }
    }
    return run_book(gate);
}

static void judge_candidate(struct gate *gate, uint32_t index)
{
    const struct plan_candidate *candidate = gate->chosen[index];
    struct report_gate_candidate *record = &gate->candidates[index];
    struct cell_shape shape = {0};
    if (!is_admitted(gate, index)) {
        record->refused = text_format(&gate->session->texts,
                                      "stage 1 says %s, and nothing exempts it (13.5)",
                                      decision_verdict_name(gate->stage_1[index]));
        return;
    }
    record->cell_count = grid_size(gate->grid);
    record->cells = text_memory(&gate->session->texts, record->cell_count, sizeof *record->cells);
    for (uint32_t k = 0; grid_shape(gate->grid, k, &shape); k++) {
        const char *why = verdict_unmeasured(&gate->plan, candidate, &shape);
        if (why[0] != '\0') {
            verdict_leave_out(&gate->verdicts, &shape, why, &record->cells[k]);
        } else {
            (void)verdict_cell(
                &gate->verdicts, candidate, gate->stage_1[index], &shape, &record->cells[k]);
        }
    }
}

/* --- the report -------------------------------------------------------------------------------- */

static void fill_costs(struct gate *gate)
{
    struct report_cost *costs = text_memory(&gate->session->texts, COST_COUNT, sizeof *costs);
    for (uint32_t i = 0; i < COST_COUNT; i++) {
        const struct cost *cost = &gate->costs.all[i];
        costs[i] = (struct report_cost){
            .name = cost_name((enum cost_id)i),
            .values = cost->values,
            .value_count = cost->count,
            .kind = cost->is_measured ? "MEASURED" : "MODEL",
            .source = cost->source,
        };
    }
    gate->report.costs = costs;
    gate->report.cost_count = COST_COUNT;
    gate->report.costs_name = gate->costs.name;
    gate->report.costs_title = gate->costs.title;
    gate->report.costs_digest = gate->costs.digest;
}

static void fill_report(struct gate *gate)
{
    struct text_pool *texts = &gate->session->texts;
    const struct plan *plan = &gate->plan;
    fill_costs(gate);
    gate->report.version = SINKPROOF_VERSION;
    gate->report.load = text_format(
        texts,
        "an open loop at %" PRIu32 "/%" PRIu32 " of what the current path carries, at most %" PRIu64
        " records per second and %" PRIu64 " MB of payload;\n  warm-up %" PRIu64
        " s or an interval; window %" PRIu64 " s or %" PRIu32
        " intervals, of which whole ones count, at least %" PRIu32
        " checkpoints.\n  A ratio of 1 says that the load is carried, not that no more "
        "could be: stage 1 is about that",
        plan->load_share.numerator,
        plan->load_share.denominator,
        gate->book.ceiling_per_s,
        plan->bytes_max / 1000000,
        plan->warm_up / NANOS_PER_S,
        plan->measured / NANOS_PER_S,
        plan->measured_intervals,
        plan->checkpoints_least);
    gate->report.repetitions =
        text_format(texts,
                    "seeds %" PRIu64 " to %" PRIu64 ", paired: both arms of a pair have the same "
                    "records and service times; %" PRIu32 " under other costs",
                    gate->book.seed_first,
                    gate->book.seed_first + gate->verdicts.repetitions - 1,
                    gate->verdicts.repetitions_varied);
    gate->report.keys = gate->chosen_count > 0 ? gate->verdicts.keys.words : "not counted";
    gate->report.calibrations = gate->calibrations;
    gate->report.candidates = gate->candidates;
    gate->report.candidate_count = gate->chosen_count;
    gate->report.runs = gate->book.run_count;
    gate->report.digest = verdict_digest(&gate->book);
}

/* As expected: every verdict that was come to, and at least one of each candidate that is measured. */
static enum status status_of(const struct gate *gate)
{
    bool is_good = true;
    for (uint32_t i = 0; i < gate->report.case_count; i++) {
        is_good = is_good && gate->report.cases[i].as_published;
    }
    for (uint32_t i = 0; i < gate->chosen_count; i++) {
        const struct report_gate_candidate *record = &gate->candidates[i];
        size_t verdicts = 0;
        for (size_t k = 0; k < record->cell_count; k++) {
            is_good = is_good && record->cells[k].as_expected;
            verdicts += record->cells[k].has_ratios ? 1 : 0;
        }
        const bool is_refused = record->refused[0] != '\0';
        is_good = is_good && (!record->has_stage_1 || record->stage_1.as_expected);
        is_good = is_good && is_refused == (gate->chosen[i]->expected_stage_2 == DECISION_REFUSED);
        is_good = is_good && (is_refused || verdicts > 0);
    }
    return is_good ? STATUS_OK : STATUS_BROKEN;
}

/* The text, and with --out each run that was not observed as a scenario to run again. */
static enum status keep_scenarios(struct gate *gate)
{
    const char *out = gate->session->options->out;
    struct text_pool *texts = &gate->session->texts;
    enum status status = STATUS_OK;
    if (out == NULL) {
        return STATUS_OK;
    }
    if (folder_make(out) != ERR_OK) {
        complain("gate: --out \"%s\": cannot be made; allowed: a folder", out);
        return STATUS_USAGE;
    }
    for (uint32_t i = 0; i < gate->book.run_count && status == STATUS_OK; i++) {
        const struct cell *cell = &gate->book.cells[i];
        struct scenario_fault fault = {{0}};
        if (gate->book.observations[i].standing == DECISION_OBSERVED) {
            continue;
        }
        const char *json =
            cell_json(texts, &gate->plan, &gate->book.varied[cell->variant], cell, &fault);
        const char *path =
            text_format(texts, "%s/%s.json", out, cell_name(texts, &gate->plan, cell));
        if (json == NULL || file_write(path, bytes_of_text(json)) != ERR_OK) {
            complain("gate: --out \"%s\": cannot be written", path);
            status = STATUS_USAGE;
        }
    }
    return status;
}

static enum status draw(struct gate *gate)
{
    struct plotting plotting;
    if (gate->session->options->plots == NULL || gate->chosen_count == 0) {
        return STATUS_OK;
    }
    const enum status status = plotting_open(&plotting, gate->session);
    if (status != STATUS_OK) {
        return status;
    }
    gate_plots_draw(&plotting, &gate->report);
    plotting_close(&plotting);
    return plotting.status;
}

static enum status measure(struct gate *gate)
{
    enum status status = run_stage_1(gate);
    if (status == STATUS_OK && verdict_keys(&gate->verdicts) != ERR_OK) {
        complain("gate: %s", gate->verdicts.keys.words);
        status = STATUS_USAGE;
    }
    if (status != STATUS_OK) {
        return status;
    }
    judge_stage_1(gate);
    status = run_stage_2(gate);
    for (uint32_t i = 0; i < gate->chosen_count && status == STATUS_OK; i++) {
        judge_candidate(gate, i);
    }
    return status;
}

static enum status work(struct gate *gate)
{
    enum status status = gate->chosen_count > 0 ? measure(gate) : STATUS_OK;
    if (status == STATUS_OK) {
        status = cases_published(&gate->session->texts, &gate->report);
    }
    if (status != STATUS_OK) {
        return status;
    }
    fill_report(gate);
    report_gate_text(stdout, &gate->report);
    status = keep_scenarios(gate);
    status = status_worse(status, draw(gate));
    status = status_worse(status, output_gate(gate->session->options->json, &gate->report));
    return status_worse(status, status_of(gate));
}

enum status command_gate(const struct options *options)
{
    struct session session;
    const uint64_t started = wall_milliseconds();
    enum status status = session_open(&session, options);
    struct gate *gate = text_memory(&session.texts, 1, sizeof *gate);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = open_gate(gate, &session);
    }
    if (status == STATUS_OK) {
        status = work(gate);
        (void)fprintf(stderr,
                      "sinkproof gate: %" PRIu32 " runs in %" PRIu64 ".%" PRIu64 " s\n",
                      gate->book.run_count,
                      (wall_milliseconds() - started) / 1000,
                      (wall_milliseconds() - started) / 100 % 10);
    }
    book_fini(&gate->book);
    session_close(&session);
    return status;
}
