/* refused: nothing but readings, and then an end.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_refused sinks/sink
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define READ 6

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_refused);
    kit->facts.control_methods = UINT64_C(1) << READ;
    kit->facts.stop_reasons = UINT64_C(1) << SINK_REASON_CONFIG;
    kit_start(kit);
}

static void send_to(struct kit *kit, uint16_t service, uint8_t method)
{
    kit->requests++;
    (void)kit_note(kit,
                   (struct journal_entry){.kind = WIRE_ISSUED,
                                          .code = method,
                                          .lane = kit_committer,
                                          .service = service,
                                          .request = kit->requests});
}

static void readings_and_a_declared_end_are_a_refusal(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    send_to(&kit, KIT_TARGET, READ);
    kit_restart(&kit, 0);
    send_to(&kit, KIT_TARGET, READ);
    send_to(&kit, KIT_LETTERS, 1);
    assert_int_equal(kit_fail(&kit, SINK_REASON_CONFIG), VERDICT_OK);
}

static void a_data_request_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    send_to(&kit, KIT_TARGET, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_committer);
}

/* Goal: whatever the sink calls is judged, and readings are those of the target only. Method: a second
 * service of the sink's, and the method's number there. */
static void a_request_to_a_further_service_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.sink_services |= UINT32_C(1) << KIT_FURTHER;
    send_to(&kit, KIT_TARGET, READ);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    send_to(&kit, KIT_FURTHER, READ);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void an_effect_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_effect(&kit, WORLD_CREATED, 1, 1, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_job_that_goes_on_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_MEMORY), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_refused,
          TEST(readings_and_a_declared_end_are_a_refusal),
          TEST(a_data_request_is_a_violation),
          TEST(a_request_to_a_further_service_is_a_violation),
          TEST(an_effect_is_a_violation),
          TEST(a_job_that_goes_on_is_a_violation))
