/* identity-stable: an envelope keeps its name and its bytes for life, and what is sent under it is the
 * same every time.
 *
 * Judged on digests of bytes. All requests under one identity carry equal bytes, in any attempt. All
 * restores and request lists give the bytes of a staging of that identity. A staged sink sends only
 * what was staged: an identity that no staging explains was made afresh. A record whose envelope
 * lives in the running attempt is not staged under another identity. Where identities derive from the
 * record, they do not change at all, and a record's creations are of one resource.
 *
 * Claims: CT-EO-2, CT-EO-9b, BQ-FL-3 (O11). Mutants that must trip it: a retry under a new name
 * (m-ct-02), an identity made at restore or retry (m-cs-03), names from the subtask (m-cs-28).
 * Not to be flagged: requests with identities of their own, which no staging explains; a new random identity for a record that is replayed after its staging was rolled
 * back; a new staging of a key with a new origin; two records that derive one key (CT-AL-5), but for
 * what is sent under it. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void report(struct judge *judge, uint32_t position, uint64_t identity, const char *what)
{
    judge_violation(judge, position, SUBJECT_IDENTITY, identity, "an envelope %s", what);
}

static void on_issued(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct ledger_identity *identity = judge->ledger->identity_or_null;
    if (identity == NULL) {
        return;
    }
    if (identity->sent_value != entry->value) {
        report(judge, position, entry->identity, "is sent with other bytes than before");
    } else if (ledger_is_staged(judge->ledger, entry->attempt) && !judge->facts->own_identities &&
               judge->ledger->envelope_or_null == NULL) {
        report(judge, position, entry->identity, "is sent and no staging explains its identity");
    }
}

static void on_staged(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct ledger *ledger = judge->ledger;
    if (ledger->envelope_before == 0 || judge->facts->identity_changes_allowed) {
        return;
    }
    const struct ledger_envelope *before = &ledger->envelopes[ledger->envelope_before - 1];
    if (before->identity == entry->identity) {
        return;
    }
    if (ledger->was_live) {
        report(judge, position, entry->identity, "renames a record whose envelope is alive");
    } else if (judge->facts->keyed) {
        report(judge, position, entry->identity, "has another name for the same key");
    }
}

static void on_bytes(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct ledger *ledger = judge->ledger;
    if (ledger->identity_or_null != NULL && ledger->identity_or_null->shared) {
        return;
    }
    if (ledger->envelope_or_null == NULL) {
        report(judge, position, entry->identity, "comes back and no staging explains its identity");
    } else if (ledger->envelope_or_null->value != entry->value) {
        report(judge, position, entry->identity, "comes back with other bytes than were staged");
    }
}

static void on_created(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    if (!judge->facts->keyed || judge->facts->identity_changes_allowed ||
        judge->log->equal_payloads || entry->record == 0 ||
        entry->service != judge->facts->target_service) {
        return;
    }
    const struct ledger_record *record = ledger_record(judge->ledger, entry->record);
    if (record->resource != entry->resource) {
        judge_violation(judge,
                        position,
                        SUBJECT_RECORD,
                        entry->record,
                        "record %" PRIu32 " has a key and is created under two names",
                        entry->record);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (entry->kind == WIRE_ISSUED) {
        on_issued(judge, entry, position);
    } else if (entry->kind == HOST_STAGED) {
        on_staged(judge, entry, position);
    } else if (entry->kind == WORLD_CREATED) {
        on_created(judge, entry, position);
    } else {
        on_bytes(judge, entry, position);
    }
}

static const char *const mutants[] = {"m-cs-03", "m-cs-28", "m-ct-02", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_NONE};

const struct oracle_type oracle_identity_stable = {
    .name = "identity-stable",
    .sentence = "name and bytes of an envelope never change, in any attempt",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_STAGED) | KIND(HOST_RESTORED) | KIND(HOST_COMMIT_REQUEST) |
             KIND(WIRE_ISSUED) | KIND(WORLD_CREATED),
    .kinds_unusual = KIND(HOST_STAGED) | KIND(HOST_RESTORED) | KIND(HOST_COMMIT_REQUEST) |
                     KIND(WIRE_ISSUED) | KIND(WORLD_CREATED),
    .on_entry = on_entry,
};
