/* order-per-key: who was handed over first is there first.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_order_per_key sinks/base/digest sinks/base/bytes
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

/* Records 1, 3, 5, 7 have one key, 2 and 4 another, 6 and 8 none. */
static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_order_per_key);
    for (uint32_t index = 0; index < KIT_RECORDS; index++) {
        const struct bytes keys[] = {BYTES_LITERAL("odd"), BYTES_LITERAL("even")};
        if (index % 2 == 0 || index < 4) {
            kit->records[index].record.key = keys[index % 2];
        }
    }
    kit_start(kit);
    kit_accept(kit, 1, KIT_RECORDS);
}

static void in_order_per_key_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const record_id order[] = {2, 1, 3, 8, 6, 5, 4, 7};
    for (size_t index = 0; index < ARRAY_COUNT(order); index++) {
        kit_deliver(&kit, order[index], 0, order[index]);
    }
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void one_that_overtakes_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 3, 0, 3);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_deliver(&kit, 1, 0, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

static void what_comes_again_is_no_first_occurrence(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 1);
    kit_deliver(&kit, 3, 0, 3);
    kit_deliver(&kit, 1, 0, 9);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: each attempt has an order of its own, and what an old one still does is of no order. */
static void attempts_are_judged_apart(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t old = kit_send(&kit, kit_writer, 0);
    kit_deliver(&kit, 3, 0, 3);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, KIT_RECORDS);
    kit_deliver(&kit, 1, 0, 1);
    kit_effect(&kit, WORLD_CREATED, 7, 7, old);
    kit_deliver(&kit, 5, 0, 5);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_deliver(&kit, 3, 0, 4);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void subtasks_are_judged_apart(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    kit_host(&kit, HOST_RECORD, 1);
    (void)kit_note(
        &kit, (struct journal_entry){.kind = HOST_RECORD, .lane = kit_writer + 1, .record = 3});
    kit_deliver(&kit, 3, 0, 3);
    kit_deliver(&kit, 1, 0, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_order_per_key,
          TEST(in_order_per_key_is_fine),
          TEST(one_that_overtakes_is_a_violation),
          TEST(what_comes_again_is_no_first_occurrence),
          TEST(attempts_are_judged_apart),
          TEST(subtasks_are_judged_apart))
