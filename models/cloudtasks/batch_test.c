/* BatchCreateTasks: CT-25, T16.
 *
 * link: models/cloudtasks/cloudtasks models/cloudtasks/handler models/cloudtasks/limits
 * link: models/cloudtasks/names models/cloudtasks/queues models/cloudtasks/ledger
 * link: models/cloudtasks/rules models/cloudtasks/lists models/cloudtasks/batch
 * link: models/cloudtasks/admin models/cloudtasks/queue_calls models/model_testkit
 * link: sinks/port/cloudtasks sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/cloudtasks/cloudtasks_testkit.h"

#define REQUEST_ID "01234567-89ab-4cde-8f01-23456789abcd"

struct batch_request {
    struct cloudtasks_task tasks[CLOUDTASKS_BATCH_MAX + 1];
    struct cloudtasks_create_task_request requests[CLOUDTASKS_BATCH_MAX + 1];
    const void *items[CLOUDTASKS_BATCH_MAX + 1];
    struct cloudtasks_batch_create_tasks_request all;
};

static void add(struct batch_request *batch, const char *name)
{
    const uint32_t i = batch->all.requests.count;
    batch->tasks[i] =
        (struct cloudtasks_task){.name = bytes_of_text(name), .http_request = &http_default};
    batch->requests[i] = (struct cloudtasks_create_task_request){.task = &batch->tasks[i]};
    batch->items[i] = &batch->requests[i];
    batch->all.requests = (struct port_list){batch->items, i + 1};
    batch->all.parent = BYTES_LITERAL(QUEUE);
}

static enum port_code send(struct testkit *kit, const struct batch_request *batch)
{
    return testkit_call(kit, &cloudtasks_batch_create_tasks_method, &batch->all);
}

static const struct cloudtasks_batch_create_tasks_response *answer(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

/* Goal: each request of a batch is made or refused by itself, and the answer says which. Method: a
 * known name, a malformed task and good ones. */
static void ct_25_a_batch_is_done_one_by_one(void **state)
{
    struct testkit *kit = start();
    struct batch_request batch = {0};
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    add(&batch, TASK_B);
    add(&batch, TASK_A);
    add(&batch, "");
    add(&batch, "no name");
    add(&batch, TASK_B);
    batch.requests[2].parent = batch.all.parent;
    assert_int_equal(send(kit, &batch), PORT_OK);
    assert_int_equal(created(kit), 3);
    assert_int_equal(answer(kit)->tasks.count, 2);
    const struct cloudtasks_task *task = answer(kit)->tasks.items[0];
    assert_bytes_equal(task->name, BYTES_LITERAL(TASK_B));
    static const struct cloudtasks_batch_failure failures[] = {
        {1, PORT_ALREADY_EXISTS}, {3, PORT_INVALID_ARGUMENT}, {4, PORT_ALREADY_EXISTS}};
    assert_int_equal(answer(kit)->failures.count, ARRAY_COUNT(failures));
    for (uint32_t i = 0; i < ARRAY_COUNT(failures); i++) {
        const struct cloudtasks_batch_failure *failure = answer(kit)->failures.items[i];
        assert_int_equal(failure->index, failures[i].index);
        assert_int_equal(failure->code, failures[i].code);
    }
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 3);
    testkit_close(kit);
}

/* Goal: a batch has 1 to 100 requests of one queue, which must exist. Method: each limit. */
static void ct_25_a_batch_has_a_hundred_requests_of_one_queue(void **state)
{
    static struct batch_request batch;
    struct testkit *kit = start();
    (void)state;
    batch.all.parent = BYTES_LITERAL(QUEUE);
    assert_int_equal(send(kit, &batch), PORT_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < CLOUDTASKS_BATCH_MAX; i++) {
        add(&batch, "");
    }
    assert_int_equal(send(kit, &batch), PORT_OK);
    assert_int_equal(created(kit), CLOUDTASKS_BATCH_MAX);
    add(&batch, "");
    assert_int_equal(send(kit, &batch), PORT_INVALID_ARGUMENT);
    batch.all.requests.count = 2;
    batch.requests[1].parent = BYTES_LITERAL(LOCATION "/queues/other");
    assert_int_equal(send(kit, &batch), PORT_INVALID_ARGUMENT);
    batch.requests[1].parent = batch.all.parent;
    batch.all.request_id = BYTES_LITERAL("short");
    assert_int_equal(send(kit, &batch), PORT_INVALID_ARGUMENT);
    batch.all.parent = BYTES_LITERAL(LOCATION "/queues/other");
    assert_int_equal(send(kit, &batch), PORT_NOT_FOUND);
    batch.all.parent = BYTES_LITERAL("queue");
    assert_int_equal(send(kit, &batch), PORT_INVALID_ARGUMENT);
    assert_int_equal(created(kit), CLOUDTASKS_BATCH_MAX);
    assert_int_equal(testkit_count(kit, WORLD_REFUSED, ANY), 6);
    testkit_close(kit);
}

/* Goal: a batch is not atomic. Method: pin it; the part that failed can be sent again. */
static void ct_25_a_batch_may_be_done_in_part(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.batch", "in_part");
    struct batch_request batch = {0};
    (void)state;
    add(&batch, TASK_A);
    add(&batch, TASK_B);
    assert_int_equal(send(kit, &batch), PORT_OK);
    assert_int_equal(answer(kit)->tasks.count, 1);
    assert_int_equal(answer(kit)->failures.count, 1);
    const struct cloudtasks_batch_failure *failure = answer(kit)->failures.items[0];
    assert_int_equal(failure->index, 1);
    assert_int_equal(failure->code, PORT_UNAVAILABLE);
    assert_int_equal(created(kit), 1);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_close(kit);
}

/* Goal: X-13, a repeated request id gives the earlier answer and has no effect. Method: unnamed
 * tasks, sent thrice, the third time after a day. */
static void ct_25_a_request_id_is_done_once(void **state)
{
    struct testkit *kit = start();
    struct batch_request batch = {0};
    (void)state;
    add(&batch, "");
    add(&batch, TASK_A);
    batch.all.request_id = BYTES_LITERAL(REQUEST_ID);
    assert_int_equal(send(kit, &batch), PORT_OK);
    testkit_run_for(kit, HOURS(23));
    assert_int_equal(send(kit, &batch), PORT_OK);
    assert_true(marks_has(&kit->world->marks, MARK_CLOUDTASKS_BATCH_REPEATED));
    assert_int_equal(created(kit), 2);
    assert_int_equal(answer(kit)->tasks.count, 2);
    const struct cloudtasks_task *task = answer(kit)->tasks.items[1];
    assert_bytes_equal(task->name, BYTES_LITERAL(TASK_A));
    testkit_run_for(kit, HOURS(2));
    assert_int_equal(send(kit, &batch), PORT_OK);
    assert_int_equal(created(kit), 4);
    testkit_close(kit);
}

/* Goal: as observed, one known name refuses the whole batch while the rest is made. Method: pin it
 * under every profile. */
static void t16_one_known_name_may_refuse_all_and_make_the_rest(void **state)
{
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        struct testkit *kit = open_kit((enum profile)profile);
        struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.batch_answer", "already_exists");
        struct batch_request batch = {0};
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        add(&batch, TASK_A);
        add(&batch, TASK_B);
        const enum port_code code = profile == PROFILE_DOCUMENTED ? PORT_OK : PORT_ALREADY_EXISTS;
        assert_int_equal(send(kit, &batch), code);
        assert_int_equal(created(kit), 2);
        assert_int_equal(testkit_count(kit, WORLD_REFUSED, ANY), 0);
        assert_int_equal(get(kit, TASK_B), PORT_OK);
        batch.all.requests.count = 1;
        batch.tasks[0].name = BYTES_LITERAL(QUEUE "/tasks/c");
        assert_int_equal(send(kit, &batch), PORT_OK);
        assert_int_equal(pin->draws, 1);
        testkit_close(kit);
    }
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_batch, BATCH_TESTS(X))
