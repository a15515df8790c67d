/* A scenario's runs, measured: each in a process of its own, for a sink that was brought may take it
 * along. */
#ifndef SCENARIOS_CLI_PLOTS_PROBE_H
#define SCENARIOS_CLI_PLOTS_PROBE_H

#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/measure.h"

struct probe {
    struct reproducer *reproducer;
    struct measure *measure;
    uint64_t digest; /* read: of the last run */
};

/* NULL memory is told by false. The scenario is borrowed. */
MUST_USE bool probe_open(struct probe *probe, const struct scenario *scenario);
void probe_close(struct probe *probe);

/* Make a run and read its journal into probe->measure. False when it came to no end of its own: a crash,
 * a hang, a limit, a refusal; then *why says which. */
MUST_USE bool probe_run(struct probe *probe, const struct run_request *request, const char **why);

/* A request for the calm run: no fault, first in, first out, least delay. */
struct run_request probe_calm_request(void);

#endif
