#include "scenarios/cli/json_input.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <errno.h>
#include <stdlib.h>

enum status json_input_open(struct json_input *input, struct text_pool *texts, const char *path)
{
    struct bytes content = {0};
    json_error_t error;
    *input = (struct json_input){.texts = texts, .path = path};
    const enum err err = file_read(texts, path, &content);
    if (err != ERR_OK) {
        complain("%s: %s; allowed: a JSON file below 64 MiB", path, err_name(err));
        return STATUS_USAGE;
    }
    input->root =
        json_loadb((const char *)content.data, content.size, JSON_REJECT_DUPLICATES, &error);
    if (input->root == NULL) {
        complain("%s:%d: %s; allowed: a JSON file of sinkproof's", path, error.line, error.text);
        return STATUS_USAGE;
    }
    if (!json_is_object(input->root) || json_input_number(input, input->root, "schema") != 1) {
        json_input_complain(input, "schema", "1");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

void json_input_close(struct json_input *input)
{
    json_decref(input->root);
    input->root = NULL;
}

void json_input_complain(struct json_input *input, const char *key, const char *allowed)
{
    if (!input->failed) {
        complain("%s: \"%s\" is missing or not good; allowed: %s", input->path, key, allowed);
    }
    input->failed = true;
}

const char *json_input_text(struct json_input *input, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) {
        json_input_complain(input, key, "a string");
        return "";
    }
    return text_copy(input->texts, bytes_of_text(json_string_value(value)));
}

uint64_t json_input_number(struct json_input *input, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        return (uint64_t)json_integer_value(value);
    }
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        const bool hex = text[0] == '0' && text[1] == 'x';
        char *end = NULL;
        errno = 0;
        const unsigned long long number = strtoull(text, &end, hex ? 16 : 10);
        if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0) {
            return number;
        }
    }
    json_input_complain(input, key, "a number from 0 to 2^64 - 1");
    return 0;
}

bool json_input_bool(struct json_input *input, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) {
        json_input_complain(input, key, "true or false");
    }
    return json_is_true(value);
}

json_t *json_input_list(struct json_input *input, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_array(value)) {
        json_input_complain(input, key, "a list");
    }
    return value;
}

json_t *json_input_object(struct json_input *input, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_object(value)) {
        json_input_complain(input, key, "an object");
    }
    return value;
}

const char *const *
json_input_texts(struct json_input *input, json_t *object, const char *key, size_t *count)
{
    json_t *list = json_input_list(input, object, key);
    const size_t size = json_array_size(list);
    const char **texts = text_memory(input->texts, size + 1, sizeof *texts);
    for (size_t i = 0; i < size; i++) {
        json_t *item = json_array_get(list, i);
        if (!json_is_string(item)) {
            json_input_complain(input, key, "a list of strings");
        }
        texts[i] = json_is_string(item)
                       ? text_copy(input->texts, bytes_of_text(json_string_value(item)))
                       : "";
    }
    *count = size;
    return texts;
}
