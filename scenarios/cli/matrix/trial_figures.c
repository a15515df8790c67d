/* Claims about figures: what a run without faults measures in virtual time, configuration by
 * configuration, against what the claim wants. All of it is whole numbers. */
#include "scenarios/cli/files.h"
#include "scenarios/cli/matrix/trial.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/measure.h"
#include "scenarios/timing/figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 4000u

/* One configuration, run. */
struct measured {
    const char *name;
    struct timing_source source;
    struct scenario *scenario;
    struct timing_facts facts;
    struct timing_figures figures; /* by formula */
    struct reproducer *reproducer;
    struct measure *measure; /* of the calm run */
    uint32_t reader;
    nanos floor; /* of latencies */
    nanos most;
    nanos p95;
    uint64_t requests; /* with data */
    nanos seen_from;   /* the first effect and the last one */
    nanos seen_to;
    uint32_t seen;
};

static void close_measured(struct measured *measured)
{
    if (measured->measure != NULL) {
        measure_destroy(measured->measure);
    }
    if (measured->reproducer != NULL) {
        reproducer_destroy(measured->reproducer);
    }
    if (measured->scenario != NULL) {
        scenario_destroy(measured->scenario);
    }
    *measured = (struct measured){0};
}

static enum status read_scenario(struct trial *trial, const char *name, struct measured *measured)
{
    char path[1024];
    struct text_pool *texts = &trial->session->texts;
    const enum status status =
        session_scenario_under(trial->session, name, trial->claim->profile, &measured->scenario);
    if (status != STATUS_OK) {
        return status;
    }
    if (!scenario_find(name, path, sizeof path) ||
        file_read(texts, path, &measured->source.json) != ERR_OK) {
        complain("%s: cannot be read", name);
        return STATUS_USAGE;
    }
    measured->source.options = (struct scenario_options){
        .name = measured->scenario->name,
        .sink_or_null = session_sink(trial->session),
        .profile = trial->claim->profile,
        .profile_given = true,
    };
    return STATUS_OK;
}

static void read_latencies(struct measured *measured)
{
    const struct measure *measure = measured->measure;
    nanos *durations = memory_take((measure->record_count + 1) * sizeof *durations);
    uint32_t missing = 0;
    const struct measure_span span = {MEASURE_INTENDED, MEASURE_VISIBLE + measured->reader, 0, 0};
    measured->seen = measure_durations(measure, span, durations, &missing);
    if (measured->seen > 0) {
        measured->floor = durations[0];
        measured->most = durations[measured->seen - 1];
        measured->p95 = measure_percentile(durations, measured->seen, 950);
    }
    free(durations);
    measured->seen_from = TIME_NEVER;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos at = measure->records[i].at[MEASURE_VISIBLE + measured->reader];
        measured->seen_from = at < measured->seen_from ? at : measured->seen_from;
        measured->seen_to = at != TIME_NEVER && at > measured->seen_to ? at : measured->seen_to;
    }
}

/* Requests that carry records: of a model's methods all but those that only read. */
static void count_requests(struct measured *measured, const struct journal *journal)
{
    const struct judge_facts *facts = &measured->scenario->config.facts;
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind == WIRE_ISSUED && entry->service == facts->target_service &&
            (facts->control_methods >> entry->code & 1) == 0) {
            measured->requests++;
        }
    }
}

/* Make the calm run of a configuration and read it. */
static enum status open_measured(struct trial *trial, const char *name, struct measured *measured)
{
    *measured = (struct measured){.name = name};
    const enum status status = read_scenario(trial, name, measured);
    if (status != STATUS_OK) {
        return status;
    }
    timing_facts_of(measured->scenario, &measured->facts);
    timing_figures_of(measured->scenario, &measured->figures);
    measured->reader = measured->scenario->config.facts.reader_class;
    measured->reproducer = reproducer_create_alone(measured->scenario);
    if (measured->reproducer == NULL) {
        complain("%s: no memory for runs", name);
        return STATUS_INTERNAL;
    }
    const struct run_request calm = {.choice = {.mode = CHOICE_CALM, .identity = 1},
                                     .keep_trace = true};
    const struct result *result = reproducer_run(measured->reproducer, &calm);
    trial->record->digest += result->digest;
    trial->record->seeds++;
    if (result->verdict == RUN_REFUSED || result->verdict == RUN_LIMIT) {
        trial_explain(trial, "%s: %s", name, result->message);
        return STATUS_OK;
    }
    const struct journal *journal = reproducer_world(measured->reproducer)->journal;
    measured->measure = measure_create(&measured->scenario->config);
    measure_journal(measured->measure, journal);
    read_latencies(measured);
    count_requests(measured, journal);
    return STATUS_OK;
}

/* --- checks -------------------------------------------------------------------------------------- */

/* A line of figures, and whether it is what is wanted. */
struct reading {
    const char *line;
    bool fits;
};

static const char *seconds_of(struct text_pool *texts, nanos value)
{
    return text_format(texts,
                       "%" PRIu64 ".%03" PRIu64 " s",
                       value / NANOS_PER_S,
                       value % NANOS_PER_S / NANOS_PER_MS);
}

/* Within 5 %. */
static bool is_near(uint64_t value, uint64_t wanted)
{
    const uint64_t apart = value > wanted ? value - wanted : wanted - value;
    return apart <= wanted / 20;
}

static uint64_t wanted_of(const struct claim *claim, uint32_t at)
{
    return at < claim->wanted_count ? strtoull(claim->wanted[at], NULL, 10) : 0;
}

/* TM-1. The ends are reached to within one row spacing. */
static struct reading check_envelope(struct text_pool *texts, const struct measured *measured)
{
    const nanos row = measured->scenario->config.job.record_interval;
    const nanos least = measured->figures.items[FIGURE_LATENCY_FLOOR].formula;
    const nanos most = measured->figures.items[FIGURE_LATENCY_MOST].formula;
    const bool is_within = measured->floor >= least && measured->most <= most;
    const bool is_reached =
        measured->floor <= nanos_add(least, row) && nanos_add(measured->most, row) >= most;
    return (struct reading){
        .line = text_format(texts,
                            "%s: latencies %s to %s, by formula %s to %s",
                            measured->name,
                            seconds_of(texts, measured->floor),
                            seconds_of(texts, measured->most),
                            seconds_of(texts, least),
                            seconds_of(texts, most)),
        .fits = measured->seen > 0 && is_within && is_reached,
    };
}

/* TM-1b. */
static struct reading
check_latency(struct text_pool *texts, const struct measured *measured, uint64_t wanted_ms)
{
    const nanos row = measured->scenario->config.job.record_interval;
    const nanos wanted = MS(wanted_ms);
    const nanos apart = measured->most > wanted ? measured->most - wanted : wanted - measured->most;
    return (struct reading){
        .line = text_format(texts,
                            "%s: largest latency %s, wanted %s",
                            measured->name,
                            seconds_of(texts, measured->most),
                            seconds_of(texts, wanted)),
        .fits = apart <= row,
    };
}

/* BQ-EO-11. What is written just before a barrier waits for its checkpoint and the commit, and for no more.
 * To be false is worth something only where the same can be true. */
static struct reading
check_least(struct text_pool *texts, const struct measured *measured, const struct measured *beside)
{
    const nanos interval = measured->scenario->config.job.checkpoint_interval;
    const nanos other = beside->scenario->config.job.checkpoint_interval;
    const bool can_be = beside->seen > 0 && beside->floor >= other;
    return (struct reading){
        .line = text_format(texts,
                            "%s: least latency %s, checkpoints every %s; %s: %s, every %s",
                            measured->name,
                            seconds_of(texts, measured->floor),
                            seconds_of(texts, interval),
                            beside->name,
                            seconds_of(texts, beside->floor),
                            seconds_of(texts, other)),
        .fits = measured->seen == 0 || measured->floor >= interval || !can_be,
    };
}

/* TM-3. Another run: of a variant whose records arrive by themselves, and whose processes die once. */
static struct reading check_catch_up(struct trial *trial, struct measured *measured)
{
    struct text_pool *texts = &trial->session->texts;
    struct scenario_fault fault = {{0}};
    const enum err err =
        timing_simulate(texts, &measured->source, measured->scenario, &measured->figures, &fault);
    const struct timing_figure *figure = &measured->figures.items[FIGURE_CATCH_UP];
    trial->record->seeds++;
    if (err != ERR_OK || !figure->has_simulated) {
        return (struct reading){
            .line = text_format(texts, "%s: never caught up: %s", measured->name, fault.message)};
    }
    return (struct reading){
        .line = text_format(texts,
                            "%s: catches up in %s, by formula %s (outage %s, utilisation %" PRIu64
                            " permille)",
                            measured->name,
                            seconds_of(texts, figure->simulated),
                            seconds_of(texts, figure->formula),
                            seconds_of(texts, measured->figures.items[FIGURE_OUTAGE].simulated),
                            measured->figures.items[FIGURE_UTILISATION].formula),
        .fits = is_near(figure->simulated, figure->formula),
    };
}

/* TM-4. */
static struct reading
check_drain(struct text_pool *texts, const struct measured *measured, uint64_t wanted_ms)
{
    nanos drain = 0;
    for (uint32_t i = 0; i < measured->measure->checkpoint_count; i++) {
        const struct measure_checkpoint *at = &measured->measure->checkpoints[i];
        const bool is_committed = at->commit_returned != TIME_NEVER && at->completed != TIME_NEVER;
        const nanos took = is_committed ? at->commit_returned - at->completed : 0;
        drain = took > drain ? took : drain;
    }
    return (struct reading){
        .line = text_format(texts,
                            "%s: a commit drains in %s, by formula %s, wanted %s",
                            measured->name,
                            seconds_of(texts, drain),
                            seconds_of(texts, measured->facts.drain),
                            seconds_of(texts, MS(wanted_ms))),
        .fits = is_near(drain, MS(wanted_ms)) && is_near(measured->facts.drain, MS(wanted_ms)),
    };
}

/* TM-8. */
static struct reading
check_requests(struct text_pool *texts, const struct measured *measured, uint64_t wanted)
{
    const uint64_t per_thousand =
        measured->requests * 1000 / measured->scenario->config.job.log->record_count;
    return (struct reading){
        .line = text_format(texts,
                            "%s: %" PRIu64 " requests per 1000 records, wanted %" PRIu64,
                            measured->name,
                            per_thousand,
                            wanted),
        .fits = per_thousand == wanted,
    };
}

/* TM-9. An envelope is held from its staging until its commit has returned. */
static struct reading check_held(struct text_pool *texts, const struct measured *measured)
{
    const struct journal *journal = reproducer_world(measured->reproducer)->journal;
    const struct job_config *job = &measured->scenario->config.job;
    const uint64_t each = job->log->records[0].record.value.size + 256;
    const nanos age = nanos_add(measured->facts.open, measured->facts.drain);
    const uint64_t wanted = age / job->record_interval + 1;
    uint64_t held = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        held += entry->kind == HOST_RECORD ? 1 : 0;
        held -= entry->kind == HOST_FINALISED ? 1 : 0;
        most = held > most ? held : most;
    }
    return (struct reading){
        .line = text_format(texts,
                            "%s: %" PRIu64 " envelopes, %" PRIu64 " bytes held at most; rate times "
                            "age %" PRIu64 " bytes",
                            measured->name,
                            most,
                            most * each,
                            wanted * each),
        .fits = most <= wanted && most + 1 >= wanted,
    };
}

/* TM-13. Each record becomes visible while a commit runs; and the beginnings of commits lie as far apart
 * as completions do. */
static struct reading check_steps(struct text_pool *texts, const struct measured *measured)
{
    const struct measure *measure = measured->measure;
    uint32_t inside = 0;
    uint32_t steps = 0;
    for (uint32_t i = 0; i < measure->record_count; i++) {
        const nanos at = measure->records[i].at[MEASURE_VISIBLE + measured->reader];
        for (uint32_t k = 0; k < measure->checkpoint_count; k++) {
            const struct measure_checkpoint *by = &measure->checkpoints[k];
            if (by->commit_returned != TIME_NEVER && at > by->completed &&
                at <= by->commit_returned) {
                inside++;
                break;
            }
        }
    }
    for (uint32_t k = 0; k < measure->checkpoint_count; k++) {
        steps += measure->checkpoints[k].commit_returned != TIME_NEVER ? 1u : 0u;
    }
    return (struct reading){
        .line = text_format(texts,
                            "%s: %" PRIu32 " of %" PRIu32
                            " records become visible while one of %" PRIu32 " commits runs",
                            measured->name,
                            inside,
                            measure->record_count,
                            steps),
        .fits = inside == measure->record_count && steps >= 3,
    };
}

/* TM-2. Named with its margin before anything runs; and a run shows it. */
static struct reading
check_constraints(struct trial *trial, const struct measured *measured, bool is_inside)
{
    struct text_pool *texts = &trial->session->texts;
    struct timing_constraints found = {.count = 0};
    struct timing_shown shown = {.is_shown = false};
    struct scenario_fault fault = {{0}};
    timing_constraints_of(measured->scenario, &found);
    const struct timing_constraint *worst = &found.items[0];
    const struct timing_constraint *named = worst;
    if (is_inside) {
        return (struct reading){
            .line = text_format(texts,
                                "%s: nothing violated, least margin %" PRId64 " ns of %s",
                                measured->name,
                                found.count > 0 ? worst->margin : 0,
                                found.count > 0 ? worst->timing->name : "none"),
            .fits = found.count > 0 && worst->margin >= 0,
        };
    }
    for (uint32_t i = 0; i < found.count && worst[i].margin < 0 && !shown.is_shown; i++) {
        if (timing_probe(texts, &measured->source, &worst[i], RUNS_MAX, &shown, &fault) != ERR_OK) {
            return (struct reading){.line = text_copy(texts, bytes_of_text(fault.message))};
        }
        trial->record->seeds += shown.runs;
        /* What is refused is refused for another rule, where this one takes a failure to show. */
        shown.is_shown =
            shown.is_shown && (!shown.is_refused || worst[i].shape == TIMING_SHAPE_REFUSED);
        named = shown.is_shown ? &worst[i] : named;
    }
    return (struct reading){
        .line = text_format(texts,
                            "%s: %s by %" PRId64 " ns, %s",
                            measured->name,
                            found.count > 0 ? named->timing->name : "nothing",
                            found.count > 0 ? named->margin : 0,
                            shown.is_refused ? "refused"
                            : shown.is_shown ? shown.oracle
                                             : "not shown"),
        .fits = shown.is_shown,
    };
}

/* Records per 1000 s between the first effect and the last one. */
static uint64_t rate_of(const struct measured *measured)
{
    const nanos took = measured->seen_to - measured->seen_from;
    return measured->seen < 2 || took == 0 ? 0
                                           : nanos_mul(measured->seen - 1, SECONDS(1000)) / took;
}

/* TM-6. Over whole intervals; the inside, which takes none, over the same time. */
static struct reading
check_cost(struct text_pool *texts, const struct measured *staged, const struct measured *plain)
{
    const struct measure_throughput through =
        measure_throughput(staged->measure, staged->reader, 0, TIME_NEVER);
    const struct measure_throughput beside =
        measure_throughput(plain->measure, plain->reader, 0, TIME_NEVER);
    const nanos interval = staged->scenario->config.job.checkpoint_interval;
    const nanos most = nanos_add(interval, staged->facts.drain);
    const bool keeps_up =
        beside.milli_per_s > 0 && through.milli_per_s * 100 >= beside.milli_per_s * 99;
    return (struct reading){
        .line = text_format(texts,
                            "%s: %" PRIu64 " of %" PRIu64 " records per 1000 s, p95 %s against %s",
                            staged->name,
                            through.milli_per_s,
                            beside.milli_per_s,
                            seconds_of(texts, staged->p95),
                            seconds_of(texts, plain->p95)),
        .fits = keeps_up && staged->p95 * 4 >= interval * 3 && staged->p95 <= most,
    };
}

/* TM-11. Nothing else differs: as many requests, as many effects. */
static struct reading check_slowdown(struct text_pool *texts,
                                     const struct measured *slow,
                                     const struct measured *fast,
                                     uint64_t wanted)
{
    const uint64_t beside = rate_of(fast);
    const uint64_t share = beside == 0 ? 0 : rate_of(slow) * 1000 / beside;
    return (struct reading){
        .line = text_format(texts,
                            "%s: %" PRIu64 " of 1000 records per second, wanted %" PRIu64
                            "; requests %" PRIu64 " and %" PRIu64,
                            slow->name,
                            share,
                            wanted,
                            slow->requests,
                            fast->requests),
        .fits =
            is_near(share, wanted) && slow->requests == fast->requests && slow->seen == fast->seen,
    };
}

/* TM-10. Checkpoints per 1000 s. */
static uint64_t checkpoint_rate(const struct measured *measured)
{
    const struct measure *measure = measured->measure;
    return measure->last == 0 ? 0
                              : nanos_mul(measure->checkpoint_count, SECONDS(1000)) / measure->last;
}

static struct reading check_trade(struct text_pool *texts,
                                  const struct measured *measured,
                                  const struct measured *before_or_null)
{
    const bool is_first = before_or_null == NULL;
    return (struct reading){
        .line = text_format(texts,
                            "%s: largest latency %s, %" PRIu64 " checkpoints per 1000 s",
                            measured->name,
                            seconds_of(texts, measured->most),
                            checkpoint_rate(measured)),
        .fits = is_first || (measured->most < before_or_null->most &&
                             checkpoint_rate(measured) > checkpoint_rate(before_or_null)),
    };
}

/* --- all ----------------------------------------------------------------------------------------- */

/* The configuration, the inside that stands beside it, and the configuration before it. */
struct places {
    struct measured here;
    struct measured beside;
    struct measured before;
};

static struct reading check(struct trial *trial, struct places *places, uint32_t at)
{
    struct text_pool *texts = &trial->session->texts;
    const uint64_t wanted = wanted_of(trial->claim, at);
    switch ((enum claim_figure)trial->claim->figure) {
    case CLAIM_FIGURE_CONSTRAINTS:
        return check_constraints(trial, &places->here, false);
    case CLAIM_FIGURE_ENVELOPE:
        return check_envelope(texts, &places->here);
    case CLAIM_FIGURE_LATENCY:
        return check_latency(texts, &places->here, wanted);
    case CLAIM_FIGURE_CATCH_UP:
        return check_catch_up(trial, &places->here);
    case CLAIM_FIGURE_DRAIN:
        return check_drain(texts, &places->here, wanted);
    case CLAIM_FIGURE_STAGED_COST:
        return check_cost(texts, &places->here, &places->beside);
    case CLAIM_FIGURE_REQUESTS:
        return check_requests(texts, &places->here, wanted);
    case CLAIM_FIGURE_HELD:
        return check_held(texts, &places->here);
    case CLAIM_FIGURE_INTERVALS:
        return check_trade(texts, &places->here, at == 0 ? NULL : &places->before);
    case CLAIM_FIGURE_SLOWDOWN:
        return check_slowdown(texts, &places->here, &places->beside, wanted);
    case CLAIM_FIGURE_STEPS:
        return check_steps(texts, &places->here);
    case CLAIM_FIGURE_LEAST:
        return check_least(texts, &places->here, &places->beside);
    case CLAIM_FIGURE_NONE:
    case CLAIM_FIGURE_COUNT:
        break;
    }
    UNREACHABLE();
}

static void take(struct trial *trial, const char **lines, struct reading reading)
{
    lines[trial->record->figure_count] = reading.line;
    trial->record->figure_count++;
    if (!reading.fits) {
        trial->record->verdict = REPORT_FAILS;
        trial_explain(trial, "%s", reading.line);
    }
}

/* Rules are refused or broken by the configuration itself: its calm run need not measure anything. */
static bool is_measurable(const struct claim *claim, const struct measured *measured)
{
    return claim->figure == CLAIM_FIGURE_CONSTRAINTS || measured->measure != NULL;
}

static enum status
try_configuration(struct trial *trial, struct places *places, uint32_t at, const char **lines)
{
    const struct claim *claim = trial->claim;
    const char *inside =
        claim->inside_count == 0 ? NULL : claim->insides[claim->inside_count == 1 ? 0 : at];
    enum status status = open_measured(trial, claim->configurations[at], &places->here);
    if (status == STATUS_OK && inside != NULL) {
        status = open_measured(trial, inside, &places->beside);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!is_measurable(claim, &places->here) ||
        (inside != NULL && !is_measurable(claim, &places->beside))) {
        trial->record->verdict = REPORT_FAILS;
        return STATUS_OK;
    }
    take(trial, lines, check(trial, places, at));
    if (claim->figure == CLAIM_FIGURE_CONSTRAINTS && inside != NULL) {
        take(trial, lines, check_constraints(trial, &places->beside, true));
    }
    return STATUS_OK;
}

enum status trial_figures(struct trial *trial)
{
    const struct claim *claim = trial->claim;
    const char **lines =
        text_memory(&trial->session->texts, 2 * (size_t)claim->configuration_count, sizeof *lines);
    /* Too large for the stack of some processors. */
    struct places *places = text_memory(&trial->session->texts, 1, sizeof *places);
    memset(places, 0, sizeof *places);
    enum status status = STATUS_OK;
    trial->record->figures = lines;
    trial->record->verdict = REPORT_HOLDS;
    for (uint32_t i = 0; i < claim->configuration_count && status == STATUS_OK; i++) {
        status = try_configuration(trial, places, i, lines);
        close_measured(&places->before);
        close_measured(&places->beside);
        places->before = places->here;
        places->here = (struct measured){0};
    }
    close_measured(&places->before);
    return status;
}
