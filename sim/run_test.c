/* A whole run: determinism, replay, limits, heal, the end.
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
#include "sim/run.h"

#include "sim/engine/toy_testkit.h"
#include "sim/link_internal.h"
#include "sim/oracle_set.h"
#include "sinks/base/test.h"

#include <string.h>

#define SEED_COUNT 200

static struct toy toy;

/* Everything may happen; the shape of the job varies with the number. */
static void prepare_any(uint32_t number)
{
    toy_init(&toy, (enum toy_sink)(number % 4), 60, 1 + number % 3);
    toy_allow_all(&toy);
    struct job_config *job = &toy.config.job;
    job->sources = 1 + number % 2;
    job->subtasks = 1 + number / 2 % 3;
    job->chained = number % 5 != 0;
    job->bounded = number % 3 != 0;
    job->routing = (uint8_t)(number % 3);
    job->checkpoint_concurrent = 1 + number % 2;
    job->checkpoint_failures_tolerated = 3;
    job->cpu_per_event = number % 7 == 0 ? US(10) : 0;
    toy.config.race_window = number % 2 == 0 ? MS(2) : 0;
    toy.behaviour.pieces = 2;
    toy.config.safety_bound = MINUTES(40);
    toy.config.faults.cap_total = 12;
}

/* A copy of the tape that the last run left. */
static struct tape keep_tape(void)
{
    static struct tape_entry entries[RESULT_TAPE_MAX];
    assert_false(toy.result.tape_cut);
    for (uint32_t i = 0; i < toy.result.tape.count; i++) {
        entries[i] = toy.result.tape.entries[i];
    }
    return (struct tape){.entries = entries,
                         .count = toy.result.tape.count,
                         .capacity = RESULT_TAPE_MAX,
                         .identity = toy.result.tape.identity};
}

/* Goal: a run depends on nothing but its seed. Method: twice, over memory filled differently. */
static void a_seed_gives_the_same_digest_over_any_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEED_COUNT; seed++) {
        prepare_any(seed);
        toy.request.fill_on = true;
        toy.request.fill = 0x00;
        toy_run_seed(&toy, seed);
        uint64_t digest = toy.result.digest;
        prepare_any(seed);
        toy.request.fill_on = true;
        toy.request.fill = 0xff;
        toy_run_seed(&toy, seed);
        assert_true(toy.result.digest == digest);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    }
}

static void different_seeds_give_different_runs(void **state)
{
    (void)state;
    prepare_any(3);
    toy_run_seed(&toy, 1);
    uint64_t digest = toy.result.digest;
    toy_run_seed(&toy, 2);
    assert_true(toy.result.digest != digest);
}

static uint64_t another_digest(const void *state)
{
    (void)state;
    return 1;
}

/* Goal: a sink whose state differs is seen though it does the same. Method: only its digest is
 * another, in a run without a choice. */
static void the_state_in_which_a_half_ends_is_part_of_the_digest(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 4, 1);
    toy_run(&toy);
    const uint64_t digest = toy.result.digest;
    toy_init(&toy, TOY_EAGER, 4, 1);
    struct sink_half writer = *toy.config.job.sink->writer;
    struct sink_type sink = *toy.config.job.sink;
    writer.digest = another_digest;
    sink.writer = &writer;
    toy.config.job.sink = &sink;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_true(toy.result.digest != digest);
}

/* Goal: the tape says all. Method: each seed's tape, replayed, gives the same digest and tape. */
static void the_tape_of_a_run_replays_it(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEED_COUNT; seed++) {
        prepare_any(seed);
        toy_run_seed(&toy, seed);
        struct tape tape = keep_tape();
        uint64_t digest = toy.result.digest;
        prepare_any(seed);
        toy_run_tape(&toy, &tape);
        assert_true(toy.result.digest == digest);
        assert_int_equal(toy.result.tape.count, tape.count);
        assert_int_equal(toy.result.alignment.aligned, tape.count);
        assert_int_equal(toy.result.alignment.drifted, 0);
    }
}

static void the_calm_run_is_the_empty_tape(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 12; number++) {
        prepare_any(number);
        toy_run(&toy);
        uint64_t digest = toy.result.digest;
        assert_int_equal(toy.result.tape.count, 0);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        prepare_any(number);
        struct tape empty = {0};
        toy_run_tape(&toy, &empty);
        assert_true(toy.result.digest == digest);
    }
}

/* --- reach ------------------------------------------------------------------------------------- */

static uint64_t taken[32]; /* per engine site: bits of the values that were drawn */

static void count_taken(void)
{
    for (uint32_t i = 0; i < toy.result.tape.count; i++) {
        const struct tape_entry *entry = &toy.result.tape.entries[i];
        for (size_t site = 0; site < engine_site_count; site++) {
            if (engine_sites[site].key == entry->key) {
                taken[site] |= UINT64_C(1) << entry->value;
            }
        }
    }
}

/* Goal: no outcome of the engine's menus is dead. */
static void every_outcome_of_the_engine_is_reached(void **state)
{
    (void)state;
    assert_true(engine_site_count <= ARRAY_COUNT(taken));
    memset(taken, 0, sizeof(taken));
    for (uint32_t seed = 0; seed < 2000; seed++) {
        prepare_any(seed);
        toy.config.job.sources = 4;
        toy.config.job.chained = seed % 2 == 0;
        toy.config.job.record_burst = 3;
        toy.config.job.clock_jump = (int64_t)MINUTES(1);
        toy.config.job.stateless_restores = (uint8_t)(seed % 3);
        toy.config.job.allow_non_restored = true;
        toy.config.job.source_renumbers = true;
        toy.config.job.barriers = (uint8_t)(seed % 5 < 3 ? seed % 5 : 0);
        toy_next_sink(&toy, seed % 4 < 2 ? TOY_STAGED : TOY_EAGER);
        toy.config.job.savepoint =
            (struct job_savepoint){.at = seed % 3 == 0 ? JOB_SAVEPOINT_NEVER : JOB_SAVEPOINT_DRAWN,
                                   .kind = seed % 3 == 1 ? JOB_SAVEPOINT_ONLY : JOB_SAVEPOINT_STOP,
                                   .failure = JOB_SAVEPOINT_FAILURE_DRAWN};
        toy_run_seed(&toy, seed);
        count_taken();
    }
    for (size_t site = 0; site < engine_site_count; site++) {
        for (uint32_t value = 1; value < engine_sites[site].outcome_count; value++) {
            if ((taken[site] >> value & 1) == 0) {
                fail_msg("%s %s was never drawn",
                         engine_sites[site].name,
                         engine_sites[site].outcomes[value].name);
            }
        }
    }
}

/* Goal: what the engine promises with faults of all kinds: nothing is lost. */
static void no_seed_loses_a_record(void **state)
{
    (void)state;
    static const struct oracle_type *const judges[] = {&oracle_checkpoint_durable,
                                                       &oracle_at_least_once,
                                                       &oracle_staged_silence,
                                                       &oracle_ownership,
                                                       &oracle_value_intact,
                                                       &oracle_liveness,
                                                       &oracle_progress,
                                                       &oracle_no_silent_loss,
                                                       &oracle_contract};
    uint32_t crashes = 0;
    for (uint32_t seed = 0; seed < 2 * SEED_COUNT; seed++) {
        prepare_any(seed);
        toy.config.job.older_restores = false;
        for (uint32_t i = 0; i < ARRAY_COUNT(judges); i++) {
            toy.config.oracles[i] = judges[i];
        }
        toy.config.oracle_count = ARRAY_COUNT(judges);
        toy_run_seed(&toy, seed);
        if (toy.result.verdict != RUN_OK) {
            fail_msg("seed %u: %s", seed, toy.result.findings[0].finding.message);
        }
        crashes += toy.result.crashes;
    }
    assert_true(crashes > SEED_COUNT);
}

/* --- ends -------------------------------------------------------------------------------------- */

static void work_that_is_not_done_by_the_deadline_is_stuck(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 30, 1);
    toy.config.safety_bound = SECONDS(10);
    toy.config.facts.liveness_bound = SECONDS(20);
    toy.behaviour.never_answers_barrier = true;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_STUCK);
    assert_true(toy.result.ended_at == SECONDS(30));
}

static void a_used_up_limit_is_a_verdict(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.config.events_max = 100;
    toy_run(&toy);
    assert_int_equal(toy.result.verdict, RUN_LIMIT);
    assert_int_equal(toy.result.end, RUN_END_LIMIT);
    assert_int_equal(toy.result.events, 100);
    assert_string_equal(toy.result.message,
                        "events are used up: budgets.events is 100, reached after event 100");

    toy_init(&toy, TOY_STAGED, 500, 1);
    toy.config.arena_soft_cap = 128 << 10;
    toy_run(&toy);
    assert_int_equal(toy.result.verdict, RUN_LIMIT);
    assert_non_null(strstr(toy.result.message, "budgets.arena_bytes is 131072"));

    prepare_any(1);
    toy.request.choice.tape_cap = 5;
    toy_run_seed(&toy, 1);
    assert_int_equal(toy.result.verdict, RUN_LIMIT);
    assert_non_null(strstr(toy.result.message, "the tape is full: choices allowed are 5"));
}

/* Goal: at a limit nothing that was not violated counts as judged. */
static void a_limit_leaves_oracles_inconclusive(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.config.events_max = 100;
    toy.config.oracles[0] = &oracle_at_least_once;
    toy.config.oracle_count = 1;
    toy_run(&toy);
    assert_int_equal(toy.result.verdict, RUN_LIMIT);
    assert_int_equal(toy.result.inconclusive, 1);
}

static void a_run_can_stop_before_an_event(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.request.until_event = 50;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_NONE);
    assert_int_equal(toy.result.events, 49);
}

static void count_call(void *context)
{
    (*(uint32_t *)context)++;
}

/* Goal: a debugger may look at a run on its way without changing it. Method: the same run with a call
 * before its 50th event and without. */
static void a_run_can_be_looked_at_before_an_event(void **state)
{
    uint32_t calls = 0;
    (void)state;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy_run(&toy);
    const uint64_t digest = toy.result.digest;
    toy_init(&toy, TOY_EAGER, 60, 1);
    toy.request.until_event = 50;
    toy.request.at_event = count_call;
    toy.request.at_event_context = &calls;
    toy_run(&toy);
    assert_int_equal(calls, 1);
    assert_true(toy.result.digest == digest);
}

static void a_run_without_anything_is_vacuous(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 0, 1);
    toy.config.job.checkpointing = false;
    toy_run(&toy);
    assert_int_equal(toy.result.verdict, RUN_VACUOUS);
}

static enum err refuse(const struct sink_option_value *options,
                       const struct sink_job *job,
                       struct byte_writer *message)
{
    (void)options;
    (void)job;
    byte_writer_text(message, "no such thing");
    return ERR_INVALID;
}

static void a_refused_configuration_is_a_verdict(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 5, 1);
    struct sink_type refusing = *toy.config.job.sink;
    refusing.validate = refuse;
    toy.config.job.sink = &refusing;
    toy_run(&toy);
    assert_int_equal(toy.result.verdict, RUN_REFUSED);
    assert_string_equal(toy.result.message, "no such thing");
}

/* Goal: what has left a sink takes effect before the end checks, though the job is done before it
 * does. Method: the last request is applied after its caller gave up and sent it again; nothing else
 * keeps the run going. */
static void effects_on_their_way_land_before_the_end(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 5, 1);
    toy.config.job.checkpointing = false;
    toy.config.job.bounded = false;
    toy.config.link.late_effect_max = toy.config.facts.late_effect_max;
    toy_pin(&toy, (struct toy_pin){.site = &toy_fate_site, .value = 3, .nth = 4});
    toy_pin(&toy,
            (struct toy_pin){.site = &link_sites[LINK_SITE_LATE], .value = LATE_BEFORE_BOUND});
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_int_equal(toy_effects_of(&toy, 5), 2);
    assert_int_equal(toy_count(&toy, (struct journal_entry){.kind = HOST_HEAL}), 1);
}

/* A service that answers at once and has something left to do for an hour. */
static void busy_init(void *state, const struct model_env *env)
{
    uint32_t *left = state;
    *left = 1;
    (void)model_at(env, HOURS(1), 0, 0, 0);
}

static void
busy_handle(void *state, const struct model_request *request, struct model_replies *replies)
{
    (void)state;
    (void)request;
    model_reply(replies, PORT_OK, NULL);
}

static void busy_event(void *state, uint8_t what, uint64_t a, uint64_t b)
{
    uint32_t *left = state;
    (void)what;
    (void)a;
    (void)b;
    *left = 0;
}

static uint32_t busy_pending(const void *state)
{
    const uint32_t *left = state;
    return *left;
}

static uint64_t busy_digest(const void *state)
{
    const uint32_t *left = state;
    return *left;
}

static void a_service_that_has_work_left_is_waited_for(void **state)
{
    (void)state;
    toy_init(&toy, TOY_EAGER, 5, 1);
    struct model_type busy = *toy.config.services[0].type;
    busy.state_size = sizeof(uint32_t);
    busy.init = busy_init;
    busy.handle = busy_handle;
    busy.event = busy_event;
    busy.pending = busy_pending;
    busy.digest = busy_digest;
    toy.config.services[0].type = &busy;
    toy_run(&toy);
    assert_int_equal(toy.result.end, RUN_END_COMPLETE);
    assert_true(toy.result.ended_at == HOURS(1));
}

/* Goal: after heal no fault fires. Method: everything may happen until then. */
static void nothing_is_injected_after_heal(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEED_COUNT; seed++) {
        prepare_any(seed);
        toy.config.safety_bound = MS(300);
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        uint32_t heal = toy_find(&toy, 0, (struct journal_entry){.kind = HOST_HEAL});
        uint32_t later = toy_find(&toy, heal, (struct journal_entry){.kind = HOST_INJECTED});
        assert_false(toy_is_found(later, &toy));
    }
}

/* Goal: a fault that hits does not end up as a failed CHECK. Method: an allocation fails as well. */
static void faults_and_failing_allocations_mix(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEED_COUNT; seed++) {
        prepare_any(seed);
        toy.request.allocation_fails_at = 1 + seed % 97;
        toy_run_seed(&toy, seed);
        assert_int_equal(toy.result.end, RUN_END_COMPLETE);
        assert_int_equal(toy_count(&toy, (struct journal_entry){.kind = HOST_CONTRACT}), 0);
    }
}

TEST_MAIN(run,
          TEST(a_seed_gives_the_same_digest_over_any_memory),
          TEST(different_seeds_give_different_runs),
          TEST(the_state_in_which_a_half_ends_is_part_of_the_digest),
          TEST(the_tape_of_a_run_replays_it),
          TEST(the_calm_run_is_the_empty_tape),
          TEST(every_outcome_of_the_engine_is_reached),
          TEST(no_seed_loses_a_record),
          TEST(work_that_is_not_done_by_the_deadline_is_stuck),
          TEST(a_used_up_limit_is_a_verdict),
          TEST(a_limit_leaves_oracles_inconclusive),
          TEST(a_run_can_stop_before_an_event),
          TEST(a_run_can_be_looked_at_before_an_event),
          TEST(a_run_without_anything_is_vacuous),
          TEST(a_refused_configuration_is_a_verdict),
          TEST(effects_on_their_way_land_before_the_end),
          TEST(a_service_that_has_work_left_is_waited_for),
          TEST(nothing_is_injected_after_heal),
          TEST(faults_and_failing_allocations_mix))
