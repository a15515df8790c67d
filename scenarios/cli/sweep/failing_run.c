#include "scenarios/cli/sweep/failing_run.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/sweep/entry.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"

#include <stdio.h>
#include <string.h>

/* Take the run's own record, which is all that its tape was good for. */
static void take_recorded(struct failing_run *run)
{
    const struct tape recorded = reproducer_recorded(run->reproducer);
    run->tape = recorded;
    run->tape.capacity = recorded.count;
    run->tape.entries =
        text_memory(&run->session->texts, (size_t)recorded.count + 1, sizeof *recorded.entries);
    if (recorded.count > 0) {
        memcpy(run->tape.entries, recorded.entries, recorded.count * sizeof *recorded.entries);
    }
}

/* Choose what is looked into: the wanted oracle's finding, or the first. */
static enum status choose_culprit(struct failing_run *run, const struct result *result)
{
    const char *wanted = run->session->options->oracle;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct result_finding *found = &result->findings[i];
        if (wanted == NULL || strcmp(wanted, summary_oracle_name(found->oracle)) == 0) {
            run->culprit = culprit_of_finding(found);
            return STATUS_OK;
        }
    }
    complain("%s: the run breaks nothing%s%s; wanted: a run that fails",
             run->command,
             wanted != NULL ? " of oracle " : "",
             wanted != NULL ? wanted : "");
    return STATUS_BROKEN;
}

/* Make the run that is given, and see what it breaks. */
static enum status first_run(struct failing_run *run)
{
    const struct options *options = run->session->options;
    const struct run_request request = option_is_given(options, OPTION_BIT(SEED))
                                           ? reproducer_seed_request(run->scenario, options->seed)
                                           : reproducer_tape_request(&run->tape);
    int detail = 0;
    switch (reproducer_run_guarded(run->reproducer, &request, options->hang_after, &detail)) {
    case REPRODUCER_DONE:
        take_recorded(run);
        return choose_culprit(run, reproducer_result(run->reproducer));
    case REPRODUCER_CRASHED:
        take_recorded(run);
        run->culprit =
            (struct culprit){.oracle = SUMMARY_ORACLE_CRASH, .subject_kind = SUBJECT_JOB};
        return STATUS_OK;
    case REPRODUCER_HUNG:
        complain("%s: the run hangs; wanted: a run that ends", run->command);
        return STATUS_BROKEN;
    case REPRODUCER_NO_PROCESS:
        break;
    }
    complain("no process for the run");
    return STATUS_INTERNAL;
}

static enum status choose_source(struct failing_run *run)
{
    const struct options *options = run->session->options;
    const bool seed = option_is_given(options, OPTION_BIT(SEED));
    const bool tape = option_is_given(options, OPTION_BIT(TAPE));
    const bool fuzz = option_is_given(options, OPTION_BIT(FUZZ));
    const uint32_t given = (seed ? 1u : 0u) + (tape ? 1u : 0u) + (fuzz ? 1u : 0u);
    if (given > 1 || (given == 0 && !run->scenario->has_tape)) {
        complain("%s: %s of --seed, --tape and --fuzz given; allowed: one of them",
                 run->command,
                 given > 1 ? "more than one" : "none");
        return STATUS_USAGE;
    }
    if (tape) {
        return session_tape(run->session, options->tape, &run->tape);
    }
    if (fuzz) {
        return session_fuzz_input(run->session, options->fuzz, &run->tape);
    }
    run->tape = run->scenario->tape;
    return STATUS_OK;
}

enum status failing_run_open(struct failing_run *run, struct session *session, const char *command)
{
    *run = (struct failing_run){.session = session, .command = command};
    enum status status = session_scenario(session, session->options->arguments[0], &run->scenario);
    if (status == STATUS_OK) {
        status = choose_source(run);
    }
    if (status != STATUS_OK) {
        return status;
    }
    run->reproducer = reproducer_create(run->scenario);
    if (run->reproducer == NULL) {
        complain("no memory for a run");
        return STATUS_INTERNAL;
    }
    return first_run(run);
}

void failing_run_close(struct failing_run *run)
{
    if (run->reproducer != NULL) {
        reproducer_destroy(run->reproducer);
    }
    if (run->scenario != NULL) {
        scenario_destroy(run->scenario);
    }
}

/* The tape as one to keep: with what its run breaks. A crash leaves no digest. */
static const char *kept_text(const struct failing_run *run, const struct tape *tape)
{
    struct text_pool *texts = &run->session->texts;
    struct culprit culprit = run->culprit;
    uint64_t digest = 0;
    if (culprit.oracle != SUMMARY_ORACLE_CRASH) {
        const struct run_request request = reproducer_tape_request(tape);
        const struct result *result = reproducer_run(run->reproducer, &request);
        const struct finding *found = culprit_find(&culprit, result);
        culprit.subject = found != NULL ? found->subject : culprit.subject;
        digest = result->digest;
    }
    struct tape_header header = failures_header(run->scenario);
    entry_fill_header(texts, &culprit, digest, &header);
    return entry_text(texts, &header, tape);
}

enum status failing_run_write(const struct failing_run *run, const struct tape *tape)
{
    const char *path = run->session->options->output;
    const char *text = kept_text(run, tape);
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
