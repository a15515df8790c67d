/* The writer of the transactional sink. Rows of one interval go into one unit of the table, in order,
 * by one Stage call at a time, each at the offset that the calls before it have reached. At the barrier
 * the unit is handed over as a committable, and the next row begins a new one.
 *
 * State \ event  OPEN   RECORD   ANSWER         TIMER   MORE   BARRIER,       CLOSE
 *                                                              END_OF_INPUT
 * NEW            OPEN   !        !              -       -      !              CLOSED
 * OPEN           !      OPEN or  next batch,    retry   send   FLUSHING or    CLOSED
 *                       HOLDING  retry, FAILED                 OPEN
 * HOLDING        !      !        OPEN, retry,   retry   send   !              CLOSED
 *                                FAILED
 * FLUSHING       !      !        OPEN, retry,   retry   send   !              CLOSED
 *                                FAILED
 * FAILED         -      -        -              -       -      -              CLOSED
 * CLOSED         -      -        -              -       -      -              -
 *
 * "!" is a host's broken contract and a CHECK. HOLDING: the buffer is full. A batch whose outcome is
 * unknown is sent again as it was: the offset tells the table, and ALREADY_EXISTS tells us, that it has
 * arrived. A unit that is gone held rows that were acknowledged: that fails the job, which begins again
 * at its checkpoint; to make it anew would lose them. Units that nobody commits are left to their
 * time: a restored committable may name any of them. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/effects.h"
#include "sinks/generic/transactional.h"
#include "sinks/generic/unit_frame.h"
#include "sinks/port/table.h"

#include <string.h>

#define MESSAGE_SIZE 256

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSED,
};

/* A row that the table has not acknowledged, in one block with its value. */
struct pending_row {
    struct list_link link;
    struct table_row row;
    size_t block_size;
};

struct transactional_writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct transactional_config config;
    uint8_t state; /* enum state */
    struct list rows;
    const void **batch; /* what the open or next request sends: the first rows */
    uint32_t batch_count;
    uint32_t failures;  /* of this batch */
    bool waits;         /* for the timer, before the next attempt */
    uint64_t last;      /* number of the latest request */
    uint64_t open;      /* number of the one without an answer; 0 none */
    uint64_t staged;    /* rows that the unit holds */
    uint64_t barrier;   /* that is being flushed for */
    uint64_t completed; /* latest barrier that was answered */
    char unit[UNIT_NAME_SIZE];
    bool has_unit;
    struct table_stage_request request;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct transactional_writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static struct bytes unit_of(const struct transactional_writer *writer)
{
    return (struct bytes){(const uint8_t *)writer->unit, sizeof(writer->unit)};
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    step->writer->state = STATE_FAILED;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_WRITER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

static void
fail_request(const struct step *step, enum sink_reason reason, const struct port_status *status)
{
    struct byte_writer message;
    byte_writer_init(&message, step->writer->message, sizeof(step->writer->message));
    const uint16_t first = port_status_first(status);
    byte_writer_text(&message, "Stage failed with ");
    byte_writer_text(&message, first == PORT_CODE_NONE ? "no status" : port_code_name(first));
    byte_writer_text(&message,
                     reason == SINK_REASON_EXHAUSTED ? " and its attempts are used up" : "");
    byte_writer_text(&message,
                     reason == SINK_REASON_EXPIRED
                         ? ": the unit is gone, and with it rows that it had acknowledged"
                         : "");
    fail(step, reason, status, byte_writer_view(&message));
}

/* --- rows -------------------------------------------------------------------------------------- */

static struct pending_row *make_row(const struct transactional_writer *writer, struct bytes value)
{
    const size_t size = sizeof(struct pending_row) + value.size;
    struct pending_row *pending = allocator_take(writer->allocator, size);
    if (pending == NULL) {
        return NULL;
    }
    *pending = (struct pending_row){.block_size = size};
    uint8_t *copy = (uint8_t *)(pending + 1);
    if (value.size > 0) {
        memcpy(copy, value.data, value.size);
    }
    pending->row.value = (struct bytes){copy, value.size};
    return pending;
}

static void drop_first(struct transactional_writer *writer)
{
    struct list_link *link = list_pop_front(&writer->rows);
    struct pending_row *pending = LIST_ITEM(link, struct pending_row, link);
    allocator_give(writer->allocator, pending, pending->block_size);
}

static void write_record(const struct step *step, const struct sink_record *record)
{
    struct transactional_writer *writer = step->writer;
    struct bytes value = {0};
    const enum sink_user_result result =
        writer->user->serialize(writer->user->context, record, (struct bytes){0}, &value);
    if (result == SINK_USER_NONE) {
        effects_metric(step->effects, TRANSACTIONAL_METRIC_ROWS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
        return;
    }
    if (result == SINK_USER_FAILED) {
        fail_text(step, SINK_REASON_SERIALIZER, "the serializer failed");
        return;
    }
    struct pending_row *pending = make_row(writer, value);
    if (pending == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a row");
        return;
    }
    if (!writer->has_unit) {
        unit_frame_name(step->now->nonce, writer->unit);
        writer->has_unit = true;
    }
    list_push_back(&writer->rows, &pending->link);
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
    if (writer->rows.count >= writer->config.buffered_rows_max) {
        writer->state = STATE_HOLDING;
        effects_phase(step->effects, TRANSACTIONAL_PHASE_WRITER_FULL);
        effects_simple(step->effects, SINK_EFFECT_BUSY);
    }
}

/* --- staging ----------------------------------------------------------------------------------- */

/* What a batch holds is fixed when it is first sent. */
static void fill_batch(struct transactional_writer *writer)
{
    struct list_link *link = list_first(&writer->rows);
    writer->failures = 0;
    for (writer->batch_count = 0;
         link != NULL && writer->batch_count < writer->config.batch_rows_max;
         writer->batch_count++) {
        writer->batch[writer->batch_count] = &LIST_ITEM(link, struct pending_row, link)->row;
        link = list_next(&writer->rows, link);
    }
}

static void send_batch(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    if (writer->open != 0 || writer->waits || list_is_empty(&writer->rows) ||
        !effects_has_room(step->effects)) {
        return;
    }
    if (writer->batch_count == 0) {
        fill_batch(writer);
    }
    writer->request = (struct table_stage_request){
        .unit = unit_of(writer),
        .offset = writer->staged,
        .rows = {writer->batch, writer->batch_count},
    };
    writer->last++;
    writer->open = writer->last;
    const struct port_envelope envelope = {
        .request = writer->open,
        .kind = PORT_CALL,
        .method = &table_stage_method,
        .deadline = writer->config.request_timeout,
        .payload = &writer->request,
    };
    effects_send(step->effects, &envelope);
    if (writer->failures > 0) {
        effects_phase(step->effects, TRANSACTIONAL_PHASE_STAGE_RETRIED);
        effects_metric(step->effects, TRANSACTIONAL_METRIC_RETRIES, 1);
    }
}

static void batch_is_staged(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    effects_metric(step->effects, TRANSACTIONAL_METRIC_ROWS_STAGED, writer->batch_count);
    writer->staged += writer->batch_count;
    while (writer->batch_count > 0) {
        drop_first(writer);
        writer->batch_count--;
    }
    if (writer->state == STATE_HOLDING && writer->rows.count < writer->config.buffered_rows_max) {
        writer->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_READY);
    }
}

static void retry(const struct step *step, const struct port_status *status)
{
    struct transactional_writer *writer = step->writer;
    writer->failures++;
    if (!retry_is_allowed(&writer->config.retry, writer->failures)) {
        fail_request(step, SINK_REASON_EXHAUSTED, status);
        return;
    }
    const struct retry_window pause = retry_backoff(&writer->config.retry, writer->failures);
    writer->waits = true;
    effects_timer(step->effects, pause.min, pause.max);
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct transactional_writer *writer = step->writer;
    if (answer->request != writer->open) {
        return;
    }
    writer->open = 0;
    const struct port_status *status = &answer->status;
    const uint16_t code = port_status_first(status);
    if (answer->outcome == PORT_OUTCOME_OK) {
        const struct table_stage_result *result = answer->payload;
        if (result->count != writer->staged + writer->batch_count) {
            fail_text(step, SINK_REASON_SERVICE, "the unit holds rows that were not staged here");
            return;
        }
        batch_is_staged(step);
    } else if (code == PORT_ALREADY_EXISTS) {
        batch_is_staged(step);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN ||
               port_status_any(status, RETRY_TRANSIENT_CODES)) {
        retry(step, status);
    } else {
        fail_request(
            step, code == PORT_NOT_FOUND ? SINK_REASON_EXPIRED : SINK_REASON_SERVICE, status);
    }
}

/* --- barriers ---------------------------------------------------------------------------------- */

/* The sequence of what is handed over at the end of input is that of the next checkpoint, whose it
 * will be: it is a real one, for the job may go on. */
static uint64_t sequence_of(const struct transactional_writer *writer)
{
    return writer->barrier == SINK_END_OF_INPUT ? writer->completed + 1 : writer->barrier;
}

static struct sink_committable *make_committable(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    const struct unit_frame staged = {
        .application = writer->config.application,
        .unit = unit_of(writer),
        .sequence = sequence_of(writer),
        .rows = writer->staged,
    };
    const size_t data_size = unit_frame_size(&staged);
    const size_t size = sizeof(struct sink_committable) + data_size;
    struct sink_committable *made = allocator_take(writer->allocator, size);
    if (made == NULL) {
        return NULL;
    }
    uint8_t *data = (uint8_t *)(made + 1);
    *made = (struct sink_committable){
        .header = {.identity = unit_frame_encode(&staged, data),
                   .origin = step->now->wall,
                   .deadline = TIME_NEVER},
        .data = {data, data_size},
        .block_size = size,
    };
    return made;
}

/* An interval without rows has no unit, and so nothing to commit. */
static void hand_over(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    if (writer->staged > 0) {
        struct sink_committable *made = make_committable(step);
        if (made == NULL) {
            fail_text(step, SINK_REASON_MEMORY, "no memory for a committable");
            return;
        }
        effects_phase(step->effects, TRANSACTIONAL_PHASE_HANDED_OVER);
        effects_add(step->effects, SINK_EFFECT_COMMITTABLES)->u.committables = made;
    }
    writer->has_unit = false;
    writer->staged = 0;
    writer->state = STATE_OPEN;
    effects_barrier_done(step->effects, writer->barrier);
    writer->completed = writer->barrier == SINK_END_OF_INPUT ? writer->completed : writer->barrier;
}

static void begin_barrier(const struct step *step, uint64_t checkpoint)
{
    CHECK(step->writer->state == STATE_OPEN);
    step->writer->state = STATE_FLUSHING;
    step->writer->barrier = checkpoint;
}

/* What may go on after any event. */
static void advance(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    send_batch(step);
    if (writer->state == STATE_FLUSHING && list_is_empty(&writer->rows)) {
        hand_over(step);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_writer(const struct step *step, uint32_t piece_count)
{
    CHECK(step->writer->state == STATE_NEW);
    if (piece_count > 0) {
        fail_text(step, SINK_REASON_STATE, "writer state was restored, but this sink keeps none");
        return;
    }
    step->writer->state = STATE_OPEN;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_WRITER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_writer(const struct step *step)
{
    struct transactional_writer *writer = step->writer;
    if (writer->open != 0) {
        effects_cancel(step->effects, writer->open, &table_stage_method);
        writer->open = 0;
    }
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_WRITER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct transactional_writer *writer = step->writer;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(step, event->u.open.piece_count);
        return;
    case SINK_EVENT_RECORD:
        CHECK(writer->state == STATE_OPEN);
        write_record(step, &event->u.record);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(writer->state != STATE_NEW);
        settle(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        writer->waits = false;
        return;
    case SINK_EVENT_BARRIER:
        begin_barrier(step, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        begin_barrier(step, SINK_END_OF_INPUT);
        return;
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_CLOSE: /* served before */
    case SINK_EVENT_NONE:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
    case SINK_EVENT_COMMIT:
    case SINK_EVENT_POLICY_DROPPED:
    case SINK_EVENT_POLICY_FLUSHED:
    case SINK_EVENT_POLICY_FAILED:
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
    struct transactional_writer *writer = state;
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

static size_t batch_size(const struct transactional_writer *writer)
{
    return writer->config.batch_rows_max * sizeof(writer->batch[0]);
}

static enum err init(void *state, const struct sink_env *env)
{
    struct transactional_writer *writer = state;
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    byte_writer_init(&complaint, message, sizeof(message));
    writer->allocator = env->allocator;
    list_init(&writer->rows);
    const enum err err = transactional_configure(env->options, &writer->config, &complaint);
    if (err != ERR_OK) {
        return err;
    }
    writer->user = env->user;
    writer->batch = allocator_take(env->allocator, batch_size(writer));
    return writer->batch == NULL ? ERR_LIMIT : ERR_OK;
}

static uint64_t digest_writer(const void *state)
{
    const struct transactional_writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->last);
    digest = digest_fold(digest, writer->open);
    digest = digest_fold(digest, (uint64_t)writer->batch_count << 32 | writer->failures);
    digest = digest_fold(digest, (uint64_t)writer->waits << 1 | writer->has_unit);
    digest = digest_fold(digest, writer->has_unit ? digest_bytes(unit_of(writer)) : 0);
    digest = digest_fold(digest, writer->staged);
    digest = digest_fold(digest, writer->barrier);
    digest = digest_fold(digest, writer->completed);
    for (struct list_link *link = list_first(&writer->rows); link != NULL;
         link = list_next(&writer->rows, link)) {
        digest =
            digest_fold(digest, digest_bytes(LIST_ITEM(link, struct pending_row, link)->row.value));
    }
    return digest;
}

static void fini(void *state)
{
    struct transactional_writer *writer = state;
    while (!list_is_empty(&writer->rows)) {
        drop_first(writer);
    }
    if (writer->batch != NULL) {
        allocator_give(writer->allocator, (void *)writer->batch, batch_size(writer));
        writer->batch = NULL;
    }
}

const struct sink_half transactional_writer_half = {
    .state_size = sizeof(struct transactional_writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
