/* What the tables of a writer share: clocks and numbers, the records with the failure policy, and the
 * failure that ends the writer's life. The writer fills in the step before it calls on a table. */
#ifndef SINKS_BIGQUERY_DESTINATION_HOST_H
#define SINKS_BIGQUERY_DESTINATION_HOST_H

#include "sinks/bigquery/client/appender.h"
#include "sinks/bigquery/reconcile.h"

struct destination_host {
    const struct allocator *allocator;
    const struct bigquery_config *config;
    struct appender_numbers numbers;
    struct parking parking;
    struct reconcile_options reconcile; /* how tables are made fit for rows */
    struct list handed;                 /* struct append_row with the failure policy */
    uint32_t verdicts;                  /* records with the failure policy */
    uint16_t row_routed;                /* phase of a record that goes there */
    const struct sink_now *now;         /* of the step */
    struct sink_effects *effects;       /* of the step */
    /* A failure that ends the writer's life; SINK_REASON_NONE: none. */
    enum sink_reason reason;
    struct port_status status;
    bool has_status;
    uint8_t text[256];
    struct byte_writer message;
};

void destination_host_init(struct destination_host *host,
                           const struct allocator *allocator,
                           const struct bigquery_config *config,
                           uint16_t row_routed);
void destination_host_fini(struct destination_host *host);

/* End the writer's life. */
void destination_host_fail(struct destination_host *host,
                           struct bytes table,
                           enum sink_reason reason,
                           const struct port_status *status_or_null,
                           const char *what);

/* Whether tables are changed when rows do not fit. */
bool destination_host_updates(const struct destination_host *host);

/* What calls about a table failed of ends the writer's life. */
void destination_host_fail_calls(struct destination_host *host,
                                 struct bytes table,
                                 const struct table_caller *caller);

/* What a reconciliation failed of ends the writer's life. */
void destination_host_fail_reconcile(struct destination_host *host,
                                     const struct reconcile *reconcile);

/* Have the user say what a record's row is written as, from the version that is known on. False: the user
 * cannot, and the writer's life ends. */
bool destination_host_describe(struct destination_host *host,
                               const struct sink_user *user,
                               const struct sink_record *record,
                               struct bytes table,
                               uint64_t *version,
                               struct bytes *description);

/* Take such a description in; false: it is none, and the writer's life ends. */
bool destination_host_read(struct destination_host *host,
                           struct bytes table,
                           struct bigquery_schema *schema,
                           struct bytes description,
                           uint64_t version);

/* Hand a record that is no row to the failure policy. */
void destination_host_reject(struct destination_host *host,
                             uint64_t token,
                             struct bytes payload,
                             struct bytes table,
                             enum sink_reason reason);

/* Hand the rows of an append that are none to the failure policy, as many as there is space for. False:
 * not all. */
bool destination_host_route(struct destination_host *host,
                            struct bytes table,
                            struct append *append);

/* The failure policy has taken care of a record. */
void destination_host_dropped(struct destination_host *host, uint64_t token);

#endif
