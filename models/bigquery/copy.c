/* Copies of tables, and queries that read all of one (BQJ-14, BQJ-21, BQJ-35). */
#include "models/bigquery/state.h"

#define QUERY_START "SELECT * FROM `"
#define QUERY_END   "`"

enum bigquery_reason bigquery_copy_error(struct bigquery *state,
                                         const struct bigquery_job_configuration_copy *copy)
{
    if (copy->source_tables.count > bigquery_option(state, OPTION_COPY_SOURCES)) {
        COVER(state->env.world, BIGQUERY_JOB_LIMIT);
        return BIGQUERY_REASON_INVALID;
    }
    return copy->source_tables.count == 0 || copy->write_disposition >= BIGQUERY_WRITE_TRUNCATE_DATA
               ? BIGQUERY_REASON_INVALID
               : BIGQUERY_REASON_NONE;
}

/* Whether rows of these columns can stand in a table: the same ones, which it may want less. */
static bool fits(const struct layout *layout, const struct table *table)
{
    bool is_fit = layout->count == table->column_count;
    for (uint32_t i = 0; is_fit && i < layout->count; i++) {
        const struct bigquery_table_field_schema *from = &layout->columns[i];
        const struct column *to = &table->columns[i];
        is_fit = bytes_equal(from->name, to->name) && from->type == to->type &&
                 (from->mode == to->mode ||
                  (from->mode == BIGQUERY_FIELD_REQUIRED && to->mode == BIGQUERY_FIELD_NULLABLE));
    }
    return is_fit;
}

static enum bigquery_reason take_rows(struct bigquery *state,
                                      struct job *job,
                                      const struct bigquery_table_reference *reference,
                                      struct layout *layout,
                                      bool is_first)
{
    const struct table *source = bigquery_table_named(state, reference);
    if (source == NULL || !source->exists) {
        COVER(state->env.world, BIGQUERY_SOURCE_GONE);
        return BIGQUERY_REASON_NOT_FOUND;
    }
    if (is_first) {
        bigquery_layout_of_table(source, layout);
    } else if (!fits(layout, source)) {
        return BIGQUERY_REASON_INVALID;
    }
    for (uint32_t i = 0; i < source->rows.count; i++) {
        bigquery_contents_add(state, &job->rows, source->rows.items[i]);
    }
    return BIGQUERY_REASON_NONE;
}

/* A table that keeps its columns must have those of the rows, and keeps its own of them. */
static enum bigquery_reason
write_rows(struct bigquery *state, const struct job *job, struct layout *layout)
{
    const struct write_target target = bigquery_target_of(job->configuration);
    const struct table *table = bigquery_table_named(state, target.reference);
    if (table != NULL && table->exists && target.write != BIGQUERY_WRITE_TRUNCATE) {
        if (!fits(layout, table)) {
            return BIGQUERY_REASON_INVALID;
        }
        bigquery_layout_of_table(table, layout);
    }
    return bigquery_write(state, job, layout);
}

enum bigquery_reason bigquery_copy_end(struct bigquery *state, struct job *job)
{
    const struct port_list *sources = &job->configuration->copy->source_tables;
    struct layout layout = {.count = 0};
    enum bigquery_reason reason = BIGQUERY_REASON_NONE;
    for (uint32_t i = 0; reason == BIGQUERY_REASON_NONE && i < sources->count; i++) {
        reason = take_rows(state, job, sources->items[i], &layout, i == 0);
    }
    return reason == BIGQUERY_REASON_NONE ? write_rows(state, job, &layout) : reason;
}

/* "p.d.t", of which no part has a point of its own. */
static bool split_name(struct bytes name, struct bigquery_table_reference *reference)
{
    struct bytes parts[3] = {{0}};
    size_t start = 0;
    uint32_t count = 0;
    for (size_t i = 0; i <= name.size; i++) {
        if (i < name.size && name.data[i] != '.') {
            continue;
        }
        if (count == ARRAY_COUNT(parts) || i == start) {
            return false;
        }
        parts[count] = (struct bytes){name.data + start, i - start};
        count++;
        start = i + 1;
    }
    *reference = (struct bigquery_table_reference){parts[0], parts[1], parts[2]};
    return count == ARRAY_COUNT(parts);
}

/* The one kind of query that is understood: all rows of a table. */
static bool source_of(struct bytes query, struct bigquery_table_reference *reference)
{
    const struct bytes start = BYTES_LITERAL(QUERY_START);
    const struct bytes end = BYTES_LITERAL(QUERY_END);
    if (query.size <= start.size + end.size ||
        !bytes_equal((struct bytes){query.data, start.size}, start) ||
        !bytes_equal((struct bytes){query.data + query.size - end.size, end.size}, end)) {
        return false;
    }
    return split_name((struct bytes){query.data + start.size, query.size - start.size - end.size},
                      reference);
}

enum bigquery_reason bigquery_query_end(struct bigquery *state, struct job *job)
{
    struct bigquery_table_reference reference;
    struct layout layout = {.count = 0};
    if (!source_of(job->configuration->query->query, &reference)) {
        return BIGQUERY_REASON_INVALID;
    }
    const enum bigquery_reason reason = take_rows(state, job, &reference, &layout, true);
    return reason == BIGQUERY_REASON_NONE ? write_rows(state, job, &layout) : reason;
}
