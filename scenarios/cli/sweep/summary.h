/* What many runs of one scenario add up to, and what may be concluded from it (DESIGN section 5).
 * Plain values: a summary lies in memory shared between processes. Adding is associative, and
 * summaries taken in the order of seeds give the same sum however the seeds were cut. */
#ifndef SCENARIOS_CLI_SWEEP_SUMMARY_H
#define SCENARIOS_CLI_SWEEP_SUMMARY_H

#include "reports/records.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/sweep/behaviour.h"
#include "scenarios/cli/text.h"
#include "scenarios/scenario.h"

/* The oracles that no judge calls: a worker that died, and one that stood still. Their bits lie
 * above those of oracle_types. */
#define SUMMARY_ORACLE_CRASH 62
#define SUMMARY_ORACLE_HANG  63
#define SUMMARY_ORACLES_ALL  UINT64_MAX

#define SUMMARY_FINDING_MAX 64
#define SUMMARY_MARK_MAX    128

/* Below so many counted runs a sweep is a spot check: it asks for no kinds, crashes or marks. */
#define SPOT_CHECK_BELOW 500
/* Counted runs in which each fault kind of the menu must have fired: one in KIND_RUNS_SHARE of the
 * budget, but no more than KIND_RUNS and no fewer than one. */
#define KIND_RUNS       100
#define KIND_RUNS_SHARE 100

/* The first violation of an oracle on a kind of subject: at the lowest seed. */
struct summary_finding {
    uint64_t seed;
    uint64_t oracles; /* bit per oracle that the same run broke */
    uint64_t subject;
    uint8_t oracle;
    uint8_t subject_kind;
    char message[ORACLE_MESSAGE_SIZE];
};

struct summary {
    uint64_t runs;
    uint64_t counted; /* runs with a verdict in which something happened */
    uint64_t vacuous;
    uint64_t refused;
    uint64_t limited;
    uint64_t excused; /* counted, and some oracle could not judge */
    uint64_t violating;
    uint64_t events;
    uint64_t digest;     /* sum over runs */
    uint64_t completing; /* counted, with a completed checkpoint */
    uint64_t crash_runs; /* counted, with a crash and a restore */
    uint64_t pct_runs;   /* scheduled by priorities; of these the most: */
    uint32_t pct_chains; /* told apart */
    uint64_t crash_points_hit;
    uint64_t crash_points_seen;
    uint64_t kind_runs[FAULT_KIND_COUNT];
    struct behaviour behaviour; /* of counted runs */
    uint64_t limit_seed;
    char limit[ORACLE_MESSAGE_SIZE];
    char refusal[ORACLE_MESSAGE_SIZE];
    uint32_t finding_count;
    struct summary_finding findings[SUMMARY_FINDING_MAX];
};

/* A mark that an oracle's ok needs. */
struct summary_mark {
    const char *oracle;
    const struct mark *mark;
};

/* The marks that the oracles of a scenario name. */
struct summary_marks {
    uint32_t count;
    struct summary_mark items[SUMMARY_MARK_MAX];
};
void summary_marks_of(const struct run_config *config, struct summary_marks *marks);

/* Add a run. Returns the bits of the oracles it broke. */
uint64_t summary_add(struct summary *summary, uint64_t seed, const struct result *result);

/* Add a run that took its process with it: oracle is SUMMARY_ORACLE_CRASH or _HANG. */
void summary_add_lost(struct summary *summary, uint64_t seed, uint8_t oracle, const char *message);

/* What to say of such a run. signal: 0 when it left by itself. */
void summary_loss_message(char message[ORACLE_MESSAGE_SIZE],
                          bool is_hang,
                          int signal,
                          nanos hang_after);

/* Add a run that came to no verdict because a limit ended it. */
void summary_add_limit(struct summary *summary, uint64_t seed, const char *message);

/* Add a later summary. */
void summary_join(struct summary *summary, const struct summary *later);

/* Whether any run broke one of these oracles. */
bool summary_breaks(const struct summary *summary, uint64_t oracles);

/* The kinds of the menu that some site can offer here: the profile licenses an outcome of theirs,
 * and the job, its options and the services leave room for it. A bit per kind. */
uint32_t summary_kinds_offered(const struct run_config *config);

/* "exactly-once-write"; "crash"; and back: ERR_OK or ERR_NOT_FOUND. */
const char *summary_oracle_name(uint8_t oracle);
MUST_USE enum err summary_oracle_parse(const char *name, uint8_t *oracle);

/* The oracles that --stop-at names, which was checked: none, one, or all for "any". */
uint64_t summary_stop_oracles(const char *name_or_null);

/* "record 17". */
char *summary_subject(struct text_pool *texts, uint8_t subject_kind, uint64_t subject);

/* How a summary is judged. */
struct summary_demand {
    enum report_verdict expected;
    const char *expected_oracle; /* that must see an expected failure; empty: any */
    uint32_t kinds;              /* that can fire: summary_kinds_offered */
    const struct summary_marks *marks;
    const struct scenario *scenario_or_null; /* for its catalogue of marks */
    const struct report_count *must;         /* marks that it must reach, "scenario: mark" */
    size_t must_count;
    uint64_t must_after; /* in so many runs: its own number of seeds */
    uint64_t budget;     /* counted runs asked for; 0: at least half of those made */
    uint64_t oracles;    /* bits of those whose violations count; SUMMARY_ORACLES_ALL */
    bool one_run;        /* a tape, not a sweep: no coverage is asked for */
    bool is_claim;       /* asks for crashes and marks, too */
};

/* What a scenario asks for by itself: all of its oracles count. */
struct summary_demand summary_demand_of(const struct scenario *scenario,
                                        const struct summary_marks *marks);

/* Fill the record's counts, kinds, marks, shortfalls and verdict; texts go to the pool. The
 * violations are left to the caller. */
void summary_judge(const struct summary *summary,
                   const struct summary_demand *demand,
                   struct text_pool *texts,
                   struct report_run *run);

/* The exit status that a judged sweep asks for. */
enum status summary_status(const struct report_run *run);

#endif
