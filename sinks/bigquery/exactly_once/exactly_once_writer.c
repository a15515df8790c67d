/* The writer of the exactly-once sink: the frame of table_writer.h over destinations (destination.h), which
 * append rows to streams of their own. A barrier hands over, for each table, a piece of state, and a
 * committable that names its stream and the last row of the interval, if any row came since the latest
 * snapshot. close finalizes nothing: a committable may name any stream. */
#include "sinks/base/check.h"
#include "sinks/bigquery/exactly_once/destination.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/effects.h"

/* --- handing over ------------------------------------------------------------------------------ */

/* A committable is known by the flush that it asks for, in canonical bytes. */
static struct sink_committable *make_committable(const struct table_writer_step *step,
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
static bool has_news(const struct table_writer *writer, const struct destination *destination)
{
    return writer->config.stream_type == BIGQUERY_BUFFERED && destination->stream.size > 0 &&
           destination->next_offset > 0 &&
           !(destination->is_snapped && destination->snap_offset == destination->next_offset);
}

static bool hand_over(const struct table_writer_step *step, struct writer_table *table)
{
    struct table_writer *writer = step->writer;
    struct destination *destination = destination_of(table);
    const struct bigquery_piece piece = {
        .table = table->name,
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
        table_writer_fail_text(step, SINK_REASON_MEMORY, "no memory for a snapshot");
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
    return true;
}

/* --- restoring --------------------------------------------------------------------------------- */

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
read_piece(const struct table_writer *writer, struct bytes source, struct bigquery_piece *piece)
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
static bool is_adopted(const struct table_writer *writer,
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

static bool check_pieces(const struct table_writer_step *step, const struct sink_event *event)
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
            table_writer_fail(step, SINK_REASON_STATE, NULL, byte_writer_view(message));
            return false;
        }
    }
    return true;
}

static bool open_writer(const struct table_writer_step *step, const struct sink_event *event)
{
    struct table_writer *writer = step->writer;
    if (!check_pieces(step, event)) {
        return false;
    }
    for (uint32_t i = 0; i < event->u.open.piece_count; i++) {
        struct bigquery_piece piece;
        if (!is_adopted(writer, event, i, &piece)) {
            continue;
        }
        struct writer_table *table = table_writer_obtain(step, piece.table);
        if (table == NULL ||
            destination_restore(&writer->host, destination_of(table), &piece) != ERR_OK) {
            table_writer_fail_text(step, SINK_REASON_MEMORY, "no memory for restored state");
            return false;
        }
    }
    return true;
}

/* --- the mode ---------------------------------------------------------------------------------- */

static const struct table_writer_mode mode = {
    .tables = &bigquery_destination_functions,
    .phases =
        {
            .opened = BIGQUERY_PHASE_WRITER_OPENED,
            .holding = BIGQUERY_PHASE_WRITER_HOLDING,
            .policy_flushing = BIGQUERY_PHASE_POLICY_FLUSHING,
            .row_routed = BIGQUERY_PHASE_ROW_ROUTED,
            .evicted = BIGQUERY_PHASE_DESTINATION_EVICTED,
            .failed = BIGQUERY_PHASE_WRITER_FAILED,
            .closed = BIGQUERY_PHASE_WRITER_CLOSED,
        },
    .open = open_writer,
    .hand_over = hand_over,
};

static enum err init(void *state, const struct sink_env *env)
{
    struct table_writer *writer = state;
    uint8_t text[256];
    struct byte_writer complaint;
    byte_writer_init(&complaint, text, sizeof(text));
    const enum err err = bigquery_configure(env->options, &writer->config, &complaint);
    table_writer_init(writer, &mode, env);
    return err;
}

static enum err init_committed(void *state, const struct sink_env *env)
{
    struct table_writer *writer = state;
    const enum err err = init(state, env);
    writer->config.stream_type = BIGQUERY_COMMITTED;
    return err;
}

const struct sink_half bigquery_exactly_once_writer_half = {
    .state_size = sizeof(struct table_writer),
    .init = init,
    .step = table_writer_step,
    .digest = table_writer_digest,
    .fini = table_writer_fini,
};

const struct sink_half bigquery_committed_writer_half = {
    .state_size = sizeof(struct table_writer),
    .init = init_committed,
    .step = table_writer_step,
    .digest = table_writer_digest,
    .fini = table_writer_fini,
};
