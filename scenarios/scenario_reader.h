/* Inside of the scenario reader: memory, messages and typed values. Not for outside use.
 *
 *   scenario_memory.c  what a scenario owns
 *   scenario_value.c   one JSON value to one typed value, and the line that says why not
 *   scenario_fields.c  the fields of fields.def: reading an object tree, documentation
 *   scenario_options.c options of a sink or model, by its own table
 *   scenario_build.c   from values to a run_config: parts, records, engine
 *   scenario_judge.c   faults, judges, expectation, tape
 *   scenario_facts.c   windows, bounds and the judge's facts
 *   scenario.c         create, load, destroy
 */
#ifndef SCENARIOS_SCENARIO_READER_H
#define SCENARIOS_SCENARIO_READER_H

#include "scenarios/scenario.h"
#include "sinks/base/allocator.h"

#include <jansson.h>

/* --- memory -------------------------------------------------------------------------------------- */

/* Blocks that live as long as the scenario. */
struct scenario_store {
    struct scenario_block *blocks; /* private */
    size_t total;                  /* read: bytes handed out */
};

#define SCENARIO_BYTES_MAX ((size_t)1 << 30)

/* Take zeroed memory aligned for any type, or NULL when there is none or SCENARIO_BYTES_MAX is
 * passed. size may be 0. */
MUST_USE void *scenario_take(struct scenario_store *store, size_t size);
void scenario_give_all(struct scenario_store *store);

/* Read a file, with a NUL behind its bytes. ERR_OK, ERR_NOT_FOUND, ERR_SYSTEM, ERR_LIMIT (memory),
 * ERR_INVALID (more than size_max bytes). */
MUST_USE enum err
reader_file(struct scenario_store *memory, const char *path, size_t size_max, struct bytes *bytes);

/* --- messages ------------------------------------------------------------------------------------ */

#define READER_PATH_SIZE 160
#define READER_SEEN_SIZE 72

struct reader {
    const char *name;             /* of the file, for messages */
    struct scenario_fault *fault; /* the line */
    struct scenario_store *memory;
};

/* Say why: "name: path: seen; allowed: ...". Returns code, so that a caller can return it. Control
 * characters become '?'. */
MUST_USE enum err reader_reject(struct reader *reader,
                                enum err code,
                                const char *path,
                                const char *seen,
                                const char *format,
                                ...) PRINTF_LIKE(5, 6);

/* The same where nothing of the file can be shown: "name: path: ...". */
MUST_USE enum err
reader_say(struct reader *reader, enum err code, const char *path, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* There is no memory left. */
MUST_USE enum err reader_out_of_memory(struct reader *reader);

/* A JSON value as it stands in the file, cut short. */
void reader_seen(json_t *json, char seen[READER_SEEN_SIZE]);

/* Append names to text of size capacity, separated by ", ", as far as they fit. */
void reader_list_names(const char *const *names, char *text, size_t capacity);
void reader_add_name(char *text, size_t capacity, const char *name);

/* Parse JSON strictly: no key twice, no deep nesting. Messages count lines from first_line. The
 * caller gives *root back.
 * ERR_OK, ERR_INVALID, ERR_TRUNCATED. */
MUST_USE enum err
reader_parse(struct reader *reader, struct bytes json, uint32_t first_line, json_t **root);

/* --- values -------------------------------------------------------------------------------------- */

enum field_type {
    FIELD_TYPE_NONE = 0,
    FIELD_TYPE_OBJECT,
    FIELD_TYPE_LIST,     /* of objects */
    FIELD_TYPE_BOOL,     /* number */
    FIELD_TYPE_COUNT,    /* number */
    FIELD_TYPE_DURATION, /* number, ns */
    FIELD_TYPE_RATIO,    /* ratio; "n/d" in the file */
    FIELD_TYPE_ID,       /* number; "0x..." in the file */
    FIELD_TYPE_ENUM,     /* number: index into names */
    FIELD_TYPE_TEXT,     /* text, in the scenario's memory */
    FIELD_TYPE_LINES,    /* text: lines joined by newlines */
    FIELD_TYPE_NAMES,    /* json: a list of strings */
    FIELD_TYPE_COUNTS,   /* json: a list of counts within min and max */
    FIELD_TYPE_CAPS,     /* json: names to counts within min and max */
    FIELD_TYPE_OPTIONS,  /* json: keys of an option table */
};

struct field {
    uint8_t parent;
    uint8_t type; /* enum field_type */
    const char *key;
    uint64_t fallback;
    const char *fallback_text;
    uint64_t min;
    uint64_t max;
    const char *const *names;
    const char *sentence;
};

struct field_value {
    bool given;
    uint64_t number;
    struct ratio ratio;
    struct bytes text; /* NUL-terminated behind its size */
    json_t *json;      /* borrowed from the file's tree */
    char unit[4];      /* of a duration: "_ms" or "_ns" */
};

/* Read one value of a type; path names it. min, max, names are the field's.
 * ERR_OK, ERR_INVALID, ERR_LIMIT. */
MUST_USE enum err reader_value(struct reader *reader,
                               const struct field *field,
                               const char *path,
                               json_t *json,
                               struct field_value *value);

/* How a key stands to a field's or option's name. */
enum key_match {
    KEY_OTHER = 0,
    KEY_EXACT,
    KEY_MS,         /* a duration in ms */
    KEY_NS,         /* a duration in ns */
    KEY_WRONG_UNIT, /* a duration with another unit or none */
};
enum key_match key_match(const char *key, const char *name, bool is_duration);

/* Scale a duration's number of the file to ns; max in ns. */
MUST_USE enum err reader_duration(struct reader *reader,
                                  const char *path,
                                  json_t *json,
                                  enum key_match unit,
                                  const struct field *limits,
                                  uint64_t *ns);

/* Copy a text into the scenario's memory with a NUL behind it. ERR_OK, ERR_LIMIT. */
MUST_USE enum err reader_copy(struct reader *reader, struct bytes text, struct bytes *copy);

/* --- fields -------------------------------------------------------------------------------------- */

/* clang-format off */
enum field_id {
    FIELD_ROOT = 0,
#define OBJECT(constant, parent, key, sentence) constant,
#define LIST OBJECT
#define FIELD(constant, parent, key, type, fallback, fallback_text, min, max, names, sentence) constant,
#include "scenarios/fields.def"
#undef OBJECT
#undef LIST
#undef FIELD
    FIELD_COUNT,
};
/* clang-format on */

extern const struct field scenario_fields[FIELD_COUNT];

struct fields {
    struct field_value values[FIELD_COUNT];
};

/* Read the objects of a file into values; what is not given gets its default. */
MUST_USE enum err fields_read(struct reader *reader, json_t *root, struct fields *fields);

/* Read item index of a LIST field: fills the values of the list's own fields only. */
MUST_USE enum err fields_read_item(
    struct reader *reader, enum field_id list, uint32_t index, json_t *item, struct fields *fields);

/* The path of a field as people write it, "engine.checkpoint.interval_ms". */
void field_path(const struct fields *fields_or_null,
                enum field_id field,
                char path[READER_PATH_SIZE]);

static inline uint64_t field_number(const struct fields *fields, enum field_id field)
{
    return fields->values[field].number;
}

static inline bool field_bool(const struct fields *fields, enum field_id field)
{
    return fields->values[field].number != 0;
}

/* --- options ------------------------------------------------------------------------------------- */

struct option_table {
    const char *owner; /* of the table, for messages */
    const struct sink_option *options;
    size_t count;
};

/* Read an object of options against a table; json may be NULL (all defaults).
 * *values gets count values in the scenario's memory. */
MUST_USE enum err options_read(struct reader *reader,
                               const char *path,
                               const struct option_table *table,
                               json_t *json_or_null,
                               const struct sink_option_value **values);

/* --- building ------------------------------------------------------------------------------------ */

enum scenario_runtime {
    RUNTIME_STREAMING = 0,
    RUNTIME_AUTOMATIC,
    RUNTIME_BATCH,
};

/* Fill scenario->config and the rest from values. */
MUST_USE enum err scenario_build(struct reader *reader,
                                 const struct fields *fields,
                                 const struct scenario_options *options,
                                 struct scenario *scenario);

struct wiring_windows;

/* Lengths of downtimes, bounds and facts, once the rest of config is filled. */
void scenario_build_facts(const struct fields *fields,
                          const struct wiring_windows *windows,
                          struct run_config *config);

#endif
