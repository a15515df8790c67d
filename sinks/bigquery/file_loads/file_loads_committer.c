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
#include "sinks/bigquery/file_loads/commit.h"
#include "sinks/bigquery/file_loads/file_loads.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"

/* --- the commit ----------------------------------------------------------------------------- */

static void release_commit(struct committer *committer)
{
    const struct allocator *allocator = committer->allocator;
    commit_release_request(committer);
    commit_release_tables(committer);
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
    committer->commit = NULL;
    committer->commit_count = 0;
}

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
    struct byte_writer message = commit_message(step);
    CHECK(committer->state == STATE_IDLE);
    CHECK(event->u.commit.count > 0);
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    const enum err err = plan_commit(step, &message);
    if (err != ERR_OK) {
        if (message.size == 0) {
            byte_writer_text(&message, "no memory for a commit");
        }
        commit_fail(
            step, err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_STATE, NULL, &message);
        return;
    }
    effects_phase(step->effects, FILE_LOADS_PHASE_PLANNED);
    committer->next = 0;
    commit_begin_wave(committer);
}

/* --- cleaning up ---------------------------------------------------------------------------- */

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

/* --- going on ------------------------------------------------------------------------------- */

static void advance(const struct step *step)
{
    struct committer *committer = step->committer;
    bool goes_on = true;
    while (goes_on && effects_has_space(step->effects)) {
        goes_on = false;
        if (committer->state == STATE_DROPPING || committer->state == STATE_DELETING) {
            goes_on = clean_up(step);
        } else if (committer->open == 0 && !committer->waits) {
            goes_on = (committer->state == STATE_SUBMITTING && commit_submit_next(step)) ||
                      (committer->state == STATE_AWAITING && commit_await_next(step));
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
        commit_settle_table(step, answer);
    } else if (committer->question == QUESTION_LOCATION) {
        commit_settle_location(step, answer);
    } else {
        CHECK(committer->question == QUESTION_JOB);
        commit_settle_job(step, answer);
    }
}

/* --- life ----------------------------------------------------------------------------------- */

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
    const bool starts = committer->state == STATE_SUBMITTING &&
                        commit_current_job(committer)->step == LOAD_JOB_STARTS;
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
    commit_release_locations(committer);
}

const struct sink_half bigquery_file_loads_committer_half = {
    .state_size = sizeof(struct committer),
    .init = init,
    .step = step_committer,
    .digest = digest_committer,
    .fini = fini,
};
