/* Parts of the records of runs, read back from JSON. What is not good is told, and is in
 * input->failed. */
#ifndef SCENARIOS_CLI_SWEEP_RUN_RECORDS_H
#define SCENARIOS_CLI_SWEEP_RUN_RECORDS_H

#include "reports/records.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/sweep/summary.h"

enum report_verdict run_record_verdict(struct json_input *input, json_t *object, const char *key);

/* The kind of subject by its text, as summary_subject writes it. */
uint8_t run_record_subject_kind(const char *subject);

/* A violation and what its details say beside it. */
void run_record_violation(struct json_input *input,
                          json_t *object,
                          json_t *detail,
                          struct report_violation *violation);

/* Add to *summary in how many runs each fault kind of the list fired. A bit for each kind listed. */
uint32_t run_record_kinds(struct json_input *input, json_t *list, struct summary *summary);

#endif
