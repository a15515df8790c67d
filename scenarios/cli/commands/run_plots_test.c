/* What --plots leaves: tables whose figures are right, scripts, and pictures where gnuplot is there.
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define EAGER  "cloudtasks/at-least-once"
#define STAGED "cloudtasks/exactly-once"

/* No gnuplot, but all else that a plot needs. */
#define WITHOUT_GNUPLOT                                                                            \
    "mkdir -p bin && for p in sh env sed awk; do ln -sf \"$(command -v $p)\" bin/$p; done;"        \
    " PATH=$(pwd)/bin "

/* Require an awk program over the rows of a table to print "good" and nothing else. */
static void assert_table(struct workshop *workshop, const char *table, const char *program)
{
    workshop_must(
        workshop, text_format(&workshop->texts, "awk -F'\\t' '%s' %s", program, table), 0);
    if (strcmp(workshop->output, "good\n") != 0) {
        workshop_must(workshop, text_format(&workshop->texts, "cat %s", table), 0);
        fail_msg("%s is not good: %s\n%s", table, program, workshop->output);
    }
}

/* Goal: the figures are those of the sinks. Method: an eager sink's record is visible a link's delay
 * after it came, whatever the interval; a staged one waits for its checkpoint, half an interval in the
 * middle. */
static void latency_follows_the_interval_of_a_staged_sink_only(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  WITHOUT_GNUPLOT "\"$SINKPROOF\" run " EAGER " " STAGED " --seeds 1-20 --plots p",
                  0);
    workshop_says(workshop, "no gnuplot to draw with; the tables and scripts are there");
    workshop_says(workshop, "plots: 6 in p: tables and scripts\n");
    assert_table(workshop,
                 "p/latency-interval-cloudtasks-at-least-once.tsv",
                 "!/^#/ && NF { if ($3 > 5000000) bad = 1; n++ }"
                 " END { print (n == 24 && !bad ? \"good\" : \"bad\") }");
    assert_table(workshop,
                 "p/latency-interval-cloudtasks-exactly-once.tsv",
                 "$1 == 1 && ($3 < 0.45 * $2 || $3 > 0.55 * $2) { bad = 1 }"
                 " $1 == 2 && ($3 < 0.9 * $2 || $3 > $2) { bad = 1 } $1 == 2 { n++ }"
                 " END { print (n == 8 && !bad ? \"good\" : \"bad\") }");
}

/* Goal: with more requests in flight more is written through, until all that is offered is; and a hot
 * key costs. */
static void throughput_grows_with_concurrency_and_falls_with_a_hot_key(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop, WITHOUT_GNUPLOT "\"$SINKPROOF\" run " STAGED " --seeds 1-5 --plots p", 0);
    assert_table(workshop,
                 "p/throughput-cloudtasks-exactly-once.tsv",
                 "/^#/ || !NF { next } $3 < last[$1] { bad = 1 } { last[$1] = $3; n++ }"
                 " $2 == 1 { first[$1] = $3 } END { print (n == 18 && !bad && last[1] == 1000000"
                 " && first[1] > 2 * first[2] && first[2] > first[3] ? \"good\" : \"bad\") }");
}

static void a_share_of_records_grows_to_all_of_them(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop, WITHOUT_GNUPLOT "\"$SINKPROOF\" run " STAGED " --seeds 1-20 --plots p", 0);
    assert_table(
        workshop,
        "p/visibility-latency.tsv",
        "/^#/ || !NF { next } $3 < y[$1] || $2 < x[$1] { bad = 1 }"
        " { x[$1] = $2; y[$1] = $3 }"
        " END { print (!bad && y[1] == 1000000 && y[2] == 1000000 ? \"good\" : \"bad\") }");
    assert_table(workshop,
                 "p/coverage-growth.tsv",
                 "/^#/ || !NF { next } $3 < y[$1] || $2 > 20 { bad = 1 } { y[$1] = $3 }"
                 " END { print (!bad && y[1] > 10 && y[2] > 10 ? \"good\" : \"bad\") }");
}

static void tables_are_the_same_bytes_whatever_the_jobs(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  WITHOUT_GNUPLOT "sh -c 'for j in 1 3; do \"$SINKPROOF\" run " STAGED
                                  " --seeds 1-20 --jobs $j --plots p$j || exit 9; done'",
                  0);
    workshop_must(workshop, "diff -r p1 p3", 0);
}

/* Goal: a run that crashes shows its outage, and all records in the end. */
static void a_recovery_shows_the_outage_and_comes_to_its_end(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop, WITHOUT_GNUPLOT "\"$SINKPROOF\" replay " STAGED " --seed 12 --plots p", 0);
    assert_table(
        workshop,
        "p/catch-up-cloudtasks-exactly-once.tsv",
        "/^# from/ { down++ } /^#/ || !NF { next } $3 < y[$1] { bad = 1 } { y[$1] = $3 }"
        " END { print (down > 0 && !bad && y[1] == 16 && y[2] == 16 ? \"good\" : \"bad\") }");
    assert_table(workshop,
                 "p/lag-cloudtasks-exactly-once.tsv",
                 "!/^#/ && NF { last = $3; if ($3 > most) most = $3 }"
                 " END { print (last == 0 && most > 1000000000 ? \"good\" : \"bad\") }");
}

static void what_a_scenario_has_no_place_for_is_told(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  WITHOUT_GNUPLOT "\"$SINKPROOF\" run bigquery/file-loads --seeds 1-5 --plots p",
                  0);
    workshop_says(workshop,
                  "bigquery/file-loads: its sink has no option for what is under way at a time");
    workshop_says(workshop,
                  "bigquery/file-loads under another load: 1 left out: checkpoint interval: it is "
                  "less than min_checkpoint_interval");
    assert_table(workshop,
                 "p/latency-interval-bigquery-file-loads.tsv",
                 "$1 == 1 && $2 < 500000000 { bad = 1 } $1 == 1 { n++ }"
                 " END { print (n == 7 && !bad ? \"good\" : \"bad\") }");
}

static void a_folder_that_cannot_be_made_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    workshop_write(workshop, "file", "");
    workshop_must(workshop, "\"$SINKPROOF\" run " EAGER " --seeds 1-5 --plots file/p", 2);
    workshop_says(workshop, "--plots \"file/p\": cannot be made");
}

/* Goal: where gnuplot is, it draws without a word. */
static void gnuplot_draws_where_it_is_there(void **state)
{
    struct workshop *workshop = *state;
    if (workshop_run(workshop, "command -v gnuplot") != 0) {
        skip();
    }
    workshop_must(workshop, "\"$SINKPROOF\" replay " STAGED " --seed 12 --plots p", 0);
    workshop_says(workshop, "plots: 2 in p: tables, scripts, SVG and PNG\n");
    workshop_must(workshop,
                  "for n in catch-up lag; do f=p/$n-cloudtasks-exactly-once;"
                  " head -c 4 $f.png | grep -q PNG && grep -q '</svg>' $f.svg || exit 1; done;"
                  " [ ! -e p/gnuplot.log ] && cd p && gnuplot lag-cloudtasks-exactly-once.gp",
                  0);
    assert_string_equal(workshop->output, "");
}

/* --- runs to kill ------------------------------------------------------------------------------ */

static void the_table_of_the_searches_is_drawn(void **state)
{
    struct workshop *workshop = *state;
    workshop_write(workshop,
                   "t.txt",
                   "mutant     seeds      pct  explore  fewest runs\n"
                   "m-a            1        4        2  seeds\n"
                   "m-b            7        -        -  seeds\n"
                   "mutant     seeds      pct  explore  fewest runs\n"
                   "m-c            1        3        9  seeds\n"
                   "fewest runs: seeds 3, pct 0, explore 0; found by none: 0\n");
    workshop_must(workshop, WITHOUT_GNUPLOT "\"$SINKPROOF\" mutants --searches t.txt --plots p", 0);
    workshop_must(workshop, "grep -v '^#' p/runs-to-kill.tsv | grep . | tr '\\t\\n' ' ;'", 0);
    assert_string_equal(workshop->output, "1 1 0;1 1 2;1 7 3;2 3 0;2 3 1;2 4 2;3 2 0;3 2 1;3 9 2;");
    workshop_must(workshop, "grep -c 'pct: 2 of 3 killed' p/runs-to-kill.tsv", 0);
}

static void what_is_no_table_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    static const char *const texts[] = {
        "",
        "words\n",
        "mutant seeds\nm-a\n",
        "mutant seeds\nm-a x\n",
        "mutant a b c d e f g\nm-a 1 1 1 1 1 1 1\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        workshop_write(workshop, "t.txt", texts[i]);
        workshop_must(workshop, "\"$SINKPROOF\" mutants --searches t.txt --plots p", 2);
        workshop_says(workshop, "--searches \"t.txt\": no such table; allowed:");
    }
    workshop_must(workshop, "\"$SINKPROOF\" mutants --searches t.txt", 2);
    workshop_says(workshop, "--searches: wanted beside it: --plots DIR");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(plots,
          WORKSHOP_TEST(latency_follows_the_interval_of_a_staged_sink_only),
          WORKSHOP_TEST(throughput_grows_with_concurrency_and_falls_with_a_hot_key),
          WORKSHOP_TEST(a_share_of_records_grows_to_all_of_them),
          WORKSHOP_TEST(tables_are_the_same_bytes_whatever_the_jobs),
          WORKSHOP_TEST(a_recovery_shows_the_outage_and_comes_to_its_end),
          WORKSHOP_TEST(what_a_scenario_has_no_place_for_is_told),
          WORKSHOP_TEST(a_folder_that_cannot_be_made_is_status_2),
          WORKSHOP_TEST(gnuplot_draws_where_it_is_there),
          WORKSHOP_TEST(the_table_of_the_searches_is_drawn),
          WORKSHOP_TEST(what_is_no_table_is_status_2))
