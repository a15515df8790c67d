#include "sim/oracle.h"
#include "sim/oracle_ledger_internal.h"

/* --- identities -------------------------------------------------------------------------------- */

/* Identities are digests already: their bits need no mixing. */
static uint32_t slot_of(const struct ledger *ledger, uint64_t identity)
{
    const uint32_t mask = ledger->slot_count - 1;
    uint32_t slot = (uint32_t)(identity ^ identity >> 32) & mask;
    while (ledger->slots[slot] != 0 &&
           ledger->identities[ledger->slots[slot] - 1].identity != identity) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Twice as many slots; digests are kept with the identities. */
static void grow_slots(struct ledger *ledger)
{
    ledger->slot_count *= 2;
    ledger->slots = arena_take_zeroed(ledger->arena, ledger->slot_count * sizeof(ledger->slots[0]));
    for (uint32_t index = 0; index < ledger->identity_count; index++) {
        ledger->slots[slot_of(ledger, ledger->identities[index].identity)] = index + 1;
    }
}

struct ledger_identity *ledger_identity(const struct ledger *ledger, uint64_t identity)
{
    const uint32_t index = ledger->slots[slot_of(ledger, identity)];
    return index == 0 ? NULL : &ledger->identities[index - 1];
}

struct ledger_identity *ledger_identity_or_new(struct ledger *ledger, uint64_t identity)
{
    uint32_t slot = slot_of(ledger, identity);
    if (ledger->slots[slot] != 0) {
        return &ledger->identities[ledger->slots[slot] - 1];
    }
    if (ledger->identity_count == ledger->identity_capacity) {
        ledger->identities = ledger_grown(ledger,
                                          ledger->identities,
                                          ledger->identity_count,
                                          &ledger->identity_capacity,
                                          sizeof(ledger->identities[0]));
    }
    if ((ledger->identity_count + 1) * 2 > ledger->slot_count) {
        grow_slots(ledger);
        slot = slot_of(ledger, identity);
    }
    struct ledger_identity *item = &ledger->identities[ledger->identity_count];
    *item = (struct ledger_identity){.identity = identity};
    ledger->identity_count++;
    ledger->slots[slot] = ledger->identity_count;
    return item;
}

struct ledger_envelope *ledger_envelope_of(const struct ledger *ledger,
                                           const struct ledger_identity *identity)
{
    return identity->envelope == 0 ? NULL : &ledger->envelopes[identity->envelope - 1];
}

/* The staging that a sender of an attempt knows: a replaced one may send what it was granted, under
 * an identity that has been staged again since. */
struct ledger_envelope *ledger_envelope_known_to(const struct ledger *ledger,
                                                 const struct ledger_identity *identity,
                                                 const struct journal_entry *entry)
{
    struct ledger_envelope *current = ledger_envelope_of(ledger, identity);
    const uint16_t attempt = entry->attempt;
    if (current == NULL || ledger_is_current(ledger, entry) ||
        ledger_is_granted(current, attempt)) {
        return current;
    }
    struct ledger_envelope *known = NULL;
    for (uint32_t index = identity->latest; index != 0;
         index = ledger->envelopes[index - 1].previous) {
        struct ledger_envelope *envelope = &ledger->envelopes[index - 1];
        if (ledger_is_granted(envelope, attempt)) {
            return envelope;
        }
        known = known == NULL && envelope->attempt <= attempt ? envelope : known;
    }
    return known == NULL ? current : known;
}

/* Set what the current entry names, and return the envelope or NULL. */
static inline struct ledger_envelope *name_identity(struct ledger *ledger,
                                                    const struct journal_entry *entry)
{
    ledger->identity_or_null = ledger_identity(ledger, entry->identity);
    if (ledger->identity_or_null != NULL) {
        ledger->envelope_or_null = ledger_envelope_of(ledger, ledger->identity_or_null);
    }
    return ledger->envelope_or_null;
}

bool ledger_is_live(const struct ledger *ledger, const struct ledger_envelope *envelope)
{
    return envelope->place != PLACE_NONE &&
           envelope->place_attempt == ledger->attempts[envelope->subtask];
}

void ledger_note_collected(struct ledger *ledger,
                           const struct stored_checkpoint *checkpoint,
                           uint32_t cut_before)
{
    ledger->batches_held = 0;
    for (uint32_t of = 0; of < checkpoint->collection_count; of++) {
        const struct stored_collection *collection = &checkpoint->collections[of];
        for (uint32_t index = 0; index < collection->request_count; index++) {
            const struct ledger_identity *identity =
                ledger_identity(ledger, collection->requests[index]->identity);
            if (identity != NULL && identity->envelope != 0) {
                struct ledger_envelope *envelope = &ledger->envelopes[identity->envelope - 1];
                envelope->collected = checkpoint->number;
                ledger->batches_held +=
                    envelope->record == 0 && envelope->checkpoint > cut_before ? 1 : 0;
            }
        }
    }
}

/* The staging of an identity that these bytes come from, or the current one if there is none. */
static uint32_t
staging_of(const struct ledger *ledger, const struct ledger_identity *identity, uint64_t value)
{
    for (uint32_t index = identity->envelope; index != 0;
         index = ledger->envelopes[index - 1].previous) {
        if (ledger->envelopes[index - 1].value == value) {
            return index;
        }
    }
    return identity->envelope;
}

void ledger_expect_restored(struct ledger *ledger,
                            uint16_t attempt,
                            const struct stored_checkpoint *checkpoint,
                            uint32_t region,
                            uint32_t regions)
{
    for (uint32_t of = 0; of < checkpoint->collection_count; of++) {
        const struct stored_collection *collection = &checkpoint->collections[of];
        if (collection->subtask % regions != region) {
            continue;
        }
        for (uint32_t index = 0; index < collection->request_count; index++) {
            const struct stored_request *request = collection->requests[index];
            struct ledger_identity *identity = ledger_identity(ledger, request->identity);
            if (identity == NULL || identity->envelope == 0) {
                continue;
            }
            const uint32_t at = staging_of(ledger, identity, request->value);
            struct ledger_envelope *envelope = &ledger->envelopes[at - 1];
            identity->envelope = at;
            if (envelope->expected != attempt) {
                envelope->expected = attempt;
                ledger->expected++;
            }
            if (envelope->record != 0) {
                ledger_record(ledger, envelope->record)->envelope = at;
            }
        }
    }
}

/* --- envelopes --------------------------------------------------------------------------------- */

static bool
is_at(const struct ledger *ledger, const struct ledger_envelope *envelope, enum ledger_place place)
{
    return envelope->place == place && ledger_is_live(ledger, envelope);
}

/* Let an envelope be where the lane of an entry is. */
static void put(struct ledger *ledger,
                struct ledger_envelope *envelope,
                enum ledger_place place,
                const struct journal_entry *entry)
{
    const uint32_t subtask = lane_index_of(entry->lane);
    CHECK(subtask < LEDGER_LANES);
    if (is_at(ledger, envelope, PLACE_WRITER) || is_at(ledger, envelope, PLACE_COMMITTER)) {
        ledger->held--;
        ledger->held_of[envelope->subtask]--;
    }
    if (place == PLACE_WRITER || place == PLACE_COMMITTER) {
        ledger->held++;
        ledger->held_of[subtask]++;
    }
    envelope->place = (uint8_t)place;
    envelope->place_attempt = ledger->attempts[subtask];
    envelope->subtask = (uint8_t)subtask;
}

static void judge_restaging(struct ledger *ledger,
                            struct ledger_identity *identity,
                            const struct journal_entry *entry)
{
    struct ledger_envelope *before = ledger_envelope_of(ledger, identity);
    if (before == NULL || !ledger_is_live(ledger, before)) {
        return;
    }
    if (ledger->facts->keyed && before->record != entry->record) {
        identity->shared = true;
    } else {
        ledger->misplaced = before->place == PLACE_FINALISED ? MISPLACED_STAGED_AFTER_FINALISED
                                                             : MISPLACED_STAGED_TWICE;
    }
    if (before->place != PLACE_FINALISED) {
        put(ledger, before, PLACE_NONE, entry);
    }
}

/* The latest envelope is the record's from now on. */
static void name_staged_record(struct ledger *ledger, record_id staged)
{
    if (staged == 0) {
        return;
    }
    struct ledger_record *record = ledger_record(ledger, staged);
    ledger->envelope_before = record->envelope;
    ledger->was_live =
        record->envelope != 0 && ledger_is_live(ledger, &ledger->envelopes[record->envelope - 1]);
    record->envelope = ledger->envelope_count;
}

void ledger_note_staged(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    struct ledger_identity *identity = ledger_identity_or_new(ledger, entry->identity);
    const bool in_timeline = ledger_is_current(ledger, entry);
    if (in_timeline) {
        judge_restaging(ledger, identity, entry);
    }
    if (ledger->envelope_count == ledger->envelope_capacity) {
        ledger->envelopes = ledger_grown(ledger,
                                         ledger->envelopes,
                                         ledger->envelope_count,
                                         &ledger->envelope_capacity,
                                         sizeof(ledger->envelopes[0]));
    }
    struct ledger_envelope *envelope = &ledger->envelopes[ledger->envelope_count];
    *envelope = (struct ledger_envelope){
        .identity = entry->identity,
        .value = entry->value,
        .staged_at = entry->time,
        .deadline = entry->b,
        .position = position,
        .record = entry->record,
        .checkpoint = entry->checkpoint,
        .previous = identity->latest,
        .attempt = entry->attempt,
    };
    ledger->envelope_count++;
    identity->latest = ledger->envelope_count;
    ledger->identity_or_null = identity;
    ledger->envelope_or_null = envelope;
    ledger->batches = ledger->batches || entry->record == 0;
    if (in_timeline || identity->envelope == 0) {
        identity->envelope = ledger->envelope_count;
    }
    if (in_timeline) {
        put(ledger, envelope, PLACE_WRITER, entry);
        name_staged_record(ledger, entry->record);
    }
    ledger->plain = ledger->misplaced == MISPLACED_NONE && ledger->envelope_before == 0;
}

void ledger_note_received(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = name_identity(ledger, entry);
    if (!ledger_is_current(ledger, entry)) {
        return;
    }
    if (envelope == NULL || !ledger_is_live(ledger, envelope)) {
        ledger->misplaced = MISPLACED_RECEIVED_UNSTAGED;
    } else if (envelope->place != PLACE_WRITER) {
        ledger->misplaced = MISPLACED_RECEIVED_TWICE;
    }
    ledger->plain = ledger->misplaced == MISPLACED_NONE;
    if (envelope != NULL) {
        put(ledger, envelope, PLACE_COMMITTER, entry);
    }
}

void ledger_note_restored(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = name_identity(ledger, entry);
    ledger->saw |= SAW_ENVELOPE_RESTORED;
    if (!ledger_is_current(ledger, entry)) {
        return;
    }
    if (envelope == NULL) {
        ledger->misplaced = MISPLACED_RESTORED_UNKNOWN;
        return;
    }
    if (ledger_is_live(ledger, envelope)) {
        ledger->misplaced = MISPLACED_RESTORED_TWICE;
    } else if (envelope->expected != entry->attempt) {
        ledger->misplaced = MISPLACED_RESTORED_FOREIGN;
    } else {
        ledger->expected--;
    }
    put(ledger, envelope, PLACE_COMMITTER, entry);
}

/* Left behind by an operator's order: nobody owes it any more. What becomes of its record is for
 * others to judge. */
void ledger_note_not_restored(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = name_identity(ledger, entry);
    if (envelope != NULL && ledger_is_current(ledger, entry) &&
        envelope->expected == entry->attempt) {
        envelope->expected = 0;
        ledger->expected--;
    }
}

/* A request list may name an envelope that the committer holds; naming it lets it be sent if a
 * checkpoint that owns it has completed, which is so for restored ones. */
void ledger_note_commit_request(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = name_identity(ledger, entry);
    if (!ledger_is_current(ledger, entry)) {
        return;
    }
    if (envelope == NULL || !is_at(ledger, envelope, PLACE_COMMITTER)) {
        ledger->misplaced = MISPLACED_REQUEST_NOT_HELD;
        return;
    }
    if (envelope->expected == entry->attempt || ledger->completed >= envelope->checkpoint) {
        envelope->granted |= ledger_attempt_bit(entry->attempt);
    }
    ledger->plain = envelope->value == entry->value;
}

void ledger_note_finalised(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = name_identity(ledger, entry);
    if (!ledger_is_current(ledger, entry)) {
        return;
    }
    if (envelope == NULL || !is_at(ledger, envelope, PLACE_COMMITTER)) {
        ledger->misplaced = MISPLACED_FINALISED_NOT_HELD;
        return;
    }
    envelope->finalised = true;
    put(ledger, envelope, PLACE_FINALISED, entry);
    ledger->plain = true;
}
