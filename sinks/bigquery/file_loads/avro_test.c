/* What is written as Avro, as libavro reads it: a reader that has nothing to do with this one.
 * link: sinks/bigquery/file_loads/avro sinks/base/bytes sinks/base/err
 */
#include "sinks/bigquery/file_loads/avro.h"

#include "sinks/base/test.h"

#include <avro.h>

#include <stdio.h>
#include <string.h>

static const uint8_t sync_marker[AVRO_SYNC_SIZE] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

#define COLUMNS_MAX 9u

struct columns {
    struct bigquery_table_field_schema fields[COLUMNS_MAX];
    const void *items[COLUMNS_MAX];
    struct bigquery_table_schema schema;
};

static void add_column(struct columns *columns,
                       const char *name,
                       enum bigquery_field_type type,
                       enum bigquery_field_mode mode)
{
    const uint32_t index = columns->schema.fields.count;
    assert_true(index < COLUMNS_MAX);
    columns->fields[index] = (struct bigquery_table_field_schema){
        .name = bytes_of_text(name), .type = (uint32_t)type, .mode = (uint32_t)mode};
    columns->items[index] = &columns->fields[index];
    columns->schema.fields = (struct port_list){columns->items, index + 1};
}

/* One of each type. */
static void all_types(struct columns *columns)
{
    *columns = (struct columns){0};
    add_column(columns, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REQUIRED);
    add_column(columns, "payload", BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "number", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "yes", BIGQUERY_FIELD_BOOLEAN, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "at", BIGQUERY_FIELD_TIMESTAMP, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "day", BIGQUERY_FIELD_DATE, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "local", BIGQUERY_FIELD_DATETIME, BIGQUERY_FIELD_REQUIRED);
    add_column(columns, "doc", BIGQUERY_FIELD_JSON, BIGQUERY_FIELD_NULLABLE);
    add_column(columns, "tags", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REPEATED);
}

/* Rows in wire form, put together field by field. */
struct row {
    uint8_t bytes[256];
    struct byte_writer writer;
};

static void row_begin(struct row *row)
{
    byte_writer_init(&row->writer, row->bytes, sizeof(row->bytes));
}

static void put_integer(struct row *row, uint32_t number, int64_t value)
{
    byte_writer_varint(&row->writer, number << 3);
    byte_writer_varint(&row->writer, (uint64_t)value);
}

static void put_text(struct row *row, uint32_t number, const char *text)
{
    byte_writer_varint(&row->writer, number << 3 | 2);
    byte_writer_varint(&row->writer, strlen(text));
    byte_writer_text(&row->writer, text);
}

struct file {
    uint8_t bytes[4096];
    struct byte_writer writer;
};

static void file_begin(struct file *file, const struct columns *columns)
{
    byte_writer_init(&file->writer, file->bytes, sizeof(file->bytes));
    avro_write_header(&columns->schema, sync_marker, &file->writer);
}

/* A block of rows. */
static void
file_add(struct file *file, const struct columns *columns, const struct row *rows, uint32_t count)
{
    uint8_t data[1024];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    for (uint32_t i = 0; i < count; i++) {
        const struct bytes row = byte_writer_view(&rows[i].writer);
        assert_int_equal(avro_write_row(&columns->schema, row, &writer), ERR_OK);
    }
    assert_false(writer.overflowed);
    avro_write_block(count, byte_writer_view(&writer), sync_marker, &file->writer);
    assert_false(file->writer.overflowed);
}

/* --- libavro ------------------------------------------------------------------------------------- */

struct reading {
    FILE *stream;
    avro_file_reader_t reader;
    avro_value_iface_t *type;
    avro_value_t row;
};

static void reading_begin(struct reading *reading, const struct file *file)
{
    const struct bytes bytes = byte_writer_view(&file->writer);
    reading->stream = tmpfile();
    assert_non_null(reading->stream);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, reading->stream), bytes.size);
    rewind(reading->stream);
    assert_int_equal(avro_file_reader_fp(reading->stream, "file", 0, &reading->reader), 0);
    avro_schema_t schema = avro_file_reader_get_writer_schema(reading->reader);
    reading->type = avro_generic_class_from_schema(schema);
    assert_int_equal(avro_generic_value_new(reading->type, &reading->row), 0);
    avro_schema_decref(schema);
}

static bool reading_next(struct reading *reading)
{
    assert_int_equal(avro_value_reset(&reading->row), 0);
    return avro_file_reader_read_value(reading->reader, &reading->row) == 0;
}

static void reading_end(struct reading *reading)
{
    avro_value_decref(&reading->row);
    avro_value_iface_decref(reading->type);
    assert_int_equal(avro_file_reader_close(reading->reader), 0);
    assert_int_equal(fclose(reading->stream), 0);
}

/* The value of a column; false: null. */
static bool value_of(struct reading *reading, const char *name, avro_value_t *value)
{
    avro_value_t branch = {0};
    int index = 0;
    assert_int_equal(avro_value_get_by_name(&reading->row, name, value, NULL), 0);
    if (avro_value_get_type(value) != AVRO_UNION) {
        return true;
    }
    assert_int_equal(avro_value_get_discriminant(value, &index), 0);
    assert_int_equal(avro_value_get_current_branch(value, &branch), 0);
    *value = branch;
    return index == 1;
}

static void assert_long(struct reading *reading, const char *name, int64_t wanted)
{
    avro_value_t value;
    int64_t found = 0;
    assert_true(value_of(reading, name, &value));
    assert_int_equal(avro_value_get_long(&value, &found), 0);
    assert_true(found == wanted);
}

static void assert_text(const avro_value_t *value, const char *wanted)
{
    const char *found = NULL;
    size_t size = 0;
    assert_int_equal(avro_value_get_string(value, &found, &size), 0);
    assert_string_equal(found, wanted);
    assert_int_equal(size, strlen(wanted) + 1);
}

static void assert_null_column(struct reading *reading, const char *name)
{
    avro_value_t value;
    assert_false(value_of(reading, name, &value));
}

/* --- what is read back --------------------------------------------------------------------------- */

static void full_row(struct row *row)
{
    row_begin(row);
    put_text(row, 9, "x");
    put_text(row, 1, "key");
    put_text(row, 2, "\x01\xff");
    put_integer(row, 3, INT64_MIN);
    put_integer(row, 4, 1);
    put_integer(row, 5, 1700000000000000);
    put_integer(row, 6, -1);
    put_integer(row, 7, INT64_MAX);
    put_text(row, 8, "{\"a\":1}");
    put_text(row, 9, "");
    put_text(row, 9, "yz");
}

/* Goal: another reader finds each value in its column, whatever the order in the row. Method: one value of
 * each type, at the ends of their ranges. */
static void each_type_is_read_back(void **state)
{
    (void)state;
    struct columns columns;
    struct file file;
    struct row row;
    struct reading reading;
    avro_value_t value;
    all_types(&columns);
    full_row(&row);
    file_begin(&file, &columns);
    file_add(&file, &columns, &row, 1);
    reading_begin(&reading, &file);
    assert_true(reading_next(&reading));
    assert_true(value_of(&reading, "id", &value));
    assert_text(&value, "key");
    const void *payload = NULL;
    size_t size = 0;
    assert_true(value_of(&reading, "payload", &value));
    assert_int_equal(avro_value_get_bytes(&value, &payload, &size), 0);
    assert_int_equal(size, 2);
    assert_memory_equal(payload, "\x01\xff", 2);
    assert_long(&reading, "number", INT64_MIN);
    int yes = 0;
    assert_true(value_of(&reading, "yes", &value));
    assert_int_equal(avro_value_get_boolean(&value, &yes), 0);
    assert_int_equal(yes, 1);
    assert_long(&reading, "at", 1700000000000000);
    int32_t day = 0;
    assert_true(value_of(&reading, "day", &value));
    assert_int_equal(avro_value_get_int(&value, &day), 0);
    assert_int_equal(day, -1);
    assert_long(&reading, "local", INT64_MAX);
    assert_true(value_of(&reading, "doc", &value));
    assert_text(&value, "{\"a\":1}");
    assert_true(value_of(&reading, "tags", &value));
    static const char *const tags[] = {"x", "", "yz"};
    size_t count = 0;
    assert_int_equal(avro_value_get_size(&value, &count), 0);
    assert_int_equal(count, ARRAY_COUNT(tags));
    for (size_t i = 0; i < count; i++) {
        avro_value_t tag;
        assert_int_equal(avro_value_get_by_index(&value, i, &tag, NULL), 0);
        assert_text(&tag, tags[i]);
    }
    assert_false(reading_next(&reading));
    reading_end(&reading);
}

/* Goal: what a row leaves out is null or empty; of several values the last one counts. */
static void what_is_left_out_is_null(void **state)
{
    (void)state;
    struct columns columns;
    struct file file;
    struct row row;
    struct reading reading;
    avro_value_t value;
    all_types(&columns);
    row_begin(&row);
    put_text(&row, 1, "first");
    put_integer(&row, 7, 0);
    put_text(&row, 1, "last");
    file_begin(&file, &columns);
    file_add(&file, &columns, &row, 1);
    reading_begin(&reading, &file);
    assert_true(reading_next(&reading));
    assert_true(value_of(&reading, "id", &value));
    assert_text(&value, "last");
    static const char *const others[] = {"payload", "number", "yes", "at", "day", "doc"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        assert_null_column(&reading, others[i]);
    }
    size_t count = 1;
    assert_true(value_of(&reading, "tags", &value));
    assert_int_equal(avro_value_get_size(&value, &count), 0);
    assert_int_equal(count, 0);
    reading_end(&reading);
}

/* Goal: a file has any number of blocks, each of any number of rows. */
static void blocks_follow_each_other(void **state)
{
    (void)state;
    struct columns columns = {0};
    struct file file;
    struct row rows[5];
    struct reading reading;
    add_column(&columns, "n", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_REQUIRED);
    for (int64_t i = 0; i < 5; i++) {
        row_begin(&rows[i]);
        put_integer(&rows[i], 1, i * 1000);
    }
    file_begin(&file, &columns);
    file_add(&file, &columns, &rows[0], 1);
    file_add(&file, &columns, &rows[1], 4);
    reading_begin(&reading, &file);
    for (int64_t i = 0; i < 5; i++) {
        assert_true(reading_next(&reading));
        assert_long(&reading, "n", i * 1000);
    }
    assert_false(reading_next(&reading));
    reading_end(&reading);
    file_begin(&file, &columns);
    reading_begin(&reading, &file);
    assert_false(reading_next(&reading));
    reading_end(&reading);
}

/* --- the schema ---------------------------------------------------------------------------------- */

/* Goal: types that loads tell apart by their names have them: a DATETIME is no text (M34). */
static void the_schema_names_logical_types(void **state)
{
    (void)state;
    struct columns columns;
    struct file file;
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"Row\",\"fields\":["
        "{\"name\":\"id\",\"type\":\"string\"},"
        "{\"name\":\"payload\",\"type\":[\"null\",\"bytes\"]},"
        "{\"name\":\"number\",\"type\":[\"null\",\"long\"]},"
        "{\"name\":\"yes\",\"type\":[\"null\",\"boolean\"]},"
        "{\"name\":\"at\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":"
        "\"timestamp-micros\"}]},"
        "{\"name\":\"day\",\"type\":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}]},"
        "{\"name\":\"local\",\"type\":{\"type\":\"long\",\"logicalType\":"
        "\"local-timestamp-micros\"}},"
        "{\"name\":\"doc\",\"type\":[\"null\",{\"type\":\"string\",\"sqlType\":\"JSON\"}]},"
        "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}}]}";
    /* "Obj" 1, two entries: codec and schema. */
    static const char before[] = "Obj\x01\x04\x14"
                                 "avro.codec\x08"
                                 "null\x16"
                                 "avro.schema";
    all_types(&columns);
    file_begin(&file, &columns);
    const struct bytes bytes = byte_writer_view(&file.writer);
    const size_t size = sizeof(schema) - 1;
    assert_memory_equal(bytes.data, before, sizeof(before) - 1);
    assert_int_equal(bytes.size, sizeof(before) - 1 + 2 + size + 1 + AVRO_SYNC_SIZE);
    assert_int_equal(bytes.data[sizeof(before) - 1], 0x80 | (size * 2 & 0x7f));
    assert_int_equal(bytes.data[sizeof(before)], size * 2 >> 7);
    assert_memory_equal(bytes.data + sizeof(before) + 1, schema, size);
    assert_memory_equal(bytes.data + bytes.size - AVRO_SYNC_SIZE, sync_marker, AVRO_SYNC_SIZE);
}

/* Goal: a schema that Avro has no name for, or that is none, is refused before a byte is written. */
static void a_schema_has_names_types_and_modes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t type;
        uint32_t mode;
    } wrong[] = {
        {"", BIGQUERY_FIELD_STRING, 0},
        {"1a", BIGQUERY_FIELD_STRING, 0},
        {"a b", BIGQUERY_FIELD_STRING, 0},
        {"a\"", BIGQUERY_FIELD_STRING, 0},
        {"id", BIGQUERY_FIELD_STRING, 0}, /* again */
        {"a", BIGQUERY_FIELD_TYPE_NONE, 0},
        {"a", BIGQUERY_FIELD_TYPE_END, 0},
        {"a", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_MODE_END},
    };
    struct columns columns = {0};
    assert_false(avro_schema_is_valid(&columns.schema));
    add_column(&columns, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
    add_column(&columns, "_A9z", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
    assert_true(avro_schema_is_valid(&columns.schema));
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        columns.fields[1] = (struct bigquery_table_field_schema){
            bytes_of_text(wrong[i].name), wrong[i].type, wrong[i].mode};
        assert_false(avro_schema_is_valid(&columns.schema));
    }
}

/* --- rows that are none -------------------------------------------------------------------------- */

static enum err write_row(const struct columns *columns, struct bytes row)
{
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    return avro_write_row(&columns->schema, row, &writer);
}

/* Goal: a row that does not fit its columns is told so, and one that does is measured. Method: each way
 * in which it may not, from a row that does. */
static void a_row_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct columns columns;
    struct row row;
    all_types(&columns);
    static const struct {
        uint32_t number;
        int64_t integer;
        const char *text_or_null;
        bool fits;
    } more[] = {
        {2, 0, "b", true},
        {1, 0, "\xff", false}, /* no UTF-8 */
        {8, 0, "\xff", false},
        {2, 0, "\xff", true},
        {1, 1, NULL, false}, /* no text */
        {3, 0, "b", false},  /* no number */
        {4, 1, NULL, true},
        {4, 2, NULL, false},
        {6, INT32_MAX, NULL, true},
        {6, INT64_C(1) + INT32_MAX, NULL, false},
        {6, INT64_C(-1) + INT32_MIN, NULL, false},
        {9, 7, NULL, false},
        {10, 7, NULL, false}, /* no column */
        {0, 7, NULL, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(more); i++) {
        row_begin(&row);
        put_text(&row, 1, "id");
        put_integer(&row, 7, 5);
        if (more[i].text_or_null != NULL) {
            put_text(&row, more[i].number, more[i].text_or_null);
        } else {
            put_integer(&row, more[i].number, more[i].integer);
        }
        assert_int_equal(write_row(&columns, byte_writer_view(&row.writer)),
                         more[i].fits ? ERR_OK : ERR_INVALID);
    }
    row_begin(&row);
    put_integer(&row, 7, 5);
    assert_int_equal(write_row(&columns, byte_writer_view(&row.writer)), ERR_INVALID);
}

/* Goal: bytes that are no row are refused. Method: every prefix of a row that ends within a field, a
 * fixed-size value, a length beyond the end. */
static void bytes_that_are_no_row_are_refused(void **state)
{
    (void)state;
    struct columns columns = {0};
    struct row row;
    add_column(&columns, "a", BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE);
    add_column(&columns, "b", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_NULLABLE);
    row_begin(&row);
    put_text(&row, 1, "ab");
    put_integer(&row, 2, 300);
    const struct bytes whole = byte_writer_view(&row.writer);
    for (size_t size = 0; size <= whole.size; size++) {
        const bool is_row = size == 0 || size == 4 || size == whole.size;
        assert_int_equal(write_row(&columns, (struct bytes){whole.data, size}),
                         is_row ? ERR_OK : ERR_INVALID);
    }
    static const struct bytes wrong[] = {
        {(const uint8_t *)"\x09\0\0\0\0\0\0\0\0", 9},
        {(const uint8_t *)"\x0d\0\0\0\0", 5},
        {(const uint8_t *)"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
        {(const uint8_t *)"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_int_equal(write_row(&columns, wrong[i]), ERR_INVALID);
    }
}

TEST_MAIN(bigquery_avro,
          TEST(each_type_is_read_back),
          TEST(what_is_left_out_is_null),
          TEST(blocks_follow_each_other),
          TEST(the_schema_names_logical_types),
          TEST(a_schema_has_names_types_and_modes),
          TEST(a_row_that_does_not_fit_is_refused),
          TEST(bytes_that_are_no_row_are_refused))
