#include "scenarios/record_index.h"

#include "scenarios/scenario_reader.h"

/* A digest of 0 is as good as any other; it shares its slot value with 1. */
static uint64_t stored_digest(uint64_t digest)
{
    return digest == 0 ? 1 : digest;
}

enum err record_index_init(struct reader *reader, uint32_t entries, struct record_index *index)
{
    CHECK(entries <= UINT32_MAX / 4);
    uint32_t slots = 8;
    while (slots < 2 * entries) {
        slots *= 2;
    }
    index->digests = scenario_take(reader->memory, slots * sizeof(uint64_t));
    index->records = scenario_take(reader->memory, slots * sizeof(record_id));
    index->slot_count = slots;
    return index->digests == NULL || index->records == NULL ? reader_out_of_memory(reader) : ERR_OK;
}

/* The slot that has the digest, or the empty one where it belongs. At most half of the slots are
 * taken, so the walk ends. */
static uint32_t slot_of(const struct record_index *index, uint64_t digest)
{
    const uint32_t mask = index->slot_count - 1;
    uint32_t slot = (uint32_t)digest & mask;
    while (index->digests[slot] != 0 && index->digests[slot] != digest) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

bool record_index_add(struct record_index *index, uint64_t digest, record_id record)
{
    CHECK(record != 0);
    const uint64_t stored = stored_digest(digest);
    const uint32_t slot = slot_of(index, stored);
    if (index->digests[slot] != 0) {
        return false;
    }
    index->digests[slot] = stored;
    index->records[slot] = record;
    return true;
}

record_id record_index_find(const struct record_index *index, uint64_t digest)
{
    return index->records[slot_of(index, stored_digest(digest))];
}
