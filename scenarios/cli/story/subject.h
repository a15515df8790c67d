/* What `replay --trace --only` picks out of a journal: "record 17", "identity 0x1f", "request 3",
 * "resource 2", "checkpoint 4" (also with '=' or ':' or nothing between), a lane like writer0, a
 * bare number for a record, a bare 0x number for an identity. */
#ifndef SCENARIOS_CLI_STORY_SUBJECT_H
#define SCENARIOS_CLI_STORY_SUBJECT_H

#include "sim/journal.h"
#include "sinks/base/err.h"

enum subject_filter_kind {
    SUBJECT_FILTER_NONE = 0, /* everything */
    SUBJECT_FILTER_RECORD,
    SUBJECT_FILTER_IDENTITY,
    SUBJECT_FILTER_REQUEST,
    SUBJECT_FILTER_RESOURCE,
    SUBJECT_FILTER_CHECKPOINT,
    SUBJECT_FILTER_LANE,
};

struct subject_filter {
    enum subject_filter_kind kind;
    uint64_t value;
};

/* ERR_OK or ERR_INVALID. */
MUST_USE enum err subject_filter_parse(const char *text, struct subject_filter *filter);

bool subject_filter_takes(const struct subject_filter *filter, const struct journal_entry *entry);

#endif
