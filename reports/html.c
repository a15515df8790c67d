/* The guarantee matrix as one page that needs nothing else: no other file, no font, no network. It says
 * all without its script, which only filters. */
#include "reports/html.h"

#include "reports/escape.h"

#include <inttypes.h>
#include <string.h>

/* --- text ---------------------------------------------------------------------------------------- */

void html_text(FILE *file, const char *text)
{
    escape_xml_attribute(file, text);
}

void html_word(FILE *file, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const char c = *at;
        const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_';
        (void)fputc(is_good ? c : '-', file);
    }
}

const char *html_verdict_class(const struct report_claim *claim)
{
    if (!claim->as_expected) {
        return claim->verdict == REPORT_INCONCLUSIVE || claim->verdict == REPORT_UNTESTED
                   ? "open"
                   : "broken";
    }
    return claim->verdict == REPORT_FAILS ? "fails" : "holds";
}

/* --- head ---------------------------------------------------------------------------------------- */

struct tally {
    size_t as_expected;
    size_t holds;
    size_t fails;
    size_t enumerated; /* claims with runs that are */
    uint64_t runs;
};

static struct tally tally_of(const struct report_matrix *matrix)
{
    struct tally tally = {0};
    for (size_t i = 0; i < matrix->count; i++) {
        const struct report_claim *claim = &matrix->claims[i];
        tally.as_expected += claim->as_expected ? 1 : 0;
        tally.holds += claim->as_expected && claim->verdict == REPORT_HOLDS ? 1 : 0;
        tally.fails += claim->as_expected && claim->verdict == REPORT_FAILS ? 1 : 0;
        tally.enumerated += claim->explored_runs > 0 ? 1 : 0;
        tally.runs += claim->seeds + claim->explored_runs + claim->adversary_seeds;
    }
    return tally;
}

static void write_head(FILE *file, const struct report_matrix *matrix)
{
    const struct tally tally = tally_of(matrix);
    (void)fprintf(file,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<title>Guarantees: %zu of %zu as claimed</title>\n",
                  tally.as_expected,
                  matrix->count);
    html_style(file);
    (void)fputs("</head>\n<body>\n<a class=\"skip\" href=\"#claims\">Skip to the claims</a>\n",
                file);
}

static void write_figure(FILE *file, uint64_t value, const char *words)
{
    char number[REPORT_NUMBER_SIZE];
    report_number(value, number);
    (void)fprintf(file, "<li><strong>%s</strong> %s</li>\n", number, words);
}

static void write_row(FILE *file, const char *name, const char *text)
{
    (void)fprintf(file, "<div><dt>%s</dt><dd>", name);
    html_text(file, text);
    (void)fputs("</dd></div>\n", file);
}

static void write_summary(FILE *file, const struct report_matrix *matrix)
{
    const struct tally tally = tally_of(matrix);
    const size_t others = matrix->count - tally.as_expected;
    char clauses[REPORT_NUMBER_SIZE];
    (void)snprintf(clauses, sizeof clauses, "0x%016" PRIx64, matrix->clauses);
    (void)fprintf(
        file,
        "<header class=\"top\">\n<p class=\"brand\">sinkproof</p>\n"
        "<h1>%s</h1>\n<p class=\"lead\">What the sinks guarantee, under which condition, how "
        "that was established, and what it leaves open.</p>\n",
        "Guarantee matrix");
    (void)fprintf(
        file,
        "<p class=\"score %s\"><strong>%zu of %zu</strong> claims came out as claimed.</p>\n"
        "<ul class=\"figures\">\n",
        others == 0 ? "holds" : "broken",
        tally.as_expected,
        matrix->count);
    write_figure(file, tally.holds, "hold");
    write_figure(file, tally.fails, "fail, as claimed, each with a witness");
    if (others > 0) {
        write_figure(file, others, "did not come out as claimed");
    }
    write_figure(file, tally.runs, "runs judged");
    (void)fputs("</ul>\n<dl class=\"facts\">\n", file);
    write_row(file, "Version", matrix->version);
    write_row(file, "Clauses", clauses);
    write_row(file, "Budget", matrix->budget);
    write_row(file, "Made by", matrix->command);
    (void)fputs("</dl>\n</header>\n", file);
}

/* --- at a glance --------------------------------------------------------------------------------- */

/* A property that is a word of the vocabulary, and not a sentence. */
static bool is_word(const char *property)
{
    return strchr(property, ' ') == NULL;
}

static bool claim_has(const struct report_claim *claim, const char *property_or_null)
{
    for (size_t i = 0; i < claim->property_count; i++) {
        const char *property = claim->properties[i];
        if (property_or_null == NULL ? !is_word(property)
                                     : strcmp(property, property_or_null) == 0) {
            return true;
        }
    }
    return false;
}

static void write_chip(FILE *file, const struct report_claim *claim)
{
    const char *class = html_verdict_class(claim);
    (void)fprintf(file, "<a class=\"chip %s\" href=\"#c-", class);
    html_word(file, claim->id);
    (void)fprintf(file, "\"><span class=\"sign\" aria-hidden=\"true\"></span>");
    html_text(file, claim->id);
    (void)fprintf(file, "<span class=\"unseen\">: %s</span></a> ", report_claim_verdict(claim));
}

/* A row: a property, or what the claims say in words of their own. */
static void write_property(FILE *file,
                           const struct report_matrix *matrix,
                           const char *service,
                           const char *property_or_null)
{
    const char *sink = NULL;
    (void)fputs("<tr><th scope=\"row\">", file);
    html_text(file, property_or_null == NULL ? "in other words" : property_or_null);
    (void)fputs("</th>", file);
    for (size_t i = 0; (sink = report_matrix_sink(matrix, service, i)) != NULL; i++) {
        (void)fputs("<td>", file);
        for (size_t k = 0; k < matrix->count; k++) {
            const struct report_claim *claim = &matrix->claims[k];
            if (strcmp(claim->service, service) == 0 && strcmp(claim->sink, sink) == 0 &&
                claim_has(claim, property_or_null)) {
                write_chip(file, claim);
            }
        }
        (void)fputs("</td>", file);
    }
    (void)fputs("</tr>\n", file);
}

static bool is_new_property(const struct report_matrix *matrix, size_t claim, size_t property)
{
    const struct report_claim *of = &matrix->claims[claim];
    for (size_t i = 0; i < claim; i++) {
        if (strcmp(matrix->claims[i].service, of->service) == 0 &&
            claim_has(&matrix->claims[i], of->properties[property])) {
            return false;
        }
    }
    return is_word(of->properties[property]);
}

/* "exactly-once" of "cloudtasks-exactly-once". */
static const char *mode_of(const char *sink, const char *service)
{
    const size_t size = strlen(service);
    return strncmp(sink, service, size) == 0 && sink[size] == '-' ? sink + size + 1 : sink;
}

static void write_glance(FILE *file, const struct report_matrix *matrix, const char *service)
{
    const char *sink = NULL;
    bool has_sentences = false;
    (void)fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", file);
    html_text(file, service);
    (void)fputs(" at a glance\"><table class=\"glance\">\n<caption class=\"unseen\">", file);
    html_text(file, service);
    (void)fputs(": claims by property and sink mode</caption>\n<thead><tr><th scope=\"col\">"
                "Property</th>",
                file);
    for (size_t i = 0; (sink = report_matrix_sink(matrix, service, i)) != NULL; i++) {
        (void)fputs("<th scope=\"col\">", file);
        html_text(file, mode_of(sink, service));
        (void)fputs("</th>", file);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", file);
    for (size_t i = 0; i < matrix->count; i++) {
        if (strcmp(matrix->claims[i].service, service) != 0) {
            continue;
        }
        has_sentences = has_sentences || claim_has(&matrix->claims[i], NULL);
        for (size_t k = 0; k < matrix->claims[i].property_count; k++) {
            if (is_new_property(matrix, i, k)) {
                write_property(file, matrix, service, matrix->claims[i].properties[k]);
            }
        }
    }
    if (has_sentences) {
        write_property(file, matrix, service, NULL);
    }
    (void)fputs("</tbody>\n</table></div>\n", file);
}

/* --- filter -------------------------------------------------------------------------------------- */

static void write_choice(FILE *file, const char *value)
{
    (void)fputs("<option value=\"", file);
    html_word(file, value);
    (void)fputs("\">", file);
    html_text(file, value);
    (void)fputs("</option>", file);
}

/* Hidden until the script shows it: without it nothing could answer. */
static void write_filter(FILE *file, const struct report_matrix *matrix)
{
    const char *service = NULL;
    const char *sink = NULL;
    (void)fputs("<form class=\"filter\" id=\"filter\" hidden>\n<label>Service <select "
                "name=\"service\"><option value=\"\">all</option>",
                file);
    for (size_t i = 0; (service = report_matrix_service(matrix, i)) != NULL; i++) {
        write_choice(file, service);
    }
    (void)fputs(
        "</select></label>\n<label>Mode <select name=\"sink\"><option value=\"\">all</option>",
        file);
    for (size_t i = 0; (service = report_matrix_service(matrix, i)) != NULL; i++) {
        for (size_t k = 0; (sink = report_matrix_sink(matrix, service, k)) != NULL; k++) {
            write_choice(file, sink);
        }
    }
    (void)fputs("</select></label>\n<label>Verdict <select name=\"verdict\">"
                "<option value=\"\">all</option><option value=\"holds\">holds</option>"
                "<option value=\"fails\">fails, as claimed</option>"
                "<option value=\"broken open\">not as claimed</option></select></label>\n"
                "<button type=\"button\" id=\"unfold\">Open all evidence</button>\n"
                "<output id=\"shown\" aria-live=\"polite\"></output>\n</form>\n",
                file);
}

/* --- claims -------------------------------------------------------------------------------------- */

static void
write_sink(FILE *file, const struct report_matrix *matrix, const char *service, const char *sink)
{
    const struct report_sink *known = report_matrix_find_sink(matrix, sink);
    (void)fputs("<section class=\"sink\" id=\"s-", file);
    html_word(file, sink);
    (void)fputs("\">\n<h3>", file);
    html_text(file, mode_of(sink, service));
    (void)fputs("</h3>\n", file);
    if (known != NULL) {
        (void)fputs("<p class=\"sentence\">", file);
        html_text(file, known->sentence);
        (void)fputs("</p>\n", file);
    }
    for (size_t i = 0; i < matrix->count; i++) {
        const struct report_claim *claim = &matrix->claims[i];
        if (strcmp(claim->service, service) == 0 && strcmp(claim->sink, sink) == 0) {
            html_claim(file,
                       claim,
                       matrix->evidence_or_null == NULL ? NULL : &matrix->evidence_or_null[i]);
        }
    }
    (void)fputs("</section>\n", file);
}

static void write_claims(FILE *file, const struct report_matrix *matrix)
{
    const char *service = NULL;
    const char *sink = NULL;
    (void)fputs("<main id=\"claims\">\n", file);
    write_filter(file, matrix);
    for (size_t i = 0; (service = report_matrix_service(matrix, i)) != NULL; i++) {
        (void)fputs("<section class=\"service\" id=\"v-", file);
        html_word(file, service);
        (void)fputs("\">\n<h2>", file);
        html_text(file, service);
        (void)fputs("</h2>\n", file);
        write_glance(file, matrix, service);
        for (size_t k = 0; (sink = report_matrix_sink(matrix, service, k)) != NULL; k++) {
            write_sink(file, matrix, service, sink);
        }
        (void)fputs("</section>\n", file);
    }
    (void)fputs("</main>\n", file);
}

/* --- foot ---------------------------------------------------------------------------------------- */

static void write_reading(FILE *file)
{
    (void)fputs(
        "<section class=\"reading\" id=\"reading\">\n<h2>How to read this page</h2>\n"
        "<dl class=\"words\">\n"
        "<div><dt>holds</dt><dd>Nothing broke it: not in the counted runs, and not in any run that "
        "was "
        "enumerated.</dd></div>\n"
        "<div><dt>fails, as claimed</dt><dd>Under its condition it can break, and here is the "
        "shortest "
        "run that was found to break it. The same without the condition holds.</dd></div>\n"
        "<div><dt>profile</dt><dd>How far the models may use what official text leaves open. "
        "<em>documented</em>: not beyond what it states. <em>observed</em>: also what was "
        "measured. "
        "<em>adversary</em>: everything.</dd></div>\n"
        "<div><dt>choice</dt><dd>Something that could have gone otherwise and did: a lost request, "
        "a "
        "crash, an order of events. A run without any is calm.</dd></div>\n"
        "<div><dt>crash point</dt><dd>A place in a run where a crash leaves other things behind "
        "than a "
        "moment before.</dd></div>\n"
        "<div><dt>decides</dt><dd>The event behind which every continuation that was tried fails."
        "</dd></div>\n"
        "</dl>\n",
        file);
    html_legend(file);
    (void)fputs("</section>\n", file);
}

static void write_limits(FILE *file, const struct report_matrix *matrix)
{
    (void)fputs("<section class=\"limits\" id=\"limits\">\n<h2>What no cell covers</h2>\n<ul>\n",
                file);
    for (size_t i = 0; i < report_matrix_limit_count; i++) {
        (void)fputs("<li>", file);
        html_text(file, report_matrix_limits[i]);
        (void)fputs("</li>\n", file);
    }
    (void)fputs("</ul>\n", file);
    if (matrix->gap_count > 0) {
        (void)fprintf(file,
                      "<details><summary>%zu clauses that the models leave out</summary>\n"
                      "<dl class=\"gaps\">\n",
                      matrix->gap_count);
        for (size_t i = 0; i < matrix->gap_count; i++) {
            const struct report_gap *gap = &matrix->gaps[i];
            (void)fputs("<div><dt>", file);
            html_text(file, gap->clause);
            (void)fputs("</dt><dd>", file);
            html_text(file, gap->sentence);
            (void)fputs(". <span class=\"aside\">", file);
            html_text(file, gap->why);
            (void)fputs("</span></dd></div>\n", file);
        }
        (void)fputs("</dl>\n</details>\n", file);
    }
    (void)fputs("</section>\n", file);
}

bool report_html_matrix(FILE *file, const struct report_matrix *matrix)
{
    write_head(file, matrix);
    write_summary(file, matrix);
    write_claims(file, matrix);
    (void)fputs("<footer>\n", file);
    write_reading(file);
    write_limits(file, matrix);
    (void)fputs("</footer>\n", file);
    html_script(file);
    (void)fputs("</body>\n</html>\n", file);
    return ferror(file) == 0;
}
