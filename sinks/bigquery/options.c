#include "sinks/bigquery/options.h"

#include "sinks/base/check.h"
#include "sinks/port/bigquery.h"

static const char *const bigquery_sequence_names[] = {"position", "none", NULL};
static const char *const bigquery_contract_names[] = {
    "unchecked", "verify_only", "reconcile", NULL};
static const char *const bigquery_create_names[] = {"create_if_needed", "create_never", NULL};

const struct sink_option bigquery_options[BIGQUERY_OPTION_COUNT] = {
#define BIGQUERY_OPTION(name, key, type, fallback, text, min, max, names, sentence)                \
    {(key), (type), false, (fallback), (text), (min), (max), (names), (sentence)},
#include "sinks/bigquery/options.def"
#undef BIGQUERY_OPTION
};

/* The order matters. */
/* clang-format off */
const struct sink_option bigquery_eager_options[BIGQUERY_EAGER_OPTION_COUNT] = {
#define BIGQUERY_OPTION(name, key, type, fallback, text, min, max, names, sentence)                \
    {(key), (type), false, (fallback), (text), (min), (max), (names), (sentence)},
#include "sinks/bigquery/options.def"
#include "sinks/bigquery/at_least_once/at_least_once_options.def"
#undef BIGQUERY_OPTION
};
/* clang-format on */

/* Take a text off the front; false when it is not there. */
static bool take_text(struct bytes *rest, const char *text)
{
    const struct bytes wanted = bytes_of_text(text);
    if (rest->size < wanted.size || !bytes_equal((struct bytes){rest->data, wanted.size}, wanted)) {
        return false;
    }
    *rest = (struct bytes){rest->data + wanted.size, rest->size - wanted.size};
    return true;
}

/* Take all up to the next slash or the end; false when it is nothing. */
static bool take_part(struct bytes *rest, struct bytes *part)
{
    size_t size = 0;
    while (size < rest->size && rest->data[size] != '/') {
        size++;
    }
    *part = (struct bytes){rest->data, size};
    *rest = (struct bytes){rest->data + size, rest->size - size};
    return size > 0;
}

bool bigquery_table_parse(struct bytes name, struct bigquery_table_name *parts)
{
    struct bytes rest = name;
    return name.size <= BIGQUERY_TABLE_NAME_MAX && bytes_is_utf8(name) &&
           take_text(&rest, "projects/") && take_part(&rest, &parts->project) &&
           take_text(&rest, "/datasets/") && take_part(&rest, &parts->dataset) &&
           take_text(&rest, "/tables/") && take_part(&rest, &parts->table) && rest.size == 0;
}

static enum err
check_number(const struct sink_option *option, uint64_t number, struct byte_writer *message)
{
    if (option->type == SINK_OPTION_TEXT || (number >= option->min && number <= option->max)) {
        return ERR_OK;
    }
    byte_writer_text(message, option->key);
    byte_writer_text(message, ": ");
    byte_writer_decimal(message, number);
    byte_writer_text(message, " is not within ");
    byte_writer_decimal(message, option->min);
    byte_writer_text(message, " to ");
    byte_writer_decimal(message, option->max);
    return ERR_INVALID;
}

/* The option at low must not exceed the one at high. */
static enum err check_order(const struct sink_option_value *options,
                            enum bigquery_option low,
                            enum bigquery_option high,
                            struct byte_writer *message)
{
    if (options[low].number <= options[high].number) {
        return ERR_OK;
    }
    byte_writer_text(message, bigquery_options[high].key);
    byte_writer_text(message, ": ");
    byte_writer_decimal(message, options[high].number);
    byte_writer_text(message, " is less than ");
    byte_writer_text(message, bigquery_options[low].key);
    byte_writer_text(message, " (");
    byte_writer_decimal(message, options[low].number);
    byte_writer_text(message, "); it must be at least that");
    return ERR_INVALID;
}

static enum err check(const struct sink_option_value *options, struct byte_writer *message)
{
    struct bigquery_table_name parts;
    for (uint32_t i = 0; i < BIGQUERY_OPTION_COUNT; i++) {
        if (check_number(&bigquery_options[i], options[i].number, message) != ERR_OK) {
            return ERR_INVALID;
        }
    }
    if (!bigquery_table_parse(options[BIGQUERY_OPTION_TABLE].text, &parts)) {
        byte_writer_text(message, "table: it is not of the form projects/P/datasets/D/tables/T");
        return ERR_INVALID;
    }
    const enum err err = check_order(options,
                                     BIGQUERY_OPTION_RECOVERY_INITIAL_BACKOFF,
                                     BIGQUERY_OPTION_RECOVERY_MAX_BACKOFF,
                                     message);
    return err != ERR_OK ? err
                         : check_order(options,
                                       BIGQUERY_OPTION_RETRY_INITIAL_BACKOFF,
                                       BIGQUERY_OPTION_RETRY_MAX_BACKOFF,
                                       message);
}

static struct retry_schedule schedule(const struct sink_option_value *options,
                                      enum bigquery_option first)
{
    return (struct retry_schedule){.initial = options[first].number,
                                   .max = options[first + 1].number,
                                   .attempts_max = narrow_u32(options[first + 2].number)};
}

const char *bigquery_staged_refusal(const struct sink_job *job)
{
    if (job->runtime_automatic) {
        return "runtime mode: automatic; it must be set to streaming or to batch";
    }
    if (job->batch) {
        return NULL;
    }
    if (!job->checkpointing) {
        return "checkpointing: off; it must be on";
    }
    if (!job->barriers_exactly_once) {
        return "checkpointing mode: at least once; it must be exactly once";
    }
    if (job->bounded && !job->checkpoints_after_finish) {
        return "checkpoints after tasks finish: off; they must be on for bounded input";
    }
    return NULL;
}

enum err bigquery_configure(const struct sink_option_value *options,
                            struct bigquery_config *config,
                            struct byte_writer *message)
{
    if (check(options, message) != ERR_OK) {
        return ERR_INVALID;
    }
    *config = (struct bigquery_config){
        .table = options[BIGQUERY_OPTION_TABLE].text,
        .stream_type = BIGQUERY_BUFFERED,
        .creates = options[BIGQUERY_OPTION_CREATE_DISPOSITION].number == BIGQUERY_CREATE_IF_NEEDED,
        .adds_columns = options[BIGQUERY_OPTION_ALLOW_NEW_FIELDS].number != 0,
        .relaxes_columns = options[BIGQUERY_OPTION_ALLOW_FIELD_RELAXATION].number != 0,
        .append_bytes_max = (size_t)options[BIGQUERY_OPTION_MAX_APPEND_BYTES].number,
        .row_bytes_max = (size_t)options[BIGQUERY_OPTION_MAX_ROW_BYTES].number,
        .in_flight_max = narrow_u32(options[BIGQUERY_OPTION_MAX_IN_FLIGHT_APPENDS].number),
        .in_flight_bytes_max = SIZE_MAX,
        .idle_timeout = options[BIGQUERY_OPTION_DESTINATION_IDLE_TIMEOUT].number,
        .recovery = schedule(options, BIGQUERY_OPTION_RECOVERY_INITIAL_BACKOFF),
        .retry = schedule(options, BIGQUERY_OPTION_RETRY_INITIAL_BACKOFF),
        .retry_duration_max = options[BIGQUERY_OPTION_MAX_RETRY_DURATION].number,
        .response_timeout = options[BIGQUERY_OPTION_RESPONSE_TIMEOUT].number,
        .request_timeout = options[BIGQUERY_OPTION_REQUEST_TIMEOUT].number,
    };
    return ERR_OK;
}

/* What is said of tables is of those whose rows change others. */
static enum err check_contract(const struct bigquery_config *config, struct byte_writer *message)
{
    uint32_t columns = 0;
    struct bytes rest = config->primary_key;
    while (bytes_next_word(&rest).size > 0) {
        columns++;
    }
    const char *complaint = NULL;
    if (config->table_contract != BIGQUERY_CONTRACT_UNCHECKED && !config->changes) {
        complaint = "table_contract: it needs change_data_capture";
    } else if (config->table_contract == BIGQUERY_CONTRACT_UNCHECKED &&
               (columns > 0 || config->max_staleness > 0)) {
        complaint = "primary_key, max_staleness: they need table_contract";
    } else if (columns > BIGQUERY_KEY_COLUMNS_MAX) {
        complaint = "primary_key: it has more than 16 columns";
    } else if (config->max_staleness % SECONDS(1) != 0) {
        complaint = "max_staleness: it is not in whole seconds";
    }
    byte_writer_text(message, complaint == NULL ? "" : complaint);
    return complaint == NULL ? ERR_OK : ERR_INVALID;
}

enum err bigquery_configure_eager(const struct sink_option_value *options,
                                  struct bigquery_config *config,
                                  struct byte_writer *message)
{
    for (uint32_t i = BIGQUERY_OPTION_COUNT; i < BIGQUERY_EAGER_OPTION_COUNT; i++) {
        if (check_number(&bigquery_eager_options[i], options[i].number, message) != ERR_OK) {
            return ERR_INVALID;
        }
    }
    if (bigquery_configure(options, config, message) != ERR_OK) {
        return ERR_INVALID;
    }
    config->in_flight_bytes_max = (size_t)options[BIGQUERY_EAGER_OPTION_MAX_IN_FLIGHT_BYTES].number;
    config->flush_interval = options[BIGQUERY_EAGER_OPTION_FLUSH_INTERVAL].number;
    config->changes = options[BIGQUERY_EAGER_OPTION_CHANGE_DATA_CAPTURE].number != 0;
    config->sequence = config->changes && options[BIGQUERY_EAGER_OPTION_CHANGE_SEQUENCE].number ==
                                              BIGQUERY_SEQUENCE_POSITION;
    config->table_contract = (uint8_t)options[BIGQUERY_EAGER_OPTION_TABLE_CONTRACT].number;
    config->primary_key = options[BIGQUERY_EAGER_OPTION_PRIMARY_KEY].text;
    config->max_staleness = options[BIGQUERY_EAGER_OPTION_MAX_STALENESS].number;
    return check_contract(config, message);
}
