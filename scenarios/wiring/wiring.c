/* The user's code of a scenario. A record is found by its split and position, which say nothing of
 * its content; what the serializer returns for it was made when the scenario was read. */
#include "scenarios/wiring/wiring.h"

#include "scenarios/scenario_reader.h"
#include "sinks/base/digest.h"

#include <string.h>

const struct wiring *wiring_of(const struct port_service *service)
{
    static const struct wiring *const all[] = {
        &wiring_cloudtasks, &wiring_generic, &wiring_table, &wiring_keyed, &wiring_bigquery};
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i]->service == service) {
            return all[i];
        }
    }
    return NULL;
}

/* --- options ------------------------------------------------------------------------------------- */

static const struct sink_option_value *find_option(const struct sink_option_table *table,
                                                   const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->options[i].key, key) == 0) {
            return &table->values[i];
        }
    }
    return NULL;
}

uint64_t wiring_option(const struct sink_option_table *table, const char *key, uint64_t fallback)
{
    const struct sink_option_value *value = find_option(table, key);
    return value == NULL ? fallback : value->number;
}

struct bytes wiring_option_text(const struct sink_option_table *table, const char *key)
{
    const struct sink_option_value *value = find_option(table, key);
    return value == NULL ? bytes_of_text("") : value->text;
}

uint32_t wiring_words(struct bytes text, struct bytes found[WIRING_DESTINATION_MAX])
{
    uint32_t count = 0;
    for (struct bytes word = bytes_next_word(&text);
         word.size > 0 && count < WIRING_DESTINATION_MAX;
         word = bytes_next_word(&text)) {
        found[count] = word;
        count++;
    }
    return count;
}

/* --- the user's code ----------------------------------------------------------------------------- */

/* Index + 1 of the record in the log, or 0 when it is not from there. */
static record_id record_of(const struct wiring_context *context, const struct sink_record *record)
{
    const struct source_log *log = context->input.log;
    if (record->split >= log->split_count) {
        return 0;
    }
    const uint32_t start = log->split_starts[record->split];
    const uint32_t count = log->split_starts[record->split + 1] - start;
    return record->position < count ? start + (uint32_t)record->position + 1 : 0;
}

static enum sink_user_result
resolve(void *user, const struct sink_record *record, struct bytes *destination)
{
    const struct wiring_context *context = user;
    if (context->destination_count == 0) {
        return SINK_USER_NONE;
    }
    const record_id id = record_of(context, record);
    if (id != 0 && (context->input.log->records[id - 1].traits & RECORD_POISON_RESOLVER) != 0) {
        return SINK_USER_FAILED;
    }
    const uint32_t index = context->input.by_split ? record->split % context->destination_count : 0;
    *destination = context->destinations[index];
    return SINK_USER_OK;
}

static enum sink_user_result serialize(void *user,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    (void)destination;
    const struct wiring_context *context = user;
    const record_id id = record_of(context, record);
    if (id == 0) {
        return SINK_USER_FAILED;
    }
    const uint8_t traits = context->input.log->records[id - 1].traits;
    if ((traits & RECORD_POISON_SERIALIZER) != 0) {
        return SINK_USER_FAILED;
    }
    if ((traits & RECORD_SKIPPED) != 0) {
        return SINK_USER_NONE;
    }
    *payload = context->payloads[id - 1];
    return SINK_USER_OK;
}

/* Of code that is no function of its record: what went through before fails now. */
static enum sink_user_result serialize_again(void *user,
                                             const struct sink_record *record,
                                             struct bytes destination,
                                             struct bytes *payload)
{
    const struct wiring_context *context = user;
    const record_id id = record_of(context, record);
    const bool fails =
        id != 0 && (context->input.log->records[id - 1].traits & RECORD_POISON_AGAIN) != 0;
    return fails ? SINK_USER_FAILED : serialize(user, record, destination, payload);
}

static enum sink_user_result
extract_id(void *user, const struct sink_record *record, struct bytes *key)
{
    const struct wiring_context *context = user;
    const record_id id = record_of(context, record);
    if (id == 0 || (context->input.log->records[id - 1].traits & RECORD_POISON_EXTRACTOR) != 0) {
        return SINK_USER_FAILED;
    }
    *key = record->key;
    return record->key.size == 0 ? SINK_USER_NONE : SINK_USER_OK;
}

enum wiring_version wiring_version_of(const struct wiring_input *input,
                                      const struct sink_record *record)
{
    return input->grows_at > 0 && record->position >= input->grows_at ? WIRING_VERSION_GROWN
                                                                      : WIRING_VERSION_FIRST;
}

/* What has grown stays so: records of other splits that are older come with what is missing left out. */
static enum sink_user_result describe(void *user,
                                      const struct sink_record *record_or_null,
                                      struct bytes destination,
                                      uint64_t *version,
                                      struct bytes *description)
{
    (void)destination;
    const struct wiring_context *context = user;
    const uint64_t newest =
        context->input.grows_at > 0 ? WIRING_VERSION_GROWN : WIRING_VERSION_FIRST;
    const uint64_t own =
        record_or_null == NULL ? newest : wiring_version_of(&context->input, record_or_null);
    *version = *version > own ? *version : own;
    CHECK(*version < WIRING_VERSION_END);
    *description = context->descriptions[*version];
    return SINK_USER_OK;
}

/* --- recognising --------------------------------------------------------------------------------- */

/* Dead letters hold a record's value or its payload: both are in the index. */
record_id
wiring_identify(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses)
{
    (void)value;
    const struct wiring_context *wired = context;
    return record_index_find(&wired->index, digest, guesses);
}

/* --- making it ----------------------------------------------------------------------------------- */

static enum err make_payload(struct reader *reader,
                             const struct wiring *wiring,
                             const struct wiring_input *input,
                             uint32_t index,
                             struct bytes *payload)
{
    const struct source_record *record = &input->log->records[index];
    struct byte_writer measure;
    byte_writer_init(&measure, NULL, 0);
    wiring->serialize(input, record, &measure);
    uint8_t *memory = scenario_take(reader->memory, measure.size);
    if (memory == NULL) {
        return reader_out_of_memory(reader);
    }
    struct byte_writer writer;
    byte_writer_init(&writer, memory, measure.size);
    wiring->serialize(input, record, &writer);
    CHECK(!writer.overflowed);
    *payload = byte_writer_view(&writer);
    return ERR_OK;
}

static enum err
make_payloads(struct reader *reader, const struct wiring *wiring, struct wiring_context *context)
{
    const struct source_log *log = context->input.log;
    context->payloads = scenario_take(reader->memory, log->record_count * sizeof(struct bytes));
    if (context->payloads == NULL) {
        return reader_out_of_memory(reader);
    }
    enum err err = record_index_init(reader, 2 * log->record_count, &context->index);
    /* Equal values are one entry: the first record's. All values stand in a row, for they are what
     * is looked for. */
    for (uint32_t i = 0; err == ERR_OK && i < log->record_count; i++) {
        (void)record_index_add(&context->index, log->records[i].digest, i + 1);
    }
    for (uint32_t i = 0; err == ERR_OK && i < log->record_count; i++) {
        err = make_payload(reader, wiring, &context->input, i, &context->payloads[i]);
        if (err == ERR_OK) {
            (void)record_index_add(&context->index, digest_bytes(context->payloads[i]), i + 1);
        }
    }
    return err;
}

static enum err make_descriptions(struct reader *reader,
                                  const struct wiring *wiring,
                                  struct wiring_context *context)
{
    for (uint32_t i = WIRING_VERSION_FIRST; i < WIRING_VERSION_END; i++) {
        const enum wiring_version version = (enum wiring_version)i;
        struct byte_writer measure;
        byte_writer_init(&measure, NULL, 0);
        wiring->describe(&context->input, version, &measure);
        uint8_t *memory = scenario_take(reader->memory, measure.size);
        if (memory == NULL) {
            return reader_out_of_memory(reader);
        }
        struct byte_writer writer;
        byte_writer_init(&writer, memory, measure.size);
        wiring->describe(&context->input, version, &writer);
        CHECK(!writer.overflowed);
        context->descriptions[i] = byte_writer_view(&writer);
    }
    return ERR_OK;
}

enum err wiring_create(struct reader *reader,
                       const struct wiring *wiring,
                       const struct wiring_input *input,
                       struct wiring_context **context)
{
    struct wiring_context *made = scenario_take(reader->memory, sizeof(*made));
    if (made == NULL) {
        return reader_out_of_memory(reader);
    }
    made->input = *input;
    made->destination_count = wiring->destinations(input, made->destinations);
    CHECK(made->destination_count <= WIRING_DESTINATION_MAX);
    made->user = (struct sink_user){.context = made,
                                    .resolve = resolve,
                                    .serialize = serialize,
                                    .extract_id = input->extractor ? extract_id : NULL,
                                    .describe = wiring->describe != NULL ? describe : NULL};
    made->user_again = made->user;
    made->user_again.serialize = serialize_again;
    *context = made;
    const enum err err =
        wiring->describe != NULL ? make_descriptions(reader, wiring, made) : ERR_OK;
    return err != ERR_OK ? err : make_payloads(reader, wiring, made);
}
