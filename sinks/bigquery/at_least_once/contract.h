/* What a table must be before rows may change others in it: it has the primary key, and the staleness, if that
 * is the sink's to say (section 5.4 of the sink's specification, "Provisioning state machine").
 *
 * A label says how far that is: pending_H while one is at it, complete_H when it was verified; H stands for
 * the key and the staleness that are asked for. "Ours" is a label with our H.
 *
 *   State \ event   not there     pending, ours   complete, ours   other pending   no label      other complete
 *   READING         INSERTING,    LOOKING,        LOOKING, DONE    FAILED          verify_only: as "complete, ours"
 *                   FAILED        COMPLETING                                       and FAILED; reconcile: CLAIMING
 *
 *   State \ event   done          staleness      staleness       spoilt by    transient,      refused
 *                                 as asked       is another      others       answer lost
 *   INSERTING       READING       -              -               READING      again           FAILED
 *   CLAIMING        READING       -              -               READING      again, READING  FAILED
 *   LOOKING         -             COMPLETING,    ALTERING,       -            again           FAILED
 *                                 DONE           CLAIMING,
 *                                                FAILED
 *   ALTERING        READING       -              -               -            again           FAILED
 *   COMPLETING      DONE          -              -               READING      again, READING  FAILED
 *
 * LOOKING asks INFORMATION_SCHEMA, for the table's own maxStaleness in REST says nothing of what is in force
 * (BQC-06): where it is the sink's to say, only ALTER TABLE sets it. CLAIMING and COMPLETING change the label
 * on condition of the etag of the table as READING saw it, which is before LOOKING looks: what others change
 * meanwhile is never called verified. Where the contract is only to be verified, a table that is there stays
 * as it is, unless it is pending and ours, left behind half made. */
#ifndef SINKS_BIGQUERY_AT_LEAST_ONCE_CONTRACT_H
#define SINKS_BIGQUERY_AT_LEAST_ONCE_CONTRACT_H

#include "sinks/bigquery/options.h"
#include "sinks/bigquery/table_caller.h"

#define CONTRACT_LABEL         "flink_gcp_cdc"
#define CONTRACT_VALUE_MAX     48u
#define CONTRACT_INTERVAL_MAX  64u
#define CONTRACT_STATEMENT_MAX (BIGQUERY_TABLE_NAME_MAX + 256u)

enum contract_outcome {
    CONTRACT_OPEN = 0,
    CONTRACT_KEPT,
    CONTRACT_FAILED, /* for good: caller says why */
};

struct contract {
    const struct bigquery_config *config;
    struct table_caller caller;
    struct table_caller_options options;
    struct bytes table;                         /* full name; borrowed until the end */
    const struct bigquery_table_schema *wanted; /* borrowed until the end */
    bool runs;
    uint8_t state; /* enum contract_state */
    bool inserted; /* the table is to be there */
    uint32_t alterations;
    struct bytes key[BIGQUERY_KEY_COLUMNS_MAX];
    uint32_t key_count; /* 0: whatever key the table has */
    uint8_t pending[CONTRACT_VALUE_MAX];
    uint8_t complete[CONTRACT_VALUE_MAX];
    uint8_t interval[CONTRACT_INTERVAL_MAX];
    struct bytes pending_value;
    struct bytes complete_value;
    struct bytes interval_value;
    uint8_t statement[CONTRACT_STATEMENT_MAX];
    struct bigquery_table_name parts;
    struct bigquery_table_reference reference;
    struct bigquery_primary_key primary_key;
    struct bigquery_table_constraints constraints;
    struct bigquery_label label;
    const void *labels[1];
    struct bigquery_table body;
    struct bigquery_get_table_request get;
    struct bigquery_insert_table_request insert;
    struct bigquery_patch_table_request patch;
    struct bigquery_query_request query;
};

void contract_init(struct contract *contract,
                   const struct bigquery_config *config,
                   const struct allocator *allocator,
                   struct appender_numbers *numbers,
                   struct parking *parking);
void contract_fini(struct contract *contract);

/* Begin; the machine must be at rest. */
void contract_start(struct contract *contract,
                    struct bytes table,
                    const struct bigquery_table_schema *wanted);

/* Send what may be sent. When the outcome is not open any more, the machine is at rest. */
enum contract_outcome contract_advance(struct contract *contract, struct sink_effects *effects);

/* An answer, or a slot that is due: false when it is another's. */
bool contract_answer(struct contract *contract,
                     const struct sink_now *now,
                     struct sink_effects *effects,
                     const struct port_answer *answer);
bool contract_due(struct contract *contract, const struct parking_slot *slot);

/* Cancel what is on its way, and rest. */
void contract_close(struct contract *contract, struct sink_effects *effects);

uint64_t contract_digest(uint64_t digest, const struct contract *contract);

#endif
