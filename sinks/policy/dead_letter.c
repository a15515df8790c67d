/* The dead-letter policy: puts each failed record into a generic durable target, at least once.
 *
 * State \ event  OPEN  HANDLE    FLUSH       ANSWER            TIMER           MORE    CLOSE
 * NEW            OPEN  !         !           !                 -               -       CLOSED
 * OPEN           !     OPEN      OPEN or     OPEN or FAILED    retry           send    CLOSED
 *                                FLUSHING
 * FLUSHING       !     FLUSHING  !           OPEN, FLUSHING    retry, FAILED   send    CLOSED
 *                                            or FAILED         at the bound
 * FAILED         -     -         -           FAILED            -               -       CLOSED
 * CLOSING        -     -         -           CLOSING           -               cancel  -
 * CLOSED         -     -         -           -                 -               -       -
 *
 * "!" is a host's broken contract and a CHECK. A record is answered with POLICY_DROPPED when its
 * letter has left for the first time, so that the writer sees at most LETTERS_MAX of them open; it is
 * durable when FLUSH is answered. FLUSHING ends in OPEN when every letter is stored. A letter that
 * cannot be stored, or a flush past its bound, fails the job with token 0. A failure that comes again
 * on replay is sent again. Close stores nothing. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/effects.h"
#include "sinks/parking.h"
#include "sinks/policy/policy.h"
#include "sinks/port/generic.h"
#include "sinks/requests.h"
#include "sinks/retry.h"

#include <string.h>

#define LETTERS_MAX     1000u
#define REQUEST_TIMEOUT SECONDS(10)
#define FLUSH_BOUND     SECONDS(60)

static const struct retry_schedule schedule = {
    .initial = MS(100), .max = SECONDS(10), .attempts_max = 8};

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSING,
    STATE_CLOSED,
};

/* One failed record, in one block with its bytes. */
struct letter {
    struct request request;
    struct parking_slot parking;
    struct list_link link; /* in ready */
    uint64_t token;
    uint32_t failures;
    bool sent; /* at least once */
    size_t block_size;
    struct generic_put_request put;
};

struct dead_letter {
    const struct allocator *allocator;
    uint8_t state; /* enum state */
    struct requests requests;
    struct parking parking; /* letters in backoff, and the bound of a flush */
    struct list ready;      /* letters that wait for room or for a slot */
    struct parking_slot flush_bound;
};

/* One step's arguments. */
struct step {
    struct dead_letter *policy;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static void release(struct dead_letter *policy, struct letter *letter)
{
    allocator_give(policy->allocator, letter, letter->block_size);
}

static uint32_t parked_letters(const struct dead_letter *policy)
{
    return policy->parking.count - (policy->flush_bound.place != 0 ? 1 : 0);
}

/* Letters that have left and are not stored. */
static uint32_t open_letters(const struct dead_letter *policy)
{
    return requests_count(&policy->requests) + parked_letters(policy);
}

static void fail(const struct step *step, enum sink_reason reason)
{
    struct sink_effect *effect = effects_add(step->effects, SINK_EFFECT_POLICY_FAILED);
    effect->u.failed.token = 0;
    effect->u.failed.reason = (uint32_t)reason;
    effect->u.failed.payload = (struct bytes){0};
    effect->u.failed.destination = (struct bytes){0};
    step->policy->state = STATE_FAILED;
}

static void fail_memory(const struct step *step)
{
    effects_fail(
        step->effects, SINK_REASON_MEMORY, NULL, BYTES_LITERAL("no memory for a dead letter"));
    step->policy->state = STATE_FAILED;
}

static struct bytes copy_into(uint8_t **place, struct bytes source)
{
    const struct bytes copy = {*place, source.size};
    if (source.size > 0) {
        memcpy(*place, source.data, source.size);
    }
    *place += source.size;
    return copy;
}

/* Key and payload, or the record's value when it could not be serialised: enough to recognise it. */
static void take_record(const struct step *step, const struct sink_event *event)
{
    struct dead_letter *policy = step->policy;
    const struct sink_record *record = &event->u.handle.record;
    const struct bytes value =
        event->u.handle.payload.size > 0 ? event->u.handle.payload : record->value;
    const struct bytes destination = event->u.handle.destination;
    const size_t size = sizeof(struct letter) + record->key.size + value.size + destination.size;
    uint8_t *block = allocator_take(policy->allocator, size);
    if (block == NULL) {
        fail_memory(step);
        return;
    }
    struct letter *letter = (struct letter *)(void *)block;
    *letter = (struct letter){.token = record->token, .block_size = size};
    uint8_t *place = block + sizeof(struct letter);
    letter->put.key = copy_into(&place, record->key);
    letter->put.value = copy_into(&place, value);
    letter->put.reason = event->u.handle.reason;
    letter->put.destination = copy_into(&place, destination);
    CHECK(place == block + size);
    list_push_back(&policy->ready, &letter->link);
}

static void send_letter(const struct step *step, struct letter *letter)
{
    struct dead_letter *policy = step->policy;
    if (requests_add(&policy->requests, &letter->request) != ERR_OK) {
        release(policy, letter);
        fail_memory(step);
        return;
    }
    const struct port_envelope envelope = {
        .request = letter->request.number,
        .kind = PORT_CALL,
        .method = &generic_put_method,
        .deadline = REQUEST_TIMEOUT,
        .payload = &letter->put,
    };
    effects_send(step->effects, &envelope);
    if (!letter->sent) {
        letter->sent = true;
        effects_token(step->effects, SINK_EFFECT_POLICY_DROPPED, letter->token);
    }
}

static void send_ready(const struct step *step)
{
    struct dead_letter *policy = step->policy;
    while (policy->state != STATE_FAILED && !list_is_empty(&policy->ready) &&
           open_letters(policy) < LETTERS_MAX && effects_has_space(step->effects) &&
           effects_has_room(step->effects)) {
        send_letter(step, LIST_ITEM(list_pop_front(&policy->ready), struct letter, link));
    }
}

/* Who has failed or closes still hears answers: what is answered is not to be cancelled any more. */
static void forget_answered(struct dead_letter *policy, uint64_t number)
{
    struct request *request = requests_take(&policy->requests, number);
    if (request != NULL) {
        release(policy, LIST_ITEM(request, struct letter, request));
    }
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct dead_letter *policy = step->policy;
    struct request *request = requests_take(&policy->requests, answer->request);
    if (request == NULL) {
        return;
    }
    struct letter *letter = LIST_ITEM(request, struct letter, request);
    if (answer->outcome == PORT_OUTCOME_OK) {
        release(policy, letter);
        return;
    }
    letter->failures++;
    const bool transient = port_status_any(&answer->status, RETRY_TRANSIENT_CODES);
    if (!transient || !retry_is_allowed(&schedule, letter->failures)) {
        release(policy, letter);
        fail(step, transient ? SINK_REASON_EXHAUSTED : SINK_REASON_SERVICE);
        return;
    }
    const struct retry_window pause = retry_backoff(&schedule, letter->failures);
    if (parking_add(
            &policy->parking, &letter->parking, step->now->monotonic, pause.min, pause.max) !=
        ERR_OK) {
        release(policy, letter);
        fail_memory(step);
    }
}

static void take_due(const struct step *step)
{
    struct dead_letter *policy = step->policy;
    parking_fired(&policy->parking);
    for (;;) {
        struct parking_slot *slot = parking_take_due(&policy->parking, step->now->monotonic);
        if (slot == NULL) {
            return;
        }
        if (slot == &policy->flush_bound) {
            fail(step, SINK_REASON_EXHAUSTED);
            return;
        }
        /* A retry goes before letters that have not left yet. */
        list_push_front(&policy->ready, &LIST_ITEM(slot, struct letter, parking)->link);
    }
}

static void begin_flush(const struct step *step)
{
    struct dead_letter *policy = step->policy;
    policy->state = STATE_FLUSHING;
    if (parking_add(&policy->parking,
                    &policy->flush_bound,
                    step->now->monotonic,
                    FLUSH_BOUND,
                    FLUSH_BOUND) != ERR_OK) {
        fail_memory(step);
    }
}

static void end_flush_when_stored(const struct step *step)
{
    struct dead_letter *policy = step->policy;
    if (policy->state == STATE_FLUSHING && open_letters(policy) == 0 &&
        list_is_empty(&policy->ready)) {
        parking_remove(&policy->parking, &policy->flush_bound);
        policy->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSHED);
    }
}

static void drop_waiting(struct dead_letter *policy)
{
    for (struct list_link *link = list_pop_front(&policy->ready); link != NULL;
         link = list_pop_front(&policy->ready)) {
        release(policy, LIST_ITEM(link, struct letter, link));
    }
    parking_remove(&policy->parking, &policy->flush_bound);
    for (struct parking_slot *slot = parking_any(&policy->parking); slot != NULL;
         slot = parking_any(&policy->parking)) {
        parking_remove(&policy->parking, slot);
        release(policy, LIST_ITEM(slot, struct letter, parking));
    }
    parking_clear(&policy->parking);
}

static void close_policy(const struct step *step)
{
    struct dead_letter *policy = step->policy;
    policy->state = STATE_CLOSING;
    drop_waiting(policy);
    for (struct request *request = requests_first(&policy->requests); request != NULL;
         request = requests_first(&policy->requests)) {
        if (!effects_has_space(step->effects)) {
            return;
        }
        effects_cancel(step->effects, request->number, &generic_put_method);
        requests_remove(&policy->requests, request);
        release(policy, LIST_ITEM(request, struct letter, request));
    }
    policy->state = STATE_CLOSED;
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct dead_letter *policy = step->policy;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        CHECK(policy->state == STATE_NEW);
        policy->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_OPENED);
        return;
    case SINK_EVENT_HANDLE:
        CHECK(policy->state == STATE_OPEN || policy->state == STATE_FLUSHING);
        take_record(step, event);
        return;
    case SINK_EVENT_FLUSH:
        CHECK(policy->state == STATE_OPEN);
        begin_flush(step);
        return;
    case SINK_EVENT_ANSWER:
        CHECK(policy->state != STATE_NEW);
        settle(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        take_due(step);
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
    case SINK_EVENT_COMMIT:
    case SINK_EVENT_POLICY_DROPPED:
    case SINK_EVENT_POLICY_FLUSHED:
    case SINK_EVENT_POLICY_FAILED:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_END_OF_INPUT:
    case SINK_EVENT_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static void step_dead_letter(void *state,
                             const struct sink_now *now,
                             const struct sink_event *event,
                             struct sink_effects *effects)
{
    struct dead_letter *policy = state;
    const struct step step = {policy, now, effects};
    const bool closes = event->kind == SINK_EVENT_CLOSE ||
                        (policy->state == STATE_CLOSING && event->kind == SINK_EVENT_MORE);
    if (closes && policy->state != STATE_CLOSED) {
        close_policy(&step);
        return;
    }
    if (policy->state >= STATE_FAILED) {
        if (event->kind == SINK_EVENT_ANSWER) {
            forget_answered(policy, event->u.answer.request);
        }
        return;
    }
    handle(&step, event);
    if (policy->state < STATE_FAILED) {
        send_ready(&step);
    }
    end_flush_when_stored(&step);
    if (policy->state < STATE_FAILED) {
        parking_arm(&policy->parking, now->monotonic, effects);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct dead_letter *policy = state;
    policy->allocator = env->allocator;
    requests_init(&policy->requests, env->allocator);
    parking_init(&policy->parking, env->allocator);
    list_init(&policy->ready);
    return ERR_OK;
}

static uint64_t fold_letter(uint64_t digest, const struct letter *letter)
{
    digest = digest_fold(digest, letter->token);
    digest = digest_fold(digest, letter->request.number);
    digest = digest_fold(digest, (uint64_t)letter->failures << 1 | (letter->sent ? 1 : 0));
    return digest_fold(digest, port_digest(&generic_put_request_message, &letter->put));
}

static uint64_t digest_dead_letter(const void *state)
{
    const struct dead_letter *policy = state;
    uint64_t digest = digest_fold(policy->state, policy->requests.last);
    digest = digest_fold(digest, parking_digest(&policy->parking));
    for (uint32_t i = 0; i < policy->parking.count; i++) {
        struct parking_slot *slot = policy->parking.heap[i];
        if (slot != &policy->flush_bound) {
            digest = fold_letter(digest, LIST_ITEM(slot, struct letter, parking));
        }
    }
    for (struct list_link *link = list_first(&policy->ready); link != NULL;
         link = list_next(&policy->ready, link)) {
        digest = fold_letter(digest, LIST_ITEM(link, struct letter, link));
    }
    const struct list *order = &policy->requests.order;
    for (struct list_link *link = list_first(order); link != NULL; link = list_next(order, link)) {
        struct request *request = LIST_ITEM(link, struct request, link);
        digest = fold_letter(digest, LIST_ITEM(request, struct letter, request));
    }
    return digest;
}

static void fini(void *state)
{
    struct dead_letter *policy = state;
    drop_waiting(policy);
    for (struct request *request = requests_first(&policy->requests); request != NULL;
         request = requests_first(&policy->requests)) {
        requests_remove(&policy->requests, request);
        release(policy, LIST_ITEM(request, struct letter, request));
    }
    requests_fini(&policy->requests);
    parking_fini(&policy->parking);
}

const struct sink_half policy_dead_letter_half = {
    .state_size = sizeof(struct dead_letter),
    .init = init,
    .step = step_dead_letter,
    .digest = digest_dead_letter,
    .fini = fini,
};
