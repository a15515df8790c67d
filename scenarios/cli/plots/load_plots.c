#include "scenarios/cli/plots/load_plots.h"

#include "scenarios/cli/plots/probe.h"
#include "scenarios/cli/plots/variant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PERCENTILES 3u

/* What every load is made of: records that arrive by themselves, no faults, no tape, memory enough for
 * a journal of all of it. */
#define LOAD_CHANGES                                                                               \
    {"tape", NULL}, {"strict_tape", NULL}, {"digest", NULL}, {"must_reach", NULL},                 \
        {"workload.file", NULL}, {"engine.savepoint", NULL},                                       \
        {"engine.source.pace", "\"arrivals\""}, {"budgets.events", "16777216"},                    \
    {                                                                                              \
        "budgets.arena_bytes", "1073741824"                                                        \
    }

/* What is measured for a plot: of which scenario, and why a run could not be made. */
struct loads {
    struct plotting *plotting;
    const struct run_plots_subject *subject;
    uint64_t digest;
    uint32_t left_out;
    const char *why_or_null;
};

/* Make the calm run of a changed scenario; false when there is none. */
static bool probe_variant(struct loads *loads,
                          const struct variant_change *changes,
                          size_t count,
                          struct scenario **scenario,
                          struct probe *probe)
{
    const char *why = NULL;
    const struct run_request request = probe_calm_request();
    *probe = (struct probe){0};
    *scenario = NULL;
    if (variant_load(
            loads->plotting->session, loads->subject->word, changes, count, scenario, &why) ==
        ERR_OK) {
        (*scenario)->config.oracles_off = true;
        if (!probe_open(probe, *scenario)) {
            why = "there is no memory for it";
        } else if (probe_run(probe, &request, &why)) {
            return true;
        }
    }
    loads->left_out++;
    if (loads->why_or_null == NULL) { /* the run that says why goes away */
        loads->why_or_null = text_copy(&loads->plotting->session->texts, bytes_of_text(why));
    }
    return false;
}

/* A configuration that the sink refuses is a gap in the curve, and is told. */
static void tell_left_out(const struct loads *loads)
{
    if (loads->left_out > 0) {
        complain("--plots: %s under another load: %" PRIu32 " left out: %s",
                 loads->subject->word,
                 loads->left_out,
                 loads->why_or_null);
    }
}

static void close_variant(struct scenario *scenario, struct probe *probe)
{
    probe_close(probe);
    if (scenario != NULL) {
        scenario_destroy(scenario);
    }
}

/* Latency of what arrived behind the first interval, in which nothing was under way before. */
static void add_percentiles(const struct measure *measure,
                            uint8_t reader,
                            nanos interval,
                            struct points points[PERCENTILES])
{
    static const uint32_t permilles[PERCENTILES] = {500, 950, 990};
    uint32_t missing = 0;
    nanos *values = memory_take((measure->record_count + 1) * sizeof *values);
    const struct measure_span span = {
        .first = MEASURE_INTENDED,
        .second = MEASURE_VISIBLE + (uint32_t)reader,
        .from = nanos_add(measure->started, interval),
    };
    const uint32_t count = measure_durations(measure, span, values, &missing);
    for (size_t i = 0; i < PERCENTILES && count > 0; i++) {
        points_add(&points[i], interval, measure_percentile(values, count, permilles[i]));
    }
    free(values);
}

#define INTERVAL_RECORDS 1200u /* in five intervals */

static void add_interval(struct loads *loads, nanos interval, struct points points[PERCENTILES])
{
    struct text_pool *texts = &loads->plotting->session->texts;
    struct scenario *scenario = NULL;
    struct probe probe;
    const uint32_t sources = loads->subject->scenario->config.job.sources;
    const nanos apart = nanos_mul(interval, 5) * sources / INTERVAL_RECORDS;
    const struct variant_change changes[] = {
        LOAD_CHANGES,
        {"workload.records", text_format(texts, "%u", INTERVAL_RECORDS)},
        {"engine.burst", "1"},
        {"engine.record_interval_ms", NULL},
        {"engine.record_interval_ns", text_format(texts, "%" PRIu64, apart)},
        {"engine.checkpoint.interval_ns", NULL},
        {"engine.checkpoint.interval_ms", text_format(texts, "%" PRIu64, interval / NANOS_PER_MS)},
        {"engine.checkpoint.min_pause_ms", NULL},
    };
    if (probe_variant(loads, changes, ARRAY_COUNT(changes), &scenario, &probe)) {
        add_percentiles(probe.measure, points_reader(scenario), interval, points);
        loads->digest += probe.digest;
    }
    close_variant(scenario, &probe);
}

void load_plots_interval(struct plotting *plotting, const struct run_plots_subject *subject)
{
    static const nanos intervals[] = {MS(200),
                                      MS(500),
                                      SECONDS(1),
                                      SECONDS(2),
                                      SECONDS(5),
                                      SECONDS(10),
                                      SECONDS(30),
                                      SECONDS(60)};
    static const char *const labels[PERCENTILES] = {"p50", "p95", "p99"};
    struct points points[PERCENTILES] = {{0}};
    struct report_series series[PERCENTILES];
    struct loads loads = {.plotting = plotting, .subject = subject};
    struct text_pool *texts = &plotting->session->texts;
    if (!subject->scenario->config.job.checkpointing) {
        complain("--plots: %s: there are no checkpoints to vary the interval of", subject->word);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(intervals); i++) {
        add_interval(&loads, intervals[i], points);
    }
    tell_left_out(&loads);
    for (size_t i = 0; i < PERCENTILES; i++) {
        series[i] = points_series(&points[i], labels[i], REPORT_SERIES_POINTS);
    }
    const struct report_plot plot = {
        .name = plotting_name(plotting, "latency-interval", subject->scenario->name),
        .title = "Visibility latency against checkpoint interval",
        .subtitle = text_format(texts,
                                "%s, calm, %u records in five intervals; virtual time",
                                subject->scenario->name,
                                INTERVAL_RECORDS),
        .facts = points_facts(texts, subject->scenario, loads.digest),
        .x = {.label = "checkpoint interval",
              .unit = "ns",
              .shown = "s",
              .shown_size = NANOS_PER_S,
              .log_base = 10},
        .y = {.label = "from intended arrival until visible",
              .unit = "ns",
              .shown = "s",
              .shown_size = NANOS_PER_S,
              .log_base = 10},
        .series = series,
        .series_count = PERCENTILES,
    };
    plotting_add(plotting, &plot);
    points_free(points, PERCENTILES);
}

/* --- throughput -------------------------------------------------------------------------------- */

#define LOAD_SUBTASKS   4u
#define LOAD_PER_SECOND 1000u
#define LOAD_SECONDS    12u
#define LOAD_SERVICE_MS 8u

/* The option that bounds what is under way at a time, or NULL: the requests in flight; of a sink that
 * sends one after another, what one of them holds. */
static const char *concurrency_option(const struct sink_type *sink)
{
    static const char *const starts[] = {"max_in_flight", "max_batch"};
    for (size_t k = 0; k < ARRAY_COUNT(starts); k++) {
        for (uint32_t i = 0; i < sink->option_count; i++) {
            if (strncmp(sink->options[i].key, starts[k], strlen(starts[k])) == 0) {
                return sink->options[i].key;
            }
        }
    }
    return NULL;
}

struct load {
    const char *option;
    uint32_t concurrency;
    const char *skew;
};

static void add_load(struct loads *loads, const struct load *load, struct points *points)
{
    struct text_pool *texts = &loads->plotting->session->texts;
    struct scenario *scenario = NULL;
    struct probe probe;
    const char *option = text_format(texts, "sink.options.%s", load->option);
    const struct variant_change changes[] = {
        LOAD_CHANGES,
        {option, text_format(texts, "%" PRIu32, load->concurrency)},
        {"workload.records", text_format(texts, "%u", LOAD_PER_SECOND * LOAD_SECONDS)},
        {"workload.keys", "\"shared\""},
        {"workload.key_count", "64"},
        {"workload.key_skew", text_format(texts, "\"%s\"", load->skew)},
        {"workload.splits", NULL},
        {"engine.sources", "1"},
        {"engine.subtasks", text_format(texts, "%u", LOAD_SUBTASKS)},
        {"engine.restart.region", NULL},
        {"engine.rescale_to", NULL},
        {"engine.routing", "\"hash\""},
        {"engine.burst", "1"},
        {"engine.record_interval_ms", "1"},
        {"engine.record_interval_ns", NULL},
        {"engine.checkpoint.interval_ms", "1000"},
        {"engine.checkpoint.interval_ns", NULL},
        {"link.service_time_ms", text_format(texts, "%u", LOAD_SERVICE_MS)},
    };
    if (probe_variant(loads, changes, ARRAY_COUNT(changes), &scenario, &probe)) {
        const struct measure *measure = probe.measure;
        const struct measure_throughput found =
            measure_throughput(measure,
                               points_reader(scenario),
                               nanos_add(measure->started, SECONDS(2)),
                               measure->input_ended);
        if (found.intervals > 0) {
            points_add(points, load->concurrency, found.milli_per_s);
        }
        loads->digest += probe.digest;
    }
    close_variant(scenario, &probe);
}

void load_plots_throughput(struct plotting *plotting, const struct run_plots_subject *subject)
{
    static const uint32_t concurrencies[] = {1, 2, 4, 8, 16, 32};
    static const char *const skews[3] = {"0/1", "1/2", "9/10"};
    static const char *const labels[3] = {
        "keys even", "half of the records to one key", "90 % of the records to one key"};
    struct points points[3] = {{0}};
    struct report_series series[3];
    struct loads loads = {.plotting = plotting, .subject = subject};
    const char *option = concurrency_option(subject->scenario->config.job.sink);
    if (option == NULL || !subject->scenario->config.job.checkpointing) {
        complain("--plots: %s: its sink has no option for what is under way at a time, or no "
                 "checkpoints to "
                 "count between",
                 subject->word);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < ARRAY_COUNT(concurrencies); k++) {
            const struct load load = {option, concurrencies[k], skews[i]};
            add_load(&loads, &load, &points[i]);
        }
        series[i] = points_series(&points[i], labels[i], REPORT_SERIES_POINTS);
    }
    tell_left_out(&loads);
    const struct report_plot plot = {
        .name = plotting_name(plotting, "throughput", subject->scenario->name),
        .title = "Throughput against concurrency and hot-key share",
        .subtitle =
            text_format(&plotting->session->texts,
                        "%s, calm, %u records/s offered, %u subtasks by key, %u ms per request",
                        subject->scenario->name,
                        LOAD_PER_SECOND,
                        LOAD_SUBTASKS,
                        LOAD_SERVICE_MS),
        .facts = points_facts(&plotting->session->texts, subject->scenario, loads.digest),
        .x = {.label = text_format(&plotting->session->texts, "%s of a subtask", option),
              .unit = "count",
              .shown = "",
              .shown_size = 1,
              .log_base = 2},
        .y = {.label = "visible, over whole checkpoint intervals",
              .unit = "records_per_1000s",
              .shown = "records/s",
              .shown_size = 1000},
        .series = series,
        .series_count = 3,
    };
    plotting_add(plotting, &plot);
    points_free(points, 3);
}
