/* mutants: build every planted bug, and show by which oracle, or unit test, it is killed. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/mutants/mutant_trial.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/plots/kill_plots.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/workers.h"

#include <inttypes.h>
#include <string.h>

/* Of a sample, beside the canaries. */
#define SAMPLE_SWEPT  3
#define SAMPLE_TESTED 1

struct hunt {
    struct session *session;
    struct mutant_trial trial;
    const struct mutant **mutants;
    const char **unfit; /* per mutant: why its unit test cannot judge, or NULL */
    struct report_mutant *records;
    size_t count;
    size_t taken;
    enum status status;
    struct progress progress;
};

/* --- in a worker ------------------------------------------------------------------------------- */

static void *start(void *context)
{
    return context;
}

static bool work(void *context, void *state, void *memory, uint64_t item)
{
    const struct hunt *hunt = context;
    struct mutant_outcome *outcome = memory;
    struct text_pool texts = {0};
    (void)state;
    if (hunt->unfit[item] != NULL) {
        (void)snprintf(outcome->why, sizeof outcome->why, "%s", hunt->unfit[item]);
    } else {
        mutant_try(&texts, &hunt->trial, hunt->mutants[item], outcome);
    }
    text_pool_fini(&texts);
    return true;
}

static bool lost(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    struct mutant_outcome *outcome = memory;
    (void)context;
    (void)item;
    (void)loss;
    (void)snprintf(
        outcome->why, sizeof outcome->why, "the process that builds it died (signal %d)", detail);
    return true;
}

/* --- in the parent ----------------------------------------------------------------------------- */

/* Take over what a mutant's run found. */
static void read_run(struct json_input *input, struct report_mutant *record)
{
    json_t *run = json_array_get(json_input_list(input, input->root, "runs"), 0);
    json_t *violations = json_input_list(input, run, "violations");
    const size_t count = json_array_size(violations);
    const char **killers = text_memory(input->texts, count + 1, sizeof *killers);
    record->killed_by = killers;
    record->runs_to_kill = json_input_number(input, run, "runs");
    for (size_t i = 0; i < count; i++) {
        size_t oracle_count = 0;
        json_t *violation = json_array_get(violations, i);
        const char *const *oracles = json_input_texts(input, violation, "oracles", &oracle_count);
        if (oracle_count == 0) {
            continue;
        }
        size_t at = 0;
        while (at < record->killed_by_count && strcmp(killers[at], oracles[0]) != 0) {
            at++;
        }
        if (at == record->killed_by_count) {
            killers[record->killed_by_count++] = oracles[0];
        }
        if (!record->killed && strcmp(oracles[0], record->oracle) == 0) {
            record->killed = true;
            record->deviations = (uint32_t)json_input_number(input, violation, "deviations");
        }
    }
    if (!record->killed) {
        record->why = text_format(input->texts,
                                  "%s saw nothing in %" PRIu64 " runs of %s",
                                  record->oracle,
                                  record->runs_to_kill,
                                  record->scenario);
        record->runs_to_kill = 0;
    }
}

/* Take over what a mutant's unit test said. */
static void read_test(struct text_pool *texts,
                      const struct mutant_outcome *outcome,
                      struct report_mutant *record)
{
    static const char *const killers[] = {MUTANT_KILLER_TEST};
    record->killed = outcome->fails_test;
    if (record->killed) {
        record->killed_by = killers;
        record->killed_by_count = 1;
        record->runs_to_kill = 1;
    } else if (outcome->passes_test) {
        record->why = text_format(texts, "%s passes", record->oracle);
    }
}

static void take(void *context, const void *memory)
{
    struct hunt *hunt = context;
    struct text_pool *texts = &hunt->session->texts;
    const struct mutant_outcome *outcome = memory;
    const struct mutant *mutant = hunt->mutants[hunt->taken];
    struct report_mutant *record = &hunt->records[hunt->taken];
    hunt->taken++;
    *record = (struct report_mutant){
        .name = mutant->name,
        .target = mutant->target,
        .scenario = mutant->scenario,
        .mechanism = mutant->mechanism,
        .oracle = mutant->oracle,
        .why = text_copy(texts, bytes_of_text(outcome->why)),
    };
    if (outcome->swept) {
        struct json_input input;
        const char *path = mutant_trial_json(texts, &hunt->trial, mutant);
        if (json_input_open(&input, texts, path) == STATUS_OK) {
            read_run(&input, record);
        }
        json_input_close(&input);
    } else {
        read_test(texts, outcome, record);
    }
    if (!record->killed) {
        hunt->status = status_worse(hunt->status, STATUS_BROKEN);
        complain("mutant %s is not killed: %s", record->name, record->why);
    }
}

static void tick(void *context, uint64_t done)
{
    struct hunt *hunt = context;
    progress_show(&hunt->progress, done);
}

static enum status hunt_all(struct hunt *hunt)
{
    const struct options *options = hunt->session->options;
    const struct workers_options pool = {
        .jobs = options->jobs,
        .slot_size = sizeof(struct mutant_outcome),
        .count = hunt->count,
        .chunk = 1,
        .context = hunt,
        .start = start,
        .work = work,
        .lost = lost,
        .take = take,
        .tick = tick,
    };
    uint64_t done = 0;
    progress_start(&hunt->progress, "mutants", hunt->count);
    const enum err error = workers_run(&pool, &done);
    progress_end(&hunt->progress);
    if (error != ERR_OK) {
        complain("mutants: no processes");
        return STATUS_INTERNAL;
    }
    report_text_mutants(stdout, hunt->records, hunt->taken);
    enum status status = output_mutants(options->json, hunt->records, hunt->taken);
    if (options->plots != NULL) {
        const enum status drawn = kill_plots_of_records(hunt->session, hunt->records, hunt->taken);
        status = status_worse(status, drawn);
    }
    return status_worse(hunt->status, status);
}

static bool is_asked_for(const struct options *options, const struct mutant *mutant)
{
    for (size_t i = 0; i < options->argument_count; i++) {
        if (strcmp(options->arguments[i], mutant->name) == 0 ||
            strcmp(options->arguments[i], mutant->path) == 0) {
            return true;
        }
    }
    return options->argument_count == 0;
}

/* Mutants are sampled by kind. */
enum kind {
    KIND_CANARY = 0,
    KIND_SWEPT,
    KIND_TESTED,
    KIND_COUNT,
};

static enum kind kind_of(const struct mutant *mutant)
{
    return mutant->is_canary              ? KIND_CANARY
           : mutant->test_or_null != NULL ? KIND_TESTED
                                          : KIND_SWEPT;
}

/* Whether a mutant is in the sample: the canaries, and of the other kinds some, evenly spaced in
 * their order. number is the mutant's among its kind. */
static bool is_in_sample(enum kind kind, size_t number, size_t count)
{
    const size_t wanted = kind == KIND_TESTED ? SAMPLE_TESTED : SAMPLE_SWEPT;
    if (kind == KIND_CANARY || count <= wanted) {
        return true;
    }
    for (size_t k = 0; k < wanted; k++) {
        if (number == k * count / wanted) {
            return true;
        }
    }
    return false;
}

static bool is_canary_chosen(const struct hunt *hunt)
{
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->mutants[i]->is_canary) {
            return true;
        }
    }
    return false;
}

/* Fill hunt->mutants from all that there are. */
static enum status choose(struct hunt *hunt, const struct mutant *all, size_t count)
{
    const struct options *options = hunt->session->options;
    const bool sample = option_is_given(options, OPTION_BIT(SAMPLE));
    size_t counts[KIND_COUNT] = {0};
    size_t numbers[KIND_COUNT] = {0};
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        counts[kind_of(&all[i])]++;
    }
    for (size_t i = 0; i < count; i++) {
        const enum kind kind = kind_of(&all[i]);
        const size_t number = numbers[kind]++;
        const bool taken =
            is_asked_for(options, &all[i]) && (!sample || is_in_sample(kind, number, counts[kind]));
        if (taken && chosen++ % options->shard.count == options->shard.index - 1) {
            hunt->mutants[hunt->count++] = &all[i];
        }
    }
    if (sample && (count == 0 || !is_canary_chosen(hunt)) && options->shard.count == 1) {
        complain("mutants: no canary among %zu mutants; wanted: one whose name says so", count);
        return STATUS_BROKEN;
    }
    if (chosen < options->argument_count && !sample) {
        complain("mutants: %zu of the names given name no mutant; allowed: those of sinkproof list "
                 "mutants",
                 options->argument_count - chosen);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static enum status find_source(struct hunt *hunt)
{
    struct session *session = hunt->session;
    hunt->trial.source = session->options->source != NULL ? session->options->source
                                                          : source_folder(&session->texts);
    if (hunt->trial.source == NULL ||
        !file_exists(text_format(&session->texts, "%s/tools/build-mutant", hunt->trial.source))) {
        complain("mutants: no source tree at \"%s\"; wanted: --source DIR, a tree with "
                 "tools/build-mutant",
                 hunt->trial.source != NULL ? hunt->trial.source : "");
        return STATUS_USAGE;
    }
    if (folder_make(text_format(&session->texts, "%s/build/mutants", hunt->trial.source)) !=
        ERR_OK) {
        complain("mutants: %s/build/mutants: cannot be made", hunt->trial.source);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static enum status prepare(struct hunt *hunt)
{
    struct mutant *all = NULL;
    size_t count = 0;
    enum status status = output_check(hunt->session->options->json);
    if (status == STATUS_OK) {
        status = find_source(hunt);
    }
    if (status == STATUS_OK) {
        status = mutants_read(&hunt->session->texts, hunt->trial.source, &all, &count);
    }
    if (status == STATUS_OK) {
        hunt->mutants = text_memory(&hunt->session->texts, count + 1, sizeof(void *));
        hunt->records = text_memory(&hunt->session->texts, count + 1, sizeof *hunt->records);
        hunt->unfit = text_memory(&hunt->session->texts, count + 1, sizeof *hunt->unfit);
        status = choose(hunt, all, count);
    }
    if (status == STATUS_OK) {
        status = mutant_tests_prepare(
            &hunt->session->texts, &hunt->trial, hunt->mutants, hunt->count, hunt->unfit);
    }
    return status;
}

enum status command_mutants(const struct options *options)
{
    struct session session;
    struct hunt hunt = {.session = &session, .trial = {.options = options}};
    enum status status = session_open(&session, options);
    if (options->searches != NULL && options->plots == NULL) {
        complain("mutants: --searches: wanted beside it: --plots DIR");
        status = STATUS_USAGE;
    } else if (status == STATUS_OK && options->searches != NULL) {
        status = kill_plots_of_table(&session, options->searches);
    } else if (status == STATUS_OK) {
        status = prepare(&hunt);
        status = status == STATUS_OK ? hunt_all(&hunt) : status;
    }
    session_close(&session);
    return status;
}
