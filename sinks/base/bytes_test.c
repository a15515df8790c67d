/* Views, UTF-8, the writer at every capacity and the reader at every length.
 * link: sinks/base/bytes
 */
#include "sinks/base/bytes.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static void equality_needs_the_same_size_and_bytes(void **state)
{
    (void)state;
    assert_true(bytes_equal(BYTES_LITERAL("ab"), bytes_of_text("ab")));
    assert_true(bytes_equal((struct bytes){0}, BYTES_LITERAL("")));
    assert_false(bytes_equal(BYTES_LITERAL("ab"), BYTES_LITERAL("abc")));
    assert_false(bytes_equal(BYTES_LITERAL("ab"), BYTES_LITERAL("ac")));
    assert_false(bytes_equal(BYTES_LITERAL("a\0b"), BYTES_LITERAL("a\0c")));
}

/* Every pair of a strictly ascending list, both ways round. */
static void comparison_is_unsigned_and_shorter_first(void **state)
{
    (void)state;
    const struct bytes ascending[] = {{0},
                                      BYTES_LITERAL("\0"),
                                      BYTES_LITERAL("\0\0"),
                                      BYTES_LITERAL("a"),
                                      BYTES_LITERAL("aa"),
                                      BYTES_LITERAL("ab"),
                                      BYTES_LITERAL("\x7f"),
                                      BYTES_LITERAL("\x80"),
                                      BYTES_LITERAL("\xff")};
    for (size_t i = 0; i < ARRAY_COUNT(ascending); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(ascending); j++) {
            const int order = bytes_compare(ascending[i], ascending[j]);
            assert_int_equal(order > 0, i > j);
            assert_int_equal(order < 0, i < j);
        }
    }
}

static void hex_is_lowercase_with_two_digits_per_byte(void **state)
{
    (void)state;
    char text[] = "##########";
    bytes_to_hex(BYTES_LITERAL("\x00\x0f\xa0\xff"), text);
    assert_string_equal(text, "000fa0ff##");
}

/* Encode a code point by the table of RFC 3629, in the given number of bytes. */
static struct bytes encode(uint32_t code, size_t size, uint8_t encoded[4])
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1;) {
        encoded[i] = (uint8_t)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    encoded[0] = (uint8_t)(lead[size] | code);
    return (struct bytes){encoded, size};
}

static size_t shortest(uint32_t code)
{
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* All 2^21 values that four bytes can hold, in each size they fit into: only the shortest form of a
 * scalar value passes. */
static void utf8_is_exactly_the_shortest_form_of_every_scalar_value(void **state)
{
    (void)state;
    uint8_t encoded[4];
    for (uint32_t code = 0; code < 0x200000; code++) {
        const bool scalar = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
        for (size_t size = shortest(code); size <= 4; size++) {
            const bool expected = scalar && size == shortest(code);
            if (bytes_is_utf8(encode(code, size, encoded)) != expected) {
                fail_msg("U+%04x in %zu bytes", code, size);
            }
        }
    }
}

/* The naive decoder: a sequence is right when it is what its own code point encodes to. */
static bool is_utf8_by_encoding(struct bytes source)
{
    size_t offset = 0;
    while (offset < source.size) {
        const uint8_t *data = source.data + offset;
        const size_t size = data[0] < 0x80 ? 1 : data[0] < 0xe0 ? 2 : data[0] < 0xf0 ? 3 : 4;
        uint32_t code = data[0] & (size == 1 ? 0x7f : 0xffU >> (size + 1));
        if (size > source.size - offset) {
            return false;
        }
        for (size_t i = 1; i < size; i++) {
            code = code << 6 | (data[i] & 0x3f);
        }
        uint8_t encoded[4];
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || size != shortest(code) ||
            !bytes_equal(encode(code, size, encoded), (struct bytes){data, size})) {
            return false;
        }
        offset += size;
    }
    return true;
}

/* Every sequence of up to three bytes, in memory of just that size. */
static void utf8_agrees_with_a_naive_decoder_on_all_short_texts(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 3; size++) {
        uint8_t *data = malloc(size);
        assert_non_null(data);
        for (uint32_t value = 0; value < UINT32_C(1) << 8 * size; value++) {
            for (size_t i = 0; i < size; i++) {
                data[i] = (uint8_t)(value >> 8 * i);
            }
            const struct bytes text = {data, size};
            if (bytes_is_utf8(text) != is_utf8_by_encoding(text)) {
                fail_msg("%zu bytes, little-endian 0x%x", size, value);
            }
        }
        free(data);
    }
}

static void utf8_cut_short_is_refused_at_every_byte(void **state)
{
    (void)state;
    const struct bytes text = BYTES_LITERAL("\xf0\x9f\x98\x80");
    assert_true(bytes_is_utf8(text));
    assert_true(bytes_is_utf8((struct bytes){text.data, 0}));
    for (size_t size = 1; size < text.size; size++) {
        assert_false(bytes_is_utf8((struct bytes){text.data, size}));
    }
}

/* One of each kind of write. */
static void write_all(struct byte_writer *writer)
{
    byte_writer_u8(writer, 0x01);
    byte_writer_u32_be(writer, 0x02030405);
    byte_writer_u64_be(writer, UINT64_C(0x060708090a0b0c0d));
    byte_writer_u32_le(writer, 0x11100f0e);
    byte_writer_u64_le(writer, UINT64_C(0x1918171615141312));
    byte_writer_varint(writer, 300);
    byte_writer_bytes(writer, BYTES_LITERAL("\xfe\x00\xff"));
    byte_writer_bytes(writer, (struct bytes){0});
    byte_writer_text(writer, "text");
    byte_writer_decimal(writer, 1200);
}

#define ALL                                                                                        \
    BYTES_LITERAL("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13"   \
                  "\x14\x15\x16\x17\x18\x19\xac\x02\xfe\x00\xff"                                   \
                  "text1200")

static void the_writer_writes_each_kind_in_its_byte_order(void **state)
{
    (void)state;
    uint8_t data[64];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    write_all(&writer);
    assert_false(writer.overflowed);
    assert_bytes_equal(byte_writer_view(&writer), ALL);
}

/* At every capacity the memory holds the prefix, and not one byte after it is touched. */
static void the_writer_never_writes_past_any_capacity(void **state)
{
    (void)state;
    const struct bytes all = ALL;
    for (size_t capacity = 0; capacity <= all.size; capacity++) {
        uint8_t data[64];
        memset(data, 0xa5, sizeof(data));
        struct byte_writer writer;
        byte_writer_init(&writer, data, capacity);
        write_all(&writer);
        assert_int_equal(writer.overflowed, capacity < all.size);
        assert_int_equal(writer.size, all.size);
        assert_bytes_equal(byte_writer_view(&writer), (struct bytes){all.data, capacity});
        for (size_t i = capacity; i < sizeof(data); i++) {
            assert_int_equal(data[i], 0xa5);
        }
    }
}

static void a_writer_without_memory_measures(void **state)
{
    (void)state;
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    assert_false(writer.overflowed);
    write_all(&writer);
    assert_int_equal(writer.size, ALL.size);
    assert_true(writer.overflowed);
    assert_int_equal(byte_writer_view(&writer).size, 0);
}

static void nothing_fits_into_no_capacity(void **state)
{
    (void)state;
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    byte_writer_bytes(&writer, (struct bytes){0});
    byte_writer_text(&writer, "");
    assert_false(writer.overflowed);
    assert_int_equal(writer.size, 0);
}

static void after_an_overflow_smaller_writes_do_not_slip_in(void **state)
{
    (void)state;
    uint8_t data[4] = {0};
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    byte_writer_u64_be(&writer, UINT64_C(0x0102030405060708));
    byte_writer_u8(&writer, 0xff);
    assert_true(writer.overflowed);
    assert_int_equal(writer.size, 9);
    assert_bytes_equal(byte_writer_view(&writer), BYTES_LITERAL("\1\2\3\4"));
}

static void a_size_that_wraps_is_a_check(void **state)
{
    (void)state;
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    byte_writer_bytes(&writer, (struct bytes){(const uint8_t *)"", SIZE_MAX});
    assert_int_equal(writer.size, SIZE_MAX);
    expect_check_failure(byte_writer_u8(&writer, 0));
}

static void decimals_have_no_leading_zeros(void **state)
{
    (void)state;
    uint8_t data[64];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    byte_writer_decimal(&writer, 0);
    byte_writer_u8(&writer, ' ');
    byte_writer_decimal(&writer, 10);
    byte_writer_u8(&writer, ' ');
    byte_writer_decimal(&writer, UINT64_MAX);
    assert_bytes_equal(byte_writer_view(&writer), BYTES_LITERAL("0 10 18446744073709551615"));
}

/* Read what write_all wrote. */
static void read_all(struct byte_reader *reader)
{
    assert_int_equal(byte_reader_u8(reader), 0x01);
    assert_int_equal(byte_reader_u32_be(reader), 0x02030405);
    assert_true(byte_reader_u64_be(reader) == UINT64_C(0x060708090a0b0c0d));
    assert_int_equal(byte_reader_u32_le(reader), 0x11100f0e);
    assert_true(byte_reader_u64_le(reader) == UINT64_C(0x1918171615141312));
    assert_int_equal(byte_reader_varint(reader), 300);
    assert_bytes_equal(byte_reader_bytes(reader, 3), BYTES_LITERAL("\xfe\x00\xff"));
    assert_int_equal(byte_reader_bytes(reader, 0).size, 0);
    assert_bytes_equal(byte_reader_bytes(reader, 8), BYTES_LITERAL("text1200"));
}

static void the_reader_reads_what_the_writer_wrote(void **state)
{
    (void)state;
    struct byte_reader reader;
    byte_reader_init(&reader, ALL);
    read_all(&reader);
    assert_false(reader.failed);
    assert_int_equal(byte_reader_left(&reader), 0);
}

/* The reads one by one, so that each can be the first that fails. Gives the value as a number. */
static uint64_t read_nth(struct byte_reader *reader, size_t nth)
{
    switch (nth) {
    case 0:
        return byte_reader_u8(reader);
    case 1:
        return byte_reader_u32_be(reader);
    case 2:
        return byte_reader_u64_be(reader);
    case 3:
        return byte_reader_u32_le(reader);
    case 4:
        return byte_reader_u64_le(reader);
    case 5:
        return byte_reader_varint(reader);
    default:
        return byte_reader_bytes(reader, 3).size;
    }
}

/* Cut the input at every length, in memory of just that size: reads within it succeed, the first
 * past it fails and stays where it began, and all later ones give 0. */
static void the_reader_fails_at_every_truncation_and_stays_failed(void **state)
{
    (void)state;
    static const size_t ends[] = {1, 5, 13, 17, 25, 27, 30};
    for (size_t size = 0; size < 30; size++) {
        uint8_t *data = malloc(size + (size == 0));
        assert_non_null(data);
        memcpy(data, ALL.data, size);
        struct byte_reader reader;
        byte_reader_init(&reader, (struct bytes){data, size});
        size_t offset = 0;
        for (size_t nth = 0; nth < ARRAY_COUNT(ends); nth++) {
            const bool fits = ends[nth] <= size;
            assert_int_equal(read_nth(&reader, nth) != 0, fits);
            assert_int_equal(reader.failed, !fits);
            offset = fits ? ends[nth] : offset;
            assert_int_equal(reader.offset, offset);
            assert_int_equal(byte_reader_left(&reader), fits ? size - offset : 0);
        }
        free(data);
    }
}

static void a_failed_reader_does_not_read_what_would_fit(void **state)
{
    (void)state;
    struct byte_reader reader;
    byte_reader_init(&reader, BYTES_LITERAL("\x01\x02"));
    assert_int_equal(byte_reader_u32_be(&reader), 0);
    assert_int_equal(byte_reader_u8(&reader), 0);
    assert_null(byte_reader_bytes(&reader, 1).data);
    assert_true(reader.failed);
}

static void a_size_near_the_maximum_fails_and_does_not_wrap(void **state)
{
    (void)state;
    struct byte_reader reader;
    byte_reader_init(&reader, BYTES_LITERAL("\x01\x02"));
    assert_int_equal(byte_reader_u8(&reader), 1);
    assert_int_equal(byte_reader_bytes(&reader, SIZE_MAX).size, 0);
    assert_true(reader.failed);
}

static void no_bytes_can_be_read_from_nothing(void **state)
{
    (void)state;
    struct byte_reader reader;
    byte_reader_init(&reader, (struct bytes){0});
    assert_int_equal(byte_reader_bytes(&reader, 0).size, 0);
    assert_false(reader.failed);
    assert_int_equal(byte_reader_u8(&reader), 0);
    assert_true(reader.failed);
}

/* Both sides of every border between sizes: 2^(7k) - 1 takes k bytes, 2^(7k) one more. */
static void varints_at_every_border_have_their_size_and_come_back(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 10; size++) {
        const uint64_t least = size == 1 ? 0 : UINT64_C(1) << 7 * (size - 1);
        const uint64_t greatest = size == 10 ? UINT64_MAX : (UINT64_C(1) << 7 * size) - 1;
        const uint64_t values[] = {least, greatest, least + (greatest - least) / 3};
        for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
            uint8_t data[10];
            struct byte_writer writer;
            struct byte_reader reader;
            byte_writer_init(&writer, data, sizeof(data));
            byte_writer_varint(&writer, values[i]);
            assert_int_equal(writer.size, size);
            byte_reader_init(&reader, byte_writer_view(&writer));
            assert_true(byte_reader_varint(&reader) == values[i]);
            assert_false(reader.failed);
            assert_int_equal(byte_reader_left(&reader), 0);
        }
    }
}

static void varint_bytes_are_those_of_protobuf(void **state)
{
    (void)state;
    uint8_t data[16];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    byte_writer_varint(&writer, 150);
    byte_writer_varint(&writer, UINT64_MAX);
    assert_bytes_equal(byte_writer_view(&writer),
                       BYTES_LITERAL("\x96\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

static void a_varint_cut_short_fails_at_every_length(void **state)
{
    (void)state;
    const struct bytes longest = BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    for (size_t size = 0; size < longest.size; size++) {
        struct byte_reader reader;
        byte_reader_init(&reader, (struct bytes){longest.data, size});
        assert_true(byte_reader_varint(&reader) == 0);
        assert_true(reader.failed);
        assert_int_equal(reader.offset, 0);
    }
}

static void assert_varint_fails(struct bytes encoded)
{
    struct byte_reader reader;
    byte_reader_init(&reader, encoded);
    assert_true(byte_reader_varint(&reader) == 0);
    assert_true(reader.failed);
    assert_int_equal(byte_reader_u8(&reader), 0);
}

static void a_varint_of_more_than_64_bits_fails(void **state)
{
    (void)state;
    assert_varint_fails(BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    assert_varint_fails(BYTES_LITERAL("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"));
    assert_varint_fails(BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00"));
}

static void a_varint_longer_than_needed_is_read(void **state)
{
    (void)state;
    struct byte_reader reader;
    byte_reader_init(&reader, BYTES_LITERAL("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"));
    assert_true(byte_reader_varint(&reader) == 1);
    assert_false(reader.failed);
    assert_int_equal(byte_reader_left(&reader), 0);
}

static void random_integers_come_back_in_either_byte_order(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t value = digest_mix(i) >> (i % 64);
        uint8_t data[34];
        struct byte_writer writer;
        struct byte_reader reader;
        byte_writer_init(&writer, data, sizeof(data));
        byte_writer_u64_le(&writer, value);
        byte_writer_u64_be(&writer, value);
        byte_writer_u32_le(&writer, (uint32_t)value);
        byte_writer_u32_be(&writer, (uint32_t)value);
        byte_writer_varint(&writer, value);
        byte_reader_init(&reader, byte_writer_view(&writer));
        assert_true(byte_reader_u64_le(&reader) == value);
        assert_true(byte_reader_u64_be(&reader) == value);
        assert_true(byte_reader_u32_le(&reader) == (uint32_t)value);
        assert_true(byte_reader_u32_be(&reader) == (uint32_t)value);
        assert_true(byte_reader_varint(&reader) == value);
        assert_false(reader.failed);
    }
}

static void words_are_taken_one_by_one(void **state)
{
    (void)state;
    struct bytes rest = BYTES_LITERAL("  one two  ");
    assert_bytes_equal(bytes_next_word(&rest), BYTES_LITERAL("one"));
    assert_bytes_equal(bytes_next_word(&rest), BYTES_LITERAL("two"));
    assert_int_equal(bytes_next_word(&rest).size, 0);
    assert_int_equal(rest.size, 0);
    assert_int_equal(bytes_next_word(&rest).size, 0);
}

TEST_MAIN(bytes,
          TEST(equality_needs_the_same_size_and_bytes),
          TEST(comparison_is_unsigned_and_shorter_first),
          TEST(hex_is_lowercase_with_two_digits_per_byte),
          TEST(utf8_is_exactly_the_shortest_form_of_every_scalar_value),
          TEST(utf8_agrees_with_a_naive_decoder_on_all_short_texts),
          TEST(utf8_cut_short_is_refused_at_every_byte),
          TEST(the_writer_writes_each_kind_in_its_byte_order),
          TEST(the_writer_never_writes_past_any_capacity),
          TEST(a_writer_without_memory_measures),
          TEST(nothing_fits_into_no_capacity),
          TEST(after_an_overflow_smaller_writes_do_not_slip_in),
          TEST(a_size_that_wraps_is_a_check),
          TEST(decimals_have_no_leading_zeros),
          TEST(the_reader_reads_what_the_writer_wrote),
          TEST(the_reader_fails_at_every_truncation_and_stays_failed),
          TEST(a_failed_reader_does_not_read_what_would_fit),
          TEST(a_size_near_the_maximum_fails_and_does_not_wrap),
          TEST(no_bytes_can_be_read_from_nothing),
          TEST(varints_at_every_border_have_their_size_and_come_back),
          TEST(varint_bytes_are_those_of_protobuf),
          TEST(a_varint_cut_short_fails_at_every_length),
          TEST(a_varint_of_more_than_64_bits_fails),
          TEST(a_varint_longer_than_needed_is_read),
          TEST(random_integers_come_back_in_either_byte_order),
          TEST(words_are_taken_one_by_one))
