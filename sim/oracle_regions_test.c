/* Regions before the oracles: what a part of the job restarts is judged in its own attempt, and what
 * the others go on with in theirs; lawful partial restarts are flagged by nobody.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_accounting sim/oracle_attempt_fenced sim/oracle_checkpoint_durable
 * link: sim/oracle_contract sim/oracle_exactly_once_write sim/oracle_once sim/oracle_excuse
 * link: sim/oracle_liveness sim/oracle_no_early_visibility sim/oracle_ownership sinks/sink
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

enum {
    HALF = KIT_RECORDS / 2,
};

static void prepare(struct kit *kit, const struct oracle_type *type, bool staged)
{
    kit_init(kit, type);
    kit_regions(kit);
    kit->facts.staged = staged;
    kit->facts.restarts_after_heal = 1;
    kit_start(kit);
}

/* Both regions stage their first two records, and a checkpoint holds them: envelopes 21, 22 and 25,
 * 26. Then each stages a third one. */
static uint32_t stage_both(struct kit *kit)
{
    for (uint32_t subtask = 0; subtask < 2; subtask++) {
        const record_id first = subtask * HALF + 1;
        kit_speak(kit, subtask);
        kit_accept(kit, first, first + 2);
        kit_stage(kit, first, 20 + first);
        kit_stage(kit, first + 1, 21 + first);
    }
    const uint32_t held[] = {21, 22, 25, 26, 0};
    const uint32_t checkpoint = kit_checkpoint(kit, 2, held);
    for (uint32_t subtask = 0; subtask < 2; subtask++) {
        kit_speak(kit, subtask);
        kit_stage(kit, subtask * HALF + 3, 23 + subtask * HALF);
    }
    return checkpoint;
}

/* The second region goes back to the checkpoint and does again what it did. */
static void restart_second(struct kit *kit, uint32_t checkpoint)
{
    kit_restart_region(kit, 1, checkpoint);
    kit_envelope(kit, HOST_RESTORED, 25);
    kit_envelope(kit, HOST_RESTORED, 26);
    kit_accept(kit, HALF + 3, HALF + 3);
    kit_stage(kit, HALF + 3, 28);
}

static void a_region_rolls_back_its_own_records(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_contract, true);
    const struct ledger *ledger = kit.judge->ledger;
    const uint32_t checkpoint = stage_both(&kit);
    assert_int_equal(ledger->held, 6);
    kit_restart_region(&kit, 1, checkpoint);
    assert_int_equal(ledger->batch_count, 1);
    assert_int_equal(ledger->batch[0], HALF + 3);
    assert_int_equal(ledger->held, 3);
    assert_int_equal(ledger->expected, 2);
    assert_int_equal(ledger->attempt, 2);
    assert_int_equal(ledger->attempts[0], 1);
    assert_int_equal(ledger->attempts[1], 2);
    assert_true(ledger_is_live(ledger, ledger_envelope(ledger, 1)));
    assert_false(ledger_is_live(ledger, ledger_envelope(ledger, HALF + 3)));
    kit_envelope(&kit, HOST_RESTORED, 25);
    kit_envelope(&kit, HOST_RESTORED, 26);
    assert_int_equal(ledger->expected, 0);
    assert_int_equal(ledger->held, 5);
}

static void a_whole_start_ends_all_regions(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_contract, true);
    const struct ledger *ledger = kit.judge->ledger;
    const uint32_t checkpoint = stage_both(&kit);
    restart_second(&kit, checkpoint);
    kit_restart(&kit, checkpoint);
    assert_int_equal(ledger->attempts[0], 3);
    assert_int_equal(ledger->attempts[1], 3);
    assert_int_equal(ledger->started, 3);
    assert_int_equal(ledger->held, 0);
    assert_int_equal(ledger->expected, 4);
    assert_int_equal(ledger->batch_count, 2);
}

static void a_lawful_region_restart_owns_what_it_should(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_ownership, true);
    const uint32_t checkpoint = stage_both(&kit);
    restart_second(&kit, checkpoint);
    const uint32_t held[] = {21, 22, 23, 25, 26, 28, 0};
    (void)kit_checkpoint(&kit, 3, held);
    for (uint32_t at = 0; held[at] != 0; at++) {
        kit_speak(&kit, held[at] > 24 ? 1 : 0);
        kit_envelope(&kit, HOST_COMMIT_REQUEST, held[at]);
        kit_envelope(&kit, HOST_FINALISED, held[at]);
    }
    assert_int_equal(kit.judge->ledger->held, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void what_a_region_does_not_restore_is_lost(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_ownership, true);
    const uint32_t checkpoint = stage_both(&kit);
    kit_restart_region(&kit, 1, checkpoint);
    kit_envelope(&kit, HOST_RESTORED, 25);
    (void)kit_checkpoint(&kit, 2, NULL);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: the collection of a region that goes on is nobody's to restore. */
static void what_a_living_region_holds_is_not_restored(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_ownership, true);
    const uint32_t checkpoint = stage_both(&kit);
    kit_restart_region(&kit, 1, checkpoint);
    kit_envelope(&kit, HOST_RESTORED, 21);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: both attempts report in their own right, and a zombie of the region in none. */
static void each_region_accounts_for_its_records(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_accounting, true);
    const uint32_t checkpoint = stage_both(&kit);
    restart_second(&kit, checkpoint);
    kit_speak(&kit, 0);
    kit_accept(&kit, 4, 4);
    kit.subtask = 1;
    kit.attempt = 1;
    kit_host(&kit, HOST_RECORD, HALF + 3); /* a zombie's */
    kit_host(&kit, HOST_SKIPPED, HALF + 3);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    assert_int_equal(ledger_record(kit.judge->ledger, HALF + 3)->outcome, OUTCOME_ACCEPTED);
    kit_speak(&kit, 1);
    kit_host(&kit, HOST_RECORD, HALF + 3);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static uint32_t send(struct kit *kit, uint32_t subtask)
{
    kit_speak(kit, subtask);
    return kit_send(kit, (lane)(kit_committer + subtask), 0);
}

/* Goal: a token fences the attempts of one region among themselves, and all of them at a start of the
 * whole job. */
static void a_token_fences_within_a_region(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_attempt_fenced);
    kit_regions(&kit);
    kit.facts.fencing_token = true;
    kit_start(&kit);
    const uint32_t old = send(&kit, 1);
    kit_restart_region(&kit, 1, 0);
    kit_effect(&kit, WORLD_CREATED, HALF + 1, 11, send(&kit, 1));
    kit_effect(&kit, WORLD_CREATED, 1, 12, send(&kit, 0));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_CREATED, HALF + 1, 13, old);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_token_of_a_new_start_fences_all_regions(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_attempt_fenced);
    kit_regions(&kit);
    kit.facts.fencing_token = true;
    kit_start(&kit);
    const uint32_t old = send(&kit, 0);
    kit_restart(&kit, 0);
    kit.attempts[0] = kit.attempt;
    kit.attempts[1] = kit.attempt;
    kit_effect(&kit, WORLD_CREATED, HALF + 1, 11, send(&kit, 1));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_CREATED, 1, 12, old);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void the_next_attempt_of_a_region_may_send(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_attempt_fenced, false);
    kit_speak(&kit, 1);
    (void)kit_note(&kit,
                   (struct journal_entry){.kind = HOST_CLOSE, .lane = (lane)(kit_committer + 1)});
    kit_restart_region(&kit, 1, 0);
    (void)send(&kit, 1);
    (void)send(&kit, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.attempts[1] = 1;
    (void)send(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: an eager effect is early only where its own region has lost its attempt. */
static void only_the_lost_region_was_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_no_early_visibility, false);
    kit_speak(&kit, 0);
    kit_accept(&kit, 1, 1);
    const uint32_t going_on = send(&kit, 0);
    kit_speak(&kit, 1);
    kit_accept(&kit, HALF + 1, HALF + 1);
    const uint32_t lost = send(&kit, 1);
    kit_restart_region(&kit, 1, 0);
    kit_effect(&kit, WORLD_CREATED, 1, 11, going_on);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    (void)kit_note(&kit,
                   (struct journal_entry){.kind = WORLD_CREATED,
                                          .lane = LANE_SERVICE << 11,
                                          .attempt = 1,
                                          .record = HALF + 1,
                                          .request = lost,
                                          .resource = 12,
                                          .generation = 1});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, HALF + 1);
}

/* Goal: a record of a restarted region is written once, and one that was written twice is seen. */
static void a_write_of_two_attempts_is_a_second_one(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_exactly_once_write, true);
    const uint32_t checkpoint = stage_both(&kit);
    restart_second(&kit, checkpoint);
    const uint32_t held[] = {21, 22, 23, 25, 26, 28, 0};
    (void)kit_checkpoint(&kit, 3, held);
    for (uint32_t subtask = 0; subtask < 2; subtask++) {
        for (record_id record = subtask * HALF + 1; record <= subtask * HALF + 3; record++) {
            kit_effect(&kit, WORLD_CREATED, record, 40 + record, send(&kit, subtask));
        }
    }
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_effect(&kit, WORLD_CREATED, HALF + 3, 60, send(&kit, 1));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: what a region hands over again must be stored before the next checkpoint, and what another
 * had stored stays so. */
static void a_checkpoint_after_a_region_restart_is_durable(void **state)
{
    (void)state;
    for (uint32_t stored = 0; stored < 2; stored++) {
        struct kit kit;
        prepare(&kit, &oracle_checkpoint_durable, false);
        kit_speak(&kit, 0);
        kit_accept(&kit, 1, 1);
        kit_effect(&kit, WORLD_CREATED, 1, 11, send(&kit, 0));
        kit_speak(&kit, 1);
        kit_accept(&kit, HALF + 1, HALF + 1);
        kit_restart_region(&kit, 1, 0);
        kit_accept(&kit, HALF + 1, HALF + 1);
        if (stored == 1) {
            kit_effect(&kit, WORLD_CREATED, HALF + 1, 12, send(&kit, 1));
        }
        (void)kit_checkpoint(&kit, 1, NULL);
        assert_int_equal(kit_verdict(&kit), stored == 1 ? VERDICT_OK : VERDICT_VIOLATION);
    }
}

static void stop_region(struct kit *kit, enum stop_cause cause)
{
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_REGION_STOPPED,
                                          .code = (uint8_t)cause,
                                          .lane = lane_make(LANE_TASK, 1)});
    kit_restart_region(kit, 1, 0);
}

/* Goal: regions that the sink stops after the heal count among its restarts; crashes do not. */
static void regions_that_fail_after_the_heal_are_restarts(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, &oracle_liveness, true);
    stop_region(&kit, STOP_CAUSE_SINK);
    stop_region(&kit, STOP_CAUSE_SINK);
    kit_host(&kit, HOST_HEAL, 0);
    judge_heal(kit.judge);
    stop_region(&kit, STOP_CAUSE_CRASH);
    stop_region(&kit, STOP_CAUSE_SINK);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    stop_region(&kit, STOP_CAUSE_SINK);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

TEST_MAIN(oracle_regions,
          TEST(a_region_rolls_back_its_own_records),
          TEST(a_whole_start_ends_all_regions),
          TEST(a_lawful_region_restart_owns_what_it_should),
          TEST(what_a_region_does_not_restore_is_lost),
          TEST(what_a_living_region_holds_is_not_restored),
          TEST(each_region_accounts_for_its_records),
          TEST(a_token_fences_within_a_region),
          TEST(a_token_of_a_new_start_fences_all_regions),
          TEST(the_next_attempt_of_a_region_may_send),
          TEST(only_the_lost_region_was_early),
          TEST(a_write_of_two_attempts_is_a_second_one),
          TEST(a_checkpoint_after_a_region_restart_is_durable),
          TEST(regions_that_fail_after_the_heal_are_restarts))
