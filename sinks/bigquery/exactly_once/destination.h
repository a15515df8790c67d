/* One table that a writer of the exactly-once sink writes to: its stream, the rows on their way there, and
 * how failures are repaired (sections 4.1 to 4.8 of the sink's specification).
 *
 *   Phase \ event   rows to send        stream made   append settled: stored   its failure          pause over
 *   NO_STREAM       CREATING            -             -                        -                    -
 *   CREATING        -                   STREAMING     -                        again, table, fails  create
 *   RECONCILING     -                   -             -                        -                    its own
 *   PROBING         one append          -             STREAMING                NO_STREAM, again,    append
 *                                                                              REPLAYING, fails
 *   STREAMING       appends             -             next                     REPAIRING            -
 *   REPAIRING       -                   -             next, STREAMING          again, REPLAYING,    append
 *                                                                              fails
 *   REPLAYING       -                   -             next, STREAMING          again, fails         append
 *
 * STREAMING pipelines appends at the offsets that follow each other. After a failure nothing new is sent
 * until all that was has an answer; REPAIRING then sends what failed again, one by one, at its offset, where
 * "already exists" means stored. A row that is none shifts all offsets behind it: REPLAYING routes it to the
 * failure policy and sends the rest one by one at new offsets, where "already exists" means that something
 * else lies there, which is fatal. PROBING tries a restored stream with the first batch: what was appended
 * behind the restored offset belongs to rows that will come again, so a stream whose end is not there any
 * more is abandoned for a fresh one, never finalized, since a committable may still name its rows.
 *
 * RECONCILING makes or changes the table (reconcile.h) and goes back to where it came from. It creates a table
 * that is missing; it adds what the table lacks when an append is refused for that, once in a repair or a
 * probe, after which the same refusal means that the write API has not heard of it yet: the append goes on a
 * new connection, every half a minute; and it does so before a refresh. When the user's schema changes, the
 * row that brought the change waits until all before it are stored, the table is changed if that is allowed,
 * and the connection is opened anew with the new schema: the stream and its offsets stay what they are. */
#ifndef SINKS_BIGQUERY_EXACTLY_ONCE_DESTINATION_H
#define SINKS_BIGQUERY_EXACTLY_ONCE_DESTINATION_H

#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/table_writer.h"

enum destination_phase {
    DESTINATION_NO_STREAM = 0,
    DESTINATION_CREATING,
    DESTINATION_RECONCILING,
    DESTINATION_PROBING,
    DESTINATION_STREAMING,
    DESTINATION_REPAIRING,
    DESTINATION_REPLAYING,
};

struct destination {
    struct writer_table base; /* its name is owned: behind the struct */
    size_t block_size;
    uint8_t phase;                 /* enum destination_phase */
    struct bytes stream;           /* empty: none */
    uint8_t *stream_memory;        /* of its name; owned */
    uint64_t next_offset;          /* rows that were given offsets */
    bool is_snapped;               /* the latest snapshot has this stream */
    uint64_t snap_offset;          /* and this offset */
    struct bigquery_schema schema; /* of all rows that were submitted or are to be */
    struct bigquery_schema next;   /* of the one that waits for a refresh */
    bool refreshes; /* all before must be stored; then the next schema is the schema */
    struct reconcile reconcile;
    uint8_t resume;         /* enum destination_phase, behind RECONCILING */
    bool swaps;             /* and a refresh ends with it */
    bool reconciled;        /* in the course of the repair or probe that is made */
    struct append *filling; /* or NULL */
    struct list batches;    /* struct append, not yet submitted */
    struct list repairs;    /* struct append, settled or renewed */
    struct appender appender;
    uint32_t failures;
    bool resent;        /* the appender has the first of repairs */
    bool table_created; /* by this life of the destination */
    bool waits;         /* for the pause */
    struct parking_slot pause;
    uint64_t call;  /* number of the unary request that is open; 0 none */
    uint8_t *piece; /* bytes of the latest snapshot; owned */
    size_t piece_size;
    struct bigquery_write_stream stream_request;
    struct bigquery_create_write_stream_request create_request;
};

extern const struct table_functions bigquery_destination_functions;

static inline struct destination *destination_of(struct writer_table *table)
{
    return LIST_ITEM(table, struct destination, base);
}

/* Go on with a restored stream. ERR_OK, ERR_LIMIT. */
MUST_USE enum err destination_restore(struct destination_host *host,
                                      struct destination *destination,
                                      const struct bigquery_piece *piece);

#endif
