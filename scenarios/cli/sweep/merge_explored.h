/* merge: the shards of an exploration. */
#ifndef SCENARIOS_CLI_SWEEP_MERGE_EXPLORED_H
#define SCENARIOS_CLI_SWEEP_MERGE_EXPLORED_H

#include "scenarios/cli/json_input.h"
#include "scenarios/cli/status.h"

/* Join the files' records of "explored" to what one exploration would have written, but for times.
 * Counts add up. Distinct traces are the union of the sets that the shards left beside their files,
 * so they are counted, not estimated. The status to exit with. */
MUST_USE enum status merge_explored(struct text_pool *texts,
                                    struct json_input *inputs,
                                    size_t input_count,
                                    const char *json_or_null);

#endif
