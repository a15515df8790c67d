/* The fuzzer's form of a tape. */
#include "sim/tape.h"
#include "sinks/base/check.h"

#define FUZZ_ENTRY_SIZE    8
#define FUZZ_ORDINAL_COUNT (UINT32_C(1) << 24)

/* A lane that exists keeps its bytes; other kinds are folded onto those. */
static lane fuzz_lane(uint32_t raw)
{
    const uint32_t kind = raw >> 11;
    const bool known = kind > LANE_NONE && kind < LANE_KIND_COUNT;

    return lane_make((enum lane_kind)(known ? kind : 1 + kind % (LANE_KIND_COUNT - 1)),
                     raw & LANE_INDEX_MAX);
}

void tape_read_fuzz(struct bytes source, const struct choice_registry *registry, struct tape *tape)
{
    struct byte_reader reader;

    byte_reader_init(&reader, source);
    tape->count = 0;
    while (registry->site_count > 0 && tape->count < tape->capacity &&
           byte_reader_left(&reader) >= FUZZ_ENTRY_SIZE) {
        const uint32_t head = byte_reader_u32_le(&reader);
        const uint32_t tail = byte_reader_u32_le(&reader);
        const uint16_t key = (uint16_t)(head & UINT16_MAX);
        const struct choice_site *site = choice_site_by_key(registry, key);
        struct tape_entry entry = {0};

        if (site == NULL) {
            site = registry->sites[key % registry->site_count];
        }
        entry.key = site->key;
        entry.lane = fuzz_lane(head >> 16);
        entry.ordinal = tail & (FUZZ_ORDINAL_COUNT - 1);
        entry.bound = (uint8_t)site->outcome_count;
        entry.value = (uint8_t)((tail >> 24) % site->outcome_count);
        if (entry.value != 0 && tape_find(tape, &entry) == NULL) {
            tape->entries[tape->count] = entry;
            tape->count++;
        }
    }
}

void tape_write_fuzz(const struct tape *tape,
                     const struct choice_registry *registry,
                     struct byte_writer *writer)
{
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];

        CHECK(choice_site_by_key(registry, entry->key) != NULL);
        if (entry->ordinal < FUZZ_ORDINAL_COUNT) {
            byte_writer_u32_le(writer, entry->key | (uint32_t)entry->lane << 16);
            byte_writer_u32_le(writer, entry->ordinal | (uint32_t)entry->value << 24);
        }
    }
}
