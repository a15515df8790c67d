/* The part of a cell that is certain: every run of the claim's small scenario with few deviations. */
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/search/explore.h"
#include "scenarios/cli/sweep/failures.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEVIATIONS_QUICK 1u
#define DEVIATIONS       2u
#define EVENTS_QUICK     (UINT64_C(1) << 21) /* of a level: a second or so on one core */
#define EVENTS           (UINT64_C(1) << 25)

/* What must not be broken was: say so with the run that shows it. */
static enum status explain_violation(struct trial *trial,
                                     const struct scenario *scenario,
                                     const struct explored *explored)
{
    const struct failures_options failures = {
        .scenario = scenario,
        .word = trial->claim->small,
        .oracles = trial->oracles,
        .last_seed = UINT64_MAX,
        .explored_or_null = &explored->counts,
    };
    trial->run = (struct report_run){0};
    const enum status status =
        failures_collect(trial->session, &failures, &explored->counts.summary, &trial->run);
    trial->record->verdict = REPORT_FAILS;
    if (trial->run.violation_count > 0) {
        trial_set_witness(trial, &trial->run.violations[0]);
        trial_explain_violation(trial, &trial->run.violations[0]);
    }
    return status;
}

static enum status
note(struct trial *trial, const struct scenario *scenario, const struct explored *explored)
{
    struct report_claim *record = trial->record;
    if (explored->counts.is_strayed) {
        record->verdict = REPORT_INCONCLUSIVE;
        trial_explain(trial,
                      "nondeterminism: %s: a run, made again, did not draw what it had drawn",
                      trial->claim->small);
        return STATUS_NONDETERMINISM;
    }
    /* A run has no more deviations than it can have: then nothing of the bound is left out either. */
    record->explored_deviations =
        explored->is_complete ? explored->frontier.options.level_bound : explored->level_done;
    record->explored_runs = explored->counts.summary.runs;
    record->crash_points_hit = explored->counts.crash_points_hit;
    record->crash_points_seen =
        explored->is_complete ? explored->counts.crash_points_seen : explored->crash_points_due;
    if (record->expected != REPORT_HOLDS) {
        return STATUS_OK;
    }
    if (summary_breaks(&explored->counts.summary, trial->oracles)) {
        return explain_violation(trial, scenario, explored);
    }
    if (explored->counts.summary.limited > 0 && record->verdict == REPORT_HOLDS) {
        record->verdict = REPORT_INCONCLUSIVE;
        trial_explain(
            trial, "%s: a limit: %s", trial->claim->small, explored->counts.summary.limit);
    }
    return STATUS_OK;
}

static enum status explore(struct trial *trial, const struct scenario *scenario)
{
    const struct options *options = trial->session->options;
    const bool is_quick = option_is_given(options, OPTION_BIT(QUICK));
    const struct explore_options wanted = {
        .scenario = scenario,
        .deviations = is_quick ? DEVIATIONS_QUICK : DEVIATIONS,
        .events_max = is_quick ? EVENTS_QUICK : EVENTS,
        .re_execute = session_sink(trial->session) != NULL,
        .shard = {.index = 1, .count = 1},
        .jobs = options->jobs,
        .hang_after = options->hang_after,
        .shows_progress = true,
        .label = trial->claim->id,
    };
    struct explored *explored = memory_take(sizeof *explored);
    enum status status = STATUS_OK;
    if (explore_init(explored, &wanted) != ERR_OK || explore_run(explored, &wanted) != ERR_OK) {
        complain("%s: no processes or memory to explore with", trial->claim->id);
        status = STATUS_INTERNAL;
    } else {
        status = note(trial, scenario, explored);
    }
    explore_fini(explored);
    free(explored);
    return status;
}

enum status trial_explore(struct trial *trial)
{
    struct scenario *scenario = NULL;
    if (trial->claim->small[0] == '\0') {
        return STATUS_OK;
    }
    enum status status = session_scenario_under(
        trial->session, trial->claim->small, trial->claim->profile, &scenario);
    if (status == STATUS_OK) {
        status = explore(trial, scenario);
        scenario_destroy(scenario);
    }
    return status;
}
