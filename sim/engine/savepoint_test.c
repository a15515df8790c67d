/* Savepoints: what completes without a notice, what a stop leaves behind, and how it fails.
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

enum {
    CRASH_ALL_SHORT = 6,
    PICK_SAVEPOINT = 1,
    PICK_STOP_FAILS_AUTOMATIC = 7,
    PICK_STOP_FAILS_MANUAL,
    PICK_STOP_FAILS_MANUAL_CHECKPOINT,
};

static nanos time_of(uint32_t position)
{
    assert_true(toy_is_found(position, &toy));
    return journal_at(toy_journal(&toy), position)->time;
}

static uint32_t find(uint32_t from, struct journal_entry wanted)
{
    const uint32_t position = toy_find(&toy, from, wanted);
    assert_true(toy_is_found(position, &toy));
    return position;
}

static void init(enum toy_sink sink, struct job_savepoint savepoint)
{
    toy_init(&toy, sink, 40, 2);
    toy.config.job.subtasks = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.config.job.savepoint = savepoint;
}

static void run_to_the_end(void)
{
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
}

/* The one savepoint of the run. */
static const struct stored_checkpoint *the_savepoint(enum store_kind kind)
{
    const struct stored_checkpoint *found = NULL;
    for (uint32_t number = 1; number <= toy.runner.store->checkpoint_count; number++) {
        const struct stored_checkpoint *stored = store_get(toy.runner.store, number);
        if (stored->kind != STORE_CHECKPOINT) {
            assert_null(found);
            found = stored;
        }
    }
    assert_non_null(found);
    assert_int_equal(found->kind, kind);
    return found;
}

/* Goal: C8: a savepoint completes and nobody hears of it; its batch is committed with the next
 * notified checkpoint. Method: chained or not, wherever it may be planned. */
static void the_batch_of_a_savepoint_waits_for_the_next_notice(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        init(i % 2 == 0 ? TOY_STAGED : TOY_STAGED_GLOBAL,
             (struct job_savepoint){.at = (uint8_t)(JOB_SAVEPOINT_FIRST + i / 2 % 3)});
        toy.config.job.chained = i < 4;
        run_to_the_end();
        const uint32_t number = the_savepoint(STORE_SAVEPOINT)->number;
        assert_int_equal(the_savepoint(STORE_SAVEPOINT)->state, STORE_COMPLETED);
        assert_false(the_savepoint(STORE_SAVEPOINT)->retained);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_NOTICE, .checkpoint = number)), 0);
        const uint32_t next =
            find(0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = number + 1));
        const uint32_t staged = find(0, ENTRY(.kind = HOST_STAGED, .checkpoint = number));
        const uint32_t commit = find(0, ENTRY(.kind = HOST_COMMIT, .checkpoint = number));
        assert_true(staged < next);
        assert_true(commit > next);
        assert_int_equal(toy_effects_least(&toy), 1);
        assert_int_equal(toy_effects_most(&toy), 1);
    }
}

/* Goal: no restart restores an ordinary savepoint. Method: all die behind it. */
static void a_crash_behind_a_savepoint_restores_the_checkpoint_before(void **state)
{
    (void)state;
    init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_FIRST});
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_CHECKPOINT_COMPLETED,
                             .after_checkpoint = 2});
    run_to_the_end();
    assert_int_equal(the_savepoint(STORE_SAVEPOINT)->number, 2);
    const uint32_t start = find(0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    assert_int_equal(journal_at(toy_journal(&toy), start)->checkpoint, 1);
    assert_int_equal(toy_effects_least(&toy), 1);
}

/* Goal: a savepoint is a choice, and none is taken unless it is drawn. */
static void a_drawn_savepoint_is_taken_where_the_tape_says(void **state)
{
    (void)state;
    for (uint32_t nth = 0; nth < 3; nth++) {
        init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_DRAWN});
        toy_pin(&toy,
                (struct toy_pin){
                    .site = toy_site(ENGINE_SITE_SAVEPOINT), .value = PICK_SAVEPOINT, .nth = nth});
        run_to_the_end();
        assert_int_equal(the_savepoint(STORE_SAVEPOINT)->number, nth + 1);
    }
    init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_DRAWN});
    run_to_the_end();
    for (uint32_t number = 1; number <= toy.runner.store->checkpoint_count; number++) {
        assert_int_equal(store_get(toy.runner.store, number)->kind, STORE_CHECKPOINT);
    }
}

/* Goal: a stop-with-savepoint commits what it holds, ends, and goes on from there after its
 * downtime: nothing is lost, and nothing handed over again. */
static void a_stop_commits_ends_and_is_resumed(void **state)
{
    (void)state;
    const enum toy_sink sinks[] = {TOY_EAGER, TOY_STAGED, TOY_STAGED_GLOBAL};
    for (uint32_t i = 0; i < 18; i++) {
        init(sinks[i % 3],
             (struct job_savepoint){.at = (uint8_t)(JOB_SAVEPOINT_FIRST + i / 3 % 3),
                                    .kind = JOB_SAVEPOINT_STOP,
                                    .down = MINUTES(6)});
        toy.config.job.chained = i < 9;
        run_to_the_end();
        const struct stored_checkpoint *stored = the_savepoint(STORE_STOP);
        assert_false(stored->retained);
        const uint32_t stopped =
            find(0, ENTRY(.kind = HOST_JOB_STOPPED, .code = STOP_CAUSE_FINISHED));
        const uint32_t start = find(stopped, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
        assert_int_equal(journal_at(toy_journal(&toy), start)->checkpoint, stored->number);
        assert_true(time_of(start) >= time_of(stopped) + MINUTES(6));
        for (record_id record = 1; record <= 40; record++) {
            assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record)), 1);
            const bool covered = store_covers(toy.runner.store, stored->number, record);
            const uint32_t handed = find(0, ENTRY(.kind = HOST_RECORD, .record = record));
            assert_int_equal(covered, handed < stopped);
        }
        for (uint32_t at = 0; at < stopped && sinks[i % 3] != TOY_EAGER; at++) {
            const struct journal_entry *entry = journal_at(toy_journal(&toy), at);
            if (entry->kind == HOST_STAGED) {
                const uint32_t done = find(
                    at, ENTRY(.kind = HOST_FINALISED, .identity = entry->identity, .attempt = 1));
                assert_true(done < stopped);
            }
        }
        assert_int_equal(toy_effects_least(&toy), 1);
    }
}

/* Goal: a job that an operator resumes runs under another id, and one that restarts by itself under its own.
 * Method: each form of a stop, and a crash. */
static void a_resumed_job_has_another_id(void **state)
{
    (void)state;
    for (uint8_t failure = JOB_SAVEPOINT_FINISHES; failure <= JOB_SAVEPOINT_MANUAL_CHECKPOINT;
         failure++) {
        init(TOY_STAGED,
             (struct job_savepoint){
                 .at = JOB_SAVEPOINT_FIRST, .kind = JOB_SAVEPOINT_STOP, .failure = failure});
        run_to_the_end();
        assert_int_equal(toy.behaviour.job_id_sizes[1], 32);
        assert_int_equal(toy.behaviour.job_id_sizes[2], 32);
        assert_true((toy.behaviour.job_ids[1] == toy.behaviour.job_ids[2]) ==
                    (failure == JOB_SAVEPOINT_AUTOMATIC));
    }
    init(TOY_STAGED, (struct job_savepoint){0});
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_CHECKPOINT_COMPLETED});
    run_to_the_end();
    assert_int_equal(toy.behaviour.job_id_sizes[2], 32);
    assert_true(toy.behaviour.job_ids[1] == toy.behaviour.job_ids[2]);
}

/* Goal: the savepoint lists what its own stop committed as pending, so that a resume commits it
 * again (4.8 of the sink protocols). */
static void a_resume_commits_again_what_the_stop_committed(void **state)
{
    (void)state;
    init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_FIRST, .kind = JOB_SAVEPOINT_STOP});
    run_to_the_end();
    const uint32_t number = the_savepoint(STORE_STOP)->number;
    const uint32_t first = toy_count(&toy, ENTRY(.kind = HOST_STAGED, .checkpoint = number));
    assert_true(first > 0);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_FINALISED, .checkpoint = number, .attempt = 1)), first);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_RESTORED, .checkpoint = number, .attempt = 2)), first);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_FINALISED, .checkpoint = number, .attempt = 2)), first);
}

/* Goal: both forms of 15.5: by itself or by hand, the job goes on from the checkpoint before, and
 * what the stop committed is staged again; an operator who takes the savepoint avoids that. */
static void a_failed_stop_goes_on_from_what_its_form_says(void **state)
{
    (void)state;
    for (uint32_t pick = PICK_STOP_FAILS_AUTOMATIC; pick <= PICK_STOP_FAILS_MANUAL_CHECKPOINT;
         pick++) {
        for (uint32_t planned = 0; planned < 2; planned++) {
            init(TOY_STAGED,
                 (struct job_savepoint){.at = JOB_SAVEPOINT_FIRST,
                                        .kind = JOB_SAVEPOINT_STOP,
                                        .failure = planned == 1
                                                       ? (uint8_t)(JOB_SAVEPOINT_AUTOMATIC + pick -
                                                                   PICK_STOP_FAILS_AUTOMATIC)
                                                       : (uint8_t)JOB_SAVEPOINT_FAILURE_DRAWN});
            toy.config.job.restart_attempts = 0; /* an operator needs none */
            if (planned == 0) {
                toy_pin(&toy,
                        (struct toy_pin){.site = toy_site(ENGINE_SITE_SAVEPOINT), .value = pick});
            }
            run_to_the_end();
            const uint32_t number = the_savepoint(STORE_STOP)->number;
            const uint32_t stopped =
                find(0, ENTRY(.kind = HOST_JOB_STOPPED, .code = STOP_CAUSE_SAVEPOINT));
            const uint32_t start = find(stopped, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
            const bool from_savepoint = pick == PICK_STOP_FAILS_MANUAL;
            const struct journal_entry *started = journal_at(toy_journal(&toy), start);
            assert_int_equal(started->checkpoint, from_savepoint ? number : number - 1);
            const uint32_t committed =
                find(0, ENTRY(.kind = HOST_FINALISED, .checkpoint = number, .attempt = 1));
            assert_true(committed < stopped);
            const record_id record = journal_at(toy_journal(&toy), committed)->record;
            assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_STAGED, .record = record)),
                             from_savepoint ? 1 : 2);
            assert_int_equal(toy_effects_least(&toy), 1);
        }
    }
}

/* Goal: a crash before the resumed job completes a checkpoint brings the savepoint back. */
static void a_crash_after_the_resume_restores_the_savepoint_again(void **state)
{
    (void)state;
    init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_FIRST, .kind = JOB_SAVEPOINT_STOP});
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_JOB_STARTED,
                             .after_count = 2,
                             .nth = 3});
    run_to_the_end();
    const uint32_t number = the_savepoint(STORE_STOP)->number;
    for (uint16_t attempt = 2; attempt <= 3; attempt++) {
        const uint32_t start = find(0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = attempt));
        assert_int_equal(journal_at(toy_journal(&toy), start)->checkpoint, number);
    }
    assert_int_equal(toy_effects_least(&toy), 1);
}

/* Goal: a stop whose savepoint cannot complete fails the job, and it goes on. */
static void an_aborted_stop_restarts_the_job(void **state)
{
    (void)state;
    init(TOY_STAGED, (struct job_savepoint){.at = JOB_SAVEPOINT_FIRST, .kind = JOB_SAVEPOINT_STOP});
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_CHECKPOINT), .value = 1, .nth = 1});
    run_to_the_end();
    assert_int_equal(the_savepoint(STORE_STOP)->state, STORE_ABORTED);
    const uint32_t start = find(0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    assert_int_equal(journal_at(toy_journal(&toy), start)->checkpoint, 1);
    assert_int_equal(toy_effects_least(&toy), 1);
}

/* Goal: a crash at any place around a stop loses nothing. */
static void a_crash_anywhere_around_a_stop_loses_nothing(void **state)
{
    (void)state;
    for (uint32_t nth = 0; nth < 120; nth++) {
        init(TOY_STAGED,
             (struct job_savepoint){.at = JOB_SAVEPOINT_MIDDLE, .kind = JOB_SAVEPOINT_STOP});
        toy.config.job.chained = nth % 2 == 0;
        toy_pin(&toy,
                (struct toy_pin){
                    .site = toy_site(ENGINE_SITE_CRASH), .value = 1 + nth % 3 * 5, .nth = nth});
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_true(toy_effects_least(&toy) >= 1);
        assert_true(toy_effects_most(&toy) <= 3);
    }
}

TEST_MAIN(savepoint,
          TEST(the_batch_of_a_savepoint_waits_for_the_next_notice),
          TEST(a_crash_behind_a_savepoint_restores_the_checkpoint_before),
          TEST(a_drawn_savepoint_is_taken_where_the_tape_says),
          TEST(a_stop_commits_ends_and_is_resumed),
          TEST(a_resumed_job_has_another_id),
          TEST(a_resume_commits_again_what_the_stop_committed),
          TEST(a_failed_stop_goes_on_from_what_its_form_says),
          TEST(a_crash_after_the_resume_restores_the_savepoint_again),
          TEST(an_aborted_stop_restarts_the_job),
          TEST(a_crash_anywhere_around_a_stop_loses_nothing))
