/* exactly-once-write: a record has at most one visible destination effect at any time, and exactly one
 * after recovery if a completed checkpoint covers it.
 *
 * The first half is judged at every effect, as effectively-once does; the second at the end, as
 * at-least-once does, for records that are covered and neither skipped nor dropped.
 *
 * Claims: CT-EO-1, CT-EO-2, CT-EO-6, CT-EO-8, CT-EO-9a, CT-EO-13. Mutants that must trip it: creation
 * before the notice (m-cs-01), a new identity at restore or retry (m-cs-03), a deadline that is
 * refreshed, checked once or relative (m-cs-04, m-cs-06, m-cs-07), sends after close (m-cs-17), a
 * list that is restored twice (m-cs-21), names that depend on the subtask (m-cs-28).
 * Not to be flagged: a task that was created once and has gone; a record that is not covered and has
 * no effect; what the scope filter of the scenario excuses. */
#include "sim/oracle_excuse.h"
#include "sim/oracle_ledger.h"
#include "sim/oracle_once.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    once_judge_effect(judge, entry, position);
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    for (uint32_t index = 0; index < ledger->missing_count; index++) {
        const record_id record = ledger->missing[index];
        const char *excuse = excuse_of_missing(judge, record);
        if (excuse != NULL) {
            judge_inconclusive(
                judge, POSITION_END, "record %" PRIu32 " has no effect: %s", record, excuse);
            continue;
        }
        judge_violation(judge,
                        POSITION_END,
                        SUBJECT_RECORD,
                        record,
                        "record %" PRIu32 " is covered and has no effect after recovery",
                        record);
    }
}

static const char *const mutants[] = {
    "m-cs-01", "m-cs-03", "m-cs-04", "m-cs-06", "m-cs-07", "m-cs-17", "m-cs-21", "m-cs-28", NULL};
static const uint16_t marks[] = {
    MARK_JUDGE_EFFECT, MARK_JUDGE_RECORD_COVERED, MARK_JUDGE_RESTORE, MARK_NONE};

const struct oracle_type oracle_exactly_once_write = {
    .name = "exactly-once-write",
    .sentence = "at most one visible effect per record at any time, exactly one after recovery",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE),
    .kinds_unusual = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE),
    .on_entry = on_entry,
    .at_end = at_end,
};
