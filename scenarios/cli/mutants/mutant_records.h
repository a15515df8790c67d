/* What a run of mutants left as JSON, read back. */
#ifndef SCENARIOS_CLI_MUTANTS_MUTANT_RECORDS_H
#define SCENARIOS_CLI_MUTANTS_MUTANT_RECORDS_H

#include "reports/records.h"
#include "scenarios/claims/claims.h"
#include "scenarios/cli/json_input.h"

/* One object of "mutants"; what is not good is told, and is in input->failed. */
void mutant_record_read(struct json_input *input, json_t *object, struct report_mutant *record);

/* Zeroed: none. */
struct mutant_records {
    const struct report_mutant *items;
    size_t count;
};

/* Read a whole file; its texts go to the pool. STATUS_OK, or STATUS_USAGE with a line on standard
 * error. */
MUST_USE enum status
mutant_records_read(struct text_pool *texts, const char *path, struct mutant_records *records);

/* The names of the mutants that were killed on a scenario of the claim by an oracle of the claim, into
 * the texts; *count: how many there are. */
const char *const *mutant_records_killed(const struct mutant_records *records,
                                         const struct claim *claim,
                                         struct text_pool *texts,
                                         uint32_t *count);

#endif
