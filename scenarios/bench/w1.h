/* Reference workload W1 "rpc-timers-crash", and the bare pop-push loop beside it.
 *
 * W1 is defined to the bit, so that any simulator can run it and must print the same results: S
 * subtasks send R records each through a window of K requests to a service that may lose a request
 * or its answer or be unavailable; deadlines, retries with backoff, checkpoints with barriers, and
 * one crash with a restore from the last checkpoint. It runs here on the simulator's own clock,
 * scheduler, event pool, arena and trace, with the trace on. Two things differ from a real run: W1's
 * own random numbers (splitmix32) stand for the tape, and its own messages for the link.
 *
 * One tick of W1 is one nanosecond here; it does not enter the results.
 */
#ifndef SCENARIOS_BENCH_W1_H
#define SCENARIOS_BENCH_W1_H

#include "sim/arena.h"

#include <stdint.h>

#define W1_S ((struct w1_size){.subtasks = 2, .records = 50, .window = 8})
#define W1_M ((struct w1_size){.subtasks = 4, .records = 250, .window = 16})
#define W1_L ((struct w1_size){.subtasks = 4, .records = 2000, .window = 16})

/* Arena capacity that is enough for one run of the standard sizes, or for pop-push with 100 000
 * pending. */
#define W1_ARENA_BYTES       ((size_t)256 << 10)
#define POP_PUSH_ARENA_BYTES ((size_t)32 << 20)

struct w1_size {
    uint32_t subtasks; /* S */
    uint32_t records;  /* R, per subtask */
    uint32_t window;   /* K, per subtask */
};

/* Runs with the seeds seed_from .. seed_from + count - 1. */
struct w1_sweep {
    struct w1_size size;
    uint32_t seed_from;
    uint32_t count;
};

struct w1_result {
    uint64_t events;       /* handed out, over all runs */
    uint64_t dups;         /* applied more often than once */
    uint32_t digest_xor;   /* of W1's own digests */
    uint64_t end_sum;      /* end times in ticks */
    uint64_t lost;         /* records never applied: the at-least-once oracle; 0 is right */
    uint64_t unfinished;   /* runs that ran out of events before all was done; 0 is right */
    uint64_t trace_digest; /* sum of the digests of the simulator's trace */
};

/* Run them all, each from a reset arena. */
void w1_run_many(const struct w1_sweep *sweep, struct arena *arena, struct w1_result *result);

/* The reference loop: with so many events pending, take the earliest and put it back at a
 * pseudo-random later time, steps times. Resets the arena. Returns a checksum over what came out. */
uint64_t w1_pop_push(struct arena *arena, uint32_t pending, uint64_t steps);

/* The same with a deadline beside each event, far away, that is cancelled and set again with it:
 * half of what is pending are deadlines, and none of them is ever reached. pending is at least 2. */
uint64_t w1_pop_push_deadlines(struct arena *arena, uint32_t pending, uint64_t steps);

#endif
