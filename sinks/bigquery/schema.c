#include "sinks/bigquery/schema.h"

#include "sinks/base/check.h"

/* --- reading ----------------------------------------------------------------------------------- */

static const struct bigquery_table_field_schema *
column_at(const struct bigquery_table_schema *schema, uint32_t index)
{
    return schema->fields.items[index];
}

static const struct bigquery_table_field_schema *
column_by_name(const struct bigquery_table_schema *schema, struct bytes name)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        if (bytes_equal(column_at(schema, i)->name, name)) {
            return column_at(schema, i);
        }
    }
    return NULL;
}

/* Whether rows can be written as a schema says. */
static bool is_valid(const struct bigquery_table_schema *schema)
{
    if (schema->fields.count == 0 || schema->fields.count > BIGQUERY_COLUMNS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *column = column_at(schema, i);
        if (column->name.size == 0 || column->type == BIGQUERY_FIELD_TYPE_NONE ||
            column->type >= BIGQUERY_FIELD_TYPE_END || column->mode >= BIGQUERY_FIELD_MODE_END ||
            column_by_name(schema, column->name) != column) {
            return false;
        }
    }
    return true;
}

static const struct bigquery_field_descriptor change_fields[] = {
    {{(const uint8_t *)"_CHANGE_TYPE", 12}, BIGQUERY_FIELD_CHANGE_TYPE, BIGQUERY_TYPE_STRING},
    {{(const uint8_t *)"_CHANGE_SEQUENCE_NUMBER", 23},
     BIGQUERY_FIELD_CHANGE_SEQUENCE,
     BIGQUERY_TYPE_STRING},
};

/* Whether a column has the name of a field that is none. */
static bool has_change_field(const struct bigquery_schema *schema,
                             const struct bigquery_table_schema *table)
{
    bool found = false;
    for (uint32_t i = 0; i < schema->change_fields; i++) {
        found = found || column_by_name(table, change_fields[i].name) != NULL;
    }
    return found;
}

/* Times and truths are numbers. */
static enum bigquery_proto_type proto_type(enum bigquery_field_type type)
{
    switch (type) {
    case BIGQUERY_FIELD_STRING:
    case BIGQUERY_FIELD_JSON:
        return BIGQUERY_TYPE_STRING;
    case BIGQUERY_FIELD_BYTES:
        return BIGQUERY_TYPE_BYTES;
    case BIGQUERY_FIELD_INTEGER:
    case BIGQUERY_FIELD_BOOLEAN:
    case BIGQUERY_FIELD_TIMESTAMP:
    case BIGQUERY_FIELD_DATE:
    case BIGQUERY_FIELD_DATETIME:
        return BIGQUERY_TYPE_INT64;
    case BIGQUERY_FIELD_TYPE_NONE:
    case BIGQUERY_FIELD_TYPE_END:
        break;
    }
    UNREACHABLE();
}

void bigquery_schema_release(struct bigquery_schema *schema, const struct allocator *allocator)
{
    allocator_give(allocator, schema->block, schema->block_size);
    allocator_give(allocator, schema->fields, schema->fields_size);
    *schema = (struct bigquery_schema){.change_fields = schema->change_fields};
}

/* A schema points into itself. */
static void link_parts(struct bigquery_schema *schema)
{
    schema->proto = (struct bigquery_proto_schema){.proto_descriptor = &schema->descriptor};
}

void bigquery_schema_move(struct bigquery_schema *to,
                          const struct allocator *allocator,
                          struct bigquery_schema *from)
{
    bigquery_schema_release(to, allocator);
    *to = *from;
    link_parts(to);
    *from = (struct bigquery_schema){.change_fields = to->change_fields};
}

/* The fields of a descriptor and the list of them, in one block. */
static void describe(struct bigquery_schema *schema)
{
    const uint32_t count = schema->table->fields.count;
    struct bigquery_field_descriptor *fields =
        (struct bigquery_field_descriptor *)(void *)schema->fields;
    const void **items = (const void **)(void *)(fields + count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bigquery_table_field_schema *column = column_at(schema->table, i);
        fields[i] = (struct bigquery_field_descriptor){
            .name = column->name,
            .number = i + 1,
            .type = proto_type((enum bigquery_field_type)column->type),
        };
        items[i] = &fields[i];
    }
    for (uint32_t i = 0; i < schema->change_fields; i++) {
        items[count + i] = &change_fields[i];
    }
    schema->descriptor = (struct bigquery_descriptor){
        .name = {(const uint8_t *)"Row", 3}, .field = {items, count + schema->change_fields}};
    link_parts(schema);
}

enum err bigquery_schema_read(struct bigquery_schema *schema,
                              const struct allocator *allocator,
                              struct bytes description,
                              uint64_t version)
{
    void *block = NULL;
    size_t block_size = 0;
    const enum err err =
        port_decode(&bigquery_table_schema_message, description, allocator, &block, &block_size);
    if (err != ERR_OK) {
        return err;
    }
    const struct bigquery_table_schema *table = block;
    if (!is_valid(table) || has_change_field(schema, table)) {
        allocator_give(allocator, block, block_size);
        return ERR_INVALID;
    }
    const size_t fields_size =
        table->fields.count * (sizeof(struct bigquery_field_descriptor) + sizeof(void *)) +
        schema->change_fields * sizeof(void *);
    uint8_t *fields = allocator_take(allocator, fields_size);
    if (fields == NULL) {
        allocator_give(allocator, block, block_size);
        return ERR_LIMIT;
    }
    bigquery_schema_release(schema, allocator);
    *schema = (struct bigquery_schema){
        .change_fields = schema->change_fields,
        .version = version,
        .table = table,
        .block = block,
        .block_size = block_size,
        .fields = fields,
        .fields_size = fields_size,
    };
    describe(schema);
    return ERR_OK;
}

/* --- uniting ----------------------------------------------------------------------------------- */

static enum bigquery_union
conflict(struct bigquery_united *united, struct bytes column, const char *what)
{
    united->conflict = what;
    united->column = column;
    return BIGQUERY_UNION_CONFLICT;
}

/* A column that is there. It is never tightened: rows that are REQUIRED to have it do. */
static enum bigquery_union unite_column(const struct bigquery_table_field_schema *wanted,
                                        struct bigquery_schema_rules rules,
                                        struct bigquery_united *united,
                                        struct bigquery_table_field_schema *there)
{
    const bool is_repeated = wanted->mode == BIGQUERY_FIELD_REPEATED;
    if (wanted->type != there->type) {
        return conflict(united, wanted->name, "a column has another type in the table");
    }
    if (is_repeated != (there->mode == BIGQUERY_FIELD_REPEATED)) {
        return conflict(united, wanted->name, "a column is REPEATED on one side only");
    }
    if (there->mode != BIGQUERY_FIELD_REQUIRED || wanted->mode == BIGQUERY_FIELD_REQUIRED) {
        return BIGQUERY_UNION_UNCHANGED;
    }
    if (!rules.allow_relaxation) {
        return conflict(united, wanted->name, "a column is REQUIRED and may not be relaxed");
    }
    there->mode = BIGQUERY_FIELD_NULLABLE;
    return BIGQUERY_UNION_CHANGED;
}

static struct bigquery_table_field_schema *united_column(struct bigquery_united *united,
                                                         struct bytes name)
{
    for (uint32_t i = 0; i < united->schema.fields.count; i++) {
        if (bytes_equal(united->fields[i].name, name)) {
            return &united->fields[i];
        }
    }
    return NULL;
}

/* Rows that are there lack a new column. */
static enum bigquery_union add_column(const struct bigquery_table_field_schema *wanted,
                                      struct bigquery_schema_rules rules,
                                      struct bigquery_united *united)
{
    const uint32_t count = united->schema.fields.count;
    if (!rules.allow_new) {
        return conflict(united, wanted->name, "a column is not there and may not be added");
    }
    if (count == BIGQUERY_COLUMNS_MAX) {
        return conflict(united, wanted->name, "a column is one too many for its table");
    }
    united->fields[count] = *wanted;
    if (wanted->mode == BIGQUERY_FIELD_REQUIRED) {
        united->fields[count].mode = BIGQUERY_FIELD_NULLABLE;
    }
    united->items[count] = &united->fields[count];
    united->schema.fields.count++;
    return BIGQUERY_UNION_CHANGED;
}

enum bigquery_union bigquery_unite(const struct bigquery_table_schema *there,
                                   const struct bigquery_table_schema *wanted,
                                   struct bigquery_schema_rules rules,
                                   struct bigquery_united *united)
{
    enum bigquery_union all = BIGQUERY_UNION_UNCHANGED;
    if (there->fields.count > BIGQUERY_COLUMNS_MAX) {
        return conflict(united, (struct bytes){0}, "the table has too many columns");
    }
    united->schema.fields = (struct port_list){united->items, there->fields.count};
    for (uint32_t i = 0; i < there->fields.count; i++) {
        united->fields[i] = *column_at(there, i);
        united->items[i] = &united->fields[i];
    }
    for (uint32_t i = 0; i < wanted->fields.count; i++) {
        const struct bigquery_table_field_schema *column = column_at(wanted, i);
        struct bigquery_table_field_schema *found = united_column(united, column->name);
        const enum bigquery_union one = found != NULL ? unite_column(column, rules, united, found)
                                                      : add_column(column, rules, united);
        if (one == BIGQUERY_UNION_CONFLICT) {
            return one;
        }
        all = one == BIGQUERY_UNION_CHANGED ? one : all;
    }
    return all;
}
