/* Kept tapes from outside: they survive a change of what they name, tell when their verdict is another,
 * and can be written anew. The changes are made to the tapes, which is the same as the other way
 * round.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define WITNESS "\"$ROOT\"/scenarios/regress/unnamed-create-applied-twice.tape"
#define MENDED  "\"$ROOT\"/scenarios/regress/two-long-downtimes.tape"

/* Goal: everything that is kept still is what it was. */
static void every_kept_tape_is_in_step_and_as_it_was(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop, "\"$SINKPROOF\" rejudge --strict", 0);
    workshop_says(workshop, " 0 changed, 0 moved, 0 differs, 0 stale");
    workshop_must(workshop, "\"$SINKPROOF\" replay " WITNESS, 0);
    workshop_says(workshop, "same: fails, aligned 2/2");
}

/* Goal: a failure whose draws moved is found near its tape, is not silently green where strictness is
 * asked for, and is kept in its new place with the comments above it. */
static void a_failure_that_moved_is_found_and_can_be_kept(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "sed 's/writer0#1 = /writer0#4 = /; s/writer0#3 = /writer0#7 = /' " WITNESS
                  " >it.tape && \"$SINKPROOF\" rejudge it.tape",
                  0);
    workshop_says(workshop, "it.tape: moved: fails, aligned 0/2");
    workshop_says(workshop, "near it: found after ");
    workshop_says(workshop, "  - cloudtasks.create.fate/writer0#4 = request_lost (1/24)\n");
    workshop_says(workshop, "rejudge --update it.tape");
    workshop_must(workshop, "\"$SINKPROOF\" rejudge --strict it.tape", 1);
    workshop_must(workshop, "\"$SINKPROOF\" replay it.tape", 0);
    workshop_says(workshop, "it.tape: moved: fails");
    workshop_must(workshop, "\"$SINKPROOF\" rejudge --update it.tape", 0);
    workshop_says(workshop, "written over");
    workshop_must(workshop, "\"$SINKPROOF\" rejudge --strict it.tape", 0);
    workshop_must(workshop, "head -n 1 it.tape", 0);
    workshop_says(workshop, "# An unnamed create whose answer is late");
}

/* Goal: the tape of a mended bug is looked for by its alignment alone. Method: one entry
 * is named on a lane that the job does not have. */
static void a_mended_bug_keeps_its_tape_by_alignment(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "sed 's/committer0#3 = /committer2#3 = /' " MENDED
                  " >it.tape && \"$SINKPROOF\" rejudge it.tape",
                  0);
    workshop_says(workshop, "it.tape: moved: holds, aligned 3/4");
    workshop_says(workshop, "  + cloudtasks.create.fate/committer");
}

/* Goal: what is nowhere near is stale, and is not written over. */
static void what_is_nowhere_near_is_stale(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "sed 's/committer0#3 = /committer9#900 = /' " MENDED
                  " >it.tape && cp it.tape before && \"$SINKPROOF\" rejudge --update it.tape",
                  1);
    workshop_says(workshop, "it.tape: stale: holds, aligned 3/4");
    workshop_says(workshop, "nothing found");
    workshop_must(workshop, "cmp it.tape before", 0);
    workshop_must(workshop, "\"$SINKPROOF\" rejudge --attempts 5 it.tape", 1);
    workshop_says(workshop, "near it: nothing found after 5 runs\n");
}

/* Goal: after a change of the oracles, verdicts that differ are told, also as JSON. Method: an oracle
 * that is switched off. */
static void verdicts_that_differ_are_told(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "cp " WITNESS " it.tape && cp " MENDED " other.tape &&"
                  " \"$SINKPROOF\" rejudge --without-oracle effectively-once --json it.json"
                  " it.tape other.tape",
                  1);
    workshop_says(workshop, "it.tape: differs: was fails, is holds, aligned 2/2");
    workshop_says(workshop, "2 entries: 0 same, 1 changed, 0 moved, 1 differs, 0 stale");
    const char *json = workshop_read(workshop, "it.json");
    assert_non_null(strstr(json, "\"was\": \"fails\""));
    assert_non_null(strstr(json, "\"is\": \"holds\""));
    assert_non_null(strstr(json, "\"state\": \"differs\""));
    workshop_must(workshop,
                  "\"$SINKPROOF\" rejudge --without-oracle effectively-once --update it.tape &&"
                  " grep '^verdict holds$' it.tape && grep '^subject record 3$' it.tape",
                  0);
    workshop_must(workshop, "\"$SINKPROOF\" rejudge it.tape", 1);
    workshop_says(workshop, "was holds, is fails");
}

/* Goal: an entry that is no entry is told in one line, and the others are judged nevertheless. */
static void an_entry_that_lacks_something_is_told(void **state)
{
    static const struct {
        const char *edit;
        const char *told;
    } cases[] = {
        {"/^verdict/d", "it.tape: no verdict; wanted: verdict, as holds or fails\n"},
        {"s/^verdict.*/verdict maybe/", "verdict \"maybe\"; allowed: holds or fails\n"},
        {"s/^oracle.*/oracle nobody/",
         "oracle \"nobody\"; allowed: those of sinkproof list oracles\n"},
        {"s/^subject.*/subject record/", "subject \"record\"; allowed: record N"},
        {"s/^profile.*/profile real/", "profile \"real\"; allowed: documented, observed or"},
        {"/^scenario/d", "it.tape: no scenario; wanted: scenario, as a path"},
        {"s/^scenario.*/scenario no-such/", "no-such: no such scenario"},
        {"s/request_lost/request_eaten/",
         "it.tape:11: line 11: unknown outcome 'request_eaten'; allowed:"},
    };
    struct workshop *workshop = *state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        workshop_must(workshop,
                      text_format(&workshop->texts,
                                  "sed '%s' " WITNESS " >it.tape;"
                                  " \"$SINKPROOF\" rejudge it.tape " MENDED,
                                  cases[i].edit),
                      2);
        workshop_says(workshop, cases[i].told);
        workshop_says(workshop, "1 entry: 1 same");
    }
}

/* Goal: what shrink writes can be kept as it is, and so can what the fuzzer finds. Method: the bytes
 * of a failing tape are those of the fuzzer's form. */
static void what_shrink_writes_is_an_entry(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop,
        "\"$SINKPROOF\" shrink cloudtasks/at-least-once-ct-al-2-small --seed 1 -o it.tape &&"
        " \"$SINKPROOF\" rejudge --strict it.tape",
        0);
    /* Key, lane (kind 4 is the writer's), ordinal, value: create.fate 1 = 1, link.latency 3 = 3. */
    workshop_must(workshop,
                  "printf '\\000\\020\\000\\040\\001\\000\\000\\001' >found &&"
                  " printf '\\000\\002\\000\\040\\003\\000\\000\\003' >>found &&"
                  " \"$SINKPROOF\" replay cloudtasks/at-least-once-ct-al-2-small --fuzz found",
                  0);
    workshop_says(workshop, "aligned 2/2");
    workshop_must(workshop,
                  "\"$SINKPROOF\" shrink cloudtasks/at-least-once-ct-al-2-small --fuzz found"
                  " -o that.tape && \"$SINKPROOF\" rejudge --strict that.tape",
                  0);
    workshop_must(
        workshop, "\"$SINKPROOF\" replay cloudtasks/exactly-once-small --fuzz found --seed 1", 2);
    workshop_says(workshop, "allowed: one of them");
    workshop_must(workshop, "\"$SINKPROOF\" replay it.tape --seed 1", 2);
    workshop_says(workshop, "none with a kept tape");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(entry,
          WORKSHOP_TEST(every_kept_tape_is_in_step_and_as_it_was),
          WORKSHOP_TEST(a_failure_that_moved_is_found_and_can_be_kept),
          WORKSHOP_TEST(a_mended_bug_keeps_its_tape_by_alignment),
          WORKSHOP_TEST(what_is_nowhere_near_is_stale),
          WORKSHOP_TEST(verdicts_that_differ_are_told),
          WORKSHOP_TEST(an_entry_that_lacks_something_is_told),
          WORKSHOP_TEST(what_shrink_writes_is_an_entry))
