/* matrix: every claim, certified or refuted.
 *
 *   holds    counted seeds on the claim's scenario, until the budget is reached or FACTOR_MAX times
 *            as many runs were made; the small scenario as well when asked for. Then, for what the
 *            adversary profile shows beyond, a tenth of that under it.
 *   fails    the first seed that breaks the claim's first oracle, shrunk to a witness; the calm tape
 *            must be clean (or is the witness itself, where the claim says so); the twin without
 *            the condition must hold on counted seeds.
 *   refused  one run of each configuration that the sink must refuse, before the run begins or by what
 *            the oracle refused sees; the ones just inside the rule must run and complete a checkpoint.
 *   words    one run, found by search, that keeps what one word asks for and lacks what another does.
 *
 * For holds and fails, all runs of the claim's small scenario with at most one deviation (--quick) or two
 * are made as well: a holds claim must hold in them.
 *
 * A claim has the verdict that is expected of it only when all of that came out. */
#include "reports/text.h"
#include "scenarios/cli/claims.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/failures.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/reproducer.h"
#include "scenarios/cli/run_reports.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/steady.h"
#include "scenarios/cli/sweep.h"
#include "scenarios/cli/trial.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WITNESS_WANTED 12u
#define ADVERSARY_PART 10u

/* --- holds ------------------------------------------------------------------------------------- */

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

static enum status try_holds(struct trial *trial)
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

/* --- fails ------------------------------------------------------------------------------------- */

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

static enum status try_fails(struct trial *trial)
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

/* --- all ---------------------------------------------------------------------------------------- */

static bool is_about_refusal(const struct claim *claim)
{
    for (uint32_t i = 0; i < claim->property_count; i++) {
        if (strcmp(claim->properties[i], "refused") == 0) {
            return true;
        }
    }
    return false;
}

static const char *join_properties(struct text_pool *texts, const struct claim *claim)
{
    const char *text = "";
    for (uint32_t i = 0; i < claim->property_count; i++) {
        text = text_format(texts, "%s%s%s", text, i > 0 ? ", " : "", claim->properties[i]);
    }
    return text;
}

static void set_oracles(struct trial *trial)
{
    uint8_t oracle = 0;
    trial->oracles = UINT64_C(1) << SUMMARY_ORACLE_CRASH | UINT64_C(1) << SUMMARY_ORACLE_HANG;
    for (uint32_t i = 0; i < trial->claim->oracle_count; i++) {
        if (summary_oracle_parse(trial->claim->oracles[i]->name, &oracle) == ERR_OK) {
            trial->oracles |= UINT64_C(1) << oracle;
            trial->finder = i == 0 ? UINT64_C(1) << oracle : trial->finder;
        }
    }
}

/* Nothing is certified of a sink that was brought and does not do the same again. */
static enum status check_steadiness(struct trial *trial)
{
    struct scenario *scenario = NULL;
    const char *why = NULL;
    uint64_t seed = trial_first_seed(trial->session->options);
    if (session_sink(trial->session) == NULL) {
        return STATUS_OK;
    }
    enum status status = session_scenario_under(
        trial->session, trial->claim->scenario, trial->claim->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    const struct steady_subject subject = {
        .scenario = scenario,
        .word = trial->claim->scenario,
        .seeds = {seed, seed + trial_budget(trial->session->options) - 1},
    };
    if (!steady_check(trial->session, &subject, &why, &seed)) {
        trial->why[0] = '\0';
        trial_explain(trial, "nondeterminism: %s", why);
        trial->record->verdict = REPORT_INCONCLUSIVE;
        status = STATUS_NONDETERMINISM;
    }
    scenario_destroy(scenario);
    return status;
}

static enum status try_claim(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    const uint64_t started = wall_milliseconds();
    struct report_claim *record = trial->record;
    *record = (struct report_claim){
        .id = claim->id,
        .sink = claim->sink,
        .condition = claim->condition,
        .property = join_properties(&trial->session->texts, claim),
        .profile = profile_name(claim->profile),
        .expected = claim->holds ? REPORT_HOLDS : REPORT_FAILS,
        .adversary = "untested",
        .mutants_killed = mutant_records_killed(trial->mutants, claim),
        .witness_tape = "",
        .witness_message = "",
    };
    set_oracles(trial);
    const bool is_once = is_about_refusal(claim) || claim->lack_count > 0;
    enum status status = is_about_refusal(claim) ? trial_refused(trial)
                         : claim->lack_count > 0 ? trial_words(trial)
                         : claim->holds          ? try_holds(trial)
                                                 : try_fails(trial);
    if (status == STATUS_OK) {
        status = check_steadiness(trial);
    }
    if (status == STATUS_OK && !is_once) {
        status = trial_explore(trial);
    }
    record->as_expected = status == STATUS_OK && record->verdict == record->expected;
    record->why = text_copy(&trial->session->texts, bytes_of_text(trial->why));
    record->elapsed_ms = wall_milliseconds() - started;
    return record->as_expected ? STATUS_OK : status_worse(status, STATUS_BROKEN);
}

/* The claims that the command is about. */
struct choice_of_claims {
    const struct claim **claims;
    size_t count;
    size_t capacity;
};

static void choose_one(struct choice_of_claims *choice, const struct claim *claim)
{
    if (choice->count == choice->capacity) {
        choice->capacity = choice->capacity * 2 + 64;
        choice->claims = memory_resize(choice->claims, choice->capacity * sizeof(void *));
    }
    choice->claims[choice->count++] = claim;
}

static void choose_set(struct choice_of_claims *choice, const struct claim_set *set)
{
    const uint32_t count = claims_count(set);
    for (uint32_t i = 0; i < count; i++) {
        choose_one(choice, claims_at(set, i));
    }
}

/* A word is a claim's id or a file of claims. */
static enum status choose_word(const struct session *session,
                               struct claims_book *book,
                               const char *word,
                               struct choice_of_claims *choice)
{
    const struct claim *claim = claims_book_find(book, word);
    if (claim != NULL) {
        choose_one(choice, claim);
        return STATUS_OK;
    }
    if (!file_exists(word)) {
        complain("matrix \"%s\": no such claim; allowed: those of sinkproof list claims, or a file",
                 word);
        return STATUS_USAGE;
    }
    const enum status status = claims_open_file(book, word, session_sink(session));
    if (status == STATUS_OK) {
        choose_set(choice, book->sets[book->set_count - 1]);
    }
    return status;
}

static enum status choose_claims(const struct session *session,
                                 struct claims_book *book,
                                 struct choice_of_claims *choice)
{
    const struct options *options = session->options;
    enum status status = STATUS_OK;
    if (session_sink(session) != NULL && options->argument_count == 0) {
        complain("matrix: --sink: wanted beside it: a file of claims about that sink");
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < options->argument_count && status == STATUS_OK; i++) {
        status = choose_word(session, book, options->arguments[i], choice);
    }
    for (size_t i = 0; i < book->set_count && options->argument_count == 0; i++) {
        choose_set(choice, book->sets[i]);
    }
    return status;
}

static enum status try_all(struct session *session,
                           const struct choice_of_claims *choice,
                           const struct mutant_records *mutants)
{
    const struct shard shard = session->options->shard;
    struct report_claim *records = text_memory(&session->texts, choice->count + 1, sizeof *records);
    struct sweep *sweep = text_memory(&session->texts, 1, sizeof *sweep);
    enum status status = STATUS_OK;
    size_t count = 0;
    for (size_t i = shard.index - 1; i < choice->count; i += shard.count) {
        struct trial trial = {
            .session = session,
            .claim = choice->claims[i],
            .record = &records[count++],
            .mutants = mutants,
            .sweep = sweep,
        };
        const enum status one = try_claim(&trial);
        status = status_worse(status, one);
    }
    report_text_claims(stdout, records, count);
    const enum status written = run_reports_write_claims(session->options, records, count);
    return status_worse(status, written);
}

enum status command_matrix(const struct options *options)
{
    struct session session;
    struct claims_book book = {0};
    struct choice_of_claims choice = {0};
    struct mutant_records mutants = {0};
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = run_reports_check(options);
    }
    if (status == STATUS_OK && options->mutants != NULL) {
        status = mutant_records_read(&session.texts, options->mutants, &mutants);
    }
    if (status == STATUS_OK) {
        status = claims_open(&session.texts, &book);
    }
    if (status == STATUS_OK) {
        status = choose_claims(&session, &book, &choice);
    }
    if (status == STATUS_OK) {
        status = try_all(&session, &choice, &mutants);
    }
    free(choice.claims);
    claims_close(&book);
    session_close(&session);
    return status;
}
