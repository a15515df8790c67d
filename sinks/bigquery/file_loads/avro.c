#include "sinks/bigquery/file_loads/avro.h"

#include "sinks/base/check.h"

/* Wire types of protobuf. */
enum {
    WIRE_VARINT = 0,
    WIRE_SIZED = 2,
};

/* Indexes of the union of a NULLABLE column. */
enum {
    BRANCH_NULL = 0,
    BRANCH_VALUE = 1,
};

/* How a type of BigQuery's stands in a file. */
struct avro_type {
    const char *json;
    uint8_t wire; /* of its values in rows */
};

static const struct avro_type types[BIGQUERY_FIELD_TYPE_END] = {
    [BIGQUERY_FIELD_STRING] = {"\"string\"", WIRE_SIZED},
    [BIGQUERY_FIELD_BYTES] = {"\"bytes\"", WIRE_SIZED},
    [BIGQUERY_FIELD_INTEGER] = {"\"long\"", WIRE_VARINT},
    [BIGQUERY_FIELD_BOOLEAN] = {"\"boolean\"", WIRE_VARINT},
    [BIGQUERY_FIELD_TIMESTAMP] = {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
                                  WIRE_VARINT},
    [BIGQUERY_FIELD_DATE] = {"{\"type\":\"int\",\"logicalType\":\"date\"}", WIRE_VARINT},
    [BIGQUERY_FIELD_DATETIME] = {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}",
                                 WIRE_VARINT},
    [BIGQUERY_FIELD_JSON] = {"{\"type\":\"string\",\"sqlType\":\"JSON\"}", WIRE_SIZED},
};

/* --- numbers and texts --------------------------------------------------------------------------- */

/* Small numbers of either sign take few bytes. */
static void put_long(struct byte_writer *writer, int64_t value)
{
    const uint64_t sign = value < 0 ? UINT64_MAX : 0;
    byte_writer_varint(writer, (uint64_t)value << 1 ^ sign);
}

static void put_sized(struct byte_writer *writer, struct bytes value)
{
    put_long(writer, (int64_t)value.size);
    byte_writer_bytes(writer, value);
}

/* --- the schema ---------------------------------------------------------------------------------- */

static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.size; i++) {
        const uint8_t byte = name.data[i];
        const bool is_letter =
            (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
        if (!is_letter && (i == 0 || byte < '0' || byte > '9')) {
            return false;
        }
    }
    return name.size > 0;
}

static const struct bigquery_table_field_schema *
column_at(const struct bigquery_table_schema *schema, uint32_t index)
{
    return schema->fields.items[index];
}

bool avro_schema_is_valid(const struct bigquery_table_schema *schema)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *column = column_at(schema, i);
        if (!is_name(column->name) || column->type == BIGQUERY_FIELD_TYPE_NONE ||
            column->type >= BIGQUERY_FIELD_TYPE_END || column->mode >= BIGQUERY_FIELD_MODE_END) {
            return false;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (bytes_equal(column->name, column_at(schema, k)->name)) {
                return false;
            }
        }
    }
    return schema->fields.count > 0;
}

static void put_column_json(struct byte_writer *writer,
                            const struct bigquery_table_field_schema *column)
{
    static const struct {
        const char *before;
        const char *after;
    } modes[BIGQUERY_FIELD_MODE_END] = {
        [BIGQUERY_FIELD_NULLABLE] = {"[\"null\",", "]"},
        [BIGQUERY_FIELD_REQUIRED] = {"", ""},
        [BIGQUERY_FIELD_REPEATED] = {"{\"type\":\"array\",\"items\":", "}"},
    };
    byte_writer_text(writer, "{\"name\":\"");
    byte_writer_bytes(writer, column->name);
    byte_writer_text(writer, "\",\"type\":");
    byte_writer_text(writer, modes[column->mode].before);
    byte_writer_text(writer, types[column->type].json);
    byte_writer_text(writer, modes[column->mode].after);
    byte_writer_text(writer, "}");
}

static void put_schema_json(struct byte_writer *writer, const struct bigquery_table_schema *schema)
{
    byte_writer_text(writer, "{\"type\":\"record\",\"name\":\"Row\",\"fields\":[");
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        byte_writer_text(writer, i == 0 ? "" : ",");
        put_column_json(writer, column_at(schema, i));
    }
    byte_writer_text(writer, "]}");
}

void avro_write_header(const struct bigquery_table_schema *schema,
                       const uint8_t sync[AVRO_SYNC_SIZE],
                       struct byte_writer *writer)
{
    CHECK(avro_schema_is_valid(schema));
    struct byte_writer measure;
    byte_writer_init(&measure, NULL, 0);
    put_schema_json(&measure, schema);
    byte_writer_text(writer, "Obj\x01");
    put_long(writer, 2); /* entries */
    put_sized(writer, BYTES_LITERAL("avro.codec"));
    put_sized(writer, BYTES_LITERAL("null"));
    put_sized(writer, BYTES_LITERAL("avro.schema"));
    put_long(writer, (int64_t)measure.size);
    put_schema_json(writer, schema);
    put_long(writer, 0); /* no further entries */
    byte_writer_bytes(writer, (struct bytes){sync, AVRO_SYNC_SIZE});
}

/* --- rows ---------------------------------------------------------------------------------------- */

struct field {
    uint64_t number;
    uint8_t wire;
    uint64_t integer;   /* of WIRE_VARINT */
    struct bytes value; /* of WIRE_SIZED */
};

/* False at the end of a row, and where it cannot be read: then the reader has failed. */
static bool next_field(struct byte_reader *reader, struct field *field)
{
    if (byte_reader_left(reader) == 0) {
        return false;
    }
    const uint64_t tag = byte_reader_varint(reader);
    *field = (struct field){.number = tag >> 3, .wire = (uint8_t)(tag & 7)};
    if (field->wire == WIRE_VARINT) {
        field->integer = byte_reader_varint(reader);
    } else if (field->wire == WIRE_SIZED) {
        const uint64_t size = byte_reader_varint(reader);
        reader->failed = reader->failed || size > byte_reader_left(reader);
        field->value = byte_reader_bytes(reader, reader->failed ? 0 : (size_t)size);
    } else {
        reader->failed = true; /* no type of a column's comes so */
    }
    return !reader->failed;
}

/* A DATE is an int in Avro. */
static bool value_fits(const struct bigquery_table_field_schema *column, const struct field *field)
{
    const int64_t number = (int64_t)field->integer;
    if (field->wire != types[column->type].wire) {
        return false;
    }
    if (column->type == BIGQUERY_FIELD_BOOLEAN) {
        return field->integer <= 1;
    }
    if (column->type == BIGQUERY_FIELD_DATE) {
        return number >= INT32_MIN && number <= INT32_MAX;
    }
    return (column->type != BIGQUERY_FIELD_STRING && column->type != BIGQUERY_FIELD_JSON) ||
           bytes_is_utf8(field->value);
}

static void put_value(struct byte_writer *writer,
                      const struct bigquery_table_field_schema *column,
                      const struct field *field)
{
    if (column->type == BIGQUERY_FIELD_BOOLEAN) {
        byte_writer_u8(writer, (uint8_t)field->integer);
    } else if (field->wire == WIRE_VARINT) {
        put_long(writer, (int64_t)field->integer);
    } else {
        put_sized(writer, field->value);
    }
}

/* What a row holds of one column. */
struct found {
    uint32_t count;
    struct field last;
};

/* ERR_OK; ERR_INVALID: a value is not of the column's type, or the row cannot be read. */
static enum err find_values(const struct bigquery_table_field_schema *column,
                            uint32_t number,
                            struct bytes row,
                            struct found *found)
{
    struct byte_reader reader;
    struct field field;
    *found = (struct found){0};
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        if (field.number != number) {
            continue;
        }
        if (!value_fits(column, &field)) {
            return ERR_INVALID;
        }
        found->count++;
        found->last = field;
    }
    return reader.failed ? ERR_INVALID : ERR_OK;
}

/* All values of a column that was looked at, as an array. */
static void put_array(struct byte_writer *writer,
                      const struct bigquery_table_field_schema *column,
                      uint32_t number,
                      struct bytes row,
                      uint32_t count)
{
    struct byte_reader reader;
    struct field field;
    byte_reader_init(&reader, row);
    if (count > 0) {
        put_long(writer, count);
    }
    while (next_field(&reader, &field)) {
        if (field.number == number) {
            put_value(writer, column, &field);
        }
    }
    put_long(writer, 0); /* no further items */
}

/* ERR_OK, ERR_INVALID; taken counts the row's fields that belong to a column. */
static enum err put_column(struct byte_writer *writer,
                           const struct bigquery_table_field_schema *column,
                           uint32_t number,
                           struct bytes row,
                           uint32_t *taken)
{
    struct found found;
    const enum err err = find_values(column, number, row, &found);
    if (err != ERR_OK) {
        return err;
    }
    *taken += found.count;
    switch ((enum bigquery_field_mode)column->mode) {
    case BIGQUERY_FIELD_NULLABLE:
        put_long(writer, found.count == 0 ? BRANCH_NULL : BRANCH_VALUE);
        break;
    case BIGQUERY_FIELD_REQUIRED:
        if (found.count == 0) {
            return ERR_INVALID;
        }
        break;
    case BIGQUERY_FIELD_REPEATED:
        put_array(writer, column, number, row, found.count);
        return ERR_OK;
    case BIGQUERY_FIELD_MODE_END:
        UNREACHABLE();
    }
    if (found.count > 0) {
        put_value(writer, column, &found.last);
    }
    return ERR_OK;
}

enum err avro_write_row(const struct bigquery_table_schema *schema,
                        struct bytes row,
                        struct byte_writer *writer)
{
    struct byte_reader reader;
    struct field field;
    uint32_t fields = 0;
    uint32_t taken = 0;
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        fields++;
    }
    enum err err = reader.failed ? ERR_INVALID : ERR_OK;
    for (uint32_t i = 0; err == ERR_OK && i < schema->fields.count; i++) {
        err = put_column(writer, column_at(schema, i), i + 1, row, &taken);
    }
    return err == ERR_OK && taken != fields ? ERR_INVALID : err;
}

void avro_write_block(uint64_t row_count,
                      struct bytes data,
                      const uint8_t sync[AVRO_SYNC_SIZE],
                      struct byte_writer *writer)
{
    CHECK(row_count > 0);
    CHECK(data.size > 0);
    put_long(writer, (int64_t)row_count);
    put_sized(writer, data);
    byte_writer_bytes(writer, (struct bytes){sync, AVRO_SYNC_SIZE});
}
