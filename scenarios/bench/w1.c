#include "scenarios/bench/w1.h"

#include "sim/sched.h"
#include "sim/trace.h"
#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

/* Time in ticks; one tick is one nanosecond. */
#define DEADLINE_TICKS   20000u
#define CHECKPOINT_TICKS 25000u
#define RESTORE_TICKS    30000u

/* The numbers go into the digest. */
enum w1_event {
    W1_NONE = 0,
    W1_REQUEST,
    W1_RESPONSE,
    W1_DEADLINE,
    W1_RETRY,
    W1_CHECKPOINT,
    W1_CRASH,
    W1_RESTORE,
};

/* The fate of a request in per mille: below LOST lost, below SILENT applied but not answered, below
 * UNAVAILABLE answered without being applied. */
#define FATE_LOST        20u
#define FATE_SILENT      40u
#define FATE_UNAVAILABLE 50u

struct window_slot {
    sched_handle timer; /* deadline or retry */
    uint32_t record;
    uint32_t attempt;
    uint32_t token; /* of the request that may still be answered; 0: none */
    uint32_t next_free;
};

struct subtask {
    uint32_t next;      /* next record to admit */
    uint32_t saved;     /* what next was at the last completed checkpoint */
    uint32_t in_flight; /* admitted and unfinished */
    uint32_t free_slot; /* index of the first free slot; NO_SLOT if none */
    bool barrier;
    bool acked;
};

#define NO_SLOT UINT32_MAX

struct run {
    struct sched sched;
    struct trace trace;
    struct w1_size size;
    struct subtask *subtasks;
    struct window_slot *slots; /* those of subtask s from s * window on */
    uint32_t *applied;         /* by record: the service */
    uint32_t random;
    uint32_t token;
    uint32_t incarnation;
    uint32_t digest;
    bool is_down;
    bool checkpoint_active;
    bool is_done;
};

/* --- random numbers and payloads ------------------------------------------------------------ */

/* splitmix32 */
static uint32_t random_next(struct run *run)
{
    run->random += 0x9e3779b9u;
    uint32_t mixed = run->random;
    mixed = (mixed ^ mixed >> 16) * 0x21f0aaadu;
    mixed = (mixed ^ mixed >> 15) * 0x735a2d97u;
    return mixed ^ mixed >> 15;
}

static uint32_t random_below(struct run *run, uint32_t bound)
{
    return (uint32_t)((uint64_t)random_next(run) * bound >> 32);
}

/* What a request or response carries. detail is the fate of a request, and for a response whether it
 * says ok. In an event, a holds record and token, b the rest, and node is the subtask. */
struct message {
    uint32_t record;
    uint32_t token;
    uint32_t slot;
    uint32_t detail;
    uint32_t incarnation;
};

static uint64_t message_a(const struct message *message)
{
    return (uint64_t)message->token << 32 | message->record;
}

static uint64_t message_b(const struct message *message)
{
    return (uint64_t)message->incarnation << 32 | message->detail << 16 | message->slot;
}

static struct message message_of(const struct sched_event *event)
{
    return (struct message){
        .record = (uint32_t)event->a,
        .token = (uint32_t)(event->a >> 32),
        .slot = (uint32_t)event->b & 0xffffu,
        .detail = (uint32_t)(event->b >> 16) & 0xffffu,
        .incarnation = (uint32_t)(event->b >> 32),
    };
}

static void message_send(struct run *run,
                         enum w1_event kind,
                         uint32_t subtask,
                         const struct message *message,
                         nanos delay)
{
    (void)sched_after(
        &run->sched, delay, subtask, (uint32_t)kind, message_a(message), message_b(message));
}

/* Fold an event into W1's digest and the simulator's trace. */
static void note(struct run *run, const struct sched_event *event, uint32_t record, uint32_t token)
{
    uint32_t digest = (run->digest ^ (uint32_t)event->due) * 0x85ebca6bu;
    digest ^= digest >> 13;
    digest = (digest ^ (event->kind | record << 4)) * 0xc2b2ae35u;
    run->digest = digest ^ digest >> 16;
    const enum trace_kind kind =
        (enum trace_kind)(TRACE_W1_REQUEST + (event->kind - (uint32_t)W1_REQUEST));
    trace_event(&run->trace, kind, event->due, event->node, record, token);
}

/* --- sending -------------------------------------------------------------------------------- */

static uint32_t slot_take(struct run *run, struct subtask *subtask)
{
    const uint32_t index = subtask->free_slot;
    CHECK(index != NO_SLOT);
    subtask->free_slot = run->slots[index].next_free;
    return index;
}

static void slot_give(struct run *run, struct subtask *subtask, uint32_t index)
{
    run->slots[index].next_free = subtask->free_slot;
    run->slots[index].token = 0;
    subtask->free_slot = index;
}

/* Send the slot's record, with a deadline. */
static void issue(struct run *run, uint32_t subtask, uint32_t index)
{
    struct window_slot *slot = &run->slots[index];
    slot->token = ++run->token;
    const uint32_t fate = random_below(run, 1000);
    const uint32_t latency = 200 + random_below(run, 1800);
    if (fate >= FATE_LOST) {
        const struct message request = {
            .record = slot->record,
            .token = slot->token,
            .slot = index,
            .detail = fate,
            .incarnation = run->incarnation,
        };
        message_send(run, W1_REQUEST, subtask, &request, latency);
    }
    slot->timer =
        sched_after(&run->sched, DEADLINE_TICKS, subtask, W1_DEADLINE, index, slot->token);
}

static void schedule_retry(struct run *run, uint32_t subtask, uint32_t index)
{
    struct window_slot *slot = &run->slots[index];
    const uint32_t doublings = slot->attempt < 4 ? slot->attempt : 4;
    const nanos delay = (2000u << doublings) + random_below(run, 2000);
    slot->timer = sched_after(&run->sched, delay, subtask, W1_RETRY, index, 0);
}

/* Admit records while the window allows. */
static void start(struct run *run, uint32_t number)
{
    struct subtask *subtask = &run->subtasks[number];
    while (!run->is_down && !subtask->barrier && subtask->in_flight < run->size.window &&
           subtask->next < run->size.records) {
        const uint32_t index = slot_take(run, subtask);
        subtask->in_flight++;
        run->slots[index].record = number * run->size.records + subtask->next++;
        run->slots[index].attempt = 0;
        issue(run, number, index);
    }
}

static void start_all(struct run *run)
{
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        start(run, i);
    }
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static bool all_acked(const struct run *run)
{
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        if (!run->subtasks[i].acked) {
            return false;
        }
    }
    return true;
}

static void ack(struct run *run, uint32_t number)
{
    run->subtasks[number].acked = true;
    if (!all_acked(run)) {
        return;
    }
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        run->subtasks[i].saved = run->subtasks[i].next;
        run->subtasks[i].barrier = false;
    }
    run->checkpoint_active = false;
    start_all(run);
}

static void on_checkpoint(struct run *run)
{
    (void)sched_after(&run->sched, CHECKPOINT_TICKS, 0, W1_CHECKPOINT, 0, 0);
    if (run->is_down || run->checkpoint_active) {
        return;
    }
    run->checkpoint_active = true;
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        run->subtasks[i].barrier = true;
        run->subtasks[i].acked = false;
    }
    for (uint32_t i = 0; i < run->size.subtasks && run->checkpoint_active; i++) {
        if (run->subtasks[i].in_flight == 0) {
            ack(run, i);
        }
    }
}

/* --- messages and timers -------------------------------------------------------------------- */

static void on_request(struct run *run, const struct sched_event *event)
{
    struct message message = message_of(event);
    note(run, event, message.record, message.token);
    const uint32_t fate = message.detail;
    const bool is_ok = fate < FATE_SILENT || fate >= FATE_UNAVAILABLE;
    run->applied[message.record] += is_ok;
    if (fate < FATE_SILENT) {
        return;
    }
    message.detail = is_ok;
    message_send(run, W1_RESPONSE, event->node, &message, 500 + random_below(run, 4500));
}

/* Everything is admitted and finished. */
static bool all_done(const struct run *run)
{
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        if (run->subtasks[i].next != run->size.records || run->subtasks[i].in_flight != 0) {
            return false;
        }
    }
    return !run->is_down;
}

static void on_success(struct run *run, uint32_t number, uint32_t index)
{
    struct subtask *subtask = &run->subtasks[number];
    slot_give(run, subtask, index);
    subtask->in_flight--;
    run->is_done = all_done(run);
    if (run->is_done) {
        return;
    }
    if (!subtask->barrier) {
        start(run, number);
    } else if (subtask->in_flight == 0) {
        ack(run, number);
    }
}

static void on_response(struct run *run, const struct sched_event *event)
{
    const struct message message = message_of(event);
    note(run, event, message.record, message.token);
    struct window_slot *slot = &run->slots[message.slot];
    if (message.incarnation != run->incarnation || message.token != slot->token) {
        return;
    }
    sched_cancel(&run->sched, slot->timer);
    slot->timer = SCHED_NONE;
    if (message.detail) {
        on_success(run, event->node, message.slot);
    } else {
        schedule_retry(run, event->node, message.slot);
    }
}

static void on_deadline(struct run *run, const struct sched_event *event)
{
    const uint32_t index = (uint32_t)event->a;
    note(run, event, run->slots[index].record, (uint32_t)event->b);
    run->slots[index].token = 0;
    schedule_retry(run, event->node, index);
}

static void on_retry(struct run *run, const struct sched_event *event)
{
    const uint32_t index = (uint32_t)event->a;
    note(run, event, run->slots[index].record, 0);
    run->slots[index].attempt++;
    issue(run, event->node, index);
}

/* --- crash and restore ---------------------------------------------------------------------- */

/* Make all slots of a subtask free. */
static void slots_clear(struct run *run, uint32_t number)
{
    struct subtask *subtask = &run->subtasks[number];
    subtask->in_flight = 0;
    subtask->free_slot = NO_SLOT;
    for (uint32_t i = run->size.window; i-- > 0;) {
        const uint32_t index = number * run->size.window + i;
        run->slots[index].timer = SCHED_NONE;
        slot_give(run, subtask, index);
    }
}

static void on_crash(struct run *run)
{
    run->incarnation++;
    run->is_down = true;
    run->checkpoint_active = false;
    for (uint32_t i = 0; i < run->size.subtasks * run->size.window; i++) {
        if (run->slots[i].timer != SCHED_NONE) {
            sched_cancel(&run->sched, run->slots[i].timer);
        }
    }
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        run->subtasks[i].barrier = false;
        slots_clear(run, i);
    }
    (void)sched_after(&run->sched, RESTORE_TICKS, 0, W1_RESTORE, 0, 0);
}

static void on_restore(struct run *run)
{
    run->is_down = false;
    for (uint32_t i = 0; i < run->size.subtasks; i++) {
        run->subtasks[i].next = run->subtasks[i].saved;
    }
    start_all(run);
}

/* --- a run ---------------------------------------------------------------------------------- */

static void dispatch(struct run *run, const struct sched_event *event)
{
    switch ((enum w1_event)event->kind) {
    case W1_REQUEST:
        on_request(run, event);
        return;
    case W1_RESPONSE:
        on_response(run, event);
        return;
    case W1_DEADLINE:
        on_deadline(run, event);
        return;
    case W1_RETRY:
        on_retry(run, event);
        return;
    case W1_CHECKPOINT:
        note(run, event, 0, 0);
        on_checkpoint(run);
        return;
    case W1_CRASH:
        note(run, event, 0, 0);
        on_crash(run);
        return;
    case W1_RESTORE:
        note(run, event, 0, 0);
        on_restore(run);
        return;
    case W1_NONE:
        break;
    }
    UNREACHABLE();
}

static struct run *run_start(struct arena *arena, const struct w1_size *size, uint32_t seed)
{
    const uint32_t slot_count = size->subtasks * size->window;
    CHECK(slot_count <= UINT16_MAX); /* of a message */
    struct run *run = arena_take(arena, sizeof(*run));
    memset(run, 0, sizeof(*run));
    run->size = *size;
    run->random = seed;
    run->subtasks = arena_take_zeroed(arena, size->subtasks * sizeof(*run->subtasks));
    run->slots = arena_take(arena, slot_count * sizeof(*run->slots));
    run->applied =
        arena_take_zeroed(arena, (size_t)size->subtasks * size->records * sizeof(*run->applied));
    sched_init(&run->sched, arena, NULL, &(struct sched_options){.ties_from_tape = false});
    trace_init(&run->trace, arena, 256);
    const uint64_t crash_bound = (uint64_t)size->records * 600;
    const uint32_t crash =
        random_below(run, crash_bound < 1000000 ? (uint32_t)crash_bound : 1000000);
    (void)sched_at(&run->sched, 10000 + (nanos)crash, 0, W1_CRASH, 0, 0);
    (void)sched_at(&run->sched, CHECKPOINT_TICKS, 0, W1_CHECKPOINT, 0, 0);
    for (uint32_t i = 0; i < size->subtasks; i++) {
        slots_clear(run, i);
    }
    start_all(run);
    return run;
}

static void run_judge(const struct run *run, struct w1_result *result)
{
    for (uint32_t i = 0; i < run->size.subtasks * run->size.records; i++) {
        if (run->applied[i] == 0) {
            result->lost++;
        } else {
            result->dups += run->applied[i] - 1;
        }
    }
    result->events += run->sched.stepped;
    result->digest_xor ^= run->digest;
    result->end_sum += run->sched.now;
    result->unfinished += !run->is_done;
    result->trace_digest += run->trace.digest;
}

void w1_run_many(const struct w1_sweep *sweep, struct arena *arena, struct w1_result *result)
{
    *result = (struct w1_result){.events = 0};
    for (uint32_t i = 0; i < sweep->count; i++) {
        arena_reset(arena);
        struct run *run = run_start(arena, &sweep->size, sweep->seed_from + i);
        struct sched_event event;
        while (!run->is_done && sched_step(&run->sched, &event)) {
            dispatch(run, &event);
        }
        run_judge(run, result);
    }
}

/* --- pop-push ------------------------------------------------------------------------------- */

#define POP_PUSH_DELAY_BITS 20u /* delays from 1 ns to about 1 ms */

static nanos pop_push_delay(uint64_t number)
{
    return 1 + (digest_mix(number) & ((UINT64_C(1) << POP_PUSH_DELAY_BITS) - 1));
}

static void pop_push_start(struct sched *sched, struct arena *arena, uint32_t pending)
{
    arena_reset(arena);
    sched_init(sched, arena, NULL, &(struct sched_options){.event_count_max = UINT32_MAX});
    for (uint32_t i = 0; i < pending; i++) {
        (void)sched_after(sched, pop_push_delay(i), 0, 1, i, SCHED_NONE);
    }
}

uint64_t w1_pop_push(struct arena *arena, uint32_t pending, uint64_t steps)
{
    struct sched sched;
    struct sched_event event;
    uint64_t checksum = 0;
    pop_push_start(&sched, arena, pending);
    for (uint64_t i = 0; i < steps; i++) {
        CHECK(sched_step(&sched, &event));
        checksum += event.due ^ event.a;
        (void)sched_after(&sched, pop_push_delay(pending + i), 0, 1, event.a, 0);
    }
    return checksum;
}

uint64_t w1_pop_push_deadlines(struct arena *arena, uint32_t pending, uint64_t steps)
{
    struct sched sched;
    struct sched_event event;
    uint64_t checksum = 0;
    pop_push_start(&sched, arena, pending / 2);
    for (uint64_t i = 0; i < steps; i++) {
        CHECK(sched_step(&sched, &event));
        CHECK(event.kind == 1);
        checksum += event.due ^ event.a;
        if (event.b != SCHED_NONE) {
            sched_cancel(&sched, event.b);
        }
        const nanos delay = pop_push_delay(pending / 2 + i);
        const sched_handle deadline = sched_after(&sched, 20 * MS(1), 0, 2, event.a, 0);
        (void)sched_after(&sched, delay, 0, 1, event.a, deadline);
    }
    return checksum;
}
