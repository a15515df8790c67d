/* Scenarios: created from bytes, loaded from files, destroyed. POSIX is used here to find and read
 * files, and nowhere else in the reader. */
#include "scenarios/scenario_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENARIO_FILE_MAX ((size_t)16 << 20)
#define PATH_SIZE         1024

/* --- files --------------------------------------------------------------------------------------- */

/* Read an open file whose size is size. */
static enum err
read_all(struct scenario_store *memory, FILE *file, size_t size, struct bytes *bytes)
{
    uint8_t *data = scenario_take(memory, size + 1);
    if (data == NULL) {
        return ERR_LIMIT;
    }
    if (fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, size, file) != size) {
        return ERR_SYSTEM;
    }
    *bytes = (struct bytes){data, size};
    return ERR_OK;
}

enum err
reader_file(struct scenario_store *memory, const char *path, size_t size_max, struct bytes *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return ERR_NOT_FOUND;
    }
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    enum err err = ERR_SYSTEM;
    if (size >= 0) {
        err = (size_t)size > size_max ? ERR_INVALID : read_all(memory, file, (size_t)size, bytes);
    }
    (void)fclose(file);
    return err;
}

/* --- from bytes ---------------------------------------------------------------------------------- */

static enum err check_version(struct reader *reader, json_t *root)
{
    json_t *schema = json_object_get(root, "schema");
    if (json_is_integer(schema) && json_integer_value(schema) > 1) {
        char seen[READER_SEEN_SIZE];
        reader_seen(schema, seen);
        return reader_reject(reader, ERR_VERSION, "schema", seen, "1");
    }
    return ERR_OK;
}

static enum err fill(struct reader *reader,
                     struct bytes json,
                     const struct scenario_options *options,
                     struct scenario *scenario)
{
    json_t *root = NULL;
    enum err err = reader_parse(reader, json, 1, &root);
    if (err != ERR_OK) {
        return err;
    }
    err = check_version(reader, root);
    struct fields *fields = scenario_take(reader->memory, sizeof(*fields));
    if (err == ERR_OK && fields == NULL) {
        err = reader_out_of_memory(reader);
    }
    if (err == ERR_OK) {
        err = fields_read(reader, root, fields);
    }
    if (err == ERR_OK) {
        err = scenario_build(reader, fields, options, scenario);
    }
    json_decref(root);
    return err;
}

enum err scenario_create(struct bytes json,
                         const struct scenario_options *options,
                         struct scenario **scenario,
                         struct scenario_fault *fault)
{
    struct scenario *made = calloc(1, sizeof(*made));
    struct scenario_store *store = calloc(1, sizeof(*store));
    struct reader reader = {.name = options->name, .fault = fault, .memory = store};
    if (made == NULL || store == NULL) {
        free(made);
        free(store);
        return reader_out_of_memory(&reader);
    }
    made->memory = store;
    (void)snprintf(made->name, sizeof(made->name), "%s", options->name);
    fault->message[0] = '\0';
    const enum err err = fill(&reader, json, options, made);
    if (err != ERR_OK) {
        CHECK(fault->message[0] != '\0');
        scenario_destroy(made);
        return err;
    }
    *scenario = made;
    return ERR_OK;
}

void scenario_destroy(struct scenario *scenario)
{
    scenario_give_all(scenario->memory);
    free(scenario->memory);
    free(scenario);
}

/* --- by path or name ----------------------------------------------------------------------------- */

/* The folder of the binary, where a tree or an installation has its scenarios beside it. */
static bool binary_folder(char folder[PATH_SIZE])
{
    const ssize_t size = readlink("/proc/self/exe", folder, PATH_SIZE - 1);
    if (size <= 0) {
        return false;
    }
    folder[size] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool is_file(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Try base/name and base/name.json. */
static bool try_base(const char *base, const char *name, char path[PATH_SIZE])
{
    static const char *const endings[] = {".json", ""};
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        const int size = snprintf(path, PATH_SIZE, "%s%s%s", base, name, endings[i]);
        if (size > 0 && size < PATH_SIZE && is_file(path)) {
            return true;
        }
    }
    return false;
}

bool scenario_find(const char *path_or_name, char *path, size_t capacity)
{
    static const char *const near_binary[] = {
        "/../scenarios/", "/../../scenarios/", "/../share/sinkproof/scenarios/"};
    CHECK(capacity >= PATH_SIZE);
    const size_t size = strlen(path_or_name);
    const bool has_ending = size > 5 && strcmp(path_or_name + size - 5, ".json") == 0;
    if (has_ending && is_file(path_or_name)) {
        return snprintf(path, capacity, "%s", path_or_name) < (int)capacity;
    }
    if (try_base("", path_or_name, path) || try_base("scenarios/", path_or_name, path)) {
        return true;
    }
    char folder[PATH_SIZE];
    if (!binary_folder(folder)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_COUNT(near_binary); i++) {
        char base[PATH_SIZE];
        const int base_size = snprintf(base, sizeof(base), "%s%s", folder, near_binary[i]);
        if (base_size > 0 && base_size < PATH_SIZE && try_base(base, path_or_name, path)) {
            return true;
        }
    }
    return false;
}

/* "cloudtasks/exactly-once" of a path below a folder scenarios, else the path as given. */
static void name_of(const char *path_or_name, char name[PATH_SIZE])
{
    const char *start = path_or_name;
    for (const char *at = strstr(start, "scenarios/"); at != NULL;
         at = strstr(at + 1, "scenarios/")) {
        start = at + strlen("scenarios/");
    }
    (void)snprintf(name, PATH_SIZE, "%s", start);
    const size_t size = strlen(name);
    if (size > 5 && strcmp(name + size - 5, ".json") == 0) {
        name[size - 5] = '\0';
    }
}

enum err scenario_load(const char *path_or_name,
                       const struct scenario_options *options,
                       struct scenario **scenario,
                       struct scenario_fault *fault)
{
    char path[PATH_SIZE];
    struct scenario_store text = {0};
    struct reader reader = {.name = path_or_name, .fault = fault, .memory = &text};
    if (!scenario_find(path_or_name, path, sizeof(path))) {
        return reader_say(&reader,
                          ERR_NOT_FOUND,
                          "",
                          "no such scenario; allowed: a path, or a name as in list scenarios");
    }
    struct bytes json = {0};
    enum err err = reader_file(&text, path, SCENARIO_FILE_MAX, &json);
    if (err != ERR_OK) {
        err = reader_say(&reader,
                         err,
                         "",
                         "cannot be read; allowed: a file of up to %zu MiB",
                         SCENARIO_FILE_MAX >> 20);
    } else {
        char folder[PATH_SIZE];
        char name[PATH_SIZE];
        (void)snprintf(folder, sizeof(folder), "%s", path);
        char *slash = strrchr(folder, '/');
        (void)snprintf(slash == NULL ? folder : slash, 2, "%s", slash == NULL ? "." : "");
        name_of(path, name);
        struct scenario_options own = *options;
        own.name = options->name == NULL ? name : options->name;
        own.folder_or_null = folder;
        err = scenario_create(json, &own, scenario, fault);
    }
    scenario_give_all(&text);
    return err;
}
