/* Headers of patches.
 * link: product
 */
#include "scenarios/cli/mutants/mutants.h"

#include "sinks/base/test.h"

#include <string.h>

static void a_header_is_read(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct mutant mutant = {.path = "p", .target = "cloudtasks"};
    struct mutant_alsos alsos;
    char message[MUTANT_MESSAGE_SIZE];
    const struct bytes patch = BYTES_LITERAL("# mechanism: forgets: a thing\n"
                                             "#scenario:  cloudtasks/exactly-once \r\n"
                                             "# a line of prose\n"
                                             "# oracle: at-least-once\n"
                                             "# also: a/b  liveness\n"
                                             "# also: c/d one-cut\n"
                                             "# seeds: 77\n"
                                             "--- a/x\n# target: not a header any more\n");
    assert_int_equal(mutant_parse(&texts, patch, &mutant, &alsos, message), ERR_OK);
    assert_string_equal(mutant.mechanism, "forgets: a thing");
    assert_string_equal(mutant.scenario, "cloudtasks/exactly-once");
    assert_string_equal(mutant.oracle, "at-least-once");
    assert_string_equal(mutant.target, "cloudtasks");
    assert_int_equal(mutant.seeds, 77);
    assert_int_equal(alsos.count, 2);
    assert_string_equal(alsos.items[0].scenario, "a/b");
    assert_string_equal(alsos.items[0].oracle, "liveness");
    assert_string_equal(alsos.items[1].oracle, "one-cut");
    text_pool_fini(&texts);
}

static void a_unit_test_takes_the_place_of_scenario_and_oracle(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct mutant mutant = {.path = "p", .target = "oracles"};
    struct mutant_alsos alsos;
    char message[MUTANT_MESSAGE_SIZE];
    const struct bytes patch = BYTES_LITERAL("# mechanism: forgets a thing\n"
                                             "# test: sim/oracle_excuse\n"
                                             "--- a/x\n");
    assert_int_equal(mutant_parse(&texts, patch, &mutant, &alsos, message), ERR_OK);
    assert_string_equal(mutant.test_or_null, "sim/oracle_excuse");
    assert_string_equal(mutant.scenario, "");
    assert_string_equal(mutant.oracle, "test:sim/oracle_excuse");
    text_pool_fini(&texts);
}

static void a_header_says_which_public_bug_it_retells(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct mutant mutant = {.path = "p", .target = "museum"};
    struct mutant_alsos alsos;
    char message[MUTANT_MESSAGE_SIZE];
    const struct bytes patch = BYTES_LITERAL("# museum: AMB-01  LIV-03\n"
                                             "# source: https://a.example/1 https://b.example/2\n"
                                             "# mechanism: m\n# scenario: s\n# oracle: o\n");
    assert_int_equal(mutant_parse(&texts, patch, &mutant, &alsos, message), ERR_OK);
    assert_string_equal(mutant.museum_or_null, "AMB-01  LIV-03");
    assert_string_equal(mutant.source_or_null, "https://a.example/1 https://b.example/2");
    text_pool_fini(&texts);
}

static void what_a_header_lacks_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *patch;
        const char *named;
    } cases[] = {
        {"", "mechanism"},
        {"# mechanism: m\n# scenario: s\n", "oracle"},
        {"# mechanism: m\n# oracle: o\n", "scenario"},
        {"# mechanism:\n# scenario: s\n# oracle: o\n", "mechanism"},
        {"# mechanism: m\n# test: t/t\n# scenario: s\n", "not both"},
        {"# mechanism: m\n# test: t/t\n# oracle: o\n", "not both"},
        {"# mechanism: m\n# test: no_path\n", "test: "},
        {"# mechanism: m\n# test:\n", "test: "},
        {"# test: t/t\n", "mechanism"},
        {"# mechanism: m\n# museum: AMB-01\n# scenario: s\n# oracle: o\n", "source: "},
        {"# mechanism: m\n# source: https://a.example/\n# test: t/t\n", "museum: "},
        {"# mechanism: m\n# museum: amb-01\n# source: https://a.example/\n", "museum: "},
        {"# mechanism: m\n# museum: AMB-1\n# source: https://a.example/\n", "museum: "},
        {"# mechanism: m\n# museum: AMB-01, X\n# source: https://a.example/\n", "museum: "},
        {"# mechanism: m\n# museum:\n# source: https://a.example/\n", "museum: "},
        {"# mechanism: m\n# museum: AMB-01\n# source: a.example\n", "source: "},
        {"# mechanism: m\n# museum: AMB-01\n# source: https://\n", "source: "},
        {"# seeds: many\n", "seeds"},
        {"# seeds: 0\n", "seeds"},
        {"# also: only_a_scenario\n", "also"},
        {"# mechanism: m\n# test: t/t\n# also: s o\n", "not both"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text_pool texts = {0};
        struct mutant mutant = {.path = "some.patch"};
        struct mutant_alsos alsos;
        char message[MUTANT_MESSAGE_SIZE] = {0};
        assert_int_equal(
            mutant_parse(&texts, bytes_of_text(cases[i].patch), &mutant, &alsos, message),
            ERR_INVALID);
        assert_non_null(strstr(message, cases[i].named));
        assert_non_null(strstr(message, "some.patch"));
        text_pool_fini(&texts);
    }
}

TEST_MAIN(mutants,
          TEST(a_header_is_read),
          TEST(a_unit_test_takes_the_place_of_scenario_and_oracle),
          TEST(a_header_says_which_public_bug_it_retells),
          TEST(what_a_header_lacks_is_named))
