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

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/bigquery.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service bigquery_service;

#endif
