/* Lives of a job: crashes, zombies, restarts, rescale, state pieces, heal.
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
#include "sim/link.h"
#include "sinks/base/test.h"

#include <string.h>

static struct toy toy;

#define ENTRY(...) ((struct journal_entry){__VA_ARGS__})

/* Values of engine.crash. */
enum {
    CRASH_SUBTASK_SHORT = 1,
    CRASH_SUBTASK_AFTER_RELEASE = 5,
    CRASH_ALL_SHORT = 6,
    CRASH_COORDINATOR_SHORT = 11,
    CRASH_LOST_CONTACT_SHORT = 13,
    CRASH_LOST_CONTACT_REQUEST = 14,
};

static const struct choice_site *pause_site(void)
{
    for (size_t i = 0; i < link_site_count; i++) {
        if (strcmp(link_sites[i].name, "link.pause") == 0) {
            return &link_sites[i];
        }
    }
    fail();
    return NULL;
}

static void pin_crash(uint32_t value, enum journal_kind after, uint32_t after_count)
{
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = value,
                             .after = (uint8_t)after,
                             .after_count = after_count});
}

static void run_to_the_end(void)
{
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
}

static nanos time_of(uint32_t position)
{
    assert_true(toy_is_found(position, &toy));
    return journal_at(toy_journal(&toy), position)->time;
}

static nanos start_of(uint16_t attempt)
{
    return time_of(toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = attempt)));
}

/* Goal: wherever a subtask, all of them or the coordinator die, no record is lost; an eager sink may
 * repeat, and a staged one repeats only what it was committing. */
static void a_crash_after_any_event_loses_nothing(void **state)
{
    (void)state;
    const uint32_t values[] = {CRASH_SUBTASK_SHORT, CRASH_ALL_SHORT, CRASH_COORDINATOR_SHORT};
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED_GLOBAL; sink++) {
        for (uint32_t i = 0; i < ARRAY_COUNT(values); i++) {
            for (uint32_t nth = 0; nth < 90; nth++) {
                toy_init(&toy, (enum toy_sink)sink, 24, 2);
                toy.config.job.subtasks = 2;
                toy.config.job.chained = nth % 2 == 0;
                toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
                struct toy_pin *pin = toy_pin(&toy,
                                              (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                                                               .value = values[i],
                                                               .nth = nth});
                run_to_the_end();
                assert_true(toy_effects_least(&toy) >= 1);
                assert_true(toy_effects_most(&toy) <= 2);
                assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
                assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_JOB_STARTED)),
                                 pin->taken ? 2 : 1);
            }
        }
    }
}

/* Goal: C9: a coordinator that dies between completion and notice sends none. */
static void a_coordinator_dies_between_completion_and_notice(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STAGED, 30, 1);
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    pin_crash(CRASH_COORDINATOR_SHORT, HOST_CHECKPOINT_COMPLETED, 1);
    run_to_the_end();
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_NOTICE, .attempt = 1)), 0);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CRASHED)), 0);
    assert_true(toy_count(&toy, ENTRY(.kind = HOST_RESTORED, .checkpoint = 1)) > 0);
    assert_int_equal(toy_effects_most(&toy), 1);
}

/* Goal: the others go on until the crash is noticed, and get CLOSE then. */
static void the_other_subtasks_are_closed_once_the_crash_is_noticed(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 2);
    toy.config.job.subtasks = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.config.job.detection_delay = MS(40);
    pin_crash(CRASH_SUBTASK_SHORT, HOST_CHECKPOINT_COMPLETED, 1);
    run_to_the_end();
    lane other = lane_make(LANE_WRITER, 1);
    uint32_t crashed = toy_find(&toy, 0, ENTRY(.kind = HOST_CRASHED));
    uint32_t closed = toy_find(&toy, 0, ENTRY(.kind = HOST_CLOSED, .lane = other));
    uint32_t record = toy_find(&toy, crashed, ENTRY(.kind = HOST_RECORD, .lane = other));
    assert_true(record < closed);
    assert_true(time_of(closed) == time_of(crashed) + MS(40));
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CRASHED)), 2); /* writer and policy */
}

static void downtime_lasts_as_long_as_its_class(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.downtime[DOWNTIME_AFTER_RELEASE] = MINUTES(20);
    pin_crash(CRASH_SUBTASK_AFTER_RELEASE, HOST_CHECKPOINT_COMPLETED, 1);
    run_to_the_end();
    uint32_t crashed = toy_find(&toy, 0, ENTRY(.kind = HOST_CRASHED));
    assert_true(start_of(2) == time_of(crashed) + MINUTES(20));
}

/* Goal: heal brings the dead back at once. */
static void heal_ends_a_downtime(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.downtime[DOWNTIME_AFTER_RELEASE] = MINUTES(20);
    toy.config.safety_bound = SECONDS(30);
    pin_crash(CRASH_SUBTASK_AFTER_RELEASE, HOST_CHECKPOINT_COMPLETED, 1);
    run_to_the_end();
    assert_true(start_of(2) == SECONDS(30));
    assert_true(toy_effects_least(&toy) >= 1);
}

/* Goal: nobody waits for the end of a pause whose process is dead. Method: a writer, or the committer,
 * is paused for two hours and dies in it; what takes its place is heard of within a second. */
static void a_pause_ends_with_its_process(void **state)
{
    (void)state;
    for (uint32_t kind = CRASH_SUBTASK_SHORT; kind <= CRASH_ALL_SHORT; kind += 5) {
        for (uint32_t committer = 0; committer < 2; committer++) {
            toy_init(&toy, committer == 1 ? TOY_STAGED : TOY_EAGER, 24, 1);
            toy.config.job.downtime[DOWNTIME_SHORT] = MS(100);
            toy_pin(&toy,
                    (struct toy_pin){
                        .site = pause_site(),
                        .value = 3,
                        .who = lane_make(committer == 1 ? LANE_COMMITTER : LANE_WRITER, 0)});
            pin_crash(kind, HOST_INJECTED, 0);
            run_to_the_end();
            const nanos started = start_of(2);
            const uint32_t sent = toy_find(&toy, 0, ENTRY(.kind = WIRE_ANSWERED, .attempt = 2));
            assert_true(started < SECONDS(20));
            assert_true(time_of(sent) < started + SECONDS(1));
            assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_ZOMBIE)), 0);
        }
    }
}

/* Goal: a zombie goes on while its replacement runs, and ends. Method: it retries a request whose
 * answers are lost. */
static void a_zombie_keeps_sending_and_then_ends(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 200, 1);
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(100);
    toy.config.job.downtime[DOWNTIME_REQUEST] = SECONDS(3);
    toy.config.job.zombies = true;
    toy_pin(&toy, (struct toy_pin){.site = &toy_fate_site, .value = 2, .nth = 4});
    toy.config.job.record_interval = MS(40);
    pin_crash(CRASH_LOST_CONTACT_REQUEST, HOST_RECORD, 6);
    run_to_the_end();
    uint32_t zombie = toy_find(&toy, 0, ENTRY(.kind = HOST_ZOMBIE));
    uint32_t start = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    uint32_t ended = toy_find(&toy, 0, ENTRY(.kind = HOST_ZOMBIE_ENDED));
    uint32_t issued = toy_find(&toy, start, ENTRY(.kind = WIRE_ISSUED, .attempt = 1));
    assert_true(zombie < start);
    assert_true(start < issued);
    assert_true(issued < ended);
    assert_true(time_of(ended) == start_of(2) + SECONDS(3));
    uint32_t request = journal_at(toy_journal(&toy), issued)->request;
    assert_int_equal(toy_count(&toy, ENTRY(.kind = WORLD_REPLACED, .request = request)), 1);
    assert_int_equal(toy_find(&toy, ended, ENTRY(.kind = WIRE_ISSUED, .attempt = 1)),
                     toy_journal(&toy)->count);
}

/* Goal: what a zombie had sent lands after its end. Method: it ends while a request is late. */
static void late_requests_of_a_zombie_land(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 200, 1);
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(100);
    toy.config.job.zombies = true;
    toy.config.job.record_interval = MS(40);
    toy_pin(&toy, (struct toy_pin){.site = &toy_fate_site, .value = 3, .nth = 4});
    pin_crash(CRASH_LOST_CONTACT_SHORT, HOST_RECORD, 5);
    run_to_the_end();
    uint32_t ended = toy_find(&toy, 0, ENTRY(.kind = HOST_ZOMBIE_ENDED));
    uint32_t late = toy_find(&toy, ended, ENTRY(.kind = WORLD_REPLACED, .attempt = 1));
    assert_true(toy_is_found(late, &toy));
}

/* Goal: a zombie's failed record goes to its own policy. Method: all zombies of all seeds. */
static void a_zombie_speaks_to_its_own_policy(void **state)
{
    (void)state;
    uint32_t zombies = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        toy_init(&toy, TOY_EAGER, 60, 2);
        toy_allow_all(&toy);
        toy.config.faults.kinds = UINT32_C(1) << FAULT_ZOMBIE | UINT32_C(1) << FAULT_ANSWER_LOST |
                                  UINT32_C(1) << FAULT_CRASH;
        toy.behaviour.poison = (record_id)(1 + seed % 60);
        toy.behaviour.policy = TOY_POLICY_SLOW;
        toy.behaviour.open_for = MS(30);
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_CONTRACT)), 0);
        zombies += toy_count(&toy, ENTRY(.kind = HOST_ZOMBIE));
    }
    assert_true(zombies > 20);
}

/* Goal: FW5: on rescale pieces are dealt out one by one; without rescale each subtask has its own. */
static void pieces_are_dealt_out_one_by_one(void **state)
{
    (void)state;
    const uint32_t to[] = {1, 2, 3};
    const uint32_t expected[][3] = {{6, 0, 0}, {3, 3, 0}, {2, 2, 2}};
    for (uint32_t i = 0; i < ARRAY_COUNT(to); i++) {
        toy_init(&toy, TOY_STATEFUL, 40, 4);
        toy.config.job.subtasks = 2;
        toy.config.job.rescale_to[0] = to[i];
        toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
        toy.behaviour.pieces = 3;
        pin_crash(CRASH_ALL_SHORT, HOST_CHECKPOINT_COMPLETED, 2);
        toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = 1});
        run_to_the_end();
        for (uint32_t subtask = 0; subtask < to[i]; subtask++) {
            assert_int_equal(toy.behaviour.pieces_given[subtask], expected[i][subtask]);
        }
        assert_int_equal(
            store_get(toy.runner.store, toy.runner.store->latest_completed)->piece_count, 6);
        assert_true(toy_effects_least(&toy) >= 1);
    }
}

/* Goal: a restore without rescale gives each subtask what it had stored. */
static void pieces_go_back_to_their_subtask_when_nothing_is_rescaled(void **state)
{
    (void)state;
    toy_init(&toy, TOY_STATEFUL, 40, 4);
    toy.config.job.subtasks = 2;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    toy.behaviour.pieces = 1;
    toy.behaviour.barrier_for = MS(5);
    pin_crash(CRASH_ALL_SHORT, HOST_CHECKPOINT_COMPLETED, 2);
    run_to_the_end();
    const struct stored_checkpoint *stored =
        store_get(toy.runner.store, toy.runner.store->latest_completed);
    for (uint32_t i = 0; i < stored->piece_count; i++) {
        assert_int_equal(stored->pieces[i].data.data[0], stored->pieces[i].subtask + 1);
    }
}

/* Goal: where pieces are united, each subtask gets all of them (EO34), rescaled or not. */
static void united_pieces_go_to_all_subtasks(void **state)
{
    (void)state;
    for (uint32_t rescaled = 0; rescaled < 2; rescaled++) {
        toy_init(&toy, TOY_STATEFUL, 40, 4);
        toy.config.job.subtasks = 2;
        toy.config.job.rescale_to[0] = rescaled == 0 ? 0 : 3;
        toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
        toy.config.job.pieces_to_all = true;
        toy.behaviour.pieces = 3;
        pin_crash(CRASH_ALL_SHORT, HOST_CHECKPOINT_COMPLETED, 2);
        toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = rescaled});
        run_to_the_end();
        for (uint32_t subtask = 0; subtask < 2 + rescaled; subtask++) {
            assert_int_equal(toy.behaviour.pieces_given[subtask], 6);
        }
    }
}

static void restarts_stop_at_their_limit(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.restart_attempts = 3;
    toy.behaviour.opens_fail = 100;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_JOB_STARTED)), 4);
    uint32_t failed = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_FAILED));
    assert_int_equal(journal_at(toy_journal(&toy), failed)->code, STOP_CAUSE_SINK);
    assert_int_equal(journal_at(toy_journal(&toy), failed)->a, SINK_REASON_CONFIG);
}

static void a_job_without_restarts_fails_at_once(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.restart = JOB_RESTART_NONE;
    toy.behaviour.opens_fail = 1;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_FAILED);
    assert_int_equal(toy_count(&toy, ENTRY(.kind = HOST_JOB_STARTED)), 1);
}

static void exponential_delays_double_up_to_their_limit(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.job.restart = JOB_RESTART_EXPONENTIAL;
    toy.config.job.restart_delay = MS(100);
    toy.config.job.restart_delay_max = MS(500);
    toy.behaviour.opens_fail = 5;
    run_to_the_end();
    const nanos delays[] = {MS(100), MS(200), MS(400), MS(500), MS(500)};
    for (uint16_t i = 0; i < ARRAY_COUNT(delays); i++) {
        uint32_t stopped =
            toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STOPPED, .attempt = (uint16_t)(i + 1)));
        assert_true(start_of((uint16_t)(i + 2)) == time_of(stopped) + delays[i]);
    }
}

/* Goal: after an older restore the job goes on from there: a crash before the next completed
 * checkpoint does not bring back the branch that was given up. */
static void an_older_restore_gives_up_the_newer_branch(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.config.job.older_restores = true;
    toy.config.job.checkpoint_retained = 3;
    toy.config.job.downtime[DOWNTIME_SHORT] = MS(1);
    pin_crash(CRASH_ALL_SHORT, HOST_CHECKPOINT_COMPLETED, 3);
    toy_pin(&toy, (struct toy_pin){.site = toy_site(ENGINE_SITE_RESTORE), .value = 5});
    toy_pin(&toy,
            (struct toy_pin){.site = toy_site(ENGINE_SITE_CRASH),
                             .value = CRASH_ALL_SHORT,
                             .after = HOST_JOB_STARTED,
                             .after_count = 2,
                             .nth = 3});
    run_to_the_end();
    uint32_t second = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 2));
    uint32_t third = toy_find(&toy, 0, ENTRY(.kind = HOST_JOB_STARTED, .attempt = 3));
    assert_int_equal(journal_at(toy_journal(&toy), second)->checkpoint, 2);
    assert_int_equal(journal_at(toy_journal(&toy), third)->checkpoint, 2);
}

/* Goal: memory does not run away over many lives. */
static void a_thousand_restarts_fit_into_a_run(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_STATEFUL; sink <= TOY_STAGED; sink++) {
        uint32_t bytes[2];
        for (uint32_t i = 0; i < 2; i++) {
            toy_init(&toy, (enum toy_sink)sink, 20, 2);
            toy.config.job.subtasks = 2;
            toy.config.safety_bound = HOURS(10);
            toy.config.arena_soft_cap = (size_t)16 << 20;
            toy.config.events_max = UINT64_C(1) << 24;
            toy.config.job.restart_delay = SECONDS(1);
            toy.config.job.record_interval = MS(1);
            toy.behaviour.pieces = 2;
            toy.behaviour.opens_fail = 500 + 500 * i;
            run_to_the_end();
            bytes[i] = toy.result.arena_bytes;
        }
        /* Journal, link and store keep what happened: so much per life and no more. */
        assert_true(bytes[1] - bytes[0] < 500 * 3000);
    }
}

TEST_MAIN(job,
          TEST(a_crash_after_any_event_loses_nothing),
          TEST(a_coordinator_dies_between_completion_and_notice),
          TEST(the_other_subtasks_are_closed_once_the_crash_is_noticed),
          TEST(downtime_lasts_as_long_as_its_class),
          TEST(heal_ends_a_downtime),
          TEST(a_pause_ends_with_its_process),
          TEST(a_zombie_keeps_sending_and_then_ends),
          TEST(late_requests_of_a_zombie_land),
          TEST(a_zombie_speaks_to_its_own_policy),
          TEST(pieces_are_dealt_out_one_by_one),
          TEST(pieces_go_back_to_their_subtask_when_nothing_is_rescaled),
          TEST(united_pieces_go_to_all_subtasks),
          TEST(restarts_stop_at_their_limit),
          TEST(a_job_without_restarts_fails_at_once),
          TEST(exponential_delays_double_up_to_their_limit),
          TEST(an_older_restore_gives_up_the_newer_branch),
          TEST(a_thousand_restarts_fit_into_a_run))
