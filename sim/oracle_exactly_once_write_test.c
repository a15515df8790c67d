/* exactly-once-write: at most one at any time, exactly one after recovery.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_exactly_once_write sim/oracle_once sim/oracle_excuse
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_exactly_once_write);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 1);
    kit_stage(kit, 1, 21);
    (void)kit_checkpoint(kit, 1, (uint32_t[]){21, 0});
    kit_envelope(kit, HOST_COMMIT_REQUEST, 21);
}

static void committed_once_over_a_restore_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_answer(&kit, kit_send(&kit, kit_committer, 21));
    kit_effect(&kit, WORLD_REMOVED, 0, 11, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: mutant m-cs-03: after a lost answer the restored envelope is created under a new name. */
static void a_second_creation_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_deliver(&kit, 1, 22, 12);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

/* Goal: a row that another commit replaces is gone, and one that is written anew in its place is no second
 * one. Method: hidden for good; hidden and created again. */
static void a_row_that_is_replaced_is_gone(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_effect(&kit, WORLD_HIDDEN, 1, 11, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_effect(&kit, WORLD_HIDDEN, 1, 11, 0);
    kit_effect(&kit, WORLD_CREATED, 1, 11, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

static void a_covered_record_without_an_effect_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
    assert_int_equal(kit_finding(&kit)->position, kit.journal.count - 1);
}

/* Goal: a record whose staging was rolled back is owed nothing. */
static void an_uncovered_record_is_owed_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_accept(&kit, 2, 2);
    kit_stage(&kit, 2, 22);
    kit_restart(&kit, 1);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: mutant m-or-09: a declared stop excuses what is still held, not what counts as committed. */
static void a_declared_stop_does_not_excuse_a_finalised_envelope(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.expiry_fails = true;
    kit.facts.recovery_window = SECONDS(10);
    kit.facts.fault_free_bound = SECONDS(5);
    kit.facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED;
    kit.facts.excuses = EXCUSE_DECLARED_STOP;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

/* Goal: an envelope that waits in a job that was stopped by injected downtime is excused. */
static void a_declared_stop_may_excuse_a_missing_record(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.excuses = EXCUSE_DECLARED_STOP;
    kit.facts.fault_free_bound = SECONDS(5);
    kit.facts.recovery_window = SECONDS(10);
    kit.facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED;
    kit_inject(&kit, FAULT_CRASH, SECONDS(10));
    kit_restart(&kit, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_INCONCLUSIVE);
}

TEST_MAIN(oracle_exactly_once_write,
          TEST(committed_once_over_a_restore_is_fine),
          TEST(a_second_creation_is_a_violation),
          TEST(a_row_that_is_replaced_is_gone),
          TEST(a_covered_record_without_an_effect_is_a_violation),
          TEST(an_uncovered_record_is_owed_nothing),
          TEST(a_declared_stop_does_not_excuse_a_finalised_envelope),
          TEST(a_declared_stop_may_excuse_a_missing_record))
