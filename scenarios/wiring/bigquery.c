/* BigQuery: a record becomes a row with the record's key and value in wire form. */
#include "sinks/port/bigquery.h"

#include "models/bigquery/bigquery.h"
#include "scenarios/wiring/wiring.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/at_least_once/at_least_once.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/options.h"
#include "sinks/retry.h"

/* Fields of a row (models/bigquery/rows.c). */
#define FIELD_ID      1u
#define FIELD_PAYLOAD 2u
#define FIELD_NOTE    3u /* of grown records */
#define WIRE_SIZED    2u

/* A connection that dies without a word is heard of after the link's own deadline at the latest. */
#define SILENCE SECONDS(60)

/* Files that a commit deletes at once (section 8 of the sink's specification). */
#define DELETIONS_AT_ONCE 100u

static void put_field(struct byte_writer *writer, uint32_t number, struct bytes value)
{
    byte_writer_varint(writer, number << 3 | WIRE_SIZED);
    byte_writer_varint(writer, value.size);
    byte_writer_bytes(writer, value);
}

/* The columns, in the order of their fields. */
static const struct bigquery_table_field_schema columns[] = {
    {{(const uint8_t *)"id", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
    {{(const uint8_t *)"payload", 7}, BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE},
    {{(const uint8_t *)"note", 4}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
    {{(const uint8_t *)"note", 4}, BIGQUERY_FIELD_JSON, BIGQUERY_FIELD_NULLABLE},
};

static void
describe(const struct wiring_input *input, enum wiring_version version, struct byte_writer *writer)
{
    const void *items[] = {
        &columns[0], &columns[1], &columns[input->grows_by == WIRING_GROWTH_JSON ? 3 : 2]};
    const uint32_t count = version == WIRING_VERSION_FIRST ? FIELD_PAYLOAD : FIELD_NOTE;
    const struct bigquery_table_schema schema = {.fields = {items, count}};
    port_encode(&bigquery_table_schema_message, &schema, writer);
}

/* A text of its own for each record that has grown; a document is a number. */
static void put_note(const struct wiring_input *input,
                     const struct sink_record *record,
                     struct byte_writer *writer)
{
    uint8_t text[24];
    struct byte_writer note;
    byte_writer_init(&note, text, sizeof(text));
    byte_writer_text(&note, input->grows_by == WIRING_GROWTH_JSON ? "" : "n");
    byte_writer_decimal(&note, record->position);
    CHECK(!note.overflowed);
    put_field(writer, FIELD_NOTE, byte_writer_view(&note));
}

/* An id that is no text makes a row that the service refuses (BQW-17). */
static void serialize(const struct wiring_input *input,
                      const struct source_record *record,
                      struct byte_writer *writer)
{
    if ((record->traits & RECORD_POISON_SERVICE) != 0) {
        put_field(writer, FIELD_ID, BYTES_LITERAL("\xff"));
    } else if (record->record.key.size > 0 && bytes_is_utf8(record->record.key)) {
        put_field(writer, FIELD_ID, record->record.key);
    }
    put_field(writer, FIELD_PAYLOAD, record->record.value);
    if (wiring_version_of(input, &record->record) == WIRING_VERSION_GROWN) {
        put_note(input, &record->record, writer);
    }
}

static uint32_t destinations(const struct wiring_input *input,
                             struct bytes found[WIRING_DESTINATION_MAX])
{
    const struct sink_option_table sink = {
        input->sink->options, input->sink->option_count, input->sink_options};
    const struct sink_option_table model = {
        input->model->options, input->model->option_count, input->model_options};
    struct bytes rest = wiring_option_text(input->by_split ? &model : &sink, "table");
    return wiring_words(rest, found);
}

/* How long an append may be on its way until its connection is final: it is heard of after the link's own
 * deadline or not at all, sent again so often or for so long, with the longest pauses between (3.3). */
static nanos connection_of(const struct sink_option_table *table)
{
    const nanos response = wiring_option(table, "response_timeout", 0);
    const nanos once = nanos_add(
        SILENCE, nanos_scale(wiring_option(table, "retry_max_backoff", 0), (struct ratio){5, 4}));
    const nanos all = nanos_mul(once, wiring_option(table, "retry_max_attempts", 5));
    const nanos longest = nanos_add(wiring_option(table, "max_retry_duration", 0), once);
    return response <= SILENCE ? response : all < longest ? all : longest;
}

/* A sink that changes tables waits until the write API has heard of it, thirty times half a minute and a
 * quarter more (section 2.1 of its specification). */
static nanos schema_wait_of(const struct sink_option_table *table)
{
    const bool changes = wiring_option(table, "allow_new_fields", 0) != 0 ||
                         wiring_option(table, "allow_field_relaxation", 0) != 0;
    return changes ? nanos_mul(MS(37500), 30) : 0;
}

/* A sink that sees to the contract of its tables does so before their first rows: a new table is read, made, read,
 * looked at, set, read, looked at and labelled, and each of these calls has a schedule (section 5.4). */
#define CONTRACT_CALLS 8u

static bool has_contract(const struct sink_option_table *table)
{
    return wiring_option(table, "table_contract", BIGQUERY_CONTRACT_UNCHECKED) !=
           BIGQUERY_CONTRACT_UNCHECKED;
}

static nanos contract_wait_of(const struct sink_option_table *table)
{
    const nanos once = nanos_add(
        wiring_option(table, "request_timeout", 0),
        nanos_scale(wiring_option(table, "recovery_max_backoff", 0), (struct ratio){5, 4}));
    const uint64_t attempts = wiring_option(table, "recovery_max_attempts", 10);
    return has_contract(table) ? nanos_mul(once, CONTRACT_CALLS * attempts) : 0;
}

/* The attempts of a repair, each until its connection is final, and the pauses between them. */
static nanos residence_of(const struct sink_option_table *table)
{
    const uint64_t attempts = wiring_option(table, "recovery_max_attempts", 10);
    const nanos pause =
        nanos_scale(wiring_option(table, "recovery_max_backoff", 0), (struct ratio){5, 4});
    const nanos repair =
        nanos_add(nanos_mul(connection_of(table), attempts), nanos_mul(pause, attempts - 1));
    return nanos_add(nanos_add(repair, schema_wait_of(table)), contract_wait_of(table));
}

/* A table that is there at the start is not to be touched where it is only to be verified, or where another is
 * at work on it. */
static bool keeps_contracts(const struct sink_option_table *sink,
                            const struct sink_option_table *model)
{
    const bool verifies = wiring_option(sink, "table_contract", BIGQUERY_CONTRACT_UNCHECKED) ==
                          BIGQUERY_CONTRACT_VERIFY_ONLY;
    const bool is_there = wiring_option(model, "table_exists", 1) != 0;
    const struct bytes label = wiring_option_text(model, "contract_label_value");
    const struct bytes pending = BYTES_LITERAL("pending_");
    const bool is_anothers =
        label.size > pending.size && bytes_equal((struct bytes){label.data, pending.size}, pending);
    return !has_contract(sink) || (is_there && (verifies || is_anothers));
}

/* What a table must be set to when it is called verified. */
static uint64_t declared_by(const struct sink_option_table *sink)
{
    const nanos staleness = wiring_option(sink, "max_staleness", 0);
    uint8_t text[2 * BIGQUERY_TABLE_NAME_MAX]; /* longer than any key */
    struct byte_writer writer;
    if (staleness == 0) {
        return 0;
    }
    byte_writer_init(&writer, text, sizeof(text));
    bigquery_put_setting(wiring_option_text(sink, "primary_key"), staleness / SECONDS(1), &writer);
    return digest_bytes(byte_writer_view(&writer));
}

/* Pauses of a repair behind the failures from the first on up to the last, each at its longest. */
static nanos pauses_of(const struct sink_option_table *table, uint32_t first, uint32_t last)
{
    const struct retry_schedule schedule = {
        wiring_option(table, "recovery_initial_backoff", MS(500)),
        wiring_option(table, "recovery_max_backoff", SECONDS(10)),
        UINT32_MAX,
    };
    nanos total = 0;
    for (uint32_t failures = first; failures <= last; failures++) {
        total = nanos_add(total, retry_backoff(&schedule, failures).max);
    }
    return total;
}

/* An append that failed goes again at once, and from then on behind a pause. On a stream of its own that failure
 * is the first of the repair's (section 4.5), on a default stream it comes before them (section 5.4). A call
 * that failed goes again behind a pause (section 2.1). */
static void add_budgets(const struct sink_option_table *table,
                        bool is_default_stream,
                        struct wiring_windows *windows)
{
    const uint32_t attempts = (uint32_t)wiring_option(table, "recovery_max_attempts", 10);
    const uint32_t lost = attempts - 1;
    windows->data_outage =
        nanos_add(nanos_mul(windows->last_attempt, is_default_stream ? attempts : lost),
                  pauses_of(table, is_default_stream ? 1 : 2, lost));
    windows->data_budget = nanos_add(windows->data_outage, windows->last_attempt);
    if (!is_default_stream || has_contract(table)) {
        windows->call_outage =
            nanos_add(nanos_mul(windows->request_timeout, lost), pauses_of(table, 1, lost));
        windows->call_budget = nanos_add(windows->call_outage, windows->request_timeout);
        windows->writer_calls = is_default_stream ? CONTRACT_CALLS : 1;
    }
}

/* A load that replaces a table replaces its columns as well (BQJ-10); what the sink makes for itself is not what
 * its configuration speaks of. */
static uint32_t forbidden_by(const struct sink_option_table *sink,
                             const struct sink_option_table *model)
{
    const uint32_t labels = UINT32_C(1) << CONFIGURED_CLAIMED | UINT32_C(1) << CONFIGURED_DECLARED;
    const bool keeps = keeps_contracts(sink, model);
    const bool creates = wiring_option(sink, "create_disposition", BIGQUERY_CREATE_IF_NEEDED) ==
                         BIGQUERY_CREATE_IF_NEEDED;
    const bool changes = wiring_option(sink, "allow_new_fields", 0) != 0 ||
                         wiring_option(sink, "allow_field_relaxation", 0) != 0 ||
                         wiring_option(sink, "write_disposition", FILE_LOADS_WRITE_APPEND) ==
                             FILE_LOADS_WRITE_TRUNCATE;
    return UINT32_C(1) << CONFIGURED_REMOVED | (creates ? 0 : UINT32_C(1) << CONFIGURED_CREATED) |
           (changes || !keeps ? 0 : UINT32_C(1) << CONFIGURED_CHANGED) | (keeps ? labels : 0);
}

/* Of each table and of its job, and once of the dataset, unless it is configured where jobs run. */
static uint32_t lookups_of(const struct sink_option_table *sink, uint32_t tables)
{
    return 3 * tables - (wiring_option_text(sink, "location").size > 0 ? 1 : 0);
}

/* A sink that loads what it staged: its files must be there until their last load, and a job's id is free again,
 * if ever, when the job is forgotten (BQJ-03, GCS-12). */
static void windows_of_loads(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = {
        input->sink->options, input->sink->option_count, input->sink_options};
    const struct sink_option_table model = {
        input->model->options, input->model->option_count, input->model_options};
    const struct sink_option_table storage = {input->further[0].type->options,
                                              input->further[0].type->option_count,
                                              input->further[0].options};
    const nanos lifetime = wiring_option(&storage, "object_lifetime", 0);
    const nanos retention = wiring_option(&model, "job_retention", 0);
    const nanos timeout = wiring_option(&table, "request_timeout", SECONDS(20));
    struct bytes found[WIRING_DESTINATION_MAX];
    const uint32_t tables = input->by_split ? destinations(input, found) : 1;
    *windows = (struct wiring_windows){
        .request_timeout = timeout,
        .residence = timeout,
        .last_attempt = timeout,
        .recovery_window = lifetime == 0 ? retention : lifetime,
        .release_max = retention,
        .own_identities = true, /* those of jobs */
        .writer_waits = true,
        .forbidden = forbidden_by(&table, &model),
        .concurrency_max = DELETIONS_AT_ONCE,
        .commit_lookups = lookups_of(&table, tables),
        .resources_made_max = tables,
    };
}

static void windows_of(const struct wiring_input *input, struct wiring_windows *windows)
{
    if (input->sink->further_service_count > 0) {
        windows_of_loads(input, windows);
        return;
    }
    const struct sink_option_table table = {
        input->sink->options, input->sink->option_count, input->sink_options};
    const struct sink_option_table model = {
        input->model->options, input->model->option_count, input->model_options};
    const bool is_default_stream = input->sink == &bigquery_at_least_once;
    struct bytes found[WIRING_DESTINATION_MAX];
    const uint32_t tables = input->by_split ? destinations(input, found) : 1;
    *windows = (struct wiring_windows){
        .request_timeout = wiring_option(&table, "request_timeout", SECONDS(20)),
        .residence = residence_of(&table),
        .last_attempt = connection_of(&table),
        .recovery_window = wiring_option(&model, "buffered_ttl", 0),
        .release_max = wiring_option(&model, "buffered_ttl", 0),
        .writer_waits = true,
        .forbidden = forbidden_by(&table, &model),
        .declared = declared_by(&table),
        .concurrency_max = (uint32_t)wiring_option(&table, "max_in_flight_appends", 100) * tables,
        .resources_made_max = tables,
        .writer_connects = true,
    };
    add_budgets(&table, is_default_stream, windows);
}

const struct wiring wiring_bigquery = {
    .service = &bigquery_service,
    .serialize = serialize,
    .destinations = destinations,
    .windows = windows_of,
    .describe = describe,
};
