/* The generic durable target, of dead letters and of sinks that users bring: a record becomes a Put
 * of its key and value. Its sinks say how long a Put may take in options that go by the same names as
 * those of other sinks: request_timeout, retry_max_attempts, retry_max_backoff, max_in_flight. */
#include "sinks/port/generic.h"

#include "scenarios/wiring/wiring.h"

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
