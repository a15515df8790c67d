/* Which mutants count for a claim.
 * link: product
 */
#include "scenarios/cli/mutants/mutant_records.h"

#include "sinks/base/test.h"

#include <stdio.h>
#include <unistd.h>

static const struct oracle_type first = {.name = "exactly-once-write"};
static const struct oracle_type second = {.name = "liveness"};

static const struct claim claim = {
    .oracles = {&first, &second},
    .oracle_count = 2,
    .scenario = "s/main",
    .small = "s/small",
    .small_2x = "",
};

static uint32_t killed_of(const struct mutant_records *records)
{
    struct text_pool texts = {0};
    uint32_t count = 0;
    const char *const *names = mutant_records_killed(records, &claim, &texts, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_non_null(names[i]);
    }
    text_pool_fini(&texts);
    return count;
}

static void a_claim_is_credited_with_kills_by_its_oracles_on_its_scenarios(void **state)
{
    (void)state;
    static const char *const mine[] = {"contract", "liveness"};
    static const char *const other[] = {"contract"};
    static const char *const test[] = {"test"};
    const struct {
        struct report_mutant record;
        uint32_t counts;
    } cases[] = {
        {{.name = "m",
          .scenario = "s/main",
          .killed = true,
          .killed_by = mine,
          .killed_by_count = 2},
         1},
        {{.name = "m",
          .scenario = "s/small",
          .killed = true,
          .killed_by = mine,
          .killed_by_count = 2},
         1},
        {{.name = "m",
          .scenario = "s/mainly",
          .killed = true,
          .killed_by = mine,
          .killed_by_count = 2},
         0},
        {{.name = "m",
          .scenario = "s/main",
          .killed = true,
          .killed_by = other,
          .killed_by_count = 1},
         0},
        /* Seen by an oracle of the claim, but alive: not by the one that was named. */
        {{.name = "m",
          .scenario = "s/main",
          .killed = false,
          .killed_by = mine,
          .killed_by_count = 2},
         0},
        {{.name = "m", .scenario = "", .killed = true, .killed_by = test, .killed_by_count = 1}, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct mutant_records one = {.items = &cases[i].record, .count = 1};
        assert_int_equal(killed_of(&one), cases[i].counts);
    }
    const struct report_mutant pair[] = {
        {.name = "a",
         .scenario = "s/main",
         .killed = true,
         .killed_by = mine,
         .killed_by_count = 2},
        {.name = "a",
         .scenario = "s/small",
         .killed = true,
         .killed_by = mine,
         .killed_by_count = 2},
        {.name = "b",
         .scenario = "s/small",
         .killed = true,
         .killed_by = mine,
         .killed_by_count = 2},
    };
    const struct mutant_records tried_twice = {.items = pair, .count = ARRAY_COUNT(pair)};
    assert_int_equal(killed_of(&tried_twice), 2);
    const struct mutant_records none = {0};
    assert_int_equal(killed_of(&none), 0);
}

static enum status read_text(struct text_pool *texts, const char *text, struct mutant_records *into)
{
    char path[] = "/tmp/sinkproof-records-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    const enum status status = mutant_records_read(texts, path, into);
    (void)remove(path);
    return status;
}

static void a_file_of_mutants_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct mutant_records records;
    static const char good[] =
        "{\"schema\": 1, \"mutants\": [{\"name\": \"m\", \"target\": \"t\", \"scenario\": "
        "\"s/main\","
        " \"mechanism\": \"x\", \"oracle\": \"liveness\", \"killed\": true,"
        " \"killed_by\": [\"liveness\"], \"runs_to_kill\": 4, \"deviations\": 1}]}";
    assert_int_equal(read_text(&texts, good, &records), STATUS_OK);
    assert_int_equal(records.count, 1);
    assert_string_equal(records.items[0].name, "m");
    assert_int_equal(killed_of(&records), 1);
    assert_int_equal(read_text(&texts, "{\"schema\": 1, \"mutants\": [{}]}", &records),
                     STATUS_USAGE);
    assert_int_equal(read_text(&texts, "{\"schema\": 1, \"claims\": []}", &records), STATUS_USAGE);
    assert_int_equal(read_text(&texts, "", &records), STATUS_USAGE);
    text_pool_fini(&texts);
}

TEST_MAIN(mutant_records,
          TEST(a_claim_is_credited_with_kills_by_its_oracles_on_its_scenarios),
          TEST(a_file_of_mutants_is_read_whole_or_not_at_all))
