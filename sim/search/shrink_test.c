/* Shrinking against made-up runs: what must stay stays, all else goes.
 * link: sim/search/shrink sim/search/below sim/lane sinks/base/bytes
 */
#include "sim/search/shrink.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_COUNT_MAX 400

/* A made-up run: what must be on the tape for it to fail, by ordinal. */
struct trial {
    uint32_t needed[8];
    uint8_t least[8]; /* value that the needed one must have at least */
    uint32_t needed_count;
    bool any;            /* any one of the needed suffices */
    bool odd_fails;      /* fails by an odd number of entries instead */
    uint32_t met_below;  /* entries with such ordinals are met by a draw; 0: all */
    uint32_t keep_going; /* attempts after which to stop; 0: never */
    uint32_t asked;
    uint32_t run_count;
    uint32_t progress_count;
    uint64_t digest; /* over all candidates */
    uint64_t runs[1500];
};

static const struct tape_entry *find(const struct tape *tape, uint32_t ordinal)
{
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->entries[i].ordinal == ordinal) {
            return &tape->entries[i];
        }
    }
    return NULL;
}

static bool trial_fails(const struct trial *trial, const struct tape *tape)
{
    uint32_t present = 0;

    if (trial->odd_fails) {
        return tape->count % 2 == 1;
    }
    for (uint32_t i = 0; i < trial->needed_count; i++) {
        const struct tape_entry *entry = find(tape, trial->needed[i]);

        present += entry != NULL && entry->value >= trial->least[i] ? 1 : 0;
    }
    return trial->any ? present > 0 : present == trial->needed_count;
}

static uint64_t digest_of(const struct tape *tape)
{
    uint64_t digest = 0;

    for (uint32_t i = 0; i < tape->count; i++) {
        digest = digest_fold(digest, tape->entries[i].ordinal);
        digest = digest_fold(digest, tape->entries[i].value);
    }
    return digest;
}

static bool still_fails(void *context, const struct tape *candidate, struct tape *recorded)
{
    struct trial *trial = context;
    const uint64_t digest = digest_of(candidate);

    /* No candidate is run twice. */
    for (uint32_t i = 0; i < trial->run_count && i < ARRAY_COUNT(trial->runs); i++) {
        assert_int_not_equal(trial->runs[i], digest);
    }
    if (trial->run_count < ARRAY_COUNT(trial->runs)) {
        trial->runs[trial->run_count] = digest;
    }
    trial->run_count++;
    trial->digest = digest_fold(trial->digest, digest);
    assert_int_equal(candidate->identity, 42);
    assert_int_equal(recorded->count, 0);
    if (!trial_fails(trial, candidate)) {
        return false;
    }
    for (uint32_t i = 0; i < candidate->count; i++) {
        if (trial->met_below == 0 || candidate->entries[i].ordinal < trial->met_below) {
            recorded->entries[recorded->count] = candidate->entries[i];
            recorded->count++;
        }
    }
    return true;
}

static bool keep_going(void *context)
{
    struct trial *trial = context;

    trial->asked++;
    return trial->keep_going == 0 || trial->asked <= trial->keep_going;
}

static void note_progress(void *context, const struct shrink_result *so_far)
{
    struct trial *trial = context;

    trial->progress_count++;
    assert_int_equal(so_far->accepted, trial->progress_count);
    assert_true(trial_fails(trial, &so_far->tape));
}

struct work {
    struct tape_entry entries[ENTRY_COUNT_MAX];
    struct tape tape;
    struct shrink_options options;
    struct shrink_result result;
    void *memory;
};

/* A tape of so many entries with ordinals from 0, all of one value, spans of three. */
static struct work *work_of(uint32_t entry_count, uint8_t value, struct trial *trial)
{
    struct work *work = calloc(1, sizeof(*work));

    assert_non_null(work);
    assert_true(entry_count <= ENTRY_COUNT_MAX);
    for (uint32_t i = 0; i < entry_count; i++) {
        work->entries[i] = (struct tape_entry){
            .key = 0x1000,
            .lane = lane_make(LANE_WRITER, 0),
            .ordinal = i,
            .bound = CHOICE_MENU_MAX,
            .value = value,
            .span_kind = SPAN_REQUEST,
            .span = i / 3,
        };
    }
    work->tape = (struct tape){
        .entries = work->entries, .count = entry_count, .capacity = entry_count, .identity = 42};
    work->options = (struct shrink_options){
        .still_fails = still_fails,
        .keep_going = keep_going,
        .progress = note_progress,
        .context = trial,
    };
    return work;
}

/* Memory of exactly the size, so that the sanitizer sees any use beyond. */
static void shrink(struct work *work)
{
    const size_t size = shrink_memory_size(work->tape.count, &work->options);

    work->memory = malloc(size);
    assert_non_null(work->memory);
    memset(work->memory, 0xa5, size);
    shrink_run(&work->tape, &work->options, work->memory, &work->result);
    assert_int_equal(work->result.tape.identity, 42);
}

static void work_free(struct work *work)
{
    free(work->memory);
    free(work);
}

static void assert_holds_just(const struct tape *tape, const struct trial *trial)
{
    assert_int_equal(tape->count, trial->needed_count);
    for (uint32_t i = 0; i < trial->needed_count; i++) {
        const struct tape_entry *entry = find(tape, trial->needed[i]);

        /* The least of each is not 0. */
        assert_int_equal(entry == NULL ? 0 : entry->value, trial->least[i]);
    }
}

/* Each pair out of 30 entries is found alone; that no other single entry would do is not tried. */
static void two_needed_entries_remain(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 30; first++) {
        for (uint32_t second = first + 1; second < 30; second++) {
            struct trial trial = {.needed = {first, second}, .least = {1, 1}, .needed_count = 2};
            struct work *work = work_of(30, 1, &trial);

            shrink(work);
            assert_holds_just(&work->result.tape, &trial);
            assert_int_equal(work->result.stop, SHRINK_STOP_LOCAL_MINIMUM);
            assert_false(work->result.proven_minimal);
            assert_int_equal(work->result.attempts, trial.run_count);
            assert_int_equal(work->result.accepted, trial.progress_count);
            work_free(work);
        }
    }
}

/* Five scattered entries of 400, each with its own least value. */
static void values_are_lowered_to_their_threshold(void **state)
{
    (void)state;
    struct trial trial = {
        .needed = {3, 77, 78, 200, 399}, .least = {1, 2, 17, 31, 5}, .needed_count = 5};
    struct work *work = work_of(400, 31, &trial);

    shrink(work);
    assert_holds_just(&work->result.tape, &trial);
    assert_false(work->result.proven_minimal);
    assert_true(work->result.attempts < 1500);
    work_free(work);
}

/* Every threshold of a menu of 32. */
static void each_threshold_is_found(void **state)
{
    (void)state;
    for (uint8_t least = 1; least < CHOICE_MENU_MAX; least++) {
        struct trial trial = {.needed = {1}, .least = {least}, .needed_count = 1};
        struct work *work = work_of(3, CHOICE_MENU_MAX - 1, &trial);

        shrink(work);
        assert_holds_just(&work->result.tape, &trial);
        work_free(work);
    }
}

/* The entries of span 1 lie scattered, and the run fails only with all of them or with none: only
 * the deletion of the span as a whole gets rid of them. */
static bool
fails_with_whole_span(void *context, const struct tape *candidate, struct tape *recorded)
{
    uint32_t in_span = 0;

    (void)context;
    for (uint32_t i = 0; i < candidate->count; i++) {
        in_span += candidate->entries[i].span == 1 ? 1 : 0;
        recorded->entries[i] = candidate->entries[i];
    }
    recorded->count = candidate->count;
    return find(candidate, 11) != NULL && (in_span == 0 || in_span == 4);
}

static void a_span_is_deleted_as_a_whole(void **state)
{
    (void)state;
    struct work *work = work_of(12, 1, NULL);

    for (uint32_t i = 0; i < 12; i++) {
        work->entries[i].span = i % 3;
    }
    work->entries[11].span_kind = SPAN_NONE;
    work->entries[11].span = 0;
    work->options = (struct shrink_options){.still_fails = fails_with_whole_span};
    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_int_equal(work->result.tape.entries[0].ordinal, 11);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

/* Two kinds of spans with one id are two spans. */
static bool
fails_without_half_a_span(void *context, const struct tape *candidate, struct tape *recorded)
{
    uint32_t requests = 0;
    uint32_t crashes = 0;

    (void)context;
    for (uint32_t i = 0; i < candidate->count; i++) {
        requests += candidate->entries[i].span_kind == SPAN_REQUEST ? 1 : 0;
        crashes += candidate->entries[i].span_kind == SPAN_CRASH ? 1 : 0;
        recorded->entries[i] = candidate->entries[i];
    }
    recorded->count = candidate->count;
    return requests == 5 && (crashes == 0 || crashes == 5);
}

static void spans_of_two_kinds_are_apart(void **state)
{
    (void)state;
    struct work *work = work_of(10, 1, NULL);

    for (uint32_t i = 0; i < 10; i++) {
        work->entries[i].span = 7;
        work->entries[i].span_kind = i % 2 == 0 ? SPAN_REQUEST : SPAN_CRASH;
    }
    work->options = (struct shrink_options){.still_fails = fails_without_half_a_span};
    shrink(work);
    assert_int_equal(work->result.tape.count, 5);
    assert_int_equal(work->result.tape.entries[4].ordinal, 8);
    work_free(work);
}

/* Neighbours that only vanish together, up to 8 of them. */
static bool
fails_with_whole_blocks(void *context, const struct tape *candidate, struct tape *recorded)
{
    const uint32_t *size = context;
    uint32_t in_block = 0;

    for (uint32_t i = 0; i < candidate->count; i++) {
        const uint32_t ordinal = candidate->entries[i].ordinal;

        in_block += ordinal >= 5 && ordinal < 5 + *size ? 1 : 0;
        recorded->entries[i] = candidate->entries[i];
    }
    recorded->count = candidate->count;
    return find(candidate, 19) != NULL && (in_block == 0 || in_block == *size);
}

static void neighbours_are_deleted_together(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 8; size++) {
        struct work *work = work_of(20, 1, NULL);

        work->options =
            (struct shrink_options){.still_fails = fails_with_whole_blocks, .context = &size};
        shrink(work);
        assert_int_equal(work->result.tape.count, 1);
        assert_int_equal(work->result.tape.entries[0].ordinal, 19);
        work_free(work);
    }
}

/* The tape that the run recorded is taken, not the candidate: entries that no draw met are gone
 * after the first run. */
static void what_no_draw_met_is_gone_at_once(void **state)
{
    (void)state;
    struct trial trial = {.needed = {0}, .least = {1}, .needed_count = 1, .met_below = 1};
    struct work *work = work_of(300, 1, &trial);

    shrink(work);
    assert_holds_just(&work->result.tape, &trial);
    assert_int_equal(work->result.attempts, 2);
    assert_int_equal(work->result.accepted, 0);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

/* A run that fails without any choice gives the empty tape. */
static void a_calm_failure_gives_the_empty_tape(void **state)
{
    (void)state;
    struct trial trial = {.needed_count = 0};
    struct work *work = work_of(100, 3, &trial);

    shrink(work);
    assert_int_equal(work->result.tape.count, 0);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

static void an_empty_tape_is_minimal(void **state)
{
    (void)state;
    struct trial trial = {.needed_count = 0};
    struct work *work = work_of(0, 1, &trial);

    shrink(work);
    assert_int_equal(work->result.stop, SHRINK_STOP_LOCAL_MINIMUM);
    assert_int_equal(work->result.attempts, 1);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

/* One of several causes is enough: one entry remains. */
static void of_several_causes_one_remains(void **state)
{
    (void)state;
    struct trial trial = {.needed = {4, 9, 60}, .least = {2, 3, 9}, .needed_count = 3, .any = true};
    struct work *work = work_of(90, 12, &trial);

    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

/* Fails with an odd count only: no single deletion helps, two at a time do. */
static void an_odd_count_shrinks_to_one(void **state)
{
    (void)state;
    struct trial trial = {.odd_fails = true};
    struct work *work = work_of(41, 1, &trial);

    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

/* Three entries of which the outer two, not neighbours, can only go together: no pass deletes them,
 * only the subsets hold it. */
static bool fails_alone_or_whole(void *context, const struct tape *candidate, struct tape *recorded)
{
    (void)context;
    recorded->count = candidate->count;
    if (candidate->count > 0) {
        memcpy(
            recorded->entries, candidate->entries, candidate->count * sizeof(*candidate->entries));
    }
    return find(candidate, 1) != NULL && candidate->count != 2;
}

static void every_subset_is_tried(void **state)
{
    (void)state;
    struct work *work = work_of(3, 1, NULL);

    work->entries[1].span = 1;
    work->entries[2].span = 2;
    work->options = (struct shrink_options){.still_fails = fails_alone_or_whole};
    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_int_equal(work->result.tape.entries[0].ordinal, 1);
    assert_true(work->result.proven_minimal);
    work_free(work);
}

static void a_tape_that_passes_is_told(void **state)
{
    (void)state;
    struct trial trial = {.needed = {50}, .least = {1}, .needed_count = 1};
    struct work *work = work_of(10, 1, &trial);

    shrink(work);
    assert_int_equal(work->result.stop, SHRINK_STOP_PASSES);
    assert_int_equal(work->result.attempts, 1);
    assert_int_equal(work->result.tape.count, 10);
    assert_false(work->result.proven_minimal);
    work_free(work);
}

/* With each bound on attempts the result still fails, and the bound holds. */
static void the_bound_on_attempts_holds(void **state)
{
    (void)state;
    uint32_t last_count = UINT32_MAX;

    for (uint32_t bound = 1; bound < 120; bound++) {
        struct trial trial = {.needed = {10, 20, 30}, .least = {1, 2, 3}, .needed_count = 3};
        struct work *work = work_of(60, 9, &trial);

        work->options.attempts_max = bound;
        shrink(work);
        assert_true(trial_fails(&trial, &work->result.tape));
        assert_true(trial.run_count <= bound);
        assert_int_equal(work->result.attempts, trial.run_count);
        assert_true(work->result.tape.count <= last_count);
        last_count = work->result.tape.count;
        if (work->result.stop == SHRINK_STOP_ATTEMPTS) {
            assert_int_equal(trial.run_count, bound);
            assert_false(work->result.proven_minimal);
        } else {
            assert_int_equal(work->result.stop, SHRINK_STOP_LOCAL_MINIMUM);
            assert_holds_just(&work->result.tape, &trial);
        }
        work_free(work);
    }
    assert_int_equal(last_count, 3);
}

/* Interrupted at each attempt: the best so far is given, and it fails. */
static void an_interruption_gives_the_best_so_far(void **state)
{
    (void)state;
    for (uint32_t after = 1; after < 60; after++) {
        struct trial trial = {
            .needed = {10, 40}, .least = {1, 1}, .needed_count = 2, .keep_going = after};
        struct work *work = work_of(60, 1, &trial);

        shrink(work);
        assert_true(trial_fails(&trial, &work->result.tape));
        assert_true(trial.run_count <= after);
        assert_true(work->result.stop == SHRINK_STOP_INTERRUPTED ||
                    work->result.stop == SHRINK_STOP_LOCAL_MINIMUM);
        work_free(work);
    }
}

/* Interrupted before anything ran: the tape itself. */
static bool never(void *context)
{
    (void)context;
    return false;
}

static void an_interruption_at_once_gives_the_tape(void **state)
{
    (void)state;
    struct trial trial = {.needed_count = 0};
    struct work *work = work_of(5, 1, &trial);

    work->options.keep_going = never;
    shrink(work);
    assert_int_equal(work->result.stop, SHRINK_STOP_INTERRUPTED);
    assert_int_equal(work->result.attempts, 0);
    assert_int_equal(work->result.tape.count, 5);
    work_free(work);
}

/* Whatever the memory held, the same candidates are run in the same order. */
static void the_search_is_deterministic(void **state)
{
    (void)state;
    uint64_t digests[2];

    for (uint32_t i = 0; i < 2; i++) {
        struct trial trial = {.needed = {7, 90, 91}, .least = {3, 1, 9}, .needed_count = 3};
        struct work *work = work_of(120, 15, &trial);

        shrink(work);
        assert_holds_just(&work->result.tape, &trial);
        digests[i] = trial.digest;
        work_free(work);
    }
    assert_int_equal(digests[0], digests[1]);
}

/* Random needs on random tapes: always exactly the needs remain. */
static void random_needs_remain(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        struct trial trial = {.needed_count = (uint32_t)(digest_mix(round) % 7)};
        const uint32_t count = 10 + (uint32_t)(digest_mix(round + 1000) % 60);
        struct work *work = work_of(count, 20, &trial);

        for (uint32_t i = 0; i < trial.needed_count; i++) {
            /* Distinct, because each has its own tenth. */
            trial.needed[i] =
                count * i / 10 + (uint32_t)(digest_mix(round * 10 + i) % (count / 10));
            trial.least[i] = (uint8_t)(1 + digest_mix(round * 10 + i) % 20);
        }
        for (uint32_t i = 0; i < count; i++) {
            work->entries[i].span = (uint32_t)(digest_mix(round * 100 + i) % 9);
        }
        shrink(work);
        assert_holds_just(&work->result.tape, &trial);
        assert_int_equal(work->result.proven_minimal, trial.needed_count <= 1);
        work_free(work);
    }
}

/* A run that answers with more than it was given is broken. */
static bool grows(void *context, const struct tape *candidate, struct tape *recorded)
{
    uint32_t *calls = context;

    *calls += 1;
    recorded->count = *calls == 1 ? candidate->count : candidate->count + 1;
    memset(recorded->entries, 1, recorded->count * sizeof(*recorded->entries));
    return true;
}

static void a_recorded_tape_that_grew_is_a_broken_invariant(void **state)
{
    (void)state;
    uint32_t calls = 0;
    struct work *work = work_of(6, 1, NULL);

    work->options = (struct shrink_options){.still_fails = grows, .context = &calls};
    work->memory = malloc(shrink_memory_size(work->tape.count, &work->options));
    assert_non_null(work->memory);
    expect_check_failure(shrink_run(&work->tape, &work->options, work->memory, &work->result));
    work_free(work);
}

/* A made-up world in which each run draws BELOW_DRAWS times from a menu of four: it fails with both
 * of the entries that the tape has, or with one alone that no tape has shown yet. */
#define BELOW_DRAWS 30u

struct world {
    struct trial trial;
    uint32_t shortcut; /* this draw fails the run alone when it is 2; 0: none does */
    uint32_t fresh;    /* fresh runs made */
    uint32_t offered;
};

static struct tape_entry entry_of(uint32_t ordinal, uint8_t value)
{
    return (struct tape_entry){
        .key = 0x1000,
        .lane = lane_make(LANE_WRITER, 0),
        .ordinal = ordinal,
        .bound = 4,
        .value = value,
        .position = ordinal,
    };
}

static bool world_fails(void *context, const struct tape *candidate, struct tape *recorded)
{
    const struct world *world = context;
    const struct tape_entry *shortcut = find(candidate, world->shortcut);
    const bool is_short = world->shortcut != 0 && shortcut != NULL && shortcut->value == 2;

    recorded->count = candidate->count;
    for (uint32_t i = 0; i < candidate->count; i++) {
        recorded->entries[i] = candidate->entries[i];
    }
    return is_short || trial_fails(&world->trial, candidate);
}

static uint32_t world_offers(void *context,
                             const struct tape *tape,
                             uint32_t from,
                             struct tape_entry *entries,
                             uint32_t capacity)
{
    struct world *world = context;
    uint32_t count = 0;

    world->offered++;
    assert_true(capacity >= BELOW_DRAWS * 3);
    for (uint32_t draw = from; draw < BELOW_DRAWS; draw++) {
        for (uint8_t value = 1; value < 4 && find(tape, draw) == NULL; value++) {
            entries[count++] = entry_of(draw, value);
        }
    }
    return count;
}

/* The fourth fresh run fails on a tape of two entries, one of them the shortcut. */
static bool world_fresh(void *context, uint32_t n, struct tape *recorded)
{
    struct world *world = context;

    assert_int_equal(n, world->fresh);
    world->fresh++;
    recorded->entries[0] = entry_of(5, 1);
    recorded->entries[1] = entry_of(world->shortcut, 2);
    recorded->count = 2;
    return n == 3;
}

static struct work *work_in(struct world *world)
{
    struct work *work = work_of(12, 1, &world->trial);

    world->trial.needed_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        world->trial.needed[i] = 4 * i + 1;
        world->trial.least[i] = 1;
    }
    work->options = (struct shrink_options){
        .still_fails = world_fails,
        .offers = world_offers,
        .context = world,
    };
    return work;
}

/* Goal: a smaller failure of another kind is found. Method: no subset of the three needed entries
 * fails, a single entry that the tape never had does. */
static void what_the_tape_never_had_is_found_below(void **state)
{
    (void)state;
    struct world world = {.shortcut = 23};
    struct work *work = work_in(&world);

    work->options.below_max = 1000;
    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_int_equal(work->result.tape.entries[0].ordinal, 23);
    assert_true(work->result.proven_minimal);
    assert_true(work->result.below_runs < 400);
    work_free(work);
}

/* Goal: "proven" means that all tapes with fewer entries were tried. Method: the count of those of
 * up to two entries out of 30 draws of a menu of four: 1 + 90 + 9 * (30 * 29 / 2), of which the
 * four subsets of the three needed entries and the empty tape had been tried before. */
static void below_a_minimum_every_tape_is_tried(void **state)
{
    const uint32_t tapes = 1 + 90 + 9 * (30 * 29 / 2);
    (void)state;
    struct world world = {.shortcut = 0};
    struct work *work = work_in(&world);

    work->options.below_max = 100000;
    shrink(work);
    assert_int_equal(work->result.tape.count, 3);
    assert_true(work->result.proven_minimal);
    const uint32_t above = work->result.attempts - (work->result.below_runs - world.offered);
    assert_in_range(work->result.attempts, tapes, tapes + above);
    assert_true(above < 30);
    work_free(work);
}

/* Goal: a budget is kept and nothing is called proven. */
static void a_budget_below_is_kept(void **state)
{
    (void)state;
    for (uint32_t budget = 1; budget < 200; budget += 33) {
        struct world world = {.shortcut = 0};
        struct work *work = work_in(&world);

        work->options.below_max = budget;
        shrink(work);
        assert_int_equal(work->result.tape.count, 3);
        assert_false(work->result.proven_minimal);
        assert_int_equal(work->result.below_runs, budget);
        assert_int_equal(work->result.stop, SHRINK_STOP_LOCAL_MINIMUM);
        work_free(work);
    }
}

/* Goal: a fresh run leads out of a local minimum. Method: nothing below is tried; the fourth fresh
 * run holds the shortcut; no more are made once the tape is short enough. */
static void a_fresh_run_leads_to_a_smaller_minimum(void **state)
{
    (void)state;
    struct world world = {.shortcut = 23};
    struct work *work = work_in(&world);

    work->options.fresh = world_fresh;
    work->options.fresh_max = 50;
    work->options.fresh_above = 1;
    shrink(work);
    assert_int_equal(work->result.tape.count, 1);
    assert_int_equal(work->result.tape.entries[0].ordinal, 23);
    assert_int_equal(world.fresh, 4);
    assert_int_equal(work->result.tape.identity, 42);
    work_free(work);
}

TEST_MAIN(shrink,
          TEST(two_needed_entries_remain),
          TEST(values_are_lowered_to_their_threshold),
          TEST(each_threshold_is_found),
          TEST(a_span_is_deleted_as_a_whole),
          TEST(spans_of_two_kinds_are_apart),
          TEST(neighbours_are_deleted_together),
          TEST(what_no_draw_met_is_gone_at_once),
          TEST(a_calm_failure_gives_the_empty_tape),
          TEST(an_empty_tape_is_minimal),
          TEST(of_several_causes_one_remains),
          TEST(an_odd_count_shrinks_to_one),
          TEST(every_subset_is_tried),
          TEST(what_the_tape_never_had_is_found_below),
          TEST(below_a_minimum_every_tape_is_tried),
          TEST(a_budget_below_is_kept),
          TEST(a_fresh_run_leads_to_a_smaller_minimum),
          TEST(a_tape_that_passes_is_told),
          TEST(the_bound_on_attempts_holds),
          TEST(an_interruption_gives_the_best_so_far),
          TEST(an_interruption_at_once_gives_the_tape),
          TEST(the_search_is_deterministic),
          TEST(random_needs_remain),
          TEST(a_recorded_tape_that_grew_is_a_broken_invariant))
