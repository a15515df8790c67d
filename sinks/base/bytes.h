/* Byte views, a bounded writer and a bounded reader. No ownership, no allocation. */
#ifndef SINKS_BASE_BYTES_H
#define SINKS_BASE_BYTES_H

#include "sinks/base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Write 2 * size lowercase hex digits to text (no NUL). */
void bytes_to_hex(struct bytes source, char *text);

/* True when every byte forms well-formed UTF-8 (no surrogates, no overlong forms). */
bool bytes_is_utf8(struct bytes source);

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
void byte_writer_u8(struct byte_writer *writer, uint8_t value);
void byte_writer_u32_be(struct byte_writer *writer, uint32_t value);
void byte_writer_u64_be(struct byte_writer *writer, uint64_t value);
void byte_writer_u32_le(struct byte_writer *writer, uint32_t value);
void byte_writer_u64_le(struct byte_writer *writer, uint64_t value);
/* Protobuf base-128 varint. */
void byte_writer_varint(struct byte_writer *writer, uint64_t value);
void byte_writer_bytes(struct byte_writer *writer, struct bytes value);
void byte_writer_text(struct byte_writer *writer, const char *text);
/* Decimal digits of value. */
void byte_writer_decimal(struct byte_writer *writer, uint64_t value);
/* View what is in data: all that was written, or after an overflow its prefix. */
struct bytes byte_writer_view(const struct byte_writer *writer);

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
uint8_t byte_reader_u8(struct byte_reader *reader);
uint32_t byte_reader_u32_be(struct byte_reader *reader);
uint64_t byte_reader_u64_be(struct byte_reader *reader);
uint32_t byte_reader_u32_le(struct byte_reader *reader);
uint64_t byte_reader_u64_le(struct byte_reader *reader);
/* Also fails on more than 64 bits; a longer form than needed is read, as protobuf asks. */
uint64_t byte_reader_varint(struct byte_reader *reader);
struct bytes byte_reader_bytes(struct byte_reader *reader, size_t size);
/* Bytes not yet read; 0 once failed, so that a loop on it ends. */
size_t byte_reader_left(const struct byte_reader *reader);

#endif
