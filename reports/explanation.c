/* An explanation as text: what happened, why it had to, and where a run that passes parts from it. */
#include "reports/text.h"

#include <inttypes.h>
#include <string.h>

#define CHOICES_SHOWN 4u
#define STORY_SHOWN   5u
#define LINE_COLUMNS  150u

/* One line, cut where it is too long for a screen. */
static void print_line(FILE *file, const char *indent, const char *text)
{
    const size_t size = strlen(text);
    const bool is_cut = size > LINE_COLUMNS;
    (void)fputs(indent, file);
    for (size_t i = 0; i < (is_cut ? LINE_COLUMNS - 2 : size); i++) {
        const unsigned char c = (unsigned char)text[i];
        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, file);
    }
    (void)fputs(is_cut ? "..\n" : "\n", file);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "required", or what does as well and where. */
static void print_need(FILE *file, const struct report_choice *choice)
{
    (void)fprintf(file, "    %s: %s", choice->line, choice->need);
    if (choice->as_well_count > 0) {
        const char *separator = ": ";
        const struct {
            uint32_t count;
            const char *one;
            const char *many;
        } places[] = {
            {choice->same_draw, "other value there", "other values there"},
            {choice->same_site, "other place of it", "other places of it"},
            {choice->other_site, "choice of another kind", "choices of another kind"},
        };
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (places[i].count > 0) {
                (void)fprintf(file,
                              "%s%" PRIu32 " %s",
                              separator,
                              places[i].count,
                              places[i].count == 1 ? places[i].one : places[i].many);
                separator = ", ";
            }
        }
        (void)fprintf(file, ", as %s", choice->as_well[0]);
    }
    if (choice->tried > 0) {
        (void)fprintf(file,
                      " (%s%" PRIu32 " tried in its place)",
                      choice->all_tried ? "all " : "only ",
                      choice->tried);
    }
    (void)fputc('\n', file);
}

static void print_choices(FILE *file, const struct report_explanation *explanation)
{
    const size_t count = explanation->choice_count;
    const size_t shown = count <= CHOICES_SHOWN ? count : CHOICES_SHOWN - 1;
    (void)fprintf(file,
                  "it takes %zu choice%s, %s (%" PRIu32 " as found):\n",
                  count,
                  plural(count),
                  explanation->minimal,
                  explanation->found);
    for (size_t i = 0; i < shown; i++) {
        const struct report_choice *choice = &explanation->choices[i];
        (void)fprintf(file, "  %zu. %s: ", i + 1, choice->when);
        print_line(file, "", choice->words);
        print_need(file, choice);
    }
    if (shown < count) {
        (void)fprintf(file, "  and %zu more, which --json lists\n", count - shown);
    }
}

static void print_decision(FILE *file, const struct report_explanation *explanation)
{
    if (!explanation->decided) {
        (void)fprintf(file,
                      "decided: unknown; the last %" PRIu32
                      " choices were tried, and none saves the run\n",
                      explanation->behind_tried);
        return;
    }
    (void)fprintf(file, "decided at event %" PRIu64 ":", explanation->decisive_event);
    print_line(file, " ", explanation->decisive);
    (void)fprintf(
        file,
        "  behind it every run that goes on calm, or with one other choice, fails: %s%" PRIu32
        " tried",
        explanation->behind_all_tried ? "all " : "",
        explanation->behind_tried);
    if (explanation->behind_unclear > 0) {
        (void)fprintf(file, ", %" PRIu32 " ended by a limit", explanation->behind_unclear);
    }
    (void)fputc('\n', file);
    print_line(file, "  the last chance: ", explanation->last_chance);
}

static void print_twin(FILE *file, const struct report_explanation *explanation)
{
    if (explanation->twin[0] == '\0') {
        (void)fprintf(file, "no run near it passes\n");
        return;
    }
    (void)fprintf(file, "it passes %s; there the two runs part:\n", explanation->twin);
    for (size_t i = 0; i < explanation->fails_count; i++) {
        print_line(file, "  fails:  ", explanation->fails[i]);
    }
    for (size_t i = 0; i < explanation->passes_count; i++) {
        print_line(file, "  passes: ", explanation->passes[i]);
    }
}

void report_text_explanation(FILE *file, const struct report_explanation *explanation)
{
    const size_t story = explanation->story_count;
    (void)fprintf(file, "%s breaks %s: ", explanation->scenario, explanation->oracle);
    print_line(file, "", explanation->message);
    print_choices(file, explanation);
    if (story > 0) {
        (void)fprintf(file, "what became of %s:\n", explanation->subject);
    }
    for (size_t i = story > STORY_SHOWN ? story - STORY_SHOWN : 0; i < story; i++) {
        print_line(file, "  ", explanation->story[i]);
    }
    print_decision(file, explanation);
    print_twin(file, explanation);
    print_line(file, "replay: ", explanation->command);
}
