/* Options of a sink or model: keys, units, ranges come from its own table. */
#include "scenarios/scenario_reader.h"

#include <stdio.h>
#include <string.h>

/* How an option's value is read: as a field of the matching type. */
static struct field as_field(const struct sink_option *option)
{
    static const uint8_t types[] = {
        [SINK_OPTION_NONE] = FIELD_TYPE_NONE,
        [SINK_OPTION_BOOL] = FIELD_TYPE_BOOL,
        [SINK_OPTION_COUNT] = FIELD_TYPE_COUNT,
        [SINK_OPTION_BYTES] = FIELD_TYPE_COUNT,
        [SINK_OPTION_DURATION] = FIELD_TYPE_DURATION,
        [SINK_OPTION_ENUM] = FIELD_TYPE_ENUM,
        [SINK_OPTION_TEXT] = FIELD_TYPE_TEXT,
    };
    CHECK(option->type < ARRAY_COUNT(types));
    struct field field = {.type = types[option->type],
                          .key = option->key,
                          .min = option->min,
                          .max = option->max,
                          .names = option->names};
    if (option->type == SINK_OPTION_TEXT) {
        field.min = 0;
        field.max = 65536;
    }
    return field;
}

static enum err reject_key(struct reader *reader,
                           const char *path,
                           const struct option_table *table,
                           const char *key,
                           const struct sink_option *near_or_null)
{
    char key_path[READER_PATH_SIZE];
    (void)snprintf(key_path, sizeof(key_path), "%.100s.%.50s", path, key);
    if (near_or_null != NULL) {
        return reader_reject(reader,
                             ERR_INVALID,
                             key_path,
                             "unit missing or unknown",
                             "%s_ms or %s_ns",
                             near_or_null->key,
                             near_or_null->key);
    }
    char allowed[256] = "";
    for (size_t i = 0; i < table->count; i++) {
        char name[64];
        (void)snprintf(name,
                       sizeof(name),
                       "%s%s",
                       table->options[i].key,
                       table->options[i].type == SINK_OPTION_DURATION ? "_ms" : "");
        reader_add_name(allowed, sizeof(allowed), name);
    }
    return reader_reject(reader,
                         ERR_INVALID,
                         key_path,
                         "unknown option",
                         "of %s: %s",
                         table->owner,
                         table->count == 0 ? "none" : allowed);
}

static enum err read_option(struct reader *reader,
                            const char *path,
                            const struct option_table *table,
                            const char *key,
                            json_t *json,
                            struct sink_option_value *values)
{
    size_t index = table->count;
    enum key_match match = KEY_OTHER;
    const struct sink_option *near = NULL;
    for (size_t i = 0; i < table->count && index == table->count; i++) {
        const struct sink_option *option = &table->options[i];
        match = key_match(key, option->key, option->type == SINK_OPTION_DURATION);
        if (match == KEY_WRONG_UNIT) {
            near = option;
        } else if (match != KEY_OTHER) {
            index = i;
        }
    }
    if (index == table->count) {
        return reject_key(reader, path, table, key, near);
    }
    char key_path[READER_PATH_SIZE];
    (void)snprintf(key_path, sizeof(key_path), "%.100s.%.50s", path, key);
    if (values[index].given) {
        return reader_say(reader, ERR_INVALID, key_path, "given twice, in two units");
    }
    const struct field field = as_field(&table->options[index]);
    values[index].given = true;
    if (field.type == FIELD_TYPE_DURATION) {
        return reader_duration(reader, key_path, json, match, &field, &values[index].number);
    }
    struct field_value value = {.text = values[index].text};
    const enum err err = reader_value(reader, &field, key_path, json, &value);
    values[index].number = value.number;
    values[index].text = value.text;
    return err;
}

static enum err check_required(struct reader *reader,
                               const char *path,
                               const struct option_table *table,
                               const struct sink_option_value *values)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct sink_option *option = &table->options[i];
        if (option->required && !values[i].given) {
            char key_path[READER_PATH_SIZE];
            (void)snprintf(key_path, sizeof(key_path), "%.100s.%.50s", path, option->key);
            return reader_reject(reader, ERR_INVALID, key_path, "missing", "%s", option->sentence);
        }
    }
    return ERR_OK;
}

enum err options_read(struct reader *reader,
                      const char *path,
                      const struct option_table *table,
                      json_t *json_or_null,
                      const struct sink_option_value **values)
{
    struct sink_option_value *read =
        scenario_take(reader->memory, table->count * sizeof(struct sink_option_value));
    if (read == NULL) {
        return reader_out_of_memory(reader);
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct sink_option *option = &table->options[i];
        read[i].number = option->fallback;
        read[i].text = bytes_of_text(option->fallback_text == NULL ? "" : option->fallback_text);
    }
    *values = read;
    enum err err = ERR_OK;
    const char *key = NULL;
    json_t *item = NULL;
    json_object_foreach(json_or_null, key, item)
    {
        err = read_option(reader, path, table, key, item, read);
        if (err != ERR_OK) {
            break;
        }
    }
    return err == ERR_OK ? check_required(reader, path, table, read) : err;
}
