/* The sink that writes by load jobs, half by half: what is staged under which names, which jobs a commit
 * finds, starts and attaches to, how a table is made ready, and that nothing is deleted before the end.
 * link: sinks/bigquery/file_loads/file_loads sinks/bigquery/file_loads/file_loads_writer sinks/bigquery/file_loads/file_loads_committer
 * link: sinks/bigquery/file_loads/file_loads_options sinks/bigquery/file_loads/staging sinks/bigquery/file_loads/plan
 * link: sinks/bigquery/file_loads/clean_up sinks/bigquery/file_loads/commit_waves sinks/bigquery/file_loads/commit_jobs
 * link: sinks/bigquery/file_loads/commit_tables sinks/bigquery/file_loads/commit_locations
 * link: sinks/bigquery/file_loads/commit_requests sinks/bigquery/file_loads/plan_jobs sinks/bigquery/file_loads/plan_names
 * link: sinks/bigquery/file_loads/load_job sinks/bigquery/file_loads/load_table sinks/bigquery/frames sinks/bigquery/options
 * link: sinks/bigquery/schema sinks/bigquery/file_loads/avro sinks/bigquery/client/classify
 * link: sinks/generic/user_testkit sinks/host_testkit sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery sinks/port/storage
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err sinks/base/sha256
 */
#include "sinks/bigquery/file_loads/file_loads.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/frames.h"
#include "sinks/generic/user_testkit.h"
#include "sinks/port/bigquery.h"
#include "sinks/port/storage.h"

#include <string.h>

#define TABLE   "projects/p/datasets/d/tables/t"
#define JOB     "00112233445566778899aabbccddeeff"
#define FOLDER  "gs://staging/path/" JOB "/p.d.t/"
#define NO_SEND UINT32_MAX

static struct generic_user user;
static uint8_t column_type; /* of the serializer's second column; 0: it has one */
static uint64_t description_version;
static uint8_t description[128];

static void option(enum file_loads_option which, uint64_t number)
{
    user.options[which].number = number;
}

static struct bigquery_table_field_schema columns[2] = {
    {{(const uint8_t *)"id", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
    {{(const uint8_t *)"more", 4}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE},
};
static const void *column_items[2] = {&columns[0], &columns[1]};

/* One column, or two. */
static struct bigquery_table_schema schema_of(uint32_t count)
{
    return (struct bigquery_table_schema){.fields = {column_items, count}};
}

static enum sink_user_result describe(void *context,
                                      const struct sink_record *record_or_null,
                                      struct bytes destination,
                                      uint64_t *version,
                                      struct bytes *described)
{
    struct byte_writer writer;
    (void)context;
    (void)record_or_null;
    (void)destination;
    columns[1].type = column_type;
    const struct bigquery_table_schema schema = schema_of(column_type == 0 ? 1 : 2);
    byte_writer_init(&writer, description, sizeof(description));
    port_encode(&bigquery_table_schema_message, &schema, &writer);
    *described = byte_writer_view(&writer);
    *version = description_version;
    return SINK_USER_OK;
}

/* A record's value is its id column. */
static enum sink_user_result serialize(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    static uint8_t row[64];
    struct byte_writer writer;
    (void)context;
    (void)destination;
    if (bytes_equal(record->value, BYTES_LITERAL("!skipped"))) {
        return SINK_USER_NONE;
    }
    if (bytes_equal(record->value, BYTES_LITERAL("!fails"))) {
        return SINK_USER_FAILED;
    }
    if (bytes_equal(record->value, BYTES_LITERAL("!junk"))) {
        *payload = BYTES_LITERAL("\xff\xff");
        return SINK_USER_OK;
    }
    byte_writer_init(&writer, row, sizeof(row));
    byte_writer_varint(&writer, 1 << 3 | 2);
    byte_writer_varint(&writer, record->value.size);
    byte_writer_bytes(&writer, record->value);
    *payload = byte_writer_view(&writer);
    return SINK_USER_OK;
}

static void prepare(void)
{
    generic_user_init(&user, &bigquery_file_loads);
    user.user = (struct sink_user){.serialize = serialize, .describe = describe};
    user.options[FILE_LOADS_OPTION_STAGING_PATH].text = BYTES_LITERAL("gs://staging/path");
    user.env.job_id = BYTES_LITERAL(JOB);
    user.env.attempt = 3;
    user.env.subtask = 2;
    column_type = 0;
    description_version = 1;
}

static void open_writer(struct host *host)
{
    generic_open(host, &user, &bigquery_file_loads_writer_half);
}

static void flush_policy(struct host *host)
{
    assert_int_equal(host_count(host, SINK_EFFECT_POLICY_FLUSH), 1);
    host_simple(host, SINK_EVENT_POLICY_FLUSHED);
}

static uint32_t open_send(const struct host *host)
{
    uint32_t found = NO_SEND;
    for (uint32_t i = 0; i < host->send_count; i++) {
        found = host->sends[i].done ? found : i;
    }
    return found;
}

static uint32_t count_sends(const struct host *host, const struct port_method *method)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->send_count; i++) {
        count += host->sends[i].method == method ? 1 : 0;
    }
    return count;
}

static void answer(struct host *host, const struct port_method *method, const void *payload)
{
    const uint32_t send = open_send(host);
    assert_true(send != NO_SEND);
    assert_ptr_equal(host->sends[send].method, method);
    host_answer_ok(host, send, payload);
}

static void refuse(struct host *host, const struct port_method *method, enum port_code code)
{
    const uint32_t send = open_send(host);
    assert_true(send != NO_SEND);
    assert_ptr_equal(host->sends[send].method, method);
    host_answer_code(host, send, code);
}

/* --- the writer -------------------------------------------------------------------------------- */

/* The name that a file is written under ends so. */
static void assert_upload(struct host *host, uint32_t send, const char *end)
{
    struct generic_request decoded = generic_request_of(host, send);
    const struct storage_write_object_request *request = decoded.value;
    const struct storage_object *object = request->write_object_spec->resource;
    const struct bytes prefix = BYTES_LITERAL("path/" JOB "/p.d.t/2-3-");
    const struct bytes suffix = bytes_of_text(end);
    assert_bytes_equal(object->bucket, BYTES_LITERAL("staging"));
    assert_int_equal(object->name.size, prefix.size + 8 + suffix.size);
    assert_bytes_equal((struct bytes){object->name.data, prefix.size}, prefix);
    assert_bytes_equal((struct bytes){object->name.data + prefix.size + 8, suffix.size}, suffix);
    assert_true(request->finish_write);
    const struct bytes content = request->checksummed_data->content;
    const bool is_parquet = suffix.data[suffix.size - 1] == 't';
    assert_bytes_equal((struct bytes){content.data, 4},
                       is_parquet ? BYTES_LITERAL("PAR1") : BYTES_LITERAL("Obj\x01"));
    generic_forget(host, &decoded);
}

static struct staged_file handed_over(const struct host *host)
{
    struct staged_file file;
    assert_non_null(host->committables);
    assert_int_equal(bigquery_file_decode(host->committables->data, &file), ERR_OK);
    assert_bytes_equal(host->committables->header.identity, file.uri);
    return file;
}

static void store(struct host *host)
{
    const struct storage_write_object_response response = {0};
    answer(host, &storage_write_object_method, &response);
}

static void rows_of_an_interval_become_one_file(void **state)
{
    (void)state;
    struct host host;
    prepare();
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_record(&host, 2, "k", "two");
    assert_int_equal(host.send_count, 0);
    host_barrier(&host, 7);
    assert_int_equal(host.send_count, 0);
    flush_policy(&host);
    assert_int_equal(host.send_count, 1);
    assert_upload(&host, 0, "-0.avro");
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 0);
    store(&host);
    assert_int_equal(host_effect(&host, SINK_EFFECT_BARRIER_DONE, 0)->u.checkpoint, 7);
    const struct staged_file file = handed_over(&host);
    assert_bytes_equal(file.job, BYTES_LITERAL(JOB));
    assert_bytes_equal(file.table, BYTES_LITERAL(TABLE));
    assert_int_equal(file.rows, 2);
    assert_int_equal(file.checkpoint, 7);
    assert_int_equal(file.format, BIGQUERY_AVRO);
    assert_true(file.bytes > 0);
    assert_int_equal(host.metrics[FILE_LOADS_METRIC_RECORDS_SENT], 2);
    host_fini(&host);
}

/* Goal: a file's name never comes again while its writer lives (FL12): a commit that is pending names it. */
static void each_interval_has_names_of_its_own(void **state)
{
    (void)state;
    static const char *const ends[] = {"-0.avro", "-1.avro", "-2.avro"};
    struct host host;
    prepare();
    open_writer(&host);
    for (uint32_t i = 0; i < ARRAY_COUNT(ends); i++) {
        host_record(&host, 1, "k", "one");
        host_barrier(&host, i + 1);
        flush_policy(&host);
        assert_upload(&host, i, ends[i]);
        store(&host);
        assert_int_equal(handed_over(&host).checkpoint, i + 1);
    }
    host_fini(&host);
}

static void nothing_written_is_no_file(void **state)
{
    (void)state;
    struct host host;
    prepare();
    open_writer(&host);
    host_record(&host, 1, "k", "!skipped");
    assert_int_equal(host_count(&host, SINK_EFFECT_SKIPPED), 1);
    host_barrier(&host, 1);
    flush_policy(&host);
    assert_int_equal(host.send_count, 0);
    assert_int_equal(host_count(&host, SINK_EFFECT_BARRIER_DONE), 1);
    host_fini(&host);
}

static void a_full_file_is_stored_before_more_is_taken(void **state)
{
    (void)state;
    struct host host;
    prepare();
    option(FILE_LOADS_OPTION_MAX_STAGING_FILE_BYTES, 8);
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    assert_int_equal(host.send_count, 0);
    host_record(&host, 2, "k", "two");
    assert_int_equal(host_count(&host, SINK_EFFECT_ACCEPTED), 1);
    assert_true(host.busy);
    assert_upload(&host, 0, "-0.avro");
    store(&host);
    assert_false(host.busy);
    host_record(&host, 3, "k", "three");
    host_barrier(&host, 1);
    flush_policy(&host);
    store(&host);
    assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], 2);
    host_fini(&host);
}

static void an_error_of_storage_fails_the_writer(void **state)
{
    (void)state;
    static const struct {
        enum port_code code;
        enum sink_reason reason;
    } cases[] = {{PORT_UNAVAILABLE, SINK_REASON_EXHAUSTED},
                 {PORT_NOT_FOUND, SINK_REASON_SERVICE},
                 {PORT_PERMISSION_DENIED, SINK_REASON_SERVICE}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct host host;
        prepare();
        open_writer(&host);
        host_record(&host, 1, "k", "one");
        host_barrier(&host, 1);
        flush_policy(&host);
        refuse(&host, &storage_write_object_method, cases[i].code);
        host_assert_failed(&host, cases[i].reason, "could not be stored");
        assert_int_equal(host.counts[SINK_EFFECT_COMMITTABLES], 0);
        host_fini(&host);
    }
}

static void rows_that_are_none_go_to_the_policy(void **state)
{
    (void)state;
    struct host host;
    prepare();
    open_writer(&host);
    host_record(&host, 1, "k", "!fails");
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.reason,
                     SINK_REASON_SERIALIZER);
    host_record(&host, 2, "k", "!junk");
    assert_int_equal(host_effect(&host, SINK_EFFECT_RECORD_FAILED, 0)->u.failed.reason,
                     SINK_REASON_REJECTED);
    host_record(&host, 3, "k", "one");
    host_barrier(&host, 1);
    assert_int_equal(host_count(&host, SINK_EFFECT_POLICY_FLUSH), 0);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 1);
    host_policy(&host, SINK_EVENT_POLICY_DROPPED, 2);
    flush_policy(&host);
    store(&host);
    assert_int_equal(handed_over(&host).rows, 1);
    assert_int_equal(host.metrics[FILE_LOADS_METRIC_RECORDS_FAILED], 2);
    assert_int_equal(host.metrics[FILE_LOADS_METRIC_RECORDS_SENT], 1);
    host_fini(&host);
}

/* Goal: a file has one schema. Method: it grows between two rows. */
static void another_schema_begins_another_file(void **state)
{
    (void)state;
    struct host host;
    prepare();
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    column_type = BIGQUERY_FIELD_STRING;
    description_version = 2;
    host_record(&host, 2, "k", "two");
    assert_upload(&host, 0, "-0.avro");
    assert_true(host.busy);
    store(&host);
    host_barrier(&host, 1);
    flush_policy(&host);
    assert_upload(&host, 1, "-1.avro");
    store(&host);
    host_fini(&host);
}

/* Goal: M34: Parquet cannot name a JSON column. */
static void json_is_staged_as_avro_whatever_was_asked_for(void **state)
{
    (void)state;
    for (uint32_t json = 0; json < 2; json++) {
        struct host host;
        prepare();
        option(FILE_LOADS_OPTION_STAGING_FORMAT, 1);
        column_type = json == 1 ? BIGQUERY_FIELD_JSON : BIGQUERY_FIELD_STRING;
        open_writer(&host);
        host_record(&host, 1, "k", "one");
        host_barrier(&host, 1);
        flush_policy(&host);
        assert_upload(&host, 0, json == 1 ? "-0.avro" : "-0.parquet");
        store(&host);
        assert_int_equal(handed_over(&host).format, json == 1 ? BIGQUERY_AVRO : BIGQUERY_PARQUET);
        host_fini(&host);
    }
}

/* Goal: files of the end of input are of the checkpoint that they go with, and in batch mode of none. */
static void the_end_of_input_says_which_checkpoint_its_files_are_of(void **state)
{
    (void)state;
    for (uint32_t batch = 0; batch < 2; batch++) {
        struct host host;
        prepare();
        user.job.batch = batch == 1;
        open_writer(&host);
        host_record(&host, 1, "k", "one");
        struct sink_event event = {.kind = SINK_EVENT_END_OF_INPUT};
        event.u.end.barrier = SINK_END_OF_INPUT;
        event.u.end.checkpoint = 9;
        host_step(&host, &event);
        flush_policy(&host);
        store(&host);
        assert_int_equal(handed_over(&host).checkpoint, batch == 1 ? 0 : 9);
        host_fini(&host);
    }
}

static void close_leaves_nothing_behind_and_sends_nothing(void **state)
{
    (void)state;
    struct host host;
    prepare();
    open_writer(&host);
    host_record(&host, 1, "k", "one");
    host_barrier(&host, 1);
    flush_policy(&host);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_fini(&host);
}

/* --- commits ----------------------------------------------------------------------------------- */

#define FILES_MAX 8u

struct commit {
    uint8_t bytes[FILES_MAX][512];
    struct sink_commit_request requests[FILES_MAX];
    uint32_t count;
};

static void add_file(struct commit *commit,
                     const char *uri,
                     enum bigquery_source_format format,
                     uint64_t checkpoint)
{
    const struct staged_file file = {.job = BYTES_LITERAL(JOB),
                                     .table = BYTES_LITERAL(TABLE),
                                     .uri = bytes_of_text(uri),
                                     .bytes = 10,
                                     .rows = 1,
                                     .checkpoint = checkpoint,
                                     .format = (uint8_t)format};
    const size_t size = bigquery_file_size(&file);
    assert_true(commit->count < FILES_MAX);
    assert_true(size <= sizeof(commit->bytes[0]));
    bigquery_file_encode(&file, commit->bytes[commit->count]);
    commit->requests[commit->count] =
        (struct sink_commit_request){.data = {commit->bytes[commit->count], size}};
    commit->count++;
}

static void begin_commit(struct host *host, struct commit *commit)
{
    generic_open(host, &user, &bigquery_file_loads_committer_half);
    host_commit(host, commit->requests, commit->count);
}

/* Two files of checkpoint 7. */
static void begin_two(struct host *host, struct commit *commit)
{
    *commit = (struct commit){0};
    add_file(commit, FOLDER "a", BIGQUERY_AVRO, 7);
    add_file(commit, FOLDER "b", BIGQUERY_AVRO, 7);
    begin_commit(host, commit);
}

static void table_is_there(struct host *host, uint32_t column_count)
{
    const struct bigquery_table_schema schema = schema_of(column_count);
    const struct bigquery_table table = {.etag = BYTES_LITERAL("e1"), .schema = &schema};
    answer(host, &bigquery_get_table_method, &table);
}

static void dataset_is_in(struct host *host, const char *location)
{
    const struct bigquery_dataset dataset = {.location = bytes_of_text(location)};
    answer(host, &bigquery_get_dataset_method, &dataset);
}

/* As far as the first look-up of the first job. */
static void begin_jobs(struct host *host, struct commit *commit)
{
    begin_two(host, commit);
    table_is_there(host, 1);
    dataset_is_in(host, "EU");
    assert_ptr_equal(host->sends[open_send(host)].method, &bigquery_get_job_method);
}

enum found {
    FOUND_DONE = 0,
    FOUND_FAILED,
    FOUND_RUNNING,
    FOUND_RUNNING_WITH_ERROR,
    FOUND_PENDING,
    FOUND_WITHOUT_STATUS,
};

static void job_is(struct host *host, const struct port_method *method, enum found found)
{
    static const struct bigquery_error error = {.reason = BIGQUERY_REASON_BACKEND_ERROR};
    struct bigquery_job_status status = {.state = BIGQUERY_JOB_DONE};
    if (found == FOUND_RUNNING || found == FOUND_RUNNING_WITH_ERROR) {
        status.state = BIGQUERY_JOB_RUNNING;
    } else if (found == FOUND_PENDING) {
        status.state = BIGQUERY_JOB_PENDING;
    }
    if (found == FOUND_FAILED || found == FOUND_RUNNING_WITH_ERROR) {
        status.error_result = &error;
    }
    const struct bigquery_job job = {.status = found == FOUND_WITHOUT_STATUS ? NULL : &status};
    answer(host, method, &job);
}

/* The id that the open request asks for or starts ends so. */
static void assert_id_ends(struct host *host, const char *end)
{
    const uint32_t send = open_send(host);
    struct generic_request decoded = generic_request_of(host, send);
    struct bytes id = {0};
    struct bytes location = {0};
    if (host->sends[send].method == &bigquery_get_job_method) {
        const struct bigquery_get_job_request *request = decoded.value;
        id = request->job_id;
        location = request->location;
    } else {
        assert_ptr_equal(host->sends[send].method, &bigquery_insert_job_method);
        const struct bigquery_insert_job_request *request = decoded.value;
        id = request->job->job_reference->job_id;
        location = request->job->job_reference->location;
    }
    const struct bytes wanted = bytes_of_text(end);
    assert_true(id.size > wanted.size);
    assert_bytes_equal((struct bytes){id.data + id.size - wanted.size, wanted.size}, wanted);
    assert_bytes_equal(location, BYTES_LITERAL("EU"));
    generic_forget(host, &decoded);
}

static void assert_nothing_deleted(const struct host *host)
{
    assert_int_equal(count_sends(host, &storage_delete_object_method), 0);
    assert_int_equal(count_sends(host, &bigquery_delete_table_method), 0);
}

/* Files are deleted, and the commit returns. */
static void end_commit(struct host *host, uint32_t files)
{
    assert_int_equal(count_sends(host, &storage_delete_object_method), files);
    for (uint32_t i = 0; i < files; i++) {
        assert_int_equal(host->counts[SINK_EFFECT_COMMIT_RETURNED], 0);
        answer(host, &storage_delete_object_method, NULL);
    }
    assert_int_equal(host->counts[SINK_EFFECT_COMMIT_RETURNED], 1);
}

static void a_commit_loads_its_files_and_then_deletes_them(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    struct generic_request decoded = generic_request_of(&host, open_send(&host));
    const struct bigquery_insert_job_request *request = decoded.value;
    const struct bigquery_job_configuration_load *load = request->job->configuration->load;
    assert_int_equal(load->source_uris.count, 2);
    assert_bytes_equal(load->source_uris.items[0], BYTES_LITERAL(FOLDER "a"));
    assert_int_equal(load->schema->fields.count, 1);
    assert_bytes_equal(load->destination_table->table_id, BYTES_LITERAL("t"));
    assert_int_equal(load->write_disposition, BIGQUERY_WRITE_APPEND);
    assert_int_equal(load->create_disposition, BIGQUERY_CREATE_IF_NEEDED);
    assert_int_equal(load->source_format, BIGQUERY_AVRO);
    assert_true(load->use_avro_logical_types);
    assert_int_equal(load->schema_update_options, 0);
    generic_forget(&host, &decoded);
    job_is(&host, &bigquery_insert_job_method, FOUND_PENDING);
    assert_true(host.timer_set);
    host_fire(&host);
    job_is(&host, &bigquery_get_job_method, FOUND_RUNNING);
    assert_nothing_deleted(&host);
    host_fire(&host);
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    end_commit(&host, 2);
    assert_int_equal(host.metrics[FILE_LOADS_METRIC_JOBS], 1);
    host_fini(&host);
}

/* Goal: section 6.4: only DONE is an end, and all else is attached to. Method: each way that a job may be
 * found by the first look-up, and whether the next request is for the same id. */
static void a_job_that_is_there_is_attached_to(void **state)
{
    (void)state;
    static const enum found running[] = {
        FOUND_RUNNING, FOUND_RUNNING_WITH_ERROR, FOUND_PENDING, FOUND_WITHOUT_STATUS};
    for (size_t i = 0; i < ARRAY_COUNT(running); i++) {
        struct host host;
        struct commit commit;
        prepare();
        begin_jobs(&host, &commit);
        job_is(&host, &bigquery_get_job_method, running[i]);
        assert_int_equal(open_send(&host), NO_SEND);
        host_fire(&host);
        job_is(&host, &bigquery_get_job_method, running[i]);
        host_fire(&host);
        job_is(&host, &bigquery_get_job_method, FOUND_DONE);
        assert_int_equal(count_sends(&host, &bigquery_insert_job_method), 0);
        end_commit(&host, 2);
        host_fini(&host);
    }
}

static void a_job_that_is_done_is_not_run_again(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    assert_int_equal(count_sends(&host, &bigquery_insert_job_method), 0);
    end_commit(&host, 2);
    host_fini(&host);
}

/* Goal: an id that failed is not used again, and five more may be (BQJ-06). */
static void a_failed_id_gives_way_to_the_next(void **state)
{
    (void)state;
    static const char *const ends[] = {"-r1", "-r2", "-r3", "-r4", "-r5"};
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        job_is(&host, &bigquery_get_job_method, FOUND_FAILED);
        assert_id_ends(&host, ends[i]);
    }
    job_is(&host, &bigquery_get_job_method, FOUND_FAILED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "failed under each of its ids");
    assert_nothing_deleted(&host);
    host_fini(&host);
    begin_jobs(&host, &commit);
    job_is(&host, &bigquery_get_job_method, FOUND_FAILED);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    assert_id_ends(&host, "-r1");
    job_is(&host, &bigquery_insert_job_method, FOUND_PENDING);
    host_fire(&host);
    assert_id_ends(&host, "-r1");
    host_fini(&host);
}

/* Goal: FL05: after 409 the job that is there is judged like any other. */
static void a_duplicate_is_looked_at_and_judged(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    refuse(&host, &bigquery_insert_job_method, PORT_ALREADY_EXISTS);
    job_is(&host, &bigquery_get_job_method, FOUND_FAILED);
    assert_id_ends(&host, "-r1");
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    refuse(&host, &bigquery_insert_job_method, PORT_ALREADY_EXISTS);
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    end_commit(&host, 2);
    host_fini(&host);
    begin_jobs(&host, &commit);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    refuse(&host, &bigquery_insert_job_method, PORT_ALREADY_EXISTS);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_SERVICE, "NOT_FOUND");
    host_fini(&host);
}

/* Goal: FL08: whatever goes wrong ends the commit with what it was, and deletes nothing. Method: each
 * request in turn is refused. */
static void any_other_error_ends_the_commit_and_deletes_nothing(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < 5; at++) {
        struct host host;
        struct commit commit;
        prepare();
        begin_two(&host, &commit);
        const struct port_method *methods[] = {&bigquery_get_table_method,
                                               &bigquery_get_dataset_method,
                                               &bigquery_get_job_method,
                                               &bigquery_insert_job_method,
                                               &bigquery_get_job_method};
        for (uint32_t i = 0; i < at; i++) {
            if (i == 0) {
                table_is_there(&host, 1);
            } else if (i == 1) {
                dataset_is_in(&host, "EU");
            } else if (i == 2) {
                refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
            } else {
                job_is(&host, &bigquery_insert_job_method, FOUND_RUNNING);
                host_fire(&host);
            }
        }
        refuse(&host, methods[at], PORT_UNAVAILABLE);
        host_assert_failed(&host, SINK_REASON_EXHAUSTED, "UNAVAILABLE");
        assert_nothing_deleted(&host);
        assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 0);
        host_fini(&host);
    }
}

static void a_job_that_fails_ends_the_commit(void **state)
{
    (void)state;
    for (uint32_t vanishes = 0; vanishes < 2; vanishes++) {
        struct host host;
        struct commit commit;
        prepare();
        begin_jobs(&host, &commit);
        refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        job_is(&host, &bigquery_insert_job_method, FOUND_RUNNING);
        host_fire(&host);
        if (vanishes == 1) {
            refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        } else {
            job_is(&host, &bigquery_get_job_method, FOUND_FAILED);
        }
        host_assert_failed(&host, SINK_REASON_SERVICE, "flink-bq-load-" JOB "-c7-");
        assert_nothing_deleted(&host);
        host_fini(&host);
    }
}

/* Goal: FL27: the rows are in their table, whatever becomes of the files. */
static void an_error_of_the_clean_up_does_not_fail_the_commit(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    refuse(&host, &storage_delete_object_method, PORT_PERMISSION_DENIED);
    refuse(&host, &storage_delete_object_method, PORT_UNAVAILABLE);
    assert_int_equal(host.counts[SINK_EFFECT_COMMIT_RETURNED], 1);
    assert_int_equal(host.metrics[FILE_LOADS_METRIC_CLEAN_UP_ERRORS], 2);
    host_fini(&host);
}

/* Goal: FL04: without a location a job outside US is not found; a configured one is used as it is, and one
 * that was asked for is not asked for again (M35). */
static void a_dataset_is_asked_once_where_it_is(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    assert_id_ends(&host, "");
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    end_commit(&host, 2);
    host_commit(&host, commit.requests, commit.count);
    table_is_there(&host, 1);
    assert_id_ends(&host, "");
    host_fini(&host);
    user.options[FILE_LOADS_OPTION_LOCATION].text = BYTES_LITERAL("EU");
    begin_two(&host, &commit);
    table_is_there(&host, 1);
    assert_id_ends(&host, "");
    host_fini(&host);
}

/* --- tables ------------------------------------------------------------------------------------ */

static uint32_t schema_of_load(struct host *host)
{
    dataset_is_in(host, "EU");
    refuse(host, &bigquery_get_job_method, PORT_NOT_FOUND);
    struct generic_request decoded = generic_request_of(host, open_send(host));
    const struct bigquery_insert_job_request *request = decoded.value;
    const uint32_t count = request->job->configuration->load->schema->fields.count;
    generic_forget(host, &decoded);
    return count;
}

/* Goal: FL21: 409 may mean someone else's table: it is read again. */
static void a_table_that_was_created_is_read_again(void **state)
{
    (void)state;
    for (uint32_t raced = 0; raced < 2; raced++) {
        struct host host;
        struct commit commit;
        prepare();
        begin_two(&host, &commit);
        refuse(&host, &bigquery_get_table_method, PORT_NOT_FOUND);
        if (raced == 1) {
            refuse(&host, &bigquery_insert_table_method, PORT_ALREADY_EXISTS);
        } else {
            const struct bigquery_table table = {0};
            answer(&host, &bigquery_insert_table_method, &table);
        }
        table_is_there(&host, 2);
        assert_int_equal(schema_of_load(&host), 2);
        host_fini(&host);
    }
}

static void a_table_that_must_not_be_created_is_missed(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    option(FILE_LOADS_OPTION_CREATE_DISPOSITION, BIGQUERY_CREATE_NEVER);
    begin_two(&host, &commit);
    refuse(&host, &bigquery_get_table_method, PORT_NOT_FOUND);
    host_assert_failed(&host, SINK_REASON_SERVICE, "not to be created");
    host_fini(&host);
}

/* Goal: FL33: a rate limit of creations says to try again. */
static void a_creation_is_tried_again(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    option(FILE_LOADS_OPTION_RECONCILE_MAX_ATTEMPTS, 2);
    begin_two(&host, &commit);
    refuse(&host, &bigquery_get_table_method, PORT_NOT_FOUND);
    struct port_status status = {.count = 1};
    status.causes[0] = (struct port_cause){
        .domain = PORT_DOMAIN_HTTP, .code = 403, .reason = BIGQUERY_REASON_RATE_LIMIT_EXCEEDED};
    host_answer_status(&host, open_send(&host), status);
    assert_int_equal(open_send(&host), NO_SEND);
    host_fire(&host);
    refuse(&host, &bigquery_insert_table_method, PORT_UNAVAILABLE);
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "table");
    host_fini(&host);
}

/* Goal: FL23: a table that may not be changed keeps its columns, and it is told once that staged ones are
 * dropped. FL22: the next commit looks at it again. */
static void a_table_that_may_not_be_changed_keeps_its_columns(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    column_type = BIGQUERY_FIELD_STRING;
    begin_two(&host, &commit);
    table_is_there(&host, 1);
    assert_int_equal(host.phases[FILE_LOADS_PHASE_COLUMNS_DROPPED], 1);
    assert_int_equal(schema_of_load(&host), 1);
    job_is(&host, &bigquery_insert_job_method, FOUND_DONE);
    end_commit(&host, 2);
    host_commit(&host, commit.requests, commit.count);
    table_is_there(&host, 2);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    struct generic_request decoded = generic_request_of(&host, open_send(&host));
    const struct bigquery_insert_job_request *request = decoded.value;
    assert_int_equal(request->job->configuration->load->schema->fields.count, 2);
    generic_forget(&host, &decoded);
    assert_int_equal(host.phases[FILE_LOADS_PHASE_COLUMNS_DROPPED], 1);
    host_fini(&host);
}

/* Goal: FL20: a column that is new is given to the table before the load, on condition that nobody else changed
 * it; who loses that race reads it again. */
static void a_table_is_given_its_columns_first(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    column_type = BIGQUERY_FIELD_STRING;
    option(FILE_LOADS_OPTION_ALLOW_NEW_FIELDS, 1);
    begin_two(&host, &commit);
    table_is_there(&host, 1);
    struct generic_request decoded = generic_request_of(&host, open_send(&host));
    const struct bigquery_patch_table_request *request = decoded.value;
    assert_bytes_equal(request->if_match, BYTES_LITERAL("e1"));
    assert_int_equal(request->table->schema->fields.count, 2);
    generic_forget(&host, &decoded);
    refuse(&host, &bigquery_patch_table_method, PORT_FAILED_PRECONDITION);
    host_fire(&host);
    table_is_there(&host, 1);
    const struct bigquery_table changed = {0};
    answer(&host, &bigquery_patch_table_method, &changed);
    assert_int_equal(host.phases[FILE_LOADS_PHASE_TABLE_CHANGED], 1);
    assert_int_equal(schema_of_load(&host), 2);
    host_fini(&host);
}

static void a_table_that_is_replaced_gets_the_serializer_s_schema(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    column_type = BIGQUERY_FIELD_STRING;
    option(FILE_LOADS_OPTION_WRITE_DISPOSITION, FILE_LOADS_WRITE_TRUNCATE);
    begin_two(&host, &commit);
    table_is_there(&host, 1);
    assert_int_equal(schema_of_load(&host), 2);
    host_fini(&host);
}

/* --- overflow ---------------------------------------------------------------------------------- */

/* Goal: a copy begins when both loads are DONE, and its tables and files are deleted behind it. */
static void overflow_goes_through_tables_that_are_dropped_behind_it(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    option(FILE_LOADS_OPTION_LOAD_FILES, 1);
    begin_jobs(&host, &commit);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    assert_id_ends(&host, "-p0");
    job_is(&host, &bigquery_insert_job_method, FOUND_RUNNING);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    assert_id_ends(&host, "-p1");
    job_is(&host, &bigquery_insert_job_method, FOUND_DONE);
    assert_int_equal(open_send(&host), NO_SEND);
    host_fire(&host);
    assert_id_ends(&host, "-p0");
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
    struct generic_request decoded = generic_request_of(&host, open_send(&host));
    const struct bigquery_insert_job_request *request = decoded.value;
    const struct bigquery_job_configuration_copy *copy = request->job->configuration->copy;
    assert_int_equal(copy->source_tables.count, 2);
    assert_int_equal(copy->create_disposition, BIGQUERY_CREATE_NEVER);
    assert_int_equal(copy->write_disposition, BIGQUERY_WRITE_APPEND);
    assert_bytes_equal(copy->destination_table->table_id, BYTES_LITERAL("t"));
    generic_forget(&host, &decoded);
    assert_nothing_deleted(&host);
    job_is(&host, &bigquery_insert_job_method, FOUND_DONE);
    assert_int_equal(count_sends(&host, &bigquery_delete_table_method), 2);
    assert_int_equal(count_sends(&host, &storage_delete_object_method), 0);
    answer(&host, &bigquery_delete_table_method, NULL);
    answer(&host, &bigquery_delete_table_method, NULL);
    end_commit(&host, 2);
    host_fini(&host);
}

/* Goal: FL25: without list inference a repeated column of Parquet is loaded empty (M34). FL29: columns are added
 * by the load into the table, never by one into a temporary table beside others. */
static void a_load_says_what_its_files_need(void **state)
{
    (void)state;
    for (uint32_t overflow = 0; overflow < 2; overflow++) {
        struct host host;
        struct commit commit = {0};
        prepare();
        option(FILE_LOADS_OPTION_ALLOW_NEW_FIELDS, 1);
        option(FILE_LOADS_OPTION_LOAD_FILES, overflow == 1 ? 1 : 2);
        add_file(&commit, FOLDER "a", BIGQUERY_PARQUET, 7);
        add_file(&commit, FOLDER "b", BIGQUERY_PARQUET, 7);
        begin_commit(&host, &commit);
        table_is_there(&host, 1);
        dataset_is_in(&host, "EU");
        refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        struct generic_request decoded = generic_request_of(&host, open_send(&host));
        const struct bigquery_insert_job_request *request = decoded.value;
        const struct bigquery_job_configuration_load *load = request->job->configuration->load;
        assert_int_equal(load->source_format, BIGQUERY_PARQUET);
        assert_true(load->parquet_options->enable_list_inference);
        assert_int_equal(load->schema_update_options,
                         overflow == 1 ? 0 : BIGQUERY_ALLOW_FIELD_ADDITION);
        generic_forget(&host, &decoded);
        host_fini(&host);
    }
}

/* Goal: M34: Parquet files whose table has a JSON column by now are loaded without it, Avro ones with it. */
static void a_load_of_parquet_names_no_column_of_json(void **state)
{
    (void)state;
    static const uint8_t formats[] = {BIGQUERY_PARQUET, BIGQUERY_AVRO};
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        struct host host;
        struct commit commit = {0};
        prepare();
        column_type = BIGQUERY_FIELD_JSON;
        add_file(&commit, FOLDER "a", formats[i], 7);
        begin_commit(&host, &commit);
        table_is_there(&host, 2);
        dataset_is_in(&host, "EU");
        refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        struct generic_request decoded = generic_request_of(&host, open_send(&host));
        const struct bigquery_insert_job_request *request = decoded.value;
        const struct port_list *named = &request->job->configuration->load->schema->fields;
        bool has_json = false;
        for (uint32_t k = 0; k < named->count; k++) {
            const struct bigquery_table_field_schema *field = named->items[k];
            has_json |= field->type == BIGQUERY_FIELD_JSON;
        }
        assert_true(named->count > 0 || formats[i] == BIGQUERY_PARQUET);
        assert_int_equal(has_json, formats[i] == BIGQUERY_AVRO);
        generic_forget(&host, &decoded);
        host_fini(&host);
    }
}

/* Goal: BQJ-10: each disposition is the load's, and only one that keeps columns beside rows asks for others. */
static void a_load_has_the_configured_disposition(void **state)
{
    (void)state;
    static const struct {
        enum bigquery_write_disposition write;
        uint32_t updates;
    } expected[FILE_LOADS_WRITE_COUNT] = {
        [FILE_LOADS_WRITE_APPEND] = {BIGQUERY_WRITE_APPEND, BIGQUERY_ALLOW_FIELD_ADDITION},
        [FILE_LOADS_WRITE_TRUNCATE] = {BIGQUERY_WRITE_TRUNCATE, 0},
        [FILE_LOADS_WRITE_TRUNCATE_DATA] = {BIGQUERY_WRITE_TRUNCATE_DATA,
                                            BIGQUERY_ALLOW_FIELD_ADDITION},
        [FILE_LOADS_WRITE_EMPTY] = {BIGQUERY_WRITE_EMPTY, 0},
    };
    for (uint64_t write = 0; write < FILE_LOADS_WRITE_COUNT; write++) {
        struct host host;
        struct commit commit;
        prepare();
        option(FILE_LOADS_OPTION_WRITE_DISPOSITION, write);
        option(FILE_LOADS_OPTION_ALLOW_NEW_FIELDS, 1);
        begin_jobs(&host, &commit);
        refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        struct generic_request decoded = generic_request_of(&host, open_send(&host));
        const struct bigquery_insert_job_request *request = decoded.value;
        const struct bigquery_job_configuration_load *load = request->job->configuration->load;
        assert_int_equal(load->write_disposition, expected[write].write);
        assert_int_equal(load->schema_update_options, expected[write].updates);
        generic_forget(&host, &decoded);
        host_fini(&host);
    }
}

/* Goal: M32, M34: what a copy gathers is alike: the temporary table of Parquet files is given its column of JSON
 * before its load, which keeps it; not when that load is found. Method: two formats replace a table. */
static void a_temporary_table_has_the_columns_that_its_load_cannot_name(void **state)
{
    (void)state;
    for (uint32_t found = 0; found < 2; found++) {
        struct host host;
        struct commit commit = {0};
        prepare();
        column_type = BIGQUERY_FIELD_JSON;
        option(FILE_LOADS_OPTION_WRITE_DISPOSITION, FILE_LOADS_WRITE_TRUNCATE);
        add_file(&commit, FOLDER "a", BIGQUERY_AVRO, 0);
        add_file(&commit, FOLDER "b", BIGQUERY_PARQUET, 0);
        begin_commit(&host, &commit);
        table_is_there(&host, 1);
        dataset_is_in(&host, "EU");
        job_is(&host, &bigquery_get_job_method, FOUND_DONE);
        if (found == 1) {
            job_is(&host, &bigquery_get_job_method, FOUND_DONE);
            assert_int_equal(count_sends(&host, &bigquery_get_table_method), 1);
            host_fini(&host);
            continue;
        }
        refuse(&host, &bigquery_get_job_method, PORT_NOT_FOUND);
        refuse(&host, &bigquery_get_table_method, PORT_NOT_FOUND);
        struct generic_request decoded = generic_request_of(&host, open_send(&host));
        const struct bigquery_insert_table_request *made = decoded.value;
        assert_int_equal(made->table->schema->fields.count, 2);
        assert_true(made->table->table_reference->table_id.size > 4);
        generic_forget(&host, &decoded);
        const struct bigquery_table table = {0};
        answer(&host, &bigquery_insert_table_method, &table);
        table_is_there(&host, 2);
        assert_int_equal(host.phases[FILE_LOADS_PHASE_TEMPORARY_TABLE_READY], 1);
        assert_int_equal(host.phases[FILE_LOADS_PHASE_TABLE_CREATED], 0);
        decoded = generic_request_of(&host, open_send(&host));
        const struct bigquery_insert_job_request *request = decoded.value;
        const struct bigquery_job_configuration_load *load = request->job->configuration->load;
        assert_int_equal(load->create_disposition, BIGQUERY_CREATE_NEVER);
        assert_int_equal(load->write_disposition, BIGQUERY_WRITE_TRUNCATE_DATA);
        assert_int_equal(load->schema->fields.count, 1);
        generic_forget(&host, &decoded);
        host_fini(&host);
    }
}

/* Goal: FL28, FL30: what is wrong with a commit is found before anything is asked. */
static void a_commit_that_cannot_be_planned_asks_nothing(void **state)
{
    (void)state;
    struct host host;
    struct commit commit = {0};
    prepare();
    add_file(&commit, FOLDER "a", BIGQUERY_AVRO, 7);
    add_file(&commit, FOLDER "b", BIGQUERY_AVRO, 8);
    begin_commit(&host, &commit);
    host_assert_failed(&host, SINK_REASON_STATE, "more than one checkpoint");
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
    option(FILE_LOADS_OPTION_LOAD_FILES, 1);
    option(FILE_LOADS_OPTION_LOADS, 1);
    begin_two(&host, &commit);
    host_assert_failed(&host, SINK_REASON_STATE, "more than 1 loads");
    assert_int_equal(host.send_count, 0);
    host_fini(&host);
}

static void a_close_in_the_middle_cancels_what_is_open(void **state)
{
    (void)state;
    struct host host;
    struct commit commit;
    prepare();
    begin_jobs(&host, &commit);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_fini(&host);
    begin_jobs(&host, &commit);
    job_is(&host, &bigquery_get_job_method, FOUND_DONE);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_int_equal(host.cancel_count, 2);
    host_fini(&host);
}

/* --- frames and options ------------------------------------------------------------------------ */

/* Goal: FL18: a file has the format that it was staged in; those of version 2 had one. */
static void older_files_are_avro_and_the_oldest_are_refused(void **state)
{
    (void)state;
    struct commit commit = {0};
    struct staged_file file;
    add_file(&commit, FOLDER "a", BIGQUERY_PARQUET, 7);
    struct bytes data = commit.requests[0].data;
    assert_int_equal(bigquery_file_decode(data, &file), ERR_OK);
    assert_int_equal(file.format, BIGQUERY_PARQUET);
    assert_bytes_equal(file.uri, BYTES_LITERAL(FOLDER "a"));
    for (size_t size = 0; size < data.size; size++) {
        assert_true(bigquery_file_decode((struct bytes){data.data, size}, &file) != ERR_OK);
    }
    uint8_t *bytes = commit.bytes[0];
    for (size_t i = 0; i < data.size; i++) {
        bytes[i] ^= 0x20;
        assert_true(bigquery_file_decode(data, &file) != ERR_OK);
        bytes[i] ^= 0x20;
    }
    bytes[3] = 1;
    assert_int_equal(bigquery_file_decode(data, &file), ERR_VERSION);
    /* Version 2: without the format, four bytes before the checksum. */
    bytes[3] = 2;
    struct byte_writer writer;
    byte_writer_init(&writer, bytes + data.size - 8, 4);
    byte_writer_u32_be(&writer, digest_checksum((struct bytes){bytes, data.size - 8}));
    assert_int_equal(bigquery_file_decode((struct bytes){bytes, data.size - 4}, &file), ERR_OK);
    assert_int_equal(file.format, BIGQUERY_AVRO);
    assert_int_equal(file.checkpoint, 7);
}

static void assert_validated(const char *complaint_or_null)
{
    uint8_t text[256];
    struct byte_writer message;
    byte_writer_init(&message, text, sizeof(text));
    const enum err err = bigquery_file_loads.validate(user.options, &user.job, &message);
    assert_int_equal(err, complaint_or_null == NULL ? ERR_OK : ERR_INVALID);
    if (complaint_or_null != NULL) {
        assert_bytes_equal(byte_writer_view(&message), bytes_of_text(complaint_or_null));
    }
}

static void a_streaming_job_must_fit(void **state)
{
    (void)state;
    prepare();
    user.job.checkpoint_interval = MINUTES(2);
    assert_validated(NULL);
    user.job.checkpoint_interval = MINUTES(2) - 1;
    assert_validated("checkpoint interval: it is less than min_checkpoint_interval");
    user.job.checkpoint_interval = MINUTES(2);
    user.job.checkpointing = false;
    user.job.batch = true;
    for (uint64_t write = FILE_LOADS_WRITE_TRUNCATE; write < FILE_LOADS_WRITE_COUNT; write++) {
        option(FILE_LOADS_OPTION_WRITE_DISPOSITION, write);
        user.job.batch = true;
        user.job.checkpointing = false;
        assert_validated(NULL);
        user.job.batch = false;
        user.job.checkpointing = true;
        assert_validated("write_disposition: a streaming job may only write_append");
    }
    user.job.checkpointing = false;
    user.job.batch = false;
    assert_validated("checkpointing: off; it must be on");
    user.job.checkpointing = true;
    user.job.barriers_exactly_once = false;
    assert_validated("checkpointing mode: at least once; it must be exactly once");
    user.job.barriers_exactly_once = true;
    user.job.bounded = true;
    user.job.checkpoints_after_finish = false;
    assert_validated("checkpoints after tasks finish: off; they must be on for bounded input");
    user.job.runtime_automatic = true;
    assert_validated("runtime mode: automatic; it must be set to streaming or to batch");
}

static void options_must_fit(void **state)
{
    (void)state;
    prepare();
    user.job.checkpoint_interval = MINUTES(2);
    user.options[FILE_LOADS_OPTION_STAGING_PATH].text = BYTES_LITERAL("s3://bucket");
    assert_validated("staging_path: it is not of the form gs://BUCKET/PATH");
    user.options[FILE_LOADS_OPTION_STAGING_PATH].text = BYTES_LITERAL("gs://");
    assert_validated("staging_path: it is not of the form gs://BUCKET/PATH");
    user.options[FILE_LOADS_OPTION_STAGING_PATH].text = BYTES_LITERAL("gs://bucket");
    user.options[FILE_LOADS_OPTION_TEMP_DATASET].text = BYTES_LITERAL("d");
    assert_validated("temp_dataset: it is not of the form projects/P/datasets/D");
    user.options[FILE_LOADS_OPTION_TEMP_DATASET].text = BYTES_LITERAL("projects/p/datasets/d");
    option(FILE_LOADS_OPTION_POLL_MAX_BACKOFF, MS(1));
    assert_validated("poll_max_backoff: it is less than poll_initial_backoff");
}

TEST_MAIN(file_loads,
          TEST(rows_of_an_interval_become_one_file),
          TEST(each_interval_has_names_of_its_own),
          TEST(nothing_written_is_no_file),
          TEST(a_full_file_is_stored_before_more_is_taken),
          TEST(an_error_of_storage_fails_the_writer),
          TEST(rows_that_are_none_go_to_the_policy),
          TEST(another_schema_begins_another_file),
          TEST(json_is_staged_as_avro_whatever_was_asked_for),
          TEST(the_end_of_input_says_which_checkpoint_its_files_are_of),
          TEST(close_leaves_nothing_behind_and_sends_nothing),
          TEST(a_commit_loads_its_files_and_then_deletes_them),
          TEST(a_job_that_is_there_is_attached_to),
          TEST(a_job_that_is_done_is_not_run_again),
          TEST(a_failed_id_gives_way_to_the_next),
          TEST(a_duplicate_is_looked_at_and_judged),
          TEST(any_other_error_ends_the_commit_and_deletes_nothing),
          TEST(a_job_that_fails_ends_the_commit),
          TEST(an_error_of_the_clean_up_does_not_fail_the_commit),
          TEST(a_dataset_is_asked_once_where_it_is),
          TEST(a_table_that_was_created_is_read_again),
          TEST(a_table_that_must_not_be_created_is_missed),
          TEST(a_creation_is_tried_again),
          TEST(a_table_that_may_not_be_changed_keeps_its_columns),
          TEST(a_table_is_given_its_columns_first),
          TEST(a_table_that_is_replaced_gets_the_serializer_s_schema),
          TEST(overflow_goes_through_tables_that_are_dropped_behind_it),
          TEST(a_load_says_what_its_files_need),
          TEST(a_load_of_parquet_names_no_column_of_json),
          TEST(a_load_has_the_configured_disposition),
          TEST(a_temporary_table_has_the_columns_that_its_load_cannot_name),
          TEST(a_commit_that_cannot_be_planned_asks_nothing),
          TEST(a_close_in_the_middle_cancels_what_is_open),
          TEST(older_files_are_avro_and_the_oldest_are_refused),
          TEST(a_streaming_job_must_fit),
          TEST(options_must_fit))
