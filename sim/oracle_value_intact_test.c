/* value-intact: unexplained effects, and accepted values that are nowhere.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_value_intact
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_value_intact);
    kit_start(kit);
    kit_accept(kit, 1, KIT_RECORDS);
    for (record_id record = 1; record < KIT_RECORDS; record++) {
        kit_deliver(kit, record, 0, 10 + record);
    }
}

static void every_value_in_place_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, KIT_RECORDS, 0, 30);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void an_effect_that_nothing_explains_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_effect(&kit, WORLD_REPLACED, 0, 11, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject_kind, SUBJECT_EFFECT);
}

/* Goal: a queue or a stream has no value; another service's values are not judged. */
static void effects_without_a_value_and_elsewhere_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_note(&kit, (struct journal_entry){.kind = WORLD_CREATED, .resource = 40});
    (void)kit_note(&kit,
                   (struct journal_entry){
                       .kind = WORLD_CREATED, .service = KIT_LETTERS, .resource = 41, .value = 5});
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: CT-AL-5: the name was taken, the second record counts as accepted, its value is nowhere. */
static void an_accepted_value_that_is_nowhere_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t request = kit_send(&kit, kit_writer, 0);
    (void)kit_note(&kit, (struct journal_entry){.kind = WORLD_REFUSED, .request = request});
    kit_answer(&kit, request);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, KIT_RECORDS);
}

static void an_unfinished_run_owes_no_value(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_OK);
}

static void a_failed_run_owes_no_covered_value(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, KIT_RECORDS, NULL);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_OK);
}

/* Goal: only acceptance is a claim about the value. */
static void a_value_that_was_not_accepted_is_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_fail_record(&kit, KIT_RECORDS, SINK_REASON_REJECTED);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

TEST_MAIN(oracle_value_intact,
          TEST(every_value_in_place_is_fine),
          TEST(an_effect_that_nothing_explains_is_a_violation),
          TEST(effects_without_a_value_and_elsewhere_are_fine),
          TEST(an_accepted_value_that_is_nowhere_is_a_violation),
          TEST(an_unfinished_run_owes_no_value),
          TEST(a_failed_run_owes_no_covered_value),
          TEST(a_value_that_was_not_accepted_is_not_judged))
