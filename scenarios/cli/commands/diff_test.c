/* diff: where two sinks, or two builds, part.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define DIFF "\"$SINKPROOF\" diff scenario.json --sink ./good.so --seeds 1-5 "

static void build_pair(struct workshop *workshop, const char *old, const char *new)
{
    const char *source = workshop_read(workshop, "sink.c");
    workshop_build(workshop, "good", source);
    workshop_build(workshop, "other", workshop_edit(workshop, source, old, new));
}

/* Goal: the first event that differs is named, with both lines, the choice before it, and commands
 * that show it. Method: a sink that answers barriers early; run the commands that are printed. */
static void a_changed_sink_is_found_at_its_first_event(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    build_pair(workshop, " && writer->puts == NULL", "");
    workshop_must(workshop, DIFF "--with-sink ./other.so", 1);
    workshop_says(workshop, "scenario.json: seed ");
    workshop_says(workshop, " differs at event ");
    workshop_says(workshop, "\n  choice before it: ");
    workshop_says(workshop, "\n  - nothing more\n");
    workshop_says(workshop, " is answered\n");
    const char *command = strstr(workshop->output, "  + /");
    assert_non_null(command);
    command = text_format(&workshop->texts, "%.*s", (int)strcspn(command + 4, "\n"), command + 4);
    assert_non_null(strstr(command, " --trace --sink ./other.so"));
    workshop_must(workshop, command, 0);
    workshop_says(workshop, " is answered\n");
    workshop_says(workshop, "stopped before event ");
}

/* Goal: a difference that no journal entry shows is told as such. Method: a pause without a window,
 * in which nothing is drawn. */
static void a_difference_within_is_told_as_such(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    build_pair(workshop,
               "effects_timer(effects, pause / 2, pause)",
               "effects_timer(effects, pause, pause)");
    workshop_must(workshop, DIFF "--with-sink ./other.so", 1);
    workshop_says(workshop, "no entry differs yet");
}

/* Goal: a side that crashes differs where it does. */
static void a_crash_differs_where_it_happens(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    build_pair(workshop, "    writer->timer_set = false;\n", "    *(volatile int *)0 = 1;\n");
    workshop_must(workshop, DIFF "--with-sink ./other.so", 1);
    workshop_says(workshop, "\n  - #");
    workshop_says(workshop, " crash signal ");
}

static void the_same_comes_out_the_same(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    workshop_build(workshop, "good", workshop_read(workshop, "sink.c"));
    workshop_must(workshop, "cp good.so same.so && " DIFF "--with-sink ./same.so", 0);
    workshop_says(workshop, "seeds 1-5 come out the same on both");
    workshop_must(workshop, "ln -s \"$SINKPROOF\" copy && " DIFF "--with ./copy", 0);
    workshop_must(
        workshop, "\"$SINKPROOF\" diff cloudtasks/exactly-once-small --with ./copy --seeds 1-5", 0);
}

/* Goal: another build is told from this one, at an event of the run. Method: two seeds pose as two
 * builds, by a program that passes all on to the binary but the seeds, which it shifts by one. */
static void another_build_is_told_from_this_one(void **state)
{
    struct workshop *workshop = *state;
    workshop_write(workshop,
                   "build",
                   "#!/bin/sh\n"
                   "command=$1 scenario=$2 first=${4%-*} last=${4#*-}\n"
                   "shift 4\n"
                   "\"$SINKPROOF\" \"$command\" \"$scenario\" --seeds"
                   " \"$((first + 1))-$((last + 1))\" \"$@\" |"
                   " awk '/^seed / { $2 = $2 - 1 } { print }'\n");
    workshop_must(
        workshop,
        "chmod +x build && \"$SINKPROOF\" diff cloudtasks/exactly-once-small --with ./build"
        " --seeds 1-5",
        1);
    workshop_says(workshop, "seed 1 differs at event ");
    assert_null(strstr(workshop->output, "at event 0;"));
    workshop_says(workshop, "\n  - ");
    workshop_says(workshop, "\n  + ");
    workshop_says(workshop, "./build replay cloudtasks/exactly-once-small --seed 1 ");
}

static void bad_usage_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" diff cloudtasks/exactly-once-small", 2);
    workshop_says(workshop, "neither --with nor --with-sink");
    workshop_must(workshop, "\"$SINKPROOF\" diff cloudtasks/exactly-once-small --with false", 2);
    workshop_says(workshop, "false: ended with status 1");
    workshop_must(workshop, "\"$SINKPROOF\" diff cloudtasks/exactly-once-small --with ./none", 2);
    workshop_says(workshop, "./none: cannot be run");
    workshop_must(workshop, "\"$SINKPROOF\" diff none --with \"$SINKPROOF\"", 2);
    workshop_says(workshop, "no such scenario");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(diff,
          WORKSHOP_TEST(a_changed_sink_is_found_at_its_first_event),
          WORKSHOP_TEST(a_difference_within_is_told_as_such),
          WORKSHOP_TEST(a_crash_differs_where_it_happens),
          WORKSHOP_TEST(the_same_comes_out_the_same),
          WORKSHOP_TEST(another_build_is_told_from_this_one),
          WORKSHOP_TEST(bad_usage_is_status_2))
