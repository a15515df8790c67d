/* Wall clocks of nodes: base + offset + drift, with jumps. The monotonic clock of a node is virtual
 * time since the node's start and never errs. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "sim/choice.h"
#include "sinks/base/units.h"

#include <stdbool.h>

/* 2026-01-01T00:00:00Z: where true wall time starts in every run. */
#define CLOCK_BASE (UINT64_C(1767225600) * NANOS_PER_S)

#define CLOCK_DRIFT_MAX 1000 /* parts per million */

struct clock {
    int64_t offset;      /* ns added to true wall time; drift so far included */
    int32_t drift_ppm;   /* parts per million since drift_since */
    uint32_t drift_rest; /* private: what drifted so far below 1 ns, in millionths of it */
    nanos drift_since;
    uint64_t error_max; /* private: largest error before the last change */
};

/* A true clock. */
void clock_init(struct clock *clock);

/* The true wall time. */
static inline nanos clock_true_wall(nanos now)
{
    return nanos_add(CLOCK_BASE, now);
}

/* The wall time of a clock that errs or erred; not for callers. */
nanos clock_wall_erring(const struct clock *clock, nanos now);

/* What the node believes the wall time is, at virtual time now, which is not before the last change.
 * Never below 0; saturates at TIME_NEVER. Exact: drift is rounded down to whole ns only here. */
static inline nanos clock_wall(const struct clock *clock, nanos now)
{
    CHECK(now >= clock->drift_since);
    const bool is_true = clock->offset == 0 && clock->drift_ppm == 0;
    return LIKELY(is_true) ? clock_true_wall(now) : clock_wall_erring(clock, now);
}

/* Move the offset from now on. */
void clock_jump(struct clock *clock, nanos now, int64_t by);

/* Change the drift from now on; what drifted so far stays. |ppm| <= CLOCK_DRIFT_MAX. */
void clock_drift(struct clock *clock, nanos now, int32_t ppm);

/* The largest error that the clock showed up to now, ns: for oracles' scope. */
uint64_t clock_error_now(const struct clock *clock, nanos now);

#endif
