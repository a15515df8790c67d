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
 *   cases    cases of the performance decision rule, one judgement each: all come out as they must.
 *   figures  one run of each configuration, measured in virtual time against what is wanted.
 *   words    one run, found by search, that keeps what one word asks for and lacks what another does.
 *
 * For holds and fails, all runs of the claim's small scenario with at most one deviation (--quick) or two
 * are made as well: a holds claim must hold in them.
 *
 * A claim has the verdict that is expected of it only when all of that came out. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/matrix/claims.h"
#include "scenarios/cli/matrix/evidence.h"
#include "scenarios/cli/matrix/matrix_pages.h"
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/run_reports.h"
#include "scenarios/cli/sweep/steady.h"
#include "scenarios/cli/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

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

/* The oracles of which a witness breaks one: a claim that fails has one that finds it, and one about two
 * words those of the second. */
static void note_breaks(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    struct report_claim *record = trial->record;
    const bool is_of_words = record->way == REPORT_WAY_WORDS;
    const struct oracle_type *const *oracles = is_of_words ? claim->lacks : claim->oracles;
    const uint32_t all = is_of_words ? claim->lack_count : claim->oracle_count;
    const uint32_t count = record->way == REPORT_WAY_WITNESS && all > 0 ? 1 : all;
    const char **names = text_memory(&trial->session->texts, count + 2u, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        names[record->break_count++] = oracles[i]->name;
    }
    if (record->way != REPORT_WAY_WITNESS && !is_of_words) {
        names[record->break_count++] = summary_oracle_name(SUMMARY_ORACLE_CRASH);
        names[record->break_count++] = summary_oracle_name(SUMMARY_ORACLE_HANG);
    }
    record->breaks = names;
}

static enum report_way way_of(const struct claim *claim)
{
    return claim->case_count > 0                ? REPORT_WAY_FIGURES
           : claim->figure != CLAIM_FIGURE_NONE ? REPORT_WAY_MEASURED
           : is_about_refusal(claim)            ? REPORT_WAY_REFUSAL
           : claim->lack_count > 0              ? REPORT_WAY_WORDS
           : claim->holds                       ? REPORT_WAY_SEEDS
                                                : REPORT_WAY_WITNESS;
}

/* "cloudtasks" of "cloudtasks-exactly-once". */
static const char *service_of(struct text_pool *texts, const char *sink)
{
    return text_copy(texts, (struct bytes){(const uint8_t *)sink, strcspn(sink, "-")});
}

static enum status put_to_the_test(struct trial *trial)
{
    switch (trial->record->way) {
    case REPORT_WAY_SEEDS:
        return trial_holds(trial);
    case REPORT_WAY_WITNESS:
        return trial_fails(trial);
    case REPORT_WAY_REFUSAL:
        return trial_refused(trial);
    case REPORT_WAY_WORDS:
        return trial_words(trial);
    case REPORT_WAY_FIGURES:
        return trial_cases(trial);
    case REPORT_WAY_MEASURED:
        return trial_figures(trial);
    case REPORT_WAY_NONE:
    case REPORT_WAY_COUNT:
        break;
    }
    UNREACHABLE();
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
        .witness_tape = "",
        .witness_message = "",
        .way = way_of(claim),
        .service = service_of(&trial->session->texts, claim->sink),
        .properties = claim->properties,
        .property_count = claim->property_count,
        .scenario = claim->scenario,
        .small = claim->small,
        .twin_scenario = claim->twin,
        .kinds_absent = "",
        .mutants_known = trial->mutants->count > 0,
    };
    record->mutants = mutant_records_killed(
        trial->mutants, claim, &trial->session->texts, &record->mutants_killed);
    set_oracles(trial);
    note_breaks(trial);
    enum status status = put_to_the_test(trial);
    if (status == STATUS_OK && record->way != REPORT_WAY_FIGURES) {
        status = check_steadiness(trial);
    }
    if (status == STATUS_OK &&
        (record->way == REPORT_WAY_SEEDS || record->way == REPORT_WAY_WITNESS)) {
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

/* The claims of this shard, one after the other, and what is told of them. */
static enum status try_all(struct session *session,
                           const struct choice_of_claims *choice,
                           const struct mutant_records *mutants)
{
    const struct options *options = session->options;
    const struct shard shard = options->shard;
    struct text_pool *texts = &session->texts;
    struct report_claim *records = text_memory(texts, choice->count + 1, sizeof *records);
    struct report_evidence *evidence = text_memory(texts, choice->count + 1, sizeof *evidence);
    struct sweep *sweep = text_memory(texts, 1, sizeof *sweep);
    enum status status = STATUS_OK;
    size_t count = 0;
    for (size_t i = shard.index - 1; i < choice->count; i += shard.count) {
        struct trial trial = {
            .session = session,
            .claim = choice->claims[i],
            .record = &records[count],
            .mutants = mutants,
            .sweep = sweep,
        };
        const enum status one = try_claim(&trial);
        status = status_worse(status, one);
        if (options->html != NULL && records[count].has_witness) {
            status =
                status_worse(status, evidence_find(session, &records[count], &evidence[count]));
        }
        count++;
    }
    report_text_claims(stdout, records, count);
    const struct matrix_pages pages = {
        .session = session,
        .budget = matrix_pages_budget(texts, options),
        .command = matrix_pages_command(texts, options),
        .claims = records,
        .evidence = evidence,
        .count = count,
    };
    status = status_worse(status, run_reports_write_claims(options, records, count));
    return status_worse(status, matrix_pages_write(&pages));
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
    if (status == STATUS_OK) {
        status = matrix_pages_check(&session);
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
