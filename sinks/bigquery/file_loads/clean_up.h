/* What a commit leaves behind and deletes when its rows are in their tables: temporary tables, then staged files,
 * a hundred at once (section 8 of the sink's specification). It is best effort: no answer matters but for the
 * count, for what stays is read by nobody. */
#ifndef SINKS_BIGQUERY_FILE_LOADS_CLEAN_UP_H
#define SINKS_BIGQUERY_FILE_LOADS_CLEAN_UP_H

#include "sinks/bigquery/file_loads/plan.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

enum clean_up_what {
    CLEAN_UP_NONE = 0,
    CLEAN_UP_TABLES,
    CLEAN_UP_FILES,
};

struct deletion;

struct clean_up {
    const struct allocator *allocator; /* private */
    struct deletion *deletions;        /* private: the batch that is under way */
    uint32_t sent;                     /* read: of the plan's tables or files */
    uint32_t open;                     /* read: without an answer */
};

/* Get ready before anything is to be deleted. ERR_OK, ERR_LIMIT. */
MUST_USE enum err clean_up_begin(struct clean_up *clean_up, const struct allocator *allocator);
void clean_up_release(struct clean_up *clean_up);

/* Delete all of one kind that the plan names, in as many steps as that takes; *last numbers the requests. True
 * when all are answered, and then the next kind may begin. */
bool clean_up_advance(struct clean_up *clean_up,
                      enum clean_up_what what,
                      const struct plan *plan,
                      nanos request_timeout,
                      uint64_t *last,
                      struct sink_effects *effects);

/* Take an answer; true when it is an error of a deletion. */
bool clean_up_answer(struct clean_up *clean_up, const struct port_answer *answer);

/* Cancel what is open. */
void clean_up_close(struct clean_up *clean_up, struct sink_effects *effects);

#endif
