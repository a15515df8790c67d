/* The scenario reader: what is allowed loads and means what it says, and everything else is one
 * clear line that names the place.
 *
 * link: product
 */
#include "scenarios/scenario.h"

#include "scenarios/marks.h"
#include "scenarios/scenario_fields.h"
#include "scenarios/scenario_reader.h"
#include "scenarios/wiring/catalogue.h"
#include "sinks/base/test.h"
#include "sinks/port/generic.h"
#include "sinks/port/table.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACTLY_ONCE "cloudtasks/exactly-once"

static const struct scenario_options test_options = {.name = "test.json"};

/* --- help ---------------------------------------------------------------------------------------- */

/* A message is one line of printable UTF-8 that begins with the file's name. */
static void assert_is_one_line(const char *message, const char *name)
{
    assert_true(message[0] != '\0');
    assert_memory_equal(message, name, strlen(name));
    assert_true(bytes_is_utf8(bytes_of_text(message)));
    for (size_t i = 0; message[i] != '\0'; i++) {
        assert_true((unsigned char)message[i] >= 0x20);
    }
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
    }
}

/* Read a text that must be refused, and return the message. */
static enum err read_refused(struct bytes json, struct scenario_fault *fault)
{
    struct scenario *scenario = NULL;
    const enum err err = scenario_create(json, &test_options, &scenario, fault);
    assert_int_not_equal(err, ERR_OK);
    assert_null(scenario);
    assert_is_one_line(fault->message, "test.json: ");
    return err;
}

static void assert_refused(const char *json, const char *part)
{
    struct scenario_fault fault;
    (void)read_refused(bytes_of_text(json), &fault);
    assert_contains(fault.message, part);
}

static struct scenario *read_valid(struct bytes json)
{
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    const enum err err = scenario_create(json, &test_options, &scenario, &fault);
    if (err != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return scenario;
}

static struct scenario *load_valid(const char *path)
{
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    const struct scenario_options options = {0};
    const enum err err = scenario_load(path, &options, &scenario, &fault);
    if (err != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return scenario;
}

/* The bytes of a shipped scenario; free them. */
static struct bytes read_shipped(const char *name)
{
    char path[1024];
    assert_true(scenario_find(name, path, sizeof(path)));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(65536);
    assert_non_null(data);
    const size_t size = fread(data, 1, 65536, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size > 0 && size < 65536);
    return (struct bytes){data, size};
}

static void give_back(struct bytes bytes)
{
    free((uint8_t *)(uintptr_t)bytes.data);
}

/* --- the smallest scenario, built up ------------------------------------------------------------- */

static json_t *smallest(void)
{
    json_t *root = json_pack("{s:i, s:{s:s, s:{s:s}}}",
                             "schema",
                             1,
                             "sink",
                             "type",
                             "cloudtasks-exactly-once",
                             "options",
                             "queue",
                             "projects/p/locations/l/queues/q");
    assert_non_null(root);
    return root;
}

/* The object that a field stands in, made as needed. */
static json_t *object_of(json_t *root, enum field_id field)
{
    enum field_id chain[4];
    uint32_t depth = 0;
    for (enum field_id at = scenario_fields[field].parent; at != FIELD_ROOT;
         at = scenario_fields[at].parent) {
        assert_true(depth < ARRAY_COUNT(chain));
        chain[depth] = at;
        depth++;
    }
    json_t *object = root;
    while (depth > 0) {
        depth--;
        const char *key = scenario_fields[chain[depth]].key;
        if (json_object_get(object, key) == NULL) {
            assert_int_equal(json_object_set_new(object, key, json_object()), 0);
        }
        object = json_object_get(object, key);
    }
    return object;
}

/* Read the smallest scenario with one more value, which must be refused with the field's path. */
static void assert_value_refused(enum field_id field, const char *key, json_t *value)
{
    json_t *root = smallest();
    assert_int_equal(json_object_set_new(object_of(root, field), key, value), 0);
    char *text = json_dumps(root, JSON_COMPACT);
    struct scenario_fault fault;
    (void)read_refused(bytes_of_text(text), &fault);
    assert_contains(fault.message, key);
    assert_contains(fault.message, "allowed: ");
    free(text);
    json_decref(root);
}

static bool is_in_list(enum field_id field)
{
    return scenario_fields[scenario_fields[field].parent].type == FIELD_TYPE_LIST;
}

static void key_in_ns(enum field_id field, char key[64])
{
    const bool is_duration = scenario_fields[field].type == FIELD_TYPE_DURATION;
    (void)snprintf(key, 64, "%s%s", scenario_fields[field].key, is_duration ? "_ns" : "");
}

/* --- reading ------------------------------------------------------------------------------------- */

/* Goal: what a file leaves out has the default of fields.def. Method: the smallest scenario. */
static void smallest_scenario_has_defaults(void **state)
{
    (void)state;
    json_t *root = smallest();
    char *text = json_dumps(root, 0);
    struct scenario *scenario = read_valid(bytes_of_text(text));
    const struct run_config *config = &scenario->config;
    assert_string_equal(scenario->name, "test.json");
    assert_string_equal(config->job.sink->name, "cloudtasks-exactly-once");
    assert_int_equal(config->service_count, 1);
    assert_string_equal(config->services[0].type->name, "cloudtasks");
    assert_int_equal(config->job.log->record_count, 16);
    assert_int_equal(config->job.checkpoint_interval, SECONDS(1));
    assert_int_equal(config->job.restart_attempts, 10);
    assert_true(config->job.chained);
    assert_true(config->job.checkpointing);
    assert_int_equal(config->faults.cap[FAULT_CRASH], 2);
    assert_int_equal(config->faults.cap_total, 8);
    assert_int_equal(config->arena_soft_cap, 8 << 20);
    assert_int_equal(config->facts.request_timeout, SECONDS(20));
    assert_int_equal(config->facts.recovery_window, MINUTES(54) + SECONDS(40));
    assert_int_equal(config->facts.dead_letter_service, UINT32_MAX);
    assert_true(config->facts.staged);
    assert_true(config->facts.expiry_fails);
    assert_int_equal(scenario->expectation, EXPECT_HOLDS);
    assert_false(scenario->has_tape);
    scenario_destroy(scenario);
    free(text);
    json_decref(root);
}

/* Goal: no cut of a file is taken for a whole one. Method: cut a real one at every byte. */
static void truncated_scenario_is_one_line(void **state)
{
    (void)state;
    const struct bytes json = read_shipped(EXACTLY_ONCE);
    size_t end = json.size;
    while (json.data[end - 1] == '\n') {
        end--;
    }
    for (size_t size = 0; size < end; size++) {
        uint8_t *copy = malloc(size + 1); /* exact, so that a read past it shows */
        assert_non_null(copy);
        memcpy(copy, json.data, size);
        struct scenario_fault fault;
        const enum err err = read_refused((struct bytes){copy, size}, &fault);
        assert_true(err == ERR_TRUNCATED || err == ERR_INVALID);
        free(copy);
    }
    give_back(json);
}

/* Goal: a damaged file is refused with one line, or is another valid scenario. Method: change every
 * byte of a real one in four ways. */
static void changed_byte_is_one_line_or_valid(void **state)
{
    (void)state;
    static const uint8_t changes[] = {0x01, 0x20, 0x80, 0xff};
    const struct bytes json = read_shipped(EXACTLY_ONCE);
    uint8_t *copy = malloc(json.size);
    assert_non_null(copy);
    for (size_t i = 0; i < json.size * ARRAY_COUNT(changes); i++) {
        memcpy(copy, json.data, json.size);
        copy[i / ARRAY_COUNT(changes)] ^= changes[i % ARRAY_COUNT(changes)];
        struct scenario *scenario = NULL;
        struct scenario_fault fault;
        const enum err err =
            scenario_create((struct bytes){copy, json.size}, &test_options, &scenario, &fault);
        if (err == ERR_OK) {
            assert_true(scenario->config.job.log->record_count > 0);
            scenario_destroy(scenario);
        } else {
            assert_is_one_line(fault.message, "test.json: ");
        }
    }
    free(copy);
    give_back(json);
}

/* Goal: each number has the bounds that the table states. Method: one beyond each of them. */
static void number_out_of_range_is_refused(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        const struct field *field = &scenario_fields[i];
        const bool is_number =
            field->type == FIELD_TYPE_COUNT || field->type == FIELD_TYPE_DURATION;
        if (!is_number || is_in_list((enum field_id)i)) {
            continue;
        }
        char key[64];
        key_in_ns((enum field_id)i, key);
        assert_value_refused((enum field_id)i, key, json_integer(-1));
        if (field->min > 0) {
            assert_value_refused((enum field_id)i, key, json_integer((json_int_t)field->min - 1));
        }
        if (field->max < INT64_MAX) {
            assert_value_refused((enum field_id)i, key, json_integer((json_int_t)field->max + 1));
        }
    }
}

/* Goal: no value of another type is taken. Method: each field with a value of every JSON type that
 * it does not have. */
static void value_of_another_type_is_refused(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        if (is_in_list((enum field_id)i)) {
            continue;
        }
        const uint8_t type = scenario_fields[i].type;
        char key[64];
        key_in_ns((enum field_id)i, key);
        assert_value_refused((enum field_id)i, key, json_null());
        assert_value_refused((enum field_id)i, key, json_real(1.5));
        if (type != FIELD_TYPE_BOOL) {
            assert_value_refused((enum field_id)i, key, json_true());
        }
        if (type != FIELD_TYPE_TEXT && type != FIELD_TYPE_LINES) {
            assert_value_refused((enum field_id)i, key, json_string("no such thing"));
        }
        if (type != FIELD_TYPE_COUNT && type != FIELD_TYPE_DURATION) {
            assert_value_refused((enum field_id)i, key, json_integer(1));
        }
    }
}

/* Goal: a duration without a unit, or with another one, is never guessed. */
static void wrong_unit_is_refused(void **state)
{
    (void)state;
    static const char *const units[] = {"", "_s", "_us", "_min", "_h"};
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        if (scenario_fields[i].type != FIELD_TYPE_DURATION) {
            continue;
        }
        for (size_t k = 0; k < ARRAY_COUNT(units); k++) {
            char key[64];
            (void)snprintf(key, sizeof(key), "%s%s", scenario_fields[i].key, units[k]);
            assert_value_refused((enum field_id)i, key, json_integer(1000));
        }
    }
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{"
                   "\"queue\":\"projects/p/locations/l/queues/q\",\"name_retention\":5}}}",
                   "sink.options.name_retention: unit missing or unknown; allowed: "
                   "name_retention_ms or name_retention_ns");
}

/* Goal: the two units mean the same duration. */
static void milliseconds_and_nanoseconds_agree(void **state)
{
    (void)state;
    static const char *const keys[] = {"delay_ms", "delay_ns"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        json_t *root = smallest();
        json_t *restart = object_of(root, FIELD_RESTART_DELAY);
        const json_int_t number = i == 0 ? 1500 : 1500000000;
        assert_int_equal(json_object_set_new(restart, keys[i], json_integer(number)), 0);
        char *text = json_dumps(root, 0);
        struct scenario *scenario = read_valid(bytes_of_text(text));
        assert_int_equal(scenario->config.job.restart_delay, MS(1500));
        scenario_destroy(scenario);
        free(text);
        json_decref(root);
    }
}

/* Goal: a key that is given twice is an error, also under two units. */
static void duplicate_key_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"schema\":1,\"schema\":1}", "duplicate object key");
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"a\"},\"sink\":{\"type\":\"a\"}}",
                   "duplicate object key");
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\"},"
                   "\"race_window_ms\":1,\"race_window_ns\":1}",
                   "race_window_ns: given twice");
}

/* Goal: an unknown key is an error at every level, and the line lists the known ones. */
static void unknown_key_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        if (scenario_fields[i].type == FIELD_TYPE_OBJECT) {
            assert_value_refused((enum field_id)(i + 1), "surprise", json_integer(1));
        }
    }
    assert_refused("{\"schema\":1,\"sinc\":{}}", "test.json: sinc: unknown key; allowed: schema");
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{"
                   "\"queueue\":1}}}",
                   "sink.options.queueue: unknown option; allowed: of cloudtasks-exactly-once: "
                   "queue, ");
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{"
                   "\"queue\":\"projects/p/locations/l/queues/q\"}},\"models\":[{\"type\":"
                   "\"cloudtasks\"},{\"type\":\"generic\",\"what\":1}]}",
                   "models[1].what: unknown key; allowed: type, options");
}

/* Goal: what must be given and is not has a line of its own. */
static void missing_field_is_refused(void **state)
{
    (void)state;
    assert_refused("{}", "schema: missing");
    assert_refused("{\"schema\":1}", "sink: missing");
    assert_refused("{\"schema\":1,\"sink\":{}}", "sink.type: missing");
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\"}}",
                   "sink.options.queue: missing");
    assert_refused("[]", "not a JSON object");
    assert_refused("", "test.json: line 1");
}

/* Goal: a file of a later format is told apart from a wrong one. */
static void later_version_is_told_apart(void **state)
{
    (void)state;
    struct scenario_fault fault;
    const char *json = "{\"schema\":2,\"something\":{}}";
    assert_int_equal(read_refused(bytes_of_text(json), &fault), ERR_VERSION);
    assert_contains(fault.message, "schema: 2; allowed: 1");
}

/* Goal: the parser's recursion is bounded by us. */
static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char json[4096];
    memset(json, '[', sizeof(json) - 1);
    json[sizeof(json) - 1] = '\0';
    assert_refused(json, "nested too deep; allowed: 16 levels");
    /* Brackets in texts do not count. */
    assert_refused("{\"schema\":1,\"title\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[\"}", "sink: missing");
}

/* Goal: names are looked up, and a wrong one lists the right ones. Method: every kind of name. */
static void unknown_name_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        const char *part;
    } cases[] = {
        {"\"models\":[{\"type\":\"cloudtask\"}]",
         "models[0].type: \"cloudtask\"; allowed: cloudtasks"},
        {"\"models\":[{\"type\":\"generic\"}]", "models: none of the service"},
        {"\"policy\":\"dead_letter\",\"models\":[{\"type\":\"cloudtasks\"}]",
         "policy: dead_letter"},
        {"\"workload\":{\"grows_at\":1}",
         "workload.grows_at: does not go with sink.type; allowed: a sink of a service that is "
         "told"},
        {"\"policy\":\"dropp\"", "policy: \"dropp\"; allowed: fail, drop, dead_letter"},
        {"\"faults\":{\"kinds\":[\"all\",\"-crush\"]}",
         "faults.kinds[1]: \"crush\"; allowed: order"},
        {"\"faults\":{\"caps\":{\"crush\":1}}", "faults.caps.crush: \"crush\"; allowed: order"},
        {"\"faults\":{\"caps\":{\"crash\":0}}", "faults.caps.crash: 0; allowed: a whole number"},
        {"\"oracles\":[\"livenes\"]", "oracles[0]: \"livenes\"; allowed: checkpoint-durable"},
        {"\"oracles\":[\"liveness\",\"liveness\"]", "oracles[1]: \"liveness\"; allowed: each"},
        {"\"oracle\":\"x\"", "oracle: \"x\"; allowed: checkpoint-durable"},
        {"\"reader\":\"nobody\"", "reader: \"nobody\"; allowed: task, handler"},
        {"\"stop_reasons\":[\"bored\"]", "stop_reasons[0]: \"bored\"; allowed: "},
        {"\"engine\":{\"downtimes\":[\"long\"]}", "downtimes[0]: \"long\"; allowed: short"},
        {"\"engine\":{\"rescale_to\":[1,2,3,4,5]}", "engine.rescale_to: 5 numbers; allowed"},
        {"\"link\":{\"service_times_ns\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}",
         "link.service_times_ns: 17 numbers; allowed: up to 16"},
        {"\"link\":{\"service_times_ns\":[0]}", "link.service_times_ns: 0; allowed"},
        {"\"link\":{\"service_times_ns\":[1],\"service_time_ms\":1}",
         "link.service_times_ns: does not go with link.service_time; allowed: one of them"},
        {"\"engine\":{\"rescale_to\":[17]}", "engine.rescale_to: 17; allowed"},
        {"\"engine\":{\"barriers\":\"never\"}",
         "engine.barriers: \"never\"; allowed: exactly_once"},
        {"\"engine\":{\"savepoint\":{\"at\":\"noon\"}}", "engine.savepoint.at: \"noon\"; allowed"},
        {"\"engine\":{\"next_sink\":{\"type\":\"x\"}}", "engine.next_sink.type: \"x\"; allowed"},
        {"\"engine\":{\"next_sink\":{\"type\":\"generic\"}}",
         "engine.next_sink.type: \"generic\"; allowed"},
        {"\"engine\":{\"next_sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{\"x\":1}}}",
         "engine.next_sink.options"},
        {"\"engine\":{\"source\":{\"keeps\":\"some\"}}", "engine.source.keeps: \"some\"; allowed"},
        {"\"engine\":{\"restart\":{\"region\":\"half\"}}",
         "engine.restart.region: \"half\"; allowed: whole, subtask"},
        {"\"engine\":{\"sources\":2,\"restart\":{\"region\":\"subtask\"}}",
         "engine.sources: does not go with engine.restart.region subtask; allowed: as many"},
        {"\"engine\":{\"routing\":\"hash\",\"restart\":{\"region\":\"subtask\"}}",
         "engine.routing: does not go with engine.restart.region subtask; allowed: forward"},
        {"\"engine\":{\"rescale_to\":[2],\"restart\":{\"region\":\"subtask\"}}",
         "engine.rescale_to: does not go with engine.restart.region subtask; allowed: none"},
        {"\"excuses\":[\"the dog\"]", "excuses[0]: \"the dog\"; allowed: window_lapsed"},
        {"\"must_reach\":[\"link.paused\",\"link.posed\"]",
         "must_reach[1]: \"link.posed\"; allowed: marks as in list marks"},
        {"\"must_reach\":[\"cloudtasks-at-least-once.opened\"]",
         "must_reach[0]: \"cloudtasks-at-least-once.opened\"; allowed: marks"},
        {"\"digest\":\"123\"", "digest: \"123\"; allowed: a text of 0x"},
        {"\"digest\":\"0x11112222333344445\"", "digest: "},
        {"\"workload\":{\"poison\":{\"service\":\"3/2\"}}", "workload.poison.service: \"3/2\""},
        {"\"workload\":{\"skipped\":\"1/0\"}", "workload.skipped: \"1/0\"; allowed: a ratio"},
        {"\"workload\":{\"skipped\":\"99999999/99999999\"}", "workload.skipped"},
        {"\"workload\":{\"file\":\"x.jsonl\"}", "workload.file: \"x.jsonl\"; allowed: only in"},
        {"\"workload\":{\"records\":1000000,\"payload_bytes\":100000}", "workload.records"},
        {"\"tape\":[\"sinkproof-tape 1\",\"nonsense\"]", "tape: line 2"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char json[512];
        (void)snprintf(json,
                       sizeof(json),
                       "{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{"
                       "\"queue\":\"projects/p/locations/l/queues/q\"}},%s}",
                       cases[i].more);
        assert_refused(json, cases[i].part);
    }
    assert_refused("{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-never\"}}",
                   "sink.type: \"cloudtasks-never\"; allowed: cloudtasks-at-least-once, ");
}

/* Goal: what a message shows of a file cannot break its line. */
static void message_stays_one_line(void **state)
{
    (void)state;
    assert_refused("{\"schema\":1,\"line\\nbreak\\u001b\":1}", "line?break?: unknown key");
    char json[2048];
    (void)snprintf(json, sizeof(json), "{\"schema\":1,\"%01000d\":1}", 7);
    assert_refused(json, "unknown key");
    (void)snprintf(json, sizeof(json), "{\"schema\":1,\"policy\":\"%0900d\"}", 7);
    assert_refused(json, "0...\"; allowed: fail, drop, dead_letter");
    /* Cut inside a sequence. */
    json_t *root = smallest();
    char title[400];
    memset(title, 'x', sizeof(title));
    for (size_t i = 1; i + 2 < sizeof(title); i += 2) {
        memcpy(title + i, "\xc3\xa9", 2);
    }
    title[sizeof(title) - 1] = '\0';
    assert_int_equal(json_object_set_new(root, "policy", json_string(title)), 0);
    char *text = json_dumps(root, 0);
    assert_refused(text, "allowed: fail, drop, dead_letter");
    free(text);
    json_decref(root);
}

/* --- meaning ------------------------------------------------------------------------------------- */

/* Goal: kinds are taken and taken away from left to right. */
static void kinds_are_read_from_left_to_right(void **state)
{
    (void)state;
    json_t *root = smallest();
    json_t *kinds = json_pack("[s,s,s]", "all", "-crash", "-pause");
    assert_int_equal(json_object_set_new(object_of(root, FIELD_FAULTS_KINDS), "kinds", kinds), 0);
    char *text = json_dumps(root, 0);
    struct scenario *scenario = read_valid(bytes_of_text(text));
    const uint32_t bits = scenario->config.faults.kinds;
    assert_int_equal(bits & 1, 0);
    assert_int_equal(bits >> FAULT_CRASH & 1, 0);
    assert_int_equal(bits >> FAULT_PAUSE & 1, 0);
    assert_int_equal(bits >> FAULT_ORDER & 1, 1);
    assert_int_equal(bits >> FAULT_MEMORY & 1, 1);
    scenario_destroy(scenario);
    free(text);
    json_decref(root);
}

/* Goal: classes of downtime stand in the order of what they cross, and only those that are asked for
 * are offered. */
static void downtimes_follow_the_windows(void **state)
{
    (void)state;
    struct scenario *scenario = load_valid("cloudtasks/exactly-once-ct-eo-3");
    const nanos *downtime = scenario->config.job.downtime;
    const struct judge_facts *facts = &scenario->config.facts;
    const nanos error = (nanos)scenario->config.job.clock_offset_max * 2;
    assert_int_equal(downtime[DOWNTIME_SHORT], SECONDS(1));
    assert_true(downtime[DOWNTIME_REQUEST] > facts->request_timeout);
    assert_true(downtime[DOWNTIME_BEFORE_WINDOW] > downtime[DOWNTIME_REQUEST]);
    assert_true(downtime[DOWNTIME_BEFORE_WINDOW] + error < facts->recovery_window);
    assert_true(downtime[DOWNTIME_AFTER_WINDOW] > facts->recovery_window + error);
    assert_true(downtime[DOWNTIME_AFTER_RELEASE] > HOURS(24));
    assert_true(scenario->config.safety_bound > 3 * downtime[DOWNTIME_AFTER_RELEASE]);
    scenario_destroy(scenario);
    scenario = load_valid("cloudtasks/exactly-once-ct-eo-2");
    assert_true(scenario->config.job.downtime[DOWNTIME_REQUEST] > 0);
    assert_int_equal(scenario->config.job.downtime[DOWNTIME_BEFORE_WINDOW], 0);
    assert_int_equal(scenario->config.job.downtime[DOWNTIME_AFTER_RELEASE], 0);
    scenario_destroy(scenario);
}

/* Goal: a regression's tape and digest come through. */
static void tape_and_digest_are_read(void **state)
{
    (void)state;
    json_t *root = smallest();
    json_t *lines = json_pack("[s,s,s,s]",
                              "sinkproof-tape 1",
                              "identity 0x000000000000002a",
                              "engine.notice/task0#0 = lost (1/4)",
                              "end 1");
    assert_int_equal(json_object_set_new(root, "tape", lines), 0);
    assert_int_equal(json_object_set_new(root, "digest", json_string("0xfedcba9876543210")), 0);
    assert_int_equal(json_object_set_new(root, "strict_tape", json_true()), 0);
    char *text = json_dumps(root, 0);
    struct scenario *scenario = read_valid(bytes_of_text(text));
    assert_true(scenario->has_tape);
    assert_true(scenario->strict_tape);
    assert_int_equal(scenario->tape.count, 1);
    assert_int_equal(scenario->tape.identity, 0x2a);
    assert_int_equal(scenario->tape.entries[0].value, 1);
    assert_true(scenario->digest == UINT64_C(0xfedcba9876543210));
    scenario_destroy(scenario);
    free(text);
    json_decref(root);
}

/* Goal: --sink and --profile win over the file. */
static void options_win_over_the_file(void **state)
{
    (void)state;
    json_t *root = smallest();
    char *text = json_dumps(root, 0);
    struct sink_type own = *catalogue_sink(BYTES_LITERAL("cloudtasks-exactly-once"));
    own.name = "my-sink";
    const struct scenario_options options = {
        .name = "x", .sink_or_null = &own, .profile = PROFILE_ADVERSARY, .profile_given = true};
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    assert_int_equal(scenario_create(bytes_of_text(text), &options, &scenario, &fault), ERR_OK);
    assert_ptr_equal(scenario->config.job.sink, &own);
    assert_int_equal(scenario->config.profile, PROFILE_ADVERSARY);
    scenario_destroy(scenario);
    free(text);
    json_decref(root);
}

/* Goal: a sink that calls several services has a model of each. Method: one that names another service,
 * with models by default, as listed, and with one left out. */
static void each_service_of_the_sink_has_a_model(void **state)
{
    (void)state;
    static const char *const jsons[] = {
        "{\"schema\":1,\"sink\":{\"type\":\"generic-staged\"}}",
        "{\"schema\":1,\"sink\":{\"type\":\"generic-staged\"},\"models\":"
        "[{\"type\":\"keyed\"},{\"type\":\"table\"},{\"type\":\"generic\"}]}",
        "{\"schema\":1,\"sink\":{\"type\":\"generic-staged\"},\"models\":"
        "[{\"type\":\"generic\"},{\"type\":\"keyed\"}]}",
    };
    static const uint32_t services[] = {3, 6}; /* bits */
    const struct port_service *const further[] = {&table_service};
    struct sink_type own = *catalogue_sink(BYTES_LITERAL("generic-staged"));
    own.further_services = further;
    own.further_service_count = 1;
    const struct scenario_options options = {.name = "x", .sink_or_null = &own};
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    for (size_t i = 0; i < ARRAY_COUNT(services); i++) {
        assert_int_equal(scenario_create(bytes_of_text(jsons[i]), &options, &scenario, &fault),
                         ERR_OK);
        const struct run_config *config = &scenario->config;
        assert_int_equal(config->facts.sink_services, services[i]);
        assert_ptr_equal(config->services[config->facts.target_service].type->service,
                         &generic_service);
        assert_ptr_equal(config->services[1].type->service, &table_service);
        scenario_destroy(scenario);
    }
    assert_int_equal(scenario_create(bytes_of_text(jsons[2]), &options, &scenario, &fault),
                     ERR_INVALID);
    assert_non_null(strstr(fault.message, "allowed: one of type table"));
}

/* Goal: the profile that the command line asks for decides how long a name may be held (T4). */
static void the_profile_moves_the_latest_release(void **state)
{
    (void)state;
    static const char json[] =
        "{\"schema\":1,\"sink\":{\"type\":\"cloudtasks-exactly-once\",\"options\":{"
        "\"queue\":\"projects/p/locations/l/queues/q\"}},\"models\":[{\"type\":\"cloudtasks\","
        "\"options\":{\"tombstone_reading\":\"about_one_hour\"}}],"
        "\"engine\":{\"downtimes\":[\"after_release\"]}}";
    nanos lengths[PROFILE_COUNT];
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        const struct scenario_options options = {
            .name = "x", .profile = (enum profile)profile, .profile_given = true};
        struct scenario *scenario = NULL;
        struct scenario_fault fault;
        assert_int_equal(scenario_create(bytes_of_text(json), &options, &scenario, &fault), ERR_OK);
        lengths[profile] = scenario->config.job.downtime[DOWNTIME_AFTER_RELEASE];
        scenario_destroy(scenario);
    }
    assert_true(lengths[PROFILE_DOCUMENTED] > HOURS(1));
    assert_int_equal(lengths[PROFILE_OBSERVED], lengths[PROFILE_DOCUMENTED] + MINUTES(90));
    assert_int_equal(lengths[PROFILE_ADVERSARY], lengths[PROFILE_OBSERVED]);
}

/* Goal: a scenario names marks of any kind, and a sink that stands in for its own is not asked for
 * the phases of the other. */
static void marks_that_must_be_reached_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"link.paused",
                                        "cloudtasks.name_live",
                                        "cloudtasks-exactly-once.queue_read",
                                        "crash@sink.committing",
                                        "crash@engine.restoring"};
    json_t *root = smallest();
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        assert_int_equal(json_array_append_new(list, json_string(names[i])), 0);
    }
    assert_int_equal(json_object_set_new(root, "must_reach", list), 0);
    char *text = json_dumps(root, 0);
    struct sink_type own = *catalogue_sink(BYTES_LITERAL("cloudtasks-exactly-once"));
    own.name = "my-sink";
    const struct scenario_options options[] = {{.name = "x"}, {.name = "x", .sink_or_null = &own}};
    for (uint32_t i = 0; i < ARRAY_COUNT(options); i++) {
        struct scenario *scenario = NULL;
        struct scenario_fault fault;
        assert_int_equal(scenario_create(bytes_of_text(text), &options[i], &scenario, &fault),
                         ERR_OK);
        assert_int_equal(scenario->must_count, ARRAY_COUNT(names) - i);
        for (uint32_t k = 0; k < scenario->must_count; k++) {
            char name[MARKS_NAME_SIZE];
            marks_name(&scenario->config, scenario->must_reach[k], name);
            assert_string_equal(name, names[k + (k >= 2 ? i : 0)]);
        }
        scenario_destroy(scenario);
    }
    free(text);
    json_decref(root);
}

/* --- files --------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *ending)
{
    const size_t size = strlen(text);
    const size_t ending_size = strlen(ending);
    return size >= ending_size && strcmp(text + size - ending_size, ending) == 0;
}

/* Load every scenario of a folder; their count. */
static uint32_t load_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    uint32_t count = 0;
    if (directory == NULL) {
        return 0;
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        char path[512];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (ends_with(path, ".json")) {
            struct scenario *scenario = load_valid(path);
            assert_true(scenario->title[0] != '\0');
            assert_true(scenario->config.oracle_count > 0);
            if (scenario->must_count == 0 && scenario->expectation != EXPECT_REFUSED) {
                fail_msg("%s says not which marks it must reach", path);
            }
            scenario_destroy(scenario);
            count++;
        }
    }
    assert_int_equal(closedir(directory), 0);
    return count;
}

/* Goal: everything that is shipped can be read, and says what it is there to reach; a job that is refused
 * reaches nothing. */
static void every_shipped_scenario_loads_and_says_what_it_must_reach(void **state)
{
    (void)state;
    static const char *const folders[] = {"scenarios/bigquery",
                                          "scenarios/bigtable",
                                          "scenarios/spanner",
                                          "scenarios/pubsub",
                                          "scenarios/generic",
                                          "scenarios/regress"};
    assert_true(load_folder("scenarios/cloudtasks") >= 50);
    for (size_t i = 0; i < ARRAY_COUNT(folders); i++) {
        (void)load_folder(folders[i]);
    }
}

/* Goal: a scenario is found by path, and by name with and without its ending. */
static void scenario_is_found_by_path_and_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"cloudtasks/exactly-once",
                                        "cloudtasks/exactly-once.json",
                                        "scenarios/cloudtasks/exactly-once.json",
                                        "./scenarios/cloudtasks/exactly-once.json"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct scenario *scenario = load_valid(names[i]);
        assert_string_equal(scenario->name, "cloudtasks/exactly-once");
        scenario_destroy(scenario);
    }
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    const struct scenario_options options = {0};
    assert_int_equal(scenario_load("cloudtasks/exactly-never", &options, &scenario, &fault),
                     ERR_NOT_FOUND);
    assert_is_one_line(fault.message, "cloudtasks/exactly-never: ");
    assert_int_not_equal(scenario_load("scenarios", &options, &scenario, &fault), ERR_OK);
    assert_is_one_line(fault.message, "scenarios: ");
}

/* --- documentation ------------------------------------------------------------------------------- */

/* Goal: the documentation names every field once, with its bounds and default. */
static void documentation_has_every_field(void **state)
{
    (void)state;
    static uint8_t text[65536];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text) - 1);
    scenario_fields_document(&writer);
    assert_false(writer.overflowed);
    text[writer.size] = '\0';
    const char *document = (const char *)text;
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        char path[READER_PATH_SIZE];
        char cell[READER_PATH_SIZE + 8];
        field_path(NULL, (enum field_id)i, path);
        (void)snprintf(cell, sizeof(cell), "| `%s` |", path);
        const char *found = strstr(document, cell);
        if (found == NULL || strstr(found + 1, cell) != NULL) {
            fail_msg("%s is not there exactly once", cell);
        }
    }
    assert_contains(document,
                    "| `engine.checkpoint.interval_ms` | 1 ms to 1 d | 1 s | from one trigger to "
                    "the next |\n");
    assert_contains(document,
                    "| `policy` | fail, drop, dead_letter | fail | what becomes of a record that "
                    "cannot be written |\n");
    assert_contains(document, "| `workload.seed` | \"0x...\" | 0x1 | ");
}

TEST_MAIN(scenario,
          TEST(smallest_scenario_has_defaults),
          TEST(truncated_scenario_is_one_line),
          TEST(changed_byte_is_one_line_or_valid),
          TEST(number_out_of_range_is_refused),
          TEST(value_of_another_type_is_refused),
          TEST(wrong_unit_is_refused),
          TEST(milliseconds_and_nanoseconds_agree),
          TEST(duplicate_key_is_refused),
          TEST(unknown_key_is_refused_with_the_known_ones),
          TEST(missing_field_is_refused),
          TEST(later_version_is_told_apart),
          TEST(deep_nesting_is_refused),
          TEST(unknown_name_is_refused_with_the_known_ones),
          TEST(message_stays_one_line),
          TEST(kinds_are_read_from_left_to_right),
          TEST(downtimes_follow_the_windows),
          TEST(tape_and_digest_are_read),
          TEST(options_win_over_the_file),
          TEST(each_service_of_the_sink_has_a_model),
          TEST(the_profile_moves_the_latest_release),
          TEST(marks_that_must_be_reached_are_read),
          TEST(every_shipped_scenario_loads_and_says_what_it_must_reach),
          TEST(scenario_is_found_by_path_and_by_name),
          TEST(documentation_has_every_field))
