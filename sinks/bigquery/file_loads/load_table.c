#include "sinks/bigquery/file_loads/load_table.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/bigquery/options.h"

/* --- schemas ----------------------------------------------------------------------------------- */

static void release_schema(struct load_schema *schema, const struct allocator *allocator)
{
    allocator_give(allocator, schema->block, schema->block_size);
    *schema = (struct load_schema){0};
}

static enum err
read_schema(struct load_schema *schema, const struct allocator *allocator, struct bytes source)
{
    void *value = NULL;
    size_t size = 0;
    const enum err err =
        port_decode(&bigquery_table_schema_message, source, allocator, &value, &size);
    if (err == ERR_OK) {
        *schema = (struct load_schema){.table = value, .block = value, .block_size = size};
    }
    return err;
}

/* A copy in memory of its own. */
static enum err copy_schema(struct load_schema *schema,
                            const struct allocator *allocator,
                            const struct bigquery_table_schema *from)
{
    const size_t size = port_encoded_size(&bigquery_table_schema_message, from);
    uint8_t *bytes = allocator_take(allocator, size + 1);
    struct byte_writer writer;
    if (bytes == NULL) {
        return ERR_LIMIT;
    }
    byte_writer_init(&writer, bytes, size);
    port_encode(&bigquery_table_schema_message, from, &writer);
    const enum err err = read_schema(schema, allocator, byte_writer_view(&writer));
    allocator_give(allocator, bytes, size + 1);
    CHECK(err == ERR_OK || err == ERR_LIMIT);
    return err;
}

struct load_table_rules load_table_rules_of(const struct file_loads_config *config)
{
    return (struct load_table_rules){
        .schedule = &config->reconcile,
        .creates = config->creates,
        .replaces = config->plan.write == BIGQUERY_WRITE_TRUNCATE,
        .schema = {.allow_new = config->allow_new_fields,
                   .allow_relaxation = config->allow_relaxation},
    };
}

enum err load_table_begin(struct load_table *table,
                          const struct allocator *allocator,
                          struct bytes name,
                          struct load_table_rules rules,
                          struct bytes wanted)
{
    *table = (struct load_table){.name = name, .rules = rules, .step = LOAD_TABLE_READS};
    const enum err err = read_schema(&table->wanted, allocator, wanted);
    return err == ERR_OK || err == ERR_LIMIT ? err : ERR_INVALID;
}

/* A temporary table is the sink's own, and may be changed as it likes. */
enum err load_table_begin_like(struct load_table *table,
                               const struct allocator *allocator,
                               struct bytes name,
                               const struct load_table *like)
{
    CHECK(like->step == LOAD_TABLE_READY);
    const struct load_table_rules rules = {
        .schedule = like->rules.schedule, .creates = true, .schema = {true, true}};
    *table = (struct load_table){.name = name, .rules = rules, .step = LOAD_TABLE_READS};
    return copy_schema(&table->wanted, allocator, like->schema.table);
}

void load_table_release(struct load_table *table, const struct allocator *allocator)
{
    release_schema(&table->schema, allocator);
    release_schema(&table->wanted, allocator);
    release_schema(&table->change, allocator);
}

/* --- answers ----------------------------------------------------------------------------------- */

static void fail(struct load_table *table, const char *complaint_or_null)
{
    table->step = LOAD_TABLE_FAILED;
    table->complaint = complaint_or_null;
}

static bool is_retryable(const struct port_answer *answer)
{
    return file_loads_may_mend(&answer->status) || bigquery_is_rate_limited(&answer->status);
}

static void pause(struct load_table *table, uint8_t resumes)
{
    table->failures++;
    table->resumes = resumes;
    if (retry_is_allowed(table->rules.schedule, table->failures)) {
        table->step = LOAD_TABLE_PAUSES;
    } else {
        fail(table, NULL);
    }
}

static enum err settle(struct load_table *table,
                       const struct allocator *allocator,
                       const struct bigquery_table_schema *schema)
{
    const enum err err = copy_schema(&table->schema, allocator, schema);
    if (err == ERR_OK) {
        table->step = LOAD_TABLE_READY;
    }
    return err;
}

static bool lacks_columns(const struct bigquery_table_schema *there,
                          const struct bigquery_table_schema *wanted)
{
    for (uint32_t i = 0; i < wanted->fields.count; i++) {
        const struct bigquery_table_field_schema *field = wanted->fields.items[i];
        bool found = false;
        for (uint32_t k = 0; k < there->fields.count && !found; k++) {
            const struct bigquery_table_field_schema *other = there->fields.items[k];
            found = bytes_equal(field->name, other->name);
        }
        if (!found) {
            return true;
        }
    }
    return false;
}

static enum err unite(struct load_table *table,
                      const struct allocator *allocator,
                      const struct bigquery_table_schema *there)
{
    struct bigquery_united *united = allocator_take(allocator, sizeof(*united));
    if (united == NULL) {
        return ERR_LIMIT;
    }
    enum err err = ERR_OK;
    switch (bigquery_unite(there, table->wanted.table, table->rules.schema, united)) {
    case BIGQUERY_UNION_UNCHANGED:
        err = settle(table, allocator, there);
        break;
    case BIGQUERY_UNION_CHANGED:
        release_schema(&table->change, allocator);
        err = copy_schema(&table->change, allocator, &united->schema);
        table->step = err == ERR_OK ? (uint8_t)LOAD_TABLE_CHANGES : table->step;
        break;
    case BIGQUERY_UNION_CONFLICT:
        fail(table, united->conflict);
        break;
    }
    allocator_give(allocator, united, sizeof(*united));
    return err;
}

static enum err take_table(struct load_table *table,
                           const struct allocator *allocator,
                           const struct bigquery_table *found)
{
    static const struct bigquery_table_schema none = {0};
    const struct bigquery_table_schema *there = found->schema == NULL ? &none : found->schema;
    if (table->rules.replaces) {
        return settle(table, allocator, table->wanted.table);
    }
    if (!table->rules.schema.allow_new && !table->rules.schema.allow_relaxation) {
        table->drops_columns = lacks_columns(there, table->wanted.table);
        return settle(table, allocator, there);
    }
    if (found->etag.size > sizeof(table->etag)) {
        fail(table, "its etag is too long");
        return ERR_OK;
    }
    memcpy(table->etag, found->etag.size == 0 ? table->etag : found->etag.data, found->etag.size);
    table->etag_size = found->etag.size;
    return unite(table, allocator, there);
}

static enum err take_read(struct load_table *table,
                          const struct allocator *allocator,
                          const struct port_answer *answer)
{
    if (answer->outcome == PORT_OUTCOME_OK && answer->payload != NULL) {
        return take_table(table, allocator, answer->payload);
    }
    if (port_status_first(&answer->status) != PORT_NOT_FOUND) {
        fail(table, NULL);
    } else if (table->is_created) {
        fail(table, "it was created and is not there");
    } else if (table->rules.creates) {
        table->step = LOAD_TABLE_CREATES;
    } else {
        fail(table, "it is not there and is not to be created");
    }
    return ERR_OK;
}

static void take_created(struct load_table *table, const struct port_answer *answer)
{
    const bool is_there = answer->outcome == PORT_OUTCOME_OK ||
                          port_status_first(&answer->status) == PORT_ALREADY_EXISTS;
    if (is_there) {
        table->is_created = true;
        table->step = LOAD_TABLE_READS;
    } else if (is_retryable(answer)) {
        pause(table, LOAD_TABLE_CREATES);
    } else {
        fail(table, NULL);
    }
}

enum err load_table_answer(struct load_table *table,
                           const struct allocator *allocator,
                           const struct port_answer *answer)
{
    if (table->step == LOAD_TABLE_READS) {
        return take_read(table, allocator, answer);
    }
    if (table->step == LOAD_TABLE_CREATES) {
        take_created(table, answer);
        return ERR_OK;
    }
    CHECK(table->step == LOAD_TABLE_CHANGES);
    if (answer->outcome == PORT_OUTCOME_OK) {
        table->is_changed = true;
        return settle(table, allocator, table->change.table);
    }
    if (bigquery_is_lost_race(&answer->status)) {
        pause(table, LOAD_TABLE_READS);
    } else {
        fail(table, NULL);
    }
    return ERR_OK;
}

void load_table_resume(struct load_table *table)
{
    CHECK(table->step == LOAD_TABLE_PAUSES);
    table->step = table->resumes;
}

/* --- requests ---------------------------------------------------------------------------------- */

static void make_body(struct load_table_request *request,
                      const struct bigquery_table_schema *schema)
{
    request->body =
        (struct bigquery_table){.table_reference = &request->reference, .schema = schema};
}

void load_table_request_make(struct load_table_request *request, const struct load_table *table)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(table->name, &parts);
    CHECK(is_name);
    request->reference = (struct bigquery_table_reference){
        .project_id = parts.project, .dataset_id = parts.dataset, .table_id = parts.table};
    if (table->step == LOAD_TABLE_READS) {
        request->get = (struct bigquery_get_table_request){
            .project_id = parts.project, .dataset_id = parts.dataset, .table_id = parts.table};
        request->method = &bigquery_get_table_method;
        request->payload = &request->get;
    } else if (table->step == LOAD_TABLE_CREATES) {
        make_body(request, table->wanted.table);
        request->insert = (struct bigquery_insert_table_request){
            .project_id = parts.project, .dataset_id = parts.dataset, .table = &request->body};
        request->method = &bigquery_insert_table_method;
        request->payload = &request->insert;
    } else {
        CHECK(table->step == LOAD_TABLE_CHANGES);
        make_body(request, table->change.table);
        request->patch =
            (struct bigquery_patch_table_request){.project_id = parts.project,
                                                  .dataset_id = parts.dataset,
                                                  .table_id = parts.table,
                                                  .table = &request->body,
                                                  .if_match = {table->etag, table->etag_size}};
        request->method = &bigquery_patch_table_method;
        request->payload = &request->patch;
    }
}
