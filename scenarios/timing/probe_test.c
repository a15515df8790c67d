/* What is said of a constraint is what happens: over margins around its boundary, the worst run breaks
 * something exactly where the margin is negative.
 *
 * link: product
 */
#include "scenarios/timing/probe.h"

#include "scenarios/wiring/catalogue.h"
#include "sinks/base/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 4000u
#define QUEUE    "projects/p/locations/l/queues/q"

/* A scenario with one number left open, and the constraint that the number decides. */
struct boundary {
    const char *constraint;
    const char *json; /* with @ in the place of the number, in ns */
    nanos at;         /* the number with margin 0 */
    nanos step;       /* that its option can be told apart by */
};

struct probed {
    int64_t margin;
    bool fails;
    uint32_t runs;
    char oracle[48];
};

static struct probed probe_at(const struct boundary *boundary, nanos number)
{
    char json[2048];
    const char *place = strchr(boundary->json, '@');
    struct text_pool texts = {0};
    struct scenario_fault fault = {{0}};
    struct timing_constraints constraints;
    struct timing_shown shown;
    (void)snprintf(json,
                   sizeof(json),
                   "%.*s%" PRIu64 "%s",
                   (int)(place - boundary->json),
                   boundary->json,
                   number,
                   place + 1);
    const struct timing_source source = {bytes_of_text(json), {.name = boundary->constraint}};
    struct scenario *scenario = NULL;
    if (scenario_create(source.json, &source.options, &scenario, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    timing_constraints_of(scenario, &constraints);
    const struct timing_constraint *found =
        timing_constraint_find(&constraints, boundary->constraint);
    assert_non_null(found);
    if (timing_probe(&texts, &source, found, RUNS_MAX, &shown, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    struct probed probed = {.margin = found->margin, .fails = shown.is_shown, .runs = shown.runs};
    (void)snprintf(
        probed.oracle, sizeof(probed.oracle), "%s", shown.is_refused ? "refused" : shown.oracle);
    assert_true(shown.is_shown || shown.all_tried);
    scenario_destroy(scenario);
    text_pool_fini(&texts);
    return probed;
}

/* clang-format off */
static const struct boundary boundaries[] = {
    /* A unit of the table lives until the commit that a restart makes: spacing 1 s, duration 0.2 s,
     * detection 0.1 s, restart 2 s. */
    {"unit_ttl",
     "{\"schema\": 1, \"sink\": {\"type\": \"generic-transactional\", \"options\": {\"max_batch_rows\": 1}},"
     " \"models\": [{\"type\": \"table\", \"options\": {\"unit_ttl_ns\": @}}],"
     " \"workload\": {\"records\": 4, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 600, \"downtimes\": [\"short\"], \"detection_ms\": 100, \"restart\": {\"delay_ms\": 2000},"
     " \"checkpoint\": {\"interval_ms\": 1000, \"duration_ms\": 200}}}",
     MS(3300) + 1, 1},
    /* Its history knows a commit until a restart repeats it: spacing 1 s, a barrier that
     * waits 2 ms, recovery 2.1 s, and 2 ms until it is read. */
    {"history_retention",
     "{\"schema\": 1, \"sink\": {\"type\": \"generic-transactional\", \"options\": {\"max_batch_rows\": 1}},"
     " \"models\": [{\"type\": \"table\", \"options\": {\"history_retention_ns\": @}}],"
     " \"workload\": {\"records\": 8, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 400, \"downtimes\": [\"short\"], \"detection_ms\": 100, \"restart\": {\"delay_ms\": 2000},"
     " \"checkpoint\": {\"interval_ms\": 1000}}}",
     MS(3104) + 1, 1},
    /* An envelope may be sent until its deadline: 2 spacings and 30 min 100 ms of recovery, 5 min and
     * 20 s of allowances. */
    {"replay_horizon",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"verify_queue_retention\": false, \"name_retention_ns\": @}},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 600, \"downtimes\": [\"short\"], \"detection_ms\": 100, \"restart\": {\"delay_ms\": 1800000},"
     " \"checkpoint\": {\"interval_ms\": 1000}}}",
     SECONDS(2) + MINUTES(30) + MS(100) + MINUTES(5) + SECONDS(20) + 1, MS(1)},
    /* A removed task's name is held until a replay asks for it: spacing 1 s, a barrier that
     * waits 2 ms, recovery 2 h. */
    {"name_protection",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once-named\", \"options\": {\"queue\": \"" QUEUE "\"},"
     " \"extractor\": true},"
     " \"models\": [{\"type\": \"cloudtasks\", \"options\": {\"tombstone_reading\": \"fixed_ttl\","
     " \"dispatch_latency_ms\": 0, \"tombstone_ttl_ns\": @}}],"
     " \"workload\": {\"records\": 3},"
     " \"engine\": {\"record_interval_ms\": 500, \"restart\": {\"delay_ms\": 7200000},"
     " \"checkpoint\": {\"interval_ms\": 1000}}}",
     HOURS(2) + MS(1002) + 1, 1},
    /* What no checkpoint covers is read again: spacing 1 s, recovery 2.1 s. */
    {"source_retention",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"verify_queue_retention\": false}},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"source\": {\"retention_ns\": @}, \"record_interval_ms\": 600, \"downtimes\": [\"short\"],"
     " \"detection_ms\": 100, \"restart\": {\"delay_ms\": 2000}, \"checkpoint\": {\"interval_ms\": 1000}}}",
     MS(3100) + 1, 1},
    /* A request that is lost twice, and answered just before its third deadline: 3 s, and pauses of up
     * to 125 ms. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"request_timeout_ms\": 1000, \"retry_max_attempts\": 3, \"not_found_max_attempts\": 1,"
     " \"retry_initial_backoff_ms\": 100, \"retry_max_backoff_ms\": 100}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999},"
     " \"workload\": {\"records\": 3},"
     " \"engine\": {\"record_interval_ms\": 10000,"
     " \"checkpoint\": {\"interval_ms\": 10000, \"timeout_ns\": @}}}",
     MS(3250), 1},
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once-named\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"request_timeout_ms\": 1000, \"retry_max_attempts\": 3, \"not_found_max_attempts\": 1,"
     " \"retry_initial_backoff_ms\": 100, \"retry_max_backoff_ms\": 100}, \"extractor\": true},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999},"
     " \"workload\": {\"records\": 3},"
     " \"engine\": {\"record_interval_ms\": 10000,"
     " \"checkpoint\": {\"interval_ms\": 10000, \"timeout_ns\": @}}}",
     MS(3250), 1},
    /* The same of a commit: the next barrier comes 1 s behind its beginning. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"verify_queue_retention\": false, \"request_timeout_ms\": 1000, \"retry_max_attempts\": 3,"
     " \"not_found_max_attempts\": 1, \"retry_initial_backoff_ms\": 100, \"retry_max_backoff_ms\": 100}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 10000,"
     " \"checkpoint\": {\"interval_ms\": 1000, \"timeout_ns\": @}}}",
     MS(2250), 1},
    /* A writer's stream is made at the first barrier, and its rows are appended on a new connection: 501 ms of
     * the call; an append that is lost twice, sent again at once and behind a pause of up to 125 ms, and
     * answered just before it counts as lost for the third time. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-exactly-once\", \"options\": {"
     "\"response_timeout_ns\": 1000000001, \"request_timeout_ns\": 501000001, \"retry_max_attempts\": 1,"
     " \"recovery_max_attempts\": 3, \"recovery_initial_backoff_ms\": 50, \"recovery_max_backoff_ms\": 100}},"
     " \"models\": [{\"type\": \"bigquery\"}],"
     " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 499},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 20000, \"checkpoint\": {\"interval_ms\": 20000, \"timeout_ns\": @}}}",
     MS(501) + 3 * (SECONDS(1) + 1) + MS(125), 1},
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-committed\", \"options\": {"
     "\"response_timeout_ns\": 1000000001, \"request_timeout_ns\": 501000001, \"retry_max_attempts\": 1,"
     " \"recovery_max_attempts\": 3, \"recovery_initial_backoff_ms\": 50, \"recovery_max_backoff_ms\": 100}},"
     " \"models\": [{\"type\": \"bigquery\"}],"
     " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 499},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 20000, \"checkpoint\": {\"interval_ms\": 20000, \"timeout_ns\": @}}}",
     MS(501) + 3 * (SECONDS(1) + 1) + MS(125), 1},
    /* A default stream is there; three attempts of a repair, behind the append that is repaired. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-at-least-once\", \"options\": {"
     "\"response_timeout_ns\": 1000000001, \"retry_max_attempts\": 1,"
     " \"recovery_max_attempts\": 3, \"recovery_initial_backoff_ms\": 50, \"recovery_max_backoff_ms\": 100}},"
     " \"models\": [{\"type\": \"bigquery\"}],"
     " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 499},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 20000, \"checkpoint\": {\"interval_ms\": 20000, \"timeout_ns\": @}}}",
     4 * (SECONDS(1) + 1) + 62500000 + MS(125), 1},
    /* A batch that is lost twice, and answered just before its third deadline: 3 s, and pauses of up to
     * 62.5 and 125 ms. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"generic-idempotent\", \"options\": {\"request_timeout_ms\": 1000,"
     " \"retry_max_attempts\": 3, \"retry_initial_backoff_ms\": 50, \"retry_max_backoff_ms\": 100}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999}, \"workload\": {\"records\": 3},"
     " \"engine\": {\"record_interval_ms\": 10000, \"checkpoint\": {\"interval_ms\": 10000, \"timeout_ns\": @}}}",
     SECONDS(3) + 62500000 + MS(125), 1},
    /* The same of a batch that is staged. */
    {"retry_budget",
     "{\"schema\": 1, \"sink\": {\"type\": \"generic-transactional\", \"options\": {\"request_timeout_ms\": 1000,"
     " \"retry_max_attempts\": 3, \"retry_initial_backoff_ms\": 50, \"retry_max_backoff_ms\": 100}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 10000, \"checkpoint\": {\"interval_ms\": 10000, \"timeout_ns\": @}}}",
     SECONDS(3) + 62500000 + MS(125), 1},
    /* A file that is stored just before its deadline, which is not tried again. */
    {"barrier_stores_files",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-file-loads\", \"options\": {"
     "\"staging_path\": \"gs://staging/s\", \"request_timeout_ms\": 1000, \"min_checkpoint_interval_ms\": 1000}},"
     " \"models\": [{\"type\": \"bigquery\"}, {\"type\": \"storage\"}],"
     " \"link\": {\"latency_ms\": 1, \"service_time_ns\": 997999999},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 60000, \"checkpoint\": {\"interval_ms\": 60000, \"timeout_ns\": @}}}",
     SECONDS(1), 1},
    /* A row that comes right behind a barrier waits in its stream, without traffic, for the flush that a
     * restart makes: spacing 1 s, duration 0.2005 s, detection 0.1 s, restart 2 s. */
    {"stream_lifetime",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-exactly-once\", \"options\": {\"max_append_bytes\": 1}},"
     " \"models\": [{\"type\": \"bigquery\", \"options\": {\"buffered_ttl_ns\": @}}],"
     " \"workload\": {\"records\": 4, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ns\": 2000000001, \"downtimes\": [\"short\"], \"detection_ms\": 100,"
     " \"restart\": {\"delay_ms\": 2000}, \"checkpoint\": {\"interval_ms\": 1000, \"duration_ns\": 200500000}}}",
     3300500001, MS(1)},
    /* An object is read at the end of the load that a restart starts: spacing 1 s, duration 0.2005 s, detection
     * 0.1 s, restart 2 s, three look-ups of 2 ms, the first two of them twice, and a load of 10 ms. */
    {"object_lifetime",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-file-loads\", \"options\": {\"staging_path\": \"gs://staging/s\","
     " \"min_checkpoint_interval_ms\": 500, \"max_staging_file_bytes\": 1}},"
     " \"models\": [{\"type\": \"bigquery\", \"options\": {\"job_time_ms\": 10}},"
     " {\"type\": \"storage\", \"options\": {\"object_lifetime_ns\": @}}],"
     " \"workload\": {\"records\": 4, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ns\": 2000000001, \"downtimes\": [\"short\"], \"detection_ms\": 100,"
     " \"restart\": {\"delay_ms\": 2000}, \"checkpoint\": {\"interval_ms\": 1000, \"duration_ns\": 200500000}}}",
     3320500001, MS(1)},
    /* The same where it is configured where jobs run, which leaves one look-up out, and a link of 3 ms. */
    {"object_lifetime",
     "{\"schema\": 1, \"sink\": {\"type\": \"bigquery-file-loads\", \"options\": {\"staging_path\": \"gs://staging/s\","
     " \"min_checkpoint_interval_ms\": 500, \"max_staging_file_bytes\": 1, \"location\": \"US\"}},"
     " \"models\": [{\"type\": \"bigquery\", \"options\": {\"job_time_ms\": 100}},"
     " {\"type\": \"storage\", \"options\": {\"object_lifetime_ns\": @}}],"
     " \"link\": {\"latency_ms\": 3},"
     " \"workload\": {\"records\": 4, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ns\": 2000000001, \"downtimes\": [\"short\"], \"detection_ms\": 100,"
     " \"restart\": {\"delay_ms\": 2000}, \"checkpoint\": {\"interval_ms\": 1000, \"duration_ns\": 200500000}}}",
     3418500001, MS(1)},
    /* 6 records of 1 s each, one after another, and a checkpoint every 2 s. */
    {"commit_drain",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"verify_queue_retention\": false, \"max_in_flight_tasks\": 1}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 998},"
     " \"workload\": {\"records\": 6, \"keys\": \"none\"},"
     " \"engine\": {\"record_interval_ms\": 300,"
     " \"checkpoint\": {\"interval_ms\": 2000, \"timeout_ns\": @}}}",
     SECONDS(4) + 1, 1},
    /* One that writes at once: a burst of 4, 2 at a time. */
    {"commit_drain",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-at-least-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"max_in_flight_tasks\": 2}},"
     " \"link\": {\"latency_ms\": 1, \"service_time_ms\": 998},"
     " \"workload\": {\"records\": 8},"
     " \"engine\": {\"record_interval_ms\": 3000, \"burst\": 4,"
     " \"checkpoint\": {\"interval_ms\": 3000, \"timeout_ns\": @}}}",
     SECONDS(2) + 1, 1},
    {"checkpoint_duration",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\"}},"
     " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
     " \"engine\": {\"checkpoint\": {\"interval_ms\": 1000, \"duration_ms\": 700, \"timeout_ns\": @}}}",
     MS(700) + 1, 1},
    /* Refused before anything is sent. */
    {"recovery_window",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"name_retention_ns\": @}}, \"workload\": {\"keys\": \"none\"}}",
     MINUTES(5) + SECONDS(20) + 1, MS(1)},
    {"queue_retention",
     "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": \"" QUEUE "\","
     " \"name_retention_ms\": 7200000}},"
     " \"models\": [{\"type\": \"cloudtasks\", \"options\": {\"tombstone_reading\": \"fixed_ttl\","
     " \"tombstone_ttl_ns\": @}}], \"workload\": {\"keys\": \"none\"}}",
     HOURS(2), MS(1)},
};
/* clang-format on */

/* The clocks of two attempts that differ by twice the number: more than is allowed for, and the job comes
 * back when the name is released and a slow clock still lets the envelope be sent. */
static const struct boundary clocks = {
    "late_send",
    "{\"schema\": 1, \"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\": {\"queue\": "
    "\"" QUEUE "\","
    " \"name_retention_ms\": 3600000, \"clock_skew_allowance_ms\": 300000}},"
    " \"models\": [{\"type\": \"cloudtasks\", \"options\": {\"tombstone_reading\": \"fixed_ttl\","
    " \"tombstone_ttl_ms\": 3600000}}],"
    " \"workload\": {\"records\": 3, \"keys\": \"none\"},"
    " \"engine\": {\"clock_offset_ns\": @, \"record_interval_ms\": 600, \"downtimes\": [\"short\"],"
    " \"restart\": {\"delay_ms\": 3900000}, \"checkpoint\": {\"interval_ms\": 1000}}}",
    0,
    0};

/* Goal: the margin is exact, and its sign is what a run shows. Method: each number a step, many and very
 * many steps on either side of its boundary. */
static void a_run_fails_exactly_where_the_margin_is_negative(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(boundaries); i++) {
        const struct boundary *boundary = &boundaries[i];
        const nanos at = (boundary->at + boundary->step - 1) / boundary->step * boundary->step;
        const nanos distances[] = {
            0, 1, 2, 1000, MS(20) / boundary->step, MS(150) / boundary->step};
        for (size_t k = 0; k < 2 * ARRAY_COUNT(distances); k++) {
            const nanos distance = distances[k / 2] * boundary->step;
            const nanos number = k % 2 == 0 ? at + distance : at - distance - boundary->step;
            const struct probed probed = probe_at(boundary, number);
            const int64_t margin = (int64_t)number - (int64_t)boundary->at;
            if (probed.margin != margin || probed.fails != (margin < 0)) {
                fail_msg("%s #%zu: with %" PRIu64 " ns the margin is %" PRId64 " where %" PRId64
                         " is right, and the worst run %s %s",
                         boundary->constraint,
                         i,
                         number,
                         probed.margin,
                         margin,
                         probed.fails ? "breaks" : "holds",
                         probed.oracle);
            }
        }
    }
}

/* Goal: what a crash breaks by itself is not held against the clocks. */
static void clocks_beyond_the_allowance_send_too_late(void **state)
{
    (void)state;
    const struct probed apart = probe_at(&clocks, MINUTES(10));
    assert_true(apart.margin == -(int64_t)MINUTES(15));
    assert_true(apart.fails);
    assert_string_equal(apart.oracle, "deadline-respected");
    const struct probed together = probe_at(&clocks, MINUTES(2));
    assert_true(together.margin == (int64_t)MINUTES(1));
    assert_false(together.fails);
}

/* Whether the margin of a rule of a sink or a model is looked at around its boundary. */
static bool is_covered(const char *type, const char *constraint)
{
    char named[80];
    (void)snprintf(named, sizeof(named), "{\"type\": \"%s\"", type);
    for (size_t i = 0; i <= ARRAY_COUNT(boundaries); i++) {
        const struct boundary *boundary = i < ARRAY_COUNT(boundaries) ? &boundaries[i] : &clocks;
        if (strcmp(boundary->constraint, constraint) == 0 &&
            strstr(boundary->json, named) != NULL) {
            return true;
        }
    }
    return false;
}

/* Goal: no rule is declared whose margin nobody has tried. Method: all sinks and models that there are. */
static void every_rule_of_every_sink_and_model_is_tried(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        for (size_t k = 0; k < catalogue_sinks[i]->timing_count; k++) {
            if (!is_covered(catalogue_sinks[i]->name, catalogue_sinks[i]->timings[k].name)) {
                fail_msg("%s: %s", catalogue_sinks[i]->name, catalogue_sinks[i]->timings[k].name);
            }
        }
    }
    for (size_t i = 0; i < catalogue_model_count; i++) {
        for (size_t k = 0; k < catalogue_models[i]->timing_count; k++) {
            if (!is_covered(catalogue_models[i]->name, catalogue_models[i]->timings[k].name)) {
                fail_msg("%s: %s", catalogue_models[i]->name, catalogue_models[i]->timings[k].name);
            }
        }
    }
}

TEST_MAIN(probe,
          TEST(every_rule_of_every_sink_and_model_is_tried),
          TEST(a_run_fails_exactly_where_the_margin_is_negative),
          TEST(clocks_beyond_the_allowance_send_too_late))
