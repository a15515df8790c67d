/* XXH3 known values over every length path, and the integer chain.
 * link: sinks/base/digest
 */
#include "sinks/base/digest.h"

#include "sinks/base/test.h"

/* The buffer of xxHash's own sanity test. */
static void fill_sanity_buffer(uint8_t *data, size_t size)
{
    uint64_t generator = UINT64_C(2654435761);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(generator >> 56);
        generator *= UINT64_C(11400714785074694797);
    }
}

/* The published vectors of XXH3-64, seed 0: each length takes another path of the algorithm. */
static void xxh3_gives_the_published_values(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t digest;
    } vectors[] = {
        {0, UINT64_C(0x2d06800538d394c2)},
        {1, UINT64_C(0xc44bdff4074eecdb)},
        {6, UINT64_C(0x27b56a84cd2d7325)},
        {12, UINT64_C(0xa713daf0dfbb77e7)},
        {24, UINT64_C(0xa3fe70bf9d3510eb)},
        {48, UINT64_C(0x397da259ecba1f11)},
        {80, UINT64_C(0xbcdefbbb2c47c90a)},
        {195, UINT64_C(0xcd94217ee362ec3a)},
        {403, UINT64_C(0xcdeb804d65c6dea4)},
        {512, UINT64_C(0x617e49599013cb6b)},
        {2048, UINT64_C(0xdd59e2c3a5f038e0)},
        {2240, UINT64_C(0x6e73a90539cf2948)},
        {2367, UINT64_C(0xcb37aeb9e5d361ed)},
    };
    uint8_t data[2367];
    fill_sanity_buffer(data, sizeof(data));
    for (size_t i = 0; i < ARRAY_COUNT(vectors); i++) {
        assert_true(digest_bytes((struct bytes){data, vectors[i].size}) == vectors[i].digest);
    }
}

static void no_bytes_without_a_pointer_digest_like_an_empty_text(void **state)
{
    (void)state;
    assert_true(digest_bytes((struct bytes){0}) == digest_bytes(BYTES_LITERAL("")));
}

/* The digest must not depend on where the bytes lie. */
static void the_digest_does_not_depend_on_alignment(void **state)
{
    (void)state;
    uint8_t data[300];
    for (size_t shift = 0; shift < 33; shift++) {
        fill_sanity_buffer(data + shift, 195);
        assert_true(digest_bytes((struct bytes){data + shift, 195}) ==
                    UINT64_C(0xcd94217ee362ec3a));
    }
}

static void the_checksum_is_the_low_half_of_the_digest(void **state)
{
    (void)state;
    assert_int_equal(digest_checksum((struct bytes){0}), 0x38d394c2);
}

static void every_single_bit_changes_the_checksum(void **state)
{
    (void)state;
    uint8_t data[64];
    fill_sanity_buffer(data, sizeof(data));
    const struct bytes frame = {data, sizeof(data)};
    const uint32_t checksum = digest_checksum(frame);
    for (size_t bit = 0; bit < 8 * sizeof(data); bit++) {
        data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_not_equal(digest_checksum(frame), checksum);
        data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    assert_int_equal(digest_checksum(frame), checksum);
}

/* Undo an xor-shift to the right by repeating it until nothing is shifted in. */
static uint64_t undo_xor_shift(uint64_t value, unsigned shift)
{
    uint64_t result = value;
    for (unsigned done = shift; done < 64; done += shift) {
        result = value ^ result >> shift;
    }
    return result;
}

/* The inverse of an odd factor modulo 2^64, by Newton's iteration. */
static uint64_t inverse_of(uint64_t factor)
{
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++) {
        inverse *= 2 - factor * inverse;
    }
    return inverse;
}

static uint64_t unfold(uint64_t folded, uint64_t other)
{
    uint64_t mixed = undo_xor_shift(folded, 29) * inverse_of(UINT64_C(0xd6e8feb86659fd93));
    mixed = undo_xor_shift(mixed, 32) * inverse_of(UINT64_C(0x9e3779b97f4a7c15));
    return (mixed - UINT64_C(0x632be59bd9b4e019)) ^ other;
}

/* Compute the inverse: what can be undone is a bijection. */
static void fold_can_be_undone_in_each_argument(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        const uint64_t digest = digest_mix(i);
        const uint64_t value = i % 3 == 0 ? i : digest_mix(~i);
        const uint64_t folded = digest_fold(digest, value);
        assert_true(unfold(folded, digest) == value);
        assert_true(unfold(folded, value) == digest);
    }
}

static void fold_counts_leading_zeros(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t longer = digest_fold(digest, 0);
        assert_true(longer != digest);
        assert_true(longer != 0);
        digest = longer;
    }
}

static void fold_depends_on_order(void **state)
{
    (void)state;
    assert_true(digest_fold(digest_fold(0, 1), 2) != digest_fold(digest_fold(0, 2), 1));
}

/* A golden value: traces of different builds must agree on it. */
static void fold_and_mix_give_the_same_on_every_build(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint64_t i = 0; i < 100; i++) {
        digest = digest_fold(digest, digest_mix(i));
    }
    assert_true(digest == UINT64_C(0x4651316be3f8f9c4));
}

/* The first output of SplitMix64 from seed 0. */
static void mix_is_the_finaliser_of_splitmix64(void **state)
{
    (void)state;
    assert_true(digest_mix(UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0xe220a8397b1dcdaf));
}

TEST_MAIN(digest,
          TEST(xxh3_gives_the_published_values),
          TEST(no_bytes_without_a_pointer_digest_like_an_empty_text),
          TEST(the_digest_does_not_depend_on_alignment),
          TEST(the_checksum_is_the_low_half_of_the_digest),
          TEST(every_single_bit_changes_the_checksum),
          TEST(fold_can_be_undone_in_each_argument),
          TEST(fold_counts_leading_zeros),
          TEST(fold_depends_on_order),
          TEST(fold_and_mix_give_the_same_on_every_build),
          TEST(mix_is_the_finaliser_of_splitmix64))
