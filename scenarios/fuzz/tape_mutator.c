/* The tape fuzzer's own mutator and crossover; linked into fuzz_tape, and left out of fuzz_tape_plain,
 * which has libFuzzer's. */
#include "scenarios/fuzz/tape_bench.h"
#include "scenarios/fuzz/tape_moves.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"
#include "sim/world.h"

/* Of four crossovers that libFuzzer asks for, three are left to the mutator: it asks for both alike. */
#define CROSSOVER_ONE_IN 4

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                 size_t first_size,
                                 const uint8_t *second,
                                 size_t second_size,
                                 uint8_t *out,
                                 size_t max_out_size,
                                 unsigned int seed);

/* Write what fits of the tape; its size in bytes. */
static size_t write_tape(const struct tape *tape, uint8_t *out, size_t max_size)
{
    struct tape fitting = *tape;
    struct byte_writer writer;
    for (;; fitting.count--) {
        byte_writer_init(&writer, out, max_size);
        tape_write_fuzz(&fitting, catalogue_registry(), &writer);
        if (!writer.overflowed) {
            return writer.size;
        }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct tape_bench *bench = tape_bench();
    const struct bytes input = {data, size};
    struct tape_entry entries[TAPE_BENCH_ENTRIES];
    struct tape tape = {.entries = entries, .capacity = TAPE_BENCH_ENTRIES};
    tape_bench_want(bench, input);
    tape_read_fuzz(input, catalogue_registry(), &tape);
    const struct choice *choice = bench->runner.world->choice;
    struct tape_moves moves = {
        .tape = &tape,
        .recorded = &choice->recorded,
        .offers = choice->offers,
        .offer_count =
            choice->offer_count < TAPE_BENCH_OFFERS ? choice->offer_count : TAPE_BENCH_OFFERS,
        .registry = catalogue_registry(),
        .random = seed,
    };
    tape_moves_any(&moves);
    return write_tape(&tape, data, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                 size_t first_size,
                                 const uint8_t *second,
                                 size_t second_size,
                                 uint8_t *out,
                                 size_t max_out_size,
                                 unsigned int seed)
{
    struct tape_entry entries[2][TAPE_BENCH_ENTRIES];
    struct tape tape = {.entries = entries[0], .capacity = TAPE_BENCH_ENTRIES};
    struct tape other = {.entries = entries[1], .capacity = TAPE_BENCH_ENTRIES};
    struct tape_moves moves = {.tape = &tape, .registry = catalogue_registry(), .random = seed};
    if (tape_moves_pick(&moves, CROSSOVER_ONE_IN) != 0) {
        return 0;
    }
    tape_read_fuzz((struct bytes){first, first_size}, catalogue_registry(), &tape);
    tape_read_fuzz((struct bytes){second, second_size}, catalogue_registry(), &other);
    tape_moves_splice(&moves, &other);
    return write_tape(&tape, out, max_out_size);
}
