/* Every command in README.md works and ends with the exit status that stands beside it.
 *
 * A ```sh block is a script, run by sh in a temporary folder in which build/sinkproof is the binary
 * under test. All blocks share that folder, in the order of the text, so that one may use what an
 * earlier one made. A command must end with status 0, or with N where its line ends in
 * "# exit status N". A block right below the comment
 *     <!-- not run by scenarios/readme_test.c: why -->
 * is left out; the comment gives the reason to the reader.
 */
#include "sinks/base/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define PATH_BYTES 256
#define SKIP_MARK  "<!-- not run by scenarios/readme_test.c:"

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

/* What was read of a README, and the script that is made of it. */
struct script {
    FILE *file;
    unsigned commands;
    unsigned blocks;
    unsigned skipped;
};

/* Check the status of the command that ended at a line. */
static void write_check(struct script *script, unsigned number, int wanted)
{
    (void)fprintf(script->file,
                  "status=$?; [ $status -eq %d ] || "
                  "{ echo \"README.md:%u: exit status $status, want %d\" >&2; failed=1; }\n",
                  wanted,
                  number,
                  wanted);
    script->commands++;
}

/* Turn the lines of a block into commands with checks; number is the line of its fence. A command
 * is one line, the lines that a backslash joins to it, and its here-document, which END ends. */
static unsigned write_block(struct script *script, FILE *readme, unsigned number)
{
    char line[LINE_BYTES];
    bool in_document = false;
    int wanted = 0;
    while (fgets(line, sizeof line, readme) != NULL) {
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
    script->blocks++;
    return number;
}

static void write_script(struct script *script, FILE *readme)
{
    char line[LINE_BYTES];
    bool skip = false;
    unsigned number = 0;
    (void)fputs("failed=0\n", script->file);
    while (fgets(line, sizeof line, readme) != NULL) {
        number++;
        if (starts_with(line, "```sh") && !skip) {
            number = write_block(script, readme, number);
        } else if (starts_with(line, "```sh")) {
            script->skipped++;
        }
        skip = starts_with(line, SKIP_MARK) && strstr(line, ": ") != NULL;
    }
    (void)fputs("exit $failed\n", script->file);
}

static struct script script_of(FILE *readme, const char *path)
{
    struct script script = {.file = fopen(path, "w")};
    assert_non_null(script.file);
    write_script(&script, readme);
    assert_int_equal(fclose(script.file), 0);
    script.file = NULL;
    return script;
}

static int run(const char *command)
{
    const int status = system(command);
    assert_int_not_equal(status, -1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* A folder of its own, with build/sinkproof in it. */
static void make_folder(char folder[PATH_BYTES])
{
    char text[4 * PATH_BYTES];
    (void)snprintf(folder, PATH_BYTES, "/tmp/sinkproof-readme-XXXXXX");
    assert_non_null(getenv("SINKPROOF"));
    assert_non_null(mkdtemp(folder));
    (void)snprintf(text,
                   sizeof text,
                   "mkdir %s/build && ln -s \"$(realpath \"$SINKPROOF\")\" %s/build/sinkproof",
                   folder,
                   folder);
    assert_int_equal(run(text), 0);
}

static int run_script(const char *folder)
{
    char text[PATH_BYTES + 64];
    (void)snprintf(text, sizeof text, "cd %s && sh script.sh >output.txt", folder);
    return run(text);
}

static void remove_folder(const char *folder)
{
    char text[PATH_BYTES + 64];
    (void)snprintf(text, sizeof text, "rm -rf %s", folder);
    assert_int_equal(run(text), 0);
}

/* Goal: nobody types a command that does not work. Method: run them all, in order. */
static void every_command_of_the_readme_ends_as_it_says(void **state)
{
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 64];
    FILE *readme = fopen("README.md", "r");
    (void)state;
    assert_non_null(readme);
    make_folder(folder);
    (void)snprintf(path, sizeof path, "%s/script.sh", folder);
    const struct script script = script_of(readme, path);
    (void)fclose(readme);
    const int status = run_script(folder);
    remove_folder(folder);
    assert_int_equal(status, 0);
    assert_in_range(script.commands, 10, 200);
    assert_int_equal(script.skipped, 2); /* make run and make test */
}

/* Goal: a command that ends with another status fails the test, and a block that is marked is not
 * run. Method: a text of both, through the same steps. */
static void a_wrong_status_is_seen_and_a_marked_block_is_not_run(void **state)
{
    static const struct {
        const char *text;
        int status;
        unsigned skipped;
    } texts[] = {
        {"```sh\nfalse\n```\n", 1, 0},
        {"```sh\nfalse   # exit status 1\n```\n", 0, 0},
        {"```sh\ntrue   # exit status 1\n```\n", 1, 0},
        {"```sh\nfalse\ntrue\n```\n", 1, 0},
        {"```sh\ntrue \\\n    && false   # exit status 1\n```\n", 0, 0},
        {"```sh\ncat >a <<'END'\nfalse\nEND\ngrep -q false a\n```\n", 0, 0},
        {SKIP_MARK " a reason -->\n```sh\nfalse\n```\n", 0, 1},
        {"```text\nfalse\n```\n", 0, 0},
    };
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 64];
    (void)state;
    make_folder(folder);
    (void)snprintf(path, sizeof path, "%s/script.sh", folder);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        FILE *readme = tmpfile();
        assert_non_null(readme);
        (void)fputs(texts[i].text, readme);
        rewind(readme);
        const struct script script = script_of(readme, path);
        (void)fclose(readme);
        assert_int_equal(script.skipped, texts[i].skipped);
        if (run_script(folder) != texts[i].status) {
            fail_msg("not status %d: %s", texts[i].status, texts[i].text);
        }
    }
    remove_folder(folder);
}

TEST_MAIN(readme,
          TEST(every_command_of_the_readme_ends_as_it_says),
          TEST(a_wrong_status_is_seen_and_a_marked_block_is_not_run))
