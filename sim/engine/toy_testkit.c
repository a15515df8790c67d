#include "sim/engine/toy_testkit.h"

#include "sinks/base/digest.h"
#include "sinks/effects.h"

#include <stdio.h>
#include <string.h>

/* --- port -------------------------------------------------------------------------------------- */

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_flat.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_check.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_build.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_size.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_clone.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_tables.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"

static const struct port_method *const put_methods[] = {
#include "sinks/port/as_methods.def"
#include "sim/engine/toy_testkit.def"
#include "sinks/port/as_end.def"
};
/* clang-format on */

const struct port_service toy_service = {.name = "toy", .methods = put_methods, .method_count = 1};

/* --- model ------------------------------------------------------------------------------------- */

static const struct choice_outcome fate_outcomes[] = {
    {"delivered", 40, FAULT_NONE, NULL},
    {"request_lost", 2, FAULT_REQUEST_LOST, "toy"},
    {"answer_lost", 2, FAULT_ANSWER_LOST, "toy"},
    {"applied_later", 2, FAULT_APPLIED_LATER, "toy"},
    {"refused", 2, FAULT_REFUSED, "toy"},
    {"ambiguous", 2, FAULT_AMBIGUOUS, "toy"},
    {"outage", 1, FAULT_OUTAGE, "toy"},
};

static const struct fate put_fates[] = {
    {.action = FATE_DELIVERED},
    {.action = FATE_REQUEST_LOST},
    {.action = FATE_ANSWER_LOST},
    {.action = FATE_APPLIED_LATER},
    {.action = FATE_REFUSED, .code = PORT_UNAVAILABLE},
    {.action = FATE_AMBIGUOUS, .code = PORT_UNAVAILABLE},
    {.action = FATE_REFUSED, .code = PORT_UNAVAILABLE, .burst = 5},
};

const struct choice_site toy_fate_site = {.key = 0x7f00,
                                          .outcome_count = ARRAY_COUNT(fate_outcomes),
                                          .name = "toy.put.fate",
                                          .outcomes = fate_outcomes,
                                          .sentence = "what befalls a Put"};

static const struct fate_menu fate_menus[] = {
    {.method = &toy_put_method, .site = &toy_fate_site, .fates = put_fates}};

struct toy_model {
    const struct model_env *env;
    uint32_t generations[TOY_RECORD_MAX + 1]; /* by resource */
    uint64_t digest;
};

static void model_init(void *state, const struct model_env *env)
{
    struct toy_model *model = state;
    model->env = env;
}

static void
model_handle(void *state, const struct model_request *request, struct model_replies *replies)
{
    struct toy_model *model = state;
    const struct toy_put *put = request->payload;
    uint32_t resource = world_resource(model->env->world, put->key);
    CHECK(resource <= TOY_RECORD_MAX);
    model->generations[resource]++;
    model->digest = digest_fold(model->digest, digest_bytes(put->value));
    model_note(model->env,
               &(struct model_effect){.kind = model->generations[resource] == 1 ? WORLD_CREATED
                                                                                : WORLD_REPLACED,
                                      .resource = resource,
                                      .generation = model->generations[resource],
                                      .value = put->value,
                                      .request_or_null = request});
    model_reply(replies, PORT_OK, NULL);
}

static void model_event(void *state, uint8_t what, uint64_t a, uint64_t b)
{
    (void)state;
    (void)what;
    (void)a;
    (void)b;
    UNREACHABLE();
}

static uint64_t model_digest(const void *state)
{
    return ((const struct toy_model *)state)->digest;
}

static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    (void)method;
    return digest_bytes(((const struct toy_put *)payload)->key);
}

static const struct model_type toy_model_type = {.name = "toy",
                                                 .sentence = "keeps what is put",
                                                 .service = &toy_service,
                                                 .sites = &toy_fate_site,
                                                 .site_count = 1,
                                                 .fates = fate_menus,
                                                 .fate_count = ARRAY_COUNT(fate_menus),
                                                 .state_size = sizeof(struct toy_model),
                                                 .init = model_init,
                                                 .handle = model_handle,
                                                 .event = model_event,
                                                 .identity = model_identity,
                                                 .digest = model_digest};

/* --- what all halves share --------------------------------------------------------------------- */

#define PUT_DEADLINE SECONDS(2)
#define RETRY_LEAST  MS(50)
#define RETRY_MOST   MS(100)

enum put_state {
    PUT_NEW = 0,
    PUT_SENT,
    PUT_PARKED,
};

/* One Put under way. */
struct put {
    struct put *next;
    uint64_t request;
    uint8_t state; /* enum put_state */
    uint8_t key[8];
    uint8_t value[16];
    struct toy_put message;
};

struct puts {
    const struct allocator *allocator;
    struct put *first;
    uint64_t requests;
    nanos retry_at;
};

static struct toy_behaviour *behaviour_of(const struct sink_env *env)
{
    return env->user->context;
}

static bool puts_add(struct puts *puts, struct bytes key, struct bytes value)
{
    struct put *put = allocator_take_zeroed(puts->allocator, sizeof(*put));
    if (put == NULL) {
        return false;
    }
    CHECK(key.size <= sizeof(put->key));
    CHECK(value.size <= sizeof(put->value));
    memcpy(put->key, key.data, key.size);
    memcpy(put->value, value.data, value.size);
    put->message = (struct toy_put){{put->key, key.size}, {put->value, value.size}};
    struct put **last = &puts->first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = put;
    return true;
}

static void puts_send(struct puts *puts, struct toy_behaviour *toy, struct sink_effects *effects)
{
    uint32_t sent = 0;
    for (struct put *put = puts->first; put != NULL; put = put->next) {
        if (put->state != PUT_NEW) {
            continue;
        }
        if (!effects_has_room(effects)) {
            break;
        }
        puts->requests++;
        sent++;
        put->request = puts->requests;
        put->state = PUT_SENT;
        effects_send(effects,
                     &(struct port_envelope){.request = put->request,
                                             .kind = PORT_CALL,
                                             .method = &toy_put_method,
                                             .deadline = PUT_DEADLINE,
                                             .payload = &put->message});
    }
    if (sent > toy->sends_in_step_max) {
        toy->sends_in_step_max = sent;
    }
}

#define LONE_REQUEST 1000000u /* and above: sent by a misdeed and not waited for */

static void puts_answer(struct puts *puts, const struct port_answer *answer, nanos now)
{
    for (struct put **at = &puts->first; *at != NULL; at = &(*at)->next) {
        struct put *put = *at;
        if (put->state != PUT_SENT || put->request != answer->request) {
            continue;
        }
        if (answer->outcome == PORT_OUTCOME_OK) {
            *at = put->next;
            allocator_give(puts->allocator, put, sizeof(*put));
        } else {
            put->state = PUT_PARKED;
            puts->retry_at = now + RETRY_LEAST;
        }
        return;
    }
    CHECK(answer->request >= LONE_REQUEST); /* an answer belongs to a request */
}

static void puts_unpark(struct puts *puts, nanos now)
{
    if (now < puts->retry_at) {
        return;
    }
    puts->retry_at = TIME_NEVER;
    for (struct put *put = puts->first; put != NULL; put = put->next) {
        put->state = put->state == PUT_PARKED ? PUT_NEW : put->state;
    }
}

static void puts_fini(struct puts *puts)
{
    while (puts->first != NULL) {
        struct put *next = puts->first->next;
        allocator_give(puts->allocator, puts->first, sizeof(*next));
        puts->first = next;
    }
}

static uint64_t puts_digest(const struct puts *puts)
{
    uint64_t digest = puts->requests;
    for (const struct put *put = puts->first; put != NULL; put = put->next) {
        digest = digest_fold(digest, put->request << 8 | put->state);
    }
    return digest;
}

static nanos least(nanos a, nanos b)
{
    return a < b ? a : b;
}

static void arm(nanos due, nanos retry_at, nanos now, struct sink_effects *effects)
{
    if (due == TIME_NEVER && retry_at == TIME_NEVER) {
        effects_simple(effects, SINK_EFFECT_TIMER_CLEAR);
    } else if (due <= retry_at) {
        effects_timer(effects, nanos_sub(due, now), nanos_sub(due, now));
    } else {
        nanos left = nanos_sub(retry_at, now);
        effects_timer(effects, left, left + (RETRY_MOST - RETRY_LEAST));
    }
}

static void fail(struct sink_effects *effects, enum sink_reason reason)
{
    effects_fail(effects, reason, NULL, BYTES_LITERAL("toy"));
}

static bool misdeed_is(struct toy_behaviour *toy, enum toy_misdeed misdeed)
{
    if (toy->misdeed != misdeed) {
        return false;
    }
    toy->misdeed = TOY_NO_MISDEED;
    return true;
}

/* --- writer ------------------------------------------------------------------------------------ */

struct piece {
    struct piece *next;
    uint8_t name[8];
};

struct writer {
    const struct sink_env *env;
    struct toy_behaviour *toy;
    struct puts puts;
    bool staged;
    bool stateful;
    bool barrier_open;
    bool flush_asked;
    bool flushed;
    uint32_t verdicts_open;
    uint64_t barrier;
    uint64_t failed_token;
    nanos open_at;
    nanos busy_until;
    nanos barrier_at;
    struct sink_committable *staged_first;
    struct piece *pieces;
    struct toy_put lone; /* payload of a send that must not be */
};

static enum err writer_init(struct writer *writer, const struct sink_env *env)
{
    writer->env = env;
    writer->toy = behaviour_of(env);
    if (env->attempt < ARRAY_COUNT(writer->toy->job_ids)) {
        writer->toy->job_ids[env->attempt] = digest_bytes(env->job_id);
        writer->toy->job_id_sizes[env->attempt] = (uint32_t)env->job_id.size;
    }
    writer->puts = (struct puts){.allocator = env->allocator, .retry_at = TIME_NEVER};
    writer->open_at = TIME_NEVER;
    writer->busy_until = TIME_NEVER;
    writer->barrier_at = TIME_NEVER;
    return ERR_OK;
}

static enum err eager_init(void *state, const struct sink_env *env)
{
    return writer_init(state, env);
}

static enum err stateful_init(void *state, const struct sink_env *env)
{
    ((struct writer *)state)->stateful = true;
    return writer_init(state, env);
}

static enum err staged_init(void *state, const struct sink_env *env)
{
    ((struct writer *)state)->staged = true;
    return writer_init(state, env);
}

static bool piece_add(struct writer *writer, const uint8_t name[8])
{
    struct piece *piece = allocator_take(writer->env->allocator, sizeof(*piece));
    if (piece == NULL) {
        return false;
    }
    *piece = (struct piece){.next = writer->pieces};
    memcpy(piece->name, name, sizeof(piece->name));
    writer->pieces = piece;
    return true;
}

static bool pieces_open(struct writer *writer, const struct sink_event *event)
{
    uint32_t given = event->u.open.piece_count;
    writer->toy->pieces_given[writer->env->subtask] = given;
    for (uint32_t i = 0; i < given; i++) {
        CHECK(event->u.open.pieces[i].data.size == 8);
        if (!piece_add(writer, event->u.open.pieces[i].data.data)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < writer->toy->pieces && !event->u.open.restored; i++) {
        uint8_t name[8] = {(uint8_t)(writer->env->subtask + 1), (uint8_t)(i + 1)};
        if (!piece_add(writer, name)) {
            return false;
        }
    }
    return true;
}

static void writer_open(struct writer *writer,
                        const struct sink_event *event,
                        nanos now,
                        struct sink_effects *effects)
{
    if (misdeed_is(writer->toy, TOY_FLUSHES_BEFORE_OPENED)) {
        effects_simple(effects, SINK_EFFECT_POLICY_FLUSH);
    }
    if (writer->toy->opens_fail > 0) {
        writer->toy->opens_fail--;
        fail(effects, SINK_REASON_CONFIG);
    } else if (writer->stateful && !pieces_open(writer, event)) {
        fail(effects, SINK_REASON_MEMORY);
    } else if (writer->toy->open_for > 0) {
        writer->open_at = now + writer->toy->open_for;
    } else {
        effects_simple(effects, SINK_EFFECT_OPENED);
    }
}

static bool stage(struct writer *writer, const struct sink_record *record)
{
    size_t size = sizeof(struct sink_committable) + record->key.size + record->value.size;
    uint8_t *block = allocator_take(writer->env->allocator, size);
    if (block == NULL) {
        return false;
    }
    struct sink_committable *item = (void *)block;
    uint8_t *key = block + sizeof(*item);
    memcpy(key, record->key.data, record->key.size);
    memcpy(key + record->key.size, record->value.data, record->value.size);
    *item = (struct sink_committable){
        .header = {.identity = {key, record->key.size}, .deadline = TIME_NEVER},
        .data = {key + record->key.size, record->value.size},
        .token = record->token,
        .block_size = size};
    struct sink_committable **last = &writer->staged_first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = item;
    return true;
}

static void send_lone(struct writer *writer, struct sink_effects *effects, uint64_t request)
{
    writer->lone = (struct toy_put){BYTES_LITERAL("lone"), BYTES_LITERAL("lone")};
    effects_send(effects,
                 &(struct port_envelope){.request = request,
                                         .kind = PORT_CALL,
                                         .method = &toy_put_method,
                                         .deadline = PUT_DEADLINE,
                                         .payload = &writer->lone});
}

/* Sends that no service could take. */
static void send_malformed(struct toy_behaviour *toy, struct sink_effects *effects)
{
    static const struct port_service foreign_service = {.name = "foreign"};
    static const struct port_method foreign = {
        .id = 1, .kind = PORT_UNARY, .name = "Put", .service = &foreign_service};
    static const struct toy_put put;
    struct port_envelope envelope = {.request = 1000001,
                                     .kind = PORT_CALL,
                                     .method = &toy_put_method,
                                     .deadline = PUT_DEADLINE,
                                     .payload = &put};
    if (misdeed_is(toy, TOY_SEND_WITHOUT_METHOD)) {
        envelope.method = NULL;
    } else if (misdeed_is(toy, TOY_SEND_OF_FOREIGN_METHOD)) {
        envelope.method = &foreign;
    } else if (misdeed_is(toy, TOY_SEND_WITHOUT_PAYLOAD)) {
        envelope.payload = NULL;
    } else if (misdeed_is(toy, TOY_SEND_OF_NO_KIND)) {
        envelope.kind = 77;
    } else {
        return;
    }
    effects_send(effects, &envelope);
}

static void misbehave_on_record(struct writer *writer, uint64_t token, struct sink_effects *effects)
{
    struct toy_behaviour *toy = writer->toy;
    if (misdeed_is(toy, TOY_BARRIER_ANSWER_WITHOUT_BARRIER)) {
        effects_barrier_done(effects, 7);
    } else if (misdeed_is(toy, TOY_UNKNOWN_TOKEN)) {
        effects_token(effects, SINK_EFFECT_ACCEPTED, token + 1);
    } else if (misdeed_is(toy, TOY_CANCEL_UNKNOWN)) {
        effects_cancel(effects, 99999, &toy_put_method);
    } else if (misdeed_is(toy, TOY_RETURN_WITHOUT_COMMIT)) {
        effects_simple(effects, SINK_EFFECT_COMMIT_RETURNED);
    } else if (misdeed_is(toy, TOY_OVERFLOW)) {
        for (uint32_t i = 0; i < 2 * SINK_EFFECTS_MAX; i++) {
            effects_metric(effects, 0, 1);
        }
    } else if (misdeed_is(toy, TOY_EFFECT_OF_NO_KIND)) {
        effects_add(effects, SINK_EFFECT_TAP)->kind = 200;
    } else if (misdeed_is(toy, TOY_SEND_BEYOND_ROOM)) {
        for (uint32_t i = 0; i < 33; i++) {
            send_lone(writer, effects, 2000000 + i);
        }
    } else if (misdeed_is(toy, TOY_REQUEST_ID_TWICE)) {
        send_lone(writer, effects, 1000000);
        send_lone(writer, effects, 1000000);
    } else if (misdeed_is(toy, TOY_LEAK)) {
        void *lost = allocator_take(writer->env->allocator, 40);
        (void)lost;
    } else if (misdeed_is(toy, TOY_STATE_OUTSIDE_BARRIER)) {
        effects_add(effects, SINK_EFFECT_STATE_PIECE)->u.piece = BYTES_LITERAL("piece");
    } else if (misdeed_is(toy, TOY_WRITER_SPEAKS_AS_POLICY)) {
        effects_token(effects, SINK_EFFECT_POLICY_DROPPED, token);
    } else if (writer->staged_first != NULL && misdeed_is(toy, TOY_COMMITTABLES_OUTSIDE_BARRIER)) {
        effects_add(effects, SINK_EFFECT_COMMITTABLES)->u.committables = writer->staged_first;
        writer->staged_first = NULL;
    } else {
        send_malformed(toy, effects);
    }
}

static void writer_record(struct writer *writer,
                          const struct sink_record *record,
                          nanos now,
                          struct sink_effects *effects)
{
    struct toy_behaviour *toy = writer->toy;
    misbehave_on_record(writer, record->token, effects);
    if ((record_id)record->token == toy->poison && toy->poison != 0) {
        writer->verdicts_open++;
        writer->failed_token = record->token;
        effects_record_failed(
            effects, record->token, SINK_REASON_SERIALIZER, record->value, (struct bytes){0});
        return;
    }
    bool done = true;
    uint32_t burst = toy->burst == 0 ? 1 : toy->burst;
    for (uint32_t i = 0; i < burst && done; i++) {
        done = writer->staged ? stage(writer, record)
                              : puts_add(&writer->puts, record->key, record->value);
    }
    if (!done) {
        fail(effects, SINK_REASON_MEMORY);
        return;
    }
    effects_token(effects, SINK_EFFECT_ACCEPTED, record->token);
    if (toy->busy_for > 0) {
        writer->busy_until = now + toy->busy_for;
        effects_simple(effects, SINK_EFFECT_BUSY);
    }
}

static void answer_barrier(struct writer *writer, struct sink_effects *effects)
{
    for (struct piece *piece = writer->pieces; piece != NULL; piece = piece->next) {
        effects_add(effects, SINK_EFFECT_STATE_PIECE)->u.piece =
            (struct bytes){piece->name, sizeof(piece->name)};
    }
    if (writer->staged_first != NULL) {
        effects_add(effects, SINK_EFFECT_COMMITTABLES)->u.committables = writer->staged_first;
        writer->staged_first = NULL;
    }
    writer->barrier_open = false;
    if (misdeed_is(writer->toy, TOY_WRONG_BARRIER_ANSWER)) {
        effects_barrier_done(effects, writer->barrier + 1);
    }
    effects_barrier_done(effects, writer->barrier);
    if (misdeed_is(writer->toy, TOY_TWO_BARRIER_ANSWERS)) {
        effects_barrier_done(effects, writer->barrier);
    }
}

static void writer_progress(struct writer *writer, nanos now, struct sink_effects *effects)
{
    puts_unpark(&writer->puts, now);
    puts_send(&writer->puts, writer->toy, effects);
    if (writer->barrier_open && writer->puts.first == NULL && writer->verdicts_open == 0 &&
        now >= writer->barrier_at && !writer->toy->never_answers_barrier) {
        writer->barrier_at = 0;
        if (!writer->flush_asked) {
            writer->flush_asked = true;
            effects_simple(effects, SINK_EFFECT_POLICY_FLUSH);
        } else if (writer->flushed) {
            answer_barrier(writer, effects);
        }
    }
    nanos barrier_at = writer->barrier_at > now ? writer->barrier_at : TIME_NEVER;
    arm(least(writer->open_at, least(writer->busy_until, barrier_at)),
        writer->puts.retry_at,
        now,
        effects);
}

static void writer_timer(struct writer *writer, nanos now, struct sink_effects *effects)
{
    if (now >= writer->open_at) {
        writer->open_at = TIME_NEVER;
        effects_simple(effects, SINK_EFFECT_OPENED);
    }
    if (now >= writer->busy_until) {
        writer->busy_until = TIME_NEVER;
        effects_simple(effects, SINK_EFFECT_READY);
    }
}

static void writer_verdict(struct writer *writer, uint64_t token, struct sink_effects *effects)
{
    if (writer->toy->misdeed == TOY_FAILS_DROPPED_RECORD_AGAIN) {
        effects_record_failed(
            effects, token, SINK_REASON_SERIALIZER, (struct bytes){0}, (struct bytes){0});
        return;
    }
    CHECK(token == writer->failed_token);
    CHECK(writer->verdicts_open == 1);
    writer->verdicts_open = 0;
    writer->toy->dropped++;
}

static void writer_close(struct writer *writer, struct sink_effects *effects)
{
    if (misdeed_is(writer->toy, TOY_SEND_AFTER_CLOSE)) {
        send_lone(writer, effects, 1000000);
    }
    if (!writer->toy->close_unanswered) {
        effects_simple(effects, SINK_EFFECT_CLOSED);
    }
    if (misdeed_is(writer->toy, TOY_SEND_AFTER_CLOSED)) {
        send_lone(writer, effects, 1000000);
    }
}

static bool barrier_is_slow(const struct writer *writer)
{
    uint64_t slow = writer->toy->barrier_slow;
    return slow == 0 ||
           (slow == writer->barrier && writer->env->subtask + 1 == writer->env->parallelism);
}

static void writer_step(void *state,
                        const struct sink_now *at,
                        const struct sink_event *event,
                        struct sink_effects *effects)
{
    struct writer *writer = state;
    nanos now = at->monotonic;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        writer_open(writer, event, now, effects);
        break;
    case SINK_EVENT_RECORD:
        writer_record(writer, &event->u.record, now, effects);
        break;
    case SINK_EVENT_ANSWER:
        puts_answer(&writer->puts, &event->u.answer, now);
        break;
    case SINK_EVENT_TIMER:
        writer_timer(writer, now, effects);
        break;
    case SINK_EVENT_MORE:
        writer->toy->more_heard++;
        break;
    case SINK_EVENT_BARRIER:
    case SINK_EVENT_END_OF_INPUT:
        CHECK(!writer->barrier_open);
        if (event->kind == SINK_EVENT_END_OF_INPUT) {
            writer->toy->end_goes_with = event->u.end.checkpoint;
        }
        writer->barrier_open = true;
        writer->barrier = event->u.checkpoint;
        writer->barrier_at = now + (barrier_is_slow(writer) ? writer->toy->barrier_for : 0);
        writer->flush_asked = false;
        writer->flushed = false;
        break;
    case SINK_EVENT_CHECKPOINT_COMPLETE:
        writer->toy->completes_heard++;
        break;
    case SINK_EVENT_CHECKPOINT_ABORTED:
        writer->toy->aborts_heard++;
        break;
    case SINK_EVENT_POLICY_DROPPED:
        writer_verdict(writer, event->u.policy.token, effects);
        break;
    case SINK_EVENT_POLICY_FLUSHED:
        writer->toy->flushed++;
        writer->flushed = true;
        break;
    case SINK_EVENT_POLICY_FAILED:
        fail(effects, SINK_REASON_POLICY);
        return;
    case SINK_EVENT_CLOSE:
        writer_close(writer, effects);
        return;
    case SINK_EVENT_NONE:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
    case SINK_EVENT_COMMIT:
    case SINK_EVENT_HANDLE:
    case SINK_EVENT_FLUSH:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_KIND_COUNT:
        UNREACHABLE();
    }
    writer_progress(writer, now, effects);
}

static uint64_t writer_digest(const void *state)
{
    const struct writer *writer = state;
    return digest_fold(puts_digest(&writer->puts), writer->barrier);
}

static void writer_fini(void *state)
{
    struct writer *writer = state;
    puts_fini(&writer->puts);
    while (writer->pieces != NULL) {
        struct piece *next = writer->pieces->next;
        allocator_give(writer->env->allocator, writer->pieces, sizeof(*next));
        writer->pieces = next;
    }
    while (writer->staged_first != NULL) {
        struct sink_committable *next = writer->staged_first->next;
        allocator_give(
            writer->env->allocator, writer->staged_first, writer->staged_first->block_size);
        writer->staged_first = next;
    }
}

/* --- committer --------------------------------------------------------------------------------- */

struct committer_half {
    const struct sink_env *env;
    struct toy_behaviour *toy;
    struct puts puts;
    bool running;
    bool waiting; /* has not begun to send */
    uint32_t count;
    const struct sink_commit_request *requests;
    nanos begin_at;
    nanos open_at;
};

static enum err committer_half_init(void *state, const struct sink_env *env)
{
    struct committer_half *half = state;
    half->env = env;
    half->toy = behaviour_of(env);
    half->puts = (struct puts){.allocator = env->allocator, .retry_at = TIME_NEVER};
    half->begin_at = TIME_NEVER;
    half->open_at = TIME_NEVER;
    return ERR_OK;
}

static void begin_commit(struct committer_half *half, struct sink_effects *effects)
{
    half->begin_at = TIME_NEVER;
    half->waiting = false;
    for (uint32_t i = 0; i < half->count; i++) {
        const struct sink_commit_request *request = &half->requests[i];
        if (!puts_add(&half->puts, request->header.identity, request->data)) {
            half->running = false;
            fail(effects, SINK_REASON_MEMORY);
            return;
        }
    }
}

static void end_commit(struct committer_half *half, struct sink_effects *effects)
{
    struct toy_behaviour *toy = half->toy;
    half->running = false;
    if (toy->commits_fail > 0) {
        toy->commits_fail--;
        fail(effects, SINK_REASON_SERVICE);
        return;
    }
    for (uint32_t i = 0; i < half->count && toy->signal_times > 0; i++) {
        toy->signal_times--;
        effects_signal(effects, i, (enum sink_signal)toy->signal);
    }
    if (misdeed_is(toy, TOY_SIGNAL_UNKNOWN)) {
        effects_signal(effects, half->count, SINK_SIGNAL_ALREADY_COMMITTED);
    }
    if (misdeed_is(toy, TOY_COMMITTER_FAILS_RECORD)) {
        effects_record_failed(effects,
                              UINT64_C(1) << 32 | 1,
                              SINK_REASON_SERIALIZER,
                              (struct bytes){0},
                              (struct bytes){0});
    }
    if (misdeed_is(toy, TOY_COMMITTER_FLUSHES_POLICY)) {
        effects_simple(effects, SINK_EFFECT_POLICY_FLUSH);
    }
    effects_simple(effects, SINK_EFFECT_COMMIT_RETURNED);
    if (misdeed_is(toy, TOY_RETURN_TWICE)) {
        effects_simple(effects, SINK_EFFECT_COMMIT_RETURNED);
    }
}

static void committer_progress(struct committer_half *half, nanos now, struct sink_effects *effects)
{
    if (half->running && half->waiting && now >= half->begin_at) {
        begin_commit(half, effects);
        if (!half->running) {
            return; /* it failed */
        }
    }
    puts_unpark(&half->puts, now);
    puts_send(&half->puts, half->toy, effects);
    if (half->running && !half->waiting && half->puts.first == NULL) {
        end_commit(half, effects);
    }
    arm(least(half->begin_at, half->open_at), half->puts.retry_at, now, effects);
}

static void committer_step(void *state,
                           const struct sink_now *at,
                           const struct sink_event *event,
                           struct sink_effects *effects)
{
    struct committer_half *half = state;
    nanos now = at->monotonic;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        if (half->toy->open_for > 0) {
            half->open_at = now + half->toy->open_for;
        } else {
            effects_simple(effects, SINK_EFFECT_OPENED);
        }
        break;
    case SINK_EVENT_COMMIT:
        CHECK(!half->running);
        half->running = true;
        half->waiting = true;
        half->requests = event->u.commit.requests;
        half->count = event->u.commit.count;
        half->begin_at = now + half->toy->commit_for;
        break;
    case SINK_EVENT_ANSWER:
        puts_answer(&half->puts, &event->u.answer, now);
        break;
    case SINK_EVENT_TIMER:
        if (now >= half->open_at) {
            half->open_at = TIME_NEVER;
            effects_simple(effects, SINK_EFFECT_OPENED);
        }
        break;
    case SINK_EVENT_MORE:
        half->toy->more_heard++;
        break;
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        break;
    case SINK_EVENT_CLOSE:
        effects_simple(effects, SINK_EFFECT_CLOSED);
        return;
    case SINK_EVENT_NONE:
    case SINK_EVENT_RECORD:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
    case SINK_EVENT_BARRIER:
    case SINK_EVENT_END_OF_INPUT:
    case SINK_EVENT_POLICY_DROPPED:
    case SINK_EVENT_POLICY_FLUSHED:
    case SINK_EVENT_POLICY_FAILED:
    case SINK_EVENT_HANDLE:
    case SINK_EVENT_FLUSH:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_KIND_COUNT:
        UNREACHABLE();
    }
    committer_progress(half, now, effects);
}

static uint64_t committer_digest(const void *state)
{
    const struct committer_half *half = state;
    return digest_fold(puts_digest(&half->puts), half->count);
}

static void committer_fini(void *state)
{
    puts_fini(&((struct committer_half *)state)->puts);
}

/* --- policy ------------------------------------------------------------------------------------ */

struct policy {
    struct toy_behaviour *toy;
    uint64_t token; /* to be dropped */
    bool flushing;
};

static enum err policy_init(void *state, const struct sink_env *env)
{
    ((struct policy *)state)->toy = behaviour_of(env);
    return ERR_OK;
}

static void policy_finish(struct policy *policy, struct sink_effects *effects)
{
    if (policy->token != 0) {
        effects_token(effects, SINK_EFFECT_POLICY_DROPPED, policy->token);
        policy->token = 0;
    }
    if (policy->flushing) {
        effects_simple(effects, SINK_EFFECT_POLICY_FLUSHED);
        policy->flushing = false;
    }
}

static void
policy_handle(struct policy *policy, const struct sink_event *event, struct sink_effects *effects)
{
    if (policy->toy->policy == TOY_POLICY_FAIL) {
        struct sink_effect *effect = effects_add(effects, SINK_EFFECT_POLICY_FAILED);
        effect->u.failed.token = event->u.handle.record.token;
        effect->u.failed.reason = SINK_REASON_POLICY;
    } else if (policy->toy->policy == TOY_POLICY_BREAKS) {
        fail(effects, SINK_REASON_SERVICE);
    } else {
        policy->token = event->u.handle.record.token;
    }
}

static void policy_step(void *state,
                        const struct sink_now *now,
                        const struct sink_event *event,
                        struct sink_effects *effects)
{
    (void)now;
    struct policy *policy = state;
    if (event->kind == SINK_EVENT_OPEN) {
        effects_simple(effects, SINK_EFFECT_OPENED);
    } else if (event->kind == SINK_EVENT_HANDLE) {
        policy_handle(policy, event, effects);
    } else if (event->kind == SINK_EVENT_FLUSH) {
        policy->flushing = true;
    } else if (event->kind == SINK_EVENT_CLOSE) {
        effects_simple(effects, SINK_EFFECT_CLOSED);
        return;
    }
    if (policy->toy->policy == TOY_POLICY_SLOW && event->kind != SINK_EVENT_TIMER) {
        effects_timer(effects, MS(5), MS(5));
    } else {
        policy_finish(policy, effects);
    }
}

static uint64_t policy_digest(const void *state)
{
    return ((const struct policy *)state)->token;
}

static void policy_fini(void *state)
{
    (void)state;
}

static const struct sink_half toy_policy_half = {.state_size = sizeof(struct policy),
                                                 .init = policy_init,
                                                 .step = policy_step,
                                                 .digest = policy_digest,
                                                 .fini = policy_fini};

/* --- the sinks --------------------------------------------------------------------------------- */

#define WRITER(start)                                                                              \
    {                                                                                              \
        .state_size = sizeof(struct writer), .init = (start), .step = writer_step,                 \
        .digest = writer_digest, .fini = writer_fini                                               \
    }
static const struct sink_half eager_writer = WRITER(eager_init);
static const struct sink_half stateful_writer = WRITER(stateful_init);
static const struct sink_half staged_writer = WRITER(staged_init);
static const struct sink_half staged_committer = {.state_size = sizeof(struct committer_half),
                                                  .init = committer_half_init,
                                                  .step = committer_step,
                                                  .digest = committer_digest,
                                                  .fini = committer_fini};

static const struct sink_type toy_sinks[] = {
    [TOY_EAGER] = {.name = "toy-eager",
                   .guarantee = SINK_AT_LEAST_ONCE,
                   .service = &toy_service,
                   .writer = &eager_writer},
    [TOY_STATEFUL] = {.name = "toy-stateful",
                      .guarantee = SINK_AT_LEAST_ONCE,
                      .service = &toy_service,
                      .writer = &stateful_writer},
    [TOY_STAGED] = {.name = "toy-staged",
                    .guarantee = SINK_EFFECTIVELY_ONCE,
                    .committer_kind = SINK_COMMITTER_PER_SUBTASK,
                    .service = &toy_service,
                    .writer = &staged_writer,
                    .committer_or_null = &staged_committer},
    [TOY_STAGED_GLOBAL] = {.name = "toy-staged-global",
                           .guarantee = SINK_EFFECTIVELY_ONCE,
                           .committer_kind = SINK_COMMITTER_GLOBAL,
                           .service = &toy_service,
                           .writer = &staged_writer,
                           .committer_or_null = &staged_committer},
};

/* --- the run ----------------------------------------------------------------------------------- */

#define RUN_MEMORY (((size_t)16 << 20) + RUN_HEADROOM)
static _Alignas(16) uint8_t run_memory[RUN_MEMORY];

static record_id
identify(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses)
{
    (void)digest;
    (void)guesses;
    const struct toy *toy = context;
    if (value.size != 16) {
        return 0;
    }
    struct byte_reader reader;
    byte_reader_init(&reader, value);
    uint64_t id = byte_reader_u64_le(&reader);
    bool known = id >= 1 && id <= toy->log.record_count &&
                 bytes_equal(toy->records[id - 1].record.value, value);
    return known ? (record_id)id : 0;
}

static void fill_log(struct toy *toy, uint32_t record_count, uint32_t split_count)
{
    CHECK(record_count <= TOY_RECORD_MAX);
    CHECK(split_count <= TOY_SPLIT_MAX);
    for (uint32_t split = 0; split <= split_count; split++) {
        toy->split_starts[split] = record_count * split / split_count;
    }
    for (uint32_t split = 0; split < split_count; split++) {
        for (uint32_t i = toy->split_starts[split]; i < toy->split_starts[split + 1]; i++) {
            struct byte_writer key;
            struct byte_writer value;
            byte_writer_init(&key, toy->keys[i], sizeof(toy->keys[i]));
            byte_writer_init(&value, toy->values[i], sizeof(toy->values[i]));
            byte_writer_u64_le(&key, UINT64_C(0x6b00000000) + i + 1);
            byte_writer_u64_le(&value, (uint64_t)i + 1);
            byte_writer_u64_le(&value, digest_mix((uint64_t)i + 1));
            toy->records[i] =
                (struct source_record){.record = {.key = byte_writer_view(&key),
                                                  .value = byte_writer_view(&value),
                                                  .split = split,
                                                  .position = i - toy->split_starts[split]}};
            toy->records[i].digest = digest_bytes(toy->records[i].record.value);
        }
    }
    toy->log = (struct source_log){.records = toy->records,
                                   .record_count = record_count,
                                   .split_starts = toy->split_starts,
                                   .split_count = split_count};
}

static void fill_registry(struct toy *toy)
{
    size_t count = 0;
    for (size_t i = 0; i < engine_site_count; i++) {
        toy->sites[count++] = &engine_sites[i];
    }
    for (size_t i = 0; i < link_site_count; i++) {
        toy->sites[count++] = &link_sites[i];
    }
    for (size_t i = 0; i < sched_site_count; i++) {
        toy->sites[count++] = &sched_sites[i];
    }
    toy->sites[count++] = &toy_fate_site;
    CHECK(count <= ARRAY_COUNT(toy->sites));
    toy->registry = (struct choice_registry){.sites = toy->sites, .site_count = count};
}

void toy_init(struct toy *toy, enum toy_sink sink, uint32_t record_count, uint32_t split_count)
{
    memset(toy, 0, sizeof(*toy));
    fill_log(toy, record_count, split_count);
    fill_registry(toy);
    toy->user = (struct sink_user){.context = &toy->behaviour};
    toy->config.job = (struct job_config){
        .sink = &toy_sinks[sink],
        .user = &toy->user,
        .policy = &toy_policy_half,
        .log = &toy->log,
        .sources = 1,
        .subtasks = 1,
        .chained = true,
        .record_interval = MS(10),
        .record_burst = 1,
        .bounded = true,
        .checkpointing = true,
        .checkpoint_interval = MS(100),
        .checkpoint_timeout = SECONDS(60),
        .restart_attempts = UINT32_MAX,
        .restart_delay = MS(100),
        .detection_delay = MS(10),
    };
    toy->config.services[0] = (struct run_service){.type = &toy_model_type};
    toy->config.service_count = 1;
    toy->config.safety_bound = MINUTES(60);
    toy->config.facts = (struct judge_facts){
        .staged = sink == TOY_STAGED || sink == TOY_STAGED_GLOBAL,
        .policy = SINK_POLICY_DROP,
        .keyed = true,
        .dead_letter_service = UINT32_MAX,
        .request_timeout = PUT_DEADLINE,
        .late_effect_max = PUT_DEADLINE + SECONDS(1),
        .liveness_bound = MINUTES(30),
        .fault_free_bound = MINUTES(30),
        .restarts_after_heal = 1,
    };
    toy->config.identify = identify;
    toy->config.identify_context = toy;
    toy->config.registry = &toy->registry;
    toy->config.faults.kinds = UINT32_MAX;
    toy->request.choice.mode = CHOICE_CALM;
}

void toy_allow_all(struct toy *toy)
{
    struct job_config *job = &toy->config.job;
    job->downtime[DOWNTIME_SHORT] = MS(200);
    job->downtime[DOWNTIME_REQUEST] = PUT_DEADLINE + MS(100);
    job->downtime[DOWNTIME_BEFORE_WINDOW] = MINUTES(4);
    job->downtime[DOWNTIME_AFTER_WINDOW] = MINUTES(6);
    job->downtime[DOWNTIME_AFTER_RELEASE] = MINUTES(20);
    job->zombies = true;
    job->older_restores = true;
    job->checkpoint_retained = 3;
    job->clock_offset_max = (int64_t)MINUTES(5);
    job->rescale_to[0] = 1;
    job->rescale_to[1] = 2;
    job->rescale_to[2] = 3;
    job->rescale_to[3] = 4;
}

const struct sink_type *toy_sink_type(enum toy_sink sink)
{
    return &toy_sinks[sink];
}

void toy_next_sink(struct toy *toy, enum toy_sink sink)
{
    toy->config.job.next_sink_or_null = &toy_sinks[sink];
    toy->config.facts.next_staged = toy_sinks[sink].committer_or_null != NULL;
}

const struct choice_site *toy_site(enum engine_site site)
{
    CHECK(site < ENGINE_SITE_COUNT);
    return &engine_sites[site];
}

struct toy_pin *toy_pin(struct toy *toy, struct toy_pin pin)
{
    CHECK(toy->pin_count < TOY_PIN_MAX);
    toy->pins[toy->pin_count] = pin;
    toy->pin_count++;
    toy->request.choice.mode = CHOICE_POLICY;
    return &toy->pins[toy->pin_count - 1];
}

static bool pin_is_due(const struct toy *toy, const struct toy_pin *pin)
{
    if (pin->after == JOURNAL_NONE) {
        return true;
    }
    uint32_t count = toy_count(
        toy, (struct journal_entry){.kind = pin->after, .checkpoint = pin->after_checkpoint});
    return count >= (pin->after_count == 0 ? 1 : pin->after_count);
}

static uint32_t policy_of_pins(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    (void)ordinal;
    struct toy *toy = context;
    for (uint32_t i = 0; i < toy->pin_count; i++) {
        struct toy_pin *pin = &toy->pins[i];
        if (pin->taken || pin->site != site || (pin->who != 0 && pin->who != who) ||
            !pin_is_due(toy, pin)) {
            continue;
        }
        pin->seen++;
        if (pin->seen <= pin->nth || (mask >> pin->value & 1) == 0) {
            continue;
        }
        pin->taken = true;
        return pin->value;
    }
    return 0;
}

void toy_run(struct toy *toy)
{
    struct toy_behaviour before = toy->behaviour;
    for (uint32_t i = 0; i < toy->pin_count; i++) {
        toy->pins[i].taken = false;
        toy->pins[i].seen = 0;
    }
    toy->request.choice.policy = policy_of_pins;
    toy->request.choice.policy_context = toy;
    toy->request.keep_trace = true;
    runner_init(&toy->runner, run_memory, sizeof(run_memory));
    runner_run(&toy->runner, &toy->config, &toy->request, &toy->result);
    /* What counts down starts anew with the next run; what was read stays. */
    toy->behaviour.misdeed = before.misdeed;
    toy->behaviour.signal_times = before.signal_times;
    toy->behaviour.commits_fail = before.commits_fail;
    toy->behaviour.opens_fail = before.opens_fail;
}

void toy_run_seed(struct toy *toy, uint64_t seed)
{
    toy->request.choice.mode = CHOICE_SEEDED;
    toy->request.choice.seed = seed;
    toy->request.choice.tape = NULL;
    toy_run(toy);
}

void toy_run_tape(struct toy *toy, const struct tape *tape)
{
    toy->request.choice.mode = CHOICE_REPLAY;
    toy->request.choice.tape = tape;
    toy_run(toy);
}

/* --- what happened ----------------------------------------------------------------------------- */

const struct journal *toy_journal(const struct toy *toy)
{
    return toy->runner.world->journal;
}

static bool agrees(const struct journal_entry *entry, const struct journal_entry *wanted)
{
    return entry->kind == wanted->kind && (wanted->code == 0 || entry->code == wanted->code) &&
           (wanted->lane == 0 || entry->lane == wanted->lane) &&
           (wanted->attempt == 0 || entry->attempt == wanted->attempt) &&
           (wanted->record == 0 || entry->record == wanted->record) &&
           (wanted->checkpoint == 0 || entry->checkpoint == wanted->checkpoint) &&
           (wanted->identity == 0 || entry->identity == wanted->identity) &&
           (wanted->request == 0 || entry->request == wanted->request);
}

uint32_t toy_find(const struct toy *toy, uint32_t from, struct journal_entry wanted)
{
    const struct journal *journal = toy_journal(toy);
    for (uint32_t i = from; i < journal->count; i++) {
        if (agrees(journal_at(journal, i), &wanted)) {
            return i;
        }
    }
    return journal->count;
}

bool toy_is_found(uint32_t position, const struct toy *toy)
{
    return position < toy_journal(toy)->count;
}

uint32_t toy_count(const struct toy *toy, struct journal_entry wanted)
{
    const struct journal *journal = toy_journal(toy);
    uint32_t count = 0;
    for (uint32_t i = 0; i < journal->count; i++) {
        count += agrees(journal_at(journal, i), &wanted) ? 1 : 0;
    }
    return count;
}

uint32_t toy_effects_of(const struct toy *toy, record_id record)
{
    return toy_count(toy, (struct journal_entry){.kind = WORLD_CREATED, .record = record}) +
           toy_count(toy, (struct journal_entry){.kind = WORLD_REPLACED, .record = record});
}

uint32_t toy_effects_least(const struct toy *toy)
{
    uint32_t found = UINT32_MAX;
    for (record_id record = 1; record <= toy->log.record_count; record++) {
        uint32_t count = toy_effects_of(toy, record);
        found = count < found ? count : found;
    }
    return found;
}

uint32_t toy_effects_most(const struct toy *toy)
{
    uint32_t found = 0;
    for (record_id record = 1; record <= toy->log.record_count; record++) {
        uint32_t count = toy_effects_of(toy, record);
        found = count > found ? count : found;
    }
    return found;
}

void toy_print(const struct toy *toy)
{
    const struct journal *journal = toy_journal(toy);
    for (uint32_t i = 0; i < journal->count; i++) {
        uint8_t text[300];
        struct byte_writer writer;
        byte_writer_init(&writer, text, sizeof(text));
        journal_describe(journal_at(journal, i), &writer);
        struct bytes view = byte_writer_view(&writer);
        printf("%4u %.*s\n", i, (int)view.size, (const char *)view.data);
    }
    printf("end %u verdict %u at %llu\n",
           toy->result.end,
           toy->result.verdict,
           (unsigned long long)toy->result.ended_at);
}
