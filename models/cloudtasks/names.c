/* Names: who has one, how often it was given, and for how long it is protected after its task is
 * gone (CT-02 to CT-06).
 *
 * When a name is released is decided when somebody asks for it. Nothing else can see the moment, so
 * this is the same as deciding at the removal, but a run draws only for names that come back, and
 * no event waits for hours at the end of a run. The entry WORLD_EXPIRED stands where the release is
 * first seen, right before the creation that it allows.
 */
#include "models/cloudtasks/state.h"
#include "sinks/base/digest.h"

#define TASK_BLOCK        16u
#define TOMBSTONE_DEFAULT HOURS(1)
#define TOMBSTONE_TYPICAL HOURS(2)
#define TOMBSTONE_MAX     HOURS(24)
#define TOMBSTONE_BEYOND  MINUTES(90)
#define NAME_SIZE_MAX     640u
#define ASSIGN_TRIES_MAX  1000u

/* NULL when nothing near it was ever named. */
static struct named *named_find(const struct cloudtasks *state, uint32_t resource)
{
    CHECK(resource != 0);
    return arena_array_find(&state->named, resource, sizeof(struct named));
}

static struct named *named_at(struct cloudtasks *state, uint32_t resource)
{
    CHECK(resource != 0);
    return arena_array_at(&state->named, state->env.world->arena, resource, sizeof(struct named));
}

struct task *cloudtasks_task_find(struct cloudtasks *state, uint32_t resource)
{
    const struct named *named = named_find(state, resource);
    return named == NULL ? NULL : named->task;
}

struct queue *cloudtasks_queue_by_resource(struct cloudtasks *state, uint32_t resource)
{
    const struct named *named = named_find(state, resource);
    return named == NULL ? NULL : named->queue;
}

void cloudtasks_queue_name_it(struct cloudtasks *state, struct queue *queue)
{
    struct named *named = named_at(state, queue->resource);
    CHECK(named->queue == NULL);
    named->queue = queue;
}

struct task *cloudtasks_task_find_or_make(struct cloudtasks *state, uint32_t resource)
{
    struct named *named = named_at(state, resource);
    if (named->task == NULL) {
        if (state->free_task_count == 0) {
            state->free_tasks =
                arena_take(state->env.world->arena, TASK_BLOCK * sizeof(struct task));
            state->free_task_count = TASK_BLOCK;
        }
        named->task = state->free_tasks++;
        state->free_task_count--;
        *named->task = (struct task){.resource = resource};
    }
    CHECK(named->task->resource == resource);
    return named->task;
}

bool task_is_live(const struct task *task)
{
    return task->state == TASK_SCHEDULED || task->state == TASK_HELD || task->state == TASK_RUNNING;
}

/* A service's own ids are long numbers. They differ from each other because mixing is a bijection;
 * one that a client happened to use is passed over. */
uint32_t cloudtasks_assign_name(struct cloudtasks *state, const struct queue *queue)
{
    uint8_t name[NAME_SIZE_MAX];
    for (uint32_t tries = 0; tries < ASSIGN_TRIES_MAX; tries++) {
        struct byte_writer writer;
        byte_writer_init(&writer, name, sizeof(name));
        byte_writer_bytes(&writer, queue->name);
        byte_writer_text(&writer, "/tasks/");
        byte_writer_decimal(&writer, digest_mix(++state->assigned));
        CHECK(!writer.overflowed);
        const uint32_t resource = world_resource(state->env.world, byte_writer_view(&writer));
        if (cloudtasks_task_find(state, resource) == NULL) {
            return resource;
        }
    }
    UNREACHABLE();
}

static bool recreate_loses_names(struct cloudtasks *state)
{
    return cloudtasks_reading(state,
                              OPTION_RECREATE_TOMBSTONES,
                              SITE_RECREATE_READING,
                              &state->recreate_reading) == RECREATE_LOSES;
}

static bool purge_loses_names(struct cloudtasks *state)
{
    return cloudtasks_reading(
               state, OPTION_PURGE_TOMBSTONES, SITE_PURGE_READING, &state->purge_reading) ==
           PURGE_LOSES;
}

/* The moment of release of a name that is older than the guaranteed minimum: drawn once per name. A
 * class that no answer could tell from an earlier one is not offered. */
static nanos drawn_window(struct cloudtasks *state, struct task *task, nanos age)
{
    static const nanos windows[] = {
        [RELEASE_AT_MINIMUM] = TOMBSTONE_DEFAULT,
        [RELEASE_TYPICAL] = TOMBSTONE_TYPICAL,
        [RELEASE_AT_END] = TOMBSTONE_MAX,
    };
    if (task->release == 0) {
        uint32_t wanted = 1;
        for (uint32_t i = 1; i < ARRAY_COUNT(windows); i++) {
            if (age < windows[i]) {
                wanted |= UINT32_C(1) << i;
            }
        }
        if (wanted == 1) {
            return TOMBSTONE_DEFAULT;
        }
        task->release = (uint8_t)(1 + cloudtasks_draw(state, SITE_RELEASE, wanted));
    }
    return windows[task->release - 1];
}

/* How much longer than a window that is known the name is remembered all the same: an observation
 * (T4), drawn once per name, and only where an answer can show it. */
static nanos beyond(struct cloudtasks *state, struct task *task, nanos age, nanos window)
{
    if (task->release == 0) {
        if (age < window || age >= nanos_add(window, TOMBSTONE_BEYOND) ||
            state->env.world->fault->profile == PROFILE_DOCUMENTED) {
            return 0;
        }
        task->release = (uint8_t)(1 + cloudtasks_draw(state, SITE_RETENTION, CHOICE_ALL));
    }
    return task->release - 1 == RETENTION_BEYOND ? TOMBSTONE_BEYOND : 0;
}

static nanos configured_window(const struct task *task)
{
    const struct queue *queue = task->queue;
    const nanos ttl = queue->ttl_for_all ? queue->tombstone_ttl : task->tombstone_ttl;
    return ttl == 0 ? TOMBSTONE_DEFAULT : ttl;
}

/* How long after its task's removal the name is protected: at least an hour by every reading. */
static nanos protection_window(struct cloudtasks *state, struct task *task, nanos age)
{
    const nanos extra = cloudtasks_option(state, OPTION_TOMBSTONE_EXTRA);
    if (age < nanos_add(TOMBSTONE_DEFAULT, extra)) {
        return nanos_add(TOMBSTONE_DEFAULT, extra);
    }
    const uint32_t reading = cloudtasks_reading(
        state, OPTION_TOMBSTONE_READING, SITE_TOMBSTONE_READING, &state->tombstone_reading);
    if (reading == TOMBSTONE_UP_TO_24H) {
        return nanos_add(drawn_window(state, task, age - extra), extra);
    }
    CHECK(reading == TOMBSTONE_ABOUT_ONE_HOUR || reading == TOMBSTONE_FIXED_TTL);
    const nanos window =
        reading == TOMBSTONE_FIXED_TTL ? configured_window(task) : TOMBSTONE_DEFAULT;
    const nanos known = nanos_add(window, extra);
    return nanos_add(known, beyond(state, task, age, known));
}

static void release(struct cloudtasks *state, struct task *task, enum cloudtasks_cause cause)
{
    CHECK(task->state == TASK_REMEMBERED);
    task->state = TASK_ABSENT;
    COVER(state->env.world, CLOUDTASKS_NAME_RELEASED);
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_EXPIRED,
                                           .code = (uint8_t)cause,
                                           .resource = task->resource,
                                           .generation = task->generation});
}

bool cloudtasks_name_is_held(struct cloudtasks *state, struct task *task)
{
    if (task->state != TASK_REMEMBERED) {
        return false;
    }
    if (task->incarnation != task->queue->incarnation && recreate_loses_names(state)) {
        release(state, task, CAUSE_TOMBSTONE_LOST);
        return false;
    }
    const nanos age = cloudtasks_now(state) - task->removed_at;
    if (age < protection_window(state, task, age)) {
        COVER(state->env.world, CLOUDTASKS_NAME_REMEMBERED);
        return true;
    }
    release(state, task, CAUSE_TOMBSTONE_RELEASED);
    return false;
}

void cloudtasks_task_visible(struct cloudtasks *state,
                             const struct task *task,
                             enum cloudtasks_reader reader,
                             const struct model_request *request_or_null)
{
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_VISIBLE,
                                           .code = (uint8_t)reader,
                                           .resource = task->resource,
                                           .generation = task->generation,
                                           .content = task->content,
                                           .request_or_null = request_or_null});
}

static const struct cloudtasks_task *keep_whole(struct cloudtasks *state,
                                                const struct cloudtasks_task *asked)
{
    const size_t size = port_clone_size(&cloudtasks_task_message, asked);
    void *memory = arena_take(state->env.world->arena, size);
    return port_clone_into(&cloudtasks_task_message, asked, memory, size, NULL);
}

void cloudtasks_task_create(struct cloudtasks *state,
                            struct task *task,
                            struct queue *queue,
                            nanos wall,
                            const struct cloudtasks_task *asked,
                            const struct model_request *request)
{
    CHECK(task->state == TASK_ABSENT);
    CHECK(task->timer == SCHED_NONE);
    const uint32_t resource = task->resource;
    const uint32_t generation = task->generation + 1;
    *task = (struct task){
        .queue = queue,
        .resource = resource,
        .generation = generation,
        .incarnation = queue->incarnation,
        .state = TASK_HELD,
        .in_ledger = task->in_ledger,
        .serial = ++state->created,
        .created_at = cloudtasks_now(state),
        .created_wall = wall,
        .due_wall = cloudtasks_due_wall(asked, wall),
        .dispatch_deadline = cloudtasks_dispatch_deadline(asked),
        .content = model_content_of(&state->env, cloudtasks_content(asked)),
    };
    if (UNLIKELY((state->rules & RULE_BIT(RULE_WHOLE)) != 0)) {
        task->whole_or_null = keep_whole(state, asked);
    }
    list_push_back(&queue->tasks, &task->link);
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_CREATED,
                                           .resource = resource,
                                           .generation = generation,
                                           .content = task->content,
                                           .request_or_null = request});
}

void cloudtasks_task_remove(struct cloudtasks *state,
                            struct task *task,
                            enum cloudtasks_cause cause,
                            const struct model_request *request_or_null)
{
    CHECK(task_is_live(task));
    CHECK(task->timer == SCHED_NONE);
    list_remove(&task->queue->tasks, &task->link);
    task->state = TASK_REMEMBERED;
    task->removed_at = cloudtasks_now(state);
    task->tombstone_ttl = task->queue->tombstone_ttl;
    cloudtasks_note(state,
                    &(struct model_effect){.kind = WORLD_REMOVED,
                                           .code = (uint8_t)cause,
                                           .resource = task->resource,
                                           .generation = task->generation,
                                           .request_or_null = request_or_null});
    if (cause == CAUSE_PURGED && purge_loses_names(state)) {
        release(state, task, CAUSE_TOMBSTONE_LOST);
    }
}
