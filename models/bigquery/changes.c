/* Rows that change others by their primary key (BQC-01 to BQC-05): the latest version of each key, and how
 * long a deletion is known. A change with a sequence number and one without compare as equal, so that the
 * one that comes later counts: the text says nothing of them. Changes are applied as they are accepted; that
 * a reader may see them later, by the table's max_staleness, is not modelled. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#define SECTION_MAX       4u
#define SECTION_DIGIT_MAX 16u
#define KEY_COLUMN        0u /* "id" */

uint32_t bigquery_change_column(struct bytes name)
{
    if (bytes_equal(name, BYTES_LITERAL("_CHANGE_TYPE"))) {
        return BIGQUERY_COLUMN_CHANGE_TYPE;
    }
    return bytes_equal(name, BYTES_LITERAL("_CHANGE_SEQUENCE_NUMBER")) ? BIGQUERY_COLUMN_SEQUENCE
                                                                       : BIGQUERY_COLUMN_NONE;
}

/* --- versions ---------------------------------------------------------------------------------- */

/* 16 and more: it is no digit. */
static uint32_t digit_of(uint8_t character)
{
    if (character >= '0' && character <= '9') {
        return character - (uint32_t)'0';
    }
    if (character >= 'A' && character <= 'F') {
        return character - (uint32_t)'A' + 10;
    }
    return character >= 'a' && character <= 'f' ? character - (uint32_t)'a' + 10 : 16;
}

/* False when a text is no sequence number (BQC-05). */
static bool read_version(struct bytes text, struct row_version *version)
{
    uint32_t digits = 0;
    *version = (struct row_version){.section_count = 1};
    for (size_t i = 0; i < text.size; i++) {
        uint64_t *section = &version->sections[version->section_count - 1];
        const uint32_t digit = digit_of(text.data[i]);
        if (digit < 16 && digits < SECTION_DIGIT_MAX) {
            *section = *section << 4 | digit;
            digits++;
        } else if (text.data[i] == '/' && digits > 0 && version->section_count < SECTION_MAX) {
            version->section_count++;
            digits = 0;
        } else {
            return false;
        }
    }
    return digits > 0;
}

/* Whether one version is older than another; without a number on either side it is not. */
static bool is_older(const struct row_version *version, const struct row_version *than)
{
    if (version->section_count == 0 || than->section_count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < SECTION_MAX; i++) {
        if (version->sections[i] != than->sections[i]) {
            return version->sections[i] < than->sections[i];
        }
    }
    return version->section_count < than->section_count;
}

bool bigquery_change_is_valid(uint32_t column, struct bytes value)
{
    struct row_version version;
    if (column == BIGQUERY_COLUMN_SEQUENCE) {
        return read_version(value, &version);
    }
    return bytes_equal(value, BYTES_LITERAL("UPSERT")) ||
           bytes_equal(value, BYTES_LITERAL("DELETE"));
}

/* --- rows by key ------------------------------------------------------------------------------- */

/* "projects/p/datasets/d/tables/t" and the key, which is what an effect is on. */
static uint32_t resource_of(struct bigquery *state, const struct table *table, struct bytes key)
{
    const size_t size = table->name.size + 1 + key.size;
    uint8_t *text = bigquery_take(state, size);
    struct byte_writer writer;
    byte_writer_init(&writer, text, size);
    byte_writer_bytes(&writer, table->name);
    byte_writer_text(&writer, "/");
    byte_writer_bytes(&writer, key);
    CHECK(!writer.overflowed);
    return world_resource(state->env.world, byte_writer_view(&writer));
}

static struct keyed_row *row_of(struct bigquery *state, struct table *table, struct bytes key)
{
    const uint64_t digest = digest_bytes(key);
    struct keyed_row *row = table->keys;
    while (row != NULL && row->key != digest) {
        row = row->next;
    }
    if (row == NULL) {
        row = bigquery_take(state, sizeof(*row));
        *row = (struct keyed_row){
            .next = table->keys, .key = digest, .resource = resource_of(state, table, key)};
        table->keys = row;
    }
    return row;
}

/* BQC-04. */
static void forget_old_deletion(struct bigquery *state, struct keyed_row *row)
{
    const nanos age = nanos_sub(world_now(state->env.world), row->deleted_at);
    if (row->has_latest && !row->present &&
        age >= bigquery_option(state, OPTION_DELETE_RETENTION)) {
        COVER(state->env.world, BIGQUERY_DELETE_FORGOTTEN);
        row->has_latest = false;
    }
}

static void note(struct bigquery *state,
                 const struct keyed_row *row,
                 uint8_t kind,
                 struct model_content content,
                 const struct model_request *request)
{
    struct model_effect effect = {
        .kind = kind,
        .code = kind == WORLD_REMOVED ? BIGQUERY_CAUSE_ROW_DELETED : 0,
        .resource = row->resource,
        .generation = row->generation,
        .request_or_null = request,
    };
    if (kind != WORLD_REMOVED) {
        effect.content = content;
    }
    model_note(&state->env, &effect);
}

void bigquery_change(struct bigquery *state,
                     const struct connection *connection,
                     struct bytes row,
                     struct model_content content,
                     const struct model_request *request)
{
    struct table *table = connection->stream->table;
    const struct bytes type = bigquery_row_value(connection, row, BIGQUERY_COLUMN_CHANGE_TYPE);
    const struct bytes sequence = bigquery_row_value(connection, row, BIGQUERY_COLUMN_SEQUENCE);
    struct keyed_row *keyed = row_of(state, table, bigquery_row_value(connection, row, KEY_COLUMN));
    struct row_version version = {0};
    if (sequence.size > 0) {
        CHECK(read_version(sequence, &version));
    }
    forget_old_deletion(state, keyed);
    if (keyed->has_latest && is_older(&version, &keyed->latest)) {
        COVER(state->env.world, BIGQUERY_CHANGE_OLDER);
        return;
    }
    if (keyed->has_latest && version.section_count > 0 && !is_older(&keyed->latest, &version)) {
        COVER(state->env.world, BIGQUERY_CHANGE_REPEATED);
    }
    const bool is_delete = bytes_equal(type, BYTES_LITERAL("DELETE"));
    keyed->latest = version;
    keyed->has_latest = true;
    state->digest = digest_fold(state->digest, keyed->key);
    state->digest = digest_fold(state->digest, is_delete ? 0 : content.digest);
    if (is_delete) {
        keyed->deleted_at = world_now(state->env.world);
        if (keyed->present) {
            keyed->present = false;
            note(state, keyed, WORLD_REMOVED, content, request);
        }
        return;
    }
    const uint8_t kind = keyed->present ? WORLD_REPLACED : WORLD_CREATED;
    keyed->generation += keyed->present ? 0 : 1;
    keyed->present = true;
    note(state, keyed, kind, content, request);
}
