/* The model of BigQuery: the write API of tables, their metadata, and jobs (clauses.def).
 *
 * Guarantees modelled. A stream takes rows at its end only (BQW-12 to BQW-15), a request whole or not at
 * all (BQW-17), and shows them at once, or up to a cursor that moves forward (BQW-01, BQW-30). Answers on
 * a connection come in the order of its requests (BQW-11): that is the link's. A job has its id for good
 * (BQJ-02), runs whatever becomes of its caller, and does all of its work at its end or none of it
 * (BQJ-09). Freedoms taken. Per run:
 * what a repeated flush, a flush past the end or of a finalized stream, a call on a stream that has ended
 * and a call on a missing table are answered, whether offsets or rows are looked at first, and which of
 * two connections of a stream goes on. Per call: whether the metadata of a new table is known (BQW-46),
 * how many bad rows are named, whether a change of columns is told of, how those who create or change a
 * table at the same time are answered. Per change of a table's columns: how late the write API hears of it
 * (BQW-25), and whether what it refuses until then is stored. Per job: how long it takes, whether it fails
 * for no reason of its own, whether it reports an error before its end, when it reads its objects (BQJ-13),
 * how a second one of its id is answered (BQJ-30); per run which jobs a look without a location finds.
 * Faults offered. Per append: its connection
 * dies before or after it, or silently; an error in the answer; and what was measured on default streams,
 * by option. Per call: lost, answer lost, applied later, refused, an outage.
 * Not modelled. PENDING streams, columns within columns, quotas of the write API; a query that lags behind;
 * queries but of all rows of a table; the bytes of Parquet (load.c). Rows that changes by key keep are not
 * among those that a job copies or replaces; primary keys of several columns, statements but two
 * (statements.c).
 *
 * Entries. Each row that becomes readable is WORLD_CREATED: resource the table, generation the row's
 * number in it. A stream whose time is over is WORLD_EXPIRED when it is next asked for. A row that changes
 * another is WORLD_CREATED, WORLD_REPLACED or WORLD_REMOVED: resource the table and the key, generation how
 * often the row was there. A row that a job replaces is WORLD_HIDDEN. Tables that jobs make for themselves
 * are WORLD_CREATED, WORLD_REMOVED or WORLD_EXPIRED; nobody reads them, and their rows are no entries. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#include <string.h>

extern const struct choice_site bigquery_model_sites[];

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/bigquery/sites.def"
#include "models/as_fates.def"
#include "models/bigquery/sites.def"
const struct choice_site bigquery_model_sites[] = {
#include "models/as_sites.def"
#include "models/bigquery/sites.def"
#include "models/as_end.def"
};
/* clang-format on */

uint64_t bigquery_option(const struct bigquery *state, enum bigquery_option option)
{
    return state->env.options[option].number;
}

uint32_t bigquery_draw(struct bigquery *state, enum bigquery_site site)
{
    return fault_pick(
        state->env.world->fault, &bigquery_model_sites[site], state->lane, CHOICE_ALL);
}

uint32_t
bigquery_reading(struct bigquery *state, enum bigquery_option option, enum bigquery_site site)
{
    if (state->readings[site] == 0) {
        const uint64_t pinned = bigquery_option(state, option);
        state->readings[site] =
            pinned > 0 ? (uint8_t)pinned : (uint8_t)(1 + bigquery_draw(state, site));
    }
    return state->readings[site] - 1u;
}

void *bigquery_take(struct bigquery *state, size_t size)
{
    return arena_take_zeroed(state->env.world->arena, size);
}

struct bytes bigquery_keep(struct bigquery *state, struct bytes bytes)
{
    if (bytes.size == 0) {
        return (struct bytes){0};
    }
    uint8_t *copy = bigquery_take(state, bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    return (struct bytes){copy, bytes.size};
}

void bigquery_refuse(struct bigquery *state,
                     const struct model_request *request,
                     enum port_code code,
                     uint32_t reason,
                     struct model_replies *replies)
{
    const struct model_effect effect = {
        .kind = WORLD_REFUSED, .code = (uint8_t)code, .request_or_null = request};
    model_note(&state->env, &effect);
    model_reply(replies, code, NULL);
    replies->items[replies->count - 1].status.causes[0].reason = (uint16_t)reason;
}

/* --- the model --------------------------------------------------------------------------------- */

/* Rows that came before the run: no effects of it. */
static void fill(struct bigquery *state, struct table *table)
{
    const uint64_t count = bigquery_option(state, OPTION_ROWS);
    for (uint64_t i = 0; i < count; i++) {
        bigquery_contents_add(state, &table->rows, (struct model_content){.digest = i});
        table->visible++;
    }
}

/* A table that is there at the start. */
static void begin_table(struct bigquery *state, struct table *table)
{
    const struct bytes value = state->env.options[OPTION_CONTRACT_VALUE].text;
    const nanos staleness = bigquery_option(state, OPTION_MAX_STALENESS);
    bigquery_default_columns(state, table);
    fill(state, table);
    table->version = 1;
    table->has_staleness = staleness > 0;
    table->staleness = staleness / SECONDS(1);
    if (value.size > 0) {
        const struct bigquery_label label = {state->env.options[OPTION_CONTRACT_LABEL].text, value};
        const void *items[] = {&label};
        const struct port_list labels = {items, 1};
        bigquery_set_labels(state, table, &labels);
    }
}

static void model_init(void *memory, const struct model_env *env)
{
    struct bigquery *state = memory;
    state->env = *env;
    state->lane = env->world->nodes[env->node].lane;
    struct bytes rest = env->options[OPTION_TABLE].text;
    for (struct bytes name = bytes_next_word(&rest);
         name.size > 0 && state->table_count < BIGQUERY_TABLE_MAX;
         name = bytes_next_word(&rest)) {
        state->tables[state->table_count] = (struct table){
            .name = name,
            .resource = world_resource(env->world, name),
            .is_read = true,
            .exists = bigquery_option(state, OPTION_TABLE_EXISTS) != 0,
            .has_key = bigquery_option(state, OPTION_PRIMARY_KEY) != 0,
            .key = BYTES_LITERAL("id"),
        };
        if (state->tables[state->table_count].exists) {
            begin_table(state, &state->tables[state->table_count]);
        }
        state->table_count++;
    }
}

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct bigquery *state = memory;
    if (request->method == &bigquery_append_rows_method) {
        bigquery_append(state, request, replies);
    } else if (request->method == &bigquery_create_write_stream_method) {
        bigquery_create_stream(state, request, replies);
    } else if (request->method == &bigquery_get_write_stream_method) {
        bigquery_get_stream(state, request, replies);
    } else if (request->method == &bigquery_finalize_write_stream_method) {
        bigquery_finalize(state, request, replies);
    } else if (request->method == &bigquery_flush_rows_method) {
        bigquery_flush(state, request, replies);
    } else if (request->method == &bigquery_insert_table_method) {
        bigquery_insert_table(state, request, replies);
    } else if (request->method == &bigquery_get_table_method) {
        bigquery_get_table(state, request, replies);
    } else if (request->method == &bigquery_patch_table_method) {
        bigquery_patch_table(state, request, replies);
    } else if (request->method == &bigquery_delete_table_method) {
        bigquery_delete_table(state, request, replies);
    } else if (request->method == &bigquery_get_dataset_method) {
        bigquery_get_dataset(state, request, replies);
    } else if (request->method == &bigquery_query_method) {
        bigquery_query(state, request, replies);
    } else if (request->method == &bigquery_insert_job_method) {
        bigquery_insert_job(state, request, replies);
    } else {
        CHECK(request->method == &bigquery_get_job_method);
        bigquery_get_job(state, request, replies);
    }
}

/* Only jobs go on by themselves: a stream is found to be over when it is asked for. */
static void model_event(void *memory, uint8_t what, uint64_t a, uint64_t b)
{
    (void)b;
    bigquery_job_event(memory, (enum bigquery_event)what, (uint32_t)a);
}

static void model_heal(void *memory)
{
    bigquery_jobs_heal(memory);
}

static uint32_t model_pending(const void *memory)
{
    const struct bigquery *state = memory;
    return state->unfinished_count;
}

#define IDENTITY_BYTES_MAX 4096u

/* A flush is known by what it asks for, a job by its name. An append is of many rows, and of a stream that
 * many are of. */
static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    uint8_t bytes[IDENTITY_BYTES_MAX];
    struct byte_writer writer;
    byte_writer_init(&writer, bytes, sizeof(bytes));
    if (method == &bigquery_flush_rows_method) {
        port_encode(&bigquery_flush_rows_request_message, payload, &writer);
    } else if (method == &bigquery_insert_job_method) {
        const struct bigquery_insert_job_request *insert = payload;
        const struct bigquery_job_reference *reference =
            insert->job == NULL ? NULL : insert->job->job_reference;
        if (reference == NULL || reference->job_id.size == 0) {
            return 0; /* the service names it */
        }
        port_encode(&bigquery_job_reference_message, reference, &writer);
    }
    return writer.overflowed || writer.size == 0 ? 0 : digest_bytes(byte_writer_view(&writer));
}

static uint64_t model_digest(const void *memory)
{
    const struct bigquery *state = memory;
    uint64_t digest = digest_fold(state->digest, state->stream_count);
    for (const struct stream *stream = state->streams; stream != NULL; stream = stream->next) {
        digest = digest_fold(digest, stream->end);
        digest = digest_fold(digest, stream->cursor);
        digest = digest_fold(digest, stream->finalized);
        digest = digest_fold(digest, stream->ended);
        digest = digest_fold(digest, stream->connection);
        digest = digest_fold(digest, stream->last_traffic);
    }
    for (const struct connection *at = state->connections; at != NULL; at = at->next) {
        digest = digest_fold(digest, at->number);
        digest = digest_fold(digest, at->is_refused);
        digest = digest_fold(digest, at->has_schema);
        digest = digest_fold(digest, at->opened_at);
        digest = digest_fold(digest, at->told_columns);
    }
    for (uint32_t i = 0; i < state->table_count; i++) {
        digest =
            digest_fold(digest, (uint64_t)state->tables[i].exists << 32 | state->tables[i].visible);
        digest = digest_fold(digest, state->tables[i].denied_until);
        digest = digest_fold(digest, state->tables[i].version);
    }
    for (uint32_t i = 0; i <= SITE_LOOKUP_READING; i++) { /* the last of them */
        digest = digest_fold(digest, state->readings[i]);
    }
    digest = digest_fold(digest, bigquery_jobs_digest(state));
    return digest;
}

static const struct fate_menu fates[] = {
    {&bigquery_append_rows_method, &bigquery_model_sites[SITE_APPEND], append_fates},
    {&bigquery_create_write_stream_method, &bigquery_model_sites[SITE_CREATE], create_fates},
    {&bigquery_flush_rows_method, &bigquery_model_sites[SITE_FLUSH], flush_fates},
    {&bigquery_finalize_write_stream_method, &bigquery_model_sites[SITE_FINALIZE], finalize_fates},
    {&bigquery_insert_table_method, &bigquery_model_sites[SITE_INSERT_TABLE], insert_table_fates},
    {&bigquery_get_table_method, &bigquery_model_sites[SITE_GET_TABLE], get_table_fates},
    {&bigquery_patch_table_method, &bigquery_model_sites[SITE_PATCH_TABLE], patch_table_fates},
    {&bigquery_insert_job_method, &bigquery_model_sites[SITE_INSERT_JOB], insert_job_fates},
    {&bigquery_get_job_method, &bigquery_model_sites[SITE_GET_JOB], get_job_fates},
    {&bigquery_get_dataset_method, &bigquery_model_sites[SITE_GET_DATASET], get_dataset_fates},
    {&bigquery_delete_table_method, &bigquery_model_sites[SITE_DELETE_TABLE], delete_table_fates},
    {&bigquery_query_method, &bigquery_model_sites[SITE_QUERY], query_fates},
};

static const char *const reflush_names[] = {
    "any", "ok_requested", "already_exists", "ok_current", NULL};
static const char *const past_end_names[] = {"any", "out_of_range", "invalid_argument", NULL};
static const char *const finalized_names[] = {"any", "ok", "invalid_argument", NULL};
static const char *const missing_names[] = {"any", "permission_denied", "not_found", NULL};
static const char *const ended_names[] = {
    "any", "stream_not_found", "not_found", "invalid_stream_state", "already_exists", NULL};
static const char *const lookup_names[] = {"any", "us_and_eu", "us_only", NULL};
static const char *const order_names[] = {"any", "offset_first", "rows_first", NULL};
static const char *const connection_names[] = {
    "any", "both_go_on", "older_ends", "newer_ends", NULL};

static const struct sink_option options[] = {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence)                     \
    [constant] = {key, type, false, fallback, text, min, max, names, sentence},
#include "models/bigquery/options.def"
#undef OPTION
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/bigquery/clauses.def"
#include "models/rpc_clauses.def"
#undef CLAUSE
};

static const struct mark marks[] = {
#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
#include "models/bigquery/marks.def"
#undef MARK
};

_Static_assert(MARK_BIGQUERY_END <= MARK_BIGQUERY_FIRST + MARK_MODEL_ROOM, "marks have room");

static const char *const reader_names[] = {"query", NULL};
static const char *const cause_names[] = {
    "ended", "finalized", "lifetime", "deleted", "row_deleted", NULL};

const struct model_type bigquery_model = {
    .name = "bigquery",
    .sentence = "tables and their write streams: offsets, a flush cursor, connections",
    .service = &bigquery_service,
    .sites = bigquery_model_sites,
    .site_count = SITE_COUNT,
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .marks = marks,
    .mark_count = ARRAY_COUNT(marks),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct bigquery),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .pending = model_pending,
    .identity = model_identity,
    .digest = model_digest,
};
