/* X1, the reference workload of exhaustive exploration: an at-least-once sink that sends records over a
 * network which may lose requests and responses, repeats them, checkpoints, and may crash. It is small
 * enough that all of its states can be counted, and large enough that counting them takes a while; how
 * many there are is published for three sizes. */
#ifndef SCENARIOS_BENCH_X1_H
#define SCENARIOS_BENCH_X1_H

#include "sim/search/state_space.h"

#define X1_RECORDS_MAX 5

struct x1_options {
    uint8_t records;
    uint8_t window;
    uint8_t losses;
    uint8_t retries;
    uint8_t crashes;
    bool checkpoints_early; /* planted: a checkpoint covers what is still in flight */
};

/* The published sizes by name: x1-s, x1-m, x1-l; false when there is none of that name. */
bool x1_by_name(const char *name, struct state_system *system);

/* A system of other options, which are borrowed. */
struct state_system x1_system(const struct x1_options *options);

#endif
