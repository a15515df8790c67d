/* The exactly-once sink when columns come: refreshes, and what a mismatch asks for (sections 4.2, 4.5, 4.7).
 * link: sinks/bigquery/exactly_once/exactly_once sinks/bigquery/exactly_once/exactly_once_writer
 * link: sinks/bigquery/exactly_once/exactly_once_committer sinks/bigquery/exactly_once/destination sinks/bigquery/client/appender
 * link: sinks/bigquery/destination_host sinks/bigquery/table_writer sinks/bigquery/table_caller sinks/bigquery/schema sinks/bigquery/reconcile
 * link: sinks/bigquery/client/append sinks/bigquery/client/classify sinks/bigquery/frames sinks/bigquery/options
 * link: sinks/bigquery/client/appends_testkit sinks/generic/user_testkit sinks/host_testkit sinks/parking
 * link: sinks/retry sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err
 */
#include "sinks/base/test.h"
#include "sinks/bigquery/client/appends_testkit.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/generic/user_testkit.h"

#define TABLE "projects/p/datasets/d/tables/t"
#define S1    TABLE "/streams/s1"
#define S2    TABLE "/streams/s2"

static struct generic_user user;

static const struct bigquery_table_field_schema id_column = {
    {(const uint8_t *)"id", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
static const struct bigquery_table_field_schema note_column = {
    {(const uint8_t *)"note", 4}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
static const void *const columns[] = {&id_column, &note_column};

/* A record whose key is "2" or "3" has come to that version; what has come stays. Version 2 has the column
 * "note", version 3 is none. */
static enum sink_user_result describe(void *context,
                                      const struct sink_record *record,
                                      struct bytes destination,
                                      uint64_t *version,
                                      struct bytes *description)
{
    (void)context;
    (void)destination;
    const uint64_t own = record->key.data[0] == '2' ? 2 : record->key.data[0] == '3' ? 3 : 1;
    *version = *version > own ? *version : own;
    *description = *version == 1   ? BYTES_LITERAL("\x0a\x06\x0a\x02id\x10\x01")
                   : *version == 2 ? BYTES_LITERAL("\x0a\x06\x0a\x02id\x10\x01"
                                                   "\x0a\x08\x0a\x04note\x10\x01")
                                   : BYTES_LITERAL("\x0a");
    return SINK_USER_OK;
}

static void begin_with(struct host *host, bool updates, uint64_t append_bytes)
{
    generic_user_init(&user, &bigquery_exactly_once);
    user.user.describe = describe;
    user.options[BIGQUERY_OPTION_ALLOW_NEW_FIELDS].number = updates;
    user.options[BIGQUERY_OPTION_MAX_APPEND_BYTES].number = append_bytes;
    generic_open(host, &user, &bigquery_exactly_once_writer_half);
}

static void begin(struct host *host, bool updates)
{
    begin_with(host, updates, 1000);
}

static void made(struct host *host, const char *stream)
{
    const struct bigquery_write_stream answer = {.name = bytes_of_text(stream),
                                                 .type = BIGQUERY_BUFFERED};
    host_answer_ok(host, latest(host, &bigquery_create_write_stream_method, 0), &answer);
}

static void show_table(struct host *host, uint32_t column_count)
{
    const struct bigquery_table_schema schema = {.fields = {columns, column_count}};
    const struct bigquery_table table = {.etag = BYTES_LITERAL("e1"), .schema = &schema};
    host_answer_ok(host, latest(host, &bigquery_get_table_method, 0), &table);
}

static void patched(struct host *host)
{
    host_answer_ok(host, latest(host, &bigquery_patch_table_method, 0), NULL);
}

static void mismatch(struct host *host)
{
    refused(
        host, latest_append(host, 0), PORT_INVALID_ARGUMENT, BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
}

/* The latest append: its stream and offset, how many rows, and how many columns its connection opened with, 0
 * when it did not open one. */
static void assert_latest(
    struct host *host, const char *stream, int64_t offset, uint32_t rows, uint32_t column_count)
{
    struct generic_request decoded = generic_request_of(host, latest_append(host, 0));
    const struct bigquery_append_rows_request *request = decoded.value;
    const struct bigquery_proto_schema *schema = request->proto_rows->writer_schema;
    assert_bytes_equal(request->write_stream, bytes_of_text(stream));
    assert_int_equal(request->offset == NULL ? 0 : request->offset->value, offset);
    assert_int_equal(request->proto_rows->rows->serialized_rows.count, rows);
    assert_int_equal(schema == NULL ? 0 : schema->proto_descriptor->field.count, column_count);
    generic_forget(host, &decoded);
}

/* Two rows of the first version are on their way in a stream, one waits, and one of the second comes. */
static void grow(struct host *host, bool updates)
{
    begin_with(host, updates, 6);
    host_record(host, 1, "1", "one");
    host_record(host, 2, "1", "two");
    host_record(host, 3, "1", "three");
    made(host, S1);
    assert_latest(host, S1, 0, 2, 1);
    assert_false(host->busy);
    host_record(host, 4, "2", "four");
    assert_true(host->busy);
    assert_latest(host, S1, 2, 1, 1);
}

/* Goal: a new schema waits until all rows before it are stored, and goes on where they end (EO32). */
static void a_new_schema_waits_for_the_rows_before_it(void **state)
{
    (void)state;
    struct host host;
    grow(&host, false);
    assert_int_equal(openings(&host), 1);
    stored(&host, latest_append(&host, 1), 0);
    assert_int_equal(host.cancel_count, 0);
    assert_true(host.busy);
    stored(&host, latest_append(&host, 0), 2);
    assert_int_equal(host.cancel_count, 1);
    assert_false(host.busy);
    host_record(&host, 5, "1", "five");
    host_barrier(&host, 1);
    assert_int_equal(openings(&host), 2);
    assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 1);
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 0);
    assert_latest(&host, S1, 4, 1, 2);
    host_fini(&host);
}

/* Goal: with updates, the table gets the column before any row with it leaves. */
static void a_new_schema_changes_the_table_first(void **state)
{
    (void)state;
    struct host host;
    grow(&host, true);
    stored(&host, latest_append(&host, 1), 0);
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 0);
    stored(&host, latest_append(&host, 0), 2);
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 1);
    show_table(&host, 1);
    assert_true(host.busy);
    patched(&host);
    assert_false(host.busy);
    assert_int_equal(appends(&host), 2);
    host_barrier(&host, 1);
    assert_latest(&host, S1, 3, 1, 2);
    host_fini(&host);
}

/* Goal: a refresh that comes before any stream is none of a stream's. */
static void a_new_schema_before_any_stream(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "1", "one");
    host_record(&host, 2, "2", "two");
    assert_true(host.busy);
    made(&host, S1);
    assert_latest(&host, S1, 0, 1, 1);
    stored(&host, latest_append(&host, 0), 0);
    assert_false(host.busy);
    host_barrier(&host, 1);
    assert_latest(&host, S1, 1, 1, 2);
    host_fini(&host);
}

static void append_one(struct host *host, bool updates)
{
    begin(host, updates);
    host_record(host, 1, "2", "one");
    host_barrier(host, 1);
    made(host, S1);
    assert_latest(host, S1, 0, 1, 2);
}

/* Goal: a mismatch changes the table once, and is then waited out, each time on a new connection; that
 * something lies at the offset means that it was stored. */
static void a_mismatch_is_reconciled_once_and_waited_out(void **state)
{
    (void)state;
    struct host host;
    append_one(&host, true);
    mismatch(&host);
    show_table(&host, 1);
    patched(&host);
    assert_int_equal(openings(&host), 2);
    assert_latest(&host, S1, 0, 1, 2);
    for (uint32_t i = 0; i < 20; i++) {
        mismatch(&host);
        assert_int_equal(appends(&host), 2 + i);
        assert_int_equal(host.timer_min, host.now.monotonic + MS(22500));
        assert_int_equal(host.timer_max, host.now.monotonic + MS(37500));
        host_fire(&host);
        assert_int_equal(appends(&host), 3 + i);
        assert_int_equal(openings(&host), 3 + i);
        assert_latest(&host, S1, 0, 1, 2);
    }
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 1);
    refused(&host, latest_append(&host, 0), PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_fini(&host);
}

/* Goal: waiting for a column has an end. */
static void waiting_for_a_column_has_an_end(void **state)
{
    (void)state;
    struct host host;
    append_one(&host, true);
    mismatch(&host);
    show_table(&host, 2);
    for (uint32_t i = 1; i < 30; i++) {
        mismatch(&host);
        assert_false(host.failed);
        host_fire(&host);
    }
    mismatch(&host);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "used up");
    host_fini(&host);
}

/* Goal: without updates a mismatch says what would help. */
static void a_mismatch_without_updates_fails_with_guidance(void **state)
{
    (void)state;
    struct host host;
    append_one(&host, false);
    mismatch(&host);
    host_assert_failed(&host, SINK_REASON_SERVICE, "allow_new_fields");
    host_fini(&host);
}

/* Goal: appends that were refused before the table was changed are sent again at once. */
static void what_was_refused_before_goes_at_once(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, true, 1);
    host_record(&host, 1, "2", "one");
    host_record(&host, 2, "2", "two");
    host_barrier(&host, 1);
    made(&host, S1);
    refused(&host,
            latest_append(&host, 1),
            PORT_INVALID_ARGUMENT,
            BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 0);
    mismatch(&host);
    show_table(&host, 1);
    patched(&host);
    assert_latest(&host, S1, 0, 1, 2);
    stored(&host, latest_append(&host, 0), 0);
    assert_latest(&host, S1, 1, 1, 0);
    stored(&host, latest_append(&host, 0), 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_fini(&host);
}

/* Goal: a probe that meets a mismatch tries again when the table was changed, and abandons what lies at its
 * offset all the same. */
static void a_probe_waits_for_a_column(void **state)
{
    (void)state;
    struct host host;
    const struct bigquery_piece piece = {
        .table = BYTES_LITERAL(TABLE), .stream = BYTES_LITERAL(S1), .next_offset = 3};
    uint8_t bytes[256];
    bigquery_piece_encode(&piece, bytes);
    const struct sink_piece pieces[] = {{{bytes, bigquery_piece_size(&piece)}}};
    generic_user_init(&user, &bigquery_exactly_once);
    user.user.describe = describe;
    user.options[BIGQUERY_OPTION_ALLOW_NEW_FIELDS].number = true;
    host = (struct host){0};
    assert_int_equal(host_init(&host, &bigquery_exactly_once_writer_half, &user.env), ERR_OK);
    struct sink_event event = {.kind = SINK_EVENT_OPEN};
    event.u.open.pieces = pieces;
    event.u.open.piece_count = 1;
    event.u.open.restored = true;
    host_step(&host, &event);
    host_record(&host, 1, "2", "one");
    host_barrier(&host, 1);
    assert_latest(&host, S1, 3, 1, 2);
    mismatch(&host);
    show_table(&host, 1);
    patched(&host);
    assert_latest(&host, S1, 3, 1, 2);
    mismatch(&host);
    host_fire(&host);
    assert_int_equal(openings(&host), 3);
    refused(&host, latest_append(&host, 0), PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS);
    made(&host, S2);
    assert_latest(&host, S2, 0, 1, 2);
    host_fini(&host);
}

/* Goal: a connection is told the schema until it has stored something, for a request that is refused may not
 * have been heard (BQW-10). */
static void the_schema_is_told_until_rows_are_stored(void **state)
{
    (void)state;
    struct host host;
    append_one(&host, false);
    refused(&host, latest_append(&host, 0), PORT_ABORTED, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(openings(&host), 1);
    assert_latest(&host, S1, 0, 1, 2);
    stored(&host, latest_append(&host, 0), 0);
    host_simple(&host, SINK_EVENT_POLICY_FLUSHED);
    host_record(&host, 2, "2", "two");
    host_barrier(&host, 2);
    assert_latest(&host, S1, 1, 1, 0);
    host_fini(&host);
}

/* Goal: a table is created with the columns of its rows. */
static void a_table_is_created_with_its_columns(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "2", "one");
    host_barrier(&host, 1);
    refuse_call(&host, 0, PORT_PERMISSION_DENIED);
    struct generic_request decoded =
        generic_request_of(&host, latest(&host, &bigquery_insert_table_method, 0));
    const struct bigquery_insert_table_request *request = decoded.value;
    assert_int_equal(request->table->schema->fields.count, 2);
    generic_forget(&host, &decoded);
    host_fini(&host);
}

/* Goal: a user that gives no schema is a fault of the configuration. */
static void a_user_without_a_schema_fails(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct host host;
        begin(&host, false);
        user.user.describe = i == 0 ? NULL : describe;
        host_record(&host, 1, i == 0 ? "1" : "3", "one");
        host_assert_failed(&host, SINK_REASON_CONFIG, "schema");
        host_fini(&host);
    }
}

/* Goal: a close in the midst of a reconciliation cancels its call. */
static void a_close_cancels_a_reconciliation(void **state)
{
    (void)state;
    struct host host;
    append_one(&host, true);
    mismatch(&host);
    const uint32_t before = host.cancel_count;
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, before + 2);
    host_fini(&host);
}

TEST_MAIN(exactly_once_schema,
          TEST(a_new_schema_waits_for_the_rows_before_it),
          TEST(a_new_schema_changes_the_table_first),
          TEST(a_new_schema_before_any_stream),
          TEST(a_mismatch_is_reconciled_once_and_waited_out),
          TEST(waiting_for_a_column_has_an_end),
          TEST(a_mismatch_without_updates_fails_with_guidance),
          TEST(what_was_refused_before_goes_at_once),
          TEST(a_probe_waits_for_a_column),
          TEST(the_schema_is_told_until_rows_are_stored),
          TEST(a_table_is_created_with_its_columns),
          TEST(a_user_without_a_schema_fails),
          TEST(a_close_cancels_a_reconciliation))
