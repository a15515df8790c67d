#include "scenarios/cli/matrix/trial.h"

#include "scenarios/cli/output.h"
#include "scenarios/cli/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUDGET       20000u
#define BUDGET_QUICK 2000u
#define FACTOR_MAX   4u

void trial_explain(struct trial *trial, const char *format, ...)
{
    va_list arguments;
    if (trial->why[0] != '\0') {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(trial->why, sizeof trial->why, format, arguments);
    va_end(arguments);
}

uint64_t trial_budget(const struct options *options)
{
    if (option_is_given(options, OPTION_BIT(SEEDS))) {
        return seed_range_count(options->seeds);
    }
    return option_is_given(options, OPTION_BIT(QUICK)) ? BUDGET_QUICK : BUDGET;
}

uint64_t trial_first_seed(const struct options *options)
{
    return option_is_given(options, OPTION_BIT(SEEDS)) ? options->seeds.first : 1;
}

enum status trial_sweep(struct trial *trial,
                        const struct scenario *scenario,
                        const struct sweep_options *wanted)
{
    const struct options *options = trial->session->options;
    struct progress progress;
    struct sweep_options sweep = *wanted;
    progress_start(&progress, trial->claim->id, seed_range_count(wanted->seeds));
    sweep.scenario = scenario;
    sweep.shard = (struct shard){.index = 1, .count = 1};
    sweep.jobs = options->jobs;
    sweep.hang_after = options->hang_after;
    sweep.progress_or_null = &progress;
    const enum err error = sweep_run(&sweep, trial->sweep);
    progress_end(&progress);
    if (error != ERR_OK) {
        complain("%s: no processes or memory for runs", trial->claim->id);
        return STATUS_INTERNAL;
    }
    trial->record->digest += trial->sweep->summary.digest;
    return STATUS_OK;
}

/* Sweep until so many runs counted or one broke what it must not; the sum stands in trial->sweep. */
enum status
trial_sweep_counted(struct trial *trial, const struct scenario *scenario, uint64_t budget)
{
    struct summary *total = memory_take(sizeof *total);
    uint64_t next = trial_first_seed(trial->session->options);
    uint64_t made = 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && total->counted < budget && made < budget * FACTOR_MAX) {
        const uint64_t count = made == 0 ? budget : budget - total->counted;
        const struct sweep_options wanted = {.seeds = {next, next + count - 1}};
        status = trial_sweep(trial, scenario, &wanted);
        next += count;
        made += count;
        summary_join(total, &trial->sweep->summary);
        if (total->counted == 0 || total->refused > 0 || summary_breaks(total, trial->oracles)) {
            break;
        }
    }
    trial->sweep->summary = *total;
    free(total);
    return status;
}

/* Judge what trial->sweep holds as a cell of the matrix. */
void trial_judge(struct trial *trial,
                 const struct scenario *scenario,
                 enum report_verdict expected,
                 uint64_t budget)
{
    struct summary_demand demand = summary_demand_of(scenario, &trial->sweep->marks);
    demand.expected = expected;
    demand.expected_oracle = "";
    demand.budget = budget;
    demand.oracles = trial->oracles;
    demand.is_claim = true;
    trial->run = (struct report_run){0};
    summary_judge(&trial->sweep->summary, &demand, &trial->session->texts, &trial->run);
}

/* Shrink the first finding by these oracles in trial->sweep; NULL if there is none. */
const struct report_violation *trial_first_violation(struct trial *trial,
                                                     const struct scenario *scenario,
                                                     const char *word,
                                                     uint64_t oracles,
                                                     enum status *status)
{
    const struct failures_options failures = {
        .scenario = scenario,
        .word = word,
        .oracles = oracles,
        .last_seed = UINT64_MAX,
        .any_record = trial->record->expected == REPORT_FAILS,
    };
    const enum status one =
        failures_collect(trial->session, &failures, &trial->sweep->summary, &trial->run);
    *status = status_worse(*status, one);
    return trial->run.violation_count == 0 ? NULL : &trial->run.violations[0];
}

void trial_explain_violation(struct trial *trial, const struct report_violation *violation)
{
    trial_explain(trial,
                  "%s broken at %s (%" PRIu32 " choices): %s: %s; %s",
                  violation->oracles[0],
                  violation->run_or_null != NULL
                      ? violation->run_or_null
                      : text_format(&trial->session->texts, "seed %" PRIu64, violation->seed),
                  violation->deviations,
                  violation->subject,
                  violation->message,
                  violation->command);
}

void trial_set_witness(struct trial *trial, const struct report_violation *violation)
{
    struct report_claim *record = trial->record;
    record->has_witness = true;
    record->witness_tape = violation->tape;
    record->witness_deviations = violation->deviations;
    record->witness_message = violation->message; /* shrinking may have come to another record */
}

void trial_add_established(struct trial *trial)
{
    const struct summary *summary = &trial->sweep->summary;
    trial->record->seeds += summary->counted;
    trial->record->crashes += summary->crash_points_hit;
}

/* The faults that are not on the menu of a scenario: "clock, memory". */
static const char *absent_kinds(struct text_pool *texts, uint32_t menu)
{
    const char *list = "";
    for (uint32_t kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        if ((menu >> kind & 1) == 0 && fault_kind_is_fault((enum fault_kind)kind)) {
            list = text_format(texts,
                               "%s%s%s",
                               list,
                               list[0] == '\0' ? "" : ", ",
                               fault_kind_name((enum fault_kind)kind));
        }
    }
    return list;
}

void trial_note_coverage(struct trial *trial, const struct scenario *scenario)
{
    struct report_claim *record = trial->record;
    record->kinds = trial->run.kinds;
    record->kind_count = trial->run.kind_count;
    record->marks = trial->run.marks;
    record->mark_count = trial->run.mark_count;
    record->crash_runs = trial->run.crashes;
    record->kinds_absent =
        absent_kinds(&trial->session->texts, summary_kinds_offered(&scenario->config));
}
