#include "sinks/bigquery/file_loads/file_loads_options.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/options.h"

static const char *const file_loads_create_names[] = {"create_if_needed", "create_never", NULL};
static const char *const file_loads_write_names[] = {
    "write_append", "write_truncate", "write_truncate_data", "write_empty", NULL};
static const char *const file_loads_format_names[] = {"avro", "parquet", NULL};

/* A text without a default must be given. */
const struct sink_option file_loads_options[FILE_LOADS_OPTION_COUNT] = {
#define FILE_LOADS_OPTION(name, key, type, fallback, text, min, max, names, sentence)              \
    {(key),                                                                                        \
     (type),                                                                                       \
     (type) == SINK_OPTION_TEXT && (text) == NULL,                                                 \
     (fallback),                                                                                   \
     (text),                                                                                       \
     (min),                                                                                        \
     (max),                                                                                        \
     (names),                                                                                      \
     (sentence)},
#include "sinks/bigquery/file_loads/file_loads_options.def"
#undef FILE_LOADS_OPTION
};

static const uint8_t write_dispositions[FILE_LOADS_WRITE_COUNT] = {
    [FILE_LOADS_WRITE_APPEND] = BIGQUERY_WRITE_APPEND,
    [FILE_LOADS_WRITE_TRUNCATE] = BIGQUERY_WRITE_TRUNCATE,
    [FILE_LOADS_WRITE_TRUNCATE_DATA] = BIGQUERY_WRITE_TRUNCATE_DATA,
    [FILE_LOADS_WRITE_EMPTY] = BIGQUERY_WRITE_EMPTY,
};

/* By the option's index. */
static const uint8_t formats[] = {BIGQUERY_AVRO, BIGQUERY_PARQUET};

bool file_loads_may_mend(const struct port_status *status)
{
    const uint32_t codes = RETRY_TRANSIENT_CODES | PORT_CODE_BIT(PORT_INTERNAL) |
                           PORT_CODE_BIT(PORT_ABORTED) | PORT_CODE_BIT(PORT_CANCELLED) |
                           PORT_CODE_BIT(PORT_UNKNOWN);
    return port_status_first(status) == PORT_CODE_NONE || port_status_any(status, codes);
}

bool file_loads_uri_parse(struct bytes uri, struct bytes *bucket, struct bytes *name)
{
    const struct bytes scheme = BYTES_LITERAL("gs://");
    if (uri.size <= scheme.size || !bytes_is_utf8(uri) ||
        !bytes_equal((struct bytes){uri.data, scheme.size}, scheme)) {
        return false;
    }
    size_t end = scheme.size;
    while (end < uri.size && uri.data[end] != '/') {
        end++;
    }
    *bucket = (struct bytes){uri.data + scheme.size, end - scheme.size};
    const size_t behind = end < uri.size ? end + 1 : end;
    *name = (struct bytes){uri.data + behind, uri.size - behind};
    return bucket->size > 0;
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

static enum err check_order(const struct sink_option_value *options,
                            enum file_loads_option low,
                            enum file_loads_option high,
                            struct byte_writer *message)
{
    if (options[low].number <= options[high].number) {
        return ERR_OK;
    }
    byte_writer_text(message, file_loads_options[high].key);
    byte_writer_text(message, ": it is less than ");
    byte_writer_text(message, file_loads_options[low].key);
    return ERR_INVALID;
}

/* "projects/P/datasets/D". */
static bool is_dataset(struct bytes name)
{
    uint8_t memory[BIGQUERY_TABLE_NAME_MAX];
    struct byte_writer table;
    struct bigquery_table_name parts;
    byte_writer_init(&table, memory, sizeof(memory));
    byte_writer_bytes(&table, name);
    byte_writer_text(&table, "/tables/t");
    return !table.overflowed && bigquery_table_parse(byte_writer_view(&table), &parts);
}

static enum err check_texts(const struct sink_option_value *options, struct byte_writer *message)
{
    struct bigquery_table_name parts;
    struct bytes bucket;
    struct bytes name;
    const struct bytes path = options[FILE_LOADS_OPTION_STAGING_PATH].text;
    const struct bytes temp = options[FILE_LOADS_OPTION_TEMP_DATASET].text;
    const char *wrong = NULL;
    if (!bigquery_table_parse(options[FILE_LOADS_OPTION_TABLE].text, &parts)) {
        wrong = "table: it is not of the form projects/P/datasets/D/tables/T";
    } else if (path.size > file_loads_options[FILE_LOADS_OPTION_STAGING_PATH].max ||
               !file_loads_uri_parse(path, &bucket, &name)) {
        wrong = "staging_path: it is not of the form gs://BUCKET/PATH";
    } else if (temp.size > 0 && !is_dataset(temp)) {
        wrong = "temp_dataset: it is not of the form projects/P/datasets/D";
    }
    if (wrong != NULL) {
        byte_writer_text(message, wrong);
    }
    return wrong == NULL ? ERR_OK : ERR_INVALID;
}

static enum err check(const struct sink_option_value *options, struct byte_writer *message)
{
    for (uint32_t i = 0; i < FILE_LOADS_OPTION_COUNT; i++) {
        if (check_number(&file_loads_options[i], options[i].number, message) != ERR_OK) {
            return ERR_INVALID;
        }
    }
    enum err err = check_texts(options, message);
    err = err != ERR_OK ? err
                        : check_order(options,
                                      FILE_LOADS_OPTION_POLL_INITIAL_BACKOFF,
                                      FILE_LOADS_OPTION_POLL_MAX_BACKOFF,
                                      message);
    return err != ERR_OK ? err
                         : check_order(options,
                                       FILE_LOADS_OPTION_RECONCILE_INITIAL_BACKOFF,
                                       FILE_LOADS_OPTION_RECONCILE_MAX_BACKOFF,
                                       message);
}

static struct plan_config plan_of(const struct sink_option_value *options)
{
    return (struct plan_config){
        .write = write_dispositions[options[FILE_LOADS_OPTION_WRITE_DISPOSITION].number],
        .temp_dataset = options[FILE_LOADS_OPTION_TEMP_DATASET].text,
        .load_files_max = narrow_u32(options[FILE_LOADS_OPTION_LOAD_FILES].number),
        .load_bytes_max = options[FILE_LOADS_OPTION_LOAD_BYTES].number,
        .copy_sources_max = narrow_u32(options[FILE_LOADS_OPTION_COPY_SOURCES].number),
        .loads_max = narrow_u32(options[FILE_LOADS_OPTION_LOADS].number),
        .copies_max = narrow_u32(options[FILE_LOADS_OPTION_COPIES].number),
    };
}

enum err file_loads_configure(const struct sink_option_value *options,
                              struct file_loads_config *config,
                              struct byte_writer *message)
{
    if (check(options, message) != ERR_OK) {
        return ERR_INVALID;
    }
    *config = (struct file_loads_config){
        .table = options[FILE_LOADS_OPTION_TABLE].text,
        .staging_path = options[FILE_LOADS_OPTION_STAGING_PATH].text,
        .creates =
            options[FILE_LOADS_OPTION_CREATE_DISPOSITION].number == BIGQUERY_CREATE_IF_NEEDED,
        .format = formats[options[FILE_LOADS_OPTION_STAGING_FORMAT].number],
        .location = options[FILE_LOADS_OPTION_LOCATION].text,
        .file_bytes_max = options[FILE_LOADS_OPTION_MAX_STAGING_FILE_BYTES].number,
        .checkpoint_interval_min = options[FILE_LOADS_OPTION_MIN_CHECKPOINT_INTERVAL].number,
        .allow_new_fields = options[FILE_LOADS_OPTION_ALLOW_NEW_FIELDS].number != 0,
        .allow_relaxation = options[FILE_LOADS_OPTION_ALLOW_FIELD_RELAXATION].number != 0,
        .poll = {.initial = options[FILE_LOADS_OPTION_POLL_INITIAL_BACKOFF].number,
                 .max = options[FILE_LOADS_OPTION_POLL_MAX_BACKOFF].number,
                 .attempts_max = UINT32_MAX},
        .reconcile = {.initial = options[FILE_LOADS_OPTION_RECONCILE_INITIAL_BACKOFF].number,
                      .max = options[FILE_LOADS_OPTION_RECONCILE_MAX_BACKOFF].number,
                      .attempts_max =
                          narrow_u32(options[FILE_LOADS_OPTION_RECONCILE_MAX_ATTEMPTS].number)},
        .request_timeout = options[FILE_LOADS_OPTION_REQUEST_TIMEOUT].number,
        .plan = plan_of(options),
        .jobs_at_once = narrow_u32(options[FILE_LOADS_OPTION_JOBS_AT_ONCE].number),
        .queries_at_once = narrow_u32(options[FILE_LOADS_OPTION_QUERIES_AT_ONCE].number),
    };
    return ERR_OK;
}
