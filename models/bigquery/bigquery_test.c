/* BigQuery's write API, clause by clause.
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
#include "sinks/port/bigquery.h"

#include "models/bigquery/state.h"
#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#define TABLE      "projects/p/datasets/d/tables/t"
#define DEFAULT    TABLE "/streams/_default"
#define NO_OFFSET  INT64_C(-1)
#define CONNECTION 1u

static struct testkit *start(void)
{
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_init(kit);
    return kit;
}

static struct testkit *start_with(enum profile profile, const char *key, uint64_t number)
{
    struct testkit *kit = testkit_open(&bigquery_model, profile);
    testkit_option(kit, key, number);
    testkit_init(kit);
    return kit;
}

/* A row with one column: an id of one byte. */
struct row {
    uint8_t bytes[3];
};

static struct row row_of(char id)
{
    return (struct row){{1 << 3 | 2, 1, (uint8_t)id}};
}

#define ROWS_MAX 8u

/* What rows are written as. */
static const struct bigquery_field_descriptor id_field = {
    {(const uint8_t *)"id", 2}, 1, BIGQUERY_TYPE_STRING};
static const struct bigquery_field_descriptor payload_field = {
    {(const uint8_t *)"payload", 7}, 2, BIGQUERY_TYPE_BYTES};
static const void *const schema_fields[] = {&id_field, &payload_field};
static const struct bigquery_descriptor schema_descriptor = {.field = {schema_fields, 2}};
static const struct bigquery_proto_schema schema_of_rows = {.proto_descriptor = &schema_descriptor};

/* Append a row for each letter; '!' is a row that is none. */
static enum port_code append_on(struct testkit *kit,
                                uint64_t connection,
                                enum port_envelope_kind kind,
                                const char *stream,
                                int64_t offset,
                                const char *ids)
{
    struct row values[ROWS_MAX];
    struct bigquery_row rows[ROWS_MAX];
    const void *items[ROWS_MAX];
    uint32_t count = 0;
    for (; ids[count] != 0; count++) {
        assert_true(count < ROWS_MAX);
        values[count] = row_of(ids[count] == '!' ? (char)0xff : ids[count]);
        rows[count].serialized = (struct bytes){values[count].bytes, sizeof(values[count].bytes)};
        items[count] = &rows[count];
    }
    const struct bigquery_proto_rows list = {.serialized_rows = {items, count}};
    const struct bigquery_proto_data data = {.writer_schema = &schema_of_rows, .rows = &list};
    const struct bigquery_int64 at = {offset};
    const struct bigquery_append_rows_request request = {
        .write_stream = bytes_of_text(stream),
        .offset = offset == NO_OFFSET ? NULL : &at,
        .proto_rows = &data,
    };
    return testkit_stream(kit, connection, kind, &bigquery_append_rows_method, &request);
}

static enum port_code
append(struct testkit *kit, const char *stream, int64_t offset, const char *ids)
{
    return append_on(kit, CONNECTION, PORT_STREAM_SEND, stream, offset, ids);
}

static uint32_t reason(const struct testkit *kit)
{
    return kit->status.count == 0 ? 0 : kit->status.causes[0].reason;
}

static int64_t offset_answered(const struct testkit *kit)
{
    const struct bigquery_append_rows_response *response = kit->payload;
    assert_non_null(response->append_result);
    return response->append_result->offset == NULL ? NO_OFFSET
                                                   : response->append_result->offset->value;
}

static enum port_code create(struct testkit *kit, const char *table, enum bigquery_stream_type type)
{
    const struct bigquery_write_stream stream = {.type = (uint32_t)type};
    const struct bigquery_create_write_stream_request request = {.parent = bytes_of_text(table),
                                                                 .write_stream = &stream};
    return testkit_call(kit, &bigquery_create_write_stream_method, &request);
}

static enum port_code flush(struct testkit *kit, const char *stream, int64_t offset)
{
    const struct bigquery_int64 at = {offset};
    const struct bigquery_flush_rows_request request = {.write_stream = bytes_of_text(stream),
                                                        .offset = offset == NO_OFFSET ? NULL : &at};
    return testkit_call(kit, &bigquery_flush_rows_method, &request);
}

static int64_t flushed(const struct testkit *kit)
{
    const struct bigquery_flush_rows_response *response = kit->payload;
    return response->offset;
}

static enum port_code finalize(struct testkit *kit, const char *stream)
{
    const struct bigquery_finalize_write_stream_request request = {.name = bytes_of_text(stream)};
    return testkit_call(kit, &bigquery_finalize_write_stream_method, &request);
}

static enum port_code insert(struct testkit *kit, const char *table)
{
    const struct bigquery_table_reference reference = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), bytes_of_text(table)};
    const struct bigquery_table_field_schema id = {
        BYTES_LITERAL("id"), BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
    const struct bigquery_table_field_schema payload = {
        BYTES_LITERAL("payload"), BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE};
    const void *fields[] = {&id, &payload};
    const struct bigquery_table_schema schema = {.fields = {fields, 2}};
    const struct bigquery_table made = {.table_reference = &reference, .schema = &schema};
    const struct bigquery_insert_table_request request = {
        .project_id = BYTES_LITERAL("p"), .dataset_id = BYTES_LITERAL("d"), .table = &made};
    return testkit_call(kit, &bigquery_insert_table_method, &request);
}

/* Rows: a stream is made without content. */
static uint32_t visible(const struct testkit *kit)
{
    const struct journal *journal = kit->world->journal;
    uint32_t count = 0;
    for (uint32_t at = 0; at < journal->count; at++) {
        const struct journal_entry *entry = journal_at(journal, at);
        const bool is_row =
            entry->kind == WORLD_CREATED &&
            bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL(TABLE));
        count += is_row ? 1 : 0;
    }
    return count;
}

#define S1 TABLE "/streams/s1"
#define S2 TABLE "/streams/s2"

/* A model with one BUFFERED stream, S1. */
static struct testkit *start_buffered(void)
{
    struct testkit *kit = start();
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    return kit;
}

/* Goal: the type of a stream fixes when its rows can be read. Method: one of each. */
static void bqw_01_the_type_fixes_when_rows_are_readable(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(create(kit, TABLE, BIGQUERY_COMMITTED), PORT_OK);
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
    assert_int_equal(visible(kit), 0);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S2, 0, "c"), PORT_OK);
    assert_int_equal(visible(kit), 1);
    const struct row row = row_of('c');
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_true(entry->value == digest_bytes((struct bytes){row.bytes, sizeof(row.bytes)}));
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL(TABLE));
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    assert_int_equal(visible(kit), 2);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->generation, 2);
    testkit_close(kit);
}

/* Goal: the default stream is there for all and has no offsets. Method: both of its names, an offset, a
 * flush, the end of appends. */
static void bqw_02_the_default_stream_has_no_offsets(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "a"), PORT_OK);
    assert_int_equal(offset_answered(kit), NO_OFFSET);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, TABLE "/_default", NO_OFFSET, "b"),
                     PORT_OK);
    assert_int_equal(append_on(kit, 3, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "c"), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "d"), PORT_OK);
    assert_int_equal(visible(kit), 4);
    assert_int_equal(append(kit, DEFAULT, 4, "e"), PORT_INVALID_ARGUMENT);
    assert_int_equal(flush(kit, DEFAULT, 0), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_INVALID_STREAM_TYPE);
    assert_int_equal(finalize(kit, DEFAULT), PORT_INVALID_ARGUMENT);
    assert_int_equal(visible(kit), 4);
    testkit_close(kit);
}

/* Goal: the service names streams, and each call makes one. Method: two calls; other types. */
static void bqw_03_a_stream_is_named_by_the_service(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    const struct bigquery_write_stream *made = kit->payload;
    assert_bytes_equal(made->name, BYTES_LITERAL(S1));
    assert_int_equal(made->type, BIGQUERY_BUFFERED);
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    made = kit->payload;
    assert_bytes_equal(made->name, BYTES_LITERAL(S2));
    assert_int_equal(create(kit, TABLE, BIGQUERY_PENDING), PORT_INVALID_ARGUMENT);
    assert_int_equal(create(kit, TABLE, BIGQUERY_STREAM_TYPE_NONE), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
}

/* Goal: a stream that nobody uses ends, with what was not readable; traffic keeps it. Method: either side
 * of the instant, for both types; each answer of a stream that has ended. */
static void bqw_05_an_idle_stream_ends(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    testkit_run_for(kit, DAYS(7) - 1);
    assert_int_equal(append(kit, S1, 1, "b"), PORT_OK);
    testkit_run_for(kit, DAYS(7) - 1);
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    testkit_run_for(kit, DAYS(7));
    assert_int_equal(append(kit, S1, 2, "c"), PORT_NOT_FOUND);
    assert_int_equal(reason(kit), BIGQUERY_STREAM_NOT_FOUND);
    assert_int_equal(testkit_count(kit, WORLD_EXPIRED, 0), 1);
    assert_int_equal(flush(kit, S1, 1), PORT_NOT_FOUND);
    assert_int_equal(finalize(kit, S1), PORT_NOT_FOUND);
    assert_int_equal(testkit_count(kit, WORLD_EXPIRED, 0), 1);
    assert_int_equal(visible(kit), 1);
    assert_int_equal(create(kit, TABLE, BIGQUERY_COMMITTED), PORT_OK);
    testkit_run_for(kit, DAYS(3));
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S2, 0, "a"), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: a look at a stream tells nothing of its rows. Method: look. */
static void bqw_07_a_look_tells_the_type_only(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    const struct bigquery_get_write_stream_request request = {.name = BYTES_LITERAL(S1)};
    assert_int_equal(testkit_call(kit, &bigquery_get_write_stream_method, &request), PORT_OK);
    const struct bigquery_write_stream *seen = kit->payload;
    assert_bytes_equal(seen->name, BYTES_LITERAL(S1));
    assert_int_equal(seen->type, BIGQUERY_BUFFERED);
    const struct bigquery_get_write_stream_request unknown = {.name = BYTES_LITERAL(S2)};
    assert_int_equal(testkit_call(kit, &bigquery_get_write_stream_method, &unknown),
                     PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: streams of a table do not know each other. Method: equal offsets in two. */
static void bqw_08_streams_are_written_side_by_side(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S1, 0, "a"), PORT_OK);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S2, 0, "b"), PORT_OK);
    assert_int_equal(flush(kit, S2, 0), PORT_OK);
    assert_int_equal(visible(kit), 1);
    testkit_close(kit);
}

/* Goal: a connection knows its stream from its first request on, and stays with it. Method: later ones
 * without a name, and with another's. */
static void bqw_10_a_connection_stays_with_its_stream(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S1, 0, "a"), PORT_OK);
    assert_int_equal(append(kit, "", 1, "b"), PORT_OK);
    assert_int_equal(append(kit, S2, 0, "c"), PORT_INVALID_ARGUMENT);
    assert_int_equal(append(kit, S1, 2, "c"), PORT_OK);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, "", 0, "a"), PORT_NOT_FOUND);
    assert_int_equal(append_on(kit, 1, PORT_CANCEL, "", 0, ""), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S2, 0, "c"), PORT_OK);
    testkit_close(kit);
}

/* Goal: rows go to the end of a stream only, and nothing is compared but the offset. Method: offsets
 * below, at and above the end, with the same rows and with others. */
static void bqw_12_an_offset_is_compared_with_the_end(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 1, "a"), PORT_OUT_OF_RANGE);
    assert_int_equal(reason(kit), BIGQUERY_OFFSET_OUT_OF_RANGE);
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
    assert_int_equal(offset_answered(kit), 0);
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_ALREADY_EXISTS);
    assert_int_equal(reason(kit), BIGQUERY_OFFSET_ALREADY_EXISTS);
    assert_int_equal(append(kit, S1, 1, "xyz"), PORT_ALREADY_EXISTS);
    assert_int_equal(append(kit, S1, 3, "d"), PORT_OUT_OF_RANGE);
    assert_int_equal(append(kit, S1, 2, "c"), PORT_OK);
    assert_int_equal(offset_answered(kit), 2);
    assert_int_equal(append(kit, S1, -2, "c"), PORT_INVALID_ARGUMENT);
    assert_int_equal(append(kit, S1, 3, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(flush(kit, S1, 2), PORT_OK);
    assert_int_equal(visible(kit), 3);
    testkit_close(kit);
}

/* Goal: without an offset nothing protects from a second append. Method: the same twice. */
static void bqw_16_without_an_offset_rows_are_there_twice(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, NO_OFFSET, "a"), PORT_OK);
    assert_int_equal(append(kit, S1, NO_OFFSET, "a"), PORT_OK);
    assert_int_equal(offset_answered(kit), 1);
    assert_int_equal(flush(kit, S1, 1), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: one bad row stops its request and no other. Method: bad rows among good ones; all named, and
 * only the first under the profile that allows it. */
static void bqw_17_a_bad_row_stops_its_request(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "a!b!"), PORT_INVALID_ARGUMENT);
    const struct bigquery_append_rows_response *response = kit->payload;
    assert_int_equal(response->row_errors.count, 2);
    const struct bigquery_row_error *second = response->row_errors.items[1];
    assert_int_equal(second->index, 3);
    assert_int_equal(second->code, BIGQUERY_ROW_FIELDS_ERROR);
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
    testkit_close(kit);

    kit = testkit_open(&bigquery_model, PROFILE_ADVERSARY);
    (void)testkit_pin(kit, "bigquery.row_errors", "first");
    testkit_init(kit);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "!b!"),
                     PORT_INVALID_ARGUMENT);
    response = kit->payload;
    assert_int_equal(response->row_errors.count, 1);
    testkit_close(kit);
}

/* Goal: an offset is looked at before the rows, or after them, by reading. Method: a wrong offset and a
 * bad row in one request. */
static void bqw_13_and_17_have_an_order(void **state)
{
    (void)state;
    for (uint32_t rows_first = 0; rows_first < 2; rows_first++) {
        struct testkit *kit = start_with(PROFILE_ADVERSARY, "validation_order", 1 + rows_first);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "!"),
                         rows_first == 1 ? PORT_INVALID_ARGUMENT : PORT_ALREADY_EXISTS);
        assert_int_equal(append(kit, S1, 0, "b"), PORT_ALREADY_EXISTS);
        testkit_close(kit);
    }
}

/* Goal: only rows in wire form of the columns are rows. Method: forms of each kind. */
static void bqw_17_rows_are_looked_at(void **state)
{
    static const struct {
        uint8_t bytes[6];
        uint32_t size;
        bool is_valid;
    } rows[] = {
        {{0}, 0, true},                 /* all columns left out */
        {{0x0a, 2, 'a', 'b'}, 4, true}, /* id */
        {{0x12, 1, 0xff}, 3, true},     /* payload: any bytes */
        {{0x18, 0x80, 0x01}, 3, true},  /* a field of nobody's */
        {{0x19, 1, 2, 3, 4}, 5, false}, /* cut short */
        {{0x1d, 1, 2, 3, 4}, 5, true},
        {{0x0a, 1, 'a', 0x12, 1, 'b'}, 6, true},
        {{0x0a, 1, 0xff}, 3, false}, /* id: not UTF-8 */
        {{0x0a, 3, 'a'}, 3, false},  /* longer than the row */
        {{0x08, 1}, 2, false},       /* id as a number */
        {{0x1b, 1, 'a'}, 3, false},  /* no wire type */
        {{0x18, 0x80}, 2, false},    /* cut short */
        {{0x80}, 1, false},
    };
    (void)state;
    struct testkit *kit = start();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct bigquery_row row = {{rows[i].bytes, rows[i].size}};
        const void *items[] = {&row};
        const struct bigquery_proto_rows list = {.serialized_rows = {items, 1}};
        const struct bigquery_proto_data data = {.writer_schema = &schema_of_rows, .rows = &list};
        const struct bigquery_append_rows_request request = {.write_stream = BYTES_LITERAL(DEFAULT),
                                                             .proto_rows = &data};
        assert_int_equal(
            testkit_stream(kit, 1, PORT_STREAM_SEND, &bigquery_append_rows_method, &request),
            rows[i].is_valid ? PORT_OK : PORT_INVALID_ARGUMENT);
    }
    testkit_close(kit);
}

/* Goal: an error is of one request. Method: go on behind each kind of refusal. */
static void bqw_18_a_connection_goes_on_behind_an_error(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "!"), PORT_INVALID_ARGUMENT);
    assert_false(kit->ended);
    assert_int_equal(append(kit, S1, 5, "a"), PORT_OUT_OF_RANGE);
    assert_false(kit->ended);
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    testkit_close(kit);
}

/* Goal: a request is smaller than the limit. Method: one byte below it and at it. */
static void bqw_19_a_large_request_is_refused(void **state)
{
    (void)state;
    const struct bigquery_row row = {BYTES_LITERAL("\x12\x01.")};
    const void *items[] = {&row};
    const struct bigquery_proto_rows list = {.serialized_rows = {items, 1}};
    const struct bigquery_proto_data data = {.writer_schema = &schema_of_rows, .rows = &list};
    const struct bigquery_append_rows_request request = {.write_stream = BYTES_LITERAL(DEFAULT),
                                                         .proto_rows = &data};
    const size_t size = port_encoded_size(&bigquery_append_rows_request_message, &request);
    for (uint32_t more = 0; more < 2; more++) {
        struct testkit *kit = start_with(PROFILE_DOCUMENTED, "append_bytes_max", size + more);
        assert_int_equal(
            testkit_stream(kit, 1, PORT_STREAM_SEND, &bigquery_append_rows_method, &request),
            more == 0 ? PORT_INVALID_ARGUMENT : PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: of two connections of a stream both go on, or one ends, by reading; a default stream has as many
 * as it likes. Method: append on the older and on the newer. */
static void bqw_22_a_second_connection(void **state)
{
    static const struct {
        enum port_code older;
        enum port_code newer;
    } cases[] = {{PORT_OK, PORT_OK}, {PORT_ABORTED, PORT_OK}, {PORT_OK, PORT_ABORTED}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = start_with(PROFILE_ADVERSARY, "second_connection", 1 + i);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S1, 0, "a"), PORT_OK);
        assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S1, 1, "b"), cases[i].newer);
        assert_int_equal(kit->ended, cases[i].newer != PORT_OK);
        const int64_t end = cases[i].newer == PORT_OK ? 2 : 1;
        assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S1, end, "c"), cases[i].older);
        assert_int_equal(kit->ended, cases[i].older != PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: a connection that is gone is no second one. Method: end it, by both ways, and open another. */
static void bqw_22_a_connection_that_is_gone_counts_no_more(void **state)
{
    (void)state;
    struct testkit *kit = start_with(PROFILE_ADVERSARY, "second_connection", 3);
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, S1, 0, "a"), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_CANCEL, "", 0, ""), PORT_OK);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S1, 1, "b"), PORT_OK);
    assert_int_equal(append_on(kit, 2, PORT_HALF_CLOSE, "", 0, ""), PORT_OK);
    assert_int_equal(append_on(kit, 3, PORT_STREAM_SEND, S1, 2, "c"), PORT_OK);
    assert_int_equal(append_on(kit, 9, PORT_CANCEL, "", 0, ""), PORT_OK);
    testkit_close(kit);
}

/* Goal: a lost answer is cleared up by the same append at its offset. Method: the two answers. */
static void bqw_23_a_repeated_append_tells_whether_it_was_done(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    assert_int_equal(append(kit, S1, 0, "a"), PORT_ALREADY_EXISTS);
    assert_int_equal(append(kit, S1, 1, "b"), PORT_OK);
    assert_int_equal(flush(kit, S1, 1), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

static enum port_code append_as(struct testkit *kit,
                                uint64_t connection,
                                const struct bigquery_field_descriptor *field_or_null)
{
    const struct row value = row_of('a');
    const struct bigquery_row row = {{value.bytes, sizeof(value.bytes)}};
    const void *items[] = {&row};
    const void *fields[] = {field_or_null};
    const struct bigquery_proto_rows list = {.serialized_rows = {items, 1}};
    const struct bigquery_descriptor descriptor = {.field = {fields, 1}};
    const struct bigquery_proto_schema schema = {.proto_descriptor = &descriptor};
    const struct bigquery_proto_data data = {
        .writer_schema = field_or_null == NULL ? NULL : &schema, .rows = &list};
    const struct bigquery_append_rows_request request = {.write_stream = BYTES_LITERAL(DEFAULT),
                                                         .proto_rows = &data};
    return testkit_stream(
        kit, connection, PORT_STREAM_SEND, &bigquery_append_rows_method, &request);
}

/* Goal: a schema with fields that the table lacks is refused until another one comes, and one of other
 * types too; the number of a field is the writer's own. Method: a field of the table's, one by another name,
 * of another type, with another number; none at all. */
static void bqw_24_extra_fields_are_refused(void **state)
{
    const struct bigquery_field_descriptor good = {BYTES_LITERAL("id"), 1, BIGQUERY_TYPE_STRING};
    const struct bigquery_field_descriptor other = {BYTES_LITERAL("id"), 7, BIGQUERY_TYPE_STRING};
    const struct bigquery_field_descriptor extra = {BYTES_LITERAL("name"), 1, BIGQUERY_TYPE_STRING};
    const struct bigquery_field_descriptor wrong = {BYTES_LITERAL("id"), 1, BIGQUERY_TYPE_BYTES};
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(append_as(kit, 1, &extra), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
    assert_int_equal(append_as(kit, 1, NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(append_as(kit, 1, &good), PORT_OK);
    assert_int_equal(append_as(kit, 1, NULL), PORT_OK);
    assert_int_equal(append_as(kit, 2, &wrong), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(append_as(kit, 3, NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(append_as(kit, 4, &other), PORT_OK);
    assert_int_equal(visible(kit), 3);
    testkit_close(kit);
}

/* Goal: a flush shows rows up to and with its offset, of BUFFERED streams only. Method: in steps that cut
 * appends in pieces; a stream of another type; no offset. */
static void bqw_30_a_flush_moves_the_cursor(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "abc"), PORT_OK);
    assert_int_equal(append(kit, S1, 3, "de"), PORT_OK);
    assert_int_equal(flush(kit, S1, 1), PORT_OK);
    assert_int_equal(flushed(kit), 1);
    assert_int_equal(visible(kit), 2);
    assert_int_equal(flush(kit, S1, 3), PORT_OK);
    assert_int_equal(visible(kit), 4);
    assert_int_equal(append(kit, S1, 5, "f"), PORT_OK);
    assert_int_equal(flush(kit, S1, 5), PORT_OK);
    assert_int_equal(visible(kit), 6);
    const struct row row = row_of('f');
    assert_true(testkit_last(kit, WORLD_CREATED)->value ==
                digest_bytes((struct bytes){row.bytes, sizeof(row.bytes)}));
    assert_int_equal(flush(kit, S1, NO_OFFSET), PORT_INVALID_ARGUMENT);
    assert_int_equal(create(kit, TABLE, BIGQUERY_COMMITTED), PORT_OK);
    assert_int_equal(flush(kit, S2, 0), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_INVALID_STREAM_TYPE);
    assert_int_equal(flush(kit, TABLE "/streams/s3", 0), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: a repeated flush is answered by the run's reading, and moves nothing. Method: each reading, at
 * the cursor and below it. */
static void bqw_31_a_repeated_flush_has_three_answers(void **state)
{
    (void)state;
    for (uint32_t reading = 0; reading < 3; reading++) {
        struct testkit *kit = start_with(PROFILE_DOCUMENTED, "reflush", 1 + reading);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "abc"), PORT_OK);
        assert_int_equal(flush(kit, S1, 2), PORT_OK);
        for (int64_t at = 1; at < 3; at++) {
            assert_int_equal(flush(kit, S1, at), reading == 1 ? PORT_ALREADY_EXISTS : PORT_OK);
            if (reading != 1) {
                assert_int_equal(flushed(kit), reading == 0 ? at : 2);
            }
        }
        assert_int_equal(visible(kit), 3);
        testkit_close(kit);
    }
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    const struct testkit_pin *pin = testkit_pin(kit, "bigquery.reading.reflush", "already_exists");
    testkit_init(kit);
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(flush(kit, S1, 0), PORT_ALREADY_EXISTS);
    assert_int_equal(flush(kit, S1, 0), PORT_ALREADY_EXISTS);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: rows that are not there are never claimed. Method: one past the end, both readings. */
static void bqw_32_a_flush_past_the_end_is_refused(void **state)
{
    (void)state;
    for (uint32_t reading = 0; reading < 2; reading++) {
        struct testkit *kit = start_with(PROFILE_DOCUMENTED, "flush_past_end", 1 + reading);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
        assert_int_equal(flush(kit, S1, 1),
                         reading == 0 ? PORT_OUT_OF_RANGE : PORT_INVALID_ARGUMENT);
        assert_true(marks_has(&kit->world->marks, MARK_BIGQUERY_FLUSHED_PAST_END));
        assert_int_equal(visible(kit), 0);
        assert_int_equal(append(kit, S1, 1, "b"), PORT_OK);
        assert_int_equal(visible(kit), 0);
        testkit_close(kit);
    }
}

/* Goal: a flush of a finalized stream is refused where that was observed. Method: both readings, rows
 * flushed before and not. */
static void bqw_33_a_flush_of_a_finalized_stream(void **state)
{
    (void)state;
    for (uint32_t refuses = 0; refuses < 2; refuses++) {
        struct testkit *kit = start_with(PROFILE_OBSERVED, "flush_finalized", 1 + refuses);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
        assert_int_equal(flush(kit, S1, 0), PORT_OK);
        assert_int_equal(finalize(kit, S1), PORT_OK);
        const enum port_code code = refuses == 1 ? PORT_INVALID_ARGUMENT : PORT_OK;
        assert_int_equal(flush(kit, S1, 0), code);
        assert_int_equal(flush(kit, S1, 1), code);
        assert_true(marks_has(&kit->world->marks, MARK_BIGQUERY_FLUSHED_FINALIZED));
        assert_int_equal(visible(kit), refuses == 1 ? 1 : 2);
        testkit_close(kit);
    }
}

/* Goal: what was not flushed stays hidden. Method: as long as the stream lives. */
static void bqw_34_rows_past_the_cursor_stay_hidden(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    testkit_run_for(kit, DAYS(6));
    testkit_heal(kit);
    assert_int_equal(testkit_pending(kit), 0);
    assert_int_equal(visible(kit), 1);
    testkit_close(kit);
}

/* Goal: finalize ends appends and tells the count, again and again. Method: twice, and an append. */
static void bqw_35_finalize_ends_appends(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "ab"), PORT_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(finalize(kit, S1), PORT_OK);
        const struct bigquery_finalize_write_stream_response *response = kit->payload;
        assert_int_equal(response->row_count, 2);
    }
    assert_int_equal(append(kit, S1, 2, "c"), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_STREAM_FINALIZED);
    assert_int_equal(append(kit, S1, 0, "a"), PORT_INVALID_ARGUMENT);
    assert_int_equal(finalize(kit, S2), PORT_NOT_FOUND);
    assert_int_equal(testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE), 1); /* the stream */
    assert_int_equal(testkit_count(kit, WORLD_REMOVED, BIGQUERY_CAUSE_FINALIZED), 1);
    testkit_close(kit);
}

/* Goal: a flush needs no connection. Method: end it before. */
static void bqw_36_a_flush_needs_no_connection(void **state)
{
    (void)state;
    struct testkit *kit = start_buffered();
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    assert_int_equal(append_on(kit, 1, PORT_CANCEL, "", 0, ""), PORT_OK);
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    assert_int_equal(visible(kit), 1);
    testkit_close(kit);
}

/* Goal: a table that is not there is one of two codes, and one that is new may be denied, but not to
 * appends. Method: both readings; make it; the time of propagation. */
static void bqw_46_a_missing_table(void **state)
{
    (void)state;
    for (uint32_t reading = 0; reading < 2; reading++) {
        struct testkit *kit = testkit_open(&bigquery_model, PROFILE_OBSERVED);
        testkit_option(kit, "table_exists", 0);
        testkit_option(kit, "missing_table", 1 + reading);
        (void)testkit_pin(kit, "bigquery.propagation", "denied");
        testkit_init(kit);
        const enum port_code missing = reading == 0 ? PORT_PERMISSION_DENIED : PORT_NOT_FOUND;
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), missing);
        assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "a"), missing);
        assert_int_equal(insert(kit, "t"), PORT_OK);
        assert_int_equal(insert(kit, "t"), PORT_ALREADY_EXISTS);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_PERMISSION_DENIED);
        assert_int_equal(append_on(kit, 1, PORT_STREAM_SEND, DEFAULT, NO_OFFSET, "a"), PORT_OK);
        testkit_run_for(kit, SECONDS(15));
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: a flush meets the metadata of a new table as well. Method: a stream made while it is not denied. */
static void bqw_46_a_flush_of_a_new_table(void **state)
{
    (void)state;
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_OBSERVED);
    testkit_option(kit, "table_exists", 0);
    struct testkit_pin *pin = testkit_pin(kit, "bigquery.propagation", "done");
    const uint32_t denied = 1;
    testkit_init(kit);
    assert_int_equal(insert(kit, "t"), PORT_OK);
    assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
    assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
    pin->value = denied;
    assert_int_equal(flush(kit, S1, 0), PORT_PERMISSION_DENIED);
    assert_int_equal(visible(kit), 0);
    pin->value = 0;
    assert_int_equal(flush(kit, S1, 0), PORT_OK);
    assert_int_equal(visible(kit), 1);
    testkit_close(kit);
}

/* Goal: a stream that has ended answers by reading. Method: each, to an append and to a flush. */
static void bqw_47_a_stream_that_has_ended(void **state)
{
    static const struct {
        enum port_code append;
        enum port_code flush;
        enum bigquery_storage_error reason;
    } cases[] = {
        {PORT_NOT_FOUND, PORT_NOT_FOUND, BIGQUERY_STREAM_NOT_FOUND},
        {PORT_NOT_FOUND, PORT_NOT_FOUND, BIGQUERY_STORAGE_ERROR_NONE},
        {PORT_INVALID_ARGUMENT, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_STATE},
        {PORT_NOT_FOUND, PORT_ALREADY_EXISTS, BIGQUERY_STREAM_NOT_FOUND},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = start_with(PROFILE_ADVERSARY, "ended_stream", 1 + i);
        assert_int_equal(create(kit, TABLE, BIGQUERY_BUFFERED), PORT_OK);
        assert_int_equal(append(kit, S1, 0, "a"), PORT_OK);
        testkit_run_for(kit, DAYS(7));
        assert_int_equal(append(kit, S1, 1, "b"), cases[i].append);
        assert_int_equal(reason(kit), cases[i].reason);
        assert_int_equal(flush(kit, S1, 0), cases[i].flush);
        assert_int_equal(visible(kit), 0);
        testkit_close(kit);
    }
}

/* Goal: connections die with any prefix of what was sent, and silently; a caller that times out knows
 * nothing. Method: the menus. */
static void bqw_11_a_timeout_says_nothing(void **state)
{
    (void)state;
    for (size_t m = 0; m < bigquery_model.fate_count; m++) {
        const struct fate_menu *menu = &bigquery_model.fates[m];
        uint32_t actions = 0;
        for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
            actions |= UINT32_C(1) << menu->fates[i].action;
        }
        const bool is_stream = menu->method == &bigquery_append_rows_method;
        assert_true((actions >> FATE_REQUEST_LOST & 1) != 0);
        assert_true((actions >> FATE_ANSWER_LOST & 1) != 0);
        assert_true((actions >> FATE_REFUSED & 1) != 0);
        assert_int_equal(actions >> FATE_CUT_APPLIED & 1, is_stream);
        assert_int_equal(actions >> FATE_CUT_NOT_APPLIED & 1, is_stream);
    }
}

/* Goal: an outage that names rows accepts none of them. Method: the same append with and without it. */
static void bqw_60_an_outage_may_name_rows(void **state)
{
    (void)state;
    struct testkit *kit = start_with(PROFILE_OBSERVED, "mishaps", 1);
    (void)testkit_pin(kit, "bigquery.mishap", "outage_names_rows");
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "ab"), PORT_UNAVAILABLE);
    const struct bigquery_append_rows_response *response = kit->payload;
    assert_int_equal(response->row_errors.count, 1);
    assert_int_equal(visible(kit), 0);
    testkit_close(kit);
}

/* Goal: a stale connection refuses, and so accepts nothing. Method: an append. */
static void bqw_61_a_connection_goes_stale(void **state)
{
    (void)state;
    struct testkit *kit = start_with(PROFILE_OBSERVED, "mishaps", 1);
    (void)testkit_pin(kit, "bigquery.mishap", "stale_connection");
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "ab"), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_INVALID_STREAM_STATE);
    assert_int_equal(visible(kit), 0);
    testkit_close(kit);
}

/* Goal: an error may be no refusal, on default streams only, and only where that is asked for. Method: each
 * of them. */
static void bqw_62_an_append_may_be_accepted_as_failed(void **state)
{
    (void)state;
    struct testkit *kit = start_with(PROFILE_OBSERVED, "mishaps", 1);
    const struct testkit_pin *pin = testkit_pin(kit, "bigquery.mishap", "accepted_as_failed");
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "ab"), PORT_INTERNAL);
    assert_int_equal(visible(kit), 2);
    assert_int_equal(create(kit, TABLE, BIGQUERY_COMMITTED), PORT_OK);
    assert_int_equal(append_on(kit, 2, PORT_STREAM_SEND, S2, 0, "c"), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
    kit = start();
    pin = testkit_pin(kit, "bigquery.mishap", "accepted_as_failed");
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "ab"), PORT_OK);
    assert_int_equal(pin->draws, 0);
    testkit_close(kit);
}

/* Goal: who may not write is told what a missing table tells, and that the table is there. */
static void bqw_63_a_denial_may_be_meant(void **state)
{
    (void)state;
    struct testkit *kit = start_with(PROFILE_DOCUMENTED, "writes_denied", 1);
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "a"), PORT_PERMISSION_DENIED);
    assert_int_equal(insert(kit, "t"), PORT_ALREADY_EXISTS);
    assert_int_equal(append(kit, DEFAULT, NO_OFFSET, "a"), PORT_PERMISSION_DENIED);
    assert_int_equal(visible(kit), 0);
    testkit_close(kit);
}

#define CLAUSE_TESTS(X)                                                                            \
    X("BQW-01", bqw_01_the_type_fixes_when_rows_are_readable)                                      \
    X("BQW-02", bqw_02_the_default_stream_has_no_offsets)                                          \
    X("BQW-03 BQW-04", bqw_03_a_stream_is_named_by_the_service)                                    \
    X("BQW-05", bqw_05_an_idle_stream_ends)                                                        \
    X("BQW-07", bqw_07_a_look_tells_the_type_only)                                                 \
    X("BQW-08", bqw_08_streams_are_written_side_by_side)                                           \
    X("BQW-10", bqw_10_a_connection_stays_with_its_stream)                                         \
    X("BQW-12 BQW-13 BQW-14 BQW-15 BQW-45", bqw_12_an_offset_is_compared_with_the_end)             \
    X("BQW-13 BQW-17", bqw_13_and_17_have_an_order)                                                \
    X("BQW-16", bqw_16_without_an_offset_rows_are_there_twice)                                     \
    X("BQW-17", bqw_17_a_bad_row_stops_its_request)                                                \
    X("BQW-17", bqw_17_rows_are_looked_at)                                                         \
    X("BQW-18", bqw_18_a_connection_goes_on_behind_an_error)                                       \
    X("BQW-19", bqw_19_a_large_request_is_refused)                                                 \
    X("BQW-22", bqw_22_a_second_connection)                                                        \
    X("BQW-22", bqw_22_a_connection_that_is_gone_counts_no_more)                                   \
    X("BQW-23", bqw_23_a_repeated_append_tells_whether_it_was_done)                                \
    X("BQW-24", bqw_24_extra_fields_are_refused)                                                   \
    X("BQW-30", bqw_30_a_flush_moves_the_cursor)                                                   \
    X("BQW-31", bqw_31_a_repeated_flush_has_three_answers)                                         \
    X("BQW-32", bqw_32_a_flush_past_the_end_is_refused)                                            \
    X("BQW-33", bqw_33_a_flush_of_a_finalized_stream)                                              \
    X("BQW-34", bqw_34_rows_past_the_cursor_stay_hidden)                                           \
    X("BQW-35", bqw_35_finalize_ends_appends)                                                      \
    X("BQW-36", bqw_36_a_flush_needs_no_connection)                                                \
    X("BQW-46", bqw_46_a_missing_table)                                                            \
    X("BQW-46", bqw_46_a_flush_of_a_new_table)                                                     \
    X("BQW-47", bqw_47_a_stream_that_has_ended)                                                    \
    X("BQW-60", bqw_60_an_outage_may_name_rows)                                                    \
    X("BQW-61", bqw_61_a_connection_goes_stale)                                                    \
    X("BQW-62", bqw_62_an_append_may_be_accepted_as_failed)                                        \
    X("BQW-63", bqw_63_a_denial_may_be_meant)                                                      \
    X("BQW-11 BQW-21 X-01 X-03 X-04 X-05 X-16", bqw_11_a_timeout_says_nothing)

/* Goal: the tables agree, and every clause has its test. Method: walk them. */
static void tables_agree(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        CLAUSE_TESTS(X)
#undef X
            {"BQC-01 BQC-02 BQC-03 BQC-04 BQC-05", "changes_test.c"},
        {"BQC-06 BQC-07", "statements_test.c"},
        {"BQJ-01 BQJ-02 BQJ-03 BQJ-04 BQJ-05 BQJ-06 BQJ-07 BQJ-08 BQJ-30", "jobs_test.c"},
        {"BQJ-14 BQJ-16 BQT-04 BQT-05 BQT-06", "jobs_test.c"},
        {"BQJ-09 BQJ-10 BQJ-11 BQJ-13 BQJ-21 BQJ-31 BQJ-32 BQJ-33 BQJ-34 BQJ-35", "load_test.c"},
        {"BQT-01 BQJ-17", "bqt_01_a_change_is_made_for_an_etag"}, /* schema_test.c */
        {"BQT-02", "bqt_02_changes_have_a_quota"},
        {"BQT-03", "bqt_03_columns_are_added_and_relaxed"},
        {"BQJ-18", "bqj_18_creations_race"},
        {"BQW-25", "bqw_25_a_new_column_is_known_late"},
        {"BQW-62", "bqw_62_a_refused_row_may_be_stored"},
        {"BQW-24", "bqw_24_a_row_is_kept_by_its_columns"},
        {"BQW-17", "bqw_17_a_required_column_is_there"},
    };
    (void)state;
    testkit_check_tables(&bigquery_model, 0x1800, 0x19ff);
    testkit_check_profiles(&bigquery_model);
    testkit_check_clause_tests(&bigquery_model, tests, ARRAY_COUNT(tests));
}

/* Goal: equal histories have equal digests, others do not. Method: runs that differ by one thing each. */
static void digest_covers_what_was_done(void **state)
{
    (void)state;
    struct testkit *a = start_buffered();
    struct testkit *b = start_buffered();
    assert_true(bigquery_model.digest(a->state) == bigquery_model.digest(b->state));
    (void)append(a, S1, 0, "a");
    (void)append(b, S1, 0, "b");
    assert_true(bigquery_model.digest(a->state) != bigquery_model.digest(b->state));
    testkit_close(b);
    b = start_buffered();
    (void)append(b, S1, 0, "a");
    assert_true(bigquery_model.digest(a->state) == bigquery_model.digest(b->state));
    (void)flush(b, S1, 0);
    assert_true(bigquery_model.digest(a->state) != bigquery_model.digest(b->state));
    (void)flush(a, S1, 0);
    assert_true(bigquery_model.digest(a->state) == bigquery_model.digest(b->state));
    (void)finalize(a, S1);
    assert_true(bigquery_model.digest(a->state) != bigquery_model.digest(b->state));
    testkit_close(a);
    testkit_close(b);
}

/* Goal: a flush is recognised, and told from others. Method: the same twice, another offset, another
 * stream, a name too long to be one; an append. */
static void a_flush_is_known_by_what_it_asks_for(void **state)
{
    static const char long_name[4096] = {0};
    (void)state;
    const struct bigquery_int64 one = {1};
    const struct bigquery_int64 two = {2};
    const struct bigquery_flush_rows_request a = {BYTES_LITERAL(S1), &one};
    const struct bigquery_flush_rows_request b = {BYTES_LITERAL(S1), &two};
    const struct bigquery_flush_rows_request c = {BYTES_LITERAL(S2), &one};
    const struct bigquery_flush_rows_request d = {{(const uint8_t *)long_name, sizeof(long_name)},
                                                  &one};
    const struct port_method *method = &bigquery_flush_rows_method;
    assert_true(bigquery_model.identity(method, &a) != 0);
    assert_true(bigquery_model.identity(method, &a) == bigquery_model.identity(method, &a));
    assert_true(bigquery_model.identity(method, &a) != bigquery_model.identity(method, &b));
    assert_true(bigquery_model.identity(method, &a) != bigquery_model.identity(method, &c));
    assert_true(bigquery_model.identity(method, &d) == 0);
    assert_true(bigquery_model.identity(&bigquery_append_rows_method, &a) == 0);
}

#define X(ids, test) TEST(test),
TEST_MAIN(bigquery,
          CLAUSE_TESTS(X) TEST(tables_agree),
          TEST(digest_covers_what_was_done),
          TEST(a_flush_is_known_by_what_it_asks_for))
