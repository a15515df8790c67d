#include "scenarios/cli/sweep/sweep.h"

#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MAX      256u
#define CHUNKS_PER_JOB 8u
#define TIMED_CHUNK    32u
#define HANGS_MAX      8u /* each costs hang_after: enough to be sure of */

/* What a worker may have at most, so that a sink that eats memory ends itself and not the machine.
 * Sanitizers map far more than they use. */
#if defined(__SANITIZE_ADDRESS__)
#    define MEMORY_MAX 0
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define MEMORY_MAX 0
#    endif
#endif
#ifndef MEMORY_MAX
#    define MEMORY_MAX (UINT64_C(8) << 30)
#endif

/* What a worker leaves for a chunk. */
struct slot {
    struct summary summary;
    uint64_t last_digest;
    struct choice_alignment alignment;
};

struct sweeper {
    const struct sweep_options *options;
    struct sweep *sweep;
    uint64_t started_ms;
    uint32_t hangs;
};

static uint64_t seed_of(const struct sweep_options *options, uint64_t item)
{
    return options->tape ? options->scenario->tape.identity
                         : shard_seed(options->shard, options->seeds, item);
}

static void *start(void *context)
{
    const struct sweeper *sweeper = context;
    return reproducer_create_alone(sweeper->options->scenario);
}

static void note_schedule(struct summary *summary, const struct pct *pct_or_null)
{
    if (pct_or_null != NULL) {
        summary->pct_runs++;
        summary->pct_chains = pct_or_null->chain_count > summary->pct_chains
                                  ? pct_or_null->chain_count
                                  : summary->pct_chains;
    }
}

static bool work(void *context, void *state, void *memory, uint64_t item)
{
    const struct sweeper *sweeper = context;
    const struct sweep_options *options = sweeper->options;
    struct reproducer *reproducer = state;
    struct slot *slot = memory;
    const uint64_t seed = seed_of(options, item);
    const struct run_request request = options->tape
                                           ? reproducer_tape_request(&options->scenario->tape)
                                           : reproducer_seed_request(options->scenario, seed);
    const struct result *result = reproducer_run(reproducer, &request);
    const uint64_t broken = summary_add(&slot->summary, seed, result);
    note_schedule(&slot->summary, reproducer_pct(reproducer));
    slot->last_digest = result->digest;
    slot->alignment = result->alignment;
    return (broken & options->stop_oracles) == 0;
}

/* Killed without our doing: the system had no memory left for it. */
static bool is_out_of_memory(enum workers_loss loss, int detail)
{
    return loss == WORKERS_LOSS_CRASH && detail == SIGKILL;
}

static bool lost(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    struct sweeper *sweeper = context;
    struct slot *slot = memory;
    const uint64_t seed = seed_of(sweeper->options, item);
    char message[ORACLE_MESSAGE_SIZE];
    const uint8_t oracle = loss == WORKERS_LOSS_HANG ? SUMMARY_ORACLE_HANG : SUMMARY_ORACLE_CRASH;
    if (is_out_of_memory(loss, detail)) {
        summary_add_limit(&slot->summary, seed, "the process was killed: out of memory");
        return true;
    }
    sweeper->hangs += loss == WORKERS_LOSS_HANG ? 1 : 0;
    summary_loss_message(message, loss == WORKERS_LOSS_HANG, detail, sweeper->options->hang_after);
    summary_add_lost(&slot->summary, seed, oracle, message);
    return sweeper->hangs < HANGS_MAX && (sweeper->options->stop_oracles >> oracle & 1) == 0;
}

static void take(void *context, const void *memory)
{
    struct sweeper *sweeper = context;
    const struct slot *slot = memory;
    summary_join(&sweeper->sweep->summary, &slot->summary);
    sweeper->sweep->last_digest = slot->last_digest;
    sweeper->sweep->alignment = slot->alignment;
}

static bool go_on(void *context)
{
    const struct sweeper *sweeper = context;
    const nanos duration = sweeper->options->duration;
    return duration == 0 || wall_milliseconds() - sweeper->started_ms < duration / NANOS_PER_MS;
}

static void tick(void *context, uint64_t done)
{
    const struct sweeper *sweeper = context;
    if (sweeper->options->progress_or_null != NULL) {
        progress_show(sweeper->options->progress_or_null, done);
    }
}

static uint32_t chunk_of(const struct sweep_options *options, uint64_t count)
{
    if (options->duration > 0) {
        return TIMED_CHUNK;
    }
    const uint64_t fair = count / ((uint64_t)options->jobs * CHUNKS_PER_JOB);
    return fair < 1 ? 1 : fair > CHUNK_MAX ? CHUNK_MAX : (uint32_t)fair;
}

enum err sweep_run(const struct sweep_options *options, struct sweep *sweep)
{
    memset(sweep, 0, sizeof *sweep);
    summary_marks_of(&options->scenario->config, &sweep->marks);
    struct sweeper sweeper = {
        .options = options,
        .sweep = sweep,
        .started_ms = wall_milliseconds(),
    };
    /* A tape is one run, of the first shard. */
    const uint64_t count = options->tape ? (options->shard.index == 1 ? 1 : 0)
                                         : shard_seed_count(options->shard, options->seeds);
    const struct workers_options pool = {
        .jobs = options->jobs,
        .memory_max = MEMORY_MAX,
        .slot_size = sizeof(struct slot),
        .hang_after = options->hang_after,
        .count = count,
        .chunk = chunk_of(options, count),
        .context = &sweeper,
        .start = start,
        .work = work,
        .lost = lost,
        .take = take,
        .go_on = go_on,
        .tick = tick,
    };
    uint64_t items = 0;
    const enum err error = workers_run(&pool, &items);
    sweep->seeds_taken = sweep->summary.runs;
    sweep->last_seed =
        sweep->seeds_taken > 0 ? seed_of(options, sweep->seeds_taken - 1) : options->seeds.first;
    sweep->elapsed_ms = wall_milliseconds() - sweeper.started_ms;
    return error;
}
