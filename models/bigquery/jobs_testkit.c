#include "models/bigquery/jobs_testkit.h"

#include "models/storage/storage.h"
#include "sinks/base/test.h"
#include "sinks/port/storage.h"

#define FILE_MAX 2048u

static const uint8_t marker[16] = "0123456789abcde";

void jobs_open(struct jobs_kit *jobs, enum profile profile)
{
    *jobs = (struct jobs_kit){.kit = testkit_open(&bigquery_model, profile)};
    jobs_text(jobs, "dataset", JOBS_TEMP);
}

void jobs_text(struct jobs_kit *jobs, const char *key, const char *text)
{
    for (size_t i = 0; i < bigquery_model.option_count; i++) {
        if (strcmp(bigquery_model.options[i].key, key) == 0) {
            jobs->kit->options[i].text = bytes_of_text(text);
            return;
        }
    }
    fail_msg("no option %s", key);
}

void jobs_init(struct jobs_kit *jobs)
{
    struct world *world = jobs->kit->world;
    const struct model_type *type = &storage_model;
    assert_true(type->option_count <= ARRAY_COUNT(jobs->storage_options));
    for (size_t i = 0; i < type->option_count; i++) {
        jobs->storage_options[i].number = type->options[i].fallback;
        if (type->options[i].fallback_text != NULL) {
            jobs->storage_options[i].text = bytes_of_text(type->options[i].fallback_text);
        }
    }
    jobs->services[0] = world->services[0];
    jobs->services[1] = (struct service){.type = type,
                                         .state = arena_take_zeroed(world->arena, type->state_size),
                                         .node = world_add_node(world, lane_make(LANE_SERVICE, 1))};
    world->services = jobs->services;
    world->service_count = 2;
    const struct model_env env = {.world = world,
                                  .service = 1,
                                  .node = jobs->services[1].node,
                                  .options = jobs->storage_options};
    type->init(jobs->services[1].state, &env);
    testkit_init(jobs->kit);
}

void jobs_close(struct jobs_kit *jobs)
{
    testkit_close(jobs->kit);
}

void jobs_pass(struct jobs_kit *jobs, nanos length)
{
    testkit_run_for(jobs->kit, length);
    testkit_run_for(jobs->kit, 0); /* what the end of the first run came before */
}

/* --- objects ------------------------------------------------------------------------------------- */

static void
call_storage(struct jobs_kit *jobs, const struct port_method *method, const void *payload)
{
    struct model_replies replies = {.count = 0};
    const struct model_request request = {
        .request = 1, .attempt = 1, .method = method, .payload = payload, .kind = PORT_CALL};
    storage_model.handle(jobs->services[1].state, &request, &replies);
    assert_int_equal(replies.count, 1);
    assert_int_equal(replies.items[0].status.count, 0);
}

void jobs_put_bytes(struct jobs_kit *jobs, const char *name, struct bytes content)
{
    const struct storage_object object = {.name = bytes_of_text(name),
                                          .bucket = BYTES_LITERAL("staging")};
    const struct storage_write_object_spec spec = {.resource = &object};
    const struct storage_checksummed_data data = {content};
    const struct storage_write_object_request request = {
        .write_object_spec = &spec, .checksummed_data = &data, .finish_write = true};
    call_storage(jobs, &storage_write_object_method, &request);
}

void jobs_delete_object(struct jobs_kit *jobs, const char *name)
{
    const struct storage_delete_object_request request = {BYTES_LITERAL("staging"),
                                                          bytes_of_text(name)};
    call_storage(jobs, &storage_delete_object_method, &request);
}

static void put_size(struct byte_writer *writer, size_t size)
{
    byte_writer_varint(writer, size * 2);
}

static void put_sized(struct byte_writer *writer, struct bytes bytes)
{
    put_size(writer, bytes.size);
    byte_writer_bytes(writer, bytes);
}

struct bytes jobs_file(const char *columns, const char *ids, struct byte_writer *writer)
{
    uint32_t further = 0;
    for (const char *at = columns; *at != 0; at++) {
        further += strncmp(at, "\"name\"", 6) == 0 ? 1u : 0u;
    }
    further--;
    const struct bytes parts[] = {BYTES_LITERAL("{\"type\":\"record\",\"name\":\"R\",\"fields\":["),
                                  bytes_of_text(columns),
                                  BYTES_LITERAL("]}")};
    byte_writer_text(writer, "Obj\x01");
    put_size(writer, 1);
    put_sized(writer, BYTES_LITERAL("avro.schema"));
    put_size(writer, parts[0].size + parts[1].size + parts[2].size);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        byte_writer_bytes(writer, parts[i]);
    }
    put_size(writer, 0);
    byte_writer_bytes(writer, (struct bytes){marker, sizeof(marker)});
    const size_t count = strlen(ids);
    if (count > 0) {
        put_size(writer, count);
        put_size(writer, count * (3 + further));
        for (size_t i = 0; i < count; i++) {
            put_size(writer, 1); /* not null */
            put_sized(writer, (struct bytes){(const uint8_t *)ids + i, 1});
            for (uint32_t k = 0; k < further; k++) {
                put_size(writer, 0); /* null */
            }
        }
        byte_writer_bytes(writer, (struct bytes){marker, sizeof(marker)});
    }
    assert_false(writer->overflowed);
    return byte_writer_view(writer);
}

void jobs_put(struct jobs_kit *jobs, const char *name, const char *columns, const char *ids)
{
    uint8_t data[FILE_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, data, sizeof(data));
    jobs_put_bytes(jobs, name, jobs_file(columns, ids, &writer));
}

/* --- jobs ---------------------------------------------------------------------------------------- */

void jobs_load_of(struct jobs_load *load, const char *uri)
{
    *load = (struct jobs_load){
        .table = {BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("t")},
        .uri = bytes_of_text(uri),
    };
    load->load = (struct bigquery_job_configuration_load){
        .source_uris = {&load->uri, 1},
        .destination_table = &load->table,
        .source_format = BIGQUERY_AVRO,
        .use_avro_logical_types = true,
    };
}

void jobs_load_column(struct jobs_load *load,
                      const char *name,
                      enum bigquery_field_type type,
                      enum bigquery_field_mode mode)
{
    const uint32_t index = load->schema.fields.count;
    assert_true(index < ARRAY_COUNT(load->columns));
    load->columns[index] =
        (struct bigquery_table_field_schema){bytes_of_text(name), (uint32_t)type, (uint32_t)mode};
    load->items[index] = &load->columns[index];
    load->schema.fields = (struct port_list){load->items, index + 1};
    load->load.schema = &load->schema;
}

enum port_code jobs_insert(struct jobs_kit *jobs,
                           const char *id,
                           const char *location,
                           const struct bigquery_job_configuration *configuration)
{
    const struct bigquery_job_reference reference = {
        BYTES_LITERAL("p"), bytes_of_text(id), bytes_of_text(location)};
    const struct bigquery_job job = {.configuration = configuration, .job_reference = &reference};
    const struct bigquery_insert_job_request request = {BYTES_LITERAL("p"), &job};
    return testkit_call(jobs->kit, &bigquery_insert_job_method, &request);
}

enum port_code jobs_insert_load(struct jobs_kit *jobs, const char *id, const struct jobs_load *load)
{
    const struct bigquery_job_configuration configuration = {.load = &load->load};
    return jobs_insert(jobs, id, "", &configuration);
}

enum port_code jobs_get(struct jobs_kit *jobs, const char *id, const char *location)
{
    const struct bigquery_get_job_request request = {
        BYTES_LITERAL("p"), bytes_of_text(id), bytes_of_text(location)};
    return testkit_call(jobs->kit, &bigquery_get_job_method, &request);
}

const struct bigquery_job *jobs_job(const struct jobs_kit *jobs)
{
    assert_non_null(jobs->kit->payload);
    return jobs->kit->payload;
}

uint32_t jobs_reason(const struct jobs_kit *jobs)
{
    return jobs->kit->status.count == 0 ? 0 : jobs->kit->status.causes[0].reason;
}

enum bigquery_reason jobs_do(struct jobs_kit *jobs,
                             const char *id,
                             const struct bigquery_job_configuration *configuration)
{
    if (jobs_insert(jobs, id, "", configuration) != PORT_OK) {
        return (enum bigquery_reason)jobs_reason(jobs);
    }
    jobs_pass(jobs, SECONDS(4));
    assert_int_equal(jobs_get(jobs, id, "US"), PORT_OK);
    const struct bigquery_job_status *status = jobs_job(jobs)->status;
    assert_int_equal(status->state, BIGQUERY_JOB_DONE);
    return status->error_result == NULL ? BIGQUERY_REASON_NONE
                                        : (enum bigquery_reason)status->error_result->reason;
}

enum bigquery_reason
jobs_do_load(struct jobs_kit *jobs, const char *id, const struct jobs_load *load)
{
    const struct bigquery_job_configuration configuration = {.load = &load->load};
    return jobs_do(jobs, id, &configuration);
}

const struct contents *jobs_rows(struct jobs_kit *jobs, const char *dataset, const char *table)
{
    const struct bigquery_table_reference reference = {
        BYTES_LITERAL("p"), bytes_of_text(dataset), bytes_of_text(table)};
    const struct table *found = bigquery_table_named(jobs->kit->state, &reference);
    return found == NULL || !found->exists ? NULL : &found->rows;
}

uint32_t jobs_count(struct jobs_kit *jobs, const char *table)
{
    const struct contents *rows = jobs_rows(jobs, "d", table);
    return rows == NULL ? UINT32_MAX : rows->count;
}
