/* Claims as data: each ties a sink mode, a condition and properties to what is expected, and names
 * the scenarios that put it to the test. */
#ifndef SCENARIOS_CLAIMS_CLAIMS_H
#define SCENARIOS_CLAIMS_CLAIMS_H

#include "scenarios/scenario.h"

#define CLAIM_LIST_MAX 8
#define CLAIM_CASE_MAX 24

enum claim_calm {
    CLAIM_CALM_CLEAN = 0, /* a fails claim breaks only under some deviation */
    CLAIM_CALM_BREAKS,    /* it breaks without any: the calm tape is the witness */
};

/* What a claim about a figure measures, each configuration in one run without faults. */
enum claim_figure {
    CLAIM_FIGURE_NONE = 0,
    CLAIM_FIGURE_CONSTRAINTS, /* each has a violated constraint that a run shows; insides have none */
    CLAIM_FIGURE_ENVELOPE,    /* latencies within [D + c, I + D + d], both ends nearly reached */
    CLAIM_FIGURE_LATENCY,     /* the largest latency within a row spacing of wanted */
    CLAIM_FIGURE_CATCH_UP,    /* of an outage, within 5 % of outage * u / (1 - u) */
    CLAIM_FIGURE_DRAIN,       /* of a commit, within 5 % of wanted */
    CLAIM_FIGURE_STAGED_COST, /* throughput and p95 against the inside that is not staged */
    CLAIM_FIGURE_REQUESTS,    /* requests with data per thousand records are wanted */
    CLAIM_FIGURE_HELD,        /* what is staged at most: rate times the oldest envelope's age */
    CLAIM_FIGURE_INTERVALS,   /* from each to the next, lag falls and checkpoints per second rise */
    CLAIM_FIGURE_SLOWDOWN,    /* records per second, in thousandths of the inside's, within 5 % */
    CLAIM_FIGURE_STEPS,       /* visibility changes only while a commit runs */
    CLAIM_FIGURE_LEAST,       /* no record is visible sooner than an interval after it was written;
                                 beside, one where that is so */
    CLAIM_FIGURE_COUNT,
};

/* Texts are NUL-terminated and owned by the set; "" where the file has none. */
struct claim {
    const char *id;        /* "CT-EO-1" */
    const char *sink;      /* name of the sink mode */
    const char *condition; /* for people */
    const char *witness;   /* of a fails claim: what the witness shows */
    const char *properties[CLAIM_LIST_MAX];
    uint32_t property_count;
    enum profile profile; /* a holds claim is certified up to this one, a fails claim at it */
    bool holds;           /* else a violation is to be found */
    const struct oracle_type *oracles[CLAIM_LIST_MAX]; /* who judges; the first one finds a fails */
    uint32_t oracle_count;
    const char *scenario; /* at least two subtasks with eight records each, three checkpoints */
    const char *small;    /* three records, one subtask: to be enumerated */
    const char *small_2x; /* three records, two subtasks */
    const char *twin;     /* of a fails claim: the same without the condition, which must hold */
    uint8_t calm;         /* enum claim_calm */
    /* of a claim about refusal: the scenarios that must be refused, one run each, and those just
     * inside the rule, which must run; as many, or one for all */
    const char *configurations[CLAIM_LIST_MAX];
    uint32_t configuration_count;
    const char *insides[CLAIM_LIST_MAX];
    uint32_t inside_count;
    /* of a claim about figures: its configurations are made in one run each, and measured; wanted has a
     * number for each of them, in ms where it is a time */
    uint8_t figure; /* enum claim_figure */
    const char *wanted[CLAIM_LIST_MAX];
    uint32_t wanted_count;
    /* of a claim that two words differ: one run keeps the oracles and breaks all of these */
    const struct oracle_type *lacks[CLAIM_LIST_MAX];
    uint32_t lack_count;
    /* of a claim about the performance decision rule: cases of scenarios/gate/, in the place of
     * scenarios and oracles; sink says whose rule it is */
    const char *cases[CLAIM_CASE_MAX];
    uint32_t case_count;
    /* of a claim about reliance: clauses that the report must name beyond the claim's profile */
    const char *relies[CLAIM_LIST_MAX];
    uint32_t rely_count;
};

struct claim_set;

/* Read claims from bytes ("schema": 1, strict). name is the file's, for the fault's line. The set is
 * owned by the caller: claims_destroy. ERR_OK, ERR_INVALID, ERR_TRUNCATED, ERR_VERSION, ERR_LIMIT. */
MUST_USE enum err claims_create(struct bytes json,
                                const char *name,
                                struct claim_set **set,
                                struct scenario_fault *fault);

/* Read them from a file. Also ERR_NOT_FOUND, ERR_SYSTEM. */
MUST_USE enum err
claims_load(const char *path, struct claim_set **set, struct scenario_fault *fault);

/* The same for a user's own file: its claims may be about a sink that was brought, and its scenarios
 * are looked for in its folder before anywhere else. */
MUST_USE enum err claims_load_own(const char *path,
                                  const struct sink_type *sink_or_null,
                                  struct claim_set **set,
                                  struct scenario_fault *fault);

void claims_destroy(struct claim_set *set);

uint32_t claims_count(const struct claim_set *set);
const struct claim *claims_at(const struct claim_set *set, uint32_t index);

/* The claim of an id, or NULL. */
const struct claim *claims_find(const struct claim_set *set, const char *id);

#endif
