#include "reports/timing.h"

#include "sinks/base/check.h"

#include <jansson.h>

#include <inttypes.h>
#include <string.h>

#define NS_PER_S     UINT64_C(1000000000)
#define TIME_SIZE    40
#define LINE_COLUMNS 100

/* --- text ---------------------------------------------------------------------------------------- */

/* "-12.5 s" with nine places behind the point, of which trailing groups of zeros are blanks: so that
 * points stand below each other. */
static const char *seconds(bool is_negative, uint64_t ns, char text[TIME_SIZE])
{
    if (ns == UINT64_MAX) {
        (void)snprintf(text, TIME_SIZE, "never          ");
        return text;
    }
    (void)snprintf(text,
                   TIME_SIZE,
                   "%s%" PRIu64 ".%09" PRIu64 " s",
                   is_negative ? "-" : "",
                   ns / NS_PER_S,
                   ns % NS_PER_S);
    const size_t size = strlen(text);
    for (size_t end = size - 2; end > size - 8 && strncmp(text + end - 3, "000", 3) == 0;
         end -= 3) {
        memmove(text + end - 3, " s ", 3);
        memset(text + end, ' ', strlen(text + end));
    }
    return text;
}

/* The same without blanks behind it. */
static const char *plain_seconds(uint64_t ns, char text[TIME_SIZE])
{
    size_t size = strlen(seconds(false, ns, text));
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    text[size] = '\0';
    return text;
}

static const char *margin_of(int64_t margin, char text[TIME_SIZE])
{
    const bool is_negative = margin < 0;
    const uint64_t size = is_negative ? 0 - (uint64_t)margin : (uint64_t)margin;
    return seconds(is_negative, size, text);
}

static void print_wrapped(FILE *file, const char *text)
{
    size_t used = 0;
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (used == 0 || used + 1 + word > LINE_COLUMNS - 6) {
            (void)fprintf(file, "%s      ", used == 0 ? "" : "\n");
            used = 0;
        } else {
            (void)fputc(' ', file);
            used++;
        }
        (void)fprintf(file, "%.*s", (int)word, text);
        used += word;
        text += word + strspn(text + word, " ");
    }
    (void)fputc('\n', file);
}

static size_t
add_side(char *line, size_t size, size_t used, const struct report_timing_term *terms, size_t count)
{
    char time[TIME_SIZE];
    for (size_t i = 0; i < count && used < size; i++) {
        used += (size_t)snprintf(line + used,
                                 size - used,
                                 "%s%s %s",
                                 i > 0 ? " + " : "",
                                 terms[i].name,
                                 plain_seconds(terms[i].ns, time));
    }
    return used;
}

static void print_sides(FILE *file, const struct report_timing_constraint *constraint)
{
    char line[600];
    size_t used = add_side(line, sizeof line, 0, constraint->left, constraint->left_count);
    if (used < sizeof line) {
        used += (size_t)snprintf(
            line + used, sizeof line - used, constraint->or_equal ? " >= " : " > ");
    }
    (void)add_side(line, sizeof line, used, constraint->right, constraint->right_count);
    print_wrapped(file, line);
}

static void print_shown(FILE *file, const struct report_timing_constraint *constraint)
{
    char line[600];
    if (!constraint->is_shown && constraint->anyway[0] != '\0') {
        (void)snprintf(line,
                       sizeof line,
                       "not shown: the run without any failure breaks %s already",
                       constraint->anyway);
    } else if (!constraint->is_shown) {
        (void)snprintf(line,
                       sizeof line,
                       "not shown: %s%" PRIu32 " runs with one failure (%s) break nothing",
                       constraint->all_tried ? "all " : "",
                       constraint->runs,
                       constraint->shape);
    } else if (constraint->oracle[0] == '\0') {
        (void)snprintf(line, sizeof line, "shown: refused: %s", constraint->message);
    } else {
        (void)snprintf(line,
                       sizeof line,
                       "shown in %" PRIu32 " run%s, by %" PRIu32 " choice%s: %s: %s",
                       constraint->runs,
                       constraint->runs == 1 ? "" : "s",
                       constraint->entries,
                       constraint->entries == 1 ? "" : "s",
                       constraint->oracle,
                       constraint->message);
    }
    print_wrapped(file, line);
    if (constraint->command[0] != '\0') {
        (void)fprintf(file, "      replay: %s\n", constraint->command);
    }
}

static void print_constraint(FILE *file, const struct report_timing_constraint *constraint)
{
    char margin[TIME_SIZE];
    (void)fprintf(file,
                  "%24s  %s  (%s: %s)\n",
                  margin_of(constraint->margin_ns, margin),
                  constraint->name,
                  constraint->owner,
                  constraint->clause);
    if (constraint->margin_ns < 0) {
        print_sides(file, constraint);
        print_wrapped(file, constraint->sentence);
        print_shown(file, constraint);
    }
}

/* A cell of the table of figures. */
static const char *cell_of(const char *unit, bool has, uint64_t value, char text[TIME_SIZE])
{
    if (!has) {
        (void)snprintf(text, TIME_SIZE, "-          ");
    } else if (strcmp(unit, "ns") == 0) {
        (void)seconds(false, value, text);
    } else {
        (void)snprintf(text, TIME_SIZE, "%" PRIu64 "          ", value);
    }
    return text;
}

/* Blanks at the end of a line stand for nothing. */
static void print_trimmed(FILE *file, const char *line)
{
    size_t size = strlen(line);
    while (size > 0 && line[size - 1] == ' ') {
        size--;
    }
    (void)fprintf(file, "%.*s\n", (int)size, line);
}

static void print_figure(FILE *file, const struct report_timing_figure *figure)
{
    char line[200];
    char formula[TIME_SIZE];
    char simulated[TIME_SIZE];
    char limit[TIME_SIZE] = "";
    const bool is_time = strcmp(figure->unit, "ns") == 0;
    if (is_time && figure->limit > 0) {
        (void)plain_seconds(figure->limit, limit);
    }
    (void)snprintf(line,
                   sizeof line,
                   "  %-20s%25s%25s  %s%s",
                   figure->name,
                   cell_of(figure->unit, figure->has_formula, figure->formula, formula),
                   cell_of(figure->unit, figure->has_simulated, figure->simulated, simulated),
                   is_time && figure->limit > 0 ? "limit "
                   : is_time                    ? ""
                                                : figure->unit,
                   limit);
    print_trimmed(file, line);
}

void report_timing_text(FILE *file, const struct report_timing *timing)
{
    size_t broken = 0;
    for (size_t i = 0; i < timing->constraint_count; i++) {
        broken += timing->constraints[i].margin_ns < 0 ? 1 : 0;
    }
    (void)fprintf(file,
                  "%s: %zu timing constraints, %zu not held; profile %s\n\n%15s%11sconstraint\n",
                  timing->scenario,
                  timing->constraint_count,
                  broken,
                  timing->profile,
                  "margin",
                  "");
    for (size_t i = 0; i < timing->constraint_count; i++) {
        print_constraint(file, &timing->constraints[i]);
    }
    (void)fprintf(file, "\n  %-20s%16s%25s\n", "figure", "by formula", "as simulated");
    for (size_t i = 0; i < timing->figure_count; i++) {
        if (timing->figures[i].has_formula || timing->figures[i].has_simulated) {
            print_figure(file, &timing->figures[i]);
        }
    }
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    return value != NULL ? value : json_string("(not UTF-8)");
}

static json_t *side_json(const struct report_timing_term *terms, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(
            list,
            json_pack("{s:o,s:o}", "name", text_value(terms[i].name), "ns", number(terms[i].ns)));
    }
    return list;
}

static json_t *shown_json(const struct report_timing_constraint *constraint)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:b,s:o}",
                     "verdict",
                     json_string(!constraint->is_shown           ? "not shown"
                                 : constraint->oracle[0] == '\0' ? "refused"
                                                                 : "broken"),
                     "by",
                     text_value(constraint->shape),
                     "oracle",
                     text_value(constraint->oracle),
                     "message",
                     text_value(constraint->message),
                     "tape",
                     text_value(constraint->tape),
                     "entries",
                     (json_int_t)constraint->entries,
                     "runs",
                     (json_int_t)constraint->runs,
                     "all_tried",
                     (int)constraint->all_tried,
                     "command",
                     text_value(constraint->command));
}

static json_t *constraint_json(const struct report_timing_constraint *constraint)
{
    json_t *object = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:I}",
                               "name",
                               text_value(constraint->name),
                               "owner",
                               text_value(constraint->owner),
                               "clause",
                               text_value(constraint->clause),
                               "sentence",
                               text_value(constraint->sentence),
                               "left",
                               side_json(constraint->left, constraint->left_count),
                               "right",
                               side_json(constraint->right, constraint->right_count),
                               "or_equal",
                               (int)constraint->or_equal,
                               "margin_ns",
                               (json_int_t)constraint->margin_ns);
    if (object != NULL && constraint->margin_ns < 0) {
        (void)json_object_set_new(object, "shown", shown_json(constraint));
    }
    return object;
}

static json_t *figure_json(const struct report_timing_figure *figure)
{
    json_t *object =
        json_pack("{s:o,s:o}", "name", text_value(figure->name), "unit", text_value(figure->unit));
    if (object != NULL && figure->has_formula && figure->formula != UINT64_MAX) {
        (void)json_object_set_new(object, "formula", number(figure->formula));
    }
    if (object != NULL && figure->has_simulated) {
        (void)json_object_set_new(object, "simulated", number(figure->simulated));
    }
    if (object != NULL && figure->limit > 0) {
        (void)json_object_set_new(object, "limit", number(figure->limit));
    }
    return object;
}

bool report_timing_json(FILE *file, const struct report_timing *timing)
{
    json_t *constraints = json_array();
    json_t *figures = json_array();
    bool ok = constraints != NULL && figures != NULL;
    for (size_t i = 0; i < timing->constraint_count; i++) {
        ok =
            json_array_append_new(constraints, constraint_json(&timing->constraints[i])) == 0 && ok;
    }
    for (size_t i = 0; i < timing->figure_count; i++) {
        ok = json_array_append_new(figures, figure_json(&timing->figures[i])) == 0 && ok;
    }
    json_t *root = json_pack("{s:i,s:[{s:o,s:o,s:o,s:o}]}",
                             "schema",
                             1,
                             "timing",
                             "scenario",
                             text_value(timing->scenario),
                             "profile",
                             text_value(timing->profile),
                             "constraints",
                             constraints,
                             "figures",
                             figures);
    ok = ok && root != NULL && json_dumpf(root, file, JSON_INDENT(2)) == 0;
    ok = ok && fputc('\n', file) != EOF;
    json_decref(root);
    return ok;
}
