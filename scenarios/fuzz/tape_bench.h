/* Where the tape fuzzer makes its runs: one scenario that is expected to hold, one arena, run after run.
 * SCENARIO in the environment names it, and ORACLE the one oracle whose violations count; without it all
 * of the scenario's do. */
#ifndef SCENARIOS_FUZZ_TAPE_BENCH_H
#define SCENARIOS_FUZZ_TAPE_BENCH_H

#include "scenarios/scenario.h"

#include <stddef.h>
#include <stdint.h>

#define TAPE_BENCH_ENTRIES 64u
#define TAPE_BENCH_OFFERS  4096u

struct tape_bench {
    struct scenario *scenario;
    struct runner runner;
    struct result result;
    uint64_t oracles; /* bit per oracle whose violations count */
    struct tape_entry entries[TAPE_BENCH_ENTRIES];
    struct tape tape; /* of the last input */
    uint64_t ran;     /* digest of the input that the arena holds the run of */
    bool has_run;
    uint64_t executions; /* runs so far, those of the mutator included */
};

/* The one bench of the process: libFuzzer passes no context. */
struct tape_bench *tape_bench(void);

/* Make the run of an input. What it was offered stays in the world's choices until the next run. */
void tape_bench_run(struct tape_bench *bench, struct bytes input);

/* The same, unless it is the run that was made last. */
void tape_bench_want(struct tape_bench *bench, struct bytes input);

/* The first violation of the last run that counts, or NULL. */
const struct result_finding *tape_bench_finding(const struct tape_bench *bench);

/* Tell the finding of the last run, which has one, shrunk, in at most twelve lines on standard error, and leave its
 * tape as one to keep in the folder that FOUND names in the environment, or here. */
void tape_bench_report(struct tape_bench *bench);

#endif
