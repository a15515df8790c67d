/* The committer: rules C1 to C7, C9, C10, C14, and FW3.
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
#include "sinks/base/test.h"

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

static void run_to_the_end(void)
{
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
}

static void require_each_record_once(void)
{
    assert_int_equal(toy_effects_least(&toy), 1);
    assert_int_equal(toy_effects_most(&toy), 1);
}

/* The checkpoint of the n-th entry of a kind, from 0. */
static uint32_t checkpoint_of(enum journal_kind kind, uint32_t n)
{
    uint32_t at = toy_find(&toy, 0, ENTRY(.kind = (uint8_t)kind));
    for (uint32_t i = 0; i < n; i++) {
        at = toy_find(&toy, at + 1, ENTRY(.kind = (uint8_t)kind));
    }
    assert_true(toy_is_found(at, &toy));
    return journal_at(toy_journal(&toy), at)->checkpoint;
}

/* Goal: C1. Method: no commit has run when checkpoint 1 is stored, and it holds all that came. */
static void a_snapshot_holds_the_collection_before_its_commit(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    run_to_the_end();
    const struct stored_checkpoint *first = store_get(toy.runner.store, 1);
    uint32_t received = toy_count(&toy, ENTRY(.kind = HOST_RECEIVED, .checkpoint = 1));
    assert_true(received > 0);
    assert_int_equal(first->collection_count, 1);
    assert_int_equal(first->collections[0].request_count, received);
    assert_true(toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT)) >
                toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = 1)));
}

/* Goal: C1. Method: the second snapshot, taken while the first commit still runs, still holds the
 * requests of the first. */
static void progress_of_a_commit_is_never_stored(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE), .value = 1});
    run_to_the_end();
    const struct stored_checkpoint *second = store_get(toy.runner.store, 2);
    const struct stored_collection *collection = &second->collections[0];
    assert_int_equal(collection->requests[0]->checkpoint, 1);
    assert_int_equal(collection->requests[collection->request_count - 1]->checkpoint, 2);
    require_each_record_once();
}

/* Goal: C2, C9, two checkpoints before one notice. Method: the notice of 1 is lost. */
static void one_notice_commits_all_older_checkpoints_ascending(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE), .value = 1});
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_NOTICE_LOST, .checkpoint = 1)), 1);
    uint32_t notice = toy_find(&toy, 0, ENTRY(.kind = HOST_NOTICE));
    assert_int_equal(journal_at(toy_journal(&toy), notice)->checkpoint, 2);
    assert_true(toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT)) > notice);
    assert_int_equal(checkpoint_of(HOST_COMMIT, 0), 1);
    assert_int_equal(checkpoint_of(HOST_COMMIT, 1), 2);
    uint32_t returned = toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT_RETURNED, .checkpoint = 1));
    assert_true(returned < toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT, .checkpoint = 2)));
    require_each_record_once();
}

/* Goal: FW1, on a task thread a notice goes ahead of input, and so does what it lets commit. Method:
 * a slow writer, so that records wait whenever a notice comes. */
static void what_a_notice_lets_commit_is_committed_before_the_next_record(void **state)
{
    (void)state;
    uint32_t met = 0;
    toy_init(&toy, TOY_STAGED, 60, 1);
    toy.behaviour.busy_for = MS(20);
    run_to_the_end();
    for (uint32_t at = toy_find(&toy, 0, ENTRY(.kind = HOST_NOTICE)); toy_is_found(at, &toy);
         at = toy_find(&toy, at + 1, ENTRY(.kind = HOST_NOTICE))) {
        uint32_t record = toy_find(&toy, at, ENTRY(.kind = HOST_RECORD));
        if (toy_is_found(record, &toy)) {
            const uint32_t checkpoint = journal_at(toy_journal(&toy), at)->checkpoint;
            const uint32_t returned =
                toy_find(&toy, at, ENTRY(.kind = HOST_COMMIT_RETURNED, .checkpoint = checkpoint));
            assert_true(returned < record);
            met++;
        }
    }
    assert_true(met > 2);
}

/* Goal: C9: a late notice, and one that comes behind the next. */
static void late_notices_lose_and_repeat_nothing(void **state)
{
    (void)state;
    for (uint32_t value = 2; value <= 3; value++) {
        toy_init(&toy, TOY_STAGED, 30, 1);
        struct toy_pin *pin =
            toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_NOTICE), .value = value});
        run_to_the_end();
        assert_true(pin->taken);
        require_each_record_once();
    }
}

/* Goal: C3. Method: checkpoint 1 is aborted once all its parts are there. */
static void committables_of_an_aborted_checkpoint_are_committed_with_the_next(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_CHECKPOINT), .value = 1});
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CHECKPOINT_ABORTED, .checkpoint = 1)), 1);
    uint32_t completed =
        toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = 2));
    uint32_t commit = toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT));
    assert_true(commit > completed);
    assert_int_equal(journal_at(toy_journal(&toy), commit)->checkpoint, 1);
    assert_int_equal(toy.behaviour.aborts_heard, 1);
    require_each_record_once();
}

/* Goal: C4, FW3 when chained. Method: crash after completion, before the notice. */
static void restored_collections_are_committed_before_any_input(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = 1,
                             .after = HOST_CHECKPOINT_COMPLETED});
    run_to_the_end();
    uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    uint32_t restored = toy_find(&toy, start, ENTRY(.kind = HOST_RESTORED));
    uint32_t committer = toy_find(&toy, start, ENTRY(.kind = HOST_OPENED));
    uint32_t returned = toy_find(&toy, start, ENTRY(.kind = HOST_COMMIT_RETURNED));
    uint32_t record = toy_find(&toy, start, ENTRY(.kind = HOST_RECORD));
    assert_int_equal(lane_kind_of(journal_at(toy_journal(&toy), committer)->lane), LANE_COMMITTER);
    assert_true(restored < committer);
    assert_true(committer < returned);
    assert_true(returned < record);
    require_each_record_once();
}

/* Goal: FW3: with a committer on a thread of its own, either side may open first. */
static void a_separate_committer_opens_before_or_after_the_writer(void **state)
{
    (void)state;
    for (uint32_t value = 0; value <= 1; value++) {
        toy_init(&toy, TOY_STAGED, 30, 1);
        toy.config.job.chained = false;
        toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_OPENING), .value = value});
        run_to_the_end();
        lane writer = lane_make(LANE_WRITER, 0);
        lane committer = lane_make(LANE_COMMITTER, 0);
        bool writer_first = toy_find(&toy, 0, ENTRY(.kind = HOST_OPENED, .lane = writer)) <
                            toy_find(&toy, 0, ENTRY(.kind = HOST_OPENED, .lane = committer));
        assert_int_equal(writer_first, value == 1);
        require_each_record_once();
    }
}

/* Goal: C5. Method: the input ends between barriers 2 and 3. */
static void end_of_input_is_staged_under_the_last_barrier_and_one(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 25, 1);
    run_to_the_end();
    uint32_t end = toy_find(&toy, 0, ENTRY(.kind = HOST_INPUT_ENDED));
    uint32_t staged = toy_find(&toy, end, ENTRY(.kind = HOST_STAGED));
    assert_int_equal(journal_at(toy_journal(&toy), staged)->checkpoint, 3);
    assert_int_equal(toy.behaviour.end_goes_with, 3);
    require_each_record_once();
}

/* Goal: C5 after a restore. Method: restored from 1, the input ends before another barrier. */
static void end_of_input_counts_on_from_the_restored_checkpoint(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 15, 1);
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy_pin(&toy,
            (struct toy_pin){
                .site = toy_site(ENGINE_SITE_CRASH), .value = 1, .after = HOST_COMMIT_RETURNED});
    run_to_the_end();
    uint32_t end = toy_find(&toy, 0, ENTRY(.kind = HOST_INPUT_ENDED, .attempt = 2));
    uint32_t staged = toy_find(&toy, end, ENTRY(.kind = HOST_STAGED));
    assert_int_equal(journal_at(toy_journal(&toy), staged)->checkpoint, 2);
    assert_int_equal(toy.behaviour.end_goes_with, 2);
}

/* Goal: C6. Method: the toy signals nothing; then it signals that it is already there. */
static void a_request_without_a_signal_counts_as_committed(void **state)
{
    (void)state;
    for (uint32_t times = 0; times <= 100; times += 100) {
        toy_init(&toy, TOY_STAGED, 30, 1);
        toy.behaviour.signal = SINK_SIGNAL_ALREADY_COMMITTED;
        toy.behaviour.signal_times = times;
        run_to_the_end();
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_FINALISED)), 30);
        require_each_record_once();
    }
}

static void retry_later_is_committed_again(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 5, 1);
    toy.behaviour.signal = SINK_SIGNAL_RETRY_LATER;
    toy.behaviour.signal_times = 7;
    run_to_the_end();
    assert_true(marks_has(&toy.result.marks, MARK_ENGINE_COMMIT_RETRIED));
    /* Five are to be retried, then two of the five. */
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT)), 3);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT_REQUEST)), 5 + 5 + 2);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_FINALISED)), 5);
    assert_int_equal(toy_effects_least(&toy), 2);
    assert_int_equal(toy_effects_most(&toy), 3);
}

/* Goal: C6: retries + 1 commits, then the job fails and restores. */
static void retry_later_beyond_the_limit_fails_the_job(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 5, 1);
    toy.config.job.commit_retries = 3;
    toy.behaviour.signal = SINK_SIGNAL_RETRY_LATER;
    toy.behaviour.signal_times = 4 * 5;
    run_to_the_end();
    uint32_t stopped = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STOPPED));
    assert_int_equal(journal_at(toy_journal(&toy), stopped)->code, STOP_CAUSE_SINK);
    assert_int_equal(journal_at(toy_journal(&toy), stopped)->a, SINK_REASON_EXHAUSTED);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT, .attempt = 1)), 4);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT, .attempt = 2)), 1);
}

/* Goal: C7. Method: the first commit throws after its effects. */
static void a_failing_commit_replays_all_requests(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 9, 1);
    toy.behaviour.commits_fail = 2;
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT_REQUEST, .attempt = 1)), 9);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT_REQUEST, .attempt = 2)), 9);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_COMMIT_REQUEST, .attempt = 3)), 9);
    assert_int_equal(toy_effects_least(&toy), 3);
    assert_int_equal(toy_effects_most(&toy), 3);
}

/* Goal: C10, chained and not. Method: a commit lasts longer than the interval. */
static void a_barrier_waits_for_a_running_commit(void **state)
{
    (void)state;
    for (uint32_t chained = 0; chained <= 1; chained++) {
        toy_init(&toy, TOY_STAGED, 40, 1);
        toy.config.job.chained = chained == 1;
        toy.behaviour.commit_for = MS(150);
        run_to_the_end();
        uint32_t returned = toy_find(&toy, 0, ENTRY(.kind = HOST_COMMIT_RETURNED, .checkpoint = 1));
        uint32_t triggered =
            toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_TRIGGERED, .checkpoint = 2));
        uint32_t completed =
            toy_find(&toy, 0, ENTRY(.kind = HOST_CHECKPOINT_COMPLETED, .checkpoint = 2));
        uint32_t barrier = toy_find(&toy, 0, ENTRY(.kind = HOST_BARRIER, .checkpoint = 2));
        assert_true(triggered < returned);
        assert_true(returned < completed);
        assert_int_equal(returned < barrier, chained == 1);
        require_each_record_once();
    }
}

/* Goal: C4, C14: 2 to 1 and 2 to 3. Method: crash between completion and notice, rescaled. */
static void rescaling_preserves_the_union_of_collections(void **state)
{
    (void)state;
    const uint32_t to[] = {1, 3};
    for (uint32_t i = 0; i < ARRAY_COUNT(to); i++) {
        toy_init(&toy, TOY_STAGED, 40, 4);
        toy.config.job.subtasks = 2;
        toy.config.job.rescale_to[0] = to[i];
        toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
        toy_pin(&toy,
                (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                 .value = 6,
                                 .after = HOST_CHECKPOINT_COMPLETED});
        struct toy_pin *pin =
            toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = 1});
        run_to_the_end();
        assert_true(pin->taken);
        const struct stored_checkpoint *stored = store_get(toy.runner.store, 1);
        uint32_t held = 0;
        for (uint32_t c = 0; c < stored->collection_count; c++) {
            held += stored->collections[c].request_count;
        }
        assert_int_equal(stored->collection_count, 2);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_RESTORED, .attempt = 2)), held);
        uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
        assert_int_equal(journal_at(toy_journal(&toy), start)->a, to[i]);
        require_each_record_once();
    }
}

/* Goal: a collection moves whole. Method: each subtask's requests end up with one committer. */
static void a_collection_moves_whole(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 40, 4);
    toy.config.job.subtasks = 3;
    toy.config.job.rescale_to[0] = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = 6,
                             .after = HOST_CHECKPOINT_COMPLETED});
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = 1});
    run_to_the_end();
    const struct stored_checkpoint *stored = store_get(toy.runner.store, 1);
    for (uint32_t c = 0; c < stored->collection_count; c++) {
        const struct stored_collection *collection = &stored->collections[c];
        lane owner = lane_make(LANE_COMMITTER, collection->subtask % 2);
        for (uint32_t i = 0; i < collection->request_count; i++) {
            assert_int_equal(toy_count(&toy,
                                       ENTRY(.kind = HOST_RESTORED,
                                             .attempt = 2,
                                             .lane = owner,
                                             .identity = collection->requests[i]->identity)),
                             1);
        }
    }
    require_each_record_once();
}

/* Goal: a global committer's snapshot stops at its barrier, though one writer ran ahead. Method:
 * two checkpoints at a time; writer 1 answers the first barrier late. */
static void a_global_committer_stores_nothing_behind_the_barrier(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED_GLOBAL, 60, 2);
    toy.config.job.subtasks = 2;
    toy.config.job.checkpoint_concurrent = 2;
    toy.behaviour.barrier_for = MS(150);
    toy.behaviour.barrier_slow = 1;
    run_to_the_end();
    for (uint32_t number = 1; number <= toy.runner.store->checkpoint_count; number++) {
        const struct stored_checkpoint *stored = store_get(toy.runner.store, number);
        for (uint32_t c = 0; c < stored->collection_count; c++) {
            for (uint32_t i = 0; i < stored->collections[c].request_count; i++) {
                assert_true(stored->collections[c].requests[i]->checkpoint <= number);
            }
        }
    }
    require_each_record_once();
}

static void a_global_committer_gets_everything_of_all_writers(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED_GLOBAL, 60, 3);
    toy.config.job.subtasks = 3;
    toy.config.job.sources = 2;
    run_to_the_end();
    assert_int_equal(store_get(toy.runner.store, 1)->collection_count, 1);
    assert_int_equal(
        toy_count(&toy, ENTRY(.kind = HOST_FINALISED, .lane = lane_make(LANE_COMMITTER, 0))), 60);
    require_each_record_once();
}

TEST_MAIN(committer,
          TEST(a_snapshot_holds_the_collection_before_its_commit),
          TEST(progress_of_a_commit_is_never_stored),
          TEST(one_notice_commits_all_older_checkpoints_ascending),
          TEST(what_a_notice_lets_commit_is_committed_before_the_next_record),
          TEST(late_notices_lose_and_repeat_nothing),
          TEST(committables_of_an_aborted_checkpoint_are_committed_with_the_next),
          TEST(restored_collections_are_committed_before_any_input),
          TEST(a_separate_committer_opens_before_or_after_the_writer),
          TEST(end_of_input_is_staged_under_the_last_barrier_and_one),
          TEST(end_of_input_counts_on_from_the_restored_checkpoint),
          TEST(a_request_without_a_signal_counts_as_committed),
          TEST(retry_later_is_committed_again),
          TEST(retry_later_beyond_the_limit_fails_the_job),
          TEST(a_failing_commit_replays_all_requests),
          TEST(a_barrier_waits_for_a_running_commit),
          TEST(rescaling_preserves_the_union_of_collections),
          TEST(a_collection_moves_whole),
          TEST(a_global_committer_stores_nothing_behind_the_barrier),
          TEST(a_global_committer_gets_everything_of_all_writers))
