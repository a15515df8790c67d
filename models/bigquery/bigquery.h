/* The model of BigQuery: tables, their write streams and the connections that append to them, and jobs that
 * load, copy and query. */
#ifndef MODELS_BIGQUERY_BIGQUERY_H
#define MODELS_BIGQUERY_BIGQUERY_H

#include "sim/model.h"

/* Reader classes of the model. */
enum bigquery_reader {
    BIGQUERY_READER_QUERY = 0, /* whoever queries the table */
};

extern const struct model_type bigquery_model;

/* Write what a table is set to: the column that is its key, and its staleness in seconds (BQC-06, BQC-07).
 * A client's declaration of a table is noted with the digest of that. */
void bigquery_put_setting(struct bytes key, uint64_t staleness, struct byte_writer *writer);

#endif
