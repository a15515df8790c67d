/* identity-stable: names and bytes over retries, restores and replays.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_identity_stable
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, bool staged)
{
    kit_init(kit, &oracle_identity_stable);
    kit->facts.staged = staged;
    kit_start(kit);
    kit_accept(kit, 1, 2);
}

static void prepare_staged(struct kit *kit)
{
    prepare(kit, true);
    kit_stage(kit, 1, 21);
    (void)kit_checkpoint(kit, 1, (uint32_t[]){21, 0});
}

static void the_same_name_and_bytes_over_a_restore_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: negative control: the staging was rolled back, a new random name is right. */
static void a_replayed_record_may_get_a_new_identity(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_stage(&kit, 1, 21);
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 22);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: negative control: the same key, staged at another time, has other bytes; both may be
 * restored, each from its own checkpoint. */
static void a_key_may_be_staged_with_another_origin(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit.facts.keyed = true;
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    const struct stored_request first = kit.staged[21];
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 21);
    kit_restart(&kit, 1);
    kit.staged[21] = first;
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: mutant m-cs-03. */
static void a_request_under_a_new_identity_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    (void)kit_send(&kit, kit_committer, 33);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 33);
}

/* Goal: an identity of a request's own needs no staging, and has its bytes for life all the same. Method: the
 * same in another attempt, then others. */
static void an_identity_of_its_own_keeps_its_bytes(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit.facts.own_identities = true;
    (void)kit_send(&kit, kit_committer, 33);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    (void)kit_send(&kit, kit_committer, 33);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    (void)kit_note(&kit,
                   (struct journal_entry){
                       .kind = WIRE_ISSUED, .lane = kit_committer, .request = 9, .identity = 33});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void other_bytes_in_a_request_are_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    (void)kit_send(&kit, kit_committer, 21);
    (void)kit_note(&kit,
                   (struct journal_entry){
                       .kind = WIRE_ISSUED, .lane = kit_committer, .request = 9, .identity = 21});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void other_bytes_in_a_request_list_are_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit.staged[21].value++;
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void other_bytes_at_a_restore_are_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit_restart(&kit, 1);
    kit.staged[21].value++;
    kit_envelope(&kit, HOST_RESTORED, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void an_identity_made_at_the_restore_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 34);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_record_is_not_renamed_while_its_envelope_lives(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_stage(&kit, 1, 22);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a key's name does not change, not even after a rollback (m-cs-28). */
static void a_key_has_one_name(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit.facts.keyed = true;
    kit_stage(&kit, 1, 21);
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 22);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_scenario_may_allow_changes(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit.facts.keyed = true;
    kit.facts.identity_changes_allowed = true;
    kit_stage(&kit, 1, 21);
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 22);
    kit_deliver(&kit, 1, 21, 11);
    kit_deliver(&kit, 1, 22, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: mutant m-ct-02: an eager retry under another name, seen by what the service made of it. */
static void a_keyed_record_is_created_under_one_name(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.facts.keyed = true;
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_deliver(&kit, 1, 0, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void an_unnamed_record_may_be_created_under_two_names(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_deliver(&kit, 1, 0, 11);
    kit_deliver(&kit, 1, 0, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: two records of one key share a name; whose bytes come back cannot be told. */
static void bytes_of_a_shared_key_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit.facts.keyed = true;
    kit_stage(&kit, 1, 21);
    const struct stored_request first = kit.staged[21];
    kit_stage(&kit, 2, 21);
    kit.staged[21] = first;
    kit.staged[21].value++;
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: neither equal payloads nor another service's resources tell anything of a record's name. */
static void names_are_judged_where_they_tell_something(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit.facts.keyed = true;
    kit_deliver(&kit, 1, 0, 11);
    kit_letter(&kit, 1);
    kit_effect(&kit, WORLD_CREATED, 0, 12, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.log.equal_payloads = true;
    kit_deliver(&kit, 1, 0, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: a restore brings back the older envelope of a record, not the latest one. */
static void a_restore_names_the_envelope_that_lives(void **state)
{
    (void)state;
    struct kit kit;
    prepare_staged(&kit);
    kit_restart(&kit, 0);
    kit_stage(&kit, 1, 22);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_stage(&kit, 1, 23);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_identity_stable,
          TEST(the_same_name_and_bytes_over_a_restore_are_fine),
          TEST(a_replayed_record_may_get_a_new_identity),
          TEST(a_key_may_be_staged_with_another_origin),
          TEST(a_request_under_a_new_identity_is_a_violation),
          TEST(an_identity_of_its_own_keeps_its_bytes),
          TEST(other_bytes_in_a_request_are_a_violation),
          TEST(other_bytes_in_a_request_list_are_a_violation),
          TEST(other_bytes_at_a_restore_are_a_violation),
          TEST(an_identity_made_at_the_restore_is_a_violation),
          TEST(a_record_is_not_renamed_while_its_envelope_lives),
          TEST(a_key_has_one_name),
          TEST(a_scenario_may_allow_changes),
          TEST(a_keyed_record_is_created_under_one_name),
          TEST(an_unnamed_record_may_be_created_under_two_names),
          TEST(bytes_of_a_shared_key_are_not_judged),
          TEST(names_are_judged_where_they_tell_something),
          TEST(a_restore_names_the_envelope_that_lives))
