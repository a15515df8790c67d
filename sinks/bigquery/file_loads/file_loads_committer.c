/* The committer of the sink that writes by load jobs: one for all writers. A commit is planned whole (plan.h),
 * then its jobs are submitted wave by wave and waited for, and only then is anything deleted (section 6.3 of
 * the sink's specification).
 *
 * State \ event  OPEN   COMMIT        answer               TIMER        MORE   CLOSE
 * NEW            IDLE   !             !                    -            -      CLOSED
 * IDLE           !      SUBMITTING,   -                    -            -      CLOSED
 *                       FAILED
 * SUBMITTING     !      !             the next job,        asks again   send   CLOSED
 *                                     AWAITING, FAILED
 * AWAITING       !      !             the next job,        looks again  send   CLOSED
 *                                     SUBMITTING,
 *                                     DROPPING, FAILED
 * DROPPING       !      !             DELETING             -            send   CLOSED
 * DELETING       !      !             IDLE                 -            send   CLOSED
 * FAILED         -      -             -                    -            -      CLOSED
 * CLOSED         -      -             -                    -            -      -
 *
 * "!" is a host's broken contract and a CHECK. SUBMITTING makes the table of a load ready (load_table.h), asks
 * where its dataset is, and then finds, starts or attaches to the job (load_job.h). A stage of the plan begins
 * when all jobs of the one before are DONE. Whatever fails before that ends the commit with nothing deleted:
 * who commits again plans the same jobs and finds them by their ids. DROPPING deletes the temporary tables and
 * DELETING the staged files; what either is answered does not matter, for the rows are in their table. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/bigquery/file_loads/clean_up.h"
#include "sinks/bigquery/file_loads/file_loads.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/file_loads/load_job.h"
#include "sinks/bigquery/file_loads/load_table.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/effects.h"

#define MESSAGE_SIZE      2048u
#define LOCATION_SIZE_MAX 64u

enum state {
    STATE_NEW = 0,
    STATE_IDLE,
    STATE_SUBMITTING,
    STATE_AWAITING,
    STATE_DROPPING,
    STATE_DELETING,
    STATE_FAILED,
    STATE_CLOSED,
};

/* What the open request is about. */
enum question {
    QUESTION_NONE = 0,
    QUESTION_TABLE,
    QUESTION_LOCATION,
    QUESTION_JOB,
};

/* Where a dataset is, which never changes (M35). */
struct location {
    struct list_link link;
    size_t size;          /* of all of it */
    struct bytes dataset; /* "projects/P/datasets/D", behind this */
    uint8_t text[LOCATION_SIZE_MAX];
    size_t text_size;
};

/* Requests that are borrowed until the next step. */
union request {
    struct load_table_request table;
    struct bigquery_get_dataset_request dataset;
    struct bigquery_get_job_request get;
    struct load_request insert;
};

struct committer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct file_loads_config config;
    uint8_t state; /* enum state */
    bool warned;   /* of columns that loads drop */
    struct list locations;
    uint64_t last;    /* number of the latest request */
    uint64_t open;    /* of SUBMITTING and AWAITING; 0 none */
    uint8_t question; /* enum question: what open is about */
    bool waits;       /* for the timer */
    bool is_due;      /* AWAITING: the job is to be looked at */
    uint32_t polls;   /* of the job that is waited for */
    /* of the commit */
    const struct sink_commit_request *commit; /* the host's */
    uint32_t commit_count;
    struct staged_file *files; /* as many */
    struct plan plan;
    struct load_job *jobs; /* by plan */
    uint32_t job_count;
    uint32_t wave; /* first job of it */
    uint32_t wave_end;
    uint32_t next;            /* of the wave: submitted or waited for */
    struct list tables;       /* struct load_table: the commit's own, and temporary ones */
    struct load_table *asked; /* of QUESTION_TABLE */
    struct clean_up clean_up;
    union request request;
    uint8_t id[LOAD_JOB_ID_SIZE];
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct committer *committer;
    struct sink_effects *effects;
};

/* --- the commit's memory ----------------------------------------------------------------------- */

static void release_request(struct committer *committer)
{
    if (committer->question == QUESTION_JOB) {
        load_request_release(&committer->request.insert, committer->allocator);
    }
    committer->request = (union request){0};
    committer->question = QUESTION_NONE;
}

static void release_commit(struct committer *committer)
{
    const struct allocator *allocator = committer->allocator;
    release_request(committer);
    while (!list_is_empty(&committer->tables)) {
        struct load_table *table =
            LIST_ITEM(list_pop_front(&committer->tables), struct load_table, link);
        load_table_release(table, allocator);
        allocator_give(allocator, table, sizeof(*table));
    }
    allocator_give(allocator, committer->jobs, committer->job_count * sizeof(struct load_job));
    allocator_give(
        allocator, committer->files, committer->commit_count * sizeof(struct staged_file));
    clean_up_release(&committer->clean_up);
    if (committer->plan.allocator != NULL) {
        plan_release(&committer->plan);
    }
    committer->jobs = NULL;
    committer->job_count = 0;
    committer->files = NULL;
    committer->asked = NULL;
    committer->commit = NULL;
    committer->commit_count = 0;
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const struct byte_writer *message)
{
    step->committer->state = STATE_FAILED;
    effects_phase(step->effects, FILE_LOADS_PHASE_COMMITTER_FAILED);
    effects_fail(step->effects, reason, status_or_null, byte_writer_view(message));
}

static struct byte_writer begin_message(const struct step *step)
{
    struct byte_writer message;
    byte_writer_init(&message, step->committer->message, sizeof(step->committer->message));
    return message;
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *text)
{
    struct byte_writer message = begin_message(step);
    byte_writer_text(&message, text);
    fail(step, reason, NULL, &message);
}

/* An error that another attempt may mend ends this commit as well: the one after a restart is that attempt. */
static enum sink_reason reason_of(const struct port_answer *answer)
{
    return file_loads_may_mend(&answer->status) ? SINK_REASON_EXHAUSTED : SINK_REASON_SERVICE;
}

static void fail_answer(const struct step *step,
                        const struct port_answer *answer,
                        const char *what,
                        struct bytes name,
                        const char *complaint_or_null)
{
    struct byte_writer message = begin_message(step);
    const uint16_t code = port_status_first(&answer->status);
    byte_writer_text(&message, what);
    byte_writer_text(&message, " ");
    byte_writer_bytes(&message, name);
    byte_writer_text(&message, ": ");
    if (complaint_or_null != NULL) {
        byte_writer_text(&message, complaint_or_null);
    } else {
        byte_writer_text(&message, code == PORT_CODE_NONE ? "no status" : port_code_name(code));
    }
    fail(step,
         complaint_or_null != NULL ? SINK_REASON_SERVICE : reason_of(answer),
         &answer->status,
         &message);
}

static const struct plan_job *current_plan(const struct committer *committer)
{
    return committer->plan.jobs[committer->next];
}

static struct load_job *current_job(const struct committer *committer)
{
    return &committer->jobs[committer->next];
}

static struct bytes current_id(struct committer *committer)
{
    struct byte_writer id;
    byte_writer_init(&id, committer->id, sizeof(committer->id));
    load_job_write_id(current_job(committer), current_plan(committer), &id);
    return byte_writer_view(&id);
}

/* The name is that of the id that ran, for people. */
static void fail_job(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    const struct load_job *job = current_job(committer);
    if (answer->outcome != PORT_OUTCOME_OK) {
        fail_answer(step, answer, "job", current_id(committer), NULL);
        return;
    }
    struct byte_writer message = begin_message(step);
    byte_writer_text(&message, "job ");
    if (job->retries < LOAD_JOB_IDS) {
        byte_writer_bytes(&message, current_id(committer));
        byte_writer_text(&message, " failed");
    } else {
        byte_writer_bytes(&message, current_plan(committer)->id);
        byte_writer_text(&message, " failed under each of its ids");
    }
    const bool is_gone = job->error == BIGQUERY_REASON_NOT_FOUND;
    byte_writer_text(&message, is_gone ? ": what it reads is gone" : "");
    fail(step, is_gone ? SINK_REASON_EXPIRED : SINK_REASON_SERVICE, NULL, &message);
}

/* --- requests ---------------------------------------------------------------------------------- */

static void send(const struct step *step, const struct port_method *method, const void *payload)
{
    struct committer *committer = step->committer;
    committer->last++;
    committer->open = committer->last;
    const struct port_envelope envelope = {
        .request = committer->open,
        .kind = PORT_CALL,
        .method = method,
        .deadline = committer->config.request_timeout,
        .payload = payload,
    };
    effects_send(step->effects, &envelope);
}

static void wait_for(const struct step *step, const struct retry_schedule *schedule, uint32_t nth)
{
    const struct retry_window pause = retry_backoff(schedule, nth);
    step->committer->waits = true;
    effects_timer(step->effects, pause.min, pause.max);
}

/* --- tables ------------------------------------------------------------------------------------ */

static struct load_table *find_table(const struct committer *committer, struct bytes name)
{
    for (struct list_link *link = list_first(&committer->tables); link != NULL;
         link = list_next(&committer->tables, link)) {
        struct load_table *table = LIST_ITEM(link, struct load_table, link);
        if (bytes_equal(table->name, name)) {
            return table;
        }
    }
    return NULL;
}

/* The commit's table, with what the serializer writes into it from now on; or a temporary one that is to be
 * like it. NULL: the commit has failed. */
static struct load_table *
add_table(const struct step *step, struct bytes name, const struct load_table *like_or_null)
{
    struct committer *committer = step->committer;
    const struct sink_user *user = committer->user;
    struct bytes wanted = {0};
    uint64_t version = 0;
    if (like_or_null == NULL &&
        (user->describe == NULL ||
         user->describe(user->context, NULL, name, &version, &wanted) != SINK_USER_OK)) {
        fail_text(step, SINK_REASON_CONFIG, "the serializer gives no schema of the table");
        return NULL;
    }
    const struct load_table_rules rules = load_table_rules_of(&committer->config);
    struct load_table *table = allocator_take(committer->allocator, sizeof(*table));
    enum err err = ERR_LIMIT;
    if (table != NULL) {
        err = like_or_null != NULL
                  ? load_table_begin_like(table, committer->allocator, name, like_or_null)
                  : load_table_begin(table, committer->allocator, name, rules, wanted);
    }
    if (err == ERR_OK) {
        list_push_back(&committer->tables, &table->link);
        return table;
    }
    allocator_give(committer->allocator, table, sizeof(*table));
    fail_text(step,
              err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_CONFIG,
              err == ERR_LIMIT ? "no memory for a table"
                               : "the serializer's schema of a table is none");
    return NULL;
}

static void ask_table(const struct step *step, struct load_table *table)
{
    struct committer *committer = step->committer;
    release_request(committer);
    committer->asked = table;
    load_table_request_make(&committer->request.table, table);
    committer->question = QUESTION_TABLE;
    send(step, committer->request.table.method, committer->request.table.payload);
}

/* Find or begin, and ask what is to be asked. False: it is not ready yet, or the commit has failed. */
static bool
make_ready(const struct step *step, struct bytes name, const struct load_table *like_or_null)
{
    struct load_table *table = find_table(step->committer, name);
    table = table == NULL ? add_table(step, name, like_or_null) : table;
    if (table == NULL) {
        return false;
    }
    if (table->step != LOAD_TABLE_READY) {
        ask_table(step, table);
        return false;
    }
    return true;
}

static void tell_ready(const struct step *step, const struct load_table *table)
{
    if (!bytes_equal(table->name, current_plan(step->committer)->table)) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TEMPORARY_TABLE_READY);
        return;
    }
    if (table->is_created) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TABLE_CREATED);
    }
    if (table->is_changed) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TABLE_CHANGED);
    }
    if (table->drops_columns && !step->committer->warned) {
        step->committer->warned = true;
        effects_phase(step->effects, FILE_LOADS_PHASE_COLUMNS_DROPPED);
        effects_note(step->effects, BYTES_LITERAL("columns that the table lacks are not loaded"));
    }
}

static void settle_table(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    struct load_table *table = committer->asked;
    const enum err err = load_table_answer(table, committer->allocator, answer);
    if (err != ERR_OK) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a table's schema");
    } else if (table->step == LOAD_TABLE_FAILED) {
        fail_answer(step, answer, "table", table->name, table->complaint);
    } else if (table->step == LOAD_TABLE_PAUSES) {
        wait_for(step, &committer->config.reconcile, table->failures);
        load_table_resume(table);
    } else if (table->step == LOAD_TABLE_READY) {
        tell_ready(step, table);
    }
}

/* --- locations --------------------------------------------------------------------------------- */

/* "projects/P/datasets/D". */
static struct bytes dataset_of(struct bytes table)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(table, &parts);
    CHECK(is_name);
    return (struct bytes){table.data,
                          (size_t)(parts.dataset.data - table.data) + parts.dataset.size};
}

static struct location *find_location(const struct committer *committer, struct bytes dataset)
{
    for (struct list_link *link = list_first(&committer->locations); link != NULL;
         link = list_next(&committer->locations, link)) {
        struct location *location = LIST_ITEM(link, struct location, link);
        if (bytes_equal(location->dataset, dataset)) {
            return location;
        }
    }
    return NULL;
}

static void ask_location(const struct step *step)
{
    struct committer *committer = step->committer;
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(current_plan(committer)->table, &parts);
    CHECK(is_name);
    release_request(committer);
    committer->request.dataset = (struct bigquery_get_dataset_request){.project_id = parts.project,
                                                                       .dataset_id = parts.dataset};
    committer->question = QUESTION_LOCATION;
    send(step, &bigquery_get_dataset_method, &committer->request.dataset);
}

static void settle_location(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    const struct bytes dataset = dataset_of(current_plan(committer)->table);
    if (answer->outcome != PORT_OUTCOME_OK || answer->payload == NULL) {
        fail_answer(step, answer, "dataset", dataset, NULL);
        return;
    }
    const struct bigquery_dataset *found = answer->payload;
    const size_t size = sizeof(struct location) + dataset.size;
    struct location *location = found->location.size > LOCATION_SIZE_MAX
                                    ? NULL
                                    : allocator_take(committer->allocator, size);
    if (location == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a location");
        return;
    }
    uint8_t *name = (uint8_t *)(location + 1);
    memcpy(name, dataset.data, dataset.size);
    *location = (struct location){
        .size = size, .dataset = {name, dataset.size}, .text_size = found->location.size};
    if (found->location.size > 0) {
        memcpy(location->text, found->location.data, found->location.size);
    }
    list_push_back(&committer->locations, &location->link);
}

/* Known by now. */
static struct bytes current_location(const struct committer *committer)
{
    if (committer->config.location.size > 0) {
        return committer->config.location;
    }
    const struct location *location =
        find_location(committer, dataset_of(current_plan(committer)->table));
    CHECK(location != NULL);
    return (struct bytes){location->text, location->text_size};
}

/* --- jobs -------------------------------------------------------------------------------------- */

static void ask_job(const struct step *step)
{
    struct committer *committer = step->committer;
    struct bigquery_table_name parts;
    const struct bytes id = current_id(committer);
    const bool is_name = bigquery_table_parse(current_plan(committer)->table, &parts);
    CHECK(is_name);
    release_request(committer);
    committer->request.get = (struct bigquery_get_job_request){
        .project_id = parts.project, .job_id = id, .location = current_location(committer)};
    committer->question = QUESTION_JOB;
    send(step, &bigquery_get_job_method, &committer->request.get);
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
    const struct plan_job *plan = current_plan(committer);
    const struct load_table *table = find_table(committer, plan->table);
    const struct load_request_options options = {
        .location = current_location(committer),
        .schema_or_null = table == NULL ? NULL : table->schema.table,
        .creates = committer->config.creates,
        .schema_updates = schema_updates(&committer->config),
    };
    release_request(committer);
    if (load_request_make(&committer->request.insert,
                          committer->allocator,
                          current_job(committer),
                          plan,
                          &options) != ERR_OK) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a job");
        return;
    }
    committer->question = QUESTION_JOB;
    send(step, &bigquery_insert_job_method, &committer->request.insert.insert);
}

static void tell_submitted(const struct step *step, uint8_t asked, const struct load_job *before)
{
    const struct load_job *job = current_job(step->committer);
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

static void settle_job(const struct step *step, const struct port_answer *answer)
{
    struct load_job *job = current_job(step->committer);
    const struct load_job before = *job;
    load_job_answer(job, answer);
    if (job->step == LOAD_JOB_FAILED) {
        fail_job(step, answer);
    } else {
        tell_submitted(step, before.step, &before);
    }
}

/* --- cleaning up ------------------------------------------------------------------------------- */

static void return_commit(const struct step *step)
{
    effects_phase(step->effects, FILE_LOADS_PHASE_FILES_DELETED);
    effects_phase(step->effects, FILE_LOADS_PHASE_COMMIT_RETURNED);
    release_commit(step->committer);
    step->committer->state = STATE_IDLE;
    effects_simple(step->effects, SINK_EFFECT_COMMIT_RETURNED);
}

/* One kind; true when the next one is to follow at once. */
static bool clean_up(const struct step *step)
{
    struct committer *committer = step->committer;
    const bool is_tables = committer->state == STATE_DROPPING;
    if (!clean_up_advance(&committer->clean_up,
                          is_tables ? CLEAN_UP_TABLES : CLEAN_UP_FILES,
                          &committer->plan,
                          committer->config.request_timeout,
                          &committer->last,
                          step->effects)) {
        return false;
    }
    if (!is_tables) {
        return_commit(step);
        return false;
    }
    if (committer->plan.temporary_table_count > 0) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TABLES_DELETED);
    }
    committer->state = STATE_DELETING;
    return true;
}

/* Best effort: an error leaves something behind that nobody reads. */
static void settle_deletion(const struct step *step, const struct port_answer *answer)
{
    if (clean_up_answer(&step->committer->clean_up, answer)) {
        effects_metric(step->effects, FILE_LOADS_METRIC_CLEAN_UP_ERRORS, 1);
    }
}

/* --- going on ---------------------------------------------------------------------------------- */

/* The jobs that are submitted before any is waited for: of one stage, and no more than the service queues. */
static void begin_wave(struct committer *committer)
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
    load_job_begin(current_job(committer));
}

/* A temporary table that its load cannot make is made before, but never for a load that is found: one that
 * was DONE has filled it, and what has become of the table since then must show. */
static bool target_is_ready(const struct step *step)
{
    const struct committer *committer = step->committer;
    const struct plan_job *plan = current_plan(committer);
    const struct load_table *table = find_table(committer, plan->table);
    return plan->kind != PLAN_LOAD || !load_job_keeps_columns(plan, table->schema.table) ||
           make_ready(step, plan->target, table);
}

static void submit(const struct step *step)
{
    struct committer *committer = step->committer;
    const struct plan_job *plan = current_plan(committer);
    if (plan->kind == PLAN_LOAD && !make_ready(step, plan->table, NULL)) {
        return;
    }
    if (committer->config.location.size == 0 &&
        find_location(committer, dataset_of(plan->table)) == NULL) {
        ask_location(step);
    } else if (current_job(committer)->step == LOAD_JOB_STARTS) {
        if (target_is_ready(step)) {
            start_job(step);
        }
    } else {
        ask_job(step);
    }
}

static bool is_submitted(const struct committer *committer)
{
    const uint8_t step = current_job(committer)->step;
    return step == LOAD_JOB_RUNS || step == LOAD_JOB_DONE;
}

/* One step forward; false when there is none to make now. */
static bool submit_next(const struct step *step)
{
    struct committer *committer = step->committer;
    if (!is_submitted(committer)) {
        if (effects_has_room(step->effects)) {
            submit(step);
        }
        return false;
    }
    committer->next++;
    if (committer->next < committer->wave_end) {
        load_job_begin(current_job(committer));
        return true;
    }
    committer->next = committer->wave;
    committer->state = STATE_AWAITING;
    committer->polls = 0;
    committer->is_due = false;
    return true;
}

static bool await_next(const struct step *step)
{
    struct committer *committer = step->committer;
    if (current_job(committer)->step == LOAD_JOB_RUNS) {
        if (committer->is_due) {
            if (effects_has_room(step->effects)) {
                committer->is_due = false;
                ask_job(step);
            }
        } else {
            committer->polls += committer->polls == UINT32_MAX ? 0 : 1;
            wait_for(step, &committer->config.poll, committer->polls);
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
        begin_wave(committer);
    } else {
        committer->state = STATE_DROPPING;
        release_request(committer);
    }
    return true;
}

static void advance(const struct step *step)
{
    struct committer *committer = step->committer;
    bool goes_on = true;
    while (goes_on && effects_has_space(step->effects)) {
        goes_on = false;
        if (committer->state == STATE_DROPPING || committer->state == STATE_DELETING) {
            goes_on = clean_up(step);
        } else if (committer->open == 0 && !committer->waits) {
            goes_on = (committer->state == STATE_SUBMITTING && submit_next(step)) ||
                      (committer->state == STATE_AWAITING && await_next(step));
        }
    }
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    if (committer->state == STATE_DROPPING || committer->state == STATE_DELETING) {
        settle_deletion(step, answer);
        return;
    }
    if (answer->request != committer->open) {
        return;
    }
    committer->open = 0;
    if (committer->question == QUESTION_TABLE) {
        settle_table(step, answer);
    } else if (committer->question == QUESTION_LOCATION) {
        settle_location(step, answer);
    } else {
        CHECK(committer->question == QUESTION_JOB);
        settle_job(step, answer);
    }
}

/* --- the commit -------------------------------------------------------------------------------- */

static enum err decode_files(const struct step *step, struct byte_writer *message)
{
    struct committer *committer = step->committer;
    committer->files =
        allocator_take(committer->allocator, committer->commit_count * sizeof(struct staged_file));
    if (committer->files == NULL) {
        return ERR_LIMIT;
    }
    for (uint32_t i = 0; i < committer->commit_count; i++) {
        struct bigquery_table_name parts;
        struct staged_file *file = &committer->files[i];
        enum err err = bigquery_file_decode(committer->commit[i].data, file);
        err = err == ERR_OK && !bigquery_table_parse(file->table, &parts) ? ERR_INVALID : err;
        if (err != ERR_OK) {
            byte_writer_text(message, "committable ");
            byte_writer_decimal(message, (uint64_t)i + 1);
            byte_writer_text(message, " of ");
            byte_writer_decimal(message, committer->commit_count);
            byte_writer_text(message, ": ");
            byte_writer_text(message, err_name(err));
            return err;
        }
    }
    return ERR_OK;
}

/* All that can be wrong with a commit is found here, before anything is asked of a service. */
static enum err plan_commit(const struct step *step, struct byte_writer *message)
{
    struct committer *committer = step->committer;
    enum err err = decode_files(step, message);
    err = err != ERR_OK ? err
                        : plan_make(&committer->plan,
                                    committer->allocator,
                                    &committer->config.plan,
                                    committer->files,
                                    committer->commit_count,
                                    message);
    if (err != ERR_OK) {
        return err;
    }
    const size_t size = committer->plan.job_count * sizeof(struct load_job);
    committer->jobs = allocator_take_zeroed(committer->allocator, size);
    committer->job_count = committer->jobs == NULL ? 0 : committer->plan.job_count;
    err = clean_up_begin(&committer->clean_up, committer->allocator);
    return committer->jobs == NULL ? ERR_LIMIT : err;
}

static void begin_commit(const struct step *step, const struct sink_event *event)
{
    struct committer *committer = step->committer;
    struct byte_writer message = begin_message(step);
    CHECK(committer->state == STATE_IDLE);
    CHECK(event->u.commit.count > 0);
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    const enum err err = plan_commit(step, &message);
    if (err != ERR_OK) {
        if (message.size == 0) {
            byte_writer_text(&message, "no memory for a commit");
        }
        fail(step, err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_STATE, NULL, &message);
        return;
    }
    effects_phase(step->effects, FILE_LOADS_PHASE_PLANNED);
    committer->next = 0;
    begin_wave(committer);
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_committer(const struct step *step)
{
    CHECK(step->committer->state == STATE_NEW);
    step->committer->state = STATE_IDLE;
    effects_phase(step->effects, FILE_LOADS_PHASE_COMMITTER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static const struct port_method *open_method(const struct committer *committer)
{
    if (committer->question == QUESTION_TABLE) {
        return committer->request.table.method;
    }
    if (committer->question == QUESTION_LOCATION) {
        return &bigquery_get_dataset_method;
    }
    const bool starts =
        committer->state == STATE_SUBMITTING && current_job(committer)->step == LOAD_JOB_STARTS;
    return starts ? &bigquery_insert_job_method : &bigquery_get_job_method;
}

/* What runs goes on running: the service does not ask who waits (M30). */
static void close_committer(const struct step *step)
{
    struct committer *committer = step->committer;
    if (committer->open != 0) {
        effects_cancel(step->effects, committer->open, open_method(committer));
        committer->open = 0;
    }
    clean_up_close(&committer->clean_up, step->effects);
    committer->state = STATE_CLOSED;
    effects_phase(step->effects, FILE_LOADS_PHASE_COMMITTER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_committer(step);
        return;
    case SINK_EVENT_COMMIT:
        begin_commit(step, event);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(step->committer->state != STATE_NEW);
        settle(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        step->committer->waits = false;
        step->committer->is_due = true;
        return;
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_CLOSE: /* served before */
    case SINK_EVENT_NONE:
    case SINK_EVENT_RECORD:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
    case SINK_EVENT_BARRIER:
    case SINK_EVENT_POLICY_DROPPED:
    case SINK_EVENT_POLICY_FLUSHED:
    case SINK_EVENT_POLICY_FAILED:
    case SINK_EVENT_HANDLE:
    case SINK_EVENT_FLUSH:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_END_OF_INPUT:
    case SINK_EVENT_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static void step_committer(void *state,
                           const struct sink_now *now,
                           const struct sink_event *event,
                           struct sink_effects *effects)
{
    struct committer *committer = state;
    const struct step step = {committer, effects};
    (void)now; /* pauses are drawn by the host, and no clock decides */
    if (event->kind == SINK_EVENT_CLOSE && committer->state != STATE_CLOSED) {
        close_committer(&step);
        return;
    }
    if (committer->state >= STATE_FAILED) {
        return;
    }
    handle(&step, event);
    advance(&step);
}

static enum err init(void *state, const struct sink_env *env)
{
    struct committer *committer = state;
    struct byte_writer complaint;
    byte_writer_init(&complaint, committer->message, sizeof(committer->message));
    committer->allocator = env->allocator;
    committer->user = env->user;
    list_init(&committer->locations);
    list_init(&committer->tables);
    return file_loads_configure(env->options, &committer->config, &complaint);
}

static uint64_t digest_committer(const void *state)
{
    const struct committer *committer = state;
    uint64_t digest = digest_fold(committer->state, committer->last);
    digest = digest_fold(digest, committer->open << 8 | committer->question);
    digest = digest_fold(digest,
                         (uint64_t)committer->polls << 3 | (uint64_t)committer->warned << 2 |
                             (uint64_t)committer->waits << 1 | (committer->is_due ? 1u : 0u));
    digest = digest_fold(digest, (uint64_t)committer->wave << 32 | committer->wave_end);
    digest = digest_fold(digest, (uint64_t)committer->next << 32 | committer->commit_count);
    digest =
        digest_fold(digest, (uint64_t)committer->clean_up.sent << 32 | committer->clean_up.open);
    digest = digest_fold(digest, committer->locations.count);
    for (uint32_t i = 0; i < committer->job_count; i++) {
        const struct load_job *job = &committer->jobs[i];
        digest = digest_fold(digest,
                             (uint64_t)job->error << 16 | (uint64_t)job->step << 8 | job->retries);
    }
    for (struct list_link *link = list_first(&committer->tables); link != NULL;
         link = list_next(&committer->tables, link)) {
        const struct load_table *table = LIST_ITEM(link, struct load_table, link);
        digest = digest_fold(digest, digest_bytes(table->name));
        digest = digest_fold(digest, (uint64_t)table->failures << 8 | table->step);
    }
    return digest;
}

static void fini(void *state)
{
    struct committer *committer = state;
    release_commit(committer);
    while (!list_is_empty(&committer->locations)) {
        struct location *location =
            LIST_ITEM(list_pop_front(&committer->locations), struct location, link);
        allocator_give(committer->allocator, location, location->size);
    }
}

const struct sink_half bigquery_file_loads_committer_half = {
    .state_size = sizeof(struct committer),
    .init = init,
    .step = step_committer,
    .digest = digest_committer,
    .fini = fini,
};
