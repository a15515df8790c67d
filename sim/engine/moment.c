/* What is going on when a fault fires: phases of sim/moments.def. Read only, and only then. */
#include "sim/engine/engine.h"

static bool all_run(const struct job *job)
{
    for (uint32_t i = 0; i < job->subtasks; i++) {
        const struct task *task = &job->tasks[i];
        if (task->region == NULL || task->attempt != task->region->attempt || !task->running ||
            task->region->stop > STOP_NOTICING) {
            return false;
        }
    }
    return true;
}

/* Whether this attempt completed a checkpoint that some listener has not heard of. */
static bool is_untold(const struct job *job)
{
    const uint32_t latest = job->store->latest_completed;
    bool untold = false;
    for (uint32_t i = 0; i < job->subtasks; i++) {
        untold = untold || job->tasks[i].notice < latest;
    }
    for (uint32_t i = 0; i < job->committer_count; i++) {
        untold = untold || job->committers[i].notice < latest;
    }
    return untold && job->last_completed_at > 0;
}

static enum engine_phase engine_phase_of(const struct job *job)
{
    if (job->healed) {
        return ENGINE_PHASE_HEALED;
    }
    if (job->attempt == 0 || job->stop == STOP_DOWN || job->failed) {
        return ENGINE_PHASE_DOWN;
    }
    if (job->stop != STOP_NONE) {
        return ENGINE_PHASE_STOPPING;
    }
    if (!all_run(job)) {
        return ENGINE_PHASE_RESTORING;
    }
    if (job->stopping != 0) {
        return ENGINE_PHASE_SAVEPOINT;
    }
    if (job->pending_count > 0) {
        return ENGINE_PHASE_CHECKPOINT;
    }
    return is_untold(job) ? ENGINE_PHASE_COMPLETED : ENGINE_PHASE_RUNNING;
}

static enum sink_phase half_phase_of(const struct half *half)
{
    if (half->gone) {
        return SINK_PHASE_ABSENT;
    }
    if (half->closing || half->close_due) {
        return SINK_PHASE_CLOSING;
    }
    if (!half->opened) {
        return SINK_PHASE_OPENING;
    }
    if (half->commit_running) {
        return SINK_PHASE_COMMITTING;
    }
    if (half->barrier_open) {
        return half->barrier == SINK_END_OF_INPUT ? SINK_PHASE_DRAINING : SINK_PHASE_AT_BARRIER;
    }
    return half->busy || half->record_open ? SINK_PHASE_HOLDING : SINK_PHASE_RUNNING;
}

static bool is_of_half(lane who)
{
    const enum lane_kind kind = lane_kind_of(who);
    return kind == LANE_WRITER || kind == LANE_COMMITTER || kind == LANE_POLICY;
}

/* Of the half that draws, a zombie maybe; of anybody else's draw, the deepest that a half of the
 * attempt is in. */
static enum sink_phase sink_phase_of(const struct job *job, lane who)
{
    const bool of_half = is_of_half(who);
    enum sink_phase deepest = SINK_PHASE_ABSENT;
    for (uint32_t i = job->half_count; i > 0; i--) {
        const struct half *half = job->halves[i - 1];
        const bool is_meant =
            of_half ? half->lane == who : half->attempt == job->attempt && !half->zombie;
        if (half->gone || !is_meant) {
            continue;
        }
        const enum sink_phase phase = half_phase_of(half);
        if (of_half) {
            return phase;
        }
        deepest = phase > deepest ? phase : deepest;
    }
    return deepest;
}

uint32_t moment_now(void *context, lane who)
{
    const struct job *job = context;
    return moment_bit(sink_phase_of(job, who), engine_phase_of(job));
}
