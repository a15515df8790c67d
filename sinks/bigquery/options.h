/* Options of the BigQuery sinks, what they must be, and what the sinks report. */
#ifndef SINKS_BIGQUERY_OPTIONS_H
#define SINKS_BIGQUERY_OPTIONS_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* What orders the changes of a row. */
enum bigquery_sequence {
    BIGQUERY_SEQUENCE_POSITION = 0,
    BIGQUERY_SEQUENCE_NONE,
};

/* What becomes of the contract of a table whose rows change others (section 5.4). */
enum bigquery_contract {
    BIGQUERY_CONTRACT_UNCHECKED = 0,
    BIGQUERY_CONTRACT_VERIFY_ONLY,
    BIGQUERY_CONTRACT_RECONCILE,
};

/* Columns of a primary key at most. */
#define BIGQUERY_KEY_COLUMNS_MAX 16u

enum bigquery_option {
#define BIGQUERY_OPTION(name, key, type, fallback, text, min, max, names, sentence)                \
    BIGQUERY_OPTION_##name,
#include "sinks/bigquery/options.def"
#undef BIGQUERY_OPTION
    BIGQUERY_OPTION_COUNT,
};

extern const struct sink_option bigquery_options[BIGQUERY_OPTION_COUNT];

enum bigquery_phase {
#define BIGQUERY_PHASE(name, text) BIGQUERY_PHASE_##name,
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_PHASE
    BIGQUERY_PHASE_COUNT,
};

/* Of the at-least-once sink. */
enum bigquery_eager_phase {
#define BIGQUERY_EAGER_PHASE(name, text) BIGQUERY_EAGER_PHASE_##name,
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_EAGER_PHASE
    BIGQUERY_EAGER_PHASE_COUNT,
};

enum bigquery_metric {
#define BIGQUERY_METRIC(name, text) BIGQUERY_METRIC_##name,
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_METRIC
    BIGQUERY_METRIC_COUNT,
};

/* Options of the at-least-once sink only, behind the common ones. */
enum bigquery_eager_option {
    BIGQUERY_EAGER_OPTION_BEFORE = BIGQUERY_OPTION_COUNT - 1,
#define BIGQUERY_OPTION(name, key, type, fallback, text, min, max, names, sentence)                \
    BIGQUERY_EAGER_OPTION_##name,
#include "sinks/bigquery/at_least_once/at_least_once_options.def"
#undef BIGQUERY_OPTION
    BIGQUERY_EAGER_OPTION_COUNT,
};

extern const struct sink_option bigquery_eager_options[BIGQUERY_EAGER_OPTION_COUNT];

/* Why a mode that commits at checkpoints refuses a job, or NULL. Batch mode needs none of them (section 1 of the
 * sink's specification, "Graph-construction guards"). */
const char *bigquery_staged_refusal(const struct sink_job *job);

/* Option values by their meaning; the text is borrowed. */
struct bigquery_config {
    struct bytes table;
    uint32_t stream_type; /* enum bigquery_stream_type, of the streams that are created */
    bool creates;         /* a table that is not there */
    bool adds_columns;    /* to a table that lacks them */
    bool relaxes_columns; /* of a table, that are REQUIRED */
    size_t append_bytes_max;
    size_t row_bytes_max;
    uint32_t in_flight_max;
    size_t in_flight_bytes_max;
    nanos idle_timeout;
    struct retry_schedule recovery; /* repairs of the connector's */
    struct retry_schedule retry;    /* within a connection */
    nanos retry_duration_max;
    nanos response_timeout;
    nanos request_timeout;
    nanos flush_interval;   /* 0: only barriers flush */
    bool changes;           /* rows change those of their primary key, */
    bool sequence;          /* and say in which order */
    uint8_t table_contract; /* enum bigquery_contract */
    struct bytes primary_key;
    nanos max_staleness; /* 0: not the sink's to say */
};

/* Check the options and read them. ERR_OK, or ERR_INVALID and one line in message. */
MUST_USE enum err bigquery_configure(const struct sink_option_value *options,
                                     struct bigquery_config *config,
                                     struct byte_writer *message);

/* The same for the options of the at-least-once sink. */
MUST_USE enum err bigquery_configure_eager(const struct sink_option_value *options,
                                           struct bigquery_config *config,
                                           struct byte_writer *message);

#define BIGQUERY_TABLE_NAME_MAX 1024u

/* The parts of projects/P/datasets/D/tables/T; false when it is no such name. */
struct bigquery_table_name {
    struct bytes project;
    struct bytes dataset;
    struct bytes table;
};
bool bigquery_table_parse(struct bytes name, struct bigquery_table_name *parts);

#endif
