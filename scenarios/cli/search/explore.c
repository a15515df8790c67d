#include "scenarios/cli/search/explore.h"

#include "scenarios/workers.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_CAP_DEFAULT ((size_t)8 << 20)
#define CHUNK_RUNS       512u /* runs that are handed out at once */
#define GROUP_STATES     256u /* states that are one item, for they take no time */
#define CHUNK_GROUPS     32u
#define AHEAD            16u /* of a state that is looked up, others are asked for */
#define HANGS_MAX        8u

/* What a worker leaves for a chunk. */
struct slot {
    struct explore_counts counts;
    struct explore_witness current; /* being made */
    uint32_t found_count;
    struct space_found found[];
};

/* A worker's own. */
struct explorer {
    struct run_space runs; /* or */
    struct state_space states;
    struct space space;
    struct runner runner;
    struct result result;
    struct frontier_place place;
    struct slot *slot;
    uint64_t number;
    uint64_t broken; /* oracles, by the last run */
};

struct exploration {
    const struct explore_options *options;
    struct explored *explored;
    uint64_t first;  /* thing of the level with which the pool began */
    uint32_t group;  /* things that are one item */
    uint32_t chunk;  /* items that are handed out at once */
    uint64_t count;  /* things that the pool makes */
    uint64_t before; /* runs made on the levels before, and so the number of the level's first */
    uint64_t started_ms;
    uint64_t elapsed_before_ms;
    uint32_t hangs;
    bool stopped;
    enum err error;
    struct progress progress;
    char label[160];
};

/* --- in a worker --------------------------------------------------------------------------------- */

static size_t run_size(const struct scenario *scenario)
{
    const size_t cap = scenario->config.arena_soft_cap;
    return (cap == 0 ? SOFT_CAP_DEFAULT : cap) + RUN_HEADROOM;
}

static struct explore_witness
witness_at(uint64_t number, const struct run_space_step *steps, uint32_t count)
{
    struct explore_witness witness = {.number = number, .step_count = count};
    for (uint32_t i = 0; i < count; i++) {
        witness.steps[i] = steps[i];
    }
    return witness;
}

/* A digest of which run it is, whoever makes it. */
static uint64_t digest_of_steps(const struct run_space_step *steps, uint32_t count)
{
    uint64_t digest = digest_fold(0, count);
    for (uint32_t i = 0; i < count; i++) {
        digest = digest_fold(digest, (uint64_t)steps[i].draw << 32 | steps[i].value);
    }
    return digest;
}

static void note_start(void *context, const struct run_space_step *steps, uint32_t count)
{
    struct explorer *explorer = context;
    explorer->slot->current = witness_at(explorer->number, steps, count);
}

static void note_run(void *context, const struct run_space_made *made)
{
    struct explorer *explorer = context;
    struct explore_counts *counts = &explorer->slot->counts;
    const uint32_t findings = counts->summary.finding_count;
    explorer->broken = summary_add(&counts->summary, explorer->number, made->result);
    if (counts->summary.finding_count > findings) {
        counts->witnesses[counts->witness_count++] =
            witness_at(explorer->number, made->steps, made->step_count);
    }
    counts->digest +=
        digest_fold(digest_of_steps(made->steps, made->step_count), made->result->digest);
    counts->crash_points_hit += made->hits_crash_point ? 1 : 0;
    counts->crash_points_seen += made->crash_points_seen;
}

static void *start_states(const struct state_system *system)
{
    struct explorer *explorer = calloc(1, sizeof *explorer);
    void *memory = malloc(state_space_memory_size(system));
    if (explorer == NULL || memory == NULL) {
        free(explorer);
        free(memory);
        return NULL;
    }
    state_space_init(&explorer->states, system, memory, &explorer->space);
    return explorer;
}

/* All of its memory: the explorer, one run, two snapshots of it, and what a run may offer. */
static void *start_runs(const struct explore_options *options)
{
    const size_t size = run_size(options->scenario);
    const size_t offers = RUN_SPACE_OFFER_MAX * sizeof(struct run_space_offer);
    struct explorer *explorer = calloc(1, sizeof *explorer);
    uint8_t *memory = workers_memory_alone(3 * size + offers);
    if (explorer == NULL || memory == NULL) {
        free(explorer);
        return NULL;
    }
    runner_init(&explorer->runner, memory, size);
    const struct run_space_options runs = {
        .config = &options->scenario->config,
        .runner = &explorer->runner,
        .result = &explorer->result,
        .snapshots = options->re_execute ? NULL : memory + size,
        .snapshot_size = size,
        .offers = (struct run_space_offer *)(void *)(memory + 3 * size),
        .level_bound = options->deviations,
        .crash_points = options->crash_points,
        .on_start = note_start,
        .on_run = note_run,
        .context = explorer,
    };
    run_space_init(&explorer->runs, &runs, &explorer->space);
    return explorer;
}

static void *start(void *context)
{
    const struct exploration *exploration = context;
    const struct explore_options *options = exploration->options;
    return options->system_or_null != NULL ? start_states(options->system_or_null)
                                           : start_runs(options);
}

/* Make thing number index of the level. */
static void make(const struct exploration *exploration, struct explorer *explorer, uint64_t index)
{
    const struct frontier *frontier = &exploration->explored->frontier;
    const struct space *space = &explorer->space;
    struct slot *slot = explorer->slot;
    CHECK(slot->found_count < exploration->chunk * exploration->group);
    struct space_found *found = &slot->found[slot->found_count];
    explorer->number = exploration->before + index;
    if (frontier->level == 0) {
        space->root(space->context, found);
    } else {
        frontier_locate(frontier, index, &explorer->place);
        space->visit(
            space->context, frontier->level, explorer->place.node, explorer->place.child, found);
    }
    slot->found_count++;
    slot->counts.is_strayed |= explorer->runs.is_strayed;
}

static bool work(void *context, void *state, void *memory, uint64_t item)
{
    const struct exploration *exploration = context;
    struct explorer *explorer = state;
    const uint64_t first = item * exploration->group;
    explorer->slot = memory;
    for (uint64_t i = first; i < first + exploration->group && i < exploration->count; i++) {
        make(exploration, explorer, exploration->first + i);
    }
    return (explorer->broken & exploration->options->stop_oracles) == 0;
}

/* --- in the parent ------------------------------------------------------------------------------- */

/* The run that was begun last took its process with it. */
static bool lost(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    struct exploration *exploration = context;
    const struct explore_options *options = exploration->options;
    struct slot *slot = memory;
    struct explore_counts *counts = &slot->counts;
    const struct explore_witness *witness = &slot->current;
    char message[ORACLE_MESSAGE_SIZE];
    const uint8_t oracle = loss == WORKERS_LOSS_HANG ? SUMMARY_ORACLE_HANG : SUMMARY_ORACLE_CRASH;
    exploration->hangs += loss == WORKERS_LOSS_HANG ? 1 : 0;
    summary_loss_message(message, loss == WORKERS_LOSS_HANG, detail, options->hang_after);
    const uint64_t number = exploration->before + exploration->first + item;
    const uint64_t digest =
        digest_fold(digest_of_steps(witness->steps, witness->step_count), oracle);
    if (loss == WORKERS_LOSS_CRASH && detail == SIGKILL) {
        summary_add_limit(&counts->summary, number, "the process was killed: out of memory");
    } else {
        const uint32_t findings = counts->summary.finding_count;
        summary_add_lost(&counts->summary, number, oracle, message);
        if (counts->summary.finding_count > findings) {
            counts->witnesses[counts->witness_count++] =
                witness_at(number, witness->steps, witness->step_count);
        }
    }
    counts->digest += digest;
    slot->found[slot->found_count] = (struct space_found){.digest = digest, .violates = true};
    slot->found_count++;
    return exploration->hangs < HANGS_MAX && (options->stop_oracles >> oracle & 1) == 0;
}

static bool has_finding(const struct summary *summary, uint64_t number)
{
    for (uint32_t i = 0; i < summary->finding_count; i++) {
        if (summary->findings[i].seed == number) {
            return true;
        }
    }
    return false;
}

static void join(struct explore_counts *counts, const struct explore_counts *later)
{
    summary_join(&counts->summary, &later->summary);
    counts->digest += later->digest;
    counts->crash_points_hit += later->crash_points_hit;
    counts->crash_points_seen += later->crash_points_seen;
    counts->is_strayed |= later->is_strayed;
    for (uint32_t i = 0; i < later->witness_count; i++) {
        if (has_finding(&counts->summary, later->witnesses[i].number)) {
            CHECK(counts->witness_count < SUMMARY_FINDING_MAX);
            counts->witnesses[counts->witness_count++] = later->witnesses[i];
        }
    }
}

const struct explore_witness *explore_witness_of(const struct explore_counts *counts,
                                                 uint64_t number)
{
    for (uint32_t i = 0; i < counts->witness_count; i++) {
        if (counts->witnesses[i].number == number) {
            return &counts->witnesses[i];
        }
    }
    UNREACHABLE();
}

static void update_elapsed(struct exploration *exploration)
{
    exploration->explored->elapsed_ms =
        exploration->elapsed_before_ms + wall_milliseconds() - exploration->started_ms;
}

static bool keep(struct exploration *exploration, bool is_end)
{
    const struct explore_options *options = exploration->options;
    update_elapsed(exploration);
    return options->keep == NULL || options->keep(options->context, is_end);
}

/* The root is made by every shard, and counted by the first. */
static bool is_uncounted(const struct exploration *exploration)
{
    return exploration->explored->frontier.level == 0 && exploration->options->shard.index != 1;
}

static void take(void *context, const void *memory)
{
    struct exploration *exploration = context;
    struct explored *explored = exploration->explored;
    const struct slot *slot = memory;
    if (exploration->error != ERR_OK) {
        return;
    }
    if (!is_uncounted(exploration)) {
        join(&explored->counts, &slot->counts);
    }
    for (uint32_t i = 0; i < slot->found_count && exploration->error == ERR_OK; i++) {
        const uint32_t ahead = i + AHEAD < slot->found_count ? i + AHEAD : i;
        digest_set_prefetch(&explored->frontier.seen, slot->found[ahead].digest);
        exploration->error = frontier_take(&explored->frontier, &slot->found[i]);
    }
    if (exploration->error == ERR_OK && !keep(exploration, false)) {
        exploration->error = ERR_SYSTEM;
    }
}

static bool go_on(void *context)
{
    const struct exploration *exploration = context;
    return exploration->error == ERR_OK && !exploration->explored->counts.is_strayed;
}

/* Beside the present level, say how large the next one will be, as far as it is known. */
static void tick(void *context, uint64_t done)
{
    struct exploration *exploration = context;
    const struct frontier *frontier = &exploration->explored->frontier;
    const uint64_t things = frontier_things(frontier);
    const uint64_t next = frontier_things_next(frontier);
    int used =
        snprintf(exploration->label,
                 sizeof exploration->label,
                 "%.80s, %" PRIu32 " %s",
                 exploration->options->label,
                 frontier->level,
                 exploration->options->system_or_null != NULL ? "transitions" : "deviations");
    if (next > 0 && frontier->done > 0 && used > 0 && (size_t)used < sizeof exploration->label) {
        (void)snprintf(exploration->label + used,
                       sizeof exploration->label - (size_t)used,
                       " (then about %" PRIu64 ")",
                       frontier->done == things ? next : next / frontier->done * things);
    }
    if (exploration->options->shows_progress) {
        progress_show(&exploration->progress, exploration->first + done * exploration->group);
    }
}

/* Things of the level that may still be made. */
static uint64_t things_left(const struct exploration *exploration)
{
    const struct frontier *frontier = &exploration->explored->frontier;
    const uint64_t left = frontier_things(frontier) - frontier->done;
    const uint64_t max = exploration->options->runs_max;
    if (max == 0) {
        return left;
    }
    const uint64_t allowed = frontier->made < max ? max - frontier->made : 0;
    return allowed < left ? allowed : left;
}

static enum err make_level(struct exploration *exploration)
{
    const struct explore_options *options = exploration->options;
    struct frontier *frontier = &exploration->explored->frontier;
    const uint64_t count = things_left(exploration);
    const bool is_states = options->system_or_null != NULL;
    exploration->group = is_states ? GROUP_STATES : 1;
    const uint64_t items = (count + exploration->group - 1) / exploration->group;
    const uint64_t fair = items / ((uint64_t)options->jobs * 8) + 1;
    const uint32_t most = is_states ? CHUNK_GROUPS : CHUNK_RUNS;
    exploration->chunk = fair < most ? (uint32_t)fair : most;
    exploration->count = count;
    exploration->first = frontier->done;
    exploration->before = frontier->made - (frontier->level == 0 ? 0 : frontier->done);
    progress_start(&exploration->progress, exploration->label, frontier_things(frontier));
    const struct workers_options pool = {
        .jobs = options->jobs,
        .slot_size = sizeof(struct slot) +
                     (size_t)exploration->chunk * exploration->group * sizeof(struct space_found),
        .hang_after = options->hang_after,
        .count = items,
        .chunk = exploration->chunk,
        .context = exploration,
        .start = start,
        .work = work,
        .lost = lost,
        .take = take,
        .go_on = go_on,
        .tick = tick,
    };
    uint64_t taken = 0;
    const enum err error = workers_run(&pool, &taken);
    progress_end(&exploration->progress);
    exploration->stopped = frontier->done < exploration->first + count;
    return error != ERR_OK ? error : exploration->error;
}

/* Whether the level that comes now would take more events than are allowed. */
static bool is_too_long(const struct explored *explored, uint64_t events_max)
{
    const struct summary *summary = &explored->counts.summary;
    const uint64_t things = frontier_things(&explored->frontier);
    return events_max > 0 && summary->runs > 0 &&
           things > events_max / (summary->events / summary->runs + 1);
}

/* The last thing of a level, as the calm run is, leaves none behind it that a stop would leave out. */
static bool has_stopped(const struct explored *explored, const struct explore_options *options)
{
    return summary_breaks(&explored->counts.summary, options->stop_oracles);
}

enum err explore_run(struct explored *explored, const struct explore_options *options)
{
    struct frontier *frontier = &explored->frontier;
    struct exploration exploration = {
        .options = options,
        .explored = explored,
        .started_ms = wall_milliseconds(),
        .elapsed_before_ms = explored->elapsed_ms,
    };
    enum err error = ERR_OK;
    bool goes_on = !explored->is_complete && !has_stopped(explored, options);
    while (goes_on && error == ERR_OK) {
        const uint64_t due = explored->counts.crash_points_seen;
        error = make_level(&exploration);
        const bool is_done = !exploration.stopped && frontier->done == frontier_things(frontier);
        explored->level_done = is_done ? frontier->level : explored->level_done;
        explored->crash_points_due = is_done ? due : explored->crash_points_due;
        goes_on = is_done && frontier_advance(frontier);
        explored->is_complete = is_done && !goes_on;
        goes_on = goes_on && !has_stopped(explored, options) &&
                  !is_too_long(explored, options->events_max);
    }
    update_elapsed(&exploration);
    if (error == ERR_OK && !keep(&exploration, true)) {
        error = ERR_SYSTEM;
    }
    return error;
}

/* --- life ---------------------------------------------------------------------------------------- */

enum err explore_init(struct explored *explored, const struct explore_options *options)
{
    const struct state_system *system = options->system_or_null;
    memset(explored, 0, sizeof *explored);
    if (system == NULL) {
        summary_marks_of(&options->scenario->config, &explored->marks);
    }
    return frontier_init(
        &explored->frontier,
        &(struct frontier_options){
            .allocator = allocator_of_malloc(),
            .space = system == NULL ? run_space_shape() : state_space_shape(system),
            .level_bound = system == NULL ? options->deviations : UINT32_MAX,
            .shard_index = options->shard.index,
            .shard_count = options->shard.count,
        });
}

void explore_fini(struct explored *explored)
{
    frontier_fini(&explored->frontier);
}

void explore_is_a_part(struct text_pool *texts, struct report_run *run, const char *why)
{
    if (run->verdict != REPORT_HOLDS) {
        return;
    }
    const char **shortfalls = text_memory(texts, 1, sizeof *shortfalls);
    shortfalls[0] = why;
    run->shortfalls = shortfalls;
    run->shortfall_count = 1;
    run->verdict = REPORT_INCONCLUSIVE;
    run->as_expected = false;
}

void explore_judge_states(struct text_pool *texts, struct report_explored *record)
{
    struct report_run *run = &record->run;
    const bool is_whole = record->is_complete && run->shard_count == 1;
    const bool is_as_published =
        record->distinct == record->states_known && run->runs == record->transitions_known;
    run->expected = REPORT_HOLDS;
    run->verdict = run->violating > 0 ? REPORT_FAILS : REPORT_HOLDS;
    run->as_expected = run->verdict == run->expected;
    if (!record->is_complete) {
        explore_is_a_part(texts, run, "not all states were reached");
    } else if (is_whole && record->states_known > 0 && !is_as_published) {
        explore_is_a_part(texts, run, "the published number of states and transitions");
    }
}
