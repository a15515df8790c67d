/* The writer of the sink that writes by load jobs: rows become files of their table (staging.h), and a barrier
 * waits until all of them are stored (section 6.1 of the sink's specification).
 *
 * State \ event  OPEN   RECORD     answer        POLICY_   BARRIER,       POLICY_     MORE   CLOSE
 *                                                DROPPED   END_OF_INPUT   FLUSHED
 * NEW            OPEN   !          !             !         !              !           -      CLOSED
 * OPEN           !      OPEN,      -             forget    DRAINING       !           send   CLOSED
 *                       HOLDING,
 *                       FAILED
 * HOLDING        !      !          OPEN, FAILED  forget    !              !           send   CLOSED
 * DRAINING       !      !          FAILED        FLUSHING  !              !           send   CLOSED
 * FLUSHING       !      !          FAILED        !         !              FINISHING   send   CLOSED
 * FINISHING      !      !          HANDING_OVER, !         !              !           send   CLOSED
 *                                  FAILED
 * HANDING_OVER   !      !          -             !         !              !           OPEN   CLOSED
 * FAILED         -      -          -             -         -              -           -      CLOSED
 * CLOSED         -      -          -             -         -              -           -      -
 *
 * "!" is a host's broken contract and a CHECK. HOLDING waits until a file that was full, or whose schema has
 * grown, is stored. An error of object storage is fatal: a file either is what its name says or is none.
 * FINISHING closes every open file and HANDING_OVER names each in a committable. There is no state: after a
 * restart the rows behind the barrier are staged again under other names, and what lies under the old ones is
 * read by nobody. A file that is open at close is never written. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/file_loads/avro.h"
#include "sinks/bigquery/file_loads/file_loads.h"
#include "sinks/bigquery/file_loads/staging.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/effects.h"

#define JOB_ID_MAX         64u
#define FAST_INTERVAL      MINUTES(5) /* of checkpoints: loads a table often enough to meet its quota */
#define FAST_INTERVAL_TOLD MINUTES(10)

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_DRAINING,
    STATE_FLUSHING,
    STATE_FINISHING,
    STATE_HANDING_OVER,
    STATE_FAILED,
    STATE_CLOSED,
};

struct writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    const struct sink_job *job;
    struct file_loads_config config;
    struct staging_names names;
    uint8_t state;       /* enum state */
    struct list targets; /* struct staging_target, in the order of their first use */
    struct list
        uploads;       /* struct staged_upload: on their way or stored, since the latest barrier */
    uint32_t unstored; /* of these */
    uint32_t verdicts; /* records with the failure policy */
    uint64_t last;     /* number of the latest request */
    uint64_t barrier;
    uint64_t checkpoint; /* that the files of the barrier are stamped with */
    nanos barrier_at;    /* the latest one; TIME_NEVER none */
    nanos told_at;       /* of barriers that are close; TIME_NEVER never */
};

/* One step's arguments. */
struct step {
    struct writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const char *message)
{
    step->writer->state = STATE_FAILED;
    effects_phase(step->effects, FILE_LOADS_PHASE_WRITER_FAILED);
    effects_fail(step->effects, reason, status_or_null, bytes_of_text(message));
}

/* --- files ------------------------------------------------------------------------------------- */

static struct staging_target *first_target(const struct writer *writer)
{
    struct list_link *link = list_first(&writer->targets);
    return link == NULL ? NULL : LIST_ITEM(link, struct staging_target, link);
}

static struct staging_target *next_target(const struct writer *writer, struct staging_target *at)
{
    struct list_link *link = list_next(&writer->targets, &at->link);
    return link == NULL ? NULL : LIST_ITEM(link, struct staging_target, link);
}

static struct staged_upload *first_upload(const struct writer *writer)
{
    struct list_link *link = list_first(&writer->uploads);
    return link == NULL ? NULL : LIST_ITEM(link, struct staged_upload, link);
}

static struct staged_upload *next_upload(const struct writer *writer, struct staged_upload *at)
{
    struct list_link *link = list_next(&writer->uploads, &at->link);
    return link == NULL ? NULL : LIST_ITEM(link, struct staged_upload, link);
}

/* Find or make; NULL without memory. */
static struct staging_target *obtain(const struct step *step, struct bytes table)
{
    struct writer *writer = step->writer;
    struct staging_target *at = first_target(writer);
    while (at != NULL && !bytes_equal(at->table, table)) {
        at = next_target(writer, at);
    }
    if (at == NULL) {
        at = staging_target_make(writer->allocator, table);
        if (at != NULL) {
            list_push_back(&writer->targets, &at->link);
        }
    }
    return at;
}

/* Close the open file: it is to be stored. */
static bool finish(const struct step *step, struct staging_target *target)
{
    struct writer *writer = step->writer;
    struct staged_upload *upload =
        staging_target_finish(target, writer->allocator, &writer->names, step->now->nonce);
    if (upload == NULL) {
        fail(step, SINK_REASON_MEMORY, NULL, "no memory for a file");
        return false;
    }
    list_push_back(&writer->uploads, &upload->link);
    writer->unstored++;
    return true;
}

static void send_uploads(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct staged_upload *at = first_upload(writer); at != NULL;
         at = next_upload(writer, at)) {
        if (at->request != 0) {
            continue;
        }
        if (!effects_has_room(step->effects)) {
            return;
        }
        writer->last++;
        at->request = writer->last;
        const struct port_envelope envelope = {
            .request = at->request,
            .kind = PORT_CALL,
            .method = &storage_write_object_method,
            .deadline = writer->config.request_timeout,
            .payload = &at->request_body,
        };
        effects_send(step->effects, &envelope);
    }
}

static void take_answer(const struct step *step, const struct port_answer *answer)
{
    struct writer *writer = step->writer;
    struct staged_upload *at = first_upload(writer);
    while (at != NULL && at->request != answer->request) {
        at = next_upload(writer, at);
    }
    if (at == NULL || at->is_stored) {
        return;
    }
    if (answer->outcome != PORT_OUTCOME_OK) {
        fail(step,
             file_loads_may_mend(&answer->status) ? SINK_REASON_EXHAUSTED : SINK_REASON_SERVICE,
             &answer->status,
             "a file could not be stored");
        return;
    }
    staged_upload_stored(at, writer->allocator);
    writer->unstored--;
    effects_phase(step->effects, FILE_LOADS_PHASE_FILE_STAGED);
    effects_metric(step->effects, FILE_LOADS_METRIC_FILES, 1);
}

/* --- records ----------------------------------------------------------------------------------- */

static void fail_record(const struct step *step,
                        uint64_t token,
                        struct bytes payload,
                        struct bytes table,
                        enum sink_reason reason)
{
    step->writer->verdicts++;
    effects_metric(step->effects, FILE_LOADS_METRIC_RECORDS_FAILED, 1);
    effects_phase(step->effects, FILE_LOADS_PHASE_ROW_ROUTED);
    effects_record_failed(step->effects, token, reason, payload, table);
}

/* Section 2.2: a resolver that gives no table is a fault of the configuration, not of the record. */
static bool resolve(const struct step *step, const struct sink_record *record, struct bytes *table)
{
    struct writer *writer = step->writer;
    struct bigquery_table_name parts;
    *table = writer->config.table;
    if (writer->job->destination_fixed || writer->user->resolve == NULL) {
        return true;
    }
    if (writer->user->resolve(writer->user->context, record, table) != SINK_USER_OK ||
        !bigquery_table_parse(*table, &parts)) {
        fail(step, SINK_REASON_RESOLVER, NULL, "the destination resolver gave no table");
        return false;
    }
    return true;
}

static void choose_format(const struct step *step, struct staging_target *target)
{
    const enum bigquery_source_format wanted =
        (enum bigquery_source_format)step->writer->config.format;
    target->format = (uint8_t)staging_format_of(target->schema.table, wanted);
    if (target->format != wanted) {
        effects_phase(step->effects, FILE_LOADS_PHASE_FORMAT_REPLACED);
    }
}

/* Have the user say what the row is written as. A file has one schema: another one ends the open file. */
static bool
describe(const struct step *step, const struct sink_record *record, struct staging_target *target)
{
    struct writer *writer = step->writer;
    const struct sink_user *user = writer->user;
    uint64_t version = target->schema.version;
    struct bytes description = {0};
    if (user->describe == NULL ||
        user->describe(user->context, record, target->table, &version, &description) !=
            SINK_USER_OK ||
        version == 0) {
        fail(step, SINK_REASON_CONFIG, NULL, "the serializer gives no schema of the table");
        return false;
    }
    if (version == target->schema.version) {
        return true;
    }
    if (target->row_count > 0 && !finish(step, target)) {
        return false;
    }
    const enum err err =
        bigquery_schema_read(&target->schema, writer->allocator, description, version);
    if (err == ERR_LIMIT) {
        fail(step, SINK_REASON_MEMORY, NULL, "no memory for a schema");
    } else if (err != ERR_OK || !avro_schema_is_valid(target->schema.table)) {
        fail(step, SINK_REASON_CONFIG, NULL, "the serializer's schema of the table is none");
    } else {
        choose_format(step, target);
        return true;
    }
    return false;
}

static void hold_if_full(const struct step *step, struct staging_target *target)
{
    struct writer *writer = step->writer;
    if (target->size >= writer->config.file_bytes_max && !finish(step, target)) {
        return;
    }
    if (writer->unstored > 0) {
        writer->state = STATE_HOLDING;
        effects_simple(step->effects, SINK_EFFECT_BUSY);
    }
}

static void take_row(const struct step *step,
                     const struct sink_record *record,
                     struct bytes table,
                     struct bytes serialized)
{
    struct writer *writer = step->writer;
    struct staging_target *target = obtain(step, table);
    if (target == NULL) {
        fail(step, SINK_REASON_MEMORY, NULL, "no memory for a table");
        return;
    }
    if (!describe(step, record, target)) {
        return;
    }
    const bool opens = target->row_count == 0;
    const enum err err = staging_target_add(target, writer->allocator, serialized);
    if (err == ERR_LIMIT) {
        fail(step, SINK_REASON_MEMORY, NULL, "no memory for a row");
        return;
    }
    if (err != ERR_OK) {
        fail_record(step, record->token, serialized, table, SINK_REASON_REJECTED);
    } else {
        if (opens) {
            effects_phase(step->effects, FILE_LOADS_PHASE_FILE_OPENED);
        }
        effects_metric(step->effects, FILE_LOADS_METRIC_RECORDS_SENT, 1);
        effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
    }
    hold_if_full(step, target);
}

static void write_record(const struct step *step, const struct sink_record *record)
{
    struct writer *writer = step->writer;
    struct bytes table;
    struct bytes serialized = {0};
    if (!resolve(step, record, &table)) {
        return;
    }
    const enum sink_user_result result =
        writer->user->serialize(writer->user->context, record, table, &serialized);
    if (result == SINK_USER_NONE) {
        effects_metric(step->effects, FILE_LOADS_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
    } else if (result == SINK_USER_FAILED) {
        fail_record(step, record->token, (struct bytes){0}, table, SINK_REASON_SERIALIZER);
    } else {
        take_row(step, record, table, serialized);
    }
}

/* --- barriers ---------------------------------------------------------------------------------- */

/* Tables take only so many loads in a day (BQJ-16). */
static void tell_if_fast(const struct step *step)
{
    struct writer *writer = step->writer;
    const nanos now = step->now->monotonic;
    const bool is_fast =
        writer->barrier_at != TIME_NEVER && nanos_sub(now, writer->barrier_at) < FAST_INTERVAL;
    writer->barrier_at = now;
    if (is_fast && !writer->job->batch &&
        (writer->told_at == TIME_NEVER || nanos_sub(now, writer->told_at) >= FAST_INTERVAL_TOLD)) {
        writer->told_at = now;
        effects_note(step->effects, BYTES_LITERAL("checkpoints are less than 5 minutes apart"));
    }
}

static void begin_barrier(const struct step *step, uint64_t barrier, uint64_t checkpoint)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_OPEN);
    writer->state = STATE_DRAINING;
    writer->barrier = barrier;
    writer->checkpoint = writer->job->batch ? 0 : checkpoint;
    tell_if_fast(step);
}

static void finish_all(const struct step *step)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_FLUSHING);
    writer->state = STATE_FINISHING;
    for (struct staging_target *at = first_target(writer); at != NULL;
         at = next_target(writer, at)) {
        if (at->row_count > 0 && !finish(step, at)) {
            return;
        }
    }
}

/* A committable is known by the name of its file. */
static struct sink_committable *make_committable(const struct step *step,
                                                 const struct staged_file *file)
{
    const size_t data_size = bigquery_file_size(file);
    const size_t size = sizeof(struct sink_committable) + data_size + file->uri.size;
    struct sink_committable *made = allocator_take(step->writer->allocator, size);
    if (made == NULL) {
        return NULL;
    }
    uint8_t *data = (uint8_t *)(made + 1);
    bigquery_file_encode(file, data);
    memcpy(data + data_size, file->uri.data, file->uri.size);
    *made = (struct sink_committable){
        .header = {.identity = {data + data_size, file->uri.size},
                   .origin = step->now->wall,
                   .deadline = TIME_NEVER},
        .data = {data, data_size},
        .block_size = size,
    };
    return made;
}

/* As many files as there is space for in this step. */
static void hand_over(const struct step *step)
{
    struct writer *writer = step->writer;
    while (!list_is_empty(&writer->uploads)) {
        struct staged_upload *upload = first_upload(writer);
        if (!effects_has_space(step->effects)) {
            return;
        }
        upload->file.checkpoint = writer->checkpoint;
        struct sink_committable *made = make_committable(step, &upload->file);
        if (made == NULL) {
            fail(step, SINK_REASON_MEMORY, NULL, "no memory for a committable");
            return;
        }
        effects_phase(step->effects, FILE_LOADS_PHASE_HANDED_OVER);
        effects_add(step->effects, SINK_EFFECT_COMMITTABLES)->u.committables = made;
        (void)list_pop_front(&writer->uploads);
        staged_upload_release(upload, writer->allocator);
    }
    writer->state = STATE_OPEN;
    effects_barrier_done(step->effects, writer->barrier);
}

/* --- going on ---------------------------------------------------------------------------------- */

static void advance(const struct step *step)
{
    struct writer *writer = step->writer;
    send_uploads(step);
    if (writer->state == STATE_HOLDING && writer->unstored == 0) {
        writer->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_READY);
    } else if (writer->state == STATE_DRAINING && writer->verdicts == 0) {
        writer->state = STATE_FLUSHING;
        effects_phase(step->effects, FILE_LOADS_PHASE_POLICY_FLUSHING);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    } else if (writer->state == STATE_FINISHING && writer->unstored == 0) {
        writer->state = STATE_HANDING_OVER;
    }
    if (writer->state == STATE_HANDING_OVER) {
        hand_over(step);
    }
}

static void open_writer(const struct step *step)
{
    struct writer *writer = step->writer;
    char hex[16];
    CHECK(writer->state == STATE_NEW);
    bytes_u64_to_hex(step->now->nonce, hex);
    memcpy(writer->names.random, hex, STAGING_RANDOM_SIZE);
    writer->state = STATE_OPEN;
    effects_phase(step->effects, FILE_LOADS_PHASE_WRITER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_writer(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct staged_upload *at = first_upload(writer);
         at != NULL && effects_has_space(step->effects);
         at = next_upload(writer, at)) {
        if (at->request != 0 && !at->is_stored) {
            effects_cancel(step->effects, at->request, &storage_write_object_method);
        }
    }
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, FILE_LOADS_PHASE_WRITER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct writer *writer = step->writer;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(step);
        return;
    case SINK_EVENT_RECORD:
        CHECK(writer->state == STATE_OPEN);
        write_record(step, &event->u.record);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(writer->state != STATE_NEW);
        take_answer(step, &event->u.answer);
        return;
    case SINK_EVENT_BARRIER:
        begin_barrier(step, event->u.checkpoint, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        begin_barrier(step, SINK_END_OF_INPUT, event->u.end.checkpoint);
        return;
    case SINK_EVENT_POLICY_DROPPED:
        CHECK(writer->verdicts > 0);
        writer->verdicts--;
        return;
    case SINK_EVENT_POLICY_FAILED:
        CHECK(writer->state != STATE_NEW);
        fail(step, SINK_REASON_POLICY, NULL, "the failure policy failed the job");
        return;
    case SINK_EVENT_POLICY_FLUSHED:
        finish_all(step);
        return;
    case SINK_EVENT_TIMER: /* none is set */
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_CLOSE: /* served before */
    case SINK_EVENT_NONE:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
    case SINK_EVENT_COMMIT:
    case SINK_EVENT_HANDLE:
    case SINK_EVENT_FLUSH:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static void step_writer(void *state,
                        const struct sink_now *now,
                        const struct sink_event *event,
                        struct sink_effects *effects)
{
    struct writer *writer = state;
    const struct step step = {writer, now, effects};
    if (event->kind == SINK_EVENT_CLOSE && writer->state != STATE_CLOSED) {
        close_writer(&step);
        return;
    }
    if (writer->state >= STATE_FAILED) {
        return;
    }
    handle(&step, event);
    if (writer->state > STATE_NEW && writer->state < STATE_FAILED) {
        advance(&step);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct writer *writer = state;
    uint8_t text[256];
    struct byte_writer complaint;
    byte_writer_init(&complaint, text, sizeof(text));
    writer->allocator = env->allocator;
    writer->user = env->user;
    writer->job = env->job;
    writer->barrier_at = TIME_NEVER;
    writer->told_at = TIME_NEVER;
    list_init(&writer->targets);
    list_init(&writer->uploads);
    const enum err err = file_loads_configure(env->options, &writer->config, &complaint);
    if (err != ERR_OK || env->job_id.size == 0 || env->job_id.size > JOB_ID_MAX) {
        return err != ERR_OK ? err : ERR_INVALID;
    }
    writer->names = (struct staging_names){.path = writer->config.staging_path,
                                           .job = env->job_id,
                                           .subtask = env->subtask,
                                           .attempt = env->attempt};
    return ERR_OK;
}

static uint64_t digest_writer(const void *state)
{
    const struct writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->barrier);
    digest = digest_fold(digest, (uint64_t)writer->unstored << 32 | writer->verdicts);
    digest = digest_fold(digest, writer->last);
    digest = digest_fold(digest, writer->checkpoint);
    for (struct staging_target *at = first_target(writer); at != NULL;
         at = next_target(writer, at)) {
        digest = digest_fold(digest, digest_bytes(at->table));
        digest = digest_fold(digest, (uint64_t)at->sequence << 8 | at->format);
        digest = digest_fold(digest, digest_bytes((struct bytes){at->rows, at->size}));
    }
    for (struct staged_upload *at = first_upload(writer); at != NULL;
         at = next_upload(writer, at)) {
        digest = digest_fold(digest, digest_bytes(at->file.uri));
        digest = digest_fold(digest, at->request << 1 | (at->is_stored ? 1u : 0u));
    }
    return digest;
}

static void fini(void *state)
{
    struct writer *writer = state;
    while (!list_is_empty(&writer->targets)) {
        struct staging_target *target =
            LIST_ITEM(list_pop_front(&writer->targets), struct staging_target, link);
        staging_target_release(target, writer->allocator);
    }
    while (!list_is_empty(&writer->uploads)) {
        struct staged_upload *upload =
            LIST_ITEM(list_pop_front(&writer->uploads), struct staged_upload, link);
        staged_upload_release(upload, writer->allocator);
    }
}

const struct sink_half bigquery_file_loads_writer_half = {
    .state_size = sizeof(struct writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
