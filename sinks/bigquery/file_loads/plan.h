/* What the commit of staged files does: which jobs, under which ids, from what into which tables (section
 * 6.2 of the sink's specification).
 *
 * A plan is a pure function of the committables and the configuration: neither their order nor what has
 * run before changes a byte of it, so that a restarted commit finds the jobs of the one before by their
 * ids. It is made and checked before anything is asked of the service.
 *
 * Files of one table and format, sorted by name, are packed into loads. Where one load does for a table,
 * it goes into the table itself. Else the loads fill temporary tables, levels of copies gather these where
 * one copy cannot take them all, and a last job moves all rows of the table at once:
 *
 *   stage 0            loads
 *   stages 1 to n      copies of at most so many temporary tables into another; what is left alone is carried up
 *   the next           one copy into each table; or, where the table's rows are to be replaced and its
 *                      schema kept, into a temporary table that gathers them
 *   the last           queries that read the latter and replace the rows
 */
#ifndef SINKS_BIGQUERY_FILE_LOADS_PLAN_H
#define SINKS_BIGQUERY_FILE_LOADS_PLAN_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/port/bigquery.h"

#include <stdbool.h>
#include <stdint.h>

/* A file that was staged: what a committable says. */
struct staged_file {
    struct bytes job; /* id of the job that staged it */
    struct bytes table;
    struct bytes uri;
    uint64_t bytes;
    uint64_t rows;
    uint64_t checkpoint; /* 0: of a batch job */
    uint8_t format;      /* enum bigquery_source_format */
};

struct plan_config {
    uint8_t write;             /* enum bigquery_write_disposition, not the default one */
    struct bytes temp_dataset; /* "projects/P/datasets/D"; empty: that of the table */
    uint32_t load_files_max;
    uint64_t load_bytes_max;
    uint32_t copy_sources_max; /* at least 2 */
    uint32_t loads_max;        /* of one commit */
    uint32_t copies_max;       /* of one commit */
};

enum plan_kind {
    PLAN_NONE = 0,
    PLAN_LOAD,
    PLAN_COPY,
    PLAN_QUERY,
};

struct plan_job {
    struct plan_job *next; /* private */
    uint8_t kind;          /* enum plan_kind */
    uint8_t write;         /* enum bigquery_write_disposition */
    uint8_t format;        /* of a load */
    bool into_table;       /* into the table itself, not into a temporary one */
    bool creates;          /* a temporary table that is not there */
    uint32_t stage;        /* a job waits for all of the stages before */
    struct bytes id;       /* of the first attempt */
    struct bytes table;    /* the commit's, whatever this job writes to */
    struct bytes target;
    const struct bytes *sources; /* objects of a load, else tables */
    uint32_t source_count;
};

struct plan_block;

struct plan {
    const struct allocator *allocator;    /* private */
    struct plan_block *blocks;            /* private */
    struct plan_job *first;               /* private: in the order they were made */
    struct plan_job *last;                /* private */
    const struct staged_file **files;     /* read: by table, format, name */
    const struct plan_job **jobs;         /* read: by stage */
    const struct bytes *temporary_tables; /* read: in the order they are filled */
    struct plan_table *tables;            /* private */
    uint32_t file_count;                  /* read */
    uint32_t job_count;                   /* read */
    uint32_t temporary_table_count;       /* read */
    uint32_t level_count;                 /* private */
};

/* Plan the commit of at least one file. The plan borrows the files and the configuration's text. ERR_OK;
 * ERR_INVALID and one line in message: files of more than one checkpoint or job, one file twice, or more
 * jobs than a commit may have; ERR_LIMIT without memory. Nothing is kept unless ERR_OK. */
MUST_USE enum err plan_make(struct plan *plan,
                            const struct allocator *allocator,
                            const struct plan_config *config,
                            const struct staged_file *files,
                            uint32_t file_count,
                            struct byte_writer *message);

void plan_release(struct plan *plan);

/* "AVRO" and the like: in names and in requests. */
const char *staging_format_name(enum bigquery_source_format format);

#endif
