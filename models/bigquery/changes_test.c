/* Rows that change others by their primary key.
 *
 * link: models/bigquery/jobs models/bigquery/load models/bigquery/copy models/bigquery/writes
 * link: models/bigquery/others models/bigquery/contents models/bigquery/avro models/storage/storage
 * link: sinks/port/storage
 * link: models/bigquery/bigquery models/bigquery/appends models/bigquery/rows models/bigquery/streams
 * link: models/bigquery/tables models/bigquery/columns models/bigquery/metadata models/bigquery/changes
 * link: models/bigquery/statements
 * link: models/model_testkit sinks/port/bigquery sinks/port/port
 * link: sinks/port/decode sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/bigquery/state.h"
#include "models/model_testkit.h"
#include "sinks/base/test.h"
#include "sinks/port/bigquery.h"

#include <string.h>

#define DEFAULT "projects/p/datasets/d/tables/t/streams/_default"
#define KEY     "projects/p/datasets/d/tables/t/k"

#define FIELD_ID       1u
#define FIELD_PAYLOAD  2u
#define FIELD_TYPE     1001u
#define FIELD_SEQUENCE 1002u

static struct testkit *start(nanos retention)
{
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "primary_key", 1);
    testkit_option(kit, "delete_retention", retention);
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    return kit;
}

static void put(struct byte_writer *writer, uint32_t number, const char *text)
{
    byte_writer_varint(writer, number << 3 | 2);
    byte_writer_varint(writer, strlen(text));
    byte_writer_text(writer, text);
}

/* Append one row of the key "k"; a text that is NULL is left out. */
static enum port_code
append(struct testkit *kit, const char *value, const char *type, const char *sequence)
{
    static const struct bigquery_field_descriptor fields[] = {
        {{(const uint8_t *)"id", 2}, FIELD_ID, BIGQUERY_TYPE_STRING},
        {{(const uint8_t *)"payload", 7}, FIELD_PAYLOAD, BIGQUERY_TYPE_BYTES},
        {{(const uint8_t *)"_CHANGE_TYPE", 12}, FIELD_TYPE, BIGQUERY_TYPE_STRING},
        {{(const uint8_t *)"_CHANGE_SEQUENCE_NUMBER", 23}, FIELD_SEQUENCE, BIGQUERY_TYPE_STRING},
    };
    const void *items[] = {&fields[0], &fields[1], &fields[2], &fields[3]};
    const struct bigquery_descriptor descriptor = {.field = {items, ARRAY_COUNT(items)}};
    const struct bigquery_proto_schema schema = {&descriptor};
    uint8_t bytes[256];
    struct byte_writer writer;
    byte_writer_init(&writer, bytes, sizeof(bytes));
    put(&writer, FIELD_ID, "k");
    put(&writer, FIELD_PAYLOAD, value);
    if (type != NULL) {
        put(&writer, FIELD_TYPE, type);
    }
    if (sequence != NULL) {
        put(&writer, FIELD_SEQUENCE, sequence);
    }
    const struct bigquery_row row = {byte_writer_view(&writer)};
    const void *rows[] = {&row};
    const struct bigquery_proto_rows list = {{rows, 1}};
    const struct bigquery_proto_data data = {&schema, &list};
    const struct bigquery_append_rows_request request = {.write_stream = BYTES_LITERAL(DEFAULT),
                                                         .proto_rows = &data};
    return testkit_stream(kit, 1, PORT_STREAM_SEND, &bigquery_append_rows_method, &request);
}

static uint32_t count(const struct testkit *kit, enum journal_kind kind)
{
    return testkit_count(kit, kind, TESTKIT_ANY_CODE);
}

/* Goal: what a change is. Method: the row of a key is made, replaced, removed and made again; what else
 * there may be in the field. */
static void bqc_01_a_row_changes_the_row_of_its_key(void **state)
{
    (void)state;
    struct testkit *kit = start(DAYS(2));
    assert_int_equal(append(kit, "a", "UPSERT", NULL), PORT_OK);
    assert_int_equal(count(kit, WORLD_CREATED), 1);
    const struct journal_entry *made = testkit_last(kit, WORLD_CREATED);
    assert_bytes_equal(world_resource_name(kit->world, made->resource), BYTES_LITERAL(KEY));
    assert_int_equal(append(kit, "b", "UPSERT", NULL), PORT_OK);
    assert_int_equal(count(kit, WORLD_REPLACED), 1);
    assert_int_equal(append(kit, "b", "DELETE", NULL), PORT_OK);
    assert_int_equal(count(kit, WORLD_REMOVED), 1);
    assert_int_equal(append(kit, "b", "DELETE", NULL), PORT_OK);
    assert_int_equal(count(kit, WORLD_REMOVED), 1);
    assert_int_equal(append(kit, "c", "UPSERT", NULL), PORT_OK);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->generation, 2);
    assert_int_equal(append(kit, "d", "INSERT", NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(append(kit, "d", NULL, NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(count(kit, WORLD_REPLACED), 1);
    testkit_close(kit);
}

/* Goal: a table without a primary key has no such field. */
static void bqc_01_changes_need_a_primary_key(void **state)
{
    (void)state;
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(append(kit, "a", "UPSERT", NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(kit->status.causes[0].reason, BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
    testkit_close(kit);
}

/* Goal: the larger number counts, whatever comes first, and of equal ones the later change. */
static void bqc_02_the_larger_number_counts(void **state)
{
    (void)state;
    struct testkit *kit = start(DAYS(2));
    assert_int_equal(append(kit, "b", "UPSERT", "2"), PORT_OK);
    assert_int_equal(append(kit, "a", "UPSERT", "1"), PORT_OK);
    assert_int_equal(append(kit, "a", "DELETE", "1"), PORT_OK);
    assert_int_equal(count(kit, WORLD_REPLACED), 0);
    assert_int_equal(count(kit, WORLD_REMOVED), 0);
    assert_int_equal(append(kit, "c", "UPSERT", "2"), PORT_OK);
    assert_int_equal(count(kit, WORLD_REPLACED), 1);
    testkit_close(kit);
}

/* Goal: without numbers the last one counts, and with one on one side only, too. */
static void bqc_03_without_numbers_the_last_counts(void **state)
{
    (void)state;
    struct testkit *kit = start(DAYS(2));
    assert_int_equal(append(kit, "b", "UPSERT", NULL), PORT_OK);
    assert_int_equal(append(kit, "a", "UPSERT", NULL), PORT_OK);
    assert_int_equal(append(kit, "c", "UPSERT", "5"), PORT_OK);
    assert_int_equal(append(kit, "d", "UPSERT", NULL), PORT_OK);
    assert_int_equal(count(kit, WORLD_REPLACED), 3);
    testkit_close(kit);
}

/* Goal: a deletion is known for its time. Method: an older change on either side of the instant. */
static void bqc_04_a_deletion_is_forgotten(void **state)
{
    (void)state;
    struct testkit *kit = start(DAYS(2));
    assert_int_equal(append(kit, "a", "UPSERT", "1"), PORT_OK);
    assert_int_equal(append(kit, "a", "DELETE", "2"), PORT_OK);
    testkit_run_for(kit, DAYS(2) - 1);
    assert_int_equal(append(kit, "a", "UPSERT", "1"), PORT_OK);
    assert_int_equal(count(kit, WORLD_CREATED), 1);
    testkit_run_for(kit, 1);
    assert_int_equal(append(kit, "a", "UPSERT", "1"), PORT_OK);
    assert_int_equal(count(kit, WORLD_CREATED), 2);
    testkit_close(kit);
}

/* Goal: numbers are numbers, section by section. Method: pairs of which the second is larger, and what is
 * none at all. */
static void bqc_05_numbers_have_sections(void **state)
{
    static const char *const pairs[][2] = {
        {"9", "10"},
        {"9", "A"},
        {"FF", "100"},
        {"1/9", "1/10"},
        {"1/FF", "2/0"},
        {"0/0/0/9", "0/0/0/a"},
    };
    static const char *const none[] = {
        "",
        "/",
        "1/",
        "/1",
        "1//2",
        "G",
        "1/2/3/4/5",
        "12345678901234567",
        "1 2",
        "-1",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        struct testkit *kit = start(DAYS(2));
        assert_int_equal(append(kit, "b", "UPSERT", pairs[i][1]), PORT_OK);
        assert_int_equal(append(kit, "a", "UPSERT", pairs[i][0]), PORT_OK);
        assert_int_equal(count(kit, WORLD_REPLACED), 0);
        testkit_close(kit);
    }
    struct testkit *kit = start(DAYS(2));
    for (size_t i = 0; i < ARRAY_COUNT(none); i++) {
        assert_int_equal(append(kit, "a", "UPSERT", none[i]), PORT_INVALID_ARGUMENT);
    }
    assert_int_equal(append(kit, "a", "UPSERT", "FFFFFFFFFFFFFFFF/0/0/1"), PORT_OK);
    testkit_close(kit);
}

TEST_MAIN(bigquery_changes,
          TEST(bqc_01_a_row_changes_the_row_of_its_key),
          TEST(bqc_01_changes_need_a_primary_key),
          TEST(bqc_02_the_larger_number_counts),
          TEST(bqc_03_without_numbers_the_last_counts),
          TEST(bqc_04_a_deletion_is_forgotten),
          TEST(bqc_05_numbers_have_sections))
