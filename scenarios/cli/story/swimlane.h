/* Swim lanes from the journal of the run that a reproducer holds, which must have kept its trace. */
#ifndef SCENARIOS_CLI_STORY_SWIMLANE_H
#define SCENARIOS_CLI_STORY_SWIMLANE_H

#include "reports/timeline.h"
#include "scenarios/cli/sweep/reproducer.h"

struct swimlane_options {
    const char *title;
    const struct culprit *culprit; /* whose story it is */
    uint32_t last;                 /* line at which it ends; POSITION_END: the last one */
    const char *ending;            /* words for the end */
    uint32_t decisive;             /* line; UINT32_MAX: none */
    const uint32_t *choices;       /* lines that come next when the choices are made, ascending */
    uint32_t choice_count;
};

void swimlane_make(struct text_pool *texts,
                   struct reproducer *reproducer,
                   const struct swimlane_options *options,
                   struct report_timeline *timeline);

#endif
