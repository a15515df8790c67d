/* Tables: whether they are there, who made them, and how soon that is known everywhere (BQW-46). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

/* Who creates a table so soon after another has is in a race with it. */
#define CREATION_RACE SECONDS(10)

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

struct table *bigquery_table_named(struct bigquery *state,
                                   const struct bigquery_table_reference *reference_or_null)
{
    for (uint32_t i = 0; i < state->table_count && reference_or_null != NULL; i++) {
        if (is_named(&state->tables[i], reference_or_null)) {
            return &state->tables[i];
        }
    }
    uint8_t text[BIGQUERY_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    return reference_or_null != NULL && bigquery_put_name(reference_or_null, &writer)
               ? bigquery_other_table(state, byte_writer_view(&writer))
               : NULL;
}

void bigquery_note_table(struct bigquery *state,
                         const struct table *table,
                         enum configured what,
                         const struct model_request *request)
{
    const struct model_effect effect = {
        .kind = WORLD_CONFIGURED,
        .code = (uint8_t)what,
        .resource = table->resource,
        .generation = 1,
        .request_or_null = request,
    };
    model_note(&state->env, &effect);
}

/* Of several who create a table at once, one is first, and some of the others hear of a rate (BQJ-18). */
static void refuse_second(struct bigquery *state,
                          const struct table *table,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const nanos age = nanos_sub(world_now(state->env.world), table->created_at);
    const bool is_race = table->created_at > 0 && age < CREATION_RACE;
    const uint32_t how =
        is_race ? bigquery_draw(state, SITE_CREATION_RACE) : (uint32_t)CREATION_RACE_EXISTS;
    if (how == CREATION_RACE_EXISTS) {
        bigquery_refuse(state, request, PORT_ALREADY_EXISTS, BIGQUERY_REASON_NONE, replies);
        return;
    }
    COVER(state->env.world, BIGQUERY_CREATION_RACE);
    if (how == CREATION_RACE_RATE_LIMIT) {
        bigquery_refuse(
            state, request, PORT_PERMISSION_DENIED, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED, replies);
    } else {
        bigquery_refuse(state, request, PORT_RESOURCE_EXHAUSTED, BIGQUERY_REASON_NONE, replies);
    }
}

static const struct bytes *key_of(const struct bigquery_table_constraints *constraints_or_null)
{
    const bool has = constraints_or_null != NULL && constraints_or_null->primary_key != NULL &&
                     constraints_or_null->primary_key->columns.count > 0;
    return has ? constraints_or_null->primary_key->columns.items : NULL;
}

/* A key is of one column here, which the table has. */
static bool is_key(const struct bigquery_table *table)
{
    const struct bytes *key = key_of(table->table_constraints);
    if (key == NULL) {
        return true;
    }
    bool found = false;
    for (uint32_t i = 0; table->schema != NULL && i < table->schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = table->schema->fields.items[i];
        found = found || bytes_equal(field->name, *key);
    }
    return found && table->table_constraints->primary_key->columns.count == 1;
}

static void set_key(struct bigquery *state,
                    struct table *table,
                    const struct bigquery_table_constraints *constraints_or_null)
{
    const struct bytes *key = key_of(constraints_or_null);
    if (key != NULL) {
        table->has_key = true;
        table->key = bigquery_keep(state, *key);
    }
}

static bool may_be_made(const struct bigquery *state,
                        const struct bigquery_table_reference *reference_or_null)
{
    return reference_or_null != NULL && reference_or_null->table_id.size > 0 &&
           bigquery_dataset_is_there(
               state, reference_or_null->project_id, reference_or_null->dataset_id);
}

/* One of the scenario's tables, or any other of a dataset that is there. */
void bigquery_insert_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies)
{
    const struct bigquery_insert_table_request *insert = request->payload;
    const struct bigquery_table_reference *reference =
        insert->table == NULL ? NULL : insert->table->table_reference;
    struct table *table = bigquery_table_named(state, reference);
    if (table == NULL && !may_be_made(state, reference)) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_REASON_NONE, replies);
        return;
    }
    if (table != NULL && table->exists) {
        refuse_second(state, table, request, replies);
        return;
    }
    if (!bigquery_columns_are_valid(insert->table->schema) ||
        insert->table->labels.count > BIGQUERY_LABEL_MAX || !is_key(insert->table)) {
        bigquery_refuse(state, request, PORT_INVALID_ARGUMENT, BIGQUERY_REASON_NONE, replies);
        return;
    }
    table = bigquery_make_table(state, reference, request);
    table->denied_until = nanos_add(table->created_at, bigquery_option(state, OPTION_PROPAGATION));
    state->digest = digest_fold(state->digest, table->resource);
    bigquery_set_columns(state, table, insert->table->schema, 0);
    bigquery_set_labels(state, table, &insert->table->labels);
    set_key(state, table, insert->table->table_constraints);
    table->told = bigquery_keep(state, insert->table->max_staleness); /* and no more (BQC-06) */
    bigquery_note_labels(state, table, &insert->table->labels, request);
    bigquery_reply_table(state, table, replies);
}
