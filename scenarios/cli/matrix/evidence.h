/* What is behind the witness of a claim: why its run fails, its swim lanes, and those of a run that
 * passes. */
#ifndef SCENARIOS_CLI_MATRIX_EVIDENCE_H
#define SCENARIOS_CLI_MATRIX_EVIDENCE_H

#include "reports/matrix.h"
#include "scenarios/cli/matrix/trial.h"

/* Look into the record's witness; what is found lives in the session's texts. A witness that takes its
 * process with it has none. STATUS_OK; STATUS_NONDETERMINISM when it does not break the claim again;
 * STATUS_INTERNAL. */
MUST_USE enum status evidence_find(struct trial *trial, struct report_evidence *evidence);

#endif
