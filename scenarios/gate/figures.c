#include "scenarios/gate/figures.h"

#include <inttypes.h>
#include <stdio.h>

#define DECIMALS_MAX 6u
#define DIGITS_MAX   9u

static uint64_t power_of_ten(uint32_t exponent)
{
    uint64_t power = 1;
    for (uint32_t i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

/* Digits and decimals of a text: false when it is no decimal number. */
static bool parse_decimal(const char *text, uint64_t *digits, uint32_t *decimals)
{
    uint32_t count = 0;
    bool has_point = false;
    *digits = 0;
    *decimals = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '.' && !has_point && count > 0) {
            has_point = true;
            continue;
        }
        if (*at < '0' || *at > '9' || count == DIGITS_MAX) {
            return false;
        }
        *digits = *digits * 10 + (uint64_t)(*at - '0');
        *decimals += has_point ? 1 : 0;
        count++;
    }
    return count > 0 && (!has_point || *decimals > 0);
}

bool figure_parse(const char *text, enum figure_scale scale, struct figure *figure)
{
    uint64_t digits = 0;
    uint32_t decimals = 0;
    if (!parse_decimal(text, &digits, &decimals) || decimals > (uint32_t)scale) {
        return false;
    }
    figure->unit = power_of_ten((uint32_t)scale - decimals);
    figure->value = digits * figure->unit;
    return figure->value <= DECISION_FIGURE_MAX;
}

/* --- ranges ------------------------------------------------------------------------------------ */

struct sum {
    uint64_t value;
    uint64_t half_units; /* by which it may be off, either way, in halves */
};

static struct sum sum_of(const struct decision_arm *arm, bool of_latency, uint64_t unit)
{
    struct sum sum = {.half_units = unit * arm->run_count};
    for (uint32_t i = 0; i < arm->run_count; i++) {
        sum.value += of_latency ? arm->runs[i].latency : arm->runs[i].throughput;
    }
    return sum;
}

/* A sum is twice itself here, so that half a unit is whole. */
static uint64_t least_of(struct sum sum)
{
    return 2 * sum.value > sum.half_units ? 2 * sum.value - sum.half_units : 0;
}

static uint64_t most_of(struct sum sum)
{
    return 2 * sum.value + sum.half_units;
}

static struct figures_range
ratio_range(struct sum a, uint32_t a_count, struct sum b, uint32_t b_count)
{
    return (struct figures_range){
        .least = {least_of(a) * b_count, most_of(b) * a_count},
        .most = {most_of(a) * b_count, least_of(b) * a_count},
    };
}

static struct figures_range range_of(const struct figures *figures, bool of_latency)
{
    const struct decision_arm *arms = figures->input->arms;
    const struct decision_arm *candidate = &arms[DECISION_CANDIDATE];
    const struct decision_arm *baseline = &arms[DECISION_BASELINE];
    const struct figures_arm *mine = &figures->arms[DECISION_CANDIDATE];
    const struct figures_arm *theirs = &figures->arms[DECISION_BASELINE];
    return ratio_range(
        sum_of(candidate, of_latency, of_latency ? mine->latency_unit : mine->throughput_unit),
        candidate->run_count,
        sum_of(baseline, of_latency, of_latency ? theirs->latency_unit : theirs->throughput_unit),
        baseline->run_count);
}

struct figures_range figures_throughput_range(const struct figures *figures)
{
    return range_of(figures, false);
}

struct figures_range figures_latency_range(const struct figures *figures)
{
    return range_of(figures, true);
}

struct figures_range figures_variation_range(const struct figures *figures, enum decision_side side)
{
    const struct decision_arm *arm = &figures->input->arms[side];
    const uint64_t unit = figures->arms[side].throughput_unit;
    struct sum spread = {.half_units = 2 * unit};
    uint64_t most = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < arm->run_count; i++) {
        const uint64_t throughput = arm->runs[i].throughput;
        most = throughput > most ? throughput : most;
        least = throughput < least ? throughput : least;
    }
    spread.value = arm->run_count == 0 ? 0 : most - least;
    const struct figures_range range =
        ratio_range(spread, 1, sum_of(arm, false, unit), arm->run_count);
    return (struct figures_range){
        .least = {range.least.numerator * 100, range.least.denominator},
        .most = {range.most.numerator * 100, range.most.denominator},
    };
}

/* --- comparing --------------------------------------------------------------------------------- */

static void print_decimal(uint64_t value, uint32_t decimals, char text[32])
{
    const uint64_t power = power_of_ten(decimals);
    if (decimals == 0) {
        (void)snprintf(text, 32, "%" PRIu64, value);
    } else {
        (void)snprintf(
            text, 32, "%" PRIu64 ".%0*" PRIu64, value / power, (int)decimals, value % power);
    }
}

enum figures_match figures_compare(const char *published,
                                   struct decision_ratio ratio,
                                   struct figures_range range,
                                   char computed[32])
{
    uint64_t digits = 0;
    uint32_t decimals = 0;
    computed[0] = '\0';
    if (!parse_decimal(published, &digits, &decimals) || decimals > DECIMALS_MAX ||
        ratio.denominator == 0) {
        return FIGURES_DIFFER;
    }
    const uint64_t rounded = decision_round(ratio, decimals);
    const uint64_t doubled_power = 2 * power_of_ten(decimals);
    print_decimal(rounded, decimals, computed);
    if (rounded == digits) {
        return FIGURES_EQUAL;
    }
    const bool reaches = decision_at_least(range.most, 2 * digits - (digits > 0), doubled_power);
    const bool stays = decision_at_most(range.least, 2 * digits + 1, doubled_power);
    return reaches && stays ? FIGURES_WITHIN_ROUNDING : FIGURES_DIFFER;
}
