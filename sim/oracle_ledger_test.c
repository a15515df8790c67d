/* The ledger: growth, several splits, rollbacks, lookups, and stretches of faults.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_contract
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

static const struct ledger *start(struct kit *kit)
{
    kit_init(kit, &oracle_contract);
    kit_start(kit);
    return kit->judge->ledger;
}

/* Goal: arrays and the table of identities grow without losing anything. */
static void many_identities_and_requests_are_kept(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    for (uint32_t number = 1; number <= 1000; number++) {
        (void)kit_send(&kit, kit_writer, number * 17);
    }
    assert_int_equal(ledger->identity_count, 1000);
    assert_int_equal(ledger->open, 1000);
    for (uint32_t number = 1; number <= 1000; number++) {
        const struct ledger_identity *identity = ledger_identity(ledger, number * 17);
        assert_non_null(identity);
        assert_int_equal(identity->sent_value, number * 17 * 7);
        assert_int_equal(ledger_request(ledger, number)->identity,
                         (uint32_t)(identity - ledger->identities) + 1);
    }
    assert_null(ledger_identity(ledger, 16));
    assert_null(ledger_request(ledger, 1001));
    assert_null(ledger_request(ledger, 5000));
}

static void stagings_are_kept_for_ever(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    for (uint32_t life = 1; life <= 200; life++) {
        kit_accept(&kit, 1, 1);
        kit_stage(&kit, 1, 21);
        assert_int_equal(ledger->held, 1);
        kit_restart(&kit, 0);
        assert_int_equal(ledger->held, 0);
    }
    assert_int_equal(ledger->envelope_count, 200);
    uint32_t chain = 0;
    for (uint32_t index = ledger_identity(ledger, 21)->envelope; index != 0;
         index = ledger->envelopes[index - 1].previous) {
        chain++;
    }
    assert_int_equal(chain, 200);
}

/* Goal: two splits are covered and rolled back each by its own position. */
static void splits_are_covered_and_rolled_back_apart(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_contract);
    const uint32_t starts[3] = {0, 4, KIT_RECORDS};
    for (uint32_t index = 4; index < KIT_RECORDS; index++) {
        kit.records[index].record.split = 1;
        kit.records[index].record.position = index - 4;
    }
    kit.log.split_starts = starts;
    kit.log.split_count = 2;
    kit_start(&kit);
    const struct ledger *ledger = kit.judge->ledger;
    kit_accept(&kit, 1, 3);
    kit_accept(&kit, 5, 6);
    struct stored_checkpoint *checkpoint = store_begin(&kit.store, 1);
    const uint64_t positions[2] = {2, 1};
    checkpoint->positions = positions;
    store_complete(&kit.store, checkpoint, 0);
    (void)kit_note(&kit,
                   (struct journal_entry){.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = 1});
    assert_int_equal(ledger->batch_count, 3);
    assert_int_equal(ledger->batch[0], 1);
    assert_int_equal(ledger->batch[1], 2);
    assert_int_equal(ledger->batch[2], 5);
    assert_int_equal(ledger->covered_count, 3);
    kit_restart(&kit, 1);
    assert_int_equal(ledger->batch_count, 2);
    assert_int_equal(ledger->batch[0], 3);
    assert_int_equal(ledger->batch[1], 6);
}

/* Goal: after an older restore records are walked again, and counted once. */
static void a_second_timeline_is_walked_and_not_counted_again(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_accept(&kit, 1, 4);
    kit_checkpoint(&kit, 1, NULL);
    kit_checkpoint(&kit, 4, NULL);
    assert_int_equal(ledger->batch_count, 3);
    kit_restart(&kit, 1);
    assert_int_equal(ledger->batch_count, 3);
    kit_accept(&kit, 2, 4);
    kit_checkpoint(&kit, 3, NULL);
    assert_int_equal(ledger->batch_count, 2);
    assert_int_equal(ledger->covered_count, 4);
    assert_int_equal(ledger_record(ledger, 2)->covered_by, 2);
    kit_host(&kit, HOST_OPENED, 0);
    assert_int_equal(ledger->batch_count, 0);
}

/* Goal: equal payloads share counters; the end names as many missing as there are. */
static void missing_ones_of_equal_payload_are_counted(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_contract);
    kit.log.equal_payloads = true;
    for (uint32_t index = 0; index < 3; index++) {
        kit.records[index].digest = 7;
    }
    kit_start(&kit);
    const struct ledger *ledger = kit.judge->ledger;
    assert_int_equal(ledger_record(ledger, 3)->kin, 1);
    assert_int_equal(ledger_kin(ledger, 3)->members, 3);
    assert_int_equal(ledger_kin(ledger, 4)->members, 1);
    kit_accept(&kit, 1, 3);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 3, NULL);
    (void)kit_end(&kit, RUN_END_STUCK);
    assert_int_equal(ledger->missing_count, 2);
    assert_int_equal(ledger->missing[0], 2);
    assert_int_equal(ledger->missing[1], 3);
}

static void all_records_are_owed_when_work_is_done(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_deliver(&kit, 4, 0, 11);
    (void)kit_end(&kit, RUN_END_COMPLETE);
    assert_int_equal(ledger->missing_count, KIT_RECORDS - 1);
}

static void faults_leave_stretches_between_them(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    assert_int_equal(ledger_calm(ledger, 0, SECONDS(50)), SECONDS(50));
    kit_wait(&kit, SECONDS(10));
    kit_inject(&kit, FAULT_PAUSE, SECONDS(4)); /* 10 to 14 */
    kit_wait(&kit, SECONDS(2));
    kit_inject(&kit, FAULT_OUTAGE, SECONDS(8)); /* 12 to 20 */
    kit_wait(&kit, SECONDS(13));
    kit_inject(&kit, FAULT_REFUSED, 0);        /* 25 */
    kit_inject(&kit, FAULT_CRASH, SECONDS(5)); /* 25 to 30 */
    assert_int_equal(ledger_calm(ledger, 0, SECONDS(32)), SECONDS(10));
    assert_int_equal(ledger_calm(ledger, SECONDS(13), SECONDS(32)), SECONDS(5));
    assert_int_equal(ledger_calm(ledger, SECONDS(26), SECONDS(32)), SECONDS(2));
    assert_int_equal(ledger_calm(ledger, SECONDS(26), SECONDS(28)), 0);
    assert_int_equal(ledger_down(ledger, 0, SECONDS(32)), SECONDS(15));
    assert_int_equal(ledger_down(ledger, SECONDS(13), SECONDS(26)), SECONDS(8));
    assert_int_equal(ledger_down(ledger, SECONDS(30), SECONDS(32)), 0);
    assert_int_equal(ledger_down(ledger, SECONDS(21), SECONDS(24)), 0);
}

/* Goal: what a paused half sends leaves when the pause ends; others are not held back. */
static void a_pause_holds_back_its_own_lane(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_inject(&kit, FAULT_PAUSE, SECONDS(4)); /* the committer */
    kit_wait(&kit, SECONDS(1));
    const uint32_t held = kit_send(&kit, kit_committer, 0);
    const uint32_t free = kit_send(&kit, kit_writer, 0);
    assert_int_equal(ledger_request(ledger, held)->leaves_at, SECONDS(4));
    assert_int_equal(ledger_request(ledger, free)->leaves_at, SECONDS(1));
    kit_host(&kit, HOST_HEAL, 0);
    const uint32_t healed = kit_send(&kit, kit_committer, 0);
    assert_int_equal(ledger_request(ledger, healed)->leaves_at, SECONDS(1));
}

/* Goal: a pause excuses and holds back nothing behind the death of its process, and no other death ends
 * it. Method: another half dies, the paused one's replacement dies, and then itself. */
static void a_pause_ends_with_its_process(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_inject(&kit, FAULT_PAUSE, SECONDS(40)); /* the committer */
    kit_wait(&kit, SECONDS(10));
    const uint16_t attempt = (uint16_t)(kit.attempt + 1);
    (void)kit_note(&kit, ENTRY(.kind = HOST_CRASHED, .lane = kit_writer));
    (void)kit_note(&kit, ENTRY(.kind = HOST_CRASHED, .lane = kit_committer, .attempt = attempt));
    assert_int_equal(ledger_down(ledger, 0, SECONDS(30)), SECONDS(30));
    (void)kit_note(&kit, ENTRY(.kind = HOST_CRASHED, .lane = kit_committer));
    assert_int_equal(ledger_down(ledger, 0, SECONDS(30)), SECONDS(10));
    assert_int_equal(ledger_calm(ledger, 0, SECONDS(30)), SECONDS(20));
    kit_wait(&kit, SECONDS(1));
    const uint32_t sent = kit_send(&kit, kit_committer, 0);
    assert_int_equal(ledger_request(ledger, sent)->leaves_at, SECONDS(11));
}

static bool is_plain_answer(struct kit *kit, uint32_t request, enum port_code code)
{
    (void)kit_note(
        kit,
        (struct journal_entry){.kind = WIRE_ANSWERED, .code = (uint8_t)code, .request = request});
    return kit->judge->ledger->plain;
}

/* Goal: who asks for unusual entries hears of all answers that a retry may have to do with. */
static void an_answer_is_plain_when_it_settles_the_only_request_of_its_identity(void **state)
{
    (void)state;
    struct kit kit;
    (void)start(&kit);
    const uint32_t only = kit_send(&kit, kit_committer, 1);
    assert_true(is_plain_answer(&kit, only, PORT_OK));
    assert_false(is_plain_answer(&kit, only, PORT_OK)); /* it is not open any more */
    const uint32_t second = kit_send(&kit, kit_committer, 1);
    assert_false(is_plain_answer(&kit, second, PORT_OK));
    const uint32_t followed = kit_send(&kit, kit_committer, 2);
    (void)kit_send(&kit, kit_committer, 2);
    assert_false(is_plain_answer(&kit, followed, PORT_OK));
    assert_true(is_plain_answer(&kit, kit_send(&kit, kit_committer, 3), PORT_ALREADY_EXISTS));
    assert_false(is_plain_answer(&kit, kit_send(&kit, kit_committer, 4), PORT_UNAVAILABLE));
    assert_false(is_plain_answer(&kit, kit_send(&kit, kit_committer, 0), PORT_OK));
}

static bool is_plain_send(struct kit *kit, lane sender, uint32_t envelope)
{
    (void)kit_send(kit, sender, envelope);
    return kit->judge->ledger->plain;
}

/* Goal: the same of requests, and of those after the end of their half. */
static void a_send_is_plain_when_it_is_the_first_of_its_identity_and_its_half_lives(void **state)
{
    (void)state;
    struct kit kit;
    (void)start(&kit);
    assert_true(is_plain_send(&kit, kit_writer, 1));
    assert_false(is_plain_send(&kit, kit_writer, 1));
    assert_false(is_plain_send(&kit, kit_writer, 0));
    assert_true(is_plain_send(&kit, kit_policy, 0));
    static const enum journal_kind ends[] = {HOST_CLOSE, HOST_CLOSED, HOST_CRASHED};
    for (uint32_t i = 0; i < ARRAY_COUNT(ends); i++) {
        kit_host(&kit, ends[i], 0);
        assert_false(is_plain_send(&kit, kit_writer, 10 + i));
        assert_true(is_plain_send(&kit, kit_committer, 20 + i));
        kit_restart(&kit, 0);
        assert_true(is_plain_send(&kit, kit_writer, 30 + i));
    }
}

static void unknown_records_and_lanes_are_checks(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    expect_check_failure(ledger_record(ledger, 0));
    expect_check_failure(ledger_record(ledger, KIT_RECORDS + 1));
    expect_check_failure(ledger_lane(kit.judge->ledger, (lane)(kit_writer + LEDGER_LANES)));
}

/* Goal: hand-overs go in any order; the highest is remembered. */
static void a_rollback_reaches_the_highest_hand_over(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_accept(&kit, 3, 3);
    kit_accept(&kit, 1, 1);
    kit_restart(&kit, 0);
    assert_int_equal(ledger->batch_count, 3);
}

/* Goal: the first hand-over counts, for excuses start from it. */
static void the_first_hand_over_is_remembered(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_wait(&kit, SECONDS(7));
    kit_accept(&kit, 1, 1);
    kit_restart(&kit, 0);
    kit_wait(&kit, SECONDS(7));
    kit_accept(&kit, 1, 1);
    assert_int_equal(ledger_record(ledger, 1)->handed_at, SECONDS(7));
}

/* Goal: only the same record may find its own name released. */
static void a_released_name_is_the_same_records(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_effect(&kit, WORLD_CREATED, 1, 11, 0);
    assert_false(ledger->absent);
    kit_effect(&kit, WORLD_CREATED, 1, 11, 0);
    assert_false(ledger->absent);
    kit_wait(&kit, SECONDS(2));
    kit_effect(&kit, WORLD_REMOVED, 0, 11, 0);
    kit_wait(&kit, SECONDS(2));
    kit_effect(&kit, WORLD_CREATED, 1, 11, 0);
    assert_true(ledger->absent);
    assert_int_equal(ledger->absent_since, SECONDS(2));
    kit_effect(&kit, WORLD_REMOVED, 0, 11, 0);
    kit_effect(&kit, WORLD_CREATED, 2, 11, 0);
    assert_false(ledger->absent);
}

/* Goal: nothing but a pause holds a request back. */
static void an_outage_does_not_hold_requests_back(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    kit_inject(&kit, FAULT_OUTAGE, SECONDS(4));
    const uint32_t request = kit_send(&kit, kit_committer, 0);
    assert_int_equal(ledger_request(ledger, request)->leaves_at, 0);
}

/* Goal: what no journal entry staged, and what a checkpoint lists all the same, is passed over. */
static void a_checkpoint_may_list_what_was_never_staged(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    (void)kit_send(&kit, kit_committer, 35);
    kit.staged[35] = (struct stored_request){.identity = 35};
    kit.staged[36] = (struct stored_request){.identity = 36};
    kit_stage(&kit, 0, 37);
    kit_checkpoint(&kit, 0, (uint32_t[]){35, 36, 37, 0});
    kit_restart(&kit, 1);
    assert_int_equal(ledger->expected, 1);
}

/* Goal: numbers at the very end of what is kept are unknown, not read from beyond it. */
static void numbers_just_past_the_known_ones_are_unknown(void **state)
{
    (void)state;
    struct kit kit;
    const struct ledger *ledger = start(&kit);
    (void)kit_send(&kit, kit_writer, 0);
    const uint32_t kept = ledger->requests.capacity * ARENA_ARRAY_BLOCK;
    assert_null(ledger_request(ledger, ARENA_ARRAY_BLOCK - 1));
    assert_null(ledger_request(ledger, ARENA_ARRAY_BLOCK));
    assert_null(ledger_request(ledger, kept));
    kit_answer(&kit, ARENA_ARRAY_BLOCK);
    kit_answer(&kit, kept);
    assert_int_equal(ledger->open, 1);
    kit_effect(&kit, WORLD_CREATED, 1, 1, 0);
    const uint32_t next = ledger->resources.capacity * ARENA_ARRAY_BLOCK;
    kit_effect(&kit, WORLD_REMOVED, 0, next, 0);
    assert_true(ledger->resources.capacity * ARENA_ARRAY_BLOCK > next);
}

TEST_MAIN(oracle_ledger,
          TEST(many_identities_and_requests_are_kept),
          TEST(stagings_are_kept_for_ever),
          TEST(splits_are_covered_and_rolled_back_apart),
          TEST(a_second_timeline_is_walked_and_not_counted_again),
          TEST(missing_ones_of_equal_payload_are_counted),
          TEST(all_records_are_owed_when_work_is_done),
          TEST(faults_leave_stretches_between_them),
          TEST(a_pause_holds_back_its_own_lane),
          TEST(a_pause_ends_with_its_process),
          TEST(an_answer_is_plain_when_it_settles_the_only_request_of_its_identity),
          TEST(a_send_is_plain_when_it_is_the_first_of_its_identity_and_its_half_lives),
          TEST(unknown_records_and_lanes_are_checks),
          TEST(a_rollback_reaches_the_highest_hand_over),
          TEST(the_first_hand_over_is_remembered),
          TEST(a_released_name_is_the_same_records),
          TEST(an_outage_does_not_hold_requests_back),
          TEST(a_checkpoint_may_list_what_was_never_staged),
          TEST(numbers_just_past_the_known_ones_are_unknown))
