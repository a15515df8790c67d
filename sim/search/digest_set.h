/* A set of 64-bit digests: what an exploration has seen. Whole digests are kept and compared, none of
 * their bits is dropped: with fewer bits, different things soon count as one (a set of 2^25 digests
 * of 64 bits misses one with a chance of one in 2^15; with 32 bits it would miss thousands).
 *
 * Each digest carries a tag that its first arrival brought, for sums over what is distinct. */
#ifndef SIM_SEARCH_DIGEST_SET_H
#define SIM_SEARCH_DIGEST_SET_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct digest_set {
    uint64_t count;   /* read */
    uint64_t tag_sum; /* read */
    /* private */
    struct allocator allocator;
    uint64_t *digests; /* open addressing, at most three quarters full; 0 marks an empty place */
    uint8_t *tags;
    uint64_t capacity; /* 0 or a power of two */
    bool has_zero;     /* the digest that is 0 itself */
    uint8_t zero_tag;
};

/* Prepare an empty set; memory comes from the allocator as it grows. */
void digest_set_init(struct digest_set *set, const struct allocator *allocator);
void digest_set_fini(struct digest_set *set);

/* Add a digest; *added tells whether it is new. A tag of what is known already is ignored. ERR_OK or
 * ERR_LIMIT (no memory; the set is unchanged). Amortised O(1). */
MUST_USE enum err digest_set_add(struct digest_set *set, uint64_t digest, uint8_t tag, bool *added);

bool digest_set_has(const struct digest_set *set, uint64_t digest);

/* Bring a place into the caches that digest_set_add will look at soon. */
void digest_set_prefetch(const struct digest_set *set, uint64_t digest);

/* Bytes of the encoded form, and that form, in no order that means anything. */
size_t digest_set_encoded_size(const struct digest_set *set);
void digest_set_encode(const struct digest_set *set, struct byte_writer *writer);

/* Add all digests of an encoded set. ERR_OK, ERR_TRUNCATED, ERR_INVALID (a digest twice), ERR_LIMIT;
 * after an error the set holds a part of them. */
MUST_USE enum err digest_set_decode(struct digest_set *set, struct byte_reader *reader);

/* Add all digests of another set. ERR_OK or ERR_LIMIT. */
MUST_USE enum err digest_set_join(struct digest_set *set, const struct digest_set *other);

#endif
