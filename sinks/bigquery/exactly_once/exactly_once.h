/* "bigquery-exactly-once": rows go into BUFFERED write streams at explicit offsets, and a completed
 * checkpoint moves the cursor of each stream up to what it owns.
 *
 * "bigquery-committed" is the same without the second phase: COMMITTED streams show each row when it is
 * stored. Offsets keep the client's repeats apart from its rows, and nothing keeps what a rolled back
 * attempt stored from being there (BQ-EO-16). */
#ifndef SINKS_BIGQUERY_EXACTLY_ONCE_EXACTLY_ONCE_H
#define SINKS_BIGQUERY_EXACTLY_ONCE_EXACTLY_ONCE_H

#include "sinks/sink.h"

extern const struct sink_half bigquery_exactly_once_writer_half;
extern const struct sink_half bigquery_exactly_once_committer_half;
extern const struct sink_type bigquery_exactly_once;

extern const struct sink_half bigquery_committed_writer_half;
extern const struct sink_type bigquery_committed;

#endif
