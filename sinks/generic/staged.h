/* The halves of generic-staged, and the bytes of its envelopes.
 *
 *   offset  size  what
 *   0       1     version
 *   1       8     identity: the nonce of the record's event
 *   9       4     checksum of what follows
 *   13      ..    a Put in canonical bytes
 */
#ifndef SINKS_GENERIC_STAGED_H
#define SINKS_GENERIC_STAGED_H

#include "sinks/port/generic.h"
#include "sinks/sink.h"

#define GENERIC_ENVELOPE_VERSION     1u
#define GENERIC_ENVELOPE_HEADER_SIZE 13u

/* The Put of an envelope, in a block of its own. ERR_OK, ERR_VERSION, ERR_TRUNCATED, ERR_INVALID,
 * ERR_LIMIT. */
MUST_USE enum err generic_envelope_decode(struct bytes envelope,
                                          const struct allocator *allocator,
                                          struct generic_put_request **put,
                                          size_t *block_size);

extern const struct sink_half generic_staged_writer_half;
extern const struct sink_half generic_staged_committer_half;

#endif
