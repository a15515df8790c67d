/* The source's log: all records of a run, read-only, made from the scenario before the run. Records
 * of a split are contiguous and in position order. */
#ifndef SIM_ENGINE_SOURCE_LOG_H
#define SIM_ENGINE_SOURCE_LOG_H

#include "sim/journal.h"
#include "sinks/sink.h"

/* Properties that the workload gives a record, for user callbacks and oracles. */
enum record_trait {
    RECORD_POISON_SERIALIZER = 1, /* the serializer fails on it */
    RECORD_POISON_SERVICE = 2,    /* the service refuses its content */
    RECORD_SKIPPED = 4,           /* the serializer gives nothing */
    RECORD_POISON_EXTRACTOR = 8,  /* the id extractor fails on it */
    RECORD_POISON_AGAIN = 16,     /* the serializer fails on it in every attempt but the first */
    RECORD_POISON_RESOLVER = 32,  /* the destination resolver fails on it */
};

struct source_record {
    struct sink_record record; /* token unused */
    uint64_t digest;           /* digest_bytes of the value */
    uint8_t traits;            /* bits of enum record_trait */
};

struct source_log {
    const struct source_record *records; /* record id - 1 is the index */
    uint32_t record_count;
    const uint32_t *split_starts; /* split_count + 1 indexes */
    uint32_t split_count;
    bool equal_payloads; /* the scenario asked for records with equal values */
};

#endif
