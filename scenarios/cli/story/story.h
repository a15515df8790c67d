/* The story of a finding: of the journal of its run, the lines about its subject, what befell the job,
 * and the event that decided. */
#ifndef SCENARIOS_CLI_STORY_STORY_H
#define SCENARIOS_CLI_STORY_STORY_H

#include "scenarios/cli/sweep/reproducer.h"

#define STORY_LINES 80u /* the last of them; the decisive one is always there */

/* Write the story of what the reproducer's last run found, which kept its trace: a line per event, each
 * with its end. *decisive is the number of the line that decided, from 1, or 0. */
void story_write(const struct reproducer *reproducer,
                 const struct finding *finding,
                 struct byte_writer *writer,
                 uint32_t *decisive);

#endif
