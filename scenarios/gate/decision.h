/* The performance decision rule: from the figures of a candidate and of its current path to a verdict,
 * in whole numbers. Clauses are those of section 13 of the sink spec: 13.1 the order of judgement, 13.2
 * the thresholds, 13.3 the statistics, 13.7 the algorithm.
 *
 * Nothing here knows where the figures come from: simulated cells and published data sets are judged
 * by the same function. Ratios are compared by cross-multiplication, so that a boundary is exact. */
#ifndef SCENARIOS_GATE_DECISION_H
#define SCENARIOS_GATE_DECISION_H

#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

#define DECISION_RUN_MAX 32u

/* Figures above this are a CHECK: sums and products of them stay in 64 bits. */
#define DECISION_FIGURE_MAX (UINT64_C(1) << 48)

/* What became of a run (13.5). Only one that was observed has figures. */
enum decision_standing {
    DECISION_UNMEASURED = 0,
    DECISION_OBSERVED,
    DECISION_CENSORED, /* cut off by a cap: no measurement */
    DECISION_FAILED,   /* the job failed, or did not do its work */
    DECISION_INVALID,  /* what it would measure is not what was asked for */
    DECISION_STANDING_COUNT,
};

struct decision_run {
    uint8_t standing;    /* enum decision_standing */
    uint64_t throughput; /* thousandths of a record per second */
    nanos latency;       /* the 95th percentile */
};

enum decision_side {
    DECISION_BASELINE = 0, /* the current path */
    DECISION_CANDIDATE,
    DECISION_REPLAY,  /* the candidate, with a tenth of the submissions made twice */
    DECISION_CONTROL, /* the candidate, one request at a time */
    DECISION_SIDE_COUNT,
};

/* What two arms must have in common to be compared (PD-6). */
struct decision_shape {
    uint32_t payload_bytes;
    uint32_t key_skew; /* thousandths of the records that share one key */
    uint32_t parallelism;
    uint32_t concurrency;
    uint64_t capacity; /* of the service and the load: a digest of what was given */
    nanos checkpoint_interval;
};

struct decision_arm {
    bool given;
    struct decision_shape shape;
    struct decision_run runs[DECISION_RUN_MAX];
    uint32_t run_count;
    uint32_t repetitions; /* measured ones; more than run_count where only their mean is known */
    bool warmed_up;       /* a warm-up came before them */
    bool read_back;       /* what is stored was compared with what was submitted */
    uint32_t errors;      /* that nothing explains */
    uint64_t doubled_effects; /* protected effects that were found more than once */
    uint64_t pacing_waits;    /* of a limiter, behind the first window */
    bool miscalibrated;       /* with costs that are known it did not show what follows from them */
};

struct decision_input {
    struct decision_arm arms[DECISION_SIDE_COUNT];
    uint32_t repetitions_least;
    bool replay_wanted;
    bool control_wanted;
    bool needs_stage_1;  /* of a connector, whose primitive came before it and had this verdict */
    uint8_t stage_1;     /* enum decision_verdict */
    bool latency_exempt; /* throughput alone decides: its latency follows the checkpoint interval */
    uint64_t keys_most;  /* records in the fullest bucket of keys, and in the emptiest */
    uint64_t keys_least;
    bool keys_counted;
};

enum decision_verdict {
    DECISION_NO_VERDICT = 0, /* some run was not observed */
    DECISION_GENERAL,
    DECISION_CONSTRAINED,
    DECISION_DECLINE,
    DECISION_REJECT,
    DECISION_INCONCLUSIVE,
    DECISION_REFUSED, /* these arms cannot be compared */
    DECISION_VERDICT_COUNT,
};

/* Which rule decided, in the order of judgement: X(constant, name, clause, sentence). */
#define DECISION_RULES(X)                                                                          \
    X(DECISION_BY_NOTHING, "none", "13.7", "nothing decided")                                      \
    X(DECISION_BY_DOUBLED, "doubled effect", "13.1 (1)", "a replayed record took effect twice")    \
    X(DECISION_BY_STAGE, "stage", "13.5", "its primitive did not pass stage 1")                    \
    X(DECISION_BY_SHAPE, "shape", "13.4", "the arms differ in what they must share")               \
    X(DECISION_BY_STANDING, "not observed", "13.5", "a run of the cell was not observed")          \
    X(DECISION_BY_MISSING_ARM, "missing arm", "13.1 (2)", "an arm of the cell is missing")         \
    X(DECISION_BY_WARM_UP, "warm-up", "13.3", "no warm-up came before the repetitions")            \
    X(DECISION_BY_REPETITIONS, "repetitions", "13.3", "fewer repetitions than asked for")          \
    X(DECISION_BY_ERRORS, "errors", "13.1 (2)", "requests failed for no known reason")             \
    X(DECISION_BY_READ_BACK, "read-back", "13.1 (2)", "what is stored was not compared")           \
    X(DECISION_BY_VARIATION, "variation", "13.3", "(max - min) / mean is above 10 %")              \
    X(DECISION_BY_LIMITER, "limiter", "13.4", "the load was held back by its own limiter")         \
    X(DECISION_BY_CONTROL, "control", "13.4", "one request at a time reaches 25 % of it")          \
    X(DECISION_BY_CALIBRATION, "calibration", "13.5", "an arm did not show a known answer")        \
    X(DECISION_BY_THROUGHPUT_ONLY, "throughput gate", "13.2", "p95 is exempt; throughput decides") \
    X(DECISION_BY_GENERAL, "general", "13.2", "throughput >= 0.70 and p95 <= 2.0")                 \
    X(DECISION_BY_CONSTRAINED, "constrained", "13.2", "throughput >= 0.25 and p95 <= 4.0")         \
    X(DECISION_BY_THROUGHPUT, "throughput", "13.2", "throughput is below 0.25")                    \
    X(DECISION_BY_LATENCY, "p95", "13.2", "p95 is above 4.0")                                      \
    X(DECISION_BY_KEYS, "keys", "13.4", "keys are not spread evenly: max / min is above 1.2")      \
    X(DECISION_BY_COSTS, "costs", "13.9", "halved or doubled costs give another verdict")

enum decision_rule {
#define X(constant, name, clause, sentence) constant,
    DECISION_RULES(X)
#undef X
    DECISION_RULE_COUNT,
};

/* A ratio of sums; the denominator is 0 where there is nothing to compare. */
struct decision_ratio {
    uint64_t numerator;
    uint64_t denominator;
};

struct decision {
    uint8_t verdict;                  /* enum decision_verdict */
    uint8_t rule;                     /* enum decision_rule */
    uint8_t side;                     /* enum decision_side that the rule speaks of */
    uint8_t by_ratios;                /* what the thresholds alone say, exemption included */
    uint8_t as_written;               /* the same without the exemption */
    struct decision_ratio throughput; /* of the candidate to the baseline, of means */
    struct decision_ratio latency;    /* mean of the p95s of repetitions, never pooled */
    struct decision_ratio control;    /* of the control to the candidate */
    struct decision_ratio variation[DECISION_SIDE_COUNT]; /* (max - min) / mean */
};

/* Judge a cell. Complete: *decision is filled in any case, with the ratios that can be had. */
void decision_make(const struct decision_input *input, struct decision *decision);

/* A verdict stands only if it does under halved and doubled costs, too (13.9): make it inconclusive
 * when one of the others has another verdict. True when it was left as it is. */
bool decision_confirm(struct decision *decision, const struct decision *others, uint32_t count);

/* True when a >= n/d, and when a <= n/d; false without a denominator. */
bool decision_at_least(struct decision_ratio a, uint64_t numerator, uint64_t denominator);
bool decision_at_most(struct decision_ratio a, uint64_t numerator, uint64_t denominator);

/* value = a * 10^decimals, rounded half up; 0 without a denominator. decimals is at most 6. */
uint64_t decision_round(struct decision_ratio a, uint32_t decimals);

const char *decision_verdict_name(uint32_t verdict);
const char *decision_standing_name(uint32_t standing);
const char *decision_side_name(uint32_t side);
const char *decision_rule_name(uint32_t rule);
const char *decision_rule_clause(uint32_t rule);
const char *decision_rule_sentence(uint32_t rule);

#endif
