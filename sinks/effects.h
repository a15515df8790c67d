/* How a step appends its effects. Inline, so that a plugin needs nothing linked. */
#ifndef SINKS_EFFECTS_H
#define SINKS_EFFECTS_H

#include "sinks/sink.h"

/* Append an effect of a kind and return it: what its kind has must all be set, for nothing is cleared.
 * When the list is full the host is told and a spare slot is returned (the last one, overwritten). */
static inline struct sink_effect *effects_add(struct sink_effects *effects,
                                              enum sink_effect_kind kind)
{
    uint32_t index = effects->count;
    if (index == effects->capacity) {
        effects->overflowed = true;
        index--;
    } else {
        effects->count++;
    }
    struct sink_effect *effect = &effects->items[index];
    effect->kind = (uint8_t)kind;
    return effect;
}

/* True when one more send is allowed in this step; otherwise asks the host for MORE. */
static inline bool effects_has_room(struct sink_effects *effects)
{
    if (effects->send_room > 0 && effects->count + 8 < effects->capacity) {
        return true;
    }
    effects->more = true;
    return false;
}

/* True when a loop that appends may go on for one more turn of up to 8 effects; otherwise asks the
 * host for MORE. */
static inline bool effects_has_space(struct sink_effects *effects)
{
    if (effects->count + 16 < effects->capacity) {
        return true;
    }
    effects->more = true;
    return false;
}

/* Send; the caller has asked effects_has_room. */
static inline void effects_send(struct sink_effects *effects, const struct port_envelope *envelope)
{
    effects_add(effects, SINK_EFFECT_SEND)->u.send = *envelope;
    if (effects->send_room > 0) {
        effects->send_room--;
    }
}

/* Cancel a request that was sent: best effort, no answer will come for it. Needs no room. */
static inline void
effects_cancel(struct sink_effects *effects, uint64_t request, const struct port_method *method)
{
    effects_add(effects, SINK_EFFECT_SEND)->u.send = (struct port_envelope){
        .request = request, .kind = PORT_CANCEL, .method = method, .deadline = TIME_NEVER};
}

static inline void effects_timer(struct sink_effects *effects, nanos min, nanos max)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_TIMER);
    effect->u.timer.min = min;
    effect->u.timer.max = max;
}

static inline void effects_simple(struct sink_effects *effects, enum sink_effect_kind kind)
{
    (void)effects_add(effects, kind);
}

static inline void
effects_token(struct sink_effects *effects, enum sink_effect_kind kind, uint64_t token)
{
    effects_add(effects, kind)->u.token = token;
}

static inline void effects_record_failed(struct sink_effects *effects,
                                         uint64_t token,
                                         enum sink_reason reason,
                                         struct bytes payload,
                                         struct bytes destination)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_RECORD_FAILED);
    effect->u.failed.token = token;
    effect->u.failed.reason = (uint32_t)reason;
    effect->u.failed.payload = payload;
    effect->u.failed.destination = destination;
}

static inline void effects_barrier_done(struct sink_effects *effects, uint64_t checkpoint)
{
    effects_add(effects, SINK_EFFECT_BARRIER_DONE)->u.checkpoint = checkpoint;
}

static inline void
effects_signal(struct sink_effects *effects, uint32_t request, enum sink_signal how)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_SIGNAL);
    effect->u.signal.request = request;
    effect->u.signal.how = (uint8_t)how;
}

static inline void effects_fail(struct sink_effects *effects,
                                enum sink_reason reason,
                                const struct port_status *status_or_null,
                                struct bytes message)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_FAIL);
    effect->u.fail.reason = (uint32_t)reason;
    effect->u.fail.status.count = 0;
    if (status_or_null != NULL) {
        effect->u.fail.status = *status_or_null;
        for (uint8_t i = 0; i < effect->u.fail.status.count; i++) {
            /* Details die with the answer. */
            effect->u.fail.status.causes[i].detail_message_or_null = NULL;
            effect->u.fail.status.causes[i].detail_or_null = NULL;
        }
    }
    effect->u.fail.message = message;
}

static inline void effects_phase(struct sink_effects *effects, uint16_t phase)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_TAP);
    effect->u.tap.what = SINK_TAP_PHASE;
    effect->u.tap.index = phase;
    effect->u.tap.value = 0;
    effect->u.tap.note = (struct bytes){0};
}

static inline void effects_metric(struct sink_effects *effects, uint16_t metric, uint64_t added)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_TAP);
    effect->u.tap.what = SINK_TAP_METRIC;
    effect->u.tap.index = metric;
    effect->u.tap.value = added;
    effect->u.tap.note = (struct bytes){0};
}

/* A word to people, in a text that lives for ever. */
static inline void effects_note(struct sink_effects *effects, struct bytes text)
{
    struct sink_effect *effect = effects_add(effects, SINK_EFFECT_TAP);
    effect->u.tap.what = SINK_TAP_NOTE;
    effect->u.tap.index = 0;
    effect->u.tap.value = 0;
    effect->u.tap.note = text;
}

#endif
