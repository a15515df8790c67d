/* What an error of BigQuery's write API asks for (section 3.2 of the sink's specification), and one of the calls that
 * make and change tables (section 3.4). */
#ifndef SINKS_BIGQUERY_CLIENT_CLASSIFY_H
#define SINKS_BIGQUERY_CLIENT_CLASSIFY_H

#include "sinks/port/port.h"

#include <stdbool.h>

enum bigquery_verdict {
    BIGQUERY_VERDICT_TERMINAL = 0,
    BIGQUERY_VERDICT_TRANSIENT,       /* try again */
    BIGQUERY_VERDICT_WRITER_CLOSED,   /* the client's own connection is final: open another */
    BIGQUERY_VERDICT_OFFSET_EXISTS,   /* something lies at the offset */
    BIGQUERY_VERDICT_OFFSET_AHEAD,    /* an append before this one is missing */
    BIGQUERY_VERDICT_STREAM_UNUSABLE, /* finalized, not found, or of another state */
    BIGQUERY_VERDICT_SCHEMA_MISMATCH, /* the table lacks fields of the rows */
    BIGQUERY_VERDICT_MISSING_TABLE,   /* not there, or masked as denied (BQW-46) */
    BIGQUERY_VERDICT_ROWS,            /* some rows are none; the answer names them */
};

/* has_row_errors: the answer names bad rows. Rows that are named under a transient code say nothing
 * about the rows: the whole batch is tried again. */
enum bigquery_verdict bigquery_classify(const struct port_status *status, bool has_row_errors);

/* Too many changes of one table in a short time: 403 with a reason. What is 429 is transient as it is. */
bool bigquery_is_rate_limited(const struct port_status *status);

/* A change was made for a table that is another one by now (M16), or that changes too often. */
bool bigquery_is_lost_race(const struct port_status *status);

/* The status of appends whose connection the client gave up. */
struct port_status bigquery_writer_closed(void);

#endif
