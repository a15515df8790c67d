/* The guarantee matrix as Markdown: a file to commit, whose differences are differences of what is
 * guaranteed. */
#include "reports/escape.h"
#include "reports/matrix.h"

#include <inttypes.h>
#include <string.h>

static void write_cell(FILE *file, const char *text)
{
    escape_markdown(file, text);
    (void)fputs(" | ", file);
}

static void write_joined(FILE *file, const struct report_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        (void)fputs(i == 0 ? "" : "; ", file);
        escape_markdown(file, lines->lines[i]);
    }
}

static void write_claim(FILE *file, const struct report_claim *claim)
{
    struct report_lines lines;
    (void)fputs("| ", file);
    write_cell(file, claim->id);
    write_cell(file, claim->condition);
    write_cell(file, claim->property);
    (void)fprintf(file,
                  "%s**%s** | ",
                  claim->as_expected ? "" : "NOT AS CLAIMED: ",
                  report_claim_verdict(claim));
    write_cell(file, claim->profile);
    report_claim_done(claim, &lines);
    write_joined(file, &lines);
    (void)fputs(" | ", file);
    report_claim_open(claim, &lines);
    write_joined(file, &lines);
    (void)fprintf(file, " | `0x%016" PRIx64 "` |\n", claim->digest);
}

static void write_lines_of(FILE *file, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        const size_t size = strcspn(at, "\n");
        (void)fprintf(file, "    %.*s\n", (int)size, at);
        at += size + (at[size] == '\n' ? 1 : 0);
    }
}

/* What the witnesses of a sink show: the message, and the tape that replays it. */
static void write_witness(FILE *file, const struct report_claim *claim)
{
    (void)fputs("\n**", file);
    escape_markdown(file, claim->id);
    (void)fputs("**: ", file);
    escape_markdown(file, claim->witness_message);
    (void)fputs("\n\n", file);
    write_lines_of(file, claim->witness_tape);
}

static bool is_of(const struct report_claim *claim, const char *service, const char *sink)
{
    return strcmp(claim->service, service) == 0 && strcmp(claim->sink, sink) == 0;
}

static void
write_sink(FILE *file, const struct report_matrix *matrix, const char *service, const char *sink)
{
    const struct report_sink *known = report_matrix_find_sink(matrix, sink);
    (void)fputs("\n### ", file);
    escape_markdown(file, sink);
    (void)fputs("\n\n", file);
    if (known != NULL) {
        escape_markdown(file, known->sentence);
        (void)fputs("\n\n", file);
    }
    (void)fputs(
        "| claim | when | property | verdict | profile | what was done | what that leaves open | "
        "digest |\n|---|---|---|---|---|---|---|---|\n",
        file);
    for (size_t i = 0; i < matrix->count; i++) {
        if (is_of(&matrix->claims[i], service, sink)) {
            write_claim(file, &matrix->claims[i]);
        }
    }
    for (size_t i = 0; i < matrix->count; i++) {
        if (is_of(&matrix->claims[i], service, sink) && matrix->claims[i].has_witness) {
            write_witness(file, &matrix->claims[i]);
        }
    }
}

static void write_limits(FILE *file, const struct report_matrix *matrix)
{
    (void)fputs("\n## What no cell covers\n\n", file);
    for (size_t i = 0; i < report_matrix_limit_count; i++) {
        (void)fprintf(file, "- %s\n", report_matrix_limits[i]);
    }
    for (size_t i = 0; i < matrix->gap_count; i++) {
        const struct report_gap *gap = &matrix->gaps[i];
        (void)fputs(i == 0 ? "\nClauses that the models leave out:\n\n- " : "- ", file);
        escape_markdown(file, gap->clause);
        (void)fputs(": ", file);
        escape_markdown(file, gap->sentence);
        (void)fputs(". ", file);
        escape_markdown(file, gap->why);
        (void)fputs("\n", file);
    }
}

bool report_markdown_matrix(FILE *file, const struct report_matrix *matrix)
{
    const char *service = NULL;
    const char *sink = NULL;
    size_t as_expected = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        as_expected += matrix->claims[i].as_expected ? 1 : 0;
    }
    (void)fprintf(
        file,
        "# Guarantees\n\n**%zu of %zu** claims came out as claimed. sinkproof %s, clauses "
        "`0x%016" PRIx64 "`, %s. Made by `%s`.\n",
        as_expected,
        matrix->count,
        matrix->version,
        matrix->clauses,
        matrix->budget,
        matrix->command);
    for (size_t i = 0; (service = report_matrix_service(matrix, i)) != NULL; i++) {
        (void)fputs("\n## ", file);
        escape_markdown(file, service);
        (void)fputs("\n", file);
        for (size_t k = 0; (sink = report_matrix_sink(matrix, service, k)) != NULL; k++) {
            write_sink(file, matrix, service, sink);
        }
    }
    write_limits(file, matrix);
    return ferror(file) == 0;
}
