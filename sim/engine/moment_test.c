/* Moments: the phase of the half and of the engine in which a fault fires.
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

#define LOST_PUT    1 /* of the toy's fates: answered by nobody */
#define CRASH_ALL   6 /* of engine.crash: all_short */
#define NOTICE_LOST 1

struct moment {
    enum fault_kind kind;
    enum sink_phase sink;
    enum engine_phase engine;
};

/* The kind fired once, in this moment; no other kind did. */
static void require_moment(struct moment wanted)
{
    toy_run(&toy);
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        const uint64_t moments = toy.result.marks.moments[kind];
        const uint64_t expected =
            kind == wanted.kind ? UINT64_C(1) << moment_bit(wanted.sink, wanted.engine) : 0;
        if (moments != expected) {
            fail_msg("%s: 0x%llx, not 0x%llx",
                     fault_kind_name((enum fault_kind)kind),
                     (unsigned long long)moments,
                     (unsigned long long)expected);
        }
    }
}

static void prepare(enum toy_sink sink)
{
    toy_init(&toy, sink, 30, 1);
    toy_allow_all(&toy);
}

static void pin(const struct choice_site *site, uint32_t value, enum journal_kind after)
{
    toy_pin(&toy, (struct toy_pin){.site = site, .value = value, .after = (uint8_t)after});
}

static enum fault_kind kind_of_lost_put(void)
{
    return (enum fault_kind)toy_fate_site.outcomes[LOST_PUT].kind;
}

static void a_fault_without_a_checkpoint_meets_a_running_half_and_engine(void **state)
{
    (void)state;
    prepare(TOY_EAGER);
    pin(&toy_fate_site, LOST_PUT, HOST_RECORD);
    require_moment((struct moment){kind_of_lost_put(), SINK_PHASE_RUNNING, ENGINE_PHASE_RUNNING});
}

static void a_crash_behind_a_trigger_meets_the_checkpoint(void **state)
{
    (void)state;
    prepare(TOY_EAGER);
    pin(toy_site(ENGINE_SITE_CRASH), CRASH_ALL, HOST_CHECKPOINT_TRIGGERED);
    require_moment((struct moment){FAULT_CRASH, SINK_PHASE_RUNNING, ENGINE_PHASE_CHECKPOINT});
}

static void a_slow_barrier_is_a_phase_of_the_half(void **state)
{
    (void)state;
    prepare(TOY_EAGER);
    toy.behaviour.barrier_for = MS(20);
    pin(toy_site(ENGINE_SITE_CRASH), CRASH_ALL, HOST_BARRIER);
    require_moment((struct moment){FAULT_CRASH, SINK_PHASE_AT_BARRIER, ENGINE_PHASE_CHECKPOINT});
}

static void a_lost_put_of_a_commit_meets_a_committing_half(void **state)
{
    (void)state;
    prepare(TOY_STAGED);
    pin(&toy_fate_site, LOST_PUT, HOST_COMMIT);
    require_moment(
        (struct moment){kind_of_lost_put(), SINK_PHASE_COMMITTING, ENGINE_PHASE_RUNNING});
}

static void a_lost_notice_falls_between_completion_and_notice(void **state)
{
    (void)state;
    prepare(TOY_STAGED);
    pin(toy_site(ENGINE_SITE_NOTICE), NOTICE_LOST, HOST_CHECKPOINT_COMPLETED);
    require_moment((struct moment){FAULT_NOTICE_LOST, SINK_PHASE_RUNNING, ENGINE_PHASE_COMPLETED});
}

static void a_crash_before_all_is_open_meets_the_restore(void **state)
{
    (void)state;
    prepare(TOY_EAGER);
    toy.config.job.subtasks = 2;
    toy.behaviour.open_for = MS(20);
    pin(toy_site(ENGINE_SITE_CRASH), CRASH_ALL, HOST_OPENED);
    toy_run(&toy);
    const uint64_t moments = toy.result.marks.moments[FAULT_CRASH];
    const uint32_t opening = moment_bit(SINK_PHASE_OPENING, ENGINE_PHASE_RESTORING);
    assert_int_equal(moments, UINT64_C(1) << opening);
}

TEST_MAIN(moment,
          TEST(a_fault_without_a_checkpoint_meets_a_running_half_and_engine),
          TEST(a_crash_behind_a_trigger_meets_the_checkpoint),
          TEST(a_slow_barrier_is_a_phase_of_the_half),
          TEST(a_lost_put_of_a_commit_meets_a_committing_half),
          TEST(a_lost_notice_falls_between_completion_and_notice),
          TEST(a_crash_before_all_is_open_meets_the_restore))
