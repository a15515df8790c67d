#include "sim/link_internal.h"

#define ALIGNMENT 16

/* Codes after which an effect may exist; a status without any code tells nothing either. */
static bool is_ambiguous(uint16_t code)
{
    switch (code) {
    case PORT_CANCELLED:
    case PORT_UNKNOWN:
    case PORT_DEADLINE_EXCEEDED:
    case PORT_INTERNAL:
    case PORT_UNAVAILABLE:
    case PORT_CODE_NONE:
        return true;
    }
    return false;
}

static enum port_outcome outcome_of_code(uint16_t code)
{
    if (code == PORT_OK) {
        return PORT_OUTCOME_OK;
    }
    return is_ambiguous(code) ? PORT_OUTCOME_UNKNOWN : PORT_OUTCOME_ERROR;
}

/* What the caller may conclude from a reply. An error inside a stream's message says that this
 * message was not accepted, whatever its code (BQW-18). */
static enum port_outcome outcome_of(const struct model_reply *reply)
{
    if (reply->outcome != PORT_OUTCOME_NONE) {
        return (enum port_outcome)reply->outcome;
    }
    if (reply->status.count == 0) {
        return PORT_OUTCOME_OK;
    }
    if (reply->kind == PORT_STREAM_MESSAGE) {
        return PORT_OUTCOME_ERROR;
    }
    return outcome_of_code(port_status_first(&reply->status));
}

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static size_t details_size(const struct port_status *status)
{
    size_t size = 0;
    for (uint32_t i = 0; i < status->count; i++) {
        const struct port_cause *cause = &status->causes[i];
        if (cause->detail_or_null != NULL) {
            size += round_up(port_clone_size(cause->detail_message_or_null, cause->detail_or_null));
        }
    }
    return size;
}

/* Copy the details to where they lie in a block; there is none when there are no details. */
static void copy_details(struct port_status *status, void *block, size_t offset)
{
    for (uint32_t i = 0; i < status->count; i++) {
        struct port_cause *cause = &status->causes[i];
        if (cause->detail_or_null != NULL) {
            const size_t size =
                port_clone_size(cause->detail_message_or_null, cause->detail_or_null);
            cause->detail_or_null = port_clone_into(cause->detail_message_or_null,
                                                    cause->detail_or_null,
                                                    (uint8_t *)block + offset,
                                                    size,
                                                    NULL);
            offset += round_up(size);
        }
    }
}

void link_reply_copy(struct link *link,
                     const struct port_message *message_or_null,
                     struct model_reply *source,
                     struct link_reply *reply)
{
    const bool has_payload = source->payload != NULL && message_or_null != NULL;
    CHECK(reply->block == NULL);
    reply->kind = source->kind;
    reply->outcome = (uint8_t)outcome_of(source);
    reply->payload = NULL;
    reply->status.count = 0;
    if (source->block_or_null != NULL) {
        CHECK(source->status.count == 0);
        reply->payload = has_payload ? source->payload : NULL;
        reply->block = source->block_or_null;
        reply->block_size = source->block_size;
        source->block_or_null = NULL;
        return;
    }
    const size_t payload_size = has_payload ? port_clone_size(message_or_null, source->payload) : 0;
    const size_t size = round_up(payload_size) + details_size(&source->status);
    if (size > 0) {
        reply->block = arena_take_recycled(link->world->arena, size);
        reply->block_size = size;
    }
    if (has_payload) {
        reply->payload =
            port_clone_into(message_or_null, source->payload, reply->block, payload_size, NULL);
    }
    if (source->status.count > 0) {
        reply->status = source->status;
        copy_details(&reply->status, reply->block, round_up(payload_size));
    }
}

void link_replies_drop(struct link *link, struct model_replies *replies)
{
    for (uint32_t i = 0; i < replies->count; i++) {
        struct model_reply *reply = &replies->items[i];
        if (reply->block_or_null != NULL) {
            arena_give_recycled(link->world->arena, reply->block_or_null, reply->block_size);
        }
    }
}

/* What the caller may conclude: no cause in the chain may leave the effect open, if the answer is to
 * say that there was none. */
static enum port_outcome outcome_of_fate(const struct fate *fate)
{
    const bool is_wrapped = fate->action == FATE_WRAPPED && fate->outer != PORT_OK;
    return is_wrapped && is_ambiguous(fate->outer) ? PORT_OUTCOME_UNKNOWN
                                                   : outcome_of_code(fate->code);
}

/* An answer that the fate fixes. The cause around a wrapped one is the client's, for which an inner
 * call of its own may have failed. */
void link_reply_fate(const struct fate *fate, uint8_t kind, struct link_reply *reply)
{
    CHECK(reply->block == NULL);
    *reply = (struct link_reply){
        .kind = kind,
        .outcome = (uint8_t)outcome_of_fate(fate),
        .status = port_status_grpc((enum port_code)fate->code),
    };
    if (fate->action == FATE_WRAPPED) {
        const uint16_t outer = fate->outer == PORT_OK ? PORT_CODE_NONE : fate->outer;
        reply->status = port_status_wrap(reply->status, PORT_DOMAIN_CLIENT, outer);
    }
    if (kind == PORT_STREAM_MESSAGE && fate->action != FATE_AMBIGUOUS) {
        reply->outcome = PORT_OUTCOME_ERROR;
    }
}

void link_reply_status(enum port_domain domain,
                       enum port_code code,
                       enum port_outcome outcome,
                       struct link_reply *reply)
{
    CHECK(reply->block == NULL);
    *reply = (struct link_reply){.kind = PORT_ANSWER, .outcome = (uint8_t)outcome};
    if (code != PORT_OK) {
        reply->status = port_status_grpc(code);
        reply->status.causes[0].domain = (uint8_t)domain;
    }
}

void link_reply_free(struct link *link, struct link_reply *reply)
{
    if (reply->block != NULL) {
        arena_give_recycled(link->world->arena, reply->block, reply->block_size);
        reply->block = NULL;
        reply->payload = NULL;
    }
}
