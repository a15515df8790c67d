#include "scenarios/cli/plots/plot_points.h"

#include <inttypes.h>
#include <stdlib.h>

void points_add(struct points *points, uint64_t x, uint64_t y)
{
    if (points->count == points->capacity) {
        points->capacity = points->capacity * 2 + 64;
        points->x = memory_resize(points->x, points->capacity * sizeof *points->x);
        points->y = memory_resize(points->y, points->capacity * sizeof *points->y);
    }
    points->x[points->count] = x;
    points->y[points->count] = y;
    points->count++;
}

void points_free(struct points *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(points[i].x);
        free(points[i].y);
    }
}

struct report_series
points_series(const struct points *points, const char *label, enum report_series_style style)
{
    return (struct report_series){
        .label = label,
        .style = style,
        .x = points->x,
        .y = points->y,
        .count = points->count,
    };
}

int points_compare(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return *left < *right ? -1 : *left > *right ? 1 : 0;
}

const char *points_facts(struct text_pool *texts, const struct scenario *scenario, uint64_t digest)
{
    return text_format(
        texts, "profile %s, digest 0x%016" PRIx64, profile_name(scenario->config.profile), digest);
}

uint8_t points_reader(const struct scenario *scenario)
{
    return scenario->config.facts.reader_class;
}
