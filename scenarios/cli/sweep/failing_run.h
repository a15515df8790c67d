/* A run that fails, as the commands that look into one are given it: a scenario with a seed or a
 * tape, what that run recorded, and which of its violations is looked into. */
#ifndef SCENARIOS_CLI_SWEEP_FAILING_RUN_H
#define SCENARIOS_CLI_SWEEP_FAILING_RUN_H

#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/reproducer.h"

struct failing_run {
    struct session *session;
    const char *command; /* whose, for messages */
    struct scenario *scenario;
    struct reproducer *reproducer;
    struct tape tape; /* as the run recorded it; entries in the session's texts */
    struct culprit culprit;
};

/* Read the scenario and make the run that the options name. STATUS_OK; STATUS_USAGE; STATUS_BROKEN
 * when it breaks nothing, or nothing of the wanted oracle, or hangs; STATUS_INTERNAL. Call
 * failing_run_close in any case. */
MUST_USE enum status
failing_run_open(struct failing_run *run, struct session *session, const char *command);
void failing_run_close(struct failing_run *run);

/* Write a tape to the file of -o, or to standard output. STATUS_OK or STATUS_USAGE. */
MUST_USE enum status failing_run_write(const struct failing_run *run, const struct tape *tape);

#endif
