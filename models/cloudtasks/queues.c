/* Queues: their life by the API (CT-01, CT-10, CT-11, CT-20, CT-21, CT-27). */
#include "models/cloudtasks/state.h"
#include "sinks/base/digest.h"

#include <string.h>

#define QUEUE_CAPACITY_MIN 4u
#define REUSE_REFUSED_FOR  DAYS(7)
#define REUSE_GHOST_FOR    DAYS(3)
#define TTL_MOST           DAYS(9)
#define TASK_TTL_LEAST     DAYS(10)
#define TASK_TTL_MOST      DAYS(3650)

void cloudtasks_queue_note(struct cloudtasks *state,
                           const struct queue *queue,
                           enum cloudtasks_cause cause,
                           const struct model_request *request_or_null)
{
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_CHANGED,
                                           .code = (uint8_t)cause,
                                           .resource = queue->resource,
                                           .generation = queue->incarnation,
                                           .request_or_null = request_or_null});
}

static void keep_queue(struct cloudtasks *state, struct queue *queue)
{
    struct arena *arena = state->env.world->arena;
    if (state->queue_count == state->queue_capacity) {
        const uint32_t capacity =
            state->queue_capacity == 0 ? QUEUE_CAPACITY_MIN : state->queue_capacity * 2;
        struct queue **grown = arena_take_recycled(arena, capacity * sizeof(struct queue *));
        if (state->queue_count > 0) {
            const size_t old_size = state->queue_capacity * sizeof(struct queue *);
            memcpy(grown, state->queues, old_size);
            arena_give_recycled(arena, state->queues, old_size);
        }
        state->queues = grown;
        state->queue_capacity = capacity;
    }
    state->queues[state->queue_count++] = queue;
}

/* A queue name of the run; the queue does not exist yet. */
static struct queue *make_queue(struct cloudtasks *state, uint32_t resource)
{
    struct queue *queue = arena_take_zeroed(state->env.world->arena, sizeof(*queue));
    queue->resource = resource;
    queue->name = world_resource_name(state->env.world, resource);
    queue->task_ttl = cloudtasks_option(state, OPTION_TASK_TTL);
    queue->tombstone_ttl = cloudtasks_option(state, OPTION_TOMBSTONE_TTL);
    queue->has_target = cloudtasks_option(state, OPTION_QUEUE_TARGET) != 0;
    list_init(&queue->tasks);
    keep_queue(state, queue);
    cloudtasks_queue_name_it(state, queue);
    return queue;
}

/* Its settings are made or kept by the caller. */
void cloudtasks_queue_open(struct cloudtasks *state, struct queue *queue)
{
    CHECK(!queue->exists);
    CHECK(list_is_empty(&queue->tasks));
    queue->exists = true;
    CHECK(queue->task_ttl > 0);
    queue->paused = false;
    queue->disabled = false;
    queue->waking = false;
    queue->fault_paused = false;
    queue->fault_missing = false;
    queue->opened_at = cloudtasks_now(state);
    queue->active_at = queue->opened_at;
    queue->throttled_until = 0;
    queue->dispatch_next = 0;
    queue->incarnation++;
}

static struct queue *queue_of_name(struct cloudtasks *state, struct bytes name)
{
    struct queue *last = state->last_queue;
    if (last != NULL && bytes_equal(last->name, name)) {
        return last;
    }
    if (!cloudtasks_queue_name_is_valid(name)) {
        return NULL;
    }
    struct queue *queue =
        cloudtasks_queue_by_resource(state, world_resource(state->env.world, name));
    if (queue != NULL) {
        state->last_queue = queue;
    }
    return queue;
}

struct queue *cloudtasks_queue_find(struct cloudtasks *state, struct bytes name)
{
    struct queue *queue = queue_of_name(state, name);
    if (queue == NULL || !queue->exists) {
        COVER(state->env.world, CLOUDTASKS_QUEUE_MISSING);
        return NULL;
    }
    cloudtasks_queue_active(state, queue, cloudtasks_now(state));
    if (queue->waking) {
        COVER(state->env.world, CLOUDTASKS_QUEUE_WAKING);
        return NULL;
    }
    return queue;
}

/* A word that no queue can be called is no queue. */
void cloudtasks_queues_init(struct cloudtasks *state)
{
    const uint64_t start = cloudtasks_option(state, OPTION_QUEUE_STATE);
    struct bytes text = state->env.options[OPTION_QUEUE].text;
    for (struct bytes word = bytes_next_word(&text); word.size > 0; word = bytes_next_word(&text)) {
        if (!cloudtasks_queue_name_is_valid(word)) {
            continue;
        }
        const uint32_t resource = world_resource(state->env.world, word);
        if (cloudtasks_queue_by_resource(state, resource) != NULL) {
            continue;
        }
        struct queue *queue = make_queue(state, resource);
        if (start != START_MISSING) {
            cloudtasks_queue_open(state, queue);
            queue->paused = start == START_PAUSED;
            queue->disabled = start == START_DISABLED;
        }
    }
}

/* NOT_FOUND to everybody, and no dispatch, until it is awake. */
void cloudtasks_queue_fall_asleep(struct cloudtasks *state, struct queue *queue)
{
    const nanos length = cloudtasks_option(state, OPTION_ADMIN_LENGTH);
    const nanos due = nanos_add(cloudtasks_now(state), length);
    CHECK(queue->timer == SCHED_NONE);
    queue->waking = true;
    queue->timer = model_at(&state->env, due, EVENT_AWAKE, queue->resource, 0);
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_WAKING, NULL);
}

void cloudtasks_queue_idle(struct cloudtasks *state, struct queue *queue)
{
    COVER(state->env.world, CLOUDTASKS_QUEUE_IDLE);
    if (queue->waking || queue->timer != SCHED_NONE) {
        return;
    }
    if (cloudtasks_draw(state, SITE_WAKING, CHOICE_ALL) == WAKING_IN_MINUTES) {
        cloudtasks_queue_fall_asleep(state, queue);
    }
}

/* How long after its deletion the name of a queue cannot be used. */
nanos cloudtasks_queue_reuse_window(struct cloudtasks *state, bool *is_ghost)
{
    const uint32_t reading = cloudtasks_reading(
        state, OPTION_QUEUE_REUSE_READING, SITE_QUEUE_REUSE_READING, &state->queue_reuse_reading);
    *is_ghost = reading == QUEUE_REUSE_GHOST_3D;
    return *is_ghost ? REUSE_GHOST_FOR : REUSE_REFUSED_FOR;
}

static bool is_queue_of(struct bytes name, struct bytes location)
{
    return cloudtasks_queue_name_is_valid(name) && cloudtasks_location_is_valid(location) &&
           name.size > location.size && memcmp(name.data, location.data, location.size) == 0 &&
           name.data[location.size] == '/';
}

/* What a caller may set. */
struct settings {
    nanos tombstone_ttl;
    nanos task_ttl;
    bool has_target;
};

/* A length between bounds; one that is not given is as it was. */
static bool
read_length(const struct cloudtasks_duration *length, nanos least, nanos most, nanos *ttl)
{
    if (length == NULL) {
        return true;
    }
    if (length->seconds < 0 || length->nanos >= NANOS_PER_S) {
        return false;
    }
    *ttl = nanos_add(nanos_mul(NANOS_PER_S, (uint64_t)length->seconds), length->nanos);
    return *ttl >= least && *ttl <= most;
}

static bool read_settings(const struct cloudtasks *state,
                          const struct cloudtasks_queue *asked,
                          struct settings *settings)
{
    *settings = (struct settings){
        .task_ttl = cloudtasks_option(state, OPTION_TASK_TTL),
        .has_target = asked->http_target != NULL && asked->http_target->uri_override != NULL,
    };
    return read_length(
               asked->tombstone_ttl, CLOUDTASKS_TTL_LEAST, TTL_MOST, &settings->tombstone_ttl) &&
           read_length(asked->task_ttl, TASK_TTL_LEAST, TASK_TTL_MOST, &settings->task_ttl);
}

static uint64_t queues_that_exist(const struct cloudtasks *state)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < state->queue_count; i++) {
        count += state->queues[i]->exists;
    }
    return count;
}

/* A queue that was just made may be as little awake as one that was idle for long. */
static void maybe_asleep(struct cloudtasks *state, struct queue *queue)
{
    if (cloudtasks_draw(state, SITE_WAKING, CHOICE_ALL) == WAKING_IN_MINUTES) {
        cloudtasks_queue_fall_asleep(state, queue);
    }
}

/* Make a queue under a valid name that no queue has. */
static enum port_code make_by_name(struct cloudtasks *state,
                                   struct bytes name,
                                   const struct settings *settings,
                                   struct queue **queue_or_null)
{
    const uint64_t queues_max = cloudtasks_option(state, OPTION_QUOTA_QUEUES);
    struct queue *queue = queue_of_name(state, name);
    bool is_ghost = false;
    if (queue == NULL) {
        queue = make_queue(state, world_resource(state->env.world, name));
    }
    CHECK(!queue->exists);
    if (queues_max > 0 && queues_that_exist(state) >= queues_max) {
        return PORT_RESOURCE_EXHAUSTED;
    }
    if (queue->was_deleted && cloudtasks_now(state) - queue->deleted_at <
                                  cloudtasks_queue_reuse_window(state, &is_ghost)) {
        return is_ghost ? PORT_OK : PORT_FAILED_PRECONDITION;
    }
    queue->tombstone_ttl = settings->tombstone_ttl;
    queue->task_ttl = settings->task_ttl;
    queue->has_target = settings->has_target;
    cloudtasks_queue_open(state, queue);
    maybe_asleep(state, queue);
    *queue_or_null = queue;
    return PORT_OK;
}

enum port_code cloudtasks_queue_create(struct cloudtasks *state,
                                       const struct cloudtasks_create_queue_request *asked,
                                       struct queue **queue_or_null)
{
    struct settings settings;
    *queue_or_null = NULL;
    if (asked->queue == NULL || !is_queue_of(asked->queue->name, asked->parent) ||
        !read_settings(state, asked->queue, &settings)) {
        return PORT_INVALID_ARGUMENT;
    }
    const struct queue *queue = queue_of_name(state, asked->queue->name);
    if (queue != NULL && queue->exists) {
        return PORT_ALREADY_EXISTS;
    }
    return make_by_name(state, asked->queue->name, &settings, queue_or_null);
}

/* Whether a shorter ttl is that of names, too, that are remembered already is open. */
void cloudtasks_queue_set_ttl(struct cloudtasks *state, struct queue *queue, nanos ttl)
{
    const nanos old = queue->tombstone_ttl == 0 ? CLOUDTASKS_TTL_LEAST : queue->tombstone_ttl;
    queue->tombstone_ttl = ttl;
    if ((ttl == 0 ? CLOUDTASKS_TTL_LEAST : ttl) < old && state->created > 0) {
        queue->ttl_for_all = cloudtasks_draw(state, SITE_TTL_CHANGE, CHOICE_ALL) == TTL_CHANGE_ALL;
    }
}

enum port_code cloudtasks_queue_update(struct cloudtasks *state,
                                       const struct model_request *request,
                                       struct queue **queue_or_null)
{
    const struct cloudtasks_update_queue_request *asked = request->payload;
    struct settings settings;
    *queue_or_null = NULL;
    if (asked->queue == NULL || !cloudtasks_queue_name_is_valid(asked->queue->name) ||
        !read_settings(state, asked->queue, &settings)) {
        return PORT_INVALID_ARGUMENT;
    }
    struct queue *queue = queue_of_name(state, asked->queue->name);
    if (queue == NULL || !queue->exists) {
        return make_by_name(state, asked->queue->name, &settings, queue_or_null);
    }
    cloudtasks_queue_set_ttl(state, queue, settings.tombstone_ttl);
    queue->task_ttl = settings.task_ttl;
    queue->has_target = settings.has_target;
    queue->fault_target = false;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_UPDATED, request);
    cloudtasks_dispatch_ttl_changed(state, queue);
    *queue_or_null = queue;
    return PORT_OK;
}

static void stop_timers(struct cloudtasks *state, struct queue *queue)
{
    if (queue->timer != SCHED_NONE) {
        sched_cancel(state->env.world->sched, queue->timer);
        queue->timer = SCHED_NONE;
    }
    if (queue->age_timer != SCHED_NONE) {
        sched_cancel(state->env.world->sched, queue->age_timer);
        queue->age_timer = SCHED_NONE;
    }
}

/* End every task of the queue up to a creation. */
static void end_tasks(struct cloudtasks *state,
                      struct queue *queue,
                      uint64_t serial_last,
                      enum cloudtasks_cause cause,
                      const struct model_request *request_or_null)
{
    struct list_link *link = list_first(&queue->tasks);
    while (link != NULL) {
        struct task *task = LIST_ITEM(link, struct task, link);
        link = list_next(&queue->tasks, link);
        if (task->serial > serial_last) {
            return;
        }
        cloudtasks_dispatch_end(state, task, cause, request_or_null);
    }
}

void cloudtasks_queue_delete(struct cloudtasks *state,
                             struct queue *queue,
                             const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    stop_timers(state, queue);
    end_tasks(state, queue, UINT64_MAX, CAUSE_QUEUE_DELETED, request_or_null);
    queue->exists = false;
    queue->fault_paused = false;
    queue->fault_target = false;
    queue->was_deleted = true;
    queue->deleted_at = cloudtasks_now(state);
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_DELETED, request_or_null);
    CHECK(list_is_empty(&queue->tasks));
}

void cloudtasks_queue_pause(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    queue->paused = true;
    queue->disabled = false;
    queue->fault_paused = false;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_PAUSED, request_or_null);
}

void cloudtasks_queue_resume(struct cloudtasks *state,
                             struct queue *queue,
                             const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    queue->paused = false;
    queue->disabled = false;
    queue->fault_paused = false;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_RESUMED, request_or_null);
    cloudtasks_dispatch_resume(state, queue);
}

/* Tasks created after the call are left alone, but maybe by the adversary's purge, and those before
 * it may still be dispatched until the purge comes to them. */
void cloudtasks_queue_purge(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_PURGED, request_or_null);
    if (list_is_empty(&queue->tasks)) {
        return;
    }
    const uint32_t lag = cloudtasks_draw(state, SITE_PURGE, CHOICE_ALL);
    if (lag == PURGE_AT_ONCE) {
        end_tasks(state, queue, state->created, CAUSE_PURGED, request_or_null);
    } else {
        const nanos due = nanos_add(cloudtasks_now(state), CLOUDTASKS_PURGE_LAG);
        const uint64_t last = lag == PURGE_TAKES_LATER ? UINT64_MAX : state->created;
        (void)model_at(&state->env, due, EVENT_PURGE, queue->resource, last);
        state->busy++;
    }
}

void cloudtasks_queue_wake(struct cloudtasks *state, struct queue *queue)
{
    queue->waking = false;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_RESUMED, NULL);
    cloudtasks_dispatch_resume(state, queue);
}

/* Unless somebody else made it in the meantime, and maybe deleted it again. */
static void recreate(struct cloudtasks *state, struct queue *queue, nanos deleted_at)
{
    if (!queue->exists && queue->deleted_at == deleted_at) {
        cloudtasks_queue_open(state, queue);
        cloudtasks_queue_note(state, queue, CAUSE_QUEUE_CREATED, NULL);
        COVER(state->env.world, CLOUDTASKS_QUEUE_RECREATED);
    }
}

void cloudtasks_queue_event(struct cloudtasks *state, uint8_t what, struct queue *queue, uint64_t b)
{
    if (what == EVENT_PURGE) {
        CHECK(state->busy > 0);
        state->busy--;
        end_tasks(state, queue, b, CAUSE_PURGED, NULL);
    } else if (what == EVENT_RESUME) {
        queue->timer = SCHED_NONE;
        if (queue->fault_paused) {
            cloudtasks_queue_resume(state, queue, NULL);
        }
    } else if (what == EVENT_AWAKE) {
        queue->timer = SCHED_NONE;
        CHECK(queue->waking);
        cloudtasks_queue_wake(state, queue);
    } else {
        CHECK(what == EVENT_RECREATE);
        recreate(state, queue, b);
    }
}
