/* One run at a time, in memory that outlives the process it is made in: of a run that crashed or
 * hung, what it had drawn until then can still be read. */
#ifndef SCENARIOS_CLI_SWEEP_REPRODUCER_H
#define SCENARIOS_CLI_SWEEP_REPRODUCER_H

#include "scenarios/cli/text.h"
#include "scenarios/scenario.h"
#include "sim/search/pct.h"
#include "sim/tape.h"

struct reproducer;

/* Memory for runs of a scenario, which is borrowed. NULL when there is none. */
struct reproducer *reproducer_create(const struct scenario *scenario);

/* The same for many runs in this process, none of them guarded: faster. */
struct reproducer *reproducer_create_alone(const struct scenario *scenario);
void reproducer_destroy(struct reproducer *reproducer);

const struct scenario *reproducer_scenario(const struct reproducer *reproducer);

/* What to ask for to run a seed, or a tape. */
struct run_request reproducer_seed_request(const struct scenario *scenario, uint64_t seed);
struct run_request reproducer_tape_request(const struct tape *tape);

/* Run in this process. The result stands until the next run. A seed draws order as the scenario's
 * policy says. */
const struct result *reproducer_run(struct reproducer *reproducer,
                                    const struct run_request *request);

/* Run a tape in this process and list its single deviations from a draw on, as deviations_list
 * (sim/search/deviation.h) does. */
uint32_t reproducer_deviations(struct reproducer *reproducer,
                               const struct tape *tape,
                               uint32_t from,
                               struct tape_entry *entries,
                               uint32_t capacity);

/* Run in a process of its own, killed after a while (0: never). */
enum reproducer_end {
    REPRODUCER_DONE = 0,
    REPRODUCER_CRASHED, /* *detail: the signal; 0: it left by itself */
    REPRODUCER_HUNG,
    REPRODUCER_NO_PROCESS,
};
enum reproducer_end reproducer_run_guarded(struct reproducer *reproducer,
                                           const struct run_request *request,
                                           nanos hang_after,
                                           int *detail);

/* Two runs in one process, so that what a sink keeps outside its state shows in the second. Their
 * digests may be read when it is REPRODUCER_DONE. */
enum reproducer_end reproducer_run_twice_guarded(struct reproducer *reproducer,
                                                 const struct run_request requests[2],
                                                 nanos hang_after,
                                                 uint64_t digests[2]);

/* The schedule of the last run; NULL when it had none. */
const struct pct *reproducer_pct(const struct reproducer *reproducer);

/* After a run, the world it left, or NULL when the sink refused; whole tape; a line on an event of
 * its journal. */
const struct world *reproducer_world(const struct reproducer *reproducer);
const struct result *reproducer_result(const struct reproducer *reproducer);
struct tape reproducer_recorded(const struct reproducer *reproducer);
struct journal_names reproducer_names(const struct reproducer *reproducer);
void reproducer_describe(const struct reproducer *reproducer,
                         uint32_t position,
                         struct byte_writer *writer);

#define CULPRIT_ANY_RECORD UINT64_C(0) /* no record has this number */

/* What a run is to break again while its tape is changed. */
struct culprit {
    uint8_t oracle; /* index into oracle_types, or SUMMARY_ORACLE_CRASH */
    uint8_t subject_kind;
    uint64_t subject; /* must be the same for records; what else a name stands for changes with the
                         attempt that made it */
};

/* The culprit of a finding. */
struct culprit culprit_of_finding(const struct result_finding *found);

/* Whether two are one: as culprit_find compares them. */
bool culprit_is(const struct culprit *culprit, const struct result_finding *found);

/* Run a tape, in a process of its own if the culprit takes its process: does it show the culprit? */
bool reproducer_shows(struct reproducer *reproducer,
                      const struct run_request *request,
                      const struct culprit *culprit,
                      nanos hang_after);

/* The finding that is the culprit's, or NULL. */
const struct finding *culprit_find(const struct culprit *culprit, const struct result *result);

#endif
