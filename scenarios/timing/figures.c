#include "scenarios/timing/figures.h"

#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/measure.h"
#include "scenarios/timing/variant.h"
#include "scenarios/timing/worst.h"
#include "scenarios/wiring/wiring.h"

#include <stdlib.h>

#define MOMENT_COUNT 2048u

static const struct {
    const char *name;
    const char *unit;
} kinds[FIGURE_COUNT] = {
    [FIGURE_LATENCY_FLOOR] = {"latency_floor", "ns"},
    [FIGURE_LATENCY_MOST] = {"latency_most", "ns"},
    [FIGURE_LATENCY_P95] = {"latency_p95", "ns"},
    [FIGURE_LAG] = {"visibility_lag", "ns"},
    [FIGURE_SPACING] = {"checkpoint_spacing", "ns"},
    [FIGURE_DURATION] = {"checkpoint_duration", "ns"},
    [FIGURE_STAGED_RECORDS] = {"staged_records", "records"},
    [FIGURE_STAGED_BYTES] = {"staged_value_bytes", "bytes"},
    [FIGURE_DRAIN] = {"commit_drain", "ns"},
    [FIGURE_UTILISATION] = {"utilisation", "permille"},
    [FIGURE_OUTAGE] = {"outage", "ns"},
    [FIGURE_CATCH_UP] = {"catch_up", "ns"},
};

const char *timing_figure_name(uint32_t id)
{
    CHECK(id < FIGURE_COUNT);
    return kinds[id].name;
}

const char *timing_figure_unit(uint32_t id)
{
    CHECK(id < FIGURE_COUNT);
    return kinds[id].unit;
}

/* --- by formula ---------------------------------------------------------------------------------- */

static void set_formula(struct timing_figures *figures, enum timing_figure_id id, uint64_t value)
{
    figures->items[id].has_formula = true;
    figures->items[id].formula = value;
}

static void set_simulated(struct timing_figures *figures, enum timing_figure_id id, uint64_t value)
{
    figures->items[id].has_simulated = true;
    figures->items[id].simulated = value;
}

/* What arrives in an interval of the source, as time of requests, and how much of it there is room for. */
struct load {
    uint64_t work;
    uint64_t room;
};

static struct load load_of(const struct scenario *scenario, const struct timing_facts *facts)
{
    const struct job_config *job = &scenario->config.job;
    const uint64_t concurrency =
        scenario->windows->concurrency_max == 0 ? UINT32_MAX : scenario->windows->concurrency_max;
    const uint64_t arrive = (uint64_t)job->record_burst * job->sources;
    struct load load = {
        .work = nanos_mul(facts->request, arrive),
        .room = nanos_mul(nanos_mul(job->record_interval, job->subtasks), concurrency),
    };
    while (load.work > UINT32_MAX || load.room > UINT32_MAX) {
        load.work /= 2;
        load.room /= 2;
    }
    return load;
}

/* In thousandths, rounded. */
static uint64_t utilisation_of(struct load load)
{
    return load.room == 0 ? UINT32_MAX : (load.work * 1000 + load.room / 2) / load.room;
}

/* outage * u / (1 - u). */
static nanos catch_up(nanos outage, struct load load)
{
    return load.work >= load.room ? TIME_NEVER
                                  : nanos_scale(outage,
                                                (struct ratio){(uint32_t)load.work,
                                                               (uint32_t)(load.room - load.work)});
}

void timing_figures_of(const struct scenario *scenario, struct timing_figures *figures)
{
    const struct job_config *job = &scenario->config.job;
    struct timing_facts facts;
    timing_facts_of(scenario, &facts);
    *figures = (struct timing_figures){.items = {{.has_formula = false}}};
    const nanos effect = nanos_sub(facts.earliest, facts.staged ? facts.configured : 0);
    /* A record of a sink that sends as it writes waits for its burst, and for a barrier before it. */
    const nanos eager = nanos_add(facts.wait, nanos_sub(facts.wait, facts.request));
    set_formula(figures, FIGURE_LATENCY_FLOOR, facts.earliest);
    const nanos open = nanos_add(facts.spacing, facts.duration);
    const nanos staged = nanos_add(open, nanos_sub(facts.drain, facts.request));
    set_formula(figures, FIGURE_LATENCY_MOST, nanos_add(effect, facts.staged ? staged : eager));
    set_formula(figures, FIGURE_LAG, figures->items[FIGURE_LATENCY_MOST].formula);
    set_formula(figures, FIGURE_SPACING, facts.spacing);
    set_formula(figures, FIGURE_DURATION, facts.duration);
    figures->items[FIGURE_DURATION].limit = job->checkpoint_timeout;
    if (facts.staged) {
        set_formula(figures, FIGURE_STAGED_RECORDS, facts.records_of_all);
        set_formula(figures, FIGURE_DRAIN, facts.drain);
        figures->items[FIGURE_DRAIN].limit = job->checkpoint_timeout;
    }
    const struct load load = load_of(scenario, &facts);
    set_formula(figures, FIGURE_UTILISATION, utilisation_of(load));
    set_formula(figures, FIGURE_OUTAGE, facts.reread);
    set_formula(figures, FIGURE_CATCH_UP, catch_up(facts.reread, load));
}

/* --- as simulated -------------------------------------------------------------------------------- */

static void simulate_latencies(const struct measure *measure,
                               uint32_t reader,
                               nanos spacing,
                               struct timing_figures *figures)
{
    nanos *durations = memory_take((measure->record_count + 1) * sizeof *durations);
    uint32_t missing = 0;
    const struct measure_span span = {MEASURE_INTENDED, MEASURE_VISIBLE + reader, 0, 0};
    const uint32_t count = measure_durations(measure, span, durations, &missing);
    if (count > 0) {
        set_simulated(figures, FIGURE_LATENCY_FLOOR, durations[0]);
        set_simulated(figures, FIGURE_LATENCY_MOST, durations[count - 1]);
        set_simulated(figures, FIGURE_LATENCY_P95, measure_percentile(durations, count, 950));
    }
    free(durations);
    struct measure_moment *moments = memory_take(MOMENT_COUNT * sizeof *moments);
    nanos lag = 0;
    const nanos step = spacing / 64 > 0 ? spacing / 64 : 1;
    measure_curve(measure, reader, measure->started, step, moments, MOMENT_COUNT);
    for (uint32_t i = 0; i < MOMENT_COUNT && moments[i].time <= measure->last; i++) {
        lag = moments[i].lag > lag ? moments[i].lag : lag;
    }
    set_simulated(figures, FIGURE_LAG, lag);
    free(moments);
}

static void simulate_checkpoints(const struct measure *measure, struct timing_figures *figures)
{
    nanos spacing = 0;
    nanos duration = 0;
    nanos drain = 0;
    bool is_staged = false;
    for (uint32_t i = 0; i < measure->checkpoint_count; i++) {
        const struct measure_checkpoint *at = &measure->checkpoints[i];
        const nanos apart = i == 0 ? 0 : at->triggered - measure->checkpoints[i - 1].triggered;
        spacing = apart > spacing ? apart : spacing;
        if (at->completed != TIME_NEVER && at->completed - at->triggered > duration) {
            duration = at->completed - at->triggered;
        }
        if (at->commit_returned != TIME_NEVER && at->completed != TIME_NEVER) {
            is_staged = true;
            drain = at->commit_returned - at->completed > drain
                        ? at->commit_returned - at->completed
                        : drain;
        }
    }
    if (measure->checkpoint_count > 1) {
        set_simulated(figures, FIGURE_SPACING, spacing);
    }
    if (measure->checkpoint_count > 0) {
        set_simulated(figures, FIGURE_DURATION, duration);
    }
    if (is_staged) {
        set_simulated(figures, FIGURE_DRAIN, drain);
    }
}

/* The most that came with one checkpoint, over all subtasks. */
static void simulate_staged(const struct journal *journal,
                            const struct source_log *log,
                            struct timing_figures *figures)
{
    uint64_t records = 0;
    uint64_t bytes = 0;
    uint64_t records_most = 0;
    uint64_t bytes_most = 0;
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind == HOST_CHECKPOINT_COMPLETED) {
            records = 0;
            bytes = 0;
        } else if (entry->kind == HOST_RECORD) {
            records++;
            bytes += log->records[entry->record - 1].record.value.size;
        }
        records_most = records > records_most ? records : records_most;
        bytes_most = bytes > bytes_most ? bytes : bytes_most;
    }
    set_simulated(figures, FIGURE_STAGED_RECORDS, records_most);
    set_simulated(figures, FIGURE_STAGED_BYTES, bytes_most);
}

static enum err simulate_calm(const struct scenario *scenario, struct timing_figures *figures)
{
    struct reproducer *reproducer = reproducer_create_alone(scenario);
    if (reproducer == NULL) {
        return ERR_LIMIT;
    }
    const struct run_request calm = {.choice = {.mode = CHOICE_CALM, .identity = 1},
                                     .keep_trace = true};
    const struct result *result = reproducer_run(reproducer, &calm);
    if (result->verdict != RUN_REFUSED && result->verdict != RUN_LIMIT) {
        const struct journal *journal = reproducer_world(reproducer)->journal;
        struct measure *measure = measure_create(&scenario->config);
        const bool staged = scenario->config.job.sink->committer_or_null != NULL;
        measure_journal(measure, journal);
        simulate_latencies(measure,
                           scenario->config.facts.reader_class,
                           figures->items[FIGURE_SPACING].formula,
                           figures);
        simulate_checkpoints(measure, figures);
        if (staged) {
            simulate_staged(journal, scenario->config.job.log, figures);
        }
        measure_destroy(measure);
    }
    reproducer_destroy(reproducer);
    return ERR_OK;
}

/* The trigger of the last checkpoint that had completed by an instant; the start when none had. */
static nanos last_position(const struct measure *measure, nanos by)
{
    nanos at = measure->started;
    for (uint32_t i = 0; i < measure->checkpoint_count; i++) {
        const struct measure_checkpoint *checkpoint = &measure->checkpoints[i];
        at = checkpoint->completed <= by ? checkpoint->triggered : at;
    }
    return at;
}

/* The longest that a record took which was seen before an instant. */
static nanos most_before(const struct measure *measure, uint32_t reader, nanos to)
{
    nanos most = 0;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos seen = measure->records[i].at[MEASURE_VISIBLE + reader];
        const nanos took = seen < to ? seen - measure->records[i].at[MEASURE_INTENDED] : 0;
        most = took > most ? took : most;
    }
    return most;
}

/* Whether it was caught up before the input ended: else there was nothing more to catch up with. */
static void read_catch_up(const struct measure *measure,
                          const struct scenario *scenario,
                          struct timing_figures *figures)
{
    const uint32_t reader = scenario->config.facts.reader_class;
    struct timing_facts facts;
    if (measure->outage_count == 0 || measure->outages[0].to == TIME_NEVER) {
        return;
    }
    const struct measure_outage down = measure->outages[0];
    const nanos outage = down.to - last_position(measure, down.from);
    const nanos before = most_before(measure, reader, down.from);
    const nanos done = measure_caught_up(measure, reader, down.to, before);
    set_simulated(figures, FIGURE_OUTAGE, outage);
    set_formula(figures, FIGURE_OUTAGE, outage);
    timing_facts_of(scenario, &facts);
    set_formula(figures, FIGURE_CATCH_UP, catch_up(outage, load_of(scenario, &facts)));
    if (done != TIME_NEVER && done < measure->input_ended) {
        set_simulated(figures, FIGURE_CATCH_UP, done - down.to);
    }
}

/* All processes die at once, early in the run. */
static void simulate_outage(const struct scenario *variant, struct timing_figures *figures)
{
    struct reproducer *reproducer = reproducer_create_alone(variant);
    if (reproducer == NULL) {
        return;
    }
    const struct run_request calm = {.choice = {.mode = CHOICE_CALM, .identity = 1}};
    const uint32_t places = reproducer_run(reproducer, &calm)->crash_points_seen;
    struct worst worst = {.shape = TIMING_SHAPE_CRASH};
    worst_init(&worst);
    worst.nth = places / 16;
    const struct run_request crash = {.choice = {.mode = CHOICE_POLICY,
                                                 .identity = 1,
                                                 .policy = worst_pick,
                                                 .policy_context = &worst},
                                      .keep_trace = true};
    const struct result *result = reproducer_run(reproducer, &crash);
    if (result->verdict != RUN_REFUSED && result->verdict != RUN_LIMIT && worst.has_happened) {
        struct measure *measure = measure_create(&variant->config);
        measure_journal(measure, reproducer_world(reproducer)->journal);
        read_catch_up(measure, variant, figures);
        measure_destroy(measure);
    }
    reproducer_destroy(reproducer);
}

enum err timing_simulate(struct text_pool *texts,
                         const struct timing_source *source,
                         const struct scenario *scenario,
                         struct timing_figures *figures,
                         struct scenario_fault *fault)
{
    struct timing_variant variant = {0};
    enum err err = simulate_calm(scenario, figures);
    if (err == ERR_OK) {
        err = timing_variant_open(&variant, texts, source, TIMING_SHAPE_CRASH, true, fault);
    }
    if (err == ERR_OK) {
        simulate_outage(variant.scenario, figures);
    }
    timing_variant_close(&variant);
    return err;
}
