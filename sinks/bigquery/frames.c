#include "sinks/bigquery/frames.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#define PIECE_FIXED_SIZE       (4u + 4u + 4u + 8u + 8u + 4u)
#define COMMITTABLE_FIXED_SIZE (4u + 4u + 8u + 4u + 4u)
#define FILE_FIXED_SIZE        (4u + 3u * 4u + 3u * 8u + 4u + 4u)
#define JOB_ID_MAX             64u

static void put_text(struct byte_writer *writer, struct bytes text)
{
    CHECK(text.size <= BIGQUERY_STREAM_NAME_MAX);
    byte_writer_u32_be(writer, (uint32_t)text.size);
    byte_writer_bytes(writer, text);
}

/* A text of a size that none has reads as empty, and then the checksum does not fit. */
static struct bytes take_text(struct byte_reader *reader)
{
    const uint32_t size = byte_reader_u32_be(reader);
    return byte_reader_bytes(reader, size <= BIGQUERY_STREAM_NAME_MAX ? size : 0);
}

static void put_checksum(struct byte_writer *writer, size_t size)
{
    byte_writer_u32_be(writer, digest_checksum(byte_writer_view(writer)));
    CHECK(!writer->overflowed);
    CHECK(writer->size == size);
}

/* Begin with the version; the checksum is looked at when all has been read. */
static enum err begin(struct byte_reader *reader, struct bytes source, uint32_t version)
{
    byte_reader_init(reader, source);
    const uint32_t found = byte_reader_u32_be(reader);
    return !reader->failed && found != version ? ERR_VERSION : ERR_OK;
}

static enum err end(struct byte_reader *reader, struct bytes source)
{
    const size_t framed = reader->offset;
    const uint32_t checksum = byte_reader_u32_be(reader);
    if (reader->failed) {
        return ERR_TRUNCATED;
    }
    const bool fits = checksum == digest_checksum((struct bytes){source.data, framed});
    return fits && byte_reader_left(reader) == 0 ? ERR_OK : ERR_CORRUPT;
}

/* --- pieces ------------------------------------------------------------------------------------ */

size_t bigquery_piece_size(const struct bigquery_piece *piece)
{
    return PIECE_FIXED_SIZE + piece->table.size + piece->stream.size;
}

void bigquery_piece_encode(const struct bigquery_piece *piece, uint8_t *data)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, bigquery_piece_size(piece));
    byte_writer_u32_be(&writer, BIGQUERY_PIECE_VERSION);
    put_text(&writer, piece->table);
    put_text(&writer, piece->stream);
    byte_writer_u64_be(&writer, piece->next_offset);
    byte_writer_u64_be(&writer, piece->checkpoint);
    put_checksum(&writer, bigquery_piece_size(piece));
}

enum err bigquery_piece_decode(struct bytes source, struct bigquery_piece *piece)
{
    struct byte_reader reader;
    struct bigquery_piece found = {0};
    byte_reader_init(&reader, source);
    const uint32_t version = byte_reader_u32_be(&reader);
    if (!reader.failed && version != BIGQUERY_PIECE_VERSION &&
        version != BIGQUERY_PIECE_VERSION_BARE) {
        return ERR_VERSION;
    }
    if (version == BIGQUERY_PIECE_VERSION) {
        found.table = take_text(&reader);
    }
    found.stream = take_text(&reader);
    found.next_offset = byte_reader_u64_be(&reader);
    found.checkpoint = byte_reader_u64_be(&reader);
    const enum err err = end(&reader, source);
    if (err != ERR_OK) {
        return err;
    }
    if ((version == BIGQUERY_PIECE_VERSION && found.table.size == 0) ||
        !bytes_is_utf8(found.table) || !bytes_is_utf8(found.stream) ||
        found.next_offset > INT64_MAX || (found.stream.size == 0 && found.next_offset > 0)) {
        return ERR_INVALID;
    }
    *piece = found;
    return ERR_OK;
}

/* --- committables ------------------------------------------------------------------------------ */

size_t bigquery_committable_size(const struct bigquery_committable *committable)
{
    return COMMITTABLE_FIXED_SIZE + committable->stream.size;
}

void bigquery_committable_encode(const struct bigquery_committable *committable, uint8_t *data)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, bigquery_committable_size(committable));
    byte_writer_u32_be(&writer, BIGQUERY_COMMITTABLE_VERSION);
    put_text(&writer, committable->stream);
    byte_writer_u64_be(&writer, committable->offset);
    byte_writer_u32_be(&writer, committable->subtask);
    put_checksum(&writer, bigquery_committable_size(committable));
}

enum err bigquery_committable_decode(struct bytes source, struct bigquery_committable *committable)
{
    struct byte_reader reader;
    enum err err = begin(&reader, source, BIGQUERY_COMMITTABLE_VERSION);
    if (err != ERR_OK) {
        return err;
    }
    struct bigquery_committable found = {.stream = take_text(&reader)};
    found.offset = byte_reader_u64_be(&reader);
    found.subtask = byte_reader_u32_be(&reader);
    err = end(&reader, source);
    if (err != ERR_OK) {
        return err;
    }
    if (found.stream.size == 0 || !bytes_is_utf8(found.stream) || found.offset > INT64_MAX) {
        return ERR_INVALID;
    }
    *committable = found;
    return ERR_OK;
}

/* --- staged files ------------------------------------------------------------------------------ */

size_t bigquery_file_size(const struct staged_file *file)
{
    return FILE_FIXED_SIZE + file->job.size + file->table.size + file->uri.size;
}

void bigquery_file_encode(const struct staged_file *file, uint8_t *data)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, bigquery_file_size(file));
    byte_writer_u32_be(&writer, BIGQUERY_FILE_VERSION);
    put_text(&writer, file->job);
    put_text(&writer, file->table);
    put_text(&writer, file->uri);
    byte_writer_u64_be(&writer, file->bytes);
    byte_writer_u64_be(&writer, file->rows);
    byte_writer_u64_be(&writer, file->checkpoint);
    byte_writer_u32_be(&writer, file->format);
    put_checksum(&writer, bigquery_file_size(file));
}

static bool is_text(struct bytes text)
{
    return text.size > 0 && bytes_is_utf8(text);
}

/* Letters, digits, '_' and '-' make ids of jobs (BQJ-01). */
static bool is_job_id(struct bytes id)
{
    for (size_t i = 0; i < id.size; i++) {
        const uint8_t c = id.data[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') {
            return false;
        }
    }
    return id.size > 0 && id.size <= JOB_ID_MAX;
}

enum err bigquery_file_decode(struct bytes source, struct staged_file *file)
{
    struct byte_reader reader;
    byte_reader_init(&reader, source);
    const uint32_t version = byte_reader_u32_be(&reader);
    if (!reader.failed && version != BIGQUERY_FILE_VERSION &&
        version != BIGQUERY_FILE_VERSION_AVRO) {
        return ERR_VERSION;
    }
    struct staged_file found = {.job = take_text(&reader)};
    found.table = take_text(&reader);
    found.uri = take_text(&reader);
    found.bytes = byte_reader_u64_be(&reader);
    found.rows = byte_reader_u64_be(&reader);
    found.checkpoint = byte_reader_u64_be(&reader);
    uint32_t format = BIGQUERY_AVRO;
    if (version == BIGQUERY_FILE_VERSION) {
        format = byte_reader_u32_be(&reader);
    }
    const enum err err = end(&reader, source);
    if (err != ERR_OK) {
        return err;
    }
    if (!is_job_id(found.job) || !is_text(found.table) || !is_text(found.uri) ||
        format == BIGQUERY_FORMAT_NONE || format >= BIGQUERY_SOURCE_FORMAT_END) {
        return ERR_INVALID;
    }
    found.format = (uint8_t)format;
    *file = found;
    return ERR_OK;
}
