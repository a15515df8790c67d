#include "sim/search/pct.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

#define PRIORITY_STREAM UINT64_C(0x7063742d7072696f)
#define CHANGE_STREAM   UINT64_C(0x7063742d6368616e)
#define ONE             (UINT64_C(1) << 63) /* of fixed-point numbers from 0 to 1 */

/* Never 0. */
static uint64_t
chain_of(const struct pct *pct, const struct choice_site *site, lane who, uint32_t value)
{
    const uint64_t draw = (uint64_t)site->key << 48 | (uint64_t)who << 32;
    const uint64_t chain = pct->order.is_told ? digest_fold(site->key, pct->order.chains[value])
                                              : digest_fold(draw, value);

    return chain == 0 ? 1 : chain;
}

/* Count a chain when it is new. A full table counts no more. */
static void note_chain(struct pct *pct, uint64_t chain)
{
    uint32_t place = (uint32_t)(digest_mix(chain) >> 32) % PCT_CHAINS_MAX;

    while (pct->chains[place] != 0 && pct->chains[place] != chain) {
        place = (place + 1) % PCT_CHAINS_MAX;
    }
    if (pct->chains[place] == 0 && pct->chain_count < PCT_CHAINS_MAX - 1) {
        pct->chains[place] = chain;
        pct->chain_count++;
    }
}

/* Those that fell lie below all others, each below those that fell at an earlier change point. */
static uint64_t priority_of(const struct pct *pct, uint64_t chain)
{
    for (uint32_t i = 0; i + 1 < pct->options.depth; i++) {
        if (pct->fallen[i] == chain) {
            return pct->options.depth - i - 1;
        }
    }
    return digest_mix(digest_fold(pct->options.seed ^ PRIORITY_STREAM, chain)) | UINT64_C(1) << 63;
}

/* Of what is offered, the first of the chain with the highest priority. */
static uint32_t
highest(const struct pct *pct, const struct choice_site *site, lane who, uint32_t mask)
{
    uint64_t best = 0;
    uint32_t chosen = 0;

    for (uint32_t value = 0; value < site->outcome_count; value++) {
        if ((mask >> value & 1) != 0) {
            const uint64_t priority = priority_of(pct, chain_of(pct, site, who, value));

            if (priority > best) {
                best = priority;
                chosen = value;
            }
        }
    }
    return chosen;
}

static uint32_t
pick(void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct pct *pct = context;
    uint32_t chosen = 0;

    (void)ordinal;
    if (mask != 1) {
        for (uint32_t value = 0; value < site->outcome_count; value++) {
            if ((mask >> value & 1) != 0) {
                note_chain(pct, chain_of(pct, site, who, value));
            }
        }
        pct->steps++;
        chosen = highest(pct, site, who, mask);
        for (uint32_t i = 0; i + 1 < pct->options.depth; i++) {
            if (pct->changes[i] == pct->steps) {
                pct->fallen[i] = chain_of(pct, site, who, chosen);
                chosen = highest(pct, site, who, mask);
            }
        }
    }
    pct->order.is_told = false;
    return chosen;
}

void pct_init(struct pct *pct, const struct pct_options *options)
{
    CHECK(options->depth >= 1);
    CHECK(options->depth <= PCT_DEPTH_MAX);
    CHECK(options->steps >= 1);
    memset(pct, 0, sizeof(*pct));
    pct->options = *options;
    pct->order.pick = pick;
    pct->order.context = pct;
    for (uint32_t i = 0; i + 1 < options->depth; i++) {
        const uint64_t random = digest_mix(digest_fold(options->seed ^ CHANGE_STREAM, i));

        pct->changes[i] = 1 + (uint32_t)((random >> 32) * options->steps >> 32);
    }
}

uint64_t pct_bound(uint32_t depth, uint32_t chains, uint32_t steps)
{
    uint64_t bound = chains;

    for (uint32_t i = 1; i < depth; i++) {
        if (steps != 0 && bound > UINT64_MAX / steps) {
            return UINT64_MAX;
        }
        bound *= steps;
    }
    return bound;
}

/* The product of two numbers from 0 to 1, rounded up, in parts that fit 64 bits. */
static uint64_t times(uint64_t a, uint64_t b)
{
    const uint64_t a_high = a >> 32;
    const uint64_t b_high = b >> 32;
    const uint64_t a_low = a & UINT32_MAX;
    const uint64_t b_low = b & UINT32_MAX;
    const uint64_t middle = a_high * b_low + (a_low * b_low >> 32) + 1;
    const uint64_t other = a_low * b_high;
    const uint64_t sum = a_high * b_high + (middle >> 32) + (other >> 32) + 2;

    return sum >= ONE >> 1 ? ONE : sum << 1;
}

uint32_t pct_hits_permille(uint64_t bound, uint64_t runs)
{
    uint64_t misses = ONE; /* the probability that no run hits, never rounded down */
    uint64_t power = bound <= 1 ? 0 : ONE - ONE / bound;

    if (bound <= 1) {
        return bound == 1 && runs > 0 ? 1000 : 0;
    }
    for (uint64_t left = runs; left > 0; left /= 2) {
        if (left % 2 == 1) {
            misses = times(misses, power);
        }
        power = times(power, power);
    }
    return (uint32_t)(((ONE - misses) >> 20) * 1000 >> 43);
}
