/* Dispatch: a task is handed to the modelled handler at least once, in no order (CT-10, CT-12 to
 * CT-16). One draw per task decides how that goes; in a calm run a task costs one event.
 *
 *   state      | DISPATCH                | ANSWER                      | DUPLICATE
 *   -----------+-------------------------+-----------------------------+-----------------
 *   ABSENT     | -                       | -                           | runs once more
 *   SCHEDULED  | queue asleep: HELD      | -                           | -
 *              | too old: REMEMBERED     |                             |
 *              | drawn late: SCHEDULED   |                             |
 *              | first attempt fails:    |                             |
 *              |   SCHEDULED             |                             |
 *              | else runs: RUNNING      |                             |
 *   HELD       | -                       | -                           | -
 *   RUNNING    | -                       | attempt overran: SCHEDULED  | -
 *              |                         | 2xx: REMEMBERED             |
 *   REMEMBERED | -                       | -                           | runs once more
 *
 * A resumed or woken queue takes HELD to SCHEDULED; delete, purge and task_ttl take every live
 * state to REMEMBERED and cancel the timer, so that no event of a removed task arrives but
 * DUPLICATE.
 */
#include "models/cloudtasks/state.h"

#define LATE_BY MINUTES(1)

static void
arm(struct cloudtasks *state, struct task *task, enum cloudtasks_event what, nanos after)
{
    CHECK(task->timer == SCHED_NONE);
    const nanos due = nanos_add(cloudtasks_now(state), after);
    task->timer = model_at(&state->env, due, (uint8_t)what, task->resource, task->generation);
    state->busy++;
}

static void schedule(struct cloudtasks *state, struct task *task, nanos after)
{
    task->state = TASK_SCHEDULED;
    arm(state, task, EVENT_DISPATCH, after);
}

void cloudtasks_dispatch_stop(struct cloudtasks *state, struct task *task)
{
    if (task->timer != SCHED_NONE) {
        sched_cancel(state->env.world->sched, task->timer);
        task->timer = SCHED_NONE;
        CHECK(state->busy > 0);
        state->busy--;
    }
}

void cloudtasks_dispatch_end(struct cloudtasks *state,
                             struct task *task,
                             enum cloudtasks_cause cause,
                             const struct model_request *request_or_null)
{
    CHECK(task_is_live(task));
    cloudtasks_dispatch_stop(state, task);
    cloudtasks_task_remove(state, task, cause, request_or_null);
}

static bool queue_dispatches(const struct cloudtasks *state, const struct queue *queue)
{
    CHECK(queue->exists);
    return !queue->paused && !queue->waking && cloudtasks_option(state, OPTION_DISPATCH) != 0;
}

/* The task waits for its queue. The oldest task of a queue comes to its task_ttl first. */
static void hold(struct cloudtasks *state, struct task *task)
{
    struct queue *queue = task->queue;
    task->state = TASK_HELD;
    COVER(state->env.world, "cloudtasks.dispatch_held");
    if (queue->age_timer == SCHED_NONE) {
        const nanos due = nanos_add(task->created_at, cloudtasks_option(state, OPTION_TASK_TTL));
        const nanos now = cloudtasks_now(state);
        queue->age_timer =
            model_at(&state->env, due > now ? due : now, EVENT_AGE, queue->resource, 0);
    }
}

void cloudtasks_dispatch_age(struct cloudtasks *state, struct queue *queue)
{
    const nanos now = cloudtasks_now(state);
    const nanos ttl = cloudtasks_option(state, OPTION_TASK_TTL);
    queue->age_timer = SCHED_NONE;
    struct list_link *link = list_first(&queue->tasks);
    while (link != NULL) {
        struct task *task = LIST_ITEM(link, struct task, link);
        link = list_next(&queue->tasks, link);
        if (task->state != TASK_HELD) {
            continue;
        }
        if (now - task->created_at < ttl) {
            hold(state, task); /* the oldest that is left: arms the timer anew */
            return;
        }
        cloudtasks_dispatch_end(state, task, CAUSE_TTL, NULL);
    }
}

/* A task that is due after its task_ttl is looked at when that is over. */
void cloudtasks_dispatch_start(struct cloudtasks *state, struct task *task)
{
    CHECK(task->state == TASK_HELD);
    const nanos due = nanos_sub(task->due_wall, task->created_wall);
    const nanos wait = nanos_add(due, cloudtasks_option(state, OPTION_DISPATCH_LATENCY));
    const nanos ttl = cloudtasks_option(state, OPTION_TASK_TTL);
    schedule(state, task, wait < ttl ? wait : ttl);
}

void cloudtasks_dispatch_resume(struct cloudtasks *state, struct queue *queue)
{
    const nanos latency = cloudtasks_option(state, OPTION_DISPATCH_LATENCY);
    struct list_link *link = list_first(&queue->tasks);
    if (!queue_dispatches(state, queue)) {
        return;
    }
    while (link != NULL) {
        struct task *task = LIST_ITEM(link, struct task, link);
        link = list_next(&queue->tasks, link);
        if (task->state == TASK_HELD) {
            schedule(state, task, latency);
        }
    }
}

/* The handler does its work: the effect that a consumer of tasks sees. */
static void run_handler(struct cloudtasks *state, const struct task *task)
{
    cloudtasks_task_visible(state, task, CLOUDTASKS_READER_HANDLER, NULL);
}

/* The handler answered 2xx and the service took notice. */
static void finish(struct cloudtasks *state, struct task *task)
{
    cloudtasks_task_remove(state, task, CAUSE_EXECUTED, NULL);
    if (task->plan == DISPATCH_TWICE) {
        arm(state, task, EVENT_DUPLICATE, cloudtasks_option(state, OPTION_RETRY_BACKOFF));
    }
}

static void answer_after(struct cloudtasks *state, struct task *task, nanos latency)
{
    if (latency == 0) {
        finish(state, task);
    } else {
        task->state = TASK_RUNNING;
        arm(state, task, EVENT_ANSWER, latency);
    }
}

/* The first attempt goes as drawn. */
static void attempt_first(struct cloudtasks *state, struct task *task)
{
    const nanos latency = cloudtasks_option(state, OPTION_HANDLER_LATENCY);
    const nanos retry = nanos_add(latency, cloudtasks_option(state, OPTION_RETRY_BACKOFF));
    switch ((enum cloudtasks_dispatch)task->plan) {
    case DISPATCH_ONCE:
    case DISPATCH_TWICE:
    case DISPATCH_LATE:
        run_handler(state, task);
        answer_after(state, task, latency);
        return;
    case DISPATCH_OVERLAPS:
        run_handler(state, task);
        answer_after(state, task, task->dispatch_deadline);
        return;
    case DISPATCH_FAILS_THEN_OK:
        schedule(state, task, retry);
        return;
    case DISPATCH_ANSWER_LOST:
        run_handler(state, task);
        schedule(state, task, retry);
        return;
    case DISPATCH_SLOW:
        run_handler(state, task);
        answer_after(state, task, task->dispatch_deadline / 2);
        return;
    }
    UNREACHABLE();
}

static void attempt(struct cloudtasks *state, struct task *task)
{
    task->attempts++;
    if (task->attempts == 1) {
        attempt_first(state, task);
    } else {
        run_handler(state, task);
        answer_after(state, task, cloudtasks_option(state, OPTION_HANDLER_LATENCY));
    }
}

static void dispatch(struct cloudtasks *state, struct task *task)
{
    const nanos age = cloudtasks_now(state) - task->created_at;
    if (age >= cloudtasks_option(state, OPTION_TASK_TTL)) {
        cloudtasks_dispatch_end(state, task, CAUSE_TTL, NULL);
        return;
    }
    if (!queue_dispatches(state, task->queue)) {
        hold(state, task);
        return;
    }
    if (task->attempts == 0 && !task->late) {
        task->plan = (uint8_t)cloudtasks_draw(state, SITE_DISPATCH, CHOICE_ALL);
        if (task->plan == DISPATCH_LATE) {
            task->late = true;
            schedule(state, task, LATE_BY);
            return;
        }
    }
    attempt(state, task);
}

/* An attempt that outlasted its deadline counts as failed, though the handler did its work. */
static void answer(struct cloudtasks *state, struct task *task)
{
    if (task->plan == DISPATCH_OVERLAPS && task->attempts == 1) {
        schedule(state, task, cloudtasks_option(state, OPTION_RETRY_BACKOFF));
    } else {
        finish(state, task);
    }
}

void cloudtasks_dispatch_event(struct cloudtasks *state, uint8_t what, struct task *task)
{
    CHECK(task->timer != SCHED_NONE);
    CHECK(state->busy > 0);
    task->timer = SCHED_NONE;
    state->busy--;
    if (what == EVENT_DISPATCH) {
        CHECK(task->state == TASK_SCHEDULED);
        dispatch(state, task);
    } else if (what == EVENT_ANSWER) {
        CHECK(task->state == TASK_RUNNING);
        answer(state, task);
    } else {
        CHECK(what == EVENT_DUPLICATE);
        CHECK(!task_is_live(task));
        COVER(state->env.world, "cloudtasks.dispatched_twice");
        run_handler(state, task);
    }
}

/* Beside an attempt that runs already, the forced one is a copy of it; else it is the attempt. */
void cloudtasks_dispatch_force(struct cloudtasks *state, struct task *task)
{
    CHECK(task_is_live(task));
    if (task->state == TASK_RUNNING) {
        task->attempts++;
        run_handler(state, task);
        return;
    }
    cloudtasks_dispatch_stop(state, task);
    task->plan = DISPATCH_ONCE;
    attempt(state, task);
}
