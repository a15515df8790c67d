/* ownership: the ways of an envelope, and those that are none.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_ownership
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_ownership);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 2);
    kit_stage(kit, 1, 21);
}

static void expect(const struct kit *kit, const char *words)
{
    assert_int_equal(kit_verdict(kit), VERDICT_VIOLATION);
    assert_non_null(strstr(kit_finding(kit)->message, words));
}

/* Goal: negative control: retry of a commit, crash, restore elsewhere, commit again. */
static void the_whole_way_is_lawful(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_checkpoint(&kit, 1, NULL);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: what no completed checkpoint holds vanishes, and the record is staged anew. */
static void a_rolled_back_envelope_vanishes(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 1);
    kit_stage(&kit, 1, 22);
    kit_checkpoint(&kit, 1, (uint32_t[]){22, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 22);
    kit_envelope(&kit, HOST_FINALISED, 22);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void a_key_may_be_staged_anew_by_another_attempt(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void received_twice_is_in_two_places(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_envelope(&kit, HOST_RECEIVED, 21);
    expect(&kit, "twice");
}

static void received_without_a_staging_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_restart(&kit, 0);
    kit_envelope(&kit, HOST_RECEIVED, 21);
    expect(&kit, "not staged");
}

/* Goal: mutant m-cs-21: writer and committer both restore it. */
static void staged_beside_the_restored_one_is_in_two_places(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_STAGED, 21);
    expect(&kit, "still hold it");
}

static void staged_again_after_its_end_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_envelope(&kit, HOST_STAGED, 21);
    expect(&kit, "again");
}

static void restored_twice_is_in_two_places(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_RESTORED, 21);
    expect(&kit, "restored twice");
}

static void restored_from_elsewhere_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 0, NULL);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    expect(&kit, "not in the restored checkpoint");
}

static void restored_without_any_staging_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_envelope(&kit, HOST_RESTORED, 33);
    expect(&kit, "never staged");
}

/* Goal: an envelope that its checkpoint holds and no subtask restores is lost. */
static void not_restored_is_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_checkpoint(&kit, 1, NULL);
    expect(&kit, "did not restore");
}

static void a_request_list_names_only_what_is_held(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    expect(&kit, "not in the collection");
}

static void finalised_twice_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    expect(&kit, "finalised");
}

static void left_behind_at_the_end_is_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: in an unfinished run envelopes may still be anywhere. */
static void an_unfinished_run_may_hold_envelopes(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    assert_int_equal(kit_fail(&kit, SINK_REASON_SERVICE), VERDICT_OK);
}

/* Goal: two records of one key share a name; their ways cannot be told apart. */
static void two_records_of_one_key_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.keyed = true;
    kit_stage(&kit, 2, 21);
    kit_checkpoint(&kit, 2, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: what a replaced attempt still does to its envelopes is of no timeline. */
static void a_replaced_attempt_owns_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit.attempt = 1;
    kit_stage(&kit, 2, 31);
    kit_envelope(&kit, HOST_STAGED, 21);
    kit_envelope(&kit, HOST_RECEIVED, 21);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 31);
    kit_envelope(&kit, HOST_FINALISED, 31);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit.judge->ledger->held, 1);
    kit.attempt = 2;
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void received_without_any_staging_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_envelope(&kit, HOST_RECEIVED, 33);
    expect(&kit, "not staged");
}

/* Goal: a checkpoint that lists an envelope twice still restores it once. */
static void listed_twice_is_restored_once(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_envelope(&kit, HOST_RESTORED, 21);
    expect(&kit, "restored twice");
}

/* Goal: a shared name is excused for keys only, and for other records only. */
static void an_unkeyed_name_is_not_shared(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_stage(&kit, 2, 21);
    expect(&kit, "still hold it");
    kit_init(&kit, &oracle_ownership);
    kit.facts.keyed = true;
    kit_start(&kit);
    kit_stage(&kit, 1, 21);
    kit_envelope(&kit, HOST_STAGED, 21);
    expect(&kit, "still hold it");
}

/* Goal: of a shared name one envelope is held at a time, so that the end finds nothing left. */
static void a_shared_name_is_held_once(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.keyed = true;
    kit_stage(&kit, 2, 21);
    assert_int_equal(kit.judge->ledger->held, 1);
    kit_envelope(&kit, HOST_FINALISED, 21);
    kit_stage(&kit, 1, 21);
    kit_envelope(&kit, HOST_FINALISED, 21);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

TEST_MAIN(oracle_ownership,
          TEST(the_whole_way_is_lawful),
          TEST(a_rolled_back_envelope_vanishes),
          TEST(a_key_may_be_staged_anew_by_another_attempt),
          TEST(received_twice_is_in_two_places),
          TEST(received_without_a_staging_is_a_violation),
          TEST(staged_beside_the_restored_one_is_in_two_places),
          TEST(staged_again_after_its_end_is_a_violation),
          TEST(restored_twice_is_in_two_places),
          TEST(restored_from_elsewhere_is_a_violation),
          TEST(restored_without_any_staging_is_a_violation),
          TEST(not_restored_is_lost),
          TEST(a_request_list_names_only_what_is_held),
          TEST(finalised_twice_is_a_violation),
          TEST(left_behind_at_the_end_is_lost),
          TEST(an_unfinished_run_may_hold_envelopes),
          TEST(two_records_of_one_key_are_not_judged),
          TEST(a_replaced_attempt_owns_nothing),
          TEST(received_without_any_staging_is_a_violation),
          TEST(listed_twice_is_restored_once),
          TEST(an_unkeyed_name_is_not_shared),
          TEST(a_shared_name_is_held_once))
