/* Published figures: parsing, and ratios to the printed digit.
 *
 * link: scenarios/gate/figures scenarios/gate/decision
 */
#include "scenarios/gate/figures.h"

#include "sinks/base/test.h"

static void figures_keep_the_unit_of_their_last_digit(void **state)
{
    (void)state;
    struct figure figure;
    assert_true(figure_parse("383.8", FIGURE_MILLI, &figure));
    assert_int_equal(figure.value, 383800);
    assert_int_equal(figure.unit, 100);
    assert_true(figure_parse("53721.1", FIGURE_NANOS, &figure));
    assert_int_equal(figure.value, UINT64_C(53721100000));
    assert_int_equal(figure.unit, 100000);
    assert_true(figure_parse("5", FIGURE_MILLI, &figure));
    assert_int_equal(figure.unit, 1000);
}

static void what_is_no_decimal_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", ".", "1.", ".5", "1.2.3", "-1", "1e3", " 1", "1.2345", "1234567890"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct figure figure;
        assert_false(figure_parse(bad[i], FIGURE_MILLI, &figure));
    }
}

/* Three repetitions of each side, printed as whole numbers. */
static struct figures whole_figures(struct decision_input *input)
{
    static const uint64_t candidate[] = {5563, 5589, 4074};
    struct figures figures = {.input = input};
    *input = (struct decision_input){0};
    for (uint32_t side = 0; side < 2; side++) {
        input->arms[side].run_count = 3;
        figures.arms[side].throughput_unit = 1000;
        for (uint32_t i = 0; i < 3; i++) {
            input->arms[side].runs[i].throughput =
                side == DECISION_CANDIDATE ? candidate[i] * 1000 : 5000000;
        }
    }
    return figures;
}

/* Goal: a digit that differs passes only where the rounding of the figures explains it. Method: F2, whose
 * candidate varies by 29.850 % as printed, and by 29.827 to 29.873 % before it was rounded. */
static void a_digit_may_differ_by_the_rounding_of_its_figures_alone(void **state)
{
    (void)state;
    struct decision_input input;
    char computed[32];
    const struct figures figures = whole_figures(&input);
    const struct decision_ratio percent = {(UINT64_C(5589000) - 4074000) * 3 * 100,
                                           UINT64_C(5563000) + 5589000 + 4074000};
    const struct figures_range range = figures_variation_range(&figures, DECISION_CANDIDATE);
    assert_int_equal(figures_compare("29.9", percent, range, computed), FIGURES_EQUAL);
    assert_int_equal(figures_compare("29.8", percent, range, computed), FIGURES_WITHIN_ROUNDING);
    assert_string_equal(computed, "29.9");
    assert_int_equal(figures_compare("29.7", percent, range, computed), FIGURES_DIFFER);
    assert_int_equal(figures_compare("30.0", percent, range, computed), FIGURES_DIFFER);
    assert_int_equal(figures_compare("29.85", percent, range, computed), FIGURES_EQUAL);
    assert_int_equal(figures_compare("29.83", percent, range, computed), FIGURES_WITHIN_ROUNDING);
    assert_int_equal(figures_compare("29.82", percent, range, computed), FIGURES_DIFFER);
}

static void ratios_of_means_have_a_range_too(void **state)
{
    (void)state;
    struct decision_input input;
    char computed[32];
    const struct figures figures = whole_figures(&input);
    const struct decision_ratio ratio = {15226, 15000};
    const struct figures_range range = figures_throughput_range(&figures);
    assert_int_equal(figures_compare("1.015", ratio, range, computed), FIGURES_EQUAL);
    assert_int_equal(figures_compare("1.0152", ratio, range, computed), FIGURES_WITHIN_ROUNDING);
    assert_int_equal(figures_compare("1.014", ratio, range, computed), FIGURES_DIFFER);
    assert_int_equal(figures_compare("1.015", (struct decision_ratio){1, 0}, range, computed),
                     FIGURES_DIFFER);
    assert_int_equal(figures_compare("about 1", ratio, range, computed), FIGURES_DIFFER);
}

TEST_MAIN(figures,
          TEST(figures_keep_the_unit_of_their_last_digit),
          TEST(what_is_no_decimal_is_refused),
          TEST(a_digit_may_differ_by_the_rounding_of_its_figures_alone),
          TEST(ratios_of_means_have_a_range_too))
