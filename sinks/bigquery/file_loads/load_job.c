#include "sinks/bigquery/file_loads/load_job.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/options.h"

/* --- finding, starting, attaching -------------------------------------------------------------- */

void load_job_begin(struct load_job *job)
{
    *job = (struct load_job){.step = LOAD_JOB_LOOKS_UP};
}

static void take_next_id(struct load_job *job)
{
    job->retries++;
    job->step = job->retries < LOAD_JOB_IDS ? LOAD_JOB_LOOKS_UP : LOAD_JOB_FAILED;
}

/* A job as it was found. Only DONE is an end, and then only an error result is a failure (BQJ-05). */
static void judge(struct load_job *job, const struct bigquery_job *found)
{
    const struct bigquery_job_status *status = found->status;
    if (status == NULL || status->state != BIGQUERY_JOB_DONE) {
        job->step = LOAD_JOB_RUNS;
    } else if (status->error_result == NULL) {
        job->step = LOAD_JOB_DONE;
    } else {
        job->error = status->error_result->reason;
        if (job->step == LOAD_JOB_RUNS) {
            job->step = LOAD_JOB_FAILED;
        } else {
            take_next_id(job);
        }
    }
}

void load_job_answer(struct load_job *job, const struct port_answer *answer)
{
    const uint16_t code = port_status_first(&answer->status);
    CHECK(job->step >= LOAD_JOB_LOOKS_UP);
    CHECK(job->step <= LOAD_JOB_RUNS);
    if (answer->outcome == PORT_OUTCOME_OK && answer->payload != NULL) {
        judge(job, answer->payload);
    } else if (job->step == LOAD_JOB_LOOKS_UP && code == PORT_NOT_FOUND) {
        job->step = LOAD_JOB_STARTS;
    } else if (job->step == LOAD_JOB_STARTS && code == PORT_ALREADY_EXISTS) {
        job->step = LOAD_JOB_LOOKS_AGAIN;
    } else {
        job->step = LOAD_JOB_FAILED;
    }
}

void load_job_write_id(const struct load_job *job,
                       const struct plan_job *plan,
                       struct byte_writer *writer)
{
    byte_writer_bytes(writer, plan->id);
    if (job->retries > 0) {
        byte_writer_text(writer, "-r");
        byte_writer_decimal(writer, job->retries);
    }
}

/* --- requests ---------------------------------------------------------------------------------- */

static struct bigquery_table_reference reference_of(struct bytes table)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(table, &parts);
    CHECK(is_name);
    return (struct bigquery_table_reference){
        .project_id = parts.project, .dataset_id = parts.dataset, .table_id = parts.table};
}

static bool has_json(const struct bigquery_table_schema *schema)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = schema->fields.items[i];
        if (field->type == BIGQUERY_FIELD_JSON) {
            return true;
        }
    }
    return false;
}

bool load_job_keeps_columns(const struct plan_job *plan, const struct bigquery_table_schema *schema)
{
    return !plan->into_table && plan->format == BIGQUERY_PARQUET && has_json(schema);
}

static enum bigquery_create_disposition
create_disposition(const struct plan_job *plan, const struct load_request_options *options)
{
    const bool creates = plan->into_table ? options->creates : plan->creates;
    return creates ? BIGQUERY_CREATE_IF_NEEDED : BIGQUERY_CREATE_NEVER;
}

/* The columns that a load may name: Parquet has no JSON, so that a file that was staged before its table got
 * such a column, or by a writer that knew of none, is loaded without (M34). */
static enum err name_columns(struct load_request *request,
                             const struct allocator *allocator,
                             const struct bigquery_table_schema *schema)
{
    request->items = allocator_take(allocator, schema->fields.count * sizeof(const void *));
    if (request->items == NULL) {
        return ERR_LIMIT;
    }
    request->item_count = schema->fields.count;
    request->schema = (struct bigquery_table_schema){.fields = {request->items, 0}};
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = schema->fields.items[i];
        if (field->type != BIGQUERY_FIELD_JSON) {
            request->items[request->schema.fields.count++] = field;
        }
    }
    return ERR_OK;
}

static enum err make_load(struct load_request *request,
                          const struct allocator *allocator,
                          const struct plan_job *plan,
                          const struct load_request_options *options)
{
    const bool is_parquet = plan->format == BIGQUERY_PARQUET;
    const bool is_named_anew = is_parquet && options->schema_or_null != NULL;
    const bool keeps = is_named_anew && load_job_keeps_columns(plan, options->schema_or_null);
    if (is_named_anew && name_columns(request, allocator, options->schema_or_null) != ERR_OK) {
        return ERR_LIMIT;
    }
    /* Without it a repeated column of a Parquet file is loaded empty (M34). */
    request->parquet = (struct bigquery_parquet_options){.enable_list_inference = true};
    request->load = (struct bigquery_job_configuration_load){
        .source_uris = {plan->sources, plan->source_count},
        .schema = is_named_anew ? &request->schema : options->schema_or_null,
        .destination_table = &request->target,
        .create_disposition =
            keeps ? BIGQUERY_CREATE_NEVER : (uint32_t)create_disposition(plan, options),
        .write_disposition = keeps ? (uint8_t)BIGQUERY_WRITE_TRUNCATE_DATA : plan->write,
        .source_format = plan->format,
        .schema_update_options = plan->into_table ? options->schema_updates : 0,
        .use_avro_logical_types = plan->format == BIGQUERY_AVRO,
        .parquet_options = is_parquet ? &request->parquet : NULL,
    };
    request->configuration.load = &request->load;
    return ERR_OK;
}

static enum err make_copy(struct load_request *request,
                          const struct allocator *allocator,
                          const struct plan_job *plan)
{
    request->item_count = plan->source_count;
    request->sources = allocator_take(allocator, plan->source_count * sizeof(*request->sources));
    request->items = allocator_take(allocator, plan->source_count * sizeof(const void *));
    if (request->sources == NULL || request->items == NULL) {
        load_request_release(request, allocator);
        return ERR_LIMIT;
    }
    for (uint32_t i = 0; i < plan->source_count; i++) {
        request->sources[i] = reference_of(plan->sources[i]);
        request->items[i] = &request->sources[i];
    }
    request->copy = (struct bigquery_job_configuration_copy){
        .source_tables = {request->items, plan->source_count},
        .destination_table = &request->target,
        .create_disposition = plan->creates ? BIGQUERY_CREATE_IF_NEEDED : BIGQUERY_CREATE_NEVER,
        .write_disposition = plan->write,
    };
    request->configuration.copy = &request->copy;
    return ERR_OK;
}

static void make_query(struct load_request *request, const struct plan_job *plan)
{
    struct byte_writer text;
    const struct bigquery_table_reference source = reference_of(plan->sources[0]);
    CHECK(plan->source_count == 1);
    byte_writer_init(&text, request->text, sizeof(request->text));
    byte_writer_text(&text, "SELECT * FROM `");
    byte_writer_bytes(&text, source.project_id);
    byte_writer_text(&text, ".");
    byte_writer_bytes(&text, source.dataset_id);
    byte_writer_text(&text, ".");
    byte_writer_bytes(&text, source.table_id);
    byte_writer_text(&text, "`");
    CHECK(!text.overflowed);
    request->query = (struct bigquery_job_configuration_query){
        .query = byte_writer_view(&text),
        .destination_table = &request->target,
        .create_disposition = BIGQUERY_CREATE_NEVER,
        .write_disposition = plan->write,
    };
    request->configuration.query = &request->query;
}

enum err load_request_make(struct load_request *request,
                           const struct allocator *allocator,
                           const struct load_job *job,
                           const struct plan_job *plan,
                           const struct load_request_options *options)
{
    struct byte_writer id;
    enum err err = ERR_OK;
    byte_writer_init(&id, request->id, sizeof(request->id));
    load_job_write_id(job, plan, &id);
    CHECK(!id.overflowed);
    request->target = reference_of(plan->target);
    request->configuration = (struct bigquery_job_configuration){0};
    if (plan->kind == PLAN_LOAD) {
        err = make_load(request, allocator, plan, options);
    } else if (plan->kind == PLAN_COPY) {
        err = make_copy(request, allocator, plan);
    } else {
        make_query(request, plan);
    }
    const struct bytes project = reference_of(plan->table).project_id;
    request->reference = (struct bigquery_job_reference){
        .project_id = project, .job_id = byte_writer_view(&id), .location = options->location};
    request->body = (struct bigquery_job){.configuration = &request->configuration,
                                          .job_reference = &request->reference};
    request->insert =
        (struct bigquery_insert_job_request){.project_id = project, .job = &request->body};
    return err;
}

void load_request_release(struct load_request *request, const struct allocator *allocator)
{
    allocator_give(allocator, request->sources, request->item_count * sizeof(*request->sources));
    allocator_give(allocator, (void *)request->items, request->item_count * sizeof(const void *));
    request->sources = NULL;
    request->items = NULL;
    request->item_count = 0;
}
