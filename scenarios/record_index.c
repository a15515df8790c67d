#include "scenarios/record_index.h"

#include "scenarios/scenario_reader.h"

enum err record_index_init(struct reader *reader, uint32_t entries, struct record_index *index)
{
    CHECK(entries <= UINT32_MAX / 4);
    uint32_t slots = 8;
    while (slots < 2 * entries) {
        slots *= 2;
    }
    *index = (struct record_index){
        .entries = scenario_take(reader->memory, (entries + 1) * sizeof(*index->entries)),
        .slots = scenario_take(reader->memory, slots * sizeof(*index->slots)),
        .slot_count = slots,
        .count_max = entries,
    };
    return index->entries == NULL || index->slots == NULL ? reader_out_of_memory(reader) : ERR_OK;
}

/* The slot that leads to the digest, or the empty one where it belongs. At most half of the slots are
 * taken, so the walk ends. */
static uint32_t slot_of(const struct record_index *index, uint64_t digest)
{
    const uint32_t mask = index->slot_count - 1;
    uint32_t slot = (uint32_t)digest & mask;
    while (index->slots[slot] != 0 && index->entries[index->slots[slot] - 1].digest != digest) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

bool record_index_add(struct record_index *index, uint64_t digest, record_id record)
{
    CHECK(record != 0);
    const uint32_t slot = slot_of(index, digest);
    if (index->slots[slot] != 0) {
        return false;
    }
    CHECK(index->count < index->count_max);
    index->entries[index->count] = (struct record_index_entry){digest, record};
    index->count++;
    index->slots[slot] = index->count;
    return true;
}

/* The entry behind one that was found before, if it is the one; 0 none. A guess that fails costs no
 * more than a look at a neighbour of what was looked at before. */
static uint32_t guessed(const struct record_index *index, uint64_t digest, uint32_t *guess)
{
    const uint32_t at = *guess;
    if (at >= index->count || index->entries[at].digest != digest) {
        return 0;
    }
    *guess = at + 1;
    return at + 1;
}

record_id
record_index_find(const struct record_index *index, uint64_t digest, struct world_guesses *guesses)
{
    for (uint32_t i = 0; i < WORLD_GUESS_COUNT; i++) {
        const uint32_t number = guessed(index, digest, &guesses->at[i]);
        if (number != 0) {
            return index->entries[number - 1].record;
        }
    }
    const uint32_t number = index->slots[slot_of(index, digest)];
    if (number == 0) {
        return 0;
    }
    guesses->at[guesses->oldest] = number;
    guesses->oldest = (guesses->oldest + 1) % WORLD_GUESS_COUNT;
    return index->entries[number - 1].record;
}
