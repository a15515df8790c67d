#include "scenarios/cli/mutants/mutant_trial.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/process.h"
#include "scenarios/cli/session.h"

#include <inttypes.h>
#include <string.h>

/* Statuses of env and timeout, which start a unit test. */
#define STATUS_TIMEOUT_FAILED 125
#define STATUS_NOT_STARTED    127

static const char *path_of(struct text_pool *texts,
                           const struct mutant_trial *trial,
                           const char *name,
                           const char *ending)
{
    return text_format(texts, "%s/build/mutants/%s%s", trial->source, name, ending);
}

const char *mutant_trial_json(struct text_pool *texts,
                              const struct mutant_trial *trial,
                              const struct mutant *mutant)
{
    return path_of(texts, trial, mutant->label, ".json");
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
                  const struct mutant_trial *trial,
                  const struct mutant *mutant,
                  struct mutant_outcome *outcome)
{
    const char *log = path_of(texts, trial, mutant->label, ".build.log");
    const char *const words[] = {
        text_format(texts, "%s/tools/build-mutant", trial->source),
        trial->source,
        mutant->path,
        path_of(texts, trial, mutant->name, ""),
        mutant->test_or_null,
        NULL,
    };
    const int status = process_run(words, log);
    if (status == 0) {
        return true;
    }
    (void)snprintf(outcome->why,
                   sizeof outcome->why,
                   "%s: %s",
                   status == 1   ? "the patch does not apply"
                   : status == 2 ? "it does not build"
                                 : "tools/build-mutant failed",
                   last_line(texts, log));
    return false;
}

static void sweep(struct text_pool *texts,
                  const struct mutant_trial *trial,
                  const struct mutant *mutant,
                  struct mutant_outcome *outcome)
{
    const struct options *options = trial->options;
    const char *log = path_of(texts, trial, mutant->label, ".run.log");
    const char *json = mutant_trial_json(texts, trial, mutant);
    const char *words[24] = {
        path_of(texts, trial, mutant->name, "/build/release/sinkproof"),
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
        json,
    };
    size_t count = 13;
    if (options->without_oracle != NULL) {
        words[count++] = "--without-oracle";
        words[count++] = options->without_oracle;
    }
    if (options->out != NULL) {
        words[count++] = "--out";
        words[count++] = text_format(texts, "%s/%s", options->out, mutant->label);
    }
    (void)remove(json);
    const int status = process_run(words, log);
    outcome->swept = file_exists(json);
    if (!outcome->swept) {
        (void)snprintf(outcome->why,
                       sizeof outcome->why,
                       "its run ended with status %d: %s",
                       status,
                       last_line(texts, log));
    }
}

/* Run a unit test in a tree; its exit status as of process_run. */
static int run_test(struct text_pool *texts, const char *tree, const char *test, const char *log)
{
    const char *const words[] = {
        "timeout",
        "--kill-after=5",
        "60",
        "env",
        "-C",
        tree,
        text_format(texts, "build/debug/%s_test", test),
        NULL,
    };
    return process_run(words, log);
}

static bool was_run(int status)
{
    return status >= 0 && (status < STATUS_TIMEOUT_FAILED || status > STATUS_NOT_STARTED);
}

static void judge_by_test(struct text_pool *texts,
                          const struct mutant_trial *trial,
                          const struct mutant *mutant,
                          struct mutant_outcome *outcome)
{
    const char *tree = path_of(texts, trial, mutant->name, "");
    const char *log = path_of(texts, trial, mutant->label, ".run.log");
    const int status = run_test(texts, tree, mutant->test_or_null, log);
    if (was_run(status)) {
        outcome->passes_test = status == 0;
        outcome->fails_test = status != 0;
    } else {
        (void)snprintf(outcome->why,
                       sizeof outcome->why,
                       "its unit test cannot be run: %s",
                       last_line(texts, log));
    }
}

void mutant_try(struct text_pool *texts,
                const struct mutant_trial *trial,
                const struct mutant *mutant,
                struct mutant_outcome *outcome)
{
    if (!build(texts, trial, mutant, outcome)) {
        return;
    }
    if (mutant->test_or_null != NULL) {
        judge_by_test(texts, trial, mutant, outcome);
    } else {
        sweep(texts, trial, mutant, outcome);
    }
}

/* --- before the first of them ------------------------------------------------------------------ */

/* The first of the mutants with the same test as the i-th. */
static size_t first_with_its_test(const struct mutant *const *mutants, size_t i)
{
    size_t first = 0;
    while (mutants[first]->test_or_null == NULL ||
           strcmp(mutants[first]->test_or_null, mutants[i]->test_or_null) != 0) {
        first++;
    }
    return first;
}

/* Why a test fails without any patch, or NULL. */
static const char *
why_unfit(struct text_pool *texts, const struct mutant_trial *trial, const char *test)
{
    const char *log = path_of(texts, trial, "tests", ".run.log");
    const int status = run_test(texts, trial->source, test, log);
    return status == 0 ? NULL
                       : text_format(texts,
                                     "the unit test %s ends with status %d without a patch, too",
                                     test,
                                     status);
}

enum status mutant_tests_prepare(struct text_pool *texts,
                                 const struct mutant_trial *trial,
                                 const struct mutant *const *mutants,
                                 size_t count,
                                 const char **whys)
{
    /* The job server of an outer make is not ours. */
    const char *const start[] = {
        "env",
        "-u",
        "MAKEFLAGS",
        "-u",
        "MAKELEVEL",
        "-u",
        "MFLAGS",
        "make",
        "-s",
        text_format(texts, "-j%" PRIu32, trial->options->jobs),
        "-C",
        trial->source,
    };
    const char *log = path_of(texts, trial, "tests", ".build.log");
    const char **words = text_memory(texts, ARRAY_COUNT(start) + count + 1, sizeof *words);
    size_t word_count = ARRAY_COUNT(start);
    memcpy(words, start, sizeof start);
    for (size_t i = 0; i < count; i++) {
        const char *test = mutants[i]->test_or_null;
        if (test != NULL && first_with_its_test(mutants, i) == i) {
            words[word_count++] = text_format(texts, "build/debug/%s_test", test);
        }
    }
    if (word_count == ARRAY_COUNT(start)) {
        return STATUS_OK;
    }
    if (process_run(words, log) != 0) {
        complain("mutants: their unit tests do not build: %s", last_line(texts, log));
        return STATUS_BROKEN;
    }
    for (size_t i = 0; i < count; i++) {
        const char *test = mutants[i]->test_or_null;
        if (test != NULL) {
            const size_t first = first_with_its_test(mutants, i);
            whys[i] = first == i ? why_unfit(texts, trial, test) : whys[first];
        }
    }
    return STATUS_OK;
}
