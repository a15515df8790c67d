/* no-silent-loss: a loss needs a terminal error.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_no_silent_loss
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_no_silent_loss);
    kit->facts.excuses = UINT32_MAX;
    kit->facts.fault_free_bound = SECONDS(1);
    kit_start(kit);
    kit_host(kit, HOST_RECORD, 1);
    kit_host(kit, HOST_SKIPPED, 1);
    kit_accept(kit, 2, 2);
    (void)kit_checkpoint(kit, 2, NULL);
}

static void nothing_missing_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: CT-EO-4: any reason will do. */
static void a_loss_in_a_failed_job_is_not_silent(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_OK);
}

/* Goal: m-cs-08 and its like; no excuse is asked. */
static void a_loss_in_a_green_job_is_silent(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

static void a_loss_in_a_stuck_job_is_silent(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_no_silent_loss,
          TEST(nothing_missing_is_fine),
          TEST(a_loss_in_a_failed_job_is_not_silent),
          TEST(a_loss_in_a_green_job_is_silent),
          TEST(a_loss_in_a_stuck_job_is_silent))
