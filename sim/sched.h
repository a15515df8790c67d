/* The scheduler: a growing pool of events and a hierarchical timing wheel over virtual time.
 *
 * A step takes the earliest due time, gathers the set of events that could run next, lets the tape
 * choose one (0 = first in), moves the clock and hands out that one event. Time never goes back;
 * seq strictly grows; an event is never handed out inside the call that scheduled it.
 *
 * The order of events is (due, seq). The tie set: the first event F of that order, and the events on
 * F's node that are due within window of F's due time, at most SCHED_TIE_MAX of them and all among
 * the first SCHED_LOOK_MAX events, so that gathering them is bounded. Events of other nodes cannot
 * conflict with F and are not offered. When a later one is chosen, the clock moves to its due time,
 * and every event that it overtook, of whatever node, becomes due at that time. The overtaken keep
 * their seq and their order, ahead of everything else that is due then.
 */
#ifndef SIM_SCHED_H
#define SIM_SCHED_H

#include "sim/arena.h"
#include "sim/choice.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_TIE_MAX  8
#define SCHED_LOOK_MAX 32

/* Events that can be pending beyond event_count_max until the run stops at an event boundary. */
#define SCHED_HEADROOM 65536

/* Index + generation; 0 is none. */
typedef uint64_t sched_handle;
#define SCHED_NONE UINT64_C(0)

struct sched_event {
    nanos due;
    uint64_t seq;
    uint32_t node; /* who handles it; also what it can conflict on */
    uint32_t kind; /* meaning belongs to the dispatcher */
    uint64_t a;    /* payload handles, meaning by kind */
    uint64_t b;
};

struct sched_options {
    uint32_t event_count_max; /* pool size limit; 0: 1 << 20 */
    nanos race_window;        /* 0: only equal due times tie */
    bool ties_from_tape;      /* false: always first in, no draws */
};

struct sched {
    nanos now;                    /* read: virtual time; moved only by sched_step */
    uint64_t seq;                 /* read: events ever scheduled or moved */
    uint64_t stepped;             /* read: events handed out */
    uint32_t pending;             /* read */
    bool over;                    /* private: sched_is_over */
    struct arena *arena;          /* private */
    struct choice *choice;        /* private */
    struct sched_options options; /* private */
    struct sched_wheel *wheel;    /* private */
};

/* The draw sites of this module, from sched_sites.def. */
extern const struct choice_site sched_sites[];
extern const size_t sched_site_count;

/* Prepare an empty scheduler at time 0, all memory from the arena (growing it as needed). choice may
 * be NULL when ties_from_tape is false. Takes about 20 KiB, enough for 192 pending events, and does
 * not clear it: cheap enough to be done for every run. */
void sched_init(struct sched *sched,
                struct arena *arena,
                struct choice *choice_or_null,
                const struct sched_options *options);

/* Schedule at an instant (at least now: an earlier one is a CHECK) or after a delay (saturating).
 * An event at TIME_NEVER never fires. Amortised O(1), whatever is pending. */
sched_handle
sched_at(struct sched *sched, nanos due, uint32_t node, uint32_t kind, uint64_t a, uint64_t b);
sched_handle
sched_after(struct sched *sched, nanos delay, uint32_t node, uint32_t kind, uint64_t a, uint64_t b);

/* Cancel a pending event; a stale handle is a CHECK. O(1). */
void sched_cancel(struct sched *sched, sched_handle handle);

bool sched_is_pending(const struct sched *sched, sched_handle handle);

/* Due time and payload of a pending event; a stale handle is a CHECK. */
struct sched_event sched_peek(const struct sched *sched, sched_handle handle);

/* Move a pending event to another due time, at least now, with a new seq: as if it had been
 * cancelled and scheduled again, but the handle stays good. A stale handle is a CHECK. Amortised
 * O(1). */
void sched_move(struct sched *sched, sched_handle handle, nanos due);

/* Hand out the next event; event->due is now, and its handle is stale from then on. False, and
 * nothing moves, when none is pending (or only ones at TIME_NEVER). */
bool sched_step(struct sched *sched, struct sched_event *event);

/* Earliest due time of all pending events, TIME_NEVER if none. Amortised O(1) over steps. */
nanos sched_next_due(struct sched *sched);

/* True from when more than event_count_max events were pending at once: the run must stop with limit
 * at this event boundary. Scheduling past SCHED_HEADROOM more is a CHECK. */
static inline bool sched_is_over(const struct sched *sched)
{
    return sched->over;
}

/* Walk all structures: true when they agree with each other. O(pending), for tests. */
bool sched_is_valid(const struct sched *sched);

#endif
