/* Restarts that bring another sink or no state, and sources that do not keep everything.
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
#include "sim/oracle_set.h"
#include "sinks/base/test.h"

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

enum {
    CRASH_SUBTASK_SHORT = 1,
    CRASH_SUBTASK_AFTER_WINDOW = 4,
    CRASH_ALL_SHORT = 6,
    RESTORE_WITHOUT_STATE = 6,
    RESTORE_NEXT_SINK = 7,
};

static void init(enum toy_sink sink)
{
    toy_init(&toy, sink, 40, 2);
    toy.config.job.subtasks = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    const struct oracle_type *const oracles[] = {&oracle_at_least_once,
                                                 &oracle_checkpoint_durable,
                                                 &oracle_ownership,
                                                 &oracle_staged_silence,
                                                 &oracle_identity_stable,
                                                 &oracle_no_early_visibility,
                                                 &oracle_quiescent_at_barrier};
    for (uint32_t i = 0; i < ARRAY_COUNT(oracles); i++) {
        toy.config.oracles[i] = oracles[i];
    }
    toy.config.oracle_count = ARRAY_COUNT(oracles);
}

/* All die where a checkpoint has completed and nobody knows yet, and the restart is another one. */
static void pin_restart(uint32_t outcome, uint32_t checkpoint)
{
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_CHECKPOINT_COMPLETED,
                             .after_count = checkpoint});
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = outcome});
}

static bool is_found_by(const struct oracle_type *oracle)
{
    for (uint32_t i = 0; i < toy.result.finding_count; i++) {
        if (oracle_types[toy.result.findings[i].oracle] == oracle) {
            return true;
        }
    }
    return false;
}

static uint32_t count(enum journal_kind kind)
{
    return toy_count(&toy, ENTRY(.kind = (uint8_t)kind));
}

/* Goal: C13: committer state that no operator takes stops the restart, before anything is sent. */
static void a_downgrade_that_is_not_allowed_to_drop_state_fails(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy_next_sink(&toy, TOY_EAGER);
    pin_restart(RESTORE_NEXT_SINK, 2);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(count(HOST_JOB_STARTED), 1);
    const uint32_t failed = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_FAILED));
    assert_int_equal(journal_at(toy_journal(&toy), failed)->a, SINK_REASON_STATE);
    assert_int_equal(toy_find(&toy, failed, ENTRY(.kind = WIRE_ISSUED)), toy_journal(&toy)->count);
}

/* Goal: CT-EO-12: with permission, the envelopes that the checkpoint held are lost, and nothing
 * else is; the loss is noted, and is no fault of whoever held them. */
static void an_allowed_downgrade_loses_what_was_pending(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        init(i % 2 == 0 ? TOY_STAGED : TOY_STAGED_GLOBAL);
        toy.config.job.chained = i < 2;
        toy.config.job.allow_non_restored = true;
        toy_next_sink(&toy, TOY_EAGER);
        pin_restart(RESTORE_NEXT_SINK, 2);
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        const uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
        assert_int_equal(journal_at(toy_journal(&toy), start)->b, START_NEXT_SINK);
        assert_true(count(HOST_NOT_RESTORED) > 0);
        assert_int_equal(count(HOST_RESTORED), 0);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_STAGED, .attempt = 2)), 0);
        for (record_id record = 1; record <= 40; record++) {
            const uint32_t left =
                toy_count(&toy, ENTRY(.kind = HOST_NOT_RESTORED, .record = record));
            const uint32_t before =
                toy_count(&toy, ENTRY(.kind = HOST_FINALISED, .record = record, .attempt = 1));
            assert_int_equal(toy_effects_of(&toy, record), left == 1 ? before : 1);
        }
        assert_true(is_found_by(&oracle_at_least_once));
        assert_int_equal(toy.result.finding_count, 1);
    }
}

/* Goal: who restarts a job without its state submits it anew; but a batch job that has lost its results runs
 * its parts again under its id. */
static void a_restart_without_state_is_another_job_unless_it_is_a_batch(void **state)
{
    (void)state;
    for (uint32_t batch = 0; batch < 2; batch++) {
        init(TOY_STAGED);
        toy.config.job.facts.batch = batch == 1;
        toy.config.job.stateless_restores = JOB_STATELESS_BEGINNING;
        pin_restart(RESTORE_WITHOUT_STATE, 1);
        toy_run(&toy);
        assert_int_equal(toy.behaviour.job_id_sizes[2], 32);
        assert_true((toy.behaviour.job_ids[1] == toy.behaviour.job_ids[2]) == (batch == 1));
    }
}

/* Goal: C13: the staged sink restores empty and goes on; both are judged by what they are. */
static void an_upgrade_starts_empty_and_loses_nothing(void **state)
{
    (void)state;
    for (uint32_t nth = 0; nth < 40; nth++) {
        init(nth % 2 == 0 ? TOY_EAGER : TOY_STATEFUL);
        toy.behaviour.pieces = 2;
        toy.config.job.chained = nth % 4 < 2;
        toy_next_sink(&toy, nth % 3 == 0 ? TOY_STAGED_GLOBAL : TOY_STAGED);
        toy_pin(&toy,
                (struct toy_pin){
                    .site = toy_site(ENGINE_SITE_CRASH), .value = CRASH_ALL_SHORT, .nth = 3 * nth});
        toy_pin(
            &toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = RESTORE_NEXT_SINK});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_true(toy_effects_least(&toy) >= 1);
        assert_true(toy_count(&toy, ENTRY(.kind = HOST_STAGED, .attempt = 2)) > 0);
        const bool is_early = is_found_by(&oracle_no_early_visibility); /* EA-2 */
        assert_int_equal(toy.result.finding_count, is_early ? 1 : 0);
    }
}

/* Goal: without state, a source that begins again loses nothing, whatever is left behind. */
static void a_restart_without_state_begins_again(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.config.job.stateless_restores = JOB_STATELESS_BEGINNING;
    pin_restart(RESTORE_WITHOUT_STATE, 3);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    const uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    const struct journal_entry *started = journal_at(toy_journal(&toy), start);
    assert_int_equal(started->checkpoint, 0);
    assert_int_equal(started->b, START_BEGINNING);
    assert_true(count(HOST_NOT_RESTORED) > 0);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD, .attempt = 2)), 40);
    assert_true(toy_effects_least(&toy) >= 1);
    assert_false(is_found_by(&oracle_at_least_once));
    assert_false(is_found_by(&oracle_ownership));
}

/* Goal: E2E-3: a source at its own position loses what was pending; a crash right afterwards does
 * not bring the state back. */
static void a_restart_at_the_own_position_loses_what_was_pending(void **state)
{
    (void)state;
    for (uint32_t again = 0; again < 2; again++) {
        init(TOY_STAGED);
        toy.config.job.stateless_restores = JOB_STATELESS_OWN_POSITION;
        /* The sources hear of checkpoint 2 before the committers do. */
        for (uint32_t i = 0; i < 2; i++) {
            toy_pin(&toy,
                    (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE),
                                     .value = 1,
                                     .who = lane_make(LANE_TASK, i),
                                     .nth = 1});
        }
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = CRASH_ALL_SHORT,
                                 .after = HOST_NOTICE,
                                 .after_checkpoint = 2});
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE),
                                 .value = RESTORE_WITHOUT_STATE});
        if (again == 1) {
            toy_pin(&toy,
                    (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                     .value = CRASH_ALL_SHORT,
                                     .after = HOST_JOB_STARTED,
                                     .after_count = 2});
        }
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(count(HOST_JOB_STARTED), 2 + again);
        assert_int_equal(toy_effects_least(&toy), 0);
        assert_true(is_found_by(&oracle_at_least_once));
        assert_false(is_found_by(&oracle_ownership));
        for (record_id record = 1; record <= 40; record++) {
            if (store_covers(toy.runner.store, 2, record)) {
                assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record)), 1);
            }
        }
    }
}

/* Goal: the source's commit may be lost with its notice: it reads again then. */
static void a_lost_notice_loses_the_own_position(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.config.job.stateless_restores = JOB_STATELESS_OWN_POSITION;
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE),
                             .value = 1,
                             .nth = 5}); /* two tasks, then the source */
    pin_restart(RESTORE_WITHOUT_STATE, 3);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    for (record_id record = 1; record <= 40; record++) {
        const bool known = store_covers(toy.runner.store, 1, record);
        const bool handed =
            toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = 2)) > 0;
        assert_int_equal(handed, !known);
    }
}

/* Goal: TX-SRC-2: what is acknowledged before the checkpoint completes is gone after a crash; what
 * is acknowledged at the notice never is needed again. Method: a crash at every place. */
static void a_source_may_discard_at_the_notice_and_not_before(void **state)
{
    (void)state;
    uint32_t lost = 0;
    for (uint32_t nth = 0; nth < 80; nth++) {
        for (uint32_t keeps = JOB_SOURCE_KEEPS_UNTIL_NOTICE;
             keeps <= JOB_SOURCE_KEEPS_UNTIL_BARRIER;
             keeps++) {
            init(TOY_EAGER);
            toy.config.job.source_keeps = (uint8_t)keeps;
            toy.behaviour.busy_for = MS(30); /* records wait in their channels */
            toy_pin(&toy,
                    (struct toy_pin){
                        .site = toy_site(ENGINE_SITE_CRASH), .value = CRASH_ALL_SHORT, .nth = nth});
            toy_run(&toy);
            assert_int_equal(toy.result.end, RUN_END_COMPLETE);
            if (keeps == JOB_SOURCE_KEEPS_UNTIL_NOTICE) {
                assert_int_equal(count(HOST_RECORD_GONE), 0);
                assert_true(toy_effects_least(&toy) >= 1);
                continue;
            }
            lost += toy_effects_least(&toy) == 0 ? 1 : 0;
            if (toy_effects_least(&toy) == 0) {
                assert_true(count(HOST_RECORD_GONE) > 0);
                assert_true(marks_has(&toy.result.marks, MARK_ENGINE_RECORD_GONE));
                assert_true(is_found_by(&oracle_at_least_once));
            }
        }
    }
    assert_true(lost > 0);
}

/* Goal: TX-SRC-1 and TX-SRC-3: what is read again must be younger than the source's retention. */
static void retention_must_exceed_the_recovery(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        init(TOY_EAGER);
        toy.config.job.source_retention = i == 0 ? MINUTES(5) : MINUTES(7);
        toy.config.job.downtime[DOWNTIME_AFTER_WINDOW] = MINUTES(6);
        toy.behaviour.busy_for = MS(15);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = CRASH_SUBTASK_AFTER_WINDOW,
                                 .after = HOST_CHECKPOINT_TRIGGERED,
                                 .after_checkpoint = 2});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(count(HOST_RECORD_GONE) > 0, i == 0);
        assert_int_equal(is_found_by(&oracle_at_least_once), i == 0);
        assert_int_equal(toy_effects_least(&toy) == 0, i == 0);
    }
}

/* Goal: EA-1: without checkpoints a source goes on where it has got to, and what waited in a task
 * dies with it; with them the same source reads it again. Method: a crash at every place. */
static void a_source_that_commits_as_it_emits_loses_what_was_buffered(void **state)
{
    (void)state;
    uint32_t lost = 0;
    for (uint32_t nth = 0; nth < 60; nth++) {
        const bool checkpointing = nth % 3 == 0;
        init(TOY_EAGER);
        toy.config.job.source_commits = JOB_SOURCE_COMMITS_AS_EMITTED;
        toy.config.job.checkpointing = checkpointing;
        toy.behaviour.busy_for = MS(30); /* records wait in their channels */
        toy_pin(&toy,
                (struct toy_pin){
                    .site = toy_site(ENGINE_SITE_CRASH), .value = CRASH_ALL_SHORT, .nth = nth});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        const uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
        assert_int_equal(journal_at(toy_journal(&toy), start)->b,
                         checkpointing ? START_LATEST : START_OWN_POSITION);
        assert_int_equal(is_found_by(&oracle_at_least_once), toy_effects_least(&toy) == 0);
        if (checkpointing) {
            assert_true(toy_effects_least(&toy) >= 1);
            continue;
        }
        lost += toy_effects_least(&toy) == 0 ? 1 : 0;
        assert_int_equal(toy_effects_most(&toy), 1); /* it reads nothing again */
    }
    assert_true(lost > 0);
}

/* Goal: E2E-2: what a restored position covers comes again when the source has it at later ones, and
 * nothing is lost; nothing comes again where nothing is restored. */
static void a_source_that_renumbers_delivers_covered_records_again(void **state)
{
    (void)state;
    for (uint32_t how = 0; how < 3; how++) {
        init(TOY_STAGED);
        toy.config.job.source_renumbers = true;
        pin_restart(0, 2);
        toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_POSITIONS), .value = how});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_effects_least(&toy), 1);
        const struct stored_checkpoint *restored = store_get(toy.runner.store, 2);
        for (record_id record = 1; record <= 40; record++) {
            const uint32_t split = record <= toy.log.split_starts[1] ? 0 : 1;
            const uint64_t at = record - 1 - toy.log.split_starts[split];
            const uint64_t covered = restored->positions[split];
            const bool again = at < covered && (how == 2 || (how == 1 && at + 1 == covered));
            const bool handed =
                toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = 2)) > 0;
            assert_int_equal(handed, again || at >= covered);
            assert_int_equal(toy_effects_of(&toy, record), again ? 2 : 1);
        }
    }
}

TEST_MAIN(restart,
          TEST(a_downgrade_that_is_not_allowed_to_drop_state_fails),
          TEST(an_allowed_downgrade_loses_what_was_pending),
          TEST(a_restart_without_state_is_another_job_unless_it_is_a_batch),
          TEST(an_upgrade_starts_empty_and_loses_nothing),
          TEST(a_restart_without_state_begins_again),
          TEST(a_restart_at_the_own_position_loses_what_was_pending),
          TEST(a_lost_notice_loses_the_own_position),
          TEST(a_source_may_discard_at_the_notice_and_not_before),
          TEST(retention_must_exceed_the_recovery),
          TEST(a_source_that_commits_as_it_emits_loses_what_was_buffered),
          TEST(a_source_that_renumbers_delivers_covered_records_again))
