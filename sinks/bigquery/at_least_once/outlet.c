#include "sinks/bigquery/at_least_once/outlet.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

#include <string.h>

static struct outlet *outlet_of(struct writer_table *table)
{
    return LIST_ITEM(table, struct outlet, base);
}

static const struct outlet *of_const(const struct writer_table *table)
{
    return (const struct outlet *)(const void *)table; /* which begins with it */
}

/* --- making ------------------------------------------------------------------------------------ */

#define DEFAULT_STREAM "/streams/_default"

/* ERR_OK, ERR_LIMIT. */
static enum err make_contract(struct destination_host *host, struct outlet *outlet)
{
    if (host->config->table_contract == BIGQUERY_CONTRACT_UNCHECKED) {
        return ERR_OK;
    }
    outlet->contract = allocator_take(host->allocator, sizeof(*outlet->contract));
    if (outlet->contract == NULL) {
        return ERR_LIMIT;
    }
    contract_init(outlet->contract, host->config, host->allocator, &host->numbers, &host->parking);
    outlet->phase = OUTLET_CONTRACTING;
    return ERR_OK;
}

static struct writer_table *make(struct destination_host *host, struct bytes table)
{
    const struct bytes end = BYTES_LITERAL(DEFAULT_STREAM);
    const size_t size = sizeof(struct outlet) + table.size + end.size;
    struct outlet *made = allocator_take(host->allocator, size);
    if (made == NULL) {
        return NULL;
    }
    *made = (struct outlet){.block_size = size};
    if (make_contract(host, made) != ERR_OK) {
        allocator_give(host->allocator, made, size);
        return NULL;
    }
    uint8_t *copy = (uint8_t *)(made + 1);
    memcpy(copy, table.data, table.size);
    memcpy(copy + table.size, end.data, end.size);
    made->base.name = (struct bytes){copy, table.size};
    made->stream = (struct bytes){copy, table.size + end.size};
    list_init(&made->batches);
    list_init(&made->repairs);
    appender_init(&made->appender, host->allocator, host->config, &host->numbers, &host->parking);
    reconcile_init(
        &made->reconcile, host->allocator, &host->reconcile, &host->numbers, &host->parking);
    made->appender.is_default = true;
    made->schema.change_fields =
        (uint8_t)((host->config->changes ? 1 : 0) + (host->config->sequence ? 1 : 0));
    made->next.change_fields = made->schema.change_fields;
    appender_reset(&made->appender, made->stream);
    return &made->base;
}

static void release_all(const struct allocator *allocator, struct list *appends)
{
    while (!list_is_empty(appends)) {
        append_release(allocator, append_of(list_pop_front(appends)));
    }
}

static void release_table(struct destination_host *host, struct writer_table *table)
{
    struct outlet *outlet = outlet_of(table);
    parking_remove(&host->parking, &outlet->pause);
    appender_fini(&outlet->appender);
    release_all(host->allocator, &outlet->batches);
    release_all(host->allocator, &outlet->repairs);
    if (outlet->filling != NULL) {
        append_release(host->allocator, outlet->filling);
    }
    reconcile_fini(&outlet->reconcile);
    if (outlet->contract != NULL) {
        contract_fini(outlet->contract);
        allocator_give(host->allocator, outlet->contract, sizeof(*outlet->contract));
    }
    bigquery_schema_release(&outlet->schema, host->allocator);
    bigquery_schema_release(&outlet->next, host->allocator);
    allocator_give(host->allocator, outlet, outlet->block_size);
}

/* --- failing and waiting ----------------------------------------------------------------------- */

static void fail_memory(struct destination_host *host, const struct outlet *outlet)
{
    destination_host_fail(
        host, outlet->base.name, SINK_REASON_MEMORY, NULL, "no memory for an append");
}

/* How long the write API may take to hear of a change of columns (section 2.1). */
static const struct retry_schedule propagation = {
    .initial = SECONDS(30), .max = SECONDS(30), .attempts_max = 30};

/* Wait before another attempt of the same thing; when the budget is spent, the writer fails. Columns that are
 * awaited have a budget of their own. */
static void try_again(struct destination_host *host,
                      struct outlet *outlet,
                      bool awaits_columns,
                      const struct port_status *status)
{
    const struct retry_schedule *schedule = awaits_columns ? &propagation : &host->config->recovery;
    uint32_t *failures = awaits_columns ? &outlet->awaited : &outlet->failures;
    (*failures)++;
    if (!retry_is_allowed(schedule, *failures)) {
        destination_host_fail(host,
                              outlet->base.name,
                              SINK_REASON_EXHAUSTED,
                              status,
                              "the attempts of a repair are used up");
        return;
    }
    const struct retry_window pause = retry_backoff(schedule, *failures);
    if (parking_add(&host->parking, &outlet->pause, host->now->monotonic, pause.min, pause.max) !=
        ERR_OK) {
        fail_memory(host, outlet);
        return;
    }
    outlet->waits = true;
    if (awaits_columns) {
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_SCHEMA_AWAITED);
    }
}

/* --- tables and schemas ------------------------------------------------------------------------ */

static void begin_reconcile(struct outlet *outlet,
                            enum reconcile_what what,
                            const struct bigquery_schema *schema)
{
    outlet->phase = OUTLET_RECONCILING;
    reconcile_start(&outlet->reconcile, what, outlet->base.name, schema->table);
}

/* A connection keeps the columns that were known when it was opened (BQW-25). */
static void reopen(struct destination_host *host, struct outlet *outlet)
{
    appender_close(&outlet->appender, host->effects);
    appender_reset(&outlet->appender, outlet->stream);
    outlet->stale = false;
}

/* Rows of the next schema wait for it. */
static void send_all(struct outlet *outlet)
{
    if (outlet->filling != NULL && !outlet->refreshes) {
        outlet->bytes += outlet->filling->bytes;
        list_push_back(&outlet->batches, &outlet->filling->link);
        outlet->filling = NULL;
    }
}

static void swap_schema(struct destination_host *host, struct outlet *outlet)
{
    reopen(host, outlet);
    bigquery_schema_move(&outlet->schema, host->allocator, &outlet->next);
    outlet->refreshes = false;
    outlet->swaps = false;
    send_all(outlet);
    effects_phase(host->effects, BIGQUERY_EAGER_PHASE_SCHEMA_REFRESHED);
}

/* All rows of the schema before are stored. */
static bool may_refresh(const struct outlet *outlet)
{
    return outlet->refreshes && outlet->phase == OUTLET_STREAMING &&
           list_is_empty(&outlet->batches) && appender_count(&outlet->appender) == 0;
}

static void refresh(struct destination_host *host, struct outlet *outlet)
{
    if (destination_host_updates(host)) {
        outlet->swaps = true;
        begin_reconcile(outlet, RECONCILE_COLUMNS, &outlet->next);
    } else {
        swap_schema(host, outlet);
    }
}

static void end_reconcile(struct destination_host *host, struct outlet *outlet)
{
    const enum reconcile_outcome outcome = (enum reconcile_outcome)outlet->reconcile.outcome;
    if (outcome == RECONCILE_FAILED) {
        destination_host_fail_reconcile(host, &outlet->reconcile);
        return;
    }
    if (outcome == RECONCILE_CREATED) {
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_TABLE_CREATED);
    } else if (outcome == RECONCILE_UPDATED) {
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_TABLE_UPDATED);
    }
    if (outlet->swaps) {
        outlet->phase = OUTLET_STREAMING;
        swap_schema(host, outlet);
    } else {
        outlet->phase = OUTLET_REPAIRING;
        outlet->tries = 0;
    }
}

/* A reconciliation goes on, or ends. */
static void advance_reconcile(struct destination_host *host, struct outlet *outlet)
{
    if (outlet->phase == OUTLET_RECONCILING &&
        reconcile_advance(&outlet->reconcile, host->effects) != RECONCILE_OPEN) {
        end_reconcile(host, outlet);
    }
}

/* The contract goes on, or is found kept; a table is described before its first row is here. */
static void advance_contract(struct destination_host *host, struct outlet *outlet)
{
    if (outlet->phase != OUTLET_CONTRACTING || outlet->schema.version == 0) {
        return;
    }
    if (!outlet->contract->runs) {
        contract_start(outlet->contract, outlet->base.name, outlet->schema.table);
    }
    const enum contract_outcome outcome = contract_advance(outlet->contract, host->effects);
    if (outcome == CONTRACT_FAILED) {
        destination_host_fail_calls(host, outlet->base.name, &outlet->contract->caller);
    } else if (outcome == CONTRACT_KEPT) {
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_CONTRACT_KEPT);
        outlet->phase = list_is_empty(&outlet->repairs) ? OUTLET_STREAMING : OUTLET_REPAIRING;
        outlet->tries = 0;
    }
}

/* --- rows in ----------------------------------------------------------------------------------- */

static bool describe_table(struct destination_host *host,
                           struct writer_table *table,
                           const struct sink_user *user,
                           const struct sink_record *record)
{
    struct outlet *outlet = outlet_of(table);
    uint64_t version = outlet->schema.version;
    struct bytes description = {0};
    if (!destination_host_describe(host, user, record, outlet->base.name, &version, &description)) {
        return false;
    }
    outlet->appender.schema = &outlet->schema.proto;
    if (version == outlet->schema.version) {
        return true;
    }
    CHECK(!outlet->refreshes);
    send_all(outlet);
    outlet->refreshes = outlet->schema.version > 0;
    return destination_host_read(host,
                                 outlet->base.name,
                                 outlet->refreshes ? &outlet->next : &outlet->schema,
                                 description,
                                 version);
}

static enum err
add_row(struct destination_host *host, struct writer_table *table, struct append_row *row)
{
    struct outlet *outlet = outlet_of(table);
    if (outlet->filling != NULL &&
        outlet->filling->bytes + row->row.serialized.size > host->config->append_bytes_max) {
        send_all(outlet);
    }
    if (outlet->filling == NULL) {
        outlet->filling = append_make(host->allocator);
        if (outlet->filling == NULL) {
            return ERR_LIMIT;
        }
    }
    append_add(outlet->filling, row);
    outlet->base.last_access = host->now->monotonic;
    return ERR_OK;
}

/* --- repairs ----------------------------------------------------------------------------------- */

/* The one place that says what a failure asks for (5.2), in that order. */
static enum outlet_repair repair_of(const struct destination_host *host,
                                    const struct append *append)
{
    const enum bigquery_verdict verdict = bigquery_classify(&append->status, false);
    if (verdict == BIGQUERY_VERDICT_SCHEMA_MISMATCH && destination_host_updates(host)) {
        return OUTLET_UPDATE_SCHEMA; /* it may save rows that are named as none */
    }
    switch (bigquery_classify(&append->status, append->has_row_errors)) {
    case BIGQUERY_VERDICT_MISSING_TABLE:
        return host->config->creates ? OUTLET_CREATE_TABLE : OUTLET_FAIL;
    case BIGQUERY_VERDICT_ROWS:
        return OUTLET_ROUTE_ROWS;
    case BIGQUERY_VERDICT_TRANSIENT:
    case BIGQUERY_VERDICT_WRITER_CLOSED:
    case BIGQUERY_VERDICT_STREAM_UNUSABLE:
        return OUTLET_RETRY;
    case BIGQUERY_VERDICT_TERMINAL:
    case BIGQUERY_VERDICT_OFFSET_EXISTS:
    case BIGQUERY_VERDICT_OFFSET_AHEAD:
    case BIGQUERY_VERDICT_SCHEMA_MISMATCH:
        return OUTLET_FAIL;
    }
    UNREACHABLE();
}

static struct append *first_repair(const struct outlet *outlet)
{
    struct list_link *link = list_first(&outlet->repairs);
    return link == NULL ? NULL : append_of(link);
}

static void begin_anew(struct outlet *outlet)
{
    outlet->tries = 0;
    outlet->failures = 0;
    outlet->awaited = 0;
}

static void finish(struct destination_host *host, struct outlet *outlet, struct append *append)
{
    CHECK(outlet->bytes >= append->bytes);
    outlet->bytes -= append->bytes;
    append_release(host->allocator, append);
    begin_anew(outlet);
}

/* Rows that are none leave; what is left is tried anew. */
static void route(struct destination_host *host, struct outlet *outlet, struct append *first)
{
    const size_t before = first->bytes;
    if (!append_has_bad_rows(first)) {
        destination_host_fail(host,
                              outlet->base.name,
                              SINK_REASON_SERVICE,
                              &first->status,
                              "row errors name no row of their append");
        return;
    }
    const bool all = destination_host_route(host, outlet->base.name, first);
    outlet->bytes -= before - first->bytes;
    if (!all) {
        return;
    }
    begin_anew(outlet);
    if (list_is_empty(&first->rows)) {
        finish(host, outlet, append_of(list_pop_front(&outlet->repairs)));
    } else {
        append_renew(first);
    }
}

static void create_table(struct outlet *outlet)
{
    if (outlet->contract == NULL) {
        begin_reconcile(outlet, RECONCILE_CREATE, &outlet->schema);
    } else {
        outlet->phase = OUTLET_CONTRACTING;
    }
}

/* The first of the repairs has failed, in the course of the repair or before it. Its first repetition goes
 * at once. */
static void mend(struct destination_host *host, struct outlet *outlet)
{
    struct append *first = first_repair(outlet);
    const enum outlet_repair repair = repair_of(host, first);
    if (repair == OUTLET_ROUTE_ROWS) {
        route(host, outlet, first);
    } else if (repair == OUTLET_CREATE_TABLE && !outlet->table_created) {
        outlet->table_created = true;
        create_table(outlet);
    } else if (repair == OUTLET_UPDATE_SCHEMA && !outlet->table_updated) {
        outlet->table_updated = true;
        begin_reconcile(outlet, RECONCILE_COLUMNS, &outlet->schema);
    } else {
        CHECK(repair != OUTLET_FAIL);
        if (outlet->tries > 0) {
            try_again(host, outlet, repair == OUTLET_UPDATE_SCHEMA, &first->status);
        }
        append_renew(first);
    }
}

/* Let the appender try the first of the repairs, on another connection if the one before failed. */
static void resend(struct destination_host *host, struct outlet *outlet)
{
    struct append *append = append_of(list_pop_front(&outlet->repairs));
    if (outlet->stale) {
        reopen(host, outlet);
    }
    outlet->tries++;
    outlet->resent = true;
    appender_submit(&outlet->appender, append);
}

/* One step of a repair: false when nothing can be done before the next event. */
static bool advance_repair(struct destination_host *host, struct outlet *outlet)
{
    const struct append *first = first_repair(outlet);
    if (outlet->resent || outlet->waits || appender_count(&outlet->appender) > 0) {
        return false;
    }
    if (first == NULL) {
        outlet->phase = OUTLET_STREAMING;
        outlet->table_created = false;
        outlet->table_updated = false;
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_REPAIRED);
    } else if (!first->settled) {
        resend(host, outlet);
    } else if (!effects_has_space(host->effects)) {
        return false;
    } else {
        mend(host, outlet);
    }
    return host->reason == SINK_REASON_NONE;
}

static void append_failed(struct destination_host *host,
                          struct outlet *outlet,
                          struct append *append,
                          bool resent)
{
    effects_metric(host->effects, BIGQUERY_METRIC_APPEND_ERRORS, 1);
    if (resent) {
        list_push_front(&outlet->repairs, &append->link);
    } else {
        list_push_back(&outlet->repairs, &append->link);
    }
    outlet->stale = true;
    if (repair_of(host, append) == OUTLET_FAIL) {
        destination_host_fail(
            host, outlet->base.name, SINK_REASON_SERVICE, &append->status, "an append failed");
    } else if (outlet->phase == OUTLET_STREAMING) {
        outlet->phase = OUTLET_REPAIRING;
        effects_phase(host->effects, BIGQUERY_EAGER_PHASE_REPAIRING);
    }
}

/* --- going on ---------------------------------------------------------------------------------- */

static void take_settled(struct destination_host *host, struct outlet *outlet)
{
    while (host->reason == SINK_REASON_NONE) {
        struct append *append = appender_take_settled(&outlet->appender);
        const bool resent = outlet->resent;
        if (append == NULL) {
            return;
        }
        outlet->resent = false;
        if (append->ok) {
            finish(host, outlet, append);
        } else {
            append_failed(host, outlet, append, resent);
        }
    }
}

static void submit_batches(const struct destination_host *host, struct outlet *outlet)
{
    while (!list_is_empty(&outlet->batches) &&
           appender_count(&outlet->appender) < host->config->in_flight_max) {
        appender_submit(&outlet->appender, append_of(list_pop_front(&outlet->batches)));
    }
}

static void advance_table(struct destination_host *host, struct writer_table *table)
{
    struct outlet *outlet = outlet_of(table);
    take_settled(host, outlet);
    if (host->reason == SINK_REASON_NONE) {
        advance_reconcile(host, outlet);
        advance_contract(host, outlet);
    }
    while (host->reason == SINK_REASON_NONE && outlet->phase == OUTLET_REPAIRING &&
           advance_repair(host, outlet)) {
    }
    if (host->reason == SINK_REASON_NONE && may_refresh(outlet)) {
        refresh(host, outlet); /* the last of its rows may have been a repair's */
    }
    if (host->reason == SINK_REASON_NONE) {
        advance_reconcile(host, outlet); /* that the repair or the refresh began */
        advance_contract(host, outlet);
    }
    if (host->reason != SINK_REASON_NONE) {
        return;
    }
    if (outlet->phase == OUTLET_STREAMING) {
        submit_batches(host, outlet);
    }
    if (appender_advance(&outlet->appender, host->now, host->effects) != ERR_OK) {
        fail_memory(host, outlet);
    }
}

static bool answer_table(struct destination_host *host,
                         struct writer_table *table,
                         const struct port_answer *answer)
{
    struct outlet *outlet = outlet_of(table);
    if (appender_has(&outlet->appender, answer)) {
        appender_answer(&outlet->appender, host->now, answer);
        return true;
    }
    return reconcile_answer(&outlet->reconcile, host->now, answer) ||
           (outlet->contract != NULL &&
            contract_answer(outlet->contract, host->now, host->effects, answer));
}

static bool due_table(struct destination_host *host,
                      struct writer_table *table,
                      const struct parking_slot *slot)
{
    struct outlet *outlet = outlet_of(table);
    if (slot == &outlet->pause) {
        outlet->waits = false;
        return true;
    }
    return reconcile_due(&outlet->reconcile, slot) ||
           (outlet->contract != NULL && contract_due(outlet->contract, slot)) ||
           appender_due(&outlet->appender, slot, host->now, host->effects);
}

static bool is_drained(const struct writer_table *table)
{
    const struct outlet *outlet = of_const(table);
    return outlet->filling == NULL && list_is_empty(&outlet->batches) &&
           list_is_empty(&outlet->repairs) && appender_count(&outlet->appender) == 0;
}

static bool is_full(const struct destination_host *host, const struct writer_table *table)
{
    const struct outlet *outlet = of_const(table);
    const size_t count =
        outlet->batches.count + outlet->repairs.count + appender_count(&outlet->appender);
    return outlet->refreshes || count >= host->config->in_flight_max ||
           outlet->bytes >= host->config->in_flight_bytes_max;
}

static void close_table(struct destination_host *host, struct writer_table *table)
{
    struct outlet *outlet = outlet_of(table);
    reconcile_close(&outlet->reconcile, host->effects);
    if (outlet->contract != NULL) {
        contract_close(outlet->contract, host->effects);
    }
    appender_close(&outlet->appender, host->effects);
}

static uint64_t digest_list(uint64_t digest, const struct list *appends)
{
    for (struct list_link *link = list_first(appends); link != NULL;
         link = list_next(appends, link)) {
        digest = append_digest(digest, append_of(link));
    }
    return digest_fold(digest, appends->count);
}

static uint64_t digest_table(uint64_t digest, const struct writer_table *table)
{
    const struct outlet *outlet = of_const(table);
    digest = digest_fold(digest, digest_bytes(outlet->base.name));
    digest = digest_fold(digest, outlet->phase);
    digest = digest_fold(digest, outlet->schema.version);
    digest = digest_fold(digest, outlet->resent);
    digest = digest_fold(digest, outlet->stale);
    digest = digest_fold(digest, outlet->table_created);
    digest = digest_fold(digest, outlet->table_updated);
    digest = digest_fold(digest, outlet->awaited);
    digest = digest_fold(digest, outlet->refreshes ? outlet->next.version : 0);
    digest = digest_fold(digest, outlet->swaps);
    digest = reconcile_digest(digest, &outlet->reconcile);
    digest = outlet->contract == NULL ? digest : contract_digest(digest, outlet->contract);
    digest = digest_fold(digest, outlet->tries);
    digest = digest_fold(digest, outlet->failures);
    digest = digest_fold(digest, outlet->waits);
    digest = digest_fold(digest, outlet->base.last_access);
    digest = outlet->filling == NULL ? digest : append_digest(digest, outlet->filling);
    digest = digest_list(digest, &outlet->batches);
    digest = digest_list(digest, &outlet->repairs);
    return appender_digest(digest, &outlet->appender);
}

static void send_all_of(struct writer_table *table)
{
    send_all(outlet_of(table));
}

const struct table_functions bigquery_outlet_functions = {
    .make = make,
    .release = release_table,
    .describe = describe_table,
    .add = add_row,
    .send_all = send_all_of,
    .advance = advance_table,
    .answer = answer_table,
    .due = due_table,
    .is_drained = is_drained,
    .is_full = is_full,
    .is_spare = is_drained,
    .close = close_table,
    .digest = digest_table,
};
