/* dead-letter-complete: every record dropped in the surviving timeline is in the dead letter queue
 * before its checkpoint completes.
 *
 * Judged at the completion, for the records that it covers newly and that are with the failure policy
 * or were dropped by it: a dead letter that carries the record's content was created before, in any
 * attempt.
 *
 * Claims: EA-6 (O7). Mutants that must trip it: the policy is flushed before the drain finds the
 * failures (m-ct-11).
 * Not to be flagged: a letter that was written twice; a letter of a record that is not covered; a
 * record that fails after a restore and did not before. Nothing is judged under other policies. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (judge->facts->policy != SINK_POLICY_DEAD_LETTER ||
        judge->facts->dead_letter_service == UINT32_MAX) {
        return;
    }
    for (uint32_t index = 0; index < ledger->batch_count; index++) {
        const struct ledger_record *record = ledger_record(ledger, ledger->batch[index]);
        const bool is_letter =
            record->outcome == OUTCOME_DROPPED || record->outcome == OUTCOME_FAILED;
        if (is_letter && record->dead_letters == 0) {
            judge_violation(judge,
                            position,
                            SUBJECT_RECORD,
                            ledger->batch[index],
                            "checkpoint %" PRIu32 " completed and record %" PRIu32
                            " is neither stored nor in the dead letter queue",
                            entry->checkpoint,
                            ledger->batch[index]);
            return;
        }
    }
}

static const char *const mutants[] = {"m-ct-11", NULL};
static const uint16_t marks[] = {MARK_JUDGE_DEAD_LETTER, MARK_JUDGE_RECORD_FAILED, MARK_NONE};

const struct oracle_type oracle_dead_letter_complete = {
    .name = "dead-letter-complete",
    .sentence = "every dropped record is in the dead letter queue before its checkpoint completes",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CHECKPOINT_COMPLETED),
    .on_entry = on_entry,
};
