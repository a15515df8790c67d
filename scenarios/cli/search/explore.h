/* An exploration in worker processes: a frontier in the parent, and workers that make what it asks
 * for. Results are the same for any number of them. */
#ifndef SCENARIOS_CLI_SEARCH_EXPLORE_H
#define SCENARIOS_CLI_SEARCH_EXPLORE_H

#include "scenarios/cli/progress.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/sweep/summary.h"
#include "sim/search/frontier.h"
#include "sim/search/run_space.h"
#include "sim/search/state_space.h"

#define EXPLORE_DEVIATIONS_MAX RUN_SPACE_LEVEL_MAX

struct explore_options {
    const struct scenario *scenario;           /* its runs; or */
    const struct state_system *system_or_null; /* the states of a system */
    uint32_t deviations;                       /* at most; of a system no matter */
    bool crash_points; /* only crashes, and crashes in the recovery from one */
    bool re_execute;   /* without snapshots */
    struct shard shard;
    uint32_t jobs;
    uint64_t runs_max; /* stop behind so many in all; 0: no limit */
    nanos hang_after;
    uint64_t events_max; /* a level that would take more, if its runs were as long as those before,
                              is not begun; 0: no limit */
    uint64_t stop_oracles; /* end behind the first run that breaks one of these; 0: never */
    bool shows_progress;
    const char *label; /* for progress */
    /* In the parent, whenever the exploration may be kept, and at its end; or NULL. False ends it. */
    bool (*keep)(void *context, bool is_end);
    void *context;
};

/* A run with a finding, by its number: the finding's seed. */
struct explore_witness {
    uint64_t number;
    uint32_t step_count;
    struct run_space_step steps[RUN_SPACE_LEVEL_MAX];
};

/* What runs add up to, beside what the frontier counts. Plain values, in shared memory. */
struct explore_counts {
    struct summary summary; /* seeds are numbers of runs, in the order of this exploration */
    uint64_t digest;        /* a sum over runs: no order, no split changes it */
    uint64_t crash_points_hit;
    uint64_t crash_points_seen;
    bool is_strayed; /* runs did not come out the same again: status 3 */
    uint32_t witness_count;
    struct explore_witness witnesses[SUMMARY_FINDING_MAX];
};

struct explored {
    struct frontier frontier;
    struct explore_counts counts;
    struct summary_marks marks;
    uint64_t elapsed_ms; /* with what was resumed */
    uint32_t level_done; /* the last level that was made as a whole by explore_run, and the crash */
    uint64_t crash_points_due; /* points that were seen before it began */
    bool is_complete;          /* nothing within the bound is left */
};

/* Prepare for the first run. ERR_OK or ERR_LIMIT. Afterwards the frontier may be replaced by one that
 * was kept, with its counts. */
MUST_USE enum err explore_init(struct explored *explored, const struct explore_options *options);
void explore_fini(struct explored *explored);

/* Go on to the end. ERR_OK, ERR_SYSTEM (no processes, or keep said no), ERR_LIMIT (no memory). */
MUST_USE enum err explore_run(struct explored *explored, const struct explore_options *options);

/* What was ended early is no certificate that all holds: say so in the judged record. */
void explore_is_a_part(struct text_pool *texts, struct report_run *run, const char *why);

/* Judge what was counted of a system's states: complete, without a violation, and as published. */
void explore_judge_states(struct text_pool *texts, struct report_explored *record);

/* The witness of a finding: every one has its own. */
const struct explore_witness *explore_witness_of(const struct explore_counts *counts,
                                                 uint64_t number);

#endif
