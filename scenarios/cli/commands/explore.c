/* explore: every run of a scenario with few deviations from the calm one, fewest first; or every state
 * of a reference system, by the same means. */
#include "reports/text.h"
#include "scenarios/bench/x1.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/search/explore_file.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/reproducer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_AFTER_MS 250u
#define KEEP_SHARE    20u /* writing takes at most one part in so many of the time */

/* One exploration on its way from a name to a record. */
struct job {
    struct session *session;
    const char *word;
    struct scenario *scenario; /* NULL: */
    struct state_system system;
    struct explore_options explore;
    struct explored explored;
    struct report_explored record;
    const char *what; /* names all that the results depend on */
    uint64_t kept_ms;
    uint64_t keeping_took_ms;
};

/* --- the file of the frontier -------------------------------------------------------------------- */

static bool keep(void *context, bool is_end)
{
    struct job *job = context;
    const char *path = job->session->options->resume;
    const uint64_t now = wall_milliseconds();
    const uint64_t pause = KEEP_AFTER_MS + KEEP_SHARE * job->keeping_took_ms;
    if (!is_end && now - job->kept_ms < pause) {
        return true;
    }
    const bool kept = explore_file_write(path, job->what, &job->explored) == ERR_OK;
    job->kept_ms = wall_milliseconds();
    job->keeping_took_ms = job->kept_ms - now;
    return kept;
}

/* The calm run's digest stands for the build and for all that the scenario says. */
static uint64_t calm_digest(const struct scenario *scenario)
{
    const struct tape none = {0};
    const struct run_request request = reproducer_tape_request(&none);
    struct reproducer *reproducer = reproducer_create(scenario);
    uint64_t digest = 0;
    if (reproducer != NULL) {
        int detail = 0;
        if (reproducer_run_guarded(reproducer, &request, SECONDS(20), &detail) == REPRODUCER_DONE) {
            digest = reproducer_result(reproducer)->digest;
        }
        reproducer_destroy(reproducer);
    }
    return digest;
}

static const char *what_it_is_of(const struct job *job)
{
    const struct options *options = job->session->options;
    if (job->scenario == NULL) {
        return job->system.name;
    }
    return text_format(&job->session->texts,
                       "%s %s sink=%s without=%s crash_points=%d calm=%016" PRIx64,
                       job->scenario->name,
                       profile_name(job->scenario->config.profile),
                       options->sink != NULL ? options->sink : "",
                       options->without_oracle != NULL ? options->without_oracle : "",
                       job->explore.crash_points ? 1 : 0,
                       calm_digest(job->scenario));
}

static enum status resume(struct job *job)
{
    char message[EXPLORE_FILE_MESSAGE];
    const char *path = job->session->options->resume;
    if (path == NULL) {
        return STATUS_OK;
    }
    job->what = what_it_is_of(job);
    job->explore.keep = keep;
    job->explore.context = job;
    job->kept_ms = wall_milliseconds();
    const enum err error = explore_file_read(path, job->what, &job->explored, message);
    if (error == ERR_OK || error == ERR_NOT_FOUND) {
        return STATUS_OK;
    }
    complain("--resume %s", message);
    return error == ERR_LIMIT ? STATUS_INTERNAL : STATUS_USAGE;
}

/* --- the record ---------------------------------------------------------------------------------- */

static const char *why_incomplete(const struct job *job)
{
    const struct frontier *frontier = &job->explored.frontier;
    return text_format(&job->session->texts,
                       "%" PRIu64 " of %" PRIu64 " runs with %" PRIu32
                       " deviations were made, and none with more",
                       frontier->done,
                       frontier_things(frontier),
                       frontier->level);
}

/* Transitions stand in for runs: the root is made by none. */
static void fill_states(struct job *job)
{
    struct report_explored *record = &job->record;
    struct report_run *run = &record->run;
    const struct explored *explored = &job->explored;
    const struct frontier *frontier = &explored->frontier;
    run->scenario = job->system.name;
    run->profile = "none";
    run->shard_index = job->explore.shard.index;
    run->shard_count = job->explore.shard.count;
    run->elapsed_ms = explored->elapsed_ms;
    run->runs = frontier->made - frontier->levels[0];
    run->runs_per_s = rate_per_second(run->runs, run->elapsed_ms);
    run->violating = frontier->violations;
    record->is_states = true;
    record->is_complete = explored->is_complete;
    record->distinct = frontier->seen.count;
    record->states_known = job->system.states;
    record->transitions_known = job->system.transitions;
    explore_judge_states(&job->session->texts, record);
}

static void fill_record(struct job *job)
{
    struct report_explored *record = &job->record;
    const struct explored *explored = &job->explored;
    struct report_run *run = &record->run;
    struct text_pool *texts = &job->session->texts;
    struct summary_demand demand = summary_demand_of(job->scenario, &explored->marks);
    demand.one_run = true; /* coverage is what the bound says, not a share of runs */
    run->scenario = job->scenario->name;
    run->profile = profile_name(job->scenario->config.profile);
    run->seeds = "none";
    run->elapsed_ms = explored->elapsed_ms;
    run->runs_per_s = rate_per_second(explored->counts.summary.runs, explored->elapsed_ms);
    run->shard_index = job->explore.shard.index;
    run->shard_count = job->explore.shard.count;
    summary_judge(&explored->counts.summary, &demand, texts, run);
    run->digest = explored->counts.digest;
    record->deviations = job->explore.deviations;
    record->crash_points = job->explore.crash_points;
    record->is_complete = explored->is_complete;
    record->distinct = explored->frontier.seen.count;
    record->crash_points_hit = explored->counts.crash_points_hit;
    record->crash_points_seen = explored->counts.crash_points_seen;
    for (uint32_t i = 0; i < REPORT_LEVEL_MAX; i++) {
        record->levels[i] = explored->frontier.levels[i];
    }
    if (!explored->is_complete) {
        explore_is_a_part(texts, run, why_incomplete(job));
    }
}

/* The distinct traces of a shard stand beside its JSON file. */
static enum status write_traces(struct job *job)
{
    const char *json = job->session->options->json;
    if (json == NULL || job->explore.shard.count == 1) {
        return STATUS_OK;
    }
    const char *path = text_format(&job->session->texts, "%s.traces", json);
    const char *slash = strrchr(path, '/');
    job->record.traces_or_null = slash == NULL ? path : slash + 1;
    const char *what = traces_what(&job->session->texts, &job->record);
    if (traces_file_write(path, what, &job->explored.frontier.seen) != ERR_OK) {
        complain("\"%s\": cannot be written; allowed: a file in a folder that exists", path);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

/* --- the command --------------------------------------------------------------------------------- */

static enum status explore(struct job *job)
{
    const enum err error = explore_run(&job->explored, &job->explore);
    if (error == ERR_OK && job->explored.counts.is_strayed) {
        complain(
            "%s: determinism: a run, made again, did not draw what it had drawn; allowed: code "
            "that depends on its state, the event and its time alone",
            job->word);
        return STATUS_NONDETERMINISM;
    }
    if (error == ERR_OK) {
        return STATUS_OK;
    }
    complain("%s: %s",
             job->word,
             error == ERR_LIMIT ? "no memory for runs, or for what they have shown"
                                : "no processes, or --resume cannot be written");
    return STATUS_INTERNAL;
}

static enum status report_states(struct job *job)
{
    fill_states(job);
    enum status status = write_traces(job);
    report_text_explored(stdout, &job->record, output_style());
    status = status_worse(status, summary_status(&job->record.run));
    return status_worse(status, output_explored(job->session->options->json, &job->record, 1));
}

static enum status report(struct job *job)
{
    if (job->scenario == NULL) {
        return report_states(job);
    }
    fill_record(job);
    const struct failures_options failures = {
        .scenario = job->scenario,
        .word = job->word,
        .oracles = SUMMARY_ORACLES_ALL,
        .last_seed = UINT64_MAX,
        .explored_or_null = &job->explored.counts,
    };
    enum status status =
        failures_collect(job->session, &failures, &job->explored.counts.summary, &job->record.run);
    status = status_worse(status, write_traces(job));
    report_text_explored(stdout, &job->record, output_style());
    status = status_worse(status, summary_status(&job->record.run));
    return status_worse(status, output_explored(job->session->options->json, &job->record, 1));
}

static enum status explore_one(struct job *job)
{
    const struct options *options = job->session->options;
    job->explore = (struct explore_options){
        .scenario = job->scenario,
        .system_or_null = job->scenario == NULL ? &job->system : NULL,
        .deviations = options->deviations,
        .crash_points = option_is_given(options, OPTION_BIT(CRASH_POINTS)),
        /* What a sink that was brought keeps outside the memory it is given is in no snapshot. */
        .re_execute =
            option_is_given(options, OPTION_BIT(RE_EXECUTE)) || session_sink(job->session) != NULL,
        .shard = options->shard,
        .jobs = options->jobs,
        .runs_max = options->max_runs,
        .hang_after = options->hang_after,
        .stop_oracles = summary_stop_oracles(options->stop_at),
        .shows_progress = true,
        .label = job->word,
    };
    if (explore_init(&job->explored, &job->explore) != ERR_OK) {
        complain("%s: no memory", job->word);
        return STATUS_INTERNAL;
    }
    enum status status = resume(job);
    if (status == STATUS_OK) {
        status = explore(job);
    }
    if (status == STATUS_OK) {
        status = report(job);
    }
    explore_fini(&job->explored);
    return status;
}

enum status command_explore(const struct options *options)
{
    struct session session;
    enum status status = session_open(&session, options);
    struct job *job = memory_take(sizeof *job);
    job->session = &session;
    job->word = options->arguments[0];
    if (status == STATUS_OK && !x1_by_name(job->word, &job->system)) {
        status = session_scenario(&session, job->word, &job->scenario);
    }
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = explore_one(job);
    }
    if (job->scenario != NULL) {
        scenario_destroy(job->scenario);
    }
    free(job);
    session_close(&session);
    return status;
}
