/* explain: why a run fails. It is shrunk; then what each choice is for, the event behind which nothing
 * saves it, and the nearest run that passes are looked for by runs. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/search/explaining.h"
#include "scenarios/cli/search/shrinking.h"
#include "scenarios/cli/sweep/failing_run.h"
#include "scenarios/cli/sweep/summary.h"

#include <stdlib.h>

struct explainer {
    struct session session;
    struct failing_run run;
    struct shrinking shrinking;
    struct explaining explaining;
    struct progress progress;
};

/* The tape that is explained: the shrunk one. */
static enum status shrink(struct explainer *explainer)
{
    struct shrinking_limits limits = shrinking_limits_of(explainer->session.options);
    struct explaining *explaining = &explainer->explaining;
    limits.progress_or_null = &explainer->progress;
    shrinking_run(&explainer->shrinking,
                  explainer->run.reproducer,
                  &explainer->run.tape,
                  &explainer->run.culprit,
                  &limits);
    const struct shrink_result *result = &explainer->shrinking.result;
    if (result->stop == SHRINK_STOP_PASSES) {
        complain("explain: the tape did not fail when it was run again");
        return STATUS_NONDETERMINISM;
    }
    *explaining = (struct explaining){
        .texts = &explainer->session.texts,
        .reproducer = explainer->run.reproducer,
        .scenario = explainer->run.scenario,
        .culprit = explainer->run.culprit,
        .runs_max = explainer->session.options->attempts,
        .deadline_ms = limits.deadline_ms,
        .progress_or_null = &explainer->progress,
        .runs = result->attempts,
    };
    if (!explaining_start(explaining, &result->tape)) {
        complain("explain: the shrunk tape did not fail when it was run again");
        return STATUS_NONDETERMINISM;
    }
    explaining->report.minimal = shrinking_stop_words(&explainer->session.texts, result);
    explaining->report.found = explainer->run.tape.count;
    return STATUS_OK;
}

/* The command that replays the explained tape. */
static const char *replay_command(struct explainer *explainer)
{
    struct text_pool *texts = &explainer->session.texts;
    const struct options *options = explainer->session.options;
    return text_format(texts,
                       "%s replay %s --tape %s%s --trace",
                       text_shell_word(texts, options->program),
                       text_shell_word(texts, options->arguments[0]),
                       options->output != NULL ? text_shell_word(texts, options->output)
                                               : "TAPE (-o keeps it)",
                       session_selection(&explainer->session));
}

static enum status explain(struct explainer *explainer)
{
    const uint64_t started = wall_milliseconds();
    const struct options *options = explainer->session.options;
    struct report_explanation *report = &explainer->explaining.report;
    if (explainer->run.culprit.oracle == SUMMARY_ORACLE_CRASH) {
        complain("explain: the run takes its process with it; wanted: a run that an oracle judges; "
                 "its last line is what replay shows");
        return STATUS_BROKEN;
    }
    progress_start(&explainer->progress, "explain", 0);
    enum status status = shrink(explainer);
    if (status == STATUS_OK) {
        explaining_run(&explainer->explaining);
        report->command = replay_command(explainer);
        report->elapsed_ms = wall_milliseconds() - started;
    }
    progress_end(&explainer->progress);
    if (status == STATUS_OK) {
        report_text_explanation(stdout, report);
        status = output_explanation(options->json, report);
    }
    if (status == STATUS_OK && options->output != NULL) {
        status = failing_run_write(&explainer->run, &explainer->explaining.tape);
    }
    return status;
}

enum status command_explain(const struct options *options)
{
    /* Too large for the stack. */
    struct explainer *explainer = memory_take(sizeof *explainer);
    enum status status = session_open(&explainer->session, options);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = failing_run_open(&explainer->run, &explainer->session, "explain");
    }
    if (status == STATUS_OK) {
        status = explain(explainer);
    }
    shrinking_free(&explainer->shrinking);
    failing_run_close(&explainer->run);
    session_close(&explainer->session);
    free(explainer);
    return status;
}
