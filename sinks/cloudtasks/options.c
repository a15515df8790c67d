#include "sinks/cloudtasks/options.h"

#include "sinks/base/check.h"

static const char *const cloudtasks_expiry_names[] = {
    "fail", "assume_committed", "drop", "create_anyway", NULL};

const struct sink_option cloudtasks_options[CLOUDTASKS_OPTION_COUNT] = {
#define CLOUDTASKS_OPTION(name, key, type, required, fallback, min, max, names, sentence)          \
    {(key), (type), (required), (fallback), NULL, (min), (max), (names), (sentence)},
#include "sinks/cloudtasks/options.def"
#undef CLOUDTASKS_OPTION
};

static bool is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.' || byte == ':';
}

/* Skip one text, or one non-empty name when text is NULL; false when it is not there. */
static bool skip(struct bytes *rest, const char *text_or_null)
{
    size_t size = 0;
    if (text_or_null == NULL) {
        while (size < rest->size && is_name_byte(rest->data[size])) {
            size++;
        }
        if (size == 0) {
            return false;
        }
    } else {
        const struct bytes text = bytes_of_text(text_or_null);
        size = text.size;
        if (rest->size < size || !bytes_equal((struct bytes){rest->data, size}, text)) {
            return false;
        }
    }
    rest->data += size;
    rest->size -= size;
    return true;
}

bool cloudtasks_queue_is_valid(struct bytes queue)
{
    static const char *const parts[] = {"projects/", NULL, "/locations/", NULL, "/queues/", NULL};
    struct bytes rest = queue;
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        if (!skip(&rest, parts[i])) {
            return false;
        }
    }
    return rest.size == 0;
}

static void write_number(struct byte_writer *message, uint64_t number, uint8_t type)
{
    byte_writer_decimal(message, number);
    byte_writer_text(message, type == SINK_OPTION_DURATION ? " ns" : "");
}

static enum err check_number(const struct sink_option *option,
                             const struct sink_option_value *value,
                             struct byte_writer *message)
{
    if (value->number >= option->min && value->number <= option->max) {
        return ERR_OK;
    }
    byte_writer_text(message, option->key);
    byte_writer_text(message, ": ");
    write_number(message, value->number, option->type);
    byte_writer_text(message, " is not within ");
    write_number(message, option->min, option->type);
    byte_writer_text(message, " to ");
    write_number(message, option->max, option->type);
    return ERR_INVALID;
}

static enum err check_queue(const struct sink_option_value *options, struct byte_writer *message)
{
    const struct bytes queue = options[CLOUDTASKS_OPTION_QUEUE].text;
    if (queue.size <= cloudtasks_options[CLOUDTASKS_OPTION_QUEUE].max &&
        cloudtasks_queue_is_valid(queue)) {
        return ERR_OK;
    }
    /* It is shown only if it fits a line. */
    byte_writer_text(message, "queue: \"");
    if (queue.size <= 128 && bytes_is_utf8(queue)) {
        byte_writer_bytes(message, queue);
    }
    byte_writer_text(message, "\" is not of the form projects/P/locations/L/queues/Q");
    return ERR_INVALID;
}

/* The option at low must not exceed the one at high. */
static enum err check_order(const struct sink_option_value *options,
                            enum cloudtasks_option low,
                            enum cloudtasks_option high,
                            struct byte_writer *message)
{
    if (options[low].number <= options[high].number) {
        return ERR_OK;
    }
    byte_writer_text(message, cloudtasks_options[high].key);
    byte_writer_text(message, ": ");
    write_number(message, options[high].number, SINK_OPTION_DURATION);
    byte_writer_text(message, " is less than ");
    byte_writer_text(message, cloudtasks_options[low].key);
    byte_writer_text(message, " (");
    write_number(message, options[low].number, SINK_OPTION_DURATION);
    byte_writer_text(message, "); it must be at least that");
    return ERR_INVALID;
}

/* name_retention > clock_skew_allowance + request_timeout by at least 1 ms (section 4.7). */
static enum err check_window(const struct sink_option_value *options, struct byte_writer *message)
{
    const nanos retention = options[CLOUDTASKS_OPTION_NAME_RETENTION].number;
    const nanos taken = nanos_add(options[CLOUDTASKS_OPTION_CLOCK_SKEW_ALLOWANCE].number,
                                  options[CLOUDTASKS_OPTION_REQUEST_TIMEOUT].number);
    if (nanos_sub(retention, taken) >= MS(1)) {
        return ERR_OK;
    }
    byte_writer_text(message, "name_retention: ");
    write_number(message, retention, SINK_OPTION_DURATION);
    byte_writer_text(message, " must exceed clock_skew_allowance + request_timeout (");
    write_number(message, taken, SINK_OPTION_DURATION);
    byte_writer_text(message, ") by at least 1000000 ns");
    return ERR_INVALID;
}

enum err cloudtasks_options_check(const struct sink_option_value *options,
                                  uint32_t count,
                                  struct byte_writer *message)
{
    CHECK(count <= CLOUDTASKS_OPTION_COUNT);
    enum err err = check_queue(options, message);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        if (cloudtasks_options[i].type != SINK_OPTION_TEXT) {
            err = check_number(&cloudtasks_options[i], &options[i], message);
        }
    }
    if (err == ERR_OK) {
        err = check_order(options,
                          CLOUDTASKS_OPTION_RETRY_INITIAL_BACKOFF,
                          CLOUDTASKS_OPTION_RETRY_MAX_BACKOFF,
                          message);
    }
    if (err == ERR_OK) {
        err = check_order(options,
                          CLOUDTASKS_OPTION_NOT_FOUND_INITIAL_BACKOFF,
                          CLOUDTASKS_OPTION_NOT_FOUND_MAX_BACKOFF,
                          message);
    }
    if (err == ERR_OK && count > CLOUDTASKS_EAGER_OPTION_COUNT) {
        err = check_window(options, message);
    }
    return err;
}

static struct retry_schedule schedule_at(const struct sink_option_value *options,
                                         enum cloudtasks_option first)
{
    return (struct retry_schedule){.initial = options[first].number,
                                   .max = options[first + 1].number,
                                   .attempts_max = narrow_u32(options[first + 2].number)};
}

struct cloudtasks_config cloudtasks_config_of(const struct sink_option_value *options,
                                              uint32_t count)
{
    struct cloudtasks_config config = {
        .queue = options[CLOUDTASKS_OPTION_QUEUE].text,
        .in_flight_max = narrow_u32(options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number),
        .retry = schedule_at(options, CLOUDTASKS_OPTION_RETRY_INITIAL_BACKOFF),
        .not_found = schedule_at(options, CLOUDTASKS_OPTION_NOT_FOUND_INITIAL_BACKOFF),
        .request_timeout = options[CLOUDTASKS_OPTION_REQUEST_TIMEOUT].number,
    };
    if (count > CLOUDTASKS_EAGER_OPTION_COUNT) {
        const nanos retention = options[CLOUDTASKS_OPTION_NAME_RETENTION].number;
        config.name_retention_ms = retention / NANOS_PER_MS;
        config.window_ms = (retention - options[CLOUDTASKS_OPTION_CLOCK_SKEW_ALLOWANCE].number -
                            config.request_timeout) /
                           NANOS_PER_MS;
        config.staged_count_max = narrow_u32(options[CLOUDTASKS_OPTION_MAX_STAGED_TASKS].number);
        config.staged_bytes_max = options[CLOUDTASKS_OPTION_MAX_STAGED_BYTES].number;
        config.verify_queue_retention =
            options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number != 0;
        config.expiry = narrow_u8(options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number);
    }
    return config;
}
