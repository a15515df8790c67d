/* The committer of the exactly-once sink: one FlushRows for each committable, one after the other, in the
 * order of the list (section 4.9 of the sink's specification).
 *
 * State \ event  OPEN   COMMIT     ANSWER                   TIMER   MORE   CLOSE
 * NEW            IDLE   !          !                        -       -      CLOSED
 * IDLE           !      FLUSHING   -                        -       -      CLOSED
 * FLUSHING       !      !          FLUSHING, IDLE, FAILED   retry   send   CLOSED
 * FAILED         -      -          -                        -       -      CLOSED
 * CLOSED         -      -          -                        -       -      -
 *
 * "!" is a host's broken contract and a CHECK. What FlushRows is answered:
 *
 *   OK with the offset that was asked for    done
 *   OK with another                          fails: whatever was flushed, it is not this
 *   ALREADY_EXISTS                           done: an earlier attempt flushed it (BQW-31)
 *   a transient code, or no answer           again on the recovery schedule: a flush has no second effect
 *   denied as if the table were missing      the same, where this sink creates tables (BQW-46)
 *   anything else                            fails. A stream that is gone or finalized is never taken for
 *                                            flushed: a wrong stop is seen, a wrong skip is a silent loss
 */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/effects.h"
#include "sinks/port/bigquery.h"

#define MESSAGE_SIZE 2048u

enum state {
    STATE_NEW = 0,
    STATE_IDLE,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSED,
};

struct committer {
    struct bigquery_config config;
    uint8_t state; /* enum state */
    uint32_t failures;
    bool waits;                               /* for the timer, before the next attempt */
    uint64_t last;                            /* number of the latest request */
    uint64_t open;                            /* of the flush without an answer; 0 none */
    const struct sink_commit_request *commit; /* the host's */
    uint32_t commit_count;
    uint32_t next; /* of the commit: the one that is being flushed */
    struct bigquery_committable current;
    struct bigquery_int64 offset;
    struct bigquery_flush_rows_request request;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct committer *committer;
    struct sink_effects *effects;
};

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const struct byte_writer *message)
{
    step->committer->state = STATE_FAILED;
    effects_phase(step->effects, BIGQUERY_PHASE_COMMITTER_FAILED);
    effects_fail(step->effects, reason, status_or_null, byte_writer_view(message));
}

static struct byte_writer begin_message(const struct step *step)
{
    struct byte_writer message;
    byte_writer_init(&message, step->committer->message, sizeof(step->committer->message));
    return message;
}

static void name_flush(const struct step *step, struct byte_writer *message)
{
    byte_writer_text(message, "FlushRows of ");
    byte_writer_bytes(message, step->committer->current.stream);
    byte_writer_text(message, " up to ");
    byte_writer_decimal(message, step->committer->current.offset);
}

static void fail_request(const struct step *step,
                         enum sink_reason reason,
                         const struct port_status *status,
                         const char *end)
{
    struct byte_writer message = begin_message(step);
    const uint16_t first = port_status_first(status);
    name_flush(step, &message);
    byte_writer_text(&message, " failed with ");
    byte_writer_text(&message, first == PORT_CODE_NONE ? "no status" : port_code_name(first));
    byte_writer_text(&message, end);
    fail(step, reason, status, &message);
}

/* --- flushing ---------------------------------------------------------------------------------- */

/* Nothing of a commit leaves before all of it has been read. */
static bool check_all(const struct step *step)
{
    struct committer *committer = step->committer;
    for (uint32_t i = 0; i < committer->commit_count; i++) {
        const enum err err =
            bigquery_committable_decode(committer->commit[i].data, &committer->current);
        if (err != ERR_OK) {
            struct byte_writer message = begin_message(step);
            byte_writer_text(&message, "committable ");
            byte_writer_decimal(&message, (uint64_t)i + 1);
            byte_writer_text(&message, " of ");
            byte_writer_decimal(&message, committer->commit_count);
            byte_writer_text(&message, ": ");
            byte_writer_text(&message, err_name(err));
            fail(step, SINK_REASON_STATE, NULL, &message);
            return false;
        }
    }
    return true;
}

/* Begin with the next committable, or return the commit when there is none. */
static void take_next(const struct step *step)
{
    struct committer *committer = step->committer;
    committer->failures = 0;
    if (committer->next == committer->commit_count) {
        committer->state = STATE_IDLE;
        effects_phase(step->effects, BIGQUERY_PHASE_COMMIT_RETURNED);
        effects_simple(step->effects, SINK_EFFECT_COMMIT_RETURNED);
        return;
    }
    CHECK(bigquery_committable_decode(committer->commit[committer->next].data,
                                      &committer->current) == ERR_OK);
}

static void advance(const struct step *step)
{
    struct committer *committer = step->committer;
    if (committer->state != STATE_FLUSHING || committer->open != 0 || committer->waits ||
        !effects_has_room(step->effects)) {
        return;
    }
    committer->offset = (struct bigquery_int64){.value = (int64_t)committer->current.offset};
    committer->request = (struct bigquery_flush_rows_request){
        .write_stream = committer->current.stream, .offset = &committer->offset};
    committer->last++;
    committer->open = committer->last;
    const struct port_envelope envelope = {
        .request = committer->open,
        .kind = PORT_CALL,
        .method = &bigquery_flush_rows_method,
        .deadline = committer->config.request_timeout,
        .payload = &committer->request,
    };
    effects_send(step->effects, &envelope);
    if (committer->failures > 0) {
        effects_phase(step->effects, BIGQUERY_PHASE_FLUSH_RETRIED);
        effects_metric(step->effects, BIGQUERY_METRIC_RETRIES, 1);
    } else {
        effects_phase(step->effects, BIGQUERY_PHASE_FLUSH_SENT);
    }
}

static void retry(const struct step *step, const struct port_status *status)
{
    struct committer *committer = step->committer;
    committer->failures++;
    if (!retry_is_allowed(&committer->config.recovery, committer->failures)) {
        fail_request(step, SINK_REASON_EXHAUSTED, status, " and its attempts are used up");
        return;
    }
    const struct retry_window pause =
        retry_backoff(&committer->config.recovery, committer->failures);
    committer->waits = true;
    effects_timer(step->effects, pause.min, pause.max);
}

static void is_flushed(const struct step *step, enum bigquery_metric metric)
{
    effects_metric(step->effects, (uint16_t)metric, 1);
    step->committer->next++;
    take_next(step);
}

static void settle_error(const struct step *step, const struct port_answer *answer)
{
    const struct port_status *status = &answer->status;
    switch (bigquery_classify(status, false)) {
    case BIGQUERY_VERDICT_OFFSET_EXISTS:
        is_flushed(step, BIGQUERY_METRIC_FLUSHED_BEFORE);
        return;
    case BIGQUERY_VERDICT_TRANSIENT:
        retry(step, status);
        return;
    case BIGQUERY_VERDICT_MISSING_TABLE:
        if (step->committer->config.creates &&
            port_status_first(status) == PORT_PERMISSION_DENIED) {
            retry(step, status);
            return;
        }
        fail_request(step, SINK_REASON_EXPIRED, status, ": its stream or its table is gone");
        return;
    case BIGQUERY_VERDICT_STREAM_UNUSABLE:
        fail_request(step,
                     SINK_REASON_EXPIRED,
                     status,
                     ": its stream is gone, and with it rows that were not flushed");
        return;
    case BIGQUERY_VERDICT_TERMINAL:
    case BIGQUERY_VERDICT_WRITER_CLOSED:
    case BIGQUERY_VERDICT_OFFSET_AHEAD:
    case BIGQUERY_VERDICT_SCHEMA_MISMATCH:
    case BIGQUERY_VERDICT_ROWS:
        break;
    }
    fail_request(step, SINK_REASON_SERVICE, status, "");
}

static void settle(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    if (answer->request != committer->open) {
        return;
    }
    committer->open = 0;
    if (answer->outcome == PORT_OUTCOME_OK) {
        const struct bigquery_flush_rows_response *response = answer->payload;
        if ((uint64_t)response->offset == committer->current.offset) {
            is_flushed(step, BIGQUERY_METRIC_FLUSHES);
            return;
        }
        struct byte_writer message = begin_message(step);
        name_flush(step, &message);
        byte_writer_text(&message, " was answered with another offset");
        fail(step, SINK_REASON_SERVICE, NULL, &message);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN) {
        retry(step, &answer->status);
    } else {
        settle_error(step, answer);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void begin_commit(const struct step *step, const struct sink_event *event)
{
    struct committer *committer = step->committer;
    CHECK(committer->state == STATE_IDLE);
    committer->state = STATE_FLUSHING;
    committer->commit = event->u.commit.requests;
    committer->commit_count = event->u.commit.count;
    committer->next = 0;
    if (check_all(step)) {
        take_next(step);
    }
}

static void open_committer(const struct step *step)
{
    CHECK(step->committer->state == STATE_NEW);
    step->committer->state = STATE_IDLE;
    effects_phase(step->effects, BIGQUERY_PHASE_COMMITTER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_committer(const struct step *step)
{
    struct committer *committer = step->committer;
    if (committer->open != 0) {
        effects_cancel(step->effects, committer->open, &bigquery_flush_rows_method);
        committer->open = 0;
    }
    committer->state = STATE_CLOSED;
    effects_phase(step->effects, BIGQUERY_PHASE_COMMITTER_CLOSED);
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
    return bigquery_configure(env->options, &committer->config, &complaint);
}

static uint64_t digest_committer(const void *state)
{
    const struct committer *committer = state;
    uint64_t digest = digest_fold(committer->state, committer->last);
    digest = digest_fold(digest, committer->open);
    digest = digest_fold(digest, (uint64_t)committer->failures << 1 | committer->waits);
    /* The host's requests are gone once the commit has returned. */
    if (committer->state == STATE_FLUSHING) {
        digest = digest_fold(digest, (uint64_t)committer->next << 32 | committer->commit_count);
        digest = digest_fold(digest, digest_bytes(committer->current.stream));
        digest = digest_fold(digest, committer->current.offset);
    }
    return digest;
}

static void fini(void *state)
{
    (void)state; /* it takes no memory */
}

const struct sink_half bigquery_exactly_once_committer_half = {
    .state_size = sizeof(struct committer),
    .init = init,
    .step = step_committer,
    .digest = digest_committer,
    .fini = fini,
};
