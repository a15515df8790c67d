/* no-leak: the account of resources, and of memory.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_no_leak
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_no_leak);
    kit->facts.resources_live_max = 1;
    kit_start(kit);
}

/* Something happens to a resource without a record's content. */
static void note(struct kit *kit, enum journal_kind kind, uint32_t resource, bool by_sink)
{
    (void)kit_note(kit,
                   (struct journal_entry){
                       .kind = (uint8_t)kind,
                       .lane = LANE_SERVICE << 11,
                       .service = KIT_TARGET,
                       .resource = resource,
                       .request = by_sink ? kit_send(kit, kit_writer, 0) : 0,
                   });
}

static void created_is_live_and_removed(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    note(&kit, WORLD_CREATED, 1, true);
    note(&kit, WORLD_CREATED, 2, true);
    note(&kit, WORLD_CREATED, 3, true);
    note(&kit, WORLD_REMOVED, 1, true);
    note(&kit, WORLD_EXPIRED, 2, false);
    note(&kit, WORLD_EXPIRED, 2, false);
    note(&kit, WORLD_CREATED, 2, true);
    note(&kit, WORLD_REMOVED, 2, true);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void one_alive_too_many_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    note(&kit, WORLD_CREATED, 1, true);
    note(&kit, WORLD_CREATED, 2, true);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

static void created_twice_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    note(&kit, WORLD_CREATED, 1, true);
    note(&kit, WORLD_CREATED, 1, true);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

/* Goal: where nothing can be removed, each attempt of a half makes so many and no more. Method: one of
 * whose making it never hears, one per attempt, and then a second one. */
static void one_made_too_many_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_no_leak);
    kit.facts.resources_made_max = 1;
    kit_start(&kit);
    note(&kit, WORLD_CREATED, 1, true);
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        note(&kit, WORLD_CREATED, 1 + attempt, true);
        kit_answer(&kit, kit.requests);
        kit_restart(&kit, 0);
    }
    note(&kit, WORLD_CREATED, 4, true);
    kit_answer(&kit, kit.requests);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    note(&kit, WORLD_CREATED, 5, true);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_answer(&kit, kit.requests);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

static void data_and_what_others_make_are_not_counted(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 1);
    kit_deliver(&kit, 2, 0, 2);
    note(&kit, WORLD_CREATED, 3, false);
    note(&kit, WORLD_CREATED, 4, false);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_failed_job_may_leave_some(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    note(&kit, WORLD_CREATED, 1, true);
    note(&kit, WORLD_CREATED, 2, true);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_OK);
}

static void memory_that_is_kept_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_note(&kit,
                   (struct journal_entry){
                       .kind = HOST_CONTRACT, .code = CONTRACT_LEAK, .lane = kit_writer, .a = 40});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

TEST_MAIN(oracle_no_leak,
          TEST(created_is_live_and_removed),
          TEST(one_alive_too_many_is_a_violation),
          TEST(created_twice_is_a_violation),
          TEST(one_made_too_many_is_a_violation),
          TEST(data_and_what_others_make_are_not_counted),
          TEST(a_failed_job_may_leave_some),
          TEST(memory_that_is_kept_is_a_violation))
