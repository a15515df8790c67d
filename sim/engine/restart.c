/* Restarts that an operator makes of another kind: with a second sink in the place of the first, or
 * without state; and what a source still has of what it emitted. What a restart leaves behind is
 * noted, for the loss is the operator's and not the sink's (C13, FW12). */
#include "sim/engine/engine.h"
#include "sinks/base/digest.h"

#define JOB_ID_SIZE 32u

/* Outcomes of engine.restore. */
enum {
    RESTORE_WITHOUT_STATE = 6,
    RESTORE_NEXT_SINK = 7,
};

/* Outcomes of engine.positions. */
enum renumbered {
    RENUMBERED_NOT = 0,
    RENUMBERED_BY_ONE,
    RENUMBERED_FROM_START,
};

void restart_use_sink(struct job *job,
                      const struct sink_type *sink,
                      const struct sink_option_value *options)
{
    job->sink = sink;
    job->options = options;
    job->chained = job->config->chained && sink->committer_kind != SINK_COMMITTER_GLOBAL;
}

/* Ids look like the real ones: 32 hex digits, no two alike. Halves that outlive their attempt keep theirs. */
void restart_submit(struct job *job)
{
    char *text = arena_take(job->world->arena, JOB_ID_SIZE);
    job->submissions++;
    bytes_u64_to_hex(digest_mix(job->submissions), text);
    bytes_u64_to_hex(digest_fold(job->submissions, 1), text + JOB_ID_SIZE / 2);
    job->job_id = (struct bytes){(const uint8_t *)text, JOB_ID_SIZE};
}

void restart_init(struct job *job)
{
    struct arena *arena = job->world->arena;
    const struct source_log *log = job->config->log;
    const size_t size = (log->split_count + 1) * sizeof(uint64_t);
    restart_submit(job);
    job->own_positions = arena_take_zeroed(arena, size);
    job->kept_from = arena_take_zeroed(arena, size);
    job->emitted_left = log->record_count;
    if (job->config->source_retention > 0) {
        job->emitted_at = arena_take_zeroed(arena, (log->record_count + 1) * sizeof(nanos));
    }
}

/* --- what is restored ---------------------------------------------------------------------------- */

uint32_t restart_offers(const struct job *job)
{
    uint32_t wanted = 0;
    if (job->config->stateless_restores != JOB_STATELESS_NEVER &&
        job->store->latest_completed > 0) {
        wanted |= UINT32_C(1) << RESTORE_WITHOUT_STATE;
    }
    if (job->config->next_sink_or_null != NULL && !restart_is_next_sink(job)) {
        wanted |= UINT32_C(1) << RESTORE_NEXT_SINK;
    }
    return wanted;
}

void restart_take(struct job *job, uint32_t outcome)
{
    if (outcome == RESTORE_NEXT_SINK) {
        COVER(job->world, ENGINE_NEXT_SINK);
        restart_submit(job);
        restart_use_sink(job, job->config->next_sink_or_null, job->config->next_options);
        return;
    }
    CHECK(outcome == RESTORE_WITHOUT_STATE);
    COVER(job->world, ENGINE_RESTORED_WITHOUT_STATE);
    /* A batch job that has lost its results runs its parts again by itself. */
    if (!job->config->facts.batch) {
        restart_submit(job);
    }
    const bool own = job->config->stateless_restores == JOB_STATELESS_OWN_POSITION;
    job->left = job->restored;
    job->started_from = own ? START_OWN_POSITION : START_BEGINNING;
    job->restored = 0;
    job->given_up = job->store->latest_completed;
    job->older = 0;
}

bool restart_is_matched(const struct job *job)
{
    return job->config->allow_non_restored || job->restored == 0 ||
           job->sink->committer_or_null != NULL ||
           store_get(job->store, job->restored)->collection_count == 0;
}

/* What of a checkpoint the sink that runs takes: committer state if it has a committer, pieces if
 * its writer made them, for another one asks for other names. */
struct stored_checkpoint restart_taken(const struct job *job,
                                       const struct stored_checkpoint *stored)
{
    struct stored_checkpoint taken = *stored;
    taken.collection_count = job->committer_count == 0 ? 0 : taken.collection_count;
    taken.piece_count = stored->writer == job->sink->writer ? taken.piece_count : 0;
    return taken;
}

static void note_left(struct job *job, const struct stored_checkpoint *stored)
{
    for (uint32_t i = 0; i < stored->collection_count; i++) {
        const struct stored_collection *collection = &stored->collections[i];
        for (uint32_t k = 0; k < collection->request_count; k++) {
            const struct stored_request *request = collection->requests[k];
            COVER(job->world, ENGINE_STATE_LEFT_BEHIND);
            job_note(job,
                     (struct journal_entry){.kind = HOST_NOT_RESTORED,
                                            .lane = lane_make(LANE_COMMITTER, collection->subtask),
                                            .attempt = job->attempt,
                                            .record = request->record,
                                            .checkpoint = request->checkpoint,
                                            .identity = request->identity,
                                            .value = request->value});
        }
    }
}

void restart_note_left(struct job *job)
{
    if (job->left != 0) {
        note_left(job, store_get(job->store, job->left));
        job->left = 0;
    } else if (job->restored != 0 && job->sink->committer_or_null == NULL) {
        note_left(job, store_get(job->store, job->restored));
    }
}

/* --- what the source still has ------------------------------------------------------------------- */

static bool is_gone(const struct job *job, uint32_t split, uint64_t position)
{
    if (position < job->kept_from[split]) {
        return true;
    }
    if (job->emitted_at == NULL) {
        return false;
    }
    const nanos emitted_at = job->emitted_at[job->config->log->split_starts[split] + position];
    return emitted_at != 0 && nanos_add(emitted_at, job->config->source_retention) <=
                                  nanos_add(world_now(job->world), 1);
}

/* Where reading goes on that was to go on from a position. */
static uint64_t first_kept(struct job *job, uint32_t split, uint64_t position)
{
    const struct source_log *log = job->config->log;
    const uint32_t start = log->split_starts[split];
    const uint32_t size = log->split_starts[split + 1] - start;
    while (position < size && is_gone(job, split, position)) {
        COVER(job->world, ENGINE_RECORD_GONE);
        job_note(
            job,
            (struct journal_entry){.kind = HOST_RECORD_GONE,
                                   .lane = lane_make(LANE_SOURCE, split % job->config->sources),
                                   .attempt = job->attempt,
                                   .record = start + (uint32_t)position + 1});
        position++;
    }
    return position;
}

/* Which records the source has under the positions that it goes on from (E2E-2). */
static enum renumbered choose_numbering(struct job *job,
                                        const struct stored_checkpoint *stored_or_null)
{
    if (!job->config->source_renumbers || stored_or_null == NULL) {
        return RENUMBERED_NOT;
    }
    return (enum renumbered)engine_pick(
        job, ENGINE_SITE_POSITIONS, lane_make(LANE_COORDINATOR, 0), CHOICE_ALL);
}

static uint64_t renumber(uint64_t position, enum renumbered how)
{
    switch (how) {
    case RENUMBERED_NOT:
        return position;
    case RENUMBERED_BY_ONE:
        return position == 0 ? 0 : position - 1;
    case RENUMBERED_FROM_START:
        return 0;
    }
    UNREACHABLE();
}

/* Where a split is read on from; what was emitted behind it is to be emitted again. */
static void set_position(struct job *job, uint32_t split, uint64_t position)
{
    const uint64_t before = job->positions[split];
    job->positions[split] = job->attempt == 1 ? position : first_kept(job, split, position);
    job->emitted_left += (uint32_t)before;
    job->emitted_left -= (uint32_t)job->positions[split];
}

void restart_positions(struct job *job, const struct stored_checkpoint *stored_or_null)
{
    const struct source_log *log = job->config->log;
    const bool own = stored_or_null == NULL && job->started_from == START_OWN_POSITION;
    const enum renumbered how = choose_numbering(job, stored_or_null);
    for (uint32_t split = 0; split < log->split_count; split++) {
        uint64_t position = own ? job->own_positions[split] : 0;
        position =
            stored_or_null == NULL ? position : renumber(stored_or_null->positions[split], how);
        set_position(job, split, position);
    }
}

void restart_source_positions(struct job *job,
                              uint32_t source,
                              const struct stored_checkpoint *stored_or_null)
{
    const bool own = stored_or_null == NULL && restart_source_commits(job);
    for (uint32_t split = source; split < job->config->log->split_count;
         split += job->config->sources) {
        const uint64_t first = own ? job->own_positions[split] : 0;
        set_position(job, split, stored_or_null == NULL ? first : stored_or_null->positions[split]);
    }
}

void restart_acknowledge(struct job *job, uint32_t source, const uint64_t *positions)
{
    if (job->sources_dead) {
        return;
    }
    for (uint32_t split = source; split < job->config->log->split_count;
         split += job->config->sources) {
        if (positions[split] > job->kept_from[split]) {
            job->kept_from[split] = positions[split];
        }
    }
}

/* A source commits its position and acknowledges what is before it. A later commit of an earlier
 * position, after an older restore, takes effect like any other. */
void restart_notice(struct job *job, uint32_t source, uint32_t checkpoint)
{
    if (job->sources_dead) {
        return;
    }
    const struct stored_checkpoint *stored = store_get(job->store, checkpoint);
    for (uint32_t split = source; split < job->config->log->split_count;
         split += job->config->sources) {
        job->own_positions[split] = stored->positions[split];
    }
    if (job->config->source_keeps == JOB_SOURCE_KEEPS_UNTIL_NOTICE) {
        restart_acknowledge(job, source, stored->positions);
    }
}
