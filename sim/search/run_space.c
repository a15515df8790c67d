#include "sim/search/run_space.h"

#include "sinks/base/digest.h"

#include <string.h>

#define STEP_SIZE 8

/* --- nodes --------------------------------------------------------------------------------------- */

static void put_u32(uint8_t *place, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        place[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint32_t get_u32(const uint8_t *place)
{
    return (uint32_t)place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16 |
           (uint32_t)place[3] << 24;
}

void run_space_node(const struct run_space_step *steps, uint32_t count, uint8_t *node)
{
    CHECK(count <= RUN_SPACE_LEVEL_MAX);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(node + (size_t)i * STEP_SIZE, steps[i].draw);
        put_u32(node + (size_t)i * STEP_SIZE + 4, steps[i].value);
    }
}

void run_space_steps(const uint8_t *node, uint32_t count, struct run_space_step *steps)
{
    CHECK(count <= RUN_SPACE_LEVEL_MAX);
    for (uint32_t i = 0; i < count; i++) {
        steps[i].draw = get_u32(node + (size_t)i * STEP_SIZE);
        steps[i].value = get_u32(node + (size_t)i * STEP_SIZE + 4);
    }
}

/* --- draws --------------------------------------------------------------------------------------- */

static uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

static uint32_t lowest(uint32_t mask)
{
    return highest_bit((uint64_t)(mask & (~mask + 1)));
}

static bool is_crash(const struct choice_site *site, uint32_t value)
{
    const uint8_t kind = site->outcomes[value].kind;
    return kind == FAULT_CRASH || kind == FAULT_ZOMBIE;
}

static uint32_t checkpoints_completed(const struct run_space *runs)
{
    const struct world *world = runs->options.runner->world;
    return world == NULL ? 0 : world->kind_counts[HOST_CHECKPOINT_COMPLETED];
}

/* Whether the job has not got over its last crash. */
static bool is_recovering(const struct run_space *runs)
{
    return runs->step_count == 0 ||
           runs->completed[runs->step_count - 1] == checkpoints_completed(runs);
}

static void note_offer(struct run_space *runs, uint32_t mask, bool is_crash_point)
{
    runs->children += count_bits(mask);
    runs->crash_points += is_crash_point ? 1 : 0;
    if (!runs->is_kept) {
        return;
    }
    CHECK(runs->offer_count < RUN_SPACE_OFFER_MAX);
    runs->options.offers[runs->offer_count] = (struct run_space_offer){
        .draw = runs->draw, .mask = mask, .is_crash_point = is_crash_point};
    runs->offer_count++;
}

/* A draw past the last step: it is 0 now, and could have been something else. */
static void offer(struct run_space *runs, const struct choice_site *site, uint32_t mask)
{
    const uint32_t values = mask & ~UINT32_C(1);
    if (values == 0) {
        return;
    }
    const bool is_crash_point = is_crash(site, lowest(values));
    if (!runs->options.crash_points || (is_crash_point && is_recovering(runs))) {
        note_offer(runs, values, is_crash_point);
    }
}

/* The value of a step, where it is still offered: the run is not the same again otherwise. */
static uint32_t step_value(struct run_space *runs, uint32_t mask)
{
    const uint32_t value = runs->steps[runs->next_step].value;
    if ((mask >> value & 1) == 0) {
        runs->is_strayed = true;
        return 0;
    }
    return value;
}

/* A choice_policy: the values of the steps, and 0. */
static uint32_t
draw(void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct run_space *runs = context;
    uint32_t value = 0;
    (void)who;
    (void)ordinal;
    if (runs->next_step == runs->step_count) {
        offer(runs, site, mask);
    } else if (runs->steps[runs->next_step].draw == runs->draw) {
        value = step_value(runs, mask);
        runs->completed[runs->next_step] = checkpoints_completed(runs);
        runs->next_step++;
    }
    runs->draw++;
    return value;
}

uint32_t run_space_replay(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct run_space_replay *replay = context;
    uint32_t value = 0;
    (void)site;
    (void)who;
    (void)ordinal;
    if (replay->next_step < replay->step_count &&
        replay->steps[replay->next_step].draw == replay->draw) {
        const uint32_t wanted = replay->steps[replay->next_step].value;
        value = (mask >> wanted & 1) != 0 ? wanted : 0;
        replay->next_step++;
    }
    replay->draw++;
    return value;
}

/* --- making runs --------------------------------------------------------------------------------- */

static void start_counting(struct run_space *runs, bool is_kept)
{
    runs->children = 0;
    runs->crash_points = 0;
    runs->offer_count = 0;
    runs->is_kept = is_kept;
}

static bool begin(struct run_space *runs)
{
    runs->draw = 0;
    runs->next_step = 0;
    runs->options.runner->world = NULL;
    return runner_begin(
        runs->options.runner, runs->options.config, &runs->request, runs->options.result);
}

/* From where the world is to the end, and then tell of it. */
static void end_run(struct run_space *runs, bool hits_crash_point, struct space_found *found)
{
    const struct run_space_options *options = &runs->options;
    const struct result *result = options->result;
    const struct world *world = options->runner->world;
    const bool is_last = runs->step_count >= options->level_bound;
    if (world != NULL) {
        while (runner_step(options->runner)) {
        }
        runner_finish(options->runner, options->result);
    }
    runs->is_strayed |= runs->next_step != runs->step_count && world != NULL;
    found->digest = world == NULL ? result->digest
                                  : digest_fold(digest_fold(world->trace->digest, result->events),
                                                result->ended_at);
    found->children = is_last ? 0 : runs->children;
    found->violates = result->verdict == RUN_VIOLATION;
    run_space_node(runs->steps, runs->step_count, found->node);
    options->on_run(options->context,
                    &(struct run_space_made){
                        .result = result,
                        .world_or_null = world,
                        .steps = runs->steps,
                        .step_count = runs->step_count,
                        .crash_points_seen = is_last ? 0 : runs->crash_points,
                        .hits_crash_point = hits_crash_point,
                    });
}

static void make_root(void *context, struct space_found *found)
{
    struct run_space *runs = context;
    runs->is_walking = false;
    runs->step_count = 0;
    start_counting(runs, false);
    (void)begin(runs);
    end_run(runs, false, found);
}

/* --- walking along a node's run ------------------------------------------------------------------ */

static bool has_snapshots(const struct run_space *runs)
{
    return runs->options.snapshots != NULL;
}

static void go_to_before(struct run_space *runs)
{
    snapshot_restore(&runs->before, &runs->options.runner->arena);
    runs->draw = runs->options.runner->world->choice->draws;
    runs->next_step = 0;
    while (runs->next_step < runs->step_count && runs->steps[runs->next_step].draw < runs->draw) {
        runs->next_step++;
    }
}

static void finish_walk(struct run_space *runs)
{
    runner_finish(runs->options.runner, runs->options.result);
    runs->is_at_end = true;
}

static void end_event(struct run_space *runs)
{
    runs->event_children = runs->children;
    runs->event_offers = runs->offer_count;
}

/* Stand behind the beginning of the run, which counts as an event without a snapshot before it; or,
 * where there are no snapshots at all, behind the whole run. */
static void start_walk(struct run_space *runs, uint32_t level, const uint8_t *node)
{
    struct runner *runner = runs->options.runner;
    runs->step_count = level - 1;
    run_space_steps(node, level - 1, runs->steps);
    runs->level = level;
    memcpy(runs->node, node, (size_t)(level - 1) * STEP_SIZE);
    runs->is_walking = true;
    runs->is_moved = false;
    runs->event_first = 0;
    runs->is_at_end = false;
    runs->has_before = false;
    start_counting(runs, true);
    if (!begin(runs)) { /* what has children was not refused before */
        runs->is_at_end = true;
    } else if (has_snapshots(runs)) {
        snapshot_save(&runs->after, &runner->arena);
    } else {
        while (runner_step(runner)) {
        }
        finish_walk(runs);
    }
    end_event(runs);
}

/* What was behind the last event is before the next one. */
static void turn(struct run_space *runs)
{
    const struct snapshot before = runs->before;
    runs->before = runs->after;
    runs->after = before;
    runs->has_before = true;
}

static void walk_event(struct run_space *runs)
{
    struct runner *runner = runs->options.runner;
    CHECK(!runs->is_at_end);
    runs->event_first += runs->event_children;
    runs->step_count = runs->level - 1;
    turn(runs);
    if (runs->is_moved) {
        go_to_before(runs);
        runs->is_moved = false;
    }
    start_counting(runs, true);
    if (runner_step(runner)) {
        snapshot_save(&runs->after, &runner->arena);
    } else {
        finish_walk(runs);
    }
    end_event(runs);
}

static void make_child(struct run_space *runs,
                       struct run_space_step step,
                       bool hits_crash_point,
                       struct space_found *found)
{
    runs->steps[runs->level - 1] = step;
    runs->step_count = runs->level;
    runs->is_moved = true;
    start_counting(runs, false);
    if (runs->options.on_start != NULL) {
        runs->options.on_start(runs->options.context, runs->steps, runs->step_count);
    }
    if (runs->has_before) {
        go_to_before(runs);
    } else {
        (void)begin(runs);
    }
    end_run(runs, hits_crash_point, found);
}

/* The n-th child of the event that the walk stands behind. */
static void visit_in_event(struct run_space *runs, uint32_t number, struct space_found *found)
{
    for (uint32_t i = 0; i < runs->event_offers; i++) {
        const struct run_space_offer offer = runs->options.offers[i];
        const uint32_t values = count_bits(offer.mask);
        if (number >= values) {
            number -= values;
            continue;
        }
        uint32_t mask = offer.mask;
        for (uint32_t k = 0; k < number; k++) {
            mask &= mask - 1;
        }
        const struct run_space_step step = {.draw = offer.draw, .value = lowest(mask)};
        make_child(runs, step, offer.is_crash_point && number == 0, found);
        return;
    }
    UNREACHABLE();
}

static bool
is_ahead(const struct run_space *runs, uint32_t level, const uint8_t *node, uint32_t child)
{
    return runs->is_walking && runs->level == level && child >= runs->event_first &&
           memcmp(runs->node, node, (size_t)(level - 1) * STEP_SIZE) == 0;
}

/* The run of the node is over and has not offered the child that it offered before. */
static void stray(struct run_space *runs, const uint8_t *node, struct space_found *found)
{
    runs->is_strayed = true;
    runs->is_walking = false;
    *found = (struct space_found){.digest = 0};
    memcpy(found->node, node, (size_t)(runs->level - 1) * STEP_SIZE);
}

static void visit_child(
    void *context, uint32_t level, const uint8_t *node, uint32_t child, struct space_found *found)
{
    struct run_space *runs = context;
    CHECK(level >= 1);
    CHECK(level <= RUN_SPACE_LEVEL_MAX);
    if (!is_ahead(runs, level, node, child)) {
        start_walk(runs, level, node);
    }
    while (child - runs->event_first >= runs->event_children) {
        if (runs->is_at_end) {
            stray(runs, node, found);
            return;
        }
        walk_event(runs);
    }
    visit_in_event(runs, child - runs->event_first, found);
}

/* --- life ---------------------------------------------------------------------------------------- */

struct space run_space_shape(void)
{
    return (struct space){.node_size_step = STEP_SIZE, .level_max = RUN_SPACE_LEVEL_MAX};
}

void run_space_init(struct run_space *runs,
                    const struct run_space_options *options,
                    struct space *space)
{
    *runs = (struct run_space){.options = *options};
    runs->request = (struct run_request){
        .choice =
            {
                .mode = CHOICE_POLICY,
                .identity = options->identity,
                .policy = draw,
                .policy_context = runs,
            },
    };
    if (options->snapshots != NULL) {
        uint8_t *second = (uint8_t *)options->snapshots + options->snapshot_size;
        snapshot_init(&runs->before, options->snapshots, options->snapshot_size);
        snapshot_init(&runs->after, second, options->snapshot_size);
    }
    *space = run_space_shape();
    space->context = runs;
    space->root = make_root;
    space->visit = visit_child;
}
