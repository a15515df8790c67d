/* Rows in protobuf's wire form, as the writer's schema of their connection says (BQW-10, BQW-17, BQW-24).
 *
 * A row is kept by its table's columns: the number of a field is the place of its column, and fields stand
 * in the order of their numbers. So a value that went into another column, or into none, makes another
 * row, and a writer whose fields are numbered as the columns stand finds its rows as it wrote them. A field
 * that the writer's schema does not have is skipped, as parsers of protobuf do. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

/* Wire types of protobuf. */
enum wire_type {
    WIRE_TYPE_VARINT = 0,
    WIRE_TYPE_FIXED64 = 1,
    WIRE_TYPE_SIZED = 2,
    WIRE_TYPE_FIXED32 = 5,
};

struct wire_field {
    uint64_t number;
    uint64_t wire;
    uint64_t integer;   /* of WIRE_TYPE_VARINT */
    struct bytes value; /* of the others */
};

/* --- the writer's schema ----------------------------------------------------------------------- */

/* What a column is written as. Times and truths are numbers. */
static enum bigquery_proto_type proto_type(const struct column *column)
{
    switch ((enum bigquery_field_type)column->type) {
    case BIGQUERY_FIELD_STRING:
    case BIGQUERY_FIELD_JSON:
        return BIGQUERY_TYPE_STRING;
    case BIGQUERY_FIELD_BYTES:
        return BIGQUERY_TYPE_BYTES;
    case BIGQUERY_FIELD_INTEGER:
    case BIGQUERY_FIELD_BOOLEAN:
    case BIGQUERY_FIELD_TIMESTAMP:
    case BIGQUERY_FIELD_DATE:
    case BIGQUERY_FIELD_DATETIME:
        return BIGQUERY_TYPE_INT64;
    case BIGQUERY_FIELD_TYPE_NONE:
    case BIGQUERY_FIELD_TYPE_END:
        break;
    }
    UNREACHABLE();
}

/* The schema of a connection may be replaced on the way. */
void bigquery_take_schema(struct bigquery *state,
                          struct connection *connection,
                          const struct bigquery_descriptor *descriptor)
{
    const struct table *table = connection->stream->table;
    const uint32_t count = descriptor->field.count;
    connection->fields = bigquery_take(state, count * sizeof(connection->fields[0]));
    connection->field_count = count;
    connection->has_schema = true;
    connection->has_changes = false;
    const bool may_change = connection->stream->is_default && table->has_key;
    for (uint32_t i = 0; i < count; i++) {
        const struct bigquery_field_descriptor *field = descriptor->field.items[i];
        const uint32_t change =
            may_change ? bigquery_change_column(field->name) : BIGQUERY_COLUMN_NONE;
        uint32_t column = 0;
        while (column < table->column_count &&
               !bytes_equal(table->columns[column].name, field->name)) {
            column++;
        }
        const bool is_there = column < table->column_count;
        connection->fields[i] = (struct writer_field){
            .number = field->number,
            .column = is_there ? column : change,
            .fits = is_there ? proto_type(&table->columns[column]) == field->type
                             : field->type == BIGQUERY_TYPE_STRING,
        };
        connection->has_changes =
            connection->has_changes || connection->fields[i].column == BIGQUERY_COLUMN_CHANGE_TYPE;
        state->digest = digest_fold(state->digest, digest_bytes(field->name));
        state->digest = digest_fold(state->digest, (uint64_t)field->number << 8 | field->type);
    }
}

/* NULL: the writer's schema has no such field. */
static const struct writer_field *field_of(const struct connection *connection, uint64_t number)
{
    for (uint32_t i = 0; i < connection->field_count; i++) {
        if (connection->fields[i].number == number) {
            return &connection->fields[i];
        }
    }
    return NULL;
}

/* --- rows -------------------------------------------------------------------------------------- */

/* False at the end of a row, and where it is none: the reader has failed then. */
static bool next_field(struct byte_reader *reader, struct wire_field *field)
{
    if (byte_reader_left(reader) == 0) {
        return false;
    }
    const uint64_t tag = byte_reader_varint(reader);
    *field = (struct wire_field){.number = tag >> 3, .wire = tag & 7};
    uint64_t size = 0;
    switch (field->wire) {
    case WIRE_TYPE_VARINT:
        field->integer = byte_reader_varint(reader);
        return !reader->failed;
    case WIRE_TYPE_FIXED64:
        size = 8;
        break;
    case WIRE_TYPE_FIXED32:
        size = 4;
        break;
    case WIRE_TYPE_SIZED:
        size = byte_reader_varint(reader);
        break;
    default: /* a number from outside */
        reader->failed = true;
        return false;
    }
    if (size > byte_reader_left(reader)) {
        reader->failed = true;
        return false;
    }
    field->value = byte_reader_bytes(reader, (size_t)size);
    return !reader->failed;
}

static bool value_is_valid(const struct column *column, const struct wire_field *field)
{
    const enum bigquery_proto_type type = proto_type(column);
    if (type == BIGQUERY_TYPE_INT64) {
        return field->wire == WIRE_TYPE_VARINT;
    }
    return field->wire == WIRE_TYPE_SIZED &&
           (type != BIGQUERY_TYPE_STRING || bytes_is_utf8(field->value));
}

/* The value of a field that the table has no column for. */
static bool pseudo_is_valid(uint32_t column, const struct wire_field *field)
{
    return field->wire == WIRE_TYPE_SIZED && bigquery_change_is_valid(column, field->value);
}

bool bigquery_row_is_valid(const struct connection *connection, struct bytes row)
{
    const struct table *table = connection->stream->table;
    struct byte_reader reader;
    struct wire_field field;
    uint32_t found = 0; /* bit per column */
    bool has_type = false;
    _Static_assert(BIGQUERY_COLUMN_MAX <= 32, "columns have bits");
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        const struct writer_field *written = field_of(connection, field.number);
        if (written != NULL && written->column > BIGQUERY_COLUMN_NONE) {
            has_type = has_type || written->column == BIGQUERY_COLUMN_CHANGE_TYPE;
            if (!pseudo_is_valid(written->column, &field)) {
                return false;
            }
            continue;
        }
        if (written != NULL && !value_is_valid(&table->columns[written->column], &field)) {
            return false;
        }
        found |= written == NULL ? 0 : UINT32_C(1) << written->column;
    }
    if (connection->has_changes && !has_type) {
        return false;
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].required_until > connection->opened_at && (found >> i & 1) == 0) {
            return false;
        }
    }
    return !reader.failed;
}

/* Whether a row stands as it is kept. */
static bool is_kept_so(const struct connection *connection, struct bytes row)
{
    const struct table *table = connection->stream->table;
    struct byte_reader reader;
    struct wire_field field;
    uint64_t last = 0;
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        const struct writer_field *written = field_of(connection, field.number);
        if (written == NULL || written->column + 1 != field.number || field.number < last ||
            (field.number == last &&
             table->columns[written->column].mode != BIGQUERY_FIELD_REPEATED)) {
            return false;
        }
        last = field.number;
    }
    return true;
}

static void put_field(struct byte_writer *writer, uint32_t column, const struct wire_field *field)
{
    byte_writer_varint(writer, (uint64_t)(column + 1) << 3 | field->wire);
    if (field->wire == WIRE_TYPE_VARINT) {
        byte_writer_varint(writer, field->integer);
    } else {
        byte_writer_varint(writer, field->value.size);
        byte_writer_bytes(writer, field->value);
    }
}

/* The values of one column: all of them, or the last one. */
static void put_column(const struct connection *connection,
                       uint32_t column,
                       struct bytes row,
                       struct byte_writer *writer)
{
    const bool is_repeated =
        connection->stream->table->columns[column].mode == BIGQUERY_FIELD_REPEATED;
    struct byte_reader reader;
    struct wire_field field;
    struct wire_field last = {0};
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        const struct writer_field *written = field_of(connection, field.number);
        if (written == NULL || written->column != column) {
            continue;
        }
        if (is_repeated) {
            put_field(writer, column, &field);
        }
        last = field;
    }
    if (last.number != 0 && !is_repeated) {
        put_field(writer, column, &last);
    }
}

struct bytes
bigquery_row_value(const struct connection *connection, struct bytes row, uint32_t column)
{
    struct byte_reader reader;
    struct wire_field field;
    struct bytes value = {0};
    byte_reader_init(&reader, row);
    while (next_field(&reader, &field)) {
        const struct writer_field *written = field_of(connection, field.number);
        if (written != NULL && written->column == column) {
            value = field.value;
        }
    }
    return value;
}

struct model_content
bigquery_row_content(struct bigquery *state, const struct connection *connection, struct bytes row)
{
    if (is_kept_so(connection, row)) {
        return model_content_of(&state->env, row);
    }
    /* A tag takes two bytes for every column, and one at least in the row. */
    const size_t room = 2 * row.size;
    if (state->scratch_size < room) {
        state->scratch = bigquery_take(state, room);
        state->scratch_size = room;
    }
    struct byte_writer writer;
    byte_writer_init(&writer, state->scratch, state->scratch_size);
    for (uint32_t i = 0; i < connection->stream->table->column_count; i++) {
        put_column(connection, i, row, &writer);
    }
    CHECK(!writer.overflowed);
    COVER(state->env.world, BIGQUERY_ROW_REWRITTEN);
    return model_content_of(&state->env, byte_writer_view(&writer));
}
