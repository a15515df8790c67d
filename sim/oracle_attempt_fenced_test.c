/* attempt-fenced: close ends sending, and a token ends the past.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_attempt_fenced
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, bool token)
{
    kit_init(kit, &oracle_attempt_fenced);
    kit->facts.fencing_token = token;
    kit_start(kit);
}

static void end_half(struct kit *kit, enum journal_kind kind)
{
    (void)kit_note(kit, (struct journal_entry){.kind = (uint8_t)kind, .lane = kit_committer});
}

static void a_new_attempt_may_send_where_the_old_one_ended(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_answer(&kit, kit_send(&kit, kit_committer, 1));
    end_half(&kit, HOST_CLOSE);
    end_half(&kit, HOST_CLOSED);
    (void)kit_send(&kit, kit_writer, 0);
    kit_restart(&kit, 0);
    (void)kit_send(&kit, kit_committer, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: the end of the successor in its place does not end a replaced attempt that still runs. */
static void a_replaced_attempt_that_runs_on_may_send(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_restart(&kit, 0);
    end_half(&kit, HOST_CLOSE);
    kit.attempt = 1;
    (void)kit_send(&kit, kit_committer, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.attempt = 2;
    (void)kit_send(&kit, kit_committer, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void many_attempts_are_told_apart(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    for (uint32_t attempt = 0; attempt < 70; attempt++) {
        (void)kit_send(&kit, kit_committer, 1);
        end_half(&kit, HOST_CLOSE);
        kit_restart(&kit, 0);
    }
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void a_send_after_the_end_is_a_violation(void **state)
{
    (void)state;
    const enum journal_kind ends[] = {HOST_CLOSE, HOST_CLOSED, HOST_CRASHED};
    for (size_t index = 0; index < ARRAY_COUNT(ends); index++) {
        struct kit kit;
        prepare(&kit, false);
        end_half(&kit, ends[index]);
        assert_int_equal(kit_verdict(&kit), VERDICT_OK);
        (void)kit_send(&kit, kit_committer, 1);
        assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
        assert_int_equal(kit_finding(&kit)->subject, kit_committer);
    }
}

/* Goal: the engine drops the send and leaves a note, which must do. */
static void a_send_that_the_host_drops_counts(void **state)
{
    (void)state;
    const enum contract_rule rules[] = {CONTRACT_SEND_AFTER_CLOSE, CONTRACT_SEND_AFTER_CLOSED};
    for (size_t index = 0; index < ARRAY_COUNT(rules); index++) {
        struct kit kit;
        prepare(&kit, false);
        (void)kit_note(&kit,
                       (struct journal_entry){.kind = HOST_CONTRACT,
                                              .code = (uint8_t)CONTRACT_UNKNOWN_TOKEN,
                                              .lane = kit_committer});
        assert_int_equal(kit_verdict(&kit), VERDICT_OK);
        (void)kit_note(&kit,
                       (struct journal_entry){.kind = HOST_CONTRACT,
                                              .code = (uint8_t)rules[index],
                                              .lane = kit_committer});
        assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    }
}

static enum verdict old_request_lands_after_new_one(bool token)
{
    struct kit kit;
    prepare(&kit, token);
    const uint32_t old = kit_send(&kit, kit_committer, 1);
    kit_restart(&kit, 0);
    kit_effect(&kit, WORLD_CREATED, 1, 1, kit_send(&kit, kit_committer, 1));
    kit_effect(&kit, WORLD_CREATED, 1, 1, old);
    return kit_verdict(&kit);
}

static void a_token_fences_what_was_sent_before(void **state)
{
    (void)state;
    assert_int_equal(old_request_lands_after_new_one(false), VERDICT_OK);
    assert_int_equal(old_request_lands_after_new_one(true), VERDICT_VIOLATION);
}

static void an_old_request_that_lands_first_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    const uint32_t old = kit_send(&kit, kit_committer, 1);
    kit_restart(&kit, 0);
    kit_effect(&kit, WORLD_CREATED, 1, 1, old);
    kit_effect(&kit, WORLD_CREATED, 2, 2, kit_send(&kit, kit_committer, 2));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

TEST_MAIN(oracle_attempt_fenced,
          TEST(a_new_attempt_may_send_where_the_old_one_ended),
          TEST(a_replaced_attempt_that_runs_on_may_send),
          TEST(many_attempts_are_told_apart),
          TEST(a_send_after_the_end_is_a_violation),
          TEST(a_send_that_the_host_drops_counts),
          TEST(a_token_fences_what_was_sent_before),
          TEST(an_old_request_that_lands_first_is_fine))
