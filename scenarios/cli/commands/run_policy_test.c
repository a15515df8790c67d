/* Sweeps by priority schedules, from outside: the same for any number of workers and shards, replayed by
 * seed with the policy and by tape without it.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define HOLDS "cloudtasks/exactly-once"
#define FAILS "cloudtasks/at-least-once-ct-al-2"
#define RUN   "$SINKPROOF run "

static void results_do_not_depend_on_jobs_or_shards(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, RUN HOLDS " --seeds 1-300 --policy mixed --jobs 1 >one", 0);
    workshop_must(workshop, RUN HOLDS " --seeds 1-300 --policy mixed --jobs 3 >three", 0);
    workshop_must(workshop, "cmp one three", 0);
    workshop_must(
        workshop,
        "grep 'policy mixed: 150 runs by seeds, 150 by priorities; a bug of depth 2 among "
        "[0-9]* chains and [0-9]* steps is hit by one of these with probability at least "
        "1/[0-9]*, by 150 at least [0-9]*\\.[0-9] %' one",
        0);
    for (int i = 1; i <= 3; i++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  RUN HOLDS " --seeds 1-300 --policy mixed --shard %d/3 --json %d",
                                  i,
                                  i),
                      0);
    }
    workshop_must(workshop, "$SINKPROOF merge 3 1 2 >merged && cmp one merged", 0);
}

/* Goal: the policy decides order, and seeds without it are what they were. Method: digests. */
static void a_policy_changes_what_it_is_for(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, RUN HOLDS " --seeds 1-50 | grep -o 'digest.*' >plain", 0);
    workshop_must(
        workshop, RUN HOLDS " --seeds 1-50 --policy seeds | grep -o 'digest.*' >seeds", 0);
    workshop_must(workshop, RUN HOLDS " --seeds 1-50 --policy pct | grep -o 'digest.*' >pct", 0);
    workshop_must(
        workshop, RUN HOLDS " --seeds 1-50 --policy pct --depth 5 | grep -o 'digest.*' >deep", 0);
    workshop_must(workshop, "cmp plain seeds && ! cmp -s plain pct && ! cmp -s pct deep", 0);
    /* Odd seeds of a mixed sweep are plain ones. */
    workshop_must(workshop, RUN HOLDS " --seeds 7 | grep -o 'digest.*' >plain", 0);
    workshop_must(workshop, RUN HOLDS " --seeds 7 --policy mixed | grep -o 'digest.*' >odd", 0);
    workshop_must(workshop, RUN HOLDS " --seeds 8 --policy pct | grep -o 'digest.*' >pct", 0);
    workshop_must(workshop, RUN HOLDS " --seeds 8 --policy mixed | grep -o 'digest.*' >even", 0);
    workshop_must(workshop, "cmp plain odd && cmp pct even", 0);
}

/* Goal: a failure is found again by what is printed. Method: the command of the report, and the tape
 * that shrink makes of it. */
static void a_failure_replays_by_seed_with_the_policy_and_by_tape_without(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  RUN FAILS " --policy pct --stop-at any | sed -n 's/.*replay: .* replay/replay/p' "
                            ">command",
                  0);
    workshop_must(workshop, "grep -- '--policy pct$' command", 0);
    workshop_must(workshop, "$SINKPROOF $(cat command)", 0);
    workshop_says(workshop, "broken: effectively-once");
    workshop_must(workshop,
                  "$SINKPROOF shrink $(sed 's/^replay//' command) --oracle effectively-once"
                  " --below 0 -o minimal.tape",
                  0);
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape minimal.tape --strict", 0);
    workshop_says(workshop, "broken: effectively-once");
}

static void a_wrong_policy_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, RUN HOLDS " --policy random", 2);
    workshop_says(workshop, "--policy \"random\": allowed: seeds, pct or mixed");
    workshop_must(workshop, RUN HOLDS " --policy pct --depth 9", 2);
    workshop_says(workshop, "--depth \"9\": allowed: a number from 1 to 8");
    workshop_must(workshop, RUN HOLDS " --policy pct --depth 0", 2);
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(policy,
          WORKSHOP_TEST(results_do_not_depend_on_jobs_or_shards),
          WORKSHOP_TEST(a_policy_changes_what_it_is_for),
          WORKSHOP_TEST(a_failure_replays_by_seed_with_the_policy_and_by_tape_without),
          WORKSHOP_TEST(a_wrong_policy_is_status_2))
