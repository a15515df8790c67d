/* The files that run and matrix leave, and what a baseline does to their exit status.
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

/* The eager sink, asked for more than it promises. */
static const char eager[] = "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once\","
                            " \"options\": {\"queue\": \"projects/p/locations/l/queues/q\"}},"
                            " \"oracles\": [\"at-least-once\", \"effectively-once\"],"
                            " \"faults\": {\"kinds\": [\"all\", \"-resource\"]},"
                            " \"workload\": {\"records\": 5, \"keys\": \"none\"}}";

static void write_eager(struct workshop *workshop)
{
    workshop_write(workshop, "eager.json", eager);
}

/* Whether a file has a text. */
static bool has(struct workshop *workshop, const char *name, const char *text)
{
    return strstr(workshop_read(workshop, name), text) != NULL;
}

#define ALL_FILES(name)                                                                            \
    " --json " name ".json --junit " name ".xml --sarif " name ".sarif --summary " name ".md"

/* Goal: the same results are the same bytes, however many processes made them. JSON alone tells
 * times. */
static void reports_are_the_same_bytes_whatever_the_jobs(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_must(
        workshop,
        "for j in 1 3; do \"$SINKPROOF\" run eager.json cloudtasks/exactly-once-small"
        " cloudtasks/at-least-once-ct-al-2 --seeds 1-60 --jobs $j" ALL_FILES(
            "$j") " >$j.txt;"
                  " [ $? -eq 1 ] || exit 9; sed -i '/elapsed_ms\\|_per_s/d' $j.json; done;"
                  " for e in txt json xml sarif md; do cmp 1.$e 3.$e || exit 8; done",
        0);
    assert_true(has(workshop, "1.xml", "<failure type=\"effectively-once\""));
    assert_true(has(workshop, "1.xml", "replay eager.json --seed"));
    assert_true(has(workshop, "1.sarif", "\"uri\": \"eager.json\""));
    assert_true(has(workshop, "1.sarif", "\"importance\": \"essential\""));
    assert_true(has(workshop, "1.md", "2 of 3 scenarios as expected"));
}

/* Goal: what was asked for is no failure in any of them. Method: a scenario that is expected to
 * fail. */
static void an_expected_failure_is_none(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "\"$SINKPROOF\" run cloudtasks/at-least-once-ct-al-2 --seeds 1-20" ALL_FILES("x"),
                  0);
    assert_true(has(workshop, "x.xml", "failures=\"0\" errors=\"0\">"));
    assert_true(has(workshop, "x.sarif", "\"results\": []"));
    assert_false(has(workshop, "x.md", "<details>"));
}

static void a_summary_is_added_to_what_is_there(void **state)
{
    struct workshop *workshop = *state;
    workshop_write(workshop, "s.md", "before\n");
    workshop_must(
        workshop, "\"$SINKPROOF\" run cloudtasks/exactly-once-small --seeds 1-5 --summary s.md", 0);
    assert_int_equal(strncmp(workshop_read(workshop, "s.md"), "before\n## sinkproof: 1 of 1", 27),
                     0);
}

static void a_file_that_cannot_be_made_is_told_before_the_work(void **state)
{
    struct workshop *workshop = *state;
    static const char *const names[] = {"junit", "sarif", "summary"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "\"$SINKPROOF\" run cloudtasks/exactly-once-small --seeds 1-5"
                                  " --%s nowhere/x",
                                  names[i]),
                      2);
        workshop_says(workshop, "\"nowhere/x\": cannot be written");
        assert_null(strstr(workshop->output, "holds"));
    }
}

/* --- baseline ---------------------------------------------------------------------------------- */

static void what_is_in_the_baseline_fails_no_more(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1-40 --json old.json", 1);
    workshop_must(workshop,
                  "\"$SINKPROOF\" run eager.json --seeds 1-40 --baseline old.json" ALL_FILES("x"),
                  0);
    workshop_says(workshop, "broken: effectively-once (known)");
    workshop_says(workshop, "baseline old.json: 0 new, 1 still there, 0 fixed");
    workshop_says(workshop, "effectively-once, record ");
    workshop_says(workshop, ": found again");
    assert_true(has(workshop, "x.xml", "<skipped>known from the baseline</skipped>"));
    assert_true(has(workshop, "x.sarif", "\"baselineState\": \"unchanged\""));
    assert_true(has(workshop, "x.json", "\"novelty\": \"known\""));
    assert_true(has(workshop, "x.md", "**0 new**, 1 still there"));
}

static void what_is_not_in_the_baseline_fails(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_must(workshop,
                  "\"$SINKPROOF\" run cloudtasks/exactly-once-small --seeds 1-5 --json old.json",
                  0);
    workshop_must(workshop,
                  "\"$SINKPROOF\" run eager.json --seeds 1-40 --baseline old.json --sarif x.sarif",
                  1);
    workshop_says(workshop, "broken: effectively-once (new)");
    workshop_says(workshop, "baseline old.json: 1 new, 0 still there, 0 fixed");
    workshop_says(workshop, "not run now: 1 of its scenarios");
    assert_true(has(workshop, "x.sarif", "\"baselineState\": \"new\""));
}

/* Goal: not found by these seeds is not fixed: its tape is run. Method: a seed that breaks nothing. */
static void what_no_seed_finds_is_looked_for_where_it_was(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1-40 --json old.json", 1);
    workshop_must(workshop,
                  "seed=1; until \"$SINKPROOF\" run eager.json --seeds $seed >/dev/null;"
                  " do seed=$((seed + 1)); done;"
                  " \"$SINKPROOF\" run eager.json --seeds $seed --baseline old.json",
                  0);
    workshop_says(workshop, "0 new, 1 still there, 0 fixed");
    workshop_says(workshop, "no seed found it, and its tape shows it\n");
}

/* Goal: fixed is what its own tape shows no more. Method: the network loses nothing any more. */
static void what_its_tape_shows_no_more_is_fixed(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1-40 --json old.json", 1);
    workshop_write(workshop,
                   "eager.json",
                   workshop_edit(workshop, eager, "[\"all\", \"-resource\"]", "[\"order\"]"));
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1-40 --baseline old.json", 0);
    workshop_says(workshop, "0 new, 0 still there, 1 fixed");
    workshop_says(workshop, "no seed found it, and its tape shows it no more");
}

/* Goal: too little tried is known, too, and by its own name. Method: a scenario in which nothing
 * happens. */
static void a_verdict_can_be_known(void **state)
{
    struct workshop *workshop = *state;
    workshop_write(workshop,
                   "calm.json",
                   workshop_edit(workshop,
                                 eager,
                                 "\"faults\": {\"kinds\": [\"all\", \"-resource\"]}",
                                 "\"expect\": \"fails\", \"faults\": {\"kinds\": [\"order\"]}"));
    workshop_must(workshop, "\"$SINKPROOF\" run calm.json --seeds 1-5 --json old.json", 1);
    workshop_must(workshop, "\"$SINKPROOF\" run calm.json --seeds 1-5 --baseline old.json", 0);
    workshop_says(workshop, "0 new, 1 still there, 0 fixed");
    workshop_says(workshop, "verdict: holds then, holds now, expected fails");
}

static void a_baseline_that_is_none_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    write_eager(workshop);
    workshop_write(workshop, "bad.json", "{\"schema\": 1, \"runs\": [{\"scenario\": \"x\"}]}");
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1 --baseline bad.json", 2);
    workshop_says(workshop, "bad.json: \"violations\" is missing or not good; allowed: a list");
    workshop_must(workshop, "\"$SINKPROOF\" run eager.json --seeds 1 --baseline none.json", 2);
    workshop_says(workshop, "none.json");
}

/* --- the matrix, and colours ------------------------------------------------------------------- */

static void a_matrix_leaves_them_as_well(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "\"$SINKPROOF\" matrix CT-AL-2 --quick --seeds 1-50 --junit m.xml"
                  " --summary m.md",
                  0);
    assert_true(has(workshop, "m.xml", "name=\"CT-AL-2: effectively-once fails (documented)\"/>"));
    assert_true(has(workshop, "m.md", "## sinkproof: 1 of 1 claims as expected"));
}

#define COLOURED                                                                                   \
    "script -qec \"$SINKPROOF run cloudtasks/exactly-once-small --seeds 1-5\" /dev/null"

static void colour_is_for_a_terminal_that_wants_it(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "TERM=xterm NO_COLOR= " COLOURED " </dev/null", 0);
    workshop_says(workshop, "\033[32;1mholds\033[0m");
    workshop_must(workshop, "TERM=xterm NO_COLOR=1 " COLOURED " </dev/null", 0);
    assert_null(strstr(workshop->output, "\033[32"));
    workshop_must(workshop, "TERM=dumb NO_COLOR= " COLOURED " </dev/null", 0);
    assert_null(strstr(workshop->output, "\033[32"));
    workshop_must(
        workshop,
        "TERM=xterm NO_COLOR= \"$SINKPROOF\" run cloudtasks/exactly-once-small --seeds 1-5",
        0);
    assert_null(strchr(workshop->output, '\033'));
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(run_reports,
          WORKSHOP_TEST(reports_are_the_same_bytes_whatever_the_jobs),
          WORKSHOP_TEST(an_expected_failure_is_none),
          WORKSHOP_TEST(a_summary_is_added_to_what_is_there),
          WORKSHOP_TEST(a_file_that_cannot_be_made_is_told_before_the_work),
          WORKSHOP_TEST(what_is_in_the_baseline_fails_no_more),
          WORKSHOP_TEST(what_is_not_in_the_baseline_fails),
          WORKSHOP_TEST(what_no_seed_finds_is_looked_for_where_it_was),
          WORKSHOP_TEST(what_its_tape_shows_no_more_is_fixed),
          WORKSHOP_TEST(a_verdict_can_be_known),
          WORKSHOP_TEST(a_baseline_that_is_none_is_status_2),
          WORKSHOP_TEST(a_matrix_leaves_them_as_well),
          WORKSHOP_TEST(colour_is_for_a_terminal_that_wants_it))
