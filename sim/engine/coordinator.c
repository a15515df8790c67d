/* The coordinator: triggers checkpoints, collects their parts, completes or aborts them, and tells
 * the tasks. Completing writes the store; each notice is an event of its own, so a crash fits
 * between the two (C9). */
#include "sim/engine/engine.h"

static void
note_checkpoint(struct job *job, enum journal_kind kind, uint32_t checkpoint, uint8_t code)
{
    job_note(job,
             (struct journal_entry){.kind = (uint8_t)kind,
                                    .code = code,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .checkpoint = checkpoint});
}

static void note_completed(struct job *job, const struct stored_checkpoint *stored)
{
    job_note(job,
             (struct journal_entry){.kind = HOST_CHECKPOINT_COMPLETED,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .checkpoint = stored->number,
                                    .a = stored->in_flight_bytes});
}

static void schedule_tick(struct job *job, nanos due)
{
    job->tick = job_schedule(job, job->coordinator_node, ENGINE_TICK, due, job->started, 0);
}

void coordinator_start(struct job *job)
{
    job->pending_count = 0;
    job->coordinator_dead = false;
    job->tick_missed = false;
    job->tick = SCHED_NONE;
    if (job->config->checkpointing && !job_is_batch(job)) {
        schedule_tick(job, nanos_add(world_now(job->world), job->config->checkpoint_interval));
    }
}

struct pending_checkpoint *coordinator_pending(struct job *job, uint32_t checkpoint)
{
    for (uint32_t i = 0; i < job->pending_count; i++) {
        if (job->pending[i].stored->number == checkpoint) {
            return &job->pending[i];
        }
    }
    return NULL;
}

static uint32_t parts_of(const struct job *job)
{
    const bool unaligned = job->config->barriers == JOB_BARRIERS_UNALIGNED;
    return job->subtasks * (unaligned ? 2 : 1) + (job_is_chained(job) ? 0 : job->committer_count);
}

/* Where no barrier waits for another, it shows when each source sends its own. */
static nanos barrier_due(struct job *job, uint32_t source)
{
    const nanos now = world_now(job->world);
    if (job->config->barriers == JOB_BARRIERS_ALIGNED) {
        return now;
    }
    const uint32_t pick =
        engine_pick(job, ENGINE_SITE_BARRIER, lane_make(LANE_SOURCE, source), CHOICE_ALL);
    return pick == 0 ? now : nanos_add(now, job->config->record_interval);
}

static struct pending_checkpoint *begin(struct job *job, enum store_kind kind)
{
    struct pending_checkpoint *pending = &job->pending[job->pending_count];
    job->piece_capacity[job->pending_count] = 0;
    *pending = (struct pending_checkpoint){.stored = store_begin(job->store, job->attempt),
                                           .parts_missing = parts_of(job),
                                           .triggered_at = world_now(job->world),
                                           .timeout = SCHED_NONE};
    job->pending_count++;
    pending->stored->subtasks = job->subtasks;
    pending->stored->kind = (uint8_t)kind;
    pending->stored->writer = job->sink->writer;
    uint32_t splits = job->config->log->split_count;
    pending->positions = arena_take_zeroed(job->world->arena, (splits + 1) * sizeof(uint64_t));
    pending->stored->positions = pending->positions;
    note_checkpoint(job, HOST_CHECKPOINT_TRIGGERED, pending->stored->number, 0);
    return pending;
}

static void trigger(struct job *job, enum store_kind kind)
{
    struct pending_checkpoint *pending = begin(job, kind);
    const uint32_t number = pending->stored->number;
    job->stopping = kind == STORE_STOP ? number : job->stopping;
    pending->timeout =
        job_schedule(job,
                     job->coordinator_node,
                     ENGINE_TIMEOUT,
                     nanos_add(world_now(job->world), job->config->checkpoint_timeout),
                     job->started,
                     number);
    for (uint32_t i = 0; i < job->config->sources; i++) {
        const nanos due = barrier_due(job, i);
        (void)job_schedule(job,
                           job->source_nodes[i],
                           ENGINE_BARRIER,
                           due,
                           job->sources[i].attempt,
                           i | ((uint64_t)number << 32));
    }
}

/* FW8: no barrier brings it, and nothing but the job's end keeps it from being complete. A restart that
 * finds it commits again what it holds; one without state runs the writers again. */
uint32_t coordinator_stage(struct job *job)
{
    CHECK(job_is_batch(job));
    if (job->pending_count == 0) {
        const struct source_log *log = job->config->log;
        struct pending_checkpoint *pending = begin(job, STORE_CHECKPOINT);
        for (uint32_t split = 0; split < log->split_count; split++) {
            pending->positions[split] = log->split_starts[split + 1] - log->split_starts[split];
        }
    }
    return job->pending[0].stored->number;
}

/* A task runs once it is open, and has committed what was restored into it. */
static bool all_tasks_run(const struct job *job)
{
    for (uint32_t i = 0; i < job->committer_count; i++) {
        const struct committer *committer = &job->committers[i];
        if (committer->half == NULL || !committer->half->opened || committer->restored > 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < job->subtasks; i++) {
        if (!job->tasks[i].running || job->tasks[i].region->stop > STOP_NOTICING) {
            return false;
        }
    }
    return true;
}

/* Barriers of aborted checkpoints stay in the channels until a task takes them. */
static bool barriers_have_room(const struct job *job)
{
    for (uint32_t i = 0; i < job->subtasks; i++) {
        for (uint32_t j = job->tasks[i].source_first; j < job->tasks[i].source_end; j++) {
            if (!channel_has_barrier_room(&job->tasks[i].channels[j])) {
                return false;
            }
        }
    }
    return true;
}

/* Whether one more checkpoint may start now; sets tick_missed when it may as soon as one ends. */
static bool may_trigger(struct job *job)
{
    uint32_t concurrent =
        job->config->checkpoint_concurrent == 0 || job->config->barriers == JOB_BARRIERS_UNALIGNED
            ? 1
            : job->config->checkpoint_concurrent;
    if (job->pending_count >= concurrent || job->pending_count == CHECKPOINT_PENDING_MAX) {
        job->tick_missed = true;
        return false;
    }
    return all_tasks_run(job) && barriers_have_room(job);
}

/* No committer holds or awaits a request that a further checkpoint could free. */
static bool nothing_is_held(const struct job *job)
{
    for (uint32_t i = 0; i < job->committer_count; i++) {
        const struct committer *committer = &job->committers[i];
        if (committer->request_count > 0 || committer->edge_head < committer->edge_count) {
            return false;
        }
    }
    return true;
}

void coordinator_tick(struct job *job)
{
    job->tick = SCHED_NONE;
    if (!job_is_live(job) || job->coordinator_dead || job->stopping != 0) {
        return;
    }
    nanos now = world_now(job->world);
    nanos rested = nanos_add(job->last_completed_at, job->config->checkpoint_min_pause);
    if (job->last_completed_at > 0 && now < rested) {
        schedule_tick(job, rested);
        return;
    }
    if (job->covering != 0 && nothing_is_held(job)) {
        schedule_tick(job, nanos_add(now, job->config->checkpoint_interval));
        return; /* the job is complete as soon as it stands still, which barriers would keep it from */
    }
    if (may_trigger(job)) {
        trigger(job, savepoint_choose(job));
    } else if (job->tick_missed) {
        return; /* the end of a pending one brings the next tick */
    }
    schedule_tick(job, nanos_add(now, job->config->checkpoint_interval));
}

/* Forget a pending checkpoint; a missed tick comes at once. */
static void remove_pending(struct job *job, struct pending_checkpoint *pending)
{
    if (pending->timeout != SCHED_NONE && sched_is_pending(job->world->sched, pending->timeout)) {
        sched_cancel(job->world->sched, pending->timeout);
    }
    uint32_t index = (uint32_t)(pending - job->pending);
    for (uint32_t i = index; i + 1 < job->pending_count; i++) {
        job->pending[i] = job->pending[i + 1];
        job->piece_capacity[i] = job->piece_capacity[i + 1];
    }
    job->pending_count--;
    if (job->tick_missed && job_is_live(job)) {
        job->tick_missed = false;
        schedule_tick(job, world_now(job->world));
    }
}

void coordinator_piece(struct job *job, uint32_t checkpoint, uint32_t subtask, struct bytes piece)
{
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending == NULL) {
        return;
    }
    struct stored_checkpoint *stored = pending->stored;
    uint32_t *capacity = &job->piece_capacity[pending - job->pending];
    if (stored->piece_count == *capacity) {
        *capacity = *capacity == 0 ? 8 : *capacity * 2;
        struct stored_piece *pieces =
            arena_take(job->world->arena, *capacity * sizeof(stored->pieces[0]));
        for (uint32_t i = 0; i < stored->piece_count; i++) {
            pieces[i] = stored->pieces[i];
        }
        stored->pieces = pieces;
    }
    stored->pieces[stored->piece_count] =
        (struct stored_piece){.subtask = subtask, .data = job_copy(job, piece)};
    stored->piece_count++;
}

void coordinator_in_flight(struct job *job, uint32_t checkpoint, struct stored_in_flight record)
{
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending == NULL) {
        return;
    }
    struct stored_checkpoint *stored = pending->stored;
    struct arena *arena = job->world->arena;
    const uint32_t count = stored->in_flight_count;
    if (count == 0) {
        stored->in_flight_bits =
            arena_take_zeroed(arena, (job->config->log->record_count / 64 + 1) * sizeof(uint64_t));
    }
    if ((count & (count - 1)) == 0 && (count == 0 || count >= 8)) { /* 8, 16, 32, ... are full */
        struct stored_in_flight *grown =
            arena_take(arena, (count == 0 ? 8 : 2 * count) * sizeof(grown[0]));
        for (uint32_t i = 0; i < count; i++) {
            grown[i] = stored->in_flight[i];
        }
        stored->in_flight = grown;
    }
    stored->in_flight[count] = record;
    stored->in_flight_count++;
    const struct sink_record *content = &job->config->log->records[record.record - 1].record;
    stored->in_flight_bytes += content->key.size + content->value.size;
    stored->in_flight_bits[(record.record - 1) / 64] |= UINT64_C(1) << ((record.record - 1) % 64);
}

void coordinator_part(struct job *job, uint32_t checkpoint)
{
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending == NULL) {
        return; /* aborted meanwhile */
    }
    CHECK(pending->parts_missing > 0);
    pending->parts_missing--;
    if (pending->parts_missing == 0) {
        const nanos now = world_now(job->world);
        const nanos stored_at = nanos_add(pending->triggered_at, job->config->checkpoint_duration);
        pending->completing = true;
        (void)job_schedule(job,
                           job->coordinator_node,
                           ENGINE_COMPLETE,
                           stored_at > now ? stored_at : now,
                           job->started,
                           checkpoint);
    }
}

static void
abort_pending(struct job *job, struct pending_checkpoint *pending, enum abort_cause cause)
{
    uint32_t number = pending->stored->number;
    store_abort(job->store, pending->stored);
    note_checkpoint(job, HOST_CHECKPOINT_ABORTED, number, (uint8_t)cause);
    remove_pending(job, pending);
    if (cause == ABORT_CAUSE_JOB_STOPPED || cause == ABORT_CAUSE_SUBSUMED) {
        return;
    }
    for (uint32_t i = 0; i < job->subtasks && job_is_live(job); i++) {
        job->tasks[i].aborted = number;
        task_schedule(&job->tasks[i]);
    }
    if (cause == ABORT_CAUSE_REGION) {
        return; /* no failure of the checkpoint's own */
    }
    job->failures++;
    const bool is_over = job->failures > job->config->checkpoint_failures_tolerated;
    const bool counts = cause == ABORT_CAUSE_TIMEOUT || job->config->checkpoint_aborts_count;
    if ((is_over && counts) || number == job->stopping) {
        job->failures = 0; /* the next attempt has all its tolerance */
        job_fail(job, STOP_CAUSE_CHECKPOINT, SINK_REASON_NONE);
    }
}

/* Who hears of a completed checkpoint: tasks, committers with a thread of their own, and sources
 * that listen, in this order. */
struct listener {
    lane who;
    uint32_t node;
};

static uint32_t listener_count(const struct job *job)
{
    return job->subtasks + (job_is_chained(job) ? 0 : job->committer_count) +
           (restart_source_listens(job) ? job->config->sources : 0);
}

static struct listener listener_of(const struct job *job, uint32_t number)
{
    if (number < job->subtasks) {
        return (struct listener){lane_make(LANE_TASK, number), job->task_nodes[number]};
    }
    number -= job->subtasks;
    const uint32_t separate = job_is_chained(job) ? 0 : job->committer_count;
    if (number < separate) {
        return (struct listener){lane_make(LANE_COMMITTER, number), job->committer_nodes[number]};
    }
    number -= separate;
    return (struct listener){lane_make(LANE_SOURCE, number), job->source_nodes[number]};
}

const struct region *coordinator_listener_region(const struct job *job, uint32_t number)
{
    return region_of(job, lane_index_of(listener_of(job, number).who));
}

static void
schedule_notice(struct job *job, uint32_t number, uint32_t node, uint32_t checkpoint, nanos due)
{
    (void)job_schedule(job,
                       node,
                       ENGINE_NOTICE,
                       due,
                       coordinator_listener_region(job, number)->attempt,
                       number | ((uint64_t)checkpoint << 32));
}

/* Send one notice, or lose or delay it. In batch mode it is the commit itself, which nothing keeps away. */
static void send_notice(struct job *job, uint32_t number, uint32_t checkpoint)
{
    const struct listener listener = listener_of(job, number);
    const lane who = listener.who;
    const uint32_t fate =
        job_is_batch(job) ? 0 : engine_pick(job, ENGINE_SITE_NOTICE, who, CHOICE_ALL);
    nanos due = world_now(job->world);
    nanos interval = job->config->checkpoint_interval;
    if (fate == 1) {
        job_note(
            job,
            (struct journal_entry){.kind = HOST_NOTICE_LOST,
                                   .lane = who,
                                   .attempt = coordinator_listener_region(job, number)->attempt,
                                   .checkpoint = checkpoint});
        return;
    }
    if (fate == 2) {
        due = nanos_add(due, interval / 2);
    } else if (fate == 3) {
        due = nanos_add(due, nanos_add(interval, MS(1)));
    }
    if (fate != 0) {
        fault_lasts_until(job->world->fault, due);
    }
    schedule_notice(job, number, listener.node, checkpoint, due);
}

static void note_covering(struct job *job, const struct stored_checkpoint *stored)
{
    const struct source_log *log = job->config->log;
    if (stored->in_flight_count > 0) {
        return; /* these are in no sink's state yet */
    }
    for (uint32_t split = 0; split < log->split_count; split++) {
        if (stored->positions[split] < log->split_starts[split + 1] - log->split_starts[split]) {
            return;
        }
    }
    job->covering = stored->number;
}

/* A later one that completes subsumes those before it. */
static struct pending_checkpoint *abort_subsumed(struct job *job, uint32_t checkpoint)
{
    while (job->pending[0].stored->number != checkpoint) {
        COVER(job->world, ENGINE_CHECKPOINT_SUBSUMED);
        abort_pending(job, &job->pending[0], ABORT_CAUSE_SUBSUMED);
    }
    return &job->pending[0];
}

/* C8: an ordinary savepoint is told to nobody and subsumes nothing; a stop is told to all, and its
 * notices are neither lost nor late: what may go wrong behind it is drawn where it ends. */
static void complete_savepoint(struct job *job, struct pending_checkpoint *pending)
{
    struct stored_checkpoint *stored = pending->stored;
    const nanos now = world_now(job->world);
    const bool stops = stored->kind == STORE_STOP;
    pending = stops ? abort_subsumed(job, stored->number) : pending;
    job->last_completed_at = now;
    store_complete_savepoint(job->store, stored, now);
    note_completed(job, stored);
    remove_pending(job, pending);
    for (uint32_t i = 0; i < listener_count(job) && stops; i++) {
        schedule_notice(job, i, listener_of(job, i).node, stored->number, now);
    }
}

void coordinator_complete_event(struct job *job, uint32_t checkpoint)
{
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending == NULL || job->coordinator_dead) {
        return;
    }
    const uint32_t fate =
        job_is_batch(job)
            ? 0
            : engine_pick(job, ENGINE_SITE_CHECKPOINT, lane_make(LANE_COORDINATOR, 0), CHOICE_ALL);
    if (fate != 0) {
        abort_pending(job, pending, ABORT_CAUSE_INJECTED);
        return;
    }
    if (pending->stored->kind != STORE_CHECKPOINT) {
        complete_savepoint(job, pending);
        return;
    }
    pending = abort_subsumed(job, checkpoint);
    struct stored_checkpoint *stored = pending->stored;
    job->last_completed_at = world_now(job->world);
    job->failures = 0;
    store_complete(job->store, stored, job->last_completed_at);
    note_covering(job, stored);
    note_completed(job, stored);
    remove_pending(job, pending);
    for (uint32_t i = 0; i < listener_count(job); i++) {
        send_notice(job, i, checkpoint);
    }
}

void coordinator_timeout(struct job *job, uint32_t checkpoint)
{
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending != NULL) {
        pending->timeout = SCHED_NONE;
        if (!job->coordinator_dead) {
            COVER(job->world, ENGINE_CHECKPOINT_TIMED_OUT);
            abort_pending(job, pending, ABORT_CAUSE_TIMEOUT);
        }
    }
}

/* The wall clock of who hears of it may jump, never further than one jump from where it started. */
static void jump_clock(struct job *job, struct listener listener)
{
    if (LIKELY(job->config->clock_jump == 0) || lane_kind_of(listener.who) == LANE_SOURCE) {
        return;
    }
    int8_t *jumped = &job->jumped[listener.node];
    const uint32_t wanted = 1u | (*jumped < 1 ? 2u : 0u) | (*jumped > -1 ? 4u : 0u);
    const uint32_t pick = engine_pick(job, ENGINE_SITE_JUMP, listener.who, wanted);
    if (pick == 0) {
        return;
    }
    COVER(job->world, ENGINE_CLOCK_JUMPED);
    *jumped = (int8_t)(*jumped + (pick == 1 ? 1 : -1));
    clock_jump(&job->world->nodes[listener.node].clock,
               world_now(job->world),
               pick == 1 ? job->config->clock_jump : -job->config->clock_jump);
}

void coordinator_notice_event(struct job *job, uint32_t number, uint32_t checkpoint)
{
    if (job->coordinator_dead) {
        COVER(job->world, ENGINE_NOTICE_DIED);
        return; /* it died before it told (C9) */
    }
    const lane who = listener_of(job, number).who;
    job_note(job,
             (struct journal_entry){.kind = HOST_NOTICE,
                                    .lane = who,
                                    .attempt = coordinator_listener_region(job, number)->attempt,
                                    .checkpoint = checkpoint});
    jump_clock(job, listener_of(job, number));
    if (lane_kind_of(who) == LANE_COMMITTER) {
        committer_notice(&job->committers[lane_index_of(who)], checkpoint);
        return;
    }
    if (lane_kind_of(who) == LANE_SOURCE) {
        restart_notice(job, lane_index_of(who), checkpoint);
        return;
    }
    struct task *target = &job->tasks[number];
    if (checkpoint > target->notice) {
        target->notice = checkpoint;
    }
    task_schedule(target);
}

void coordinator_abort(struct job *job, enum abort_cause cause)
{
    while (job->pending_count > 0) {
        abort_pending(job, &job->pending[job->pending_count - 1], cause);
    }
}

void coordinator_stop(struct job *job)
{
    coordinator_abort(job, ABORT_CAUSE_JOB_STOPPED);
    if (job->tick != SCHED_NONE) {
        sched_cancel(job->world->sched, job->tick);
        job->tick = SCHED_NONE;
    }
}
