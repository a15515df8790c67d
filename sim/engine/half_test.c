/* The host of a half: contract rules, room for sends, busy halves, the policy, memory, closing.
 * link: sim/engine/crash sim/engine/moment
 * link: sim/engine/job sim/engine/task sim/engine/half sim/engine/source sim/engine/committer
 * link: sim/engine/savepoint sim/engine/restart sim/engine/region sim/engine/start
 * link: sim/engine/barrier
 * link: sim/engine/coordinator sim/engine/store sim/engine/sites sim/engine/toy_testkit sim/run
 * link: sim/world sim/journal sim/journal_text sim/trace sim/fault sim/choice sim/lane sim/clock
 * link: sim/sched sim/arena sim/model sim/link sim/link_call sim/link_unary sim/link_stream
 * link: sim/link_reply sinks/base/bytes sinks/base/digest sinks/base/units sinks/base/list
 * link: sinks/base/pool sinks/base/allocator sinks/port/port sinks/port/status sinks/port/decode
 * link: sinks/sink sim/oracle sim/oracle_types sim/oracle_ledger sim/oracle_ledger_envelopes
 * link: sim/oracle_ledger_faults sim/oracle_excuse sim/oracle_once sim/oracle_accounting
 * link: sim/oracle_at_least_once sim/oracle_bounded_concurrency sim/oracle_checkpoint_durable
 * link: sim/oracle_contract sim/oracle_dead_letter_complete sim/oracle_deadline_respected
 * link: sim/oracle_atomic_visibility sim/oracle_idempotent_commit sim/oracle_attempt_fenced
 * link: sim/oracle_retry_budget sim/oracle_refused sim/oracle_no_leak sim/oracle_order_per_key
 * link: sim/oracle_end_to_end sim/oracle_one_cut sim/oracle_channel_state
 * link: sim/oracle_handle_safe
 * link: sim/oracle_scope sim/oracle_latest_per_key
 * link: sim/oracle_table
 * link: sim/oracle_effectively_once sim/oracle_exactly_once_write sim/oracle_identity_stable
 * link: sim/oracle_liveness sim/oracle_no_early_visibility sim/oracle_no_silent_loss
 * link: sim/oracle_ownership sim/oracle_progress sim/oracle_quiescent_at_barrier
 * link: sim/oracle_staged_silence sim/oracle_value_intact
 */
#include "sim/engine/toy_testkit.h"
#include "sinks/base/test.h"

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

static uint32_t broken(enum contract_rule rule)
{
    return toy_count(&toy, ENTRY(.kind = HOST_CONTRACT, .code = (uint8_t)rule));
}

/* Run with one misdeed; it must be named as the rule, once, and nothing else be found wrong. */
static void require_rule(enum toy_sink sink, enum toy_misdeed misdeed, enum contract_rule rule)
{
    toy_init(&toy, sink, 30, 1);
    toy.config.facts.liveness_bound = MINUTES(1);
    toy.config.safety_bound = MINUTES(1);
    toy.behaviour.misdeed = (uint8_t)misdeed;
    toy_run(&toy);
    assert_int_equal(broken(rule), 1);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 1);
}

static void broken_rules_are_named(void **state)
{
    (void)state;
    require_rule(TOY_EAGER, TOY_TWO_BARRIER_ANSWERS, CONTRACT_TWO_BARRIER_ANSWERS);
    require_rule(
        TOY_EAGER, TOY_BARRIER_ANSWER_WITHOUT_BARRIER, CONTRACT_BARRIER_DONE_WITHOUT_BARRIER);
    require_rule(TOY_EAGER, TOY_WRONG_BARRIER_ANSWER, CONTRACT_BARRIER_DONE_WITHOUT_BARRIER);
    require_rule(TOY_EAGER, TOY_UNKNOWN_TOKEN, CONTRACT_UNKNOWN_TOKEN);
    require_rule(TOY_EAGER, TOY_CANCEL_UNKNOWN, CONTRACT_UNKNOWN_REQUEST);
    require_rule(TOY_EAGER, TOY_RETURN_WITHOUT_COMMIT, CONTRACT_RETURN_WITHOUT_COMMIT);
    require_rule(TOY_EAGER, TOY_STATE_OUTSIDE_BARRIER, CONTRACT_STATE_OUTSIDE_BARRIER);
    require_rule(TOY_EAGER, TOY_WRITER_SPEAKS_AS_POLICY, CONTRACT_UNKNOWN_TOKEN);
    require_rule(TOY_EAGER, TOY_LEAK, CONTRACT_LEAK);
    require_rule(TOY_EAGER, TOY_SEND_BEYOND_ROOM, CONTRACT_EFFECTS_OVERFLOW);
    require_rule(TOY_EAGER, TOY_REQUEST_ID_TWICE, CONTRACT_DUPLICATE_REQUEST_ID);
    require_rule(TOY_EAGER, TOY_FLUSHES_BEFORE_OPENED, CONTRACT_NOT_OPENED);
    require_rule(TOY_EAGER, TOY_SEND_WITHOUT_METHOD, CONTRACT_MALFORMED_SEND);
    require_rule(TOY_EAGER, TOY_SEND_OF_FOREIGN_METHOD, CONTRACT_MALFORMED_SEND);
    require_rule(TOY_EAGER, TOY_SEND_WITHOUT_PAYLOAD, CONTRACT_MALFORMED_SEND);
    require_rule(TOY_EAGER, TOY_SEND_OF_NO_KIND, CONTRACT_MALFORMED_SEND);
    require_rule(TOY_EAGER, TOY_EFFECT_OF_NO_KIND, CONTRACT_UNKNOWN_EFFECT);
    require_rule(TOY_STAGED, TOY_RETURN_TWICE, CONTRACT_RETURN_WITHOUT_COMMIT);
    require_rule(TOY_STAGED, TOY_SIGNAL_UNKNOWN, CONTRACT_UNKNOWN_REQUEST);
    require_rule(TOY_STAGED, TOY_COMMITTER_FAILS_RECORD, CONTRACT_UNKNOWN_TOKEN);
    require_rule(TOY_STAGED, TOY_COMMITTER_FLUSHES_POLICY, CONTRACT_UNKNOWN_TOKEN);
    require_rule(TOY_STAGED_GLOBAL, TOY_COMMITTER_FAILS_RECORD, CONTRACT_UNKNOWN_TOKEN);
    require_rule(TOY_STAGED, TOY_COMMITTABLES_OUTSIDE_BARRIER, CONTRACT_STATE_OUTSIDE_BARRIER);
}

/* Goal: an overflow is noted; what was overwritten is lost, here the answer to a record. */
static void too_many_effects_are_noted(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.facts.liveness_bound = MINUTES(1);
    toy.config.safety_bound = MINUTES(1);
    toy.behaviour.misdeed = TOY_OVERFLOW;
    toy_run(&toy);
    assert_int_equal(broken(CONTRACT_EFFECTS_OVERFLOW), 1);
}

/* A job that must close: the first commit or opening fails. */
static void prepare_closing(enum toy_misdeed misdeed)
{
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.behaviour.misdeed = (uint8_t)misdeed;
    toy.behaviour.poison = 7;
    toy.behaviour.policy = TOY_POLICY_FAIL;
    toy.config.job.restart_attempts = 1;
}

static void a_send_after_close_is_noted_and_lands(void **state)
{
    (void)state;
    prepare_closing(TOY_SEND_AFTER_CLOSE);
    toy_run(&toy);
    assert_int_equal(broken(CONTRACT_SEND_AFTER_CLOSE), 1);
    prepare_closing(TOY_SEND_AFTER_CLOSED);
    toy_run(&toy);
    assert_int_equal(broken(CONTRACT_SEND_AFTER_CLOSED), 1);
    /* The lone resource belongs to no record. */
    uint32_t lone = toy_find(&toy, 0, ENTRY(.kind = HOST_CONTRACT));
    uint32_t issued = toy_find(&toy, lone, ENTRY(.kind = WIRE_ISSUED));
    uint32_t request = journal_at(toy_journal(&toy), issued)->request;
    assert_int_equal(toy_count(&toy, ENTRY(.kind = WORLD_CREATED, .request = request)), 1);
}

/* Goal: what is sent between the decision to close and CLOSE is no breach. Method: two subtasks
 * with many sends; one fails the job. */
static void a_send_before_close_arrives_is_no_breach(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        toy_init(&toy, TOY_EAGER, 60, 2);
        toy.config.job.subtasks = 2;
        toy.config.job.restart_attempts = 2;
        toy.config.job.record_interval = MS(1);
        toy.config.race_window = MS(2);
        toy.behaviour.poison = 40;
        toy.behaviour.burst = 40;
        toy.behaviour.policy = TOY_POLICY_FAIL;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
    }
}

static void close_is_waited_for_in_bounded_time(void **state)
{
    (void)state;
    prepare_closing(TOY_NO_MISDEED);
    toy.behaviour.close_unanswered = true;
    toy.config.job.close_bound = SECONDS(3);
    toy_run(&toy);
    assert_int_equal(broken(CONTRACT_CLOSE_UNANSWERED), 2);
    uint32_t close =
        toy_find(&toy, 0, ENTRY(.kind = HOST_CLOSE, .lane = lane_make(LANE_WRITER, 0)));
    uint32_t noted = toy_find(&toy, 0, ENTRY(.kind = HOST_CONTRACT));
    assert_true(journal_at(toy_journal(&toy), noted)->time -
                    journal_at(toy_journal(&toy), close)->time ==
                SECONDS(3));
    assert_int_equal(toy.result.end, RUN_END_FAILED);
}

/* Goal: sends beyond the room of a step follow with MORE. */
static void more_follows_when_the_room_is_used_up(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 2, 1);
    toy.config.job.bounded = false; /* the end of input would be one more step */
    toy.behaviour.burst = 100;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy.behaviour.sends_in_step_max, 32);
    assert_int_equal(toy.behaviour.more_heard, 2 * 3);
    assert_int_equal(toy_effects_least(&toy), 100);
}

/* Goal: while busy, neither record nor barrier. Method: busy for 35 ms after each record. */
static void busy_stops_records_and_barriers(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 10, 1);
    toy.behaviour.busy_for = MS(35);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    const struct journal *journal = toy_journal(&toy);
    uint32_t last = toy_find(&toy, 0, ENTRY(.kind = HOST_RECORD));
    for (uint32_t at = last + 1; at < journal->count; at++) {
        const struct journal_entry *entry = journal_at(journal, at);
        if (entry->kind == HOST_RECORD || entry->kind == HOST_BARRIER) {
            assert_true(entry->time >= journal_at(journal, last)->time + MS(35));
        }
        last = entry->kind == HOST_RECORD ? at : last;
    }
    assert_int_equal(toy_effects_most(&toy), 1);
}

static void a_dropped_record_reaches_the_policy_and_comes_back(void **state)
{
    (void)state;
    const uint8_t policies[] = {TOY_POLICY_DROP, TOY_POLICY_SLOW};
    for (uint32_t i = 0; i < ARRAY_COUNT(policies); i++) {
        toy_init(&toy, TOY_EAGER, 20, 1);
        toy.behaviour.poison = 7;
        toy.behaviour.policy = policies[i];
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD_FAILED, .record = 7)), 1);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_DROPPED, .record = 7)), 1);
        assert_int_equal(toy.behaviour.dropped, 1);
        assert_true(toy.behaviour.flushed > 0);
        assert_int_equal(toy_effects_of(&toy, 7), 0);
        assert_int_equal(toy_effects_of(&toy, 8), 1);
    }
}

static void a_fail_verdict_fails_the_job_for_good(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 20, 1);
    toy.config.job.restart_attempts = 2;
    toy.behaviour.poison = 7;
    toy.behaviour.policy = TOY_POLICY_FAIL;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_JOB_STARTED)), 3);
    uint32_t failed = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_FAILED));
    assert_int_equal(journal_at(toy_journal(&toy), failed)->a, SINK_REASON_POLICY);
}

static void a_policy_that_fails_itself_fails_the_job(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 20, 1);
    toy.config.job.restart_attempts = 1;
    toy.behaviour.poison = 7;
    toy.behaviour.policy = TOY_POLICY_BREAKS;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_HALF_FAILED)), 2);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
}

/* Goal: a sink that answers each verdict with the same failure does not hang the host. */
static void verdicts_that_go_round_are_cut_off(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 20, 1);
    toy.config.facts.liveness_bound = MINUTES(1);
    toy.config.safety_bound = MINUTES(1);
    toy.behaviour.poison = 7;
    toy.behaviour.misdeed = TOY_FAILS_DROPPED_RECORD_AGAIN;
    toy.config.job.checkpoint_timeout = MINUTES(10);
    toy_run(&toy);
    assert_int_equal(broken(CONTRACT_EFFECTS_OVERFLOW), 1);
    assert_int_equal(toy.result.end, RUN_END_STUCK);
}

/* Goal: wherever an allocation fails, the run ends by its rules. */
static void any_failing_allocation_ends_cleanly(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED_GLOBAL; sink++) {
        for (uint64_t nth = 1; nth <= 150; nth++) {
            toy_init(&toy, (enum toy_sink)sink, 20, 2);
            toy.config.job.subtasks = 2;
            toy.behaviour.pieces = 3;
            toy.request.allocation_fails_at = nth;
            toy_run(&toy);
            assert_int_equal(toy.result.end, RUN_END_COMPLETE);
            assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
            assert_true(toy_effects_least(&toy) >= 1);
        }
    }
}

static void a_half_that_fails_to_open_is_restarted(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 20, 1);
    toy.behaviour.opens_fail = 2;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_JOB_STARTED)), 3);
    assert_int_equal(toy_effects_most(&toy), 1);
}

TEST_MAIN(half,
          TEST(broken_rules_are_named),
          TEST(too_many_effects_are_noted),
          TEST(a_send_after_close_is_noted_and_lands),
          TEST(a_send_before_close_arrives_is_no_breach),
          TEST(close_is_waited_for_in_bounded_time),
          TEST(more_follows_when_the_room_is_used_up),
          TEST(busy_stops_records_and_barriers),
          TEST(a_dropped_record_reaches_the_policy_and_comes_back),
          TEST(a_fail_verdict_fails_the_job_for_good),
          TEST(a_policy_that_fails_itself_fails_the_job),
          TEST(verdicts_that_go_round_are_cut_off),
          TEST(any_failing_allocation_ends_cleanly),
          TEST(a_half_that_fails_to_open_is_restarted))
