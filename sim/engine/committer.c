/* The committer's collection, as the real framework keeps it.
 *
 *   C1  a snapshot stores a copy of the whole collection, before any commit of that checkpoint
 *   C2  commits run only on a notice, for every checkpoint up to it, ascending, one after another
 *   C3  committables of an aborted checkpoint stay and are committed with the next
 *   C4  a restored collection moves whole, and is committed before any input
 *   C6  a request without a signal counts as committed; retry-later is committed again
 */
#include "sim/engine/engine.h"

#include <string.h>

/* Give back the lists of the commit that ran; a zombie still reads them. */
static void release_running(struct committer *committer)
{
    struct arena *arena = committer->job->world->arena;
    size_t count = committer->running_count;
    if (count > 0) {
        arena_give_recycled(arena, committer->running, count * sizeof(committer->running[0]));
        arena_give_recycled(arena, committer->signals, count);
    }
    committer->running_count = 0;
}

void committer_create(struct job *job, uint32_t index)
{
    struct committer *committer = &job->committers[index];
    if (committer->half != NULL && committer->half->gone) {
        release_running(committer);
    }
    struct committer kept = *committer; /* arrays are kept over restarts */
    bool chained = job_is_chained(job);
    *committer = (struct committer){
        .job = job,
        .region = region_of(job, index),
        .index = index,
        .task_or_null = chained ? &job->tasks[index] : NULL,
        .writers = job->sink->committer_kind == SINK_COMMITTER_GLOBAL ? job->subtasks : 1,
        .requests = kept.requests,
        .request_capacity = kept.request_capacity,
        .edge = kept.edge,
        .edge_capacity = kept.edge_capacity};
}

void committer_open(struct committer *committer)
{
    struct job *job = committer->job;
    if (!region_is_whole(committer->region, job)) {
        return; /* a process died: nothing of this attempt begins any more */
    }
    bool chained = committer->task_or_null != NULL;
    uint32_t node =
        chained ? committer->task_or_null->node : job->committer_nodes[committer->index];
    committer->half =
        half_create(job, job->sink->committer_or_null, HALF_COMMITTER, node, committer->index);
    committer->half->committer_or_null = committer;
    committer->half->task_or_null = committer->task_or_null;
    if (committer->half->failed) {
        job_fail_at(committer->half, STOP_CAUSE_SINK, SINK_REASON_MEMORY);
        return;
    }
    struct sink_event open = {.kind = SINK_EVENT_OPEN};
    open.u.open.restored = committer->region->restored != 0;
    half_step(committer->half, &open);
}

static void *grown(
    struct committer *committer, void *items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    uint32_t more = *capacity == 0 ? 16 : *capacity * 2;
    struct arena *arena = committer->job->world->arena;
    void *memory = arena_take_recycled(arena, more * item_size);
    if (count > 0) {
        memcpy(memory, items, count * item_size);
    }
    if (*capacity > 0) {
        arena_give_recycled(arena, items, *capacity * item_size);
    }
    *capacity = more;
    return memory;
}

static SPECIALISED void note_request(struct committer *committer,
                                     enum journal_kind kind,
                                     const struct stored_request *request,
                                     uint8_t code)
{
    job_note(committer->job,
             (struct journal_entry){.kind = (uint8_t)kind,
                                    .code = code,
                                    .lane = lane_make(LANE_COMMITTER, committer->index),
                                    .attempt = committer->region->attempt,
                                    .record = request->record,
                                    .checkpoint = request->checkpoint,
                                    .identity = request->identity,
                                    .value = request->value});
}

/* Keep the collection ascending by checkpoint, in order of arrival within one. */
static void insert(struct committer *committer, const struct stored_request *request)
{
    if (committer->request_count == committer->request_capacity) {
        committer->requests = grown(committer,
                                    (void *)committer->requests,
                                    committer->request_count,
                                    &committer->request_capacity,
                                    sizeof(struct stored_request *));
    }
    uint32_t at = committer->request_count;
    while (at > 0 && committer->requests[at - 1]->checkpoint > request->checkpoint) {
        committer->requests[at] = committer->requests[at - 1];
        at--;
    }
    committer->requests[at] = request;
    committer->request_count++;
}

void committer_receive(struct committer *committer, const struct stored_request *request)
{
    insert(committer, request);
    note_request(committer, HOST_RECEIVED, request, 0);
}

void committer_restore(struct committer *committer, const struct stored_collection *collection)
{
    for (uint32_t i = 0; i < collection->request_count; i++) {
        const struct stored_request *request = collection->requests[i];
        insert(committer, request);
        note_request(committer, HOST_RESTORED, request, 0);
        if (request->checkpoint > committer->restored) {
            committer->restored = request->checkpoint;
        }
    }
}

void committer_edge(struct committer *committer,
                    uint32_t writer,
                    const struct stored_request *request_or_null,
                    uint32_t checkpoint)
{
    bool global = committer->job->sink->committer_kind == SINK_COMMITTER_GLOBAL;
    if (committer->edge_count == committer->edge_capacity) {
        committer->edge = grown(committer,
                                committer->edge,
                                committer->edge_count,
                                &committer->edge_capacity,
                                sizeof(committer->edge[0]));
    }
    committer->edge[committer->edge_count] = (struct edge_item){.request_or_null = request_or_null,
                                                                .subtask = global ? writer : 0,
                                                                .checkpoint = checkpoint};
    committer->edge_count++;
    committer_schedule(committer);
}

static bool has_group(const struct committer *committer, uint32_t up_to)
{
    return committer->request_count > 0 && committer->requests[0]->checkpoint <= up_to;
}

void committer_schedule(struct committer *committer)
{
    if (committer->task_or_null != NULL) {
        task_schedule(committer->task_or_null);
        return;
    }
    if (committer->run_scheduled || committer->half == NULL ||
        !region_is_live(committer->region, committer->job) || !half_is_idle(committer->half) ||
        !committer_has_work(committer)) {
        return;
    }
    committer->run_scheduled = true;
    (void)job_schedule(committer->job,
                       committer->half->node,
                       ENGINE_COMMITTER_RUN,
                       job_cpu_free(committer->job, committer->half->node),
                       committer->region->attempt,
                       committer->index);
}

static void run_commit(struct committer *committer)
{
    struct half *half = committer->half;
    half->commit_running = true;
    memset(committer->signals, 0, committer->running_count);
    job_note(committer->job,
             (struct journal_entry){.kind = HOST_COMMIT,
                                    .lane = half->lane,
                                    .attempt = half->attempt,
                                    .checkpoint = committer->running_checkpoint,
                                    .a = committer->running_count});
    for (uint32_t i = 0; i < committer->running_count; i++) {
        note_request(committer, HOST_COMMIT_REQUEST, committer->requests[i], 0);
    }
    struct sink_event event = {.kind = SINK_EVENT_COMMIT};
    event.u.commit.requests = committer->running;
    event.u.commit.count = committer->running_count;
    half_step(half, &event);
}

/* Commit the requests of the lowest checkpoint. */
static void start_group(struct committer *committer)
{
    struct arena *arena = committer->job->world->arena;
    committer->running_checkpoint = committer->requests[0]->checkpoint;
    uint32_t count = 0;
    while (count < committer->request_count &&
           committer->requests[count]->checkpoint == committer->running_checkpoint) {
        count++;
    }
    committer->running_count = count;
    committer->running = arena_take_recycled(arena, count * sizeof(committer->running[0]));
    committer->signals = arena_take_recycled(arena, count);
    for (uint32_t i = 0; i < count; i++) {
        committer->running[i] = committer->requests[i]->request;
    }
    SOMETIMES(committer->job->world,
              ENGINE_COMMITS_MERGED,
              committer->restored == 0 && committer->running_checkpoint < committer->notice);
    run_commit(committer);
}

/* Each writer passes on all barriers in order, and so the last one to reach a barrier aligns it. */
static bool is_aligned(struct committer *committer, const struct edge_item *item)
{
    CHECK(item->subtask < committer->writers);
    CHECK(item->checkpoint > committer->barriers_seen[item->subtask]);
    committer->barriers_seen[item->subtask] = item->checkpoint;
    for (uint32_t i = 0; i < committer->writers; i++) {
        if (committer->barriers_seen[i] < item->checkpoint) {
            return false;
        }
    }
    return true;
}

static void take_edge(struct committer *committer)
{
    struct edge_item item = committer->edge[committer->edge_head];
    committer->edge_head++;
    if (committer->edge_head == committer->edge_count) {
        committer->edge_head = 0;
        committer->edge_count = 0;
    }
    if (item.request_or_null != NULL) {
        committer_receive(committer, item.request_or_null);
        return;
    }
    if (is_aligned(committer, &item)) {
        committer_snapshot(committer, item.checkpoint);
        coordinator_part(committer->job, item.checkpoint);
    }
}

static bool step_notice(struct committer *committer)
{
    if (!committer->telling) {
        committer->telling = true;
        half_tell(committer->half, SINK_EVENT_CHECKPOINT_COMPLETE, committer->notice);
        return true;
    }
    if (has_group(committer, committer->notice)) {
        start_group(committer);
        return true;
    }
    committer->noticed = committer->notice;
    committer->telling = false;
    return false;
}

/* With both at hand, mail may overtake input. */
static bool notice_is_first(struct committer *committer)
{
    return committer->notice > committer->noticed &&
           engine_pick(committer->job, ENGINE_SITE_MAILBOX, committer->half->lane, CHOICE_ALL) != 0;
}

bool committer_step_once(struct committer *committer)
{
    if (!half_is_idle(committer->half) || !committer_has_work(committer)) {
        return false;
    }
    if (committer->restored > 0) {
        if (has_group(committer, committer->restored)) {
            start_group(committer);
            return true;
        }
        committer->restored = 0;
        committer_schedule(committer);
        return false;
    }
    if (committer->edge_head < committer->edge_count && !notice_is_first(committer)) {
        take_edge(committer);
        committer_schedule(committer);
        return true;
    }
    if (committer->notice > committer->noticed) {
        bool started = step_notice(committer);
        committer_schedule(committer);
        return started;
    }
    return false;
}

void committer_notice(struct committer *committer, uint32_t checkpoint)
{
    if (checkpoint > committer->notice) {
        committer->notice = checkpoint;
        committer->telling = false;
    }
    committer_schedule(committer);
}

/* C1: a copy of the whole collection; the requests themselves never change. A global committer may
 * hold what another writer staged behind this barrier: that waits for the barrier of its own, as it
 * does before an aligned input. */
void committer_snapshot(struct committer *committer, uint32_t checkpoint)
{
    struct job *job = committer->job;
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending == NULL) {
        return;
    }
    struct stored_checkpoint *stored = pending->stored;
    if (stored->collections == NULL) {
        stored->collections = arena_take_zeroed(
            job->world->arena, job->committer_count * sizeof(stored->collections[0]));
    }
    CHECK(stored->collection_count < job->committer_count);
    uint32_t count = 0;
    while (count < committer->request_count &&
           committer->requests[count]->checkpoint <= checkpoint) {
        count++;
    }
    size_t size = count * sizeof(struct stored_request *);
    const struct stored_request **copy = NULL;
    if (size > 0) {
        copy = arena_take(job->world->arena, size);
        memcpy((void *)copy, (const void *)committer->requests, size);
    }
    stored->collections[stored->collection_count] = (struct stored_collection){
        .subtask = committer->index, .requests = copy, .request_count = count};
    stored->collection_count++;
}

void committer_signal(struct committer *committer, uint32_t request, uint8_t how)
{
    committer->signals[request] = how;
    note_request(committer, HOST_SIGNAL, committer->requests[request], how);
}

/* Drop the first running_count requests but those to be retried; their order stays. */
static uint32_t finalise(struct committer *committer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < committer->running_count; i++) {
        const struct stored_request *request = committer->requests[i];
        if (committer->signals[i] == SINK_SIGNAL_RETRY_LATER) {
            committer->requests[kept] = request;
            kept++;
        } else {
            note_request(committer, HOST_FINALISED, request, committer->signals[i]);
        }
    }
    uint32_t rest = committer->request_count - committer->running_count;
    memmove((void *)&committer->requests[kept],
            (const void *)&committer->requests[committer->running_count],
            rest * sizeof(struct stored_request *));
    committer->request_count = rest + kept;
    return kept;
}

void committer_returned(struct committer *committer)
{
    struct job *job = committer->job;
    job_note(job,
             (struct journal_entry){.kind = HOST_COMMIT_RETURNED,
                                    .lane = committer->half->lane,
                                    .attempt = committer->region->attempt,
                                    .checkpoint = committer->running_checkpoint});
    uint32_t kept = finalise(committer);
    release_running(committer);
    if (kept == 0) {
        committer->tries = 0;
        return;
    }
    COVER(job->world, ENGINE_COMMIT_RETRIED);
    /* What was kept is now the collection's first group: the next step commits it again. */
    committer->tries++;
    uint32_t tries_max = job->config->commit_retries == 0 ? 10 : job->config->commit_retries;
    if (committer->tries > tries_max) {
        job_fail_at(committer->half, STOP_CAUSE_SINK, SINK_REASON_EXHAUSTED);
    }
}

void committer_run(struct committer *committer)
{
    committer->run_scheduled = false;
    if (committer->half == NULL) {
        committer_open(committer);
        return;
    }
    (void)committer_step_once(committer);
}
