/* mutants: build every planted bug, and show by which oracle it is killed. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/mutants.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/process.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/summary.h"
#include "scenarios/workers.h"

#include <inttypes.h>
#include <string.h>

#define SAMPLE_COUNT 4
#define WHY_SIZE     400

/* What a worker says of one mutant. */
struct slot {
    bool ran; /* there is a JSON file */
    char why[WHY_SIZE];
};

struct hunt {
    struct session *session;
    const char *source;
    const struct mutant **mutants;
    struct report_mutant *records;
    size_t count;
    size_t taken;
    enum status status;
    struct progress progress;
};

/* --- in a worker ------------------------------------------------------------------------------- */

static const char *path_of(struct text_pool *texts,
                           const struct hunt *hunt,
                           const struct mutant *mutant,
                           const char *ending)
{
    return text_format(texts, "%s/build/mutants/%s%s", hunt->source, mutant->name, ending);
}

/* The last line of a log that is not empty. */
static const char *last_line(struct text_pool *texts, const char *path)
{
    struct bytes log = {0};
    if (file_read(texts, path, &log) != ERR_OK) {
        return "(no output)";
    }
    while (log.size > 0 && (log.data[log.size - 1] == '\n' || log.data[log.size - 1] == ' ')) {
        log.size--;
    }
    size_t start = log.size;
    while (start > 0 && log.data[start - 1] != '\n') {
        start--;
    }
    return text_copy(texts, (struct bytes){log.data + start, log.size - start});
}

static bool build(struct text_pool *texts,
                  const struct hunt *hunt,
                  const struct mutant *mutant,
                  struct slot *slot)
{
    const char *log = path_of(texts, hunt, mutant, ".build.log");
    const char *const words[] = {
        text_format(texts, "%s/tools/build-mutant", hunt->source),
        hunt->source,
        mutant->path,
        path_of(texts, hunt, mutant, ""),
        NULL,
    };
    const int status = process_run(words, log);
    if (status == 0) {
        return true;
    }
    (void)snprintf(slot->why,
                   sizeof slot->why,
                   "%s: %s",
                   status == 1   ? "the patch does not apply"
                   : status == 2 ? "it does not build"
                                 : "tools/build-mutant failed",
                   last_line(texts, log));
    return false;
}

static bool run(struct text_pool *texts,
                const struct hunt *hunt,
                const struct mutant *mutant,
                struct slot *slot)
{
    const struct options *options = hunt->session->options;
    const char *log = path_of(texts, hunt, mutant, ".run.log");
    const char *words[24] = {
        path_of(texts, hunt, mutant, "/build/release/sinkproof"),
        "run",
        mutant->scenario,
        "--jobs",
        "1",
        "--seeds",
        text_format(texts, "1-%" PRIu64, mutant->seeds),
        "--stop-at",
        mutant->oracle,
        "--hang-after",
        text_format(texts, "%" PRIu64 "ms", options->hang_after / NANOS_PER_MS),
        "--json",
        path_of(texts, hunt, mutant, ".json"),
    };
    size_t count = 13;
    if (options->without_oracle != NULL) {
        words[count++] = "--without-oracle";
        words[count++] = options->without_oracle;
    }
    if (options->out != NULL) {
        words[count++] = "--out";
        words[count++] = text_format(texts, "%s/%s", options->out, mutant->name);
    }
    (void)remove(path_of(texts, hunt, mutant, ".json"));
    const int status = process_run(words, log);
    if (!file_exists(path_of(texts, hunt, mutant, ".json"))) {
        (void)snprintf(slot->why,
                       sizeof slot->why,
                       "its run ended with status %d: %s",
                       status,
                       last_line(texts, log));
        return false;
    }
    return true;
}

static void *start(void *context)
{
    return context;
}

static bool work(void *context, void *state, void *memory, uint64_t item)
{
    const struct hunt *hunt = context;
    struct slot *slot = memory;
    struct text_pool texts = {0};
    (void)state;
    slot->ran = build(&texts, hunt, hunt->mutants[item], slot) &&
                run(&texts, hunt, hunt->mutants[item], slot);
    text_pool_fini(&texts);
    return true;
}

static bool lost(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    struct slot *slot = memory;
    (void)context;
    (void)item;
    (void)loss;
    (void)snprintf(
        slot->why, sizeof slot->why, "the process that builds it died (signal %d)", detail);
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

static void take(void *context, const void *memory)
{
    struct hunt *hunt = context;
    struct text_pool *texts = &hunt->session->texts;
    const struct slot *slot = memory;
    const struct mutant *mutant = hunt->mutants[hunt->taken];
    struct report_mutant *record = &hunt->records[hunt->taken];
    hunt->taken++;
    *record = (struct report_mutant){
        .name = mutant->name,
        .target = mutant->target,
        .scenario = mutant->scenario,
        .mechanism = mutant->mechanism,
        .oracle = mutant->oracle,
        .why = text_copy(texts, bytes_of_text(slot->why)),
    };
    if (slot->ran) {
        struct json_input input;
        if (json_input_open(&input, texts, path_of(texts, hunt, mutant, ".json")) == STATUS_OK) {
            read_run(&input, record);
        }
        json_input_close(&input);
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
        .slot_size = sizeof(struct slot),
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
    return status_worse(hunt->status, output_mutants(options->json, hunt->records, hunt->taken));
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

/* Whether a mutant is in the sample: the canaries, and of the others SAMPLE_COUNT, evenly spaced in
 * their order. number is the mutant's among the others. */
static bool is_in_sample(const struct mutant *mutant, size_t number, size_t others)
{
    if (mutant->is_canary || others <= SAMPLE_COUNT) {
        return true;
    }
    for (size_t k = 0; k < SAMPLE_COUNT; k++) {
        if (number == k * others / SAMPLE_COUNT) {
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
    size_t others = 0;
    size_t number = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        others += all[i].is_canary ? 0 : 1;
    }
    for (size_t i = 0; i < count; i++) {
        const bool taken =
            is_asked_for(options, &all[i]) && (!sample || is_in_sample(&all[i], number, others));
        number += all[i].is_canary ? 0 : 1;
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
    hunt->source = session->options->source != NULL ? session->options->source
                                                    : source_folder(&session->texts);
    if (hunt->source == NULL ||
        !file_exists(text_format(&session->texts, "%s/tools/build-mutant", hunt->source))) {
        complain("mutants: no source tree at \"%s\"; wanted: --source DIR, a tree with "
                 "tools/build-mutant",
                 hunt->source != NULL ? hunt->source : "");
        return STATUS_USAGE;
    }
    if (folder_make(text_format(&session->texts, "%s/build/mutants", hunt->source)) != ERR_OK) {
        complain("mutants: %s/build/mutants: cannot be made", hunt->source);
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
        status = mutants_read(&hunt->session->texts, hunt->source, &all, &count);
    }
    if (status == STATUS_OK) {
        hunt->mutants = text_memory(&hunt->session->texts, count + 1, sizeof(void *));
        hunt->records = text_memory(&hunt->session->texts, count + 1, sizeof *hunt->records);
        status = choose(hunt, all, count);
    }
    return status;
}

enum status command_mutants(const struct options *options)
{
    struct session session;
    struct hunt hunt = {.session = &session};
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = prepare(&hunt);
    }
    if (status == STATUS_OK) {
        status = hunt_all(&hunt);
    }
    session_close(&session);
    return status;
}
