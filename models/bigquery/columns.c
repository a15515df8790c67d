/* The columns of tables, and how they may change (BQT-03). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

static const struct bigquery_table_field_schema id_column = {
    {(const uint8_t *)"id", 2}, BIGQUERY_FIELD_STRING, BIGQUERY_FIELD_NULLABLE};
static const struct bigquery_table_field_schema payload_column = {
    {(const uint8_t *)"payload", 7}, BIGQUERY_FIELD_BYTES, BIGQUERY_FIELD_NULLABLE};

void bigquery_default_columns(struct bigquery *state, struct table *table)
{
    const void *items[] = {&id_column, &payload_column};
    const struct bigquery_table_schema schema = {.fields = {items, ARRAY_COUNT(items)}};
    bigquery_set_columns(state, table, &schema, 0);
}

static const struct bigquery_table_field_schema *
field_at(const struct bigquery_table_schema *schema, uint32_t index)
{
    return schema->fields.items[index];
}

static const struct bigquery_table_field_schema *
field_by_name(const struct bigquery_table_schema *schema, struct bytes name)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        if (bytes_equal(field_at(schema, i)->name, name)) {
            return field_at(schema, i);
        }
    }
    return NULL;
}

const struct column *bigquery_column_of(const struct table *table, struct bytes name)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (bytes_equal(table->columns[i].name, name)) {
            return &table->columns[i];
        }
    }
    return NULL;
}

static bool is_column(const struct bigquery_table_field_schema *field)
{
    return field->type != BIGQUERY_FIELD_TYPE_NONE && field->type < BIGQUERY_FIELD_TYPE_END &&
           field->name.size > 0 && field->mode < BIGQUERY_FIELD_MODE_END;
}

bool bigquery_columns_are_valid(const struct bigquery_table_schema *schema_or_null)
{
    if (schema_or_null == NULL) {
        return true;
    }
    if (schema_or_null->fields.count > BIGQUERY_COLUMN_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < schema_or_null->fields.count; i++) {
        const struct bigquery_table_field_schema *field = field_at(schema_or_null, i);
        if (!is_column(field) || field_by_name(schema_or_null, field->name) != field) {
            return false;
        }
    }
    return true;
}

/* A column stays what it is but for REQUIRED, which may become NULLABLE. */
static bool may_become(const struct column *column, const struct bigquery_table_field_schema *field)
{
    const uint32_t mode = field->mode;
    return field->type == column->type &&
           (mode == column->mode ||
            (column->mode == BIGQUERY_FIELD_REQUIRED && mode == BIGQUERY_FIELD_NULLABLE));
}

bool bigquery_columns_may_become(const struct table *table,
                                 const struct bigquery_table_schema *schema)
{
    if (!bigquery_columns_are_valid(schema)) {
        return false;
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct bigquery_table_field_schema *field =
            field_by_name(schema, table->columns[i].name);
        if (field == NULL || !may_become(&table->columns[i], field)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = field_at(schema, i);
        if (bigquery_column_of(table, field->name) == NULL &&
            field->mode == BIGQUERY_FIELD_REQUIRED) {
            return false;
        }
    }
    return true;
}

static void change_column(struct column *column,
                          const struct bigquery_table_field_schema *field,
                          nanos known_from)
{
    if (column->mode == BIGQUERY_FIELD_REQUIRED && field->mode != BIGQUERY_FIELD_REQUIRED) {
        column->required_until = known_from;
    }
    column->mode = (uint8_t)field->mode;
}

static struct column new_column(struct bigquery *state,
                                const struct bigquery_table_field_schema *field,
                                nanos known_from)
{
    const bool is_required = field->mode == BIGQUERY_FIELD_REQUIRED;
    return (struct column){
        .name = bigquery_keep(state, field->name),
        .type = (uint8_t)field->type,
        .mode = (uint8_t)field->mode,
        .known_from = known_from,
        .required_until = is_required ? TIME_NEVER : 0,
    };
}

/* Columns that are there keep their places; new ones come behind them. */
void bigquery_set_columns(struct bigquery *state,
                          struct table *table,
                          const struct bigquery_table_schema *schema_or_null,
                          nanos known_from)
{
    const uint32_t before = table->column_count;
    const nanos last = before == 0 ? 0 : table->columns[before - 1].known_from;
    const nanos known = known_from < last ? last : known_from;
    struct column *columns = bigquery_take(state, BIGQUERY_COLUMN_MAX * sizeof(columns[0]));
    for (uint32_t i = 0; i < before; i++) {
        columns[i] = table->columns[i];
    }
    table->columns = columns;
    for (uint32_t i = 0; schema_or_null != NULL && i < schema_or_null->fields.count; i++) {
        const struct bigquery_table_field_schema *field = field_at(schema_or_null, i);
        const struct column *found = bigquery_column_of(table, field->name);
        if (found != NULL) {
            change_column(&columns[found - table->columns], field, known);
        } else {
            CHECK(table->column_count < BIGQUERY_COLUMN_MAX);
            columns[table->column_count] = new_column(state, field, known);
            table->column_count++;
        }
        state->digest = digest_fold(state->digest, digest_bytes(field->name));
        state->digest = digest_fold(state->digest, (uint64_t)field->type << 8 | field->mode);
    }
    state->digest = digest_fold(state->digest, known);
}

const struct bigquery_table_schema *
bigquery_schema_answer(struct bigquery *state, const struct table *table, uint32_t count)
{
    CHECK(count <= table->column_count);
    for (uint32_t i = 0; i < count; i++) {
        const struct column *column = &table->columns[i];
        state->column_answers[i] =
            (struct bigquery_table_field_schema){column->name, column->type, column->mode};
        state->column_items[i] = &state->column_answers[i];
    }
    state->schema_answer = (struct bigquery_table_schema){.fields = {state->column_items, count}};
    return &state->schema_answer;
}

uint32_t bigquery_known_columns(const struct table *table, nanos at)
{
    uint32_t count = 0;
    while (count < table->column_count && table->columns[count].known_from <= at) {
        count++;
    }
    return count;
}
