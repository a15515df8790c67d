/* Regions: what restarts together when a part of the job fails.
 *
 * The whole job is one region as soon as an exchange connects its subtasks. Where source i feeds
 * subtask i and no other, each such pair is a region of its own: a process of it that dies or a half
 * that fails stops that region alone, which starts again from the latest completed checkpoint, its
 * source read again from there, while the others go on in the attempts that they are in. Checkpoints
 * under way are aborted for all, for the region can no longer answer them; until it runs again there
 * are no new ones.
 *
 *   state      event                    next
 *   ---------  -----------------------  ------------------------------------------------------
 *   running    a process crashes        noticing (its halves are gone; the others go on)
 *   running    a half fails             closing (every half of the region gets CLOSE)
 *   noticing   the crash is noticed     closing
 *   closing    the last CLOSED          down
 *   down       the delay is over        running: an attempt of its own, restored
 *   any        the whole job stops      running, as far as regions are asked: the job closes all
 *
 * Attempts are numbered through: a region's next one is greater than any before, so that what comes
 * of an attempt (a token, a nonce, a request) is of no other region's either. A failure of the
 * checkpoints' or the coordinator's, and one for which no restart is left, stops the whole job. */
#include "sim/engine/engine.h"

struct region *region_of(const struct job *job, uint32_t subtask)
{
    return &job->regions[job_is_regional(job) ? subtask : 0];
}

static uint32_t index_of(const struct region *region, const struct job *job)
{
    return (uint32_t)(region - job->regions);
}

void region_init(struct job *job)
{
    const struct job_config *config = job->config;
    job->region_count = job_is_regional(job) ? config->subtasks : 1;
    job->regions = arena_take_zeroed(job->world->arena, job->region_count * sizeof(struct region));
    if (job_is_regional(job)) {
        CHECK(config->sources == config->subtasks);
        CHECK(config->routing == JOB_ROUTE_FORWARD);
        CHECK(config->rescale_to[0] == 0);
        CHECK(config->savepoint.at == JOB_SAVEPOINT_NEVER);
        CHECK(config->stateless_restores == JOB_STATELESS_NEVER);
        CHECK(config->next_sink_or_null == NULL);
        CHECK(!config->older_restores);
        CHECK(config->sink == NULL || config->sink->committer_kind != SINK_COMMITTER_GLOBAL);
    }
}

static void note_region(struct region *region, struct job *job, struct journal_entry entry)
{
    entry.lane = lane_make(LANE_TASK, index_of(region, job));
    entry.attempt = region->attempt;
    job_note(job, entry);
}

/* --- stop -------------------------------------------------------------------------------------- */

static void mark_down(const struct region *region, const struct job *job)
{
    for (uint32_t i = 0; i < job->region_count; i++) {
        const struct region *other = &job->regions[i];
        SOMETIMES(job->world, ENGINE_REGIONS_DOWN, other != region && other->stop == STOP_DOWN);
    }
}

static void go_down(struct region *region, struct job *job)
{
    const nanos now = world_now(job->world);
    mark_down(region, job);
    region->stop = STOP_DOWN;
    nanos due = nanos_add(now, job_restart_delay(job));
    if (due < region->down_until && !job->healed) {
        due = region->down_until;
    }
    region->start = job_schedule(
        job, job->coordinator_node, ENGINE_REGION_START, due, job->started, index_of(region, job));
    job_end_zombies(job, region, due, region->zombie_for);
}

void region_half_closed(struct region *region, struct job *job)
{
    if (region->stop != STOP_CLOSING) {
        return;
    }
    CHECK(region->closes_open > 0);
    region->closes_open--;
    if (region->closes_open == 0) {
        go_down(region, job);
    }
}

static void close_region(struct region *region, struct job *job)
{
    region->closes_open = 0;
    for (uint32_t i = 0; i < job->half_count; i++) {
        struct half *half = job->halves[i];
        const bool stays = half->region == region && half->attempt == region->attempt &&
                           !half->gone && !half->zombie;
        if (stays && !crash_is_given_up(job, half)) {
            region->closes_open++;
            half_close(half);
        }
    }
    if (region->closes_open == 0) {
        go_down(region, job);
    }
}

void region_fail(struct region *region, struct job *job, enum stop_cause cause, uint32_t reason)
{
    if (!region_is_live(region, job)) {
        return;
    }
    if (cause != STOP_CAUSE_CRASH && !job_may_restart(job)) {
        job_fail(job, cause, reason);
        return;
    }
    job->restarts += cause == STOP_CAUSE_CRASH ? 0 : 1;
    region->stop_cause = (uint8_t)cause;
    note_region(
        region,
        job,
        (struct journal_entry){.kind = HOST_REGION_STOPPED, .code = (uint8_t)cause, .a = reason});
    region->stop = STOP_CLOSING; /* nothing of it starts while checkpoints are aborted */
    coordinator_abort(job, ABORT_CAUSE_REGION);
    struct source *source = &job->sources[index_of(region, job)];
    if (source->emit != SCHED_NONE) {
        sched_cancel(job->world->sched, source->emit);
        source->emit = SCHED_NONE;
    }
    close_region(region, job);
}

/* --- start ------------------------------------------------------------------------------------- */

void region_start(struct region *region, struct job *job)
{
    CHECK(region->stop == STOP_DOWN);
    region->start = SCHED_NONE;
    if (job->stop != STOP_NONE) {
        return; /* a crash of the whole job is about to be noticed: it starts all of it */
    }
    const uint32_t index = index_of(region, job);
    job->attempt++;
    job->crashes += region->stop_cause == STOP_CAUSE_CRASH ? 1 : 0;
    region->attempt = job->attempt;
    region->stop = STOP_NONE;
    region->restored = start_latest(job);
    const struct stored_checkpoint *stored =
        region->restored == 0 ? NULL : store_get(job->store, region->restored);
    restart_source_positions(job, index, stored);
    note_region(region,
                job,
                (struct journal_entry){.kind = HOST_REGION_STARTED,
                                       .checkpoint = region->restored,
                                       .a = job->region_count});
    COVER(job->world, ENGINE_REGION_RESTARTED);
    start_part(job, index, index + 1);
    start_open_part(job, index, index + 1);
}

/* --- the whole job ----------------------------------------------------------------------------- */

void region_yield(struct job *job)
{
    for (uint32_t i = 0; i < job->region_count; i++) {
        struct region *region = &job->regions[i];
        if (region->start != SCHED_NONE) {
            sched_cancel(job->world->sched, region->start);
            region->start = SCHED_NONE;
        }
        const bool is_lost = region->stop == STOP_NOTICING && job_is_regional(job);
        if (is_lost && region->zombie_for > job->zombie_for) {
            job->zombie_for = region->zombie_for;
        }
        if (is_lost && region->down_until > job->down_until) {
            job->down_until = region->down_until;
        }
        SOMETIMES(job->world, ENGINE_REGION_YIELDED, region->stop > STOP_NOTICING);
        region->stop = STOP_NONE;
    }
}

void region_heal(struct job *job)
{
    for (uint32_t i = 0; i < job->region_count; i++) {
        if (job->regions[i].start != SCHED_NONE) {
            sched_move(job->world->sched, job->regions[i].start, world_now(job->world));
        }
    }
}
