/* Tapes at rest: text and the fuzzer's binary, written, read, cut and damaged.
 * link: sim/tape sim/tape_binary sim/choice sim/lane sim/arena sinks/base/bytes sinks/base/allocator
 */
#include "sim/tape.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_CAPACITY 64
#define TEXT_CAPACITY  8192
#define MEMORY_SIZE    ((size_t)4 << 20)

static const struct choice_outcome fate_outcomes[] = {
    {"ok", 600, FAULT_NONE, NULL},
    {"applied_answer_lost", 100, FAULT_ANSWER_LOST, "X-1"},
    {"refused", 100, FAULT_REFUSED, "X-2"},
    {"refused_late", 100, FAULT_REFUSED, "X-2"},
};
static const struct choice_outcome crash_outcomes[] = {
    {"none", 700, FAULT_NONE, NULL},
    {"crash", 300, FAULT_CRASH, "X-3"},
};
static const struct choice_site fate = {0x1000, 4, "cloudtasks.create.fate", fate_outcomes, "fate"};
static const struct choice_site crash = {0x0300, 2, "engine.crash", crash_outcomes, "crash"};
static const struct choice_site *const sites[] = {&fate, &crash};
static const struct choice_registry registry = {sites, ARRAY_COUNT(sites)};

#define MAGIC   "sinkproof-tape 1\n"
#define HEADERS MAGIC "identity 0x2a\n"
#define ENTRY   "cloudtasks.create.fate/writer0#3 = refused (2/4)\n"

static const char sample[] = "sinkproof-tape 1\n"
                             "scenario cloudtasks/exactly-once\n"
                             "profile documented\n"
                             "identity 0x000000000000002a\n"
                             "cloudtasks.create.fate/writer0#3 = applied_answer_lost (1/4)\n"
                             "engine.crash/run0#0 = crash (1/2)\n"
                             "cloudtasks.create.fate/writer12#4294967295 = refused_late (3/4)\n"
                             "end 3\n";

struct read {
    struct tape_entry entries[ENTRY_CAPACITY];
    struct tape tape;
    struct tape_header header;
    struct tape_fault fault;
    enum err err;
};

/* Read from an exact-size copy on the heap, so that the sanitizer sees a read past the end. */
static void read_with(struct bytes text, const struct choice_registry *menus, struct read *read)
{
    uint8_t *copy = malloc(text.size + 1);

    assert_non_null(copy);
    copy = realloc(copy, text.size == 0 ? 1 : text.size);
    assert_non_null(copy);
    if (text.size > 0) {
        memcpy(copy, text.data, text.size);
    }
    memset(read, 0, sizeof(*read));
    read->tape.entries = read->entries;
    read->tape.capacity = ENTRY_CAPACITY;
    read->err = tape_read_text(
        (struct bytes){copy, text.size}, menus, &read->tape, &read->header, &read->fault);
    free(copy);
}

static void read_text(const char *text, struct read *read)
{
    read_with(bytes_of_text(text), &registry, read);
}

static struct bytes write_text(const struct tape *tape,
                               const struct tape_header *header,
                               uint8_t *memory,
                               size_t capacity)
{
    struct byte_writer writer;

    byte_writer_init(&writer, memory, capacity);
    tape_write_text(tape, header, &registry, &writer);
    assert_false(writer.overflowed);
    return byte_writer_view(&writer);
}

static bool same_entry(const struct tape_entry *a, const struct tape_entry *b)
{
    return a->key == b->key && a->lane == b->lane && a->ordinal == b->ordinal &&
           a->bound == b->bound && a->value == b->value;
}

static bool same_tape(const struct tape *a, const struct tape *b)
{
    bool same = a->count == b->count && a->identity == b->identity;

    for (uint32_t i = 0; same && i < a->count; i++) {
        same = same_entry(&a->entries[i], &b->entries[i]);
    }
    return same;
}

/* A message is one line that names its line, and never empty on an error. */
static void assert_fault_is_told(const struct read *read)
{
    assert_true(read->err != ERR_OK);
    assert_true(read->fault.line >= 1);
    assert_memory_equal(read->fault.message, "line ", 5);
    assert_true(strlen(read->fault.message) < sizeof(read->fault.message));
    for (size_t i = 0; read->fault.message[i] != '\0'; i++) {
        assert_in_range(read->fault.message[i], ' ', '~');
    }
    assert_int_equal(read->tape.count, 0);
    assert_int_equal(read->tape.identity, 0);
    assert_int_equal(read->header.scenario[0], 0);
}

static void text_reads_and_writes_as_documented(void **state)
{
    (void)state;
    struct read read;
    uint8_t memory[TEXT_CAPACITY];

    read_text(sample, &read);
    assert_int_equal(read.err, ERR_OK);
    assert_string_equal(read.fault.message, "");
    assert_int_equal(read.tape.count, 3);
    assert_int_equal(read.tape.identity, 42);
    assert_string_equal(read.header.scenario, "cloudtasks/exactly-once");
    assert_string_equal(read.header.profile, "documented");
    const struct tape_entry first = {
        .key = 0x1000, .lane = lane_make(LANE_WRITER, 0), .ordinal = 3, .bound = 4, .value = 1};
    assert_true(same_entry(&read.entries[0], &first));
    assert_int_equal(read.entries[1].key, 0x0300);
    assert_int_equal(read.entries[2].ordinal, UINT32_MAX);
    assert_int_equal(lane_index_of(read.entries[2].lane), 12);
    assert_bytes_equal(write_text(&read.tape, &read.header, memory, sizeof(memory)),
                       BYTES_LITERAL(sample));
}

/* Goal: what a kept tape is to show comes back as it was written. Method: text to tape to text. */
static void what_a_kept_tape_must_show_comes_back(void **state)
{
    (void)state;
    static const char kept[] = "sinkproof-tape 1\n"
                               "scenario cloudtasks/exactly-once\n"
                               "identity 0x000000000000002a\n"
                               "verdict fails\n"
                               "oracle at-least-once\n"
                               "subject record 7\n"
                               "digest 0x0123456789abcdef\n"
                               "engine.crash/run0#0 = crash (1/2)\n"
                               "end 1\n";
    struct read read;
    uint8_t memory[TEXT_CAPACITY];

    read_text(kept, &read);
    assert_int_equal(read.err, ERR_OK);
    assert_string_equal(read.header.verdict, "fails");
    assert_string_equal(read.header.oracle, "at-least-once");
    assert_string_equal(read.header.subject, "record 7");
    assert_int_equal(read.header.digest, UINT64_C(0x0123456789abcdef));
    assert_bytes_equal(write_text(&read.tape, &read.header, memory, sizeof(memory)),
                       BYTES_LITERAL(kept));
}

static void comments_blanks_and_line_ends_are_free(void **state)
{
    (void)state;
    struct read read;
    struct read other;

    read_text(sample, &read);
    read_text("# found by a sweep\r\n\r\n"
              "  sinkproof-tape 1 # version\r\n"
              "scenario cloudtasks/exactly-once\r\n"
              "profile   documented  \r\n"
              "\tidentity 0x2a # the answer\n"
              " # one lost answer\n"
              "cloudtasks.create.fate/writer0#3=applied_answer_lost(1/4)\n"
              "engine.crash/run0#0   =   crash   (1/2)   # and a crash\n"
              "\n\n"
              "cloudtasks.create.fate/writer12#4294967295 = refused_late (3/4) #\n"
              "end 3\n"
              "# nothing more\n \n",
              &other);
    assert_string_equal(other.fault.message, "");
    assert_int_equal(other.err, ERR_OK);
    assert_true(same_tape(&read.tape, &other.tape));
    assert_string_equal(other.header.profile, "documented");
}

/* Names may hold blanks and '#'; a last line needs no newline once it is right. */
static void header_names_are_taken_as_they_are(void **state)
{
    (void)state;
    struct read read;

    read_text(MAGIC "scenario my files/a #1.json\nidentity 0x0\nend 0", &read);
    assert_int_equal(read.err, ERR_OK);
    assert_string_equal(read.header.scenario, "my files/a #1.json");
    assert_string_equal(read.header.profile, "");
    assert_int_equal(read.tape.count, 0);
}

/* What cannot be on a line is written so that the text can be read again. */
static void a_written_header_name_stays_on_its_line(void **state)
{
    (void)state;
    const struct tape tape = {.identity = UINT64_MAX};
    const struct tape_header header = {.scenario = "a\nb\tc"};
    uint8_t memory[TEXT_CAPACITY];
    struct read read;

    read_with(write_text(&tape, &header, memory, sizeof(memory)), &registry, &read);
    assert_int_equal(read.err, ERR_OK);
    assert_string_equal(read.header.scenario, "a?b?c");
    assert_int_equal(read.tape.identity, UINT64_MAX);
}

static void writing_measures_when_there_is_no_room(void **state)
{
    (void)state;
    struct read read;
    struct byte_writer writer;
    uint8_t memory[16] = {0};

    read_text(sample, &read);
    for (size_t capacity = 0; capacity <= sizeof(memory); capacity++) {
        byte_writer_init(&writer, memory, capacity);
        tape_write_text(&read.tape, &read.header, &registry, &writer);
        assert_true(writer.overflowed);
        assert_int_equal(writer.size, strlen(sample));
    }
}

static void what_the_registry_does_not_know_is_not_written(void **state)
{
    (void)state;
    const struct tape_entry good = {
        .key = 0x1000, .lane = lane_make(LANE_WRITER, 0), .bound = 4, .value = 1};
    struct tape_entry entry = good;
    const struct tape tape = {.entries = &entry, .count = 1, .capacity = 1};
    const struct tape_header header = {.scenario = ""};
    uint8_t memory[TEXT_CAPACITY];

    entry.key = 0x7777;
    expect_check_failure(write_text(&tape, &header, memory, sizeof(memory)));
    entry = good;
    entry.value = 4;
    entry.bound = 5;
    expect_check_failure(write_text(&tape, &header, memory, sizeof(memory)));
    entry = good;
    entry.value = 0;
    expect_check_failure(write_text(&tape, &header, memory, sizeof(memory)));
}

/* Each kind of bad line, with the code, the line and the heart of its message. */
static void bad_lines_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err err;
        uint32_t line;
        const char *told;
    } cases[] = {
        {"", ERR_TRUNCATED, 1, "end line"},
        {"# only a comment\n", ERR_TRUNCATED, 2, "end line"},
        {"hello\n",
         ERR_INVALID,
         1,
         "not a tape: 'hello'; the first line must be 'sinkproof-tape 1'"},
        {"{\"schema\": 1}\n", ERR_INVALID, 1, "not a tape"},
        {"sinkproof-tape 2\n", ERR_VERSION, 1, "version '2'; this build reads version 1"},
        {"sinkproof-tape\n", ERR_VERSION, 1, "version ''"},
        {MAGIC "end 0\n", ERR_INVALID, 2, "unexpected 'end'"},
        {MAGIC ENTRY, ERR_INVALID, 2, "identity must be there"},
        {MAGIC MAGIC, ERR_INVALID, 2, "unexpected 'sinkproof-tape'"},
        {HEADERS "scenario x\n", ERR_INVALID, 3, "unexpected 'scenario'"},
        {HEADERS "identity 0x1\n", ERR_INVALID, 3, "headers once"},
        {HEADERS "oracle x\nverdict y\n", ERR_INVALID, 4, "unexpected 'verdict'"},
        {HEADERS "subject\n", ERR_INVALID, 3, "bad subject ''; allowed: 1 to 63"},
        {HEADERS "digest 7\n", ERR_INVALID, 3, "bad digest '7'; allowed: 0x"},
        {MAGIC "verdict holds\n", ERR_INVALID, 2, "identity must be there"},
        {MAGIC "profile x\nscenario y\n", ERR_INVALID, 3, "unexpected 'scenario'"},
        {MAGIC "profile\nidentity 0x1\n", ERR_INVALID, 2, "bad profile name ''; allowed: 1 to 31"},
        {MAGIC "profile 12345678901234567890123456789012\n", ERR_INVALID, 2, "1 to 31 bytes"},
        {MAGIC "scenario a\001b\n", ERR_INVALID, 2, "'a?b'; allowed: 1 to 127"},
        {MAGIC "identity 42\n", ERR_INVALID, 2, "bad identity '42'; allowed: 0x"},
        {MAGIC "identity 0x\n", ERR_INVALID, 2, "bad identity"},
        {MAGIC "identity 0x2A\n", ERR_INVALID, 2, "bad identity"},
        {MAGIC "identity 0x12345678901234567\n", ERR_INVALID, 2, "bad identity"},
        {HEADERS "nonsense\n", ERR_INVALID, 3, "not an entry: 'nonsense'; allowed: site/lane#ord"},
        {HEADERS "other.site/writer0#3 = x (1/2)\n", ERR_INVALID, 3, "unknown site 'other.site'"},
        {HEADERS "engine.crash/writer#3 = crash (1/2)\n",
         ERR_INVALID,
         3,
         "unknown lane 'writer'; allowed: run, coordinator, source, writer, committer"},
        {HEADERS "engine.crash/writer2048#3 = crash (1/2)\n", ERR_INVALID, 3, "0..2047"},
        {HEADERS "engine.crash/run0#03 = crash (1/2)\n", ERR_INVALID, 3, "bad ordinal '03'"},
        {HEADERS "engine.crash/run0# = crash (1/2)\n", ERR_INVALID, 3, "bad ordinal ''"},
        {HEADERS "engine.crash/run0#4294967296 = crash (1/2)\n", ERR_INVALID, 3, "0..4294967295"},
        {HEADERS "cloudtasks.create.fate/run0#1 = lost (1/4)\n",
         ERR_INVALID,
         3,
         "unknown outcome 'lost'; allowed: applied_answer_lost, refused, refused_late"},
        {HEADERS "cloudtasks.create.fate/run0#1 = ok (0/4)\n",
         ERR_INVALID,
         3,
         "unknown outcome 'ok'"},
        {HEADERS "engine.crash/run0#1 = crash\n", ERR_INVALID, 3, "outcome (value/bound)"},
        {HEADERS "engine.crash/run0#1 = crash (1/2\n", ERR_INVALID, 3, "outcome (value/bound)"},
        {HEADERS "engine.crash/run0#1 = crash (1/2) x\n", ERR_INVALID, 3, "outcome (value/bound)"},
        {HEADERS "engine.crash/run0#1 = crash (\n", ERR_INVALID, 3, "outcome (value/bound)"},
        {HEADERS "engine.crash/run0#1 = crash ()\n", ERR_INVALID, 3, "bad value/bound ''"},
        {HEADERS "engine.crash/run0#1 = crash (0/2)\n", ERR_INVALID, 3, "bad value/bound '0/2'"},
        {HEADERS "engine.crash/run0#1 = crash (2/2)\n", ERR_INVALID, 3, "value 1..bound-1"},
        {HEADERS "engine.crash/run0#1 = crash (1/33)\n", ERR_INVALID, 3, "bound 2..32"},
        {HEADERS "engine.crash/run0#1 = crash (1/1)\n", ERR_INVALID, 3, "bound 2..32"},
        {HEADERS "cloudtasks.create.fate/run0#1 = refused (3/4)\n",
         ERR_INVALID,
         3,
         "value/bound '3/4' does not fit its outcome; allowed: 2/4 for refused"},
        {HEADERS ENTRY ENTRY "end 2\n", ERR_INVALID, 4, "second entry for a draw"},
        {HEADERS ENTRY "end 2\n", ERR_TRUNCATED, 4, "counts '2' entries, but there are 1"},
        {HEADERS ENTRY "end 0\n", ERR_INVALID, 4, "counts '0' entries, but there are 1"},
        {HEADERS ENTRY "end\n", ERR_INVALID, 4, "bad count ''"},
        {HEADERS ENTRY "end x\n", ERR_INVALID, 4, "bad count 'x'"},
        {HEADERS ENTRY, ERR_TRUNCATED, 4, "the text ends after 'cloudtasks.create.fate/writer0#3"},
        {HEADERS ENTRY "end 1\nend 1\n", ERR_INVALID, 5, "nothing may follow the end line"},
        {HEADERS "end 0\n" ENTRY, ERR_INVALID, 4, "nothing may follow the end line"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct read read;

        read_text(cases[i].text, &read);
        if (read.err != cases[i].err || strstr(read.fault.message, cases[i].told) == NULL) {
            print_error("case %zu: %s\n", i, read.fault.message);
        }
        assert_int_equal(read.err, cases[i].err);
        assert_int_equal(read.fault.line, cases[i].line);
        assert_non_null(strstr(read.fault.message, cases[i].told));
        assert_fault_is_told(&read);
    }
}

/* A NUL, and bytes above 127, are data like any other. */
static void foreign_bytes_are_told_in_ascii(void **state)
{
    (void)state;
    static const uint8_t text[] = "sinkproof-tape 1\nidentity 0x1\n\0\xff\xc3+/\n";
    struct read read;

    read_with((struct bytes){text, sizeof(text) - 1}, &registry, &read);
    assert_int_equal(read.err, ERR_INVALID);
    assert_non_null(strstr(read.fault.message, "'???+/'"));
    assert_fault_is_told(&read);
}

static void more_entries_than_room_is_a_limit(void **state)
{
    (void)state;
    struct tape_entry entries[2];
    struct tape tape = {.entries = entries, .capacity = 2, .count = 1, .identity = 8};
    struct tape_header header = {.profile = "kept"};
    struct tape_fault fault;

    assert_int_equal(tape_read_text(BYTES_LITERAL(sample), &registry, &tape, &header, &fault),
                     ERR_LIMIT);
    assert_int_equal(fault.line, 7);
    assert_non_null(strstr(fault.message, "allowed: at most 2 entries"));
    assert_int_equal(tape.count, 1);
    assert_int_equal(tape.identity, 8);
    assert_string_equal(header.profile, "kept");
}

/* The menu has grown or shrunk since: the name decides, the old size stays as the bound. */
static void a_menu_of_another_size_is_read_by_name(void **state)
{
    (void)state;
    static const struct choice_outcome grown_outcomes[] = {
        {"ok", 1, FAULT_NONE, NULL},
        {"new", 1, FAULT_CRASH, "X"},
        {"refused", 1, FAULT_REFUSED, "X"},
        {"applied_answer_lost", 1, FAULT_CRASH, "X"},
        {"refused_late", 1, FAULT_CRASH, "X"},
    };
    static const struct choice_site grown = {
        0x1000, 5, "cloudtasks.create.fate", grown_outcomes, "fate"};
    static const struct choice_site *const grown_sites[] = {&grown, &crash};
    const struct choice_registry menus = {grown_sites, 2};
    struct read read;

    read_with(BYTES_LITERAL(sample), &menus, &read);
    assert_int_equal(read.err, ERR_OK);
    assert_int_equal(read.entries[0].value, 3);
    assert_int_equal(read.entries[0].bound, 4);
    /* refused_late stands past the old bound now. */
    assert_int_equal(read.entries[2].value, 4);
    assert_int_equal(read.entries[2].bound, 5);

    struct arena arena;
    struct choice choice;
    void *memory = malloc(MEMORY_SIZE);
    assert_non_null(memory);
    arena_init(&arena, memory, MEMORY_SIZE, MEMORY_SIZE);
    choice_init(
        &choice, &arena, &(struct choice_options){.mode = CHOICE_REPLAY, .tape = &read.tape});
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t value = choice_pick(&choice, &grown, lane_make(LANE_WRITER, 0), CHOICE_ALL);

        assert_int_equal(value, i == 3 ? 3 : 0);
    }
    assert_int_equal(choice_alignment(&choice).drifted, 1);
    free(memory);
}

/* Draw from both sites until the tape holds some entries; then text and back, and replay. */
static void record_text_read_replay_is_equal(void **state)
{
    (void)state;
    void *run_memory = malloc(MEMORY_SIZE);
    uint8_t memory[TEXT_CAPACITY];
    struct arena arena;
    struct choice choice;

    assert_non_null(run_memory);
    for (uint64_t seed = 0; seed < 200; seed++) {
        const struct tape_header header = {.scenario = "a/b", .profile = "p"};
        struct read read;
        uint64_t unseeds[2];

        read.tape = (struct tape){0};
        for (uint32_t replay = 0; replay < 2; replay++) {
            arena_init(&arena, run_memory, MEMORY_SIZE, MEMORY_SIZE);
            choice_init(&choice,
                        &arena,
                        &(struct choice_options){
                            .mode = replay == 0 ? CHOICE_SEEDED : CHOICE_REPLAY,
                            .seed = replay == 0 ? seed : 0,
                            .swarm = replay == 0,
                            .tape = replay == 0 ? NULL : &read.tape,
                        });
            for (uint32_t i = 0; i < 80; i++) {
                const lane who = lane_make(LANE_WRITER, i % 4);

                (void)choice_pick(&choice, i % 3 == 0 ? &crash : &fate, who, CHOICE_ALL);
            }
            unseeds[replay] = choice_unseed(&choice);
            if (replay == 0) {
                const struct bytes text =
                    write_text(&choice.recorded, &header, memory, sizeof(memory));

                read_with(text, &registry, &read);
                assert_int_equal(read.err, ERR_OK);
                assert_true(same_tape(&read.tape, &choice.recorded));
            }
        }
        assert_int_equal(unseeds[0], unseeds[1]);
        assert_true(same_tape(&read.tape, &choice.recorded));
        assert_int_equal(choice_alignment(&choice).aligned, read.tape.count);
    }
    free(run_memory);
}

/* Cut at every byte: only the last newline can be missed; all else is told as truncated. */
static void every_cut_is_noticed(void **state)
{
    (void)state;
    const size_t size = strlen(sample);

    for (size_t cut = 0; cut < size; cut++) {
        struct read read;

        read_with((struct bytes){(const uint8_t *)sample, cut}, &registry, &read);
        if (cut == size - 1) {
            assert_int_equal(read.err, ERR_OK);
            assert_int_equal(read.tape.count, 3);
        } else {
            assert_int_equal(read.err, ERR_TRUNCATED);
            assert_fault_is_told(&read);
        }
    }
}

/* Take each line out: an entry's is missed by the end line, a required one by the order. */
static void every_lost_line_is_noticed(void **state)
{
    (void)state;
    const char *line = sample;

    for (uint32_t number = 1; *line != '\0'; number++) {
        const char *after = strchr(line, '\n') + 1;
        char text[sizeof(sample)] = {0};
        struct read read;

        memcpy(text, sample, (size_t)(line - sample));
        strcat(text, after);
        read_text(text, &read);
        if (number == 2 || number == 3) {
            assert_int_equal(read.err, ERR_OK);
        } else {
            assert_fault_is_told(&read);
        }
        line = after;
    }
}

/* Every single-byte change of the sample, all 255 of each place: an error that is told, or a tape
 * that writes and reads as itself. */
static void every_changed_byte_is_an_error_or_another_tape(void **state)
{
    (void)state;
    uint8_t memory[TEXT_CAPACITY];
    uint8_t text[sizeof(sample)];
    const size_t size = strlen(sample);
    uint32_t accepted = 0;

    for (size_t at = 0; at < size; at++) {
        for (uint32_t change = 1; change < 256; change++) {
            struct read read;
            struct read again;

            memcpy(text, sample, sizeof(sample));
            text[at] = (uint8_t)(text[at] ^ change);
            read_with((struct bytes){text, size}, &registry, &read);
            if (read.err != ERR_OK) {
                assert_fault_is_told(&read);
                continue;
            }
            accepted++;
            assert_int_equal(read.tape.count, 3);
            read_with(
                write_text(&read.tape, &read.header, memory, sizeof(memory)), &registry, &again);
            assert_int_equal(again.err, ERR_OK);
            assert_true(same_tape(&read.tape, &again.tape));
        }
    }
    assert_true(accepted > 0);
}

/* Random bytes, and random pieces of a tape in random order, never do more than fail. */
static void rubbish_is_an_error(void **state)
{
    (void)state;
    uint8_t text[256];

    for (uint64_t round = 0; round < 20000; round++) {
        const size_t size = (size_t)(digest_mix(round) % sizeof(text));
        struct read read;

        for (size_t i = 0; i < size; i++) {
            const uint64_t random = digest_mix(round * 1000 + i);

            text[i] = random % 4 == 0 ? (uint8_t)(random >> 8 & 0xff)
                                      : (uint8_t)sample[(random >> 8) % (sizeof(sample) - 1)];
        }
        read_with((struct bytes){text, size}, &registry, &read);
        assert_fault_is_told(&read);
    }
}

static struct tape read_fuzz(struct bytes source, struct tape_entry *entries, uint32_t capacity)
{
    struct tape tape = {.entries = entries, .capacity = capacity, .count = 99, .identity = 6};

    tape_read_fuzz(source, &registry, &tape);
    assert_int_equal(tape.identity, 6);
    return tape;
}

/* Any bytes give a valid tape, and the tape written gives itself. */
static void any_bytes_are_a_fuzz_tape(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 5000; round++) {
        uint8_t source[200];
        uint8_t written[200];
        struct tape_entry entries[25];
        struct tape_entry again_entries[25];
        const size_t size = (size_t)(digest_mix(round) % sizeof(source));
        struct byte_writer writer;

        for (size_t i = 0; i < size; i++) {
            const uint64_t random = digest_mix(round << 32 | i);

            /* Few distinct bytes make duplicates likely. */
            source[i] = (uint8_t)(round % 2 == 0 ? random % 3 : random & 0xff);
        }
        const struct tape tape = read_fuzz((struct bytes){source, size}, entries, 25);
        assert_true(tape.count <= size / 8);
        for (uint32_t i = 0; i < tape.count; i++) {
            const struct choice_site *site = choice_site_by_key(&registry, entries[i].key);

            assert_non_null(site);
            assert_int_equal(entries[i].bound, site->outcome_count);
            assert_in_range(entries[i].value, 1, site->outcome_count - 1);
            assert_int_not_equal(lane_kind_of(entries[i].lane), LANE_NONE);
            for (uint32_t other = 0; other < i; other++) {
                assert_false(entries[other].key == entries[i].key &&
                             entries[other].lane == entries[i].lane &&
                             entries[other].ordinal == entries[i].ordinal);
            }
        }
        byte_writer_init(&writer, written, sizeof(written));
        tape_write_fuzz(&tape, &registry, &writer);
        assert_false(writer.overflowed);
        assert_int_equal(writer.size, tape.count * 8);
        const struct tape again = read_fuzz(byte_writer_view(&writer), again_entries, 25);
        assert_true(same_tape(&tape, &again));
    }
}

/* The layout is fixed, because corpora are kept. */
static void the_fuzz_layout_is_pinned(void **state)
{
    (void)state;
    static const uint8_t source[] = {
        0x00, 0x10, 0x01, 0x20, 0x03, 0x00, 0x00, 0x02, /* known site, writer1, 3, 2 */
        0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0x03, /* 5 modulo 2 is crash, kind 0, 3 % 2 */
        0x00, 0x10, 0x01, 0x20, 0x03, 0x00, 0x00, 0x01, /* the first one's draw again */
        0x00, 0x10, 0x01, 0x20, 0x04, 0x00, 0x00, 0x08, /* value 8 % 4 is calm */
        0x00, 0x03, 0x01, 0x20, 0x04, 0x00, 0x00,       /* a tail */
    };
    struct tape_entry entries[8];
    const struct tape tape = read_fuzz((struct bytes){source, sizeof(source)}, entries, 8);
    const struct tape_entry first = {
        .key = 0x1000, .lane = lane_make(LANE_WRITER, 1), .ordinal = 3, .bound = 4, .value = 2};
    const struct tape_entry second = {
        .key = 0x0300, .lane = lane_make(LANE_RUN, 0), .ordinal = 0xffffff, .bound = 2, .value = 1};

    assert_int_equal(tape.count, 2);
    assert_true(same_entry(&entries[0], &first));
    assert_true(same_entry(&entries[1], &second));
    assert_int_equal(read_fuzz((struct bytes){source, sizeof(source)}, entries, 1).count, 1);
}

static void a_fuzz_tape_leaves_out_what_it_cannot_hold(void **state)
{
    (void)state;
    struct read read;
    struct byte_writer writer;
    uint8_t memory[64];
    struct tape_entry entries[8];

    read_text(sample, &read);
    byte_writer_init(&writer, memory, sizeof(memory));
    tape_write_fuzz(&read.tape, &registry, &writer);
    const struct tape tape = read_fuzz(byte_writer_view(&writer), entries, 8);
    assert_int_equal(tape.count, 2);
    assert_true(same_entry(&entries[0], &read.entries[0]));
    assert_true(same_entry(&entries[1], &read.entries[1]));
}

static void an_empty_registry_reads_no_fuzz_tape(void **state)
{
    (void)state;
    const struct choice_registry none = {0};
    struct tape_entry entries[2];
    struct tape tape = {.entries = entries, .capacity = 2};

    tape_read_fuzz(BYTES_LITERAL("0123456789abcdef"), &none, &tape);
    assert_int_equal(tape.count, 0);
}

TEST_MAIN(tape,
          TEST(text_reads_and_writes_as_documented),
          TEST(comments_blanks_and_line_ends_are_free),
          TEST(what_a_kept_tape_must_show_comes_back),
          TEST(header_names_are_taken_as_they_are),
          TEST(a_written_header_name_stays_on_its_line),
          TEST(writing_measures_when_there_is_no_room),
          TEST(what_the_registry_does_not_know_is_not_written),
          TEST(bad_lines_are_told_apart),
          TEST(foreign_bytes_are_told_in_ascii),
          TEST(more_entries_than_room_is_a_limit),
          TEST(a_menu_of_another_size_is_read_by_name),
          TEST(record_text_read_replay_is_equal),
          TEST(every_cut_is_noticed),
          TEST(every_lost_line_is_noticed),
          TEST(every_changed_byte_is_an_error_or_another_tape),
          TEST(rubbish_is_an_error),
          TEST(any_bytes_are_a_fuzz_tape),
          TEST(the_fuzz_layout_is_pinned),
          TEST(a_fuzz_tape_leaves_out_what_it_cannot_hold),
          TEST(an_empty_registry_reads_no_fuzz_tape))
