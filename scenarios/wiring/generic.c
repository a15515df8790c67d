/* The generic durable target: dead letters, and sinks that are only being tried out. */
#include "sinks/port/generic.h"

#include "scenarios/wiring/wiring.h"

static void serialize(const struct wiring_input *input,
                      const struct source_record *record,
                      struct byte_writer *writer)
{
    (void)input;
    const struct generic_put_request request = {.key = record->record.key,
                                                .value = record->record.value};
    port_encode(&generic_put_request_message, &request, writer);
}

static uint32_t destinations(const struct wiring_input *input,
                             struct bytes found[WIRING_DESTINATION_MAX])
{
    (void)input;
    found[0] = BYTES_LITERAL("generic");
    return 1;
}

static void windows_of(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = {
        input->sink->options, input->sink->option_count, input->sink_options};
    const nanos timeout = wiring_option(&table, "request_timeout", SECONDS(60));
    *windows =
        (struct wiring_windows){.request_timeout = timeout, .residence = nanos_mul(timeout, 8)};
}

const struct wiring wiring_generic = {
    .service = &generic_service,
    .serialize = serialize,
    .destinations = destinations,
    .windows = windows_of,
};
