/* The reader of Avro: files that libavro wrote, and bytes that are none.
 * link: models/bigquery/avro sinks/base/bytes sinks/base/err
 */
#include "models/bigquery/avro.h"

#include "sinks/base/test.h"

#include <avro.h>

#include <stdio.h>
#include <string.h>

#define FILE_MAX 4096u

struct file {
    uint8_t bytes[FILE_MAX];
    size_t size;
};

static struct bytes view(const struct file *file)
{
    return (struct bytes){file->bytes, file->size};
}

/* --- libavro ------------------------------------------------------------------------------------- */

static const char schema_text[] =
    "{\"type\": \"record\", \"name\": \"Thing\", \"namespace\": \"a.b\", \"doc\": \"x\\\"y{[\","
    " \"fields\": [\n"
    " {\"name\": \"id\", \"type\": \"string\", \"order\": \"ignore\"},\n"
    " {\"name\": \"payload\", \"type\": [\"null\", \"bytes\"], \"default\": null},\n"
    " {\"type\": [{\"logicalType\": \"timestamp-micros\", \"type\": \"long\"}, \"null\"], "
    "\"name\": \"at\"},\n"
    " {\"name\": \"yes\", \"type\": \"boolean\"},\n"
    " {\"name\": \"day\", \"type\": {\"type\": \"int\", \"logicalType\": \"date\"}},\n"
    " {\"name\": \"tags\", \"type\": {\"items\": \"string\", \"type\": \"array\"}}]}";

static void set_row(avro_value_t *row, uint32_t number)
{
    avro_value_t field;
    avro_value_t branch;
    char id[8];
    (void)snprintf(id, sizeof id, "id%u", number);
    assert_int_equal(avro_value_reset(row), 0);
    assert_int_equal(avro_value_get_by_name(row, "id", &field, NULL), 0);
    assert_int_equal(avro_value_set_string(&field, id), 0);
    assert_int_equal(avro_value_get_by_name(row, "payload", &field, NULL), 0);
    assert_int_equal(avro_value_set_branch(&field, number % 2 == 0 ? 0 : 1, &branch), 0);
    if (number % 2 != 0) {
        assert_int_equal(avro_value_set_bytes(&branch, id, 2), 0);
    }
    assert_int_equal(avro_value_get_by_name(row, "at", &field, NULL), 0);
    assert_int_equal(avro_value_set_branch(&field, number % 2 == 0 ? 0 : 1, &branch), 0);
    if (number % 2 == 0) {
        assert_int_equal(avro_value_set_long(&branch, -(INT64_C(1) << 62) + number), 0);
    }
    assert_int_equal(avro_value_get_by_name(row, "yes", &field, NULL), 0);
    assert_int_equal(avro_value_set_boolean(&field, number % 2 != 0), 0);
    assert_int_equal(avro_value_get_by_name(row, "day", &field, NULL), 0);
    assert_int_equal(avro_value_set_int(&field, (int32_t)number - 2), 0);
    assert_int_equal(avro_value_get_by_name(row, "tags", &field, NULL), 0);
    for (uint32_t i = 0; i < number; i++) {
        assert_int_equal(avro_value_append(&field, &branch, NULL), 0);
        assert_int_equal(avro_value_set_string(&branch, id), 0);
    }
}

static void write_rows(struct file *file, uint32_t count)
{
    FILE *stream = tmpfile();
    avro_file_writer_t writer = NULL;
    avro_schema_t schema = NULL;
    avro_value_t row = {0};
    assert_non_null(stream);
    assert_int_equal(avro_schema_from_json_length(schema_text, sizeof schema_text - 1, &schema), 0);
    assert_int_equal(
        avro_file_writer_create_with_codec_fp(stream, "file", 0, schema, &writer, "null", 1024), 0);
    avro_value_iface_t *type = avro_generic_class_from_schema(schema);
    assert_int_equal(avro_generic_value_new(type, &row), 0);
    for (uint32_t i = 0; i < count; i++) {
        set_row(&row, i);
        assert_int_equal(avro_file_writer_append_value(writer, &row), 0);
        if (i == 1) {
            assert_int_equal(avro_file_writer_sync(writer), 0);
        }
    }
    assert_int_equal(avro_file_writer_flush(writer), 0);
    assert_int_equal(avro_file_writer_close(writer), 0);
    avro_value_decref(&row);
    avro_value_iface_decref(type);
    avro_schema_decref(schema);
    rewind(stream);
    file->size = fread(file->bytes, 1, FILE_MAX, stream);
    assert_true(file->size < FILE_MAX);
    assert_int_equal(fclose(stream), 0);
}

static void check_row(const struct avro_file *file, const struct avro_cell *values, uint32_t number)
{
    char id[8];
    (void)snprintf(id, sizeof id, "id%u", number);
    const bool is_odd = number % 2 != 0;
    assert_bytes_equal(values[0].bytes, bytes_of_text(id));
    assert_int_equal(values[1].is_null, !is_odd);
    assert_true(!is_odd || values[1].bytes.size == 2);
    assert_int_equal(values[2].is_null, is_odd);
    assert_true(is_odd || values[2].number == -(INT64_C(1) << 62) + number);
    assert_int_equal(values[3].number, is_odd);
    assert_true(values[4].number == (int64_t)number - 2);
    struct avro_items items = {0};
    struct avro_cell item;
    uint32_t count = 0;
    while (avro_item(&file->columns[5], &values[5], &items, &item)) {
        assert_bytes_equal(item.bytes, bytes_of_text(id));
        count++;
    }
    assert_int_equal(count, number);
}

/* Goal: what libavro wrote is read: columns with their types and modes, rows of several blocks with their
 * values. Method: a schema with words that nobody asks for, unions of either order. */
static void files_of_libavro_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint8_t type;
        uint8_t plain;
        uint8_t mode;
    } columns[] = {
        {"id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REQUIRED},
        {"payload", BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE},
        {"at", BIGQUERY_FIELD_TIMESTAMP, BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_NULLABLE},
        {"yes", BIGQUERY_FIELD_BOOLEAN, BIGQUERY_FIELD_BOOLEAN, BIGQUERY_FIELD_REQUIRED},
        {"day", BIGQUERY_FIELD_DATE, BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_REQUIRED},
        {"tags", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REPEATED},
    };
    struct file file;
    struct avro_file read;
    struct avro_cell values[AVRO_COLUMN_MAX];
    bool found = false;
    write_rows(&file, 5);
    assert_int_equal(avro_open(&read, view(&file)), ERR_OK);
    assert_int_equal(read.column_count, ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < read.column_count; i++) {
        assert_bytes_equal(read.columns[i].name, bytes_of_text(columns[i].name));
        /* libavro keeps no words that it does not know itself, such as those of logical types. */
        assert_true(read.columns[i].type == columns[i].type ||
                    read.columns[i].type == columns[i].plain);
        assert_int_equal(read.columns[i].plain_type, columns[i].plain);
        assert_int_equal(read.columns[i].mode, columns[i].mode);
    }
    for (uint32_t number = 0; number < 5; number++) {
        assert_int_equal(avro_next(&read, values, &found), ERR_OK);
        assert_true(found);
        check_row(&read, values, number);
    }
    assert_int_equal(avro_next(&read, values, &found), ERR_OK);
    assert_false(found);
    write_rows(&file, 0);
    assert_int_equal(avro_open(&read, view(&file)), ERR_OK);
    assert_int_equal(avro_next(&read, values, &found), ERR_OK);
    assert_false(found);
}

/* --- bytes that are no file ------------------------------------------------------------------------ */

/* Read to the end; the rows that were read. */
static enum err read_all(struct bytes bytes, uint32_t *rows)
{
    struct avro_file file;
    struct avro_cell values[AVRO_COLUMN_MAX];
    bool found = true;
    *rows = 0;
    enum err err = avro_open(&file, bytes);
    while (err == ERR_OK && found) {
        err = avro_next(&file, values, &found);
        *rows += err == ERR_OK && found ? 1u : 0u;
    }
    return err;
}

/* Goal: a file that was cut is no file, unless it was cut between blocks. Method: every prefix, in a block of
 * memory of its size. */
static void a_file_that_was_cut_is_told(void **state)
{
    (void)state;
    struct file file;
    uint32_t rows = 0;
    uint32_t whole = 0;
    write_rows(&file, 5);
    for (size_t size = 0; size <= file.size; size++) {
        uint8_t *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, file.bytes, size);
        const enum err err = read_all((struct bytes){copy, size}, &rows);
        free(copy);
        assert_true(err == ERR_OK || err == ERR_TRUNCATED);
        assert_true(err != ERR_OK || rows == 0 || rows == 2 || rows == 5);
        whole += err == ERR_OK ? 1u : 0u;
    }
    assert_int_equal(whole, 3); /* behind the header, and behind each block */
}

/* Goal: bytes that were changed are read or refused, and never read past. Method: every byte, to some
 * others; the marker of a block must be that of the header. */
static void a_file_that_was_changed_is_read_or_refused(void **state)
{
    (void)state;
    static const uint8_t others[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '{', '"'};
    struct file file;
    uint32_t rows = 0;
    write_rows(&file, 3);
    for (size_t at = 0; at < file.size; at++) {
        const uint8_t before = file.bytes[at];
        for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
            file.bytes[at] = others[i];
            const enum err err = read_all(view(&file), &rows);
            assert_true(err == ERR_OK || err == ERR_TRUNCATED || err == ERR_INVALID);
            const bool is_marker = at + AVRO_MARKER_SIZE >= file.size;
            assert_true(!is_marker || others[i] == before || err == ERR_INVALID);
        }
        file.bytes[at] = before;
    }
}

static enum err open_schema(const char *schema)
{
    uint8_t data[FILE_MAX];
    struct byte_writer writer;
    struct avro_file file;
    byte_writer_init(&writer, data, sizeof data);
    byte_writer_text(&writer,
                     "Obj\x01\x02\x16"
                     "avro.schema");
    byte_writer_varint(&writer, strlen(schema) * 2);
    byte_writer_text(&writer, schema);
    byte_writer_u8(&writer, 0);
    byte_writer_text(&writer, "0123456789abcdef");
    assert_false(writer.overflowed);
    return avro_open(&file, byte_writer_view(&writer));
}

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define FIELD(type)    "{\"name\":\"a\",\"type\":" type "}"
#define DEEP           "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"

/* Goal: a schema that is none, or that a load does not read, is refused. Method: one of each sort, beside one
 * that is. */
static void schemas_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "{",
        "\"string\"",
        "{}",
        "{\"type\":\"record\"}",
        RECORD(""),
        RECORD(FIELD("\"long\"")) "x",
        "{\"type\":\"enum\",\"fields\":[" FIELD("\"long\"") "]}",
        RECORD("{\"type\":\"long\"}"),
        RECORD("{\"name\":\"a\"}"),
        RECORD("{\"name\":\"\",\"type\":\"long\"}"),
        RECORD(FIELD("\"long\"") "," FIELD("\"long\"")),
        RECORD(FIELD("\"double\"")),
        RECORD(FIELD("[\"null\"]")),
        RECORD(FIELD("[\"null\",\"null\"]")),
        RECORD(FIELD("[\"long\",\"string\"]")),
        RECORD(FIELD("[\"null\",\"long\",\"string\"]")),
        RECORD(FIELD("{\"type\":\"array\"}")),
        RECORD(FIELD("{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"long\"}}")),
        RECORD(FIELD("{\"type\":\"map\",\"values\":\"long\"}")),
        RECORD(FIELD("7")),
        RECORD("{\"name\":\"a\",\"type\":\"long\",\"x\":" DEEP "}"),
        RECORD("{\"name\":\"a\",\"type\":\"long\",\"x\":]}"),
        "{\"type\":\"record\",\"fields\":[",
        "{\"a\\",
    };
    assert_int_equal(open_schema(RECORD(FIELD("\"long\""))), ERR_OK);
    assert_int_equal(
        open_schema(RECORD("{\"x\":{\"y\":[1,\"]\",null]},\"name\":\"a\",\"type\":\"long\"}")),
        ERR_OK);
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        if (open_schema(wrong[i]) != ERR_INVALID) {
            fail_msg("%s is taken for a schema", wrong[i]);
        }
    }
}

/* Goal: what stands before the rows must be as it is. Method: another magic, another codec, no schema. */
static void a_header_is_looked_at(void **state)
{
    (void)state;
    static const struct {
        struct bytes bytes;
        enum err err;
    } cases[] = {
        {{(const uint8_t *)"Obj\x02\x00", 5}, ERR_INVALID},
        {{(const uint8_t *)"PAR1", 4}, ERR_INVALID},
        {{(const uint8_t *)"Obj\x01\x00", 5}, ERR_TRUNCATED},
        {{(const uint8_t *)"Obj\x01\x00"
                           "0123456789abcdef",
          21},
         ERR_INVALID},
        {{(const uint8_t *)"Obj\x01\x02\x14"
                           "avro.codec\x0e"
                           "deflate\x00",
          24},
         ERR_INVALID},
        {{(const uint8_t *)"Obj\x01\x02\x01", 6}, ERR_TRUNCATED},
        {{(const uint8_t *)"Obj\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", 16},
         ERR_TRUNCATED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct avro_file file;
        assert_int_equal(avro_open(&file, cases[i].bytes), cases[i].err);
    }
}

TEST_MAIN(bigquery_avro_reader,
          TEST(files_of_libavro_are_read),
          TEST(a_file_that_was_cut_is_told),
          TEST(a_file_that_was_changed_is_read_or_refused),
          TEST(schemas_that_are_none_are_refused),
          TEST(a_header_is_looked_at))
