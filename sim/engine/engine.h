/* Inside of the engine: its objects and how its files call each other. Not for outside use.
 *
 *   job.c          lives of the job: start, stop, restart, completion
 *   start.c        what a start brings, and to whom
 *   region.c       restarts of a part of the job
 *   crash.c        crashes, and processes that fall silent
 *   source.c       sources, channels, barrier alignment
 *   half.c         the host of one half of a sink: events in, effects out
 *   task.c         a subtask's thread: what may be delivered when
 *   committer.c    the committer's collection (rules C1 to C6)
 *   barrier.c      barriers that do not wait for each other
 *   coordinator.c  checkpoints and notices
 *   restart.c      restarts that change the sink, bring no state, or find the source shorter
 *   moment.c       what is going on when a fault fires
 *   savepoint.c    savepoints, stop-with-savepoint and how it fails
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "sim/engine/job.h"

/* What an engine event is about: low byte of its kind. Payload a is the object's number, b extra. */
enum engine_event {
    ENGINE_NONE = 0,
    ENGINE_START,         /* a: attempt */
    ENGINE_EMIT,          /* a: attempt, b: source */
    ENGINE_BARRIER,       /* a: attempt, b: source | checkpoint << 32 */
    ENGINE_TASK_OPEN,     /* a: attempt, b: task */
    ENGINE_TASK_RUN,      /* a: attempt, b: task: deliver the next thing that may be delivered */
    ENGINE_COMMITTER_RUN, /* a: attempt, b: committer: same for a committer on its own node */
    ENGINE_TIMER,         /* a: half */
    ENGINE_MORE,          /* a: half */
    ENGINE_TICK,          /* a: attempt: trigger a checkpoint if due */
    ENGINE_COMPLETE,      /* a: attempt, b: checkpoint whose parts have all arrived */
    ENGINE_TIMEOUT,       /* a: attempt, b: checkpoint */
    ENGINE_NOTICE,        /* a: attempt, b: listener | checkpoint << 32 */
    ENGINE_NOTICED,       /* a: attempt, b: packed stop: a crash is noticed */
    ENGINE_CLOSE,         /* a: half */
    ENGINE_CLOSE_BOUND,   /* a: half */
    ENGINE_ZOMBIE_END,    /* a: half */
    ENGINE_SILENT,        /* a: attempt, b: half: its process is paused and missed its heartbeats */
    ENGINE_REGION_START,  /* a: attempt of the job, b: region */
    ENGINE_REGION_NOTICED, /* a: attempt of the region, b: region: its crash is noticed */
};

enum half_role {
    HALF_WRITER = 0,
    HALF_COMMITTER,
    HALF_POLICY,
};

/* One life of one half. Lives accumulate in job->halves; number is the index + 1 and is the link's
 * sender handle. */
struct half {
    struct job *job;
    struct region *region;
    const struct sink_half *type;
    void *state;
    struct sink_env env;
    uint32_t number;
    uint32_t node;
    uint32_t subtask;
    uint16_t attempt;
    lane lane;
    uint8_t role; /* enum half_role */
    bool of_next_sink;
    /* half_is_idle asks for all of these: as bits of one word, which is one comparison. */
    unsigned opened : 1;
    unsigned busy : 1;
    unsigned barrier_open : 1;
    unsigned record_open : 1; /* a record without an answer */
    unsigned commit_running : 1;
    unsigned close_due : 1; /* CLOSE is on its way */
    unsigned failed : 1;
    unsigned gone : 1; /* closed, crashed or forced: no step any more */
    bool closing;      /* CLOSE was told */
    bool closed;       /* CLOSED was said in the step that is carried out */
    bool zombie;
    uint64_t barrier; /* checkpoint being answered */
    record_id record; /* of record_open */
    struct choice_nonces nonces;
    uint64_t request_highest; /* that it sent; greater ones are new */
    nanos silent_until;       /* end of the pause that the job watches; 0 none */
    sched_handle timer;
    sched_handle more;
    sched_handle close_bound;
    struct half *peer_or_null; /* of a writer its policy, of a policy its writer */
    struct task *task_or_null;
    struct committer *committer_or_null; /* of a committer half */
};

/* One item of a channel: kind in the high byte. */
typedef uint64_t channel_item;
enum channel_item_kind {
    ITEM_NONE = 0,
    ITEM_RECORD,  /* record id */
    ITEM_BARRIER, /* checkpoint */
    ITEM_END,
};

struct channel {
    channel_item *ring;
    uint32_t capacity; /* power of two */
    uint32_t head;
    uint32_t count;
    uint32_t barrier; /* at least once: highest that was read */
    uint32_t awaits;  /* unaligned: the barrier that is still to come behind what it overtook */
    bool ended;
};

struct source {
    uint32_t index;
    uint32_t node;
    uint16_t attempt;
    uint32_t task_first; /* of those that it feeds */
    uint32_t task_end;
    uint32_t next_split; /* rotation */
    bool end_sent;
    bool blocked; /* waits for room in a channel */
    bool stopped; /* behind the barrier of a stop-with-savepoint: emits nothing any more */
    sched_handle emit;
};

/* What waits for a committer: an envelope or a barrier from one subtask. */
struct edge_item {
    const struct stored_request *request_or_null;
    uint32_t subtask; /* writer of a global committer, else 0 */
    uint32_t checkpoint;
};

struct committer {
    struct half *half;
    struct job *job;
    struct region *region;
    uint32_t index;
    struct task *task_or_null;              /* chained with this task's writer */
    uint32_t writers;                       /* that feed it */
    const struct stored_request **requests; /* collection, in order of checkpoint and arrival */
    uint32_t request_count;
    uint32_t request_capacity;
    struct edge_item *edge; /* of a committer that is not chained */
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint32_t edge_head;
    uint32_t barriers_seen[JOB_SUBTASK_MAX]; /* highest barrier of each writer */
    uint32_t notice;                         /* highest noticed checkpoint not yet handled */
    uint32_t noticed;                        /* highest handled */
    uint32_t restored; /* commit all up to this checkpoint before input; 0 done */
    /* the commit that runs */
    struct sink_commit_request *running;
    uint8_t *signals;
    uint32_t running_count;
    uint32_t running_checkpoint;
    uint32_t tries;
    bool run_scheduled;
    bool telling; /* CHECKPOINT_COMPLETE was told for the notice */
};

#define TASK_MAIL_MAX 64

/* Verdicts of the policy on their way to the writer. */
struct task_mail {
    uint8_t kind; /* enum sink_event_kind */
    uint64_t token;
    uint32_t reason;
};

struct task {
    struct job *job;
    struct region *region;
    uint32_t source_first; /* of those that feed it */
    uint32_t source_end;
    uint32_t index;
    uint32_t node;
    uint16_t attempt;
    struct half *writer;
    struct half *policy;
    struct committer *committer_or_null; /* chained, or the one it feeds */
    struct channel *channels;            /* one per source */
    uint32_t channel_turn;
    bool run_scheduled;
    bool running; /* both halves and restored commits are through: input flows */
    bool end_delivered;
    bool ended; /* its writer has closed behind the end of input, while the job goes on (FW8) */
    uint32_t notice; /* highest notice the writer still has to get */
    uint32_t noticed;
    uint32_t aborted; /* highest aborted checkpoint that the writer still has to hear of; 0 none */
    uint32_t last_barrier;
    uint32_t arrived;          /* unaligned: highest barrier that reached a channel */
    uint32_t overtook;         /* unaligned: highest that was delivered */
    uint32_t awaited;          /* unaligned: channels whose barrier overtook is still to come */
    struct sink_piece *pieces; /* restored */
    uint32_t piece_count;
    struct task_mail mails[TASK_MAIL_MAX];
    uint32_t mail_head;
    uint32_t mail_count;
};

/* A checkpoint under way. */
struct pending_checkpoint {
    struct stored_checkpoint *stored;
    uint64_t *positions; /* of stored, still being written */
    uint32_t parts_missing;
    nanos triggered_at;
    sched_handle timeout;
    bool completing;
};

#define CHECKPOINT_PENDING_MAX 4

enum stop_state {
    STOP_NONE = 0,
    STOP_NOTICING, /* a crash happened and is not noticed yet */
    STOP_CLOSING,  /* halves are being closed */
    STOP_DOWN,     /* waiting for the start */
};

/* What restarts together: all of the job, or a subtask with its source (region.c). The whole job
 * stops and starts by itself; then regions have nothing to say. */
struct region {
    uint16_t attempt;
    uint8_t stop; /* enum stop_state; NONE while the whole job stops */
    uint8_t stop_cause;
    uint32_t restored; /* checkpoint that its state is from; 0 none */
    uint32_t closes_open;
    sched_handle start;
    nanos down_until;
    nanos zombie_for;
};

struct job {
    struct world *world;
    const struct job_config *config;
    struct store *store;
    struct link *link;
    struct allocator allocator;
    uint32_t coordinator_node;
    uint32_t source_nodes[JOB_SOURCE_MAX];
    uint32_t task_nodes[JOB_SUBTASK_MAX];
    uint32_t committer_nodes[JOB_SUBTASK_MAX];
    /* all lives of halves; index + 1 is the number */
    struct half **halves;
    uint32_t half_count;
    uint32_t half_capacity;
    struct sink_effects effects[2]; /* of the half that steps, and of its policy; job_effects */
    /* the attempt */
    uint16_t attempt;       /* highest: of the job or of a region */
    uint16_t started;       /* attempt of the job as a whole */
    struct region *regions; /* one for all, or one for each subtask */
    uint32_t region_count;
    uint32_t subtasks;
    uint32_t restored; /* checkpoint, 0 none */
    uint32_t given_up; /* the latest completed checkpoint when another one was restored */
    uint32_t older;    /* what is restored as long as given_up is still the latest */
    const struct sink_type *sink; /* that runs: config->sink, or the next one */
    const struct sink_option_value *options;
    uint8_t started_from;          /* enum start_from */
    uint32_t left;                 /* checkpoint whose state this start gives up; 0 none */
    uint64_t *own_positions;       /* per split: committed by the source itself */
    uint64_t *kept_from;           /* per split: what the source has acknowledged is before it */
    int8_t jumped[WORLD_NODE_MAX]; /* per node: clock jumps forward less those back */
    bool sources_dead;             /* all processes died: no source acknowledges anything */
    nanos *emitted_at; /* per record, when it was first emitted; NULL without retention */
    /* savepoints */
    bool savepoint_taken;
    uint8_t stop_failure; /* enum job_savepoint_failure, of stopping */
    uint8_t stop_class;   /* enum job_downtime + 1, drawn for the resume; 0 as planned */
    uint32_t stopping;    /* the stop-with-savepoint under way; 0 none */
    uint32_t resume_from; /* savepoint that the next attempt restores; 0 none */
    uint32_t submissions;
    struct bytes job_id; /* of the latest submission */
    struct source *sources;
    struct task *tasks;
    struct committer *committers;
    uint32_t committer_count;
    uint64_t *positions;   /* per split: next to emit */
    uint32_t emitted_left; /* records not emitted */
    /* checkpoints */
    struct pending_checkpoint pending[CHECKPOINT_PENDING_MAX];
    uint32_t pending_count;
    uint32_t piece_capacity[CHECKPOINT_PENDING_MAX];
    bool tick_missed;
    nanos last_completed_at;
    sched_handle tick;
    bool coordinator_dead; /* it crashed: no checkpoint, no notice until the next attempt */
    uint32_t failures;     /* since the last completed checkpoint */
    uint32_t covering;     /* completed checkpoint that covers the whole log; 0 none */
    /* stopping */
    uint8_t stop;       /* enum stop_state */
    uint8_t stop_cause; /* enum stop_cause */
    uint32_t stop_reason;
    uint32_t closes_open;
    sched_handle start;
    nanos down_until; /* earliest start after an injected downtime */
    nanos zombie_for; /* life of zombies after the restart; 0 none */
    uint32_t restarts;
    uint32_t crashes; /* attempts that were started after a crash */
    bool failed;
    bool healed;
    bool finished;           /* complete and told so: no more checkpoints */
    bool chained;            /* committers run on their writers' threads */
    uint32_t crashes_wanted; /* outcomes of engine.crash that the config offers; 0 not yet known */
};

/* half.c */
struct half *half_create(struct job *job,
                         const struct sink_half *type,
                         enum half_role role,
                         uint32_t node,
                         uint32_t subtask);
void half_step(struct half *half, const struct sink_event *event);
void half_tell(struct half *half, enum sink_event_kind kind, uint64_t checkpoint);
void half_kill(struct half *half);  /* no step any more; memory given back; link forgets it */
void half_close(struct half *half); /* sends CLOSE by an event of its own */
/* May get a record, barrier, notice, commit. */
static inline bool half_is_idle(const struct half *half)
{
    return half->opened && !half->busy && !half->barrier_open && !half->record_open &&
           !half->commit_running && !half->close_due && !half->failed && !half->gone;
}
void half_broke(struct half *half, enum contract_rule rule, uint64_t detail);
void half_event(struct half *half, enum engine_event what);

/* task.c */
void task_create(struct job *job, uint32_t index);
void task_open(struct task *task);
void task_schedule(struct task *task); /* run soon if there is something to deliver */
void task_run(struct task *task);
void task_progress(struct task *task); /* after a step: opening, schedule */
void task_barrier_done(struct task *task, uint64_t checkpoint);
/* A writer or a policy has closed while the job goes on (FW8). */
void task_half_ended(struct task *task);
void task_stage(struct task *task, struct sink_committable *first);
void task_mail(struct half *policy, enum sink_event_kind kind, uint64_t token, uint32_t reason);
bool task_take_mail(struct task *task, struct sink_event *event); /* false when there is none */
bool task_is_idle(const struct task *task); /* may get a delivery, and has none */
bool task_is_done(const struct task *task); /* the same at the end of its input */

/* source.c */
void source_create(struct job *job, uint32_t index);
void source_emit(struct source *source, struct job *job);
void source_barrier(struct source *source, struct job *job, uint32_t checkpoint);
void source_wake(struct job *job, uint32_t index);
static inline bool channel_is_empty(const struct channel *channel)
{
    return channel->count == 0;
}
bool channel_has_barrier_room(const struct channel *channel); /* for one more under way */
static inline channel_item channel_head(const struct channel *channel)
{
    CHECK(channel->count > 0);
    return channel->ring[channel->head];
}
channel_item channel_pop(struct channel *channel);
void channel_init(struct channel *channel, struct job *job);
void channel_push(struct channel *channel, channel_item item);
void channel_reserve(struct channel *channel, struct job *job, uint32_t more);
uint32_t source_route(const struct job *job, uint32_t record_index); /* subtask */
#define ITEM(kind, value) (((uint64_t)(kind) << 56) | (uint64_t)(value))
#define ITEM_KIND(item)   ((uint32_t)((item) >> 56))
#define ITEM_VALUE(item)  ((uint32_t)(item))

/* barrier.c */
bool barrier_pass(struct task *task,
                  struct channel *channel,
                  uint32_t checkpoint); /* reached all */
void barrier_arrive(struct task *task, uint32_t source, uint32_t checkpoint);
void barrier_overtake(struct task *task);
void barrier_restore(struct job *job,
                     const struct stored_checkpoint *stored,
                     uint32_t subtask_first,
                     uint32_t subtask_end);
static inline bool barrier_is_to_overtake(const struct task *task)
{
    return UNLIKELY(task->arrived > task->overtook);
}

/* committer.c */
void committer_create(struct job *job, uint32_t index);
void committer_open(struct committer *committer);
void committer_schedule(struct committer *committer);
void committer_run(struct committer *committer);       /* event of a committer on its own node */
bool committer_step_once(struct committer *committer); /* start what may start; true if it did */
static inline bool committer_has_work(const struct committer *committer)
{
    return committer->restored > 0 || committer->edge_head < committer->edge_count ||
           committer->notice > committer->noticed;
}
void committer_receive(struct committer *committer, const struct stored_request *request);
void committer_restore(struct committer *committer, const struct stored_collection *collection);
void committer_edge(struct committer *committer,
                    uint32_t writer,
                    const struct stored_request *request_or_null,
                    uint32_t checkpoint);
void committer_snapshot(struct committer *committer, uint32_t checkpoint);
void committer_notice(struct committer *committer, uint32_t checkpoint);
void committer_returned(struct committer *committer);
void committer_signal(struct committer *committer, uint32_t request, uint8_t how);

/* coordinator.c */
void coordinator_start(struct job *job);
void coordinator_tick(struct job *job);
void coordinator_part(struct job *job, uint32_t checkpoint); /* one part arrived */
/* Number of the one checkpoint of batch mode, which holds what all writers staged (FW8). */
uint32_t coordinator_stage(struct job *job);
void coordinator_complete_event(struct job *job, uint32_t checkpoint);
void coordinator_timeout(struct job *job, uint32_t checkpoint);
void coordinator_notice_event(struct job *job, uint32_t number, uint32_t checkpoint);
void coordinator_stop(struct job *job);                          /* abort what is under way */
void coordinator_abort(struct job *job, enum abort_cause cause); /* the same, and go on */
void coordinator_in_flight(struct job *job, uint32_t checkpoint, struct stored_in_flight record);
void coordinator_piece(struct job *job, uint32_t checkpoint, uint32_t subtask, struct bytes piece);
struct pending_checkpoint *coordinator_pending(struct job *job, uint32_t checkpoint);
const struct region *coordinator_listener_region(const struct job *job, uint32_t number);

/* restart.c */
void restart_init(struct job *job);
void restart_use_sink(struct job *job,
                      const struct sink_type *sink,
                      const struct sink_option_value *options);
void restart_submit(struct job *job); /* it runs under another id from the next attempt on */
uint32_t restart_offers(const struct job *job); /* outcomes of engine.restore of this file */
void restart_take(struct job *job, uint32_t outcome);
bool restart_is_matched(const struct job *job); /* all that is restored has an operator */
struct stored_checkpoint restart_taken(const struct job *job,
                                       const struct stored_checkpoint *stored);
void restart_note_left(struct job *job); /* what nobody takes */
void restart_positions(struct job *job, const struct stored_checkpoint *stored_or_null);
void restart_source_positions(struct job *job,
                              uint32_t source,
                              const struct stored_checkpoint *stored_or_null);
void restart_acknowledge(struct job *job, uint32_t source, const uint64_t *positions);
void restart_notice(struct job *job, uint32_t source, uint32_t checkpoint);
static inline bool restart_is_next_sink(const struct job *job)
{
    return job->sink != job->config->sink || job->options != job->config->options;
}
/* Nothing but the source itself keeps its position, and it moves it as it emits. */
static inline bool restart_source_commits(const struct job *job)
{
    return job->config->source_commits == JOB_SOURCE_COMMITS_AS_EMITTED &&
           !job->config->checkpointing;
}
/* A source that does something at a notice gets one. */
static inline bool restart_source_listens(const struct job *job)
{
    return job->config->stateless_restores == JOB_STATELESS_OWN_POSITION ||
           job->config->source_keeps == JOB_SOURCE_KEEPS_UNTIL_NOTICE;
}

/* start.c */
uint32_t start_latest(const struct job *job); /* checkpoint to restore; 0 none */
void start_choose(struct job *job);           /* what is restored, and how */
uint32_t start_committers(const struct job *job);
void start_part(struct job *job, uint32_t subtask_first, uint32_t subtask_end);
void start_open_part(struct job *job, uint32_t subtask_first, uint32_t subtask_end);

/* savepoint.c */
enum store_kind savepoint_choose(struct job *job); /* what the trigger that comes now is for */
void savepoint_progress(struct job *job);          /* while stopping: FINISHED, or not */

/* region.c */
struct region *region_of(const struct job *job, uint32_t subtask);
void region_init(struct job *job);
void region_fail(struct region *region, struct job *job, enum stop_cause cause, uint32_t reason);
void region_half_closed(struct region *region, struct job *job);
void region_start(struct region *region, struct job *job);
void region_yield(struct job *job); /* the whole job stops instead */
void region_heal(struct job *job);
static inline bool job_is_regional(const struct job *job)
{
    return job->config->restart_region == JOB_REGION_SUBTASK;
}

/* crash.c */
bool crash_is_given_up(struct job *job, struct half *half); /* too silent to hear CLOSE */
void crash_silent(struct job *job,
                  const struct half *half); /* heartbeats of a paused process are missing */

/* moment.c */
uint32_t moment_now(void *context, lane who); /* a fault_moment */

/* job.c */
void job_fail(struct job *job, enum stop_cause cause, uint32_t reason);
nanos job_downtime(const struct job *job, enum job_downtime class); /* if it begins now */
void job_watch_pause(struct job *job, struct half *half); /* after a send, which may pause */
void job_fail_at(struct half *half, enum stop_cause cause, uint32_t reason); /* or its region */
void job_half_closed(struct half *half);
bool job_may_restart(const struct job *job); /* a restart of the job's own making is left */
nanos job_restart_delay(const struct job *job);
void job_end_zombies(struct job *job, const struct region *region, nanos start, nanos life);
/* An attempt runs and is not being stopped. */
static inline bool job_is_live(const struct job *job)
{
    return job->stop <= STOP_NOTICING && !job->failed && job->attempt > 0;
}
/* The same of a part of the job. */
static inline bool region_is_live(const struct region *region, const struct job *job)
{
    return job_is_live(job) && region->stop <= STOP_NOTICING;
}
/* Nothing of it is known to have died: what is not open yet may still open. */
static inline bool region_is_whole(const struct region *region, const struct job *job)
{
    return job->stop == STOP_NONE && region->stop == STOP_NONE;
}
void job_make_effects(struct job *job, struct sink_effects *effects);
static inline struct sink_effects *job_effects(struct job *job, uint32_t index)
{
    struct sink_effects *effects = &job->effects[index];
    if (UNLIKELY(effects->items == NULL)) {
        job_make_effects(job, effects);
    }
    return effects;
}
struct bytes job_copy(struct job *job, struct bytes source); /* into the arena, for good */
/* When the node can do the next thing. */
static inline nanos job_cpu_free(const struct job *job, uint32_t node)
{
    nanos now = world_now(job->world);
    nanos free_at = job->world->nodes[node].cpu_free_at;
    return free_at > now ? free_at : now;
}
static inline bool job_is_batch(const struct job *job)
{
    return job->config->facts.batch;
}

static inline bool job_is_chained(const struct job *job)
{
    return job->chained;
}
static inline sched_handle job_schedule(
    struct job *job, uint32_t node, enum engine_event what, nanos due, uint64_t a, uint64_t b)
{
    return sched_at(job->world->sched, due, node, WORLD_EVENT(DISPATCH_ENGINE, what), a, b);
}
static inline void job_note(struct job *job, struct journal_entry entry)
{
    world_note(job->world, entry);
}

enum engine_site {
#define OUT(name, weight, kind, clause, sentence)
#define SITE(constant, key, name, sentence, outcomes) constant,
#include "sim/engine/sites.def"
#undef SITE
#undef OUT
    ENGINE_SITE_COUNT,
};

static inline uint32_t engine_pick(struct job *job, uint32_t site, lane who, uint32_t wanted)
{
    CHECK(site < ENGINE_SITE_COUNT);
    return fault_pick(job->world->fault, &engine_sites[site], who, wanted);
}

#endif
