/* Things that a half waits for, behind its one timer: pauses before a retry, and deadlines.
 *
 * Each slot has a due window [min, max] of monotonic time. The timer is armed for the slot whose
 * window closes first, with what remains of that window, and the host draws in it. When the timer
 * fires, that slot goes, and with it every slot whose window has closed by then. A slot therefore
 * goes inside its window; a draw is made when a slot becomes the first, not at every event.
 *
 *   Operation \ timer   not set                     armed for A
 *   add B               -                           -
 *   arm                 set for the first, if any   kept, unless B closes before A or none is left
 *   remove A            -                           kept; it will fire for nobody
 *   fired               a host's mistake: ignored   A is due, and all that have closed
 */
#ifndef SINKS_PARKING_H
#define SINKS_PARKING_H

#include "sinks/base/allocator.h"
#include "sinks/base/err.h"
#include "sinks/base/units.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Embed in what waits; zeroed means not parked. Must not move while parked. */
struct parking_slot {
    nanos min;      /* read */
    nanos max;      /* read */
    uint64_t order; /* private: first parked goes first among equals */
    uint32_t place; /* private: index in the heap + 1; 0 not parked */
};

struct parking {
    const struct allocator *allocator; /* private */
    struct parking_slot **heap;        /* private: by max, then order */
    uint32_t count;                    /* read */
    uint32_t capacity;                 /* private */
    uint64_t order;                    /* private */
    struct parking_slot *armed;        /* private: NULL when it is gone */
    nanos armed_max;                   /* private: when the timer fires at the latest */
    bool timer_set;                    /* private */
    bool armed_is_due;                 /* private: the timer has fired for armed */
};

void parking_init(struct parking *parking, const struct allocator *allocator);
void parking_fini(struct parking *parking);

/* Park a slot until now + [min, max]; it is not parked yet. ERR_OK, ERR_LIMIT. O(log count). */
MUST_USE enum err
parking_add(struct parking *parking, struct parking_slot *slot, nanos now, nanos min, nanos max);

/* Take a slot out before it is due; nothing happens if it is not parked. */
void parking_remove(struct parking *parking, struct parking_slot *slot);

/* Note that the timer fired. Then take due slots until NULL, and arm again. */
void parking_fired(struct parking *parking);
struct parking_slot *parking_take_due(struct parking *parking, nanos now);

/* Set, keep or clear the timer as the slots want it; at most one effect. */
void parking_arm(struct parking *parking, nanos now, struct sink_effects *effects);

/* Any slot, to take all of them out in turn; NULL when none is parked. */
struct parking_slot *parking_any(const struct parking *parking);

/* Forget all slots, without an effect: the half is closing. */
void parking_clear(struct parking *parking);

/* Digest of the windows and of what the timer is set for. */
uint64_t parking_digest(const struct parking *parking);

#endif
