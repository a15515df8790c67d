/* The model of a generic table with staged units (table_clauses.def).
 *
 * Guarantees modelled. Rows are staged at offsets of a unit (GT-01, GT-02); a Commit makes the rows of
 * all its units visible in one step (GT-03), and compares only what it is asked to compare: the history
 * of its units (GT-05) or the marker of its application (GT-06). Freedoms taken. None beyond the fates of
 * calls: units expire (GT-09) and commits are forgotten (GT-10) at their time. Faults offered. Per call:
 * lost, answer lost, applied later, refused, applied and answered UNAVAILABLE, an outage (GT-12, X-03 to
 * Not modelled. Row contents, schemas, deletes, conflicts between applications, quotas.
 *
 * Entries. Each row that becomes visible is WORLD_CREATED: resource "table", generation the row's number
 * in the table; all rows of a commit in one event. A unit that its time removes is WORLD_EXPIRED.
 */
#include "models/generic/table.h"

#include "sinks/base/digest.h"
#include "sinks/port/table.h"

enum table_mark {
    MARK_TABLE_FIRST = MARK_SIM_ROOM + MARK_MODEL_ROOM,
    MARK_TABLE_BEFORE = MARK_TABLE_FIRST - 1,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "models/generic/table_marks.def"
#undef MARK
    MARK_TABLE_END,
};

enum table_site {
    SITE_STAGE,
    SITE_COMMIT,
    SITE_DISCARD,
    SITE_READ,
};

enum table_option {
    OPTION_UNIT_TTL,
    OPTION_HISTORY_RETENTION,
};

enum table_event {
    EVENT_EXPIRES = 1, /* a: unit's name, b: its generation */
};

extern const struct choice_site table_model_sites[];

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/generic/table_sites.def"
#include "models/as_fates.def"
#include "models/generic/table_sites.def"
const struct choice_site table_model_sites[] = {
#include "models/as_sites.def"
#include "models/generic/table_sites.def"
#include "models/as_end.def"
};
/* clang-format on */

/* Rows of one Stage. */
struct rows {
    struct rows *next;
    struct model_content *contents;
    uint32_t count;
};

struct unit {
    struct unit *next;
    uint32_t name; /* as world_resource numbers it */
    uint32_t generation;
    uint32_t count; /* of rows */
    struct rows *first;
    struct rows *last;
};

/* What the history knows of a unit. */
struct committed {
    struct committed *next;
    uint32_t unit; /* its name */
    nanos at;
};

struct marker {
    struct marker *next;
    uint32_t application;
    uint64_t sequence;
};

struct table {
    struct model_env env;
    nanos unit_ttl;
    nanos history_retention;
    uint32_t resource; /* of the table itself */
    struct unit *units;
    uint32_t units_made;
    struct committed *history; /* newest first */
    struct marker *markers;
    uint32_t visible; /* rows */
    uint64_t version;
    uint64_t digest;
    /* answers, borrowed until the link has cloned them */
    struct table_stage_result staged;
    struct table_commit_result done;
    struct table_read_result read;
};

static void model_init(void *memory, const struct model_env *env)
{
    struct table *state = memory;
    state->env = *env;
    state->unit_ttl = env->options[OPTION_UNIT_TTL].number;
    state->history_retention = env->options[OPTION_HISTORY_RETENTION].number;
    state->resource = world_resource(env->world, BYTES_LITERAL("table"));
}

static void *take(struct table *state, size_t size)
{
    return arena_take_zeroed(state->env.world->arena, size);
}

/* --- units ------------------------------------------------------------------------------------- */

static struct unit *unit_of(const struct table *state, uint32_t name)
{
    struct unit *unit = state->units;
    while (unit != NULL && unit->name != name) {
        unit = unit->next;
    }
    return unit;
}

static void remove_unit(struct table *state, const struct unit *unit)
{
    struct unit *before = NULL;
    for (struct unit *at = state->units; at != unit; at = at->next) {
        CHECK(at != NULL);
        before = at;
    }
    if (before == NULL) {
        state->units = unit->next;
    } else {
        before->next = unit->next;
    }
}

static struct unit *make_unit(struct table *state, uint32_t name)
{
    struct unit *unit = take(state, sizeof(*unit));
    state->units_made++;
    *unit = (struct unit){.next = state->units, .name = name, .generation = state->units_made};
    state->units = unit;
    (void)model_at(&state->env,
                   nanos_add(world_now(state->env.world), state->unit_ttl),
                   EVENT_EXPIRES,
                   name,
                   unit->generation);
    return unit;
}

static void
add_rows(struct table *state, struct unit *unit, const struct table_stage_request *request)
{
    struct rows *rows = take(state, sizeof(*rows));
    rows->count = request->rows.count;
    rows->contents = take(state, rows->count * sizeof(rows->contents[0]) + 1);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct table_row *row = request->rows.items[i];
        rows->contents[i] = model_content_of(&state->env, row->value);
        state->digest = digest_fold(state->digest, rows->contents[i].digest);
    }
    if (unit->last == NULL) {
        unit->first = rows;
    } else {
        unit->last->next = rows;
    }
    unit->last = rows;
    unit->count += rows->count;
}

/* GT-01, GT-02. */
static void handle_stage(struct table *state,
                         const struct table_stage_request *request,
                         struct model_replies *replies)
{
    const uint32_t name = world_resource(state->env.world, request->unit);
    struct unit *unit = unit_of(state, name);
    const uint64_t count = unit == NULL ? 0 : unit->count;
    if (request->unit.size == 0 || request->rows.count == 0) {
        model_reply(replies, PORT_INVALID_ARGUMENT, NULL);
        return;
    }
    if (unit == NULL && request->offset > 0) {
        COVER(state->env.world, TABLE_STAGED_INTO_NOTHING);
        model_reply(replies, PORT_NOT_FOUND, NULL);
        return;
    }
    if (request->offset != count) {
        model_reply(
            replies, request->offset < count ? PORT_ALREADY_EXISTS : PORT_OUT_OF_RANGE, NULL);
        return;
    }
    unit = unit == NULL ? make_unit(state, name) : unit;
    add_rows(state, unit, request);
    state->staged = (struct table_stage_result){.count = unit->count};
    model_reply(replies, PORT_OK, &state->staged);
}

/* GT-08. */
static void handle_discard(struct table *state,
                           const struct table_discard_request *request,
                           struct model_replies *replies)
{
    for (uint32_t i = 0; i < request->units.count; i++) {
        const uint32_t name = world_resource(state->env.world, request->units.items[i]);
        const struct unit *unit = unit_of(state, name);
        if (unit != NULL) {
            state->digest = digest_fold(state->digest, unit->generation);
            remove_unit(state, unit);
        }
    }
    model_reply(replies, PORT_OK, NULL);
}

/* GT-09: a unit that took the id of another one lives by its own time. */
static void model_event(void *memory, uint8_t what, uint64_t a, uint64_t b)
{
    struct table *state = memory;
    CHECK(what == EVENT_EXPIRES);
    const struct unit *unit = unit_of(state, (uint32_t)a);
    if (unit == NULL || unit->generation != b) {
        return;
    }
    COVER(state->env.world, TABLE_UNIT_EXPIRED);
    const struct model_effect effect = {
        .kind = WORLD_EXPIRED, .resource = (uint32_t)a, .generation = (uint32_t)b};
    model_note(&state->env, &effect);
    remove_unit(state, unit);
}

/* --- history and markers ----------------------------------------------------------------------- */

/* GT-10. */
static bool is_known(const struct table *state, uint32_t unit)
{
    const nanos now = world_now(state->env.world);
    for (const struct committed *item = state->history; item != NULL; item = item->next) {
        if (item->unit == unit && nanos_sub(now, item->at) < state->history_retention) {
            return true;
        }
    }
    return false;
}

static uint64_t sequence_of(const struct table *state, uint32_t application)
{
    const struct marker *marker = state->markers;
    while (marker != NULL && marker->application != application) {
        marker = marker->next;
    }
    return marker == NULL ? 0 : marker->sequence;
}

static void move_marker(struct table *state, uint32_t application, uint64_t sequence)
{
    struct marker *marker = state->markers;
    while (marker != NULL && marker->application != application) {
        marker = marker->next;
    }
    if (marker == NULL) {
        marker = take(state, sizeof(*marker));
        marker->application = application;
        marker->next = state->markers;
        state->markers = marker;
    }
    marker->sequence = sequence;
    state->digest = digest_fold(state->digest, sequence);
}

/* --- commits ----------------------------------------------------------------------------------- */

/* What stands in the way of a commit; PORT_OK nothing (GT-05 to GT-07). */
static enum port_code refusal_of(struct table *state, const struct table_commit_request *request)
{
    const uint32_t application = world_resource(state->env.world, request->application);
    if (request->units.count == 0) {
        return PORT_INVALID_ARGUMENT;
    }
    if (request->if_newer && sequence_of(state, application) >= request->sequence) {
        return PORT_ALREADY_EXISTS;
    }
    for (uint32_t i = 0; request->if_fresh && i < request->units.count; i++) {
        if (is_known(state, world_resource(state->env.world, request->units.items[i]))) {
            COVER(state->env.world, TABLE_NOT_FRESH);
            return PORT_ALREADY_EXISTS;
        }
    }
    for (uint32_t i = 0; i < request->units.count; i++) {
        if (unit_of(state, world_resource(state->env.world, request->units.items[i])) == NULL) {
            COVER(state->env.world, TABLE_COMMIT_OF_NOTHING);
            return PORT_NOT_FOUND;
        }
    }
    return PORT_OK;
}

static void
publish(struct table *state, const struct unit *unit, const struct model_request *request)
{
    for (const struct rows *rows = unit->first; rows != NULL; rows = rows->next) {
        for (uint32_t i = 0; i < rows->count; i++) {
            state->visible++;
            const struct model_effect effect = {
                .kind = WORLD_CREATED,
                .resource = state->resource,
                .generation = state->visible,
                .content = rows->contents[i],
                .request_or_null = request,
            };
            model_note(&state->env, &effect);
        }
    }
}

static void handle_commit(struct table *state,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct table_commit_request *commit = request->payload;
    const enum port_code refusal = refusal_of(state, commit);
    if (refusal != PORT_OK) {
        model_reply(replies, refusal, NULL);
        return;
    }
    for (uint32_t i = 0; i < commit->units.count; i++) {
        const uint32_t name = world_resource(state->env.world, commit->units.items[i]);
        const struct unit *unit = unit_of(state, name);
        CHECK(unit != NULL); /* refusal_of has looked */
        publish(state, unit, request);
        struct committed *item = take(state, sizeof(*item));
        *item = (struct committed){state->history, name, world_now(state->env.world)};
        state->history = item;
    }
    move_marker(state, world_resource(state->env.world, commit->application), commit->sequence);
    state->version++;
    state->done = (struct table_commit_result){.version = state->version};
    model_reply(replies, PORT_OK, &state->done);
}

/* GT-11. */
static void handle_read(struct table *state,
                        const struct table_read_request *request,
                        struct model_replies *replies)
{
    struct bytes *committed = take(state, request->units.count * sizeof(*committed) + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < request->units.count; i++) {
        if (is_known(state, world_resource(state->env.world, request->units.items[i]))) {
            committed[count] = request->units.items[i];
            count++;
        }
    }
    const uint32_t application = world_resource(state->env.world, request->application);
    state->read = (struct table_read_result){.committed = {committed, count},
                                             .sequence = sequence_of(state, application)};
    model_reply(replies, PORT_OK, &state->read);
}

/* --- the model --------------------------------------------------------------------------------- */

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct table *state = memory;
    if (request->method == &table_stage_method) {
        handle_stage(state, request->payload, replies);
    } else if (request->method == &table_commit_method) {
        handle_commit(state, request, replies);
    } else if (request->method == &table_discard_method) {
        handle_discard(state, request->payload, replies);
    } else {
        CHECK(request->method == &table_read_method);
        handle_read(state, request->payload, replies);
    }
}

static void model_heal(void *memory)
{
    (void)memory; /* nothing is injected beyond single calls */
}

/* A commit is of many rows: none of its requests names one identity. */
static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    (void)method;
    (void)payload;
    return 0;
}

static uint64_t model_digest(const void *memory)
{
    const struct table *state = memory;
    uint64_t digest = digest_fold(state->digest, state->visible);
    digest = digest_fold(digest, state->version);
    for (const struct unit *unit = state->units; unit != NULL; unit = unit->next) {
        digest = digest_fold(digest, (uint64_t)unit->generation << 32 | unit->count);
    }
    return digest;
}

static const struct fate_menu fates[] = {
    {&table_stage_method, &table_model_sites[SITE_STAGE], stage_fates},
    {&table_commit_method, &table_model_sites[SITE_COMMIT], commit_fates},
    {&table_discard_method, &table_model_sites[SITE_DISCARD], discard_fates},
    {&table_read_method, &table_model_sites[SITE_READ], read_fates},
};

static const struct sink_option options[] = {
    [OPTION_UNIT_TTL] = {.key = "unit_ttl",
                         .type = SINK_OPTION_DURATION,
                         .fallback = HOURS(1),
                         .min = MS(1),
                         .max = DAYS(365),
                         .sentence = "How long a staged unit lives, from its first row on."},
    [OPTION_HISTORY_RETENTION] = {.key = "history_retention",
                                  .type = SINK_OPTION_DURATION,
                                  .fallback = DAYS(5),
                                  .min = MS(1),
                                  .max = DAYS(365),
                                  .sentence = "How long the history knows a commit."},
};

static const struct sink_timing timings[] = {
    {.name = "unit_ttl",
     .clause = "GT-09",
     .left = {{.fact = SINK_TIMING_OPTION, .option = OPTION_UNIT_TTL}},
     .right = {{.fact = SINK_TIMING_FIRST_COMMIT}},
     .sentence = "A unit must live until its commit, a failure and the recovery from it included."},
    {.name = "history_retention",
     .clause = "GT-10",
     .left = {{.fact = SINK_TIMING_OPTION, .option = OPTION_HISTORY_RETENTION}},
     .right = {{.fact = SINK_TIMING_REPEAT}, {.fact = SINK_TIMING_REQUEST}},
     .sentence = "A commit that is repeated must still be known, and when it is asked for, too."},
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/generic/table_clauses.def"
#include "models/rpc_clauses.def"
#undef CLAUSE
};

static const struct mark marks[] = {
#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
#include "models/generic/table_marks.def"
#undef MARK
};

_Static_assert(MARK_TABLE_END <= MARK_TABLE_FIRST + MARK_MODEL_ROOM, "marks have room");

static const char *const reader_names[] = {"reader", NULL};
static const char *const cause_names[] = {"none", NULL};

const struct model_type table_model = {
    .name = "table",
    .sentence = "a table whose rows are staged in units and become visible by commits",
    .service = &table_service,
    .sites = table_model_sites,
    .site_count = ARRAY_COUNT(table_model_sites),
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .marks = marks,
    .mark_count = ARRAY_COUNT(marks),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct table),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .identity = model_identity,
    .digest = model_digest,
};
