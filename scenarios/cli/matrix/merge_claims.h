/* merge: the shards of a matrix. */
#ifndef SCENARIOS_CLI_MATRIX_MERGE_CLAIMS_H
#define SCENARIOS_CLI_MATRIX_MERGE_CLAIMS_H

#include "scenarios/cli/json_input.h"
#include "scenarios/cli/session.h"

/* Join the files' claims to what one matrix would have left, byte for byte: table, JSON, Markdown and
 * page. What stands behind a witness is looked for again, in runs of its tape; so files of another
 * version are refused, and a sink that the matrix was given must be given here, too. The status to exit
 * with. */
MUST_USE enum status
merge_claims(struct session *session, struct json_input *inputs, size_t input_count);

#endif
