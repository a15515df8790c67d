/* The generic services. A record becomes a Put of its key and value to the durable target, a row of a
 * table with staged units, or the value of an entry in a keyed store. Sinks of the durable target say how long a Put may take in options that go by the same names as
 * those of other sinks: request_timeout, retry_max_attempts, retry_max_backoff, max_in_flight. */
#include "sinks/port/generic.h"

#include "scenarios/wiring/wiring.h"
#include "sinks/port/keyed.h"
#include "sinks/port/table.h"
#include "sinks/retry.h"

#define TIMEOUT_DEFAULT  SECONDS(60)
#define ATTEMPTS_DEFAULT 8u
#define BACKOFF_DEFAULT  SECONDS(10)

/* Destinations by split. They are named in the Put, which a sink passes on as it is. */
static const char *const stores[] = {"store-0", "store-1", "store-2", "store-3"};

static void serialize(const struct wiring_input *input,
                      const struct source_record *record,
                      struct byte_writer *writer)
{
    const uint32_t store = record->record.split % ARRAY_COUNT(stores);
    const struct generic_put_request request = {
        .key = record->record.key,
        .value = record->record.value,
        .destination = bytes_of_text(input->by_split ? stores[store] : ""),
    };
    port_encode(&generic_put_request_message, &request, writer);
}

static uint32_t destinations(const struct wiring_input *input,
                             struct bytes found[WIRING_DESTINATION_MAX])
{
    const uint32_t count = input->by_split ? ARRAY_COUNT(stores) : 1;
    for (uint32_t i = 0; i < count; i++) {
        found[i] = bytes_of_text(input->by_split ? stores[i] : "generic");
    }
    return count;
}

static void windows_of(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = {
        input->sink->options, input->sink->option_count, input->sink_options};
    const nanos timeout = wiring_option(&table, "request_timeout", TIMEOUT_DEFAULT);
    const nanos attempt =
        nanos_add(timeout, wiring_option(&table, "retry_max_backoff", BACKOFF_DEFAULT));
    *windows = (struct wiring_windows){
        .request_timeout = timeout,
        .residence =
            nanos_mul(attempt, wiring_option(&table, "retry_max_attempts", ATTEMPTS_DEFAULT)),
        .concurrency_max = (uint32_t)wiring_option(&table, "max_in_flight", 0),
    };
}

const struct wiring wiring_generic = {
    .service = &generic_service,
    .serialize = serialize,
    .destinations = destinations,
    .windows = windows_of,
};

/* --- the table and the keyed store --------------------------------------------------------------- */

/* Rows and entries carry the record's value as it is; the store refuses an entry without one (GK-06). */
static void serialize_value(const struct wiring_input *input,
                            const struct source_record *record,
                            struct byte_writer *writer)
{
    (void)input;
    if ((record->traits & RECORD_POISON_SERVICE) == 0) {
        byte_writer_bytes(writer, record->record.value);
    }
}

static uint32_t one_destination(const struct wiring_input *input,
                                struct bytes found[WIRING_DESTINATION_MAX])
{
    found[0] = bytes_of_text(input->model->name);
    return 1;
}

static struct sink_option_table options_of_sink(const struct wiring_input *input)
{
    return (struct sink_option_table){
        input->sink->options, input->sink->option_count, input->sink_options};
}

/* All attempts at their deadline, and the longest pause after each. */
static nanos residence_of(const struct sink_option_table *table)
{
    const nanos attempt = nanos_add(wiring_option(table, "request_timeout", TIMEOUT_DEFAULT),
                                    wiring_option(table, "retry_max_backoff", BACKOFF_DEFAULT));
    return nanos_mul(attempt, wiring_option(table, "retry_max_attempts", ATTEMPTS_DEFAULT));
}

/* A committer has a commit or a look-up under way, and a discard (TABLE_OPEN_MAX). */
#define TABLE_OPEN_MAX 2u

static void windows_of_table(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = options_of_sink(input);
    const struct sink_option_table model = {
        input->model->options, input->model->option_count, input->model_options};
    *windows = (struct wiring_windows){
        .request_timeout = wiring_option(&table, "request_timeout", TIMEOUT_DEFAULT),
        .residence = residence_of(&table),
        .recovery_window = wiring_option(&model, "unit_ttl", 0),
        .release_max = wiring_option(&model, "history_retention", 0),
        .concurrency_max = TABLE_OPEN_MAX,
        .commit_requests = 1,
        .writer_waits = true,
        .retry = {{wiring_option(&table, "retry_initial_backoff", 0),
                   wiring_option(&table, "retry_max_backoff", 0),
                   (uint32_t)wiring_option(&table, "retry_max_attempts", 0)}},
    };
}

/* All attempts but the last at their deadline, and the longest pause behind each of them. */
static nanos outage_of(const struct sink_option_table *table)
{
    const struct retry_schedule schedule = {
        wiring_option(table, "retry_initial_backoff", MS(100)),
        wiring_option(table, "retry_max_backoff", BACKOFF_DEFAULT),
        (uint32_t)wiring_option(table, "retry_max_attempts", ATTEMPTS_DEFAULT),
    };
    nanos total = 0;
    for (uint32_t failures = 1; retry_is_allowed(&schedule, failures); failures++) {
        total = nanos_add(total, wiring_option(table, "request_timeout", TIMEOUT_DEFAULT));
        total = nanos_add(total, retry_backoff(&schedule, failures).max);
    }
    return total;
}

/* A batch changes from attempt to attempt, so that the schedule of its retries is not judged. */
static void windows_of_keyed(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = options_of_sink(input);
    *windows = (struct wiring_windows){
        .request_timeout = wiring_option(&table, "request_timeout", TIMEOUT_DEFAULT),
        .residence = residence_of(&table),
        .concurrency_max = 1,
        .data_outage = outage_of(&table),
        .data_budget =
            nanos_add(outage_of(&table), wiring_option(&table, "request_timeout", TIMEOUT_DEFAULT)),
    };
}

const struct wiring wiring_table = {
    .service = &table_service,
    .serialize = serialize_value,
    .destinations = one_destination,
    .windows = windows_of_table,
};

const struct wiring wiring_keyed = {
    .service = &keyed_service,
    .serialize = serialize_value,
    .destinations = one_destination,
    .windows = windows_of_keyed,
};
