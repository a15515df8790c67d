/* A claim that holds: nothing may break it in many runs. And what the adversary profile shows beyond. */
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <inttypes.h>
#include <string.h>

#define ADVERSARY_PART 10u

/* Put one scenario of a holds claim to the test; the verdict stands in trial->run. */
static enum status certify(struct trial *trial, const char *name, uint64_t budget, bool is_cell)
{
    struct scenario *scenario = NULL;
    enum status status =
        session_scenario_under(trial->session, name, trial->claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    status = trial_sweep_counted(trial, scenario, budget);
    if (status == STATUS_OK) {
        trial_add_established(trial);
        trial_judge(trial, scenario, REPORT_HOLDS, is_cell ? budget : 0);
        if (is_cell) {
            trial_note_coverage(trial, scenario);
        }
        if (trial->run.verdict == REPORT_FAILS) {
            const struct report_violation *violation =
                trial_first_violation(trial, scenario, name, trial->oracles, &status);
            if (violation != NULL) {
                trial_set_witness(trial, violation);
                trial_explain_violation(trial, violation);
            }
        } else if (trial->run.verdict == REPORT_REFUSED) {
            trial_explain(trial, "%s is refused: %s", name, trial->run.refusal);
        } else if (trial->run.verdict == REPORT_INCONCLUSIVE) {
            trial_explain(trial,
                          "%s: missing: %s",
                          name,
                          trial->run.shortfall_count > 0 ? trial->run.shortfalls[0]
                                                         : trial->run.limit);
        }
    }
    scenario_destroy(scenario);
    return status;
}

/* Whether a clause text licenses its outcome only above a profile; *rest is what follows the tag. */
static bool is_beyond(const char *clause_or_null, enum profile profile, const char **rest)
{
    static const struct {
        const char *tag;
        enum profile from;
    } tags[] = {{"adversary ", PROFILE_ADVERSARY}, {"observed ", PROFILE_OBSERVED}};
    for (size_t i = 0; clause_or_null != NULL && i < sizeof tags / sizeof tags[0]; i++) {
        if (strncmp(clause_or_null, tags[i].tag, strlen(tags[i].tag)) == 0) {
            *rest = clause_or_null + strlen(tags[i].tag);
            return profile < tags[i].from;
        }
    }
    return false;
}

/* "relies on X-10 X-11": the clauses that license what broke the claim beyond its profile; "fails"
 * when no outcome on the tape needs the wider profile. */
static const char *reliance_of(struct trial *trial, const char *tape_text)
{
    struct tape_entry entries[RESULT_TAPE_MAX];
    struct tape tape = {.entries = entries, .capacity = RESULT_TAPE_MAX};
    struct tape_header header = {0};
    struct tape_fault fault = {0};
    const char *clauses = "";
    if (tape_read_text(bytes_of_text(tape_text), catalogue_registry(), &tape, &header, &fault) !=
        ERR_OK) {
        return "fails";
    }
    for (uint32_t i = 0; i < tape.count; i++) {
        const struct choice_site *site =
            choice_site_by_key(catalogue_registry(), tape.entries[i].key);
        const char *rest = NULL;
        if (site != NULL && tape.entries[i].value < site->outcome_count &&
            is_beyond(site->outcomes[tape.entries[i].value].clause, trial->claim->profile, &rest) &&
            strstr(clauses, rest) == NULL) {
            clauses = text_format(&trial->session->texts, "%s %s", clauses, rest);
        }
    }
    return clauses[0] == '\0' ? "fails"
                              : text_format(&trial->session->texts, "relies on%s", clauses);
}

/* What the adversary profile shows beyond the claim's own: not a defect, but what the claim relies
 * on. */
static enum status try_adversary(struct trial *trial, uint64_t budget)
{
    struct scenario *scenario = NULL;
    if (trial->claim->profile >= PROFILE_ADVERSARY) {
        trial->record->adversary = "holds";
        return STATUS_OK;
    }
    enum status status = session_scenario_under(
        trial->session, trial->claim->scenario, PROFILE_ADVERSARY, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t part = trial->claim->rely_count > 0 ? 1 : ADVERSARY_PART;
    const uint64_t count = budget / part > 0 ? budget / part : 1;
    const uint64_t first = trial_first_seed(trial->session->options);
    const struct sweep_options wanted = {
        .seeds = {first, first + count - 1},
        .stop_oracles = trial->oracles,
    };
    const uint64_t digest = trial->record->digest;
    status = trial_sweep(trial, scenario, &wanted);
    trial->record->digest = digest;
    trial->record->adversary_seeds = trial->sweep->summary.runs;
    trial->record->adversary = "holds";
    if (status == STATUS_OK && summary_breaks(&trial->sweep->summary, trial->oracles)) {
        const struct report_violation *violation =
            trial_first_violation(trial, scenario, trial->claim->scenario, trial->oracles, &status);
        trial->record->adversary =
            violation == NULL ? "fails" : reliance_of(trial, violation->tape);
    }
    scenario_destroy(scenario);
    return status;
}

/* A claim about reliance holds when the report names the clauses. */
static void judge_reliance(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->claim->rely_count; i++) {
        if (strstr(trial->record->adversary, trial->claim->relies[i]) == NULL) {
            trial->record->verdict = REPORT_FAILS;
            trial_explain(trial,
                          "the adversary profile shows \"%s\", wanted: reliance on %s",
                          trial->record->adversary,
                          trial->claim->relies[i]);
        }
    }
}

enum status trial_holds(struct trial *trial)
{
    const struct options *options = trial->session->options;
    const uint64_t budget = trial_budget(options);
    struct report_claim *record = trial->record;
    enum status status = certify(trial, trial->claim->scenario, budget, true);
    record->verdict = trial->run.verdict;
    if (status == STATUS_OK && record->verdict == REPORT_HOLDS && options->small > 0 &&
        trial->claim->small[0] != '\0') {
        status = certify(trial, trial->claim->small, options->small, false);
        record->verdict = trial->run.verdict == REPORT_FAILS ? REPORT_FAILS : record->verdict;
    }
    if (status == STATUS_OK && record->verdict == REPORT_HOLDS) {
        status = try_adversary(trial, budget);
        judge_reliance(trial);
    }
    return status;
}
