/* Any bytes are a tape, and a run under any tape keeps what its scenario promises: a violation, a
 * failed check and a crash are findings alike. The run's tape is printed as text, which
 * `sinkproof replay` and `sinkproof shrink` take.
 *
 * Bytes decide what a run meets only where their entries name draws that the run makes. So the mutator
 * works on entries, and takes what it adds from what the run so far was offered.
 *
 * SCENARIO in the environment names another scenario than the small one; its corpus is another, too. */
#include "scenarios/fuzz/target.h"
#include "scenarios/scenario.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"
#include "sinks/base/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO_DEFAULT "cloudtasks/exactly-once-small"
#define ENTRIES_MAX      64u
#define ENTRY_SIZE       8u
#define OFFERS_MAX       4096u
#define TEXT_SIZE        32768u

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                 size_t first_size,
                                 const uint8_t *second,
                                 size_t second_size,
                                 uint8_t *out,
                                 size_t max_out_size,
                                 unsigned int seed);

struct bench {
    struct scenario *scenario;
    struct runner runner;
    struct result result;
    struct tape_entry entries[ENTRIES_MAX];
    struct tape tape;
};

/* The one place where a target may keep something: libFuzzer passes no context. Each input makes a run
 * of its own in the arena; only the scenario, which is read-only, is made once. */
static struct bench *the_bench(void)
{
    static struct bench *bench = NULL;
    if (bench != NULL) {
        return bench;
    }
    const char *named = getenv("SCENARIO");
    const char *name = named == NULL || named[0] == '\0' ? SCENARIO_DEFAULT : named;
    const struct scenario_options options = {.name = name};
    struct scenario_fault fault;
    bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    if (scenario_load(name, &options, &bench->scenario, &fault) != ERR_OK) {
        (void)fprintf(stderr, "%s\n", fault.message);
        exit(1);
    }
    CHECK(bench->scenario->expectation == EXPECT_HOLDS);
    const size_t cap = bench->scenario->config.arena_soft_cap;
    const size_t size = (cap > 0 ? cap : (size_t)8 << 20) + RUN_HEADROOM;
    void *memory = aligned_alloc(16, size);
    CHECK(memory != NULL);
    runner_init(&bench->runner, memory, size);
    bench->tape = (struct tape){.entries = bench->entries, .capacity = ENTRIES_MAX};
    return bench;
}

static void run(struct bench *bench, uint32_t offer_capacity)
{
    const struct run_request request = {
        .choice = {.mode = CHOICE_REPLAY, .tape = &bench->tape, .offer_capacity = offer_capacity}};
    runner_run(&bench->runner, &bench->scenario->config, &request, &bench->result);
}

NORETURN static void report(const struct bench *bench)
{
    uint8_t *text = malloc(TEXT_SIZE);
    struct byte_writer writer;
    CHECK(text != NULL);
    struct tape_header header = {.profile = ""};
    (void)snprintf(header.scenario, sizeof header.scenario, "%s", bench->scenario->name);
    byte_writer_init(&writer, text, TEXT_SIZE);
    tape_write_text(&bench->result.tape, &header, catalogue_registry(), &writer);
    for (uint32_t i = 0; i < bench->result.finding_count; i++) {
        const struct result_finding *found = &bench->result.findings[i];
        (void)fprintf(
            stderr, "broken: %s: %s\n", oracle_types[found->oracle]->name, found->finding.message);
    }
    const struct bytes view = byte_writer_view(&writer);
    (void)fwrite(view.data, 1, view.size, stderr);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench *bench = the_bench();
    bench->tape.count = 0;
    tape_read_fuzz((struct bytes){data, size}, catalogue_registry(), &bench->tape);
    run(bench, 0);
    if (bench->result.finding_count > 0) {
        report(bench);
    }
    CHECK(bench->result.verdict != RUN_REFUSED);
    return 0;
}

/* --- the mutator ------------------------------------------------------------------------------- */

/* A number below bound from a generator that is only its state. */
static uint32_t pick(uint64_t *random, uint32_t bound)
{
    *random = digest_mix(*random + 1);
    return bound == 0 ? 0 : (uint32_t)(*random >> 32) % bound;
}

/* A random outcome of an offer but the calm one; 0 when there is none. */
static uint8_t outcome_of(const struct choice_offer *offer, uint64_t *random)
{
    const uint32_t first = pick(random, CHOICE_MENU_MAX);
    for (uint32_t i = 0; i < CHOICE_MENU_MAX; i++) {
        const uint32_t value = (first + i) % CHOICE_MENU_MAX;
        if (value > 0 && (offer->mask >> value & 1) != 0) {
            return (uint8_t)value;
        }
    }
    return 0;
}

static bool is_on(const struct tape *tape, const struct choice_offer *offer)
{
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];
        if (entry->key == offer->key && entry->lane == offer->lane &&
            entry->ordinal == offer->ordinal) {
            return true;
        }
    }
    return false;
}

/* Add one more deviation from what the run under this tape was offered. */
static void add_entry(struct bench *bench, uint64_t *random)
{
    struct tape *tape = &bench->tape;
    run(bench, OFFERS_MAX);
    const struct choice *choice = bench->runner.world->choice;
    const uint32_t count = choice->offer_count < OFFERS_MAX ? choice->offer_count : OFFERS_MAX;
    const uint32_t first = pick(random, count);
    for (uint32_t i = 0; i < count && tape->count < tape->capacity; i++) {
        const struct choice_offer *offer = &choice->offers[(first + i) % count];
        const struct choice_site *site = choice_site_by_key(catalogue_registry(), offer->key);
        const uint8_t value = outcome_of(offer, random);
        if (value > 0 && !is_on(tape, offer)) {
            tape->entries[tape->count] = (struct tape_entry){.key = offer->key,
                                                             .lane = offer->lane,
                                                             .ordinal = offer->ordinal,
                                                             .bound = (uint8_t)site->outcome_count,
                                                             .value = value};
            tape->count++;
            return;
        }
    }
}

static void remove_entry(struct tape *tape, uint64_t *random)
{
    if (tape->count > 0) {
        const uint32_t place = pick(random, tape->count);
        tape->count--;
        memmove(&tape->entries[place],
                &tape->entries[place + 1],
                (tape->count - place) * sizeof *tape->entries);
    }
}

/* Another outcome, or the same one draw earlier or later. */
static void change_entry(struct tape *tape, uint64_t *random)
{
    if (tape->count == 0) {
        return;
    }
    struct tape_entry *entry = &tape->entries[pick(random, tape->count)];
    const uint32_t how = pick(random, 3);
    if (how == 0) {
        entry->value = (uint8_t)(1 + pick(random, entry->bound - 1u));
    } else if (how == 1) {
        entry->ordinal++;
    } else if (entry->ordinal > 0) {
        entry->ordinal--;
    }
}

/* Write the tape; its size in bytes. */
static size_t write_tape(const struct tape *tape, uint8_t *out, size_t max_size)
{
    struct tape fitting = *tape;
    const size_t entries_max = max_size / ENTRY_SIZE;
    fitting.count = fitting.count < entries_max ? fitting.count : (uint32_t)entries_max;
    struct byte_writer writer;
    byte_writer_init(&writer, out, max_size);
    tape_write_fuzz(&fitting, catalogue_registry(), &writer);
    return writer.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct bench *bench = the_bench();
    uint64_t random = seed;
    bench->tape.count = 0;
    tape_read_fuzz((struct bytes){data, size}, catalogue_registry(), &bench->tape);
    switch (pick(&random, 5)) {
    case 0:
        remove_entry(&bench->tape, &random);
        break;
    case 1:
        change_entry(&bench->tape, &random);
        break;
    default:
        add_entry(bench, &random);
        break;
    }
    return write_tape(&bench->tape, data, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                 size_t first_size,
                                 const uint8_t *second,
                                 size_t second_size,
                                 uint8_t *out,
                                 size_t max_out_size,
                                 unsigned int seed)
{
    /* A head of the one and a tail of the other, in whole entries. */
    uint64_t random = seed;
    const size_t head = pick(&random, (uint32_t)(first_size / ENTRY_SIZE) + 1) * (size_t)ENTRY_SIZE;
    const size_t skipped =
        pick(&random, (uint32_t)(second_size / ENTRY_SIZE) + 1) * (size_t)ENTRY_SIZE;
    const size_t from_first = head < max_out_size ? head : max_out_size;
    const size_t left = max_out_size - from_first;
    const size_t from_second = second_size - skipped < left ? second_size - skipped : left;
    memcpy(out, first, from_first);
    memcpy(out + from_first, second + skipped, from_second);
    return from_first + from_second;
}
