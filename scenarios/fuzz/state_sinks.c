#include "scenarios/fuzz/state_sinks.h"

#include "scenarios/fuzz/seal.h"
#include "sinks/base/digest.h"
#include "sinks/base/list.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/bigquery/frames.h"
#include "sinks/bigquery/options.h"
#include "sinks/cloudtasks/cloudtasks_sinks.h"
#include "sinks/cloudtasks/envelope.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/generic/buffered.h"
#include "sinks/generic/generic_sinks.h"
#include "sinks/generic/idempotent.h"
#include "sinks/generic/staged.h"
#include "sinks/generic/transactional.h"
#include "sinks/generic/unit_frame.h"
#include "sinks/port/bigquery.h"

/* --- Cloud Tasks ------------------------------------------------------------------------------- */

static void set_cloudtasks(uint8_t head, struct sink_option_value *values)
{
    values[CLOUDTASKS_OPTION_QUEUE].text = BYTES_LITERAL(STATE_QUEUE);
    values[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 3;
    values[CLOUDTASKS_OPTION_MAX_STAGED_TASKS].number = 4;
    values[CLOUDTASKS_OPTION_VERIFY_QUEUE_RETENTION].number = STATE_READS_QUEUE(head);
    values[CLOUDTASKS_OPTION_EXPIRED_ENVELOPE_POLICY].number = STATE_EXPIRY_OF(head);
}

static bool read_task(struct bytes committable, struct bytes *identity)
{
    struct envelope envelope;
    if (envelope_decode(committable, &envelope) != ERR_OK) {
        return false;
    }
    *identity = envelope.name;
    return true;
}

static bool is_of_queue(struct bytes committable)
{
    struct envelope envelope;
    return envelope_decode(committable, &envelope) == ERR_OK &&
           bytes_equal(envelope.queue, BYTES_LITERAL(STATE_QUEUE));
}

/* --- transactional ----------------------------------------------------------------------------- */

static void set_transactional(uint8_t head, struct sink_option_value *values)
{
    (void)head;
    values[TRANSACTIONAL_OPTION_MAX_BATCH_ROWS].number = 2;
    values[TRANSACTIONAL_OPTION_MAX_BUFFERED_ROWS].number = 3;
    values[TRANSACTIONAL_OPTION_RETRY_MAX_ATTEMPTS].number = 3;
}

static bool read_unit(struct bytes committable, struct bytes *identity)
{
    struct unit_frame staged;
    if (unit_frame_decode(committable, &staged) != ERR_OK) {
        return false;
    }
    *identity = staged.unit;
    return true;
}

/* Of a frame whose last four bytes are the checksum of all before them. */
static void seal_last(uint8_t *data, size_t size)
{
    if (size >= 4) {
        struct byte_writer writer;
        byte_writer_init(&writer, data + size - 4, 4);
        byte_writer_u32_be(&writer, digest_checksum((struct bytes){data, size - 4}));
    }
}

/* --- idempotent -------------------------------------------------------------------------------- */

static void set_idempotent(uint8_t head, struct sink_option_value *values)
{
    values[IDEMPOTENT_OPTION_MAX_BATCH_ENTRIES].number = 3;
    values[IDEMPOTENT_OPTION_MAX_BUFFERED_ENTRIES].number = 4;
    values[IDEMPOTENT_OPTION_RETRY_MAX_ATTEMPTS].number = 3;
    values[IDEMPOTENT_OPTION_BUFFER_IN_STATE].number = STATE_READS_QUEUE(head);
    values[IDEMPOTENT_OPTION_DISTINCT_KEYS].number = STATE_RESOLVES(head);
}

static bool read_buffer(struct bytes piece)
{
    const struct allocator allocator = allocator_of_malloc();
    struct list entries;
    list_init(&entries);
    const enum err err = buffered_decode(&allocator, piece, &entries);
    for (struct list_link *link = list_pop_front(&entries); link != NULL;
         link = list_pop_front(&entries)) {
        buffered_release(&allocator, LIST_ITEM(link, struct buffered, link));
    }
    return err == ERR_OK;
}

/* --- staged ------------------------------------------------------------------------------------ */

static void set_staged(uint8_t head, struct sink_option_value *values)
{
    (void)head;
    values[GENERIC_OPTION_MAX_IN_FLIGHT].number = 2;
    values[GENERIC_OPTION_RETRY_MAX_ATTEMPTS].number = 3;
}

static bool read_put(struct bytes committable, struct bytes *identity)
{
    const struct allocator allocator = allocator_of_malloc();
    struct generic_put_request *put = NULL;
    size_t size = 0;
    if (generic_envelope_decode(committable, &allocator, &put, &size) != ERR_OK) {
        return false;
    }
    allocator_give(&allocator, put, size);
    *identity = (struct bytes){committable.data + 1, 8};
    return true;
}

static void seal_put(uint8_t *data, size_t size)
{
    if (size >= GENERIC_ENVELOPE_HEADER_SIZE) {
        struct byte_writer writer;
        byte_writer_init(&writer, data + GENERIC_ENVELOPE_HEADER_SIZE - 4, 4);
        byte_writer_u32_be(&writer,
                           digest_checksum((struct bytes){data + GENERIC_ENVELOPE_HEADER_SIZE,
                                                          size - GENERIC_ENVELOPE_HEADER_SIZE}));
    }
}

/* --- BigQuery ---------------------------------------------------------------------------------- */

#define TABLE "projects/p/datasets/d/tables/t"

static void set_bigquery(uint8_t head, struct sink_option_value *values)
{
    values[BIGQUERY_OPTION_TABLE].text = BYTES_LITERAL(TABLE);
    values[BIGQUERY_OPTION_MAX_APPEND_BYTES].number = 64;
    values[BIGQUERY_OPTION_ALLOW_NEW_FIELDS].number = STATE_READS_QUEUE(head);
    values[BIGQUERY_OPTION_MAX_IN_FLIGHT_APPENDS].number = 3;
    values[BIGQUERY_OPTION_RECOVERY_MAX_ATTEMPTS].number = 3;
    values[BIGQUERY_OPTION_RETRY_MAX_ATTEMPTS].number = STATE_READS_QUEUE(head) ? 1 : 3;
}

static bool read_flush(struct bytes committable, struct bytes *identity)
{
    struct bigquery_committable flush;
    if (bigquery_committable_decode(committable, &flush) != ERR_OK) {
        return false;
    }
    *identity = flush.stream;
    return true;
}

/* It is the request that flushes, in canonical bytes. */
static bool fits_flush(struct bytes committable, struct bytes identity)
{
    struct bigquery_committable flush;
    const struct allocator allocator = allocator_of_malloc();
    void *payload = NULL;
    size_t size = 0;
    if (bigquery_committable_decode(committable, &flush) != ERR_OK ||
        port_decode(&bigquery_flush_rows_request_message, identity, &allocator, &payload, &size) !=
            ERR_OK) {
        return false;
    }
    const struct bigquery_flush_rows_request *request = payload;
    const bool fits = bytes_equal(request->write_stream, flush.stream) && request->offset != NULL &&
                      (uint64_t)request->offset->value == flush.offset;
    allocator_give(&allocator, payload, size);
    return fits;
}

static bool read_stream(struct bytes piece)
{
    struct bigquery_piece found;
    struct bigquery_table_name parts;
    return bigquery_piece_decode(piece, &found) == ERR_OK &&
           bigquery_table_parse(found.table, &parts);
}

/* Of the one table; a piece of version 1 says so by its stream only. */
static bool read_stream_of_table(struct bytes piece)
{
    const struct bytes table = BYTES_LITERAL(TABLE);
    const struct bytes streams = BYTES_LITERAL(TABLE "/streams/");
    struct bigquery_piece found;
    if (bigquery_piece_decode(piece, &found) != ERR_OK) {
        return false;
    }
    return found.table.size > 0
               ? bytes_equal(found.table, table)
               : found.stream.size == 0 ||
                     (found.stream.size > streams.size &&
                      bytes_equal((struct bytes){found.stream.data, streams.size}, streams));
}

/* --- all --------------------------------------------------------------------------------------- */

const struct state_sink *state_sink_of(uint8_t head)
{
    static const struct state_sink cloudtasks[] = {
        {.type = &cloudtasks_at_least_once_unnamed,
         .set_options = set_cloudtasks,
         .seal = seal_envelope},
        {.type = &cloudtasks_at_least_once_named,
         .set_options = set_cloudtasks,
         .seal = seal_envelope},
        {.type = &cloudtasks_exactly_once,
         .set_options = set_cloudtasks,
         .read = read_task,
         .is_at_home = is_of_queue,
         .seal = seal_envelope},
    };
    static const struct state_sink generic[] = {
        {.type = &generic_transactional,
         .set_options = set_transactional,
         .read = read_unit,
         .seal = seal_last},
        {.type = &generic_idempotent,
         .set_options = set_idempotent,
         .read_piece = read_buffer,
         .seal = seal_last},
        {.type = &generic_staged,
         .set_options = set_staged,
         .read = read_put,
         .leaves_calls = true,
         .seal = seal_put},
    };
    static const struct state_sink bigquery[] = {
        {.type = &bigquery_exactly_once,
         .set_options = set_bigquery,
         .read = read_flush,
         .fits_identity = fits_flush,
         .read_piece = read_stream_of_table,
         .seal = seal_last},
        {.type = &bigquery_exactly_once,
         .set_options = set_bigquery,
         .read = read_flush,
         .fits_identity = fits_flush,
         .read_piece = read_stream,
         .seal = seal_last},
    };
    const uint32_t which = head & 3;
    const uint32_t other = STATE_EXPIRY_OF(head);
    if (which < ARRAY_COUNT(cloudtasks)) {
        return &cloudtasks[which];
    }
    return other < ARRAY_COUNT(generic) ? &generic[other] : &bigquery[STATE_RESOLVES(head)];
}
