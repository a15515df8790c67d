/* One scenario over a range of seeds, in worker processes. */
#ifndef SCENARIOS_CLI_SWEEP_SWEEP_H
#define SCENARIOS_CLI_SWEEP_SWEEP_H

#include "scenarios/cli/progress.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/sweep/summary.h"

struct sweep_options {
    const struct scenario *scenario;
    struct seed_range seeds;
    struct shard shard;
    uint32_t jobs;
    nanos duration; /* hand out seeds for so long; 0: all of the range */
    nanos hang_after;
    uint64_t stop_oracles; /* end behind the first seed that breaks one of these; 0: never */
    bool tape;             /* the scenario's own tape, once, instead of seeds */
    struct progress *progress_or_null;
};

struct sweep {
    struct summary summary;
    struct summary_marks marks;
    uint64_t seeds_taken; /* of this shard */
    uint64_t last_seed;   /* taken; the range's first if none was */
    uint64_t elapsed_ms;
    uint64_t last_digest;              /* of the run with the last seed */
    struct choice_alignment alignment; /* of the tape's run */
};

/* Make the runs. ERR_OK, ERR_SYSTEM (no processes), ERR_LIMIT (no memory for runs). The result
 * depends on scenario, range, shard and stop_oracles only, unless a duration is given or a run
 * hangs: behind the eighth hang the sweep ends. */
MUST_USE enum err sweep_run(const struct sweep_options *options, struct sweep *sweep);

#endif
