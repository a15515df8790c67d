/* The step summary: whole texts of small literals.
 * link: reports/step_summary reports/baseline reports/escape reports/failure reports/records
 * link: reports/report_testkit sinks/base/sha256 sinks/base/bytes
 */
#include "reports/step_summary.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static char *
written(const struct report_run *runs, size_t count, const struct report_baseline *baseline_or_null)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_step_summary_runs(file, runs, count, baseline_or_null));
    return kit_read(file);
}

static void sweeps_are_a_table_with_failures_behind_a_fold(void **state)
{
    (void)state;
    const struct report_run runs[] = {kit_failing(), kit_holding(), kit_inconclusive()};
    struct report_old_failure old[2] = {{.is_there = true}, {.is_there = false}};
    const struct report_baseline baseline = {.new_count = 1, .old = old, .old_count = 2};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_step_summary_runs(file, runs, 3, &baseline));
    kit_assert_golden(file, "sweeps.md");
}

/* Goal: a summary has a size that it may not exceed. */
static void many_failures_are_counted_and_not_shown(void **state)
{
    (void)state;
    struct report_run runs[23];
    for (size_t i = 0; i < 23; i++) {
        runs[i] = kit_failing();
        runs[i].violation_count = 1;
    }
    char *text = written(runs, 23, NULL);
    assert_non_null(strstr(text, "\nand 3 more failures\n"));
    size_t folds = 0;
    for (const char *at = strstr(text, "<details>"); at != NULL; at = strstr(at + 1, "<details>")) {
        folds++;
    }
    assert_int_equal(folds, 20);
    free(text);
}

static void what_was_asked_for_is_not_shown(void **state)
{
    (void)state;
    struct report_run run = kit_failing();
    run.expected = REPORT_FAILS;
    run.as_expected = true;
    char *text = written(&run, 1, NULL);
    assert_null(strstr(text, "<details>"));
    free(text);
}

static void claims_that_are_not_as_expected_are_behind_a_fold(void **state)
{
    (void)state;
    const struct report_claim claims[] = {
        {.as_expected = true},
        {.id = "A-2",
         .sink = "s",
         .condition = KIT_HOSTILE,
         .property = "q",
         .expected = REPORT_HOLDS,
         .verdict = REPORT_FAILS,
         .why = "broken",
         .has_witness = true,
         .witness_tape = "t<1>",
         .witness_message = "m"},
    };
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_step_summary_claims(file, claims, 2));
    char *text = kit_read(file);
    assert_string_equal(text,
                        "## sinkproof: 1 of 2 claims as expected\n"
                        "\n<details><summary>A-2: s: q</summary>\n\n<pre>\n"
                        "  fails, expected holds\n"
                        "  condition: a\\x01\\xff&lt;b&gt;&amp;&quot;']]&gt;\n|*\n"
                        "  why: broken\n  witness: m\nt&lt;1&gt;\n</pre>\n</details>\n");
    free(text);
}

TEST_MAIN(step_summary,
          TEST(sweeps_are_a_table_with_failures_behind_a_fold),
          TEST(many_failures_are_counted_and_not_shown),
          TEST(what_was_asked_for_is_not_shown),
          TEST(claims_that_are_not_as_expected_are_behind_a_fold))
