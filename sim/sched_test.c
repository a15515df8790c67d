/* The scheduler against a naive model that keeps all pending events in an array and looks through
 * it for each step, and its edges one by one.
 * link: sim/sched sim/choice sim/arena sim/lane sinks/base/units sinks/base/bytes
 */
#include "sim/sched.h"

#include "sinks/base/test.h"

#include <stdlib.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define MODEL_MAX   4096u

/* --- fixture -------------------------------------------------------------------------------- */

struct fixture {
    struct arena arena;
    struct choice choice;
    struct sched sched;
    void *memory;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof(*fixture));
    fixture->memory = aligned_alloc(64, ARENA_BYTES);
    arena_init(&fixture->arena, fixture->memory, ARENA_BYTES, ARENA_BYTES);
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

static struct sched *start(void **state, const struct sched_options *options)
{
    struct fixture *fixture = *state;
    sched_init(&fixture->sched, &fixture->arena, &fixture->choice, options);
    return &fixture->sched;
}

static struct sched *start_plain(void **state)
{
    return start(state, &(struct sched_options){.ties_from_tape = false});
}

/* Start with a policy that answers every draw. */
static struct sched *
start_with_policy(void **state, choice_policy *policy, void *context, nanos window)
{
    struct fixture *fixture = *state;
    choice_init(&fixture->choice,
                &fixture->arena,
                &(struct choice_options){
                    .mode = CHOICE_POLICY, .policy = policy, .policy_context = context});
    return start(state, &(struct sched_options){.race_window = window, .ties_from_tape = true});
}

static sched_handle at(struct sched *sched, nanos due, uint32_t node, uint64_t a)
{
    return sched_at(sched, due, node, 7, a, 0);
}

static struct sched_event step(struct sched *sched)
{
    struct sched_event event = {.due = 0};
    assert_true(sched_step(sched, &event));
    assert_true(event.due == sched->now);
    return event;
}

static void assert_steps_to(struct sched *sched, uint64_t a, nanos due)
{
    const struct sched_event event = step(sched);
    assert_int_equal(event.a, a);
    assert_int_equal(event.due, due);
}

static void assert_is_empty(struct sched *sched)
{
    struct sched_event event;
    assert_false(sched_step(sched, &event));
    assert_true(sched_next_due(sched) == TIME_NEVER);
}

/* --- random numbers ------------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *random)
{
    *random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *random;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static uint64_t random_below(uint64_t *random, uint64_t bound)
{
    return random_next(random) % bound;
}

/* --- the model ------------------------------------------------------------------------------ */

/* All pending events in the order in which they would be handed out at their due times, so that a
 * place stands for (due, seq) and for the rule about overtaken events alike. */
struct model {
    struct model_event {
        struct sched_event event;
        sched_handle handle;
    } events[MODEL_MAX];
    uint32_t count;
    nanos now;
    uint64_t random;
    uint64_t next_a;
    nanos window;
    uint32_t offered; /* set size of the next draw, from the model; 0: no draw expected */
    uint32_t chosen;  /* what the policy answers */
    uint32_t draws;
};

static void model_insert(struct model *model, struct model_event event)
{
    assert_true(model->count < MODEL_MAX);
    uint32_t place = model->count++;
    while (place > 0 && model->events[place - 1].event.due > event.event.due) {
        model->events[place] = model->events[place - 1];
        place--;
    }
    model->events[place] = event;
}

static struct model_event model_remove(struct model *model, uint32_t place)
{
    const struct model_event event = model->events[place];
    for (uint32_t i = place + 1; i < model->count; i++) {
        model->events[i - 1] = model->events[i];
    }
    model->count--;
    return event;
}

/* Places of the tie set, by the words of the header. Returns its size. */
static uint32_t model_ties(const struct model *model, uint32_t places[SCHED_TIE_MAX])
{
    const struct sched_event *first = &model->events[0].event;
    const nanos limit = nanos_add(first->due, model->window);
    uint32_t size = 0;
    for (uint32_t i = 0; i < model->count && i < SCHED_LOOK_MAX && size < SCHED_TIE_MAX; i++) {
        const struct sched_event *event = &model->events[i].event;
        if (event->due <= limit && event->due != TIME_NEVER && event->node == first->node) {
            places[size++] = i;
        }
    }
    return size;
}

static uint32_t model_policy(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct model *model = context;
    assert_ptr_equal(site, &sched_sites[0]);
    assert_int_equal(who, lane_make(LANE_RUN, 0));
    assert_int_equal(ordinal, model->draws);
    assert_true(model->offered >= 2);
    assert_int_equal(mask, (UINT32_C(1) << model->offered) - 1);
    model->draws++;
    return model->chosen;
}

/* Prepare the next step: what must be offered, what the policy will answer, and what comes out. */
static struct sched_event model_step(struct model *model, bool with_ties)
{
    uint32_t places[SCHED_TIE_MAX];
    const uint32_t size = with_ties ? model_ties(model, places) : 1;
    model->offered = size >= 2 ? size : 0;
    model->chosen = (uint32_t)random_below(&model->random, size);
    const uint32_t place = model->chosen == 0 ? 0 : places[model->chosen];
    const struct sched_event event = model_remove(model, place).event;
    for (uint32_t i = 0; i < place; i++) {
        model->events[i].event.due = event.due;
    }
    model->now = event.due;
    return event;
}

/* A due time from now to the end of time: mostly near, often equal to that of another event. */
static nanos model_due(struct model *model)
{
    const uint64_t form = random_below(&model->random, 16);
    if (form < 3 && model->count > 0) {
        return model->events[random_below(&model->random, model->count)].event.due;
    }
    if (form == 3) {
        return random_below(&model->random, 8) == 0 ? TIME_NEVER : TIME_NEVER - 1;
    }
    if (form == 4) {
        return nanos_add(model->now, DAYS(random_below(&model->random, 400)));
    }
    if (form < 8) {
        return nanos_add(model->now, random_below(&model->random, 8));
    }
    const uint64_t bits = random_below(&model->random, form < 12 ? 12 : 40);
    return nanos_add(model->now, random_next(&model->random) & ((UINT64_C(1) << bits) - 1));
}

static void both_schedule(struct model *model, struct sched *sched)
{
    struct model_event event = {.event = {.due = model_due(model)}};
    if (event.event.due < model->now) {
        event.event.due = model->now;
    }
    event.event.node = (uint32_t)random_below(&model->random, 3);
    event.event.kind = (uint32_t)random_next(&model->random);
    event.event.a = model->next_a++;
    event.event.b = random_next(&model->random);
    const struct sched_event *e = &event.event;
    if (random_below(&model->random, 2) == 0) {
        event.handle = sched_at(sched, e->due, e->node, e->kind, e->a, e->b);
    } else {
        const nanos delay = e->due == TIME_NEVER ? TIME_NEVER : e->due - model->now;
        event.handle = sched_after(sched, delay, e->node, e->kind, e->a, e->b);
    }
    event.event.seq = sched->seq;
    model_insert(model, event);
}

static void both_cancel(struct model *model, struct sched *sched)
{
    const uint32_t place = (uint32_t)random_below(&model->random, model->count);
    const struct model_event event = model_remove(model, place);
    assert_true(sched_is_pending(sched, event.handle));
    sched_cancel(sched, event.handle);
    assert_false(sched_is_pending(sched, event.handle));
}

static void both_move(struct model *model, struct sched *sched)
{
    const uint32_t place = (uint32_t)random_below(&model->random, model->count);
    struct model_event event = model_remove(model, place);
    event.event.due = model_due(model);
    if (event.event.due < model->now) {
        event.event.due = model->now;
    }
    sched_move(sched, event.handle, event.event.due);
    event.event.seq = sched->seq;
    model_insert(model, event);
}

static void assert_same_event(struct sched_event actual, struct sched_event expected)
{
    assert_int_equal(actual.a, expected.a);
    assert_int_equal(actual.due, expected.due);
    assert_int_equal(actual.seq, expected.seq);
    assert_int_equal(actual.node, expected.node);
    assert_int_equal(actual.kind, expected.kind);
    assert_int_equal(actual.b, expected.b);
}

static void both_step(struct model *model, struct sched *sched)
{
    struct sched_event event;
    if (model->count == 0 || model->events[0].event.due == TIME_NEVER) {
        assert_false(sched_step(sched, &event));
        return;
    }
    const uint32_t draws = model->draws;
    const struct sched_event expected = model_step(model, sched->options.ties_from_tape);
    assert_true(sched_step(sched, &event));
    assert_same_event(event, expected);
    assert_int_equal(model->draws - draws, model->offered != 0);
}

static void both_agree(const struct model *model, struct sched *sched)
{
    assert_true(sched_is_valid(sched));
    assert_int_equal(sched->pending, model->count);
    assert_int_equal(sched->now, model->now);
    for (uint32_t i = 0; i < model->count; i++) {
        assert_same_event(sched_peek(sched, model->events[i].handle), model->events[i].event);
    }
}

/* Do random things to both. pressure is how many events are pending when as many come as go. */
static void
both_run(struct model *model, struct sched *sched, uint32_t operations, uint32_t pressure)
{
    for (uint32_t i = 0; i < operations; i++) {
        const uint64_t what = random_below(&model->random, 2 * (uint64_t)pressure);
        if (what >= model->count && model->count < MODEL_MAX) {
            both_schedule(model, sched);
        } else if (what % 8 < 2 && model->count > 0) {
            both_cancel(model, sched);
        } else if (what % 8 == 2 && model->count > 0) {
            both_move(model, sched);
        } else {
            both_step(model, sched);
        }
        if (random_below(&model->random, 4) == 0) {
            const nanos next = model->count == 0 ? TIME_NEVER : model->events[0].event.due;
            assert_int_equal(sched_next_due(sched), next);
        }
        if (i % 256 == 0) {
            both_agree(model, sched);
        }
    }
    both_agree(model, sched);
}

static struct model *model_create(uint64_t seed, nanos window)
{
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    model->random = seed;
    model->window = window;
    return model;
}

/* --- order ---------------------------------------------------------------------------------- */

static void random_operations_keep_the_exact_order(void **state)
{
    static const uint32_t pressures[] = {2, 12, 40, 300, 1500};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct fixture *fixture = *state;
        arena_reset(&fixture->arena);
        struct model *model = model_create(seed, 0);
        struct sched *sched = start_plain(state);
        both_run(model, sched, 6000, pressures[seed % ARRAY_COUNT(pressures)]);
        free(model);
    }
}

static void random_ties_and_windows_follow_the_model(void **state)
{
    static const nanos windows[] = {0, 1, 50, US(3), MS(40), HOURS(30), TIME_NEVER};
    static const uint32_t pressures[] = {2, 12, 40, 300};
    for (uint64_t seed = 0; seed < 56; seed++) {
        struct fixture *fixture = *state;
        arena_reset(&fixture->arena);
        struct model *model = model_create(seed, windows[seed % ARRAY_COUNT(windows)]);
        struct sched *sched = start_with_policy(state, model_policy, model, model->window);
        both_run(model, sched, 4000, pressures[seed % ARRAY_COUNT(pressures)]);
        free(model);
    }
}

static void equal_due_times_come_in_the_order_of_scheduling(void **state)
{
    struct sched *sched = start_plain(state);
    /* From far away, from nearer, and at the instant itself: all for one instant. */
    for (uint64_t i = 0; i < 100; i++) {
        (void)at(sched, MS(70), 1, i);
    }
    (void)at(sched, MS(69), 1, 1000);
    (void)at(sched, MS(70) - 1, 1, 1001);
    (void)at(sched, MS(70), 1, 100);
    assert_steps_to(sched, 1000, MS(69));
    (void)at(sched, MS(70), 1, 101);
    assert_steps_to(sched, 1001, MS(70) - 1);
    (void)at(sched, MS(70), 1, 102);
    for (uint64_t i = 0; i < 50; i++) {
        assert_steps_to(sched, i, MS(70));
    }
    (void)sched_after(sched, 0, 1, 7, 103, 0);
    for (uint64_t i = 50; i < 104; i++) {
        assert_steps_to(sched, i, MS(70));
    }
    assert_is_empty(sched);
}

static void a_moved_event_queues_behind_what_is_due_then(void **state)
{
    struct sched *sched = start_plain(state);
    const sched_handle first = at(sched, MS(5), 1, 1);
    (void)at(sched, MS(5), 1, 2);
    const sched_handle third = at(sched, MS(9), 1, 3);
    sched_move(sched, first, MS(5));
    sched_move(sched, third, MS(5));
    assert_int_equal(sched_peek(sched, third).seq, 5);
    assert_steps_to(sched, 2, MS(5));
    assert_steps_to(sched, 1, MS(5));
    assert_steps_to(sched, 3, MS(5));
    assert_is_empty(sched);
}

static void nothing_is_handed_out_before_the_next_step(void **state)
{
    struct sched *sched = start_plain(state);
    const sched_handle handle = at(sched, 0, 1, 1);
    assert_true(sched_is_pending(sched, handle));
    assert_int_equal(sched->stepped, 0);
    assert_int_equal(sched->pending, 1);
    assert_steps_to(sched, 1, 0);
    assert_int_equal(sched->stepped, 1);
    assert_int_equal(sched->pending, 0);
}

static void asking_for_the_next_due_time_changes_nothing(void **state)
{
    struct sched *sched = start_plain(state);
    for (uint64_t i = 0; i < 1000; i++) {
        (void)at(sched, HOURS(5) + i, 1, i);
    }
    assert_int_equal(sched_next_due(sched), HOURS(5));
    assert_int_equal(sched->now, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const nanos due = HOURS(5) - 1 - 17 * i;
        (void)at(sched, due, 1, 1000 + i);
        assert_int_equal(sched_next_due(sched), due);
    }
    assert_true(sched_is_valid(sched));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_steps_to(sched, 1999 - i, HOURS(5) - 1 - 17 * (999 - i));
    }
    for (uint64_t i = 0; i < 1000; i++) {
        assert_steps_to(sched, i, HOURS(5) + i);
    }
}

/* --- edges ---------------------------------------------------------------------------------- */

static void the_end_of_time_never_comes(void **state)
{
    struct sched *sched = start_plain(state);
    const sched_handle never = at(sched, TIME_NEVER, 1, 1);
    const sched_handle saturated = sched_after(sched, TIME_NEVER, 1, 7, 2, 0);
    (void)at(sched, TIME_NEVER - 1, 1, 3);
    assert_int_equal(sched_next_due(sched), TIME_NEVER - 1);
    assert_steps_to(sched, 3, TIME_NEVER - 1);
    const sched_handle beyond = sched_after(sched, 2, 1, 7, 4, 0);
    assert_true(sched_peek(sched, beyond).due == TIME_NEVER);
    assert_is_empty(sched);
    assert_int_equal(sched->pending, 3);
    (void)sched_after(sched, 0, 1, 7, 5, 0);
    assert_steps_to(sched, 5, TIME_NEVER - 1);
    sched_move(sched, saturated, TIME_NEVER - 1);
    assert_steps_to(sched, 2, TIME_NEVER - 1);
    sched_cancel(sched, never);
    sched_cancel(sched, beyond);
    assert_is_empty(sched);
    assert_int_equal(sched->pending, 0);
    assert_true(sched_is_valid(sched));
}

static void every_power_of_two_is_reached_from_zero(void **state)
{
    struct sched *sched = start_plain(state);
    for (uint32_t bit = 64; bit-- > 0;) {
        (void)at(sched, UINT64_C(1) << bit, 1, 2 * (uint64_t)bit + 1);
        (void)at(sched, (UINT64_C(1) << bit) - 1, 1, 2 * (uint64_t)bit);
    }
    assert_steps_to(sched, 0, 0);
    assert_steps_to(sched, 2, 1);
    assert_steps_to(sched, 1, 1);
    assert_steps_to(sched, 3, 2);
    for (uint64_t bit = 2; bit < 64; bit++) {
        assert_steps_to(sched, 2 * bit, (UINT64_C(1) << bit) - 1);
        assert_steps_to(sched, 2 * bit + 1, UINT64_C(1) << bit);
    }
    assert_is_empty(sched);
}

static void an_event_keeps_its_payload(void **state)
{
    struct sched *sched = start_plain(state);
    const sched_handle handle = sched_at(sched, 5, 11, 12, UINT64_MAX, UINT64_MAX - 1);
    const struct sched_event expected = {
        .due = 5, .seq = 1, .node = 11, .kind = 12, .a = UINT64_MAX, .b = UINT64_MAX - 1};
    assert_same_event(sched_peek(sched, handle), expected);
    assert_same_event(step(sched), expected);
}

static void a_stale_handle_is_caught(void **state)
{
    struct sched *sched = start_plain(state);
    const sched_handle cancelled = at(sched, 5, 1, 1);
    sched_cancel(sched, cancelled);
    const sched_handle stepped = at(sched, 5, 1, 2); /* takes the place of the first */
    assert_true((uint32_t)stepped == (uint32_t)cancelled);
    assert_false(sched_is_pending(sched, cancelled));
    expect_check_failure(sched_cancel(sched, cancelled));
    expect_check_failure(sched_move(sched, cancelled, 9));
    expect_check_failure((void)sched_peek(sched, cancelled));
    assert_true(sched_is_pending(sched, stepped));
    (void)step(sched);
    assert_false(sched_is_pending(sched, stepped));
    expect_check_failure(sched_cancel(sched, stepped));
    expect_check_failure(sched_cancel(sched, SCHED_NONE));
    assert_false(sched_is_pending(sched, SCHED_NONE));
    assert_false(sched_is_pending(sched, UINT64_MAX));
    assert_true(sched_is_valid(sched));
}

static void the_past_is_out_of_reach(void **state)
{
    struct sched *sched = start_plain(state);
    (void)at(sched, 100, 1, 1);
    (void)step(sched);
    const sched_handle handle = at(sched, 100, 1, 2);
    expect_check_failure((void)at(sched, 99, 1, 3));
    expect_check_failure(sched_move(sched, handle, 99));
    assert_steps_to(sched, 2, 100);
}

static void ties_from_the_tape_need_a_tape(void **state)
{
    struct fixture *fixture = *state;
    const struct sched_options options = {.ties_from_tape = true};
    expect_check_failure(sched_init(&fixture->sched, &fixture->arena, NULL, &options));
}

static void a_full_pool_stops_the_run_at_the_next_boundary(void **state)
{
    struct sched *sched = start(state, &(struct sched_options){.event_count_max = 300});
    for (uint64_t i = 0; i < 300; i++) {
        (void)at(sched, i, 1, i);
    }
    assert_false(sched_is_over(sched));
    const sched_handle last = at(sched, 5, 1, 300);
    assert_true(sched_is_over(sched));
    sched_cancel(sched, last);
    assert_true(sched_is_over(sched));
    for (uint64_t i = 300; i < 300 + SCHED_HEADROOM; i++) {
        (void)at(sched, i, 1, i);
    }
    expect_check_failure((void)at(sched, 5, 1, 0));
    for (uint64_t i = 0; i < 300 + SCHED_HEADROOM; i++) {
        assert_steps_to(sched, i, i);
    }
}

static void a_small_run_takes_little_memory_and_a_steady_one_no_more(void **state)
{
    struct fixture *fixture = *state;
    struct sched *sched = start_plain(state);
    assert_true(fixture->arena.used < (size_t)24 << 10);
    for (uint64_t i = 0; i < 192; i++) {
        (void)at(sched, MS(i), 1, i);
    }
    const size_t used = fixture->arena.used;
    assert_true(used < (size_t)24 << 10);
    uint64_t random = 1;
    for (uint64_t i = 0; i < 100000; i++) {
        const struct sched_event event = step(sched);
        const sched_handle other = at(sched, sched->now + random_below(&random, MS(900)), 1, i);
        sched_cancel(sched, other);
        (void)at(sched, sched->now + random_below(&random, MS(100)), 1, event.a);
    }
    assert_int_equal(fixture->arena.used, used);
}

/* --- ties ----------------------------------------------------------------------------------- */

/* A policy that answers from a list. */
struct script {
    uint32_t answers[16];
    uint32_t masks[16];
    uint32_t draws;
};

static uint32_t script_policy(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct script *script = context;
    (void)site;
    (void)who;
    (void)ordinal;
    assert_true(script->draws < ARRAY_COUNT(script->masks));
    script->masks[script->draws] = mask;
    return script->answers[script->draws++];
}

static void the_tape_chooses_among_equal_times_of_one_node(void **state)
{
    struct script script = {.answers = {2, 1}};
    struct sched *sched = start_with_policy(state, script_policy, &script, 0);
    (void)at(sched, 10, 1, 1);
    (void)at(sched, 10, 2, 2);
    (void)at(sched, 10, 1, 3);
    (void)at(sched, 10, 1, 4);
    (void)at(sched, 11, 1, 5);
    assert_steps_to(sched, 4, 10); /* of 1, 3, 4 */
    assert_steps_to(sched, 3, 10); /* of 1, 3 */
    assert_steps_to(sched, 1, 10); /* nothing to choose from here on */
    assert_steps_to(sched, 2, 10);
    assert_steps_to(sched, 5, 11);
    assert_int_equal(script.draws, 2);
    assert_int_equal(script.masks[0], 7);
    assert_int_equal(script.masks[1], 3);
}

static void the_overtaken_become_due_at_the_chosen_time_in_their_order(void **state)
{
    struct script script = {.answers = {2, 0, 0}};
    struct sched *sched = start_with_policy(state, script_policy, &script, 20);
    const sched_handle first = at(sched, 10, 1, 1);
    const sched_handle other = at(sched, 12, 2, 2);
    (void)at(sched, 13, 1, 3);
    (void)at(sched, 30, 3, 9);
    (void)at(sched, 30, 1, 4);
    (void)at(sched, 31, 1, 5);
    (void)at(sched, 30, 3, 6);
    assert_steps_to(sched, 4, 30);
    assert_int_equal(script.masks[0], 7); /* 1, 3, 4: 5 is past the window */
    assert_int_equal(sched_peek(sched, first).due, 30);
    assert_int_equal(sched_peek(sched, first).seq, 1);
    assert_int_equal(sched_peek(sched, other).due, 30);
    (void)at(sched, 30, 1, 7);
    assert_true(sched_is_valid(sched));
    assert_steps_to(sched, 1, 30); /* of 1, 3, 7, 5 */
    assert_int_equal(script.masks[1], 15);
    assert_steps_to(sched, 2, 30);
    assert_steps_to(sched, 3, 30); /* of 3, 7, 5 */
    assert_int_equal(script.masks[2], 7);
    assert_steps_to(sched, 9, 30);
    assert_steps_to(sched, 6, 30);
}

static void a_window_looks_past_what_is_near(void **state)
{
    /* The second lies on a far level of the wheel, among many of its like. */
    struct script script = {.answers = {1, 0, 0, 0}};
    struct sched *sched = start_with_policy(state, script_policy, &script, 2);
    (void)at(sched, (UINT64_C(1) << 36) - 1, 1, 1);
    (void)at(sched, (UINT64_C(1) << 36) + 1, 1, 2);
    for (uint64_t i = 0; i < 1000; i++) {
        (void)at(sched, (UINT64_C(1) << 36) + 2 + 64 * i, 1, 10 + i);
    }
    assert_steps_to(sched, 2, (UINT64_C(1) << 36) + 1);
    (void)sched_after(sched, 0, 1, 7, 3, 0);
    assert_true(sched_is_valid(sched));
    assert_steps_to(sched, 1, (UINT64_C(1) << 36) + 1); /* of 1, 3, 10 */
    assert_int_equal(script.masks[1], 7);
}

static void at_most_eight_tie_and_at_most_thirty_two_are_looked_at(void **state)
{
    struct script script = {.answers = {7, 0, 0, 0, 0, 0, 0, 1, 0}};
    struct sched *sched = start_with_policy(state, script_policy, &script, 0);
    for (uint64_t i = 0; i < 9; i++) {
        (void)at(sched, 10, 1, i);
    }
    assert_steps_to(sched, 7, 10);
    assert_int_equal(script.masks[0], 255);
    const uint64_t rest[] = {0, 1, 2, 3, 4, 5, 6, 8};
    for (uint32_t i = 0; i < 6; i++) {
        assert_steps_to(sched, rest[i], 10);
    }
    assert_int_equal(script.draws, 7);
    for (uint64_t i = 0; i < 30; i++) {
        (void)at(sched, 10, 2, 100 + i);
    }
    (void)at(sched, 10, 1, 200); /* after 6, 8 and thirty others */
    assert_steps_to(sched, 8, 10);
    assert_int_equal(script.masks[7], 3);
    assert_steps_to(sched, 6, 10); /* 200 is in the 32nd place, and offered */
    assert_int_equal(script.masks[8], 3);
}

static void a_lone_event_draws_nothing(void **state)
{
    struct script script = {.draws = 0};
    struct sched *sched = start_with_policy(state, script_policy, &script, 5);
    for (uint64_t i = 0; i < 200; i++) {
        (void)at(sched, 6 * i, 1, i);
        (void)at(sched, 6 * i, 2, i);
    }
    struct sched_event event;
    while (sched_step(sched, &event)) {
    }
    assert_int_equal(sched->stepped, 400);
    assert_int_equal(script.draws, 0);
}

static void a_calm_run_is_first_in_first_out(void **state)
{
    struct fixture *fixture = *state;
    choice_init(&fixture->choice, &fixture->arena, &(struct choice_options){.mode = CHOICE_CALM});
    struct sched *sched =
        start(state, &(struct sched_options){.race_window = MS(1), .ties_from_tape = true});
    for (uint64_t i = 0; i < 200; i++) {
        (void)at(sched, US(i / 3), 1, i);
    }
    for (uint64_t i = 0; i < 200; i++) {
        assert_steps_to(sched, i, US(i / 3));
    }
    assert_int_equal(fixture->choice.draws, 199);
    assert_int_equal(fixture->choice.recorded.count, 0);
}

static void the_site_names_each_place(void **state)
{
    (void)state;
    assert_int_equal(sched_site_count, 1);
    assert_int_equal(sched_sites[0].key, 0x0100);
    assert_string_equal(sched_sites[0].name, "sched.tie");
    assert_int_equal(sched_sites[0].outcome_count, SCHED_TIE_MAX);
    for (uint32_t i = 0; i < SCHED_TIE_MAX; i++) {
        assert_int_equal(sched_sites[0].outcomes[i].kind, i == 0 ? FAULT_NONE : FAULT_ORDER);
        assert_true(sched_sites[0].outcomes[i].weight > 0);
    }
}

#define SCHED_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(sched,
          SCHED_TEST(random_operations_keep_the_exact_order),
          SCHED_TEST(random_ties_and_windows_follow_the_model),
          SCHED_TEST(equal_due_times_come_in_the_order_of_scheduling),
          SCHED_TEST(a_moved_event_queues_behind_what_is_due_then),
          SCHED_TEST(nothing_is_handed_out_before_the_next_step),
          SCHED_TEST(asking_for_the_next_due_time_changes_nothing),
          SCHED_TEST(the_end_of_time_never_comes),
          SCHED_TEST(every_power_of_two_is_reached_from_zero),
          SCHED_TEST(an_event_keeps_its_payload),
          SCHED_TEST(a_stale_handle_is_caught),
          SCHED_TEST(the_past_is_out_of_reach),
          SCHED_TEST(ties_from_the_tape_need_a_tape),
          SCHED_TEST(a_full_pool_stops_the_run_at_the_next_boundary),
          SCHED_TEST(a_small_run_takes_little_memory_and_a_steady_one_no_more),
          SCHED_TEST(the_tape_chooses_among_equal_times_of_one_node),
          SCHED_TEST(the_overtaken_become_due_at_the_chosen_time_in_their_order),
          SCHED_TEST(a_window_looks_past_what_is_near),
          SCHED_TEST(at_most_eight_tie_and_at_most_thirty_two_are_looked_at),
          SCHED_TEST(a_lone_event_draws_nothing),
          SCHED_TEST(a_calm_run_is_first_in_first_out),
          SCHED_TEST(the_site_names_each_place))
