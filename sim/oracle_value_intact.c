/* value-intact: what the service holds is what the source gave, and every accepted record's own value
 * got there.
 *
 * Judged at every effect at the target service that carries a value: some record explains it. Judged
 * at the end of a run in which all work is done: each record that the writer accepted has an effect
 * with its own content; a name that was taken by another payload does not count.
 *
 * Claims: CT-AL-5, TX-DET-1. Mutants that must trip it: names that collide after a rescale (m-cs-28),
 * half a batch taken for all of it (m-ct-17).
 * Not to be flagged: effects without a value (a queue, a stream); effects at other services; a record
 * that is still on its way when a job stands in a terminal error. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (entry->service == judge->facts->target_service && entry->record == 0 && entry->value != 0) {
        judge_violation(judge,
                        position,
                        SUBJECT_EFFECT,
                        entry->value,
                        "no record explains the value of resource %" PRIu32 ", generation %" PRIu32,
                        entry->resource,
                        entry->generation);
    }
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (judge->end != RUN_END_COMPLETE) {
        return;
    }
    for (uint32_t index = 0; index < ledger->missing_count; index++) {
        const record_id record = ledger->missing[index];
        if (ledger_record(ledger, record)->outcome == OUTCOME_ACCEPTED) {
            judge_violation(judge,
                            POSITION_END,
                            SUBJECT_RECORD,
                            record,
                            "record %" PRIu32 " was accepted and its value is nowhere",
                            record);
            return;
        }
    }
}

static const char *const mutants[] = {"m-cs-28", "m-ct-17", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_NONE};

const struct oracle_type oracle_value_intact = {
    .name = "value-intact",
    .sentence = "every effect is explained by a record, and every accepted record by an effect",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED) | KIND(WORLD_VISIBLE),
    .kinds_unusual = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED) | KIND(WORLD_VISIBLE),
    .on_entry = on_entry,
    .at_end = at_end,
};
