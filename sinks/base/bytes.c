#include "sinks/base/bytes.h"

#include <string.h>

#define VARINT_SIZE_MAX  10
#define DECIMAL_SIZE_MAX 20

struct bytes bytes_of_text(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int bytes_compare(struct bytes a, struct bytes b)
{
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return a.size < b.size ? -1 : a.size > b.size;
}

/* Not inline: by itself it is one store to a compiler, beside another one it is sixteen. */
NOINLINE static void put_word_be(uint64_t word, char *text)
{
    text[0] = (char)(word >> 56);
    text[1] = (char)(word >> 48);
    text[2] = (char)(word >> 40);
    text[3] = (char)(word >> 32);
    text[4] = (char)(word >> 24);
    text[5] = (char)(word >> 16);
    text[6] = (char)(word >> 8);
    text[7] = (char)word;
}

/* Eight digits at once: deal the halves of four bytes out to a byte each, and add what makes a digit
 * of it, which is more for those past 9. */
static uint64_t hex_word(uint32_t value)
{
    uint64_t word = value;
    word = (word << 16 | word) & UINT64_C(0x0000ffff0000ffff);
    word = (word << 8 | word) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word << 4 | word) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t letters = (word + BYTES_WORD_ONES * 6) >> 4 & BYTES_WORD_ONES;
    return word + BYTES_WORD_ONES * '0' + letters * ('a' - '0' - 10);
}

void bytes_to_hex(struct bytes source, char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t i = 0;
    for (; source.size - i >= 4; i += 4) {
        put_word_be(hex_word(bytes_u32_be(source.data + i)), text + 2 * i);
    }
    for (; i < source.size; i++) {
        text[2 * i] = digits[source.data[i] >> 4];
        text[2 * i + 1] = digits[source.data[i] & 0xf];
    }
}

struct bytes bytes_next_word(struct bytes *rest)
{
    while (rest->size > 0 && rest->data[0] == ' ') {
        *rest = (struct bytes){rest->data + 1, rest->size - 1};
    }
    struct bytes word = {rest->data, 0};
    while (word.size < rest->size && rest->data[word.size] != ' ') {
        word.size++;
    }
    *rest = (struct bytes){rest->data + word.size, rest->size - word.size};
    return word;
}

void bytes_u64_to_hex(uint64_t value, char *text)
{
    put_word_be(hex_word((uint32_t)(value >> 32)), text);
    put_word_be(hex_word((uint32_t)value), text + 8);
}

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The size of the well-formed sequence at the start of source, or 0. RFC 3629 section 4: the second
 * byte alone rules out overlong forms, surrogates and what lies past U+10FFFF. */
static size_t utf8_sequence_size(const uint8_t *data, size_t left)
{
    const uint8_t lead = data[0];
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (left < size) {
        return 0;
    }
    const uint8_t second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (data[1] < second_min || data[1] > second_max) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if (!is_continuation(data[i])) {
            return 0;
        }
    }
    return size;
}

static bool is_ascii(struct bytes source)
{
    uint64_t all = 0;
    size_t offset = 0;
    for (; source.size - offset >= BYTES_WORD_SIZE; offset += BYTES_WORD_SIZE) {
        all |= bytes_word(source.data + offset);
    }
    if (offset > 0 && offset < source.size) {
        /* The rest, with bytes before it that were looked at already. */
        all |= bytes_word(source.data + source.size - BYTES_WORD_SIZE);
        offset = source.size;
    }
    for (; offset < source.size; offset++) {
        all |= source.data[offset];
    }
    return (all & BYTES_WORD_HIGH) == 0;
}

bool bytes_is_utf8(struct bytes source)
{
    size_t offset = 0;
    if (is_ascii(source)) {
        return true;
    }
    while (offset < source.size) {
        const size_t size = utf8_sequence_size(source.data + offset, source.size - offset);
        if (size == 0) {
            return false;
        }
        offset += size;
    }
    return true;
}

static bool writer_is_valid(const struct byte_writer *writer)
{
    return writer->overflowed == (writer->size > writer->capacity) &&
           (writer->data != NULL || writer->capacity == 0);
}

void byte_writer_init(struct byte_writer *writer, uint8_t *data, size_t capacity)
{
    *writer = (struct byte_writer){.data = data, .capacity = capacity};
    CHECK(writer_is_valid(writer));
}

void byte_writer_append(struct byte_writer *writer, const uint8_t *data, size_t size)
{
    CHECK(size <= SIZE_MAX - writer->size);
    CHECK_SLOW(writer_is_valid(writer));
    if (writer->size < writer->capacity && size > 0) {
        const size_t room = writer->capacity - writer->size;
        CHECK(writer->data != NULL);
        memcpy(writer->data + writer->size, data, size < room ? size : room);
    }
    writer->size += size;
    writer->overflowed = writer->size > writer->capacity;
}

void byte_writer_u32_le(struct byte_writer *writer, uint32_t value)
{
    uint8_t encoded[4];
    for (size_t i = 0; i < 4; i++) {
        encoded[i] = (uint8_t)(value >> (8 * i));
    }
    byte_writer_append(writer, encoded, sizeof(encoded));
}

void byte_writer_u64_le(struct byte_writer *writer, uint64_t value)
{
    uint8_t encoded[8];
    for (size_t i = 0; i < 8; i++) {
        encoded[i] = (uint8_t)(value >> (8 * i));
    }
    byte_writer_append(writer, encoded, sizeof(encoded));
}

void byte_writer_varint(struct byte_writer *writer, uint64_t value)
{
    uint8_t encoded[VARINT_SIZE_MAX];
    size_t size = 0;
    while (value >= 0x80) {
        encoded[size] = (uint8_t)(value | 0x80);
        size++;
        value >>= 7;
    }
    encoded[size] = (uint8_t)value;
    byte_writer_append(writer, encoded, size + 1);
}

void byte_writer_text(struct byte_writer *writer, const char *text)
{
    byte_writer_bytes(writer, bytes_of_text(text));
}

void byte_writer_decimal(struct byte_writer *writer, uint64_t value)
{
    uint8_t digits[DECIMAL_SIZE_MAX];
    size_t start = DECIMAL_SIZE_MAX;
    do {
        start--;
        digits[start] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    byte_writer_append(writer, digits + start, DECIMAL_SIZE_MAX - start);
}

struct bytes byte_writer_view(const struct byte_writer *writer)
{
    return (struct bytes){writer->data, writer->overflowed ? writer->capacity : writer->size};
}

void byte_reader_init(struct byte_reader *reader, struct bytes source)
{
    CHECK(source.data != NULL || source.size == 0);
    *reader = (struct byte_reader){.data = source.data, .size = source.size};
}

static uint64_t read_le(struct byte_reader *reader, size_t size)
{
    const uint8_t *data = byte_reader_consume(reader, size);
    uint64_t value = 0;
    for (size_t i = 0; data != NULL && i < size; i++) {
        value |= (uint64_t)data[i] << (8 * i);
    }
    return value;
}

uint32_t byte_reader_u32_le(struct byte_reader *reader)
{
    return (uint32_t)read_le(reader, 4);
}

uint64_t byte_reader_u64_le(struct byte_reader *reader)
{
    return read_le(reader, 8);
}

uint64_t byte_reader_varint(struct byte_reader *reader)
{
    const size_t start = reader->offset;
    uint64_t value = 0;
    for (size_t i = 0; i < VARINT_SIZE_MAX && !reader->failed; i++) {
        const uint8_t byte = byte_reader_u8(reader);
        if (i == VARINT_SIZE_MAX - 1 && byte > 1) {
            break;
        }
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80 && !reader->failed) {
            return value;
        }
    }
    reader->offset = start;
    reader->failed = true;
    return 0;
}
