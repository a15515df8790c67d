/* What rows are written as: the columns that the user's serializer gives a table, the descriptor that a
 * connection opens with, and how a table's columns are united with them (sections 3.1 and 3.4 of the sink's
 * specification).
 *
 * The user describes a destination by a TableSchema in canonical bytes. The n-th of its columns is field n
 * of a row, so a schema that grows at its end leaves the bytes of older rows what they were. */
#ifndef SINKS_BIGQUERY_SCHEMA_H
#define SINKS_BIGQUERY_SCHEMA_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/port/bigquery.h"

#include <stdbool.h>
#include <stdint.h>

#define BIGQUERY_COLUMNS_MAX 64u

/* Fields of rows that change others. They are no columns, and stand far behind all that may come. */
#define BIGQUERY_FIELD_CHANGE_TYPE     1001u
#define BIGQUERY_FIELD_CHANGE_SEQUENCE 1002u

/* Must not move while it is referred to. */
struct bigquery_schema {
    uint8_t change_fields;                     /* how many of them; set before the first reading */
    uint64_t version;                          /* read: of the user's; 0 before the first */
    const struct bigquery_table_schema *table; /* read: NULL before the first */
    struct bigquery_proto_schema proto;        /* read: what a connection opens with */
    struct bigquery_descriptor descriptor;     /* private */
    void *block;                               /* private */
    size_t block_size;
    uint8_t *fields; /* private: of the descriptor, and their list */
    size_t fields_size;
};

/* Take the user's description in, which is copied, in place of what was. ERR_OK; ERR_INVALID or
 * ERR_TRUNCATED when it is none, ERR_LIMIT without memory: nothing changes then. */
MUST_USE enum err bigquery_schema_read(struct bigquery_schema *schema,
                                       const struct allocator *allocator,
                                       struct bytes description,
                                       uint64_t version);
/* Let one take another's place, which is empty then. */
void bigquery_schema_move(struct bigquery_schema *to,
                          const struct allocator *allocator,
                          struct bigquery_schema *from);
void bigquery_schema_release(struct bigquery_schema *schema, const struct allocator *allocator);

/* --- uniting ----------------------------------------------------------------------------------- */

struct bigquery_schema_rules {
    bool allow_new;        /* columns */
    bool allow_relaxation; /* of REQUIRED to NULLABLE */
};

enum bigquery_union {
    BIGQUERY_UNION_CONFLICT = 0,
    BIGQUERY_UNION_UNCHANGED,
    BIGQUERY_UNION_CHANGED,
};

/* The table's columns so that rows of the wanted ones fit: all that are there stay, in their order, new ones
 * come behind them. Texts are borrowed. */
struct bigquery_united {
    struct bigquery_table_field_schema fields[BIGQUERY_COLUMNS_MAX];
    const void *items[BIGQUERY_COLUMNS_MAX];
    struct bigquery_table_schema schema; /* read */
    const char *conflict;                /* read: what is wrong with the column */
    struct bytes column;                 /* read: its name, of the wanted ones */
};
MUST_USE enum bigquery_union bigquery_unite(const struct bigquery_table_schema *there,
                                            const struct bigquery_table_schema *wanted,
                                            struct bigquery_schema_rules rules,
                                            struct bigquery_united *united);

#endif
