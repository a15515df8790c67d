/* Looking near a tape, against made-up runs: what a change of the code moved is found.
 * link: sim/search/near sim/tape sim/choice sim/lane sim/arena sinks/base/bytes sinks/base/allocator
 */
#include "sim/search/near.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_COUNT_MAX 8

static const struct choice_outcome outcomes[] = {
    {"none", 1, FAULT_NONE, NULL},
    {"a", 1, FAULT_CRASH, "X-1"},
    {"b", 1, FAULT_CRASH, "X-1"},
    {"c", 1, FAULT_CRASH, "X-1"},
    {"d", 1, FAULT_CRASH, "X-1"},
    {"e", 1, FAULT_CRASH, "X-1"},
};
static const struct choice_site first = {0x0300, 6, "engine.first", outcomes, "first"};
static const struct choice_site second = {0x0301, 6, "engine.second", outcomes, "second"};
static const struct choice_site *const sites[] = {&first, &second};
static const struct choice_registry registry = {sites, ARRAY_COUNT(sites)};

/* A made-up run: the entries that its draws meet, and whether it shows what is looked for then. */
struct trial {
    struct tape_entry draws[ENTRY_COUNT_MAX];
    uint32_t draw_count;
    uint32_t needed; /* draws that must be met for it to show */
    uint32_t must;   /* the draw that must be among them; 0 any */
    uint32_t runs;
    struct near_result result;
    void *memory;
};

static struct tape_entry
at(const struct choice_site *site, uint32_t writer, uint32_t ordinal, uint8_t value)
{
    return (struct tape_entry){.key = site->key,
                               .lane = lane_make(LANE_WRITER, writer),
                               .ordinal = ordinal,
                               .bound = 6,
                               .value = value};
}

static bool shows(void *context, const struct tape *candidate, struct tape *recorded)
{
    struct trial *trial = context;
    bool must_is_met = trial->must == 0;
    trial->runs++;
    assert_int_equal(candidate->identity, 42);
    assert_int_equal(recorded->count, 0);
    for (uint32_t i = 0; i < trial->draw_count; i++) {
        for (uint32_t k = 0; k < candidate->count; k++) {
            const struct tape_entry *entry = &candidate->entries[k];
            if (entry->key == trial->draws[i].key && entry->lane == trial->draws[i].lane &&
                entry->ordinal == trial->draws[i].ordinal &&
                entry->value == trial->draws[i].value) {
                assert_int_equal(entry->bound, 6);
                recorded->entries[recorded->count] = *entry;
                recorded->count++;
                must_is_met = must_is_met || i == trial->must;
            }
        }
    }
    return recorded->count >= trial->needed && must_is_met;
}

static void search(struct trial *trial,
                   struct tape_entry *entries,
                   uint32_t count,
                   const struct near_options *wanted)
{
    const struct tape tape = {
        .entries = entries, .count = count, .capacity = count, .identity = 42};
    struct near_options options = *wanted;
    options.shows = shows;
    options.context = trial;
    options.registry = &registry;
    trial->memory = malloc(near_memory_size(count, &options));
    assert_non_null(trial->memory);
    near_run(&tape, &options, trial->memory, &trial->result);
    assert_int_equal(trial->result.runs, trial->runs);
}

static void assert_entry(const struct trial *trial, uint32_t i, struct tape_entry wanted)
{
    assert_true(i < trial->result.tape.count);
    assert_int_equal(trial->result.tape.entries[i].key, wanted.key);
    assert_int_equal(trial->result.tape.entries[i].lane, wanted.lane);
    assert_int_equal(trial->result.tape.entries[i].ordinal, wanted.ordinal);
    assert_int_equal(trial->result.tape.entries[i].value, wanted.value);
}

/* Goal: a tape in step is its own answer, also when a menu has another size. Method: a bound that is
 * not today's. */
static void a_tape_in_step_is_found_at_once(void **state)
{
    (void)state;
    struct trial trial = {.draws = {at(&first, 0, 3, 2)}, .draw_count = 1, .needed = 1};
    struct tape_entry entries[] = {at(&first, 0, 3, 2)};
    entries[0].bound = 4;
    search(&trial, entries, 1, &(struct near_options){0});
    assert_true(trial.result.found);
    assert_int_equal(trial.result.steps, 0);
    assert_int_equal(trial.result.runs, 1);
    assert_int_equal(trial.result.tape.identity, 42);
    assert_entry(&trial, 0, at(&first, 0, 3, 2));
    free(trial.memory);
}

/* Goal: an entry whose draw now comes some ordinals later or earlier is found, and the one that was
 * met stays. */
static void a_shifted_entry_is_found(void **state)
{
    (void)state;
    static const uint32_t ordinals[] = {2, 9, 10, 18};
    for (size_t i = 0; i < ARRAY_COUNT(ordinals); i++) {
        struct trial trial = {.draws = {at(&first, 0, 3, 2), at(&second, 1, ordinals[i], 1)},
                              .draw_count = 2,
                              .needed = 2};
        struct tape_entry entries[] = {at(&first, 0, 3, 2), at(&second, 1, 10, 1)};
        search(&trial, entries, 2, &(struct near_options){0});
        assert_true(trial.result.found);
        assert_int_equal(trial.result.steps, ordinals[i] == 10 ? 0 : 1);
        assert_int_equal(trial.result.tape.count, 2);
        assert_entry(&trial, 0, at(&first, 0, 3, 2));
        assert_entry(&trial, 1, at(&second, 1, ordinals[i], 1));
        free(trial.memory);
    }
}

/* Goal: one draw more moves all that follow on its lane, and that is one step. */
static void entries_that_moved_together_are_one_step(void **state)
{
    (void)state;
    struct trial trial = {.draws = {at(&first, 0, 5, 1), at(&first, 0, 7, 2), at(&first, 0, 12, 3)},
                          .draw_count = 3,
                          .needed = 3};
    struct tape_entry entries[] = {at(&first, 0, 3, 1), at(&first, 0, 5, 2), at(&first, 0, 10, 3)};
    search(&trial, entries, 3, &(struct near_options){0});
    assert_true(trial.result.found);
    assert_int_equal(trial.result.steps, 1);
    assert_entry(&trial, 2, at(&first, 0, 12, 3));
    free(trial.memory);
}

/* Goal: a neighbouring lane and a neighbouring value are tried, also both in one. */
static void neighbouring_lanes_and_values_are_tried(void **state)
{
    (void)state;
    struct trial trial = {.draws = {at(&first, 2, 4, 3)}, .draw_count = 1, .needed = 1};
    struct tape_entry entries[] = {at(&first, 1, 4, 1)};
    search(&trial, entries, 1, &(struct near_options){0});
    assert_true(trial.result.found);
    assert_int_equal(trial.result.steps, 2);
    assert_entry(&trial, 0, at(&first, 2, 4, 3));
    free(trial.memory);
}

/* Goal: a tape that meets every entry and does not show it is left for one that does. */
static void met_entries_move_when_nothing_shows(void **state)
{
    (void)state;
    struct trial trial = {
        .draws = {at(&first, 0, 4, 1), at(&second, 0, 1, 1), at(&second, 0, 2, 1)},
        .draw_count = 3,
        .must = 2,
    };
    struct tape_entry entries[] = {at(&first, 0, 4, 1), at(&second, 0, 1, 1)};
    search(&trial, entries, 2, &(struct near_options){0});
    assert_true(trial.result.found);
    assert_int_equal(trial.result.steps, 1);
    assert_entry(&trial, 0, at(&first, 0, 4, 1));
    assert_entry(&trial, 1, at(&second, 0, 2, 1));
    free(trial.memory);
}

/* Goal: an entry goes only where what is looked for is enough. */
static void an_entry_is_dropped_only_where_it_may_be(void **state)
{
    (void)state;
    static const bool may[] = {false, true};
    for (size_t i = 0; i < ARRAY_COUNT(may); i++) {
        struct trial trial = {.draws = {at(&first, 0, 3, 2)}, .draw_count = 1, .needed = 1};
        struct tape_entry entries[] = {at(&first, 0, 3, 2), at(&second, 0, 9, 1)};
        search(&trial, entries, 2, &(struct near_options){.may_drop = may[i]});
        assert_int_equal(trial.result.found, may[i]);
        assert_int_equal(trial.result.met_most, 1);
        assert_int_equal(trial.result.tape.count, may[i] ? 1 : 0);
        free(trial.memory);
    }
}

/* Goal: the number of runs is bounded, and what was not found was not tried to the end then. */
static void runs_are_bounded(void **state)
{
    (void)state;
    struct trial trial = {.draws = {at(&first, 0, 300, 2)}, .draw_count = 1, .needed = 1};
    struct tape_entry entries[] = {at(&first, 0, 3, 2)};
    search(&trial, entries, 1, &(struct near_options){.runs_max = 7});
    assert_false(trial.result.found);
    assert_false(trial.result.all_tried);
    assert_int_equal(trial.runs, 7);
    free(trial.memory);

    struct trial whole = {.draws = {at(&first, 0, 300, 2)}, .draw_count = 1, .needed = 1};
    search(&whole, entries, 1, &(struct near_options){0});
    assert_false(whole.result.found);
    assert_true(whole.result.all_tried);
    assert_true(whole.runs < NEAR_RUNS_DEFAULT);
    free(whole.memory);
}

TEST_MAIN(near,
          TEST(a_tape_in_step_is_found_at_once),
          TEST(a_shifted_entry_is_found),
          TEST(entries_that_moved_together_are_one_step),
          TEST(neighbouring_lanes_and_values_are_tried),
          TEST(met_entries_move_when_nothing_shows),
          TEST(an_entry_is_dropped_only_where_it_may_be),
          TEST(runs_are_bounded))
