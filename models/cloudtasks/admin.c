/* What is done to queues from outside the job: faults of kind resource, each offered by an option.
 * One per run, drawn at its start; it acts then, after a creation, or after somebody looked at the
 * queue. */
#include "models/cloudtasks/state.h"

#define ADMIN_BIT(outcome) (UINT32_C(1) << (outcome))

static uint32_t admin_wanted(const struct cloudtasks *state)
{
    static const struct {
        enum cloudtasks_option option;
        uint32_t outcomes;
    } groups[] = {
        {OPTION_ADMIN_PAUSE,
         ADMIN_BIT(ADMIN_PAUSE_BRIEF) | ADMIN_BIT(ADMIN_PAUSE) | ADMIN_BIT(ADMIN_PAUSE_LATER) |
             ADMIN_BIT(ADMIN_DISABLE)},
        {OPTION_ADMIN_MISSING, ADMIN_BIT(ADMIN_WAKING) | ADMIN_BIT(ADMIN_MISSING)},
        {OPTION_ADMIN_PURGE, ADMIN_BIT(ADMIN_PURGE_FIRST) | ADMIN_BIT(ADMIN_PURGE_FOURTH)},
        {OPTION_ADMIN_RECREATE, ADMIN_BIT(ADMIN_RECREATE_FIRST) | ADMIN_BIT(ADMIN_RECREATE_FOURTH)},
        {OPTION_ADMIN_SHORTEN_TTL,
         ADMIN_BIT(ADMIN_SHORTEN_FIRST) | ADMIN_BIT(ADMIN_SHORTEN_FOURTH) |
             ADMIN_BIT(ADMIN_SHORTEN_VERIFIED)},
        {OPTION_ADMIN_RETARGET, ADMIN_BIT(ADMIN_RETARGET)},
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
    if (queue->paused || queue->disabled) {
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

static void disable_from_outside(struct cloudtasks *state, struct queue *queue)
{
    if (queue->paused || queue->disabled) {
        return;
    }
    queue->disabled = true;
    queue->fault_paused = true;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_DISABLED, NULL);
}

static void put_to_sleep(struct cloudtasks *state, struct queue *queue)
{
    cloudtasks_queue_fall_asleep(state, queue);
    lasts_for(state, cloudtasks_option(state, OPTION_ADMIN_LENGTH));
}

static void retarget(struct cloudtasks *state, struct queue *queue)
{
    queue->fault_target = !queue->has_target;
    queue->has_target = true;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_TARGET, NULL);
}

static void take_away(struct cloudtasks *state, struct queue *queue)
{
    queue->exists = false;
    queue->fault_missing = true;
    cloudtasks_queue_note(state, queue, CAUSE_QUEUE_MISSING, NULL);
}

static void recreate_from_outside(struct cloudtasks *state, struct queue *queue)
{
    bool is_ghost = false;
    cloudtasks_queue_delete(state, queue, NULL);
    const nanos window = cloudtasks_queue_reuse_window(state, &is_ghost);
    const nanos due = nanos_add(cloudtasks_now(state), window);
    (void)model_at(&state->env, due, EVENT_RECREATE, queue->resource, queue->deleted_at);
    lasts_for(state, window);
}

static void shorten_ttl(struct cloudtasks *state, struct queue *queue)
{
    cloudtasks_queue_set_ttl(state, queue, CLOUDTASKS_TTL_LEAST);
    cloudtasks_queue_note(state, queue, CAUSE_TTL_SHORTENED, NULL);
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
    } else if (what == ADMIN_DISABLE) {
        disable_from_outside(state, queue);
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
                           ADMIN_BIT(ADMIN_RECREATE_FIRST) | ADMIN_BIT(ADMIN_SHORTEN_FIRST) |
                           ADMIN_BIT(ADMIN_RETARGET);
    const uint32_t fourth = ADMIN_BIT(ADMIN_PURGE_FOURTH) | ADMIN_BIT(ADMIN_RECREATE_FOURTH) |
                            ADMIN_BIT(ADMIN_SHORTEN_FOURTH);
    if ((ADMIN_BIT(what) & first) != 0) {
        return 1;
    }
    return (ADMIN_BIT(what) & fourth) != 0 ? 4 : UINT64_MAX;
}

/* It was drawn before the run began. */
static void meet(struct cloudtasks *state)
{
    struct world *world = state->env.world;
    fault_meets(world->fault, FAULT_RESOURCE, world->nodes[state->env.node].lane);
}

void cloudtasks_admin_created(struct cloudtasks *state, struct queue *queue)
{
    const enum cloudtasks_admin what = (enum cloudtasks_admin)state->admin;
    if (LIKELY(what == ADMIN_NONE) || state->created != admin_creation(what)) {
        return;
    }
    state->admin = ADMIN_NONE;
    COVER(state->env.world, CLOUDTASKS_ADMIN_ACTED);
    meet(state);
    if (what == ADMIN_PAUSE_LATER) {
        pause_from_outside(state, queue, false);
    } else if (what == ADMIN_PURGE_FIRST || what == ADMIN_PURGE_FOURTH) {
        cloudtasks_queue_purge(state, queue, NULL);
        lasts_for(state, CLOUDTASKS_PURGE_LAG);
    } else if (what == ADMIN_RECREATE_FIRST || what == ADMIN_RECREATE_FOURTH) {
        recreate_from_outside(state, queue);
    } else if (what == ADMIN_RETARGET) {
        retarget(state, queue);
    } else {
        CHECK(what == ADMIN_SHORTEN_FIRST || what == ADMIN_SHORTEN_FOURTH);
        shorten_ttl(state, queue);
    }
}

/* The queue was as it had to be when somebody looked, and is not any more (T7). */
void cloudtasks_admin_verified(struct cloudtasks *state, struct queue *queue)
{
    if (state->admin == ADMIN_SHORTEN_VERIFIED) {
        state->admin = ADMIN_NONE;
        COVER(state->env.world, CLOUDTASKS_CHANGED_AFTER_VERIFICATION);
        meet(state);
        shorten_ttl(state, queue);
    }
}

/* A deleted queue stays deleted: that its name rests is a rule of the service. */
void cloudtasks_admin_heal(struct cloudtasks *state)
{
    state->admin = ADMIN_NONE;
    for (uint32_t i = 0; i < state->queue_count; i++) {
        struct queue *queue = state->queues[i];
        if (queue->fault_target) {
            queue->fault_target = false;
            queue->has_target = false;
            cloudtasks_queue_note(state, queue, CAUSE_QUEUE_UPDATED, NULL);
        }
        if (queue->fault_missing) {
            cloudtasks_queue_open(state, queue);
            cloudtasks_queue_note(state, queue, CAUSE_QUEUE_CREATED, NULL);
        }
        if (queue->timer != SCHED_NONE) {
            sched_cancel(state->env.world->sched, queue->timer);
            queue->timer = SCHED_NONE;
        }
        if (queue->waking) {
            cloudtasks_queue_wake(state, queue);
        }
        if (queue->fault_paused) {
            cloudtasks_queue_resume(state, queue, NULL);
        }
    }
}
