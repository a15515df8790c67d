#include "scenarios/cli/matrix/matrix_pages.h"

#include "reports/json.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/output.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define PAGE "index.html"

/* --- what the pages tell beside the claims ------------------------------------------------------- */

static bool is_told_before(const struct report_gap *gaps, size_t count, const char *clause)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(gaps[i].clause, clause) == 0) {
            return true;
        }
    }
    return false;
}

/* Clauses that models leave out. Models share those of the transport: each is told once. */
static void add_gaps(struct text_pool *texts, struct report_matrix *matrix)
{
    size_t total = 0;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        total += catalogue_models[i]->clause_count;
    }
    struct report_gap *gaps = text_memory(texts, total + 1, sizeof *gaps);
    for (size_t i = 0; i < catalogue_model_count; i++) {
        for (size_t k = 0; k < catalogue_models[i]->clause_count; k++) {
            const struct clause *clause = &catalogue_models[i]->clauses[k];
            if (clause->not_modelled_or_null != NULL &&
                !is_told_before(gaps, matrix->gap_count, clause->id)) {
                gaps[matrix->gap_count++] = (struct report_gap){
                    .service = catalogue_models[i]->name,
                    .clause = clause->id,
                    .sentence = clause->sentence,
                    .why = clause->not_modelled_or_null,
                };
            }
        }
    }
    matrix->gaps = gaps;
}

static void
add_sinks(const struct session *session, struct text_pool *texts, struct report_matrix *matrix)
{
    struct report_sink *sinks = text_memory(texts, catalogue_sink_count + 1, sizeof *sinks);
    const struct sink_type *own = session_sink(session);
    size_t count = 0;
    if (own != NULL) {
        sinks[count++] = (struct report_sink){.name = own->name, .sentence = own->sentence};
    }
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        sinks[count++] = (struct report_sink){.name = catalogue_sinks[i]->name,
                                              .sentence = catalogue_sinks[i]->sentence};
    }
    matrix->sinks = sinks;
    matrix->sink_count = count;
}

const char *matrix_pages_budget(struct text_pool *texts, const struct options *options)
{
    char number[REPORT_NUMBER_SIZE];
    report_number(trial_budget(options), number);
    return text_format(texts, "%s counted runs for each claim", number);
}

const char *matrix_pages_command(struct text_pool *texts, const struct options *options)
{
    const char *text = "sinkproof matrix";
    for (size_t i = 0; i < options->argument_count; i++) {
        text = text_format(texts, "%s %s", text, text_shell_word(texts, options->arguments[i]));
    }
    if (option_is_given(options, OPTION_BIT(QUICK))) {
        text = text_format(texts, "%s --quick", text);
    }
    if (option_is_given(options, OPTION_BIT(SEEDS))) {
        text = text_format(texts,
                           "%s --seeds %" PRIu64 "-%" PRIu64,
                           text,
                           options->seeds.first,
                           options->seeds.last);
    }
    if (options->small > 0) {
        text = text_format(texts, "%s --small %" PRIu64, text, options->small);
    }
    if (options->sink != NULL) {
        text = text_format(texts, "%s --sink %s", text, text_shell_word(texts, options->sink));
    }
    if (options->mutants != NULL) {
        text =
            text_format(texts, "%s --mutants %s", text, text_shell_word(texts, options->mutants));
    }
    if (options->shard.count > 1) {
        text = text_format(texts,
                           "%s --shard %" PRIu32 "/%" PRIu32,
                           text,
                           options->shard.index,
                           options->shard.count);
    }
    return text;
}

/* --- files --------------------------------------------------------------------------------------- */

static bool write_json(const void *context, FILE *file)
{
    return report_json_matrix(file, context);
}

static bool write_markdown(const void *context, FILE *file)
{
    return report_markdown_matrix(file, context);
}

static bool write_html(const void *context, FILE *file)
{
    return report_html_matrix(file, context);
}

/* The page in the folder that --html names, if it does. */
static const char *page_or_null(struct text_pool *texts, const struct options *options)
{
    return options->html == NULL ? NULL : text_format(texts, "%s/%s", options->html, PAGE);
}

enum status matrix_pages_check(struct session *session)
{
    const struct options *options = session->options;
    enum status status = output_check_of("--markdown", options->markdown);
    if (status == STATUS_OK && options->html != NULL && folder_make(options->html) != ERR_OK) {
        complain("--html \"%s\": cannot be made; allowed: a folder", options->html);
        status = STATUS_USAGE;
    }
    return status == STATUS_OK ? output_check_of("--html", page_or_null(&session->texts, options))
                               : status;
}

enum status matrix_pages_write(const struct matrix_pages *pages)
{
    struct text_pool *texts = &pages->session->texts;
    const struct options *options = pages->session->options;
    struct report_matrix matrix = {
        .version = SINKPROOF_VERSION,
        .clauses = catalogue_clause_digest(),
        .budget = pages->budget,
        .command = pages->command,
        .claims = pages->claims,
        .evidence_or_null = pages->evidence,
        .count = pages->count,
    };
    add_gaps(texts, &matrix);
    add_sinks(pages->session, texts, &matrix);
    enum status status = output_whole("--json", options->json, &matrix, write_json);
    enum status one = output_whole("--markdown", options->markdown, &matrix, write_markdown);
    status = status_worse(status, one);
    one = output_whole("--html", page_or_null(texts, options), &matrix, write_html);
    return status_worse(status, one);
}
