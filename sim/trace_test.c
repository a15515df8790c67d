/* The trace: what moves its digest, which records it keeps, and how one reads.
 * link: sim/trace sim/arena sinks/base/bytes sinks/base/units
 */
#include "sim/trace.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)4 << 20)

struct fixture {
    struct arena arena;
    void *memory;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof(*fixture));
    fixture->memory = aligned_alloc(64, ARENA_BYTES);
    arena_init(&fixture->arena, fixture->memory, ARENA_BYTES, ARENA_BYTES);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    free(fixture->memory);
    free(fixture);
    return 0;
}

static struct trace start(void **state, uint32_t ring_count)
{
    struct fixture *fixture = *state;
    struct trace trace;
    trace_init(&trace, &fixture->arena, ring_count);
    return trace;
}

/* Some event that depends on its number. */
static void add(struct trace *trace, uint64_t number)
{
    const enum trace_kind kind = (enum trace_kind)(1 + number % (TRACE_KIND_COUNT - 1));
    trace_event(trace, kind, 10 * number, (uint32_t)(number % 5), number * number, ~number);
}

static void assert_is_event(const struct trace *trace, uint64_t number)
{
    const struct trace_record *record = trace_record_at(trace, number);
    assert_int_equal(record->kind, 1 + number % (TRACE_KIND_COUNT - 1));
    assert_int_equal(record->time, 10 * number);
    assert_int_equal(record->node, number % 5);
    assert_int_equal(record->a, number * number);
    assert_int_equal(record->b, ~number);
}

static uint64_t digest_of(void **state, const uint64_t fields[5])
{
    struct trace trace = start(state, 1);
    trace_event(
        &trace, (enum trace_kind)fields[0], fields[1], (uint32_t)fields[2], fields[3], fields[4]);
    return trace.digest;
}

/* Change each field in each of its bits, and swap fields. */
static void every_bit_of_an_event_moves_the_digest(void **state)
{
    static const uint32_t widths[5] = {4, 64, 32, 64, 64};
    const uint64_t base[5] = {TRACE_SEND, 1000, 3, 7, 9};
    const uint64_t expected = digest_of(state, base);
    assert_int_equal(expected, digest_of(state, base));
    for (uint32_t field = 0; field < 5; field++) {
        for (uint32_t bit = 0; bit < widths[field]; bit++) {
            uint64_t changed[5];
            memcpy(changed, base, sizeof(changed));
            changed[field] ^= UINT64_C(1) << bit;
            assert_true(digest_of(state, changed) != expected);
        }
    }
    assert_true(digest_of(state, (const uint64_t[]){TRACE_SEND, 1000, 3, 9, 7}) != expected);
    assert_true(digest_of(state, (const uint64_t[]){TRACE_SEND, 7, 3, 1000, 9}) != expected);
}

static void the_order_of_events_moves_the_digest(void **state)
{
    struct trace forth = start(state, 256);
    struct trace back = start(state, 256);
    add(&forth, 1);
    add(&forth, 2);
    add(&back, 2);
    add(&back, 1);
    assert_true(forth.digest != back.digest);
}

/* A golden value, so that another build that folds differently is seen here first. */
static void the_digest_is_the_same_on_every_build(void **state)
{
    struct trace trace = start(state, 256);
    for (uint64_t i = 0; i < 100; i++) {
        trace_event(&trace, TRACE_EFFECT, i << 40, (uint32_t)i, i * i, ~i);
    }
    assert_true(trace.digest == UINT64_C(0xfe8e85f92c9e1a5a));
}

static void the_ring_keeps_the_last_records(void **state)
{
    struct trace trace = start(state, 8);
    assert_int_equal(trace_first(&trace), 0);
    expect_check_failure((void)trace_record_at(&trace, 0));
    for (uint64_t i = 0; i < 1000; i++) {
        add(&trace, i);
        assert_int_equal(trace.count, i + 1);
        assert_int_equal(trace_first(&trace), i < 8 ? 0 : i - 7);
        for (uint64_t number = trace_first(&trace); number <= i; number++) {
            assert_is_event(&trace, number);
        }
    }
    expect_check_failure((void)trace_record_at(&trace, 991));
    expect_check_failure((void)trace_record_at(&trace, 1000));
}

/* Events with and without records in turn: one digest, and a record for every second one. */
static void an_event_that_is_only_folded_leaves_no_record(void **state)
{
    struct trace full = start(state, 4096);
    struct trace half = start(state, 4096);
    for (uint64_t i = 0; i < 3000; i++) {
        add(&full, i);
        if (i % 2 == 0) {
            add(&half, i);
        } else {
            const struct trace_record *record = trace_record_at(&full, i);
            trace_fold(&half,
                       (enum trace_kind)record->kind,
                       record->time,
                       record->node,
                       record->a,
                       record->b);
        }
    }
    assert_true(half.digest == full.digest);
    assert_int_equal(half.count, 3000);
    assert_int_equal(half.recorded, 1500);
    assert_int_equal(trace_first(&half), 0);
    for (uint64_t i = 0; i < 1500; i++) {
        assert_true(trace_record_at(&half, i)->time == trace_record_at(&full, 2 * i)->time);
    }
    expect_check_failure((void)trace_record_at(&half, 1500));
}

static void assert_text(struct trace_record record, uint64_t number, const char *expected)
{
    uint8_t text[200];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    trace_write(&record, number, &writer);
    assert_bytes_equal(byte_writer_view(&writer), bytes_of_text(expected));
}

static void a_record_reads_as_one_line(void **state)
{
    (void)state;
    assert_text(
        (struct trace_record){
            .time = SECONDS(3) + US(250), .a = 7, .b = 2, .node = 4, .kind = TRACE_STORE_WRITE},
        12,
        "#12 3.000250000 node 4 store_write object=7 version=2");
    assert_text((struct trace_record){.time = TIME_NEVER,
                                      .a = UINT64_MAX,
                                      .b = 0,
                                      .node = UINT32_MAX,
                                      .kind = TRACE_W1_RETRY},
                UINT64_MAX,
                "#18446744073709551615 18446744073.709551615 node 4294967295 w1_retry "
                "record=18446744073709551615 token=0");
}

static void kinds_have_names_of_their_own(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACE_KIND_COUNT; i++) {
        const char *name = trace_kind_name((enum trace_kind)i);
        assert_true(strlen(name) > 0);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
        for (uint32_t j = 0; j < i; j++) {
            assert_string_not_equal(name, trace_kind_name((enum trace_kind)j));
        }
    }
    expect_check_failure((void)trace_kind_name(TRACE_KIND_COUNT));
}

static void a_ring_is_a_power_of_two(void **state)
{
    struct fixture *fixture = *state;
    struct trace trace;
    expect_check_failure(trace_init(&trace, &fixture->arena, 24));
    expect_check_failure(trace_init(&trace, &fixture->arena, 0));
}

#define TRACE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(trace,
          TRACE_TEST(every_bit_of_an_event_moves_the_digest),
          TRACE_TEST(the_order_of_events_moves_the_digest),
          TRACE_TEST(the_digest_is_the_same_on_every_build),
          TRACE_TEST(the_ring_keeps_the_last_records),
          TRACE_TEST(an_event_that_is_only_folded_leaves_no_record),
          TRACE_TEST(a_record_reads_as_one_line),
          TRACE_TEST(kinds_have_names_of_their_own),
          TRACE_TEST(a_ring_is_a_power_of_two))
