/* Every command in README.md works and ends with the exit status that stands beside it, as
 * scenarios/document_testkit.h reads them. They run in a temporary folder in which build/sinkproof is
 * the binary under test.
 *
 * link: scenarios/document_testkit
 */
#include "scenarios/document_testkit.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 256

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
    const struct document script = document_script(readme, "README.md", path);
    (void)fclose(readme);
    const int status = run_script(folder);
    remove_folder(folder);
    assert_int_equal(status, 0);
    assert_in_range(script.commands, 10, 200);
    assert_int_equal(script.skipped, 4); /* make run, make test, fuzz, mutants */
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
        {DOCUMENT_SKIP_MARK "x.c: a reason -->\n```sh\nfalse\n```\n", 0, 1},
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
        const struct document script = document_script(readme, "README.md", path);
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
