/* What a job does to its table, all at once and at its end (BQJ-09, BQJ-10). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

static uint8_t or_default(uint32_t write, enum bigquery_write_disposition fallback)
{
    return (uint8_t)(write == BIGQUERY_WRITE_DEFAULT ? (uint32_t)fallback : write);
}

struct write_target bigquery_target_of(const struct bigquery_job_configuration *configuration)
{
    if (configuration->load != NULL) {
        return (struct write_target){
            configuration->load->destination_table,
            or_default(configuration->load->write_disposition, BIGQUERY_WRITE_APPEND),
            (uint8_t)configuration->load->create_disposition};
    }
    if (configuration->copy != NULL) {
        return (struct write_target){
            configuration->copy->destination_table,
            or_default(configuration->copy->write_disposition, BIGQUERY_WRITE_EMPTY),
            (uint8_t)configuration->copy->create_disposition};
    }
    CHECK(configuration->query != NULL);
    return (struct write_target){
        configuration->query->destination_table,
        or_default(configuration->query->write_disposition, BIGQUERY_WRITE_EMPTY),
        (uint8_t)configuration->query->create_disposition};
}

bool bigquery_may_write(struct bigquery *state, const struct job *job)
{
    struct table *table =
        bigquery_table_named(state, bigquery_target_of(job->configuration).reference);
    const uint64_t today = world_now(state->env.world) / DAYS(1);
    if (table == NULL) {
        return true;
    }
    if (table->write_day != today) {
        table->write_day = today;
        table->writes_of_day = 0;
    }
    table->writes_of_day++;
    return table->writes_of_day <= bigquery_option(state, OPTION_TABLE_WRITES);
}

/* --- columns ------------------------------------------------------------------------------------- */

void bigquery_layout_of_table(const struct table *table, struct layout *layout)
{
    *layout = (struct layout){.count = table->column_count};
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        layout->columns[i] =
            (struct bigquery_table_field_schema){column->name, column->type, column->mode};
    }
}

static bool is_laid_out(const struct table *table, const struct layout *layout)
{
    bool is_same = table->column_count == layout->count;
    for (uint32_t i = 0; is_same && i < layout->count; i++) {
        const struct column *column = &table->columns[i];
        is_same = bytes_equal(column->name, layout->columns[i].name) &&
                  column->type == layout->columns[i].type &&
                  column->mode == layout->columns[i].mode;
    }
    return is_same;
}

static void lay_out(struct bigquery *state, struct table *table, const struct layout *layout)
{
    const void *items[BIGQUERY_COLUMN_MAX];
    for (uint32_t i = 0; i < layout->count; i++) {
        items[i] = &layout->columns[i];
    }
    const struct bigquery_table_schema schema = {.fields = {items, layout->count}};
    bigquery_set_columns(state, table, &schema, world_now(state->env.world));
    table->version++;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static void replace_rows(struct bigquery *state,
                         struct table *table,
                         const struct layout *layout,
                         enum bigquery_write_disposition write,
                         const struct model_request *request)
{
    SOMETIMES(state->env.world, BIGQUERY_TABLE_REPLACED, table->rows.count > 0);
    bigquery_remove_rows(state, table, request);
    if (write == BIGQUERY_WRITE_TRUNCATE && !is_laid_out(table, layout)) {
        table->column_count = 0;
    }
}

enum bigquery_reason
bigquery_write(struct bigquery *state, const struct job *job, const struct layout *layout)
{
    const struct write_target target = bigquery_target_of(job->configuration);
    struct table *table = bigquery_table_named(state, target.reference);
    const bool is_there = table != NULL && table->exists;
    if (!is_there && target.create == BIGQUERY_CREATE_NEVER) {
        return BIGQUERY_REASON_NOT_FOUND;
    }
    if (is_there && target.write == BIGQUERY_WRITE_EMPTY && table->rows.count > 0) {
        COVER(state->env.world, BIGQUERY_TABLE_NOT_EMPTY);
        return BIGQUERY_REASON_DUPLICATE;
    }
    if (!is_there) {
        table = bigquery_make_table(state, target.reference, &job->request);
    } else if (target.write == BIGQUERY_WRITE_TRUNCATE ||
               target.write == BIGQUERY_WRITE_TRUNCATE_DATA) {
        replace_rows(
            state, table, layout, (enum bigquery_write_disposition)target.write, &job->request);
    }
    if (!is_laid_out(table, layout)) {
        lay_out(state, table, layout);
        if (is_there && table->is_read) {
            bigquery_note_table(state, table, CONFIGURED_CHANGED, &job->request);
        }
    }
    for (uint32_t i = 0; i < job->rows.count; i++) {
        bigquery_add_row(state, table, job->rows.items[i], &job->request);
    }
    return BIGQUERY_REASON_NONE;
}
