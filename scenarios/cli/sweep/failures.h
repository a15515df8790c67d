/* What a sweep found, made into records that a person can act on: shrunk, in words, with the event
 * that decided and the command that replays it. */
#ifndef SCENARIOS_CLI_SWEEP_FAILURES_H
#define SCENARIOS_CLI_SWEEP_FAILURES_H

#include "scenarios/cli/search/explore.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/summary.h"

/* Runs that shrinking may take for a report, and for a crash, whose runs are processes. */
#define FAILURE_ATTEMPTS       2000u
#define FAILURE_CRASH_ATTEMPTS 400u

struct failures_options {
    const struct scenario *scenario;
    const char *word;   /* how the user named the scenario */
    bool tape;          /* the runs replayed the scenario's tape */
    uint64_t oracles;   /* only findings of these */
    uint64_t last_seed; /* only seeds up to it */
    bool brief;         /* shrink, but keep no files */
    bool any_record;    /* shrink to whatever record the same oracle finds: a witness */
    const struct explore_counts *explored_or_null; /* of an exploration: what its findings are */
};

/* Fill run->violations, sorted by seed: STATUS_OK; STATUS_NONDETERMINISM when a run did not come
 * out again; STATUS_INTERNAL without processes; STATUS_USAGE when --out cannot be written. */
MUST_USE enum status failures_collect(struct session *session,
                                      const struct failures_options *options,
                                      const struct summary *summary,
                                      struct report_run *run);

/* The entries of a tape in words, one line each, into the pool; returns their number. */
size_t failures_choices(struct text_pool *texts, const char *tape, const char *const **choices);

/* What to call a run of an exploration: "run 12:3 40:1", the draws that deviate and their values. */
char *failures_run_name(struct text_pool *texts, const struct explore_witness *witness);

/* The header of a scenario's tape. */
struct tape_header failures_header(const struct scenario *scenario);

/* A tape as text, with that header; into the pool. */
char *failures_tape_text(struct text_pool *texts,
                         const struct scenario *scenario,
                         const struct tape *tape);

#endif
