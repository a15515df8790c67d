/* The manual says what the help says, and every command of docs/bring-your-own-sink.md and docs/gate.md
 * works.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes scenarios/document_testkit
 */
#include "scenarios/cli/workshop_testkit.h"
#include "scenarios/document_testkit.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <string.h>

#define PAGE      "docs/bring-your-own-sink.md"
#define GATE_PAGE "docs/gate.md"

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

/* Goal: nobody types a command that does not work, and each prints what the page shows. Method: run
 * them all, in order; each line of the text blocks is in what they printed. */
static void every_command_of_the_page_works_and_prints_what_it_shows(void **state)
{
    struct workshop *workshop = *state;
    run_page(workshop);
    FILE *page = fopen(PAGE, "r");
    assert_non_null(page);
    assert_in_range(document_check_shown(page, workshop_read(workshop, "said.txt")), 5, 100);
    (void)fclose(page);
}

/* Goal: the same of the page about the decision rule. Method: run them in the source tree, with the
 * binary under test. */
static void every_command_of_the_gate_page_works_and_prints_what_it_shows(void **state)
{
    struct workshop *workshop = *state;
    FILE *page = fopen(GATE_PAGE, "r");
    assert_non_null(page);
    const struct document read = document_script(
        page, GATE_PAGE, text_format(&workshop->texts, "%s/script", workshop->folder));
    assert_int_equal(read.commands, 2);
    assert_int_equal(read.skipped, 1); /* the whole matrix */
    workshop_must(workshop,
                  "here=$(pwd) && sed \"s#build/sinkproof#$SINKPROOF#\" script >whole && "
                  "cd \"$ROOT\" && sh \"$here/whole\" >\"$here/said.txt\"",
                  0);
    rewind(page);
    assert_in_range(document_check_shown(page, workshop_read(workshop, "said.txt")), 5, 20);
    (void)fclose(page);
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
          WORKSHOP_TEST(every_command_of_the_gate_page_works_and_prints_what_it_shows),
          WORKSHOP_TEST(the_manual_says_what_the_help_says))
