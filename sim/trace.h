/* The trace of one run: a digest over everything that happened, and the records that led here.
 *
 * Every event goes into the digest. Two runs of one tape must agree in it, whatever the compiler. Of
 * the records themselves the last few are kept; text is made only of those that somebody wants to
 * read. What everything was about stands in the journal.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/arena.h"
#include "sinks/base/bytes.h"
#include "sinks/base/digest.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

enum trace_kind {
    TRACE_NONE = 0,
#define X(constant, name, field_a, field_b) constant,
#include "sim/trace_events.def"
#undef X
    TRACE_KIND_COUNT,
};

struct trace_record {
    nanos time;
    uint64_t a; /* meaning by kind, as trace_events.def names it */
    uint64_t b;
    uint32_t node;
    uint32_t kind; /* enum trace_kind */
};

struct trace {
    uint64_t digest;              /* read: over all events so far */
    uint64_t count;               /* read: events so far */
    uint64_t recorded;            /* read: of them, those that left a record */
    struct trace_record *records; /* private: record i lies at i modulo capacity */
    uint64_t capacity;            /* private: a power of two */
};

/* Prepare an empty trace; its ring, of a power of two of records, comes from the arena and is not
 * cleared. */
void trace_init(struct trace *trace, struct arena *arena, uint32_t ring_count);

/* Fold an event into the digest without keeping a record of it. O(1). The factors are odd, so a change
 * of any one argument changes the digest. */
static inline void trace_fold(
    struct trace *trace, enum trace_kind kind, nanos time, uint32_t node, uint64_t a, uint64_t b)
{
    const uint64_t sum = time * UINT64_C(0xbf58476d1ce4e5b9) + a * UINT64_C(0x94d049bb133111eb) +
                         b * UINT64_C(0xff51afd7ed558ccd) +
                         ((uint64_t)kind << 32 | node) * UINT64_C(0xc4ceb9fe1a85ec53);
    trace->digest = digest_fold(trace->digest, sum);
    trace->count++;
}

/* Fold an event into the digest and keep its record. O(1). */
static inline void trace_event(
    struct trace *trace, enum trace_kind kind, nanos time, uint32_t node, uint64_t a, uint64_t b)
{
    trace->records[trace->recorded & (trace->capacity - 1)] =
        (struct trace_record){.time = time, .a = a, .b = b, .node = node, .kind = (uint32_t)kind};
    trace->recorded++;
    trace_fold(trace, kind, time, node, a, b);
}

/* Number of the oldest record that is still kept; recorded if there is none. */
uint64_t trace_first(const struct trace *trace);

/* A record by number, from trace_first to recorded - 1. Good until the next trace_event. */
const struct trace_record *trace_record_at(const struct trace *trace, uint64_t number);

/* Name of a kind, "store_write"; CHECKs that there is one. */
const char *trace_kind_name(enum trace_kind kind);

/* Write one record as text, without a line end:
 * "#12 3.000250000 node 4 store_write object=7 version=2", time in seconds. */
void trace_write(const struct trace_record *record, uint64_t number, struct byte_writer *writer);

#endif
