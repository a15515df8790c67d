/* The command line: what is read, and the one line that says why it was not.
 * link: scenarios/cli/options scenarios/cli/seeds sim/fault sim/choice sim/arena sim/lane
 * link: sinks/base/allocator sinks/base/bytes sinks/base/digest sinks/base/units
 */
#include "scenarios/cli/options.h"

#include "sinks/base/test.h"

#include <string.h>

#define EVERY_OPTION (UINT64_MAX >> 1)

static const struct options_rule rule = {
    .command = "run",
    .allowed = EVERY_OPTION & ~OPTION_BIT(SAMPLE),
    .argument_min = 1,
    .argument_max = 2,
    .arguments = "SCENARIO...",
};

static void options_and_arguments_may_mix(void **state)
{
    (void)state;
    const char *words[] = {"a", "--seeds", "3-9", "--jobs=4", "b", "--quick", "--shard", "2/3"};
    struct options options;
    char message[OPTION_MESSAGE_SIZE];
    assert_int_equal(options_parse(&rule, words, ARRAY_COUNT(words), &options, message), ERR_OK);
    assert_int_equal(options.argument_count, 2);
    assert_string_equal(options.arguments[0], "a");
    assert_string_equal(options.arguments[1], "b");
    assert_int_equal(options.seeds.first, 3);
    assert_int_equal(options.seeds.last, 9);
    assert_int_equal(options.jobs, 4);
    assert_int_equal(options.shard.index, 2);
    assert_true(option_is_given(&options, OPTION_BIT(QUICK)));
    assert_false(option_is_given(&options, OPTION_BIT(TRACE)));
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    const char *words[] = {"a"};
    struct options options;
    char message[OPTION_MESSAGE_SIZE];
    assert_int_equal(options_parse(&rule, words, 1, &options, message), ERR_OK);
    assert_true(options.jobs >= 1);
    assert_int_equal(options.shard.index, 1);
    assert_int_equal(options.shard.count, 1);
    assert_true(options.hang_after == SECONDS(20));
    assert_int_equal(options.given, 0);
    assert_null(options.json);
}

static void behind_two_dashes_all_words_are_arguments(void **state)
{
    (void)state;
    const char *words[] = {"--", "--seeds"};
    struct options options;
    char message[OPTION_MESSAGE_SIZE];
    assert_int_equal(options_parse(&rule, words, 2, &options, message), ERR_OK);
    assert_int_equal(options.argument_count, 1);
    assert_string_equal(options.arguments[0], "--seeds");
}

/* Goal: every refusal names argument, value and what is allowed, in one line. Method: one bad
 * command line per kind of mistake, with what its message must hold. */
static void bad_usage_gets_one_line_that_says_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *parts[3];
    } cases[] = {
        {{"a", "--bogus"}, {"run: ", "--bogus", "no such option"}},
        {{"a", "--sample"}, {"run: ", "--sample", "not an option of this command"}},
        {{"a", "--seeds", "9-3"}, {"--seeds", "\"9-3\"", "A <= B"}},
        {{"a", "--seeds"}, {"--seeds", "missing", "A-B"}},
        {{"a", "--jobs", "0"}, {"--jobs", "\"0\"", "1 to 256"}},
        {{"a", "--jobs", "257"}, {"--jobs", "\"257\"", "1 to 256"}},
        {{"a", "--shard", "3/2"}, {"--shard", "\"3/2\"", "I/N"}},
        {{"a", "--profile", "nice"},
         {"--profile", "\"nice\"", "documented, observed or adversary"}},
        {{"a", "--for", "10"}, {"--for", "\"10\"", "90s"}},
        {{"a", "--json", ""}, {"--json", "\"\"", "not empty"}},
        {{"a", "--quick=1"}, {"--quick", "\"1\"", "no value"}},
        {{"a", "--quick", "--quick"}, {"--quick", "twice", "once"}},
        {{"a", "--seed", "1x"}, {"--seed", "\"1x\"", "below 2^64"}},
        {{"--quick"}, {"0 arguments", "wanted", "SCENARIO"}},
        {{"a", "b", "c"}, {"\"c\"", "one argument too many", "SCENARIO"}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *words[4] = {0};
        size_t count = 0;
        struct options options;
        char message[OPTION_MESSAGE_SIZE] = {0};
        while (count < 4 && cases[i].words[count] != NULL) {
            words[count] = cases[i].words[count];
            count++;
        }
        assert_int_equal(options_parse(&rule, words, count, &options, message), ERR_INVALID);
        assert_null(strchr(message, '\n'));
        for (size_t k = 0; k < 3; k++) {
            if (strstr(message, cases[i].parts[k]) == NULL) {
                fail_msg("\"%s\" lacks \"%s\"", message, cases[i].parts[k]);
            }
        }
    }
}

static void a_long_word_does_not_break_the_message(void **state)
{
    (void)state;
    char word[2000];
    const char *words[] = {"a", word};
    struct options options;
    char message[OPTION_MESSAGE_SIZE];
    memset(word, 'x', sizeof word - 1);
    word[0] = '-';
    word[1] = '-';
    word[sizeof word - 1] = '\0';
    assert_int_equal(options_parse(&rule, words, 2, &options, message), ERR_INVALID);
    assert_true(strlen(message) < OPTION_MESSAGE_SIZE);
}

TEST_MAIN(options,
          TEST(options_and_arguments_may_mix),
          TEST(what_is_not_given_has_its_default),
          TEST(behind_two_dashes_all_words_are_arguments),
          TEST(bad_usage_gets_one_line_that_says_what_is_allowed),
          TEST(a_long_word_does_not_break_the_message))
