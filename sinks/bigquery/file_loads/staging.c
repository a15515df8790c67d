#include "sinks/bigquery/file_loads/staging.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/file_loads/avro.h"
#include "sinks/bigquery/options.h"

#define ROWS_CAPACITY_MIN 256u

enum bigquery_source_format staging_format_of(const struct bigquery_table_schema *schema,
                                              enum bigquery_source_format wanted)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = schema->fields.items[i];
        if (field->type == BIGQUERY_FIELD_JSON) {
            return BIGQUERY_AVRO;
        }
    }
    return wanted;
}

/* --- rows -------------------------------------------------------------------------------------- */

struct staging_target *staging_target_make(const struct allocator *allocator, struct bytes table)
{
    struct staging_target *target = allocator_take_zeroed(allocator, sizeof(*target) + table.size);
    if (target != NULL) {
        uint8_t *name = (uint8_t *)(target + 1);
        memcpy(name, table.data, table.size);
        target->table = (struct bytes){name, table.size};
    }
    return target;
}

static void release_rows(struct staging_target *target, const struct allocator *allocator)
{
    allocator_give(allocator, target->rows, target->capacity);
    target->rows = NULL;
    target->size = 0;
    target->capacity = 0;
    target->row_count = 0;
}

void staging_target_release(struct staging_target *target, const struct allocator *allocator)
{
    release_rows(target, allocator);
    bigquery_schema_release(&target->schema, allocator);
    allocator_give(allocator, target, sizeof(*target) + target->table.size);
}

static enum err
reserve(struct staging_target *target, const struct allocator *allocator, size_t wanted)
{
    size_t capacity = target->capacity == 0 ? ROWS_CAPACITY_MIN : target->capacity;
    while (capacity < wanted) {
        capacity *= 2;
    }
    uint8_t *rows = allocator_take(allocator, capacity);
    if (rows == NULL) {
        return ERR_LIMIT;
    }
    if (target->size > 0) {
        memcpy(rows, target->rows, target->size);
    }
    allocator_give(allocator, target->rows, target->capacity);
    target->rows = rows;
    target->capacity = capacity;
    return ERR_OK;
}

enum err staging_target_add(struct staging_target *target,
                            const struct allocator *allocator,
                            struct bytes row)
{
    struct byte_writer measure;
    byte_writer_init(&measure, NULL, 0);
    enum err err = avro_write_row(target->schema.table, row, &measure);
    if (err == ERR_OK && measure.size > target->capacity - target->size) {
        err = reserve(target, allocator, target->size + measure.size);
    }
    if (err != ERR_OK) {
        return err;
    }
    struct byte_writer writer;
    byte_writer_init(
        &writer, target->rows == NULL ? NULL : target->rows + target->size, measure.size);
    err = avro_write_row(target->schema.table, row, &writer);
    CHECK(err == ERR_OK);
    CHECK(!writer.overflowed);
    target->size += measure.size;
    target->row_count++;
    return ERR_OK;
}

/* --- whole files ------------------------------------------------------------------------------- */

static void write_uri(const struct staging_target *target,
                      const struct staging_names *names,
                      struct byte_writer *writer)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(target->table, &parts);
    CHECK(is_name);
    byte_writer_bytes(writer, names->path);
    byte_writer_text(writer, "/");
    byte_writer_bytes(writer, names->job);
    byte_writer_text(writer, "/");
    byte_writer_bytes(writer, parts.project);
    byte_writer_text(writer, ".");
    byte_writer_bytes(writer, parts.dataset);
    byte_writer_text(writer, ".");
    byte_writer_bytes(writer, parts.table);
    byte_writer_text(writer, "/");
    byte_writer_decimal(writer, names->subtask);
    byte_writer_text(writer, "-");
    byte_writer_decimal(writer, names->attempt);
    byte_writer_text(writer, "-");
    byte_writer_bytes(writer, (struct bytes){names->random, STAGING_RANDOM_SIZE});
    byte_writer_text(writer, "-");
    byte_writer_decimal(writer, target->sequence);
    byte_writer_text(writer, target->format == BIGQUERY_PARQUET ? ".parquet" : ".avro");
}

/* Of Parquet there is no more than its first letters: behind them the file holds the same bytes. */
static void write_content(const struct staging_target *target,
                          const uint8_t sync[AVRO_SYNC_SIZE],
                          struct byte_writer *writer)
{
    byte_writer_text(writer, target->format == BIGQUERY_PARQUET ? "PAR1" : "");
    avro_write_header(target->schema.table, sync, writer);
    avro_write_block(target->row_count, (struct bytes){target->rows, target->size}, sync, writer);
}

static enum err make_content(const struct staging_target *target,
                             const struct allocator *allocator,
                             uint64_t nonce,
                             struct staged_upload *upload)
{
    uint8_t sync[AVRO_SYNC_SIZE];
    struct byte_writer writer;
    byte_writer_init(&writer, sync, sizeof(sync));
    byte_writer_u64_be(&writer, digest_fold(nonce, target->sequence));
    byte_writer_u64_be(&writer, digest_fold(target->sequence, nonce));
    byte_writer_init(&writer, NULL, 0);
    write_content(target, sync, &writer);
    const size_t size = writer.size;
    uint8_t *data = allocator_take(allocator, size);
    if (data == NULL) {
        return ERR_LIMIT;
    }
    byte_writer_init(&writer, data, size);
    write_content(target, sync, &writer);
    CHECK(!writer.overflowed);
    upload->content = data;
    upload->content_size = size;
    return ERR_OK;
}

static void make_request(struct staged_upload *upload)
{
    const bool is_name = file_loads_uri_parse(upload->file.uri, &upload->bucket, &upload->name);
    CHECK(is_name);
    upload->object = (struct storage_object){.name = upload->name, .bucket = upload->bucket};
    upload->spec = (struct storage_write_object_spec){.resource = &upload->object};
    upload->data =
        (struct storage_checksummed_data){.content = {upload->content, upload->content_size}};
    upload->request_body = (struct storage_write_object_request){.write_object_spec = &upload->spec,
                                                                 .checksummed_data = &upload->data,
                                                                 .finish_write = true};
}

struct staged_upload *staging_target_finish(struct staging_target *target,
                                            const struct allocator *allocator,
                                            const struct staging_names *names,
                                            uint64_t nonce)
{
    CHECK(target->row_count > 0);
    struct staged_upload *upload = allocator_take_zeroed(allocator, sizeof(*upload));
    if (upload == NULL) {
        return NULL;
    }
    if (make_content(target, allocator, nonce, upload) != ERR_OK) {
        allocator_give(allocator, upload, sizeof(*upload));
        return NULL;
    }
    struct byte_writer uri;
    byte_writer_init(&uri, upload->text, sizeof(upload->text));
    write_uri(target, names, &uri);
    CHECK(!uri.overflowed);
    upload->file = (struct staged_file){.job = names->job,
                                        .table = target->table,
                                        .uri = byte_writer_view(&uri),
                                        .bytes = upload->content_size,
                                        .rows = target->row_count,
                                        .format = target->format};
    make_request(upload);
    target->sequence++;
    release_rows(target, allocator);
    return upload;
}

void staged_upload_stored(struct staged_upload *upload, const struct allocator *allocator)
{
    upload->is_stored = true;
    allocator_give(allocator, upload->content, upload->content_size);
    upload->content = NULL;
}

void staged_upload_release(struct staged_upload *upload, const struct allocator *allocator)
{
    if (!upload->is_stored) {
        staged_upload_stored(upload, allocator);
    }
    allocator_give(allocator, upload, sizeof(*upload));
}
