/* idempotent-commit: a repeated commit of the same request has no further effect.
 *
 * The same request is the same identity, in whatever attempt, lane or retry it is sent. Judged at
 * every creation and replacement at the target service that a request with an identity caused: the
 * identity has had no effect before, but for other records of a commit that is of many. Where the record is known, what excuses a second effect of a
 * record excuses this one.
 *
 * Claims: BQ-EO-3, TX-2PC-2, EA-7. Mutants that must trip it: an expired envelope that is sent again
 * after its name was released (m-cs-04, m-cs-06).
 * Not to be flagged: a second request that the service answers without effect; requests without an
 * identity, of which each is a new one; identities that two records share. */
#include "sim/oracle_excuse.h"
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    const struct ledger_request *request = ledger_request(ledger, entry->request);
    if (entry->service != judge->facts->target_service || request == NULL ||
        request->identity == 0) {
        return;
    }
    const struct ledger_identity *identity = &ledger->identities[request->identity - 1];
    if (identity->shared || identity->effects == 1) {
        return;
    }
    const char *excuse = entry->record == 0 ? NULL : excuse_of_duplicate(judge, entry);
    if (excuse != NULL) {
        judge_inconclusive(
            judge, position, "record %" PRIu32 " has a second effect: %s", entry->record, excuse);
        return;
    }
    judge_violation(judge,
                    position,
                    SUBJECT_IDENTITY,
                    identity->identity,
                    "request %" PRIu32 " repeats a commit, of record %" PRIu32
                    ", and has an effect again",
                    entry->request,
                    entry->record);
}

static const char *const mutants[] = {"m-cs-04", "m-cs-06", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_JUDGE_ENVELOPE_SENT, MARK_NONE};

const struct oracle_type oracle_idempotent_commit = {
    .name = "idempotent-commit",
    .sentence = "a repeated commit of the same request has no further effect",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .kinds_unusual = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .on_entry = on_entry,
};
