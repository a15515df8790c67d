/* Tables: whether they are there, and how soon their metadata is everywhere (BQW-46). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

struct table *bigquery_table_of(struct bigquery *state, struct bytes name)
{
    for (uint32_t i = 0; i < state->table_count; i++) {
        if (bytes_equal(state->tables[i].name, name)) {
            return &state->tables[i];
        }
    }
    return NULL;
}

/* Under the documented profile NOT_FOUND is possible as well, so that it is a reading (BQW-46). */
static enum port_code missing_code(struct bigquery *state)
{
    const uint32_t reading = bigquery_reading(state, OPTION_MISSING, SITE_MISSING_READING);
    return reading == MISSING_NOT_FOUND ? PORT_NOT_FOUND : PORT_PERMISSION_DENIED;
}

bool bigquery_table_answers(struct bigquery *state,
                            const struct table *table_or_null,
                            bool propagates,
                            const struct model_request *request,
                            struct model_replies *replies)
{
    if (table_or_null == NULL || !table_or_null->exists) {
        COVER(state->env.world, BIGQUERY_TABLE_MISSING);
        bigquery_refuse(state, request, missing_code(state), BIGQUERY_STORAGE_ERROR_NONE, replies);
        return false;
    }
    if (propagates && world_now(state->env.world) < table_or_null->denied_until &&
        bigquery_draw(state, SITE_PROPAGATION) == PROPAGATION_MASKED) {
        COVER(state->env.world, BIGQUERY_TABLE_DENIED);
        bigquery_refuse(
            state, request, PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE, replies);
        return false;
    }
    return true;
}

/* "projects/p/datasets/d/tables/t", piece by piece. */
static bool is_named(const struct table *table, const struct bigquery_table_reference *reference)
{
    const struct bytes pieces[] = {
        BYTES_LITERAL("projects/"),
        reference->project_id,
        BYTES_LITERAL("/datasets/"),
        reference->dataset_id,
        BYTES_LITERAL("/tables/"),
        reference->table_id,
    };
    size_t at = 0;
    for (size_t i = 0; i < ARRAY_COUNT(pieces); i++) {
        const struct bytes piece = pieces[i];
        if (piece.size > table->name.size - at ||
            !bytes_equal((struct bytes){table->name.data + at, piece.size}, piece)) {
            return false;
        }
        at += piece.size;
    }
    return at == table->name.size;
}

/* Only tables that the scenario knows are ever made. */
void bigquery_insert_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies)
{
    const struct bigquery_insert_table_request *insert = request->payload;
    struct table *table = NULL;
    for (uint32_t i = 0;
         i < state->table_count && insert->table != NULL && insert->table->table_reference != NULL;
         i++) {
        if (is_named(&state->tables[i], insert->table->table_reference)) {
            table = &state->tables[i];
        }
    }
    if (table == NULL) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_STORAGE_ERROR_NONE, replies);
        return;
    }
    if (table->exists) {
        bigquery_refuse(state, request, PORT_ALREADY_EXISTS, BIGQUERY_STORAGE_ERROR_NONE, replies);
        return;
    }
    table->exists = true;
    table->denied_until =
        nanos_add(world_now(state->env.world), bigquery_option(state, OPTION_PROPAGATION));
    state->digest = digest_fold(state->digest, table->resource);
    state->table_answer =
        (struct bigquery_table){.table_reference = insert->table->table_reference};
    model_reply(replies, PORT_OK, &state->table_answer);
}
