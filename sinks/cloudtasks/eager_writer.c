#include "sinks/cloudtasks/eager_writer.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/cloudtasks/classify.h"
#include "sinks/cloudtasks/entry.h"
#include "sinks/cloudtasks/identity.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/effects.h"
#include "sinks/parking.h"
#include "sinks/port/cloudtasks.h"
#include "sinks/requests.h"

#define MESSAGE_SIZE 256

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_DRAINING,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSING,
    STATE_CLOSED,
};

struct eager_writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct cloudtasks_config config;
    bool named;
    bool destination_fixed;
    uint8_t state; /* enum state */
    struct requests requests;
    struct parking parking; /* retries in backoff */
    struct list ready;      /* retries whose time has come but that found no room */
    struct list handed;     /* with the failure policy */
    struct entry *held;     /* waits for capacity or room before its first attempt */
    uint32_t verdicts;      /* records with the failure policy, those without a block included */
    uint64_t barrier;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct eager_writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static void release(struct eager_writer *writer, struct entry *entry)
{
    entry_release(writer->allocator, entry);
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    effects_phase(step->effects, CLOUDTASKS_EAGER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
    step->writer->state = STATE_FAILED;
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

static void
fail_request(const struct step *step, enum sink_reason reason, const struct port_status *status)
{
    struct eager_writer *writer = step->writer;
    struct byte_writer message;
    byte_writer_init(&message, writer->message, sizeof(writer->message));
    const uint16_t first = port_status_first(status);
    byte_writer_text(&message, "CreateTask failed with ");
    byte_writer_text(&message, first == PORT_CODE_NONE ? "no status" : port_code_name(first));
    byte_writer_text(&message,
                     reason == SINK_REASON_EXHAUSTED ? " and its attempts are used up" : "");
    fail(step, reason, status, byte_writer_view(&message));
}

/* --- sending ----------------------------------------------------------------------------------- */

static uint32_t occupied(const struct eager_writer *writer)
{
    return requests_count(&writer->requests) + writer->parking.count +
           narrow_u32(writer->ready.count) + writer->verdicts;
}

/* Send an attempt; the caller has asked for room. */
static void send_attempt(const struct step *step, struct entry *entry)
{
    struct eager_writer *writer = step->writer;
    if (requests_add(&writer->requests, &entry->request) != ERR_OK) {
        release(writer, entry);
        fail_text(step, SINK_REASON_MEMORY, "no memory for a request");
        return;
    }
    const struct port_envelope envelope = {
        .request = entry->request.number,
        .kind = PORT_CALL,
        .method = &cloudtasks_create_task_method,
        .deadline = writer->config.request_timeout,
        .payload = &entry->create,
    };
    effects_send(step->effects, &envelope);
    if (!entry->accepted) {
        entry->accepted = true;
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_SENT, 1);
        effects_token(step->effects, SINK_EFFECT_ACCEPTED, entry->token);
    } else {
        effects_phase(step->effects, CLOUDTASKS_EAGER_REQUEST_RETRIED);
        effects_metric(step->effects, CLOUDTASKS_METRIC_RETRIES, 1);
    }
}

static void send_ready(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    while (writer->state != STATE_FAILED && !list_is_empty(&writer->ready) &&
           effects_has_space(step->effects) && effects_has_room(step->effects)) {
        send_attempt(step, LIST_ITEM(list_pop_front(&writer->ready), struct entry, link));
    }
}

static void send_held(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    if (writer->held == NULL || occupied(writer) >= writer->config.in_flight_max ||
        !effects_has_room(step->effects)) {
        return;
    }
    struct entry *entry = writer->held;
    writer->held = NULL;
    writer->state = STATE_OPEN;
    send_attempt(step, entry);
    if (writer->state == STATE_OPEN) {
        effects_simple(step->effects, SINK_EFFECT_READY);
    }
}

/* --- records ----------------------------------------------------------------------------------- */

/* Route a record that has no block: nothing of it is kept. */
static void route(const struct step *step,
                  uint64_t token,
                  enum sink_reason reason,
                  struct bytes payload,
                  struct bytes destination)
{
    step->writer->verdicts++;
    effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_FAILED, 1);
    effects_phase(step->effects, CLOUDTASKS_EAGER_RECORD_ROUTED);
    effects_record_failed(step->effects, token, reason, payload, destination);
}

static bool
resolve(const struct step *step, const struct sink_record *record, struct bytes *destination)
{
    struct eager_writer *writer = step->writer;
    *destination = writer->config.queue;
    if (writer->destination_fixed || writer->user->resolve == NULL) {
        return true;
    }
    const enum sink_user_result result =
        writer->user->resolve(writer->user->context, record, destination);
    if (result != SINK_USER_OK || destination->size == 0) {
        fail_text(step, SINK_REASON_RESOLVER, "the destination resolver gave no queue");
        return false;
    }
    return true;
}

/* Name the record's task; false when the record is settled otherwise. */
static bool identify(const struct step *step,
                     const struct sink_record *record,
                     struct bytes payload,
                     struct bytes destination,
                     struct identity *identity)
{
    struct eager_writer *writer = step->writer;
    struct bytes id = {0};
    if (!writer->named) {
        return true;
    }
    const enum sink_user_result result =
        writer->user->extract_id(writer->user->context, record, &id);
    if (result == SINK_USER_FAILED) {
        route(step, record->token, SINK_REASON_EXTRACTOR, payload, destination);
        return false;
    }
    if (result == SINK_USER_NONE || id.size == 0) {
        /* Going on unnamed would silently give up deduplication. */
        fail_text(step, SINK_REASON_CONFIG, "the id extractor gave no id");
        return false;
    }
    identity_of_key(identity, id);
    return true;
}

/* Make the entry, or NULL after failing. */
static struct entry *make_entry(const struct step *step, const struct draft *draft)
{
    struct entry *entry = NULL;
    switch (entry_make(step->writer->allocator, draft, &entry)) {
    case ERR_OK:
        return entry;
    case ERR_LIMIT:
        fail_text(step, SINK_REASON_MEMORY, "no memory for a record");
        return NULL;
    case ERR_INVALID:
        fail_text(step, SINK_REASON_CONFIG, "the serializer named a task; only the sink may");
        return NULL;
    case ERR_TRUNCATED:
    case ERR_CORRUPT:
    case ERR_VERSION:
    case ERR_NOT_FOUND:
    case ERR_CONFLICT:
    case ERR_SYSTEM:
        break;
    }
    UNREACHABLE();
}

static void write_record(const struct step *step, const struct sink_record *record)
{
    struct eager_writer *writer = step->writer;
    struct draft draft = {.token = record->token};
    if (!resolve(step, record, &draft.destination)) {
        return;
    }
    const enum sink_user_result serialized =
        writer->user->serialize(writer->user->context, record, draft.destination, &draft.payload);
    if (serialized == SINK_USER_NONE) {
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
        return;
    }
    /* Bytes that are no task are a failure of the serializer as well. */
    if (serialized == SINK_USER_FAILED ||
        port_view_size(&cloudtasks_task_message, draft.payload, &draft.view_size) != ERR_OK) {
        route(step, record->token, SINK_REASON_SERIALIZER, (struct bytes){0}, draft.destination);
        return;
    }
    if (!identify(step, record, draft.payload, draft.destination, &draft.identity)) {
        return;
    }
    struct entry *entry = make_entry(step, &draft);
    if (entry == NULL) {
        return;
    }
    if (occupied(writer) < writer->config.in_flight_max && effects_has_room(step->effects)) {
        send_attempt(step, entry);
        return;
    }
    writer->held = entry;
    writer->state = STATE_HOLDING;
    effects_phase(step->effects, CLOUDTASKS_EAGER_RECORD_HELD);
    effects_simple(step->effects, SINK_EFFECT_BUSY);
}

/* --- answers ----------------------------------------------------------------------------------- */

static void park(const struct step *step,
                 struct entry *entry,
                 const struct retry_schedule *schedule,
                 uint32_t failures,
                 const struct port_status *status)
{
    struct eager_writer *writer = step->writer;
    if (!retry_is_allowed(schedule, failures)) {
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_FAILED, 1);
        release(writer, entry);
        fail_request(step, SINK_REASON_EXHAUSTED, status);
        return;
    }
    const struct retry_window pause = retry_backoff(schedule, failures);
    if (parking_add(
            &writer->parking, &entry->parking, step->now->monotonic, pause.min, pause.max) !=
        ERR_OK) {
        release(writer, entry);
        fail_text(step, SINK_REASON_MEMORY, "no memory to park a request");
        return;
    }
    effects_phase(step->effects, CLOUDTASKS_EAGER_REQUEST_PARKED);
}

static void hand_over(const struct step *step, struct entry *entry)
{
    list_push_back(&step->writer->handed, &entry->link);
    route(step, entry->token, SINK_REASON_REJECTED, entry->payload, entry->destination);
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct eager_writer *writer = step->writer;
    struct request *request = requests_take(&writer->requests, answer->request);
    if (request == NULL) {
        return;
    }
    struct entry *entry = LIST_ITEM(request, struct entry, request);
    const struct port_status *status = &answer->status;
    const enum cloudtasks_verdict verdict =
        cloudtasks_classify((enum port_outcome)answer->outcome, status, writer->named);
    if (verdict != CLOUDTASKS_CREATED && verdict != CLOUDTASKS_DUPLICATE) {
        effects_metric(step->effects, cloudtasks_error_metric(port_status_first(status)), 1);
    }
    switch (verdict) {
    case CLOUDTASKS_CREATED:
        release(writer, entry);
        return;
    case CLOUDTASKS_DUPLICATE:
        effects_metric(step->effects, CLOUDTASKS_METRIC_TASKS_DEDUPLICATED, 1);
        release(writer, entry);
        return;
    case CLOUDTASKS_TRANSIENT:
        entry->failures++;
        park(step, entry, &writer->config.retry, entry->failures, status);
        return;
    case CLOUDTASKS_REJECTED:
        hand_over(step, entry);
        return;
    case CLOUDTASKS_NOT_FOUND:
        entry->not_found_failures++;
        park(step, entry, &writer->config.not_found, entry->not_found_failures, status);
        return;
    case CLOUDTASKS_FATAL:
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_FAILED, 1);
        release(writer, entry);
        fail_request(step, SINK_REASON_SERVICE, status);
        return;
    case CLOUDTASKS_VERDICT_NONE:
        break;
    }
    UNREACHABLE();
}

static void take_due(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    parking_fired(&writer->parking);
    for (;;) {
        struct parking_slot *slot = parking_take_due(&writer->parking, step->now->monotonic);
        if (slot == NULL) {
            return;
        }
        struct entry *entry = LIST_ITEM(slot, struct entry, parking);
        list_push_back(&writer->ready, &entry->link);
    }
}

/* --- barriers and the policy ------------------------------------------------------------------- */

static void begin_barrier(const struct step *step, uint64_t checkpoint)
{
    step->writer->barrier = checkpoint;
    step->writer->state = STATE_DRAINING;
    if (occupied(step->writer) > 0) {
        effects_phase(step->effects, CLOUDTASKS_EAGER_DRAINING);
    }
}

/* The policy is flushed after the drain, which is where rejections come to light. */
static void flush_policy_when_drained(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    if (writer->state == STATE_DRAINING && occupied(writer) == 0) {
        writer->state = STATE_FLUSHING;
        effects_phase(step->effects, CLOUDTASKS_EAGER_POLICY_FLUSHING);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    }
}

static void end_barrier(const struct step *step)
{
    CHECK(step->writer->state == STATE_FLUSHING);
    step->writer->state = STATE_OPEN;
    effects_phase(step->effects, CLOUDTASKS_EAGER_BARRIER_DONE);
    effects_barrier_done(step->effects, step->writer->barrier);
}

static void forget_dropped(struct eager_writer *writer, uint64_t token)
{
    CHECK(writer->verdicts > 0);
    writer->verdicts--;
    for (struct list_link *link = list_first(&writer->handed); link != NULL;
         link = list_next(&writer->handed, link)) {
        struct entry *entry = LIST_ITEM(link, struct entry, link);
        if (entry->token == token) {
            list_remove(&writer->handed, link);
            release(writer, entry);
            return;
        }
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_writer(const struct step *step, uint32_t piece_count)
{
    CHECK(step->writer->state == STATE_NEW);
    if (piece_count > 0) {
        fail_text(step,
                  SINK_REASON_STATE,
                  "writer state was restored, but an at-least-once sink keeps none");
        return;
    }
    step->writer->state = STATE_OPEN;
    effects_phase(step->effects, CLOUDTASKS_EAGER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void release_list(struct eager_writer *writer, struct list *list)
{
    for (struct list_link *link = list_pop_front(list); link != NULL; link = list_pop_front(list)) {
        release(writer, LIST_ITEM(link, struct entry, link));
    }
}

/* Drop all that is not in flight. */
static void drop_waiting(struct eager_writer *writer)
{
    for (struct parking_slot *slot = parking_any(&writer->parking); slot != NULL;
         slot = parking_any(&writer->parking)) {
        parking_remove(&writer->parking, slot);
        release(writer, LIST_ITEM(slot, struct entry, parking));
    }
    parking_clear(&writer->parking);
    release_list(writer, &writer->ready);
    release_list(writer, &writer->handed);
    if (writer->held != NULL) {
        release(writer, writer->held);
        writer->held = NULL;
    }
}

/* Cancel what is in flight, as far as the list has space, then be closed. No flush, no retry. */
static void close_writer(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    writer->state = STATE_CLOSING;
    drop_waiting(writer);
    for (struct request *request = requests_first(&writer->requests); request != NULL;
         request = requests_first(&writer->requests)) {
        if (!effects_has_space(step->effects)) {
            return;
        }
        effects_cancel(step->effects, request->number, &cloudtasks_create_task_method);
        requests_remove(&writer->requests, request);
        release(writer, LIST_ITEM(request, struct entry, request));
    }
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, CLOUDTASKS_EAGER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

/* What may go on after any event. */
static void advance(const struct step *step)
{
    struct eager_writer *writer = step->writer;
    send_ready(step);
    if (writer->state != STATE_FAILED) {
        send_held(step);
    }
    flush_policy_when_drained(step);
    if (writer->state != STATE_FAILED) {
        parking_arm(&writer->parking, step->now->monotonic, step->effects);
    }
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct eager_writer *writer = step->writer;
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
        take_due(step);
        return;
    case SINK_EVENT_MORE:
        return;
    case SINK_EVENT_BARRIER:
        CHECK(writer->state == STATE_OPEN);
        begin_barrier(step, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        CHECK(writer->state == STATE_OPEN);
        begin_barrier(step, SINK_END_OF_INPUT);
        return;
    case SINK_EVENT_POLICY_DROPPED:
        forget_dropped(writer, event->u.policy.token);
        return;
    case SINK_EVENT_POLICY_FAILED:
        CHECK(writer->state != STATE_NEW);
        fail_text(step, SINK_REASON_POLICY, "the failure policy failed the job");
        return;
    case SINK_EVENT_POLICY_FLUSHED:
        end_barrier(step);
        return;
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
    struct eager_writer *writer = state;
    const struct step step = {writer, now, effects};
    const bool closes = event->kind == SINK_EVENT_CLOSE ||
                        (writer->state == STATE_CLOSING && event->kind == SINK_EVENT_MORE);
    if (closes && writer->state != STATE_CLOSED) {
        close_writer(&step);
        return;
    }
    if (writer->state >= STATE_FAILED) {
        return;
    }
    handle(&step, event);
    if (writer->state < STATE_FAILED) {
        advance(&step);
    }
}

static enum err init(struct eager_writer *writer, const struct sink_env *env, bool named)
{
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    writer->allocator = env->allocator;
    requests_init(&writer->requests, env->allocator);
    parking_init(&writer->parking, env->allocator);
    list_init(&writer->ready);
    list_init(&writer->handed);
    byte_writer_init(&complaint, message, sizeof(message));
    if (cloudtasks_options_check(env->options, CLOUDTASKS_EAGER_OPTION_COUNT, &complaint) !=
            ERR_OK ||
        (named && env->user->extract_id == NULL)) {
        return ERR_INVALID;
    }
    writer->user = env->user;
    writer->config = cloudtasks_config_of(env->options, CLOUDTASKS_EAGER_OPTION_COUNT);
    writer->named = named;
    writer->destination_fixed = env->job->destination_fixed;
    return ERR_OK;
}

static enum err init_unnamed(void *state, const struct sink_env *env)
{
    return init(state, env, false);
}

static enum err init_named(void *state, const struct sink_env *env)
{
    return init(state, env, true);
}

static uint64_t fold_list(uint64_t digest, const struct list *list)
{
    digest = digest_fold(digest, list->count);
    for (struct list_link *link = list_first(list); link != NULL; link = list_next(list, link)) {
        digest = digest_fold(digest, entry_digest(LIST_ITEM(link, struct entry, link)));
    }
    return digest;
}

static uint64_t digest_writer(const void *state)
{
    const struct eager_writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->verdicts);
    digest = digest_fold(digest, writer->barrier);
    digest = digest_fold(digest, writer->requests.last);
    digest = digest_fold(digest, parking_digest(&writer->parking));
    for (uint32_t i = 0; i < writer->parking.count; i++) {
        digest = digest_fold(
            digest, entry_digest(LIST_ITEM(writer->parking.heap[i], struct entry, parking)));
    }
    const struct list *order = &writer->requests.order;
    for (struct list_link *link = list_first(order); link != NULL; link = list_next(order, link)) {
        struct request *request = LIST_ITEM(link, struct request, link);
        digest = digest_fold(digest, entry_digest(LIST_ITEM(request, struct entry, request)));
    }
    digest = fold_list(digest, &writer->ready);
    digest = fold_list(digest, &writer->handed);
    return writer->held == NULL ? digest : digest_fold(digest, entry_digest(writer->held));
}

static void fini(void *state)
{
    struct eager_writer *writer = state;
    drop_waiting(writer);
    for (struct request *request = requests_first(&writer->requests); request != NULL;
         request = requests_first(&writer->requests)) {
        requests_remove(&writer->requests, request);
        release(writer, LIST_ITEM(request, struct entry, request));
    }
    requests_fini(&writer->requests);
    parking_fini(&writer->parking);
}

const struct sink_half cloudtasks_eager_unnamed_half = {
    .state_size = sizeof(struct eager_writer),
    .init = init_unnamed,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};

const struct sink_half cloudtasks_eager_named_half = {
    .state_size = sizeof(struct eager_writer),
    .init = init_named,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
