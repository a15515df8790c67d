/* The space of a toy job's runs: which runs it holds, found in another way as well, and that a
 * snapshot of the world is worth as much as the world.
 * link: sim/search/run_space sim/search/frontier sim/search/digest_set sim/search/snapshot
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
#include "sim/search/run_space.h"

#include "sim/engine/toy_testkit.h"
#include "sim/search/frontier.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX    60000u
#define MEMORY_SIZE (((size_t)12 << 20) + RUN_HEADROOM)

static struct toy toy;

struct made {
    uint64_t digest;
    uint32_t step_count;
    struct run_space_step steps[RUN_SPACE_LEVEL_MAX];
    uint32_t crash_points_seen;
    bool hits_crash_point;
};

/* All that an exploration needs, and what it made. */
struct trip {
    struct run_space runs;
    struct space space;
    struct runner runner;
    struct result result;
    uint8_t *memory;
    struct run_space_offer *offers;
    struct made *made;
    uint32_t count;
    uint32_t started;
};

static void note_start(void *context, const struct run_space_step *steps, uint32_t step_count)
{
    struct trip *trip = context;
    (void)steps;
    assert_true(step_count >= 1);
    trip->started++;
}

static void note_run(void *context, const struct run_space_made *made)
{
    struct trip *trip = context;
    assert_true(trip->count < RUNS_MAX);
    struct made *kept = &trip->made[trip->count++];
    memset(kept, 0, sizeof *kept);
    kept->digest = made->result->digest;
    kept->step_count = made->step_count;
    memcpy(kept->steps, made->steps, made->step_count * sizeof *made->steps);
    kept->crash_points_seen = made->crash_points_seen;
    kept->hits_crash_point = made->hits_crash_point;
}

static struct trip one; /* too large for the stack, as are results */
static struct trip two;
static struct result expected;
static struct result again;

struct wish {
    uint32_t bound;
    bool re_execute;
    bool crash_points;
};

static void start(struct trip *trip, struct wish wish)
{
    memset(trip, 0, sizeof *trip);
    trip->memory = malloc(3 * MEMORY_SIZE);
    trip->offers = malloc(RUN_SPACE_OFFER_MAX * sizeof *trip->offers);
    trip->made = malloc(RUNS_MAX * sizeof *trip->made);
    assert_non_null(trip->memory);
    assert_non_null(trip->offers);
    assert_non_null(trip->made);
    runner_init(&trip->runner, trip->memory, MEMORY_SIZE);
    const struct run_space_options options = {
        .config = &toy.config,
        .runner = &trip->runner,
        .result = &trip->result,
        .offers = trip->offers,
        .snapshots = wish.re_execute ? NULL : trip->memory + MEMORY_SIZE,
        .snapshot_size = MEMORY_SIZE,
        .identity = 7,
        .level_bound = wish.bound,
        .crash_points = wish.crash_points,
        .on_start = note_start,
        .on_run = note_run,
        .context = trip,
    };
    run_space_init(&trip->runs, &options, &trip->space);
}

static void end(struct trip *trip)
{
    free(trip->memory);
    free(trip->offers);
    free(trip->made);
}

static void explore(struct trip *trip, struct wish wish)
{
    struct frontier frontier;
    start(trip, wish);
    const struct frontier_options options = {
        .allocator = allocator_of_malloc(),
        .space = trip->space,
        .level_bound = wish.bound,
        .shard_index = 1,
        .shard_count = 1,
    };
    assert_int_equal(frontier_init(&frontier, &options), ERR_OK);
    assert_int_equal(frontier_run(&frontier, 0, NULL, NULL), ERR_OK);
    assert_int_equal(frontier.made, trip->count);
    assert_int_equal(trip->started + 1, trip->count);
    frontier_fini(&frontier);
}

static void prepare(enum toy_sink sink)
{
    toy_init(&toy, sink, 1, 1);
    toy_allow_all(&toy);
    toy.config.faults.kinds = UINT32_C(1) << FAULT_ORDER | UINT32_C(1) << FAULT_CRASH |
                              UINT32_C(1) << FAULT_ZOMBIE | UINT32_C(1) << FAULT_NOTICE_LOST |
                              UINT32_C(1) << FAULT_ANSWER_LOST | UINT32_C(1) << FAULT_CLOCK;
    toy.config.faults.cap_total = 4;
    for (uint32_t class = DOWNTIME_REQUEST; class < DOWNTIME_COUNT; class ++) {
        toy.config.job.downtime[class] = 0; /* fewer crashes to choose from */
    }
    toy.config.job.zombies = true;
    toy.config.safety_bound = MINUTES(40);
}

/* --- another way to all runs --------------------------------------------------------------------- */

/* Runs along tapes, each with what it was offered, by recursion: a digest each. */
struct lister {
    uint64_t *digests;
    uint32_t count;
    uint32_t bound;
};

static void list(struct lister *lister, struct tape_entry *entries, uint32_t depth)
{
    struct tape tape = {.entries = entries, .count = depth, .capacity = depth, .identity = 7};
    toy.request = (struct run_request){
        .choice = {.mode = CHOICE_REPLAY, .tape = &tape, .offer_capacity = 4096},
    };
    toy_run(&toy);
    assert_true(lister->count < RUNS_MAX);
    assert_int_equal(toy.result.alignment.aligned, depth);
    lister->digests[lister->count++] = toy.result.digest;
    if (depth == lister->bound) {
        return;
    }
    const struct choice *choice = toy.runner.world->choice;
    const uint32_t count = choice->offer_count;
    const uint32_t first = depth == 0 ? 0 : choice->recorded.entries[depth - 1].position + 1;
    struct choice_offer *offers = malloc((count + 1) * sizeof *offers);
    assert_non_null(offers);
    memcpy(offers, choice->offers, count * sizeof *offers);
    for (uint32_t i = first; i < count; i++) {
        const struct choice_site *site = choice_site_by_key(toy.config.registry, offers[i].key);
        for (uint32_t value = 1; value < site->outcome_count; value++) {
            if ((offers[i].mask >> value & 1) != 0) {
                entries[depth] = (struct tape_entry){
                    .key = offers[i].key,
                    .lane = offers[i].lane,
                    .ordinal = offers[i].ordinal,
                    .bound = (uint8_t)site->outcome_count,
                    .value = (uint8_t)value,
                };
                list(lister, entries, depth + 1);
            }
        }
    }
    free(offers);
}

/* Goal: the space holds every run with few non-zero choices, and no run twice. Method: the same set by
 * recursion over tapes, which knows nothing of snapshots or draws by number. */
static void all_runs_with_few_choices_are_made_once(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED; sink += 2) {
        struct lister lister = {.bound = 2};
        struct tape_entry entries[2];
        lister.digests = malloc(RUNS_MAX * sizeof *lister.digests);
        assert_non_null(lister.digests);
        prepare((enum toy_sink)sink);
        list(&lister, entries, 0);
        prepare((enum toy_sink)sink);
        explore(&one, (struct wish){.bound = 2});
        assert_int_equal(one.count, lister.count);
        assert_true(one.count > 1000);
        /* Different tapes have different digests, so sums over a mix of them tell sets apart. */
        uint64_t sums[2] = {0, 0};
        for (uint32_t i = 0; i < one.count; i++) {
            sums[0] += digest_mix(lister.digests[i]);
            sums[1] += digest_mix(one.made[i].digest);
        }
        assert_true(sums[0] == sums[1]);
        free(lister.digests);
        end(&one);
    }
}

/* --- snapshots ----------------------------------------------------------------------------------- */

static void snapshots_change_nothing(void **state)
{
    (void)state;
    for (uint32_t sink = TOY_EAGER; sink <= TOY_STAGED_GLOBAL; sink++) {
        prepare((enum toy_sink)sink);
        explore(&one, (struct wish){.bound = 2});
        explore(&two, (struct wish){.bound = 2, .re_execute = true});
        assert_int_equal(one.count, two.count);
        for (uint32_t i = 0; i < one.count; i++) {
            assert_memory_equal(&one.made[i], &two.made[i], sizeof one.made[i]);
        }
        end(&one);
        end(&two);
    }
}

/* Visit run number i of level 2 by itself: it must be the one that was made in order. */
static void visit_alone(uint32_t i)
{
    const struct made *wanted = &one.made[i];
    uint32_t first = i;
    while (one.made[first - 1].step_count == 2 &&
           memcmp(one.made[first - 1].steps, wanted->steps, sizeof wanted->steps[0]) == 0) {
        first--;
    }
    uint8_t node[8];
    struct space_found found;
    run_space_node(wanted->steps, 1, node);
    two.space.visit(two.space.context, 2, node, i - first, &found);
    assert_memory_equal(&two.made[two.count - 1], wanted, sizeof *wanted);
}

/* Going through the children in order is only cheaper. Method: some of all runs with two deviations,
 * and each of the last hundred, from the last to the first. */
static void children_may_be_visited_in_any_order(void **state)
{
    (void)state;
    prepare(TOY_STAGED);
    explore(&one, (struct wish){.bound = 2});
    start(&two, (struct wish){.bound = 2});
    const uint32_t last = one.count - 1;
    for (uint32_t i = last; one.made[i].step_count == 2 && i > 90; i -= i > last - 100 ? 1 : 90) {
        visit_alone(i);
    }
    assert_true(two.count > 110);
    end(&one);
    end(&two);
}

/* Goal: all that a run changes lies in its arena. Method: runs of seeds, a snapshot before every
 * event, each of which must lead to the same end; in between, the memory is that of another run. */
static void a_world_that_was_put_back_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    uint8_t *memory = malloc(2 * MEMORY_SIZE);
    assert_non_null(memory);
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct runner runner;
        struct snapshot snapshot;
        prepare((enum toy_sink)(seed % 4));
        toy.request.choice = (struct choice_options){
            .mode = CHOICE_SEEDED, .seed = seed, .identity = seed, .swarm = true};
        struct run_request calm = {.choice = {.mode = CHOICE_CALM}};
        runner_init(&runner, memory, MEMORY_SIZE);
        snapshot_init(&snapshot, memory + MEMORY_SIZE, MEMORY_SIZE);
        runner_run(&runner, &toy.config, &toy.request, &expected);
        for (uint64_t stop = 0; stop < expected.events; stop += 1 + stop / 4) {
            assert_true(runner_begin(&runner, &toy.config, &toy.request, &again));
            for (uint64_t i = 0; i < stop; i++) {
                assert_true(runner_step(&runner));
            }
            snapshot_save(&snapshot, &runner.arena);
            runner_run(&runner, &toy.config, &calm, &again);
            snapshot_restore(&snapshot, &runner.arena);
            while (runner_step(&runner)) {
            }
            runner_finish(&runner, &again);
            assert_true(again.digest == expected.digest);
            assert_int_equal(again.finding_count, expected.finding_count);
        }
    }
    free(memory);
}

/* --- crash points -------------------------------------------------------------------------------- */

/* Goal: crash points are the draws that offer a crash. Method: the calm run's offers, counted. */
static void every_crash_point_of_the_calm_run_is_hit_once(void **state)
{
    (void)state;
    prepare(TOY_STAGED);
    toy.request.choice = (struct choice_options){.mode = CHOICE_CALM, .offer_capacity = 4096};
    toy_run(&toy);
    const struct choice *choice = toy.runner.world->choice;
    uint32_t points = 0;
    uint32_t crashes = 0;
    for (uint32_t i = 0; i < choice->offer_count; i++) {
        const struct choice_offer *offer = &choice->offers[i];
        if (offer->key != toy_site(ENGINE_SITE_CRASH)->key || offer->mask == 1) {
            continue;
        }
        points++;
        for (uint32_t value = 1; value < CHOICE_MENU_MAX; value++) {
            crashes += offer->mask >> value & 1;
        }
    }
    assert_true(points > 5);
    prepare(TOY_STAGED);
    explore(&one, (struct wish){.bound = 1, .crash_points = true});
    assert_int_equal(one.count, 1 + crashes);
    uint32_t hit = 0;
    for (uint32_t i = 0; i < one.count; i++) {
        hit += one.made[i].hits_crash_point ? 1 : 0;
    }
    assert_int_equal(one.made[0].crash_points_seen, points);
    assert_int_equal(hit, points);
    end(&one);
}

/* Goal: pairs are a crash and one in its recovery. Method: along each pair, no checkpoint completes
 * between the two crashes, and of all pairs none of those is missing. */
static void pairs_of_crashes_lie_in_one_recovery(void **state)
{
    (void)state;
    prepare(TOY_STAGED);
    explore(&two, (struct wish){.bound = 2, .crash_points = true});
    explore(&one, (struct wish){.bound = 2});
    uint32_t at = 0;
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < one.count; i++) {
        const struct made *made = &one.made[i];
        struct run_space_replay replay = {.step_count = made->step_count};
        memcpy(replay.steps, made->steps, sizeof replay.steps);
        toy.request = (struct run_request){
            .choice = {.mode = CHOICE_POLICY,
                       .identity = 7,
                       .policy = run_space_replay,
                       .policy_context = &replay},
        };
        toy.request.keep_trace = true;
        runner_run(&two.runner, &toy.config, &toy.request, &toy.result);
        const struct journal *journal = two.runner.world->journal;
        const struct tape *tape = &toy.result.tape;
        bool only_crashes = true;
        for (uint32_t k = 0; k < tape->count; k++) {
            only_crashes = only_crashes && tape->entries[k].key == toy_site(ENGINE_SITE_CRASH)->key;
        }
        if (!only_crashes) {
            continue;
        }
        uint32_t injected = 0;
        bool completes_between = false;
        for (uint32_t k = 0; k < journal->count; k++) {
            const uint8_t kind = journal_at(journal, k)->kind;
            injected += kind == HOST_INJECTED ? 1 : 0;
            completes_between =
                completes_between || (injected == 1 && kind == HOST_CHECKPOINT_COMPLETED);
        }
        if (made->step_count == 2 && completes_between) {
            beyond++;
            continue;
        }
        assert_true(at < two.count);
        assert_true(two.made[at].digest == made->digest);
        at++;
    }
    assert_int_equal(at, two.count);
    assert_true(beyond > 0);
    end(&two);
    end(&one);
}

TEST_MAIN(run_space,
          TEST(all_runs_with_few_choices_are_made_once),
          TEST(snapshots_change_nothing),
          TEST(children_may_be_visited_in_any_order),
          TEST(a_world_that_was_put_back_goes_on_as_if_nothing_had_been),
          TEST(every_crash_point_of_the_calm_run_is_hit_once),
          TEST(pairs_of_crashes_lie_in_one_recovery))
