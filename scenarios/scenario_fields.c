/* The fields of a scenario file: one table, and what is made from it. */
#include "scenarios/scenario_fields.h"

#include "scenarios/scenario_reader.h"
#include "scenarios/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const destination_names[] = {"fixed", "by_split", NULL};
static const char *const policy_names[] = {"fail", "drop", "dead_letter", NULL};
static const char *const profile_names[] = {"documented", "observed", "adversary", NULL};
static const char *const workload_key_names[] = {"none", "unique", "shared", NULL};
static const char *const workload_change_names[] = {
    "inserts", "updates", "retractions", "upserts", NULL};
static const char *const growth_names[] = {"text", "json", NULL};
static const char *const routing_names[] = {"forward", "hash", "round_robin", NULL};
static const char *const runtime_names[] = {"streaming", "automatic", "batch", NULL};
static const char *const barrier_names[] = {"exactly_once", "at_least_once", "unaligned", NULL};
static const char *const restart_names[] = {"fixed_delay", "exponential", "none", NULL};
static const char *const downtime_names[] = {
    "short", "request", "before_window", "after_window", "after_release", NULL};
static const char *const savepoint_at_names[] = {"never", "drawn", "first", "middle", "last", NULL};
static const char *const savepoint_kind_names[] = {"savepoint", "stop", NULL};
static const char *const savepoint_failure_names[] = {
    "none", "automatic", "manual", "manual_checkpoint", "drawn", NULL};
static const char *const stateless_names[] = {"never", "beginning", "own_position", NULL};
static const char *const source_keeps_names[] = {"all", "until_notice", "until_barrier", NULL};
static const char *const region_names[] = {"whole", "subtask", NULL};
static const char *const source_commits_names[] = {"nothing", "as_emitted", NULL};
static const char *const source_pace_names[] = {"steady", "arrivals", NULL};
static const char *const excuse_names[] = {"window_lapsed", "declared_stop", "late_effect", NULL};
static const char *const expect_names[] = {"holds", "fails", "refused", NULL};

/* clang-format off */
const struct field scenario_fields[FIELD_COUNT] = {
    [FIELD_ROOT] = {.type = FIELD_TYPE_OBJECT, .key = "", .sentence = "a scenario"},
#define OBJECT(constant, owner, name, about)                                                       \
    [constant] = {.parent = (owner), .type = FIELD_TYPE_OBJECT, .key = (name), .sentence = (about)},
#define LIST(constant, owner, name, about)                                                         \
    [constant] = {.parent = (owner), .type = FIELD_TYPE_LIST, .key = (name), .sentence = (about)},
#define FIELD(constant, owner, name, kind, standard, standard_text, least, most, choices, about)   \
    [constant] = {.parent = (owner),                                                               \
                  .type = (kind),                                                                  \
                  .key = (name),                                                                   \
                  .fallback = (standard),                                                          \
                  .fallback_text = (standard_text),                                                \
                  .min = (least),                                                                  \
                  .max = (most),                                                                   \
                  .names = (choices),                                                              \
                  .sentence = (about)},
#include "scenarios/fields.def"
#undef OBJECT
#undef LIST
#undef FIELD
};
/* clang-format on */

/* --- paths --------------------------------------------------------------------------------------- */

#define FIELD_DEPTH_MAX 4

void field_path(const struct fields *fields_or_null,
                enum field_id field,
                char path[READER_PATH_SIZE])
{
    enum field_id chain[FIELD_DEPTH_MAX];
    uint32_t depth = 0;
    for (enum field_id at = field; at != FIELD_ROOT; at = scenario_fields[at].parent) {
        CHECK(depth < FIELD_DEPTH_MAX);
        chain[depth] = at;
        depth++;
    }
    size_t size = 0;
    path[0] = '\0';
    while (depth > 0) {
        depth--;
        const struct field *step = &scenario_fields[chain[depth]];
        const bool is_list = step->type == FIELD_TYPE_LIST && depth > 0;
        const int added = snprintf(path + size,
                                   READER_PATH_SIZE - size,
                                   "%s%s%s",
                                   size == 0 ? "" : ".",
                                   step->key,
                                   is_list ? "[]" : "");
        CHECK(added > 0 && size + (size_t)added < READER_PATH_SIZE);
        size += (size_t)added;
    }
    if (scenario_fields[field].type == FIELD_TYPE_DURATION) {
        const char *unit = fields_or_null == NULL ? "_ms" : fields_or_null->values[field].unit;
        (void)snprintf(path + size, READER_PATH_SIZE - size, "%s", unit);
    }
}

/* --- reading ------------------------------------------------------------------------------------- */

static struct ratio fallback_ratio(const struct field *field)
{
    /* Ratios in the table are "n/1". */
    CHECK(field->fallback_text[0] >= '0' && field->fallback_text[0] <= '9');
    return (struct ratio){(uint32_t)(field->fallback_text[0] - '0'), 1};
}

static void set_fallback(enum field_id id, struct field_value *value)
{
    const struct field *field = &scenario_fields[id];
    *value = (struct field_value){.number = field->fallback, .unit = "_ms"};
    if (field->type == FIELD_TYPE_RATIO) {
        value->ratio = fallback_ratio(field);
    }
    if (field->type == FIELD_TYPE_TEXT || field->type == FIELD_TYPE_LINES) {
        value->text = bytes_of_text("");
    }
}

static bool is_required(const struct field *field)
{
    return field->fallback_text != NULL && strcmp(field->fallback_text, "required") == 0;
}

/* Where a key is that was not understood: "engine.checkpoint.x", "models[1].x". */
static void key_path(const char *object_path, const char *key, char path[READER_PATH_SIZE])
{
    (void)snprintf(path,
                   READER_PATH_SIZE,
                   "%.100s%s%.50s",
                   object_path,
                   object_path[0] == '\0' ? "" : ".",
                   key);
}

static enum err
reject_key(struct reader *reader, enum field_id object, const char *object_path, const char *key)
{
    char allowed[256] = "";
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        const struct field *field = &scenario_fields[i];
        if (field->parent != object) {
            continue;
        }
        char name[48];
        (void)snprintf(name,
                       sizeof(name),
                       "%s%s",
                       field->key,
                       field->type == FIELD_TYPE_DURATION ? "_ms" : "");
        reader_add_name(allowed, sizeof(allowed), name);
    }
    char path[READER_PATH_SIZE];
    key_path(object_path, key, path);
    return reader_reject(reader, ERR_INVALID, path, "unknown key", "%s", allowed);
}

struct found_key {
    enum field_id field; /* FIELD_ROOT: none */
    enum key_match match;
};

static struct found_key find_key(enum field_id object, const char *key)
{
    struct found_key found = {FIELD_ROOT, KEY_OTHER};
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        const struct field *field = &scenario_fields[i];
        if (field->parent != object) {
            continue;
        }
        const enum key_match match = key_match(key, field->key, field->type == FIELD_TYPE_DURATION);
        if (match != KEY_OTHER && match != KEY_WRONG_UNIT) {
            return (struct found_key){(enum field_id)i, match};
        }
        if (match == KEY_WRONG_UNIT) {
            found = (struct found_key){(enum field_id)i, match};
        }
    }
    return found;
}

static enum err read_key(struct reader *reader,
                         enum field_id object,
                         const char *object_path,
                         const char *key,
                         json_t *json,
                         struct fields *fields)
{
    const struct found_key found = find_key(object, key);
    char path[READER_PATH_SIZE];
    key_path(object_path, key, path);
    const struct field *field = &scenario_fields[found.field];
    if (found.match == KEY_OTHER) {
        return reject_key(reader, object, object_path, key);
    }
    if (found.match == KEY_WRONG_UNIT) {
        return reader_reject(reader,
                             ERR_INVALID,
                             path,
                             "unit missing or unknown",
                             "%s_ms or %s_ns",
                             field->key,
                             field->key);
    }
    struct field_value *value = &fields->values[found.field];
    if (value->given) {
        return reader_say(reader, ERR_INVALID, path, "given twice, in two units");
    }
    if (field->type == FIELD_TYPE_DURATION) {
        memcpy(value->unit, found.match == KEY_MS ? "_ms" : "_ns", sizeof(value->unit));
        value->given = true;
        return reader_duration(reader, path, json, found.match, field, &value->number);
    }
    value->given = true;
    return reader_value(reader, field, path, json, value);
}

static enum err read_keys(struct reader *reader,
                          enum field_id object,
                          const char *object_path,
                          json_t *json,
                          struct fields *fields)
{
    const char *key = NULL;
    json_t *item = NULL;
    enum err err = ERR_OK;
    /* In the order of the file: jansson keeps it. */
    json_object_foreach(json, key, item)
    {
        err = read_key(reader, object, object_path, key, item, fields);
        if (err != ERR_OK) {
            break;
        }
    }
    for (uint32_t i = 1; err == ERR_OK && i < FIELD_COUNT; i++) {
        const struct field *field = &scenario_fields[i];
        if (field->parent == object && is_required(field) && !fields->values[i].given) {
            char path[READER_PATH_SIZE];
            key_path(object_path, field->key, path);
            err = reader_reject(reader, ERR_INVALID, path, "missing", "%s", field->sentence);
        }
    }
    return err;
}

enum err fields_read(struct reader *reader, json_t *root, struct fields *fields)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        set_fallback((enum field_id)i, &fields->values[i]);
    }
    if (!json_is_object(root)) {
        return reader_say(reader, ERR_INVALID, "", "not a JSON object; allowed: one object");
    }
    fields->values[FIELD_ROOT].json = root;
    enum err err = ERR_OK;
    for (uint32_t i = 0; err == ERR_OK && i < FIELD_COUNT; i++) {
        if (scenario_fields[i].type != FIELD_TYPE_OBJECT || fields->values[i].json == NULL) {
            continue;
        }
        char path[READER_PATH_SIZE];
        field_path(fields, (enum field_id)i, path);
        err = read_keys(reader, (enum field_id)i, path, fields->values[i].json, fields);
    }
    if (err == ERR_OK && fields->values[FIELD_SINK].json == NULL) {
        err = reader_reject(
            reader, ERR_INVALID, "sink", "missing", "an object with the type of the sink");
    }
    return err;
}

enum err fields_read_item(
    struct reader *reader, enum field_id list, uint32_t index, json_t *item, struct fields *fields)
{
    char path[READER_PATH_SIZE];
    char list_path[READER_PATH_SIZE];
    field_path(NULL, list, list_path);
    (void)snprintf(path, sizeof(path), "%.100s[%" PRIu32 "]", list_path, index);
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        if (scenario_fields[i].parent == list) {
            set_fallback((enum field_id)i, &fields->values[i]);
        }
    }
    if (!json_is_object(item)) {
        char seen[READER_SEEN_SIZE];
        reader_seen(item, seen);
        return reader_reject(reader, ERR_INVALID, path, seen, "an object");
    }
    return read_keys(reader, list, path, item, fields);
}

/* --- documentation ------------------------------------------------------------------------------- */

/* A duration in the largest unit that keeps it whole. */
static void write_duration(struct byte_writer *writer, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {
        {DAYS(1), " d"},
        {HOURS(1), " h"},
        {MINUTES(1), " min"},
        {SECONDS(1), " s"},
        {NANOS_PER_MS, " ms"},
        {1, " ns"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (ns % units[i].ns == 0 && (ns != 0 || units[i].ns == NANOS_PER_MS)) {
            byte_writer_decimal(writer, ns / units[i].ns);
            byte_writer_text(writer, units[i].name);
            return;
        }
    }
    UNREACHABLE();
}

static void write_names(struct byte_writer *writer, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        byte_writer_text(writer, i == 0 ? "" : ", ");
        byte_writer_text(writer, names[i]);
    }
}

static void write_range(struct byte_writer *writer, const struct field *field, const char *what)
{
    byte_writer_text(writer, what);
    byte_writer_decimal(writer, field->min);
    byte_writer_text(writer, " to ");
    byte_writer_decimal(writer, field->max);
}

static void write_allowed(struct byte_writer *writer, const struct field *field)
{
    switch ((enum field_type)field->type) {
    case FIELD_TYPE_NONE:
        UNREACHABLE();
    case FIELD_TYPE_OBJECT:
        byte_writer_text(writer, "object");
        return;
    case FIELD_TYPE_LIST:
        byte_writer_text(writer, "list of objects");
        return;
    case FIELD_TYPE_BOOL:
        byte_writer_text(writer, "true, false");
        return;
    case FIELD_TYPE_COUNT:
        write_range(writer, field, "");
        return;
    case FIELD_TYPE_DURATION:
        write_duration(writer, field->min);
        byte_writer_text(writer, " to ");
        write_duration(writer, field->max);
        return;
    case FIELD_TYPE_RATIO:
        byte_writer_text(writer, "\"n/d\" up to 1");
        return;
    case FIELD_TYPE_ID:
        byte_writer_text(writer, "\"0x...\"");
        return;
    case FIELD_TYPE_ENUM:
        write_names(writer, field->names);
        return;
    case FIELD_TYPE_TEXT:
        write_range(writer, field, "text, bytes: ");
        return;
    case FIELD_TYPE_LINES:
        byte_writer_text(writer, "text or list of lines");
        return;
    case FIELD_TYPE_NAMES:
        byte_writer_text(writer, "list of ");
        if (field->names == NULL) {
            byte_writer_text(writer, "names");
        } else {
            write_names(writer, field->names);
        }
        return;
    case FIELD_TYPE_COUNTS:
        write_range(writer, field, "list of numbers ");
        return;
    case FIELD_TYPE_CAPS:
        write_range(writer, field, "object of kinds to numbers ");
        return;
    case FIELD_TYPE_OPTIONS:
        byte_writer_text(writer, "object of options");
        return;
    }
    UNREACHABLE();
}

static void write_default(struct byte_writer *writer, const struct field *field)
{
    if (field->fallback_text != NULL && field->fallback_text[0] != '\0' && field->fallback == 0) {
        byte_writer_text(writer, field->fallback_text);
        return;
    }
    switch ((enum field_type)field->type) {
    case FIELD_TYPE_BOOL:
        byte_writer_text(writer, field->fallback != 0 ? "true" : "false");
        return;
    case FIELD_TYPE_COUNT:
        byte_writer_decimal(writer, field->fallback);
        return;
    case FIELD_TYPE_DURATION:
        write_duration(writer, field->fallback);
        return;
    case FIELD_TYPE_ENUM:
        byte_writer_text(writer, field->names[field->fallback]);
        return;
    case FIELD_TYPE_ID:
        byte_writer_text(writer, "0x");
        byte_writer_decimal(writer, field->fallback); /* below 10 */
        return;
    case FIELD_TYPE_NONE:
    case FIELD_TYPE_OBJECT:
    case FIELD_TYPE_LIST:
    case FIELD_TYPE_RATIO:
    case FIELD_TYPE_TEXT:
    case FIELD_TYPE_LINES:
    case FIELD_TYPE_NAMES:
    case FIELD_TYPE_COUNTS:
    case FIELD_TYPE_CAPS:
    case FIELD_TYPE_OPTIONS:
        return;
    }
}

void scenario_fields_document(struct byte_writer *writer)
{
    byte_writer_text(writer, "| Field | Allowed | Default | Meaning |\n|---|---|---|---|\n");
    for (uint32_t i = 1; i < FIELD_COUNT; i++) {
        const struct field *field = &scenario_fields[i];
        char path[READER_PATH_SIZE];
        field_path(NULL, (enum field_id)i, path);
        byte_writer_text(writer, "| `");
        byte_writer_text(writer, path);
        byte_writer_text(writer, "` | ");
        write_allowed(writer, field);
        byte_writer_text(writer, " | ");
        write_default(writer, field);
        byte_writer_text(writer, " | ");
        byte_writer_text(writer, field->sentence);
        byte_writer_text(writer, " |\n");
    }
}
