#include "reports/failure.h"

#include "sinks/base/bytes.h"
#include "sinks/base/check.h"
#include "sinks/base/sha256.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHOICE_LINES 6

/* --- lines ------------------------------------------------------------------------------------- */

/* One line on its way. What memory has no room for is left out. */
struct line {
    char *text; /* NULL: empty, or memory is out */
    size_t size;
};

static void add(struct line *line, const char *format, ...) PRINTF_LIKE(2, 3);
static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    CHECK(more >= 0);
    char *text = realloc(line->text, line->size + (size_t)more + 1);
    if (text == NULL) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text + line->size, (size_t)more + 1, format, arguments);
    va_end(arguments);
    line->text = text;
    line->size += (size_t)more;
}

/* Hand it over: what has control characters is still one line. */
static void finish(struct line *line, enum failure_part part, void *context, failure_line *take)
{
    for (size_t i = 0; i < line->size; i++) {
        const unsigned char c = (unsigned char)line->text[i];
        if (c < 0x20 || c == 0x7f) {
            line->text[i] = ' ';
        }
    }
    take(context, part, line->text == NULL ? "" : line->text);
    free(line->text);
    *line = (struct line){0};
}

static void add_run(struct line *line, const struct report_violation *violation)
{
    if (violation->run_or_null != NULL) {
        add(line, "%s", violation->run_or_null);
    } else {
        add(line, "seed %" PRIu64, violation->seed);
    }
}

static void
take_choices(const struct report_violation *violation, void *context, failure_line *take)
{
    struct line line = {0};
    const size_t shown =
        violation->choice_count <= CHOICE_LINES ? violation->choice_count : CHOICE_LINES - 1;
    for (size_t i = 0; i < shown; i++) {
        add(&line, "      %s", violation->choices[i]);
        finish(&line, FAILURE_PART_PLAIN, context, take);
    }
    if (shown < violation->choice_count) {
        add(&line, "      and %zu more", violation->choice_count - shown);
        finish(&line, FAILURE_PART_PLAIN, context, take);
    }
}

static void take_broken(const struct report_violation *violation, void *context, failure_line *take)
{
    struct line line = {0};
    CHECK(violation->oracle_count > 0);
    add(&line, "  broken: %s", violation->oracles[0]);
    for (size_t i = 1; i < violation->oracle_count; i++) {
        add(&line, "%s %s", i == 1 ? "; in the same run:" : ",", violation->oracles[i]);
    }
    if (violation->novelty != REPORT_NOVELTY_NONE) {
        add(&line, " (%s)", report_novelty_name(violation->novelty));
    }
    finish(&line, FAILURE_PART_BROKEN, context, take);
    add(&line, "    %s: %s", violation->subject, violation->message);
    finish(&line, FAILURE_PART_PLAIN, context, take);
}

/* Lines: verdict, subject with message, a heading, up to CHOICE_LINES choices, the decisive event,
 * the command. */
void failure_lines(const struct report_violation *violation, void *context, failure_line *take)
{
    struct line line = {0};
    take_broken(violation, context, take);
    add(&line, "    ");
    add_run(&line, violation);
    if (violation->tape[0] != '\0') {
        add(&line,
            ", %" PRIu32 " %s (%" PRIu32 " as found):",
            violation->deviations,
            violation->deviations == 1 ? "choice" : "choices",
            violation->deviations_found);
    }
    finish(&line, FAILURE_PART_PLAIN, context, take);
    if (violation->tape[0] != '\0') {
        take_choices(violation, context, take);
    }
    if (violation->decisive[0] != '\0') {
        add(&line, "    decided by: %s", violation->decisive);
        finish(&line, FAILURE_PART_PLAIN, context, take);
    }
    if (violation->command[0] != '\0') {
        add(&line, "    replay: %s", violation->command);
        finish(&line, FAILURE_PART_COMMAND, context, take);
    }
}

void failure_brief(const struct report_violation *violation, void *context, failure_line *take)
{
    struct line line = {0};
    CHECK(violation->oracle_count > 0);
    add(&line, "  broken: %s, ", violation->oracles[0]);
    add_run(&line, violation);
    add(&line, ", %s: %s", violation->subject, violation->message);
    if (violation->novelty != REPORT_NOVELTY_NONE) {
        add(&line, " (%s)", report_novelty_name(violation->novelty));
    }
    finish(&line, FAILURE_PART_BROKEN, context, take);
}

/* --- the fingerprint --------------------------------------------------------------------------- */

/* A line of a tape that is an entry: its first word is site/lane#ordinal. Headers and comments are
 * not. */
static bool is_entry(const char *line)
{
    const size_t word = strcspn(line, " \n");
    const char *hash = memchr(line, '#', word);
    return hash != NULL && hash != line;
}

/* Each part ends with a NUL, so that no two lists of parts are one text. */
void failure_fingerprint(const char *scenario,
                         const struct report_violation *violation,
                         char fingerprint[FAILURE_FINGERPRINT_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    struct line parts = {0};
    CHECK(violation->oracle_count > 0);
    add(&parts, "%s%c%s%c%s%c", scenario, 0, violation->oracles[0], 0, violation->subject, 0);
    for (const char *line = violation->tape; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        if (is_entry(line)) {
            add(&parts, "%.*s%c", (int)size, line, 0);
        }
        line += line[size] == '\n' ? size + 1 : size;
    }
    sha256((struct bytes){(const uint8_t *)parts.text, parts.size}, digest);
    free(parts.text);
    for (size_t i = 0; i < (FAILURE_FINGERPRINT_SIZE - 1) / 2; i++) {
        (void)snprintf(&fingerprint[2 * i], 3, "%02x", (unsigned)digest[i]);
    }
}
