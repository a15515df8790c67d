/* Byte views, a bounded writer and a bounded reader. No ownership, no allocation. */
#ifndef SINKS_BASE_BYTES_H
#define SINKS_BASE_BYTES_H

#include "sinks/base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed run of bytes. data may be NULL only when size is 0. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

/* View a literal or NUL-terminated text, without its NUL. */
struct bytes bytes_of_text(const char *text);
#define BYTES_LITERAL(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

bool bytes_equal(struct bytes a, struct bytes b);

/* Compare as unsigned bytes, shorter first on a tie: negative, 0 or positive. */
int bytes_compare(struct bytes a, struct bytes b);

/* Take the next word off a text of words separated by spaces; empty at the end. */
struct bytes bytes_next_word(struct bytes *rest);

/* Write 2 * size lowercase hex digits to text (no NUL); and the 16 of a number. */
void bytes_to_hex(struct bytes source, char *text);
void bytes_u64_to_hex(uint64_t value, char *text);

/* True when every byte forms well-formed UTF-8 (no surrogates, no overlong forms). */
bool bytes_is_utf8(struct bytes source);

/* A big-endian integer, written out so that compilers see one load in it. */
static inline uint32_t bytes_u32_be(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static inline uint64_t bytes_u64_be(const uint8_t *data)
{
    return (uint64_t)bytes_u32_be(data) << 32 | bytes_u32_be(data + 4);
}

/* Eight bytes side by side, where going one by one would take too long. Nothing that is asked of a
 * word may depend on the order of its bytes, which is the machine's. */
#define BYTES_WORD_SIZE 8u
#define BYTES_WORD_ONES UINT64_C(0x0101010101010101)
#define BYTES_WORD_HIGH UINT64_C(0x8080808080808080) /* no byte of ASCII has one of these bits */

static inline uint64_t bytes_word(const uint8_t *data)
{
    uint64_t word = 0;
    memcpy(&word, data, sizeof(word));
    return word;
}

/* The high bits of those bytes of an ASCII word that lie from low to high, both ASCII. No sum
 * leaves its byte: 0x7f + 0x80 at most. */
static inline uint64_t bytes_word_between(uint64_t word, uint8_t low, uint8_t high)
{
    return (word + BYTES_WORD_ONES * (0x80u - low)) & ~(word + BYTES_WORD_ONES * (0x7fu - high)) &
           BYTES_WORD_HIGH;
}

/* Writes into memory the caller owns. Past the capacity nothing is written, and overflowed is set:
 * check it once at the end. size counts what would have been written, so a writer with capacity 0
 * measures; data always holds the first min(size, capacity) bytes, so a message that was cut short
 * is still a prefix. Integers are little-endian or big-endian by name. */
struct byte_writer {
    uint8_t *data;   /* set before init */
    size_t capacity; /* set before init */
    size_t size;     /* read */
    bool overflowed; /* read */
};

void byte_writer_init(struct byte_writer *writer, uint8_t *data, size_t capacity);
void byte_writer_u32_le(struct byte_writer *writer, uint32_t value);
void byte_writer_u64_le(struct byte_writer *writer, uint64_t value);
/* Protobuf base-128 varint. */
void byte_writer_varint(struct byte_writer *writer, uint64_t value);
void byte_writer_text(struct byte_writer *writer, const char *text);
/* Decimal digits of value. */
void byte_writer_decimal(struct byte_writer *writer, uint64_t value);
/* View what is in data: all that was written, or after an overflow its prefix. */
struct bytes byte_writer_view(const struct byte_writer *writer);

/* Private: append what may not fit. */
void byte_writer_append(struct byte_writer *writer, const uint8_t *data, size_t size);

/* Private: where the next size bytes go, which then count as written; NULL if they do not fit. */
static inline uint8_t *byte_writer_place(struct byte_writer *writer, size_t size)
{
    if (UNLIKELY(writer->overflowed || size > writer->capacity - writer->size)) {
        return NULL;
    }
    uint8_t *place = writer->data + writer->size;
    writer->size += size;
    return place;
}

static inline void byte_writer_bytes(struct byte_writer *writer, struct bytes value)
{
    uint8_t *place = value.size == 0 ? NULL : byte_writer_place(writer, value.size);
    if (LIKELY(place != NULL)) {
        memcpy(place, value.data, value.size);
    } else {
        byte_writer_append(writer, value.data, value.size);
    }
}

static inline void byte_writer_u8(struct byte_writer *writer, uint8_t value)
{
    byte_writer_bytes(writer, (struct bytes){&value, 1});
}

static inline void byte_writer_u32_be(struct byte_writer *writer, uint32_t value)
{
    const uint8_t encoded[4] = {
        (uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    byte_writer_bytes(writer, (struct bytes){encoded, sizeof(encoded)});
}

static inline void byte_writer_u64_be(struct byte_writer *writer, uint64_t value)
{
    byte_writer_u32_be(writer, (uint32_t)(value >> 32));
    byte_writer_u32_be(writer, (uint32_t)value);
}

/* Reads from borrowed bytes. The first read past the end sets failed, and from then on every read
 * gives 0 or an empty view, and nothing is left: check failed once at the end. offset stays where
 * the failed read began. */
struct byte_reader {
    const uint8_t *data; /* private */
    size_t size;         /* private */
    size_t offset;       /* read */
    bool failed;         /* read */
};

void byte_reader_init(struct byte_reader *reader, struct bytes source);
uint32_t byte_reader_u32_le(struct byte_reader *reader);
uint64_t byte_reader_u64_le(struct byte_reader *reader);
/* Also fails on more than 64 bits; a longer form than needed is read, as protobuf asks. */
uint64_t byte_reader_varint(struct byte_reader *reader);

/* Private: the next size bytes, at least one, or NULL after setting failed. */
static inline const uint8_t *byte_reader_consume(struct byte_reader *reader, size_t size)
{
    CHECK(reader->offset <= reader->size);
    if (UNLIKELY(reader->failed || size > reader->size - reader->offset)) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *data = reader->data + reader->offset;
    reader->offset += size;
    return data;
}

static inline uint8_t byte_reader_u8(struct byte_reader *reader)
{
    const uint8_t *data = byte_reader_consume(reader, 1);
    return data == NULL ? 0 : data[0];
}

static inline uint32_t byte_reader_u32_be(struct byte_reader *reader)
{
    const uint8_t *data = byte_reader_consume(reader, 4);
    return data == NULL ? 0 : bytes_u32_be(data);
}

static inline uint64_t byte_reader_u64_be(struct byte_reader *reader)
{
    const uint8_t *data = byte_reader_consume(reader, 8);
    return data == NULL ? 0 : bytes_u64_be(data);
}

static inline struct bytes byte_reader_bytes(struct byte_reader *reader, size_t size)
{
    if (size == 0) {
        return (struct bytes){0};
    }
    const uint8_t *data = byte_reader_consume(reader, size);
    return (struct bytes){data, data == NULL ? 0 : size};
}

/* Bytes not yet read; 0 once failed, so that a loop on it ends. */
static inline size_t byte_reader_left(const struct byte_reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->offset;
}

#endif
