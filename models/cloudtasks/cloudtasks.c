/* The model of Cloud Tasks (clauses.def).
 *
 * Guarantees modelled. CreateTask needs a queue (CT-01) and a well-formed task (CT-02, CT-08,
 * CT-09, T11). A name belongs to at most one live task, and a create that meets it, or meets a
 * name that is still remembered, is ALREADY_EXISTS and changes nothing (CT-03, CT-04).
 * Protection starts when the task is gone (CT-05) and lasts for at least an hour. A request
 * takes effect in one piece, so of concurrent creates of one name exactly one wins. A task is
 * dispatched at least once, until its handler answers 2xx (CT-12, CT-13), unless it is deleted,
 * purged or too old (CT-07, CT-19, CT-20). A paused queue takes tasks and dispatches none
 * (CT-10).
 *
 * Freedoms taken. The length of protection: per reading of CT-06, and within the reading "up to
 * 24 hours" per name. A second dispatch, an overlapping one, one that fails once, three times or,
 * where an option offers it, until the task is given up, one that slows its queue down, a late one
 * (CT-12 to CT-15). The minute that a purge may take (CT-20). What CreateQueue says soon after
 * DeleteQueue (CT-21). A queue that is new or was idle for 30 days may have to wake (CT-11). Lists
 * in any order, with pages that are short or empty (CT-18). Batches that are done in part (CT-25).
 *
 * Observed only. Both of two concurrent creates answered OK, with one task (T5). Names remembered
 * beyond their window (T4). A batch with a known name that is ALREADY_EXISTS as a whole, and done
 * all the same (T16).
 *
 * For the adversary only. Names that do not outlive their queue or a purge, or that a shorter
 * tombstone_ttl releases; a purge that takes tasks made during it; GetTask and ListTasks that do not
 * see a new task yet; an attempt that arrives after its task was deleted; requests that the network
 * repeats; an effect under a code that says there was none.
 *
 * Faults offered. Per call: lost, answered too late to be heard, applied after the caller gave
 * up, refused, applied under an ambiguous code, refused inside another error, an outage of
 * several calls, a queue that wakes (CT-11, CT-23, CT-26, X-03 to X-05). From outside: pause,
 * disabling, absence, waking, purge, deletion with re-creation, a shorter tombstone_ttl, a target of
 * the queue's own; each group only where an option offers it, for most claims end there.
 *
 * Rules that options switch on: quotas, the ramp of a queue's creates, the rate of its dispatches,
 * the cost of names and of names in sequence (CT-24, CT-26, T15).
 *
 * Not modelled. queue.yaml but for its DISABLED state, update masks, redirects, the number of
 * dispatches at one time, routing of App Engine. See clauses.def for the reasons.
 *
 * Entries. Resource: the task's full name, generation: tasks that had the name so far, value:
 * the task's body, or without one its URL. WORLD_CREATED, which says that
 * class task sees it; WORLD_VISIBLE to class handler each time the handler does its work, to class handler_ledger the
 * first time that a handler with a memory does it, to class queue_target when the queue's target
 * takes the handler's place; WORLD_REMOVED, WORLD_EXPIRED when the release of the name is seen; WORLD_CHANGED with a queue as resource;
 * WORLD_REFUSED.
 */
#include "models/cloudtasks/cloudtasks.h"

#include "models/cloudtasks/state.h"
#include "sinks/base/digest.h"

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/cloudtasks/sites.def"
#include "models/as_fates.def"
#include "models/cloudtasks/sites.def"
const struct choice_site cloudtasks_model_sites[] = {
#include "models/as_sites.def"
#include "models/cloudtasks/sites.def"
#include "models/as_end.def"
};
/* clang-format on */

#define TASK_SIZE_KB_100_BYTES ((size_t)100000)
#define TASK_SIZE_MIB_1_BYTES  ((size_t)1 << 20)

uint32_t cloudtasks_draw(struct cloudtasks *state, enum cloudtasks_site site, uint32_t wanted)
{
    return fault_pick(state->env.world->fault, &cloudtasks_model_sites[site], state->lane, wanted);
}

uint32_t cloudtasks_reading(struct cloudtasks *state,
                            enum cloudtasks_option option,
                            enum cloudtasks_site site,
                            uint8_t *settled)
{
    if (*settled == 0) {
        const uint64_t pinned = cloudtasks_option(state, option);
        *settled =
            pinned > 0 ? (uint8_t)pinned : (uint8_t)(1 + cloudtasks_draw(state, site, CHOICE_ALL));
    }
    return *settled - 1u;
}

nanos cloudtasks_wall(const struct cloudtasks *state)
{
    const struct world *world = state->env.world;
    return clock_wall(&world->nodes[state->env.node].clock, world_now(world));
}

void cloudtasks_note(struct cloudtasks *state, const struct model_effect *effect)
{
    const uint64_t what = (uint64_t)effect->kind << 8 | effect->code;
    const uint64_t whom = (uint64_t)effect->resource << 32 | effect->generation;
    state->digest = digest_fold(state->digest, whom + what * UINT64_C(0xd6e8feb86659fd93));
    model_note(&state->env, effect);
}

/* --- answers ---------------------------------------------------------------------------------- */

void cloudtasks_refuse(struct cloudtasks *state,
                       const struct model_request *request,
                       uint32_t resource_or_0,
                       enum port_code code,
                       struct model_replies *replies)
{
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_REFUSED,
                                           .code = (uint8_t)code,
                                           .resource = resource_or_0,
                                           .request_or_null = request});
    model_reply(replies, code, NULL);
}

/* A task as callers read it, in one block; the name is the world's. */
struct task_answer {
    struct cloudtasks_task task;
    struct cloudtasks_timestamp due;
    struct cloudtasks_timestamp created;
    struct cloudtasks_duration dispatch_deadline;
};

/* The create time goes to seconds (CT-08). */
static struct cloudtasks_task *
reply_task(struct cloudtasks *state, const struct task *task, struct model_replies *replies)
{
    struct task_answer *answer = model_reply_in_block(replies, &state->env, sizeof(*answer));
    answer->due = cloudtasks_timestamp_of(task->due_wall);
    answer->created = (struct cloudtasks_timestamp){(int64_t)(task->created_wall / NANOS_PER_S), 0};
    answer->dispatch_deadline = cloudtasks_duration_of(task->dispatch_deadline);
    answer->task = (struct cloudtasks_task){
        .name = world_resource_name(state->env.world, task->resource),
        .schedule_time = &answer->due,
        .create_time = &answer->created,
        .dispatch_deadline = &answer->dispatch_deadline,
        .dispatch_count = task->attempts,
    };
    return &answer->task;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* No reading refuses a task of 100 KB, so only a larger one needs to know the reading (CT-09). */
static bool size_is_valid(struct cloudtasks *state, const struct cloudtasks_task *task)
{
    if (cloudtasks_task_fits(task, TASK_SIZE_KB_100_BYTES)) {
        return true;
    }
    const uint32_t reading = cloudtasks_reading(
        state, OPTION_TASK_SIZE_READING, SITE_TASK_SIZE_READING, &state->task_size_reading);
    return reading == TASK_SIZE_MIB_1 && cloudtasks_task_fits(task, TASK_SIZE_MIB_1_BYTES);
}

/* The name is taken. If this request was under way when the task was made, both may have been told
 * OK (T5); it is one task all the same. */
static enum port_code
answer_live(struct cloudtasks *state, const struct task *task, const struct model_request *request)
{
    COVER(state->env.world, CLOUDTASKS_NAME_LIVE);
    if (request->issued <= task->created_at &&
        cloudtasks_draw(state, SITE_DOUBLE_OK, CHOICE_ALL) == DOUBLE_OK_OK) {
        return PORT_OK;
    }
    return PORT_ALREADY_EXISTS;
}

/* A request for one task says by its identity what its name digests to. */
static uint32_t resource_of(struct cloudtasks *state,
                            const struct queue *queue,
                            struct bytes name,
                            const struct model_request *request)
{
    if (name.size == 0) {
        return cloudtasks_assign_name(state, queue);
    }
    return request->identity == 0
               ? world_resource(state->env.world, name)
               : world_resource_hashed(state->env.world, name, request->identity);
}

/* The order of the checks is the decision table of the clause catalogue. *task_or_null is what has
 * the name, also where that is the reason to refuse. */
static enum port_code create_one(struct cloudtasks *state,
                                 struct queue *queue,
                                 const struct cloudtasks_task *asked,
                                 const struct model_request *request,
                                 struct task **task_or_null)
{
    const nanos wall = cloudtasks_wall(state);
    if (asked == NULL || !cloudtasks_task_is_valid(asked, wall) || !size_is_valid(state, asked) ||
        (asked->name.size > 0 && !cloudtasks_task_name_is_valid(asked->name, queue->name))) {
        return PORT_INVALID_ARGUMENT;
    }
    if (UNLIKELY(state->rules != 0)) {
        const enum port_code code =
            cloudtasks_rules_create(state, queue, asked->name, &state->answer_after);
        if (code != PORT_OK) {
            return code;
        }
    }
    const uint32_t resource = resource_of(state, queue, asked->name, request);
    struct task *task = cloudtasks_task_find_or_make(state, resource);
    *task_or_null = task;
    if (task_is_live(task)) {
        return answer_live(state, task, request);
    }
    if (cloudtasks_name_is_held(state, task)) {
        return PORT_ALREADY_EXISTS;
    }
    cloudtasks_dispatch_stop(state, task);
    cloudtasks_task_create(state, task, queue, wall, asked, request);
    cloudtasks_dispatch_start(state, task);
    return PORT_OK;
}

enum port_code cloudtasks_create_one(struct cloudtasks *state,
                                     struct queue *queue,
                                     const struct cloudtasks_task *asked_or_null,
                                     const struct model_request *request,
                                     struct task **task_or_null)
{
    return create_one(state, queue, asked_or_null, request, task_or_null);
}

/* The queue that tasks are made in; refuses the request and gives NULL if there is none. */
static struct queue *parent_queue(struct cloudtasks *state,
                                  struct bytes parent,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    struct queue *queue = cloudtasks_queue_find(state, parent);
    if (UNLIKELY(queue == NULL)) {
        const bool valid = cloudtasks_queue_name_is_valid(parent);
        cloudtasks_refuse(
            state, request, 0, valid ? PORT_NOT_FOUND : PORT_INVALID_ARGUMENT, replies);
    }
    return queue;
}

static void create_task(struct cloudtasks *state,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    const struct cloudtasks_create_task_request *asked = request->payload;
    struct queue *queue = parent_queue(state, asked->parent, request, replies);
    struct task *task = NULL;
    if (queue == NULL) {
        return;
    }
    state->answer_after = 0;
    const enum port_code code = create_one(state, queue, asked->task, request, &task);
    if (code == PORT_OK) {
        (void)reply_task(state, task, replies);
        cloudtasks_admin_created(state, queue);
    } else {
        cloudtasks_refuse(state, request, task == NULL ? 0 : task->resource, code, replies);
    }
    replies->items[0].after = state->answer_after;
}

/* An answer that refuses all of a batch may come after its effect (T16). */
static void batch_create_tasks(struct cloudtasks *state,
                               const struct model_request *request,
                               struct model_replies *replies)
{
    const struct cloudtasks_batch_create_tasks_request *asked = request->payload;
    struct queue *queue = parent_queue(state, asked->parent, request, replies);
    const void *answer = NULL;
    if (queue == NULL) {
        return;
    }
    const enum port_code code = cloudtasks_batch(state, queue, request, &answer);
    if (answer == NULL) {
        cloudtasks_refuse(state, request, 0, code, replies);
    } else {
        model_reply(replies, code, code == PORT_OK ? answer : NULL);
    }
}

/* The live task of a name; refuses the request and gives NULL if there is none. A task that was
 * done or deleted is as absent as one that never was (CT-17, CT-19). */
static struct task *live_task(struct cloudtasks *state,
                              struct bytes name,
                              const struct model_request *request,
                              struct model_replies *replies)
{
    const uint32_t resource = world_resource(state->env.world, name);
    struct task *task = cloudtasks_task_find(state, resource);
    if (task != NULL && task_is_live(task)) {
        return task;
    }
    cloudtasks_refuse(state, request, resource, PORT_NOT_FOUND, replies);
    return NULL;
}

static void get_task(struct cloudtasks *state,
                     const struct model_request *request,
                     struct model_replies *replies)
{
    const struct cloudtasks_get_task_request *asked = request->payload;
    const bool whole = asked->response_view == CLOUDTASKS_VIEW_FULL;
    if (whole && cloudtasks_option(state, OPTION_TASKS_READABLE) == 0) {
        cloudtasks_refuse(state, request, 0, PORT_PERMISSION_DENIED, replies);
        return;
    }
    const struct task *task = live_task(state, asked->name, request, replies);
    if (task == NULL) {
        return;
    }
    if (!cloudtasks_is_seen(state, task)) {
        cloudtasks_refuse(state, request, task->resource, PORT_NOT_FOUND, replies);
        return;
    }
    struct cloudtasks_task *answer = reply_task(state, task, replies);
    if (whole) {
        answer->http_request = task->whole_or_null->http_request;
        answer->app_engine_http_request = task->whole_or_null->app_engine_http_request;
    }
}

static void delete_task(struct cloudtasks *state,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    const struct cloudtasks_delete_task_request *asked = request->payload;
    struct task *task = live_task(state, asked->name, request, replies);
    if (task == NULL) {
        return;
    }
    const bool is_out = cloudtasks_dispatch_is_out(state, task);
    cloudtasks_dispatch_end(state, task, CAUSE_DELETED, request);
    if (is_out && cloudtasks_draw(state, SITE_DELETE, CHOICE_ALL) == DELETE_TOO_LATE) {
        cloudtasks_dispatch_once_more(state, task);
    }
    model_reply(replies, PORT_OK, NULL);
}

static void run_task(struct cloudtasks *state,
                     const struct model_request *request,
                     struct model_replies *replies)
{
    const struct cloudtasks_run_task_request *asked = request->payload;
    struct task *task = live_task(state, asked->name, request, replies);
    if (task != NULL) {
        (void)reply_task(state, task, replies);
        cloudtasks_dispatch_force(state, task);
    }
}

static void list_tasks(struct cloudtasks *state,
                       const struct model_request *request,
                       struct model_replies *replies)
{
    const struct cloudtasks_list_tasks_request *asked = request->payload;
    const struct queue *queue = parent_queue(state, asked->parent, request, replies);
    if (queue == NULL) {
        return;
    }
    const enum port_code code = cloudtasks_list(state, queue, asked);
    if (code == PORT_OK) {
        model_reply(replies, PORT_OK, &state->list_answer);
    } else {
        cloudtasks_refuse(state, request, 0, code, replies);
    }
}

/* --- the type object -------------------------------------------------------------------------- */

struct method {
    const struct port_method *method;
    cloudtasks_handle *handler;
};

static const struct method methods[] = {
    {&cloudtasks_create_task_method, create_task},
    {&cloudtasks_get_task_method, get_task},
    {&cloudtasks_delete_task_method, delete_task},
    {&cloudtasks_list_tasks_method, list_tasks},
    {&cloudtasks_run_task_method, run_task},
    {&cloudtasks_get_queue_method, cloudtasks_call_get_queue},
    {&cloudtasks_create_queue_method, cloudtasks_call_create_queue},
    {&cloudtasks_delete_queue_method, cloudtasks_call_delete_queue},
    {&cloudtasks_pause_queue_method, cloudtasks_call_pause_queue},
    {&cloudtasks_resume_queue_method, cloudtasks_call_resume_queue},
    {&cloudtasks_purge_queue_method, cloudtasks_call_purge_queue},
    {&cloudtasks_update_queue_method, cloudtasks_call_update_queue},
    {&cloudtasks_batch_create_tasks_method, batch_create_tasks},
};

static void model_init(void *memory, const struct model_env *env)
{
    struct cloudtasks *state = memory;
    state->env = *env;
    state->lane = env->world->nodes[env->node].lane;
    list_init(&state->batches);
    cloudtasks_rules_init(state);
    cloudtasks_queues_init(state);
    cloudtasks_admin_init(state);
}

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct cloudtasks *state = memory;
    if (UNLIKELY(state->rules != 0) && cloudtasks_rules_refuse(state, request->method)) {
        cloudtasks_refuse(state, request, 0, PORT_RESOURCE_EXHAUSTED, replies);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(methods); i++) {
        if (methods[i].method == request->method) {
            methods[i].handler(memory, request, replies);
            return;
        }
    }
    UNREACHABLE();
}

static struct task *task_of_event(struct cloudtasks *state, uint64_t resource, uint64_t generation)
{
    struct task *task = cloudtasks_task_find(state, narrow_u32(resource));
    CHECK(task != NULL);
    CHECK(task->generation == generation);
    return task;
}

static struct queue *queue_of_event(struct cloudtasks *state, uint64_t resource)
{
    struct queue *queue = cloudtasks_queue_by_resource(state, narrow_u32(resource));
    CHECK(queue != NULL);
    return queue;
}

static void model_event(void *memory, uint8_t what, uint64_t a, uint64_t b)
{
    struct cloudtasks *state = memory;
    switch ((enum cloudtasks_event)what) {
    case EVENT_NONE:
        break;
    case EVENT_DISPATCH:
    case EVENT_ANSWER:
    case EVENT_DUPLICATE:
        cloudtasks_dispatch_event(state, what, task_of_event(state, a, b));
        return;
    case EVENT_AGE:
        cloudtasks_dispatch_age(state, queue_of_event(state, a));
        return;
    case EVENT_PURGE:
    case EVENT_RESUME:
    case EVENT_AWAKE:
    case EVENT_RECREATE:
        cloudtasks_queue_event(state, what, queue_of_event(state, a), b);
        return;
    }
    UNREACHABLE();
}

static void model_heal(void *memory)
{
    cloudtasks_admin_heal(memory);
}

static uint32_t model_pending(const void *memory)
{
    const struct cloudtasks *state = memory;
    return state->busy;
}

static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    if (method != &cloudtasks_create_task_method) {
        return 0;
    }
    const struct cloudtasks_create_task_request *asked = payload;
    /* create_one takes it for the digest of the name. */
    return asked->task == NULL || asked->task->name.size == 0 ? 0 : digest_bytes(asked->task->name);
}

static uint64_t model_digest(const void *memory)
{
    const struct cloudtasks *state = memory;
    uint64_t digest = digest_fold(state->digest, state->created);
    digest = digest_fold(digest, state->busy);
    digest = digest_fold(digest, (uint64_t)state->recreate_reading << 8 | state->purge_reading);
    digest = digest_fold(digest, state->tombstone_reading);
    digest = digest_fold(digest, state->task_size_reading);
    return digest_fold(digest, state->queue_reuse_reading);
}

static const struct fate_menu fates[] = {
    {&cloudtasks_create_task_method, &cloudtasks_model_sites[SITE_CREATE], create_fates},
    {&cloudtasks_get_task_method, &cloudtasks_model_sites[SITE_READ], read_fates},
    {&cloudtasks_get_queue_method, &cloudtasks_model_sites[SITE_READ], read_fates},
    {&cloudtasks_delete_task_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_run_task_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_create_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_delete_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_pause_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_resume_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_purge_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_update_queue_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_batch_create_tasks_method, &cloudtasks_model_sites[SITE_CHANGE], change_fates},
    {&cloudtasks_list_tasks_method, &cloudtasks_model_sites[SITE_READ], read_fates},
};

static const char *const start_names[] = {"running", "paused", "missing", "disabled", NULL};
static const char *const tombstone_names[] = {
    "any", "about_one_hour", "up_to_24h", "fixed_ttl", NULL};
static const char *const task_size_names[] = {"any", "kb_100", "mib_1", NULL};
static const char *const queue_reuse_names[] = {"any", "refuse_7d", "ghost_3d", NULL};
static const char *const tombstones_names[] = {"by_profile", "kept", "lost", NULL};
static const char *const handler_names[] = {"plain", "idempotent", "ledger", NULL};
static const char *const ledger_key_names[] = {"name", "record", NULL};
static const char *const reader_names[] = {
    "task", "handler", "handler_ledger", "queue_target", NULL};

static const char *const cause_names[] = {
#define X(constant, name) [constant] = (name),
    CLOUDTASKS_CAUSES(X)
#undef X
        [CAUSE_COUNT] = NULL,
};

static const struct sink_option options[] = {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence)                     \
    [constant] = {key, type, false, fallback, text, min, max, names, sentence},
#include "models/cloudtasks/options.def"
#undef OPTION
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/cloudtasks/clauses.def"
#include "models/rpc_clauses.def"
#undef CLAUSE
};

#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
static const struct mark marks[] = {
#include "models/cloudtasks/marks.def"
};
#undef MARK

_Static_assert(MARK_CLOUDTASKS_END <= MARK_CLOUDTASKS_FIRST + MARK_MODEL_ROOM, "marks have room");

const struct model_type cloudtasks_model = {
    .name = "cloudtasks",
    .sentence = "Cloud Tasks: queues, tasks with names that are remembered, and their handler",
    .service = &cloudtasks_service,
    .sites = cloudtasks_model_sites,
    .site_count = ARRAY_COUNT(cloudtasks_model_sites),
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .marks = marks,
    .mark_count = ARRAY_COUNT(marks),
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct cloudtasks),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .pending = model_pending,
    .identity = model_identity,
    .digest = model_digest,
};
