/* deadline-respected: by the sender's clock, by the true one, over pauses.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_deadline_respected
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

/* Window 100 s, allowance 10 s, request timeout 5 s; an envelope is staged and granted at 0 s. */
static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_deadline_respected);
    kit->facts.staged = true;
    kit->facts.expiry_fails = true;
    kit->facts.recovery_window = SECONDS(100);
    kit->facts.clock_allowance = SECONDS(10);
    kit->facts.request_timeout = SECONDS(5);
    kit_start(kit);
    kit_accept(kit, 1, 1);
    kit_stage(kit, 1, 21);
    (void)kit_checkpoint(kit, 1, (uint32_t[]){21, 0});
    kit_envelope(kit, HOST_COMMIT_REQUEST, 21);
}

/* Send with the sender's clock off by skew, and an absolute request deadline. */
static void send_with(struct kit *kit, int64_t skew, nanos deadline)
{
    kit->requests++;
    (void)kit_note(kit,
                   (struct journal_entry){
                       .kind = WIRE_ISSUED,
                       .lane = kit_committer,
                       .request = kit->requests,
                       .identity = 21,
                       .value = 147,
                       .a = deadline,
                       .b = (uint64_t)((int64_t)(CLOCK_BASE + kit->sched.now) + skew),
                   });
}

static void before_the_deadline_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(100) - 1);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void at_the_deadline_is_too_late(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(100));
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 21);
}

/* Goal: negative control: a clock that is behind within the allowance. */
static void a_slow_clock_within_the_allowance_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(110) - 1);
    send_with(&kit, -(int64_t)SECONDS(10), kit.sched.now + SECONDS(5));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void a_slow_clock_beyond_the_allowance_is_too_late(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(110));
    send_with(&kit, -(int64_t)SECONDS(11), kit.sched.now + SECONDS(5));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: mutant m-cs-04: what counts is the staging that the journal saw; a refreshed deadline in the
 * state would need other bytes, and a looser one in the sink does not show here at all. */
static void a_restore_does_not_refresh_the_origin(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(105));
    kit_restart(&kit, 1);
    kit_envelope(&kit, HOST_RESTORED, 21);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, 21);
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: mutant m-cs-07: checked in time, paused, and the relative deadline starts after the pause. */
static void a_pause_with_a_relative_deadline_is_too_late(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    kit_inject(&kit, FAULT_PAUSE, SECONDS(60));
    send_with(&kit, 0, kit.sched.now + SECONDS(65));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: negative control: the client drops it, for its absolute deadline passed during the pause. */
static void a_pause_past_an_absolute_deadline_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    kit_inject(&kit, FAULT_PAUSE, SECONDS(60));
    send_with(&kit, 0, kit.sched.now + SECONDS(5));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: a request whose own deadline lies beyond retention may land after it, pause or not. */
static void a_request_that_may_land_too_late_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    send_with(&kit, 0, kit.sched.now + SECONDS(60));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: create-anyway is another claim's. */
static void a_policy_that_sends_anyway_is_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.expiry_fails = false;
    kit_wait(&kit, SECONDS(500));
    (void)kit_send(&kit, kit_committer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void requests_without_an_envelope_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(500));
    (void)kit_send(&kit, kit_committer, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: the true bound of the check stands by itself: a request without a deadline of its own. */
static void the_true_bound_is_exact(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(110) - 1);
    send_with(&kit, -(int64_t)SECONDS(11), 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_wait(&kit, 1);
    send_with(&kit, -(int64_t)SECONDS(11), 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a pause may add less than the request timeout. */
static void the_bound_of_leaving_is_exact(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    kit_inject(&kit, FAULT_PAUSE, SECONDS(16) - 1);
    send_with(&kit, 0, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_inject(&kit, FAULT_PAUSE, SECONDS(16));
    send_with(&kit, 0, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: negative control: the deadline passes at the very end of the pause. */
static void a_pause_up_to_an_absolute_deadline_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    kit_inject(&kit, FAULT_PAUSE, SECONDS(20));
    send_with(&kit, 0, SECONDS(119));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void the_bound_of_landing_is_exact(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_wait(&kit, SECONDS(99));
    send_with(&kit, 0, SECONDS(115) - 1);
    send_with(&kit, 0, TIME_NEVER);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    send_with(&kit, 0, SECONDS(115));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: what the scenario does not know is not judged: no request timeout, no window. */
static void unknown_bounds_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.request_timeout = 0;
    kit_wait(&kit, SECONDS(99));
    send_with(&kit, 0, SECONDS(500));
    kit.facts.recovery_window = 0;
    kit.facts.clock_allowance = 0;
    send_with(&kit, 0, SECONDS(500));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_deadline_respected,
          TEST(before_the_deadline_is_fine),
          TEST(at_the_deadline_is_too_late),
          TEST(a_slow_clock_within_the_allowance_is_fine),
          TEST(a_slow_clock_beyond_the_allowance_is_too_late),
          TEST(a_restore_does_not_refresh_the_origin),
          TEST(a_pause_with_a_relative_deadline_is_too_late),
          TEST(a_pause_past_an_absolute_deadline_is_fine),
          TEST(a_request_that_may_land_too_late_is_a_violation),
          TEST(a_policy_that_sends_anyway_is_not_judged),
          TEST(requests_without_an_envelope_are_not_judged),
          TEST(the_true_bound_is_exact),
          TEST(the_bound_of_leaving_is_exact),
          TEST(a_pause_up_to_an_absolute_deadline_is_fine),
          TEST(the_bound_of_landing_is_exact),
          TEST(unknown_bounds_are_not_judged))
