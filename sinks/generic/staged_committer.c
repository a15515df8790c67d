/* The committer of generic-staged: sends the Puts of a request list, a window of them at a time, and
 * each again until the store has answered OK.
 *
 * State \ event  OPEN  COMMIT              ANSWER, TIMER, MORE             CLOSE
 * NEW            IDLE  !                   !                               CLOSED
 * IDLE           !     COMMITTING, FAILED  IDLE                            CLOSED
 * COMMITTING     !     !                   COMMITTING, FAILED, IDLE when   CLOSED
 *                                          all is stored
 * FAILED         !     -                   -                               CLOSED
 *
 * "!" is what the host never does. A request list is one commit: nothing of it is sent unless all of
 * its envelopes are good. Notices change nothing. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/effects.h"
#include "sinks/generic/generic_sinks.h"
#include "sinks/generic/staged.h"
#include "sinks/retry.h"

enum state {
    STATE_NEW = 0,
    STATE_IDLE,
    STATE_COMMITTING,
    STATE_FAILED,
};

enum put_state {
    PUT_WAITS = 0, /* to be sent */
    PUT_SENT,
    PUT_PAUSES, /* before it is sent again */
};

/* One Put of the window. */
struct put {
    struct list_link link;
    uint64_t request; /* number of its latest attempt */
    uint32_t index;   /* of its envelope in the list */
    uint32_t failures;
    uint8_t state; /* enum put_state */
    struct generic_put_request *message;
    size_t message_size;
};

struct committer {
    const struct allocator *allocator;
    const struct sink_option_value *options;
    uint8_t state;                            /* enum state */
    const struct sink_commit_request *commit; /* the host's, while COMMITTING */
    uint32_t commit_count;
    uint32_t begun;    /* envelopes of it that came into the window */
    struct list puts;  /* the window, in order of the list */
    uint64_t requests; /* numbered so far */
    bool timer_set;
};

enum err generic_envelope_decode(struct bytes envelope,
                                 const struct allocator *allocator,
                                 struct generic_put_request **put,
                                 size_t *block_size)
{
    if (envelope.size < GENERIC_ENVELOPE_HEADER_SIZE) {
        return ERR_TRUNCATED;
    }
    if (envelope.data[0] != GENERIC_ENVELOPE_VERSION) {
        return ERR_VERSION;
    }
    const struct bytes content = {envelope.data + GENERIC_ENVELOPE_HEADER_SIZE,
                                  envelope.size - GENERIC_ENVELOPE_HEADER_SIZE};
    if (digest_checksum(content) != bytes_u32_be(envelope.data + 9)) {
        return ERR_INVALID;
    }
    void *value = NULL;
    const enum err err =
        port_decode(&generic_put_request_message, content, allocator, &value, block_size);
    if (err == ERR_OK) {
        *put = value;
    }
    return err;
}

static void fail(struct committer *committer,
                 struct sink_effects *effects,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const char *message)
{
    committer->state = STATE_FAILED;
    effects_fail(effects, reason, status_or_null, bytes_of_text(message));
}

static struct put *put_of(struct list_link *link_or_null)
{
    return link_or_null == NULL ? NULL : LIST_ITEM(link_or_null, struct put, link);
}

static struct put *first_put(const struct committer *committer)
{
    return put_of(list_first(&committer->puts));
}

static struct put *next_put(const struct committer *committer, const struct put *put)
{
    return put_of(list_next(&committer->puts, &put->link));
}

static void remove_put(struct committer *committer, struct put *put)
{
    list_remove(&committer->puts, &put->link);
    allocator_give(committer->allocator, put->message, put->message_size);
    allocator_give(committer->allocator, put, sizeof(*put));
}

static void fini(void *state)
{
    struct committer *committer = state;
    while (!list_is_empty(&committer->puts)) {
        remove_put(committer, first_put(committer));
    }
}

/* --- sending ----------------------------------------------------------------------------------- */

/* Take the next envelope of the list into the window. */
static void begin_put(struct committer *committer, struct sink_effects *effects)
{
    struct put *put = allocator_take_zeroed(committer->allocator, sizeof(*put));
    const enum err err = put == NULL
                             ? ERR_LIMIT
                             : generic_envelope_decode(committer->commit[committer->begun].data,
                                                       committer->allocator,
                                                       &put->message,
                                                       &put->message_size);
    if (err != ERR_OK) {
        CHECK(err == ERR_LIMIT); /* all of the list has been decoded before */
        if (put != NULL) {
            allocator_give(committer->allocator, put, sizeof(*put));
        }
        fail(committer, effects, SINK_REASON_MEMORY, NULL, "no memory for an envelope");
        return;
    }
    put->index = committer->begun;
    list_push_back(&committer->puts, &put->link);
    committer->begun++;
}

static void send(struct committer *committer, struct put *put, struct sink_effects *effects)
{
    committer->requests++;
    put->request = committer->requests;
    put->state = PUT_SENT;
    effects_send(effects,
                 &(struct port_envelope){
                     .request = put->request,
                     .kind = PORT_CALL,
                     .method = &generic_put_method,
                     .deadline = committer->options[GENERIC_OPTION_REQUEST_TIMEOUT].number,
                     .payload = put->message,
                 });
}

static void send_waiting(struct committer *committer, struct sink_effects *effects)
{
    for (struct put *put = first_put(committer); put != NULL; put = next_put(committer, put)) {
        if (put->state != PUT_WAITS) {
            continue;
        }
        if (!effects_has_room(effects)) {
            return; /* the host comes back with MORE */
        }
        send(committer, put, effects);
    }
}

static void pump(struct committer *committer, struct sink_effects *effects)
{
    const uint64_t window = committer->options[GENERIC_OPTION_MAX_IN_FLIGHT].number;
    while (committer->state == STATE_COMMITTING && committer->begun < committer->commit_count &&
           committer->puts.count < window) {
        begin_put(committer, effects);
    }
    if (committer->state != STATE_COMMITTING) {
        return;
    }
    send_waiting(committer, effects);
    if (list_is_empty(&committer->puts)) {
        committer->state = STATE_IDLE;
        committer->commit = NULL;
        effects_simple(effects, SINK_EFFECT_COMMIT_RETURNED);
    }
}

/* --- events ------------------------------------------------------------------------------------ */

static void begin_commit(struct committer *committer,
                         const struct sink_event *event,
                         struct sink_effects *effects)
{
    CHECK(committer->state == STATE_IDLE);
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    committer->begun = 0;
    committer->state = STATE_COMMITTING;
    for (uint32_t i = 0; i < committer->commit_count; i++) {
        struct generic_put_request *put = NULL;
        size_t size = 0;
        const enum err err =
            generic_envelope_decode(committer->commit[i].data, committer->allocator, &put, &size);
        if (err != ERR_OK) {
            fail(committer,
                 effects,
                 err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_STATE,
                 NULL,
                 err == ERR_VERSION ? "an envelope is of an unknown version"
                                    : "an envelope cannot be read");
            return;
        }
        allocator_give(committer->allocator, put, size);
    }
}

static void pause_put(struct committer *committer,
                      struct put *put,
                      const struct port_status *status,
                      struct sink_effects *effects)
{
    put->failures++;
    if (put->failures >= committer->options[GENERIC_OPTION_RETRY_MAX_ATTEMPTS].number) {
        fail(committer, effects, SINK_REASON_EXHAUSTED, status, "a Put has used up its attempts");
        return;
    }
    put->state = PUT_PAUSES;
    if (!committer->timer_set) {
        const nanos pause = committer->options[GENERIC_OPTION_RETRY_MAX_BACKOFF].number;
        effects_timer(effects, pause / 2, pause);
        committer->timer_set = true;
    }
}

static void take_answer(struct committer *committer,
                        const struct port_answer *answer,
                        struct sink_effects *effects)
{
    struct put *put = first_put(committer);
    while (put != NULL && put->request != answer->request) {
        put = next_put(committer, put);
    }
    if (put == NULL) {
        return; /* of an attempt that was given up */
    }
    if (answer->outcome == PORT_OUTCOME_OK) {
        remove_put(committer, put);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN ||
               port_status_any(&answer->status, RETRY_TRANSIENT_CODES)) {
        pause_put(committer, put, &answer->status, effects);
    } else {
        fail(committer, effects, SINK_REASON_SERVICE, &answer->status, "the store refuses a Put");
    }
}

static void end_pauses(struct committer *committer)
{
    committer->timer_set = false;
    for (struct put *put = first_put(committer); put != NULL; put = next_put(committer, put)) {
        put->state = put->state == PUT_PAUSES ? (uint8_t)PUT_WAITS : put->state;
    }
}

static void step(void *state,
                 const struct sink_now *now,
                 const struct sink_event *event,
                 struct sink_effects *effects)
{
    struct committer *committer = state;
    (void)now; /* the host's timer is all it knows of time */
    if (event->kind == SINK_EVENT_CLOSE) {
        fini(committer);
        effects_simple(effects, SINK_EFFECT_CLOSED);
        return;
    }
    if (committer->state == STATE_FAILED) {
        return;
    }
    if (event->kind == SINK_EVENT_OPEN) {
        CHECK(committer->state == STATE_NEW);
        committer->state = STATE_IDLE;
        effects_simple(effects, SINK_EFFECT_OPENED);
    } else if (event->kind == SINK_EVENT_COMMIT) {
        begin_commit(committer, event, effects);
    } else if (event->kind == SINK_EVENT_ANSWER) {
        take_answer(committer, &event->u.answer, effects);
    } else if (event->kind == SINK_EVENT_TIMER) {
        end_pauses(committer);
    }
    pump(committer, effects);
}

static enum err init(void *state, const struct sink_env *env)
{
    struct committer *committer = state;
    committer->allocator = env->allocator;
    committer->options = env->options;
    list_init(&committer->puts);
    return ERR_OK;
}

static uint64_t digest(const void *state)
{
    const struct committer *committer = state;
    uint64_t digest = digest_fold(committer->state, committer->requests);
    digest = digest_fold(digest, (uint64_t)committer->begun << 32 | committer->commit_count);
    for (const struct put *put = first_put(committer); put != NULL;
         put = next_put(committer, put)) {
        digest = digest_fold(digest, put->request << 2 | put->state);
        digest = digest_fold(digest, (uint64_t)put->index << 32 | put->failures);
    }
    return digest_fold(digest, committer->timer_set ? 1 : 0);
}

const struct sink_half generic_staged_committer_half = {
    .state_size = sizeof(struct committer),
    .init = init,
    .step = step,
    .digest = digest,
    .fini = fini,
};
