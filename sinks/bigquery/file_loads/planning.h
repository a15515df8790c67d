/* How a plan is made, for the files that make it and for nobody else:
 *
 *   plan.c         sorts the files, checks them, and orders the jobs
 *   plan_jobs.c    the jobs of one table
 *   plan_names.c   memory, and what jobs and tables are called */
#ifndef SINKS_BIGQUERY_FILE_LOADS_PLANNING_H
#define SINKS_BIGQUERY_FILE_LOADS_PLANNING_H

#include "sinks/bigquery/file_loads/plan.h"

/* Stages, until all levels of copies are known. */
#define PLANNING_LAST_STAGE  UINT32_MAX /* of the queries */
#define PLANNING_TABLE_STAGE (UINT32_MAX - 1u)

/* A temporary table's name, in the order of filling. */
struct plan_table {
    struct plan_table *next;
    struct bytes name;
};

/* What is planned at the moment: the files of one table. */
struct planning {
    struct plan *plan;
    const struct plan_config *config;
    struct byte_writer *message;
    struct plan_table *last_table;
    struct bytes table;
    struct bytes dataset; /* of its temporary tables */
    uint32_t first;       /* of the sorted files */
    uint32_t end;
    uint32_t formats;
    uint32_t loads; /* of the commit so far */
    uint32_t copies;
};

/* --- plan_names.c -------------------------------------------------------------------------------- */

/* Memory that lives as long as the plan; NULL: there is none. */
void *planning_take(struct plan *plan, size_t size);

const struct staged_file *planning_first_file(const struct planning *planning);

/* A letter and a number, and perhaps another pair: "p3", "l1g0". */
struct suffix {
    uint8_t text[48];
    struct byte_writer writer;
};

struct bytes suffix_begin(struct suffix *suffix, const char *letter, uint32_t number);
struct bytes suffix_write(struct suffix *suffix, const char *letter, uint32_t number);

/* The job's identity: of the job that staged its files, never of the one that runs now (ADR-0018). ERR_OK,
 * ERR_LIMIT. */
MUST_USE enum err
planning_name_job(struct planning *planning, struct plan_job *job, struct bytes suffix);

/* Name a temporary table of the commit: parts tell it from the others of its table. ERR_OK, ERR_LIMIT. */
MUST_USE enum err planning_name_table(struct planning *planning,
                                      const struct bytes *parts,
                                      uint32_t part_count,
                                      struct bytes suffix,
                                      struct bytes *kept);

/* --- plan_jobs.c --------------------------------------------------------------------------------- */

uint32_t planning_count_loads(const struct planning *planning);

/* One load for each format, into the table itself. ERR_OK, ERR_LIMIT; ERR_INVALID: too many jobs. */
MUST_USE enum err planning_direct(struct planning *planning);

/* Loads into temporary tables, and what moves their rows at once. As planning_direct. */
MUST_USE enum err planning_through_tables(struct planning *planning, uint32_t leaves);

#endif
