/* Any record may come to a failure policy, and any answer to its letters: it judges each record once, or
 * fails with a reason; it tells that it has flushed when nothing is open; it keeps no memory and closes
 * when it is told to.
 *
 * The first byte picks the policy, the second an allocation that fails; the rest is a script of events.
 * The host keeps the contract: an event that is not allowed now is left out. */
#include "scenarios/fuzz/half_host.h"
#include "scenarios/fuzz/target.h"
#include "sinks/base/digest.h"
#include "sinks/policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_COUNT 4u

enum operation {
    OPERATION_HANDLE = 0,
    OPERATION_FLUSH,
    OPERATION_ANSWER_OK,
    OPERATION_ANSWER_ERROR,
    OPERATION_ANSWER_UNKNOWN,
    OPERATION_TIMER,
    OPERATION_MORE,
    OPERATION_PASS_TIME,
    OPERATION_NOTICE,
    OPERATION_COUNT,
};

struct life {
    struct half_host host;
    struct byte_reader script;
};

/* The next bytes of the script, as a copy of exactly their size. */
static struct bytes read_bytes(struct life *life, uint8_t **block)
{
    size_t size = byte_reader_u8(&life->script);
    const size_t left = byte_reader_left(&life->script);
    size = size < left ? size : left;
    *block = malloc(size > 0 ? size : 1);
    CHECK(*block != NULL);
    const struct bytes source = byte_reader_bytes(&life->script, size);
    if (source.size > 0) {
        memcpy(*block, source.data, source.size);
    }
    return (struct bytes){*block, source.size};
}

/* What the event points to is gone when the step returns: a policy that keeps it is found out. */
static void handle(struct life *life)
{
    uint8_t *blocks[TEXT_COUNT];
    struct bytes texts[TEXT_COUNT];
    for (uint32_t i = 0; i < TEXT_COUNT; i++) {
        texts[i] = read_bytes(life, &blocks[i]);
    }
    struct half_host *host = &life->host;
    struct sink_event event = {.kind = SINK_EVENT_HANDLE};
    event.u.handle.record.token = ++host->last_token;
    event.u.handle.record.key = texts[0];
    event.u.handle.record.value = texts[1];
    event.u.handle.payload = texts[2];
    event.u.handle.destination = texts[3];
    event.u.handle.reason = 1 + byte_reader_u8(&life->script) % (SINK_REASON_COUNT - 1);
    host->routed[host->routed_count++] = host->last_token;
    half_host_step(host, &event);
    for (uint32_t i = 0; i < TEXT_COUNT; i++) {
        free(blocks[i]);
    }
}

static void answer(struct life *life, enum port_outcome outcome)
{
    struct half_host *host = &life->host;
    if (host->call_count == 0) {
        return;
    }
    const struct call call = host->calls[byte_reader_u8(&life->script) % host->call_count];
    struct sink_event event = {.kind = SINK_EVENT_ANSWER};
    event.u.answer = (struct port_answer){
        .request = call.request,
        .kind = PORT_ANSWER,
        .outcome = (uint8_t)outcome,
        .method = call.method,
        .received = host->now.monotonic,
    };
    if (outcome != PORT_OUTCOME_OK) {
        const uint8_t code = byte_reader_u8(&life->script);
        event.u.answer.status =
            port_status_grpc((enum port_code)(1 + code % (PORT_CODE_COUNT - 1)));
    }
    CHECK(half_host_forget(host, call.request));
    half_host_step(host, &event);
}

static void operate(struct life *life)
{
    struct half_host *host = &life->host;
    switch ((enum operation)(byte_reader_u8(&life->script) % OPERATION_COUNT)) {
    case OPERATION_HANDLE:
        /* All letters of a life may be under way at once: each has room in the host. */
        if (host->last_token < HALF_CALLS_MAX) {
            handle(life);
        }
        return;
    case OPERATION_FLUSH:
        if (!host->flushing) {
            host->flushing = true;
            half_host_simple(host, SINK_EVENT_FLUSH);
        }
        return;
    case OPERATION_ANSWER_OK:
        answer(life, PORT_OUTCOME_OK);
        return;
    case OPERATION_ANSWER_ERROR:
        answer(life, PORT_OUTCOME_ERROR);
        return;
    case OPERATION_ANSWER_UNKNOWN:
        answer(life, PORT_OUTCOME_UNKNOWN);
        return;
    case OPERATION_TIMER:
        half_host_fire(host);
        return;
    case OPERATION_MORE:
        if (host->effects.more) {
            half_host_simple(host, SINK_EVENT_MORE);
        }
        return;
    case OPERATION_PASS_TIME:
        half_host_pass(host, MS(byte_reader_u32_le(&life->script)));
        return;
    case OPERATION_NOTICE:
        half_host_simple(host, SINK_EVENT_CHECKPOINT_COMPLETE);
        return;
    case OPERATION_COUNT:
        break;
    }
    UNREACHABLE();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sink_half *const policies[] = {
        &policy_fail_half, &policy_drop_half, &policy_dead_letter_half};
    const struct sink_job job = {.checkpointing = true, .parallelism = 1};
    const struct sink_env env = {.job = &job, .parallelism = 1};
    struct life *life = calloc(1, sizeof *life);
    CHECK(life != NULL);
    byte_reader_init(&life->script, (struct bytes){data, size});
    life->host.half = policies[byte_reader_u8(&life->script) % ARRAY_COUNT(policies)];
    life->host.is_policy = true;
    life->host.allocation_fails_at = byte_reader_u8(&life->script);
    if (half_host_init(&life->host, &env)) {
        half_host_simple(&life->host, SINK_EVENT_OPEN);
        CHECK(life->host.opened);
        while (!life->host.failed && byte_reader_left(&life->script) > 0) {
            operate(life);
        }
        half_host_close(&life->host);
        half_host_fini(&life->host);
    }
    free(life);
    return 0;
}
