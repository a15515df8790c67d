#include "sim/oracle_ledger.h"

#include "sim/oracle.h"
#include "sim/oracle_ledger_internal.h"
#include "sinks/base/digest.h"

#include <string.h>

/* --- memory ------------------------------------------------------------------------------------ */

/* Most arrays come to hold about an item per record: they begin with that. */
static uint32_t first_capacity(const struct ledger *ledger)
{
    return ledger->log->record_count + 16;
}

void *ledger_grown(
    struct ledger *ledger, const void *items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    const uint32_t more = *capacity == 0 ? first_capacity(ledger) : *capacity * 2;
    void *memory = arena_take(ledger->arena, more * item_size);
    if (count > 0) {
        memcpy(memory, items, count * item_size);
    }
    *capacity = more;
    return memory;
}

/* --- init -------------------------------------------------------------------------------------- */

/* Records of equal payload count together: find the first of each, by a table for this call. */
static void join_equal_payloads(struct ledger *ledger)
{
    uint32_t slot_count = LEDGER_SLOTS_MIN;
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
        struct ledger_record *kin = &ledger->records[slots[slot] - 1];
        kin->members = ledger->facts->equal_is_one ? 1 : kin->members + 1;
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
    ledger->slot_count = LEDGER_SLOTS_MIN;
    while (ledger->slot_count < log->record_count * 2 && ledger->slot_count < (1u << 20)) {
        ledger->slot_count *= 2;
    }
    ledger->slots = arena_take_zeroed(arena, ledger->slot_count * sizeof(ledger->slots[0]));
    init_records(ledger);
}

/* --- lookups ----------------------------------------------------------------------------------- */

static inline uint32_t effects_of(const struct ledger *ledger, const struct ledger_record *kin)
{
    return ledger->facts->reader_class == 0 ? kin->stored : kin->seen;
}

static inline uint32_t writes_of(const struct ledger *ledger, const struct ledger_record *kin)
{
    return ledger->facts->reader_class == 0 ? kin->created : kin->visible;
}

static inline bool is_early(const struct ledger *ledger, const struct ledger_record *kin)
{
    return kin->covered < kin->members && effects_of(ledger, kin) > kin->covered;
}

uint32_t ledger_effects(const struct ledger *ledger, record_id record)
{
    return effects_of(ledger, ledger_kin(ledger, record));
}

uint32_t ledger_writes(const struct ledger *ledger, record_id record)
{
    return writes_of(ledger, ledger_kin(ledger, record));
}

bool ledger_is_early(const struct ledger *ledger, record_id record)
{
    return is_early(ledger, ledger_kin(ledger, record));
}

struct ledger_lane *ledger_lane(struct ledger *ledger, lane who)
{
    const uint32_t index = lane_index_of(who);
    CHECK(index < LEDGER_LANES);
    return &ledger->lanes[lane_kind_of(who)][index];
}

bool ledger_is_staged(const struct ledger *ledger, uint16_t attempt)
{
    const uint16_t of = attempt == 0 ? ledger->attempt : attempt;
    const bool is_next = ledger->next_sink != 0 && of >= ledger->next_sink;
    return is_next ? ledger->facts->next_staged : ledger->facts->staged;
}

bool ledger_is_replaced(const struct ledger *ledger, const struct journal_entry *effect)
{
    const struct ledger_request *request = ledger_request(ledger, effect->request);
    return effect->attempt != 0 && request != NULL &&
           effect->attempt < ledger_attempt_of(ledger, request->lane);
}

/* --- checkpoints and lives --------------------------------------------------------------------- */

static bool is_excused(const struct ledger_record *record)
{
    return record->outcome == OUTCOME_SKIPPED || record->outcome == OUTCOME_DROPPED;
}

/* Covered, and on its way to a writer: not in a sink's state by this checkpoint. */
static void cover_in_flight(struct ledger *ledger, uint32_t index, uint32_t checkpoint)
{
    struct ledger_record *record = &ledger->records[index];
    if (record->covered_by == 0) {
        record->covered_by = checkpoint;
        record->deferred = true;
        ledger->covered_count++;
        ledger->records[record->kin - 1].covered++;
    }
}

static void cover(struct ledger *ledger, uint32_t index, uint32_t checkpoint)
{
    struct ledger_record *record = &ledger->records[index];
    if (record->deferred) {
        record->deferred = false;
        ledger->records[record->kin - 1].owed += is_excused(record) ? 0u : 1u;
    }
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

/* What was channel state in the cut before and is so no more has reached a sink's state. */
static void cover_arrived(struct ledger *ledger, uint32_t number)
{
    const struct stored_checkpoint *before =
        ledger->cut == 0 ? NULL : store_get(ledger->store, ledger->cut);
    for (uint32_t i = 0; before != NULL && i < before->in_flight_count; i++) {
        const record_id record = before->in_flight[i].record;
        if (!store_in_flight(ledger->store, number, record)) {
            cover(ledger, record - 1, number);
        }
    }
}

/* Walk what the checkpoint covers beyond the timeline so far, and what its collections hold. */
NOINLINE static void note_completed(struct ledger *ledger, uint32_t number)
{
    const struct source_log *log = ledger->log;
    const struct stored_checkpoint *checkpoint = store_get(ledger->store, number);
    ledger->completed = number > ledger->completed ? number : ledger->completed;
    for (uint32_t split = 0; checkpoint->positions != NULL && split < log->split_count; split++) {
        const uint64_t to = checkpoint->positions[split];
        for (uint64_t at = ledger->covered_to[split]; at < to; at++) {
            const uint32_t index = log->split_starts[split] + (uint32_t)at;
            if (UNLIKELY(store_in_flight(ledger->store, number, index + 1))) {
                cover_in_flight(ledger, index, number);
            } else {
                cover(ledger, index, number);
            }
        }
        ledger->covered_to[split] = to > ledger->covered_to[split] ? to : ledger->covered_to[split];
    }
    cover_arrived(ledger, number);
    const uint32_t cut_before = ledger->cut;
    ledger->cut = number;
    ledger->saw |= ledger->batch_count > 0 ? SAW_COVERED : 0;
    ledger->saw |= checkpoint->in_flight_count > 0 ? SAW_IN_FLIGHT : 0;
    ledger_note_collected(ledger, checkpoint, cut_before);
}

/* What was handed over behind a position is rolled back. */
static void
roll_back(struct ledger *ledger, uint32_t split, const struct stored_checkpoint *checkpoint_or_null)
{
    const bool covers = checkpoint_or_null != NULL && checkpoint_or_null->positions != NULL;
    const uint64_t to = covers ? checkpoint_or_null->positions[split] : 0;
    for (uint64_t at = to; at < ledger->handed_to[split]; at++) {
        ledger->batch[ledger->batch_count] = ledger->log->split_starts[split] + (uint32_t)at + 1;
        ledger->batch_count++;
    }
    ledger->covered_to[split] = to;
}

static void note_restored_from(struct ledger *ledger,
                               const struct journal_entry *entry,
                               const struct stored_checkpoint *checkpoint_or_null)
{
    ledger->attempt = entry->attempt;
    ledger->saw |= entry->attempt > 1 && checkpoint_or_null != NULL ? SAW_RESTORE : 0;
    ledger->saw |= ledger->batch_count > 0 ? SAW_ROLLED_BACK : 0;
    if (checkpoint_or_null != NULL && checkpoint_or_null->in_flight_count > 0) {
        ledger->saw |= SAW_IN_FLIGHT_RESTORED;
    }
}

static void begin_attempt(struct ledger *ledger, uint16_t attempt)
{
    for (uint32_t kind = 0; kind < LANE_KIND_COUNT; kind++) {
        for (uint32_t index = 0; index < LEDGER_LANES; index++) {
            ledger->lanes[kind][index].ended &= ~ledger_attempt_bit(attempt);
        }
    }
}

/* All that is not restored vanishes: places count in their own attempt only. */
NOINLINE static void note_started(struct ledger *ledger, const struct journal_entry *entry)
{
    const struct stored_checkpoint *checkpoint =
        entry->checkpoint == 0 ? NULL : store_get(ledger->store, entry->checkpoint);
    ledger->started = entry->attempt;
    begin_attempt(ledger, entry->attempt);
    for (uint32_t subtask = 0; subtask < LEDGER_LANES; subtask++) {
        ledger->attempts[subtask] = entry->attempt;
        ledger->held_of[subtask] = 0;
    }
    ledger->held = 0;
    ledger->expected = 0;
    for (uint32_t split = 0; split < ledger->log->split_count; split++) {
        roll_back(ledger, split, checkpoint);
    }
    ledger->cut = entry->checkpoint;
    if ((entry->b & START_NEXT_SINK) != 0 && ledger->next_sink == 0) {
        ledger->next_sink = entry->attempt;
    }
    note_restored_from(ledger, entry, checkpoint);
    if (checkpoint != NULL) {
        ledger_expect_restored(ledger, entry->attempt, checkpoint, 0, 1);
    }
}

/* The same for a region alone: its splits, its collections and its places. The others' cut is the
 * restored checkpoint, too, for it is the latest that completed. */
NOINLINE static void note_region_started(struct ledger *ledger, const struct journal_entry *entry)
{
    const struct stored_checkpoint *checkpoint =
        entry->checkpoint == 0 ? NULL : store_get(ledger->store, entry->checkpoint);
    const uint32_t region = lane_index_of(entry->lane);
    const uint32_t regions = (uint32_t)entry->a;
    CHECK(region < LEDGER_LANES);
    begin_attempt(ledger, entry->attempt);
    ledger->attempts[region] = entry->attempt;
    ledger->held -= ledger->held_of[region];
    ledger->held_of[region] = 0;
    for (uint32_t split = region; split < ledger->log->split_count; split += regions) {
        roll_back(ledger, split, checkpoint);
    }
    note_restored_from(ledger, entry, checkpoint);
    if (checkpoint != NULL) {
        ledger_expect_restored(ledger, entry->attempt, checkpoint, region, regions);
    }
}

/* --- records ----------------------------------------------------------------------------------- */

static bool is_plain_report(const struct ledger *ledger, const struct journal_entry *entry)
{
    return ledger->misreport == MISREPORT_NONE &&
           ledger->log->records[entry->record - 1].traits == 0;
}

static void hand_over(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_record *record = ledger_record(ledger, entry->record);
    if (!ledger_is_current(ledger, entry)) {
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

NOINLINE static void note_handed(struct ledger *ledger, const struct journal_entry *entry)
{
    hand_over(ledger, entry);
    ledger->plain = is_plain_report(ledger, entry);
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
report(struct ledger *ledger, const struct journal_entry *entry, enum ledger_outcome outcome)
{
    struct ledger_record *record = ledger_record(ledger, entry->record);
    if (!ledger_is_current(ledger, entry)) {
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

NOINLINE static void note_accepted(struct ledger *ledger, const struct journal_entry *entry)
{
    report(ledger, entry, OUTCOME_ACCEPTED);
    ledger->plain = is_plain_report(ledger, entry);
}

NOINLINE static void
note_outcome(struct ledger *ledger, const struct journal_entry *entry, enum ledger_outcome outcome)
{
    report(ledger, entry, outcome);
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

static bool is_within_cap(const struct ledger *ledger, const struct ledger_lane *sender)
{
    const uint32_t cap = ledger->facts->concurrency_max;
    return cap == 0 || sender->open <= cap;
}

/* Sent under an identity for the first time, and by a staged sink as the staging allows. */
static bool is_plain_send(const struct ledger *ledger,
                          const struct journal_entry *entry,
                          const struct ledger_identity *identity)
{
    const struct ledger_envelope *envelope = ledger->envelope_or_null;
    if (ledger->request_before != 0 || identity->shared) {
        return false;
    }
    return envelope == NULL ? !ledger_is_staged(ledger, entry->attempt)
                            : ledger_is_granted(envelope, entry->attempt);
}

/* A request of an identity is alone until another one follows it. */
static void name_request_before(struct ledger *ledger, struct ledger_request *request)
{
    request->alone = ledger->request_before == 0;
    if (!request->alone) {
        struct ledger_request *before =
            arena_array_find(&ledger->requests, ledger->request_before, sizeof(*before));
        CHECK(before != NULL);
        before->alone = false;
    }
}

NOINLINE static void note_issued(struct ledger *ledger, const struct journal_entry *entry)
{
    CHECK(entry->request >= 1);
    struct ledger_lane *sender = lane_in_attempt(ledger, entry);
    struct ledger_request *request =
        arena_array_at(&ledger->requests, ledger->arena, entry->request, sizeof(*request));
    *request = (struct ledger_request){
        .leaves_at = entry->time > sender->paused_until ? entry->time : sender->paused_until,
        .attempt = entry->attempt,
        .lane = entry->lane,
        .open = true,
    };
    ledger->open++;
    sender->open += entry->attempt == sender->attempt ? 1u : 0u;
    ledger->plain = is_within_cap(ledger, sender) && !ledger_has_ended(sender, entry->attempt);
    if (!ledger_is_sink_lane(entry->lane)) {
        return;
    }
    if (entry->identity == 0) {
        ledger->plain = false;
        return;
    }
    struct ledger_identity *identity = ledger_identity_or_new(ledger, entry->identity);
    ledger->identity_or_null = identity;
    ledger->envelope_or_null = ledger_envelope_known_to(ledger, identity, entry);
    const bool carries = ledger->envelope_or_null != NULL || ledger->facts->own_identities;
    ledger->saw |= carries ? SAW_SENT_ENVELOPE : 0;
    identity->sent_value = identity->request == 0 ? entry->value : identity->sent_value;
    ledger->request_before = identity->request;
    name_request_before(ledger, request);
    identity->request = entry->request;
    request->identity = (uint32_t)(identity - ledger->identities) + 1;
    ledger->plain = ledger->plain && is_plain_send(ledger, entry, identity);
}

NOINLINE static void note_ended(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_request *request =
        arena_array_find(&ledger->requests, entry->request, sizeof(*request));
    if (request == NULL || !request->open) {
        return;
    }
    ledger->plain = entry->kind == WIRE_ANSWERED && request->alone && ledger_is_success(entry);
    request->open = false;
    ledger->open--;
    struct ledger_lane *sender = ledger_lane(ledger, request->lane);
    if (request->attempt == sender->attempt) {
        CHECK(sender->open > 0);
        sender->open--;
    }
}

NOINLINE static void note_half_ended(struct ledger *ledger, const struct journal_entry *entry)
{
    ledger_lane(ledger, entry->lane)->ended |= ledger_attempt_bit(entry->attempt);
    if (entry->kind == HOST_CRASHED) {
        ledger_note_crashed(ledger, entry);
    }
}

NOINLINE static void note_barrier(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_lane *sender = lane_in_attempt(ledger, entry);
    sender->barrier = entry->checkpoint;
    ledger->saw |= SAW_BARRIER;
}

/* --- world ------------------------------------------------------------------------------------- */

static struct ledger_resource *resource_of(struct ledger *ledger, uint32_t resource)
{
    return arena_array_at(
        &ledger->resources, ledger->arena, resource, sizeof(struct ledger_resource));
}

static void count_effect(struct ledger *ledger, const struct journal_entry *entry)
{
    const struct ledger_request *request = ledger_request(ledger, entry->request);
    if (request == NULL || request->identity == 0) {
        return;
    }
    struct ledger_identity *identity = &ledger->identities[request->identity - 1];
    if (identity->effect_request != entry->request || identity->effect_record == entry->record) {
        identity->effects = (uint8_t)(identity->effects + (identity->effects < UINT8_MAX ? 1 : 0));
    }
    identity->effect_request = entry->request;
    identity->effect_record = entry->record;
    ledger->plain = identity->effects == 1;
}

static bool is_unusual_effect(const struct ledger *ledger, const struct journal_entry *entry)
{
    if (entry->record == 0 || ledger->facts->fencing_token) {
        return true;
    }
    const struct ledger_record *record = ledger_record(ledger, entry->record);
    const struct ledger_record *kin = &ledger->records[record->kin - 1];
    if (record->resource != entry->resource || writes_of(ledger, kin) > kin->members) {
        return true;
    }
    /* It comes too early for its sink, or too late for its attempt. */
    return is_early(ledger, kin) &&
           (ledger_is_replaced(ledger, entry) || ledger_is_staged(ledger, entry->attempt));
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
    if (entry->record == 0 || entry->code != ledger->facts->reader_class) {
        return;
    }
    struct ledger_record *kin = ledger_kin(ledger, entry->record);
    if (ledger->facts->reader_class == 0) {
        /* What was created is visible to class 0: hidden, it is as if it had not been. */
        const bool is_gone = entry->kind == WORLD_HIDDEN && kin->created > 0;
        kin->created -= is_gone ? 1u : 0u;
        kin->stored -= is_gone ? 1u : 0u;
        return;
    }
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

NOINLINE static void
note_world(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
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
    ledger->plain = true;
    if (entry->kind == WORLD_CREATED) {
        note_created(ledger, entry, position);
        count_effect(ledger, entry);
    } else if (entry->kind == WORLD_REPLACED) {
        note_replaced(ledger, entry, position);
        count_effect(ledger, entry);
    } else if (entry->kind == WORLD_REMOVED) {
        note_removed(ledger, entry);
    } else {
        note_visible(ledger, entry, position);
    }
    ledger->plain = ledger->plain && !is_unusual_effect(ledger, entry);
}

/* --- dispatch ---------------------------------------------------------------------------------- */

/* Every case ends in its call, so that nothing has to be kept meanwhile. */
void ledger_note(struct ledger *ledger, const struct journal_entry *entry, uint32_t position)
{
    ledger->now = entry->time;
    ledger->identity_or_null = NULL;
    ledger->envelope_or_null = NULL;
    ledger->batch_count = 0;
    ledger->envelope_before = 0;
    ledger->request_before = 0;
    ledger->misplaced = MISPLACED_NONE;
    ledger->misreport = MISREPORT_NONE;
    ledger->plain = false;
    ledger->effect = false;
    ledger->absent = false;
    ledger->was_live = false;
    switch ((enum journal_kind)entry->kind) {
    case HOST_JOB_STARTED:
        note_started(ledger, entry);
        return;
    case HOST_REGION_STARTED:
        note_region_started(ledger, entry);
        return;
    case HOST_JOB_FAILED:
        ledger->failed = true;
        ledger->failed_reason = (uint8_t)entry->a;
        ledger->failed_at = entry->time;
        return;
    case HOST_INJECTED:
        ledger_note_fault(ledger, entry);
        return;
    case HOST_HEAL:
        ledger_note_heal(ledger, entry->time);
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
        note_accepted(ledger, entry);
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
    case HOST_CRASHED:
    case HOST_CLOSE:
    case HOST_CLOSED:
        note_half_ended(ledger, entry);
        return;
    case HOST_STAGED:
        ledger_note_staged(ledger, entry, position);
        return;
    case HOST_RECEIVED:
        ledger_note_received(ledger, entry);
        return;
    case HOST_RESTORED:
        ledger_note_restored(ledger, entry);
        return;
    case HOST_NOT_RESTORED:
        ledger_note_not_restored(ledger, entry);
        return;
    case HOST_COMMIT_REQUEST:
        ledger_note_commit_request(ledger, entry);
        return;
    case HOST_FINALISED:
        ledger_note_finalised(ledger, entry);
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
    case HOST_REGION_STOPPED:
    case HOST_JOB_FINISHED:
    case HOST_CONTRACT:
    case HOST_RECORD_GONE:
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
    case HOST_HALF_FAILED:
    case HOST_ZOMBIE:
    case HOST_ZOMBIE_ENDED:
    case WORLD_EXPIRED:
    case WORLD_CHANGED:
    case WORLD_REFUSED:
    case WORLD_CONFIGURED:
        return;
    case JOURNAL_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

/* --- end --------------------------------------------------------------------------------------- */

/* Records of equal payload share their effects: of those that are owed, the last ones miss theirs. */
static bool is_missing(const struct ledger *ledger, uint32_t index, uint32_t *owed_of_kin)
{
    uint32_t *owed = &owed_of_kin[ledger->records[index].kin - 1];
    *owed = ledger->facts->equal_is_one ? 1 : *owed + 1;
    return *owed > ledger_effects(ledger, index + 1);
}

void ledger_settle(struct ledger *ledger, bool complete)
{
    const uint32_t count = ledger->log->record_count;
    uint32_t *owed_of_kin = NULL;
    CHECK(ledger->missing_count == 0);
    if (ledger->log->equal_payloads) {
        owed_of_kin = arena_take_zeroed(ledger->arena, count * sizeof(*owed_of_kin) + 1);
    }
    for (uint32_t index = 0; index < count; index++) {
        const struct ledger_record *record = &ledger->records[index];
        const bool is_owed = !is_excused(record) && (record->covered_by != 0 || complete);
        const bool has_none = ledger_effects(ledger, index + 1) == 0;
        ledger->without_effect += has_none ? 1u : 0u;
        ledger->skipped += record->outcome == OUTCOME_SKIPPED ? 1u : 0u;
        if (is_owed && (owed_of_kin == NULL ? has_none : is_missing(ledger, index, owed_of_kin))) {
            ledger->missing[ledger->missing_count] = index + 1;
            ledger->missing_count++;
        }
    }
}
