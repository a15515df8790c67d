/* How far long work has come, on a terminal: runs done, runs per second, time left. Silent when
 * standard error is no terminal. */
#ifndef SCENARIOS_CLI_PROGRESS_H
#define SCENARIOS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on;
    const char *label;
    uint64_t total; /* 0: unknown */
    uint64_t started_ms;
    uint64_t shown_ms;
};

void progress_start(struct progress *progress, const char *label, uint64_t total);
void progress_show(struct progress *progress, uint64_t done);
/* Wipe the line. */
void progress_end(struct progress *progress);

/* Things per second of wall time. */
uint64_t rate_per_second(uint64_t count, uint64_t milliseconds);

/* Milliseconds of wall time since some start. */
uint64_t wall_milliseconds(void);

#endif
