#include "sim/search/digest_set.h"

#include <string.h>

#define CAPACITY_FIRST UINT64_C(1024)
#define GOLDEN         UINT64_C(0x9e3779b97f4a7c15)
#define ENTRY_SIZE     9u /* a digest and its tag */

#if defined(__GNUC__)
#    define PREFETCH(address) __builtin_prefetch(address)
#else
#    define PREFETCH(address) ((void)0)
#endif

void digest_set_init(struct digest_set *set, const struct allocator *allocator)
{
    *set = (struct digest_set){.allocator = *allocator};
}

static void give(struct digest_set *set)
{
    allocator_give(&set->allocator, set->digests, (size_t)set->capacity * sizeof(*set->digests));
    allocator_give(&set->allocator, set->tags, (size_t)set->capacity);
}

void digest_set_fini(struct digest_set *set)
{
    give(set);
    digest_set_init(set, &set->allocator);
}

/* Where a digest lies, or would lie. A factor spreads digests whose low bits are alike. */
static uint64_t probe(const uint64_t *digests, uint64_t capacity, uint64_t digest)
{
    uint64_t place = (digest * GOLDEN ^ digest >> 32) & (capacity - 1);
    while (digests[place] != 0 && digests[place] != digest) {
        place = (place + 1) & (capacity - 1);
    }
    return place;
}

static enum err grow(struct digest_set *set)
{
    const uint64_t capacity = set->capacity == 0 ? CAPACITY_FIRST : set->capacity * 2;
    uint64_t *digests = allocator_take_zeroed(&set->allocator, (size_t)capacity * sizeof(*digests));
    uint8_t *tags = allocator_take(&set->allocator, (size_t)capacity);
    if (digests == NULL || tags == NULL) {
        allocator_give(&set->allocator, digests, (size_t)capacity * sizeof(*digests));
        allocator_give(&set->allocator, tags, (size_t)capacity);
        return ERR_LIMIT;
    }
    for (uint64_t i = 0; i < set->capacity; i++) {
        if (set->digests[i] != 0) {
            const uint64_t place = probe(digests, capacity, set->digests[i]);
            digests[place] = set->digests[i];
            tags[place] = set->tags[i];
        }
    }
    give(set);
    set->digests = digests;
    set->tags = tags;
    set->capacity = capacity;
    return ERR_OK;
}

static void count(struct digest_set *set, uint8_t tag)
{
    set->count++;
    set->tag_sum += tag;
}

static void add_zero(struct digest_set *set, uint8_t tag, bool *added)
{
    *added = !set->has_zero;
    if (*added) {
        set->has_zero = true;
        set->zero_tag = tag;
        count(set, tag);
    }
}

enum err digest_set_add(struct digest_set *set, uint64_t digest, uint8_t tag, bool *added)
{
    if (digest == 0) {
        add_zero(set, tag, added);
        return ERR_OK;
    }
    if ((set->count + 1) * 4 > set->capacity * 3) {
        const enum err error = grow(set);
        if (error != ERR_OK) {
            return error;
        }
    }
    const uint64_t place = probe(set->digests, set->capacity, digest);
    *added = set->digests[place] == 0;
    if (*added) {
        set->digests[place] = digest;
        set->tags[place] = tag;
        count(set, tag);
    }
    return ERR_OK;
}

bool digest_set_has(const struct digest_set *set, uint64_t digest)
{
    if (digest == 0) {
        return set->has_zero;
    }
    return set->capacity != 0 && set->digests[probe(set->digests, set->capacity, digest)] == digest;
}

void digest_set_prefetch(const struct digest_set *set, uint64_t digest)
{
    if (set->capacity != 0) {
        PREFETCH(&set->digests[(digest * GOLDEN ^ digest >> 32) & (set->capacity - 1)]);
    }
}

/* --- encoded ------------------------------------------------------------------------------------- */

size_t digest_set_encoded_size(const struct digest_set *set)
{
    return sizeof(uint64_t) + (size_t)set->count * ENTRY_SIZE;
}

void digest_set_encode(const struct digest_set *set, struct byte_writer *writer)
{
    byte_writer_u64_le(writer, set->count);
    if (set->has_zero) {
        byte_writer_u64_le(writer, 0);
        byte_writer_u8(writer, set->zero_tag);
    }
    for (uint64_t i = 0; i < set->capacity; i++) {
        if (set->digests[i] != 0) {
            byte_writer_u64_le(writer, set->digests[i]);
            byte_writer_u8(writer, set->tags[i]);
        }
    }
}

enum err digest_set_decode(struct digest_set *set, struct byte_reader *reader)
{
    const uint64_t entries = byte_reader_u64_le(reader);
    if (reader->failed || entries > byte_reader_left(reader) / ENTRY_SIZE) {
        return ERR_TRUNCATED;
    }
    for (uint64_t i = 0; i < entries; i++) {
        bool added = false;
        const uint64_t digest = byte_reader_u64_le(reader);
        const uint8_t tag = byte_reader_u8(reader);
        const enum err error = digest_set_add(set, digest, tag, &added);
        if (error != ERR_OK) {
            return error;
        }
        if (!added) {
            return ERR_INVALID;
        }
    }
    return ERR_OK;
}

enum err digest_set_join(struct digest_set *set, const struct digest_set *other)
{
    bool added = false;
    if (other->has_zero) {
        add_zero(set, other->zero_tag, &added);
    }
    for (uint64_t i = 0; i < other->capacity; i++) {
        if (other->digests[i] != 0) {
            const enum err error = digest_set_add(set, other->digests[i], other->tags[i], &added);
            if (error != ERR_OK) {
                return error;
            }
        }
    }
    return ERR_OK;
}
