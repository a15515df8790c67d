/* What the BigQuery sinks keep in checkpoints. The exactly-once sink: a piece of writer state for each table, and what a
 * committer is to flush. Frames are big-endian, and their checksum is that of all before it:
 *
 *   piece, 2      version u32 | size u32, table | size u32, stream | next offset u64 | checkpoint u64 |
 *                 checksum u32
 *   piece, 1      the same without a table: it is the one that the sink has, if it has one for all
 *   committable   version u32 | size u32, stream | offset u64 | subtask u32 | checksum u32
 *
 * and what the sink that writes by load jobs keeps of a staged file:
 *
 *   file, 3       version u32 | size u32, job | size u32, table | size u32, uri | bytes u64 | rows u64 |
 *                 checkpoint u64 | format u32 | checksum u32
 *   file, 2       the same without a format: it is Avro
 *   file, 1       had neither checkpoint nor job, and is no longer read
 *
 * Decoding is safe against hostile bytes. */
#ifndef SINKS_BIGQUERY_FRAMES_H
#define SINKS_BIGQUERY_FRAMES_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/bigquery/file_loads/plan.h"

#include <stddef.h>
#include <stdint.h>

#define BIGQUERY_PIECE_VERSION       2u
#define BIGQUERY_PIECE_VERSION_BARE  1u /* without its table */
#define BIGQUERY_COMMITTABLE_VERSION 1u
#define BIGQUERY_STREAM_NAME_MAX     1536u

struct bigquery_piece {
    struct bytes table;  /* empty: of version 1, which does not say */
    struct bytes stream; /* empty: none yet */
    uint64_t next_offset;
    uint64_t checkpoint;
};

struct bigquery_committable {
    struct bytes stream;
    uint64_t offset;  /* of the last row to make readable */
    uint32_t subtask; /* that wrote it; for people */
};

size_t bigquery_piece_size(const struct bigquery_piece *piece);
void bigquery_piece_encode(const struct bigquery_piece *piece, uint8_t *data);
/* ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT, ERR_INVALID. Texts point into source. */
MUST_USE enum err bigquery_piece_decode(struct bytes source, struct bigquery_piece *piece);

size_t bigquery_committable_size(const struct bigquery_committable *committable);
void bigquery_committable_encode(const struct bigquery_committable *committable, uint8_t *data);
/* ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT, ERR_INVALID. The text points into source. */
MUST_USE enum err bigquery_committable_decode(struct bytes source,
                                              struct bigquery_committable *committable);

#define BIGQUERY_FILE_VERSION      3u
#define BIGQUERY_FILE_VERSION_AVRO 2u /* always */

size_t bigquery_file_size(const struct staged_file *file);
void bigquery_file_encode(const struct staged_file *file, uint8_t *data);
/* ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT, ERR_INVALID. Texts point into source. */
MUST_USE enum err bigquery_file_decode(struct bytes source, struct staged_file *file);

#endif
