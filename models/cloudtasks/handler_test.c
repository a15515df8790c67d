/* The life of a task and its dispatch: CT-07, CT-10, CT-12 to CT-19, T12.
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
        {"fails_thrice_then_ok", 1},
        {"throttled", 1},
    };
    (void)state;
    /* What is left is a handler that never succeeds. */
    assert_int_equal(ARRAY_COUNT(cases) + 1, cloudtasks_model_sites[SITE_DISPATCH].outcome_count);
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

/* The times of the first attempts at a task whose handler fails, to a second. */
static void dispatch_times(struct testkit *kit, nanos times[], uint32_t count)
{
    uint32_t seen = 0;
    uint32_t found = 0;
    testkit_run_for(kit, MS(500));
    while (found < count) {
        if (get(kit, TASK_A) == PORT_OK && task_answer(kit)->dispatch_count > seen) {
            seen = task_answer(kit)->dispatch_count;
            times[found++] = world_now(kit->world);
        }
        testkit_run_for(kit, SECONDS(1));
    }
}

/* Goal: attempts are spaced by doubling, then evenly growing, then longest backoffs. Method: the
 * example of the documents: 10 s, at most 300 s, 3 doublings. */
static void ct_15_attempts_are_spaced_by_the_retry_config(void **state)
{
    static const nanos spaces[] = {10, 20, 40, 80, 160, 240, 300, 300};
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    nanos times[ARRAY_COUNT(spaces) + 1];
    (void)state;
    testkit_option(kit, "handler_fails", 1);
    testkit_option(kit, "retry_backoff", SECONDS(10));
    testkit_option(kit, "retry_backoff_max", SECONDS(300));
    testkit_option(kit, "retry_doublings", 3);
    testkit_option(kit, "dispatch_latency", 0);
    (void)testkit_pin(kit, "cloudtasks.dispatch", "fails_always");
    testkit_init(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    dispatch_times(kit, times, ARRAY_COUNT(times));
    for (size_t i = 0; i < ARRAY_COUNT(spaces); i++) {
        assert_int_equal((times[i + 1] - times[i]) / NANOS_PER_S, spaces[i]);
    }
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: a task whose attempts are used up is deleted, where a time is set not before that is over,
 * too; its name stays remembered. Method: three attempts, with and without a time; by time alone. */
static void ct_15_a_task_without_attempts_left_is_deleted(void **state)
{
    static const struct {
        uint64_t attempts_max;
        nanos duration_max;
        nanos latency;
        nanos gone; /* 10 s backoff that stays: attempts at 0, 10, 20, 30, 40 */
    } cases[] = {
        {3, 0, 0, SECONDS(20)},
        {3, 0, SECONDS(2), SECONDS(26)},
        {1, 0, 0, 0},
        {3, SECONDS(35), 0, SECONDS(40)},
        {0, SECONDS(35), 0, SECONDS(40)},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, "handler_fails", 1);
        testkit_option(kit, "retry_backoff", SECONDS(10));
        testkit_option(kit, "retry_backoff_max", SECONDS(10));
        testkit_option(kit, "retry_attempts_max", cases[i].attempts_max);
        testkit_option(kit, "retry_duration_max", cases[i].duration_max);
        testkit_option(kit, "handler_latency", cases[i].latency);
        testkit_option(kit, "dispatch_latency", 0);
        (void)testkit_pin(kit, "cloudtasks.dispatch", "fails_always");
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        testkit_run_for(kit, HOURS(1) - MINUTES(1));
        assert_int_equal(removed(kit, CAUSE_EXHAUSTED), 1);
        assert_int_equal(testkit_last(kit, WORLD_REMOVED)->time, cases[i].gone);
        assert_int_equal(handled(kit), 0);
        assert_int_equal(testkit_pending(kit), 0);
        assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        testkit_close(kit);
    }
}

/* Goal: a handler that fails for good is there only where an option offers it. Method: the mask. */
static void ct_15_endless_failure_is_offered_by_an_option(void **state)
{
    (void)state;
    for (uint64_t offered = 0; offered < 2; offered++) {
        struct testkit *kit = open_kit(PROFILE_ADVERSARY);
        struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.dispatch", "fails_always");
        testkit_option(kit, "handler_fails", offered);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(pin->offered, offered);
        assert_int_equal(handled(kit), 1 - offered);
        testkit_close(kit);
    }
}

/* Goal: 429 or 503 of a handler slows its whole queue down. Method: one task is throttled, another
 * waits with it. */
static void ct_13_a_handler_can_slow_its_queue_down(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.dispatch", "throttled");
    (void)state;
    testkit_init(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    pin->value = DISPATCH_ONCE;
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_until(kit, SECONDS(10));
    assert_int_equal(handled(kit), 0);
    testkit_run_until(kit, SECONDS(11));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 2);
    testkit_close(kit);
}

/* Goal: RunTask makes no plan of its own: a task that failed is run and done. Method: force it in
 * the middle of its backoff, in a paused queue. */
static void ct_16_run_task_ends_a_backoff(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "retry_backoff", MINUTES(10));
    (void)testkit_pin(kit, "cloudtasks.dispatch", "fails_then_ok");
    testkit_init(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(run(kit, TASK_A), PORT_OK);
    assert_int_equal(task_answer(kit)->dispatch_count, 1);
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
}

static enum port_code get_whole(struct testkit *kit, const char *name)
{
    const struct cloudtasks_get_task_request request = {
        .name = bytes_of_text(name),
        .response_view = CLOUDTASKS_VIEW_FULL,
    };
    return testkit_call(kit, &cloudtasks_get_task_method, &request);
}

/* Goal: bodies need the FULL view and a permission. Method: both views, with and without. */
static void ct_17_bodies_need_the_full_view_and_a_permission(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(get_whole(kit, TASK_A), PORT_PERMISSION_DENIED);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_null(task_answer(kit)->http_request);
    testkit_close(kit);
    kit = start_with("tasks_readable", 1);
    assert_int_equal(create_body(kit, TASK_A, "a body"), PORT_OK);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_null(task_answer(kit)->http_request);
    assert_int_equal(get_whole(kit, TASK_A), PORT_OK);
    assert_bytes_equal(task_answer(kit)->http_request->body, BYTES_LITERAL("a body"));
    testkit_close(kit);
}

/* Goal: an attempt that is on its way when its task is deleted may still arrive, for the adversary
 * only. Method: delete a running task; a task that is not due yet is not on its way. */
static void ct_19_an_attempt_may_arrive_after_the_deletion(void **state)
{
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        struct testkit *kit = open_kit((enum profile)profile);
        struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.delete", "still_arrives");
        const struct cloudtasks_timestamp when = {(int64_t)((CLOCK_BASE + DAYS(1)) / NANOS_PER_S),
                                                  0};
        const struct cloudtasks_task task = {
            .name = BYTES_LITERAL(TASK_B),
            .http_request = &http_default,
            .schedule_time = &when,
        };
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(delete_task(kit, TASK_A), PORT_OK);
        assert_int_equal(create_task(kit, &task), PORT_OK);
        assert_int_equal(delete_task(kit, TASK_B), PORT_OK);
        assert_int_equal(pin->draws, 1);
        testkit_run_for(kit, DAYS(2));
        assert_int_equal(handled(kit), profile == PROFILE_ADVERSARY);
        assert_int_equal(removed(kit, CAUSE_DELETED), 2);
        assert_int_equal(testkit_pending(kit), 0);
        testkit_close(kit);
    }
}

/* A record is known by the length of its value. */
static record_id
by_length(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses)
{
    (void)context;
    (void)digest;
    (void)guesses;
    return (record_id)value.size;
}

static uint32_t ledgered(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_VISIBLE, CLOUDTASKS_READER_HANDLER_LEDGER);
}

/* Goal: a handler that knows what it did has its effect once per name or record, however often it
 * runs. Method: every kind of handler; each task is dispatched twice; two names with one record. */
static void t12_a_handler_with_a_ledger_has_its_effect_once(void **state)
{
    static const struct {
        enum cloudtasks_handler handler;
        enum cloudtasks_ledger_key key;
        bool known_records;
        uint32_t effects;
    } cases[] = {
        {HANDLER_PLAIN, LEDGER_KEY_NAME, true, 0},
        {HANDLER_IDEMPOTENT, LEDGER_KEY_NAME, true, 2},
        {HANDLER_LEDGER, LEDGER_KEY_NAME, true, 3},
        {HANDLER_LEDGER, LEDGER_KEY_RECORD, true, 2},
        {HANDLER_LEDGER, LEDGER_KEY_RECORD, false, 3},
    };
    static uint8_t letters[300];
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        const struct cloudtasks_http_request http = {
            .url = http_default.url,
            .body = {letters, sizeof(letters)},
        };
        testkit_option(kit, "handler", cases[i].handler);
        testkit_option(kit, "ledger_key", cases[i].key);
        (void)testkit_pin(kit, "cloudtasks.dispatch", "twice");
        kit->world->identify = cases[i].known_records ? by_length : NULL;
        testkit_init(kit);
        assert_int_equal(create_body(kit, TASK_A, "one"), PORT_OK);
        assert_int_equal(create_body(kit, TASK_B, "one"), PORT_OK);
        assert_int_equal(create_http(kit, &http), PORT_OK);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(handled(kit), 6);
        assert_int_equal(ledgered(kit), cases[i].effects);
        testkit_close(kit);
    }
}

/* Goal: the ledger outlives the task, so that a second task of the name has no effect. Method: the
 * name's release, and again. */
static void t12_a_ledger_outlives_the_tasks_of_a_name(void **state)
{
    struct testkit *kit = start_with("handler", HANDLER_LEDGER);
    (void)state;
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + HOURS(25));
    (void)create_and_execute(kit, TASK_A);
    assert_int_equal(created(kit), 2);
    assert_int_equal(handled(kit), 2);
    assert_int_equal(ledgered(kit), 1);
    testkit_close(kit);
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_handler, HANDLER_TESTS(X))
