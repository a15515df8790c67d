/* The metadata of tables by the REST API: looked at, and changed on condition (BQT-01 to BQT-03). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

/* --- answers ----------------------------------------------------------------------------------- */

static struct bytes etag_of(struct bigquery *state, const struct table *table)
{
    struct byte_writer writer;
    byte_writer_init(&writer, state->etag, sizeof(state->etag));
    byte_writer_text(&writer, "e");
    byte_writer_decimal(&writer, table->version);
    CHECK(!writer.overflowed);
    return byte_writer_view(&writer);
}

/* The parts of "projects/p/datasets/d/tables/t". */
static struct bigquery_table_reference reference_of(const struct table *table)
{
    struct bytes parts[6] = {{0}};
    size_t start = 0;
    uint32_t count = 0;
    for (size_t i = 0; i <= table->name.size && count < ARRAY_COUNT(parts); i++) {
        if (i == table->name.size || table->name.data[i] == '/') {
            parts[count] = (struct bytes){table->name.data + start, i - start};
            count++;
            start = i + 1;
        }
    }
    return (struct bigquery_table_reference){parts[1], parts[3], parts[5]};
}

void bigquery_reply_table(struct bigquery *state,
                          const struct table *table,
                          struct model_replies *replies)
{
    for (uint32_t i = 0; i < table->label_count; i++) {
        state->label_items[i] = &table->labels[i];
    }
    state->reference_answer = reference_of(table);
    state->table_answer = (struct bigquery_table){
        .etag = etag_of(state, table),
        .table_reference = &state->reference_answer,
        .labels = {state->label_items, table->label_count},
        .schema = bigquery_schema_answer(state, table, table->column_count),
    };
    model_reply(replies, PORT_OK, &state->table_answer);
}

/* The table of a call; NULL: it is not there, and the call was refused. */
static struct table *find(struct bigquery *state,
                          const struct bigquery_table_reference *reference,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    struct table *table = bigquery_table_named(state, reference);
    if (table == NULL || !table->exists) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_REASON_NONE, replies);
        return NULL;
    }
    return table;
}

void bigquery_get_table(struct bigquery *state,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    const struct bigquery_get_table_request *get = request->payload;
    const struct bigquery_table_reference reference = {
        get->project_id, get->dataset_id, get->table_id};
    const struct table *table = find(state, &reference, request, replies);
    if (table != NULL) {
        bigquery_reply_table(state, table, replies);
    }
}

/* --- changes ----------------------------------------------------------------------------------- */

/* BQT-02. */
static bool is_too_often(const struct bigquery *state, const struct table *table)
{
    const uint64_t allowed = bigquery_option(state, OPTION_METADATA_UPDATES);
    if (table->update_count < allowed) {
        return false;
    }
    const nanos oldest = table->updates[(table->update_count - allowed) % BIGQUERY_UPDATE_MAX];
    return nanos_sub(world_now(state->env.world), oldest) <
           bigquery_option(state, OPTION_METADATA_WINDOW);
}

static void count_update(struct bigquery *state, struct table *table)
{
    table->updates[table->update_count % BIGQUERY_UPDATE_MAX] = world_now(state->env.world);
    table->update_count++;
    table->version++;
}

/* How long the write API takes to hear of a change (BQW-25). */
static nanos propagation(struct bigquery *state)
{
    switch ((enum schema_known_outcome)bigquery_draw(state, SITE_SCHEMA_KNOWN)) {
    case SCHEMA_KNOWN_AT_ONCE:
        return 0;
    case SCHEMA_KNOWN_SOON:
        return bigquery_option(state, OPTION_SCHEMA_PROPAGATION);
    case SCHEMA_KNOWN_LATE:
        return bigquery_option(state, OPTION_SCHEMA_PROPAGATION_MAX);
    }
    UNREACHABLE();
}

void bigquery_set_labels(struct bigquery *state,
                         struct table *table,
                         const struct port_list *labels)
{
    CHECK(labels->count <= BIGQUERY_LABEL_MAX);
    struct bigquery_label *kept = bigquery_take(state, BIGQUERY_LABEL_MAX * sizeof(kept[0]));
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct bigquery_label *label = labels->items[i];
        kept[i] = (struct bigquery_label){bigquery_keep(state, label->key),
                                          bigquery_keep(state, label->value)};
        state->digest = digest_fold(state->digest, digest_bytes(label->key));
        state->digest = digest_fold(state->digest, digest_bytes(label->value));
    }
    table->labels = kept;
    table->label_count = labels->count;
}

/* What stands in the way of a change; PORT_OK nothing. */
static enum port_code change_error(struct bigquery *state,
                                   const struct table *table,
                                   const struct bigquery_patch_table_request *patch,
                                   uint32_t *reason)
{
    *reason = BIGQUERY_REASON_NONE;
    if (patch->if_match.size > 0 && !bytes_equal(patch->if_match, etag_of(state, table))) {
        COVER(state->env.world, BIGQUERY_PATCH_LOST);
        const uint32_t how = bigquery_draw(state, SITE_PATCH_RACE);
        *reason =
            how == PATCH_RACE_CONDITION ? BIGQUERY_REASON_CONDITION_NOT_MET : BIGQUERY_REASON_NONE;
        return how == PATCH_RACE_CONDITION ? PORT_FAILED_PRECONDITION : PORT_ALREADY_EXISTS;
    }
    if (patch->table == NULL || patch->table->labels.count > BIGQUERY_LABEL_MAX ||
        (patch->table->schema != NULL &&
         !bigquery_columns_may_become(table, patch->table->schema))) {
        return PORT_INVALID_ARGUMENT;
    }
    if (is_too_often(state, table)) {
        COVER(state->env.world, BIGQUERY_PATCH_TOO_OFTEN);
        *reason = BIGQUERY_REASON_RATE_LIMIT_EXCEEDED;
        return PORT_PERMISSION_DENIED;
    }
    return PORT_OK;
}

void bigquery_patch_table(struct bigquery *state,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct bigquery_patch_table_request *patch = request->payload;
    const struct bigquery_table_reference reference = {
        patch->project_id, patch->dataset_id, patch->table_id};
    struct table *table = find(state, &reference, request, replies);
    if (table == NULL) {
        return;
    }
    uint32_t reason;
    const enum port_code code = change_error(state, table, patch, &reason);
    if (code != PORT_OK) {
        bigquery_refuse(state, request, code, reason, replies);
        return;
    }
    count_update(state, table);
    if (patch->table->schema != NULL) {
        const nanos known = nanos_add(world_now(state->env.world), propagation(state));
        bigquery_set_columns(state, table, patch->table->schema, known);
    }
    if (patch->table->labels.count > 0) {
        bigquery_set_labels(state, table, &patch->table->labels);
    }
    bigquery_note_table(state, table, CONFIGURED_CHANGED, request);
    bigquery_reply_table(state, table, replies);
}
