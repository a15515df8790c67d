/* The writer of generic-staged: a record becomes an envelope, and all of them leave at the barrier.
 *
 * State \ event  OPEN  RECORD        BARRIER, END_OF_INPUT  CLOSE
 * NEW            OPEN  !             !                      CLOSED
 * OPEN           !     OPEN, FAILED  OPEN                   CLOSED
 * FAILED         !     -             -                      CLOSED
 *
 * "!" is what the host never does; it sends nothing, so no answer comes. Notices change nothing. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"
#include "sinks/generic/staged.h"

#include <string.h>

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_FAILED,
};

struct writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    uint8_t state; /* enum state */
    uint32_t staged_count;
    struct sink_committable *staged; /* in order of their records */
    struct sink_committable *last;   /* of staged; NULL when it is empty */
};

static void fail(struct writer *writer,
                 struct sink_effects *effects,
                 enum sink_reason reason,
                 const char *message)
{
    writer->state = STATE_FAILED;
    effects_fail(effects, reason, NULL, bytes_of_text(message));
}

static void put_u64(uint8_t *place, uint64_t value)
{
    for (uint32_t i = 0; i < 8; i++) {
        place[i] = (uint8_t)(value >> (56 - 8 * i));
    }
}

static void put_u32(uint8_t *place, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        place[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

/* The node and the envelope behind it are one block. */
static struct sink_committable *
make_envelope(const struct allocator *allocator, struct bytes put, uint64_t nonce)
{
    const size_t data_size = GENERIC_ENVELOPE_HEADER_SIZE + put.size;
    const size_t size = sizeof(struct sink_committable) + data_size;
    struct sink_committable *staged = allocator_take(allocator, size);
    if (staged == NULL) {
        return NULL;
    }
    uint8_t *data = (uint8_t *)staged + sizeof(*staged);
    data[0] = GENERIC_ENVELOPE_VERSION;
    put_u64(data + 1, nonce);
    put_u32(data + 9, digest_checksum(put));
    if (put.size > 0) {
        memcpy(data + GENERIC_ENVELOPE_HEADER_SIZE, put.data, put.size);
    }
    *staged = (struct sink_committable){
        .header = {.identity = {data + 1, 8}, .deadline = TIME_NEVER},
        .data = {data, data_size},
        .block_size = size,
    };
    return staged;
}

static void stage(struct writer *writer,
                  const struct sink_now *now,
                  const struct sink_record *record,
                  struct sink_effects *effects)
{
    struct bytes put = {0};
    size_t view_size = 0;
    const enum sink_user_result result =
        writer->user->serialize(writer->user->context, record, (struct bytes){0}, &put);
    if (result == SINK_USER_NONE) {
        effects_token(effects, SINK_EFFECT_SKIPPED, record->token);
        return;
    }
    if (result == SINK_USER_FAILED) {
        fail(writer, effects, SINK_REASON_SERIALIZER, "the serializer failed");
        return;
    }
    if (port_view_size(&generic_put_request_message, put, &view_size) != ERR_OK) {
        fail(writer, effects, SINK_REASON_SERIALIZER, "the serializer gave bytes that are no Put");
        return;
    }
    struct sink_committable *staged = make_envelope(writer->allocator, put, now->nonce);
    if (staged == NULL) {
        fail(writer, effects, SINK_REASON_MEMORY, "no memory to stage a Put");
        return;
    }
    staged->header.origin = now->wall;
    staged->token = record->token;
    if (writer->last == NULL) {
        writer->staged = staged;
    } else {
        writer->last->next = staged;
    }
    writer->last = staged;
    writer->staged_count++;
    effects_token(effects, SINK_EFFECT_ACCEPTED, record->token);
}

static void hand_over(struct writer *writer, struct sink_effects *effects, uint64_t checkpoint)
{
    if (writer->staged != NULL) {
        effects_add(effects, SINK_EFFECT_COMMITTABLES)->u.committables = writer->staged;
    }
    writer->staged = NULL;
    writer->last = NULL;
    writer->staged_count = 0;
    effects_barrier_done(effects, checkpoint);
}

static void fini(void *state)
{
    struct writer *writer = state;
    while (writer->staged != NULL) {
        struct sink_committable *next = writer->staged->next;
        allocator_give(writer->allocator, writer->staged, writer->staged->block_size);
        writer->staged = next;
    }
    writer->last = NULL;
    writer->staged_count = 0;
}

static void step(void *state,
                 const struct sink_now *now,
                 const struct sink_event *event,
                 struct sink_effects *effects)
{
    struct writer *writer = state;
    if (event->kind == SINK_EVENT_CLOSE) {
        fini(writer);
        effects_simple(effects, SINK_EFFECT_CLOSED);
    } else if (writer->state == STATE_FAILED) {
        return;
    } else if (event->kind == SINK_EVENT_OPEN) {
        CHECK(writer->state == STATE_NEW);
        if (event->u.open.piece_count > 0) {
            fail(writer, effects, SINK_REASON_STATE, "writer state was restored; there is none");
            return;
        }
        writer->state = STATE_OPEN;
        effects_simple(effects, SINK_EFFECT_OPENED);
    } else if (event->kind == SINK_EVENT_RECORD) {
        CHECK(writer->state == STATE_OPEN);
        stage(writer, now, &event->u.record, effects);
    } else if (event->kind == SINK_EVENT_BARRIER) {
        hand_over(writer, effects, event->u.checkpoint);
    } else if (event->kind == SINK_EVENT_END_OF_INPUT) {
        hand_over(writer, effects, SINK_END_OF_INPUT);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct writer *writer = state;
    writer->allocator = env->allocator;
    writer->user = env->user;
    return ERR_OK;
}

static uint64_t digest(const void *state)
{
    const struct writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->staged_count);
    for (const struct sink_committable *staged = writer->staged; staged != NULL;
         staged = staged->next) {
        digest = digest_fold(digest_fold(digest, staged->token), digest_bytes(staged->data));
    }
    return digest;
}

const struct sink_half generic_staged_writer_half = {
    .state_size = sizeof(struct writer),
    .init = init,
    .step = step,
    .digest = digest,
    .fini = fini,
};
