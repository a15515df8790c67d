#include "scenarios/gate/observe.h"

#include "scenarios/measure.h"
#include "scenarios/workers.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_CAP_DEFAULT ((size_t)8 << 20)

static void PRINTF_LIKE(3, 4)
    stand(struct observation *observed, enum decision_standing standing, const char *format, ...)
{
    va_list arguments;
    observed->standing = (uint8_t)standing;
    va_start(arguments, format);
    (void)vsnprintf(observed->cause, sizeof(observed->cause), format, arguments);
    va_end(arguments);
}

/* --- crashes on time --------------------------------------------------------------------------- */

/* All processes die at these instants, behind nine tenths of an interval: what the latest checkpoint
 * covers has been committed by then, and is committed again. */
struct crashes {
    const struct runner *runner;
    const struct choice_site *site; /* engine.crash */
    uint32_t outcome;               /* all_short */
    nanos next;
    nanos spacing;
    uint32_t left;
};

static uint32_t crash_when_due(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct crashes *crashes = context;
    (void)who;
    (void)ordinal;
    if (site != crashes->site || crashes->left == 0 || (mask >> crashes->outcome & 1) == 0 ||
        world_now(crashes->runner->world) < crashes->next) {
        return 0;
    }
    crashes->left--;
    crashes->next = nanos_add(crashes->next, crashes->spacing);
    return crashes->outcome;
}

static uint32_t outcome_of(const struct choice_site *site, const char *name)
{
    for (uint32_t i = 0; i < site->outcome_count; i++) {
        if (strcmp(site->outcomes[i].name, name) == 0) {
            return i;
        }
    }
    UNREACHABLE();
}

static struct crashes
plan_crashes(const struct runner *runner, const struct scenario *scenario, const struct cell *cell)
{
    const struct choice_site *site =
        choice_site_by_name(scenario->config.registry, BYTES_LITERAL("engine.crash"));
    const uint32_t count = scenario->config.faults.cap[FAULT_CRASH];
    const nanos interval = cell->shape.interval;
    const nanos first = (cell->warm_up + interval - 1) / interval * interval + interval / 10 * 9;
    const nanos spacing = cell->measured / (count > 0 ? count : 1);
    return (struct crashes){
        .runner = runner,
        .site = site,
        .outcome = outcome_of(site, "all_short"),
        .next = first,
        .spacing = (spacing + interval - 1) / interval * interval,
        .left = count,
    };
}

/* --- what is stored, against what was submitted ------------------------------------------------ */

/* Of each record: times that it was handed over, committed, made visible; they stop at 255. */
struct tally {
    uint8_t handed;
    uint8_t committed;
    uint8_t visible;
};

static void add_one(uint8_t *count)
{
    *count = (uint8_t)(*count + (*count < UINT8_MAX));
}

static bool is_effect(const struct journal_entry *entry, const struct judge_facts *facts)
{
    return entry->service == facts->target_service &&
           (facts->reader_class == 0
                ? entry->kind == WORLD_CREATED
                : entry->kind == WORLD_VISIBLE && entry->code == facts->reader_class);
}

/* A submission that was made before is refused as such, and rightly. */
static bool is_error(const struct journal_entry *entry, const struct judge_facts *facts)
{
    return entry->service == facts->target_service && entry->kind == WORLD_REFUSED &&
           entry->code != PORT_ALREADY_EXISTS;
}

static void count_entries(const struct journal *journal,
                          const struct judge_facts *facts,
                          struct tally *tallies,
                          struct observation *observed)
{
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        struct tally *tally = &tallies[entry->record];
        if (entry->kind == HOST_RECORD) {
            add_one(&tally->handed);
        } else if (entry->kind == HOST_COMMIT_REQUEST) {
            add_one(&tally->committed);
        } else if (is_effect(entry, facts)) {
            add_one(&tally->visible);
        } else if (entry->kind == WIRE_ISSUED && entry->service == facts->target_service) {
            observed->requests++;
        } else if (is_error(entry, facts)) {
            observed->errors++;
        }
    }
}

/* A record whose value is that of the one before it was made from it. */
static bool is_distinct(const struct source_log *log, uint32_t index)
{
    return !log->equal_payloads || index == 0 ||
           log->records[index].digest != log->records[index - 1].digest;
}

static void
reconcile(const struct world *world, const struct run_config *config, struct observation *observed)
{
    const struct source_log *log = config->job.log;
    struct tally *tallies = memory_take((log->record_count + 1) * sizeof *tallies);
    bool commits = false;
    count_entries(world->journal, &config->facts, tallies, observed);
    for (uint32_t i = 0; i < log->record_count; i++) {
        commits = commits || tallies[i + 1].committed > 0;
    }
    for (uint32_t i = 0; i < log->record_count; i++) {
        const struct tally *tally = &tallies[i + 1];
        const uint8_t submitted = commits ? tally->committed : tally->handed;
        observed->again += submitted > 1 ? submitted - 1u : 0;
        if (is_distinct(log, i)) {
            observed->records++;
            observed->missing += tally->visible == 0 ? 1 : 0;
            observed->doubled += tally->visible > 1 ? 1 : 0;
        }
    }
    free(tallies);
}

/* --- figures ----------------------------------------------------------------------------------- */

struct window {
    nanos from;
    nanos to;
    uint32_t first; /* enum measure_point that latencies count from */
};

static nanos percentile(const struct measure *measure,
                        const struct window *window,
                        uint32_t first,
                        uint32_t second,
                        uint32_t permille,
                        nanos *scratch)
{
    uint32_t missing = 0;
    const struct measure_span span = {first, second, window->from, window->to};
    const uint32_t count = measure_durations(measure, span, scratch, &missing);
    return count == 0 ? 0 : measure_percentile(scratch, count, permille);
}

/* p95 of a part of the way, over the records of the window: their first instant says which. */
static nanos part_p95(const struct measure *measure,
                      const struct window *window,
                      uint32_t first,
                      uint32_t second,
                      nanos *scratch)
{
    struct measure part = *measure;
    struct measure_record *records = memory_take((part.record_count + 1) * sizeof *records);
    for (uint32_t i = 0; i < part.record_count; i++) {
        const nanos arrived = measure->records[i].at[window->first];
        const bool is_in = arrived != TIME_NEVER && arrived >= window->from && arrived < window->to;
        for (uint32_t point = 0; point < MEASURE_POINT_COUNT; point++) {
            records[i].at[point] = is_in ? measure->records[i].at[point] : TIME_NEVER;
        }
    }
    part.records = records;
    const struct window all = {0, TIME_NEVER, first};
    const nanos value = percentile(&part, &all, first, second, 950, scratch);
    free(records);
    return value;
}

static void find_latencies(const struct measure *measure,
                           const struct window *window,
                           uint32_t visible,
                           struct observation *observed)
{
    nanos *sorted = memory_take((measure->record_count + 1) * sizeof *sorted);
    uint32_t missing = 0;
    const struct measure_span span = {window->first, visible, window->from, window->to};
    const uint32_t count = measure_durations(measure, span, sorted, &missing);
    if (count > 0) {
        observed->p50 = measure_percentile(sorted, count, 500);
        observed->p95 = measure_percentile(sorted, count, 950);
        observed->p99 = measure_percentile(sorted, count, 990);
        observed->most = sorted[count - 1];
        observed->least = sorted[0];
        observed->wait_p95 = part_p95(measure, window, window->first, MEASURE_RELEASED, sorted);
        observed->drain_p95 = observed->wait_p95 == 0
                                  ? 0
                                  : part_p95(measure, window, MEASURE_RELEASED, visible, sorted);
    }
    free(sorted);
}

/* When the checkpoint was triggered that completed then. */
static nanos trigger_of(const struct measure *measure, nanos completed)
{
    for (uint32_t i = 0; i < measure->checkpoint_count; i++) {
        if (measure->checkpoints[i].completed == completed) {
            return measure->checkpoints[i].triggered;
        }
    }
    return completed;
}

/* Stage 2: whole checkpoint intervals by visibility, and the arrivals between their triggers (13.6). */
static void measure_load(const struct measure *measure,
                         const struct cell *cell,
                         uint8_t reader_class,
                         struct observation *observed)
{
    const nanos from = nanos_add(measure->started, cell->warm_up);
    const struct measure_throughput found =
        measure_throughput(measure, reader_class, from, nanos_add(from, cell->measured));
    const struct window window = {
        trigger_of(measure, found.from), trigger_of(measure, found.to), MEASURE_INTENDED};
    observed->throughput = found.milli_per_s;
    observed->checkpoints = found.intervals == 0 ? 0 : found.intervals + 1;
    if (found.intervals > 0) {
        find_latencies(measure, &window, MEASURE_VISIBLE + (uint32_t)reader_class, observed);
    }
}

/* Stage 1: from the end of the warm-up to the last effect, drain included (13.3). */
static void measure_primitive(const struct measure *measure,
                              const struct cell *cell,
                              uint8_t reader_class,
                              struct observation *observed)
{
    const uint32_t visible = MEASURE_VISIBLE + (uint32_t)reader_class;
    const nanos from = nanos_add(measure->started, cell->warm_up);
    nanos last = from;
    uint64_t count = 0;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos at = measure->records[i].at[visible];
        if (at != TIME_NEVER && at > from) {
            count++;
            last = at > last ? at : last;
        }
    }
    const struct window window = {from, TIME_NEVER, MEASURE_HANDED};
    observed->throughput = last == from ? 0 : nanos_mul(count, 1000 * NANOS_PER_S) / (last - from);
    find_latencies(measure, &window, visible, observed);
}

/* --- standing ---------------------------------------------------------------------------------- */

/* Why the job stopped first, in the words of 13.8's failure split where there is one. */
static void stand_as_stopped(const struct journal *journal, struct observation *observed)
{
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind != HOST_JOB_STOPPED && entry->kind != HOST_JOB_FAILED) {
            continue;
        }
        if (entry->code == STOP_CAUSE_CHECKPOINT) {
            stand(observed, DECISION_FAILED, "checkpoint expiry");
        } else {
            stand(observed, DECISION_FAILED, "%s", sink_reason_name((uint32_t)entry->a));
        }
        return;
    }
    stand(observed, DECISION_FAILED, "restarted");
}

static bool is_crashed(const struct cell *cell)
{
    return cell->purpose == CELL_CRASHED;
}

static bool has_window(const struct cell *cell)
{
    return cell->purpose == CELL_LOAD || cell->purpose == CELL_FREE || cell->purpose == CELL_SLOWER;
}

static void find_standing(const struct plan *plan,
                          const struct cell *cell,
                          const struct result *result,
                          const struct journal *journal,
                          struct observation *observed)
{
    if (result->end == RUN_END_LIMIT) {
        stand(observed, DECISION_CENSORED, "%.80s", result->message);
    } else if (result->end == RUN_END_FAILED || (observed->restarts > 0 && !is_crashed(cell))) {
        stand_as_stopped(journal, observed);
    } else if (result->end != RUN_END_COMPLETE) {
        stand(observed, DECISION_CENSORED, "not through within its bound");
    } else if (observed->missing > 0) {
        stand(observed, DECISION_INVALID, "%" PRIu32 " records are missing", observed->missing);
    } else if (is_crashed(cell) && observed->again == 0) {
        stand(observed, DECISION_INVALID, "nothing was replayed");
    } else if (has_window(cell) && observed->checkpoints < plan->checkpoints_least) {
        stand(observed,
              DECISION_INVALID,
              "%" PRIu32 " checkpoints in the window, wanted: %" PRIu32,
              observed->checkpoints,
              plan->checkpoints_least);
    } else {
        observed->standing = DECISION_OBSERVED;
    }
}

/* --- the run ----------------------------------------------------------------------------------- */

static void read_run(const struct runner *runner,
                     const struct scenario *scenario,
                     const struct plan *plan,
                     const struct cell *cell,
                     const struct result *result,
                     struct observation *observed)
{
    struct measure *measure = measure_create(&scenario->config);
    const uint8_t reader_class = scenario->config.facts.reader_class;
    measure_journal(measure, runner->world->journal);
    observed->restarts = measure->restarts;
    observed->digest = result->digest;
    reconcile(runner->world, &scenario->config, observed);
    if (has_window(cell) || is_crashed(cell)) {
        measure_load(measure, cell, reader_class, observed);
    } else {
        measure_primitive(measure, cell, reader_class, observed);
    }
    find_standing(plan, cell, result, runner->world->journal, observed);
    measure_destroy(measure);
}

static bool make_room(struct observe_memory *memory, size_t size)
{
    if (memory->size < size) {
        observe_memory_fini(memory);
        memory->block = workers_memory_alone(size);
        memory->size = memory->block == NULL ? 0 : size;
    }
    return memory->block != NULL;
}

void observe_memory_fini(struct observe_memory *memory)
{
    if (memory->block != NULL) {
        workers_memory_free(memory->block, memory->size);
    }
    *memory = (struct observe_memory){0};
}

static void run_scenario(const struct scenario *scenario,
                         struct observe_memory *memory,
                         const struct plan *plan,
                         const struct cell *cell,
                         struct observation *observed)
{
    struct run_config config = scenario->config;
    struct runner runner;
    struct result result;
    const size_t cap = config.arena_soft_cap == 0 ? SOFT_CAP_DEFAULT : config.arena_soft_cap;
    if (!make_room(memory, cap + RUN_HEADROOM)) {
        stand(observed, DECISION_CENSORED, "no memory");
        return;
    }
    config.oracles_off = true;
    runner_init(&runner, memory->block, memory->size);
    struct crashes crashes = plan_crashes(&runner, scenario, cell);
    const struct run_request request = {
        .choice = {.mode = is_crashed(cell) ? CHOICE_POLICY : CHOICE_CALM,
                   .identity = cell->seed,
                   .policy = crash_when_due,
                   .policy_context = &crashes},
        .keep_trace = true,
    };
    runner_run(&runner, &config, &request, &result);
    if (result.verdict == RUN_REFUSED) {
        stand(observed, DECISION_INVALID, "refused: %.80s", result.message);
    } else {
        read_run(&runner, scenario, plan, cell, &result, observed);
    }
}

void observe(struct text_pool *texts,
             struct observe_memory *memory,
             const struct plan *plan,
             const struct costs *costs,
             const struct cell *cell,
             struct observation *observed)
{
    struct scenario *scenario = NULL;
    struct scenario_fault fault = {{0}};
    const char *name = cell_name(texts, plan, cell);
    const char *json = cell_json(texts, plan, costs, cell, &fault);
    const struct scenario_options options = {.name = name};
    *observed = (struct observation){0};
    if (json == NULL ||
        scenario_create(bytes_of_text(json), &options, &scenario, &fault) != ERR_OK) {
        stand(observed, DECISION_INVALID, "%.90s", fault.message);
        return;
    }
    run_scenario(scenario, memory, plan, cell, observed);
    scenario_destroy(scenario);
}
