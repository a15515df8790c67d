/* Explaining against a made-up world whose causes are known.
 * link: sim/search/explain sim/lane sinks/base/bytes
 */
#include "sim/search/explain.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define DRAWS 40u
#define SITES 4u /* draw n is of site n % SITES */

/* The run draws DRAWS times from menus of four. It fails with each of the needed choices, or with a
 * substitute in the place of the first; a rescue makes it pass. */
struct world {
    struct tape_entry needed[4];
    uint32_t needed_count;
    struct tape_entry substitutes[4];
    uint32_t substitute_count;
    struct tape_entry rescues[2];
    uint32_t rescue_count;
    uint32_t unclear_draw; /* a choice there meets a limit; 0: none does */
    uint32_t runs;
};

static struct tape_entry choice_at(uint32_t draw, uint8_t value)
{
    return (struct tape_entry){
        .key = (uint16_t)(0x1000 + draw % SITES),
        .lane = lane_make(LANE_WRITER, 0),
        .ordinal = draw / SITES,
        .bound = 4,
        .value = value,
        .position = draw,
    };
}

static bool holds(const struct tape *tape, const struct tape_entry *wanted)
{
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->entries[i].position == wanted->position &&
            tape->entries[i].value == wanted->value) {
            return true;
        }
    }
    return false;
}

static bool holds_any(const struct tape *tape, const struct tape_entry *wanted, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (holds(tape, &wanted[i])) {
            return true;
        }
    }
    return false;
}

static enum explain_answer try_tape(void *context, const struct tape *tape)
{
    struct world *world = context;
    world->runs++;
    for (uint32_t i = 0; i < tape->count && world->unclear_draw != 0; i++) {
        if (tape->entries[i].position == world->unclear_draw) {
            return EXPLAIN_UNCLEAR;
        }
    }
    for (uint32_t i = 0; i < world->needed_count; i++) {
        const bool is_replaced =
            i == 0 && holds_any(tape, world->substitutes, world->substitute_count);
        if (!holds(tape, &world->needed[i]) && !is_replaced) {
            return EXPLAIN_PASSES;
        }
    }
    return holds_any(tape, world->rescues, world->rescue_count) ? EXPLAIN_PASSES : EXPLAIN_FAILS;
}

static uint32_t offers(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity)
{
    struct world *world = context;
    uint32_t count = 0;
    world->runs++;
    assert_true(capacity >= DRAWS * 3);
    for (uint32_t draw = from; draw < DRAWS; draw++) {
        bool is_drawn = false;
        for (uint32_t i = 0; i < tape->count; i++) {
            is_drawn = is_drawn || tape->entries[i].position == draw;
        }
        for (uint8_t value = 1; value < 4 && !is_drawn; value++) {
            entries[count++] = choice_at(draw, value);
        }
    }
    return count;
}

struct work {
    struct tape_entry entries[8];
    struct tape tape;
    struct explain_options options;
    struct explain_result result;
};

/* A tape of what the world needs, and of more. */
static struct work *work_of(struct world *world, const struct tape_entry *more, uint32_t more_count)
{
    struct work *work = calloc(1, sizeof *work);
    assert_non_null(work);
    for (uint32_t i = 0; i < world->needed_count; i++) {
        work->entries[i] = world->needed[i];
    }
    for (uint32_t i = 0; i < more_count; i++) {
        work->entries[world->needed_count + i] = more[i];
    }
    work->tape = (struct tape){.entries = work->entries, .count = world->needed_count + more_count};
    work->options = (struct explain_options){
        .try_tape = try_tape,
        .offers = offers,
        .context = world,
        .decided_draw = UINT32_MAX,
    };
    return work;
}

static void explain(struct work *work)
{
    void *memory = malloc(explain_memory_size(work->tape.count));
    assert_non_null(memory);
    explain_run(&work->tape, &work->options, memory, &work->result);
    free(memory);
}

/* Goal: each choice is called what it is. Method: the first of two may be replaced by another value of
 * its draw, by two of its site and by one elsewhere; the second by nothing; a third does nothing. */
static void required_one_of_several_and_free_are_told_apart(void **state)
{
    struct world world = {
        .needed = {choice_at(8, 2), choice_at(13, 1)},
        .needed_count = 2,
        .substitutes = {choice_at(3, 1), choice_at(20, 3), choice_at(24, 2), choice_at(8, 3)},
        .substitute_count = 4,
    };
    const struct tape_entry idle = choice_at(30, 2);
    struct work *work = work_of(&world, &idle, 1);
    (void)state;
    explain(work);
    const struct explain_choice *first = &work->result.choices[0];
    assert_int_equal(work->result.choice_count, 3);
    assert_int_equal(first->need, EXPLAIN_ONE_OF_SEVERAL);
    assert_int_equal(first->as_well[EXPLAIN_SAME_DRAW], 1);
    assert_int_equal(first->as_well[EXPLAIN_SAME_SITE], 2);
    assert_int_equal(first->as_well[EXPLAIN_OTHER_SITE], 1);
    assert_int_equal(first->tried, (DRAWS - 2) * 3 - 1);
    assert_true(first->all_tried);
    assert_int_equal(first->kept_count, 4);
    assert_int_equal(first->kept[0].position, 8); /* nearest first */
    assert_int_equal(first->kept[0].value, 3);
    assert_int_equal(first->kept[1].position, 20);
    assert_int_equal(first->kept[2].position, 24);
    assert_int_equal(first->kept[3].position, 3);
    assert_int_equal(work->result.choices[1].need, EXPLAIN_REQUIRED);
    assert_true(work->result.choices[1].all_tried);
    assert_int_equal(work->result.choices[2].need, EXPLAIN_FREE);
    assert_int_equal(work->result.runs, world.runs);
    free(work);
}

/* Goal: the last chance is the last choice that saves the run. Method: two rescues behind the tape's
 * last choice; all single choices behind the later one are tried, and no more. */
static void the_last_rescue_is_the_last_chance(void **state)
{
    struct world world = {
        .needed = {choice_at(8, 2)},
        .needed_count = 1,
        .rescues = {choice_at(17, 1), choice_at(29, 3)},
        .rescue_count = 2,
    };
    struct work *work = work_of(&world, NULL, 0);
    (void)state;
    explain(work);
    const struct explain_decision *decision = &work->result.decision;
    assert_true(decision->is_found);
    assert_true(decision->all_tried);
    assert_int_equal(decision->draw, 29);
    assert_int_equal(decision->last_chance.value, 3);
    assert_int_equal(decision->tried, (DRAWS - 1 - 29) * 3);
    assert_int_equal(decision->unclear, 0);
    free(work);
}

/* Goal: where nothing can save the run any more, its own last choice decided. */
static void without_a_rescue_the_last_choice_decides(void **state)
{
    struct world world = {.needed = {choice_at(21, 1), choice_at(8, 2)}, .needed_count = 2};
    struct work *work = work_of(&world, NULL, 0);
    (void)state;
    explain(work);
    const struct explain_decision *decision = &work->result.decision;
    assert_true(decision->is_found);
    assert_int_equal(decision->draw, 21);
    assert_int_equal(decision->last_chance.value, 0);
    assert_int_equal(decision->tried, (DRAWS - 1 - 21) * 3);
    free(work);
}

/* Goal: draws behind the violation need no runs. */
static void what_comes_behind_the_violation_is_not_tried(void **state)
{
    struct world world = {.needed = {choice_at(8, 2)}, .needed_count = 1};
    struct work *work = work_of(&world, NULL, 0);
    (void)state;
    work->options.decided_draw = 12;
    explain(work);
    assert_int_equal(work->result.decision.tried, 3 * 3);
    assert_true(work->result.decision.all_tried);
    free(work);
}

/* Goal: a run that a limit ended is no rescue and no failure. */
static void a_limit_is_unclear(void **state)
{
    struct world world = {.needed = {choice_at(8, 2)}, .needed_count = 1, .unclear_draw = 33};
    struct work *work = work_of(&world, NULL, 0);
    (void)state;
    explain(work);
    assert_int_equal(work->result.decision.draw, 8);
    assert_int_equal(work->result.decision.unclear, 3);
    free(work);
}

/* Goal: a budget is kept, and what it leaves open is said. Method: every budget up to enough. */
static void a_budget_is_kept_and_nothing_more_is_said(void **state)
{
    (void)state;
    for (uint32_t budget = 1; budget < 300; budget += 7) {
        struct world world = {.needed = {choice_at(8, 2), choice_at(13, 1)}, .needed_count = 2};
        struct work *work = work_of(&world, NULL, 0);
        work->options.runs_max = budget;
        explain(work);
        assert_true(world.runs <= budget);
        assert_int_equal(work->result.runs, world.runs);
        const bool enough = budget >= 1 + (DRAWS - 14) * 3 + 2 * (2 + (DRAWS - 1) * 3 - 1);
        assert_int_equal(work->result.choices[1].all_tried, enough);
        assert_int_equal(work->result.decision.all_tried, budget >= 1 + (DRAWS - 14) * 3);
        free(work);
    }
}

TEST_MAIN(explain,
          TEST(required_one_of_several_and_free_are_told_apart),
          TEST(the_last_rescue_is_the_last_chance),
          TEST(without_a_rescue_the_last_choice_decides),
          TEST(what_comes_behind_the_violation_is_not_tried),
          TEST(a_limit_is_unclear),
          TEST(a_budget_is_kept_and_nothing_more_is_said))
