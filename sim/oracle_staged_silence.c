/* staged-silence: no data request of an envelope leaves before its notice or its restore.
 *
 * Judged at every request of a staged sink that carries an identity: the envelope was in a request
 * list that was handed to the committer in the sender's own attempt, after a checkpoint that owns it
 * had completed or a restore had brought it back. The grant lasts for that attempt.
 *
 * Claims: CT-EO-1, CT-EO-2 (O9). Mutants that must trip it: a request at write or at the barrier
 * (m-cs-01), a request under an identity made afresh (m-cs-03).
 * Not to be flagged: retries of one commit; a request of a replaced attempt that still runs and was
 * granted before; requests without an identity (readback of the queue), or with one of their own, which
 * are of many envelopes; the failure policy's. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger_identity *identity = judge->ledger->identity_or_null;
    const struct ledger_envelope *envelope = judge->ledger->envelope_or_null;
    if (!ledger_is_staged(judge->ledger, entry->attempt) || judge->facts->own_identities ||
        identity == NULL || identity->shared) {
        return;
    }
    if (envelope == NULL) {
        judge_violation(judge,
                        position,
                        SUBJECT_IDENTITY,
                        entry->identity,
                        "request %" PRIu32 " carries an envelope that was never staged",
                        entry->request);
    } else if (!ledger_is_granted(envelope, entry->attempt)) {
        judge_violation(judge,
                        position,
                        SUBJECT_IDENTITY,
                        entry->identity,
                        "request %" PRIu32 " sends the envelope of record %" PRIu32
                        " before attempt %u may commit it",
                        entry->request,
                        envelope->record,
                        (unsigned)entry->attempt);
    }
}

static const char *const mutants[] = {"m-cs-01", "m-cs-03", NULL};
static const uint16_t marks[] = {MARK_JUDGE_ENVELOPE_SENT, MARK_NONE};

const struct oracle_type oracle_staged_silence = {
    .name = "staged-silence",
    .sentence = "no data request of an envelope leaves before its notice or restore",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WIRE_ISSUED),
    .kinds_unusual = KIND(WIRE_ISSUED),
    .on_entry = on_entry,
};
