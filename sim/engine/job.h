/* The mini stream engine: sources, channels, tasks with the two halves of a sink, coordinator,
 * checkpoints, restarts, rescale (DESIGN section 4, rules C1 to C15 and FW1 to FW13).
 *
 * Layout of a job of S sources and P subtasks: each source feeds each subtask through a channel;
 * a subtask runs the writer and, chained on the same thread or on a task of its own, a committer.
 * A global committer is one task for all.
 */
#ifndef SIM_ENGINE_JOB_H
#define SIM_ENGINE_JOB_H

#include "sim/engine/store.h"
#include "sim/link.h"
#include "sim/world.h"
#include "sinks/sink.h"

#define JOB_SUBTASK_MAX 16
#define JOB_SOURCE_MAX  16
#define JOB_POLICY_NONE UINT32_MAX

enum job_routing {
    JOB_ROUTE_FORWARD = 0, /* split to subtask = split modulo parallelism */
    JOB_ROUTE_HASH,        /* by digest of the record's key */
    JOB_ROUTE_ROUND_ROBIN,
};

enum job_restart {
    JOB_RESTART_FIXED_DELAY = 0,
    JOB_RESTART_EXPONENTIAL, /* delay doubles from restart_delay up to restart_delay_max */
    JOB_RESTART_NONE,
};

/* What restarts when a part of the job fails. */
enum job_region {
    JOB_REGION_WHOLE = 0, /* all of it: any exchange connects all subtasks */
    JOB_REGION_SUBTASK,   /* a subtask with its source: source i feeds subtask i and no other */
};

/* How long the job is down after a crash; drawn as a class, scaled by the scenario's windows. */
enum job_downtime {
    DOWNTIME_SHORT = 0,     /* the restart delay */
    DOWNTIME_REQUEST,       /* past the request deadline of what is in flight */
    DOWNTIME_BEFORE_WINDOW, /* just inside the recovery window */
    DOWNTIME_AFTER_WINDOW,  /* just past the recovery window */
    DOWNTIME_AFTER_RELEASE, /* just past the latest release of names or streams */
    DOWNTIME_COUNT,
};

/* When the operator takes a savepoint; it takes the place of a checkpoint, once in a run. */
enum job_savepoint_at {
    JOB_SAVEPOINT_NEVER = 0,
    JOB_SAVEPOINT_DRAWN,  /* at any trigger, by choice; calm: never */
    JOB_SAVEPOINT_FIRST,  /* behind the first completed checkpoint */
    JOB_SAVEPOINT_MIDDLE, /* when half of the records are emitted */
    JOB_SAVEPOINT_LAST,   /* when all of them are */
};

enum job_savepoint_kind {
    JOB_SAVEPOINT_ONLY = 0, /* C8: completed, not notified, the job goes on */
    JOB_SAVEPOINT_STOP,     /* the job stops with it, and is resumed from it later */
};

/* Why a stop-with-savepoint whose commits ran does not reach FINISHED (15.5 of the sink protocols),
 * and what it goes on from. */
enum job_savepoint_failure {
    JOB_SAVEPOINT_FINISHES = 0,
    JOB_SAVEPOINT_AUTOMATIC,         /* falls back to the last checkpoint by itself */
    JOB_SAVEPOINT_MANUAL,            /* stops; an operator resumes it from the savepoint */
    JOB_SAVEPOINT_MANUAL_CHECKPOINT, /* stops; an operator resumes it from the last checkpoint */
    JOB_SAVEPOINT_FAILURE_DRAWN,     /* any of these, by choice */
};

struct job_savepoint {
    uint8_t at;      /* enum job_savepoint_at */
    uint8_t kind;    /* enum job_savepoint_kind */
    uint8_t failure; /* enum job_savepoint_failure; of a stop */
    nanos down;      /* until the job is resumed, unless a class of downtime is drawn */
};

enum job_barriers {
    JOB_BARRIERS_ALIGNED = 0,
    JOB_BARRIERS_AT_LEAST_ONCE, /* no channel waits: what is behind a barrier may get before it */
    JOB_BARRIERS_UNALIGNED,     /* a barrier overtakes records, which become channel state; one
                                   checkpoint at a time */
};

/* What a restore without state does with the source. */
enum job_stateless {
    JOB_STATELESS_NEVER = 0,
    JOB_STATELESS_BEGINNING,    /* from its beginning */
    JOB_STATELESS_OWN_POSITION, /* from the position that it committed itself at a notice */
};

/* How long a source keeps what it has emitted. */
enum job_source_keeps {
    JOB_SOURCE_KEEPS_ALL = 0,
    JOB_SOURCE_KEEPS_UNTIL_NOTICE, /* acknowledged when a checkpoint's notice arrives */
    JOB_SOURCE_KEEPS_UNTIL_BARRIER, /* acknowledged at the barrier: before the checkpoint completes */
};

/* What a source commits of its position by itself while there are no checkpoints to keep it. */
enum job_source_commits {
    JOB_SOURCE_COMMITS_NOTHING = 0, /* a restart begins at its beginning */
    JOB_SOURCE_COMMITS_AS_EMITTED, /* each record as it is emitted, wherever it has got to by then */
};

/* When a source emits a record. */
enum job_source_pace {
    JOB_SOURCE_STEADY = 0, /* an interval behind the one before, whatever held that back */
    JOB_SOURCE_ARRIVALS, /* records arrive at their own times, an interval apart from the start of the
                            job on, and those that are late are emitted as fast as they are taken */
};

struct job_config {
    const struct sink_type *sink;
    const struct sink_option_value *options;
    const struct sink_user *user;
    const struct sink_user
        *user_again_or_null;        /* of every attempt but the first, where it is another */
    struct sink_job facts;          /* what the sink is told of the job */
    const struct sink_half *policy; /* the failure policy machine */
    const struct source_log *log;
    uint32_t sources; /* source subtasks; splits are dealt out modulo */
    uint32_t subtasks;
    bool chained;              /* committer on the writer's thread */
    uint8_t routing;           /* enum job_routing */
    nanos record_interval;     /* between bursts of one source */
    uint32_t record_burst;     /* records per burst, at least 1 */
    uint32_t channel_capacity; /* records waiting per channel; 0: 16 */
    bool bounded;              /* input ends with the log */
    /* checkpoints */
    uint8_t barriers; /* enum job_barriers */
    bool checkpointing;
    nanos checkpoint_interval;
    nanos checkpoint_timeout;
    nanos checkpoint_duration; /* least time from a trigger to the completion: state on its way */
    nanos checkpoint_min_pause;
    uint32_t checkpoint_concurrent; /* 0: 1 */
    uint32_t checkpoint_retained;   /* 0: 1 */
    uint32_t checkpoint_failures_tolerated;
    bool checkpoint_aborts_count; /* an injected abort is a failure like a timeout */
    uint32_t commit_retries;      /* of RETRY_LATER; 0: 10 */
    /* restarts */
    uint8_t restart;           /* enum job_restart */
    uint8_t restart_region;    /* enum job_region; SUBTASK: as many sources as subtasks, forward
                                  routing, no global committer; neither rescale, savepoint, second
                                  sink nor restores without state or from an older checkpoint */
    uint32_t restart_attempts; /* restarts allowed after failures of the job's own making; an
                                  injected crash uses none up. UINT32_MAX unbounded */
    nanos restart_delay;
    nanos restart_delay_max;
    nanos detection_delay;          /* from a crash to its being noticed */
    nanos close_bound;              /* CLOSED must come within; 0: 180 s */
    uint32_t rescale_to[4];         /* parallelism offered at a restore; 0 ends the list */
    nanos downtime[DOWNTIME_COUNT]; /* length per class; 0: class not offered */
    bool zombies;                   /* lost contact leaves the old attempt running */
    struct job_savepoint savepoint;
    uint8_t stateless_restores; /* enum job_stateless: a restore may bring no state */
    bool allow_non_restored;    /* committer state that no operator takes is left behind */
    bool pieces_to_all; /* each subtask gets all pieces of writer state, as a list that is united
                                   and not split */
    const struct sink_type *next_sink_or_null; /* a restore may bring it; of the same service */
    const struct sink_option_value *next_options;
    uint8_t source_keeps;     /* enum job_source_keeps */
    uint8_t source_commits;   /* enum job_source_commits */
    uint8_t source_pace;      /* enum job_source_pace */
    bool source_renumbers;    /* a restore may find covered records behind the restored position */
    nanos source_retention;   /* what was emitted that long ago cannot be read again; 0: it can */
    bool older_restores;      /* an older retained checkpoint may be restored */
    nanos cpu_per_event;      /* virtual CPU time per event of a task */
    int64_t clock_offset_max; /* FAULT_CLOCK: size of the skew classes, ns */
    int64_t clock_jump;       /* FAULT_CLOCK: how far a clock jumps while the job runs; 0 never */
};

struct job;

/* What a job is doing, for the run loop. */
enum job_state {
    JOB_RUNNING = 0,
    JOB_DOWN,     /* between attempts */
    JOB_COMPLETE, /* all records emitted, covered, committed; nothing unfinished */
    JOB_FAILED,   /* terminal: no restart any more */
};

/* Create the job in the world's arena and schedule its start. link must deliver to job_answer. */
struct job *job_create(struct world *world, const struct job_config *config, struct store *store);
void job_attach_link(struct job *job, struct link *link);

/* The link's receiver; the context is the job. */
void job_answer(void *context, const struct link_answer *answer);

/* Handle an event of the engine's. */
void job_event(struct job *job, const struct sched_event *event);

/* Offer a crash here: after an event on node that left something durable or on the wire. */
void job_offer_crash(struct job *job, uint32_t node);

enum job_state job_state(const struct job *job);

/* The job is complete and no fault will come: no more checkpoints. Nothing when it has failed. */
void job_finish(struct job *job);

/* Halves of replaced attempts that still run. Each ends by itself. */
uint32_t job_zombies(const struct job *job);

/* Faults are over: notices that were lost stay lost, dead nodes come back at once, living
 * ones, zombies among them, are left as they are. */
void job_heal(struct job *job);

/* Attempts that were started after a crash. */
uint32_t job_crashes(const struct job *job);

/* Close every half and give back sinks' memory, for the leak check at the end of a run. */
void job_dispose(struct job *job);

extern const struct choice_site engine_sites[];
/* What each of their outcomes means, for people. */
extern const char *const *const engine_site_words[];
extern const size_t engine_site_count;

#endif
