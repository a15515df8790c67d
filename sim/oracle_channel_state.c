/* channel-state: what an unaligned barrier overtakes is in its checkpoint, with its bytes, and comes
 * before other input after a restore.
 *
 * Judged at every completed checkpoint, by the order in which writers were handed records and
 * barriers: what the positions cover has reached its writer before the barrier, or is stored as
 * channel state, and never both; what is stored is covered; and the bytes of the channel state are
 * those of its records, so that they grow with it. Judged at every hand-over: of one split, a writer
 * gets no record before an earlier one, which is what keeps restored channel state in front. Where a
 * rescale joins channels, their states have no order among each other.
 *
 * Claims: EN-3. Mutants that must trip it: channel state that a restore forgets (m-en-20), that comes
 * back behind the source's input (m-en-21), that is stored without what still arrives (m-en-22).
 * Not to be flagged: aligned and at-least-once barriers, which overtake nothing; a record that its
 * source no longer has; a start at the source's own position. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

/* The last hand-over of a record. */
struct handed {
    uint32_t behind;  /* the barrier that its writer had had by then */
    uint16_t attempt; /* 0: never */
    uint8_t writer;
    bool gone; /* its source no longer has it */
};

struct channel_state {
    struct handed *handed;                  /* by record - 1 */
    record_id *latest;                      /* per split and writer: the last that it was handed */
    uint16_t latest_attempt;                /* in which latest counts */
    const struct stored_checkpoint *joined; /* restored at another parallelism; NULL: none was */
    bool at_own_position; /* where the source went on by itself: what is before is in no state */
};

static uint32_t split_count(const struct judge *judge)
{
    return judge->log->split_count;
}

static void init(void *state, struct judge *judge)
{
    struct channel_state *channels = state;
    channels->handed =
        arena_take_zeroed(judge->arena, judge->log->record_count * sizeof(struct handed) + 1);
    channels->latest = arena_take_zeroed(
        judge->arena, (size_t)split_count(judge) * LEDGER_LANES * sizeof(record_id) + 1);
}

static void report(
    struct judge *judge, uint32_t position, uint32_t checkpoint, record_id record, const char *what)
{
    judge_violation(judge,
                    position,
                    SUBJECT_RECORD,
                    record,
                    "checkpoint %" PRIu32 " %s record %" PRIu32,
                    checkpoint,
                    what,
                    record);
}

/* --- hand-overs -------------------------------------------------------------------------------- */

/* A writer of a new attempt has been handed nothing. */
static void forget(struct channel_state *channels, const struct judge *judge, uint32_t writer)
{
    for (uint32_t split = 0; split < split_count(judge); split++) {
        channels->latest[split * LEDGER_LANES + writer] = 0;
    }
}

static bool have_order(const struct channel_state *channels,
                       const struct judge *judge,
                       record_id record,
                       record_id other)
{
    const struct stored_checkpoint *joined = channels->joined;
    return other != 0 &&
           (joined == NULL || !store_in_flight(judge->store, joined->number, record) ||
            !store_in_flight(judge->store, joined->number, other));
}

static void on_record(struct channel_state *channels,
                      struct judge *judge,
                      const struct journal_entry *entry,
                      uint32_t position)
{
    if (!ledger_is_current(judge->ledger, entry)) {
        return; /* a zombie's */
    }
    const struct ledger_lane *writer = ledger_lane(judge->ledger, entry->lane);
    channels->handed[entry->record - 1] = (struct handed){
        .behind = writer->attempt == entry->attempt ? writer->barrier : 0,
        .attempt = entry->attempt,
        .writer = (uint8_t)lane_index_of(entry->lane),
    };
    const uint32_t split = judge->log->records[entry->record - 1].record.split;
    record_id *latest = &channels->latest[split * LEDGER_LANES + lane_index_of(entry->lane)];
    const bool is_behind = entry->record <= *latest;
    if (is_behind && have_order(channels, judge, entry->record, *latest)) {
        judge_violation(judge,
                        position,
                        SUBJECT_RECORD,
                        entry->record,
                        "record %" PRIu32 " reaches its writer behind record %" PRIu32
                        " of the same split",
                        entry->record,
                        *latest);
    }
    *latest = is_behind ? *latest : entry->record;
}

static void start_judging(struct channel_state *channels,
                          const struct judge *judge,
                          const struct journal_entry *entry)
{
    const struct stored_checkpoint *stored =
        entry->checkpoint == 0 ? NULL : store_get(judge->store, entry->checkpoint);
    channels->at_own_position = (entry->b & ~(uint64_t)START_NEXT_SINK) == START_OWN_POSITION;
    channels->joined = stored != NULL && stored->subtasks != entry->a ? stored : NULL;
    for (uint32_t writer = 0; writer < LEDGER_LANES; writer++) {
        forget(channels, judge, writer);
    }
}

/* --- checkpoints ------------------------------------------------------------------------------- */

static bool is_before_barrier(const struct channel_state *channels,
                              const struct judge *judge,
                              record_id record,
                              uint32_t checkpoint)
{
    const struct handed *handed = &channels->handed[record - 1];
    return handed->attempt == judge->ledger->attempts[handed->writer] && handed->attempt != 0 &&
           handed->behind < checkpoint;
}

static void judge_stored(const struct channel_state *channels,
                         struct judge *judge,
                         const struct stored_checkpoint *stored,
                         uint32_t position)
{
    for (uint32_t i = 0; i < stored->in_flight_count; i++) {
        const record_id record = stored->in_flight[i].record;
        if (!store_covers(judge->store, stored->number, record)) {
            report(judge, position, stored->number, record, "has in its channels and leaves out");
        } else if (is_before_barrier(channels, judge, record, stored->number)) {
            report(judge, position, stored->number, record, "has in its channels and in its state");
        }
    }
}

/* What the ledger has newly found in a sink's state must have got there. */
static void judge_arrived(const struct channel_state *channels,
                          struct judge *judge,
                          const struct stored_checkpoint *stored,
                          uint32_t position)
{
    for (uint32_t i = 0; i < judge->ledger->batch_count; i++) {
        const record_id record = judge->ledger->batch[i];
        if (!channels->handed[record - 1].gone &&
            !is_before_barrier(channels, judge, record, stored->number)) {
            report(judge, position, stored->number, record, "covers and has nowhere");
            return;
        }
    }
}

static void judge_bytes(struct judge *judge,
                        const struct stored_checkpoint *stored,
                        uint64_t bytes,
                        uint32_t position)
{
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < stored->in_flight_count; i++) {
        const struct sink_record *record =
            &judge->log->records[stored->in_flight[i].record - 1].record;
        wanted += record->key.size + record->value.size;
    }
    if (bytes != wanted) {
        judge_violation(judge,
                        position,
                        SUBJECT_CHECKPOINT,
                        stored->number,
                        "checkpoint %" PRIu32 " holds %" PRIu32
                        " records in its channels, of %" PRIu64 " bytes, and counts %" PRIu64,
                        stored->number,
                        stored->in_flight_count,
                        wanted,
                        bytes);
    }
}

static void judge_completed(const struct channel_state *channels,
                            struct judge *judge,
                            const struct journal_entry *entry,
                            uint32_t position)
{
    const struct stored_checkpoint *stored = store_get(judge->store, entry->checkpoint);
    judge_stored(channels, judge, stored, position);
    judge_bytes(judge, stored, entry->a, position);
    if (!channels->at_own_position) {
        judge_arrived(channels, judge, stored, position);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct channel_state *channels = state;
    if (entry->kind == HOST_RECORD) {
        on_record(channels, judge, entry, position);
    } else if (entry->kind == HOST_RECORD_GONE) {
        channels->handed[entry->record - 1].gone = true;
    } else if (entry->kind == HOST_JOB_STARTED) {
        start_judging(channels, judge, entry);
    } else if (entry->kind == HOST_REGION_STARTED) {
        forget(channels, judge, lane_index_of(entry->lane));
    } else {
        judge_completed(channels, judge, entry, position);
    }
}

static const char *const mutants[] = {"m-en-20", "m-en-21", "m-en-22", NULL};
static const uint16_t marks[] = {MARK_JUDGE_IN_FLIGHT, MARK_JUDGE_IN_FLIGHT_RESTORED, MARK_NONE};

const struct oracle_type oracle_channel_state = {
    .name = "channel-state",
    .sentence = "what a barrier overtakes is in its checkpoint, and comes first after a restore",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_RECORD) | KIND(HOST_RECORD_GONE) | KIND(HOST_JOB_STARTED) |
             KIND(HOST_REGION_STARTED) | KIND(HOST_CHECKPOINT_COMPLETED),
    .state_size = sizeof(struct channel_state),
    .init = init,
    .on_entry = on_entry,
};
