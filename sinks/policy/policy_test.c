/* The failure policies.
 * link: sinks/policy/plain sinks/policy/dead_letter sinks/host_testkit sinks/parking sinks/requests
 * link: sinks/retry sinks/port/port sinks/port/decode sinks/port/status sinks/port/generic
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 */
#include "sinks/policy/policy.h"

#include "sinks/host_testkit.h"
#include "sinks/port/generic.h"

#include <string.h>

static void begin(struct host *host, const struct sink_half *half)
{
    memset(host, 0, sizeof(*host));
    const struct sink_env env = {.parallelism = 1};
    assert_int_equal(host_init(host, half, &env), ERR_OK);
    host_open(host);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
}

static void hand(struct host *host, uint64_t token, const char *payload)
{
    const struct sink_event event = {.kind = SINK_EVENT_HANDLE,
                                     .u.handle = {.record = {.token = token,
                                                             .key = BYTES_LITERAL("key"),
                                                             .value = BYTES_LITERAL("value")},
                                                  .payload = bytes_of_text(payload),
                                                  .reason = SINK_REASON_REJECTED,
                                                  .destination = BYTES_LITERAL("there")}};
    host_step(host, &event);
}

static void fail_fails_with_the_records_reason(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_fail_half);
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSHED), 1);
    hand(&host, 7, "p");
    const struct sink_effect *effect = host_effect(&host, SINK_EFFECT_POLICY_FAILED, 0);
    assert_int_equal(effect->u.failed.token, 7);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_REJECTED);
    host_simple(&host, SINK_EVENT_CLOSE);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_int_equal(host.effects.count, 0);
    host_fini(&host);
}

static void drop_drops(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_drop_half);
    hand(&host, 7, "p");
    assert_int_equal(host_effect(&host, SINK_EFFECT_POLICY_DROPPED, 0)->u.token, 7);
    host_simple(&host, SINK_EVENT_TIMER);
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSHED), 1);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

static void assert_letter(struct host *host, uint32_t send, struct bytes value)
{
    void *found = NULL;
    size_t size = 0;
    assert_int_equal(port_decode(&generic_put_request_message,
                                 (struct bytes){host->sends[send].bytes, host->sends[send].size},
                                 &host->allocator,
                                 &found,
                                 &size),
                     ERR_OK);
    const struct generic_put_request *put = found;
    assert_bytes_equal(put->key, BYTES_LITERAL("key"));
    assert_bytes_equal(put->value, value);
    assert_bytes_equal(put->destination, BYTES_LITERAL("there"));
    assert_int_equal(put->reason, SINK_REASON_REJECTED);
    allocator_give(&host->allocator, found, size);
}

static void a_dead_letter_says_what_the_record_was(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    hand(&host, 7, "payload");
    assert_int_equal(host_effect(&host, SINK_EFFECT_POLICY_DROPPED, 0)->u.token, 7);
    assert_letter(&host, 0, BYTES_LITERAL("payload"));
    hand(&host, 8, "");
    assert_letter(&host, 1, BYTES_LITERAL("value"));
    host_fini(&host);
}

static void flushed_comes_only_when_every_letter_is_stored(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    const struct generic_put_result stored = {.sequence = 1};
    hand(&host, 1, "a");
    hand(&host, 2, "b");
    host_simple(&host, SINK_EVENT_FLUSH);
    host_answer_ok(&host, 0, &stored);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSHED], 0);
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSHED], 0);
    host_fire(&host);
    assert_int_equal(host.send_count, 3);
    assert_int_equal(host.sends[2].digest, host.sends[1].digest);
    host_answer_ok(&host, 2, &stored);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSHED], 1);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_DROPPED], 2);
    assert_false(host.timer_set);
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSHED], 2);
    host_fini(&host);
}

static void a_letter_that_cannot_be_stored_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    hand(&host, 1, "a");
    host_answer_code(&host, 0, PORT_PERMISSION_DENIED);
    const struct sink_effect *effect = host_effect(&host, SINK_EFFECT_POLICY_FAILED, 0);
    assert_int_equal(effect->u.failed.token, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_SERVICE);
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host.effects.count, 0);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
    begin(&host, &policy_dead_letter_half);
    hand(&host, 1, "a");
    for (uint32_t i = 0; i < 7; i++) {
        host_answer_code(&host, i, PORT_RESOURCE_EXHAUSTED);
        host_fire(&host);
    }
    host_answer_code(&host, 7, PORT_RESOURCE_EXHAUSTED);
    effect = host_effect(&host, SINK_EFFECT_POLICY_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_EXHAUSTED);
    host_fini(&host);
}

/* Goal: who has failed cancels what is open when it closes, and nothing else. */
static void an_answer_after_a_failure_is_not_cancelled(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    hand(&host, 1, "a");
    hand(&host, 2, "b");
    hand(&host, 3, "c");
    host_answer_code(&host, 0, PORT_INVALID_ARGUMENT);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FAILED), 1);
    host_answer_ok(&host, 1, NULL);
    host_answer_code(&host, 2, PORT_UNAVAILABLE);
    assert_int_equal(host.effects.count, 0);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 0);
    host_fini(&host);
}

static void a_flush_has_a_bound(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    hand(&host, 1, "a");
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host.timer_max, host.now.monotonic + SECONDS(60));
    host_fire(&host);
    const struct sink_effect *effect = host_effect(&host, SINK_EFFECT_POLICY_FAILED, 0);
    assert_int_equal(effect->u.failed.reason, SINK_REASON_EXHAUSTED);
    host_fini(&host);
}

static void a_full_window_holds_the_verdict_back(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    for (uint64_t i = 0; i < 1001; i++) {
        hand(&host, i + 1, "a");
    }
    assert_int_equal(host.send_count, 1000);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_DROPPED], 1000);
    const struct generic_put_result stored = {.sequence = 1};
    host_answer_ok(&host, 5, &stored);
    assert_int_equal(host.send_count, 1001);
    assert_int_equal(host_effect(&host, SINK_EFFECT_POLICY_DROPPED, 0)->u.token, 1001);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_false(host.closed);
    host_more(&host);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1000);
    host_fini(&host);
}

static void a_letter_without_room_waits(void **state)
{
    (void)state;
    struct host host;
    begin(&host, &policy_dead_letter_half);
    host.send_room = 0;
    hand(&host, 1, "a");
    assert_true(host.effects.more);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_DROPPED], 0);
    host_simple(&host, SINK_EVENT_FLUSH);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSHED], 0);
    host.send_room = 1;
    host_more(&host);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_DROPPED], 1);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
}

static bool story(struct host *host)
{
    const struct generic_put_result stored = {.sequence = 1};
    host_open(host);
    for (uint64_t i = 1; i <= 3 && !host->failed; i++) {
        hand(host, i, "a");
    }
    if (!host->failed) {
        host_answer_code(host, 0, PORT_UNAVAILABLE);
    }
    if (!host->failed) {
        host_simple(host, SINK_EVENT_FLUSH);
    }
    if (!host->failed) {
        host_answer_ok(host, 1, &stored);
        host_fire(host);
    }
    if (!host->failed) {
        host_answer_ok(host, 2, &stored);
        host_answer_ok(host, 3, &stored);
    }
    return !host->failed;
}

static void an_allocator_at_its_limit_fails_the_policy_and_leaks_nothing(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct host host;
        memset(&host, 0, sizeof(host));
        host.memory.fail_at = n;
        const struct sink_env env = {.parallelism = 1};
        assert_int_equal(host_init(&host, &policy_dead_letter_half, &env), ERR_OK);
        done = story(&host);
        if (!done) {
            host_assert_failed(&host, SINK_REASON_MEMORY, "memory");
        }
        host_fini(&host);
        assert_true(n < 100);
    }
}

static void close_drops_letters_that_wait_and_broken_contracts_are_checks(void **state)
{
    (void)state;
    static const struct sink_half *const halves[] = {
        &policy_fail_half, &policy_drop_half, &policy_dead_letter_half};
    for (size_t i = 0; i < ARRAY_COUNT(halves); i++) {
        struct host host;
        begin(&host, halves[i]);
        host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
        assert_int_equal(host.effects.count, 0);
        expect_check_failure(host_simple(&host, SINK_EVENT_OPEN));
        expect_check_failure(host_simple(&host, SINK_EVENT_RECORD));
        host_fini(&host);
    }
    struct host host;
    begin(&host, &policy_dead_letter_half);
    hand(&host, 1, "a");
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_simple(&host, SINK_EVENT_FLUSH);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_simple(&host, SINK_EVENT_TIMER);
    assert_int_equal(host.effects.count, 0);
    host_fini(&host);
}

TEST_MAIN(policy,
          TEST(fail_fails_with_the_records_reason),
          TEST(drop_drops),
          TEST(a_dead_letter_says_what_the_record_was),
          TEST(flushed_comes_only_when_every_letter_is_stored),
          TEST(a_letter_that_cannot_be_stored_fails_the_job),
          TEST(an_answer_after_a_failure_is_not_cancelled),
          TEST(a_flush_has_a_bound),
          TEST(a_full_window_holds_the_verdict_back),
          TEST(a_letter_without_room_waits),
          TEST(an_allocator_at_its_limit_fails_the_policy_and_leaks_nothing),
          TEST(close_drops_letters_that_wait_and_broken_contracts_are_checks))
