/* generic-staged: envelopes leave at the barrier, are put by a commit until all are stored, and are
 * refused when their bytes are not what a writer made.
 * link: sinks/generic/staged_writer sinks/generic/staged_committer sinks/generic/generic_sinks
 * link: sinks/host_testkit sinks/retry sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/port/generic sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator
 * link: sinks/base/units sinks/base/err
 */
#include "sinks/generic/staged.h"

#include "sinks/generic/generic_sinks.h"
#include "sinks/host_testkit.h"

#include <string.h>

#define REQUESTS_MAX 40

static struct sink_option_value options[GENERIC_OPTION_COUNT];
static uint8_t put_memory[256];

/* A record's value is the value of its Put; some mean trouble instead. */
static enum sink_user_result serialize(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    (void)context;
    (void)destination;
    if (bytes_equal(record->value, BYTES_LITERAL("!skipped"))) {
        return SINK_USER_NONE;
    }
    if (bytes_equal(record->value, BYTES_LITERAL("!fails"))) {
        return SINK_USER_FAILED;
    }
    if (bytes_equal(record->value, BYTES_LITERAL("!junk"))) {
        *payload = BYTES_LITERAL("\xff\xff");
        return SINK_USER_OK;
    }
    const struct generic_put_request put = {.key = record->key, .value = record->value};
    struct byte_writer writer;
    byte_writer_init(&writer, put_memory, sizeof(put_memory));
    port_encode(&generic_put_request_message, &put, &writer);
    *payload = byte_writer_view(&writer);
    return SINK_USER_OK;
}

static const struct sink_user user = {.serialize = serialize};
static const struct sink_job job = {.checkpointing = true};
static const struct sink_env env = {.options = options, .user = &user, .job = &job};

static void start(struct host *host, const struct sink_half *half)
{
    for (uint32_t i = 0; i < GENERIC_OPTION_COUNT; i++) {
        if (!options[i].given) {
            options[i].number = generic_staged.options[i].fallback;
        }
    }
    memset(host, 0, sizeof(*host));
    assert_int_equal(host_init(host, half, &env), ERR_OK);
    host_open(host);
}

static void set_option(enum generic_option option, uint64_t number)
{
    options[option] = (struct sink_option_value){.number = number, .given = true};
}

static void reset_options(void)
{
    memset(options, 0, sizeof(options));
}

/* Envelopes of the real writer. */
static void stage(struct sink_commit_request *requests, uint32_t count)
{
    struct host host;
    start(&host, &generic_staged_writer_half);
    for (uint32_t i = 0; i < count; i++) {
        host.now.nonce = 100 + i;
        host_record(&host, i + 1, "key", "value");
    }
    assert_int_equal(host.counts[SINK_EFFECT_ACCEPTED], count);
    host_barrier(&host, 1);
    uint32_t staged_count = 0;
    for (const struct sink_committable *staged = host.committables; staged != NULL;
         staged = staged->next) {
        assert_int_equal(staged->token, staged_count + 1);
        requests[staged_count] = host_keep(staged);
        staged_count++;
    }
    assert_int_equal(staged_count, count);
    host_fini(&host);
}

static void forget(struct sink_commit_request *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        host_forget(&requests[i]);
    }
}

static void writer_sends_nothing_and_hands_over_at_the_barrier(void **state)
{
    (void)state;
    struct sink_commit_request requests[2];
    reset_options();
    stage(requests, 2);
    assert_false(bytes_equal(requests[0].header.identity, requests[1].header.identity));
    assert_true(requests[0].header.deadline == TIME_NEVER);
    struct host host;
    start(&host, &generic_staged_writer_half);
    host_barrier(&host, 1);
    assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], 0);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 1);
    assert_int_equal(host.send_count, 0);
    host_record(&host, 1, "key", "!skipped");
    assert_int_equal(host.counts[SINK_EFFECT_SKIPPED], 1);
    host_record(&host, 2, "key", "value"); /* staged still when it is closed */
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    host_fini(&host);
    forget(requests, 2);
}

static void writer_fails_on_what_the_serializer_gives(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *part;
    } cases[] = {{"!fails", "the serializer failed"}, {"!junk", "no Put"}};
    reset_options();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        start(&host, &generic_staged_writer_half);
        host_record(&host, 1, "key", cases[i].value);
        host_assert_failed(&host, SINK_REASON_SERIALIZER, cases[i].part);
        host_fini(&host);
    }
}

/* Goal: a commit returns when all is stored, in a window, and not before. */
static void commit_returns_when_all_are_stored(void **state)
{
    (void)state;
    struct sink_commit_request requests[7];
    reset_options();
    set_option(GENERIC_OPTION_MAX_IN_FLIGHT, 3);
    stage(requests, 7);
    struct host host;
    start(&host, &generic_staged_committer_half);
    host_commit(&host, requests, 7);
    assert_int_equal(host.send_count, 3);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 0);
        host_answer_ok(&host, i, NULL);
        assert_int_equal(host.send_count, i + 4 < 7 ? i + 4 : 7);
    }
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 1);
    host_commit(&host, requests, 0);
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 2);
    host_fini(&host);
    forget(requests, 7);
}

/* Goal: what may or may not be stored is put again, and an answer of the attempt before is nothing. */
static void an_unknown_outcome_is_put_again(void **state)
{
    (void)state;
    struct sink_commit_request requests[1];
    reset_options();
    stage(requests, 1);
    struct host host;
    start(&host, &generic_staged_committer_half);
    host_commit(&host, requests, 1);
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    assert_int_equal(host.send_count, 1);
    assert_true(host.timer_set);
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    assert_int_equal(host.sends[1].digest, host.sends[0].digest);
    host_answer_code(&host, 1, PORT_DEADLINE_EXCEEDED);
    host_fire_early(&host);
    host_answer_ok(&host, 2, NULL);
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 1);
    host_fini(&host);
    forget(requests, 1);
}

/* A definite error: no effect. */
static void refuse(struct host *host, uint32_t send, enum port_code code)
{
    const struct port_answer error = {.request = host->sends[send].number,
                                      .kind = PORT_ANSWER,
                                      .method = host->sends[send].method,
                                      .received = host->now.monotonic,
                                      .outcome = PORT_OUTCOME_ERROR,
                                      .status = port_status_grpc(code)};
    const struct sink_event event = {.kind = SINK_EVENT_ANSWER, .u.answer = error};
    host->sends[send].done = true;
    host_step(host, &event);
}

static void a_put_that_cannot_be_stored_fails_the_commit(void **state)
{
    (void)state;
    struct sink_commit_request requests[2];
    reset_options();
    set_option(GENERIC_OPTION_RETRY_MAX_ATTEMPTS, 2);
    stage(requests, 2);
    struct host host;
    start(&host, &generic_staged_committer_half);
    host_commit(&host, requests, 2);
    refuse(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host);
    host_answer_code(&host, 2, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "attempts");
    host_fini(&host);
    start(&host, &generic_staged_committer_half);
    host_commit(&host, requests, 2);
    refuse(&host, 1, PORT_INVALID_ARGUMENT);
    host_assert_failed(&host, SINK_REASON_SERVICE, "refuses");
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 0);
    host_fini(&host);
    forget(requests, 2);
}

/* Goal: nothing is sent of a list with an envelope that no writer made. Method: every cut and every
 * changed byte of the second one, but for its identity, which is any. */
static void damaged_envelopes_are_refused(void **state)
{
    (void)state;
    struct sink_commit_request requests[2];
    reset_options();
    stage(requests, 2);
    const struct bytes whole = requests[1].data;
    uint8_t copy[256];
    assert_true(whole.size <= sizeof(copy));
    for (size_t i = 0; i < 2 * whole.size; i++) {
        const size_t at = i / 2;
        const bool is_cut = i % 2 == 0;
        if (!is_cut && at >= 1 && at < 9) {
            continue;
        }
        memcpy(copy, whole.data, whole.size);
        copy[at] ^= is_cut ? 0 : 0x11;
        struct sink_commit_request damaged[2] = {requests[0], requests[1]};
        damaged[1].data = (struct bytes){copy, is_cut ? at : whole.size};
        struct host host;
        start(&host, &generic_staged_committer_half);
        host_commit(&host, damaged, 2);
        host_assert_failed(
            &host, SINK_REASON_STATE, !is_cut && at == 0 ? "unknown version" : "cannot be read");
        assert_int_equal(host.send_count, 0);
        host_fini(&host);
    }
    forget(requests, 2);
}

/* Goal: a close at any moment is answered at once, and nothing leaks. */
static void a_close_is_answered_at_any_moment(void **state)
{
    (void)state;
    struct sink_commit_request requests[3];
    reset_options();
    stage(requests, 3);
    for (uint32_t moment = 0; moment < 4; moment++) {
        struct host host;
        start(&host, &generic_staged_committer_half);
        if (moment > 0) {
            host_commit(&host, requests, 3);
        }
        if (moment > 1) {
            host_answer_ok(&host, 0, NULL);
            host_answer_code(&host, 1, PORT_UNAVAILABLE);
        }
        if (moment > 2) {
            refuse(&host, 2, PORT_INVALID_ARGUMENT);
        }
        host_simple(&host, SINK_EVENT_CLOSE);
        assert_true(host.closed);
        host_fini(&host);
    }
    forget(requests, 3);
}

/* Goal: without checkpoints nothing would ever be put. */
static void a_job_without_checkpoints_is_refused(void **state)
{
    (void)state;
    uint8_t text[128];
    struct byte_writer message;
    byte_writer_init(&message, text, sizeof(text));
    assert_int_equal(generic_staged.validate(options, &job, &message), ERR_OK);
    const struct sink_job off = {.checkpointing = false};
    assert_int_equal(generic_staged.validate(options, &off, &message), ERR_INVALID);
    assert_true(message.size > 0);
}

TEST_MAIN(staged,
          TEST(writer_sends_nothing_and_hands_over_at_the_barrier),
          TEST(writer_fails_on_what_the_serializer_gives),
          TEST(commit_returns_when_all_are_stored),
          TEST(an_unknown_outcome_is_put_again),
          TEST(a_put_that_cannot_be_stored_fails_the_commit),
          TEST(damaged_envelopes_are_refused),
          TEST(a_close_is_answered_at_any_moment),
          TEST(a_job_without_checkpoints_is_refused))
