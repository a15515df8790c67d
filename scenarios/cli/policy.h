/* How the seeds of a sweep draw order: by their own, by priority schedules (sim/search/pct.h), or some
 * in one way and some in the other. */
#ifndef SCENARIOS_CLI_POLICY_H
#define SCENARIOS_CLI_POLICY_H

#include "reports/records.h"
#include "scenarios/cli/options.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/scenario.h"
#include "sim/search/pct.h"

/* Set the scenario's policy as the options ask for it. The steps that change points are spread over
 * are the most that some trial runs make, so they are the scenario's and not the sweep's. STATUS_OK,
 * or STATUS_INTERNAL with a line on standard error. */
MUST_USE enum status policy_prepare(const struct options *options, struct scenario *scenario);

/* Whether a seed draws order by priorities. */
bool policy_is_pct(const struct scenario *scenario, uint64_t seed);

/* Fill the record of a sweep: how many runs by each, and what that is worth. */
void policy_report(const struct scenario_policy *policy,
                   const struct summary *summary,
                   struct report_run *run);

#endif
