/* One JSON value to one typed value, and the one line that says why not. */
#include "scenarios/scenario_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- messages ------------------------------------------------------------------------------------ */

/* Make a message one line of printable text. Where a cut left half of a UTF-8 sequence, every byte
 * outside of ASCII becomes '?'. */
static void tidy_message(char *message)
{
    const bool is_utf8 = bytes_is_utf8(bytes_of_text(message));
    for (size_t i = 0; message[i] != '\0'; i++) {
        const unsigned char byte = (unsigned char)message[i];
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
            message[i] = '?';
        }
    }
}

static void append_format(char *message, const char *format, va_list arguments) PRINTF_LIKE(2, 0);

static void append_format(char *message, const char *format, va_list arguments)
{
    const size_t used = strlen(message);
    (void)vsnprintf(message + used, SCENARIO_MESSAGE_SIZE - used, format, arguments);
    tidy_message(message);
}

enum err reader_reject(struct reader *reader,
                       enum err code,
                       const char *path,
                       const char *seen,
                       const char *format,
                       ...)
{
    CHECK(code != ERR_OK);
    char *message = reader->fault->message;
    (void)snprintf(
        message, SCENARIO_MESSAGE_SIZE, "%s: %s: %s; allowed: ", reader->name, path, seen);
    va_list arguments;
    va_start(arguments, format);
    append_format(message, format, arguments);
    va_end(arguments);
    return code;
}

enum err reader_say(struct reader *reader, enum err code, const char *path, const char *format, ...)
{
    CHECK(code != ERR_OK);
    char *message = reader->fault->message;
    (void)snprintf(message,
                   SCENARIO_MESSAGE_SIZE,
                   "%s: %s%s",
                   reader->name,
                   path,
                   path[0] == '\0' ? "" : ": ");
    va_list arguments;
    va_start(arguments, format);
    append_format(message, format, arguments);
    va_end(arguments);
    return code;
}

enum err reader_out_of_memory(struct reader *reader)
{
    return reader_say(reader,
                      ERR_LIMIT,
                      "",
                      "more memory is needed than there is; allowed: %zu MiB per scenario",
                      SCENARIO_BYTES_MAX >> 20);
}

void reader_seen(json_t *json, char seen[READER_SEEN_SIZE])
{
    if (json_is_object(json) || json_is_array(json)) {
        /* Not written out: it may be large. */
        const bool is_object = json_is_object(json);
        (void)snprintf(seen,
                       READER_SEEN_SIZE,
                       "%s of %zu",
                       is_object ? "an object" : "a list",
                       is_object ? json_object_size(json) : json_array_size(json));
        return;
    }
    if (json_is_string(json)) {
        const int shown = READER_SEEN_SIZE - 6;
        const bool is_cut = json_string_length(json) > (size_t)shown;
        (void)snprintf(seen,
                       READER_SEEN_SIZE,
                       is_cut ? "\"%.*s...\"" : "\"%.*s\"",
                       shown,
                       json_string_value(json));
        return;
    }
    const size_t room = READER_SEEN_SIZE - 1;
    const size_t size = json_dumpb(json, seen, room, JSON_ENCODE_ANY);
    seen[size < room ? size : room] = '\0';
}

void reader_list_names(const char *const *names, char *text, size_t capacity)
{
    size_t size = strlen(text);
    for (size_t i = 0; names[i] != NULL; i++) {
        const size_t needed = strlen(names[i]) + (size == 0 ? 0 : 2);
        if (size + needed + 5 >= capacity) {
            memcpy(text + size, ", ...", size + 6 <= capacity ? 6 : 0);
            return;
        }
        (void)snprintf(text + size, capacity - size, "%s%s", size == 0 ? "" : ", ", names[i]);
        size += needed;
    }
}

static enum err reject_type(struct reader *reader, const char *path, json_t *json, const char *what)
{
    char seen[READER_SEEN_SIZE];
    reader_seen(json, seen);
    return reader_reject(reader, ERR_INVALID, path, seen, "%s", what);
}

void reader_add_name(char *text, size_t capacity, const char *name)
{
    const char *const one[] = {name, NULL};
    reader_list_names(one, text, capacity);
}

/* --- JSON ---------------------------------------------------------------------------------------- */

/* The deepest that any file of ours nests is 4. The parser recurses once per level, so what is
 * deeper is refused before it is parsed. */
#define JSON_DEPTH_MAX 16

/* Whether objects and lists nest deeper than allowed, leaving out what stands in strings. */
static bool is_too_deep(struct bytes json)
{
    uint32_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < json.size; i++) {
        const uint8_t byte = json.data[i];
        if (in_string) {
            i += byte == '\\' ? 1 : 0;
            in_string = byte != '"';
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '{' || byte == '[') {
            depth++;
            if (depth > JSON_DEPTH_MAX) {
                return true;
            }
        } else if ((byte == '}' || byte == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

enum err reader_parse(struct reader *reader, struct bytes json, uint32_t first_line, json_t **root)
{
    if (is_too_deep(json)) {
        return reader_say(
            reader, ERR_INVALID, "", "nested too deep; allowed: %d levels", JSON_DEPTH_MAX);
    }
    /* An empty input may come without memory, which the parser does not take. */
    const struct bytes source = json.size == 0 ? BYTES_LITERAL("") : json;
    json_error_t error;
    *root = json_loadb((const char *)source.data, source.size, JSON_REJECT_DUPLICATES, &error);
    if (*root != NULL) {
        return ERR_OK;
    }
    const bool is_cut = json_error_code(&error) == json_error_premature_end_of_input;
    char place[READER_PATH_SIZE];
    (void)snprintf(place,
                   sizeof(place),
                   "line %" PRIu32 ", column %d",
                   first_line + (uint32_t)error.line - 1,
                   error.column);
    return reader_say(reader,
                      is_cut ? ERR_TRUNCATED : ERR_INVALID,
                      place,
                      "%s; allowed: JSON (RFC 8259), each key once",
                      error.text);
}

/* --- numbers ------------------------------------------------------------------------------------- */

static enum err read_count(struct reader *reader,
                           const struct field *field,
                           const char *path,
                           json_t *json,
                           uint64_t *number)
{
    const json_int_t seen = json_integer_value(json);
    if (!json_is_integer(json) || seen < 0 || (uint64_t)seen < field->min ||
        (uint64_t)seen > field->max) {
        char text[READER_SEEN_SIZE];
        reader_seen(json, text);
        if (field->min == field->max) {
            return reader_reject(reader, ERR_INVALID, path, text, "%" PRIu64, field->min);
        }
        return reader_reject(reader,
                             ERR_INVALID,
                             path,
                             text,
                             "a whole number from %" PRIu64 " to %" PRIu64,
                             field->min,
                             field->max);
    }
    *number = (uint64_t)seen;
    return ERR_OK;
}

enum err reader_duration(struct reader *reader,
                         const char *path,
                         json_t *json,
                         enum key_match unit,
                         const struct field *limits,
                         uint64_t *ns)
{
    CHECK(unit == KEY_MS || unit == KEY_NS);
    const uint64_t factor = unit == KEY_MS ? NANOS_PER_MS : 1;
    /* What is allowed, in the unit that the file uses. */
    struct field scaled = *limits;
    scaled.min = limits->min / factor + (limits->min % factor != 0);
    scaled.max = limits->max / factor;
    if (scaled.max > (uint64_t)INT64_MAX) {
        scaled.max = (uint64_t)INT64_MAX;
    }
    uint64_t number = 0;
    const enum err err = read_count(reader, &scaled, path, json, &number);
    if (err == ERR_OK) {
        *ns = number * factor;
    }
    return err;
}

/* Read decimal digits at *text, at most 7 of them; false when there are none or too many. */
static bool read_digits(const char **text, uint32_t *number)
{
    uint32_t value = 0;
    uint32_t digits = 0;
    while (**text >= '0' && **text <= '9' && digits < 8) {
        value = value * 10 + (uint32_t)(**text - '0');
        (*text)++;
        digits++;
    }
    *number = value;
    return digits > 0 && digits < 8;
}

static enum err read_ratio(struct reader *reader,
                           const struct field *field,
                           const char *path,
                           json_t *json,
                           struct ratio *ratio)
{
    const char *text = json_string_value(json);
    struct ratio seen = {0};
    bool ok = text != NULL && read_digits(&text, &seen.numerator);
    ok = ok && *text == '/';
    if (ok) {
        text++;
    }
    ok = ok && read_digits(&text, &seen.denominator) && *text == '\0' && seen.denominator > 0;
    ok = ok && seen.numerator <= field->max * seen.denominator;
    if (!ok) {
        return reject_type(reader, path, json, "a ratio as text, from \"0/1\" to \"1/1\"");
    }
    *ratio = seen;
    return ERR_OK;
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    if (letter >= 'a' && letter <= 'f') {
        return letter - 'a' + 10;
    }
    return -1;
}

static enum err read_id(struct reader *reader, const char *path, json_t *json, uint64_t *number)
{
    const char *text = json_string_value(json);
    const size_t size = json_string_length(json);
    bool ok = text != NULL && size > 2 && size <= 18 && text[0] == '0' && text[1] == 'x';
    uint64_t value = 0;
    for (size_t i = 2; ok && i < size; i++) {
        const int digit = hex_digit(text[i]);
        ok = digit >= 0;
        value = (value << 4) | (uint64_t)(ok ? digit : 0);
    }
    if (!ok) {
        return reject_type(reader, path, json, "a text of 0x and 1 to 16 hex digits, as \"0x1f\"");
    }
    *number = value;
    return ERR_OK;
}

/* --- texts --------------------------------------------------------------------------------------- */

enum err reader_copy(struct reader *reader, struct bytes text, struct bytes *copy)
{
    char *memory = scenario_take(reader->memory, text.size + 1);
    if (memory == NULL) {
        return reader_out_of_memory(reader);
    }
    if (text.size > 0) {
        memcpy(memory, text.data, text.size);
    }
    *copy = (struct bytes){(const uint8_t *)memory, text.size};
    return ERR_OK;
}

static struct bytes string_bytes(json_t *json)
{
    return (struct bytes){(const uint8_t *)json_string_value(json), json_string_length(json)};
}

static enum err read_text(struct reader *reader,
                          const struct field *field,
                          const char *path,
                          json_t *json,
                          struct bytes *text)
{
    const size_t size = json_string_length(json);
    if (!json_is_string(json) || size < field->min || size > field->max) {
        char seen[READER_SEEN_SIZE];
        reader_seen(json, seen);
        return reader_reject(reader,
                             ERR_INVALID,
                             path,
                             seen,
                             "a text of %" PRIu64 " to %" PRIu64 " bytes",
                             field->min,
                             field->max);
    }
    return reader_copy(reader, string_bytes(json), text);
}

/* A text, or a list of lines that are joined. */
static enum err read_lines(struct reader *reader,
                           const struct field *field,
                           const char *path,
                           json_t *json,
                           struct bytes *text)
{
    if (json_is_string(json)) {
        return reader_copy(reader, string_bytes(json), text);
    }
    const size_t lines = json_array_size(json);
    size_t size = 0;
    bool ok = json_is_array(json) && lines <= field->max;
    for (size_t i = 0; ok && i < lines; i++) {
        ok = json_is_string(json_array_get(json, i));
        size += json_string_length(json_array_get(json, i)) + 1;
    }
    if (!ok) {
        return reject_type(reader, path, json, "a text, or a list of lines as texts");
    }
    char *memory = scenario_take(reader->memory, size + 1);
    if (memory == NULL) {
        return reader_out_of_memory(reader);
    }
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)memory, size);
    for (size_t i = 0; i < lines; i++) {
        byte_writer_bytes(&writer, string_bytes(json_array_get(json, i)));
        byte_writer_u8(&writer, '\n');
    }
    CHECK(!writer.overflowed);
    *text = byte_writer_view(&writer);
    return ERR_OK;
}

static enum err read_enum(struct reader *reader,
                          const struct field *field,
                          const char *path,
                          json_t *json,
                          uint64_t *number)
{
    const char *text = json_string_value(json);
    for (uint64_t i = 0; text != NULL && field->names[i] != NULL; i++) {
        if (strcmp(text, field->names[i]) == 0) {
            *number = i;
            return ERR_OK;
        }
    }
    char allowed[READER_PATH_SIZE] = "";
    reader_list_names(field->names, allowed, sizeof(allowed));
    return reject_type(reader, path, json, allowed);
}

/* --- lists --------------------------------------------------------------------------------------- */

static enum err read_names(struct reader *reader,
                           const struct field *field,
                           const char *path,
                           json_t *json,
                           struct field_value *value)
{
    const size_t count = json_array_size(json);
    bool ok = json_is_array(json) && count >= field->min && count <= field->max;
    for (size_t i = 0; ok && i < count; i++) {
        ok = json_string_length(json_array_get(json, i)) > 0;
    }
    if (!ok) {
        char what[64];
        (void)snprintf(what,
                       sizeof(what),
                       "a list of %" PRIu64 " to %" PRIu64 " names, none empty",
                       field->min,
                       field->max);
        return reject_type(reader, path, json, what);
    }
    value->json = json;
    return ERR_OK;
}

static enum err read_counts(struct reader *reader,
                            const struct field *field,
                            const char *path,
                            json_t *json,
                            struct field_value *value)
{
    if (!json_is_array(json)) {
        return reject_type(reader, path, json, "a list of whole numbers");
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        uint64_t number = 0;
        const enum err err = read_count(reader, field, path, json_array_get(json, i), &number);
        if (err != ERR_OK) {
            return err;
        }
    }
    value->json = json;
    return ERR_OK;
}

static enum err
read_object(struct reader *reader, const char *path, json_t *json, struct field_value *value)
{
    if (!json_is_object(json)) {
        return reject_type(reader, path, json, "an object");
    }
    value->json = json;
    return ERR_OK;
}

static enum err
read_list(struct reader *reader, const char *path, json_t *json, struct field_value *value)
{
    if (!json_is_array(json)) {
        return reject_type(reader, path, json, "a list of objects");
    }
    value->json = json;
    return ERR_OK;
}

static enum err
read_bool(struct reader *reader, const char *path, json_t *json, struct field_value *value)
{
    if (!json_is_boolean(json)) {
        return reject_type(reader, path, json, "true or false");
    }
    value->number = json_is_true(json) ? 1 : 0;
    return ERR_OK;
}

enum err reader_value(struct reader *reader,
                      const struct field *field,
                      const char *path,
                      json_t *json,
                      struct field_value *value)
{
    switch ((enum field_type)field->type) {
    case FIELD_TYPE_OBJECT:
    case FIELD_TYPE_CAPS:
    case FIELD_TYPE_OPTIONS:
        return read_object(reader, path, json, value);
    case FIELD_TYPE_LIST:
        return read_list(reader, path, json, value);
    case FIELD_TYPE_BOOL:
        return read_bool(reader, path, json, value);
    case FIELD_TYPE_COUNT:
        return read_count(reader, field, path, json, &value->number);
    case FIELD_TYPE_RATIO:
        return read_ratio(reader, field, path, json, &value->ratio);
    case FIELD_TYPE_ID:
        return read_id(reader, path, json, &value->number);
    case FIELD_TYPE_ENUM:
        return read_enum(reader, field, path, json, &value->number);
    case FIELD_TYPE_TEXT:
        return read_text(reader, field, path, json, &value->text);
    case FIELD_TYPE_LINES:
        return read_lines(reader, field, path, json, &value->text);
    case FIELD_TYPE_NAMES:
        return read_names(reader, field, path, json, value);
    case FIELD_TYPE_COUNTS:
        return read_counts(reader, field, path, json, value);
    case FIELD_TYPE_NONE:
    case FIELD_TYPE_DURATION: /* read with its unit by reader_duration */
        break;
    }
    UNREACHABLE();
}

/* --- keys ---------------------------------------------------------------------------------------- */

enum key_match key_match(const char *key, const char *name, bool is_duration)
{
    static const char *const other_units[] = {
        "", "_us", "_s", "_sec", "_seconds", "_min", "_minutes", "_h", "_hours", "_d", "_days"};
    const size_t size = strlen(name);
    if (strncmp(key, name, size) != 0) {
        return KEY_OTHER;
    }
    const char *unit = key + size;
    if (!is_duration) {
        return *unit == '\0' ? KEY_EXACT : KEY_OTHER;
    }
    if (strcmp(unit, "_ms") == 0) {
        return KEY_MS;
    }
    if (strcmp(unit, "_ns") == 0) {
        return KEY_NS;
    }
    for (size_t i = 0; i < ARRAY_COUNT(other_units); i++) {
        if (strcmp(unit, other_units[i]) == 0) {
            return KEY_WRONG_UNIT;
        }
    }
    return KEY_OTHER;
}
