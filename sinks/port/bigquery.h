/* The vocabulary of BigQuery. sinks/port/bigquery.def says which fields each struct has and which
 * methods there are: struct bigquery_append_rows_request with bigquery_append_rows_request_message,
 * method bigquery_append_rows_method, and so on. */
#ifndef SINKS_PORT_BIGQUERY_H
#define SINKS_PORT_BIGQUERY_H

#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

/* google.cloud.bigquery.storage.v1.WriteStream.Type. */
enum bigquery_stream_type {
    BIGQUERY_STREAM_TYPE_NONE = 0,
    BIGQUERY_COMMITTED = 1,
    BIGQUERY_PENDING = 2,
    BIGQUERY_BUFFERED = 3,
};

/* google.protobuf.FieldDescriptorProto.Type, as far as rows are written with them. */
enum bigquery_proto_type {
    BIGQUERY_TYPE_NONE = 0,
    BIGQUERY_TYPE_INT64 = 3,
    BIGQUERY_TYPE_STRING = 9,
    BIGQUERY_TYPE_BYTES = 12,
};

/* google.cloud.bigquery.storage.v1.RowError.RowErrorCode. */
enum bigquery_row_error_code {
    BIGQUERY_ROW_ERROR_NONE = 0,
    BIGQUERY_ROW_FIELDS_ERROR = 1,
};

/* google.cloud.bigquery.storage.v1.StorageError.StorageErrorCode: the reason of a cause (BQW-45). */
enum bigquery_storage_error {
    BIGQUERY_STORAGE_ERROR_NONE = 0,
    BIGQUERY_TABLE_NOT_FOUND = 1,
    BIGQUERY_STREAM_ALREADY_COMMITTED = 2,
    BIGQUERY_STREAM_NOT_FOUND = 3,
    BIGQUERY_INVALID_STREAM_TYPE = 4,
    BIGQUERY_INVALID_STREAM_STATE = 5,
    BIGQUERY_STREAM_FINALIZED = 6,
    BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS = 7,
    BIGQUERY_OFFSET_ALREADY_EXISTS = 8,
    BIGQUERY_OFFSET_OUT_OF_RANGE = 9,
};

/* Types of a table's columns, by their names in REST. */
enum bigquery_field_type {
    BIGQUERY_FIELD_TYPE_NONE = 0,
    BIGQUERY_FIELD_STRING,
    BIGQUERY_FIELD_BYTES,
    BIGQUERY_FIELD_INTEGER,
    BIGQUERY_FIELD_BOOLEAN,
    BIGQUERY_FIELD_TIMESTAMP,
    BIGQUERY_FIELD_DATE,
    BIGQUERY_FIELD_DATETIME,
    BIGQUERY_FIELD_JSON,
    BIGQUERY_FIELD_TYPE_END,
};

enum bigquery_field_mode {
    BIGQUERY_FIELD_NULLABLE = 0,
    BIGQUERY_FIELD_REQUIRED,
    BIGQUERY_FIELD_REPEATED,
    BIGQUERY_FIELD_MODE_END,
};

/* BQJ-10. 0 is the default of the job's kind: a load appends, others ask for an empty table. */
enum bigquery_write_disposition {
    BIGQUERY_WRITE_DEFAULT = 0,
    BIGQUERY_WRITE_APPEND,
    BIGQUERY_WRITE_EMPTY,
    BIGQUERY_WRITE_TRUNCATE,
    BIGQUERY_WRITE_TRUNCATE_DATA,
    BIGQUERY_WRITE_DISPOSITION_END,
};

enum bigquery_create_disposition {
    BIGQUERY_CREATE_IF_NEEDED = 0,
    BIGQUERY_CREATE_NEVER,
    BIGQUERY_CREATE_DISPOSITION_END,
};

enum bigquery_source_format {
    BIGQUERY_FORMAT_NONE = 0,
    BIGQUERY_AVRO,
    BIGQUERY_PARQUET,
    BIGQUERY_SOURCE_FORMAT_END,
};

/* Bits of schema_update_options. */
enum bigquery_schema_update {
    BIGQUERY_ALLOW_FIELD_ADDITION = 1,
    BIGQUERY_ALLOW_FIELD_RELAXATION = 2,
};

enum bigquery_job_state {
    BIGQUERY_JOB_STATE_NONE = 0,
    BIGQUERY_JOB_PENDING,
    BIGQUERY_JOB_RUNNING,
    BIGQUERY_JOB_DONE,
};

/* Reasons of REST errors (BQJ-17): of a job's error, and the reason of the cause of a call that has an
 * HTTP status. Numbers are this port's, apart from those of enum bigquery_storage_error. */
enum bigquery_reason {
    BIGQUERY_REASON_NONE = 0,
    BIGQUERY_REASON_INVALID = 100,
    BIGQUERY_REASON_NOT_FOUND,
    BIGQUERY_REASON_DUPLICATE,
    BIGQUERY_REASON_ACCESS_DENIED,
    BIGQUERY_REASON_RATE_LIMIT_EXCEEDED,
    BIGQUERY_REASON_QUOTA_EXCEEDED,
    BIGQUERY_REASON_BACKEND_ERROR,
    BIGQUERY_REASON_INTERNAL_ERROR,
    BIGQUERY_REASON_STOPPED,
    BIGQUERY_REASON_CONDITION_NOT_MET,
};

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/bigquery.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service bigquery_service;

#endif
