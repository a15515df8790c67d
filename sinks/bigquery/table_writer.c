#include "sinks/bigquery/table_writer.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/effects.h"

static struct writer_table *first_table(const struct table_writer *writer)
{
    struct list_link *link = list_first(&writer->tables);
    return link == NULL ? NULL : writer_table_of(link);
}

static struct writer_table *next_table(const struct table_writer *writer, struct writer_table *at)
{
    struct list_link *link = list_next(&writer->tables, &at->link);
    return link == NULL ? NULL : writer_table_of(link);
}

/* --- failing ----------------------------------------------------------------------------------- */

void table_writer_fail(const struct table_writer_step *step,
                       enum sink_reason reason,
                       const struct port_status *status_or_null,
                       struct bytes message)
{
    step->writer->state = TABLE_WRITER_FAILED;
    effects_phase(step->effects, step->writer->mode->phases.failed);
    effects_fail(step->effects, reason, status_or_null, message);
}

void table_writer_fail_text(const struct table_writer_step *step,
                            enum sink_reason reason,
                            const char *message)
{
    table_writer_fail(step, reason, NULL, bytes_of_text(message));
}

/* --- tables ------------------------------------------------------------------------------------ */

struct writer_table *table_writer_obtain(const struct table_writer_step *step, struct bytes name)
{
    struct table_writer *writer = step->writer;
    struct writer_table *at = first_table(writer);
    while (at != NULL && !bytes_equal(at->name, name)) {
        at = next_table(writer, at);
    }
    if (at == NULL) {
        at = writer->mode->tables->make(&writer->host, name);
        if (at != NULL) {
            at->last_access = step->now->monotonic;
            list_push_back(&writer->tables, &at->link);
        }
    }
    return at;
}

static void forget(struct table_writer *writer, struct writer_table *table)
{
    list_remove(&writer->tables, &table->link);
    writer->mode->tables->release(&writer->host, table);
}

/* A table that nobody writes to any more. */
static void evict_idle(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    const struct table_functions *tables = writer->mode->tables;
    struct writer_table *at = first_table(writer);
    while (at != NULL) {
        struct writer_table *next = next_table(writer, at);
        const nanos idle = nanos_sub(step->now->monotonic, at->last_access);
        if (idle > writer->config.idle_timeout && tables->is_spare(at) &&
            effects_has_space(step->effects)) {
            tables->close(&writer->host, at);
            forget(writer, at);
            effects_phase(step->effects, writer->mode->phases.evicted);
        }
        at = next;
    }
}

/* --- records ----------------------------------------------------------------------------------- */

static void fail_record(const struct table_writer_step *step,
                        uint64_t token,
                        struct bytes payload,
                        enum sink_reason reason)
{
    struct table_writer *writer = step->writer;
    destination_host_reject(&writer->host, token, payload, writer->config.table, reason);
}

/* Section 2.2: a resolver that gives no table is a fault of the configuration, not of the record. */
static bool
resolve(const struct table_writer_step *step, const struct sink_record *record, struct bytes *table)
{
    struct table_writer *writer = step->writer;
    struct bigquery_table_name parts;
    *table = writer->config.table;
    if (writer->destination_fixed || writer->user->resolve == NULL) {
        return true;
    }
    if (writer->user->resolve(writer->user->context, record, table) != SINK_USER_OK ||
        !bigquery_table_parse(*table, &parts)) {
        table_writer_fail_text(
            step, SINK_REASON_RESOLVER, "the destination resolver gave no table");
        return false;
    }
    return true;
}

static void hold(const struct table_writer_step *step)
{
    step->writer->state = TABLE_WRITER_HOLDING;
    effects_phase(step->effects, step->writer->mode->phases.holding);
    effects_simple(step->effects, SINK_EFFECT_BUSY);
}

static void take_row(const struct table_writer_step *step,
                     const struct sink_record *record,
                     struct bytes name,
                     struct bytes serialized,
                     struct bytes tail)
{
    struct table_writer *writer = step->writer;
    const struct table_functions *tables = writer->mode->tables;
    struct writer_table *table = table_writer_obtain(step, name);
    if (table != NULL && !tables->describe(&writer->host, table, writer->user, record)) {
        return;
    }
    struct append_row *row =
        table == NULL
            ? NULL
            : append_row_make_with_tail(writer->allocator, serialized, tail, record->token);
    if (row == NULL || tables->add(&writer->host, table, row) != ERR_OK) {
        if (row != NULL) {
            append_row_release(writer->allocator, row);
        }
        table_writer_fail_text(step, SINK_REASON_MEMORY, "no memory for a row");
        return;
    }
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
    if (tables->is_full(&writer->host, table)) {
        hold(step);
    }
}

static void take_serialized(const struct table_writer_step *step,
                            const struct sink_record *record,
                            struct bytes name,
                            struct bytes serialized)
{
    const struct table_writer *writer = step->writer;
    uint8_t text[TABLE_WRITER_TAIL_SIZE_MAX];
    struct byte_writer tail;
    byte_writer_init(&tail, text, sizeof(text));
    if (writer->mode->write_tail != NULL && !writer->mode->write_tail(step, record, &tail)) {
        fail_record(step, record->token, serialized, SINK_REASON_REJECTED);
        return;
    }
    take_row(step, record, name, serialized, byte_writer_view(&tail));
}

static void write_record(const struct table_writer_step *step, const struct sink_record *record)
{
    struct table_writer *writer = step->writer;
    struct bytes name;
    struct bytes serialized = {0};
    if (!resolve(step, record, &name)) {
        return;
    }
    const enum sink_user_result result =
        writer->user->serialize(writer->user->context, record, name, &serialized);
    if (result == SINK_USER_NONE) {
        effects_metric(step->effects, BIGQUERY_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
    } else if (result == SINK_USER_FAILED) {
        fail_record(step, record->token, (struct bytes){0}, SINK_REASON_SERIALIZER);
    } else if (serialized.size > writer->config.row_bytes_max) {
        fail_record(step, record->token, serialized, SINK_REASON_REJECTED);
    } else {
        take_serialized(step, record, name, serialized);
    }
}

/* --- flushes ----------------------------------------------------------------------------------- */

static void begin_drain(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    writer->state = TABLE_WRITER_DRAINING;
    for (struct writer_table *at = first_table(writer); at != NULL; at = next_table(writer, at)) {
        writer->mode->tables->send_all(at);
    }
}

static void begin_barrier(const struct table_writer_step *step, uint64_t checkpoint)
{
    struct table_writer *writer = step->writer;
    CHECK(writer->state == TABLE_WRITER_OPEN);
    writer->at_barrier = true;
    writer->barrier = checkpoint;
    begin_drain(step);
}

bool table_writer_flush(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    CHECK(writer->mode->hand_over == NULL);
    if (writer->state != TABLE_WRITER_OPEN && writer->state != TABLE_WRITER_HOLDING) {
        return false;
    }
    if (writer->state == TABLE_WRITER_OPEN) {
        effects_simple(step->effects, SINK_EFFECT_BUSY);
    }
    writer->at_barrier = false;
    begin_drain(step);
    return true;
}

static void answer_flush(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    writer->state = TABLE_WRITER_OPEN;
    if (writer->at_barrier) {
        effects_barrier_done(step->effects, writer->barrier);
    } else {
        effects_simple(step->effects, SINK_EFFECT_READY);
    }
}

/* As many tables as there is space for in this step. */
static void hand_over(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    for (struct writer_table *at = first_table(writer); at != NULL; at = next_table(writer, at)) {
        if (at->handed_for == writer->snapshots) {
            continue;
        }
        if (!effects_has_space(step->effects) || !writer->mode->hand_over(step, at)) {
            return;
        }
        at->handed_for = writer->snapshots;
    }
    answer_flush(step);
}

static void policy_flushed(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    CHECK(writer->state == TABLE_WRITER_FLUSHING);
    if (!writer->at_barrier || writer->barrier != SINK_END_OF_INPUT) {
        evict_idle(step);
    }
    if (writer->mode->hand_over != NULL) {
        writer->state = TABLE_WRITER_HANDING_OVER;
        writer->snapshots++;
    } else {
        answer_flush(step);
    }
}

/* --- going on ---------------------------------------------------------------------------------- */

static bool all_are_drained(const struct table_writer *writer)
{
    bool drained = writer->host.verdicts == 0;
    for (struct writer_table *at = first_table(writer); at != NULL && drained;
         at = next_table(writer, at)) {
        drained = writer->mode->tables->is_drained(at);
    }
    return drained;
}

static bool none_is_full(const struct table_writer *writer)
{
    bool full = false;
    for (struct writer_table *at = first_table(writer); at != NULL && !full;
         at = next_table(writer, at)) {
        full = writer->mode->tables->is_full(&writer->host, at);
    }
    return !full;
}

static void report_failure(const struct table_writer_step *step)
{
    const struct destination_host *host = &step->writer->host;
    table_writer_fail(step,
                      host->reason,
                      host->has_status ? &host->status : NULL,
                      byte_writer_view(&host->message));
}

static void advance(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    for (struct writer_table *at = first_table(writer);
         at != NULL && writer->host.reason == SINK_REASON_NONE;
         at = next_table(writer, at)) {
        writer->mode->tables->advance(&writer->host, at);
    }
    if (writer->host.reason != SINK_REASON_NONE) {
        report_failure(step);
        return;
    }
    if (writer->state == TABLE_WRITER_HOLDING && none_is_full(writer)) {
        writer->state = TABLE_WRITER_OPEN;
        effects_simple(step->effects, SINK_EFFECT_READY);
    } else if (writer->state == TABLE_WRITER_DRAINING && all_are_drained(writer)) {
        writer->state = TABLE_WRITER_FLUSHING;
        effects_phase(step->effects, writer->mode->phases.policy_flushing);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    } else if (writer->state == TABLE_WRITER_HANDING_OVER) {
        hand_over(step);
    }
    if (writer->state != TABLE_WRITER_FAILED) {
        parking_arm(&writer->host.parking, step->now->monotonic, step->effects);
    }
}

static void take_answer(const struct table_writer_step *step, const struct port_answer *answer)
{
    struct table_writer *writer = step->writer;
    struct writer_table *at = first_table(writer);
    while (at != NULL && !writer->mode->tables->answer(&writer->host, at, answer)) {
        at = next_table(writer, at);
    }
}

static void take_slot(const struct table_writer_step *step, const struct parking_slot *slot)
{
    struct table_writer *writer = step->writer;
    struct writer_table *at = first_table(writer);
    if (writer->mode->due != NULL && writer->mode->due(step, slot)) {
        return;
    }
    while (at != NULL && !writer->mode->tables->due(&writer->host, at, slot)) {
        at = next_table(writer, at);
    }
    CHECK(at != NULL);
}

static void take_due(const struct table_writer_step *step)
{
    struct parking *parking = &step->writer->host.parking;
    parking_fired(parking);
    for (struct parking_slot *slot = parking_take_due(parking, step->now->monotonic); slot != NULL;
         slot = parking_take_due(parking, step->now->monotonic)) {
        take_slot(step, slot);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_writer(const struct table_writer_step *step, const struct sink_event *event)
{
    struct table_writer *writer = step->writer;
    CHECK(writer->state == TABLE_WRITER_NEW);
    if (writer->mode->open(step, event)) {
        writer->state = TABLE_WRITER_OPEN;
        effects_phase(step->effects, writer->mode->phases.opened);
        effects_simple(step->effects, SINK_EFFECT_OPENED);
    }
}

/* What waits for company is not sent: the source has it still. */
static void close_writer(const struct table_writer_step *step)
{
    struct table_writer *writer = step->writer;
    for (struct writer_table *at = first_table(writer); at != NULL; at = next_table(writer, at)) {
        writer->mode->tables->close(&writer->host, at);
    }
    parking_clear(&writer->host.parking);
    writer->state = TABLE_WRITER_CLOSED;
    effects_phase(step->effects, writer->mode->phases.closed);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct table_writer_step *step, const struct sink_event *event)
{
    struct table_writer *writer = step->writer;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(step, event);
        return;
    case SINK_EVENT_RECORD:
        CHECK(writer->state == TABLE_WRITER_OPEN);
        write_record(step, &event->u.record);
        return;
    case SINK_EVENT_ANSWER:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
        CHECK(writer->state != TABLE_WRITER_NEW);
        take_answer(step, &event->u.answer);
        return;
    case SINK_EVENT_TIMER:
        take_due(step);
        return;
    case SINK_EVENT_BARRIER:
        begin_barrier(step, event->u.checkpoint);
        return;
    case SINK_EVENT_END_OF_INPUT:
        begin_barrier(step, SINK_END_OF_INPUT);
        return;
    case SINK_EVENT_POLICY_DROPPED:
        destination_host_dropped(&writer->host, event->u.policy.token);
        return;
    case SINK_EVENT_POLICY_FAILED:
        CHECK(writer->state != TABLE_WRITER_NEW);
        table_writer_fail_text(step, SINK_REASON_POLICY, "the failure policy failed the job");
        return;
    case SINK_EVENT_POLICY_FLUSHED:
        policy_flushed(step);
        return;
    case SINK_EVENT_MORE:
    case SINK_EVENT_CHECKPOINT_COMPLETE:
    case SINK_EVENT_CHECKPOINT_ABORTED:
        return;
    case SINK_EVENT_CLOSE: /* served before */
    case SINK_EVENT_NONE:
    case SINK_EVENT_COMMIT:
    case SINK_EVENT_HANDLE:
    case SINK_EVENT_FLUSH:
    case SINK_EVENT_INPUT_TIMEOUT:
    case SINK_EVENT_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

void table_writer_step(void *state,
                       const struct sink_now *now,
                       const struct sink_event *event,
                       struct sink_effects *effects)
{
    struct table_writer *writer = state;
    const struct table_writer_step step = {writer, now, effects};
    writer->host.now = now;
    writer->host.effects = effects;
    if (event->kind == SINK_EVENT_CLOSE && writer->state != TABLE_WRITER_CLOSED) {
        close_writer(&step);
        return;
    }
    if (writer->state >= TABLE_WRITER_FAILED) {
        return;
    }
    handle(&step, event);
    if (writer->state > TABLE_WRITER_NEW && writer->state < TABLE_WRITER_FAILED) {
        advance(&step);
    }
}

void table_writer_init(struct table_writer *writer,
                       const struct table_writer_mode *mode,
                       const struct sink_env *env)
{
    writer->mode = mode;
    writer->allocator = env->allocator;
    writer->user = env->user;
    writer->subtask = env->subtask;
    writer->destination_fixed = env->job->destination_fixed;
    list_init(&writer->tables);
    destination_host_init(&writer->host, env->allocator, &writer->config, mode->phases.row_routed);
}

uint64_t table_writer_digest(const void *state)
{
    const struct table_writer *writer = state;
    const bool hands_over = writer->mode->hand_over != NULL;
    /* A mode without it does not count the state of handing over. */
    const uint64_t skipped = !hands_over && writer->state > TABLE_WRITER_HANDING_OVER ? 1 : 0;
    uint64_t digest = digest_fold(writer->state - skipped, writer->barrier);
    digest = digest_fold(digest, hands_over ? writer->snapshots : writer->at_barrier);
    digest = digest_fold(digest, writer->host.verdicts);
    digest = digest_fold(digest, writer->host.numbers.request);
    digest = digest_fold(digest, writer->host.numbers.stream);
    digest = digest_fold(digest, writer->host.handed.count);
    for (struct writer_table *at = first_table(writer); at != NULL; at = next_table(writer, at)) {
        digest = writer->mode->tables->digest(digest, at);
    }
    return digest_fold(digest, parking_digest(&writer->host.parking));
}

void table_writer_fini(void *state)
{
    struct table_writer *writer = state;
    while (!list_is_empty(&writer->tables)) {
        forget(writer, first_table(writer));
    }
    destination_host_fini(&writer->host);
}
