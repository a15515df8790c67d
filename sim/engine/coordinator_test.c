/* Checkpoints and channels: triggers, timeouts, alignment, back pressure, the end of input.
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

static nanos time_of(uint32_t position)
{
    assert_true(toy_is_found(position, &toy));
    return journal_at(toy_journal(&toy), position)->time;
}

static nanos triggered_at(uint32_t checkpoint)
{
    return time_of(
        toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_TRIGGERED, .checkpoint = checkpoint)));
}

static nanos completed_at(uint32_t checkpoint)
{
    return time_of(
        toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = checkpoint)));
}

/* Goal: what a completed checkpoint covers is exactly what its writers got before its barrier.
 * Method: several sources and subtasks, order drawn by seeds; no crash. */
static void barriers_are_aligned_over_all_channels(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        toy_init(&toy, TOY_EAGER, 90, 5);
        toy.config.job.sources = 3;
        toy.config.job.subtasks = 2;
        toy.config.job.routing = JOB_ROUTE_HASH;
        toy.config.job.checkpoint_interval = MS(20);
        toy.config.job.checkpoint_concurrent = 2;
        toy.config.race_window = MS(15);
        toy.config.faults.kinds = UINT32_C(1) << FAULT_ORDER;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        const struct journal *journal = toy_journal(&toy);
        for (uint32_t number = 1; number <= toy.runner.store->checkpoint_count; number++) {
            for (record_id record = 1; record <= 90; record++) {
                uint32_t at = toy_find(&toy, 0, ENTRY(.kind = HOST_RECORD, .record = record));
                uint32_t barrier = toy_find(&toy,
                                            0,
                                            ENTRY(.kind = HOST_BARRIER,
                                                  .lane = journal_at(journal, at)->lane,
                                                  .checkpoint = number));
                if (toy_is_found(barrier, &toy)) {
                    assert_int_equal(store_covers(toy.runner.store, number, record), at < barrier);
                }
            }
        }
    }
}

/* Goal: what stands behind a barrier waits for it. Method: the writer lags behind both sources. */
static void a_channel_waits_at_its_barrier(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 2);
    toy.config.job.sources = 2;
    toy.behaviour.busy_for = MS(30);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    uint32_t triggered = toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_TRIGGERED));
    uint32_t barrier = toy_find(&toy, 0, ENTRY(.kind = HOST_BARRIER));
    assert_true(time_of(barrier) > time_of(triggered));
    for (record_id record = 1; record <= 60; record++) {
        uint32_t at = toy_find(&toy, 0, ENTRY(.kind = HOST_RECORD, .record = record));
        assert_int_equal(store_covers(toy.runner.store, 1, record), at < barrier);
    }
    assert_int_equal(toy_effects_most(&toy), 1);
}

/* Goal: back pressure stops and resumes sources, barriers included. Method: room for one record. */
static void a_channel_of_one_record_blocks_nothing_for_ever(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED_GLOBAL; sink++) {
        for (uint32_t burst = 1; burst <= 3; burst++) {
            toy_init(&toy, (enum toy_sink)sink, 60, 3);
            toy.config.job.sources = 2;
            toy.config.job.subtasks = 2;
            toy.config.job.channel_capacity = 1;
            toy.config.job.record_burst = burst;
            toy.config.job.checkpoint_interval = MS(25);
            toy.behaviour.busy_for = MS(11);
            toy_run(&toy);
            assert_int_equal(toy.result.end, RUN_END_COMPLETE);
            assert_int_equal(toy_effects_least(&toy), 1);
            assert_int_equal(toy_effects_most(&toy), 1);
        }
    }
}

static void a_timeout_aborts_and_fails_the_job_beyond_tolerance(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.checkpoint_timeout = MS(300);
    toy.config.job.checkpoint_failures_tolerated = 2;
    toy.config.job.restart = JOB_RESTART_NONE;
    toy.behaviour.never_answers_barrier = true;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_CHECKPOINT_ABORTED, .code = ABORT_CAUSE_TIMEOUT)), 3);
    uint32_t aborted = toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_ABORTED));
    assert_true(time_of(aborted) == triggered_at(1) + MS(300));
    uint32_t stopped = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STOPPED));
    assert_int_equal(journal_at(toy_journal(&toy), stopped)->code, STOP_CAUSE_CHECKPOINT);
}

/* Goal: tolerance is whole again after a restart. */
static void tolerance_starts_anew_with_each_attempt(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.checkpoint_timeout = MS(300);
    toy.config.job.checkpoint_failures_tolerated = 2;
    toy.config.job.restart_attempts = 1;
    toy.behaviour.never_answers_barrier = true;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_CHECKPOINT_ABORTED, .code = ABORT_CAUSE_TIMEOUT)), 6);
}

/* Goal: barriers of timed-out checkpoints do not pile up without bound. */
static void barriers_behind_a_stuck_writer_are_bounded(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 2);
    toy.config.job.sources = 2;
    toy.config.job.checkpoint_timeout = MS(50);
    toy.config.job.checkpoint_failures_tolerated = 1000;
    toy.config.safety_bound = MINUTES(1);
    toy.config.facts.liveness_bound = MINUTES(1);
    toy.behaviour.never_answers_barrier = true;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_STUCK);
    assert_true(toy.runner.store->checkpoint_count < 40);
}

static void pauses_between_checkpoints_are_kept(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.config.job.checkpoint_interval = MS(50);
    toy.config.job.checkpoint_min_pause = MS(120);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_true(toy.runner.store->checkpoint_count >= 3);
    for (uint32_t number = 2; number <= toy.runner.store->checkpoint_count; number++) {
        assert_true(triggered_at(number) >= completed_at(number - 1) + MS(120));
    }
}

/* Goal: a duration holds the completion back, and with it what comes next where one checkpoint is
 * allowed at a time. */
static void a_checkpoint_takes_its_duration(void **state)
{
    (void)state;
    for (uint32_t concurrent = 1; concurrent <= 2; concurrent++) {
        toy_init(&toy, TOY_STAGED, 60, 1);
        toy.config.job.checkpoint_interval = MS(50);
        toy.config.job.checkpoint_duration = MS(80);
        toy.config.job.checkpoint_concurrent = concurrent;
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_true(toy.runner.store->checkpoint_count >= 3);
        for (uint32_t number = 1; number <= 3; number++) {
            assert_true(completed_at(number) == triggered_at(number) + MS(80));
            assert_true(triggered_at(number + 1) ==
                        triggered_at(number) + (concurrent == 1 ? MS(80) : MS(50)));
        }
    }
}

/* Goal: records that arrive by themselves are late after an outage and no later than that; those that
 * keep their distance are late for good. Method: the same crash under both. */
static void late_arrivals_are_emitted_at_once(void **state)
{
    (void)state;
    nanos last[2];
    for (uint32_t pace = JOB_SOURCE_STEADY; pace <= JOB_SOURCE_ARRIVALS; pace++) {
        toy_init(&toy, TOY_EAGER, 100, 1);
        toy.config.job.source_pace = (uint8_t)pace;
        toy.config.job.record_burst = 2;
        toy.config.job.checkpoint_interval = MS(100);
        toy.config.faults.kinds = UINT32_C(1) << FAULT_CRASH;
        toy.config.job.downtime[DOWNTIME_SHORT] = MS(200);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = 1,
                                 .after = HOST_CHECKPOINT_COMPLETED});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy.result.crashes, 1);
        const struct journal *journal = toy_journal(&toy);
        for (uint32_t i = 0; i < journal->count; i++) {
            const struct journal_entry *entry = journal_at(journal, i);
            const nanos arrives = toy.config.job.record_interval * ((entry->record - 1) / 2);
            if (entry->kind == HOST_RECORD && pace == JOB_SOURCE_ARRIVALS) {
                assert_true(entry->time >= arrives);
            }
            last[pace] = entry->kind == HOST_RECORD ? entry->time : last[pace];
        }
    }
    assert_true(last[JOB_SOURCE_ARRIVALS] == 49 * toy.config.job.record_interval);
    assert_true(last[JOB_SOURCE_STEADY] > last[JOB_SOURCE_ARRIVALS] + MS(100));
}

static void one_checkpoint_at_a_time_unless_more_are_allowed(void **state)
{
    (void)state;
    for (uint32_t concurrent = 1; concurrent <= 3; concurrent++) {
        toy_init(&toy, TOY_EAGER, 60, 1);
        toy.config.job.checkpoint_concurrent = concurrent;
        toy.config.job.subtasks = 2;
        toy.behaviour.barrier_for = MS(250);
        toy.behaviour.barrier_slow = 1;
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        uint32_t open_most = 0;
        uint32_t open = 0;
        const struct journal *journal = toy_journal(&toy);
        for (uint32_t at = 0; at < journal->count; at++) {
            uint8_t kind = journal_at(journal, at)->kind;
            if (kind == HOST_CHECKPOINT_TRIGGERED) {
                open++;
            } else if (kind == HOST_CHECKPOINT_COMPLETED || kind == HOST_CHECKPOINT_ABORTED) {
                open--;
            }
            open_most = open > open_most ? open : open_most;
        }
        assert_int_equal(open_most, concurrent);
    }
}

static void the_newest_checkpoints_are_retained(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.config.job.checkpoint_retained = 2;
    toy_run(&toy);
    uint32_t latest = toy.runner.store->latest_completed;
    assert_true(latest > 3);
    for (uint32_t number = 1; number <= latest; number++) {
        assert_int_equal(store_get(toy.runner.store, number)->retained, number + 1 >= latest);
    }
}

/* Goal: FW3: no checkpoint before the restored commits are through, chained or not. */
static void no_checkpoint_starts_before_restored_commits_are_through(void **state)
{
    (void)state;
    for (uint32_t chained = 0; chained <= 1; chained++) {
        toy_init(&toy, TOY_STAGED, 30, 1);
        toy.config.job.chained = chained == 1;
        toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
        toy.behaviour.commit_for = MS(350);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = 6,
                                 .after = HOST_CHECKPOINT_COMPLETED});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
        uint32_t returned = toy_find(&toy, start, ENTRY(.kind = HOST_COMMIT_RETURNED));
        uint32_t triggered = toy_find(&toy, start, ENTRY(.kind = HOST_CHECKPOINT_TRIGGERED));
        assert_true(returned < triggered);
    }
}

static void bounded_input_ends_once_everywhere(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 35, 4);
    toy.config.job.sources = 2;
    toy.config.job.subtasks = 3;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_INPUT_ENDED)), 3);
    assert_int_equal(toy_effects_least(&toy), 1);
    assert_int_equal(toy_effects_most(&toy), 1);
}

static void unbounded_input_is_done_when_a_checkpoint_covers_it(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 35, 4);
    toy.config.job.bounded = false;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_INPUT_ENDED)), 0);
    for (record_id record = 1; record <= 35; record++) {
        assert_true(store_covers(toy.runner.store, toy.runner.store->latest_completed, record));
    }
    assert_int_equal(toy_effects_least(&toy), 1);
}

static void a_job_without_checkpoints_ends_when_all_is_answered(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 35, 2);
    toy.config.job.checkpointing = false;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy.result.checkpoints_completed, 0);
    assert_int_equal(toy_effects_least(&toy), 1);
}

/* Goal: a job whose barriers take longer than the interval still comes to an end: no checkpoint is
 * begun that nothing is left for. */
static void barriers_slower_than_the_interval_let_a_job_end(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED_GLOBAL; sink++) {
        for (uint32_t concurrent = 1; concurrent <= 3; concurrent++) {
            toy_init(&toy, (enum toy_sink)sink, 30, 1);
            toy.config.job.chained = concurrent == 1;
            toy.config.job.checkpoint_concurrent = concurrent;
            toy.config.job.checkpoint_interval = MS(20);
            toy.behaviour.barrier_for = MS(35);
            toy.config.safety_bound = MINUTES(2);
            toy.config.facts.liveness_bound = MINUTES(2);
            toy_run(&toy);
            assert_int_equal(toy.result.end, RUN_END_COMPLETE);
            assert_true(toy.result.ended_at < SECONDS(10));
            assert_int_equal(toy_effects_least(&toy), 1);
        }
    }
}

/* Goal: injected aborts fail the job where the scenario counts them, beyond the tolerance. */
static void injected_aborts_count_where_they_are_told_to(void **state)
{
    (void)state;
    for (uint32_t counts = 0; counts < 2; counts++) {
        toy_init(&toy, TOY_EAGER, 60, 1);
        toy.config.job.checkpoint_aborts_count = counts == 1;
        toy.config.job.checkpoint_failures_tolerated = 1;
        for (uint32_t i = 0; i < 2; i++) {
            toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_CHECKPOINT), .value = 1});
        }
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(
            toy_count(&toy, ENTRY(.kind = HOST_CHECKPOINT_ABORTED, .code = ABORT_CAUSE_INJECTED)),
            2);
        assert_int_equal(
            toy_count(&toy, ENTRY(.kind = HOST_JOB_STOPPED, .code = STOP_CAUSE_CHECKPOINT)),
            counts);
    }
}

/* Goal: a wall clock jumps at a notice, its own way and no further than one jump; what is staged
 * then has another origin. Method: forward, and back twice. */
static void a_clock_jumps_while_the_job_runs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const bool own_thread = i >= 2;
        toy_init(&toy, TOY_STAGED, 60, 1);
        toy.config.job.chained = !own_thread;
        toy.config.job.clock_jump = (int64_t)SECONDS(30);
        const lane who = lane_make(own_thread ? LANE_COMMITTER : LANE_TASK, 0);
        const uint32_t picks[][3] = {{1, 0, 0}, {1, 2, 2}};
        for (uint32_t nth = 0; nth < 3; nth++) {
            if (picks[i % 2][nth] != 0) {
                toy_pin(&toy,
                        (struct toy_pin){.site = toy_site(ENGINE_SITE_JUMP),
                                         .value = picks[i % 2][nth],
                                         .who = who,
                                         .after = HOST_NOTICE,
                                         .after_count = own_thread ? 2 * nth + 1 : nth + 1});
            }
        }
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        uint32_t node = UINT32_MAX;
        for (uint32_t at = 0; at < toy.runner.world->node_count; at++) {
            node = toy.runner.world->nodes[at].lane == who ? at : node;
        }
        assert_true(node != UINT32_MAX);
        assert_true(toy.runner.world->nodes[node].clock.offset ==
                    (i % 2 == 0 ? (int64_t)SECONDS(30) : -(int64_t)SECONDS(30)));
    }
}

/* Goal: FW1: with a thread of its own, a committer may hear a notice before the input that waits.
 * Method: it is busy with a commit while more committables and the notice arrive. */
static void mail_may_overtake_the_input_of_a_committer(void **state)
{
    (void)state;
    uint32_t overtaken = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        toy_init(&toy, TOY_STAGED_GLOBAL, 60, 2);
        toy.config.job.subtasks = 2;
        toy.config.job.chained = false;
        toy.config.job.checkpoint_concurrent = 3;
        toy.config.job.checkpoint_interval = MS(30);
        toy.behaviour.commit_for = MS(70);
        toy.config.faults.kinds = UINT32_C(1) << FAULT_ORDER;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_effects_least(&toy), 1);
        assert_int_equal(toy_effects_most(&toy), 1);
        for (uint32_t i = 0; i < toy.result.tape.count; i++) {
            overtaken += toy.result.tape.entries[i].key == toy_site(ENGINE_SITE_MAILBOX)->key;
        }
    }
    assert_true(overtaken > 0);
}

TEST_MAIN(coordinator,
          TEST(barriers_are_aligned_over_all_channels),
          TEST(a_channel_waits_at_its_barrier),
          TEST(a_channel_of_one_record_blocks_nothing_for_ever),
          TEST(a_timeout_aborts_and_fails_the_job_beyond_tolerance),
          TEST(tolerance_starts_anew_with_each_attempt),
          TEST(barriers_behind_a_stuck_writer_are_bounded),
          TEST(pauses_between_checkpoints_are_kept),
          TEST(a_checkpoint_takes_its_duration),
          TEST(late_arrivals_are_emitted_at_once),
          TEST(one_checkpoint_at_a_time_unless_more_are_allowed),
          TEST(the_newest_checkpoints_are_retained),
          TEST(no_checkpoint_starts_before_restored_commits_are_through),
          TEST(bounded_input_ends_once_everywhere),
          TEST(unbounded_input_is_done_when_a_checkpoint_covers_it),
          TEST(barriers_slower_than_the_interval_let_a_job_end),
          TEST(injected_aborts_count_where_they_are_told_to),
          TEST(a_clock_jumps_while_the_job_runs),
          TEST(mail_may_overtake_the_input_of_a_committer),
          TEST(a_job_without_checkpoints_ends_when_all_is_answered))
