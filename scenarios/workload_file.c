/* The user's own records: JSON Lines, one object per line, strict. Messages name file and line. */
#include "scenarios/record_index.h"
#include "scenarios/scenario_reader.h"
#include "scenarios/workload.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES_MAX  ((size_t)4 << 20)
#define LINES_MAX       1000000
#define LINE_PLACE_SIZE 24

/* The fields of a line, in the form of the scenario's own. */
static const char *const change_names[] = {"+I", "-U", "+U", "-D", NULL};

enum line_field {
    LINE_KEY = 0,
    LINE_VALUE,
    LINE_SPLIT,
    LINE_CHANGE,
    LINE_TIME,
    LINE_FIELD_COUNT,
};

static const struct field line_fields[LINE_FIELD_COUNT] = {
    [LINE_KEY] = {.type = FIELD_TYPE_TEXT, .key = "key", .max = 65536},
    [LINE_VALUE] = {.type = FIELD_TYPE_TEXT, .key = "value", .max = LINE_BYTES_MAX},
    [LINE_SPLIT] = {.type = FIELD_TYPE_COUNT, .key = "split", .max = WORKLOAD_SPLIT_MAX - 1},
    [LINE_CHANGE] = {.type = FIELD_TYPE_ENUM, .key = "change", .names = change_names},
    [LINE_TIME] = {.type = FIELD_TYPE_COUNT, .key = "time_ms", .max = INT64_MAX / 1000000},
};

struct parsed_line {
    struct field_value values[LINE_FIELD_COUNT];
};

static void line_place(uint32_t line, const char *key, char place[READER_PATH_SIZE])
{
    (void)snprintf(
        place, READER_PATH_SIZE, "line %" PRIu32 "%s%.60s", line, key[0] == '\0' ? "" : ": ", key);
}

static enum err read_key(
    struct reader *reader, uint32_t line, const char *key, json_t *json, struct parsed_line *parsed)
{
    char place[READER_PATH_SIZE];
    line_place(line, key, place);
    for (uint32_t i = 0; i < LINE_FIELD_COUNT; i++) {
        if (strcmp(key, line_fields[i].key) == 0) {
            parsed->values[i].given = true;
            return reader_value(reader, &line_fields[i], place, json, &parsed->values[i]);
        }
    }
    return reader_reject(
        reader, ERR_INVALID, place, "unknown key", "key, value, split, change, time_ms");
}

static enum err read_line(struct reader *reader,
                          uint32_t line,
                          struct bytes text,
                          uint32_t split_count,
                          struct parsed_line *parsed)
{
    json_t *root = NULL;
    enum err err = reader_parse(reader, text, line, &root);
    if (err != ERR_OK) {
        return err;
    }
    char place[READER_PATH_SIZE];
    if (!json_is_object(root)) {
        line_place(line, "", place);
        char seen[READER_SEEN_SIZE];
        reader_seen(root, seen);
        err = reader_reject(reader, ERR_INVALID, place, seen, "one JSON object");
    }
    const char *key = NULL;
    json_t *item = NULL;
    json_object_foreach(root, key, item)
    {
        err = read_key(reader, line, key, item, parsed);
        if (err != ERR_OK) {
            break;
        }
    }
    json_decref(root);
    if (err == ERR_OK && !parsed->values[LINE_VALUE].given) {
        line_place(line, "value", place);
        err = reader_reject(reader, ERR_INVALID, place, "missing", "the record's value as a text");
    }
    if (err == ERR_OK && parsed->values[LINE_SPLIT].number >= split_count) {
        line_place(line, "split", place);
        char seen[24];
        (void)snprintf(seen, sizeof(seen), "%" PRIu64, parsed->values[LINE_SPLIT].number);
        err = reader_reject(reader,
                            ERR_INVALID,
                            place,
                            seen,
                            "0 to %" PRIu32 " (workload.splits)",
                            split_count - 1);
    }
    return err;
}

/* Take the next line off the text; false at its end. */
static bool next_line(struct bytes *rest, struct bytes *line)
{
    if (rest->size == 0) {
        return false;
    }
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    const size_t size = end == NULL ? rest->size : (size_t)(end - rest->data);
    *line = (struct bytes){rest->data, size};
    rest->data += size + (end == NULL ? 0 : 1);
    rest->size -= size + (end == NULL ? 0 : 1);
    return true;
}

static bool is_blank(struct bytes line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') {
            return false;
        }
    }
    return true;
}

static uint32_t count_lines(struct bytes lines)
{
    struct bytes line = {0};
    uint32_t count = 0;
    while (next_line(&lines, &line) && count <= LINES_MAX) {
        count += is_blank(line) ? 0 : 1;
    }
    return count;
}

static enum err read_lines(struct reader *reader,
                           struct bytes lines,
                           const struct workload_options *options,
                           struct source_record *records)
{
    struct bytes line = {0};
    uint32_t number = 0;
    uint32_t count = 0;
    while (next_line(&lines, &line)) {
        number++;
        if (is_blank(line)) {
            continue;
        }
        struct parsed_line parsed = {0};
        const enum err err = read_line(reader, number, line, options->split_count, &parsed);
        if (err != ERR_OK) {
            return err;
        }
        records[count].record =
            (struct sink_record){.key = parsed.values[LINE_KEY].text,
                                 .value = parsed.values[LINE_VALUE].text,
                                 .change = (uint8_t)parsed.values[LINE_CHANGE].number,
                                 .event_time = MS(parsed.values[LINE_TIME].number),
                                 .split = (uint32_t)parsed.values[LINE_SPLIT].number};
        count++;
    }
    return ERR_OK;
}

/* Put the records in order of their splits, in file order within one. */
static enum err sort_by_split(struct reader *reader,
                              const struct workload_options *options,
                              const struct source_record *unsorted,
                              struct source_log *log)
{
    uint32_t *starts = scenario_take(reader->memory, (options->split_count + 1) * sizeof(uint32_t));
    struct source_record *records =
        scenario_take(reader->memory, log->record_count * sizeof(struct source_record));
    if (starts == NULL || records == NULL) {
        return reader_out_of_memory(reader);
    }
    uint32_t next = 0;
    for (uint32_t split = 0; split < options->split_count; split++) {
        starts[split] = next;
        for (uint32_t i = 0; i < log->record_count; i++) {
            if (unsorted[i].record.split != split) {
                continue;
            }
            records[next] = unsorted[i];
            records[next].record.position = next - starts[split];
            records[next].digest = digest_bytes(unsorted[i].record.value);
            next++;
        }
    }
    starts[options->split_count] = next;
    CHECK(next == log->record_count);
    log->records = records;
    log->split_starts = starts;
    log->split_count = options->split_count;
    return ERR_OK;
}

/* Two records with one value cannot be told apart: the judge must know. */
static enum err note_equal_values(struct reader *reader, struct source_log *log)
{
    struct record_index index = {0};
    const enum err err = record_index_init(reader, log->record_count, &index);
    for (uint32_t i = 0; err == ERR_OK && i < log->record_count; i++) {
        if (!record_index_add(&index, log->records[i].digest, i + 1)) {
            log->equal_payloads = true;
        }
    }
    return err;
}

enum err workload_read(struct reader *reader,
                       const char *name,
                       struct bytes lines,
                       const struct workload_options *options,
                       struct source_log *log)
{
    struct reader file = *reader;
    file.name = name;
    const uint32_t count = count_lines(lines);
    if (count == 0 || count > LINES_MAX || lines.size > WORKLOAD_BYTES_MAX) {
        return reader_say(&file,
                          ERR_INVALID,
                          "",
                          "no record or too many; allowed: 1 to %d records, %zu MiB",
                          LINES_MAX,
                          WORKLOAD_BYTES_MAX >> 20);
    }
    struct source_record *unsorted =
        scenario_take(reader->memory, count * sizeof(struct source_record));
    if (unsorted == NULL) {
        return reader_out_of_memory(reader);
    }
    enum err err = read_lines(&file, lines, options, unsorted);
    if (err == ERR_OK) {
        log->record_count = count;
        err = sort_by_split(&file, options, unsorted, log);
    }
    return err == ERR_OK ? note_equal_values(&file, log) : err;
}
