/* idempotent-commit: an identity has its effect once.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_excuse sim/oracle_idempotent_commit
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_idempotent_commit);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 2);
    kit_stage(kit, 1, 21);
    kit_stage(kit, 2, 22);
}

static void a_repetition_without_effect_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_answer(&kit, kit_send(&kit, kit_committer, 21));
    kit_deliver(&kit, 2, 22, 12);
    kit_restart(&kit, 0);
    kit_answer(&kit, kit_send(&kit, kit_committer, 21));
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_second_effect_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_restart(&kit, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_CREATED, 1, 11, kit_send(&kit, kit_committer, 21));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 21);
}

static void a_replacement_counts_as_well(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 21, 11);
    kit_effect(&kit, WORLD_REPLACED, 1, 11, kit_send(&kit, kit_committer, 21));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void requests_without_identity_are_new_ones(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 12);
    kit_effect(&kit, WORLD_CREATED, 1, 13, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: a commit of many records has one effect. Method: two records by one request; then each again, by
 * another. */
static void a_commit_of_many_records_is_one_effect(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t first = kit_send(&kit, kit_committer, 21);
    kit_effect(&kit, WORLD_CREATED, 1, 11, first);
    kit_effect(&kit, WORLD_CREATED, 2, 12, first);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_CREATED, 1, 13, kit_send(&kit, kit_committer, 21));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_idempotent_commit,
          TEST(a_commit_of_many_records_is_one_effect),
          TEST(a_repetition_without_effect_is_fine),
          TEST(a_second_effect_is_a_violation),
          TEST(a_replacement_counts_as_well),
          TEST(requests_without_identity_are_new_ones))
