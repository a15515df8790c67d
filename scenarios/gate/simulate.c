#include "scenarios/gate/simulate.h"

#include "scenarios/cli/session.h"
#include "scenarios/gate/verdict.h"

#include <inttypes.h>
#include <string.h>

#define COSTS_DEFAULT "region"
#define HANG_AFTER    MINUTES(5)

static bool is_wanted(const char *wanted, const char *found)
{
    return wanted[0] == '\0' || strcmp(wanted, found) == 0;
}

static uint32_t grid_cells(const struct plan_grid *grid)
{
    return grid->payload_count * grid->keys_count * grid->parallelism_count *
           grid->concurrency_count * grid->interval_count;
}

static void fill_record(struct text_pool *texts,
                        const struct simulate_request *request,
                        const struct plan *plan,
                        const struct report_gate_cell *cell,
                        struct report_gate_case *record)
{
    const uint64_t ratio = cell->throughput_ratio;
    const bool has_cells =
        request->grid_cells == 0 || request->grid_cells == grid_cells(&plan->grid);
    record->verdict = cell->verdict;
    record->rule = cell->rule;
    record->clause = cell->clause;
    record->figures =
        text_format(texts,
                    "MODEL, %s: throughput ratio %" PRIu64 ".%03" PRIu64 ", p95 ratio %" PRIu64
                    ".%02" PRIu64 ", as written %s; %s; grid of %" PRIu32 " cells",
                    cell->shape,
                    ratio / 1000,
                    ratio % 1000,
                    cell->latency_ratio / 100,
                    cell->latency_ratio % 100,
                    cell->as_written,
                    cell->reason,
                    grid_cells(&plan->grid));
    record->as_published = is_wanted(request->verdict, cell->verdict) &&
                           is_wanted(request->rule, cell->rule) &&
                           is_wanted(request->as_written, cell->as_written) && has_cells &&
                           ratio >= request->ratio_least && ratio <= request->ratio_most;
}

static enum status run_cell(struct verdicts *verdicts,
                            const struct plan_candidate *candidate,
                            const struct cell_shape *shape,
                            uint32_t jobs)
{
    verdict_want_calibration(verdicts, candidate->baseline);
    verdict_want_calibration(verdicts, candidate->candidate);
    verdict_want_cell(verdicts, candidate, shape);
    const enum err err = book_run(verdicts->book, jobs, HANG_AFTER);
    if (err == ERR_OK && verdict_keys(verdicts) == ERR_OK) {
        (void)verdict_calibration(verdicts, candidate->baseline);
        (void)verdict_calibration(verdicts, candidate->candidate);
        return STATUS_OK;
    }
    complain("gate: %s", err == ERR_OK ? verdicts->keys.words : err_name(err));
    return STATUS_INTERNAL;
}

enum status simulate_cell(struct text_pool *texts,
                          const struct simulate_request *request,
                          uint32_t jobs,
                          struct report_gate_case *record)
{
    struct plan *plan = text_memory(texts, 1, sizeof *plan);
    struct costs *costs = text_memory(texts, 1, sizeof *costs);
    struct report_gate_cell *cell = text_memory(texts, 1, sizeof *cell);
    struct book *book = text_memory(texts, 1, sizeof *book);
    enum status status = plan_open(texts, plan);
    if (status == STATUS_OK) {
        status = costs_read(texts, COSTS_DEFAULT, costs);
    }
    const uint32_t index =
        status == STATUS_OK ? plan_find_candidate(plan, request->candidate) : PLAN_CANDIDATE_MAX;
    if (status == STATUS_OK && index == PLAN_CANDIDATE_MAX) {
        complain("gate: simulated.candidate \"%s\": no such candidate", request->candidate);
        status = STATUS_USAGE;
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct cell_shape shape = {
        .payload_bytes = request->payload_bytes,
        .keys = request->is_hot ? PLAN_KEYS_HOT : PLAN_KEYS_EVEN,
        .parallelism = request->parallelism,
        .concurrency = request->concurrency,
        .interval = SECONDS(request->interval_s),
    };
    struct verdicts verdicts = {
        .book = book,
        .repetitions = plan->quick_repetitions,
        .repetitions_varied = plan->quick_repetitions,
    };
    book_init(book, texts, plan, costs);
    book->ceiling_per_s = plan->quick_ceiling_per_s;
    status = run_cell(&verdicts, &plan->candidates[index], &shape, jobs);
    if (status == STATUS_OK) {
        /* A cell by itself says nothing of stage 1: only what is exempt from it may be asked for. */
        (void)verdict_cell(&verdicts, &plan->candidates[index], DECISION_NO_VERDICT, &shape, cell);
        fill_record(texts, request, plan, cell, record);
    }
    book_fini(book);
    return status;
}
