/* Schemas of tables: what rows are written as, and how columns are united.
 * link: sinks/bigquery/schema sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/allocator sinks/base/units sinks/base/err
 */
#include "sinks/bigquery/schema.h"

#include "sinks/base/test.h"

/* Columns as a text: a letter each for name, type and mode, "aSn bBr". */
struct columns {
    struct bigquery_table_field_schema fields[80];
    const void *items[80];
    struct bigquery_table_schema schema;
    uint8_t bytes[1024];
};

static uint32_t type_of(char letter)
{
    return letter == 'S'   ? BIGQUERY_FIELD_STRING
           : letter == 'I' ? BIGQUERY_FIELD_INTEGER
           : letter == 'B' ? BIGQUERY_FIELD_BYTES
           : letter == 'J' ? BIGQUERY_FIELD_JSON
           : letter == '?' ? BIGQUERY_FIELD_TYPE_NONE
                           : BIGQUERY_FIELD_TYPE_END;
}

static uint32_t mode_of(char letter)
{
    return letter == 'n'   ? BIGQUERY_FIELD_NULLABLE
           : letter == 'r' ? BIGQUERY_FIELD_REQUIRED
           : letter == 'p' ? BIGQUERY_FIELD_REPEATED
                           : BIGQUERY_FIELD_MODE_END;
}

static const struct bigquery_table_schema *columns_of(struct columns *columns, const char *text)
{
    uint32_t count = 0;
    for (const char *at = text; *at != 0; at += at[3] == 0 ? 3 : 4) {
        columns->fields[count] = (struct bigquery_table_field_schema){
            {(const uint8_t *)at, at[0] == '-' ? 0 : 1}, type_of(at[1]), mode_of(at[2])};
        columns->items[count] = &columns->fields[count];
        count++;
    }
    columns->schema.fields = (struct port_list){columns->items, count};
    return &columns->schema;
}

static struct bytes description_of(struct columns *columns, const char *text)
{
    struct byte_writer writer;
    byte_writer_init(&writer, columns->bytes, sizeof(columns->bytes));
    port_encode(&bigquery_table_schema_message, columns_of(columns, text), &writer);
    assert_false(writer.overflowed);
    return byte_writer_view(&writer);
}

/* --- reading ----------------------------------------------------------------------------------- */

/* Goal: the n-th column is field n, of the wire type that its type has. */
static void the_nth_column_is_field_n(void **state)
{
    static const enum bigquery_proto_type types[] = {
        BIGQUERY_TYPE_STRING, BIGQUERY_TYPE_BYTES, BIGQUERY_TYPE_INT64, BIGQUERY_TYPE_STRING};
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct columns columns;
    struct bigquery_schema schema = {0};
    assert_int_equal(
        bigquery_schema_read(&schema, &allocator, description_of(&columns, "cSn aBr bIp dJn"), 7),
        ERR_OK);
    assert_int_equal(schema.version, 7);
    const struct port_list *fields = &schema.proto.proto_descriptor->field;
    assert_int_equal(fields->count, ARRAY_COUNT(types));
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct bigquery_field_descriptor *field = fields->items[i];
        assert_int_equal(field->number, i + 1);
        assert_int_equal(field->type, types[i]);
        assert_bytes_equal(field->name, columns.fields[i].name);
    }
    bigquery_schema_release(&schema, &allocator);
    assert_int_equal(memory.live, 0);
}

/* Goal: what is no description changes nothing. Method: each way to be none, and no memory. */
static void what_is_no_description_changes_nothing(void **state)
{
    static const char *const texts[] = {"", "aSn aBn", "-Sn", "a?n", "aXn", "aSx"};
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct columns columns;
    struct bigquery_schema schema = {0};
    assert_int_equal(bigquery_schema_read(&schema, &allocator, description_of(&columns, "aSn"), 1),
                     ERR_OK);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        assert_int_equal(
            bigquery_schema_read(&schema, &allocator, description_of(&columns, texts[i]), 2),
            ERR_INVALID);
        assert_int_equal(schema.version, 1);
    }
    assert_int_equal(bigquery_schema_read(&schema, &allocator, BYTES_LITERAL("\x0a\x06"), 2),
                     ERR_TRUNCATED);
    assert_int_equal(schema.table->fields.count, 1);
    bigquery_schema_release(&schema, &allocator);
    assert_int_equal(memory.live, 0);
}

/* Goal: a schema that is moved is whole, and what it replaces is given back. */
static void a_schema_that_is_moved_is_whole(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct columns columns;
    struct bigquery_schema schema = {0};
    struct bigquery_schema next = {0};
    assert_int_equal(bigquery_schema_read(&schema, &allocator, description_of(&columns, "aSn"), 1),
                     ERR_OK);
    assert_int_equal(
        bigquery_schema_read(&next, &allocator, description_of(&columns, "aSn bSn"), 2), ERR_OK);
    bigquery_schema_move(&schema, &allocator, &next);
    assert_int_equal(schema.version, 2);
    assert_ptr_equal(schema.proto.proto_descriptor, &schema.descriptor);
    assert_int_equal(schema.proto.proto_descriptor->field.count, 2);
    assert_null(next.table);
    bigquery_schema_release(&schema, &allocator);
    bigquery_schema_release(&next, &allocator);
    assert_int_equal(memory.live, 0);
}

/* --- uniting ----------------------------------------------------------------------------------- */

static void assert_columns(const struct bigquery_table_schema *schema, const char *text)
{
    struct columns wanted;
    (void)columns_of(&wanted, text);
    assert_true(port_equal(&bigquery_table_schema_message, schema, &wanted.schema));
}

/* Goal: the rules of SchemaUnifier. Method: a table of pairs, under each permission. */
static void columns_are_united_by_the_rules(void **state)
{
    static const struct {
        const char *there;
        const char *wanted;
        struct bigquery_schema_rules rules;
        enum bigquery_union result;
        const char *united;
    } cases[] = {
        {"aSn", "aSn", {false, false}, BIGQUERY_UNION_UNCHANGED, "aSn"},
        {"aSn bIn", "aSn", {false, false}, BIGQUERY_UNION_UNCHANGED, "aSn bIn"}, /* none dropped */
        {"aSn bIn", "bIn aSn", {true, true}, BIGQUERY_UNION_UNCHANGED, "aSn bIn"}, /* nor moved */
        {"aSn", "bIn aSn", {true, false}, BIGQUERY_UNION_CHANGED, "aSn bIn"},
        {"aSn", "aSn bIr", {true, false}, BIGQUERY_UNION_CHANGED, "aSn bIn"}, /* new: NULLABLE */
        {"aSn", "aSn bIp", {true, false}, BIGQUERY_UNION_CHANGED, "aSn bIp"},
        {"aSn", "aSn bIn", {false, true}, BIGQUERY_UNION_CONFLICT, NULL},
        {"aSr", "aSn", {false, true}, BIGQUERY_UNION_CHANGED, "aSn"}, /* relaxed */
        {"aSr", "aSn", {true, false}, BIGQUERY_UNION_CONFLICT, NULL},
        {"aSr", "aSr", {true, true}, BIGQUERY_UNION_UNCHANGED, "aSr"},
        {"aSn", "aSr", {true, true}, BIGQUERY_UNION_UNCHANGED, "aSn"}, /* never tightened */
        {"aSn", "aBn", {true, true}, BIGQUERY_UNION_CONFLICT, NULL},
        {"aSn", "aSp", {true, true}, BIGQUERY_UNION_CONFLICT, NULL},
        {"aSp", "aSn", {true, true}, BIGQUERY_UNION_CONFLICT, NULL},
        {"aSr", "aSn bIr", {true, true}, BIGQUERY_UNION_CHANGED, "aSn bIn"},
        {"", "aSn", {true, false}, BIGQUERY_UNION_CHANGED, "aSn"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct columns there;
        struct columns wanted;
        struct bigquery_united united = {0};
        assert_int_equal(bigquery_unite(columns_of(&there, cases[i].there),
                                        columns_of(&wanted, cases[i].wanted),
                                        cases[i].rules,
                                        &united),
                         cases[i].result);
        if (cases[i].result == BIGQUERY_UNION_CONFLICT) {
            assert_non_null(united.conflict);
            assert_int_equal(united.column.size, 1);
        } else {
            assert_columns(&united.schema, cases[i].united);
        }
    }
}

/* Goal: uniting again changes nothing. */
static void what_is_united_is_so(void **state)
{
    (void)state;
    struct columns there;
    struct columns wanted;
    static struct bigquery_united first;
    static struct bigquery_united second;
    const struct bigquery_schema_rules rules = {true, true};
    const struct bigquery_table_schema *more = columns_of(&wanted, "bSn cIp aSr");
    assert_int_equal(bigquery_unite(columns_of(&there, "aSr dBr"), more, rules, &first),
                     BIGQUERY_UNION_CHANGED);
    assert_columns(&first.schema, "aSr dBr bSn cIp");
    assert_int_equal(bigquery_unite(&first.schema, more, rules, &second), BIGQUERY_UNION_UNCHANGED);
}

TEST_MAIN(schema,
          TEST(the_nth_column_is_field_n),
          TEST(what_is_no_description_changes_nothing),
          TEST(a_schema_that_is_moved_is_whole),
          TEST(columns_are_united_by_the_rules),
          TEST(what_is_united_is_so))
