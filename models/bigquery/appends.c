/* Appends: connections, and the order in which a request is looked at (BQW-10 to BQW-24).
 *
 *   looked at                                 answer                        clause
 *   too large                                 INVALID_ARGUMENT              BQW-19
 *   table not there                           PERMISSION_DENIED, NOT_FOUND  BQW-46
 *   stream unknown, or its time over          by reading                    BQW-47
 *   another connection has the stream         ABORTED, by reading           BQW-22
 *   the caller may not write, by option       PERMISSION_DENIED             BQW-63
 *   finalized                                 STREAM_FINALIZED              BQW-35
 *   an offset on a default stream             INVALID_ARGUMENT              BQW-02
 *   no writer's schema, or one of other types INVALID_ARGUMENT              BQW-10
 *   a schema with more fields than the table  SCHEMA_MISMATCH_EXTRA_FIELDS  BQW-24, BQW-25
 *   offset below, above the end               ALREADY_EXISTS, OUT_OF_RANGE  BQW-13, BQW-14
 *   a row that is none                        INVALID_ARGUMENT, row_errors  BQW-17
 *   a default stream's mishap, by option      UNAVAILABLE with row_errors,  BQW-60 to BQW-62
 *                                             INVALID_STREAM_STATE, or INTERNAL and accepted
 *   else                                      OK                            BQW-12
 *
 * With the reading rows_first the rows are looked at before the offset. A column that the table has, but
 * that the connection does not know yet, is refused as one that is not there, and the rows may lie in the
 * stream all the same. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

/* --- connections ------------------------------------------------------------------------------- */

static struct connection *connection_of(const struct bigquery *state, uint64_t number)
{
    struct connection *connection = state->connections;
    while (connection != NULL && connection->number != number) {
        connection = connection->next;
    }
    return connection;
}

static void close_connection(struct bigquery *state, uint64_t number)
{
    struct connection *before = NULL;
    for (struct connection *at = state->connections; at != NULL; at = at->next) {
        if (at->number == number) {
            if (before == NULL) {
                state->connections = at->next;
            } else {
                before->next = at->next;
            }
            if (at->stream->connection == number) {
                at->stream->connection = 0;
            }
            return;
        }
        before = at;
    }
}

static void end_stream(enum port_code code, struct model_replies *replies)
{
    CHECK(replies->count < MODEL_REPLY_MAX);
    replies->items[replies->count] =
        (struct model_reply){.kind = PORT_STREAM_END, .status = port_status_grpc(code)};
    replies->count++;
}

/* A second connection to an explicit stream while the first is open (BQW-22). */
static void meet(struct bigquery *state, struct connection *connection)
{
    struct stream *stream = connection->stream;
    struct connection *other = connection_of(state, stream->connection);
    if (other != NULL && other != connection && !stream->is_default) {
        COVER(state->env.world, BIGQUERY_SECOND_CONNECTION);
        const uint32_t reading =
            bigquery_reading(state, OPTION_CONNECTION, SITE_CONNECTION_READING);
        other->is_refused = other->is_refused || reading == CONNECTION_OLDER_ENDS;
        connection->is_refused = reading == CONNECTION_NEWER_ENDS;
    }
    if (!connection->is_refused) {
        stream->connection = connection->number;
    }
}

/* The connection of a request, opened by its first one. NULL: refused. */
static struct connection *
connect(struct bigquery *state, const struct model_request *request, struct model_replies *replies)
{
    const struct bigquery_append_rows_request *append = request->payload;
    struct connection *connection = connection_of(state, request->stream);
    if (connection != NULL) {
        const struct bytes name =
            world_resource_name(state->env.world, connection->stream->resource);
        if (append->write_stream.size > 0 && !bytes_equal(append->write_stream, name)) {
            bigquery_refuse(
                state, request, PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE, replies);
            return NULL;
        }
        return connection;
    }
    struct stream *stream = bigquery_stream_of(state, append->write_stream);
    if (!bigquery_stream_answers(state, stream, append->write_stream, request, replies)) {
        return NULL;
    }
    connection = bigquery_take(state, sizeof(*connection));
    const nanos now = world_now(state->env.world);
    *connection = (struct connection){
        .next = state->connections,
        .number = request->stream,
        .stream = stream,
        .opened_at = now,
        .told_columns = bigquery_known_columns(stream->table, now),
    };
    state->connections = connection;
    meet(state, connection);
    return connection;
}

/* --- what an append must be like --------------------------------------------------------------- */

static uint32_t row_count(const struct bigquery_append_rows_request *append)
{
    const struct bigquery_proto_data *data = append->proto_rows;
    return data == NULL || data->rows == NULL ? 0 : data->rows->serialized_rows.count;
}

static struct bytes row_at(const struct bigquery_append_rows_request *append, uint32_t index)
{
    const struct bigquery_row *row = append->proto_rows->rows->serialized_rows.items[index];
    return row->serialized;
}

static bool fits(struct bigquery *state, const struct bigquery_append_rows_request *append)
{
    return port_encoded_size(&bigquery_append_rows_request_message, append) <
           bigquery_option(state, OPTION_REQUEST_MAX);
}

/* The schema comes with a connection's first request (BQW-10). */
static void take_schema(struct bigquery *state,
                        struct connection *connection,
                        const struct bigquery_append_rows_request *append)
{
    const struct bigquery_proto_data *data = append->proto_rows;
    if (data != NULL && data->writer_schema != NULL &&
        data->writer_schema->proto_descriptor != NULL) {
        bigquery_take_schema(state, connection, data->writer_schema->proto_descriptor);
    }
}

enum schema_fit {
    SCHEMA_FITS = 0,
    SCHEMA_WRONG, /* none, or of other types than the columns */
    SCHEMA_EXTRA, /* with fields that the table lacks */
    SCHEMA_EARLY, /* with columns that the connection does not know yet */
};

static enum schema_fit schema_fit(const struct connection *connection)
{
    const uint32_t known = bigquery_known_columns(connection->stream->table, connection->opened_at);
    bool is_wrong = !connection->has_schema;
    bool is_extra = false;
    bool is_early = false;
    for (uint32_t i = 0; i < connection->field_count; i++) {
        const struct writer_field *field = &connection->fields[i];
        const bool is_there = field->column != BIGQUERY_COLUMN_NONE;
        is_extra = is_extra || !is_there;
        is_wrong = is_wrong || (is_there && !field->fits);
        is_early = is_early || (field->column < BIGQUERY_COLUMN_NONE && field->column >= known);
    }
    if (is_wrong) {
        return SCHEMA_WRONG;
    }
    return is_extra ? SCHEMA_EXTRA : is_early ? SCHEMA_EARLY : SCHEMA_FITS;
}

/* What stands in the way before schema, offset and rows; PORT_OK nothing. */
static enum port_code state_error(struct bigquery *state,
                                  const struct connection *connection,
                                  const struct bigquery_append_rows_request *append,
                                  uint32_t *reason)
{
    const struct stream *stream = connection->stream;
    *reason = BIGQUERY_STORAGE_ERROR_NONE;
    if (bigquery_option(state, OPTION_WRITES_DENIED) != 0) {
        COVER(state->env.world, BIGQUERY_WRITE_DENIED);
        return PORT_PERMISSION_DENIED;
    }
    if (stream->finalized) {
        *reason = BIGQUERY_STREAM_FINALIZED;
        return PORT_INVALID_ARGUMENT;
    }
    if ((stream->is_default && append->offset != NULL) || row_count(append) == 0 ||
        (append->offset != NULL && append->offset->value < 0)) {
        return PORT_INVALID_ARGUMENT;
    }
    return PORT_OK;
}

static enum port_code offset_error(struct bigquery *state,
                                   const struct stream *stream,
                                   const struct bigquery_append_rows_request *append,
                                   uint32_t *reason)
{
    if (append->offset == NULL || (uint64_t)append->offset->value == stream->end) {
        return PORT_OK;
    }
    if ((uint64_t)append->offset->value < stream->end) {
        COVER(state->env.world, BIGQUERY_OFFSET_EXISTS);
        *reason = BIGQUERY_OFFSET_ALREADY_EXISTS;
        return PORT_ALREADY_EXISTS;
    }
    COVER(state->env.world, BIGQUERY_OFFSET_AHEAD);
    *reason = BIGQUERY_OFFSET_OUT_OF_RANGE;
    return PORT_OUT_OF_RANGE;
}

/* Name the rows that are none; how many there are. */
static uint32_t find_bad_rows(struct bigquery *state,
                              const struct connection *connection,
                              const struct bigquery_append_rows_request *append)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row_count(append) && count < BIGQUERY_ROW_ERRORS; i++) {
        if (!bigquery_row_is_valid(connection, row_at(append, i))) {
            state->errors[count] =
                (struct bigquery_row_error){.index = i, .code = BIGQUERY_ROW_FIELDS_ERROR};
            state->error_items[count] = &state->errors[count];
            count++;
        }
    }
    return count;
}

/* BQW-17: all are named, or some. */
static void refuse_rows(struct bigquery *state,
                        uint32_t bad,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    COVER(state->env.world, BIGQUERY_BAD_ROWS);
    const bool is_first = bad > 1 && bigquery_draw(state, SITE_ROW_ERRORS) == ROW_ERRORS_FIRST;
    bigquery_refuse(state, request, PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE, replies);
    state->appended = (struct bigquery_append_rows_response){
        .row_errors = {state->error_items, is_first ? 1 : bad}};
    replies->items[replies->count - 1].payload = &state->appended;
}

/* What was measured: true when the append is answered, and so refused. */
static bool meets_mishap(struct bigquery *state,
                         enum mishap_outcome mishap,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    if (mishap == MISHAP_ROWS_IN_OUTAGE) {
        COVER(state->env.world, BIGQUERY_ROWS_IN_OUTAGE);
        bigquery_refuse(state, request, PORT_UNAVAILABLE, BIGQUERY_STORAGE_ERROR_NONE, replies);
        state->errors[0] =
            (struct bigquery_row_error){.index = 0, .code = BIGQUERY_ROW_FIELDS_ERROR};
        state->error_items[0] = &state->errors[0];
        state->appended =
            (struct bigquery_append_rows_response){.row_errors = {state->error_items, 1}};
        replies->items[replies->count - 1].payload = &state->appended;
    } else if (mishap == MISHAP_STALE) {
        COVER(state->env.world, BIGQUERY_STALE_CONNECTION);
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_STATE, replies);
    }
    return mishap == MISHAP_ROWS_IN_OUTAGE || mishap == MISHAP_STALE;
}

/* --- effect ------------------------------------------------------------------------------------ */

static void keep_rows(struct bigquery *state,
                      const struct connection *connection,
                      const struct model_request *request)
{
    const struct bigquery_append_rows_request *append = request->payload;
    struct stream *stream = connection->stream;
    const bool is_hidden = stream->type == BIGQUERY_BUFFERED;
    struct rows *rows = is_hidden ? bigquery_take(state, sizeof(*rows)) : NULL;
    if (is_hidden) {
        rows->count = row_count(append);
        rows->contents = bigquery_take(state, rows->count * sizeof(rows->contents[0]));
    }
    for (uint32_t i = 0; i < row_count(append); i++) {
        const struct model_content content =
            bigquery_row_content(state, connection, row_at(append, i));
        state->digest = digest_fold(state->digest, content.digest);
        if (is_hidden) {
            rows->contents[i] = content;
        } else if (connection->has_changes) {
            bigquery_change(state, connection, row_at(append, i), content, request);
        } else {
            bigquery_show(state, stream, content, request);
        }
    }
    if (is_hidden) {
        if (stream->last == NULL) {
            stream->first = rows;
        } else {
            stream->last->next = rows;
        }
        stream->last = rows;
    }
    stream->end += row_count(append);
}

/* A change of the table's columns is told of once, on some answer (BQW-25). */
static const struct bigquery_table_schema *news_of(struct bigquery *state,
                                                   struct connection *connection)
{
    const struct table *table = connection->stream->table;
    const uint32_t known = bigquery_known_columns(table, world_now(state->env.world));
    if (known == connection->told_columns ||
        bigquery_draw(state, SITE_UPDATED_SCHEMA) == UPDATED_SCHEMA_SILENT) {
        return NULL;
    }
    COVER(state->env.world, BIGQUERY_SCHEMA_TOLD);
    connection->told_columns = known;
    return bigquery_schema_answer(state, table, known);
}

/* The acknowledgement repeats an offset that was given (BQW-12). */
static void acknowledge(struct bigquery *state,
                        struct connection *connection,
                        uint64_t offset,
                        struct model_replies *replies)
{
    state->offset = (struct bigquery_int64){.value = (int64_t)offset};
    state->result = (struct bigquery_append_result){
        .offset = connection->stream->is_default ? NULL : &state->offset};
    state->appended = (struct bigquery_append_rows_response){
        .append_result = &state->result, .updated_schema = news_of(state, connection)};
    model_reply(replies, PORT_OK, &state->appended);
}

static void accept(struct bigquery *state,
                   struct connection *connection,
                   const struct model_request *request,
                   struct model_replies *replies)
{
    const struct stream *stream = connection->stream;
    const uint64_t offset = stream->end;
    const enum mishap_outcome mishap =
        stream->is_default && bigquery_option(state, OPTION_MISHAPS) != 0
            ? (enum mishap_outcome)bigquery_draw(state, SITE_MISHAP)
            : MISHAP_NONE;
    if (meets_mishap(state, mishap, request, replies)) {
        return;
    }
    keep_rows(state, connection, request);
    if (mishap == MISHAP_ACCEPTED_AS_FAILED) {
        COVER(state->env.world, BIGQUERY_ACCEPTED_AS_FAILED);
        model_reply(replies, PORT_INTERNAL, NULL);
        return;
    }
    acknowledge(state, connection, offset, replies);
}

/* A schema that does not fit. Rows of columns that are only not known yet may be stored, whatever the
 * answer says (BQW-25). */
static void refuse_schema(struct bigquery *state,
                          const struct connection *connection,
                          enum schema_fit fit,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct bigquery_append_rows_request *append = request->payload;
    const uint32_t reason =
        fit == SCHEMA_WRONG ? BIGQUERY_STORAGE_ERROR_NONE : BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS;
    const uint64_t end = connection->stream->end;
    const bool at_end = append->offset == NULL || (uint64_t)append->offset->value == end;
    if (fit == SCHEMA_EARLY) {
        COVER(state->env.world, BIGQUERY_SCHEMA_EARLY);
    }
    if (fit == SCHEMA_EARLY && at_end && find_bad_rows(state, connection, append) == 0 &&
        bigquery_draw(state, SITE_MISMATCH) == MISMATCH_STORED) {
        COVER(state->env.world, BIGQUERY_MISMATCH_STORED);
        keep_rows(state, connection, request);
        model_reply(replies, PORT_INVALID_ARGUMENT, NULL);
        replies->items[replies->count - 1].status.causes[0].reason = (uint16_t)reason;
        return;
    }
    bigquery_refuse(state, request, PORT_INVALID_ARGUMENT, reason, replies);
}

static void append_rows(struct bigquery *state,
                        struct connection *connection,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    const struct bigquery_append_rows_request *append = request->payload;
    struct stream *stream = connection->stream;
    uint32_t reason;
    bigquery_touch(state, stream);
    take_schema(state, connection, append);
    enum port_code code = state_error(state, connection, append, &reason);
    const enum schema_fit fit = schema_fit(connection);
    if (code == PORT_OK && fit != SCHEMA_FITS) {
        refuse_schema(state, connection, fit, request, replies);
        return;
    }
    const bool rows_first =
        code == PORT_OK && append->offset != NULL &&
        (uint64_t)append->offset->value != stream->end &&
        find_bad_rows(state, connection, append) > 0 &&
        bigquery_reading(state, OPTION_ORDER, SITE_ORDER_READING) == ORDER_ROWS_FIRST;
    if (code == PORT_OK && !rows_first) {
        code = offset_error(state, stream, append, &reason);
    }
    if (code != PORT_OK) {
        bigquery_refuse(state, request, code, reason, replies);
        return;
    }
    const uint32_t bad = find_bad_rows(state, connection, append);
    if (bad > 0) {
        refuse_rows(state, bad, request, replies);
        return;
    }
    accept(state, connection, request, replies);
}

void bigquery_append(struct bigquery *state,
                     const struct model_request *request,
                     struct model_replies *replies)
{
    if (request->kind == PORT_OPEN) {
        return; /* a connection is one from its first request on, which names its stream */
    }
    if (request->kind == PORT_CANCEL || request->kind == PORT_HALF_CLOSE) {
        close_connection(state, request->stream);
        return;
    }
    if (!fits(state, request->payload)) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE, replies);
        return;
    }
    struct connection *connection = connect(state, request, replies);
    if (connection == NULL) {
        return;
    }
    const struct bytes name = world_resource_name(state->env.world, connection->stream->resource);
    if (!bigquery_stream_answers(state, connection->stream, name, request, replies)) {
        return;
    }
    if (connection->is_refused) {
        bigquery_refuse(state, request, PORT_ABORTED, BIGQUERY_STORAGE_ERROR_NONE, replies);
        end_stream(PORT_ABORTED, replies);
        close_connection(state, request->stream);
        return;
    }
    append_rows(state, connection, request, replies);
}
