/* "bigquery-file-loads": rows are staged as files in object storage, and a completed checkpoint loads its
 * files by jobs whose ids say what they load. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_FILE_LOADS_H
#define SINKS_BIGQUERY_FILE_LOADS_FILE_LOADS_H

#include "sinks/sink.h"

extern const struct sink_half bigquery_file_loads_writer_half;
extern const struct sink_half bigquery_file_loads_committer_half;
extern const struct sink_type bigquery_file_loads;

#endif
