/* The manual says what the help says, and every command of docs/bring-your-own-sink.md works.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes scenarios/document_testkit
 */
#include "scenarios/cli/workshop_testkit.h"
#include "scenarios/document_testkit.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <string.h>

#define PAGE "docs/bring-your-own-sink.md"

static void install(struct workshop *workshop)
{
    workshop_must(workshop,
                  "prefix=$(pwd)/prefix; cd \"$ROOT\" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL"
                  " make -s -o \"$SINKPROOF\" install PREFIX=\"$prefix\" BINARY=\"$SINKPROOF\"",
                  0);
}

/* Run the commands of the page with what was installed; what they print goes to said.txt. */
static void run_page(struct workshop *workshop)
{
    FILE *page = fopen(PAGE, "r");
    assert_non_null(page);
    install(workshop);
    const struct document read =
        document_script(page, PAGE, text_format(&workshop->texts, "%s/script", workshop->folder));
    (void)fclose(page);
    assert_in_range(read.commands, 10, 100);
    assert_int_equal(read.skipped, 2); /* the installation, which is made above, and gdb */
    workshop_must(workshop, "PATH=$(pwd)/prefix/bin:$PATH sh script >said.txt", 0);
}

/* Lines of the blocks of text: what is shown there must be what comes. */
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

/* Goal: nobody types a command that does not work, and each prints what the page shows. Method: run
 * them all, in order; each line of the text blocks is in what they printed. */
static void every_command_of_the_page_works_and_prints_what_it_shows(void **state)
{
    struct workshop *workshop = *state;
    char line[1024];
    bool in_block = false;
    uint32_t lines = 0;
    run_page(workshop);
    const char *said = workshop_read(workshop, "said.txt");
    FILE *page = fopen(PAGE, "r");
    assert_non_null(page);
    while (fgets(line, sizeof line, page) != NULL) {
        if (strncmp(line, "```", 3) == 0) {
            in_block = strcmp(line, "```text\n") == 0;
        } else if (in_block) {
            lines++;
            if (!is_shown(said, line)) {
                fail_msg("not printed: %s", line);
            }
        }
    }
    (void)fclose(page);
    assert_in_range(lines, 5, 100);
}

static void the_manual_says_what_the_help_says(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "cd \"$ROOT\" && tools/man \"$SINKPROOF\" --check", 0);
    workshop_must(workshop,
                  "sed '/^\\.B sinkproof diff/d' \"$ROOT/docs/sinkproof.1\" >page && mkdir docs &&"
                  " mv page docs/sinkproof.1 && \"$ROOT/tools/man\" \"$SINKPROOF\" --check",
                  1);
    workshop_says(workshop, "run tools/man ");
    if (workshop_run(workshop, "command -v groff") == 0) {
        workshop_must(workshop,
                      "groff -man -Tascii -ww \"$ROOT/docs/sinkproof.1\" 2>&1 >/dev/null | grep .",
                      1);
    }
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(docs,
          WORKSHOP_TEST(every_command_of_the_page_works_and_prints_what_it_shows),
          WORKSHOP_TEST(the_manual_says_what_the_help_says))
