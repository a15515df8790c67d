/* The exactly-once sink, half by half: what is appended, handed over and flushed; how each failure is
 * repaired; what a restored stream is tried with; what fails, and what a close leaves.
 * link: sinks/bigquery/exactly_once/exactly_once sinks/bigquery/exactly_once/exactly_once_writer
 * link: sinks/bigquery/exactly_once/exactly_once_committer sinks/bigquery/exactly_once/destination sinks/bigquery/client/appender
 * link: sinks/bigquery/destination_host sinks/bigquery/table_writer sinks/bigquery/table_caller sinks/bigquery/schema sinks/bigquery/reconcile sinks/bigquery/client/appends_testkit
 * link: sinks/bigquery/client/append sinks/bigquery/client/classify sinks/bigquery/frames sinks/bigquery/options
 * link: sinks/generic/user_testkit sinks/host_testkit sinks/parking sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err
 */
#include "sinks/bigquery/exactly_once/exactly_once.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/bigquery/client/appends_testkit.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/generic/user_testkit.h"
#include "sinks/port/bigquery.h"

#include <string.h>

#define TABLE "projects/p/datasets/d/tables/t"
#define S1    TABLE "/streams/s1"
#define S2    TABLE "/streams/s2"

static struct generic_user user;

static void option(enum bigquery_option which, uint64_t number)
{
    user.options[which].number = number;
}

static void prepare(void)
{
    generic_user_init(&user, &bigquery_exactly_once);
    user.user.describe = one_column;
}

static void open_writer(struct host *host)
{
    generic_open(host, &user, &bigquery_exactly_once_writer_half);
}

static void begin(struct host *host)
{
    prepare();
    open_writer(host);
}

/* --- what was sent, and its answers ------------------------------------------------------------ */

/* An append's stream and offset, its first row and how many there are. */
static void assert_append(struct host *host,
                          uint32_t send,
                          const char *stream,
                          int64_t offset,
                          const char *first,
                          uint32_t count)
{
    struct generic_request decoded = generic_request_of(host, send);
    const struct bigquery_append_rows_request *request = decoded.value;
    assert_bytes_equal(request->write_stream, bytes_of_text(stream));
    assert_non_null(request->offset);
    assert_int_equal(request->offset->value, offset);
    const struct port_list *rows = &request->proto_rows->rows->serialized_rows;
    assert_int_equal(rows->count, count);
    const struct bigquery_row *row = rows->items[0];
    assert_bytes_equal(row->serialized, bytes_of_text(first));
    generic_forget(host, &decoded);
}

static void made(struct host *host, const char *stream)
{
    const struct bigquery_write_stream answer = {.name = bytes_of_text(stream),
                                                 .type = BIGQUERY_BUFFERED};
    host_answer_ok(host, latest(host, &bigquery_create_write_stream_method, 0), &answer);
}

static void exists(struct host *host, uint32_t send)
{
    refused(host, send, PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS);
}

static void ahead(struct host *host, uint32_t send)
{
    refused(host, send, PORT_OUT_OF_RANGE, BIGQUERY_OFFSET_OUT_OF_RANGE);
}

static void end_flush(struct host *host)
{
    assert_int_equal(host_count(host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_simple(host, SINK_EVENT_POLICY_FLUSHED);
}

/* Rows up to a barrier whose append has left: the first of a fresh stream. */
static void write_interval(struct host *host, const char *value)
{
    host_record(host, 1, "k", value);
    host_barrier(host, 1);
    made(host, S1);
}

static void assert_handed_over(const struct host *host, const char *stream, uint64_t offset)
{
    struct bigquery_committable found;
    assert_non_null(host->committables);
    assert_int_equal(bigquery_committable_decode(host->committables->data, &found), ERR_OK);
    assert_bytes_equal(found.stream, bytes_of_text(stream));
    assert_int_equal(found.offset, offset);
}

static struct bigquery_piece piece_of(const struct host *host)
{
    struct bigquery_piece found;
    const struct sink_effect *effect = host_effect(host, SINK_EFFECT_STATE_PIECE, 0);
    assert_int_equal(bigquery_piece_decode(effect->u.piece, &found), ERR_OK);
    return found;
}

/* --- intervals --------------------------------------------------------------------------------- */

static void rows_of_an_interval_go_in_one_append_of_a_fresh_stream(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 1);
    host_record(&host, 2, "k", "two");
    assert_int_equal(host.send_count, 0);
    host_barrier(&host, 7);
    assert_int_equal(host.send_count, 1);
    made(&host, S1);
    assert_int_equal(openings(&host), 1);
    assert_append(&host, latest_append(&host, 0), S1, 0, "one", 2);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    assert_int_equal(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, 7);
    assert_handed_over(&host, S1, 1);
    const struct bigquery_piece piece = piece_of(&host);
    assert_bytes_equal(piece.table, BYTES_LITERAL(TABLE));
    assert_bytes_equal(piece.stream, BYTES_LITERAL(S1));
    assert_int_equal(piece.next_offset, 2);
    assert_int_equal(piece.checkpoint, 7);
    host_fini(&host);
}

static void full_appends_are_pipelined_at_the_offsets_that_follow(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 6);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_record(&host, 3, "k", "three");
    made(&host, S1);
    host_record(&host, 4, "k", "four");
    assert_int_equal(appends(&host), 2);
    assert_append(&host, latest_append(&host, 1), S1, 0, "one", 2);
    assert_append(&host, latest_append(&host, 0), S1, 2, "three", 1);
    assert_int_equal(openings(&host), 1);
    host_fini(&host);
}

/* Goal: nothing new, nothing handed over (4.8); the stream goes on. */
static void an_interval_without_rows_hands_over_state_only(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    const uint64_t lists = host.counts[SINK_EFFECT_COMMITTABLES];
    host_barrier(&host, 2);
    end_flush(&host);
    assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], lists);
    assert_int_equal(piece_of(&host).next_offset, 1);
    host_record(&host, 2, "k", "two");
    host_barrier(&host, 3);
    assert_append(&host, latest_append(&host, 0), S1, 1, "two", 1);
    stored(&host, latest_append(&host, 0), 1);
    end_flush(&host);
    assert_handed_over(&host, S1, 1);
    assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 1);
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
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 3);
    end_flush(&host);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMITTABLES), 0);
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

static void a_writer_with_too_much_under_way_takes_no_more(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    option(BIGQUERY_OPTION_MAX_IN_FLIGHT_APPENDS, 2);
    open_writer(&host);
    host_record(&host, 1, "k", "a");
    host_record(&host, 2, "k", "b");
    made(&host, S1);
    assert_false(host.busy);
    host_record(&host, 3, "k", "c");
    assert_true(host.busy);
    stored(&host, latest_append(&host, 1), 0);
    assert_false(host.busy);
    host_fini(&host);
}

static void an_idle_table_is_forgotten_when_its_snapshot_has_all(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    host.now.monotonic += HOURS(1);
    host_barrier(&host, 2);
    end_flush(&host);
    assert_int_equal(host_count(&host, SINK_EFFECT_STATE_PIECE), 1);
    host.now.monotonic += 1;
    host_barrier(&host, 3);
    end_flush(&host);
    assert_int_equal(host_count(&host, SINK_EFFECT_STATE_PIECE), 0);
    assert_int_equal(host.cancel_count, 1);
    host_record(&host, 2, "k", "two");
    host_simple(&host, SINK_EVENT_END_OF_INPUT);
    made(&host, S2);
    assert_append(&host, latest_append(&host, 0), S2, 0, "two", 1);
    host_fini(&host);
}

/* --- the client layer -------------------------------------------------------------------------- */

/* Two appends on their way: at 0 and at 1. */
static void two_on_their_way(struct host *host)
{
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    open_writer(host);
    host_record(host, 1, "k", "a");
    host_record(host, 2, "k", "b");
    host_barrier(host, 1);
    made(host, S1);
    assert_int_equal(appends(host), 2);
}

static void a_retried_append_pulls_back_those_behind_it(void **state)
{
    (void)state;
    struct host host;
    two_on_their_way(&host);
    const uint32_t first = latest_append(&host, 1);
    const uint32_t second = latest_append(&host, 0);
    refused(&host, first, PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 4);
    assert_int_equal(openings(&host), 1);
    assert_append(&host, latest_append(&host, 1), S1, 0, "a", 1);
    assert_append(&host, latest_append(&host, 0), S1, 1, "b", 1);
    /* What is still said of the first requests is ignored, success included. */
    ahead(&host, second);
    stored(&host, second, 1);
    assert_int_equal(appends(&host), 4);
    stored(&host, latest_append(&host, 1), 0);
    stored(&host, latest_append(&host, 0), 1);
    end_flush(&host);
    assert_handed_over(&host, S1, 1);
    host_fini(&host);
}

static void a_lost_connection_is_opened_again_and_all_is_sent_again(void **state)
{
    (void)state;
    struct host host;
    two_on_their_way(&host);
    stored(&host, latest_append(&host, 1), 0);
    host_end_stream(&host, latest_append(&host, 0), PORT_UNAVAILABLE);
    assert_int_equal(appends(&host), 2);
    host_fire(&host);
    assert_int_equal(openings(&host), 2);
    assert_append(&host, latest_append(&host, 0), S1, 1, "b", 1);
    exists(&host, latest_append(&host, 0));
    end_flush(&host);
    assert_handed_over(&host, S1, 1);
    host_fini(&host);
}

static void an_answer_that_never_comes_ends_the_connection(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    const nanos sent = host.now.monotonic;
    host_fire(&host);
    assert_int_equal(host.now.monotonic - sent, MINUTES(5));
    assert_int_equal(host.cancel_count, 1);
    /* The repair is the writer's: the same rows at the same offset on a new connection. */
    assert_int_equal(openings(&host), 2);
    assert_append(&host, latest_append(&host, 0), S1, 0, "one", 1);
    exists(&host, latest_append(&host, 0));
    end_flush(&host);
    host_fini(&host);
}

static void a_connection_without_progress_is_final(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_RETRY_DURATION, SECONDS(1));
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 2);
    open_writer(&host);
    write_interval(&host, "one");
    host_end_stream(&host, latest_append(&host, 0), PORT_UNAVAILABLE);
    host_fire(&host);
    host.now.monotonic += SECONDS(1);
    host_end_stream(&host, latest_append(&host, 0), PORT_UNAVAILABLE);
    /* The first repeat of the repair goes at once. */
    assert_int_equal(appends(&host), 3);
    assert_false(host.failed);
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    host_fini(&host);
}

static void an_exhausted_service_is_given_time(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_RESOURCE_EXHAUSTED, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 1);
    host_fire(&host);
    assert_int_equal(appends(&host), 2);
    assert_int_equal(openings(&host), 1);
    host_fini(&host);
}

/* --- repairs ----------------------------------------------------------------------------------- */

static void stored_before_is_stored(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    exists(&host, latest_append(&host, 0));
    end_flush(&host);
    assert_handed_over(&host, S1, 0);
    host_fini(&host);
}

static void a_failed_append_is_repaired_at_its_offset_when_all_are_answered(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RETRY_MAX_ATTEMPTS, 1);
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    open_writer(&host);
    host_record(&host, 1, "k", "a");
    host_record(&host, 2, "k", "b");
    host_barrier(&host, 1);
    made(&host, S1);
    const uint32_t second = latest_append(&host, 0);
    refused(&host, latest_append(&host, 1), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 2);
    ahead(&host, second);
    assert_append(&host, latest_append(&host, 0), S1, 0, "a", 1);
    assert_int_equal(appends(&host), 3);
    stored(&host, latest_append(&host, 0), 0);
    assert_append(&host, latest_append(&host, 0), S1, 1, "b", 1);
    stored(&host, latest_append(&host, 0), 1);
    end_flush(&host);
    assert_handed_over(&host, S1, 1);
    host_fini(&host);
}

static void a_repair_ends_with_its_budget(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RETRY_MAX_ATTEMPTS, 1);
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 3);
    open_writer(&host);
    write_interval(&host, "one");
    refused(&host, latest_append(&host, 0), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    refused(&host, latest_append(&host, 0), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 2);
    host_fire(&host);
    assert_int_equal(appends(&host), 3);
    refused(&host, latest_append(&host, 0), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "used up");
    host_fini(&host);
}

static void a_row_that_is_none_is_routed_and_the_rest_moves_up(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 2);
    open_writer(&host);
    host_record(&host, 1, "k", "a");
    host_record(&host, 2, "k", "b");
    host_record(&host, 3, "k", "c");
    host_barrier(&host, 1);
    made(&host, S1);
    const uint32_t behind = latest_append(&host, 0);
    bad_row(&host, latest_append(&host, 1), PORT_INVALID_ARGUMENT, 0);
    assert_int_equal(appends(&host), 2);
    ahead(&host, behind);
    const struct sink_effect *failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.token, 1);
    assert_bytes_equal(failed->u.failed.payload, BYTES_LITERAL("a"));
    assert_append(&host, latest_append(&host, 0), S1, 0, "b", 1);
    stored(&host, latest_append(&host, 0), 0);
    assert_append(&host, latest_append(&host, 0), S1, 1, "c", 1);
    stored(&host, latest_append(&host, 0), 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    end_flush(&host);
    assert_handed_over(&host, S1, 1);
    host_fini(&host);
}

static void an_append_of_bad_rows_only_leaves_nothing(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    end_flush(&host);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMITTABLES), 0);
    assert_int_equal(appends(&host), 1);
    host_fini(&host);
}

/* Goal: rows named under a transient code are not to blame (#213). */
static void rows_named_in_an_outage_are_sent_again(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    bad_row(&host, latest_append(&host, 0), PORT_UNAVAILABLE, 0);
    assert_int_equal(host_count(&host, SINK_EFFECT_RECORD_FAILED), 0);
    assert_append(&host, latest_append(&host, 0), S1, 0, "one", 1);
    assert_int_equal(appends(&host), 2);
    host_fini(&host);
}

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

/* Goal: a replay that makes no progress ends (EO30). Method: what was behind a refused append is refused for
 * a row that it has not. */
static void a_replay_whose_errors_name_no_row_fails(void **state)
{
    (void)state;
    struct host host;
    two_on_their_way(&host);
    const uint32_t behind = latest_append(&host, 0);
    bad_row(&host, latest_append(&host, 1), PORT_INVALID_ARGUMENT, 0);
    ahead(&host, behind);
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 5);
    host_assert_failed(&host, SINK_REASON_SERVICE, "name no row");
    host_fini(&host);
}

/* Goal: rows are counted once, and an append that is only stranded behind one that failed is no failure
 * (2.3). Method: two on their way, of which the first fails within the service. */
static void rows_and_failures_are_counted_once(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    option(BIGQUERY_OPTION_RETRY_MAX_ATTEMPTS, 1);
    open_writer(&host);
    host_record(&host, 1, "k", "a");
    host_record(&host, 2, "k", "b");
    host_barrier(&host, 1);
    made(&host, S1);
    const uint32_t behind = latest_append(&host, 0);
    refused(&host, latest_append(&host, 1), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    ahead(&host, behind);
    stored(&host, latest_append(&host, 0), 0);
    stored(&host, latest_append(&host, 0), 1);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_RECORDS_SENT], 2);
    assert_int_equal(host.metrics[BIGQUERY_METRIC_APPEND_ERRORS], 1);
    host_fini(&host);
}

static void an_append_stored_behind_a_refused_one_fails(void **state)
{
    (void)state;
    struct host host;
    two_on_their_way(&host);
    const uint32_t behind = latest_append(&host, 0);
    bad_row(&host, latest_append(&host, 1), PORT_INVALID_ARGUMENT, 0);
    stored(&host, behind, 1);
    host_assert_failed(&host, SINK_REASON_SERVICE, "behind a refused one");
    host_fini(&host);
}

static void a_replay_that_meets_stored_rows_fails(void **state)
{
    (void)state;
    struct host host;
    two_on_their_way(&host);
    const uint32_t behind = latest_append(&host, 0);
    bad_row(&host, latest_append(&host, 1), PORT_INVALID_ARGUMENT, 0);
    ahead(&host, behind);
    exists(&host, latest_append(&host, 0));
    host_assert_failed(&host, SINK_REASON_SERVICE, "append failed");
    host_fini(&host);
}

static void an_offset_that_is_echoed_wrong_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    stored(&host, latest_append(&host, 0), 3);
    host_assert_failed(&host, SINK_REASON_SERVICE, "DATA_LOSS");
    host_fini(&host);
}

/* Goal: rows of this interval are in a stream that is gone: only a restart brings them back. */
static void a_stream_that_is_gone_in_mid_run_fails(void **state)
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
        host_assert_failed(&host, SINK_REASON_SERVICE, "append failed");
        host_fini(&host);
    }
}

/* --- streams and tables ------------------------------------------------------------------------ */

static void a_missing_table_is_created_once(void **state)
{
    static const enum port_code answers[] = {PORT_OK, PORT_ALREADY_EXISTS};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        struct host host;
        begin(&host);
        host_record(&host, 1, "k", "one");
        host_barrier(&host, 1);
        refuse_call(&host, 0, i == 0 ? PORT_PERMISSION_DENIED : PORT_NOT_FOUND);
        const uint32_t insert = latest(&host, &bigquery_insert_table_method, 0);
        assert_int_not_equal(insert, NONE);
        if (answers[i] == PORT_OK) {
            host_answer_ok(&host, insert, &(struct bigquery_table){0});
        } else {
            refuse_call(&host, insert, answers[i]);
        }
        /* Its metadata is not everywhere yet (BQW-46): wait, and create no other. */
        refuse_call(
            &host, latest(&host, &bigquery_create_write_stream_method, 0), PORT_PERMISSION_DENIED);
        assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 2);
        host_fire(&host);
        assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 3);
        assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 1);
        made(&host, S1);
        assert_int_equal(appends(&host), 1);
        host_fini(&host);
    }
}

static void a_missing_table_fails_where_none_is_created(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_CREATE_DISPOSITION, BIGQUERY_CREATE_NEVER);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    refuse_call(&host, 0, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_SERVICE, "CreateWriteStream failed: NOT_FOUND");
    host_fini(&host);
}

static void a_stream_is_asked_for_again_after_an_unknown_outcome(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 2);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    assert_int_equal(host.send_count, 1);
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "used up: UNAVAILABLE");
    host_fini(&host);
}

static void a_table_that_cannot_be_created_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    refuse_call(&host, 0, PORT_NOT_FOUND);
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    host_fire(&host);
    refuse_call(&host, 2, PORT_INVALID_ARGUMENT);
    host_assert_failed(&host, SINK_REASON_SERVICE, "could not be created: INVALID_ARGUMENT");
    host_fini(&host);
}

static void a_stream_without_a_name_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    made(&host, "");
    host_assert_failed(&host, SINK_REASON_SERVICE, "without a name");
    host_fini(&host);
}

/* --- restored streams -------------------------------------------------------------------------- */

#define PIECES_MAX 3u

/* Pieces of one table: a stream, an offset and a checkpoint each. */
static void restore(struct host *host, const struct bigquery_piece *pieces, uint32_t count)
{
    uint8_t bytes[PIECES_MAX][256];
    struct sink_piece items[PIECES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = bigquery_piece_size(&pieces[i]);
        assert_true(size <= sizeof(bytes[i]));
        bigquery_piece_encode(&pieces[i], bytes[i]);
        items[i].data = (struct bytes){bytes[i], size};
    }
    memset(host, 0, sizeof(*host));
    assert_int_equal(host_init(host, &bigquery_exactly_once_writer_half, &user.env), ERR_OK);
    struct sink_event event = {.kind = SINK_EVENT_OPEN};
    event.u.open.pieces = items;
    event.u.open.piece_count = count;
    event.u.open.restored = true;
    host_step(host, &event);
}

static void restore_one(struct host *host)
{
    const struct bigquery_piece piece = {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 3, 4};
    prepare();
    option(BIGQUERY_OPTION_MAX_APPEND_BYTES, 1);
    restore(host, &piece, 1);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
    assert_int_equal(host->send_count, 0);
    host_record(host, 1, "k", "a");
    host_record(host, 2, "k", "b");
    host_barrier(host, 5);
    /* The probe goes alone. */
    assert_int_equal(appends(host), 1);
    assert_append(host, latest_append(host, 0), S1, 3, "a", 1);
}

static void a_restored_stream_that_takes_the_probe_goes_on(void **state)
{
    (void)state;
    struct host host;
    restore_one(&host);
    stored(&host, latest_append(&host, 0), 3);
    assert_append(&host, latest_append(&host, 0), S1, 4, "b", 1);
    stored(&host, latest_append(&host, 0), 4);
    end_flush(&host);
    assert_handed_over(&host, S1, 4);
    assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 0);
    host_fini(&host);
}

/* Goal: rows past the restored offset come again: a stream that has some, or is gone, is left alone. */
static void a_restored_stream_that_refuses_the_probe_is_abandoned(void **state)
{
    static const struct {
        enum port_code code;
        enum bigquery_storage_error reason;
    } answers[] = {
        {PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS},
        {PORT_OUT_OF_RANGE, BIGQUERY_OFFSET_OUT_OF_RANGE},
        {PORT_INVALID_ARGUMENT, BIGQUERY_STREAM_FINALIZED},
        {PORT_NOT_FOUND, BIGQUERY_STREAM_NOT_FOUND},
        {PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_STATE},
        {PORT_NOT_FOUND, BIGQUERY_STORAGE_ERROR_NONE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        struct host host;
        restore_one(&host);
        refused(&host, latest_append(&host, 0), answers[i].code, answers[i].reason);
        made(&host, S2);
        assert_append(&host, latest_append(&host, 1), S2, 0, "a", 1);
        assert_append(&host, latest_append(&host, 0), S2, 1, "b", 1);
        stored(&host, latest_append(&host, 1), 0);
        stored(&host, latest_append(&host, 0), 1);
        end_flush(&host);
        assert_handed_over(&host, S2, 1);
        assert_int_equal(sends_of(&host, &bigquery_finalize_write_stream_method), 0);
        host_fini(&host);
    }
}

/* Goal: both fields count (4.8): a fresh stream that comes to the restored offset is news. */
static void a_fresh_stream_at_the_old_offset_is_handed_over(void **state)
{
    (void)state;
    struct host host;
    const struct bigquery_piece piece = {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 1, 4};
    prepare();
    restore(&host, &piece, 1);
    host_record(&host, 1, "k", "a");
    host_barrier(&host, 5);
    exists(&host, latest_append(&host, 0));
    made(&host, S2);
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    assert_handed_over(&host, S2, 0);
    host_fini(&host);
}

static void a_probe_is_tried_again_in_an_outage(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(BIGQUERY_OPTION_RETRY_MAX_ATTEMPTS, 1);
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 2);
    const struct bigquery_piece piece = {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 3, 4};
    restore(&host, &piece, 1);
    host_record(&host, 1, "k", "a");
    host_barrier(&host, 5);
    refused(&host, latest_append(&host, 0), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    assert_int_equal(appends(&host), 2);
    assert_append(&host, latest_append(&host, 0), S1, 3, "a", 1);
    refused(&host, latest_append(&host, 0), PORT_INTERNAL, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "used up");
    host_fini(&host);
}

static void a_probe_with_a_bad_row_adopts_the_stream(void **state)
{
    (void)state;
    struct host host;
    const struct bigquery_piece piece = {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 3, 4};
    prepare();
    restore(&host, &piece, 1);
    host_record(&host, 1, "k", "a");
    host_record(&host, 2, "k", "b");
    host_barrier(&host, 5);
    bad_row(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, 1);
    assert_append(&host, latest_append(&host, 0), S1, 3, "a", 1);
    stored(&host, latest_append(&host, 0), 3);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    end_flush(&host);
    assert_handed_over(&host, S1, 3);
    host_fini(&host);
}

static void a_probe_that_fails_for_good_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    restore_one(&host);
    refused(&host, latest_append(&host, 0), PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE);
    host_assert_failed(&host, SINK_REASON_SERVICE, "probe");
    host_fini(&host);
}

/* Goal: of several streams the latest is adopted, and of equals the first by name. */
static void the_latest_of_several_pieces_is_adopted(void **state)
{
    const struct {
        struct bigquery_piece pieces[PIECES_MAX];
        const char *stream;
    } cases[] = {
        {{{BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 1, 4},
          {BYTES_LITERAL(TABLE), BYTES_LITERAL(S2), 2, 5},
          {BYTES_LITERAL(TABLE), {0}, 0, 9}},
         S2},
        {{{BYTES_LITERAL(TABLE), BYTES_LITERAL(S2), 1, 4},
          {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 2, 4},
          {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 2, 4}},
         S1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        prepare();
        restore(&host, cases[i].pieces, PIECES_MAX);
        host_record(&host, 1, "k", "a");
        host_barrier(&host, 10);
        assert_int_equal(appends(&host), 1);
        assert_append(&host, latest_append(&host, 0), cases[i].stream, 2, "a", 1);
        host_fini(&host);
    }
}

static void state_of_another_table_or_corrupt_is_refused(void **state)
{
    (void)state;
    struct host host;
    const struct bigquery_piece other = {
        BYTES_LITERAL("projects/p/datasets/d/tables/other"), BYTES_LITERAL(S1), 1, 1};
    prepare();
    restore(&host, &other, 1);
    host_assert_failed(&host, SINK_REASON_STATE, "piece 1 of the restored state: it is of another");
    host_fini(&host);

    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &bigquery_exactly_once_writer_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("nonsense")};
    struct sink_event event = {.kind = SINK_EVENT_OPEN};
    event.u.open.pieces = &piece;
    event.u.open.piece_count = 1;
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "piece 1 of the restored state");
    host_fini(&host);
}

/* A piece as the first version of the sink left it: without its table. */
static size_t encode_bare(struct bytes stream, uint64_t next_offset, uint8_t data[256])
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, 256);
    byte_writer_u32_be(&writer, 1);
    byte_writer_u32_be(&writer, (uint32_t)stream.size);
    byte_writer_bytes(&writer, stream);
    byte_writer_u64_be(&writer, next_offset);
    byte_writer_u64_be(&writer, 4);
    byte_writer_u32_be(&writer, digest_checksum(byte_writer_view(&writer)));
    return writer.size;
}

/* Goal: state of version 1 is the fixed table's, if its stream is (4.1, EO36). Method: a stream of this
 * table, none yet, one of another table, one that only begins like this table, and no fixed table. */
static void state_without_a_table_is_of_the_fixed_one(void **state)
{
    const struct {
        struct bytes stream;
        bool fixed;
        bool is_taken;
    } cases[] = {
        {BYTES_LITERAL(S1), true, true},
        {{0}, true, true},
        {BYTES_LITERAL("projects/p/datasets/d/tables/other/streams/s1"), true, false},
        {BYTES_LITERAL(TABLE "x/streams/s1"), true, false},
        {BYTES_LITERAL(TABLE "/streams/"), true, false},
        {BYTES_LITERAL(S1), false, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        uint8_t data[256];
        prepare();
        user.job.destination_fixed = cases[i].fixed;
        memset(&host, 0, sizeof(host));
        assert_int_equal(host_init(&host, &bigquery_exactly_once_writer_half, &user.env), ERR_OK);
        const uint64_t offset = cases[i].stream.size == 0 ? 0 : 3;
        const struct sink_piece piece = {{data, encode_bare(cases[i].stream, offset, data)}};
        struct sink_event event = {.kind = SINK_EVENT_OPEN};
        event.u.open.pieces = &piece;
        event.u.open.piece_count = 1;
        event.u.open.restored = true;
        host_step(&host, &event);
        if (cases[i].is_taken) {
            assert_int_equal(host_count(&host, SINK_EFFECT_OPENED), 1);
        } else {
            host_assert_failed(&host, SINK_REASON_STATE, "of another table");
        }
        if (offset > 0 && cases[i].is_taken) {
            host_record(&host, 1, "k", "a");
            host_barrier(&host, 5);
            assert_append(&host, latest_append(&host, 0), S1, 3, "a", 1);
        }
        host_fini(&host);
    }
}

/* --- tables by record -------------------------------------------------------------------------- */

static const char *resolved;

static enum sink_user_result
resolve(void *context, const struct sink_record *record, struct bytes *destination)
{
    (void)context;
    *destination = record->key;
    return resolved == NULL ? SINK_USER_OK : SINK_USER_NONE;
}

static void each_table_has_a_stream_of_its_own(void **state)
{
    (void)state;
    struct host host;
    prepare();
    resolved = NULL;
    user.job.destination_fixed = false;
    user.user.resolve = resolve;
    open_writer(&host);
    host_record(&host, 1, TABLE, "one");
    host_record(&host, 2, TABLE "2", "two");
    host_barrier(&host, 1);
    assert_int_equal(sends_of(&host, &bigquery_create_write_stream_method), 2);
    made(&host, S2);
    assert_append(&host, latest_append(&host, 0), S2, 0, "two", 1);
    stored(&host, latest_append(&host, 0), 0);
    const struct bigquery_write_stream answer = {.name = BYTES_LITERAL(S1)};
    host_answer_ok(&host, 0, &answer);
    stored(&host, latest_append(&host, 0), 0);
    end_flush(&host);
    assert_int_equal(host_count(&host, SINK_EFFECT_STATE_PIECE), 2);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMITTABLES), 2);
    host_record(&host, 3, "no table", "three");
    host_assert_failed(&host, SINK_REASON_RESOLVER, "gave no table");
    host_fini(&host);
}

static void a_resolver_without_an_answer_fails(void **state)
{
    (void)state;
    struct host host;
    prepare();
    resolved = "";
    user.job.destination_fixed = false;
    user.user.resolve = resolve;
    open_writer(&host);
    host_record(&host, 1, TABLE, "one");
    host_assert_failed(&host, SINK_REASON_RESOLVER, "gave no table");
    host_fini(&host);
}

/* --- the end ----------------------------------------------------------------------------------- */

static void a_close_cancels_what_is_on_its_way_and_finalizes_nothing(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    write_interval(&host, "one");
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    assert_int_equal(sends_of(&host, &bigquery_finalize_write_stream_method), 0);
    host_fini(&host);

    begin(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_int_equal(host.cancel_count, 1);
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
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

/* --- the committer ----------------------------------------------------------------------------- */

#define COMMITS_MAX 2u

struct commit {
    uint8_t bytes[COMMITS_MAX][128];
    struct sink_commit_request requests[COMMITS_MAX];
};

/* Ask to flush S1 up to 4, and S2 up to 7. */
static void begin_commit(struct host *host, struct commit *commit)
{
    const struct bigquery_committable committables[COMMITS_MAX] = {{BYTES_LITERAL(S1), 4, 0},
                                                                   {BYTES_LITERAL(S2), 7, 1}};
    generic_open(host, &user, &bigquery_exactly_once_committer_half);
    for (uint32_t i = 0; i < COMMITS_MAX; i++) {
        const size_t size = bigquery_committable_size(&committables[i]);
        assert_true(size <= sizeof(commit->bytes[i]));
        bigquery_committable_encode(&committables[i], commit->bytes[i]);
        commit->requests[i] = (struct sink_commit_request){.data = {commit->bytes[i], size}};
    }
    host_commit(host, commit->requests, COMMITS_MAX);
}

static void flushed(struct host *host, uint32_t send, int64_t offset)
{
    const struct bigquery_flush_rows_response response = {.offset = offset};
    host_answer_ok(host, send, &response);
}

static void assert_flush(struct host *host, uint32_t send, const char *stream, int64_t offset)
{
    struct generic_request decoded = generic_request_of(host, send);
    const struct bigquery_flush_rows_request *request = decoded.value;
    assert_bytes_equal(request->write_stream, bytes_of_text(stream));
    assert_int_equal(request->offset->value, offset);
    generic_forget(host, &decoded);
}

static void committables_are_flushed_one_after_the_other(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_commit(&host, &commit);
    assert_int_equal(host.send_count, 1);
    assert_flush(&host, 0, S1, 4);
    assert_int_equal(host.sends[0].deadline, SECONDS(20));
    flushed(&host, 0, 4);
    assert_flush(&host, 1, S2, 7);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMIT_RETURNED), 0);
    flushed(&host, 1, 7);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMIT_RETURNED), 1);
    host_commit(&host, commit.requests, 1);
    assert_int_equal(host.send_count, 3);
    host_fini(&host);
}

static void what_was_flushed_before_is_done(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_commit(&host, &commit);
    refuse_call(&host, 0, PORT_ALREADY_EXISTS);
    assert_int_equal(host.send_count, 2);
    host_fini(&host);
}

static void a_flush_is_repeated_until_its_budget_is_spent(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    option(BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS, 3);
    begin_commit(&host, &commit);
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    host_fire(&host);
    refuse_call(&host, 1, PORT_ABORTED);
    host_fire(&host);
    assert_flush(&host, 2, S1, 4);
    host_answer_code(&host, 2, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "UNAVAILABLE and its attempts are used up");
    host_fini(&host);
}

/* Goal: a new table is denied for a while, but only where this sink may have made it (BQW-46). */
static void a_denied_flush_waits_only_where_tables_are_created(void **state)
{
    (void)state;
    for (uint32_t never = 0; never < 2; never++) {
        struct host host;
        struct commit commit;
        prepare();
        option(BIGQUERY_OPTION_CREATE_DISPOSITION, never);
        begin_commit(&host, &commit);
        refuse_call(&host, 0, PORT_PERMISSION_DENIED);
        assert_int_equal(host.failed, never == BIGQUERY_CREATE_NEVER);
        host_fini(&host);
    }
}

static void what_cannot_be_flushed_is_never_taken_for_flushed(void **state)
{
    static const struct {
        enum port_code code;
        enum sink_reason reason;
    } answers[] = {
        {PORT_NOT_FOUND, SINK_REASON_EXPIRED},
        {PORT_INVALID_ARGUMENT, SINK_REASON_SERVICE},
        {PORT_OUT_OF_RANGE, SINK_REASON_SERVICE},
        {PORT_FAILED_PRECONDITION, SINK_REASON_SERVICE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        struct host host;
        struct commit commit;
        prepare();
        begin_commit(&host, &commit);
        refuse_call(&host, 0, answers[i].code);
        host_assert_failed(&host, answers[i].reason, "FlushRows of " S1 " up to 4 failed");
        host_fini(&host);
    }
    struct host host;
    struct commit commit;
    prepare();
    begin_commit(&host, &commit);
    flushed(&host, 0, 5);
    host_assert_failed(&host, SINK_REASON_SERVICE, "another offset");
    host_fini(&host);
}

static void a_committable_that_is_none_fails(void **state)
{
    (void)state;
    struct host host;
    const struct sink_commit_request request = {.data = BYTES_LITERAL("nonsense")};
    prepare();
    generic_open(&host, &user, &bigquery_exactly_once_committer_half);
    host_commit(&host, &request, 1);
    host_assert_failed(&host, SINK_REASON_STATE, "committable 1 of 1");
    host_fini(&host);
}

/* Goal: nothing of a commit leaves that does not read as a whole. */
static void a_commit_is_read_before_any_of_it_leaves(void **state)
{
    (void)state;
    struct host host;
    uint8_t bytes[256];
    const struct bigquery_committable sound = {BYTES_LITERAL(S1), 4, 0};
    const size_t size = bigquery_committable_size(&sound);
    assert_true(size <= sizeof(bytes));
    bigquery_committable_encode(&sound, bytes);
    const struct sink_commit_request requests[] = {{.data = {bytes, size}},
                                                   {.data = BYTES_LITERAL("nonsense")}};
    prepare();
    generic_open(&host, &user, &bigquery_exactly_once_committer_half);
    host_commit(&host, requests, 2);
    host_assert_failed(&host, SINK_REASON_STATE, "committable 2 of 2");
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

static void a_close_cancels_the_flush(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_commit(&host, &commit);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_int_equal(host.cancel_count, 1);
    assert_true(host.closed);
    host_fini(&host);
}

/* --- what is refused --------------------------------------------------------------------------- */

static enum err validate(struct byte_writer *message, uint8_t *text, size_t size)
{
    byte_writer_init(message, text, size);
    return bigquery_exactly_once.validate(user.options, &user.job, message);
}

static void a_job_that_breaks_the_guarantee_is_refused(void **state)
{
    static const struct {
        size_t field;
        bool value;
        const char *part;
    } cases[] = {
        {offsetof(struct sink_job, checkpointing), false, "checkpointing: off"},
        {offsetof(struct sink_job, barriers_exactly_once), false, "at least once"},
        {offsetof(struct sink_job, checkpoints_after_finish), false, "after tasks finish"},
        {offsetof(struct sink_job, runtime_automatic), true, "automatic"},
    };
    (void)state;
    struct byte_writer message;
    uint8_t text[256];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        prepare();
        user.job.bounded = true;
        assert_int_equal(validate(&message, text, sizeof(text)), ERR_OK);
        bool *field = (bool *)(void *)((uint8_t *)&user.job + cases[i].field);
        *field = cases[i].value;
        assert_int_equal(validate(&message, text, sizeof(text)), ERR_INVALID);
        text[message.size] = '\0';
        assert_non_null(strstr((const char *)text, cases[i].part));
    }
    prepare();
    user.job.batch = true;
    user.job.checkpointing = false;
    assert_int_equal(validate(&message, text, sizeof(text)), ERR_OK);
}

static void options_are_checked(void **state)
{
    static const struct {
        enum bigquery_option option;
        uint64_t number;
        const char *part;
    } cases[] = {
        {BIGQUERY_OPTION_MAX_APPEND_BYTES, 0, "max_append_bytes: 0 is not within 1 to 9437184"},
        {BIGQUERY_OPTION_RECOVERY_MAX_BACKOFF, MS(1), "less than recovery_initial_backoff"},
        {BIGQUERY_OPTION_RETRY_MAX_BACKOFF, MS(1), "less than retry_initial_backoff"},
        {BIGQUERY_OPTION_CREATE_DISPOSITION, 2, "create_disposition: 2"},
    };
    static const char *const tables[] = {
        "", "projects/p/datasets/d/tables/", "projects/p/datasets/d/tables/t/x", "p.d.t"};
    (void)state;
    struct byte_writer message;
    uint8_t text[256];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        prepare();
        option(cases[i].option, cases[i].number);
        assert_int_equal(validate(&message, text, sizeof(text)), ERR_INVALID);
        text[message.size] = '\0';
        assert_non_null(strstr((const char *)text, cases[i].part));
    }
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        prepare();
        user.options[BIGQUERY_OPTION_TABLE].text = bytes_of_text(tables[i]);
        assert_int_equal(validate(&message, text, sizeof(text)), ERR_INVALID);
    }
}

/* --- frames ------------------------------------------------------------------------------------ */

/* Goal: bytes that were cut or changed are never taken for whole. Method: every length, every byte. */
static void frames_survive_cuts_and_flips(void **state)
{
    (void)state;
    const struct bigquery_piece piece = {BYTES_LITERAL(TABLE), BYTES_LITERAL(S1), 7, 9};
    const struct bigquery_committable committable = {BYTES_LITERAL(S1), 6, 3};
    uint8_t bytes[2][160];
    const size_t sizes[2] = {bigquery_piece_size(&piece), bigquery_committable_size(&committable)};
    bigquery_piece_encode(&piece, bytes[0]);
    bigquery_committable_encode(&committable, bytes[1]);
    for (uint32_t kind = 0; kind < 2; kind++) {
        assert_true(sizes[kind] < sizeof(bytes[kind]));
        for (size_t at = 0; at < sizes[kind]; at++) {
            struct bigquery_piece found;
            struct bigquery_committable other;
            const struct bytes cut = {bytes[kind], at};
            assert_int_not_equal(kind == 0 ? bigquery_piece_decode(cut, &found)
                                           : bigquery_committable_decode(cut, &other),
                                 ERR_OK);
            bytes[kind][at] ^= 0x10;
            const struct bytes flipped = {bytes[kind], sizes[kind]};
            assert_int_not_equal(kind == 0 ? bigquery_piece_decode(flipped, &found)
                                           : bigquery_committable_decode(flipped, &other),
                                 ERR_OK);
            bytes[kind][at] ^= 0x10;
        }
    }
}

static void frames_say_what_they_hold(void **state)
{
    (void)state;
    uint8_t bytes[160];
    struct bigquery_piece piece = {BYTES_LITERAL(TABLE), {0}, 0, 9};
    struct bigquery_piece found;
    bigquery_piece_encode(&piece, bytes);
    const struct bytes whole = {bytes, bigquery_piece_size(&piece)};
    assert_int_equal(bigquery_piece_decode(whole, &found), ERR_OK);
    assert_int_equal(found.stream.size, 0);
    assert_int_equal(found.checkpoint, 9);
    /* Rows need a stream. */
    piece.next_offset = 1;
    bigquery_piece_encode(&piece, bytes);
    assert_int_equal(bigquery_piece_decode(whole, &found), ERR_INVALID);
}

TEST_MAIN(bigquery_exactly_once,
          TEST(rows_of_an_interval_go_in_one_append_of_a_fresh_stream),
          TEST(full_appends_are_pipelined_at_the_offsets_that_follow),
          TEST(an_interval_without_rows_hands_over_state_only),
          TEST(what_is_no_row_is_skipped_or_goes_to_the_policy),
          TEST(a_writer_with_too_much_under_way_takes_no_more),
          TEST(an_idle_table_is_forgotten_when_its_snapshot_has_all),
          TEST(a_retried_append_pulls_back_those_behind_it),
          TEST(a_lost_connection_is_opened_again_and_all_is_sent_again),
          TEST(an_answer_that_never_comes_ends_the_connection),
          TEST(a_connection_without_progress_is_final),
          TEST(an_exhausted_service_is_given_time),
          TEST(stored_before_is_stored),
          TEST(a_failed_append_is_repaired_at_its_offset_when_all_are_answered),
          TEST(a_repair_ends_with_its_budget),
          TEST(a_row_that_is_none_is_routed_and_the_rest_moves_up),
          TEST(an_append_of_bad_rows_only_leaves_nothing),
          TEST(rows_named_in_an_outage_are_sent_again),
          TEST(row_errors_that_name_no_row_fail),
          TEST(a_replay_whose_errors_name_no_row_fails),
          TEST(rows_and_failures_are_counted_once),
          TEST(an_append_stored_behind_a_refused_one_fails),
          TEST(a_replay_that_meets_stored_rows_fails),
          TEST(an_offset_that_is_echoed_wrong_fails),
          TEST(a_stream_that_is_gone_in_mid_run_fails),
          TEST(a_missing_table_is_created_once),
          TEST(a_missing_table_fails_where_none_is_created),
          TEST(a_stream_is_asked_for_again_after_an_unknown_outcome),
          TEST(a_table_that_cannot_be_created_fails),
          TEST(a_stream_without_a_name_fails),
          TEST(a_restored_stream_that_takes_the_probe_goes_on),
          TEST(a_restored_stream_that_refuses_the_probe_is_abandoned),
          TEST(a_fresh_stream_at_the_old_offset_is_handed_over),
          TEST(a_probe_is_tried_again_in_an_outage),
          TEST(a_probe_with_a_bad_row_adopts_the_stream),
          TEST(a_probe_that_fails_for_good_fails_the_job),
          TEST(the_latest_of_several_pieces_is_adopted),
          TEST(state_of_another_table_or_corrupt_is_refused),
          TEST(state_without_a_table_is_of_the_fixed_one),
          TEST(each_table_has_a_stream_of_its_own),
          TEST(a_resolver_without_an_answer_fails),
          TEST(a_close_cancels_what_is_on_its_way_and_finalizes_nothing),
          TEST(a_verdict_of_the_policy_ends_the_life),
          TEST(committables_are_flushed_one_after_the_other),
          TEST(what_was_flushed_before_is_done),
          TEST(a_flush_is_repeated_until_its_budget_is_spent),
          TEST(a_denied_flush_waits_only_where_tables_are_created),
          TEST(what_cannot_be_flushed_is_never_taken_for_flushed),
          TEST(a_committable_that_is_none_fails),
          TEST(a_commit_is_read_before_any_of_it_leaves),
          TEST(a_close_cancels_the_flush),
          TEST(a_job_that_breaks_the_guarantee_is_refused),
          TEST(options_are_checked),
          TEST(frames_survive_cuts_and_flips),
          TEST(frames_say_what_they_hold))
