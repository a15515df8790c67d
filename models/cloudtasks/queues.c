/* Queues: their life by the API (CT-01, CT-10, CT-20, CT-21), and what is done to them from outside
 * the job (faults of kind resource). */
#include "models/cloudtasks/state.h"
#include "sinks/base/digest.h"

#include <string.h>

#define QUEUE_CAPACITY_MIN 4u
#define REUSE_REFUSED_FOR  DAYS(7)
#define REUSE_GHOST_FOR    DAYS(3)
#define PURGE_LAG          SECONDS(59)
#define TTL_LEAST          HOURS(1)
#define TTL_MOST           DAYS(9)

#define ADMIN_BIT(outcome) (UINT32_C(1) << (outcome))

static void note_change(struct cloudtasks *state,
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
    list_init(&queue->tasks);
    keep_queue(state, queue);
    cloudtasks_queue_name_it(state, queue);
    return queue;
}

static void open_queue(struct queue *queue, nanos tombstone_ttl)
{
    CHECK(!queue->exists);
    CHECK(list_is_empty(&queue->tasks));
    queue->exists = true;
    queue->paused = false;
    queue->waking = false;
    queue->fault_paused = false;
    queue->fault_missing = false;
    queue->tombstone_ttl = tombstone_ttl;
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
        COVER(state->env.world, "cloudtasks.queue_missing");
        return NULL;
    }
    if (queue->waking) {
        COVER(state->env.world, "cloudtasks.queue_waking");
        return NULL;
    }
    return queue;
}

/* Take the next word off a text of words separated by spaces; empty at the end. */
static struct bytes take_word(struct bytes *text)
{
    while (text->size > 0 && text->data[0] == ' ') {
        text->data++;
        text->size--;
    }
    struct bytes word = {text->data, 0};
    while (word.size < text->size && word.data[word.size] != ' ') {
        word.size++;
    }
    if (word.size > 0) {
        text->data += word.size;
        text->size -= word.size;
    }
    return word;
}

/* A word that no queue can be called is no queue. */
void cloudtasks_queues_init(struct cloudtasks *state)
{
    const uint64_t start = cloudtasks_option(state, OPTION_QUEUE_STATE);
    struct bytes text = state->env.options[OPTION_QUEUE].text;
    for (struct bytes word = take_word(&text); word.size > 0; word = take_word(&text)) {
        if (!cloudtasks_queue_name_is_valid(word)) {
            continue;
        }
        const uint32_t resource = world_resource(state->env.world, word);
        if (cloudtasks_queue_by_resource(state, resource) != NULL) {
            continue;
        }
        struct queue *queue = make_queue(state, resource);
        if (start != START_MISSING) {
            open_queue(queue, cloudtasks_option(state, OPTION_TOMBSTONE_TTL));
            queue->paused = start == START_PAUSED;
        }
    }
}

/* How long after its deletion the name of a queue cannot be used. */
static nanos reuse_window(struct cloudtasks *state, bool *is_ghost)
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

static bool ttl_of(const struct cloudtasks_queue *asked, nanos *ttl)
{
    const struct cloudtasks_duration *length = asked->tombstone_ttl;
    *ttl = 0;
    if (length == NULL) {
        return true;
    }
    if (length->seconds < 0 || length->nanos >= NANOS_PER_S) {
        return false;
    }
    *ttl = nanos_add(nanos_mul(NANOS_PER_S, (uint64_t)length->seconds), length->nanos);
    return *ttl >= TTL_LEAST && *ttl <= TTL_MOST;
}

enum port_code cloudtasks_queue_create(struct cloudtasks *state,
                                       const struct cloudtasks_create_queue_request *asked,
                                       struct queue **queue_or_null)
{
    nanos ttl = 0;
    *queue_or_null = NULL;
    if (asked->queue == NULL || !is_queue_of(asked->queue->name, asked->parent) ||
        !ttl_of(asked->queue, &ttl)) {
        return PORT_INVALID_ARGUMENT;
    }
    struct queue *queue = queue_of_name(state, asked->queue->name);
    if (queue == NULL) {
        queue = make_queue(state, world_resource(state->env.world, asked->queue->name));
    }
    if (queue->exists) {
        return PORT_ALREADY_EXISTS;
    }
    bool is_ghost = false;
    if (queue->was_deleted &&
        cloudtasks_now(state) - queue->deleted_at < reuse_window(state, &is_ghost)) {
        return is_ghost ? PORT_OK : PORT_FAILED_PRECONDITION;
    }
    open_queue(queue, ttl);
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
    queue->was_deleted = true;
    queue->deleted_at = cloudtasks_now(state);
    note_change(state, queue, CAUSE_QUEUE_DELETED, request_or_null);
    CHECK(list_is_empty(&queue->tasks));
}

void cloudtasks_queue_pause(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    queue->paused = true;
    queue->fault_paused = false;
    note_change(state, queue, CAUSE_QUEUE_PAUSED, request_or_null);
}

void cloudtasks_queue_resume(struct cloudtasks *state,
                             struct queue *queue,
                             const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    queue->paused = false;
    queue->fault_paused = false;
    note_change(state, queue, CAUSE_QUEUE_RESUMED, request_or_null);
    cloudtasks_dispatch_resume(state, queue);
}

/* Tasks created after the call are left alone, and those before it may still be dispatched until
 * the purge comes to them. */
void cloudtasks_queue_purge(struct cloudtasks *state,
                            struct queue *queue,
                            const struct model_request *request_or_null)
{
    CHECK(queue->exists);
    note_change(state, queue, CAUSE_QUEUE_PURGED, request_or_null);
    if (list_is_empty(&queue->tasks)) {
        return;
    }
    const uint32_t lag = cloudtasks_draw(state, SITE_PURGE, CHOICE_ALL);
    if (lag == PURGE_AT_ONCE) {
        end_tasks(state, queue, state->created, CAUSE_PURGED, request_or_null);
    } else {
        const nanos due = nanos_add(cloudtasks_now(state), PURGE_LAG);
        (void)model_at(&state->env, due, EVENT_PURGE, queue->resource, state->created);
        state->busy++;
    }
}

static void wake(struct cloudtasks *state, struct queue *queue)
{
    queue->waking = false;
    note_change(state, queue, CAUSE_QUEUE_RESUMED, NULL);
    cloudtasks_dispatch_resume(state, queue);
}

/* Unless somebody else made it in the meantime, and maybe deleted it again. */
static void recreate(struct cloudtasks *state, struct queue *queue, nanos deleted_at)
{
    if (!queue->exists && queue->deleted_at == deleted_at) {
        open_queue(queue, queue->tombstone_ttl);
        note_change(state, queue, CAUSE_QUEUE_CREATED, NULL);
        COVER(state->env.world, "cloudtasks.queue_recreated");
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
        wake(state, queue);
    } else {
        CHECK(what == EVENT_RECREATE);
        recreate(state, queue, b);
    }
}

/* --- from outside ----------------------------------------------------------------------------- */

static uint32_t admin_wanted(const struct cloudtasks *state)
{
    static const struct {
        enum cloudtasks_option option;
        uint32_t outcomes;
    } groups[] = {
        {OPTION_ADMIN_PAUSE,
         ADMIN_BIT(ADMIN_PAUSE_BRIEF) | ADMIN_BIT(ADMIN_PAUSE) | ADMIN_BIT(ADMIN_PAUSE_LATER)},
        {OPTION_ADMIN_MISSING, ADMIN_BIT(ADMIN_WAKING) | ADMIN_BIT(ADMIN_MISSING)},
        {OPTION_ADMIN_PURGE, ADMIN_BIT(ADMIN_PURGE_FIRST) | ADMIN_BIT(ADMIN_PURGE_FOURTH)},
        {OPTION_ADMIN_RECREATE, ADMIN_BIT(ADMIN_RECREATE_FIRST) | ADMIN_BIT(ADMIN_RECREATE_FOURTH)},
        {OPTION_ADMIN_SHORTEN_TTL,
         ADMIN_BIT(ADMIN_SHORTEN_FIRST) | ADMIN_BIT(ADMIN_SHORTEN_FOURTH)},
    };
    uint32_t wanted = 0;
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        if (cloudtasks_option(state, groups[i].option) != 0) {
            wanted |= groups[i].outcomes;
        }
    }
    return wanted;
}

static void lasts_for(struct cloudtasks *state, nanos length)
{
    fault_lasts_until(state->env.world->fault, nanos_add(cloudtasks_now(state), length));
}

static void pause_from_outside(struct cloudtasks *state, struct queue *queue, bool is_brief)
{
    if (queue->paused) {
        return;
    }
    cloudtasks_queue_pause(state, queue, NULL);
    queue->fault_paused = true;
    if (is_brief) {
        const nanos length = cloudtasks_option(state, OPTION_ADMIN_LENGTH);
        const nanos due = nanos_add(cloudtasks_now(state), length);
        queue->timer = model_at(&state->env, due, EVENT_RESUME, queue->resource, 0);
        lasts_for(state, length);
    }
}

static void put_to_sleep(struct cloudtasks *state, struct queue *queue)
{
    const nanos length = cloudtasks_option(state, OPTION_ADMIN_LENGTH);
    const nanos due = nanos_add(cloudtasks_now(state), length);
    queue->waking = true;
    queue->timer = model_at(&state->env, due, EVENT_AWAKE, queue->resource, 0);
    lasts_for(state, length);
    note_change(state, queue, CAUSE_QUEUE_WAKING, NULL);
}

static void take_away(struct cloudtasks *state, struct queue *queue)
{
    queue->exists = false;
    queue->fault_missing = true;
    note_change(state, queue, CAUSE_QUEUE_MISSING, NULL);
}

static void recreate_from_outside(struct cloudtasks *state, struct queue *queue)
{
    bool is_ghost = false;
    cloudtasks_queue_delete(state, queue, NULL);
    const nanos window = reuse_window(state, &is_ghost);
    const nanos due = nanos_add(cloudtasks_now(state), window);
    (void)model_at(&state->env, due, EVENT_RECREATE, queue->resource, queue->deleted_at);
    lasts_for(state, window);
}

static void shorten_ttl(struct cloudtasks *state, struct queue *queue)
{
    queue->tombstone_ttl = TTL_LEAST;
    note_change(state, queue, CAUSE_TTL_SHORTENED, NULL);
    lasts_for(state, 0);
}

/* What is done at the start is done to every queue. */
static void
admin_at_start(struct cloudtasks *state, struct queue *queue, enum cloudtasks_admin what)
{
    if (!queue->exists) {
        return;
    }
    if (what == ADMIN_PAUSE_BRIEF || what == ADMIN_PAUSE) {
        pause_from_outside(state, queue, what == ADMIN_PAUSE_BRIEF);
    } else if (what == ADMIN_WAKING) {
        put_to_sleep(state, queue);
    } else if (what == ADMIN_MISSING) {
        take_away(state, queue);
    }
}

void cloudtasks_admin_init(struct cloudtasks *state)
{
    const uint32_t wanted = admin_wanted(state);
    if (wanted == 0) {
        return;
    }
    state->admin = (uint8_t)cloudtasks_draw(state, SITE_ADMIN, wanted);
    for (uint32_t i = 0; i < state->queue_count; i++) {
        admin_at_start(state, state->queues[i], (enum cloudtasks_admin)state->admin);
    }
}

static uint64_t admin_creation(enum cloudtasks_admin what)
{
    const uint32_t first = ADMIN_BIT(ADMIN_PAUSE_LATER) | ADMIN_BIT(ADMIN_PURGE_FIRST) |
                           ADMIN_BIT(ADMIN_RECREATE_FIRST) | ADMIN_BIT(ADMIN_SHORTEN_FIRST);
    const uint32_t fourth = ADMIN_BIT(ADMIN_PURGE_FOURTH) | ADMIN_BIT(ADMIN_RECREATE_FOURTH) |
                            ADMIN_BIT(ADMIN_SHORTEN_FOURTH);
    if ((ADMIN_BIT(what) & first) != 0) {
        return 1;
    }
    return (ADMIN_BIT(what) & fourth) != 0 ? 4 : UINT64_MAX;
}

void cloudtasks_admin_created(struct cloudtasks *state, struct queue *queue)
{
    const enum cloudtasks_admin what = (enum cloudtasks_admin)state->admin;
    if (LIKELY(what == ADMIN_NONE) || state->created != admin_creation(what)) {
        return;
    }
    state->admin = ADMIN_NONE;
    COVER(state->env.world, "cloudtasks.admin_acted");
    if (what == ADMIN_PAUSE_LATER) {
        pause_from_outside(state, queue, false);
    } else if (what == ADMIN_PURGE_FIRST || what == ADMIN_PURGE_FOURTH) {
        cloudtasks_queue_purge(state, queue, NULL);
        lasts_for(state, PURGE_LAG);
    } else if (what == ADMIN_RECREATE_FIRST || what == ADMIN_RECREATE_FOURTH) {
        recreate_from_outside(state, queue);
    } else {
        CHECK(what == ADMIN_SHORTEN_FIRST || what == ADMIN_SHORTEN_FOURTH);
        shorten_ttl(state, queue);
    }
}

/* A deleted queue stays deleted: that its name rests is a rule of the service. */
void cloudtasks_admin_heal(struct cloudtasks *state)
{
    state->admin = ADMIN_NONE;
    for (uint32_t i = 0; i < state->queue_count; i++) {
        struct queue *queue = state->queues[i];
        if (queue->fault_missing) {
            open_queue(queue, queue->tombstone_ttl);
            note_change(state, queue, CAUSE_QUEUE_CREATED, NULL);
        }
        if (queue->timer != SCHED_NONE) {
            sched_cancel(state->env.world->sched, queue->timer);
            queue->timer = SCHED_NONE;
        }
        if (queue->waking) {
            wake(state, queue);
        }
        if (queue->fault_paused) {
            cloudtasks_queue_resume(state, queue, NULL);
        }
    }
}
