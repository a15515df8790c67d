#include "sinks/retry.h"

#include "sinks/base/check.h"

#define DOUBLINGS_MAX 63u

bool retry_schedule_is_valid(const struct retry_schedule *schedule)
{
    return schedule->initial >= MS(1) && schedule->max >= schedule->initial &&
           schedule->attempts_max >= 1;
}

bool retry_is_allowed(const struct retry_schedule *schedule, uint32_t failures)
{
    return failures < schedule->attempts_max;
}

struct retry_window retry_backoff(const struct retry_schedule *schedule, uint32_t failures)
{
    CHECK(failures >= 1);
    CHECK(retry_schedule_is_valid(schedule));
    const uint32_t doublings = failures - 1 < DOUBLINGS_MAX ? failures - 1 : DOUBLINGS_MAX;
    const nanos grown = nanos_mul(schedule->initial, UINT64_C(1) << doublings);
    const nanos pause = grown < schedule->max ? grown : schedule->max;
    const nanos min = nanos_scale(pause, (struct ratio){3, 4});
    const nanos max = nanos_scale(pause, (struct ratio){5, 4});
    return (struct retry_window){min > MS(1) ? min : MS(1), max > MS(1) ? max : MS(1)};
}
