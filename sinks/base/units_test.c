/* Saturation at the edges, exact scaling, checked narrowing.
 * link: sinks/base/units
 */
#include "sinks/base/units.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

static const nanos edges[] = {0,
                              1,
                              2,
                              3,
                              UINT32_MAX - 1,
                              UINT32_MAX,
                              UINT64_C(1) << 32,
                              (UINT64_C(1) << 32) + 1,
                              UINT64_C(1) << 63,
                              (UINT64_C(1) << 63) + 1,
                              TIME_NEVER - 2,
                              TIME_NEVER - 1,
                              TIME_NEVER};

static void unit_macros_are_exact(void **state)
{
    (void)state;
    assert_int_equal(US(7), 7000);
    assert_int_equal(MS(7), 7000000);
    assert_int_equal(SECONDS(7), UINT64_C(7000000000));
    assert_int_equal(MINUTES(2), SECONDS(120));
    assert_int_equal(HOURS(2), MINUTES(120));
    assert_int_equal(DAYS(365), UINT64_C(31536000000000000));
}

/* Compare with the sum's own carry: it wrapped exactly when it is less than an operand. */
static void add_saturates_exactly_when_the_sum_wraps(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(edges); j++) {
            const nanos sum = edges[i] + edges[j];
            assert_true(nanos_add(edges[i], edges[j]) == (sum < edges[i] ? TIME_NEVER : sum));
        }
    }
}

static void sub_saturates_at_zero(void **state)
{
    (void)state;
    assert_true(nanos_sub(5, 3) == 2);
    assert_true(nanos_sub(5, 5) == 0);
    assert_true(nanos_sub(5, 6) == 0);
    assert_true(nanos_sub(0, TIME_NEVER) == 0);
    assert_true(nanos_sub(TIME_NEVER - 1, TIME_NEVER) == 0);
}

static void never_minus_anything_stays_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++) {
        assert_true(nanos_sub(TIME_NEVER, edges[i]) == TIME_NEVER);
    }
}

static void mul_saturates_at_the_first_product_that_does_not_fit(void **state)
{
    (void)state;
    assert_true(nanos_mul(0, UINT64_MAX) == 0);
    assert_true(nanos_mul(TIME_NEVER, 0) == 0);
    assert_true(nanos_mul(TIME_NEVER, 1) == TIME_NEVER);
    assert_true(nanos_mul(UINT32_MAX, UINT32_MAX) == UINT64_C(0xfffffffe00000001));
    assert_true(nanos_mul(UINT64_C(1) << 32, UINT32_MAX) == UINT64_C(0xffffffff00000000));
    assert_true(nanos_mul(UINT64_C(1) << 32, UINT64_C(1) << 32) == TIME_NEVER);
    assert_true(nanos_mul(TIME_NEVER / 3, 3) == TIME_NEVER / 3 * 3);
    assert_true(nanos_mul(TIME_NEVER / 2, 2) == TIME_NEVER - 1);
    assert_true(nanos_mul(TIME_NEVER / 3 + 1, 3) == TIME_NEVER);
}

/* Long multiplication and division bit by bit, as slow and as plain as it gets. */
static nanos scale_bit_by_bit(nanos a, struct ratio ratio)
{
    uint64_t product_high = 0;
    uint64_t product_low = 0;
    for (unsigned bit = 32; bit-- > 0;) {
        product_high = product_high << 1 | product_low >> 63;
        product_low <<= 1;
        if ((ratio.numerator >> bit & 1) != 0) {
            product_low += a;
            product_high += product_low < a;
        }
    }
    uint64_t rest = 0;
    uint64_t quotient = 0;
    for (unsigned bit = 128; bit-- > 0;) {
        const uint64_t limb = bit >= 64 ? product_high : product_low;
        rest = rest << 1 | (limb >> bit % 64 & 1);
        const uint64_t digit = rest >= ratio.denominator;
        rest -= digit * ratio.denominator;
        if (bit >= 64 && digit != 0) {
            return TIME_NEVER;
        }
        quotient = quotient << 1 | digit;
    }
    return quotient;
}

static void scale_agrees_with_long_division_at_the_edges(void **state)
{
    (void)state;
    static const uint32_t parts[] = {1, 2, 3, 7, 65535, 65536, UINT32_MAX - 1, UINT32_MAX};
    for (size_t i = 0; i + 1 < ARRAY_COUNT(edges); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(parts) * ARRAY_COUNT(parts); j++) {
            const struct ratio ratio = {parts[j / ARRAY_COUNT(parts)],
                                        parts[j % ARRAY_COUNT(parts)]};
            assert_true(nanos_scale(edges[i], ratio) == scale_bit_by_bit(edges[i], ratio));
        }
    }
}

static void scale_agrees_with_long_division_on_random_values(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const nanos a = digest_mix(3 * i) >> (i % 64);
        const uint64_t parts = digest_mix(3 * i + 1);
        const struct ratio ratio = {(uint32_t)parts >> (i / 64 % 32),
                                    (uint32_t)(parts >> 32 | 1) >> (i / 2048 % 2)};
        if (ratio.denominator != 0) {
            assert_true(nanos_scale(a, ratio) == scale_bit_by_bit(a, ratio));
        }
    }
}

static void scale_by_an_equal_ratio_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++) {
        assert_true(nanos_scale(edges[i], (struct ratio){UINT32_MAX, UINT32_MAX}) == edges[i]);
    }
}

static void scale_rounds_down(void **state)
{
    (void)state;
    assert_true(nanos_scale(10, (struct ratio){2, 3}) == 6);
    assert_true(nanos_scale(1, (struct ratio){UINT32_MAX - 1, UINT32_MAX}) == 0);
    assert_true(nanos_scale(TIME_NEVER - 1, (struct ratio){1, 2}) == TIME_NEVER / 2);
}

static void never_stays_never_unless_scaled_by_zero(void **state)
{
    (void)state;
    assert_true(nanos_scale(TIME_NEVER, (struct ratio){1, UINT32_MAX}) == TIME_NEVER);
    assert_true(nanos_scale(TIME_NEVER, (struct ratio){0, 1}) == 0);
}

static void scale_by_a_zero_denominator_is_a_check(void **state)
{
    (void)state;
    expect_check_failure((void)nanos_scale(1, (struct ratio){1, 0}));
}

/* Every power of two, one below and one above it. */
static void the_highest_bit_is_the_logarithm_rounded_down(void **state)
{
    (void)state;
    for (uint32_t index = 1; index < 64; index++) {
        const uint64_t power = UINT64_C(1) << index;
        assert_int_equal(highest_bit(power - 1), index - 1);
        assert_int_equal(highest_bit(power), index);
        assert_int_equal(highest_bit(power | 1), index);
    }
    assert_int_equal(highest_bit(UINT64_MAX), 63);
    expect_check_failure((void)highest_bit(0));
}

static void narrowing_keeps_what_fits(void **state)
{
    (void)state;
    assert_int_equal(narrow_u32(UINT32_MAX), UINT32_MAX);
    assert_int_equal(narrow_u16(UINT16_MAX), UINT16_MAX);
    assert_int_equal(narrow_u8(UINT8_MAX), UINT8_MAX);
    assert_int_equal(narrow_u8(0), 0);
}

static void narrowing_what_does_not_fit_is_a_check(void **state)
{
    (void)state;
    expect_check_failure((void)narrow_u32(UINT64_C(1) << 32));
    expect_check_failure((void)narrow_u32(UINT64_MAX));
    expect_check_failure((void)narrow_u16(UINT64_C(1) << 16));
    expect_check_failure((void)narrow_u16(UINT64_C(1) << 32));
    expect_check_failure((void)narrow_u8(UINT64_C(1) << 8));
    expect_check_failure((void)narrow_u8(UINT64_C(1) << 32));
}

TEST_MAIN(units,
          TEST(unit_macros_are_exact),
          TEST(add_saturates_exactly_when_the_sum_wraps),
          TEST(sub_saturates_at_zero),
          TEST(never_minus_anything_stays_never),
          TEST(mul_saturates_at_the_first_product_that_does_not_fit),
          TEST(scale_agrees_with_long_division_at_the_edges),
          TEST(scale_agrees_with_long_division_on_random_values),
          TEST(scale_by_an_equal_ratio_changes_nothing),
          TEST(scale_rounds_down),
          TEST(never_stays_never_unless_scaled_by_zero),
          TEST(scale_by_a_zero_denominator_is_a_check),
          TEST(the_highest_bit_is_the_logarithm_rounded_down),
          TEST(narrowing_keeps_what_fits),
          TEST(narrowing_what_does_not_fit_is_a_check))
