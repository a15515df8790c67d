/* Any bytes are a container of Avro or an error; and rows that the sink writes are those that the model
 * reads. The first byte picks which: even, and the rest is a file; odd, and the rest makes a schema and
 * rows. */
#include "models/bigquery/avro.h"
#include "scenarios/fuzz/target.h"
#include "sinks/bigquery/file_loads/avro.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX  8u
#define ROW_SIZE_MAX 64u
#define ROWS_MAX     16u

/* --- any bytes ----------------------------------------------------------------------------------- */

static void read_all(struct bytes source)
{
    struct avro_file file;
    struct avro_cell cells[AVRO_COLUMN_MAX];
    bool found = true;
    enum err err = avro_open(&file, source);
    CHECK(err == ERR_OK || err == ERR_INVALID || err == ERR_TRUNCATED);
    CHECK(err != ERR_OK || (file.column_count > 0 && file.column_count <= AVRO_COLUMN_MAX));
    while (err == ERR_OK && found) {
        err = avro_next(&file, cells, &found);
        CHECK(err == ERR_OK || err == ERR_INVALID || err == ERR_TRUNCATED);
        for (uint32_t i = 0; err == ERR_OK && found && i < file.column_count; i++) {
            struct avro_items items = {0};
            struct avro_cell item;
            while (file.columns[i].mode == BIGQUERY_FIELD_REPEATED &&
                   avro_item(&file.columns[i], &cells[i], &items, &item)) {
                CHECK(item.bytes.size <= source.size);
            }
        }
    }
}

/* --- what was written ----------------------------------------------------------------------------- */

struct written {
    struct bigquery_table_field_schema fields[COLUMNS_MAX];
    const void *items[COLUMNS_MAX];
    struct bigquery_table_schema schema;
    struct bytes rows[ROWS_MAX]; /* in wire form */
    uint32_t row_count;
};

/* A schema of the first bytes; names are letters. */
static void make_schema(struct byte_reader *reader, struct written *written)
{
    static const uint8_t names[] = "abcdefgh";
    const uint32_t count = 1 + byte_reader_u8(reader) % COLUMNS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t byte = byte_reader_u8(reader);
        written->fields[i] =
            (struct bigquery_table_field_schema){.name = {names + i, 1},
                                                 .type = 1u + byte % (BIGQUERY_FIELD_TYPE_END - 1u),
                                                 .mode = byte / 16u % BIGQUERY_FIELD_MODE_END};
        written->items[i] = &written->fields[i];
    }
    written->schema.fields = (struct port_list){written->items, count};
}

/* The rows that fit: the rest of the bytes, in pieces. Their data. */
static uint8_t *write_rows(struct byte_reader *reader, struct written *written, size_t *size)
{
    const size_t capacity = byte_reader_left(reader) * 2 + ROWS_MAX * COLUMNS_MAX * 12;
    uint8_t *data = malloc(capacity);
    CHECK(data != NULL);
    struct byte_writer writer;
    byte_writer_init(&writer, data, capacity);
    while (byte_reader_left(reader) > 0 && written->row_count < ROWS_MAX) {
        const size_t wanted = byte_reader_u8(reader) % ROW_SIZE_MAX;
        const size_t left = byte_reader_left(reader);
        const struct bytes row = byte_reader_bytes(reader, wanted < left ? wanted : left);
        const size_t before = writer.size;
        if (avro_write_row(&written->schema, row, &writer) == ERR_OK) {
            written->rows[written->row_count] = row;
            written->row_count++;
        } else {
            writer.size = before;
        }
        CHECK(!writer.overflowed);
    }
    *size = writer.size;
    return data;
}

/* The last value of a field in a row; its number of values. */
static uint32_t
find_field(struct bytes row, uint32_t number, uint64_t *integer, struct bytes *bytes)
{
    struct byte_reader reader;
    uint32_t count = 0;
    byte_reader_init(&reader, row);
    while (byte_reader_left(&reader) > 0) {
        const uint64_t tag = byte_reader_varint(&reader);
        const uint64_t value = byte_reader_varint(&reader);
        const struct bytes content =
            (tag & 7) == 2 ? byte_reader_bytes(&reader, (size_t)value) : (struct bytes){0};
        if (tag >> 3 == number) {
            *integer = value;
            *bytes = content;
            count++;
        }
    }
    CHECK(!reader.failed);
    return count;
}

static void check_cell(const struct avro_column *column,
                       const struct avro_cell *cell,
                       struct bytes row,
                       uint32_t number)
{
    uint64_t integer = 0;
    struct bytes bytes = {0};
    const uint32_t count = find_field(row, number, &integer, &bytes);
    const bool is_text =
        column->plain_type == BIGQUERY_FIELD_STRING || column->plain_type == BIGQUERY_FIELD_BYTES;
    if (column->mode == BIGQUERY_FIELD_REPEATED) {
        struct avro_items items = {0};
        struct avro_cell item = {0};
        uint32_t found = 0;
        while (avro_item(column, cell, &items, &item)) {
            found++;
        }
        CHECK(found == count);
        CHECK(count == 0 ||
              (is_text ? bytes_equal(item.bytes, bytes) : item.number == (int64_t)integer));
        return;
    }
    CHECK(cell->is_null == (count == 0));
    CHECK(count == 0 ||
          (is_text ? bytes_equal(cell->bytes, bytes) : cell->number == (int64_t)integer));
}

static void check_file(const struct written *written, struct bytes source)
{
    struct avro_file file;
    struct avro_cell cells[AVRO_COLUMN_MAX];
    bool found = false;
    CHECK(avro_open(&file, source) == ERR_OK);
    CHECK(file.column_count == written->schema.fields.count);
    for (uint32_t i = 0; i < file.column_count; i++) {
        CHECK(bytes_equal(file.columns[i].name, written->fields[i].name));
        CHECK(file.columns[i].type == written->fields[i].type);
        CHECK(file.columns[i].mode == written->fields[i].mode);
    }
    for (uint32_t row = 0; row < written->row_count; row++) {
        CHECK(avro_next(&file, cells, &found) == ERR_OK);
        CHECK(found);
        for (uint32_t i = 0; i < file.column_count; i++) {
            check_cell(&file.columns[i], &cells[i], written->rows[row], i + 1);
        }
    }
    CHECK(avro_next(&file, cells, &found) == ERR_OK);
    CHECK(!found);
}

static void check_written(struct bytes source)
{
    static const uint8_t sync[AVRO_SYNC_SIZE] = "sync";
    struct byte_reader reader;
    struct written written = {.row_count = 0};
    size_t size = 0;
    byte_reader_init(&reader, source);
    make_schema(&reader, &written);
    uint8_t *data = write_rows(&reader, &written, &size);
    struct byte_writer measure;
    byte_writer_init(&measure, NULL, 0);
    avro_write_header(&written.schema, sync, &measure);
    const size_t capacity = measure.size + size + 64;
    uint8_t *file = malloc(capacity);
    CHECK(file != NULL);
    struct byte_writer writer;
    byte_writer_init(&writer, file, capacity);
    avro_write_header(&written.schema, sync, &writer);
    if (written.row_count > 0) {
        avro_write_block(written.row_count, (struct bytes){data, size}, sync, &writer);
    }
    CHECK(!writer.overflowed);
    check_file(&written, byte_writer_view(&writer));
    free(file);
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    /* A copy of exactly this size, so that a read past the end shows. */
    uint8_t *copy = malloc(size > 1 ? size - 1 : 1);
    CHECK(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 2 == 0) {
        read_all((struct bytes){copy, size - 1});
    } else {
        check_written((struct bytes){copy, size - 1});
    }
    free(copy);
    return 0;
}
