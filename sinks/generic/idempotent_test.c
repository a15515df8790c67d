/* The idempotent sink: when a batch leaves, what its verdicts do, order, pauses, entries that go alone,
 * barriers with and without state, the failure policy, and what a close leaves.
 * link: sinks/generic/idempotent sinks/generic/idempotent_writer sinks/generic/options
 * link: sinks/generic/buffered sinks/generic/user_testkit sinks/host_testkit sinks/parking sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/keyed sinks/base/bytes
 * link: sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units sinks/base/err
 */
#include "sinks/generic/idempotent.h"

#include "sinks/base/test.h"
#include "sinks/generic/buffered.h"
#include "sinks/generic/user_testkit.h"
#include "sinks/port/keyed.h"

#include <stdlib.h>
#include <string.h>

static struct generic_user user;

static void reopen(struct host *host)
{
    generic_open(host, &user, &idempotent_writer_half);
}

static void begin(struct host *host)
{
    generic_user_init(&user, &generic_idempotent);
    reopen(host);
}

/* One record by key, value and position; tokens are one more than positions. */
static void put(struct host *host, uint64_t position, const char *key, const char *value)
{
    assert_false(host->busy);
    const struct sink_event event = {.kind = SINK_EVENT_RECORD,
                                     .u.record = {.token = position + 1,
                                                  .key = bytes_of_text(key),
                                                  .value = bytes_of_text(value),
                                                  .position = position}};
    host_step(host, &event);
}

/* Records at positions from first on, of one key. */
static void put_many(struct host *host, uint64_t first, uint32_t count)
{
    static const char *const values[] = {
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"};
    for (uint64_t i = first; i < first + count; i++) {
        put(host, i, "k", values[i % ARRAY_COUNT(values)]);
    }
}

/* The positions of the entries of a send, as a text of digits. */
static void assert_sent(struct host *host, uint32_t send, const char *positions)
{
    struct generic_request request = generic_request_of(host, send);
    const struct keyed_append_request *append = request.value;
    assert_int_equal(append->entries.count, strlen(positions));
    for (uint32_t i = 0; i < append->entries.count; i++) {
        const struct keyed_entry *entry = append->entries.items[i];
        assert_int_equal(entry->id.size, BUFFERED_ID_SIZE);
        assert_int_equal(entry->id.data[BUFFERED_ID_SIZE - 1], positions[i] - '0');
    }
    generic_forget(host, &request);
}

/* Answer with one code per entry: o OK, u UNAVAILABLE, i INVALID_ARGUMENT, p PERMISSION_DENIED,
 * - no verdict. */
static void answer(struct host *host, uint32_t send, const char *codes)
{
    static struct keyed_verdict verdicts[16];
    static const void *items[16];
    uint32_t count = 0;
    for (uint32_t i = 0; codes[i] != '\0'; i++) {
        if (codes[i] == '-') {
            continue;
        }
        const uint32_t code = codes[i] == 'o'   ? PORT_OK
                              : codes[i] == 'u' ? PORT_UNAVAILABLE
                              : codes[i] == 'i' ? PORT_INVALID_ARGUMENT
                                                : PORT_PERMISSION_DENIED;
        verdicts[count] = (struct keyed_verdict){.index = i, .code = code};
        items[count] = &verdicts[count];
        count++;
    }
    const struct keyed_append_result result = {.verdicts = {items, count}};
    host_answer_ok(host, send, &result);
}

/* A definite error of the whole request. */
static void refuse(struct host *host, uint32_t send, enum port_code code)
{
    struct sink_event event = {.kind = SINK_EVENT_ANSWER};
    event.u.answer = (struct port_answer){.request = host->sends[send].number,
                                          .kind = PORT_ANSWER,
                                          .outcome = PORT_OUTCOME_ERROR,
                                          .method = host->sends[send].method,
                                          .status = port_status_grpc(code)};
    host->sends[send].done = true;
    host_step(host, &event);
}

static void a_full_batch_leaves_at_once_and_one_at_a_time(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 3);
    assert_int_equal(host.send_count, 0);
    put_many(&host, 3, 6);
    assert_int_equal(host.send_count, 1);
    assert_int_equal(host.counts[SINK_EFFECT_ACCEPTED], 9);
    assert_int_equal(host.sends[0].deadline, SECONDS(20));
    answer(&host, 0, "oooo");
    assert_int_equal(host.send_count, 2);
    assert_sent(&host, 0, "0123");
    assert_sent(&host, 1, "4567");
    assert_int_equal(host.metrics[IDEMPOTENT_METRIC_ENTRIES_STORED], 4);
    host_fini(&host);
}

static void an_entry_lingers_for_its_time_only(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    const nanos began = host.now.monotonic;
    put_many(&host, 0, 1);
    put_many(&host, 1, 1);
    assert_int_equal(host.timer_max, began + SECONDS(1));
    host_fire(&host);
    assert_sent(&host, 0, "01");
    assert_false(host.timer_set);
    put_many(&host, 2, 1);
    assert_true(host.timer_set);
    host_fire(&host);
    assert_int_equal(host.send_count, 1); /* the request before is still open */
    answer(&host, 0, "oo");
    assert_sent(&host, 1, "2");
    host_fini(&host);
}

/* Goal: an entry is decided by its own verdict; what has none goes back to where it stood. */
static void entries_without_a_verdict_go_first_again(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 6);
    answer(&host, 0, "o---");
    assert_sent(&host, 1, "1234");
    answer(&host, 1, "----");
    assert_int_equal(host.send_count, 2);
    assert_true(host.timer_set); /* nothing was decided: a pause */
    host_fire(&host);
    assert_sent(&host, 2, "1234");
    answer(&host, 2, "oooo");
    host_fire(&host); /* linger of what is left */
    assert_sent(&host, 3, "5");
    host_fini(&host);
}

static void a_failure_that_passes_pauses_all_sending(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 4);
    answer(&host, 0, "ou--");
    assert_int_equal(host.send_count, 1);
    put_many(&host, 4, 4);
    assert_int_equal(host.send_count, 1);
    assert_int_equal(host.timer_max - host.now.monotonic, MS(125));
    host_fire(&host);
    assert_sent(&host, 1, "1234");
    assert_int_equal(host.phases[IDEMPOTENT_PHASE_PAUSED], 1);
    host_fini(&host);
}

static void a_request_of_unknown_outcome_is_sent_again(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 4);
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    host_fire(&host);
    assert_true(host.sends[0].digest == host.sends[1].digest);
    host_fini(&host);
}

static void attempts_that_decide_nothing_are_used_up(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    user.options[IDEMPOTENT_OPTION_RETRY_MAX_ATTEMPTS].number = 3;
    host_fini(&host);
    reopen(&host);
    put_many(&host, 0, 4);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host);
    answer(&host, 1, "o-u-"); /* one is decided: the budget begins anew */
    host_fire(&host);
    answer(&host, 2, "---");
    host_fire(&host);
    assert_false(host.failed);
    answer(&host, 3, "u--");
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "Append failed with UNAVAILABLE and its");
    host_fini(&host);
}

static void a_definite_error_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 4);
    refuse(&host, 0, PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "PERMISSION_DENIED");
    host_fini(&host);
    begin(&host);
    put_many(&host, 0, 4);
    answer(&host, 0, "op--");
    host_assert_failed(&host, SINK_REASON_SERVICE, "PERMISSION_DENIED");
    host_fini(&host);
}

static void verdicts_of_no_entry_are_ignored(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 4);
    answer(&host, 0, "oooooo");
    assert_int_equal(host.metrics[IDEMPOTENT_METRIC_ENTRIES_STORED], 4);
    put_many(&host, 4, 4);
    const struct keyed_verdict twice = {.index = 1, .code = PORT_OK};
    const void *items[] = {&twice, &twice};
    const struct keyed_append_result result = {.verdicts = {items, 2}};
    host_answer_ok(&host, 1, &result);
    assert_sent(&host, 2, "467");
    host_fini(&host);
}

static void a_refused_entry_goes_to_the_policy_alone(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 4);
    answer(&host, 0, "oi--");
    const struct sink_effect *failed = host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0);
    assert_int_equal(failed->u.failed.token, 2);
    assert_int_equal(failed->u.failed.reason, SINK_REASON_REJECTED);
    assert_bytes_equal(failed->u.failed.payload, BYTES_LITERAL("v1"));
    assert_sent(&host, 1, "23");
    answer(&host, 1, "i-");
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.token, 3);
    assert_sent(&host, 2, "3");
    host_fini(&host);
}

/* Goal: a verdict on a batch is none on its entries. Method: refuse three as a whole; they go alone, and
 * what comes later goes together again. */
static void a_batch_that_is_refused_whole_goes_one_by_one(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 6);
    refuse(&host, 0, PORT_INVALID_ARGUMENT);
    assert_int_equal(host.counts[SINK_EFFECT_RECORD_FAILED], 0);
    assert_sent(&host, 1, "0");
    answer(&host, 1, "o");
    assert_sent(&host, 2, "1");
    refuse(&host, 2, PORT_INVALID_ARGUMENT);
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.token, 2);
    assert_sent(&host, 3, "2");
    answer(&host, 3, "o");
    assert_sent(&host, 4, "3");
    answer(&host, 4, "o");
    host_fire(&host);
    assert_sent(&host, 5, "45");
    host_fini(&host);
}

static void a_batch_holds_each_key_once_when_asked(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    user.options[IDEMPOTENT_OPTION_DISTINCT_KEYS].number = 1;
    host_fini(&host);
    reopen(&host);
    put(&host, 0, "a", "v");
    put(&host, 1, "b", "v");
    put(&host, 2, "a", "v");
    put(&host, 3, "c", "v");
    assert_sent(&host, 0, "01");
    answer(&host, 0, "uo");
    host_fire(&host);
    assert_sent(&host, 1, "0");
    host_fini(&host);
}

static void a_barrier_drains_and_then_flushes_the_policy(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 2);
    host_barrier(&host, 4);
    assert_sent(&host, 0, "01");
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 0);
    answer(&host, 0, "oi");
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH],
                     0); /* a verdict of the policy is open */
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 1);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 0);
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    assert_int_equal(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, 4);
    assert_int_equal(host.counts[SINK_EFFECT_STATE_PIECE], 0);
    put_many(&host, 2, 1);
    host_fini(&host);
}

/* Keep a piece of state beyond its step. */
static struct sink_piece kept_piece(const struct host *host, uint8_t *memory, size_t capacity)
{
    const struct bytes piece = host_effect(host, SINK_EFFECT_STATE_PIECE, 0)->u.piece;
    assert_true(piece.size <= capacity);
    memcpy(memory, piece.data, piece.size);
    return (struct sink_piece){{memory, piece.size}};
}

static void buffer_in_state(struct host *host)
{
    generic_user_init(&user, &generic_idempotent);
    user.options[IDEMPOTENT_OPTION_BUFFER_IN_STATE].number = 1;
    reopen(host);
}

/* Goal: what was sent is settled before the snapshot, what was not is in it, and goes on from there
 * without anything new to wake it. */
static void a_buffer_is_kept_restored_and_sent(void **state)
{
    (void)state;
    struct host host;
    uint8_t memory[1024];
    buffer_in_state(&host);
    put_many(&host, 0, 6);
    host_barrier(&host, 1);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 0);
    answer(&host, 0, "oo--");
    assert_int_equal(host.send_count, 1); /* nothing new while it drains */
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 1);
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    assert_int_equal(host_count(&host, SINK_EFFECT_STATE_PIECE), 1);
    const struct sink_piece piece = kept_piece(&host, memory, sizeof(memory));
    host_fini(&host);
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &idempotent_writer_half, &user.env), ERR_OK);
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    assert_int_equal(host_count(&host, SINK_EFFECT_OPENED), 1);
    assert_int_equal(host.send_count, 1); /* four wait: a full batch */
    assert_sent(&host, 0, "2345");
    host_fini(&host);
}

static void a_restored_buffer_has_a_timer(void **state)
{
    (void)state;
    struct host host;
    uint8_t memory[1024];
    buffer_in_state(&host);
    put_many(&host, 0, 2);
    host_barrier(&host, 1);
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    const struct sink_piece piece = kept_piece(&host, memory, sizeof(memory));
    host_fini(&host);
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &idempotent_writer_half, &user.env), ERR_OK);
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    assert_int_equal(host.timer_max - host.now.monotonic, SECONDS(1));
    host_fire(&host);
    assert_sent(&host, 0, "01");
    refuse(&host, 0, PORT_INVALID_ARGUMENT);
    answer(&host, 1, "i"); /* no policy knows it: its record is of another life */
    host_assert_failed(&host, SINK_REASON_REJECTED, "restored");
    host_fini(&host);
}

static void the_end_of_input_leaves_nothing_in_state(void **state)
{
    (void)state;
    struct host host;
    buffer_in_state(&host);
    put_many(&host, 0, 2);
    host_simple(&host, SINK_EVENT_END_OF_INPUT);
    assert_sent(&host, 0, "01");
    answer(&host, 0, "oo");
    host_policy(&host, SINK_EVENT_POLICY_FLUSHED, 0);
    assert_int_equal(host.counts[SINK_EFFECT_STATE_PIECE], 0);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 1);
    host_fini(&host);
}

static void spoilt_state_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    memset(&host, 0, sizeof(host));
    generic_user_init(&user, &generic_idempotent);
    assert_int_equal(host_init(&host, &idempotent_writer_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("not a buffer at all")};
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "cannot be read");
    host_fini(&host);
}

/* Goal: a writer that finds no memory for itself leaves none behind. Method: each of its allocations
 * fails; nothing else may be called then. */
static void a_writer_that_cannot_begin_keeps_no_memory(void **state)
{
    (void)state;
    generic_user_init(&user, &generic_idempotent);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        struct host host = {.memory = {.fail_at = nth}};
        assert_int_equal(host_init(&host, &idempotent_writer_half, &user.env), ERR_LIMIT);
        assert_int_equal(host.memory.live, 0);
        free(host.items);
        free(host.sends);
        free(host.state);
    }
}

static void what_the_user_fails_on_goes_to_the_policy(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put(&host, 1, "k", VALUE_FAILS);
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.reason,
                     SINK_REASON_SERIALIZER);
    put(&host, 2, KEY_FAILS, "v");
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.reason,
                     SINK_REASON_EXTRACTOR);
    put(&host, 3, "k", VALUE_SKIPPED);
    assert_int_equal(host_count(&host, SINK_EFFECT_SKIPPED), 1);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 3);
    host_barrier(&host, 1);
    assert_int_equal(host.counts[SINK_EFFECT_POLICY_FLUSH], 1);
    host_policy(&host, SINK_EVENT_POLICY_FAILED, 2);
    host_assert_failed(&host, SINK_REASON_POLICY, "failure policy");
    host_fini(&host);
}

/* Goal: the buffer's cap counts what is sent and what the policy has, and both make room again. */
static void a_full_buffer_holds_records_back(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    user.options[IDEMPOTENT_OPTION_MAX_BUFFERED_ENTRIES].number = 4;
    host_fini(&host);
    reopen(&host);
    put_many(&host, 0, 4);
    assert_true(host.busy);
    answer(&host, 0, "i---");
    assert_true(host.busy);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    assert_false(host.busy);
    put_many(&host, 4, 1);
    assert_true(host.busy);
    answer(&host, 1, "ooo");
    assert_false(host.busy);
    host_fini(&host);
}

static void without_room_a_batch_waits_for_more(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    host.send_room = 0;
    put_many(&host, 0, 4);
    assert_true(host.effects.more);
    host.send_room = 1;
    host_simple(&host, SINK_EVENT_MORE);
    assert_sent(&host, 0, "0123");
    host_fini(&host);
}

static void closing_cancels_and_gives_back(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 6);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_simple(&host, SINK_EVENT_MORE);
    host_fini(&host);
}

static void a_record_while_a_barrier_drains_is_a_broken_contract(void **state)
{
    (void)state;
    struct host host;
    begin(&host);
    put_many(&host, 0, 1);
    host_barrier(&host, 1);
    const uint64_t before = host.half->digest(host.state);
    host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
    assert_true(before == host.half->digest(host.state));
    expect_check_failure(put_many(&host, 1, 1));
    host_fini(&host);
}

TEST_MAIN(idempotent,
          TEST(a_full_batch_leaves_at_once_and_one_at_a_time),
          TEST(an_entry_lingers_for_its_time_only),
          TEST(entries_without_a_verdict_go_first_again),
          TEST(a_failure_that_passes_pauses_all_sending),
          TEST(a_request_of_unknown_outcome_is_sent_again),
          TEST(attempts_that_decide_nothing_are_used_up),
          TEST(a_definite_error_fails_the_job),
          TEST(verdicts_of_no_entry_are_ignored),
          TEST(a_refused_entry_goes_to_the_policy_alone),
          TEST(a_batch_that_is_refused_whole_goes_one_by_one),
          TEST(a_batch_holds_each_key_once_when_asked),
          TEST(a_barrier_drains_and_then_flushes_the_policy),
          TEST(a_buffer_is_kept_restored_and_sent),
          TEST(a_restored_buffer_has_a_timer),
          TEST(the_end_of_input_leaves_nothing_in_state),
          TEST(spoilt_state_fails_the_job),
          TEST(a_writer_that_cannot_begin_keeps_no_memory),
          TEST(what_the_user_fails_on_goes_to_the_policy),
          TEST(a_full_buffer_holds_records_back),
          TEST(without_room_a_batch_waits_for_more),
          TEST(closing_cancels_and_gives_back),
          TEST(a_record_while_a_barrier_drains_is_a_broken_contract))
