/* The committer of the transactional sink: one for all writers. The units that a completed checkpoint
 * owns become visible by one Commit, under the condition that the table knows of none of them yet: so a
 * repeated commit, a restored one, and the late one of a replaced attempt have no second effect.
 *
 * State \ event  OPEN   COMMIT       ANSWER                  TIMER   MORE   CLOSE
 * NEW            IDLE   !            !                       -       -      CLOSED
 * IDLE           !      COMMITTING,  -                       -       -      CLOSED
 *                       FAILED
 * COMMITTING     !      !            IDLE, VERIFYING,        retry   send   CLOSED
 *                                    retry, FAILED
 * VERIFYING      !      !            IDLE, COMMITTING,       retry   send   CLOSED
 *                                    retry, FAILED
 * FAILED         -      -            -                       -       -      CLOSED
 * CLOSED         -      -            -                       -       -      -
 *
 * "!" is a host's broken contract and a CHECK. COMMITTING ends in IDLE when the commit took effect.
 * ALREADY_EXISTS says that the table knows of one unit at least: VERIFYING reads of which, signals
 * those, and commits the others. NOT_FOUND says that a unit that was never committed is gone: that is
 * a loss, which fails the job and is never taken for success. Units are discarded behind a commit that
 * is known, by one request that is neither waited for nor repeated: nothing leads back from there to
 * the commit, and what stays is left to its time. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"
#include "sinks/generic/transactional.h"
#include "sinks/generic/unit_frame.h"
#include "sinks/port/table.h"

#define MESSAGE_SIZE 384

enum state {
    STATE_NEW = 0,
    STATE_IDLE,
    STATE_COMMITTING,
    STATE_VERIFYING,
    STATE_FAILED,
    STATE_CLOSED,
};

struct transactional_committer {
    const struct allocator *allocator;
    struct transactional_config config;
    uint8_t state; /* enum state */
    uint32_t failures;
    bool waits;                               /* for the timer, before the next attempt */
    uint64_t last;                            /* number of the latest request */
    uint64_t open;                            /* of the commit or read without an answer; 0 none */
    uint64_t discard;                         /* of the discard without an answer; 0 none */
    const struct sink_commit_request *commit; /* the host's */
    uint32_t commit_count;
    struct bytes *units; /* of the commit, by request */
    struct bytes *left;  /* those that are not known to be committed */
    uint32_t *places;    /* of those, in the commit: a unit may be named twice */
    uint32_t left_count;
    struct bytes application; /* that staged them */
    uint64_t sequence;
    struct table_commit_request commit_request;
    struct table_read_request read_request;
    struct table_discard_request discard_request;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct transactional_committer *committer;
    struct sink_effects *effects;
};

static void forget_commit(struct transactional_committer *committer)
{
    const size_t size = committer->commit_count * sizeof(committer->units[0]);
    if (committer->units != NULL) {
        allocator_give(committer->allocator, committer->units, size);
    }
    if (committer->left != NULL) {
        allocator_give(committer->allocator, committer->left, size);
    }
    if (committer->places != NULL) {
        allocator_give(committer->allocator,
                       committer->places,
                       committer->commit_count * sizeof(committer->places[0]));
    }
    committer->units = NULL;
    committer->left = NULL;
    committer->places = NULL;
    committer->left_count = 0;
    committer->commit = NULL;
    committer->commit_count = 0;
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    step->committer->state = STATE_FAILED;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMITTER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static struct byte_writer begin_message(const struct step *step)
{
    struct byte_writer message;
    byte_writer_init(&message, step->committer->message, sizeof(step->committer->message));
    return message;
}

static const struct port_method *method_of(const struct transactional_committer *committer)
{
    return committer->state == STATE_VERIFYING ? &table_read_method : &table_commit_method;
}

static void
fail_request(const struct step *step, enum sink_reason reason, const struct port_status *status)
{
    struct byte_writer message = begin_message(step);
    const uint16_t first = port_status_first(status);
    byte_writer_text(&message, method_of(step->committer)->name);
    byte_writer_text(&message, " failed with ");
    byte_writer_text(&message, first == PORT_CODE_NONE ? "no status" : port_code_name(first));
    byte_writer_text(&message,
                     reason == SINK_REASON_EXHAUSTED ? " and its attempts are used up" : "");
    fail(step, reason, status, byte_writer_view(&message));
}

static void fail_expired(const struct step *step, const struct port_status *status)
{
    const struct transactional_committer *committer = step->committer;
    struct byte_writer message = begin_message(step);
    byte_writer_text(&message, "of ");
    byte_writer_decimal(&message, committer->left_count);
    byte_writer_text(&message, " units to commit up to sequence ");
    byte_writer_decimal(&message, committer->sequence);
    byte_writer_text(&message,
                     ", one at least is gone and was never committed: its rows are lost, and the "
                     "job cannot go on from this checkpoint");
    fail(step, SINK_REASON_EXPIRED, status, byte_writer_view(&message));
}

static void fail_committable(const struct step *step, uint32_t index, enum err err)
{
    struct byte_writer message = begin_message(step);
    byte_writer_text(&message, "committable ");
    byte_writer_decimal(&message, (uint64_t)index + 1);
    byte_writer_text(&message, " of ");
    byte_writer_decimal(&message, step->committer->commit_count);
    byte_writer_text(&message, ": ");
    byte_writer_text(&message, err_name(err));
    fail(step, SINK_REASON_STATE, NULL, byte_writer_view(&message));
}

/* --- requests ---------------------------------------------------------------------------------- */

static uint64_t send(const struct step *step, const struct port_method *method, const void *payload)
{
    struct transactional_committer *committer = step->committer;
    committer->last++;
    const struct port_envelope envelope = {
        .request = committer->last,
        .kind = PORT_CALL,
        .method = method,
        .deadline = committer->config.request_timeout,
        .payload = payload,
    };
    effects_send(step->effects, &envelope);
    return committer->last;
}

static void send_commit(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    committer->commit_request = (struct table_commit_request){
        .units = {committer->left, committer->left_count},
        .application = committer->application,
        .sequence = committer->sequence,
        .if_fresh = true,
    };
    committer->open = send(step, &table_commit_method, &committer->commit_request);
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMIT_SENT);
}

static void send_read(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    committer->read_request = (struct table_read_request){
        .units = {committer->left, committer->left_count},
        .application = committer->application,
    };
    committer->open = send(step, &table_read_method, &committer->read_request);
}

/* Let what is due leave, if it finds room. */
static void advance(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    const bool has_work =
        committer->state == STATE_COMMITTING || committer->state == STATE_VERIFYING;
    if (!has_work || committer->open != 0 || committer->waits || !effects_has_room(step->effects)) {
        return;
    }
    if (committer->failures > 0) {
        effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMIT_RETRIED);
        effects_metric(step->effects, TRANSACTIONAL_METRIC_RETRIES, 1);
    }
    if (committer->state == STATE_COMMITTING) {
        send_commit(step);
    } else {
        send_read(step);
    }
}

static void retry(const struct step *step, const struct port_status *status)
{
    struct transactional_committer *committer = step->committer;
    committer->failures++;
    if (!retry_is_allowed(&committer->config.retry, committer->failures)) {
        fail_request(step, SINK_REASON_EXHAUSTED, status);
        return;
    }
    const struct retry_window pause = retry_backoff(&committer->config.retry, committer->failures);
    committer->waits = true;
    effects_timer(step->effects, pause.min, pause.max);
}

/* Clean up behind a commit that is known: best effort. */
static void discard(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    if (committer->discard != 0) {
        effects_cancel(step->effects, committer->discard, &table_discard_method);
        committer->discard = 0;
    }
    if (step->effects->send_room > 0) {
        committer->discard_request =
            (struct table_discard_request){.units = {committer->units, committer->commit_count}};
        committer->discard = send(step, &table_discard_method, &committer->discard_request);
    }
}

/* --- committing -------------------------------------------------------------------------------- */

static bool take_units(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    for (uint32_t i = 0; i < committer->commit_count; i++) {
        struct unit_frame staged;
        const enum err err = unit_frame_decode(committer->commit[i].data, &staged);
        if (err != ERR_OK) {
            fail_committable(step, i, err);
            return false;
        }
        committer->units[i] = staged.unit;
        committer->left[i] = staged.unit;
        committer->places[i] = i;
        committer->application = staged.application;
        if (staged.sequence > committer->sequence) {
            committer->sequence = staged.sequence;
        }
    }
    committer->left_count = committer->commit_count;
    return true;
}

static void begin_commit(const struct step *step, const struct sink_event *event)
{
    struct transactional_committer *committer = step->committer;
    CHECK(committer->state == STATE_IDLE);
    CHECK(event->u.commit.count > 0);
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    committer->sequence = 0;
    committer->failures = 0;
    const size_t size = committer->commit_count * sizeof(committer->units[0]);
    committer->units = allocator_take(committer->allocator, size);
    committer->left = allocator_take(committer->allocator, size);
    committer->places = allocator_take(committer->allocator,
                                       committer->commit_count * sizeof(committer->places[0]));
    if (committer->units == NULL || committer->left == NULL || committer->places == NULL) {
        fail(step, SINK_REASON_MEMORY, NULL, BYTES_LITERAL("no memory for a commit"));
    } else if (take_units(step)) {
        committer->state = STATE_COMMITTING;
    }
}

static void return_commit(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    discard(step);
    committer->state = STATE_IDLE;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMIT_RETURNED);
    effects_simple(step->effects, SINK_EFFECT_COMMIT_RETURNED);
}

/* Whether the table says of the unit that it is committed. */
static bool is_committed(const struct table_read_result *result, struct bytes unit)
{
    for (uint32_t i = 0; i < result->committed.count; i++) {
        if (bytes_equal(result->committed.items[i], unit)) {
            return true;
        }
    }
    return false;
}

/* Signal what is committed; the others are left. What finds no space in the list of effects is left,
 * too: it is refused and read again. */
static void take_committed(const struct step *step, const struct table_read_result *result)
{
    struct transactional_committer *committer = step->committer;
    const uint32_t before = committer->left_count;
    committer->left_count = 0;
    for (uint32_t i = 0; i < before; i++) {
        const struct bytes unit = committer->left[i];
        const uint32_t place = committer->places[i];
        if (!is_committed(result, unit) || !effects_has_space(step->effects)) {
            committer->left[committer->left_count] = unit;
            committer->places[committer->left_count] = place;
            committer->left_count++;
            continue;
        }
        effects_signal(step->effects, place, SINK_SIGNAL_ALREADY_COMMITTED);
    }
    effects_metric(
        step->effects, TRANSACTIONAL_METRIC_UNITS_FOUND_COMMITTED, before - committer->left_count);
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMIT_VERIFIED);
    committer->failures = 0;
    committer->state = STATE_COMMITTING;
    if (committer->left_count == before) {
        fail(step,
             SINK_REASON_SERVICE,
             NULL,
             BYTES_LITERAL("the table refuses units as committed that it does not know"));
    } else if (committer->left_count == 0) {
        return_commit(step);
    }
}

static void settle_error(const struct step *step, const struct port_answer *answer)
{
    struct transactional_committer *committer = step->committer;
    const struct port_status *status = &answer->status;
    const uint16_t code = port_status_first(status);
    const bool is_commit = committer->state == STATE_COMMITTING;
    if (answer->outcome == PORT_OUTCOME_UNKNOWN || port_status_any(status, RETRY_TRANSIENT_CODES)) {
        retry(step, status);
    } else if (is_commit && code == PORT_ALREADY_EXISTS) {
        committer->failures = 0;
        committer->state = STATE_VERIFYING;
    } else if (is_commit && code == PORT_NOT_FOUND) {
        fail_expired(step, status);
    } else {
        fail_request(step, SINK_REASON_SERVICE, status);
    }
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct transactional_committer *committer = step->committer;
    if (answer->request == committer->discard) {
        committer->discard = 0;
        return;
    }
    if (answer->request != committer->open) {
        return;
    }
    committer->open = 0;
    if (answer->outcome != PORT_OUTCOME_OK) {
        settle_error(step, answer);
    } else if (committer->state == STATE_VERIFYING) {
        take_committed(step, answer->payload);
    } else {
        effects_metric(step->effects, TRANSACTIONAL_METRIC_UNITS_COMMITTED, committer->left_count);
        return_commit(step);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_committer(const struct step *step)
{
    CHECK(step->committer->state == STATE_NEW);
    step->committer->state = STATE_IDLE;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMITTER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_committer(const struct step *step)
{
    struct transactional_committer *committer = step->committer;
    if (committer->open != 0) {
        effects_cancel(step->effects, committer->open, method_of(committer));
        committer->open = 0;
    }
    if (committer->discard != 0) {
        effects_cancel(step->effects, committer->discard, &table_discard_method);
        committer->discard = 0;
    }
    committer->state = STATE_CLOSED;
    effects_phase(step->effects, TRANSACTIONAL_PHASE_COMMITTER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct transactional_committer *committer = step->committer;
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
        committer->waits = false;
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
    struct transactional_committer *committer = state;
    const struct step step = {committer, effects};
    (void)now; /* pauses are drawn by the host, and no clock decides */
    if (event->kind == SINK_EVENT_CLOSE && committer->state != STATE_CLOSED) {
        close_committer(&step);
        return;
    }
    if (committer->state >= STATE_FAILED) {
        return;
    }
    if (committer->state == STATE_IDLE) {
        forget_commit(committer); /* its units were read by the last step's effects */
    }
    handle(&step, event);
    if (committer->state < STATE_FAILED) {
        advance(&step);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct transactional_committer *committer = state;
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    byte_writer_init(&complaint, message, sizeof(message));
    committer->allocator = env->allocator;
    return transactional_configure(env->options, &committer->config, &complaint);
}

static uint64_t digest_committer(const void *state)
{
    const struct transactional_committer *committer = state;
    uint64_t digest = digest_fold(committer->state, committer->last);
    digest = digest_fold(digest, committer->open);
    digest = digest_fold(digest, committer->discard);
    digest = digest_fold(digest, (uint64_t)committer->failures << 1 | committer->waits);
    digest = digest_fold(digest, committer->left_count);
    /* The host's requests are gone once the commit has returned. */
    const bool runs = committer->state == STATE_COMMITTING || committer->state == STATE_VERIFYING;
    for (uint32_t i = 0; runs && i < committer->left_count; i++) {
        digest = digest_fold(digest, digest_bytes(committer->left[i]));
    }
    return digest;
}

static void fini(void *state)
{
    forget_commit(state);
}

const struct sink_half transactional_committer_half = {
    .state_size = sizeof(struct transactional_committer),
    .init = init,
    .step = step_committer,
    .digest = digest_committer,
    .fini = fini,
};
