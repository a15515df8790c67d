/* Every command of docs/ci-gate.md works, and each step of its workflow.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes scenarios/document_testkit
 */
#include "scenarios/cli/workshop_testkit.h"
#include "scenarios/document_testkit.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <string.h>

#define GATE "docs/ci-gate.md"

static void install(struct workshop *workshop)
{
    workshop_must(workshop,
                  "prefix=$(pwd)/prefix; cd \"$ROOT\" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL"
                  " make -s -o \"$SINKPROOF\" install PREFIX=\"$prefix\" BINARY=\"$SINKPROOF\"",
                  0);
}

static FILE *open_gate(void)
{
    FILE *page = fopen(GATE, "r");
    assert_non_null(page);
    return page;
}

/* Goal: the workflow can be copied whole. Method: the commands of the page, then the steps of its
 * workflow, each in a shell as CI gives it, twice: without a baseline, and with the one that the first
 * time left. */
static void every_command_of_the_gate_works_and_each_step_of_its_workflow(void **state)
{
    struct workshop *workshop = *state;
    FILE *page = open_gate();
    const char *script = text_format(&workshop->texts, "%s/script", workshop->folder);
    const char *steps = text_format(&workshop->texts, "%s/steps", workshop->folder);
    install(workshop);
    const struct document commands = document_script(page, GATE, script);
    rewind(page);
    const struct document workflow = document_steps(page, GATE, steps);
    (void)fclose(page);
    assert_in_range(commands.commands, 6, 40);
    assert_int_equal(commands.skipped, 0);
    assert_int_equal(workflow.blocks, 1);
    assert_in_range(workflow.commands, 4, 20);
    assert_int_equal(workflow.skipped, 1); /* the installation, which is made above */
    workshop_must(workshop, "PATH=$(pwd)/prefix/bin:$PATH sh script >said.txt", 0);
    workshop_must(workshop,
                  "PATH=$(pwd)/prefix/bin:$PATH; export PATH GITHUB_SHA=0123abcd"
                  " GITHUB_STEP_SUMMARY=$(pwd)/summary.md;"
                  " sh steps >first.txt && [ -s baseline.json ] && sh steps >second.txt",
                  0);
    workshop_must(workshop, "grep -c 'baseline baseline.json: 0 new' second.txt", 0);
    workshop_must(workshop, "grep -c '^## sinkproof: 1 of 1' summary.md", 0);
    page = open_gate();
    assert_in_range(document_check_shown(page, workshop_read(workshop, "said.txt")), 4, 100);
    (void)fclose(page);
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(ci_gate, WORKSHOP_TEST(every_command_of_the_gate_works_and_each_step_of_its_workflow))
