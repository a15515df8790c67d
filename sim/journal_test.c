/* The journal: appending, the listener, names, words.
 * link: sim/journal sim/journal_text sim/choice sim/lane sim/arena sinks/sink sinks/port/status
 * link: sinks/base/bytes sinks/base/units sinks/base/allocator sinks/base/digest
 */
#include "sim/journal.h"

#include "sim/choice.h"
#include "sinks/base/test.h"
#include "sinks/port/port.h"

#include <string.h>

static _Alignas(16) uint8_t memory[1 << 20];

struct kit {
    struct arena arena;
    struct journal journal;
    uint32_t heard;
    uint32_t last_position;
    const struct journal_entry *last_entry;
};

static void open_kit(struct kit *kit)
{
    *kit = (struct kit){0};
    memset(memory, 0xa5, sizeof(memory));
    arena_init(&kit->arena, memory, sizeof(memory), sizeof(memory));
    journal_init(&kit->journal, &kit->arena);
}

/* An entry whose every field follows from its number. */
static struct journal_entry numbered(uint32_t number)
{
    return (struct journal_entry){
        .time = number,
        .kind = (uint8_t)(1 + number % (JOURNAL_KIND_COUNT - 1)),
        .code = (uint8_t)number,
        .lane = lane_make(LANE_WRITER, number % 5),
        .attempt = (uint16_t)(number + 1),
        .service = (uint16_t)(number + 2),
        .record = number + 3,
        .request = number + 4,
        .resource = number + 5,
        .generation = number + 6,
        .checkpoint = number + 7,
        .identity = number + 8,
        .value = number + 9,
        .a = number + 10,
        .b = number + 11,
    };
}

static void expect_equal(const struct journal_entry *a, const struct journal_entry *b)
{
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->code, b->code);
    assert_int_equal(a->lane, b->lane);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->service, b->service);
    assert_int_equal(a->record, b->record);
    assert_int_equal(a->request, b->request);
    assert_int_equal(a->resource, b->resource);
    assert_int_equal(a->generation, b->generation);
    assert_int_equal(a->checkpoint, b->checkpoint);
    assert_int_equal(a->identity, b->identity);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->a, b->a);
    assert_int_equal(a->b, b->b);
}

static void entries_keep_every_field_over_many_chunks(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    const uint32_t count = JOURNAL_CHUNK * 40 + 7;
    for (uint32_t i = 0; i < count; i++) {
        const struct journal_entry entry = numbered(i);
        assert_int_equal(journal_append(&kit.journal, &entry), i);
    }
    assert_int_equal(kit.journal.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct journal_entry entry = numbered(i);
        expect_equal(journal_at(&kit.journal, i), &entry);
    }
    expect_check_failure((void)journal_at(&kit.journal, count));
}

static void entries_do_not_move(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    struct journal_entry entry = numbered(0);
    (void)journal_append(&kit.journal, &entry);
    const struct journal_entry *first = journal_at(&kit.journal, 0);
    for (uint32_t i = 0; i < JOURNAL_CHUNK * 20; i++) {
        (void)journal_append(&kit.journal, &entry);
    }
    assert_ptr_equal(journal_at(&kit.journal, 0), first);
}

/* Both journals come to the arena's cap at the same entry. */
static void a_journal_may_keep_the_last_entries_only(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    static _Alignas(16) uint8_t other_memory[1 << 20];
    struct arena other_arena;
    struct journal last;
    arena_init(&other_arena, other_memory, sizeof(other_memory), sizeof(other_memory));
    journal_init(&last, &other_arena);
    last.keeps_last = true;
    for (uint32_t i = 0; i < JOURNAL_CHUNK * 40; i++) {
        const struct journal_entry entry = numbered(i);
        assert_int_equal(journal_append(&kit.journal, &entry), i);
        assert_int_equal(journal_append(&last, &entry), i);
        assert_int_equal(other_arena.used + other_arena.reserved, kit.arena.used);
        const uint32_t first = i < JOURNAL_CHUNK ? 0 : i + 1 - JOURNAL_CHUNK;
        assert_int_equal(journal_first(&last), first);
        expect_equal(journal_at(&last, i), &entry);
        expect_equal(journal_at(&last, first), journal_at(&kit.journal, first));
    }
    assert_int_equal(journal_first(&kit.journal), 0);
    assert_true(other_arena.used < 2 * JOURNAL_CHUNK * sizeof(struct journal_entry));
    expect_check_failure((void)journal_at(&last, JOURNAL_CHUNK * 39 - 1));
}

static void hear(void *context, const struct journal_entry *entry, uint32_t position)
{
    struct kit *kit = context;
    assert_int_equal(kit->journal.count, position + 1);
    kit->heard++;
    kit->last_position = position;
    kit->last_entry = entry;
}

static void the_listener_hears_of_an_entry_that_is_in_place(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    journal_listen(&kit.journal, &kit, hear);
    for (uint32_t i = 0; i < 70; i++) {
        const struct journal_entry entry = numbered(i);
        (void)journal_append(&kit.journal, &entry);
        assert_int_equal(kit.heard, i + 1);
        assert_int_equal(kit.last_position, i);
        assert_ptr_equal(kit.last_entry, journal_at(&kit.journal, i));
    }
    expect_check_failure(journal_listen(&kit.journal, &kit, hear));
}

static void an_entry_without_a_kind_is_a_check(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit);
    expect_check_failure((void)journal_append(&kit.journal, &(struct journal_entry){0}));
    expect_check_failure(
        (void)journal_append(&kit.journal, &(struct journal_entry){.kind = JOURNAL_KIND_COUNT}));
    assert_int_equal(kit.journal.count, 0);
}

static void names_are_unique_and_say_their_family(void **state)
{
    (void)state;
    for (uint32_t kind = HOST_JOB_STARTED; kind < JOURNAL_KIND_COUNT; kind++) {
        const char *name = journal_kind_name(kind);
        const char *family = kind == WORLD_CONFIGURED    ? "world_"
                             : kind >= HOST_NOT_RESTORED ? "host_"
                             : kind >= WORLD_CREATED     ? "world_"
                             : kind >= WIRE_ISSUED       ? "wire_"
                                                         : "host_";
        assert_int_equal(strncmp(name, family, strlen(family)), 0);
        for (uint32_t other = 0; other < kind; other++) {
            assert_string_not_equal(name, journal_kind_name(other));
        }
    }
    for (uint32_t rule = 0; rule < CONTRACT_RULE_COUNT; rule++) {
        assert_non_null(contract_rule_name(rule));
    }
    for (uint32_t cause = 0; cause <= STOP_CAUSE_SAVEPOINT; cause++) {
        assert_non_null(stop_cause_name(cause));
    }
    for (uint32_t cause = 0; cause <= ABORT_CAUSE_SUBSUMED; cause++) {
        assert_non_null(abort_cause_name(cause));
    }
    expect_check_failure((void)journal_kind_name(JOURNAL_KIND_COUNT));
    expect_check_failure((void)contract_rule_name(CONTRACT_RULE_COUNT));
}

static void expect_words(struct journal_entry entry, const char *expected)
{
    char text[256] = {0};
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)text, sizeof(text) - 1);
    journal_describe(&entry, &writer);
    assert_false(writer.overflowed);
    assert_string_equal(text, expected);
}

static void entries_read_as_sentences(void **state)
{
    (void)state;
    expect_words(
        (struct journal_entry){
            .time = MS(1), .kind = HOST_ACCEPTED, .lane = lane_make(LANE_WRITER, 0), .record = 3},
        "0.001000000 s  writer0: record 3 is accepted");
    expect_words(
        (struct journal_entry){.time = SECONDS(60) + 5,
                               .kind = WIRE_ANSWERED,
                               .code = PORT_DEADLINE_EXCEEDED,
                               .lane = lane_make(LANE_COMMITTER, 1),
                               .request = 12,
                               .a = PORT_OUTCOME_UNKNOWN},
        "60.000000005 s  committer1: hears of request 12: DEADLINE_EXCEEDED; it may or may "
        "not have taken effect");
    expect_words((struct journal_entry){.kind = HOST_NOTICE,
                                        .lane = lane_make(LANE_TASK, 2),
                                        .checkpoint = UINT32_MAX},
                 "0.000000000 s  task2: the notice that the end of input is complete arrives");
    expect_words(
        (struct journal_entry){.kind = WORLD_CREATED,
                               .lane = lane_make(LANE_SERVICE, 0),
                               .resource = 4,
                               .generation = 2,
                               .record = 7,
                               .value = 0xabc,
                               .request = 9},
        "0.000000000 s  service0: resource 4 (generation 2) is created with record 7, value "
        "0000000000000abc, by request 9");
    expect_words((struct journal_entry){.kind = HOST_INJECTED,
                                        .lane = lane_make(LANE_RUN, 0),
                                        .code = FAULT_CRASH,
                                        .a = SECONDS(5)},
                 "0.000000000 s  run0: injected fault: crash, lasting 5.000000000 s (detail 0)");
    expect_words(
        (struct journal_entry){
            .kind = HOST_STAGED, .lane = lane_make(LANE_WRITER, 0), .record = 1, .b = TIME_NEVER},
        "0.000000000 s  writer0: stages record 1 as no identity, to be sent before never");
}

static void every_kind_has_words_and_fits_a_line(void **state)
{
    (void)state;
    for (uint32_t kind = 1; kind < JOURNAL_KIND_COUNT; kind++) {
        const uint32_t codes = kind == WORLD_CONFIGURED ? CONFIGURED_COUNT : 5;
        for (uint32_t code = 0; code < codes; code++) {
            char text[256];
            struct byte_writer writer;
            struct journal_entry entry = numbered(0);
            entry.kind = (uint8_t)kind;
            entry.code = (uint8_t)code;
            entry.lane = lane_make(LANE_COMMITTER, 2047);
            entry.a = UINT64_MAX - 1;
            entry.b = UINT64_MAX - 1;
            entry.record = UINT32_MAX;
            entry.resource = UINT32_MAX;
            entry.generation = UINT32_MAX;
            entry.request = UINT32_MAX;
            byte_writer_init(&writer, (uint8_t *)text, sizeof(text));
            journal_describe(&entry, &writer);
            assert_false(writer.overflowed);
            assert_null(memchr(text, '%', writer.size));
            assert_null(memchr(text, '\n', writer.size));
        }
    }
}

static struct bytes name_resource(void *context, uint32_t resource)
{
    return resource == 4 ? bytes_of_text(context) : (struct bytes){NULL, 0};
}

static struct bytes name_method(void *context, uint16_t service, uint8_t method)
{
    (void)context;
    assert_int_equal(service, 1);
    assert_int_equal(method, 2);
    return BYTES_LITERAL("CreateTask");
}

static void names_take_the_place_of_numbers(void **state)
{
    (void)state;
    char context[] = "tasks/a";
    const struct journal_names names = {context, name_resource, name_method};
    char text[256] = {0};
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)text, sizeof(text) - 1);
    struct journal_entry entry = {
        .kind = WORLD_HIDDEN, .lane = lane_make(LANE_SERVICE, 0), .resource = 4, .generation = 1};
    journal_describe_named(&entry, &names, &writer);
    assert_string_equal(text, "0.000000000 s  service0: tasks/a is hidden from readers of class 0");
    entry = (struct journal_entry){.kind = WIRE_ISSUED,
                                   .lane = lane_make(LANE_WRITER, 0),
                                   .service = 1,
                                   .code = 2,
                                   .request = 5,
                                   .a = SECONDS(20)};
    memset(text, 0, sizeof(text));
    byte_writer_init(&writer, (uint8_t *)text, sizeof(text) - 1);
    journal_describe_named(&entry, &names, &writer);
    assert_string_equal(text,
                        "0.000000000 s  writer0: sends request 5: CreateTask with no identity, no "
                        "value, deadline at 20.000000000 s");
}

TEST_MAIN(journal,
          TEST(entries_keep_every_field_over_many_chunks),
          TEST(entries_do_not_move),
          TEST(a_journal_may_keep_the_last_entries_only),
          TEST(the_listener_hears_of_an_entry_that_is_in_place),
          TEST(an_entry_without_a_kind_is_a_check),
          TEST(names_are_unique_and_say_their_family),
          TEST(entries_read_as_sentences),
          TEST(every_kind_has_words_and_fits_a_line),
          TEST(names_take_the_place_of_numbers))
