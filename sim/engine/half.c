/* The host of one half of a sink: hands it events and carries out its effects, in their order.
 * What a half must not do is noted as a broken contract rule and judged by the oracle contract; the
 * effect is carried out all the same where that is possible, so that its consequences show. */
#include "sim/engine/engine.h"
#include "sinks/base/digest.h"

#include <string.h>

#define SEND_ROOM 32u /* sends in one step; the rest waits for MORE */

static const enum lane_kind lane_of_role[] = {
    [HALF_WRITER] = LANE_WRITER, [HALF_COMMITTER] = LANE_COMMITTER, [HALF_POLICY] = LANE_POLICY};

static void note_half(struct half *half, enum journal_kind kind, uint8_t code, uint64_t a)
{
    job_note(half->job,
             (struct journal_entry){.kind = (uint8_t)kind,
                                    .code = code,
                                    .lane = half->lane,
                                    .attempt = half->attempt,
                                    .a = a});
}

void half_broke(struct half *half, enum contract_rule rule, uint64_t detail)
{
    note_half(half, HOST_CONTRACT, (uint8_t)rule, detail);
}

static void register_half(struct job *job, struct half *half)
{
    if (job->half_count == job->half_capacity) {
        uint32_t capacity = job->half_capacity == 0 ? 16 : job->half_capacity * 2;
        struct half **halves = arena_take(job->world->arena, capacity * sizeof(struct half *));
        for (uint32_t i = 0; i < job->half_count; i++) {
            halves[i] = job->halves[i];
        }
        job->halves = halves;
        job->half_capacity = capacity;
    }
    job->halves[job->half_count] = half;
    job->half_count++;
    half->number = job->half_count;
}

static const struct sink_user *user_of(const struct job_config *config, uint16_t attempt)
{
    return attempt > 1 && config->user_again_or_null != NULL ? config->user_again_or_null
                                                             : config->user;
}

struct half *half_create(struct job *job,
                         const struct sink_half *type,
                         enum half_role role,
                         uint32_t node,
                         uint32_t subtask)
{
    struct half *half = arena_take_zeroed(job->world->arena, sizeof(*half));
    half->job = job;
    half->type = type;
    half->role = (uint8_t)role;
    half->node = node;
    half->subtask = subtask;
    half->region = region_of(job, subtask);
    half->attempt = half->region->attempt;
    half->lane = lane_make(lane_of_role[role], subtask);
    half->env = (struct sink_env){.allocator = &job->allocator,
                                  .options = job->options,
                                  .user = user_of(job->config, half->attempt),
                                  .job = &job->config->facts,
                                  .subtask = subtask,
                                  .parallelism = job->subtasks,
                                  .job_id = job->job_id,
                                  .attempt = half->attempt};
    half->of_next_sink = role != HALF_POLICY && restart_is_next_sink(job);
    register_half(job, half);
    half->nonces = choice_nonces(job->world->choice, half->attempt, half->number);
    half->state = arena_take_recycled(job->world->arena, type->state_size);
    memset(half->state, 0, type->state_size);
    if (type->init(half->state, &half->env) != ERR_OK) {
        half->failed = true;
        half->gone = true;
        arena_give_recycled(job->world->arena, half->state, type->state_size);
        half->state = NULL;
    }
    return half;
}

/* What an orphan does still reaches the wire, but no longer the engine. */
static bool is_orphan(const struct half *half)
{
    return half->zombie || half->attempt != half->region->attempt ||
           !region_is_live(half->region, half->job);
}

static record_id record_of_token(const struct half *half, uint64_t token)
{
    record_id record = (record_id)token;
    bool known = record >= 1 && record <= half->job->config->log->record_count &&
                 (token >> 32) == half->attempt;
    return known ? record : 0;
}

static void note_record(struct half *half, enum journal_kind kind, uint64_t token, uint32_t reason)
{
    record_id record = record_of_token(half, token);
    if (record == 0) {
        half_broke(half, CONTRACT_UNKNOWN_TOKEN, token);
        return;
    }
    job_note(half->job,
             (struct journal_entry){.kind = (uint8_t)kind,
                                    .code = (uint8_t)reason,
                                    .lane = half->lane,
                                    .attempt = half->attempt,
                                    .record = record});
}

/* The answer to the record at hand. */
static void answer_record(struct half *half, enum journal_kind kind, uint64_t token)
{
    if (!half->record_open || (record_id)token != half->record) {
        half_broke(half, CONTRACT_UNKNOWN_TOKEN, token);
        return;
    }
    half->record_open = false;
    note_record(half, kind, token, 0);
}

/* A number that is still open would leave an answer without a meaning. */
static void note_reuse(struct half *half, const struct port_envelope *envelope)
{
    if (LIKELY(envelope->request > half->request_highest)) {
        half->request_highest = envelope->request;
    } else if (envelope->request != 0 &&
               link_is_open(half->job->link, half->number, envelope->request)) {
        half_broke(half, CONTRACT_DUPLICATE_REQUEST_ID, envelope->request);
    }
}

static void apply_send(struct half *half, const struct port_envelope *envelope)
{
    struct job *job = half->job;
    if (!link_takes(job->link, envelope)) {
        half_broke(half, CONTRACT_MALFORMED_SEND, envelope->request);
        return;
    }
    if (envelope->kind == PORT_CANCEL) {
        /* What reached a half after it failed was never told to it. */
        if (!link_cancel(job->link, half->number, envelope->request) && !half->failed) {
            half_broke(half, CONTRACT_UNKNOWN_REQUEST, envelope->request);
        }
        return;
    }
    if (half->closing || half->closed) {
        half_broke(half,
                   half->closed ? CONTRACT_SEND_AFTER_CLOSED : CONTRACT_SEND_AFTER_CLOSE,
                   envelope->request);
    }
    note_reuse(half, envelope);
    (void)link_send(job->link, half->node, half->number, half->lane, half->attempt, envelope);
    if (!is_orphan(half)) {
        job_watch_pause(job, half);
    }
}

static void clear_timer(struct half *half)
{
    if (half->timer != SCHED_NONE) {
        sched_cancel(half->job->world->sched, half->timer);
        half->timer = SCHED_NONE;
    }
}

static void apply_timer(struct half *half, nanos min, nanos max)
{
    clear_timer(half);
    nanos delay = min;
    if (max > min) {
        uint32_t where = engine_pick(half->job, ENGINE_SITE_TIMER, half->lane, CHOICE_ALL);
        delay = where == 0 ? min : where == 1 ? min + (max - min) / 2 : max;
    }
    nanos due = nanos_add(world_now(half->job->world), delay);
    half->timer = job_schedule(half->job, half->node, ENGINE_TIMER, due, half->number, 0);
}

/* What only the writer, or only its policy, may say. */
static bool speaks_as(struct half *half, enum half_role role, uint64_t detail)
{
    if (half->role != role) {
        half_broke(half, CONTRACT_UNKNOWN_TOKEN, detail);
    }
    return half->role == role;
}

static void apply_failed_record(struct half *half, const struct sink_effect *effect)
{
    uint64_t token = effect->u.failed.token;
    if (!speaks_as(half, HALF_WRITER, token)) {
        return;
    }
    if (half->record_open && (record_id)token == half->record) {
        half->record_open = false;
    }
    note_record(half, HOST_RECORD_FAILED, token, effect->u.failed.reason);
}

static void apply_policy_verdict(struct half *half, const struct sink_effect *effect)
{
    if (!speaks_as(half, HALF_POLICY, 0)) {
        return;
    }
    if (effect->kind == SINK_EFFECT_POLICY_DROPPED) {
        note_record(half, HOST_DROPPED, effect->u.token, 0);
        task_mail(half, SINK_EVENT_POLICY_DROPPED, effect->u.token, 0);
    } else if (effect->kind == SINK_EFFECT_POLICY_FLUSHED) {
        note_half(half, HOST_POLICY_FLUSHED, 0, 0);
        task_mail(half, SINK_EVENT_POLICY_FLUSHED, 0, 0);
    } else {
        task_mail(half, SINK_EVENT_POLICY_FAILED, effect->u.failed.token, effect->u.failed.reason);
    }
}

static void apply_piece(struct half *half, struct bytes piece)
{
    if (!half->barrier_open) {
        half_broke(half, CONTRACT_STATE_OUTSIDE_BARRIER, 0);
        return;
    }
    job_note(half->job,
             (struct journal_entry){.kind = HOST_STATE_PIECE,
                                    .lane = half->lane,
                                    .attempt = half->attempt,
                                    .checkpoint = (uint32_t)half->barrier,
                                    .value = digest_bytes(piece)});
    if (!is_orphan(half)) {
        coordinator_piece(half->job, (uint32_t)half->barrier, half->subtask, piece);
    }
}

static void release_committables(struct half *half, struct sink_committable *first)
{
    while (first != NULL) {
        struct sink_committable *next = first->next;
        allocator_give(&half->job->allocator, first, first->block_size);
        first = next;
    }
}

static void apply_committables(struct half *half, struct sink_committable *first)
{
    if (!half->barrier_open) {
        half_broke(half, CONTRACT_STATE_OUTSIDE_BARRIER, 0);
    } else if (!is_orphan(half)) {
        task_stage(half->task_or_null, first);
    }
    release_committables(half, first);
}

static void apply_barrier_done(struct half *half, uint64_t checkpoint)
{
    bool again = !half->barrier_open && half->barrier != 0 && checkpoint == half->barrier;
    if (!half->barrier_open || checkpoint != half->barrier) {
        half_broke(half,
                   again ? CONTRACT_TWO_BARRIER_ANSWERS : CONTRACT_BARRIER_DONE_WITHOUT_BARRIER,
                   checkpoint);
        return;
    }
    half->barrier_open = false;
    job_note(half->job,
             (struct journal_entry){.kind = HOST_BARRIER_DONE,
                                    .lane = half->lane,
                                    .attempt = half->attempt,
                                    .checkpoint = (uint32_t)checkpoint});
    if (!is_orphan(half)) {
        task_barrier_done(half->task_or_null, checkpoint);
    }
}

static void apply_commit(struct half *half, const struct sink_effect *effect)
{
    if (!half->commit_running) {
        half_broke(half, CONTRACT_RETURN_WITHOUT_COMMIT, 0);
        return;
    }
    struct committer *committer = half->committer_or_null;
    if (effect->kind == SINK_EFFECT_COMMIT_RETURNED) {
        half->commit_running = false;
        if (!is_orphan(half)) {
            committer_returned(committer);
        }
        return;
    }
    if (is_orphan(half)) {
        COVER(half->job->world, ENGINE_COMMIT_OF_THE_DEAD);
        return; /* its collection belongs to the replacement */
    }
    if (effect->u.signal.request >= committer->running_count) {
        half_broke(half, CONTRACT_UNKNOWN_REQUEST, effect->u.signal.request);
        return;
    }
    committer_signal(committer, effect->u.signal.request, effect->u.signal.how);
}

static void apply_closed(struct half *half)
{
    note_half(half, HOST_CLOSED, 0, 0);
    half->closed = true;
}

/* The memory behind the effects lives until all of them are carried out. */
static void finish_closing(struct half *half)
{
    half_kill(half);
    if (half->close_due && half->attempt == half->region->attempt && !half->zombie) {
        job_half_closed(half);
    }
}

static void apply_fail(struct half *half, const struct sink_effect *effect)
{
    half->failed = true;
    clear_timer(half);
    note_half(half,
              HOST_HALF_FAILED,
              (uint8_t)effect->u.fail.reason,
              port_status_first(&effect->u.fail.status));
    if (!is_orphan(half)) {
        job_fail_at(half, STOP_CAUSE_SINK, effect->u.fail.reason);
    }
}

/* A policy has no names for its phases, and a word has bits for 64 of a sink's. */
static void mark_phase(struct half *half, uint16_t phase)
{
    if (half->role != HALF_POLICY && phase < 64) {
        half->job->world->marks.phases[half->of_next_sink] |= UINT64_C(1) << phase;
    }
}

static void apply_one(struct half *half, const struct sink_effect *effect)
{
    if (effect->kind >= SINK_EFFECT_KIND_COUNT) {
        half_broke(half, CONTRACT_UNKNOWN_EFFECT, effect->kind);
        return;
    }
    switch ((enum sink_effect_kind)effect->kind) {
    case SINK_EFFECT_NONE:
        break;
    case SINK_EFFECT_OPENED:
        half->opened = true;
        note_half(half, HOST_OPENED, 0, 0);
        break;
    case SINK_EFFECT_SEND:
        apply_send(half, &effect->u.send);
        break;
    case SINK_EFFECT_TIMER:
        apply_timer(half, effect->u.timer.min, effect->u.timer.max);
        break;
    case SINK_EFFECT_TIMER_CLEAR:
        clear_timer(half);
        break;
    case SINK_EFFECT_BUSY:
        half->busy = true;
        break;
    case SINK_EFFECT_READY:
        half->busy = false;
        break;
    case SINK_EFFECT_ACCEPTED:
        answer_record(half, HOST_ACCEPTED, effect->u.token);
        break;
    case SINK_EFFECT_SKIPPED:
        answer_record(half, HOST_SKIPPED, effect->u.token);
        break;
    case SINK_EFFECT_RECORD_FAILED:
        apply_failed_record(half, effect);
        break;
    case SINK_EFFECT_POLICY_FLUSH:
        (void)speaks_as(half, HALF_WRITER, 0);
        break;
    case SINK_EFFECT_POLICY_DROPPED:
    case SINK_EFFECT_POLICY_FAILED:
    case SINK_EFFECT_POLICY_FLUSHED:
        apply_policy_verdict(half, effect);
        break;
    case SINK_EFFECT_STATE_PIECE:
        apply_piece(half, effect->u.piece);
        break;
    case SINK_EFFECT_COMMITTABLES:
        apply_committables(half, effect->u.committables);
        break;
    case SINK_EFFECT_BARRIER_DONE:
        apply_barrier_done(half, effect->u.checkpoint);
        break;
    case SINK_EFFECT_SIGNAL:
    case SINK_EFFECT_COMMIT_RETURNED:
        apply_commit(half, effect);
        break;
    case SINK_EFFECT_SETTLE:
        half_broke(
            half, CONTRACT_UNKNOWN_TOKEN, effect->u.settle.token); /* no operator runs here */
        break;
    case SINK_EFFECT_CLOSED:
        apply_closed(half);
        break;
    case SINK_EFFECT_FAIL:
        apply_fail(half, effect);
        break;
    case SINK_EFFECT_TAP:
        if (effect->u.tap.what == SINK_TAP_PHASE) {
            mark_phase(half, effect->u.tap.index);
        }
        break;
    case SINK_EFFECT_KIND_COUNT:
        UNREACHABLE();
    }
}

/* What a half may say before it has said that it is open: it may need requests to get there. */
static bool may_come_before_opened(uint8_t kind)
{
    const uint64_t kinds = UINT64_C(1) << SINK_EFFECT_NONE | UINT64_C(1) << SINK_EFFECT_OPENED |
                           UINT64_C(1) << SINK_EFFECT_SEND | UINT64_C(1) << SINK_EFFECT_TIMER |
                           UINT64_C(1) << SINK_EFFECT_TIMER_CLEAR |
                           UINT64_C(1) << SINK_EFFECT_BUSY | UINT64_C(1) << SINK_EFFECT_READY |
                           UINT64_C(1) << SINK_EFFECT_CLOSED | UINT64_C(1) << SINK_EFFECT_FAIL |
                           UINT64_C(1) << SINK_EFFECT_TAP;
    return kind >= SINK_EFFECT_KIND_COUNT || (kinds >> kind & 1) != 0; /* else another rule's */
}

/* Let a half handle an event and carry out what it says. False when it handles nothing any more. */
static bool
step_alone(struct half *half, const struct sink_event *event, struct sink_effects *effects)
{
    if (half->gone || (half->failed && !half->closing)) {
        return false;
    }
    struct job *job = half->job;
    effects->count = 0;
    effects->send_room = SEND_ROOM;
    effects->more = false;
    effects->overflowed = false;
    nanos now = world_now(job->world);
    struct sink_now at = {.monotonic = now,
                          .wall = clock_wall(&job->world->nodes[half->node].clock, now)};
    at.nonce = choice_nonce(&half->nonces);
    struct world_node *node = &job->world->nodes[half->node];
    if (node->cpu_per_event > 0) {
        nanos from = node->cpu_free_at > now ? node->cpu_free_at : now;
        node->cpu_free_at = nanos_add(from, node->cpu_per_event);
    }
    half->type->step(half->state, &at, event, effects);
    if (effects->count > effects->capacity) {
        /* It counted by itself: what lies there is anything. */
        effects->overflowed = true;
        effects->count = 0;
    }
    uint32_t sends = 0;
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct sink_effect *effect = &effects->items[i];
        sends += effect->kind == SINK_EFFECT_SEND && effect->u.send.kind != PORT_CANCEL ? 1 : 0;
        if (UNLIKELY(!half->opened) && !may_come_before_opened(effect->kind)) {
            half_broke(half, CONTRACT_NOT_OPENED, effect->kind);
        }
        apply_one(half, effect);
    }
    if (sends > SEND_ROOM) {
        half_broke(half, CONTRACT_EFFECTS_OVERFLOW, sends);
    }
    if (effects->overflowed) {
        half_broke(half, CONTRACT_EFFECTS_OVERFLOW, effects->count);
    }
    return true;
}

/* Last, for the memory behind the effects may go. */
static void finish_step(struct half *half, const struct sink_effects *effects)
{
    if (half->closed && !half->gone) {
        finish_closing(half);
    }
    if (effects->more && !half->gone && half->more == SCHED_NONE) {
        half->more = job_schedule(
            half->job, half->node, ENGINE_MORE, world_now(half->job->world), half->number, 0);
    }
}

/* What an effect of a writer's is to its policy; false when it is nothing. */
static bool
policy_event(const struct half *writer, const struct sink_effect *effect, struct sink_event *event)
{
    if (effect->kind == SINK_EFFECT_POLICY_FLUSH) {
        *event = (struct sink_event){.kind = SINK_EVENT_FLUSH};
        return true;
    }
    if (effect->kind != SINK_EFFECT_RECORD_FAILED ||
        record_of_token(writer, effect->u.failed.token) == 0) {
        return false;
    }
    record_id record = (record_id)effect->u.failed.token;
    *event = (struct sink_event){.kind = SINK_EVENT_HANDLE};
    event->u.handle.record = writer->job->config->log->records[record - 1].record;
    event->u.handle.record.token = effect->u.failed.token;
    event->u.handle.payload = effect->u.failed.payload;
    event->u.handle.destination = effect->u.failed.destination;
    event->u.handle.reason = effect->u.failed.reason;
    return true;
}

/* One step of a half, and of the policy for what a writer's step gives it: both lists of effects
 * are alive then, for payloads are borrowed. */
static void step_with_policy(struct half *half, const struct sink_event *event)
{
    struct sink_effects *effects = job_effects(half->job, 0);
    if (!step_alone(half, event, effects)) {
        return;
    }
    for (uint32_t i = 0; half->role == HALF_WRITER && i < effects->count; i++) {
        struct sink_event told;
        if (!policy_event(half, &effects->items[i], &told)) {
            continue;
        }
        struct sink_effects *policy_effects = job_effects(half->job, 1);
        if (step_alone(half->peer_or_null, &told, policy_effects)) {
            finish_step(half->peer_or_null, policy_effects);
        }
    }
    finish_step(half, effects);
}

/* Verdicts of the policy reach the writer one by one, in steps of their own. */
static void tell_verdicts(struct task *task)
{
    struct sink_event event;
    for (uint32_t told = 0; task_take_mail(task, &event); told++) {
        if (told == 2 * TASK_MAIL_MAX) { /* each verdict brings on the next */
            half_broke(task->writer, CONTRACT_EFFECTS_OVERFLOW, told);
            task->mail_count = 0;
            return;
        }
        step_with_policy(task->writer, &event);
    }
}

void half_step(struct half *half, const struct sink_event *event)
{
    step_with_policy(half, event);
    if (half->attempt != half->region->attempt) {
        return;
    }
    if (half->task_or_null != NULL) {
        tell_verdicts(half->task_or_null);
        task_progress(half->task_or_null);
    } else if (half->committer_or_null != NULL) {
        committer_schedule(half->committer_or_null);
    }
}

void half_tell(struct half *half, enum sink_event_kind kind, uint64_t checkpoint)
{
    struct sink_event event = {.kind = (uint8_t)kind};
    event.u.checkpoint = checkpoint;
    half_step(half, &event);
}

void half_kill(struct half *half)
{
    if (half->gone) {
        return;
    }
    half->gone = true;
    clear_timer(half);
    struct sched *sched = half->job->world->sched;
    if (half->more != SCHED_NONE) {
        sched_cancel(sched, half->more);
        half->more = SCHED_NONE;
    }
    if (half->close_bound != SCHED_NONE) {
        sched_cancel(sched, half->close_bound);
        half->close_bound = SCHED_NONE;
    }
    link_forget(half->job->link, half->number);
    /* How it ended is part of the trace: a state that differs between two builds shows. */
    struct world *world = half->job->world;
    const uint64_t digest = half->type->digest(half->state);
    trace_fold(world->trace, TRACE_STATE, world_now(world), half->node, half->number, digest);
    half->type->fini(half->state);
    arena_give_recycled(half->job->world->arena, half->state, half->type->state_size);
    half->state = NULL;
}

void half_close(struct half *half)
{
    CHECK(!half->close_due);
    half->close_due = true;
    (void)job_schedule(
        half->job, half->node, ENGINE_CLOSE, world_now(half->job->world), half->number, 0);
}

static void send_close(struct half *half)
{
    half->closing = true;
    note_half(half, HOST_CLOSE, 0, 0);
    nanos bound =
        half->job->config->close_bound == 0 ? SECONDS(180) : half->job->config->close_bound;
    half->close_bound = job_schedule(half->job,
                                     half->node,
                                     ENGINE_CLOSE_BOUND,
                                     nanos_add(world_now(half->job->world), bound),
                                     half->number,
                                     0);
    half_tell(half, SINK_EVENT_CLOSE, 0);
}

static void give_up_closing(struct half *half)
{
    half->close_bound = SCHED_NONE;
    half_broke(half, CONTRACT_CLOSE_UNANSWERED, 0);
    half_kill(half);
    job_half_closed(half);
}

/* A timer or a continuation of a process that stands still waits for the end of the pause. */
static bool is_held_back(struct half *half, enum engine_event what)
{
    nanos free_at = link_node_free_at(half->job->link, half->node);
    if (free_at == world_now(half->job->world)) {
        return false;
    }
    COVER(half->job->world, ENGINE_HELD_BACK);
    sched_handle event = job_schedule(half->job, half->node, what, free_at, half->number, 0);
    if (what == ENGINE_TIMER) {
        half->timer = event;
    } else if (what == ENGINE_MORE) {
        half->more = event;
    } else if (what == ENGINE_CLOSE_BOUND) {
        half->close_bound = event;
    }
    return true;
}

void half_event(struct half *half, enum engine_event what)
{
    if (half->gone || (what != ENGINE_ZOMBIE_END && is_held_back(half, what))) {
        return;
    }
    if (what == ENGINE_TIMER) {
        half->timer = SCHED_NONE;
        half_tell(half, SINK_EVENT_TIMER, 0);
    } else if (what == ENGINE_MORE) {
        half->more = SCHED_NONE;
        half_tell(half, SINK_EVENT_MORE, 0);
    } else if (what == ENGINE_CLOSE) {
        send_close(half);
    } else if (what == ENGINE_CLOSE_BOUND) {
        give_up_closing(half);
    } else {
        CHECK(what == ENGINE_ZOMBIE_END);
        note_half(half, HOST_ZOMBIE_ENDED, 0, 0);
        half_kill(half);
    }
}
