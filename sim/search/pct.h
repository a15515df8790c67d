/* Priority schedules (probabilistic concurrency testing, Burckhardt and others, 2010): an order of
 * events that is random in a way that gives a bound. Each chain has a random priority; of what may
 * come next, the chain of the highest comes; at depth - 1 random steps the chain that would come
 * falls to the lowest priority instead. A bug that shows whenever `depth` events come in one certain
 * order is then hit by one run with probability at least 1 / (chains * steps^(depth - 1)).
 *
 * A step is a draw that decides order and has something to choose from. A chain is what never
 * overtakes itself: at a tie, the events of one kind on one node; at any other draw of order (the next
 * channel, notice or input), one outcome of one lane. So the bound is about orders between chains,
 * within the steps that the change points are spread over. All other draws are the seed's.
 *
 * What a policy draws is recorded like anything: a tape replays without it.
 */
#ifndef SIM_SEARCH_PCT_H
#define SIM_SEARCH_PCT_H

#include "sim/choice.h"

#define PCT_DEPTH_MAX  8u
#define PCT_CHAINS_MAX 1024u

struct pct_options {
    uint64_t seed;
    uint32_t depth; /* 1 .. PCT_DEPTH_MAX */
    uint32_t steps; /* that change points are spread over; at least 1 */
};

/* One run's schedule; zeroed by pct_init. */
struct pct {
    struct choice_order order;       /* for choice_options */
    uint32_t steps;                  /* read: made so far */
    uint32_t chain_count;            /* read: met so far, as far as they are told apart */
    struct pct_options options;      /* private */
    uint32_t changes[PCT_DEPTH_MAX]; /* private: steps, of which depth - 1 are used */
    uint64_t fallen[PCT_DEPTH_MAX];  /* private: the chain that fell at each, 0: none yet */
    uint64_t chains[PCT_CHAINS_MAX]; /* private: hash set; 0: an empty place */
};

void pct_init(struct pct *pct, const struct pct_options *options);

/* chains * steps^(depth - 1); UINT64_MAX when it is no less. */
uint64_t pct_bound(uint32_t depth, uint32_t chains, uint32_t steps);

/* In how many of a thousand sweeps of so many runs, at least, one run hits what one run hits with
 * probability 1 / bound. */
uint32_t pct_hits_permille(uint64_t bound, uint64_t runs);

#endif
