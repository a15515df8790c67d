/* What the exactly-once sink keeps in checkpoints: a piece of writer state for each table, and what a
 * committer is to flush. Frames are big-endian, and their checksum is that of all before it:
 *
 *   piece         version u32 | size u32, table | size u32, stream | next offset u64 | checkpoint u64 |
 *                 checksum u32
 *   committable   version u32 | size u32, stream | offset u64 | subtask u32 | checksum u32
 *
 * Decoding is safe against hostile bytes. */
#ifndef SINKS_BIGQUERY_FRAMES_H
#define SINKS_BIGQUERY_FRAMES_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define BIGQUERY_PIECE_VERSION       2u
#define BIGQUERY_COMMITTABLE_VERSION 1u
#define BIGQUERY_STREAM_NAME_MAX     1536u

struct bigquery_piece {
    struct bytes table;
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

#endif
