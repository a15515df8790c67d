/* Ranges of seeds, shards, durations: what is read, what is refused, and that shards partition.
 * link: scenarios/cli/seeds sinks/base/bytes sinks/base/digest sinks/base/units
 */
#include "scenarios/cli/seeds.h"

#include "sinks/base/test.h"

#include <string.h>

static void a_range_is_read_and_nothing_else_is(void **state)
{
    (void)state;
    struct seed_range range = {7, 7};
    assert_int_equal(seed_range_parse("1-2000", &range), ERR_OK);
    assert_int_equal(range.first, 1);
    assert_int_equal(range.last, 2000);
    assert_int_equal(seed_range_parse("42", &range), ERR_OK);
    assert_int_equal(range.first, 42);
    assert_int_equal(range.last, 42);
    assert_int_equal(seed_range_parse("18446744073709551615-18446744073709551615", &range), ERR_OK);
    assert_true(range.last == UINT64_MAX);
    static const char *const bad[] = {
        "",
        "-",
        "1-",
        "-1",
        "2-1",
        "a-b",
        "1-2-3",
        " 1",
        "1 ",
        "0x1-2",
        "18446744073709551616",
        "+1",
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(seed_range_parse(bad[i], &range), ERR_INVALID);
    }
    assert_true(range.last == UINT64_MAX);
    assert_int_equal(seed_range_parse("0-1099511627775", &range), ERR_OK);
    assert_int_equal(seed_range_parse("0-1099511627776", &range), ERR_LIMIT);
}

static void a_shard_is_read_and_nothing_else_is(void **state)
{
    (void)state;
    struct shard shard = {0, 0};
    assert_int_equal(shard_parse("3/8", &shard), ERR_OK);
    assert_int_equal(shard.index, 3);
    assert_int_equal(shard.count, 8);
    assert_int_equal(shard_parse("65536/65536", &shard), ERR_OK);
    static const char *const bad[] = {"", "0/2", "3/2", "1", "1/", "/2", "1/0", "1/65537", "1/2/3"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(shard_parse(bad[i], &shard), ERR_INVALID);
    }
}

static void a_duration_needs_its_unit(void **state)
{
    (void)state;
    nanos duration = 0;
    assert_int_equal(duration_parse("90s", &duration), ERR_OK);
    assert_true(duration == SECONDS(90));
    assert_int_equal(duration_parse("10m", &duration), ERR_OK);
    assert_true(duration == MINUTES(10));
    assert_int_equal(duration_parse("2h", &duration), ERR_OK);
    assert_true(duration == HOURS(2));
    assert_int_equal(duration_parse("1ms", &duration), ERR_OK);
    assert_true(duration == MS(1));
    assert_int_equal(duration_parse("18446744073709551615h", &duration), ERR_OK);
    assert_true(duration == TIME_NEVER);
    static const char *const bad[] = {"", "s", "10", "0s", "10 s", "10d", "-1s", "1.5s", "10sec"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(duration_parse(bad[i], &duration), ERR_INVALID);
    }
}

/* Goal: every seed belongs to exactly one shard, the one that DESIGN names. Method: all ranges of 1
 * to 20 seeds over 1 to 7 shards. */
static void shards_partition_every_range(void **state)
{
    (void)state;
    for (uint64_t count = 1; count <= 20; count++) {
        const struct seed_range range = {100, 100 + count - 1};
        for (uint32_t shards = 1; shards <= 7; shards++) {
            unsigned seen[20] = {0};
            for (uint32_t index = 1; index <= shards; index++) {
                const struct shard shard = {index, shards};
                const uint64_t own = shard_seed_count(shard, range);
                for (uint64_t i = 0; i < own; i++) {
                    const uint64_t seed = shard_seed(shard, range, i);
                    assert_int_equal((seed - range.first) % shards, index - 1);
                    seen[seed - range.first]++;
                }
            }
            for (uint64_t i = 0; i < count; i++) {
                assert_int_equal(seen[i], 1);
            }
        }
    }
}

static void a_text_gives_the_same_seeds_every_time(void **state)
{
    (void)state;
    const struct seed_range a = seed_range_from_text("3f2c1ab", 500);
    const struct seed_range b = seed_range_from_text("3f2c1ab", 500);
    const struct seed_range c = seed_range_from_text("3f2c1ac", 500);
    assert_true(a.first == b.first);
    assert_true(a.first != c.first);
    assert_int_equal(seed_range_count(a), 500);
    assert_true(a.last < UINT64_C(1) << 63);
}

TEST_MAIN(seeds,
          TEST(a_range_is_read_and_nothing_else_is),
          TEST(a_shard_is_read_and_nothing_else_is),
          TEST(a_duration_needs_its_unit),
          TEST(shards_partition_every_range),
          TEST(a_text_gives_the_same_seeds_every_time))
