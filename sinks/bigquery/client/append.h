/* A batch of rows for one append, and what became of it. */
#ifndef SINKS_BIGQUERY_CLIENT_APPEND_H
#define SINKS_BIGQUERY_CLIENT_APPEND_H

#include "sinks/base/allocator.h"
#include "sinks/base/list.h"
#include "sinks/base/units.h"
#include "sinks/port/bigquery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row in one block with its bytes. */
struct append_row {
    struct list_link link;
    uint64_t token; /* of its record */
    bool is_bad;    /* the service says that it is none */
    bool was_sent;  /* in any request */
    struct bigquery_row row;
    size_t tail_size; /* of its end, which is not the serializer's */
    size_t block_size;
};

struct append {
    struct list_link link; /* of whoever has it */
    struct list rows;      /* read: struct append_row */
    size_t bytes;          /* read: of rows */
    bool has_offset;       /* set by who submits it */
    uint64_t offset;
    bool submitted; /* the appender has it, or has had it and says what became of it */
    bool settled;   /* read: it has */
    bool ok;        /* read: it is stored */
    bool has_row_errors;
    struct port_status status; /* read: of the error */
    /* the appender's */
    uint64_t number;   /* of its request; 0 not on its way */
    uint32_t attempts; /* that failed in this connection */
    nanos sent_at;
    const void **items; /* of the request */
    uint32_t item_capacity;
    struct bigquery_proto_rows list;
    struct bigquery_proto_data data;
    struct bigquery_int64 offset_value;
    struct bigquery_append_rows_request request;
};

static inline struct append *append_of(struct list_link *link)
{
    return LIST_ITEM(link, struct append, link);
}

/* NULL without memory. */
struct append *append_make(const struct allocator *allocator);
struct append_row *
append_row_make(const struct allocator *allocator, struct bytes serialized, uint64_t token);
struct append_row *append_row_make_with_tail(const struct allocator *allocator,
                                             struct bytes serialized,
                                             struct bytes tail,
                                             uint64_t token);
/* What the serializer gave. */
struct bytes append_row_serialized(const struct append_row *row);

void append_row_release(const struct allocator *allocator, struct append_row *row);
/* With all its rows. */
void append_release(const struct allocator *allocator, struct append *append);

/* Take a row in. */
void append_add(struct append *append, struct append_row *row);
/* Take a row out that must not be sent again. */
void append_remove(struct append *append, struct append_row *row);

/* How many of its rows are sent for the first time; they count as sent from here on. */
uint32_t append_mark_sent(struct append *append);

/* Forget what became of it: it may be submitted again. */
void append_renew(struct append *append);

/* Fill in the request of an attempt. ERR_OK, ERR_LIMIT. */
MUST_USE enum err append_fill(const struct allocator *allocator,
                              struct append *append,
                              struct bytes stream,
                              const struct bigquery_proto_schema *schema_or_null);

/* Mark the rows that an answer names; the number of those that are there. */
uint32_t append_mark_bad(struct append *append, const struct bigquery_append_rows_response *answer);

bool append_has_bad_rows(const struct append *append);

uint64_t append_digest(uint64_t digest, const struct append *append);

#endif
