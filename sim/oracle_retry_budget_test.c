/* retry-budget: two accounts per request, and the edges of the pauses.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_retry_budget
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"
#include "sinks/port/port.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_retry_budget);
    kit->facts.retry[0] = (struct judge_retry){MS(100), MS(300), 4};
    kit->facts.retry[1] = (struct judge_retry){MS(500), MS(500), 2};
    kit_start(kit);
}

static void end(struct kit *kit, uint32_t request, enum journal_kind kind, uint8_t code)
{
    (void)kit_note(
        kit,
        (struct journal_entry){
            .kind = (uint8_t)kind, .lane = kit_writer, .request = request, .code = code});
}

/* Send after a pause, and fail. */
static void fail_after(struct kit *kit, nanos pause, uint8_t code)
{
    kit_wait(kit, pause);
    end(kit, kit_send(kit, kit_writer, 21), WIRE_ANSWERED, code);
}

static void as_many_as_configured_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    fail_after(&kit, MS(75), PORT_UNAVAILABLE);
    fail_after(&kit, MS(250), PORT_INTERNAL);
    fail_after(&kit, MS(375), PORT_UNAVAILABLE);
    assert_int_equal(kit_end(&kit, RUN_END_FAILED), VERDICT_OK);
}

static void one_attempt_more_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const nanos pauses[] = {0, MS(100), MS(200), MS(300)};
    for (size_t index = 0; index < ARRAY_COUNT(pauses); index++) {
        fail_after(&kit, pauses[index], PORT_UNAVAILABLE);
    }
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    fail_after(&kit, MS(300), PORT_UNAVAILABLE);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

/* Goal: a NOT_FOUND uses nothing of the other budget, and the other way round. */
static void the_budgets_are_apart(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    fail_after(&kit, MS(100), PORT_NOT_FOUND);
    fail_after(&kit, MS(500), PORT_UNAVAILABLE);
    fail_after(&kit, MS(200), PORT_UNAVAILABLE);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    fail_after(&kit, MS(300), PORT_NOT_FOUND);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    fail_after(&kit, MS(500), PORT_NOT_FOUND);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static enum verdict second_after(nanos pause, bool pause_is_injected)
{
    struct kit kit;
    prepare(&kit);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    if (pause_is_injected) {
        kit_inject(&kit, FAULT_PAUSE, MS(50));
    }
    fail_after(&kit, pause, PORT_UNAVAILABLE);
    return kit_verdict(&kit);
}

static void the_edges_belong_to_the_pause(void **state)
{
    (void)state;
    assert_int_equal(second_after(MS(75) - 1, false), VERDICT_VIOLATION);
    assert_int_equal(second_after(MS(75), false), VERDICT_OK);
    assert_int_equal(second_after(MS(125), false), VERDICT_OK);
    assert_int_equal(second_after(MS(125) + 1, false), VERDICT_VIOLATION);
}

static void who_is_held_up_may_be_late_and_never_early(void **state)
{
    (void)state;
    assert_int_equal(second_after(MS(500), true), VERDICT_OK);
    assert_int_equal(second_after(MS(74), true), VERDICT_VIOLATION);
}

static void a_request_without_answer_is_a_transient_failure(void **state)
{
    (void)state;
    const enum journal_kind ends[] = {WIRE_CANCELLED, WIRE_DROPPED, WIRE_EXPIRED};
    for (size_t index = 0; index < ARRAY_COUNT(ends); index++) {
        struct kit kit;
        prepare(&kit);
        end(&kit, kit_send(&kit, kit_writer, 21), ends[index], 0);
        kit_wait(&kit, MS(10));
        (void)kit_send(&kit, kit_writer, 21);
        assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    }
}

static void a_new_life_and_a_success_start_anew(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    kit_restart(&kit, 0);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    fail_after(&kit, MS(100), PORT_ALREADY_EXISTS);
    fail_after(&kit, 0, PORT_OK);
    fail_after(&kit, 0, PORT_UNAVAILABLE);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void equal_bytes_side_by_side_and_the_policy_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t first = kit_send(&kit, kit_writer, 21);
    const uint32_t second = kit_send(&kit, kit_writer, 21);
    end(&kit, first, WIRE_ANSWERED, PORT_UNAVAILABLE);
    end(&kit, second, WIRE_ANSWERED, PORT_UNAVAILABLE);
    (void)kit_send(&kit, kit_writer, 21);
    end(&kit, kit_send(&kit, kit_policy, 0), WIRE_ANSWERED, PORT_UNAVAILABLE);
    (void)kit_send(&kit, kit_policy, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: what has no identity is told apart by its bytes alone. */
static void a_request_without_an_identity_has_the_same_edges(void **state)
{
    (void)state;
    for (uint32_t late = 0; late < 2; late++) {
        struct kit kit;
        prepare(&kit);
        end(&kit, kit_send(&kit, kit_writer, 0), WIRE_ANSWERED, PORT_UNAVAILABLE);
        kit_wait(&kit, MS(125) + late);
        (void)kit_send(&kit, kit_writer, 0);
        assert_int_equal(kit_verdict(&kit), late == 0 ? VERDICT_OK : VERDICT_VIOLATION);
    }
}

/* Goal: of two ends of a request, as a cancelled one has them, the first one counts. */
static void a_request_fails_once(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t request = kit_send(&kit, kit_writer, 21);
    end(&kit, request, WIRE_CANCELLED, 0);
    kit_wait(&kit, MS(20));
    end(&kit, request, WIRE_DROPPED, 0);
    fail_after(&kit, MS(80), PORT_UNAVAILABLE);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

/* Goal: the second of equal requests is judged by the first one's failure, also where the first one
 * was still open in another life. */
static void another_life_of_an_identity_is_another_account(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t first = kit_send(&kit, kit_writer, 21);
    kit_restart(&kit, 0);
    const uint32_t second = kit_send(&kit, kit_writer, 21);
    end(&kit, first, WIRE_DROPPED, 0);
    end(&kit, second, WIRE_ANSWERED, PORT_UNAVAILABLE);
    kit_wait(&kit, MS(10));
    (void)kit_send(&kit, kit_writer, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_retry_budget,
          TEST(as_many_as_configured_are_fine),
          TEST(one_attempt_more_is_a_violation),
          TEST(the_budgets_are_apart),
          TEST(the_edges_belong_to_the_pause),
          TEST(who_is_held_up_may_be_late_and_never_early),
          TEST(a_request_without_answer_is_a_transient_failure),
          TEST(a_new_life_and_a_success_start_anew),
          TEST(equal_bytes_side_by_side_and_the_policy_are_not_judged),
          TEST(a_request_without_an_identity_has_the_same_edges),
          TEST(a_request_fails_once),
          TEST(another_life_of_an_identity_is_another_account))
