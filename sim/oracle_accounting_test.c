/* accounting: outcomes per record and attempt, by the traits of the workload.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_accounting
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_accounting);
    kit->records[1].traits = RECORD_SKIPPED;
    kit->records[2].traits = RECORD_POISON_SERVICE;
    kit->records[3].traits = RECORD_POISON_SERIALIZER;
    kit_start(kit);
}

static void expect(const struct kit *kit, record_id record, const char *words)
{
    assert_int_equal(kit_verdict(kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(kit)->subject, record);
    assert_non_null(strstr(kit_finding(kit)->message, words));
}

/* Goal: negative control: accepted, skipped, failed at once and after acceptance, and all of it once
 * more by another attempt. */
static void every_lawful_outcome_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    for (uint32_t life = 0; life < 2; life++) {
        kit_accept(&kit, 1, 1);
        kit_host(&kit, HOST_RECORD, 2);
        kit_host(&kit, HOST_SKIPPED, 2);
        kit_accept(&kit, 3, 3);
        kit_fail_record(&kit, 3, SINK_REASON_REJECTED);
        kit_host(&kit, HOST_RECORD, 4);
        kit_fail_record(&kit, 4, SINK_REASON_SERIALIZER);
        kit_host(&kit, HOST_DROPPED, 3);
        kit_host(&kit, HOST_DROPPED, 4);
        if (life == 0) {
            kit_restart(&kit, 0);
        }
    }
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 4, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_second_outcome_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_host(&kit, HOST_ACCEPTED, 1);
    expect(&kit, 1, "second outcome");
}

static void a_drop_without_a_failure_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_host(&kit, HOST_DROPPED, 1);
    expect(&kit, 1, "did not fail");
}

static void an_outcome_without_a_hand_over_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_restart(&kit, 0);
    kit_host(&kit, HOST_ACCEPTED, 1);
    expect(&kit, 1, "not handed over");
}

static void handed_over_twice_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_host(&kit, HOST_RECORD, 1);
    expect(&kit, 1, "twice");
}

/* Goal: mutant m-ct-08: an outage is taken for bad content. */
static void a_sound_record_must_not_reach_the_policy(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_fail_record(&kit, 1, SINK_REASON_REJECTED);
    expect(&kit, 1, "sound");
}

/* Goal: a poisoned record may reach the policy for its own defect only. */
static void a_failure_that_is_none_of_content_must_not_reach_the_policy(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 3, 3);
    kit_fail_record(&kit, 3, SINK_REASON_EXHAUSTED);
    expect(&kit, 3, "sound");
}

/* Goal: mutant m-ct-18. */
static void nothing_to_write_must_not_be_accepted(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 2, 2);
    expect(&kit, 2, "gives nothing");
}

static void a_value_must_not_be_skipped(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_SKIPPED, 1);
    expect(&kit, 1, "gives a value");
}

static void a_covered_record_needs_an_outcome(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_checkpoint(&kit, 1, NULL);
    expect(&kit, 1, "no outcome");
}

static void a_covered_record_must_have_been_handed_over(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, NULL);
    expect(&kit, 1, "no writer");
}

static void with_the_policy_is_no_outcome(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 4);
    kit_fail_record(&kit, 4, SINK_REASON_SERIALIZER);
    kit_accept(&kit, 1, 1);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_accept(&kit, 3, 3);
    kit_checkpoint(&kit, 4, NULL);
    expect(&kit, 4, "no outcome");
}

static void skipped_and_stored_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: what a replaced attempt still says is of no timeline. */
static void a_replaced_attempt_is_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 1);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 1);
    kit.attempt = 1;
    kit_fail_record(&kit, 1, SINK_REASON_REJECTED);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void an_extractor_failure_needs_a_record_that_it_fails_on(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.records[4].traits = RECORD_POISON_EXTRACTOR;
    kit_host(&kit, HOST_RECORD, 5);
    kit_fail_record(&kit, 5, SINK_REASON_EXTRACTOR);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_accept(&kit, 3, 3);
    kit_fail_record(&kit, 3, SINK_REASON_EXTRACTOR);
    expect(&kit, 3, "sound");
}

/* Goal: a serializer that is no function of its record fails when the record comes again, never before. */
static void a_serializer_may_fail_on_what_comes_again(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.records[4].traits = RECORD_POISON_AGAIN;
    kit_accept(&kit, 5, 5);
    kit_restart(&kit, 0);
    kit_host(&kit, HOST_RECORD, 5);
    kit_fail_record(&kit, 5, SINK_REASON_SERIALIZER);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    prepare(&kit);
    kit.records[4].traits = RECORD_POISON_AGAIN;
    kit_host(&kit, HOST_RECORD, 5);
    kit_fail_record(&kit, 5, SINK_REASON_SERIALIZER);
    expect(&kit, 5, "sound");
}

/* Goal: no way back from an outcome. */
static void a_failed_record_is_not_accepted_later(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 3);
    kit_fail_record(&kit, 3, SINK_REASON_REJECTED);
    kit_host(&kit, HOST_ACCEPTED, 3);
    expect(&kit, 3, "second outcome");
}

static void a_skipped_record_is_not_dropped_later(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_host(&kit, HOST_DROPPED, 2);
    expect(&kit, 2, "second outcome");
}

/* Goal: what a replaced attempt is still handed, and says, changes nothing for its successor. */
static void a_replaced_attempt_changes_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    kit_host(&kit, HOST_RECORD, 1);
    kit.attempt = 1;
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_ACCEPTED, 1);
    kit.attempt = 2;
    kit_host(&kit, HOST_ACCEPTED, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: content does not tell which of equal payloads was stored, and an unfinished run owes no
 * account. */
static void skipped_and_stored_is_judged_where_it_can_be(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
    kit_init(&kit, &oracle_accounting);
    kit.log.equal_payloads = true;
    kit.records[1].traits = RECORD_SKIPPED;
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void the_last_record_is_judged_at_the_end(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.records[KIT_RECORDS - 1].traits = RECORD_SKIPPED;
    kit_host(&kit, HOST_RECORD, KIT_RECORDS);
    kit_host(&kit, HOST_SKIPPED, KIT_RECORDS);
    kit_deliver(&kit, KIT_RECORDS, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_accounting,
          TEST(every_lawful_outcome_is_fine),
          TEST(a_second_outcome_is_a_violation),
          TEST(a_drop_without_a_failure_is_a_violation),
          TEST(an_outcome_without_a_hand_over_is_a_violation),
          TEST(handed_over_twice_is_a_violation),
          TEST(a_sound_record_must_not_reach_the_policy),
          TEST(a_failure_that_is_none_of_content_must_not_reach_the_policy),
          TEST(nothing_to_write_must_not_be_accepted),
          TEST(a_value_must_not_be_skipped),
          TEST(a_covered_record_needs_an_outcome),
          TEST(a_covered_record_must_have_been_handed_over),
          TEST(with_the_policy_is_no_outcome),
          TEST(skipped_and_stored_is_a_violation),
          TEST(a_replaced_attempt_is_not_judged),
          TEST(an_extractor_failure_needs_a_record_that_it_fails_on),
          cmocka_unit_test(a_serializer_may_fail_on_what_comes_again),
          TEST(a_failed_record_is_not_accepted_later),
          TEST(a_skipped_record_is_not_dropped_later),
          TEST(a_replaced_attempt_changes_nothing),
          TEST(skipped_and_stored_is_judged_where_it_can_be),
          TEST(the_last_record_is_judged_at_the_end))
