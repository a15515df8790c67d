/* A scenario: what a JSON file says, made into a run_config with everything that it borrows. */
#ifndef SCENARIOS_SCENARIO_H
#define SCENARIOS_SCENARIO_H

#include "sim/run.h"

#include <stdbool.h>

#define SCENARIO_MESSAGE_SIZE 400
#define SCENARIO_MUST_MAX     32u

/* Where and why a scenario could not be read: one line with file, JSON path, value and what is
 * allowed. */
struct scenario_fault {
    char message[SCENARIO_MESSAGE_SIZE];
};

enum scenario_expectation {
    EXPECT_HOLDS = 0, /* no violation by any of its oracles */
    EXPECT_FAILS,     /* a violation is to be found */
    EXPECT_REFUSED,   /* the sink refuses configuration or job */
};

/* What the sink, models and engine are put together from; see wiring/. A plugin's type may stand in
 * for the named one. */
struct scenario_options {
    const char *name;                     /* for messages and tapes */
    const struct sink_type *sink_or_null; /* --sink: use this type instead of the file's */
    enum profile profile;                 /* --profile */
    bool profile_given;
    const char *folder_or_null; /* where relative paths in the file start */
};

/* How the runs of seeds draw order; seeds unless a command sets it (scenarios/cli/policy.h). */
enum policy_kind {
    POLICY_SEEDS = 0,
    POLICY_PCT,   /* priorities (sim/search/pct.h) */
    POLICY_MIXED, /* odd seeds by their own, even ones by priorities */
};

struct scenario_policy {
    uint8_t kind;   /* enum policy_kind */
    uint32_t depth; /* of pct */
    uint32_t steps; /* that its change points are spread over */
};

struct wiring_windows;

struct scenario {
    char name[128];
    char title[160];
    uint8_t expectation;      /* enum scenario_expectation */
    char claim[32];           /* id, or empty */
    char expected_oracle[48]; /* of a fails expectation: the oracle that must find it, or empty */
    struct run_config config;
    struct scenario_policy policy;
    const struct wiring_windows *windows;   /* times that the options imply (wiring/wiring.h) */
    uint64_t default_seeds;                 /* how many `run` takes without --seeds */
    uint16_t must_reach[SCENARIO_MUST_MAX]; /* places of marks (scenarios/marks.h) */
    uint32_t must_count;
    /* regressions: a tape to replay, with the digest it must give (0: none) */
    struct tape tape;
    bool has_tape;
    bool strict_tape;
    uint64_t digest;
    struct scenario_store *memory; /* private: owns what config borrows */
};

/* Read a scenario from bytes (JSON, "schema": 1). Strict: unknown or duplicate keys, wrong units and
 * numbers out of range are errors. The result is owned by the caller: scenario_destroy.
 * ERR_OK, ERR_INVALID, ERR_TRUNCATED, ERR_VERSION, ERR_LIMIT, ERR_NOT_FOUND; *fault says why. */
MUST_USE enum err scenario_create(struct bytes json,
                                  const struct scenario_options *options,
                                  struct scenario **scenario,
                                  struct scenario_fault *fault);

/* Read one by path or by name under the installed or source scenarios folder. */
MUST_USE enum err scenario_load(const char *path_or_name,
                                const struct scenario_options *options,
                                struct scenario **scenario,
                                struct scenario_fault *fault);

/* Find the file of a path or name; false when there is none. capacity is at least 1024. */
bool scenario_find(const char *path_or_name, char *path, size_t capacity);

void scenario_destroy(struct scenario *scenario);

#endif
