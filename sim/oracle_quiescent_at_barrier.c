/* quiescent-at-barrier: when an eager writer answers a barrier, none of its requests is unanswered.
 *
 * Judged at the answer, by the requests of this writer and this attempt, and those of its failure
 * policy: each was answered, cancelled, dropped or expired. What is parked without a request in flight
 * does not show here, but in checkpoint-durable.
 *
 * Claims: CT-AL-1, PS-1 (O3). Mutants that must trip it: a policy that is flushed before the drain
 * (m-ct-11).
 * Not to be flagged: requests of a staged sink's committer; requests of a lost attempt that are still
 * on their way; the answer to the end of input, when nothing is in flight. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static uint32_t open_of(struct judge *judge, lane who, uint16_t attempt)
{
    const struct ledger_lane *sender = ledger_lane(judge->ledger, who);
    return sender->attempt == attempt ? sender->open : 0;
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (ledger_is_staged(judge->ledger, entry->attempt)) {
        return;
    }
    const lane policy = lane_make(LANE_POLICY, lane_index_of(entry->lane));
    const uint32_t open = open_of(judge, entry->lane, entry->attempt);
    const uint32_t policy_open = open_of(judge, policy, entry->attempt);
    if (open + policy_open > 0) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "the barrier of checkpoint %" PRIu32 " is answered with %" PRIu32
                        " requests of the writer and %" PRIu32 " of its policy open",
                        entry->checkpoint,
                        open,
                        policy_open);
    }
}

static const char *const mutants[] = {"m-ct-11", NULL};
static const uint16_t marks[] = {MARK_JUDGE_BARRIER, MARK_NONE};

const struct oracle_type oracle_quiescent_at_barrier = {
    .name = "quiescent-at-barrier",
    .sentence = "when an eager writer answers a barrier, none of its requests is unanswered",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_BARRIER_DONE),
    .on_entry = on_entry,
};
