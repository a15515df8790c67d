/* The retry schedule that every sink shares: bounded exponential backoff with mean-preserving jitter
 * (ADR-0039). The sink states the window and the host draws in it. */
#ifndef SINKS_RETRY_H
#define SINKS_RETRY_H

#include "sinks/base/units.h"
#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

/* Codes that say: try again. They count wherever they stand in a chain. */
#define RETRY_TRANSIENT_CODES                                                                      \
    (PORT_CODE_BIT(PORT_UNAVAILABLE) | PORT_CODE_BIT(PORT_DEADLINE_EXCEEDED) |                     \
     PORT_CODE_BIT(PORT_RESOURCE_EXHAUSTED))

struct retry_schedule {
    nanos initial;         /* at least 1 ms */
    nanos max;             /* at least initial */
    uint32_t attempts_max; /* the first included; at least 1 */
};

struct retry_window {
    nanos min;
    nanos max;
};

bool retry_schedule_is_valid(const struct retry_schedule *schedule);

/* True when another attempt may follow after so many failed ones. */
bool retry_is_allowed(const struct retry_schedule *schedule, uint32_t failures);

/* The window of the pause after the failures-th failure, failures >= 1:
 * min(initial * 2^(failures - 1), max), times 0.75 to 1.25, each at least 1 ms. */
struct retry_window retry_backoff(const struct retry_schedule *schedule, uint32_t failures);

#endif
