/* Exemplars: of each behaviour mark that is rare in a sweep, the tape of the first run that reached
 * it. */
#ifndef SCENARIOS_CLI_SWEEP_EXEMPLARS_H
#define SCENARIOS_CLI_SWEEP_EXEMPLARS_H

#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/summary.h"

/* Keep them below DIR/exemplars of --out: a tape per run, and a list that says for each mark how many
 * runs reached it, and which tape shows it. The status is STATUS_NONDETERMINISM where a run does not
 * reach its mark again. */
enum status exemplars_keep(struct session *session,
                           const struct scenario *scenario,
                           const struct summary *summary);

#endif
