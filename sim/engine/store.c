#include "sim/engine/store.h"

#include <string.h>

void store_init(struct store *store,
                struct arena *arena,
                const struct source_log *log,
                uint32_t retained_max)
{
    CHECK(log->split_count == 0 || log->split_starts[log->split_count] == log->record_count);
    *store = (struct store){
        .arena = arena,
        .log = log,
        .retained_max = retained_max == 0 ? 1 : retained_max,
    };
}

static void store_grow(struct store *store)
{
    uint32_t capacity = store->checkpoint_capacity == 0 ? 16 : store->checkpoint_capacity * 2;
    struct stored_checkpoint **checkpoints =
        arena_take(store->arena, capacity * sizeof(struct stored_checkpoint *));
    if (store->checkpoint_count > 0) {
        memcpy(checkpoints,
               store->checkpoints,
               store->checkpoint_count * sizeof(struct stored_checkpoint *));
    }
    store->checkpoints = checkpoints;
    store->checkpoint_capacity = capacity;
}

struct stored_checkpoint *store_begin(struct store *store, uint16_t attempt)
{
    if (store->checkpoint_count == store->checkpoint_capacity) {
        store_grow(store);
    }
    struct stored_checkpoint *checkpoint =
        arena_take_zeroed(store->arena, sizeof(struct stored_checkpoint));
    checkpoint->number = store->checkpoint_count + 1;
    checkpoint->state = STORE_PENDING;
    checkpoint->attempt = attempt;
    store->checkpoints[store->checkpoint_count] = checkpoint;
    store->checkpoint_count++;
    return checkpoint;
}

struct stored_checkpoint *store_get(const struct store *store, uint32_t number)
{
    CHECK(number >= 1);
    CHECK(number <= store->checkpoint_count);
    struct stored_checkpoint *checkpoint = store->checkpoints[number - 1];
    CHECK(checkpoint->number == number);
    return checkpoint;
}

/* Positions of a checkpoint that is to be complete: one per split, none past its end. */
static bool positions_are_valid(const struct store *store,
                                const struct stored_checkpoint *checkpoint)
{
    const struct source_log *log = store->log;
    if (log->split_count == 0) {
        return true;
    }
    if (checkpoint->positions == NULL) {
        return false;
    }
    for (uint32_t split = 0; split < log->split_count; split++) {
        uint32_t size = log->split_starts[split + 1] - log->split_starts[split];
        if (checkpoint->positions[split] > size) {
            return false;
        }
    }
    return true;
}

/* Numbers complete in order, so the oldest retained one is the first retained from where the last
 * search ended: the walk costs a constant per checkpoint over the run. */
static void let_go_of_oldest(struct store *store)
{
    while (store->retained_count > store->retained_max) {
        CHECK(store->retained_oldest < store->latest_completed);
        struct stored_checkpoint *checkpoint = store->checkpoints[store->retained_oldest];
        if (checkpoint->retained) {
            checkpoint->retained = false;
            store->retained_count--;
        }
        store->retained_oldest++;
    }
}

void store_complete(struct store *store, struct stored_checkpoint *checkpoint, nanos now)
{
    CHECK(checkpoint == store_get(store, checkpoint->number));
    CHECK(checkpoint->state == STORE_PENDING);
    CHECK(checkpoint->number > store->latest_completed);
    CHECK(positions_are_valid(store, checkpoint));
    checkpoint->state = STORE_COMPLETED;
    checkpoint->retained = true;
    checkpoint->completed_at = now;
    store->latest_completed = checkpoint->number;
    store->retained_count++;
    let_go_of_oldest(store);
    CHECK(checkpoint->retained);
}

void store_complete_savepoint(struct store *store, struct stored_checkpoint *checkpoint, nanos now)
{
    CHECK(checkpoint == store_get(store, checkpoint->number));
    CHECK(checkpoint->state == STORE_PENDING);
    CHECK(checkpoint->kind != STORE_CHECKPOINT);
    CHECK(positions_are_valid(store, checkpoint));
    checkpoint->state = STORE_COMPLETED;
    checkpoint->completed_at = now;
}

void store_abort(struct store *store, struct stored_checkpoint *checkpoint)
{
    CHECK(checkpoint == store_get(store, checkpoint->number));
    CHECK(checkpoint->state == STORE_PENDING);
    checkpoint->state = STORE_ABORTED;
}

bool store_in_flight(const struct store *store, uint32_t number, record_id record)
{
    CHECK(record >= 1);
    CHECK(record <= store->log->record_count);
    const uint64_t *bits = store_get(store, number)->in_flight_bits;
    return bits != NULL && (bits[(record - 1) / 64] >> ((record - 1) % 64) & 1) != 0;
}

bool store_covers(const struct store *store, uint32_t number, record_id record)
{
    const struct source_log *log = store->log;
    CHECK(record >= 1);
    CHECK(record <= log->record_count);
    const struct stored_checkpoint *checkpoint = store_get(store, number);
    uint32_t index = record - 1;
    uint32_t split = log->records[index].record.split;
    CHECK(split < log->split_count);
    CHECK(index >= log->split_starts[split]);
    CHECK(index < log->split_starts[split + 1]);
    return checkpoint->positions != NULL &&
           index - log->split_starts[split] < checkpoint->positions[split];
}
