/* A claim that fails: a run must break it, and none may where its condition is away. */
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/reproducer.h"

#include <inttypes.h>

#define WITNESS_WANTED 12u

/* The run without any deviation: true when it breaks the claim. */
static bool calm_breaks(struct trial *trial, const struct scenario *scenario, bool *ran)
{
    struct reproducer *reproducer = reproducer_create(scenario);
    struct tape_entry none;
    const struct tape calm = {.entries = &none, .identity = 1};
    const struct run_request request = reproducer_tape_request(&calm);
    bool breaks = false;
    int detail = 0;
    *ran = reproducer != NULL && reproducer_run_guarded(reproducer,
                                                        &request,
                                                        trial->session->options->hang_after,
                                                        &detail) == REPRODUCER_DONE;
    if (*ran) {
        const struct result *result = reproducer_result(reproducer);
        for (uint32_t i = 0; i < result->finding_count; i++) {
            const struct result_finding *found = &result->findings[i];
            if ((trial->finder >> found->oracle & 1) != 0) {
                breaks = true;
                trial->record->witness_message =
                    text_format(&trial->session->texts, "%s", found->finding.message);
            }
        }
        trial->record->digest += result->digest;
    }
    if (breaks && trial->claim->calm == CLAIM_CALM_BREAKS) {
        trial->record->has_witness = true;
        trial->record->witness_tape = failures_tape_text(&trial->session->texts, scenario, &calm);
    }
    if (reproducer != NULL) {
        reproducer_destroy(reproducer);
    }
    return breaks;
}

/* Search by seeds for what the claim says can happen. */
static enum status find_witness(struct trial *trial, const struct scenario *scenario)
{
    const uint64_t first = trial_first_seed(trial->session->options);
    const uint64_t budget = trial_budget(trial->session->options);
    const struct sweep_options wanted = {
        .seeds = {first, first + budget - 1},
        .stop_oracles = trial->finder,
    };
    enum status status = trial_sweep(trial, scenario, &wanted);
    if (status != STATUS_OK) {
        return status;
    }
    trial_add_established(trial);
    const struct report_violation *violation =
        trial_first_violation(trial, scenario, trial->claim->scenario, trial->finder, &status);
    if (violation == NULL) {
        trial_explain(trial,
                      "no witness: %s is not broken in %" PRIu64 " runs of %s",
                      trial->claim->oracles[0]->name,
                      trial->sweep->summary.runs,
                      trial->claim->scenario);
        return status;
    }
    trial_set_witness(trial, violation);
    if (violation->deviations > WITNESS_WANTED) {
        trial_explain(trial,
                      "the witness has %" PRIu32 " entries, wanted: at most %u",
                      violation->deviations,
                      WITNESS_WANTED);
    }
    return status;
}

/* The same without the condition must hold. */
static enum status try_twin(struct trial *trial)
{
    const char *name = trial->claim->twin;
    struct scenario *scenario = NULL;
    const uint64_t budget = trial_budget(trial->session->options);
    if (name[0] == '\0') {
        trial_explain(trial, "no twin: the claim names none");
        return STATUS_OK;
    }
    enum status status =
        session_scenario_under(trial->session, name, trial->claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    status = trial_sweep_counted(trial, scenario, budget);
    if (status == STATUS_OK) {
        trial_judge(trial, scenario, REPORT_HOLDS, budget);
        trial->record->twin = trial->run.verdict;
        if (trial->run.verdict == REPORT_FAILS) {
            const struct report_violation *violation =
                trial_first_violation(trial, scenario, name, trial->oracles, &status);
            trial_explain(trial,
                          "the twin %s breaks: %s",
                          name,
                          violation != NULL ? violation->command : "(not again)");
        } else if (trial->run.verdict != REPORT_HOLDS) {
            trial_explain(trial,
                          "the twin %s is %s: %s",
                          name,
                          report_verdict_name(trial->run.verdict),
                          trial->run.shortfall_count > 0 ? trial->run.shortfalls[0]
                                                         : trial->run.refusal);
        }
    }
    scenario_destroy(scenario);
    return status;
}

enum status trial_fails(struct trial *trial)
{
    struct report_claim *record = trial->record;
    const bool calm_is_witness = trial->claim->calm == CLAIM_CALM_BREAKS;
    struct scenario *scenario = NULL;
    bool ran = false;
    enum status status = session_scenario_under(
        trial->session, trial->claim->scenario, trial->claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    record->calm_breaks = calm_breaks(trial, scenario, &ran);
    if (!ran) {
        trial_explain(trial, "the calm run of %s crashes or hangs", trial->claim->scenario);
    } else if (record->calm_breaks != calm_is_witness) {
        trial_explain(trial,
                      "the calm run of %s is %s, wanted: %s",
                      trial->claim->scenario,
                      record->calm_breaks ? "broken" : "clean",
                      calm_is_witness ? "broken" : "clean");
    }
    if (!calm_is_witness) {
        status = find_witness(trial, scenario);
    }
    scenario_destroy(scenario);
    if (status == STATUS_OK) {
        status = try_twin(trial);
    }
    const bool shown = record->has_witness && ran && record->calm_breaks == calm_is_witness &&
                       record->witness_deviations <= WITNESS_WANTED && record->twin == REPORT_HOLDS;
    record->verdict = shown ? REPORT_FAILS : REPORT_INCONCLUSIVE;
    return status;
}
