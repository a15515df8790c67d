/* at-least-once: losses at the end, silent drops, and what is none.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_at_least_once sim/oracle_excuse
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, bool staged)
{
    kit_init(kit, &oracle_at_least_once);
    kit->facts.staged = staged;
    kit_start(kit);
}

static void covered_records_with_effects_are_kept(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 2, 0, 12);
    kit_deliver(&kit, 2, 0, 13); /* applied again: allowed */
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

static void a_covered_record_without_an_effect_is_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 2, NULL);
    kit_restart(&kit, 1);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

static void a_record_that_nothing_covers_is_not_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_accept(&kit, 1, 2);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: without checkpoints, finished work owes all records (EA-1). */
static void finished_work_owes_every_record(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_accept(&kit, 1, KIT_RECORDS);
    for (record_id record = 1; record < KIT_RECORDS; record++) {
        kit_deliver(&kit, record, 0, 10 + record);
    }
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, KIT_RECORDS);
}

/* Goal: what the policy took care of in the surviving timeline is no loss. */
static void dropped_records_are_not_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_host(&kit, HOST_RECORD, 1);
    kit_fail_record(&kit, 1, SINK_REASON_REJECTED);
    kit_host(&kit, HOST_DROPPED, 1);
    kit_host(&kit, HOST_RECORD, 2);
    kit_host(&kit, HOST_SKIPPED, 2);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: mutants m-cs-08, m-cs-10: finalised without an effect, and the job is green or failed. */
static void a_finalised_envelope_without_an_effect_is_a_loss(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

/* Goal: negative control: an effect of an earlier attempt counts for a finalised envelope. */
static void an_envelope_that_was_created_before_is_kept(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_deliver(&kit, 1, 21, 11);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: a job that fails for good has lost its envelopes, unless the scenario grants the excuse. */
static void a_failed_job_owes_its_envelopes(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit.facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED;
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_VIOLATION);
}

/* Goal: a reader class sees the record, not its creation. */
static void effects_are_those_of_the_reader_class(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.facts.reader_class = 2;
    kit_accept(&kit, 1, 2);
    kit_deliver(&kit, 1, 0, 11);
    kit_effect(&kit, WORLD_VISIBLE, 1, 11, 0);
    kit_deliver(&kit, 2, 0, 12);
    kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

/* Goal: an envelope that was given up before any checkpoint covers its record. */
static void a_finalised_envelope_is_owed_even_if_uncovered(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

static void a_replacement_is_an_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_accept(&kit, 1, 1);
    kit_effect(&kit, WORLD_REPLACED, 1, 11, 0);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
}

/* Goal: what another class sees, or what is visible of nothing, is no effect. */
static void another_class_is_no_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.facts.reader_class = 2;
    kit_accept(&kit, 1, 1);
    (void)kit_note(&kit, (struct journal_entry){.kind = WORLD_VISIBLE, .code = 1, .record = 1});
    (void)kit_note(&kit, (struct journal_entry){.kind = WORLD_VISIBLE, .code = 2, .record = 0});
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_at_least_once,
          TEST(covered_records_with_effects_are_kept),
          TEST(a_covered_record_without_an_effect_is_lost),
          TEST(a_record_that_nothing_covers_is_not_lost),
          TEST(finished_work_owes_every_record),
          TEST(dropped_records_are_not_lost),
          TEST(a_finalised_envelope_without_an_effect_is_a_loss),
          TEST(an_envelope_that_was_created_before_is_kept),
          TEST(a_failed_job_owes_its_envelopes),
          TEST(effects_are_those_of_the_reader_class),
          TEST(a_finalised_envelope_is_owed_even_if_uncovered),
          TEST(a_replacement_is_an_effect),
          TEST(another_class_is_no_effect))
