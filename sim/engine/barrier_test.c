/* Barriers that do not wait for each other: what is in the cut, in the state and in the channels.
 * link: sim/engine/crash sim/engine/moment
 * link: sim/engine/job sim/engine/task sim/engine/half sim/engine/source sim/engine/committer
 * link: sim/engine/savepoint sim/engine/restart sim/engine/region sim/engine/start
 * link: sim/engine/barrier
 * link: sim/engine/coordinator sim/engine/store sim/engine/sites sim/engine/toy_testkit sim/run
 * link: sim/world sim/journal sim/journal_text sim/trace sim/fault sim/choice sim/lane sim/clock
 * link: sim/sched sim/arena sim/model sim/link sim/link_call sim/link_unary sim/link_stream
 * link: sim/link_reply sinks/base/bytes sinks/base/digest sinks/base/units sinks/base/list
 * link: sinks/base/pool sinks/base/allocator sinks/port/port sinks/port/status sinks/port/decode
 * link: sinks/sink sim/oracle sim/oracle_types sim/oracle_ledger sim/oracle_ledger_envelopes
 * link: sim/oracle_ledger_faults sim/oracle_excuse sim/oracle_once sim/oracle_accounting
 * link: sim/oracle_at_least_once sim/oracle_bounded_concurrency sim/oracle_checkpoint_durable
 * link: sim/oracle_contract sim/oracle_dead_letter_complete sim/oracle_deadline_respected
 * link: sim/oracle_atomic_visibility sim/oracle_idempotent_commit sim/oracle_attempt_fenced
 * link: sim/oracle_retry_budget sim/oracle_refused sim/oracle_no_leak sim/oracle_order_per_key
 * link: sim/oracle_end_to_end sim/oracle_one_cut sim/oracle_channel_state
 * link: sim/oracle_handle_safe
 * link: sim/oracle_scope sim/oracle_latest_per_key
 * link: sim/oracle_table
 * link: sim/oracle_effectively_once sim/oracle_exactly_once_write sim/oracle_identity_stable
 * link: sim/oracle_liveness sim/oracle_no_early_visibility sim/oracle_no_silent_loss
 * link: sim/oracle_ownership sim/oracle_progress sim/oracle_quiescent_at_barrier
 * link: sim/oracle_staged_silence sim/oracle_value_intact
 */
#include "sim/engine/toy_testkit.h"
#include "sim/oracle_set.h"
#include "sinks/base/test.h"

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

enum {
    CRASH_ALL_SHORT = 6,
};

/* Three sources whose barriers come at different times, and writers that lag behind. */
static void init(enum toy_sink sink, enum job_barriers barriers)
{
    toy_init(&toy, sink, 90, 5);
    toy.config.job.sources = 3;
    toy.config.job.subtasks = 2;
    toy.config.job.routing = JOB_ROUTE_HASH;
    toy.config.job.barriers = (uint8_t)barriers;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.config.race_window = MS(15);
    toy.config.faults.kinds = UINT32_C(1) << FAULT_ORDER;
    toy.behaviour.busy_for = MS(9);
    const struct oracle_type *const oracles[] = {&oracle_at_least_once,
                                                 &oracle_checkpoint_durable,
                                                 &oracle_one_cut,
                                                 &oracle_channel_state,
                                                 &oracle_ownership};
    for (uint32_t i = 0; i < ARRAY_COUNT(oracles); i++) {
        toy.config.oracles[i] = oracles[i];
    }
    toy.config.oracle_count = ARRAY_COUNT(oracles);
}

/* Where a record was handed over, in the life that a checkpoint belongs to. */
static uint32_t handed(record_id record, uint16_t attempt)
{
    return toy_find(&toy, 0, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = attempt));
}

/* Records that were handed over before their writer's barrier, and are not covered. */
static uint32_t count_ahead(void)
{
    uint32_t ahead = 0;
    for (uint32_t number = 1; number <= toy.runner.store->checkpoint_count; number++) {
        for (record_id record = 1; record <= 90; record++) {
            const uint32_t at = handed(record, 1);
            const lane writer = journal_at(toy_journal(&toy), at)->lane;
            const uint32_t barrier = toy_find(
                &toy, 0, ENTRY(.kind = HOST_BARRIER, .lane = writer, .checkpoint = number));
            const bool covered = store_covers(toy.runner.store, number, record);
            ahead += at < barrier && toy_is_found(barrier, &toy) && !covered ? 1 : 0;
            assert_true(!covered || at < barrier); /* the other way round it would be lost */
        }
    }
    return ahead;
}

/* Goal: EN-2: without alignment the state is ahead of the position, and never behind it. */
static void at_least_once_barriers_leave_state_ahead_of_the_position(void **state)
{
    (void)state;
    uint32_t ahead = 0;
    uint32_t found = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        init(seed % 2 == 0 ? TOY_EAGER : TOY_STAGED, JOB_BARRIERS_AT_LEAST_ONCE);
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_effects_least(&toy), 1);
        assert_int_equal(toy_effects_most(&toy), 1);
        ahead += count_ahead();
        found += toy.result.finding_count;
        for (uint32_t i = 0; i < toy.result.finding_count; i++) {
            assert_ptr_equal(oracle_types[toy.result.findings[i].oracle], &oracle_one_cut);
        }
    }
    assert_true(ahead > 0);
    assert_true(found > 0);
}

/* Goal: E2E-6: after a restore what was ahead is replayed beside itself, and nothing is lost. */
static void at_least_once_barriers_repeat_and_do_not_lose(void **state)
{
    (void)state;
    uint32_t twice = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        init(TOY_STAGED, JOB_BARRIERS_AT_LEAST_ONCE);
        toy.config.faults.kinds |= UINT32_C(1) << FAULT_CRASH;
        toy.config.job.checkpoint_concurrent = 2;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_true(toy_effects_least(&toy) >= 1);
        twice += toy_effects_most(&toy) > 1 ? 1 : 0;
    }
    assert_true(twice > 0);
}

/* Goal: EN-3: what an unaligned barrier overtakes is in the checkpoint, and only that. */
static void unaligned_barriers_store_what_they_overtake(void **state)
{
    (void)state;
    uint32_t in_flight = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        init((enum toy_sink)(seed % 4), JOB_BARRIERS_UNALIGNED);
        toy.config.job.chained = seed % 8 < 4;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_effects_least(&toy), 1);
        assert_int_equal(toy_effects_most(&toy), 1);
        assert_int_equal(toy.result.finding_count, 0);
        const struct store *store = toy.runner.store;
        for (uint32_t number = 1; number <= store->checkpoint_count; number++) {
            const struct stored_checkpoint *stored = store_get(store, number);
            if (stored->state != STORE_COMPLETED) {
                continue;
            }
            uint32_t seen = 0;
            for (record_id record = 1; record <= 90; record++) {
                const uint32_t at = handed(record, 1);
                const lane writer = journal_at(toy_journal(&toy), at)->lane;
                const uint32_t barrier = toy_find(
                    &toy, 0, ENTRY(.kind = HOST_BARRIER, .lane = writer, .checkpoint = number));
                const bool covered = store_covers(store, number, record);
                assert_int_equal(store_in_flight(store, number, record), covered && at > barrier);
                assert_true(covered || at > barrier); /* nothing is ahead of the cut */
                seen += store_in_flight(store, number, record) ? 1 : 0;
            }
            assert_int_equal(seen, stored->in_flight_count);
            in_flight += seen;
        }
    }
    assert_true(in_flight > 0);
}

/* Goal: a restore delivers what was in flight once, at any parallelism; a staged sink repeats
 * nothing but what it was committing. Method: crashes by seed; the envelopes of one timeline. */
static void restored_channels_deliver_what_was_in_flight(void **state)
{
    (void)state;
    uint32_t restored = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        init(seed % 3 == 0 ? TOY_EAGER : TOY_STAGED, JOB_BARRIERS_UNALIGNED);
        toy.config.faults.kinds |= UINT32_C(1) << FAULT_CRASH | UINT32_C(1) << FAULT_RESTORE |
                                   UINT32_C(1) << FAULT_CHECKPOINT_ABORTED;
        toy.config.faults.cap[FAULT_CRASH] = 2;
        toy.config.job.rescale_to[0] = 1;
        toy.config.job.rescale_to[1] = 3;
        toy.config.job.channel_capacity = seed % 2 == 0 ? 4 : 0;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
        assert_true(toy_effects_least(&toy) >= 1);
        assert_int_equal(toy.result.finding_count, 0);
        for (uint16_t attempt = 2; attempt <= 3; attempt++) {
            const uint32_t start =
                toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = attempt));
            const uint32_t number =
                toy_is_found(start, &toy) ? journal_at(toy_journal(&toy), start)->checkpoint : 0;
            for (record_id record = 1; record <= 90 && number > 0; record++) {
                if (store_in_flight(toy.runner.store, number, record)) {
                    const uint32_t again = toy_count(
                        &toy, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = attempt));
                    assert_true(again <= 1);
                    restored += again;
                }
            }
        }
    }
    assert_true(restored > 0);
}

TEST_MAIN(barrier,
          TEST(at_least_once_barriers_leave_state_ahead_of_the_position),
          TEST(at_least_once_barriers_repeat_and_do_not_lose),
          TEST(unaligned_barriers_store_what_they_overtake),
          TEST(restored_channels_deliver_what_was_in_flight))
