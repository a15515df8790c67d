/* Batch mode (FW8): one stage of writers that close behind their input, then one commit of what they staged.
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
    PICK_WITHOUT_STATE = 6,
};

static void init(enum toy_sink sink)
{
    toy_init(&toy, sink, 40, 2);
    toy.config.job.subtasks = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.config.job.facts.batch = true;
    toy.config.job.checkpointing = false;
}

static void run_to_the_end(void)
{
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
}

static uint32_t find(uint32_t from, struct journal_entry wanted)
{
    const uint32_t position = toy_find(&toy, from, wanted);
    assert_true(toy_is_found(position, &toy));
    return position;
}

/* Goal: FW8: nothing is committed before all writers have closed, and all that they staged is one
 * checkpoint. Method: both kinds of committer, one calm run each. */
static void all_writers_close_before_the_one_commit(void **state)
{
    (void)state;
    const enum toy_sink sinks[] = {TOY_STAGED, TOY_STAGED_GLOBAL};
    for (size_t i = 0; i < ARRAY_COUNT(sinks); i++) {
        init(sinks[i]);
        run_to_the_end();
        const uint32_t first = find(0, ENTRY(.kind = HOST_COMMIT));
        const uint32_t completed = find(0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED));
        for (uint32_t subtask = 0; subtask < 2; subtask++) {
            const lane writer = lane_make(LANE_WRITER, subtask);
            assert_true(find(0, ENTRY(.kind = HOST_CLOSED, .lane = writer)) < completed);
        }
        assert_true(completed < first);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED)), 1);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_BARRIER)), 0);
        assert_int_equal(toy_effects_least(&toy), 1);
        assert_int_equal(toy_effects_most(&toy), 1);
    }
}

/* Goal: a restart behind the stage commits what it kept, and reads no input again. Method: all processes
 * die as the stage completes. */
static void a_restart_commits_what_the_stage_kept(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_CHECKPOINT_COMPLETED});
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD)), 40);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RESTORED)), 40);
    assert_int_equal(toy_effects_least(&toy), 1);
}

/* Goal: a restart within the stage begins it anew, under the number of a checkpoint of its own. Method: all
 * processes die as the first writer ends, whose stage is given up. */
static void a_restart_within_the_stage_begins_it_anew(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_RECORD,
                             .after_count = 30});
    run_to_the_end();
    assert_true(toy_count(&toy, ENTRY(.kind = HOST_RECORD)) >= 70);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RESTORED)), 0);
    assert_int_equal(toy_effects_least(&toy), 1);
    assert_int_equal(toy_effects_most(&toy), 1);
}

/* Goal: R11: when what the stage kept is lost, the writers run again, and what was committed is there
 * twice. Method: all die behind the first effect, and the restart brings no state. */
static void a_stage_that_is_lost_runs_again(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.config.job.stateless_restores = JOB_STATELESS_BEGINNING;
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = WORLD_CREATED});
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = PICK_WITHOUT_STATE});
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RECORD)), 80);
    assert_true(toy_effects_least(&toy) >= 1);
    assert_int_equal(toy_effects_most(&toy), 2);
}

TEST_MAIN(batch,
          TEST(all_writers_close_before_the_one_commit),
          TEST(a_restart_commits_what_the_stage_kept),
          TEST(a_restart_within_the_stage_begins_it_anew),
          TEST(a_stage_that_is_lost_runs_again))
