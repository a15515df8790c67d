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

#define BIGQUERY_TABLE_MAX  16u
#define BIGQUERY_NAME_MAX   512u /* bytes of a table's */
#define BIGQUERY_COLUMN_MAX 32u
#define BIGQUERY_LABEL_MAX  8u
#define BIGQUERY_UPDATE_MAX 16u /* changes of a table's metadata that are remembered */
#define BIGQUERY_ROW_ERRORS 64u /* bad rows that one answer names at most */

/* Of WORLD_EXPIRED and WORLD_REMOVED. */
enum bigquery_cause {
    BIGQUERY_CAUSE_ENDED = 0,
    BIGQUERY_CAUSE_FINALIZED,
    BIGQUERY_CAUSE_LIFETIME,
    BIGQUERY_CAUSE_DELETED,
    BIGQUERY_CAUSE_ROW_DELETED,
};

/* Of the model's own events; a: the job's resource. */
enum bigquery_event {
    BIGQUERY_EVENT_NONE = 0,
    BIGQUERY_EVENT_JOB_RUNS,
    BIGQUERY_EVENT_JOB_ENDS,
};

/* Columns that no table has, of rows that change others (BQC-01). */
#define BIGQUERY_COLUMN_NONE        BIGQUERY_COLUMN_MAX
#define BIGQUERY_COLUMN_CHANGE_TYPE (BIGQUERY_COLUMN_MAX + 1u)
#define BIGQUERY_COLUMN_SEQUENCE    (BIGQUERY_COLUMN_MAX + 2u)

/* A column stays where it is: its index is its name in rows that are kept. */
struct column {
    struct bytes name;
    uint8_t type;         /* enum bigquery_field_type */
    uint8_t mode;         /* enum bigquery_field_mode */
    nanos known_from;     /* by the write API (BQW-25); not before that of the column before it */
    nanos required_until; /* to the write API; 0 never, TIME_NEVER while the mode is REQUIRED */
};

/* Rows, in a recycled block that grows. */
struct contents {
    struct model_content *items;
    uint32_t count;
    uint32_t capacity;
};

struct table {
    struct bytes name; /* "projects/p/datasets/d/tables/t" */
    uint32_t resource;
    bool exists;
    nanos created_at;
    nanos denied_until;   /* its metadata is not everywhere yet (BQW-46); 0: it is */
    uint32_t visible;     /* rows that ever became readable */
    bool is_read;         /* the scenario's readers read it: its rows are effects */
    nanos lifetime;       /* 0: for ever (BQT-04) */
    struct contents rows; /* that stand in it */
    uint64_t write_day;   /* of jobs */
    uint32_t writes_of_day;
    struct column *columns;
    uint32_t column_count;
    const struct bigquery_label *labels;
    uint32_t label_count;
    uint64_t version; /* of the metadata: the etag */
    nanos updates[BIGQUERY_UPDATE_MAX];
    uint64_t update_count;
    bool has_key;            /* whose rows change others */
    struct bytes key;        /* name of its one column; empty: that of all tables, id */
    bool has_staleness;      /* it was ever set */
    uint64_t staleness;      /* seconds (BQC-06) */
    bool is_declared;        /* by its label */
    struct bytes told;       /* maxStaleness as the REST API was told, and tells; empty: never */
    uint32_t others_changes; /* of the staleness, while clients looked */
    struct keyed_row *keys;  /* newest first */
};

/* What was last said of a row (BQC-02). */
struct row_version {
    uint32_t section_count; /* 0: no sequence number */
    uint64_t sections[4];
};

/* The row of a primary key, there or deleted. */
struct keyed_row {
    struct keyed_row *next;
    uint64_t key; /* digest */
    uint32_t resource;
    uint32_t generation; /* times that it was there */
    bool present;
    nanos deleted_at;
    bool has_latest;
    struct row_version latest;
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

/* A field of a writer's schema. */
struct writer_field {
    uint32_t number;
    uint32_t column; /* index, or one of BIGQUERY_COLUMN_ */
    bool fits;       /* the column's type */
};

struct connection {
    struct connection *next;
    uint64_t number; /* of the link's stream */
    struct stream *stream;
    bool is_refused; /* another connection of the stream's counts (BQW-22) */
    bool has_schema;
    bool has_changes;      /* its rows say how they change the table */
    nanos opened_at;       /* the columns that were known then are the connection's (BQW-25) */
    uint32_t told_columns; /* that the writer was told of */
    struct writer_field *fields;
    uint32_t field_count;
};

/* A job of BigQuery's, from its insert on. */
struct job {
    struct job *next;    /* of those that are not done */
    uint32_t resource;   /* "projects/p/locations/l/jobs/id" */
    uint8_t state;       /* enum bigquery_job_state */
    uint8_t reason;      /* enum bigquery_reason: of its failure; 0 none */
    uint8_t end;         /* enum job_end_outcome */
    bool reads_at_start; /* of a load (BQJ-13) */
    bool has_read;
    bool reports_early; /* an error before it is done (BQJ-05) */
    nanos created;
    nanos length;
    sched_handle event;
    struct model_request request; /* that started it: number and attempt */
    struct bytes project;
    struct bytes location;
    struct bytes id;
    const struct bigquery_job_configuration *configuration; /* until it is done */
    void *configuration_block;                              /* it begins with the configuration */
    size_t configuration_size;
    struct contents rows;  /* that it will write */
    struct layout *layout; /* of a load that has read, in a recycled block */
};

/* The columns that a job writes by, in the order in which rows are kept. */
struct layout {
    struct bigquery_table_field_schema columns[BIGQUERY_COLUMN_MAX];
    const void *items[BIGQUERY_COLUMN_MAX];
    bool is_asked[BIGQUERY_COLUMN_MAX]; /* the load's schema has it */
    uint32_t count;
};

/* Jobs of one kind of one day. */
struct job_quota {
    uint64_t day;
    uint32_t count;
};

struct bigquery {
    struct model_env env;
    lane lane;
    struct table tables[BIGQUERY_TABLE_MAX];
    uint32_t table_count;
    struct arena_array others; /* struct table * by resource: made by jobs, no readers read them */
    struct arena_array jobs;   /* struct job * by resource */
    struct job *unfinished;    /* newest first */
    uint32_t unfinished_count;
    uint32_t jobs_named; /* by the service */
    bool jobs_healed;    /* none fails or takes long without a reason any more */
    struct job_quota loads;
    struct job_quota copies;
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
    struct bigquery_table_reference reference_answer;
    struct bigquery_table_schema schema_answer;
    struct bigquery_table_field_schema column_answers[BIGQUERY_COLUMN_MAX];
    const void *column_items[BIGQUERY_COLUMN_MAX];
    const void *label_items[BIGQUERY_LABEL_MAX];
    struct bigquery_primary_key key_answer;
    struct bigquery_table_constraints constraints_answer;
    struct bytes key_column;
    struct bigquery_query_response query_answer;
    struct bytes query_row;
    uint8_t staleness_text[64];
    struct bigquery_job job_answer;
    struct bigquery_job_reference job_reference;
    struct bigquery_job_status job_status;
    struct bigquery_error job_error;
    const void *job_errors[1];
    struct bigquery_dataset dataset_answer;
    struct bigquery_dataset_reference dataset_reference;
    uint8_t etag[24];
    /* a row in the form in which it is kept; grows */
    uint8_t *scratch;
    size_t scratch_size;
};

uint64_t bigquery_option(const struct bigquery *state, enum bigquery_option option);
uint32_t bigquery_draw(struct bigquery *state, enum bigquery_site site);
/* The reading of an open clause: as the option says, or drawn once for the run. */
uint32_t
bigquery_reading(struct bigquery *state, enum bigquery_option option, enum bigquery_site site);
void *bigquery_take(struct bigquery *state, size_t size);

/* Memory of the run's that holds a copy. */
struct bytes bigquery_keep(struct bigquery *state, struct bytes bytes);

/* A call has no effect: noted, and answered with a code and a reason: 0, enum bigquery_storage_error or
 * enum bigquery_reason. */
void bigquery_refuse(struct bigquery *state,
                     const struct model_request *request,
                     enum port_code code,
                     uint32_t reason,
                     struct model_replies *replies);

/* tables.c. NULL: no such table; it need not exist yet. */
struct table *bigquery_table_of(struct bigquery *state, struct bytes name);
/* False when the table is not there, or not everywhere yet: the call was refused. */
bool bigquery_table_answers(struct bigquery *state,
                            const struct table *table_or_null,
                            bool propagates,
                            const struct model_request *request,
                            struct model_replies *replies);
/* The table of a REST call; NULL: the scenario knows none of this name. */
struct table *bigquery_table_named(struct bigquery *state,
                                   const struct bigquery_table_reference *reference_or_null);
/* A request made or changed a table. */
void bigquery_note_table(struct bigquery *state,
                         const struct table *table,
                         enum configured what,
                         const struct model_request *request);
void bigquery_insert_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies);

/* others.c */
/* A table that is none of the scenario's, by its name; NULL: there is none (any more). */
struct table *bigquery_other_table(struct bigquery *state, struct bytes name);
/* Make a table that is not there, in a dataset that is: one of the scenario's, or one of a job's own. */
struct table *bigquery_make_table(struct bigquery *state,
                                  const struct bigquery_table_reference *reference,
                                  const struct model_request *request);
/* Write "projects/p/datasets/d/tables/t", or without a table the dataset's name. False: too long. */
bool bigquery_put_name(const struct bigquery_table_reference *reference,
                       struct byte_writer *writer);
bool bigquery_dataset_is_there(const struct bigquery *state,
                               struct bytes project,
                               struct bytes dataset);
void bigquery_get_dataset(struct bigquery *state,
                          const struct model_request *request,
                          struct model_replies *replies);
void bigquery_delete_table(struct bigquery *state,
                           const struct model_request *request,
                           struct model_replies *replies);

/* contents.c */
void bigquery_contents_add(struct bigquery *state,
                           struct contents *contents,
                           struct model_content content);
void bigquery_contents_release(struct bigquery *state, struct contents *contents);
/* A row becomes readable; all rows are no longer. */
void bigquery_add_row(struct bigquery *state,
                      struct table *table,
                      struct model_content content,
                      const struct model_request *request);
void bigquery_remove_rows(struct bigquery *state,
                          struct table *table,
                          const struct model_request *request);

/* jobs.c */
void bigquery_insert_job(struct bigquery *state,
                         const struct model_request *request,
                         struct model_replies *replies);
void bigquery_get_job(struct bigquery *state,
                      const struct model_request *request,
                      struct model_replies *replies);
void bigquery_job_event(struct bigquery *state, enum bigquery_event what, uint32_t resource);
void bigquery_jobs_heal(struct bigquery *state);
uint64_t bigquery_jobs_digest(const struct bigquery *state);

/* writes.c */
/* Where a job writes to. */
struct write_target {
    const struct bigquery_table_reference *reference;
    uint8_t write; /* enum bigquery_write_disposition, but for the default */
    uint8_t create;
};
struct write_target bigquery_target_of(const struct bigquery_job_configuration *configuration);
/* Whether a job may write to its table today (BQJ-16); it counts whatever becomes of it. */
bool bigquery_may_write(struct bigquery *state, const struct job *job);
/* All or nothing of what a job does to its table, now (BQJ-09, BQJ-10): a load by its layout, others by
 * the columns of a table, which the target's must be. */
enum bigquery_reason
bigquery_write(struct bigquery *state, const struct job *job, const struct layout *layout);
void bigquery_layout_of_table(const struct table *table, struct layout *layout);

/* load.c */
/* What forbids a load from the start. */
enum bigquery_reason bigquery_load_error(struct bigquery *state,
                                         const struct bigquery_job_configuration_load *load);
/* Read the objects into the job's rows. */
enum bigquery_reason bigquery_load_read(struct bigquery *state, struct job *job);
enum bigquery_reason bigquery_load_end(struct bigquery *state, struct job *job);

/* copy.c: copies, and queries of one table. */
enum bigquery_reason bigquery_copy_error(struct bigquery *state,
                                         const struct bigquery_job_configuration_copy *copy);
enum bigquery_reason bigquery_copy_end(struct bigquery *state, struct job *job);
enum bigquery_reason bigquery_query_end(struct bigquery *state, struct job *job);

/* statements.c */
/* Write an interval of seconds: "0-0 0 H:M:S". */
void bigquery_put_interval(uint64_t seconds, struct byte_writer *writer);
void bigquery_query(struct bigquery *state,
                    const struct model_request *request,
                    struct model_replies *replies);

/* metadata.c */
bool bigquery_changes_too_often(const struct bigquery *state, const struct table *table);
void bigquery_count_change(struct bigquery *state, struct table *table);
/* A request set labels: whether it claims the table, or declares it. */
void bigquery_note_labels(struct bigquery *state,
                          struct table *table,
                          const struct port_list *labels,
                          const struct model_request *request);
void bigquery_get_table(struct bigquery *state,
                        const struct model_request *request,
                        struct model_replies *replies);
void bigquery_patch_table(struct bigquery *state,
                          const struct model_request *request,
                          struct model_replies *replies);
/* Answer with a table's metadata. */
void bigquery_reply_table(struct bigquery *state,
                          const struct table *table,
                          struct model_replies *replies);
void bigquery_set_labels(struct bigquery *state,
                         struct table *table,
                         const struct port_list *labels);

/* columns.c */
/* The columns of a table from its start; those of a scenario's. */
void bigquery_default_columns(struct bigquery *state, struct table *table);
/* A column by its name, or NULL. */
const struct column *bigquery_column_of(const struct table *table, struct bytes name);
/* Whether a new table may have these columns; whether a table's may become these (BQT-03). */
bool bigquery_columns_are_valid(const struct bigquery_table_schema *schema_or_null);
bool bigquery_columns_may_become(const struct table *table,
                                 const struct bigquery_table_schema *schema);
/* Have these columns, which the write API knows from an instant on. */
void bigquery_set_columns(struct bigquery *state,
                          struct table *table,
                          const struct bigquery_table_schema *schema_or_null,
                          nanos known_from);
/* The first columns of a table, in the state's answer. */
const struct bigquery_table_schema *
bigquery_schema_answer(struct bigquery *state, const struct table *table, uint32_t count);
/* How many columns the write API knew at an instant. */
uint32_t bigquery_known_columns(const struct table *table, nanos at);

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

/* changes.c */
/* BIGQUERY_COLUMN_NONE when a field's name is none of those of changes. */
uint32_t bigquery_change_column(struct bytes name);
/* Whether the value of such a field is one. */
bool bigquery_change_is_valid(uint32_t column, struct bytes value);
/* Let a row that is valid change the table. */
void bigquery_change(struct bigquery *state,
                     const struct connection *connection,
                     struct bytes row,
                     struct model_content content,
                     const struct model_request *request);

/* rows.c */
/* The last value of a field of a row, empty when it has none. */
struct bytes
bigquery_row_value(const struct connection *connection, struct bytes row, uint32_t column);
void bigquery_take_schema(struct bigquery *state,
                          struct connection *connection,
                          const struct bigquery_descriptor *descriptor);
/* Whether bytes are a row of the connection's in wire form, which the table's columns take. */
bool bigquery_row_is_valid(const struct connection *connection, struct bytes row);
/* What is kept of such a row: its values by their columns. */
struct model_content
bigquery_row_content(struct bigquery *state, const struct connection *connection, struct bytes row);

#endif
