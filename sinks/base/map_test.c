/* The insertion-ordered map against a naive list of pairs.
 * link: sinks/base/map sinks/base/allocator sinks/base/bytes sinks/base/digest
 */
#include "sinks/base/map.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

struct fixture {
    struct test_memory memory;
    struct allocator allocator;
    struct map map;
};

static void setup(struct fixture *fixture)
{
    fixture->memory = (struct test_memory){0};
    fixture->allocator = test_allocator(&fixture->memory);
    map_init(&fixture->map, &fixture->allocator);
}

static void teardown(struct fixture *fixture)
{
    map_fini(&fixture->map);
    assert_int_equal(fixture->memory.live, 0);
}

/* The key of a number: its little-endian bytes without leading zeros, so 0 is the empty key. */
struct key {
    uint8_t data[8];
    size_t size;
};

static struct key key_of(uint64_t number)
{
    struct key key = {{0}, 0};
    for (; number != 0; number >>= 8) {
        key.data[key.size] = (uint8_t)number;
        key.size++;
    }
    return key;
}

static uint64_t number_of(struct bytes key)
{
    uint64_t number = 0;
    for (size_t i = key.size; i > 0; i--) {
        number = number << 8 | key.data[i - 1];
    }
    return number;
}

static enum err set(struct map *map, uint64_t number, uint64_t value)
{
    const struct key key = key_of(number);
    return map_set(map, (struct bytes){key.data, key.size}, value);
}

static bool get(const struct map *map, uint64_t number, uint64_t *value)
{
    const struct key key = key_of(number);
    return map_get(map, (struct bytes){key.data, key.size}, value);
}

static bool drop(struct map *map, uint64_t number)
{
    const struct key key = key_of(number);
    return map_remove(map, (struct bytes){key.data, key.size});
}

static void an_empty_map_finds_nothing_and_holds_no_memory(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    uint64_t value = 7;
    uint32_t cursor = 0;
    struct bytes key;
    assert_false(get(&f.map, 1, &value));
    assert_false(drop(&f.map, 1));
    assert_false(map_next(&f.map, &cursor, &key, &value));
    assert_int_equal(value, 7);
    assert_int_equal(f.memory.calls, 0);
    teardown(&f);
}

static void the_empty_key_is_a_key(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    uint64_t value = 0;
    assert_int_equal(map_set(&f.map, (struct bytes){0}, 5), ERR_OK);
    assert_true(map_get(&f.map, BYTES_LITERAL(""), &value));
    assert_int_equal(value, 5);
    assert_true(map_remove(&f.map, BYTES_LITERAL("")));
    assert_int_equal(f.map.count, 0);
    teardown(&f);
}

static void keys_may_hold_any_byte_and_share_prefixes(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    static const uint8_t zeros[64];
    uint64_t value = 0;
    for (size_t size = 0; size <= sizeof(zeros); size++) {
        assert_int_equal(map_set(&f.map, (struct bytes){zeros, size}, size), ERR_OK);
    }
    for (size_t size = 0; size <= sizeof(zeros); size++) {
        assert_true(map_get(&f.map, (struct bytes){zeros, size}, &value));
        assert_int_equal(value, size);
    }
    teardown(&f);
}

static void keys_are_copied(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    uint8_t data[3] = {1, 2, 3};
    uint64_t value = 0;
    assert_int_equal(map_set(&f.map, (struct bytes){data, 3}, 9), ERR_OK);
    memset(data, 0, sizeof(data));
    assert_true(map_get(&f.map, BYTES_LITERAL("\1\2\3"), &value));
    assert_int_equal(value, 9);
    teardown(&f);
}

/* Read the order back through every growth and compare with the numbers as they were set. */
static void iteration_is_in_insertion_order_over_every_growth(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    for (uint64_t count = 1; count <= 600; count++) {
        assert_int_equal(set(&f.map, digest_mix(count), count), ERR_OK);
        uint32_t cursor = 0;
        uint64_t expected = 0;
        uint64_t value = 0;
        struct bytes key;
        while (map_next(&f.map, &cursor, &key, &value)) {
            expected++;
            assert_int_equal(value, expected);
            assert_true(number_of(key) == digest_mix(expected));
        }
        assert_int_equal(expected, count);
    }
    teardown(&f);
}

static void a_replaced_key_keeps_its_place_and_a_returning_one_goes_to_the_end(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    static const uint64_t expected[] = {2, 30, 4, 1};
    for (uint64_t number = 1; number <= 4; number++) {
        assert_int_equal(set(&f.map, number, number), ERR_OK);
    }
    assert_int_equal(set(&f.map, 3, 30), ERR_OK);
    assert_true(drop(&f.map, 1));
    assert_int_equal(set(&f.map, 1, 1), ERR_OK);
    uint32_t cursor = 0;
    uint64_t value = 0;
    struct bytes key;
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        assert_true(map_next(&f.map, &cursor, &key, &value));
        assert_int_equal(value, expected[i]);
    }
    assert_false(map_next(&f.map, &cursor, &key, &value));
    teardown(&f);
}

static void removing_while_iterating_visits_every_key_once(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    for (uint64_t number = 0; number < 100; number++) {
        assert_int_equal(set(&f.map, number, number), ERR_OK);
    }
    uint32_t cursor = 0;
    uint64_t value = 0;
    uint64_t visited = 0;
    struct bytes key;
    while (map_next(&f.map, &cursor, &key, &value)) {
        assert_int_equal(value, visited);
        assert_true(map_remove(&f.map, key));
        visited++;
    }
    assert_int_equal(visited, 100);
    assert_int_equal(f.map.count, 0);
    teardown(&f);
}

/* Among 2^18 keys about eight pairs agree in all 32 bits of the hash; losing one would show. */
static void keys_with_equal_hashes_are_told_apart(void **state)
{
    (void)state;
    const uint64_t count = UINT64_C(1) << 18;
    struct fixture f;
    setup(&f);
    for (uint64_t number = 0; number < count; number++) {
        assert_int_equal(set(&f.map, number, number), ERR_OK);
    }
    assert_int_equal(f.map.count, count);
    for (uint64_t number = 0; number < count; number++) {
        uint64_t value = 0;
        assert_true(get(&f.map, number, &value));
        assert_int_equal(value, number);
    }
    teardown(&f);
}

/* A sliding window of keys for a long time: tombstones must not make the tables grow. */
static void a_sliding_window_stays_small(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    size_t live_max = 0;
    for (uint64_t number = 0; number < 20000; number++) {
        assert_int_equal(set(&f.map, digest_mix(number), number), ERR_OK);
        if (number >= 20) {
            assert_true(drop(&f.map, digest_mix(number - 20)));
        }
        if (number == 100) {
            live_max = f.memory.live;
        }
    }
    assert_in_range(f.memory.live, 1, live_max);
    teardown(&f);
}

#define MODEL_SIZE 64

struct pair {
    uint64_t number;
    uint64_t value;
};

struct model {
    struct pair pairs[MODEL_SIZE];
    size_t count;
};

static size_t model_find(const struct model *model, uint64_t number)
{
    size_t place = 0;
    while (place < model->count && model->pairs[place].number != number) {
        place++;
    }
    return place;
}

static void step(struct map *map, struct model *model, uint64_t random, uint64_t set_per_8)
{
    const uint64_t number = (random >> 8) % MODEL_SIZE * 97;
    const size_t place = model_find(model, number);
    if (random % 8 < set_per_8) {
        assert_int_equal(set(map, number, random), ERR_OK);
        model->pairs[place] = (struct pair){number, random};
        model->count += place == model->count;
    } else {
        assert_int_equal(drop(map, number), place < model->count);
        if (place < model->count) {
            model->count--;
            memmove(&model->pairs[place],
                    &model->pairs[place + 1],
                    (model->count - place) * sizeof(struct pair));
        }
    }
}

static void assert_same(const struct map *map, const struct model *model)
{
    uint32_t cursor = 0;
    uint64_t value = 0;
    struct bytes key;
    assert_int_equal(map->count, model->count);
    for (size_t i = 0; i < model->count; i++) {
        assert_true(map_next(map, &cursor, &key, &value));
        assert_true(number_of(key) == model->pairs[i].number);
        assert_true(value == model->pairs[i].value);
        value = 0;
        assert_true(map_get(map, key, &value));
        assert_true(value == model->pairs[i].value);
    }
    assert_false(map_next(map, &cursor, &key, &value));
    for (uint64_t number = 0; number < MODEL_SIZE * 97; number += 97) {
        const bool found = get(map, number, &value);
        assert_int_equal(found, model_find(model, number) < model->count);
    }
}

/* Phases that mostly set and phases that mostly remove, so that it fills, empties and compacts. */
static void random_operations_agree_with_a_naive_list(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    struct model model = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        step(&f.map, &model, digest_mix(i), i / 300 % 2 == 0 ? 6 : 2);
        assert_same(&f.map, &model);
    }
    teardown(&f);
}

/* Fail each allocation in turn: that set must report the limit, leave the map as it was, and work
 * when tried again. */
static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    uint64_t fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
        struct fixture f;
        setup(&f);
        struct model model = {0};
        f.memory.fail_at = fail_at;
        failed = false;
        for (uint64_t number = 0; number < MODEL_SIZE * 97; number += 97) {
            if (set(&f.map, number, number) == ERR_LIMIT) {
                failed = true;
                assert_same(&f.map, &model);
                assert_int_equal(set(&f.map, number, number), ERR_OK);
            }
            model.pairs[model.count] = (struct pair){number, number};
            model.count++;
        }
        assert_same(&f.map, &model);
        teardown(&f);
    }
    assert_true(fail_at > MODEL_SIZE);
}

static void replacing_and_removing_take_no_memory(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    assert_int_equal(set(&f.map, 1, 1), ERR_OK);
    const uint64_t calls = f.memory.calls;
    f.memory.fail_at = calls + 1;
    assert_int_equal(set(&f.map, 1, 2), ERR_OK);
    assert_true(drop(&f.map, 1));
    assert_int_equal(f.memory.calls, calls);
    teardown(&f);
}

static void after_fini_the_map_is_empty_and_usable(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    uint64_t value = 0;
    assert_int_equal(set(&f.map, 1, 1), ERR_OK);
    map_fini(&f.map);
    assert_int_equal(f.memory.live, 0);
    assert_false(get(&f.map, 1, &value));
    assert_int_equal(set(&f.map, 2, 2), ERR_OK);
    assert_int_equal(f.map.count, 1);
    teardown(&f);
}

TEST_MAIN(map,
          TEST(an_empty_map_finds_nothing_and_holds_no_memory),
          TEST(the_empty_key_is_a_key),
          TEST(keys_may_hold_any_byte_and_share_prefixes),
          TEST(keys_are_copied),
          TEST(iteration_is_in_insertion_order_over_every_growth),
          TEST(a_replaced_key_keeps_its_place_and_a_returning_one_goes_to_the_end),
          TEST(removing_while_iterating_visits_every_key_once),
          TEST(keys_with_equal_hashes_are_told_apart),
          TEST(a_sliding_window_stays_small),
          TEST(random_operations_agree_with_a_naive_list),
          TEST(a_failed_allocation_changes_nothing),
          TEST(replacing_and_removing_take_no_memory),
          TEST(after_fini_the_map_is_empty_and_usable))
