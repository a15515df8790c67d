/* shrink from outside: what it finds below a tape, what it keeps beside, its time box, and that a
 * search that was killed goes on as if nothing had been.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

/* A failure whose tape of two choices has one of a single other choice below it. */
#define FAILS  "cloudtasks/exactly-once-ct-eo-6"
#define SHRINK "$SINKPROOF shrink " FAILS " --seed 24 "

/* The number before a word of the last output. */
static unsigned long number_before(const struct workshop *workshop, const char *word)
{
    const char *at = strstr(workshop->output, word);
    assert_non_null(at);
    while (at > workshop->output && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9'))) {
        at--;
    }
    return strtoul(at, NULL, 10);
}

static void a_smaller_tape_of_other_choices_is_found(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, SHRINK "--below 0 -o passes.tape", 0);
    workshop_says(workshop, ": 2 entries from ");
    workshop_says(workshop, "nothing smaller found");
    workshop_must(workshop, SHRINK "-o below.tape", 0);
    workshop_says(workshop, ": 1 entries from ");
    workshop_says(workshop, "proven minimal");
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape below.tape", 0);
    workshop_says(workshop, "broken: exactly-once-write: record 8");
    workshop_must(workshop, SHRINK "--below 100 -o part.tape", 0);
    workshop_says(workshop, "minimal up to 100 runs of smaller tapes");
}

/* Goal: what else the search met is not lost. Method: the tape of each shows it when it is run. */
static void other_violations_are_kept_beside(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, SHRINK "-o minimal.tape --out others", 0);
    const unsigned long count = number_before(workshop, " other violations");
    assert_in_range(count, 2, 64);
    workshop_says(workshop, "their tapes are in others");
    workshop_must(
        workshop, text_format(&workshop->texts, "test $(ls others | wc -l) = %lu", count), 0);
    workshop_must(workshop,
                  "for tape in others/*.tape; do"
                  " oracle=$(echo $tape | sed 's/.*ct-eo-6-\\(.*\\)-record-.*/\\1/');"
                  " record=$(echo $tape | sed 's/.*-record-\\(.*\\).tape/\\1/');"
                  " $SINKPROOF replay " FAILS " --tape $tape |"
                  " grep \"broken: $oracle: record $record\" || exit 7; done",
                  0);
}

/* Goal: a search that is killed loses nothing. Method: kill it again and again, each time a little
 * later, and compare what it comes to with a search that nobody disturbed. */
static void a_killed_search_goes_on_where_it_was(void **state)
{
    struct workshop *workshop = *state;
    unsigned kills = 0;
    int status = 137;
    workshop_must(workshop, SHRINK "-o whole.tape --out whole", 0);
    const unsigned long attempts = number_before(workshop, " attempts");
    for (unsigned round = 1; round <= 100 && status != 0; round++) {
        status = workshop_run(workshop,
                              text_format(&workshop->texts,
                                          "timeout -s KILL 0.%03u " SHRINK
                                          "--resume state -o part.tape --out part",
                                          round < 100 ? round * 10 : 999));
        kills += status == 137 ? 1 : 0;
    }
    assert_int_equal(status, 0);
    assert_in_range(kills, 2, 100);
    assert_int_equal(number_before(workshop, " attempts"), attempts);
    workshop_must(workshop, "cmp whole.tape part.tape && diff -r whole part", 0);
    /* What is known is not run again: a finished search is all in its state. */
    workshop_must(workshop, SHRINK "--resume state -o again.tape --out again", 0);
    assert_int_equal(number_before(workshop, " attempts"), attempts);
    workshop_must(workshop, "cmp whole.tape again.tape && diff -r whole again", 0);
}

/* Goal: a state is of one run. Method: a byte changed, a half, another seed, another kind of file. */
static void a_state_that_does_not_fit_is_status_2(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, SHRINK "--resume state -o minimal.tape", 0);
    static const char *const damages[] = {
        "sed 's/^answers \\(.*\\)1/answers \\12/' state >bad",
        "head -c 200 state >bad",
        "grep -v ^digest state >bad",
        "echo >bad",
        ": >bad",
    };
    for (size_t i = 0; i < ARRAY_COUNT(damages); i++) {
        workshop_must(workshop, damages[i], 0);
        workshop_must(workshop, "! cmp -s state bad", 0);
        workshop_must(workshop, SHRINK "--resume bad -o minimal.tape", 2);
        workshop_says(workshop, "--resume \"bad\": its last line is not the digest");
    }
    workshop_must(
        workshop, "$SINKPROOF shrink " FAILS " --tape minimal.tape --resume state -o x.tape", 2);
    workshop_says(workshop, "state:4: \"tape 0x");
    workshop_must(workshop, SHRINK "--resume . -o minimal.tape", 2);
    workshop_says(workshop, "--resume \".\"");
}

static void time_that_is_used_up_leaves_a_tape_that_fails(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, SHRINK "--for 1ms --below 16000000 -o minimal.tape", 0);
    workshop_says(workshop, "time used up");
    workshop_must(workshop, "$SINKPROOF replay " FAILS " --tape minimal.tape", 0);
    workshop_says(workshop, "broken: exactly-once-write: record 8");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(shrink,
          WORKSHOP_TEST(a_smaller_tape_of_other_choices_is_found),
          WORKSHOP_TEST(other_violations_are_kept_beside),
          WORKSHOP_TEST(a_killed_search_goes_on_where_it_was),
          WORKSHOP_TEST(a_state_that_does_not_fit_is_status_2),
          WORKSHOP_TEST(time_that_is_used_up_leaves_a_tape_that_fails))
