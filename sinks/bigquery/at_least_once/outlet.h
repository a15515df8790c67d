/* One table that the at-least-once sink writes to by its default stream, the rows on their way there, and
 * how failures are repaired (sections 5.1 and 5.2 of the sink's specification).
 *
 *   Phase \ event   rows to send   append settled: stored   its failure        reconciled         pause over
 *   STREAMING       appends        next                     REPAIRING, fails   -                  -
 *   REPAIRING       -              next, STREAMING          RECONCILING,       -                  append
 *                                                           again, routes,
 *                                                           fails
 *   RECONCILING     -              -                        -                  REPAIRING,         its own
 *                                                                              STREAMING, fails
 *   CONTRACTING     -              -                        -                  STREAMING,         its own
 *                                                                              REPAIRING, fails
 *
 * STREAMING pipelines appends. After a failure nothing new is sent until all that was has an answer: a
 * repair opens another connection, and with the old one what is on its way there would be lost. REPAIRING
 * then sends what failed again, one by one. Nothing tells an append that was stored and whose answer was
 * lost from one that was not, so what is sent again may be there twice.
 *
 * RECONCILING makes a table that is missing, or gives it the columns that rows need (reconcile.h), each once
 * in a repair. After that the same refusal means that the write API has not heard of it yet, and the append
 * goes again on another connection: every half a minute for columns, by the recovery's schedule for the
 * table. When the user's schema changes, the row that brought the change waits until all before it are
 * stored, the table is changed if that is allowed, and the connection is opened with the new schema.
 *
 * CONTRACTING sees to the contract of a table whose rows change others (contract.h), if that is asked for:
 * before the first row, and in place of the creation of a table that is missing. */
#ifndef SINKS_BIGQUERY_AT_LEAST_ONCE_OUTLET_H
#define SINKS_BIGQUERY_AT_LEAST_ONCE_OUTLET_H

#include "sinks/bigquery/at_least_once/contract.h"
#include "sinks/bigquery/table_writer.h"

enum outlet_phase {
    OUTLET_STREAMING = 0,
    OUTLET_REPAIRING,
    OUTLET_RECONCILING,
    OUTLET_CONTRACTING,
};

/* What mends a failed append. */
enum outlet_repair {
    OUTLET_FAIL = 0,
    OUTLET_CREATE_TABLE,
    OUTLET_UPDATE_SCHEMA,
    OUTLET_ROUTE_ROWS,
    OUTLET_RETRY,
};

struct outlet {
    struct writer_table base; /* its name is owned: behind the struct, and behind it */
    struct bytes stream;      /* the name of its default stream */
    size_t block_size;
    uint8_t phase;                 /* enum outlet_phase */
    struct bigquery_schema schema; /* of all rows that were submitted or are to be */
    struct bigquery_schema next;   /* of the one that waits for a refresh */
    struct append *filling;        /* or NULL */
    struct list batches;           /* struct append, not yet submitted */
    struct list repairs;           /* struct append that failed; the first may be renewed */
    size_t bytes;                  /* of all appends but the one that is filled */
    struct appender appender;
    bool resent;        /* the appender has the first of repairs */
    bool stale;         /* the next append needs another connection */
    bool table_created; /* by the repair that is made, */
    bool table_updated; /* which has also given it columns */
    uint32_t tries;     /* of the first of repairs, within the repair */
    uint32_t failures;  /* of these, within the recovery's budget, */
    uint32_t awaited;   /* and within that of columns */
    bool waits;         /* for the pause */
    struct parking_slot pause;
    struct reconcile reconcile;
    struct contract *contract; /* NULL: the table has none; owned */
    bool refreshes;            /* all before must be stored; then the next schema is the schema */
    bool swaps;                /* the reconciliation is for that */
};

extern const struct table_functions bigquery_outlet_functions;

#endif
