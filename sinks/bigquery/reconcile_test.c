/* Tables that are made fit for rows: looks, creations, changes on condition, and how often.
 * link: sinks/bigquery/table_caller sinks/bigquery/reconcile sinks/bigquery/schema sinks/bigquery/client/classify sinks/bigquery/options
 * link: sinks/parking sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err
 */
#include "sinks/bigquery/reconcile.h"

#include "sinks/base/test.h"

#include <string.h>

#define TABLE       "projects/p/datasets/d/tables/t"
#define EFFECTS_MAX 24

static const struct bigquery_table_field_schema a_column = {
    {(const uint8_t *)"a", 1}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
static const struct bigquery_table_field_schema b_column = {
    {(const uint8_t *)"b", 1}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
static const void *const both_columns[] = {&a_column, &b_column};
static const struct bigquery_table_schema old_schema = {.fields = {both_columns, 1}};
static const struct bigquery_table_schema new_schema = {.fields = {both_columns, 2}};
static const struct retry_schedule schedule = {MS(500), SECONDS(10), 3};

struct rig {
    struct test_memory memory;
    struct allocator allocator;
    struct parking parking;
    struct appender_numbers numbers;
    struct reconcile_options options;
    struct reconcile reconcile;
    struct sink_now now;
    struct sink_effect items[EFFECTS_MAX];
    const struct port_method *method; /* of the call that is open */
    const void *payload;
};

static void begin(struct rig *rig, enum reconcile_what what)
{
    memset(rig, 0, sizeof(*rig));
    rig->allocator = test_allocator(&rig->memory);
    parking_init(&rig->parking, &rig->allocator);
    rig->options = (struct reconcile_options){
        .calls = {.schedule = &schedule, .request_timeout = SECONDS(20)},
        .creates = true,
        .rules = {.allow_new = true},
    };
    rig->now.monotonic = SECONDS(1000);
    reconcile_init(&rig->reconcile, &rig->allocator, &rig->options, &rig->numbers, &rig->parking);
    reconcile_start(&rig->reconcile, what, BYTES_LITERAL(TABLE), &new_schema);
}

static void end(struct rig *rig)
{
    reconcile_fini(&rig->reconcile);
    parking_fini(&rig->parking);
    assert_int_equal(rig->memory.live, 0);
}

/* One step; how it stands, and what was sent. */
static enum reconcile_outcome step(struct rig *rig)
{
    struct sink_effects effects = {.items = rig->items, .capacity = EFFECTS_MAX, .send_room = 4};
    const enum reconcile_outcome outcome = reconcile_advance(&rig->reconcile, &effects);
    rig->method = NULL;
    if (effects.count > 0) {
        assert_int_equal(effects.count, 1);
        assert_int_equal(rig->items[0].kind, SINK_EFFECT_SEND);
        rig->method = rig->items[0].u.send.method;
        rig->payload = rig->items[0].u.send.payload;
    }
    return outcome;
}

static void expect_call(struct rig *rig, const struct port_method *method)
{
    assert_int_equal(step(rig), RECONCILE_OPEN);
    assert_ptr_equal(rig->method, method);
}

static void answer(struct rig *rig,
                   enum port_outcome outcome,
                   enum port_code code,
                   enum bigquery_reason reason,
                   const void *payload)
{
    struct port_answer heard = {.request = rig->reconcile.caller.call,
                                .kind = PORT_ANSWER,
                                .outcome = (uint8_t)outcome,
                                .status = port_status_grpc(code),
                                .payload = payload};
    heard.status.causes[0].reason = (uint16_t)reason;
    assert_true(reconcile_answer(&rig->reconcile, &rig->now, &heard));
}

static void refuse(struct rig *rig, enum port_code code, enum bigquery_reason reason)
{
    answer(rig, PORT_OUTCOME_ERROR, code, reason, NULL);
}

static void show(struct rig *rig, const struct bigquery_table_schema *schema, const char *etag)
{
    const struct bigquery_table table = {.etag = bytes_of_text(etag), .schema = schema};
    answer(rig, PORT_OUTCOME_OK, PORT_OK, BIGQUERY_REASON_NONE, &table);
}

static void done(struct rig *rig)
{
    answer(rig, PORT_OUTCOME_OK, PORT_OK, BIGQUERY_REASON_NONE, NULL);
}

/* A pause within a window, after which the next call leaves. */
static void pass_pause(struct rig *rig, nanos min, nanos max)
{
    assert_int_equal(step(rig), RECONCILE_OPEN);
    assert_null(rig->method);
    assert_int_equal(rig->parking.count, 1);
    assert_int_equal(rig->reconcile.caller.pause.min, rig->now.monotonic + min);
    assert_int_equal(rig->reconcile.caller.pause.max, rig->now.monotonic + max);
    parking_remove(&rig->parking, &rig->reconcile.caller.pause);
    rig->now.monotonic += max;
    assert_true(reconcile_due(&rig->reconcile, &rig->reconcile.caller.pause));
}

static void pass_race(struct rig *rig)
{
    pass_pause(rig, MS(1), MS(500));
}

/* Goal: a table that has all columns is left alone. */
static void a_table_that_fits_is_left_alone(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &new_schema, "e1");
    assert_int_equal(step(&rig), RECONCILE_UNCHANGED);
    assert_null(rig.method);
    end(&rig);
}

/* Goal: what is lacking is added on condition that the table is what was seen. */
static void what_is_lacking_is_added_for_the_etag(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &old_schema, "e1");
    expect_call(&rig, &bigquery_patch_table_method);
    const struct bigquery_patch_table_request *patch = rig.payload;
    assert_bytes_equal(patch->if_match, BYTES_LITERAL("e1"));
    assert_bytes_equal(patch->table_id, BYTES_LITERAL("t"));
    assert_true(port_equal(&bigquery_table_schema_message, patch->table->schema, &new_schema));
    done(&rig);
    assert_int_equal(step(&rig), RECONCILE_UPDATED);
    end(&rig);
}

/* Goal: who loses a race, or does not know, looks again; five times. Method: each answer of a race. */
static void a_lost_race_is_looked_at_again(void **state)
{
    static const struct {
        enum port_code code;
        enum bigquery_reason reason;
    } races[] = {
        {PORT_FAILED_PRECONDITION, BIGQUERY_REASON_CONDITION_NOT_MET},
        {PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE},
        {PORT_PERMISSION_DENIED, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED},
        {PORT_UNAVAILABLE, BIGQUERY_REASON_NONE},
    };
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    for (size_t i = 0; i < ARRAY_COUNT(races); i++) {
        expect_call(&rig, &bigquery_get_table_method);
        show(&rig, &old_schema, "e1");
        expect_call(&rig, &bigquery_patch_table_method);
        refuse(&rig, races[i].code, races[i].reason);
        pass_race(&rig);
    }
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &old_schema, "e2");
    expect_call(&rig, &bigquery_patch_table_method);
    const struct bigquery_patch_table_request *patch = rig.payload;
    assert_bytes_equal(patch->if_match, BYTES_LITERAL("e2"));
    refuse(&rig, PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE);
    assert_int_equal(step(&rig), RECONCILE_FAILED);
    assert_int_equal(rig.reconcile.caller.reason, SINK_REASON_EXHAUSTED);
    end(&rig);
}

/* Goal: an answer that is lost is cleared up by the next look. */
static void a_lost_answer_is_cleared_up_by_a_look(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &old_schema, "e1");
    expect_call(&rig, &bigquery_patch_table_method);
    answer(&rig, PORT_OUTCOME_UNKNOWN, PORT_DEADLINE_EXCEEDED, BIGQUERY_REASON_NONE, NULL);
    pass_race(&rig);
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &new_schema, "e2");
    assert_int_equal(step(&rig), RECONCILE_UNCHANGED);
    end(&rig);
}

/* Goal: a creation is tried again for what is transient and for a rate (ADR-0071), by the schedule. */
static void a_creation_is_tried_again(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_CREATE);
    expect_call(&rig, &bigquery_insert_table_method);
    const struct bigquery_insert_table_request *insert = rig.payload;
    assert_true(port_equal(&bigquery_table_schema_message, insert->table->schema, &new_schema));
    refuse(&rig, PORT_PERMISSION_DENIED, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED);
    pass_pause(&rig, MS(375), MS(625));
    expect_call(&rig, &bigquery_insert_table_method);
    refuse(&rig, PORT_RESOURCE_EXHAUSTED, BIGQUERY_REASON_NONE);
    pass_pause(&rig, MS(750), MS(1250));
    expect_call(&rig, &bigquery_insert_table_method);
    refuse(&rig, PORT_UNAVAILABLE, BIGQUERY_REASON_NONE);
    assert_int_equal(step(&rig), RECONCILE_FAILED);
    assert_int_equal(rig.reconcile.caller.reason, SINK_REASON_EXHAUSTED);
    end(&rig);
}

/* Goal: another who was first is as good; what no retry mends fails. Method: each code of a creation. */
static void a_creation_ends_by_its_code(void **state)
{
    static const struct {
        enum port_code code;
        enum bigquery_reason reason;
        enum reconcile_outcome outcome;
    } cases[] = {
        {PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE, RECONCILE_CREATED},
        {PORT_PERMISSION_DENIED, BIGQUERY_REASON_NONE, RECONCILE_FAILED},
        {PORT_PERMISSION_DENIED, BIGQUERY_REASON_QUOTA_EXCEEDED, RECONCILE_FAILED},
        {PORT_INVALID_ARGUMENT, BIGQUERY_REASON_NONE, RECONCILE_FAILED},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct rig rig;
        begin(&rig, RECONCILE_CREATE);
        expect_call(&rig, &bigquery_insert_table_method);
        refuse(&rig, cases[i].code, cases[i].reason);
        assert_int_equal(step(&rig), cases[i].outcome);
        end(&rig);
    }
}

/* Goal: a table that is not there is created if that is allowed; who was first may have wanted other columns. */
static void a_missing_table_is_created_or_looked_at_again(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    expect_call(&rig, &bigquery_get_table_method);
    refuse(&rig, PORT_NOT_FOUND, BIGQUERY_REASON_NONE);
    expect_call(&rig, &bigquery_insert_table_method);
    refuse(&rig, PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE);
    pass_race(&rig);
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &old_schema, "e1");
    expect_call(&rig, &bigquery_patch_table_method);
    refuse(&rig, PORT_NOT_FOUND, BIGQUERY_REASON_NONE);
    pass_race(&rig);
    expect_call(&rig, &bigquery_get_table_method);
    refuse(&rig, PORT_NOT_FOUND, BIGQUERY_REASON_NONE);
    expect_call(&rig, &bigquery_insert_table_method);
    done(&rig);
    assert_int_equal(step(&rig), RECONCILE_CREATED);
    end(&rig);

    begin(&rig, RECONCILE_COLUMNS);
    rig.options.creates = false;
    expect_call(&rig, &bigquery_get_table_method);
    refuse(&rig, PORT_NOT_FOUND, BIGQUERY_REASON_NONE);
    assert_int_equal(step(&rig), RECONCILE_FAILED);
    end(&rig);
}

/* Goal: what may not be changed fails and names its column. */
static void a_conflict_names_its_column(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    rig.options.rules.allow_new = false;
    expect_call(&rig, &bigquery_get_table_method);
    show(&rig, &old_schema, "e1");
    assert_int_equal(step(&rig), RECONCILE_FAILED);
    assert_int_equal(rig.reconcile.caller.reason, SINK_REASON_CONFIG);
    assert_bytes_equal(rig.reconcile.column, BYTES_LITERAL("b"));
    end(&rig);
}

/* Goal: a look is repeated as a client repeats it, and fails for good otherwise. */
static void a_look_is_tried_again(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    for (uint32_t i = 0; i < 2; i++) {
        expect_call(&rig, &bigquery_get_table_method);
        refuse(&rig, PORT_UNAVAILABLE, BIGQUERY_REASON_NONE);
        pass_pause(&rig, MS(375) << i, MS(625) << i);
    }
    expect_call(&rig, &bigquery_get_table_method);
    refuse(&rig, PORT_PERMISSION_DENIED, BIGQUERY_REASON_NONE);
    assert_int_equal(step(&rig), RECONCILE_FAILED);
    assert_int_equal(rig.reconcile.caller.reason, SINK_REASON_SERVICE);
    end(&rig);
}

/* Goal: a close cancels what is on its way, and the machine can begin anew. */
static void a_close_rests(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, RECONCILE_COLUMNS);
    expect_call(&rig, &bigquery_get_table_method);
    struct sink_effects effects = {.items = rig.items, .capacity = EFFECTS_MAX, .send_room = 4};
    reconcile_close(&rig.reconcile, &effects);
    assert_int_equal(effects.count, 1);
    assert_int_equal(rig.items[0].u.send.kind, PORT_CANCEL);
    reconcile_close(&rig.reconcile, &effects);
    assert_int_equal(effects.count, 1);
    reconcile_start(&rig.reconcile, RECONCILE_CREATE, BYTES_LITERAL(TABLE), &new_schema);
    expect_call(&rig, &bigquery_insert_table_method);
    done(&rig);
    assert_int_equal(step(&rig), RECONCILE_CREATED);
    end(&rig);
}

TEST_MAIN(reconcile,
          TEST(a_table_that_fits_is_left_alone),
          TEST(what_is_lacking_is_added_for_the_etag),
          TEST(a_lost_race_is_looked_at_again),
          TEST(a_lost_answer_is_cleared_up_by_a_look),
          TEST(a_creation_is_tried_again),
          TEST(a_creation_ends_by_its_code),
          TEST(a_missing_table_is_created_or_looked_at_again),
          TEST(a_conflict_names_its_column),
          TEST(a_look_is_tried_again),
          TEST(a_close_rests))
