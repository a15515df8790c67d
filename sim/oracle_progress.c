/* progress: once faults stop, all work finishes; a terminal error does not count.
 *
 * Judged at the end. Rules of a service are no faults and go on after the heal; so does a reading of
 * its documents that is fixed for the run.
 *
 * Claims: BQ-EO-4, BQ-EO-13, BQ-EO-14, TX-BR-8, SP-LG-2. Mutants that must trip it: an answer that
 * restarts the job for ever (m-ct-03, m-cs-13), a wait behind the barrier (m-cs-18).
 * Not to be flagged: restarts on the way; time that passed. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    if (judge->end == RUN_END_COMPLETE) {
        return;
    }
    const struct ledger *ledger = judge->ledger;
    judge_violation(judge,
                    POSITION_END,
                    SUBJECT_JOB,
                    ledger->failed_reason,
                    "%s: %" PRIu32 " of %" PRIu32 " records covered, %" PRIu32 " envelopes held",
                    judge->end == RUN_END_FAILED ? sink_reason_name(ledger->failed_reason)
                                                 : "stuck",
                    ledger->covered_count,
                    judge->log->record_count,
                    ledger->held);
}

static const char *const mutants[] = {"m-cs-13", "m-cs-18", "m-ct-03", NULL};
static const uint16_t marks[] = {MARK_JUDGE_HEAL, MARK_NONE};

const struct oracle_type oracle_progress = {
    .name = "progress",
    .sentence = "once faults stop, all work finishes; a terminal error does not count",
    .mutants = mutants,
    .marks = marks,
    .at_end = at_end,
};
