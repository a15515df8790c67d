/* Quantities with units. Instants, durations: unsigned 64-bit nanoseconds of virtual time. */
#ifndef SINKS_BASE_UNITS_H
#define SINKS_BASE_UNITS_H

#include "sinks/base/check.h"

#include <stddef.h>
#include <stdint.h>

typedef uint64_t nanos;

#define TIME_NEVER     UINT64_MAX
#define NANOS_PER_US   UINT64_C(1000)
#define NANOS_PER_MS   UINT64_C(1000000)
#define NANOS_PER_S    UINT64_C(1000000000)
#define US(count)      ((nanos)(count)*NANOS_PER_US)
#define MS(count)      ((nanos)(count)*NANOS_PER_MS)
#define SECONDS(count) ((nanos)(count)*NANOS_PER_S)
#define MINUTES(count) SECONDS((nanos)(count)*60)
#define HOURS(count)   MINUTES((nanos)(count)*60)
#define DAYS(count)    HOURS((nanos)(count)*24)

/* A non-negative ratio; denominator is never 0. */
struct ratio {
    uint32_t numerator;
    uint32_t denominator;
};

/* Add two instants or durations, saturating at TIME_NEVER. */
static inline nanos nanos_add(nanos a, nanos b)
{
    return a > TIME_NEVER - b ? TIME_NEVER : a + b;
}

/* Subtract, saturating at 0. TIME_NEVER - x stays TIME_NEVER. */
static inline nanos nanos_sub(nanos a, nanos b)
{
    if (a == TIME_NEVER) {
        return TIME_NEVER;
    }
    return a < b ? 0 : a - b;
}

/* Multiply a duration by a count, saturating at TIME_NEVER. 0 times TIME_NEVER is 0. */
nanos nanos_mul(nanos a, uint64_t count);

/* Scale a duration by a ratio, rounding down, saturating at TIME_NEVER; the product is exact in 96
 * bits. TIME_NEVER stays TIME_NEVER unless the numerator is 0; a denominator of 0 is a CHECK. */
nanos nanos_scale(nanos a, struct ratio ratio);

/* Index of the highest set bit, which is the logarithm to base 2 rounded down; value is not 0. */
static inline uint32_t highest_bit(uint64_t value)
{
    CHECK(value != 0);
#ifdef LEADING_ZEROS
    return 63 - LEADING_ZEROS(value);
#else
    uint32_t index = 0;
    while (value > 1) {
        value >>= 1;
        index++;
    }
    return index;
#endif
}

/* Narrow to 32, 16 or 8 bits; CHECKs that the value fits. */
static inline uint32_t narrow_u32(uint64_t value)
{
    CHECK(value <= UINT32_MAX);
    return (uint32_t)value;
}

static inline uint16_t narrow_u16(uint64_t value)
{
    CHECK(value <= UINT16_MAX);
    return (uint16_t)value;
}

static inline uint8_t narrow_u8(uint64_t value)
{
    CHECK(value <= UINT8_MAX);
    return (uint8_t)value;
}

#endif
