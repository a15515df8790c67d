#include "sim/tape.h"

#include "sinks/base/check.h"

#include <string.h>

#define TAPE_MAGIC    "sinkproof-tape"
#define TAPE_VERSION  "1"
#define SEEN_SIZE_MAX 48
#define ENTRY_FORM    "site/lane#ordinal = outcome (value/bound)"

/* What a line may be, in the order in which a tape has them. */
enum tape_part {
    PART_NONE = 0,
    PART_MAGIC,
    PART_SCENARIO,
    PART_PROFILE,
    PART_IDENTITY,
    PART_VERDICT,
    PART_ORACLE,
    PART_SUBJECT,
    PART_DIGEST,
    PART_ENTRY,
    PART_END,
};

struct tape_parser {
    struct bytes left; /* after the current line */
    struct bytes line; /* the current one, without comment and outer blanks */
    struct bytes raw;  /* the current one, with its comment */
    uint32_t line_number;
    bool line_ended; /* with a newline */
    enum tape_part last;
    const struct choice_registry *registry;
    const struct tape *tape;
    uint32_t count;
    uint64_t identity;
    struct tape_header header;
    struct byte_writer message;
    uint32_t fault_line;
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static struct bytes trim(struct bytes text)
{
    while (text.size > 0 && is_blank(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_blank(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

/* Split at the first separator; false, and nothing changed, if there is none. */
static bool split(struct bytes text, uint8_t separator, struct bytes *before, struct bytes *after)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == separator) {
            *before = (struct bytes){text.data, i};
            *after = (struct bytes){text.data + i + 1, text.size - i - 1};
            return true;
        }
    }
    return false;
}

static struct bytes without_comment(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '#' && (i == 0 || is_blank(text.data[i - 1]))) {
            return (struct bytes){text.data, i};
        }
    }
    return text;
}

/* Read a decimal number without leading zeros, at most UINT32_MAX. */
static bool parse_decimal(struct bytes text, uint32_t *value)
{
    uint64_t sum = 0;

    if (text.size == 0 || text.size > 10 || (text.data[0] == '0' && text.size > 1)) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        sum = sum * 10 + (uint64_t)(text.data[i] - '0');
    }
    *value = (uint32_t)(sum & UINT32_MAX);
    return sum <= UINT32_MAX;
}

static bool parse_hex_digit(uint8_t byte, uint64_t *digit)
{
    if (byte >= '0' && byte <= '9') {
        *digit = (uint64_t)(byte - '0');
        return true;
    }
    if (byte >= 'a' && byte <= 'f') {
        *digit = (uint64_t)(byte - 'a') + 10;
        return true;
    }
    return false;
}

static bool parse_hex(struct bytes text, uint64_t *value)
{
    uint64_t sum = 0;

    if (text.size < 3 || text.size > 18 || text.data[0] != '0' || text.data[1] != 'x') {
        return false;
    }
    for (size_t i = 2; i < text.size; i++) {
        uint64_t digit = 0;

        if (!parse_hex_digit(text.data[i], &digit)) {
            return false;
        }
        sum = sum << 4 | digit;
    }
    *value = sum;
    return true;
}

/* Quote foreign bytes for a message: bounded, and in printable ASCII. */
static void write_seen(struct byte_writer *writer, struct bytes seen)
{
    const size_t size = seen.size < SEEN_SIZE_MAX ? seen.size : SEEN_SIZE_MAX;

    byte_writer_u8(writer, '\'');
    for (size_t i = 0; i < size; i++) {
        const bool printable = seen.data[i] >= ' ' && seen.data[i] < 0x7f;

        byte_writer_u8(writer, printable ? seen.data[i] : (uint8_t)'?');
    }
    byte_writer_text(writer, size < seen.size ? "...'" : "'");
}

/* Begin a message: line, what is wrong, what was seen. The caller goes on with what is allowed. */
static struct byte_writer *complain(struct tape_parser *parser, const char *what, struct bytes seen)
{
    struct byte_writer *writer = &parser->message;

    parser->fault_line = parser->line_number;
    byte_writer_text(writer, "line ");
    byte_writer_decimal(writer, parser->line_number);
    byte_writer_text(writer, ": ");
    byte_writer_text(writer, what);
    byte_writer_text(writer, " ");
    write_seen(writer, seen);
    return writer;
}

static enum err complain_plainly(struct tape_parser *parser,
                                 const char *what,
                                 struct bytes seen,
                                 const char *allowed)
{
    byte_writer_text(complain(parser, what, seen), allowed);
    return ERR_INVALID;
}

/* Move to the next line that is neither empty nor a comment; false at the end of the text. */
static bool next_line(struct tape_parser *parser)
{
    while (parser->left.size > 0) {
        struct bytes raw = parser->left;
        struct bytes after = {parser->left.data + parser->left.size, 0};

        parser->line_ended = split(parser->left, '\n', &raw, &after);
        parser->left = after;
        parser->line_number++;
        parser->raw = trim(raw);
        parser->line = trim(without_comment(raw));
        if (parser->line.size > 0) {
            return true;
        }
    }
    return false;
}

/* Split off the first word of a line. */
static struct bytes first_word(struct bytes line, struct bytes *rest)
{
    size_t size = 0;

    while (size < line.size && !is_blank(line.data[size])) {
        size++;
    }
    *rest = trim((struct bytes){line.data + size, line.size - size});
    return (struct bytes){line.data, size};
}

static enum tape_part part_of(struct bytes word)
{
    static const struct {
        const char *word;
        enum tape_part part;
    } parts[] = {
        {TAPE_MAGIC, PART_MAGIC},
        {"scenario", PART_SCENARIO},
        {"profile", PART_PROFILE},
        {"identity", PART_IDENTITY},
        {"verdict", PART_VERDICT},
        {"oracle", PART_ORACLE},
        {"subject", PART_SUBJECT},
        {"digest", PART_DIGEST},
        {"end", PART_END},
    };

    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        if (bytes_equal(word, bytes_of_text(parts[i].word))) {
            return parts[i].part;
        }
    }
    return PART_ENTRY;
}

/* Whether a part may stand after the last one. */
static enum err check_order(struct tape_parser *parser, enum tape_part part, struct bytes word)
{
    if (parser->last == PART_END) {
        return complain_plainly(parser, "unexpected", word, "; nothing may follow the end line");
    }
    if (parser->last == PART_NONE && part != PART_MAGIC) {
        return complain_plainly(parser,
                                "not a tape:",
                                word,
                                "; the first line must be '" TAPE_MAGIC " " TAPE_VERSION "'");
    }
    if (part > PART_IDENTITY && parser->last < PART_IDENTITY) {
        return complain_plainly(parser,
                                "unexpected",
                                word,
                                "; allowed before the entries: scenario, profile, identity (in this"
                                " order, identity must be there)");
    }
    if (part < parser->last || (part == parser->last && part != PART_ENTRY)) {
        return complain_plainly(parser,
                                "unexpected",
                                word,
                                "; allowed: " TAPE_MAGIC ", scenario, profile, identity, verdict,"
                                " oracle, subject, digest, entries, end, in this order, headers"
                                " once");
    }
    return ERR_OK;
}

/* The name on a header line, which may hold blanks and '#'. */
static enum err
parse_name(struct tape_parser *parser, const char *what, char *name, size_t name_size)
{
    struct bytes seen = {0};
    bool plain = false;

    (void)first_word(parser->raw, &seen);
    plain = seen.size > 0;
    for (size_t i = 0; i < seen.size; i++) {
        plain = plain && seen.data[i] >= ' ' && seen.data[i] != 0x7f;
    }
    if (!plain || seen.size >= name_size) {
        struct byte_writer *writer = complain(parser, what, seen);

        byte_writer_text(writer, "; allowed: 1 to ");
        byte_writer_decimal(writer, name_size - 1);
        byte_writer_text(writer, " bytes without control characters");
        return ERR_INVALID;
    }
    memset(name, 0, name_size);
    memcpy(name, seen.data, seen.size);
    return ERR_OK;
}

static enum err
parse_id(struct tape_parser *parser, const char *what, struct bytes seen, uint64_t *value)
{
    if (!parse_hex(seen, value)) {
        return complain_plainly(
            parser, what, seen, "; allowed: 0x and 1 to 16 hex digits (0-9, a-f)");
    }
    return ERR_OK;
}

static enum err parse_magic(struct tape_parser *parser, struct bytes version)
{
    if (!bytes_equal(version, BYTES_LITERAL(TAPE_VERSION))) {
        (void)complain_plainly(
            parser, "unknown tape version", version, "; this build reads version " TAPE_VERSION);
        return ERR_VERSION;
    }
    return ERR_OK;
}

static enum err parse_end(struct tape_parser *parser, struct bytes seen)
{
    uint32_t counted = 0;

    if (!parse_decimal(seen, &counted)) {
        return complain_plainly(parser, "bad count", seen, "; allowed: the number of entries");
    }
    if (counted != parser->count) {
        struct byte_writer *writer = complain(parser, "the end line counts", seen);

        byte_writer_text(writer, " entries, but there are ");
        byte_writer_decimal(writer, parser->count);
        return counted > parser->count ? ERR_TRUNCATED : ERR_INVALID;
    }
    return ERR_OK;
}

static enum err parse_lane(struct tape_parser *parser, struct bytes seen, lane *who)
{
    if (lane_parse(seen, who) != ERR_OK) {
        struct byte_writer *writer = complain(parser, "unknown lane", seen);

        byte_writer_text(writer, "; allowed: ");
        for (uint32_t kind = LANE_NONE + 1; kind < LANE_KIND_COUNT; kind++) {
            char name[LANE_NAME_SIZE];

            lane_name(lane_make((enum lane_kind)kind, 0), name);
            byte_writer_bytes(writer, (struct bytes){(const uint8_t *)name, strlen(name) - 1});
            byte_writer_text(writer, kind + 1 < LANE_KIND_COUNT ? ", " : " and 0..");
        }
        byte_writer_decimal(writer, LANE_INDEX_MAX);
        return ERR_INVALID;
    }
    return ERR_OK;
}

static enum err parse_outcome(struct tape_parser *parser,
                              const struct choice_site *site,
                              struct bytes seen,
                              uint32_t *value)
{
    struct byte_writer *writer = NULL;

    for (uint32_t i = 1; i < site->outcome_count; i++) {
        if (bytes_equal(seen, bytes_of_text(site->outcomes[i].name))) {
            *value = i;
            return ERR_OK;
        }
    }
    writer = complain(parser, "unknown outcome", seen);
    byte_writer_text(writer, "; allowed:");
    for (uint32_t i = 1; i < site->outcome_count; i++) {
        byte_writer_text(writer, i == 1 ? " " : ", ");
        byte_writer_text(writer, site->outcomes[i].name);
    }
    return ERR_INVALID;
}

/* Read "2/6" and reconcile it with the outcome's place in the menu of today. */
static enum err parse_place(struct tape_parser *parser,
                            const struct choice_site *site,
                            struct bytes seen,
                            struct tape_entry *entry)
{
    struct bytes value_text = {0};
    struct bytes bound_text = {0};
    uint32_t value = 0;
    uint32_t bound = 0;

    if (!split(seen, '/', &value_text, &bound_text) || !parse_decimal(value_text, &value) ||
        !parse_decimal(bound_text, &bound) || bound < 2 || bound > CHOICE_MENU_MAX || value < 1 ||
        value >= bound) {
        return complain_plainly(
            parser, "bad value/bound", seen, "; allowed: bound 2..32, value 1..bound-1");
    }
    if (bound == site->outcome_count && value != entry->value) {
        struct byte_writer *writer = complain(parser, "value/bound", seen);

        byte_writer_text(writer, " does not fit its outcome; allowed: ");
        byte_writer_decimal(writer, entry->value);
        byte_writer_text(writer, "/");
        byte_writer_decimal(writer, bound);
        byte_writer_text(writer, " for ");
        byte_writer_text(writer, site->outcomes[entry->value].name);
        return ERR_INVALID;
    }
    entry->bound = (uint8_t)(entry->value < bound ? bound : site->outcome_count);
    return ERR_OK;
}

const struct tape_entry *tape_find(const struct tape *tape, const struct tape_entry *draw)
{
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];

        if (entry->key == draw->key && entry->lane == draw->lane &&
            entry->ordinal == draw->ordinal) {
            return entry;
        }
    }
    return NULL;
}

/* Read the outcome and its place: "applied_answer_lost (2/6)". */
static enum err parse_choice(struct tape_parser *parser,
                             const struct choice_site *site,
                             struct bytes seen,
                             struct tape_entry *entry)
{
    struct bytes outcome = {0};
    struct bytes place = {0};
    uint32_t value = 0;
    enum err err = ERR_OK;

    if (!split(seen, '(', &outcome, &place) || place.size == 0 ||
        place.data[place.size - 1] != ')') {
        return complain_plainly(parser, "bad outcome", seen, "; allowed: outcome (value/bound)");
    }
    err = parse_outcome(parser, site, trim(outcome), &value);
    if (err != ERR_OK) {
        return err;
    }
    entry->value = (uint8_t)value;
    return parse_place(parser, site, (struct bytes){place.data, place.size - 1}, entry);
}

static enum err parse_entry(struct tape_parser *parser, struct tape_entry *entry)
{
    struct bytes draw = {0};
    struct bytes choice = {0};
    struct bytes site_name = {0};
    struct bytes who = {0};
    struct bytes ordinal = {0};
    const struct choice_site *site = NULL;
    enum err err = ERR_OK;

    if (!split(parser->line, '=', &draw, &choice) || !split(trim(draw), '/', &site_name, &who) ||
        !split(who, '#', &who, &ordinal)) {
        return complain_plainly(
            parser, "not an entry:", parser->line, "; allowed: " ENTRY_FORM " or end N");
    }
    site = choice_site_by_name(parser->registry, site_name);
    if (site == NULL) {
        return complain_plainly(
            parser, "unknown site", site_name, "; allowed: what 'sinkproof list sites' shows");
    }
    *entry = (struct tape_entry){.key = site->key};
    err = parse_lane(parser, who, &entry->lane);
    if (err != ERR_OK) {
        return err;
    }
    if (!parse_decimal(ordinal, &entry->ordinal)) {
        return complain_plainly(parser, "bad ordinal", ordinal, "; allowed: 0..4294967295");
    }
    return parse_choice(parser, site, trim(choice), entry);
}

static enum err add_entry(struct tape_parser *parser)
{
    const struct tape so_far = {.entries = parser->tape->entries, .count = parser->count};
    struct tape_entry entry = {0};
    const enum err err = parse_entry(parser, &entry);

    if (err != ERR_OK) {
        return err;
    }
    if (tape_find(&so_far, &entry) != NULL) {
        return complain_plainly(parser,
                                "second entry for a draw:",
                                parser->line,
                                "; allowed: one entry per site, lane and ordinal");
    }
    if (parser->count == parser->tape->capacity) {
        struct byte_writer *writer = complain(parser, "no room for", parser->line);

        byte_writer_text(writer, "; allowed: at most ");
        byte_writer_decimal(writer, parser->tape->capacity);
        byte_writer_text(writer, " entries");
        return ERR_LIMIT;
    }
    parser->tape->entries[parser->count] = entry;
    parser->count++;
    return ERR_OK;
}

static enum err parse_line(struct tape_parser *parser)
{
    struct tape_header *header = &parser->header;
    struct bytes rest = {0};
    const struct bytes word = first_word(parser->line, &rest);
    const enum tape_part part = part_of(word);
    const enum err err = check_order(parser, part, word);

    if (err != ERR_OK) {
        return err;
    }
    parser->last = part;
    switch (part) {
    case PART_NONE:
        break;
    case PART_MAGIC:
        return parse_magic(parser, rest);
    case PART_SCENARIO:
        return parse_name(parser, "bad scenario name", header->scenario, sizeof(header->scenario));
    case PART_PROFILE:
        return parse_name(parser, "bad profile name", header->profile, sizeof(header->profile));
    case PART_IDENTITY:
        return parse_id(parser, "bad identity", rest, &parser->identity);
    case PART_VERDICT:
        return parse_name(parser, "bad verdict", header->verdict, sizeof(header->verdict));
    case PART_ORACLE:
        return parse_name(parser, "bad oracle", header->oracle, sizeof(header->oracle));
    case PART_SUBJECT:
        return parse_name(parser, "bad subject", header->subject, sizeof(header->subject));
    case PART_DIGEST:
        return parse_id(parser, "bad digest", rest, &header->digest);
    case PART_ENTRY:
        return add_entry(parser);
    case PART_END:
        return parse_end(parser, rest);
    }
    UNREACHABLE();
}

enum err tape_read_text(struct bytes text,
                        const struct choice_registry *registry,
                        struct tape *tape,
                        struct tape_header *header,
                        struct tape_fault *fault)
{
    struct tape_parser parser = {.left = text, .registry = registry, .tape = tape};
    enum err err = ERR_OK;

    *fault = (struct tape_fault){0};
    byte_writer_init(&parser.message, (uint8_t *)fault->message, sizeof(fault->message) - 1);
    while (err == ERR_OK && next_line(&parser)) {
        err = parse_line(&parser);
    }
    if ((err == ERR_INVALID || err == ERR_VERSION) && !parser.line_ended) {
        err = ERR_TRUNCATED;
    }
    if (err == ERR_OK && parser.last != PART_END) {
        parser.line_number++;
        (void)complain_plainly(&parser,
                               "the text ends after",
                               parser.raw,
                               "; it must go on to an end line with the number of entries");
        err = ERR_TRUNCATED;
    }
    fault->line = parser.fault_line;
    if (err == ERR_OK) {
        tape->count = parser.count;
        tape->identity = parser.identity;
        *header = parser.header;
    }
    return err;
}

static void write_name_line(struct byte_writer *writer, const char *word, const char *name)
{
    if (name[0] == '\0') {
        return;
    }
    byte_writer_text(writer, word);
    byte_writer_text(writer, " ");
    for (size_t i = 0; name[i] != '\0'; i++) {
        const uint8_t byte = (uint8_t)name[i];

        byte_writer_u8(writer, byte < ' ' || byte == 0x7f ? (uint8_t)'?' : byte);
    }
    byte_writer_text(writer, "\n");
}

static void write_id_line(struct byte_writer *writer, const char *word, uint64_t id)
{
    byte_writer_text(writer, word);
    byte_writer_text(writer, " 0x");
    for (uint32_t shift = 64; shift > 0; shift -= 4) {
        byte_writer_u8(writer, (uint8_t) "0123456789abcdef"[id >> (shift - 4) & 0xf]);
    }
    byte_writer_text(writer, "\n");
}

static void write_entry(struct byte_writer *writer,
                        const struct choice_registry *registry,
                        const struct tape_entry *entry)
{
    const struct choice_site *site = choice_site_by_key(registry, entry->key);
    char name[LANE_NAME_SIZE];

    CHECK(site != NULL);
    CHECK(entry->value > 0);
    CHECK(entry->value < site->outcome_count);
    CHECK(entry->value < entry->bound);
    lane_name(entry->lane, name);
    byte_writer_text(writer, site->name);
    byte_writer_text(writer, "/");
    byte_writer_text(writer, name);
    byte_writer_text(writer, "#");
    byte_writer_decimal(writer, entry->ordinal);
    byte_writer_text(writer, " = ");
    byte_writer_text(writer, site->outcomes[entry->value].name);
    byte_writer_text(writer, " (");
    byte_writer_decimal(writer, entry->value);
    byte_writer_text(writer, "/");
    byte_writer_decimal(writer, entry->bound);
    byte_writer_text(writer, ")\n");
}

void tape_write_text(const struct tape *tape,
                     const struct tape_header *header,
                     const struct choice_registry *registry,
                     struct byte_writer *writer)
{
    byte_writer_text(writer, TAPE_MAGIC " " TAPE_VERSION "\n");
    write_name_line(writer, "scenario", header->scenario);
    write_name_line(writer, "profile", header->profile);
    write_id_line(writer, "identity", tape->identity);
    write_name_line(writer, "verdict", header->verdict);
    write_name_line(writer, "oracle", header->oracle);
    write_name_line(writer, "subject", header->subject);
    if (header->digest != 0) {
        write_id_line(writer, "digest", header->digest);
    }
    for (uint32_t i = 0; i < tape->count; i++) {
        write_entry(writer, registry, &tape->entries[i]);
    }
    byte_writer_text(writer, "end ");
    byte_writer_decimal(writer, tape->count);
    byte_writer_text(writer, "\n");
}
