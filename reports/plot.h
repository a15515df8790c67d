/* Plots for gnuplot: the data as integers in a table of their own, and a script that draws them as SVG
 * and PNG. The table is what counts: it names units, profile and digest, and is readable without the
 * script. */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report_axis {
    const char *label;
    const char *unit;    /* of the data: "ns" */
    const char *shown;   /* unit that is drawn: "ms"; empty: none */
    uint64_t shown_size; /* of the drawn unit, in those of the data */
    uint32_t log_base;   /* 0: it is linear, from 0 on */
};

enum report_series_style {
    REPORT_SERIES_LINE = 0,
    REPORT_SERIES_STEPS,  /* stays until the next point */
    REPORT_SERIES_POINTS, /* a line with its points */
    REPORT_SERIES_DASHED,
};

struct report_series {
    const char *label;
    enum report_series_style style;
    const uint64_t *x;
    const uint64_t *y;
    size_t count;
};

/* A stretch of the x axis that is shaded. */
struct report_stretch {
    uint64_t from;
    uint64_t to;
};

struct report_plot {
    const char *name; /* of the files */
    const char *title;
    const char *subtitle; /* what it is of */
    const char *facts;    /* profile and digest; empty where each series has its own */
    struct report_axis x;
    struct report_axis y;
    const struct report_series *series;
    size_t series_count;
    const struct report_stretch *stretches;
    size_t stretch_count;
    const char *stretch_label; /* what they are; NULL: there are none */
};

/* Write the table: comments, and a line "series<TAB>x<TAB>y" per point; two empty lines between
 * series. False when the stream gave out. */
bool report_plot_table(FILE *file, const struct report_plot *plot);

/* Write the script, which reads NAME.tsv and writes NAME.svg and NAME.png beside it. */
bool report_plot_script(FILE *file, const struct report_plot *plot);

#endif
