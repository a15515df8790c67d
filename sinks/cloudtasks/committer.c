#include "sinks/cloudtasks/committer.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/cloudtasks/classify.h"
#include "sinks/cloudtasks/envelope.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/effects.h"
#include "sinks/parking.h"
#include "sinks/port/cloudtasks.h"
#include "sinks/requests.h"

#define MESSAGE_SIZE 640
/* What a queue without tombstone_ttl is trusted to remember (section 4.6). */
#define TOMBSTONE_MS_DEFAULT (HOURS(1) / NANOS_PER_MS)

enum state {
    STATE_NEW = 0,
    STATE_READING,
    STATE_IDLE,
    STATE_COMMITTING,
    STATE_FAILED,
    STATE_CLOSING,
    STATE_CLOSED,
};

/* A request that is retried: in flight (numbered, parked until its deadline), waiting out its backoff
 * (parked), or ready to leave (neither). */
struct call {
    struct request request;
    struct parking_slot parking;
    struct list_link link; /* in ready */
    uint32_t failures;
    uint32_t not_found_failures;
    bool sent; /* at least once */
};

/* An open envelope, in one block with the view of its task. */
struct open_envelope {
    struct call call;
    uint32_t index; /* of its commit request */
    uint64_t origin_ms;
    uint64_t deadline_ms; /* the effective one */
    size_t block_size;
    struct cloudtasks_create_task_request create;
};

struct committer {
    const struct allocator *allocator;
    struct cloudtasks_config config;
    uint8_t state; /* enum state */
    struct requests requests;
    struct parking parking;
    struct list ready;
    struct list cancelled; /* by a failure; their sends may still be read until the next step */
    /* READING */
    struct call read;
    struct cloudtasks_get_queue_request get_queue;
    /* COMMITTING */
    const struct sink_commit_request *commit; /* the host's */
    uint32_t commit_count;
    uint32_t next;    /* first that has not been opened */
    size_t view_size; /* of each task of the commit; 0 when they differ */
    uint32_t open_count;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct committer *committer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static bool is_live(const struct committer *committer)
{
    return committer->state < STATE_FAILED;
}

static struct open_envelope *envelope_of(struct call *call)
{
    return LIST_ITEM(call, struct open_envelope, call);
}

static void release(struct committer *committer, struct call *call)
{
    if (call != &committer->read) {
        struct open_envelope *open = envelope_of(call);
        allocator_give(committer->allocator, open, open->block_size);
        committer->open_count--;
    }
}

/* --- failing and closing ----------------------------------------------------------------------- */

static const struct port_method *method_of(const struct committer *committer,
                                           const struct call *call)
{
    return call == &committer->read ? &cloudtasks_get_queue_method : &cloudtasks_create_task_method;
}

/* Cancel what is in flight; false when the list has no more space. The calls live on until the next
 * step, because this one may have sent them. */
static bool cancel_all(const struct step *step)
{
    struct committer *committer = step->committer;
    for (struct request *request = requests_first(&committer->requests); request != NULL;
         request = requests_first(&committer->requests)) {
        if (!effects_has_space(step->effects)) {
            return false;
        }
        struct call *call = LIST_ITEM(request, struct call, request);
        effects_cancel(step->effects, request->number, method_of(committer, call));
        requests_remove(&committer->requests, request);
        list_push_back(&committer->cancelled, &call->link);
    }
    return true;
}

static void release_list(struct committer *committer, struct list *list)
{
    for (struct list_link *link = list_pop_front(list); link != NULL; link = list_pop_front(list)) {
        release(committer, LIST_ITEM(link, struct call, link));
    }
}

/* Drop what is not in flight. */
static void drop_waiting(struct committer *committer)
{
    release_list(committer, &committer->ready);
    for (struct parking_slot *slot = parking_any(&committer->parking); slot != NULL;
         slot = parking_any(&committer->parking)) {
        struct call *call = LIST_ITEM(slot, struct call, parking);
        parking_remove(&committer->parking, slot);
        if (call->request.number == 0) {
            release(committer, call);
        }
    }
    parking_clear(&committer->parking);
}

/* Give up this life. What the list has no space to cancel now is cancelled by CLOSE. */
static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    struct committer *committer = step->committer;
    committer->state = STATE_FAILED;
    committer->commit = NULL;
    drop_waiting(committer);
    (void)cancel_all(step);
    step->effects->more = false;
    effects_phase(step->effects, CLOUDTASKS_STAGED_COMMITTER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

static struct byte_writer begin_message(struct committer *committer)
{
    struct byte_writer message;
    byte_writer_init(&message, committer->message, sizeof(committer->message));
    return message;
}

static void fail_request(const struct step *step,
                         enum sink_reason reason,
                         const struct port_method *method,
                         const struct port_status *status)
{
    struct byte_writer message = begin_message(step->committer);
    const uint16_t first = port_status_first(status);
    byte_writer_text(&message, method->name);
    byte_writer_text(&message, " failed with ");
    byte_writer_text(&message, first == PORT_CODE_NONE ? "no status" : port_code_name(first));
    byte_writer_text(&message,
                     reason == SINK_REASON_EXHAUSTED ? " and its attempts are used up" : "");
    fail(step, reason, status, byte_writer_view(&message));
}

static void close_committer(const struct step *step)
{
    struct committer *committer = step->committer;
    committer->state = STATE_CLOSING;
    release_list(committer, &committer->cancelled);
    drop_waiting(committer);
    committer->commit = NULL;
    if (cancel_all(step)) {
        committer->state = STATE_CLOSED;
        effects_phase(step->effects, CLOUDTASKS_STAGED_COMMITTER_CLOSED);
        effects_simple(step->effects, SINK_EFFECT_CLOSED);
    }
}

/* --- attempts ---------------------------------------------------------------------------------- */

/* Send an attempt under the deadline computed before the clock was read; the caller has asked for
 * room. */
static void send_attempt(const struct step *step, struct call *call, nanos deadline)
{
    struct committer *committer = step->committer;
    const struct port_method *method = method_of(committer, call);
    const bool is_read = call == &committer->read;
    const nanos timeout = committer->config.request_timeout;
    if (parking_add(&committer->parking, &call->parking, step->now->monotonic, timeout, timeout) !=
            ERR_OK ||
        requests_add(&committer->requests, &call->request) != ERR_OK) {
        parking_remove(&committer->parking, &call->parking);
        release(committer, call);
        fail_text(step, SINK_REASON_MEMORY, "no memory for a request");
        return;
    }
    const struct port_envelope envelope = {
        .request = call->request.number,
        .kind = PORT_CALL,
        .method = method,
        .deadline = deadline,
        .deadline_is_absolute = true,
        .payload = is_read ? (const void *)&committer->get_queue : &envelope_of(call)->create,
    };
    effects_send(step->effects, &envelope);
    if (call->sent) {
        effects_phase(step->effects, CLOUDTASKS_STAGED_REQUEST_RETRIED);
        effects_metric(step->effects, CLOUDTASKS_METRIC_RETRIES, 1);
    } else if (!is_read) {
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_SENT, 1);
    }
    call->sent = true;
}

/* Park a failed call for its next attempt, or fail when its budget is used up. */
static void park(const struct step *step,
                 struct call *call,
                 const struct retry_schedule *schedule,
                 uint32_t failures,
                 const struct port_status *status)
{
    struct committer *committer = step->committer;
    const struct port_method *method = method_of(committer, call);
    if (!retry_is_allowed(schedule, failures)) {
        release(committer, call);
        fail_request(step, SINK_REASON_EXHAUSTED, method, status);
        return;
    }
    const struct retry_window pause = retry_backoff(schedule, failures);
    if (parking_add(
            &committer->parking, &call->parking, step->now->monotonic, pause.min, pause.max) !=
        ERR_OK) {
        release(committer, call);
        fail_text(step, SINK_REASON_MEMORY, "no memory to park a request");
        return;
    }
    effects_phase(step->effects, CLOUDTASKS_STAGED_REQUEST_PARKED);
}

static void
park_transient(const struct step *step, struct call *call, const struct port_status *status)
{
    call->failures++;
    park(step, call, &step->committer->config.retry, call->failures, status);
}

static void count_error(const struct step *step, const struct port_status *status)
{
    effects_metric(step->effects, cloudtasks_error_metric(port_status_first(status)), 1);
}

/* --- reading the queue ------------------------------------------------------------------------- */

static void opened(const struct step *step)
{
    step->committer->state = STATE_IDLE;
    effects_phase(step->effects, CLOUDTASKS_STAGED_COMMITTER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void open_committer(const struct step *step)
{
    struct committer *committer = step->committer;
    CHECK(committer->state == STATE_NEW);
    if (!committer->config.verify_queue_retention) {
        opened(step);
        return;
    }
    committer->state = STATE_READING;
    committer->get_queue.name = committer->config.queue;
    list_push_back(&committer->ready, &committer->read.link);
}

static uint64_t duration_ms(const struct cloudtasks_duration *duration)
{
    if (duration->seconds < 0) {
        return 0;
    }
    const uint64_t seconds = (uint64_t)duration->seconds;
    return nanos_add(nanos_mul(seconds, 1000), duration->nanos / (uint32_t)NANOS_PER_MS);
}

/* The queue must remember names for as long as the window assumes. */
static void check_retention(const struct step *step, const struct cloudtasks_queue *queue)
{
    struct committer *committer = step->committer;
    const uint64_t wanted = committer->config.name_retention_ms;
    const bool is_given = queue->tombstone_ttl != NULL;
    const uint64_t found = is_given ? duration_ms(queue->tombstone_ttl) : TOMBSTONE_MS_DEFAULT;
    if (found >= wanted) {
        effects_phase(step->effects, CLOUDTASKS_STAGED_QUEUE_READ);
        opened(step);
        return;
    }
    struct byte_writer message = begin_message(committer);
    byte_writer_text(&message, "name_retention is ");
    byte_writer_decimal(&message, wanted);
    byte_writer_text(&message,
                     is_given ? " ms, but the queue's tombstone_ttl is "
                              : " ms, but the queue states no tombstone_ttl, which is ");
    byte_writer_decimal(&message, found);
    byte_writer_text(&message, " ms: lower the one or raise the other");
    fail(step, SINK_REASON_CONFIG, NULL, byte_writer_view(&message));
}

static void settle_read(const struct step *step, const struct port_answer *answer)
{
    if (answer->outcome == PORT_OUTCOME_OK) {
        CHECK(answer->payload != NULL);
        check_retention(step, answer->payload);
        return;
    }
    count_error(step, &answer->status);
    if (port_status_any(&answer->status, RETRY_TRANSIENT_CODES)) {
        park_transient(step, &step->committer->read, &answer->status);
        return;
    }
    fail_request(step, SINK_REASON_SERVICE, &cloudtasks_get_queue_method, &answer->status);
}

/* --- committing -------------------------------------------------------------------------------- */

/* The tighter of what was persisted and what today's options allow; they cannot loosen it. */
static uint64_t effective_deadline_ms(const struct cloudtasks_config *config,
                                      const struct envelope *envelope)
{
    const uint64_t now_allowed = envelope->origin_ms + config->window_ms;
    return now_allowed < envelope->deadline_ms ? now_allowed : envelope->deadline_ms;
}

static void fail_envelope(const struct step *step, uint32_t index, const char *what)
{
    struct byte_writer message = begin_message(step->committer);
    byte_writer_text(&message, "committable ");
    byte_writer_decimal(&message, (uint64_t)index + 1);
    byte_writer_text(&message, " of ");
    byte_writer_decimal(&message, step->committer->commit_count);
    byte_writer_text(&message, ": ");
    byte_writer_text(&message, what);
    fail(step, SINK_REASON_STATE, NULL, byte_writer_view(&message));
}

/* Tasks are measured as they are validated; most commits need to remember one size. */
static void note_view_size(struct committer *committer, uint32_t index, size_t view_size)
{
    if (index == 0) {
        committer->view_size = view_size;
    } else if (committer->view_size != view_size) {
        committer->view_size = 0;
    }
}

/* Section 4.5 step 0: nothing is sent unless all envelopes are good. */
static bool validate_all(const struct step *step)
{
    struct committer *committer = step->committer;
    for (uint32_t i = 0; i < committer->commit_count; i++) {
        struct envelope envelope;
        const enum err err = envelope_decode(committer->commit[i].data, &envelope);
        if (err != ERR_OK) {
            fail_envelope(step, i, err_name(err));
            return false;
        }
        if (!bytes_equal(envelope.queue, committer->config.queue)) {
            fail_envelope(step, i, "it belongs to another queue than the option queue names");
            return false;
        }
        if (committer->config.window_ms > ENVELOPE_MS_MAX - envelope.origin_ms) {
            fail_envelope(step, i, "its origin and name_retention exceed what time can hold");
            return false;
        }
        note_view_size(committer, i, envelope.view_size);
    }
    return true;
}

static void begin_commit(const struct step *step, const struct sink_event *event)
{
    struct committer *committer = step->committer;
    CHECK(committer->state == STATE_IDLE);
    CHECK(committer->open_count == 0);
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    committer->next = 0;
    if (validate_all(step)) {
        committer->state = STATE_COMMITTING;
        effects_phase(step->effects, CLOUDTASKS_STAGED_COMMIT_VALIDATED);
    }
}

static size_t view_size_of(const struct committer *committer, struct bytes task)
{
    size_t view_size = committer->view_size;
    if (view_size == 0) {
        const enum err err = port_view_size(&cloudtasks_task_message, task, &view_size);
        CHECK(err == ERR_OK);
    }
    return view_size;
}

/* Open the next envelope of the commit and make it ready. */
static void open_next(const struct step *step)
{
    struct committer *committer = step->committer;
    const struct envelope envelope = envelope_read(committer->commit[committer->next].data);
    const size_t view_size = view_size_of(committer, envelope.task);
    const size_t size = sizeof(struct open_envelope) + view_size;
    struct open_envelope *open = allocator_take(committer->allocator, size);
    if (open == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for an envelope");
        return;
    }
    *open = (struct open_envelope){
        .index = committer->next,
        .origin_ms = envelope.origin_ms,
        .deadline_ms = effective_deadline_ms(&committer->config, &envelope),
        .block_size = size,
        .create = {.parent = committer->config.queue,
                   .task = port_view_into(
                       &cloudtasks_task_message, envelope.task, open + 1, view_size)},
    };
    committer->next++;
    committer->open_count++;
    list_push_back(&committer->ready, &open->call.link);
}

static void fail_expired(const struct step *step, const struct open_envelope *open)
{
    struct byte_writer message = begin_message(step->committer);
    byte_writer_text(&message, "an envelope of ");
    byte_writer_bytes(&message, step->committer->config.queue);
    byte_writer_text(&message, " staged at ");
    byte_writer_decimal(&message, open->origin_ms);
    byte_writer_text(&message, " ms expired at ");
    byte_writer_decimal(&message, open->deadline_ms);
    byte_writer_text(&message, " ms, now is ");
    byte_writer_decimal(&message, step->now->wall / NANOS_PER_MS);
    byte_writer_text(
        &message,
        " ms: its task may or may not exist; expired_envelope_policy decides after the "
        "operator has");
    effects_metric(step->effects, CLOUDTASKS_METRIC_EXPIRED_FAILED, 1);
    fail(step, SINK_REASON_EXPIRED, NULL, byte_writer_view(&message));
}

/* Apply the policy to an expired envelope; true when it is to be sent all the same. */
static bool judge_expired(const struct step *step, struct open_envelope *open)
{
    struct committer *committer = step->committer;
    effects_phase(step->effects, CLOUDTASKS_STAGED_ENVELOPE_EXPIRED);
    switch ((enum cloudtasks_expiry)committer->config.expiry) {
    case CLOUDTASKS_EXPIRY_FAIL:
        fail_expired(step, open);
        release(committer, &open->call);
        return false;
    case CLOUDTASKS_EXPIRY_ASSUME_COMMITTED:
        effects_metric(step->effects, CLOUDTASKS_METRIC_EXPIRED_ASSUMED_COMMITTED, 1);
        effects_signal(step->effects, open->index, SINK_SIGNAL_ALREADY_COMMITTED);
        release(committer, &open->call);
        return false;
    case CLOUDTASKS_EXPIRY_DROP:
        /* Finished without a signal, which the engine reads as committed. */
        effects_metric(step->effects, CLOUDTASKS_METRIC_EXPIRED_DROPPED, 1);
        release(committer, &open->call);
        return false;
    case CLOUDTASKS_EXPIRY_CREATE_ANYWAY:
        return true;
    case CLOUDTASKS_EXPIRY_COUNT:
        break;
    }
    UNREACHABLE();
}

/* Let the first ready call leave. False when there is no room: it stays first. */
static bool pump_ready(const struct step *step)
{
    struct committer *committer = step->committer;
    struct call *call = LIST_ITEM(list_first(&committer->ready), struct call, link);
    /* The deadline first, the clock second: what happens in between only shortens the attempt. */
    const nanos deadline = nanos_add(step->now->monotonic, committer->config.request_timeout);
    const bool expired = call != &committer->read &&
                         envelope_of(call)->deadline_ms * NANOS_PER_MS <= step->now->wall;
    const bool is_sent_anyway = committer->config.expiry == CLOUDTASKS_EXPIRY_CREATE_ANYWAY;
    if ((!expired || is_sent_anyway) && !effects_has_room(step->effects)) {
        return false;
    }
    list_remove(&committer->ready, &call->link);
    if (expired) {
        if (!judge_expired(step, envelope_of(call))) {
            return true;
        }
        effects_metric(step->effects, CLOUDTASKS_METRIC_EXPIRED_CREATES_AUTHORIZED, 1);
    }
    send_attempt(step, call, deadline);
    return true;
}

static void return_commit(const struct step *step)
{
    struct committer *committer = step->committer;
    committer->state = STATE_IDLE;
    committer->commit = NULL;
    committer->commit_count = 0;
    effects_phase(step->effects, CLOUDTASKS_STAGED_COMMIT_RETURNED);
    effects_simple(step->effects, SINK_EFFECT_COMMIT_RETURNED);
}

/* Send what is ready, then open more envelopes while slots are free. */
static void pump(const struct step *step)
{
    struct committer *committer = step->committer;
    bool goes_on = true;
    while (goes_on && is_live(committer) && effects_has_space(step->effects)) {
        if (!list_is_empty(&committer->ready)) {
            goes_on = pump_ready(step);
        } else if (committer->state == STATE_COMMITTING &&
                   committer->next < committer->commit_count &&
                   committer->open_count < committer->config.in_flight_max) {
            open_next(step);
        } else {
            goes_on = false;
        }
    }
    if (committer->state == STATE_COMMITTING && committer->open_count == 0 &&
        committer->next == committer->commit_count) {
        return_commit(step);
    }
}

static void
settle_create(const struct step *step, struct call *call, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    const struct port_status *status = &answer->status;
    const enum cloudtasks_verdict verdict =
        cloudtasks_classify((enum port_outcome)answer->outcome, status, true);
    if (verdict != CLOUDTASKS_CREATED && verdict != CLOUDTASKS_DUPLICATE) {
        count_error(step, status);
    }
    switch (verdict) {
    case CLOUDTASKS_CREATED:
        release(committer, call);
        return;
    case CLOUDTASKS_DUPLICATE:
        effects_metric(step->effects, CLOUDTASKS_METRIC_TASKS_DEDUPLICATED, 1);
        effects_signal(step->effects, envelope_of(call)->index, SINK_SIGNAL_ALREADY_COMMITTED);
        release(committer, call);
        return;
    case CLOUDTASKS_TRANSIENT:
        park_transient(step, call, status);
        return;
    case CLOUDTASKS_NOT_FOUND:
        call->not_found_failures++;
        park(step, call, &committer->config.not_found, call->not_found_failures, status);
        return;
    case CLOUDTASKS_REJECTED:
    case CLOUDTASKS_FATAL:
        /* Never a drop: the envelope stays with the checkpoint. */
        release(committer, call);
        fail_request(step, SINK_REASON_SERVICE, &cloudtasks_create_task_method, status);
        return;
    case CLOUDTASKS_VERDICT_NONE:
        break;
    }
    UNREACHABLE();
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    struct request *request = requests_take(&committer->requests, answer->request);
    if (request == NULL) {
        return;
    }
    struct call *call = LIST_ITEM(request, struct call, request);
    parking_remove(&committer->parking, &call->parking);
    if (call == &committer->read) {
        settle_read(step, answer);
    } else {
        settle_create(step, call, answer);
    }
}

/* Give up an attempt whose deadline has passed: whether it has an effect is unknown. */
static void expire_attempt(const struct step *step, struct call *call)
{
    struct committer *committer = step->committer;
    struct port_status status = port_status_grpc(PORT_DEADLINE_EXCEEDED);
    status.causes[0].domain = PORT_DOMAIN_CLIENT;
    effects_phase(step->effects, CLOUDTASKS_STAGED_ATTEMPT_EXPIRED);
    effects_cancel(step->effects, call->request.number, method_of(committer, call));
    requests_remove(&committer->requests, &call->request);
    count_error(step, &status);
    park_transient(step, call, &status);
}

static void take_due(const struct step *step)
{
    struct committer *committer = step->committer;
    while (is_live(committer)) {
        struct parking_slot *slot = NULL;
        if (effects_has_space(step->effects)) {
            slot = parking_take_due(&committer->parking, step->now->monotonic);
        }
        if (slot == NULL) {
            return;
        }
        struct call *call = LIST_ITEM(slot, struct call, parking);
        if (call->request.number != 0) {
            expire_attempt(step, call);
        } else {
            list_push_back(&committer->ready, &call->link);
        }
    }
}

/* --- the half ---------------------------------------------------------------------------------- */

static void handle(const struct step *step, const struct sink_event *event)
{
    struct committer *committer = step->committer;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_committer(step);
        return;
    case SINK_EVENT_COMMIT:
        begin_commit(step, event);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(committer->state != STATE_NEW);
        settle(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        parking_fired(&committer->parking);
        take_due(step);
        return;
    case SINK_EVENT_MORE:
        /* Attempts may have expired that found no space in the list. */
        take_due(step);
        return;
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
    const struct step step = {committer, now, effects};
    const bool closes = event->kind == SINK_EVENT_CLOSE ||
                        (committer->state == STATE_CLOSING && event->kind == SINK_EVENT_MORE);
    if (closes && committer->state != STATE_CLOSED) {
        close_committer(&step);
        return;
    }
    if (!is_live(committer)) {
        return;
    }
    handle(&step, event);
    if (is_live(committer)) {
        pump(&step);
    }
    if (is_live(committer)) {
        parking_arm(&committer->parking, now->monotonic, effects);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct committer *committer = state;
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    committer->allocator = env->allocator;
    requests_init(&committer->requests, env->allocator);
    parking_init(&committer->parking, env->allocator);
    list_init(&committer->ready);
    list_init(&committer->cancelled);
    byte_writer_init(&complaint, message, sizeof(message));
    if (cloudtasks_options_check(env->options, CLOUDTASKS_OPTION_COUNT, &complaint) != ERR_OK) {
        return ERR_INVALID;
    }
    committer->config = cloudtasks_config_of(env->options, CLOUDTASKS_OPTION_COUNT);
    return ERR_OK;
}

static uint64_t fold_call(const struct committer *committer, uint64_t digest, struct call *call)
{
    digest = digest_fold(digest, call->request.number);
    digest = digest_fold(digest, (uint64_t)call->failures << 32 | call->not_found_failures);
    digest = digest_fold(digest, call->sent);
    return call == &committer->read ? digest : digest_fold(digest, envelope_of(call)->index + 1);
}

static uint64_t digest_committer(const void *state)
{
    const struct committer *committer = state;
    uint64_t digest = digest_fold(committer->state, committer->next);
    digest = digest_fold(digest, committer->requests.last);
    digest = digest_fold(digest, parking_digest(&committer->parking));
    /* Calls in flight are parked as well, until their deadline. */
    for (uint32_t i = 0; i < committer->parking.count; i++) {
        digest = fold_call(
            committer, digest, LIST_ITEM(committer->parking.heap[i], struct call, parking));
    }
    for (struct list_link *link = list_first(&committer->ready); link != NULL;
         link = list_next(&committer->ready, link)) {
        digest = fold_call(committer, digest, LIST_ITEM(link, struct call, link));
    }
    for (uint32_t i = 0; i < committer->commit_count && committer->commit != NULL; i++) {
        digest = digest_fold(digest, digest_bytes(committer->commit[i].data));
    }
    return digest;
}

static void fini(void *state)
{
    struct committer *committer = state;
    drop_waiting(committer);
    release_list(committer, &committer->cancelled);
    for (struct request *request = requests_first(&committer->requests); request != NULL;
         request = requests_first(&committer->requests)) {
        requests_remove(&committer->requests, request);
        release(committer, LIST_ITEM(request, struct call, request));
    }
    requests_fini(&committer->requests);
    parking_fini(&committer->parking);
}

const struct sink_half cloudtasks_committer_half = {
    .state_size = sizeof(struct committer),
    .init = init,
    .step = step_committer,
    .digest = digest_committer,
    .fini = fini,
};
