#include "scenarios/cli/search/shrink_state.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TITLE               "sinkproof-shrink 1"
#define ANSWERS_PER_LINE    16u
#define OTHER_ENTRIES_MAX   65536u
#define TEXT_CAPACITY_LEAST 4096u

static uint64_t digest_of_tape(struct text_pool *texts, const struct failing_run *run)
{
    const char *text = failures_tape_text(texts, run->scenario, &run->tape);
    return digest_bytes(bytes_of_text(text));
}

/* The lines that say whose state it is. */
static char *head_text(struct text_pool *texts, const struct failing_run *run)
{
    return text_format(texts,
                       TITLE "\nscenario %s\noracle %s\ntape 0x%016" PRIx64 "\n",
                       run->scenario->name,
                       summary_oracle_name(run->culprit.oracle),
                       digest_of_tape(texts, run));
}

static void write_answers(const struct answers *answers, struct byte_writer *writer)
{
    for (size_t i = 0; i < answers->length_count; i++) {
        byte_writer_text(writer, i % ANSWERS_PER_LINE == 0 ? "answers " : " ");
        byte_writer_decimal(writer, answers->lengths[i]);
        if (i % ANSWERS_PER_LINE == ANSWERS_PER_LINE - 1 || i == answers->length_count - 1) {
            byte_writer_text(writer, "\n");
        }
    }
}

static void write_state(struct text_pool *texts,
                        const struct failing_run *run,
                        const struct shrinking *shrinking,
                        struct byte_writer *writer)
{
    byte_writer_text(writer, head_text(texts, run));
    byte_writer_text(writer,
                     text_format(texts, "questions 0x%016" PRIx64 "\n", shrinking->answers.digest));
    write_answers(&shrinking->answers, writer);
    for (uint32_t i = 0; i < shrinking->other_count; i++) {
        const struct shrinking_other *other = &shrinking->others[i];
        byte_writer_text(writer,
                         text_format(texts,
                                     "other %s %u %" PRIu64 "\n",
                                     summary_oracle_name(other->culprit.oracle),
                                     (unsigned)other->culprit.subject_kind,
                                     other->culprit.subject));
        byte_writer_text(writer, failures_tape_text(texts, run->scenario, &other->tape));
    }
}

enum err shrink_state_write(const char *path,
                            const struct failing_run *run,
                            const struct shrinking *shrinking)
{
    struct text_pool texts = {0};
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    write_state(&texts, run, shrinking, &writer);
    const size_t size = writer.size;
    uint8_t *text = text_memory(&texts, size + 32, 1);
    byte_writer_init(&writer, text, size + 32);
    write_state(&texts, run, shrinking, &writer);
    const uint64_t digest = digest_bytes(byte_writer_view(&writer));
    byte_writer_text(&writer, text_format(&texts, "digest 0x%016" PRIx64 "\n", digest));
    CHECK(!writer.overflowed);
    const enum err error = file_write(path, byte_writer_view(&writer));
    text_pool_fini(&texts);
    return error;
}

/* --- reading ----------------------------------------------------------------------------------- */

struct reading {
    const char *path;
    struct failing_run *run;
    struct shrinking *shrinking;
    const char *text; /* ends with NUL */
    const char *at;
    uint32_t line;
    bool is_no; /* the polarity of the next number of answers */
};

static enum status bad(const struct reading *reading, const char *allowed)
{
    complain("%s:%u: \"%.*s\": allowed: %s",
             reading->path,
             (unsigned)reading->line,
             (int)(strcspn(reading->at, "\n") < 60 ? strcspn(reading->at, "\n") : 60),
             reading->at,
             allowed);
    return STATUS_USAGE;
}

static void next_line(struct reading *reading)
{
    reading->at += strcspn(reading->at, "\n");
    reading->at += *reading->at == '\n' ? 1 : 0;
    reading->line++;
}

static bool starts(const struct reading *reading, const char *word)
{
    return strncmp(reading->at, word, strlen(word)) == 0;
}

/* The digest at the end must be that of all before: else the rest is not looked at. */
static enum status check_digest(struct reading *reading, size_t size)
{
    const size_t last = strlen("digest 0x0123456789abcdef\n");
    char wanted[40];
    if (size > last) {
        const struct bytes before = {(const uint8_t *)reading->text, size - last};
        (void)snprintf(wanted, sizeof wanted, "digest 0x%016" PRIx64 "\n", digest_bytes(before));
        if (memcmp(reading->text + size - last, wanted, last) == 0) {
            return STATUS_OK;
        }
    }
    complain(
        "--resume \"%s\": its last line is not the digest of the lines before; allowed: a file "
        "that shrink has written, whole",
        reading->path);
    return STATUS_USAGE;
}

/* The head must be the one that this run would write. */
static enum status check_head(struct reading *reading)
{
    const char *wanted = head_text(&reading->run->session->texts, reading->run);
    while (*wanted != '\0') {
        const size_t size = strcspn(wanted, "\n") + 1;
        if (strncmp(reading->at, wanted, size) != 0) {
            return bad(reading,
                       text_format(&reading->run->session->texts,
                                   "\"%.*s\", as of the run that is to be shrunk",
                                   (int)size - 1,
                                   wanted));
        }
        wanted += size;
        next_line(reading);
    }
    return STATUS_OK;
}

static enum status read_answers(struct reading *reading)
{
    const char *at = reading->at + strlen("answers ");
    while (*at != '\n') {
        char *end = NULL;
        const unsigned long length = strtoul(at, &end, 10);
        if (end == at || (*end != ' ' && *end != '\n') || length > UINT32_MAX) {
            return bad(reading, "numbers of runs in a row");
        }
        answers_append(&reading->shrinking->answers, !reading->is_no, (uint32_t)length);
        reading->is_no = !reading->is_no;
        at = *end == ' ' ? end + 1 : end;
    }
    next_line(reading);
    return STATUS_OK;
}

/* The tape behind an "other" line, up to its own last line. */
static enum status read_other_tape(struct reading *reading, const struct culprit *culprit)
{
    const uint32_t first = reading->line;
    const char *from = reading->at;
    struct tape_header header;
    struct tape_fault fault;
    while (*reading->at != '\0' && !starts(reading, "end ")) {
        next_line(reading);
    }
    next_line(reading);
    struct tape tape = {
        .entries = memory_take(OTHER_ENTRIES_MAX * sizeof *tape.entries),
        .capacity = OTHER_ENTRIES_MAX,
    };
    const struct bytes text = {(const uint8_t *)from, (size_t)(reading->at - from)};
    const enum err error = tape_read_text(text, catalogue_registry(), &tape, &header, &fault);
    if (error == ERR_OK) {
        shrinking_add_other(reading->shrinking, culprit, &tape);
    } else {
        complain("%s:%u: %s", reading->path, (unsigned)(first + fault.line - 1), fault.message);
    }
    free(tape.entries);
    return error == ERR_OK ? STATUS_OK : STATUS_USAGE;
}

static enum status read_other(struct reading *reading)
{
    char name[64];
    unsigned kind = 0;
    struct culprit culprit = {0};
    if (sscanf(reading->at, "other %63s %u %" SCNu64 "\n", name, &kind, &culprit.subject) != 3 ||
        kind > UINT8_MAX || summary_oracle_parse(name, &culprit.oracle) != ERR_OK) {
        return bad(reading, "other ORACLE KIND SUBJECT");
    }
    culprit.subject_kind = (uint8_t)kind;
    next_line(reading);
    return read_other_tape(reading, &culprit);
}

static enum status read_lines(struct reading *reading)
{
    enum status status = check_head(reading);
    if (status == STATUS_OK &&
        sscanf(reading->at, "questions 0x%16" SCNx64 "\n", &reading->shrinking->answers.digest) !=
            1) {
        status = bad(reading, "questions 0x and 16 hex digits");
    }
    next_line(reading);
    while (status == STATUS_OK && !starts(reading, "digest ")) {
        status = starts(reading, "answers ") ? read_answers(reading)
                 : starts(reading, "other ") ? read_other(reading)
                                             : bad(reading, "answers, other or digest");
    }
    return status;
}

enum status
shrink_state_read(const char *path, struct failing_run *run, struct shrinking *shrinking)
{
    struct bytes text = {0};
    const enum err error = file_read(&run->session->texts, path, &text);
    if (error == ERR_NOT_FOUND) {
        return STATUS_OK;
    }
    if (error != ERR_OK) {
        complain("--resume \"%s\": %s; allowed: a file that shrink has written, or none yet",
                 path,
                 err_name(error));
        return STATUS_USAGE;
    }
    struct reading reading = {
        .path = path,
        .run = run,
        .shrinking = shrinking,
        .text = (const char *)text.data,
        .at = (const char *)text.data,
        .line = 1,
        .is_no = true,
    };
    const enum status status = check_digest(&reading, text.size);
    return status != STATUS_OK ? status : read_lines(&reading);
}
