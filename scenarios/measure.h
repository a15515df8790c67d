/* How long records took in a run, in virtual time, read from its journal: integers only, and exact.
 *
 * A record's intended arrival is when its source would emit it if nothing ever held it back: the open
 * loop of the workload, from the start of the job on. So a latency that is counted from there has in
 * it what back pressure, downtime and replay cost. What did not happen has the time TIME_NEVER.
 *
 * Of a run with keep_trace, measure_journal reads all of it; measure_entry takes entries one by one.
 */
#ifndef SCENARIOS_MEASURE_H
#define SCENARIOS_MEASURE_H

#include "sim/run.h"

#define MEASURE_READER_MAX 8u

/* Instants of a record. */
enum measure_point {
    MEASURE_NOTHING = 0,
    MEASURE_INTENDED, /* arrival, as above */
    MEASURE_HANDED,   /* to the writer, for the first time */
    MEASURE_ACCEPTED, /* by the writer, for the first time */
    MEASURE_RELEASED, /* the checkpoint that its envelope was committed with had completed */
    MEASURE_COMMITTED, /* its envelope left the committer's collection, not as a failure; never where a
                          sink has no committer */
    MEASURE_VISIBLE, /* to a reader class of the target service, for the first time: MEASURE_VISIBLE +
                          class */
    MEASURE_POINT_COUNT = MEASURE_VISIBLE + MEASURE_READER_MAX,
};

struct measure_record {
    nanos at[MEASURE_POINT_COUNT]; /* by enum measure_point */
};

struct measure_checkpoint {
    uint32_t number;
    nanos triggered;
    nanos completed;       /* TIME_NEVER: it was not */
    nanos commit_returned; /* the last of its commits; TIME_NEVER: none did */
};

/* The job, or a region of it, was down. */
struct measure_outage {
    nanos from; /* the first half died, or the job stopped */
    nanos to;   /* the next attempt started; TIME_NEVER: none did */
};

struct measure {
    const struct source_log *log;   /* read; borrowed */
    uint32_t target;                /* read: index of the service that holds the effects */
    uint32_t record_count;          /* read */
    struct measure_record *records; /* read: of record id at id - 1 */
    nanos started;                  /* read: of the job's first attempt; TIME_NEVER before it */
    nanos input_ended;              /* read: the last writer was told; TIME_NEVER: never */
    nanos finished;                 /* read: all of it was committed; TIME_NEVER: never */
    nanos last;                     /* read: time of the last entry */
    uint32_t restarts;              /* read: of the job or a region */
    uint32_t refusals;              /* read: requests of the job's that had no effect */
    struct measure_checkpoint *checkpoints; /* read: by trigger */
    uint32_t checkpoint_count;
    struct measure_outage *outages; /* read: by time */
    uint32_t outage_count;
    uint32_t *order;              /* private: record indexes by intended arrival */
    nanos *offsets;               /* private: intended arrival, from the start */
    uint32_t checkpoint_capacity; /* private */
    uint32_t outage_capacity;     /* private */
};

/* Prepare for runs of a scenario, whose config is borrowed. */
struct measure *measure_create(const struct run_config *config);
void measure_destroy(struct measure *measure);
/* Forget the run that was read. */
void measure_reset(struct measure *measure);

/* Read one entry more, or a whole journal of which all entries are kept. */
void measure_entry(struct measure *measure, const struct journal_entry *entry);
void measure_journal(struct measure *measure, const struct journal *journal);

/* --- latencies --------------------------------------------------------------------------------- */

/* From which instant to which; of records whose first instant lies in from <= time < to. */
struct measure_span {
    uint32_t first; /* enum measure_point */
    uint32_t second;
    nanos from;
    nanos to; /* 0: without end */
};

/* Fill the durations of a span, sorted: there is room for record_count. Records that lack the second
 * instant are counted in *missing and have no duration. */
uint32_t measure_durations(const struct measure *measure,
                           struct measure_span span,
                           nanos *out,
                           uint32_t *missing);

/* Nearest rank: the value at position ceil(permille / 1000 * count), counted from 1; of sorted values.
 * permille is 1 to 1000, count at least 1. */
uint64_t measure_percentile(const uint64_t *sorted, size_t count, uint32_t permille);

/* --- throughput -------------------------------------------------------------------------------- */

/* Whole checkpoint intervals: from the first completion at or behind an instant to the last one at or
 * before another. */
struct measure_throughput {
    nanos from; /* those two completions; both 0 without a whole interval */
    nanos to;
    uint32_t intervals;
    uint32_t records;     /* that became visible in from < time <= to */
    uint64_t milli_per_s; /* records per 1000 s */
};
struct measure_throughput
measure_throughput(const struct measure *measure, uint32_t reader_class, nanos from, nanos to);

/* --- curves ------------------------------------------------------------------------------------ */

/* What has happened up to an instant. */
struct measure_moment {
    nanos time;
    uint32_t arrived; /* records that were to arrive by then */
    uint32_t visible; /* of all records, to the reader class */
    nanos lag;        /* age of the oldest that arrived and is not visible; 0: there is none */
};

/* The moments at from, from + step and so on, count of them; step is not 0. */
void measure_curve(const struct measure *measure,
                   uint32_t reader_class,
                   nanos from,
                   nanos step,
                   struct measure_moment *moments,
                   uint32_t count);

/* The first instant at or behind from at which the lag is no more than this; TIME_NEVER: never. */
nanos measure_caught_up(const struct measure *measure,
                        uint32_t reader_class,
                        nanos from,
                        nanos lag_max);

#endif
