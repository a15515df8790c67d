#include "reports/plot.h"

#include "reports/escape.h"
#include "sinks/base/check.h"

#include <inttypes.h>
#include <stdlib.h>

/* Told apart by people who see few colours, and in grey (Okabe and Ito, 2008). */
static const char *const colours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

#define SHADE "#f3d9d9"

/* --- the table --------------------------------------------------------------------------------- */

/* Text on one line: nothing of it ends a comment. */
static void write_words(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, file);
    }
}

static void write_comment(FILE *file, const char *text)
{
    if (text[0] != '\0') {
        (void)fputs("# ", file);
        write_words(file, text);
        (void)fputc('\n', file);
    }
}

static void write_axis_comment(FILE *file, const char *name, const struct report_axis *axis)
{
    (void)fprintf(file, "# %s: ", name);
    write_words(file, axis->label);
    (void)fprintf(file, ", in %s\n", axis->unit);
}

static void write_head(FILE *file, const struct report_plot *plot)
{
    write_comment(file, plot->title);
    write_comment(file, plot->subtitle);
    write_comment(file, plot->facts);
    write_axis_comment(file, "x", &plot->x);
    write_axis_comment(file, "y", &plot->y);
    for (size_t i = 0; i < plot->series_count; i++) {
        (void)fprintf(file, "# series %zu: ", i + 1);
        write_words(file, plot->series[i].label);
        (void)fputc('\n', file);
    }
    for (size_t i = 0; i < plot->stretch_count; i++) {
        (void)fprintf(file,
                      "# from %" PRIu64 " to %" PRIu64 ": ",
                      plot->stretches[i].from,
                      plot->stretches[i].to);
        write_words(file, plot->stretch_label);
        (void)fputc('\n', file);
    }
    (void)fprintf(file, "# series\tx_%s\ty_%s\n", plot->x.unit, plot->y.unit);
}

bool report_plot_table(FILE *file, const struct report_plot *plot)
{
    write_head(file, plot);
    for (size_t i = 0; i < plot->series_count; i++) {
        const struct report_series *series = &plot->series[i];
        (void)fputs(i == 0 ? "" : "\n\n", file);
        for (size_t k = 0; k < series->count; k++) {
            (void)fprintf(
                file, "%zu\t%" PRIu64 "\t%" PRIu64 "\n", i + 1, series->x[k], series->y[k]);
        }
    }
    return ferror(file) == 0;
}

/* --- the script -------------------------------------------------------------------------------- */

/* A string in single quotes: in it gnuplot knows neither backslashes nor backquotes, only the quote
 * itself, doubled. */
static void write_string(FILE *file, const char *text)
{
    char *copy = escape_utf8_copy(text);
    (void)fputc('\'', file);
    for (const char *at = copy == NULL ? "" : copy; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '\'') {
            (void)fputs("''", file);
        } else {
            (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, file);
        }
    }
    (void)fputc('\'', file);
    free(copy);
}

static void write_title(FILE *file, const struct report_plot *plot)
{
    (void)fputs("set title ", file);
    write_string(file, plot->title);
    (void)fputs(".\"\\n\".", file);
    write_string(file, plot->subtitle);
    if (plot->facts[0] != '\0') {
        (void)fputs(".\"\\n\".", file);
        write_string(file, plot->facts);
    }
    (void)fputs(" noenhanced\n", file);
}

/* The least and the greatest value of an axis, over all series. */
struct extent {
    uint64_t least;
    uint64_t greatest;
};

static struct extent extent_of(const struct report_plot *plot, bool is_x)
{
    struct extent extent = {UINT64_MAX, 0};
    for (size_t i = 0; i < plot->series_count; i++) {
        const uint64_t *values = is_x ? plot->series[i].x : plot->series[i].y;
        for (size_t k = 0; k < plot->series[i].count; k++) {
            extent.least = values[k] < extent.least ? values[k] : extent.least;
            extent.greatest = values[k] > extent.greatest ? values[k] : extent.greatest;
        }
    }
    return extent;
}

/* A logarithmic axis ends a quarter beyond its values; a linear one begins at 0 and ends a twentieth
 * beyond. */
static void write_range(FILE *file,
                        const char *name,
                        const struct report_axis *axis,
                        const struct extent *extent)
{
    if (axis->log_base == 0) {
        (void)fprintf(file,
                      "set %srange [0:%" PRIu64 ".0/%" PRIu64 "*1.05]\n",
                      name,
                      extent->greatest == 0 ? 1 : extent->greatest,
                      axis->shown_size);
        return;
    }
    const uint64_t least = extent->least == 0 ? 1 : extent->least;
    (void)fprintf(file,
                  "set logscale %s %" PRIu32 "\nset format %s '%s'\n"
                  "set %srange [%" PRIu64 ".0/%" PRIu64 "/1.25:%" PRIu64 ".0/%" PRIu64 "*1.25]\n",
                  name,
                  axis->log_base,
                  name,
                  least >= axis->shown_size ? "%.0f" : "%g",
                  name,
                  least,
                  axis->shown_size,
                  extent->greatest,
                  axis->shown_size);
}

static void write_axis(FILE *file, const char *name, const struct report_axis *axis)
{
    (void)fprintf(file, "set %slabel ", name);
    write_string(file, axis->label);
    if (axis->shown[0] != '\0') {
        (void)fputs(".' ('.", file);
        write_string(file, axis->shown);
        (void)fputs(".')'", file);
    }
    (void)fputs(" noenhanced\n", file);
}

static size_t key_lines(const struct report_plot *plot)
{
    return plot->series_count + (plot->stretch_count > 0 ? 1 : 0);
}

#define KEY_LINES_USUAL 4u
#define KEY_LINE_PIXELS 20u /* of sans 12, in both pictures */

/* Of a picture of so many pixels: what a long key needs is added, and not taken from the plot. */
static size_t height_of(const struct report_plot *plot, size_t usual)
{
    const size_t lines = key_lines(plot);
    return usual + (lines > KEY_LINES_USUAL ? (lines - KEY_LINES_USUAL) * KEY_LINE_PIXELS : 0);
}

/* Room for a line of the key per series below the plot, at the left. */
static void write_look(FILE *file, const struct report_plot *plot)
{
    const size_t lines = key_lines(plot);
    (void)fprintf(file,
                  "set grid xtics ytics linetype 1 linewidth 0.7 linecolor rgb '#dddddd'\n"
                  "set border 3\nset tics nomirror out\nset bmargin %zu\n"
                  "set key at graph 0, screen 0.01 left bottom Left reverse maxcols 1 noenhanced\n",
                  lines + 5);
}

static void write_stretches(FILE *file, const struct report_plot *plot)
{
    for (size_t i = 0; i < plot->stretch_count; i++) {
        (void)fprintf(file,
                      "set object %zu rectangle from %" PRIu64 "/%" PRIu64 ".0, graph 0 to %" PRIu64
                      "/%" PRIu64 ".0, graph 1 fillcolor rgb '" SHADE
                      "' fillstyle solid noborder behind\n",
                      i + 1,
                      plot->stretches[i].from,
                      plot->x.shown_size,
                      plot->stretches[i].to,
                      plot->x.shown_size);
    }
}

static const char *words_of_style(enum report_series_style style)
{
    switch (style) {
    case REPORT_SERIES_LINE:
        return "lines";
    case REPORT_SERIES_POINTS:
        return "linespoints pointtype 7 pointsize 0.8";
    case REPORT_SERIES_STEPS:
    case REPORT_SERIES_DASHED:
        return "steps";
    }
    UNREACHABLE();
}

/* A dashed series goes with the one before it and has its colour. Where the colours begin again, other
 * dashes tell the series apart. */
struct pen {
    size_t colour;
    uint32_t dash;
};

static struct pen pen_of(const struct report_plot *plot, size_t index)
{
    size_t turn = 0;
    for (size_t i = 1; i <= index; i++) {
        turn += plot->series[i].style == REPORT_SERIES_DASHED ? 0 : 1;
    }
    const bool is_dashed = plot->series[index].style == REPORT_SERIES_DASHED;
    const bool is_again = turn >= ARRAY_COUNT(colours);
    return (struct pen){turn % ARRAY_COUNT(colours),
                        is_dashed ? (is_again ? 3 : 2) : (is_again ? 4 : 1)};
}

static void write_series(FILE *file, const struct report_plot *plot, size_t index)
{
    const struct report_series *series = &plot->series[index];
    const struct pen pen = pen_of(plot, index);
    (void)fputs("    ", file);
    write_string(file, plot->name);
    (void)fprintf(file,
                  ".'.tsv' using ($1==%zu ? $2/%" PRIu64 ".0 : NaN):($3/%" PRIu64
                  ".0) with %s dashtype %" PRIu32 " linewidth 2 linecolor rgb '%s' title ",
                  index + 1,
                  plot->x.shown_size,
                  plot->y.shown_size,
                  words_of_style(series->style),
                  pen.dash,
                  colours[pen.colour]);
    write_string(file, series->label);
    (void)fputs(" noenhanced", file);
}

static void write_plot(FILE *file, const struct report_plot *plot)
{
    (void)fputs("plot \\\n", file);
    for (size_t i = 0; i < plot->series_count; i++) {
        write_series(file, plot, i);
        const bool is_last = i + 1 == plot->series_count && plot->stretch_count == 0;
        (void)fputs(is_last ? "\n" : ", \\\n", file);
    }
    if (plot->stretch_count > 0) {
        (void)fputs("    NaN with boxes fillcolor rgb '" SHADE "' fillstyle solid noborder title ",
                    file);
        write_string(file, plot->stretch_label);
        (void)fputs(" noenhanced\n", file);
    }
}

static void write_output(FILE *file, const struct report_plot *plot, const char *ending)
{
    (void)fputs("set output ", file);
    write_string(file, plot->name);
    (void)fprintf(file, ".'%s'\n", ending);
}

bool report_plot_script(FILE *file, const struct report_plot *plot)
{
    const struct extent x = extent_of(plot, true);
    const struct extent y = extent_of(plot, false);
    CHECK(plot->series_count > 0);
    (void)fputs("set encoding utf8\nset datafile separator tab\n", file);
    write_title(file, plot);
    write_axis(file, "x", &plot->x);
    write_range(file, "x", &plot->x, &x);
    write_axis(file, "y", &plot->y);
    write_range(file, "y", &plot->y, &y);
    write_look(file, plot);
    write_stretches(file, plot);
    (void)fprintf(file,
                  "set terminal svg size 960,%zu font 'sans,12' background rgb '#ffffff'\n",
                  height_of(plot, 640));
    write_output(file, plot, ".svg");
    write_plot(file, plot);
    (void)fprintf(file,
                  "set terminal pngcairo size 1200,%zu font 'sans,12' background rgb '#ffffff'\n",
                  height_of(plot, 800));
    write_output(file, plot, ".png");
    (void)fputs("replot\nset output\n", file);
    return ferror(file) == 0;
}
