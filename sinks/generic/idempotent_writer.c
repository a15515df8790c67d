/* The writer of the idempotent sink. Records wait in a buffer, in order, and leave in batches, one
 * Append call at a time, so that no entry overtakes an earlier one of its key. Each has an id that a
 * replay gives it again: what was stored by an attempt that nobody heard of is not stored twice.
 *
 * State \ event  OPEN    RECORD   ANSWER        TIMER          BARRIER,      POLICY_..    CLOSE
 *                                                              END_OF_INPUT
 * NEW            OPEN,   !        !             -              !             !            CLOSED
 *                FAILED
 * OPEN           !       OPEN,    settle,       send, go on    DRAINING      dropped      CLOSED
 *                        HOLDING  FAILED
 * HOLDING        !       !        settle, OPEN  send, go on    !             dropped      CLOSED
 * DRAINING       !       !        settle,       send, go on    !             dropped      CLOSED
 *                                 FLUSHING
 * FLUSHING       !       !        !             -              !             flushed:     CLOSED
 *                                                                            OPEN
 * FAILED         -       -        -             -              -             -            CLOSED
 * CLOSED         -       -        -             -              -             -            -
 *
 * "!" is a host's broken contract and a CHECK; POLICY_FAILED fails in every state. A batch leaves when
 * it is full, when its first entry has waited for linger, or when a barrier drains; a pause after a
 * failure holds all of them. An entry is decided by its own verdict only: one without a verdict goes
 * back to where it stood. A batch that is refused as a whole names no offender: its entries go alone,
 * and only what is refused alone is handed to the failure policy. DRAINING waits for what was sent, and
 * for all that waits, too, unless buffer_in_state keeps that in the checkpoint; the end of the input
 * leaves nothing. A restored buffer goes first, and its linger runs from the restore. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"
#include "sinks/generic/buffered.h"
#include "sinks/generic/idempotent.h"
#include "sinks/parking.h"
#include "sinks/port/keyed.h"

#define MESSAGE_SIZE 256

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_DRAINING,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSED,
};

struct idempotent_writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct idempotent_config config;
    uint8_t state;      /* enum state */
    struct list buffer; /* in order of records */
    struct list sent;   /* with the open request, in its order */
    struct list handed; /* with the failure policy */
    uint32_t verdicts;  /* records with the failure policy, those without a block included */
    uint32_t failures;  /* attempts in a row that decided nothing */
    uint64_t last;      /* number of the latest request */
    uint64_t open;      /* number of the one without an answer; 0 none */
    uint64_t barrier;
    bool due;               /* the first entry has waited long enough */
    struct parking parking; /* linger and pause */
    struct parking_slot linger;
    struct parking_slot pause;
    const void **batch;      /* what the open request carries */
    struct buffered **asked; /* its entries; NULL once decided */
    uint32_t batch_count;
    struct keyed_append_request request;
    uint8_t *piece; /* of the latest barrier: lives until the next step */
    size_t piece_size;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct idempotent_writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static bool is_live(const struct idempotent_writer *writer)
{
    return writer->state < STATE_FAILED;
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    step->writer->state = STATE_FAILED;
    effects_phase(step->effects, IDEMPOTENT_PHASE_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

static void fail_request(const struct step *step,
                         enum sink_reason reason,
                         const struct port_status *status_or_null,
                         uint16_t code)
{
    struct byte_writer message;
    byte_writer_init(&message, step->writer->message, sizeof(step->writer->message));
    byte_writer_text(&message, "Append failed with ");
    byte_writer_text(&message, code == PORT_CODE_NONE ? "no status" : port_code_name(code));
    byte_writer_text(&message,
                     reason == SINK_REASON_EXHAUSTED ? " and its attempts are used up" : "");
    fail(step, reason, status_or_null, byte_writer_view(&message));
}

/* --- records ----------------------------------------------------------------------------------- */

static uint32_t occupied(const struct idempotent_writer *writer)
{
    return narrow_u32(writer->buffer.count) + narrow_u32(writer->sent.count) + writer->verdicts;
}

/* Give a record to the failure policy. */
static void
route(const struct step *step, uint64_t token, enum sink_reason reason, struct bytes payload)
{
    step->writer->verdicts++;
    effects_metric(step->effects, IDEMPOTENT_METRIC_RECORDS_FAILED, 1);
    effects_phase(step->effects, IDEMPOTENT_PHASE_ROUTED);
    effects_record_failed(step->effects, token, reason, payload, (struct bytes){0});
}

/* The key: what the extractor gives, or the record's own. False when the record is settled. */
static bool find_key(const struct step *step, const struct sink_record *record, struct bytes *key)
{
    const struct sink_user *user = step->writer->user;
    *key = record->key;
    if (user->extract_id == NULL) {
        return true;
    }
    const enum sink_user_result result = user->extract_id(user->context, record, key);
    if (result == SINK_USER_FAILED) {
        route(step, record->token, SINK_REASON_EXTRACTOR, (struct bytes){0});
    }
    return result != SINK_USER_FAILED;
}

static void take_record(const struct step *step, const struct sink_record *record)
{
    struct idempotent_writer *writer = step->writer;
    struct keyed_entry entry = {0};
    uint8_t id[BUFFERED_ID_SIZE];
    const enum sink_user_result serialized =
        writer->user->serialize(writer->user->context, record, (struct bytes){0}, &entry.value);
    if (serialized == SINK_USER_NONE) {
        effects_metric(step->effects, IDEMPOTENT_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
        return;
    }
    if (serialized == SINK_USER_FAILED) {
        route(step, record->token, SINK_REASON_SERIALIZER, (struct bytes){0});
        return;
    }
    if (!find_key(step, record, &entry.key)) {
        return;
    }
    entry.id = buffered_id(record->split, record->position, id);
    struct buffered *made = buffered_make(writer->allocator, &entry);
    if (made == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a record");
        return;
    }
    made->token = record->token;
    list_push_back(&writer->buffer, &made->link);
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
}

static void write_record(const struct step *step, const struct sink_record *record)
{
    struct idempotent_writer *writer = step->writer;
    CHECK(writer->state == STATE_OPEN);
    take_record(step, record);
    if (is_live(writer) && occupied(writer) >= writer->config.buffered_max) {
        writer->state = STATE_HOLDING;
        effects_phase(step->effects, IDEMPOTENT_PHASE_FULL);
        effects_simple(step->effects, SINK_EFFECT_BUSY);
    }
}

/* --- sending ----------------------------------------------------------------------------------- */

static bool holds_key(const struct idempotent_writer *writer, struct bytes key)
{
    for (uint32_t i = 0; i < writer->batch_count; i++) {
        if (bytes_equal(writer->asked[i]->entry.key, key)) {
            return true;
        }
    }
    return false;
}

/* Whether an entry may go with those that are in the batch before it. */
static bool fits(const struct idempotent_writer *writer, const struct buffered *next)
{
    if (writer->batch_count == 0) {
        return true;
    }
    return writer->batch_count < writer->config.batch_max && !next->solo &&
           !writer->asked[0]->solo &&
           !(writer->config.distinct_keys && holds_key(writer, next->entry.key));
}

/* Take the batch off the front of the buffer. */
static void fill_batch(struct idempotent_writer *writer)
{
    writer->batch_count = 0;
    while (!list_is_empty(&writer->buffer)) {
        struct buffered *next = LIST_ITEM(list_first(&writer->buffer), struct buffered, link);
        if (!fits(writer, next)) {
            return;
        }
        list_remove(&writer->buffer, &next->link);
        list_push_back(&writer->sent, &next->link);
        writer->batch[writer->batch_count] = &next->entry;
        writer->asked[writer->batch_count] = next;
        writer->batch_count++;
    }
}

/* Whether what waits is to leave now. */
static bool is_time(const struct idempotent_writer *writer)
{
    if (writer->open != 0 || writer->pause.place != 0 || list_is_empty(&writer->buffer)) {
        return false;
    }
    if (writer->state == STATE_DRAINING) {
        return !writer->config.buffer_in_state || writer->barrier == SINK_END_OF_INPUT;
    }
    const struct buffered *first = LIST_ITEM(list_first(&writer->buffer), struct buffered, link);
    return writer->state < STATE_DRAINING &&
           (writer->due || first->solo || writer->buffer.count >= writer->config.batch_max);
}

static void send_batch(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (!is_time(writer) || !effects_has_room(step->effects)) {
        return;
    }
    fill_batch(writer);
    parking_remove(&writer->parking, &writer->linger);
    writer->due = false;
    writer->request =
        (struct keyed_append_request){.entries = {writer->batch, writer->batch_count}};
    writer->last++;
    writer->open = writer->last;
    const struct port_envelope envelope = {
        .request = writer->open,
        .kind = PORT_CALL,
        .method = &keyed_append_method,
        .deadline = writer->config.request_timeout,
        .payload = &writer->request,
    };
    effects_send(step->effects, &envelope);
    effects_metric(step->effects, IDEMPOTENT_METRIC_ENTRIES_SENT, writer->batch_count);
    effects_metric(step->effects, IDEMPOTENT_METRIC_RETRIES, writer->failures > 0 ? 1 : 0);
}

/* What waits has a timer, whatever brought it here. */
static void keep_linger(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (list_is_empty(&writer->buffer) || writer->due || writer->linger.place != 0) {
        return;
    }
    const nanos linger = writer->config.linger;
    if (parking_add(&writer->parking, &writer->linger, step->now->monotonic, linger, linger) !=
        ERR_OK) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a timer");
    }
}

/* --- answers ----------------------------------------------------------------------------------- */

static void settle_entry(const struct step *step, struct buffered *entry, uint16_t code)
{
    struct idempotent_writer *writer = step->writer;
    if (code == PORT_OK) {
        list_remove(&writer->sent, &entry->link);
        buffered_release(writer->allocator, entry);
        effects_metric(step->effects, IDEMPOTENT_METRIC_ENTRIES_STORED, 1);
    } else if (entry->restored) {
        fail_text(step, SINK_REASON_REJECTED, "the store refuses an entry of the restored buffer");
    } else {
        list_remove(&writer->sent, &entry->link);
        list_push_back(&writer->handed, &entry->link);
        route(step, entry->token, SINK_REASON_REJECTED, entry->entry.value);
    }
}

/* Put back what has no verdict, in front of what came later. */
static void put_back(struct idempotent_writer *writer)
{
    while (!list_is_empty(&writer->sent)) {
        struct list_link *last = list_last(&writer->sent);
        list_remove(&writer->sent, last);
        list_push_front(&writer->buffer, last);
    }
}

/* Hold all sending after an attempt that failed. */
static void pause(const struct step *step, const struct port_status *status_or_null, uint16_t code)
{
    struct idempotent_writer *writer = step->writer;
    writer->failures++;
    if (!retry_is_allowed(&writer->config.retry, writer->failures)) {
        fail_request(step, SINK_REASON_EXHAUSTED, status_or_null, code);
        return;
    }
    const struct retry_window window = retry_backoff(&writer->config.retry, writer->failures);
    writer->due = true; /* what failed has waited long enough */
    effects_phase(step->effects, IDEMPOTENT_PHASE_PAUSED);
    if (parking_add(
            &writer->parking, &writer->pause, step->now->monotonic, window.min, window.max) !=
        ERR_OK) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a timer");
    }
}

/* The verdicts of one answer. */
struct tally {
    uint32_t decided;
    uint32_t passing;  /* failures that pass */
    uint16_t terminal; /* a code that no retry mends; PORT_OK none */
};

static void
take_verdict(const struct step *step, const struct keyed_verdict *verdict, struct tally *tally)
{
    struct idempotent_writer *writer = step->writer;
    if (verdict->index >= writer->batch_count || writer->asked[verdict->index] == NULL) {
        return; /* of no entry, or a second one */
    }
    const uint16_t code =
        verdict->code < PORT_CODE_COUNT ? (uint16_t)verdict->code : (uint16_t)PORT_UNKNOWN;
    if (code == PORT_OK || code == PORT_INVALID_ARGUMENT) {
        settle_entry(step, writer->asked[verdict->index], code);
        writer->asked[verdict->index] = NULL;
        tally->decided++;
    } else if ((RETRY_TRANSIENT_CODES & PORT_CODE_BIT(code)) != 0) {
        tally->passing++;
    } else {
        tally->terminal = code;
    }
}

static void settle_verdicts(const struct step *step, const struct keyed_append_result *result)
{
    struct idempotent_writer *writer = step->writer;
    struct tally tally = {.terminal = PORT_OK};
    for (uint32_t i = 0; is_live(writer) && i < result->verdicts.count; i++) {
        take_verdict(step, result->verdicts.items[i], &tally);
    }
    if (!is_live(writer)) {
        return;
    }
    if (tally.terminal != PORT_OK) {
        fail_request(step, SINK_REASON_SERVICE, NULL, tally.terminal);
        return;
    }
    writer->due = writer->due || !list_is_empty(&writer->sent);
    put_back(writer);
    writer->failures = tally.decided > 0 ? 0 : writer->failures;
    if (tally.decided == 0 || tally.passing > 0) {
        pause(step, NULL, tally.passing > 0 ? PORT_UNAVAILABLE : PORT_CODE_NONE);
    }
}

/* Refused as a whole: each goes alone, in its order. */
static void settle_refused(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (writer->batch_count == 1) {
        settle_entry(step, writer->asked[0], PORT_INVALID_ARGUMENT);
        return;
    }
    for (uint32_t i = 0; i < writer->batch_count; i++) {
        writer->asked[i]->solo = true;
    }
    put_back(writer);
    effects_phase(step->effects, IDEMPOTENT_PHASE_SOLO);
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct idempotent_writer *writer = step->writer;
    if (answer->request != writer->open) {
        return;
    }
    writer->open = 0;
    const struct port_status *status = &answer->status;
    const uint16_t code = port_status_first(status);
    if (answer->outcome == PORT_OUTCOME_OK) {
        settle_verdicts(step, answer->payload);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN ||
               port_status_any(status, RETRY_TRANSIENT_CODES)) {
        put_back(writer);
        pause(step, status, code);
    } else if (code == PORT_INVALID_ARGUMENT) {
        settle_refused(step);
    } else {
        fail_request(step, SINK_REASON_SERVICE, status, code);
    }
    if (writer->state == STATE_HOLDING && occupied(writer) < writer->config.buffered_max) {
        writer->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_READY);
    }
}

static void take_due(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    parking_fired(&writer->parking);
    for (;;) {
        const struct parking_slot *slot = parking_take_due(&writer->parking, step->now->monotonic);
        if (slot == NULL) {
            return;
        }
        writer->due = writer->due || slot == &writer->linger;
    }
}

/* --- barriers and the policy ------------------------------------------------------------------- */

static void begin_barrier(const struct step *step, uint64_t checkpoint)
{
    struct idempotent_writer *writer = step->writer;
    CHECK(writer->state == STATE_OPEN);
    writer->barrier = checkpoint;
    writer->state = STATE_DRAINING;
    effects_phase(step->effects, IDEMPOTENT_PHASE_DRAINING);
}

static bool is_drained(const struct idempotent_writer *writer)
{
    const bool may_wait = writer->config.buffer_in_state && writer->barrier != SINK_END_OF_INPUT;
    return list_is_empty(&writer->sent) && writer->verdicts == 0 &&
           (may_wait || list_is_empty(&writer->buffer));
}

/* The policy is flushed after the drain, which is where rejections come to light. */
static void flush_policy_when_drained(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (writer->state == STATE_DRAINING && is_drained(writer)) {
        writer->state = STATE_FLUSHING;
        effects_phase(step->effects, IDEMPOTENT_PHASE_POLICY_FLUSHING);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    }
}

static void forget_piece(struct idempotent_writer *writer)
{
    if (writer->piece != NULL) {
        allocator_give(writer->allocator, writer->piece, writer->piece_size);
        writer->piece = NULL;
    }
}

/* What waits is one piece: it stays together when the job is rescaled. */
static bool keep_buffer(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (list_is_empty(&writer->buffer)) {
        return true;
    }
    writer->piece_size = buffered_frame_size(&writer->buffer);
    writer->piece = allocator_take(writer->allocator, writer->piece_size);
    if (writer->piece == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for the state");
        return false;
    }
    buffered_encode(&writer->buffer, writer->piece);
    effects_add(step->effects, SINK_EFFECT_STATE_PIECE)->u.piece =
        (struct bytes){writer->piece, writer->piece_size};
    return true;
}

static void end_barrier(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    CHECK(writer->state == STATE_FLUSHING);
    if (keep_buffer(step)) {
        writer->state = STATE_OPEN;
        effects_phase(step->effects, IDEMPOTENT_PHASE_BARRIER_DONE);
        effects_barrier_done(step->effects, writer->barrier);
    }
}

static void forget_dropped(struct idempotent_writer *writer, uint64_t token)
{
    CHECK(writer->verdicts > 0);
    writer->verdicts--;
    for (struct list_link *link = list_first(&writer->handed); link != NULL;
         link = list_next(&writer->handed, link)) {
        struct buffered *entry = LIST_ITEM(link, struct buffered, link);
        if (entry->token == token) {
            list_remove(&writer->handed, link);
            buffered_release(writer->allocator, entry);
            return;
        }
    }
}

static void take_policy(const struct step *step, const struct sink_event *event)
{
    struct idempotent_writer *writer = step->writer;
    CHECK(writer->state != STATE_NEW);
    if (event->kind == SINK_EVENT_POLICY_FAILED) {
        fail_text(step, SINK_REASON_POLICY, "the failure policy failed the job");
    } else if (event->kind == SINK_EVENT_POLICY_FLUSHED) {
        end_barrier(step);
    } else {
        forget_dropped(writer, event->u.policy.token);
        if (writer->state == STATE_HOLDING && occupied(writer) < writer->config.buffered_max) {
            writer->state = STATE_OPEN;
            effects_simple(step->effects, SINK_EFFECT_READY);
        }
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_writer(const struct step *step, const struct sink_event *event)
{
    struct idempotent_writer *writer = step->writer;
    CHECK(writer->state == STATE_NEW);
    for (uint32_t i = 0; i < event->u.open.piece_count; i++) {
        const enum err err =
            buffered_decode(writer->allocator, event->u.open.pieces[i].data, &writer->buffer);
        if (err != ERR_OK) {
            fail_text(step,
                      err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_STATE,
                      "a restored buffer cannot be read");
            return;
        }
        effects_phase(step->effects, IDEMPOTENT_PHASE_RESTORED);
    }
    writer->state = STATE_OPEN;
    effects_phase(step->effects, IDEMPOTENT_PHASE_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_writer(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    if (writer->open != 0) {
        effects_cancel(step->effects, writer->open, &keyed_append_method);
        writer->open = 0;
    }
    parking_clear(&writer->parking);
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, IDEMPOTENT_PHASE_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

/* What may go on after any event. */
static void advance(const struct step *step)
{
    struct idempotent_writer *writer = step->writer;
    send_batch(step);
    flush_policy_when_drained(step);
    keep_linger(step);
    if (is_live(writer)) {
        parking_arm(&writer->parking, step->now->monotonic, step->effects);
    }
}

static void handle(const struct step *step, const struct sink_event *event)
{
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(step, event);
        return;
    case SINK_EVENT_RECORD:
        write_record(step, &event->u.record);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(step->writer->state != STATE_NEW);
        settle(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        take_due(step);
        return;
    case SINK_EVENT_BARRIER:
        begin_barrier(step, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        begin_barrier(step, SINK_END_OF_INPUT);
        return;
    case SINK_EVENT_POLICY_DROPPED:
    case SINK_EVENT_POLICY_FAILED:
    case SINK_EVENT_POLICY_FLUSHED:
        take_policy(step, event);
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
    struct idempotent_writer *writer = state;
    const struct step step = {writer, now, effects};
    forget_piece(writer);
    if (event->kind == SINK_EVENT_CLOSE && writer->state != STATE_CLOSED) {
        close_writer(&step);
        return;
    }
    if (!is_live(writer)) {
        return;
    }
    handle(&step, event);
    if (is_live(writer)) {
        advance(&step);
    }
}

static size_t batch_size(const struct idempotent_writer *writer)
{
    return writer->config.batch_max * sizeof(writer->batch[0]);
}

static void release_list(struct idempotent_writer *writer, struct list *list)
{
    for (struct list_link *link = list_pop_front(list); link != NULL; link = list_pop_front(list)) {
        buffered_release(writer->allocator, LIST_ITEM(link, struct buffered, link));
    }
}

static void fini(void *state)
{
    struct idempotent_writer *writer = state;
    release_list(writer, &writer->buffer);
    release_list(writer, &writer->sent);
    release_list(writer, &writer->handed);
    forget_piece(writer);
    parking_fini(&writer->parking);
    if (writer->batch != NULL) {
        allocator_give(writer->allocator, (void *)writer->batch, batch_size(writer));
    }
    if (writer->asked != NULL) {
        allocator_give(writer->allocator, (void *)writer->asked, batch_size(writer));
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct idempotent_writer *writer = state;
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    byte_writer_init(&complaint, message, sizeof(message));
    writer->allocator = env->allocator;
    parking_init(&writer->parking, env->allocator);
    list_init(&writer->buffer);
    list_init(&writer->sent);
    list_init(&writer->handed);
    const enum err err = idempotent_configure(env->options, &writer->config, &complaint);
    if (err != ERR_OK) {
        return err;
    }
    writer->user = env->user;
    writer->batch = allocator_take(env->allocator, batch_size(writer));
    writer->asked = allocator_take(env->allocator, batch_size(writer));
    if (writer->batch == NULL || writer->asked == NULL) {
        fini(writer);
        return ERR_LIMIT;
    }
    return ERR_OK;
}

static uint64_t digest_writer(const void *state)
{
    const struct idempotent_writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->last);
    digest = digest_fold(digest, writer->open);
    digest = digest_fold(digest, writer->barrier);
    digest = digest_fold(digest, (uint64_t)writer->failures << 1 | writer->due);
    digest = digest_fold(digest, writer->verdicts);
    digest = digest_fold(digest, parking_digest(&writer->parking));
    digest = digest_fold(digest, buffered_digest(&writer->buffer));
    digest = digest_fold(digest, buffered_digest(&writer->sent));
    return digest_fold(digest, buffered_digest(&writer->handed));
}

const struct sink_half idempotent_writer_half = {
    .state_size = sizeof(struct idempotent_writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
