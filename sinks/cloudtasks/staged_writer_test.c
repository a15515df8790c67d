/* The exactly-once writer of Cloud Tasks: identity, window, caps, and never a request.
 * link: sinks/cloudtasks/staged_writer sinks/cloudtasks/options sinks/cloudtasks/envelope
 * link: sinks/cloudtasks/identity sinks/cloudtasks/user_testkit
 * link: sinks/host_testkit sinks/retry sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/port/cloudtasks sinks/base/bytes sinks/base/digest
 * link: sinks/base/allocator sinks/base/units sinks/base/sha256
 */
#include "sinks/cloudtasks/staged_writer.h"

#include "sinks/cloudtasks/envelope.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/cloudtasks/user_testkit.h"
#include "sinks/host_testkit.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

static struct test_user user;

static void begin(struct host *host, bool keyed)
{
    memset(host, 0, sizeof(*host));
    test_user_init(&user, keyed);
}

static void open_it(struct host *host)
{
    assert_int_equal(host_init(host, &cloudtasks_staged_writer_half, &user.env), ERR_OK);
    host_open(host);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
}

static uint32_t length(const struct sink_committable *list)
{
    uint32_t count = 0;
    for (; list != NULL; list = list->next) {
        count++;
    }
    return count;
}

static void records_become_envelopes_at_the_barrier_and_nothing_is_sent(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    open_it(&host);
    host.now.wall += 999999; /* below a millisecond */
    host_record(&host, 1, "a", "one");
    assert_int_equal(host_effect(&host, SINK_EFFECT_ACCEPTED, 0)->u.token, 1);
    host_record(&host, 2, "b", VALUE_SKIPPED);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SKIPPED, 0)->u.token, 2);
    host_record(&host, 3, "c", "two");
    host_barrier(&host, 4);
    assert_int_equal(host.items[1].kind, SINK_EFFECT_COMMITTABLES);
    assert_int_equal(host.items[2].kind, SINK_EFFECT_BARRIER_DONE);
    assert_int_equal(host.send_count, 0);
    assert_int_equal(length(host.committables), 2);
    assert_int_equal(host.committables->token, 1);
    assert_int_equal(host.committables->next->token, 3);
    struct envelope envelope;
    assert_int_equal(envelope_decode(host.committables->data, &envelope), ERR_OK);
    assert_bytes_equal(envelope.queue, BYTES_LITERAL(TEST_QUEUE));
    assert_bytes_equal(host.committables->header.identity, envelope.name);
    assert_int_equal(envelope.origin_ms, UINT64_C(1700000000000));
    /* 1 h - 5 min - 20 s = 54 min 40 s. */
    assert_int_equal(envelope.deadline_ms - envelope.origin_ms, (54 * 60 + 40) * 1000);
    assert_int_equal(host.committables->header.deadline,
                     host.committables->header.origin + SECONDS(54 * 60 + 40));
    host_barrier(&host, 5);
    assert_int_equal(host_count(&host, SINK_EFFECT_COMMITTABLES), 0);
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 1);
    host_simple(&host, SINK_EVENT_END_OF_INPUT);
    assert_true(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint == SINK_END_OF_INPUT);
    host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

static void unkeyed_names_are_fresh_and_keyed_ones_are_not(void **state)
{
    (void)state;
    for (int keyed = 0; keyed <= 1; keyed++) {
        struct host host;
        begin(&host, keyed != 0);
        open_it(&host);
        host_record(&host, 1, "k", "same");
        host_record(&host, 2, "k", "same");
        host_barrier(&host, 1);
        const struct bytes a = host.committables->header.identity;
        const struct bytes b = host.committables->next->header.identity;
        assert_int_equal(bytes_equal(a, b), keyed);
        assert_int_equal(a.size, strlen(TEST_QUEUE "/tasks/") + (keyed != 0 ? 64 : 32));
        host_fini(&host);
    }
}

static void every_failure_of_a_record_fails_the_job(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *value;
        enum sink_reason reason;
    } cases[] = {
        {"k", VALUE_FAILS, SINK_REASON_SERIALIZER},
        {"k", VALUE_JUNK, SINK_REASON_SERIALIZER},
        {"k", VALUE_NAMED, SINK_REASON_CONFIG},
        {KEY_FAILS, "v", SINK_REASON_EXTRACTOR},
        {KEY_NONE, "v", SINK_REASON_CONFIG},
        {KEY_EMPTY, "v", SINK_REASON_CONFIG},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        begin(&host, true);
        open_it(&host);
        host_record(&host, 1, "good", "v");
        host_record(&host, 2, cases[i].key, cases[i].value);
        host_assert_failed(&host, cases[i].reason, "");
        assert_int_equal(host.counts[SINK_EFFECT_RECORD_FAILED], 0);
        host_barrier(&host, 1);
        assert_int_equal(host.effects.count, 0);
        host_simple(&host, SINK_EVENT_CLOSE);
        assert_true(host.closed);
        host_simple(&host, SINK_EVENT_CLOSE);
        assert_int_equal(host.effects.count, 0);
        host_fini(&host);
    }
}

static size_t task_size_of(size_t padding)
{
    struct host host;
    begin(&host, false);
    open_it(&host);
    user.padding = padding;
    host_record(&host, 1, "k", "");
    host_barrier(&host, 1);
    struct envelope envelope;
    assert_int_equal(envelope_decode(host.committables->data, &envelope), ERR_OK);
    const size_t size = envelope.task.size;
    host_fini(&host);
    return size;
}

static void a_task_of_exactly_the_limit_is_staged_and_one_more_byte_is_not(void **state)
{
    (void)state;
    const size_t padding = 99000 + (100000 - task_size_of(99000));
    assert_int_equal(task_size_of(padding), 100000);
    struct host host;
    begin(&host, false);
    open_it(&host);
    user.padding = padding + 1;
    host_record(&host, 1, "k", "");
    host_assert_failed(&host, SINK_REASON_CAPACITY, "100001");
    host_fini(&host);
}

static void the_count_cap_fails_without_waiting_and_is_freed_by_the_barrier(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    user.options[CLOUDTASKS_OPTION_MAX_STAGED_TASKS].number = 2;
    open_it(&host);
    for (uint64_t round = 0; round < 3; round++) {
        host_record(&host, 2 * round + 1, "k", "v");
        host_record(&host, 2 * round + 2, "k", "v");
        host_barrier(&host, round + 1);
        assert_int_equal(length(host.committables), 2);
    }
    host_record(&host, 7, "k", "v");
    host_record(&host, 8, "k", "v");
    host_record(&host, 9, "k", "v");
    host_assert_failed(&host, SINK_REASON_CAPACITY, "max_staged_tasks 2");
    assert_int_equal(host.counts[SINK_EFFECT_BUSY], 0);
    host_fini(&host);
}

static void the_byte_cap_charges_256_more_per_task(void **state)
{
    (void)state;
    const size_t charge = task_size_of(10) + 256;
    for (uint64_t short_by = 0; short_by <= 1; short_by++) {
        struct host host;
        begin(&host, false);
        user.padding = 10;
        user.options[CLOUDTASKS_OPTION_MAX_STAGED_BYTES].number = 2 * charge - short_by;
        open_it(&host);
        host_record(&host, 1, "k", "");
        host_record(&host, 2, "k", "");
        assert_int_equal(host.failed, short_by);
        host_fini(&host);
    }
}

static void a_clock_beyond_time_fails(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    open_it(&host);
    host.now.wall = UINT64_MAX - SECONDS(60);
    host_record(&host, 1, "k", "v");
    host_assert_failed(&host, SINK_REASON_CONFIG, "clock");
    host_fini(&host);
}

static void restored_state_and_bad_options_are_refused(void **state)
{
    (void)state;
    struct host host;
    begin(&host, false);
    assert_int_equal(host_init(&host, &cloudtasks_staged_writer_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("x")};
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "state");
    host_fini(&host);
    begin(&host, false);
    user.options[CLOUDTASKS_OPTION_NAME_RETENTION].number = MINUTES(5) + SECONDS(20);
    assert_int_equal(host_init(&host, &cloudtasks_staged_writer_half, &user.env), ERR_INVALID);
    host_fini(&host);
}

static void an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 3; n++) {
        struct host host;
        begin(&host, false);
        host.memory.fail_at = n;
        open_it(&host);
        host_record(&host, 1, "k", "v");
        for (uint64_t token = 2; token <= 3 && !host.failed; token++) {
            host_record(&host, token, "k", "v");
        }
        host_assert_failed(&host, SINK_REASON_MEMORY, "memory");
        host_fini(&host);
    }
}

TEST_MAIN(staged_writer,
          TEST(records_become_envelopes_at_the_barrier_and_nothing_is_sent),
          TEST(unkeyed_names_are_fresh_and_keyed_ones_are_not),
          TEST(every_failure_of_a_record_fails_the_job),
          TEST(a_task_of_exactly_the_limit_is_staged_and_one_more_byte_is_not),
          TEST(the_count_cap_fails_without_waiting_and_is_freed_by_the_barrier),
          TEST(the_byte_cap_charges_256_more_per_task),
          TEST(a_clock_beyond_time_fails),
          TEST(restored_state_and_bad_options_are_refused),
          TEST(an_allocator_at_its_limit_fails_the_sink_and_leaks_nothing))
