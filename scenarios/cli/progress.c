#include "scenarios/cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SHOW_EVERY_MS 200

uint64_t wall_milliseconds(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t rate_per_second(uint64_t count, uint64_t milliseconds)
{
    return count * 1000 / (milliseconds > 0 ? milliseconds : 1);
}

void progress_start(struct progress *progress, const char *label, uint64_t total)
{
    *progress = (struct progress){
        .on = isatty(STDERR_FILENO) == 1,
        .label = label,
        .total = total,
        .started_ms = wall_milliseconds(),
    };
}

void progress_show(struct progress *progress, uint64_t done)
{
    const uint64_t now = wall_milliseconds();
    if (!progress->on || now - progress->shown_ms < SHOW_EVERY_MS) {
        return;
    }
    const uint64_t elapsed = now - progress->started_ms;
    const uint64_t rate = elapsed == 0 ? 0 : done * 1000 / elapsed;
    progress->shown_ms = now;
    (void)fprintf(stderr, "\r\033[K%s: %" PRIu64, progress->label, done);
    if (progress->total > 0) {
        (void)fprintf(stderr, " of %" PRIu64, progress->total);
    }
    (void)fprintf(stderr, " runs, %" PRIu64 " per s", rate);
    if (progress->total > done && rate > 0) {
        (void)fprintf(stderr, ", %" PRIu64 " s left", (progress->total - done) / rate + 1);
    }
    (void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->on && progress->shown_ms > 0) {
        (void)fprintf(stderr, "\r\033[K");
        (void)fflush(stderr);
    }
}
