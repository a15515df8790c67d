/* What a row says of itself when it changes the row of its primary key (section 5.4 of the sink's
 * specification): fields at its end that are no columns. */
#ifndef SINKS_BIGQUERY_AT_LEAST_ONCE_CHANGE_H
#define SINKS_BIGQUERY_AT_LEAST_ONCE_CHANGE_H

#include "sinks/base/bytes.h"
#include "sinks/sink.h"

#include <stdbool.h>

/* Room for what bigquery_change_write writes. */
#define BIGQUERY_CHANGE_SIZE_MAX 40u

/* Write the fields of a record's row: UPSERT or DELETE, and its place in the source, so that a replay says
 * the same of it again. False: the record is no change that a row can make. */
bool bigquery_change_write(const struct sink_record *record,
                           bool with_sequence,
                           struct byte_writer *writer);

#endif
