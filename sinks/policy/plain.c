/* The two policies that send nothing: fail and drop. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"
#include "sinks/policy/policy.h"

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_CLOSED,
};

struct plain {
    uint8_t state; /* enum state */
    bool drops;
};

static void
judge(const struct plain *plain, const struct sink_event *event, struct sink_effects *effects)
{
    const uint64_t token = event->u.handle.record.token;
    if (plain->drops) {
        effects_token(effects, SINK_EFFECT_POLICY_DROPPED, token);
        return;
    }
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_POLICY_FAILED);
    effect->u.failed.token = token;
    effect->u.failed.reason = event->u.handle.reason;
    effect->u.failed.payload = (struct bytes){0};
    effect->u.failed.destination = (struct bytes){0};
}

static void step_plain(void *state,
                       const struct sink_now *now,
                       const struct sink_event *event,
                       struct sink_effects *effects)
{
    struct plain *plain = state;
    (void)now;
    if (plain->state == STATE_CLOSED) {
        return;
    }
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        CHECK(plain->state == STATE_NEW);
        plain->state = STATE_OPEN;
        effects_simple(effects, SINK_EFFECT_OPENED);
        return;
    case SINK_EVENT_HANDLE:
        CHECK(plain->state == STATE_OPEN);
        judge(plain, event, effects);
        return;
    case SINK_EVENT_FLUSH:
        CHECK(plain->state == STATE_OPEN);
        effects_simple(effects, SINK_EFFECT_POLICY_FLUSHED);
        return;
    case SINK_EVENT_CLOSE:
        plain->state = STATE_CLOSED;
        effects_simple(effects, SINK_EFFECT_CLOSED);
        return;
    case SINK_EVENT_TIMER:
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_NONE:
    case SINK_EVENT_RECORD:
    case SINK_EVENT_ANSWER:
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

static enum err init_fail(void *state, const struct sink_env *env)
{
    (void)state;
    (void)env;
    return ERR_OK;
}

static enum err init_drop(void *state, const struct sink_env *env)
{
    struct plain *plain = state;
    (void)env;
    plain->drops = true;
    return ERR_OK;
}

static uint64_t digest_plain(const void *state)
{
    const struct plain *plain = state;
    return digest_fold(plain->state, plain->drops);
}

static void fini(void *state)
{
    (void)state;
}

const struct sink_half policy_fail_half = {
    .state_size = sizeof(struct plain),
    .init = init_fail,
    .step = step_plain,
    .digest = digest_plain,
    .fini = fini,
};

const struct sink_half policy_drop_half = {
    .state_size = sizeof(struct plain),
    .init = init_drop,
    .step = step_plain,
    .digest = digest_plain,
    .fini = fini,
};
