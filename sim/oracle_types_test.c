/* The list of oracles: order, names, lookup, and that each says what it must.
 * link: sim/oracle_types sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes
 * link: sim/oracle_ledger_faults sim/oracle_excuse sim/oracle_once sim/oracle_testkit
 * link: sim/oracle_checkpoint_durable sim/oracle_at_least_once sim/oracle_effectively_once
 * link: sim/oracle_exactly_once_write sim/oracle_no_early_visibility sim/oracle_staged_silence
 * link: sim/oracle_ownership sim/oracle_value_intact sim/oracle_accounting
 * link: sim/oracle_identity_stable sim/oracle_deadline_respected sim/oracle_dead_letter_complete
 * link: sim/oracle_quiescent_at_barrier sim/oracle_bounded_concurrency sim/oracle_liveness
 * link: sim/oracle_progress sim/oracle_no_silent_loss sim/oracle_contract
 * link: sim/oracle_atomic_visibility sim/oracle_idempotent_commit sim/oracle_attempt_fenced
 * link: sim/oracle_retry_budget sim/oracle_refused sim/oracle_no_leak sim/oracle_order_per_key
 * link: sim/oracle_end_to_end sim/oracle_one_cut sim/oracle_channel_state
 * link: sim/oracle_handle_safe sim/world sim/clock sim/trace sim/sched sim/choice sim/fault sim/tape
 * link: sim/oracle_scope sim/oracle_latest_per_key
 * link: sim/oracle_table
 * link: sim/journal sim/engine/store sim/arena sim/lane sinks/base/units sinks/base/bytes sinks/sink
 * link: sinks/base/digest sinks/base/pool sinks/base/list sinks/base/allocator
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

/* Goal: the index goes into results, so the order is part of the contract. */
static void the_order_is_fixed(void **state)
{
    (void)state;
    const char *const names[] = {
        "checkpoint-durable",
        "at-least-once",
        "effectively-once",
        "exactly-once-write",
        "no-early-visibility",
        "staged-silence",
        "ownership",
        "value-intact",
        "accounting",
        "identity-stable",
        "deadline-respected",
        "dead-letter-complete",
        "quiescent-at-barrier",
        "bounded-concurrency",
        "liveness",
        "progress",
        "no-silent-loss",
        "contract",
        "atomic-visibility",
        "idempotent-commit",
        "attempt-fenced",
        "retry-budget",
        "refused",
        "no-leak",
        "order-per-key",
        "end-to-end",
        "one-cut",
        "channel-state",
        "handle-safe",
        "scope",
        "latest-per-key",
    };
    assert_int_equal(oracle_type_count, ARRAY_COUNT(names));
    for (size_t index = 0; index < oracle_type_count; index++) {
        assert_string_equal(oracle_types[index]->name, names[index]);
        assert_ptr_equal(oracle_by_name(bytes_of_text(names[index])), oracle_types[index]);
    }
}

static void unknown_names_are_not_found(void **state)
{
    (void)state;
    assert_null(oracle_by_name(BYTES_LITERAL("")));
    assert_null(oracle_by_name(BYTES_LITERAL("liveness ")));
    assert_null(oracle_by_name(BYTES_LITERAL("live")));
}

/* Goal: a sentence, lists that end, mutant ids as the mutants' files start, and something to do. */
static void each_oracle_is_complete(void **state)
{
    (void)state;
    for (size_t index = 0; index < oracle_type_count; index++) {
        const struct oracle_type *type = oracle_types[index];
        assert_true(strlen(type->sentence) > 0);
        assert_true(type->on_entry != NULL || type->at_end != NULL);
        assert_true((type->kinds != 0) == (type->on_entry != NULL));
        assert_non_null(type->mutants[0]);
        for (size_t at = 0; type->mutants[at] != NULL; at++) {
            assert_int_equal(strlen(type->mutants[at]), strlen("m-ct-01"));
            assert_memory_equal(type->mutants[at], "m-", 2);
        }
        for (size_t at = 0; type->marks[at] != MARK_NONE; at++) {
            assert_in_range(
                type->marks[at], MARK_JUDGE_RECORD_COVERED, MARK_JUDGE_IN_FLIGHT_RESTORED);
        }
    }
}

/* Goal: one lawful staged run with a crash and a lost answer is clean under every oracle. */
static void a_lawful_run_is_clean_under_all(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, NULL);
    kit.facts.staged = true;
    kit.facts.expiry_fails = true;
    kit.facts.recovery_window = SECONDS(100);
    kit.facts.concurrency_max = 1;
    kit.facts.restarts_after_heal = 1;
    kit.judge = arena_take(&kit.arena, sizeof(*kit.judge));
    judge_init(kit.judge,
               &kit.world,
               &kit.log,
               &kit.store,
               &kit.facts,
               oracle_types,
               (uint32_t)oracle_type_count);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, KIT_RECORDS);
    uint32_t envelopes[KIT_RECORDS + 1] = {0};
    for (record_id record = 1; record <= KIT_RECORDS; record++) {
        envelopes[record - 1] = 20 + record;
        kit_stage(&kit, record, 20 + record);
    }
    kit_checkpoint(&kit, KIT_RECORDS, envelopes);
    for (record_id record = 1; record <= KIT_RECORDS; record++) {
        kit_envelope(&kit, HOST_COMMIT_REQUEST, 20 + record);
    }
    kit_deliver(&kit, 1, 21, 11);
    const uint32_t lost = kit_send(&kit, kit_committer, 22);
    kit_effect(&kit, WORLD_CREATED, 2, 12, lost);
    kit_inject(&kit, FAULT_CRASH, SECONDS(20));
    (void)kit_note(&kit, (struct journal_entry){.kind = WIRE_DROPPED, .request = lost});
    kit_restart(&kit, 1);
    kit_host(&kit, HOST_HEAL, 0);
    judge_heal(kit.judge);
    for (record_id record = 1; record <= KIT_RECORDS; record++) {
        kit_envelope(&kit, HOST_RESTORED, 20 + record);
    }
    for (record_id record = 1; record <= KIT_RECORDS; record++) {
        kit_envelope(&kit, HOST_COMMIT_REQUEST, 20 + record);
        const uint32_t request = kit_send(&kit, kit_committer, 20 + record);
        if (record > 2) {
            kit_effect(&kit, WORLD_CREATED, record, 10 + record, request);
        }
        kit_answer(&kit, request);
        kit_envelope(&kit, HOST_FINALISED, 20 + record);
    }
    kit_checkpoint(&kit, KIT_RECORDS, NULL);
    judge_end(kit.judge, RUN_END_COMPLETE);
    for (uint32_t index = 0; index < kit.judge->oracle_count; index++) {
        if (oracle_types[index] == &oracle_refused) {
            continue; /* for runs that must not be */
        }
        assert_string_equal(kit.judge->findings[index].message, "");
        assert_int_equal(kit.judge->findings[index].verdict, VERDICT_OK);
    }
}

TEST_MAIN(oracle_types,
          TEST(the_order_is_fixed),
          TEST(unknown_names_are_not_found),
          TEST(each_oracle_is_complete),
          TEST(a_lawful_run_is_clean_under_all))
