/* What matrix leaves for people and programs: a page, Markdown, and JSON by a published schema.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

/* Few seeds: these are about what is said, and not about verdicts. */
#define MATRIX "\"$SINKPROOF\" matrix CT-AL-4 CT-EO-16 CT-EO-7 --quick --seeds 1-40 "

#define PAGE_CHECK "/usr/bin/python3 \"$ROOT/tools/page-check\" "
#define SCHEMA_CHECK                                                                               \
    "/usr/bin/python3 \"$ROOT/tools/schema-check\" \"$ROOT/docs/schema/matrix.json\" "

static void make_page(struct workshop *workshop)
{
    workshop_must(workshop, MATRIX "--html one --markdown one.md --json one.json --jobs 1", 0);
}

/* Goal: a report is a function of the results. Method: the same matrix with one worker and with three. */
static void reports_are_the_same_bytes_whatever_the_jobs(void **state)
{
    struct workshop *workshop = *state;
    make_page(workshop);
    workshop_must(workshop, MATRIX "--html two --markdown two.md --json two.json --jobs 3", 0);
    workshop_must(workshop, "cmp one/index.html two/index.html", 0);
    workshop_must(workshop, "cmp one.md two.md", 0);
    workshop_must(workshop, "cmp one.json two.json", 0);
}

/* Goal: the page is whole, says all that the JSON says, and loads nothing. Method: the checker, and the
 * same page with one thing wrong at a time. */
static void the_page_is_well_formed_and_says_all_claims(void **state)
{
    static const char *const wrongs[] = {
        "s/<h4>/<h4><b>/",                        /* not closed */
        "s/id=\"c-CT-EO-16\"/id=\"c-CT-EO-17\"/", /* a chip leads nowhere, a claim is missing */
        "s/id=\"c-CT-EO-16\"/id=\"c-CT-EO-7\"/",  /* twice */
        "s/<main/<img src=\"x.png\"><main/",      /* loads */
        "s/href=\"#claims\"/href=\"http:\\/\\/x.org\"/",   /* leaves */
        "s/<h3>/<h4>/;s/<\\/h3>/<\\/h4>/",                 /* skips a level */
        "s/link.latency/link.lat/;s/engine.crash/engine/", /* another tape */
    };
    struct workshop *workshop = *state;
    make_page(workshop);
    workshop_must(workshop, PAGE_CHECK "one/index.html one.json", 0);
    for (size_t i = 0; i < ARRAY_COUNT(wrongs); i++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "sed '%s' one/index.html >wrong.html && ! cmp -s wrong.html "
                                  "one/index.html && " PAGE_CHECK "wrong.html one.json",
                                  wrongs[i]),
                      1);
    }
}

/* Goal: the lanes tell the story of a witness. Method: the page of one whose story is known. */
static void a_witness_has_its_story_its_lanes_and_its_twin(void **state)
{
    static const char *const parts[] = {
        "It fails: cloudtasks/at-least-once-named-ct-al-4",
        "It passes without choice 1",
        "attempt 2 starts",
        "injected: crash, for 24 h 10 min",
        "exists again (generation 2)",
        ": this decides",
        "here the two runs part",
        "record 1 has 2 effects where 1 may be",
        "the run ends, and nothing of it is broken",
    };
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" matrix CT-AL-4 --quick --seeds 1-40 --html page", 0);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        workshop_must(
            workshop,
            text_format(&workshop->texts, "tr -d '\\n' <page/index.html | grep -qF '%s'", parts[i]),
            0);
    }
}

/* Goal: a story is about one record. Method: a load that fills a table with sixteen rows, of which one is
 * loaded again: the lanes have that row's effects, the first and the second. */
static void a_story_leaves_out_what_its_requests_do_for_other_records(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" matrix BQ-FL-5 --quick --seeds 1-300 --html page", 0);
    workshop_must(workshop, "tr -d '\\n' <page/index.html | grep -qF 'tables/t exists'", 0);
    workshop_must(workshop, "grep -qF 'tables/t exists again (generation 17)' page/index.html", 0);
    workshop_must(workshop, "grep -qF '(generation 2)' page/index.html", 1);
}

/* Goal: programs can rely on the schema. Method: what matrix and merge write, and a file that is wrong. */
static void the_json_is_as_the_published_schema_says(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop,
        "\"$SINKPROOF\" matrix CT-EO-1 CT-AL-4 EA-9.CT-E2E-5 CT-EO-7 --quick --seeds 1-40 "
        "--json one.json",
        0);
    workshop_must(workshop, "\"$SINKPROOF\" merge one.json --json merged.json", 0);
    workshop_must(workshop, SCHEMA_CHECK "one.json merged.json", 0);
    workshop_must(workshop,
                  "sed 's/\"verdict\": \"holds\"/\"verdict\": \"good\"/' one.json >wrong.json "
                  "&& " SCHEMA_CHECK "wrong.json",
                  1);
    workshop_must(workshop,
                  "sed 's/\"seeds\"/\"sedes\"/' one.json >wrong.json && " SCHEMA_CHECK "wrong.json",
                  1);
}

/* Goal: a matrix that was spread over machines is the one that was not. Method: three claims, one of them
 * with a witness and one about two words, as shards in any order; and shards that do not make a whole. */
static void merged_shards_of_a_matrix_leave_the_bytes_of_the_whole(void **state)
{
    struct workshop *workshop = *state;
    make_page(workshop);
    workshop_must(workshop, MATRIX "--json s1.json --shard 1/2 >s1.txt", 0);
    workshop_must(workshop, MATRIX "--json s2.json --shard 2/2 >s2.txt", 0);
    workshop_must(
        workshop,
        "\"$SINKPROOF\" merge s2.json s1.json --html all --markdown all.md --json all.json",
        0);
    workshop_says(workshop, "3 of 3 claims as expected");
    workshop_says(workshop, "seeds, twin holds\n");
    workshop_must(workshop, "cmp one/index.html all/index.html", 0);
    workshop_must(workshop, "cmp one.md all.md", 0);
    workshop_must(workshop, "cmp one.json all.json", 0);
    workshop_must(workshop, "\"$SINKPROOF\" merge s1.json", 2);
    workshop_says(workshop, "s1.json is shard 1/2 of sinkproof matrix");
    workshop_must(workshop, "\"$SINKPROOF\" merge s1.json s1.json", 2);
    workshop_says(workshop, "each shard once");
    workshop_must(
        workshop,
        "sed 's/ --quick/ --slow/' s2.json >odd.json; \"$SINKPROOF\" merge s1.json odd.json",
        2);
    workshop_says(workshop,
                  "\"command\" is missing or not good; allowed: sinkproof matrix CT-AL-4");
    workshop_must(workshop,
                  "sed 's/\"clauses\": \"0x[0-9a-f]*/\"clauses\": \"0x1/' s2.json >odd.json;"
                  " \"$SINKPROOF\" merge s1.json odd.json",
                  2);
    workshop_says(workshop, "a matrix of this version and its clauses");
}

static void a_place_that_cannot_be_written_is_told_before_any_run(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" matrix CT-EO-7 --markdown none/x.md", 2);
    workshop_says(workshop, "--markdown \"none/x.md\": cannot be written");
    workshop_must(workshop, "touch file; \"$SINKPROOF\" matrix CT-EO-7 --html file/page", 2);
    workshop_says(workshop, "--html \"file/page\": cannot be made");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(matrix,
          WORKSHOP_TEST(reports_are_the_same_bytes_whatever_the_jobs),
          WORKSHOP_TEST(the_page_is_well_formed_and_says_all_claims),
          WORKSHOP_TEST(a_witness_has_its_story_its_lanes_and_its_twin),
          WORKSHOP_TEST(a_story_leaves_out_what_its_requests_do_for_other_records),
          WORKSHOP_TEST(the_json_is_as_the_published_schema_says),
          WORKSHOP_TEST(merged_shards_of_a_matrix_leave_the_bytes_of_the_whole),
          WORKSHOP_TEST(a_place_that_cannot_be_written_is_told_before_any_run))
