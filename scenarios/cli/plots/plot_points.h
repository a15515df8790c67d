/* The points of a curve while it is measured, and what all plots say of what they are of. */
#ifndef SCENARIOS_CLI_PLOTS_PLOT_POINTS_H
#define SCENARIOS_CLI_PLOTS_PLOT_POINTS_H

#include "scenarios/cli/plots/plotting.h"

/* Zeroed, a list is empty and ready. */
struct points {
    uint64_t *x;
    uint64_t *y;
    size_t count;
    size_t capacity;
};

void points_add(struct points *points, uint64_t x, uint64_t y);
/* Give the memory of so many lists back. */
void points_free(struct points *points, size_t count);

/* A curve through them, which must stand as long as it. */
struct report_series
points_series(const struct points *points, const char *label, enum report_series_style style);

/* For qsort of numbers. */
int points_compare(const void *a, const void *b);

/* "profile documented, digest 0x...". */
const char *points_facts(struct text_pool *texts, const struct scenario *scenario, uint64_t digest);

/* The reader class whose eyes a scenario is judged through. */
uint8_t points_reader(const struct scenario *scenario);

#endif
