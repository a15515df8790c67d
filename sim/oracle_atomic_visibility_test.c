/* atomic-visibility: one event shows a commit or none of it.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_atomic_visibility
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_atomic_visibility);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 4);
    (void)kit_checkpoint(kit, 2, NULL);
    (void)kit_checkpoint(kit, 4, NULL);
}

/* A part becomes visible in an event of its own. */
static void show(struct kit *kit, record_id record)
{
    kit->sched.stepped++;
    kit_effect(kit, WORLD_CREATED, record, record, 0);
}

static void parts_that_come_in_one_event_are_together(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_effect(&kit, WORLD_CREATED, 1, 1, 0);
    kit_effect(&kit, WORLD_CREATED, 2, 2, 0);
    kit_wait(&kit, SECONDS(1));
    kit.sched.stepped++;
    kit_effect(&kit, WORLD_CREATED, 3, 3, 0);
    kit_effect(&kit, WORLD_CREATED, 4, 4, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: no time has to pass between the two for a reader to come between them. */
static void a_part_that_comes_later_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    show(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    show(&kit, 2);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 1);
    assert_int_equal(kit_finding(&kit)->subject_kind, SUBJECT_CHECKPOINT);
}

static void two_commits_are_two(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    show(&kit, 1);
    show(&kit, 3);
    assert_int_equal(kit_end(&kit, RUN_END_FAILED), VERDICT_OK);
}

static void a_part_that_is_seen_again_is_no_other(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    show(&kit, 1);
    show(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void what_no_checkpoint_covers_is_no_part(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    show(&kit, 5);
    show(&kit, 6);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_atomic_visibility,
          TEST(parts_that_come_in_one_event_are_together),
          TEST(a_part_that_comes_later_is_a_violation),
          TEST(two_commits_are_two),
          TEST(a_part_that_is_seen_again_is_no_other),
          TEST(what_no_checkpoint_covers_is_no_part))
