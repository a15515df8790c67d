/* The moves of the tape fuzzer's mutator: each makes of a tape another one that names draws which were
 * offered.
 * link: scenarios/fuzz/tape_moves sim/tape sim/choice sim/lane sim/arena sinks/base/bytes
 * link: sinks/base/allocator
 */
#include "scenarios/fuzz/tape_moves.h"

#include "sim/tape.h"
#include "sinks/base/test.h"

#include <string.h>

#define ENTRY_MAX 8
#define ROUNDS    400

static const struct choice_outcome ties[] = {
    {"first", 1, FAULT_NONE, NULL},
    {"second", 1, FAULT_ORDER, NULL},
};
static const struct choice_outcome crashes[] = {
    {"none", 1, FAULT_NONE, NULL},
    {"crash", 1, FAULT_CRASH, "X-1"},
    {"longer", 1, FAULT_CRASH, "X-1"},
};
static const struct choice_outcome fates[] = {
    {"ok", 1, FAULT_NONE, NULL},
    {"lost", 1, FAULT_REQUEST_LOST, "X-2"},
    {"refused", 1, FAULT_REFUSED, "X-2"},
    {"later", 1, FAULT_APPLIED_LATER, "X-2"},
};
static const struct choice_site tie = {0x0100, 2, "sched.tie", ties, "tie"};
static const struct choice_site crash = {0x0300, 3, "engine.crash", crashes, "crash"};
static const struct choice_site fate = {0x1000, 4, "service.fate", fates, "fate"};
static const struct choice_site *const sites[] = {&tie, &crash, &fate};
static const struct choice_registry registry = {sites, ARRAY_COUNT(sites)};

#define WRITER ((uint32_t)LANE_WRITER << LANE_INDEX_BITS)
#define RUN    ((uint32_t)LANE_RUN << LANE_INDEX_BITS)

/* What the run was offered: of the fate's draws, the third only one outcome. */
static const struct choice_offer offers[] = {
    {.key = 0x1000, .lane = WRITER, .ordinal = 0, .mask = 0xf},
    {.key = 0x0100, .lane = RUN, .ordinal = 0, .mask = 0x3},
    {.key = 0x1000, .lane = WRITER, .ordinal = 1, .mask = 0xf},
    {.key = 0x0300, .lane = RUN, .ordinal = 0, .mask = 0x7},
    {.key = 0x1000, .lane = WRITER, .ordinal = 2, .mask = 0x3},
    {.key = 0x0300, .lane = RUN, .ordinal = 1, .mask = 0x7},
    {.key = 0x0300, .lane = RUN, .ordinal = 2, .mask = 0x1},
};

struct work {
    struct tape_entry entries[ENTRY_MAX];
    struct tape_entry drawn[ENTRY_MAX];
    struct tape tape;
    struct tape recorded;
    struct tape_moves moves;
};

/* A tape of a crash, and of a fate in a span with another; all of it was met. */
static void start(struct work *work, uint64_t random)
{
    const struct tape_entry entries[] = {
        {.key = 0x1000, .lane = WRITER, .ordinal = 0, .bound = 4, .value = 3},
        {.key = 0x0300, .lane = RUN, .ordinal = 0, .bound = 3, .value = 2},
        {.key = 0x1000, .lane = WRITER, .ordinal = 1, .bound = 4, .value = 2},
    };
    *work = (struct work){0};
    memcpy(work->entries, entries, sizeof entries);
    memcpy(work->drawn, entries, sizeof entries);
    for (uint32_t i = 0; i < 3; i += 2) {
        work->drawn[i].span_kind = SPAN_REQUEST;
        work->drawn[i].span = 5;
    }
    work->tape = (struct tape){.entries = work->entries, .count = 3, .capacity = ENTRY_MAX};
    work->recorded = (struct tape){.entries = work->drawn, .count = 3, .capacity = ENTRY_MAX};
    work->moves = (struct tape_moves){.tape = &work->tape,
                                      .recorded = &work->recorded,
                                      .offers = offers,
                                      .offer_count = ARRAY_COUNT(offers),
                                      .registry = &registry,
                                      .random = random};
}

static bool is_offered(const struct tape_entry *entry)
{
    for (size_t i = 0; i < ARRAY_COUNT(offers); i++) {
        if (offers[i].key == entry->key && offers[i].lane == entry->lane &&
            offers[i].ordinal == entry->ordinal) {
            return entry->value > 0 && (offers[i].mask >> entry->value & 1) != 0;
        }
    }
    return false;
}

static void assert_sound(const struct work *work)
{
    assert_true(work->tape.count <= ENTRY_MAX);
    for (uint32_t i = 0; i < work->tape.count; i++) {
        const struct tape_entry *entry = &work->entries[i];
        assert_ptr_equal(tape_find(&work->tape, entry), entry); /* no draw twice */
        assert_true(entry->value > 0);
        assert_true(entry->value < entry->bound);
    }
}

typedef bool move_function(struct tape_moves *moves);

/* Goal: what comes onto a tape was offered there, and the number of entries is what the move says.
 * Method: many numbers. */
static void moves_put_on_a_tape_what_was_offered(void **state)
{
    (void)state;
    static const struct {
        move_function *move;
        uint32_t count;
    } cases[] = {
        {tape_moves_insert, 4},
        {tape_moves_duplicate, 4},
        {tape_moves_swap, 4},
        {tape_moves_move_crash, 3},
        {tape_moves_change, 3},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint32_t changed = 0;
        for (uint64_t random = 0; random < ROUNDS; random++) {
            struct work work;
            start(&work, random);
            if (!cases[i].move(&work.moves)) {
                assert_int_equal(work.tape.count, 3);
                continue;
            }
            changed++;
            assert_int_equal(work.tape.count, cases[i].count);
            assert_sound(&work);
            for (uint32_t k = 0; k < work.tape.count; k++) {
                assert_true(is_offered(&work.entries[k]));
            }
        }
        assert_true(changed > ROUNDS / 4);
    }
}

/* Goal: what happens once goes on happening. Method: a tape of one entry, extended by any number of draws; all
 * of them are of its site and lane and follow it, and none is left out. */
static void an_entry_is_extended_to_the_draws_that_follow(void **state)
{
    (void)state;
    uint32_t longest = 0;
    for (uint64_t random = 0; random < ROUNDS; random++) {
        struct work work;
        start(&work, random);
        work.tape.count = 1;
        assert_true(tape_moves_extend(&work.moves));
        assert_true(work.tape.count >= 3);
        for (uint32_t k = 0; k < work.tape.count; k++) {
            assert_int_equal(work.entries[k].key, 0x1000);
            assert_int_equal(work.entries[k].lane, WRITER);
            assert_int_equal(work.entries[k].ordinal, k);
            assert_int_equal(work.entries[k].value, 3);
        }
        longest = work.tape.count > longest ? work.tape.count : longest;
    }
    assert_int_equal(longest, ENTRY_MAX);
}

/* Goal: a swap of two ready events is a draw of the scheduler's. */
static void a_swap_is_a_draw_of_the_scheduler(void **state)
{
    (void)state;
    struct work work;
    start(&work, 1);
    assert_true(tape_moves_swap(&work.moves));
    assert_int_equal(work.entries[3].key, 0x0100);
    assert_false(tape_moves_swap(&work.moves)); /* there was only one */
}

/* Goal: where there is a crash, the crash is what moves, to where it was offered. */
static void a_crash_moves_to_another_point(void **state)
{
    (void)state;
    for (uint64_t random = 0; random < ROUNDS; random++) {
        struct work work;
        start(&work, random);
        assert_true(tape_moves_move_crash(&work.moves));
        assert_int_equal(work.entries[1].key, 0x0300);
        assert_int_equal(work.entries[1].ordinal, 1);
        assert_int_equal(work.entries[1].value, 2);
    }
}

/* Goal: what one request drew can go as a whole, and each entry alone. */
static void a_span_goes_as_a_whole(void **state)
{
    (void)state;
    uint32_t by_count[ENTRY_MAX] = {0};
    for (uint64_t random = 0; random < ROUNDS; random++) {
        struct work work;
        start(&work, random);
        assert_true(tape_moves_delete(&work.moves));
        assert_sound(&work);
        by_count[work.tape.count]++;
        if (work.tape.count == 1) {
            assert_int_equal(work.entries[0].key, 0x0300);
        }
    }
    assert_true(by_count[1] > ROUNDS / 20);
    assert_true(by_count[2] > ROUNDS / 4);
    assert_int_equal(by_count[1] + by_count[2], ROUNDS);
}

/* Goal: what no draw met goes, and nothing else. */
static void what_no_draw_met_is_pruned(void **state)
{
    (void)state;
    struct work work;
    start(&work, 1);
    assert_false(tape_moves_prune(&work.moves));
    work.entries[1].ordinal = 77;
    assert_true(tape_moves_prune(&work.moves));
    assert_int_equal(work.tape.count, 2);
    assert_int_equal(work.entries[1].ordinal, 1);
}

/* Goal: of an empty tape and nothing offered nothing comes, and no move goes astray. */
static void nothing_comes_of_nothing(void **state)
{
    (void)state;
    static move_function *const all[] = {
        tape_moves_insert,
        tape_moves_delete,
        tape_moves_duplicate,
        tape_moves_extend,
        tape_moves_move_crash,
        tape_moves_swap,
        tape_moves_change,
        tape_moves_nudge,
        tape_moves_prune,
    };
    struct work work;
    start(&work, 1);
    work.tape.count = 0;
    work.moves.offer_count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        assert_false(all[i](&work.moves));
        assert_int_equal(work.tape.count, 0);
    }
    tape_moves_any(&work.moves);
    assert_int_equal(work.tape.count, 0);
    start(&work, 1);
    work.tape.count = 0;
    for (size_t i = 1; i < ARRAY_COUNT(all); i++) {
        assert_int_equal(all[i](&work.moves), all[i] == tape_moves_swap);
        work.tape.count = 0;
    }
}

/* Goal: any moves, one after the other, leave a tape sound and within its capacity. */
static void moves_in_a_row_leave_a_tape_sound(void **state)
{
    (void)state;
    struct work work;
    start(&work, 11);
    for (uint32_t i = 0; i < 20 * ROUNDS; i++) {
        tape_moves_any(&work.moves);
        assert_sound(&work);
    }
}

/* Goal: a splice takes of both, no draw twice, and of the first tape what it names first. */
static void a_splice_is_of_both(void **state)
{
    (void)state;
    struct tape_entry others[] = {
        {.key = 0x1000, .lane = WRITER, .ordinal = 0, .bound = 4, .value = 1},
        {.key = 0x1000, .lane = WRITER, .ordinal = 2, .bound = 4, .value = 1},
        {.key = 0x0300, .lane = RUN, .ordinal = 1, .bound = 3, .value = 1},
    };
    const struct tape other = {.entries = others, .count = 3, .capacity = 3};
    uint32_t of_both = 0;
    for (uint64_t random = 0; random < ROUNDS; random++) {
        struct work work;
        start(&work, random);
        tape_moves_splice(&work.moves, &other);
        assert_sound(&work);
        const bool first = tape_find(&work.tape, &work.drawn[1]) != NULL;
        const bool second = tape_find(&work.tape, &others[1]) != NULL;
        of_both += first && second ? 1 : 0;
        for (uint32_t i = 0; i < work.tape.count; i++) {
            const struct tape_entry *entry = &work.entries[i];
            const struct tape_entry *from = tape_find(&work.recorded, entry);
            const struct tape_entry *to = tape_find(&other, entry);
            assert_true((from != NULL && from->value == entry->value) ||
                        (to != NULL && to->value == entry->value));
        }
    }
    assert_true(of_both > ROUNDS / 10);
}

TEST_MAIN(tape_moves,
          TEST(moves_put_on_a_tape_what_was_offered),
          TEST(an_entry_is_extended_to_the_draws_that_follow),
          TEST(a_swap_is_a_draw_of_the_scheduler),
          TEST(a_crash_moves_to_another_point),
          TEST(a_span_goes_as_a_whole),
          TEST(what_no_draw_met_is_pruned),
          TEST(nothing_comes_of_nothing),
          TEST(moves_in_a_row_leave_a_tape_sound),
          TEST(a_splice_is_of_both))
