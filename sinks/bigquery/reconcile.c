#include "sinks/bigquery/reconcile.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

enum reconcile_state {
    STATE_LOOKING = 0,
    STATE_CREATING,
    STATE_CHANGING,
};

/* A race for the table's etag is run so often, with a pause between. */
#define ROUNDS_MAX     5u
#define RACE_PAUSE     MS(500)
#define PAUSE_SHORTEST MS(1)

void reconcile_init(struct reconcile *reconcile,
                    const struct allocator *allocator,
                    const struct reconcile_options *options,
                    struct appender_numbers *numbers,
                    struct parking *parking)
{
    *reconcile = (struct reconcile){
        .options = options, .allocator = allocator, .numbers = numbers, .parking = parking};
}

static void forget_seen(struct reconcile *reconcile)
{
    allocator_give(reconcile->allocator, reconcile->seen, reconcile->seen_size);
    reconcile->seen = NULL;
    reconcile->seen_size = 0;
}

void reconcile_start(struct reconcile *reconcile,
                     enum reconcile_what what,
                     struct bytes table,
                     const struct bigquery_table_schema *wanted)
{
    CHECK(reconcile->what == RECONCILE_NONE);
    CHECK(bigquery_table_parse(table, &reconcile->parts));
    reconcile->table = table;
    reconcile->wanted = wanted;
    reconcile->what = (uint8_t)what;
    reconcile->state = what == RECONCILE_CREATE ? STATE_CREATING : STATE_LOOKING;
    reconcile->outcome = RECONCILE_OPEN;
    reconcile->rounds = 0;
    reconcile->failures = 0;
    reconcile->column = (struct bytes){0};
    reconcile->has_status = false;
}

/* --- ending ------------------------------------------------------------------------------------ */

static void end(struct reconcile *reconcile, enum reconcile_outcome outcome)
{
    forget_seen(reconcile);
    reconcile->outcome = (uint8_t)outcome;
    reconcile->what = RECONCILE_NONE;
}

static void fail(struct reconcile *reconcile,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const char *message)
{
    reconcile->reason = reason;
    reconcile->has_status = status_or_null != NULL;
    if (status_or_null != NULL) {
        reconcile->status = *status_or_null;
        for (uint8_t i = 0; i < reconcile->status.count; i++) {
            /* Details die with the answer. */
            reconcile->status.causes[i].detail_message_or_null = NULL;
            reconcile->status.causes[i].detail_or_null = NULL;
        }
    }
    reconcile->message = message;
    end(reconcile, RECONCILE_FAILED);
}

static void wait(struct reconcile *reconcile, nanos now, nanos min, nanos max)
{
    if (parking_add(reconcile->parking, &reconcile->pause, now, min, max) != ERR_OK) {
        fail(reconcile, SINK_REASON_MEMORY, NULL, "no memory for a pause");
        return;
    }
    reconcile->waits = true;
}

/* Another attempt of the same call, as long as the schedule has one. */
static void try_again(struct reconcile *reconcile, nanos now, const struct port_status *status)
{
    const struct retry_schedule *schedule = reconcile->options->schedule;
    reconcile->failures++;
    if (!retry_is_allowed(schedule, reconcile->failures)) {
        fail(reconcile,
             SINK_REASON_EXHAUSTED,
             status,
             "the attempts to look at or to make the table are used up");
        return;
    }
    const struct retry_window pause = retry_backoff(schedule, reconcile->failures);
    wait(reconcile, now, pause.min, pause.max);
}

/* The table is not what it was: look again, after a moment. */
static void look_again(struct reconcile *reconcile, nanos now, const struct port_status *status)
{
    reconcile->state = STATE_LOOKING;
    reconcile->rounds++;
    if (reconcile->rounds >= ROUNDS_MAX) {
        fail(reconcile,
             SINK_REASON_EXHAUSTED,
             status,
             "the table was changed by others each time that it was to be changed");
        return;
    }
    wait(reconcile, now, PAUSE_SHORTEST, RACE_PAUSE);
}

/* --- answers ----------------------------------------------------------------------------------- */

static bool is_transient(const struct port_answer *answer)
{
    return answer->outcome == PORT_OUTCOME_UNKNOWN ||
           bigquery_classify(&answer->status, false) == BIGQUERY_VERDICT_TRANSIENT;
}

static void create_answered(struct reconcile *reconcile,
                            const struct sink_now *now,
                            const struct port_answer *answer)
{
    const bool exists = port_status_first(&answer->status) == PORT_ALREADY_EXISTS;
    if (answer->outcome == PORT_OUTCOME_OK || (exists && reconcile->what == RECONCILE_CREATE)) {
        end(reconcile, RECONCILE_CREATED);
    } else if (exists) {
        look_again(reconcile, now->monotonic, &answer->status); /* another may want other columns */
    } else if (is_transient(answer) || bigquery_is_rate_limited(&answer->status)) {
        try_again(reconcile, now->monotonic, &answer->status);
    } else {
        fail(reconcile, SINK_REASON_SERVICE, &answer->status, "the table could not be created");
    }
}

/* Keep what was seen: the patch is made of it. */
static bool keep_seen(struct reconcile *reconcile, const struct bigquery_table *table)
{
    forget_seen(reconcile);
    const size_t size = port_clone_size(&bigquery_table_message, table);
    void *block = allocator_take(reconcile->allocator, size);
    if (block == NULL) {
        fail(reconcile, SINK_REASON_MEMORY, NULL, "no memory for the metadata of a table");
        return false;
    }
    reconcile->seen = port_clone_into(&bigquery_table_message, table, block, size, NULL);
    reconcile->seen_size = size;
    reconcile->failures = 0;
    return true;
}

static void unite(struct reconcile *reconcile)
{
    static const struct bigquery_table_schema none = {0};
    const struct bigquery_table_schema *there =
        reconcile->seen->schema == NULL ? &none : reconcile->seen->schema;
    switch (
        bigquery_unite(there, reconcile->wanted, reconcile->options->rules, &reconcile->united)) {
    case BIGQUERY_UNION_UNCHANGED:
        end(reconcile, RECONCILE_UNCHANGED);
        return;
    case BIGQUERY_UNION_CHANGED:
        reconcile->state = STATE_CHANGING;
        return;
    case BIGQUERY_UNION_CONFLICT:
        reconcile->column = reconcile->united.column;
        fail(reconcile, SINK_REASON_CONFIG, NULL, reconcile->united.conflict);
        return;
    }
    UNREACHABLE();
}

static void look_answered(struct reconcile *reconcile,
                          const struct sink_now *now,
                          const struct port_answer *answer)
{
    const bool is_missing = port_status_first(&answer->status) == PORT_NOT_FOUND;
    if (answer->outcome == PORT_OUTCOME_OK && answer->payload != NULL) {
        if (keep_seen(reconcile, answer->payload)) {
            unite(reconcile);
        }
    } else if (is_missing && reconcile->options->creates) {
        reconcile->state = STATE_CREATING;
        reconcile->failures = 0;
    } else if (!is_missing && is_transient(answer)) {
        try_again(reconcile, now->monotonic, &answer->status);
    } else {
        fail(reconcile, SINK_REASON_SERVICE, &answer->status, "the table could not be looked at");
    }
}

/* Whether a patch whose answer is lost was made, the table says. */
static void change_answered(struct reconcile *reconcile,
                            const struct sink_now *now,
                            const struct port_answer *answer)
{
    const uint16_t code = port_status_first(&answer->status);
    const bool is_race = bigquery_is_lost_race(&answer->status);
    if (answer->outcome == PORT_OUTCOME_OK) {
        end(reconcile, RECONCILE_UPDATED);
    } else if (is_race || code == PORT_NOT_FOUND || is_transient(answer)) {
        look_again(reconcile, now->monotonic, &answer->status);
    } else {
        fail(reconcile, SINK_REASON_SERVICE, &answer->status, "the table could not be changed");
    }
}

bool reconcile_answer(struct reconcile *reconcile,
                      const struct sink_now *now,
                      const struct port_answer *answer)
{
    if (reconcile->call == 0 || answer->request != reconcile->call) {
        return false;
    }
    reconcile->call = 0;
    switch ((enum reconcile_state)reconcile->state) {
    case STATE_LOOKING:
        look_answered(reconcile, now, answer);
        return true;
    case STATE_CREATING:
        create_answered(reconcile, now, answer);
        return true;
    case STATE_CHANGING:
        change_answered(reconcile, now, answer);
        return true;
    }
    UNREACHABLE();
}

/* --- calls ------------------------------------------------------------------------------------- */

static void call(struct reconcile *reconcile,
                 const struct port_method *method,
                 const void *payload,
                 struct sink_effects *effects)
{
    reconcile->numbers->request++;
    reconcile->call = reconcile->numbers->request;
    reconcile->method = method;
    const struct port_envelope envelope = {
        .request = reconcile->call,
        .kind = PORT_CALL,
        .method = method,
        .deadline = reconcile->options->request_timeout,
        .payload = payload,
    };
    effects_send(effects, &envelope);
}

static void look(struct reconcile *reconcile, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &reconcile->parts;
    reconcile->get = (struct bigquery_get_table_request){name->project, name->dataset, name->table};
    call(reconcile, &bigquery_get_table_method, &reconcile->get, effects);
}

static void create(struct reconcile *reconcile, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &reconcile->parts;
    reconcile->reference =
        (struct bigquery_table_reference){name->project, name->dataset, name->table};
    reconcile->body = (struct bigquery_table){.table_reference = &reconcile->reference,
                                              .schema = reconcile->wanted};
    reconcile->insert = (struct bigquery_insert_table_request){
        .project_id = name->project, .dataset_id = name->dataset, .table = &reconcile->body};
    call(reconcile, &bigquery_insert_table_method, &reconcile->insert, effects);
}

static void change(struct reconcile *reconcile, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &reconcile->parts;
    reconcile->body = (struct bigquery_table){.schema = &reconcile->united.schema};
    reconcile->patch = (struct bigquery_patch_table_request){
        name->project, name->dataset, name->table, &reconcile->body, reconcile->seen->etag};
    call(reconcile, &bigquery_patch_table_method, &reconcile->patch, effects);
}

enum reconcile_outcome reconcile_advance(struct reconcile *reconcile, struct sink_effects *effects)
{
    if (reconcile->what == RECONCILE_NONE || reconcile->call != 0 || reconcile->waits ||
        !effects_has_room(effects)) {
        return (enum reconcile_outcome)reconcile->outcome;
    }
    switch ((enum reconcile_state)reconcile->state) {
    case STATE_LOOKING:
        look(reconcile, effects);
        break;
    case STATE_CREATING:
        create(reconcile, effects);
        break;
    case STATE_CHANGING:
        change(reconcile, effects);
        break;
    }
    return RECONCILE_OPEN;
}

bool reconcile_due(struct reconcile *reconcile, const struct parking_slot *slot)
{
    if (slot != &reconcile->pause) {
        return false;
    }
    reconcile->waits = false;
    return true;
}

void reconcile_close(struct reconcile *reconcile, struct sink_effects *effects)
{
    if (reconcile->call != 0) {
        effects_cancel(effects, reconcile->call, reconcile->method);
        reconcile->call = 0;
    }
    parking_remove(reconcile->parking, &reconcile->pause);
    reconcile->waits = false;
    reconcile->what = RECONCILE_NONE;
}

void reconcile_fini(struct reconcile *reconcile)
{
    parking_remove(reconcile->parking, &reconcile->pause);
    forget_seen(reconcile);
}

uint64_t reconcile_digest(uint64_t digest, const struct reconcile *reconcile)
{
    digest = digest_fold(digest, reconcile->what);
    digest = digest_fold(digest, reconcile->state);
    digest = digest_fold(digest, reconcile->outcome);
    digest = digest_fold(digest, reconcile->rounds);
    digest = digest_fold(digest, reconcile->failures);
    digest = digest_fold(digest, reconcile->waits);
    digest = digest_fold(digest, reconcile->call);
    return reconcile->seen == NULL
               ? digest
               : digest_fold(digest, port_digest(&bigquery_table_message, reconcile->seen));
}
