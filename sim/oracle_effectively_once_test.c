/* effectively-once: second effects by resource, generation and reader class.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_effectively_once sim/oracle_once sim/oracle_excuse
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_effectively_once);
    kit_start(kit);
    kit_accept(kit, 1, 2);
}

static void one_creation_each_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: negative control CT-AL-6: two answers are no two tasks; a refused repeat is none either. */
static void two_answers_are_not_two_effects(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    const uint32_t request = kit_send(&kit, kit_writer, 0);
    (void)kit_note(&kit, (struct journal_entry){.kind = WORLD_REFUSED, .request = request});
    kit_answer(&kit, request);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: mutants m-ct-02, m-ct-05: another name for the same record. */
static void a_second_resource_is_a_second_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

/* Goal: a name that was released and taken again (CT-AL-4); by default nothing excuses it. */
static void a_second_generation_is_a_second_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.protection_window = SECONDS(10);
    kit_deliver(&kit, 1, 0, 11);
    kit_effect(&kit, WORLD_REMOVED, 0, 11, 0);
    kit_inject(&kit, FAULT_CRASH, SECONDS(20));
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 11);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

static void a_replacement_is_not_a_second_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    kit_effect(&kit, WORLD_REPLACED, 1, 11, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: only the target service counts. */
static void a_dead_letter_is_not_a_second_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    kit_letter(&kit, 1);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: for a reader class, what it sees at one time counts, and creations do not. */
static void a_reader_class_judges_what_it_sees_at_one_time(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_effectively_once);
    kit.facts.reader_class = 1;
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 12);
    kit_effect(&kit, WORLD_VISIBLE, 1, 11, 0);
    kit_effect(&kit, WORLD_HIDDEN, 1, 11, 0);
    kit_effect(&kit, WORLD_VISIBLE, 1, 12, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_VISIBLE, 1, 11, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: what no record explains is another oracle's (value-intact). */
static void an_unexplained_effect_is_nobodys_second(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_effect(&kit, WORLD_CREATED, 0, 11, 0);
    kit_effect(&kit, WORLD_CREATED, 0, 12, 0);
    kit_effect(&kit, WORLD_REPLACED, 0, 12, 0);
    kit_effect(&kit, WORLD_VISIBLE, 0, 12, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: equal payloads are a multiset. */
static void equal_payloads_may_be_as_many_as_records(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_effectively_once);
    kit.log.equal_payloads = true;
    kit.records[1].digest = kit.records[0].digest;
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_deliver(&kit, 2, 0, 13);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_effectively_once,
          TEST(one_creation_each_is_fine),
          TEST(two_answers_are_not_two_effects),
          TEST(a_second_resource_is_a_second_effect),
          TEST(a_second_generation_is_a_second_effect),
          TEST(a_replacement_is_not_a_second_effect),
          TEST(a_dead_letter_is_not_a_second_effect),
          TEST(a_reader_class_judges_what_it_sees_at_one_time),
          TEST(an_unexplained_effect_is_nobodys_second),
          TEST(equal_payloads_may_be_as_many_as_records))
