#include "sinks/cloudtasks/staged_writer.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/cloudtasks/envelope.h"
#include "sinks/cloudtasks/identity.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/effects.h"
#include "sinks/port/cloudtasks.h"

#define MESSAGE_SIZE 384
#define NAME_FIELD   1u /* of a task */

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_FAILED,
    STATE_CLOSED,
};

struct staged_writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct cloudtasks_config config;
    uint8_t state;                   /* enum state */
    struct sink_committable *staged; /* in order of their records */
    struct sink_committable *last;   /* of staged; NULL when it is empty */
    uint32_t staged_count;
    uint64_t staged_bytes;
    uint8_t message[MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct staged_writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static void fail(const struct step *step, enum sink_reason reason, struct bytes message)
{
    effects_phase(step->effects, CLOUDTASKS_STAGED_WRITER_FAILED);
    effects_fail(step->effects, reason, NULL, message);
    step->writer->state = STATE_FAILED;
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, bytes_of_text(message));
}

static bool
identify(const struct step *step, const struct sink_record *record, struct identity *identity)
{
    const struct sink_user *user = step->writer->user;
    struct bytes id = {0};
    if (user->extract_id == NULL) {
        identity_of_nonce(identity, step->now->nonce);
        return true;
    }
    const enum sink_user_result result = user->extract_id(user->context, record, &id);
    if (result == SINK_USER_FAILED) {
        fail_text(step, SINK_REASON_EXTRACTOR, "the id extractor failed");
        return false;
    }
    if (result == SINK_USER_NONE || id.size == 0) {
        fail_text(step, SINK_REASON_CONFIG, "the id extractor gave no id");
        return false;
    }
    identity_of_key(identity, id);
    return true;
}

/* Refuse bytes that are no task or that name it. */
static bool check_payload(const struct step *step, struct bytes payload)
{
    struct port_view view;
    if (port_check(&cloudtasks_task_message, payload, &view) != ERR_OK) {
        fail_text(step, SINK_REASON_SERIALIZER, "the serializer gave bytes that are no task");
        return false;
    }
    if (port_view_has(&view, NAME_FIELD)) {
        fail_text(step, SINK_REASON_CONFIG, "the serializer named a task; only the sink may");
        return false;
    }
    return true;
}

static void refuse_size(const struct step *step, size_t task_size)
{
    struct staged_writer *writer = step->writer;
    struct byte_writer message;
    byte_writer_init(&message, writer->message, sizeof(writer->message));
    byte_writer_text(&message, "a task of ");
    byte_writer_decimal(&message, task_size);
    byte_writer_text(&message, " bytes exceeds the limit of 100000");
    fail(step, SINK_REASON_CAPACITY, byte_writer_view(&message));
}

static void refuse_fullness(const struct step *step, size_t task_size)
{
    struct staged_writer *writer = step->writer;
    const struct cloudtasks_config *config = &writer->config;
    struct byte_writer message;
    byte_writer_init(&message, writer->message, sizeof(writer->message));
    byte_writer_text(&message, "staging is full with ");
    byte_writer_decimal(&message, writer->staged_count);
    byte_writer_text(&message, " tasks of max_staged_tasks ");
    byte_writer_decimal(&message, config->staged_count_max);
    byte_writer_text(&message, " and ");
    byte_writer_decimal(&message, writer->staged_bytes);
    byte_writer_text(&message, " bytes of max_staged_bytes ");
    byte_writer_decimal(&message, config->staged_bytes_max);
    byte_writer_text(&message, " (in memory up to 7 times that); the next task has ");
    byte_writer_decimal(&message, task_size);
    byte_writer_text(&message, ": raise a cap or checkpoint more often");
    fail(step, SINK_REASON_CAPACITY, byte_writer_view(&message));
}

static bool check_capacity(const struct step *step, size_t task_size)
{
    const struct staged_writer *writer = step->writer;
    const struct cloudtasks_config *config = &writer->config;
    if (task_size > ENVELOPE_PART_SIZE_MAX) {
        refuse_size(step, task_size);
        return false;
    }
    if (writer->staged_count >= config->staged_count_max ||
        task_size + STAGED_TASK_OVERHEAD > config->staged_bytes_max - writer->staged_bytes) {
        refuse_fullness(step, task_size);
        return false;
    }
    return true;
}

/* Origin is the wall clock: monotonic clocks cannot cross processes. */
static bool set_window(const struct step *step, struct envelope_parts *parts)
{
    parts->origin_ms = step->now->wall / NANOS_PER_MS;
    if (parts->origin_ms > ENVELOPE_MS_MAX ||
        step->writer->config.window_ms > ENVELOPE_MS_MAX - parts->origin_ms) {
        fail_text(
            step, SINK_REASON_CONFIG, "the clock and name_retention exceed what time can hold");
        return false;
    }
    parts->deadline_ms = parts->origin_ms + step->writer->config.window_ms;
    return true;
}

static void append(const struct step *step,
                   const struct envelope_parts *parts,
                   size_t task_size,
                   uint64_t token)
{
    struct staged_writer *writer = step->writer;
    const size_t data_size = envelope_size(parts->queue.size, task_size);
    const size_t size = sizeof(struct sink_committable) + data_size;
    struct sink_committable *staged = allocator_take(writer->allocator, size);
    if (staged == NULL) {
        fail_text(step, SINK_REASON_MEMORY, "no memory to stage a task");
        return;
    }
    uint8_t *data = (uint8_t *)staged + sizeof(*staged);
    const struct bytes name = envelope_encode(parts, data);
    *staged = (struct sink_committable){
        .header = {.identity = name,
                   .origin = parts->origin_ms * NANOS_PER_MS,
                   .deadline = parts->deadline_ms * NANOS_PER_MS},
        .data = {data, data_size},
        .token = token,
        .block_size = size,
    };
    if (writer->last == NULL) {
        writer->staged = staged;
    } else {
        writer->last->next = staged;
    }
    writer->last = staged;
    writer->staged_count++;
    writer->staged_bytes += task_size + STAGED_TASK_OVERHEAD;
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, token);
}

static void stage(const struct step *step, const struct sink_record *record)
{
    struct staged_writer *writer = step->writer;
    struct identity identity = {.size = 0};
    struct envelope_parts parts = {.queue = writer->config.queue, .identity = &identity};
    const enum sink_user_result serialized =
        writer->user->serialize(writer->user->context, record, parts.queue, &parts.payload);
    if (serialized == SINK_USER_NONE) {
        effects_metric(step->effects, CLOUDTASKS_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
        return;
    }
    if (serialized == SINK_USER_FAILED) {
        /* Nothing of what the user's code says: it may hold secrets. */
        fail_text(step, SINK_REASON_SERIALIZER, "the serializer failed");
        return;
    }
    if (!check_payload(step, parts.payload) || !identify(step, record, &identity)) {
        return;
    }
    const size_t task_size =
        envelope_task_size(identity_name_size(parts.queue, &identity), parts.payload.size);
    if (check_capacity(step, task_size) && set_window(step, &parts)) {
        append(step, &parts, task_size, record->token);
    }
}

static void hand_over(const struct step *step, uint64_t checkpoint)
{
    struct staged_writer *writer = step->writer;
    if (writer->staged != NULL) {
        effects_phase(step->effects, CLOUDTASKS_STAGED_COMMITTABLES_HANDED_OVER);
        effects_add(step->effects, SINK_EFFECT_COMMITTABLES)->u.committables = writer->staged;
    }
    writer->staged = NULL;
    writer->last = NULL;
    writer->staged_count = 0;
    writer->staged_bytes = 0;
    effects_barrier_done(step->effects, checkpoint);
}

static void open_writer(const struct step *step, uint32_t piece_count)
{
    CHECK(step->writer->state == STATE_NEW);
    if (piece_count > 0) {
        fail_text(step, SINK_REASON_STATE, "writer state was restored, but this sink keeps none");
        return;
    }
    step->writer->state = STATE_OPEN;
    effects_phase(step->effects, CLOUDTASKS_STAGED_WRITER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void clear(struct staged_writer *writer)
{
    while (writer->staged != NULL) {
        struct sink_committable *next = writer->staged->next;
        allocator_give(writer->allocator, writer->staged, writer->staged->block_size);
        writer->staged = next;
    }
    writer->last = NULL;
    writer->staged_count = 0;
    writer->staged_bytes = 0;
}

static void close_writer(const struct step *step)
{
    clear(step->writer);
    step->writer->state = STATE_CLOSED;
    effects_phase(step->effects, CLOUDTASKS_STAGED_WRITER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void step_writer(void *state,
                        const struct sink_now *now,
                        const struct sink_event *event,
                        struct sink_effects *effects)
{
    struct staged_writer *writer = state;
    const struct step step = {writer, now, effects};
    if (writer->state == STATE_CLOSED ||
        (writer->state == STATE_FAILED && event->kind != SINK_EVENT_CLOSE)) {
        return;
    }
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(&step, event->u.open.piece_count);
        return;
    case SINK_EVENT_RECORD:
        CHECK(writer->state == STATE_OPEN);
        stage(&step, &event->u.record);
        return;
    case SINK_EVENT_BARRIER:
        CHECK(writer->state == STATE_OPEN);
        hand_over(&step, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        CHECK(writer->state == STATE_OPEN);
        hand_over(&step, SINK_END_OF_INPUT);
        return;
    case SINK_EVENT_CLOSE:
        close_writer(&step);
        return;
    case SINK_EVENT_TIMER:
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_NONE:
    case SINK_EVENT_ANSWER:
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

static enum err init(void *state, const struct sink_env *env)
{
    struct staged_writer *writer = state;
    uint8_t message[MESSAGE_SIZE];
    struct byte_writer complaint;
    byte_writer_init(&complaint, message, sizeof(message));
    if (cloudtasks_options_check(env->options, CLOUDTASKS_OPTION_COUNT, &complaint) != ERR_OK) {
        return ERR_INVALID;
    }
    writer->allocator = env->allocator;
    writer->user = env->user;
    writer->config = cloudtasks_config_of(env->options, CLOUDTASKS_OPTION_COUNT);
    return ERR_OK;
}

static uint64_t digest_writer(const void *state)
{
    const struct staged_writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->staged_count);
    for (const struct sink_committable *staged = writer->staged; staged != NULL;
         staged = staged->next) {
        digest = digest_fold(digest_fold(digest, staged->token), digest_bytes(staged->data));
    }
    return digest;
}

static void fini(void *state)
{
    clear(state);
}

const struct sink_half cloudtasks_staged_writer_half = {
    .state_size = sizeof(struct staged_writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
