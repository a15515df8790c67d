#include "scenarios/cli/matrix_pages.h"

#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/trial.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define PAGE "index.html"

typedef bool page_writer(FILE *file, const struct report_matrix *matrix);

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

static const char *budget_words(struct text_pool *texts, const struct options *options)
{
    char number[REPORT_NUMBER_SIZE];
    report_number(trial_budget(options), number);
    return text_format(texts, "%s counted runs for each claim", number);
}

/* The command without what changes nothing in the result. */
static const char *command_words(struct text_pool *texts, const struct options *options)
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

static enum status write_page(const char *option,
                              const char *path,
                              page_writer *writer,
                              const struct report_matrix *matrix)
{
    struct file_writer file;
    file_writer_start(&file, path);
    const bool is_written = file.stream != NULL && writer(file.stream, matrix);
    if (file_writer_finish(&file, is_written) == ERR_OK) {
        return STATUS_OK;
    }
    complain(
        "%s \"%s\": cannot be written; allowed: a place in a folder that exists", option, path);
    return STATUS_USAGE;
}

/* Nothing: whether a file can be made is what is asked. */
static enum status check_page(const char *option, const char *path)
{
    struct file_writer file;
    file_writer_start(&file, path);
    if (file.stream == NULL) {
        complain(
            "%s \"%s\": cannot be written; allowed: a place in a folder that exists", option, path);
        return STATUS_USAGE;
    }
    file_writer_abandon(&file);
    return STATUS_OK;
}

enum status matrix_pages_check(const struct options *options)
{
    struct text_pool texts = {0};
    enum status status = STATUS_OK;
    if (options->markdown != NULL) {
        status = check_page("--markdown", options->markdown);
    }
    if (status == STATUS_OK && options->html != NULL) {
        if (folder_make(options->html) != ERR_OK) {
            complain("--html \"%s\": cannot be made; allowed: a folder", options->html);
            status = STATUS_USAGE;
        } else {
            status = check_page("--html", text_format(&texts, "%s/%s", options->html, PAGE));
        }
    }
    text_pool_fini(&texts);
    return status;
}

enum status matrix_pages_write(const struct matrix_pages *pages)
{
    struct text_pool *texts = &pages->session->texts;
    const struct options *options = pages->session->options;
    struct report_matrix matrix = {
        .version = SINKPROOF_VERSION,
        .clauses = catalogue_clause_digest(),
        .budget = budget_words(texts, options),
        .command = command_words(texts, options),
        .claims = pages->claims,
        .evidence_or_null = pages->evidence,
        .count = pages->count,
    };
    add_gaps(texts, &matrix);
    add_sinks(pages->session, texts, &matrix);
    enum status status = STATUS_OK;
    if (options->markdown != NULL) {
        status = status_worse(
            status, write_page("--markdown", options->markdown, report_markdown_matrix, &matrix));
    }
    if (options->html != NULL) {
        status = status_worse(status,
                              write_page("--html",
                                         text_format(texts, "%s/%s", options->html, PAGE),
                                         report_html_matrix,
                                         &matrix));
    }
    return status;
}
