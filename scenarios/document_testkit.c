#include "scenarios/document_testkit.h"

#include "sinks/base/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The status that a command must end with. */
static int status_wanted(const char *line)
{
    static const char mark[] = "# exit status ";
    const char *place = strstr(line, mark);
    return place == NULL ? 0 : (int)strtol(place + strlen(mark), NULL, 10);
}

static bool ends_with_backslash(const char *line)
{
    const size_t size = strcspn(line, "\n");
    return size > 0 && line[size - 1] == '\\';
}

/* A script on its way. */
struct script {
    FILE *file;
    const char *name;
    struct document read;
};

/* Check the status of the command that ended at a line. */
static void write_check(struct script *script, unsigned number, int wanted)
{
    (void)fprintf(script->file,
                  "status=$?; [ $status -eq %d ] || "
                  "{ echo \"%s:%u: exit status $status, want %d\" >&2; failed=1; }\n",
                  wanted,
                  script->name,
                  number,
                  wanted);
    script->read.commands++;
}

/* Turn the lines of a block into commands with checks; number is the line of its fence. A command
 * is one line, the lines that a backslash joins to it, and its here-document, which END ends. */
static unsigned write_block(struct script *script, FILE *document, unsigned number)
{
    char line[LINE_BYTES];
    bool in_document = false;
    int wanted = 0;
    while (fgets(line, sizeof line, document) != NULL) {
        number++;
        if (!in_document && starts_with(line, "```")) {
            break;
        }
        (void)fputs(line, script->file);
        if (in_document) {
            in_document = !starts_with(line, "END");
        } else {
            wanted = status_wanted(line);
            in_document = strstr(line, "<<'END'") != NULL;
        }
        if (!in_document && !ends_with_backslash(line)) {
            write_check(script, number, wanted);
        }
    }
    script->read.blocks++;
    return number;
}

static void write_script(struct script *script, FILE *document)
{
    char line[LINE_BYTES];
    bool skip = false;
    unsigned number = 0;
    (void)fputs("failed=0\n", script->file);
    while (fgets(line, sizeof line, document) != NULL) {
        number++;
        if (starts_with(line, "```sh") && !skip) {
            number = write_block(script, document, number);
        } else if (starts_with(line, "```sh")) {
            script->read.skipped++;
        }
        skip = starts_with(line, DOCUMENT_SKIP_MARK) && strstr(line, ": ") != NULL;
    }
    (void)fputs("exit $failed\n", script->file);
}

struct document document_script(FILE *document, const char *name, const char *path)
{
    struct script script = {.file = fopen(path, "w"), .name = name};
    assert_non_null(script.file);
    write_script(&script, document);
    assert_int_equal(fclose(script.file), 0);
    return script.read;
}

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

/* The first key of a list's item stands behind its dash. */
static bool begins_step(const char *line)
{
    const char *key = line + indent_of(line);
    return starts_with(starts_with(key, "- ") ? key + 2 : key, "run: |");
}

static bool is_blank(const char *line)
{
    return line[indent_of(line)] == '\n';
}

/* A step on its way: its lines stand deeper than its key. */
struct step {
    size_t indent;
    unsigned number; /* of the line that it begins at; 0: there is none */
    bool is_skipped;
};

static void end_step(struct script *script, struct step *step)
{
    if (step->number > 0 && !step->is_skipped) {
        (void)fputs(")\n", script->file);
        write_check(script, step->number, 0);
    }
    *step = (struct step){0};
}

static void begin_step(struct script *script, struct step *step, const char *line, unsigned number)
{
    *step = (struct step){
        .indent = indent_of(line),
        .number = number,
        .is_skipped = strstr(line, "# not run by scenarios/") != NULL,
    };
    if (step->is_skipped) {
        script->read.skipped++;
    } else {
        (void)fputs("( set -e\n", script->file);
    }
}

static void write_step_line(struct script *script, struct step *step, const char *line)
{
    if (step->number > 0 && !step->is_skipped) {
        (void)fputs(line + indent_of(line), script->file);
    }
}

static void write_steps(struct script *script, FILE *document)
{
    char line[LINE_BYTES];
    struct step step = {0};
    bool in_block = false;
    unsigned number = 0;
    (void)fputs("failed=0\n", script->file);
    while (fgets(line, sizeof line, document) != NULL) {
        number++;
        if (starts_with(line, "```")) {
            end_step(script, &step);
            in_block = !in_block && strcmp(line, "```yaml\n") == 0;
            script->read.blocks += in_block ? 1 : 0;
        } else if (in_block && !is_blank(line)) {
            if (step.number > 0 && indent_of(line) <= step.indent) {
                end_step(script, &step);
            }
            if (step.number == 0 && begins_step(line)) {
                begin_step(script, &step, line, number);
            } else {
                write_step_line(script, &step, line);
            }
        }
    }
    (void)fputs("exit $failed\n", script->file);
}

struct document document_steps(FILE *document, const char *name, const char *path)
{
    struct script script = {.file = fopen(path, "w"), .name = name};
    assert_non_null(script.file);
    write_steps(&script, document);
    assert_int_equal(fclose(script.file), 0);
    return script.read;
}

static bool is_shown(const char *said, const char *line)
{
    char part[512];
    const char *at = said;
    const char *from = line;
    /* "..." stands for anything, on one line. */
    for (;;) {
        const char *dots = strstr(from, "...");
        const size_t size = dots == NULL ? strcspn(from, "\n") : (size_t)(dots - from);
        assert_true(size < sizeof part);
        memcpy(part, from, size);
        part[size] = '\0';
        const char *found = strstr(at, part);
        if (found == NULL) {
            return false;
        }
        if (from != line && memchr(at, '\n', (size_t)(found - at)) != NULL) {
            at = found + 1;
            from = line;
            continue;
        }
        at = found + size;
        if (dots == NULL || dots[3] == '\n') {
            return true;
        }
        from = dots + 3;
    }
}

unsigned document_check_shown(FILE *document, const char *said)
{
    char line[LINE_BYTES];
    bool in_block = false;
    unsigned lines = 0;
    while (fgets(line, sizeof line, document) != NULL) {
        if (starts_with(line, "```")) {
            in_block = strcmp(line, "```text\n") == 0;
        } else if (in_block) {
            lines++;
            if (!is_shown(said, line)) {
                fail_msg("not printed: %s", line);
            }
        }
    }
    return lines;
}
