#include "sinks/generic/unit_frame.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#define FIXED_SIZE (4u + 4u + 4u + 8u + 8u + 4u)

size_t unit_frame_size(const struct unit_frame *staged)
{
    return FIXED_SIZE + staged->application.size + staged->unit.size;
}

/* Returns the text as it stands in the frame. */
static struct bytes put_text(struct byte_writer *writer, struct bytes text)
{
    CHECK(text.size >= 1);
    CHECK(text.size <= UNIT_FRAME_TEXT_MAX);
    byte_writer_u32_be(writer, (uint32_t)text.size);
    const struct bytes place = {writer->data + writer->size, text.size};
    byte_writer_bytes(writer, text);
    return place;
}

struct bytes unit_frame_encode(const struct unit_frame *staged, uint8_t *data)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, unit_frame_size(staged));
    byte_writer_u32_be(&writer, UNIT_FRAME_VERSION);
    (void)put_text(&writer, staged->application);
    const struct bytes unit = put_text(&writer, staged->unit);
    byte_writer_u64_be(&writer, staged->sequence);
    byte_writer_u64_be(&writer, staged->rows);
    byte_writer_u32_be(&writer, digest_checksum(byte_writer_view(&writer)));
    CHECK(!writer.overflowed);
    CHECK(writer.size == unit_frame_size(staged));
    return unit;
}

/* A text of a size that none has reads as empty. */
static struct bytes take_text(struct byte_reader *reader)
{
    const uint32_t size = byte_reader_u32_be(reader);
    return byte_reader_bytes(reader, size <= UNIT_FRAME_TEXT_MAX ? size : 0);
}

static bool is_text(struct bytes text)
{
    return text.size > 0 && bytes_is_utf8(text);
}

enum err unit_frame_decode(struct bytes source, struct unit_frame *staged)
{
    struct byte_reader reader;
    byte_reader_init(&reader, source);
    const uint32_t version = byte_reader_u32_be(&reader);
    if (!reader.failed && version != UNIT_FRAME_VERSION) {
        return ERR_VERSION;
    }
    struct unit_frame found = {.application = take_text(&reader)};
    found.unit = take_text(&reader);
    found.sequence = byte_reader_u64_be(&reader);
    found.rows = byte_reader_u64_be(&reader);
    const size_t framed = reader.offset;
    const uint32_t checksum = byte_reader_u32_be(&reader);
    if (reader.failed) {
        return ERR_TRUNCATED;
    }
    if (byte_reader_left(&reader) > 0 ||
        checksum != digest_checksum((struct bytes){source.data, framed})) {
        return ERR_CORRUPT;
    }
    if (!is_text(found.application) || !is_text(found.unit) || found.rows == 0) {
        return ERR_INVALID;
    }
    *staged = found;
    return ERR_OK;
}

void unit_frame_name(uint64_t nonce, char unit[UNIT_NAME_SIZE])
{
    uint8_t random[UNIT_NAME_SIZE / 2];
    struct byte_writer writer;
    byte_writer_init(&writer, random, sizeof(random));
    byte_writer_u64_be(&writer, digest_mix(nonce + 1));
    byte_writer_u64_be(&writer, digest_mix(nonce + 2));
    bytes_to_hex(byte_writer_view(&writer), unit);
}
