/* What jobs do to tables, clause by clause: loads of objects, copies, queries.
 *
 * link: models/bigquery/jobs_testkit models/bigquery/bigquery models/bigquery/appends models/bigquery/rows
 * link: models/bigquery/streams models/bigquery/tables models/bigquery/metadata models/bigquery/columns
 * link: models/bigquery/statements
 * link: models/bigquery/changes models/bigquery/jobs models/bigquery/load models/bigquery/copy models/bigquery/writes
 * link: models/bigquery/others models/bigquery/contents models/bigquery/avro models/storage/storage
 * link: models/model_testkit sinks/port/bigquery sinks/port/storage sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/units
 * link: sinks/base/allocator sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal
 * link: sim/trace sim/clock sim/arena
 */
#include "models/bigquery/jobs_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#define A "gs://staging/a"

static void start_as(struct jobs_kit *jobs, enum profile profile)
{
    jobs_open(jobs, profile);
    jobs_init(jobs);
    jobs_put(jobs, "a", JOBS_COLUMN_ID, "ab");
    jobs_put(jobs, "b", JOBS_COLUMN_ID, "cde");
    jobs_put(jobs, "extra", JOBS_COLUMN_ID "," JOBS_COLUMN_EXTRA, "x");
}

static void start(struct jobs_kit *jobs)
{
    start_as(jobs, PROFILE_DOCUMENTED);
}

static struct testkit *kit_without_table(struct jobs_kit *jobs)
{
    jobs_open(jobs, PROFILE_DOCUMENTED);
    testkit_option(jobs->kit, "table_exists", 0);
    jobs_init(jobs);
    jobs_put(jobs, "a", JOBS_COLUMN_ID, "ab");
    return jobs->kit;
}

static uint32_t created(const struct jobs_kit *jobs)
{
    return testkit_count(jobs->kit, WORLD_CREATED, TESTKIT_ANY_CODE);
}

/* --- all or nothing ------------------------------------------------------------------------------ */

/* Goal: the rows of a load appear at its end and together, or not at all. Method: two objects, seen at every
 * step; the second one missing; the second one no file. */
static void bqj_09_a_load_is_whole(void **state)
{
    (void)state;
    static const char *const seconds[] = {
        "gs://staging/b", "gs://staging/none", "gs://staging/none"};
    static const enum bigquery_reason reasons[] = {
        BIGQUERY_REASON_NONE, BIGQUERY_REASON_NOT_FOUND, BIGQUERY_REASON_INVALID};
    for (size_t i = 0; i < ARRAY_COUNT(seconds); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        if (i == 2) {
            jobs_put_bytes(&jobs, "none", BYTES_LITERAL("no file"));
        }
        jobs_load_of(&load, A);
        const struct bytes uris[] = {load.uri, bytes_of_text(seconds[i])};
        load.load.source_uris = (struct port_texts){uris, 2};
        assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_OK);
        jobs_pass(&jobs, SECONDS(4) - 1);
        assert_int_equal(jobs_count(&jobs, "t"), 0);
        jobs_pass(&jobs, 1);
        assert_int_equal(jobs_get(&jobs, "j", "US"), PORT_OK);
        const struct bigquery_error *error = jobs_job(&jobs)->status->error_result;
        assert_int_equal(error == NULL ? 0 : error->reason, reasons[i]);
        assert_int_equal(jobs_count(&jobs, "t"), i == 0 ? 5 : 0);
        if (i == 2) {
            assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_LOAD_UNREADABLE));
        }
        jobs_close(&jobs);
    }
}

/* Goal: rows are recognised by what they hold: as they would be if they had been appended. Method: the
 * digest of a row's wire form; generations go on. */
static void bqj_09_rows_are_what_was_staged(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    static const uint8_t row[] = {1 << 3 | 2, 1, 'b'};
    start(&jobs);
    jobs_load_of(&load, A);
    assert_int_equal(jobs_do_load(&jobs, "j", &load), BIGQUERY_REASON_NONE);
    const struct journal_entry *entry = testkit_last(jobs.kit, WORLD_CREATED);
    assert_true(entry->value == digest_bytes((struct bytes){row, sizeof(row)}));
    assert_int_equal(entry->generation, 2);
    assert_int_equal(entry->request, 1);
    assert_bytes_equal(world_resource_name(jobs.kit->world, entry->resource),
                       BYTES_LITERAL(JOBS_TABLE));
    jobs_close(&jobs);
}

/* --- dispositions -------------------------------------------------------------------------------- */

/* Goal: each disposition does to rows what it says. Method: the same load twice, under two ids. */
static void bqj_10_dispositions_decide_what_stays(void **state)
{
    (void)state;
    static const struct {
        enum bigquery_write_disposition write;
        enum bigquery_reason second;
        uint32_t count;
        uint32_t hidden;
    } cases[] = {
        {BIGQUERY_WRITE_DEFAULT, BIGQUERY_REASON_NONE, 4, 0},
        {BIGQUERY_WRITE_APPEND, BIGQUERY_REASON_NONE, 4, 0},
        {BIGQUERY_WRITE_EMPTY, BIGQUERY_REASON_DUPLICATE, 2, 0},
        {BIGQUERY_WRITE_TRUNCATE, BIGQUERY_REASON_NONE, 2, 2},
        {BIGQUERY_WRITE_TRUNCATE_DATA, BIGQUERY_REASON_NONE, 2, 2},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        jobs_load_of(&load, A);
        load.load.write_disposition = (uint32_t)cases[i].write;
        assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
        assert_int_equal(jobs_count(&jobs, "t"), 2);
        assert_int_equal(jobs_do_load(&jobs, "2", &load), cases[i].second);
        assert_int_equal(jobs_count(&jobs, "t"), cases[i].count);
        assert_int_equal(testkit_count(jobs.kit, WORLD_HIDDEN, 0), cases[i].hidden);
        if (cases[i].hidden > 0) {
            assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_TABLE_REPLACED));
            assert_int_equal(testkit_last(jobs.kit, WORLD_HIDDEN)->generation, 2);
            assert_int_equal(testkit_last(jobs.kit, WORLD_CREATED)->generation, 4);
        }
        jobs_close(&jobs);
    }
}

/* Goal: a table is made, or must be there. */
static void bqj_10_a_table_is_made_or_not(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    (void)kit_without_table(&jobs);
    jobs_load_of(&load, A);
    load.load.create_disposition = BIGQUERY_CREATE_NEVER;
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NOT_FOUND);
    assert_null(jobs_rows(&jobs, "d", "t"));
    load.load.create_disposition = BIGQUERY_CREATE_IF_NEEDED;
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    load.table.table_id = BYTES_LITERAL("other");
    const uint32_t before = created(&jobs);
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "other"), 2);
    assert_int_equal(created(&jobs), before + 1); /* the table: nobody reads its rows */
    load.load.create_disposition = BIGQUERY_CREATE_NEVER;
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "other"), 4);
    assert_int_equal(created(&jobs), before + 1);
    jobs_close(&jobs);
}

/* --- when objects are read ------------------------------------------------------------------------ */

/* Goal: a load reads its objects at its start or at its end, as they are then. Method: one that is replaced,
 * one that is deleted in between. */
static void bqj_13_objects_are_read_at_some_time(void **state)
{
    (void)state;
    for (uint32_t is_early = 0; is_early < 2; is_early++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        (void)testkit_pin(jobs.kit, "bigquery.job_reads", is_early ? "at_its_start" : "at_its_end");
        jobs_load_of(&load, A);
        assert_int_equal(jobs_insert_load(&jobs, "1", &load), PORT_OK);
        jobs_pass(&jobs, SECONDS(2));
        jobs_put(&jobs, "a", JOBS_COLUMN_ID, "xyz");
        jobs_pass(&jobs, SECONDS(2));
        assert_int_equal(jobs_count(&jobs, "t"), is_early ? 2 : 3);
        assert_int_equal(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_LOAD_READ_EARLY),
                         is_early);
        assert_int_equal(jobs_insert_load(&jobs, "2", &load), PORT_OK);
        jobs_pass(&jobs, SECONDS(2));
        jobs_delete_object(&jobs, "a");
        jobs_pass(&jobs, SECONDS(2));
        assert_int_equal(jobs_get(&jobs, "2", "US"), PORT_OK);
        const struct bigquery_error *error = jobs_job(&jobs)->status->error_result;
        assert_int_equal(error == NULL ? 0 : error->reason,
                         is_early ? 0 : BIGQUERY_REASON_NOT_FOUND);
        assert_int_equal(jobs_count(&jobs, "t"), is_early ? 5 : 3);
        jobs_close(&jobs);
    }
}

/* Goal: an object that is gone fails a load; a generation in a name does; a pattern is for all that match. */
static void bqj_13_names_are_of_objects(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    jobs_load_of(&load, "gs://staging/none");
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NOT_FOUND);
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_LOAD_OBJECT_GONE));
    load.uri = BYTES_LITERAL("gs://staging/a#1");
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_INVALID);
    load.uri = BYTES_LITERAL("gs://staging/x*");
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NOT_FOUND);
    jobs_put(&jobs, "dir/1.avro", JOBS_COLUMN_ID, "fg");
    jobs_put(&jobs, "dir/2.avro", JOBS_COLUMN_ID, "h");
    jobs_put(&jobs, "dir/3.parquet", JOBS_COLUMN_ID, "ijkl");
    load.uri = BYTES_LITERAL("gs://staging/dir/*.avro");
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 3);
    load.uri = BYTES_LITERAL("gs://staging/dir/*");
    assert_int_equal(jobs_do_load(&jobs, "5", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 10);
    jobs_close(&jobs);
}

/* --- schemas ------------------------------------------------------------------------------------- */

static uint32_t column_mode(struct jobs_kit *jobs, const char *name)
{
    const struct bigquery_table_reference reference = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")};
    const struct table *table = bigquery_table_named(jobs->kit->state, &reference);
    const struct column *column = bigquery_column_of(table, bytes_of_text(name));
    return column == NULL ? UINT32_MAX : column->mode;
}

/* Goal: a load's schema changes the table as far as the load may; a new REQUIRED column is refused at once.
 * Method: a column more, with and without leave; REQUIRED; a wish to tighten; another type. */
static void bqj_31_a_column_is_added_with_leave(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    jobs_load_of(&load, "gs://staging/extra");
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REQUIRED);
    jobs_load_column(&load, "extra", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_NULLABLE);
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_INVALID);
    assert_int_equal(column_mode(&jobs, "extra"), UINT32_MAX);
    load.load.schema_update_options = BIGQUERY_ALLOW_FIELD_ADDITION;
    load.columns[1].mode = BIGQUERY_FIELD_REQUIRED;
    assert_int_equal(jobs_insert_load(&jobs, "2", &load), PORT_INVALID_ARGUMENT);
    assert_int_equal(jobs_reason(&jobs), BIGQUERY_REASON_INVALID);
    load.columns[1].mode = BIGQUERY_FIELD_NULLABLE;
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "extra"), BIGQUERY_FIELD_NULLABLE);
    assert_int_equal(column_mode(&jobs, "id"), BIGQUERY_FIELD_NULLABLE); /* in vain */
    assert_int_equal(jobs_count(&jobs, "t"), 1);
    load.columns[1].type = BIGQUERY_FIELD_STRING;
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_INVALID);
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE;
    assert_int_equal(jobs_insert_load(&jobs, "4", &load), PORT_INVALID_ARGUMENT);
    load.load.schema_update_options = 0;
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE_DATA;
    load.columns[1].type = BIGQUERY_FIELD_INTEGER;
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_NONE);
    jobs_close(&jobs);
}

/* Goal: a REQUIRED column wants values, and is relaxed with leave only. Method: a table that a load made. */
static void bqj_31_a_column_is_relaxed_with_leave(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    (void)kit_without_table(&jobs);
    jobs_put(&jobs, "extra", JOBS_COLUMN_ID "," JOBS_COLUMN_EXTRA, "x");
    jobs_load_of(&load, A);
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REQUIRED);
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "id"), BIGQUERY_FIELD_REQUIRED);
    load.columns[0].mode = BIGQUERY_FIELD_NULLABLE;
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_INVALID);
    load.load.schema_update_options = BIGQUERY_ALLOW_FIELD_RELAXATION;
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "id"), BIGQUERY_FIELD_NULLABLE);
    load.load.schema_update_options = 0;
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE;
    load.uri = BYTES_LITERAL("gs://staging/extra");
    jobs_load_column(&load, "extra", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_REQUIRED);
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_INVALID); /* a null */
    assert_int_equal(jobs_count(&jobs, "t"), 4);
    load.uri = BYTES_LITERAL("gs://staging/a");
    assert_int_equal(jobs_do_load(&jobs, "5", &load), BIGQUERY_REASON_INVALID); /* none at all */
    load.columns[1].mode = BIGQUERY_FIELD_NULLABLE;
    assert_int_equal(jobs_do_load(&jobs, "6", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(column_mode(&jobs, "extra"), BIGQUERY_FIELD_NULLABLE);
    jobs_close(&jobs);
}

/* Goal: what the load's schema lacks is left out without a word; without a schema the file's own counts.
 * Method: an object with a column that the table lacks. */
static void bqj_32_what_the_schema_lacks_is_left_out(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    static const uint8_t row[] = {1 << 3 | 2, 1, 'x'};
    start(&jobs);
    jobs_load_of(&load, "gs://staging/extra");
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_INVALID);
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "extra"), UINT32_MAX);
    const struct contents *rows = jobs_rows(&jobs, "d", "t");
    assert_true(rows->items[0].digest == digest_bytes((struct bytes){row, sizeof(row)}));
    load.load.schema = NULL;
    load.load.schema_update_options = BIGQUERY_ALLOW_FIELD_ADDITION;
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "extra"), BIGQUERY_FIELD_NULLABLE);
    jobs_close(&jobs);
}

/* --- formats ------------------------------------------------------------------------------------- */

static void put_parquet(struct jobs_kit *jobs, const char *columns)
{
    uint8_t data[1024];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    byte_writer_text(&writer, "PAR1");
    jobs_put_bytes(jobs, "q", jobs_file(columns, "xy", &writer));
}

/* Goal: an object is read as what it is, and not as another format. */
static void bqj_33_a_format_is_not_another_one(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    put_parquet(&jobs, JOBS_COLUMN_ID);
    jobs_load_of(&load, "gs://staging/q");
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_INVALID);
    load.load.source_format = BIGQUERY_PARQUET;
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    load.uri = BYTES_LITERAL(A);
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_INVALID);
    jobs_close(&jobs);
}

/* Goal: Parquet has no JSON column, and lists only when they are asked for. Method: a column of each, in both
 * formats; what a row of two items comes to. */
static void bqj_33_parquet_lacks_json_and_lists(void **state)
{
    (void)state;
    static const char tags[] =
        "{\"name\":\"id\",\"type\":{\"type\":\"array\",\"items\":\"string\"}}";
    struct jobs_kit jobs;
    struct jobs_load load;
    uint8_t data[1024];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    (void)kit_without_table(&jobs);
    byte_writer_text(&writer, "PAR1");
    (void)jobs_file(tags, "", &writer);
    /* One row: an array of one block of two texts. */
    byte_writer_bytes(&writer, (struct bytes){(const uint8_t *)"\x02\x0c\x04\x02x\x02y\x00", 8});
    byte_writer_bytes(&writer, (struct bytes){(const uint8_t *)"0123456789abcde", 16});
    jobs_put_bytes(&jobs, "tags", byte_writer_view(&writer));
    jobs_load_of(&load, "gs://staging/tags");
    load.load.source_format = BIGQUERY_PARQUET;
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE;
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_REPEATED);
    struct bigquery_parquet_options options = {.enable_list_inference = true};
    static const uint8_t both[] = {1 << 3 | 2, 1, 'x', 1 << 3 | 2, 1, 'y'};
    load.load.parquet_options = &options;
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
    assert_true(jobs_rows(&jobs, "d", "t")->items[0].digest ==
                digest_bytes((struct bytes){both, sizeof(both)}));
    load.load.parquet_options = NULL;
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 1);
    assert_true(jobs_rows(&jobs, "d", "t")->items[0].digest == 0); /* an empty row */
    load.columns[0].mode = BIGQUERY_FIELD_NULLABLE;
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_INVALID);
    put_parquet(&jobs, JOBS_COLUMN_ID);
    load.uri = BYTES_LITERAL("gs://staging/q");
    load.columns[0].type = BIGQUERY_FIELD_JSON;
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_INVALID);
    jobs_close(&jobs);
}

/* Goal: a logical type is what the load's schema calls it, when the load says that logical types count.
 * Method: each type under its own name and under another one. */
static void bqj_34_logical_types_count_when_asked(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        enum bigquery_field_type wanted;
        bool uses_logical;
        bool is_loaded;
    } cases[] = {
        {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}",
         BIGQUERY_FIELD_DATETIME,
         true,
         true},
        {"\"string\"", BIGQUERY_FIELD_DATETIME, true, false},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         BIGQUERY_FIELD_DATETIME,
         true,
         false},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         BIGQUERY_FIELD_TIMESTAMP,
         true,
         true},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         BIGQUERY_FIELD_TIMESTAMP,
         false,
         false},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         BIGQUERY_FIELD_INTEGER,
         false,
         true},
        {"{\"type\":\"int\",\"logicalType\":\"date\"}", BIGQUERY_FIELD_DATE, true, true},
        {"\"long\"", BIGQUERY_FIELD_INTEGER, true, true},
        {"\"boolean\"", BIGQUERY_FIELD_BOOLEAN, true, true},
        {"{\"type\":\"string\",\"sqlType\":\"JSON\"}", BIGQUERY_FIELD_JSON, false, true},
        {"\"bytes\"", BIGQUERY_FIELD_STRING, true, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        char columns[256];
        struct byte_writer writer;
        byte_writer_init(&writer, (uint8_t *)columns, sizeof(columns));
        byte_writer_text(&writer, JOBS_COLUMN_ID ",{\"type\":[\"null\",");
        byte_writer_text(&writer, cases[i].type);
        byte_writer_text(&writer, "],\"name\":\"v\"}");
        byte_writer_u8(&writer, 0);
        (void)kit_without_table(&jobs);
        jobs_put(&jobs, "v", columns, "ab");
        jobs_load_of(&load, "gs://staging/v");
        load.load.use_avro_logical_types = cases[i].uses_logical;
        jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
        jobs_load_column(&load, "v", cases[i].wanted, BIGQUERY_FIELD_NULLABLE);
        assert_int_equal(jobs_do_load(&jobs, "j", &load),
                         cases[i].is_loaded ? BIGQUERY_REASON_NONE : BIGQUERY_REASON_INVALID);
        jobs_close(&jobs);
    }
}

/* --- copies and queries --------------------------------------------------------------------------- */

static enum bigquery_reason copy_into(struct jobs_kit *jobs,
                                      const char *id,
                                      const struct bigquery_table_reference *sources,
                                      uint32_t count,
                                      const struct bigquery_table_reference *target,
                                      enum bigquery_write_disposition write)
{
    const void *items[3];
    for (uint32_t i = 0; i < count; i++) {
        items[i] = &sources[i];
    }
    const struct bigquery_job_configuration_copy copy = {.source_tables = {items, count},
                                                         .destination_table = target,
                                                         .write_disposition = (uint32_t)write};
    const struct bigquery_job_configuration job = {.copy = &copy};
    return jobs_do(jobs, id, &job);
}

static const struct bigquery_table_reference final_table = {
    {(const uint8_t *)"p", 1}, {(const uint8_t *)"d", 1}, {(const uint8_t *)"t", 1}};
static const struct bigquery_table_reference parts[] = {
    {{(const uint8_t *)"p", 1}, {(const uint8_t *)"tmp", 3}, {(const uint8_t *)"p0", 2}},
    {{(const uint8_t *)"p", 1}, {(const uint8_t *)"tmp", 3}, {(const uint8_t *)"p1", 2}},
    {{(const uint8_t *)"p", 1}, {(const uint8_t *)"tmp", 3}, {(const uint8_t *)"p2", 2}},
};

/* Two tables of jobs' own, with all columns of the final one. */
static void fill_parts(struct jobs_kit *jobs)
{
    static const char *const uris[] = {A, "gs://staging/b"};
    for (uint32_t i = 0; i < 2; i++) {
        struct jobs_load load;
        jobs_load_of(&load, uris[i]);
        load.table = parts[i];
        load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE;
        jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
        jobs_load_column(&load, "payload", BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE);
        assert_int_equal(jobs_do_load(jobs, i == 0 ? "p0" : "p1", &load), BIGQUERY_REASON_NONE);
    }
}

/* Goal: a copy takes all rows of its sources to its table, at once, and leaves them where they are; a table
 * must be empty unless it is said what becomes of its rows. */
static void bqj_35_a_copy_takes_all_rows(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    start(&jobs);
    fill_parts(&jobs);
    const uint32_t before = created(&jobs);
    assert_int_equal(copy_into(&jobs, "1", parts, 2, &final_table, BIGQUERY_WRITE_DEFAULT),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 5);
    assert_int_equal(created(&jobs), before + 5);
    assert_int_equal(jobs_rows(&jobs, "tmp", "p0")->count, 2);
    assert_int_equal(copy_into(&jobs, "2", parts, 2, &final_table, BIGQUERY_WRITE_DEFAULT),
                     BIGQUERY_REASON_DUPLICATE);
    assert_int_equal(copy_into(&jobs, "3", parts, 2, &final_table, BIGQUERY_WRITE_APPEND),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 10);
    assert_int_equal(copy_into(&jobs, "4", parts, 1, &final_table, BIGQUERY_WRITE_TRUNCATE),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(copy_into(&jobs, "5", parts, 1, &final_table, BIGQUERY_WRITE_TRUNCATE_DATA),
                     BIGQUERY_REASON_INVALID);
    assert_int_equal(copy_into(&jobs, "6", parts, 2, &parts[2], BIGQUERY_WRITE_DEFAULT),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_rows(&jobs, "tmp", "p2")->count, 5);
    jobs_close(&jobs);
}

/* Goal: a copy fails whole for a source that is gone or has other columns, and for a table that has. */
static void bqj_35_sources_have_the_columns_of_the_table(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    fill_parts(&jobs);
    assert_int_equal(copy_into(&jobs, "1", parts, 3, &final_table, BIGQUERY_WRITE_APPEND),
                     BIGQUERY_REASON_NOT_FOUND);
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_SOURCE_GONE));
    assert_int_equal(jobs_count(&jobs, "t"), 0);
    jobs_load_of(&load, A);
    load.table = parts[2];
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(copy_into(&jobs, "3", parts, 3, &final_table, BIGQUERY_WRITE_APPEND),
                     BIGQUERY_REASON_INVALID);
    assert_int_equal(copy_into(&jobs, "4", &parts[2], 1, &final_table, BIGQUERY_WRITE_APPEND),
                     BIGQUERY_REASON_INVALID);
    assert_int_equal(jobs_count(&jobs, "t"), 0);
    assert_int_equal(copy_into(&jobs, "5", &parts[2], 1, &final_table, BIGQUERY_WRITE_TRUNCATE),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(column_mode(&jobs, "payload"), UINT32_MAX);
    jobs_close(&jobs);
}

/* Goal: a query takes all rows of a table to another one, which may keep its columns. Method: the query that
 * is understood, and some that are not. */
static void bqj_21_a_query_writes_as_other_jobs_do(void **state)
{
    (void)state;
    static const char *const wrong[] = {"SELECT 1",
                                        "SELECT * FROM `p.tmp`",
                                        "SELECT * FROM `a.b.c.d`",
                                        "SELECT * FROM `p..p0`",
                                        "SELECT * FROM ``"};
    struct jobs_kit jobs;
    start(&jobs);
    fill_parts(&jobs);
    struct bigquery_job_configuration_query query = {
        .query = BYTES_LITERAL("SELECT * FROM `p.tmp.p1`"),
        .destination_table = &final_table,
        .create_disposition = BIGQUERY_CREATE_NEVER,
        .write_disposition = BIGQUERY_WRITE_TRUNCATE_DATA};
    const struct bigquery_job_configuration job = {.query = &query};
    assert_int_equal(jobs_do(&jobs, "1", &job), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 3);
    assert_int_equal(jobs_do(&jobs, "2", &job), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 3);
    query.query = BYTES_LITERAL("SELECT * FROM `p.tmp.p9`");
    assert_int_equal(jobs_do(&jobs, "3", &job), BIGQUERY_REASON_NOT_FOUND);
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        const char id[] = {'w', (char)('0' + i), 0};
        query.query = bytes_of_text(wrong[i]);
        assert_int_equal(jobs_do(&jobs, id, &job), BIGQUERY_REASON_INVALID);
    }
    assert_int_equal(jobs_count(&jobs, "t"), 3);
    jobs_close(&jobs);
}

/* Goal: rows that came by streams are rows as others are. Method: an append, and a load that replaces it. */
static void bqj_10_rows_of_streams_are_replaced(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    static const uint8_t bytes[] = {1 << 3 | 2, 1, 's'};
    const struct bigquery_row row = {{bytes, sizeof(bytes)}};
    const struct bigquery_field_descriptor id = {BYTES_LITERAL("id"), 1, BIGQUERY_TYPE_STRING};
    const void *rows[] = {&row};
    const void *fields[] = {&id};
    const struct bigquery_proto_rows list = {.serialized_rows = {rows, 1}};
    const struct bigquery_descriptor descriptor = {.field = {fields, 1}};
    const struct bigquery_proto_schema schema = {.proto_descriptor = &descriptor};
    const struct bigquery_proto_data data = {.writer_schema = &schema, .rows = &list};
    const struct bigquery_append_rows_request request = {
        .write_stream = BYTES_LITERAL(JOBS_TABLE "/streams/_default"), .proto_rows = &data};
    assert_int_equal(
        testkit_stream(jobs.kit, 1, PORT_STREAM_SEND, &bigquery_append_rows_method, &request),
        PORT_OK);
    assert_int_equal(jobs_count(&jobs, "t"), 1);
    jobs_load_of(&load, A);
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE_DATA;
    assert_int_equal(jobs_do_load(&jobs, "j", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(testkit_count(jobs.kit, WORLD_HIDDEN, 0), 1);
    jobs_close(&jobs);
}

/* --- what is made and changed ---------------------------------------------------------------------- */

/* Goal: a job that makes a table of the scenario's, or changes its columns, is noted as having done so; rows
 * alone are not, nor are tables of jobs' own. */
static void bqj_10_what_a_job_makes_of_a_table_is_noted(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    (void)kit_without_table(&jobs);
    jobs_load_of(&load, A);
    load.table = parts[0];
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, TESTKIT_ANY_CODE), 0);
    jobs_load_of(&load, A);
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, CONFIGURED_CREATED), 1);
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, TESTKIT_ANY_CODE), 1);
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
    jobs_load_column(&load, "more", BIGQUERY_FIELD_INTEGER, BIGQUERY_FIELD_NULLABLE);
    load.load.schema_update_options = BIGQUERY_ALLOW_FIELD_ADDITION;
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, CONFIGURED_CHANGED), 1);
    const struct bigquery_delete_table_request delete = {
        final_table.project_id, final_table.dataset_id, final_table.table_id};
    assert_int_equal(testkit_call(jobs.kit, &bigquery_delete_table_method, &delete), PORT_OK);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, CONFIGURED_REMOVED), 1);
    jobs_close(&jobs);
}

/* Goal: a table of any name is made where its dataset is, once, with the columns that were asked for. */
static void bqt_06_a_table_is_made_in_a_dataset_that_is_there(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    jobs_load_of(&load, A);
    jobs_load_column(&load, "id", BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE);
    jobs_load_column(&load, "more", BIGQUERY_FIELD_JSON, BIGQUERY_FIELD_NULLABLE);
    struct bigquery_table_reference reference = parts[0];
    const struct bigquery_table table = {.table_reference = &reference, .schema = &load.schema};
    const struct bigquery_insert_table_request insert = {
        .project_id = reference.project_id, .dataset_id = reference.dataset_id, .table = &table};
    assert_int_equal(testkit_call(jobs.kit, &bigquery_insert_table_method, &insert), PORT_OK);
    assert_int_equal(jobs_rows(&jobs, "tmp", "p0")->count, 0);
    assert_int_equal(testkit_count(jobs.kit, WORLD_CONFIGURED, TESTKIT_ANY_CODE), 0);
    assert_int_equal(testkit_call(jobs.kit, &bigquery_insert_table_method, &insert),
                     PORT_ALREADY_EXISTS);
    reference.dataset_id = BYTES_LITERAL("none");
    assert_int_equal(testkit_call(jobs.kit, &bigquery_insert_table_method, &insert),
                     PORT_NOT_FOUND);
    load.table = parts[0];
    load.load.schema = NULL;
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE_DATA;
    assert_int_equal(jobs_do_load(&jobs, "j", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_rows(&jobs, "tmp", "p0")->count, 2);
    assert_int_equal(copy_into(&jobs, "k", parts, 1, &final_table, BIGQUERY_WRITE_TRUNCATE),
                     BIGQUERY_REASON_NONE);
    assert_int_equal(column_mode(&jobs, "more"), BIGQUERY_FIELD_NULLABLE);
    jobs_close(&jobs);
}

/* Goal: rows that stood in a table before are in the way of WRITE_EMPTY, of a load and of a copy, and are
 * nobody's when they are replaced. */
static void bqj_10_rows_from_before_are_in_the_way(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    jobs_open(&jobs, PROFILE_DOCUMENTED);
    testkit_option(jobs.kit, "table_rows", 2);
    jobs_init(&jobs);
    jobs_put(&jobs, "a", JOBS_COLUMN_ID, "ab");
    jobs_put(&jobs, "b", JOBS_COLUMN_ID, "cde");
    fill_parts(&jobs);
    const uint32_t before = created(&jobs);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    jobs_load_of(&load, A);
    load.load.write_disposition = BIGQUERY_WRITE_EMPTY;
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_DUPLICATE);
    assert_int_equal(copy_into(&jobs, "2", parts, 2, &final_table, BIGQUERY_WRITE_EMPTY),
                     BIGQUERY_REASON_DUPLICATE);
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_TABLE_NOT_EMPTY));
    assert_int_equal(created(&jobs), before);
    load.load.write_disposition = BIGQUERY_WRITE_TRUNCATE_DATA;
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(testkit_last(jobs.kit, WORLD_HIDDEN)->record, 0);
    jobs_close(&jobs);
}

TEST_MAIN(bigquery_load,
          TEST(bqj_10_what_a_job_makes_of_a_table_is_noted),
          TEST(bqj_10_rows_from_before_are_in_the_way),
          TEST(bqt_06_a_table_is_made_in_a_dataset_that_is_there),
          TEST(bqj_09_a_load_is_whole),
          TEST(bqj_09_rows_are_what_was_staged),
          TEST(bqj_10_dispositions_decide_what_stays),
          TEST(bqj_10_a_table_is_made_or_not),
          TEST(bqj_10_rows_of_streams_are_replaced),
          TEST(bqj_13_objects_are_read_at_some_time),
          TEST(bqj_13_names_are_of_objects),
          TEST(bqj_31_a_column_is_added_with_leave),
          TEST(bqj_31_a_column_is_relaxed_with_leave),
          TEST(bqj_32_what_the_schema_lacks_is_left_out),
          TEST(bqj_33_a_format_is_not_another_one),
          TEST(bqj_33_parquet_lacks_json_and_lists),
          TEST(bqj_34_logical_types_count_when_asked),
          TEST(bqj_35_a_copy_takes_all_rows),
          TEST(bqj_35_sources_have_the_columns_of_the_table),
          TEST(bqj_21_a_query_writes_as_other_jobs_do))
