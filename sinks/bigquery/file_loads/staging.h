/* Files on their way into object storage: the rows of one table, in the order they came, until they are a
 * whole file, which is then written as one object (GCS-03) under a name that nothing else ever has.
 *
 *   <staging path>/<job>/<project>.<dataset>.<table>/<subtask>-<attempt>-<8 random hex>-<sequence>.<format>
 *
 * The sequence is that of the table and never starts anew while the writer lives: a commit that is still
 * pending names the files of the checkpoint before. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_STAGING_H
#define SINKS_BIGQUERY_FILE_LOADS_STAGING_H

#include "sinks/base/list.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/schema.h"
#include "sinks/port/storage.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define STAGING_RANDOM_SIZE 8u
#define STAGING_URI_MAX     1536u

/* A file that is whole. */
struct staged_upload {
    struct list_link link; /* its owner's */
    uint64_t request;      /* 0: not sent */
    bool is_stored;
    struct staged_file file; /* read; its URI lies in text */
    uint8_t *content;        /* private: to be written, until it is stored */
    size_t content_size;
    struct bytes bucket; /* private: point into text */
    struct bytes name;
    struct storage_object object; /* private, as all that follows */
    struct storage_write_object_spec spec;
    struct storage_checksummed_data data;
    struct storage_write_object_request request_body;
    uint8_t text[STAGING_URI_MAX];
};

/* What files are named by. Texts are borrowed. */
struct staging_names {
    struct bytes path;
    struct bytes job;
    uint32_t subtask;
    uint32_t attempt;
    uint8_t random[STAGING_RANDOM_SIZE]; /* hex */
};

/* The rows of one table. */
struct staging_target {
    struct list_link link; /* its owner's */
    struct bytes table;    /* read */
    struct bigquery_schema schema;
    uint32_t sequence;
    uint8_t format; /* enum bigquery_source_format: of the open file */
    uint8_t *rows;  /* of the open file */
    size_t size;
    size_t capacity;
    uint64_t row_count; /* 0: no file is open */
};

/* NULL without memory. */
struct staging_target *staging_target_make(const struct allocator *allocator, struct bytes table);
void staging_target_release(struct staging_target *target, const struct allocator *allocator);

/* Add a row in wire form to the open file. ERR_OK; ERR_INVALID: it does not fit the schema; ERR_LIMIT. After an
 * error the file is as it was. */
MUST_USE enum err staging_target_add(struct staging_target *target,
                                     const struct allocator *allocator,
                                     struct bytes row);

/* Make a whole file of the open one, with a nonce for its marker, and close it; NULL without memory, and then it
 * stays open. */
struct staged_upload *staging_target_finish(struct staging_target *target,
                                            const struct allocator *allocator,
                                            const struct staging_names *names,
                                            uint64_t nonce);

/* Give the bytes back: the file is stored. */
void staged_upload_stored(struct staged_upload *upload, const struct allocator *allocator);
void staged_upload_release(struct staged_upload *upload, const struct allocator *allocator);

/* The format that files of a schema have: Parquet cannot name a JSON column (M34). */
enum bigquery_source_format staging_format_of(const struct bigquery_table_schema *schema,
                                              enum bigquery_source_format wanted);

#endif
