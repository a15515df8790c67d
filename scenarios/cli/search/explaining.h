/* Why a run fails, found by runs: what each choice of its tape is for, the event behind which nothing
 * saves it, and the nearest run that passes. The tape is a small one: shrunk before. */
#ifndef SCENARIOS_CLI_SEARCH_EXPLAINING_H
#define SCENARIOS_CLI_SEARCH_EXPLAINING_H

#include "reports/records.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/story/timeline.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "sim/search/explain.h"

struct explaining {
    /* set before explaining_start; the rest zeroed */
    struct text_pool *texts;
    struct reproducer *reproducer;
    const struct scenario *scenario;
    struct culprit culprit;
    uint64_t runs_max;    /* that the search may take; 0: EXPLAIN_RUNS */
    uint64_t deadline_ms; /* 0: none */
    struct progress *progress_or_null;
    /* read */
    struct tape tape; /* as its own run recorded it; entries in the texts */
    struct tape twin; /* of the nearest run that passes, if report.twin says so; the same */
    struct report_explanation report; /* all but found, minimal, command and times */
    uint64_t runs;                    /* made for all this */
    /* private */
    struct timeline timeline;
    struct explain_result found;
};

/* Run the tape: false when the culprit does not show in it. */
MUST_USE bool explaining_start(struct explaining *explaining, const struct tape *tape);

/* Look into it, and fill the report. */
void explaining_run(struct explaining *explaining);

/* Run a tape so that its journal can be read: it stands in the reproducer until the next run. */
const struct result *explaining_keep(struct explaining *explaining, const struct tape *tape);

/* The line of the journal that comes next when each choice of a tape is made, into the texts. The tape
 * is as its own run recorded it. */
const uint32_t *explaining_lines(struct explaining *explaining, const struct tape *tape);

#endif
