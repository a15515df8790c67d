/* The lives of a job: start, crash, stop, restart, rescale, completion.
 *
 *   state      event                    next
 *   ---------  -----------------------  ------------------------------------------------------
 *   running    a process crashes        noticing (its halves are gone; the others go on)
 *   running    a half or checkpoint     closing (every half gets CLOSE)
 *              fails
 *   noticing   the crash is noticed     closing
 *   closing    the last CLOSED          down, or failed when no restart is left
 *   down       the delay is over        running: the next attempt, restored
 */
#include "sim/engine/engine.h"
#include "sinks/base/digest.h"

#include <string.h>

struct bytes job_copy(struct job *job, struct bytes source)
{
    if (source.size == 0) {
        return (struct bytes){.data = NULL, .size = 0};
    }
    uint8_t *copy = arena_take(job->world->arena, source.size);
    memcpy(copy, source.data, source.size);
    return (struct bytes){.data = copy, .size = source.size};
}

static uint32_t subtasks_max(const struct job_config *config)
{
    uint32_t max = config->subtasks;
    for (uint32_t i = 0; i < ARRAY_COUNT(config->rescale_to); i++) {
        if (config->rescale_to[i] > max) {
            max = config->rescale_to[i];
        }
    }
    return max;
}

static bool needs_committer_nodes(const struct job_config *config,
                                  const struct sink_type *sink_or_null)
{
    return sink_or_null != NULL && sink_or_null->committer_or_null != NULL &&
           !(config->chained && sink_or_null->committer_kind != SINK_COMMITTER_GLOBAL);
}

static void add_nodes(struct job *job)
{
    struct world *world = job->world;
    uint32_t max = subtasks_max(job->config);
    CHECK(max <= JOB_SUBTASK_MAX);
    CHECK(job->config->sources <= JOB_SOURCE_MAX);
    job->coordinator_node = world_add_node(world, lane_make(LANE_COORDINATOR, 0));
    for (uint32_t i = 0; i < job->config->sources; i++) {
        job->source_nodes[i] = world_add_node(world, lane_make(LANE_SOURCE, i));
    }
    for (uint32_t i = 0; i < max; i++) {
        job->task_nodes[i] = world_add_node(world, lane_make(LANE_TASK, i));
        world->nodes[job->task_nodes[i]].cpu_per_event = job->config->cpu_per_event;
    }
    bool separate = needs_committer_nodes(job->config, job->config->sink) ||
                    needs_committer_nodes(job->config, job->config->next_sink_or_null);
    for (uint32_t i = 0; i < max && separate; i++) {
        job->committer_nodes[i] = world_add_node(world, lane_make(LANE_COMMITTER, i));
        world->nodes[job->committer_nodes[i]].cpu_per_event = job->config->cpu_per_event;
    }
}

void job_make_effects(struct job *job, struct sink_effects *effects)
{
    effects->capacity = SINK_EFFECTS_MAX;
    effects->items = arena_take(job->world->arena, SINK_EFFECTS_MAX * sizeof(effects->items[0]));
}

struct job *job_create(struct world *world, const struct job_config *config, struct store *store)
{
    struct arena *arena = world->arena;
    struct job *job = arena_take_zeroed(arena, sizeof(*job));
    job->world = world;
    job->config = config;
    restart_use_sink(job, config->sink, config->options);
    job->store = store;
    world->fault->moment_or_null = moment_now;
    world->fault->moment_context = job;
    job->allocator = arena_allocator(arena);
    uint32_t max = subtasks_max(config);
    job->sources = arena_take_zeroed(arena, config->sources * sizeof(struct source));
    job->tasks = arena_take_zeroed(arena, max * sizeof(struct task));
    job->committers = arena_take_zeroed(arena, max * sizeof(struct committer));
    job->positions = arena_take_zeroed(arena, (config->log->split_count + 1) * sizeof(uint64_t));
    job->subtasks = config->subtasks;
    restart_init(job);
    region_init(job);
    add_nodes(job);
    job->stop = STOP_DOWN;
    job->start = job_schedule(job, job->coordinator_node, ENGINE_START, world_now(world), 1, 0);
    return job;
}

void job_attach_link(struct job *job, struct link *link)
{
    job->link = link;
}

/* --- start ------------------------------------------------------------------------------------- */

static uint64_t start_of(const struct job *job)
{
    return job->started_from | (restart_is_next_sink(job) ? (uint64_t)START_NEXT_SINK : 0);
}

static void fail_for_good(struct job *job)
{
    job->failed = true;
    job_note(job,
             (struct journal_entry){.kind = HOST_JOB_FAILED,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .code = job->stop_cause,
                                    .a = job->stop_reason});
}

static void start_attempt(struct job *job)
{
    job->attempt++;
    job->started = job->attempt;
    job->stop = STOP_NONE;
    job->start = SCHED_NONE;
    job->stopping = 0;
    job->sources_dead = false;
    job->covering = 0;
    job->last_completed_at = 0;
    if (job->attempt > 1) {
        job->crashes += job->stop_cause == STOP_CAUSE_CRASH ? 1 : 0;
        start_choose(job);
    }
    struct stored_checkpoint *stored =
        job->restored == 0 ? NULL : store_get(job->store, job->restored);
    if (!restart_is_matched(job)) {
        job->stop = STOP_DOWN;
        job->stop_cause = STOP_CAUSE_RESCALE;
        job->stop_reason = SINK_REASON_STATE;
        fail_for_good(job);
        return;
    }
    restart_positions(job, stored);
    job_note(job,
             (struct journal_entry){.kind = HOST_JOB_STARTED,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .checkpoint = job->restored,
                                    .a = job->subtasks,
                                    .b = start_of(job)});
    restart_note_left(job);
    job->committer_count = start_committers(job);
    for (uint32_t i = 0; i < job->region_count; i++) {
        job->regions[i].attempt = job->attempt;
        job->regions[i].restored = job->restored;
    }
    start_part(job, 0, job->subtasks);
    start_open_part(job, 0, job->subtasks);
    coordinator_start(job);
}

/* --- stop -------------------------------------------------------------------------------------- */

nanos job_restart_delay(const struct job *job)
{
    nanos delay = job->config->restart_delay;
    if (job->config->restart == JOB_RESTART_EXPONENTIAL) {
        for (uint32_t i = 1; i < job->restarts && delay < job->config->restart_delay_max; i++) {
            delay = nanos_mul(delay, 2);
        }
        delay = delay > job->config->restart_delay_max ? job->config->restart_delay_max : delay;
    }
    return delay;
}

/* Zombies of the attempt that ended live on for a while after the next one starts. */
void job_end_zombies(struct job *job, const struct region *region, nanos start, nanos life)
{
    for (uint32_t i = 0; i < job->half_count; i++) {
        struct half *half = job->halves[i];
        if (half->zombie && !half->gone && half->region == region &&
            half->attempt == region->attempt) {
            nanos until = nanos_add(start, life);
            (void)job_schedule(job, half->node, ENGINE_ZOMBIE_END, until, half->number, 0);
            fault_lasts_until(job->world->fault, until);
        }
    }
}

static void schedule_zombie_ends(struct job *job, nanos start)
{
    for (uint32_t i = 0; i < job->region_count; i++) {
        job_end_zombies(job, &job->regions[i], start, job->zombie_for);
    }
}

bool job_may_restart(const struct job *job)
{
    return job->config->restart != JOB_RESTART_NONE &&
           (job->config->restart_attempts == UINT32_MAX ||
            job->restarts < job->config->restart_attempts);
}

/* What an operator did uses up no restart. */
static bool is_operators(uint8_t cause)
{
    return cause == STOP_CAUSE_FINISHED || cause == STOP_CAUSE_SAVEPOINT;
}

static void go_down(struct job *job)
{
    job->stop = STOP_DOWN;
    bool injected = job->stop_cause == STOP_CAUSE_CRASH || is_operators(job->stop_cause);
    if (!injected && !job_may_restart(job)) {
        schedule_zombie_ends(job, world_now(job->world));
        fail_for_good(job);
        return;
    }
    job->restarts += injected ? 0 : 1;
    nanos due = nanos_add(world_now(job->world), job_restart_delay(job));
    if (due < job->down_until && !job->healed) {
        due = job->down_until;
    }
    job->start =
        job_schedule(job, job->coordinator_node, ENGINE_START, due, (uint64_t)job->attempt + 1, 0);
    schedule_zombie_ends(job, due);
}

void job_half_closed(struct half *half)
{
    struct job *job = half->job;
    if (job->stop != STOP_CLOSING) {
        region_half_closed(half->region, job);
        if (job_is_batch(job) && job_is_live(job) && half->role != HALF_COMMITTER) {
            task_half_ended(half->task_or_null);
        }
        return;
    }
    CHECK(job->closes_open > 0);
    job->closes_open--;
    if (job->closes_open == 0) {
        go_down(job);
    }
}

static void close_all(struct job *job)
{
    job->stop = STOP_CLOSING;
    job->closes_open = 0;
    for (uint32_t i = 0; i < job->half_count; i++) {
        struct half *half = job->halves[i];
        bool stays = !half->gone && !half->zombie && half->attempt == half->region->attempt;
        if (!stays || crash_is_given_up(job, half)) {
            continue;
        }
        job->closes_open++;
        if (!half->close_due) { /* its region is closing already */
            half_close(half);
        }
    }
    if (job->closes_open == 0) {
        go_down(job);
    }
}

void job_fail_at(struct half *half, enum stop_cause cause, uint32_t reason)
{
    if (job_is_regional(half->job)) {
        region_fail(half->region, half->job, cause, reason);
    } else {
        job_fail(half->job, cause, reason);
    }
}

void job_fail(struct job *job, enum stop_cause cause, uint32_t reason)
{
    if (job->stop == STOP_CLOSING || job->stop == STOP_DOWN || job->failed) {
        return;
    }
    job->stop_cause = (uint8_t)cause;
    job->stop_reason = reason;
    job_note(job,
             (struct journal_entry){.kind = HOST_JOB_STOPPED,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .code = (uint8_t)cause,
                                    .a = reason});
    job->stop = STOP_CLOSING; /* nothing starts while checkpoints are aborted */
    region_yield(job);
    coordinator_stop(job);
    for (uint32_t i = 0; i < job->config->sources; i++) {
        if (job->sources[i].emit != SCHED_NONE) {
            sched_cancel(job->world->sched, job->sources[i].emit);
            job->sources[i].emit = SCHED_NONE;
        }
    }
    close_all(job);
}

/* --- events ------------------------------------------------------------------------------------ */

void job_answer(void *context, const struct link_answer *answer)
{
    struct job *job = context;
    CHECK(answer->sender >= 1 && answer->sender <= job->half_count);
    struct half *half = job->halves[answer->sender - 1];
    struct sink_event event; /* nothing but the answer is the half's to read */
    event.kind = SINK_EVENT_ANSWER;
    event.u.answer = answer->answer;
    if (answer->answer.kind == PORT_STREAM_MESSAGE) {
        event.kind = SINK_EVENT_STREAM_MESSAGE;
    } else if (answer->answer.kind == PORT_STREAM_END) {
        event.kind = SINK_EVENT_STREAM_END;
    }
    half_step(half, &event);
    if (UNLIKELY(job->stopping != 0)) {
        savepoint_progress(job);
    }
}

static void attempt_event(struct job *job, enum engine_event what, uint64_t b)
{
    uint32_t index = (uint32_t)b;
    uint32_t checkpoint = (uint32_t)(b >> 32);
    switch (what) {
    case ENGINE_EMIT:
        source_emit(&job->sources[index], job);
        break;
    case ENGINE_BARRIER:
        source_barrier(&job->sources[index], job, checkpoint);
        break;
    case ENGINE_TASK_OPEN:
        task_open(&job->tasks[index]);
        break;
    case ENGINE_TASK_RUN:
        task_run(&job->tasks[index]);
        break;
    case ENGINE_COMMITTER_RUN:
        committer_run(&job->committers[index]);
        break;
    case ENGINE_TICK:
        coordinator_tick(job);
        break;
    case ENGINE_COMPLETE:
        coordinator_complete_event(job, index);
        break;
    case ENGINE_TIMEOUT:
        coordinator_timeout(job, index);
        break;
    case ENGINE_NOTICE:
        coordinator_notice_event(job, index, checkpoint);
        break;
    case ENGINE_NOTICED:
        job_fail(job, STOP_CAUSE_CRASH, SINK_REASON_NONE);
        break;
    case ENGINE_SILENT:
        crash_silent(job, job->halves[index - 1]);
        break;
    case ENGINE_REGION_START:
        region_start(&job->regions[index], job);
        break;
    case ENGINE_REGION_NOTICED:
        region_fail(&job->regions[index], job, STOP_CAUSE_CRASH, SINK_REASON_NONE);
        break;
    case ENGINE_NONE:
    case ENGINE_START:
    case ENGINE_TIMER:
    case ENGINE_MORE:
    case ENGINE_CLOSE:
    case ENGINE_CLOSE_BOUND:
    case ENGINE_ZOMBIE_END:
        UNREACHABLE();
    }
}

/* The region that an event is about; NULL when it is about the job. */
static const struct region *
region_of_event(const struct job *job, enum engine_event what, uint32_t b)
{
    switch (what) {
    case ENGINE_EMIT:
    case ENGINE_BARRIER:
    case ENGINE_TASK_OPEN:
    case ENGINE_TASK_RUN:
    case ENGINE_COMMITTER_RUN:
    case ENGINE_REGION_NOTICED:
        return &job->regions[b];
    case ENGINE_NOTICE:
        return coordinator_listener_region(job, b);
    case ENGINE_SILENT:
        return job->halves[b - 1]->region;
    case ENGINE_TICK:
    case ENGINE_COMPLETE:
    case ENGINE_TIMEOUT:
    case ENGINE_NOTICED:
    case ENGINE_REGION_START:
        return NULL;
    case ENGINE_NONE:
    case ENGINE_START:
    case ENGINE_TIMER:
    case ENGINE_MORE:
    case ENGINE_CLOSE:
    case ENGINE_CLOSE_BOUND:
    case ENGINE_ZOMBIE_END:
        break;
    }
    UNREACHABLE();
}

/* Whether what scheduled an event has not been replaced since. */
static bool
is_of_attempt(const struct job *job, const struct sched_event *event, enum engine_event what)
{
    if (LIKELY(!job_is_regional(job))) {
        return event->a == job->attempt;
    }
    const struct region *region = region_of_event(job, what, (uint32_t)event->b);
    return region == NULL ? event->a == job->started
                          : event->a == region->attempt && region->stop <= STOP_NOTICING;
}

void job_event(struct job *job, const struct sched_event *event)
{
    enum engine_event what = (enum engine_event)(event->kind & 0xff);
    switch (what) {
    case ENGINE_START:
        start_attempt(job);
        break;
    case ENGINE_TIMER:
    case ENGINE_MORE:
    case ENGINE_CLOSE:
    case ENGINE_CLOSE_BOUND:
    case ENGINE_ZOMBIE_END:
        half_event(job->halves[event->a - 1], what);
        break;
    case ENGINE_NONE:
        UNREACHABLE();
    case ENGINE_EMIT:
    case ENGINE_BARRIER:
    case ENGINE_TASK_OPEN:
    case ENGINE_TASK_RUN:
    case ENGINE_COMMITTER_RUN:
    case ENGINE_TICK:
    case ENGINE_COMPLETE:
    case ENGINE_TIMEOUT:
    case ENGINE_NOTICE:
    case ENGINE_NOTICED:
    case ENGINE_SILENT:
    case ENGINE_REGION_START:
    case ENGINE_REGION_NOTICED:
        if (job_is_live(job) && is_of_attempt(job, event, what)) {
            attempt_event(job, what, event->b);
        }
        break;
    }
    if (UNLIKELY(job->stopping != 0)) {
        savepoint_progress(job);
    }
}

/* --- completion -------------------------------------------------------------------------------- */

static bool committers_are_done(const struct job *job)
{
    for (uint32_t i = 0; i < job->committer_count; i++) {
        const struct committer *committer = &job->committers[i];
        if (committer->request_count > 0 || committer->half == NULL ||
            !half_is_idle(committer->half) || committer->edge_head < committer->edge_count) {
            return false;
        }
    }
    return true;
}

/* What keeps a job going for nearly all of its run, and is told at a glance. */
static inline bool has_work_left(const struct job *job)
{
    return job->emitted_left > 0 || job->stopping != 0 ||
           ((job->config->checkpointing || job_is_batch(job)) && job->covering == 0);
}

NOINLINE static bool is_complete(const struct job *job)
{
    for (uint32_t i = 0; i < job->region_count; i++) {
        if (job->regions[i].stop != STOP_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < job->subtasks; i++) {
        const struct task *task = &job->tasks[i];
        if (!task_is_done(task)) {
            return false;
        }
        if (!job->config->checkpointing && (link_pending(job->link, task->writer->number) > 0 ||
                                            task->writer->timer != SCHED_NONE)) {
            return false;
        }
    }
    return committers_are_done(job);
}

enum job_state job_state(const struct job *job)
{
    if (job->failed) {
        return JOB_FAILED;
    }
    if (job->stop != STOP_NONE) {
        return JOB_DOWN;
    }
    if (job->finished) {
        return JOB_COMPLETE;
    }
    return !has_work_left(job) && is_complete(job) ? JOB_COMPLETE : JOB_RUNNING;
}

void job_finish(struct job *job)
{
    if (job->finished || job->failed) {
        return;
    }
    CHECK(job_state(job) == JOB_COMPLETE);
    job->finished = true;
    coordinator_stop(job);
    job_note(job,
             (struct journal_entry){.kind = HOST_JOB_FINISHED,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt});
}

uint32_t job_zombies(const struct job *job)
{
    uint32_t zombies = 0;
    for (uint32_t i = 0; i < job->half_count; i++) {
        zombies += job->halves[i]->zombie && !job->halves[i]->gone ? 1 : 0;
    }
    return zombies;
}

void job_heal(struct job *job)
{
    job->healed = true;
    if (job->stop == STOP_DOWN && job->start != SCHED_NONE) {
        sched_move(job->world->sched, job->start, world_now(job->world));
    }
    region_heal(job);
}

uint32_t job_crashes(const struct job *job)
{
    return job->crashes;
}

void job_dispose(struct job *job)
{
    for (uint32_t i = 0; i < job->half_count; i++) {
        half_kill(job->halves[i]);
    }
    size_t live = job->world->arena->allocator_live;
    if (live > 0) {
        job_note(job,
                 (struct journal_entry){.kind = HOST_CONTRACT,
                                        .code = CONTRACT_LEAK,
                                        .lane = lane_make(LANE_COORDINATOR, 0),
                                        .attempt = job->attempt,
                                        .a = live});
    }
}
