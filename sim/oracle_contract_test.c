/* contract: the host says which rule is broken.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_contract
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void a_broken_rule_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_contract);
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    (void)kit_note(
        &kit,
        (struct journal_entry){
            .kind = HOST_CONTRACT, .code = CONTRACT_UNKNOWN_TOKEN, .lane = kit_writer, .a = 9});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

/* Goal: memory that is still out shows when the run is disposed of, after its end. */
static void a_leak_after_the_end_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_contract);
    kit_start(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
    (void)kit_note(&kit, (struct journal_entry){.kind = HOST_CONTRACT, .code = CONTRACT_LEAK});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_contract,
          TEST(a_broken_rule_is_a_violation),
          TEST(a_leak_after_the_end_is_a_violation))
