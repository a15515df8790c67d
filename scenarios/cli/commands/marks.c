/* marks: sweep scenarios, all by default, and tell which behaviour marks none of them reaches, and which
 * that a scenario must reach it does not. What is broken on the way is not told: other commands do. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/scenario_names.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/sweep.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define SEEDS_QUICK   2000u
#define SINK_MAX      64u
#define RECORDS_MAX   (MARKS_COUNT + SINK_MAX * 64u)
#define PHASES_OF_ONE 64u

/* How many runs of all scenarios reached what; marks and pairs by place, phases by sink. */
struct survey {
    struct session *session;
    struct sweep *sweep; /* scratch */
    uint64_t runs;
    uint64_t marks[MARKS_COUNT];
    uint64_t phases[SINK_MAX][PHASES_OF_ONE];
    bool is_wrong; /* the catalogue, or what a scenario must reach */
    struct report_survey report;
};

/* The index of a sink of the catalogue; their count for a user's own. */
static size_t sink_index(const struct sink_type *sink_or_null)
{
    size_t index = 0;
    while (index < catalogue_sink_count && catalogue_sinks[index] != sink_or_null) {
        index++;
    }
    return index;
}

static void add_phases(struct survey *survey, const struct run_config *config)
{
    const struct sink_type *const sinks[MARK_SINKS] = {config->job.sink,
                                                       config->job.next_sink_or_null};
    const uint64_t *runs = survey->sweep->summary.behaviour.runs;
    for (uint32_t i = 0; i < MARK_SINKS; i++) {
        const size_t sink = sink_index(sinks[i]);
        for (uint32_t phase = 0; sink < catalogue_sink_count && phase < PHASES_OF_ONE; phase++) {
            survey->phases[sink][phase] += runs[MARKS_PHASES_AT + i * 64 + phase];
        }
    }
}

/* What a scenario is there for is asked of a sweep of all its seeds. */
static void check_must(struct survey *survey, const struct scenario *scenario)
{
    const struct summary *summary = &survey->sweep->summary;
    const uint32_t count = summary->runs < scenario->default_seeds ? 0 : scenario->must_count;
    for (uint32_t i = 0; i < count; i++) {
        if (summary->behaviour.runs[scenario->must_reach[i]] == 0) {
            char name[MARKS_NAME_SIZE];
            marks_name(&scenario->config, scenario->must_reach[i], name);
            complain("%s: must reach %s, and none of %" PRIu64 " runs does",
                     scenario->name,
                     name,
                     summary->runs);
            survey->is_wrong = true;
        }
    }
}

static enum status visit(struct survey *survey, const char *name)
{
    struct session *session = survey->session;
    const struct options *options = session->options;
    struct scenario *scenario = NULL;
    struct progress progress;
    const enum status status = session_scenario(session, name, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    struct sweep_options sweep = {
        .scenario = scenario,
        .seeds = {1, SEEDS_QUICK},
        .shard = {.index = 1, .count = 1},
        .jobs = options->jobs,
        .hang_after = options->hang_after,
        .tape = scenario->has_tape,
        .progress_or_null = &progress,
    };
    if (option_is_given(options, OPTION_BIT(SEEDS))) {
        sweep.seeds = options->seeds;
    }
    progress_start(&progress, name, seed_range_count(sweep.seeds));
    const enum err error = sweep_run(&sweep, survey->sweep);
    progress_end(&progress);
    if (error != ERR_OK) {
        complain("%s: no processes or memory for runs", name);
        scenario_destroy(scenario);
        return STATUS_INTERNAL;
    }
    survey->runs += survey->sweep->summary.runs;
    for (uint32_t place = 0; place < MARKS_COUNT; place++) {
        survey->marks[place] += survey->sweep->summary.behaviour.runs[place];
    }
    add_phases(survey, &scenario->config);
    check_must(survey, scenario);
    scenario_destroy(scenario);
    return STATUS_OK;
}

/* --- the report ---------------------------------------------------------------------------------- */

static void add_record(struct survey *survey, const struct report_surveyed *record)
{
    CHECK(survey->report.count < RECORDS_MAX);
    survey->report.records[survey->report.count++] = *record;
}

static void report_marks(struct survey *survey, const struct mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_record(survey,
                   &(struct report_surveyed){
                       .name = marks[i].name,
                       .sentence = marks[i].sentence,
                       .runs = survey->marks[marks[i].id],
                       .unit_test_or_null = marks[i].unit_test_or_null,
                       .wanted = marks[i].unit_test_or_null == NULL,
                   });
    }
}

static void report_phases(struct survey *survey, size_t index)
{
    const struct sink_type *sink = catalogue_sinks[index];
    for (uint32_t phase = 0; phase < sink->phase_count && phase < PHASES_OF_ONE; phase++) {
        add_record(survey,
                   &(struct report_surveyed){
                       .name = text_format(
                           &survey->session->texts, "%s.%s", sink->name, sink->phases[phase]),
                       .sentence = "a phase that the sink taps",
                       .runs = survey->phases[index][phase],
                       .wanted = true,
                   });
    }
}

static void report_pairs(struct survey *survey)
{
    for (uint32_t place = MARKS_PAIRS_AT; place < MARKS_COUNT; place++) {
        char name[MARKS_NAME_SIZE];
        if (!marks_pair_is_possible(place) && survey->marks[place] == 0) {
            continue;
        }
        marks_name(NULL, place, name);
        if (!marks_pair_is_possible(place)) {
            complain("%s: reached, though no such fault can fire there: see scenarios/marks.c",
                     name);
            survey->is_wrong = true;
        }
        add_record(survey,
                   &(struct report_surveyed){
                       .name = text_copy(&survey->session->texts, bytes_of_text(name)),
                       .sentence = "a fault in a phase",
                       .runs = survey->marks[place],
                       .is_pair = true,
                   });
    }
}

static enum status report(struct survey *survey, size_t scenario_count)
{
    struct report_survey *told = &survey->report;
    told->scenarios = scenario_count;
    told->runs = survey->runs;
    told->records = text_memory(&survey->session->texts, RECORDS_MAX, sizeof *told->records);
    report_marks(survey, sim_marks, sim_mark_count);
    for (size_t i = 0; i < catalogue_model_count; i++) {
        report_marks(survey, catalogue_models[i]->marks, catalogue_models[i]->mark_count);
    }
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        report_phases(survey, i);
    }
    report_pairs(survey);
    const bool all = report_text_survey(stdout, told);
    const enum status status = output_survey(survey->session->options->json, told);
    return status_worse(status, all && !survey->is_wrong ? STATUS_OK : STATUS_BROKEN);
}

static enum status visit_all(struct survey *survey)
{
    struct session *session = survey->session;
    const struct options *options = session->options;
    const char *const *names = options->arguments;
    size_t count = options->argument_count;
    enum status status = output_check(options->json);
    if (status == STATUS_OK && count == 0) {
        status = scenario_names(&session->texts, &names, &count);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = visit(survey, names[i]);
    }
    return status == STATUS_OK ? report(survey, count) : status;
}

enum status command_marks(const struct options *options)
{
    struct session session;
    enum status status = session_open(&session, options);
    struct survey *survey = text_memory(&session.texts, 1, sizeof *survey);
    survey->session = &session;
    survey->sweep = text_memory(&session.texts, 1, sizeof *survey->sweep);
    CHECK(catalogue_sink_count <= SINK_MAX);
    if (status == STATUS_OK) {
        status = visit_all(survey);
    }
    session_close(&session);
    return status;
}
