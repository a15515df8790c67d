#include "sim/model.h"

#include "sinks/base/digest.h"

/* The source record is what wiring recognises by content. */
struct model_content model_content_of(const struct model_env *env, struct bytes value)
{
    struct world *world = env->world;
    struct model_content content = {0};
    if (value.size == 0) {
        return content;
    }
    content.digest = digest_bytes(value);
    if (world->identify != NULL) {
        content.record =
            world->identify(world->identify_context, value, content.digest, &world->guesses);
    }
    return content;
}

void model_note(const struct model_env *env, const struct model_effect *effect)
{
    const struct model_request *request = effect->request_or_null;
    const struct model_content content =
        effect->value.size == 0 ? effect->content : model_content_of(env, effect->value);
    CHECK(effect->kind >= WORLD_CREATED);
    CHECK(effect->kind < JOURNAL_KIND_COUNT);
    world_note(env->world,
               (struct journal_entry){
                   .kind = effect->kind,
                   .code = effect->code,
                   .lane = env->world->nodes[env->node].lane,
                   .attempt = request == NULL ? 0 : request->attempt,
                   .service = narrow_u16(env->service),
                   .record = content.record,
                   .request = request == NULL ? 0 : request->request,
                   .resource = effect->resource,
                   .generation = effect->generation,
                   .value = content.digest,
               });
}

const struct service *model_of(const struct world *world, const struct port_service *service)
{
    for (uint32_t i = 0; i < world->service_count; i++) {
        if (world->services[i].type->service == service) {
            return &world->services[i];
        }
    }
    return NULL;
}

sched_handle model_at(const struct model_env *env, nanos due, uint8_t what, uint64_t a, uint64_t b)
{
    return sched_at(env->world->sched, due, env->node, WORLD_EVENT(DISPATCH_MODEL, what), a, b);
}

void model_reply(struct model_replies *replies, enum port_code code, const void *payload_or_null)
{
    CHECK(replies->count < MODEL_REPLY_MAX);
    struct model_reply *reply = &replies->items[replies->count];
    reply->kind = PORT_ANSWER;
    reply->outcome = PORT_OUTCOME_NONE;
    reply->status.count = 0;
    if (code != PORT_OK) {
        reply->status = port_status_grpc(code);
    }
    reply->payload = payload_or_null;
    reply->after = 0;
    reply->block_or_null = NULL;
    replies->count++;
}

void *model_reply_in_block(struct model_replies *replies, const struct model_env *env, size_t size)
{
    void *block = arena_take_recycled(env->world->arena, size);
    model_reply(replies, PORT_OK, block);
    struct model_reply *reply = &replies->items[replies->count - 1];
    reply->block_or_null = block;
    reply->block_size = size;
    return block;
}
