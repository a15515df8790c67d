/* A handler that knows what it did (T12): it is run as often as tasks are dispatched, and has its
 * effect once per key, in one step with its own note of that. The key is the task's name, which is
 * delivered in a header, or the record that the body carries. A body that is nobody's record goes by
 * its name. */
#include "models/cloudtasks/state.h"

#include <string.h>

#define LEDGER_SIZE_MIN 64u

static void ledger_grow(struct cloudtasks *state, record_id record)
{
    struct arena *arena = state->env.world->arena;
    uint32_t size = state->ledger_size == 0 ? LEDGER_SIZE_MIN : state->ledger_size;
    while (size <= record) {
        CHECK(size <= UINT32_MAX / 2);
        size *= 2;
    }
    uint8_t *grown = arena_take_recycled(arena, size);
    memset(grown, 0, size);
    if (state->ledger_size > 0) {
        memcpy(grown, state->ledger, state->ledger_size);
        arena_give_recycled(arena, state->ledger, state->ledger_size);
    }
    state->ledger = grown;
    state->ledger_size = size;
}

/* Enter a record; false if the ledger has it. */
static bool enter_record(struct cloudtasks *state, record_id record)
{
    if (record >= state->ledger_size) {
        ledger_grow(state, record);
    }
    const bool is_new = state->ledger[record] == 0;
    state->ledger[record] = 1;
    return is_new;
}

static bool enter_name(struct task *task)
{
    const bool is_new = !task->in_ledger;
    task->in_ledger = true;
    return is_new;
}

/* An idempotent handler does a record again to no effect, which is a ledger by record. */
static bool goes_by_record(const struct cloudtasks *state)
{
    return cloudtasks_option(state, OPTION_HANDLER) == HANDLER_IDEMPOTENT ||
           cloudtasks_option(state, OPTION_LEDGER_KEY) == LEDGER_KEY_RECORD;
}

void cloudtasks_ledger_handled(struct cloudtasks *state, struct task *task)
{
    const record_id record = task->content.record;
    CHECK(cloudtasks_option(state, OPTION_HANDLER) != HANDLER_PLAIN);
    const bool is_new =
        record != 0 && goes_by_record(state) ? enter_record(state, record) : enter_name(task);
    if (is_new) {
        cloudtasks_task_visible(state, task, CLOUDTASKS_READER_HANDLER_LEDGER, NULL);
    } else {
        COVER(state->env.world, CLOUDTASKS_HANDLER_KNEW);
    }
}
