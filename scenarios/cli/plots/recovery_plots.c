#include "scenarios/cli/plots/recovery_plots.h"

#include "scenarios/cli/plots/probe.h"

#include <inttypes.h>
#include <stdlib.h>

#define CURVE_POINTS 400u

static const struct report_axis seconds_axis = {
    .label = "virtual time", .unit = "ns", .shown = "s", .shown_size = NANOS_PER_S};

/* The instant at which all is visible, and a tenth more. */
static nanos end_of_curve(const struct measure *measure, uint8_t reader)
{
    nanos last = measure->started;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos visible = measure->records[i].at[MEASURE_VISIBLE + reader];
        const nanos intended = measure->records[i].at[MEASURE_INTENDED];
        last = intended > last ? intended : last;
        last = visible != TIME_NEVER && visible > last ? visible : last;
    }
    return last + (last - measure->started) / 10 + CURVE_POINTS;
}

static void draw_curves(struct plotting *plotting,
                        const struct scenario *scenario,
                        const struct probe *probe,
                        const char *subtitle)
{
    const struct measure *measure = probe->measure;
    struct points points[3] = {{0}};
    struct measure_moment moments[CURVE_POINTS];
    const uint8_t reader = points_reader(scenario);
    const nanos end = end_of_curve(measure, reader);
    const nanos step = (end - measure->started) / (CURVE_POINTS - 1);
    struct report_stretch *stretches = memory_take((measure->outage_count + 1) * sizeof *stretches);
    measure_curve(measure, reader, measure->started, step, moments, CURVE_POINTS);
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        const bool is_end = i == 0 || i + 1 == CURVE_POINTS;
        if (is_end || moments[i].arrived != moments[i - 1].arrived) {
            points_add(&points[0], moments[i].time, moments[i].arrived);
        }
        if (is_end || moments[i].visible != moments[i - 1].visible) {
            points_add(&points[1], moments[i].time, moments[i].visible);
        }
        points_add(&points[2], moments[i].time, moments[i].lag);
    }
    for (uint32_t i = 0; i < measure->outage_count; i++) {
        stretches[i].from = measure->outages[i].from;
        stretches[i].to = measure->outages[i].to == TIME_NEVER ? end : measure->outages[i].to;
    }
    const struct report_series counts[2] = {
        points_series(&points[0], "records that were to arrive", REPORT_SERIES_DASHED),
        points_series(&points[1], "records visible", REPORT_SERIES_STEPS),
    };
    const struct report_series lag = points_series(
        &points[2], "age of the oldest record that arrived and is not visible", REPORT_SERIES_LINE);
    struct report_plot plot = {
        .name = plotting_name(plotting, "catch-up", scenario->name),
        .title = "Recovery and catch-up",
        .subtitle = subtitle,
        .facts = points_facts(&plotting->session->texts, scenario, probe->digest),
        .x = seconds_axis,
        .y = {.label = "records", .unit = "records", .shown = "", .shown_size = 1},
        .series = counts,
        .series_count = 2,
        .stretches = stretches,
        .stretch_count = measure->outage_count,
        .stretch_label = "the job, or a part of it, is down",
    };
    plotting_add(plotting, &plot);
    plot.name = plotting_name(plotting, "lag", scenario->name);
    plot.title = "Lag: how far what is visible stands behind what arrived";
    plot.y =
        (struct report_axis){.label = "lag", .unit = "ns", .shown = "s", .shown_size = NANOS_PER_S};
    plot.series = &lag;
    plot.series_count = 1;
    plotting_add(plotting, &plot);
    free(stretches);
    points_free(points, 3);
}

enum status recovery_plots_draw(struct plotting *plotting,
                                const struct scenario *scenario,
                                const struct run_request *request,
                                const char *what)
{
    struct probe probe;
    const char *why = "there is no memory for it";
    const bool made = probe_open(&probe, scenario) && probe_run(&probe, request, &why);
    if (made) {
        draw_curves(
            plotting,
            scenario,
            &probe,
            text_format(&plotting->session->texts, "%s, %s; virtual time", scenario->name, what));
    } else {
        complain("--plots: %s: %s", scenario->name, why);
    }
    probe_close(&probe);
    return plotting->status;
}
