/* Excuses: each with its cause, and each without it: words alone excuse nothing.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_excuse sim/oracle_once sim/oracle_at_least_once sim/oracle_effectively_once
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

/* --- a released name --------------------------------------------------------------------------- */

/* An eager named sink; its name is protected for 10 s after removal; a fault-free run covers a
 * record within 5 s. Record 1 is created and removed at once. */
static void prepare_lapse(struct kit *kit)
{
    kit_init(kit, &oracle_effectively_once);
    kit->facts.keyed = true;
    kit->facts.protection_window = SECONDS(10);
    kit->facts.fault_free_bound = SECONDS(5);
    kit->facts.excuses = EXCUSE_WINDOW_LAPSED;
    kit_start(kit);
    kit_accept(kit, 1, 1);
    kit_deliver(kit, 1, 0, 11);
    kit_effect(kit, WORLD_REMOVED, 0, 11, 0);
}

static void create_again(struct kit *kit, uint32_t resource)
{
    kit_restart(kit, 0);
    kit_accept(kit, 1, 1);
    kit_deliver(kit, 1, 0, resource);
}

static void downtime_beyond_the_window_excuses_a_second_creation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_INCONCLUSIVE);
}

static void no_excuse_is_granted_by_default(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit.facts.excuses = 0;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: the window passed, but nobody kept the job down: it was the sink that waited. */
static void time_that_passes_without_a_fault_excuses_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_wait(&kit, SECONDS(20));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: the words without the cause: the model says that protection lapsed. */
static void an_announced_expiry_excuses_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_effect(&kit, WORLD_EXPIRED, 0, 11, 0);
    kit_inject(&kit, FAULT_CRASH, SECONDS(9));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: faults of other kinds are no downtime, however long they say they last. */
static void a_fault_that_keeps_nothing_down_excuses_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_inject(&kit, FAULT_ANSWER_LOST, SECONDS(100));
    kit_wait(&kit, SECONDS(20));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: overlapping faults count once. */
static void two_faults_at_one_time_are_not_twice_the_downtime(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_inject(&kit, FAULT_PAUSE, SECONDS(6));
    kit_inject(&kit, FAULT_CRASH, SECONDS(6));
    kit_wait(&kit, SECONDS(4));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: void after a fault-free bound: the checkpoint had time to complete before the crash. */
static void a_chance_before_the_downtime_voids_the_excuse(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_wait(&kit, SECONDS(5));
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a released name does not explain another name (m-ct-02). */
static void another_name_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a sink with a deadline of its own should not have sent (m-cs-04). */
static void a_sink_that_must_stop_gets_no_excuse(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit.facts.staged = true;
    kit.facts.expiry_fails = true;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void without_a_fault_free_bound_nothing_is_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit.facts.fault_free_bound = 0;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a heal ends the downtime, whatever length was drawn. */
static void downtime_ends_with_the_heal(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit_inject(&kit, FAULT_PAUSE, SECONDS(100));
    kit_wait(&kit, SECONDS(2));
    kit_host(&kit, HOST_HEAL, 0);
    kit_wait(&kit, SECONDS(20));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* --- a late effect ----------------------------------------------------------------------------- */

/* Late effects are bounded by 8 s. Record 1 is created twice: by the first request after delay, and
 * before that by the second. */
static void run_late(struct kit *kit, enum fault_kind kind, nanos delay)
{
    kit_init(kit, &oracle_effectively_once);
    kit->facts.late_effect_max = SECONDS(8);
    kit->facts.fault_free_bound = SECONDS(5);
    kit->facts.excuses = EXCUSE_LATE_EFFECT;
    kit_start(kit);
    kit_accept(kit, 1, 1);
    (void)kit_note(
        kit, (struct journal_entry){.kind = HOST_INJECTED, .code = (uint8_t)kind, .request = 1});
    const uint32_t late = kit_send(kit, kit_writer, 0);
    assert_int_equal(late, 1);
    kit_deliver(kit, 1, 0, 12);
    kit_wait(kit, delay);
    kit_effect(kit, WORLD_CREATED, 1, 13, late);
}

static void an_effect_beyond_the_bound_is_excused(void **state)
{
    (void)state;
    struct kit kit;
    run_late(&kit, FAULT_APPLIED_LATER, SECONDS(8) + 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_INCONCLUSIVE);
}

static void an_effect_within_the_bound_is_not(void **state)
{
    (void)state;
    struct kit kit;
    run_late(&kit, FAULT_APPLIED_LATER, SECONDS(8));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a delay that nothing was injected into is no cause. */
static void a_delay_of_another_cause_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    run_late(&kit, FAULT_ANSWER_LOST, SECONDS(9));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* --- a declared stop --------------------------------------------------------------------------- */

/* A staged sink with a window of 10 s; record 1 is held by checkpoint 1. */
static void prepare_stop(struct kit *kit)
{
    kit_init(kit, &oracle_at_least_once);
    kit->facts.staged = true;
    kit->facts.expiry_fails = true;
    kit->facts.recovery_window = SECONDS(10);
    kit->facts.fault_free_bound = SECONDS(5);
    kit->facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED | UINT64_C(1)
                                                                       << SINK_REASON_EXHAUSTED;
    kit->facts.excuses = EXCUSE_DECLARED_STOP;
    kit_start(kit);
    kit_accept(kit, 1, 1);
    kit_stage(kit, 1, 21);
    (void)kit_checkpoint(kit, 1, (uint32_t[]){21, 0});
}

static void downtime_beyond_the_window_excuses_an_expired_envelope(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_INCONCLUSIVE);
}

/* Goal: the words without the cause: the sink says that it expired. */
static void declared_expiry_without_downtime_excuses_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(9));
    kit_restart(&kit, 1);
    kit_wait(&kit, SECONDS(9));
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void a_chance_to_commit_voids_the_stop(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_wait(&kit, SECONDS(5));
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void an_undeclared_reason_excuses_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_VIOLATION);
}

/* Goal: m-cs-08 cannot hide behind the downtime: the job is green. */
static void a_green_job_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: an envelope that was given up is lost, whatever stopped the job then. */
static void a_finalised_envelope_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void an_injected_fault_excuses_an_exhausted_budget(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_REFUSED, 0);
    kit_wait(&kit, SECONDS(1));
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXHAUSTED), VERDICT_INCONCLUSIVE);
}

/* Goal: the words without the cause: a budget that ran out with no fault since the staging. */
static void an_exhausted_budget_without_a_fault_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_wait(&kit, SECONDS(1));
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXHAUSTED), VERDICT_VIOLATION);
}

/* Goal: an eager sink's covered record was acknowledged: no stop explains its absence. */
static void an_eager_record_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_accept(&kit, 2, 2);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 0});
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 2);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

/* Goal: EXPIRED needs the downtime itself, not any fault. */
static void expiry_needs_the_whole_window_of_downtime(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_inject(&kit, FAULT_CRASH, SECONDS(9));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void expiry_without_a_window_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit.facts.recovery_window = 0;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void a_stop_that_is_not_granted_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit.facts.excuses = ~(uint32_t)EXCUSE_DECLARED_STOP;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

/* Goal: an envelope that no completed checkpoint holds is lost already. */
static void an_envelope_outside_the_checkpoint_is_not_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_accept(&kit, 2, 2);
    kit_stage(&kit, 2, 22);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 0});
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 2);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

/* Goal: a fault that was over before the staging is no cause; one that reaches into it is. */
static void a_fault_before_the_staging_counts_if_it_lasts(void **state)
{
    (void)state;
    struct kit kit;
    for (uint32_t lasts = 0; lasts < 2; lasts++) {
        prepare_stop(&kit);
        kit_wait(&kit, SECONDS(1));
        kit_inject(&kit, FAULT_OUTAGE, SECONDS(1) + lasts);
        kit_wait(&kit, SECONDS(1));
        kit_accept(&kit, 2, 2);
        kit_stage(&kit, 2, 22);
        kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
        kit_deliver(&kit, 1, 21, 11);
        kit_checkpoint(&kit, 2, (uint32_t[]){22, 0});
        kit_wait(&kit, SECONDS(1));
        assert_int_equal(kit_fail(&kit, SINK_REASON_EXHAUSTED),
                         lasts != 0 ? VERDICT_INCONCLUSIVE : VERDICT_VIOLATION);
    }
}

/* Goal: a fault at the moment of the failure, or after it, did not cause it. */
static void a_fault_at_the_failure_is_no_cause(void **state)
{
    (void)state;
    struct kit kit;
    prepare_stop(&kit);
    kit_wait(&kit, SECONDS(1));
    kit_inject(&kit, FAULT_REFUSED, 0);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXHAUSTED), VERDICT_VIOLATION);
}

/* Goal: a staged sink that sends anyway has no deadline of its own that should have kept it. */
static void a_sink_that_sends_anyway_may_be_excused(void **state)
{
    (void)state;
    struct kit kit;
    prepare_lapse(&kit);
    kit.facts.staged = true;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    create_again(&kit, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_INCONCLUSIVE);
}

/* Goal: without a bound nothing is late. */
static void without_a_late_bound_nothing_is_late(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_effectively_once);
    kit.facts.fault_free_bound = SECONDS(5);
    kit.facts.excuses = EXCUSE_LATE_EFFECT;
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    (void)kit_note(
        &kit,
        (struct journal_entry){.kind = HOST_INJECTED, .code = FAULT_APPLIED_LATER, .request = 1});
    const uint32_t late = kit_send(&kit, kit_writer, 0);
    kit_deliver(&kit, 1, 0, 12);
    kit_wait(&kit, SECONDS(9));
    kit_effect(&kit, WORLD_CREATED, 1, 13, late);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_excuse,
          TEST(downtime_beyond_the_window_excuses_a_second_creation),
          TEST(no_excuse_is_granted_by_default),
          TEST(time_that_passes_without_a_fault_excuses_nothing),
          TEST(an_announced_expiry_excuses_nothing),
          TEST(a_fault_that_keeps_nothing_down_excuses_nothing),
          TEST(two_faults_at_one_time_are_not_twice_the_downtime),
          TEST(a_chance_before_the_downtime_voids_the_excuse),
          TEST(another_name_is_not_excused),
          TEST(a_sink_that_must_stop_gets_no_excuse),
          TEST(without_a_fault_free_bound_nothing_is_excused),
          TEST(downtime_ends_with_the_heal),
          TEST(an_effect_beyond_the_bound_is_excused),
          TEST(an_effect_within_the_bound_is_not),
          TEST(a_delay_of_another_cause_is_not_excused),
          TEST(downtime_beyond_the_window_excuses_an_expired_envelope),
          TEST(declared_expiry_without_downtime_excuses_nothing),
          TEST(a_chance_to_commit_voids_the_stop),
          TEST(an_undeclared_reason_excuses_nothing),
          TEST(a_green_job_is_not_excused),
          TEST(a_finalised_envelope_is_not_excused),
          TEST(an_injected_fault_excuses_an_exhausted_budget),
          TEST(an_exhausted_budget_without_a_fault_is_not_excused),
          TEST(an_eager_record_is_not_excused),
          TEST(expiry_needs_the_whole_window_of_downtime),
          TEST(expiry_without_a_window_is_not_excused),
          TEST(a_stop_that_is_not_granted_is_not_excused),
          TEST(an_envelope_outside_the_checkpoint_is_not_excused),
          TEST(a_fault_before_the_staging_counts_if_it_lasts),
          TEST(a_fault_at_the_failure_is_no_cause),
          TEST(a_sink_that_sends_anyway_may_be_excused),
          TEST(without_a_late_bound_nothing_is_late))
