/* One job of a commit: what it needs is asked for, and then it is found, started, or attached to (load_job.h;
 * section 6.4 of the sink's specification). */
#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/commit.h"
#include "sinks/bigquery/options.h"

const struct plan_job *commit_current_plan(const struct committer *committer)
{
    return committer->plan.jobs[committer->next];
}

struct load_job *commit_current_job(const struct committer *committer)
{
    return &committer->jobs[committer->next];
}

struct bytes commit_current_id(struct committer *committer)
{
    struct byte_writer id;
    byte_writer_init(&id, committer->id, sizeof(committer->id));
    load_job_write_id(commit_current_job(committer), commit_current_plan(committer), &id);
    return byte_writer_view(&id);
}

/* --- requests ------------------------------------------------------------------------------- */

void commit_ask_job(const struct step *step)
{
    struct committer *committer = step->committer;
    struct bigquery_table_name parts;
    const struct bytes id = commit_current_id(committer);
    const bool is_name = bigquery_table_parse(commit_current_plan(committer)->table, &parts);
    CHECK(is_name);
    commit_release_request(committer);
    committer->request.get = (struct bigquery_get_job_request){
        .project_id = parts.project, .job_id = id, .location = commit_current_location(committer)};
    committer->question = QUESTION_JOB;
    commit_send(step, &bigquery_get_job_method, &committer->request.get);
}

/* Only a load that keeps a table's columns and may find rows can ask for others (BQJ-10). */
static uint32_t schema_updates(const struct file_loads_config *config)
{
    if (config->plan.write != BIGQUERY_WRITE_APPEND &&
        config->plan.write != BIGQUERY_WRITE_TRUNCATE_DATA) {
        return 0;
    }
    return (config->allow_new_fields ? (uint32_t)BIGQUERY_ALLOW_FIELD_ADDITION : 0) |
           (config->allow_relaxation ? (uint32_t)BIGQUERY_ALLOW_FIELD_RELAXATION : 0);
}

static void start_job(const struct step *step)
{
    struct committer *committer = step->committer;
    const struct plan_job *plan = commit_current_plan(committer);
    const struct load_table *table = commit_find_table(committer, plan->table);
    const struct load_request_options options = {
        .location = commit_current_location(committer),
        .schema_or_null = table == NULL ? NULL : table->schema.table,
        .creates = committer->config.creates,
        .schema_updates = schema_updates(&committer->config),
    };
    commit_release_request(committer);
    if (load_request_make(&committer->request.insert,
                          committer->allocator,
                          commit_current_job(committer),
                          plan,
                          &options) != ERR_OK) {
        commit_fail_text(step, SINK_REASON_MEMORY, "no memory for a job");
        return;
    }
    committer->question = QUESTION_JOB;
    commit_send(step, &bigquery_insert_job_method, &committer->request.insert.insert);
}

/* A temporary table that its load cannot make is made before, but never for a load that is found: one that
 * was DONE has filled it, and what has become of the table since then must show. */
static bool target_is_ready(const struct step *step)
{
    const struct committer *committer = step->committer;
    const struct plan_job *plan = commit_current_plan(committer);
    const struct load_table *table = commit_find_table(committer, plan->table);
    return plan->kind != PLAN_LOAD || !load_job_keeps_columns(plan, table->schema.table) ||
           commit_ready_table(step, plan->target, table);
}

void commit_submit(const struct step *step)
{
    struct committer *committer = step->committer;
    const struct plan_job *plan = commit_current_plan(committer);
    if (plan->kind == PLAN_LOAD && !commit_ready_table(step, plan->table, NULL)) {
        return;
    }
    if (!commit_knows_location(committer)) {
        commit_ask_location(step);
    } else if (commit_current_job(committer)->step == LOAD_JOB_STARTS) {
        if (target_is_ready(step)) {
            start_job(step);
        }
    } else {
        commit_ask_job(step);
    }
}

bool commit_is_submitted(const struct committer *committer)
{
    const uint8_t step = commit_current_job(committer)->step;
    return step == LOAD_JOB_RUNS || step == LOAD_JOB_DONE;
}

/* --- answers -------------------------------------------------------------------------------- */

/* The name is that of the id that ran, for people. */
static void fail_job(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    const struct load_job *job = commit_current_job(committer);
    if (answer->outcome != PORT_OUTCOME_OK) {
        commit_fail_answer(step, answer, "job", commit_current_id(committer), NULL);
        return;
    }
    struct byte_writer message = commit_message(step);
    byte_writer_text(&message, "job ");
    if (job->retries < LOAD_JOB_IDS) {
        byte_writer_bytes(&message, commit_current_id(committer));
        byte_writer_text(&message, " failed");
    } else {
        byte_writer_bytes(&message, commit_current_plan(committer)->id);
        byte_writer_text(&message, " failed under each of its ids");
    }
    const bool is_gone = job->error == BIGQUERY_REASON_NOT_FOUND;
    byte_writer_text(&message, is_gone ? ": what it reads is gone" : "");
    commit_fail(step, is_gone ? SINK_REASON_EXPIRED : SINK_REASON_SERVICE, NULL, &message);
}

static void tell_submitted(const struct step *step, uint8_t asked, const struct load_job *before)
{
    const struct load_job *job = commit_current_job(step->committer);
    if (job->retries > before->retries) {
        effects_phase(step->effects, FILE_LOADS_PHASE_JOB_FOUND_FAILED);
    }
    if (job->step == LOAD_JOB_RUNS && asked == LOAD_JOB_STARTS) {
        effects_phase(step->effects, FILE_LOADS_PHASE_JOB_STARTED);
        effects_metric(step->effects, FILE_LOADS_METRIC_JOBS, 1);
    } else if (job->step == LOAD_JOB_RUNS && asked != LOAD_JOB_RUNS) {
        effects_phase(step->effects, FILE_LOADS_PHASE_JOB_ATTACHED);
        effects_metric(step->effects, FILE_LOADS_METRIC_ATTACHED, 1);
    } else if (job->step == LOAD_JOB_DONE && asked != LOAD_JOB_RUNS) {
        effects_phase(step->effects, FILE_LOADS_PHASE_JOB_FOUND_DONE);
        effects_metric(step->effects, FILE_LOADS_METRIC_ATTACHED, 1);
    }
}

void commit_settle_job(const struct step *step, const struct port_answer *answer)
{
    struct load_job *job = commit_current_job(step->committer);
    const struct load_job before = *job;
    load_job_answer(job, answer);
    if (job->step == LOAD_JOB_FAILED) {
        fail_job(step, answer);
    } else {
        tell_submitted(step, before.step, &before);
    }
}
