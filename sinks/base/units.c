#include "sinks/base/units.h"

nanos nanos_mul(nanos a, uint64_t count)
{
    if (count != 0 && a > TIME_NEVER / count) {
        return TIME_NEVER;
    }
    return a * count;
}

/* The product has 96 bits, so it is made and divided in limbs of 32 bits. */
nanos nanos_scale(nanos a, struct ratio ratio)
{
    CHECK(ratio.denominator != 0);
    if (a == TIME_NEVER && ratio.numerator != 0) {
        return TIME_NEVER;
    }
    const uint64_t low = (a & UINT32_MAX) * ratio.numerator;
    const uint64_t high = (a >> 32) * ratio.numerator + (low >> 32);
    const uint64_t quotient_high = high / ratio.denominator;
    const uint64_t rest = high % ratio.denominator;
    if (quotient_high > UINT32_MAX) {
        return TIME_NEVER;
    }
    const uint64_t quotient_low = ((rest << 32) | (low & UINT32_MAX)) / ratio.denominator;
    CHECK(quotient_low <= UINT32_MAX);
    return (quotient_high << 32) | quotient_low;
}
