/* Loads: objects of another service become rows of a table (BQJ-13, BQJ-31 to BQJ-34).
 *
 * An object of Parquet is stood in for: the container that Avro would have, behind Parquet's own four
 * letters. What matters of the format is what a load of it refuses and leaves out. */
#include "models/bigquery/avro.h"
#include "models/bigquery/state.h"
#include "models/storage/storage.h"
#include "sinks/base/digest.h"
#include "sinks/port/storage.h"

#define PARQUET    "PAR1"
#define NOT_STAGED AVRO_COLUMN_MAX

/* One load, while it reads. */
struct loading {
    struct bigquery *state;
    struct job *job;
    const struct bigquery_job_configuration_load *load;
    bool is_laid_out;
    uint32_t places[BIGQUERY_COLUMN_MAX]; /* of a column in the file; NOT_STAGED */
    struct avro_file file;
    struct avro_cell values[AVRO_COLUMN_MAX];
};

/* --- schemas ------------------------------------------------------------------------------------- */

static bool replaces_schema(const struct bigquery_job_configuration_load *load)
{
    return load->write_disposition == BIGQUERY_WRITE_TRUNCATE;
}

static bool takes_updates(const struct bigquery_job_configuration_load *load)
{
    return load->write_disposition == BIGQUERY_WRITE_DEFAULT ||
           load->write_disposition == BIGQUERY_WRITE_APPEND ||
           load->write_disposition == BIGQUERY_WRITE_TRUNCATE_DATA;
}

/* The table whose columns stay; NULL: the load's schema is all there is. */
static const struct table *table_kept(struct bigquery *state,
                                      const struct bigquery_job_configuration_load *load)
{
    const struct table *table = bigquery_table_named(state, load->destination_table);
    return table == NULL || !table->exists || replaces_schema(load) ? NULL : table;
}

/* A new column that is REQUIRED is refused before the job begins (BQJ-31). */
static bool adds_required(const struct table *table, const struct bigquery_table_schema *schema)
{
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = schema->fields.items[i];
        if (field->mode == BIGQUERY_FIELD_REQUIRED &&
            bigquery_column_of(table, field->name) == NULL) {
            return true;
        }
    }
    return false;
}

enum bigquery_reason bigquery_load_error(struct bigquery *state,
                                         const struct bigquery_job_configuration_load *load)
{
    const struct table *table = table_kept(state, load);
    if (load->source_uris.count > bigquery_option(state, OPTION_LOAD_URIS)) {
        COVER(state->env.world, BIGQUERY_JOB_LIMIT);
        return BIGQUERY_REASON_INVALID;
    }
    if (load->source_uris.count == 0 || load->source_format == BIGQUERY_FORMAT_NONE ||
        load->source_format >= BIGQUERY_SOURCE_FORMAT_END ||
        load->write_disposition >= BIGQUERY_WRITE_DISPOSITION_END ||
        !bigquery_columns_are_valid(load->schema) ||
        (load->schema_update_options != 0 && !takes_updates(load))) {
        return BIGQUERY_REASON_INVALID;
    }
    return table != NULL && load->schema != NULL && adds_required(table, load->schema)
               ? BIGQUERY_REASON_INVALID
               : BIGQUERY_REASON_NONE;
}

static uint32_t place_in(const struct layout *layout, struct bytes name)
{
    uint32_t place = 0;
    while (place < layout->count && !bytes_equal(layout->columns[place].name, name)) {
        place++;
    }
    return place;
}

static bool may_update(const struct bigquery_job_configuration_load *load,
                       enum bigquery_schema_update update)
{
    return (load->schema_update_options & (uint32_t)update) != 0;
}

/* Have one more column of the load's schema, or the one that is there as it wants it. False: it may not. */
static bool ask_for(struct layout *layout,
                    const struct bigquery_job_configuration_load *load,
                    const struct bigquery_table_field_schema *field,
                    bool is_new_table)
{
    const uint32_t place = place_in(layout, field->name);
    struct bigquery_table_field_schema *column = &layout->columns[place];
    if (place == layout->count) {
        if (place == BIGQUERY_COLUMN_MAX ||
            (!is_new_table && (!may_update(load, BIGQUERY_ALLOW_FIELD_ADDITION) ||
                               field->mode == BIGQUERY_FIELD_REQUIRED))) {
            return false;
        }
        *column = *field;
        layout->count++;
    }
    layout->is_asked[place] = true;
    if (column->type != field->type ||
        (column->mode == BIGQUERY_FIELD_REPEATED) != (field->mode == BIGQUERY_FIELD_REPEATED)) {
        return false;
    }
    if (column->mode == BIGQUERY_FIELD_REQUIRED && field->mode == BIGQUERY_FIELD_NULLABLE) {
        column->mode = BIGQUERY_FIELD_NULLABLE;
        return may_update(load, BIGQUERY_ALLOW_FIELD_RELAXATION);
    }
    return true; /* to tighten a column is asked in vain */
}

static bool lay_out(struct loading *loading, const struct bigquery_table_schema *schema)
{
    const struct table *table = table_kept(loading->state, loading->load);
    struct layout *layout = loading->job->layout;
    loading->is_laid_out = true;
    if (table != NULL) {
        bigquery_layout_of_table(table, layout);
    }
    for (uint32_t i = 0; i < schema->fields.count; i++) {
        const struct bigquery_table_field_schema *field = schema->fields.items[i];
        const bool is_json = field->type == BIGQUERY_FIELD_JSON;
        if ((is_json && loading->load->source_format == BIGQUERY_PARQUET) ||
            !ask_for(layout, loading->load, field, table == NULL)) {
            return false;
        }
    }
    return true;
}

/* --- columns of a file --------------------------------------------------------------------------- */

/* A file's own schema is the load's that has none. Names live as long as the layout: in the object, which
 * may go before the job ends, so they are kept. */
static bool lay_out_by_file(struct loading *loading)
{
    struct bigquery_table_field_schema fields[AVRO_COLUMN_MAX];
    const void *items[AVRO_COLUMN_MAX];
    for (uint32_t i = 0; i < loading->file.column_count; i++) {
        const struct avro_column *column = &loading->file.columns[i];
        fields[i] = (struct bigquery_table_field_schema){
            bigquery_keep(loading->state, column->name),
            loading->load->use_avro_logical_types ? column->type : column->plain_type,
            column->mode};
        items[i] = &fields[i];
    }
    const struct bigquery_table_schema schema = {.fields = {items, loading->file.column_count}};
    return lay_out(loading, &schema);
}

/* JSON is told by an attribute of its own, whatever the load says of logical types. */
static uint32_t type_of(const struct loading *loading, const struct avro_column *column)
{
    return loading->load->use_avro_logical_types || column->type == BIGQUERY_FIELD_JSON
               ? column->type
               : column->plain_type;
}

/* Find each column in the file. What the load's schema lacks is left out (BQJ-32). False: a column is of
 * another type there. */
static bool find_columns(struct loading *loading)
{
    const struct layout *layout = loading->job->layout;
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct bigquery_table_field_schema *wanted = &layout->columns[i];
        uint32_t place = 0;
        while (place < loading->file.column_count &&
               !bytes_equal(loading->file.columns[place].name, wanted->name)) {
            place++;
        }
        const bool is_staged = layout->is_asked[i] && place < loading->file.column_count;
        loading->places[i] = is_staged ? place : NOT_STAGED;
        const struct avro_column *column = &loading->file.columns[is_staged ? place : 0];
        if (is_staged && (type_of(loading, column) != wanted->type ||
                          (column->mode == BIGQUERY_FIELD_REPEATED) !=
                              (wanted->mode == BIGQUERY_FIELD_REPEATED))) {
            return false;
        }
    }
    return true;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static void put_value(struct byte_writer *writer,
                      uint32_t place,
                      const struct avro_column *column,
                      const struct avro_cell *value)
{
    const uint64_t number = (uint64_t)(place + 1) << 3;
    if (column->plain_type == BIGQUERY_FIELD_STRING || column->plain_type == BIGQUERY_FIELD_BYTES) {
        byte_writer_varint(writer, number | 2);
        byte_writer_varint(writer, value->bytes.size);
        byte_writer_bytes(writer, value->bytes);
    } else {
        byte_writer_varint(writer, number);
        byte_writer_varint(writer, (uint64_t)value->number);
    }
}

/* Without list inference an array of Parquet's is no list, and comes to nothing (BQJ-33). */
static bool reads_lists(const struct loading *loading)
{
    const struct bigquery_parquet_options *parquet = loading->load->parquet_options;
    return loading->load->source_format != BIGQUERY_PARQUET ||
           (parquet != NULL && parquet->enable_list_inference);
}

/* False: a REQUIRED column has no value. */
static bool put_column(struct loading *loading, uint32_t place, struct byte_writer *writer)
{
    const struct bigquery_table_field_schema *wanted = &loading->job->layout->columns[place];
    const uint32_t staged = loading->places[place];
    if (staged == NOT_STAGED || loading->values[staged].is_null) {
        return wanted->mode != BIGQUERY_FIELD_REQUIRED;
    }
    const struct avro_column *column = &loading->file.columns[staged];
    if (wanted->mode != BIGQUERY_FIELD_REPEATED) {
        put_value(writer, place, column, &loading->values[staged]);
        return true;
    }
    struct avro_items items = {0};
    struct avro_cell item;
    while (reads_lists(loading) && avro_item(column, &loading->values[staged], &items, &item)) {
        put_value(writer, place, column, &item);
    }
    return true;
}

static bool put_row(struct loading *loading, struct byte_writer *writer)
{
    struct bigquery *state = loading->state;
    byte_writer_init(writer, state->scratch, state->scratch_size);
    for (uint32_t i = 0; i < loading->job->layout->count; i++) {
        if (!put_column(loading, i, writer)) {
            return false;
        }
    }
    return true;
}

/* Keep a row as rows are kept: its values by their columns. */
static bool take_row(struct loading *loading)
{
    struct bigquery *state = loading->state;
    struct byte_writer writer;
    bool is_row = put_row(loading, &writer);
    if (is_row && writer.overflowed) {
        state->scratch_size = 2 * writer.size;
        state->scratch = bigquery_take(state, state->scratch_size);
        is_row = put_row(loading, &writer);
        CHECK(!writer.overflowed);
    }
    if (is_row) {
        bigquery_contents_add(
            state, &loading->job->rows, model_content_of(&state->env, byte_writer_view(&writer)));
    }
    return is_row;
}

/* --- objects ------------------------------------------------------------------------------------- */

/* What Parquet's letters stand before; false: they do not. */
static bool unwrap(struct bytes *content)
{
    const struct bytes letters = BYTES_LITERAL(PARQUET);
    if (content->size < letters.size ||
        !bytes_equal((struct bytes){content->data, letters.size}, letters)) {
        return false;
    }
    content->data += letters.size;
    content->size -= letters.size;
    return true;
}

/* ERR_OK; else the object is none of the load's format, or a row is none of its columns. */
static enum err read_rows(struct loading *loading, struct bytes content)
{
    if (loading->load->source_format == BIGQUERY_PARQUET && !unwrap(&content)) {
        return ERR_INVALID;
    }
    enum err err = avro_open(&loading->file, content);
    if (err != ERR_OK) {
        return err;
    }
    if ((!loading->is_laid_out && !lay_out_by_file(loading)) || !find_columns(loading)) {
        return ERR_INVALID;
    }
    bool found = true;
    while (err == ERR_OK && found) {
        err = avro_next(&loading->file, loading->values, &found);
        if (err == ERR_OK && found && !take_row(loading)) {
            err = ERR_INVALID;
        }
    }
    return err;
}

static enum bigquery_reason read_object(struct loading *loading, struct bytes content)
{
    if (read_rows(loading, content) != ERR_OK) {
        COVER(loading->state->env.world, BIGQUERY_LOAD_UNREADABLE);
        return BIGQUERY_REASON_INVALID;
    }
    return BIGQUERY_REASON_NONE;
}

static bool has_sign(struct bytes uri, uint8_t sign)
{
    for (size_t i = 0; i < uri.size; i++) {
        if (uri.data[i] == sign) {
            return true;
        }
    }
    return false;
}

/* One name, or all objects that a pattern is for. */
static enum bigquery_reason
read_source(struct loading *loading, const struct service *storage, struct bytes uri)
{
    struct bytes content = {0};
    uint32_t cursor = 0;
    bool found = false;
    enum bigquery_reason reason = BIGQUERY_REASON_NONE;
    if (has_sign(uri, '#')) {
        return BIGQUERY_REASON_INVALID; /* a generation (BQJ-13) */
    }
    if (has_sign(uri, '*')) {
        while (reason == BIGQUERY_REASON_NONE &&
               storage_match(storage->state, uri, &cursor, &content)) {
            found = true;
            reason = read_object(loading, content);
        }
    } else if (storage_read(storage->state, uri, &content)) {
        found = true;
        reason = read_object(loading, content);
    }
    SOMETIMES(loading->state->env.world, BIGQUERY_LOAD_OBJECT_GONE, !found);
    return found ? reason : BIGQUERY_REASON_NOT_FOUND;
}

enum bigquery_reason bigquery_load_read(struct bigquery *state, struct job *job)
{
    const struct service *storage = model_of(state->env.world, &storage_service);
    const struct bigquery_job_configuration_load *load = job->configuration->load;
    struct loading loading = {.state = state, .job = job, .load = load};
    CHECK(!job->has_read);
    job->has_read = true;
    job->layout = arena_take_recycled(state->env.world->arena, sizeof(*job->layout));
    *job->layout = (struct layout){.count = 0};
    if (storage == NULL) {
        return BIGQUERY_REASON_NOT_FOUND;
    }
    CHECK(storage->type == &storage_model);
    if (load->schema != NULL && !lay_out(&loading, load->schema)) {
        return BIGQUERY_REASON_INVALID;
    }
    enum bigquery_reason reason = BIGQUERY_REASON_NONE;
    for (uint32_t i = 0; reason == BIGQUERY_REASON_NONE && i < load->source_uris.count; i++) {
        reason = read_source(&loading, storage, load->source_uris.items[i]);
    }
    return reason;
}

enum bigquery_reason bigquery_load_end(struct bigquery *state, struct job *job)
{
    const enum bigquery_reason reason =
        job->has_read ? (enum bigquery_reason)job->reason : bigquery_load_read(state, job);
    return reason == BIGQUERY_REASON_NONE ? bigquery_write(state, job, job->layout) : reason;
}
