/* Claims that one run decides: a configuration that must be refused, a run that tells two words apart,
 * and a case of the performance decision rule. */
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/gate/cases.h"

#include <string.h>

/* --- refused ----------------------------------------------------------------------------------- */

/* One run: what became of it stands in trial->sweep. */
static enum status try_once(struct trial *trial, const char *name)
{
    struct scenario *scenario = NULL;
    enum status status =
        session_scenario_under(trial->session, name, trial->claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t seed = trial_first_seed(trial->session->options);
    const struct sweep_options wanted = {.seeds = {seed, seed}};
    status = trial_sweep(trial, scenario, &wanted);
    scenario_destroy(scenario);
    return status;
}

/* Refused before the run began, or in a run in which the oracle refused saw nothing amiss. */
static bool was_refused(const struct trial *trial)
{
    const struct summary *summary = &trial->sweep->summary;
    uint8_t oracle = 0;
    if (summary->refused > 0) {
        return true;
    }
    const bool is_judged = trial->claim->oracle_count > 0 &&
                           strcmp(trial->claim->oracles[0]->name, "refused") == 0 &&
                           summary_oracle_parse("refused", &oracle) == ERR_OK;
    return is_judged && summary->runs > 0 && summary->limited == 0 &&
           !summary_breaks(summary, trial->oracles);
}

/* Started, completed a checkpoint, and broke nothing but the word refused. */
static bool was_accepted(const struct trial *trial)
{
    const struct summary *summary = &trial->sweep->summary;
    return summary->refused == 0 && summary->counted > 0 && summary->completing > 0;
}

static enum status try_configurations(
    struct trial *trial, const char *const *names, uint32_t count, bool wants_refusal, bool *all)
{
    enum status status = STATUS_OK;
    *all = true;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = try_once(trial, names[i]);
        trial->record->seeds += trial->sweep->summary.runs;
        const bool fits = wants_refusal ? was_refused(trial) : was_accepted(trial);
        if (status == STATUS_OK && !fits) {
            *all = false;
            trial_explain(trial, wants_refusal ? "%s is not refused" : "%s does not run", names[i]);
        }
    }
    return status;
}

enum status trial_refused(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    const bool is_list = claim->configuration_count > 0;
    bool refused = false;
    bool accepted = false;
    enum status status = try_configurations(trial,
                                            is_list ? claim->configurations : &claim->scenario,
                                            is_list ? claim->configuration_count : 1,
                                            true,
                                            &refused);
    trial->record->verdict = refused ? REPORT_HOLDS : REPORT_FAILS;
    if (status == STATUS_OK && claim->inside_count > 0) {
        status = try_configurations(trial, claim->insides, claim->inside_count, false, &accepted);
        trial->record->twin = accepted ? REPORT_HOLDS : REPORT_FAILS;
        if (!accepted && refused) {
            trial->record->verdict = REPORT_INCONCLUSIVE;
        }
    }
    return status;
}

/* --- words that differ ------------------------------------------------------------------------- */

/* The bits of these oracles. */
static uint64_t bits_of(const struct oracle_type *const *oracles, uint32_t count)
{
    uint64_t bits = 0;
    uint8_t oracle = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (summary_oracle_parse(oracles[i]->name, &oracle) == ERR_OK) {
            bits |= UINT64_C(1) << oracle;
        }
    }
    return bits;
}

/* A run that breaks all that is lacking, and nothing that is kept. */
static bool tells_apart(const struct summary *summary, uint64_t kept, uint64_t lacking)
{
    for (uint32_t i = 0; i < summary->finding_count; i++) {
        const uint64_t broken = summary->findings[i].oracles;
        if ((broken & kept) == 0 && (broken & lacking) == lacking) {
            return true;
        }
    }
    return false;
}

enum status trial_words(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    const uint64_t lacking = bits_of(claim->lacks, claim->lack_count);
    const uint64_t first = trial_first_seed(trial->session->options);
    const struct sweep_options wanted = {
        .seeds = {first, first + trial_budget(trial->session->options) - 1},
        .stop_oracles = lacking,
    };
    struct scenario *scenario = NULL;
    enum status status =
        session_scenario_under(trial->session, claim->scenario, claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    status = trial_sweep(trial, scenario, &wanted);
    trial_add_established(trial);
    const bool told = tells_apart(&trial->sweep->summary, trial->oracles, lacking);
    trial->record->verdict = told ? REPORT_HOLDS : REPORT_FAILS;
    if (status == STATUS_OK && told) {
        const struct report_violation *violation =
            trial_first_violation(trial, scenario, claim->scenario, lacking, &status);
        if (violation != NULL) {
            trial_set_witness(trial, violation);
        }
    } else if (!told) {
        trial_explain(trial,
                      "no run of %s keeps %s and lacks %s",
                      claim->scenario,
                      claim->oracles[0]->name,
                      claim->lacks[0]->name);
    }
    scenario_destroy(scenario);
    return status;
}

/* --- cases of the decision rule ------------------------------------------------------------------ */

enum status trial_cases(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    struct text_pool *texts = &trial->session->texts;
    const char *figures = "";
    enum status status = STATUS_OK;
    trial->record->verdict = REPORT_HOLDS;
    for (uint32_t i = 0; i < claim->case_count && status == STATUS_OK; i++) {
        struct report_gate_case found = {0};
        status = cases_judge(texts, claim->cases[i], trial->session->options->jobs, &found);
        if (status != STATUS_OK) {
            break;
        }
        trial->record->seeds++;
        figures =
            text_format(texts, "%s%s%s %s", figures, i > 0 ? ", " : "", found.name, found.verdict);
        if (!found.as_published) {
            trial->record->verdict = REPORT_FAILS;
            trial_explain(trial,
                          "case %s: %s by rule \"%s\": %s",
                          found.name,
                          found.verdict,
                          found.rule,
                          found.figures);
        }
    }
    trial->record->figures_or_null = figures;
    return status;
}
