#include "sinks/bigquery/reconcile.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"

enum reconcile_state {
    STATE_LOOKING = 0,
    STATE_CREATING,
    STATE_CHANGING,
};

void reconcile_init(struct reconcile *reconcile,
                    const struct allocator *allocator,
                    const struct reconcile_options *options,
                    struct appender_numbers *numbers,
                    struct parking *parking)
{
    *reconcile = (struct reconcile){.options = options};
    table_caller_init(&reconcile->caller, &options->calls, allocator, numbers, parking);
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
    reconcile->column = (struct bytes){0};
    table_caller_reset(&reconcile->caller);
}

/* --- ending ------------------------------------------------------------------------------------ */

static void end(struct reconcile *reconcile, enum reconcile_outcome outcome)
{
    table_caller_forget(&reconcile->caller);
    reconcile->outcome = (uint8_t)outcome;
    reconcile->what = RECONCILE_NONE;
}

static void fail(struct reconcile *reconcile,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const char *message)
{
    table_caller_fail(&reconcile->caller, reason, status_or_null, message);
}

static void try_again(struct reconcile *reconcile, nanos now, const struct port_status *status)
{
    table_caller_try_again(&reconcile->caller, now, status);
}

/* The table is not what it was: look again, after a moment. */
static void look_again(struct reconcile *reconcile, nanos now, const struct port_status *status)
{
    reconcile->state = STATE_LOOKING;
    table_caller_look_again(&reconcile->caller, now, status);
}

/* --- answers ----------------------------------------------------------------------------------- */

static void create_answered(struct reconcile *reconcile,
                            const struct sink_now *now,
                            const struct port_answer *answer)
{
    const bool exists = port_status_first(&answer->status) == PORT_ALREADY_EXISTS;
    if (answer->outcome == PORT_OUTCOME_OK || (exists && reconcile->what == RECONCILE_CREATE)) {
        end(reconcile, RECONCILE_CREATED);
    } else if (exists) {
        look_again(reconcile, now->monotonic, &answer->status); /* another may want other columns */
    } else if (table_caller_is_transient(answer)) {
        try_again(reconcile, now->monotonic, &answer->status);
    } else {
        fail(reconcile, SINK_REASON_SERVICE, &answer->status, "the table could not be created");
    }
}

static void unite(struct reconcile *reconcile)
{
    static const struct bigquery_table_schema none = {0};
    const struct bigquery_table_schema *there =
        reconcile->caller.seen->schema == NULL ? &none : reconcile->caller.seen->schema;
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
        table_caller_keep(&reconcile->caller, answer->payload);
        if (reconcile->caller.reason == SINK_REASON_NONE) {
            unite(reconcile);
        }
    } else if (is_missing && reconcile->options->creates) {
        reconcile->state = STATE_CREATING;
        reconcile->caller.failures = 0;
    } else if (!is_missing && table_caller_is_transient(answer)) {
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
    const bool is_gone = port_status_first(&answer->status) == PORT_NOT_FOUND;
    if (answer->outcome == PORT_OUTCOME_OK) {
        end(reconcile, RECONCILE_UPDATED);
    } else if (bigquery_is_lost_race(&answer->status) || is_gone ||
               table_caller_is_transient(answer)) {
        look_again(reconcile, now->monotonic, &answer->status);
    } else {
        fail(reconcile, SINK_REASON_SERVICE, &answer->status, "the table could not be changed");
    }
}

/* What failed for good ends it. */
static void settle(struct reconcile *reconcile)
{
    if (reconcile->caller.reason != SINK_REASON_NONE) {
        end(reconcile, RECONCILE_FAILED);
    }
}

static void take_answer(struct reconcile *reconcile,
                        const struct sink_now *now,
                        const struct port_answer *answer)
{
    switch ((enum reconcile_state)reconcile->state) {
    case STATE_LOOKING:
        look_answered(reconcile, now, answer);
        return;
    case STATE_CREATING:
        create_answered(reconcile, now, answer);
        return;
    case STATE_CHANGING:
        change_answered(reconcile, now, answer);
        return;
    }
    UNREACHABLE();
}

bool reconcile_answer(struct reconcile *reconcile,
                      const struct sink_now *now,
                      const struct port_answer *answer)
{
    if (!table_caller_answer(&reconcile->caller, answer)) {
        return false;
    }
    take_answer(reconcile, now, answer);
    settle(reconcile);
    return true;
}

/* --- calls ------------------------------------------------------------------------------------- */

static void look(struct reconcile *reconcile, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &reconcile->parts;
    reconcile->get = (struct bigquery_get_table_request){name->project, name->dataset, name->table};
    table_caller_send(&reconcile->caller, &bigquery_get_table_method, &reconcile->get, effects);
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
    table_caller_send(
        &reconcile->caller, &bigquery_insert_table_method, &reconcile->insert, effects);
}

static void change(struct reconcile *reconcile, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &reconcile->parts;
    reconcile->body = (struct bigquery_table){.schema = &reconcile->united.schema};
    reconcile->patch = (struct bigquery_patch_table_request){
        name->project, name->dataset, name->table, &reconcile->body, reconcile->caller.seen->etag};
    table_caller_send(&reconcile->caller, &bigquery_patch_table_method, &reconcile->patch, effects);
}

enum reconcile_outcome reconcile_advance(struct reconcile *reconcile, struct sink_effects *effects)
{
    if (reconcile->what == RECONCILE_NONE || !table_caller_may_send(&reconcile->caller, effects)) {
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
    return table_caller_due(&reconcile->caller, slot);
}

void reconcile_close(struct reconcile *reconcile, struct sink_effects *effects)
{
    table_caller_close(&reconcile->caller, effects);
    reconcile->what = RECONCILE_NONE;
}

void reconcile_fini(struct reconcile *reconcile)
{
    table_caller_fini(&reconcile->caller);
}

uint64_t reconcile_digest(uint64_t digest, const struct reconcile *reconcile)
{
    digest = digest_fold(digest, reconcile->what);
    digest = digest_fold(digest, reconcile->state);
    digest = digest_fold(digest, reconcile->outcome);
    return table_caller_digest(digest, &reconcile->caller);
}
