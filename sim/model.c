#include "sim/model.h"

#include "sinks/base/digest.h"

/* The source record that a value carries, as wiring recognises it by content. */
static record_id identify(const struct world *world, uint32_t service, struct bytes value)
{
    if (value.size == 0 || world->identify == NULL) {
        return 0;
    }
    return world->identify(world->identify_context, service, value);
}

uint32_t model_note(const struct model_env *env, const struct model_effect *effect)
{
    const struct model_request *request = effect->request_or_null;
    CHECK(effect->kind >= WORLD_CREATED);
    CHECK(effect->kind < JOURNAL_KIND_COUNT);
    return world_note(env->world,
                      (struct journal_entry){
                          .kind = effect->kind,
                          .code = effect->code,
                          .lane = env->world->nodes[env->node].lane,
                          .attempt = request == NULL ? 0 : request->attempt,
                          .service = narrow_u16(env->service),
                          .record = identify(env->world, env->service, effect->value),
                          .request = request == NULL ? 0 : request->request,
                          .resource = effect->resource,
                          .generation = effect->generation,
                          .value = effect->value.size == 0 ? 0 : digest_bytes(effect->value),
                      });
}

sched_handle model_at(const struct model_env *env, nanos due, uint8_t what, uint64_t a, uint64_t b)
{
    return sched_at(env->world->sched, due, env->node, WORLD_EVENT(DISPATCH_MODEL, what), a, b);
}

void model_reply(struct model_replies *replies, enum port_code code, const void *payload_or_null)
{
    CHECK(replies->count < MODEL_REPLY_MAX);
    replies->items[replies->count] = (struct model_reply){
        .kind = PORT_ANSWER,
        .status = port_status_grpc(code),
        .payload = payload_or_null,
    };
    replies->count++;
}
