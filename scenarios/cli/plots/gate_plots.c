#include "scenarios/cli/plots/gate_plots.h"

#include "scenarios/cli/plots/plot_points.h"
#include "sinks/base/units.h"

#include <inttypes.h>
#include <string.h>

#define SERIES_MAX 4

/* Of which cells a plot is: what it does not vary. */
struct cut {
    uint32_t payload_bytes;
    uint32_t parallelism;
    uint32_t concurrency; /* 0: it is the x axis */
    uint64_t interval_s;  /* the same */
};

static bool is_in(const struct cut *cut, const struct report_gate_cell *cell)
{
    return cell->has_ratios && cell->payload_bytes == cut->payload_bytes &&
           cell->parallelism == cut->parallelism &&
           (cut->concurrency == 0 || cell->concurrency == cut->concurrency) &&
           (cut->interval_s == 0 || cell->interval_s == cut->interval_s);
}

/* The arm of a side, or NULL. */
static const struct report_gate_arm *arm_of(const struct report_gate_cell *cell, const char *side)
{
    for (size_t i = 0; i < cell->arm_count; i++) {
        if (strcmp(cell->arms[i].side, side) == 0) {
            return &cell->arms[i];
        }
    }
    return NULL;
}

static const char *
facts_of(struct text_pool *texts, const struct report_gate *gate, const struct cut *cut)
{
    const char *rest = cut->concurrency == 0
                           ? text_format(texts, "interval %" PRIu64 " s", cut->interval_s)
                           : text_format(texts, "concurrency %" PRIu32, cut->concurrency);
    return text_format(texts,
                       "%" PRIu32 " bytes, parallelism %" PRIu32 ", %s; MODEL costs %s, digest "
                       "0x%016" PRIx64,
                       cut->payload_bytes,
                       cut->parallelism,
                       rest,
                       gate->costs_name,
                       gate->digest);
}

/* The smallest payload with the most in flight: there the interval is what makes the difference. */
static void draw_latency(struct plotting *plotting,
                         const struct report_gate *gate,
                         const struct report_gate_candidate *candidate)
{
    static const char *const labels[SERIES_MAX] = {
        "p95 of the current path",
        "p95 of the candidate",
        "of the candidate: until the checkpoint that releases it",
        "of the candidate: from there until it is visible"};
    struct text_pool *texts = &plotting->session->texts;
    struct points points[SERIES_MAX] = {{0}};
    struct report_series series[SERIES_MAX];
    const struct report_gate_cell *first = &candidate->cells[0];
    const struct report_gate_cell *last = &candidate->cells[candidate->cell_count - 1];
    const struct cut cut = {first->payload_bytes, last->parallelism, last->concurrency, 0};
    for (size_t i = 0; i < candidate->cell_count; i++) {
        const struct report_gate_cell *cell = &candidate->cells[i];
        const struct report_gate_arm *baseline = arm_of(cell, "baseline");
        const struct report_gate_arm *mine = arm_of(cell, "candidate");
        if (!is_in(&cut, cell) || strcmp(cell->keys, first->keys) != 0 || baseline == NULL ||
            mine == NULL) {
            continue;
        }
        const nanos interval = SECONDS(cell->interval_s);
        points_add(&points[0], interval, baseline->p95);
        points_add(&points[1], interval, mine->p95);
        if (mine->wait_p95 > 0) {
            points_add(&points[2], interval, mine->wait_p95);
            points_add(&points[3], interval, mine->drain_p95);
        }
    }
    const size_t count = points[2].count > 0 ? SERIES_MAX : 2;
    for (size_t i = 0; i < count; i++) {
        series[i] = points_series(&points[i], labels[i], REPORT_SERIES_POINTS);
    }
    const struct report_plot plot = {
        .name = plotting_name(plotting, "gate-latency", candidate->name),
        .title = "p95 against checkpoint interval, as the gate measured it",
        .subtitle = text_format(texts, "%s, keys %s; virtual time", candidate->name, first->keys),
        .facts = facts_of(texts, gate, &cut),
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
        .series_count = count,
    };
    plotting_add(plotting, &plot);
    points_free(points, SERIES_MAX);
}

/* One subtask, the shortest interval: what is offered is the share that the current path carries. */
static void draw_throughput(struct plotting *plotting,
                            const struct report_gate *gate,
                            const struct report_gate_candidate *candidate)
{
    static const struct {
        const char *side;
        const char *keys;
        const char *label;
    } kinds[SERIES_MAX] = {
        {"baseline", "even", "current path, keys even"},
        {"candidate", "even", "candidate, keys even"},
        {"baseline", "hot", "current path, 90 % of the records to one key"},
        {"candidate", "hot", "candidate, 90 % of the records to one key"},
    };
    struct text_pool *texts = &plotting->session->texts;
    struct points points[SERIES_MAX] = {{0}};
    struct report_series series[SERIES_MAX];
    size_t count = 0;
    const struct report_gate_cell *first = &candidate->cells[0];
    const struct cut cut = {first->payload_bytes, first->parallelism, 0, first->interval_s};
    for (size_t k = 0; k < SERIES_MAX; k++) {
        for (size_t i = 0; i < candidate->cell_count; i++) {
            const struct report_gate_cell *cell = &candidate->cells[i];
            const struct report_gate_arm *arm = arm_of(cell, kinds[k].side);
            if (is_in(&cut, cell) && strcmp(cell->keys, kinds[k].keys) == 0 && arm != NULL) {
                points_add(&points[k], cell->concurrency, arm->throughput);
            }
        }
        if (points[k].count > 0) {
            series[count++] = points_series(&points[k], kinds[k].label, REPORT_SERIES_POINTS);
        }
    }
    const struct report_plot plot = {
        .name = plotting_name(plotting, "gate-throughput", candidate->name),
        .title = "Throughput against concurrency and hot keys, as the gate measured it",
        .subtitle = text_format(texts, "%s, in an open loop", candidate->name),
        .facts = facts_of(texts, gate, &cut),
        .x = {.label = "requests in flight of a subtask",
              .unit = "requests",
              .shown = "",
              .shown_size = 1,
              .log_base = 2},
        .y = {.label = "visible, over whole checkpoint intervals",
              .unit = "records_per_1000s",
              .shown = "records/s",
              .shown_size = 1000},
        .series = series,
        .series_count = count,
    };
    if (count > 0) {
        plotting_add(plotting, &plot);
    }
    points_free(points, SERIES_MAX);
}

void gate_plots_draw(struct plotting *plotting, const struct report_gate *gate)
{
    for (size_t i = 0; i < gate->candidate_count; i++) {
        const struct report_gate_candidate *candidate = &gate->candidates[i];
        if (candidate->cell_count == 0) {
            complain("--plots: %s: it has no cells to draw", candidate->name);
            continue;
        }
        draw_latency(plotting, gate, candidate);
        draw_throughput(plotting, gate, candidate);
    }
}
