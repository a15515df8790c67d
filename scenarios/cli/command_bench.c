/* bench: speed on one core, each figure beside the bare pop-push loop, taken in the same minute.
 *
 * Each figure is the best of several rounds: what disturbs a round only ever makes it slower. Time is
 * that of the process, but for the figures of several workers. */
#include "reports/text.h"
#include "scenarios/bench/w1.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/reproducer.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep.h"
#include "scenarios/workers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS           7u
#define ROUNDS_QUICK     3u
#define METRICS_MAX      64u
#define POP_PUSH_PENDING 128u /* about what W1 has pending at most */
#define POP_PUSH_STEPS   2000000u
#define CALM_RUNS        200u
#define SWARM_RUNS       400u
#define JOBS_SEEDS       4000u

struct bench {
    struct session *session;
    uint32_t rounds;
    uint64_t pop_push; /* events per second */
    struct report_metric *metrics;
    size_t metric_count;
};

static nanos clock_nanos(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (nanos)now.tv_sec * NANOS_PER_S + (nanos)now.tv_nsec;
}

/* Time that this process had a core for: what else the machine does is not measured. */
static nanos core_nanos(void)
{
    return clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
}

/* For what several processes do together. */
static nanos wall_nanos(void)
{
    return clock_nanos(CLOCK_MONOTONIC);
}

static uint64_t rate(uint64_t count, nanos taken)
{
    const nanos least = taken > 0 ? taken : 1;
    /* Counts stay far below 2^64 / 10^9 in one round. */
    CHECK(count < UINT64_MAX / NANOS_PER_S);
    return count * NANOS_PER_S / least;
}

static void add(struct bench *bench, const struct report_metric *metric)
{
    CHECK(bench->metric_count < METRICS_MAX);
    struct report_metric *added = &bench->metrics[bench->metric_count++];
    *added = *metric;
    if (metric->reference > 0) {
        added->ratio_thousandth = metric->value * 1000 / metric->reference;
    }
}

/* --- the simulator alone ------------------------------------------------------------------------ */

static uint64_t measure_pop_push(struct arena *arena, uint32_t rounds)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        const nanos from = core_nanos();
        (void)w1_pop_push(arena, POP_PUSH_PENDING, POP_PUSH_STEPS);
        const uint64_t one = rate(POP_PUSH_STEPS, core_nanos() - from);
        best = one > best ? one : best;
    }
    return best;
}

static uint64_t measure_w1(struct arena *arena, const struct w1_sweep *sweep, uint32_t rounds)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        struct w1_result result = {0};
        const nanos from = core_nanos();
        w1_run_many(sweep, arena, &result);
        const uint64_t one = rate(result.events, core_nanos() - from);
        CHECK(result.lost == 0);
        best = one > best ? one : best;
    }
    return best;
}

static enum status bench_simulator(struct bench *bench)
{
    static const struct {
        const char *name;
        struct w1_sweep sweep;
    } sizes[] = {
        {"w1_s_events_per_s", {.size = {2, 50, 8}, .seed_from = 1, .count = 4000}},
        {"w1_m_events_per_s", {.size = {4, 250, 16}, .seed_from = 1, .count = 600}},
        {"w1_l_events_per_s", {.size = {4, 2000, 16}, .seed_from = 1, .count = 100}},
    };
    struct arena arena;
    void *memory = workers_memory(POP_PUSH_ARENA_BYTES);
    if (memory == NULL) {
        complain("bench: no memory");
        return STATUS_INTERNAL;
    }
    arena_init(&arena, memory, POP_PUSH_ARENA_BYTES, POP_PUSH_ARENA_BYTES);
    bench->pop_push = measure_pop_push(&arena, bench->rounds);
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        const struct report_metric metric = {
            .name = sizes[i].name,
            .value = measure_w1(&arena, &sizes[i].sweep, bench->rounds),
            .unit = "events/s",
            .reference = bench->pop_push,
        };
        add(bench, &metric);
    }
    const struct report_metric reference = {
        .name = "pop_push",
        .value = bench->pop_push,
        .unit = "events/s",
        .reference = bench->pop_push,
    };
    add(bench, &reference);
    workers_memory_free(memory, POP_PUSH_ARENA_BYTES);
    return STATUS_OK;
}

/* --- scenarios ---------------------------------------------------------------------------------- */

/* What one round over a scenario came to. */
struct round {
    uint64_t runs_per_s;
    uint64_t events_per_s;
    uint64_t event_picos; /* per event */
    uint64_t arena_bytes;
};

/* Runs from seed 1 on, or calm ones; the best of the rounds. */
struct load {
    bool calm;
    uint32_t runs;
};

static struct round
measure_round(struct reproducer *reproducer, const struct scenario *scenario, struct load load)
{
    struct round round = {0};
    uint64_t events = 0;
    const nanos from = core_nanos();
    for (uint32_t i = 0; i < load.runs; i++) {
        struct run_request request = reproducer_seed_request(scenario, i + 1);
        request.choice.mode = load.calm ? CHOICE_CALM : CHOICE_SEEDED;
        const struct result *result = reproducer_run(reproducer, &request);
        events += result->events;
        round.arena_bytes =
            result->arena_bytes > round.arena_bytes ? result->arena_bytes : round.arena_bytes;
    }
    const nanos taken = core_nanos() - from;
    round.runs_per_s = rate(load.runs, taken);
    round.events_per_s = rate(events, taken);
    round.event_picos = events == 0 ? 0 : taken * 1000 / events;
    return round;
}

static struct round
measure(const struct bench *bench, const struct scenario *scenario, struct load load)
{
    struct round best = {0};
    struct reproducer *reproducer = reproducer_create(scenario);
    for (uint32_t i = 0; i < bench->rounds && reproducer != NULL; i++) {
        const struct round one = measure_round(reproducer, scenario, load);
        best = one.events_per_s > best.events_per_s ? one : best;
    }
    if (reproducer != NULL) {
        reproducer_destroy(reproducer);
    }
    return best;
}

/* Name of a metric of a scenario's: "cloudtasks/exactly-once-bench" with an ending becomes
 * "cloudtasks_exactly_once_ending". */
static const char *metric_name(struct bench *bench, const char *scenario, const char *ending)
{
    const size_t size = strlen(scenario) - strlen("-bench");
    char *name = text_format(&bench->session->texts, "%.*s_%s", (int)size, scenario, ending);
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/' || *at == '-') {
            *at = '_';
        }
    }
    return name;
}

/* What an event costs with a hundred times as many records, in thousandths of what it costs here. */
static enum status bench_growth(struct bench *bench, const char *name, const struct round *small)
{
    struct scenario *scenario = NULL;
    const char *large = text_format(&bench->session->texts, "%s-large", name);
    const char *root = scenarios_folder(&bench->session->texts);
    if (root == NULL ||
        !file_exists(text_format(&bench->session->texts, "%s/%s.json", root, large))) {
        return STATUS_OK;
    }
    const enum status status = session_scenario(bench->session, large, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    const struct load load = {.calm = true, .runs = 2};
    const struct round round = measure(bench, scenario, load);
    const struct report_metric metric = {
        .name = metric_name(bench, name, "event_cost_large_ps"),
        .value = round.event_picos,
        .unit = "ps/event",
        .reference = small->event_picos,
    };
    add(bench, &metric);
    scenario_destroy(scenario);
    return STATUS_OK;
}

/* Runs per second of two workers, beside those of one. */
static void bench_jobs(struct bench *bench, const char *name, const struct scenario *scenario)
{
    uint64_t rates[2] = {0, 0};
    struct sweep *sweep = text_memory(&bench->session->texts, 1, sizeof *sweep);
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        const struct sweep_options wanted = {
            .scenario = scenario,
            .seeds = {1, JOBS_SEEDS},
            .shard = {1, 1},
            .jobs = jobs,
        };
        for (uint32_t i = 0; i < bench->rounds; i++) {
            const nanos from = wall_nanos();
            if (sweep_run(&wanted, sweep) != ERR_OK) {
                return;
            }
            const uint64_t one = rate(JOBS_SEEDS, wall_nanos() - from);
            rates[jobs - 1] = one > rates[jobs - 1] ? one : rates[jobs - 1];
        }
    }
    const struct report_metric metric = {
        .name = metric_name(bench, name, "jobs_2_runs_per_s"),
        .value = rates[1],
        .unit = "runs/s",
        .reference = rates[0],
    };
    add(bench, &metric);
}

static enum status bench_scenario(struct bench *bench, const char *name)
{
    struct scenario *scenario = NULL;
    enum status status = session_scenario(bench->session, name, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    const struct load calm_load = {.calm = true, .runs = CALM_RUNS};
    const struct load swarm_load = {.calm = false, .runs = SWARM_RUNS};
    const struct round calm = measure(bench, scenario, calm_load);
    const struct round swarm = measure(bench, scenario, swarm_load);
    const struct report_metric metrics[] = {
        {.name = metric_name(bench, name, "calm_runs_per_s"),
         .value = calm.runs_per_s,
         .unit = "runs/s"},
        {.name = metric_name(bench, name, "calm_events_per_s"),
         .value = calm.events_per_s,
         .unit = "events/s",
         .reference = bench->pop_push},
        {.name = metric_name(bench, name, "swarm_events_per_s"),
         .value = swarm.events_per_s,
         .unit = "events/s",
         .reference = bench->pop_push},
        {.name = metric_name(bench, name, "arena_bytes"),
         .value = swarm.arena_bytes,
         .unit = "bytes"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++) {
        add(bench, &metrics[i]);
    }
    status = bench_growth(bench, name, &calm);
    bench_jobs(bench, name, scenario);
    scenario_destroy(scenario);
    return status;
}

/* Every scenario whose name ends in -bench. */
static enum status bench_folder(struct bench *bench, const char *root, const char *folder)
{
    static const char ending[] = "-bench.json";
    struct text_pool *texts = &bench->session->texts;
    const char *const *names = NULL;
    const size_t count = folder_names(texts, text_format(texts, "%s/%s", root, folder), &names);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const size_t size = strlen(names[i]);
        if (size > sizeof ending - 1 &&
            strcmp(names[i] + size - (sizeof ending - 1), ending) == 0) {
            status = bench_scenario(
                bench,
                text_format(texts, "%s/%.*s", folder, (int)(size - strlen(".json")), names[i]));
        }
    }
    return status;
}

static enum status bench_scenarios(struct bench *bench)
{
    struct text_pool *texts = &bench->session->texts;
    const char *const *folders = NULL;
    const char *root = scenarios_folder(texts);
    enum status status = STATUS_OK;
    if (root == NULL) {
        return STATUS_OK;
    }
    const size_t count = folder_names(texts, root, &folders);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (strchr(folders[i], '.') == NULL) {
            status = bench_folder(bench, root, folders[i]);
        }
    }
    return status;
}

enum status command_bench(const struct options *options)
{
    struct session session;
    struct bench bench = {
        .session = &session,
        .rounds = option_is_given(options, OPTION_BIT(QUICK)) ? ROUNDS_QUICK : ROUNDS,
    };
    enum status status = session_open(&session, options);
    bench.metrics = text_memory(&session.texts, METRICS_MAX, sizeof *bench.metrics);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = bench_simulator(&bench);
    }
    if (status == STATUS_OK) {
        status = bench_scenarios(&bench);
    }
    if (status == STATUS_OK) {
        report_text_metrics(stdout, bench.metrics, bench.metric_count);
        status = output_metrics(options->json, bench.metrics, bench.metric_count);
    }
    session_close(&session);
    return status;
}
