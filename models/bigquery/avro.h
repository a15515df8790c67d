/* Reads object containers of Avro 1.11 as a load job does: not compressed, a record at the top, whose fields
 * are values of one type, unions of one with null, or arrays of one. Bytes may be hostile. */
#ifndef MODELS_BIGQUERY_AVRO_H
#define MODELS_BIGQUERY_AVRO_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/port/bigquery.h"

#include <stdbool.h>
#include <stdint.h>

#define AVRO_COLUMN_MAX  32u
#define AVRO_MARKER_SIZE 16u

struct avro_column {
    struct bytes name;
    uint8_t type;        /* enum bigquery_field_type: what its logical type says */
    uint8_t plain_type;  /* what it is without */
    uint8_t mode;        /* enum bigquery_field_mode */
    uint8_t null_branch; /* of a NULLABLE one: 0 or 1 */
};

/* A value, or the items of an array. */
struct avro_cell {
    bool is_null;
    int64_t number;     /* of long, int and boolean */
    struct bytes bytes; /* of string and bytes; of an array, its blocks */
};

struct avro_file {
    struct avro_column columns[AVRO_COLUMN_MAX]; /* read */
    uint32_t column_count;                       /* read */
    struct byte_reader reader;                   /* private */
    uint64_t rows_left;                          /* private: of the block */
    size_t block_end;                            /* private */
    const uint8_t *marker;                       /* private */
};

/* Begin to read, borrowing the bytes. ERR_OK; ERR_TRUNCATED: they end within the header; ERR_INVALID: they
 * are no such file. */
MUST_USE enum err avro_open(struct avro_file *file, struct bytes bytes);

/* Read the next row into values, parallel to the columns; found is false at the end of the file. ERR_OK;
 * ERR_TRUNCATED, ERR_INVALID: from there on the file cannot be read. */
MUST_USE enum err avro_next(struct avro_file *file, struct avro_cell *values, bool *found);

/* The items of an array that was read: start with zeroed ones. False at the end. */
struct avro_items {
    size_t offset;
    uint64_t left; /* of the block */
};
bool avro_item(const struct avro_column *column,
               const struct avro_cell *array,
               struct avro_items *items,
               struct avro_cell *item);

#endif
