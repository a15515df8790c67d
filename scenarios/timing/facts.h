/* Times that a scenario's settings imply when nothing fails, and when one thing does: what timing
 * constraints are made of. All of it is integer arithmetic on durations, saturating.
 *
 *   request   = 2 legs + service time + what the service adds
 *   drain     = of one commit: its requests / concurrency, rounded up, times the request; and no faster
 *               than the service's parallelism lets it be for all subtasks
 *
 * Checkpoints are walked through one after another, as the coordinator triggers them while the source
 * emits. The longest of each counts:
 *   spacing   = of triggers: the interval; or, where the next one has to wait for the one before, longer
 *   records   = between two barriers, per subtask, and of all
 *   wait      = of a barrier: of a staged sink for the commit before it, of one that sends as it writes
 *               for a burst's requests
 *   duration  = the configured one, or the wait
 *
 *   budget    = of one request: all attempts at their deadline, and each pause at its longest
 *   flush     = of a writer: the calls before its first request, the opening of its connection, the burst
 *   recovery  = detection + restart delay, or the longest downtime that the scenario offers; and the
 *               calls that an attempt makes before its first commit
 *
 *   earliest      = the configured duration, a leg to the service and its service time
 *   open          = spacing + duration
 *   wave          = the wait where one request of those waited for uses up its budget: of the data, of the
 *                   calls before it, or of the commit before the barrier
 *   first commit  = open + recovery + tail (until the last wave of a commit is sent, and what it asks before,
 *                   asked twice but for the last question)
 *   replay        = first commit + spacing: until the next checkpoint completes, a restore commits again
 *   repeat        = spacing + recovery; of a sink that sends as it writes also the duration
 *   reread        = open + recovery
 *
 * One failure at a time: the restart delay is that of a first failure, closing takes no time, and no
 * notice is lost. Of the classes of downtime "before_window" is left out, which adapts to the window.
 */
#ifndef SCENARIOS_TIMING_FACTS_H
#define SCENARIOS_TIMING_FACTS_H

#include "scenarios/scenario.h"

struct timing_facts {
    nanos request;
    nanos configured; /* duration of a checkpoint, as configured */
    nanos duration;
    nanos spacing;
    uint64_t records; /* between two barriers, per subtask */
    uint64_t records_of_all;
    nanos drain;
    nanos wait;
    nanos call;       /* a request that carries no data */
    nanos calling;    /* what a writer calls before its first request */
    nanos connecting; /* that, and the connection that the first request opens */
    nanos budget;
    nanos call_budget;   /* of one of those calls; 0: there is none */
    nanos commit_budget; /* of a committer's request */
    nanos outage;        /* of the budget: until the last attempt is sent */
    nanos call_outage;   /* of the call's budget; 0: as the other */
    nanos wave;          /* a barrier's longest wait where a request uses up its budget */
    nanos recovery;
    nanos opening; /* of recovery */
    nanos tail;
    nanos earliest;
    nanos open;
    nanos first_commit;
    nanos replay;
    nanos repeat;
    nanos reread;
    nanos clock_error;
    bool staged;
};

void timing_facts_of(const struct scenario *scenario, struct timing_facts *facts);

/* The value of a fact that constraints are made of; not of OPTION. */
nanos timing_fact(const struct scenario *scenario,
                  const struct timing_facts *facts,
                  enum sink_timing_fact fact);

#endif
