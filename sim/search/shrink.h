/* Shrinking: from a tape that fails to a smaller one that fails alike (DESIGN section 6).
 *
 * The caller runs candidates; this file only searches. Tapes are ordered by entry count, then by
 * the sum of their values; only what is smaller is tried and accepted. Passes, repeated until none
 * of them helps: cut the tail, delete spans, delete runs of neighbours (long ones by halves, then
 * 8 down to 1), lower values, and of a tape of at most SHRINK_SUBSETS_MAX entries try each subset.
 *
 * A local minimum may be the wrong valley. So two more searches may follow: fresh runs of other
 * seeds whose tape is shorter than the first one was, each shrunk by itself; and all tapes with
 * fewer entries than the result, whatever they hold (sim/search/below.h). When the last has tried
 * them all, the result is proven minimal.
 *
 * The result depends on the tape and on the answers alone, unless keep_going stops the search.
 */
#ifndef SIM_SEARCH_SHRINK_H
#define SIM_SEARCH_SHRINK_H

#include "sim/search/below.h"

#define SHRINK_SUBSETS_MAX      3
#define SHRINK_ATTEMPTS_DEFAULT 20000
#define SHRINK_ATTEMPTS_MAX     (UINT32_C(1) << 24) /* also of runs below */

/* Replay candidate. True only when the same oracle is broken on the same subject; then the tape
 * that the run recorded, with its spans, stands in *recorded (entries and capacity are set; count
 * is to be set). It is no greater than the candidate (a CHECK): what no draw met is gone. */
typedef bool shrink_still_fails(void *context, const struct tape *candidate, struct tape *recorded);

/* Make the n-th fresh run, from 0. True when it fails alike on a tape that fits; then that tape stands
 * in *recorded as above. */
typedef bool shrink_fresh(void *context, uint32_t n, struct tape *recorded);

/* Called before each attempt; false ends the search (time is over, the user interrupted). */
typedef bool shrink_keep_going(void *context);

enum shrink_stop {
    SHRINK_STOP_NONE = 0,
    SHRINK_STOP_LOCAL_MINIMUM, /* no pass finds anything smaller */
    SHRINK_STOP_ATTEMPTS,      /* attempts_max used up */
    SHRINK_STOP_INTERRUPTED,   /* keep_going said no */
    SHRINK_STOP_PASSES,        /* the tape itself did not fail when it was run again */
};

struct shrink_result {
    struct tape tape;    /* smallest failing one; entries lie in the caller's memory */
    uint32_t attempts;   /* candidates run, the first of which is the tape itself; fresh runs */
    uint32_t accepted;   /* of these, taken as the new tape */
    uint32_t remembered; /* candidates not run, because they had been tried before */
    uint32_t below_runs; /* runs of tapes with fewer entries than the result, or for their sake */
    enum shrink_stop stop;
    bool proven_minimal; /* every tape with fewer entries was tried */
};

typedef void shrink_progress(void *context, const struct shrink_result *so_far);

struct shrink_options {
    shrink_still_fails *still_fails;
    shrink_keep_going *keep_going; /* or NULL */
    shrink_progress *progress;     /* or NULL; called after each accepted candidate */
    shrink_fresh *fresh;           /* or NULL */
    /* As of below_options; or NULL: nothing below is tried */
    uint32_t (*offers)(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity);
    void *context;         /* of all of them */
    uint32_t attempts_max; /* 0: SHRINK_ATTEMPTS_DEFAULT; runs below do not count */
    uint32_t fresh_max;    /* fresh runs; they count as attempts */
    uint32_t fresh_above;  /* none for a tape of so many entries or fewer */
    uint32_t below_max;    /* runs below the result */
};

/* Bytes of memory that a search on a tape of so many entries wants; aligned to 16. */
size_t shrink_memory_size(uint32_t entry_count, const struct shrink_options *options);

/* Search. memory is what shrink_memory_size says and outlives the result; tape is only read, and
 * its identity is kept. A candidate's run must not touch memory. */
void shrink_run(const struct tape *tape,
                const struct shrink_options *options,
                void *memory,
                struct shrink_result *result);

#endif
