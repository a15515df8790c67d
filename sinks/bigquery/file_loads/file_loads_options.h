/* Options of the sink that writes by load jobs, what they must be, and what the sink reports. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_FILE_LOADS_OPTIONS_H
#define SINKS_BIGQUERY_FILE_LOADS_FILE_LOADS_OPTIONS_H

#include "sinks/bigquery/file_loads/plan.h"
#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

enum file_loads_option {
#define FILE_LOADS_OPTION(name, key, type, fallback, text, min, max, names, sentence)              \
    FILE_LOADS_OPTION_##name,
#include "sinks/bigquery/file_loads/file_loads_options.def"
#undef FILE_LOADS_OPTION
    FILE_LOADS_OPTION_COUNT,
};

/* Values of write_disposition. */
enum file_loads_write {
    FILE_LOADS_WRITE_APPEND = 0,
    FILE_LOADS_WRITE_TRUNCATE,
    FILE_LOADS_WRITE_TRUNCATE_DATA,
    FILE_LOADS_WRITE_EMPTY,
    FILE_LOADS_WRITE_COUNT,
};

extern const struct sink_option file_loads_options[FILE_LOADS_OPTION_COUNT];

enum file_loads_phase {
#define FILE_LOADS_PHASE(name, text) FILE_LOADS_PHASE_##name,
#include "sinks/bigquery/file_loads/file_loads_taps.def"
#undef FILE_LOADS_PHASE
    FILE_LOADS_PHASE_COUNT,
};

enum file_loads_metric {
#define FILE_LOADS_METRIC(name, text) FILE_LOADS_METRIC_##name,
#include "sinks/bigquery/file_loads/file_loads_taps.def"
#undef FILE_LOADS_METRIC
    FILE_LOADS_METRIC_COUNT,
};

/* Option values by their meaning; texts are borrowed. */
struct file_loads_config {
    struct bytes table;
    struct bytes staging_path; /* "gs://bucket" and perhaps "/path" */
    bool creates;              /* a table that is not there */
    uint8_t format;            /* enum bigquery_source_format */
    struct bytes location;     /* empty: the dataset's */
    uint64_t file_bytes_max;
    nanos checkpoint_interval_min;
    bool allow_new_fields;
    bool allow_relaxation;
    struct retry_schedule poll; /* its attempts do not count */
    struct retry_schedule reconcile;
    nanos request_timeout;
    struct plan_config plan;
    uint32_t jobs_at_once;
    uint32_t queries_at_once;
};

/* Check the options and read them. ERR_OK, or ERR_INVALID and one line in message. */
MUST_USE enum err file_loads_configure(const struct sink_option_value *options,
                                       struct file_loads_config *config,
                                       struct byte_writer *message);

/* Whether another attempt may mend what an answer says. */
bool file_loads_may_mend(const struct port_status *status);

/* The parts of gs://BUCKET/NAME; false when it is no such name. */
bool file_loads_uri_parse(struct bytes uri, struct bytes *bucket, struct bytes *name);

#endif
