/* The writer of the at-least-once sink: rows go to the outlet of their table (outlet.h); a barrier waits
 * until all of them are stored, and so does a flush of the interval, if there is one.
 *
 * State \ event  OPEN   RECORD    answer,    interval   POLICY_   BARRIER,       POLICY_    MORE   CLOSE
 *                                 TIMER      over       DROPPED   END_OF_INPUT   FLUSHED
 * NEW            OPEN,  !         !          !          !         !              !          -      CLOSED
 *                FAILED
 * OPEN           !      OPEN or   send,      DRAINING   forget    DRAINING       !          send   CLOSED
 *                       HOLDING   FAILED
 * HOLDING        !      !         OPEN,      DRAINING   forget    !              !          send   CLOSED
 *                                 FAILED
 * DRAINING       !      !         FLUSHING,  -          FLUSHING  !              !          send   CLOSED
 *                                 FAILED
 * FLUSHING       !      !         -          -          !         !              OPEN       -      CLOSED
 * FAILED         -      -         -          -          -         -              -          -      CLOSED
 * CLOSED         -      -         -          -          -         -              -          -      -
 *
 * "!" is a host's broken contract and a CHECK. The failure policy is flushed behind the drain, for it is the
 * drain that finds rows which are none. Nothing is kept in checkpoints: a restored writer begins anew, and
 * what it gets again is there twice. A flush of the interval ends with READY, one of a barrier with its
 * answer. POLICY_FAILED fails at any time. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/at_least_once/at_least_once.h"
#include "sinks/bigquery/at_least_once/change.h"
#include "sinks/bigquery/at_least_once/outlet.h"
#include "sinks/effects.h"

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_DRAINING,
    STATE_FLUSHING,
    STATE_FAILED,
    STATE_CLOSED,
};

struct writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct bigquery_config config;
    bool destination_fixed;
    uint8_t state;       /* enum state */
    struct list outlets; /* struct outlet, in the order of their first use */
    struct destination_host host;
    bool at_barrier;  /* what is drained for */
    uint64_t barrier; /* if so */
    struct parking_slot interval;
};

/* One step's arguments. */
struct step {
    struct writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static struct outlet *outlet_of(struct list_link *link)
{
    return LIST_ITEM(link, struct outlet, link);
}

static struct outlet *first_outlet(const struct writer *writer)
{
    struct list_link *link = list_first(&writer->outlets);
    return link == NULL ? NULL : outlet_of(link);
}

static struct outlet *next_outlet(const struct writer *writer, struct outlet *at)
{
    struct list_link *link = list_next(&writer->outlets, &at->link);
    return link == NULL ? NULL : outlet_of(link);
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    step->writer->state = STATE_FAILED;
    effects_phase(step->effects, BIGQUERY_EAGER_PHASE_WRITER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

/* --- tables ------------------------------------------------------------------------------------ */

/* Find or make; NULL without memory. */
static struct outlet *obtain(const struct step *step, struct bytes table)
{
    struct writer *writer = step->writer;
    struct outlet *at = first_outlet(writer);
    while (at != NULL && !bytes_equal(at->table, table)) {
        at = next_outlet(writer, at);
    }
    if (at == NULL) {
        at = outlet_make(&writer->host, table);
        if (at != NULL) {
            at->last_access = step->now->monotonic;
            list_push_back(&writer->outlets, &at->link);
        }
    }
    return at;
}

static void forget(struct writer *writer, struct outlet *outlet)
{
    list_remove(&writer->outlets, &outlet->link);
    outlet_release(&writer->host, outlet);
}

static void evict_idle(const struct step *step)
{
    struct writer *writer = step->writer;
    struct outlet *at = first_outlet(writer);
    while (at != NULL) {
        struct outlet *next = next_outlet(writer, at);
        const nanos idle = nanos_sub(step->now->monotonic, at->last_access);
        if (idle > writer->config.idle_timeout && outlet_is_drained(at) &&
            effects_has_space(step->effects)) {
            outlet_close(&writer->host, at);
            forget(writer, at);
            effects_phase(step->effects, BIGQUERY_EAGER_PHASE_DESTINATION_EVICTED);
        }
        at = next;
    }
}

/* --- records ----------------------------------------------------------------------------------- */

static void
fail_record(const struct step *step, uint64_t token, struct bytes payload, enum sink_reason reason)
{
    struct writer *writer = step->writer;
    destination_host_reject(&writer->host, token, payload, writer->config.table, reason);
}

/* Section 2.2: a resolver that gives no table is a fault of the configuration, not of the record. */
static bool resolve(const struct step *step, const struct sink_record *record, struct bytes *table)
{
    struct writer *writer = step->writer;
    struct bigquery_table_name parts;
    *table = writer->config.table;
    if (writer->destination_fixed || writer->user->resolve == NULL) {
        return true;
    }
    if (writer->user->resolve(writer->user->context, record, table) != SINK_USER_OK ||
        !bigquery_table_parse(*table, &parts)) {
        fail_text(step, SINK_REASON_RESOLVER, "the destination resolver gave no table");
        return false;
    }
    return true;
}

static void hold(const struct step *step)
{
    step->writer->state = STATE_HOLDING;
    effects_phase(step->effects, BIGQUERY_EAGER_PHASE_WRITER_HOLDING);
    effects_simple(step->effects, SINK_EFFECT_BUSY);
}

static void take_row(const struct step *step,
                     const struct sink_record *record,
                     struct bytes table,
                     struct bytes serialized,
                     struct bytes tail)
{
    struct writer *writer = step->writer;
    struct outlet *outlet = obtain(step, table);
    if (outlet != NULL && !outlet_describe(&writer->host, outlet, writer->user, record)) {
        return;
    }
    struct append_row *row =
        outlet == NULL
            ? NULL
            : append_row_make_with_tail(writer->allocator, serialized, tail, record->token);
    if (row == NULL || outlet_add(&writer->host, outlet, row) != ERR_OK) {
        if (row != NULL) {
            append_row_release(writer->allocator, row);
        }
        fail_text(step, SINK_REASON_MEMORY, "no memory for a row");
        return;
    }
    effects_metric(step->effects, BIGQUERY_METRIC_RECORDS_SENT, 1);
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
    if (outlet_is_full(&writer->host, outlet)) {
        hold(step);
    }
}

/* A row says how it changes the table, where that is asked for. */
static void take_change(const struct step *step,
                        const struct sink_record *record,
                        struct bytes table,
                        struct bytes serialized)
{
    const struct bigquery_config *config = &step->writer->config;
    uint8_t text[BIGQUERY_CHANGE_SIZE_MAX];
    struct byte_writer tail;
    byte_writer_init(&tail, text, sizeof(text));
    if (config->changes && !bigquery_change_write(record, config->sequence, &tail)) {
        fail_record(step, record->token, serialized, SINK_REASON_REJECTED);
        return;
    }
    take_row(step, record, table, serialized, byte_writer_view(&tail));
}

static void write_record(const struct step *step, const struct sink_record *record)
{
    struct writer *writer = step->writer;
    struct bytes table;
    struct bytes serialized = {0};
    if (!resolve(step, record, &table)) {
        return;
    }
    const enum sink_user_result result =
        writer->user->serialize(writer->user->context, record, table, &serialized);
    if (result == SINK_USER_NONE) {
        effects_metric(step->effects, BIGQUERY_METRIC_RECORDS_SKIPPED, 1);
        effects_token(step->effects, SINK_EFFECT_SKIPPED, record->token);
    } else if (result == SINK_USER_FAILED) {
        fail_record(step, record->token, (struct bytes){0}, SINK_REASON_SERIALIZER);
    } else if (serialized.size > writer->config.row_bytes_max) {
        fail_record(step, record->token, serialized, SINK_REASON_REJECTED);
    } else {
        take_change(step, record, table, serialized);
    }
}

/* --- flushes ----------------------------------------------------------------------------------- */

static void begin_flush(const struct step *step)
{
    struct writer *writer = step->writer;
    writer->state = STATE_DRAINING;
    for (struct outlet *at = first_outlet(writer); at != NULL; at = next_outlet(writer, at)) {
        outlet_send_all(at);
    }
}

static void begin_barrier(const struct step *step, uint64_t checkpoint)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_OPEN);
    writer->at_barrier = true;
    writer->barrier = checkpoint;
    begin_flush(step);
}

/* A flush that is under way serves as well. */
static void interval_over(const struct step *step)
{
    struct writer *writer = step->writer;
    if (writer->state == STATE_OPEN || writer->state == STATE_HOLDING) {
        if (writer->state == STATE_OPEN) {
            effects_simple(step->effects, SINK_EFFECT_BUSY);
        }
        effects_phase(step->effects, BIGQUERY_EAGER_PHASE_INTERVAL_PASSED);
        writer->at_barrier = false;
        begin_flush(step);
    }
}

static void end_flush(const struct step *step)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_FLUSHING);
    writer->state = STATE_OPEN;
    if (!writer->at_barrier || writer->barrier != SINK_END_OF_INPUT) {
        evict_idle(step);
    }
    if (writer->at_barrier) {
        effects_barrier_done(step->effects, writer->barrier);
    } else {
        effects_simple(step->effects, SINK_EFFECT_READY);
    }
}

/* --- going on ---------------------------------------------------------------------------------- */

static bool all_are_drained(const struct writer *writer)
{
    bool drained = writer->host.verdicts == 0;
    for (struct outlet *at = first_outlet(writer); at != NULL && drained;
         at = next_outlet(writer, at)) {
        drained = outlet_is_drained(at);
    }
    return drained;
}

static bool none_is_full(const struct writer *writer)
{
    bool full = false;
    for (struct outlet *at = first_outlet(writer); at != NULL && !full;
         at = next_outlet(writer, at)) {
        full = outlet_is_full(&writer->host, at);
    }
    return !full;
}

static void report_failure(const struct step *step)
{
    const struct destination_host *host = &step->writer->host;
    fail(step,
         host->reason,
         host->has_status ? &host->status : NULL,
         byte_writer_view(&host->message));
}

static void await_interval(const struct step *step)
{
    struct writer *writer = step->writer;
    const nanos interval = writer->config.flush_interval;
    if (interval > 0 &&
        parking_add(
            &writer->host.parking, &writer->interval, step->now->monotonic, interval, interval) !=
            ERR_OK) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for the flush interval");
    }
}

static void advance(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct outlet *at = first_outlet(writer);
         at != NULL && writer->host.reason == SINK_REASON_NONE;
         at = next_outlet(writer, at)) {
        outlet_advance(&writer->host, at);
    }
    if (writer->host.reason != SINK_REASON_NONE) {
        report_failure(step);
        return;
    }
    if (writer->state == STATE_HOLDING && none_is_full(writer)) {
        writer->state = STATE_OPEN;
        effects_simple(step->effects, SINK_EFFECT_READY);
    } else if (writer->state == STATE_DRAINING && all_are_drained(writer)) {
        writer->state = STATE_FLUSHING;
        effects_phase(step->effects, BIGQUERY_EAGER_PHASE_POLICY_FLUSHING);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    }
    parking_arm(&writer->host.parking, step->now->monotonic, step->effects);
}

static void take_answer(const struct step *step, const struct port_answer *answer)
{
    struct writer *writer = step->writer;
    struct outlet *at = first_outlet(writer);
    while (at != NULL && !outlet_answer(&writer->host, at, answer)) {
        at = next_outlet(writer, at);
    }
}

static void take_slot(const struct step *step, const struct parking_slot *slot)
{
    struct writer *writer = step->writer;
    struct outlet *at = first_outlet(writer);
    if (slot == &writer->interval) {
        interval_over(step);
        await_interval(step);
        return;
    }
    while (at != NULL && !outlet_due(&writer->host, at, slot)) {
        at = next_outlet(writer, at);
    }
    CHECK(at != NULL);
}

static void take_due(const struct step *step)
{
    struct parking *parking = &step->writer->host.parking;
    parking_fired(parking);
    for (struct parking_slot *slot = parking_take_due(parking, step->now->monotonic); slot != NULL;
         slot = parking_take_due(parking, step->now->monotonic)) {
        take_slot(step, slot);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

static void open_writer(const struct step *step, const struct sink_event *event)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_NEW);
    if (event->u.open.piece_count > 0) {
        fail_text(step, SINK_REASON_STATE, "this sink keeps no state, and some was restored");
        return;
    }
    writer->state = STATE_OPEN;
    effects_phase(step->effects, BIGQUERY_EAGER_PHASE_WRITER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
    await_interval(step);
}

/* What waits for company is not sent: the source has it still. */
static void close_writer(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct outlet *at = first_outlet(writer); at != NULL; at = next_outlet(writer, at)) {
        outlet_close(&writer->host, at);
    }
    parking_clear(&writer->host.parking);
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, BIGQUERY_EAGER_PHASE_WRITER_CLOSED);
    effects_simple(step->effects, SINK_EFFECT_CLOSED);
}

static void handle(const struct step *step, const struct sink_event *event)
{
    struct writer *writer = step->writer;
    switch ((enum sink_event_kind)event->kind) {
    case SINK_EVENT_OPEN:
        open_writer(step, event);
        return;
    case SINK_EVENT_RECORD:
        CHECK(writer->state == STATE_OPEN);
        write_record(step, &event->u.record);
        return;
    case SINK_EVENT_ANSWER:
    case SINK_EVENT_STREAM_MESSAGE:
    case SINK_EVENT_STREAM_END:
        CHECK(writer->state != STATE_NEW);
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
        CHECK(writer->state != STATE_NEW);
        fail_text(step, SINK_REASON_POLICY, "the failure policy failed the job");
        return;
    case SINK_EVENT_POLICY_FLUSHED:
        end_flush(step);
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

static void step_writer(void *state,
                        const struct sink_now *now,
                        const struct sink_event *event,
                        struct sink_effects *effects)
{
    struct writer *writer = state;
    const struct step step = {writer, now, effects};
    writer->host.now = now;
    writer->host.effects = effects;
    if (event->kind == SINK_EVENT_CLOSE && writer->state != STATE_CLOSED) {
        close_writer(&step);
        return;
    }
    if (writer->state >= STATE_FAILED) {
        return;
    }
    handle(&step, event);
    if (writer->state > STATE_NEW && writer->state < STATE_FAILED) {
        advance(&step);
    }
}

static enum err init(void *state, const struct sink_env *env)
{
    struct writer *writer = state;
    uint8_t text[256];
    struct byte_writer complaint;
    byte_writer_init(&complaint, text, sizeof(text));
    writer->allocator = env->allocator;
    writer->user = env->user;
    writer->destination_fixed = env->job->destination_fixed;
    list_init(&writer->outlets);
    const enum err err = bigquery_configure_eager(env->options, &writer->config, &complaint);
    destination_host_init(
        &writer->host, env->allocator, &writer->config, BIGQUERY_EAGER_PHASE_ROW_ROUTED);
    return err;
}

static uint64_t digest_writer(const void *state)
{
    const struct writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->barrier);
    digest = digest_fold(digest, writer->at_barrier);
    digest = digest_fold(digest, writer->host.verdicts);
    digest = digest_fold(digest, writer->host.numbers.request);
    digest = digest_fold(digest, writer->host.numbers.stream);
    digest = digest_fold(digest, writer->host.handed.count);
    for (struct outlet *at = first_outlet(writer); at != NULL; at = next_outlet(writer, at)) {
        digest = outlet_digest(digest, at);
    }
    return digest_fold(digest, parking_digest(&writer->host.parking));
}

static void fini(void *state)
{
    struct writer *writer = state;
    parking_remove(&writer->host.parking, &writer->interval);
    while (!list_is_empty(&writer->outlets)) {
        forget(writer, first_outlet(writer));
    }
    destination_host_fini(&writer->host);
}

const struct sink_half bigquery_at_least_once_writer_half = {
    .state_size = sizeof(struct writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
