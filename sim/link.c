#include "sim/link.h"

#include "sim/link_internal.h"
#include "sinks/base/digest.h"

#define LATENCY_LEAST_DEFAULT    MS(1)
#define DEADLINE_DEFAULT_DEFAULT SECONDS(60)
#define CALL_COUNT_MAX           (UINT32_C(1) << 24)
#define STREAM_COUNT_MAX         (UINT32_C(1) << 20)
#define SENDER_COUNT_MIN         32u
#define SERVER_COUNT_MAX         (UINT32_C(1) << 16)
#define EVENT_WHAT_MASK          UINT32_C(0xff)

/* --- creation and senders ---------------------------------------------------------------------- */

static void *link_allocate(void *context, size_t size)
{
    return arena_take_recycled(context, size);
}

static void link_give_back(void *context, void *memory, size_t size)
{
    arena_give_recycled(context, memory, size);
}

struct link *link_create(struct world *world,
                         const struct link_options *options,
                         link_receiver *receiver,
                         void *receiver_context)
{
    struct link *link = arena_take_zeroed(world->arena, sizeof(*link));
    CHECK(options->late_effect_max < TIME_NEVER);
    CHECK(options->service_parallelism <= SERVER_COUNT_MAX);
    CHECK(options->service_time_count <= LINK_SERVICE_TIMES_MAX);
    link->world = world;
    link->options = *options;
    if (link->options.latency_least == 0) {
        link->options.latency_least = LATENCY_LEAST_DEFAULT;
    }
    if (link->options.deadline_default == 0) {
        link->options.deadline_default = DEADLINE_DEFAULT_DEFAULT;
    }
    link->receiver = receiver;
    link->receiver_context = receiver_context;
    link->allocator = (struct allocator){world->arena, link_allocate, link_give_back};
    pool_init(&link->calls, &link->allocator, sizeof(struct link_call), CALL_COUNT_MAX);
    pool_init(&link->streams, &link->allocator, sizeof(struct link_stream), STREAM_COUNT_MAX);
    list_init(&link->delayed);
    list_init(&link->open_streams);
    world->link = link;
    return link;
}

nanos link_work(const struct link *link, const struct link_call *call)
{
    const struct link_options *options = &link->options;
    if (options->service_time_count == 0) {
        return options->service_time;
    }
    const uint64_t drawn = digest_mix(digest_fold(options->service_seed, call->request));
    return options->service_times[drawn % options->service_time_count];
}

static struct link_sender **
sender_place(struct link_sender **senders, uint32_t capacity, uint32_t handle)
{
    uint32_t place = handle & (capacity - 1);
    while (senders[place] != NULL && senders[place]->handle != handle) {
        place = (place + 1) & (capacity - 1);
    }
    return &senders[place];
}

static struct link_sender *sender_find(const struct link *link, uint32_t handle)
{
    if (link->sender_capacity == 0) {
        return NULL;
    }
    return *sender_place(link->senders, link->sender_capacity, handle);
}

static void senders_grow(struct link *link)
{
    struct arena *arena = link->world->arena;
    const uint32_t old = link->sender_capacity;
    const uint32_t new = old == 0 ? SENDER_COUNT_MIN : old * 2;
    struct link_sender **senders = arena_take_recycled(arena, new * sizeof(struct link_sender *));
    for (uint32_t i = 0; i < new; i++) {
        senders[i] = NULL;
    }
    for (uint32_t i = 0; i < old; i++) {
        if (link->senders[i] != NULL) {
            *sender_place(senders, new, link->senders[i]->handle) = link->senders[i];
        }
    }
    if (old != 0) {
        arena_give_recycled(arena, link->senders, old * sizeof(struct link_sender *));
    }
    link->senders = senders;
    link->sender_capacity = new;
}

static struct link_sender *sender_get(struct link *link, uint32_t handle)
{
    struct link_sender *sender = sender_find(link, handle);
    if (sender != NULL) {
        return sender;
    }
    if (link->sender_count * 2 >= link->sender_capacity) {
        senders_grow(link);
    }
    sender = arena_take_zeroed(link->world->arena, sizeof(*sender));
    sender->handle = handle;
    list_init(&sender->waiting);
    list_init(&sender->streams);
    *sender_place(link->senders, link->sender_capacity, handle) = sender;
    link->sender_count++;
    return sender;
}

/* --- the interface ----------------------------------------------------------------------------- */

bool link_takes(struct link *link, const struct port_envelope *envelope)
{
    const enum port_envelope_kind kind = (enum port_envelope_kind)envelope->kind;
    const bool is_known_kind = kind > PORT_ENVELOPE_NONE && kind <= PORT_CANCEL;
    if (!is_known_kind || envelope->method == NULL || envelope->method->service == NULL) {
        return false;
    }
    const struct link_method *known = link_method_known(link, envelope->method);
    if (known == NULL || kind == PORT_CANCEL) {
        return known != NULL;
    }
    if (kind == PORT_HALF_CLOSE) {
        return known->method->kind == PORT_BIDI && envelope->stream != 0;
    }
    return envelope->payload != NULL &&
           (known->method->kind == PORT_UNARY) == (kind == PORT_CALL) &&
           (envelope->stream != 0) == (kind != PORT_CALL);
}

uint32_t link_send(struct link *link,
                   uint32_t node,
                   uint32_t sender,
                   lane who,
                   uint16_t attempt,
                   const struct port_envelope *envelope)
{
    const struct link_origin origin = {node, sender_get(link, sender), who, attempt};
    switch ((enum port_envelope_kind)envelope->kind) {
    case PORT_CALL:
        return link_call_send(link, &origin, envelope);
    case PORT_OPEN:
    case PORT_STREAM_SEND:
    case PORT_HALF_CLOSE:
        return link_stream_send(link, &origin, envelope);
    case PORT_CANCEL:
        (void)link_cancel(link, sender, envelope->request);
        return 0;
    case PORT_ENVELOPE_NONE:
        break;
    }
    UNREACHABLE();
}

void link_forget(struct link *link, uint32_t sender_handle)
{
    struct link_sender *sender = sender_find(link, sender_handle);
    if (sender == NULL || sender->forgotten) {
        return;
    }
    sender->forgotten = true;
    link_stream_forget(link, sender);
    while (!list_is_empty(&sender->waiting)) {
        link_call_drop(link, LIST_ITEM(list_first(&sender->waiting), struct link_call, of_sender));
    }
    CHECK(list_is_empty(&sender->streams));
}

bool link_cancel(struct link *link, uint32_t sender_handle, uint64_t sender_request)
{
    struct link_sender *sender = sender_find(link, sender_handle);
    if (sender == NULL) {
        return false;
    }
    for (struct list_link *at = list_first(&sender->waiting); at != NULL;
         at = list_next(&sender->waiting, at)) {
        struct link_call *call = LIST_ITEM(at, struct link_call, of_sender);
        if (call->sender_request == sender_request) {
            link_note_wire(link, call, WIRE_CANCELLED);
            COVER(link->world, LINK_CANCELLED);
            link_call_close(link, call);
            call->cancelled = true;
            link_call_release(link, call);
            return true;
        }
    }
    return link_stream_cancel(link, sender, sender_request);
}

bool link_is_open(const struct link *link, uint32_t sender_handle, uint64_t sender_request)
{
    const struct link_sender *sender = sender_find(link, sender_handle);
    if (sender == NULL) {
        return false;
    }
    for (struct list_link *at = list_first(&sender->waiting); at != NULL;
         at = list_next(&sender->waiting, at)) {
        if (LIST_ITEM(at, struct link_call, of_sender)->sender_request == sender_request) {
            return true;
        }
    }
    return false;
}

uint32_t link_pending(const struct link *link, uint32_t sender_handle)
{
    const struct link_sender *sender = sender_find(link, sender_handle);
    return sender == NULL ? 0 : narrow_u32(sender->waiting.count);
}

uint32_t link_effects_pending(const struct link *link)
{
    return link->effects_pending;
}

void link_event(struct link *link, const struct sched_event *event)
{
    const enum link_what what = (enum link_what)(event->kind & EVENT_WHAT_MASK);
    CHECK(event->kind == WORLD_EVENT(DISPATCH_LINK, what));
    if (what == LINK_STREAM_EFFECT || what == LINK_STREAM_ANSWER) {
        link_stream_event(link, what, pool_get(&link->streams, event->a));
    } else {
        link_call_event(link, what, pool_get(&link->calls, event->a));
    }
}

/* What a paused process held back leaves now; a deadline that counts from leaving moves along. */
static void leave_now(struct link_call *call, nanos now)
{
    if (!call->deadline_is_absolute) {
        call->deadline -= call->leaves - now;
    }
    call->leaves = now;
}

/* In order of sending, so that what lands now lands in that order. */
static void land_delayed(struct link *link)
{
    const nanos now = world_now(link->world);
    for (struct list_link *at = list_first(&link->delayed); at != NULL;
         at = list_next(&link->delayed, at)) {
        struct link_call *call = LIST_ITEM(at, struct link_call, of_delayed);
        if (call->is_paused) {
            leave_now(call, now);
        }
        if (call->effect_event != SCHED_NONE) {
            sched_move(link->world->sched, call->effect_event, now);
            COVER(link->world, LINK_LANDED_BY_HEAL);
        }
    }
}

void link_end_pause(struct link *link, uint32_t node)
{
    const nanos now = world_now(link->world);
    CHECK(node < link->world->node_count);
    if (link->paused_until[node] > now) {
        nanos *free_at = &link->world->nodes[node].cpu_free_at;
        link->paused_until[node] = now;
        *free_at = *free_at < now ? *free_at : now;
    }
}

static void end_pauses(struct link *link)
{
    for (uint32_t i = 0; i < link->world->node_count; i++) {
        link_end_pause(link, i);
    }
}

/* Answers that waited for the end of a pause. */
static void release_held(struct link *link, struct link_sender *sender)
{
    for (struct list_link *at = list_first(&sender->waiting); at != NULL;
         at = list_next(&sender->waiting, at)) {
        const struct link_call *call = LIST_ITEM(at, struct link_call, of_sender);
        if (call->is_held && call->answer_event != SCHED_NONE) {
            sched_move(link->world->sched, call->answer_event, world_now(link->world));
        }
    }
}

static void end_outages(struct link_service *service)
{
    for (uint32_t id = 0; service->methods != NULL && id <= service->method_id_max; id++) {
        service->methods[id].burst_left = 0;
    }
}

void link_heal(struct link *link)
{
    for (uint32_t i = 0; i < link->service_count; i++) {
        end_outages(&link->services[i]);
    }
    end_pauses(link);
    land_delayed(link);
    for (uint32_t i = 0; i < link->sender_capacity; i++) {
        if (link->senders[i] != NULL) {
            release_held(link, link->senders[i]);
        }
    }
    link_stream_heal(link);
}
