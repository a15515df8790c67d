/* progress: only finished work counts.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_progress sinks/sink
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_progress);
    kit->facts.stop_reasons = UINT64_MAX;
    kit_start(kit);
}

static void finished_work_is_progress(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_declared_error_is_no_progress(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

static void stuck_is_no_progress(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_progress,
          TEST(finished_work_is_progress),
          TEST(a_declared_error_is_no_progress),
          TEST(stuck_is_no_progress))
