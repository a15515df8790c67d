/* bounded-concurrency: the cap per half and attempt.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_bounded_concurrency
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_bounded_concurrency);
    kit->facts.concurrency_max = 2;
    kit_start(kit);
}

static void as_many_as_the_cap_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    for (uint32_t round = 0; round < 5; round++) {
        const uint32_t first = kit_send(&kit, kit_writer, 0);
        const uint32_t second = kit_send(&kit, kit_writer, 0);
        kit_answer(&kit, second);
        kit_answer(&kit, first);
    }
    (void)kit_send(&kit, kit_committer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void one_more_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_send(&kit, kit_writer, 0);
    (void)kit_send(&kit, kit_writer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    (void)kit_send(&kit, kit_writer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

/* Goal: a lost attempt's requests do not count for its successor, nor its answers. */
static void attempts_are_counted_apart(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t lost = kit_send(&kit, kit_writer, 0);
    (void)kit_send(&kit, kit_writer, 0);
    kit_restart(&kit, 0);
    (void)kit_send(&kit, kit_writer, 0);
    (void)kit_send(&kit, kit_writer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_answer(&kit, lost);
    (void)kit_send(&kit, kit_writer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void the_policy_and_unbounded_sinks_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    for (uint32_t count = 0; count < 5; count++) {
        (void)kit_send(&kit, kit_policy, 0);
    }
    kit.facts.concurrency_max = 0;
    for (uint32_t count = 0; count < 5; count++) {
        (void)kit_send(&kit, kit_writer, 0);
    }
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_bounded_concurrency,
          TEST(as_many_as_the_cap_are_fine),
          TEST(one_more_is_a_violation),
          TEST(attempts_are_counted_apart),
          TEST(the_policy_and_unbounded_sinks_are_not_judged))
