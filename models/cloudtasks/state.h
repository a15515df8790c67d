/* The state of the Cloud Tasks model; private to models/cloudtasks. cloudtasks.c has the essay. */
#ifndef MODELS_CLOUDTASKS_STATE_H
#define MODELS_CLOUDTASKS_STATE_H

#include "models/cloudtasks/cloudtasks.h"
#include "sim/mark.h"
#include "sim/model.h"
#include "sinks/base/list.h"
#include "sinks/port/cloudtasks.h"

#include <stdbool.h>
#include <stdint.h>

/* --- draws and options ------------------------------------------------------------------------ */

/* clang-format off */
enum cloudtasks_site {
#define SITE(constant, id, key, name, sentence, ...) constant,
#define FATE_SITE SITE
#include "models/cloudtasks/sites.def"
#undef SITE
#undef FATE_SITE
};

enum cloudtasks_mark {
    MARK_CLOUDTASKS_FIRST = MARK_SIM_ROOM,
    MARK_CLOUDTASKS_BEFORE = MARK_CLOUDTASKS_FIRST - 1,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "models/cloudtasks/marks.def"
#undef MARK
    MARK_CLOUDTASKS_END,
};

#define OUTCOME(constant, name, weight, kind, clause) constant
#define SITE(constant, id, key, name, sentence, ...) enum cloudtasks_##id { __VA_ARGS__ };
#define FATE_SITE(constant, id, key, name, sentence, ...)
#include "models/cloudtasks/sites.def"
#undef OUTCOME
#undef SITE
#undef FATE_SITE

enum cloudtasks_option {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence) constant,
#include "models/cloudtasks/options.def"
#undef OPTION
    OPTION_COUNT,
};
/* clang-format on */

/* Values of queue_state. */
enum cloudtasks_start {
    START_RUNNING = 0,
    START_PAUSED,
    START_MISSING,
    START_DISABLED,
};

/* Values of handler and ledger_key. */
enum cloudtasks_handler {
    HANDLER_PLAIN = 0,
    HANDLER_IDEMPOTENT, /* doing a record again changes nothing */
    HANDLER_LEDGER,     /* keeps a durable ledger of what it did */
};
enum cloudtasks_ledger_key {
    LEDGER_KEY_NAME = 0,
    LEDGER_KEY_RECORD,
};

/* Values of recreate_tombstones and purge_tombstones. */
enum cloudtasks_tombstones {
    TOMBSTONES_BY_PROFILE = 0,
    TOMBSTONES_KEPT,
    TOMBSTONES_LOST,
};

extern const struct choice_site cloudtasks_model_sites[];

/* --- what happened, in codes of world entries ------------------------------------------------- */

#define CLOUDTASKS_CAUSES(X)                                                                       \
    X(CAUSE_NONE, "none")                                                                          \
    X(CAUSE_EXECUTED, "executed")                                                                  \
    X(CAUSE_DELETED, "deleted")                                                                    \
    X(CAUSE_PURGED, "purged")                                                                      \
    X(CAUSE_TTL, "ttl")                                                                            \
    X(CAUSE_QUEUE_DELETED, "queue_deleted")                                                        \
    X(CAUSE_TOMBSTONE_RELEASED, "tombstone_released")                                              \
    X(CAUSE_TOMBSTONE_LOST, "tombstone_lost")                                                      \
    X(CAUSE_QUEUE_CREATED, "queue_created")                                                        \
    X(CAUSE_QUEUE_PAUSED, "queue_paused")                                                          \
    X(CAUSE_QUEUE_RESUMED, "queue_resumed")                                                        \
    X(CAUSE_QUEUE_PURGED, "queue_purged")                                                          \
    X(CAUSE_QUEUE_WAKING, "queue_waking")                                                          \
    X(CAUSE_QUEUE_MISSING, "queue_missing")                                                        \
    X(CAUSE_TTL_SHORTENED, "ttl_shortened")                                                        \
    X(CAUSE_EXHAUSTED, "exhausted")                                                                \
    X(CAUSE_QUEUE_DISABLED, "queue_disabled")                                                      \
    X(CAUSE_QUEUE_UPDATED, "queue_updated")                                                        \
    X(CAUSE_QUEUE_TARGET, "queue_target")

enum cloudtasks_cause {
#define X(constant, name) constant,
    CLOUDTASKS_CAUSES(X)
#undef X
    CAUSE_COUNT,
};

/* --- tasks and queues ------------------------------------------------------------------------- */

enum task_state {
    TASK_ABSENT = 0, /* the name is free */
    TASK_SCHEDULED,  /* live; its dispatch is an event */
    TASK_HELD,       /* live and due, but the queue dispatches nothing */
    TASK_RUNNING,    /* live; the handler is at work, its answer is an event */
    TASK_REMEMBERED, /* removed; the name may still be protected */
};

/* A task name of this run, and the task that has it or had it last. Never freed: the next task of
 * the name counts on. */
struct task {
    struct list_link link; /* live: among the tasks of the queue, oldest first */
    struct queue *queue;
    uint32_t resource;
    uint32_t generation;  /* tasks that ever had the name */
    uint32_t incarnation; /* of the queue that the latest of them was made in */
    uint8_t state;        /* enum task_state */
    uint8_t plan;         /* enum cloudtasks_dispatch, drawn at the first dispatch */
    uint8_t release;      /* 1 + enum cloudtasks_release or _retention, 0 not drawn */
    bool late;            /* the dispatch was put off already */
    bool last;            /* RUNNING: the attempt failed, and was the last */
    bool in_ledger;       /* the handler's ledger has the name; outlives the task */
    uint32_t attempts;
    sched_handle timer; /* SCHEDULED, RUNNING; REMEMBERED: a second dispatch is on its way */
    uint64_t serial;    /* number of the creation within the run */
    nanos created_at;
    nanos created_wall;      /* the same by the service's clock */
    nanos due_wall;          /* schedule time by the service's clock, cut to us */
    nanos dispatch_deadline; /* of one attempt */
    nanos removed_at;
    nanos tombstone_ttl; /* of the queue when the task was removed, 0 absent */
    nanos first_attempt_at;
    struct model_content content;
    const struct cloudtasks_task *whole_or_null; /* as asked for, where callers may read it */
};

struct queue {
    struct bytes name;
    struct list tasks; /* live ones, oldest first */
    uint32_t resource;
    uint32_t incarnation;
    bool exists;
    bool paused;
    bool disabled;      /* dispatches as little as a paused one */
    bool waking;        /* exists, but NOT_FOUND to everybody */
    bool has_target;    /* wins over the URLs of its tasks */
    bool fault_paused;  /* paused or disabled from outside: the heal resumes it */
    bool fault_missing; /* missing from outside: the heal makes it */
    bool fault_target;  /* the target is from outside: the heal takes it away */
    bool ttl_for_all;   /* a changed tombstone_ttl is that of remembered names, too */
    bool was_deleted;
    nanos deleted_at;
    nanos tombstone_ttl;   /* 0: the field is absent */
    nanos task_ttl;        /* age at which its tasks are deleted */
    nanos active_at;       /* the latest call or dispatch */
    nanos throttled_until; /* its handler asked it to slow down */
    nanos opened_at;       /* start of the ramp of its rate */
    nanos dispatch_next;   /* when the next dispatch would fit its rate without a burst */
    uint64_t second;       /* the one that seconds_creates is of */
    uint64_t second_creates;
    struct bytes last_name; /* of the last named create, where names in sequence matter */
    sched_handle timer;     /* end of a brief pause or of waking */
    sched_handle age_timer; /* a task that waits comes to its task_ttl */
};

/* By interned resource: what has that name. */
struct named {
    struct task *task;
    struct queue *queue;
};

/* Rules of the service that are off unless an option asks for them; together they cost a create one
 * test. */
enum cloudtasks_rule {
    RULE_NONE = 0,
    RULE_QUOTA,    /* requests per minute (CT-26) */
    RULE_RAMP,     /* creates per second and queue (T15) */
    RULE_RATE,     /* dispatches per second and queue (CT-15) */
    RULE_NAMES,    /* named creates take longer (CT-24) */
    RULE_SEQUENCE, /* names in sequence fail, too (CT-24) */
    RULE_WHOLE,    /* tasks are kept whole for their readers (CT-17) */
};
#define RULE_BIT(rule) ((uint8_t)(1u << (rule)))

enum cloudtasks_quota {
    QUOTA_CALLS = 0,
    QUOTA_LISTS,
    QUOTA_RUNS,
    QUOTA_COUNT,
};

/* Calls of one kind in the current minute. */
struct quota {
    uint64_t minute;
    uint64_t calls;
};

/* Room for the answer of ListTasks or BatchCreateTasks. */
struct cloudtasks_listed {
    struct cloudtasks_task task;
    struct cloudtasks_timestamp schedule_time;
    struct cloudtasks_timestamp create_time;
    struct cloudtasks_duration dispatch_deadline;
};

#define CLOUDTASKS_PAGE_MAX  1000u
#define CLOUDTASKS_BATCH_MAX 100u
#define TOKEN_SIZE_MAX       96u

struct cloudtasks_page {
    struct cloudtasks_listed *tasks; /* CLOUDTASKS_PAGE_MAX once there is a list */
    const void **items;
    uint32_t count;
    uint8_t token[TOKEN_SIZE_MAX];
};

struct cloudtasks_batch_room {
    struct cloudtasks_batch_failure failures[CLOUDTASKS_BATCH_MAX];
    const void *failure_items[CLOUDTASKS_BATCH_MAX];
};

struct cloudtasks {
    struct model_env env;
    lane lane;
    struct arena_array named; /* struct named by resource */
    struct queue **queues;    /* in order of their first creation */
    uint32_t queue_count;
    uint32_t queue_capacity;
    struct queue *last_queue; /* the one asked for last */
    struct task *free_tasks;  /* end of the block that tasks are cut from */
    uint32_t free_task_count;
    uint64_t created;          /* tasks ever */
    uint64_t assigned;         /* names ever made for unnamed tasks */
    uint32_t busy;             /* task timers and purges that are pending */
    uint8_t admin;             /* enum cloudtasks_admin that still waits for its creation */
    uint8_t tombstone_reading; /* 1 + reading of the run, 0 not settled yet */
    uint8_t task_size_reading;
    uint8_t queue_reuse_reading;
    uint8_t recreate_reading;
    uint8_t purge_reading;
    uint8_t rules; /* bit per enum cloudtasks_rule that an option sets */
    struct quota quotas[QUOTA_COUNT];
    nanos answer_after; /* how long the answer to the create at hand takes */
    uint8_t *ledger;    /* by record id: the handler's ledger has it */
    uint32_t ledger_size;
    struct list batches; /* answered batches that had a request id */
    struct cloudtasks_batch_room *batch_room;
    uint64_t digest;
    /* What answers point to until the link has cloned them. */
    struct cloudtasks_page page;
    struct cloudtasks_list_tasks_response list_answer;
    struct cloudtasks_batch_create_tasks_response batch_answer;
    struct cloudtasks_queue queue_answer;
    struct cloudtasks_duration durations[2];
    struct cloudtasks_http_target target_answer;
};

enum cloudtasks_event {
    EVENT_NONE = 0,
    EVENT_DISPATCH,  /* a: resource, b: generation */
    EVENT_ANSWER,    /* a: resource, b: generation */
    EVENT_DUPLICATE, /* a: resource, b: generation */
    EVENT_PURGE,     /* a: queue's resource, b: last serial */
    EVENT_AGE,       /* a: queue's resource */
    EVENT_RESUME,    /* a: queue's resource */
    EVENT_AWAKE,     /* a: queue's resource */
    EVENT_RECREATE,  /* a: queue's resource, b: instant of its deletion */
};

/* Draw from a site of the model. */
uint32_t cloudtasks_draw(struct cloudtasks *state, enum cloudtasks_site site, uint32_t wanted);

/* The run's reading of a conflicting clause: pinned by an option whose value 0 is "any", else drawn
 * once, when it first matters. settled keeps it. */
uint32_t cloudtasks_reading(struct cloudtasks *state,
                            enum cloudtasks_option option,
                            enum cloudtasks_site site,
                            uint8_t *settled);

static inline uint64_t cloudtasks_option(const struct cloudtasks *state,
                                         enum cloudtasks_option option)
{
    return state->env.options[option].number;
}

static inline nanos cloudtasks_now(const struct cloudtasks *state)
{
    return world_now(state->env.world);
}

/* Wall time at the service. */
nanos cloudtasks_wall(const struct cloudtasks *state);

static inline struct cloudtasks_timestamp cloudtasks_timestamp_of(nanos wall)
{
    return (struct cloudtasks_timestamp){(int64_t)(wall / NANOS_PER_S),
                                         (uint32_t)(wall % NANOS_PER_S)};
}

static inline struct cloudtasks_duration cloudtasks_duration_of(nanos length)
{
    return (struct cloudtasks_duration){(int64_t)(length / NANOS_PER_S),
                                        (uint32_t)(length % NANOS_PER_S)};
}

/* Note an effect on a task or queue, and fold it into the digest. */
void cloudtasks_note(struct cloudtasks *state, const struct model_effect *effect);

/* Answer a request with an error, and note that it had no effect. */
void cloudtasks_refuse(struct cloudtasks *state,
                       const struct model_request *request,
                       uint32_t resource_or_0,
                       enum port_code code,
                       struct model_replies *replies);

/* --- limits.c: what a well-formed request is -------------------------------------------------- */

bool cloudtasks_queue_name_is_valid(struct bytes name);
bool cloudtasks_location_is_valid(struct bytes name);

/* Whether name is a task name in the queue. */
bool cloudtasks_task_name_is_valid(struct bytes name, struct bytes queue);

/* Whether a task may be created at wall time wall, its size aside. */
bool cloudtasks_task_is_valid(const struct cloudtasks_task *task, nanos wall);

/* Whether the wire form of a task has at most size_max bytes. */
bool cloudtasks_task_fits(const struct cloudtasks_task *task, size_t size_max);

/* Schedule time in wall ns, at least wall, cut to microseconds. The task is valid. */
nanos cloudtasks_due_wall(const struct cloudtasks_task *task, nanos wall);
nanos cloudtasks_dispatch_deadline(const struct cloudtasks_task *task);

/* What identifies a task: its body, or without one its URL. */
struct bytes cloudtasks_content(const struct cloudtasks_task *task);

/* --- names.c: tasks, names and their protection ----------------------------------------------- */

/* The task of a name, NULL when the run has never had one. */
struct task *cloudtasks_task_find(struct cloudtasks *state, uint32_t resource);
struct task *cloudtasks_task_find_or_make(struct cloudtasks *state, uint32_t resource);
struct queue *cloudtasks_queue_by_resource(struct cloudtasks *state, uint32_t resource);
void cloudtasks_queue_name_it(struct cloudtasks *state, struct queue *queue);

bool task_is_live(const struct task *task);

/* Note that a reader class sees the task. */
void cloudtasks_task_visible(struct cloudtasks *state,
                             const struct task *task,
                             enum cloudtasks_reader reader,
                             const struct model_request *request_or_null);

/* Intern a name for a task that came without one. */
uint32_t cloudtasks_assign_name(struct cloudtasks *state, const struct queue *queue);

/* Whether the name of a removed task is still protected. May draw, and notes a release. */
bool cloudtasks_name_is_held(struct cloudtasks *state, struct task *task);

/* Make a task that was asked for under the name, which must be free; wall is now by the
 * service's clock. The caller schedules its dispatch. */
void cloudtasks_task_create(struct cloudtasks *state,
                            struct task *task,
                            struct queue *queue,
                            nanos wall,
                            const struct cloudtasks_task *asked,
                            const struct model_request *request);

/* Remove a live task, whose timer must be none. */
void cloudtasks_task_remove(struct cloudtasks *state,
                            struct task *task,
                            enum cloudtasks_cause cause,
                            const struct model_request *request_or_null);

/* --- handler.c: dispatch ---------------------------------------------------------------------- */

/* Start the life of a new task. */
void cloudtasks_dispatch_start(struct cloudtasks *state, struct task *task);

/* Cancel what is scheduled for a name, also a second dispatch of a task that is gone. */
void cloudtasks_dispatch_stop(struct cloudtasks *state, struct task *task);

/* End the life of a live task from outside the handler. */
void cloudtasks_dispatch_end(struct cloudtasks *state,
                             struct task *task,
                             enum cloudtasks_cause cause,
                             const struct model_request *request_or_null);

/* The queue dispatches again: schedule what was held. */
void cloudtasks_dispatch_resume(struct cloudtasks *state, struct queue *queue);

/* RunTask: an attempt now, whatever the queue's state. */
void cloudtasks_dispatch_force(struct cloudtasks *state, struct task *task);

/* Whether an attempt of the live task may be on its way to the handler or there. */
bool cloudtasks_dispatch_is_out(const struct cloudtasks *state, const struct task *task);

/* An attempt of a task that is gone still reaches the handler. */
void cloudtasks_dispatch_once_more(struct cloudtasks *state, struct task *task);

/* EVENT_DISPATCH, EVENT_ANSWER, EVENT_DUPLICATE. */
void cloudtasks_dispatch_event(struct cloudtasks *state, uint8_t what, struct task *task);

/* EVENT_AGE: remove the tasks that waited for too long. */
void cloudtasks_dispatch_age(struct cloudtasks *state, struct queue *queue);

/* The queue's task_ttl is another now. */
void cloudtasks_dispatch_ttl_changed(struct cloudtasks *state, struct queue *queue);

/* --- ledger.c: a handler that knows what it did ----------------------------------------------- */

/* The handler was run: note the effect for class handler_ledger if it is the first. */
void cloudtasks_ledger_handled(struct cloudtasks *state, struct task *task);

/* --- rules.c: what an option may ask for ------------------------------------------------------ */

void cloudtasks_rules_init(struct cloudtasks *state);

/* Whether a quota refuses a call of the method. */
bool cloudtasks_rules_refuse(struct cloudtasks *state, const struct port_method *method);

/* Whether a create is refused, and by which code; else how long its answer takes. name is empty if
 * the service assigns it. */
enum port_code cloudtasks_rules_create(struct cloudtasks *state,
                                       struct queue *queue,
                                       struct bytes name,
                                       nanos *after);

/* How long the queue's rate makes a dispatch wait; 0 takes one. */
nanos cloudtasks_rules_dispatch(struct cloudtasks *state, struct queue *queue, nanos now);

/* --- lists.c, batch.c: calls about many tasks ------------------------------------------------- */

/* ListTasks of a queue. PORT_OK: state->list_answer has the page. */
enum port_code cloudtasks_list(struct cloudtasks *state,
                               const struct queue *queue,
                               const struct cloudtasks_list_tasks_request *asked);

/* Whether a reader sees a live task already. May draw. */
bool cloudtasks_is_seen(struct cloudtasks *state, const struct task *task);

/* Room for tasks in an answer. */
void cloudtasks_page_init(struct cloudtasks *state);

/* What an answer says of a task; whole needs the permission to see bodies. */
void cloudtasks_describe(struct cloudtasks *state,
                         const struct task *task,
                         bool whole,
                         struct cloudtasks_listed *into);

/* BatchCreateTasks in a queue. answer is of the method's response unless the request is refused as
 * a whole before effect. */
enum port_code cloudtasks_batch(struct cloudtasks *state,
                                struct queue *queue,
                                const struct model_request *request,
                                const void **answer);

/* CreateTask in a queue. PORT_OK: the task was made, or the caller is told so (T5). */
enum port_code cloudtasks_create_one(struct cloudtasks *state,
                                     struct queue *queue,
                                     const struct cloudtasks_task *asked_or_null,
                                     const struct model_request *request,
                                     struct task **task_or_null);

/* --- queues.c --------------------------------------------------------------------------------- */

#define CLOUDTASKS_IDLE_AFTER DAYS(30)
#define CLOUDTASKS_PURGE_LAG  SECONDS(59)
#define CLOUDTASKS_TTL_LEAST  HOURS(1)

/* Note what became of a queue. */
void cloudtasks_queue_note(struct cloudtasks *state,
                           const struct queue *queue,
                           enum cloudtasks_cause cause,
                           const struct model_request *request_or_null);

/* Make a queue exist; its settings are made or kept by the caller. */
void cloudtasks_queue_open(struct cloudtasks *state, struct queue *queue);

/* NOT_FOUND to everybody, and no dispatch, until it is awake. */
void cloudtasks_queue_fall_asleep(struct cloudtasks *state, struct queue *queue);
void cloudtasks_queue_wake(struct cloudtasks *state, struct queue *queue);

void cloudtasks_queue_set_ttl(struct cloudtasks *state, struct queue *queue, nanos ttl);

/* How long after its deletion the name of a queue cannot be used, and whether CreateQueue looks
 * successful until then. */
nanos cloudtasks_queue_reuse_window(struct cloudtasks *state, bool *is_ghost);

/* A queue that was without calls and dispatches for long is asked for again: it may have to wake. */
void cloudtasks_queue_idle(struct cloudtasks *state, struct queue *queue);

static inline void cloudtasks_queue_active(struct cloudtasks *state, struct queue *queue, nanos now)
{
    if (UNLIKELY(now - queue->active_at >= CLOUDTASKS_IDLE_AFTER)) {
        cloudtasks_queue_idle(state, queue);
    }
    queue->active_at = now;
}

/* The queue of a name if callers can see it, else NULL. */
struct queue *cloudtasks_queue_find(struct cloudtasks *state, struct bytes name);

/* Make the queues of the options. */
void cloudtasks_queues_init(struct cloudtasks *state);

/* CreateQueue. PORT_OK with *queue_or_null NULL: it only looks successful. */
enum port_code cloudtasks_queue_create(struct cloudtasks *state,
                                       const struct cloudtasks_create_queue_request *asked,
                                       struct queue **queue_or_null);

/* UpdateQueue, which makes the queue if there is none. All fields are set. */
enum port_code cloudtasks_queue_update(struct cloudtasks *state,
                                       const struct model_request *request,
                                       struct queue **queue_or_null);
void cloudtasks_queue_delete(struct cloudtasks *state,
                             struct queue *queue,
                             const struct model_request *request_or_null);
void cloudtasks_queue_pause(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null);
void cloudtasks_queue_resume(struct cloudtasks *state,
                             struct queue *queue,
                             const struct model_request *request_or_null);
void cloudtasks_queue_purge(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null);

/* EVENT_PURGE, EVENT_RESUME, EVENT_AWAKE, EVENT_RECREATE. */
void cloudtasks_queue_event(struct cloudtasks *state,
                            uint8_t what,
                            struct queue *queue,
                            uint64_t b);

/* --- admin.c: from outside -------------------------------------------------------------------- */

/* Draw what is done to the queues from outside, and do what is done at the start. */
void cloudtasks_admin_init(struct cloudtasks *state);

/* A task was created: do what waits for that. */
void cloudtasks_admin_created(struct cloudtasks *state, struct queue *queue);

/* A caller was told what the queue is like: do what waits for that. */
void cloudtasks_admin_verified(struct cloudtasks *state, struct queue *queue);

/* End what was done from outside and does not belong to the service's rules. */
void cloudtasks_admin_heal(struct cloudtasks *state);

/* --- queue_calls.c: methods about queues ------------------------------------------------------ */

typedef void cloudtasks_handle(struct cloudtasks *state,
                               const struct model_request *request,
                               struct model_replies *replies);

cloudtasks_handle cloudtasks_call_get_queue;
cloudtasks_handle cloudtasks_call_create_queue;
cloudtasks_handle cloudtasks_call_update_queue;
cloudtasks_handle cloudtasks_call_delete_queue;
cloudtasks_handle cloudtasks_call_pause_queue;
cloudtasks_handle cloudtasks_call_resume_queue;
cloudtasks_handle cloudtasks_call_purge_queue;

#endif
