/* The user's code: payloads are what the service takes, traits do what they say, and effects are
 * recognised by content.
 *
 * link: product
 */
#include "scenarios/wiring/wiring.h"

#include "models/cloudtasks/cloudtasks.h"
#include "scenarios/scenario_reader.h"
#include "scenarios/wiring/catalogue.h"
#include "scenarios/workload.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/bigquery.h"
#include "sinks/port/cloudtasks.h"
#include "sinks/port/generic.h"

#include <string.h>

#define QUEUE       "projects/p/locations/l/queues/q"
#define OTHER_QUEUE "projects/p/locations/l/queues/other"

struct wired {
    struct scenario_store store;
    struct scenario_fault fault;
    struct reader reader;
    struct source_log log;
    struct wiring_input input;
    struct wiring_context *context;
    const struct sink_user *user;
};

static const struct sink_option_value *
default_options(struct wired *wired, const struct sink_option *options, size_t count)
{
    const struct option_table table = {"test", options, count};
    const struct sink_option_value *values = NULL;
    const bool has_queue = count > 0 && strcmp(options[0].key, "queue") == 0;
    json_t *json = has_queue ? json_pack("{s:s}", "queue", QUEUE) : json_object();
    assert_int_equal(options_read(&wired->reader, "options", &table, json, &values), ERR_OK);
    json_decref(json);
    return values;
}

/* Wire the exactly-once sink to records made by some options. */
static void wire(struct wired *wired, const struct workload_options *workload, bool extractor)
{
    *wired = (struct wired){0};
    wired->reader =
        (struct reader){.name = "test", .fault = &wired->fault, .memory = &wired->store};
    const struct sink_type *sink = catalogue_sink(BYTES_LITERAL("cloudtasks-exactly-once"));
    assert_int_equal(workload_generate(&wired->reader, workload, &wired->log), ERR_OK);
    wired->input = (struct wiring_input){
        .sink = sink,
        .sink_options = default_options(wired, sink->options, sink->option_count),
        .model = &cloudtasks_model,
        .model_options =
            default_options(wired, cloudtasks_model.options, cloudtasks_model.option_count),
        .log = &wired->log,
        .extractor = extractor,
        .dead_letter_service = UINT32_MAX,
    };
    assert_int_equal(
        wiring_create(&wired->reader, &wiring_cloudtasks, &wired->input, &wired->context), ERR_OK);
    wired->user = &wired->context->user;
}

static void give_back(struct wired *wired)
{
    scenario_give_all(&wired->store);
}

static record_id identify(const struct wired *wired, struct bytes value)
{
    struct world_guesses guesses = {0};
    return wiring_identify(wired->context, value, digest_bytes(value), &guesses);
}

static const struct workload_options four = {
    .record_count = 4,
    .split_count = 2,
    .keys = WORKLOAD_KEYS_UNIQUE,
    .key_count = 1,
    .key_skew = {0, 1},
    .payload_size = 20,
    .poison_serializer = {0, 1},
    .poison_service = {0, 1},
    .poison_extractor = {0, 1},
    .poison_again = {0, 1},
    .skipped = {0, 1},
    .seed = 1,
};

static const struct cloudtasks_task *
decode(struct bytes payload, void **block, size_t *block_size, const struct allocator *allocator)
{
    assert_int_equal(port_decode(&cloudtasks_task_message, payload, allocator, block, block_size),
                     ERR_OK);
    return *block;
}

/* Goal: the payload is the canonical form of a task that posts the record's value. */
static void payload_is_a_task_with_the_value(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, &four, false);
    const struct allocator allocator = allocator_of_malloc();
    for (uint32_t i = 0; i < 4; i++) {
        const struct sink_record *record = &wired.log.records[i].record;
        struct bytes destination = {0};
        struct bytes payload = {0};
        assert_int_equal(wired.user->resolve(wired.user->context, record, &destination),
                         SINK_USER_OK);
        assert_bytes_equal(destination, BYTES_LITERAL(QUEUE));
        assert_int_equal(wired.user->serialize(wired.user->context, record, destination, &payload),
                         SINK_USER_OK);
        void *block = NULL;
        size_t block_size = 0;
        const struct cloudtasks_task *task = decode(payload, &block, &block_size, &allocator);
        assert_int_equal(task->name.size, 0);
        assert_non_null(task->http_request);
        assert_int_equal(task->http_request->http_method, CLOUDTASKS_POST);
        assert_bytes_equal(task->http_request->body, record->value);
        assert_int_equal(identify(&wired, task->http_request->body), i + 1);
        assert_int_equal(identify(&wired, payload), i + 1);
        allocator_give(&allocator, block, block_size);
    }
    assert_int_equal(identify(&wired, BYTES_LITERAL("r00000001 other")), 0);
    assert_int_equal(identify(&wired, BYTES_LITERAL("")), 0);
    assert_null(wired.user->extract_id);
    give_back(&wired);
}

/* Goal: each trait makes its own callback fail, or the service refuse. Method: all records have it. */
static void traits_do_what_they_say(void **state)
{
    (void)state;
    const struct ratio all = {1, 1};
    for (uint32_t trait = 1; trait <= RECORD_POISON_RESOLVER; trait *= 2) {
        struct workload_options options = four;
        options.poison_serializer = trait == RECORD_POISON_SERIALIZER ? all : four.skipped;
        options.poison_service = trait == RECORD_POISON_SERVICE ? all : four.skipped;
        options.poison_extractor = trait == RECORD_POISON_EXTRACTOR ? all : four.skipped;
        options.skipped = trait == RECORD_SKIPPED ? all : four.skipped;
        options.poison_again = trait == RECORD_POISON_AGAIN ? all : four.skipped;
        options.poison_resolver = trait == RECORD_POISON_RESOLVER ? all : four.skipped;
        struct wired wired;
        wire(&wired, &options, true);
        const struct sink_record *record = &wired.log.records[3].record;
        struct bytes payload = {0};
        struct bytes id = {0};
        const enum sink_user_result serialized =
            wired.user->serialize(wired.user->context, record, BYTES_LITERAL(QUEUE), &payload);
        const enum sink_user_result extracted =
            wired.user->extract_id(wired.user->context, record, &id);
        const enum sink_user_result expected = trait == RECORD_POISON_SERIALIZER ? SINK_USER_FAILED
                                               : trait == RECORD_SKIPPED         ? SINK_USER_NONE
                                                                                 : SINK_USER_OK;
        assert_int_equal(serialized, expected);
        struct bytes destination = {0};
        assert_int_equal(wired.user->resolve(wired.user->context, record, &destination),
                         trait == RECORD_POISON_RESOLVER ? SINK_USER_FAILED : SINK_USER_OK);
        const struct sink_user *again = &wired.context->user_again;
        assert_int_equal(again->serialize(again->context, record, BYTES_LITERAL(QUEUE), &payload),
                         trait == RECORD_POISON_AGAIN ? SINK_USER_FAILED : expected);
        assert_int_equal(extracted,
                         trait == RECORD_POISON_EXTRACTOR ? SINK_USER_FAILED : SINK_USER_OK);
        if (trait == RECORD_POISON_SERVICE) {
            const struct allocator allocator = allocator_of_malloc();
            void *block = NULL;
            size_t block_size = 0;
            const struct cloudtasks_task *task = decode(payload, &block, &block_size, &allocator);
            assert_int_equal(task->http_request->http_method, CLOUDTASKS_GET);
            allocator_give(&allocator, block, block_size);
        }
        give_back(&wired);
    }
}

/* Goal: the extractor gives the key, and nothing where there is none. */
static void extractor_gives_the_key(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, &four, true);
    struct bytes id = {0};
    const struct sink_record *record = &wired.log.records[2].record;
    assert_int_equal(wired.user->extract_id(wired.user->context, record, &id), SINK_USER_OK);
    assert_bytes_equal(id, BYTES_LITERAL("k00000003"));
    give_back(&wired);
    struct workload_options options = four;
    options.keys = WORKLOAD_KEYS_NONE;
    wire(&wired, &options, true);
    record = &wired.log.records[2].record;
    assert_int_equal(wired.user->extract_id(wired.user->context, record, &id), SINK_USER_NONE);
    give_back(&wired);
}

/* Goal: a record that is not from the log is the user's failure, not a read past its end. */
static void foreign_record_is_refused(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, &four, true);
    struct sink_record record = wired.log.records[0].record;
    struct bytes result = {0};
    record.position = 2;
    assert_int_equal(wired.user->extract_id(wired.user->context, &record, &result),
                     SINK_USER_FAILED);
    record.position = UINT64_MAX;
    assert_int_equal(wired.user->serialize(wired.user->context, &record, result, &result),
                     SINK_USER_FAILED);
    record.position = 0;
    record.split = 2;
    assert_int_equal(wired.user->serialize(wired.user->context, &record, result, &result),
                     SINK_USER_FAILED);
    give_back(&wired);
}

/* Goal: rows and entries carry the record's value as it is, and what the store is to refuse carries
 * none. */
static void generic_payloads_are_values(void **state)
{
    (void)state;
    static const struct wiring *const wirings[] = {&wiring_table, &wiring_keyed};
    for (size_t i = 0; i < ARRAY_COUNT(wirings); i++) {
        struct wired wired;
        wire(&wired, &four, false);
        uint8_t memory[64];
        struct byte_writer writer;
        byte_writer_init(&writer, memory, sizeof(memory));
        struct source_record record = wired.log.records[2];
        wirings[i]->serialize(&wired.input, &record, &writer);
        assert_bytes_equal(byte_writer_view(&writer), record.record.value);
        byte_writer_init(&writer, memory, sizeof(memory));
        record.traits = RECORD_POISON_SERVICE;
        wirings[i]->serialize(&wired.input, &record, &writer);
        assert_int_equal(writer.size, 0);
        assert_ptr_equal(wiring_of(wirings[i]->service), wirings[i]);
        give_back(&wired);
    }
}

/* The columns of a description. */
static uint32_t column_count(struct bytes description, const struct allocator *allocator)
{
    void *block = NULL;
    size_t size = 0;
    assert_int_equal(
        port_decode(&bigquery_table_schema_message, description, allocator, &block, &size), ERR_OK);
    const struct bigquery_table_schema *schema = block;
    const uint32_t count = schema->fields.count;
    allocator_give(allocator, block, size);
    return count;
}

/* Goal: from its position on a record has one more column, what has grown stays so, and rows of before are not
 * changed. Method: each record with each version that may be known. */
static void records_grow_at_their_position(void **state)
{
    (void)state;
    struct wired wired;
    struct allocator allocator = allocator_of_malloc();
    wire(&wired, &four, false);
    struct bytes before[4];
    struct wiring_input input = wired.input;
    struct wiring_context *context = NULL;
    assert_int_equal(wiring_create(&wired.reader, &wiring_bigquery, &input, &context), ERR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        before[i] = context->payloads[i];
    }
    input.grows_at = 1;
    assert_int_equal(wiring_create(&wired.reader, &wiring_bigquery, &input, &context), ERR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const struct sink_record *record = &wired.log.records[i].record;
        const bool has_grown = record->position >= 1;
        for (uint64_t known = 0; known < 3; known++) {
            uint64_t version = known;
            struct bytes description = {0};
            assert_int_equal(
                context->user.describe(context, record, (struct bytes){0}, &version, &description),
                SINK_USER_OK);
            assert_int_equal(version, has_grown || known == 2 ? 2 : 1);
            assert_int_equal(column_count(description, &allocator), version + 1);
        }
        assert_int_equal(context->payloads[i].size > before[i].size, has_grown);
        assert_int_equal(memcmp(context->payloads[i].data, before[i].data, before[i].size), 0);
    }
    give_back(&wired);
}

/* Goal: the judge knows how long a unit lives and a commit is remembered. */
static void table_windows_follow_the_options(void **state)
{
    (void)state;
    const struct sink_type *sink = catalogue_sink(BYTES_LITERAL("generic-transactional"));
    const struct model_type *model = catalogue_model(BYTES_LITERAL("table"));
    struct wired wired;
    wire(&wired, &four, false);
    wired.input.sink = sink;
    wired.input.model = model;
    wired.input.sink_options = default_options(&wired, sink->options, sink->option_count);
    wired.input.model_options = default_options(&wired, model->options, model->option_count);
    struct wiring_windows windows = {0};
    wiring_table.windows(&wired.input, &windows);
    assert_int_equal(windows.recovery_window, HOURS(1));
    assert_int_equal(windows.release_max, DAYS(5));
    assert_int_equal(windows.request_timeout, SECONDS(20));
    assert_int_equal(windows.residence, 8 * SECONDS(30));
    assert_int_equal(windows.concurrency_max, 2);
    assert_int_equal(windows.retry[0].attempts_max, 8);
    assert_false(windows.expiry_fails); /* a scenario says where an expiry may end the job */
    give_back(&wired);
}

/* Goal: destinations by split are the model's queues, in turn. */
static void destinations_follow_the_splits(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, &four, false);
    struct sink_option_value values[64];
    assert_true(cloudtasks_model.option_count <= ARRAY_COUNT(values));
    memcpy(values,
           wired.input.model_options,
           cloudtasks_model.option_count * sizeof(struct sink_option_value));
    assert_string_equal(cloudtasks_model.options[0].key, "queue");
    values[0].text = bytes_of_text("  " QUEUE "  " OTHER_QUEUE " ");
    wired.input.model_options = values;
    wired.input.by_split = true;
    struct wiring_context *context = NULL;
    assert_int_equal(wiring_create(&wired.reader, &wiring_cloudtasks, &wired.input, &context),
                     ERR_OK);
    struct bytes destination = {0};
    assert_int_equal(context->user.resolve(context, &wired.log.records[0].record, &destination),
                     SINK_USER_OK);
    assert_bytes_equal(destination, BYTES_LITERAL(QUEUE));
    assert_int_equal(context->user.resolve(context, &wired.log.records[3].record, &destination),
                     SINK_USER_OK);
    assert_bytes_equal(destination, BYTES_LITERAL(OTHER_QUEUE));
    values[0].text = bytes_of_text(" ");
    assert_int_equal(wiring_create(&wired.reader, &wiring_cloudtasks, &wired.input, &context),
                     ERR_OK);
    assert_int_equal(context->user.resolve(context, &wired.log.records[0].record, &destination),
                     SINK_USER_NONE);
    give_back(&wired);
}

/* Goal: windows are those that the protocol states for the default options. */
static void windows_follow_the_protocol(void **state)
{
    (void)state;
    struct wired wired;
    wire(&wired, &four, false);
    struct wiring_windows windows;
    wiring_cloudtasks.windows(&wired.input, &windows);
    assert_int_equal(windows.request_timeout, SECONDS(20));
    assert_int_equal(windows.recovery_window, MINUTES(54) + SECONDS(40));
    assert_int_equal(windows.clock_allowance, MINUTES(5));
    assert_int_equal(windows.protection_window, HOURS(1));
    assert_int_equal(windows.release_max, HOURS(24));
    assert_int_equal(windows.concurrency_max, 1000);
    assert_true(windows.expiry_fails);
    /* 11 attempts of 20 s; pauses of 0.1+0.2+0.4+0.8+1.6+3.2+6.4 and 0.5+1 s, a quarter longer. */
    assert_int_equal(windows.residence, SECONDS(220) + MS(15875) + MS(1875));
    give_back(&wired);
}

/* Goal: the latest release of a name is the last that the model can draw: observed, names outlive a
 * fixed reading by 90 minutes (T4). */
static void the_latest_release_counts_what_was_observed(void **state)
{
    static const struct {
        enum profile profile;
        uint64_t reading;
        nanos ttl;
        nanos latest;
    } cases[] = {
        {PROFILE_DOCUMENTED, 1, 0, HOURS(1)},
        {PROFILE_OBSERVED, 1, 0, HOURS(1) + MINUTES(90)},
        {PROFILE_DOCUMENTED, 2, 0, HOURS(24)},
        {PROFILE_ADVERSARY, 2, 0, HOURS(24)},
        {PROFILE_DOCUMENTED, 3, HOURS(4), HOURS(4)},
        {PROFILE_ADVERSARY, 3, HOURS(4), HOURS(4) + MINUTES(90)},
        {PROFILE_OBSERVED, 3, DAYS(9), DAYS(9) + MINUTES(90)},
        {PROFILE_OBSERVED, 0, HOURS(4), HOURS(24)},
        {PROFILE_DOCUMENTED, 0, HOURS(23), HOURS(24)},
        {PROFILE_OBSERVED, 0, HOURS(23), HOURS(23) + MINUTES(90)},
    };
    struct wired wired;
    struct sink_option_value values[64];
    (void)state;
    wire(&wired, &four, false);
    assert_true(cloudtasks_model.option_count <= ARRAY_COUNT(values));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct wiring_windows windows;
        for (size_t k = 0; k < cloudtasks_model.option_count; k++) {
            const char *key = cloudtasks_model.options[k].key;
            values[k] = wired.input.model_options[k];
            if (strcmp(key, "tombstone_reading") == 0) {
                values[k].number = cases[i].reading;
            } else if (strcmp(key, "tombstone_ttl") == 0) {
                values[k].number = cases[i].ttl;
            }
        }
        struct wiring_input input = wired.input;
        input.model_options = values;
        input.profile = cases[i].profile;
        wiring_cloudtasks.windows(&input, &windows);
        assert_int_equal(windows.release_max, cases[i].latest);
    }
    give_back(&wired);
}

/* What the generic wiring reads of a sink: the names of its options are all it knows. */
static const struct sink_option put_options[] = {
    {.key = "request_timeout", .type = SINK_OPTION_DURATION, .fallback = SECONDS(5)},
    {.key = "retry_max_backoff", .type = SINK_OPTION_DURATION, .fallback = SECONDS(1)},
    {.key = "retry_max_attempts", .type = SINK_OPTION_COUNT, .fallback = 3},
    {.key = "max_in_flight", .type = SINK_OPTION_COUNT, .fallback = 7},
};

/* Wire a sink of the generic store, with or without those options, to the four records. */
static void wire_generic(struct wired *wired, struct sink_type *sink, bool by_split)
{
    wire(wired, &four, false);
    *sink = (struct sink_type){.name = "own", .service = &generic_service};
    if (by_split) {
        sink->options = put_options;
        sink->option_count = ARRAY_COUNT(put_options);
    }
    wired->input.sink = sink;
    wired->input.sink_options = default_options(wired, sink->options, sink->option_count);
    wired->input.by_split = by_split;
    assert_int_equal(wiring_create(&wired->reader, &wiring_generic, &wired->input, &wired->context),
                     ERR_OK);
    wired->user = &wired->context->user;
}

/* Goal: a generic Put carries the record's key and value, which is recognised, and names the store
 * of its split if there are several. Method: decode what the serializer gives. */
static void generic_payload_is_a_put_of_key_and_value(void **state)
{
    const struct allocator allocator = allocator_of_malloc();
    (void)state;
    for (uint32_t by_split = 0; by_split < 2; by_split++) {
        struct wired wired;
        struct sink_type sink;
        wire_generic(&wired, &sink, by_split == 1);
        for (uint32_t i = 0; i < 4; i++) {
            const struct sink_record *record = &wired.log.records[i].record;
            struct bytes destination = {0};
            struct bytes payload = {0};
            void *block = NULL;
            size_t block_size = 0;
            assert_int_equal(wired.user->resolve(wired.context, record, &destination),
                             SINK_USER_OK);
            assert_int_equal(wired.user->serialize(wired.context, record, destination, &payload),
                             SINK_USER_OK);
            assert_int_equal(
                port_decode(&generic_put_request_message, payload, &allocator, &block, &block_size),
                ERR_OK);
            const struct generic_put_request *put = block;
            assert_bytes_equal(put->key, record->key);
            assert_bytes_equal(put->value, record->value);
            assert_int_equal(identify(&wired, put->value), i + 1);
            assert_bytes_equal(put->destination, by_split == 1 ? destination : BYTES_LITERAL(""));
            allocator_give(&allocator, block, block_size);
        }
        give_back(&wired);
    }
}

/* Goal: what a sink of the generic store does not say has a default; what it says counts. */
static void generic_windows_follow_the_options(void **state)
{
    struct wired wired;
    struct sink_type sink;
    struct wiring_windows windows;
    (void)state;
    wire_generic(&wired, &sink, false);
    wiring_generic.windows(&wired.input, &windows);
    assert_int_equal(windows.request_timeout, SECONDS(60));
    assert_int_equal(windows.residence, SECONDS(8 * 70));
    assert_int_equal(windows.concurrency_max, 0);
    give_back(&wired);
    wire_generic(&wired, &sink, true);
    wiring_generic.windows(&wired.input, &windows);
    assert_int_equal(windows.request_timeout, SECONDS(5));
    assert_int_equal(windows.residence, SECONDS(18));
    assert_int_equal(windows.concurrency_max, 7);
    give_back(&wired);
}

TEST_MAIN(wiring,
          TEST(payload_is_a_task_with_the_value),
          TEST(traits_do_what_they_say),
          TEST(extractor_gives_the_key),
          TEST(foreign_record_is_refused),
          TEST(generic_payloads_are_values),
          TEST(records_grow_at_their_position),
          TEST(table_windows_follow_the_options),
          TEST(destinations_follow_the_splits),
          TEST(windows_follow_the_protocol),
          TEST(the_latest_release_counts_what_was_observed),
          TEST(generic_payload_is_a_put_of_key_and_value),
          TEST(generic_windows_follow_the_options))
