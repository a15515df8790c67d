/* The way of a user: install into a prefix, write a new sink elsewhere, build it by its own Makefile,
 * certify it, break it by one line.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

/* Install the binary under test. -o: it is there, and not this test's to make. */
static void install(struct workshop *workshop)
{
    workshop_must(workshop,
                  "prefix=$(pwd)/prefix; cd \"$ROOT\" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL"
                  " make -s -o \"$SINKPROOF\" install PREFIX=\"$prefix\" BINARY=\"$SINKPROOF\"",
                  0);
}

#define INSTALLED "PATH=$(pwd)/prefix/bin:$PATH; export PATH; "

/* Goal: what make install leaves is enough: the example is built out of the tree and certified with
 * 2,000 seeds, and its claim holds. */
static void the_installed_example_is_certified(void **state)
{
    struct workshop *workshop = *state;
    install(workshop);
    workshop_must(workshop, INSTALLED "sinkproof --print-include", 0);
    workshop_says(workshop, "/prefix/include/sinkproof\n");
    workshop_must(workshop,
                  INSTALLED "sinkproof new-sink audit-log && make -s -C audit-log"
                            " CFLAGS='-O1 -Wall -Wextra -Wshadow -Wconversion -Wcast-qual -Werror'",
                  0);
    workshop_says(workshop,
                  "sinkproof run audit-log/scenario.json --sink audit-log/libaudit_log.so");
    workshop_must(workshop,
                  INSTALLED
                  "sinkproof run audit-log/scenario.json --sink audit-log/libaudit_log.so",
                  0);
    workshop_says(workshop, "holds, as expected");
    workshop_says(workshop, "2000 runs, 2000 counted, 0 vacuous, 0 with a violation");
    workshop_must(
        workshop,
        INSTALLED
        "sinkproof matrix audit-log/claims.json --sink audit-log/libaudit_log.so --seeds 1-300",
        0);
    workshop_says(workshop, "1 of 1 claims as expected");
    /* Nothing of the host's is in the object, and one symbol comes out of it. */
    workshop_must(workshop, "nm -D --defined-only audit-log/libaudit_log.so | wc -l", 0);
    workshop_says(workshop, "1\n");
}

/* Goal: the scenarios, the manual and the templates are installed, too. */
static void the_installation_is_complete(void **state)
{
    struct workshop *workshop = *state;
    install(workshop);
    workshop_must(
        workshop, INSTALLED "sinkproof run cloudtasks/exactly-once-small --seeds 1-20", 0);
    workshop_must(workshop, INSTALLED "sinkproof list claims", 0);
    workshop_says(workshop, "CT-EO-1");
    workshop_must(workshop, "test -s prefix/share/man/man1/sinkproof.1", 0);
    workshop_must(workshop, "test -s prefix/share/sinkproof/docs/bring-your-own-sink.md", 0);
    /* What is for tests is not. */
    workshop_must(workshop, "find prefix -name '*_test*' -o -name 'test.[ch]' | grep .", 1);
}

/* Goal: each of these lines matters: without it the sink is caught, by the oracle whose matter it is. */
static void a_changed_line_is_caught(void **state)
{
    static const struct {
        const char *old;
        const char *new;
        const char *oracle;
    } changes[] = {
        {" && writer->puts == NULL", "", "checkpoint-durable"},
        {"put->state == PUT_PAUSES ? (uint8_t)PUT_WAITS : put->state", "put->state", "liveness"},
        {"        (*link)->state = PUT_PAUSES;",
         "        remove_put(writer, link);",
         "at-least-once"},
        {" || (put->token != 0 && is_full)", "", "bounded-concurrency"},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    /* More records than may be on their way at once. */
    workshop_write(workshop,
                   "scenario.json",
                   workshop_edit(workshop,
                                 workshop_read(workshop, "scenario.json"),
                                 "\"max_in_flight\": 8",
                                 "\"max_in_flight\": 1"));
    const char *source = workshop_read(workshop, "sink.c");
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        workshop_build(
            workshop, "broken", workshop_edit(workshop, source, changes[i].old, changes[i].new));
        workshop_must(
            workshop, "\"$SINKPROOF\" run scenario.json --sink broken.so --seeds 1-100", 1);
        workshop_says(workshop, "fails (expected holds)");
        workshop_says(workshop, changes[i].oracle);
    }
}

/* Goal: nothing of the user's is overwritten, and a name is one that goes into file names and C. */
static void bad_folders_and_names_are_status_2(void **state)
{
    static const char *const commands[] = {
        "\"$SINKPROOF\" new-sink full",
        "\"$SINKPROOF\" new-sink file",
        "\"$SINKPROOF\" new-sink Upper",
        "\"$SINKPROOF\" new-sink 1st",
        "\"$SINKPROOF\" new-sink ok --name 'a b'",
        "\"$SINKPROOF\" new-sink ok --name a123456789a123456789a123456789a123456789x",
        "\"$SINKPROOF\" new-sink file/below",
        "\"$SINKPROOF\" new-sink",
    };
    struct workshop *workshop = *state;
    workshop_must(workshop, "mkdir full empty && touch full/mine file", 0);
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        workshop_must(workshop, commands[i], 2);
        assert_ptr_equal(strchr(workshop->output, '\n'),
                         workshop->output + strlen(workshop->output) - 1);
    }
    workshop_must(workshop, "\"$SINKPROOF\" new-sink empty/", 0);
    workshop_must(workshop, "\"$SINKPROOF\" new-sink A/b/c --name good-2", 0);
    workshop_must(workshop, "grep -q '\"type\": \"good-2\"' A/b/c/scenario.json", 0);
    workshop_must(workshop, "grep -q '^libgood_2.so:' A/b/c/Makefile", 0);
    workshop_must(workshop, "grep -r '@[A-Z]*@' A", 1);
    workshop_must(workshop, "ls full", 0);
    assert_string_equal(workshop->output, "mine\n");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(new_sink,
          WORKSHOP_TEST(the_installed_example_is_certified),
          WORKSHOP_TEST(the_installation_is_complete),
          WORKSHOP_TEST(a_changed_line_is_caught),
          WORKSHOP_TEST(bad_folders_and_names_are_status_2))
