/* Tapes with fewer entries than a given one, tried one by one: is there a smaller way to fail?
 *
 * Deleting entries only ever finds a part of a tape. Here every tape counts that runs can offer:
 * the empty one, each single deviation of its run, each further deviation of each of those runs that
 * comes behind the first, and so on, with fewest entries first. When all of them have been tried and
 * none fails, the given tape is minimal, and that is a proof for this scenario.
 *
 * Behind the single entries, what lies near is tried: the tape without two of its entries and with
 * any one other.
 */
#ifndef SIM_SEARCH_BELOW_H
#define SIM_SEARCH_BELOW_H

#include "sim/choice.h"

/* Single deviations kept of one run, and entries of the longest tapes: beyond either, all tapes are
 * too many to be tried in a life, and what was tried is no proof. */
#define BELOW_OFFERS_MAX 16384u
#define BELOW_LEVELS_MAX 3u

enum below_end {
    BELOW_END_NONE = 0,
    BELOW_END_EXHAUSTED, /* all were tried, and none was taken */
    BELOW_END_TAKEN,     /* try_tape took one */
    BELOW_END_STOPPED,   /* may_go_on said no */
    BELOW_END_TOO_MANY,  /* beyond one of the bounds above; what is within them was tried */
};

struct below_options {
    /* Run a tape and list its deviations from a draw on, as deviations_list does. */
    uint32_t (*offers)(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity);
    /* Try a candidate; true: it is taken, and the search is over. */
    bool (*try_tape)(void *context, const struct tape *candidate);
    /* Before each run: false ends the search. */
    bool (*may_go_on)(void *context);
    void *context;
};

/* Bytes of memory, aligned to 16, for a tape of so many entries. */
size_t below_memory_size(uint32_t entry_count);

/* Search below a tape, which is only read. */
enum below_end
below_search(const struct tape *tape, const struct below_options *options, void *memory);

#endif
