/* Tables and scripts of plots: whole texts of a small literal, hostile names in it.
 * link: reports/plot reports/escape reports/report_testkit
 */
#include "reports/plot.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t x_values[] = {1000000, 2500000};
static const uint64_t y_values[] = {0, 18446744073709551615u};

static const struct report_series series[] = {
    {.label = "it's `date` $(x) " KIT_HOSTILE,
     .style = REPORT_SERIES_STEPS,
     .x = x_values,
     .y = y_values,
     .count = 2},
    {.label = "empty", .style = REPORT_SERIES_DASHED, .count = 0},
    {.label = "one", .style = REPORT_SERIES_POINTS, .x = x_values, .y = x_values, .count = 1},
};

static const struct report_stretch stretches[] = {{1000000, 1500000}};

static const struct report_plot plot = {
    .name = "kit",
    .title = "A title's `title`",
    .subtitle = "of " KIT_HOSTILE,
    .facts = "profile documented, digest 0x1",
    .x = {.label = "time", .unit = "ns", .shown = "ms", .shown_size = 1000000, .log_base = 10},
    .y = {.label = "records", .unit = "records", .shown = "", .shown_size = 1},
    .series = series,
    .series_count = 3,
    .stretches = stretches,
    .stretch_count = 1,
    .stretch_label = "down",
};

static void a_table_holds_integers_and_names_what_they_are(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_plot_table(file, &plot));
    kit_assert_golden(file, "plot.tsv");
}

/* Goal: a name draws what it is called, and runs nothing: gnuplot substitutes backquotes everywhere but
 * in single quotes. */
static void a_script_quotes_what_it_is_given(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_plot_script(file, &plot));
    kit_assert_golden(file, "plot.gp");
}

static void a_linear_axis_begins_at_zero_even_where_all_is_zero(void **state)
{
    (void)state;
    struct report_series flat = series[2];
    struct report_plot zero = plot;
    static const uint64_t nothing[] = {0};
    flat.y = nothing;
    zero.series = &flat;
    zero.series_count = 1;
    zero.stretch_count = 0;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_plot_script(file, &zero));
    char *text = kit_read(file);
    assert_non_null(strstr(text, "set yrange [0:1.0/1*1.05]\n"));
    assert_null(strstr(text, "boxes"));
    free(text);
}

static void a_stream_that_takes_nothing_is_told(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/full", "w");
    if (file == NULL) {
        skip();
    }
    (void)setvbuf(file, NULL, _IONBF, 0);
    assert_false(report_plot_table(file, &plot));
    assert_false(report_plot_script(file, &plot));
    (void)fclose(file);
}

TEST_MAIN(plot,
          TEST(a_table_holds_integers_and_names_what_they_are),
          TEST(a_script_quotes_what_it_is_given),
          TEST(a_linear_axis_begins_at_zero_even_where_all_is_zero),
          TEST(a_stream_that_takes_nothing_is_told))
