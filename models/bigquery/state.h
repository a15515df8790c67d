/* What the files of the BigQuery model share. */
#ifndef MODELS_BIGQUERY_STATE_H
#define MODELS_BIGQUERY_STATE_H

#include "models/bigquery/bigquery.h"
#include "sinks/port/bigquery.h"

enum bigquery_mark {
    MARK_BIGQUERY_FIRST = MARK_SIM_ROOM + 3 * MARK_MODEL_ROOM,
    MARK_BIGQUERY_BEFORE = MARK_BIGQUERY_FIRST - 1,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "models/bigquery/marks.def"
#undef MARK
    MARK_BIGQUERY_END,
};

/* The sites, and per site its outcomes. */
#define OUTCOME(constant, name, weight, kind, clause) constant
#define FATE_SITE(constant, id, key, name, sentence, ...)
#define SITE(constant, id, key, name, sentence, ...) enum id##_outcome{__VA_ARGS__};
#include "models/bigquery/sites.def"
#undef SITE
#undef FATE_SITE
#undef OUTCOME

enum bigquery_site {
#define SITE(constant, id, key, name, sentence, ...) constant,
#define FATE_SITE                                    SITE
#include "models/bigquery/sites.def"
#undef SITE
#undef FATE_SITE
    SITE_COUNT,
};

enum bigquery_option {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence) constant,
#include "models/bigquery/options.def"
#undef OPTION
    OPTION_COUNT,
};

#define BIGQUERY_TABLE_MAX   16u
#define BIGQUERY_ROW_ERRORS  64u /* bad rows that one answer names at most */
#define BIGQUERY_CAUSE_ENDED 0u  /* of WORLD_EXPIRED */

struct table {
    struct bytes name; /* "projects/p/datasets/d/tables/t" */
    uint32_t resource;
    bool exists;
    nanos denied_until; /* its metadata is not everywhere yet (BQW-46); 0: it is */
    uint32_t visible;   /* rows */
};

/* Rows of one append. */
struct rows {
    struct rows *next;
    struct model_content *contents;
    uint32_t count;
};

struct stream {
    struct stream *next;
    struct table *table;
    uint32_t resource; /* its name */
    uint8_t type;      /* enum bigquery_stream_type */
    bool is_default;
    bool finalized;
    bool ended;         /* its time is over (BQW-05) */
    uint64_t end;       /* rows appended: the next offset */
    uint64_t cursor;    /* rows readable */
    struct rows *first; /* of those not yet readable, when type is BUFFERED */
    struct rows *last;
    uint32_t skipped; /* rows of first that are readable already */
    nanos last_traffic;
    uint64_t connection; /* the latest to append; 0 none */
};

struct connection {
    struct connection *next;
    uint64_t number; /* of the link's stream */
    struct stream *stream;
    bool is_refused;       /* another connection of the stream's counts (BQW-22) */
    bool has_extra_fields; /* the writer's schema has fields that the table lacks (BQW-24) */
};

struct bigquery {
    struct model_env env;
    lane lane;
    struct table tables[BIGQUERY_TABLE_MAX];
    uint32_t table_count;
    struct stream *streams; /* newest first */
    uint32_t stream_count;
    struct connection *connections; /* newest first */
    uint8_t readings[SITE_COUNT];   /* 1 + outcome, for sites of readings; 0 not yet */
    uint64_t digest;
    /* answers, borrowed until the link has cloned them */
    struct bigquery_append_rows_response appended;
    struct bigquery_append_result result;
    struct bigquery_int64 offset;
    struct bigquery_row_error errors[BIGQUERY_ROW_ERRORS];
    const void *error_items[BIGQUERY_ROW_ERRORS];
    struct bigquery_write_stream stream_answer;
    struct bigquery_finalize_write_stream_response finalized;
    struct bigquery_flush_rows_response flushed;
    struct bigquery_table table_answer;
};

uint64_t bigquery_option(const struct bigquery *state, enum bigquery_option option);
uint32_t bigquery_draw(struct bigquery *state, enum bigquery_site site);
/* The reading of an open clause: as the option says, or drawn once for the run. */
uint32_t
bigquery_reading(struct bigquery *state, enum bigquery_option option, enum bigquery_site site);
void *bigquery_take(struct bigquery *state, size_t size);

/* A call has no effect: noted, and answered with a code and perhaps a StorageError. */
void bigquery_refuse(struct bigquery *state,
                     const struct model_request *request,
                     enum port_code code,
                     enum bigquery_storage_error reason,
                     struct model_replies *replies);

/* tables.c. NULL: no such table; it need not exist yet. */
struct table *bigquery_table_of(struct bigquery *state, struct bytes name);
/* False when the table is not there, or not everywhere yet: the call was refused. */
bool bigquery_table_answers(struct bigquery *state,
                            const struct table *table_or_null,
                            bool propagates,
                            const struct model_request *request,
                            struct model_replies *replies);
void bigquery_insert_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies);

/* streams.c */
struct stream *bigquery_stream_of(struct bigquery *state, struct bytes name);
/* False when there is no stream by this name or its time is over: the call was refused. */
bool bigquery_stream_answers(struct bigquery *state,
                             struct stream *stream_or_null,
                             struct bytes name,
                             const struct model_request *request,
                             struct model_replies *replies);
void bigquery_touch(struct bigquery *state, struct stream *stream);
void bigquery_show(struct bigquery *state,
                   struct stream *stream,
                   struct model_content content,
                   const struct model_request *request);
void bigquery_create_stream(struct bigquery *state,
                            const struct model_request *request,
                            struct model_replies *replies);
void bigquery_get_stream(struct bigquery *state,
                         const struct model_request *request,
                         struct model_replies *replies);
void bigquery_finalize(struct bigquery *state,
                       const struct model_request *request,
                       struct model_replies *replies);
void bigquery_flush(struct bigquery *state,
                    const struct model_request *request,
                    struct model_replies *replies);

/* appends.c */
void bigquery_append(struct bigquery *state,
                     const struct model_request *request,
                     struct model_replies *replies);

/* rows.c */
/* Whether a writer's schema has only fields that a table has. */
bool bigquery_schema_fits(const struct bigquery_descriptor *descriptor);
/* Whether bytes are a row of the table's columns, in wire form. */
bool bigquery_row_is_valid(struct bytes row);

#endif
