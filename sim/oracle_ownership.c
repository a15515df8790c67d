/* ownership: every envelope is in exactly one of writer (with the edge behind it), committer and
 * finalised; none is lost, none is in two.
 *
 * Judged by the host's entries within one attempt: staged, received or restored, named in request
 * lists, finalised. At a start all that is not restored vanishes; what the restored checkpoint holds
 * comes back exactly once, to whichever subtask, before the next checkpoint completes. When all work
 * is done, nothing is held any more.
 *
 * Claims: CT-EO-2, CT-EO-12 (O10, O28). Mutants that must trip it: a writer that snapshots its list,
 * too (m-cs-21), and those of the engine that lose or double a collection.
 * Not to be flagged: an envelope whose commit is retried; a rescale; a staging that an unfinished
 * checkpoint took with it; a new staging under the same key in another attempt; two records that
 * derive one key (identities are then not the envelopes' own). */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static const char *sentence_of(enum ledger_misplaced misplaced)
{
    switch (misplaced) {
    case MISPLACED_STAGED_TWICE:
        return "is staged while writer or committer still hold it";
    case MISPLACED_STAGED_AFTER_FINALISED:
        return "is staged again after it was finalised";
    case MISPLACED_RECEIVED_UNSTAGED:
        return "reaches the committer and was not staged in this attempt";
    case MISPLACED_RECEIVED_TWICE:
        return "reaches the committer twice";
    case MISPLACED_RESTORED_UNKNOWN:
        return "is restored and was never staged";
    case MISPLACED_RESTORED_FOREIGN:
        return "is restored and is not in the restored checkpoint";
    case MISPLACED_RESTORED_TWICE:
        return "is restored twice";
    case MISPLACED_REQUEST_NOT_HELD:
        return "is to be committed and is not in the collection";
    case MISPLACED_FINALISED_NOT_HELD:
        return "is finalised and is not in the collection";
    case MISPLACED_NONE:
        break;
    }
    UNREACHABLE();
}

static void
judge_misplaced(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct ledger *ledger = judge->ledger;
    const struct ledger_identity *identity = ledger->identity_or_null;
    if (ledger->misplaced == MISPLACED_NONE || (identity != NULL && identity->shared)) {
        return;
    }
    judge_violation(judge,
                    position,
                    SUBJECT_IDENTITY,
                    entry->identity,
                    "an envelope of record %" PRIu32 " %s",
                    ledger->envelope_or_null == NULL ? 0 : ledger->envelope_or_null->record,
                    sentence_of((enum ledger_misplaced)ledger->misplaced));
}

static void judge_lost(struct judge *judge, uint32_t position)
{
    if (judge->ledger->expected > 0) {
        judge_violation(judge,
                        position,
                        SUBJECT_JOB,
                        judge->ledger->attempt,
                        "attempt %u did not restore %" PRIu32 " envelopes of its checkpoint",
                        (unsigned)judge->ledger->attempt,
                        judge->ledger->expected);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (entry->kind == HOST_CHECKPOINT_COMPLETED) {
        judge_lost(judge, position);
    } else {
        judge_misplaced(judge, entry, position);
    }
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    if (judge->end != RUN_END_COMPLETE) {
        return;
    }
    judge_lost(judge, POSITION_END);
    if (judge->ledger->held > 0) {
        judge_violation(judge,
                        POSITION_END,
                        SUBJECT_JOB,
                        judge->ledger->attempt,
                        "all work is done and %" PRIu32 " envelopes are not finalised",
                        judge->ledger->held);
    }
}

static const char *const mutants[] = {"m-cs-21", NULL};
static const uint16_t marks[] = {MARK_JUDGE_ENVELOPE_RESTORED, MARK_NONE};

const struct oracle_type oracle_ownership = {
    .name = "ownership",
    .sentence = "every envelope is in exactly one of writer, edge, committer, finalised",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CHECKPOINT_COMPLETED) | KIND(HOST_STAGED) | KIND(HOST_RECEIVED) |
             KIND(HOST_RESTORED) | KIND(HOST_COMMIT_REQUEST) | KIND(HOST_FINALISED),
    .kinds_unusual = KIND(HOST_STAGED) | KIND(HOST_RECEIVED) | KIND(HOST_RESTORED) |
                     KIND(HOST_COMMIT_REQUEST) | KIND(HOST_FINALISED),
    .on_entry = on_entry,
    .at_end = at_end,
};
