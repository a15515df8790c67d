/* Names and their protection: CT-03 to CT-06, T4 to T6, T13.
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

/* Goal: a name is refused while its task lives and while it is remembered. Method: create it before
 * and after the handler did the task. */
static void ct_03_a_name_that_lives_or_is_remembered_already_exists(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    assert_int_equal(created(kit), 2);
    const struct journal_entry *entry = testkit_last(kit, WORLD_REFUSED);
    assert_int_equal(entry->code, PORT_ALREADY_EXISTS);
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL(TASK_A));
    testkit_close(kit);
}

/* Goal: of two concurrent creates one wins, even for the adversary. Method: both issued before
 * either takes effect; try to pin the double OK where it is not licensed. */
static void ct_03_of_concurrent_creates_one_wins(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.double_ok", "ok_too");
    (void)state;
    testkit_init(kit);
    testkit_run_until(kit, SECONDS(5));
    assert_int_equal(create_issued(kit, TASK_A, SECONDS(4)), PORT_OK);
    assert_int_equal(create_issued(kit, TASK_A, SECONDS(4)), PORT_ALREADY_EXISTS);
    assert_int_equal(pin->draws, 1);
    assert_int_equal(pin->offered, 0);
    assert_int_equal(created(kit), 1);
    testkit_close(kit);
}

/* Goal: the observed double OK leaves one task. Method: pin it; a later create does not get it. */
static void t5_two_may_be_told_ok_about_one_task(void **state)
{
    struct testkit *kit = open_kit(PROFILE_OBSERVED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.double_ok", "ok_too");
    (void)state;
    testkit_option(kit, "dispatch", 0);
    testkit_init(kit);
    testkit_run_until(kit, SECONDS(5));
    assert_int_equal(create_issued(kit, TASK_A, SECONDS(4)), PORT_OK);
    assert_int_equal(create_issued(kit, TASK_A, SECONDS(4)), PORT_OK);
    assert_bytes_equal(task_answer(kit)->name, BYTES_LITERAL(TASK_A));
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(pin->offered, 1);
    assert_int_equal(created(kit), 1);
    assert_int_equal(testkit_count(kit, WORLD_REPLACED, ANY), 0);
    testkit_close(kit);
}

/* Goal: nothing is compared or merged. Method: a second create with another body; the handler still
 * sees the first. */
static void ct_04_the_first_payload_stays(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create_body(kit, TASK_A, "first"), PORT_OK);
    assert_int_equal(create_body(kit, TASK_A, "second"), PORT_ALREADY_EXISTS);
    testkit_run_for(kit, SECONDS(1));
    const struct journal_entry *entry = testkit_last(kit, WORLD_VISIBLE);
    assert_int_equal(entry->code, CLOUDTASKS_READER_HANDLER);
    assert_true(entry->value == digest_bytes(BYTES_LITERAL("first")));
    assert_true(testkit_last(kit, WORLD_CREATED)->value == entry->value);
    testkit_close(kit);
}

/* Goal: a long life does not use up the protection. Method: hold the task for days, run it, and ask
 * just before and at the end of an hour after its removal. */
static void ct_05_protection_starts_when_the_task_is_gone(void **state)
{
    struct testkit *kit = start_with("tombstone_reading", 1 + TOMBSTONE_ABOUT_ONE_HOUR);
    (void)state;
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, DAYS(3));
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(resume_queue(kit), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    const nanos gone = testkit_last(kit, WORLD_REMOVED)->time;
    testkit_run_until(kit, gone + HOURS(1) - 1);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    testkit_run_until(kit, gone + HOURS(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: "about an hour" and "fixed" release at their instant, not before, whatever the ttl says in
 * the first. Method: ask just before and at it. */
static void ct_06_a_fixed_window_ends_at_its_instant(void **state)
{
    static const struct {
        uint64_t reading;
        nanos ttl;
        nanos extra;
        nanos window;
    } cases[] = {
        {1 + TOMBSTONE_ABOUT_ONE_HOUR, 0, 0, HOURS(1)},
        {1 + TOMBSTONE_ABOUT_ONE_HOUR, DAYS(9), 0, HOURS(1)},
        {1 + TOMBSTONE_ABOUT_ONE_HOUR, 0, HOURS(1), HOURS(2)},
        {1 + TOMBSTONE_FIXED_TTL, 0, 0, HOURS(1)},
        {1 + TOMBSTONE_FIXED_TTL, DAYS(9), 0, DAYS(9)},
        {1 + TOMBSTONE_FIXED_TTL, HOURS(3), MINUTES(1), HOURS(3) + MINUTES(1)},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, "tombstone_reading", cases[i].reading);
        testkit_option(kit, "tombstone_ttl", cases[i].ttl);
        testkit_option(kit, "tombstone_extra", cases[i].extra);
        testkit_init(kit);
        const nanos gone = create_and_execute(kit, TASK_A);
        testkit_run_until(kit, gone + cases[i].window - 1);
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        assert_int_equal(testkit_count(kit, WORLD_EXPIRED, ANY), 0);
        testkit_run_until(kit, gone + cases[i].window);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(testkit_count(kit, WORLD_EXPIRED, CAUSE_TOMBSTONE_RELEASED), 1);
        testkit_close(kit);
    }
}

/* Goal: in the default reading a name is held for an hour whatever is drawn, then until its drawn
 * instant, and free after a day. Method: pin each class, ask around it. */
static void ct_06_within_a_day_the_release_is_drawn_per_name(void **state)
{
    static const struct {
        const char *outcome;
        nanos window;
    } cases[] = {
        {"just_after_the_minimum", HOURS(1)},
        {"after_two_hours", HOURS(2)},
        {"at_the_end", HOURS(24)},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.release", cases[i].outcome);
        testkit_init(kit);
        const nanos gone = create_and_execute(kit, TASK_A);
        testkit_run_until(kit, gone + HOURS(1) - 1);
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        assert_int_equal(pin->draws, 0);
        if (cases[i].window > HOURS(1)) {
            testkit_run_until(kit, gone + HOURS(1) + MINUTES(1));
            assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
            testkit_run_until(kit, gone + cases[i].window - 1);
            assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
            assert_int_equal(pin->draws, 1);
        }
        testkit_run_until(kit, gone + cases[i].window);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(pin->draws, 1);
        testkit_close(kit);
    }
}

/* Goal: only what an answer could tell apart is drawn. Method: first ask after two hours, and
 * after a day. */
static void ct_06_a_release_that_nobody_can_see_is_not_drawn(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.release", "at_the_end");
    (void)state;
    testkit_init(kit);
    const nanos gone = create_and_execute(kit, TASK_A);
    (void)create_and_execute(kit, TASK_B);
    testkit_run_until(kit, gone + HOURS(3));
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(pin->mask, 1u << RELEASE_AT_MINIMUM | 1u << RELEASE_AT_END);
    testkit_run_until(kit, gone + HOURS(25));
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: with "any" the run has one reading, drawn once and only when it matters. Method: pin it,
 * ask for two names. */
static void ct_06_any_reading_is_drawn_once_for_the_run(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.reading.tombstone", "fixed_ttl");
    (void)state;
    testkit_option(kit, "tombstone_reading", 0);
    testkit_option(kit, "tombstone_ttl", DAYS(2));
    testkit_init(kit);
    const nanos gone = create_and_execute(kit, TASK_A);
    (void)create_and_execute(kit, TASK_B);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(pin->draws, 0);
    testkit_run_until(kit, gone + HOURS(47));
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(create(kit, TASK_B), PORT_ALREADY_EXISTS);
    testkit_run_until(kit, gone + HOURS(49));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: T6, after the release a new task is made under the old name. Method: look at generations
 * and times. */
static void t6_after_the_release_a_new_task_is_made(void **state)
{
    struct testkit *kit = start();
    (void)state;
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + HOURS(30));
    assert_int_equal(create_body(kit, TASK_A, "another"), PORT_OK);
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_int_equal(entry->generation, 2);
    assert_true(entry->value == digest_bytes(BYTES_LITERAL("another")));
    assert_int_equal(testkit_last(kit, WORLD_EXPIRED)->generation, 1);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(testkit_last(kit, WORLD_REMOVED)->generation, 2);
    testkit_close(kit);
}

/* Goal: T4, names may be remembered for longer than configured. Method: a ttl of an hour, asked
 * after two. */
static void t4_a_name_may_be_remembered_beyond_its_ttl(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
    testkit_option(kit, "tombstone_ttl", HOURS(1));
    testkit_option(kit, "tombstone_extra", HOURS(2));
    testkit_init(kit);
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + HOURS(2));
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    testkit_run_until(kit, gone + HOURS(3));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: T13, a create may land late, on whatever is there then. Method: an effect
 * that comes after the name was released makes a second task. */
static void t13_a_late_create_meets_what_is_there_then(void **state)
{
    struct testkit *kit = start();
    (void)state;
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + MINUTES(59));
    assert_int_equal(create_issued(kit, TASK_A, 0), PORT_ALREADY_EXISTS);
    testkit_run_until(kit, gone + HOURS(25));
    assert_int_equal(create_issued(kit, TASK_A, 0), PORT_OK);
    assert_int_equal(created(kit), 2);
    testkit_close(kit);
}

/* Goal: T4 as it was observed: a name is remembered beyond a window that should be over, once it is
 * decided for good, and only under the profile. Method: pin it; both readings with a known window. */
static void t4_a_name_was_seen_remembered_after_two_hours(void **state)
{
    static const uint64_t readings[] = {1 + TOMBSTONE_ABOUT_ONE_HOUR, 1 + TOMBSTONE_FIXED_TTL};
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        for (size_t i = 0; i < ARRAY_COUNT(readings); i++) {
            struct testkit *kit = open_kit((enum profile)profile);
            struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.retention", "beyond");
            testkit_option(kit, "tombstone_reading", readings[i]);
            testkit_init(kit);
            const nanos gone = create_and_execute(kit, TASK_A);
            (void)create_and_execute(kit, TASK_B);
            testkit_run_until(kit, gone + HOURS(2));
            const bool beyond = profile != PROFILE_DOCUMENTED;
            assert_int_equal(create(kit, TASK_A), beyond ? PORT_ALREADY_EXISTS : PORT_OK);
            assert_int_equal(pin->draws, beyond);
            testkit_run_until(kit, gone + HOURS(1) + MINUTES(91));
            assert_int_equal(create(kit, TASK_B), PORT_OK);
            assert_int_equal(pin->draws, beyond);
            testkit_close(kit);
        }
    }
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_names, NAMES_TESTS(X))
