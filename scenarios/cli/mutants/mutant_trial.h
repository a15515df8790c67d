/* One mutant on trial: it is built, and then swept over its scenario or put to its unit test. What
 * is built lies in SOURCE/build/mutants/. */
#ifndef SCENARIOS_CLI_MUTANTS_MUTANT_TRIAL_H
#define SCENARIOS_CLI_MUTANTS_MUTANT_TRIAL_H

#include "scenarios/cli/mutants/mutants.h"

#define MUTANT_WHY_SIZE 400

struct mutant_trial {
    const struct options *options;
    const char *source; /* the tree that the patches are made for */
};

/* Plain memory, for it goes from a worker to its parent. */
struct mutant_outcome {
    bool swept;                /* its runs stand in mutant_trial_json */
    bool fails_test;           /* killed by its unit test */
    bool passes_test;          /* not killed by it */
    char why[MUTANT_WHY_SIZE]; /* none of these */
};

/* Build a mutant and try it. Called in a worker; a patch that does not apply or build, and a test
 * or binary that cannot be run, leave nothing but why. */
void mutant_try(struct text_pool *texts,
                const struct mutant_trial *trial,
                const struct mutant *mutant,
                struct mutant_outcome *outcome);

/* The file of results of a mutant that was swept. */
const char *mutant_trial_json(struct text_pool *texts,
                              const struct mutant_trial *trial,
                              const struct mutant *mutant);

/* Build the unit tests of the mutants in the source tree, so that a mutant compiles nothing but what
 * its patch touches, and run them: a test that fails by itself kills nobody. whys[i] is then why the
 * test of mutants[i] cannot judge, NULL where it can or there is none. STATUS_OK, or STATUS_BROKEN
 * with a line on standard error: they do not build. */
MUST_USE enum status mutant_tests_prepare(struct text_pool *texts,
                                          const struct mutant_trial *trial,
                                          const struct mutant *const *mutants,
                                          size_t count,
                                          const char **whys);

#endif
