/* The matrix as Markdown and as a page, on small literals.
 * link: reports/certificate reports/html reports/html_claim reports/html_lanes reports/html_style
 * link: reports/markdown reports/timeline reports/escape reports/records
 */
#include "reports/matrix.h"

#include "reports/html.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "<img src=x onerror=alert(1)> & \"quotes\" | bar"

static const char *const first_words[] = {"exactly-once-write"};
static const char *const second_words[] = {"liveness", "in words of its own"};
static const struct report_count kinds[] = {{.name = "crash", .count = 1234, .wanted = 100}};

static const struct report_claim claims[] = {
    {.id = "A-1",
     .sink = "x-staged",
     .condition = HOSTILE,
     .property = "exactly-once-write",
     .profile = "documented",
     .expected = REPORT_HOLDS,
     .verdict = REPORT_HOLDS,
     .adversary = "relies on X-05",
     .seeds = 20000,
     .explored_deviations = 2,
     .explored_runs = 1363,
     .crash_points_hit = 21,
     .crash_points_seen = 22,
     .mutants_killed = 0,
     .witness_tape = "",
     .witness_message = "",
     .digest = 0xabc,
     .as_expected = true,
     .why = "",
     .elapsed_ms = 77,
     .way = REPORT_WAY_SEEDS,
     .service = "x",
     .properties = first_words,
     .property_count = 1,
     .scenario = "x/main",
     .small = "x/small",
     .twin_scenario = "",
     .adversary_seeds = 2000,
     .crash_runs = {.count = 9000},
     .kinds = kinds,
     .kind_count = 1,
     .kinds_absent = "clock"},
    {.id = "A-2",
     .sink = "x-eager",
     .condition = "named",
     .property = "liveness, in words of its own",
     .profile = "observed",
     .expected = REPORT_FAILS,
     .verdict = REPORT_INCONCLUSIVE,
     .adversary = "untested",
     .seeds = 7,
     .has_witness = true,
     .witness_tape = "sinkproof-tape 1\nx = y\nend 1\n",
     .witness_deviations = 1,
     .twin = REPORT_FAILS,
     .witness_message = "it is lost",
     .digest = 1,
     .why = "the twin breaks",
     .way = REPORT_WAY_WITNESS,
     .service = "x",
     .properties = second_words,
     .property_count = 2,
     .scenario = "x/other",
     .small = "",
     .twin_scenario = "x/twin",
     .kinds_absent = ""},
};

static const struct report_gap gaps[] = {
    {.service = "x", .clause = "X-9", .sentence = "it may rain", .why = "nobody is wet"}};
static const struct report_sink sinks[] = {{.name = "x-staged", .sentence = "Stages all."}};

static struct report_matrix matrix_of(const struct report_evidence *evidence_or_null)
{
    return (struct report_matrix){
        .version = "1.2.3",
        .clauses = 0x42,
        .budget = "20,000 counted runs for each claim",
        .command = "sinkproof matrix",
        .claims = claims,
        .evidence_or_null = evidence_or_null,
        .count = ARRAY_COUNT(claims),
        .gaps = gaps,
        .gap_count = 1,
        .sinks = sinks,
        .sink_count = 1,
    };
}

/* What a writer wrote; free it. */
static char *written(bool writer(FILE *, const struct report_matrix *),
                     const struct report_matrix *matrix)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(writer(file, matrix));
    const long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    (void)fclose(file);
    return text;
}

static void must_say(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("not said: %s", part);
    }
}

static void must_not_say(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        fail_msg("said: %s", part);
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

static void a_certificate_says_what_was_done_and_what_that_leaves_open(void **state)
{
    struct report_lines lines;
    char line[REPORT_LINE_SIZE];
    (void)state;
    report_claim_done(&claims[0], &lines);
    assert_int_equal(lines.count, 4);
    assert_string_equal(lines.lines[0],
                        "20,000 counted runs of x/main under the profile documented, 9,000 of them "
                        "with a crash and a restore");
    assert_string_equal(lines.lines[1],
                        "every run of x/small with at most 2 deviations from the calm one: 1,363");
    assert_string_equal(lines.lines[2], "crash points hit in these: 21 of 22");
    assert_string_equal(lines.lines[3], "2,000 runs under the profile adversary: relies on X-05");
    report_claim_open(&claims[0], &lines);
    assert_int_equal(lines.count, 5);
    must_say(lines.lines[0], "more than 2 deviations");
    assert_string_equal(lines.lines[1], "1 crash points were seen and not hit");
    must_say(lines.lines[2], "relies on X-05");
    assert_string_equal(lines.lines[3], "faults that its scenario does not offer: clock");
    must_say(lines.lines[4], "--mutants");
    report_claim_established(&claims[1], line);
    assert_string_equal(line, "witness of 1 choice, twin fails");
    assert_string_equal(report_claim_verdict(&claims[0]), "holds");
    assert_string_equal(report_claim_verdict(&claims[1]), "inconclusive");
}

static void markdown_is_a_table_per_sink_with_nothing_that_differs_by_time(void **state)
{
    const struct report_matrix matrix = matrix_of(NULL);
    char *text = written(report_markdown_matrix, &matrix);
    (void)state;
    must_say(text,
             "**1 of 2** claims came out as claimed. sinkproof 1.2.3, clauses "
             "`0x0000000000000042`");
    must_say(text, "### x-staged\n\nStages all.\n\n| claim | when |");
    must_say(text, "| **holds** |");
    must_say(text, "NOT AS CLAIMED: **inconclusive**");
    must_say(text, "    x = y\n");
    must_say(text, "X-9: it may rain. nobody is wet");
    must_not_say(text, "77");
    must_not_say(text, "<img");
    must_not_say(text, " | bar");
    free(text);
}

static void the_page_is_the_same_for_the_same_records_and_takes_no_text_for_markup(void **state)
{
    const struct report_matrix matrix = matrix_of(NULL);
    char *text = written(report_html_matrix, &matrix);
    char *again = written(report_html_matrix, &matrix);
    (void)state;
    assert_string_equal(text, again);
    must_say(text, "<strong>1 of 2</strong> claims came out as claimed");
    must_say(text, "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&quot;");
    must_not_say(text, "<img");
    must_say(text, "<article class=\"claim holds\"");
    must_say(text, "<article class=\"claim open\"");
    must_say(text, "<p class=\"why\">the twin breaks</p>");
    must_say(text, "1,234");
    must_not_say(text, "http:");
    must_not_say(text, "https:");
    must_not_say(text, "url(");
    assert_int_equal(count_of(text, "<article"), 2);
    assert_int_equal(count_of(text, "href=\"#c-A-2\""), 2); /* a word, and words of its own */
    free(text);
    free(again);
}

/* A request whose answer is lost, a crash, and a row that decides. */
static void lanes_show_what_was_done_and_what_was_learnt(void **state)
{
    static const char *const lanes[] = {"source", "subtask 0", "coordinator", "a&b"};
    static const struct report_row rows[] = {
        {.time_ns = 0, .kind = REPORT_ROW_START, .lane = 2, .words = "attempt 1 starts"},
        {.time_ns = 1000000,
         .kind = REPORT_ROW_SENT,
         .lane = 1,
         .words = "Create, request 1",
         .choice = 1,
         .choices = 1,
         .is_subject = true},
        {.time_ns = 2000000,
         .kind = REPORT_ROW_EFFECT,
         .lane = 3,
         .words = "<it> exists: this decides",
         .is_decisive = true},
        {.time_ns = UINT64_C(87000000000000),
         .kind = REPORT_ROW_LEARNT,
         .lane = 1,
         .words = "does not know"},
        {.time_ns = UINT64_C(87000000000000), .kind = REPORT_ROW_END, .words = "one too many"},
    };
    static const struct report_request request = {.from = 1,
                                                  .to = 3,
                                                  .sent = 1,
                                                  .effect = 2,
                                                  .heard = 3,
                                                  .took_effect = true,
                                                  .learnt = REPORT_LEARNT_UNKNOWN};
    static const struct report_life life = {.lane = 1, .from = 0, .to = 3, .is_killed = true};
    struct report_evidence evidence[2] = {{.has_fails = false}};
    evidence[1].has_fails = true;
    evidence[1].fails = (struct report_timeline){.title = "It fails",
                                                 .lanes = lanes,
                                                 .lane_count = 4,
                                                 .rows = rows,
                                                 .row_count = ARRAY_COUNT(rows),
                                                 .requests = &request,
                                                 .request_count = 1,
                                                 .lives = &life,
                                                 .life_count = 1,
                                                 .parting = 2};
    const struct report_matrix matrix = matrix_of(evidence);
    char *text = written(report_html_matrix, &matrix);
    (void)state;
    must_say(text, "<figure class=\"lanes fails\">");
    must_say(text, "aria-labelledby=\"t-f-A-2\"");
    must_say(text, "&lt;it&gt; exists: this");
    must_say(text, ">a&amp;b<");
    must_say(text, "24 h 9 min later");
    must_say(text, "here the two runs part");
    must_say(text, "<path class=\"an da\"");
    must_say(text, ">?</text>");
    must_say(text, "<strong>(choice 1)</strong>");
    must_say(text, "subtask 0: does not know</li>");
    free(text);
}

static void two_runs_part_at_the_first_row_that_differs(void **state)
{
    const struct report_row a[] = {{.words = "x"}, {.words = "y", .time_ns = 1}, {.words = "z"}};
    const struct report_row b[] = {{.words = "x"}, {.words = "y", .time_ns = 2}};
    const struct report_timeline left = {.rows = a, .row_count = 3};
    const struct report_timeline right = {.rows = b, .row_count = 2};
    const struct report_timeline shorter = {.rows = a, .row_count = 2};
    (void)state;
    assert_int_equal(report_timeline_parting(&left, &right), 1);
    assert_int_equal(report_timeline_parting(&left, &shorter), 2);
    assert_int_equal(report_timeline_parting(&left, &left), 3);
}

static void durations_and_numbers_are_for_people(void **state)
{
    char text[REPORT_DURATION_SIZE];
    char number[REPORT_NUMBER_SIZE];
    (void)state;
    report_duration(UINT64_C(87020000000000), text);
    assert_string_equal(text, "24 h 10 min");
    report_duration(UINT64_C(3001000000), text);
    assert_string_equal(text, "3.001 s");
    report_duration(UINT64_C(20000000000), text);
    assert_string_equal(text, "20 s");
    report_duration(UINT64_C(3360000000000), text);
    assert_string_equal(text, "56 min");
    report_number(0, number);
    assert_string_equal(number, "0");
    report_number(999, number);
    assert_string_equal(number, "999");
    report_number(1234567, number);
    assert_string_equal(number, "1,234,567");
}

TEST_MAIN(matrix,
          TEST(a_certificate_says_what_was_done_and_what_that_leaves_open),
          TEST(markdown_is_a_table_per_sink_with_nothing_that_differs_by_time),
          TEST(the_page_is_the_same_for_the_same_records_and_takes_no_text_for_markup),
          TEST(lanes_show_what_was_done_and_what_was_learnt),
          TEST(two_runs_part_at_the_first_row_that_differs),
          TEST(durations_and_numbers_are_for_people))
