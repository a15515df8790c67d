/* quiescent-at-barrier: open requests when an eager writer answers.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_quiescent_at_barrier
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_quiescent_at_barrier);
    kit_start(kit);
}

static void answer_barrier(struct kit *kit)
{
    (void)kit_note(
        kit,
        (struct journal_entry){.kind = HOST_BARRIER_DONE, .lane = kit_writer, .checkpoint = 1});
}

/* Goal: every way for a request to end. */
static void ended_requests_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const enum journal_kind ends[] = {WIRE_ANSWERED, WIRE_CANCELLED, WIRE_DROPPED, WIRE_EXPIRED};
    for (size_t index = 0; index < ARRAY_COUNT(ends); index++) {
        const uint32_t request = kit_send(&kit, kit_writer, 0);
        (void)kit_note(&kit,
                       (struct journal_entry){.kind = (uint8_t)ends[index], .request = request});
        kit_answer(&kit, request); /* said twice, counted once */
    }
    answer_barrier(&kit);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void an_open_request_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_answer(&kit, kit_send(&kit, kit_writer, 0));
    (void)kit_send(&kit, kit_writer, 0);
    answer_barrier(&kit);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
}

/* Goal: mutant m-ct-11: the policy still writes letters. */
static void an_open_request_of_the_policy_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    (void)kit_send(&kit, kit_policy, 0);
    answer_barrier(&kit);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: requests of a lost attempt, and of another writer, are not this writer's. */
static void requests_of_others_are_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    const uint32_t lost = kit_send(&kit, kit_writer, 0);
    (void)kit_send(&kit, (lane)(kit_writer + 1), 0);
    kit_restart(&kit, 0);
    answer_barrier(&kit);
    kit_answer(&kit, kit_send(&kit, kit_writer, 0));
    kit_answer(&kit, lost);
    answer_barrier(&kit);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void staged_sinks_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit.facts.staged = true;
    (void)kit_send(&kit, kit_writer, 0);
    answer_barrier(&kit);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_quiescent_at_barrier,
          TEST(ended_requests_are_fine),
          TEST(an_open_request_is_a_violation),
          TEST(an_open_request_of_the_policy_is_a_violation),
          TEST(requests_of_others_are_fine),
          TEST(staged_sinks_are_not_judged))
