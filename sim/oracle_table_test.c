/* The table of oracles: keys keep their slots, however many there are.
 * link: sim/oracle_table sim/arena
 */
#include "sim/oracle_table.h"

#include "sinks/base/test.h"

#include <string.h>

static _Alignas(16) uint8_t memory[1 << 20];

static struct arena fresh_arena(void)
{
    struct arena arena;
    memset(memory, 0xa5, sizeof(memory));
    arena_init(&arena, memory, sizeof(memory), sizeof(memory));
    return arena;
}

static void a_key_keeps_its_slot(void **state)
{
    (void)state;
    struct arena arena = fresh_arena();
    struct oracle_table table = {0};
    for (uint64_t key = 0; key < 1000; key++) {
        uint64_t *slot = oracle_table_at(&table, &arena, key, sizeof(*slot));
        assert_true(*slot == 0);
        *slot = key + 7;
    }
    assert_int_equal(table.count, 1000);
    for (uint64_t key = 0; key < 1000; key++) {
        const uint64_t *slot = oracle_table_find(&table, key);
        assert_non_null(slot);
        assert_true(*slot == key + 7);
        assert_ptr_equal(oracle_table_at(&table, &arena, key, sizeof(*slot)), slot);
    }
    assert_int_equal(table.count, 1000);
}

static void what_was_never_put_is_not_found(void **state)
{
    (void)state;
    struct arena arena = fresh_arena();
    struct oracle_table table = {0};
    assert_null(oracle_table_find(&table, 1));
    (void)oracle_table_at(&table, &arena, 1, 8);
    assert_null(oracle_table_find(&table, 2));
    assert_null(oracle_table_find(&table, 0));
    assert_non_null(oracle_table_find(&table, 1));
}

/* Goal: a dropped key leaves no hole that hides another one, and its slot serves again, zeroed. */
static void a_dropped_key_is_gone_and_the_others_stay(void **state)
{
    (void)state;
    struct arena arena = fresh_arena();
    struct oracle_table table = {0};
    for (uint64_t key = 0; key < 1000; key++) {
        *(uint64_t *)oracle_table_at(&table, &arena, key, 8) = key + 7;
    }
    for (uint64_t key = 0; key < 1000; key += 3) {
        oracle_table_drop(&table, key);
    }
    assert_int_equal(table.count, 666);
    for (uint64_t key = 0; key < 1000; key++) {
        const uint64_t *slot = oracle_table_find(&table, key);
        assert_true((slot == NULL) == (key % 3 == 0));
        assert_true(slot == NULL || *slot == key + 7);
    }
    const size_t used = arena.used;
    for (uint64_t key = 2000; key < 2300; key++) {
        assert_true(*(uint64_t *)oracle_table_at(&table, &arena, key, 8) == 0);
    }
    assert_int_equal(arena.used, used);
    expect_check_failure(oracle_table_drop(&table, 3));
}

TEST_MAIN(oracle_table,
          TEST(a_key_keeps_its_slot),
          TEST(what_was_never_put_is_not_found),
          TEST(a_dropped_key_is_gone_and_the_others_stay))
