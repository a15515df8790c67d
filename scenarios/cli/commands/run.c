/* run: sweep the seeds of scenarios. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/plots/run_plots.h"
#include "scenarios/cli/policy.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/baseline.h"
#include "scenarios/cli/sweep/exemplars.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/run_reports.h"
#include "scenarios/cli/sweep/steady.h"
#include "scenarios/cli/sweep/sweep.h"

#include <inttypes.h>
#include <string.h>

/* One scenario on its way from a name to a record. */
struct job {
    struct session *session;
    struct baseline *baseline_or_null;
    const char *word;
    struct scenario *scenario;
    struct sweep_options sweep_options;
    struct sweep sweep;
    struct report_run *run;
};

static struct seed_range seeds_of(const struct options *options, const struct scenario *scenario)
{
    const bool given = option_is_given(options, OPTION_BIT(SEEDS));
    const uint64_t fallback = scenario->default_seeds > 0 ? scenario->default_seeds : 1;
    struct seed_range seeds = {1, fallback};
    if (given) {
        seeds = options->seeds;
    } else if (options->duration > 0) {
        seeds.last = SEED_COUNT_MAX;
    }
    if (options->seed_from != NULL) {
        seeds = seed_range_from_text(options->seed_from, seed_range_count(seeds));
    }
    return seeds;
}

/* A scenario with a tape is replayed, unless seeds are asked for. */
static bool runs_its_tape(const struct options *options, const struct scenario *scenario)
{
    return scenario->has_tape &&
           !option_is_given(options, OPTION_BIT(SEEDS) | OPTION_BIT(FOR) | OPTION_BIT(SEED_FROM));
}

/* The ends of what was run; all shards of a sweep name the same range. */
static const char *seeds_text(const struct job *job)
{
    struct text_pool *texts = &job->session->texts;
    const struct seed_range seeds = job->sweep_options.seeds;
    if (job->sweep_options.tape) {
        return "tape";
    }
    const bool is_cut = job->sweep_options.duration > 0 || job->sweep_options.stop_oracles != 0 ||
                        summary_breaks(&job->sweep.summary, UINT64_C(1) << SUMMARY_ORACLE_HANG);
    return text_format(
        texts, "%" PRIu64 "-%" PRIu64, seeds.first, is_cut ? job->sweep.last_seed : seeds.last);
}

static void fill_record(struct job *job)
{
    struct report_run *run = job->run;
    struct summary_demand demand = summary_demand_of(job->scenario, &job->sweep.marks);
    demand.one_run = job->sweep_options.tape;
    run->scenario = job->scenario->name;
    run->profile = profile_name(job->scenario->config.profile);
    run->seeds = seeds_text(job);
    run->elapsed_ms = job->sweep.elapsed_ms;
    run->runs_per_s = rate_per_second(job->sweep.summary.runs, job->sweep.elapsed_ms);
    run->events_per_s = rate_per_second(job->sweep.summary.events, job->sweep.elapsed_ms);
    run_reports_describe(job->session, job->scenario, job->word, run);
    run->shard_index = job->sweep_options.shard.index;
    run->shard_count = job->sweep_options.shard.count;
    if (!job->sweep_options.tape) {
        policy_report(&job->scenario->policy, &job->sweep.summary, run);
    }
    summary_judge(&job->sweep.summary, &demand, &job->session->texts, run);
}

/* A regression's tape must still mean the same run. */
static void check_regression(const struct job *job)
{
    const struct scenario *scenario = job->scenario;
    const struct choice_alignment *alignment = &job->sweep.alignment;
    struct report_run *run = job->run;
    const char *complaint = NULL;
    if (!job->sweep_options.tape || job->sweep.summary.runs == 0) {
        return;
    }
    if (scenario->strict_tape &&
        (alignment->aligned != alignment->entries || alignment->drifted != 0)) {
        complaint = text_format(&job->session->texts,
                                "the tape in step with the run: aligned %" PRIu32 "/%" PRIu32
                                ", drifted %" PRIu32,
                                alignment->aligned,
                                alignment->entries,
                                alignment->drifted);
    } else if (scenario->digest != 0 && scenario->digest != job->sweep.last_digest) {
        complaint = text_format(&job->session->texts,
                                "digest 0x%016" PRIx64 ", seen: 0x%016" PRIx64,
                                scenario->digest,
                                job->sweep.last_digest);
    }
    if (complaint != NULL) {
        const char **shortfalls = text_memory(&job->session->texts, 1, sizeof *shortfalls);
        shortfalls[0] = complaint;
        run->shortfalls = shortfalls;
        run->shortfall_count = 1;
        run->verdict = REPORT_INCONCLUSIVE;
        run->as_expected = false;
    }
}

/* What was found does not count when runs of a sink that was brought do not come out the same. */
static enum status check_steadiness(const struct job *job)
{
    const char *why = NULL;
    uint64_t seed = 0;
    struct report_run *run = job->run;
    struct text_pool *texts = &job->session->texts;
    const struct steady_subject subject = {
        .scenario = job->scenario,
        .word = job->word,
        .seeds = job->sweep_options.seeds,
    };
    if (session_sink(job->session) == NULL || job->sweep_options.tape ||
        summary_breaks(&job->sweep.summary, UINT64_C(1) << SUMMARY_ORACLE_HANG) ||
        steady_check(job->session, &subject, &why, &seed)) {
        return STATUS_OK;
    }
    const char **shortfalls = text_memory(texts, 1, sizeof *shortfalls);
    shortfalls[0] = text_format(
        texts,
        "determinism: %s; %s replay %s --seed %" PRIu64 "%s",
        why,
        text_shell_word(texts, job->session->options->program),
        text_shell_word(texts, job->word),
        seed,
        text_format(texts, "%s%s", session_selection(job->session), session_policy(job->session)));
    run->shortfalls = shortfalls;
    run->shortfall_count = 1;
    run->verdict = REPORT_INCONCLUSIVE;
    run->as_expected = false;
    return STATUS_NONDETERMINISM;
}

static enum status sweep(struct job *job)
{
    struct progress progress;
    progress_start(&progress,
                   job->word,
                   job->sweep_options.duration > 0
                       ? 0
                       : shard_seed_count(job->sweep_options.shard, job->sweep_options.seeds));
    job->sweep_options.progress_or_null = &progress;
    const enum err error = sweep_run(&job->sweep_options, &job->sweep);
    progress_end(&progress);
    if (error != ERR_OK) {
        complain("%s: %s", job->word, error == ERR_LIMIT ? "no memory for a run" : "no processes");
        return STATUS_INTERNAL;
    }
    return STATUS_OK;
}

static enum status run_one(struct job *job)
{
    enum status status = sweep(job);
    if (status != STATUS_OK) {
        return status;
    }
    fill_record(job);
    check_regression(job);
    const struct failures_options failures = {
        .scenario = job->scenario,
        .word = job->word,
        .tape = job->sweep_options.tape,
        .oracles = SUMMARY_ORACLES_ALL,
        .last_seed = UINT64_MAX,
    };
    status = failures_collect(job->session, &failures, &job->sweep.summary, job->run);
    const enum status steadiness = check_steadiness(job);
    status = status_worse(status, steadiness);
    if (job->session->options->out != NULL && !job->sweep_options.tape) {
        const enum status kept = exemplars_keep(job->session, job->scenario, &job->sweep.summary);
        status = status_worse(status, kept);
    }
    if (job->baseline_or_null != NULL) {
        baseline_compare(job->baseline_or_null, job->scenario, job->run);
    }
    report_text_run(stdout, job->run, output_style());
    return status_worse(status,
                        job->baseline_or_null == NULL ? summary_status(job->run)
                                                      : baseline_status(job->run));
}

/* Read all scenarios before the first is run: bad input is told at once. */
static enum status load_all(struct session *session, struct scenario **scenarios)
{
    const struct options *options = session->options;
    for (size_t i = 0; i < options->argument_count; i++) {
        const enum status status = session_scenario(session, options->arguments[i], &scenarios[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return run_reports_check(options);
}

static enum status
draw(struct session *session, const struct run_plots_subject *subjects, size_t count)
{
    struct plotting plotting;
    const enum status status = plotting_open(&plotting, session);
    if (status != STATUS_OK) {
        return status;
    }
    run_plots_draw(&plotting, subjects, count);
    plotting_close(&plotting);
    return plotting.status;
}

static enum status
run_all(struct session *session, struct scenario **scenarios, struct baseline *baseline_or_null)
{
    const struct options *options = session->options;
    const size_t count = options->argument_count;
    struct report_run *runs = text_memory(&session->texts, count, sizeof *runs);
    struct run_plots_subject *subjects = text_memory(&session->texts, count, sizeof *subjects);
    enum status status = STATUS_OK;
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        /* Too large for the stack. */
        struct job *job = text_memory(&session->texts, 1, sizeof *job);
        job->session = session;
        job->baseline_or_null = baseline_or_null;
        job->word = options->arguments[i];
        job->scenario = scenarios[i];
        job->run = &runs[done];
        job->sweep_options = (struct sweep_options){
            .scenario = scenarios[i],
            .seeds = seeds_of(options, scenarios[i]),
            .shard = options->shard,
            .jobs = options->jobs,
            .duration = options->duration / count,
            .hang_after = options->hang_after,
            .stop_oracles = summary_stop_oracles(options->stop_at),
            .tape = runs_its_tape(options, scenarios[i]),
        };
        const enum status one = run_one(job);
        status = status_worse(status, one);
        if (job->run->scenario != NULL) {
            subjects[done] = (struct run_plots_subject){
                .word = job->word,
                .scenario = job->scenario,
                .run = job->run,
                .seeds = job->sweep_options.seeds,
            };
            done++;
        }
    }
    const struct report_baseline *compared =
        baseline_or_null == NULL ? NULL : baseline_record(baseline_or_null);
    if (compared != NULL) {
        report_text_baseline(stdout, compared);
    }
    const enum status written = run_reports_write(session, runs, done, compared);
    status = status_worse(status, written);
    if (options->plots != NULL && done > 0) {
        const enum status drawn = draw(session, subjects, done);
        status = status_worse(status, drawn);
    }
    return status;
}

enum status command_run(const struct options *options)
{
    struct session session;
    struct baseline *baseline = NULL;
    enum status status = session_open(&session, options);
    struct scenario **scenarios =
        text_memory(&session.texts, options->argument_count, sizeof(void *));
    if (status == STATUS_OK) {
        status = load_all(&session, scenarios);
    }
    if (status == STATUS_OK && options->baseline != NULL) {
        status = baseline_read(&session, options->baseline, &baseline);
    }
    if (status == STATUS_OK) {
        status = run_all(&session, scenarios, baseline);
    }
    for (size_t i = 0; i < options->argument_count; i++) {
        if (scenarios[i] != NULL) {
            scenario_destroy(scenarios[i]);
        }
    }
    session_close(&session);
    return status;
}
