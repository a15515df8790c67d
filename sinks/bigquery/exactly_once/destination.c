#include "sinks/bigquery/exactly_once/destination.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

#include <string.h>

static const struct destination *of_const(const struct writer_table *table)
{
    return (const struct destination *)(const void *)table; /* which begins with it */
}

/* --- making ------------------------------------------------------------------------------------ */

static struct writer_table *make(struct destination_host *host, struct bytes table)
{
    const size_t size = sizeof(struct destination) + table.size;
    struct destination *made = allocator_take(host->allocator, size);
    if (made == NULL) {
        return NULL;
    }
    *made = (struct destination){.block_size = size};
    uint8_t *copy = (uint8_t *)(made + 1);
    memcpy(copy, table.data, table.size);
    made->base.name = (struct bytes){copy, table.size};
    list_init(&made->batches);
    list_init(&made->repairs);
    appender_init(&made->appender, host->allocator, host->config, &host->numbers, &host->parking);
    reconcile_init(
        &made->reconcile, host->allocator, &host->reconcile, &host->numbers, &host->parking);
    return &made->base;
}

static void forget_stream(struct destination_host *host, struct destination *destination)
{
    if (destination->stream.size > 0) {
        allocator_give(host->allocator, destination->stream_memory, destination->stream.size);
        destination->stream_memory = NULL;
        destination->stream = (struct bytes){0};
        destination->appender.stream = destination->stream;
    }
}

static void forget_piece(struct destination_host *host, struct destination *destination)
{
    if (destination->piece != NULL) {
        allocator_give(host->allocator, destination->piece, destination->piece_size);
        destination->piece = NULL;
    }
}

static void release_all(const struct allocator *allocator, struct list *appends)
{
    while (!list_is_empty(appends)) {
        append_release(allocator, append_of(list_pop_front(appends)));
    }
}

static void release_table(struct destination_host *host, struct writer_table *table)
{
    struct destination *destination = destination_of(table);
    parking_remove(&host->parking, &destination->pause);
    appender_fini(&destination->appender);
    release_all(host->allocator, &destination->batches);
    release_all(host->allocator, &destination->repairs);
    if (destination->filling != NULL) {
        append_release(host->allocator, destination->filling);
    }
    forget_piece(host, destination);
    forget_stream(host, destination);
    reconcile_fini(&destination->reconcile);
    bigquery_schema_release(&destination->schema, host->allocator);
    bigquery_schema_release(&destination->next, host->allocator);
    allocator_give(host->allocator, destination, destination->block_size);
}

static enum err
keep_stream(struct destination_host *host, struct destination *destination, struct bytes name)
{
    uint8_t *copy = allocator_take(host->allocator, name.size);
    if (copy == NULL) {
        return ERR_LIMIT;
    }
    memcpy(copy, name.data, name.size);
    forget_stream(host, destination);
    destination->stream_memory = copy;
    destination->stream = (struct bytes){copy, name.size};
    destination->is_snapped = false;
    appender_reset(&destination->appender, destination->stream);
    return ERR_OK;
}

enum err destination_restore(struct destination_host *host,
                             struct destination *destination,
                             const struct bigquery_piece *piece)
{
    const enum err err = keep_stream(host, destination, piece->stream);
    if (err == ERR_OK) {
        destination->phase = DESTINATION_PROBING;
        destination->next_offset = piece->next_offset;
        destination->is_snapped = true;
        destination->snap_offset = piece->next_offset;
    }
    return err;
}

/* --- failing ----------------------------------------------------------------------------------- */

static void fail(struct destination_host *host,
                 const struct destination *destination,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const char *what)
{
    destination_host_fail(host, destination->base.name, reason, status_or_null, what);
}

static void fail_memory(struct destination_host *host, const struct destination *destination)
{
    fail(host, destination, SINK_REASON_MEMORY, NULL, "no memory for an append");
}

/* How long the write API may take to hear of a change of columns (section 2.1). */
static const struct retry_schedule propagation = {
    .initial = SECONDS(30), .max = SECONDS(30), .attempts_max = 30};

/* Wait before another attempt of the same thing; the first repeat of an append goes at once. False when
 * the budget is spent: the writer fails. */
static bool try_again(struct destination_host *host,
                      struct destination *destination,
                      bool at_once,
                      const struct port_status *status)
{
    const struct retry_schedule *schedule =
        destination->reconciled ? &propagation : &host->config->recovery;
    destination->failures++;
    if (!retry_is_allowed(schedule, destination->failures)) {
        fail(host,
             destination,
             SINK_REASON_EXHAUSTED,
             status,
             "the attempts of a repair are used up");
        return false;
    }
    if (at_once && destination->failures == 1) {
        return true;
    }
    const struct retry_window pause = retry_backoff(schedule, destination->failures);
    if (parking_add(
            &host->parking, &destination->pause, host->now->monotonic, pause.min, pause.max) !=
        ERR_OK) {
        fail_memory(host, destination);
        return false;
    }
    destination->waits = true;
    return true;
}

/* --- verdicts ---------------------------------------------------------------------------------- */

static enum bigquery_verdict verdict_of(const struct append *append)
{
    return bigquery_classify(&append->status, append->has_row_errors);
}

/* Stored, by this attempt or by an earlier one whose answer was lost. */
static bool is_stored(const struct append *append)
{
    return append->ok || verdict_of(append) == BIGQUERY_VERDICT_OFFSET_EXISTS;
}

/* --- tables and schemas ------------------------------------------------------------------------ */

static void begin_reconcile(struct destination *destination,
                            enum reconcile_what what,
                            const struct bigquery_schema *schema)
{
    destination->resume = destination->phase;
    destination->phase = DESTINATION_RECONCILING;
    reconcile_start(&destination->reconcile, what, destination->base.name, schema->table);
}

/* A connection keeps the columns that were known when it was opened (BQW-25). */
static void reopen(struct destination_host *host, struct destination *destination)
{
    appender_close(&destination->appender, host->effects);
    appender_reset(&destination->appender, destination->stream);
}

static void swap_schema(struct destination_host *host, struct destination *destination)
{
    reopen(host, destination);
    bigquery_schema_move(&destination->schema, host->allocator, &destination->next);
    destination->refreshes = false;
    destination->swaps = false;
    effects_phase(host->effects, BIGQUERY_PHASE_SCHEMA_REFRESHED);
}

/* Section 4.2: all rows of the schema before are stored. */
static bool may_refresh(const struct destination *destination)
{
    const bool rests = destination->phase == DESTINATION_NO_STREAM ||
                       destination->phase == DESTINATION_STREAMING ||
                       destination->phase == DESTINATION_PROBING;
    return destination->refreshes && rests && list_is_empty(&destination->batches) &&
           list_is_empty(&destination->repairs) && appender_count(&destination->appender) == 0;
}

static void refresh(struct destination_host *host, struct destination *destination)
{
    if (destination_host_updates(host)) {
        destination->swaps = true;
        begin_reconcile(destination, RECONCILE_COLUMNS, &destination->next);
    } else {
        swap_schema(host, destination);
    }
}

/* What was refused before the table was changed says nothing any more. */
static void renew_mismatches(struct destination *destination)
{
    for (struct list_link *link = list_first(&destination->repairs); link != NULL;
         link = list_next(&destination->repairs, link)) {
        struct append *append = append_of(link);
        if (append->settled && verdict_of(append) == BIGQUERY_VERDICT_SCHEMA_MISMATCH) {
            append_renew(append);
        }
    }
}

static void end_reconcile(struct destination_host *host, struct destination *destination)
{
    const enum reconcile_outcome outcome = (enum reconcile_outcome)destination->reconcile.outcome;
    if (outcome == RECONCILE_FAILED) {
        destination_host_fail_reconcile(host, &destination->reconcile);
        return;
    }
    if (outcome == RECONCILE_CREATED) {
        destination->table_created = true;
        effects_phase(host->effects, BIGQUERY_PHASE_TABLE_CREATED);
    } else if (outcome == RECONCILE_UPDATED) {
        effects_phase(host->effects, BIGQUERY_PHASE_TABLE_UPDATED);
    }
    destination->phase = destination->resume;
    destination->failures = 0;
    if (destination->swaps) {
        swap_schema(host, destination);
    } else if (destination->phase != DESTINATION_CREATING) {
        destination->reconciled = true;
        renew_mismatches(destination);
        reopen(host, destination);
    }
}

/* --- making streams ---------------------------------------------------------------------------- */

static void create_stream(struct destination_host *host, struct destination *destination)
{
    destination->stream_request = (struct bigquery_write_stream){.type = host->config->stream_type};
    destination->create_request = (struct bigquery_create_write_stream_request){
        .parent = destination->base.name, .write_stream = &destination->stream_request};
    host->numbers.request++;
    destination->call = host->numbers.request;
    const struct port_envelope envelope = {
        .request = destination->call,
        .kind = PORT_CALL,
        .method = &bigquery_create_write_stream_method,
        .deadline = host->config->request_timeout,
        .payload = &destination->create_request,
    };
    effects_send(host->effects, &envelope);
}

static void stream_made(struct destination_host *host,
                        struct destination *destination,
                        const struct bigquery_write_stream *made)
{
    if (made->name.size == 0 || made->name.size > BIGQUERY_STREAM_NAME_MAX) {
        fail(host, destination, SINK_REASON_SERVICE, NULL, "a stream was created without a name");
        return;
    }
    if (keep_stream(host, destination, made->name) != ERR_OK) {
        fail_memory(host, destination);
        return;
    }
    effects_phase(host->effects, BIGQUERY_PHASE_STREAM_CREATED);
    destination->phase = DESTINATION_STREAMING;
    destination->next_offset = 0;
    destination->failures = 0;
}

/* Section 4.4. A table that is not there is created once; after that the same answer means that its
 * metadata is not everywhere yet (BQW-46). */
static void creating_failed(struct destination_host *host,
                            struct destination *destination,
                            const struct port_answer *answer)
{
    const struct port_status *status = &answer->status;
    const enum bigquery_verdict verdict = bigquery_classify(status, false);
    const bool is_missing = verdict == BIGQUERY_VERDICT_MISSING_TABLE;
    if (is_missing && !destination->table_created && host->config->creates) {
        begin_reconcile(destination, RECONCILE_CREATE, &destination->schema);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN || verdict == BIGQUERY_VERDICT_TRANSIENT ||
               (is_missing && destination->table_created)) {
        (void)try_again(host, destination, false, status);
    } else {
        fail(host, destination, SINK_REASON_SERVICE, status, "CreateWriteStream failed");
    }
}

/* --- rows in ----------------------------------------------------------------------------------- */

static void send_all(struct destination *destination)
{
    if (destination->filling != NULL) {
        list_push_back(&destination->batches, &destination->filling->link);
        destination->filling = NULL;
    }
}

static bool describe_table(struct destination_host *host,
                           struct writer_table *table,
                           const struct sink_user *user,
                           const struct sink_record *record)
{
    struct destination *destination = destination_of(table);
    uint64_t version = destination->schema.version;
    struct bytes description = {0};
    if (!destination_host_describe(
            host, user, record, destination->base.name, &version, &description)) {
        return false;
    }
    destination->appender.schema = &destination->schema.proto;
    if (version == destination->schema.version) {
        return true;
    }
    CHECK(!destination->refreshes);
    destination->refreshes = destination->schema.version > 0;
    send_all(destination);
    return destination_host_read(host,
                                 destination->base.name,
                                 destination->refreshes ? &destination->next : &destination->schema,
                                 description,
                                 version);
}

static enum err
add_row(struct destination_host *host, struct writer_table *table, struct append_row *row)
{
    struct destination *destination = destination_of(table);
    if (destination->filling != NULL &&
        destination->filling->bytes + row->row.serialized.size > host->config->append_bytes_max) {
        send_all(destination);
    }
    if (destination->filling == NULL) {
        destination->filling = append_make(host->allocator);
        if (destination->filling == NULL) {
            return ERR_LIMIT;
        }
    }
    append_add(destination->filling, row);
    destination->base.last_access = host->now->monotonic;
    return ERR_OK;
}

/* --- repairs ----------------------------------------------------------------------------------- */

static struct append *first_repair(const struct destination *destination)
{
    struct list_link *link = list_first(&destination->repairs);
    return link == NULL ? NULL : append_of(link);
}

static void drop_first_repair(struct destination_host *host, struct destination *destination)
{
    append_release(host->allocator, append_of(list_pop_front(&destination->repairs)));
    destination->failures = 0;
}

/* Section 4.6: the first of the repairs holds rows that are none. What was sent behind it must have
 * failed, or offsets mean something else than this writer thinks. */
static void begin_replay(struct destination_host *host, struct destination *destination)
{
    struct append *first = first_repair(destination);
    if (!append_has_bad_rows(first)) {
        fail(host,
             destination,
             SINK_REASON_SERVICE,
             &first->status,
             "row errors name no row of their append");
        return;
    }
    for (struct list_link *link = list_next(&destination->repairs, &first->link); link != NULL;
         link = list_next(&destination->repairs, link)) {
        if (is_stored(append_of(link))) {
            fail(host,
                 destination,
                 SINK_REASON_SERVICE,
                 &first->status,
                 "an append behind a refused one was stored");
            return;
        }
        append_renew(append_of(link));
    }
    destination->phase = DESTINATION_REPLAYING;
    destination->next_offset = first->offset;
    destination->failures = 0;
    append_renew(first);
}

/* Let the appender try the first of the repairs. */
static void resend(struct destination *destination)
{
    struct append *append = append_of(list_pop_front(&destination->repairs));
    if (appender_is_final(&destination->appender)) {
        appender_reset(&destination->appender, destination->stream);
    }
    append_renew(append);
    append->has_offset = true;
    if (destination->phase == DESTINATION_REPLAYING) {
        append->offset = destination->next_offset;
    }
    destination->resent = true;
    appender_submit(&destination->appender, append);
}

/* The table lacks fields of the rows, or the write API has not heard of them yet. */
static void repair_mismatch(struct destination_host *host,
                            struct destination *destination,
                            const struct port_status *status)
{
    if (!destination_host_updates(host)) {
        fail(host,
             destination,
             SINK_REASON_SERVICE,
             status,
             "the table lacks fields of the rows; allow_new_fields would have them added");
    } else if (!destination->reconciled) {
        begin_reconcile(destination, RECONCILE_COLUMNS, &destination->schema);
    } else if (try_again(host, destination, false, status)) {
        effects_phase(host->effects, BIGQUERY_PHASE_SCHEMA_AWAITED);
        reopen(host, destination);
    }
}

/* Section 4.6: the first of the repairs holds rows that are none. */
static void repair_rows(struct destination_host *host, struct destination *destination)
{
    struct append *first = first_repair(destination);
    if (destination->phase == DESTINATION_REPAIRING) {
        begin_replay(host, destination);
    } else if (!append_has_bad_rows(first)) {
        fail(host,
             destination,
             SINK_REASON_SERVICE,
             &first->status,
             "row errors name no row of their append");
    } else {
        append_renew(first);
        destination->failures = 0;
    }
}

/* Section 4.5: an append that is neither stored nor refused for its rows. */
static void repair_first(struct destination_host *host, struct destination *destination)
{
    struct append *first = first_repair(destination);
    const struct port_status status = first->status;
    const enum bigquery_verdict verdict = verdict_of(first);
    /* Stranded behind one that failed, which is counted (2.3). */
    const bool is_stranded =
        verdict == BIGQUERY_VERDICT_OFFSET_AHEAD && destination->phase == DESTINATION_REPAIRING;
    const bool is_repeated = verdict == BIGQUERY_VERDICT_TRANSIENT ||
                             verdict == BIGQUERY_VERDICT_WRITER_CLOSED || is_stranded;
    if (!is_stranded) {
        effects_metric(host->effects, BIGQUERY_METRIC_APPEND_ERRORS, 1);
    }
    if (verdict == BIGQUERY_VERDICT_ROWS) {
        repair_rows(host, destination);
    } else if (verdict == BIGQUERY_VERDICT_SCHEMA_MISMATCH) {
        append_renew(first);
        repair_mismatch(host, destination, &status);
    } else if (!is_repeated) {
        fail(host, destination, SINK_REASON_SERVICE, &status, "an append failed");
    } else if (try_again(host, destination, true, &status)) {
        append_renew(first_repair(destination));
    }
}

/* All rows of an append may have been none. */
static void resend_if_any(struct destination_host *host, struct destination *destination)
{
    if (list_is_empty(&first_repair(destination)->rows)) {
        drop_first_repair(host, destination);
    } else {
        resend(destination);
    }
}

/* One step of a repair: false when nothing can be done before the next event. */
static bool advance_repair(struct destination_host *host, struct destination *destination)
{
    struct append *first = first_repair(destination);
    if (destination->resent || destination->waits || appender_count(&destination->appender) > 0) {
        return false;
    }
    if (first == NULL) {
        destination->phase = DESTINATION_STREAMING;
        destination->reconciled = false;
        effects_phase(host->effects, BIGQUERY_PHASE_REPAIRED);
    } else if (destination->phase == DESTINATION_REPAIRING && first->settled && is_stored(first)) {
        drop_first_repair(host, destination);
    } else if (first->settled && first->ok) {
        destination->next_offset += first->rows.count;
        drop_first_repair(host, destination);
    } else if (first->settled) {
        repair_first(host, destination);
    } else if (destination->phase == DESTINATION_REPLAYING &&
               !destination_host_route(host, destination->base.name, first)) {
        return false;
    } else {
        resend_if_any(host, destination);
    }
    return host->reason == SINK_REASON_NONE;
}

/* --- the probe --------------------------------------------------------------------------------- */

static void
abandon(struct destination_host *host, struct destination *destination, struct append *append)
{
    appender_close(&destination->appender, host->effects);
    forget_stream(host, destination);
    destination->phase = DESTINATION_NO_STREAM;
    destination->next_offset = 0;
    destination->is_snapped = false;
    destination->reconciled = false;
    destination->failures = 0;
    append_renew(append);
    list_push_front(&destination->batches, &append->link);
    effects_phase(host->effects, BIGQUERY_PHASE_ABANDONED);
}

/* Section 4.7. */
static void
probe_settled(struct destination_host *host, struct destination *destination, struct append *append)
{
    if (append->ok) {
        destination->next_offset += append->rows.count;
        destination->phase = DESTINATION_STREAMING;
        destination->reconciled = false;
        destination->failures = 0;
        append_release(host->allocator, append);
        effects_phase(host->effects, BIGQUERY_PHASE_PROBED);
        return;
    }
    switch (verdict_of(append)) {
    case BIGQUERY_VERDICT_OFFSET_EXISTS:
    case BIGQUERY_VERDICT_OFFSET_AHEAD:
    case BIGQUERY_VERDICT_STREAM_UNUSABLE:
    case BIGQUERY_VERDICT_MISSING_TABLE: /* the stream cannot be opened */
        abandon(host, destination, append);
        return;
    case BIGQUERY_VERDICT_ROWS:
        list_push_front(&destination->repairs, &append->link);
        destination->phase = DESTINATION_REPAIRING;
        return;
    case BIGQUERY_VERDICT_TRANSIENT:
    case BIGQUERY_VERDICT_WRITER_CLOSED: {
        const struct port_status status = append->status;
        append_renew(append);
        list_push_front(&destination->batches, &append->link);
        if (appender_is_final(&destination->appender)) {
            appender_reset(&destination->appender, destination->stream);
        }
        (void)try_again(host, destination, true, &status);
        return;
    }
    case BIGQUERY_VERDICT_SCHEMA_MISMATCH: {
        const struct port_status status = append->status;
        append_renew(append);
        list_push_front(&destination->batches, &append->link);
        repair_mismatch(host, destination, &status);
        return;
    }
    case BIGQUERY_VERDICT_TERMINAL:
        break;
    }
    list_push_front(&destination->repairs, &append->link);
    fail(host, destination, SINK_REASON_SERVICE, &append->status, "the probe of a stream failed");
}

/* --- going on ---------------------------------------------------------------------------------- */

static void take_settled(struct destination_host *host, struct destination *destination)
{
    for (struct append *append = appender_take_settled(&destination->appender); append != NULL;
         append = appender_take_settled(&destination->appender)) {
        if (destination->phase == DESTINATION_PROBING) {
            probe_settled(host, destination, append);
        } else if (destination->phase == DESTINATION_STREAMING && is_stored(append)) {
            append_release(host->allocator, append);
        } else if (destination->resent) {
            destination->resent = false;
            list_push_front(&destination->repairs, &append->link);
        } else {
            destination->phase = destination->phase == DESTINATION_STREAMING ? DESTINATION_REPAIRING
                                                                             : destination->phase;
            list_push_back(&destination->repairs, &append->link);
        }
    }
}

/* Submit batches at the offsets that follow each other; a probe goes alone. */
static void submit_batches(const struct destination_host *host, struct destination *destination)
{
    const bool probes = destination->phase == DESTINATION_PROBING;
    const uint32_t limit = probes ? 1 : host->config->in_flight_max;
    while (!destination->waits && !list_is_empty(&destination->batches) &&
           appender_count(&destination->appender) < limit) {
        struct append *append = append_of(list_pop_front(&destination->batches));
        append->has_offset = true;
        append->offset = destination->next_offset;
        destination->next_offset += probes ? 0 : append->rows.count;
        appender_submit(&destination->appender, append);
    }
}

static void advance_phase(struct destination_host *host, struct destination *destination)
{
    switch ((enum destination_phase)destination->phase) {
    case DESTINATION_NO_STREAM:
        if (list_is_empty(&destination->batches)) {
            return;
        }
        destination->phase = DESTINATION_CREATING;
        destination->failures = 0;
        break;
    case DESTINATION_PROBING:
    case DESTINATION_STREAMING:
        submit_batches(host, destination);
        return;
    case DESTINATION_REPAIRING:
    case DESTINATION_REPLAYING:
        while (destination->phase >= DESTINATION_REPAIRING && advance_repair(host, destination)) {
        }
        if (destination->phase == DESTINATION_STREAMING) {
            submit_batches(host, destination);
        }
        return;
    case DESTINATION_RECONCILING:
        return;
    case DESTINATION_CREATING:
        break;
    }
    if (destination->call == 0 && !destination->waits && effects_has_room(host->effects)) {
        create_stream(host, destination);
    }
}

/* A reconciliation goes on, or ends. */
static void advance_reconcile(struct destination_host *host, struct destination *destination)
{
    if (destination->phase == DESTINATION_RECONCILING &&
        reconcile_advance(&destination->reconcile, host->effects) != RECONCILE_OPEN) {
        end_reconcile(host, destination);
    }
}

static void advance_table(struct destination_host *host, struct writer_table *table)
{
    struct destination *destination = destination_of(table);
    take_settled(host, destination);
    if (host->reason == SINK_REASON_NONE && may_refresh(destination)) {
        refresh(host, destination);
    }
    if (host->reason == SINK_REASON_NONE) {
        advance_reconcile(host, destination);
    }
    if (host->reason == SINK_REASON_NONE) {
        advance_phase(host, destination);
        advance_reconcile(host, destination); /* that it began */
    }
    if (host->reason == SINK_REASON_NONE && destination->stream.size > 0 &&
        appender_advance(&destination->appender, host->now, host->effects) != ERR_OK) {
        fail_memory(host, destination);
    }
}

static bool answer_table(struct destination_host *host,
                         struct writer_table *table,
                         const struct port_answer *answer)
{
    struct destination *destination = destination_of(table);
    if (appender_has(&destination->appender, answer)) {
        appender_answer(&destination->appender, host->now, answer);
        return true;
    }
    if (reconcile_answer(&destination->reconcile, host->now, answer)) {
        return true;
    }
    if (destination->call == 0 || answer->request != destination->call) {
        return false;
    }
    destination->call = 0;
    if (answer->outcome == PORT_OUTCOME_OK) {
        stream_made(host, destination, answer->payload);
    } else {
        creating_failed(host, destination, answer);
    }
    return true;
}

static bool due_table(struct destination_host *host,
                      struct writer_table *table,
                      const struct parking_slot *slot)
{
    struct destination *destination = destination_of(table);
    if (slot == &destination->pause) {
        destination->waits = false;
        return true;
    }
    return reconcile_due(&destination->reconcile, slot) ||
           appender_due(&destination->appender, slot, host->now, host->effects);
}

static bool is_drained(const struct writer_table *table)
{
    const struct destination *destination = of_const(table);
    return destination->filling == NULL && list_is_empty(&destination->batches) &&
           list_is_empty(&destination->repairs) && !destination->resent &&
           appender_count(&destination->appender) == 0;
}

static bool is_full(const struct destination_host *host, const struct writer_table *table)
{
    const struct destination *destination = of_const(table);
    return destination->refreshes || destination->batches.count + destination->repairs.count +
                                             appender_count(&destination->appender) >=
                                         host->config->in_flight_max;
}

static void close_table(struct destination_host *host, struct writer_table *table)
{
    struct destination *destination = destination_of(table);
    if (destination->call != 0) {
        effects_cancel(host->effects, destination->call, &bigquery_create_write_stream_method);
        destination->call = 0;
    }
    reconcile_close(&destination->reconcile, host->effects);
    appender_close(&destination->appender, host->effects);
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
    const struct destination *destination = of_const(table);
    digest = digest_fold(digest, digest_bytes(destination->base.name));
    digest = digest_fold(digest, destination->phase);
    digest = digest_fold(digest, digest_bytes(destination->stream));
    digest = digest_fold(digest, destination->next_offset);
    digest = digest_fold(digest, destination->schema.version);
    digest = digest_fold(digest, destination->refreshes ? destination->next.version : 0);
    digest = digest_fold(digest, destination->resume);
    digest = digest_fold(digest, destination->swaps);
    digest = digest_fold(digest, destination->reconciled);
    digest = reconcile_digest(digest, &destination->reconcile);
    digest = digest_fold(digest, destination->is_snapped ? destination->snap_offset + 1 : 0);
    digest = digest_fold(digest, destination->base.handed_for);
    digest = digest_fold(digest, destination->failures);
    digest = digest_fold(digest, destination->resent);
    digest = digest_fold(digest, destination->table_created);
    digest = digest_fold(digest, destination->waits);
    digest = digest_fold(digest, destination->call);
    digest = digest_fold(digest, destination->base.last_access);
    digest = destination->filling == NULL ? digest : append_digest(digest, destination->filling);
    digest = digest_list(digest, &destination->batches);
    digest = digest_list(digest, &destination->repairs);
    return appender_digest(digest, &destination->appender);
}

static void send_all_of(struct writer_table *table)
{
    send_all(destination_of(table));
}

/* The latest snapshot has its stream as it is. */
static bool is_spare(const struct writer_table *table)
{
    const struct destination *destination = of_const(table);
    return destination->is_snapped && destination->snap_offset == destination->next_offset;
}

const struct table_functions bigquery_destination_functions = {
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
    .is_spare = is_spare,
    .close = close_table,
    .digest = digest_table,
};
