/* shrink: from a run that fails to the smallest tape that fails in the same way. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/entry.h"
#include "scenarios/cli/failures.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/reproducer.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shrinker {
    struct session *session;
    struct scenario *scenario;
    struct reproducer *reproducer;
    struct tape tape; /* what is shrunk; entries in the session's texts */
    struct culprit culprit;
};

/* Take the run's own record, which is all that its tape was good for. */
static void take_recorded(struct shrinker *shrinker)
{
    const struct tape recorded = reproducer_recorded(shrinker->reproducer);
    shrinker->tape = recorded;
    shrinker->tape.capacity = recorded.count;
    shrinker->tape.entries = text_memory(
        &shrinker->session->texts, (size_t)recorded.count + 1, sizeof *recorded.entries);
    if (recorded.count > 0) {
        memcpy(shrinker->tape.entries, recorded.entries, recorded.count * sizeof *recorded.entries);
    }
}

/* Choose what the smaller tapes must break: the wanted oracle's finding, or the first. */
static enum status choose_culprit(struct shrinker *shrinker, const struct result *result)
{
    const char *wanted = shrinker->session->options->oracle;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct result_finding *found = &result->findings[i];
        if (wanted == NULL || strcmp(wanted, summary_oracle_name(found->oracle)) == 0) {
            shrinker->culprit = (struct culprit){
                .oracle = found->oracle,
                .subject_kind = found->finding.subject_kind,
                .subject = found->finding.subject,
            };
            return STATUS_OK;
        }
    }
    complain("shrink: the run breaks nothing%s%s; wanted: a run that fails",
             wanted != NULL ? " of oracle " : "",
             wanted != NULL ? wanted : "");
    return STATUS_BROKEN;
}

/* Make the run that is given, and see what it breaks. */
static enum status first_run(struct shrinker *shrinker)
{
    const struct options *options = shrinker->session->options;
    const struct run_request request =
        option_is_given(options, OPTION_BIT(SEED))
            ? reproducer_seed_request(shrinker->scenario, options->seed)
            : reproducer_tape_request(&shrinker->tape);
    int detail = 0;
    switch (reproducer_run_guarded(shrinker->reproducer, &request, options->hang_after, &detail)) {
    case REPRODUCER_DONE:
        take_recorded(shrinker);
        return choose_culprit(shrinker, reproducer_result(shrinker->reproducer));
    case REPRODUCER_CRASHED:
        take_recorded(shrinker);
        shrinker->culprit =
            (struct culprit){.oracle = SUMMARY_ORACLE_CRASH, .subject_kind = SUBJECT_JOB};
        return STATUS_OK;
    case REPRODUCER_HUNG:
        complain("shrink: the run hangs; wanted: a run that ends");
        return STATUS_BROKEN;
    case REPRODUCER_NO_PROCESS:
        break;
    }
    complain("no process for the run");
    return STATUS_INTERNAL;
}

static const char *stop_name(const struct shrink_result *result)
{
    switch (result->stop) {
    case SHRINK_STOP_LOCAL_MINIMUM:
        return result->proven_minimal ? "proven minimal" : "nothing smaller found";
    case SHRINK_STOP_ATTEMPTS:
        return "attempts used up";
    case SHRINK_STOP_INTERRUPTED:
        return "interrupted";
    case SHRINK_STOP_PASSES:
        return "the tape did not fail when it was run again";
    case SHRINK_STOP_NONE:
        break;
    }
    UNREACHABLE();
}

/* The tape as one to keep: with what its run breaks. A crash leaves no digest. */
static const char *kept_text(const struct shrinker *shrinker, const struct tape *tape)
{
    struct text_pool *texts = &shrinker->session->texts;
    struct culprit culprit = shrinker->culprit;
    uint64_t digest = 0;
    if (culprit.oracle != SUMMARY_ORACLE_CRASH) {
        const struct run_request request = reproducer_tape_request(tape);
        const struct result *result = reproducer_run(shrinker->reproducer, &request);
        const struct finding *found = culprit_find(&culprit, result);
        culprit.subject = found != NULL ? found->subject : culprit.subject;
        digest = result->digest;
    }
    struct tape_header header = failures_header(shrinker->scenario);
    entry_fill_header(texts, &culprit, digest, &header);
    return entry_text(texts, &header, tape);
}

static enum status write_out(const struct shrinker *shrinker, const struct tape *tape)
{
    const char *path = shrinker->session->options->output;
    const char *text = kept_text(shrinker, tape);
    if (path == NULL) {
        (void)fputs(text, stdout);
        return STATUS_OK;
    }
    if (file_write(path, bytes_of_text(text)) != ERR_OK) {
        complain("-o \"%s\": cannot be written; allowed: a file in a folder that exists", path);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static enum status shrink(struct shrinker *shrinker)
{
    const struct options *options = shrinker->session->options;
    const uint64_t started = wall_milliseconds();
    const struct shrink_limits limits = {
        .attempts = (uint32_t)options->attempts,
        .hang_after = options->hang_after,
    };
    struct shrinking shrinking;
    reproducer_shrink(
        shrinker->reproducer, &shrinker->tape, &shrinker->culprit, &limits, &shrinking);
    const struct shrink_result *result = &shrinking.result;
    enum status status = STATUS_NONDETERMINISM;
    if (result->stop != SHRINK_STOP_PASSES) {
        status = write_out(shrinker, &result->tape);
    }
    /* The tape may be on standard output: what is said of it goes beside. */
    (void)fprintf(options->output == NULL ? stderr : stdout,
                  "%s: %s: %" PRIu32 " entries from %" PRIu32 ", %" PRIu32 " attempts, %" PRIu64
                  " ms, %s\n",
                  shrinker->scenario->name,
                  summary_oracle_name(shrinker->culprit.oracle),
                  result->tape.count,
                  shrinker->tape.count,
                  result->attempts,
                  wall_milliseconds() - started,
                  stop_name(result));
    free(shrinking.memory);
    return status;
}

static enum status choose_source(struct shrinker *shrinker)
{
    const struct options *options = shrinker->session->options;
    const bool seed = option_is_given(options, OPTION_BIT(SEED));
    const bool tape = option_is_given(options, OPTION_BIT(TAPE));
    const bool fuzz = option_is_given(options, OPTION_BIT(FUZZ));
    const uint32_t given = (seed ? 1u : 0u) + (tape ? 1u : 0u) + (fuzz ? 1u : 0u);
    if (given > 1 || (given == 0 && !shrinker->scenario->has_tape)) {
        complain("shrink: %s of --seed, --tape and --fuzz given; allowed: one of them",
                 given > 1 ? "more than one" : "none");
        return STATUS_USAGE;
    }
    if (tape) {
        return session_tape(shrinker->session, options->tape, &shrinker->tape);
    }
    if (fuzz) {
        return session_fuzz_input(shrinker->session, options->fuzz, &shrinker->tape);
    }
    shrinker->tape = shrinker->scenario->tape;
    return STATUS_OK;
}

enum status command_shrink(const struct options *options)
{
    struct session session;
    struct shrinker shrinker = {.session = &session};
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = session_scenario(&session, options->arguments[0], &shrinker.scenario);
    }
    if (status == STATUS_OK) {
        status = choose_source(&shrinker);
    }
    if (status == STATUS_OK) {
        shrinker.reproducer = reproducer_create(shrinker.scenario);
        status = shrinker.reproducer == NULL ? STATUS_INTERNAL : first_run(&shrinker);
    }
    if (status == STATUS_OK) {
        status = shrink(&shrinker);
    }
    if (shrinker.reproducer != NULL) {
        reproducer_destroy(shrinker.reproducer);
    }
    if (shrinker.scenario != NULL) {
        scenario_destroy(shrinker.scenario);
    }
    session_close(&session);
    return status;
}
