/* Which constraints a scenario has, what they are made of, and that a table of a service that nobody
 * here knows is taken as it is.
 *
 * link: product
 */
#include "scenarios/timing/constraint.h"

#include "scenarios/wiring/catalogue.h"
#include "sinks/base/test.h"
#include "sinks/port/table.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "projects/p/locations/l/queues/q"

static struct scenario *create(const char *json)
{
    struct scenario *scenario = NULL;
    struct scenario_fault fault = {{0}};
    const struct scenario_options options = {.name = "test"};
    if (scenario_create(bytes_of_text(json), &options, &scenario, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return scenario;
}

static struct timing_facts facts_of(const char *json)
{
    struct scenario *scenario = create(json);
    struct timing_facts facts;
    timing_facts_of(scenario, &facts);
    scenario_destroy(scenario);
    return facts;
}

/* Goal: drain N * l / c, and the longest wait of a barrier by it. 4000 records of 180 ms come between two
 * barriers of a minute (7.7 of the sink protocols). */
static void a_drain_is_requests_by_concurrency_times_latency(void **state)
{
    (void)state;
    const char *const settings[] = {"4", "16"};
    const nanos drains[] = {SECONDS(180), SECONDS(45)};
    const nanos waits[] = {SECONDS(180), 0};
    for (size_t i = 0; i < ARRAY_COUNT(settings); i++) {
        char json[1024];
        (void)snprintf(
            json,
            sizeof(json),
            "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\":"
            " {\"queue\": \"" QUEUE "\", \"max_in_flight_tasks\": %s}},"
            " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 178},"
            " \"workload\": {\"records\": 8000, \"keys\": \"none\"},"
            " \"engine\": {\"record_interval_ns\": 15000001,"
            " \"checkpoint\": {\"interval_ms\": 60000}}}",
            settings[i]);
        const struct timing_facts facts = facts_of(json);
        assert_int_equal(facts.records, 4000);
        assert_true(facts.request == MS(180));
        assert_true(facts.drain == drains[i]);
        assert_true(facts.wait == waits[i]);
    }
}

/* Goal: TM-1b: spacings and durations by interval, duration and checkpoints at once. */
static void spacings_follow_from_durations(void **state)
{
    (void)state;
    const struct {
        unsigned interval;
        unsigned duration;
        unsigned concurrent;
        unsigned spacing;
    } cases[] = {
        {10, 10, 1, 10}, {10, 1, 1, 10}, {20, 10, 1, 20}, {10, 20, 1, 20}, {10, 20, 2, 10}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char json[1024];
        (void)snprintf(
            json,
            sizeof(json),
            "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\":"
            " {\"queue\": \"" QUEUE "\"}}, \"workload\": {\"records\": 300, \"keys\": \"none\"},"
            " \"engine\": {\"record_interval_ms\": 500, \"checkpoint\": {\"interval_ms\": %u000,"
            " \"duration_ms\": %u000, \"concurrent\": %u}}}",
            cases[i].interval,
            cases[i].duration,
            cases[i].concurrent);
        const struct timing_facts facts = facts_of(json);
        assert_true(facts.spacing == SECONDS(cases[i].spacing));
        assert_true(facts.duration == SECONDS(cases[i].duration));
        assert_true(facts.open == SECONDS(cases[i].spacing + cases[i].duration));
    }
}

/* Goal: the worst residence of a request is what the sink protocols say (4.5). */
static void a_budget_is_all_attempts_and_pauses(void **state)
{
    (void)state;
    const struct timing_facts facts =
        facts_of("{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\":"
                 " {\"queue\": \"" QUEUE "\"}}, \"workload\": {\"keys\": \"none\"}}");
    assert_true(facts.budget >= SECONDS(200 + 17));
    assert_true(facts.budget <= SECONDS(200 + 18));
}

/* --- a service of tomorrow ----------------------------------------------------------------------- */

enum {
    TOMORROW_STREAM_TTL,
    TOMORROW_IDLE_ABORT
};

static const struct sink_option tomorrow_options[] = {
    {.key = "stream_ttl",
     .type = SINK_OPTION_DURATION,
     .min = 0,
     .max = INT64_MAX,
     .sentence = "t"},
    {.key = "idle_abort",
     .type = SINK_OPTION_DURATION,
     .min = 0,
     .max = INT64_MAX,
     .sentence = "i"},
};

static const struct sink_timing tomorrow_timings[] = {
    {.name = "stream_lifetime",
     .clause = "T-1",
     .left = {{.fact = SINK_TIMING_OPTION, .option = TOMORROW_STREAM_TTL}},
     .right = {{.fact = SINK_TIMING_FIRST_COMMIT}},
     .sentence = "s"},
    {.name = "idle_abort",
     .clause = "T-2",
     .left = {{.fact = SINK_TIMING_OPTION, .option = TOMORROW_IDLE_ABORT}},
     .right = {{.fact = SINK_TIMING_OPEN}},
     .sentence = "s"},
    {.name = "broker_maximum",
     .clause = "T-3",
     .left = {{.fact = SINK_TIMING_OPTION, .option = TOMORROW_STREAM_TTL}},
     .right = {{.fact = SINK_TIMING_OPTION, .key = "request_timeout"}},
     .or_equal = true,
     .sentence = "s"},
    {.name = "unheard_of",
     .clause = "T-4",
     .left = {{.fact = SINK_TIMING_OPTION, .option = TOMORROW_STREAM_TTL}},
     .right = {{.fact = SINK_TIMING_OPTION, .key = "no_such_option"}},
     .sentence = "s"},
};

/* Goal: a rule may be about any service that the sink calls. Method: a sink that calls a second service,
 * and a rule with an option of that one. */
static void a_rule_finds_the_options_of_further_services(void **state)
{
    (void)state;
    static const struct sink_timing timings[] = {
        {.name = "elsewhere",
         .clause = "T-5",
         .left = {{.fact = SINK_TIMING_OPTION, .key = "unit_ttl"}},
         .right = {{.fact = SINK_TIMING_FIRST_COMMIT}},
         .sentence = "s"},
    };
    const struct port_service *const further[] = {&table_service};
    struct sink_type own = *catalogue_sink(BYTES_LITERAL("generic-staged"));
    own.further_services = further;
    own.further_service_count = 1;
    own.timings = timings;
    own.timing_count = ARRAY_COUNT(timings);
    struct scenario *scenario = NULL;
    struct scenario_fault fault = {{0}};
    const struct scenario_options options = {.name = "test", .sink_or_null = &own};
    assert_int_equal(scenario_create(BYTES_LITERAL("{\"schema\": 1, \"sink\": {\"type\": \"x\"}}"),
                                     &options,
                                     &scenario,
                                     &fault),
                     ERR_OK);
    struct timing_constraints found;
    timing_constraints_of(scenario, &found);
    const struct timing_constraint *elsewhere = timing_constraint_find(&found, "elsewhere");
    assert_non_null(elsewhere);
    assert_true(elsewhere->left[0].value == HOURS(1));
    scenario_destroy(scenario);
}

/* Goal: a service's constraints are its data alone. Method: give the service of a scenario a table of its
 * own, with lifetimes that no service here has. */
static void a_new_service_brings_its_constraints_as_data(void **state)
{
    (void)state;
    struct scenario *scenario =
        create("{\"schema\": 1, \"sink\": {\"type\": \"generic-transactional\"},"
               " \"engine\": {\"downtimes\": [\"short\"], \"restart\": {\"delay_ms\": 2000},"
               " \"checkpoint\": {\"interval_ms\": 1000, \"duration_ms\": 500}}}");
    struct model_type tomorrow = *scenario->config.services[0].type;
    const struct sink_option_value values[] = {{.number = SECONDS(3)}, {.number = SECONDS(2)}};
    tomorrow.name = "tomorrow";
    tomorrow.options = tomorrow_options;
    tomorrow.option_count = ARRAY_COUNT(tomorrow_options);
    tomorrow.timings = tomorrow_timings;
    tomorrow.timing_count = ARRAY_COUNT(tomorrow_timings);
    scenario->config.services[0].type = &tomorrow;
    scenario->config.services[0].options = values;
    struct timing_constraints found;
    timing_constraints_of(scenario, &found);
    const struct timing_constraint *stream = timing_constraint_find(&found, "stream_lifetime");
    const struct timing_constraint *idle = timing_constraint_find(&found, "idle_abort");
    const struct timing_constraint *maximum = timing_constraint_find(&found, "broker_maximum");
    assert_ptr_equal(maximum, &found.items[0]);
    assert_ptr_equal(stream, &found.items[1]);
    assert_true(stream->margin == -(int64_t)MS(500) - 1);
    assert_int_equal(stream->shape, TIMING_SHAPE_CRASH);
    assert_string_equal(stream->owner, "tomorrow");
    assert_string_equal(stream->left[0].name, "stream_ttl");
    assert_true(idle->margin == (int64_t)MS(500) - 1);
    assert_true(maximum->margin == -(int64_t)SECONDS(17));
    assert_null(timing_constraint_find(&found, "unheard_of"));
    scenario_destroy(scenario);
}

static void the_worst_margin_comes_first(void **state)
{
    (void)state;
    struct scenario *scenario =
        create("{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\":"
               " {\"queue\": \"" QUEUE "\"}}, \"workload\": {\"keys\": \"none\"}}");
    struct timing_constraints found;
    timing_constraints_of(scenario, &found);
    assert_true(found.count >= 6);
    for (uint32_t i = 1; i < found.count; i++) {
        assert_true(found.items[i - 1].margin <= found.items[i].margin);
    }
    scenario_destroy(scenario);
}

static void without_checkpoints_there_is_nothing_to_hold(void **state)
{
    (void)state;
    struct scenario *scenario =
        create("{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once\", \"options\":"
               " {\"queue\": \"" QUEUE "\"}}, \"engine\": {\"checkpoint\": {\"enabled\": false}}}");
    struct timing_constraints found;
    timing_constraints_of(scenario, &found);
    assert_int_equal(found.count, 0);
    scenario_destroy(scenario);
}

/* Goal: every table that is shipped can be read. */
static void shipped_tables_are_sound(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        for (uint32_t k = 0; k < catalogue_sinks[i]->timing_count; k++) {
            assert_null(
                timing_fault_of(&catalogue_sinks[i]->timings[k], catalogue_sinks[i]->option_count));
            count++;
        }
    }
    for (size_t i = 0; i < catalogue_model_count; i++) {
        for (size_t k = 0; k < catalogue_models[i]->timing_count; k++) {
            assert_null(timing_fault_of(&catalogue_models[i]->timings[k],
                                        catalogue_models[i]->option_count));
            count++;
        }
    }
    assert_in_range(count, 12, 64);
    const struct sink_timing nameless = {.clause = "c", .sentence = "s"};
    const struct sink_timing wild = {.name = "n",
                                     .clause = "c",
                                     .sentence = "s",
                                     .left = {{.fact = SINK_TIMING_OPTION, .option = 7}},
                                     .right = {{.fact = SINK_TIMING_OPEN}}};
    assert_non_null(timing_fault_of(&nameless, 0));
    assert_non_null(timing_fault_of(&wild, 7));
    assert_null(timing_fault_of(&wild, 8));
}

TEST_MAIN(constraint,
          TEST(a_drain_is_requests_by_concurrency_times_latency),
          TEST(spacings_follow_from_durations),
          TEST(a_budget_is_all_attempts_and_pauses),
          TEST(a_rule_finds_the_options_of_further_services),
          TEST(a_new_service_brings_its_constraints_as_data),
          TEST(the_worst_margin_comes_first),
          TEST(without_checkpoints_there_is_nothing_to_hold),
          TEST(shipped_tables_are_sound))
