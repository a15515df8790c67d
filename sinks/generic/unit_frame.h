/* The committable of the transactional sink: which unit holds the rows of one writer and one interval,
 * and where it comes from. The frame is
 *
 *   version u32 | size u32, application | size u32, unit | sequence u64 | rows u64 | checksum u32
 *
 * big-endian; the checksum is that of all before it. Decoding is safe against hostile bytes. */
#ifndef SINKS_GENERIC_UNIT_FRAME_H
#define SINKS_GENERIC_UNIT_FRAME_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define UNIT_FRAME_VERSION  1u
#define UNIT_FRAME_TEXT_MAX 1024u
#define UNIT_NAME_SIZE      32u /* of the units that the sink makes: hex digits */

struct unit_frame {
    struct bytes application; /* that staged it; borrowed */
    struct bytes unit;        /* borrowed */
    uint64_t sequence;        /* of the checkpoint that it was handed over with */
    uint64_t rows;
};

size_t unit_frame_size(const struct unit_frame *staged);

/* Write the frame: unit_frame_size bytes. Returns the unit as it stands in there. */
struct bytes unit_frame_encode(const struct unit_frame *staged, uint8_t *data);

/* Read a frame; its texts point into source. ERR_OK, ERR_TRUNCATED, ERR_VERSION, ERR_CORRUPT,
 * ERR_INVALID. */
MUST_USE enum err unit_frame_decode(struct bytes source, struct unit_frame *staged);

/* The id of a unit, from bits that never come again: UNIT_NAME_SIZE hex digits. */
void unit_frame_name(uint64_t nonce, char unit[UNIT_NAME_SIZE]);

#endif
