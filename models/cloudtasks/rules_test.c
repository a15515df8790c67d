/* Rules that options switch on: CT-15, CT-24, CT-26, T15.
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

/* The answer's delay of a create. */
static nanos delay_of(struct testkit *kit, const char *name, enum port_code code)
{
    const struct cloudtasks_task task = {
        .name = bytes_of_text(name),
        .http_request = &http_default,
    };
    const struct cloudtasks_create_task_request asked = {
        .parent = BYTES_LITERAL(QUEUE),
        .task = &task,
    };
    const struct model_request request = {
        .request = 1,
        .attempt = 1,
        .method = &cloudtasks_create_task_method,
        .payload = &asked,
    };
    struct model_replies replies = {.count = 0};
    cloudtasks_model.handle(kit->state, &request, &replies);
    assert_int_equal(replies.count, 1);
    const struct port_status *status = &replies.items[0].status;
    assert_int_equal(status->count == 0 ? PORT_OK : port_status_first(status), code);
    return replies.items[0].after;
}

/* Goal: names take longer, and names in sequence fail at times. Method: unnamed, named, one that
 * follows the last and one that does not, under each outcome. */
static void ct_24_names_cost_time_and_sequences_errors(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.sequence", "slow");
    (void)state;
    testkit_option(kit, "name_latency", MS(50));
    testkit_option(kit, "names_in_sequence", 1);
    testkit_init(kit);
    assert_int_equal(delay_of(kit, "", PORT_OK), 0);
    assert_int_equal(delay_of(kit, QUEUE "/tasks/order-00000001", PORT_OK), MS(50));
    assert_int_equal(pin->draws, 0);
    assert_int_equal(delay_of(kit, QUEUE "/tasks/order-00000002", PORT_OK), SECONDS(2) + MS(50));
    assert_int_equal(delay_of(kit, QUEUE "/tasks/order-00000002", PORT_ALREADY_EXISTS), MS(50));
    assert_int_equal(delay_of(kit, QUEUE "/tasks/other-00000003", PORT_OK), MS(50));
    assert_int_equal(pin->draws, 1);
    pin->value = SEQUENCE_REFUSED;
    assert_int_equal(delay_of(kit, QUEUE "/tasks/other-00000004", PORT_UNAVAILABLE), MS(50));
    assert_int_equal(delay_of(kit, QUEUE "/tasks/other-00000001", PORT_OK), MS(50));
    assert_int_equal(created(kit), 5);
    testkit_heal(kit);
    assert_int_equal(delay_of(kit, QUEUE "/tasks/other-00000002", PORT_OK), MS(50));
    testkit_close(kit);
}

static enum port_code list_tasks(struct testkit *kit)
{
    const struct cloudtasks_list_tasks_request request = {.parent = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_list_tasks_method, &request);
}

static enum port_code make_other_queue(struct testkit *kit)
{
    const struct cloudtasks_queue queue = {.name = BYTES_LITERAL(LOCATION "/queues/other")};
    const struct cloudtasks_create_queue_request request = {
        .parent = BYTES_LITERAL(LOCATION),
        .queue = &queue,
    };
    return testkit_call(kit, &cloudtasks_create_queue_method, &request);
}

/* Goal: calls beyond a quota are RESOURCE_EXHAUSTED without effect until the minute is over. Method:
 * each quota at its limit. */
static void ct_26_calls_beyond_a_quota_are_refused(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "quota_calls", 6);
    testkit_option(kit, "quota_lists", 2);
    testkit_option(kit, "quota_runs", 1);
    testkit_option(kit, "quota_queues", 1);
    testkit_option(kit, "dispatch", 0);
    testkit_init(kit);
    for (uint32_t minute = 0; minute < 2; minute++) {
        assert_int_equal(create(kit, minute == 0 ? TASK_A : TASK_B), PORT_OK);
        assert_int_equal(list_tasks(kit), PORT_OK);
        assert_int_equal(list_tasks(kit), PORT_OK);
        assert_int_equal(list_tasks(kit), PORT_RESOURCE_EXHAUSTED);
        assert_int_equal(run(kit, minute == 0 ? TASK_A : TASK_B), PORT_OK);
        assert_int_equal(run(kit, TASK_A), PORT_RESOURCE_EXHAUSTED);
        assert_int_equal(create(kit, ""), PORT_RESOURCE_EXHAUSTED);
        assert_int_equal(created(kit), minute + 1);
        testkit_run_for(kit, MINUTES(1));
    }
    assert_int_equal(testkit_last(kit, WORLD_REFUSED)->code, PORT_RESOURCE_EXHAUSTED);
    assert_int_equal(make_other_queue(kit), PORT_RESOURCE_EXHAUSTED);
    testkit_close(kit);
}

/* Creates that a queue takes in the current second. */
static uint32_t takes_now(struct testkit *kit, uint32_t asked)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < asked; i++) {
        const enum port_code code = create(kit, "");
        assert_true(code == PORT_OK || code == PORT_RESOURCE_EXHAUSTED);
        taken += code == PORT_OK;
    }
    return taken;
}

/* Goal: a queue takes so many creates per second, half as many more every five minutes. Method:
 * count over twenty minutes. */
static void t15_a_new_queue_takes_its_creates_in_a_ramp(void **state)
{
    static const uint32_t steps[] = {10, 15, 23, 35};
    struct testkit *kit = start_with("ramp", 10);
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
        testkit_run_until(kit, i * MINUTES(5));
        assert_int_equal(takes_now(kit, 50), steps[i]);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(takes_now(kit, 50), steps[i]);
    }
    testkit_close(kit);
}

/* Goal: dispatches keep to the queue's rate, but for a burst. Method: two per second, a burst of
 * three, ten tasks. */
static void ct_15_a_queue_dispatches_at_its_rate(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "dispatch_rate", 2);
    testkit_option(kit, "dispatch_burst", 3);
    testkit_init(kit);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    testkit_run_until(kit, MS(400));
    assert_int_equal(handled(kit), 3);
    for (uint32_t i = 4; i <= 10; i++) {
        testkit_run_for(kit, MS(500));
        assert_int_equal(handled(kit), i);
    }
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
}

/* Goal: by default nothing is limited or slow. Method: the options' defaults; many creates at one
 * instant. */
static void ct_26_no_rule_is_on_unless_asked_for(void **state)
{
    struct testkit *kit = start();
    const struct cloudtasks *model = kit->state;
    (void)state;
    assert_int_equal(model->rules, 0);
    assert_int_equal(takes_now(kit, 2000), 2000);
    assert_int_equal(delay_of(kit, TASK_A, PORT_OK), 0);
    testkit_run_for(kit, MS(10));
    assert_int_equal(handled(kit), 2001);
    testkit_close(kit);
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_rules, RULES_TESTS(X))
