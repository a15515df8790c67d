/* end-to-end: the consumer has each record once, or something is broken.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_once sim/oracle_excuse sim/oracle_end_to_end sinks/sink
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, uint8_t reader)
{
    kit_init(kit, &oracle_end_to_end);
    kit->facts.reader_class = reader;
    kit->facts.consumer_class = reader;
    kit->facts.stop_reasons = UINT64_C(1) << SINK_REASON_EXPIRED;
    kit_start(kit);
    kit_accept(kit, 1, KIT_RECORDS);
}

static void deliver_all_but(struct kit *kit, record_id missing)
{
    for (record_id record = 1; record <= KIT_RECORDS; record++) {
        if (record != missing) {
            kit_deliver(kit, record, 0, record);
            kit_effect(kit, WORLD_VISIBLE, record, record, 0);
        }
    }
}

static void each_once_is_fine_for_every_reader(void **state)
{
    (void)state;
    struct kit kit;
    for (uint8_t reader = 0; reader < 2; reader++) {
        prepare(&kit, reader);
        deliver_all_but(&kit, 0);
        assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
    }
}

static void an_absent_record_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 0);
    deliver_all_but(&kit, 3);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

/* Goal: a policy that took care of a record is no excuse. */
static void a_dropped_record_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 0);
    kit_fail_record(&kit, 3, SINK_REASON_REJECTED);
    kit_host(&kit, HOST_DROPPED, 3);
    deliver_all_but(&kit, 3);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

static void a_skipped_record_is_not_wanted(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 0);
    kit.records[2].traits = RECORD_SKIPPED;
    deliver_all_but(&kit, 3);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_second_sight_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 1);
    deliver_all_but(&kit, 0);
    kit_effect(&kit, WORLD_VISIBLE, 5, 5, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 5);
}

static void what_is_withdrawn_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 1);
    deliver_all_but(&kit, 0);
    kit_effect(&kit, WORLD_HIDDEN, 5, 5, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: what the write oracles look at may be sound while the consumer sees a record twice, or never. */
static void a_consumer_may_be_another_than_the_reader(void **state)
{
    (void)state;
    for (uint32_t sights = 0; sights <= 2; sights++) {
        struct kit kit;
        kit_init(&kit, &oracle_end_to_end);
        kit.facts.consumer_class = 1;
        kit_start(&kit);
        kit_accept(&kit, 1, KIT_RECORDS);
        for (record_id record = 1; record <= KIT_RECORDS; record++) {
            kit_deliver(&kit, record, 0, record);
            kit.facts.reader_class = 1; /* the kit writes its class into what is seen */
            for (uint32_t sight = 0; sight < (record == 5 ? sights : 1); sight++) {
                kit_effect(&kit, WORLD_VISIBLE, record, record, 0);
            }
            kit.facts.reader_class = 0;
        }
        assert_int_equal(kit_end(&kit, RUN_END_COMPLETE),
                         sights == 1 ? VERDICT_OK : VERDICT_VIOLATION);
        assert_int_equal(kit_finding(&kit)->subject, sights == 1 ? 0 : 5);
    }
}

static void a_declared_stop_is_not_the_end(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, 0);
    assert_int_equal(kit_fail(&kit, SINK_REASON_EXPIRED), VERDICT_INCONCLUSIVE);
    prepare(&kit, 0);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_VIOLATION);
    prepare(&kit, 0);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_end_to_end,
          TEST(each_once_is_fine_for_every_reader),
          TEST(an_absent_record_is_a_violation),
          TEST(a_dropped_record_is_a_violation),
          TEST(a_skipped_record_is_not_wanted),
          TEST(a_second_sight_is_a_violation),
          TEST(what_is_withdrawn_is_a_violation),
          TEST(a_consumer_may_be_another_than_the_reader),
          TEST(a_declared_stop_is_not_the_end))
