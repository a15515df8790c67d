/* Datasets, and the tables in them that jobs make for themselves (BQT-04 to BQT-06). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

bool bigquery_put_name(const struct bigquery_table_reference *reference, struct byte_writer *writer)
{
    byte_writer_text(writer, "projects/");
    byte_writer_bytes(writer, reference->project_id);
    byte_writer_text(writer, "/datasets/");
    byte_writer_bytes(writer, reference->dataset_id);
    if (reference->table_id.size > 0) {
        byte_writer_text(writer, "/tables/");
        byte_writer_bytes(writer, reference->table_id);
    }
    return !writer->overflowed;
}

/* --- datasets ------------------------------------------------------------------------------------ */

static bool is_further_dataset(const struct bigquery *state, struct bytes name)
{
    struct bytes rest = state->env.options[OPTION_DATASET].text;
    for (struct bytes word = bytes_next_word(&rest); word.size > 0; word = bytes_next_word(&rest)) {
        if (bytes_equal(word, name)) {
            return true;
        }
    }
    return false;
}

/* "projects/p/datasets/d". */
static bool is_there(const struct bigquery *state, struct bytes name)
{
    for (uint32_t i = 0; i < state->table_count; i++) {
        const struct bytes table = state->tables[i].name;
        if (table.size > name.size && table.data[name.size] == '/' &&
            bytes_equal((struct bytes){table.data, name.size}, name)) {
            return true;
        }
    }
    return is_further_dataset(state, name);
}

/* Write a dataset's name and see whether it is one. */
static bool find_dataset(const struct bigquery *state,
                         struct bytes project,
                         struct bytes dataset,
                         struct byte_writer *writer)
{
    const struct bigquery_table_reference reference = {.project_id = project,
                                                       .dataset_id = dataset};
    return project.size > 0 && dataset.size > 0 && bigquery_put_name(&reference, writer) &&
           is_there(state, byte_writer_view(writer));
}

bool bigquery_dataset_is_there(const struct bigquery *state,
                               struct bytes project,
                               struct bytes dataset)
{
    uint8_t text[BIGQUERY_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    return find_dataset(state, project, dataset, &writer);
}

static nanos lifetime_in(const struct bigquery *state, struct bytes dataset)
{
    return is_further_dataset(state, dataset) ? bigquery_option(state, OPTION_TABLE_LIFETIME) : 0;
}

void bigquery_get_dataset(struct bigquery *state,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct bigquery_get_dataset_request *get = request->payload;
    uint8_t text[BIGQUERY_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    if (!find_dataset(state, get->project_id, get->dataset_id, &writer)) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_REASON_NOT_FOUND, replies);
        return;
    }
    state->dataset_reference =
        (struct bigquery_dataset_reference){get->dataset_id, get->project_id};
    state->dataset_answer = (struct bigquery_dataset){
        .dataset_reference = &state->dataset_reference,
        .default_table_expiration_ms =
            (int64_t)(lifetime_in(state, byte_writer_view(&writer)) / MS(1)),
        .location = state->env.options[OPTION_LOCATION].text,
    };
    model_reply(replies, PORT_OK, &state->dataset_answer);
}

/* --- tables -------------------------------------------------------------------------------------- */

static struct table **place_of(struct bigquery *state, uint32_t resource)
{
    return arena_array_at(
        &state->others, state->env.world->arena, resource, sizeof(struct table *));
}

static void note_table(struct bigquery *state,
                       const struct table *table,
                       enum journal_kind kind,
                       enum bigquery_cause cause,
                       const struct model_request *request_or_null)
{
    const struct model_effect effect = {
        .kind = (uint8_t)kind,
        .code = (uint8_t)cause,
        .resource = table->resource,
        .generation = (uint32_t)table->version,
        .request_or_null = request_or_null,
    };
    model_note(&state->env, &effect);
}

/* What a table held is gone with it. */
static void remove_table(struct bigquery *state,
                         struct table *table,
                         enum bigquery_cause cause,
                         const struct model_request *request_or_null)
{
    bigquery_remove_rows(state, table, request_or_null);
    note_table(state,
               table,
               cause == BIGQUERY_CAUSE_LIFETIME ? WORLD_EXPIRED : WORLD_REMOVED,
               cause,
               request_or_null);
    table->exists = false;
    table->column_count = 0;
    table->label_count = 0;
}

struct table *bigquery_other_table(struct bigquery *state, struct bytes name)
{
    struct table *table = *place_of(state, world_resource(state->env.world, name));
    if (table == NULL || !table->exists) {
        return NULL;
    }
    if (table->lifetime > 0 &&
        world_now(state->env.world) >= nanos_add(table->created_at, table->lifetime)) {
        COVER(state->env.world, BIGQUERY_TABLE_EXPIRED);
        remove_table(state, table, BIGQUERY_CAUSE_LIFETIME, NULL);
        return NULL;
    }
    return table;
}

/* Make a table that is not there: one of the scenario's, which are what configurations speak of, or one of a
 * job's own. */
struct table *bigquery_make_table(struct bigquery *state,
                                  const struct bigquery_table_reference *reference,
                                  const struct model_request *request)
{
    struct table *table = bigquery_table_named(state, reference);
    uint8_t text[BIGQUERY_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    if (table == NULL) {
        CHECK(bigquery_put_name(reference, &writer));
        const uint32_t resource = world_resource(state->env.world, byte_writer_view(&writer));
        struct table **place = place_of(state, resource);
        *place = *place == NULL ? bigquery_take(state, sizeof(**place)) : *place;
        table = *place;
        table->resource = resource;
        table->name = world_resource_name(state->env.world, resource);
        byte_writer_init(&writer, text, sizeof(text));
        CHECK(find_dataset(state, reference->project_id, reference->dataset_id, &writer));
        table->lifetime = lifetime_in(state, byte_writer_view(&writer));
    }
    CHECK(!table->exists);
    table->exists = true;
    table->version++;
    table->created_at = world_now(state->env.world);
    if (table->is_read) {
        bigquery_note_table(state, table, CONFIGURED_CREATED, request);
    } else {
        note_table(state, table, WORLD_CREATED, BIGQUERY_CAUSE_ENDED, request);
    }
    return table;
}

/* BQT-05. */
void bigquery_delete_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies)
{
    const struct bigquery_delete_table_request *delete = request->payload;
    const struct bigquery_table_reference reference = {
        delete->project_id, delete->dataset_id, delete->table_id};
    struct table *table =
        reference.table_id.size == 0 ? NULL : bigquery_table_named(state, &reference);
    if (table == NULL || !table->exists) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_REASON_NOT_FOUND, replies);
        return;
    }
    remove_table(state, table, BIGQUERY_CAUSE_DELETED, request);
    if (table->is_read) {
        bigquery_note_table(state, table, CONFIGURED_REMOVED, request);
    }
    model_reply(replies, PORT_OK, NULL);
}
