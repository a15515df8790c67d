/* The columns of a table, and rows in protobuf's wire form (BQW-17, BQW-24).
 *
 * All tables have these columns, and a row may leave any of them out: what a row holds is the user's, and
 * the model needs to know no more than which bytes are none. */
#include "models/bigquery/state.h"

struct column {
    const char *name;
    uint32_t number; /* of the field that carries it */
    enum bigquery_proto_type type;
};

static const struct column columns[] = {
    {"id", 1, BIGQUERY_TYPE_STRING},
    {"payload", 2, BIGQUERY_TYPE_BYTES},
    {"position", 3, BIGQUERY_TYPE_INT64},
};

/* Wire types of protobuf. */
enum wire_type {
    WIRE_TYPE_VARINT = 0,
    WIRE_TYPE_SIZED = 2,
};

static const struct column *column_of(uint64_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        if (columns[i].number == number) {
            return &columns[i];
        }
    }
    return NULL;
}

bool bigquery_schema_fits(const struct bigquery_descriptor *descriptor)
{
    for (uint32_t i = 0; i < descriptor->field.count; i++) {
        const struct bigquery_field_descriptor *field = descriptor->field.items[i];
        const struct column *column = column_of(field->number);
        if (column == NULL || column->type != field->type ||
            !bytes_equal(field->name, bytes_of_text(column->name))) {
            return false;
        }
    }
    return true;
}

/* The value of a column is next. */
static bool value_is_valid(const struct column *column, uint64_t wire, struct byte_reader *reader)
{
    if (column->type == BIGQUERY_TYPE_INT64) {
        (void)byte_reader_varint(reader);
        return wire == WIRE_TYPE_VARINT;
    }
    if (wire != WIRE_TYPE_SIZED) {
        return false;
    }
    const uint64_t size = byte_reader_varint(reader);
    if (size > byte_reader_left(reader)) {
        return false;
    }
    const struct bytes value = byte_reader_bytes(reader, (size_t)size);
    return column->type != BIGQUERY_TYPE_STRING || bytes_is_utf8(value);
}

bool bigquery_row_is_valid(struct bytes row)
{
    struct byte_reader reader;
    byte_reader_init(&reader, row);
    while (byte_reader_left(&reader) > 0) {
        const uint64_t tag = byte_reader_varint(&reader);
        const struct column *column = column_of(tag >> 3);
        if (column == NULL || !value_is_valid(column, tag & 7, &reader)) {
            return false;
        }
    }
    return !reader.failed;
}
