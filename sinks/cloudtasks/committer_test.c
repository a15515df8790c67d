/* The exactly-once committer of Cloud Tasks: every row of the status matrix, budgets, deadlines, expiry
 * policies, validation before sending, the queue's retention, and closing at every moment.
 * link: sinks/cloudtasks/committer sinks/cloudtasks/options sinks/cloudtasks/envelope
 * link: sinks/cloudtasks/identity sinks/cloudtasks/classify sinks/cloudtasks/user_testkit
 * link: sinks/cloudtasks/staged_writer
 * link: sinks/host_testkit sinks/parking sinks/requests sinks/retry sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/port/cloudtasks sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/allocator sinks/base/units sinks/base/sha256 sinks/base/err
 */
#include "sinks/cloudtasks/committer.h"

#include "sinks/cloudtasks/envelope.h"
#include "sinks/cloudtasks/staged_writer.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/cloudtasks/user_testkit.h"
#include "sinks/host_testkit.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

#define REQUESTS_MAX 600

static struct test_user user;
static struct sink_commit_request requests[REQUESTS_MAX];
static uint32_t request_count;

/* Stage records by the real writer, at the time at which hosts begin; how many envelopes there are. */
static uint32_t stage_into(struct sink_commit_request *places, uint32_t count)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct host host;
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &cloudtasks_staged_writer_half, &user.env), ERR_OK);
    host_open(&host);
    for (uint32_t i = 0; i < count; i++) {
        host_record(&host, i + 1, keys[i % ARRAY_COUNT(keys)], "v");
    }
    host_barrier(&host, 1);
    uint32_t staged_count = 0;
    for (const struct sink_committable *staged = host.committables; staged != NULL;
         staged = staged->next) {
        places[staged_count] = host_keep(staged);
        staged_count++;
    }
    host_fini(&host);
    return staged_count;
}

/* Put an envelope of another queue in the place of one. */
static void put_foreign(uint32_t index)
{
    const struct bytes queue = user.options[CLOUDTASKS_OPTION_QUEUE].text;
    user.options[CLOUDTASKS_OPTION_QUEUE].text = BYTES_LITERAL(QUEUE_ELSEWHERE);
    host_forget(&requests[index]);
    assert_int_equal(stage_into(&requests[index], 1), 1);
    user.options[CLOUDTASKS_OPTION_QUEUE].text = queue;
}

static void begin(struct host *host, uint32_t count)
{
    memset(host, 0, sizeof(*host));
    test_user_init(&user, true);
    user.options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = 0;
    request_count = stage_into(requests, count);
}

static void open_it(struct host *host)
{
    assert_int_equal(host_init(host, &cloudtasks_committer_half, &user.env), ERR_OK);
    host_open(host);
}

static void begin_open(struct host *host, uint32_t count)
{
    begin(host, count);
    open_it(host);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
    assert_int_equal(host->send_count, 0);
}

static void end(struct host *host)
{
    host_fini(host);
    for (uint32_t i = 0; i < request_count; i++) {
        host_forget(&requests[i]);
    }
    request_count = 0;
}

static void commit(struct host *host)
{
    host_commit(host, requests, request_count);
}

static bool returned(const struct host *host)
{
    return host->counts[SINK_EFFECT_COMMIT_RETURNED] > 0;
}

static void the_named_task_is_created_and_left_unsignalled(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    commit(&host);
    assert_int_equal(host.send_count, 1);
    assert_ptr_equal(host.sends[0].method, &cloudtasks_create_task_method);
    assert_true(host.sends[0].deadline_is_absolute);
    assert_int_equal(host.sends[0].deadline, host.now.monotonic + SECONDS(20));
    void *value = NULL;
    size_t size = 0;
    assert_int_equal(port_decode(&cloudtasks_create_task_request_message,
                                 (struct bytes){host.sends[0].bytes, host.sends[0].size},
                                 &host.allocator,
                                 &value,
                                 &size),
                     ERR_OK);
    const struct cloudtasks_create_task_request *request = value;
    assert_bytes_equal(request->parent, BYTES_LITERAL(TEST_QUEUE));
    assert_bytes_equal(request->task->name, requests[0].header.identity);
    assert_bytes_equal(request->task->http_request->body, BYTES_LITERAL("v"));
    allocator_give(&host.allocator, value, size);
    assert_false(returned(&host));
    host_answer_ok(&host, 0, NULL);
    assert_true(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SENT], 1);
    assert_false(host.timer_set);
    end(&host);
}

static void an_empty_commit_returns_at_once(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 0);
    commit(&host);
    assert_true(returned(&host));
    end(&host);
}

enum expectation {
    CREATED,
    ALREADY,
    RETRIES,
    RETRIES_NOT_FOUND,
    FAILS,
};

static enum expectation expectation_of(enum port_code code)
{
    switch (code) {
    case PORT_OK:
        return CREATED;
    case PORT_ALREADY_EXISTS:
        return ALREADY;
    case PORT_NOT_FOUND:
        return RETRIES_NOT_FOUND;
    case PORT_UNAVAILABLE:
    case PORT_DEADLINE_EXCEEDED:
    case PORT_RESOURCE_EXHAUSTED:
        return RETRIES;
    case PORT_INVALID_ARGUMENT:
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
    assert_int_equal(returned(host), expected == CREATED || expected == ALREADY);
    assert_int_equal(host->counts[SINK_EFFECT_SIGNAL], expected == ALREADY);
    assert_int_equal(host->failed, expected == FAILS);
    if (expected == ALREADY) {
        const struct sink_effect *effect = host_effect(host, SINK_EFFECT_SIGNAL, 0);
        assert_int_equal(effect->u.signal.how, SINK_SIGNAL_ALREADY_COMMITTED);
        assert_int_equal(host->metrics[CLOUDTASKS_METRIC_TASKS_DEDUPLICATED], 1);
    }
    if (expected == RETRIES) {
        assert_int_equal(host->timer_max, host->now.monotonic + MS(125));
    }
    if (expected == RETRIES_NOT_FOUND) {
        assert_int_equal(host->timer_max, host->now.monotonic + MS(625));
    }
}

static void every_code_of_the_matrix_is_judged(void **state)
{
    (void)state;
    for (enum port_code code = PORT_OK; code < PORT_CODE_COUNT; code++) {
        struct host host;
        begin_open(&host, 1);
        commit(&host);
        if (code == PORT_OK) {
            host_answer_ok(&host, 0, NULL);
        } else {
            host_answer_code(&host, 0, code);
        }
        assert_expected(&host, expectation_of(code));
        end(&host);
    }
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
        {PORT_ALREADY_EXISTS, PORT_UNAVAILABLE, ALREADY},
        {PORT_UNAVAILABLE, PORT_ALREADY_EXISTS, RETRIES},
        {PORT_NOT_FOUND, PORT_UNAVAILABLE, RETRIES},
        {PORT_NOT_FOUND, PORT_INTERNAL, RETRIES_NOT_FOUND},
        {PORT_INTERNAL, PORT_NOT_FOUND, FAILS},
        {PORT_UNKNOWN, PORT_ALREADY_EXISTS, FAILS},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        begin_open(&host, 1);
        commit(&host);
        host_answer_status(&host,
                           0,
                           port_status_wrap(port_status_grpc(cases[i].inner),
                                            PORT_DOMAIN_GRPC,
                                            (uint16_t)cases[i].outer));
        assert_expected(&host, cases[i].expected);
        end(&host);
    }
}

static void budgets_are_separate_and_count_the_first_attempt(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    commit(&host);
    uint32_t send = 0;
    for (uint32_t i = 0; i < 7; i++) {
        host_answer_code(&host, send, PORT_UNAVAILABLE);
        host_fire(&host);
        send++;
        if (i < 2) {
            host_answer_code(&host, send, PORT_NOT_FOUND);
            host_fire(&host);
            send++;
        }
    }
    assert_int_equal(host.send_count, 10);
    assert_false(host.failed);
    host_answer_code(&host, send, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "UNAVAILABLE");
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SENT], 1);
    end(&host);
    begin_open(&host, 1);
    commit(&host);
    for (uint32_t i = 0; i < 2; i++) {
        host_answer_code(&host, i, PORT_NOT_FOUND);
        host_fire(&host);
    }
    host_answer_code(&host, 2, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "NOT_FOUND");
    end(&host);
}

static void a_lost_answer_then_already_exists_is_one_commit(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    commit(&host);
    host_fire(&host); /* the attempt's own deadline */
    assert_int_equal(host.cancel_count, 1);
    assert_int_equal(host.phases[CLOUDTASKS_STAGED_ATTEMPT_EXPIRED], 1);
    host_fire(&host); /* backoff */
    assert_int_equal(host.send_count, 2);
    assert_bytes_equal((struct bytes){host.sends[1].bytes, host.sends[1].size},
                       (struct bytes){host.sends[0].bytes, host.sends[0].size});
    host_answer_ok(&host, 0, NULL); /* late: its attempt was given up */
    assert_false(returned(&host));
    host_answer_code(&host, 1, PORT_ALREADY_EXISTS);
    assert_expected(&host, ALREADY);
    end(&host);
}

static void concurrency_counts_those_in_backoff(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 5);
    user.options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 2;
    open_it(&host);
    commit(&host);
    assert_int_equal(host.send_count, 2);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    assert_int_equal(host.send_count, 2);
    host_answer_ok(&host, 1, NULL);
    assert_int_equal(host.send_count, 3);
    host_fire(&host);
    assert_int_equal(host.send_count, 4);
    for (uint32_t i = 2; i < 6; i++) {
        host_answer_ok(&host, i, NULL);
    }
    assert_true(returned(&host));
    assert_int_equal(host.send_count, 6);
    end(&host);
}

static void room_bounds_the_sends_of_a_step(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 20);
    host.send_room = 3;
    commit(&host);
    assert_int_equal(host.send_count, 3);
    assert_true(host.effects.more);
    host_more(&host);
    assert_int_equal(host.send_count, 20);
    end(&host);
}

/* Age at which an envelope expires: 54 min 40 s. */
#define WINDOW SECONDS(54 * 60 + 40)

static void the_deadline_is_strict(void **state)
{
    (void)state;
    for (uint32_t late = 0; late <= 1; late++) {
        struct host host;
        begin_open(&host, 1);
        host.now.wall += WINDOW - 1 + late;
        commit(&host);
        assert_int_equal(host.send_count, 1 - late);
        assert_int_equal(host.failed, late);
        end(&host);
    }
}

static void every_attempt_checks_the_deadline(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    host.now.wall += WINDOW - MS(100);
    commit(&host);
    assert_int_equal(host.send_count, 1);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host); /* 125 ms later */
    assert_int_equal(host.send_count, 1);
    host_assert_failed(&host, SINK_REASON_EXPIRED, TEST_QUEUE);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_EXPIRED_FAILED], 1);
    end(&host);
}

static void a_send_that_waited_for_room_checks_again(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    host.send_room = 0;
    host.now.wall += WINDOW - 1;
    commit(&host);
    assert_true(host.effects.more);
    host.send_room = 1;
    host.now.wall++;
    host_more(&host);
    assert_int_equal(host.send_count, 0);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "expired");
    end(&host);
}

static void todays_options_tighten_the_deadline_and_never_loosen_it(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 1);
    user.options[CLOUDTASKS_OPTION_NAME_RETENTION].number = MINUTES(30);
    open_it(&host);
    host.now.wall += MINUTES(24) + SECONDS(40);
    commit(&host);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "expired");
    end(&host);
    begin(&host, 1);
    user.options[CLOUDTASKS_OPTION_NAME_RETENTION].number = DAYS(1);
    open_it(&host);
    host.now.wall += WINDOW;
    commit(&host);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "expired");
    end(&host);
}

static void assume_committed_signals_only_what_has_expired(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 2);
    user.options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number =
        CLOUDTASKS_EXPIRY_ASSUME_COMMITTED;
    open_it(&host);
    commit(&host);
    assert_int_equal(host.send_count, 2);
    host_answer_ok(&host, 0, NULL);
    host_answer_ok(&host, 1, NULL);
    assert_true(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    host.now.wall += WINDOW;
    commit(&host);
    assert_int_equal(host.send_count, 2);
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 2);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 1)->u.signal.request, 1);
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 2);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_EXPIRED_ASSUMED_COMMITTED], 2);
    end(&host);
}

static void many_expired_envelopes_do_not_overflow_the_list(void **state)
{
    (void)state;
    struct host host;
    begin(&host, REQUESTS_MAX);
    user.options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number =
        CLOUDTASKS_EXPIRY_ASSUME_COMMITTED;
    open_it(&host);
    host.now.wall += WINDOW;
    commit(&host);
    assert_false(returned(&host));
    host_more(&host);
    assert_true(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], REQUESTS_MAX);
    end(&host);
}

static void drop_finalises_without_a_send_or_signal(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 4);
    user.options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number = CLOUDTASKS_EXPIRY_DROP;
    open_it(&host);
    host.now.wall += WINDOW;
    commit(&host);
    assert_true(returned(&host));
    assert_int_equal(host.send_count, 0);
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_EXPIRED_DROPPED], 4);
    end(&host);
}

static void create_anyway_sends_and_counts_each_attempt(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 1);
    user.options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number =
        CLOUDTASKS_EXPIRY_CREATE_ANYWAY;
    open_it(&host);
    host.now.wall += WINDOW;
    commit(&host);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host);
    host_answer_ok(&host, 1, NULL);
    assert_true(returned(&host));
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_EXPIRED_CREATES_AUTHORIZED], 2);
    assert_int_equal(host.metrics[CLOUDTASKS_METRIC_RECORDS_SENT], 1);
    end(&host);
}

/* A bad envelope behind good ones: nothing of the commit may leave, under any policy. */
static void one_bad_envelope_stops_the_whole_commit(void **state)
{
    (void)state;
    for (uint8_t policy = 0; policy < CLOUDTASKS_EXPIRY_COUNT; policy++) {
        for (int foreign = 0; foreign <= 1; foreign++) {
            struct host host;
            begin(&host, 3);
            user.options[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number = policy;
            if (foreign != 0) {
                put_foreign(1);
            } else {
                requests[2].data.size--;
            }
            open_it(&host);
            host.now.wall += WINDOW;
            commit(&host);
            host_assert_failed(&host,
                               SINK_REASON_STATE,
                               foreign != 0 ? "committable 2 of 3: it belongs to another"
                                            : "committable 3 of 3: trunc");
            assert_int_equal(host.send_count, 0);
            assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
            end(&host);
        }
    }
}

static void a_failure_cancels_the_rest_and_signals_nothing_of_it(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 3);
    commit(&host);
    host_answer_code(&host, 1, PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "PERMISSION_DENIED");
    assert_int_equal(host.cancel_count, 2);
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    assert_false(returned(&host));
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 2);
    end(&host);
}

/* The sends of the step that fails must still be readable after it. */
static void a_failure_in_the_step_that_sends_keeps_the_sent_bytes(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 1);
    struct sink_commit_request young = requests[0];
    test_user_init(&user, true);
    user.options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = 0;
    user.options[CLOUDTASKS_OPTION_NAME_RETENTION].number = DAYS(2);
    request_count = stage_into(requests, 1);
    struct sink_commit_request both[2] = {requests[0], young};
    open_it(&host);
    host.now.wall += WINDOW;
    host_commit(&host, both, 2);
    assert_int_equal(host.send_count, 1);
    assert_int_equal(host.cancel_count, 1);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "expired");
    end(&host);
    host_forget(&young);
}

/* --- the queue's retention --------------------------------------------------------------------- */

static void begin_reading(struct host *host, nanos retention)
{
    begin(host, 1);
    user.options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = 1;
    user.options[CLOUDTASKS_OPTION_NAME_RETENTION].number = retention;
    open_it(host);
    assert_int_equal(host->send_count, 1);
    assert_ptr_equal(host->sends[0].method, &cloudtasks_get_queue_method);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 0);
}

static void the_queue_must_remember_as_long_as_the_option_says(void **state)
{
    (void)state;
    static const struct {
        nanos retention;
        int64_t seconds; /* 0: absent */
        uint32_t nanos;
        bool opens;
    } cases[] = {
        {HOURS(1), 3600, 0, true},
        {HOURS(1), 3599, 999000000, false},
        {HOURS(1), 3600, 1, true},
        {HOURS(1), 0, 0, true},
        {HOURS(1) + MS(1), 0, 0, false},
        {HOURS(1) + MS(1), 3600, 1000000, true},
        {DAYS(9), 9 * 24 * 3600, 0, true},
        {HOURS(1), -1, 0, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        begin_reading(&host, cases[i].retention);
        const struct cloudtasks_duration ttl = {cases[i].seconds, cases[i].nanos};
        const struct cloudtasks_queue queue = {.name = BYTES_LITERAL(TEST_QUEUE),
                                               .tombstone_ttl =
                                                   cases[i].seconds == 0 ? NULL : &ttl};
        host_answer_ok(&host, 0, &queue);
        assert_int_equal(host_count(&host, SINK_EFFECT_OPENED), cases[i].opens);
        if (cases[i].opens) {
            assert_false(host.timer_set);
        } else {
            host_assert_failed(&host, SINK_REASON_CONFIG, "name_retention");
        }
        end(&host);
    }
}

static void an_unreadable_queue_is_refused_after_its_retries(void **state)
{
    (void)state;
    for (enum port_code code = PORT_CANCELLED; code < PORT_CODE_COUNT; code++) {
        struct host host;
        begin_reading(&host, HOURS(1));
        uint32_t send = 0;
        host_answer_code(&host, send, code);
        while (!host.failed) {
            host_fire(&host);
            send++;
            host_answer_code(&host, send, code);
        }
        const bool transient = code == PORT_UNAVAILABLE || code == PORT_DEADLINE_EXCEEDED ||
                               code == PORT_RESOURCE_EXHAUSTED;
        assert_int_equal(host.send_count, transient ? 8 : 1);
        host_assert_failed(&host,
                           transient ? SINK_REASON_EXHAUSTED : SINK_REASON_SERVICE,
                           port_code_name((uint32_t)code));
        end(&host);
    }
}

static void a_silent_queue_is_asked_again(void **state)
{
    (void)state;
    struct host host;
    begin_reading(&host, HOURS(1));
    host_fire(&host);
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    const struct cloudtasks_queue queue = {.name = BYTES_LITERAL(TEST_QUEUE)};
    host_answer_ok(&host, 1, &queue);
    assert_int_equal(host_count(&host, SINK_EFFECT_OPENED), 1);
    commit(&host);
    assert_int_equal(host.send_count, 3);
    end(&host);
}

/* --- closing and memory ------------------------------------------------------------------------ */

static bool story(struct host *host, uint32_t stop_after)
{
    static const struct {
        uint8_t what;
        uint8_t argument;
    } steps[] = {{'o', 0},
                 {'u', 0},
                 {'f', 0},
                 {'q', 1},
                 {'c', 0},
                 {'u', 2},
                 {'n', 3},
                 {'k', 4},
                 {'f', 0},
                 {'f', 0},
                 {'a', 5},
                 {'k', 6},
                 {'c', 0},
                 {'f', 0}};
    for (uint32_t i = 0; i < ARRAY_COUNT(steps) && i < stop_after && !host->failed; i++) {
        const uint8_t argument = steps[i].argument;
        const struct cloudtasks_queue queue = {.name = BYTES_LITERAL(TEST_QUEUE)};
        switch (steps[i].what) {
        case 'o':
            host_open(host);
            break;
        case 'u':
            host_answer_code(host, argument, PORT_UNAVAILABLE);
            break;
        case 'n':
            host_answer_code(host, argument, PORT_NOT_FOUND);
            break;
        case 'a':
            host_answer_code(host, argument, PORT_ALREADY_EXISTS);
            break;
        case 'q':
            host_answer_ok(host, argument, &queue);
            break;
        case 'k':
            host_answer_ok(host, argument, NULL);
            break;
        case 'c':
            commit(host);
            break;
        default:
            host_fire(host);
            break;
        }
    }
    return !host->failed;
}

static void close_at_every_moment_cancels_and_sends_nothing_more(void **state)
{
    (void)state;
    for (uint32_t stop = 0; stop <= 14; stop++) {
        struct host host;
        begin(&host, 3);
        user.options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = 1;
        assert_int_equal(host_init(&host, &cloudtasks_committer_half, &user.env), ERR_OK);
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
        host_simple(&host, SINK_EVENT_CLOSE);
        assert_int_equal(host.effects.count, 0);
        end(&host);
    }
}

static void close_with_more_cancels_than_a_list_holds_goes_on_with_more(void **state)
{
    (void)state;
    for (int fails = 0; fails <= 1; fails++) {
        struct host host;
        begin_open(&host, REQUESTS_MAX);
        commit(&host);
        host_more(&host);
        assert_int_equal(host.send_count, REQUESTS_MAX);
        if (fails != 0) {
            host_answer_code(&host, 0, PORT_INTERNAL);
            assert_true(host.failed);
        }
        host_simple(&host, SINK_EVENT_CLOSE);
        host_more(&host);
        assert_true(host.closed);
        assert_int_equal(host.cancel_count, REQUESTS_MAX - fails);
        end(&host);
    }
}

static void attempts_that_expire_together_do_not_overflow_the_list(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, REQUESTS_MAX);
    host.send_room = 300;
    commit(&host);
    host_more(&host);
    host_fire(&host);
    host_more(&host);
    assert_int_equal(host.cancel_count, REQUESTS_MAX);
    for (uint32_t i = 0; i < REQUESTS_MAX && host.send_count < 2 * REQUESTS_MAX; i++) {
        host_fire(&host);
        host_more(&host);
    }
    assert_int_equal(host.send_count, 2 * REQUESTS_MAX);
    end(&host);
}

static void an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct host host;
        begin(&host, 3);
        user.options[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = 1;
        host.memory.fail_at = n;
        assert_int_equal(host_init(&host, &cloudtasks_committer_half, &user.env), ERR_OK);
        done = story(&host, UINT32_MAX);
        if (!done) {
            host_assert_failed(&host, SINK_REASON_MEMORY, "memory");
        }
        end(&host);
        assert_true(n < 1000);
    }
}

static void unusable_options_are_refused_at_init(void **state)
{
    (void)state;
    struct host host;
    begin(&host, 1);
    user.options[CLOUDTASKS_OPTION_REQUEST_TIMEOUT].number = 0;
    assert_int_equal(host_init(&host, &cloudtasks_committer_half, &user.env), ERR_INVALID);
    end(&host);
}

/* Valid bytes whose origin lies so far ahead that today's window would overflow. */
static void an_origin_beyond_time_is_refused(void **state)
{
    (void)state;
    struct host host;
    begin_open(&host, 1);
    uint8_t data[1024];
    struct identity identity;
    identity_of_nonce(&identity, 1);
    const struct envelope_parts parts = {.queue = BYTES_LITERAL(TEST_QUEUE),
                                         .identity = &identity,
                                         .origin_ms = ENVELOPE_MS_MAX - 1,
                                         .deadline_ms = ENVELOPE_MS_MAX};
    (void)envelope_encode(&parts, data);
    const size_t task_size = envelope_task_size(identity_name_size(parts.queue, &identity), 0);
    const struct sink_commit_request request = {
        .data = {data, envelope_size(parts.queue.size, task_size)}};
    host_commit(&host, &request, 1);
    host_assert_failed(&host, SINK_REASON_STATE, "origin");
    end(&host);
}

static void notices_mean_nothing_and_broken_contracts_are_checks(void **state)
{
    (void)state;
    static const enum sink_event_kind unexpected[] = {SINK_EVENT_NONE,
                                                      SINK_EVENT_OPEN,
                                                      SINK_EVENT_RECORD,
                                                      SINK_EVENT_BARRIER,
                                                      SINK_EVENT_HANDLE,
                                                      SINK_EVENT_STREAM_MESSAGE,
                                                      SINK_EVENT_END_OF_INPUT};
    struct host host;
    begin_open(&host, 1);
    host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
    host_simple(&host, SINK_EVENT_CHECKPOINT_ABORTED);
    assert_int_equal(host.effects.count, 0);
    for (size_t i = 0; i < ARRAY_COUNT(unexpected); i++) {
        expect_check_failure(host_simple(&host, unexpected[i]));
    }
    commit(&host);
    expect_check_failure(commit(&host));
    end(&host);
}

TEST_MAIN(committer,
          TEST(the_named_task_is_created_and_left_unsignalled),
          TEST(an_empty_commit_returns_at_once),
          TEST(every_code_of_the_matrix_is_judged),
          TEST(chains_are_classified_by_any_and_by_first),
          TEST(budgets_are_separate_and_count_the_first_attempt),
          TEST(a_lost_answer_then_already_exists_is_one_commit),
          TEST(concurrency_counts_those_in_backoff),
          TEST(room_bounds_the_sends_of_a_step),
          TEST(the_deadline_is_strict),
          TEST(every_attempt_checks_the_deadline),
          TEST(a_send_that_waited_for_room_checks_again),
          TEST(todays_options_tighten_the_deadline_and_never_loosen_it),
          TEST(assume_committed_signals_only_what_has_expired),
          TEST(many_expired_envelopes_do_not_overflow_the_list),
          TEST(drop_finalises_without_a_send_or_signal),
          TEST(create_anyway_sends_and_counts_each_attempt),
          TEST(one_bad_envelope_stops_the_whole_commit),
          TEST(a_failure_cancels_the_rest_and_signals_nothing_of_it),
          TEST(a_failure_in_the_step_that_sends_keeps_the_sent_bytes),
          TEST(the_queue_must_remember_as_long_as_the_option_says),
          TEST(an_unreadable_queue_is_refused_after_its_retries),
          TEST(a_silent_queue_is_asked_again),
          TEST(close_at_every_moment_cancels_and_sends_nothing_more),
          TEST(close_with_more_cancels_than_a_list_holds_goes_on_with_more),
          TEST(attempts_that_expire_together_do_not_overflow_the_list),
          TEST(an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing),
          TEST(unusable_options_are_refused_at_init),
          TEST(an_origin_beyond_time_is_refused),
          TEST(notices_mean_nothing_and_broken_contracts_are_checks))
