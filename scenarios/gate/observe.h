/* Makes one run of the gate and reads its journal: standing, throughput, latencies, and what is stored
 * against what was submitted. All of it is virtual time and whole numbers. */
#ifndef SCENARIOS_GATE_OBSERVE_H
#define SCENARIOS_GATE_OBSERVE_H

#include "scenarios/gate/cell.h"

#define OBSERVATION_CAUSE_SIZE 96

/* Plain values: a worker leaves them in memory that it shares. */
struct observation {
    uint8_t standing; /* enum decision_standing */
    char cause[OBSERVATION_CAUSE_SIZE];
    uint64_t throughput; /* records that became visible per 1000 s of the window */
    nanos p50;           /* from intended arrival to visible, of what was to arrive in the window */
    nanos p95;
    nanos p99;
    nanos most;
    nanos least;
    nanos
        wait_p95; /* until the checkpoint completed that released it; 0 where nothing waits for one */
    nanos drain_p95;      /* from there to visible */
    uint32_t checkpoints; /* that completed in the window */
    uint32_t records;     /* distinct ones */
    uint32_t missing;     /* of these: not visible at the end */
    uint32_t doubled;     /* of these: visible more than once */
    uint32_t requests;    /* to the service */
    uint32_t again;       /* records that were handed over or committed again */
    uint32_t errors;      /* refusals that no repeated submission explains */
    uint32_t restarts;
    uint64_t digest; /* of the run's trace */
};

/* What runs are made in, one after another: it grows to what the largest of them needs. Zeroed, it is empty;
 * give it back in the end. */
struct observe_memory {
    void *block; /* private */
    size_t size;
};

/* Make the run of a cell. Its scenario is made from JSON in the pool, and memory is given back but for
 * that. */
void observe(struct text_pool *texts,
             struct observe_memory *memory,
             const struct plan *plan,
             const struct costs *costs,
             const struct cell *cell,
             struct observation *observed);
void observe_memory_fini(struct observe_memory *memory);

#endif
