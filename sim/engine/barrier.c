/* Barriers that do not wait for each other.
 *
 * At least once: a task reads on behind a barrier until the last channel has brought it, so that
 * records which the source's position does not cover get into the state before it.
 *
 * Unaligned: a barrier is delivered as soon as the first channel brings it. Records that it overtakes,
 * and those that reach other channels before their own copy of it, are stored as channel state. A
 * task has done its part when all copies have come. Committables on the edge to a committer are
 * never overtaken (FW7): that edge is the committer's own. */
#include "sim/engine/engine.h"

bool barrier_pass(struct task *task, struct channel *channel, uint32_t checkpoint)
{
    CHECK(checkpoint > channel->barrier);
    channel->barrier = checkpoint;
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        if (task->channels[i].barrier < checkpoint) {
            return false;
        }
    }
    task->last_barrier = checkpoint;
    return true;
}

static void channel_is_done(struct task *task)
{
    CHECK(task->awaited > 0);
    task->awaited--;
    if (task->awaited == 0) {
        coordinator_part(task->job, task->overtook);
    }
}

void barrier_arrive(struct task *task, uint32_t source, uint32_t checkpoint)
{
    struct channel *channel = &task->channels[source];
    if (checkpoint > task->overtook) {
        channel_push(channel, ITEM(ITEM_BARRIER, checkpoint));
        task->arrived = checkpoint;
        task_schedule(task);
    } else if (channel->awaits == checkpoint) {
        channel->awaits = 0;
        channel_is_done(task);
    } /* else it belongs to a checkpoint that was given up */
}

/* Take all barriers out of a channel and store the records before the one that overtakes them.
 * Without it all of them are, and those that still come before it. */
static void overtake_in(struct task *task, uint32_t source)
{
    struct channel *channel = &task->channels[source];
    bool found = false;
    for (uint32_t left = channel->count; left > 0; left--) {
        const channel_item item = channel_pop(channel);
        if (ITEM_KIND(item) == ITEM_BARRIER) {
            found = found || ITEM_VALUE(item) == task->overtook;
            continue;
        }
        if (ITEM_KIND(item) == ITEM_RECORD && !found) {
            coordinator_in_flight(task->job,
                                  task->overtook,
                                  (struct stored_in_flight){.subtask = task->index,
                                                            .source = source,
                                                            .record = ITEM_VALUE(item)});
        }
        channel_push(channel, item);
    }
    channel->awaits = found ? 0 : task->overtook;
    task->awaited += found ? 0 : 1;
}

void barrier_overtake(struct task *task)
{
    task->overtook = task->arrived;
    task->last_barrier = task->overtook;
    task->awaited = 1; /* this loop */
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        overtake_in(task, i);
    }
    channel_is_done(task);
}

/* Back into the channels of a part of the job, before the source's input; by the routing when the
 * parallelism is another. */
void barrier_restore(struct job *job,
                     const struct stored_checkpoint *stored,
                     uint32_t subtask_first,
                     uint32_t subtask_end)
{
    const bool same = stored->subtasks == job->subtasks;
    for (uint32_t i = 0; i < stored->in_flight_count; i++) {
        const struct stored_in_flight *record = &stored->in_flight[i];
        const uint32_t subtask = same ? record->subtask : source_route(job, record->record - 1);
        if (subtask < subtask_first || subtask >= subtask_end) {
            continue;
        }
        struct channel *channel = &job->tasks[subtask].channels[record->source];
        channel_reserve(channel, job, 1);
        channel_push(channel, ITEM(ITEM_RECORD, record->record));
    }
}
