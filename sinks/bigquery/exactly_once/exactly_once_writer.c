/* The writer of the exactly-once sink: rows go to the destination of their table (destination.h), which
 * appends them to its stream; a barrier waits until all of them are stored.
 *
 * State \ event  OPEN   RECORD    answer,    POLICY_   BARRIER,       POLICY_       MORE   CLOSE
 *                                 TIMER      DROPPED   END_OF_INPUT   FLUSHED
 * NEW            OPEN,  !         !          !         !              !             -      CLOSED
 *                FAILED
 * OPEN           !      OPEN or   send,      forget    DRAINING       !             send   CLOSED
 *                       HOLDING   FAILED
 * HOLDING        !      !         OPEN,      forget    !              !             send   CLOSED
 *                                 FAILED
 * DRAINING       !      !         FLUSHING,  FLUSHING  !              !             send   CLOSED
 *                                 FAILED
 * FLUSHING       !      !         -          !         !              HANDING_OVER  -      CLOSED
 * HANDING_OVER   !      !         -          !         !              !             OPEN   CLOSED
 * FAILED         -      -         -          -         -              -             -      CLOSED
 * CLOSED         -      -         -          -         -              -             -      -
 *
 * "!" is a host's broken contract and a CHECK. The failure policy is flushed behind the drain, for it is the
 * drain that finds rows which are none. HANDING_OVER writes, for each table, a piece of state, and a
 * committable that names its stream and the last row of the interval, if any row came since the latest
 * snapshot. POLICY_FAILED fails at any time. close finalizes nothing: a committable may name any stream. */
#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/exactly_once/destination.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/effects.h"

enum state {
    STATE_NEW = 0,
    STATE_OPEN,
    STATE_HOLDING,
    STATE_DRAINING,
    STATE_FLUSHING,
    STATE_HANDING_OVER,
    STATE_FAILED,
    STATE_CLOSED,
};

struct writer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct bigquery_config config;
    uint32_t subtask;
    bool destination_fixed;
    uint8_t state;            /* enum state */
    struct list destinations; /* struct destination, in the order of their first use */
    struct destination_host host;
    uint64_t barrier;
    uint64_t barriers; /* answered so far, to tell one snapshot from another */
};

/* One step's arguments. */
struct step {
    struct writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

static struct destination *destination_of(struct list_link *link)
{
    return LIST_ITEM(link, struct destination, link);
}

static struct destination *first_destination(const struct writer *writer)
{
    struct list_link *link = list_first(&writer->destinations);
    return link == NULL ? NULL : destination_of(link);
}

static struct destination *next_destination(const struct writer *writer, struct destination *at)
{
    struct list_link *link = list_next(&writer->destinations, &at->link);
    return link == NULL ? NULL : destination_of(link);
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 struct bytes message)
{
    step->writer->state = STATE_FAILED;
    effects_phase(step->effects, BIGQUERY_PHASE_WRITER_FAILED);
    effects_fail(step->effects, reason, status_or_null, message);
}

static void fail_text(const struct step *step, enum sink_reason reason, const char *message)
{
    fail(step, reason, NULL, bytes_of_text(message));
}

/* --- tables ------------------------------------------------------------------------------------ */

static struct destination *find(const struct writer *writer, struct bytes table)
{
    struct destination *at = first_destination(writer);
    while (at != NULL && !bytes_equal(at->table, table)) {
        at = next_destination(writer, at);
    }
    return at;
}

/* Find or make; NULL without memory. */
static struct destination *obtain(const struct step *step, struct bytes table)
{
    struct destination *found = find(step->writer, table);
    if (found == NULL) {
        found = destination_make(&step->writer->host, table);
        if (found != NULL) {
            found->last_access = step->now->monotonic;
            list_push_back(&step->writer->destinations, &found->link);
        }
    }
    return found;
}

static void forget(struct writer *writer, struct destination *destination)
{
    list_remove(&writer->destinations, &destination->link);
    destination_release(&writer->host, destination);
}

/* A table that nobody writes to any more, and whose stream the latest snapshot has as it is. */
static void evict_idle(const struct step *step)
{
    struct writer *writer = step->writer;
    struct destination *at = first_destination(writer);
    while (at != NULL) {
        struct destination *next = next_destination(writer, at);
        const nanos idle = nanos_sub(step->now->monotonic, at->last_access);
        if (idle > writer->config.idle_timeout && at->is_snapped &&
            at->snap_offset == at->next_offset && effects_has_space(step->effects)) {
            destination_close(&writer->host, at);
            forget(writer, at);
            effects_phase(step->effects, BIGQUERY_PHASE_DESTINATION_EVICTED);
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

static void hold_if_full(const struct step *step, const struct destination *destination)
{
    if (destination_is_full(&step->writer->host, destination)) {
        step->writer->state = STATE_HOLDING;
        effects_phase(step->effects, BIGQUERY_PHASE_WRITER_HOLDING);
        effects_simple(step->effects, SINK_EFFECT_BUSY);
    }
}

static void take_row(const struct step *step,
                     const struct sink_record *record,
                     struct bytes table,
                     struct bytes serialized)
{
    struct writer *writer = step->writer;
    struct destination *destination = obtain(step, table);
    if (destination != NULL &&
        !destination_describe(&writer->host, destination, writer->user, record)) {
        return;
    }
    struct append_row *row =
        destination == NULL ? NULL : append_row_make(writer->allocator, serialized, record->token);
    if (row == NULL || destination_add(&writer->host, destination, row) != ERR_OK) {
        if (row != NULL) {
            append_row_release(writer->allocator, row);
        }
        fail_text(step, SINK_REASON_MEMORY, "no memory for a row");
        return;
    }
    effects_metric(step->effects, BIGQUERY_METRIC_RECORDS_SENT, 1);
    effects_token(step->effects, SINK_EFFECT_ACCEPTED, record->token);
    hold_if_full(step, destination);
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
        take_row(step, record, table, serialized);
    }
}

/* --- barriers ---------------------------------------------------------------------------------- */

static void begin_barrier(const struct step *step, uint64_t checkpoint)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_OPEN);
    writer->state = STATE_DRAINING;
    writer->barrier = checkpoint;
    for (struct destination *at = first_destination(writer); at != NULL;
         at = next_destination(writer, at)) {
        destination_send_all(at);
    }
}

/* A committable is known by the flush that it asks for, in canonical bytes. */
static struct sink_committable *make_committable(const struct step *step,
                                                 const struct destination *destination)
{
    const struct bigquery_int64 offset = {(int64_t)destination->next_offset - 1};
    const struct bigquery_flush_rows_request flush = {.write_stream = destination->stream,
                                                      .offset = &offset};
    const size_t flush_size = port_encoded_size(&bigquery_flush_rows_request_message, &flush);
    const struct bigquery_committable committable = {
        .stream = destination->stream,
        .offset = destination->next_offset - 1,
        .subtask = step->writer->subtask,
    };
    const size_t data_size = bigquery_committable_size(&committable);
    const size_t size = sizeof(struct sink_committable) + data_size + flush_size;
    struct sink_committable *made = allocator_take(step->writer->allocator, size);
    if (made == NULL) {
        return NULL;
    }
    uint8_t *data = (uint8_t *)(made + 1);
    struct byte_writer identity;
    bigquery_committable_encode(&committable, data);
    byte_writer_init(&identity, data + data_size, flush_size);
    port_encode(&bigquery_flush_rows_request_message, &flush, &identity);
    *made = (struct sink_committable){
        .header = {.identity = byte_writer_view(&identity),
                   .origin = step->now->wall,
                   .deadline = TIME_NEVER},
        .data = {data, data_size},
        .block_size = size,
    };
    return made;
}

/* What the latest snapshot lacks, and only a flush shows; both fields count, for a fresh stream may have come to the same offset. */
static bool has_news(const struct writer *writer, const struct destination *destination)
{
    return writer->config.stream_type == BIGQUERY_BUFFERED && destination->stream.size > 0 &&
           destination->next_offset > 0 &&
           !(destination->is_snapped && destination->snap_offset == destination->next_offset);
}

static bool hand_over_one(const struct step *step, struct destination *destination)
{
    struct writer *writer = step->writer;
    const struct bigquery_piece piece = {
        .table = destination->table,
        .stream = destination->stream,
        .next_offset = destination->next_offset,
        .checkpoint = writer->barrier == SINK_END_OF_INPUT ? 0 : writer->barrier,
    };
    if (destination->piece != NULL) {
        allocator_give(writer->allocator, destination->piece, destination->piece_size);
    }
    destination->piece_size = bigquery_piece_size(&piece);
    destination->piece = allocator_take(writer->allocator, destination->piece_size);
    struct sink_committable *made = NULL;
    if (destination->piece != NULL && has_news(writer, destination)) {
        made = make_committable(step, destination);
    }
    if (destination->piece == NULL || (has_news(writer, destination) && made == NULL)) {
        fail_text(step, SINK_REASON_MEMORY, "no memory for a snapshot");
        return false;
    }
    bigquery_piece_encode(&piece, destination->piece);
    if (made != NULL) {
        effects_phase(step->effects, BIGQUERY_PHASE_HANDED_OVER);
        effects_add(step->effects, SINK_EFFECT_COMMITTABLES)->u.committables = made;
    }
    effects_add(step->effects, SINK_EFFECT_STATE_PIECE)->u.piece =
        (struct bytes){destination->piece, destination->piece_size};
    destination->is_snapped = destination->stream.size > 0;
    destination->snap_offset = destination->next_offset;
    destination->snapped_for = writer->barriers;
    return true;
}

/* As many tables as there is space for in this step. */
static void hand_over(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct destination *at = first_destination(writer); at != NULL;
         at = next_destination(writer, at)) {
        if (at->snapped_for == writer->barriers) {
            continue;
        }
        if (!effects_has_space(step->effects) || !hand_over_one(step, at)) {
            return;
        }
    }
    writer->state = STATE_OPEN;
    effects_barrier_done(step->effects, writer->barrier);
}

static void end_flush(const struct step *step)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_FLUSHING);
    writer->state = STATE_HANDING_OVER;
    writer->barriers++;
    if (writer->barrier != SINK_END_OF_INPUT) {
        evict_idle(step);
    }
}

/* --- going on ---------------------------------------------------------------------------------- */

static bool all_are_drained(const struct writer *writer)
{
    bool drained = writer->host.verdicts == 0;
    for (struct destination *at = first_destination(writer); at != NULL && drained;
         at = next_destination(writer, at)) {
        drained = destination_is_drained(at);
    }
    return drained;
}

static bool none_is_full(const struct writer *writer)
{
    bool full = false;
    for (struct destination *at = first_destination(writer); at != NULL && !full;
         at = next_destination(writer, at)) {
        full = destination_is_full(&writer->host, at);
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

static void advance(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct destination *at = first_destination(writer);
         at != NULL && writer->host.reason == SINK_REASON_NONE;
         at = next_destination(writer, at)) {
        destination_advance(&writer->host, at);
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
        effects_phase(step->effects, BIGQUERY_PHASE_POLICY_FLUSHING);
        effects_simple(step->effects, SINK_EFFECT_POLICY_FLUSH);
    } else if (writer->state == STATE_HANDING_OVER) {
        hand_over(step);
    }
    if (writer->state != STATE_FAILED) {
        parking_arm(&writer->host.parking, step->now->monotonic, step->effects);
    }
}

static void take_answer(const struct step *step, const struct port_answer *answer)
{
    struct writer *writer = step->writer;
    for (struct destination *at = first_destination(writer); at != NULL;
         at = next_destination(writer, at)) {
        if (destination_answer(&writer->host, at, answer)) {
            return;
        }
    }
}

static void take_due(const struct step *step)
{
    struct writer *writer = step->writer;
    struct parking *parking = &writer->host.parking;
    parking_fired(parking);
    for (struct parking_slot *slot = parking_take_due(parking, step->now->monotonic); slot != NULL;
         slot = parking_take_due(parking, step->now->monotonic)) {
        struct destination *at = first_destination(writer);
        while (at != NULL && !destination_due(&writer->host, at, slot)) {
            at = next_destination(writer, at);
        }
        CHECK(at != NULL);
    }
}

/* --- life -------------------------------------------------------------------------------------- */

/* Whether a piece is to be adopted in place of the one that was: the later checkpoint, and of two streams of
 * one checkpoint the first by name, which all subtasks agree on. */
static bool is_better(const struct bigquery_piece *piece, const struct bigquery_piece *other)
{
    if (piece->checkpoint != other->checkpoint) {
        return piece->checkpoint > other->checkpoint;
    }
    return bytes_compare(piece->stream, other->stream) < 0;
}

static bool is_of_table(struct bytes stream, struct bytes table)
{
    const struct bytes streams = BYTES_LITERAL("/streams/");
    return stream.size > table.size + streams.size &&
           bytes_equal((struct bytes){stream.data, table.size}, table) &&
           bytes_equal((struct bytes){stream.data + table.size, streams.size}, streams);
}

/* Read a piece of restored state. One of version 1 does not say its table, and may be of this sink's only
 * where that has one for all, and the stream is of that table. ERR_INVALID: it is of another one. */
static enum err
read_piece(const struct writer *writer, struct bytes source, struct bigquery_piece *piece)
{
    struct bigquery_table_name parts;
    const enum err err = bigquery_piece_decode(source, piece);
    if (err != ERR_OK) {
        return err;
    }
    const bool is_bare = piece->table.size == 0;
    if (is_bare && writer->destination_fixed &&
        (piece->stream.size == 0 || is_of_table(piece->stream, writer->config.table))) {
        piece->table = writer->config.table;
    }
    const bool is_ours =
        bigquery_table_parse(piece->table, &parts) &&
        (!writer->destination_fixed || bytes_equal(piece->table, writer->config.table));
    return is_ours ? ERR_OK : ERR_INVALID;
}

/* The piece of an open event that its table goes on with. */
static bool is_adopted(const struct writer *writer,
                       const struct sink_event *event,
                       uint32_t index,
                       struct bigquery_piece *piece)
{
    CHECK(read_piece(writer, event->u.open.pieces[index].data, piece) == ERR_OK);
    if (piece->stream.size == 0) {
        return false;
    }
    for (uint32_t i = 0; i < event->u.open.piece_count; i++) {
        struct bigquery_piece other;
        CHECK(read_piece(writer, event->u.open.pieces[i].data, &other) == ERR_OK);
        if (i != index && other.stream.size > 0 && bytes_equal(other.table, piece->table) &&
            (is_better(&other, piece) || (!is_better(piece, &other) && i < index))) {
            return false;
        }
    }
    return true;
}

static bool check_pieces(const struct step *step, const struct sink_event *event)
{
    for (uint32_t i = 0; i < event->u.open.piece_count; i++) {
        struct bigquery_piece piece;
        const enum err err = read_piece(step->writer, event->u.open.pieces[i].data, &piece);
        if (err != ERR_OK) {
            struct byte_writer *message = &step->writer->host.message;
            byte_writer_init(message, step->writer->host.text, sizeof(step->writer->host.text));
            byte_writer_text(message, "piece ");
            byte_writer_decimal(message, (uint64_t)i + 1);
            byte_writer_text(message, " of the restored state: ");
            byte_writer_text(
                message, err == ERR_INVALID ? "it is of another table, or of none" : err_name(err));
            fail(step, SINK_REASON_STATE, NULL, byte_writer_view(message));
            return false;
        }
    }
    return true;
}

static void open_writer(const struct step *step, const struct sink_event *event)
{
    struct writer *writer = step->writer;
    CHECK(writer->state == STATE_NEW);
    if (!check_pieces(step, event)) {
        return;
    }
    for (uint32_t i = 0; i < event->u.open.piece_count; i++) {
        struct bigquery_piece piece;
        if (!is_adopted(writer, event, i, &piece)) {
            continue;
        }
        struct destination *destination = obtain(step, piece.table);
        if (destination == NULL ||
            destination_restore(&writer->host, destination, &piece) != ERR_OK) {
            fail_text(step, SINK_REASON_MEMORY, "no memory for restored state");
            return;
        }
    }
    writer->state = STATE_OPEN;
    effects_phase(step->effects, BIGQUERY_PHASE_WRITER_OPENED);
    effects_simple(step->effects, SINK_EFFECT_OPENED);
}

static void close_writer(const struct step *step)
{
    struct writer *writer = step->writer;
    for (struct destination *at = first_destination(writer); at != NULL;
         at = next_destination(writer, at)) {
        destination_close(&writer->host, at);
    }
    parking_clear(&writer->host.parking);
    writer->state = STATE_CLOSED;
    effects_phase(step->effects, BIGQUERY_PHASE_WRITER_CLOSED);
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
    writer->subtask = env->subtask;
    writer->destination_fixed = env->job->destination_fixed;
    list_init(&writer->destinations);
    const enum err err = bigquery_configure(env->options, &writer->config, &complaint);
    destination_host_init(
        &writer->host, env->allocator, &writer->config, BIGQUERY_PHASE_ROW_ROUTED);
    return err;
}

static enum err init_committed(void *state, const struct sink_env *env)
{
    struct writer *writer = state;
    const enum err err = init(state, env);
    writer->config.stream_type = BIGQUERY_COMMITTED;
    return err;
}

static uint64_t digest_writer(const void *state)
{
    const struct writer *writer = state;
    uint64_t digest = digest_fold(writer->state, writer->barrier);
    digest = digest_fold(digest, writer->barriers);
    digest = digest_fold(digest, writer->host.verdicts);
    digest = digest_fold(digest, writer->host.numbers.request);
    digest = digest_fold(digest, writer->host.numbers.stream);
    digest = digest_fold(digest, writer->host.handed.count);
    for (struct destination *at = first_destination(writer); at != NULL;
         at = next_destination(writer, at)) {
        digest = destination_digest(digest, at);
    }
    return digest_fold(digest, parking_digest(&writer->host.parking));
}

static void fini(void *state)
{
    struct writer *writer = state;
    while (!list_is_empty(&writer->destinations)) {
        forget(writer, first_destination(writer));
    }
    destination_host_fini(&writer->host);
}

const struct sink_half bigquery_exactly_once_writer_half = {
    .state_size = sizeof(struct writer),
    .init = init,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};

const struct sink_half bigquery_committed_writer_half = {
    .state_size = sizeof(struct writer),
    .init = init_committed,
    .step = step_writer,
    .digest = digest_writer,
    .fini = fini,
};
