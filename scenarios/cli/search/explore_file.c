#include "scenarios/cli/search/explore_file.h"

#include "scenarios/cli/files.h"
#include "sinks/base/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRONTIER_MAGIC "sinkproof-frontier 1\n"
#define TRACES_MAGIC   "sinkproof-traces 1\n"
#define FRAME_SIZE     16u /* a size before and a checksum behind */
#define WHAT_SIZE_MAX  65536u

/* --- frames -------------------------------------------------------------------------------------- */

static enum err read_stream(FILE *file, uint8_t **data, size_t *size)
{
    size_t capacity = (size_t)1 << 20;
    *data = memory_take(capacity);
    *size = 0;
    for (;;) {
        *size += fread(*data + *size, 1, capacity - *size, file);
        if (*size < capacity) {
            return ferror(file) != 0 ? ERR_SYSTEM : ERR_OK;
        }
        capacity *= 2;
        *data = memory_resize(*data, capacity);
    }
}

/* A whole file, of whatever size; *data is to be freed. */
static enum err read_file(const char *path, uint8_t **data, size_t *size)
{
    FILE *file = fopen(path, "rb");
    *data = NULL;
    if (file == NULL) {
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
    }
    const enum err error = read_stream(file, data, size);
    (void)fclose(file);
    return error;
}

/* The body of a frame. */
static enum err open_frame(struct bytes content, const char *magic, struct byte_reader *body)
{
    const size_t head = strlen(magic);
    /* The name without its version. */
    const size_t name = head - 2;
    if (content.size < head || memcmp(content.data, magic, name) != 0) {
        return content.size < head && memcmp(content.data, magic, content.size) == 0 ? ERR_TRUNCATED
                                                                                     : ERR_CORRUPT;
    }
    if (memcmp(content.data, magic, head) != 0) {
        return ERR_VERSION;
    }
    struct byte_reader reader;
    byte_reader_init(&reader, (struct bytes){content.data + head, content.size - head});
    const uint64_t size = byte_reader_u64_le(&reader);
    if (reader.failed || byte_reader_left(&reader) < 8 || size > byte_reader_left(&reader) - 8) {
        return ERR_TRUNCATED;
    }
    const struct bytes covered = {content.data, head + 8 + (size_t)size};
    byte_reader_init(body, byte_reader_bytes(&reader, (size_t)size));
    const uint64_t checksum = byte_reader_u64_le(&reader);
    return byte_reader_left(&reader) == 0 && checksum == digest_bytes(covered) ? ERR_OK
                                                                               : ERR_CORRUPT;
}

/* Memory for a frame with a body of size bytes; the writer stands at the body. */
static uint8_t *start_frame(const char *magic, size_t size, struct byte_writer *writer)
{
    const size_t whole = strlen(magic) + FRAME_SIZE + size;
    uint8_t *memory = memory_take(whole);
    byte_writer_init(writer, memory, whole);
    byte_writer_text(writer, magic);
    byte_writer_u64_le(writer, size);
    return memory;
}

static enum err finish_frame(const char *path, uint8_t *memory, struct byte_writer *writer)
{
    byte_writer_u64_le(writer, digest_bytes(byte_writer_view(writer)));
    CHECK(!writer->overflowed);
    CHECK(writer->size == writer->capacity);
    const enum err error = file_write(path, byte_writer_view(writer));
    free(memory);
    return error;
}

static void say(char message[EXPLORE_FILE_MESSAGE], const char *path, enum err error)
{
    const char *why = "is damaged: its checksum or its numbers do not fit";
    if (error == ERR_TRUNCATED) {
        why = "ends before it is complete";
    } else if (error == ERR_VERSION) {
        why = "is of another version";
    } else if (error == ERR_CONFLICT) {
        why = "is of another scenario, build or bound, or of other options";
    } else if (error == ERR_SYSTEM) {
        why = "cannot be read";
    } else if (error == ERR_LIMIT) {
        why = "needs more memory than there is";
    }
    (void)snprintf(message,
                   EXPLORE_FILE_MESSAGE,
                   "\"%.200s\": %s; allowed: what the same exploration left, or no file",
                   path,
                   why);
}

/* --- counts -------------------------------------------------------------------------------------- */

/* Numbers and texts go one way or the other through the same list of fields, so that what is written
 * is what is read. */
struct transfer {
    struct byte_writer *writer_or_null;
    struct byte_reader *reader_or_null;
};

static void number(const struct transfer *transfer, uint64_t *value)
{
    if (transfer->writer_or_null != NULL) {
        byte_writer_u64_le(transfer->writer_or_null, *value);
    } else {
        *value = byte_reader_u64_le(transfer->reader_or_null);
    }
}

static void number_32(const struct transfer *transfer, uint32_t *value, uint32_t max)
{
    uint64_t wide = *value;
    number(transfer, &wide);
    if (wide > max) {
        transfer->reader_or_null->failed = true;
        wide = 0;
    }
    *value = (uint32_t)wide;
}

static void number_8(const struct transfer *transfer, uint8_t *value)
{
    uint32_t wide = *value;
    number_32(transfer, &wide, UINT8_MAX);
    *value = (uint8_t)wide;
}

static void numbers(const struct transfer *transfer, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        number(transfer, &values[i]);
    }
}

static void text(const struct transfer *transfer, char value[ORACLE_MESSAGE_SIZE])
{
    if (transfer->writer_or_null != NULL) {
        const struct bytes all = {(const uint8_t *)value, ORACLE_MESSAGE_SIZE};
        byte_writer_bytes(transfer->writer_or_null, all);
        return;
    }
    const struct bytes all = byte_reader_bytes(transfer->reader_or_null, ORACLE_MESSAGE_SIZE);
    if (all.size == ORACLE_MESSAGE_SIZE) {
        memcpy(value, all.data, all.size);
        value[ORACLE_MESSAGE_SIZE - 1] = '\0';
    }
}

static void finding(const struct transfer *transfer, struct summary_finding *value)
{
    number(transfer, &value->seed);
    number(transfer, &value->oracles);
    number(transfer, &value->subject);
    number_8(transfer, &value->oracle);
    number_8(transfer, &value->subject_kind);
    text(transfer, value->message);
}

static void summary(const struct transfer *transfer, struct summary *value)
{
    uint64_t *const counts[] = {
        &value->runs,
        &value->counted,
        &value->vacuous,
        &value->refused,
        &value->limited,
        &value->excused,
        &value->violating,
        &value->events,
        &value->digest,
        &value->completing,
        &value->crash_runs,
        &value->crash_points_hit,
        &value->crash_points_seen,
        &value->limit_seed,
    };
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        number(transfer, counts[i]);
    }
    numbers(transfer, value->kind_runs, FAULT_KIND_COUNT);
    numbers(transfer, value->behaviour.runs, MARKS_COUNT);
    numbers(transfer, value->behaviour.first_seed, MARKS_COUNT);
    text(transfer, value->limit);
    text(transfer, value->refusal);
    number_32(transfer, &value->finding_count, SUMMARY_FINDING_MAX);
    for (uint32_t i = 0; i < value->finding_count; i++) {
        finding(transfer, &value->findings[i]);
    }
}

static void witness(const struct transfer *transfer, struct explore_witness *value)
{
    number(transfer, &value->number);
    number_32(transfer, &value->step_count, RUN_SPACE_LEVEL_MAX);
    for (uint32_t i = 0; i < value->step_count; i++) {
        number_32(transfer, &value->steps[i].draw, UINT32_MAX);
        number_32(transfer, &value->steps[i].value, CHOICE_MENU_MAX - 1);
    }
}

static void counts(const struct transfer *transfer, struct explored *explored)
{
    struct explore_counts *value = &explored->counts;
    uint32_t complete = explored->is_complete ? 1 : 0;
    number(transfer, &explored->elapsed_ms);
    number_32(transfer, &complete, 1);
    explored->is_complete = complete != 0;
    summary(transfer, &value->summary);
    number(transfer, &value->digest);
    number(transfer, &value->crash_points_hit);
    number(transfer, &value->crash_points_seen);
    number_32(transfer, &value->witness_count, SUMMARY_FINDING_MAX);
    for (uint32_t i = 0; i < value->witness_count; i++) {
        witness(transfer, &value->witnesses[i]);
    }
}

/* Every finding has the witness that it is told with. */
static bool counts_hold(const struct explore_counts *value)
{
    for (uint32_t i = 0; i < value->summary.finding_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < value->witness_count; k++) {
            found = found || value->witnesses[k].number == value->summary.findings[i].seed;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* --- frontier ------------------------------------------------------------------------------------ */

static void write_what(const char *what, struct byte_writer *writer)
{
    CHECK(strlen(what) <= WHAT_SIZE_MAX);
    byte_writer_u32_le(writer, (uint32_t)strlen(what));
    byte_writer_text(writer, what);
}

static enum err read_what(const char *what, struct byte_reader *reader)
{
    const uint32_t size = byte_reader_u32_le(reader);
    const struct bytes named = byte_reader_bytes(reader, size);
    if (reader->failed) {
        return ERR_TRUNCATED;
    }
    return bytes_equal(named, bytes_of_text(what)) ? ERR_OK : ERR_CONFLICT;
}

static void
write_body(const char *what, const struct explored *explored, struct byte_writer *writer)
{
    const struct transfer out = {.writer_or_null = writer};
    struct explored *copy = memory_take(sizeof *copy);
    *copy = *explored;
    write_what(what, writer);
    counts(&out, copy);
    free(copy);
    frontier_encode(&explored->frontier, writer);
}

enum err explore_file_write(const char *path, const char *what, const struct explored *explored)
{
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    write_body(what, explored, &writer);
    uint8_t *memory = start_frame(FRONTIER_MAGIC, writer.size, &writer);
    write_body(what, explored, &writer);
    return finish_frame(path, memory, &writer);
}

static enum err read_body(const char *what, struct explored *explored, struct byte_reader *reader)
{
    const struct transfer in = {.reader_or_null = reader};
    const enum err named = read_what(what, reader);
    if (named != ERR_OK) {
        return named;
    }
    counts(&in, explored);
    if (reader->failed || !counts_hold(&explored->counts)) {
        return ERR_CORRUPT;
    }
    const enum err error = frontier_decode(&explored->frontier, reader);
    return error == ERR_OK && byte_reader_left(reader) > 0 ? ERR_CORRUPT : error;
}

enum err explore_file_read(const char *path,
                           const char *what,
                           struct explored *explored,
                           char message[EXPLORE_FILE_MESSAGE])
{
    uint8_t *data = NULL;
    size_t size = 0;
    struct byte_reader body;
    enum err error = read_file(path, &data, &size);
    if (error == ERR_OK) {
        error = open_frame((struct bytes){data, size}, FRONTIER_MAGIC, &body);
    }
    if (error == ERR_OK) {
        error = read_body(what, explored, &body);
    }
    free(data);
    if (error != ERR_OK && error != ERR_NOT_FOUND) {
        say(message, path, error);
    }
    return error;
}

/* --- traces -------------------------------------------------------------------------------------- */

char *traces_what(struct text_pool *texts, const struct report_explored *record)
{
    return text_format(texts,
                       "%s %s deviations=%" PRIu32 " crash_points=%d shard=%" PRIu32 "/%" PRIu32
                       " traces=%" PRIu64,
                       record->run.scenario,
                       record->run.profile,
                       record->deviations,
                       record->crash_points ? 1 : 0,
                       record->run.shard_index,
                       record->run.shard_count,
                       record->distinct);
}

static void
write_traces(const char *what, const struct digest_set *traces, struct byte_writer *writer)
{
    write_what(what, writer);
    digest_set_encode(traces, writer);
}

enum err traces_file_write(const char *path, const char *what, const struct digest_set *traces)
{
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    write_traces(what, traces, &writer);
    uint8_t *memory = start_frame(TRACES_MAGIC, writer.size, &writer);
    write_traces(what, traces, &writer);
    return finish_frame(path, memory, &writer);
}

enum err traces_file_read(const char *path,
                          const char *what,
                          struct digest_set *traces,
                          char message[EXPLORE_FILE_MESSAGE])
{
    uint8_t *data = NULL;
    size_t size = 0;
    struct byte_reader body;
    struct digest_set read;
    digest_set_init(&read, &traces->allocator);
    enum err error = read_file(path, &data, &size);
    if (error == ERR_OK) {
        error = open_frame((struct bytes){data, size}, TRACES_MAGIC, &body);
    }
    if (error == ERR_OK) {
        error = read_what(what, &body);
    }
    if (error == ERR_OK) {
        error = digest_set_decode(&read, &body);
    }
    if (error == ERR_OK) {
        error = byte_reader_left(&body) > 0 ? ERR_CORRUPT : digest_set_join(traces, &read);
    }
    if (error != ERR_OK) {
        say(message, path, error == ERR_INVALID ? ERR_CORRUPT : error);
    }
    digest_set_fini(&read);
    free(data);
    return error;
}
