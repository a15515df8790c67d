/* no-early-visibility: nothing is visible before the checkpoint that owns it completed.
 *
 * Staged sink: a judged effect of a record that no completed checkpoint covers is a violation at
 * once. Eager sink: every effect precedes its checkpoint, which is no break by itself; the break is
 * the effect whose checkpoint never completes. It shows when the job starts again from a point that
 * does not cover the record, or when a request of a lost attempt takes effect after that.
 *
 * Claims: CT-EO-1, CT-AL-7, EA-2, BQ-EO-16. Mutants that must trip it: creation at write or at the
 * barrier (m-cs-01).
 * Not to be flagged: an eager sink's calm run; an effect of a record that a completed checkpoint
 * covered before an older one was restored. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void report(struct judge *judge, uint32_t position, record_id record, const char *what)
{
    judge_violation(judge,
                    position,
                    SUBJECT_RECORD,
                    record,
                    "an effect of record %" PRIu32 " stands %s",
                    record,
                    what);
}

/* Effects of records that are rolled back without ever having been covered. */
static void on_started(struct judge *judge)
{
    const struct ledger *ledger = judge->ledger;
    for (uint32_t index = 0; index < ledger->batch_count; index++) {
        const record_id record = ledger->batch[index];
        if (ledger_is_early(ledger, record)) {
            report(judge,
                   ledger_kin(ledger, record)->effect_position,
                   record,
                   "and the checkpoint that would own it never completes");
            return;
        }
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (entry->kind == HOST_JOB_STARTED || entry->kind == HOST_REGION_STARTED) {
        on_started(judge);
        return;
    }
    if (!ledger->effect || !ledger_is_early(ledger, entry->record)) {
        return;
    }
    if (ledger_is_staged(judge->ledger, entry->attempt)) {
        report(judge, position, entry->record, "before the checkpoint that owns it completed");
    } else if (ledger_is_replaced(ledger, entry)) {
        report(judge, position, entry->record, "after its attempt was lost before a checkpoint");
    }
}

static const char *const mutants[] = {"m-cs-01", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_JUDGE_RESTORE, MARK_NONE};

const struct oracle_type oracle_no_early_visibility = {
    .name = "no-early-visibility",
    .sentence = "nothing is visible before the checkpoint that owns it completed",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_JOB_STARTED) | KIND(HOST_REGION_STARTED) | KIND(WORLD_CREATED) |
             KIND(WORLD_REPLACED) | KIND(WORLD_VISIBLE),
    .kinds_unusual = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED) | KIND(WORLD_VISIBLE),
    .on_entry = on_entry,
};
