#include "sinks/bigquery/destination_host.h"

#include "sinks/base/check.h"
#include "sinks/effects.h"

void destination_host_init(struct destination_host *host,
                           const struct allocator *allocator,
                           const struct bigquery_config *config,
                           uint16_t row_routed)
{
    *host = (struct destination_host){
        .allocator = allocator, .config = config, .row_routed = row_routed};
    host->reconcile = (struct reconcile_options){
        .calls = {.schedule = &config->recovery, .request_timeout = config->request_timeout},
        .creates = config->creates,
        .rules = {.allow_new = config->adds_columns, .allow_relaxation = config->relaxes_columns},
    };
    parking_init(&host->parking, allocator);
    list_init(&host->handed);
}

void destination_host_fini(struct destination_host *host)
{
    while (!list_is_empty(&host->handed)) {
        struct list_link *link = list_pop_front(&host->handed);
        append_row_release(host->allocator, LIST_ITEM(link, struct append_row, link));
    }
    parking_fini(&host->parking);
}

void destination_host_fail(struct destination_host *host,
                           struct bytes table,
                           enum sink_reason reason,
                           const struct port_status *status_or_null,
                           const char *what)
{
    host->reason = reason;
    host->has_status = status_or_null != NULL;
    byte_writer_init(&host->message, host->text, sizeof(host->text));
    byte_writer_text(&host->message, what);
    if (status_or_null != NULL) {
        host->status = *status_or_null;
        const uint16_t code = port_status_first(status_or_null);
        byte_writer_text(&host->message, ": ");
        byte_writer_text(&host->message,
                         code == PORT_CODE_NONE ? "no status" : port_code_name(code));
    }
    byte_writer_text(&host->message, "; table ");
    byte_writer_bytes(&host->message, table);
}

bool destination_host_updates(const struct destination_host *host)
{
    return host->config->adds_columns || host->config->relaxes_columns;
}

void destination_host_fail_calls(struct destination_host *host,
                                 struct bytes table,
                                 const struct table_caller *caller)
{
    destination_host_fail(
        host, table, caller->reason, caller->has_status ? &caller->status : NULL, caller->message);
}

void destination_host_fail_reconcile(struct destination_host *host,
                                     const struct reconcile *reconcile)
{
    destination_host_fail_calls(host, reconcile->table, &reconcile->caller);
    if (reconcile->column.size > 0) {
        byte_writer_text(&host->message, ", column ");
        byte_writer_bytes(&host->message, reconcile->column);
    }
}

bool destination_host_describe(struct destination_host *host,
                               const struct sink_user *user,
                               const struct sink_record *record,
                               struct bytes table,
                               uint64_t *version,
                               struct bytes *description)
{
    if (user->describe != NULL &&
        user->describe(user->context, record, table, version, description) == SINK_USER_OK &&
        *version > 0) {
        return true;
    }
    destination_host_fail(
        host, table, SINK_REASON_CONFIG, NULL, "the serializer gives no schema of the table");
    return false;
}

bool destination_host_read(struct destination_host *host,
                           struct bytes table,
                           struct bigquery_schema *schema,
                           struct bytes description,
                           uint64_t version)
{
    const enum err err = bigquery_schema_read(schema, host->allocator, description, version);
    if (err == ERR_LIMIT) {
        destination_host_fail(host, table, SINK_REASON_MEMORY, NULL, "no memory for a schema");
    } else if (err != ERR_OK) {
        destination_host_fail(
            host, table, SINK_REASON_CONFIG, NULL, "the serializer's schema of the table is none");
    }
    return err == ERR_OK;
}

void destination_host_reject(struct destination_host *host,
                             uint64_t token,
                             struct bytes payload,
                             struct bytes table,
                             enum sink_reason reason)
{
    host->verdicts++;
    effects_metric(host->effects, BIGQUERY_METRIC_RECORDS_FAILED, 1);
    effects_phase(host->effects, host->row_routed);
    effects_record_failed(host->effects, token, reason, payload, table);
}

bool destination_host_route(struct destination_host *host,
                            struct bytes table,
                            struct append *append)
{
    struct list_link *link = list_first(&append->rows);
    while (link != NULL) {
        struct append_row *row = LIST_ITEM(link, struct append_row, link);
        link = list_next(&append->rows, link);
        if (!row->is_bad) {
            continue;
        }
        if (!effects_has_space(host->effects)) {
            return false;
        }
        append_remove(append, row);
        list_push_back(&host->handed, &row->link);
        destination_host_reject(
            host, row->token, append_row_serialized(row), table, SINK_REASON_REJECTED);
    }
    return true;
}

/* A record that failed before it was a row has none. */
void destination_host_dropped(struct destination_host *host, uint64_t token)
{
    CHECK(host->verdicts > 0);
    host->verdicts--;
    for (struct list_link *link = list_first(&host->handed); link != NULL;
         link = list_next(&host->handed, link)) {
        struct append_row *row = LIST_ITEM(link, struct append_row, link);
        if (row->token == token) {
            list_remove(&host->handed, link);
            append_row_release(host->allocator, row);
            return;
        }
    }
}
