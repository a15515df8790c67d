/* One claim put to the test: what the ways of trying it share. Private to the command matrix. */
#ifndef SCENARIOS_CLI_MATRIX_TRIAL_H
#define SCENARIOS_CLI_MATRIX_TRIAL_H

#include "scenarios/claims/claims.h"
#include "scenarios/cli/mutants/mutant_records.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/sweep.h"

#define REASON_SIZE 400

/* One claim on its way to a record. */
struct trial {
    struct session *session;
    const struct claim *claim;
    struct report_claim *record;
    const struct mutant_records *mutants;
    uint64_t oracles;      /* bits of the claim's, and of crash and hang */
    uint64_t finder;       /* the bit of the one that finds a fails */
    struct sweep *sweep;   /* scratch */
    struct report_run run; /* scratch */
    char why[REASON_SIZE];
};

/* Say why the claim does not come out as expected; the first reason stays. */
void trial_explain(struct trial *trial, const char *format, ...) PRINTF_LIKE(2, 3);
void trial_explain_violation(struct trial *trial, const struct report_violation *violation);

/* Counted runs that are asked for, and the seed to begin with. */
uint64_t trial_budget(const struct options *options);
uint64_t trial_first_seed(const struct options *options);

/* Make these runs; their sum stands in trial->sweep. */
enum status trial_sweep(struct trial *trial,
                        const struct scenario *scenario,
                        const struct sweep_options *wanted);

/* Sweep until so many runs counted or one broke what it must not; the sum stands in trial->sweep. */
enum status
trial_sweep_counted(struct trial *trial, const struct scenario *scenario, uint64_t budget);

/* Judge what trial->sweep holds as a cell of the matrix. */
void trial_judge(struct trial *trial,
                 const struct scenario *scenario,
                 enum report_verdict expected,
                 uint64_t budget);

/* Shrink the first finding by these oracles in trial->sweep; NULL if there is none. */
const struct report_violation *trial_first_violation(struct trial *trial,
                                                     const struct scenario *scenario,
                                                     const char *word,
                                                     uint64_t oracles,
                                                     enum status *status);

/* Put into the claim's record what was found, and what was counted. */
void trial_set_witness(struct trial *trial, const struct report_violation *violation);
void trial_add_established(struct trial *trial);

/* Put into it which faults fired and what the oracles saw in the sweep that was judged. */
void trial_note_coverage(struct trial *trial, const struct scenario *scenario);

/* Make every run of the claim's small scenario with at most one deviation (--quick) or two, fewer where
 * its runs are so long that it would take minutes: what was made goes into the record, and a holds
 * claim that is broken there does not hold. */
enum status trial_explore(struct trial *trial);

/* Put a claim to the test that holds, or fails, by many runs; the verdict stands in the record. */
enum status trial_holds(struct trial *trial);
enum status trial_fails(struct trial *trial);

/* Ways of trial_once.c: configurations that must be refused, two words that differ, and cases of the
 * performance decision rule. */
enum status trial_cases(struct trial *trial);
enum status trial_refused(struct trial *trial);
enum status trial_words(struct trial *trial);

/* Of trial_figures.c: figures, measured in one run of each configuration. */
enum status trial_figures(struct trial *trial);

#endif
