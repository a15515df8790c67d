/* One claim of the page: what is claimed, the verdict, and behind a fold the evidence. */
#include "reports/html.h"

#include <inttypes.h>
#include <string.h>

static void write_element(FILE *file, const char *open, const char *text, const char *close)
{
    (void)fputs(open, file);
    html_text(file, text);
    (void)fputs(close, file);
}

static void write_list(FILE *file, const char *title, const struct report_lines *lines)
{
    if (lines->count == 0) {
        return;
    }
    (void)fprintf(file, "<section><h5>%s</h5><ul>", title);
    for (size_t i = 0; i < lines->count; i++) {
        write_element(file, "<li>", lines->lines[i], "</li>");
    }
    (void)fputs("</ul></section>\n", file);
}

/* --- counts -------------------------------------------------------------------------------------- */

static void write_counts(FILE *file,
                         const char *title,
                         const char *what,
                         const struct report_count *counts,
                         size_t count)
{
    if (count == 0) {
        return;
    }
    (void)fprintf(file,
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
                  "class=\"counts\"><caption>%s</caption><thead><tr><th scope=\"col\">%s</th>"
                  "<th scope=\"col\">Runs</th><th scope=\"col\">Asked for</th></tr></thead><tbody>",
                  title,
                  title,
                  what);
    for (size_t i = 0; i < count; i++) {
        char number[REPORT_NUMBER_SIZE];
        write_element(file, "<tr><th scope=\"row\">", counts[i].name, "</th>");
        report_number(counts[i].count, number);
        (void)fprintf(file, "<td>%s</td>", number);
        report_number(counts[i].wanted, number);
        (void)fprintf(file, "<td>%s</td></tr>", counts[i].wanted == 0 ? "" : number);
    }
    (void)fputs("</tbody></table></div>\n", file);
}

static void write_mutants(FILE *file, const struct report_claim *claim)
{
    if (claim->mutants_killed == 0 || claim->mutants == NULL) {
        return;
    }
    (void)fputs("<section><h5>Planted bugs that it catches</h5><ul class=\"plain\">", file);
    for (uint32_t i = 0; i < claim->mutants_killed; i++) {
        write_element(file, "<li><code>", claim->mutants[i], "</code></li>");
    }
    (void)fputs("</ul></section>\n", file);
}

/* --- the story ----------------------------------------------------------------------------------- */

static void write_choice(FILE *file, const struct report_choice *choice)
{
    write_element(file, "<li><p>", choice->words, "</p>");
    write_element(file, "<p class=\"aside\">", choice->when, "; ");
    write_element(file, "<strong>", choice->need, "</strong>");
    if (choice->tried > 0) {
        (void)fprintf(file,
                      ": %s%" PRIu32 " other choice%s tried in its place, %" PRIu32 " fail%s alike",
                      choice->all_tried ? "all " : "",
                      choice->tried,
                      choice->tried == 1 ? "" : "s",
                      choice->same_draw + choice->same_site + choice->other_site,
                      choice->same_draw + choice->same_site + choice->other_site == 1 ? "s" : "");
    }
    write_element(file, "</p><p><code>", choice->line, "</code></p></li>");
}

static void write_decision(FILE *file, const struct report_explanation *story)
{
    if (!story->decided) {
        return;
    }
    write_element(file, "<dt>Decided by</dt><dd><code>", story->decisive, "</code>");
    (void)fprintf(
        file,
        "<p class=\"aside\">Behind it the run that goes on calm fails, and so does each with "
        "one other choice: %s%" PRIu32 " tried.</p></dd>",
        story->behind_all_tried ? "all " : "",
        story->behind_tried);
    write_element(file, "<dt>The last chance</dt><dd>", story->last_chance, "</dd>");
}

static void write_story(FILE *file, const struct report_explanation *story)
{
    (void)fputs("<section class=\"story\"><h5>What happens</h5>", file);
    if (story->choice_count > 0) {
        (void)fprintf(file,
                      "<p>It takes %zu choice%s:</p><ol class=\"choices\">",
                      story->choice_count,
                      story->choice_count == 1 ? "" : "s");
        for (size_t i = 0; i < story->choice_count; i++) {
            write_choice(file, &story->choices[i]);
        }
        (void)fputs("</ol>", file);
    } else {
        (void)fputs("<p>It takes no fault at all: the calm run breaks it.</p>", file);
    }
    (void)fputs("<dl class=\"facts\">", file);
    write_element(file, "<dt>Then</dt><dd>", story->message, "</dd>");
    write_decision(file, story);
    if (story->twin[0] != '\0') {
        write_element(file, "<dt>It passes</dt><dd>", story->twin, "</dd>");
    }
    (void)fputs("</dl></section>\n", file);
}

static void write_timelines(FILE *file,
                            const struct report_claim *claim,
                            const struct report_evidence *evidence)
{
    static const struct {
        const char *part;
        const char *mark;
    } sides[] = {{"f", "fails"}, {"p", "passes"}};
    const struct report_timeline *timelines[] = {
        evidence->has_fails ? &evidence->fails : NULL,
        evidence->has_passes ? &evidence->passes : NULL,
    };
    char id[80];
    if (!evidence->has_fails && !evidence->has_passes) {
        return;
    }
    (void)fputs(
        "<section class=\"beside\"><h5>The run, and one that passes</h5><div class=\"pair\">",
        file);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (timelines[i] != NULL) {
            (void)snprintf(id, sizeof id, "t-%s-%s", sides[i].part, claim->id);
            for (char *at = id; *at != '\0'; at++) {
                if (*at == ' ' || *at == '"' || *at == '<' || *at == '&') {
                    *at = '-';
                }
            }
            html_timeline(file, timelines[i], id, sides[i].mark);
        }
    }
    (void)fputs("</div></section>\n", file);
}

static void write_witness(FILE *file,
                          const struct report_claim *claim,
                          const struct report_evidence *evidence_or_null)
{
    if (!claim->has_witness) {
        return;
    }
    if (evidence_or_null != NULL && evidence_or_null->has_explanation) {
        write_story(file, &evidence_or_null->explanation);
    } else {
        write_element(file,
                      "<section class=\"story\"><h5>What happens</h5><p>",
                      claim->witness_message,
                      "</p></section>\n");
    }
    if (evidence_or_null != NULL) {
        write_timelines(file, claim, evidence_or_null);
    }
    (void)fputs(
        "<details class=\"tape\"><summary>The tape that replays it</summary><pre tabindex=\"0\">",
        file);
    for (const char *at = claim->witness_tape; *at != '\0';) {
        const size_t size = strcspn(at, "\n");
        char line[256];
        (void)snprintf(line, sizeof line, "%.*s", (int)size, at);
        html_text(file, line);
        (void)fputc('\n', file);
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    (void)fputs("</pre></details>\n", file);
}

/* --- the cell ------------------------------------------------------------------------------------ */

static void write_evidence(FILE *file,
                           const struct report_claim *claim,
                           const struct report_evidence *evidence_or_null)
{
    struct report_lines lines;
    (void)fputs("<div class=\"columns\">", file);
    report_claim_done(claim, &lines);
    write_list(file, "What was done", &lines);
    report_claim_open(claim, &lines);
    write_list(file, "What that leaves open", &lines);
    (void)fputs("</div>\n", file);
    write_witness(file, claim, evidence_or_null);
    write_mutants(file, claim);
    if (claim->kind_count + claim->mark_count > 0) {
        (void)fputs("<details class=\"more\"><summary>Counts</summary><div class=\"columns\">",
                    file);
        write_counts(file, "Faults that fired", "Kind of fault", claim->kinds, claim->kind_count);
        write_counts(file, "What its oracles saw", "Oracle: mark", claim->marks, claim->mark_count);
        (void)fputs("</div></details>\n", file);
    }
    (void)fprintf(file,
                  "<p class=\"aside\">Digest of its runs <code>0x%016" PRIx64
                  "</code>. This claim alone: <code>sinkproof matrix ",
                  claim->digest);
    html_text(file, claim->id);
    (void)fputs("</code> with the options of the page</p>\n", file);
}

void html_claim(FILE *file,
                const struct report_claim *claim,
                const struct report_evidence *evidence_or_null)
{
    const char *class = html_verdict_class(claim);
    char line[REPORT_LINE_SIZE];
    (void)fprintf(
        file, "<article class=\"claim %s\" data-verdict=\"%s\" data-service=\"", class, class);
    html_word(file, claim->service);
    (void)fputs("\" data-sink=\"", file);
    html_word(file, claim->sink);
    (void)fputs("\" id=\"c-", file);
    html_word(file, claim->id);
    (void)fputs("\" tabindex=\"-1\">\n", file);
    write_element(file, "<h4><span class=\"id\">", claim->id, "</span> ");
    write_element(file, "<span class=\"property\">", claim->property, "</span></h4>\n");
    (void)fprintf(
        file,
        "<p class=\"verdict %s\"><span class=\"sign\" aria-hidden=\"true\"></span>%s</p>\n",
        class,
        report_claim_verdict(claim));
    write_element(file,
                  "<p class=\"condition\"><span class=\"label\">when</span> ",
                  claim->condition,
                  "</p>\n");
    if (!claim->as_expected) {
        write_element(file, "<p class=\"why\">", claim->why, "</p>\n");
    }
    report_claim_established(claim, line);
    write_element(file, "<p class=\"established\">", line, " <span class=\"profile\">");
    (void)fprintf(file, "profile %s", claim->profile);
    (void)fputs(
        "</span></p>\n<details class=\"evidence\"><summary>Evidence<span class=\"unseen\"> for ",
        file);
    html_text(file, claim->id);
    (void)fputs("</span></summary>\n<div class=\"body\">\n", file);
    write_evidence(file, claim, evidence_or_null);
    (void)fputs("</div>\n</details>\n</article>\n", file);
}
