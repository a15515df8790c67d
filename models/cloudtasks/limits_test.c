/* What a well-formed request is: CT-02, CT-08, CT-09, CT-14, T1, T11.
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

#include <string.h>

#define BASE_SECONDS ((int64_t)(CLOCK_BASE / NANOS_PER_S))

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

static enum port_code create_at(struct testkit *kit, int64_t seconds, uint32_t rest)
{
    const struct cloudtasks_timestamp when = {seconds, rest};
    const struct cloudtasks_task task = {.http_request = &http_default, .schedule_time = &when};
    return create_task(kit, &task);
}

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

/* Goal: the size limit is the reading's. Method: tasks of the limit and one byte more, each
 * reading. */
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

/* Goal: T11, whatever else is malformed is refused and changes nothing. Method: one fault per
 * task. */
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

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_limits, LIMITS_TESTS(X))
