/* timing: which independently set times of a scenario must exceed which, and by how much they do; a run
 * that shows each one that does not; and what its times come to. */
#include "reports/timing.h"

#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/session.h"
#include "scenarios/timing/figures.h"

#include <string.h>

#define RUNS_DEFAULT 4000u

/* One scenario on its way to a report. */
struct timing {
    struct session *session;
    const char *word; /* how the user named it */
    struct scenario *scenario;
    struct timing_source source;
    struct timing_constraints constraints;
    struct timing_figures figures;
    struct report_timing_constraint reports[TIMING_CONSTRAINT_MAX];
    struct report_timing_figure figure_reports[FIGURE_COUNT];
};

static enum status give_up(enum err err, const struct scenario_fault *fault)
{
    complain("%s", fault->message[0] != '\0' ? fault->message : err_name(err));
    return err == ERR_LIMIT ? STATUS_INTERNAL : STATUS_USAGE;
}

/* The scenario's own text, and where files that it names lie. */
static enum status read_source(struct timing *timing)
{
    struct text_pool *texts = &timing->session->texts;
    const struct options *options = timing->session->options;
    char path[1024];
    if (!scenario_find(timing->word, path, sizeof path) ||
        file_read(texts, path, &timing->source.json) != ERR_OK) {
        complain("%s: cannot be read", timing->word);
        return STATUS_USAGE;
    }
    const char *slash = strrchr(path, '/');
    const size_t size = slash == NULL ? 0 : (size_t)(slash - path);
    timing->source.options = (struct scenario_options){
        .name = timing->scenario->name,
        .sink_or_null = session_sink(timing->session),
        .profile = options->profile,
        .profile_given = option_is_given(options, OPTION_BIT(PROFILE)),
        .folder_or_null =
            slash == NULL ? "." : text_copy(texts, (struct bytes){(const uint8_t *)path, size}),
    };
    return STATUS_OK;
}

static size_t
copy_terms(const struct timing_term *terms, uint32_t count, struct report_timing_term *reports)
{
    for (uint32_t i = 0; i < count; i++) {
        reports[i] = (struct report_timing_term){terms[i].name, terms[i].value};
    }
    return count;
}

/* Keep the variant in the folder of --out: it has the tape in it. */
static enum status keep(struct timing *timing,
                        const struct timing_constraint *constraint,
                        const struct timing_shown *shown,
                        struct report_timing_constraint *report)
{
    const struct options *options = timing->session->options;
    struct text_pool *texts = &timing->session->texts;
    if (options->out == NULL) {
        return STATUS_OK;
    }
    const char *path =
        text_format(texts, "%s/timing-%s.json", options->out, constraint->timing->name);
    if (folder_make(options->out) != ERR_OK ||
        file_write(path, bytes_of_text(shown->variant)) != ERR_OK) {
        complain("--out \"%s\": cannot be written; allowed: a folder", options->out);
        return STATUS_USAGE;
    }
    report->command =
        text_format(texts, "%s run %s", options->program, text_shell_word(texts, path));
    return STATUS_OK;
}

static enum status show(struct timing *timing,
                        const struct timing_constraint *constraint,
                        struct report_timing_constraint *report)
{
    const struct options *options = timing->session->options;
    const uint64_t most =
        option_is_given(options, OPTION_BIT(ATTEMPTS)) ? options->attempts : RUNS_DEFAULT;
    struct scenario_fault fault = {{0}};
    struct timing_shown shown;
    const enum err err = timing_probe(&timing->session->texts,
                                      &timing->source,
                                      constraint,
                                      most > UINT32_MAX ? UINT32_MAX : (uint32_t)most,
                                      &shown,
                                      &fault);
    if (err != ERR_OK) {
        return give_up(err, &fault);
    }
    report->is_shown = shown.is_shown;
    report->oracle = shown.is_refused ? "" : shown.oracle;
    report->message = shown.message;
    report->tape = shown.tape;
    report->entries = shown.entries;
    report->runs = shown.runs;
    report->all_tried = shown.all_tried;
    report->anyway = shown.anyway;
    return shown.is_shown ? keep(timing, constraint, &shown, report) : STATUS_OK;
}

static enum status report_constraints(struct timing *timing)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < timing->constraints.count && status == STATUS_OK; i++) {
        const struct timing_constraint *constraint = &timing->constraints.items[i];
        struct report_timing_constraint *report = &timing->reports[i];
        *report = (struct report_timing_constraint){
            .name = constraint->timing->name,
            .owner = constraint->owner,
            .clause = constraint->timing->clause,
            .sentence = constraint->timing->sentence,
            .or_equal = constraint->timing->or_equal,
            .margin_ns = constraint->margin,
            .shape = timing_shape_name(constraint->shape),
            .oracle = "",
            .message = "",
            .tape = "",
            .command = "",
            .anyway = "",
        };
        report->left_count = copy_terms(constraint->left, constraint->left_count, report->left);
        report->right_count = copy_terms(constraint->right, constraint->right_count, report->right);
        if (constraint->margin < 0) {
            status = show(timing, constraint, report);
        }
    }
    return status;
}

static void report_figures(struct timing *timing)
{
    for (uint32_t i = 0; i < FIGURE_COUNT; i++) {
        const struct timing_figure *figure = &timing->figures.items[i];
        timing->figure_reports[i] = (struct report_timing_figure){
            .name = timing_figure_name(i),
            .unit = timing_figure_unit(i),
            .has_formula = figure->has_formula,
            .has_simulated = figure->has_simulated,
            .formula = figure->formula,
            .simulated = figure->simulated,
            .limit = figure->limit,
        };
    }
}

static bool write_json(const void *context, FILE *file)
{
    return report_timing_json(file, context);
}

/* Whether any margin is below what --fail-under asks for. */
static bool is_too_small(const struct timing *timing)
{
    const struct options *options = timing->session->options;
    return option_is_given(options, OPTION_BIT(FAIL_UNDER)) && timing->constraints.count > 0 &&
           timing->constraints.items[0].margin < options->fail_under;
}

static enum status analyse(struct timing *timing)
{
    struct scenario_fault fault = {{0}};
    timing_constraints_of(timing->scenario, &timing->constraints);
    timing_figures_of(timing->scenario, &timing->figures);
    const enum err err = timing_simulate(
        &timing->session->texts, &timing->source, timing->scenario, &timing->figures, &fault);
    if (err != ERR_OK) {
        return give_up(err, &fault);
    }
    report_figures(timing);
    return report_constraints(timing);
}

static enum status print(const struct timing *timing)
{
    const struct report_timing report = {
        .scenario = timing->word,
        .profile = profile_name(timing->scenario->config.profile),
        .constraints = timing->reports,
        .constraint_count = timing->constraints.count,
        .figures = timing->figure_reports,
        .figure_count = FIGURE_COUNT,
    };
    report_timing_text(stdout, &report);
    const enum status status =
        output_whole("--json", timing->session->options->json, &report, write_json);
    return status == STATUS_OK && is_too_small(timing) ? STATUS_BROKEN : status;
}

static enum status run(struct session *session)
{
    struct timing *timing = text_memory(&session->texts, 1, sizeof *timing);
    timing->session = session;
    timing->word = session->options->arguments[0];
    enum status status = session_scenario(session, timing->word, &timing->scenario);
    if (status != STATUS_OK) {
        return status;
    }
    status = read_source(timing);
    if (status == STATUS_OK) {
        status = analyse(timing);
    }
    if (status == STATUS_OK) {
        status = print(timing);
    }
    scenario_destroy(timing->scenario);
    return status;
}

enum status command_timing(const struct options *options)
{
    struct session session;
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = run(&session);
    }
    session_close(&session);
    return status;
}
