/* Cloud Tasks: a record becomes an HTTP task whose body is the record's value. */
#include "sinks/port/cloudtasks.h"

#include "scenarios/wiring/wiring.h"

#include <string.h>

#define HANDLER_URL "https://handler.example/run"

/* Names of removed tasks are held for at least an hour, and up to a day, by every reading that does
 * not follow the queue's own setting (CT-06). */
#define RETENTION_LEAST HOURS(1)
#define RETENTION_MOST  HOURS(24)
/* Under a fixed reading, names were observed to be held that much longer (T4). */
#define RETENTION_BEYOND MINUTES(90)

/* Values of the model's option tombstone_reading. */
enum reading {
    READING_ANY = 0,
    READING_ABOUT_ONE_HOUR,
    READING_UP_TO_24H,
    READING_FIXED_TTL,
};

static void serialize(const struct wiring_input *input,
                      const struct source_record *record,
                      struct byte_writer *writer)
{
    (void)input;
    /* A body under GET is what the service refuses as INVALID_ARGUMENT (CT-09). */
    const bool poison = (record->traits & RECORD_POISON_SERVICE) != 0;
    const struct cloudtasks_http_request request = {
        .url = BYTES_LITERAL(HANDLER_URL),
        .http_method = poison ? CLOUDTASKS_GET : CLOUDTASKS_POST,
        .body = record->record.value,
    };
    const struct cloudtasks_task task = {.http_request = &request};
    port_encode(&cloudtasks_task_message, &task, writer);
}

static struct sink_option_table sink_table(const struct wiring_input *input)
{
    return (struct sink_option_table){
        input->sink->options, input->sink->option_count, input->sink_options};
}

static struct sink_option_table model_table(const struct wiring_input *input)
{
    return (struct sink_option_table){
        input->model->options, input->model->option_count, input->model_options};
}

static uint32_t destinations(const struct wiring_input *input,
                             struct bytes found[WIRING_DESTINATION_MAX])
{
    const struct sink_option_table table = sink_table(input);
    const struct sink_option_table model = model_table(input);
    return wiring_words(wiring_option_text(input->by_split ? &model : &table, "queue"), found);
}

/* All pauses between so many attempts, each at its longest. */
static nanos backoffs(nanos initial, nanos max, uint64_t attempts)
{
    nanos total = 0;
    nanos pause = initial;
    uint64_t left = attempts - (attempts > 0);
    for (uint32_t i = 0; i < 64 && left > 0 && pause < max; i++) {
        total = nanos_add(total, pause);
        pause = nanos_mul(pause, 2);
        left--;
    }
    total = nanos_add(total, nanos_mul(max, left));
    return nanos_scale(total, (struct ratio){5, 4});
}

/* Attempts at their deadline, and the pauses between: transient failures and NOT_FOUND have budgets
 * of their own, of which the last attempt is one. */
static nanos residence(const struct sink_option_table *table, nanos request_timeout)
{
    const uint64_t retries = wiring_option(table, "retry_max_attempts", 8);
    const uint64_t not_found = wiring_option(table, "not_found_max_attempts", 3);
    const nanos pauses =
        nanos_add(backoffs(wiring_option(table, "retry_initial_backoff", MS(100)),
                           wiring_option(table, "retry_max_backoff", SECONDS(10)),
                           retries),
                  backoffs(wiring_option(table, "not_found_initial_backoff", MS(500)),
                           wiring_option(table, "not_found_max_backoff", SECONDS(2)),
                           not_found));
    return nanos_add(nanos_mul(request_timeout, retries + not_found), pauses);
}

static void model_windows(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = model_table(input);
    const uint64_t reading = wiring_option(&table, "tombstone_reading", READING_ANY);
    const nanos ttl = wiring_option(&table, "tombstone_ttl", 0);
    const nanos configured = ttl == 0 ? RETENTION_LEAST : ttl;
    const nanos beyond = input->profile == PROFILE_DOCUMENTED ? 0 : RETENTION_BEYOND;
    windows->protection_window = RETENTION_LEAST;
    windows->release_max = RETENTION_MOST;
    if (reading == READING_ABOUT_ONE_HOUR) {
        windows->release_max = nanos_add(RETENTION_LEAST, beyond);
    } else if (reading == READING_FIXED_TTL) {
        windows->protection_window = configured;
        windows->release_max = nanos_add(configured, beyond);
    } else if (reading == READING_ANY && nanos_add(configured, beyond) > RETENTION_MOST) {
        windows->release_max = nanos_add(configured, beyond);
    }
    windows->release_max =
        nanos_add(windows->release_max, wiring_option(&table, "tombstone_extra", 0));
}

static void windows_of(const struct wiring_input *input, struct wiring_windows *windows)
{
    const struct sink_option_table table = sink_table(input);
    const nanos timeout = wiring_option(&table, "request_timeout", SECONDS(20));
    *windows = (struct wiring_windows){
        .request_timeout = timeout,
        .residence = residence(&table, timeout),
        .concurrency_max = (uint32_t)wiring_option(&table, "max_in_flight_tasks", 0),
        .retry = {{wiring_option(&table, "retry_initial_backoff", 0),
                   wiring_option(&table, "retry_max_backoff", 0),
                   (uint32_t)wiring_option(&table, "retry_max_attempts", 0)},
                  {wiring_option(&table, "not_found_initial_backoff", 0),
                   wiring_option(&table, "not_found_max_backoff", 0),
                   (uint32_t)wiring_option(&table, "not_found_max_attempts", 0)}},
        .control_methods = UINT64_C(1) << cloudtasks_get_queue_method.id,
    };
    model_windows(input, windows);
    const struct sink_option_table model = model_table(input);
    const nanos retention = wiring_option(&table, "name_retention", 0);
    if (input->sink->guarantee >= SINK_EFFECTIVELY_ONCE) {
        windows->answer_delay = wiring_option(&model, "name_latency", 0);
    }
    if (retention > 0) {
        windows->opening_calls = (uint32_t)wiring_option(&table, "verify_queue_retention", 0);
        windows->clock_allowance = wiring_option(&table, "clock_skew_allowance", 0);
        windows->recovery_window =
            nanos_sub(nanos_sub(retention, windows->clock_allowance), timeout);
        windows->expiry_fails = wiring_option(&table, "expired_envelope_policy", 0) == 0;
    }
}

const struct wiring wiring_cloudtasks = {
    .service = &cloudtasks_service,
    .serialize = serialize,
    .destinations = destinations,
    .windows = windows_of,
};
