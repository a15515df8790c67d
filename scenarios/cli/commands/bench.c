/* bench: speed on one core, each figure beside the bare pop-push loop.
 *
 * Each figure is the best of several rounds: what disturbs a round only ever makes it slower. What is
 * compared takes turns within a round, so that a slow minute is one for both. Time is that of the
 * process and of those it waited for; only how several workers share out their work is told by the
 * clock on the wall. */
#include "reports/text.h"
#include "scenarios/bench/w1.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/cli/sweep/sweep.h"
#include "scenarios/workers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    struct arena arena; /* of the simulator alone */
    struct report_metric *metrics;
    size_t metric_count;
};

static nanos nanos_of(struct timeval time)
{
    return (nanos)time.tv_sec * NANOS_PER_S + (nanos)time.tv_usec * 1000;
}

static nanos used_nanos(int who)
{
    struct rusage usage = {0};
    (void)getrusage(who, &usage);
    return nanos_of(usage.ru_utime) + nanos_of(usage.ru_stime);
}

/* Time that this process, and workers it waited for, had a core for: what else the machine does is
 * not measured. */
static nanos core_nanos(void)
{
    return used_nanos(RUSAGE_SELF) + used_nanos(RUSAGE_CHILDREN);
}

static nanos wall_nanos(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (nanos)now.tv_sec * NANOS_PER_S + (nanos)now.tv_nsec;
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

static uint64_t better(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t pop_push_once(struct bench *bench)
{
    const nanos from = core_nanos();
    (void)w1_pop_push(&bench->arena, POP_PUSH_PENDING, POP_PUSH_STEPS);
    return rate(POP_PUSH_STEPS, core_nanos() - from);
}

static uint64_t w1_once(struct bench *bench, const struct w1_sweep *sweep)
{
    struct w1_result result = {0};
    const nanos from = core_nanos();
    w1_run_many(sweep, &bench->arena, &result);
    const uint64_t one = rate(result.events, core_nanos() - from);
    CHECK(result.lost == 0);
    return one;
}

static void bench_simulator(struct bench *bench)
{
    static const struct {
        const char *name;
        struct w1_sweep sweep;
    } sizes[] = {
        {"w1_s_events_per_s", {.size = {2, 50, 8}, .seed_from = 1, .count = 4000}},
        {"w1_m_events_per_s", {.size = {4, 250, 16}, .seed_from = 1, .count = 600}},
        {"w1_l_events_per_s", {.size = {4, 2000, 16}, .seed_from = 1, .count = 100}},
    };
    uint64_t best = 0;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        struct report_metric metric = {.name = sizes[i].name, .unit = "events/s"};
        for (uint32_t round = 0; round < bench->rounds; round++) {
            metric.reference = better(metric.reference, pop_push_once(bench));
            metric.value = better(metric.value, w1_once(bench, &sizes[i].sweep));
        }
        best = better(best, metric.reference);
        add(bench, &metric);
    }
    const struct report_metric reference = {
        .name = "pop_push", .value = best, .unit = "events/s", .reference = best};
    add(bench, &reference);
}

/* --- scenarios ---------------------------------------------------------------------------------- */

/* What one round over a scenario came to. */
struct round {
    uint64_t runs_per_s;
    uint64_t events_per_s;
    uint64_t event_picos; /* per event */
    uint64_t arena_bytes;
    uint64_t pop_push; /* events per second of the reference, beside it */
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

/* The better of two rounds, and of what was beside them. */
static struct round better_round(struct round a, struct round b)
{
    struct round best = a.events_per_s > b.events_per_s ? a : b;
    best.pop_push = better(a.pop_push, b.pop_push);
    return best;
}

static struct round measure(struct bench *bench, const struct scenario *scenario, struct load load)
{
    struct round best = {0};
    struct reproducer *reproducer = reproducer_create_alone(scenario);
    for (uint32_t i = 0; i < bench->rounds && reproducer != NULL; i++) {
        const uint64_t pop_push = pop_push_once(bench);
        struct round one = measure_round(reproducer, scenario, load);
        one.pop_push = pop_push;
        best = better_round(best, one);
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

/* What an event costs with a hundred times as many records, beside what it costs here. */
static void compare_growth(struct bench *bench,
                           const char *name,
                           const struct scenario *small,
                           const struct scenario *large)
{
    const struct load small_load = {.calm = true, .runs = CALM_RUNS};
    const struct load large_load = {.calm = true, .runs = 2};
    struct reproducer *one = reproducer_create_alone(small);
    struct reproducer *hundred = reproducer_create_alone(large);
    struct round here = {0};
    struct round there = {0};
    for (uint32_t i = 0; i < bench->rounds && one != NULL && hundred != NULL; i++) {
        here = better_round(here, measure_round(one, small, small_load));
        there = better_round(there, measure_round(hundred, large, large_load));
    }
    if (one != NULL) {
        reproducer_destroy(one);
    }
    if (hundred != NULL) {
        reproducer_destroy(hundred);
    }
    const struct report_metric metric = {
        .name = metric_name(bench, name, "event_cost_large_ps"),
        .value = there.event_picos,
        .unit = "ps/event",
        .reference = here.event_picos,
    };
    add(bench, &metric);
}

static enum status bench_growth(struct bench *bench, const char *name, const struct scenario *small)
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
    compare_growth(bench, name, small, scenario);
    scenario_destroy(scenario);
    return STATUS_OK;
}

/* Runs per second with a number of workers, by the wall and by the core. */
struct jobs {
    uint64_t by_wall;
    uint64_t by_core;
};

static bool
jobs_once(const struct scenario *scenario, uint32_t count, struct sweep *sweep, struct jobs *best)
{
    const struct sweep_options wanted = {
        .scenario = scenario,
        .seeds = {1, JOBS_SEEDS},
        .shard = {1, 1},
        .jobs = count,
    };
    const nanos wall_from = wall_nanos();
    const nanos core_from = core_nanos();
    if (sweep_run(&wanted, sweep) != ERR_OK) {
        return false;
    }
    best->by_wall = better(best->by_wall, rate(JOBS_SEEDS, wall_nanos() - wall_from));
    best->by_core = better(best->by_core, rate(JOBS_SEEDS, core_nanos() - core_from));
    return true;
}

/* Two workers beside one: what they do by the wall, where 2.000 is all that can be, and by the core,
 * where 1.000 is; the latter stands also while others have the machine. */
static void bench_jobs(struct bench *bench, const char *name, const struct scenario *scenario)
{
    struct jobs one = {0};
    struct jobs two = {0};
    struct sweep *sweep = text_memory(&bench->session->texts, 1, sizeof *sweep);
    for (uint32_t i = 0; i < bench->rounds; i++) {
        if (!jobs_once(scenario, 1, sweep, &one) || !jobs_once(scenario, 2, sweep, &two)) {
            return;
        }
    }
    const struct report_metric metrics[] = {
        {.name = metric_name(bench, name, "jobs_2_runs_per_s"),
         .value = two.by_wall,
         .unit = "runs/s",
         .reference = one.by_wall},
        {.name = metric_name(bench, name, "jobs_2_runs_per_core_s"),
         .value = two.by_core,
         .unit = "runs/s",
         .reference = one.by_core},
    };
    add(bench, &metrics[0]);
    add(bench, &metrics[1]);
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
         .reference = calm.pop_push},
        {.name = metric_name(bench, name, "swarm_events_per_s"),
         .value = swarm.events_per_s,
         .unit = "events/s",
         .reference = swarm.pop_push},
        {.name = metric_name(bench, name, "arena_bytes"),
         .value = calm.arena_bytes,
         .unit = "bytes"},
        {.name = metric_name(bench, name, "swarm_arena_bytes"),
         .value = swarm.arena_bytes,
         .unit = "bytes"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++) {
        add(bench, &metrics[i]);
    }
    status = bench_growth(bench, name, scenario);
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

static enum status bench_all(struct bench *bench, const struct options *options)
{
    bench_simulator(bench);
    const enum status status = bench_scenarios(bench);
    if (status != STATUS_OK) {
        return status;
    }
    report_text_metrics(stdout, bench->metrics, bench->metric_count);
    return output_metrics(options->json, bench->metrics, bench->metric_count);
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
    void *memory = workers_memory_alone(POP_PUSH_ARENA_BYTES);
    if (status == STATUS_OK && memory == NULL) {
        complain("bench: no memory");
        status = STATUS_INTERNAL;
    }
    if (status == STATUS_OK) {
        arena_init(&bench.arena, memory, POP_PUSH_ARENA_BYTES, POP_PUSH_ARENA_BYTES);
        status = bench_all(&bench, options);
    }
    if (memory != NULL) {
        workers_memory_free(memory, POP_PUSH_ARENA_BYTES);
    }
    session_close(&session);
    return status;
}
