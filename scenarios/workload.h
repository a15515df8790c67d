/* The records of a scenario: generated from the scenario's own seed, or the user's own from a file.
 * The tape never changes them. */
#ifndef SCENARIOS_WORKLOAD_H
#define SCENARIOS_WORKLOAD_H

#include "sim/engine/source_log.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

struct reader;

/* A generated value begins with 'r', 8 hex digits of the record id, and ' '. */
#define WORKLOAD_ID_SIZE     10
#define WORKLOAD_PAYLOAD_MIN 16
/* Values and keys of all records together. */
#define WORKLOAD_BYTES_MAX ((size_t)256 << 20)
#define WORKLOAD_SPLIT_MAX 64

enum workload_keys {
    WORKLOAD_KEYS_NONE = 0,
    WORKLOAD_KEYS_UNIQUE,
    WORKLOAD_KEYS_SHARED,
};

enum workload_changes {
    WORKLOAD_INSERTS = 0, /* +I only */
    WORKLOAD_UPDATES,     /* +I, then +U for a key that came before */
    WORKLOAD_RETRACTIONS, /* +I, then one of -U, +U, -D for a key that came before */
    WORKLOAD_UPSERTS,     /* +I, then one of +U, -D for a key that came before */
};

struct workload_options {
    uint32_t record_count;
    uint32_t split_count; /* 1..WORKLOAD_SPLIT_MAX */
    uint8_t keys;         /* enum workload_keys */
    uint32_t key_count;   /* of shared keys, at least 1 */
    struct ratio key_skew;
    uint8_t changes;       /* enum workload_changes */
    uint32_t payload_size; /* at least WORKLOAD_PAYLOAD_MIN */
    bool equal_payloads;
    struct ratio poison_serializer;
    struct ratio poison_service;
    struct ratio poison_extractor;
    struct ratio poison_again;
    struct ratio poison_resolver;
    struct ratio skipped;
    struct ratio repeats; /* of the record before, within a split */
    uint64_t seed;
    nanos interval; /* between event times */
};

/* Make the records in the reader's memory. ERR_OK; ERR_INVALID, ERR_LIMIT with the reader's line. */
MUST_USE enum err workload_generate(struct reader *reader,
                                    const struct workload_options *options,
                                    struct source_log *log);

/* Read JSON Lines instead: one object per line, value required, key, split, change, time_ms not.
 * name is the file's, for the line that says why not. split_count bounds the splits.
 * ERR_OK, ERR_INVALID, ERR_TRUNCATED, ERR_LIMIT. */
MUST_USE enum err workload_read(struct reader *reader,
                                const char *name,
                                struct bytes lines,
                                const struct workload_options *options,
                                struct source_log *log);

#endif
