/* What a start brings, for the job or for one region of it: which checkpoint, to how many subtasks,
 * who gets what of its state, on which nodes, and what opens first. */
#include "sim/engine/engine.h"

uint32_t start_committers(const struct job *job)
{
    if (job->sink->committer_or_null == NULL) {
        return 0;
    }
    return job->sink->committer_kind == SINK_COMMITTER_GLOBAL ? 1 : job->subtasks;
}

/* The newest retained checkpoint before the latest; 0 when there is none. */
static uint32_t older_checkpoint(const struct store *store, uint32_t latest)
{
    for (uint32_t number = latest; number > 1; number--) {
        const struct stored_checkpoint *stored = store_get(store, number - 1);
        if (stored->state == STORE_COMPLETED && stored->retained) {
            return stored->number;
        }
    }
    return 0;
}

uint32_t start_latest(const struct job *job)
{
    const uint32_t latest = job->store->latest_completed;
    return latest == job->given_up ? job->older /* the branch from there on is no more */ : latest;
}

/* The checkpoint to restore and the parallelism, by choice among what the scenario allows. */
void start_choose(struct job *job)
{
    uint32_t latest = start_latest(job);
    if (job->store->latest_completed != job->given_up) {
        job->started_from = START_LATEST;
    }
    if (restart_source_commits(job)) {
        job->started_from = START_OWN_POSITION;
    }
    if (job->resume_from != 0) {
        job->started_from = START_SAVEPOINT;
        latest = job->resume_from;
        job->resume_from = 0;
        job->given_up = job->store->latest_completed;
        job->older = latest;
    }
    uint32_t wanted = 1 | restart_offers(job);
    for (uint32_t i = 0; i < ARRAY_COUNT(job->config->rescale_to); i++) {
        uint32_t to = job->config->rescale_to[i];
        if (to == 0) {
            break;
        }
        wanted |= to == job->subtasks ? 0 : UINT32_C(2) << i;
    }
    uint32_t older = job->config->older_restores ? older_checkpoint(job->store, latest) : 0;
    wanted |= older == 0 ? 0 : UINT32_C(1) << 5;
    job->restored = latest;
    if (wanted == 1) {
        return;
    }
    uint32_t pick = engine_pick(job, ENGINE_SITE_RESTORE, lane_make(LANE_COORDINATOR, 0), wanted);
    if (pick > 5) {
        restart_take(job, pick);
    } else if (pick == 5) {
        COVER(job->world, ENGINE_RESTORED_OLDER);
        restart_submit(job);
        job->restored = older;
        job->started_from = START_OLDER;
        job->given_up = job->store->latest_completed;
        job->older = older;
    } else if (pick > 0) {
        COVER(job->world, ENGINE_RESCALED);
        job->subtasks = job->config->rescale_to[pick - 1];
    }
}

static void link_committers(struct job *job, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        if (job->committer_count > 0) {
            job->tasks[i].committer_or_null = &job->committers[job->committer_count == 1 ? 0 : i];
        }
    }
}

static void give_piece(struct task *task, const struct stored_checkpoint *stored, uint32_t piece)
{
    if (task->pieces == NULL) {
        task->pieces =
            arena_take(task->job->world->arena, stored->piece_count * sizeof(task->pieces[0]));
    }
    task->pieces[task->piece_count] = (struct sink_piece){.data = stored->pieces[piece].data};
    task->piece_count++;
}

/* C4: collections move whole. FW5: writer pieces are dealt out one by one on a rescale; else they go
 * back to their subtask. A part of the job takes what is its own. */
static void
redistribute(struct job *job, const struct stored_checkpoint *stored, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < stored->collection_count; i++) {
        const struct stored_collection *collection = &stored->collections[i];
        CHECK(job->committer_count > 0);
        const uint32_t subtask = collection->subtask % job->committer_count;
        if (subtask >= first && subtask < end) {
            committer_restore(&job->committers[subtask], collection);
        }
    }
    for (uint32_t i = 0; i < stored->piece_count; i++) {
        const bool same = stored->subtasks == job->subtasks;
        const uint32_t subtask = same ? stored->pieces[i].subtask : i % job->subtasks;
        for (uint32_t at = first; at < end; at++) {
            if (at == subtask || job->config->pieces_to_all) {
                give_piece(&job->tasks[at], stored, i);
            }
        }
    }
}

static void choose_clock(struct job *job, lane who, uint32_t node)
{
    job->jumped[node] = 0;
    if (job->config->clock_offset_max == 0) {
        return;
    }
    uint32_t pick = engine_pick(job, ENGINE_SITE_CLOCK, who, CHOICE_ALL);
    struct clock *clock = &job->world->nodes[node].clock;
    int64_t max = job->config->clock_offset_max;
    const int64_t offsets[] = {0, max / 2, max, -max / 2, -max, 0, 0};
    clock_init(clock);
    clock_jump(clock, world_now(job->world), offsets[pick]);
    if (pick >= 5) {
        clock_drift(clock, world_now(job->world), pick == 5 ? 50 : -50);
    }
}

/* Committers of a range of subtasks: a global one is the first one's. */
static uint32_t committer_bound(const struct job *job, uint32_t subtask)
{
    return subtask < job->committer_count ? subtask : job->committer_count;
}

void start_open_part(struct job *job, uint32_t first, uint32_t end)
{
    nanos now = world_now(job->world);
    bool separate = job->committer_count > 0 && !job_is_chained(job);
    nanos committer_at = now;
    if (separate) {
        uint32_t pick =
            engine_pick(job, ENGINE_SITE_OPENING, lane_make(LANE_COORDINATOR, 0), CHOICE_ALL);
        committer_at = pick == 0 ? now : nanos_add(now, MS(10));
    }
    for (uint32_t i = committer_bound(job, first); i < committer_bound(job, end) && separate; i++) {
        (void)job_schedule(
            job, job->committer_nodes[i], ENGINE_COMMITTER_RUN, committer_at, job->attempt, i);
    }
    for (uint32_t i = first; i < end; i++) {
        (void)job_schedule(job, job->task_nodes[i], ENGINE_TASK_OPEN, now, job->attempt, i);
    }
    for (uint32_t i = 0; i < job->config->sources; i++) {
        if (!job_is_regional(job) || (i >= first && i < end)) {
            source_create(job, i);
        }
    }
}

/* A process that outlives its attempt keeps its node, and with it its clock and its pauses. */
static bool node_is_taken(const struct job *job, uint32_t node)
{
    for (uint32_t i = 0; i < job->half_count; i++) {
        if (job->halves[i]->node == node && !job->halves[i]->gone) {
            return true;
        }
    }
    return false;
}

/* Nodes for the next processes. One whose process is dead is free for them, and a pause is of the process,
 * not of the machine: it has ended with it. */
static void free_nodes(struct job *job, uint32_t *nodes, uint32_t first, uint32_t end)
{
    struct world *world = job->world;
    for (uint32_t i = first; i < end; i++) {
        if (node_is_taken(job, nodes[i])) {
            struct world_node old = world->nodes[nodes[i]];
            nodes[i] = world_add_node(world, old.lane);
            world->nodes[nodes[i]].cpu_per_event = old.cpu_per_event;
        } else {
            link_end_pause(job->link, nodes[i]);
        }
    }
}

void start_part(struct job *job, uint32_t first, uint32_t end)
{
    const uint32_t restored = region_of(job, first)->restored;
    const uint32_t committer_first = committer_bound(job, first);
    const uint32_t committer_end = committer_bound(job, end);
    free_nodes(job, job->task_nodes, first, end);
    if (!job_is_chained(job)) {
        free_nodes(job, job->committer_nodes, committer_first, committer_end);
    }
    for (uint32_t i = first; i < end; i++) {
        task_create(job, i);
        choose_clock(job, lane_make(LANE_TASK, i), job->task_nodes[i]);
    }
    for (uint32_t i = committer_first; i < committer_end; i++) {
        committer_create(job, i);
        if (!job_is_chained(job)) {
            choose_clock(job, lane_make(LANE_COMMITTER, i), job->committer_nodes[i]);
        }
    }
    link_committers(job, first, end);
    if (restored != 0) {
        const struct stored_checkpoint *stored = store_get(job->store, restored);
        const struct stored_checkpoint taken = restart_taken(job, stored);
        redistribute(job, &taken, first, end);
        barrier_restore(job, stored, first, end);
    }
}
