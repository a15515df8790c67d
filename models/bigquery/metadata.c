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

static const struct bigquery_table_constraints *constraints_of(struct bigquery *state,
                                                               const struct table *table)
{
    if (!table->has_key) {
        return NULL;
    }
    state->key_column = table->key;
    state->key_answer = (struct bigquery_primary_key){.columns = {&state->key_column, 1}};
    state->constraints_answer =
        (struct bigquery_table_constraints){.primary_key = &state->key_answer};
    return &state->constraints_answer;
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
        .max_staleness = table->told,
        .table_constraints = constraints_of(state, table),
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
bool bigquery_changes_too_often(const struct bigquery *state, const struct table *table)
{
    const uint64_t allowed = bigquery_option(state, OPTION_METADATA_UPDATES);
    if (table->update_count < allowed) {
        return false;
    }
    const nanos oldest = table->updates[(table->update_count - allowed) % BIGQUERY_UPDATE_MAX];
    return nanos_sub(world_now(state->env.world), oldest) <
           bigquery_option(state, OPTION_METADATA_WINDOW);
}

void bigquery_count_change(struct bigquery *state, struct table *table)
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

/* Labels that are not named stay. */
void bigquery_set_labels(struct bigquery *state,
                         struct table *table,
                         const struct port_list *labels)
{
    struct bigquery_label *kept = bigquery_take(state, BIGQUERY_LABEL_MAX * sizeof(kept[0]));
    uint32_t count = table->label_count;
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = table->labels[i];
    }
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct bigquery_label *label = labels->items[i];
        uint32_t at = 0;
        while (at < count && !bytes_equal(kept[at].key, label->key)) {
            at++;
        }
        CHECK(at < BIGQUERY_LABEL_MAX);
        count = at == count ? count + 1 : count;
        kept[at] = (struct bigquery_label){bigquery_keep(state, label->key),
                                           bigquery_keep(state, label->value)};
        state->digest = digest_fold(state->digest, digest_bytes(label->key));
        state->digest = digest_fold(state->digest, digest_bytes(label->value));
    }
    table->labels = kept;
    table->label_count = count;
}

#define DECLARES "complete_"

void bigquery_note_labels(struct bigquery *state,
                          struct table *table,
                          const struct port_list *labels,
                          const struct model_request *request)
{
    const struct bytes key = state->env.options[OPTION_CONTRACT_LABEL].text;
    const struct bytes declares = BYTES_LITERAL(DECLARES);
    for (uint32_t i = 0; i < labels->count && key.size > 0; i++) {
        const struct bigquery_label *label = labels->items[i];
        if (!bytes_equal(label->key, key)) {
            continue;
        }
        const bool is_declared =
            label->value.size >= declares.size &&
            bytes_equal((struct bytes){label->value.data, declares.size}, declares);
        table->is_declared = is_declared;
        uint8_t text[BIGQUERY_NAME_MAX];
        struct byte_writer writer;
        byte_writer_init(&writer, text, sizeof(text));
        bigquery_put_setting(table->key, table->staleness, &writer);
        const struct model_effect effect = {
            .kind = WORLD_CONFIGURED,
            .code = is_declared ? CONFIGURED_DECLARED : CONFIGURED_CLAIMED,
            .resource = table->resource,
            .generation = 1,
            .content = {.digest = digest_bytes(byte_writer_view(&writer))},
            .request_or_null = request,
        };
        model_note(&state->env, &effect);
    }
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
    if (patch->table == NULL ||
        patch->table->labels.count > BIGQUERY_LABEL_MAX - table->label_count ||
        (patch->table->schema != NULL &&
         !bigquery_columns_may_become(table, patch->table->schema))) {
        return PORT_INVALID_ARGUMENT;
    }
    if (bigquery_changes_too_often(state, table)) {
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
    bigquery_count_change(state, table);
    if (patch->table->schema != NULL) {
        const nanos known = nanos_add(world_now(state->env.world), propagation(state));
        bigquery_set_columns(state, table, patch->table->schema, known);
    }
    if (patch->table->max_staleness.size > 0) {
        table->told = bigquery_keep(state, patch->table->max_staleness); /* and no more (BQC-06) */
    }
    if (patch->table->labels.count > 0) {
        bigquery_set_labels(state, table, &patch->table->labels);
    }
    bigquery_note_table(state, table, CONFIGURED_CHANGED, request);
    bigquery_note_labels(state, table, &patch->table->labels, request);
    bigquery_reply_table(state, table, replies);
}
