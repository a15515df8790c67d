/* A violation in lines, and what stays the same of it.
 * link: reports/failure reports/records reports/report_testkit sinks/base/sha256 sinks/base/bytes
 */
#include "reports/failure.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

struct taken {
    size_t lines;
    char text[2048];
};

static void take(void *context, enum failure_part part, const char *line)
{
    struct taken *taken = context;
    (void)part;
    taken->lines++;
    assert_true(strlen(taken->text) + strlen(line) + 2 < sizeof taken->text);
    (void)strcat(taken->text, line);
    (void)strcat(taken->text, "\n");
}

static void a_violation_is_told_in_its_lines(void **state)
{
    (void)state;
    struct taken taken = {0};
    failure_lines(&kit_violations[0], &taken, take);
    assert_string_equal(taken.text,
                        "  broken: no-silent-loss; in the same run: ownership\n"
                        "    record 5: a \xff<b>&\"']]> |*\n"
                        "    seed 13, 1 choice (9 as found):\n"
                        "      link.latency/writer0#3 = twice: it takes longer\n"
                        "    decided by: 2.000 s  a \xff<b>&\"']]> |*\n"
                        "    replay: sinkproof replay 'a b' --seed 13\n");
}

static void a_known_violation_says_so(void **state)
{
    (void)state;
    struct taken taken = {0};
    failure_lines(&kit_violations[1], &taken, take);
    assert_string_equal(taken.text,
                        "  broken: crash (known)\n    the job: signal 11\n    seed 14\n");
    taken.text[0] = '\0';
    failure_brief(&kit_violations[1], &taken, take);
    assert_string_equal(taken.text, "  broken: crash, seed 14, the job: signal 11 (known)\n");
}

static void however_many_choices_there_are_the_lines_are_twelve(void **state)
{
    (void)state;
    static const char *const many[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    struct taken taken = {0};
    struct report_violation violation = kit_violations[0];
    violation.choices = many;
    violation.choice_count = 9;
    failure_lines(&violation, &taken, take);
    assert_int_equal(taken.lines, 11);
    assert_in_range(taken.lines, 1, REPORT_FAILURE_LINES);
    assert_non_null(strstr(taken.text, "and 4 more\n"));
}

static void
assert_same(const struct report_violation *a, const struct report_violation *b, bool same)
{
    char left[FAILURE_FINGERPRINT_SIZE];
    char right[FAILURE_FINGERPRINT_SIZE];
    failure_fingerprint("x", a, left);
    failure_fingerprint("x", b, right);
    assert_int_equal(strlen(left), FAILURE_FINGERPRINT_SIZE - 1);
    assert_int_equal(strcmp(left, right) == 0, same);
}

/* Goal: a failure found again is the same, whichever seed and build find it, and whatever its message
 * says; another one is another. */
static void a_fingerprint_is_of_what_fails_and_how(void **state)
{
    (void)state;
    static const char *const other_oracles[] = {"at-least-once", "ownership"};
    struct report_violation other = kit_violations[0];
    other.seed = 99;
    other.message = "m";
    other.command = "c";
    other.oracle_count = 1;
    other.tape = "# a comment\nsinkproof-tape 1\nscenario y\nidentity 0x1\ndigest 0x2\n"
                 "link.latency/writer0#3 = twice (1/3)\nend 1\n";
    assert_same(&kit_violations[0], &other, true);
    other.tape = "link.latency/writer0#4 = twice (1/3)\n";
    assert_same(&kit_violations[0], &other, false);
    other = kit_violations[0];
    other.subject = "record 6";
    assert_same(&kit_violations[0], &other, false);
    other = kit_violations[0];
    other.oracles = other_oracles;
    assert_same(&kit_violations[0], &other, false);
    char here[FAILURE_FINGERPRINT_SIZE];
    char there[FAILURE_FINGERPRINT_SIZE];
    failure_fingerprint("x", &kit_violations[0], here);
    failure_fingerprint("y", &kit_violations[0], there);
    assert_string_not_equal(here, there);
}

TEST_MAIN(failure,
          TEST(a_violation_is_told_in_its_lines),
          TEST(a_known_violation_says_so),
          TEST(however_many_choices_there_are_the_lines_are_twelve),
          TEST(a_fingerprint_is_of_what_fails_and_how))
