/* Priority schedules against the definition and their bound.
 * link: sim/search/pct sim/choice sim/arena sim/lane sinks/base/bytes
 */
#include "sim/search/pct.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS 5u

static const struct choice_outcome outcomes[] = {
    {"first", 1, FAULT_NONE, NULL},
    {"second", 1, FAULT_ORDER, NULL},
    {"third", 1, FAULT_ORDER, NULL},
    {"fourth", 1, FAULT_ORDER, NULL},
    {"fifth", 1, FAULT_ORDER, NULL},
};
static const struct choice_site site = {0x0100, CHAINS, "test.tie", outcomes, "who comes"};

static const struct choice_outcome fault_outcomes[] = {
    {"none", 1, FAULT_NONE, NULL},
    {"lost", 1, FAULT_REQUEST_LOST, "X-1"},
};
static const struct choice_site fault_site = {0x0101, 2, "test.fault", fault_outcomes, "what"};

/* Let chains with so many events each come one after the other, each draw among the chains that have
 * events left; order[i] is the chain that came i-th. */
static void schedule(struct pct *pct, const uint32_t lengths[CHAINS], uint32_t *order)
{
    uint32_t left[CHAINS];
    uint32_t events = 0;
    for (uint32_t i = 0; i < CHAINS; i++) {
        left[i] = lengths[i];
        events += lengths[i];
    }
    for (uint32_t n = 0; n < events; n++) {
        uint32_t heads[CHAINS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < CHAINS; i++) {
            if (left[i] > 0) {
                pct->order.chains[count] = i;
                heads[count++] = i;
            }
        }
        pct->order.is_told = true;
        const uint32_t value = pct->order.pick(
            pct->order.context, &site, lane_make(LANE_RUN, 0), n, (UINT32_C(1) << count) - 1);
        assert_true(value < count);
        assert_false(pct->order.is_told);
        order[n] = heads[value];
        left[heads[value]]--;
    }
}

/* Goal: without change points a chain runs to its end before the next. Method: many seeds; and each
 * chain is the first about equally often. */
static void without_change_points_chains_come_one_by_one(void **state)
{
    static const uint32_t lengths[CHAINS] = {4, 3, 5, 2, 4};
    struct pct *pct = malloc(sizeof *pct);
    uint32_t firsts[CHAINS] = {0};
    (void)state;
    assert_non_null(pct);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint32_t order[18];
        uint32_t switches = 0;
        pct_init(pct, &(struct pct_options){.seed = seed, .depth = 1, .steps = 100});
        schedule(pct, lengths, order);
        for (uint32_t i = 1; i < ARRAY_COUNT(order); i++) {
            switches += order[i] != order[i - 1] ? 1 : 0;
        }
        assert_int_equal(switches, CHAINS - 1);
        assert_int_equal(pct->chain_count, CHAINS);
        firsts[order[0]]++;
    }
    for (uint32_t i = 0; i < CHAINS; i++) {
        assert_in_range(firsts[i], 2000 / CHAINS - 100, 2000 / CHAINS + 100);
    }
    free(pct);
}

/* A bug of depth 2: an event of chain 1 comes between two certain neighbours of chain 0. */
static bool is_hit(const uint32_t *order, uint32_t events)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < events; i++) {
        if (order[i] == 1 && done == 3) {
            return true;
        }
        done += order[i] == 0 ? 1 : 0;
    }
    return false;
}

/* Goal: the bound holds. Method: a bug of depth 2 among 5 chains and 20 steps is hit by no fewer runs
 * than 1/100 of them; one of depth 3 needs more than one change point and is hit, too. */
static void a_bug_is_hit_as_often_as_the_bound_says(void **state)
{
    static const uint32_t lengths[CHAINS] = {6, 4, 4, 3, 3};
    struct pct *pct = malloc(sizeof *pct);
    uint32_t hits = 0;
    const uint32_t runs = 20000;
    (void)state;
    assert_non_null(pct);
    for (uint64_t seed = 0; seed < runs; seed++) {
        uint32_t order[20];
        /* The last event of all has nothing to choose from: 19 steps at most. */
        pct_init(pct, &(struct pct_options){.seed = seed, .depth = 2, .steps = 20});
        schedule(pct, lengths, order);
        assert_true(pct->steps <= 20);
        hits += is_hit(order, ARRAY_COUNT(order)) ? 1 : 0;
    }
    assert_int_equal(pct_bound(2, CHAINS, 20), 100);
    assert_true(hits >= runs / 100);
    assert_true(hits < runs / 10);
    free(pct);
}

/* Goal: the same seed gives the same order, another one another. */
static void a_schedule_is_a_function_of_the_seed(void **state)
{
    static const uint32_t lengths[CHAINS] = {4, 3, 5, 2, 4};
    struct pct *pct = malloc(sizeof *pct);
    uint32_t orders[2][18];
    uint32_t different = 0;
    (void)state;
    assert_non_null(pct);
    for (uint64_t seed = 0; seed < 200; seed++) {
        for (uint32_t i = 0; i < 2; i++) {
            pct_init(pct, &(struct pct_options){.seed = seed, .depth = 4, .steps = 17});
            schedule(pct, lengths, orders[i]);
        }
        assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
        pct_init(pct, &(struct pct_options){.seed = seed + 1000, .depth = 4, .steps = 17});
        schedule(pct, lengths, orders[1]);
        different += memcmp(orders[0], orders[1], sizeof orders[0]) != 0 ? 1 : 0;
    }
    assert_true(different > 150);
    free(pct);
}

/* Goal: only order is the policy's, and what it drew replays without it. Method: a run of draws of
 * both kinds, seeded, with the policy, and from the tape of that. */
static void other_draws_are_the_seeds_and_a_tape_needs_no_policy(void **state)
{
    uint8_t *memory = malloc((size_t)1 << 20);
    struct pct *pct = malloc(sizeof *pct);
    struct arena arena;
    uint32_t values[3][200];
    struct tape_entry entries[400];
    struct tape tape = {.entries = entries, .capacity = ARRAY_COUNT(entries)};
    (void)state;
    assert_non_null(memory);
    assert_non_null(pct);
    for (uint32_t way = 0; way < 3; way++) {
        struct choice choice;
        arena_init(&arena, memory, (size_t)1 << 20, (size_t)1 << 20);
        pct_init(pct, &(struct pct_options){.seed = 7, .depth = 3, .steps = 100});
        choice_init(&choice,
                    &arena,
                    &(struct choice_options){
                        .mode = way == 2 ? CHOICE_REPLAY : CHOICE_SEEDED,
                        .seed = 7,
                        .tape = &tape,
                        .order = way == 1 ? &pct->order : NULL,
                    });
        for (uint32_t i = 0; i < 100; i++) {
            values[way][2 * i] = choice_pick(&choice, &site, lane_make(LANE_RUN, 0), CHOICE_ALL);
            values[way][2 * i + 1] =
                choice_pick(&choice, &fault_site, lane_make(LANE_RUN, 0), CHOICE_ALL);
        }
        if (way == 1) {
            assert_int_equal(pct->steps, 100);
            tape.count = choice.recorded.count;
            tape.identity = choice.identity;
            memcpy(entries, choice.recorded.entries, tape.count * sizeof *entries);
        }
    }
    uint32_t moved = 0;
    for (uint32_t i = 0; i < 100; i++) {
        moved += values[0][2 * i] != values[1][2 * i] ? 1 : 0;
        assert_int_equal(values[0][2 * i + 1], values[1][2 * i + 1]);
    }
    assert_true(moved > 30);
    assert_memory_equal(values[1], values[2], sizeof values[1]);
    free(pct);
    free(memory);
}

/* Goal: the figures of the bound are exact or on the safe side. Method: known values. */
static void the_bound_is_counted_in_integers(void **state)
{
    (void)state;
    assert_int_equal(pct_bound(1, 9, 240), 9);
    assert_int_equal(pct_bound(2, 9, 240), 2160);
    assert_int_equal(pct_bound(3, 9, 240), 518400);
    assert_int_equal(pct_bound(8, 1000, 100000), UINT64_MAX);
    assert_int_equal(pct_hits_permille(2160, 0), 0);
    assert_int_equal(pct_hits_permille(2160, 20000), 999); /* 1 - (2159/2160)^20000 = 0.99990 */
    assert_int_equal(pct_hits_permille(2160, 2160), 632);  /* 0.63221 */
    assert_int_equal(pct_hits_permille(2, 1), 499);        /* 0.5, rounded down */
    assert_int_equal(pct_hits_permille(1, 1), 1000);
    assert_int_equal(pct_hits_permille(1000000, 1000), 0);  /* 0.000999 */
    assert_int_equal(pct_hits_permille(1000000, 10000), 9); /* 0.00995 */
    assert_int_equal(pct_hits_permille(UINT64_MAX, UINT64_MAX), 0);
}

TEST_MAIN(pct,
          TEST(without_change_points_chains_come_one_by_one),
          TEST(a_bug_is_hit_as_often_as_the_bound_says),
          TEST(a_schedule_is_a_function_of_the_seed),
          TEST(other_draws_are_the_seeds_and_a_tape_needs_no_policy),
          TEST(the_bound_is_counted_in_integers))
