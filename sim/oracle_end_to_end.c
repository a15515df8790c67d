/* end-to-end: source, failure policy and consumer included, each record of the source is there exactly
 * once for the consumer at the end.
 *
 * The consumer is a reader class, which need not be the one of the write oracles: what it sees twice, sees withdrawn or never sees is broken,
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

/* What a consumer of a class of its own saw, by kin - 1. */
struct sight {
    uint32_t seen;
    uint32_t visible;
};

struct end_to_end {
    struct sight *sights; /* NULL: the consumer is the judged reader, whom the ledger follows */
};

static void init(void *state, struct judge *judge)
{
    struct end_to_end *end = state;
    if (judge->facts->consumer_class != judge->facts->reader_class) {
        end->sights =
            arena_take_zeroed(judge->arena, judge->log->record_count * sizeof(struct sight) + 1);
    }
}

/* Class 0 sees what is stored as it is stored; the others by entries of their own. */
static bool is_sight(const struct judge *judge, const struct journal_entry *entry)
{
    const uint8_t consumer = judge->facts->consumer_class;
    return entry->service == judge->facts->target_service && entry->record != 0 &&
           (consumer == 0 ? entry->kind == WORLD_CREATED
                          : entry->kind != WORLD_CREATED && entry->code == consumer);
}

static void on_sight(const struct end_to_end *end,
                     struct judge *judge,
                     const struct journal_entry *entry,
                     uint32_t position)
{
    const struct ledger_record *item = ledger_record(judge->ledger, entry->record);
    struct sight *sight = &end->sights[item->kin - 1];
    const uint32_t members = ledger_kin(judge->ledger, entry->record)->members;
    if (entry->kind == WORLD_HIDDEN) {
        sight->visible -= sight->visible > 0 ? 1u : 0u;
        return;
    }
    sight->seen++;
    sight->visible++;
    if (sight->visible > members) {
        judge_violation(judge,
                        position,
                        SUBJECT_RECORD,
                        entry->record,
                        "the consumer has record %" PRIu32 " %" PRIu32 " times where %" PRIu32
                        " may be",
                        entry->record,
                        sight->visible,
                        members);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct end_to_end *end = state;
    if (end->sights == NULL) {
        once_judge_effect(judge, entry, position);
    } else if (is_sight(judge, entry)) {
        on_sight(end, judge, entry, position);
    }
}

/* How many of this payload the consumer should have and has. */
static void
judge_payload(const struct end_to_end *end, struct judge *judge, record_id record, uint32_t wanted)
{
    const struct ledger *ledger = judge->ledger;
    const struct sight *sight = end->sights == NULL ? NULL : &end->sights[record - 1];
    const uint32_t had = sight == NULL ? ledger_effects(ledger, record) : sight->seen;
    const uint32_t has = sight == NULL ? ledger_writes(ledger, record) : sight->visible;
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
            judge_payload(state, judge, record, item->members);
        }
    }
}

static const char *const mutants[] = {
    "m-cs-03", "m-cs-08", "m-cs-10", "m-cs-11", "m-cs-14", "m-cs-28", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_JUDGE_RESTORE, MARK_NONE};

const struct oracle_type oracle_end_to_end = {
    .name = "end-to-end",
    .sentence = "each record of the source is there exactly once for the consumer at the end",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE) | KIND(WORLD_HIDDEN),
    .state_size = sizeof(struct end_to_end),
    .init = init,
    .on_entry = on_entry,
    .at_end = at_end,
};
