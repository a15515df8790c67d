/* A subtask's thread: one thing at a time. While a half on it is busy, only completions, timers and
 * close reach it; a barrier waits for a running commit, a notice for a running flush, and notices
 * merge to the highest (C9, C10). Each delivery is one event. */
#include "sim/engine/engine.h"
#include "sinks/base/digest.h"

#include <string.h>

void task_create(struct job *job, uint32_t index)
{
    struct task *task = &job->tasks[index];
    struct region *region = region_of(job, index);
    struct channel *channels = task->channels; /* rings are kept over restarts */
    const bool has_own_source = job_is_regional(job);
    *task = (struct task){.job = job,
                          .region = region,
                          .source_first = has_own_source ? index : 0,
                          .source_end = has_own_source ? index + 1 : job->config->sources,
                          .index = index,
                          .node = job->task_nodes[index],
                          .attempt = region->attempt,
                          .last_barrier = region->restored, /* C5 counts on from there */
                          .channels = channels};
    if (channels == NULL) {
        task->channels =
            arena_take_zeroed(job->world->arena, job->config->sources * sizeof(struct channel));
        for (uint32_t i = 0; i < job->config->sources; i++) {
            channel_init(&task->channels[i], job);
        }
    }
    for (uint32_t i = 0; i < job->config->sources; i++) {
        task->channels[i].head = 0;
        task->channels[i].count = 0;
        task->channels[i].ended = false;
        task->channels[i].awaits = 0;
    }
}

/* Make and open the writer and its policy; the policy opens in the same event, first (2.3). */
static void open_writer(struct task *task)
{
    struct job *job = task->job;
    if (!region_is_whole(task->region, job)) {
        return; /* a process died: nothing of this attempt begins any more */
    }
    task->policy = half_create(job, job->config->policy, HALF_POLICY, task->node, task->index);
    task->policy->task_or_null = task;
    task->writer = half_create(job, job->sink->writer, HALF_WRITER, task->node, task->index);
    task->writer->task_or_null = task;
    task->writer->peer_or_null = task->policy;
    task->policy->peer_or_null = task->writer;
    if (task->writer->failed || task->policy->failed) {
        half_kill(task->writer); /* OPEN is the first event of a life: they get no CLOSE either */
        half_kill(task->policy);
        job_fail_at(task->writer, STOP_CAUSE_SINK, SINK_REASON_MEMORY);
        return;
    }
    half_tell(task->policy, SINK_EVENT_OPEN, 0);
    struct sink_event open = {.kind = SINK_EVENT_OPEN};
    open.u.open.pieces = task->piece_count == 0 ? NULL : task->pieces;
    open.u.open.piece_count = task->piece_count;
    open.u.open.restored = task->region->restored != 0;
    half_step(task->writer, &open);
}

void task_open(struct task *task)
{
    struct committer *chained = job_is_chained(task->job) ? task->committer_or_null : NULL;
    if (chained != NULL && chained->half == NULL) {
        committer_open(chained); /* the committer initialises first (FW3) */
        return;
    }
    if (task->writer == NULL) {
        open_writer(task);
    }
}

static bool committer_lets_open(const struct task *task)
{
    if (!job_is_chained(task->job) || task->committer_or_null == NULL) {
        return true;
    }
    const struct committer *committer = task->committer_or_null;
    return committer->half != NULL && half_is_idle(committer->half) && committer->restored == 0;
}

static bool is_free(const struct task *task)
{
    if (!task->running || task->mail_count > 0) {
        return false;
    }
    CHECK(task->writer != NULL); /* what runs has opened */
    if (!task->ended && !half_is_idle(task->writer)) {
        return false;
    }
    if (!job_is_chained(task->job) || task->committer_or_null == NULL) {
        return true;
    }
    return half_is_idle(task->committer_or_null->half);
}

static bool all_at_barrier(const struct task *task)
{
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        const struct channel *channel = &task->channels[i];
        if (channel_is_empty(channel) || ITEM_KIND(channel_head(channel)) != ITEM_BARRIER) {
            return false;
        }
    }
    return true;
}

static bool channel_is_readable(const struct task *task, const struct channel *channel)
{
    return !channel_is_empty(channel) &&
           (ITEM_KIND(channel_head(channel)) != ITEM_BARRIER ||
            task->job->config->barriers == JOB_BARRIERS_AT_LEAST_ONCE);
}

static bool has_input(const struct task *task)
{
    if (barrier_is_to_overtake(task)) {
        return true;
    }
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        if (channel_is_readable(task, &task->channels[i])) {
            return true;
        }
    }
    return all_at_barrier(task);
}

static bool has_delivery(const struct task *task)
{
    if (task->notice > task->noticed || task->aborted > 0) {
        return true;
    }
    bool chained = job_is_chained(task->job) && task->committer_or_null != NULL;
    if (chained && committer_has_work(task->committer_or_null)) {
        return true;
    }
    return has_input(task);
}

bool task_is_idle(const struct task *task)
{
    return is_free(task) && !has_delivery(task);
}

void task_schedule(struct task *task)
{
    if (task->run_scheduled) {
        return;
    }
    bool opening = !task->running && task->committer_or_null != NULL && job_is_chained(task->job) &&
                   task->committer_or_null->half != NULL &&
                   half_is_idle(task->committer_or_null->half);
    const bool wanted = opening || (is_free(task) && has_delivery(task));
    if (!wanted || !region_is_live(task->region, task->job)) {
        return;
    }
    task->run_scheduled = true;
    (void)job_schedule(task->job,
                       task->node,
                       ENGINE_TASK_RUN,
                       job_cpu_free(task->job, task->node),
                       task->attempt,
                       task->index);
}

/* Which of the readable channels is read: in turn, unless the tape has another go first. */
static struct channel *pick_channel(struct task *task, uint32_t *index)
{
    const uint32_t first = task->source_first;
    const uint32_t end = task->source_end;
    uint32_t readable[4];
    uint32_t count = 0;
    uint32_t at = first + task->channel_turn;
    for (uint32_t left = end - first; left > 0 && count < ARRAY_COUNT(readable); left--) {
        if (channel_is_readable(task, &task->channels[at])) {
            readable[count] = at;
            count++;
        }
        at = at + 1 < end ? at + 1 : first;
    }
    if (count == 0) {
        return NULL;
    }
    uint32_t pick = 0;
    if (count > 1) {
        pick = engine_pick(
            task->job, ENGINE_SITE_CHANNEL, task->writer->lane, (UINT32_C(1) << count) - 1);
    }
    *index = readable[pick];
    task->channel_turn = *index + 1 < end ? *index + 1 - first : 0;
    return &task->channels[*index];
}

static void deliver_record(struct task *task, record_id record)
{
    struct half *writer = task->writer;
    const struct source_record *source = &task->job->config->log->records[record - 1];
    struct sink_event event; /* nothing but the record is the writer's to read */
    event.kind = SINK_EVENT_RECORD;
    event.u.record = source->record;
    event.u.record.token = ((uint64_t)task->attempt << 32) | record;
    writer->record_open = true;
    writer->record = record;
    job_note(
        task->job,
        (struct journal_entry){
            .kind = HOST_RECORD, .lane = writer->lane, .attempt = task->attempt, .record = record});
    half_step(writer, &event);
}

static void open_barrier(struct task *task, uint64_t checkpoint, enum sink_event_kind kind)
{
    struct half *writer = task->writer;
    writer->barrier_open = true;
    writer->barrier = checkpoint;
    job_note(
        task->job,
        (struct journal_entry){.kind = kind == SINK_EVENT_BARRIER ? HOST_BARRIER : HOST_INPUT_ENDED,
                               .lane = writer->lane,
                               .attempt = task->attempt,
                               .checkpoint = (uint32_t)checkpoint});
    struct sink_event event = {.kind = (uint8_t)kind};
    event.u.checkpoint = checkpoint;
    if (kind == SINK_EVENT_END_OF_INPUT) {
        event.u.end.checkpoint = job_is_batch(task->job) ? 0 : task->last_barrier + 1; /* C5 */
    }
    half_step(writer, &event);
}

static void deliver_barrier(struct task *task)
{
    uint32_t checkpoint = 0;
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        checkpoint = ITEM_VALUE(channel_pop(&task->channels[i]));
        source_wake(task->job, i);
    }
    task->last_barrier = checkpoint;
    open_barrier(task, checkpoint, SINK_EVENT_BARRIER);
}

static void end_channel(struct task *task, struct channel *channel)
{
    channel->ended = true;
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        if (!task->channels[i].ended) {
            task_schedule(task);
            return;
        }
    }
    task->end_delivered = true;
    open_barrier(task, SINK_END_OF_INPUT, SINK_EVENT_END_OF_INPUT);
}

static void deliver_input(struct task *task)
{
    if (barrier_is_to_overtake(task)) {
        barrier_overtake(task);
        open_barrier(task, task->overtook, SINK_EVENT_BARRIER);
        return;
    }
    uint32_t index = 0;
    struct channel *channel = pick_channel(task, &index);
    if (channel == NULL) {
        if (all_at_barrier(task)) {
            deliver_barrier(task);
        }
        return;
    }
    channel_item item = channel_pop(channel);
    source_wake(task->job, index);
    if (ITEM_KIND(item) == ITEM_RECORD) {
        deliver_record(task, ITEM_VALUE(item));
    } else if (ITEM_KIND(item) == ITEM_BARRIER) {
        if (barrier_pass(task, channel, ITEM_VALUE(item))) {
            open_barrier(task, ITEM_VALUE(item), SINK_EVENT_BARRIER);
        } else {
            task_schedule(task);
        }
    } else {
        end_channel(task, channel);
    }
}

static void deliver_notice(struct task *task)
{
    task->noticed = task->notice;
    struct committer *committer = task->committer_or_null;
    if (job_is_chained(task->job) && committer != NULL) {
        committer_notice(committer, task->notice);
    }
    half_tell(task->writer, SINK_EVENT_CHECKPOINT_COMPLETE, task->notice);
}

void task_run(struct task *task)
{
    task->run_scheduled = false;
    struct committer *chained = job_is_chained(task->job) ? task->committer_or_null : NULL;
    if (!task->running) {
        bool started = chained != NULL && committer_step_once(chained);
        if (!started && task->writer == NULL && committer_lets_open(task)) {
            open_writer(task);
        }
        return;
    }
    if (!is_free(task)) {
        return;
    }
    if (task->notice > task->noticed) {
        deliver_notice(task);
    } else if (task->aborted > 0) {
        uint32_t aborted = task->aborted;
        task->aborted = 0;
        half_tell(task->writer, SINK_EVENT_CHECKPOINT_ABORTED, aborted);
    } else if (chained == NULL || !committer_step_once(chained)) {
        deliver_input(task);
    }
}

bool task_take_mail(struct task *task, struct sink_event *event)
{
    if (task->mail_count == 0) {
        return false;
    }
    struct task_mail mail = task->mails[task->mail_head];
    task->mail_head = (task->mail_head + 1) % TASK_MAIL_MAX;
    task->mail_count--;
    *event = (struct sink_event){.kind = mail.kind};
    event->u.policy.token = mail.token;
    event->u.policy.reason = mail.reason;
    return true;
}

void task_progress(struct task *task)
{
    bool made = task->writer != NULL && task->policy != NULL;
    if (made && !task->running && task->writer->opened && task->policy->opened) {
        task->running = true;
    }
    task_schedule(task);
}

void task_mail(struct half *policy, enum sink_event_kind kind, uint64_t token, uint32_t reason)
{
    struct task *task = policy->task_or_null;
    if (policy->attempt != task->attempt) {
        return; /* the task is another's by now: a zombie's writer waits for ever */
    }
    if (task->mail_count == TASK_MAIL_MAX) {
        half_broke(policy, CONTRACT_EFFECTS_OVERFLOW, TASK_MAIL_MAX);
        return;
    }
    uint32_t at = (task->mail_head + task->mail_count) % TASK_MAIL_MAX;
    task->mails[at] = (struct task_mail){.kind = (uint8_t)kind, .token = token, .reason = reason};
    task->mail_count++;
}

/* Bytes that lie within the whole, as names mostly do, are shared with its copy. */
static struct bytes
copy_part(struct job *job, struct bytes part, struct bytes whole, const uint8_t *whole_copy)
{
    const uintptr_t offset = (uintptr_t)part.data - (uintptr_t)whole.data;
    if (part.size == 0 || offset > whole.size || part.size > whole.size - offset) {
        return job_copy(job, part);
    }
    return (struct bytes){whole_copy + offset, part.size};
}

/* A copy of all that the committable holds, in one block. */
static struct stored_request *
store_request(struct task *task, const struct sink_committable *item, uint32_t checkpoint)
{
    struct job *job = task->job;
    struct stored_request *request =
        arena_take(job->world->arena, sizeof(*request) + item->data.size);
    uint8_t *data = (uint8_t *)request + sizeof(*request);
    if (item->data.size > 0) {
        memcpy(data, item->data.data, item->data.size);
    }
    *request = (struct stored_request){
        .request = {.header = item->header, .data = {data, item->data.size}},
        .identity = digest_bytes(item->header.identity),
        .value = digest_bytes(item->data),
        .record = (record_id)item->token,
        .staged_at = world_now(job->world),
        .checkpoint = checkpoint};
    request->request.header.identity = copy_part(job, item->header.identity, item->data, data);
    return request;
}

/* What a writer's answer belongs to: behind the end of input, the checkpoint that comes next (C5). */
static uint32_t checkpoint_of(const struct task *task, uint64_t barrier)
{
    if (barrier != SINK_END_OF_INPUT) {
        return (uint32_t)barrier;
    }
    return job_is_batch(task->job) ? coordinator_stage(task->job) : task->last_barrier + 1;
}

void task_stage(struct task *task, struct sink_committable *first)
{
    const uint32_t checkpoint = checkpoint_of(task, task->writer->barrier);
    for (struct sink_committable *item = first; item != NULL; item = item->next) {
        struct stored_request *request = store_request(task, item, checkpoint);
        job_note(task->job,
                 (struct journal_entry){.kind = HOST_STAGED,
                                        .lane = task->writer->lane,
                                        .attempt = task->attempt,
                                        .record = request->record,
                                        .checkpoint = checkpoint,
                                        .identity = request->identity,
                                        .value = request->value,
                                        .a = item->header.origin,
                                        .b = item->header.deadline});
        if (task->committer_or_null == NULL) {
            half_broke(task->writer, CONTRACT_STATE_OUTSIDE_BARRIER, 1);
        } else if (job_is_chained(task->job)) {
            committer_receive(task->committer_or_null, request);
        } else {
            committer_edge(task->committer_or_null, task->index, request, checkpoint);
        }
    }
}

static void pass_barrier(struct task *task, uint32_t checkpoint)
{
    struct job *job = task->job;
    if (task->committer_or_null != NULL) {
        if (job_is_chained(job)) {
            committer_snapshot(task->committer_or_null, checkpoint);
        } else {
            committer_edge(task->committer_or_null, task->index, NULL, checkpoint);
        }
    }
    coordinator_part(job, checkpoint);
}

/* FW8: in batch mode a writer is closed behind the end of its input, before anything is committed. */
void task_barrier_done(struct task *task, uint64_t checkpoint)
{
    if (checkpoint != SINK_END_OF_INPUT) {
        pass_barrier(task, (uint32_t)checkpoint);
    } else if (job_is_batch(task->job)) {
        half_close(task->writer);
        half_close(task->policy);
    }
}

void task_half_ended(struct task *task)
{
    if (task->writer->gone && task->policy->gone) {
        COVER(task->job->world, ENGINE_WRITER_CLOSED_FIRST);
        task->ended = true;
        pass_barrier(task, coordinator_stage(task->job));
        task_schedule(task);
    }
}

bool task_is_done(const struct task *task)
{
    if (!task_is_idle(task)) {
        return false;
    }
    for (uint32_t i = task->source_first; i < task->source_end; i++) {
        if (!channel_is_empty(&task->channels[i])) {
            return false;
        }
    }
    return !task->job->config->bounded || task->end_delivered;
}
