/* The names of the scenarios that come with the product. */
#ifndef SCENARIOS_CLI_SCENARIO_NAMES_H
#define SCENARIOS_CLI_SCENARIO_NAMES_H

#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"

/* "cloudtasks/exactly-once" and so on, in the order of folders and files; they live in the pool.
 * STATUS_OK, or STATUS_USAGE with a line on standard error. */
MUST_USE enum status
scenario_names(struct text_pool *texts, const char *const **names, size_t *count);

#endif
