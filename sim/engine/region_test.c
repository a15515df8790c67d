/* Regions: what restarts when a subtask dies, what goes on beside it, and what both make of it.
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

#include <string.h>

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

enum {
    REGIONS = 3,
    RECORDS = 60,
    CRASH_SUBTASK_SHORT = 1,
    CRASH_SUBTASK_REQUEST = 2,
    CRASH_ALL_SHORT = 6,
    CRASH_LOST_CONTACT_SHORT = 13,
};

/* Each source has a split, and feeds one subtask. */
static void init(enum toy_sink sink)
{
    toy_init(&toy, sink, RECORDS, REGIONS);
    toy.config.job.sources = REGIONS;
    toy.config.job.subtasks = REGIONS;
    toy.config.job.routing = JOB_ROUTE_FORWARD;
    toy.config.job.restart_region = JOB_REGION_SUBTASK;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.config.job.downtime[DOWNTIME_REQUEST] = MS(400);
    const struct oracle_type *const oracles[] = {&oracle_at_least_once,
                                                 &oracle_checkpoint_durable,
                                                 &oracle_ownership,
                                                 &oracle_accounting,
                                                 &oracle_attempt_fenced,
                                                 &oracle_quiescent_at_barrier,
                                                 &oracle_one_cut,
                                                 &oracle_channel_state};
    for (uint32_t i = 0; i < ARRAY_COUNT(oracles); i++) {
        toy.config.oracles[i] = oracles[i];
    }
    toy.config.oracle_count = ARRAY_COUNT(oracles);
}

static void pin_crash(uint32_t outcome, enum journal_kind after, uint32_t checkpoint)
{
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = outcome,
                             .after = (uint8_t)after,
                             .after_checkpoint = checkpoint});
}

static uint32_t count(enum journal_kind kind)
{
    return toy_count(&toy, ENTRY(.kind = (uint8_t)kind));
}

static const struct journal_entry *entry_of(enum journal_kind kind)
{
    const uint32_t at = toy_find(&toy, 0, ENTRY(.kind = (uint8_t)kind));
    assert_true(toy_is_found(at, &toy));
    return journal_at(toy_journal(&toy), at);
}

static uint32_t region_of_record(record_id record)
{
    return toy.log.records[record - 1].record.split % REGIONS;
}

static void expect_clean(void)
{
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    for (uint32_t i = 0; i < toy.result.finding_count; i++) {
        fail_msg("%s: %s",
                 oracle_types[toy.result.findings[i].oracle]->name,
                 toy.result.findings[i].finding.message);
    }
    assert_int_equal(count(HOST_CONTRACT), 0);
    assert_true(toy_effects_least(&toy) >= 1);
}

/* Goal: the failed region starts again, from the latest completed checkpoint, and nobody else does.
 * Method: every subtask dies once, with each kind of sink. */
static void only_the_failed_region_restarts(void **state)
{
    (void)state;
    uint32_t seen = 0;
    for (uint32_t nth = 0; nth < 36; nth++) {
        init((enum toy_sink)(nth % 3));
        toy.config.job.chained = nth % 2 == 0;
        toy.behaviour.pieces = 2;
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = CRASH_SUBTASK_SHORT,
                                 .nth = 10 + 3 * nth});
        toy_run(&toy);
        expect_clean();
        assert_int_equal(count(HOST_JOB_STARTED), 1);
        assert_int_equal(count(HOST_REGION_STARTED), 1);
        const struct journal_entry *started = entry_of(HOST_REGION_STARTED);
        const uint32_t region = lane_index_of(started->lane);
        assert_int_equal(started->attempt, 2);
        assert_int_equal(started->a, REGIONS);
        const uint32_t restored = started->checkpoint;
        for (record_id record = 1; record <= RECORDS; record++) {
            const bool covered = restored != 0 && store_covers(toy.runner.store, restored, record);
            const uint32_t first =
                toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = 1));
            const uint32_t again =
                toy_count(&toy, ENTRY(.kind = HOST_RECORD, .record = record, .attempt = 2));
            const bool is_of_region = region_of_record(record) == region;
            assert_int_equal(again, is_of_region && !covered ? 1 : 0);
            assert_true(is_of_region || first == 1);
        }
        for (uint32_t i = 0; i < REGIONS; i++) {
            assert_int_equal(
                toy_count(
                    &toy,
                    ENTRY(.kind = HOST_OPENED, .lane = lane_make(LANE_WRITER, i), .attempt = 2)),
                i == region ? 1 : 0);
            const uint32_t closes =
                toy_count(&toy, ENTRY(.kind = HOST_CLOSE, .lane = lane_make(LANE_WRITER, i)));
            assert_true(closes == 0 || i == region);
        }
        seen |= UINT32_C(1) << region;
    }
    assert_int_equal(seen, (1 << REGIONS) - 1);
}

/* Goal: checkpoints under way end with the region, the living hear of it, and the next one is taken
 * when it runs again. */
static void checkpoints_under_way_are_aborted_for_all(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.behaviour.barrier_for = MS(20);
    pin_crash(CRASH_SUBTASK_REQUEST, HOST_CHECKPOINT_TRIGGERED, 2);
    toy_run(&toy);
    expect_clean();
    assert_int_equal(
        toy_count(
            &toy,
            ENTRY(.kind = HOST_CHECKPOINT_ABORTED, .checkpoint = 2, .code = ABORT_CAUSE_REGION)),
        1);
    assert_int_equal(toy.behaviour.aborts_heard, REGIONS - 1);
    assert_int_equal(entry_of(HOST_REGION_STARTED)->checkpoint, 1);
    const uint32_t stopped = toy_find(&toy, 0, ENTRY(.kind = HOST_REGION_STOPPED));
    const uint32_t started = toy_find(&toy, 0, ENTRY(.kind = HOST_REGION_STARTED));
    const uint32_t next = toy_find(&toy, stopped, ENTRY(.kind = HOST_CHECKPOINT_TRIGGERED));
    assert_true(started < next);
    assert_true(toy_is_found(next, &toy));
}

/* Goal: of the restored checkpoint a region takes its own collection and pieces. */
static void a_region_restores_its_own_part_alone(void **state)
{
    (void)state;
    uint32_t restored_count = 0;
    for (uint32_t nth = 0; nth < 30; nth++) {
        init(nth % 2 == 0 ? TOY_STAGED : TOY_STATEFUL);
        toy.config.job.chained = nth % 4 < 2;
        toy.behaviour.pieces = 2;
        toy.behaviour.commit_for = MS(30);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = CRASH_SUBTASK_SHORT,
                                 .nth = nth / 2,
                                 .after = HOST_CHECKPOINT_COMPLETED});
        toy_run(&toy);
        expect_clean();
        const struct journal_entry *started = entry_of(HOST_REGION_STARTED);
        const uint32_t region = lane_index_of(started->lane);
        const struct stored_checkpoint *stored = store_get(toy.runner.store, started->checkpoint);
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < stored->collection_count; i++) {
            wanted +=
                stored->collections[i].subtask == region ? stored->collections[i].request_count : 0;
        }
        assert_int_equal(count(HOST_RESTORED), wanted);
        assert_int_equal(toy_count(&toy,
                                   ENTRY(.kind = HOST_RESTORED,
                                         .lane = lane_make(LANE_COMMITTER, region),
                                         .attempt = 2)),
                         wanted);
        restored_count += wanted;
        if (nth % 2 == 1) {
            assert_int_equal(toy.behaviour.pieces_given[region], 2);
        }
    }
    assert_true(restored_count > 0);
}

/* All faults, but for restores of another kind, which are the whole job's. */
static void allow_all(void)
{
    toy_allow_all(&toy);
    toy.config.job.rescale_to[0] = 0;
    toy.config.job.older_restores = false;
    toy.config.job.zombies = true;
}

/* Goal: whatever dies whenever, nothing is lost, and what comes twice was of a lost attempt. Method:
 * all faults by seed, over sinks, threads and barriers; a staged sink restages nothing that lives. */
static void faults_at_any_place_lose_and_double_nothing(void **state)
{
    (void)state;
    uint32_t regions = 0;
    uint32_t jobs = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        init((enum toy_sink)(seed % 3));
        allow_all();
        toy.config.job.chained = seed % 2 == 0;
        toy.config.job.barriers = (uint8_t)(seed % 5 < 3 ? JOB_BARRIERS_ALIGNED : seed % 5 - 2);
        toy.config.job.checkpoint_concurrent = seed % 7 < 3 ? 2 : 1;
        toy.config.job.detection_delay = seed % 4 == 0 ? MS(35) : 0;
        toy.behaviour.pieces = 1;
        toy.behaviour.busy_for = seed % 3 == 0 ? MS(9) : 0;
        toy.config.faults.cap[FAULT_CRASH] = 4;
        toy.config.faults.cap[FAULT_ZOMBIE] = 2;
        toy.config.faults.cap_total = 10;
        toy_run_seed(&toy, seed);
        expect_clean();
        regions += count(HOST_REGION_STARTED);
        jobs += count(HOST_JOB_STARTED) - 1;
    }
    assert_true(regions > 100);
    assert_true(jobs > 10);
}

/* Goal: two regions may be down at a time, and each comes back by itself. */
static void regions_fail_independently(void **state)
{
    (void)state;
    uint32_t together = 0;
    for (uint32_t nth = 1; nth < 40; nth++) {
        init(TOY_STAGED);
        pin_crash(CRASH_SUBTASK_REQUEST, HOST_CHECKPOINT_COMPLETED, 1);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = CRASH_SUBTASK_REQUEST,
                                 .after = HOST_REGION_STOPPED,
                                 .nth = nth});
        toy_run(&toy);
        expect_clean();
        const uint32_t stops = count(HOST_REGION_STOPPED);
        assert_int_equal(count(HOST_REGION_STARTED), stops);
        const uint32_t first = toy_find(&toy, 0, ENTRY(.kind = HOST_REGION_STOPPED));
        const uint32_t second = toy_find(&toy, first + 1, ENTRY(.kind = HOST_REGION_STOPPED));
        const uint32_t back = toy_find(&toy, 0, ENTRY(.kind = HOST_REGION_STARTED));
        if (toy_is_found(second, &toy) && second < back) {
            together++;
            assert_int_not_equal(journal_at(toy_journal(&toy), first)->lane,
                                 journal_at(toy_journal(&toy), second)->lane);
        }
    }
    assert_true(together > 0);
}

/* Goal: a crash of all processes while a region is down starts the whole job, and the region no
 * second time. */
static void the_whole_job_goes_before_its_regions(void **state)
{
    (void)state;
    for (uint32_t closing = 0; closing < 2; closing++) {
        init(TOY_STAGED);
        toy.behaviour.close_unanswered = closing == 1;
        toy.config.job.close_bound = MS(100);
        pin_crash(CRASH_SUBTASK_REQUEST, HOST_CHECKPOINT_COMPLETED, 1);
        pin_crash(CRASH_ALL_SHORT, HOST_REGION_STOPPED, 0);
        toy_run(&toy);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(count(HOST_REGION_STOPPED), 1);
        assert_int_equal(count(HOST_REGION_STARTED), 0);
        assert_int_equal(count(HOST_JOB_STARTED), 2);
        assert_int_equal(toy.result.finding_count, 0);
        assert_true(toy_effects_least(&toy) >= 1);
    }
}

/* Goal: a half that fails restarts its region as long as a restart is left, and then fails the job. */
static void a_failure_without_a_restart_left_stops_the_job(void **state)
{
    (void)state;
    for (uint32_t attempts = 0; attempts < 3; attempts++) {
        init(TOY_STAGED);
        toy.config.job.restart_attempts = attempts;
        toy.behaviour.commits_fail = 2;
        toy_run(&toy);
        assert_true(count(HOST_REGION_STARTED) <= attempts);
        assert_int_equal(toy.result.end, attempts < 2 ? RUN_END_FAILED : RUN_END_COMPLETE);
        assert_int_equal(count(HOST_JOB_STARTED), 1);
        if (attempts == 2) {
            assert_int_equal(count(HOST_REGION_STARTED), 2);
            expect_clean();
        }
    }
}

/* Goal: a subtask that has lost contact goes on beside its replacement, in its own attempt, and ends. */
static void a_lost_subtask_outlives_its_region(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.config.job.zombies = true;
    toy.behaviour.commit_for = MS(30);
    pin_crash(CRASH_LOST_CONTACT_SHORT, HOST_COMMIT, 0);
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy.result.finding_count, 0);
    assert_int_equal(count(HOST_REGION_STARTED), 1);
    const uint32_t region = lane_index_of(entry_of(HOST_REGION_STARTED)->lane);
    assert_true(count(HOST_ZOMBIE) > 0);
    assert_int_equal(count(HOST_ZOMBIE_ENDED), count(HOST_ZOMBIE));
    for (uint32_t at = 0; at < toy_journal(&toy)->count; at++) {
        const struct journal_entry *entry = journal_at(toy_journal(&toy), at);
        if (entry->kind == HOST_ZOMBIE) {
            assert_int_equal(lane_index_of(entry->lane), region);
            assert_int_equal(entry->attempt, 1);
        }
    }
}

/* Goal: a notice that was on its way to a lost attempt reaches nobody; those of the others arrive. */
static void a_late_notice_does_not_reach_the_next_attempt(void **state)
{
    (void)state;
    init(TOY_STAGED);
    toy.config.job.restart_delay = MS(1); /* it runs again before the notice comes */
    for (uint32_t i = 0; i < REGIONS; i++) {
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE),
                                 .value = 2, /* half an interval later */
                                 .who = lane_make(LANE_TASK, i)});
    }
    pin_crash(CRASH_SUBTASK_SHORT, HOST_CHECKPOINT_COMPLETED, 1);
    toy_run(&toy);
    expect_clean();
    const uint32_t region = lane_index_of(entry_of(HOST_REGION_STARTED)->lane);
    assert_int_equal(entry_of(HOST_REGION_STARTED)->checkpoint, 1);
    for (uint32_t i = 0; i < REGIONS; i++) {
        const struct journal_entry notice =
            ENTRY(.kind = HOST_NOTICE, .lane = lane_make(LANE_TASK, i), .checkpoint = 1);
        assert_int_equal(toy_count(&toy, notice), i == region ? 0 : 1);
    }
}

/* Goal: a pause whose process died in it silences nobody: neither the next process nor, when its
 * heartbeats would have been missed, another region's. */
static void a_pause_ends_with_its_process(void **state)
{
    (void)state;
    const struct choice_site *pause = NULL;
    for (size_t i = 0; i < link_site_count; i++) {
        pause = strcmp(link_sites[i].name, "link.pause") == 0 ? &link_sites[i] : pause;
    }
    assert_non_null(pause);
    for (uint32_t i = 0; i < REGIONS; i++) {
        init(TOY_EAGER);
        toy.config.job.record_interval = SECONDS(4); /* for longer than heartbeats may be missed */
        toy.config.job.checkpoint_interval = SECONDS(5);
        toy_pin(&toy,
                (struct toy_pin){.site = pause, .value = 3, .who = lane_make(LANE_WRITER, i)});
        pin_crash(CRASH_SUBTASK_SHORT, HOST_INJECTED, 0);
        toy_run(&toy);
        expect_clean();
        assert_true(toy.result.ended_at > SECONDS(60));
        assert_int_equal(count(HOST_REGION_STOPPED), 1);
        assert_int_equal(entry_of(HOST_REGION_STOPPED)->lane, lane_make(LANE_TASK, i));
        assert_int_equal(count(HOST_ZOMBIE), 0);
        assert_int_equal(count(HOST_JOB_STARTED), 1);
    }
}

/* Goal: the same tape gives the same run. */
static void a_run_with_regions_replays(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t digests[2];
        for (uint32_t i = 0; i < 2; i++) {
            init(TOY_STAGED);
            allow_all();
            toy_run_seed(&toy, seed);
            digests[i] = toy.result.digest;
        }
        assert_true(digests[0] == digests[1]);
    }
}

TEST_MAIN(region,
          TEST(only_the_failed_region_restarts),
          TEST(checkpoints_under_way_are_aborted_for_all),
          TEST(a_region_restores_its_own_part_alone),
          TEST(faults_at_any_place_lose_and_double_nothing),
          TEST(regions_fail_independently),
          TEST(the_whole_job_goes_before_its_regions),
          TEST(a_failure_without_a_restart_left_stops_the_job),
          TEST(a_lost_subtask_outlives_its_region),
          TEST(a_late_notice_does_not_reach_the_next_attempt),
          TEST(a_pause_ends_with_its_process),
          TEST(a_run_with_regions_replays))
