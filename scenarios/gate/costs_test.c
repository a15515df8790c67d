/* Costs: the shipped files are complete, and a bad one is refused.
 *
 * link: product
 */
#include "scenarios/gate/costs.h"

#include "scenarios/cli/files.h"
#include "sinks/base/test.h"

#include <string.h>

#define SHIPPED "scenarios/gate/costs-region.json"

static struct costs read_costs(struct text_pool *texts, const char *name)
{
    struct costs costs;
    assert_int_equal(costs_read(texts, name, &costs), STATUS_OK);
    return costs;
}

static void every_shipped_number_has_a_source(void **state)
{
    (void)state;
    static const char *const names[] = {"region", "remote"};
    struct text_pool texts = {0};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        const struct costs costs = read_costs(&texts, names[i]);
        assert_string_equal(costs.name, names[i]);
        assert_int_not_equal(costs.digest, 0);
        for (uint32_t k = 0; k < COST_COUNT; k++) {
            assert_true(costs.all[k].count > 0);
            assert_true(strlen(costs.all[k].source) > 10);
        }
    }
    text_pool_fini(&texts);
}

/* The shipped file with one place changed. */
static enum status
read_changed(struct text_pool *texts, const char *old, const char *new, struct costs *costs)
{
    struct bytes content = {0};
    assert_int_equal(file_read(texts, SHIPPED, &content), ERR_OK);
    const char *whole = text_copy(texts, content);
    const char *at = strstr(whole, old);
    assert_non_null(at);
    const char *text =
        text_format(texts, "%.*s%s%s", (int)(at - whole), whole, new, at + strlen(old));
    assert_int_equal(file_write("build/changed-costs.json", bytes_of_text(text)), ERR_OK);
    return costs_read(texts, "build/changed-costs.json", costs);
}

/* Goal: two reports with one digest had the same inputs. */
static void the_digest_is_of_numbers_kinds_and_sources(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"[2050000]", "[2050001]"},
        {"22000000, 24000000", "24000000, 22000000"},
        {"\"MODEL\"", "\"MEASURED\""},
        {"half of 4.1 ms", "half of 4.2 ms"},
    };
    struct text_pool texts = {0};
    const struct costs shipped = read_costs(&texts, "region");
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        struct costs costs;
        assert_int_equal(read_changed(&texts, changes[i][0], changes[i][1], &costs), STATUS_OK);
        assert_int_not_equal(costs.digest, shipped.digest);
    }
    text_pool_fini(&texts);
}

static void bad_costs_are_refused(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"[2050000]", "[0]"},
        {"[2050000]", "[]"},
        {"[2050000]", "[1, 2]"},
        {"[2050000]", "[60000000001]"},
        {"[2050000]", "[1.5]"},
        {"\"leg_ns\"", "\"leg_ms\""},
        {"\"leg_ns\"", "\"name_latency_ns\""},
        {"\"MODEL\"", "\"GUESSED\""},
        {"\"kind\"", "\"sort\""},
        {"half of 4.1 ms, the in-zone round trip (p50) that section 13.9 offers as input; it was "
         "measured on another service",
         ""},
        {"\"schema\": 1", "\"schema\": 2"},
        {"\"title\"", "\"subtitle\""},
        {"\"costs\": [",
         "\"costs\": ["
         "],"},
    };
    struct text_pool texts = {0};
    struct costs costs;
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        assert_int_equal(read_changed(&texts, changes[i][0], changes[i][1], &costs), STATUS_USAGE);
    }
    assert_int_equal(costs_read(&texts, "nowhere", &costs), STATUS_USAGE);
    text_pool_fini(&texts);
}

/* Goal: latencies and processor time are varied apart, and nothing else is. */
static void variants_scale_their_own_costs(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    const struct costs costs = read_costs(&texts, "region");
    const struct costs slow = costs_varied(&costs, COSTS_LATENCY_DOUBLED);
    const struct costs quick = costs_varied(&costs, COSTS_LATENCY_HALVED);
    const struct costs busy = costs_varied(&costs, COSTS_CPU_DOUBLED);
    assert_int_equal(costs_value(&slow, COST_LEG), 2 * costs_value(&costs, COST_LEG));
    assert_int_equal(2 * costs_value(&quick, COST_LEG), costs_value(&costs, COST_LEG));
    assert_int_equal(slow.all[COST_SERVICE_TIMES].values[15], 48000000);
    assert_int_equal(costs_service_mean(&slow, 2048), 2 * costs_service_mean(&costs, 2048));
    assert_int_equal(costs_value(&slow, COST_CPU_PER_EVENT),
                     costs_value(&costs, COST_CPU_PER_EVENT));
    assert_int_equal(costs_cpu_per_event(&busy, 4096), 2 * costs_cpu_per_event(&costs, 4096));
    assert_int_equal(costs_value(&busy, COST_LEG), costs_value(&costs, COST_LEG));
    assert_int_equal(costs_value(&slow, COST_PARALLELISM), costs_value(&costs, COST_PARALLELISM));
    text_pool_fini(&texts);
}

TEST_MAIN(costs,
          TEST(every_shipped_number_has_a_source),
          TEST(the_digest_is_of_numbers_kinds_and_sources),
          TEST(bad_costs_are_refused),
          TEST(variants_scale_their_own_costs))
