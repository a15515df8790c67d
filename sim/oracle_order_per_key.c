/* order-per-key: first occurrences are in order per key, subtask and attempt.
 *
 * The order is the one in which the records of a key were handed to the writer of one subtask in one
 * attempt. Judged at the first effect that a request of this attempt has for a record: no later record
 * of the same key had its first effect before it.
 *
 * Claims: PS-3, PS-4. Mutants that must trip it: a retry that overtakes (m-ct-01 and m-ct-09 park
 * requests while later ones of their key go on).
 * Not to be flagged: records of two keys, subtasks or attempts; a record that is applied again; records
 * without a key; effects of a replaced attempt after its records were handed over anew. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"
#include "sim/oracle_table.h"
#include "sinks/base/digest.h"

#include <inttypes.h>

/* Of a record, in the attempt that it was last handed to. */
struct turn {
    uint32_t handed; /* journal position of the hand-over, + 1 */
    uint16_t attempt;
    lane lane;
    bool applied;
};

/* Of a key in one subtask and attempt. */
struct queue_of_key {
    uint32_t applied; /* latest hand-over among those with an effect */
    record_id record;
};

struct order_per_key {
    struct turn *turns; /* by record - 1 */
    struct oracle_table queues;
};

static void init(void *state, struct judge *judge)
{
    struct order_per_key *order = state;
    order->turns =
        arena_take_zeroed(judge->arena, judge->log->record_count * sizeof(order->turns[0]) + 1);
}

static void on_effect(struct order_per_key *order,
                      struct judge *judge,
                      const struct journal_entry *entry,
                      uint32_t position)
{
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    if (entry->record == 0 || entry->service != judge->facts->target_service || request == NULL) {
        return;
    }
    struct turn *turn = &order->turns[entry->record - 1];
    const struct bytes key = judge->log->records[entry->record - 1].record.key;
    if (key.size == 0 || turn->handed == 0 || turn->attempt != request->attempt || turn->applied) {
        return;
    }
    turn->applied = true;
    const uint64_t where =
        digest_fold(digest_bytes(key), (uint64_t)turn->attempt << 16 | turn->lane);
    struct queue_of_key *queue =
        oracle_table_at(&order->queues, judge->arena, where, sizeof(*queue));
    if (turn->handed < queue->applied) {
        judge_violation(judge,
                        position,
                        SUBJECT_RECORD,
                        entry->record,
                        "record %" PRIu32 " comes after record %" PRIu32
                        " of the same key, which was handed over later",
                        entry->record,
                        queue->record);
        return;
    }
    *queue = (struct queue_of_key){.applied = turn->handed, .record = entry->record};
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct order_per_key *order = state;
    if (entry->kind != HOST_RECORD) {
        on_effect(order, judge, entry, position);
        return;
    }
    struct turn *turn = &order->turns[entry->record - 1];
    if (entry->attempt >= turn->attempt) {
        *turn =
            (struct turn){.handed = position + 1, .attempt = entry->attempt, .lane = entry->lane};
    }
}

static const char *const mutants[] = {"m-ct-01", "m-ct-09", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_NONE};

const struct oracle_type oracle_order_per_key = {
    .name = "order-per-key",
    .sentence = "first occurrences are in order per key, subtask and attempt",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_RECORD) | KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .state_size = sizeof(struct order_per_key),
    .init = init,
    .on_entry = on_entry,
};
