#include "sinks/host_testkit.h"

#include "sinks/base/digest.h"

#include <stdlib.h>
#include <string.h>

#define MORE_MAX 10000

enum err host_init(struct host *host, const struct sink_half *half, const struct sink_env *env)
{
    const struct test_memory memory = host->memory;
    memset(host, 0, sizeof(*host));
    host->memory = memory;
    host->half = half;
    host->send_room = 64;
    host->allocator = test_allocator(&host->memory);
    host->now = (struct sink_now){
        .monotonic = SECONDS(1000), .wall = SECONDS(1700000000), .nonce = UINT64_C(0x1234)};
    host->state = calloc(1, half->state_size);
    host->sends = calloc(HOST_SENDS_MAX, sizeof(struct host_send));
    host->items = calloc(HOST_EFFECTS_MAX, sizeof(struct sink_effect));
    assert_non_null(host->items);
    assert_non_null(host->state);
    assert_non_null(host->sends);
    struct sink_env own = *env;
    own.allocator = &host->allocator;
    return half->init(host->state, &own);
}

static void give_committables(struct host *host)
{
    while (host->committables != NULL) {
        struct sink_committable *next = host->committables->next;
        allocator_give(&host->allocator, host->committables, host->committables->block_size);
        host->committables = next;
    }
}

void host_fini(struct host *host)
{
    host->half->fini(host->state);
    give_committables(host);
    assert_int_equal(host->memory.live, 0);
    for (uint32_t i = 0; i < host->send_count; i++) {
        free(host->sends[i].bytes);
    }
    free(host->items);
    free(host->sends);
    free(host->state);
}

static void keep_send(struct host *host, const struct port_envelope *envelope)
{
    assert_false(host->closed);
    if (envelope->kind == PORT_CANCEL) {
        host->cancel_count++;
        bool found = false;
        for (uint32_t i = 0; i < host->send_count; i++) {
            if (host->sends[i].number == envelope->request) {
                assert_false(host->sends[i].done);
                host->sends[i].done = true;
                found = true;
            }
        }
        assert_true(found);
        return;
    }
    assert_false(host->failed);
    assert_in_range(envelope->kind, PORT_CALL, PORT_STREAM_SEND);
    assert_int_equal(envelope->stream != 0, envelope->kind != PORT_CALL);
    assert_true(host->send_count < HOST_SENDS_MAX);
    const struct port_message *message = envelope->method->request;
    struct host_send *send = &host->sends[host->send_count];
    *send = (struct host_send){.number = envelope->request,
                               .stream = envelope->stream,
                               .kind = envelope->kind,
                               .method = envelope->method,
                               .deadline = envelope->deadline,
                               .deadline_is_absolute = envelope->deadline_is_absolute,
                               .digest = port_digest(message, envelope->payload),
                               .size = port_encoded_size(message, envelope->payload)};
    for (uint32_t i = 0; i < host->send_count; i++) {
        assert_int_not_equal(host->sends[i].number, send->number);
    }
    host->send_count++;
    send->bytes = malloc(send->size + 1);
    assert_non_null(send->bytes);
    struct byte_writer writer;
    byte_writer_init(&writer, send->bytes, send->size);
    port_encode(message, envelope->payload, &writer);
    assert_int_equal(writer.size, send->size);
}

static void keep_failure(struct host *host, const struct sink_effect *effect)
{
    assert_false(host->failed);
    const struct bytes message = effect->u.fail.message;
    host->failed = true;
    host->fail_reason = effect->u.fail.reason;
    assert_true(message.size > 0);
    assert_true(message.size < sizeof(host->fail_message));
    memcpy(host->fail_message, message.data, message.size);
    host->fail_message[message.size] = '\0';
}

static void keep(struct host *host, const struct sink_effect *effect)
{
    assert_false(host->closed);
    host->counts[effect->kind]++;
    switch ((enum sink_effect_kind)effect->kind) {
    case SINK_EFFECT_SEND:
        keep_send(host, &effect->u.send);
        break;
    case SINK_EFFECT_TIMER:
        assert_true(effect->u.timer.min <= effect->u.timer.max);
        host->timer_set = true;
        host->timer_min = nanos_add(host->now.monotonic, effect->u.timer.min);
        host->timer_max = nanos_add(host->now.monotonic, effect->u.timer.max);
        break;
    case SINK_EFFECT_TIMER_CLEAR:
        assert_true(host->timer_set);
        host->timer_set = false;
        break;
    case SINK_EFFECT_BUSY:
        assert_false(host->busy);
        host->busy = true;
        break;
    case SINK_EFFECT_READY:
        assert_true(host->busy);
        host->busy = false;
        break;
    case SINK_EFFECT_COMMITTABLES:
        give_committables(host);
        host->committables = effect->u.committables;
        break;
    case SINK_EFFECT_FAIL:
        keep_failure(host, effect);
        break;
    case SINK_EFFECT_CLOSED:
        host->closed = true;
        break;
    case SINK_EFFECT_RECORD_FAILED:
        (void)digest_bytes(effect->u.failed.payload);
        (void)digest_bytes(effect->u.failed.destination);
        break;
    case SINK_EFFECT_TAP:
        assert_true(effect->u.tap.index < 64);
        if (effect->u.tap.what == SINK_TAP_METRIC) {
            host->metrics[effect->u.tap.index] += effect->u.tap.value;
        } else {
            host->phases[effect->u.tap.index]++;
        }
        break;
    case SINK_EFFECT_NONE:
    case SINK_EFFECT_KIND_COUNT:
        fail();
        break;
    case SINK_EFFECT_OPENED:
    case SINK_EFFECT_ACCEPTED:
    case SINK_EFFECT_SKIPPED:
    case SINK_EFFECT_POLICY_FLUSH:
    case SINK_EFFECT_POLICY_DROPPED:
    case SINK_EFFECT_POLICY_FAILED:
    case SINK_EFFECT_POLICY_FLUSHED:
    case SINK_EFFECT_STATE_PIECE:
    case SINK_EFFECT_BARRIER_DONE:
    case SINK_EFFECT_SIGNAL:
    case SINK_EFFECT_COMMIT_RETURNED:
    case SINK_EFFECT_SETTLE:
        break;
    }
}

void host_step(struct host *host, const struct sink_event *event)
{
    host->effects = (struct sink_effects){
        .items = host->items, .capacity = HOST_EFFECTS_MAX, .send_room = host->send_room};
    host->now.nonce = digest_mix(host->now.nonce);
    host->half->step(host->state, &host->now, event, &host->effects);
    assert_false(host->effects.overflowed);
    for (uint32_t i = 0; i < host->effects.count; i++) {
        keep(host, &host->items[i]);
    }
    (void)host->half->digest(host->state);
}

void host_simple(struct host *host, enum sink_event_kind kind)
{
    const struct sink_event event = {.kind = (uint8_t)kind};
    host_step(host, &event);
}

void host_open(struct host *host)
{
    host_simple(host, SINK_EVENT_OPEN);
}

void host_record(struct host *host, uint64_t token, const char *key, const char *value)
{
    assert_false(host->busy);
    const struct sink_event event = {
        .kind = SINK_EVENT_RECORD,
        .u.record = {.token = token, .key = bytes_of_text(key), .value = bytes_of_text(value)}};
    host_step(host, &event);
}

void host_barrier(struct host *host, uint64_t checkpoint)
{
    assert_false(host->busy);
    const struct sink_event event = {.kind = SINK_EVENT_BARRIER, .u.checkpoint = checkpoint};
    host_step(host, &event);
}

void host_commit(struct host *host, const struct sink_commit_request *requests, uint32_t count)
{
    const struct sink_event event = {.kind = SINK_EVENT_COMMIT, .u.commit = {requests, count}};
    host_step(host, &event);
}

void host_policy(struct host *host, enum sink_event_kind kind, uint64_t token)
{
    const struct sink_event event = {.kind = (uint8_t)kind,
                                     .u.policy = {.token = token, .reason = SINK_REASON_REJECTED}};
    host_step(host, &event);
}

static void answer(struct host *host, uint32_t send, const struct port_answer *answer)
{
    assert_true(send < host->send_count);
    struct sink_event event = {.kind = SINK_EVENT_ANSWER, .u.answer = *answer};
    event.u.answer.request = host->sends[send].number;
    event.u.answer.kind = PORT_ANSWER;
    event.u.answer.method = host->sends[send].method;
    event.u.answer.received = host->now.monotonic;
    host->sends[send].done = true;
    host_step(host, &event);
}

void host_answer_ok(struct host *host, uint32_t send, const void *payload_or_null)
{
    const struct port_answer ok = {.outcome = PORT_OUTCOME_OK, .payload = payload_or_null};
    answer(host, send, &ok);
}

void host_answer_status(struct host *host, uint32_t send, struct port_status status)
{
    const struct port_answer error = {.outcome = PORT_OUTCOME_UNKNOWN, .status = status};
    answer(host, send, &error);
}

void host_answer_code(struct host *host, uint32_t send, enum port_code code)
{
    host_answer_status(host, send, port_status_grpc(code));
}

void host_answer_stream(struct host *host, uint32_t send, const struct port_answer *heard)
{
    assert_true(send < host->send_count);
    struct sink_event event = {.kind = SINK_EVENT_STREAM_MESSAGE, .u.answer = *heard};
    event.u.answer.request = host->sends[send].number;
    event.u.answer.stream = host->sends[send].stream;
    event.u.answer.kind = PORT_STREAM_MESSAGE;
    event.u.answer.method = host->sends[send].method;
    event.u.answer.received = host->now.monotonic;
    host_step(host, &event);
}

void host_end_stream(struct host *host, uint32_t send, enum port_code code)
{
    assert_true(send < host->send_count);
    struct sink_event event = {.kind = SINK_EVENT_STREAM_END};
    event.u.answer = (struct port_answer){
        .stream = host->sends[send].stream,
        .kind = PORT_STREAM_END,
        .outcome = code == PORT_OK ? PORT_OUTCOME_OK : PORT_OUTCOME_UNKNOWN,
        .method = host->sends[send].method,
        .status = port_status_grpc(code),
        .received = host->now.monotonic,
    };
    host_step(host, &event);
}

static void fire_at(struct host *host, nanos when)
{
    assert_true(host->timer_set);
    assert_true(when >= host->now.monotonic);
    const nanos passed = when - host->now.monotonic;
    host->now.monotonic += passed;
    host->now.wall += passed;
    host->timer_set = false;
    host_simple(host, SINK_EVENT_TIMER);
}

void host_fire(struct host *host)
{
    fire_at(host, host->timer_max);
}

void host_fire_early(struct host *host)
{
    fire_at(host, host->timer_min > host->now.monotonic ? host->timer_min : host->now.monotonic);
}

void host_more(struct host *host)
{
    for (uint32_t i = 0; host->effects.more && !host->closed; i++) {
        assert_true(i < MORE_MAX);
        host_simple(host, SINK_EVENT_MORE);
    }
}

uint32_t host_count(const struct host *host, enum sink_effect_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->effects.count; i++) {
        count += host->items[i].kind == kind;
    }
    return count;
}

const struct sink_effect *
host_effect(const struct host *host, enum sink_effect_kind kind, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->effects.count; i++) {
        if (host->items[i].kind == kind) {
            if (count == n) {
                return &host->items[i];
            }
            count++;
        }
    }
    fail_msg("no effect %u of kind %d", n, (int)kind);
    return NULL;
}

void host_assert_failed(const struct host *host, enum sink_reason reason, const char *part)
{
    assert_true(host->failed);
    assert_int_equal(host->fail_reason, reason);
    if (strstr(host->fail_message, part) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", host->fail_message, part);
    }
}

struct sink_commit_request host_keep(const struct sink_committable *committable)
{
    uint8_t *data = malloc(committable->data.size);
    assert_non_null(data);
    memcpy(data, committable->data.data, committable->data.size);
    const size_t offset = (size_t)(committable->header.identity.data - committable->data.data);
    return (struct sink_commit_request){
        .header = {.identity = {data + offset, committable->header.identity.size},
                   .origin = committable->header.origin,
                   .deadline = committable->header.deadline},
        .data = {data, committable->data.size}};
}

void host_forget(struct sink_commit_request *request)
{
    /* Its bytes came from malloc; the contract shows them as const. */
    uintptr_t address = (uintptr_t)request->data.data;
    free((void *)address);
    *request = (struct sink_commit_request){0};
}
