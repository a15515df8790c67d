/* The timing report: what stands on a terminal and in the file, for literals.
 *
 * link: reports/timing reports/report_testkit
 */
#include "reports/timing.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static const struct report_timing_constraint constraints[] = {
    {.name = "stream_lifetime",
     .owner = "toy",
     .clause = "TOY-1",
     .sentence = "A stream must live until its commit.",
     .left = {{"stream_ttl", 2000000000}},
     .left_count = 1,
     .right = {{"time until the first commit", 2000000000}, {"request_timeout", 1}},
     .right_count = 2,
     .margin_ns = -2,
     .shape = "crash",
     .is_shown = true,
     .oracle = "at-least-once",
     .message = "record 1 is absent",
     .tape = "engine.crash/coordinator0#3 = all_short (6/16)\n",
     .command = "sinkproof run x.json",
     .anyway = "",
     .entries = 1,
     .runs = 12,
     .all_tried = false},
    {.name = "queue_retention",
     .owner = "toy",
     .clause = "TOY-2",
     .sentence = "A queue must remember.",
     .left = {{"ttl", 1}},
     .left_count = 1,
     .right = {{"retention", 2}},
     .right_count = 1,
     .or_equal = true,
     .margin_ns = -1,
     .shape = "refused",
     .is_shown = true,
     .oracle = "",
     .message = "too short",
     .tape = "",
     .command = "",
     .anyway = "",
     .runs = 1,
     .all_tried = true},
    {.name = "retry_budget",
     .owner = "toy",
     .clause = "TOY-3",
     .sentence = "A barrier waits.",
     .margin_ns = 1500000000,
     .shape = "retries",
     .oracle = "",
     .message = "",
     .tape = "",
     .command = "",
     .anyway = ""},
};

static const struct report_timing_figure figures[] = {
    {"latency_most", "ns", true, true, 11001000000, 11001000001, 0},
    {"commit_drain", "ns", true, false, 2000000, 0, 60000000000},
    {"staged_records", "records", true, true, 100, 99, 0},
    {"catch_up", "ns", true, false, UINT64_MAX, 0, 0},
    {"nothing", "ns", false, false, 0, 0, 0},
};

static const struct report_timing timing = {
    .scenario = "toy/one",
    .profile = "documented",
    .constraints = constraints,
    .constraint_count = ARRAY_COUNT(constraints),
    .figures = figures,
    .figure_count = ARRAY_COUNT(figures),
};

static char *written(bool as_json)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    if (as_json) {
        assert_true(report_timing_json(file, &timing));
    } else {
        report_timing_text(file, &timing);
    }
    return kit_read(file);
}

static void points_stand_below_each_other_and_the_worst_comes_first(void **state)
{
    (void)state;
    char *text = written(false);
    assert_string_equal(
        text,
        "toy/one: 3 timing constraints, 2 not held; profile documented\n"
        "\n"
        "         margin           constraint\n"
        "          -0.000000002 s  stream_lifetime  (toy: TOY-1)\n"
        "      stream_ttl 2.000 s > time until the first commit 2.000 s + request_timeout "
        "0.000000001 s\n"
        "      A stream must live until its commit.\n"
        "      shown in 12 runs, by 1 choice: at-least-once: record 1 is absent\n"
        "      replay: sinkproof run x.json\n"
        "          -0.000000001 s  queue_retention  (toy: TOY-2)\n"
        "      ttl 0.000000001 s >= retention 0.000000002 s\n"
        "      A queue must remember.\n"
        "      shown: refused: too short\n"
        "           1.500 s        retry_budget  (toy: TOY-3)\n"
        "\n"
        "  figure                    by formula             as simulated\n"
        "  latency_most                   11.001 s                 11.001000001 s\n"
        "  commit_drain                    0.002 s                    -            limit 60.000 s\n"
        "  staged_records                  100                       99            records\n"
        "  catch_up                      never                        -\n");
    free(text);
}

/* Goal: nothing is lost in the file: margins keep their sign and their last nanosecond. */
static void the_file_holds_margins_and_tapes(void **state)
{
    (void)state;
    char *text = written(true);
    static const char *const parts[] = {
        "\"schema\": 1",
        "\"margin_ns\": -2",
        "\"verdict\": \"broken\"",
        "\"verdict\": \"refused\"",
        "\"tape\": \"engine.crash/coordinator0#3 = all_short (6/16)\\n\"",
        "\"margin_ns\": 1500000000\n",
        "\"formula\": 11001000000",
        "\"simulated\": 11001000001",
        "\"limit\": 60000000000",
        "\"clause\": \"TOY-1\"",
    };
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        assert_non_null(strstr(text, parts[i]));
    }
    assert_null(strstr(text, "18446744073709551615"));
    free(text);
}

TEST_MAIN(timing_report,
          TEST(points_stand_below_each_other_and_the_worst_comes_first),
          TEST(the_file_holds_margins_and_tapes))
