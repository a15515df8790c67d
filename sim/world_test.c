/* The world: nodes, notes in journal and trace, resources, marks; notes and replies of models.
 * link: sim/world sim/model sim/fault sim/clock sim/journal sim/trace sim/sched sim/choice sim/lane
 * link: sim/arena sinks/port/status sinks/base/bytes sinks/base/digest sinks/base/units
 * link: sinks/base/allocator
 */
#include "sim/world.h"

#include "sim/model.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

static _Alignas(16) uint8_t memory[1 << 20];

struct kit {
    struct arena arena;
    struct choice choice;
    struct sched sched;
    struct journal journal;
    struct trace trace;
    struct fault_menu menu;
    struct fault fault;
    struct world world;
};

static void open_kit(struct kit *kit)
{
    *kit = (struct kit){0};
    memset(memory, 0xa5, sizeof(memory));
    arena_init(&kit->arena, memory, sizeof(memory), sizeof(memory));
    choice_init(&kit->choice, &kit->arena, &(struct choice_options){0});
    sched_init(&kit->sched, &kit->arena, NULL, &(struct sched_options){0});
    journal_init(&kit->journal, &kit->arena);
    trace_init(&kit->trace, &kit->arena, 256);
    fault_init(&kit->fault, &kit->menu, &kit->choice, PROFILE_DOCUMENTED);
    world_init(&kit->world,
               &kit->arena,
               &kit->choice,
               &kit->sched,
               &kit->journal,
               &kit->trace,
               &kit->fault);
}

/* Let virtual time pass. */
static void pass(struct kit *kit, nanos time)
{
    struct sched_event event;
    (void)sched_after(&kit->sched, time, 0, WORLD_EVENT(DISPATCH_RUN, 1), 0, 0);
    assert_true(sched_step(&kit->sched, &event));
}

static void node_0_is_the_run_and_nodes_start_with_true_clocks(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    assert_int_equal(kit.world.node_count, 1);
    assert_int_equal(kit.world.nodes[0].lane, lane_make(LANE_RUN, 0));
    for (uint32_t i = 1; i < WORLD_NODE_MAX; i++) {
        assert_int_equal(world_add_node(&kit.world, lane_make(LANE_TASK, i)), i);
    }
    assert_int_equal(clock_wall(&kit.world.nodes[5].clock, 7), CLOCK_BASE + 7);
    expect_check_failure((void)world_add_node(&kit.world, lane_make(LANE_TASK, 0)));
}

static void a_note_gets_the_time_and_the_next_position(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    pass(&kit, 55);
    world_note(&kit.world, (struct journal_entry){.kind = HOST_RECORD});
    world_note(&kit.world, (struct journal_entry){.kind = HOST_ACCEPTED, .time = 9});
    assert_int_equal(kit.journal.count, 2);
    assert_int_equal(journal_at(&kit.journal, 0)->kind, HOST_RECORD);
    assert_int_equal(journal_at(&kit.journal, 1)->kind, HOST_ACCEPTED);
    assert_int_equal(journal_at(&kit.journal, 1)->time, 55);
    assert_int_equal(world_now(&kit.world), 55);
    assert_int_equal(kit.trace.count, 2);
    assert_int_equal(kit.trace.recorded, 0); /* the journal is the record */
}

/* Digest of a trace with one entry. */
static uint64_t digest_of(struct journal_entry entry)
{
    struct kit kit;
    open_kit(&kit);
    world_note(&kit.world, entry);
    return kit.trace.digest;
}

static void every_field_of_a_note_counts_in_the_trace(void **state)
{
    (void)state;
    const struct journal_entry base = {.kind = HOST_RECORD};
    struct journal_entry changed[14];
    for (uint32_t i = 0; i < ARRAY_COUNT(changed); i++) {
        changed[i] = base;
    }
    changed[0].kind = HOST_ACCEPTED;
    changed[1].code = 1;
    changed[2].lane = 1;
    changed[3].attempt = 1;
    changed[4].service = 1;
    changed[5].record = 1;
    changed[6].request = 1;
    changed[7].resource = 1;
    changed[8].generation = 1;
    changed[9].checkpoint = 1;
    changed[10].identity = 1;
    changed[11].value = 1;
    changed[12].a = 1;
    changed[13].b = 1;
    uint64_t digests[ARRAY_COUNT(changed) + 1];
    digests[ARRAY_COUNT(changed)] = digest_of(base);
    for (uint32_t i = 0; i < ARRAY_COUNT(changed); i++) {
        digests[i] = digest_of(changed[i]);
    }
    for (uint32_t i = 0; i < ARRAY_COUNT(digests); i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert_int_not_equal(digests[i], digests[k]);
        }
    }
}

static void equal_bytes_are_one_resource_and_numbers_count_from_1(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    char text[8] = "aaaa";
    const struct bytes name = {(const uint8_t *)text, 4};
    assert_int_equal(world_resource(&kit.world, name), 1);
    assert_int_equal(world_resource(&kit.world, (struct bytes){NULL, 0}), 2);
    text[0] = 'b';
    assert_int_equal(world_resource(&kit.world, name), 3);
    assert_int_equal(world_resource(&kit.world, BYTES_LITERAL("aaaa")), 1);
    assert_int_equal(world_resource(&kit.world, BYTES_LITERAL("")), 2);
    assert_int_equal(world_resource_count(&kit.world), 3);
    assert_bytes_equal(world_resource_name(&kit.world, 1), BYTES_LITERAL("aaaa"));
    expect_check_failure((void)world_resource_name(&kit.world, 0));
    expect_check_failure((void)world_resource_name(&kit.world, 4));
}

static void many_resources_keep_their_numbers(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 3000; i++) {
            const struct bytes name = {(const uint8_t *)&i, sizeof(i)};
            assert_int_equal(world_resource(&kit.world, name), i + 1);
        }
    }
}

/* Goal: a mark is set where it is reached, stays, and is nobody else's. */
static void a_mark_is_reached_once_and_for_all(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    struct world *world = &kit.world;
    for (uint32_t id = 0; id < MARK_MAX; id++) {
        assert_false(marks_has(&world->marks, id));
    }
    for (uint32_t round = 0; round < 2; round++) {
        COVER(world, LINK_PAUSED);
        SOMETIMES(world, JUDGE_HEAL, round == 0);
        SOMETIMES(world, JUDGE_EFFECT, false);
    }
    for (uint32_t id = 0; id < MARK_MAX; id++) {
        assert_int_equal(marks_has(&world->marks, id),
                         id == MARK_LINK_PAUSED || id == MARK_JUDGE_HEAL);
    }
}

/* --- models ------------------------------------------------------------------------------------ */

static record_id
identify_size(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses)
{
    uint64_t *asked = context;
    (void)guesses;
    *asked = digest;
    return (record_id)value.size;
}

/* Goal: a model finds another one of its world by the service. */
static void a_model_is_found_by_its_service(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    const struct port_service ports[3] = {{.name = "a"}, {.name = "b"}, {.name = "b"}};
    const struct model_type types[2] = {{.service = &ports[0]}, {.service = &ports[1]}};
    struct service services[2] = {{.type = &types[0]}, {.type = &types[1]}};
    kit.world.services = services;
    kit.world.service_count = 2;
    assert_ptr_equal(model_of(&kit.world, &ports[0]), &services[0]);
    assert_ptr_equal(model_of(&kit.world, &ports[1]), &services[1]);
    assert_null(model_of(&kit.world, &ports[2]));
}

static void an_effect_names_service_request_record_and_value(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    uint64_t asked = 0;
    const uint32_t node = world_add_node(&kit.world, lane_make(LANE_SERVICE, 3));
    const struct model_env env = {.world = &kit.world, .service = 3, .node = node};
    const struct model_request request = {.request = 12, .attempt = 4};
    struct model_effect effect = {.kind = WORLD_CREATED,
                                  .code = 2,
                                  .resource = 5,
                                  .generation = 6,
                                  .value = BYTES_LITERAL("value"),
                                  .request_or_null = &request};
    kit.world.identify = identify_size;
    kit.world.identify_context = &asked;
    model_note(&env, &effect);
    const struct journal_entry *entry = journal_at(&kit.journal, 0);
    assert_int_equal(entry->kind, WORLD_CREATED);
    assert_int_equal(entry->code, 2);
    assert_int_equal(entry->lane, lane_make(LANE_SERVICE, 3));
    assert_int_equal(entry->service, 3);
    assert_int_equal(entry->attempt, 4);
    assert_int_equal(entry->request, 12);
    assert_int_equal(entry->resource, 5);
    assert_int_equal(entry->generation, 6);
    assert_int_equal(entry->record, 5);
    assert_int_equal(entry->value, digest_bytes(BYTES_LITERAL("value")));
    assert_int_equal(asked, digest_bytes(BYTES_LITERAL("value")));

    effect = (struct model_effect){.kind = WORLD_REMOVED};
    model_note(&env, &effect);
    entry = journal_at(&kit.journal, 1);
    assert_int_equal(entry->request, 0);
    assert_int_equal(entry->attempt, 0);
    assert_int_equal(entry->record, 0);
    assert_int_equal(entry->value, 0);
    effect.kind = WIRE_ISSUED;
    expect_check_failure(model_note(&env, &effect));
}

static void a_model_event_is_dispatched_to_its_node(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    const uint32_t node = world_add_node(&kit.world, lane_make(LANE_SERVICE, 0));
    const struct model_env env = {.world = &kit.world, .node = node};
    struct sched_event event;
    const sched_handle handle = model_at(&env, 77, 9, 1, 2);
    assert_true(sched_is_pending(&kit.sched, handle));
    assert_true(sched_step(&kit.sched, &event));
    assert_int_equal(event.due, 77);
    assert_int_equal(event.node, node);
    assert_int_equal(event.kind, WORLD_EVENT(DISPATCH_MODEL, 9));
    assert_int_equal(event.a, 1);
    assert_int_equal(event.b, 2);
}

static void replies_are_appended_up_to_the_limit(void **state)
{
    (void)state;
    struct model_replies replies = {.count = 0};
    const uint32_t payload = 5;
    model_reply(&replies, PORT_OK, &payload);
    model_reply(&replies, PORT_NOT_FOUND, NULL);
    assert_int_equal(replies.items[0].kind, PORT_ANSWER);
    assert_int_equal(replies.items[0].status.count, 0);
    assert_ptr_equal(replies.items[0].payload, &payload);
    assert_int_equal(port_status_first(&replies.items[1].status), PORT_NOT_FOUND);
    for (uint32_t i = replies.count; i < MODEL_REPLY_MAX; i++) {
        model_reply(&replies, PORT_OK, NULL);
    }
    expect_check_failure(model_reply(&replies, PORT_OK, NULL));
}

TEST_MAIN(world,
          TEST(node_0_is_the_run_and_nodes_start_with_true_clocks),
          TEST(a_note_gets_the_time_and_the_next_position),
          TEST(every_field_of_a_note_counts_in_the_trace),
          TEST(equal_bytes_are_one_resource_and_numbers_count_from_1),
          TEST(many_resources_keep_their_numbers),
          TEST(a_mark_is_reached_once_and_for_all),
          TEST(a_model_is_found_by_its_service),
          TEST(an_effect_names_service_request_record_and_value),
          TEST(a_model_event_is_dispatched_to_its_node),
          TEST(replies_are_appended_up_to_the_limit))
