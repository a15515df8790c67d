/* The scheduler: a fixed pool of events and a hierarchical timing wheel over virtual time.
 *
 * A step takes the earliest due time, gathers the set of events that could run next, lets the tape
 * choose one (0 = first in), moves the clock and hands out that one event. Time never goes back;
 * seq strictly grows; an event is never handed out inside the call that scheduled it.
 *
 * The tie set: the first event F in (due, seq) order, and the events on F's node that are due within
 * window of F's due time, at most SCHED_TIE_MAX of them, in (due, seq) order. Events of other nodes
 * cannot conflict with F and are not offered. When a later one is chosen, the clock moves to its due
 * time, and those of the tie set that it overtook become due at that time, keeping their order.
 */
#ifndef SIM_SCHED_H
#define SIM_SCHED_H

#include "sim/arena.h"
#include "sim/choice.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_TIE_MAX 8

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
    uint32_t event_count_max;  /* pool size limit; 0: 1 << 20 */
    nanos race_window;         /* 0: only equal due times tie */
    bool ties_from_tape;       /* false: always first in, no draws */
};

struct sched {
    nanos now;          /* read: virtual time; moved only by sched_step */
    uint64_t seq;       /* read: events ever scheduled */
    uint64_t stepped;   /* read: events handed out */
    uint32_t pending;   /* read */
    struct arena *arena;
    struct choice *choice;
    struct sched_options options;
    struct sched_wheel *wheel; /* private */
};

/* Prepare an empty scheduler at time 0, all memory from the arena (growing it as needed). choice may
 * be NULL when ties_from_tape is false. */
void sched_init(struct sched *sched, struct arena *arena, struct choice *choice_or_null,
                const struct sched_options *options);

/* Schedule at an instant (at least now: an earlier one is a CHECK) or after a delay (saturating).
 * An event at TIME_NEVER never fires. */
sched_handle sched_at(struct sched *sched, nanos due, uint32_t node, uint32_t kind, uint64_t a,
                      uint64_t b);
sched_handle sched_after(struct sched *sched, nanos delay, uint32_t node, uint32_t kind, uint64_t a,
                         uint64_t b);

/* Cancel a pending event; a stale handle is a CHECK. O(1). */
void sched_cancel(struct sched *sched, sched_handle handle);

bool sched_is_pending(const struct sched *sched, sched_handle handle);

/* Due time and payload of a pending event; a stale handle is a CHECK. */
struct sched_event sched_peek(const struct sched *sched, sched_handle handle);

/* Move a pending event to another due time, with a new seq. O(1). */
void sched_move(struct sched *sched, sched_handle handle, nanos due);

/* Hand out the next event. False when none is pending (or only ones at TIME_NEVER). */
bool sched_step(struct sched *sched, struct sched_event *event);

/* Earliest due time of all pending events, TIME_NEVER if none. */
nanos sched_next_due(struct sched *sched);

/* True when the event pool is used up: the run must stop with limit. */
bool sched_is_over(const struct sched *sched);

#endif
