#include "scenarios/fuzz/half_host.h"

#include "sinks/base/digest.h"

#include <stdlib.h>

#define MORE_MAX 1000u

/* --- memory ----------------------------------------------------------------------------------- */

static void *allocate(void *context, size_t size)
{
    struct half_host *host = context;
    CHECK(size > 0);
    host->allocations++;
    if (host->allocations == host->allocation_fails_at) {
        return NULL;
    }
    host->live += size;
    void *memory = malloc(size);
    CHECK(memory != NULL);
    return memory;
}

static void release(void *context, void *memory, size_t size)
{
    struct half_host *host = context;
    CHECK(size <= host->live);
    host->live -= size;
    free(memory);
}

bool half_host_init(struct half_host *host, const struct sink_env *env)
{
    host->allocator = (struct allocator){host, allocate, release};
    host->env = *env;
    host->env.allocator = &host->allocator;
    host->now = (struct sink_now){.monotonic = SECONDS(1000), .wall = SECONDS(1700000000)};
    host->state = calloc(1, host->half->state_size);
    CHECK(host->state != NULL);
    const enum err err = host->half->init(host->state, &host->env);
    if (err != ERR_OK) {
        CHECK(err == ERR_LIMIT);
        CHECK(host->allocation_fails_at != 0);
        CHECK(host->allocations >= host->allocation_fails_at);
        CHECK(host->live == 0);
        free(host->state);
        return false;
    }
    return true;
}

void half_host_fini(struct half_host *host)
{
    host->half->fini(host->state);
    CHECK(host->live == 0);
    free(host->state);
}

/* --- what a step did --------------------------------------------------------------------------- */

/* Read what an effect points to, as a host may. */
static void touch(struct bytes bytes)
{
    (void)digest_bytes(bytes);
}

/* Those that stay keep their order: a stream's are answered in theirs. */
bool half_host_forget(struct half_host *host, uint64_t request)
{
    struct call found = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < host->call_count && found.request == 0; i++) {
        found = host->calls[i].request == request ? host->calls[i] : found;
    }
    for (uint32_t i = 0; i < host->call_count; i++) {
        const struct call call = host->calls[i];
        const bool goes = call.request == request || (found.opens && call.stream == found.stream);
        if (!goes) {
            host->calls[kept++] = call;
        }
    }
    host->call_count = kept;
    return found.request != 0;
}

static bool is_open(const struct half_host *host, uint64_t stream)
{
    for (uint32_t i = 0; i < host->call_count; i++) {
        if (host->calls[i].opens && host->calls[i].stream == stream) {
            return true;
        }
    }
    return false;
}

static void take_send(struct half_host *host, const struct port_envelope *envelope)
{
    if (envelope->kind == PORT_CANCEL) {
        CHECK(half_host_forget(host, envelope->request));
        return;
    }
    const bool opens = envelope->kind == PORT_OPEN;
    CHECK(envelope->kind == PORT_CALL || opens || envelope->kind == PORT_STREAM_SEND);
    CHECK((envelope->kind == PORT_CALL) == (envelope->stream == 0));
    CHECK(envelope->kind == PORT_CALL || is_open(host, envelope->stream) != opens);
    CHECK(!host->failed);
    CHECK(envelope->request > host->last_request);
    CHECK(host->call_count < HALF_CALLS_MAX);
    (void)port_digest(envelope->method->request, envelope->payload);
    host->last_request = envelope->request;
    host->calls[host->call_count++] =
        (struct call){envelope->request, envelope->method, envelope->stream, opens};
}

static void take_committables(struct half_host *host, struct sink_committable *list)
{
    CHECK(list != NULL);
    while (list != NULL) {
        struct sink_committable *next = list->next;
        struct bytes identity;
        touch(list->header.identity);
        CHECK(host->read_committable(list->data, &identity));
        CHECK(host->fits_identity == NULL ? bytes_equal(identity, list->header.identity)
                                          : host->fits_identity(list->data, list->header.identity));
        allocator_give(&host->allocator, list, list->block_size);
        list = next;
    }
}

static void take_routed(struct half_host *host, const struct sink_effect *effect)
{
    CHECK(host->routed_count < HALF_ROUTED_MAX);
    CHECK(effect->u.failed.token > 0);
    CHECK(effect->u.failed.token <= host->last_token);
    touch(effect->u.failed.payload);
    touch(effect->u.failed.destination);
    if (effect->u.failed.token == host->token) {
        host->token = 0;
    }
    host->routed[host->routed_count++] = effect->u.failed.token;
}

static void take_failure(struct half_host *host, const struct sink_effect *effect)
{
    CHECK(!host->failed);
    CHECK(effect->u.fail.reason > SINK_REASON_NONE);
    CHECK(effect->u.fail.reason < SINK_REASON_COUNT);
    CHECK(effect->u.fail.message.size > 0);
    CHECK(bytes_is_utf8(effect->u.fail.message));
    host->failed = true;
    host->reason = effect->u.fail.reason;
}

static void take_signal(struct half_host *host, const struct sink_effect *effect)
{
    const uint32_t bit = UINT32_C(1) << effect->u.signal.request;
    CHECK(host->committing);
    CHECK(effect->u.signal.request < host->commit_count);
    CHECK(effect->u.signal.how >= SINK_SIGNAL_ALREADY_COMMITTED);
    CHECK(effect->u.signal.how <= SINK_SIGNAL_FAILED_KNOWN);
    CHECK((host->signalled & bit) == 0);
    host->signalled |= bit;
}

static void take_timer(struct half_host *host, const struct sink_effect *effect)
{
    CHECK(effect->u.timer.min <= effect->u.timer.max);
    host->timer_set = true;
    host->timer_at = nanos_add(host->now.monotonic, effect->u.timer.max);
}

static bool forget_routed(struct half_host *host, uint64_t token)
{
    for (uint32_t i = 0; i < host->routed_count; i++) {
        if (host->routed[i] == token) {
            host->routed[i] = host->routed[--host->routed_count];
            return true;
        }
    }
    return false;
}

/* A policy judges each record once, or fails as a whole, and has stored all that it was given when it
 * says that it has flushed. */
static void take_verdict(struct half_host *host, const struct sink_effect *effect)
{
    CHECK(host->is_policy);
    CHECK(host->opened);
    if (effect->kind == SINK_EFFECT_POLICY_DROPPED) {
        CHECK(forget_routed(host, effect->u.token));
    } else if (effect->kind == SINK_EFFECT_POLICY_FAILED) {
        CHECK(effect->u.failed.reason > SINK_REASON_NONE);
        CHECK(effect->u.failed.reason < SINK_REASON_COUNT);
        CHECK(effect->u.failed.token == 0 || forget_routed(host, effect->u.failed.token));
    } else {
        CHECK(host->flushing);
        CHECK(host->call_count == 0);
        CHECK(host->routed_count == 0);
        host->flushing = false;
    }
}

static void take_effect(struct half_host *host, const struct sink_effect *effect)
{
    CHECK(!host->closed);
    switch ((enum sink_effect_kind)effect->kind) {
    case SINK_EFFECT_OPENED:
        CHECK(!host->opened);
        host->opened = true;
        return;
    case SINK_EFFECT_SEND:
        take_send(host, &effect->u.send);
        return;
    case SINK_EFFECT_TIMER:
        take_timer(host, effect);
        return;
    case SINK_EFFECT_TIMER_CLEAR:
        host->timer_set = false;
        return;
    case SINK_EFFECT_BUSY:
        CHECK(!host->busy);
        host->busy = true;
        return;
    case SINK_EFFECT_READY:
        CHECK(host->busy);
        host->busy = false;
        return;
    case SINK_EFFECT_ACCEPTED:
    case SINK_EFFECT_SKIPPED:
        CHECK(host->token != 0);
        CHECK(effect->u.token == host->token);
        host->token = 0;
        return;
    case SINK_EFFECT_RECORD_FAILED:
        take_routed(host, effect);
        return;
    case SINK_EFFECT_POLICY_FLUSH:
        CHECK(host->barrier != 0);
        host->flushing = true;
        return;
    case SINK_EFFECT_COMMITTABLES:
        CHECK(host->barrier != 0);
        take_committables(host, effect->u.committables);
        return;
    case SINK_EFFECT_BARRIER_DONE:
        CHECK(host->barrier != 0);
        CHECK(effect->u.checkpoint == host->barrier);
        host->barrier = 0;
        return;
    case SINK_EFFECT_SIGNAL:
        take_signal(host, effect);
        return;
    case SINK_EFFECT_COMMIT_RETURNED:
        CHECK(host->committing);
        host->committing = false;
        return;
    case SINK_EFFECT_CLOSED:
        host->closed = true;
        return;
    case SINK_EFFECT_FAIL:
        take_failure(host, effect);
        return;
    case SINK_EFFECT_TAP:
        return;
    case SINK_EFFECT_POLICY_DROPPED:
    case SINK_EFFECT_POLICY_FAILED:
    case SINK_EFFECT_POLICY_FLUSHED:
        take_verdict(host, effect);
        return;
    case SINK_EFFECT_STATE_PIECE:
        CHECK(host->barrier != 0);
        CHECK(host->read_piece != NULL);
        CHECK(host->read_piece(effect->u.piece));
        return;
    case SINK_EFFECT_NONE:
    case SINK_EFFECT_SETTLE:
    case SINK_EFFECT_KIND_COUNT:
        break;
    }
    UNREACHABLE(); /* none of these halves has such an effect */
}

void half_host_step(struct half_host *host, const struct sink_event *event)
{
    host->effects =
        (struct sink_effects){.items = host->items, .capacity = SINK_EFFECTS_MAX, .send_room = 2};
    host->now.nonce = digest_mix(host->now.nonce + 1);
    host->half->step(host->state, &host->now, event, &host->effects);
    CHECK(!host->effects.overflowed);
    for (uint32_t i = 0; i < host->effects.count; i++) {
        take_effect(host, &host->items[i]);
    }
    (void)host->half->digest(host->state);
}

void half_host_simple(struct half_host *host, enum sink_event_kind kind)
{
    const struct sink_event event = {.kind = (uint8_t)kind};
    half_host_step(host, &event);
}

/* --- driving ---------------------------------------------------------------------------------- */

bool half_host_is_idle(const struct half_host *host)
{
    return host->opened && !host->busy && !host->committing && host->token == 0 &&
           host->barrier == 0;
}

void half_host_pass(struct half_host *host, nanos time)
{
    host->now.monotonic = nanos_add(host->now.monotonic, time);
    host->now.wall = nanos_add(host->now.wall, time);
}

void half_host_fire(struct half_host *host)
{
    if (host->timer_set && host->timer_at < TIME_NEVER) {
        half_host_pass(host, nanos_sub(host->timer_at, host->now.monotonic));
        host->timer_set = false;
        half_host_simple(host, SINK_EVENT_TIMER);
    }
}

void half_host_close(struct half_host *host)
{
    half_host_simple(host, SINK_EVENT_CLOSE);
    for (uint32_t i = 0; i < MORE_MAX && !host->closed; i++) {
        CHECK(host->effects.more);
        half_host_simple(host, SINK_EVENT_MORE);
    }
    CHECK(host->closed);
    CHECK(host->call_count == 0 || host->leaves_calls);
}
