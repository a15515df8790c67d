/* explore from outside: results do not depend on how the work is cut, a kill loses nothing, a frontier
 * that is not whole is refused, and a bug is found with the fewest choices.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define HOLDS "cloudtasks/at-least-once-small"
#define FAILS "cloudtasks/at-least-once-ct-al-2-small"

/* Some thousand runs. */
#define MANY HOLDS " --crash-points"

/* Lines of a JSON file but for times. */
#define TIMELESS "grep -v -e elapsed_ms -e runs_per_s "

/* Goal: the same certificate however the runs are made. Method: one worker and five, from snapshots
 * and from the beginning. */
static void the_result_depends_on_neither_jobs_nor_snapshots(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore " MANY " --jobs 1 --json a.json", 0);
    workshop_must(workshop, "\"$SINKPROOF\" explore " MANY " --jobs 5 --json b.json", 0);
    workshop_must(
        workshop, "\"$SINKPROOF\" explore " MANY " --jobs 2 --re-execute --json c.json", 0);
    workshop_must(workshop, TIMELESS "a.json >a; " TIMELESS "b.json >b; cmp a b", 0);
    workshop_must(workshop, TIMELESS "c.json >c; cmp a c", 0);
    workshop_must(
        workshop, "\"$SINKPROOF\" explore " FAILS " --deviations 1 --jobs 1 --json a.json", 0);
    workshop_must(workshop,
                  "\"$SINKPROOF\" explore " FAILS " --deviations 1 --jobs 3 --json b.json"
                  " --re-execute",
                  0);
    workshop_must(workshop, TIMELESS "a.json >a; " TIMELESS "b.json >b; cmp a b", 0);
    workshop_must(workshop, "grep -q '\"complete\": true' a && grep -q '\"runs\": [0-9]' a", 0);
}

/* Goal: merged shards are the whole, also in what is distinct and in what was found first. */
static void merged_shards_are_the_whole(void **state)
{
    struct workshop *workshop = *state;
    for (const char *const *what =
             (const char *const[]){MANY, FAILS " --deviations 0", FAILS " --deviations 1", NULL};
         *what != NULL;
         what++) {
        workshop_must(
            workshop,
            text_format(&workshop->texts,
                        "\"$SINKPROOF\" explore %s --json whole.json;"
                        " for i in 1 2 3; do \"$SINKPROOF\" explore %s --shard $i/3 --json $i.json;"
                        " done; \"$SINKPROOF\" merge 3.json 1.json 2.json --json merged.json;"
                        " test $(grep -h '\"runs\": ' ?.json | sort -u | wc -l) -gt 1 &&"
                        " " TIMELESS "whole.json >a; " TIMELESS "merged.json >b; cmp a b",
                        *what,
                        *what),
            0);
    }
    workshop_must(workshop, "\"$SINKPROOF\" merge 1.json 3.json", 2);
    workshop_says(workshop, "shard 2/3 of " FAILS " is missing");
    workshop_must(workshop, "\"$SINKPROOF\" merge 1.json 1.json 3.json", 2);
    workshop_must(workshop, "rm 2.json.traces; \"$SINKPROOF\" merge ?.json", 2);
    workshop_says(workshop, "2.json: its traces are missing");
    workshop_must(workshop, "cp 1.json.traces 2.json.traces; \"$SINKPROOF\" merge ?.json", 2);
    workshop_says(workshop, "\"2.json.traces\": is of another");
    workshop_must(workshop, "echo >>1.json.traces; \"$SINKPROOF\" merge ?.json", 2);
    workshop_says(workshop, "\"1.json.traces\": is damaged");
}

/* Goal: a stop by force at any time loses nothing and counts nothing twice. Method: kill it again and
 * again, a little later each time, until a life is long enough; then compare. */
static void a_killed_exploration_goes_on_to_the_same_result(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore " MANY " --json whole.json", 0);
    workshop_must(workshop,
                  "kills=0; delay=2;"
                  " while ! timeout -s KILL $((delay / 100)).$((delay / 10 % 10))$((delay % 10)) "
                  "\"$SINKPROOF\" explore " MANY
                  " --resume frontier --json parts.json >said 2>&1; do"
                  " kills=$((kills + 1)); delay=$((delay * 3 / 2 + 1));"
                  " test $kills -lt 22 || exit 1; done; test $kills -gt 0",
                  0);
    workshop_must(workshop, TIMELESS "whole.json >a; " TIMELESS "parts.json >b; cmp a b", 0);
    /* What is complete is told again, without a run. */
    workshop_must(
        workshop, "\"$SINKPROOF\" explore " MANY " --resume frontier --json again.json", 0);
    workshop_must(workshop, "cmp parts.json again.json", 0);
}

static void a_limit_of_runs_is_a_pause(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore " FAILS " --deviations 1 --json whole.json", 0);
    for (const char *const *runs = (const char *const[]){"1", "2", "100", "101", "221", NULL};
         *runs != NULL;
         runs++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "\"$SINKPROOF\" explore " FAILS
                                  " --deviations 1 --resume frontier --max-runs %s"
                                  " --json part.json >/dev/null; grep -q '\"runs\": %s,' part.json",
                                  *runs,
                                  *runs),
                      0);
    }
    workshop_must(workshop,
                  "\"$SINKPROOF\" explore " FAILS
                  " --deviations 1 --resume frontier --json parts.json",
                  0);
    workshop_must(workshop, TIMELESS "whole.json >a; " TIMELESS "parts.json >b; cmp a b", 0);
    /* Of what holds, a part is no certificate. */
    workshop_must(workshop, "\"$SINKPROOF\" explore " HOLDS " --max-runs 50", 1);
    workshop_says(workshop, "a part of the runs");
    workshop_says(workshop, "missing: 49 of 236 runs with 1 deviations were made");
}

static void a_frontier_that_is_not_whole_is_refused_in_one_line(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "\"$SINKPROOF\" explore " HOLDS " --deviations 1 --resume good >/dev/null &&"
                  " head -c 2000 good >cut && cp good flipped &&"
                  " printf x | dd of=flipped bs=1 seek=900 conv=notrunc 2>/dev/null &&"
                  " cp good longer && echo >>longer && echo hello >other &&"
                  " sed 's/frontier 1/frontier 9/' good >version && : >empty && mkdir folder",
                  0);
    for (const char *const *file =
             (const char *const[]){
                 "cut", "flipped", "longer", "other", "version", "empty", "folder", NULL};
         *file != NULL;
         file++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "\"$SINKPROOF\" explore " HOLDS " --deviations 1 --resume %s"
                                  " >out 2>err; test $? -eq 2 && test ! -s out &&"
                                  " test $(wc -l <err) -eq 1 && grep -q '\"%s\"' err &&"
                                  " grep -q allowed: err",
                                  *file,
                                  *file),
                      0);
    }
    /* Whole, but of something else. */
    for (const char *const *other =
             (const char *const[]){HOLDS " --deviations 2",
                                   HOLDS " --deviations 1 --profile adversary",
                                   HOLDS " --deviations 1 --shard 1/2",
                                   HOLDS " --deviations 1 --crash-points",
                                   FAILS " --deviations 1",
                                   NULL};
         *other != NULL;
         other++) {
        workshop_must(
            workshop,
            text_format(&workshop->texts, "\"$SINKPROOF\" explore %s --resume good", *other),
            2);
        workshop_says(workshop, "is of another scenario, build or bound");
    }
}

/* Goal: the first failure is minimal, and its line makes it again. Method: a scenario that one lost
 * answer breaks; the command that is printed, in a shell. */
static void a_violation_is_told_with_its_fewest_choices_and_replays(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore " FAILS " --deviations 1 >said", 0);
    workshop_must(workshop, "grep -q 'run 1:2, 1 choice (1 as found):' said", 0);
    workshop_must(workshop, "sed -n 's/^ *replay: //p' said >again && sh ./again >replayed", 0);
    workshop_must(workshop, "grep -q 'aligned 1/1, .* drifted 0\\|aligned 1/1' replayed", 0);
    workshop_must(workshop, "grep -q 'broken: effectively-once' replayed", 0);
    workshop_must(workshop, "\"$SINKPROOF\" explore " FAILS " --stop-at any --json j >said", 0);
    workshop_must(workshop, "grep -q '\"complete\": false' j && test $(wc -l <said) -le 16", 0);
    /* The bound is too low to see it. */
    workshop_must(workshop, "\"$SINKPROOF\" explore " FAILS " --deviations 0", 1);
    workshop_must(workshop, "\"$SINKPROOF\" explore " FAILS " --deviations 1 --out kept", 0);
    workshop_must(workshop, "sh kept/*.command | grep -q 'broken: effectively-once'", 0);
}

/* Goal: a search that is to stop at a violation makes no run behind it, and none when it is asked again.
 * Method: the calm run, the only one without deviations, breaks a scenario. */
static void a_calm_run_that_breaks_is_the_last_one_of_a_search_that_stops(void **state)
{
    struct workshop *workshop = *state;
    for (uint32_t i = 0; i < 2; i++) {
        workshop_must(workshop,
                      "\"$SINKPROOF\" explore cloudtasks/exactly-once-st-1-small --stop-at any"
                      " --resume kept >said",
                      0);
        workshop_must(workshop, "grep -q '^  a part of .*: 1 runs, ' said", 0);
        workshop_must(workshop, "grep -q 'the calm run, 0 choices (0 as found):' said", 0);
    }
}

/* Goal: a sink that crashes costs the run in which it does, and no other. Method: one that dies where its
 * timer fires, with one worker and with four. */
static void a_run_that_crashes_the_sink_is_a_violation_among_the_others(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    const char *source = workshop_read(workshop, "sink.c");
    workshop_build(workshop,
                   "dies",
                   workshop_edit(workshop,
                                 source,
                                 "    case SINK_EVENT_TIMER:\n",
                                 "    case SINK_EVENT_TIMER:\n        __builtin_trap();\n"));
    workshop_must(workshop,
                  "\"$SINKPROOF\" explore small.json --sink ./dies.so --deviations 1 --jobs 1"
                  " --json one.json >said",
                  1);
    workshop_must(workshop,
                  "\"$SINKPROOF\" explore small.json --sink ./dies.so --deviations 1 --jobs 4"
                  " --json four.json",
                  1);
    workshop_must(workshop, TIMELESS "one.json >a; " TIMELESS "four.json >b; cmp a b", 0);
    workshop_must(workshop, "grep -q '\"complete\": true' a && grep -q 'broken: crash' said", 0);
    workshop_must(workshop, "grep '\"violating\": ' a | grep -v -w -e 0 -e 1", 0);
    workshop_must(workshop, "sed -n 's/^ *replay: //p' said >again && sh ./again", 1);
}

static void crashes_are_tried_at_every_point_and_twice(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore " MANY " >said", 0);
    workshop_must(workshop,
                  "grep -q 'all runs with at most 2 crashes, each in the recovery from' said &&"
                  " sed -n 's/^  crash points hit: \\([0-9]*\\) of \\([0-9]*\\) seen.*/\\1 \\2/p'"
                  " said >points && read hit seen <points && test $hit -eq $seen &&"
                  " test $hit -gt 100",
                  0);
}

/* Goal: the reference workload goes through the same frontier, workers, files and shards. Method: its
 * small size, whole, in parts, and in shards, each with the published counts. */
static void the_states_of_a_system_are_counted_however_the_work_is_cut(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" explore x1-s --json whole.json", 0);
    workshop_says(workshop, "102717 states, 452759 transitions, 0 that break");
    workshop_says(workshop, "whole 64-bit digests");
    workshop_must(workshop, "\"$SINKPROOF\" explore x1-s --resume kept --max-runs 77777", 1);
    workshop_says(workshop, "missing: not all states were reached");
    workshop_must(
        workshop, "\"$SINKPROOF\" explore x1-s --resume kept --jobs 3 --json parts.json", 0);
    workshop_must(workshop, TIMELESS "whole.json >a; " TIMELESS "parts.json >b; cmp a b", 0);
    workshop_must(workshop,
                  "for i in 1 2 3; do \"$SINKPROOF\" explore x1-s --shard $i/3 --json $i.json;"
                  " done; \"$SINKPROOF\" merge ?.json --json merged.json",
                  0);
    workshop_must(workshop, TIMELESS "merged.json >b; cmp a b", 0);
    workshop_must(workshop, "\"$SINKPROOF\" explore " HOLDS " --resume kept", 2);
}

static void bad_usage_is_one_line_and_status_2(void **state)
{
    struct workshop *workshop = *state;
    for (const char *const *words = (const char *const[]){HOLDS " --deviations 9",
                                                          HOLDS " --deviations -1",
                                                          HOLDS " --max-runs 0",
                                                          HOLDS " --seeds 1-2",
                                                          HOLDS " " FAILS,
                                                          "no-such-scenario",
                                                          HOLDS " --json no/such/folder/f",
                                                          HOLDS " --shard 2/1",
                                                          NULL};
         *words != NULL;
         words++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "\"$SINKPROOF\" explore %s >out 2>err; test $? -eq 2 &&"
                                  " test $(wc -l <err) -eq 1",
                                  *words),
                      0);
    }
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(explore,
          WORKSHOP_TEST(the_result_depends_on_neither_jobs_nor_snapshots),
          WORKSHOP_TEST(merged_shards_are_the_whole),
          WORKSHOP_TEST(a_killed_exploration_goes_on_to_the_same_result),
          WORKSHOP_TEST(a_limit_of_runs_is_a_pause),
          WORKSHOP_TEST(a_frontier_that_is_not_whole_is_refused_in_one_line),
          WORKSHOP_TEST(a_violation_is_told_with_its_fewest_choices_and_replays),
          WORKSHOP_TEST(a_calm_run_that_breaks_is_the_last_one_of_a_search_that_stops),
          WORKSHOP_TEST(a_run_that_crashes_the_sink_is_a_violation_among_the_others),
          WORKSHOP_TEST(crashes_are_tried_at_every_point_and_twice),
          WORKSHOP_TEST(the_states_of_a_system_are_counted_however_the_work_is_cut),
          WORKSHOP_TEST(bad_usage_is_one_line_and_status_2))
