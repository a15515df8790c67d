/* Write streams: their life, the flush cursor, the end of appends (BQW-01 to BQW-05, BQW-30 to BQW-36). */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#define STREAM_NAME_MAX 512u

static struct stream *stream_by(const struct bigquery *state, uint32_t resource)
{
    struct stream *stream = state->streams;
    while (stream != NULL && stream->resource != resource) {
        stream = stream->next;
    }
    return stream;
}

static bool ends_with(struct bytes text, struct bytes end)
{
    return text.size >= end.size &&
           bytes_equal((struct bytes){text.data + (text.size - end.size), end.size}, end);
}

static struct stream *make_stream(struct bigquery *state,
                                  struct table *table,
                                  enum bigquery_stream_type type,
                                  struct bytes name)
{
    struct stream *stream = bigquery_take(state, sizeof(*stream));
    *stream = (struct stream){
        .next = state->streams,
        .table = table,
        .resource = world_resource(state->env.world, name),
        .type = (uint8_t)type,
    };
    state->streams = stream;
    state->stream_count++;
    state->digest = digest_fold(state->digest, (uint64_t)stream->resource << 8 | stream->type);
    bigquery_touch(state, stream);
    return stream;
}

/* The table whose default stream has this name; empty when it is no such name (BQW-02). */
static struct bytes default_of(struct bytes name)
{
    static const char *const ends[] = {"/streams/_default", "/_default"};
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        const struct bytes end = bytes_of_text(ends[i]);
        if (ends_with(name, end)) {
            return (struct bytes){name.data, name.size - end.size};
        }
    }
    return (struct bytes){0};
}

/* A table's default stream is made by the first who names it. */
struct stream *bigquery_stream_of(struct bigquery *state, struct bytes name)
{
    struct stream *stream = stream_by(state, world_resource(state->env.world, name));
    if (stream == NULL) {
        struct table *table = bigquery_table_of(state, default_of(name));
        if (table != NULL && table->exists) {
            stream = make_stream(state, table, BIGQUERY_COMMITTED, name);
            stream->is_default = true;
        }
    }
    return stream;
}

/* --- the end of a stream ----------------------------------------------------------------------- */

/* A stream that nobody uses any more is found to be over when it is asked for (BQW-05). What was not
 * readable never will be (BQW-34). */
static bool is_over(struct bigquery *state, struct stream *stream)
{
    const nanos ttl = bigquery_option(
        state, stream->type == BIGQUERY_BUFFERED ? OPTION_BUFFERED_TTL : OPTION_COMMITTED_TTL);
    const nanos idle = nanos_sub(world_now(state->env.world), stream->last_traffic);
    if (!stream->ended && !stream->is_default && idle >= ttl) {
        stream->ended = true;
        const struct model_effect effect = {.kind = WORLD_EXPIRED,
                                            .code = BIGQUERY_CAUSE_ENDED,
                                            .resource = stream->resource,
                                            .generation = 1};
        model_note(&state->env, &effect);
        state->digest = digest_fold(state->digest, stream->resource);
    }
    return stream->ended;
}

/* BQW-47. */
static void refuse_ended(struct bigquery *state,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const uint32_t reading = bigquery_reading(state, OPTION_ENDED, SITE_ENDED_READING);
    COVER(state->env.world, BIGQUERY_STREAM_ENDED);
    if (reading == ENDED_INVALID_STATE) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_STATE, replies);
    } else if (reading == ENDED_FLUSH_ALREADY_EXISTS &&
               request->method == &bigquery_flush_rows_method) {
        bigquery_refuse(state, request, PORT_ALREADY_EXISTS, BIGQUERY_STORAGE_ERROR_NONE, replies);
    } else {
        const bool is_plain = reading == ENDED_NOT_FOUND;
        bigquery_refuse(state,
                        request,
                        PORT_NOT_FOUND,
                        is_plain ? BIGQUERY_STORAGE_ERROR_NONE : BIGQUERY_STREAM_NOT_FOUND,
                        replies);
    }
}

bool bigquery_stream_answers(struct bigquery *state,
                             struct stream *stream_or_null,
                             struct bytes name,
                             const struct model_request *request,
                             struct model_replies *replies)
{
    if (stream_or_null == NULL && default_of(name).size > 0) {
        return bigquery_table_answers(state, NULL, false, request, replies);
    }
    if (stream_or_null == NULL) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_STREAM_NOT_FOUND, replies);
        return false;
    }
    if (is_over(state, stream_or_null)) {
        refuse_ended(state, request, replies);
        return false;
    }
    return true;
}

/* Appends, flushes and finalizes count as traffic: the text does not say what does, and a stream that
 * lives longer is the weaker assumption for what must be found gone. */
void bigquery_touch(struct bigquery *state, struct stream *stream)
{
    stream->last_traffic = world_now(state->env.world);
}

/* --- making and looking ------------------------------------------------------------------------ */

/* A stream is a thing beside the data: made by a call, and ended by another one, for nothing can be
 * appended to it any more, or flushed (BQW-33, BQW-35). */
static void note_life(const struct bigquery *state,
                      enum journal_kind kind,
                      const struct stream *stream,
                      const struct model_request *request)
{
    const struct model_effect effect = {.kind = (uint8_t)kind,
                                        .code =
                                            kind == WORLD_REMOVED ? BIGQUERY_CAUSE_FINALIZED : 0,
                                        .resource = stream->resource,
                                        .generation = 1,
                                        .request_or_null = request};
    model_note(&state->env, &effect);
}

void bigquery_create_stream(struct bigquery *state,
                            const struct model_request *request,
                            struct model_replies *replies)
{
    const struct bigquery_create_write_stream_request *create = request->payload;
    struct table *table = bigquery_table_of(state, create->parent);
    const uint32_t type = create->write_stream == NULL ? 0 : create->write_stream->type;
    if (!bigquery_table_answers(state, table, true, request, replies)) {
        return;
    }
    if (type != BIGQUERY_BUFFERED && type != BIGQUERY_COMMITTED) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_TYPE, replies);
        return;
    }
    uint8_t text[STREAM_NAME_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text));
    byte_writer_bytes(&writer, table->name);
    byte_writer_text(&writer, "/streams/s");
    byte_writer_decimal(&writer, state->stream_count + 1);
    CHECK(!writer.overflowed);
    const struct stream *stream =
        make_stream(state, table, (enum bigquery_stream_type)type, byte_writer_view(&writer));
    note_life(state, WORLD_CREATED, stream, request);
    state->stream_answer = (struct bigquery_write_stream){
        .name = world_resource_name(state->env.world, stream->resource), .type = type};
    model_reply(replies, PORT_OK, &state->stream_answer);
}

/* BQW-07. */
void bigquery_get_stream(struct bigquery *state,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const struct bigquery_get_write_stream_request *get = request->payload;
    struct stream *stream = bigquery_stream_of(state, get->name);
    if (!bigquery_stream_answers(state, stream, get->name, request, replies)) {
        return;
    }
    state->stream_answer = (struct bigquery_write_stream){
        .name = world_resource_name(state->env.world, stream->resource), .type = stream->type};
    model_reply(replies, PORT_OK, &state->stream_answer);
}

/* --- finalize and flush ------------------------------------------------------------------------ */

/* BQW-35. A repeated call finds what the first one did. */
void bigquery_finalize(struct bigquery *state,
                       const struct model_request *request,
                       struct model_replies *replies)
{
    const struct bigquery_finalize_write_stream_request *finalize = request->payload;
    struct stream *stream = bigquery_stream_of(state, finalize->name);
    if (!bigquery_stream_answers(state, stream, finalize->name, request, replies)) {
        return;
    }
    if (stream->is_default) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_TYPE, replies);
        return;
    }
    bigquery_touch(state, stream);
    if (!stream->finalized) {
        note_life(state, WORLD_REMOVED, stream, request);
    }
    stream->finalized = true;
    state->digest = digest_fold(state->digest, (uint64_t)stream->resource << 1 | 1);
    state->finalized =
        (struct bigquery_finalize_write_stream_response){.row_count = (int64_t)stream->end};
    model_reply(replies, PORT_OK, &state->finalized);
}

void bigquery_show(struct bigquery *state,
                   struct stream *stream,
                   struct model_content content,
                   const struct model_request *request)
{
    stream->cursor++;
    bigquery_add_row(state, stream->table, content, request);
}

/* Move the cursor up to and with a row that is there. */
static void move_cursor(struct bigquery *state,
                        struct stream *stream,
                        uint64_t last,
                        const struct model_request *request)
{
    while (stream->cursor <= last) {
        struct rows *rows = stream->first;
        CHECK(rows != NULL);
        bigquery_show(state, stream, rows->contents[stream->skipped], request);
        stream->skipped++;
        if (stream->skipped == rows->count) {
            stream->first = rows->next;
            stream->last = rows->next == NULL ? NULL : stream->last;
            stream->skipped = 0;
        }
    }
    state->digest = digest_fold(state->digest, stream->cursor);
}

static void reply_flushed(struct bigquery *state, uint64_t offset, struct model_replies *replies)
{
    state->flushed = (struct bigquery_flush_rows_response){.offset = (int64_t)offset};
    model_reply(replies, PORT_OK, &state->flushed);
}

/* BQW-31. */
static void flush_again(struct bigquery *state,
                        const struct stream *stream,
                        uint64_t last,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    const uint32_t reading = bigquery_reading(state, OPTION_REFLUSH, SITE_REFLUSH_READING);
    COVER(state->env.world, BIGQUERY_FLUSHED_AGAIN);
    if (reading == REFLUSH_ALREADY_EXISTS) {
        bigquery_refuse(
            state, request, PORT_ALREADY_EXISTS, BIGQUERY_OFFSET_ALREADY_EXISTS, replies);
    } else {
        reply_flushed(state, reading == REFLUSH_OK_CURRENT ? stream->cursor - 1 : last, replies);
    }
}

/* BQW-32. */
static void flush_past_end(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies)
{
    const uint32_t reading = bigquery_reading(state, OPTION_PAST_END, SITE_PAST_END_READING);
    const bool is_range = reading == PAST_END_OUT_OF_RANGE;
    COVER(state->env.world, BIGQUERY_FLUSHED_PAST_END);
    bigquery_refuse(state,
                    request,
                    is_range ? PORT_OUT_OF_RANGE : PORT_INVALID_ARGUMENT,
                    is_range ? BIGQUERY_OFFSET_OUT_OF_RANGE : BIGQUERY_STORAGE_ERROR_NONE,
                    replies);
}

/* BQW-33. */
static bool refuses_finalized(struct bigquery *state, const struct stream *stream)
{
    if (!stream->finalized) {
        return false;
    }
    COVER(state->env.world, BIGQUERY_FLUSHED_FINALIZED);
    return bigquery_reading(state, OPTION_FINALIZED, SITE_FINALIZED_READING) == FINALIZED_REFUSES;
}

void bigquery_flush(struct bigquery *state,
                    const struct model_request *request,
                    struct model_replies *replies)
{
    const struct bigquery_flush_rows_request *flush = request->payload;
    struct stream *stream = bigquery_stream_of(state, flush->write_stream);
    if (!bigquery_stream_answers(state, stream, flush->write_stream, request, replies) ||
        !bigquery_table_answers(state, stream->table, true, request, replies)) {
        return;
    }
    if (stream->type != BIGQUERY_BUFFERED) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_INVALID_STREAM_TYPE, replies);
        return;
    }
    if (flush->offset == NULL || flush->offset->value < 0 || refuses_finalized(state, stream)) {
        bigquery_refuse(
            state, request, PORT_INVALID_ARGUMENT, BIGQUERY_STORAGE_ERROR_NONE, replies);
        return;
    }
    const uint64_t last = (uint64_t)flush->offset->value;
    bigquery_touch(state, stream);
    if (last >= stream->end) {
        flush_past_end(state, request, replies);
    } else if (last < stream->cursor) {
        flush_again(state, stream, last, request, replies);
    } else {
        move_cursor(state, stream, last, request);
        reply_flushed(state, last, replies);
    }
}
