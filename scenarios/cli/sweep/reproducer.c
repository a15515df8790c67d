#include "scenarios/cli/sweep/reproducer.h"

#include "scenarios/cli/policy.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "scenarios/workers.h"
#include "sim/search/deviation.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOFT_CAP_DEFAULT ((size_t)8 << 20)
#define ALIGNMENT        ((size_t)4096)
#define OFFERS_MAX       (UINT32_C(1) << 20)

/* All of it lies in one piece of memory that is shared with forked processes. */
struct reproducer {
    const struct scenario *scenario;
    size_t mapped;
    bool is_alone; /* no other process would see what a run leaves */
    struct runner runner;
    struct result result;
    struct pct pct; /* of the last run, if it was scheduled */
    bool is_scheduled;
    uint32_t done;       /* runs that the process of its own has made */
    uint64_t digests[2]; /* of these */
};

static struct reproducer *create(const struct scenario *scenario, void *take(size_t size))
{
    const size_t cap = scenario->config.arena_soft_cap;
    const size_t run_size = (cap == 0 ? SOFT_CAP_DEFAULT : cap) + RUN_HEADROOM;
    const size_t head = (sizeof(struct reproducer) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct reproducer *reproducer = take(head + run_size);
    if (reproducer == NULL) {
        return NULL;
    }
    reproducer->scenario = scenario;
    reproducer->mapped = head + run_size;
    runner_init(&reproducer->runner, (uint8_t *)reproducer + head, run_size);
    return reproducer;
}

struct reproducer *reproducer_create(const struct scenario *scenario)
{
    return create(scenario, workers_memory);
}

struct reproducer *reproducer_create_alone(const struct scenario *scenario)
{
    struct reproducer *reproducer = create(scenario, workers_memory_alone);
    if (reproducer != NULL) {
        reproducer->is_alone = true;
    }
    return reproducer;
}

void reproducer_destroy(struct reproducer *reproducer)
{
    workers_memory_free(reproducer, reproducer->mapped);
}

const struct scenario *reproducer_scenario(const struct reproducer *reproducer)
{
    return reproducer->scenario;
}

struct run_request reproducer_seed_request(const struct scenario *scenario, uint64_t seed)
{
    return (struct run_request){
        .choice =
            {
                .mode = CHOICE_SEEDED,
                .seed = seed,
                .identity = seed,
                .swarm = true,
                .kinds_allowed = scenario->config.faults.kinds,
            },
    };
}

struct run_request reproducer_tape_request(const struct tape *tape)
{
    return (struct run_request){
        .choice = {.mode = CHOICE_REPLAY, .tape = tape, .identity = tape->identity},
    };
}

const struct result *reproducer_run(struct reproducer *reproducer,
                                    const struct run_request *request)
{
    const struct scenario *scenario = reproducer->scenario;
    struct run_request made = *request;
    reproducer->runner.world = NULL;
    reproducer->is_scheduled =
        made.choice.mode == CHOICE_SEEDED && policy_is_pct(scenario, made.choice.seed);
    if (reproducer->is_scheduled) {
        pct_init(&reproducer->pct,
                 &(struct pct_options){
                     .seed = made.choice.seed,
                     .depth = scenario->policy.depth,
                     .steps = scenario->policy.steps,
                 });
        made.choice.order = &reproducer->pct.order;
    }
    runner_run(&reproducer->runner, &scenario->config, &made, &reproducer->result);
    return &reproducer->result;
}

uint32_t reproducer_deviations(struct reproducer *reproducer,
                               const struct tape *tape,
                               uint32_t from,
                               struct tape_entry *entries,
                               uint32_t capacity)
{
    struct run_request request = reproducer_tape_request(tape);
    request.choice.offer_capacity = OFFERS_MAX;
    (void)reproducer_run(reproducer, &request);
    const struct world *world = reproducer_world(reproducer);
    return world == NULL
               ? 0
               : deviations_list(world->choice, catalogue_registry(), from, entries, capacity);
}

/* Wait for a process until its time is over; true when it ended by itself. end_of_pipe closes with
 * the process. */
static bool wait_until(int end_of_pipe, nanos hang_after)
{
    const uint64_t from = wall_milliseconds();
    const uint64_t limit = hang_after / NANOS_PER_MS;
    for (;;) {
        struct pollfd polled = {.fd = end_of_pipe, .events = POLLIN};
        if (poll(&polled, 1, 100) > 0) {
            return true;
        }
        if (hang_after > 0 && wall_milliseconds() - from > limit) {
            return false;
        }
    }
}

/* Blocks of the heap in sizes that sinks use: while they are held, malloc gives other addresses, and
 * other ones for each seed. */
#define NOISE_COUNT 64u

static void take_noise(void *blocks[NOISE_COUNT], uint64_t seed)
{
    const size_t first = (size_t)(seed % 61);
    const size_t more = (size_t)(seed % 37);
    for (size_t i = 0; i < NOISE_COUNT; i++) {
        blocks[i] = memory_take(16 + 24 * ((first + i) % 32) + 16 * (i == 0 ? more : 0));
    }
}

static void give_noise(void *blocks[NOISE_COUNT])
{
    for (size_t i = 0; i < NOISE_COUNT; i++) {
        free(blocks[i]);
    }
}

NORETURN static void
run_in_child(struct reproducer *reproducer, const struct run_request *requests, uint32_t count)
{
    const struct rlimit no_core = {0, 0};
    void *noise[NOISE_COUNT];
    (void)setrlimit(RLIMIT_CORE, &no_core);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            take_noise(noise, requests[i].choice.seed);
        }
        reproducer->digests[i] = reproducer_run(reproducer, &requests[i])->digest;
        reproducer->done = i + 1;
        if (i > 0) {
            give_noise(noise);
        }
    }
    exit(0);
}

static enum reproducer_end run_guarded(struct reproducer *reproducer,
                                       const struct run_request *requests,
                                       uint32_t count,
                                       nanos hang_after,
                                       int *detail)
{
    int pipe_ends[2];
    int status = 0;
    CHECK(!reproducer->is_alone);
    *detail = 0;
    reproducer->done = 0;
    if (pipe(pipe_ends) != 0) {
        return REPRODUCER_NO_PROCESS;
    }
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(pipe_ends[0]);
        run_in_child(reproducer, requests, count);
    }
    (void)close(pipe_ends[1]);
    const bool ended = pid > 0 && wait_until(pipe_ends[0], hang_after);
    (void)close(pipe_ends[0]);
    if (pid < 0) {
        return REPRODUCER_NO_PROCESS;
    }
    if (!ended) {
        (void)kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ended) {
        return REPRODUCER_HUNG;
    }
    /* A sink that calls exit ends well and is not done. */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && reproducer->done == count) {
        return REPRODUCER_DONE;
    }
    *detail = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return REPRODUCER_CRASHED;
}

enum reproducer_end reproducer_run_guarded(struct reproducer *reproducer,
                                           const struct run_request *request,
                                           nanos hang_after,
                                           int *detail)
{
    return run_guarded(reproducer, request, 1, hang_after, detail);
}

enum reproducer_end reproducer_run_twice_guarded(struct reproducer *reproducer,
                                                 const struct run_request requests[2],
                                                 nanos hang_after,
                                                 uint64_t digests[2])
{
    int detail = 0;
    const enum reproducer_end end = run_guarded(reproducer, requests, 2, hang_after, &detail);
    digests[0] = reproducer->digests[0];
    digests[1] = reproducer->digests[1];
    return end;
}

const struct pct *reproducer_pct(const struct reproducer *reproducer)
{
    return reproducer->is_scheduled ? &reproducer->pct : NULL;
}

const struct world *reproducer_world(const struct reproducer *reproducer)
{
    return reproducer->runner.world;
}

const struct result *reproducer_result(const struct reproducer *reproducer)
{
    return &reproducer->result;
}

struct tape reproducer_recorded(const struct reproducer *reproducer)
{
    const struct world *world = reproducer_world(reproducer);
    struct tape tape = {0};
    if (world != NULL) {
        tape = world->choice->recorded;
        tape.identity = world->choice->identity;
    }
    return tape;
}

static struct bytes name_resource(void *context, uint32_t resource)
{
    const struct world *world = context;
    return world_resource_name(world, resource);
}

static struct bytes name_method(void *context, uint16_t service, uint8_t method)
{
    const struct world *world = context;
    if (service < world->service_count) {
        const struct port_service *port = world->services[service].type->service;
        for (uint16_t i = 0; i < port->method_count; i++) {
            if (port->methods[i]->id == method) {
                return bytes_of_text(port->methods[i]->name);
            }
        }
    }
    return (struct bytes){0};
}

struct journal_names reproducer_names(const struct reproducer *reproducer)
{
    CHECK(reproducer->runner.world != NULL);
    return (struct journal_names){
        .context = reproducer->runner.world,
        .resource = name_resource,
        .method = name_method,
    };
}

void reproducer_describe(const struct reproducer *reproducer,
                         uint32_t position,
                         struct byte_writer *writer)
{
    const struct journal_names names = reproducer_names(reproducer);
    const struct world *world = reproducer->runner.world;
    if (position >= journal_first(world->journal) && position < world->journal->count) {
        journal_describe_named(journal_at(world->journal, position), &names, writer);
    }
}

struct culprit culprit_of_finding(const struct result_finding *found)
{
    return (struct culprit){
        .oracle = found->oracle,
        .subject_kind = found->finding.subject_kind,
        .subject = found->finding.subject,
    };
}

bool culprit_is(const struct culprit *culprit, const struct result_finding *found)
{
    const bool same_kind =
        found->oracle == culprit->oracle && found->finding.subject_kind == culprit->subject_kind;
    return same_kind &&
           (culprit->subject_kind != SUBJECT_RECORD || culprit->subject == CULPRIT_ANY_RECORD ||
            found->finding.subject == culprit->subject);
}

const struct finding *culprit_find(const struct culprit *culprit, const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (culprit_is(culprit, &result->findings[i])) {
            return &result->findings[i].finding;
        }
    }
    return NULL;
}

bool reproducer_shows(struct reproducer *reproducer,
                      const struct run_request *request,
                      const struct culprit *culprit,
                      nanos hang_after)
{
    if (culprit->oracle == SUMMARY_ORACLE_CRASH || culprit->oracle == SUMMARY_ORACLE_HANG) {
        int detail = 0;
        const enum reproducer_end end =
            reproducer_run_guarded(reproducer, request, hang_after, &detail);
        return end ==
               (culprit->oracle == SUMMARY_ORACLE_HANG ? REPRODUCER_HUNG : REPRODUCER_CRASHED);
    }
    return culprit_find(culprit, reproducer_run(reproducer, request)) != NULL;
}
