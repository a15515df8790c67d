/* W1 against the reference results that any correct implementation must print. They depend on the
 * exact order of every event: on FIFO among equal due times, on what is cancelled, on each draw.
 * link: scenarios/bench/w1 sim/sched sim/trace sim/arena sim/choice sim/lane
 * link: sinks/base/bytes sinks/base/units
 */
#include "scenarios/bench/w1.h"

#include "sinks/base/test.h"

#include <stdlib.h>

struct fixture {
    struct arena arena;
    void *memory;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof(*fixture));
    fixture->memory = aligned_alloc(64, POP_PUSH_ARENA_BYTES);
    arena_init(&fixture->arena, fixture->memory, W1_ARENA_BYTES, W1_ARENA_BYTES);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    free(fixture->memory);
    free(fixture);
    return 0;
}

/* The pop-push loop asks for more memory than a run. */
static int set_up_pop_push(void **state)
{
    (void)set_up(state);
    struct fixture *fixture = *state;
    arena_init(&fixture->arena, fixture->memory, POP_PUSH_ARENA_BYTES, POP_PUSH_ARENA_BYTES);
    return 0;
}

static void assert_row(void **state, struct w1_size size, uint32_t count, struct w1_result expected)
{
    struct fixture *fixture = *state;
    const struct w1_sweep sweep = {.size = size, .seed_from = 1, .count = count};
    struct w1_result actual;
    w1_run_many(&sweep, &fixture->arena, &actual);
    assert_int_equal(actual.events, expected.events);
    assert_int_equal(actual.dups, expected.dups);
    assert_int_equal(actual.digest_xor, expected.digest_xor);
    assert_int_equal(actual.end_sum, expected.end_sum);
    assert_int_equal(actual.lost, 0);
    assert_int_equal(actual.unfinished, 0);
}

static void w1_s_gives_the_reference_results(void **state)
{
    assert_row(state,
               W1_S,
               200,
               (struct w1_result){
                   .events = 77494, .dups = 16876, .digest_xor = 0x11a13bdd, .end_sum = 24588763});
}

static void many_runs_of_w1_s_give_the_reference_results(void **state)
{
    assert_row(
        state,
        W1_S,
        20000,
        (struct w1_result){
            .events = 7665215, .dups = 1647507, .digest_xor = 0xb9adc68a, .end_sum = 2439128683});
}

static void w1_m_gives_the_reference_results(void **state)
{
    assert_row(state,
               W1_M,
               20,
               (struct w1_result){
                   .events = 52873, .dups = 5218, .digest_xor = 0x72a9b012, .end_sum = 5083811});
}

static void many_runs_of_w1_m_give_the_reference_results(void **state)
{
    assert_row(
        state,
        W1_M,
        1000,
        (struct w1_result){
            .events = 2681847, .dups = 281526, .digest_xor = 0x0038c07d, .end_sum = 247646295});
}

static void w1_l_gives_the_reference_results(void **state)
{
    assert_row(state,
               W1_L,
               2,
               (struct w1_result){
                   .events = 35871, .dups = 1104, .digest_xor = 0x45a58460, .end_sum = 3107763});
}

static void many_runs_of_w1_l_give_the_reference_results(void **state)
{
    assert_row(
        state,
        W1_L,
        100,
        (struct w1_result){
            .events = 1768601, .dups = 42437, .digest_xor = 0xf2eba28e, .end_sum = 151838109});
}

/* The results of a sweep are sums over its runs, whatever ran before in the same memory. */
static void a_sweep_is_the_sum_of_its_runs(void **state)
{
    struct fixture *fixture = *state;
    struct w1_sweep sweep = {.size = W1_M, .seed_from = 7, .count = 5};
    struct w1_result whole;
    w1_run_many(&sweep, &fixture->arena, &whole);
    sweep.count = 1;
    for (uint32_t seed = 11; seed >= 7; seed--) {
        struct w1_result part;
        sweep.seed_from = seed;
        w1_run_many(&sweep, &fixture->arena, &part);
        whole.events -= part.events;
        whole.digest_xor ^= part.digest_xor;
        whole.trace_digest -= part.trace_digest;
    }
    assert_int_equal(whole.events, 0);
    assert_int_equal(whole.digest_xor, 0);
    assert_int_equal(whole.trace_digest, 0);
}

static void another_seed_is_another_run(void **state)
{
    struct fixture *fixture = *state;
    struct w1_sweep sweep = {.size = W1_M, .seed_from = 1, .count = 1};
    struct w1_result first;
    struct w1_result second;
    w1_run_many(&sweep, &fixture->arena, &first);
    sweep.seed_from = 2;
    w1_run_many(&sweep, &fixture->arena, &second);
    assert_true(first.trace_digest != second.trace_digest);
    assert_true(first.digest_xor != second.digest_xor);
}

/* Cancelled deadlines do not disturb the order of the rest. */
static void deadlines_beside_it_leave_pop_push_alone(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t counts[] = {1, 30, 4000};
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        const uint64_t bare = w1_pop_push(&fixture->arena, counts[i], 50000);
        assert_true(bare == w1_pop_push(&fixture->arena, counts[i], 50000));
        assert_true(bare == w1_pop_push_deadlines(&fixture->arena, 2 * counts[i], 50000));
    }
}

#define W1_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(w1,
          W1_TEST(w1_s_gives_the_reference_results),
          W1_TEST(many_runs_of_w1_s_give_the_reference_results),
          W1_TEST(w1_m_gives_the_reference_results),
          W1_TEST(many_runs_of_w1_m_give_the_reference_results),
          W1_TEST(w1_l_gives_the_reference_results),
          W1_TEST(many_runs_of_w1_l_give_the_reference_results),
          W1_TEST(a_sweep_is_the_sum_of_its_runs),
          W1_TEST(another_seed_is_another_run),
          cmocka_unit_test_setup_teardown(deadlines_beside_it_leave_pop_push_alone,
                                          set_up_pop_push,
                                          tear_down))
