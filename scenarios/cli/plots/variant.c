#include "scenarios/cli/plots/variant.h"

#include "scenarios/cli/files.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096
#define KEY_SIZE  64

/* The object that a path ends in, made where it is not there, and its last key. */
static json_t *object_of(json_t *root, const char *path, const char **key)
{
    json_t *object = root;
    const char *dot = strchr(path, '.');
    for (; dot != NULL; dot = strchr(path, '.')) {
        char name[KEY_SIZE];
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        json_t *next = json_object_get(object, name);
        if (!json_is_object(next)) {
            next = json_object();
            (void)json_object_set_new(object, name, next);
        }
        object = next;
        path = dot + 1;
    }
    *key = path;
    return object;
}

static void change(json_t *root, const struct variant_change *wanted)
{
    json_error_t error;
    const char *key = NULL;
    json_t *object = object_of(root, wanted->path, &key);
    if (wanted->json_or_null == NULL) {
        (void)json_object_del(object, key);
        return;
    }
    json_t *value = json_loads(wanted->json_or_null, JSON_DECODE_ANY, &error);
    CHECK(value != NULL);
    (void)json_object_set_new(object, key, value);
}

static enum err make(struct session *session,
                     const char *path,
                     const char *json,
                     struct scenario **scenario,
                     const char **why)
{
    char *folder = text_format(&session->texts, "%s", path);
    char *slash = strrchr(folder, '/');
    struct scenario_fault fault = {{0}};
    const struct scenario_options options = {
        .name = path,
        .sink_or_null = session_sink(session),
        .profile = session->options->profile,
        .profile_given = option_is_given(session->options, OPTION_BIT(PROFILE)),
        .folder_or_null = slash == NULL ? "." : folder,
    };
    if (slash != NULL) {
        *slash = '\0';
    }
    const enum err err = scenario_create(bytes_of_text(json), &options, scenario, &fault);
    if (err != ERR_OK) {
        *why = text_format(&session->texts, "%s", fault.message);
        return ERR_INVALID;
    }
    return ERR_OK;
}

enum err variant_load(struct session *session,
                      const char *word,
                      const struct variant_change *changes,
                      size_t count,
                      struct scenario **scenario,
                      const char **why)
{
    char path[PATH_SIZE];
    struct bytes content = {0};
    json_error_t error;
    *why = "it cannot be read";
    if (!scenario_find(word, path, sizeof path) ||
        file_read(&session->texts, path, &content) != ERR_OK) {
        return ERR_INVALID;
    }
    json_t *root = json_loadb((const char *)content.data, content.size, 0, &error);
    if (!json_is_object(root)) {
        json_decref(root);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        change(root, &changes[i]);
    }
    char *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    const enum err err = json == NULL ? ERR_INVALID : make(session, path, json, scenario, why);
    free(json);
    return err;
}
