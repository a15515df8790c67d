#include "sim/link_testkit.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_SIZE   ((size_t)4 << 20)
#define EVENT_BUDGET 100000
#define NOTE_TEXT    "a note"

static const struct port_service toy_service;

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_flat.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_check.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_build.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_size.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_clone.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_tables.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"

static const struct port_method *const toy_methods[] = {
#include "sinks/port/as_methods.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"
};
/* clang-format on */

static const struct port_service toy_service = {"toy", toy_methods, ARRAY_COUNT(toy_methods)};

#define UNARY_OUTCOMES                                                                             \
    {"delivered", 20, FAULT_NONE, NULL}, {"request_lost", 1, FAULT_REQUEST_LOST, "X-05"},          \
        {"answer_lost", 1, FAULT_ANSWER_LOST, "X-05"},                                             \
        {"applied_later", 1, FAULT_APPLIED_LATER, "X-04"},                                         \
        {"refused_unavailable", 1, FAULT_REFUSED, "X-03"},                                         \
        {"refused_permission", 1, FAULT_REFUSED, "X-01"},                                          \
        {"ambiguous", 1, FAULT_AMBIGUOUS, "X-05"},                                                 \
        {"duplicated", 1, FAULT_DUPLICATED, "adversary"}, {"wrapped", 1, FAULT_REFUSED, "X-03"},   \
    {                                                                                              \
        "outage", 1, FAULT_OUTAGE, "X-03"                                                          \
    }

static const struct choice_outcome add_outcomes[] = {UNARY_OUTCOMES};
static const struct choice_outcome feed_outcomes[] = {
    UNARY_OUTCOMES,
    {"cut_applied", 1, FAULT_STREAM_CUT, "X-05"},
    {"cut_not_applied", 1, FAULT_STREAM_CUT, "X-05"},
};

static const struct fate fates[] = {
    [TOY_DELIVERED] = {FATE_DELIVERED, PORT_OK, PORT_OK, 0},
    [TOY_REQUEST_LOST] = {FATE_REQUEST_LOST, PORT_OK, PORT_OK, 0},
    [TOY_ANSWER_LOST] = {FATE_ANSWER_LOST, PORT_OK, PORT_OK, 0},
    [TOY_APPLIED_LATER] = {FATE_APPLIED_LATER, PORT_OK, PORT_OK, 0},
    [TOY_REFUSED_UNAVAILABLE] = {FATE_REFUSED, PORT_UNAVAILABLE, PORT_OK, 0},
    [TOY_REFUSED_PERMISSION] = {FATE_REFUSED, PORT_PERMISSION_DENIED, PORT_OK, 0},
    [TOY_AMBIGUOUS] = {FATE_AMBIGUOUS, PORT_INTERNAL, PORT_OK, 0},
    [TOY_DUPLICATED] = {FATE_DUPLICATED, PORT_OK, PORT_OK, 0},
    [TOY_WRAPPED] = {FATE_WRAPPED, PORT_UNAVAILABLE, PORT_INVALID_ARGUMENT, 0},
    [TOY_OUTAGE] = {FATE_REFUSED, PORT_UNAVAILABLE, PORT_OK, 2},
    [TOY_CUT_APPLIED] = {FATE_CUT_APPLIED, PORT_ABORTED, PORT_OK, 0},
    [TOY_CUT_NOT_APPLIED] = {FATE_CUT_NOT_APPLIED, PORT_OK, PORT_OK, 0},
};

const struct choice_site toy_add_site = {
    0x1f00, ARRAY_COUNT(add_outcomes), "toy.add.fate", add_outcomes, "what becomes of Add"};
const struct choice_site toy_feed_site = {
    0x1f01, ARRAY_COUNT(feed_outcomes), "toy.feed.fate", feed_outcomes, "what becomes of Feed"};

static const struct fate_menu menus[] = {
    {&toy_add_method, &toy_add_site, fates},
    {&toy_feed_method, &toy_feed_site, fates},
};

/* --- the model --------------------------------------------------------------------------------- */

struct toy_model {
    struct toy_state seen; /* first, for tests */
    struct model_env env;
};

static void toy_init(void *state, const struct model_env *env)
{
    struct toy_model *model = state;
    model->env = *env;
}

static void reply_invalid(struct model_replies *replies, const struct toy_add *request)
{
    model_reply(replies, PORT_INVALID_ARGUMENT, NULL);
    struct port_cause *cause = &replies->items[0].status.causes[0];
    cause->detail_message_or_null = &toy_add_message;
    cause->detail_or_null = request;
}

static void toy_count(struct toy_model *model, const struct model_request *request)
{
    const struct toy_add *add = request->payload;
    const struct model_effect effect = {
        .kind = WORLD_CREATED,
        .resource = world_resource(model->env.world, BYTES_LITERAL("counter")),
        .generation = 1,
        .value = add->note,
        .request_or_null = request,
    };
    model->seen.total += add->amount;
    model_note(&model->env, &effect);
}

static void
toy_answer(struct toy_model *model, const struct toy_add *add, struct model_replies *replies)
{
    const struct toy_total total = {model->seen.total, add->note};
    if (add->amount == TOY_AMOUNT_BLOCK) {
        struct toy_total *block = model_reply_in_block(replies, &model->env, sizeof(*block));
        *block = (struct toy_total){total.total, BYTES_LITERAL(NOTE_TEXT)};
        return;
    }
    struct toy_total *place = arena_take(model->env.world->arena, sizeof(*place));
    *place = total;
    model_reply(replies, PORT_OK, place);
    if (add->amount == TOY_AMOUNT_TWO) {
        model_reply(replies, PORT_OK, place);
    }
    if (add->amount == TOY_AMOUNT_SLOW) {
        replies->items[0].after = SECONDS(1);
    }
    if (add->amount == TOY_AMOUNT_END) {
        replies->items[0].kind = PORT_STREAM_END;
    }
}

static void
toy_handle(void *state, const struct model_request *request, struct model_replies *replies)
{
    struct toy_model *model = state;
    const struct toy_add *add = request->payload;
    CHECK(model->seen.count < TOY_LOG_MAX);
    model->seen.log[model->seen.count] = (struct toy_seen){
        .time = world_now(model->env.world),
        .amount = add == NULL ? 0 : add->amount,
        .stream = request->stream,
        .request = request->request,
        .kind = request->kind,
    };
    model->seen.count++;
    if (add == NULL) {
        return;
    }
    switch (add->amount) {
    case TOY_AMOUNT_INVALID:
        reply_invalid(replies, add);
        return;
    case TOY_AMOUNT_INTERNAL:
        model_reply(replies, PORT_INTERNAL, NULL);
        return;
    case TOY_AMOUNT_SILENT:
        toy_count(model, request);
        return;
    }
    toy_count(model, request);
    toy_answer(model, add, replies);
}

static uint64_t toy_identity(const struct port_method *method, const void *payload)
{
    const struct toy_add *add = payload;
    return method == &toy_add_method ? digest_mix(add->amount) : 0;
}

const struct model_type toy_type = {
    .name = "toy",
    .sentence = "a counter",
    .service = &toy_service,
    .fates = menus,
    .fate_count = ARRAY_COUNT(menus),
    .state_size = sizeof(struct toy_model),
    .init = toy_init,
    .handle = toy_handle,
    .identity = toy_identity,
};

/* --- the kit ----------------------------------------------------------------------------------- */

static void toy_hear(void *context, const struct link_answer *answer)
{
    struct toy *toy = context;
    const struct port_answer *heard = &answer->answer;
    const struct toy_total *total = heard->payload;
    CHECK(toy->heard_count < TOY_ANSWER_MAX);
    struct toy_heard *place = &toy->heard[toy->heard_count];
    *place = (struct toy_heard){
        .time = heard->received,
        .sender = answer->sender,
        .request = answer->sender_request,
        .stream = heard->stream,
        .kind = heard->kind,
        .outcome = heard->outcome,
        .cause_count = heard->status.count,
    };
    if (heard->status.count > 0) {
        const struct port_cause *outer = &heard->status.causes[0];
        place->domain = outer->domain;
        place->code = outer->code;
        place->inner = heard->status.causes[heard->status.count - 1].code;
        if (outer->detail_or_null != NULL) {
            place->detail = ((const struct toy_add *)outer->detail_or_null)->amount;
        }
    }
    if (total != NULL) {
        place->total = total->total;
        place->note_is_right = bytes_equal(total->note, BYTES_LITERAL(NOTE_TEXT));
    }
    toy->heard_count++;
    if (toy->on_answer != NULL) {
        toy->on_answer(toy, answer);
    }
}

void toy_open(struct toy *toy,
              const struct link_options *options,
              const struct choice_options *choice_or_null,
              const struct fault_menu *menu_or_null,
              uint8_t fill)
{
    const struct sched_options sched_options = {.ties_from_tape = true};
    *toy = (struct toy){.world = &toy->world_memory};
    toy->memory = malloc(ARENA_SIZE);
    CHECK(toy->memory != NULL);
    memset(toy->memory, fill, ARENA_SIZE);
    toy->menu.kinds = UINT32_MAX;
    if (menu_or_null != NULL) {
        toy->menu = *menu_or_null;
    }
    if (choice_or_null != NULL) {
        toy->choice_options = *choice_or_null;
    }
    arena_init(&toy->arena, toy->memory, ARENA_SIZE, ARENA_SIZE);
    choice_init(&toy->choice, &toy->arena, &toy->choice_options);
    sched_init(&toy->sched, &toy->arena, &toy->choice, &sched_options);
    trace_init(&toy->trace, &toy->arena, 256);
    journal_init(&toy->journal, &toy->arena);
    fault_init(&toy->fault, &toy->menu, &toy->choice, PROFILE_ADVERSARY);
    world_init(toy->world,
               &toy->arena,
               &toy->choice,
               &toy->sched,
               &toy->journal,
               &toy->trace,
               &toy->fault);
    CHECK(world_add_node(toy->world, lane_make(LANE_SERVICE, 0)) == TOY_NODE);
    CHECK(world_add_node(toy->world, lane_make(LANE_TASK, 0)) == TOY_SENDER_NODE);
    CHECK(world_add_node(toy->world, lane_make(LANE_TASK, 1)) == TOY_OTHER_NODE);
    toy->state = arena_take_zeroed(&toy->arena, toy_type.state_size);
    toy->service = (struct service){&toy_type, toy->state, TOY_NODE};
    toy->world->services = &toy->service;
    toy->world->service_count = 1;
    toy_type.init(toy->state, &(struct model_env){.world = toy->world, .node = TOY_NODE});
    toy->link = link_create(toy->world, options, toy_hear, toy);
}

void toy_close(struct toy *toy)
{
    free(toy->memory);
}

void toy_pin(struct toy *toy, const struct choice_site *site, uint32_t nth, uint32_t value)
{
    choice_override(&toy->choice, site, nth, value);
}

const struct choice_site *toy_link_site(const char *name)
{
    for (size_t i = 0; i < link_site_count; i++) {
        if (strcmp(link_sites[i].name, name) == 0) {
            return &link_sites[i];
        }
    }
    CHECK(name == NULL);
    return NULL;
}

static uint32_t toy_send(struct toy *toy, uint32_t sender, struct port_envelope envelope)
{
    const uint32_t node = sender % 2 == 1 ? TOY_SENDER_NODE : TOY_OTHER_NODE;
    return link_send(
        toy->link, node, sender, lane_make(LANE_WRITER, node - TOY_SENDER_NODE), 1, &envelope);
}

/* The payload dies with this function: the link must have copied it. */
static uint32_t
send_amount(struct toy *toy, uint32_t sender, struct port_envelope envelope, uint64_t amount)
{
    uint8_t text[] = NOTE_TEXT;
    struct toy_add add = {amount, {text, sizeof(text) - 1}};
    envelope.payload = &add;
    const uint32_t request = toy_send(toy, sender, envelope);
    memset(text, 'x', sizeof(text));
    add.amount = UINT64_MAX;
    return request;
}

uint32_t
toy_add(struct toy *toy, uint32_t sender, uint64_t request, uint64_t amount, nanos deadline)
{
    return send_amount(
        toy,
        sender,
        (struct port_envelope){
            .request = request, .kind = PORT_CALL, .method = &toy_add_method, .deadline = deadline},
        amount);
}

uint32_t
toy_add_by(struct toy *toy, uint32_t sender, uint64_t request, uint64_t amount, nanos instant)
{
    return send_amount(toy,
                       sender,
                       (struct port_envelope){.request = request,
                                              .kind = PORT_CALL,
                                              .method = &toy_add_method,
                                              .deadline = instant,
                                              .deadline_is_absolute = true},
                       amount);
}

static struct port_envelope
stream_envelope(uint64_t request, uint64_t stream, enum port_envelope_kind kind)
{
    return (struct port_envelope){.request = request,
                                  .stream = stream,
                                  .kind = (uint8_t)kind,
                                  .method = &toy_feed_method,
                                  .channel = 1,
                                  .deadline = TIME_NEVER};
}

void toy_open_stream(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream)
{
    toy_open_stream_for(toy, sender, request, stream, TIME_NEVER);
}

void toy_open_stream_for(
    struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream, nanos deadline)
{
    struct port_envelope envelope = stream_envelope(request, stream, PORT_OPEN);
    envelope.deadline = deadline;
    (void)toy_send(toy, sender, envelope);
}

uint32_t
toy_feed(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream, uint64_t amount)
{
    return send_amount(toy, sender, stream_envelope(request, stream, PORT_STREAM_SEND), amount);
}

void toy_half_close(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream)
{
    (void)toy_send(toy, sender, stream_envelope(request, stream, PORT_HALF_CLOSE));
}

void toy_run_until(struct toy *toy, nanos until)
{
    struct sched_event event;
    for (uint32_t i = 0; sched_next_due(&toy->sched) <= until && i < EVENT_BUDGET; i++) {
        if (!sched_step(&toy->sched, &event)) {
            return;
        }
        if (event.kind >> 8 == DISPATCH_LINK) {
            link_event(toy->link, &event);
        }
    }
}

void toy_run(struct toy *toy)
{
    toy_run_until(toy, TIME_NEVER);
}

uint32_t toy_notes(const struct toy *toy, enum journal_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < toy->journal.count; i++) {
        count += journal_at(&toy->journal, i)->kind == kind;
    }
    return count;
}

const struct journal_entry *toy_note(const struct toy *toy, enum journal_kind kind, uint32_t nth)
{
    for (uint32_t i = 0; i < toy->journal.count; i++) {
        const struct journal_entry *entry = journal_at(&toy->journal, i);
        if (entry->kind == kind && nth-- == 0) {
            return entry;
        }
    }
    CHECK(kind == JOURNAL_NONE);
    return NULL;
}
