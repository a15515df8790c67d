/* dead-letter-complete: letters before the completion.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_dead_letter_complete
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_dead_letter_complete);
    kit->facts.policy = SINK_POLICY_DEAD_LETTER;
    kit_start(kit);
    kit_host(kit, HOST_RECORD, 1);
    kit_fail_record(kit, 1, SINK_REASON_REJECTED);
}

static void a_letter_before_the_completion_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_letter(&kit, 1);
    kit_letter(&kit, 1);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: mutant m-ct-11: the letter comes after the completion. */
static void a_letter_after_the_completion_is_too_late(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_checkpoint(&kit, 1, NULL);
    kit_letter(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

static void a_failed_record_needs_its_letter_before_it_is_dropped(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_letter_of_another_record_does_not_count(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_letter(&kit, 2);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void an_uncovered_record_needs_no_letter(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_checkpoint(&kit, 0, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: the record was rolled back and is stored by the surviving timeline. */
static void a_record_that_survives_otherwise_needs_no_letter(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 1);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void other_policies_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.policy = SINK_POLICY_DROP;
    kit_host(&kit, HOST_DROPPED, 1);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_dead_letter_complete,
          TEST(a_letter_before_the_completion_is_fine),
          TEST(a_letter_after_the_completion_is_too_late),
          TEST(a_failed_record_needs_its_letter_before_it_is_dropped),
          TEST(a_letter_of_another_record_does_not_count),
          TEST(an_uncovered_record_needs_no_letter),
          TEST(a_record_that_survives_otherwise_needs_no_letter),
          TEST(other_policies_are_not_judged))
