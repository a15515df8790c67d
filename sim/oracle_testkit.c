#include "sim/oracle_testkit.h"

#include <string.h>

static _Alignas(16) uint8_t kit_memory[1 << 20];

const lane kit_writer = LANE_WRITER << 11;
const lane kit_committer = LANE_COMMITTER << 11;
const lane kit_policy = LANE_POLICY << 11;

bool kit_is_marked(const struct kit *kit, uint32_t mark)
{
    return marks_has(&kit->world.marks, mark);
}

void kit_init(struct kit *kit, const struct oracle_type *type)
{
    memset(kit, 0, sizeof(*kit));
    memset(kit_memory, 0xa5, sizeof(kit_memory));
    arena_init(&kit->arena, kit_memory, sizeof(kit_memory), sizeof(kit_memory));
    for (uint32_t index = 0; index < KIT_RECORDS; index++) {
        kit->records[index].record.position = index;
        kit->records[index].digest = 100 + index;
    }
    kit->split_starts[1] = KIT_RECORDS;
    kit->log = (struct source_log){
        .records = kit->records,
        .record_count = KIT_RECORDS,
        .split_starts = kit->split_starts,
        .split_count = 1,
    };
    store_init(&kit->store, &kit->arena, &kit->log, 2);
    journal_init(&kit->journal, &kit->arena);
    kit->world.arena = &kit->arena;
    kit->world.sched = &kit->sched;
    kit->world.journal = &kit->journal;
    kit->facts.target_service = KIT_TARGET;
    kit->facts.sink_services = UINT32_C(1) << KIT_TARGET;
    kit->facts.dead_letter_service = KIT_LETTERS;
    kit->staged_checkpoint = 1;
    kit->type = type;
}

void kit_start(struct kit *kit)
{
    kit->judge = arena_take(&kit->arena, sizeof(*kit->judge));
    judge_init(kit->judge, &kit->world, &kit->log, &kit->store, &kit->facts, &kit->type, 1);
    kit->attempt = 1;
    kit->attempts[0] = 1;
    kit->attempts[1] = 1;
    (void)kit_note(kit, (struct journal_entry){.kind = HOST_JOB_STARTED});
}

void kit_regions(struct kit *kit)
{
    kit->split_starts[1] = KIT_RECORDS / 2;
    kit->split_starts[2] = KIT_RECORDS;
    kit->log.split_count = 2;
    for (uint32_t index = KIT_RECORDS / 2; index < KIT_RECORDS; index++) {
        kit->records[index].record.split = 1;
        kit->records[index].record.position = index - KIT_RECORDS / 2;
    }
}

void kit_speak(struct kit *kit, uint32_t subtask)
{
    kit->subtask = subtask;
    kit->attempt = kit->attempts[subtask];
}

void kit_restart_region(struct kit *kit, uint32_t subtask, uint32_t checkpoint)
{
    const uint32_t other = 1 - subtask;
    const uint16_t latest = kit->attempts[other] > kit->attempts[subtask] ? kit->attempts[other]
                                                                          : kit->attempts[subtask];
    kit->attempts[subtask] = (uint16_t)(latest + 1);
    kit_speak(kit, subtask);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_REGION_STARTED,
                                          .lane = lane_make(LANE_TASK, subtask),
                                          .checkpoint = checkpoint,
                                          .a = 2});
}

uint32_t kit_note(struct kit *kit, struct journal_entry entry)
{
    entry.time = kit->sched.now;
    entry.attempt = entry.attempt == 0 ? kit->attempt : entry.attempt;
    return journal_append(&kit->journal, &entry);
}

void kit_host(struct kit *kit, enum journal_kind kind, record_id record)
{
    (void)kit_note(kit,
                   (struct journal_entry){.kind = (uint8_t)kind,
                                          .lane = (lane)(kit_writer + kit->subtask),
                                          .record = record});
}

void kit_wait(struct kit *kit, nanos duration)
{
    kit->sched.now += duration;
}

void kit_accept(struct kit *kit, record_id first, record_id last)
{
    for (record_id record = first; record <= last; record++) {
        kit_host(kit, HOST_RECORD, record);
        kit_host(kit, HOST_ACCEPTED, record);
    }
}

void kit_fail_record(struct kit *kit, record_id record, enum sink_reason reason)
{
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_RECORD_FAILED,
                                          .code = (uint8_t)reason,
                                          .lane = kit_writer,
                                          .record = record});
}

void kit_stage(struct kit *kit, record_id record, uint32_t envelope)
{
    CHECK(envelope < KIT_ENVELOPES);
    kit->staged[envelope] = (struct stored_request){
        .identity = envelope,
        .value = envelope * 1000u + kit->attempt,
        .record = record,
        .checkpoint = kit->staged_checkpoint,
    };
    kit_envelope(kit, HOST_STAGED, envelope);
    kit_envelope(kit, HOST_RECEIVED, envelope);
}

void kit_envelope(struct kit *kit, enum journal_kind kind, uint32_t envelope)
{
    const struct stored_request *staged = &kit->staged[envelope];
    const nanos origin = CLOCK_BASE + kit->sched.now;
    const bool is_staging = kind == HOST_STAGED;
    (void)kit_note(kit,
                   (struct journal_entry){
                       .kind = (uint8_t)kind,
                       .lane = (lane)((is_staging ? kit_writer : kit_committer) + kit->subtask),
                       .identity = staged->identity == 0 ? envelope : staged->identity,
                       .value = staged->value,
                       .record = staged->record,
                       .checkpoint = staged->checkpoint,
                       .a = is_staging ? origin : 0,
                       .b = is_staging ? nanos_add(origin, kit->facts.recovery_window) : 0,
                   });
}

/* Of these envelopes those whose records are of a region's split. */
static void collect(struct kit *kit,
                    struct stored_checkpoint *checkpoint,
                    uint32_t subtask,
                    const uint32_t *envelopes_or_null)
{
    const struct stored_request **requests =
        arena_take(&kit->arena, KIT_ENVELOPES * sizeof(struct stored_request *));
    struct stored_collection *collection = &checkpoint->collections[subtask];
    *collection = (struct stored_collection){.subtask = subtask, .requests = requests};
    for (uint32_t at = 0; envelopes_or_null != NULL && envelopes_or_null[at] != 0; at++) {
        const struct stored_request *staged = &kit->staged[envelopes_or_null[at]];
        const bool has_split = kit->log.split_count > 1 && staged->record != 0;
        if (has_split && kit->records[staged->record - 1].record.split != subtask) {
            continue;
        }
        struct stored_request *request = arena_take(&kit->arena, sizeof(*request));
        *request = *staged;
        requests[collection->request_count] = request;
        collection->request_count++;
    }
}

uint32_t kit_checkpoint(struct kit *kit, uint32_t covered, const uint32_t *envelopes_or_null)
{
    struct stored_checkpoint *checkpoint = store_begin(&kit->store, kit->attempt);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_CHECKPOINT_TRIGGERED,
                                          .checkpoint = checkpoint->number});
    const uint32_t splits = kit->log.split_count;
    uint64_t *positions = arena_take(&kit->arena, splits * sizeof(*positions));
    checkpoint->positions = positions;
    checkpoint->collections =
        arena_take_zeroed(&kit->arena, splits * sizeof(checkpoint->collections[0]));
    checkpoint->collection_count = splits;
    for (uint32_t split = 0; split < splits; split++) {
        positions[split] = covered;
        collect(kit, checkpoint, split, envelopes_or_null);
    }
    store_complete(&kit->store, checkpoint, kit->sched.now);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = HOST_CHECKPOINT_COMPLETED,
                                          .checkpoint = checkpoint->number});
    kit->staged_checkpoint = checkpoint->number + 1;
    return checkpoint->number;
}

void kit_inject(struct kit *kit, enum fault_kind kind, nanos length)
{
    (void)kit_note(
        kit,
        (struct journal_entry){
            .kind = HOST_INJECTED, .code = (uint8_t)kind, .lane = kit_committer, .a = length});
    if (kind == FAULT_CRASH) {
        kit_wait(kit, length);
    }
}

void kit_restart(struct kit *kit, uint32_t checkpoint)
{
    kit->attempt++;
    (void)kit_note(kit, (struct journal_entry){.kind = HOST_JOB_STARTED, .checkpoint = checkpoint});
}

uint32_t kit_send(struct kit *kit, lane sender, uint32_t envelope)
{
    kit->requests++;
    (void)kit_note(kit,
                   (struct journal_entry){
                       .kind = WIRE_ISSUED,
                       .lane = sender,
                       .request = kit->requests,
                       .identity = envelope,
                       .value = envelope * 7u,
                       .a = nanos_add(kit->sched.now, kit->facts.request_timeout),
                       .b = CLOCK_BASE + kit->sched.now,
                   });
    return kit->requests;
}

void kit_answer(struct kit *kit, uint32_t request)
{
    (void)kit_note(kit, (struct journal_entry){.kind = WIRE_ANSWERED, .request = request});
}

void kit_deliver(struct kit *kit, record_id record, uint32_t envelope, uint32_t resource)
{
    const uint32_t request = kit_send(kit, envelope == 0 ? kit_writer : kit_committer, envelope);
    kit_effect(kit, WORLD_CREATED, record, resource, request);
    kit_answer(kit, request);
}

void kit_effect(
    struct kit *kit, enum journal_kind kind, record_id record, uint32_t resource, uint32_t request)
{
    (void)kit_note(
        kit,
        (struct journal_entry){
            .kind = (uint8_t)kind,
            .code = kind == WORLD_VISIBLE || kind == WORLD_HIDDEN ? kit->facts.reader_class : 0,
            .lane = LANE_SERVICE << 11,
            .service = KIT_TARGET,
            .record = record,
            .request = request,
            .resource = resource,
            .generation = 1,
            .value = kind == WORLD_REMOVED ? 0 : 100 + record,
        });
}

void kit_letter(struct kit *kit, record_id record)
{
    (void)kit_note(kit,
                   (struct journal_entry){.kind = WORLD_CREATED,
                                          .lane = (LANE_SERVICE << 11) + 1,
                                          .service = KIT_LETTERS,
                                          .record = record,
                                          .resource = 1000 + record,
                                          .value = 100 + record});
}

const struct finding *kit_finding(const struct kit *kit)
{
    return &kit->judge->findings[0];
}

enum verdict kit_verdict(const struct kit *kit)
{
    return (enum verdict)kit_finding(kit)->verdict;
}

enum verdict kit_end(struct kit *kit, enum run_end end)
{
    judge_end(kit->judge, end);
    return kit_verdict(kit);
}

enum verdict kit_fail(struct kit *kit, enum sink_reason reason)
{
    (void)kit_note(kit, (struct journal_entry){.kind = HOST_JOB_FAILED, .a = (uint64_t)reason});
    return kit_end(kit, RUN_END_FAILED);
}
