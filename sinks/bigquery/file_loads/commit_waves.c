/* The waves of a commit: jobs that are submitted one after another, and then waited for one after another
 * (section 6.3 of the sink's specification). */
#include "sinks/bigquery/file_loads/commit.h"

void commit_begin_wave(struct committer *committer)
{
    const struct plan *plan = &committer->plan;
    const struct plan_job *first = plan->jobs[committer->next];
    const uint32_t max = first->kind == PLAN_QUERY ? committer->config.queries_at_once
                                                   : committer->config.jobs_at_once;
    uint32_t end = committer->next;
    while (end < plan->job_count && plan->jobs[end]->stage == first->stage &&
           end - committer->next < max) {
        end++;
    }
    committer->wave = committer->next;
    committer->wave_end = end;
    committer->state = STATE_SUBMITTING;
    load_job_begin(commit_current_job(committer));
}

bool commit_submit_next(const struct step *step)
{
    struct committer *committer = step->committer;
    if (!commit_is_submitted(committer)) {
        if (effects_has_room(step->effects)) {
            commit_submit(step);
        }
        return false;
    }
    committer->next++;
    if (committer->next < committer->wave_end) {
        load_job_begin(commit_current_job(committer));
        return true;
    }
    committer->next = committer->wave;
    committer->state = STATE_AWAITING;
    committer->polls = 0;
    committer->is_due = false;
    return true;
}

bool commit_await_next(const struct step *step)
{
    struct committer *committer = step->committer;
    if (commit_current_job(committer)->step == LOAD_JOB_RUNS) {
        if (committer->is_due) {
            if (effects_has_room(step->effects)) {
                committer->is_due = false;
                commit_ask_job(step);
            }
        } else {
            committer->polls += committer->polls == UINT32_MAX ? 0 : 1;
            commit_wait(step, &committer->config.poll, committer->polls);
        }
        return false;
    }
    committer->next++;
    committer->polls = 0;
    committer->is_due = false;
    if (committer->next < committer->wave_end) {
        return true;
    }
    effects_phase(step->effects, FILE_LOADS_PHASE_JOBS_AWAITED);
    if (committer->next < committer->plan.job_count) {
        commit_begin_wave(committer);
    } else {
        committer->state = STATE_DROPPING;
        commit_release_request(committer);
    }
    return true;
}
