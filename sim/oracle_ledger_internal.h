/* Inside of the ledger: how its files call each other. Not for oracles.
 *
 *   oracle_ledger.c            records, checkpoints, wire, world, dispatch, end
 *   oracle_ledger_envelopes.c  identities and envelopes
 *   oracle_ledger_faults.c     injected faults and stretches without them
 */
#ifndef SIM_ORACLE_LEDGER_INTERNAL_H
#define SIM_ORACLE_LEDGER_INTERNAL_H

#include "sim/oracle_ledger.h"

#define LEDGER_SLOTS_MIN 64u

/* Make room for one more item by doubling; the old memory stays behind in the arena. */
void *ledger_grown(
    struct ledger *ledger, const void *items, uint32_t count, uint32_t *capacity, size_t item_size);

/* Identities and envelopes. */
struct ledger_identity *ledger_identity_or_new(struct ledger *ledger, uint64_t identity);
struct ledger_envelope *ledger_envelope_known_to(const struct ledger *ledger,
                                                 const struct ledger_identity *identity,
                                                 const struct journal_entry *entry);
struct ledger_envelope *ledger_envelope_of(const struct ledger *ledger,
                                           const struct ledger_identity *identity);
/* An attempt must restore what the checkpoint holds: of so many regions this one, or all (0 of 1). */
void ledger_expect_restored(struct ledger *ledger,
                            uint16_t attempt,
                            const struct stored_checkpoint *checkpoint,
                            uint32_t region,
                            uint32_t regions);
/* The completed checkpoint holds these. */
void ledger_note_collected(struct ledger *ledger,
                           const struct stored_checkpoint *checkpoint,
                           uint32_t cut_before);
void ledger_note_staged(struct ledger *ledger,
                        const struct journal_entry *entry,
                        uint32_t position);
void ledger_note_received(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_restored(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_not_restored(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_commit_request(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_finalised(struct ledger *ledger, const struct journal_entry *entry);

/* Faults. */
void ledger_note_fault(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_crashed(struct ledger *ledger, const struct journal_entry *entry);
void ledger_note_heal(struct ledger *ledger, nanos now);

#endif
