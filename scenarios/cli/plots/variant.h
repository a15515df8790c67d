/* A scenario with some of its fields changed: what a sweep over an interval or a load is made of. */
#ifndef SCENARIOS_CLI_PLOTS_VARIANT_H
#define SCENARIOS_CLI_PLOTS_VARIANT_H

#include "scenarios/cli/session.h"

/* A field by its path, "engine.checkpoint.interval_ms", and its value as JSON; NULL takes it away. */
struct variant_change {
    const char *path;
    const char *json_or_null;
};

/* Read the scenario, change it, and make it. ERR_OK; ERR_INVALID, with a reason in *why that lives in
 * the session's texts, when the changed one is none. */
MUST_USE enum err variant_load(struct session *session,
                               const char *word,
                               const struct variant_change *changes,
                               size_t count,
                               struct scenario **scenario,
                               const char **why);

#endif
