/* Tapes at rest: text for people and regressions, sparse binary for the fuzzer.
 *
 * Text, one line per entry in draw order, readable and editable:
 *
 *     sinkproof-tape 1
 *     scenario cloudtasks/exactly-once
 *     profile documented
 *     identity 0x000000000000002a
 *     cloudtasks.create.fate/writer0#3 = applied_answer_lost (2/6)
 *     end 1
 *
 * A tape that is kept says, between identity and entries, what its run is to show:
 *
 *     verdict fails
 *     oracle at-least-once
 *     subject record 7
 *     digest 0x0123456789abcdef
 *
 * Header lines come first, in this order; all but identity may be absent. The last line counts the
 * entries, so that a file that lost whole lines is noticed. A '#' at the start of a line or after a
 * blank starts a comment, but not on header lines that hold a name, which may hold it. Empty lines
 * are skipped.
 *
 * In (2/6), 6 is the size of the menu when the tape was written, and 2 the outcome's index in it. A
 * menu that has kept its size must still have the outcome there. A menu of another size is found by
 * the outcome's name, and the entry keeps the old size as its bound (unless the outcome now stands
 * past it), so that a replay counts it as drift.
 */
#ifndef SIM_TAPE_H
#define SIM_TAPE_H

#include "sim/choice.h"

#define TAPE_NAME_MAX 128

/* Empty, and a digest of 0: the line is absent. */
struct tape_header {
    char scenario[TAPE_NAME_MAX];
    char profile[32];
    char verdict[16]; /* what the run came to when the tape was kept */
    char oracle[48];  /* that it breaks, or broke before what it found was mended */
    char subject[64]; /* of that finding */
    uint64_t digest;  /* of the run */
};

/* Where and why a tape could not be read. */
struct tape_fault {
    uint32_t line;     /* from 1 */
    char message[200]; /* one line: place, value seen, what is allowed */
};

/* Write a tape as text, entries in their order in the tape (a recorded one is in draw order). Grows
 * nothing: measures when the writer's capacity is too small. An entry whose site or value the
 * registry does not know is a CHECK. header may be empty; its control characters become '?'. */
void tape_write_text(const struct tape *tape,
                     const struct tape_header *header,
                     const struct choice_registry *registry,
                     struct byte_writer *writer);

/* Read a tape from text into tape->entries (capacity set by the caller). Duplicate entries for one
 * (site, lane, ordinal), unknown sites, outcomes or lanes, values out of range are errors.
 * ERR_OK, ERR_INVALID, ERR_VERSION, ERR_LIMIT (more entries than the capacity), ERR_TRUNCATED (no
 * end line, an end line that counts more than there is, or an error in a last line that lacks its
 * newline). On error *fault says where, header and tape are unchanged but for the memory behind
 * tape->entries. Quadratic in the entries, for the duplicates. */
MUST_USE enum err tape_read_text(struct bytes text,
                                 const struct choice_registry *registry,
                                 struct tape *tape,
                                 struct tape_header *header,
                                 struct tape_fault *fault);

/* The tape's entry for the draw that an entry names, or NULL. Linear in the entries. */
const struct tape_entry *tape_find(const struct tape *tape, const struct tape_entry *draw);

/* Binary: any bytes decode to some tape (for the fuzzer). 8 bytes per entry, little-endian: site
 * key (2 bytes; one the registry does not know is taken modulo its sites), lane (2; kind brought into
 * range), ordinal (3), value (1; modulo the menu, and 0 is no entry). A tail shorter than an entry
 * is ignored, later duplicates are dropped, reading stops at the tape's capacity. The identity is
 * not in it: reading keeps tape->identity. */
void tape_read_fuzz(struct bytes source, const struct choice_registry *registry, struct tape *tape);

/* Entries with ordinals from 2^24 on are left out. */
void tape_write_fuzz(const struct tape *tape,
                     const struct choice_registry *registry,
                     struct byte_writer *writer);

#endif
