/* The at-least-once sink: what is appended to the default stream, how each failure is mended, what a barrier
 * and the interval wait for, and what a close leaves.
 * link: sinks/bigquery/at_least_once/at_least_once sinks/bigquery/at_least_once/at_least_once_writer sinks/bigquery/at_least_once/outlet
 * link: sinks/bigquery/at_least_once/change sinks/bigquery/destination_host sinks/bigquery/table_writer
 * link: sinks/bigquery/at_least_once/contract sinks/bigquery/table_caller sinks/base/sha256
 * link: sinks/bigquery/client/appender sinks/bigquery/client/append
 * link: sinks/bigquery/client/classify sinks/bigquery/options sinks/bigquery/client/appends_testkit sinks/bigquery/schema
 * link: sinks/bigquery/reconcile
 * link: sinks/generic/user_testkit sinks/host_testkit sinks/parking sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err
 */
#include "sinks/bigquery/at_least_once/at_least_once.h"

#include "sinks/base/test.h"
#include "sinks/bigquery/client/appends_testkit.h"
#include "sinks/bigquery/options.h"
#include "sinks/generic/user_testkit.h"
#include "sinks/port/bigquery.h"

#include <string.h>

#define TABLE "projects/p/datasets/d/tables/t"
#define TO    TABLE "/streams/_default"

static struct generic_user user;

static void option(uint32_t which, uint64_t number)
{
    user.options[which].number = number;
}

/* The table is the record's key. */
static enum sink_user_result
resolve(void *context, const struct sink_record *record, struct bytes *destination)
{
    (void)context;
    *destination = record->key;
    return SINK_USER_OK;
}

static void prepare(void)
{
    generic_user_init(&user, &bigquery_at_least_once);
    user.user.describe = one_column;
}

static void open_writer(struct host *host)
{
    generic_open(host, &user, &bigquery_at_least_once_writer_half);
}

static void begin(struct host *host)
{
    prepare();
    open_writer(host);
}

/* Each row is an append of its own, and goes when the next one comes. */
static void begin_single(struct host *host)
{
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    open_writer(host);
}

static void assert_append(
    struct host *host, uint32_t send, const char *stream, const char *first, uint32_t count)
{
    struct generic_request decoded = generic_request_of(host, send);
    const struct bigquery_append_rows_request *request = decoded.value;
    assert_bytes_equal(request->write_stream, bytes_of_text(stream));
    assert_null(request->offset);
    const struct port_list *rows = &request->proto_rows->rows->serialized_rows;
    assert_int_equal(rows->count, count);
    const struct bigquery_row *row = rows->items[0];
    assert_bytes_equal(row->serialized, bytes_of_text(first));
    generic_forget(host, &decoded);
}

static void taken(struct host *host, uint32_t send)
{
    const struct bigquery_append_rows_response response = {0};
    const struct port_answer answer = {.outcome = PORT_OUTCOME_OK, .payload = &response};
    host_answer_stream(host, send, &answer);
}

static void assert_not_done(const struct host *host)
{
    assert_int_equal(host->counts[SINK_EFFECT_POLICY_FLUSH], 0);
    assert_int_equal(host->counts[SINK_EFFECT_BARRIER_DONE], 0);
    assert_false(host->failed);
}

static void assert_done(struct host *host, uint64_t checkpoint)
{
    assert_int_equal(host_count(host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_simple(host, SINK_EVENT_POLICY_FLUSHED);
    assert_int_equal(host_effect(host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, checkpoint);
    assert_int_equal(host->counts[SINK_EFFECT_COMMITTABLES], 0);
    assert_int_equal(host->counts[SINK_EFFECT_STATE_PIECE], 0);
}

/* Up to a barrier whose one append has left. */
static void write_interval(struct host *host, const char *value)
{
    host_record(host, 1, "k", value);
    host_barrier(host, 1);
}

/* Three appends, one behind the other, and a barrier behind them. */
static void three_on_their_way(struct host *host)
{
    begin_single(host);
    host_record(host, 1, "k", "one");
    host_record(host, 2, "k", "two");
    host_record(host, 3, "k", "three");
    host_barrier(host, 1);
    assert_int_equal(appends(host), 3);
}

/* --- intervals --------------------------------------------------------------------------------- */

static void rows_go_to_the_default_stream_and_a_barrier_waits_for_them(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 1);
    host_record(&host, 2, "k", "two");
    assert_int_equal(host.send_count, 0);
    host_barrier(&host, 7);
    assert_int_equal(openings(&host), 1);
    assert_append(&host, latest_append(&host, 0), TO, "one", 2);
    assert_not_done(&host);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 7);
    host_fini(&host);
}

static void each_table_has_a_connection_of_its_own(void **state)
{
    (void)state;
    struct host host;
    prepare();
    user.job.destination_fixed = false;
    user.user.resolve = resolve;
    open_writer(&host);
    host_record(&host, 1, TABLE, "one");
    host_record(&host, 2, TABLE "2", "two");
    host_barrier(&host, 1);
    assert_int_equal(openings(&host), 2);
    assert_append(&host, latest_append(&host, 1), TO, "one", 1);
    assert_append(&host, latest_append(&host, 0), TABLE "2/streams/_default", "two", 1);
    taken(&host, latest_append(&host, 0));
    assert_not_done(&host);
    taken(&host, latest_append(&host, 1));
    assert_done(&host, 1);
    host_fini(&host);
}

static void what_is_no_row_is_skipped_or_goes_to_the_policy(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_ROW_BYTES, 5);
    open_writer(&host);
    host_record(&host, 1, "k", VALUE_SKIPPED);
    assert_int_equal(host_count(&host, SINK_EFFECT_SKIPPED), 1);
    host_record(&host, 2, "k", VALUE_FAILS);
    const struct sink_effect *failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.reason, SINK_REASON_SERIALIZER);
    host_record(&host, 3, "k", "larger");
    failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.reason, SINK_REASON_REJECTED);
    assert_bytes_equal(failed->u.failed.payload, BYTES_LITERAL("larger"));
    host_barrier(&host, 1);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    assert_not_done(&host);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 3);
    assert_done(&host, 1);
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

/* Goal: 2.3. Method: a record that waits for company does not count yet, one that is sent again counts once,
 * one that fails counts where it fails. */
static void a_record_is_counted_once(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", VALUE_FAILS);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_RECORDS_SENT], 0);
    host_barrier(&host, 1);
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    taken(&host, latest_append(&host, 0));
    assert_int_equal(appends(&host), 2);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_RECORDS_SENT], 1);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_RECORDS_FAILED], 1);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_APPEND_ERRORS], 1);
    host_fini(&host);
}

static void a_resolver_without_an_answer_fails(void **state)
{
    (void)state;
    struct host host;
    prepare();
    user.job.destination_fixed = false;
    user.user.resolve = resolve;
    open_writer(&host);
    host_record(&host, 1, "no table", "one");
    host_assert_failed(&host, SINK_REASON_RESOLVER, "gave no table");
    host_fini(&host);
}

/* Goal: limits of requests and of bytes. Method: the record that reaches either holds the others back until
 * an append has its answer. */
static void a_writer_with_too_much_under_way_takes_no_more(void **state)
{
    static const uint32_t limits[] = {BIGQUERY_OPTION_MAX_IN_FLIGHT_APPENDS,
                                      BIGQUERY_EAGER_OPTION_MAX_IN_FLIGHT_BYTES};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        struct host host;
        prepare();
        option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
        option(limits[i], 2);
        open_writer(&host);
        host_record(&host, 1, "k", "a");
        host_record(&host, 2, "k", "b");
        assert_false(host.busy);
        host_record(&host, 3, "k", "c");
        assert_true(host.busy);
        taken(&host, latest_append(&host, 1));
        assert_false(host.busy);
        host_fini(&host);
    }
}

static void an_idle_table_is_forgotten_when_nothing_waits(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    host.now.monotonic += HOURS(1);
    host_barrier(&host, 2);
    assert_done(&host, 2);
    assert_int_equal(host.phases[BIGQUERY_EAGER_PHASE_DESTINATION_EVICTED], 0);
    host.now.monotonic += 1;
    host_barrier(&host, 3);
    assert_done(&host, 3);
    assert_int_equal(host.phases[BIGQUERY_EAGER_PHASE_DESTINATION_EVICTED], 1);
    assert_int_equal(host.cancel_count, 1);
    host_record(&host, 2, "k", "two");
    host.now.monotonic += HOURS(2);
    host_barrier(&host, 4);
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    assert_int_equal(openings(&host), 2);
    host_fini(&host);
}

/* Goal: an interval flushes without a barrier, and the next one follows. Method: rows wait; the interval
 * passes twice, once with all answered and once in a barrier's time. */
static void an_interval_sends_what_waits_and_waits_for_it(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_EAGER_OPTION_FLUSH_INTERVAL, SECONDS(1));
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_fire(&host);
    assert_true(host.busy);
    assert_int_equal(appends(&host), 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    taken(&host, latest_append(&host, 0));
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_simple(&host, SINK_EVENT_POLICY_FLUSHED);
    assert_false(host.busy);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 0);
    host_record(&host, 2, "k", "two");
    host_barrier(&host, 1);
    host_fire(&host);
    assert_false(host.busy);
    taken(&host, latest_append(&host, 0));
    host_simple(&host, SINK_EVENT_POLICY_FLUSHED);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 1);
    assert_true(host.timer_set);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

/* --- changes ------------------------------------------------------------------------------------ */

static void change(struct host *host, uint64_t token, enum sink_change kind, uint64_t position)
{
    struct sink_event event = {.kind = SINK_EVENT_RECORD};
    event.u.record = (struct sink_record){.token = token,
                                          .key = BYTES_LITERAL("k"),
                                          .value = BYTES_LITERAL("row"),
                                          .change = (uint8_t)kind,
                                          .position = position};
    host_step(host, &event);
}

static void begin_changes(struct host *host, enum bigquery_sequence sequence)
{
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    option(BIGQUERY_EAGER_OPTION_CHANGE_DATA_CAPTURE, 1);
    option(BIGQUERY_EAGER_OPTION_CHANGE_SEQUENCE, sequence);
    open_writer(host);
}

/* Fields 1001 and 1002, each with its size. */
#define UPSERT "\xca\x3e\x06UPSERT"
#define DELETE                                                                                     \
    "\xca\x3e\x06"                                                                                 \
    "DELETE"
#define SEQUENCE_1 "\xd2\x3e\x01"
#define SEQUENCE_2 "\xd2\x3e\x02"

/* Goal: each row says what it is, and in which order, in capitals and without needless digits. */
static void a_row_says_how_it_changes_the_table(void **state)
{
    static const struct {
        enum sink_change kind;
        uint64_t position;
        const char *row;
    } cases[] = {
        {SINK_INSERT, 0, "row" UPSERT SEQUENCE_1 "0"},
        {SINK_UPDATE_AFTER, 10, "row" UPSERT SEQUENCE_1 "A"},
        {SINK_DELETE, 255, "row" DELETE SEQUENCE_2 "FF"},
    };
    (void)state;
    struct host host;
    begin_changes(&host, BIGQUERY_SEQUENCE_POSITION);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        change(&host, i + 1, cases[i].kind, cases[i].position);
        host_barrier(&host, i + 1);
        assert_append(&host, latest_append(&host, 0), TO, cases[i].row, 1);
        taken(&host, latest_append(&host, 0));
        assert_done(&host, i + 1);
    }
    host_fini(&host);
}

/* Goal: the fields are in the writer's schema and not among the table's columns. Method: what a connection
 * opens with, and what a table is made with. */
static void the_fields_of_changes_are_no_columns(void **state)
{
    static const uint32_t counts[] = {
        [BIGQUERY_SEQUENCE_POSITION] = 3, [BIGQUERY_SEQUENCE_NONE] = 2};
    (void)state;
    for (uint32_t i = 0; i < ARRAY_COUNT(counts); i++) {
        struct host host;
        begin_changes(&host, (enum bigquery_sequence)i);
        change(&host, 1, SINK_INSERT, 1);
        host_barrier(&host, 1);
        struct generic_request decoded = generic_request_of(&host, latest_append(&host, 0));
        const struct bigquery_append_rows_request *request = decoded.value;
        const struct bigquery_descriptor *descriptor =
            request->proto_rows->writer_schema->proto_descriptor;
        assert_int_equal(descriptor->field.count, counts[i]);
        const struct bigquery_field_descriptor *field = descriptor->field.items[1];
        assert_bytes_equal(field->name, BYTES_LITERAL("_CHANGE_TYPE"));
        assert_int_equal(field->number, 1001);
        generic_forget(&host, &decoded);
        refused(&host, latest_append(&host, 0), PORT_NOT_FOUND, BIGQUERY_STORAGE_ERROR_NONE);
        decoded = generic_request_of(&host, latest(&host, &bigquery_insert_table_method, 0));
        const struct bigquery_insert_table_request *insert = decoded.value;
        assert_int_equal(insert->table->schema->fields.count, 1);
        generic_forget(&host, &decoded);
        host_fini(&host);
    }
}

/* Goal: what a row was is no change, and what the policy gets is what the serializer gave. */
static void what_is_no_change_goes_to_the_policy(void **state)
{
    (void)state;
    struct host host;
    begin_changes(&host, BIGQUERY_SEQUENCE_POSITION);
    change(&host, 1, SINK_UPDATE_BEFORE, 1);
    const struct sink_effect *failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.reason, SINK_REASON_REJECTED);
    change(&host, 2, SINK_INSERT, 2);
    host_barrier(&host, 1);
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 0);
    failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.token, 2);
    assert_bytes_equal(failed->u.failed.payload, BYTES_LITERAL("row"));
    host_fini(&host);
}

/* --- the client -------------------------------------------------------------------------------- */

/* Goal: without offsets only what failed goes again, at once and behind what is on its way (R14). */
static void a_retried_append_goes_alone(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    const uint32_t second = latest_append(&host, 1);
    const uint32_t third = latest_append(&host, 0);
    refused(&host, latest_append(&host, 2), PORT_ABORTED, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 4);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, second);
    taken(&host, third);
    assert_int_equal(appends(&host), 4);
    assert_not_done(&host);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    assert_int_equal(openings(&host), 1);
    host_fini(&host);
}

/* Goal: what was not sent yet stays behind what failed. Method: room for two of three. */
static void a_retried_append_goes_before_what_was_not_sent(void **state)
{
    (void)state;
    struct host host;
    begin_single(&host);
    host.send_room = 3;
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host.send_room = 0;
    host_record(&host, 3, "k", "three");
    host_barrier(&host, 1);
    assert_int_equal(appends(&host), 1);
    refused(&host, latest_append(&host, 0), PORT_ABORTED, BIGQUERY_STORAGE_ERROR_NONE);
    host.send_room = 64;
    host_more(&host);
    assert_append(&host, latest_append(&host, 2), TO, "one", 1);
    assert_append(&host, latest_append(&host, 1), TO, "two", 1);
    assert_append(&host, latest_append(&host, 0), TO, "three", 1);
    host_fini(&host);
}

static void a_lost_connection_is_opened_again_and_all_is_sent_again(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    taken(&host, latest_append(&host, 2));
    host_end_stream(&host, latest_append(&host, 0), PORT_UNAVAILABLE);
    assert_int_equal(appends(&host), 3);
    host_fire(&host);
    assert_int_equal(openings(&host), 2);
    assert_int_equal(appends(&host), 5);
    assert_append(&host, latest_append(&host, 1), TO, "two", 1);
    assert_append(&host, latest_append(&host, 0), TO, "three", 1);
    host_fini(&host);
}

/* --- repairs ----------------------------------------------------------------------------------- */

/* Goal: a repair opens another connection, so it must not begin while appends are on their way. */
static void a_repair_waits_for_all_that_is_on_its_way(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    const uint32_t second = latest_append(&host, 1);
    const uint32_t third = latest_append(&host, 0);
    refused(&host, latest_append(&host, 2), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    refused(&host, second, PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 3);
    assert_int_equal(host.cancel_count, 0);
    taken(&host, third);
    assert_int_equal(host.cancel_count, 1);
    assert_int_equal(openings(&host), 2);
    assert_int_equal(appends(&host), 4);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    assert_not_done(&host);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    assert_int_equal(host.phases[BIGQUERY_EAGER_PHASE_REPAIRED], 1);
    host_fini(&host);
}

static void a_barrier_waits_for_what_came_behind_a_repair(void **state)
{
    (void)state;
    struct host host;
    begin_single(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    host_record(&host, 3, "k", "three");
    host_barrier(&host, 1);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    assert_int_equal(appends(&host), 4);
    assert_append(&host, latest_append(&host, 1), TO, "two", 1);
    taken(&host, latest_append(&host, 1));
    assert_not_done(&host);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    host_fini(&host);
}

/* Goal: the budget of section 2.1: as many attempts as it says, the first at once, pauses between. */
static void a_repair_ends_with_its_budget(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 3);
    open_writer(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 2);
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 2);
    host_fire(&host);
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    host_fire(&host);
    assert_int_equal(appends(&host), 4);
    refused(&host, latest_append(&host, 0), PORT_UNKNOWN, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "UNKNOWN");
    host_fini(&host);
}

static void a_stale_stream_is_opened_again(void **state)
{
    static const enum bigquery_storage_error reasons[] = {
        BIGQUERY_STREAM_FINALIZED,
        BIGQUERY_STREAM_NOT_FOUND,
        BIGQUERY_INVALID_STREAM_STATE,
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
        struct host host;
        begin(&host);
        write_interval(&host, "one");
        refused(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, reasons[i]);
        assert_int_equal(openings(&host), 2);
        taken(&host, latest_append(&host, 0));
        assert_done(&host, 1);
        host_fini(&host);
    }
}

/* Goal: M21. Method: nothing is heard until the watchdog ends the connection; all siblings are mended. */
static void an_answer_that_never_comes_is_mended(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    host_fire(&host);
    assert_false(host.failed);
    assert_int_equal(openings(&host), 2);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    taken(&host, latest_append(&host, 0));
    taken(&host, latest_append(&host, 0));
    assert_int_equal(appends(&host), 6);
    assert_done(&host, 1);
    host_fini(&host);
}

static void what_no_repetition_mends_fails(void **state)
{
    static const struct {
        enum port_code code;
        enum bigquery_storage_error reason;
    } failures[] = {
        {PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE},
        {PORT_UNAUTHENTICATED, BIGQUERY_STORAGE_ERROR_NONE},
        {PORT_INVALID_ARGUMENT, BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS},
        {PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS},
        {PORT_OUT_OF_RANGE, BIGQUERY_OFFSET_OUT_OF_RANGE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(failures); i++) {
        struct host host;
        three_on_their_way(&host);
        refused(&host, latest_append(&host, 2), failures[i].code, failures[i].reason);
        host_assert_failed(&host, SINK_REASON_SERVICE, "append failed");
        host_fini(&host);
    }
}

/* --- rows that are none ------------------------------------------------------------------------ */

static void a_row_that_is_none_is_routed_and_the_rest_goes_again(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_barrier(&host, 1);
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 0);
    const struct sink_effect *failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.token, 1);
    assert_int_equal(failed->u.failed.reason, SINK_REASON_REJECTED);
    assert_bytes_equal(failed->u.failed.payload, BYTES_LITERAL("one"));
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    taken(&host, latest_append(&host, 0));
    assert_not_done(&host);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    assert_done(&host, 1);
    host_fini(&host);
}

static void bad_rows_of_siblings_are_routed_as_well(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    const uint32_t second = latest_append(&host, 1);
    const uint32_t third = latest_append(&host, 0);
    bad_row(&host, latest_append(&host, 2), PORT_INVALID_ARGUMENT, 0);
    bad_row(&host, second, PORT_INVALID_ARGUMENT, 0);
    assert_int_equal(host.counts[SINK_EFFECT_RECORD_FAILED], 0);
    taken(&host, third);
    assert_int_equal(host_count(&host, SINK_EFFECT_RECORD_FAILED), 2);
    assert_int_equal(appends(&host), 3);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    assert_done(&host, 1);
    host_fini(&host);
}

static void rows_named_in_an_outage_are_sent_again(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_barrier(&host, 1);
    bad_row(&host, latest_append(&host, 0), PORT_UNKNOWN, 0);
    assert_int_equal(host.counts[SINK_EFFECT_RECORD_FAILED], 0);
    assert_append(&host, latest_append(&host, 0), TO, "one", 2);
    host_fini(&host);
}

/* Goal: each answer with bad rows must take some out, or the append would go round for ever. */
static void row_errors_that_name_no_row_fail(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 5);
    host_assert_failed(&host, SINK_REASON_SERVICE, "name no row");
    host_fini(&host);
}

/* --- tables ------------------------------------------------------------------------------------ */

/* Goal: 5.2, first line, whichever code says it, and whoever is first to make the table. */
static void a_missing_table_is_created_once(void **state)
{
    static const enum port_code missing[] = {PORT_PERMISSION_DENIED, PORT_NOT_FOUND};
    static const enum port_code answers[] = {PORT_OK, PORT_ALREADY_EXISTS};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(missing); i++) {
        struct host host;
        begin(&host);
        write_interval(&host, "one");
        refused(&host, latest_append(&host, 0), missing[i], BIGQUERY_STORAGE_ERROR_NONE);
        const uint32_t insert = latest(&host, &bigquery_insert_table_method, 0);
        assert_int_not_equal(insert, NONE);
        if (answers[i] == PORT_OK) {
            host_answer_ok(&host, insert, NULL);
        } else {
            refuse_call(&host, insert, answers[i]);
        }
        assert_int_equal(appends(&host), 2);
        refused(&host, latest_append(&host, 0), missing[i], BIGQUERY_STORAGE_ERROR_NONE);
        assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 1);
        host_fire(&host);
        taken(&host, latest_append(&host, 0));
        assert_done(&host, 1);
        host_fini(&host);
    }
}

/* Goal: who may not write at all is told so within the budget (M14). */
static void a_denial_that_is_meant_ends_with_the_budget(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 2);
    open_writer(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_ALREADY_EXISTS);
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_fire(&host);
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "PERMISSION_DENIED");
    assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 1);
    host_fini(&host);
}

static void a_missing_table_fails_where_none_is_created(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_CREATE_DISPOSITION, BIGQUERY_CREATE_NEVER);
    open_writer(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_SERVICE, "PERMISSION_DENIED");
    assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 0);
    host_fini(&host);
}

static void a_table_that_cannot_be_created_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_UNAVAILABLE);
    host_fire(&host);
    assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 2);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "could not be created");
    host_fini(&host);
}

/* --- columns ----------------------------------------------------------------------------------- */

/* Rows whose key is "grown" have a second column. */
static enum sink_user_result grows(void *context,
                                   const struct sink_record *record,
                                   struct bytes destination,
                                   uint64_t *version,
                                   struct bytes *description)
{
    const bool is_grown = bytes_equal(record->key, BYTES_LITERAL("grown"));
    (void)context;
    (void)destination;
    *version = is_grown ? 2 : 1;
    *description = is_grown ? BYTES_LITERAL("\x0a\x06\x0a\x02id\x10\x01\x0a\x06\x0a\x02no\x10\x01")
                            : BYTES_LITERAL("\x0a\x06\x0a\x02id\x10\x01");
    return SINK_USER_OK;
}

static void begin_growing(struct host *host, bool may_add, uint32_t attempts_max)
{
    prepare();
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, attempts_max);
    user.user.describe = grows;
    option(BIGQUERY_OPTION_ALLOW_NEW_FIELDS, may_add);
    open_writer(host);
}

/* Answer the look at the table: it has so many columns. */
static void seen(struct host *host, uint32_t count)
{
    static const struct bigquery_table_field_schema fields[] = {
        {{(const uint8_t *)"id", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
        {{(const uint8_t *)"no", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
    };
    const void *items[] = {&fields[0], &fields[1]};
    const struct bigquery_table_schema schema = {{items, count}};
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

/* Goal: rows before a change of schema go by the old one, those behind it by the new one. Method: a row of
 * each; nothing of the second leaves before the first is stored and the table has the column. */
static void a_change_of_schema_waits_for_the_rows_before_it(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, true, 10);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "grown", "two");
    assert_true(host.busy);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    assert_int_equal(appends(&host), 1);
    seen(&host, 1);
    assert_int_equal(appends(&host), 1);
    patched(&host);
    assert_false(host.busy);
    assert_int_equal(openings(&host), 2);
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    host_barrier(&host, 1);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    host_fini(&host);
}

/* Goal: a change of schema begins when a repair has stored the last of the rows before it. Method: the table
 * of the first row is missing. */
static void a_change_of_schema_follows_a_repair(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, true, 10);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "grown", "two");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_answer_ok(&host, latest(&host, &bigquery_insert_table_method, 0), NULL);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    seen(&host, 1);
    patched(&host);
    assert_false(host.busy);
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    host_fini(&host);
}

/* Goal: without leave to change the table the schema changes all the same; what it lacks is then refused. */
static void a_table_that_may_not_change_refuses_what_it_lacks(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, false, 10);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "grown", "two");
    taken(&host, latest_append(&host, 0));
    assert_int_equal(sends_of(&host, &bigquery_get_table_method), 0);
    assert_append(&host, latest_append(&host, 0), TO, "two", 1);
    mismatch(&host);
    host_assert_failed(&host, SINK_REASON_SERVICE, "append failed");
    host_fini(&host);
}

/* Goal: a mismatch has the table changed once, and then waits half a minute at a time (5.2, M18), however
 * small the recovery's budget is. */
static void a_mismatch_changes_the_table_once_and_then_waits(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, true, 1);
    host_record(&host, 1, "grown", "one");
    host_barrier(&host, 1);
    mismatch(&host);
    seen(&host, 1);
    patched(&host);
    assert_int_equal(appends(&host), 2);
    assert_int_equal(openings(&host), 2);
    for (uint32_t i = 0; i < 5; i++) {
        mismatch(&host);
        assert_int_equal(appends(&host), 2 + i);
        assert_in_range(host.timer_max - host.now.monotonic, SECONDS(30), SECONDS(38));
        host_fire(&host);
        assert_int_equal(openings(&host), 3 + i);
    }
    assert_int_equal(sends_of(&host, &bigquery_patch_table_method), 1);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    host_fini(&host);
}

/* Goal: rows that a change of the table saves are not routed (AL13). Method: bad rows named beside a
 * mismatch. */
static void a_mismatch_comes_before_its_bad_rows(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, true, 10);
    host_record(&host, 1, "grown", "one");
    host_barrier(&host, 1);
    const struct bigquery_row_error error = {.index = 0, .code = BIGQUERY_ROW_FIELDS_ERROR};
    const void *items[] = {&error};
    const struct bigquery_append_rows_response response = {.row_errors = {items, 1}};
    struct port_answer answer = {.outcome = PORT_OUTCOME_ERROR,
                                 .status = port_status_grpc(PORT_INVALID_ARGUMENT),
                                 .payload = &response};
    answer.status.causes[0].reason = BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS;
    host_answer_stream(&host, latest_append(&host, 0), &answer);
    assert_int_equal(host.counts[SINK_EFFECT_RECORD_FAILED], 0);
    seen(&host, 1);
    patched(&host);
    assert_append(&host, latest_append(&host, 0), TO, "one", 1);
    taken(&host, latest_append(&host, 0));
    assert_done(&host, 1);
    host_fini(&host);
}

/* Goal: each kind of failure has its own budget (AL11, AL12): a denial behind a change of the table ends with
 * the recovery's, and a mismatch behind a denial does not. */
static void columns_and_tables_are_awaited_apart(void **state)
{
    (void)state;
    struct host host;
    begin_growing(&host, true, 2);
    host_record(&host, 1, "grown", "one");
    host_barrier(&host, 1);
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_ALREADY_EXISTS);
    mismatch(&host);
    seen(&host, 1);
    patched(&host);
    for (uint32_t i = 0; i < 4; i++) {
        mismatch(&host);
        host_fire(&host);
    }
    assert_false(host.failed);
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_fire(&host);
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "PERMISSION_DENIED");
    host_fini(&host);
}

/* --- life -------------------------------------------------------------------------------------- */

/* Goal: what failed is not forgotten: no barrier behind it is answered (AL01, and AL21 of connectors that
 * answer one all the same). */
static void no_barrier_is_answered_behind_a_failure(void **state)
{
    (void)state;
    struct host host;
    begin_single(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    refused(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE);
    assert_true(host.failed);
    host_barrier(&host, 1);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 0);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 0);
    host_fini(&host);
}

static void a_close_cancels_what_is_on_its_way(void **state)
{
    (void)state;
    struct host host;
    three_on_their_way(&host);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_fini(&host);
    begin(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 2);
    host_fini(&host);
}

static void state_of_another_sink_is_refused(void **state)
{
    (void)state;
    struct host host;
    prepare();
    assert_int_equal(host_init(&host, &bigquery_at_least_once_writer_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("piece")};
    struct sink_event event = {.kind = SINK_EVENT_OPEN};
    event.u.open.pieces = &piece;
    event.u.open.piece_count = 1;
    event.u.open.restored = true;
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "keeps no state");
    host_fini(&host);
}

static void a_verdict_of_the_policy_ends_the_life(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", VALUE_FAILS);
    host_policy(&host, SINK_EVENT_POLICY_FAILED, 1);
    host_assert_failed(&host, SINK_REASON_POLICY, "policy");
    host_fini(&host);
}

/* Goal: a sink without state asks nothing of the job; options are checked as those of its sibling. */
static void options_are_checked_and_any_job_will_do(void **state)
{
    (void)state;
    uint8_t text[256];
    struct byte_writer message;
    byte_writer_init(&message, text, sizeof(text));
    prepare();
    user.job.checkpointing = false;
    user.job.runtime_automatic = true;
    user.job.barriers_exactly_once = false;
    assert_int_equal(bigquery_at_least_once.validate(user.options, &user.job, &message), ERR_OK);
    option(BIGQUERY_EAGER_OPTION_MAX_IN_FLIGHT_BYTES, 0);
    assert_int_equal(bigquery_at_least_once.validate(user.options, &user.job, &message),
                     ERR_INVALID);
    assert_bytes_equal(byte_writer_view(&message),
                       BYTES_LITERAL("max_in_flight_bytes: 0 is not within 1 to "
                                     "9223372036854775807"));
}

TEST_MAIN(bigquery_at_least_once,
          TEST(rows_go_to_the_default_stream_and_a_barrier_waits_for_them),
          TEST(each_table_has_a_connection_of_its_own),
          TEST(what_is_no_row_is_skipped_or_goes_to_the_policy),
          TEST(a_record_is_counted_once),
          TEST(a_resolver_without_an_answer_fails),
          TEST(a_writer_with_too_much_under_way_takes_no_more),
          TEST(an_idle_table_is_forgotten_when_nothing_waits),
          TEST(an_interval_sends_what_waits_and_waits_for_it),
          TEST(a_row_says_how_it_changes_the_table),
          TEST(the_fields_of_changes_are_no_columns),
          TEST(what_is_no_change_goes_to_the_policy),
          TEST(a_retried_append_goes_alone),
          TEST(a_retried_append_goes_before_what_was_not_sent),
          TEST(a_lost_connection_is_opened_again_and_all_is_sent_again),
          TEST(a_repair_waits_for_all_that_is_on_its_way),
          TEST(a_barrier_waits_for_what_came_behind_a_repair),
          TEST(a_repair_ends_with_its_budget),
          TEST(a_stale_stream_is_opened_again),
          TEST(an_answer_that_never_comes_is_mended),
          TEST(what_no_repetition_mends_fails),
          TEST(a_row_that_is_none_is_routed_and_the_rest_goes_again),
          TEST(bad_rows_of_siblings_are_routed_as_well),
          TEST(rows_named_in_an_outage_are_sent_again),
          TEST(row_errors_that_name_no_row_fail),
          TEST(a_missing_table_is_created_once),
          TEST(a_denial_that_is_meant_ends_with_the_budget),
          TEST(a_missing_table_fails_where_none_is_created),
          TEST(a_table_that_cannot_be_created_fails),
          TEST(a_change_of_schema_waits_for_the_rows_before_it),
          TEST(a_change_of_schema_follows_a_repair),
          TEST(a_table_that_may_not_change_refuses_what_it_lacks),
          TEST(a_mismatch_changes_the_table_once_and_then_waits),
          TEST(a_mismatch_comes_before_its_bad_rows),
          TEST(columns_and_tables_are_awaited_apart),
          TEST(no_barrier_is_answered_behind_a_failure),
          TEST(a_close_cancels_what_is_on_its_way),
          TEST(state_of_another_sink_is_refused),
          TEST(a_verdict_of_the_policy_ends_the_life),
          TEST(options_are_checked_and_any_job_will_do))
