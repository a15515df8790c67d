/* journal_describe: an entry as one line of words for the developer of a connector. */
#include "sim/choice.h"
#include "sim/journal.h"
#include "sinks/port/port.h"
#include "sinks/sink.h"

#include <string.h>

#define FRACTION_DIGITS 9
#define HEX_DIGITS      16

static const char *const sentences[] = {
#define X(constant, name, sentence) [constant] = (sentence),
#include "sim/journal_kinds.def"
#undef X
};

_Static_assert(ARRAY_COUNT(sentences) == JOURNAL_KIND_COUNT, "every kind has a sentence");

/* Seconds with all nine digits, so that times stand in columns and none is rounded. */
static void write_seconds(struct byte_writer *writer, nanos time)
{
    uint8_t digits[FRACTION_DIGITS];
    uint64_t left = time % NANOS_PER_S;
    if (time == TIME_NEVER) {
        byte_writer_text(writer, "never");
        return;
    }
    for (size_t i = FRACTION_DIGITS; i > 0; i--) {
        digits[i - 1] = (uint8_t)('0' + left % 10);
        left /= 10;
    }
    byte_writer_decimal(writer, time / NANOS_PER_S);
    byte_writer_u8(writer, '.');
    byte_writer_bytes(writer, (struct bytes){digits, sizeof(digits)});
    byte_writer_text(writer, " s");
}

static void write_numbered(struct byte_writer *writer, const char *noun, uint64_t number)
{
    byte_writer_text(writer, number == 0 ? "no " : "");
    byte_writer_text(writer, noun);
    if (number != 0) {
        byte_writer_u8(writer, ' ');
        byte_writer_decimal(writer, number);
    }
}

static void write_digest(struct byte_writer *writer, const char *noun, uint64_t digest)
{
    uint8_t digits[HEX_DIGITS];
    for (size_t i = 0; i < HEX_DIGITS; i++) {
        digits[i] = (uint8_t) "0123456789abcdef"[digest >> (60 - 4 * i) & 0xf];
    }
    byte_writer_text(writer, digest == 0 ? "no " : "");
    byte_writer_text(writer, noun);
    if (digest != 0) {
        byte_writer_u8(writer, ' ');
        byte_writer_bytes(writer, (struct bytes){digits, sizeof(digits)});
    }
}

static void write_checkpoint(struct byte_writer *writer, uint32_t checkpoint)
{
    if (checkpoint == UINT32_MAX) {
        byte_writer_text(writer, "the end of input");
    } else {
        write_numbered(writer, "checkpoint", checkpoint);
    }
}

static void write_resource(struct byte_writer *writer,
                           const struct journal_entry *entry,
                           const struct journal_names *names)
{
    struct bytes name = {NULL, 0};
    if (names->resource != NULL && entry->resource != 0) {
        name = names->resource(names->context, entry->resource);
    }
    if (name.size != 0) {
        byte_writer_bytes(writer, name);
    } else {
        write_numbered(writer, "resource", entry->resource);
    }
    if (entry->generation > 1) {
        byte_writer_text(writer, " (generation ");
        byte_writer_decimal(writer, entry->generation);
        byte_writer_u8(writer, ')');
    }
}

static void write_method(struct byte_writer *writer,
                         const struct journal_entry *entry,
                         const struct journal_names *names)
{
    struct bytes name = {NULL, 0};
    if (names->method != NULL) {
        name = names->method(names->context, entry->service, entry->code);
    }
    if (name.size != 0) {
        byte_writer_bytes(writer, name);
    } else {
        write_numbered(writer, "method", entry->code);
    }
}

static const char *outcome_words(uint64_t outcome)
{
    switch (outcome) {
    case PORT_OUTCOME_OK:
        return "succeeded";
    case PORT_OUTCOME_ERROR:
        return "had no effect";
    case PORT_OUTCOME_UNKNOWN:
        return "may or may not have taken effect";
    }
    return "has an unknown outcome";
}

static const char *signal_words(uint64_t signal)
{
    switch (signal) {
    case SINK_SIGNAL_ALREADY_COMMITTED:
        return "already committed";
    case SINK_SIGNAL_RETRY_LATER:
        return "commit again later";
    case SINK_SIGNAL_FAILED_KNOWN:
        return "failed for a known reason, dropped";
    }
    return "committed";
}

static const char *reason_words(uint64_t reason)
{
    return reason < SINK_REASON_COUNT ? sink_reason_name((uint32_t)reason) : "?";
}

static const char *fault_words(uint64_t kind)
{
    return kind < FAULT_KIND_COUNT ? fault_kind_name((enum fault_kind)kind) : "?";
}

/* One placeholder of a sentence; the list stands in journal_kinds.def. */
static void write_place(struct byte_writer *writer,
                        char place,
                        const struct journal_entry *entry,
                        const struct journal_names *names)
{
    switch (place) {
    case 'r':
        write_numbered(writer, "record", entry->record);
        return;
    case 'R':
        write_resource(writer, entry, names);
        return;
    case 'q':
        write_numbered(writer, "request", entry->request);
        return;
    case 'i':
        write_digest(writer, "identity", entry->identity);
        return;
    case 'v':
        write_digest(writer, "value", entry->value);
        return;
    case 'c':
        write_checkpoint(writer, entry->checkpoint);
        return;
    case 'm':
        write_method(writer, entry, names);
        return;
    case 'o':
        byte_writer_text(writer, outcome_words(entry->a));
        return;
    case 't':
        byte_writer_decimal(writer, entry->attempt);
        return;
    case 'a':
        byte_writer_decimal(writer, entry->a);
        return;
    case 'b':
        byte_writer_decimal(writer, entry->b);
        return;
    case 'A':
    case 'W':
        write_seconds(writer, entry->a);
        return;
    case 'B':
    case 'X':
        write_seconds(writer, entry->b);
        return;
    case 'n':
        byte_writer_decimal(writer, entry->code);
        return;
    case 'f':
        byte_writer_text(writer, fault_words(entry->code));
        return;
    case 's':
        byte_writer_text(writer, stop_cause_name(entry->code));
        return;
    case 'w':
        byte_writer_text(writer, configured_name(entry->code));
        return;
    case 'x':
        byte_writer_text(writer, abort_cause_name(entry->code));
        return;
    case 'l':
        byte_writer_text(writer, contract_rule_name(entry->code));
        return;
    case 'p':
        byte_writer_text(writer, port_code_name(entry->code));
        return;
    case 'z':
        byte_writer_text(writer, reason_words(entry->code));
        return;
    case 'y':
        byte_writer_text(writer, reason_words(entry->a));
        return;
    case 'g':
        byte_writer_text(writer, signal_words(entry->code));
        return;
    }
    UNREACHABLE();
}

void journal_describe_named(const struct journal_entry *entry,
                            const struct journal_names *names,
                            struct byte_writer *writer)
{
    char lane_text[LANE_NAME_SIZE];
    CHECK(entry->kind < ARRAY_COUNT(sentences));
    const char *sentence = sentences[entry->kind];

    lane_name(entry->lane, lane_text);
    write_seconds(writer, entry->time);
    byte_writer_text(writer, "  ");
    byte_writer_text(writer, lane_text);
    byte_writer_text(writer, ": ");
    for (size_t i = 0; sentence[i] != '\0'; i++) {
        if (sentence[i] == '%') {
            i++;
            write_place(writer, sentence[i], entry, names);
        } else {
            byte_writer_u8(writer, (uint8_t)sentence[i]);
        }
    }
}

void journal_describe(const struct journal_entry *entry, struct byte_writer *writer)
{
    const struct journal_names names = {0};
    journal_describe_named(entry, &names, writer);
}
