/* staged-silence: what lets a request of an envelope leave.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_staged_silence
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_staged_silence);
    kit->facts.staged = true;
    kit_start(kit);
    kit_accept(kit, 1, 1);
    kit_stage(kit, 1, 21);
}

static void a_granted_envelope_may_be_sent_and_retried(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_answer(&kit, kit_send(&kit, kit_committer, 21));
    kit_answer(&kit, kit_send(&kit, kit_committer, 21));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void a_restored_envelope_may_be_sent(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: mutant m-cs-01. */
static void a_request_before_the_request_list_is_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 21);
}

/* Goal: a request list before the completion grants nothing. */
static void a_request_list_before_the_completion_grants_nothing(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: committables of an aborted checkpoint go with the next one that completes (C3). */
static void a_later_checkpoint_frees_an_earlier_envelope(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.staged[22] = kit.staged[21];
    store_abort(&kit.store, store_begin(&kit.store, 1));
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: the grant is the attempt's own: its successor needs the restore, it itself keeps it. */
static void a_grant_holds_for_its_attempt(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit.attempt = 1; /* the replaced attempt still runs */
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.attempt = 2;
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a replaced attempt that still runs sends the staging it was granted, though another attempt
 * has staged the identity again; what it was never granted, it may not send. */
static void a_zombie_is_judged_by_the_staging_it_knew(void **state)
{
    (void)state;
    for (uint32_t granted = 0; granted < 2; granted++) {
        struct kit kit;
        prepare(&kit);
        kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
        if (granted == 1) {
            kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
        }
        kit_restart(&kit, 0);
        kit_accept(&kit, 1, 1);
        kit_stage(&kit, 1, 21);
        kit.attempt = 1;
        (void)kit_send(&kit, kit_committer, 21);
        assert_int_equal(kit_verdict(&kit), granted == 1 ? VERDICT_OK : VERDICT_VIOLATION);
    }
}

static void an_identity_that_was_never_staged_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_send(&kit, kit_committer, 33);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a readback, and the policy's requests, are no data requests. */
/* Goal: negative control: a request that is of many envelopes has an identity that none of them has. */
static void an_identity_of_its_own_says_nothing_of_envelopes(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.own_identities = true;
    (void)kit_send(&kit, kit_committer, 22);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void other_requests_may_leave_at_any_time(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_send(&kit, kit_committer, 0);
    (void)kit_send(&kit, kit_policy, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_staged_silence,
          TEST(a_granted_envelope_may_be_sent_and_retried),
          TEST(a_restored_envelope_may_be_sent),
          TEST(a_request_before_the_request_list_is_early),
          TEST(a_request_list_before_the_completion_grants_nothing),
          TEST(a_later_checkpoint_frees_an_earlier_envelope),
          TEST(a_grant_holds_for_its_attempt),
          TEST(a_zombie_is_judged_by_the_staging_it_knew),
          TEST(an_identity_that_was_never_staged_is_a_violation),
          TEST(an_identity_of_its_own_says_nothing_of_envelopes),
          TEST(other_requests_may_leave_at_any_time))
