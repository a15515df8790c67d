#include "sinks/bigquery/frames.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#define PIECE_FIXED_SIZE       (4u + 4u + 4u + 8u + 8u + 4u)
#define COMMITTABLE_FIXED_SIZE (4u + 4u + 8u + 4u + 4u)

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
    enum err err = begin(&reader, source, BIGQUERY_PIECE_VERSION);
    if (err != ERR_OK) {
        return err;
    }
    struct bigquery_piece found = {.table = take_text(&reader)};
    found.stream = take_text(&reader);
    found.next_offset = byte_reader_u64_be(&reader);
    found.checkpoint = byte_reader_u64_be(&reader);
    err = end(&reader, source);
    if (err != ERR_OK) {
        return err;
    }
    if (found.table.size == 0 || !bytes_is_utf8(found.table) || !bytes_is_utf8(found.stream) ||
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
