/* What the gate found, as plain records; all texts are borrowed. Throughputs are in records per 1000 s,
 * times in ns. */
#ifndef REPORTS_GATE_H
#define REPORTS_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number of the cost model. */
struct report_cost {
    const char *name;
    const uint64_t *values;
    size_t value_count;
    const char *kind; /* MODEL or MEASURED */
    const char *source;
};

/* One run. */
struct report_gate_run {
    uint64_t seed;
    const char *standing; /* OBSERVED, CENSORED, FAILED, INVALID or UNMEASURED */
    const char *cause;    /* of any other than OBSERVED */
    uint64_t throughput;
    uint64_t p50;
    uint64_t p95;
    uint64_t p99;
    uint64_t wait_p95; /* until the checkpoint that released it; 0 where nothing waits for one */
    uint64_t drain_p95;
    uint64_t digest;
};

/* One arm of a cell. */
struct report_gate_arm {
    const char *side; /* baseline, candidate, replay, control */
    const char *name;
    const struct report_gate_run *runs;
    size_t run_count;
    uint64_t throughput; /* means of the runs that were observed */
    uint64_t p95;
    uint64_t wait_p95;
    uint64_t drain_p95;
    uint64_t variation; /* thousandths */
    uint64_t again;     /* of replays: records submitted again */
    uint64_t doubled;   /* effects found more than once */
};

#define REPORT_GATE_ARM_MAX 4

struct report_gate_cell {
    const char *shape; /* "1024 even 4 16 10" */
    uint32_t payload_bytes;
    const char *keys;
    uint32_t parallelism;
    uint32_t concurrency;
    uint64_t interval_s;
    uint64_t offered;
    bool at_ceiling;
    struct report_gate_arm arms[REPORT_GATE_ARM_MAX];
    size_t arm_count;
    const char *verdict; /* GENERAL and so on, or "no verdict" */
    const char *rule;
    const char *clause;
    const char *reason;        /* a sentence: the rule, whom it is about, and the cause */
    const char *as_written;    /* what the thresholds say without exemption */
    uint64_t throughput_ratio; /* thousandths */
    uint64_t latency_ratio;    /* hundredths */
    bool has_ratios;
    bool as_expected;
    const char *varied; /* what halved and doubled costs say: "the same", or where they differ */
};

/* A candidate against its current path. */
struct report_gate_candidate {
    const char *name;
    const char *candidate;
    const char *baseline;
    const char *exempt; /* why p95 does not decide; "" it does */
    bool has_stage_1;
    struct report_gate_cell stage_1; /* of the primitive */
    const char *refused;             /* why there is no stage 2; "" there is */
    struct report_gate_cell *cells;  /* of stage 2 */
    size_t cell_count;
    size_t grid_count; /* cells of the whole grid */
    const char *expected;
};

/* What an arm showed with costs whose answer is known. */
struct report_gate_calibration {
    const char *name;
    uint64_t offered;
    uint64_t free_throughput;
    uint64_t free_p95;
    uint64_t slower_throughput;
    uint64_t slower_p95;
    uint64_t slower; /* by how much the service was slowed */
    bool is_known;
    const char *wanted;
};

/* A published data set, or a case of the rule's own. */
struct report_gate_case {
    const char *name;
    const char *title;
    const char *verdict;
    const char *rule;
    const char *clause;
    const char *figures; /* recomputed, beside what was published */
    const char *note;
    bool as_published;
};

struct report_gate {
    const char *version;
    const char *costs_name;
    const char *costs_title;
    uint64_t costs_digest;
    const struct report_cost *costs;
    size_t cost_count;
    const char *load;        /* how the load is chosen, in words */
    const char *repetitions; /* "seeds 1-3, paired" */
    const char *keys;        /* the check of the keys, in words */
    const struct report_gate_calibration *calibrations;
    size_t calibration_count;
    const struct report_gate_candidate *candidates;
    size_t candidate_count;
    const struct report_gate_case *cases;
    size_t case_count;
    uint64_t digest; /* of all that was measured */
    uint64_t runs;
};

void report_gate_text(FILE *file, const struct report_gate *gate);

/* One JSON object, "schema": 1. False when it could not be written. */
bool report_gate_json(FILE *file, const struct report_gate *gate);

#endif
