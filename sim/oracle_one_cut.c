/* one-cut: the state and the source position of a checkpoint belong to one cut.
 *
 * Judged at every completed checkpoint, between what its collections hold and what its positions cover:
 * an envelope whose record the positions do not cover is ahead of the cut (its record is read again
 * beside it), and a record that is covered newly, accepted, and neither held there, finalised nor
 * stored is behind it (nobody reads it again).
 *
 * Claims: EN-1, EN-2, EN-3. Mutants that must trip it: positions that are taken behind the barrier
 * (m-en-07), a snapshot of the last batch alone (m-en-02), a barrier that overtakes committables
 * (m-en-23).
 * Not to be flagged: an envelope that an earlier checkpoint held already; a record that was skipped,
 * failed or dropped. Not judged: envelopes that stage several records; eager sinks, whose state is
 * empty. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void report(
    struct judge *judge, uint32_t position, uint32_t checkpoint, record_id record, const char *what)
{
    judge_violation(judge,
                    position,
                    SUBJECT_RECORD,
                    record,
                    "checkpoint %" PRIu32 " %s record %" PRIu32,
                    checkpoint,
                    what,
                    record);
}

/* Envelopes whose records are yet to come. */
static void judge_ahead(struct judge *judge, uint32_t position, uint32_t number)
{
    const struct stored_checkpoint *checkpoint = store_get(judge->store, number);
    for (uint32_t at = 0; at < checkpoint->collection_count; at++) {
        const struct stored_collection *collection = &checkpoint->collections[at];
        for (uint32_t index = 0; index < collection->request_count; index++) {
            const record_id record = collection->requests[index]->record;
            if (record != 0 && !store_covers(judge->store, number, record)) {
                report(judge, position, number, record, "holds and does not cover");
                return;
            }
        }
    }
}

/* Records that are past and in no state. */
static void judge_behind(struct judge *judge, uint32_t position, uint32_t number)
{
    const struct ledger *ledger = judge->ledger;
    for (uint32_t index = 0; index < ledger->batch_count; index++) {
        const record_id record = ledger->batch[index];
        const struct ledger_envelope *envelope = ledger_envelope(ledger, record);
        const bool is_held =
            envelope != NULL && (envelope->collected == number || envelope->finalised);
        if (ledger_record(ledger, record)->outcome == OUTCOME_ACCEPTED && !is_held &&
            ledger_kin(ledger, record)->stored == 0) {
            report(judge, position, number, record, "covers and does not hold");
            return;
        }
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (!ledger_is_staged(judge->ledger, 0) || judge->ledger->batches) {
        return;
    }
    judge_ahead(judge, position, entry->checkpoint);
    judge_behind(judge, position, entry->checkpoint);
}

static const char *const mutants[] = {"m-en-02", "m-en-07", "m-en-23", NULL};
static const uint16_t marks[] = {
    MARK_JUDGE_RECORD_COVERED, MARK_JUDGE_ENVELOPE_RESTORED, MARK_NONE};

const struct oracle_type oracle_one_cut = {
    .name = "one-cut",
    .sentence = "the state and the source position of a checkpoint belong to one cut",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CHECKPOINT_COMPLETED),
    .on_entry = on_entry,
};
