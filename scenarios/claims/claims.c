/* The reader of claims: the same rules and messages as for scenarios. */
#include "scenarios/claims/claims.h"

#include "scenarios/scenario_reader.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLAIMS_FILE_MAX ((size_t)16 << 20)
#define CLAIMS_MAX      10000

/* Where a set comes from. */
struct claim_source {
    const struct sink_type *sink_or_null; /* brought by the user */
    struct bytes folder;                  /* of the user's own file, with its slash; or empty */
};

struct claim_set {
    struct scenario_store memory;
    struct claim_source source;
    struct claim *claims;
    uint32_t count;
};

static const char *const profile_names[] = {"documented", "observed", "adversary", NULL};
static const char *const expected_names[] = {"fails", "holds", NULL};
static const char *const figure_names[] = {"none",
                                           "constraints",
                                           "latency_envelope",
                                           "latency_most",
                                           "catch_up",
                                           "commit_drain",
                                           "staged_cost",
                                           "requests_per_row",
                                           "staged_held",
                                           "interval_trade",
                                           "slowdown",
                                           "visibility_steps",
                                           "latency_least",
                                           NULL};
static const char *const calm_names[] = {"clean", "breaks", NULL};

enum claim_field {
    CLAIM_ID = 0,
    CLAIM_SINK,
    CLAIM_CONDITION,
    CLAIM_PROPERTIES,
    CLAIM_PROFILE,
    CLAIM_EXPECTED,
    CLAIM_ORACLES,
    CLAIM_SCENARIO,
    CLAIM_SMALL,
    CLAIM_LAST_REQUIRED = CLAIM_SMALL,
    CLAIM_SMALL_2X,
    CLAIM_TWIN,
    CLAIM_CALM,
    CLAIM_WITNESS,
    CLAIM_CONFIGURATIONS,
    CLAIM_INSIDES,
    CLAIM_LACKS,
    CLAIM_RELIES,
    CLAIM_CASES,
    CLAIM_FIGURE,
    CLAIM_WANTED,
    CLAIM_FIELD_COUNT,
};

static const struct field claim_fields[CLAIM_FIELD_COUNT] = {
    [CLAIM_ID] = {.type = FIELD_TYPE_TEXT,
                  .key = "id",
                  .min = 1,
                  .max = 31,
                  .sentence = "the claim's stable id"},
    [CLAIM_SINK] = {.type = FIELD_TYPE_TEXT,
                    .key = "sink",
                    .min = 1,
                    .max = 64,
                    .sentence = "name of the sink mode"},
    [CLAIM_CONDITION] = {.type = FIELD_TYPE_TEXT,
                         .key = "condition",
                         .max = 400,
                         .sentence = "under which condition it is made"},
    [CLAIM_PROPERTIES] = {.type = FIELD_TYPE_NAMES,
                          .key = "properties",
                          .min = 1,
                          .max = CLAIM_LIST_MAX,
                          .sentence = "list of what is promised, or openly not"},
    [CLAIM_PROFILE] = {.type = FIELD_TYPE_ENUM,
                       .key = "profile",
                       .names = profile_names,
                       .sentence = "how far the services may go"},
    [CLAIM_EXPECTED] = {.type = FIELD_TYPE_ENUM,
                        .key = "expected",
                        .names = expected_names,
                        .sentence = "holds or fails"},
    [CLAIM_ORACLES] = {.type = FIELD_TYPE_NAMES,
                       .key = "oracles",
                       .min = 1,
                       .max = CLAIM_LIST_MAX,
                       .sentence = "list of who judges"},
    [CLAIM_SCENARIO] = {.type = FIELD_TYPE_TEXT,
                        .key = "scenario",
                        .min = 1,
                        .max = 200,
                        .sentence = "name of its main scenario"},
    [CLAIM_SMALL] = {.type = FIELD_TYPE_TEXT,
                     .key = "small",
                     .min = 1,
                     .max = 200,
                     .sentence = "name of its small scenario"},
    [CLAIM_SMALL_2X] = {.type = FIELD_TYPE_TEXT, .key = "small_2x", .max = 200},
    [CLAIM_TWIN] = {.type = FIELD_TYPE_TEXT, .key = "twin", .max = 200},
    [CLAIM_CALM] = {.type = FIELD_TYPE_ENUM, .key = "calm", .names = calm_names},
    [CLAIM_WITNESS] = {.type = FIELD_TYPE_TEXT, .key = "witness", .max = 400},
    [CLAIM_CONFIGURATIONS] = {.type = FIELD_TYPE_NAMES,
                              .key = "configurations",
                              .min = 1,
                              .max = CLAIM_LIST_MAX},
    [CLAIM_INSIDES] = {.type = FIELD_TYPE_NAMES, .key = "insides", .min = 1, .max = CLAIM_LIST_MAX},
    [CLAIM_RELIES] = {.type = FIELD_TYPE_NAMES, .key = "relies", .min = 1, .max = CLAIM_LIST_MAX},
    [CLAIM_CASES] = {.type = FIELD_TYPE_NAMES, .key = "cases", .min = 1, .max = CLAIM_CASE_MAX},
    [CLAIM_FIGURE] = {.type = FIELD_TYPE_ENUM, .key = "figure", .names = figure_names},
    [CLAIM_WANTED] = {.type = FIELD_TYPE_NAMES, .key = "wanted", .min = 1, .max = CLAIM_LIST_MAX},
    [CLAIM_LACKS] = {.type = FIELD_TYPE_NAMES, .key = "lacks", .min = 1, .max = CLAIM_LIST_MAX},
};

struct claim_values {
    struct field_value values[CLAIM_FIELD_COUNT];
};

static void field_place(uint32_t index, const char *key, char place[READER_PATH_SIZE])
{
    (void)snprintf(place,
                   READER_PATH_SIZE,
                   "claims[%" PRIu32 "]%s%.60s",
                   index,
                   key[0] == '\0' ? "" : ".",
                   key);
}

static enum err read_key(struct reader *reader,
                         uint32_t index,
                         const char *key,
                         json_t *json,
                         struct claim_values *values)
{
    char place[READER_PATH_SIZE];
    char allowed[256] = "";
    field_place(index, key, place);
    for (uint32_t i = 0; i < CLAIM_FIELD_COUNT; i++) {
        if (strcmp(key, claim_fields[i].key) == 0) {
            values->values[i].given = true;
            return reader_value(reader, &claim_fields[i], place, json, &values->values[i]);
        }
        reader_add_name(allowed, sizeof(allowed), claim_fields[i].key);
    }
    return reader_reject(reader, ERR_INVALID, place, "unknown key", "%s", allowed);
}

/* A figure is measured: no oracle judges it, and nothing is explored. */
static bool is_left_out(const struct claim_values *values, uint32_t field)
{
    const bool is_figure = values->values[CLAIM_FIGURE].number != CLAIM_FIGURE_NONE;
    return is_figure && (field == CLAIM_ORACLES || field == CLAIM_SMALL || field == CLAIM_SCENARIO);
}

static enum err
read_values(struct reader *reader, uint32_t index, json_t *item, struct claim_values *values)
{
    char place[READER_PATH_SIZE];
    if (!json_is_object(item)) {
        char seen[READER_SEEN_SIZE];
        reader_seen(item, seen);
        field_place(index, "", place);
        return reader_reject(reader, ERR_INVALID, place, seen, "an object");
    }
    for (uint32_t i = 0; i < CLAIM_FIELD_COUNT; i++) {
        values->values[i].text = bytes_of_text("");
    }
    const char *key = NULL;
    json_t *json = NULL;
    json_object_foreach(item, key, json)
    {
        const enum err err = read_key(reader, index, key, json, values);
        if (err != ERR_OK) {
            return err;
        }
    }
    /* Cases of the decision rule have no scenario and no oracle: they are judged by the rule itself. */
    const bool is_rule = values->values[CLAIM_CASES].given;
    const uint32_t last_required = is_rule ? CLAIM_EXPECTED : CLAIM_LAST_REQUIRED;
    for (uint32_t i = 0; i <= last_required; i++) {
        if (!values->values[i].given && !is_left_out(values, i)) {
            field_place(index, claim_fields[i].key, place);
            return reader_reject(
                reader, ERR_INVALID, place, "missing", "%s", claim_fields[i].sentence);
        }
    }
    return ERR_OK;
}

static const char *text_of(const struct claim_values *values, enum claim_field field)
{
    return (const char *)values->values[field].text.data;
}

/* Copy a list of texts; none if the file has no such list. */
static enum err fill_texts(struct reader *reader,
                           const struct claim_values *values,
                           enum claim_field field,
                           const char **texts,
                           uint32_t *count)
{
    json_t *list = values->values[field].json;
    *count = (uint32_t)json_array_size(list);
    for (uint32_t i = 0; i < *count; i++) {
        json_t *item = json_array_get(list, i);
        const struct bytes name = {(const uint8_t *)json_string_value(item),
                                   json_string_length(item)};
        struct bytes copy = {0};
        const enum err err = reader_copy(reader, name, &copy);
        if (err != ERR_OK) {
            return err;
        }
        texts[i] = (const char *)copy.data;
    }
    return ERR_OK;
}

static enum err
fill_lists(struct reader *reader, const struct claim_values *values, struct claim *claim)
{
    enum err err =
        fill_texts(reader, values, CLAIM_PROPERTIES, claim->properties, &claim->property_count);
    if (err == ERR_OK) {
        err = fill_texts(reader,
                         values,
                         CLAIM_CONFIGURATIONS,
                         claim->configurations,
                         &claim->configuration_count);
    }
    if (err == ERR_OK) {
        err = fill_texts(reader, values, CLAIM_INSIDES, claim->insides, &claim->inside_count);
    }
    if (err == ERR_OK) {
        err = fill_texts(reader, values, CLAIM_RELIES, claim->relies, &claim->rely_count);
    }
    if (err == ERR_OK) {
        err = fill_texts(reader, values, CLAIM_CASES, claim->cases, &claim->case_count);
    }
    if (err == ERR_OK) {
        err = fill_texts(reader, values, CLAIM_WANTED, claim->wanted, &claim->wanted_count);
    }
    return err;
}

static enum err fill_oracles(struct reader *reader,
                             uint32_t index,
                             const struct claim_values *values,
                             enum claim_field field,
                             const struct oracle_type *oracles[CLAIM_LIST_MAX],
                             uint32_t *count)
{
    json_t *list = values->values[field].json;
    *count = (uint32_t)json_array_size(list);
    for (uint32_t i = 0; i < *count; i++) {
        json_t *item = json_array_get(list, i);
        oracles[i] = oracle_by_name(bytes_of_text(json_string_value(item)));
        if (oracles[i] == NULL) {
            char place[READER_PATH_SIZE];
            char key[32];
            char seen[READER_SEEN_SIZE];
            (void)snprintf(key, sizeof(key), "%s[%" PRIu32 "]", claim_fields[field].key, i);
            field_place(index, key, place);
            reader_seen(item, seen);
            return reader_reject(
                reader, ERR_INVALID, place, seen, "an oracle's name, as in list oracles");
        }
    }
    return ERR_OK;
}

static bool is_sink(const struct claim_set *set, const char *name)
{
    const struct sink_type *brought = set->source.sink_or_null;
    const struct sink_type *sink = catalogue_sink(bytes_of_text(name));
    return (sink != NULL && strcmp(sink->name, name) == 0) ||
           (brought != NULL && strcmp(brought->name, name) == 0);
}

/* What the fields must satisfy together. */
static enum err check_claim(struct reader *reader,
                            const struct claim_set *set,
                            uint32_t index,
                            const struct claim *claim)
{
    char place[READER_PATH_SIZE];
    if (claims_find(set, claim->id) != NULL) {
        field_place(index, "id", place);
        return reader_reject(reader, ERR_INVALID, place, claim->id, "each id once");
    }
    if (claim->case_count > 0 && !claim->holds) {
        field_place(index, "cases", place);
        return reader_reject(reader, ERR_INVALID, place, claim->id, "of a claim that holds");
    }
    if (claim->case_count == 0 && !is_sink(set, claim->sink)) {
        field_place(index, "sink", place);
        return reader_reject(
            reader, ERR_INVALID, place, claim->sink, "a sink mode's name, as in list sinks");
    }
    if (claim->holds != (claim->twin[0] == '\0')) {
        field_place(index, "twin", place);
        return reader_reject(reader,
                             ERR_INVALID,
                             place,
                             claim->holds ? claim->twin : "missing",
                             "of a claim that fails, and only there");
    }
    if (claim->figure != CLAIM_FIGURE_NONE && claim->configuration_count == 0) {
        field_place(index, "configurations", place);
        return reader_reject(reader, ERR_INVALID, place, "missing", "what the figure is taken of");
    }
    if (claim->wanted_count != 0 && claim->wanted_count != claim->configuration_count) {
        field_place(index, "wanted", place);
        return reader_reject(
            reader, ERR_INVALID, place, "a list of another length", "as many as configurations");
    }
    for (uint32_t i = 0; i < claim->wanted_count; i++) {
        if (strspn(claim->wanted[i], "0123456789") != strlen(claim->wanted[i])) {
            field_place(index, "wanted", place);
            return reader_reject(
                reader, ERR_INVALID, place, claim->wanted[i], "a whole number, in digits");
        }
    }
    if (claim->inside_count > 1 && claim->inside_count != claim->configuration_count) {
        field_place(index, "insides", place);
        return reader_reject(reader,
                             ERR_INVALID,
                             place,
                             "a list of another length",
                             "one scenario, or as many as configurations");
    }
    return ERR_OK;
}

/* A scenario that lies beside the user's file is known by its path. */
static enum err
place_scenario(struct reader *reader, const struct claim_set *set, const char **scenario)
{
    char path[1024];
    const struct bytes folder = set->source.folder;
    for (uint32_t with_ending = 0; with_ending < 2 && folder.size > 0; with_ending++) {
        const int size = snprintf(path,
                                  sizeof(path),
                                  "%.*s%s%s",
                                  (int)folder.size,
                                  (const char *)folder.data,
                                  *scenario,
                                  with_ending ? ".json" : "");
        if ((*scenario)[0] != '\0' && size < (int)sizeof(path) && access(path, R_OK) == 0) {
            struct bytes copy = {0};
            const enum err err = reader_copy(reader, bytes_of_text(path), &copy);
            *scenario = (const char *)copy.data;
            return err;
        }
    }
    return ERR_OK;
}

static enum err
place_scenarios(struct reader *reader, const struct claim_set *set, struct claim *claim)
{
    const char **const places[] = {&claim->scenario, &claim->small, &claim->small_2x, &claim->twin};
    enum err err = ERR_OK;
    for (size_t i = 0; i < ARRAY_COUNT(places) && err == ERR_OK; i++) {
        err = place_scenario(reader, set, places[i]);
    }
    for (uint32_t i = 0; i < claim->configuration_count && err == ERR_OK; i++) {
        err = place_scenario(reader, set, &claim->configurations[i]);
    }
    for (uint32_t i = 0; i < claim->inside_count && err == ERR_OK; i++) {
        err = place_scenario(reader, set, &claim->insides[i]);
    }
    return err;
}

static enum err
read_claim(struct reader *reader, struct claim_set *set, uint32_t index, json_t *item)
{
    struct claim_values values = {0};
    enum err err = read_values(reader, index, item, &values);
    if (err != ERR_OK) {
        return err;
    }
    struct claim *claim = &set->claims[index];
    *claim = (struct claim){
        .id = text_of(&values, CLAIM_ID),
        .sink = text_of(&values, CLAIM_SINK),
        .condition = text_of(&values, CLAIM_CONDITION),
        .witness = text_of(&values, CLAIM_WITNESS),
        .profile = (enum profile)values.values[CLAIM_PROFILE].number,
        .holds = values.values[CLAIM_EXPECTED].number == 1,
        .scenario = text_of(&values, CLAIM_SCENARIO),
        .small = text_of(&values, CLAIM_SMALL),
        .small_2x = text_of(&values, CLAIM_SMALL_2X),
        .twin = text_of(&values, CLAIM_TWIN),
        .calm = (uint8_t)values.values[CLAIM_CALM].number,
        .figure = (uint8_t)values.values[CLAIM_FIGURE].number,
    };
    err = fill_lists(reader, &values, claim);
    if (claim->scenario[0] == '\0' && claim->configuration_count > 0) {
        claim->scenario = claim->configurations[0]; /* of a figure */
    }
    if (err == ERR_OK) {
        err = fill_oracles(
            reader, index, &values, CLAIM_ORACLES, claim->oracles, &claim->oracle_count);
    }
    if (err == ERR_OK) {
        err = fill_oracles(reader, index, &values, CLAIM_LACKS, claim->lacks, &claim->lack_count);
    }
    if (err == ERR_OK) {
        err = check_claim(reader, set, index, claim);
    }
    if (err == ERR_OK) {
        err = place_scenarios(reader, set, claim);
    }
    set->count += err == ERR_OK ? 1 : 0;
    return err;
}

/* --- the file ------------------------------------------------------------------------------------ */

/* The members of the outermost object: schema and claims, nothing else. */
static enum err check_root(struct reader *reader, json_t *root)
{
    static const struct field schema = {.type = FIELD_TYPE_COUNT, .min = 1, .max = 1};
    if (!json_is_object(root)) {
        return reader_say(reader, ERR_INVALID, "", "not a JSON object; allowed: one object");
    }
    const char *key = NULL;
    json_t *item = NULL;
    json_object_foreach(root, key, item)
    {
        if (strcmp(key, "schema") != 0 && strcmp(key, "claims") != 0) {
            char place[READER_PATH_SIZE];
            (void)snprintf(place, sizeof(place), "%.100s", key);
            return reader_reject(reader, ERR_INVALID, place, "unknown key", "schema, claims");
        }
    }
    json_t *version = json_object_get(root, "schema");
    if (version == NULL) {
        return reader_reject(reader, ERR_INVALID, "schema", "missing", "1");
    }
    struct field_value value = {0};
    const enum err err = reader_value(reader, &schema, "schema", version, &value);
    if (err != ERR_OK) {
        return json_is_integer(version) ? ERR_VERSION : err;
    }
    json_t *claims = json_object_get(root, "claims");
    if (!json_is_array(claims) || json_array_size(claims) > CLAIMS_MAX) {
        return reader_reject(reader,
                             ERR_INVALID,
                             "claims",
                             claims == NULL ? "missing" : "not a list, or too long",
                             "a list of up to %d claims",
                             CLAIMS_MAX);
    }
    return ERR_OK;
}

static enum err read_claims(struct reader *reader, struct claim_set *set, json_t *root)
{
    enum err err = check_root(reader, root);
    if (err != ERR_OK) {
        return err;
    }
    json_t *list = json_object_get(root, "claims");
    const size_t count = json_array_size(list);
    set->claims = scenario_take(&set->memory, count * sizeof(struct claim));
    if (set->claims == NULL) {
        return reader_out_of_memory(reader);
    }
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        err = read_claim(reader, set, i, json_array_get(list, i));
    }
    return err;
}

static enum err create(struct bytes json,
                       const char *name,
                       const struct claim_source *source,
                       struct claim_set **set,
                       struct scenario_fault *fault)
{
    struct claim_set *made = calloc(1, sizeof(*made));
    struct reader reader = {.name = name, .fault = fault};
    fault->message[0] = '\0';
    if (made == NULL) {
        return reader_out_of_memory(&reader);
    }
    reader.memory = &made->memory;
    made->source = *source;
    json_t *root = NULL;
    enum err err = reader_parse(&reader, json, 1, &root);
    if (err == ERR_OK) {
        err = read_claims(&reader, made, root);
        json_decref(root);
    }
    if (err != ERR_OK) {
        CHECK(fault->message[0] != '\0');
        claims_destroy(made);
        return err;
    }
    *set = made;
    return ERR_OK;
}

enum err claims_create(struct bytes json,
                       const char *name,
                       struct claim_set **set,
                       struct scenario_fault *fault)
{
    const struct claim_source source = {0};
    return create(json, name, &source, set, fault);
}

static enum err load(const char *path,
                     const struct claim_source *source,
                     struct claim_set **set,
                     struct scenario_fault *fault)
{
    struct scenario_store text = {0};
    struct reader reader = {.name = path, .fault = fault, .memory = &text};
    struct bytes json = {0};
    enum err err = reader_file(&text, path, CLAIMS_FILE_MAX, &json);
    if (err != ERR_OK) {
        err = reader_say(&reader,
                         err,
                         "",
                         "cannot be read; allowed: a file of up to %zu MiB",
                         CLAIMS_FILE_MAX >> 20);
    } else {
        err = create(json, path, source, set, fault);
    }
    scenario_give_all(&text);
    return err;
}

enum err claims_load(const char *path, struct claim_set **set, struct scenario_fault *fault)
{
    const struct claim_source source = {0};
    return load(path, &source, set, fault);
}

enum err claims_load_own(const char *path,
                         const struct sink_type *sink_or_null,
                         struct claim_set **set,
                         struct scenario_fault *fault)
{
    const char *slash = strrchr(path, '/');
    const struct claim_source source = {
        .sink_or_null = sink_or_null,
        .folder = slash == NULL ? BYTES_LITERAL("./")
                                : (struct bytes){(const uint8_t *)path, (size_t)(slash - path) + 1},
    };
    return load(path, &source, set, fault);
}

void claims_destroy(struct claim_set *set)
{
    scenario_give_all(&set->memory);
    free(set);
}

uint32_t claims_count(const struct claim_set *set)
{
    return set->count;
}

const struct claim *claims_at(const struct claim_set *set, uint32_t index)
{
    CHECK(index < set->count);
    return &set->claims[index];
}

const struct claim *claims_find(const struct claim_set *set, const char *id)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (strcmp(set->claims[i].id, id) == 0) {
            return &set->claims[i];
        }
    }
    return NULL;
}
