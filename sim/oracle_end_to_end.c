/* end-to-end: source, failure policy and consumer included, each record of the source is there exactly
 * once for the consumer at the end.
 *
 * The consumer is the judged reader class: what it sees twice, sees withdrawn or never sees is broken,
 * whoever is at fault. A record that a policy dropped is absent: no policy is an excuse here (E2E-4).
 * Only what the user's own serializer gives nothing for is not to be there. A second effect is judged
 * when it comes; what is missing, at the end of finished work. A job that stands in a declared terminal
 * error has not come to its end.
 *
 * Claims: E2E-1 to E2E-6, EA-9. Mutants that must trip it: silent drops at commit (m-cs-08, m-cs-10,
 * m-cs-11, m-cs-14), new names on replay (m-cs-03), names from a subtask (m-cs-28).
 * Not to be flagged: a skipped record; equal payloads, each with its own effect; a task that was there
 * and has been done. */
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

/* How many of this payload the consumer should have and has. */
static void judge_payload(struct judge *judge, record_id record, uint32_t wanted)
{
    const struct ledger *ledger = judge->ledger;
    const uint32_t had = ledger_effects(ledger, record);
    const uint32_t has = ledger_writes(ledger, record);
    if (had >= wanted && has >= wanted) {
        return;
    }
    judge_violation(judge,
                    POSITION_END,
                    SUBJECT_RECORD,
                    record,
                    "record %" PRIu32 " %s at the end",
                    record,
                    had >= wanted ? "is withdrawn from the consumer"
                    : ledger_record(ledger, record)->outcome == OUTCOME_DROPPED
                        ? "was dropped and is absent for the consumer"
                        : "is absent for the consumer");
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    const uint64_t reasons = judge->facts->stop_reasons;
    if (judge->end == RUN_END_FAILED && ledger->failed &&
        (reasons >> ledger->failed_reason & 1) != 0) {
        judge_inconclusive(judge,
                           POSITION_END,
                           "the job stands in a declared error: %s",
                           sink_reason_name(ledger->failed_reason));
        return;
    }
    for (record_id record = 1; record <= judge->log->record_count; record++) {
        const struct ledger_record *item = ledger_record(ledger, record);
        const bool is_wanted = (judge->log->records[record - 1].traits & RECORD_SKIPPED) == 0;
        if (is_wanted && item->kin == record) {
            judge_payload(judge, record, item->members);
        }
    }
}

static const char *const mutants[] = {
    "m-cs-03", "m-cs-08", "m-cs-10", "m-cs-11", "m-cs-14", "m-cs-28", NULL};
static const char *const marks[] = {"judge_effect", "judge_restore", NULL};

const struct oracle_type oracle_end_to_end = {
    .name = "end-to-end",
    .sentence = "each record of the source is there exactly once for the consumer at the end",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE),
    .on_entry = on_entry,
    .at_end = at_end,
};
