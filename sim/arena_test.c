/* The arena: caps, recycling, the sinks' allocator, and its account.
 * link: sim/arena sinks/base/allocator
 */
#include "sim/arena.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY 4096
#define SOFT_CAP 3072

/* A malloced block is aligned to 16, and the sanitizer sees what leaves it. */
static void setup(struct arena *arena, size_t capacity, size_t soft_cap)
{
    void *memory = malloc(capacity);
    assert_non_null(memory);
    memset(memory, 0xa5, capacity);
    arena_init(arena, memory, capacity, soft_cap);
}

static void teardown(struct arena *arena)
{
    free(arena->memory);
}

static void what_is_taken_is_aligned_and_does_not_overlap(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const uint8_t *end = arena.memory;
    for (size_t size = 1; size < 60; size++) {
        uint8_t *memory = arena_take(&arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        assert_true(memory >= end);
        memset(memory, (int)size, size);
        end = memory + size;
    }
    teardown(&arena);
}

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const uint8_t *memory = arena_take_zeroed(&arena, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(memory[i], 0);
    }
    teardown(&arena);
}

static void all_of_the_headroom_can_be_taken_and_no_byte_more(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    memset(arena_take(&arena, CAPACITY - 16), 1, CAPACITY - 16);
    memset(arena_take(&arena, 1), 1, 1);
    assert_int_equal(arena.used, CAPACITY);
    expect_check_failure((void)arena_take(&arena, 1));
    teardown(&arena);
}

static void a_size_that_wraps_when_rounded_does_not_fit(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    expect_check_failure((void)arena_take(&arena, SIZE_MAX));
    expect_check_failure((void)arena_take(&arena, SIZE_MAX - 14));
    assert_null(arena_try_take(&arena, SIZE_MAX));
    assert_int_equal(arena.used, 0);
    teardown(&arena);
}

/* At every capacity that is not a multiple of the alignment the rest stays unused. */
static void an_odd_capacity_is_never_passed(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < 64; capacity++) {
        struct arena arena;
        setup(&arena, capacity + 1, capacity + 1);
        size_t count = 0;
        while (arena_try_take(&arena, 16) != NULL) {
            count++;
        }
        assert_int_equal(count, (capacity + 1) / 16);
        teardown(&arena);
    }
}

static void try_take_stops_at_the_soft_cap(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    assert_non_null(arena_try_take(&arena, SOFT_CAP - 16));
    assert_null(arena_try_take(&arena, 17));
    assert_non_null(arena_try_take(&arena, 16));
    assert_null(arena_try_take(&arena, 1));
    assert_int_equal(arena.used, SOFT_CAP);
    teardown(&arena);
}

static void the_arena_is_over_only_past_the_soft_cap(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    (void)arena_take(&arena, SOFT_CAP);
    assert_false(arena_is_over(&arena));
    (void)arena_take(&arena, 1);
    assert_true(arena_is_over(&arena));
    assert_null(arena_try_take(&arena, 1));
    teardown(&arena);
}

static void what_is_reserved_counts_towards_the_soft_cap_only(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    arena_reserve(&arena, SOFT_CAP - 17); /* counts as SOFT_CAP - 16 */
    assert_int_equal(arena.reserved, SOFT_CAP - 16);
    assert_int_equal(arena.used, 0);
    assert_non_null(arena_try_take(&arena, 16));
    assert_false(arena_is_over(&arena));
    assert_null(arena_try_take(&arena, 1));
    (void)arena_take(&arena, CAPACITY - 16);
    assert_true(arena_is_over(&arena));
    arena_reset(&arena);
    assert_int_equal(arena.reserved, 0);
    teardown(&arena);
}

static void reset_hands_out_the_same_memory_again(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    void *first = arena_take(&arena, 100);
    void *recycled = arena_take_recycled(&arena, 100);
    arena_give_recycled(&arena, recycled, 100);
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    assert_ptr_equal(arena_take_recycled(&arena, 100), first);
    teardown(&arena);
}

static void the_high_water_mark_survives_reset(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    (void)arena_take(&arena, 1000);
    const size_t high_water = arena.used;
    arena_reset(&arena);
    (void)arena_take(&arena, 10);
    assert_int_equal(arena.high_water, high_water);
    teardown(&arena);
}

static void recycled_memory_comes_back_last_in_first_out(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    void *a = arena_take_recycled(&arena, 40);
    void *b = arena_take_recycled(&arena, 40);
    const size_t used = arena.used;
    arena_give_recycled(&arena, a, 40);
    arena_give_recycled(&arena, b, 40);
    assert_ptr_equal(arena_take_recycled(&arena, 48), b);
    assert_ptr_equal(arena_take_recycled(&arena, 33), a);
    assert_int_equal(arena.used, used);
    teardown(&arena);
}

/* Each size must get a block of the least class that holds it: measured by the bump pointer. */
static void classes_are_powers_of_two_and_their_halves(void **state)
{
    (void)state;
    static const size_t classes[] = {
        16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};
    struct arena arena;
    setup(&arena, 8192, 8192);
    size_t expected = 0;
    for (size_t size = 1; size <= 8192; size++) {
        expected += size > classes[expected];
        arena_reset(&arena);
        (void)arena_take_recycled(&arena, size);
        assert_int_equal(arena.used, classes[expected]);
    }
    teardown(&arena);
}

static void the_greatest_class_is_the_last_one(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    assert_null(allocator_take(&allocator, ARENA_RECYCLED_MAX));
    assert_null(allocator_take(&allocator, ARENA_RECYCLED_MAX + 1));
    expect_check_failure((void)arena_take_recycled(&arena, ARENA_RECYCLED_MAX));
    expect_check_failure((void)arena_take_recycled(&arena, ARENA_RECYCLED_MAX + 1));
    expect_check_failure((void)arena_take_recycled(&arena, 0));
    teardown(&arena);
}

static void giving_back_foreign_memory_is_a_check(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    uint8_t *memory = arena_take_recycled(&arena, 64);
    expect_check_failure(arena_give_recycled(&arena, &arena, 64));
    expect_check_failure(arena_give_recycled(&arena, memory + 8, 16));
    expect_check_failure(arena_give_recycled(&arena, memory + 64, 16));
    expect_check_failure(arena_give_recycled(&arena, memory, 65));
    arena_give_recycled(&arena, memory, 64);
    teardown(&arena);
}

#define BLOCK_COUNT 64

struct block {
    uint8_t *memory;
    size_t size;
    uint8_t fill;
};

/* Fill each block with its own byte; a block that overlaps another would change it. */
static void live_blocks_never_overlap_under_random_operations(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, 1 << 20, 1 << 20);
    struct block blocks[BLOCK_COUNT] = {{0}};
    for (uint64_t i = 0; i < 50000; i++) {
        const uint64_t random = digest_mix(i);
        struct block *block = &blocks[random % BLOCK_COUNT];
        if (block->memory != NULL) {
            for (size_t k = 0; k < block->size; k++) {
                assert_int_equal(block->memory[k], block->fill);
            }
            arena_give_recycled(&arena, block->memory, block->size);
            *block = (struct block){0};
        } else {
            block->size = 1 + (random >> 8) % 600;
            block->fill = (uint8_t)(random >> 40);
            block->memory = arena_take_recycled(&arena, block->size);
            memset(block->memory, block->fill, block->size);
        }
    }
    teardown(&arena);
}

static void the_allocator_counts_bytes_outstanding(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    void *a = allocator_take(&allocator, 10);
    void *b = allocator_take(&allocator, 100);
    assert_int_equal(arena.allocator_live, 110);
    allocator_give(&allocator, a, 10);
    assert_int_equal(arena.allocator_live, 100);
    allocator_give(&allocator, b, 100);
    assert_int_equal(arena.allocator_live, 0);
    assert_int_equal(arena.allocator_calls, 2);
    teardown(&arena);
}

static void the_allocator_gives_null_at_the_soft_cap_and_then_what_is_given_back(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    void *last = NULL;
    for (size_t i = 0; i < SOFT_CAP / 64; i++) {
        last = allocator_take(&allocator, 64);
        assert_non_null(last);
    }
    const size_t live = arena.allocator_live;
    assert_null(allocator_take(&allocator, 64));
    assert_int_equal(arena.allocator_live, live);
    allocator_give(&allocator, last, 64);
    assert_ptr_equal(allocator_take(&allocator, 64), last);
    teardown(&arena);
}

static void exactly_the_nth_allocation_fails(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    arena.allocator_fail_at = 3;
    for (uint64_t n = 1; n <= 5; n++) {
        void *block = allocator_take(&allocator, 8);
        assert_int_equal(block == NULL, n == 3);
        allocator_give(&allocator, block, 8);
    }
    assert_int_equal(arena.allocator_calls, 5);
    teardown(&arena);
}

static void reset_closes_the_account_of_the_allocator(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    arena.allocator_fail_at = 2;
    assert_non_null(allocator_take(&allocator, 8));
    arena_reset(&arena);
    assert_int_equal(arena.allocator_live, 0);
    assert_int_equal(arena.allocator_calls, 0);
    assert_int_equal(arena.allocator_fail_at, 0);
    teardown(&arena);
}

static void giving_back_more_than_is_outstanding_is_a_check(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    const struct allocator allocator = arena_allocator(&arena);
    void *block = allocator_take(&allocator, 8);
    expect_check_failure(allocator_give(&allocator, block, 9));
    allocator_give(&allocator, block, 8);
    expect_check_failure(allocator_give(&allocator, block, 8));
    teardown(&arena);
}

static void misaligned_memory_or_a_cap_past_the_capacity_is_a_check(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, CAPACITY, SOFT_CAP);
    struct arena other;
    expect_check_failure(arena_init(&other, arena.memory + 8, 64, 64));
    expect_check_failure(arena_init(&other, arena.memory, 64, 65));
    teardown(&arena);
}

static void an_array_keeps_its_items_as_it_grows(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, 1 << 16, 1 << 16);
    struct arena_array array = {0};
    const uint64_t *first = arena_array_at(&array, &arena, 0, sizeof(*first));
    for (uint32_t number = 0; number < 1000; number += 3) {
        uint64_t *item = arena_array_at(&array, &arena, number, sizeof(*item));
        assert_true(*item == 0);
        *item = number + 7;
    }
    for (uint32_t number = 0; number < 1000; number++) {
        const uint64_t *item = arena_array_at(&array, &arena, number, sizeof(*item));
        assert_true(*item == (number % 3 == 0 ? number + 7 : 0));
    }
    assert_true(arena_array_find(&array, 0, sizeof(uint64_t)) == first);
    teardown(&arena);
}

static void an_item_that_nobody_asked_for_is_not_found(void **state)
{
    (void)state;
    struct arena arena;
    setup(&arena, 1 << 16, 1 << 16);
    struct arena_array array = {0};
    assert_null(arena_array_find(&array, 0, 8));
    (void)arena_array_at(&array, &arena, 3 * ARENA_ARRAY_BLOCK, 8);
    assert_null(arena_array_find(&array, 3 * ARENA_ARRAY_BLOCK - 1, 8));
    assert_non_null(arena_array_find(&array, 3 * ARENA_ARRAY_BLOCK + 1, 8));
    assert_null(arena_array_find(&array, UINT32_MAX, 8));
    teardown(&arena);
}

TEST_MAIN(arena,
          TEST(what_is_taken_is_aligned_and_does_not_overlap),
          TEST(zeroed_memory_is_zero),
          TEST(all_of_the_headroom_can_be_taken_and_no_byte_more),
          TEST(a_size_that_wraps_when_rounded_does_not_fit),
          TEST(an_odd_capacity_is_never_passed),
          TEST(try_take_stops_at_the_soft_cap),
          TEST(the_arena_is_over_only_past_the_soft_cap),
          TEST(what_is_reserved_counts_towards_the_soft_cap_only),
          TEST(reset_hands_out_the_same_memory_again),
          TEST(the_high_water_mark_survives_reset),
          TEST(recycled_memory_comes_back_last_in_first_out),
          TEST(classes_are_powers_of_two_and_their_halves),
          TEST(the_greatest_class_is_the_last_one),
          TEST(giving_back_foreign_memory_is_a_check),
          TEST(live_blocks_never_overlap_under_random_operations),
          TEST(the_allocator_counts_bytes_outstanding),
          TEST(the_allocator_gives_null_at_the_soft_cap_and_then_what_is_given_back),
          TEST(exactly_the_nth_allocation_fails),
          TEST(reset_closes_the_account_of_the_allocator),
          TEST(giving_back_more_than_is_outstanding_is_a_check),
          TEST(misaligned_memory_or_a_cap_past_the_capacity_is_a_check),
          TEST(an_array_keeps_its_items_as_it_grows),
          TEST(an_item_that_nobody_asked_for_is_not_found))
