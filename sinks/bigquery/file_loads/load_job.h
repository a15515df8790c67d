/* One job of a plan: it is found, started, or attached to, and then waited for (section 6.4 of the sink's
 * specification). An id is never used twice: one that failed stays failed (BQJ-06), and so the job goes
 * on under the next of its ids, but only once the failure of the one before has been seen.
 *
 * Step \ answer   not found      DONE with an error    DONE   anything else     409 (BQJ-02)   another error
 * LOOKS_UP        STARTS         next id: LOOKS_UP,    DONE   RUNS: attached    FAILED         FAILED
 *                                none left: FAILED
 * STARTS          FAILED         as above              DONE   RUNS: started     LOOKS_AGAIN    FAILED
 * LOOKS_AGAIN     FAILED         as above              DONE   RUNS: attached    FAILED         FAILED
 * RUNS            FAILED         FAILED                DONE   RUNS              FAILED         FAILED
 *
 * "Anything else" is a job without a status (BQJ-05, as a client that absorbs a duplicate answers), one that
 * is PENDING or RUNNING, and one that RUNS though it tells of errors. To take any of them for failed would
 * start a second job beside the first. FAILED ends the commit; nothing is known of the job then, and who
 * commits again finds it by its id. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_LOAD_JOB_H
#define SINKS_BIGQUERY_FILE_LOADS_LOAD_JOB_H

#include "sinks/bigquery/file_loads/plan.h"
#include "sinks/port/bigquery.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_JOB_IDS     6u /* the first, and -r1 to -r5 */
#define LOAD_JOB_ID_SIZE 1024u

enum load_job_step {
    LOAD_JOB_NONE = 0,
    LOAD_JOB_LOOKS_UP,
    LOAD_JOB_STARTS,
    LOAD_JOB_LOOKS_AGAIN,
    LOAD_JOB_RUNS,
    LOAD_JOB_DONE,
    LOAD_JOB_FAILED,
};

struct load_job {
    uint8_t step;    /* read: enum load_job_step */
    uint8_t retries; /* read: of the id that it runs under */
    uint32_t error;  /* read: enum bigquery_reason of the latest failure that was seen */
};

/* Begin with the first id. */
void load_job_begin(struct load_job *job);

/* Take the answer to what its step asked. */
void load_job_answer(struct load_job *job, const struct port_answer *answer);

/* The id that it runs under, or is to. */
void load_job_write_id(const struct load_job *job,
                       const struct plan_job *plan,
                       struct byte_writer *writer);

/* A job's request. Must not move between its making and the end of the step in which it is sent. */
struct load_request {
    struct bigquery_insert_job_request insert; /* read: what is sent */
    struct bigquery_job body;                  /* private, as all that follows */
    struct bigquery_job_reference reference;
    struct bigquery_job_configuration configuration;
    struct bigquery_job_configuration_load load;
    struct bigquery_job_configuration_copy copy;
    struct bigquery_job_configuration_query query;
    struct bigquery_parquet_options parquet;
    struct bigquery_table_reference target;
    struct bigquery_table_reference *sources; /* of a copy */
    const void **items;                       /* of a copy its sources, of a load its columns */
    uint32_t item_count;
    struct bigquery_table_schema schema; /* of a load that leaves columns out */
    uint8_t id[LOAD_JOB_ID_SIZE];
    uint8_t text[2048]; /* of a query */
};

/* What a request is made of beside its plan. */
struct load_request_options {
    struct bytes location;
    const struct bigquery_table_schema *schema_or_null; /* of a load */
    bool creates;                                       /* the table itself, by a load into it */
    uint32_t schema_updates; /* enum bigquery_schema_update, of a load into the table */
};

/* Whether a load into a temporary table cannot give it all columns: Parquet has no JSON (M34). The table must
 * have them before, for all that a copy gathers must be alike (M32), and the load keeps them. */
bool load_job_keeps_columns(const struct plan_job *plan,
                            const struct bigquery_table_schema *schema);

/* Make it from a zeroed one. ERR_OK; ERR_LIMIT without memory. */
MUST_USE enum err load_request_make(struct load_request *request,
                                    const struct allocator *allocator,
                                    const struct load_job *job,
                                    const struct plan_job *plan,
                                    const struct load_request_options *options);
void load_request_release(struct load_request *request, const struct allocator *allocator);

#endif
