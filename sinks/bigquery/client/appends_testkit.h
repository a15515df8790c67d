/* What the tests of the sinks that append have in common: what was sent, and its answers. */
#ifndef SINKS_BIGQUERY_CLIENT_APPENDS_TESTKIT_H
#define SINKS_BIGQUERY_CLIENT_APPENDS_TESTKIT_H

#include "sinks/host_testkit.h"
#include "sinks/port/bigquery.h"

#define NONE UINT32_MAX

/* A user's describe: rows have one column. */
enum sink_user_result one_column(void *context,
                                 const struct sink_record *record,
                                 struct bytes destination,
                                 uint64_t *version,
                                 struct bytes *description);

/* The n-th latest send of a method that is no opening of a connection, from 0; NONE: there is none. */
uint32_t latest(const struct host *host, const struct port_method *method, uint32_t n);
uint32_t latest_append(const struct host *host, uint32_t n);

/* How many of them there are. */
uint32_t sends_of(const struct host *host, const struct port_method *method);
uint32_t appends(const struct host *host);
uint32_t openings(const struct host *host);

/* Answers of appends. */
void stored(struct host *host, uint32_t send, int64_t offset);
void refused(struct host *host,
             uint32_t send,
             enum port_code code,
             enum bigquery_storage_error reason);
/* Refused for one row, by its index. */
void bad_row(struct host *host, uint32_t send, enum port_code code, int64_t index);

/* Answer a unary call. */
void refuse_call(struct host *host, uint32_t send, enum port_code code);

#endif
