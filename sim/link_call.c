/* A call from the envelope to its draws: copies, notes, fate, delay, pause. */
#include "sim/link_internal.h"

#include <string.h>

#define PAUSE_SHORT_LENGTH  SECONDS(1)
#define PAUSE_WINDOW_LENGTH HOURS(2)
#define LATE_RESTART_LENGTH SECONDS(30)

/* clang-format off: lines of a table */
#define OUTCOME(constant, name, weight, kind, clause, words)                                       \
    {                                                                                              \
        name, weight, kind, clause                                                                 \
    }
#define SITE(id, key, name, sentence, ...)                                                         \
    static const struct choice_outcome id##_outcomes[] = {__VA_ARGS__};
#include "sim/link_sites.def"
#undef SITE

const struct choice_site link_sites[] = {
#define SITE(id, key, name, sentence, ...)                                                         \
    {key, ARRAY_COUNT(id##_outcomes), name, id##_outcomes, sentence},
#include "sim/link_sites.def"
#undef SITE
#undef OUTCOME
};

#define OUTCOME(constant, name, weight, kind, clause, words) words
#define SITE(id, key, name, sentence, ...)                   static const char *const id##_words[] = {__VA_ARGS__};
#include "sim/link_sites.def"
#undef SITE

const char *const *const link_site_words[] = {
#define SITE(id, key, name, sentence, ...) id##_words,
#include "sim/link_sites.def"
#undef SITE
#undef OUTCOME
};
/* clang-format on */

const size_t link_site_count = ARRAY_COUNT(link_sites);

/* --- services and methods ---------------------------------------------------------------------- */

/* A sink that was loaded brings tables of its own: then names tell. UINT32_MAX: the scenario lacks
 * the service. */
static uint32_t service_find(const struct world *world, const struct port_service *wanted)
{
    for (uint32_t i = 0; i < world->service_count; i++) {
        if (world->services[i].type->service == wanted) {
            return i;
        }
    }
    for (uint32_t i = 0; i < world->service_count; i++) {
        if (strcmp(world->services[i].type->service->name, wanted->name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static const struct fate_menu *menu_find(const struct model_type *type,
                                         const struct port_method *method)
{
    for (size_t i = 0; i < type->fate_count; i++) {
        if (type->fates[i].method == method) {
            return &type->fates[i];
        }
    }
    return NULL;
}

static void service_open(struct link *link, uint32_t index)
{
    const struct model_type *type = link->world->services[index].type;
    struct link_service *service = &link->services[index];
    const uint32_t id_max = type->service->method_count;
    service->methods =
        arena_take_zeroed(link->world->arena, (id_max + 1) * sizeof(*service->methods));
    service->method_id_max = id_max;
    for (uint32_t i = 0; i < id_max; i++) {
        const struct port_method *method = type->service->methods[i];
        CHECK(method->id > 0);
        CHECK(method->id <= id_max);
        service->methods[method->id] = (struct link_method){
            .method = method,
            .menu_or_null = menu_find(type, method),
            .service = narrow_u16(index),
        };
    }
}

static struct link_service *service_at(struct link *link, uint32_t index)
{
    if (link->services == NULL) {
        link->service_count = link->world->service_count;
        link->services =
            arena_take_zeroed(link->world->arena, link->service_count * sizeof(*link->services));
    }
    CHECK(index < link->service_count);
    if (link->services[index].methods == NULL) {
        service_open(link, index);
    }
    return &link->services[index];
}

NOINLINE static struct link_method *method_find(struct link *link, const struct port_method *method)
{
    const uint32_t index = service_find(link->world, method->service);
    if (index == UINT32_MAX) {
        return NULL;
    }
    const struct link_service *service = service_at(link, index);
    for (uint32_t id = 1; id <= service->method_id_max; id++) {
        struct link_method *known = &service->methods[id];
        CHECK(known->method != NULL);
        if (known->method == method ||
            (id == method->id && strcmp(known->method->name, method->name) == 0)) {
            link->last_method = method;
            link->last_known = known;
            return known;
        }
    }
    return NULL;
}

struct link_method *link_method_known(struct link *link, const struct port_method *method)
{
    return LIKELY(method == link->last_method) ? link->last_known : method_find(link, method);
}

/* --- notes ------------------------------------------------------------------------------------- */

static struct journal_entry entry_of(const struct link_call *call, enum journal_kind kind)
{
    return (struct journal_entry){
        .kind = (uint8_t)kind,
        .lane = call->lane,
        .attempt = call->attempt,
        .service = call->service,
        .request = call->request,
    };
}

void link_note_wire(struct link *link, const struct link_call *call, enum journal_kind kind)
{
    world_note(link->world, entry_of(call, kind));
}

void link_note_answered(struct link *link,
                        const struct link_call *call,
                        const struct link_reply *reply)
{
    struct journal_entry entry = entry_of(call, WIRE_ANSWERED);
    entry.code = reply->status.count == 0 ? PORT_OK : (uint8_t)port_status_first(&reply->status);
    entry.a = reply->outcome;
    world_note(link->world, entry);
}

static void
note_injected(struct link *link, const struct link_call *call, enum fault_kind kind, nanos length)
{
    struct journal_entry entry = entry_of(call, HOST_INJECTED);
    if (fault_kind_is_fault(kind)) {
        entry.code = (uint8_t)kind;
        entry.a = length;
        entry.b = call->request;
        world_note(link->world, entry);
        fault_lasts_until(link->world->fault, nanos_add(world_now(link->world), length));
    }
}

void link_call_issue(struct link *link, struct link_call *call)
{
    const struct world *world = link->world;
    const struct model_type *type = world->services[call->service].type;
    struct journal_entry entry = entry_of(call, WIRE_ISSUED);
    entry.code = (uint8_t)call->method->id;
    if (call->payload != NULL) {
        entry.value = call->payload_digest;
        if (type->identity != NULL) {
            call->identity = type->identity(call->known->method, call->payload);
        }
        entry.identity = call->identity;
    }
    entry.a = call->deadline;
    entry.b = clock_wall(&world->nodes[call->node].clock, world_now(world));
    world_note(link->world, entry);

    list_push_back(&call->sender->waiting, &call->of_sender);
    call->waits = true;
    if (call->sender->forgotten) {
        link_note_wire(link, call, WIRE_DROPPED);
        link_call_close(link, call);
    }
}

/* --- life of a call ---------------------------------------------------------------------------- */

sched_handle
link_schedule(struct link *link, nanos due, uint32_t node, enum link_what what, uint64_t a)
{
    const nanos now = world_now(link->world);
    return sched_at(
        link->world->sched, due < now ? now : due, node, WORLD_EVENT(DISPATCH_LINK, what), a, 0);
}

uint32_t link_model_node(const struct link *link, const struct link_call *call)
{
    return link->world->services[call->service].node;
}

struct link_call *link_call_new(struct link *link,
                                const struct link_origin *origin,
                                const struct port_envelope *envelope)
{
    const struct port_method *method = envelope->method;
    const pool_handle handle = pool_take(&link->calls);
    CHECK(handle != POOL_NONE);
    CHECK(link->requests < UINT32_MAX);
    struct link_call *call = pool_get(&link->calls, handle);
    struct link_method *known = link_method_known(link, method);
    CHECK(known != NULL);
    link->requests++;
    call->self = handle;
    call->request = link->requests;
    call->node = origin->node;
    call->sender = origin->sender;
    call->sender_request = envelope->request;
    call->sender_stream = envelope->stream;
    call->method = method;
    call->known = known;
    call->lane = origin->lane;
    call->attempt = origin->attempt;
    call->service = known->service;
    call->kind = envelope->kind;
    call->deadline = envelope->deadline;
    call->deadline_is_absolute = envelope->deadline_is_absolute;
    call->may_take_effect = true;
    link->effects_pending++;
    if (envelope->payload != NULL) {
        const struct port_message *message = known->method->request;
        call->block_size = port_clone_size(message, envelope->payload);
        call->block = arena_take_recycled(link->world->arena, call->block_size);
        call->payload = port_clone_into(
            message, envelope->payload, call->block, call->block_size, &call->payload_digest);
    }
    return call;
}

void link_call_close(struct link *link, struct link_call *call)
{
    (void)link;
    CHECK(call->waits);
    list_remove(&call->sender->waiting, &call->of_sender);
    call->waits = false;
}

void link_call_settle(struct link *link, struct link_call *call)
{
    CHECK(call->may_take_effect);
    CHECK(link->effects_pending > 0);
    call->may_take_effect = false;
    call->effect_event = SCHED_NONE;
    link->effects_pending--;
    if (call->is_delayed) {
        list_remove(&link->delayed, &call->of_delayed);
        call->is_delayed = false;
    }
    if (call->block != NULL) {
        arena_give_recycled(link->world->arena, call->block, call->block_size);
        call->block = NULL;
        call->payload = NULL;
    }
}

void link_call_release(struct link *link, struct link_call *call)
{
    if (!call->may_take_effect && !call->waits && call->answer_event == SCHED_NONE) {
        link_reply_free(link, &call->reply);
        pool_give(&link->calls, call->self);
    }
}

void link_call_delay(struct link *link, struct link_call *call)
{
    if (!call->is_delayed) {
        list_push_back(&link->delayed, &call->of_delayed);
        call->is_delayed = true;
    }
}

/* --- draws ------------------------------------------------------------------------------------- */

static bool is_in_menu(const struct link *link, enum fault_kind kind)
{
    return (link->world->fault->menu->kinds >> kind & 1) != 0;
}

/* An outage is one entry on the tape: the calls that it goes on to hit draw nothing. */
static void draw_fate(struct link *link, struct link_call *call)
{
    struct link_method *known = call->known;
    const struct fate_menu *menu = known->menu_or_null;
    if (menu == NULL) {
        return;
    }
    if (known->burst_left > 0) {
        known->burst_left--;
        call->fate = known->burst;
        COVER(link->world, LINK_OUTAGE_GOES_ON);
        return;
    }
    const uint32_t value = fault_pick(link->world->fault, menu->site, call->lane, CHOICE_ALL);
    call->fate = menu->fates[value];
    CHECK(call->fate.action < FATE_ACTION_COUNT);
    if (value == 0) {
        return;
    }
    note_injected(link, call, (enum fault_kind)menu->site->outcomes[value].kind, 0);
    known->burst = call->fate;
    known->burst_left = call->fate.burst;
}

static bool latency_matters(enum fate_action action)
{
    switch (action) {
    case FATE_REQUEST_LOST:
    case FATE_APPLIED_LATER:
        return false;
    case FATE_DELIVERED:
    case FATE_ANSWER_LOST:
    case FATE_REFUSED:
    case FATE_AMBIGUOUS:
    case FATE_DUPLICATED:
    case FATE_WRAPPED:
    case FATE_CUT_APPLIED:
    case FATE_CUT_NOT_APPLIED:
        return true;
    case FATE_ACTION_COUNT:
        break;
    }
    UNREACHABLE();
}

static void draw_latency(struct link *link, struct link_call *call)
{
    uint32_t wanted = CHOICE_ALL;
    if (!is_in_menu(link, FAULT_LATENCY)) {
        return;
    }
    if (!latency_matters((enum fate_action)call->fate.action)) {
        wanted = 1;
    } else if (call->deadline == TIME_NEVER) {
        wanted = ~(UINT32_C(1) << LATENCY_UNTIL_DEADLINE);
    }
    call->latency =
        (uint8_t)fault_pick(link->world->fault, &link_sites[LINK_SITE_LATENCY], call->lane, wanted);
}

nanos link_node_free_at(const struct link *link, uint32_t node)
{
    const nanos now = world_now(link->world);
    CHECK(node < link->world->node_count);
    return link->paused_until[node] > now ? link->paused_until[node] : now;
}

static nanos pause_length(const struct link *link, const struct link_call *call, uint32_t pause)
{
    const nanos now = world_now(link->world);
    const nanos left = call->deadline_is_absolute ? nanos_sub(call->deadline, now) : call->deadline;
    switch ((enum link_pause)pause) {
    case PAUSE_NONE:
        return 0;
    case PAUSE_SHORT:
        return PAUSE_SHORT_LENGTH;
    case PAUSE_PAST_DEADLINE:
        return nanos_add(left, link->options.latency_least);
    case PAUSE_PAST_WINDOW:
        return PAUSE_WINDOW_LENGTH;
    }
    UNREACHABLE();
}

/* The whole process stops: nothing reaches its node and nothing leaves it until the end of the
 * pause. The processor counts as taken, so that a host can hold back its own events. */
static void pause_node(struct link *link, const struct link_call *call, nanos length)
{
    struct world_node *node = &link->world->nodes[call->node];
    const nanos until = nanos_add(world_now(link->world), length);
    link->paused_until[call->node] = until;
    if (node->cpu_free_at < until) {
        node->cpu_free_at = until;
    }
    note_injected(link, call, FAULT_PAUSE, length);
    COVER(link->world, LINK_PAUSED);
}

static void draw_pause(struct link *link, struct link_call *call)
{
    const bool is_free = link_node_free_at(link, call->node) == world_now(link->world);
    if (is_in_menu(link, FAULT_PAUSE) && call->deadline != TIME_NEVER) {
        const uint32_t pause = fault_pick(
            link->world->fault, &link_sites[LINK_SITE_PAUSE], call->lane, is_free ? CHOICE_ALL : 1);
        if (pause != 0) {
            pause_node(link, call, pause_length(link, call, pause));
        }
    }
}

/* The latest instant of an effect, seen from when its caller gave up. */
nanos link_late_bound(const struct link *link, const struct link_call *call, nanos given_up)
{
    if (link->options.late_effect_max != 0) {
        return nanos_add(call->leaves, link->options.late_effect_max);
    }
    return nanos_add(given_up,
                     call->stream_or_null == NULL ? link->options.latency_least
                                                  : link->options.deadline_default);
}

nanos link_late_instant(const struct link *link, const struct link_call *call, nanos given_up)
{
    const nanos bound = link_late_bound(link, call, given_up);
    const nanos now = world_now(link->world);
    nanos instant = nanos_add(given_up, 1);
    if (call->late == LATE_AFTER_RESTART) {
        instant = nanos_add(given_up, LATE_RESTART_LENGTH);
    } else if (call->late == LATE_BEFORE_BOUND) {
        instant = bound;
    }
    if (instant > bound) {
        instant = bound;
    }
    if (bound <= given_up && instant >= given_up) {
        instant = nanos_sub(given_up, 1);
    }
    return instant < now ? now : instant;
}

/* Classes that fall together are not offered twice. */
static void draw_late(struct link *link, struct link_call *call)
{
    if (call->fate.action != FATE_APPLIED_LATER) {
        return;
    }
    const nanos given_up = call->stream_or_null == NULL
                               ? call->deadline
                               : nanos_add(call->leaves, 2 * link->options.latency_least);
    const nanos bound = link_late_bound(link, call, given_up);
    uint32_t wanted = 1;
    if (bound > nanos_add(given_up, LATE_RESTART_LENGTH)) {
        wanted |= UINT32_C(1) << LATE_AFTER_RESTART;
    }
    if (bound > nanos_add(given_up, 1)) {
        wanted |= UINT32_C(1) << LATE_BEFORE_BOUND;
    }
    call->late =
        (uint8_t)fault_pick(link->world->fault, &link_sites[LINK_SITE_LATE], call->lane, wanted);
}

/* Everything that befalls the call is drawn as it is sent, in one span. */
void link_call_draw(struct link *link, struct link_call *call)
{
    struct choice *choice = link->world->choice;
    const enum span_kind span_kind = (enum span_kind)choice->span_kind;
    const uint32_t span = choice->span;
    choice_span(choice, SPAN_REQUEST, call->request);
    draw_fate(link, call);
    draw_latency(link, call);
    draw_pause(link, call);
    call->leaves = link_node_free_at(link, call->node);
    if (!call->deadline_is_absolute) {
        call->deadline = nanos_add(call->leaves, call->deadline);
    }
    draw_late(link, call);
    choice_span(choice, span_kind, span);
}

nanos link_leg(const struct link *link, const struct link_call *call)
{
    const nanos least = link->options.latency_least;
    switch ((enum link_latency)call->latency) {
    case LATENCY_LEAST:
        return least;
    case LATENCY_TWICE:
        return nanos_mul(least, 2);
    case LATENCY_TEN_TIMES:
        return nanos_mul(least, 10);
    case LATENCY_UNTIL_DEADLINE: {
        const nanos leg = nanos_sub(nanos_sub(call->deadline, 1), call->leaves);
        return leg < least ? least : leg;
    }
    }
    UNREACHABLE();
}

/* --- at the service ---------------------------------------------------------------------------- */

void link_call_handle(struct link *link,
                      const struct link_call *call,
                      struct model_replies *replies)
{
    const struct service *service = &link->world->services[call->service];
    struct choice *choice = link->world->choice;
    const struct model_request request = {
        .request = call->request,
        .attempt = call->attempt,
        .sender = call->lane,
        .method = call->known->method,
        .payload = call->payload,
        .identity = call->identity,
        .issued = call->leaves,
        .stream = call->stream_or_null == NULL ? 0 : call->stream_or_null->number,
        .kind = call->kind,
    };
    replies->count = 0;
    if (call->sender->forgotten) {
        COVER(link->world, LINK_EFFECT_OF_THE_DEAD);
    }
    choice_span(choice, SPAN_REQUEST, call->request);
    service->type->handle(service->state, &request, replies);
    choice_span(choice, SPAN_NONE, 0);
    CHECK(replies->count <= MODEL_REPLY_MAX);
}

void link_call_refuse(struct link *link, const struct link_call *call)
{
    const struct world *world = link->world;
    struct journal_entry entry = entry_of(call, WORLD_REFUSED);
    entry.lane = world->nodes[link_model_node(link, call)].lane;
    entry.code = call->fate.code;
    world_note(link->world, entry);
    COVER(link->world, LINK_REFUSED);
}
