#include "sim/oracle_ledger.h"

#include "sim/oracle.h"
#include "sinks/base/digest.h"

#include <string.h>

#define SLOTS_MIN 64u

/* --- memory ------------------------------------------------------------------------------------ */

/* Make room for one more item by doubling; the old memory stays behind in the arena. */
static void *
grown(struct arena *arena, const void *items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    uint32_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *memory = arena_take(arena, more * item_size);
    if (count > 0) {
        memcpy(memory, items, count * item_size);
    }
    *capacity = more;
    return memory;
}

/* Make an array by number, zero where nothing was said yet, reach up to number. */
static void *reaching(
    struct arena *arena, const void *items, uint32_t *capacity, size_t item_size, uint32_t number)
{
    uint32_t more = *capacity == 0 ? 64 : *capacity;
    while (more <= number) {
        CHECK(more <= UINT32_MAX / 2);
        more *= 2;
    }
    uint8_t *memory = arena_take(arena, more * item_size);
    if (*capacity > 0) {
        memcpy(memory, items, *capacity * item_size);
    }
    memset(memory + *capacity * item_size, 0, (more - *capacity) * item_size);
    *capacity = more;
    return memory;
}

/* --- identities -------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct ledger *ledger, uint64_t identity)
{
    const uint32_t mask = ledger->slot_count - 1;
    uint32_t slot = (uint32_t)digest_mix(identity) & mask;
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

static struct ledger_identity *identity_or_new(struct ledger *ledger, uint64_t identity)
{
    uint32_t slot = slot_of(ledger, identity);
    if (ledger->slots[slot] != 0) {
        return &ledger->identities[ledger->slots[slot] - 1];
    }
    if (ledger->identity_count == ledger->identity_capacity) {
        ledger->identities = grown(ledger->arena,
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

static struct ledger_envelope *envelope_of(const struct ledger *ledger,
                                           const struct ledger_identity *identity)
{
    return identity->envelope == 0 ? NULL : &ledger->envelopes[identity->envelope - 1];
}

/* Set what the current entry names. */
static void name_identity(struct ledger *ledger, uint64_t identity)
{
    ledger->identity_or_null = ledger_identity(ledger, identity);
    if (ledger->identity_or_null != NULL) {
        ledger->envelope_or_null = envelope_of(ledger, ledger->identity_or_null);
    }
}

/* --- init -------------------------------------------------------------------------------------- */

/* Records of equal payload count together: find the first of each, by a table for this call. */
static void join_equal_payloads(struct ledger *ledger)
{
    uint32_t slot_count = SLOTS_MIN;
    while (slot_count < ledger->log->record_count * 2) {
        slot_count *= 2;
    }
    uint32_t *slots = arena_take_zeroed(ledger->arena, slot_count * sizeof(slots[0]));
    for (uint32_t index = 0; index < ledger->log->record_count; index++) {
        const uint64_t digest = ledger->log->records[index].digest;
        uint32_t slot = (uint32_t)digest_mix(digest) & (slot_count - 1);
        while (slots[slot] != 0 && ledger->log->records[slots[slot] - 1].digest != digest) {
            slot = (slot + 1) & (slot_count - 1);
        }
        if (slots[slot] == 0) {
            slots[slot] = index + 1;
        }
        ledger->records[index].kin = slots[slot];
        ledger->records[index].members = 0;
        ledger->records[slots[slot] - 1].members++;
    }
}

static void init_records(struct ledger *ledger)
{
    const uint32_t count = ledger->log->record_count;
    ledger->records = arena_take_zeroed(ledger->arena, count * sizeof(ledger->records[0]) + 1);
    for (uint32_t index = 0; index < count; index++) {
        ledger->records[index].kin = index + 1;
        ledger->records[index].members = 1;
    }
    if (ledger->log->equal_payloads) {
        join_equal_payloads(ledger);
    }
    ledger->batch = arena_take(ledger->arena, count * sizeof(record_id) + 1);
    ledger->missing = arena_take(ledger->arena, count * sizeof(record_id) + 1);
    const size_t splits = ledger->log->split_count * sizeof(uint64_t) + 1;
    ledger->covered_to = arena_take_zeroed(ledger->arena, splits);
    ledger->handed_to = arena_take_zeroed(ledger->arena, splits);
}

void ledger_init(struct ledger *ledger,
                 struct arena *arena,
                 const struct source_log *log,
                 const struct store *store,
                 const struct judge_facts *facts)
{
    memset(ledger, 0, sizeof(*ledger));
    ledger->arena = arena;
    ledger->log = log;
    ledger->store = store;
    ledger->facts = facts;
    ledger->slot_count = SLOTS_MIN;
    while (ledger->slot_count < log->record_count && ledger->slot_count < (1u << 20)) {
        ledger->slot_count *= 2;
    }
    ledger->slots = arena_take_zeroed(arena, ledger->slot_count * sizeof(ledger->slots[0]));
    init_records(ledger);
}

/* --- lookups ----------------------------------------------------------------------------------- */

struct ledger_record *ledger_record(const struct ledger *ledger, record_id record)
{
    CHECK(record >= 1);
    CHECK(record <= ledger->log->record_count);
    return &ledger->records[record - 1];
}

struct ledger_record *ledger_kin(const struct ledger *ledger, record_id record)
{
    return &ledger->records[ledger_record(ledger, record)->kin - 1];
}

uint32_t ledger_effects(const struct ledger *ledger, record_id record)
{
    const struct ledger_record *kin = ledger_kin(ledger, record);
    return ledger->facts->reader_class == 0 ? kin->stored : kin->seen;
}

uint32_t ledger_writes(const struct ledger *ledger, record_id record)
{
    const struct ledger_record *kin = ledger_kin(ledger, record);
    return ledger->facts->reader_class == 0 ? kin->created : kin->visible;
}

bool ledger_is_early(const struct ledger *ledger, record_id record)
{
    const struct ledger_record *kin = ledger_kin(ledger, record);
    return kin->covered < kin->members && ledger_effects(ledger, record) > kin->covered;
}

const struct ledger_envelope *ledger_envelope(const struct ledger *ledger, record_id record)
{
    const uint32_t index = ledger_record(ledger, record)->envelope;
    return index == 0 ? NULL : &ledger->envelopes[index - 1];
}

bool ledger_is_live(const struct ledger *ledger, const struct ledger_envelope *envelope)
{
    return envelope->place != PLACE_NONE && envelope->place_attempt == ledger->attempt;
}

static uint64_t grant_bit(uint16_t attempt)
{
    return UINT64_C(1) << (attempt & 63);
}

bool ledger_is_granted(const struct ledger_envelope *envelope, uint16_t attempt)
{
    return (envelope->granted & grant_bit(attempt)) != 0;
}

const struct ledger_request *ledger_request(const struct ledger *ledger, uint32_t request)
{
    if (request >= ledger->request_capacity || ledger->requests[request].attempt == 0) {
        return NULL;
    }
    return &ledger->requests[request];
}

struct ledger_lane *ledger_lane(struct ledger *ledger, lane who)
{
    const uint32_t index = lane_index_of(who);
    CHECK(index < LEDGER_LANES);
    return &ledger->lanes[lane_kind_of(who)][index];
}

bool ledger_is_sink_lane(lane who)
{
    const enum lane_kind kind = lane_kind_of(who);
    return kind == LANE_WRITER || kind == LANE_COMMITTER || kind == LANE_OPERATOR;
}

/* --- faults ------------------------------------------------------------------------------------ */

static void note_fault(struct ledger *ledger, const struct journal_entry *entry)
{
    if (ledger->fault_count == ledger->fault_capacity) {
        ledger->faults = grown(ledger->arena,
                               ledger->faults,
                               ledger->fault_count,
                               &ledger->fault_capacity,
                               sizeof(ledger->faults[0]));
    }
    ledger->faults[ledger->fault_count] = (struct ledger_fault){
        .from = entry->time,
        .until = nanos_add(entry->time, entry->a),
        .request = entry->request,
        .kind = entry->code,
    };
    ledger->fault_count++;
    if (entry->code == FAULT_PAUSE) {
        struct ledger_lane *sender = ledger_lane(ledger, entry->lane);
        const nanos until = nanos_add(entry->time, entry->a);
        sender->paused_until = until > sender->paused_until ? until : sender->paused_until;
    }
}

/* A heal ends what was injected. */
static void note_heal(struct ledger *ledger, nanos now)
{
    ledger->saw |= SAW_HEAL;
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        struct ledger_fault *fault = &ledger->faults[index];
        fault->until = fault->until > now ? now : fault->until;
    }
    for (uint32_t kind = 0; kind < LANE_KIND_COUNT; kind++) {
        for (uint32_t index = 0; index < LEDGER_LANES; index++) {
            ledger->lanes[kind][index].paused_until = 0;
        }
    }
}

static bool keeps_down(const struct ledger_fault *fault)
{
    return fault->kind == FAULT_CRASH || fault->kind == FAULT_ZOMBIE ||
           fault->kind == FAULT_PAUSE || fault->kind == FAULT_OUTAGE;
}

nanos ledger_down(const struct ledger *ledger, nanos from, nanos until)
{
    nanos sum = 0;
    nanos cursor = from;
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        if (!keeps_down(fault)) {
            continue;
        }
        const nanos start = fault->from > cursor ? fault->from : cursor;
        const nanos end = fault->until < until ? fault->until : until;
        sum = nanos_add(sum, end > start ? end - start : 0);
        cursor = end > cursor ? end : cursor;
    }
    return sum;
}

nanos ledger_calm(const struct ledger *ledger, nanos from, nanos until)
{
    nanos longest = 0;
    nanos cursor = from;
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        const nanos start = fault->from < until ? fault->from : until;
        const nanos stretch = nanos_sub(start, cursor);
        longest = stretch > longest ? stretch : longest;
        cursor = fault->until > cursor ? fault->until : cursor;
    }
    const nanos last = nanos_sub(until, cursor);
    return last > longest ? last : longest;
}

bool ledger_is_delayed(const struct ledger *ledger, uint32_t request)
{
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        if (fault->request == request && request != 0 &&
            (fault->kind == FAULT_APPLIED_LATER || fault->kind == FAULT_DUPLICATED ||
             fault->kind == FAULT_STREAM_CUT)) {
            return true;
        }
    }
    return false;
}

/* --- checkpoints and lives --------------------------------------------------------------------- */

static bool is_excused(const struct ledger_record *record)
{
    return record->outcome == OUTCOME_SKIPPED || record->outcome == OUTCOME_DROPPED;
}

static void cover(struct ledger *ledger, uint32_t index, uint32_t checkpoint)
{
    struct ledger_record *record = &ledger->records[index];
    ledger->batch[ledger->batch_count] = index + 1;
    ledger->batch_count++;
    if (record->covered_by != 0) {
        return; /* a second time, in another timeline */
    }
    record->covered_by = checkpoint;
    ledger->covered_count++;
    struct ledger_record *kin = &ledger->records[record->kin - 1];
    kin->covered++;
    if (!is_excused(record)) {
        kin->owed++;
    }
}

/* Walk what the checkpoint covers beyond the timeline so far, and what its collections hold. */
static void note_completed(struct ledger *ledger, uint32_t number)
{
    const struct source_log *log = ledger->log;
    const struct stored_checkpoint *checkpoint = store_get(ledger->store, number);
    ledger->completed = number > ledger->completed ? number : ledger->completed;
    for (uint32_t split = 0; checkpoint->positions != NULL && split < log->split_count; split++) {
        const uint64_t to = checkpoint->positions[split];
        for (uint64_t at = ledger->covered_to[split]; at < to; at++) {
            cover(ledger, log->split_starts[split] + (uint32_t)at, number);
        }
        ledger->covered_to[split] = to > ledger->covered_to[split] ? to : ledger->covered_to[split];
    }
    ledger->saw |= ledger->batch_count > 0 ? SAW_COVERED : 0;
    for (uint32_t of = 0; of < checkpoint->collection_count; of++) {
        const struct stored_collection *collection = &checkpoint->collections[of];
        for (uint32_t index = 0; index < collection->request_count; index++) {
            const struct ledger_identity *identity =
                ledger_identity(ledger, collection->requests[index]->identity);
            if (identity != NULL && identity->envelope != 0) {
                ledger->envelopes[identity->envelope - 1].collected = number;
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

static void expect_restored(struct ledger *ledger, const struct stored_checkpoint *checkpoint)
{
    for (uint32_t of = 0; of < checkpoint->collection_count; of++) {
        const struct stored_collection *collection = &checkpoint->collections[of];
        for (uint32_t index = 0; index < collection->request_count; index++) {
            const struct stored_request *request = collection->requests[index];
            struct ledger_identity *identity = ledger_identity(ledger, request->identity);
            if (identity == NULL || identity->envelope == 0) {
                continue;
            }
            const uint32_t at = staging_of(ledger, identity, request->value);
            struct ledger_envelope *envelope = &ledger->envelopes[at - 1];
            identity->envelope = at;
            if (envelope->expected != ledger->attempt) {
                envelope->expected = ledger->attempt;
                ledger->expected++;
            }
            if (envelope->record != 0) {
                ledger_record(ledger, envelope->record)->envelope = at;
            }
        }
    }
}

/* All that is not restored vanishes: places count in their own attempt only. */
static void note_started(struct ledger *ledger, const struct journal_entry *entry)
{
    const struct source_log *log = ledger->log;
    const struct stored_checkpoint *checkpoint =
        entry->checkpoint == 0 ? NULL : store_get(ledger->store, entry->checkpoint);
    ledger->attempt = entry->attempt;
    ledger->held = 0;
    ledger->expected = 0;
    ledger->saw |= entry->attempt > 1 && checkpoint != NULL ? SAW_RESTORE : 0;
    for (uint32_t split = 0; split < log->split_count; split++) {
        const bool covers = checkpoint != NULL && checkpoint->positions != NULL;
        const uint64_t to = covers ? checkpoint->positions[split] : 0;
        for (uint64_t at = to; at < ledger->handed_to[split]; at++) {
            ledger->batch[ledger->batch_count] = log->split_starts[split] + (uint32_t)at + 1;
            ledger->batch_count++;
        }
        ledger->covered_to[split] = to;
    }
    ledger->saw |= ledger->batch_count > 0 ? SAW_ROLLED_BACK : 0;
    if (checkpoint != NULL) {
        expect_restored(ledger, checkpoint);
    }
}

/* --- records ----------------------------------------------------------------------------------- */

static void note_handed(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_record *record = ledger_record(ledger, entry->record);
    if (entry->attempt != ledger->attempt) {
        return; /* a zombie's: of no timeline any more */
    }
    if (record->outcome == OUTCOME_NONE) {
        record->handed_at = entry->time;
    } else if (record->attempt == entry->attempt) {
        ledger->misreport = MISREPORT_HANDED_TWICE;
    }
    record->attempt = entry->attempt;
    record->outcome = OUTCOME_HANDED;
    const uint32_t index = entry->record - 1;
    const uint32_t split = ledger->log->records[index].record.split;
    const uint64_t to = (uint64_t)index + 1 - ledger->log->split_starts[split];
    if (to > ledger->handed_to[split]) {
        ledger->handed_to[split] = to;
    }
}

/* State x report: H handed, A accepted, S skipped, F failed, D dropped.
 *            accepted  skipped   failed    dropped
 *   none     not handed ...
 *   H        A         S         F         unfailed
 *   A        second    second    F         unfailed
 *   S        second    second    second    second
 *   F        second    second    second    D
 *   D        second    second    second    second
 * A record that was accepted may fail later: an eager sink sends first. */
static void
note_outcome(struct ledger *ledger, const struct journal_entry *entry, enum ledger_outcome outcome)
{
    struct ledger_record *record = ledger_record(ledger, entry->record);
    if (entry->attempt != ledger->attempt) {
        return;
    }
    const enum ledger_outcome before = (enum ledger_outcome)record->outcome;
    if (before == OUTCOME_NONE || record->attempt != entry->attempt) {
        ledger->misreport = MISREPORT_NOT_HANDED;
        return;
    }
    if (outcome == OUTCOME_DROPPED && (before == OUTCOME_HANDED || before == OUTCOME_ACCEPTED)) {
        ledger->misreport = MISREPORT_DROPPED_UNFAILED;
    }
    const bool first = before == OUTCOME_HANDED;
    const bool fails_later = before == OUTCOME_ACCEPTED && outcome == OUTCOME_FAILED;
    const bool is_dropped = before == OUTCOME_FAILED && outcome == OUTCOME_DROPPED;
    if (!first && !fails_later && !is_dropped && ledger->misreport == MISREPORT_NONE) {
        ledger->misreport = MISREPORT_SECOND_OUTCOME;
    }
    record->outcome = (uint8_t)outcome;
    ledger->saw |= outcome == OUTCOME_FAILED ? SAW_FAILED_RECORD : 0;
}

/* --- envelopes --------------------------------------------------------------------------------- */

static bool
is_at(const struct ledger *ledger, const struct ledger_envelope *envelope, enum ledger_place place)
{
    return envelope->place == place && envelope->place_attempt == ledger->attempt;
}

static void put(struct ledger *ledger, struct ledger_envelope *envelope, enum ledger_place place)
{
    const bool held_before =
        is_at(ledger, envelope, PLACE_WRITER) || is_at(ledger, envelope, PLACE_COMMITTER);
    const bool held = place == PLACE_WRITER || place == PLACE_COMMITTER;
    ledger->held += held ? 1u : 0u;
    ledger->held -= held_before ? 1u : 0u;
    envelope->place = (uint8_t)place;
    envelope->place_attempt = ledger->attempt;
}

static void judge_restaging(struct ledger *ledger,
                            struct ledger_identity *identity,
                            const struct journal_entry *entry)
{
    struct ledger_envelope *before = envelope_of(ledger, identity);
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
        put(ledger, before, PLACE_NONE);
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

static void note_staged(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    struct ledger_identity *identity = identity_or_new(ledger, entry->identity);
    const bool in_timeline = entry->attempt == ledger->attempt;
    if (in_timeline) {
        judge_restaging(ledger, identity, entry);
    }
    if (ledger->envelope_count == ledger->envelope_capacity) {
        ledger->envelopes = grown(ledger->arena,
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
        .previous = identity->envelope,
        .attempt = entry->attempt,
    };
    ledger->envelope_count++;
    ledger->identity_or_null = identity;
    ledger->envelope_or_null = envelope;
    ledger->batches = ledger->batches || entry->record == 0;
    if (in_timeline || identity->envelope == 0) {
        identity->envelope = ledger->envelope_count;
    }
    if (in_timeline) {
        put(ledger, envelope, PLACE_WRITER);
        name_staged_record(ledger, entry->record);
    }
}

static void note_received(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = ledger->envelope_or_null;
    if (entry->attempt != ledger->attempt) {
        return;
    }
    if (envelope == NULL || !ledger_is_live(ledger, envelope)) {
        ledger->misplaced = MISPLACED_RECEIVED_UNSTAGED;
    } else if (envelope->place != PLACE_WRITER) {
        ledger->misplaced = MISPLACED_RECEIVED_TWICE;
    }
    if (envelope != NULL) {
        put(ledger, envelope, PLACE_COMMITTER);
    }
}

static void note_restored(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = ledger->envelope_or_null;
    ledger->saw |= SAW_ENVELOPE_RESTORED;
    if (entry->attempt != ledger->attempt) {
        return;
    }
    if (envelope == NULL) {
        ledger->misplaced = MISPLACED_RESTORED_UNKNOWN;
        return;
    }
    if (ledger_is_live(ledger, envelope)) {
        ledger->misplaced = MISPLACED_RESTORED_TWICE;
    } else if (envelope->expected != ledger->attempt) {
        ledger->misplaced = MISPLACED_RESTORED_FOREIGN;
    } else {
        ledger->expected--;
    }
    put(ledger, envelope, PLACE_COMMITTER);
}

/* A request list may name an envelope that the committer holds; naming it lets it be sent if a
 * checkpoint that owns it has completed, which is so for restored ones. */
static void note_commit_request(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = ledger->envelope_or_null;
    if (entry->attempt != ledger->attempt) {
        return;
    }
    if (envelope == NULL || !is_at(ledger, envelope, PLACE_COMMITTER)) {
        ledger->misplaced = MISPLACED_REQUEST_NOT_HELD;
        return;
    }
    if (envelope->expected == ledger->attempt || ledger->completed >= envelope->checkpoint) {
        envelope->granted |= grant_bit(entry->attempt);
    }
}

static void note_finalised(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_envelope *envelope = ledger->envelope_or_null;
    if (entry->attempt != ledger->attempt) {
        return;
    }
    if (envelope == NULL || !is_at(ledger, envelope, PLACE_COMMITTER)) {
        ledger->misplaced = MISPLACED_FINALISED_NOT_HELD;
        return;
    }
    envelope->finalised = true;
    put(ledger, envelope, PLACE_FINALISED);
}

/* --- wire -------------------------------------------------------------------------------------- */

/* The lane of an entry, started afresh by the first entry of an attempt. */
static struct ledger_lane *lane_in_attempt(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_lane *sender = ledger_lane(ledger, entry->lane);
    if (entry->attempt > sender->attempt) {
        sender->attempt = entry->attempt;
        sender->open = 0;
        sender->barrier = 0;
    }
    return sender;
}

static void note_issued(struct ledger *ledger, const struct journal_entry *entry)
{
    CHECK(entry->request >= 1);
    if (entry->request >= ledger->request_capacity) {
        ledger->requests = reaching(ledger->arena,
                                    ledger->requests,
                                    &ledger->request_capacity,
                                    sizeof(ledger->requests[0]),
                                    entry->request);
    }
    struct ledger_lane *sender = lane_in_attempt(ledger, entry);
    struct ledger_request *request = &ledger->requests[entry->request];
    *request = (struct ledger_request){
        .leaves_at = entry->time > sender->paused_until ? entry->time : sender->paused_until,
        .attempt = entry->attempt,
        .lane = entry->lane,
        .open = true,
    };
    ledger->open++;
    sender->open += entry->attempt == sender->attempt ? 1u : 0u;
    if (entry->identity == 0 || !ledger_is_sink_lane(entry->lane)) {
        return;
    }
    struct ledger_identity *identity = identity_or_new(ledger, entry->identity);
    ledger->identity_or_null = identity;
    ledger->envelope_or_null = envelope_of(ledger, identity);
    ledger->saw |= ledger->envelope_or_null != NULL ? SAW_SENT_ENVELOPE : 0;
    identity->sent_value = identity->sent == 0 ? entry->value : identity->sent_value;
    identity->sent++;
    request->identity = (uint32_t)(identity - ledger->identities) + 1;
}

static void note_ended(struct ledger *ledger, const struct journal_entry *entry)
{
    if (entry->request >= ledger->request_capacity || !ledger->requests[entry->request].open) {
        return;
    }
    struct ledger_request *request = &ledger->requests[entry->request];
    request->open = false;
    ledger->open--;
    struct ledger_lane *sender = ledger_lane(ledger, request->lane);
    if (request->attempt == sender->attempt) {
        CHECK(sender->open > 0);
        sender->open--;
    }
}

static void note_barrier(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_lane *sender = lane_in_attempt(ledger, entry);
    sender->barrier = entry->checkpoint;
    ledger->saw |= SAW_BARRIER;
}

/* --- world ------------------------------------------------------------------------------------- */

static struct ledger_resource *resource_of(struct ledger *ledger, uint32_t resource)
{
    if (resource >= ledger->resource_capacity) {
        ledger->resources = reaching(ledger->arena,
                                     ledger->resources,
                                     &ledger->resource_capacity,
                                     sizeof(ledger->resources[0]),
                                     resource);
    }
    return &ledger->resources[resource];
}

static void note_effect(struct ledger *ledger, struct ledger_record *kin, uint32_t position)
{
    ledger->effect = true;
    ledger->saw |= SAW_EFFECT;
    kin->effect_position = kin->effect_position == 0 ? position : kin->effect_position;
}

static void
note_created(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    struct ledger_resource *resource = resource_of(ledger, entry->resource);
    if (resource->absent && resource->record == entry->record) {
        ledger->absent = true;
        ledger->absent_since = resource->removed_at;
    }
    *resource = (struct ledger_resource){.record = entry->record};
    if (entry->record == 0) {
        return;
    }
    struct ledger_record *kin = ledger_kin(ledger, entry->record);
    kin->resource = kin->created == 0 ? entry->resource : kin->resource;
    kin->created++;
    kin->stored++;
    if (ledger->facts->reader_class == 0) {
        note_effect(ledger, kin, position);
    }
}

static void
note_replaced(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    if (entry->record == 0) {
        return;
    }
    struct ledger_record *kin = ledger_kin(ledger, entry->record);
    kin->stored++;
    if (ledger->facts->reader_class == 0) {
        note_effect(ledger, kin, position);
    }
}

static void
note_visible(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    if (entry->record == 0 || entry->code != ledger->facts->reader_class ||
        ledger->facts->reader_class == 0) {
        return;
    }
    struct ledger_record *kin = ledger_kin(ledger, entry->record);
    if (entry->kind == WORLD_HIDDEN) {
        kin->visible -= kin->visible > 0 ? 1u : 0u;
        return;
    }
    kin->visible++;
    kin->seen++;
    note_effect(ledger, kin, position);
}

/* Removal of any sort: from here on the name may be released. */
static void note_removed(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_resource *resource = resource_of(ledger, entry->resource);
    resource->removed_at = entry->time;
    resource->absent = true;
}

static void note_world(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    if (entry->service != ledger->facts->target_service) {
        const bool is_letter = entry->kind == WORLD_CREATED && entry->record != 0 &&
                               entry->service == ledger->facts->dead_letter_service;
        if (is_letter) {
            ledger_record(ledger, entry->record)->dead_letters++;
            ledger->saw |= SAW_DEAD_LETTER;
        }
        return;
    }
    if (entry->kind == WORLD_CREATED) {
        note_created(ledger, entry, position);
    } else if (entry->kind == WORLD_REPLACED) {
        note_replaced(ledger, entry, position);
    } else if (entry->kind == WORLD_REMOVED) {
        note_removed(ledger, entry);
    } else {
        note_visible(ledger, entry, position);
    }
}

/* --- dispatch ---------------------------------------------------------------------------------- */

void ledger_note(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    ledger->now = entry->time;
    ledger->misplaced = MISPLACED_NONE;
    ledger->misreport = MISREPORT_NONE;
    ledger->effect = false;
    ledger->absent = false;
    ledger->was_live = false;
    ledger->envelope_before = 0;
    ledger->identity_or_null = NULL;
    ledger->envelope_or_null = NULL;
    ledger->batch_count = 0;
    switch ((enum journal_kind)entry->kind) {
    case HOST_JOB_STARTED:
        note_started(ledger, entry);
        return;
    case HOST_JOB_FAILED:
        ledger->failed = true;
        ledger->failed_reason = (uint8_t)entry->a;
        ledger->failed_at = entry->time;
        return;
    case HOST_INJECTED:
        note_fault(ledger, entry);
        return;
    case HOST_HEAL:
        note_heal(ledger, entry->time);
        return;
    case HOST_CHECKPOINT_TRIGGERED:
        ledger->triggered = entry->checkpoint;
        return;
    case HOST_CHECKPOINT_COMPLETED:
        note_completed(ledger, entry->checkpoint);
        return;
    case HOST_RECORD:
        note_handed(ledger, entry);
        return;
    case HOST_ACCEPTED:
        note_outcome(ledger, entry, OUTCOME_ACCEPTED);
        return;
    case HOST_SKIPPED:
        note_outcome(ledger, entry, OUTCOME_SKIPPED);
        return;
    case HOST_RECORD_FAILED:
        note_outcome(ledger, entry, OUTCOME_FAILED);
        return;
    case HOST_DROPPED:
        note_outcome(ledger, entry, OUTCOME_DROPPED);
        return;
    case HOST_BARRIER:
        note_barrier(ledger, entry);
        return;
    case HOST_STAGED:
        note_staged(ledger, entry, position);
        return;
    case HOST_RECEIVED:
        name_identity(ledger, entry->identity);
        note_received(ledger, entry);
        return;
    case HOST_RESTORED:
        name_identity(ledger, entry->identity);
        note_restored(ledger, entry);
        return;
    case HOST_COMMIT_REQUEST:
        name_identity(ledger, entry->identity);
        note_commit_request(ledger, entry);
        return;
    case HOST_FINALISED:
        name_identity(ledger, entry->identity);
        note_finalised(ledger, entry);
        return;
    case WIRE_ISSUED:
        note_issued(ledger, entry);
        return;
    case WIRE_CANCELLED:
    case WIRE_ANSWERED:
    case WIRE_DROPPED:
    case WIRE_EXPIRED:
        note_ended(ledger, entry);
        return;
    case WORLD_CREATED:
    case WORLD_REPLACED:
    case WORLD_REMOVED:
    case WORLD_VISIBLE:
    case WORLD_HIDDEN:
        note_world(ledger, entry, position);
        return;
    case JOURNAL_NONE:
    case HOST_JOB_STOPPED:
    case HOST_JOB_FINISHED:
    case HOST_CONTRACT:
    case HOST_CHECKPOINT_ABORTED:
    case HOST_NOTICE:
    case HOST_NOTICE_LOST:
    case HOST_OPENED:
    case HOST_POLICY_FLUSHED:
    case HOST_STATE_PIECE:
    case HOST_BARRIER_DONE:
    case HOST_INPUT_ENDED:
    case HOST_COMMIT:
    case HOST_SIGNAL:
    case HOST_COMMIT_RETURNED:
    case HOST_CRASHED:
    case HOST_CLOSE:
    case HOST_CLOSED:
    case HOST_HALF_FAILED:
    case HOST_ZOMBIE:
    case HOST_ZOMBIE_ENDED:
    case HOST_PHASE:
    case WORLD_EXPIRED:
    case WORLD_CHANGED:
    case WORLD_REFUSED:
        return;
    case JOURNAL_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

/* --- end --------------------------------------------------------------------------------------- */

void ledger_settle(struct ledger *ledger, bool complete)
{
    ledger->missing_count = 0;
    for (uint32_t index = 0; index < ledger->log->record_count; index++) {
        ledger->records[index].counted = 0;
    }
    for (uint32_t index = 0; index < ledger->log->record_count; index++) {
        const struct ledger_record *record = &ledger->records[index];
        if (is_excused(record) || (record->covered_by == 0 && !complete)) {
            continue;
        }
        struct ledger_record *kin = &ledger->records[record->kin - 1];
        kin->counted++;
        if (kin->counted > ledger_effects(ledger, index + 1)) {
            ledger->missing[ledger->missing_count] = index + 1;
            ledger->missing_count++;
        }
    }
}
