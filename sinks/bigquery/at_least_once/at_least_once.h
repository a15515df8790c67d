/* "bigquery-at-least-once": rows go to the default stream of their table, which shows them at once; a
 * barrier waits until all of them are stored. */
#ifndef SINKS_BIGQUERY_AT_LEAST_ONCE_AT_LEAST_ONCE_H
#define SINKS_BIGQUERY_AT_LEAST_ONCE_AT_LEAST_ONCE_H

#include "sinks/sink.h"

extern const struct sink_half bigquery_at_least_once_writer_half;
extern const struct sink_type bigquery_at_least_once;

#endif
