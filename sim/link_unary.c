/* Unary calls: the way to the service, the effect, the way back. */
#include "sim/link_internal.h"

/* --- the way there ----------------------------------------------------------------------------- */

static void give_up_at_deadline(struct link *link, struct link_call *call)
{
    CHECK(call->answer_event == SCHED_NONE);
    if (call->waits || call->cancelled) {
        call->answer_event =
            link_schedule(link, call->deadline, call->node, LINK_TIMEOUT, call->self);
    }
}

static bool has_servers(const struct link *link)
{
    return link->options.service_parallelism > 0 && link->options.service_time > 0;
}

/* Put the request on its way; its deadline may pass before it arrives. */
static void send_out(struct link *link, struct link_call *call)
{
    const nanos bound = link_late_bound(link, call, call->deadline);
    nanos due = nanos_add(world_now(link->world), link_leg(link, call));
    if (!has_servers(link)) {
        due = nanos_add(due, link_work(link, call));
    }
    if (due > bound) {
        due = bound;
    }
    call->effect_event = link_schedule(link,
                                       due,
                                       link_model_node(link, call),
                                       has_servers(link) ? LINK_ARRIVE : LINK_EFFECT,
                                       call->self);
    if (call->latency != LATENCY_LEAST) {
        link_call_delay(link, call);
    }
    if (due >= call->deadline && call->answer_event == SCHED_NONE) {
        give_up_at_deadline(link, call);
    }
}

static void lose_until_deadline(struct link *link, struct link_call *call)
{
    fault_lasts_until(link->world->fault, call->deadline);
    give_up_at_deadline(link, call);
}

static void apply_later(struct link *link, struct link_call *call)
{
    const nanos instant = link_late_instant(link, call, call->deadline);
    lose_until_deadline(link, call);
    fault_lasts_until(link->world->fault, instant);
    call->effect_event =
        link_schedule(link, instant, link_model_node(link, call), LINK_EFFECT, call->self);
    link_call_delay(link, call);
    COVER(link->world, LINK_APPLIED_LATER);
}

/* A client drops a request whose absolute deadline has passed: it never leaves, for certain. */
static void expire(struct link *link, struct link_call *call)
{
    link_note_wire(link, call, WIRE_EXPIRED);
    COVER(link->world, LINK_EXPIRED);
    link_call_settle(link, call);
    link_reply_status(PORT_DOMAIN_CLIENT, PORT_DEADLINE_EXCEEDED, PORT_OUTCOME_ERROR, &call->reply);
    if (call->waits) {
        call->answer_event =
            link_schedule(link, world_now(link->world), call->node, LINK_ANSWER, call->self);
    }
}

static void depart(struct link *link, struct link_call *call)
{
    if (call->deadline_is_absolute && call->deadline <= world_now(link->world)) {
        expire(link, call);
        link_call_release(link, call);
        return;
    }
    switch ((enum fate_action)call->fate.action) {
    case FATE_REQUEST_LOST:
        COVER(link->world, LINK_REQUEST_LOST);
        lose_until_deadline(link, call);
        link_call_settle(link, call);
        break;
    case FATE_ANSWER_LOST:
        COVER(link->world, LINK_ANSWER_LOST);
        lose_until_deadline(link, call);
        send_out(link, call);
        break;
    case FATE_APPLIED_LATER:
        apply_later(link, call);
        break;
    case FATE_DELIVERED:
    case FATE_REFUSED:
    case FATE_AMBIGUOUS:
    case FATE_DUPLICATED:
    case FATE_WRAPPED:
        send_out(link, call);
        break;
    case FATE_CUT_APPLIED:
    case FATE_CUT_NOT_APPLIED:
    case FATE_ACTION_COUNT:
        /* A unary call has no connection of its own to be cut. */
        UNREACHABLE();
    }
    link_call_release(link, call);
}

uint32_t link_call_send(struct link *link,
                        const struct link_origin *origin,
                        const struct port_envelope *envelope)
{
    struct link_call *call = link_call_new(link, origin, envelope);
    const uint32_t request = call->request;
    CHECK(envelope->payload != NULL);
    CHECK(call->known->method->kind == PORT_UNARY);
    if (call->deadline == TIME_NEVER) {
        call->deadline = link->options.deadline_default;
        call->deadline_is_absolute = false;
    }
    link_call_draw(link, call);
    link_call_issue(link, call);
    if (call->leaves > world_now(link->world)) {
        call->is_paused = true;
        link_call_delay(link, call);
        call->effect_event = link_schedule(link, call->leaves, call->node, LINK_LEAVE, call->self);
    } else {
        depart(link, call);
    }
    return request;
}

/* --- at the service ---------------------------------------------------------------------------- */

/* Take the server that is free first: the root of a heap, which sinks to its new place. */
static nanos server_take(struct link_service *service, uint32_t count, nanos now, nanos busy)
{
    nanos *servers = service->servers;
    const nanos start = servers[0] > now ? servers[0] : now;
    const nanos finish = nanos_add(start, busy);
    uint32_t place = 0;
    for (uint32_t child = 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && servers[child + 1] < servers[child]) {
            child++;
        }
        if (servers[child] >= finish) {
            break;
        }
        servers[place] = servers[child];
        place = child;
    }
    servers[place] = finish;
    return finish;
}

/* Wait for a server and its work. Of what its caller has given up by then, a service drops what waited
 * past the bound of late effects. */
static void arrive(struct link *link, struct link_call *call)
{
    struct link_service *service = &link->services[call->service];
    const uint32_t count = link->options.service_parallelism;
    const nanos now = world_now(link->world);
    const nanos work = link_work(link, call);
    if (service->servers == NULL) {
        service->servers = arena_take_zeroed(link->world->arena, count * sizeof(nanos));
    }
    const nanos finish = server_take(service, count, now, work);
    call->effect_event = SCHED_NONE;
    if (finish - now > work) {
        COVER(link->world, LINK_WAITS_FOR_A_SERVER);
    }
    const bool too_late = finish >= call->deadline;
    if (too_late && call->answer_event == SCHED_NONE) {
        give_up_at_deadline(link, call);
    }
    if (too_late && finish > link_late_bound(link, call, call->deadline)) {
        COVER(link->world, LINK_WAITED_IN_VAIN);
        link_call_settle(link, call);
        link_call_release(link, call);
        return;
    }
    call->effect_event =
        link_schedule(link, finish, link_model_node(link, call), LINK_EFFECT, call->self);
}

/* Send the model's first reply back, or let the deadline pass when it comes too late. */
static void answer_after(struct link *link, struct link_call *call, bool has_reply, nanos after)
{
    const nanos leg = link->options.latency_least;
    const nanos due = nanos_add(world_now(link->world), nanos_add(after, leg));
    if (has_reply && due < call->deadline) {
        call->answer_event = link_schedule(link, due, call->node, LINK_ANSWER, call->self);
        return;
    }
    COVER(link->world, LINK_ANSWER_TOO_LATE);
    link_reply_free(link, &call->reply);
    give_up_at_deadline(link, call);
}

static void take_effect(struct link *link, struct link_call *call)
{
    const bool wants_answer = (call->waits || call->cancelled) && call->answer_event == SCHED_NONE;
    const enum fate_action action = (enum fate_action)call->fate.action;
    bool has_reply = true;
    nanos after = 0;
    if (action == FATE_REFUSED || action == FATE_WRAPPED) {
        link_call_refuse(link, call);
        link_reply_fate(&call->fate, PORT_ANSWER, &call->reply);
    } else {
        struct model_replies replies;
        link_call_handle(link, call, &replies);
        has_reply = replies.count > 0;
        if (action == FATE_AMBIGUOUS) {
            COVER(link->world, LINK_AMBIGUOUS);
            link_reply_fate(&call->fate, PORT_ANSWER, &call->reply);
            has_reply = true;
        } else if (has_reply && wants_answer) {
            link_reply_copy(link, call->known->method->response, &replies.items[0], &call->reply);
            after = replies.items[0].after;
        }
        link_replies_drop(link, &replies);
    }
    if (action == FATE_DUPLICATED) {
        const nanos due = nanos_add(world_now(link->world), link->options.latency_least);
        call->effect_event =
            link_schedule(link, due, link_model_node(link, call), LINK_REPEAT, call->self);
    } else {
        link_call_settle(link, call);
    }
    if (wants_answer) {
        answer_after(link, call, has_reply, after);
    }
    link_call_release(link, call);
}

static void repeat_effect(struct link *link, struct link_call *call)
{
    struct model_replies replies;
    COVER(link->world, LINK_DUPLICATED);
    link_call_handle(link, call, &replies);
    link_replies_drop(link, &replies);
    link_call_settle(link, call);
    link_call_release(link, call);
}

/* --- the way back ------------------------------------------------------------------------------ */

/* Tell the sender. The call goes before, and its reply with it if that is the one; the block that the
 * reply points into goes last. */
static void deliver(struct link *link, struct link_call *call, struct link_reply *reply)
{
    const bool cancelled = call->cancelled;
    void *block = reply->block;
    const size_t block_size = reply->block_size;
    const struct link_answer answer = {
        .sender = call->sender->handle,
        .sender_request = call->sender_request,
        .answer =
            {
                .request = call->sender_request,
                .stream = call->sender_stream,
                .kind = reply->kind,
                .outcome = reply->outcome,
                .method = call->method,
                .status = reply->status,
                .payload = reply->payload,
                .received = world_now(link->world),
            },
    };
    reply->block = NULL;
    if (cancelled) {
        link_note_wire(link, call, WIRE_DROPPED);
    } else {
        link_note_answered(link, call, reply);
        link_call_close(link, call);
    }
    link_call_release(link, call);
    if (!cancelled) {
        link->receiver(link->receiver_context, &answer);
    }
    if (block != NULL) {
        arena_give_recycled(link->world->arena, block, block_size);
    }
}

/* True when the receiver's process stands still: the event waits for the end of the pause. */
static bool is_held_back(struct link *link, struct link_call *call, enum link_what what)
{
    const nanos free_at = link_node_free_at(link, call->node);
    call->is_held = free_at > world_now(link->world);
    if (!call->is_held) {
        return false;
    }
    call->answer_event = link_schedule(link, free_at, call->node, what, call->self);
    return true;
}

static void answer_arrives(struct link *link, struct link_call *call)
{
    if (is_held_back(link, call, LINK_ANSWER)) {
        return;
    }
    call->answer_event = SCHED_NONE;
    deliver(link, call, &call->reply);
}

static void deadline_passes(struct link *link, struct link_call *call)
{
    struct link_reply reply = {0};
    if (is_held_back(link, call, LINK_TIMEOUT)) {
        return;
    }
    call->answer_event = SCHED_NONE;
    link_reply_status(PORT_DOMAIN_GRPC, PORT_DEADLINE_EXCEEDED, PORT_OUTCOME_UNKNOWN, &reply);
    deliver(link, call, &reply);
}

void link_call_event(struct link *link, enum link_what what, struct link_call *call)
{
    switch (what) {
    case LINK_LEAVE:
        call->is_paused = false;
        call->effect_event = SCHED_NONE;
        depart(link, call);
        return;
    case LINK_ARRIVE:
        arrive(link, call);
        return;
    case LINK_EFFECT:
        if (call->stream_or_null != NULL) {
            link_stream_late(link, call);
        } else {
            take_effect(link, call);
        }
        return;
    case LINK_REPEAT:
        repeat_effect(link, call);
        return;
    case LINK_ANSWER:
        answer_arrives(link, call);
        return;
    case LINK_TIMEOUT:
        deadline_passes(link, call);
        return;
    case LINK_NOTHING:
    case LINK_STREAM_EFFECT:
    case LINK_STREAM_ANSWER:
        break;
    }
    UNREACHABLE();
}

/* A process that dies while it is paused never sends what waits in it. */
void link_call_drop(struct link *link, struct link_call *call)
{
    link_note_wire(link, call, WIRE_DROPPED);
    link_call_close(link, call);
    if (call->answer_event != SCHED_NONE) {
        sched_cancel(link->world->sched, call->answer_event);
        call->answer_event = SCHED_NONE;
    }
    if (call->is_paused) {
        sched_cancel(link->world->sched, call->effect_event);
        link_call_settle(link, call);
    }
    link_call_release(link, call);
}
