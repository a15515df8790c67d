/* The table that is loaded into: made ready before the first load of a commit, which decides the schema of
 * all its loads (section 6.3 of the sink's specification; ADR-0021). Nothing of it outlives the commit, for
 * others may change the table between two of them.
 *
 * Step \ answer   a table                        not found          a lost race, or    another error
 *                                                                   no attempt too many
 * READS           READY, CHANGES, FAILED         CREATES, FAILED    FAILED             FAILED
 * CREATES         READS                          FAILED             PAUSES; 409 READS  FAILED
 * CHANGES         READY                          FAILED             PAUSES             FAILED
 * PAUSES          end of the pause: CREATES, or READS behind a change
 *
 * A table that was created is read again: 409 says that it is there, and it may be someone else's. What it
 * has to be like:
 *
 *   its rows and schema are replaced   the serializer's schema, as it is
 *   it may not be changed              its own; columns that it lacks are dropped by the load, without a word,
 *                                      and so are told of here
 *   it may be changed                  its own united with the serializer's, which it is given first
 *
 * Why rows that are appended have another machine for this, sinks/bigquery/reconcile.h says. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_LOAD_TABLE_H
#define SINKS_BIGQUERY_FILE_LOADS_LOAD_TABLE_H

#include "sinks/base/list.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/schema.h"
#include "sinks/port/bigquery.h"
#include "sinks/retry.h"

#include <stdbool.h>
#include <stdint.h>

enum load_table_step {
    LOAD_TABLE_NONE = 0,
    LOAD_TABLE_READS,
    LOAD_TABLE_CREATES,
    LOAD_TABLE_CHANGES,
    LOAD_TABLE_PAUSES,
    LOAD_TABLE_READY,
    LOAD_TABLE_FAILED,
};

/* What may be done to a table. */
struct load_table_rules {
    const struct retry_schedule *schedule; /* of creations and of changes; borrowed */
    bool creates;                          /* it when it is not there */
    bool replaces;                         /* rows and schema: no column of its own stays */
    struct bigquery_schema_rules schema;
};

struct load_schema {
    const struct bigquery_table_schema *table; /* read: NULL: none */
    void *block;                               /* private */
    size_t block_size;
};

struct load_table {
    struct list_link link; /* its owner's */
    struct bytes name;     /* read */
    struct load_table_rules rules;
    uint8_t step;              /* read: enum load_table_step */
    uint8_t resumes;           /* private: step behind the pause */
    bool drops_columns;        /* read: that the table lacks and may not be given */
    bool is_created;           /* read */
    bool is_changed;           /* read */
    uint32_t failures;         /* read: attempts that are to be repeated */
    const char *complaint;     /* read: of FAILED without a status */
    struct load_schema schema; /* read: of the loads */
    struct load_schema wanted; /* private: the serializer's */
    struct load_schema change; /* private: what the table is to become */
    uint8_t etag[256];         /* private: of what was read */
    size_t etag_size;
};

/* The commit's table: what may be done to it is configured. */
struct load_table_rules load_table_rules_of(const struct file_loads_config *config);

/* Begin: what the serializer wants is copied. ERR_OK, ERR_LIMIT, ERR_INVALID: it is no schema. The name is
 * borrowed. */
MUST_USE enum err load_table_begin(struct load_table *table,
                                   const struct allocator *allocator,
                                   struct bytes name,
                                   struct load_table_rules rules,
                                   struct bytes wanted);

/* Begin with a temporary table, which is to have all columns of the one that it stands for. */
MUST_USE enum err load_table_begin_like(struct load_table *table,
                                        const struct allocator *allocator,
                                        struct bytes name,
                                        const struct load_table *like);
void load_table_release(struct load_table *table, const struct allocator *allocator);

/* Take the answer to what its step asked. ERR_OK; ERR_LIMIT without memory. */
MUST_USE enum err load_table_answer(struct load_table *table,
                                    const struct allocator *allocator,
                                    const struct port_answer *answer);

/* The pause is over. */
void load_table_resume(struct load_table *table);

/* A request of its step; must not move before it is sent. */
struct load_table_request {
    const struct port_method *method;      /* read */
    const void *payload;                   /* read */
    struct bigquery_get_table_request get; /* private, as all that follows */
    struct bigquery_insert_table_request insert;
    struct bigquery_patch_table_request patch;
    struct bigquery_table body;
    struct bigquery_table_reference reference;
};
void load_table_request_make(struct load_table_request *request, const struct load_table *table);

#endif
