/* one-cut: neither ahead of the position nor behind it.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_one_cut
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_one_cut);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 3);
    kit_stage(kit, 1, 21);
    kit_stage(kit, 2, 22);
}

static void state_and_position_that_agree_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t first[] = {21, 22, 0};
    (void)kit_checkpoint(&kit, 2, first);
    kit_stage(&kit, 3, 23);
    const uint32_t second[] = {21, 22, 23, 0};
    (void)kit_checkpoint(&kit, 3, second);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void state_ahead_of_the_position_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t held[] = {21, 22, 0};
    (void)kit_checkpoint(&kit, 1, held);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

static void state_behind_the_position_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t held[] = {21, 0};
    (void)kit_checkpoint(&kit, 2, held);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

static void what_is_stored_or_skipped_need_not_be_held(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 2, 22, 2);
    kit_host(&kit, HOST_RECORD, 4);
    kit_host(&kit, HOST_SKIPPED, 4);
    kit_deliver(&kit, 3, 0, 3);
    const uint32_t held[] = {21, 0};
    (void)kit_checkpoint(&kit, 4, held);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void eager_sinks_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.staged = false;
    (void)kit_checkpoint(&kit, 3, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_one_cut,
          TEST(state_and_position_that_agree_are_fine),
          TEST(state_ahead_of_the_position_is_a_violation),
          TEST(state_behind_the_position_is_a_violation),
          TEST(what_is_stored_or_skipped_need_not_be_held),
          TEST(eager_sinks_are_not_judged))
