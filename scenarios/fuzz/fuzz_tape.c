/* Any bytes are a tape, and a run under any tape keeps what its scenario promises: a violation, a failed
 * check and a crash are findings alike. A violation is told like one of `sinkproof run`, shrunk, and
 * its tape is left as one to keep.
 *
 * What a run did is told to libFuzzer beside the code of the sink that it reached: the marks of world
 * and sink, fault kinds by their number and by the phases of sink and engine in which they fired, and
 * each outcome that was drawn. */
#include "scenarios/fuzz/tape_bench.h"
#include "scenarios/fuzz/target.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

#define SITE_MAX 192u

/* One byte per thing that can happen: how often it did. */
struct behaviour {
    uint8_t marks[MARK_MAX];
    uint8_t phases[MARK_SINKS * 64];
    uint8_t moments[FAULT_KIND_COUNT * 64];
    uint8_t kinds[FAULT_KIND_COUNT];
    uint8_t outcomes[SITE_MAX * CHOICE_MENU_MAX];
};

/* libFuzzer finds it by its section, and clears it before each input. */
IN_SECTION("__libfuzzer_extra_counters") static struct behaviour behaviour;

static void note_bits(uint8_t *counters, const uint64_t *words, uint32_t word_count)
{
    for (uint32_t i = 0; i < word_count; i++) {
        for (uint64_t left = words[i]; left != 0; left &= left - 1) {
            counters[i * 64 + 63 - LEADING_ZEROS(left & (~left + 1))] = 1;
        }
    }
}

static void note_outcome(const struct tape_entry *entry)
{
    const struct choice_registry *registry = catalogue_registry();
    for (uint32_t i = 0; i < registry->site_count && i < SITE_MAX; i++) {
        if (registry->sites[i]->key == entry->key) {
            uint8_t *counter = &behaviour.outcomes[i * CHOICE_MENU_MAX + entry->value];
            *counter = (uint8_t)(*counter + (*counter < UINT8_MAX ? 1 : 0));
            return;
        }
    }
}

static void note_behaviour(const struct world *world)
{
    const struct choice *choice = world->choice;
    note_bits(behaviour.marks, world->marks.bits, MARK_MAX / 64);
    note_bits(behaviour.phases, world->marks.phases, MARK_SINKS);
    note_bits(behaviour.moments, world->marks.moments, FAULT_KIND_COUNT);
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        const uint32_t count = choice->kind_counts[kind];
        behaviour.kinds[kind] = (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
    }
    for (uint32_t i = 0; i < choice->recorded.count; i++) {
        note_outcome(&choice->recorded.entries[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape_bench *bench = tape_bench();
    tape_bench_run(bench, (struct bytes){data, size});
    note_behaviour(bench->runner.world);
    if (tape_bench_finding(bench) != NULL) {
        tape_bench_report(bench);
        abort();
    }
    return 0;
}
