/* JUnit XML: whole files of small literals, and who counts as failed.
 * link: reports/junit reports/escape reports/failure reports/records reports/report_testkit
 * link: sinks/base/sha256 sinks/base/bytes
 */
#include "reports/junit.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static void assert_says(const struct report_run *run, const char *part)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_junit_runs(file, run, 1));
    char *text = kit_read(file);
    if (strstr(text, part) == NULL) {
        fail_msg("not in it: %s\n%s", part, text);
    }
    free(text);
}

static void a_failing_sweep_is_this_file(void **state)
{
    (void)state;
    const struct report_run run = kit_failing();
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_junit_runs(file, &run, 1));
    kit_assert_golden(file, "failing.junit.xml");
}

static void a_case_stands_for_each_property_and_passes_where_nothing_is_wrong(void **state)
{
    (void)state;
    const struct report_run run = kit_holding();
    assert_says(&run, "<testsuites name=\"sinkproof\" tests=\"3\" failures=\"0\" errors=\"0\">");
    assert_says(&run, "name=\"at-least-once (documented)\"/>");
    assert_says(&run, "name=\"no-silent-loss (documented)\"/>");
    assert_says(&run, "name=\"verdict (documented)\"/>");
}

static void what_was_asked_for_is_no_failure(void **state)
{
    (void)state;
    struct report_run run = kit_failing();
    run.expected = REPORT_FAILS;
    run.as_expected = true;
    assert_says(&run, "tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"0\"");
}

/* Goal: broken by another oracle than the one that is asked for is a failure of that oracle and of the
 * verdict. */
static void what_was_not_asked_for_is_one_also_where_a_failure_is_expected(void **state)
{
    (void)state;
    struct report_run run = kit_failing();
    run.expected = REPORT_FAILS;
    run.verdict = REPORT_INCONCLUSIVE;
    run.violation_count = 1;
    assert_says(&run, "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\"");
}

static void too_little_tried_fails_the_verdict_alone(void **state)
{
    (void)state;
    const struct report_run run = kit_inconclusive();
    assert_says(&run, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\"");
    assert_says(&run,
                "<failure type=\"inconclusive\" message=\"inconclusive, expected holds\">\n"
                "  missing: 12 counted runs of 40, wanted: 20\n");
}

static void a_limit_is_an_error(void **state)
{
    (void)state;
    const struct report_run run = kit_limited();
    assert_says(&run, "tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"0\"");
    assert_says(&run, "a limit ended 2 runs: seed 3: events used up");
}

static void what_is_known_is_skipped(void **state)
{
    (void)state;
    struct report_run run = kit_inconclusive();
    run.novelty = REPORT_NOVELTY_KNOWN;
    assert_says(&run, "tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\"");
    run = kit_failing();
    run.violations = &kit_violations[1];
    run.violation_count = 1;
    assert_says(&run, "tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"1\"");
}

static void a_claim_is_a_case(void **state)
{
    (void)state;
    const struct report_claim claims[] = {
        {.id = "A-1",
         .sink = "s",
         .condition = "c",
         .property = "p",
         .profile = "documented",
         .expected = REPORT_HOLDS,
         .verdict = REPORT_HOLDS,
         .as_expected = true},
        {.id = "A-2",
         .sink = "s",
         .condition = KIT_HOSTILE,
         .property = "q",
         .profile = "adversary",
         .expected = REPORT_FAILS,
         .verdict = REPORT_INCONCLUSIVE,
         .why = "nothing found",
         .witness_tape = "",
         .witness_message = ""},
    };
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_junit_claims(file, claims, 2));
    char *text = kit_read(file);
    assert_string_equal(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"sinkproof\" tests=\"2\" failures=\"1\" errors=\"0\">\n"
        "  <testsuite name=\"guarantee matrix\" tests=\"2\" failures=\"1\" errors=\"0\" "
        "skipped=\"0\">\n"
        "    <testcase classname=\"s\" name=\"A-1: p holds (documented)\"/>\n"
        "    <testcase classname=\"s\" name=\"A-2: q fails (adversary)\">\n"
        "      <failure type=\"inconclusive\" message=\"inconclusive, expected fails\">\n"
        "  condition: a\\x01\\xff&lt;b&gt;&amp;&quot;']]&gt;\n|*\n"
        "  why: nothing found\n"
        "      </failure>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    free(text);
}

static void a_stream_that_takes_nothing_is_told(void **state)
{
    (void)state;
    const struct report_run run = kit_failing();
    FILE *file = fopen("/dev/full", "w");
    if (file == NULL) {
        skip();
    }
    (void)setvbuf(file, NULL, _IONBF, 0);
    assert_false(report_junit_runs(file, &run, 1));
    (void)fclose(file);
}

TEST_MAIN(junit,
          TEST(a_failing_sweep_is_this_file),
          TEST(a_case_stands_for_each_property_and_passes_where_nothing_is_wrong),
          TEST(what_was_asked_for_is_no_failure),
          TEST(what_was_not_asked_for_is_one_also_where_a_failure_is_expected),
          TEST(too_little_tried_fails_the_verdict_alone),
          TEST(a_limit_is_an_error),
          TEST(what_is_known_is_skipped),
          TEST(a_claim_is_a_case),
          TEST(a_stream_that_takes_nothing_is_told))
