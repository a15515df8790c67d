/* The Cloud Tasks model, clause by clause: a test's name begins with the clause it is about, and the
 * table at the end leaves no clause without one.
 *
 * link: models/cloudtasks/cloudtasks models/cloudtasks/handler models/cloudtasks/limits
 * link: models/cloudtasks/names models/cloudtasks/queues models/model_testkit
 * link: sinks/port/cloudtasks sinks/port/port sinks/port/status
 * link: sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/cloudtasks/cloudtasks.h"

#include "models/cloudtasks/state.h"
#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

#define LOCATION "projects/p/locations/l"
#define QUEUE    LOCATION "/queues/q"
#define TASK_A   QUEUE "/tasks/a"
#define TASK_B   QUEUE "/tasks/b"
#define ANY      TESTKIT_ANY_CODE

/* --- how the tests speak to the model ------------------------------------------------------------- */

static struct testkit *open_kit(enum profile profile)
{
    return testkit_open(&cloudtasks_model, profile);
}

/* A model with default options under the documented profile. */
static struct testkit *start(void)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    testkit_init(kit);
    return kit;
}

static struct testkit *start_with(const char *key, uint64_t number)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    testkit_option(kit, key, number);
    testkit_init(kit);
    return kit;
}

/* A model where an outcome of a site is pinned. */
static struct testkit *start_pinned(const char *site, const char *outcome)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)testkit_pin(kit, site, outcome);
    testkit_init(kit);
    return kit;
}

static const struct cloudtasks_http_request http_default = {
    .url = {(const uint8_t *)"https://example.com/x", 21},
    .http_method = CLOUDTASKS_POST,
    .body = {(const uint8_t *)"body", 4},
};

static enum port_code create_task(struct testkit *kit, const struct cloudtasks_task *task)
{
    const struct cloudtasks_create_task_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .task = task,
    };
    return testkit_call(kit, &cloudtasks_create_task_method, &request);
}

/* Create a task with a name ("" is none) and a body. */
static enum port_code create_body(struct testkit *kit, const char *name, const char *body)
{
    struct cloudtasks_http_request http = http_default;
    http.body = bytes_of_text(body);
    const struct cloudtasks_task task = {.name = bytes_of_text(name), .http_request = &http};
    return create_task(kit, &task);
}

static enum port_code create(struct testkit *kit, const char *name)
{
    return create_body(kit, name, "body");
}

static enum port_code create_http(struct testkit *kit, const struct cloudtasks_http_request *http)
{
    const struct cloudtasks_task task = {.http_request = http};
    return create_task(kit, &task);
}

static enum port_code get(struct testkit *kit, const char *name)
{
    const struct cloudtasks_get_task_request request = {.name = bytes_of_text(name)};
    return testkit_call(kit, &cloudtasks_get_task_method, &request);
}

static enum port_code delete (struct testkit *kit, const char *name) {
    const struct cloudtasks_delete_task_request request = {.name = bytes_of_text(name)};
        return testkit_call(kit, &cloudtasks_delete_task_method, &request);
}

static enum port_code run(struct testkit *kit, const char *name)
{
    const struct cloudtasks_run_task_request request = {.name = bytes_of_text(name)};
    return testkit_call(kit, &cloudtasks_run_task_method, &request);
}

static enum port_code get_queue(struct testkit *kit)
{
    const struct cloudtasks_get_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_get_queue_method, &request);
}

static enum port_code pause_queue(struct testkit *kit)
{
    const struct cloudtasks_pause_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_pause_queue_method, &request);
}

static enum port_code resume_queue(struct testkit *kit)
{
    const struct cloudtasks_resume_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_resume_queue_method, &request);
}

static enum port_code purge_queue(struct testkit *kit)
{
    const struct cloudtasks_purge_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_purge_queue_method, &request);
}

static enum port_code delete_queue(struct testkit *kit)
{
    const struct cloudtasks_delete_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_delete_queue_method, &request);
}

static enum port_code create_queue_ttl(struct testkit *kit, int64_t ttl_seconds)
{
    const struct cloudtasks_duration ttl = {.seconds = ttl_seconds};
    const struct cloudtasks_queue queue = {
        .name = BYTES_LITERAL(QUEUE),
        .tombstone_ttl = ttl_seconds == 0 ? NULL : &ttl,
    };
    const struct cloudtasks_create_queue_request request = {
        .parent = BYTES_LITERAL(LOCATION),
        .queue = &queue,
    };
    return testkit_call(kit, &cloudtasks_create_queue_method, &request);
}

static enum port_code create_queue(struct testkit *kit)
{
    return create_queue_ttl(kit, 0);
}

static uint32_t created(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_CREATED, ANY);
}

static uint32_t handled(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_VISIBLE, CLOUDTASKS_READER_HANDLER);
}

static uint32_t removed(const struct testkit *kit, enum cloudtasks_cause cause)
{
    return testkit_count(kit, WORLD_REMOVED, (uint32_t)cause);
}

static const struct cloudtasks_task *task_answer(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

static const struct cloudtasks_queue *queue_answer(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

/* Create a task and let the handler do it: its name is remembered from the returned instant on. */
static nanos create_and_execute(struct testkit *kit, const char *name)
{
    assert_int_equal(create(kit, name), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    const struct journal_entry *entry = testkit_last(kit, WORLD_REMOVED);
    assert_int_equal(entry->code, CAUSE_EXECUTED);
    return entry->time;
}

/* --- CT-01, CT-02 --------------------------------------------------------------------------------- */

/* Goal: CreateTask does not make queues. Method: create where no queue is, then look for one. */
static void ct_01_create_without_a_queue_is_not_found(void **state)
{
    struct testkit *kit = start_with("queue_state", START_MISSING);
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(testkit_last(kit, WORLD_REFUSED)->code, PORT_NOT_FOUND);
    assert_int_equal(testkit_last(kit, WORLD_REFUSED)->request, 1);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(created(kit), 0);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: a queue missing by a fault comes back with the heal. Method: pin the fault, heal. */
static void ct_01_a_missing_queue_is_there_after_the_heal(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "missing_until_heal");
    testkit_init(kit);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_MISSING);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_heal(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* A task name with an id of so many letters. */
static struct bytes long_name(size_t id_size)
{
    static const char prefix[] = QUEUE "/tasks/";
    static uint8_t name[1024];
    memcpy(name, prefix, sizeof(prefix) - 1);
    memset(name + sizeof(prefix) - 1, 'x', id_size);
    return (struct bytes){name, sizeof(prefix) - 1 + id_size};
}

/* Goal: only well-formed ids in the queue itself are taken. Method: good and bad names. */
static void ct_02_a_task_id_has_500_of_few_characters(void **state)
{
    static const char *const bad[] = {
        "a",
        QUEUE,
        QUEUE "/tasks/",
        QUEUE "/tasks/a b",
        QUEUE "/tasks/a/b",
        QUEUE "/tasks/\xc3\xa4",
        LOCATION "/queues/other/tasks/a",
        QUEUE "x/tasks/a",
    };
    struct testkit *kit = start();
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(create(kit, bad[i]), PORT_INVALID_ARGUMENT);
    }
    assert_int_equal(create(kit, QUEUE "/tasks/aZ09_-"), PORT_OK);
    const struct cloudtasks_task longest = {.name = long_name(500), .http_request = &http_default};
    assert_int_equal(create_task(kit, &longest), PORT_OK);
    const struct cloudtasks_task longer = {.name = long_name(501), .http_request = &http_default};
    assert_int_equal(create_task(kit, &longer), PORT_INVALID_ARGUMENT);
    assert_int_equal(created(kit), 2);
    testkit_close(kit);
}

static enum port_code create_in(struct testkit *kit, const char *parent)
{
    const struct cloudtasks_task task = {.http_request = &http_default};
    const struct cloudtasks_create_task_request request = {
        .parent = bytes_of_text(parent),
        .task = &task,
    };
    return testkit_call(kit, &cloudtasks_create_task_method, &request);
}

/* Goal: a parent that no queue can have is wrong, not missing. Method: malformed parents. */
static void ct_02_a_queue_id_has_100_characters(void **state)
{
    char name[200] = LOCATION "/queues/";
    const size_t start_size = strlen(name);
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create_in(kit, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_in(kit, "projects/p/locations/l"), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_in(kit, LOCATION "/queues/"), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_in(kit, LOCATION "/queues/a_b"), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_in(kit, QUEUE "/"), PORT_INVALID_ARGUMENT);
    memset(name + start_size, 'q', 100);
    assert_int_equal(create_in(kit, name), PORT_NOT_FOUND);
    name[start_size + 100] = 'q';
    assert_int_equal(create_in(kit, name), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
}

/* Goal: T1, every unnamed create makes a task of its own. Method: compare names of two. */
static void t1_unnamed_creates_make_distinct_tasks(void **state)
{
    struct testkit *kit = start();
    char first[128];
    (void)state;
    assert_int_equal(create(kit, ""), PORT_OK);
    const struct bytes name = task_answer(kit)->name;
    assert_true(name.size < sizeof(first));
    memcpy(first, name.data, name.size);
    first[name.size] = 0;
    assert_true(cloudtasks_task_name_is_valid(name, BYTES_LITERAL(QUEUE)));
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_false(bytes_equal(task_answer(kit)->name, bytes_of_text(first)));
    assert_int_equal(created(kit), 2);
    assert_int_equal(get(kit, first), PORT_OK);
    assert_int_equal(create(kit, first), PORT_ALREADY_EXISTS);
    testkit_close(kit);
}

/* --- CT-03, CT-04, CT-05 -------------------------------------------------------------------------- */

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

static enum port_code create_issued(struct testkit *kit, const char *name, nanos issued)
{
    const struct cloudtasks_task task = {
        .name = bytes_of_text(name),
        .http_request = &http_default,
    };
    const struct cloudtasks_create_task_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .task = &task,
    };
    return testkit_call_issued(kit, &cloudtasks_create_task_method, &request, issued);
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

/* --- CT-06: the readings -------------------------------------------------------------------------- */

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

/* Goal: only what an answer could tell apart is drawn. Method: first ask after two hours, and after a
 * day. */
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

/* Goal: with "any" the run has one reading, drawn once and only when it matters. Method: pin it, ask
 * for two names. */
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

/* Goal: T6, after the release a new task is made under the old name. Method: look at generations and
 * times. */
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

/* Goal: T4, names may be remembered for longer than configured. Method: a ttl of an hour, asked after
 * two. */
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

/* Goal: T7, a shortened ttl shortens the protection of what is removed later. Method: the fault after
 * the first creation. */
static void t7_a_shortened_ttl_takes_protection_away(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
    testkit_option(kit, "tombstone_ttl", DAYS(9));
    testkit_option(kit, "admin_shorten_ttl", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "shorten_ttl_after_first");
    testkit_init(kit);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 9 * 24 * 3600);
    const nanos gone = create_and_execute(kit, TASK_A);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_TTL_SHORTENED);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 3600);
    testkit_run_until(kit, gone + HOURS(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* --- CT-07 to CT-09 ------------------------------------------------------------------------------- */

/* Goal: a task that is never dispatched is deleted at its age, and only then. Method: a paused queue
 * with tasks of two ages. */
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

static enum port_code create_at(struct testkit *kit, int64_t seconds, uint32_t rest)
{
    const struct cloudtasks_timestamp when = {seconds, rest};
    const struct cloudtasks_task task = {.http_request = &http_default, .schedule_time = &when};
    return create_task(kit, &task);
}

#define BASE_SECONDS ((int64_t)(CLOCK_BASE / NANOS_PER_S))

/* Goal: past means now, 30 days are the limit, times are cut to microseconds and seconds. Method:
 * times around each, and when the handler runs. */
static void ct_08_schedule_times(void **state)
{
    struct testkit *kit = start();
    (void)state;
    testkit_run_until(kit, MS(1500) + 7);
    assert_int_equal(create_at(kit, 12, 0), PORT_OK);
    assert_int_equal(task_answer(kit)->schedule_time->seconds, BASE_SECONDS + 1);
    assert_int_equal(task_answer(kit)->schedule_time->nanos, 500000000);
    assert_int_equal(task_answer(kit)->create_time->seconds, BASE_SECONDS + 1);
    assert_int_equal(task_answer(kit)->create_time->nanos, 0);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(create_at(kit, BASE_SECONDS + 100, 1999), PORT_OK);
    assert_int_equal(task_answer(kit)->schedule_time->nanos, 1000);
    testkit_run_until(kit, SECONDS(100));
    assert_int_equal(handled(kit), 1);
    testkit_run_until(kit, SECONDS(101));
    assert_int_equal(handled(kit), 2);
    assert_int_equal(create_at(kit, BASE_SECONDS + 101 + 30 * 24 * 3600, 0), PORT_OK);
    assert_int_equal(create_at(kit, BASE_SECONDS + 101 + 30 * 24 * 3600, 1), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_at(kit, BASE_SECONDS, 1000000000), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_at(kit, -5, 0), PORT_OK);
    assert_int_equal(create_at(kit, INT64_MAX, 0), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
}

/* A task whose wire form has exactly so many bytes. */
static enum port_code create_sized(struct testkit *kit, size_t wire_size)
{
    static uint8_t body[(1u << 20) + 1];
    struct cloudtasks_http_request http = http_default;
    const struct cloudtasks_task task = {.http_request = &http};
    http.body = (struct bytes){body, wire_size - 100};
    const size_t around = port_encoded_size(&cloudtasks_task_message, &task) - http.body.size;
    http.body.size = wire_size - around;
    assert_int_equal(port_encoded_size(&cloudtasks_task_message, &task), wire_size);
    return create_task(kit, &task);
}

/* Goal: the size limit is the reading's. Method: tasks of the limit and one byte more, each reading. */
static void ct_09_the_size_of_a_task(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create_sized(kit, 100000), PORT_OK);
    assert_int_equal(create_sized(kit, 100001), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
    kit = start_with("task_size_reading", 1 + TASK_SIZE_MIB_1);
    assert_int_equal(create_sized(kit, 1 << 20), PORT_OK);
    assert_int_equal(create_sized(kit, (1 << 20) + 1), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
    kit = open_kit(PROFILE_DOCUMENTED);
    testkit_option(kit, "task_size_reading", 0);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.reading.task_size", "mib_1");
    testkit_init(kit);
    assert_int_equal(create_sized(kit, 100000), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create_sized(kit, 100001), PORT_OK);
    assert_int_equal(create_sized(kit, 200000), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: a body goes only with the methods that take one. Method: every method with and without. */
static void ct_09_a_body_needs_a_method_that_takes_it(void **state)
{
    static const struct {
        uint32_t method;
        bool http;
        bool app_engine;
    } cases[] = {
        {CLOUDTASKS_HTTP_METHOD_NONE, true, true},
        {CLOUDTASKS_POST, true, true},
        {CLOUDTASKS_PUT, true, true},
        {CLOUDTASKS_PATCH, true, false},
        {CLOUDTASKS_GET, false, false},
        {CLOUDTASKS_HEAD, false, false},
        {CLOUDTASKS_DELETE, false, false},
        {CLOUDTASKS_OPTIONS, false, false},
    };
    struct testkit *kit = start();
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct cloudtasks_http_request http = http_default;
        struct cloudtasks_app_engine_http_request app = {
            .relative_uri = BYTES_LITERAL("/x"),
            .body = BYTES_LITERAL("body"),
        };
        const struct cloudtasks_task app_task = {.app_engine_http_request = &app};
        http.http_method = cases[i].method;
        app.http_method = cases[i].method;
        assert_int_equal(create_http(kit, &http), cases[i].http ? PORT_OK : PORT_INVALID_ARGUMENT);
        assert_int_equal(create_task(kit, &app_task),
                         cases[i].app_engine ? PORT_OK : PORT_INVALID_ARGUMENT);
        http.body = (struct bytes){NULL, 0};
        app.body = (struct bytes){NULL, 0};
        assert_int_equal(create_http(kit, &http), PORT_OK);
        assert_int_equal(create_task(kit, &app_task), PORT_OK);
    }
    testkit_close(kit);
}

/* Goal: T11, whatever else is malformed is refused and changes nothing. Method: one fault per task. */
static void t11_malformed_tasks_are_invalid(void **state)
{
    static uint8_t letters[80000];
    static const uint8_t scheme[] = "https://";
    struct testkit *kit = start();
    struct cloudtasks_http_request http = http_default;
    const struct cloudtasks_task neither = {.name = {NULL, 0}};
    const struct cloudtasks_app_engine_http_request app = {.relative_uri = BYTES_LITERAL("x")};
    const struct cloudtasks_task relative = {.app_engine_http_request = &app};
    const struct cloudtasks_task both = {
        .http_request = &http_default,
        .app_engine_http_request = &app,
    };
    (void)state;
    memset(letters, 'u', sizeof(letters));
    memcpy(letters, scheme, sizeof(scheme) - 1);
    assert_int_equal(create_task(kit, NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_task(kit, &neither), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_task(kit, &both), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_task(kit, &relative), PORT_INVALID_ARGUMENT);
    http.url = (struct bytes){letters, 2084};
    assert_int_equal(create_http(kit, &http), PORT_INVALID_ARGUMENT);
    http.url.size = 2083;
    assert_int_equal(create_http(kit, &http), PORT_OK);
    http.url = BYTES_LITERAL("https://");
    assert_int_equal(create_http(kit, &http), PORT_INVALID_ARGUMENT);
    http.url = BYTES_LITERAL("ftp://example.com");
    assert_int_equal(create_http(kit, &http), PORT_INVALID_ARGUMENT);
    http = http_default;
    http.http_method = 8;
    assert_int_equal(create_http(kit, &http), PORT_INVALID_ARGUMENT);
    http = http_default;
    struct cloudtasks_header header = {BYTES_LITERAL("k"), {letters, 79999}};
    const void *const headers[] = {&header};
    http.headers = (struct port_list){headers, 1};
    assert_int_equal(create_http(kit, &http), PORT_INVALID_ARGUMENT);
    header.value.size = 79998;
    assert_int_equal(create_http(kit, &http), PORT_OK);
    assert_int_equal(created(kit), 2);
    testkit_close(kit);
}

/* --- CT-10, CT-11 --------------------------------------------------------------------------------- */

/* Goal: a paused queue takes tasks and dispatches none until it is resumed. Method: pause by call and
 * by option. */
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

/* Goal: T8, pauses from outside end by themselves or with the heal. Method: pin each. */
static void t8_a_pause_from_outside_ends(void **state)
{
    static const struct {
        const char *outcome;
        bool brief;
    } cases[] = {
        {"pause_at_start_brief", true},
        {"pause_at_start_until_heal", false},
        {"pause_after_first_until_heal", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, "admin_pause", 1);
        testkit_option(kit, "admin_length", SECONDS(40));
        (void)testkit_pin(kit, "cloudtasks.admin", cases[i].outcome);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_PAUSED);
        testkit_run_until(kit, SECONDS(39));
        assert_int_equal(handled(kit), 0);
        testkit_run_until(kit, SECONDS(41));
        assert_int_equal(handled(kit), cases[i].brief);
        testkit_run_until(kit, HOURS(1));
        assert_int_equal(handled(kit), cases[i].brief);
        testkit_heal(kit);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(handled(kit), 1);
        testkit_close(kit);
    }
}

/* Goal: heal before the end of a brief pause ends it, once. Method: heal, pause by the job, and pass
 * the instant at which the brief pause would have ended. */
static void t8_a_heal_leaves_the_jobs_own_pause_alone(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_pause", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "pause_at_start_brief");
    testkit_init(kit);
    testkit_run_until(kit, SECONDS(1));
    testkit_heal(kit);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, MINUTES(5));
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: a waking queue is NOT_FOUND and dispatches nothing, then is as before. Method: pin it. */
static void ct_11_a_waking_queue_is_not_found_for_a_while(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    testkit_option(kit, "admin_length", MINUTES(3));
    (void)testkit_pin(kit, "cloudtasks.admin", "waking_at_start");
    testkit_init(kit);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_run_until(kit, MINUTES(3) - 1);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_until(kit, MINUTES(3) + 1);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(kit->world->fault->last_at, MINUTES(3));
    testkit_close(kit);
}

/* Goal: T9, waking ends with the heal, and single calls may meet it. Method: heal; the fate menu. */
static void t9_waking_ends_with_the_heal(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "waking_at_start");
    testkit_init(kit);
    testkit_heal(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, HOURS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
}

/* --- CT-12 to CT-16: dispatch --------------------------------------------------------------------- */

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

/* Goal: a second dispatch after the first was done is allowed, and makes no second task. Method: pin
 * it; both show the handler the same task. */
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

/* Goal: T12, the handler can see a task more than once, but not without bound. Method: every outcome
 * of the site; count what the handler saw and that the task ends. */
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

/* Goal: only a 2xx that the service heard removes a task. Method: a failing handler and a lost answer;
 * the name stays taken until the second attempt is done. */
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

static enum port_code
create_deadline(struct testkit *kit, int64_t seconds, uint32_t rest, bool app_engine)
{
    const struct cloudtasks_duration deadline = {seconds, rest};
    const struct cloudtasks_app_engine_http_request app = {.relative_uri = BYTES_LITERAL("/x")};
    const struct cloudtasks_task task = {
        .http_request = app_engine ? NULL : &http_default,
        .app_engine_http_request = app_engine ? &app : NULL,
        .dispatch_deadline = &deadline,
    };
    return create_task(kit, &task);
}

/* Goal: the dispatch deadline has its range and default. Method: values around both ends. */
static void ct_14_the_dispatch_deadline_has_a_range(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_int_equal(task_answer(kit)->dispatch_deadline->seconds, 600);
    assert_int_equal(create_deadline(kit, 15, 0, false), PORT_OK);
    assert_int_equal(task_answer(kit)->dispatch_deadline->seconds, 15);
    assert_int_equal(create_deadline(kit, 14, 999999999, false), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_deadline(kit, -20, 0, false), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_deadline(kit, 20, 1000000000, false), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_deadline(kit, 1800, 0, false), PORT_OK);
    assert_int_equal(create_deadline(kit, 1800, 1, false), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_deadline(kit, 24 * 3600 + 15, 0, true), PORT_OK);
    assert_int_equal(create_deadline(kit, 24 * 3600 + 16, 0, true), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
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

/* --- CT-17, CT-19, CT-20 -------------------------------------------------------------------------- */

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

/* Goal: a scheduled or running task can be deleted, a done one not; the name stays remembered. Method:
 * all three. */
static void ct_19_delete_takes_what_is_not_done(void **state)
{
    struct testkit *kit = start_with("handler_latency", SECONDS(5));
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(delete (kit, TASK_A), PORT_OK);
    assert_int_equal(delete (kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(delete (kit, TASK_B), PORT_OK);
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

/* Goal: a purge deletes what was there before, and nothing later. Method: a task before, one after; a
 * purge that takes its minute. */
static void ct_20_a_purge_takes_the_tasks_before_it(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.purge", "in_a_minute");
    (void)state;
    testkit_init(kit);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(30));
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_int_equal(testkit_pending(kit), 1);
    testkit_run_for(kit, SECONDS(30));
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get(kit, TASK_B), PORT_OK);
    assert_int_equal(removed(kit, CAUSE_PURGED), 1);
    assert_int_equal(testkit_pending(kit), 0);
    pin->value = PURGE_AT_ONCE;
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(get(kit, TASK_B), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_PURGED), 2);
    testkit_close(kit);
}

/* Goal: a task may still be dispatched while the purge is under way. Method: it is, then is not purged
 * a second time. */
static void ct_20_tasks_may_be_dispatched_during_a_purge(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.purge", "in_a_minute");
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    testkit_run_for(kit, MINUTES(2));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(removed(kit, CAUSE_PURGED), 0);
    testkit_close(kit);
}

/* Goal: T7 and an open point: purged names are remembered, but not for the adversary. Method: create
 * again under each. */
static void t7_a_purge_may_forget_names_for_the_adversary(void **state)
{
    static const struct {
        enum profile profile;
        uint64_t option;
        enum port_code code;
    } cases[] = {
        {PROFILE_DOCUMENTED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_OBSERVED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_ADVERSARY, TOMBSTONES_BY_PROFILE, PORT_OK},
        {PROFILE_ADVERSARY, TOMBSTONES_KEPT, PORT_ALREADY_EXISTS},
        {PROFILE_DOCUMENTED, TOMBSTONES_LOST, PORT_OK},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(cases[i].profile);
        testkit_option(kit, "purge_tombstones", cases[i].option);
        testkit_option(kit, "admin_purge", 1);
        (void)testkit_pin(kit, "cloudtasks.admin", "purge_after_first");
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(removed(kit, CAUSE_PURGED), 1);
        assert_int_equal(create(kit, TASK_A), cases[i].code);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(handled(kit), cases[i].code == PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: a second dispatch of a task is called off by the next task of its name. Method: let both fall
 * on one instant, the creation first. */
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

/* --- CT-21 ---------------------------------------------------------------------------------------- */

/* Goal: DeleteQueue drops the tasks and takes the queue away. Method: look for both. */
static void ct_21_delete_queue_drops_all_tasks(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(delete_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_QUEUE_DELETED), 2);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
}

/* Goal: the two readings of the name's rest. Method: CreateQueue before and after each window. */
static void ct_21_a_deleted_queues_name_rests(void **state)
{
    struct testkit *kit = start_with("queue_reuse_reading", 1 + QUEUE_REUSE_REFUSE_7D);
    (void)state;
    assert_int_equal(create_queue(kit), PORT_ALREADY_EXISTS);
    assert_int_equal(delete_queue(kit), PORT_OK);
    testkit_run_for(kit, DAYS(7) - 1);
    assert_int_equal(create_queue(kit), PORT_FAILED_PRECONDITION);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_run_for(kit, 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);

    kit = start_with("queue_reuse_reading", 1 + QUEUE_REUSE_GHOST_3D);
    assert_int_equal(delete_queue(kit), PORT_OK);
    testkit_run_for(kit, DAYS(3) - 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_non_null(kit->payload);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_for(kit, 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(get_queue(kit), PORT_OK);
    testkit_close(kit);
}

/* Goal: by default the run draws one of the readings, once. Method: pin the second. */
static void ct_21_the_reading_is_drawn_once(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.reading.queue_reuse", "ghost_3d");
    (void)state;
    testkit_init(kit);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: an open point: names outlive the queue, but not for the adversary. Method: re-create the queue
 * while a fixed window of nine days still runs. */
static void ct_21_names_outlive_their_queue_but_not_for_the_adversary(void **state)
{
    static const struct {
        enum profile profile;
        uint64_t option;
        enum port_code code;
    } cases[] = {
        {PROFILE_DOCUMENTED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_ADVERSARY, TOMBSTONES_BY_PROFILE, PORT_OK},
        {PROFILE_ADVERSARY, TOMBSTONES_KEPT, PORT_ALREADY_EXISTS},
        {PROFILE_DOCUMENTED, TOMBSTONES_LOST, PORT_OK},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(cases[i].profile);
        testkit_option(kit, "recreate_tombstones", cases[i].option);
        testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
        testkit_option(kit, "tombstone_ttl", DAYS(9));
        testkit_option(kit, "queue_reuse_reading", 1 + QUEUE_REUSE_GHOST_3D);
        testkit_init(kit);
        (void)create_and_execute(kit, TASK_A);
        assert_int_equal(delete_queue(kit), PORT_OK);
        testkit_run_for(kit, DAYS(3));
        assert_int_equal(create_queue_ttl(kit, 9 * 24 * 3600), PORT_OK);
        assert_int_equal(create(kit, TASK_A), cases[i].code);
        assert_int_equal(testkit_count(kit, WORLD_EXPIRED, CAUSE_TOMBSTONE_LOST),
                         cases[i].code == PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: T7, deletion from outside comes with a re-creation as soon as the name allows it, which the
 * heal does not hasten. Method: pin it. */
static void t7_a_queue_deleted_from_outside_comes_back_by_the_rules(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_recreate", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "recreate_after_fourth");
    testkit_init(kit);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(get_queue(kit), PORT_OK);
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    assert_int_equal(removed(kit, CAUSE_QUEUE_DELETED), 4);
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    assert_int_equal(kit->world->fault->last_at, DAYS(7));
    testkit_heal(kit);
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    testkit_run_until(kit, DAYS(7) + 1);
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_CREATED);
    testkit_close(kit);
}

/* Goal: what no option offers is not done to a queue. Method: no draw without an option; with one, only
 * its own group is on offer. */
static void t7_only_what_the_options_offer_is_done(void **state)
{
    static const struct {
        const char *option;
        uint32_t mask;
    } groups[] = {
        {"admin_pause", 1u << ADMIN_PAUSE_BRIEF | 1u << ADMIN_PAUSE | 1u << ADMIN_PAUSE_LATER},
        {"admin_missing", 1u << ADMIN_WAKING | 1u << ADMIN_MISSING},
        {"admin_purge", 1u << ADMIN_PURGE_FIRST | 1u << ADMIN_PURGE_FOURTH},
        {"admin_recreate", 1u << ADMIN_RECREATE_FIRST | 1u << ADMIN_RECREATE_FOURTH},
        {"admin_shorten_ttl", 1u << ADMIN_SHORTEN_FIRST | 1u << ADMIN_SHORTEN_FOURTH},
    };
    struct testkit *kit = open_kit(PROFILE_ADVERSARY);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.admin", "none");
    (void)state;
    testkit_init(kit);
    assert_int_equal(pin->draws, 0);
    testkit_close(kit);
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, groups[i].option, 1);
        pin = testkit_pin(kit, "cloudtasks.admin", "none");
        testkit_init(kit);
        assert_int_equal(pin->draws, 1);
        assert_int_equal(pin->mask & ~1u, groups[i].mask);
        testkit_close(kit);
    }
}

/* Goal: a healed run is not harmed any more. Method: heal before the creation that was waited for. */
static void t7_the_heal_calls_off_what_was_planned(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_purge", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "purge_after_fourth");
    testkit_init(kit);
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_heal(kit);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    assert_int_equal(removed(kit, CAUSE_PURGED), 0);
    testkit_close(kit);
}

/* --- what becomes of calls: the fate menus -------------------------------------------------------- */

static const struct fate_menu *menu_of(const struct port_method *method)
{
    for (size_t i = 0; i < cloudtasks_model.fate_count; i++) {
        if (cloudtasks_model.fates[i].method == method) {
            return &cloudtasks_model.fates[i];
        }
    }
    fail_msg("no menu for %s", method->name);
    return NULL;
}

/* The first fate of CreateTask with an action and a code, or NULL. */
static const struct fate *create_fate(enum fate_action action, enum port_code code)
{
    const struct fate_menu *menu = menu_of(&cloudtasks_create_task_method);
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        const struct fate *fate = &menu->fates[i];
        if (fate->action == (uint8_t)action && fate->code == (uint8_t)code) {
            return fate;
        }
    }
    return NULL;
}

/* Goal: after an ambiguous answer a named task is found again, an unnamed one doubles. Method: the
 * menu has the ambiguous fates; the retry of an effect that landed. */
static void ct_23_an_ambiguous_create_may_have_happened(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_DEADLINE_EXCEEDED));
    assert_non_null(create_fate(FATE_REQUEST_LOST, PORT_OK));
    assert_non_null(create_fate(FATE_ANSWER_LOST, PORT_OK));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(created(kit), 1);
    assert_int_equal(create_body(kit, "", "unnamed"), PORT_OK);
    assert_int_equal(create_body(kit, "", "unnamed"), PORT_OK);
    assert_int_equal(created(kit), 3);
    testkit_close(kit);
}

/* Goal: quota and permission refusals have no effect. Method: they are in the menu as refusals only. */
static void ct_26_t10_refusals_have_no_effect(void **state)
{
    (void)state;
    assert_non_null(create_fate(FATE_REFUSED, PORT_RESOURCE_EXHAUSTED));
    assert_non_null(create_fate(FATE_REFUSED, PORT_PERMISSION_DENIED));
    assert_null(create_fate(FATE_AMBIGUOUS, PORT_RESOURCE_EXHAUSTED));
    assert_null(create_fate(FATE_AMBIGUOUS, PORT_PERMISSION_DENIED));
}

/* Goal: T13, a create may land late, on whatever is there then. Method: the menu has the fate; an
 * effect that comes after the name was released makes a second task. */
static void t13_a_late_create_meets_what_is_there_then(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_non_null(create_fate(FATE_APPLIED_LATER, PORT_OK));
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + MINUTES(59));
    assert_int_equal(create_issued(kit, TASK_A, 0), PORT_ALREADY_EXISTS);
    testkit_run_until(kit, gone + HOURS(25));
    assert_int_equal(create_issued(kit, TASK_A, 0), PORT_OK);
    assert_int_equal(created(kit), 2);
    testkit_close(kit);
}

/* Goal: T14, GetQueue shows the ttl if there is one, to those who may read. Method: three settings. */
static void t14_get_queue_tells_the_ttl(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_null(queue_answer(kit)->tombstone_ttl);
    assert_int_equal(queue_answer(kit)->task_ttl->seconds, 31 * 24 * 3600);
    testkit_close(kit);
    kit = start_with("tombstone_ttl", HOURS(2));
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 7200);
    testkit_close(kit);
    kit = start_with("queue_readable", 0);
    assert_int_equal(get_queue(kit), PORT_PERMISSION_DENIED);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
    kit = start_with("queue_state", START_MISSING);
    assert_int_equal(create_queue_ttl(kit, 3599), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, 9 * 24 * 3600 + 1), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, -1), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, 3600), PORT_OK);
    testkit_close(kit);
}

/* Goal, an answer after an effect carries OK or one of the ambiguous codes, never a
 * definite one, both of the usual ones occur with and without effect; X-16, a cancelled
 * call may complete. Method: walk all menus. */
static void x_05_only_ambiguous_codes_come_after_an_effect(void **state)
{
    const uint32_t ambiguous =
        PORT_CODE_BIT(PORT_UNAVAILABLE) | PORT_CODE_BIT(PORT_DEADLINE_EXCEEDED) |
        PORT_CODE_BIT(PORT_CANCELLED) | PORT_CODE_BIT(PORT_UNKNOWN) | PORT_CODE_BIT(PORT_INTERNAL);
    uint32_t seen = 0;
    (void)state;
    for (size_t i = 0; i < cloudtasks_model.fate_count; i++) {
        const struct fate_menu *menu = &cloudtasks_model.fates[i];
        for (uint32_t j = 0; j < menu->site->outcome_count; j++) {
            if (menu->fates[j].action == FATE_AMBIGUOUS) {
                assert_true((ambiguous >> menu->fates[j].code & 1) != 0);
                seen |= PORT_CODE_BIT(menu->fates[j].code);
            }
        }
    }
    assert_int_equal(seen, ambiguous);
    assert_non_null(create_fate(FATE_REFUSED, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_REFUSED, PORT_DEADLINE_EXCEEDED));
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_CANCELLED));
    assert_non_null(create_fate(FATE_WRAPPED, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_DUPLICATED, PORT_OK));
}

/* --- the type object ------------------------------------------------------------------------------ */

/* Goal: an entry's record is recognised by content. Method: bodies, or URLs where there is no body. */
static void content_is_the_body_or_the_url(void **state)
{
    struct testkit *kit = start();
    struct cloudtasks_http_request http = http_default;
    const struct cloudtasks_app_engine_http_request app = {.relative_uri = BYTES_LITERAL("/r")};
    const struct cloudtasks_task app_task = {.app_engine_http_request = &app};
    const struct cloudtasks_app_engine_http_request bare = {.http_method = CLOUDTASKS_GET};
    const struct cloudtasks_task bare_task = {.app_engine_http_request = &bare};
    (void)state;
    assert_int_equal(create_http(kit, &http), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(http.body));
    http.body = (struct bytes){NULL, 0};
    assert_int_equal(create_http(kit, &http), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(http.url));
    assert_int_equal(create_task(kit, &app_task), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(app.relative_uri));
    assert_int_equal(create_task(kit, &bare_task), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == 0);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 4);
    testkit_close(kit);
}

/* Goal: the identity of a create is its name, of all else nothing. Method: ask. */
static void identity_is_the_task_name(void **state)
{
    const struct cloudtasks_task named = {.name = BYTES_LITERAL(TASK_A)};
    const struct cloudtasks_task unnamed = {.http_request = &http_default};
    struct cloudtasks_create_task_request request = {.task = &named};
    const struct cloudtasks_get_task_request other = {.name = BYTES_LITERAL(TASK_A)};
    (void)state;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) ==
                digest_bytes(BYTES_LITERAL(TASK_A)));
    request.task = &unnamed;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) == 0);
    request.task = NULL;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) == 0);
    assert_true(cloudtasks_model.identity(&cloudtasks_get_task_method, &other) == 0);
}

/* Goal: many names, many queues: tables grow and nothing gets lost. Method: a thousand tasks in three
 * queues, all named, all asked for again. */
static void tables_grow(void **state)
{
    static const char *const queues[] = {QUEUE, LOCATION "/queues/r", LOCATION "/queues/s"};
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    kit->options[OPTION_QUEUE].text =
        BYTES_LITERAL(" " QUEUE "  " LOCATION "/queues/r not_a_queue " LOCATION "/queues/s " QUEUE);
    testkit_option(kit, "dispatch", 0);
    testkit_init(kit);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            uint8_t name[128];
            struct byte_writer writer;
            byte_writer_init(&writer, name, sizeof(name));
            byte_writer_text(&writer, queues[i % 3]);
            byte_writer_text(&writer, "/tasks/");
            byte_writer_decimal(&writer, i);
            const struct cloudtasks_task task = {
                .name = byte_writer_view(&writer),
                .http_request = &http_default,
            };
            const struct cloudtasks_create_task_request request = {
                .parent = bytes_of_text(queues[i % 3]),
                .task = &task,
            };
            assert_int_equal(testkit_call(kit, &cloudtasks_create_task_method, &request),
                             round == 0 ? PORT_OK : PORT_ALREADY_EXISTS);
        }
    }
    assert_int_equal(created(kit), 1000);
    testkit_run_until(kit, DAYS(31) + SECONDS(1));
    assert_int_equal(removed(kit, CAUSE_TTL), 1000);
    testkit_close(kit);
}

/* Goal: what is not modelled says so. Method: ListTasks. */
static void list_tasks_is_unimplemented(void **state)
{
    struct testkit *kit = start();
    const struct cloudtasks_list_tasks_request request = {.parent = BYTES_LITERAL(QUEUE)};
    (void)state;
    assert_int_equal(testkit_call(kit, &cloudtasks_list_tasks_method, &request),
                     PORT_UNIMPLEMENTED);
    testkit_close(kit);
}

/* Goal: equal histories have equal digests, and each step changes it. Method: two models, one step
 * ahead of the other. */
static void digest_covers_each_step(void **state)
{
    struct testkit *a = start();
    struct testkit *b = start();
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(cloudtasks_model.digest(a->state) == cloudtasks_model.digest(b->state));
        assert_int_equal(create(a, ""), PORT_OK);
        assert_true(cloudtasks_model.digest(a->state) != cloudtasks_model.digest(b->state));
        assert_int_equal(create(b, ""), PORT_OK);
        testkit_run_for(a, SECONDS(1));
        assert_true(cloudtasks_model.digest(a->state) != cloudtasks_model.digest(b->state));
        testkit_run_for(b, SECONDS(1));
    }
    testkit_close(a);
    testkit_close(b);
}

/* Tests by clause. The first word of a name is the clause; ids that a test covers besides follow. */
#define CLAUSE_TESTS(X)                                                                            \
    X("CT-01", ct_01_create_without_a_queue_is_not_found)                                          \
    X("CT-01", ct_01_a_missing_queue_is_there_after_the_heal)                                      \
    X("CT-02", ct_02_a_task_id_has_500_of_few_characters)                                          \
    X("CT-02", ct_02_a_queue_id_has_100_characters)                                                \
    X("T1 CT-02", t1_unnamed_creates_make_distinct_tasks)                                          \
    X("CT-03", ct_03_a_name_that_lives_or_is_remembered_already_exists)                            \
    X("CT-03", ct_03_of_concurrent_creates_one_wins)                                               \
    X("T5", t5_two_may_be_told_ok_about_one_task)                                                  \
    X("CT-04", ct_04_the_first_payload_stays)                                                      \
    X("CT-05", ct_05_protection_starts_when_the_task_is_gone)                                      \
    X("CT-06", ct_06_a_fixed_window_ends_at_its_instant)                                           \
    X("CT-06", ct_06_within_a_day_the_release_is_drawn_per_name)                                   \
    X("CT-06", ct_06_a_release_that_nobody_can_see_is_not_drawn)                                   \
    X("CT-06", ct_06_any_reading_is_drawn_once_for_the_run)                                        \
    X("T6", t6_after_the_release_a_new_task_is_made)                                               \
    X("T4", t4_a_name_may_be_remembered_beyond_its_ttl)                                            \
    X("T7", t7_a_shortened_ttl_takes_protection_away)                                              \
    X("CT-07", ct_07_a_task_is_deleted_at_its_ttl)                                                 \
    X("CT-08", ct_08_schedule_times)                                                               \
    X("CT-09", ct_09_the_size_of_a_task)                                                           \
    X("CT-09", ct_09_a_body_needs_a_method_that_takes_it)                                          \
    X("T11 CT-09", t11_malformed_tasks_are_invalid)                                                \
    X("CT-10", ct_10_a_paused_queue_takes_tasks_and_holds_them)                                    \
    X("T8 CT-10", t8_a_pause_from_outside_ends)                                                    \
    X("T8", t8_a_heal_leaves_the_jobs_own_pause_alone)                                             \
    X("CT-11", ct_11_a_waking_queue_is_not_found_for_a_while)                                      \
    X("T9 CT-11", t9_waking_ends_with_the_heal)                                                    \
    X("CT-12", ct_12_every_task_is_dispatched)                                                     \
    X("CT-12", ct_12_a_task_may_be_dispatched_twice)                                               \
    X("CT-12", ct_12_a_later_task_may_come_first)                                                  \
    X("CT-12", ct_12_a_new_task_of_the_name_ends_old_dispatches)                                   \
    X("T12 CT-12", t12_a_handler_sees_a_task_once_or_twice)                                        \
    X("CT-13", ct_13_only_a_success_removes_the_task)                                              \
    X("CT-14", ct_14_the_dispatch_deadline_has_a_range)                                            \
    X("CT-14", ct_14_an_attempt_that_overruns_is_repeated)                                         \
    X("CT-16", ct_16_run_task_dispatches_at_once)                                                  \
    X("CT-17", ct_17_a_task_that_is_done_is_not_found)                                             \
    X("CT-19", ct_19_delete_takes_what_is_not_done)                                                \
    X("CT-20", ct_20_a_purge_takes_the_tasks_before_it)                                            \
    X("CT-20", ct_20_tasks_may_be_dispatched_during_a_purge)                                       \
    X("T7 CT-20", t7_a_purge_may_forget_names_for_the_adversary)                                   \
    X("CT-21", ct_21_delete_queue_drops_all_tasks)                                                 \
    X("CT-21", ct_21_a_deleted_queues_name_rests)                                                  \
    X("CT-21", ct_21_the_reading_is_drawn_once)                                                    \
    X("CT-21", ct_21_names_outlive_their_queue_but_not_for_the_adversary)                          \
    X("T7 CT-21", t7_a_queue_deleted_from_outside_comes_back_by_the_rules)                         \
    X("T7", t7_only_what_the_options_offer_is_done)                                                \
    X("T7", t7_the_heal_calls_off_what_was_planned)                                                \
    X("CT-23", ct_23_an_ambiguous_create_may_have_happened)                                        \
    X("CT-26 T10", ct_26_t10_refusals_have_no_effect)                                              \
    X("T13", t13_a_late_create_meets_what_is_there_then)                                           \
    X("T14", t14_get_queue_tells_the_ttl)                                                          \
    X("X-05 X-01 X-03 X-04 X-16", x_05_only_ambiguous_codes_come_after_an_effect)

/* Goal: the tables agree, and every clause has its test or a reason. Method: walk them. */
static void every_clause_has_its_test(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, test},
        CLAUSE_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&cloudtasks_model, 0x1000, 0x10ff);
    testkit_check_clause_tests(&cloudtasks_model, tests, ARRAY_COUNT(tests));
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks,
          CLAUSE_TESTS(X) TEST(every_clause_has_its_test),
          TEST(content_is_the_body_or_the_url),
          TEST(identity_is_the_task_name),
          TEST(tables_grow),
          TEST(list_tasks_is_unimplemented),
          TEST(digest_covers_each_step))
