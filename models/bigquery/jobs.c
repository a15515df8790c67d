/* Jobs: known by project, location and id, run behind the answer to whoever started them, and done whole or
 * not at all (BQJ-01 to BQJ-09).
 *
 *   state      insert       event: runs      event: ends
 *   none       PENDING      -                -
 *   PENDING    duplicate    RUNNING          -
 *   RUNNING    duplicate    -                DONE
 *   DONE       duplicate    -                -
 */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#define JOB_ID_MAX   1024u
#define JOB_NAME_MAX 2048u
#define ABSORBED_FOR DAYS(1) /* BQJ-30 */

/* --- by name ------------------------------------------------------------------------------------- */

static struct job **place_of(struct bigquery *state, uint32_t resource)
{
    return arena_array_at(&state->jobs, state->env.world->arena, resource, sizeof(struct job *));
}

/* The resource of "projects/p/locations/l/jobs/id"; 0: too long to be one. */
static uint32_t
resource_of(struct bigquery *state, struct bytes project, struct bytes location, struct bytes id)
{
    uint8_t text[JOB_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    byte_writer_text(&writer, "projects/");
    byte_writer_bytes(&writer, project);
    byte_writer_text(&writer, "/locations/");
    byte_writer_bytes(&writer, location);
    byte_writer_text(&writer, "/jobs/");
    byte_writer_bytes(&writer, id);
    return writer.overflowed ? 0 : world_resource(state->env.world, byte_writer_view(&writer));
}

static struct job *
find(struct bigquery *state, struct bytes project, struct bytes location, struct bytes id)
{
    const uint32_t resource = resource_of(state, project, location, id);
    return resource == 0 ? NULL : *place_of(state, resource);
}

static nanos age_of(const struct bigquery *state, const struct job *job)
{
    return nanos_sub(world_now(state->env.world), job->created);
}

/* BQJ-03. */
static bool is_forgotten(const struct bigquery *state, const struct job *job)
{
    return age_of(state, job) >= bigquery_option(state, OPTION_JOB_RETENTION);
}

/* --- answers ------------------------------------------------------------------------------------- */

/* The error of a job that is done, or what it reports before. */
static enum bigquery_reason reported(const struct job *job)
{
    if (job->state == BIGQUERY_JOB_DONE) {
        return (enum bigquery_reason)job->reason;
    }
    return job->state == BIGQUERY_JOB_RUNNING && job->reports_early ? BIGQUERY_REASON_BACKEND_ERROR
                                                                    : BIGQUERY_REASON_NONE;
}

static void reply_job(struct bigquery *state,
                      const struct job *job,
                      bool has_status,
                      struct model_replies *replies)
{
    const enum bigquery_reason reason = reported(job);
    const bool has_error = reason != BIGQUERY_REASON_NONE;
    state->job_error = (struct bigquery_error){.reason = (uint32_t)reason};
    state->job_errors[0] = &state->job_error;
    state->job_status = (struct bigquery_job_status){
        .error_result = has_error && job->state == BIGQUERY_JOB_DONE ? &state->job_error : NULL,
        .errors = {state->job_errors, has_error ? 1u : 0u},
        .state = job->state,
    };
    state->job_reference = (struct bigquery_job_reference){job->project, job->id, job->location};
    state->job_answer = (struct bigquery_job){
        .job_reference = &state->job_reference,
        .status = has_status ? &state->job_status : NULL,
    };
    model_reply(replies, PORT_OK, &state->job_answer);
}

/* --- a new job ----------------------------------------------------------------------------------- */

static bool is_id(struct bytes id)
{
    for (size_t i = 0; i < id.size; i++) {
        const uint8_t byte = id.data[i];
        if ((byte < 'a' || byte > 'z') && (byte < 'A' || byte > 'Z') &&
            (byte < '0' || byte > '9') && byte != '_' && byte != '-') {
            return false;
        }
    }
    return id.size > 0 && id.size <= JOB_ID_MAX;
}

/* A configuration is of one kind, and writes to a table of a dataset that is there. */
static enum bigquery_reason
configuration_error(struct bigquery *state,
                    const struct bigquery_job_configuration *configuration_or_null)
{
    const struct bigquery_job_configuration *configuration = configuration_or_null;
    if (configuration == NULL || (configuration->load != NULL) + (configuration->copy != NULL) +
                                         (configuration->query != NULL) !=
                                     1) {
        return BIGQUERY_REASON_INVALID;
    }
    const struct write_target target = bigquery_target_of(configuration);
    if (target.reference == NULL || target.reference->table_id.size == 0 ||
        target.write >= BIGQUERY_WRITE_DISPOSITION_END ||
        target.create >= BIGQUERY_CREATE_DISPOSITION_END) {
        return BIGQUERY_REASON_INVALID;
    }
    if (!bigquery_dataset_is_there(
            state, target.reference->project_id, target.reference->dataset_id)) {
        return BIGQUERY_REASON_NOT_FOUND;
    }
    if (configuration->load != NULL) {
        return bigquery_load_error(state, configuration->load);
    }
    return configuration->copy != NULL ? bigquery_copy_error(state, configuration->copy)
                                       : BIGQUERY_REASON_NONE;
}

static bool is_over(struct bigquery *state, struct job_quota *quota, uint64_t allowed)
{
    const uint64_t today = world_now(state->env.world) / DAYS(1);
    if (quota->day != today) {
        *quota = (struct job_quota){.day = today};
    }
    quota->count++;
    return quota->count > allowed;
}

/* BQJ-14, BQJ-16. */
static bool is_too_many(struct bigquery *state,
                        const struct bigquery_job_configuration *configuration)
{
    const bool is_over_day =
        (configuration->load != NULL &&
         is_over(state, &state->loads, bigquery_option(state, OPTION_LOADS))) ||
        (configuration->copy != NULL &&
         is_over(state, &state->copies, bigquery_option(state, OPTION_COPIES)));
    return is_over_day || state->unfinished_count >= bigquery_option(state, OPTION_PENDING_JOBS);
}

static nanos length_of(struct bigquery *state)
{
    switch ((enum job_length_outcome)bigquery_draw(state, SITE_JOB_LENGTH)) {
    case JOB_LENGTH_USUAL:
        return bigquery_option(state, OPTION_JOB_TIME);
    case JOB_LENGTH_LONG:
        COVER(state->env.world, BIGQUERY_JOB_SLOW);
        return bigquery_option(state, OPTION_JOB_TIME_LONG);
    case JOB_LENGTH_LONGEST:
        COVER(state->env.world, BIGQUERY_JOB_SLOW);
        return bigquery_option(state, OPTION_JOB_TIME_MAX);
    }
    UNREACHABLE();
}

/* What becomes of it is drawn now, so that a job is one choice of each kind. */
static void draw_course(struct bigquery *state, struct job *job)
{
    job->length = bigquery_option(state, OPTION_JOB_TIME);
    job->end = JOB_END_SUCCEEDS;
    if (!state->jobs_healed) {
        job->length = length_of(state);
        job->end = (uint8_t)bigquery_draw(state, SITE_JOB_END);
    }
    job->reports_early = bigquery_draw(state, SITE_JOB_ERRORS) == JOB_ERRORS_EARLY;
    if (job->configuration->load != NULL) {
        job->reads_at_start = bigquery_draw(state, SITE_JOB_READS) == JOB_READS_AT_START;
    }
}

/* It lives for the run: its id stays taken. */
static void keep_configuration(struct bigquery *state,
                               struct job *job,
                               const struct bigquery_job_configuration *configuration)
{
    job->configuration_size = port_clone_size(&bigquery_job_configuration_message, configuration);
    job->configuration_block =
        arena_take_recycled(state->env.world->arena, job->configuration_size);
    job->configuration = port_clone_into(&bigquery_job_configuration_message,
                                         configuration,
                                         job->configuration_block,
                                         job->configuration_size,
                                         NULL);
}

static void start_job(struct bigquery *state,
                      struct job *job,
                      const struct bigquery_job_configuration *configuration,
                      const struct model_request *request)
{
    job->state = BIGQUERY_JOB_PENDING;
    job->created = world_now(state->env.world);
    job->request = (struct model_request){.request = request->request, .attempt = request->attempt};
    keep_configuration(state, job, configuration);
    draw_course(state, job);
    job->event = model_at(&state->env,
                          nanos_add(job->created, job->length / 2),
                          BIGQUERY_EVENT_JOB_RUNS,
                          job->resource,
                          0);
    job->next = state->unfinished;
    state->unfinished = job;
    state->unfinished_count++;
    state->digest = digest_fold(state->digest, (uint64_t)job->resource << 8 | job->state);
}

/* --- insert -------------------------------------------------------------------------------------- */

static void refuse(struct bigquery *state,
                   const struct model_request *request,
                   enum bigquery_reason reason,
                   struct model_replies *replies)
{
    const enum port_code code = reason == BIGQUERY_REASON_NOT_FOUND        ? PORT_NOT_FOUND
                                : reason == BIGQUERY_REASON_DUPLICATE      ? PORT_ALREADY_EXISTS
                                : reason == BIGQUERY_REASON_QUOTA_EXCEEDED ? PORT_PERMISSION_DENIED
                                                                           : PORT_INVALID_ARGUMENT;
    bigquery_refuse(state, request, code, (uint32_t)reason, replies);
}

/* An id is used, whatever became of its job (BQJ-02, BQJ-06). */
static void answer_second(struct bigquery *state,
                          const struct job *job,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    COVER(state->env.world, BIGQUERY_JOB_EXISTS);
    if (age_of(state, job) < ABSORBED_FOR &&
        bigquery_draw(state, SITE_DUPLICATE) == DUPLICATE_ABSORBED) {
        COVER(state->env.world, BIGQUERY_JOB_ABSORBED);
        reply_job(state, job, false, replies);
        return;
    }
    refuse(state, request, BIGQUERY_REASON_DUPLICATE, replies);
}

/* A job's id; one that comes without is named by the service. The bytes are the caller's. */
static struct bytes id_of(struct bigquery *state,
                          const struct bigquery_job_reference *reference_or_null,
                          struct byte_writer *writer)
{
    if (reference_or_null != NULL && reference_or_null->job_id.size > 0) {
        return reference_or_null->job_id;
    }
    state->jobs_named++;
    byte_writer_text(writer, "bqjob_");
    byte_writer_decimal(writer, state->jobs_named);
    return byte_writer_view(writer);
}

static bool is_taken(const struct bigquery *state, const struct job *job_or_null)
{
    return job_or_null != NULL &&
           (bigquery_option(state, OPTION_JOB_REUSE) == 0 || !is_forgotten(state, job_or_null));
}

/* What keeps a job of a free id from beginning. */
static enum bigquery_reason refusal_of(struct bigquery *state,
                                       const struct bigquery_job_configuration *configuration)
{
    const enum bigquery_reason reason = configuration_error(state, configuration);
    if (reason == BIGQUERY_REASON_NONE && is_too_many(state, configuration)) {
        COVER(state->env.world, BIGQUERY_JOB_LIMIT);
        return BIGQUERY_REASON_QUOTA_EXCEEDED;
    }
    return reason;
}

static void insert_named(struct bigquery *state,
                         const struct bigquery_insert_job_request *insert,
                         struct bytes id,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const struct bytes location = state->env.options[OPTION_LOCATION].text;
    const uint32_t resource = is_id(id) ? resource_of(state, insert->project_id, location, id) : 0;
    if (resource == 0) {
        refuse(state, request, BIGQUERY_REASON_INVALID, replies);
        return;
    }
    struct job **place = place_of(state, resource);
    if (is_taken(state, *place)) {
        answer_second(state, *place, request, replies);
        return;
    }
    const enum bigquery_reason reason = refusal_of(state, insert->job->configuration);
    if (reason != BIGQUERY_REASON_NONE) {
        refuse(state, request, reason, replies);
        return;
    }
    struct job *job = bigquery_take(state, sizeof(*job));
    *place = job;
    job->resource = resource;
    job->project = bigquery_keep(state, insert->project_id);
    job->location = location;
    job->id = bigquery_keep(state, id);
    start_job(state, job, insert->job->configuration, request);
    reply_job(state, job, true, replies);
}

void bigquery_insert_job(struct bigquery *state,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const struct bigquery_insert_job_request *insert = request->payload;
    if (insert->job == NULL || insert->project_id.size == 0) {
        refuse(state, request, BIGQUERY_REASON_INVALID, replies);
        return;
    }
    const struct bigquery_job_reference *reference = insert->job->job_reference;
    /* Elsewhere there is no such dataset (BQJ-08). */
    if (reference != NULL && reference->location.size > 0 &&
        !bytes_equal(reference->location, state->env.options[OPTION_LOCATION].text)) {
        refuse(state, request, BIGQUERY_REASON_NOT_FOUND, replies);
        return;
    }
    uint8_t text[32];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    insert_named(state, insert, id_of(state, reference, &writer), request, replies);
}

/* --- get ----------------------------------------------------------------------------------------- */

/* Without a location a job is looked for in one or two of them. */
static struct job *find_anywhere(struct bigquery *state, const struct bigquery_get_job_request *get)
{
    struct job *job = find(state, get->project_id, BYTES_LITERAL("US"), get->job_id);
    if (job == NULL &&
        bigquery_reading(state, OPTION_LOOKUP, SITE_LOOKUP_READING) == LOOKUP_US_AND_EU) {
        job = find(state, get->project_id, BYTES_LITERAL("EU"), get->job_id);
    }
    return job;
}

void bigquery_get_job(struct bigquery *state,
                      const struct model_request *request,
                      struct model_replies *replies)
{
    const struct bigquery_get_job_request *get = request->payload;
    const struct bytes location = state->env.options[OPTION_LOCATION].text;
    const struct job *job = get->location.size == 0
                                ? find_anywhere(state, get)
                                : find(state, get->project_id, get->location, get->job_id);
    if (job != NULL && !is_forgotten(state, job)) {
        reply_job(state, job, true, replies);
        return;
    }
    SOMETIMES(state->env.world,
              BIGQUERY_JOB_UNSEEN,
              job == NULL && find(state, get->project_id, location, get->job_id) != NULL);
    refuse(state, request, BIGQUERY_REASON_NOT_FOUND, replies);
}

/* --- its course ---------------------------------------------------------------------------------- */

static void run_job(struct bigquery *state, struct job *job)
{
    job->state = BIGQUERY_JOB_RUNNING;
    if (job->reads_at_start) {
        COVER(state->env.world, BIGQUERY_LOAD_READ_EARLY);
        job->reason = (uint8_t)bigquery_load_read(state, job);
    }
    job->event = model_at(&state->env,
                          nanos_add(world_now(state->env.world), job->length - job->length / 2),
                          BIGQUERY_EVENT_JOB_ENDS,
                          job->resource,
                          0);
}

static enum bigquery_reason drawn_failure(const struct job *job)
{
    switch ((enum job_end_outcome)job->end) {
    case JOB_END_SUCCEEDS:
        return BIGQUERY_REASON_NONE;
    case JOB_END_BACKEND_ERROR:
        return BIGQUERY_REASON_BACKEND_ERROR;
    case JOB_END_INTERNAL_ERROR:
        return BIGQUERY_REASON_INTERNAL_ERROR;
    case JOB_END_RATE_LIMIT:
        return BIGQUERY_REASON_RATE_LIMIT_EXCEEDED;
    }
    UNREACHABLE();
}

static enum bigquery_reason do_work(struct bigquery *state, struct job *job)
{
    const enum bigquery_reason failure = drawn_failure(job);
    if (!bigquery_may_write(state, job)) {
        COVER(state->env.world, BIGQUERY_JOB_LIMIT);
        return BIGQUERY_REASON_QUOTA_EXCEEDED;
    }
    if (failure != BIGQUERY_REASON_NONE) {
        return failure;
    }
    if (job->configuration->load != NULL) {
        return bigquery_load_end(state, job);
    }
    return job->configuration->copy != NULL ? bigquery_copy_end(state, job)
                                            : bigquery_query_end(state, job);
}

/* What it worked with is given back. */
static void release(struct bigquery *state, struct job *job)
{
    struct arena *arena = state->env.world->arena;
    arena_give_recycled(arena, job->configuration_block, job->configuration_size);
    job->configuration = NULL;
    if (job->layout != NULL) {
        arena_give_recycled(arena, job->layout, sizeof(*job->layout));
        job->layout = NULL;
    }
    bigquery_contents_release(state, &job->rows);
}

static void end_job(struct bigquery *state, struct job *job)
{
    struct job **place = &state->unfinished;
    job->reason = (uint8_t)do_work(state, job);
    job->state = BIGQUERY_JOB_DONE;
    SOMETIMES(state->env.world, BIGQUERY_JOB_FAILED, job->reason != BIGQUERY_REASON_NONE);
    release(state, job);
    while (*place != job) {
        place = &(*place)->next;
    }
    *place = job->next;
    state->unfinished_count--;
    state->digest = digest_fold(state->digest, (uint64_t)job->resource << 8 | job->reason);
}

void bigquery_job_event(struct bigquery *state, enum bigquery_event what, uint32_t resource)
{
    struct job *job = *place_of(state, resource);
    CHECK(job != NULL);
    switch (what) {
    case BIGQUERY_EVENT_JOB_RUNS:
        CHECK(job->state == BIGQUERY_JOB_PENDING);
        run_job(state, job);
        return;
    case BIGQUERY_EVENT_JOB_ENDS:
        CHECK(job->state == BIGQUERY_JOB_RUNNING);
        end_job(state, job);
        return;
    case BIGQUERY_EVENT_NONE:
        break;
    }
    UNREACHABLE();
}

/* A drawn length is cut to the usual one, and a failure that was drawn does not come any more; nor are there
 * others for what begins later. */
void bigquery_jobs_heal(struct bigquery *state)
{
    state->jobs_healed = true;
    const nanos now = world_now(state->env.world);
    const nanos usual = bigquery_option(state, OPTION_JOB_TIME);
    for (struct job *job = state->unfinished; job != NULL; job = job->next) {
        job->end = JOB_END_SUCCEEDS;
        if (job->length > usual) {
            job->length = usual;
            const nanos part = job->state == BIGQUERY_JOB_PENDING ? usual / 2 : usual;
            const nanos due = nanos_add(job->created, part);
            sched_move(state->env.world->sched, job->event, due < now ? now : due);
        }
    }
}

uint64_t bigquery_jobs_digest(const struct bigquery *state)
{
    uint64_t digest = digest_fold(state->unfinished_count, state->jobs_named);
    for (const struct job *job = state->unfinished; job != NULL; job = job->next) {
        digest = digest_fold(digest, (uint64_t)job->resource << 8 | job->state);
        digest = digest_fold(digest, job->length);
        digest = digest_fold(digest, (uint64_t)job->reason << 16 | job->end);
    }
    return digest;
}
