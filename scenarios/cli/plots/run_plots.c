#include "scenarios/cli/plots/run_plots.h"

#include "scenarios/cli/plots/load_plots.h"
#include "scenarios/cli/plots/probe.h"

#include <inttypes.h>
#include <stdlib.h>

#define PPM UINT64_C(1000000)

/* --- visibility latency ------------------------------------------------------------------------ */

/* The durations of several runs in one list. */
struct sample {
    uint64_t *values;
    size_t count;
    size_t missing;
    uint64_t digest; /* sum over runs */
    uint64_t runs;
};

static void add_durations(struct sample *sample, const struct measure *measure, uint8_t reader)
{
    uint32_t missing = 0;
    const struct measure_span span = {
        .first = MEASURE_INTENDED,
        .second = MEASURE_VISIBLE + (uint32_t)reader,
    };
    sample->values = memory_resize(
        sample->values, (sample->count + measure->record_count + 1) * sizeof *sample->values);
    sample->count += measure_durations(measure, span, sample->values + sample->count, &missing);
    sample->missing += missing;
}

static void add_run(struct sample *sample,
                    struct probe *probe,
                    const struct scenario *scenario,
                    const struct run_request *request)
{
    const char *why = NULL;
    if (probe_run(probe, request, &why)) {
        add_durations(sample, probe->measure, points_reader(scenario));
        sample->digest += probe->digest;
        sample->runs++;
    }
}

/* The share of records, in parts per million, that a duration is enough for. */
static void distribution(struct sample *sample, struct points *points)
{
    const size_t all = sample->count + sample->missing;
    if (sample->count > 0) {
        qsort(sample->values, sample->count, sizeof *sample->values, points_compare);
        points_add(points, sample->values[0], 0);
    }
    for (size_t i = 0; i < sample->count; i++) {
        if (i + 1 == sample->count || sample->values[i] != sample->values[i + 1]) {
            points_add(points, sample->values[i], (i + 1) * PPM / all);
        }
    }
}

/* A curve under the scenario's faults and one of the calm run. */
static void latency_of(struct plotting *plotting,
                       const struct run_plots_subject *subject,
                       struct points points[2],
                       struct report_series series[2])
{
    struct probe probe;
    struct sample faulty = {0};
    struct sample calm = {0};
    struct text_pool *texts = &plotting->session->texts;
    const struct scenario *scenario = subject->scenario;
    const uint64_t count = seed_range_count(subject->seeds);
    const uint64_t taken = count < RUN_PLOTS_SEEDS ? count : RUN_PLOTS_SEEDS;
    const struct run_request calm_request = probe_calm_request();
    if (probe_open(&probe, scenario)) {
        for (uint64_t i = 0; i < taken; i++) {
            const struct run_request request =
                reproducer_seed_request(scenario, subject->seeds.first + i);
            add_run(&faulty, &probe, scenario, &request);
        }
        add_run(&calm, &probe, scenario, &calm_request);
    }
    probe_close(&probe);
    distribution(&faulty, &points[0]);
    distribution(&calm, &points[1]);
    const char *never =
        faulty.missing == 0 ? "" : text_format(texts, ", %zu records never", faulty.missing);
    series[0] =
        points_series(&points[0],
                      text_format(texts,
                                  "%s, %" PRIu64 " seeds, profile %s, digest 0x%016" PRIx64 "%s",
                                  scenario->name,
                                  taken,
                                  profile_name(scenario->config.profile),
                                  faulty.digest,
                                  never),
                      REPORT_SERIES_STEPS);
    series[1] = points_series(
        &points[1],
        text_format(texts, "%s, the calm run, digest 0x%016" PRIx64, scenario->name, calm.digest),
        REPORT_SERIES_DASHED);
    free(faulty.values);
    free(calm.values);
}

static void
draw_latency(struct plotting *plotting, const struct run_plots_subject *subjects, size_t count)
{
    struct points *points = memory_take(2 * count * sizeof *points);
    struct report_series *series = memory_take(2 * count * sizeof *series);
    for (size_t i = 0; i < count; i++) {
        latency_of(plotting, &subjects[i], &points[2 * i], &series[2 * i]);
    }
    const struct report_plot plot = {
        .name = "visibility-latency",
        .title = "Visibility latency: share of records that are visible so long after they were to "
                 "arrive",
        .subtitle = "each scenario under its faults, and its calm run; virtual time",
        .facts = "",
        .x = {.label = "from intended arrival until visible to the reader that is judged by",
              .unit = "ns",
              .shown = "ms",
              .shown_size = NANOS_PER_MS,
              .log_base = 10},
        .y = {.label = "records", .unit = "ppm", .shown = "%", .shown_size = PPM / 100},
        .series = series,
        .series_count = 2 * count,
    };
    plotting_add(plotting, &plot);
    points_free(points, 2 * count);
    free(points);
    free(series);
}

/* --- coverage ---------------------------------------------------------------------------------- */

/* Behaviour marks by the seed that first reached each. */
static void growth(const struct report_run *run, uint64_t first, bool pairs, struct points *points)
{
    size_t count = 0;
    uint64_t *seeds = memory_take((run->reached_count + 1) * sizeof *seeds);
    for (size_t i = 0; i < run->reached_count; i++) {
        if (run->reached[i].is_pair == pairs) {
            seeds[count] = run->reached[i].first_seed - first + 1;
            count++;
        }
    }
    qsort(seeds, count, sizeof *seeds, points_compare);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || seeds[i] != seeds[i + 1]) {
            points_add(points, seeds[i], i + 1);
        }
    }
    if (count > 0 && run->runs > seeds[count - 1]) {
        points_add(points, run->runs, count);
    }
    free(seeds);
}

static void
draw_coverage(struct plotting *plotting, const struct run_plots_subject *subjects, size_t count)
{
    struct text_pool *texts = &plotting->session->texts;
    struct points *points = memory_take(2 * count * sizeof *points);
    struct report_series *series = memory_take(2 * count * sizeof *series);
    for (size_t i = 0; i < count; i++) {
        const struct report_run *run = subjects[i].run;
        growth(run, subjects[i].seeds.first, false, &points[2 * i]);
        growth(run, subjects[i].seeds.first, true, &points[2 * i + 1]);
        series[2 * i] = points_series(&points[2 * i],
                                      text_format(texts,
                                                  "%s, marks, profile %s, digest 0x%016" PRIx64,
                                                  run->scenario,
                                                  run->profile,
                                                  run->digest),
                                      REPORT_SERIES_STEPS);
        series[2 * i + 1] =
            points_series(&points[2 * i + 1],
                          text_format(texts, "%s, pairs of a fault and a phase", run->scenario),
                          REPORT_SERIES_DASHED);
    }
    const struct report_plot plot = {
        .name = "coverage-growth",
        .title = "Coverage growth: behaviour reached at least once by so many runs",
        .subtitle = "runs in the order of their seeds",
        .facts = "",
        .x = {.label = "runs", .unit = "runs", .shown = "", .shown_size = 1, .log_base = 10},
        .y = {.label = "marks, and pairs, reached", .unit = "marks", .shown = "", .shown_size = 1},
        .series = series,
        .series_count = 2 * count,
    };
    plotting_add(plotting, &plot);
    points_free(points, 2 * count);
    free(points);
    free(series);
}

void run_plots_draw(struct plotting *plotting,
                    const struct run_plots_subject *subjects,
                    size_t count)
{
    draw_latency(plotting, subjects, count);
    draw_coverage(plotting, subjects, count);
    for (size_t i = 0; i < count; i++) {
        load_plots_interval(plotting, &subjects[i]);
        load_plots_throughput(plotting, &subjects[i]);
    }
}
