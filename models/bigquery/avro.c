#include "models/bigquery/avro.h"

#include "sinks/base/check.h"

#include <string.h>

#define SKIP_DEPTH_MAX 16u /* of brackets in what nobody asks for */
#define WORD_MAX       64u /* bytes of a text of the schema that means something */

/* --- binary -------------------------------------------------------------------------------------- */

static int64_t take_long(struct byte_reader *reader)
{
    const uint64_t coded = byte_reader_varint(reader);
    return (int64_t)(coded >> 1 ^ (~(coded & 1) + 1));
}

static struct bytes take_sized(struct byte_reader *reader)
{
    const int64_t size = take_long(reader);
    if (size < 0 || (uint64_t)size > byte_reader_left(reader)) {
        reader->failed = true;
        return (struct bytes){0};
    }
    return byte_reader_bytes(reader, (size_t)size);
}

/* The number of items of the next block of an array or a map; 0: no further one. A negative number is
 * followed by the size of the block, which is of no use here. */
static uint64_t take_count(struct byte_reader *reader)
{
    const int64_t count = take_long(reader);
    if (count >= 0) {
        return (uint64_t)count;
    }
    (void)take_long(reader);
    return ~(uint64_t)count + 1;
}

/* --- the schema: as much of JSON as it needs ------------------------------------------------------ */

struct json {
    const uint8_t *data;
    size_t size;
    size_t at;
    bool failed;
};

static uint8_t peek(struct json *json)
{
    while (json->at < json->size &&
           (json->data[json->at] == ' ' || json->data[json->at] == '\n' ||
            json->data[json->at] == '\t' || json->data[json->at] == '\r')) {
        json->at++;
    }
    return json->failed || json->at == json->size ? 0 : json->data[json->at];
}

/* Take a sign if it is next. */
static bool take(struct json *json, char sign)
{
    if (peek(json) != (uint8_t)sign) {
        return false;
    }
    json->at++;
    return true;
}

static void want(struct json *json, char sign)
{
    json->failed = !take(json, sign) || json->failed;
}

/* A text as it stands, escapes and all. */
static struct bytes take_text(struct json *json)
{
    want(json, '"');
    const size_t start = json->at;
    while (!json->failed && json->at < json->size && json->data[json->at] != '"') {
        json->at += json->data[json->at] == '\\' ? 2 : 1;
    }
    if (json->failed || json->at >= json->size) {
        json->failed = true;
        return (struct bytes){0};
    }
    json->at++;
    return (struct bytes){json->data + start, json->at - 1 - start};
}

/* A value that nobody asks for. */
static void skip_value(struct json *json)
{
    uint32_t depth = 0;
    do {
        const uint8_t next = peek(json);
        if (next == '"') {
            (void)take_text(json);
        } else if (next == '{' || next == '[') {
            depth++;
            json->at++;
        } else if (next == '}' || next == ']') {
            json->failed = json->failed || depth == 0;
            depth -= depth > 0 ? 1u : 0u;
            json->at++;
        } else if (next == 0) {
            json->failed = true;
        } else {
            json->at++; /* of a number, a word, a comma or a colon */
            while (depth == 0 && json->at < json->size && json->data[json->at] != ',' &&
                   json->data[json->at] != '}' && json->data[json->at] != ']') {
                json->at++;
            }
        }
        json->failed = json->failed || depth > SKIP_DEPTH_MAX;
    } while (depth > 0 && !json->failed);
}

static bool is_text(struct bytes text, const char *wanted)
{
    return text.size <= WORD_MAX && bytes_equal(text, bytes_of_text(wanted));
}

/* A type by its name and its logical one. */
static const struct {
    const char *name;
    const char *logical_or_null;
    uint8_t type;
    uint8_t plain_type;
} type_names[] = {
    {"string", "JSON", BIGQUERY_FIELD_JSON, BIGQUERY_FIELD_STRING}, /* by sqlType */
    {"long", "timestamp-micros", BIGQUERY_FIELD_TIMESTAMP, BIGQUERY_FIELD_INTEGER},
    {"long", "local-timestamp-micros", BIGQUERY_FIELD_DATETIME, BIGQUERY_FIELD_INTEGER},
    {"int", "date", BIGQUERY_FIELD_DATE, BIGQUERY_FIELD_INTEGER},
    {"string", NULL, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_STRING},
    {"bytes", NULL, BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_BYTES},
    {"long", NULL, BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_INTEGER},
    {"int", NULL, BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_INTEGER},
    {"boolean", NULL, BIGQUERY_FIELD_BOOLEAN, BIGQUERY_FIELD_BOOLEAN},
};

static void
set_type(struct json *json, struct bytes name, struct bytes logical, struct avro_column *column)
{
    for (size_t i = 0; i < ARRAY_COUNT(type_names); i++) {
        if (is_text(name, type_names[i].name) &&
            (type_names[i].logical_or_null == NULL ||
             is_text(logical, type_names[i].logical_or_null))) {
            column->type = type_names[i].type;
            column->plain_type = type_names[i].plain_type;
            return;
        }
    }
    json->failed = true;
}

/* The parts of {"type": ..., ...}. */
struct described {
    struct bytes type;
    struct bytes logical;
    size_t items; /* where those of an array stand; 0 none */
};

/* The object of a type; items of an array are only found, not read. */
static struct described take_described(struct json *json)
{
    struct described described = {0};
    want(json, '{');
    do {
        const struct bytes key = take_text(json);
        want(json, ':');
        if (is_text(key, "type") && peek(json) == '"') {
            described.type = take_text(json);
        } else if ((is_text(key, "logicalType") || is_text(key, "sqlType")) && peek(json) == '"') {
            described.logical = take_text(json);
        } else {
            if (is_text(key, "items")) {
                (void)peek(json);
                described.items = json->at;
            }
            skip_value(json);
        }
    } while (!json->failed && take(json, ','));
    want(json, '}');
    return described;
}

/* A name, or an object. */
static struct described take_plain(struct json *json)
{
    if (peek(json) == '{') {
        return take_described(json);
    }
    return (struct described){.type = take_text(json)};
}

/* A type of one value. */
static void take_plain_type(struct json *json, struct avro_column *column)
{
    const struct described described = take_plain(json);
    set_type(json, described.type, described.logical, column);
}

/* One that may be an array. */
static void take_object_type(struct json *json, struct avro_column *column)
{
    const struct described described = take_plain(json);
    if (!is_text(described.type, "array")) {
        set_type(json, described.type, described.logical, column);
        return;
    }
    struct json items = *json;
    items.at = described.items;
    items.failed = items.failed || described.items == 0;
    take_plain_type(&items, column);
    json->failed = items.failed;
    column->mode = BIGQUERY_FIELD_REPEATED;
}

/* ["null", type] or [type, "null"]. */
static void take_union(struct json *json, struct avro_column *column)
{
    uint32_t nulls = 0;
    column->mode = BIGQUERY_FIELD_NULLABLE;
    for (uint8_t branch = 0; branch < 2; branch++) {
        const struct described described = take_plain(json);
        if (is_text(described.type, "null")) {
            column->null_branch = branch;
            nulls++;
        } else {
            set_type(json, described.type, described.logical, column);
        }
        if (branch == 0) {
            want(json, ',');
        }
    }
    want(json, ']');
    json->failed = json->failed || nulls != 1;
}

static void take_type(struct json *json, struct avro_column *column)
{
    column->mode = BIGQUERY_FIELD_REQUIRED;
    if (take(json, '[')) {
        take_union(json, column);
    } else {
        take_object_type(json, column);
    }
}

static void take_field(struct json *json, struct avro_file *file)
{
    struct avro_column column = {.type = BIGQUERY_FIELD_TYPE_NONE};
    want(json, '{');
    do {
        const struct bytes key = take_text(json);
        want(json, ':');
        if (is_text(key, "name")) {
            column.name = take_text(json);
        } else if (is_text(key, "type")) {
            take_type(json, &column);
        } else {
            skip_value(json);
        }
    } while (!json->failed && take(json, ','));
    want(json, '}');
    if (json->failed || column.name.size == 0 || column.type == BIGQUERY_FIELD_TYPE_NONE ||
        file->column_count == AVRO_COLUMN_MAX) {
        json->failed = true;
        return;
    }
    for (uint32_t i = 0; i < file->column_count; i++) {
        json->failed = json->failed || bytes_equal(file->columns[i].name, column.name);
    }
    file->columns[file->column_count] = column;
    file->column_count++;
}

static void take_fields(struct json *json, struct avro_file *file)
{
    want(json, '[');
    json->failed = json->failed || file->column_count > 0;
    do {
        take_field(json, file);
    } while (!json->failed && take(json, ','));
    want(json, ']');
}

/* A row takes a byte at least, for there is a column. */
static bool read_schema(struct avro_file *file, struct bytes text)
{
    struct json json = {.data = text.data, .size = text.size};
    bool is_record = false;
    want(&json, '{');
    do {
        const struct bytes key = take_text(&json);
        want(&json, ':');
        if (is_text(key, "type")) {
            is_record = is_text(take_text(&json), "record");
        } else if (is_text(key, "fields")) {
            take_fields(&json, file);
        } else {
            skip_value(&json);
        }
    } while (!json.failed && take(&json, ','));
    want(&json, '}');
    return !json.failed && peek(&json) == 0 && json.at == json.size && is_record &&
           file->column_count > 0;
}

/* --- the header ---------------------------------------------------------------------------------- */

static enum err failure_of(const struct byte_reader *reader)
{
    return reader->failed ? ERR_TRUNCATED : ERR_OK;
}

/* One entry of the metadata. */
static bool take_entry(struct avro_file *file)
{
    const struct bytes key = take_sized(&file->reader);
    const struct bytes value = take_sized(&file->reader);
    if (file->reader.failed) {
        return true;
    }
    if (is_text(key, "avro.codec")) {
        return is_text(value, "null");
    }
    return !is_text(key, "avro.schema") || (file->column_count == 0 && read_schema(file, value));
}

enum err avro_open(struct avro_file *file, struct bytes bytes)
{
    static const uint8_t magic[] = {'O', 'b', 'j', 1};
    *file = (struct avro_file){.rows_left = 0};
    byte_reader_init(&file->reader, bytes);
    const struct bytes found = byte_reader_bytes(&file->reader, sizeof(magic));
    if (!file->reader.failed && !bytes_equal(found, (struct bytes){magic, sizeof(magic)})) {
        return ERR_INVALID;
    }
    for (uint64_t left = take_count(&file->reader); left > 0 && !file->reader.failed;
         left = left > 1 ? left - 1 : take_count(&file->reader)) {
        if (!take_entry(file)) {
            return ERR_INVALID;
        }
    }
    file->marker = byte_reader_bytes(&file->reader, AVRO_MARKER_SIZE).data;
    file->block_end = file->reader.offset;
    if (file->reader.failed) {
        return ERR_TRUNCATED;
    }
    return file->column_count > 0 ? ERR_OK : ERR_INVALID;
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* False: the value is none of its type. */
static bool
take_value(struct byte_reader *reader, const struct avro_column *column, struct avro_cell *value)
{
    *value = (struct avro_cell){.is_null = false};
    if (column->plain_type == BIGQUERY_FIELD_STRING || column->plain_type == BIGQUERY_FIELD_BYTES) {
        value->bytes = take_sized(reader);
        return column->plain_type == BIGQUERY_FIELD_BYTES || bytes_is_utf8(value->bytes);
    }
    if (column->plain_type == BIGQUERY_FIELD_BOOLEAN) {
        value->number = byte_reader_u8(reader);
        return value->number <= 1;
    }
    value->number = take_long(reader);
    return column->type != BIGQUERY_FIELD_DATE ||
           (value->number >= INT32_MIN && value->number <= INT32_MAX);
}

/* Each item takes a byte at least. */
static bool
take_array(struct byte_reader *reader, const struct avro_column *column, struct avro_cell *value)
{
    const size_t start = reader->offset;
    struct avro_cell item;
    *value = (struct avro_cell){.is_null = false};
    for (uint64_t left = take_count(reader); left > 0 && !reader->failed;
         left = left > 1 ? left - 1 : take_count(reader)) {
        if (!take_value(reader, column, &item)) {
            return false;
        }
    }
    value->bytes = (struct bytes){reader->data + start, reader->offset - start};
    return true;
}

static bool
take_column(struct byte_reader *reader, const struct avro_column *column, struct avro_cell *value)
{
    if (column->mode == BIGQUERY_FIELD_REPEATED) {
        return take_array(reader, column, value);
    }
    if (column->mode == BIGQUERY_FIELD_NULLABLE) {
        const int64_t branch = take_long(reader);
        if (branch == column->null_branch || branch < 0 || branch > 1) {
            *value = (struct avro_cell){.is_null = true};
            return branch == column->null_branch;
        }
    }
    return take_value(reader, column, value);
}

/* ERR_OK, ERR_TRUNCATED, ERR_INVALID. Blocks may be empty. */
static enum err begin_block(struct avro_file *file)
{
    struct byte_reader *reader = &file->reader;
    const int64_t rows = take_long(reader);
    const int64_t size = take_long(reader);
    if (reader->failed || rows < 0 || size < 0) {
        return reader->failed ? ERR_TRUNCATED : ERR_INVALID;
    }
    if ((uint64_t)size > byte_reader_left(reader)) {
        return ERR_TRUNCATED;
    }
    file->rows_left = (uint64_t)rows;
    file->block_end = reader->offset + (size_t)size;
    return ERR_OK;
}

static enum err end_block(struct avro_file *file)
{
    struct byte_reader *reader = &file->reader;
    if (reader->offset != file->block_end) {
        return ERR_INVALID;
    }
    const struct bytes marker = byte_reader_bytes(reader, AVRO_MARKER_SIZE);
    if (reader->failed) {
        return ERR_TRUNCATED;
    }
    return bytes_equal(marker, (struct bytes){file->marker, AVRO_MARKER_SIZE}) ? ERR_OK
                                                                               : ERR_INVALID;
}

enum err avro_next(struct avro_file *file, struct avro_cell *values, bool *found)
{
    struct byte_reader *reader = &file->reader;
    *found = false;
    while (file->rows_left == 0) {
        if (byte_reader_left(reader) == 0) {
            return failure_of(reader);
        }
        enum err err = begin_block(file);
        err = err == ERR_OK && file->rows_left == 0 ? end_block(file) : err;
        if (err != ERR_OK) {
            return err;
        }
    }
    for (uint32_t i = 0; i < file->column_count; i++) {
        if (!take_column(reader, &file->columns[i], &values[i])) {
            return ERR_INVALID;
        }
    }
    if (reader->failed || reader->offset > file->block_end) {
        return reader->failed ? ERR_TRUNCATED : ERR_INVALID;
    }
    file->rows_left--;
    *found = true;
    return file->rows_left == 0 ? end_block(file) : ERR_OK;
}

bool avro_item(const struct avro_column *column,
               const struct avro_cell *array,
               struct avro_items *items,
               struct avro_cell *item)
{
    struct byte_reader reader;
    byte_reader_init(&reader, array->bytes);
    reader.offset = items->offset;
    if (items->left == 0) {
        items->left = take_count(&reader);
    }
    if (items->left == 0) {
        return false;
    }
    CHECK(take_value(&reader, column, item));
    CHECK(!reader.failed);
    items->left--;
    items->offset = reader.offset;
    return true;
}
