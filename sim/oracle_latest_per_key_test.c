/* latest-per-key: each key ends as the last of its records left it.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_latest_per_key sinks/base/digest sinks/base/bytes
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define ODD  11u /* resources */
#define EVEN 12u

/* Records 1, 3, 5, 7 have one key, the others another. */
static void prepare(struct kit *kit, enum sink_change last_odd)
{
    const struct bytes keys[] = {BYTES_LITERAL("odd"), BYTES_LITERAL("even")};
    kit_init(kit, &oracle_latest_per_key);
    for (uint32_t index = 0; index < KIT_RECORDS; index++) {
        kit->records[index].record.key = keys[index % 2];
        kit->records[index].record.change = SINK_UPDATE_AFTER;
    }
    kit->records[6].record.change = (uint8_t)last_odd;
}

static void begin(struct kit *kit)
{
    kit_start(kit);
    kit_accept(kit, 1, KIT_RECORDS);
    kit_effect(kit, WORLD_CREATED, 2, EVEN, 0);
    kit_effect(kit, WORLD_REPLACED, 8, EVEN, 0);
}

static void the_last_value_is_fine_whatever_came_before(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_UPDATE_AFTER);
    begin(&kit);
    kit_effect(&kit, WORLD_CREATED, 5, ODD, 0);
    kit_effect(&kit, WORLD_REPLACED, 1, ODD, 0);
    kit_effect(&kit, WORLD_REPLACED, 7, ODD, 0);
    kit_effect(&kit, WORLD_REPLACED, 7, ODD, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void an_older_value_at_the_end_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_UPDATE_AFTER);
    begin(&kit);
    kit_effect(&kit, WORLD_CREATED, 7, ODD, 0);
    kit_effect(&kit, WORLD_REPLACED, 5, ODD, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 7);
}

static void a_key_without_a_value_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_UPDATE_AFTER);
    begin(&kit);
    kit_effect(&kit, WORLD_CREATED, 7, ODD, 0);
    kit_effect(&kit, WORLD_REMOVED, 0, ODD, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: a deletion leaves nothing. Method: it does, and then the value is back. */
static void a_deleted_key_must_stay_away(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_DELETE);
    begin(&kit);
    kit_effect(&kit, WORLD_CREATED, 5, ODD, 0);
    kit_effect(&kit, WORLD_REMOVED, 0, ODD, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
    prepare(&kit, SINK_DELETE);
    begin(&kit);
    kit_effect(&kit, WORLD_CREATED, 5, ODD, 0);
    kit_effect(&kit, WORLD_REMOVED, 0, ODD, 0);
    kit_effect(&kit, WORLD_CREATED, 5, ODD, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 7);
}

/* Goal: what the policy has, and what a row was before, is no last change. */
static void the_last_that_counts_is_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_UPDATE_BEFORE);
    kit_start(&kit);
    kit_accept(&kit, 1, KIT_RECORDS - 1);
    kit_host(&kit, HOST_RECORD, 8);
    kit_fail_record(&kit, 8, SINK_REASON_REJECTED);
    kit_effect(&kit, WORLD_CREATED, 6, EVEN, 0);
    kit_effect(&kit, WORLD_CREATED, 5, ODD, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: without an end there is nothing to judge, nor an order over splits. */
static void what_has_no_end_or_no_order_is_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, SINK_UPDATE_AFTER);
    begin(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_STUCK), VERDICT_OK);
    prepare(&kit, SINK_UPDATE_AFTER);
    kit.records[6].record.split = 1;
    begin(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

TEST_MAIN(oracle_latest_per_key,
          TEST(the_last_value_is_fine_whatever_came_before),
          TEST(an_older_value_at_the_end_is_a_violation),
          TEST(a_key_without_a_value_is_a_violation),
          TEST(a_deleted_key_must_stay_away),
          TEST(the_last_that_counts_is_judged),
          TEST(what_has_no_end_or_no_order_is_not_judged))
