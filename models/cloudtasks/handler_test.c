/* The life of a task and its dispatch: CT-07, CT-10, CT-12 to CT-19, T12.
 *
 * link: models/cloudtasks/cloudtasks models/cloudtasks/handler models/cloudtasks/limits
 * link: models/cloudtasks/names models/cloudtasks/queues models/model_testkit
 * link: sinks/port/cloudtasks sinks/port/port sinks/port/status
 * link: sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/cloudtasks/cloudtasks_testkit.h"

/* Goal: a task that is never dispatched is deleted at its age, and only then. Method: a paused
 * queue with tasks of two ages. */
static void ct_07_a_task_is_deleted_at_its_ttl(void **state)
{
    struct testkit *kit = start_with("task_ttl", DAYS(10));
    (void)state;
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_until(kit, DAYS(10) - 1);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, DAYS(10) + 1);
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get(kit, TASK_B), PORT_OK);
    testkit_run_until(kit, DAYS(11) + 1);
    assert_int_equal(get(kit, TASK_B), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_TTL), 2);
    assert_int_equal(handled(kit), 0);
    assert_int_equal(resume_queue(kit), PORT_OK);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: a task that is scheduled beyond its age is deleted first. Method: twenty days ahead, ten
 * days of age. */
static void ct_07_a_task_scheduled_beyond_its_ttl_never_runs(void **state)
{
    struct testkit *kit = start_with("task_ttl", DAYS(10));
    const struct cloudtasks_timestamp when = {(int64_t)((CLOCK_BASE + DAYS(20)) / NANOS_PER_S), 0};
    const struct cloudtasks_task task = {
        .name = BYTES_LITERAL(TASK_A),
        .http_request = &http_default,
        .schedule_time = &when,
    };
    (void)state;
    assert_int_equal(create_task(kit, &task), PORT_OK);
    testkit_run_until(kit, DAYS(10) - 1);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, DAYS(10) + 1);
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_TTL), 1);
    testkit_run_until(kit, DAYS(21));
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: a paused queue takes tasks and dispatches none until it is resumed. Method: pause by
 * call and by option. */
static void ct_10_a_paused_queue_takes_tasks_and_holds_them(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->state, CLOUDTASKS_QUEUE_PAUSED);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, HOURS(5));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(testkit_pending(kit), 0);
    assert_int_equal(resume_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->state, CLOUDTASKS_QUEUE_RUNNING);
    assert_int_equal(testkit_pending(kit), 2);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
    kit = start_with("queue_state", START_PAUSED);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, HOURS(5));
    testkit_heal(kit);
    testkit_run_for(kit, HOURS(5));
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: every task is dispatched, calmly once and soon. Method: some tasks, one second. */
static void ct_12_every_task_is_dispatched(void **state)
{
    struct testkit *kit = start();
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    assert_int_equal(testkit_pending(kit), 100);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 100);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 100);
    assert_int_equal(testkit_pending(kit), 0);
    assert_int_equal(kit->sched.pending, 0);
    testkit_close(kit);
}

/* Goal: a second dispatch after the first was done is allowed, and makes no second task. Method:
 * pin it; both show the handler the same task. */
static void ct_12_a_task_may_be_dispatched_twice(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.dispatch", "twice");
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, MS(50));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(testkit_pending(kit), 1);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(testkit_pending(kit), 0);
    const struct journal_entry *entry = testkit_last(kit, WORLD_VISIBLE);
    assert_int_equal(entry->generation, 1);
    assert_true(entry->value == testkit_last(kit, WORLD_CREATED)->value);
    assert_int_equal(created(kit), 1);
    testkit_close(kit);
}

/* Goal: there is no order. Method: a late task is overtaken by a later one. */
static void ct_12_a_later_task_may_come_first(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.dispatch", "late");
    (void)state;
    testkit_init(kit);
    assert_int_equal(create_body(kit, TASK_A, "a"), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 0);
    pin->value = DISPATCH_ONCE;
    assert_int_equal(create_body(kit, TASK_B, "b"), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_true(testkit_last(kit, WORLD_VISIBLE)->value == digest_bytes(BYTES_LITERAL("b")));
    testkit_run_for(kit, MINUTES(2));
    assert_true(testkit_last(kit, WORLD_VISIBLE)->value == digest_bytes(BYTES_LITERAL("a")));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(pin->draws, 2);
    testkit_close(kit);
}

/* Goal: T12, the handler can see a task more than once, but not without bound. Method: every
 * outcome of the site; count what the handler saw and that the task ends. */
static void t12_a_handler_sees_a_task_once_or_twice(void **state)
{
    static const struct {
        const char *outcome;
        uint32_t handled;
    } cases[] = {
        {"once", 1},
        {"twice", 2},
        {"overlaps", 2},
        {"fails_then_ok", 1},
        {"answer_lost", 2},
        {"slow", 1},
        {"late", 1},
    };
    (void)state;
    assert_int_equal(ARRAY_COUNT(cases), cloudtasks_model_sites[SITE_DISPATCH].outcome_count);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = start_pinned("cloudtasks.dispatch", cases[i].outcome);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        testkit_run_for(kit, HOURS(1));
        assert_int_equal(handled(kit), cases[i].handled);
        assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
        assert_int_equal(testkit_pending(kit), 0);
        testkit_close(kit);
    }
}

/* Goal: only a 2xx that the service heard removes a task. Method: a failing handler and a lost
 * answer; the name stays taken until the second attempt is done. */
static void ct_13_only_a_success_removes_the_task(void **state)
{
    static const char *const outcomes[] = {"fails_then_ok", "answer_lost"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(outcomes); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, "retry_backoff", SECONDS(10));
        testkit_option(kit, "handler_latency", SECONDS(1));
        (void)testkit_pin(kit, "cloudtasks.dispatch", outcomes[i]);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        testkit_run_until(kit, SECONDS(10));
        assert_int_equal(handled(kit), i);
        assert_int_equal(get(kit, TASK_A), PORT_OK);
        assert_int_equal(task_answer(kit)->dispatch_count, 1);
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        testkit_run_until(kit, SECONDS(12));
        assert_int_equal(handled(kit), i + 1);
        assert_int_equal(get(kit, TASK_A), PORT_OK);
        testkit_run_until(kit, SECONDS(13));
        assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
        assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
        testkit_close(kit);
    }
}

/* Goal: an attempt that overruns is repeated although the handler did its work. Method: pin it; the
 * second run comes after the deadline, the task lives until then. */
static void ct_14_an_attempt_that_overruns_is_repeated(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.dispatch", "overlaps");
    (void)state;
    assert_int_equal(create_deadline(kit, 60, 0, false), PORT_OK);
    testkit_run_until(kit, SECONDS(59));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 0);
    testkit_run_until(kit, SECONDS(62));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    testkit_close(kit);
}

/* Goal: RunTask dispatches although the queue is paused, or the task is running. Method: both. */
static void ct_16_run_task_dispatches_at_once(void **state)
{
    struct testkit *kit = start_with("handler_latency", SECONDS(2));
    (void)state;
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(run(kit, TASK_A), PORT_OK);
    assert_int_equal(handled(kit), 1);
    assert_int_equal(run(kit, TASK_A), PORT_OK);
    assert_int_equal(handled(kit), 2);
    testkit_run_for(kit, SECONDS(3));
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(run(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
}

/* Goal: NOT_FOUND does not mean never created. Method: GetTask before, during and after a life. */
static void ct_17_a_task_that_is_done_is_not_found(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_bytes_equal(task_answer(kit)->name, BYTES_LITERAL(TASK_A));
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    testkit_close(kit);
}

/* Goal: a scheduled or running task can be deleted, a done one not; the name stays remembered.
 * Method: all three. */
static void ct_19_delete_takes_what_is_not_done(void **state)
{
    struct testkit *kit = start_with("handler_latency", SECONDS(5));
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(delete_task(kit, TASK_A), PORT_OK);
    assert_int_equal(delete_task(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(delete_task(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(10));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_DELETED), 2);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 0);
    assert_int_equal(create(kit, ""), PORT_OK);
    const struct bytes name = task_answer(kit)->name;
    testkit_run_for(kit, SECONDS(10));
    const struct cloudtasks_delete_task_request request = {.name = name};
    assert_int_equal(testkit_call(kit, &cloudtasks_delete_task_method, &request), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: a second dispatch of a task is called off by the next task of its name. Method: let both
 * fall on one instant, the creation first. */
static void ct_12_a_new_task_of_the_name_ends_old_dispatches(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.dispatch", "twice");
    const nanos gone = MS(5);
    (void)state;
    testkit_option(kit, "retry_backoff", HOURS(1));
    testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_ABOUT_ONE_HOUR);
    testkit_init(kit);
    testkit_stop_at(kit, gone + HOURS(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, gone + HOURS(2));
    assert_int_equal(world_now(kit->world), gone + HOURS(1));
    assert_int_equal(testkit_last(kit, WORLD_REMOVED)->time, gone);
    assert_int_equal(handled(kit), 1);
    assert_int_equal(testkit_pending(kit), 1);
    pin->value = DISPATCH_ONCE;
    assert_int_equal(create_body(kit, TASK_A, "new"), PORT_OK);
    assert_int_equal(testkit_pending(kit), 1);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(handled(kit), 2);
    assert_true(testkit_last(kit, WORLD_VISIBLE)->value == digest_bytes(BYTES_LITERAL("new")));
    testkit_close(kit);
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_handler, HANDLER_TESTS(X))
