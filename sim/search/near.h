/* Looking near a tape for what it once showed (DESIGN section 2: tapes survive edits).
 *
 * Code that changes moves draws: one more request, and what a tape says of the third is now said of
 * the fourth. This file tries the tapes that such a change could have made of the old one, nearest
 * first: an entry, or all of one site and lane from an entry on, some ordinals earlier or later; a
 * neighbouring lane; a neighbouring value; in the end, where that is allowed, without the entry. Of
 * each round those that meet most of their entries are moved again.
 *
 * The caller runs candidates; the result depends on the tape and on the answers alone.
 */
#ifndef SIM_SEARCH_NEAR_H
#define SIM_SEARCH_NEAR_H

#include "sim/choice.h"

#define NEAR_RUNS_DEFAULT 4000

/* Replay candidate. The tape that the run recorded goes to *recorded (entries and capacity are set,
 * the capacity suffices; count is to be set). True when the run shows what is looked for. */
typedef bool near_shows(void *context, const struct tape *candidate, struct tape *recorded);

struct near_options {
    near_shows *shows;
    void *context;
    const struct choice_registry *registry; /* knows every site of the tape */
    uint32_t runs_max;                      /* 0: NEAR_RUNS_DEFAULT */
    bool may_drop; /* what is looked for is enough, whether each entry is met or not */
};

struct near_result {
    bool found;
    struct tape tape; /* found: the one that its run recorded; entries lie in the caller's memory */
    uint32_t steps;   /* moves that lead to it; 0: only the sizes of menus had changed */
    uint32_t runs;    /* candidates run */
    uint32_t met_most; /* entries that the best candidate met, found or not */
    bool all_tried;    /* not found, and within these moves there is nothing else */
};

/* Bytes of memory that a search on a tape of so many entries wants; aligned to 16. */
size_t near_memory_size(uint32_t entry_count, const struct near_options *options);

/* Search. memory is what near_memory_size says and outlives the result; tape is only read, and its
 * identity is kept. The tape itself, with the menus of today, is the first candidate. */
void near_run(const struct tape *tape,
              const struct near_options *options,
              void *memory,
              struct near_result *result);

#endif
