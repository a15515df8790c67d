/* shrink: from a run that fails to the smallest tape that fails in the same way. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/search/shrink_state.h"
#include "scenarios/cli/search/shrinking.h"
#include "scenarios/cli/sweep/failing_run.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"

#include <inttypes.h>
#include <stdlib.h>

struct shrinker {
    struct session session;
    struct failing_run run;
    struct shrinking shrinking;
    enum status saved; /* of the state file */
};

/* --- what else was met ------------------------------------------------------------------------- */

/* DIR/<scenario>-<oracle>-<subject>.tape, with a dash for what a file name does not take well. */
static const char *other_path(struct shrinker *shrinker, const struct culprit *culprit)
{
    struct text_pool *texts = &shrinker->session.texts;
    char *name = text_format(texts,
                             "%s-%s-%s",
                             shrinker->run.scenario->name,
                             summary_oracle_name(culprit->oracle),
                             summary_subject(texts, culprit->subject_kind, culprit->subject));
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/' || *at == ' ') {
            *at = '-';
        }
    }
    return text_format(
        texts, "%s/%s.tape", shrinker->session.options->out, name[0] == '.' ? name + 1 : name);
}

static enum status write_others(struct shrinker *shrinker)
{
    const char *out = shrinker->session.options->out;
    const struct shrinking *shrinking = &shrinker->shrinking;
    bool ok = folder_make(out) == ERR_OK;
    for (uint32_t i = 0; i < shrinking->other_count && ok; i++) {
        const struct shrinking_other *other = &shrinking->others[i];
        const char *text =
            failures_tape_text(&shrinker->session.texts, shrinker->run.scenario, &other->tape);
        ok = file_write(other_path(shrinker, &other->culprit), bytes_of_text(text)) == ERR_OK;
    }
    if (!ok) {
        complain("--out \"%s\": cannot write there; allowed: a folder that can be made or written",
                 out);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static void say_others(const struct shrinker *shrinker, FILE *file)
{
    const struct shrinking *shrinking = &shrinker->shrinking;
    const char *out = shrinker->session.options->out;
    if (shrinking->other_count == 0) {
        return;
    }
    (void)fprintf(file,
                  "  on the way %" PRIu32 " other violations were met%s%s%s\n",
                  shrinking->other_count,
                  out == NULL ? "; --out DIR keeps a tape of each" : "; their tapes are in ",
                  out == NULL ? "" : out,
                  shrinking->others_dropped > 0 ? ", and more than there was room for" : "");
}

/* --- the search -------------------------------------------------------------------------------- */

static void save(void *context, const struct shrinking *shrinking)
{
    struct shrinker *shrinker = context;
    const char *path = shrinker->session.options->resume;
    if (shrinker->saved == STATUS_OK &&
        shrink_state_write(path, &shrinker->run, shrinking) != ERR_OK) {
        complain("--resume \"%s\": cannot be written; allowed: a file in a folder that exists",
                 path);
        shrinker->saved = STATUS_USAGE;
    }
}

/* The tape may be on standard output: what is said of it goes beside. */
static void say_result(struct shrinker *shrinker, uint64_t elapsed_ms)
{
    const struct shrink_result *result = &shrinker->shrinking.result;
    FILE *file = shrinker->session.options->output == NULL ? stderr : stdout;
    (void)fprintf(file,
                  "%s: %s: %" PRIu32 " entries from %" PRIu32 ", %" PRIu32 " attempts, %" PRIu64
                  " ms, %s\n",
                  shrinker->run.scenario->name,
                  summary_oracle_name(shrinker->run.culprit.oracle),
                  result->tape.count,
                  shrinker->run.tape.count,
                  result->attempts,
                  elapsed_ms,
                  shrinking_stop_words(&shrinker->session.texts, result));
    say_others(shrinker, file);
}

static enum status shrink(struct shrinker *shrinker)
{
    const struct options *options = shrinker->session.options;
    const uint64_t started = wall_milliseconds();
    struct progress progress;
    struct shrinking_limits limits = shrinking_limits_of(options);
    progress_start(&progress, "shrink", 0);
    limits.progress_or_null = &progress;
    shrinking_run(&shrinker->shrinking,
                  shrinker->run.reproducer,
                  &shrinker->run.tape,
                  &shrinker->run.culprit,
                  &limits);
    progress_end(&progress);
    if (shrinker->shrinking.is_foreign) {
        complain("--resume \"%s\": the runs come out otherwise than it says; allowed: the state of "
                 "a shrink with the same build and options",
                 options->resume);
        return STATUS_USAGE;
    }
    enum status status = shrinker->saved;
    if (shrinker->shrinking.result.stop == SHRINK_STOP_PASSES) {
        status = STATUS_NONDETERMINISM;
    } else if (status == STATUS_OK) {
        status = failing_run_write(&shrinker->run, &shrinker->shrinking.result.tape);
    }
    if (status == STATUS_OK && options->out != NULL) {
        status = write_others(shrinker);
    }
    say_result(shrinker, wall_milliseconds() - started);
    return status;
}

enum status command_shrink(const struct options *options)
{
    /* Too large for the stack. */
    struct shrinker *shrinker = memory_take(sizeof *shrinker);
    enum status status = session_open(&shrinker->session, options);
    if (status == STATUS_OK) {
        status = failing_run_open(&shrinker->run, &shrinker->session, "shrink");
    }
    if (status == STATUS_OK && options->resume != NULL) {
        shrinker->shrinking.save = save;
        shrinker->shrinking.save_context = shrinker;
        status = shrink_state_read(options->resume, &shrinker->run, &shrinker->shrinking);
    }
    if (status == STATUS_OK) {
        status = shrink(shrinker);
    }
    shrinking_free(&shrinker->shrinking);
    failing_run_close(&shrinker->run);
    session_close(&shrinker->session);
    free(shrinker);
    return status;
}
