/* A BigQuery and an object storage in one world, and what tests of jobs say to them. */
#ifndef MODELS_BIGQUERY_JOBS_TESTKIT_H
#define MODELS_BIGQUERY_JOBS_TESTKIT_H

#include "models/bigquery/state.h"
#include "models/model_testkit.h"

#define JOBS_TABLE "projects/p/datasets/d/tables/t"
#define JOBS_TEMP  "projects/p/datasets/tmp"

/* Schemas of objects. */
#define JOBS_COLUMN_ID    "{\"name\":\"id\",\"type\":[\"null\",\"string\"]}"
#define JOBS_COLUMN_EXTRA "{\"name\":\"extra\",\"type\":[\"null\",\"long\"]}"

struct jobs_kit {
    struct testkit *kit;
    struct service services[2];
    struct sink_option_value storage_options[16];
};

/* Options and pins of the kit come between the two. The storage's bucket is "staging". */
void jobs_open(struct jobs_kit *jobs, enum profile profile);
void jobs_text(struct jobs_kit *jobs, const char *key, const char *text);
void jobs_init(struct jobs_kit *jobs);
void jobs_close(struct jobs_kit *jobs);
/* Let time pass, and all that is due at its end happen. */
void jobs_pass(struct jobs_kit *jobs, nanos length);

/* Put an object of rows with an id of one letter each; columns are JSON, and a row has its id first, then
 * for each further column a null. */
void jobs_put(struct jobs_kit *jobs, const char *name, const char *columns, const char *ids);
void jobs_put_bytes(struct jobs_kit *jobs, const char *name, struct bytes content);
void jobs_delete_object(struct jobs_kit *jobs, const char *name);
/* The bytes of such an object. */
struct bytes jobs_file(const char *columns, const char *ids, struct byte_writer *writer);

/* A load of one object into a table of a dataset, to be changed before it is sent. */
struct jobs_load {
    struct bigquery_table_reference table;
    struct bytes uri;
    struct bigquery_table_field_schema columns[4];
    const void *items[4];
    struct bigquery_table_schema schema;
    struct bigquery_job_configuration_load load;
};
void jobs_load_of(struct jobs_load *load, const char *uri);
/* Have a schema of these columns so far and one more. */
void jobs_load_column(struct jobs_load *load,
                      const char *name,
                      enum bigquery_field_type type,
                      enum bigquery_field_mode mode);

enum port_code jobs_insert(struct jobs_kit *jobs,
                           const char *id,
                           const char *location,
                           const struct bigquery_job_configuration *configuration);
enum port_code
jobs_insert_load(struct jobs_kit *jobs, const char *id, const struct jobs_load *load);
enum port_code jobs_get(struct jobs_kit *jobs, const char *id, const char *location);

/* Insert, let it end, and give the reason of its failure: of the refusal, or of the job that is done. */
enum bigquery_reason
jobs_do_load(struct jobs_kit *jobs, const char *id, const struct jobs_load *load);
enum bigquery_reason jobs_do(struct jobs_kit *jobs,
                             const char *id,
                             const struct bigquery_job_configuration *configuration);

/* Of the last answer. */
const struct bigquery_job *jobs_job(const struct jobs_kit *jobs);
uint32_t jobs_reason(const struct jobs_kit *jobs);

/* Rows that stand in a table of a dataset; NULL: the table is not there. */
const struct contents *jobs_rows(struct jobs_kit *jobs, const char *dataset, const char *table);
uint32_t jobs_count(struct jobs_kit *jobs, const char *table);

#endif
