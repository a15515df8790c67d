/* checkpoint-durable: a completed checkpoint covers every earlier record that was neither skipped nor
 * taken care of by a dropping policy.
 *
 * Judged at the completion, for the records that it covers newly. Eager sink: each was created or
 * replaced at the target service at any time before. Staged sink: each is held in committed state
 * (its envelope is in the collections of this very checkpoint), or is further on (finalised, or
 * stored already), unless the scenario asks for the destination itself (ST-1). Equal payloads are counted: as many stored as owed.
 *
 * Claims: CT-AL-1, BQ-AL-1, PS-1, EA-4, ST-2. Mutants that must trip it: a retry that is parked and
 * left behind at the flush (m-ct-01), a failure of content that is not really one (m-ct-06: refused
 * by the service and never handed on).
 * Not to be flagged: a record whose effect came from an earlier attempt; a record that was dropped
 * or skipped; an effect that was removed later; a staged record without any effect yet.
 * Where an envelope stages several records, the host cannot tell which: then one that was staged since the
 * cut before, and is held, will do for all. That none of them is missing shows at the end of the run. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

/* Held in the checkpoint's collections, or further on. */
static bool is_held(const struct ledger *ledger, record_id record, uint32_t checkpoint)
{
    const struct ledger_envelope *envelope = ledger_envelope(ledger, record);
    return ledger->batches_held > 0 ||
           (envelope != NULL && (envelope->collected == checkpoint || envelope->finalised)) ||
           ledger_kin(ledger, record)->stored > 0;
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    for (uint32_t index = 0; index < ledger->batch_count; index++) {
        const record_id record = ledger->batch[index];
        const uint8_t outcome = ledger_record(ledger, record)->outcome;
        const struct ledger_record *kin = ledger_kin(ledger, record);
        if (outcome == OUTCOME_SKIPPED || outcome == OUTCOME_DROPPED) {
            continue;
        }
        const bool by_state = ledger_is_staged(ledger, 0) && !judge->facts->at_destination;
        const bool durable =
            by_state ? is_held(ledger, record, entry->checkpoint) : kin->stored >= kin->owed;
        if (!durable) {
            judge_violation(
                judge,
                position,
                SUBJECT_RECORD,
                record,
                "checkpoint %" PRIu32 " completed and covers record %" PRIu32 ", which is %s",
                entry->checkpoint,
                record,
                by_state ? "neither in its state nor at the service" : "not at the service");
            return;
        }
    }
}

static const char *const mutants[] = {"m-ct-01", NULL};
static const uint16_t marks[] = {MARK_JUDGE_RECORD_COVERED, MARK_NONE};

const struct oracle_type oracle_checkpoint_durable = {
    .name = "checkpoint-durable",
    .sentence =
        "a completed checkpoint covers every earlier record that was not skipped or dropped",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CHECKPOINT_COMPLETED),
    .on_entry = on_entry,
};
