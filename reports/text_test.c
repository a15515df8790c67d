/* Reports for a terminal: their length, and that nothing in them breaks a line.
 * link: reports/text reports/explanation reports/records reports/failure sinks/base/sha256
 * link: sinks/base/bytes reports/baseline
 */
#include "reports/text.h"

#include "reports/failure.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <string.h>

#define TEXT_SIZE 8192

static const char *const oracles[] = {"exactly-once-write", "ownership", "contract"};
static const char *const choices[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"};

static const struct report_violation violation = {
    .oracles = oracles,
    .oracle_count = 3,
    .subject = "record 8",
    .seed = 24,
    .tape = "t",
    .deviations = 10,
    .message = "two effects\nwhere one may be",
    .decisive = "it was created",
    .command = "sinkproof replay x --seed 24",
    .choices = choices,
    .choice_count = 10,
    .deviations_found = 44,
};

static struct report_run run_with(const struct report_violation *violations, size_t count)
{
    return (struct report_run){
        .scenario = "cloudtasks/x",
        .profile = "documented",
        .seeds = "1-9",
        .expected = REPORT_HOLDS,
        .verdict = REPORT_FAILS,
        .violations = violations,
        .violation_count = count,
        .expected_oracle = "",
        .shard_count = 1,
        .refusal = "",
        .limit = "",
    };
}

/* Read what was written to a file, and close it. */
static void read_text(FILE *file, char text[TEXT_SIZE])
{
    rewind(file);
    const size_t size = fread(text, 1, TEXT_SIZE - 1, file);
    text[size] = '\0';
    (void)fclose(file);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n' ? 1 : 0;
    }
    return lines;
}

static const char *const never[] = {"a.1", "b.2", "c.3", "d.4", "e.5", "f.6"};
static const struct report_mark reached[] = {
    {.name = "d.fourth", .count = 7, .first_seed = 3},
    {.name = "crash@sink.opening", .count = 1, .first_seed = 9, .is_pair = true},
};

static void
tell_marks(uint64_t counted, size_t violations, size_t never_count, char text[TEXT_SIZE])
{
    FILE *file = tmpfile();
    struct report_run run = run_with(&violation, violations);
    assert_non_null(file);
    run.counted = counted;
    run.reached = reached;
    run.reached_count = ARRAY_COUNT(reached);
    run.never = never;
    run.never_count = never_count;
    run.pair_count = 304;
    report_text_run(file, &run, REPORT_PLAIN);
    read_text(file, text);
}

/* Goal: a sweep says what it never reached, where nothing else is wrong and it was more than a spot
 * check. */
static void marks_that_were_never_reached_are_told(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    tell_marks(500, 0, 3, text);
    assert_non_null(strstr(text,
                           "  marks: 1 of 4 reached, and 1 of 304 pairs of a fault and a phase\n"
                           "  never reached:\n    a.1, b.2, c.3\n"));
    tell_marks(500, 0, 6, text);
    assert_non_null(strstr(text,
                           "  never reached (5 of 6, all in --json):\n"
                           "    a.1, b.2, c.3, d.4, e.5\n"));
    tell_marks(499, 0, 3, text);
    assert_non_null(strstr(text, "  marks: 1 of 4 reached, and 1 of 304 pairs"));
    assert_null(strstr(text, "never"));
    tell_marks(500, 1, 3, text);
    assert_null(strstr(text, "marks:"));
}

/* Goal: a failure takes at most 12 lines with its verdict, however many choices it has. */
static void a_failure_has_at_most_twelve_lines(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    const struct report_run run = run_with(&violation, 1);
    assert_non_null(file);
    report_text_violation(file, &run, 0);
    read_text(file, text);
    assert_true(count_lines(text) + 1 <= REPORT_FAILURE_LINES);
    assert_non_null(strstr(text, "exactly-once-write"));
    assert_non_null(strstr(text, "record 8: two effects where one may be"));
    assert_non_null(strstr(text, "and 5 more"));
    assert_non_null(strstr(text, "decided by: it was created"));
    assert_non_null(strstr(text, "replay: sinkproof replay x --seed 24"));
}

static void many_failures_are_told_in_a_line_each(void **state)
{
    (void)state;
    struct report_violation many[6];
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
        many[i] = violation;
    }
    const struct report_run run = run_with(many, ARRAY_COUNT(many));
    assert_non_null(file);
    report_text_run(file, &run, REPORT_PLAIN);
    read_text(file, text);
    assert_int_equal(count_lines(text), 2 + 3 * 11 + 3);
    assert_non_null(strstr(text, "fails (expected holds)"));
}

static void what_is_missing_is_told(void **state)
{
    (void)state;
    static const char *const shortfalls[] = {"fault crash fired in 0 counted runs, wanted: 20"};
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    struct report_run run = run_with(NULL, 0);
    run.verdict = REPORT_INCONCLUSIVE;
    run.shortfalls = shortfalls;
    run.shortfall_count = 1;
    run.limited = 1;
    run.limit = "seed 3: memory";
    run.refused = 2;
    run.refusal = "option x";
    run.shard_index = 2;
    run.shard_count = 3;
    assert_non_null(file);
    report_text_run(file, &run, REPORT_PLAIN);
    read_text(file, text);
    assert_non_null(strstr(text, "missing: fault crash"));
    assert_non_null(strstr(text, "a limit ended 1 runs: seed 3: memory"));
    assert_non_null(strstr(text, "refused in 2 runs: option x"));
    assert_non_null(strstr(text, "shard 2 of 3"));
}

/* The certificate: what was made, within which bound, and how far. */
static void an_exploration_says_what_was_made(void **state)
{
    (void)state;
    struct report_explored explored = {
        .run = {.scenario = "x",
                .profile = "documented",
                .runs = 9,
                .verdict = REPORT_HOLDS,
                .expected = REPORT_HOLDS,
                .as_expected = true,
                .runs_per_s = 4},
        .deviations = 2,
        .is_complete = true,
        .levels = {1, 3, 5},
        .distinct = 8,
        .crash_points_hit = 2,
        .crash_points_seen = 3,
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_explored(file, &explored, REPORT_PLAIN);
    explored.is_complete = false;
    explored.crash_points = true;
    report_text_explored(file, &explored, REPORT_PLAIN);
    explored.is_states = true;
    explored.states_known = 7;
    explored.transitions_known = 10;
    report_text_explored(file, &explored, REPORT_PLAIN);
    read_text(file, text);
    assert_non_null(strstr(text, "x: holds, as expected\n  all runs with at most 2 deviations, "));
    assert_non_null(strstr(text, "runs by deviations: 0: 1, 1: 3, 2: 5; 8 distinct traces\n"));
    assert_non_null(strstr(text, "crash points hit: 2 of 3 seen; "));
    assert_non_null(strstr(text, "  a part of the runs with at most 2 crashes, each in"));
    assert_non_null(strstr(text, "a part of it: 8 states, 9 transitions, 0 that break"));
    assert_non_null(strstr(text, "; published: 7 and 10\n"));
    assert_non_null(strstr(text, "whole 64-bit digests"));
}

static void the_matrix_tells_why_a_claim_is_not_as_expected(void **state)
{
    (void)state;
    const struct report_claim claims[] = {
        {.id = "A-1",
         .sink = "a-sink-with-a-name-that-is-long",
         .condition = "a condition that goes on for longer than there is room in the table",
         .property = "liveness",
         .expected = REPORT_HOLDS,
         .verdict = REPORT_HOLDS,
         .seeds = 2000,
         .crashes = 7,
         .explored_deviations = 1,
         .explored_runs = 354,
         .crash_points_hit = 21,
         .crash_points_seen = 22,
         .mutants_killed = 2,
         .elapsed_ms = 31,
         .as_expected = true,
         .why = ""},
        {.id = "A-2",
         .sink = "s",
         .condition = "c",
         .property = "liveness",
         .expected = REPORT_FAILS,
         .verdict = REPORT_INCONCLUSIVE,
         .why = "no witness"},
        {.id = "A-3",
         .sink = "s",
         .condition = "c",
         .property = "liveness",
         .expected = REPORT_FAILS,
         .verdict = REPORT_FAILS,
         .has_witness = true,
         .witness_deviations = 1,
         .twin = REPORT_HOLDS,
         .as_expected = true,
         .why = ""},
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_claims(file, claims, ARRAY_COUNT(claims));
    read_text(file, text);
    assert_non_null(strstr(text, "A-2: not as expected: no witness"));
    assert_non_null(strstr(text, "witness of 1 entry, calm clean, twin holds"));
    assert_non_null(strstr(text,
                           "2000 seeds, 7 crashes, all 354 runs with at most 1 deviation,"
                           " 21/22 crash points, 2 mutants, 31 ms\n"));
    assert_non_null(strstr(text, "clean, twin holds\n"));
    assert_non_null(strstr(text, "2 of 3 claims as expected"));
}

static void the_kill_matrix_shows_who_killed_whom(void **state)
{
    (void)state;
    const char *test = "test";
    const struct report_mutant mutants[] = {
        {.name = "m-1",
         .scenario = "s",
         .oracle = "ownership",
         .killed = true,
         .killed_by = oracles,
         .killed_by_count = 2},
        {.name = "m-2",
         .scenario = "s",
         .oracle = "contract",
         .killed = true,
         .killed_by = oracles + 2,
         .killed_by_count = 1},
        {.name = "m-3", .scenario = "s", .oracle = "contract", .why = "it does not build"},
        {.name = "m-4",
         .scenario = "",
         .oracle = "test:sim/x",
         .killed = true,
         .killed_by = &test,
         .killed_by_count = 1,
         .runs_to_kill = 1},
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_mutants(file, mutants, ARRAY_COUNT(mutants));
    read_text(file, text);
    assert_non_null(strstr(text, "A = exactly-once-write"));
    assert_non_null(strstr(text, "AB."));
    assert_non_null(strstr(text, "..C"));
    assert_non_null(strstr(text, "NOT KILLED: it does not build"));
    assert_non_null(strstr(text, "...D  killed by test:sim/x\n"));
    assert_non_null(strstr(text, "3 of 4 mutants killed"));
}

static void metrics_stand_beside_their_reference(void **state)
{
    (void)state;
    const struct report_metric metrics[] = {
        {.name = "pop_push", .value = 100, .unit = "events/s"},
        {.name = "w1_s_events_per_s",
         .value = 50,
         .unit = "events/s",
         .reference = 100,
         .ratio_thousandth = 500},
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_metrics(file, metrics, ARRAY_COUNT(metrics));
    read_text(file, text);
    assert_int_equal(count_lines(text), 2);
    assert_non_null(strstr(text, "ratio 0.500"));
}

/* Goal: what became of a kept tape stands on its first line, what changed and how to keep it below. */
static void an_entry_tells_what_changed_and_how_to_keep_it(void **state)
{
    (void)state;
    static const char *const gone[] = {"site/writer0#1 = a (1/2)"};
    static const char *const come[] = {"site/writer0#2 = a (1/2)"};
    const struct report_entry entry = {
        .file = "a.tape",
        .was = REPORT_FAILS,
        .is = REPORT_FAILS,
        .state = REPORT_ENTRY_MOVED,
        .entries = 4,
        .aligned = 3,
        .searched = true,
        .near_found = true,
        .near_runs = 12,
        .near_steps = 1,
        .finding = "ownership: record 3: lost",
        .tape = "t",
        .gone = gone,
        .gone_count = 1,
        .come = come,
        .come_count = 1,
        .command = "sinkproof rejudge --update a.tape",
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_entry(file, &entry);
    report_text_entries(file, &entry, 1);
    read_text(file, text);
    assert_string_equal(text,
                        "a.tape: moved: fails, aligned 3/4\n"
                        "  broken: ownership: record 3: lost\n"
                        "  near it: found after 12 runs, 1 step away\n"
                        "  - site/writer0#1 = a (1/2)\n"
                        "  + site/writer0#2 = a (1/2)\n"
                        "  to keep that: sinkproof rejudge --update a.tape\n"
                        "1 entry: 0 same, 0 changed, 1 moved, 0 differs, 0 stale\n");
}

/* Goal: an explanation fits a screen, whatever is in it. Method: more of everything than is shown. */
static void an_explanation_fits_a_screen(void **state)
{
    (void)state;
    char line[400];
    const char *lines[20];
    const char *const as_well[] = {"other (1/2)"};
    struct report_choice taken[9];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        lines[i] = line;
    }
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++) {
        taken[i] = (struct report_choice){
            .line = "a (1/2)",
            .when = "at 1.000 s",
            .words = line,
            .need = "one of several",
            .tried = 9,
            .same_site = 1,
            .other_site = 2,
            .as_well = as_well,
            .as_well_count = 1,
        };
    }
    const struct report_explanation explanation = {
        .scenario = "s",
        .oracle = "ownership",
        .subject = "record 3",
        .message = line,
        .minimal = "proven minimal",
        .found = 30,
        .choices = taken,
        .choice_count = ARRAY_COUNT(taken),
        .story = lines,
        .story_count = ARRAY_COUNT(lines),
        .decided = true,
        .decisive_event = 17,
        .decisive = line,
        .last_chance = "choice 9 itself, not made",
        .behind_tried = 12,
        .behind_unclear = 1,
        .twin = "without choice 1",
        .fails = lines,
        .fails_count = 2,
        .passes = lines,
        .passes_count = 2,
        .command = "sinkproof replay s",
    };
    char text[TEXT_SIZE];
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_explanation(file, &explanation);
    read_text(file, text);
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        assert_true(strcspn(at, "\n") < 220);
        count++;
    }
    assert_in_range(count, 20, 25);
    assert_non_null(strstr(text, "it takes 9 choices, proven minimal (30 as found):\n"));
    assert_non_null(strstr(text,
                           "    a (1/2): one of several: 1 other place of it, 2 choices of another "
                           "kind, as other (1/2) (only 9 tried in its place)\n"));
    assert_non_null(strstr(text, "  and 6 more, which --json lists\n"));
    assert_non_null(strstr(text, "fails: 12 tried, 1 ended by a limit\n"));
}

/* Goal: colour marks what is to be seen first, and changes nothing else. */
static void colours_are_for_verdicts_and_the_first_words(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    struct report_run run = run_with(&violation, 1);
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_run(file, &run, REPORT_COLOUR);
    read_text(file, text);
    assert_non_null(strstr(text, "cloudtasks/x: \033[31;1mfails\033[0m (expected holds)\n"));
    assert_non_null(strstr(text, "\n  \033[31;1mbroken\033[0m: exactly-once-write"));
    assert_non_null(strstr(text, "\n    \033[1mreplay\033[0m: sinkproof replay"));
    run = run_with(NULL, 0);
    run.verdict = REPORT_HOLDS;
    run.as_expected = true;
    file = tmpfile();
    assert_non_null(file);
    report_text_run(file, &run, REPORT_COLOUR);
    read_text(file, text);
    assert_non_null(strstr(text, "\033[32;1mholds\033[0m, as expected"));
    run.verdict = REPORT_INCONCLUSIVE;
    run.as_expected = false;
    file = tmpfile();
    assert_non_null(file);
    report_text_run(file, &run, REPORT_COLOUR);
    read_text(file, text);
    assert_non_null(strstr(text, "\033[33;1minconclusive\033[0m"));
}

static void a_baseline_says_what_is_new_there_and_fixed(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    struct report_old_failure old[] = {
        {.scenario = "a",
         .profile = "documented",
         .oracle = "ownership",
         .subject = "record 3",
         .is_there = true,
         .why = "found again"},
        {.scenario = "b",
         .profile = "observed",
         .oracle = "",
         .subject = "",
         .why = "fails then, holds now"},
    };
    const struct report_baseline baseline = {
        .file = "old.json", .new_count = 4, .old = old, .old_count = 2, .not_run = 1};
    FILE *file = tmpfile();
    assert_non_null(file);
    report_text_baseline(file, &baseline);
    read_text(file, text);
    assert_string_equal(text,
                        "baseline old.json: 4 new, 1 still there, 1 fixed\n"
                        "  still there: a, profile documented, ownership, record 3: found again\n"
                        "  fixed: b, profile observed, verdict: fails then, holds now\n"
                        "  not run now: 1 of its scenarios and profiles\n");
}

TEST_MAIN(text,
          TEST(marks_that_were_never_reached_are_told),
          TEST(a_failure_has_at_most_twelve_lines),
          TEST(many_failures_are_told_in_a_line_each),
          TEST(what_is_missing_is_told),
          TEST(an_exploration_says_what_was_made),
          TEST(the_matrix_tells_why_a_claim_is_not_as_expected),
          TEST(the_kill_matrix_shows_who_killed_whom),
          TEST(an_entry_tells_what_changed_and_how_to_keep_it),
          TEST(an_explanation_fits_a_screen),
          TEST(metrics_stand_beside_their_reference),
          TEST(colours_are_for_verdicts_and_the_first_words),
          TEST(a_baseline_says_what_is_new_there_and_fixed))
