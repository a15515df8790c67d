/* Savepoints. An ordinary one completes, is told to nobody, and the job goes on. With a stop, sources
 * end at its barrier, its commits run, and the job is FINISHED and resumed from it later, or does
 * not get there: then what its commits created is replayed by whoever goes on from the checkpoint
 * before (C8 and 15.5 of the sink protocols). */
#include "sim/engine/engine.h"

/* Outcomes of engine.savepoint. */
enum savepoint_outcome {
    SAVEPOINT_AS_PLANNED = 0,
    SAVEPOINT_ONLY,
    SAVEPOINT_STOP_SHORT, /* one for each class of downtime */
    SAVEPOINT_STOP_FAILS = SAVEPOINT_STOP_SHORT + DOWNTIME_COUNT, /* one for each failure */
};

static bool is_time(const struct job *job)
{
    const uint32_t records = job->config->log->record_count;
    switch ((enum job_savepoint_at)job->config->savepoint.at) {
    case JOB_SAVEPOINT_NEVER:
        return false;
    case JOB_SAVEPOINT_DRAWN:
        return true;
    case JOB_SAVEPOINT_FIRST:
        return job->store->latest_completed > 0;
    case JOB_SAVEPOINT_MIDDLE:
        return job->emitted_left <= records / 2;
    case JOB_SAVEPOINT_LAST:
        return job->emitted_left == 0;
    }
    UNREACHABLE();
}

static uint32_t failures_wanted(const struct job_savepoint *plan)
{
    if (plan->failure == JOB_SAVEPOINT_FAILURE_DRAWN) {
        return UINT32_C(7) << SAVEPOINT_STOP_FAILS;
    }
    return plan->failure == JOB_SAVEPOINT_FINISHES
               ? 0
               : UINT32_C(1) << (SAVEPOINT_STOP_FAILS + plan->failure - JOB_SAVEPOINT_AUTOMATIC);
}

/* What the plan leaves to the tape; 1 is nothing. */
static uint32_t outcomes_wanted(const struct job *job)
{
    const struct job_savepoint *plan = &job->config->savepoint;
    const bool is_drawn = plan->at == JOB_SAVEPOINT_DRAWN;
    if (plan->kind == JOB_SAVEPOINT_ONLY) {
        return is_drawn ? 1 | UINT32_C(1) << SAVEPOINT_ONLY : 1;
    }
    if (!is_drawn) {
        const bool fails = plan->failure == JOB_SAVEPOINT_FAILURE_DRAWN;
        return fails ? 1 | failures_wanted(plan) : 1;
    }
    uint32_t wanted = 1 | failures_wanted(plan);
    const bool may_finish =
        plan->failure == JOB_SAVEPOINT_FINISHES || plan->failure == JOB_SAVEPOINT_FAILURE_DRAWN;
    for (uint32_t i = 0; i < DOWNTIME_COUNT && may_finish; i++) {
        wanted |= job->config->downtime[i] == 0 ? 0 : UINT32_C(1) << (SAVEPOINT_STOP_SHORT + i);
    }
    return wanted;
}

static enum store_kind stop(struct job *job, uint32_t failure, uint32_t downtime_class)
{
    job->stop_failure = (uint8_t)failure;
    job->stop_class = (uint8_t)downtime_class;
    return STORE_STOP;
}

enum store_kind savepoint_choose(struct job *job)
{
    const struct job_savepoint *plan = &job->config->savepoint;
    if (LIKELY(plan->at == JOB_SAVEPOINT_NEVER) || job->savepoint_taken || job->healed ||
        !is_time(job)) {
        return STORE_CHECKPOINT;
    }
    const uint32_t wanted = outcomes_wanted(job);
    uint32_t pick = SAVEPOINT_AS_PLANNED;
    if (wanted != 1) {
        pick = engine_pick(job, ENGINE_SITE_SAVEPOINT, lane_make(LANE_COORDINATOR, 0), wanted);
    }
    if (pick == SAVEPOINT_AS_PLANNED && plan->at == JOB_SAVEPOINT_DRAWN) {
        return STORE_CHECKPOINT;
    }
    job->savepoint_taken = true;
    if (pick >= SAVEPOINT_STOP_FAILS) {
        return stop(job, JOB_SAVEPOINT_AUTOMATIC + pick - SAVEPOINT_STOP_FAILS, 0);
    }
    if (pick >= SAVEPOINT_STOP_SHORT) {
        return stop(job, JOB_SAVEPOINT_FINISHES, pick - SAVEPOINT_STOP_SHORT + 1);
    }
    if (pick == SAVEPOINT_ONLY || plan->kind == JOB_SAVEPOINT_ONLY) {
        return STORE_SAVEPOINT;
    }
    const bool is_drawn = plan->failure == JOB_SAVEPOINT_FAILURE_DRAWN;
    return stop(job, is_drawn ? JOB_SAVEPOINT_FINISHES : plan->failure, 0);
}

/* All that the stop-with-savepoint holds is committed, and nothing is under way. */
static bool is_through(const struct job *job)
{
    for (uint32_t i = 0; i < job->subtasks; i++) {
        const struct task *task = &job->tasks[i];
        if (task->noticed < job->stopping || !task_is_idle(task)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < job->committer_count; i++) {
        const struct committer *committer = &job->committers[i];
        if (committer->noticed < job->stopping || committer_has_work(committer) ||
            !half_is_idle(committer->half)) {
            return false;
        }
    }
    return true;
}

static nanos down_for(const struct job *job, enum job_savepoint_failure failure)
{
    if (failure == JOB_SAVEPOINT_AUTOMATIC) {
        return 0;
    }
    return job->stop_class == 0 ? job->config->savepoint.down
                                : job_downtime(job, (enum job_downtime)(job->stop_class - 1));
}

void savepoint_progress(struct job *job)
{
    if (job->stop != STOP_NONE || !job_is_live(job) || job->coordinator_dead ||
        store_get(job->store, job->stopping)->state != STORE_COMPLETED || !is_through(job)) {
        return;
    }
    const enum job_savepoint_failure failure = (enum job_savepoint_failure)job->stop_failure;
    const nanos down = down_for(job, failure);
    job->down_until = nanos_add(world_now(job->world), down);
    fault_lasts_until(job->world->fault, job->down_until);
    job_note(job,
             (struct journal_entry){.kind = HOST_INJECTED,
                                    .code = FAULT_RESTORE,
                                    .lane = lane_make(LANE_COORDINATOR, 0),
                                    .attempt = job->attempt,
                                    .checkpoint = job->stopping,
                                    .a = down,
                                    .b = failure});
    if (failure == JOB_SAVEPOINT_FINISHES || failure == JOB_SAVEPOINT_MANUAL) {
        job->resume_from = job->stopping;
    }
    if (failure != JOB_SAVEPOINT_AUTOMATIC) {
        restart_submit(job);
    }
    job->stopping = 0;
    SOMETIMES(job->world, ENGINE_SAVEPOINT_FINISHED, failure == JOB_SAVEPOINT_FINISHES);
    SOMETIMES(job->world, ENGINE_SAVEPOINT_FAILED, failure != JOB_SAVEPOINT_FINISHES);
    job_fail(job,
             failure == JOB_SAVEPOINT_FINISHES ? STOP_CAUSE_FINISHED : STOP_CAUSE_SAVEPOINT,
             SINK_REASON_NONE);
}
