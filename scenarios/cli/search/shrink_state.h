/* The state of a shrink on disk: what it was asked, what its runs came to, and what else they showed.
 * Text, replaced whole, so that a reader finds one state or the next and never half of one.
 *
 *     sinkproof-shrink 1
 *     scenario cloudtasks/exactly-once
 *     oracle exactly-once-write
 *     tape 0x5f0c...            digest of the tape to be shrunk, as text
 *     questions 0x91aa...       digest of what the answers answer
 *     answers 12 1 30 2         runs in a row that passed, failed, passed, ...; so many per line
 *     other liveness 5 0        another violation: oracle, kind of subject, subject; its tape follows
 *     digest 0x77e1...          of all lines before
 */
#ifndef SCENARIOS_CLI_SEARCH_SHRINK_STATE_H
#define SCENARIOS_CLI_SEARCH_SHRINK_STATE_H

#include "scenarios/cli/search/shrinking.h"
#include "scenarios/cli/sweep/failing_run.h"

/* Write: ERR_OK or ERR_SYSTEM. */
MUST_USE enum err shrink_state_write(const char *path,
                                     const struct failing_run *run,
                                     const struct shrinking *shrinking);

/* Read what a shrink of the same run has left: STATUS_OK, also when there is no file yet; else
 * STATUS_USAGE, and a line has said what is wrong. */
MUST_USE enum status
shrink_state_read(const char *path, struct failing_run *run, struct shrinking *shrinking);

#endif
