/* explain from outside: what it says of a run is true when it is tried, and fits a screen.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define FAILS   "cloudtasks/exactly-once-ct-eo-6"
#define EXPLAIN "$SINKPROOF explain " FAILS " --seed 24 "

static void it_fits_a_screen_and_says_all_parts(void **state)
{
    static const char *const parts[] = {
        FAILS " breaks exactly-once-write: record 8 has 2 effects where 1 may be",
        "it takes 1 choice, proven minimal (27 as found):",
        "have been released (writer0, policy0, committer0; for 87020.000 s)",
        "one of several: 1 other value there, ",
        "what became of record 8:\n",
        "+87019.994 s  ",
        "decided at event ",
        "behind it every run that goes on calm, or with one other choice, fails: all ",
        "the last chance: choice 1 itself, not made\n",
        "it passes without choice 1; there the two runs part:\n  fails:  #",
        "\n  passes: #",
        " --tape minimal.tape --trace\n",
    };
    struct workshop *workshop = *state;
    size_t lines = 0;
    workshop_must(workshop, EXPLAIN "-o minimal.tape", 0);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        workshop_says(workshop, parts[i]);
    }
    for (const char *at = workshop->output; *at != '\0'; at++) {
        lines += *at == '\n' ? 1 : 0;
    }
    assert_in_range(lines, 10, 25);
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape minimal.tape --strict", 0);
}

/* Goal: what does as well does as well. Method: put each choice that explain names into the place of
 * the tape's own, and run. */
static void what_does_as_well_fails_in_its_place(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, EXPLAIN "-o minimal.tape --json why.json", 0);
    workshop_must(workshop,
                  "sed -n '/\"as_well\"/,/]/s/^ *\"\\(.*)\\)\",*$/\\1/p' why.json >as_well &&"
                  " test $(wc -l <as_well) = 4",
                  0);
    workshop_must(workshop,
                  "while read -r line; do"
                  " sed \"s|^engine.crash.*|$line|; /^digest/d\" minimal.tape >other.tape &&"
                  " ! cmp -s minimal.tape other.tape &&"
                  " $SINKPROOF replay " FAILS " --tape other.tape --strict |"
                  " grep 'broken: exactly-once-write' || exit 7; done <as_well",
                  0);
}

/* Goal: the run that is called passing passes, and the runs part where it says. Method: replay both
 * and compare their traces. */
static void the_twin_passes_and_parts_where_it_says(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, EXPLAIN "-o minimal.tape --json why.json", 0);
    workshop_must(workshop,
                  "sed -n '/\"twin\"/,$s/.*\"tape\": \"\\(.*\\)\",*$/\\1/p' why.json |"
                  " sed 's/\\\\n/\\n/g' >twin.tape",
                  0);
    /* The scenario expects a failure, so that a run that passes is status 1. */
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape twin.tape --trace >passes", 1);
    workshop_must(workshop, "! grep broken passes", 0);
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape minimal.tape --trace >fails", 0);
    workshop_must(workshop,
                  "parts=$(diff fails passes | sed -n 's/^< #\\([0-9]*\\) .*/\\1/p' | head -n 1);"
                  " grep -A 1 '\"fails\": \\[' why.json | grep \"#$parts \"",
                  0);
}

/* Goal: only a run that passes is called one. Method: a tape that was hardly shrunk, of which most
 * choices can be left out and the run fails as before. */
static void leaving_out_what_is_free_is_no_twin(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, EXPLAIN "--attempts 1 --json why.json", 0);
    workshop_says(workshop, "attempts used up");
    workshop_must(workshop,
                  "sed -n '/\"twin\"/,$s/.*\"tape\": \"\\(.*\\)\",*$/\\1/p' why.json |"
                  " sed 's/\\\\n/\\n/g' >twin.tape",
                  0);
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape twin.tape >passes", 1);
    workshop_must(workshop, "grep 'choices, digest' passes && ! grep broken passes", 0);
}

static void what_cannot_be_explained_is_said(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "$SINKPROOF explain cloudtasks/exactly-once-small --seed 1", 1);
    workshop_says(workshop, "explain: the run breaks nothing; wanted: a run that fails");
    workshop_must(workshop, "$SINKPROOF explain " FAILS, 2);
    workshop_says(workshop, "explain: none of --seed, --tape");
    workshop_must(workshop, EXPLAIN "--json /nonexistent/x", 2);
    workshop_says(workshop, "/nonexistent/x");
    workshop_must(workshop, EXPLAIN "--oracle contract", 1);
    workshop_says(workshop, "breaks nothing of oracle contract");
}

/* Goal: a budget is told. Method: few runs. */
static void what_was_not_tried_is_said(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "$SINKPROOF shrink " FAILS " --seed 24 -o minimal.tape && "
                  "$SINKPROOF explain " FAILS " --tape minimal.tape --attempts 200",
                  0);
    workshop_says(workshop, "(only ");
    workshop_must(workshop, "$SINKPROOF explain " FAILS " --tape minimal.tape --attempts 20", 0);
    workshop_says(workshop, "decided: unknown; the last ");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(explain,
          WORKSHOP_TEST(it_fits_a_screen_and_says_all_parts),
          WORKSHOP_TEST(what_does_as_well_fails_in_its_place),
          WORKSHOP_TEST(the_twin_passes_and_parts_where_it_says),
          WORKSHOP_TEST(leaving_out_what_is_free_is_no_twin),
          WORKSHOP_TEST(what_cannot_be_explained_is_said),
          WORKSHOP_TEST(what_was_not_tried_is_said))
