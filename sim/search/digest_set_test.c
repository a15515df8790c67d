/* The set of digests: what is in it, what it does without memory, and its encoded form.
 * link: sim/search/digest_set sinks/base/allocator sinks/base/bytes
 */
#include "sim/search/digest_set.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>

#define MANY 100000u

static bool add(struct digest_set *set, uint64_t digest, uint8_t tag)
{
    bool added = false;
    assert_int_equal(digest_set_add(set, digest, tag, &added), ERR_OK);
    return added;
}

/* Digests that differ in their high bits only, in their low bits only, and all over. */
static uint64_t digest_number(uint32_t number)
{
    switch (number % 3) {
    case 0:
        return (uint64_t)number << 40;
    case 1:
        return number;
    default:
        return digest_mix(number);
    }
}

static void each_digest_is_new_once(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct digest_set set;
    digest_set_init(&set, &allocator);
    uint64_t tags = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        assert_false(digest_set_has(&set, digest_number(i)));
        assert_true(add(&set, digest_number(i), (uint8_t)i));
        tags += (uint8_t)i;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(digest_set_has(&set, digest_number(i)));
        assert_false(add(&set, digest_number(i), 77));
    }
    assert_int_equal(set.count, MANY);
    assert_int_equal(set.tag_sum, tags);
    digest_set_fini(&set);
    assert_int_equal(memory.live, 0);
}

/* Goal: no bit of a digest is left out. Method: digests that differ in one bit from each other. */
static void every_bit_counts(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    struct digest_set set;
    digest_set_init(&set, &allocator);
    for (uint32_t bit = 0; bit < 64; bit++) {
        assert_true(add(&set, UINT64_C(0x5a5a5a5a5a5a5a5a) ^ UINT64_C(1) << bit, 0));
    }
    assert_true(add(&set, 0, 0));
    assert_int_equal(set.count, 65);
    digest_set_fini(&set);
}

static void without_memory_the_set_stays_as_it_is(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct digest_set set;
    digest_set_init(&set, &allocator);
    uint32_t number = 1;
    for (; number < 700; number++) {
        assert_true(add(&set, number, 1));
    }
    uint32_t refused = 0;
    for (uint32_t ahead = 1; ahead <= 2; ahead++) {
        bool added = false;
        enum err error = ERR_OK;
        memory.fail_at = memory.calls + ahead;
        while (error == ERR_OK && number < MANY) {
            error = digest_set_add(&set, number, 1, &added);
            number += error == ERR_OK ? 1 : 0;
        }
        assert_int_equal(error, ERR_LIMIT);
        refused++;
        memory.fail_at = 0;
        assert_int_equal(set.count, number - 1);
        assert_true(digest_set_has(&set, number - 1));
        assert_false(digest_set_has(&set, number));
    }
    assert_int_equal(refused, 2);
    digest_set_fini(&set);
    assert_int_equal(memory.live, 0);
}

static struct bytes encode(const struct digest_set *set)
{
    const size_t size = digest_set_encoded_size(set);
    uint8_t *data = malloc(size);
    assert_non_null(data);
    struct byte_writer writer;
    byte_writer_init(&writer, data, size);
    digest_set_encode(set, &writer);
    assert_false(writer.overflowed);
    assert_int_equal(writer.size, size);
    return (struct bytes){data, size};
}

static void give(struct bytes bytes)
{
    uint8_t *data = NULL;
    memcpy(&data, &bytes.data, sizeof data);
    free(data);
}

static void what_was_encoded_comes_back(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    struct digest_set set;
    struct digest_set back;
    digest_set_init(&set, &allocator);
    digest_set_init(&back, &allocator);
    for (uint32_t i = 0; i < 5000; i++) {
        (void)add(&set, digest_number(i), (uint8_t)i);
    }
    const struct bytes encoded = encode(&set);
    struct byte_reader reader;
    byte_reader_init(&reader, encoded);
    assert_int_equal(digest_set_decode(&back, &reader), ERR_OK);
    assert_int_equal(byte_reader_left(&reader), 0);
    assert_int_equal(back.count, set.count);
    assert_int_equal(back.tag_sum, set.tag_sum);
    assert_int_equal(digest_set_join(&back, &set), ERR_OK);
    assert_int_equal(back.count, set.count);
    give(encoded);
    digest_set_fini(&set);
    digest_set_fini(&back);
}

static void a_cut_or_doubled_encoding_is_refused(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    struct digest_set set;
    digest_set_init(&set, &allocator);
    (void)add(&set, 0, 1);
    (void)add(&set, 5, 2);
    (void)add(&set, 9, 3);
    const struct bytes encoded = encode(&set);
    for (size_t size = 0; size < encoded.size; size++) {
        struct digest_set back;
        struct byte_reader reader;
        digest_set_init(&back, &allocator);
        byte_reader_init(&reader, (struct bytes){encoded.data, size});
        assert_int_equal(digest_set_decode(&back, &reader), ERR_TRUNCATED);
        digest_set_fini(&back);
    }
    struct byte_reader reader;
    byte_reader_init(&reader, encoded);
    assert_int_equal(digest_set_decode(&set, &reader), ERR_INVALID);
    give(encoded);
    digest_set_fini(&set);
}

TEST_MAIN(digest_set,
          TEST(each_digest_is_new_once),
          TEST(every_bit_counts),
          TEST(without_memory_the_set_stays_as_it_is),
          TEST(what_was_encoded_comes_back),
          TEST(a_cut_or_doubled_encoding_is_refused))
