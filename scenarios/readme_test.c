/* Every command in README.md, docs/from-red-to-fix.md and docs/timing.md works and ends with the exit status that stands beside it, as
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

/* Goal: a step of a workflow ends at its first command that fails, and one without a mark is run. */
static void a_failing_step_of_a_workflow_is_seen(void **state)
{
    static const struct {
        const char *text;
        int status;
        unsigned commands;
        unsigned skipped;
    } texts[] = {
        {"```yaml\n- run: |\n    true\n    test \"$x\" = \"\"\n- uses: x\n```\n", 0, 1, 0},
        {"```yaml\n- run: |\n    false\n    true\n```\n", 1, 1, 0},
        {"```yaml\n- run: |\n    true\n- run: |\n    false\n```\n", 1, 2, 0},
        {"```yaml\n- run: | # not run by scenarios/x.c: why\n    false\n- a: b\n```\n", 0, 0, 1},
        {"```yaml\n- run: |\n    if true; then\n      false\n    fi\n```\n", 1, 1, 0},
        {"```sh\nrun: |\n  false\n```\n", 0, 0, 0},
    };
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 64];
    (void)state;
    make_folder(folder);
    (void)snprintf(path, sizeof path, "%s/script.sh", folder);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        FILE *page = tmpfile();
        assert_non_null(page);
        (void)fputs(texts[i].text, page);
        rewind(page);
        const struct document steps = document_steps(page, "page", path);
        (void)fclose(page);
        assert_int_equal(steps.commands, texts[i].commands);
        assert_int_equal(steps.skipped, texts[i].skipped);
        if (run_script(folder) != texts[i].status) {
            fail_msg("not status %d: %s", texts[i].status, texts[i].text);
        }
    }
    remove_folder(folder);
}

#define PAGE "docs/from-red-to-fix.md"

/* What the commands of a page printed. */
static char *said_in(const char *folder)
{
    const size_t size = (size_t)1 << 20;
    char path[PATH_BYTES + 64];
    char *said = calloc(1, size);
    (void)snprintf(path, sizeof path, "%s/output.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(said);
    assert_non_null(file);
    assert_true(fread(said, 1, size - 1, file) < size - 1);
    (void)fclose(file);
    return said;
}

/* In the folder that the page leaves: five commits, the third of which takes the names away. */
static const char bisection[] =
    "set -e; cd %s; exec >bisect.txt 2>&1; export GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent;"
    " git init -q; git config user.name x; git config user.email x@example.org;"
    " commit() { git add orders.json other.txt; git commit -q -m \"$1\"; };"
    " echo 1 >other.txt; commit one; echo 2 >other.txt; commit two;"
    " sed -i -e 's/-named\"/\"/' -e 's/, \"extractor\": true//' orders.json; commit 'no names';"
    " echo 4 >other.txt; commit four; echo 5 >other.txt; commit five;"
    " git bisect start HEAD HEAD~4; git bisect run sh bisect.sh;"
    " test \"$(git log -1 --format=%%s refs/bisect/bad)\" = 'no names'";

/* Goal: nobody types a command of the page that does not work, each prints what the page shows, and its
 * script bisects. Method: run them all, and then a repository of five commits. */
static void every_command_from_red_to_fix_works(void **state)
{
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 64];
    char text[2048];
    FILE *page = fopen(PAGE, "r");
    (void)state;
    assert_non_null(page);
    make_folder(folder);
    (void)snprintf(path, sizeof path, "%s/script.sh", folder);
    const struct document script = document_script(page, PAGE, path);
    assert_int_equal(run_script(folder), 0);
    char *said = said_in(folder);
    rewind(page);
    assert_in_range(document_check_shown(page, said), 10, 100);
    (void)fclose(page);
    free(said);
    assert_in_range(script.commands, 15, 50);
    assert_int_equal(script.skipped, 1); /* git bisect */
    if (run("command -v git >/dev/null") == 0) {
        (void)snprintf(text, sizeof text, bisection, folder);
        assert_int_equal(run(text), 0);
    }
    remove_folder(folder);
}

/* A page all of whose commands are run and print what it shows. */
static void check_page(const char *name)
{
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 64];
    FILE *page = fopen(name, "r");
    assert_non_null(page);
    make_folder(folder);
    (void)snprintf(path, sizeof path, "%s/script.sh", folder);
    const struct document script = document_script(page, name, path);
    assert_int_equal(run_script(folder), 0);
    char *said = said_in(folder);
    rewind(page);
    assert_in_range(document_check_shown(page, said), 5, 100);
    (void)fclose(page);
    free(said);
    assert_in_range(script.commands, 5, 50);
    assert_int_equal(script.skipped, 0);
    remove_folder(folder);
}

/* Goal: the same of the page on timing constraints. */
static void every_command_of_the_timing_page_works(void **state)
{
    (void)state;
    check_page("docs/timing.md");
}

/* Goal: the same of the page on certificates. */
static void every_command_of_the_page_on_certificates_works(void **state)
{
    (void)state;
    check_page("docs/reading-the-certificate.md");
}

TEST_MAIN(readme,
          TEST(every_command_of_the_readme_ends_as_it_says),
          TEST(every_command_from_red_to_fix_works),
          TEST(every_command_of_the_timing_page_works),
          TEST(every_command_of_the_page_on_certificates_works),
          TEST(a_wrong_status_is_seen_and_a_marked_block_is_not_run),
          TEST(a_failing_step_of_a_workflow_is_seen))
