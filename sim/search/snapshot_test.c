/* Snapshots of an arena: all of it comes back, to the same place.
 * link: sim/search/snapshot sim/arena sinks/base/allocator
 */
#include "sim/search/snapshot.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY ((size_t)8192)

static void all_that_was_handed_out_and_the_account_of_it_come_back(void **state)
{
    (void)state;
    uint8_t *memory = malloc(2 * CAPACITY);
    assert_non_null(memory);
    struct arena arena;
    struct snapshot snapshot;
    arena_init(&arena, memory, CAPACITY, CAPACITY / 2);
    snapshot_init(&snapshot, memory + CAPACITY, CAPACITY);
    const struct allocator allocator = arena_allocator(&arena);
    uint8_t *kept = allocator_take(&allocator, 100);
    uint8_t *freed = arena_take_recycled(&arena, 64);
    memset(kept, 1, 100);
    arena_give_recycled(&arena, freed, 64);
    arena_reserve(&arena, 32);
    snapshot_save(&snapshot, &arena);
    const size_t used = arena.used;

    memset(kept, 2, 100);
    memset(arena_take_recycled(&arena, 64), 2, 64);
    memset(arena_take(&arena, 1000), 2, 1000);
    allocator_give(&allocator, kept, 100);
    arena_reserve(&arena, 64);
    for (uint32_t round = 0; round < 2; round++) {
        snapshot_restore(&snapshot, &arena);
        assert_int_equal(arena.used, used);
        assert_int_equal(arena.reserved, 32);
        assert_int_equal(arena.allocator_live, 100);
        assert_int_equal(arena.allocator_calls, 1);
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(kept[i], 1);
        }
        assert_ptr_equal(arena_take_recycled(&arena, 64), freed);
        memset(freed, 3, 64);
    }
    free(memory);
}

static void what_does_not_fit_or_is_of_another_arena_is_a_bug(void **state)
{
    (void)state;
    uint8_t *memory = malloc(3 * CAPACITY);
    assert_non_null(memory);
    struct arena arena;
    struct arena other;
    struct snapshot snapshot;
    arena_init(&arena, memory, CAPACITY, CAPACITY);
    arena_init(&other, memory + CAPACITY, CAPACITY, CAPACITY);
    snapshot_init(&snapshot, memory + 2 * CAPACITY, 64);
    (void)arena_take(&arena, 64);
    snapshot_save(&snapshot, &arena);
    expect_check_failure(snapshot_restore(&snapshot, &other));
    (void)arena_take(&arena, 16);
    expect_check_failure(snapshot_save(&snapshot, &arena));
    free(memory);
}

TEST_MAIN(snapshot,
          TEST(all_that_was_handed_out_and_the_account_of_it_come_back),
          TEST(what_does_not_fit_or_is_of_another_arena_is_a_bug))
