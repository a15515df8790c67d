/* no-silent-loss: a covered record that is missing at the end is missing only in a run that stands in a
 * terminal error.
 *
 * Judged at the end, whatever the error's reason, and without any excuse: an operator who sees a green
 * job, or a job that hangs, must not have lost a record.
 *
 * Claims: CT-EO-4, BQ-EO-7, BQ-EO-22, BQ-FL-4. Mutants that must trip it: an expired envelope taken
 * for committed (m-cs-08, m-cs-29), a failure signalled as committed or dropped (m-cs-10, m-cs-11), an
 * absent queue read as done (m-cs-14).
 * Not to be flagged: any number of missing records in a failed run; records that were skipped or
 * dropped. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    if (judge->end == RUN_END_FAILED || judge->ledger->missing_count == 0) {
        return;
    }
    const record_id record = judge->ledger->missing[0];
    judge_violation(judge,
                    POSITION_END,
                    SUBJECT_RECORD,
                    record,
                    "record %" PRIu32 " is covered and missing, and the job is %s",
                    record,
                    judge->end == RUN_END_COMPLETE ? "complete" : "in no terminal error");
}

static const char *const mutants[] = {"m-cs-08", "m-cs-10", "m-cs-11", "m-cs-14", "m-cs-29", NULL};
static const uint16_t marks[] = {MARK_JUDGE_RECORD_COVERED, MARK_NONE};

const struct oracle_type oracle_no_silent_loss = {
    .name = "no-silent-loss",
    .sentence = "a covered record is missing only in a run that stands in a terminal error",
    .mutants = mutants,
    .marks = marks,
    .at_end = at_end,
};
