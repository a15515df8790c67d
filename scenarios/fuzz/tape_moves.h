/* What the tape fuzzer's mutator does: moves on entries and spans of a tape, with what a run under it
 * was offered. A byte that is changed at random names a draw that no run makes; each of these moves
 * names one that the run made. */
#ifndef SCENARIOS_FUZZ_TAPE_MOVES_H
#define SCENARIOS_FUZZ_TAPE_MOVES_H

#include "sim/choice.h"

struct tape_moves {
    struct tape *tape;                 /* that is changed */
    const struct tape *recorded;       /* what a run under it drew, with spans */
    const struct choice_offer *offers; /* that this run had, in order */
    uint32_t offer_count;
    const struct choice_registry *registry;
    uint64_t random; /* state of the generator */
};

/* A number below bound; 0 where there is none. */
uint32_t tape_moves_pick(struct tape_moves *moves, uint32_t bound);

/* Each changes the tape, or answers false and leaves it.
 * insert: a draw that was offered, sites before draws so that rare ones get their turn.
 * delete: an entry; or all that belong to one request, fault, crash or checkpoint.
 * duplicate: an entry, at another draw of its site.
 * extend: an entry, at the draws of its site and lane that follow, whether the run came to them or not: what
 * takes an outage is found step by step only where each step shows something new.
 * move_crash: a crash, or without one any entry, to another draw of its site.
 * swap: two events that were ready at once run the other way round.
 * change: another value that was offered at an entry's draw.
 * nudge: an entry to a neighbouring ordinal or lane.
 * prune: what no draw met goes. */
bool tape_moves_insert(struct tape_moves *moves);
bool tape_moves_delete(struct tape_moves *moves);
bool tape_moves_duplicate(struct tape_moves *moves);
bool tape_moves_extend(struct tape_moves *moves);
bool tape_moves_move_crash(struct tape_moves *moves);
bool tape_moves_swap(struct tape_moves *moves);
bool tape_moves_change(struct tape_moves *moves);
bool tape_moves_nudge(struct tape_moves *moves);
bool tape_moves_prune(struct tape_moves *moves);

/* One or a few of these. */
void tape_moves_any(struct tape_moves *moves);

/* A head of the tape and a tail of the other; or the tape with a stretch of the other in it. */
void tape_moves_splice(struct tape_moves *moves, const struct tape *other);

#endif
