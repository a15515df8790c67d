/* channel-state: in front of the barrier, in the channels, and never both or neither.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_channel_state
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define VALUE_SIZE 5u

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_channel_state);
    for (uint32_t i = 0; i < KIT_RECORDS; i++) {
        kit->records[i].record.value = BYTES_LITERAL("12345");
    }
    kit_start(kit);
}

static void barrier(struct kit *kit, uint32_t checkpoint)
{
    (void)kit_note(
        kit,
        (struct journal_entry){.kind = HOST_BARRIER, .lane = kit_writer, .checkpoint = checkpoint});
}

/* Complete the next checkpoint with these records (ended by 0) in its channels. */
static void
complete(struct kit *kit, uint32_t covered, const record_id *in_flight, uint64_t bytes_more)
{
    struct stored_checkpoint *stored = store_begin(&kit->store, kit->attempt);
    uint64_t *positions = arena_take(&kit->arena, sizeof(*positions));
    *positions = covered;
    stored->positions = positions;
    stored->in_flight = arena_take_zeroed(&kit->arena, KIT_RECORDS * sizeof(stored->in_flight[0]));
    stored->in_flight_bits = arena_take_zeroed(&kit->arena, sizeof(stored->in_flight_bits[0]));
    while (in_flight[stored->in_flight_count] != 0) {
        const record_id record = in_flight[stored->in_flight_count];
        stored->in_flight[stored->in_flight_count].record = record;
        stored->in_flight_bits[0] |= UINT64_C(1) << (record - 1);
        stored->in_flight_count++;
    }
    store_complete(&kit->store, stored, kit->sched.now);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_CHECKPOINT_COMPLETED,
                                          .checkpoint = stored->number,
                                          .a = stored->in_flight_count * VALUE_SIZE + bytes_more});
}

static const record_id none[] = {0};

static void what_is_overtaken_and_stored_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 4, 0};
    complete(&kit, 4, overtaken, 0);
    kit_accept(&kit, 3, 3);
    const record_id left[] = {4, 0};
    barrier(&kit, 2);
    complete(&kit, 4, left, 0);
    kit_inject(&kit, FAULT_CRASH, SECONDS(1));
    kit_restart(&kit, 2);
    kit_accept(&kit, 4, 6);
    barrier(&kit, 3);
    complete(&kit, 6, none, 0);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
    assert_true(kit_is_marked(&kit, MARK_JUDGE_IN_FLIGHT));
    assert_true(kit_is_marked(&kit, MARK_JUDGE_IN_FLIGHT_RESTORED));
}

static void what_is_overtaken_and_not_stored_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    kit_accept(&kit, 3, 3);
    complete(&kit, 3, none, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

static void channel_state_that_a_restore_forgets_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 0};
    complete(&kit, 3, overtaken, 0);
    kit_restart(&kit, 1);
    kit_accept(&kit, 4, 4);
    barrier(&kit, 2);
    complete(&kit, 4, none, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

static void a_record_in_the_state_and_in_the_channels_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 3);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 0};
    complete(&kit, 3, overtaken, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

static void channel_state_beyond_the_position_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 0};
    complete(&kit, 2, overtaken, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

static void restored_channel_state_behind_other_input_is_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 0};
    complete(&kit, 3, overtaken, 0);
    kit_restart(&kit, 1);
    kit_accept(&kit, 4, 4);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_accept(&kit, 3, 3);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 3);
}

static void bytes_that_do_not_grow_are_a_violation(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_accept(&kit, 1, 2);
    barrier(&kit, 1);
    const record_id overtaken[] = {3, 4, 0};
    complete(&kit, 4, overtaken, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject_kind, SUBJECT_CHECKPOINT);
}

/* Goal: what nobody can hand over is not asked for. */
static void gone_records_and_own_positions_are_not_judged(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    kit_host(&kit, HOST_RECORD_GONE, 1);
    kit_accept(&kit, 2, 2);
    complete(&kit, 2, none, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.attempt++;
    (void)kit_note(&kit, (struct journal_entry){.kind = HOST_JOB_STARTED, .b = START_OWN_POSITION});
    kit_accept(&kit, 3, 3);
    complete(&kit, 3, none, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit.attempt++;
    (void)kit_note(&kit, (struct journal_entry){.kind = HOST_JOB_STARTED, .b = START_BEGINNING});
    kit_accept(&kit, 3, 3);
    complete(&kit, 3, none, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, 2);
}

TEST_MAIN(oracle_channel_state,
          TEST(what_is_overtaken_and_stored_is_fine),
          TEST(what_is_overtaken_and_not_stored_is_a_violation),
          TEST(channel_state_that_a_restore_forgets_is_a_violation),
          TEST(a_record_in_the_state_and_in_the_channels_is_a_violation),
          TEST(channel_state_beyond_the_position_is_a_violation),
          TEST(restored_channel_state_behind_other_input_is_a_violation),
          TEST(bytes_that_do_not_grow_are_a_violation),
          TEST(gone_records_and_own_positions_are_not_judged))
