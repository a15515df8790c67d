/* The transactional sink, half by half: what is staged, handed over, committed, looked up, discarded;
 * what fails, and what a close leaves.
 * link: sinks/generic/transactional sinks/generic/transactional_writer
 * link: sinks/generic/transactional_committer sinks/generic/options sinks/generic/unit_frame
 * link: sinks/generic/user_testkit sinks/host_testkit sinks/retry sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/port/table sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/allocator sinks/base/units sinks/base/err
 */
#include "sinks/generic/transactional.h"

#include "sinks/base/test.h"
#include "sinks/generic/unit_frame.h"
#include "sinks/generic/user_testkit.h"
#include "sinks/port/table.h"

#include <string.h>

static struct generic_user user;

/* A definite error, which the testkit's own answers are not. */
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

/* --- the writer -------------------------------------------------------------------------------- */

static void open_writer(struct host *host)
{
    generic_open(host, &user, &transactional_writer_half);
}

static void begin_writer(struct host *host)
{
    generic_user_init(&user, &generic_transactional);
    open_writer(host);
}

static void staged_ok(struct host *host, uint32_t send, uint64_t count)
{
    const struct table_stage_result result = {.count = count};
    host_answer_ok(host, send, &result);
}

/* What a Stage call asked for. */
static void
assert_stage(struct host *host, uint32_t send, uint64_t offset, const char *first, uint32_t count)
{
    struct generic_request request = generic_request_of(host, send);
    const struct table_stage_request *stage = request.value;
    assert_ptr_equal(host->sends[send].method, &table_stage_method);
    assert_int_equal(stage->offset, offset);
    assert_int_equal(stage->rows.count, count);
    const struct table_row *row = stage->rows.items[0];
    assert_bytes_equal(row->value, bytes_of_text(first));
    assert_int_equal(stage->unit.size, UNIT_NAME_SIZE);
    generic_forget(host, &request);
}

static struct unit_frame handed_over(const struct host *host)
{
    struct unit_frame staged = {0};
    assert_non_null(host->committables);
    assert_null(host->committables->next);
    assert_int_equal(unit_frame_decode(host->committables->data, &staged), ERR_OK);
    assert_bytes_equal(host->committables->header.identity, staged.unit);
    assert_int_equal(host->committables->header.deadline, TIME_NEVER);
    assert_int_equal(host->committables->token, 0);
    return staged;
}

static void a_row_is_staged_at_once_and_others_wait_for_its_answer(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 1);
    assert_int_equal(host.send_count, 1);
    assert_int_equal(host.sends[0].deadline, SECONDS(20));
    host_record(&host, 2, "k", "two");
    host_record(&host, 3, "k", "three");
    assert_int_equal(host.send_count, 1);
    staged_ok(&host, 0, 1);
    assert_int_equal(host.send_count, 2);
    assert_stage(&host, 0, 0, "one", 1);
    assert_stage(&host, 1, 1, "two", 2);
    host_fini(&host);
}

static void a_barrier_waits_for_all_rows_and_hands_the_unit_over(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_barrier(&host, 5);
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 0);
    staged_ok(&host, 0, 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 0);
    staged_ok(&host, 1, 2);
    assert_int_equal(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, 5);
    const struct unit_frame staged = handed_over(&host);
    assert_bytes_equal(staged.application, BYTES_LITERAL("job"));
    assert_int_equal(staged.sequence, 5);
    assert_int_equal(staged.rows, 2);
    host_fini(&host);
}

/* Goal: no committable without rows: there is nothing that it could name. */
static void an_empty_interval_hands_nothing_over(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", VALUE_SKIPPED);
    assert_int_equal(host_count(&host, SINK_EFFECT_SKIPPED), 1);
    host_barrier(&host, 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 1);
    assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], 0);
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

static void each_interval_has_a_unit_of_its_own(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    char first[UNIT_NAME_SIZE];
    host_record(&host, 1, "k", "one");
    staged_ok(&host, 0, 1);
    host_barrier(&host, 1);
    memcpy(first, handed_over(&host).unit.data, sizeof(first));
    host_record(&host, 2, "k", "two");
    assert_stage(&host, 1, 0, "two", 1);
    staged_ok(&host, 1, 1);
    host_barrier(&host, 2);
    assert_memory_not_equal(first, handed_over(&host).unit.data, sizeof(first));
    assert_int_equal(handed_over(&host).sequence, 2);
    host_fini(&host);
}

/* Goal: what ends the input carries the number of a checkpoint that may come, not the largest one. */
static void the_end_of_input_has_a_real_sequence(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_barrier(&host, 7);
    host_record(&host, 1, "k", "one");
    staged_ok(&host, 0, 1);
    host_simple(&host, SINK_EVENT_END_OF_INPUT);
    assert_true(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint == SINK_END_OF_INPUT);
    assert_int_equal(handed_over(&host).sequence, 8);
    host_barrier(&host, 8);
    assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], 1);
    assert_int_equal(host.counts[SINK_EFFECT_BARRIER_DONE], 3);
    host_fini(&host);
}

/* Goal: an unknown outcome is asked for again with the same rows at the same offset. Method: a timeout
 * with rows that came since; the table has had it. */
static void a_batch_of_unknown_outcome_is_sent_again_as_it_was(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    assert_int_equal(host.send_count, 1);
    assert_int_equal(host.timer_max - host.now.monotonic, MS(125));
    assert_int_equal(host.timer_min - host.now.monotonic, MS(75));
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    assert_true(host.sends[0].digest == host.sends[1].digest);
    host_answer_code(&host, 1, PORT_ALREADY_EXISTS);
    assert_int_equal(host.send_count, 3);
    assert_stage(&host, 2, 1, "two", 1);
    assert_int_equal(host.metrics[TRANSACTIONAL_METRIC_RETRIES], 1);
    host_fini(&host);
}

static void attempts_are_used_up(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    for (uint32_t i = 0; i < 7; i++) {
        host_answer_code(&host, i, PORT_UNAVAILABLE);
        host_fire(&host);
    }
    assert_false(host.failed);
    host_answer_code(&host, 7, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "Stage failed with UNAVAILABLE and its");
    host_fini(&host);
}

/* Goal: a success gives the next batch its whole budget. */
static void a_success_forgets_failures(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    user.options[TRANSACTIONAL_OPTION_RETRY_MAX_ATTEMPTS].number = 2;
    host_fini(&host);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_answer_code(&host, 0, PORT_UNAVAILABLE);
    host_fire(&host);
    staged_ok(&host, 1, 1);
    host_record(&host, 2, "k", "two");
    host_answer_code(&host, 2, PORT_UNAVAILABLE);
    assert_false(host.failed);
    host_fini(&host);
}

static void a_unit_that_is_gone_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    staged_ok(&host, 0, 1);
    host_record(&host, 2, "k", "two");
    refuse(&host, 1, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "the unit is gone");
    host_fini(&host);
}

static void foreign_rows_in_the_unit_fail_the_job(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    staged_ok(&host, 0, 2);
    host_assert_failed(&host, SINK_REASON_SERVICE, "not staged here");
    host_fini(&host);
}

static void a_full_buffer_holds_records_back(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    user.options[TRANSACTIONAL_OPTION_MAX_BUFFERED_ROWS].number = 2;
    host_fini(&host);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    assert_false(host.busy);
    host_record(&host, 2, "k", "two");
    assert_true(host.busy);
    staged_ok(&host, 0, 1);
    assert_false(host.busy);
    host_fini(&host);
}

static void a_batch_has_its_limit(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    user.options[TRANSACTIONAL_OPTION_MAX_BATCH_ROWS].number = 2;
    host_fini(&host);
    open_writer(&host);
    for (uint64_t token = 1; token <= 4; token++) {
        host_record(&host, token, "k", "row");
    }
    staged_ok(&host, 0, 1);
    assert_stage(&host, 1, 1, "row", 2);
    staged_ok(&host, 1, 3);
    assert_stage(&host, 2, 3, "row", 1);
    host_fini(&host);
}

static void without_room_rows_wait_for_more(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host.send_room = 0;
    host_record(&host, 1, "k", "one");
    assert_true(host.effects.more);
    assert_int_equal(host.send_count, 0);
    host.send_room = 1;
    host_simple(&host, SINK_EVENT_MORE);
    assert_int_equal(host.send_count, 1);
    host_fini(&host);
}

static void the_users_failure_and_restored_state_fail_the_job(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", VALUE_FAILS);
    host_assert_failed(&host, SINK_REASON_SERIALIZER, "serializer");
    host_fini(&host);
    memset(&host, 0, sizeof(host));
    assert_int_equal(host_init(&host, &transactional_writer_half, &user.env), ERR_OK);
    const struct sink_piece piece = {BYTES_LITERAL("x")};
    const struct sink_event event = {.kind = SINK_EVENT_OPEN, .u.open = {&piece, 1, true}};
    host_step(&host, &event);
    host_assert_failed(&host, SINK_REASON_STATE, "keeps none");
    host_fini(&host);
}

static void closing_a_writer_cancels_and_gives_back(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_simple(&host, SINK_EVENT_TIMER);
    assert_int_equal(host.send_count, 1);
    host_fini(&host);
}

static void notices_change_nothing_and_a_record_while_held_is_a_broken_contract(void **state)
{
    (void)state;
    struct host host;
    begin_writer(&host);
    const uint64_t before = host.half->digest(host.state);
    host_simple(&host, SINK_EVENT_CHECKPOINT_COMPLETE);
    host_simple(&host, SINK_EVENT_CHECKPOINT_ABORTED);
    assert_true(before == host.half->digest(host.state));
    host_barrier(&host, 1);
    host_record(&host, 1, "k", "one");
    const struct sink_event barrier = {.kind = SINK_EVENT_BARRIER, .u.checkpoint = 2};
    host_step(&host, &barrier);
    expect_check_failure(host_step(&host, &barrier));
    host_fini(&host);
}

/* --- the committer ----------------------------------------------------------------------------- */

#define REQUESTS_MAX 400u

static struct sink_commit_request requests[REQUESTS_MAX];
static uint8_t frames[REQUESTS_MAX][128];
static char units[REQUESTS_MAX][8];

/* Committables of units u0000000, u0000001, ... */
static void make_requests(uint32_t count)
{
    assert_true(count <= REQUESTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct byte_writer name;
        byte_writer_init(&name, (uint8_t *)units[i], sizeof(units[i]));
        byte_writer_text(&name, "u");
        byte_writer_decimal(&name, 1000000u + i);
        const struct unit_frame staged = {
            .application = BYTES_LITERAL("orders"),
            .unit = {(const uint8_t *)units[i], sizeof(units[i])},
            .sequence = 3 + i % 2,
            .rows = 1,
        };
        const struct bytes unit = unit_frame_encode(&staged, frames[i]);
        requests[i] = (struct sink_commit_request){
            .header = {.identity = unit, .deadline = TIME_NEVER},
            .data = {frames[i], unit_frame_size(&staged)},
        };
    }
}

static void begin_commit(struct host *host, uint32_t count)
{
    generic_user_init(&user, &generic_transactional);
    generic_open(host, &user, &transactional_committer_half);
    make_requests(count);
    host_commit(host, requests, count);
    assert_int_equal(host->send_count, 1);
}

static bool returned(const struct host *host)
{
    return host->counts[SINK_EFFECT_COMMIT_RETURNED] > 0;
}

static void committed_ok(struct host *host, uint32_t send)
{
    const struct table_commit_result result = {.version = 1};
    host_answer_ok(host, send, &result);
}

/* Answer a Read: of the requests from first on, count are committed. */
static void read_ok(struct host *host, uint32_t send, uint32_t first, uint32_t count)
{
    static struct bytes names[REQUESTS_MAX];
    assert_ptr_equal(host->sends[send].method, &table_read_method);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = requests[first + i].header.identity;
    }
    const struct table_read_result result = {.committed = {names, count}};
    host_answer_ok(host, send, &result);
}

static void a_commit_is_one_conditional_request_of_all_units(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 3);
    struct generic_request request = generic_request_of(&host, 0);
    const struct table_commit_request *commit = request.value;
    assert_ptr_equal(host.sends[0].method, &table_commit_method);
    assert_int_equal(commit->units.count, 3);
    assert_bytes_equal(commit->units.items[2], requests[2].header.identity);
    assert_bytes_equal(commit->application, BYTES_LITERAL("orders"));
    assert_int_equal(commit->sequence, 4);
    assert_true(commit->if_fresh);
    assert_false(commit->if_newer);
    generic_forget(&host, &request);
    assert_false(returned(&host));
    committed_ok(&host, 0);
    assert_true(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    host_fini(&host);
}

static void units_are_discarded_behind_the_commit_and_nobody_waits(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 2);
    committed_ok(&host, 0);
    assert_int_equal(host.send_count, 2);
    struct generic_request request = generic_request_of(&host, 1);
    const struct table_discard_request *discard = request.value;
    assert_ptr_equal(host.sends[1].method, &table_discard_method);
    assert_int_equal(discard->units.count, 2);
    generic_forget(&host, &request);
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    assert_int_equal(host.send_count, 2);
    assert_false(host.timer_set);
    host_fini(&host);
}

/* Goal: clean-up never piles up, and never holds a commit. Method: commits whose discards stay open, and
 * one without room. */
static void one_discard_is_open_at_a_time(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    committed_ok(&host, 0);
    host_commit(&host, requests, 1);
    committed_ok(&host, 2);
    assert_int_equal(host.cancel_count, 1);
    assert_ptr_equal(host.sends[3].method, &table_discard_method);
    host_commit(&host, requests, 1);
    host.send_room = 0;
    committed_ok(&host, 4);
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 3);
    assert_int_equal(host.send_count, 5);
    host_fini(&host);
}

static void an_unknown_outcome_is_asked_for_again(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 2);
    host_answer_code(&host, 0, PORT_DEADLINE_EXCEEDED);
    assert_int_equal(host.timer_max - host.now.monotonic, MS(125));
    assert_int_equal(host.send_count, 1);
    host_fire(&host);
    assert_int_equal(host.send_count, 2);
    assert_true(host.sends[0].digest == host.sends[1].digest);
    refuse(&host, 1, PORT_ALREADY_EXISTS);
    read_ok(&host, 2, 0, 2);
    assert_true(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 2);
    host_fini(&host);
}

/* Goal: what is committed is signalled, what is not is committed. Method: two of three are known. */
static void only_what_is_known_is_signalled(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 3);
    refuse(&host, 0, PORT_ALREADY_EXISTS);
    assert_false(returned(&host));
    read_ok(&host, 1, 1, 2);
    assert_int_equal(host_count(&host, SINK_EFFECT_SIGNAL), 2);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 0)->u.signal.request, 1);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 0)->u.signal.how,
                     SINK_SIGNAL_ALREADY_COMMITTED);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 1)->u.signal.request, 2);
    struct generic_request request = generic_request_of(&host, 2);
    const struct table_commit_request *commit = request.value;
    assert_int_equal(commit->units.count, 1);
    assert_bytes_equal(commit->units.items[0], requests[0].header.identity);
    generic_forget(&host, &request);
    committed_ok(&host, 2);
    assert_true(returned(&host));
    struct generic_request discarded = generic_request_of(&host, 3);
    assert_int_equal(((const struct table_discard_request *)discarded.value)->units.count, 3);
    generic_forget(&host, &discarded);
    host_fini(&host);
}

/* Goal: each committable has a signal of its own, whatever its unit. Method: two name the same one. */
static void a_unit_that_is_named_twice_is_signalled_for_both(void **state)
{
    (void)state;
    struct host host;
    make_requests(2);
    generic_user_init(&user, &generic_transactional);
    generic_open(&host, &user, &transactional_committer_half);
    requests[1] = requests[0];
    host_commit(&host, requests, 2);
    refuse(&host, 0, PORT_ALREADY_EXISTS);
    read_ok(&host, 1, 0, 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_SIGNAL), 2);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 0)->u.signal.request, 0);
    assert_int_equal(host_effect(&host, SINK_EFFECT_SIGNAL, 1)->u.signal.request, 1);
    assert_true(returned(&host));
    host_fini(&host);
}

/* Goal: more units than one step has space to signal are signalled all the same, each once. */
static void many_units_are_signalled_in_turns(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, REQUESTS_MAX);
    uint32_t next = 0;
    for (uint32_t i = 0; !returned(&host); i++) {
        assert_true(i < 20);
        if (host.sends[next].method == &table_commit_method) {
            refuse(&host, next, PORT_ALREADY_EXISTS);
        } else {
            read_ok(&host, next, 0, REQUESTS_MAX);
        }
        next++;
    }
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], REQUESTS_MAX);
    host_fini(&host);
}

static void a_table_that_contradicts_itself_fails_the_job(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    refuse(&host, 0, PORT_ALREADY_EXISTS);
    read_ok(&host, 1, 0, 0);
    host_assert_failed(&host, SINK_REASON_SERVICE, "does not know");
    assert_false(returned(&host));
    host_fini(&host);
}

static void a_read_is_tried_again(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    refuse(&host, 0, PORT_ALREADY_EXISTS);
    host_answer_code(&host, 1, PORT_UNAVAILABLE);
    host_fire(&host);
    read_ok(&host, 2, 0, 1);
    assert_true(returned(&host));
    host_fini(&host);
    begin_commit(&host, 1);
    refuse(&host, 0, PORT_ALREADY_EXISTS);
    refuse(&host, 1, PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "Read failed with PERMISSION_DENIED");
    host_fini(&host);
}

/* Goal: a unit that expired is a loss that is said, once: neither success nor a reason to try again. */
static void a_unit_that_is_gone_is_a_loss(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 2);
    refuse(&host, 0, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_EXPIRED, "of 2 units to commit up to sequence 4");
    assert_false(returned(&host));
    assert_int_equal(host.counts[SINK_EFFECT_SIGNAL], 0);
    assert_int_equal(host.send_count, 1);
    host_fini(&host);
}

static void a_definite_error_fails_and_attempts_are_counted(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    refuse(&host, 0, PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "Commit failed with PERMISSION_DENIED");
    host_fini(&host);
    begin_commit(&host, 1);
    for (uint32_t i = 0; i < 7; i++) {
        host_answer_code(&host, i, PORT_UNAVAILABLE);
        host_fire(&host);
    }
    host_answer_code(&host, 7, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "its attempts are used up");
    host_fini(&host);
}

static void spoilt_committables_fail_before_anything_is_sent(void **state)
{
    (void)state;
    struct host host;
    generic_user_init(&user, &generic_transactional);
    generic_open(&host, &user, &transactional_committer_half);
    make_requests(3);
    frames[1][20] ^= 1;
    host_commit(&host, requests, 3);
    host_assert_failed(&host, SINK_REASON_STATE, "committable 2 of 3: ");
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

static void closing_a_committer_cancels_what_is_open(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    committed_ok(&host, 0);
    host_commit(&host, requests, 1);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 2);
    host_fini(&host);
}

static void a_second_commit_at_once_is_a_broken_contract(void **state)
{
    (void)state;
    struct host host;
    begin_commit(&host, 1);
    expect_check_failure(host_commit(&host, requests, 1));
    host_fini(&host);
}

static void the_digest_tells_states_apart(void **state)
{
    (void)state;
    struct host one;
    struct host other;
    begin_commit(&one, 1);
    generic_open(&other, &user, &transactional_committer_half);
    assert_true(one.half->digest(one.state) != other.half->digest(other.state));
    host_commit(&other, requests, 1);
    assert_true(one.half->digest(one.state) == other.half->digest(other.state));
    host_answer_code(&one, 0, PORT_UNAVAILABLE);
    assert_true(one.half->digest(one.state) != other.half->digest(other.state));
    host_fini(&one);
    host_fini(&other);
}

TEST_MAIN(transactional,
          TEST(a_row_is_staged_at_once_and_others_wait_for_its_answer),
          TEST(a_barrier_waits_for_all_rows_and_hands_the_unit_over),
          TEST(an_empty_interval_hands_nothing_over),
          TEST(each_interval_has_a_unit_of_its_own),
          TEST(the_end_of_input_has_a_real_sequence),
          TEST(a_batch_of_unknown_outcome_is_sent_again_as_it_was),
          TEST(attempts_are_used_up),
          TEST(a_success_forgets_failures),
          TEST(a_unit_that_is_gone_fails_the_job),
          TEST(foreign_rows_in_the_unit_fail_the_job),
          TEST(a_full_buffer_holds_records_back),
          TEST(a_batch_has_its_limit),
          TEST(without_room_rows_wait_for_more),
          TEST(the_users_failure_and_restored_state_fail_the_job),
          TEST(closing_a_writer_cancels_and_gives_back),
          TEST(notices_change_nothing_and_a_record_while_held_is_a_broken_contract),
          TEST(a_commit_is_one_conditional_request_of_all_units),
          TEST(units_are_discarded_behind_the_commit_and_nobody_waits),
          TEST(one_discard_is_open_at_a_time),
          TEST(an_unknown_outcome_is_asked_for_again),
          TEST(only_what_is_known_is_signalled),
          TEST(a_unit_that_is_named_twice_is_signalled_for_both),
          TEST(many_units_are_signalled_in_turns),
          TEST(a_table_that_contradicts_itself_fails_the_job),
          TEST(a_read_is_tried_again),
          TEST(a_unit_that_is_gone_is_a_loss),
          TEST(a_definite_error_fails_and_attempts_are_counted),
          TEST(spoilt_committables_fail_before_anything_is_sent),
          TEST(closing_a_committer_cancels_what_is_open),
          TEST(a_second_commit_at_once_is_a_broken_contract),
          TEST(the_digest_tells_states_apart))
