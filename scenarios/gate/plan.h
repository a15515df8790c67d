/* What the gate measures, as data (scenarios/gate/plan.json): arms, candidates against their current
 * paths, the grid of stage 2, load and window. A service that comes later brings entries, no code. */
#ifndef SCENARIOS_GATE_PLAN_H
#define SCENARIOS_GATE_PLAN_H

#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"
#include "scenarios/gate/decision.h"

#define PLAN_LIST_MAX      8u
#define PLAN_ARM_MAX       32u
#define PLAN_CANDIDATE_MAX 32u

enum plan_keys {
    PLAN_KEYS_EVEN = 0,
    PLAN_KEYS_HOT, /* most records share one key */
    PLAN_KEYS_COUNT,
};

/* One way to write: a base scenario, of which a cell changes fields. */
struct plan_arm {
    const char *name;
    const char *scenario;
    const char *concurrency_option;   /* of the sink: requests, or entries of a request, at once */
    const char *model_latency_option; /* of the model: gets COST_NAME_LATENCY; "" none */
    bool is_protected;                /* a replay must not double its effects */
    bool is_staged;                   /* its effects wait for their checkpoint */
    bool is_keyed;        /* its effects are named by keys: what is submitted twice is one */
    const char *hot_keys; /* why it cannot be measured with hot keys; "" it can */
};

struct plan_candidate {
    const char *name;
    uint32_t candidate; /* arms */
    uint32_t baseline;
    uint32_t primitive; /* of the candidate, for stage 1; PLAN_ARM_MAX: no stage 1 of its own */
    const char *exempt_latency; /* why p95 does not decide; "" it does */
    const char *exempt_stage_1; /* why stage 2 needs no pass of stage 1; "" it does */
    uint8_t expected_stage_1;   /* enum decision_verdict */
    uint8_t expected_stage_2;
};

struct plan_grid {
    uint32_t payload_bytes[PLAN_LIST_MAX];
    uint32_t payload_count;
    uint32_t keys[PLAN_LIST_MAX]; /* enum plan_keys */
    uint32_t keys_count;
    uint32_t parallelism[PLAN_LIST_MAX];
    uint32_t parallelism_count;
    uint32_t concurrency[PLAN_LIST_MAX];
    uint32_t concurrency_count;
    nanos intervals[PLAN_LIST_MAX];
    uint32_t interval_count;
};

struct plan {
    struct ratio load_share; /* of what the current path carries */
    uint64_t ceiling_per_s;
    uint64_t bytes_max; /* of all payloads of a run */
    nanos warm_up;      /* at least an interval, too */
    nanos measured;
    uint32_t measured_intervals; /* at least so many, too */
    uint32_t checkpoints_least;  /* that complete in the window */
    uint32_t repetitions;
    uint32_t repetitions_varied; /* under costs that are not as given */
    struct plan_grid grid;       /* the whole of it */
    struct plan_grid quick;
    uint32_t quick_repetitions;
    uint64_t quick_ceiling_per_s;
    struct ratio hot_share;
    /* stage 1 */
    uint32_t primitive_payload_bytes;
    uint32_t primitive_concurrency;
    nanos primitive_warm_up;
    nanos primitive_measured;
    nanos primitive_interval;
    struct ratio repeats;
    /* calibration */
    uint32_t calibration_concurrency;
    nanos calibration_interval;
    nanos calibration_slower;
    struct plan_arm arms[PLAN_ARM_MAX];
    uint32_t arm_count;
    struct plan_candidate candidates[PLAN_CANDIDATE_MAX];
    uint32_t candidate_count;
};

/* Read the plan of the scenarios that come with the product, or a file. Texts go to the pool.
 * STATUS_OK, or STATUS_USAGE with one line on standard error. */
MUST_USE enum status plan_open(struct text_pool *texts, struct plan *plan);
MUST_USE enum status plan_read(struct text_pool *texts, const char *path, struct plan *plan);

/* The candidate of a name, or PLAN_CANDIDATE_MAX. */
uint32_t plan_find_candidate(const struct plan *plan, const char *name);

const char *plan_keys_name(uint32_t keys);

#endif
