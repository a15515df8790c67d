/* Records: generated ones are what the options say and nothing else, the user's own come through as
 * they stand in the file, and a bad line is named.
 *
 * link: scenarios/workload scenarios/workload_file scenarios/record_index scenarios/scenario_memory
 * link: scenarios/scenario_value sinks/base/bytes sinks/base/digest
 */
#include "scenarios/workload.h"

#include "scenarios/record_index.h"
#include "scenarios/scenario_reader.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

/* One log with all that it borrows. */
struct made {
    struct scenario_store store;
    struct scenario_fault fault;
    struct source_log log;
};

static const struct workload_options plain = {
    .record_count = 16,
    .split_count = 2,
    .keys = WORKLOAD_KEYS_UNIQUE,
    .key_count = 4,
    .key_skew = {0, 1},
    .payload_size = 32,
    .poison_serializer = {0, 1},
    .poison_service = {0, 1},
    .poison_extractor = {0, 1},
    .poison_again = {0, 1},
    .skipped = {0, 1},
    .seed = 1,
    .interval = MS(300),
};

static void generate(struct made *made, const struct workload_options *options)
{
    *made = (struct made){0};
    struct reader reader = {.name = "test", .fault = &made->fault, .memory = &made->store};
    assert_int_equal(workload_generate(&reader, options, &made->log), ERR_OK);
}

static enum err read_lines(struct made *made, const char *lines)
{
    *made = (struct made){0};
    struct reader reader = {.name = "test", .fault = &made->fault, .memory = &made->store};
    return workload_read(&reader, "records.jsonl", bytes_of_text(lines), &plain, &made->log);
}

static void give_back(struct made *made)
{
    scenario_give_all(&made->store);
}

static uint32_t count_trait(const struct source_log *log, uint8_t trait)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < log->record_count; i++) {
        count += (log->records[i].traits & trait) != 0 ? 1 : 0;
    }
    return count;
}

/* --- generated ----------------------------------------------------------------------------------- */

/* Goal: ids, splits and positions are consistent, for every count of records and splits. */
static void records_of_a_split_are_contiguous(void **state)
{
    (void)state;
    for (uint32_t count = 1; count < 40; count++) {
        for (uint32_t splits = 1; splits <= 7; splits++) {
            struct workload_options options = plain;
            options.record_count = count;
            options.split_count = splits;
            struct made made;
            generate(&made, &options);
            assert_int_equal(made.log.split_starts[0], 0);
            assert_int_equal(made.log.split_starts[splits], count);
            for (uint32_t split = 0; split < splits; split++) {
                const uint32_t start = made.log.split_starts[split];
                for (uint32_t i = start; i < made.log.split_starts[split + 1]; i++) {
                    assert_int_equal(made.log.records[i].record.split, split);
                    assert_int_equal(made.log.records[i].record.position, i - start);
                }
            }
            give_back(&made);
        }
    }
}

/* Goal: values begin with the record id and are all different; digests are theirs. */
static void value_begins_with_the_record_id(void **state)
{
    (void)state;
    struct made made;
    generate(&made, &plain);
    for (uint32_t i = 0; i < 16; i++) {
        const struct source_record *record = &made.log.records[i];
        char id[WORKLOAD_ID_SIZE + 1];
        (void)snprintf(id, sizeof(id), "r%08x ", i + 1);
        assert_int_equal(record->record.value.size, 32);
        assert_memory_equal(record->record.value.data, id, WORKLOAD_ID_SIZE);
        assert_true(record->digest == digest_bytes(record->record.value));
        assert_true(bytes_is_utf8(record->record.value));
        for (uint32_t k = 0; k < i; k++) {
            assert_true(made.log.records[k].digest != record->digest);
            assert_false(bytes_equal(made.log.records[k].record.key, record->record.key));
        }
    }
    assert_false(made.log.equal_payloads);
    give_back(&made);
}

/* Goal: the same options give the same records, another seed others. */
static void records_depend_on_the_seed_alone(void **state)
{
    (void)state;
    struct made first;
    struct made second;
    struct made other;
    generate(&first, &plain);
    generate(&second, &plain);
    struct workload_options options = plain;
    options.seed = 2;
    generate(&other, &options);
    for (uint32_t i = 0; i < 16; i++) {
        assert_true(first.log.records[i].digest == second.log.records[i].digest);
        assert_true(first.log.records[i].digest != other.log.records[i].digest);
    }
    /* Fixed once and for all: scenarios and tapes rely on it. */
    uint64_t digest = 0;
    for (uint32_t i = 0; i < 16; i++) {
        digest = digest_fold(digest, first.log.records[i].digest);
    }
    assert_true(digest == UINT64_C(0xf763ac592262324e));
    give_back(&first);
    give_back(&second);
    give_back(&other);
}

/* Goal: equal payloads are equal, and the judge is told. */
static void equal_payloads_are_equal(void **state)
{
    (void)state;
    struct workload_options options = plain;
    options.equal_payloads = true;
    struct made made;
    generate(&made, &options);
    for (uint32_t i = 1; i < 16; i++) {
        assert_bytes_equal(made.log.records[i].record.value, made.log.records[0].record.value);
    }
    assert_true(made.log.equal_payloads);
    give_back(&made);
}

/* Goal: a share is met exactly, to one record, and a record has one trait at most. */
static void shares_are_met_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct workload_options options = plain;
        options.record_count = 240;
        options.seed = seed;
        options.poison_serializer = (struct ratio){1, 8};
        struct made made;
        generate(&made, &options);
        assert_int_equal(count_trait(&made.log, RECORD_POISON_SERIALIZER), 30);
        give_back(&made);
        options.poison_serializer = (struct ratio){0, 1};
        options.skipped = (struct ratio){1, 1};
        generate(&made, &options);
        assert_int_equal(count_trait(&made.log, RECORD_SKIPPED), 240);
        give_back(&made);
        options.skipped = (struct ratio){1, 3};
        options.poison_service = (struct ratio){1, 2};
        options.poison_extractor = (struct ratio){1, 2};
        generate(&made, &options);
        for (uint32_t i = 0; i < 240; i++) {
            const uint8_t traits = made.log.records[i].traits;
            assert_int_equal(traits & (traits - 1), 0);
        }
        assert_int_equal(count_trait(&made.log, RECORD_POISON_SERVICE), 120);
        give_back(&made);
    }
}

/* Goal: a tenth of the records is the one before it, byte for byte, and its own split's. */
static void repeats_are_the_record_before_them(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct workload_options options = plain;
        options.record_count = 400;
        options.seed = seed;
        options.repeats = (struct ratio){1, 10};
        struct made made;
        generate(&made, &options);
        uint32_t repeats = 0;
        for (uint32_t i = 1; i < 400; i++) {
            const struct source_record *before = &made.log.records[i - 1];
            const struct source_record *record = &made.log.records[i];
            const bool is_repeat = record->digest == before->digest;
            assert_int_equal(record->digest, digest_bytes(record->record.value));
            assert_int_equal(bytes_equal(record->record.key, before->record.key), is_repeat);
            assert_true(!is_repeat || i != made.log.split_starts[1]);
            repeats += is_repeat ? 1 : 0;
        }
        assert_in_range(repeats, 38, 40);
        assert_true(made.log.equal_payloads);
        give_back(&made);
    }
}

/* Goal: shared keys are as many as asked for, and the skew favours the first one. */
static void shared_keys_follow_count_and_skew(void **state)
{
    (void)state;
    struct workload_options options = plain;
    options.record_count = 400;
    options.keys = WORKLOAD_KEYS_SHARED;
    struct made made;
    uint32_t first[2] = {0, 0};
    for (uint32_t round = 0; round < 2; round++) {
        options.key_skew = (struct ratio){round == 0 ? 0 : 3, 4};
        generate(&made, &options);
        for (uint32_t i = 0; i < 400; i++) {
            const struct bytes key = made.log.records[i].record.key;
            assert_int_equal(key.size, 9);
            assert_true(key.data[8] >= '1' && key.data[8] <= '4');
            first[round] += key.data[8] == '1' ? 1 : 0;
        }
        give_back(&made);
    }
    assert_int_equal(first[0], 100);
    assert_in_range(first[1], 280, 360);
    options.keys = WORKLOAD_KEYS_NONE;
    generate(&made, &options);
    assert_int_equal(made.log.records[7].record.key.size, 0);
    give_back(&made);
}

/* Goal: a key is inserted before it is changed; with inserts, nothing is changed. */
static void change_follows_an_insert_of_its_key(void **state)
{
    (void)state;
    struct workload_options options = plain;
    options.record_count = 200;
    options.keys = WORKLOAD_KEYS_SHARED;
    for (uint8_t changes = WORKLOAD_INSERTS; changes <= WORKLOAD_UPSERTS; changes++) {
        options.changes = changes;
        struct made made;
        generate(&made, &options);
        uint32_t seen[4] = {0, 0, 0, 0};
        for (uint32_t i = 0; i < 200; i++) {
            seen[made.log.records[i].record.change]++;
            assert_true(i >= 4 || made.log.records[i].record.change == SINK_INSERT);
        }
        assert_int_equal(seen[SINK_INSERT], changes == WORKLOAD_INSERTS ? 200 : 4);
        assert_int_equal(seen[SINK_UPDATE_AFTER] == 196, changes == WORKLOAD_UPDATES);
        assert_int_equal(seen[SINK_DELETE] > 0, changes >= WORKLOAD_RETRACTIONS);
        give_back(&made);
    }
}

/* --- the user's own ------------------------------------------------------------------------------ */

/* Goal: lines come through in order of splits; blank lines and endings do not matter. */
static void lines_become_records(void **state)
{
    (void)state;
    struct made made;
    assert_int_equal(read_lines(&made,
                                "{\"value\":\"b\",\"split\":1,\"key\":\"k\",\"change\":\"-D\"}\r\n"
                                "\n"
                                "{\"value\":\"a\",\"time_ms\":7}\n"
                                "{\"value\":\"c\\u00e9\",\"split\":1}"),
                     ERR_OK);
    assert_int_equal(made.log.record_count, 3);
    assert_int_equal(made.log.split_count, 2);
    assert_int_equal(made.log.split_starts[1], 1);
    assert_bytes_equal(made.log.records[0].record.value, BYTES_LITERAL("a"));
    assert_int_equal(made.log.records[0].record.event_time, MS(7));
    assert_bytes_equal(made.log.records[1].record.value, BYTES_LITERAL("b"));
    assert_bytes_equal(made.log.records[1].record.key, BYTES_LITERAL("k"));
    assert_int_equal(made.log.records[1].record.change, SINK_DELETE);
    assert_int_equal(made.log.records[1].record.position, 0);
    assert_bytes_equal(made.log.records[2].record.value, BYTES_LITERAL("c\xc3\xa9"));
    assert_int_equal(made.log.records[2].record.position, 1);
    assert_false(made.log.equal_payloads);
    give_back(&made);
}

/* Goal: values that come twice are noticed. */
static void repeated_value_is_noticed(void **state)
{
    (void)state;
    struct made made;
    assert_int_equal(read_lines(&made, "{\"value\":\"a\"}\n{\"value\":\"a\",\"split\":1}\n"),
                     ERR_OK);
    assert_true(made.log.equal_payloads);
    give_back(&made);
}

/* Goal: a bad line is named with its number, in one line. */
static void bad_line_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *lines;
        const char *message;
    } cases[] = {
        {"", "records.jsonl: no record or too many; allowed: 1 to 1000000 records, 256 MiB"},
        {"\n\n", "records.jsonl: no record or too many; allowed: 1 to 1000000 records, 256 MiB"},
        {"{\"value\":\"a\"}\n{\"valu\":\"b\"}",
         "records.jsonl: line 2: valu: unknown key; allowed: key, value, split, change, time_ms"},
        {"\n{\"key\":\"a\"}",
         "records.jsonl: line 2: value: missing; allowed: the record's value as a text"},
        {"{\"value\":7}", "records.jsonl: line 1: value: 7; allowed: a text of 0 to 4194304 bytes"},
        {"{\"value\":\"a\",\"split\":2}",
         "records.jsonl: line 1: split: 2; allowed: 0 to 1 (workload.splits)"},
        {"{\"value\":\"a\",\"split\":-1}",
         "records.jsonl: line 1: split: -1; allowed: a whole number from 0 to 63"},
        {"{\"value\":\"a\",\"change\":\"+X\"}",
         "records.jsonl: line 1: change: \"+X\"; allowed: +I, -U, +U, -D"},
        {"{\"value\":\"a\"}\n[1]", "records.jsonl: line 2: a list of 1; allowed: one JSON object"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct made made;
        assert_int_equal(read_lines(&made, cases[i].lines), ERR_INVALID);
        assert_string_equal(made.fault.message, cases[i].message);
        give_back(&made);
    }
    struct made made;
    assert_int_equal(read_lines(&made, "{\"value\":\"a\"}\n\n{\"value\":"), ERR_TRUNCATED);
    assert_non_null(strstr(made.fault.message, "records.jsonl: line 3, column 9: "));
    give_back(&made);
    assert_int_equal(read_lines(&made, "{\"value\":\"a\",\"value\":\"b\"}"), ERR_INVALID);
    assert_non_null(strstr(made.fault.message, "duplicate object key"));
    give_back(&made);
}

/* --- the index ----------------------------------------------------------------------------------- */

/* Goal: whatever was found before, and wherever it leads to guess, each digest gives its record. */
static void guesses_change_no_answer(void **state)
{
    (void)state;
    struct made made = {0};
    struct reader reader = {.name = "test", .fault = &made.fault, .memory = &made.store};
    struct record_index index = {0};
    assert_int_equal(record_index_init(&reader, 50, &index), ERR_OK);
    for (uint32_t i = 0; i < 50; i++) {
        assert_true(record_index_add(&index, digest_mix(i + 1), i + 1));
    }
    struct world_guesses guesses = {.at = {UINT32_MAX, 49, 50, 51}, .oldest = 3};
    for (uint32_t step = 1; step < 50; step++) {
        for (uint32_t i = 0; i < 60; i++) {
            const uint32_t wanted = i * step % 60;
            assert_int_equal(record_index_find(&index, digest_mix(wanted + 1), &guesses),
                             wanted < 50 ? wanted + 1 : 0);
        }
    }
    give_back(&made);
}

/* Goal: digests that meet in one slot are kept apart, the first of equal ones stays, and an unknown
 * one is nobody's. */
static void index_finds_what_was_added(void **state)
{
    (void)state;
    struct made made = {0};
    struct reader reader = {.name = "test", .fault = &made.fault, .memory = &made.store};
    struct record_index index = {0};
    struct world_guesses guesses = {0};
    assert_int_equal(record_index_init(&reader, 6, &index), ERR_OK);
    static const uint64_t digests[] = {0, 1u << 4, 2u << 4, 3u << 4, UINT64_MAX, 15};
    for (uint32_t i = 0; i < ARRAY_COUNT(digests); i++) {
        assert_int_equal(record_index_find(&index, digests[i], &guesses), 0);
        assert_true(record_index_add(&index, digests[i], i + 1));
        assert_false(record_index_add(&index, digests[i], 99));
    }
    for (uint32_t i = 0; i < ARRAY_COUNT(digests); i++) {
        assert_int_equal(record_index_find(&index, digests[i], &guesses), i + 1);
    }
    assert_int_equal(record_index_find(&index, 4u << 4, &guesses), 0);
    give_back(&made);
}

TEST_MAIN(workload,
          TEST(records_of_a_split_are_contiguous),
          TEST(value_begins_with_the_record_id),
          TEST(records_depend_on_the_seed_alone),
          TEST(equal_payloads_are_equal),
          TEST(shares_are_met_exactly),
          TEST(repeats_are_the_record_before_them),
          TEST(shared_keys_follow_count_and_skew),
          TEST(change_follows_an_insert_of_its_key),
          TEST(lines_become_records),
          TEST(repeated_value_is_noticed),
          TEST(bad_line_is_named),
          TEST(index_finds_what_was_added),
          TEST(guesses_change_no_answer))
