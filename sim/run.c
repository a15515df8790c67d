#include "sim/run.h"

#include "sim/engine/job.h"
#include "sim/oracle_ledger.h"
#include "sinks/base/digest.h"

#include <assert.h>
#include <string.h>

#define ARENA_SOFT_CAP_DEFAULT ((size_t)8 << 20)
#define EVENTS_MAX_DEFAULT     (UINT64_C(1) << 20)
#define TRACE_RING_COUNT       64u

enum run_event {
    RUN_EVENT_NONE = 0,
    RUN_EVENT_HEAL,     /* the safety phase is over at the latest now */
    RUN_EVENT_DEADLINE, /* all work must be done by now */
};

/* Everything of one run; lies in the arena. */
struct run {
    const struct run_config *config;
    const struct run_request *request;
    struct choice choice;
    struct sched sched;
    struct journal journal;
    struct trace trace;
    struct fault fault;
    struct world world;
    struct store store;
    struct judge judge;
    struct job *job;
    struct link *link;
    struct service services[RUN_SERVICE_MAX];
    uint64_t events_max;
    uint64_t until_event; /* of the request; UINT64_MAX when it names none */
    uint8_t end;          /* enum run_end, as far as it is known */
    bool finished;
    bool healed;
    bool deadline_passed;
    uint32_t crash_points_seen;
};

/* After these, something durable or on the wire has changed: a crash here can matter. */
static const uint64_t dirty_kinds =
    UINT64_C(1) << HOST_OPENED | UINT64_C(1) << HOST_BARRIER_DONE |
    UINT64_C(1) << HOST_CHECKPOINT_TRIGGERED | UINT64_C(1) << HOST_CHECKPOINT_COMPLETED |
    UINT64_C(1) << HOST_CHECKPOINT_ABORTED | UINT64_C(1) << HOST_NOTICE |
    UINT64_C(1) << HOST_COMMIT | UINT64_C(1) << HOST_COMMIT_RETURNED | UINT64_C(1) << WIRE_ISSUED |
    UINT64_C(1) << WIRE_ANSWERED | UINT64_C(1) << WORLD_CREATED | UINT64_C(1) << WORLD_REPLACED |
    UINT64_C(1) << WORLD_REMOVED;

static_assert(JOURNAL_KIND_COUNT <= 64, "a set of kinds is a 64-bit word");
static_assert(LEDGER_LANES >= JOB_SUBTASK_MAX, "the ledger has a lane for each subtask");

static size_t soft_cap(const struct run_config *config)
{
    return config->arena_soft_cap == 0 ? ARENA_SOFT_CAP_DEFAULT : config->arena_soft_cap;
}

void runner_init(struct runner *runner, void *memory, size_t memory_size)
{
    *runner = (struct runner){.memory = memory, .memory_size = memory_size};
}

static void init_arena(struct runner *runner,
                       const struct run_config *config,
                       const struct run_request *request)
{
    size_t cap = soft_cap(config);
    CHECK(runner->memory_size >= cap + RUN_HEADROOM);
    arena_init(&runner->arena, runner->memory, cap + RUN_HEADROOM, cap);
    if (request->fill_on) {
        memset(runner->memory, request->fill, cap + RUN_HEADROOM);
    }
    runner->arena.allocator_fail_at = request->allocation_fails_at;
}

static void add_services(struct run *run)
{
    const struct run_config *config = run->config;
    CHECK(config->service_count <= RUN_SERVICE_MAX);
    run->world.services = run->services;
    run->world.service_count = config->service_count;
    for (uint32_t i = 0; i < config->service_count; i++) {
        const struct model_type *type = config->services[i].type;
        struct model_env *env = arena_take(run->world.arena, sizeof(*env));
        run->services[i] =
            (struct service){.type = type,
                             .state = arena_take_zeroed(run->world.arena, type->state_size),
                             .node = world_add_node(&run->world, lane_make(LANE_SERVICE, i))};
        *env = (struct model_env){.world = &run->world,
                                  .service = i,
                                  .node = run->services[i].node,
                                  .options = config->services[i].options};
        type->init(run->services[i].state, env);
    }
}

static void create_run(struct runner *runner,
                       const struct run_config *config,
                       const struct run_request *request)
{
    struct arena *arena = &runner->arena;
    struct run *run = arena_take(arena, sizeof(*run)); /* all parts clear what they need */
    memset(run->services, 0, sizeof(run->services));
    run->end = RUN_END_NONE;
    run->finished = false;
    run->healed = false;
    run->deadline_passed = false;
    run->crash_points_seen = 0;
    run->config = config;
    run->request = request;
    run->events_max = config->events_max == 0 ? EVENTS_MAX_DEFAULT : config->events_max;
    run->until_event = request->until_event == 0 ? UINT64_MAX : request->until_event;
    choice_init(&run->choice, arena, &request->choice);
    sched_init(
        &run->sched,
        arena,
        &run->choice,
        &(struct sched_options){.race_window = config->race_window,
                                .ties_from_tape = (config->faults.kinds >> FAULT_ORDER & 1) != 0});
    journal_init(&run->journal, arena);
    run->journal.keeps_last = !request->keep_trace;
    trace_init(&run->trace, arena, TRACE_RING_COUNT);
    fault_init(&run->fault, &config->faults, &run->choice, config->profile);
    world_init(
        &run->world, arena, &run->choice, &run->sched, &run->journal, &run->trace, &run->fault);
    run->world.identify = config->identify;
    run->world.identify_context = config->identify_context;
    store_init(&run->store, arena, config->job.log, config->job.checkpoint_retained);
    judge_init(&run->judge,
               &run->world,
               config->job.log,
               &run->store,
               &config->facts,
               config->oracles,
               config->oracles_off ? 0 : config->oracle_count);
    add_services(run);
    run->job = job_create(&run->world, &config->job, &run->store);
    run->link = link_create(&run->world, &config->link, job_answer, run->job);
    run->world.link = run->link;
    job_attach_link(run->job, run->link);
    (void)sched_at(
        &run->sched, config->safety_bound, 0, WORLD_EVENT(DISPATCH_RUN, RUN_EVENT_HEAL), 0, 0);
    runner->run = run;
    runner->world = &run->world;
    runner->judge = &run->judge;
    runner->store = &run->store;
}

static void heal(struct run *run)
{
    if (run->healed) {
        return;
    }
    run->healed = true;
    world_note(&run->world,
               (struct journal_entry){.kind = HOST_HEAL, .lane = lane_make(LANE_RUN, 0)});
    fault_heal(&run->fault);
    for (uint32_t i = 0; i < run->world.service_count; i++) {
        if (run->services[i].type->heal != NULL) {
            run->services[i].type->heal(run->services[i].state);
        }
    }
    link_heal(run->link);
    job_heal(run->job);
    judge_heal(&run->judge);
    nanos from = run->sched.now > run->fault.last_at ? run->sched.now : run->fault.last_at;
    (void)sched_at(&run->sched,
                   nanos_add(from, run->config->facts.liveness_bound),
                   0,
                   WORLD_EVENT(DISPATCH_RUN, RUN_EVENT_DEADLINE),
                   0,
                   0);
}

static void dispatch_model(struct run *run, const struct sched_event *event)
{
    for (uint32_t i = 0; i < run->world.service_count; i++) {
        struct service *service = &run->services[i];
        if (service->node == event->node) {
            service->type->event(service->state, (uint8_t)event->kind, event->a, event->b);
            return;
        }
    }
    UNREACHABLE();
}

static void dispatch(struct run *run, const struct sched_event *event)
{
    trace_fold(&run->trace, TRACE_DISPATCH, event->due, event->node, event->kind, event->seq);
    switch ((enum world_dispatcher)(event->kind >> 8)) {
    case DISPATCH_ENGINE:
        job_event(run->job, event);
        return;
    case DISPATCH_LINK:
        link_event(run->link, event);
        return;
    case DISPATCH_MODEL:
        dispatch_model(run, event);
        return;
    case DISPATCH_RUN:
        if ((event->kind & 0xff) == RUN_EVENT_HEAL) {
            heal(run);
        } else {
            run->deadline_passed = true;
        }
        return;
    case DISPATCH_NONE:
        break;
    }
    UNREACHABLE();
}

/* True when the last event left something durable or on the wire: a crash is worth offering. */
static bool left_a_mark(struct run *run)
{
    const bool dirty = (run->world.kinds_noted & dirty_kinds) != 0;
    run->world.kinds_noted = 0;
    return dirty;
}

static bool is_over_limit(const struct run *run)
{
    return arena_is_over(run->world.arena) || run->choice.over_cap || sched_is_over(&run->sched) ||
           run->sched.stepped >= run->events_max;
}

static bool is_drained(const struct run *run)
{
    if (link_effects_pending(run->link) > 0) {
        return false;
    }
    for (uint32_t i = 0; i < run->world.service_count; i++) {
        const struct service *service = &run->services[i];
        if (service->type->pending != NULL && service->type->pending(service->state) > 0) {
            return false;
        }
    }
    return true;
}

/* Whether the run ends here, and how. */
static enum run_end ending(struct run *run)
{
    if (is_over_limit(run)) {
        return RUN_END_LIMIT;
    }
    enum job_state state = job_state(run->job);
    if (state != JOB_COMPLETE && state != JOB_FAILED) {
        return run->deadline_passed ? RUN_END_STUCK : RUN_END_NONE;
    }
    job_finish(run->job);
    if (!run->healed && job_zombies(run->job) > 0) {
        return RUN_END_NONE; /* what they still do is judged: the heal would end their pauses */
    }
    heal(run);
    if (!is_drained(run)) {
        return RUN_END_NONE;
    }
    return state == JOB_COMPLETE ? RUN_END_COMPLETE : RUN_END_FAILED;
}

static bool is_where_to_stop(const struct run *run)
{
    const struct run_request *request = run->request;
    const uint64_t next = run->sched.stepped + 1;
    if (LIKELY(next < run->until_event) || request->at_event == NULL) {
        return next >= run->until_event;
    }
    if (next == run->until_event) {
        request->at_event(request->at_event_context);
    }
    return false;
}

static inline bool step(struct run *run)
{
    struct sched_event event;
    run->end = (uint8_t)ending(run);
    if (run->end != RUN_END_NONE || is_where_to_stop(run)) {
        return false;
    }
    if (!sched_step(&run->sched, &event)) {
        run->end = RUN_END_STUCK;
        return false;
    }
    dispatch(run, &event);
    if (left_a_mark(run) && !run->healed) {
        run->crash_points_seen++;
        job_offer_crash(run->job, event.node);
    }
    return true;
}

/* Make up to so many steps: false when the run has come to its end. */
static bool make_steps(struct run *run, uint64_t count)
{
    while (count > 0 && step(run)) {
        count--;
    }
    return count == 0;
}

static uint64_t digest_of(const struct run *run)
{
    uint64_t digest = digest_fold(run->trace.digest, run->sched.stepped);
    digest = digest_fold(digest, run->sched.now);
    digest = digest_fold(digest, choice_unseed(&run->choice));
    digest = digest_fold(digest, run->choice.digest);
    for (uint32_t i = 0; i < run->world.service_count; i++) {
        const struct service *service = &run->services[i];
        digest = digest_fold(digest, service->type->digest(service->state));
    }
    return digest_fold(digest, judge_digest(&run->judge));
}

static uint8_t oracle_index(const struct oracle_type *type)
{
    for (size_t i = 0; i < oracle_type_count; i++) {
        if (oracle_types[i] == type) {
            return (uint8_t)i;
        }
    }
    UNREACHABLE();
}

static void copy_findings(const struct judge *judge, struct result *result)
{
    result->finding_count = 0;
    result->inconclusive = 0;
    for (uint32_t i = 0; i < judge->oracle_count; i++) {
        if (judge->findings[i].verdict == VERDICT_VIOLATION) {
            result->findings[result->finding_count] = (struct result_finding){
                .oracle = oracle_index(judge->types[i]), .finding = judge->findings[i]};
            result->finding_count++;
        } else if (judge->findings[i].verdict == VERDICT_INCONCLUSIVE) {
            result->inconclusive++;
        }
    }
}

static void copy_tape(const struct choice *choice, struct result *result)
{
    uint32_t count = choice->recorded.count;
    result->tape_cut = count > RESULT_TAPE_MAX;
    count = result->tape_cut ? RESULT_TAPE_MAX : count;
    for (uint32_t i = 0; i < count; i++) {
        result->tape_entries[i] = choice->recorded.entries[i];
    }
    result->tape = (struct tape){.entries = result->tape_entries,
                                 .count = count,
                                 .capacity = RESULT_TAPE_MAX,
                                 .identity = choice->identity};
    result->alignment = choice_alignment(choice);
}

/* Whether some oracle asks for a run in which nothing happens. */
static bool wants_nothing(const struct judge *judge)
{
    for (uint32_t i = 0; i < judge->oracle_count; i++) {
        if (judge->types[i]->wants_nothing) {
            return true;
        }
    }
    return false;
}

static enum run_verdict verdict_of(const struct run *run, const struct result *result)
{
    if (result->finding_count > 0) {
        return RUN_VIOLATION;
    }
    if (result->end == RUN_END_LIMIT) {
        return RUN_LIMIT;
    }
    bool faultless = run->fault.fired_total == 0;
    bool vacuous = faultless && result->checkpoints_completed == 0 && result->effects == 0;
    return vacuous && !wants_nothing(&run->judge) ? RUN_VACUOUS : RUN_OK;
}

/* Which limit ended the run, by the key of a scenario where one sets it. */
static void say_limit(const struct run *run, struct result *result)
{
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)result->message, sizeof(result->message) - 1);
    if (arena_is_over(run->world.arena)) {
        byte_writer_text(&writer, "memory is used up: budgets.arena_bytes is ");
        byte_writer_decimal(&writer, run->world.arena->soft_cap);
    } else if (run->choice.over_cap) {
        byte_writer_text(&writer, "the tape is full: choices allowed are ");
        byte_writer_decimal(&writer, run->choice.options.tape_cap);
    } else if (sched_is_over(&run->sched)) {
        byte_writer_text(&writer, "too many events are pending");
    } else {
        byte_writer_text(&writer, "events are used up: budgets.events is ");
        byte_writer_decimal(&writer, run->events_max);
    }
    byte_writer_text(&writer, ", reached after event ");
    byte_writer_decimal(&writer, run->sched.stepped);
    CHECK(!writer.overflowed);
    result->message[writer.size] = '\0';
}

static void fill_result(struct run *run, enum run_end end, struct result *result)
{
    result->end = (uint8_t)end;
    result->events = run->sched.stepped;
    result->ended_at = run->sched.now;
    result->draws = run->choice.draws;
    result->kinds_fired = run->choice.kinds_fired;
    result->crashes = job_crashes(run->job);
    result->checkpoints_completed = run->world.kind_counts[HOST_CHECKPOINT_COMPLETED];
    result->effects =
        run->world.kind_counts[WORLD_CREATED] + run->world.kind_counts[WORLD_REPLACED];
    result->crash_points_seen = run->crash_points_seen;
    result->arena_bytes = narrow_u32(run->world.arena->used);
    result->message[0] = '\0';
    if (end == RUN_END_LIMIT) {
        say_limit(run, result);
    }
    copy_findings(&run->judge, result);
    copy_tape(&run->choice, result);
    result->marks = run->world.marks;
    memcpy(result->marks.moments, run->fault.moments, sizeof(result->marks.moments));
    result->digest = digest_of(run);
    result->verdict = (uint8_t)verdict_of(run, result);
}

static bool is_valid(const struct run_config *config,
                     const struct sink_type *sink_or_null,
                     const struct sink_option_value *options,
                     struct byte_writer *writer)
{
    return sink_or_null == NULL || sink_or_null->validate == NULL ||
           sink_or_null->validate(options, &config->job.facts, writer) == ERR_OK;
}

static bool is_refused(const struct run_config *config, struct result *result)
{
    const struct job_config *job = &config->job;
    uint8_t text[ORACLE_MESSAGE_SIZE];
    struct byte_writer writer;
    byte_writer_init(&writer, text, sizeof(text) - 1);
    if (is_valid(config, job->sink, job->options, &writer) &&
        is_valid(config, job->next_sink_or_null, job->next_options, &writer)) {
        return false;
    }
    size_t size = writer.size < sizeof(text) - 1 ? writer.size : sizeof(text) - 1;
    memset(result, 0, offsetof(struct result, findings));
    result->tape_cut = false;
    result->marks = (struct marks){0};
    result->alignment = (struct choice_alignment){0};
    memcpy(result->message, text, size);
    result->message[size] = '\0';
    result->verdict = RUN_REFUSED;
    result->tape = (struct tape){.entries = result->tape_entries, .capacity = RESULT_TAPE_MAX};
    result->digest = digest_bytes((struct bytes){.data = text, .size = size});
    return true;
}

bool runner_begin(struct runner *runner,
                  const struct run_config *config,
                  const struct run_request *request,
                  struct result *result)
{
    if (is_refused(config, result)) {
        return false;
    }
    init_arena(runner, config, request);
    create_run(runner, config, request);
    return true;
}

bool runner_step(struct runner *runner)
{
    CHECK(!runner->run->finished);
    return make_steps(runner->run, 1);
}

void runner_finish(struct runner *runner, struct result *result)
{
    struct run *run = runner->run;
    CHECK(!run->finished);
    const enum run_end end = (enum run_end)run->end;
    if (end != RUN_END_LIMIT && end != RUN_END_NONE) {
        job_dispose(run->job);
    }
    if (end != RUN_END_NONE) {
        judge_end(&run->judge, end);
    }
    fill_result(run, end, result);
    run->finished = true;
}

void runner_run(struct runner *runner,
                const struct run_config *config,
                const struct run_request *request,
                struct result *result)
{
    if (!runner_begin(runner, config, request, result)) {
        return;
    }
    const bool goes_on = make_steps(runner->run, UINT64_MAX);
    CHECK(!goes_on);
    runner_finish(runner, result);
}
