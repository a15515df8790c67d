/* The columns of swim lanes, and what their rows say: shorter than a line of the journal. */
#ifndef SCENARIOS_CLI_STORY_SWIMLANE_WORDS_H
#define SCENARIOS_CLI_STORY_SWIMLANE_WORDS_H

#include "scenarios/cli/sweep/reproducer.h"

/* The source, each subtask with all its halves, the coordinator, each service, and what is outside. */
struct swimlane_columns {
    const char *const *names;
    uint32_t count;
    uint32_t subtask_first;
    uint32_t subtask_count;
    uint32_t coordinator;
    uint32_t service_first;
    uint32_t service_count;
};

/* For the lanes in the first lines of the journal. */
void swimlane_columns_make(struct text_pool *texts,
                           const struct reproducer *reproducer,
                           uint32_t lines,
                           struct swimlane_columns *columns);

uint32_t swimlane_column(const struct swimlane_columns *columns, lane who);
uint32_t swimlane_service_column(const struct swimlane_columns *columns, uint32_t service);

/* What a line of the journal tells. */
const char *
swimlane_words(struct text_pool *texts, struct reproducer *reproducer, uint32_t position);

#endif
