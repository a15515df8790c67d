#include "scenarios/cli/seeds.h"

#include "sinks/base/bytes.h"
#include "sinks/base/digest.h"

#include <stddef.h>
#include <string.h>

#define SHARD_COUNT_MAX 65536u
#define NUMBER_DIGITS   20u

/* Read the digits of text, which has size bytes and nothing else. */
static bool digits_parse(const char *text, size_t size, uint64_t *value)
{
    uint64_t number = 0;
    if (size == 0 || size > NUMBER_DIGITS) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

enum err number_parse(const char *text, uint64_t *value)
{
    return digits_parse(text, strlen(text), value) ? ERR_OK : ERR_INVALID;
}

enum err seed_range_parse(const char *text, struct seed_range *range)
{
    struct seed_range read = {0};
    const char *dash = strchr(text, '-');
    const size_t first_size = dash == NULL ? strlen(text) : (size_t)(dash - text);
    if (!digits_parse(text, first_size, &read.first)) {
        return ERR_INVALID;
    }
    read.last = read.first;
    if (dash != NULL && !digits_parse(dash + 1, strlen(dash + 1), &read.last)) {
        return ERR_INVALID;
    }
    if (read.first > read.last) {
        return ERR_INVALID;
    }
    if (read.last - read.first >= SEED_COUNT_MAX) {
        return ERR_LIMIT;
    }
    *range = read;
    return ERR_OK;
}

enum err shard_parse(const char *text, struct shard *shard)
{
    uint64_t index = 0;
    uint64_t count = 0;
    const char *slash = strchr(text, '/');
    if (slash == NULL || !digits_parse(text, (size_t)(slash - text), &index) ||
        !digits_parse(slash + 1, strlen(slash + 1), &count)) {
        return ERR_INVALID;
    }
    if (index < 1 || index > count || count > SHARD_COUNT_MAX) {
        return ERR_INVALID;
    }
    *shard = (struct shard){.index = (uint32_t)index, .count = (uint32_t)count};
    return ERR_OK;
}

enum err duration_parse(const char *text, nanos *duration)
{
    static const struct {
        const char *name;
        nanos length;
    } units[] = {{"ms", MS(1)}, {"s", SECONDS(1)}, {"m", MINUTES(1)}, {"h", HOURS(1)}};
    const size_t digits = strspn(text, "0123456789");
    uint64_t number = 0;
    if (!digits_parse(text, digits, &number) || number == 0) {
        return ERR_INVALID;
    }
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strcmp(text + digits, units[i].name) == 0) {
            *duration = nanos_mul(units[i].length, number);
            return ERR_OK;
        }
    }
    return ERR_INVALID;
}

uint64_t seed_range_count(struct seed_range range)
{
    CHECK(range.first <= range.last);
    CHECK(range.last - range.first < SEED_COUNT_MAX);
    return range.last - range.first + 1;
}

struct seed_range seed_range_from_text(const char *text, uint64_t count)
{
    CHECK(count >= 1);
    CHECK(count <= SEED_COUNT_MAX);
    /* Below 2^62, so that the range ends below 2^63 and fits the integers of any reader. */
    const uint64_t first = (digest_bytes(bytes_of_text(text)) >> 2) + 1;
    return (struct seed_range){.first = first, .last = first + count - 1};
}

uint64_t shard_seed_count(struct shard shard, struct seed_range range)
{
    CHECK(shard.index >= 1);
    CHECK(shard.index <= shard.count);
    const uint64_t count = seed_range_count(range);
    const uint64_t before = shard.index - 1;
    return count <= before ? 0 : (count - before - 1) / shard.count + 1;
}

uint64_t shard_seed(struct shard shard, struct seed_range range, uint64_t i)
{
    const uint64_t seed = range.first + (shard.index - 1) + i * shard.count;
    CHECK(seed >= range.first);
    CHECK(seed <= range.last);
    return seed;
}
