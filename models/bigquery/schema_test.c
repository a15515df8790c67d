/* A table's columns: who may change them, when the write API hears of it, and what rows are kept.
 *
 * link: models/bigquery/jobs models/bigquery/load models/bigquery/copy models/bigquery/writes
 * link: models/bigquery/others models/bigquery/contents models/bigquery/avro models/storage/storage
 * link: sinks/port/storage
 * link: models/bigquery/bigquery models/bigquery/appends models/bigquery/rows models/bigquery/streams
 * link: models/bigquery/tables models/bigquery/columns models/bigquery/metadata models/bigquery/changes
 * link: models/bigquery/statements
 * link: models/model_testkit sinks/port/bigquery sinks/port/port
 * link: sinks/port/decode sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/bigquery/state.h"
#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/bigquery.h"

#include <string.h>

#define TABLE   "projects/p/datasets/d/tables/t"
#define DEFAULT TABLE "/streams/_default"
#define ANY     ""

/* Columns as a text: a letter each for its name, its type and its mode, "aSn bBr". */
struct columns {
    struct bigquery_table_field_schema fields[8];
    const void *items[8];
    struct bigquery_table_schema schema;
};

static uint32_t type_of(char letter)
{
    return letter == 'S'   ? BIGQUERY_FIELD_STRING
           : letter == 'I' ? BIGQUERY_FIELD_INTEGER
           : letter == 'B' ? BIGQUERY_FIELD_BYTES
                           : BIGQUERY_FIELD_TYPE_NONE;
}

static uint32_t mode_of(char letter)
{
    return letter == 'n'   ? BIGQUERY_FIELD_NULLABLE
           : letter == 'r' ? BIGQUERY_FIELD_REQUIRED
                           : BIGQUERY_FIELD_REPEATED;
}

static const struct bigquery_table_schema *columns_of(struct columns *columns, const char *text)
{
    uint32_t count = 0;
    for (const char *at = text; *at != 0; at += at[3] == 0 ? 3 : 4) {
        columns->fields[count] = (struct bigquery_table_field_schema){
            {(const uint8_t *)at, 1}, type_of(at[1]), mode_of(at[2])};
        columns->items[count] = &columns->fields[count];
        count++;
    }
    columns->schema.fields = (struct port_list){columns->items, count};
    return &columns->schema;
}

static enum port_code insert(struct testkit *kit, const char *text)
{
    struct columns columns;
    const struct bigquery_table_reference reference = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")};
    const struct bigquery_table made = {.table_reference = &reference,
                                        .schema = columns_of(&columns, text)};
    const struct bigquery_insert_table_request request = {
        .project_id = BYTES_LITERAL("p"), .dataset_id = BYTES_LITERAL("d"), .table = &made};
    return testkit_call(kit, &bigquery_insert_table_method, &request);
}

static const struct bigquery_table *get(struct testkit *kit)
{
    const struct bigquery_get_table_request request = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")};
    assert_int_equal(testkit_call(kit, &bigquery_get_table_method, &request), PORT_OK);
    return kit->payload;
}

static enum port_code patch(struct testkit *kit, const char *etag, const char *text)
{
    struct columns columns;
    const struct bigquery_table table = {.schema = columns_of(&columns, text)};
    const struct bigquery_patch_table_request request = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t"), &table, bytes_of_text(etag)};
    return testkit_call(kit, &bigquery_patch_table_method, &request);
}

/* What the table says of its columns, as such a text. */
static const char *columns_answered(const struct testkit *kit, char text[64])
{
    static const char types[] = "?SBI";
    static const char modes[] = "nrp";
    const struct bigquery_table *table = kit->payload;
    size_t at = 0;
    for (uint32_t i = 0; i < table->schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = table->schema->fields.items[i];
        assert_true(at + 5 < 64);
        text[at] = i == 0 ? 0 : ' ';
        at += i == 0 ? 0 : 1;
        text[at] = (char)field->name.data[0];
        text[at + 1] = types[field->type];
        text[at + 2] = modes[field->mode];
        at += 3;
    }
    text[at] = 0;
    return text;
}

static uint32_t reason(const struct testkit *kit)
{
    return kit->status.count == 0 ? 0 : kit->status.causes[0].reason;
}

static struct testkit *start(const char *columns, enum profile profile)
{
    struct testkit *kit = testkit_open(&bigquery_model, profile);
    testkit_option(kit, "table_exists", 0);
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(insert(kit, columns), PORT_OK);
    return kit;
}

static enum bigquery_proto_type proto_of(char letter)
{
    return letter == 'S'   ? BIGQUERY_TYPE_STRING
           : letter == 'I' ? BIGQUERY_TYPE_INT64
                           : BIGQUERY_TYPE_BYTES;
}

/* Append a row to the default stream, written as fields: a letter for the name, one for the type and a digit
 * for the number, "aS1 bB2"; NULL: as before. */
static enum port_code
append(struct testkit *kit, uint64_t connection, const char *fields_or_null, struct bytes bytes)
{
    struct bigquery_field_descriptor fields[8];
    const void *field_items[8];
    uint32_t count = 0;
    for (const char *at = fields_or_null; at != NULL && *at != 0; at += at[3] == 0 ? 3 : 4) {
        fields[count] = (struct bigquery_field_descriptor){
            {(const uint8_t *)at, 1}, (uint32_t)(at[2] - '0'), proto_of(at[1])};
        field_items[count] = &fields[count];
        count++;
    }
    const struct bigquery_row row = {bytes};
    const void *rows[] = {&row};
    const struct bigquery_proto_rows list = {.serialized_rows = {rows, 1}};
    const struct bigquery_descriptor descriptor = {.field = {field_items, count}};
    const struct bigquery_proto_schema schema = {.proto_descriptor = &descriptor};
    const struct bigquery_proto_data data = {
        .writer_schema = fields_or_null == NULL ? NULL : &schema, .rows = &list};
    const struct bigquery_append_rows_request request = {.write_stream = BYTES_LITERAL(DEFAULT),
                                                         .proto_rows = &data};
    return testkit_stream(
        kit, connection, PORT_STREAM_SEND, &bigquery_append_rows_method, &request);
}

static uint32_t visible(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE);
}

/* Goal: a change is made for the etag that its maker saw, and gives the table another. Method: the right one,
 * the one before, none; both answers of a race. */
static void bqt_01_a_change_is_made_for_an_etag(void **state)
{
    static const struct {
        const char *outcome;
        enum port_code code;
        uint32_t reason;
    } cases[] = {
        {"condition_not_met", PORT_FAILED_PRECONDITION, BIGQUERY_REASON_CONDITION_NOT_MET},
        {"conflict", PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[64];
        char etag[24] = {0};
        struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
        testkit_option(kit, "table_exists", 0);
        (void)testkit_pin(kit, "bigquery.patch_race", cases[i].outcome);
        testkit_init(kit);
        assert_int_equal(insert(kit, "aSn"), PORT_OK);
        const struct bytes seen = get(kit)->etag;
        assert_true(seen.size > 0 && seen.size < sizeof(etag));
        memcpy(etag, seen.data, seen.size);
        assert_int_equal(patch(kit, etag, "aSn bBn"), PORT_OK);
        assert_int_equal(patch(kit, etag, "aSn bBn cIn"), cases[i].code);
        assert_int_equal(reason(kit), cases[i].reason);
        assert_int_equal(patch(kit, ANY, "aSn bBn dIn"), PORT_OK);
        assert_false(bytes_equal(get(kit)->etag, bytes_of_text(etag)));
        assert_string_equal(columns_answered(kit, text), "aSn bBn dIn");
        testkit_close(kit);
    }
}

/* Goal: so many changes in a window, of each table. Method: one more; wait; refused ones do not count. */
static void bqt_02_changes_have_a_quota(void **state)
{
    (void)state;
    struct testkit *kit = start("aSn", PROFILE_DOCUMENTED);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(patch(kit, ANY, "aSn"), PORT_OK);
        testkit_run_for(kit, SECONDS(1));
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(patch(kit, ANY, "aSn"), PORT_PERMISSION_DENIED);
        assert_int_equal(reason(kit), BIGQUERY_REASON_RATE_LIMIT_EXCEEDED);
    }
    assert_true(marks_has(&kit->world->marks, MARK_BIGQUERY_PATCH_TOO_OFTEN));
    testkit_run_for(kit, SECONDS(5));
    assert_int_equal(patch(kit, ANY, "aSn"), PORT_OK);
    assert_int_equal(patch(kit, ANY, "aSn"), PORT_PERMISSION_DENIED);
    testkit_close(kit);
}

/* Goal: columns are added and relaxed, and nothing else. Method: every kind of change. */
static void bqt_03_columns_are_added_and_relaxed(void **state)
{
    static const struct {
        const char *columns;
        const char *after; /* NULL: refused */
    } cases[] = {
        {"aSr bBp", "aSr bBp"},
        {"aSn bBp", "aSn bBp"},         /* relaxed */
        {"bBp aSr cIn", "aSr bBp cIn"}, /* their order is the table's */
        {"aSr bBp cIp", "aSr bBp cIp"}, /* added */
        {"aSr bBp cIr", NULL},          /* added as REQUIRED */
        {"aSr", NULL},                  /* dropped */
        {"aBr bBp", NULL},              /* of another type */
        {"aSp bBp", NULL},              /* REPEATED */
        {"aSr bBn", NULL},              /* not REPEATED */
        {"aSr bBp cXn", NULL},          /* no type */
        {"aSr bBp cIn cSn", NULL},      /* twice */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char text[64];
        struct testkit *kit = start("aSr bBp", PROFILE_DOCUMENTED);
        assert_int_equal(patch(kit, ANY, cases[i].columns),
                         cases[i].after == NULL ? PORT_INVALID_ARGUMENT : PORT_OK);
        (void)get(kit);
        assert_string_equal(columns_answered(kit, text),
                            cases[i].after == NULL ? "aSr bBp" : cases[i].after);
        testkit_close(kit);
    }
    struct testkit *kit = start("aSn", PROFILE_DOCUMENTED);
    assert_int_equal(patch(kit, ANY, "aSr"), PORT_INVALID_ARGUMENT); /* tightened */
    testkit_close(kit);
}

/* Goal: labels are kept with a table, changed alone, and change its etag. Method: patch them. */
static void bqt_01_labels_are_metadata(void **state)
{
    (void)state;
    char text[64];
    struct testkit *kit = start("aSn", PROFILE_DOCUMENTED);
    const struct bigquery_label label = {BYTES_LITERAL("k"), BYTES_LITERAL("v")};
    const void *labels[] = {&label};
    const struct bigquery_table table = {.labels = {labels, 1}};
    const struct bigquery_patch_table_request request = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t"), &table, BYTES_LITERAL("e1")};
    assert_int_equal(testkit_call(kit, &bigquery_patch_table_method, &request), PORT_OK);
    assert_int_equal(testkit_call(kit, &bigquery_patch_table_method, &request),
                     PORT_FAILED_PRECONDITION);
    const struct bigquery_table *got = get(kit);
    assert_int_equal(got->labels.count, 1);
    const struct bigquery_label *kept = got->labels.items[0];
    assert_true(bytes_equal(kept->value, BYTES_LITERAL("v")));
    assert_string_equal(columns_answered(kit, text), "aSn");
    testkit_close(kit);
}

/* Goal: who creates a table soon after another has may hear of a rate, later ones of the table. Method: the
 * three answers, and time. */
static void bqj_18_creations_race(void **state)
{
    static const struct {
        const char *outcome;
        enum port_code code;
        uint32_t reason;
    } cases[] = {
        {"already_exists", PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE},
        {"rate_limit_exceeded", PORT_PERMISSION_DENIED, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED},
        {"too_many_requests", PORT_RESOURCE_EXHAUSTED, BIGQUERY_REASON_NONE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = testkit_open(&bigquery_model, PROFILE_OBSERVED);
        testkit_option(kit, "table_exists", 0);
        (void)testkit_pin(kit, "bigquery.creation_race", cases[i].outcome);
        testkit_init(kit);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(insert(kit, "aSn"), PORT_OK);
        assert_int_equal(insert(kit, "aSn"), cases[i].code);
        assert_int_equal(reason(kit), cases[i].reason);
        testkit_run_for(kit, SECONDS(10));
        assert_int_equal(insert(kit, "aSn"), PORT_ALREADY_EXISTS);
        testkit_close(kit);
    }
}

/* Goal: the write API knows a new column after a while, and a connection only if it is opened then; an answer
 * tells of it. Method: a connection before, one between, one after. */
static void bqw_25_a_new_column_is_known_late(void **state)
{
    const struct bytes old_row = BYTES_LITERAL("\x0a\x01x");
    const struct bytes new_row = BYTES_LITERAL("\x0a\x01x\x12\x01y");
    (void)state;
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "table_exists", 0);
    (void)testkit_pin(kit, "bigquery.schema_known", "soon");
    testkit_init(kit);
    assert_int_equal(insert(kit, "aSn"), PORT_OK);
    assert_int_equal(append(kit, 1, "aS1", old_row), PORT_OK);
    assert_int_equal(patch(kit, ANY, "aSn bBn"), PORT_OK);
    testkit_run_for(kit, SECONDS(34));
    assert_int_equal(append(kit, 2, "aS1 bB2", new_row), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(append(kit, 2, NULL, new_row), PORT_INVALID_ARGUMENT);
    assert_int_equal(append(kit, 3, "aS1 bB2", new_row), PORT_OK);
    const struct bigquery_append_rows_response *response = kit->payload;
    assert_null(response->updated_schema);
    assert_int_equal(append(kit, 1, NULL, old_row), PORT_OK);
    response = kit->payload;
    assert_int_equal(response->updated_schema->fields.count, 2);
    assert_true(marks_has(&kit->world->marks, MARK_BIGQUERY_SCHEMA_TOLD));
    assert_int_equal(append(kit, 1, NULL, old_row), PORT_OK);
    response = kit->payload;
    assert_null(response->updated_schema);
    assert_int_equal(visible(kit), 4);
    testkit_close(kit);
}

/* Goal: what is refused for a column that is not known yet may be stored. Method: the pinned outcome; a
 * column that the table lacks is never stored. */
static void bqw_62_a_refused_row_may_be_stored(void **state)
{
    const struct bytes row = BYTES_LITERAL("\x0a\x01x\x12\x01y");
    (void)state;
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_OBSERVED);
    testkit_option(kit, "table_exists", 0);
    (void)testkit_pin(kit, "bigquery.schema_known", "late");
    (void)testkit_pin(kit, "bigquery.mismatch", "stored");
    testkit_init(kit);
    assert_int_equal(insert(kit, "aSn"), PORT_OK);
    assert_int_equal(append(kit, 1, "aS1 bB2", row), PORT_INVALID_ARGUMENT);
    assert_int_equal(visible(kit), 0);
    assert_int_equal(patch(kit, ANY, "aSn bBn"), PORT_OK);
    assert_int_equal(append(kit, 2, "aS1 bB2", row), PORT_INVALID_ARGUMENT);
    assert_int_equal(reason(kit), BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS);
    assert_int_equal(visible(kit), 1);
    testkit_run_for(kit, HOURS(2));
    assert_int_equal(append(kit, 3, "aS1 bB2", row), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: a value that went into another column, or into none, makes another row. Method: one row under
 * descriptors that differ; what is kept of each. */
static void bqw_24_a_row_is_kept_by_its_columns(void **state)
{
    static const struct {
        const char *fields;
        const char *row;
        const char *kept;
    } cases[] = {
        {"aS1 bB2", "\x0a\x01x\x12\x01y", "\x0a\x01x\x12\x01y"},
        {"aS2 bB1", "\x0a\x01x\x12\x01y", "\x0a\x01y\x12\x01x"}, /* swapped */
        {"aS1", "\x0a\x01x\x12\x01y", "\x0a\x01x"},              /* lost */
        {"aS1 bB2", "\x12\x01y\x0a\x01x", "\x0a\x01x\x12\x01y"}, /* in another order */
        {"aS1 bB2", "\x0a\x01x\x0a\x01y", "\x0a\x01y"},          /* the last one counts */
        {"aS7 cI9", "\x3a\x01x\x48\x05", "\x0a\x01x\x18\x05"},   /* by numbers of its own */
        {"dB4", "\x22\x01x\x22\x01y", "\x22\x01x\x22\x01y"},     /* REPEATED */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = start("aSn bBn cIn dBp", PROFILE_DOCUMENTED);
        assert_int_equal(append(kit, 1, cases[i].fields, bytes_of_text(cases[i].row)), PORT_OK);
        const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
        assert_non_null(entry);
        assert_true(entry->value == digest_bytes(bytes_of_text(cases[i].kept)));
        if (strcmp(cases[i].row, cases[i].kept) != 0) {
            assert_true(marks_has(&kit->world->marks, MARK_BIGQUERY_ROW_REWRITTEN));
        }
        testkit_close(kit);
    }
}

/* Goal: a REQUIRED column is in every row, until the write API knows that it is relaxed. Method: rows without
 * it, before and after. */
static void bqw_17_a_required_column_is_there(void **state)
{
    const struct bytes row = BYTES_LITERAL("\x12\x01y");
    (void)state;
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "table_exists", 0);
    (void)testkit_pin(kit, "bigquery.schema_known", "soon");
    testkit_init(kit);
    assert_int_equal(insert(kit, "aSr bBn"), PORT_OK);
    assert_int_equal(append(kit, 1, "aS1 bB2", row), PORT_INVALID_ARGUMENT);
    const struct bigquery_append_rows_response *response = kit->payload;
    assert_int_equal(response->row_errors.count, 1);
    assert_int_equal(append(kit, 1, "aS1 bB2", BYTES_LITERAL("\x0a\x00")), PORT_OK);
    assert_int_equal(patch(kit, ANY, "aSn bBn"), PORT_OK);
    assert_int_equal(append(kit, 2, "aS1 bB2", row), PORT_INVALID_ARGUMENT);
    testkit_run_for(kit, SECONDS(35));
    assert_int_equal(append(kit, 1, "aS1 bB2", row), PORT_INVALID_ARGUMENT);
    assert_int_equal(append(kit, 3, "aS1 bB2", row), PORT_OK);
    testkit_close(kit);
}

TEST_MAIN(schema,
          TEST(bqt_01_a_change_is_made_for_an_etag),
          TEST(bqt_01_labels_are_metadata),
          TEST(bqt_02_changes_have_a_quota),
          TEST(bqt_03_columns_are_added_and_relaxed),
          TEST(bqj_18_creations_race),
          TEST(bqw_25_a_new_column_is_known_late),
          TEST(bqw_62_a_refused_row_may_be_stored),
          TEST(bqw_24_a_row_is_kept_by_its_columns),
          TEST(bqw_17_a_required_column_is_there))
