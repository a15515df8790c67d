#include "scenarios/cli/mutants/mutants.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_MAX (UINT64_C(1) << 32)

static struct bytes next_line(struct bytes *rest)
{
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    const size_t size = end == NULL ? rest->size : (size_t)(end - rest->data);
    const struct bytes line = {rest->data, size};
    const size_t used = end == NULL ? size : size + 1;
    *rest = (struct bytes){rest->data + used, rest->size - used};
    return line;
}

static struct bytes trimmed(struct bytes text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t' ||
                             text.data[text.size - 1] == '\r')) {
        text.size--;
    }
    return text;
}

/* "SCENARIO ORACLE". */
static bool take_also(struct text_pool *texts, const char *value, struct mutant_alsos *alsos)
{
    const char *space = strchr(value, ' ');
    if (space == NULL || alsos->count == MUTANT_ALSO_MAX) {
        return false;
    }
    const size_t size = (size_t)(space - value);
    alsos->items[alsos->count++] = (struct mutant_also){
        .scenario = text_copy(texts, (struct bytes){(const uint8_t *)value, size}),
        .oracle = text_copy(texts, trimmed(bytes_of_text(space))),
    };
    return true;
}

/* Put "key: value" where it belongs; NULL, or what is allowed in its place. */
static const char *take_line(struct text_pool *texts,
                             struct bytes line,
                             struct mutant *mutant,
                             struct mutant_alsos *alsos)
{
    const uint8_t *colon = memchr(line.data, ':', line.size);
    if (colon == NULL) {
        return NULL; /* prose */
    }
    const size_t key_size = (size_t)(colon - line.data);
    const char *key = text_copy(texts, trimmed((struct bytes){line.data, key_size}));
    const char *value =
        text_copy(texts, trimmed((struct bytes){colon + 1, line.size - key_size - 1}));
    if (strcmp(key, "mechanism") == 0) {
        mutant->mechanism = value;
    } else if (strcmp(key, "scenario") == 0) {
        mutant->scenario = value;
    } else if (strcmp(key, "oracle") == 0) {
        mutant->oracle = value;
    } else if (strcmp(key, "test") == 0) {
        mutant->test_or_null = value;
    } else if (strcmp(key, "target") == 0) {
        mutant->target = value;
    } else if (strcmp(key, "museum") == 0) {
        mutant->museum_or_null = value;
    } else if (strcmp(key, "source") == 0) {
        mutant->source_or_null = value;
    } else if (strcmp(key, "seeds") == 0) {
        const bool is_good = number_parse(value, &mutant->seeds) == ERR_OK && mutant->seeds >= 1 &&
                             mutant->seeds <= SEEDS_MAX;
        return is_good ? NULL : "seeds: allowed: a number from 1 to 2^32";
    } else if (strcmp(key, "also") == 0) {
        return take_also(texts, value, alsos) ? NULL
                                              : "also: allowed: a scenario and an oracle, 16 times";
    }
    return NULL;
}

static enum err
reject(const struct mutant *mutant, const char *what, char message[MUTANT_MESSAGE_SIZE])
{
    (void)snprintf(message, MUTANT_MESSAGE_SIZE, "%s: %s", mutant->path, what);
    return ERR_INVALID;
}

static bool is_empty(const char *text_or_null)
{
    return text_or_null == NULL || text_or_null[0] == '\0';
}

/* As in AMB-01. */
static bool is_museum_id(struct bytes word)
{
    if (word.size != 6 || word.data[3] != '-') {
        return false;
    }
    for (size_t i = 0; i < word.size; i++) {
        const uint8_t first = i < 3 ? 'A' : '0';
        const uint8_t last = i < 3 ? 'Z' : '9';
        if (i != 3 && (word.data[i] < first || word.data[i] > last)) {
            return false;
        }
    }
    return true;
}

static bool is_address(struct bytes word)
{
    const struct bytes scheme = BYTES_LITERAL("https://");
    return word.size > scheme.size && memcmp(word.data, scheme.data, scheme.size) == 0;
}

/* At least one word, and all of them good. */
static bool all_words_are(const char *text_or_null, bool (*is_good)(struct bytes word))
{
    const char *at = text_or_null == NULL ? "" : text_or_null;
    size_t count = 0;
    for (size_t size = strcspn(at, " "); size > 0; size = strcspn(at, " ")) {
        if (!is_good((struct bytes){(const uint8_t *)at, size})) {
            return false;
        }
        count++;
        at += size + strspn(at + size, " ");
    }
    return count > 0;
}

/* What retells a public bug says which, and where it is told. */
static enum err check_museum(const struct mutant *mutant, char message[MUTANT_MESSAGE_SIZE])
{
    if (mutant->museum_or_null == NULL && mutant->source_or_null == NULL) {
        return ERR_OK;
    }
    if (!all_words_are(mutant->museum_or_null, is_museum_id)) {
        return reject(mutant, "museum: allowed: ids as in AMB-01, separated by spaces", message);
    }
    if (!all_words_are(mutant->source_or_null, is_address)) {
        return reject(
            mutant, "source: allowed: addresses https://..., separated by spaces", message);
    }
    return ERR_OK;
}

/* A unit test stands in the place of scenario and oracle. */
static enum err take_test(struct text_pool *texts,
                          uint32_t also_count,
                          struct mutant *mutant,
                          char message[MUTANT_MESSAGE_SIZE])
{
    if (mutant->scenario != NULL || mutant->oracle != NULL || also_count > 0) {
        return reject(
            mutant, "test: allowed: a test, or a scenario and an oracle, not both", message);
    }
    if (strchr(mutant->test_or_null, '/') == NULL) {
        return reject(mutant,
                      "test: allowed: the path of a module that has a unit test, as in "
                      "sim/oracle_excuse",
                      message);
    }
    mutant->scenario = "";
    mutant->oracle = text_format(texts, "test:%s", mutant->test_or_null);
    return ERR_OK;
}

enum err mutant_parse(struct text_pool *texts,
                      struct bytes patch,
                      struct mutant *mutant,
                      struct mutant_alsos *alsos,
                      char message[MUTANT_MESSAGE_SIZE])
{
    struct bytes rest = patch;
    alsos->count = 0;
    mutant->seeds = MUTANT_BUDGET_DEFAULT;
    while (rest.size > 0 && rest.data[0] == '#') {
        struct bytes line = next_line(&rest);
        line.data++;
        line.size--;
        const char *complaint = take_line(texts, trimmed(line), mutant, alsos);
        if (complaint != NULL) {
            return reject(mutant, complaint, message);
        }
    }
    if (is_empty(mutant->mechanism)) {
        return reject(mutant, "its first lines lack \"# mechanism: ...\"", message);
    }
    if (check_museum(mutant, message) != ERR_OK) {
        return ERR_INVALID;
    }
    if (mutant->test_or_null != NULL) {
        return take_test(texts, alsos->count, mutant, message);
    }
    if (is_empty(mutant->scenario)) {
        return reject(
            mutant, "its first lines lack \"# scenario: ...\" or \"# test: ...\"", message);
    }
    if (is_empty(mutant->oracle)) {
        return reject(mutant, "its first lines lack \"# oracle: ...\"", message);
    }
    return ERR_OK;
}

/* All mutants while they are read. */
struct gathering {
    struct text_pool *texts;
    struct mutant *list;
    size_t count;
    size_t capacity;
};

static struct mutant *add_mutant(struct gathering *gathering)
{
    if (gathering->count == gathering->capacity) {
        gathering->capacity = gathering->capacity * 2 + 16;
        gathering->list =
            memory_resize(gathering->list, gathering->capacity * sizeof *gathering->list);
    }
    return &gathering->list[gathering->count++];
}

static enum status
gather_one(struct gathering *gathering, const char *path, const char *name, const char *folder)
{
    char message[MUTANT_MESSAGE_SIZE];
    struct mutant_alsos alsos;
    struct bytes patch = {0};
    if (file_read(gathering->texts, path, &patch) != ERR_OK) {
        complain("%s: cannot be read", path);
        return STATUS_USAGE;
    }
    struct mutant first = {
        .name = name,
        .label = name,
        .path = path,
        .target = folder,
        .is_canary = strstr(name, "canary") != NULL,
    };
    if (mutant_parse(gathering->texts, patch, &first, &alsos, message) != ERR_OK) {
        complain("%s", message);
        return STATUS_USAGE;
    }
    *add_mutant(gathering) = first;
    for (uint32_t i = 0; i < alsos.count; i++) {
        struct mutant *mutant = add_mutant(gathering);
        *mutant = first;
        mutant->label = text_format(gathering->texts, "%s-%" PRIu32, name, i + 2);
        mutant->scenario = alsos.items[i].scenario;
        mutant->oracle = alsos.items[i].oracle;
    }
    return STATUS_OK;
}

static enum status gather_folder(struct gathering *gathering, const char *root, const char *folder)
{
    const char *const *names = NULL;
    const char *place = text_format(gathering->texts, "%s/%s", root, folder);
    const size_t count = folder_names(gathering->texts, place, &names);
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(names[i]);
        if (size > 6 && strcmp(names[i] + size - 6, ".patch") == 0) {
            const struct bytes stem = {(const uint8_t *)names[i], size - 6};
            const enum status status =
                gather_one(gathering,
                           text_format(gathering->texts, "%s/%s", place, names[i]),
                           text_copy(gathering->texts, stem),
                           folder);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

enum status
mutants_read(struct text_pool *texts, const char *source, struct mutant **mutants, size_t *count)
{
    struct gathering gathering = {.texts = texts};
    const char *const *folders = NULL;
    const char *root = text_format(texts, "%s/scenarios/mutants", source);
    const size_t folder_count = folder_names(texts, root, &folders);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < folder_count && status == STATUS_OK; i++) {
        status = gather_folder(&gathering, root, folders[i]);
    }
    *count = gathering.count;
    *mutants = text_memory(texts, gathering.count + 1, sizeof **mutants);
    if (gathering.count > 0) {
        memcpy(*mutants, gathering.list, gathering.count * sizeof **mutants);
    }
    free(gathering.list);
    return status;
}

enum status mutants_list(const struct options *options)
{
    struct text_pool texts = {0};
    struct mutant *mutants = NULL;
    size_t count = 0;
    const char *source = options->source != NULL ? options->source : source_folder(&texts);
    enum status status = STATUS_USAGE;
    if (source == NULL) {
        complain("list mutants: no source tree found; wanted: --source DIR");
    } else {
        status = mutants_read(&texts, source, &mutants, &count);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct mutant *mutant = &mutants[i];
        const bool has_test = mutant->test_or_null != NULL;
        (void)printf("%-44s %s, killed by %s%s%s: %s\n",
                     mutant->name,
                     mutant->target,
                     mutant->oracle,
                     has_test ? "" : " in ",
                     mutant->scenario,
                     mutant->mechanism);
    }
    text_pool_fini(&texts);
    return status;
}
