/* Streams: a connection with pipelined messages. Messages take effect in the order of sending,
 * answers arrive in order, and when a connection dies any suffix of what was in flight is lost.
 *
 * Order holds by construction: a stream has one event for its oldest message and one for its oldest
 * answer, so no tie and no race window can swap two of them.
 *
 *   state            message sent             oldest in flight            oldest answer
 *   open             in flight                takes effect                delivered
 *   is_cut           waits for the end        (nothing in flight)         the end: closes all
 *   ended            refused: no such stream  takes effect, no answer     (none)
 *
 * A message whose effect outlives its connection lands at the latest when the same lane opens the
 * next connection on the same channel to the same method, before that opening: connections are
 * served in the order in which they were opened. */
#include "sim/link_internal.h"

struct link_stream_answer {
    struct list_link of_stream;
    nanos due;
    pool_handle call;        /* whose first answer it is; POOL_NONE: of none */
    uint64_t sender_request; /* 0: pushed */
    struct link_reply reply;
};

static uint32_t stream_node(const struct link *link, const struct link_stream *stream)
{
    return link->world->services[stream->service].node;
}

static struct link_stream *stream_find(const struct link_sender *sender, uint64_t sender_stream)
{
    for (struct list_link *at = list_first(&sender->streams); at != NULL;
         at = list_next(&sender->streams, at)) {
        struct link_stream *stream = LIST_ITEM(at, struct link_stream, of_sender);
        if (stream->sender_stream == sender_stream) {
            return stream;
        }
    }
    return NULL;
}

/* Free a stream that nobody can see any more. */
static void stream_release(struct link *link, struct link_stream *stream)
{
    if (stream->ended && stream->late_or_null == NULL && list_is_empty(&stream->in_flight)) {
        CHECK(list_is_empty(&stream->answers));
        CHECK(stream->effect_event == SCHED_NONE);
        CHECK(stream->answer_event == SCHED_NONE);
        list_remove(&link->open_streams, &stream->of_link);
        pool_give(&link->streams, stream->self);
    }
}

/* --- answers ----------------------------------------------------------------------------------- */

static void schedule_answer(struct link *link, struct link_stream *stream)
{
    if (stream->answer_event == SCHED_NONE && !list_is_empty(&stream->answers)) {
        const struct link_stream_answer *first =
            LIST_ITEM(list_first(&stream->answers), struct link_stream_answer, of_stream);
        stream->answer_event =
            link_schedule(link, first->due, stream->node, LINK_STREAM_ANSWER, stream->self);
    }
}

/* Queue an answer; it moves into the queue. */
static void queue_answer(struct link *link,
                         struct link_stream *stream,
                         const struct link_call *call_or_null,
                         struct link_reply *reply,
                         nanos due)
{
    if (stream->ended) {
        link_reply_free(link, reply);
        return;
    }
    struct link_stream_answer *answer = arena_take_recycled(link->world->arena, sizeof(*answer));
    *answer = (struct link_stream_answer){
        .due = due > stream->answer_due ? due : stream->answer_due,
        .call = call_or_null == NULL ? POOL_NONE : call_or_null->self,
        .sender_request = call_or_null == NULL ? 0 : call_or_null->sender_request,
        .reply = *reply,
    };
    reply->block = NULL;
    stream->answer_due = answer->due;
    list_push_back(&stream->answers, &answer->of_stream);
    schedule_answer(link, stream);
}

static void drop_answers(struct link *link, struct link_stream *stream)
{
    if (stream->answer_event != SCHED_NONE) {
        sched_cancel(link->world->sched, stream->answer_event);
        stream->answer_event = SCHED_NONE;
    }
    while (!list_is_empty(&stream->answers)) {
        struct link_stream_answer *answer =
            LIST_ITEM(list_pop_front(&stream->answers), struct link_stream_answer, of_stream);
        link_reply_free(link, &answer->reply);
        arena_give_recycled(link->world->arena, answer, sizeof(*answer));
    }
}

static void queue_end(struct link *link, struct link_stream *stream, enum port_code code, nanos due)
{
    struct link_reply reply = {0};
    link_reply_status(
        PORT_DOMAIN_GRPC, code, code == PORT_OK ? PORT_OUTCOME_OK : PORT_OUTCOME_UNKNOWN, &reply);
    reply.kind = PORT_STREAM_END;
    queue_answer(link, stream, NULL, &reply, due);
    stream->is_cut = true;
}

/* A connection's end is all that the messages without an answer hear. Only the clean end of a stream
 * that the service has seen whole tells that they succeeded. False when there was none. */
static bool
close_waiting(struct link *link, struct link_stream *stream, const struct link_reply *end)
{
    struct link_reply heard = *end;
    struct list *waiting = &stream->sender->waiting;
    struct list_link *next = NULL;
    bool any = false;
    if (heard.outcome != PORT_OUTCOME_OK || !stream->is_drained) {
        heard.outcome = PORT_OUTCOME_UNKNOWN;
    }
    for (struct list_link *at = list_first(waiting); at != NULL; at = next) {
        struct link_call *call = LIST_ITEM(at, struct link_call, of_sender);
        next = list_next(waiting, at);
        if (call->stream_or_null == stream) {
            link_note_answered(link, call, &heard);
            link_call_close(link, call);
            link_call_release(link, call);
            any = true;
        }
    }
    return any;
}

/* False when its message wants no answer any more. */
static bool close_answered(struct link *link, const struct link_stream_answer *answer)
{
    if (answer->call == POOL_NONE) {
        return true;
    }
    if (!pool_is_live(&link->calls, answer->call)) {
        return false;
    }
    struct link_call *call = pool_get(&link->calls, answer->call);
    CHECK(call->waits);
    link_note_answered(link, call, &answer->reply);
    link_call_close(link, call);
    link_call_release(link, call);
    return true;
}

static void stream_leave(struct link_stream *stream)
{
    list_remove(&stream->sender->streams, &stream->of_sender);
    stream->ended = true;
}

static void answer_arrives(struct link *link, struct link_stream *stream)
{
    const nanos now = world_now(link->world);
    const nanos free_at = link_node_free_at(link, stream->node);
    stream->is_held = free_at > now;
    if (stream->is_held) {
        stream->answer_event =
            link_schedule(link, free_at, stream->node, LINK_STREAM_ANSWER, stream->self);
        return;
    }
    struct link_stream_answer *arrived =
        LIST_ITEM(list_pop_front(&stream->answers), struct link_stream_answer, of_stream);
    struct link_reply reply = arrived->reply;
    struct link_answer answer = {
        .sender = stream->sender->handle,
        .sender_request = arrived->sender_request,
        .answer =
            {
                .request = arrived->sender_request,
                .stream = stream->sender_stream,
                .kind = reply.kind,
                .outcome = reply.outcome,
                .method = stream->method,
                .status = reply.status,
                .payload = reply.payload,
                .received = now,
            },
    };
    const bool wanted = close_answered(link, arrived);
    arena_give_recycled(link->world->arena, arrived, sizeof(*arrived));
    stream->answer_event = SCHED_NONE;
    if (reply.kind == PORT_STREAM_END) {
        CHECK(list_is_empty(&stream->answers));
        if (close_waiting(link, stream, &reply) && !stream->is_drained) {
            answer.answer.outcome = PORT_OUTCOME_UNKNOWN;
        }
        stream_leave(stream);
        stream_release(link, stream);
    } else {
        schedule_answer(link, stream);
    }
    if (wanted) {
        link->receiver(link->receiver_context, &answer);
    }
    link_reply_free(link, &reply);
}

/* --- effects ----------------------------------------------------------------------------------- */

static const struct link_call *first_in_flight(const struct link_stream *stream)
{
    return LIST_ITEM(list_first(&stream->in_flight), struct link_call, of_stream);
}

static void schedule_effect(struct link *link, struct link_stream *stream)
{
    if (stream->effect_event == SCHED_NONE && !list_is_empty(&stream->in_flight)) {
        stream->effect_event = link_schedule(link,
                                             first_in_flight(stream)->due,
                                             stream_node(link, stream),
                                             LINK_STREAM_EFFECT,
                                             stream->self);
    }
}

static void put_in_flight(struct link *link, struct link_stream *stream, struct link_call *call)
{
    const nanos there = nanos_add(call->leaves, link_leg(link, call));
    const nanos begun = there > stream->effect_due ? there : stream->effect_due;
    call->stream_or_null = stream;
    call->due = nanos_add(begun, link_work(link, call));
    stream->effect_due = call->due;
    list_push_back(&stream->in_flight, &call->of_stream);
    schedule_effect(link, stream);
}

/* The service sees that the connection is gone. */
static void tell_gone(struct link *link, const struct link_call *last)
{
    struct link_call gone = *last;
    struct model_replies replies;
    gone.kind = PORT_CANCEL;
    gone.payload = NULL;
    link_call_handle(link, &gone, &replies);
}

/* What is in flight never takes effect; its senders' answers are the end of the stream. */
static void lose_in_flight(struct link *link, struct link_stream *stream)
{
    while (!list_is_empty(&stream->in_flight)) {
        struct link_call *call =
            LIST_ITEM(list_pop_front(&stream->in_flight), struct link_call, of_stream);
        link_call_settle(link, call);
        link_call_release(link, call);
    }
    if (stream->effect_event != SCHED_NONE) {
        sched_cancel(link->world->sched, stream->effect_event);
        stream->effect_event = SCHED_NONE;
    }
}

/* The connection dies at this message; the sender hears of it at end_due. */
static void
cut(struct link *link, struct link_stream *stream, const struct link_call *call, nanos end_due)
{
    const enum port_code code =
        call->fate.code == PORT_OK ? PORT_UNAVAILABLE : (enum port_code)call->fate.code;
    COVER(link->world, LINK_STREAM_CUT);
    lose_in_flight(link, stream);
    drop_answers(link, stream);
    fault_lasts_until(link->world->fault, end_due);
    stream->answer_due = 0;
    queue_end(link, stream, code, end_due);
}

/* Answer a message with what the model replied. The end that a service gives is the last that it
 * does: what is in flight behind it has no effect. */
static void queue_replies(struct link *link,
                          struct link_stream *stream,
                          const struct link_call *call,
                          struct model_replies *replies)
{
    const nanos leg = link->options.latency_least;
    for (uint32_t i = 0; i < replies->count && !stream->is_cut; i++) {
        struct model_reply *source = &replies->items[i];
        struct link_reply reply = {0};
        const bool ends = source->kind == PORT_STREAM_END;
        const bool is_first = i == 0 && !ends && call->kind == PORT_STREAM_SEND;
        const nanos due = nanos_add(world_now(link->world), nanos_add(source->after, leg));
        if (is_first && !call->waits) {
            continue;
        }
        source->kind = ends ? PORT_STREAM_END : PORT_STREAM_MESSAGE;
        link_reply_copy(link, stream->known->method->response, source, &reply);
        queue_answer(link, stream, is_first ? call : NULL, &reply, due);
        if (ends) {
            lose_in_flight(link, stream);
            stream->is_cut = true;
        }
    }
}

static void answer_by_fate(struct link *link, struct link_stream *stream, struct link_call *call)
{
    struct link_reply reply = {0};
    const nanos due = nanos_add(world_now(link->world), link->options.latency_least);
    if (call->waits) {
        link_reply_fate(&call->fate, PORT_STREAM_MESSAGE, &reply);
        queue_answer(link, stream, call, &reply, due);
    }
}

/* The message outlives its connection. */
static void apply_later(struct link *link, struct link_stream *stream, struct link_call *call)
{
    const nanos end_due = nanos_add(world_now(link->world), link->options.latency_least);
    const nanos instant = link_late_instant(link, call, end_due);
    stream->late_or_null = call;
    call->effect_event =
        link_schedule(link, instant, stream_node(link, stream), LINK_EFFECT, call->self);
    link_call_delay(link, call);
    fault_lasts_until(link->world->fault, instant);
    cut(link, stream, call, end_due);
}

static void message_arrives(struct link *link, struct link_stream *stream, struct link_call *call)
{
    const enum fate_action action = (enum fate_action)call->fate.action;
    const nanos now = world_now(link->world);
    const nanos soon = nanos_add(now, link->options.latency_least);
    const nanos silent = nanos_add(now, link->options.deadline_default);
    struct model_replies replies = {.count = 0};
    switch (action) {
    case FATE_DELIVERED:
        link_call_handle(link, call, &replies);
        queue_replies(link, stream, call, &replies);
        break;
    case FATE_DUPLICATED:
        link_call_handle(link, call, &replies);
        queue_replies(link, stream, call, &replies);
        link_call_handle(link, call, &replies);
        break;
    case FATE_REFUSED:
    case FATE_WRAPPED:
        link_call_refuse(link, call);
        answer_by_fate(link, stream, call);
        break;
    case FATE_AMBIGUOUS:
        link_call_handle(link, call, &replies);
        answer_by_fate(link, stream, call);
        break;
    case FATE_CUT_NOT_APPLIED:
    case FATE_REQUEST_LOST:
        cut(link, stream, call, action == FATE_REQUEST_LOST ? silent : soon);
        tell_gone(link, call);
        break;
    case FATE_CUT_APPLIED:
    case FATE_ANSWER_LOST:
        link_call_handle(link, call, &replies);
        cut(link, stream, call, action == FATE_ANSWER_LOST ? silent : soon);
        tell_gone(link, call);
        break;
    case FATE_APPLIED_LATER:
        apply_later(link, stream, call);
        return;
    case FATE_ACTION_COUNT:
        UNREACHABLE();
    }
    link_call_settle(link, call);
    link_call_release(link, call);
}

static void envelope_arrives(struct link *link, struct link_stream *stream, struct link_call *call)
{
    struct model_replies replies;
    const nanos soon = nanos_add(world_now(link->world), link->options.latency_least);
    if (call->kind == PORT_STREAM_SEND) {
        message_arrives(link, stream, call);
        return;
    }
    link_call_handle(link, call, &replies);
    if (call->kind != PORT_CANCEL) {
        queue_replies(link, stream, call, &replies);
    }
    if (call->kind == PORT_HALF_CLOSE) {
        stream->is_drained = true;
        if (!stream->is_cut) {
            queue_end(link, stream, PORT_OK, soon);
        }
    }
    link_call_settle(link, call);
    link_call_release(link, call);
}

/* The oldest envelope in flight takes effect. It may take those behind it with it. */
static void land_first(struct link *link, struct link_stream *stream)
{
    CHECK(stream->effect_event == SCHED_NONE);
    envelope_arrives(
        link, stream, LIST_ITEM(list_pop_front(&stream->in_flight), struct link_call, of_stream));
    schedule_effect(link, stream);
}

void link_stream_late(struct link *link, struct link_call *call)
{
    struct link_stream *stream = call->stream_or_null;
    struct model_replies replies;
    CHECK(stream->late_or_null == call);
    COVER(link->world, LINK_LATE_ON_STREAM);
    link_call_handle(link, call, &replies);
    tell_gone(link, call);
    stream->late_or_null = NULL;
    link_call_settle(link, call);
    link_call_release(link, call);
    stream_release(link, stream);
}

static bool is_older_connection(const struct link_stream *old, const struct link_stream *stream)
{
    return old->number < stream->number && old->service == stream->service &&
           old->known == stream->known && old->lane == stream->lane &&
           old->channel == stream->channel && (old->is_cut || old->ended);
}

/* All that is in flight, and what it leaves to take effect later; the stream is gone afterwards if nobody
 * waits for it. */
static void land_all(struct link *link, struct link_stream *stream)
{
    while (!list_is_empty(&stream->in_flight)) {
        if (stream->effect_event != SCHED_NONE) {
            sched_cancel(link->world->sched, stream->effect_event);
            stream->effect_event = SCHED_NONE;
        }
        land_first(link, stream);
    }
    if (stream->late_or_null != NULL) {
        sched_cancel(link->world->sched, stream->late_or_null->effect_event);
        COVER(link->world, LINK_LATE_BEFORE_SUCCESSOR);
        link_stream_late(link, stream->late_or_null);
    } else {
        stream_release(link, stream);
    }
}

/* Land what older connections of the same lane and channel still have to do, oldest first, so that
 * an opening among it has nothing older left. */
static void land_older(struct link *link, const struct link_stream *stream)
{
    struct list_link *next = NULL;
    for (struct list_link *at = list_first(&link->open_streams); at != NULL; at = next) {
        struct link_stream *old = LIST_ITEM(at, struct link_stream, of_link);
        next = list_next(&link->open_streams, at);
        if (is_older_connection(old, stream)) {
            land_all(link, old);
        }
    }
}

void link_stream_event(struct link *link, enum link_what what, struct link_stream *stream)
{
    if (what == LINK_STREAM_ANSWER) {
        answer_arrives(link, stream);
        return;
    }
    stream->effect_event = SCHED_NONE;
    if (first_in_flight(stream)->kind == PORT_OPEN) {
        land_older(link, stream);
    }
    land_first(link, stream);
    stream_release(link, stream);
}

void link_stream_heal(struct link *link)
{
    const nanos now = world_now(link->world);
    for (struct list_link *at = list_first(&link->open_streams); at != NULL;
         at = list_next(&link->open_streams, at)) {
        struct link_stream *stream = LIST_ITEM(at, struct link_stream, of_link);
        if (stream->is_held && stream->answer_event != SCHED_NONE) {
            sched_move(link->world->sched, stream->answer_event, now);
        }
        if (stream->effect_event == SCHED_NONE) {
            continue;
        }
        for (struct list_link *each = list_first(&stream->in_flight); each != NULL;
             each = list_next(&stream->in_flight, each)) {
            struct link_call *call = LIST_ITEM(each, struct link_call, of_stream);
            call->due = now;
            call->leaves = call->leaves < now ? call->leaves : now;
        }
        stream->effect_due = now;
        sched_move(link->world->sched, stream->effect_event, now);
    }
}

/* --- what senders and models do ---------------------------------------------------------------- */

static uint32_t stream_open(struct link *link,
                            const struct link_origin *origin,
                            const struct port_envelope *envelope)
{
    CHECK(envelope->stream != 0);
    CHECK(stream_find(origin->sender, envelope->stream) == NULL);
    struct link_call *call = link_call_new(link, origin, envelope);
    CHECK(call->known->method->kind == PORT_BIDI);
    const pool_handle handle = pool_take(&link->streams);
    CHECK(handle != POOL_NONE);
    struct link_stream *stream = pool_get(&link->streams, handle);
    const nanos leaves = link_node_free_at(link, origin->node);
    link->streams_opened++;
    stream->self = handle;
    stream->number = link->streams_opened;
    stream->sender_stream = envelope->stream;
    stream->sender_open = envelope->request;
    stream->sender = origin->sender;
    stream->method = envelope->method;
    stream->known = call->known;
    stream->channel = envelope->channel;
    stream->node = origin->node;
    stream->lane = origin->lane;
    stream->attempt = origin->attempt;
    stream->service = call->service;
    stream->deadline =
        envelope->deadline_is_absolute ? envelope->deadline : nanos_add(leaves, envelope->deadline);
    list_init(&stream->in_flight);
    list_init(&stream->answers);
    list_push_back(&origin->sender->streams, &stream->of_sender);
    list_push_back(&link->open_streams, &stream->of_link);
    call->leaves = leaves;
    put_in_flight(link, stream, call);
    return call->request;
}

/* Nothing can be sent on a connection that the sender knows to be over: a definite error. */
static void refuse_message(struct link *link, struct link_call *call)
{
    link_reply_status(PORT_DOMAIN_CLIENT, PORT_UNAVAILABLE, PORT_OUTCOME_ERROR, &call->reply);
    call->reply.kind = PORT_STREAM_END;
    if (call->waits) {
        call->answer_event =
            link_schedule(link, world_now(link->world), call->node, LINK_ANSWER, call->self);
    }
}

/* The sender's own deadline of the whole stream; what is in flight goes on. */
static void check_deadline(struct link *link, struct link_stream *stream)
{
    const nanos now = world_now(link->world);
    if (!stream->is_cut && now >= stream->deadline) {
        COVER(link->world, LINK_STREAM_DEADLINE);
        drop_answers(link, stream);
        stream->answer_due = 0;
        queue_end(link, stream, PORT_DEADLINE_EXCEEDED, now);
    }
}

static uint32_t stream_message(struct link *link,
                               const struct link_origin *origin,
                               const struct port_envelope *envelope)
{
    struct link_stream *stream = stream_find(origin->sender, envelope->stream);
    struct link_call *call = link_call_new(link, origin, envelope);
    const uint32_t request = call->request;
    CHECK(envelope->payload != NULL);
    if (stream != NULL) {
        check_deadline(link, stream);
    }
    if (stream == NULL || stream->is_cut || stream->half_closed) {
        call->leaves = link_node_free_at(link, call->node);
        link_call_issue(link, call);
        link_call_settle(link, call);
        if (stream != NULL && stream->is_cut) {
            call->stream_or_null = stream;
        } else {
            refuse_message(link, call);
        }
        link_call_release(link, call);
        return request;
    }
    call->stream_or_null = stream;
    link_call_draw(link, call);
    link_call_issue(link, call);
    put_in_flight(link, stream, call);
    return request;
}

static uint32_t stream_half_close(struct link *link,
                                  const struct link_origin *origin,
                                  const struct port_envelope *envelope)
{
    struct link_stream *stream = stream_find(origin->sender, envelope->stream);
    if (stream == NULL || stream->is_cut || stream->half_closed) {
        return 0;
    }
    struct link_call *call = link_call_new(link, origin, envelope);
    call->leaves = link_node_free_at(link, call->node);
    stream->half_closed = true;
    put_in_flight(link, stream, call);
    return call->request;
}

uint32_t link_stream_send(struct link *link,
                          const struct link_origin *origin,
                          const struct port_envelope *envelope)
{
    if (envelope->kind == PORT_OPEN) {
        return stream_open(link, origin, envelope);
    }
    if (envelope->kind == PORT_STREAM_SEND) {
        return stream_message(link, origin, envelope);
    }
    CHECK(envelope->kind == PORT_HALF_CLOSE);
    return stream_half_close(link, origin, envelope);
}

/* A process that dies while it is paused never sends what waits in it. */
static void drop_unsent(struct link *link, struct link_stream *stream)
{
    struct list_link *next = NULL;
    for (struct list_link *at = list_first(&stream->in_flight); at != NULL; at = next) {
        struct link_call *call = LIST_ITEM(at, struct link_call, of_stream);
        next = list_next(&stream->in_flight, at);
        if (call->leaves > world_now(link->world)) {
            list_remove(&stream->in_flight, &call->of_stream);
            link_call_settle(link, call);
            link_call_release(link, call);
        }
    }
    if (list_is_empty(&stream->in_flight) && stream->effect_event != SCHED_NONE) {
        sched_cancel(link->world->sched, stream->effect_event);
        stream->effect_event = SCHED_NONE;
    }
}

/* The sender is gone, or wants nothing any more. What has left still lands, in order; then the
 * service sees that the connection is gone. */
static void abandon(struct link *link, struct link_stream *stream)
{
    const struct link_origin origin = {stream->node, stream->sender, stream->lane, stream->attempt};
    const struct port_envelope envelope = {
        .stream = stream->sender_stream,
        .kind = PORT_CANCEL,
        .method = stream->method,
        .channel = stream->channel,
        .deadline = TIME_NEVER,
    };
    COVER(link->world, LINK_STREAM_ABANDONED);
    drop_answers(link, stream);
    drop_unsent(link, stream);
    stream_leave(stream);
    if (!stream->is_cut) {
        struct link_call *call = link_call_new(link, &origin, &envelope);
        call->leaves = world_now(link->world);
        put_in_flight(link, stream, call);
    }
    stream->is_cut = true;
    stream_release(link, stream);
}

bool link_stream_cancel(struct link *link, struct link_sender *sender, uint64_t open_request)
{
    struct list_link *at = list_first(&sender->streams);
    while (at != NULL &&
           LIST_ITEM(at, struct link_stream, of_sender)->sender_open != open_request) {
        at = list_next(&sender->streams, at);
    }
    if (at == NULL) {
        return false;
    }
    struct link_stream *stream = LIST_ITEM(at, struct link_stream, of_sender);
    struct list_link *next = NULL;
    for (struct list_link *each = list_first(&sender->waiting); each != NULL; each = next) {
        struct link_call *call = LIST_ITEM(each, struct link_call, of_sender);
        next = list_next(&sender->waiting, each);
        if (call->stream_or_null == stream) {
            link_note_wire(link, call, WIRE_CANCELLED);
            link_call_close(link, call);
            link_call_release(link, call);
        }
    }
    abandon(link, stream);
    return true;
}

void link_stream_forget(struct link *link, struct link_sender *sender)
{
    while (!list_is_empty(&sender->streams)) {
        abandon(link, LIST_ITEM(list_first(&sender->streams), struct link_stream, of_sender));
    }
}

bool link_push(struct link *link, uint64_t number, const struct model_reply *source)
{
    for (struct list_link *at = list_first(&link->open_streams); at != NULL;
         at = list_next(&link->open_streams, at)) {
        struct link_stream *stream = LIST_ITEM(at, struct link_stream, of_link);
        if (stream->number != number) {
            continue;
        }
        if (stream->is_cut || stream->ended) {
            return false;
        }
        struct model_replies replies = {.items = {*source}, .count = 1};
        const struct link_call none = {.kind = PORT_OPEN};
        queue_replies(link, stream, &none, &replies);
        return true;
    }
    return false;
}
