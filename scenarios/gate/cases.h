/* Cases of the decision rule, as data: the published data sets with the verdicts that they were given
 * (13.8), and the boundaries and refusals that the claims PD-1 to PD-14 are about. A case brings its
 * figures along, or names a cell that is simulated. */
#ifndef SCENARIOS_GATE_CASES_H
#define SCENARIOS_GATE_CASES_H

#include "reports/gate.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"

/* Judge the published data sets into a report. STATUS_OK, or STATUS_USAGE with a line on standard
 * error when the files are not good. */
MUST_USE enum status cases_published(struct text_pool *texts, struct report_gate *report);

/* Judge one case by its id: *record is filled. jobs: processes for what is simulated. The same, and
 * STATUS_USAGE for an id that there is not. */
MUST_USE enum status cases_judge(struct text_pool *texts,
                                 const char *id,
                                 uint32_t jobs,
                                 struct report_gate_case *record);

/* Judge every case of a file. */
MUST_USE enum status cases_judge_file(struct text_pool *texts,
                                      const char *path,
                                      uint32_t jobs,
                                      struct report_gate_case **records,
                                      size_t *count);

#endif
