/* Statements about tables, and what the REST API makes of a table's key, staleness and labels.
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

#define TABLE    "projects/p/datasets/d/tables/t"
#define LABEL    "contract"
#define TEN      "INTERVAL \"0-0 0 0:10:0\" YEAR TO SECOND"
#define LONG     "INTERVAL \"0-0 0 25:0:1\" YEAR TO SECOND"
#define ZERO     "INTERVAL \"0-0 0 0:0:0\" YEAR TO SECOND"
#define ALTER(v) "ALTER TABLE `p.d.t` SET OPTIONS (max_staleness = " v ")"
#define LOOK                                                                                       \
    "SELECT option_value FROM `p.d`.INFORMATION_SCHEMA.TABLE_OPTIONS "                             \
    "WHERE table_name = 't' AND option_name = 'max_staleness'"

static struct testkit *start(bool exists)
{
    struct testkit *kit = testkit_open(&bigquery_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "table_exists", exists);
    kit->options[OPTION_CONTRACT_LABEL].text = BYTES_LITERAL(LABEL);
    return kit;
}

static struct testkit *begin(bool exists)
{
    struct testkit *kit = start(exists);
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    return kit;
}

static enum port_code ask(struct testkit *kit, const char *statement)
{
    const struct bigquery_query_request request = {BYTES_LITERAL("p"), bytes_of_text(statement)};
    return testkit_call(kit, &bigquery_query_method, &request);
}

/* What INFORMATION_SCHEMA says; NULL: it has no row. */
static void assert_told(struct testkit *kit, const char *interval_or_null)
{
    assert_int_equal(ask(kit, LOOK), PORT_OK);
    const struct bigquery_query_response *response = kit->payload;
    assert_int_equal(response->rows.count, interval_or_null == NULL ? 0 : 1);
    if (interval_or_null != NULL) {
        assert_bytes_equal(response->rows.items[0], bytes_of_text(interval_or_null));
    }
}

static const struct bigquery_table *get(struct testkit *kit)
{
    const struct bigquery_get_table_request request = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")};
    assert_int_equal(testkit_call(kit, &bigquery_get_table_method, &request), PORT_OK);
    return kit->payload;
}

/* A table of one column a, whose key is that or another one. */
static enum port_code insert(struct testkit *kit, const char *key, const char *staleness)
{
    static const struct bigquery_table_field_schema field = {
        {(const uint8_t *)"a", 1}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
    const void *fields[] = {&field};
    const struct bigquery_table_schema schema = {{fields, 1}};
    const struct bytes column = bytes_of_text(key);
    const struct bigquery_primary_key primary_key = {{&column, 1}};
    const struct bigquery_table_constraints constraints = {&primary_key};
    const struct bigquery_table_reference reference = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")};
    const struct bigquery_table made = {.table_reference = &reference,
                                        .schema = &schema,
                                        .max_staleness = bytes_of_text(staleness),
                                        .table_constraints = &constraints};
    const struct bigquery_insert_table_request request = {
        .project_id = BYTES_LITERAL("p"), .dataset_id = BYTES_LITERAL("d"), .table = &made};
    return testkit_call(kit, &bigquery_insert_table_method, &request);
}

static enum port_code
patch(struct testkit *kit, const char *key, const char *value, const char *etag)
{
    const struct bigquery_label label = {bytes_of_text(key), bytes_of_text(value)};
    const void *labels[] = {&label};
    const struct bigquery_table table = {.labels = {labels, 1},
                                         .max_staleness = BYTES_LITERAL(LONG)};
    const struct bigquery_patch_table_request request = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t"), &table, bytes_of_text(etag)};
    return testkit_call(kit, &bigquery_patch_table_method, &request);
}

/* Goal: what the REST API takes is not in force. Method: it is given one at the creation and another later;
 * it tells the latter, and INFORMATION_SCHEMA none, until a statement sets one. */
static void bqc_06_only_a_statement_sets_the_staleness(void **state)
{
    (void)state;
    struct testkit *kit = begin(false);
    assert_int_equal(insert(kit, "a", TEN), PORT_OK);
    assert_bytes_equal(get(kit)->max_staleness, BYTES_LITERAL(TEN));
    assert_told(kit, NULL);
    assert_int_equal(patch(kit, "other", "v", ""), PORT_OK);
    assert_bytes_equal(get(kit)->max_staleness, BYTES_LITERAL(LONG));
    assert_told(kit, NULL);
    assert_int_equal(ask(kit, ALTER(TEN)), PORT_OK);
    assert_told(kit, TEN);
    assert_int_equal(ask(kit, ALTER(LONG)), PORT_OK);
    assert_told(kit, LONG);
    assert_int_equal(ask(kit, ALTER("NULL")), PORT_OK);
    assert_told(kit, ZERO);
    testkit_close(kit);
}

/* Goal: a statement changes the table's etag, and counts among the changes of its metadata. */
static void bqt_02_statements_are_changes_of_metadata(void **state)
{
    (void)state;
    struct testkit *kit = begin(true);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(ask(kit, ALTER(TEN)), PORT_OK);
    }
    assert_int_equal(testkit_count(kit, WORLD_CONFIGURED, CONFIGURED_CHANGED), 5);
    assert_int_equal(patch(kit, "other", "v", "e1"), PORT_FAILED_PRECONDITION);
    assert_int_equal(ask(kit, ALTER(TEN)), PORT_PERMISSION_DENIED);
    assert_int_equal(kit->status.causes[0].reason, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED);
    testkit_run_for(kit, SECONDS(11));
    assert_int_equal(ask(kit, ALTER(TEN)), PORT_OK);
    testkit_close(kit);
}

static void other_statements_are_not_understood(void **state)
{
    static const char *const statements[] = {
        "",
        "DROP TABLE `p.d.t`",
        "ALTER TABLE `p.d` SET OPTIONS (max_staleness = NULL)",
        "ALTER TABLE `p.d.t` SET OPTIONS (description = NULL)",
        "ALTER TABLE `p.d.t` SET OPTIONS (max_staleness = NULL) ",
        ALTER("INTERVAL \"0-0 0 0:60:0\" YEAR TO SECOND"),
        ALTER("INTERVAL \"0-0 0 0:0:60\" YEAR TO SECOND"),
        ALTER("INTERVAL \"0-0 0 :0:0\" YEAR TO SECOND"),
        ALTER("INTERVAL \"0-0 0 x:0:0\" YEAR TO SECOND"),
        ALTER("INTERVAL \"0-0 0 1234567890:0:0\" YEAR TO SECOND"),
        ALTER("INTERVAL \"0-1 0 0:10:0\" YEAR TO SECOND"),
        LOOK " ",
        "SELECT option_value FROM `p`.INFORMATION_SCHEMA.TABLE_OPTIONS",
    };
    (void)state;
    struct testkit *kit = begin(true);
    for (size_t i = 0; i < ARRAY_COUNT(statements); i++) {
        assert_int_equal(ask(kit, statements[i]), PORT_INVALID_ARGUMENT);
    }
    assert_int_equal(testkit_count(kit, WORLD_CONFIGURED, TESTKIT_ANY_CODE), 0);
    testkit_close(kit);
    kit = begin(false);
    assert_int_equal(ask(kit, ALTER(TEN)), PORT_NOT_FOUND);
    assert_int_equal(ask(kit, LOOK), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: a key is told of, and of one of the table's columns. */
static void bqc_07_a_key_is_of_the_tables_columns(void **state)
{
    (void)state;
    struct testkit *kit = begin(false);
    assert_int_equal(insert(kit, "b", ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(insert(kit, "a", ""), PORT_OK);
    const struct bigquery_table *got = get(kit);
    assert_bytes_equal(got->table_constraints->primary_key->columns.items[0], BYTES_LITERAL("a"));
    testkit_close(kit);
    kit = begin(true);
    assert_null(get(kit)->table_constraints);
    testkit_close(kit);
}

/* Goal: a patch sets the labels that it names. Method: another label, and the same one again. */
static void bqt_01_labels_that_are_not_named_stay(void **state)
{
    (void)state;
    struct testkit *kit = begin(true);
    assert_int_equal(patch(kit, "one", "1", ""), PORT_OK);
    assert_int_equal(patch(kit, "two", "2", ""), PORT_OK);
    assert_int_equal(patch(kit, "one", "3", ""), PORT_OK);
    const struct bigquery_table *got = get(kit);
    assert_int_equal(got->labels.count, 2);
    const struct bigquery_label *first = got->labels.items[0];
    const struct bigquery_label *second = got->labels.items[1];
    assert_bytes_equal(first->value, BYTES_LITERAL("3"));
    assert_bytes_equal(second->value, BYTES_LITERAL("2"));
    testkit_close(kit);
}

/* Goal: the journal says what a table is set to when it is declared, and by whom it was claimed. */
static void a_declaration_is_noted_with_what_is_so(void **state)
{
    (void)state;
    uint8_t text[128];
    struct byte_writer writer;
    struct testkit *kit = begin(false);
    assert_int_equal(insert(kit, "a", TEN), PORT_OK);
    assert_int_equal(patch(kit, LABEL, "pending_1", ""), PORT_OK);
    assert_int_equal(testkit_count(kit, WORLD_CONFIGURED, CONFIGURED_CLAIMED), 1);
    assert_int_equal(ask(kit, ALTER(TEN)), PORT_OK);
    assert_int_equal(patch(kit, LABEL, "complete_1", ""), PORT_OK);
    assert_int_equal(testkit_count(kit, WORLD_CONFIGURED, CONFIGURED_DECLARED), 1);
    byte_writer_init(&writer, text, sizeof(text));
    bigquery_put_setting(BYTES_LITERAL("a"), 600, &writer);
    assert_int_equal(testkit_last(kit, WORLD_CONFIGURED)->value,
                     digest_bytes(byte_writer_view(&writer)));
    assert_int_equal(patch(kit, "other", "complete_1", ""), PORT_OK);
    assert_int_equal(testkit_count(kit, WORLD_CONFIGURED, CONFIGURED_DECLARED), 1);
    testkit_close(kit);
}

/* Goal: others change what a client has looked at, so often, and not once it is declared. Method: each way,
 * and the label between. */
static void bqc_06_others_change_what_was_looked_at(void **state)
{
    static const struct {
        const char *outcome;
        const char *then;
    } ways[] = {{"raised", "INTERVAL \"0-0 0 0:11:1\" YEAR TO SECOND"}, {"cleared", ZERO}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        struct testkit *kit = start(true);
        testkit_option(kit, "max_staleness", MINUTES(10));
        testkit_option(kit, "others_changes", 1);
        (void)testkit_pin(kit, "bigquery.others_change", ways[i].outcome);
        testkit_init(kit);
        testkit_run_for(kit, SECONDS(1));
        assert_told(kit, TEN);
        assert_int_equal(testkit_last(kit, WORLD_CONFIGURED)->request, 0);
        assert_told(kit, ways[i].then);
        assert_told(kit, ways[i].then);
        testkit_close(kit);
    }
    struct testkit *kit = start(true);
    testkit_option(kit, "others_changes", 1);
    (void)testkit_pin(kit, "bigquery.others_change", "raised");
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(patch(kit, LABEL, "complete_1", ""), PORT_OK);
    assert_told(kit, NULL);
    assert_told(kit, NULL);
    testkit_close(kit);
}

/* Goal: a table that is there may have the label from the start. */
static void a_label_may_be_there_at_the_start(void **state)
{
    (void)state;
    struct testkit *kit = start(true);
    kit->options[OPTION_CONTRACT_VALUE].text = BYTES_LITERAL("pending_2");
    testkit_init(kit);
    testkit_run_for(kit, SECONDS(1));
    const struct bigquery_table *got = get(kit);
    assert_int_equal(got->labels.count, 1);
    const struct bigquery_label *label = got->labels.items[0];
    assert_bytes_equal(label->key, BYTES_LITERAL(LABEL));
    assert_bytes_equal(label->value, BYTES_LITERAL("pending_2"));
    testkit_close(kit);
}

TEST_MAIN(bigquery_statements,
          TEST(bqc_06_only_a_statement_sets_the_staleness),
          TEST(bqt_02_statements_are_changes_of_metadata),
          TEST(other_statements_are_not_understood),
          TEST(bqc_07_a_key_is_of_the_tables_columns),
          TEST(bqt_01_labels_that_are_not_named_stay),
          TEST(a_declaration_is_noted_with_what_is_so),
          TEST(bqc_06_others_change_what_was_looked_at),
          TEST(a_label_may_be_there_at_the_start))
