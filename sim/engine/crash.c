/* Crashes and processes that fall silent: who dies, who lives on as a zombie, and for how long the job
 * is down.
 *
 *   what            dies                        lives on
 *   --------------  --------------------------  ------------------------------------------------
 *   subtask         the subtask's halves        the others, until the crash is noticed
 *   all             every half                  nobody
 *   coordinator     what it had under way       every half, until it is noticed
 *   lost contact    nobody                      the subtask, as a zombie beside its replacement
 *   silence         nobody                      a paused process, as a zombie when it wakes
 *
 * Where regions restart by themselves, a subtask that dies or falls silent stops its region alone. */
#include "sim/engine/engine.h"

#define HEARTBEAT_TIMEOUT SECONDS(50) /* heartbeat.timeout of the real framework, FW13 */

static void lose_half(struct job *job, struct half *half_or_null, bool zombie)
{
    if (half_or_null == NULL || half_or_null->gone) {
        return;
    }
    struct journal_entry entry = {.kind = zombie ? HOST_ZOMBIE : HOST_CRASHED,
                                  .lane = half_or_null->lane,
                                  .attempt = half_or_null->attempt};
    job_note(job, entry);
    if (zombie) {
        half_or_null->zombie = true;
    } else {
        half_kill(half_or_null);
    }
}

/* Whether the world still has nodes for the processes that would replace zombies. */
static bool has_room_for_zombie(const struct job *job)
{
    return job->world->node_count + JOB_SUBTASK_MAX <= WORLD_NODE_MAX;
}

/* A process that stands still for longer than its heartbeats allow does not hear CLOSE: it is given
 * up, and goes on as a zombie when it wakes. */
bool crash_is_given_up(struct job *job, struct half *half)
{
    nanos now = world_now(job->world);
    nanos until = link_node_free_at(job->link, half->node);
    if (until <= nanos_add(now, HEARTBEAT_TIMEOUT)) {
        return false;
    }
    const nanos life = nanos_add(nanos_sub(until, now), job->config->downtime[DOWNTIME_REQUEST]);
    job->zombie_for = life;
    half->region->zombie_for = life;
    lose_half(job, half, has_room_for_zombie(job));
    return true;
}

enum crash_what {
    CRASH_NONE = 0,
    CRASH_SUBTASK,
    CRASH_ALL,
    CRASH_COORDINATOR,
    CRASH_LOST_CONTACT,
};

struct crash_outcome {
    uint8_t what;     /* enum crash_what */
    uint8_t downtime; /* enum job_downtime; of a zombie, its life */
};

/* Parallel to the outcomes of engine.crash. */
static const struct crash_outcome crash_outcomes[] = {
    {CRASH_NONE, DOWNTIME_SHORT},
    {CRASH_SUBTASK, DOWNTIME_SHORT},
    {CRASH_SUBTASK, DOWNTIME_REQUEST},
    {CRASH_SUBTASK, DOWNTIME_BEFORE_WINDOW},
    {CRASH_SUBTASK, DOWNTIME_AFTER_WINDOW},
    {CRASH_SUBTASK, DOWNTIME_AFTER_RELEASE},
    {CRASH_ALL, DOWNTIME_SHORT},
    {CRASH_ALL, DOWNTIME_REQUEST},
    {CRASH_ALL, DOWNTIME_BEFORE_WINDOW},
    {CRASH_ALL, DOWNTIME_AFTER_WINDOW},
    {CRASH_ALL, DOWNTIME_AFTER_RELEASE},
    {CRASH_COORDINATOR, DOWNTIME_SHORT},
    {CRASH_COORDINATOR, DOWNTIME_REQUEST},
    {CRASH_LOST_CONTACT, DOWNTIME_SHORT},
    {CRASH_LOST_CONTACT, DOWNTIME_REQUEST},
    {CRASH_LOST_CONTACT, DOWNTIME_AFTER_RELEASE},
};

static uint32_t crashes_wanted(const struct job *job)
{
    uint32_t wanted = 1;
    for (uint32_t i = 1; i < ARRAY_COUNT(crash_outcomes); i++) {
        bool zombie = crash_outcomes[i].what == CRASH_LOST_CONTACT;
        if (job->config->downtime[crash_outcomes[i].downtime] > 0 &&
            (!zombie || job->config->zombies)) {
            wanted |= UINT32_C(1) << i;
        }
    }
    return wanted;
}

static void lose_task(struct job *job, uint32_t index, bool zombie)
{
    struct task *task = &job->tasks[index];
    lose_half(job, task->writer, zombie);
    lose_half(job, task->policy, zombie);
    if (job_is_chained(job) && task->committer_or_null != NULL) {
        lose_half(job, task->committer_or_null->half, zombie);
    }
}

/* The subtask that a node belongs to; the first one when it belongs to none. */
static uint32_t subtask_of(const struct job *job, uint32_t node, bool *is_committer)
{
    *is_committer = false;
    for (uint32_t i = 0; i < job->committer_count && !job_is_chained(job); i++) {
        if (job->committer_nodes[i] == node) {
            *is_committer = true;
            return i;
        }
    }
    for (uint32_t i = 0; i < job->subtasks; i++) {
        if (job->task_nodes[i] == node) {
            return i;
        }
    }
    return 0;
}

static struct region *region_of_node(const struct job *job, uint32_t node)
{
    bool is_committer = false;
    return region_of(job, subtask_of(job, node, &is_committer));
}

/* The subtask or committer that the last event was on; the first one when it was on none. */
static void lose_victim(struct job *job, uint32_t node, bool zombie)
{
    bool is_committer = false;
    const uint32_t subtask = subtask_of(job, node, &is_committer);
    if (is_committer) {
        lose_half(job, job->committers[subtask].half, zombie);
    } else {
        lose_task(job, subtask, zombie);
    }
}

static nanos oldest_of(nanos oldest, const struct stored_request *const *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        oldest = requests[i]->staged_at < oldest ? requests[i]->staged_at : oldest;
    }
    return oldest;
}

/* When the oldest envelope was staged that a restore may have to send; now when there is none. */
static nanos oldest_staged(const struct job *job)
{
    nanos oldest = world_now(job->world);
    for (uint32_t i = 0; i < job->committer_count; i++) {
        const struct committer *committer = &job->committers[i];
        oldest = oldest_of(oldest,
                           (const struct stored_request *const *)committer->requests,
                           committer->request_count);
    }
    if (job->store->latest_completed == 0) {
        return oldest;
    }
    const struct stored_checkpoint *stored = store_get(job->store, job->store->latest_completed);
    for (uint32_t i = 0; i < stored->collection_count; i++) {
        oldest = oldest_of(
            oldest, stored->collections[i].requests, stored->collections[i].request_count);
    }
    return oldest;
}

/* The class "before the window" ends before the window of what is pending, however often the job has
 * been down already; it is never shorter than the shortest one. */
nanos job_downtime(const struct job *job, enum job_downtime class)
{
    nanos length = job->config->downtime[class];
    if (class != DOWNTIME_BEFORE_WINDOW) {
        return length;
    }
    nanos left = nanos_sub(nanos_add(oldest_staged(job), length), world_now(job->world));
    nanos least = job->config->downtime[DOWNTIME_SHORT];
    return left > least ? left : least;
}

/* The job, or the region that lost a process, stops when it is noticed. */
static void schedule_noticed(struct job *job, struct region *region_or_null, nanos due)
{
    if (region_or_null == NULL) {
        job->stop = STOP_NOTICING;
        (void)job_schedule(job, job->coordinator_node, ENGINE_NOTICED, due, job->started, 0);
        return;
    }
    region_or_null->stop = STOP_NOTICING;
    (void)job_schedule(job,
                       job->coordinator_node,
                       ENGINE_REGION_NOTICED,
                       due,
                       region_or_null->attempt,
                       (uint64_t)(region_or_null - job->regions));
}

static void lose(struct job *job, uint32_t what, uint32_t node, bool zombie)
{
    if (what == CRASH_ALL) {
        job->sources_dead = true;
        for (uint32_t i = 0; i < job->half_count; i++) {
            if (job->halves[i]->attempt == job->halves[i]->region->attempt) {
                lose_half(job, job->halves[i], false);
            }
        }
    } else if (what == CRASH_COORDINATOR) {
        job->coordinator_dead = true;
    } else {
        lose_victim(job, node, zombie);
    }
}

static bool is_of_one_subtask(struct crash_outcome outcome)
{
    return outcome.what == CRASH_SUBTASK || outcome.what == CRASH_LOST_CONTACT;
}

NOINLINE static void crash(struct job *job, struct crash_outcome outcome, uint32_t node)
{
    struct world *world = job->world;
    bool zombie = outcome.what == CRASH_LOST_CONTACT && has_room_for_zombie(job);
    nanos length = job_downtime(job, (enum job_downtime)outcome.downtime);
    nanos down = zombie ? job->config->downtime[DOWNTIME_SHORT] : length;
    const nanos until = nanos_add(world_now(world), down);
    struct region *region =
        job_is_regional(job) && is_of_one_subtask(outcome) ? region_of_node(job, node) : NULL;
    nanos *down_until = region == NULL ? &job->down_until : &region->down_until;
    nanos *zombie_for = region == NULL ? &job->zombie_for : &region->zombie_for;
    *down_until = until;
    *zombie_for = zombie ? length : 0;
    fault_lasts_until(world->fault, until);
    job_note(job,
             (struct journal_entry){.kind = HOST_INJECTED,
                                    .code = zombie ? FAULT_ZOMBIE : FAULT_CRASH,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .a = down,
                                    .b = outcome.what});
    lose(job, outcome.what, node, zombie);
    schedule_noticed(job, region, nanos_add(world_now(world), job->config->detection_delay));
}

/* A process that is paused for longer than its heartbeats allow is taken for dead and replaced. When
 * it wakes, it goes on as a zombie (4.10 of the sink protocols). */
void job_watch_pause(struct job *job, struct half *half)
{
    nanos until = link_node_free_at(job->link, half->node);
    nanos noticed_at = nanos_add(world_now(job->world), HEARTBEAT_TIMEOUT);
    if (until > noticed_at && half->silent_until != until) {
        half->silent_until = until;
        (void)job_schedule(
            job, job->coordinator_node, ENGINE_SILENT, noticed_at, half->attempt, half->number);
    }
}

void crash_silent(struct job *job, const struct half *half)
{
    nanos now = world_now(job->world);
    nanos until = link_node_free_at(job->link, half->node);
    struct region *region = half->region;
    if (!region_is_whole(region, job) || half->gone || until == now) {
        return;
    }
    const nanos life = nanos_add(nanos_sub(until, now), job->config->downtime[DOWNTIME_REQUEST]);
    job->zombie_for = job_is_regional(job) ? job->zombie_for : life;
    region->zombie_for = life;
    lose_victim(job, half->node, has_room_for_zombie(job));
    schedule_noticed(job, job_is_regional(job) ? region : NULL, now);
}

/* A subtask whose region is down or stopping cannot die again. */
static uint32_t crashes_of_subtasks(void)
{
    uint32_t outcomes = 0;
    for (uint32_t i = 0; i < ARRAY_COUNT(crash_outcomes); i++) {
        outcomes |= is_of_one_subtask(crash_outcomes[i]) ? UINT32_C(1) << i : 0;
    }
    return outcomes;
}

void job_offer_crash(struct job *job, uint32_t node)
{
    if (job->stop != STOP_NONE || !job_is_live(job) || job->finished) {
        return;
    }
    if (job->crashes_wanted == 0) {
        job->crashes_wanted = crashes_wanted(job);
    }
    uint32_t wanted = job->crashes_wanted;
    if (UNLIKELY(job_is_regional(job)) && region_of_node(job, node)->stop != STOP_NONE) {
        wanted &= ~crashes_of_subtasks();
    }
    uint32_t pick = engine_pick(job, ENGINE_SITE_CRASH, lane_make(LANE_COORDINATOR, 0), wanted);
    if (pick != 0) {
        crash(job, crash_outcomes[pick], node);
    }
}
