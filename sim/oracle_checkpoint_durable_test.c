/* checkpoint-durable: eager and staged durability at the completion, and what is no loss.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_checkpoint_durable
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, bool staged)
{
    kit_init(kit, &oracle_checkpoint_durable);
    kit->facts.staged = staged;
}

/* Goal: an effect before the completion is enough, from any attempt, even if it has gone since. */
static void acknowledged_records_are_durable(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_effect(&kit, WORLD_REMOVED, 0, 11, 0);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 2, 0, 12);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: mutant m-ct-01: a parked retry is left behind, and the effect comes after the completion. */
static void a_record_that_is_stored_later_is_not_durable(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
    assert_int_equal(kit_finding(&kit)->subject_kind, SUBJECT_RECORD);
    kit_deliver(&kit, 2, 0, 12);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

static void skipped_and_dropped_records_are_not_owed(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_SKIPPED, 1);
    kit_host(&kit, HOST_RECORD, 2);
    kit_fail_record(&kit, 2, SINK_REASON_REJECTED);
    kit_host(&kit, HOST_DROPPED, 2);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: with the policy is not taken care of by it. */
static void a_failed_record_that_is_not_dropped_yet_is_owed(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_fail_record(&kit, 1, SINK_REASON_REJECTED);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_record_beyond_the_checkpoint_is_not_owed(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_start(&kit);
    kit_accept(&kit, 1, 3);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: negative control ST-1: a staged sink has no effect yet, and holds the envelope. */
static void an_envelope_in_the_checkpoint_is_durable(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_stage(&kit, 1, 21);
    kit_stage(&kit, 2, 22);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 22, 0});
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void an_envelope_missing_from_the_checkpoint_is_not_durable(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_stage(&kit, 1, 21);
    kit_stage(&kit, 2, 22);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 0});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

/* Goal: an envelope in an older checkpoint only is lost with it; the new one must hold it. */
static void an_older_checkpoint_does_not_make_a_later_one_durable(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 0); /* state is discarded */
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: an envelope may stage several records, and one must for each cut. Method: it is held twice, and the
 * second time nothing was staged for what is covered newly. */
static void an_envelope_of_several_records_holds_those_of_its_cut(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_stage(&kit, 0, 21);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 0});
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_accept(&kit, 3, 3);
    kit_checkpoint(&kit, 3, (uint32_t[]){21, 0});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

/* Goal: equal payloads are counted: the service's content does not say which of them it holds. */
static void equal_payloads_are_counted(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.log.equal_payloads = true;
    kit.records[1].digest = kit.records[0].digest;
    kit_start(&kit);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: of two equal payloads one was skipped, so one effect is enough. */
static void a_skipped_one_of_equal_payload_is_not_owed(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.log.equal_payloads = true;
    kit.records[1].digest = kit.records[0].digest;
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_SKIPPED, 1);
    kit_accept(&kit, 2, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_checkpoint_durable,
          TEST(acknowledged_records_are_durable),
          TEST(a_record_that_is_stored_later_is_not_durable),
          TEST(skipped_and_dropped_records_are_not_owed),
          TEST(a_failed_record_that_is_not_dropped_yet_is_owed),
          TEST(a_record_beyond_the_checkpoint_is_not_owed),
          TEST(an_envelope_in_the_checkpoint_is_durable),
          TEST(an_envelope_missing_from_the_checkpoint_is_not_durable),
          TEST(an_older_checkpoint_does_not_make_a_later_one_durable),
          TEST(an_envelope_of_several_records_holds_those_of_its_cut),
          TEST(equal_payloads_are_counted),
          TEST(a_skipped_one_of_equal_payload_is_not_owed))
