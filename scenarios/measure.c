#include "scenarios/measure.h"

#include "scenarios/cli/text.h"

#include <stdlib.h>

/* --- intended arrivals ------------------------------------------------------------------------- */

/* As sim/engine/source.c emits: a burst per interval, from the splits of the source in rotation,
 * those that are used up left out. */
static void plan_source(struct measure *measure, const struct job_config *job, uint32_t source)
{
    const struct source_log *log = measure->log;
    uint32_t *taken = memory_take((log->split_count + 1) * sizeof *taken);
    uint32_t left = 0;
    uint32_t emitted = 0;
    for (uint32_t split = source; split < log->split_count; split += job->sources) {
        left += log->split_starts[split + 1] - log->split_starts[split];
    }
    for (uint32_t split = source; left > 0; split += job->sources) {
        split = split < log->split_count ? split : source;
        const uint32_t start = log->split_starts[split];
        if (taken[split] < log->split_starts[split + 1] - start) {
            measure->offsets[start + taken[split]] =
                nanos_mul(job->record_interval, emitted / job->record_burst);
            taken[split]++;
            emitted++;
            left--;
        }
    }
    free(taken);
}

struct by_offset {
    nanos offset;
    uint32_t record;
};

static int compare_offsets(const void *a, const void *b)
{
    const struct by_offset *left = a;
    const struct by_offset *right = b;
    if (left->offset != right->offset) {
        return left->offset < right->offset ? -1 : 1;
    }
    return left->record < right->record ? -1 : 1;
}

static void sort_by_arrival(struct measure *measure)
{
    struct by_offset *all = memory_take((measure->record_count + 1) * sizeof *all);
    for (uint32_t i = 0; i < measure->record_count; i++) {
        all[i] = (struct by_offset){.offset = measure->offsets[i], .record = i};
    }
    qsort(all, measure->record_count, sizeof *all, compare_offsets);
    for (uint32_t i = 0; i < measure->record_count; i++) {
        measure->order[i] = all[i].record;
    }
    free(all);
}

struct measure *measure_create(const struct run_config *config)
{
    struct measure *measure = memory_take(sizeof *measure);
    const uint32_t count = config->job.log->record_count;
    *measure = (struct measure){
        .log = config->job.log,
        .target = config->facts.target_service,
        .record_count = count,
        .records = memory_take((count + 1) * sizeof *measure->records),
        .order = memory_take((count + 1) * sizeof *measure->order),
        .offsets = memory_take((count + 1) * sizeof *measure->offsets),
    };
    CHECK(config->job.record_burst > 0);
    for (uint32_t source = 0; source < config->job.sources; source++) {
        plan_source(measure, &config->job, source);
    }
    sort_by_arrival(measure);
    measure_reset(measure);
    return measure;
}

void measure_destroy(struct measure *measure)
{
    free(measure->records);
    free(measure->order);
    free(measure->offsets);
    free(measure->checkpoints);
    free(measure->outages);
    free(measure);
}

void measure_reset(struct measure *measure)
{
    for (uint32_t i = 0; i < measure->record_count; i++) {
        for (uint32_t point = 0; point < MEASURE_POINT_COUNT; point++) {
            measure->records[i].at[point] = TIME_NEVER;
        }
    }
    measure->started = TIME_NEVER;
    measure->input_ended = TIME_NEVER;
    measure->finished = TIME_NEVER;
    measure->last = 0;
    measure->restarts = 0;
    measure->refusals = 0;
    measure->checkpoint_count = 0;
    measure->outage_count = 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

static void
set_first(struct measure *measure, const struct journal_entry *entry, uint32_t point, nanos time)
{
    if (entry->record == 0 || entry->record > measure->record_count) {
        return;
    }
    nanos *at = &measure->records[entry->record - 1].at[point];
    *at = *at == TIME_NEVER ? time : *at;
}

static void *grown(void *items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 64 : *capacity * 2;
    return memory_resize(items, *capacity * item_size);
}

/* The latest checkpoint of a number, or NULL: restarts may count on from an older one. */
static struct measure_checkpoint *find_checkpoint(const struct measure *measure, uint32_t number)
{
    for (uint32_t i = measure->checkpoint_count; i > 0; i--) {
        if (measure->checkpoints[i - 1].number == number) {
            return &measure->checkpoints[i - 1];
        }
    }
    return NULL;
}

static void add_checkpoint(struct measure *measure, const struct journal_entry *entry)
{
    measure->checkpoints = grown(measure->checkpoints,
                                 measure->checkpoint_count,
                                 &measure->checkpoint_capacity,
                                 sizeof *measure->checkpoints);
    measure->checkpoints[measure->checkpoint_count] = (struct measure_checkpoint){
        .number = entry->checkpoint,
        .triggered = entry->time,
        .completed = TIME_NEVER,
        .commit_returned = TIME_NEVER,
    };
    measure->checkpoint_count++;
}

static bool is_down(const struct measure *measure)
{
    return measure->outage_count > 0 &&
           measure->outages[measure->outage_count - 1].to == TIME_NEVER;
}

static void note_down(struct measure *measure, nanos time)
{
    if (is_down(measure)) {
        return;
    }
    measure->outages = grown(measure->outages,
                             measure->outage_count,
                             &measure->outage_capacity,
                             sizeof *measure->outages);
    measure->outages[measure->outage_count] =
        (struct measure_outage){.from = time, .to = TIME_NEVER};
    measure->outage_count++;
}

/* Of the job, or of the region that was down. */
static void note_restart(struct measure *measure, nanos time)
{
    measure->restarts++;
    if (is_down(measure)) {
        measure->outages[measure->outage_count - 1].to = time;
    }
}

static void note_start(struct measure *measure, nanos time)
{
    if (measure->started != TIME_NEVER) {
        note_restart(measure, time);
        return;
    }
    measure->started = time;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        measure->records[i].at[MEASURE_INTENDED] = nanos_add(time, measure->offsets[i]);
    }
}

static void note_finalised(struct measure *measure, const struct journal_entry *entry)
{
    const struct measure_checkpoint *checkpoint = find_checkpoint(measure, entry->checkpoint);
    if (entry->code == SINK_SIGNAL_FAILED_KNOWN) {
        return;
    }
    set_first(measure, entry, MEASURE_COMMITTED, entry->time);
    if (checkpoint != NULL && checkpoint->completed != TIME_NEVER) {
        set_first(measure, entry, MEASURE_RELEASED, checkpoint->completed);
    }
}

static void note_checkpoint(struct measure *measure, const struct journal_entry *entry)
{
    struct measure_checkpoint *checkpoint = find_checkpoint(measure, entry->checkpoint);
    if (checkpoint == NULL) {
        return;
    }
    if (entry->kind == HOST_CHECKPOINT_COMPLETED) {
        checkpoint->completed = entry->time;
    } else {
        checkpoint->commit_returned = entry->time;
    }
}

static void note_world(struct measure *measure, const struct journal_entry *entry)
{
    if (entry->service != measure->target) {
        return;
    }
    if (entry->kind == WORLD_REFUSED) {
        measure->refusals++;
    } else if (entry->kind != WORLD_VISIBLE) {
        set_first(measure, entry, MEASURE_VISIBLE, entry->time);
    } else if (entry->code < MEASURE_READER_MAX) {
        set_first(measure, entry, MEASURE_VISIBLE + (uint32_t)entry->code, entry->time);
    }
}

void measure_entry(struct measure *measure, const struct journal_entry *entry)
{
    measure->last = entry->time;
    if (entry->kind == HOST_JOB_STARTED) {
        note_start(measure, entry->time);
    } else if (entry->kind == HOST_REGION_STARTED) {
        note_restart(measure, entry->time);
    } else if (entry->kind == HOST_JOB_STOPPED || entry->kind == HOST_REGION_STOPPED ||
               entry->kind == HOST_CRASHED) {
        note_down(measure, entry->time);
    } else if (entry->kind == HOST_JOB_FINISHED) {
        measure->finished = entry->time;
    } else if (entry->kind == HOST_INPUT_ENDED) {
        measure->input_ended = entry->time;
    } else if (entry->kind == HOST_RECORD) {
        set_first(measure, entry, MEASURE_HANDED, entry->time);
    } else if (entry->kind == HOST_ACCEPTED) {
        set_first(measure, entry, MEASURE_ACCEPTED, entry->time);
    } else if (entry->kind == HOST_CHECKPOINT_TRIGGERED) {
        add_checkpoint(measure, entry);
    } else if (entry->kind == HOST_CHECKPOINT_COMPLETED || entry->kind == HOST_COMMIT_RETURNED) {
        note_checkpoint(measure, entry);
    } else if (entry->kind == HOST_FINALISED) {
        note_finalised(measure, entry);
    } else if (entry->kind == WORLD_CREATED || entry->kind == WORLD_REPLACED ||
               entry->kind == WORLD_VISIBLE || entry->kind == WORLD_REFUSED) {
        note_world(measure, entry);
    }
}

void measure_journal(struct measure *measure, const struct journal *journal)
{
    CHECK(journal_first(journal) == 0);
    for (uint32_t i = 0; i < journal->count; i++) {
        measure_entry(measure, journal_at(journal, i));
    }
}

/* --- latencies --------------------------------------------------------------------------------- */

static int compare_nanos(const void *a, const void *b)
{
    const nanos *left = a;
    const nanos *right = b;
    return *left < *right ? -1 : *left > *right ? 1 : 0;
}

uint32_t measure_durations(const struct measure *measure,
                           struct measure_span span,
                           nanos *out,
                           uint32_t *missing)
{
    const nanos to = span.to == 0 ? TIME_NEVER : span.to;
    uint32_t count = 0;
    CHECK(span.first < MEASURE_POINT_COUNT);
    CHECK(span.second < MEASURE_POINT_COUNT);
    *missing = 0;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos first = measure->records[i].at[span.first];
        const nanos second = measure->records[i].at[span.second];
        if (first == TIME_NEVER || first < span.from || first >= to) {
            continue;
        }
        if (second == TIME_NEVER) {
            *missing += 1;
        } else {
            out[count] = nanos_sub(second, first);
            count++;
        }
    }
    qsort(out, count, sizeof *out, compare_nanos);
    return count;
}

uint64_t measure_percentile(const uint64_t *sorted, size_t count, uint32_t permille)
{
    CHECK(count > 0);
    CHECK(count <= UINT32_MAX);
    CHECK(permille >= 1);
    CHECK(permille <= 1000);
    const size_t rank = (count * permille + 999) / 1000;
    return sorted[rank - 1];
}

/* --- throughput -------------------------------------------------------------------------------- */

struct measure_throughput
measure_throughput(const struct measure *measure, uint32_t reader_class, nanos from, nanos to)
{
    struct measure_throughput found = {0};
    uint32_t completions = 0;
    CHECK(reader_class < MEASURE_READER_MAX);
    for (uint32_t i = 0; i < measure->checkpoint_count; i++) {
        const nanos completed = measure->checkpoints[i].completed;
        if (completed == TIME_NEVER || completed < from || completed > to) {
            continue;
        }
        found.from = completions == 0 || completed < found.from ? completed : found.from;
        found.to = completed > found.to ? completed : found.to;
        completions++;
    }
    if (found.to == found.from) {
        return (struct measure_throughput){0};
    }
    found.intervals = completions - 1;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos visible = measure->records[i].at[MEASURE_VISIBLE + reader_class];
        found.records += visible != TIME_NEVER && visible > found.from && visible <= found.to;
    }
    found.milli_per_s = nanos_mul(found.records, 1000 * NANOS_PER_S) / (found.to - found.from);
    return found;
}

/* --- curves ------------------------------------------------------------------------------------ */

static nanos visible_at(const struct measure *measure, uint32_t place, uint32_t reader_class)
{
    return measure->records[measure->order[place]].at[MEASURE_VISIBLE + reader_class];
}

static nanos intended_at(const struct measure *measure, uint32_t place)
{
    return measure->records[measure->order[place]].at[MEASURE_INTENDED];
}

/* How many records became visible by then, of sorted times. */
static uint32_t count_until(const nanos *sorted, uint32_t count, uint32_t from, nanos time)
{
    uint32_t at = from;
    while (at < count && sorted[at] <= time) {
        at++;
    }
    return at;
}

void measure_curve(const struct measure *measure,
                   uint32_t reader_class,
                   nanos from,
                   nanos step,
                   struct measure_moment *moments,
                   uint32_t count)
{
    const uint32_t records = measure->record_count;
    nanos *seen = memory_take((records + 1) * sizeof *seen);
    uint32_t arrived = 0;
    uint32_t oldest = 0;
    uint32_t visible = 0;
    CHECK(reader_class < MEASURE_READER_MAX);
    CHECK(step > 0);
    for (uint32_t i = 0; i < records; i++) {
        seen[i] = visible_at(measure, i, reader_class);
    }
    qsort(seen, records, sizeof *seen, compare_nanos);
    for (uint32_t i = 0; i < count; i++) {
        const nanos time = nanos_add(from, nanos_mul(step, i));
        while (arrived < records && intended_at(measure, arrived) <= time) {
            arrived++;
        }
        while (oldest < records && visible_at(measure, oldest, reader_class) <= time) {
            oldest++;
        }
        visible = count_until(seen, records, visible, time);
        moments[i] = (struct measure_moment){
            .time = time,
            .arrived = arrived,
            .visible = visible,
            .lag = oldest < arrived ? time - intended_at(measure, oldest) : 0,
        };
    }
    free(seen);
}

/* What is oldest changes when the last one before it becomes visible, and only then does the lag fall:
 * these instants, and from itself, are all that may be the first. */
nanos measure_caught_up(const struct measure *measure,
                        uint32_t reader_class,
                        nanos from,
                        nanos lag_max)
{
    nanos time = from;
    uint32_t oldest = 0;
    CHECK(reader_class < MEASURE_READER_MAX);
    for (;;) {
        while (oldest < measure->record_count &&
               visible_at(measure, oldest, reader_class) <= time) {
            oldest++;
        }
        if (oldest == measure->record_count ||
            nanos_add(intended_at(measure, oldest), lag_max) >= time) {
            return time;
        }
        time = visible_at(measure, oldest, reader_class);
        if (time == TIME_NEVER) {
            return TIME_NEVER;
        }
    }
}
