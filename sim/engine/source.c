/* Sources and channels. A source owns the splits whose number is its own modulo the number of
 * sources, and reads them in rotation. A channel holds records, barriers and the end of input, in
 * order; a full channel stops its source, as back pressure does. */
#include "sim/engine/engine.h"
#include "sinks/base/digest.h"

#define BARRIER_ROOM 16u /* items a channel holds beyond its capacity in records */

static uint32_t power_of_two_at_least(uint32_t value)
{
    uint32_t power = 1;
    while (power < value) {
        power *= 2;
    }
    return power;
}

static uint32_t record_capacity(const struct job *job)
{
    return job->config->channel_capacity == 0 ? 16 : job->config->channel_capacity;
}

void channel_init(struct channel *channel, struct job *job)
{
    uint32_t capacity = power_of_two_at_least(record_capacity(job) + BARRIER_ROOM);
    *channel = (struct channel){.capacity = capacity};
    channel->ring = arena_take(job->world->arena, capacity * sizeof(channel->ring[0]));
}

/* Those that are triggered and not yet sent, and the end of input, need room as well. */
bool channel_has_barrier_room(const struct channel *channel)
{
    return channel->count + CHECKPOINT_PENDING_MAX + 2 <= channel->capacity;
}

channel_item channel_pop(struct channel *channel)
{
    channel_item item = channel_head(channel);
    channel->head = (channel->head + 1) & (channel->capacity - 1);
    channel->count--;
    return item;
}

/* Make room for more items than a channel usually holds. */
void channel_reserve(struct channel *channel, struct job *job, uint32_t more)
{
    if (channel->count + more + record_capacity(job) + BARRIER_ROOM <= channel->capacity) {
        return;
    }
    struct channel grown = {.capacity = power_of_two_at_least(channel->count + more +
                                                              record_capacity(job) + BARRIER_ROOM)};
    grown.ring = arena_take(job->world->arena, grown.capacity * sizeof(grown.ring[0]));
    while (channel->count > 0) {
        channel_push(&grown, channel_pop(channel));
    }
    *channel = grown;
}

void channel_push(struct channel *channel, channel_item item)
{
    CHECK(channel->count < channel->capacity);
    channel->ring[(channel->head + channel->count) & (channel->capacity - 1)] = item;
    channel->count++;
}

/* When a source may emit what comes next. Where records arrive by themselves, one that is late is due
 * at once, and how many came before it says when it arrived. */
static nanos next_due(const struct job *job, uint32_t index, nanos steady)
{
    uint64_t before = 0;
    if (job->config->source_pace == JOB_SOURCE_STEADY) {
        return steady;
    }
    for (uint32_t split = index; split < job->config->log->split_count;
         split += job->config->sources) {
        before += job->positions[split];
    }
    CHECK(job->config->record_burst > 0);
    const nanos arrived_at =
        nanos_mul(job->config->record_interval, before / job->config->record_burst);
    const nanos now = world_now(job->world);
    return arrived_at > now ? arrived_at : now;
}

void source_create(struct job *job, uint32_t index)
{
    const bool feeds_one = job_is_regional(job);
    const uint16_t attempt = region_of(job, index)->attempt;
    job->sources[index] = (struct source){.index = index,
                                          .node = job->source_nodes[index],
                                          .attempt = attempt,
                                          .task_first = feeds_one ? index : 0,
                                          .task_end = feeds_one ? index + 1 : job->subtasks,
                                          .next_split = index};
    const nanos due = next_due(job, index, world_now(job->world));
    job->sources[index].emit =
        job_schedule(job, job->source_nodes[index], ENGINE_EMIT, due, attempt, index);
}

static bool split_is_exhausted(const struct job *job, uint32_t split)
{
    const struct source_log *log = job->config->log;
    return job->positions[split] >= log->split_starts[split + 1] - log->split_starts[split];
}

/* The next split of the rotation that still has records, or the split count when none has. */
static uint32_t next_split(const struct source *source, const struct job *job)
{
    const struct source_log *log = job->config->log;
    uint32_t split = source->next_split;
    uint32_t step = job->config->sources;
    for (uint32_t seen = source->index; seen < log->split_count; seen += step) {
        if (split >= log->split_count) {
            split = source->index;
        }
        if (!split_is_exhausted(job, split)) {
            return split;
        }
        split += step;
    }
    return log->split_count;
}

uint32_t source_route(const struct job *job, uint32_t record_index)
{
    const struct sink_record *record = &job->config->log->records[record_index].record;
    const uint32_t split = record->split;
    switch ((enum job_routing)job->config->routing) {
    case JOB_ROUTE_FORWARD:
        return split % job->subtasks;
    case JOB_ROUTE_HASH:
        return (uint32_t)(digest_bytes(record->key) % job->subtasks);
    case JOB_ROUTE_ROUND_ROBIN:
        return (uint32_t)((record_index - job->config->log->split_starts[split] + split) %
                          job->subtasks);
    }
    UNREACHABLE();
}

/* Emit one record; false when there is none or its channel is full. */
static bool emit_one(struct source *source, struct job *job)
{
    const struct source_log *log = job->config->log;
    uint32_t split = next_split(source, job);
    if (split == log->split_count) {
        return false;
    }
    uint32_t index = log->split_starts[split] + (uint32_t)job->positions[split];
    struct task *task = &job->tasks[source_route(job, index)];
    struct channel *channel = &task->channels[source->index];
    if (channel->count >= record_capacity(job)) {
        COVER(job->world, ENGINE_SOURCE_BLOCKED);
        source->blocked = true;
        return false;
    }
    channel_push(channel, ITEM(ITEM_RECORD, index + 1));
    if (UNLIKELY(channel->awaits != 0)) {
        coordinator_in_flight(job,
                              channel->awaits,
                              (struct stored_in_flight){.subtask = task->index,
                                                        .source = source->index,
                                                        .record = index + 1});
    }
    job->positions[split]++;
    job->emitted_left--;
    if (UNLIKELY(restart_source_commits(job))) {
        job->own_positions[split] = job->positions[split];
    }
    if (job->emitted_at != NULL && job->emitted_at[index] == 0) {
        job->emitted_at[index] = world_now(job->world) + 1;
    }
    source->next_split = split + job->config->sources;
    task_schedule(task);
    return true;
}

static void broadcast(struct source *source, struct job *job, channel_item item)
{
    const bool overtakes =
        job->config->barriers == JOB_BARRIERS_UNALIGNED && ITEM_KIND(item) == ITEM_BARRIER;
    for (uint32_t i = source->task_first; i < source->task_end; i++) {
        if (overtakes) {
            barrier_arrive(&job->tasks[i], source->index, ITEM_VALUE(item));
            continue;
        }
        channel_push(&job->tasks[i].channels[source->index], item);
        task_schedule(&job->tasks[i]);
    }
}

void source_emit(struct source *source, struct job *job)
{
    source->emit = SCHED_NONE;
    if (source->stopped) {
        return;
    }
    const nanos now = world_now(job->world);
    for (uint32_t i = 0; i < job->config->record_burst; i++) {
        if (next_due(job, source->index, now) > now || !emit_one(source, job)) {
            break;
        }
    }
    if (source->blocked) {
        return;
    }
    if (next_split(source, job) == job->config->log->split_count) {
        if (job->config->bounded && !source->end_sent) {
            source->end_sent = true;
            broadcast(source, job, ITEM(ITEM_END, 0));
        }
        return;
    }
    const nanos steady = nanos_add(now, job->config->record_interval);
    const nanos due = next_due(job, source->index, steady);
    source->emit =
        job_schedule(job, source->node, ENGINE_EMIT, due, source->attempt, source->index);
}

void source_wake(struct job *job, uint32_t index)
{
    struct source *source = &job->sources[index];
    if (!source->blocked || source->stopped) {
        return;
    }
    source->blocked = false;
    source->emit =
        job_schedule(job, source->node, ENGINE_EMIT, world_now(job->world), source->attempt, index);
}

void source_barrier(struct source *source, struct job *job, uint32_t checkpoint)
{
    source->stopped = source->stopped || checkpoint == job->stopping;
    if (job->config->source_keeps == JOB_SOURCE_KEEPS_UNTIL_BARRIER) {
        restart_acknowledge(job, source->index, job->positions);
    }
    struct pending_checkpoint *pending = coordinator_pending(job, checkpoint);
    if (pending != NULL) {
        for (uint32_t split = source->index; split < job->config->log->split_count;
             split += job->config->sources) {
            pending->positions[split] = job->positions[split];
        }
    }
    broadcast(source, job, ITEM(ITEM_BARRIER, checkpoint));
}
