/* One run of the gate: which arm, with which load, costs and seed; and the scenario that it is made
 * of, which is the arm's base scenario with these fields changed. */
#ifndef SCENARIOS_GATE_CELL_H
#define SCENARIOS_GATE_CELL_H

#include "scenarios/gate/costs.h"
#include "scenarios/gate/plan.h"
#include "scenarios/scenario.h"

enum cell_purpose {
    CELL_LOAD = 0,  /* stage 2: an open loop at the offered rate */
    CELL_CRASHED,   /* the same with restores, so that a tenth of the window is replayed */
    CELL_PRIMITIVE, /* stage 1: as much as the service takes */
    CELL_REPEATED,  /* the same, a tenth of the submissions made twice */
    CELL_SERIAL,    /* the same, one request at a time */
    CELL_FREE,      /* calibration: a service that costs nothing */
    CELL_SLOWER,    /* and one that costs a known time */
    CELL_PURPOSE_COUNT,
};

struct cell_shape {
    uint32_t payload_bytes;
    uint8_t keys; /* enum plan_keys */
    uint32_t parallelism;
    uint32_t concurrency;
    nanos interval;
};

struct cell {
    uint32_t arm;
    struct cell_shape shape;
    uint8_t purpose; /* enum cell_purpose */
    uint8_t variant; /* enum costs_variant */
    uint64_t seed;
    /* what follows from these: cell_plan */
    nanos record_interval; /* between two records of one source */
    nanos warm_up;
    nanos measured;
    uint32_t records;
    bool at_ceiling; /* the load is held by the plan's own bounds, not by what the path carries */
};

/* Fill what follows. ceiling_per_s bounds the offered rate. */
void cell_plan(const struct plan *plan,
               const struct costs *costs,
               uint64_t ceiling_per_s,
               struct cell *cell);

/* Records per 1000 s that are offered. */
uint64_t cell_offered(const struct cell *cell);

/* What an eager path carries whose requests take the mean time, in records per 1000 s. */
uint64_t
cell_capacity(const struct plan *plan, const struct costs *costs, const struct cell_shape *shape);

/* All that arms must have in common beside their shape: offered load, service and costs. */
uint64_t cell_load_digest(const struct costs *costs, const struct cell *cell);

/* "gate/tasks-staged 1024 even p4 c16 10s, seed 1" */
const char *cell_name(struct text_pool *texts, const struct plan *plan, const struct cell *cell);

/* The scenario as text of JSON, in the pool; NULL when the base scenario cannot be read, which *fault
 * says. */
const char *cell_json(struct text_pool *texts,
                      const struct plan *plan,
                      const struct costs *costs,
                      const struct cell *cell,
                      struct scenario_fault *fault);

const char *cell_purpose_name(uint32_t purpose);

#endif
