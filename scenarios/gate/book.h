/* All runs that the gate wants, each once, and what was observed of them. Arms are shared: what one
 * candidate's cell needs may serve another's. */
#ifndef SCENARIOS_GATE_BOOK_H
#define SCENARIOS_GATE_BOOK_H

#include "scenarios/gate/observe.h"

/* The repetitions of one arm in one cell: as many runs, side by side. */
struct book_series {
    struct cell cell; /* of the first seed */
    uint32_t first;   /* of its runs */
    uint32_t count;
};

struct book {
    struct text_pool *texts;
    const struct plan *plan;
    const struct costs *costs;
    struct costs varied[COSTS_VARIANT_COUNT];
    uint64_t seed_first;
    uint64_t ceiling_per_s;
    struct book_series *series;
    uint32_t series_count;
    uint32_t series_capacity; /* private */
    struct cell *cells;       /* private: of each run */
    struct observation *observations;
    uint32_t run_count;
    uint32_t run_capacity; /* private */
    uint32_t done;         /* read: runs that have been made */
};

void book_init(struct book *book,
               struct text_pool *texts,
               const struct plan *plan,
               const struct costs *costs);
void book_fini(struct book *book);

/* Ask for the repetitions of a cell; seed and what follows from the rest is filled in here. */
void book_want(struct book *book, struct cell cell, uint32_t repetitions);

/* The series of a cell, or NULL when it was not asked for. */
const struct book_series *book_find(const struct book *book, const struct cell *cell);

/* Make all runs that were asked for and are not made yet, in processes; the same whatever their
 * number. hang_after: wall time of a run. ERR_OK, ERR_SYSTEM, ERR_LIMIT. */
MUST_USE enum err book_run(struct book *book, uint32_t jobs, nanos hang_after);

#endif
