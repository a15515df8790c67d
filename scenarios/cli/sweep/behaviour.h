/* Which behaviour marks many runs reached, how often, and where first. Plain values, part of a
 * summary: adding is associative. */
#ifndef SCENARIOS_CLI_SWEEP_BEHAVIOUR_H
#define SCENARIOS_CLI_SWEEP_BEHAVIOUR_H

#include "reports/records.h"
#include "scenarios/cli/text.h"
#include "scenarios/marks.h"
#include "scenarios/scenario.h"

struct behaviour {
    uint64_t runs[MARKS_COUNT];       /* by place: runs that reached it */
    uint64_t first_seed[MARKS_COUNT]; /* the lowest of these runs' */
};

void behaviour_add(struct behaviour *behaviour, uint64_t seed, const struct marks *marks);
void behaviour_join(struct behaviour *behaviour, const struct behaviour *later);

/* A mark is rare when fewer than one in BEHAVIOUR_RARE counted runs reach it, and one does. */
#define BEHAVIOUR_RARE 100u
static inline bool
behaviour_is_rare(const struct behaviour *behaviour, uint32_t place, uint64_t counted)
{
    const uint64_t runs = behaviour->runs[place];
    return runs > 0 && runs < (counted + BEHAVIOUR_RARE - 1) / BEHAVIOUR_RARE;
}

/* Of each mark that the scenario must reach, how many runs did: "scenario: link.paused". */
const struct report_count *behaviour_must(const struct behaviour *behaviour,
                                          const struct scenario *scenario,
                                          struct text_pool *texts,
                                          size_t *count);

/* Put marks in the order of reports: by name, pairs behind the others. */
void behaviour_sort(struct report_mark *marks, size_t count);

/* Fill the part of the record on marks: the scenario's catalogue, where faults of these kinds (a bit
 * each) may fire. */
void behaviour_report(const struct behaviour *behaviour,
                      const struct scenario *scenario,
                      uint32_t kinds,
                      struct text_pool *texts,
                      struct report_run *run);

#endif
