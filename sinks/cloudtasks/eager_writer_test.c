/* The eager writer of Cloud Tasks: every row of the status matrix, budgets, capacity, barriers, the
 * failure policy, and closing at every moment.
 * link: sinks/cloudtasks/eager_writer sinks/cloudtasks/entry sinks/cloudtasks/options
 * link: sinks/cloudtasks/identity sinks/cloudtasks/classify sinks/cloudtasks/user_testkit
 * link: sinks/host_testkit sinks/parking sinks/requests sinks/retry sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/port/cloudtasks sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/allocator sinks/base/units sinks/base/sha256
 */
#include "sinks/cloudtasks/eager_writer.h"

#include "sinks/base/sha256.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/cloudtasks/user_testkit.h"
#include "sinks/host_testkit.h"
#include "sinks/port/cloudtasks.h"

#include <stdio.h>
#include <string.h>

static struct test_user user;

static void begin_raw(struct host *host, bool named)
{
    memset(host, 0, sizeof(*host));
    test_user_init(&user, named);
    user.job.destination_fixed = true;
}

static void begin(struct host *host, bool named)
{
    begin_raw(host, named);
    assert_int_equal(
        host_init(
            host, named ? &cloudtasks_eager_named_half : &cloudtasks_eager_unnamed_half, &user.env),
        ERR_OK);
    host_open(host);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
}

/* What a send carried, decoded. */
static struct cloudtasks_create_task_request *
decoded(const struct host_send *send, const struct allocator *allocator, size_t *size)
{
    void *value = NULL;
    assert_int_equal(port_decode(&cloudtasks_create_task_request_message,
                                 (struct bytes){send->bytes, send->size},
                                 allocator,
                                 &value,
                                 size),
                     ERR_OK);
    return value;
}

static void a_record_is_sent_at_once_and_accepted(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 7, "k", "hello");
    assert_int_equal(host.send_count, 1);
    assert_ptr_equal(host.sends[0].method, &cloudtasks_create_task_method);
    assert_int_equal(host.sends[0].deadline, SECONDS(20));
    assert_false(host.sends[0].deadline_is_absolute);
    assert_int_equal(host_effect(&host, SINK_EFFECT_ACCEPTED, 0)->u.token, 7);
    size_t size = 0;
    struct cloudtasks_create_task_request *request =
        decoded(&host.sends[0], &host.allocator, &size);
    assert_bytes_equal(request->parent, BYTES_LITERAL(TEST_QUEUE));
    assert_int_equal(request->task->name.size, 0);
    assert_bytes_equal(request->task->http_request->body, BYTES_LITERAL("hello"));
    allocator_give(&host.allocator, request, size);
    host_answer_ok(&host, 0, NULL);
    host_fini(&host);
}

static void a_named_task_is_called_by_the_hash_of_its_id(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 1, "order-1", "a");
    size_t size = 0;
    struct cloudtasks_create_task_request *request =
        decoded(&host.sends[0], &host.allocator, &size);
    uint8_t digest[SHA256_SIZE];
    char name[256];
    sha256(BYTES_LITERAL("order-1"), digest);
    const size_t prefix = (size_t)snprintf(name, sizeof(name), "%s/tasks/", TEST_QUEUE);
    bytes_to_hex((struct bytes){digest, sizeof(digest)}, name + prefix);
    assert_bytes_equal(request->task->name, ((struct bytes){(uint8_t *)name, prefix + 64}));
    allocator_give(&host.allocator, request, size);
    host_answer_ok(&host, 0, NULL);
    host_fini(&host);
}

static void the_resolver_chooses_the_queue_unless_it_is_fixed(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 1, KEY_ELSEWHERE, "a");
    size_t size = 0;
    struct cloudtasks_create_task_request *request =
        decoded(&host.sends[0], &host.allocator, &size);
    assert_bytes_equal(request->parent, BYTES_LITERAL(TEST_QUEUE));
    allocator_give(&host.allocator, request, size);
    host_fini(&host);
    begin(&host, true);
    host.half->fini(host.state);
    user.job.destination_fixed = false;
    host_fini(&host);
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &cloudtasks_eager_named_half, &user.env), ERR_OK);
    host_open(&host);
    host_record(&host, 1, KEY_ELSEWHERE, "a");
    request = decoded(&host.sends[0], &host.allocator, &size);
    assert_bytes_equal(request->parent, BYTES_LITERAL(QUEUE_ELSEWHERE));
    allocator_give(&host.allocator, request, size);
    host_record(&host, 2, KEY_UNRESOLVED, "a");
    host_assert_failed(&host, SINK_REASON_RESOLVER, "resolver");
    host_fini(&host);
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &cloudtasks_eager_named_half, &user.env), ERR_OK);
    host_open(&host);
    host_record(&host, 2, KEY_BAD_RESOLVER, "a");
    host_assert_failed(&host, SINK_REASON_RESOLVER, "resolver");
    host_fini(&host);
}

/* What the matrix of section 9 says of an eager create. */
enum expectation {
    SUCCEEDS,
    RETRIES,
    RETRIES_NOT_FOUND,
    ROUTES,
    FAILS,
};

static enum expectation expectation_of(enum port_code code, bool named)
{
    switch (code) {
    case PORT_OK:
        return SUCCEEDS;
    case PORT_ALREADY_EXISTS:
        return named ? SUCCEEDS : FAILS;
    case PORT_INVALID_ARGUMENT:
        return ROUTES;
    case PORT_NOT_FOUND:
        return RETRIES_NOT_FOUND;
    case PORT_UNAVAILABLE:
    case PORT_DEADLINE_EXCEEDED:
    case PORT_RESOURCE_EXHAUSTED:
        return RETRIES;
    case PORT_CANCELLED:
    case PORT_UNKNOWN:
    case PORT_PERMISSION_DENIED:
    case PORT_FAILED_PRECONDITION:
    case PORT_ABORTED:
    case PORT_OUT_OF_RANGE:
    case PORT_UNIMPLEMENTED:
    case PORT_INTERNAL:
    case PORT_DATA_LOSS:
    case PORT_UNAUTHENTICATED:
    case PORT_CODE_COUNT:
        break;
    }
    return FAILS;
}

static void assert_expected(struct host *host, enum expectation expected)
{
    assert_int_equal(host->failed, expected == FAILS);
    assert_int_equal(host->timer_set, expected == RETRIES || expected == RETRIES_NOT_FOUND);
    assert_int_equal(host_count(host, SINK_EFFECT_RECORD_FAILED), expected == ROUTES);
    if (expected == RETRIES) {
        assert_int_equal(host->timer_min, host->now.monotonic + MS(75));
        assert_int_equal(host->timer_max, host->now.monotonic + MS(125));
    }
    if (expected == RETRIES_NOT_FOUND) {
        assert_int_equal(host->timer_min, host->now.monotonic + MS(375));
        assert_int_equal(host->timer_max, host->now.monotonic + MS(625));
    }
}

static void every_code_of_the_matrix_is_judged(void **state)
{
    (void)state;
    for (int named = 0; named <= 1; named++) {
        for (enum port_code code = PORT_OK; code < PORT_CODE_COUNT; code++) {
            struct host host;
            begin(&host, named != 0);
            host_record(&host, 1, "k", "v");
            if (code == PORT_OK) {
                host_answer_ok(&host, 0, NULL);
            } else {
                host_answer_code(&host, 0, code);
                const bool counts = !(code == PORT_ALREADY_EXISTS && named != 0);
                assert_int_equal(host.metrics[cloudtasks_error_metric((uint16_t)code)], counts);
            }
            assert_expected(&host, expectation_of(code, named != 0));
            assert_int_equal(host.metrics[CLOUDTASKS_METRIC_TASKS_DEDUPLICATED],
                             code == PORT_ALREADY_EXISTS && named != 0);
            host_fini(&host);
        }
    }
}

static void no_status_at_all_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 1, "k", "v");
    host_answer_status(
        &host, 0, port_status_wrap((struct port_status){0}, PORT_DOMAIN_CLIENT, PORT_CODE_NONE));
    host_assert_failed(&host, SINK_REASON_SERVICE, "no status");
    host_fini(&host);
}

static void chains_are_classified_by_any_and_by_first(void **state)
{
    (void)state;
    static const struct {
        enum port_code outer;
        enum port_code inner;
        enum expectation expected;
    } cases[] = {
        {PORT_INVALID_ARGUMENT, PORT_UNAVAILABLE, RETRIES},
        {PORT_INTERNAL, PORT_INVALID_ARGUMENT, FAILS},
        {PORT_UNKNOWN, PORT_INVALID_ARGUMENT, FAILS},
        {PORT_INVALID_ARGUMENT, PORT_INTERNAL, ROUTES},
        {PORT_NOT_FOUND, PORT_RESOURCE_EXHAUSTED, RETRIES},
        {PORT_INTERNAL, PORT_NOT_FOUND, FAILS},
        {PORT_ALREADY_EXISTS, PORT_UNAVAILABLE, SUCCEEDS},
        {PORT_UNKNOWN, PORT_ALREADY_EXISTS, FAILS},
        {PORT_UNAUTHENTICATED, PORT_DEADLINE_EXCEEDED, RETRIES},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        begin(&host, true);
        host_record(&host, 1, "k", "v");
        host_answer_status(&host,
                           0,
                           port_status_wrap(port_status_grpc(cases[i].inner),
                                            PORT_DOMAIN_GRPC,
                                            (uint16_t)cases[i].outer));
        assert_expected(&host, cases[i].expected);
        host_fini(&host);
    }
    struct host host;
    begin(&host, true);
    host_record(&host, 1, "k", "v");
    host_answer_status(&host,
                       0,
                       port_status_wrap(port_status_grpc(PORT_INVALID_ARGUMENT),
                                        PORT_DOMAIN_CLIENT,
                                        PORT_CODE_NONE));
    assert_expected(&host, ROUTES);
    host_fini(&host);
}

static void a_retry_sends_the_same_bytes_under_a_new_number(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 1, "k", "v");
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    assert_int_equal(host.send_count, 1);
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    assert_int_not_equal(host.sends[0].number, host.sends[1].number);
    assert_bytes_equal((struct bytes){host.sends[1].bytes, host.sends[1].size},
                       (struct bytes){host.sends[0].bytes, host.sends[0].size});
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 0);
    host_answer_code(&host, 0, PORT_INTERNAL); /* late, of the first attempt */
    assert_false(host.failed);
    host_answer_code(&host, 1, PORT_ALREADY_EXISTS);
    assert_false(host.failed);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SENT], 1);
    host_fini(&host);
}

static void the_transient_budget_counts_the_first_attempt(void **state)
{
    (void)state;
    static const nanos pauses[] = {100, 200, 400, 800, 1600, 3200, 6400};
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "k", "v");
    for (uint32_t i = 0; i < ARRAY_COUNT(pauses); i++) {
        host_answer_code(&host, i, PORT_UNAVAILABLE);
        assert_int_equal(host.timer_min - host.now.monotonic, MS(pauses[i]) * 3 / 4);
        assert_int_equal(host.timer_max - host.now.monotonic, MS(pauses[i]) * 5 / 4);
        host_fire_early(&host);
        assert_int_equal(host.send_count, i + 2);
    }
    host_answer_code(&host, 7, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "UNAVAILABLE");
    host_fini(&host);
}

static void the_not_found_budget_is_its_own(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "k", "v");
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host);
    host_answer_code(&host, 1, PORT_NOT_FOUND);
    host_fire(&host);
    host_answer_code(&host, 2, PORT_UNAVAILABLE);
    assert_int_equal(host.timer_max - host.now.monotonic, MS(250));
    host_fire(&host);
    host_answer_code(&host, 3, PORT_NOT_FOUND);
    assert_int_equal(host.timer_max - host.now.monotonic, MS(1250));
    host_fire(&host);
    assert_false(host.failed);
    host_answer_code(&host, 4, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "NOT_FOUND");
    assert_int_equal(host.send_count, 5);
    host_fini(&host);
}

static void parked_requests_count_against_the_cap(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host.half->fini(host.state);
    user.options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 2;
    memset(host.state, 0, host.half->state_size);
    struct sink_env env = user.env;
    env.allocator = &host.allocator;
    assert_int_equal(host.half->init(host.state, &env), ERR_OK);
    host_open(&host);
    host_record(&host, 1, "k", "v");
    host_record(&host, 2, "k", "v");
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_record(&host, 3, "k", "v");
    assert_true(host.busy);
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 0);
    assert_int_equal(host.send_count, 2);
    host_answer_ok(&host, 1, NULL);
    assert_false(host.busy);
    assert_int_equal(host_effect(&host, SINK_EFFECT_ACCEPTED, 0)->u.token, 3);
    assert_int_equal(host.send_count, 3);
    host_record(&host, 4, "k", "v");
    assert_true(host.busy);
    host_fire(&host); /* the retry keeps its slot */
    assert_true(host.busy);
    assert_int_equal(host.send_count, 4);
    host_answer_ok(&host, 3, NULL);
    assert_false(host.busy);
    host_fini(&host);
}

static void without_room_a_record_waits_for_more(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host.send_room = 0;
    host_record(&host, 1, "k", "v");
    assert_true(host.busy);
    assert_true(host.effects.more);
    assert_int_equal(host.send_count, 0);
    host.send_room = 1;
    host_more(&host);
    assert_false(host.busy);
    assert_int_equal(host.send_count, 1);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host.send_room = 0;
    host_fire(&host);
    assert_true(host.effects.more);
    host.send_room = 1;
    host_more(&host);
    assert_int_equal(host.send_count, 2);
    host_fini(&host);
}

static void a_barrier_waits_for_flight_parking_and_verdicts_and_then_flushes(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "k", "v");
    host_record(&host, 2, "k", "v");
    host_barrier(&host, 5);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_answer_code(&host, 1, PORT_INVALID_ARGUMENT);
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.token, 2);
    host_fire(&host);
    host_answer_ok(&host, 2, NULL);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 1);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 0);
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    assert_int_equal(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, 5);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 1);
    host_simple(&host, SINK_EVENT_END_OF_INPUT);
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    assert_true(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint == SINK_END_OF_INPUT);
    host_fini(&host);
}

static void a_rejected_record_is_routed_with_its_payload(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 9, "k", "v");
    host_answer_code(&host, 0, PORT_INVALID_ARGUMENT);
    const struct sink_effect *effect = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_REJECTED);
    assert_bytes_equal(effect->u.failed.destination, BYTES_LITERAL(TEST_QUEUE));
    void *value = NULL;
    size_t size = 0;
    assert_int_equal(
        port_decode(
            &cloudtasks_task_message, effect->u.failed.payload, &host.allocator, &value, &size),
        ERR_OK);
    const struct cloudtasks_task *task = value;
    assert_int_equal(task->name.size, 0);
    assert_bytes_equal(task->http_request->body, BYTES_LITERAL("v"));
    allocator_give(&host.allocator, value, size);
    host_policy(&host, SINK_EVENT_POLICY_FAILED, 9);
    host_assert_failed(&host, SINK_REASON_POLICY, "policy");
    host_fini(&host);
}

static void failures_of_user_code_are_routed_skipped_or_fatal(void **state)
{
    (void)state;
    struct host host;
    begin(&host, true);
    host_record(&host, 1, "k", VALUE_FAILS);
    const struct sink_effect *effect = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_SERIALIZER);
    assert_int_equal(effect->u.failed.payload.size, 0);
    host_record(&host, 2, "k", VALUE_JUNK);
    effect = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_SERIALIZER);
    host_record(&host, 3, "k", VALUE_SKIPPED);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SKIPPED, 0)->u.token, 3);
    host_record(&host, 4, KEY_FAILS, "v");
    effect = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_EXTRACTOR);
    assert_true(effect->u.failed.payload.size > 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 4);
    host_barrier(&host, 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 1);
    assert_int_equal(host.send_count, 0);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SENT], 0);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SKIPPED], 1);
    host_fini(&host);
    static const char *const keys[] = {KEY_NONE, KEY_EMPTY};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        begin(&host, true);
        host_record(&host, 1, keys[i], "v");
        host_assert_failed(&host, SINK_REASON_CONFIG, "id");
        host_fini(&host);
    }
    begin(&host, false);
    host_record(&host, 1, "k", VALUE_NAMED);
    host_assert_failed(&host, SINK_REASON_CONFIG, "named");
    host_fini(&host);
}

static void restored_state_is_refused(void **state)
{
    (void)state;
    struct host host;
    begin_raw(&host, false);
    assert_int_equal(host_init(&host, &cloudtasks_eager_unnamed_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("x")};
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "state");
    host_fini(&host);
}

static void unusable_options_are_refused_at_init(void **state)
{
    (void)state;
    struct host host;
    begin_raw(&host, false);
    user.options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 0;
    assert_int_equal(host_init(&host, &cloudtasks_eager_unnamed_half, &user.env), ERR_INVALID);
    memset(host.state, 0, host.half->state_size);
    user.options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 1;
    struct sink_env env = user.env;
    env.allocator = &host.allocator;
    assert_int_equal(cloudtasks_eager_named_half.init(host.state, &env), ERR_INVALID);
    assert_int_equal(host.half->init(host.state, &env), ERR_OK);
    host_fini(&host);
}

/* A story that passes through every state; answers whether it went on to its end. */
static bool story(struct host *host, uint32_t stop_after)
{
    static const struct {
        uint8_t what;
        uint8_t argument;
    } steps[] = {
        {'o', 0},
        {'r', 1},
        {'r', 2},
        {'r', 3},
        {'u', 0},
        {'n', 1},
        {'i', 2},
        {'f', 0},
        {'f', 0},
        {'r', 4},
        {'b', 1},
        {'d', 3},
        {'k', 3},
        {'k', 4},
        {'k', 5},
        {'p', 0},
        {'r', 6},
        {'e', 0},
    };
    for (uint32_t i = 0; i < ARRAY_COUNT(steps) && i < stop_after && !host->failed; i++) {
        const uint8_t argument = steps[i].argument;
        switch (steps[i].what) {
        case 'o':
            host_open(host);
            break;
        case 'r':
            host_record(host, argument, "k", "v");
            break;
        case 'u':
            host_answer_code(host, argument, PORT_UNAVAILABLE);
            break;
        case 'n':
            host_answer_code(host, argument, PORT_NOT_FOUND);
            break;
        case 'i':
            host_answer_code(host, argument, PORT_INVALID_ARGUMENT);
            break;
        case 'k':
            host_answer_ok(host, argument, NULL);
            break;
        case 'f':
            host_fire(host);
            break;
        case 'b':
            host_barrier(host, argument);
            break;
        case 'd':
            host_policy(host, SINK_EVENT_POLICY_DROPPED, argument);
            break;
        case 'p':
            host_policy(host, SINK_EVENT_POLICY_FLUSHED, 0);
            break;
        default:
            host_simple(host, SINK_EVENT_END_OF_INPUT);
            break;
        }
    }
    return !host->failed;
}

static void close_at_every_moment_cancels_and_sends_nothing_more(void **state)
{
    (void)state;
    for (uint32_t stop = 0; stop <= 18; stop++) {
        struct host host;
        begin_raw(&host, true);
        assert_int_equal(host_init(&host, &cloudtasks_eager_named_half, &user.env), ERR_OK);
        assert_true(story(&host, stop));
        const uint32_t sends = host.send_count;
        host_simple(&host, SINK_EVENT_CLOSE);
        assert_true(host.closed);
        assert_int_equal(host.send_count, sends);
        for (uint32_t i = 0; i < host.send_count; i++) {
            assert_true(host.sends[i].done);
        }
        host_simple(&host, SINK_EVENT_TIMER);
        host_simple(&host, SINK_EVENT_MORE);
        assert_int_equal(host.effects.count, 0);
        host_fini(&host);
    }
}

static void close_with_more_cancels_than_a_list_holds_goes_on_with_more(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    for (uint32_t i = 0; i < 700; i++) {
        host_record(&host, i + 1, "k", "v");
    }
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_false(host.closed);
    host_more(&host);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 700);
    host_fini(&host);
}

static void an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct host host;
        begin_raw(&host, true);
        host.memory.fail_at = n;
        const enum err err = host_init(&host, &cloudtasks_eager_named_half, &user.env);
        if (err == ERR_OK) {
            done = story(&host, UINT32_MAX);
            if (!done) {
                host_assert_failed(&host, SINK_REASON_MEMORY, "memory");
                host_simple(&host, SINK_EVENT_MORE);
                assert_int_equal(host.effects.count, 0);
            }
        } else {
            assert_int_equal(err, ERR_LIMIT);
        }
        host_fini(&host);
        assert_true(n < 1000);
    }
}

static void after_a_failure_nothing_but_close_is_heard(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host_record(&host, 1, "k", "v");
    host_record(&host, 2, "k", "v");
    host_answer_code(&host, 0, PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "PERMISSION_DENIED");
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    assert_int_equal(host.effects.count, 0);
    host.sends[1].done = false;
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

static void a_record_that_waits_is_dropped_by_close(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    host.send_room = 0;
    host_record(&host, 1, "k", "v");
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.counts[SINK_EFFECT_ACCEPTED], 0);
    host_fini(&host);
}

static void notices_mean_nothing_and_broken_contracts_are_checks(void **state)
{
    (void)state;
    static const enum sink_event_kind unexpected[] = {SINK_EVENT_NONE,
                                                      SINK_EVENT_OPEN,
                                                      SINK_EVENT_COMMIT,
                                                      SINK_EVENT_HANDLE,
                                                      SINK_EVENT_FLUSH,
                                                      SINK_EVENT_STREAM_END,
                                                      SINK_EVENT_POLICY_DROPPED,
                                                      SINK_EVENT_POLICY_FLUSHED};
    struct host host;
    begin(&host, false);
    host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
    host_simple(&host, SINK_EVENT_CHECKPOINT_ABORTED);
    assert_int_equal(host.effects.count, 0);
    for (size_t i = 0; i < ARRAY_COUNT(unexpected); i++) {
        expect_check_failure(host_simple(&host, unexpected[i]));
    }
    host_barrier(&host, 1);
    expect_check_failure(host_record(&host, 1, "k", "v"));
    expect_check_failure(host_barrier(&host, 2));
    host_fini(&host);
}

TEST_MAIN(eager_writer,
          TEST(a_record_is_sent_at_once_and_accepted),
          TEST(a_named_task_is_called_by_the_hash_of_its_id),
          TEST(the_resolver_chooses_the_queue_unless_it_is_fixed),
          TEST(every_code_of_the_matrix_is_judged),
          TEST(no_status_at_all_fails),
          TEST(chains_are_classified_by_any_and_by_first),
          TEST(a_retry_sends_the_same_bytes_under_a_new_number),
          TEST(the_transient_budget_counts_the_first_attempt),
          TEST(the_not_found_budget_is_its_own),
          TEST(parked_requests_count_against_the_cap),
          TEST(without_room_a_record_waits_for_more),
          TEST(a_barrier_waits_for_flight_parking_and_verdicts_and_then_flushes),
          TEST(a_rejected_record_is_routed_with_its_payload),
          TEST(failures_of_user_code_are_routed_skipped_or_fatal),
          TEST(restored_state_is_refused),
          TEST(unusable_options_are_refused_at_init),
          TEST(close_at_every_moment_cancels_and_sends_nothing_more),
          TEST(close_with_more_cancels_than_a_list_holds_goes_on_with_more),
          TEST(an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing),
          TEST(after_a_failure_nothing_but_close_is_heard),
          TEST(a_record_that_waits_is_dropped_by_close),
          TEST(notices_mean_nothing_and_broken_contracts_are_checks))
