/* Writes rows as object containers of Avro 1.11, which load jobs read: a header with the schema, then
 * blocks of rows. Nothing is compressed, and nothing is kept from one call to the next.
 *
 *   file     header block...
 *   header   "Obj" 1, a map of metadata (avro.codec, avro.schema), the sync marker
 *   block    rows, size of their data, data, the sync marker
 *
 * A column becomes a field of the record, in the schema's order: NULLABLE a union with null, REPEATED an
 * array. Those types that Avro's own do not tell apart are named by what a load asks for: a TIMESTAMP is
 * timestamp-micros, a DATETIME local-timestamp-micros (a load refuses it as text), a DATE a date, and
 * JSON is a string of sqlType JSON. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_AVRO_H
#define SINKS_BIGQUERY_FILE_LOADS_AVRO_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/port/bigquery.h"

#define AVRO_SYNC_SIZE 16u

/* Whether a file can have this schema: at least one column, of a known type and mode, whose name is one in
 * Avro, and no two of one name. O(columns squared). */
bool avro_schema_is_valid(const struct bigquery_table_schema *schema);

/* Write the header. The schema must be valid. The marker is to be unlike what rows hold: random bytes. */
void avro_write_header(const struct bigquery_table_schema *schema,
                       const uint8_t sync[AVRO_SYNC_SIZE],
                       struct byte_writer *writer);

/* Write the data of a row that is given in protobuf's wire form, field n for the n-th column, from 1; of
 * several values of a column that is not REPEATED the last one counts. ERR_OK; ERR_INVALID: the bytes are
 * no row, a value is not of its column's type, a REQUIRED column has none, or a field belongs to no
 * column; what was written is to be thrown away. */
MUST_USE enum err avro_write_row(const struct bigquery_table_schema *schema,
                                 struct bytes row,
                                 struct byte_writer *writer);

/* Write a block of so many rows, at least one, whose data avro_write_row wrote. */
void avro_write_block(uint64_t row_count,
                      struct bytes data,
                      const uint8_t sync[AVRO_SYNC_SIZE],
                      struct byte_writer *writer);

#endif
