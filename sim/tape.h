/* Tapes at rest: text for people and regressions, sparse binary for the fuzzer.
 *
 * Text, one line per entry, readable and editable, '#' starts a comment:
 *
 *     sinkproof-tape 1
 *     scenario cloudtasks/exactly-once
 *     profile documented
 *     identity 0x000000000000002a
 *     cloudtasks.create.fate/writer0#3 = applied_answer_lost (2/6)
 *
 * Header lines come first, in this order; scenario and profile may be absent.
 */
#ifndef SIM_TAPE_H
#define SIM_TAPE_H

#include "sim/choice.h"

#define TAPE_NAME_MAX 128

struct tape_header {
    char scenario[TAPE_NAME_MAX];
    char profile[32];
};

/* Where and why a tape could not be read. */
struct tape_fault {
    uint32_t line; /* from 1 */
    char message[200]; /* place, value seen, what is allowed */
};

/* Write a tape as text. Grows nothing: measures when the writer's capacity is too small. */
void tape_write_text(const struct tape *tape, const struct tape_header *header,
                     const struct choice_registry *registry, struct byte_writer *writer);

/* Read a tape from text into tape->entries (capacity set by the caller). Duplicate entries for one
 * (site, lane, ordinal), unknown sites, outcomes or lanes, values out of range are errors.
 * ERR_OK, ERR_INVALID, ERR_VERSION, ERR_TRUNCATED, ERR_LIMIT; on error *fault says where. */
MUST_USE enum err tape_read_text(struct bytes text, const struct choice_registry *registry,
                                 struct tape *tape, struct tape_header *header,
                                 struct tape_fault *fault);

/* Binary: any bytes decode to some tape (for the fuzzer): 8 bytes per entry, site taken modulo the
 * registry, lane and ordinal masked, value modulo the menu; a tail shorter than an entry is
 * ignored, later duplicates are dropped. */
void tape_read_fuzz(struct bytes source, const struct choice_registry *registry, struct tape *tape);
void tape_write_fuzz(const struct tape *tape, const struct choice_registry *registry,
                     struct byte_writer *writer);

#endif
