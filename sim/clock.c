#include "sim/clock.h"

#define MILLION 1000000

/* Error of a clock: whole ns, rounded down, and the rest in millionths. */
struct clock_error {
    int64_t whole;
    uint32_t rest;
};

static bool clock_is_valid(const struct clock *clock)
{
    return clock->drift_ppm >= -CLOCK_DRIFT_MAX && clock->drift_ppm <= CLOCK_DRIFT_MAX &&
           clock->drift_rest < MILLION;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b) {
        return INT64_MAX;
    }
    if (b < 0 && a < INT64_MIN - b) {
        return INT64_MIN;
    }
    return a + b;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
}

/* Elapsed time is split at a million ns, so that every product fits: 2^64 / 10^6 * 10^3 < 2^55. */
static struct clock_error error_at(const struct clock *clock, nanos now)
{
    CHECK(clock_is_valid(clock));
    CHECK(now >= clock->drift_since);
    const nanos elapsed = now - clock->drift_since;
    const int64_t ppm = clock->drift_ppm;
    const int64_t whole = (int64_t)(elapsed / MILLION) * ppm;
    const int64_t part = (int64_t)(elapsed % MILLION) * ppm + (int64_t)clock->drift_rest;
    const int64_t carry = part < 0 ? -((MILLION - 1 - part) / MILLION) : part / MILLION;
    const int64_t rest = part - carry * MILLION;
    CHECK(rest >= 0);
    CHECK(rest < MILLION);
    return (struct clock_error){add_saturating(clock->offset, whole + carry), (uint32_t)rest};
}

/* Move the origin of the drift to now; the clock shows the same as before. */
static void rebase(struct clock *clock, nanos now)
{
    const struct clock_error error = error_at(clock, now);
    clock->error_max = clock_error_now(clock, now);
    clock->offset = error.whole;
    clock->drift_rest = error.rest;
    clock->drift_since = now;
}

void clock_init(struct clock *clock)
{
    *clock = (struct clock){0};
}

nanos clock_wall_erring(const struct clock *clock, nanos now)
{
    const int64_t error = error_at(clock, now).whole;
    const nanos wall = clock_true_wall(now);
    return error < 0 ? nanos_sub(wall, magnitude(error)) : nanos_add(wall, magnitude(error));
}

void clock_jump(struct clock *clock, nanos now, int64_t by)
{
    rebase(clock, now);
    clock->offset = add_saturating(clock->offset, by);
    CHECK(clock_is_valid(clock));
}

void clock_drift(struct clock *clock, nanos now, int32_t ppm)
{
    CHECK(ppm >= -CLOCK_DRIFT_MAX);
    CHECK(ppm <= CLOCK_DRIFT_MAX);
    rebase(clock, now);
    clock->drift_ppm = ppm;
    CHECK(clock_is_valid(clock));
}

/* The error changes monotonically between changes, so its extremes are at them and at now. */
uint64_t clock_error_now(const struct clock *clock, nanos now)
{
    const uint64_t error = magnitude(error_at(clock, now).whole);
    return error > clock->error_max ? error : clock->error_max;
}
