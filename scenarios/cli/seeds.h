/* Ranges of seeds, how shards split them, and how texts name them. */
#ifndef SCENARIOS_CLI_SEEDS_H
#define SCENARIOS_CLI_SEEDS_H

#include "sinks/base/err.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

/* Most seeds of one range, so that sums of runs never overflow. */
#define SEED_COUNT_MAX (UINT64_C(1) << 40)

/* Both ends belong to it; first <= last. */
struct seed_range {
    uint64_t first;
    uint64_t last;
};

/* Part index of count; 1/1 is the whole. */
struct shard {
    uint32_t index; /* from 1 */
    uint32_t count;
};

/* Decimal digits only. ERR_OK or ERR_INVALID (and *value is unchanged). */
MUST_USE enum err number_parse(const char *text, uint64_t *value);

/* "A-B", or "A" for one seed. ERR_OK, ERR_INVALID (not of this form, or A > B), ERR_LIMIT (more
 * than SEED_COUNT_MAX). */
MUST_USE enum err seed_range_parse(const char *text, struct seed_range *range);

/* "I/N" with 1 <= I <= N <= 65536. ERR_OK or ERR_INVALID. */
MUST_USE enum err shard_parse(const char *text, struct shard *shard);

/* A number and a unit: "90s", "10m", "2h", "500ms"; at least 1 ms. ERR_OK or ERR_INVALID. */
MUST_USE enum err duration_parse(const char *text, nanos *duration);

uint64_t seed_range_count(struct seed_range range);

/* As many seeds as the range has, from a base that is a hash of text (a commit id, a date). */
struct seed_range seed_range_from_text(const char *text, uint64_t count);

/* How many of the range's seeds belong to a shard, and the i-th of them: seeds s with
 * (s - first) modulo count == index - 1. */
uint64_t shard_seed_count(struct shard shard, struct seed_range range);
uint64_t shard_seed(struct shard shard, struct seed_range range, uint64_t i);

#endif
