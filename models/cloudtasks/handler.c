/* Dispatch: a task is handed to the modelled handler at least once, in no order (CT-10, CT-12 to
 * CT-16). One draw per task decides how that goes; in a calm run a task costs one event.
 *
 *   state      | DISPATCH                | ANSWER                      | DUPLICATE
 *   -----------+-------------------------+-----------------------------+-----------------
 *   ABSENT     | -                       | -                           | runs once more
 *   SCHEDULED  | queue asleep: HELD      | -                           | -
 *              | too old: REMEMBERED     |                             |
 *              | drawn late, throttled   |                             |
 *              |   or rated: SCHEDULED   |                             |
 *              | attempt fails:          |                             |
 *              |   SCHEDULED, or the     |                             |
 *              |   last one: RUNNING     |                             |
 *              | else runs: RUNNING      |                             |
 *   HELD       | -                       | -                           | -
 *   RUNNING    | -                       | attempt overran: SCHEDULED  | -
 *              |                         | no attempt left: REMEMBERED |
 *              |                         | 2xx: REMEMBERED             |
 *   REMEMBERED | -                       | -                           | runs once more
 *
 * A resumed or woken queue takes HELD to SCHEDULED; delete, purge and task_ttl take every live
 * state to REMEMBERED and cancel the timer, so that no event of a removed task arrives but
 * DUPLICATE.
 */
#include "models/cloudtasks/state.h"

#define LATE_BY       MINUTES(1)
#define THROTTLED_FOR SECONDS(10)
#define FAILURES_FEW  3u

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
    return !queue->paused && !queue->disabled && !queue->waking &&
           cloudtasks_option(state, OPTION_DISPATCH) != 0;
}

/* The task waits for its queue. The oldest task of a queue comes to its task_ttl first. */
static void hold(struct cloudtasks *state, struct task *task)
{
    struct queue *queue = task->queue;
    task->state = TASK_HELD;
    COVER(state->env.world, CLOUDTASKS_DISPATCH_HELD);
    if (queue->age_timer == SCHED_NONE) {
        const nanos due = nanos_add(task->created_at, queue->task_ttl);
        const nanos now = cloudtasks_now(state);
        queue->age_timer =
            model_at(&state->env, due > now ? due : now, EVENT_AGE, queue->resource, 0);
    }
}

void cloudtasks_dispatch_age(struct cloudtasks *state, struct queue *queue)
{
    const nanos now = cloudtasks_now(state);
    queue->age_timer = SCHED_NONE;
    struct list_link *link = list_first(&queue->tasks);
    while (link != NULL) {
        struct task *task = LIST_ITEM(link, struct task, link);
        link = list_next(&queue->tasks, link);
        if (task->state != TASK_HELD) {
            continue;
        }
        if (now - task->created_at < queue->task_ttl) {
            hold(state, task); /* the oldest that is left: arms the timer anew */
            return;
        }
        cloudtasks_dispatch_end(state, task, CAUSE_TTL, NULL);
    }
}

/* A dispatch that is planned stays where it is, and meets the new age then. */
void cloudtasks_dispatch_ttl_changed(struct cloudtasks *state, struct queue *queue)
{
    if (queue->age_timer != SCHED_NONE) {
        sched_cancel(state->env.world->sched, queue->age_timer);
        cloudtasks_dispatch_age(state, queue);
    }
}

/* A task that is due after its task_ttl is looked at when that is over. */
void cloudtasks_dispatch_start(struct cloudtasks *state, struct task *task)
{
    CHECK(task->state == TASK_HELD);
    const nanos due = nanos_sub(task->due_wall, task->created_wall);
    const nanos wait = nanos_add(due, cloudtasks_option(state, OPTION_DISPATCH_LATENCY));
    const nanos ttl = task->queue->task_ttl;
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

/* The handler does its work: the effect that a consumer of tasks sees. A target of the queue's own
 * takes the place of the task's (CT-27). */
static void run_handler(struct cloudtasks *state, struct task *task)
{
    if (UNLIKELY(task->queue->has_target)) {
        cloudtasks_task_visible(state, task, CLOUDTASKS_READER_QUEUE_TARGET, NULL);
        return;
    }
    cloudtasks_task_visible(state, task, CLOUDTASKS_READER_HANDLER, NULL);
    if (cloudtasks_option(state, OPTION_HANDLER) != HANDLER_PLAIN) {
        cloudtasks_ledger_handled(state, task);
    }
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

/* Between a failed attempt and the next: from min_backoff, doubled so many times, then growing by
 * what it has come to, up to max_backoff (CT-15). */
static nanos backoff(const struct cloudtasks *state, uint32_t failures)
{
    const nanos max = cloudtasks_option(state, OPTION_RETRY_BACKOFF_MAX);
    const uint32_t doublings = narrow_u32(cloudtasks_option(state, OPTION_RETRY_DOUBLINGS));
    const uint32_t grown = failures - 1;
    CHECK(failures > 0);
    const uint32_t doubled = grown < doublings ? grown : doublings;
    const nanos step =
        nanos_mul(cloudtasks_option(state, OPTION_RETRY_BACKOFF), UINT64_C(1) << doubled);
    const nanos length = nanos_mul(step, (uint64_t)grown - doubled + 1);
    return length < max ? length : max;
}

/* Whether no attempt is left: their number is used up and, where the queue limits it, their time. */
static bool is_exhausted(const struct cloudtasks *state, const struct task *task)
{
    const uint64_t attempts_max = cloudtasks_option(state, OPTION_RETRY_ATTEMPTS_MAX);
    const nanos duration_max = cloudtasks_option(state, OPTION_RETRY_DURATION_MAX);
    const nanos since_first = cloudtasks_now(state) - task->first_attempt_at;
    if (task->attempts < attempts_max || (attempts_max == 0 && duration_max == 0)) {
        return false;
    }
    return since_first >= duration_max;
}

static void give_up(struct cloudtasks *state, struct task *task)
{
    COVER(state->env.world, CLOUDTASKS_ATTEMPTS_EXHAUSTED);
    cloudtasks_task_remove(state, task, CAUSE_EXHAUSTED, NULL);
}

/* An attempt that the service counts as failed, known to it after some time. */
static void fail(struct cloudtasks *state, struct task *task, nanos latency)
{
    if (!is_exhausted(state, task)) {
        schedule(state, task, nanos_add(latency, backoff(state, task->attempts)));
    } else if (latency == 0) {
        give_up(state, task);
    } else {
        task->state = TASK_RUNNING;
        task->last = true;
        arm(state, task, EVENT_ANSWER, latency);
    }
}

static void throttle(struct cloudtasks *state, struct queue *queue)
{
    queue->throttled_until = nanos_add(cloudtasks_now(state), THROTTLED_FOR);
    COVER(state->env.world, CLOUDTASKS_THROTTLED);
}

/* The first attempt goes as drawn. */
static void attempt_first(struct cloudtasks *state, struct task *task)
{
    const nanos latency = cloudtasks_option(state, OPTION_HANDLER_LATENCY);
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
    case DISPATCH_FAILS_THRICE:
    case DISPATCH_FAILS_ALWAYS:
        fail(state, task, latency);
        return;
    case DISPATCH_THROTTLED:
        throttle(state, task->queue);
        fail(state, task, latency);
        return;
    case DISPATCH_ANSWER_LOST:
        run_handler(state, task);
        fail(state, task, latency);
        return;
    case DISPATCH_SLOW:
        run_handler(state, task);
        answer_after(state, task, task->dispatch_deadline / 2);
        return;
    }
    UNREACHABLE();
}

/* A later attempt fails, too, where the draw said so. */
static bool fails_again(const struct task *task)
{
    return task->plan == DISPATCH_FAILS_ALWAYS ||
           (task->plan == DISPATCH_FAILS_THRICE && task->attempts <= FAILURES_FEW);
}

static void attempt(struct cloudtasks *state, struct task *task)
{
    task->attempts++;
    if (LIKELY(task->attempts == 1)) {
        task->first_attempt_at = cloudtasks_now(state);
        attempt_first(state, task);
        return;
    }
    const nanos latency = cloudtasks_option(state, OPTION_HANDLER_LATENCY);
    if (fails_again(task)) {
        fail(state, task, latency);
    } else {
        run_handler(state, task);
        answer_after(state, task, latency);
    }
}

/* How long a queue that dispatches does not do so yet: its handler asked it to slow down (CT-13), or
 * its rate is used up. */
static nanos wait_for_queue(struct cloudtasks *state, struct queue *queue, nanos now)
{
    if (UNLIKELY(now < queue->throttled_until)) {
        return queue->throttled_until - now;
    }
    return LIKELY(state->rules == 0) ? 0 : cloudtasks_rules_dispatch(state, queue, now);
}

static uint32_t dispatch_wanted(const struct cloudtasks *state)
{
    return cloudtasks_option(state, OPTION_HANDLER_FAILS) != 0
               ? CHOICE_ALL
               : ~(UINT32_C(1) << DISPATCH_FAILS_ALWAYS);
}

static void dispatch(struct cloudtasks *state, struct task *task)
{
    struct queue *queue = task->queue;
    const nanos now = cloudtasks_now(state);
    if (now - task->created_at >= queue->task_ttl) {
        cloudtasks_dispatch_end(state, task, CAUSE_TTL, NULL);
        return;
    }
    cloudtasks_queue_active(state, queue, now);
    if (!queue_dispatches(state, queue)) {
        hold(state, task);
        return;
    }
    const nanos wait = wait_for_queue(state, queue, now);
    if (UNLIKELY(wait > 0)) {
        schedule(state, task, wait);
        return;
    }
    if (task->attempts == 0 && !task->late) {
        task->plan = (uint8_t)cloudtasks_draw(state, SITE_DISPATCH, dispatch_wanted(state));
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
    if (task->last) {
        give_up(state, task);
    } else if (task->plan == DISPATCH_OVERLAPS && task->attempts == 1) {
        fail(state, task, 0);
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
        COVER(state->env.world, CLOUDTASKS_DISPATCHED_TWICE);
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

bool cloudtasks_dispatch_is_out(const struct cloudtasks *state, const struct task *task)
{
    CHECK(task_is_live(task));
    return task->state == TASK_RUNNING ||
           (task->state == TASK_SCHEDULED && task->due_wall <= cloudtasks_wall(state));
}

void cloudtasks_dispatch_once_more(struct cloudtasks *state, struct task *task)
{
    CHECK(task->state == TASK_REMEMBERED || task->state == TASK_ABSENT);
    arm(state, task, EVENT_DUPLICATE, cloudtasks_option(state, OPTION_DISPATCH_LATENCY));
}
