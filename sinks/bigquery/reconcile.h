/* A table that is made to have the columns which rows need: created, or changed on condition (section 3.4 of
 * the sink's specification, "Storage-write reconcile").
 *
 *   State \ event   there, all columns   there, some lack    not there    answer lost, transient   refused
 *   LOOKING         DONE                 CHANGING, FAILED    CREATING,    again                    FAILED
 *                                                            FAILED
 *   CREATING        -                    -                   -            again                    LOOKING, DONE,
 *                                                                                                  again, FAILED
 *   CHANGING        -                    -                   LOOKING      LOOKING                  LOOKING, FAILED
 *
 * CHANGING patches the columns on condition that the table's etag is still the one that was seen. Who loses
 * such a race looks again and unites again, five times at most. Creations have a schedule of retries:
 * besides what is transient, a rate limit says to try again, and that the table exists says that another was
 * first. RECONCILE_CREATE only creates.
 *
 * Loads do it by another machine (file_loads/load_table.h), for by section 6.3 their rules are others. Here rows
 * wait, and so a look that fails is repeated; there it ends a commit, which a restart makes again from the
 * start. Here a table that was created is taken as it was asked for, and an append tells if it is not; there it
 * is read again, for what is read is the schema of the loads. Here it is only done for columns that rows need
 * and the table may get; there a table that may not be changed, or is replaced, is made ready as well. A lost
 * race is run again five times here, by the schedule there. What they have in common stands once: how columns
 * unite (schema.h), and what an answer means (client/classify.h). */
#ifndef SINKS_BIGQUERY_RECONCILE_H
#define SINKS_BIGQUERY_RECONCILE_H

#include "sinks/bigquery/schema.h"
#include "sinks/bigquery/table_caller.h"

enum reconcile_what {
    RECONCILE_NONE = 0,
    RECONCILE_CREATE,  /* a table that is known not to be there */
    RECONCILE_COLUMNS, /* and the table, if it is not there */
};

enum reconcile_outcome {
    RECONCILE_OPEN = 0,
    RECONCILE_UNCHANGED,
    RECONCILE_UPDATED,
    RECONCILE_CREATED,
    RECONCILE_FAILED, /* for good */
};

/* Borrowed for the machine's life. */
struct reconcile_options {
    struct table_caller_options calls; /* creations, and what a client repeats by itself */
    bool creates;                      /* a table that is not there */
    struct bigquery_schema_rules rules;
};

struct reconcile {
    const struct reconcile_options *options;
    struct table_caller caller;                 /* which says why it failed */
    struct bytes table;                         /* full name; borrowed until the end */
    const struct bigquery_table_schema *wanted; /* borrowed until the end */
    uint8_t what;                               /* enum reconcile_what; NONE: at rest */
    uint8_t state;
    uint8_t outcome;     /* read: enum reconcile_outcome */
    struct bytes column; /* read: that conflicts; empty none */
    struct bigquery_table_name parts;
    struct bigquery_table_reference reference;
    struct bigquery_table body;
    struct bigquery_get_table_request get;
    struct bigquery_insert_table_request insert;
    struct bigquery_patch_table_request patch;
    struct bigquery_united united;
};

void reconcile_init(struct reconcile *reconcile,
                    const struct allocator *allocator,
                    const struct reconcile_options *options,
                    struct appender_numbers *numbers,
                    struct parking *parking);

/* Begin; the machine must be at rest. */
void reconcile_start(struct reconcile *reconcile,
                     enum reconcile_what what,
                     struct bytes table,
                     const struct bigquery_table_schema *wanted);

/* Send what may be sent. When the outcome is not open any more, the machine is at rest. */
enum reconcile_outcome reconcile_advance(struct reconcile *reconcile, struct sink_effects *effects);

/* An answer, or a slot that is due: false when it is another's. */
bool reconcile_answer(struct reconcile *reconcile,
                      const struct sink_now *now,
                      const struct port_answer *answer);
bool reconcile_due(struct reconcile *reconcile, const struct parking_slot *slot);

/* Cancel what is on its way, and rest. */
void reconcile_close(struct reconcile *reconcile, struct sink_effects *effects);
void reconcile_fini(struct reconcile *reconcile);

uint64_t reconcile_digest(uint64_t digest, const struct reconcile *reconcile);

#endif
