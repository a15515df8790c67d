/* Digests: XXH3 for bytes (also the checksum of persisted frames) and a cheap integer chain for
 * traces. Equal on every compiler, word size and byte order. */
#ifndef SINKS_BASE_DIGEST_H
#define SINKS_BASE_DIGEST_H

#include "sinks/base/bytes.h"

#include <stdint.h>

/* XXH3-64 of bytes, seed 0. */
uint64_t digest_bytes(struct bytes source);

/* Low 32 bits of digest_bytes: the checksum of persisted frames. */
uint32_t digest_checksum(struct bytes source);

/* Fold one value into a running digest: a bijection in each argument (xor, odd factors,
 * xor-shifts), so no single change is lost. Start from 0; the sum keeps leading
 * zeros from being lost. */
static inline uint64_t digest_fold(uint64_t digest, uint64_t value)
{
    uint64_t mixed =
        ((digest ^ value) + UINT64_C(0x632be59bd9b4e019)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xd6e8feb86659fd93);
    return mixed ^ (mixed >> 29);
}

/* Mix a 64-bit value into a well-distributed one (the finaliser of SplitMix64, public domain). */
static inline uint64_t digest_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

#endif
