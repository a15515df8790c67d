/* What is behind the witness of a claim: why its run fails, its swim lanes, and those of a run that
 * passes. */
#ifndef SCENARIOS_CLI_MATRIX_EVIDENCE_H
#define SCENARIOS_CLI_MATRIX_EVIDENCE_H

#include "reports/matrix.h"
#include "scenarios/cli/session.h"

/* Look into a record's witness: all that is needed stands in the record, so that one which was read from
 * a file will do. What is found lives in the session's texts. A witness that takes its process with it
 * has none. STATUS_OK; STATUS_NONDETERMINISM when it does not break the claim again; STATUS_INTERNAL. */
MUST_USE enum status evidence_find(struct session *session,
                                   const struct report_claim *claim,
                                   struct report_evidence *evidence);

#endif
