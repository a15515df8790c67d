/* liveness: ends, restarts and timeouts after the heal.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_liveness sinks/sink
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_liveness);
    kit->facts.restarts_after_heal = 1;
    kit->facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED;
    kit_start(kit);
}

static void heal(struct kit *kit)
{
    kit_host(kit, HOST_HEAL, 0);
    judge_heal(kit->judge);
}

static void stop_and_restart(struct kit *kit, enum stop_cause cause)
{
    (void)kit_note(kit, (struct journal_entry){.kind = HOST_JOB_STOPPED, .code = (uint8_t)cause});
    kit_restart(kit, 0);
}

static void time_out(struct kit *kit, uint32_t checkpoint)
{
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_CHECKPOINT_ABORTED,
                                          .code = ABORT_CAUSE_TIMEOUT,
                                          .checkpoint = checkpoint});
}

static void finished_work_is_live(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    stop_and_restart(&kit, STOP_CAUSE_SINK);
    stop_and_restart(&kit, STOP_CAUSE_SINK);
    time_out(&kit, 1);
    heal(&kit);
    stop_and_restart(&kit, STOP_CAUSE_SINK);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_declared_error_is_live(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_OK);
}

/* Goal: the reason must be declared. Mutant m-ct-03 without restarts left. */
static void an_undeclared_error_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_VIOLATION);
}

static void stuck_is_a_violation_that_names_what_is_unfinished(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
    assert_string_equal(kit_finding(&kit)->message,
                        "stuck: 1 of 8 records covered, 1 envelopes held, 1 requests open");
}

/* Goal: mutant m-or-14: standing still without a request open is no end of the work. */
static void stuck_without_a_request_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

/* Goal: CT-EO-19, m-cs-13: a restart loop. */
static void restarts_beyond_the_allowed_are_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    heal(&kit);
    stop_and_restart(&kit, STOP_CAUSE_SINK);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    stop_and_restart(&kit, STOP_CAUSE_CHECKPOINT);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a crash that is noticed late and a rescale are not the sink's restarts. */
static void restarts_for_other_causes_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    heal(&kit);
    stop_and_restart(&kit, STOP_CAUSE_CRASH);
    stop_and_restart(&kit, STOP_CAUSE_RESCALE);
    stop_and_restart(&kit, STOP_CAUSE_SINK);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_checkpoint_of_after_the_heal_must_not_time_out(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 0, NULL);
    heal(&kit);
    time_out(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    time_out(&kit, 2);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

/* Start checkpoint 1 with a bound of 4 min, and wait for 5 min, after 2 of which a fault may come. */
static void prepare_timeout(struct kit *kit, bool disturbed)
{
    prepare(kit);
    kit->facts.fault_free_bound = MINUTES(4);
    (void)kit_note(kit, (struct journal_entry){.kind = HOST_CHECKPOINT_TRIGGERED, .checkpoint = 1});
    kit_wait(kit, MINUTES(2));
    if (disturbed) {
        kit_inject(kit, FAULT_REFUSED, 0);
    }
    kit_wait(kit, MINUTES(3));
}

/* Goal: mutant m-xb-01: a hang that the restart after a timeout would hide. */
static void a_checkpoint_must_not_time_out_without_a_fault(void **state)
{
    (void)state;
    struct kit kit;
    prepare_timeout(&kit, false);
    time_out(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

static void a_fault_may_let_a_checkpoint_time_out(void **state)
{
    (void)state;
    struct kit kit;
    prepare_timeout(&kit, true);
    time_out(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: the bound is not the only end: a limit is no verdict. */
static void a_limit_is_inconclusive(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_LIMIT), VERDICT_INCONCLUSIVE);
}

TEST_MAIN(oracle_liveness,
          TEST(finished_work_is_live),
          TEST(a_declared_error_is_live),
          TEST(an_undeclared_error_is_a_violation),
          TEST(stuck_is_a_violation_that_names_what_is_unfinished),
          TEST(stuck_without_a_request_is_a_violation),
          TEST(restarts_beyond_the_allowed_are_a_violation),
          TEST(restarts_for_other_causes_are_fine),
          TEST(a_checkpoint_of_after_the_heal_must_not_time_out),
          TEST(a_checkpoint_must_not_time_out_without_a_fault),
          TEST(a_fault_may_let_a_checkpoint_time_out),
          TEST(a_limit_is_inconclusive))
