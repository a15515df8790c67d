/* The gate from the command line: verdicts, exit statuses, files, and what is wrong on one line.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define CELL "cd \"$ROOT\" && $SINKPROOF gate tasks-staged/tasks-unnamed --cell 1024,even,1,1,1 "

/* Goal: what was published of staged tasks, in kind: throughput is kept, and most of an interval is added
 * to p95, which by the rule as written is a decline. And reports are the same, byte for byte, whatever the
 * number of workers. */
static void staged_tasks_keep_throughput_and_add_an_interval_whatever_the_jobs(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop,
        "here=$(pwd); for j in 1 3; do (" CELL
        "--seeds 1-3 --jobs $j --json \"$here/$j.json\" >\"$here/$j.txt\") || exit 9; done;"
        " cmp 1.json 3.json && cmp 1.txt 3.txt && test -s 1.json && cat 1.txt",
        0);
    workshop_says(workshop, "1 of the 108 cells of the grid were asked for: 1 GENERAL");
    workshop_says(workshop, "without the exemption, 1 of them would be another verdict (DECLINE)");
    workshop_says(workshop, "Every row is MODEL");
    workshop_says(workshop, "MODEL: half of 4.1 ms");
}

/* Goal: a verdict that is not the expected one is status 1: two repetitions decide nothing. */
static void an_inconclusive_cell_ends_with_status_1(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, CELL "--seeds 1-2", 1);
    workshop_says(workshop, "INCONCLUSIVE (repetitions)");
}

/* Goal: what was not observed has no verdict, and can be run again from the file that is left. Method: a
 * service that takes longer than a request may. */
static void what_was_not_observed_is_left_as_a_scenario(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "tr '\\n' ' ' <\"$ROOT/scenarios/gate/costs-region.json\" | "
                  "sed 's/\\[9000000[^]]*\\]/[25000000000]/' >slow.json",
                  0);
    workshop_must(workshop,
                  "here=$(pwd); " CELL
                  "--seeds 1-3 --costs \"$here/slow.json\" --out \"$here/out\"",
                  1);
    workshop_says(workshop, "no verdict (not observed)");
    workshop_says(workshop, "FAILED");
    workshop_must(
        workshop,
        "for f in out/*.json; do $SINKPROOF replay \"$f\" --seed 1 >said || test $? = 1 || "
        "exit 9; done; test -s said",
        0);
}

static void the_wrong_word_is_one_line(void **state)
{
    static const struct {
        const char *words;
        const char *line;
    } cases[] = {
        {"nobody",
         "gate \"nobody\": no such candidate; allowed: published, tasks-staged/tasks-unnamed"},
        {"--cell 1,2", "gate: --cell \"1,2\": allowed: B,K,P,C,S"},
        {"--cell 1024,odd,1,1,1", "gate: --cell \"1024,odd,1,1,1\": allowed"},
        {"--cell 1024,even,17,1,1", "gate: --cell \"1024,even,17,1,1\": allowed"},
        {"--cell 1024,even,1,1,1,1", "gate: --cell \"1024,even,1,1,1,1\": allowed"},
        {"--costs nowhere",
         "gate: --costs \"nowhere\": no such costs; allowed: region, remote, or"},
        {"--seeds 1-33", "gate: --seeds: 33 repetitions; allowed: 1 to 32"},
    };
    struct workshop *workshop = *state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "cd \"$ROOT\" && $SINKPROOF gate %s 2>&1 >/dev/null | head -1 | "
                                  "grep . ; $SINKPROOF gate %s >/dev/null 2>&1",
                                  cases[i].words,
                                  cases[i].words),
                      2);
        workshop_says(workshop, cases[i].line);
    }
}

/* Goal: the pictures show what the report says. Method: a cell, whose means stand in the JSON as well; a
 * candidate without cells. */
static void plots_are_of_the_gate_s_own_figures(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "here=$(pwd); " CELL "--seeds 1-3 --plots \"$here/p\" --json \"$here/g.json\"",
                  0);
    workshop_says(workshop, "plots: 2 in ");
    workshop_must(workshop,
                  "/usr/bin/python3 -c '\n"
                  "import json\n"
                  "def rows(name):\n"
                  "    text = open(\"p/gate-%s-tasks-staged-tasks-unnamed.tsv\" % name)\n"
                  "    return [tuple(map(int, l.split())) for l in text if l[0] not in \"#\\n\"]\n"
                  "arms = json.load(open(\"g.json\"))[\"gate\"][0][\"stage_2\"][0][\"arms\"]\n"
                  "mean = {a[\"side\"]: a for a in arms}\n"
                  "rate, p95, second = \"mean_throughput_milli_per_s\", \"mean_p95_ns\", 10 ** 9\n"
                  "b, c = mean[\"baseline\"], mean[\"candidate\"]\n"
                  "assert rows(\"throughput\") == [(1, 1, b[rate]), (2, 1, c[rate])]\n"
                  "assert rows(\"latency\")[:2] == [(1, second, b[p95]), (2, second, c[p95])]\n"
                  "assert len(rows(\"latency\")) == 4\n'",
                  0);
    workshop_must(workshop,
                  "here=$(pwd); cd \"$ROOT\" && $SINKPROOF gate rows-in-units/rows-appended "
                  "--cell 1024,even,1,1,1 --seeds 1-3 --plots \"$here/q\"",
                  0);
    workshop_says(workshop, "--plots: rows-in-units/rows-appended: it has no cells to draw");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(gate,
          WORKSHOP_TEST(staged_tasks_keep_throughput_and_add_an_interval_whatever_the_jobs),
          WORKSHOP_TEST(an_inconclusive_cell_ends_with_status_1),
          WORKSHOP_TEST(what_was_not_observed_is_left_as_a_scenario),
          WORKSHOP_TEST(plots_are_of_the_gate_s_own_figures),
          WORKSHOP_TEST(the_wrong_word_is_one_line))
