/* explain: why a run fails. It is shrunk; then what each choice is for, the event behind which nothing
 * saves it, and the nearest run that passes are looked for by runs. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/failing_run.h"
#include "scenarios/cli/failures.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/shrinking.h"
#include "scenarios/cli/summary.h"
#include "scenarios/cli/timeline.h"
#include "scenarios/cli/words.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/search/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARTING_LINES 2u

struct explainer {
    struct session session;
    struct failing_run run;
    struct shrinking shrinking;
    struct tape tape; /* the shrunk one, as its own run recorded it; entries in the texts */
    struct timeline timeline;
    uint32_t decided_position; /* of the finding in the journal */
    struct explain_result found;
    struct tape twin; /* entries in the texts */
    struct report_explanation report;
    uint64_t deadline_ms; /* 0: none */
    uint64_t runs;
    struct progress progress;
};

static struct text_pool *texts_of(struct explainer *explainer)
{
    return &explainer->session.texts;
}

static struct tape copy_of(struct text_pool *texts, const struct tape *tape, uint32_t room)
{
    struct tape copy = *tape;
    copy.capacity = tape->count + room;
    copy.entries = text_memory(texts, (size_t)copy.capacity + 1, sizeof *copy.entries);
    if (tape->count > 0) {
        memcpy(copy.entries, tape->entries, tape->count * sizeof *tape->entries);
    }
    return copy;
}

/* Run a tape so that its journal can be read. */
static const struct result *run_kept(struct explainer *explainer, const struct tape *tape)
{
    struct run_request request = reproducer_tape_request(tape);
    request.keep_trace = true;
    explainer->runs++;
    return reproducer_run(explainer->run.reproducer, &request);
}

/* --- shrink ------------------------------------------------------------------------------------ */

static enum status shrink(struct explainer *explainer)
{
    struct shrinking_limits limits = shrinking_limits_of(explainer->session.options);
    explainer->deadline_ms = limits.deadline_ms;
    limits.progress_or_null = &explainer->progress;
    shrinking_run(&explainer->shrinking,
                  explainer->run.reproducer,
                  &explainer->run.tape,
                  &explainer->run.culprit,
                  &limits);
    const struct shrink_result *result = &explainer->shrinking.result;
    if (result->stop == SHRINK_STOP_PASSES) {
        complain("explain: the tape did not fail when it was run again");
        return STATUS_NONDETERMINISM;
    }
    explainer->runs += result->attempts;
    explainer->report.minimal = shrinking_stop_words(texts_of(explainer), result);
    const struct result *last = run_kept(explainer, &result->tape);
    const struct finding *finding = culprit_find(&explainer->run.culprit, last);
    if (finding == NULL) {
        complain("explain: the shrunk tape did not fail when it was run again");
        return STATUS_NONDETERMINISM;
    }
    const struct tape recorded = reproducer_recorded(explainer->run.reproducer);
    explainer->tape = copy_of(texts_of(explainer), &recorded, 0);
    explainer->timeline = (struct timeline){
        .reproducer = explainer->run.reproducer,
        .tape = &explainer->tape,
        .events = last->events,
    };
    explainer->decided_position = finding->position;
    explainer->report.message = text_copy(texts_of(explainer), bytes_of_text(finding->message));
    explainer->report.subject =
        summary_subject(texts_of(explainer), finding->subject_kind, finding->subject);
    return STATUS_OK;
}

/* --- search ------------------------------------------------------------------------------------ */

/* An oracle keeps its first violation only, and another run may come to another subject first: so what
 * fails alike here is what breaks the same oracle at all. */
static bool breaks_alike(const struct explainer *explainer, const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].oracle == explainer->run.culprit.oracle) {
            return true;
        }
    }
    return false;
}

static enum explain_answer try_tape(void *context, const struct tape *candidate)
{
    struct explainer *explainer = context;
    const struct run_request request = reproducer_tape_request(candidate);
    const struct result *result = reproducer_run(explainer->run.reproducer, &request);
    return breaks_alike(explainer, result) ? EXPLAIN_FAILS
           : result->verdict == RUN_LIMIT  ? EXPLAIN_UNCLEAR
                                           : EXPLAIN_PASSES;
}

static uint32_t offers(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity)
{
    struct explainer *explainer = context;
    return reproducer_deviations(explainer->run.reproducer, tape, from, entries, capacity);
}

static bool keep_going(void *context)
{
    struct explainer *explainer = context;
    progress_show(&explainer->progress, explainer->runs + explainer->found.runs);
    return explainer->deadline_ms == 0 || wall_milliseconds() < explainer->deadline_ms;
}

/* The first draw behind the event in which the violation showed. */
static uint32_t decided_draw(struct explainer *explainer)
{
    if (explainer->decided_position == POSITION_END) {
        return UINT32_MAX;
    }
    const uint64_t event =
        timeline_event_of_entry(&explainer->timeline, explainer->decided_position);
    return timeline_before(&explainer->timeline, event + 1).draws;
}

static void search(struct explainer *explainer)
{
    const struct explain_options options = {
        .try_tape = try_tape,
        .offers = offers,
        .keep_going = keep_going,
        .context = explainer,
        .runs_max = (uint32_t)explainer->session.options->attempts,
        .decided_draw = decided_draw(explainer),
    };
    void *memory = memory_take(explain_memory_size(explainer->tape.count));
    explain_run(&explainer->tape, &options, memory, &explainer->found);
    free(memory);
    explainer->runs += explainer->found.runs + explainer->timeline.runs;
}

/* --- the nearest run that passes --------------------------------------------------------------- */

/* Where the journals of two runs first differ: the number of lines that are equal. before: those of
 * the other run. */
static uint32_t
equal_lines(const struct explainer *explainer, const struct journal_entry *before, uint32_t count)
{
    const struct journal *journal = reproducer_world(explainer->run.reproducer)->journal;
    uint32_t at = 0;
    while (at < count && at < journal->count) {
        const struct journal_entry *entry = journal_at(journal, at);
        if (entry->time != before[at].time ||
            journal_digest(entry) != journal_digest(&before[at])) {
            break;
        }
        at++;
    }
    return at;
}

/* The lines of the run that the reproducer holds. */
static struct journal_entry *lines_of(struct explainer *explainer, uint32_t *count)
{
    const struct journal *journal = reproducer_world(explainer->run.reproducer)->journal;
    struct journal_entry *lines =
        text_memory(texts_of(explainer), (size_t)journal->count + 1, sizeof *lines);
    for (uint32_t i = 0; i < journal->count; i++) {
        lines[i] = *journal_at(journal, i);
    }
    *count = journal->count;
    return lines;
}

static const char *const *parting_lines(struct explainer *explainer, uint32_t from, size_t *count)
{
    const char **lines = text_memory(texts_of(explainer), PARTING_LINES, sizeof *lines);
    const uint32_t end = reproducer_world(explainer->run.reproducer)->journal->count;
    *count = 0;
    for (uint32_t i = from; i < end && *count < PARTING_LINES; i++) {
        lines[(*count)++] = words_of_entry(texts_of(explainer), explainer->run.reproducer, i);
    }
    return lines;
}

/* The twin so far: the one that parts last is nearest. */
struct nearest {
    struct tape tape;
    const char *words;
    uint32_t changes;
    uint32_t equal;
    bool is_clean; /* it breaks nothing at all */
    bool is_found;
};

/* What a run that does not show the culprit is worth: a run that breaks something else is second. */
static void consider(struct explainer *explainer,
                     const struct journal_entry *lines,
                     uint32_t line_count,
                     const struct nearest *twin,
                     struct nearest *nearest)
{
    const struct result *result = run_kept(explainer, &twin->tape);
    if (breaks_alike(explainer, result) || result->verdict == RUN_LIMIT) {
        return;
    }
    const bool is_clean = result->finding_count == 0;
    const uint32_t equal = equal_lines(explainer, lines, line_count);
    const bool is_better = is_clean != nearest->is_clean ? is_clean : equal > nearest->equal;
    if (!nearest->is_found || is_better) {
        *nearest = *twin;
        nearest->equal = equal;
        nearest->is_clean = is_clean;
        nearest->is_found = true;
    }
}

/* Tapes with one choice changed: each left out; where none of them passes, the last chance taken, and
 * in the end the run without any choice. */
static struct nearest find_nearest(struct explainer *explainer)
{
    struct text_pool *texts = texts_of(explainer);
    const struct tape *tape = &explainer->tape;
    const struct explain_decision *decision = &explainer->found.decision;
    struct nearest nearest = {.is_found = false};
    uint32_t line_count = 0;
    (void)run_kept(explainer, tape);
    const struct journal_entry *lines = lines_of(explainer, &line_count);
    for (uint32_t i = 0; i < tape->count && i < EXPLAIN_CHOICES_MAX; i++) {
        struct nearest twin = {.tape = copy_of(texts, tape, 0), .changes = 1};
        twin.tape.count = 0;
        for (uint32_t k = 0; k < tape->count; k++) {
            if (k != i) {
                twin.tape.entries[twin.tape.count++] = tape->entries[k];
            }
        }
        twin.words = text_format(texts, "without choice %" PRIu32, i + 1);
        consider(explainer, lines, line_count, &twin, &nearest);
    }
    if (!nearest.is_found && decision->is_found && decision->last_chance.value != 0) {
        struct nearest twin = {.tape = copy_of(texts, tape, 1), .changes = 1};
        twin.tape.entries[twin.tape.count++] = decision->last_chance;
        twin.words = text_format(texts, "with %s", words_of_line(texts, &decision->last_chance));
        consider(explainer, lines, line_count, &twin, &nearest);
    }
    if (!nearest.is_found && tape->count > 0) {
        struct nearest twin = {
            .tape = *tape, .changes = tape->count, .words = "without any choice"};
        twin.tape.count = 0;
        consider(explainer, lines, line_count, &twin, &nearest);
    }
    return nearest;
}

static void report_twin(struct explainer *explainer)
{
    struct report_explanation *report = &explainer->report;
    struct text_pool *texts = texts_of(explainer);
    const struct nearest nearest = find_nearest(explainer);
    report->twin = "";
    report->twin_tape = "";
    if (!nearest.is_found) {
        return;
    }
    report->twin = nearest.is_clean
                       ? nearest.words
                       : text_format(texts, "%s, and breaks something else", nearest.words);
    report->twin_changes = nearest.changes;
    report->twin_tape = failures_tape_text(texts, explainer->run.scenario, &nearest.tape);
    (void)run_kept(explainer, &nearest.tape);
    report->passes = parting_lines(explainer, nearest.equal, &report->passes_count);
    (void)run_kept(explainer, &explainer->tape);
    report->fails = parting_lines(explainer, nearest.equal, &report->fails_count);
}

/* --- report ------------------------------------------------------------------------------------ */

static const char *need_name(uint8_t need)
{
    switch ((enum explain_need)need) {
    case EXPLAIN_UNKNOWN:
        return "unknown";
    case EXPLAIN_REQUIRED:
        return "required";
    case EXPLAIN_ONE_OF_SEVERAL:
        return "one of several";
    case EXPLAIN_FREE:
        return "free";
    }
    UNREACHABLE();
}

/* The line of the journal that comes next when a draw is made. */
static uint32_t line_of_draw(struct explainer *explainer, uint32_t draw, uint64_t *event)
{
    *event = timeline_event_of_draw(&explainer->timeline, draw);
    return *event == 0 ? 0 : timeline_before(&explainer->timeline, *event).entries;
}

static void report_choice(struct explainer *explainer, uint32_t at, struct report_choice *report)
{
    struct text_pool *texts = texts_of(explainer);
    const struct tape_entry *choice = &explainer->tape.entries[at];
    const struct explain_choice *found =
        at < explainer->found.choice_count ? &explainer->found.choices[at] : NULL;
    uint64_t event = 0;
    const uint32_t line = line_of_draw(explainer, choice->position, &event);
    (void)run_kept(explainer, &explainer->tape);
    const struct choice_words words =
        words_of_choice(texts, explainer->run.reproducer, choice, line);
    *report = (struct report_choice){
        .line = words_of_line(texts, choice),
        .when = words.when,
        .words = words.what,
        .need = need_name(found == NULL ? EXPLAIN_UNKNOWN : found->need),
    };
    if (found == NULL) {
        return;
    }
    const char **as_well = text_memory(texts, EXPLAIN_KEPT_MAX, sizeof *as_well);
    for (uint32_t i = 0; i < found->kept_count; i++) {
        as_well[i] = words_of_line(texts, &found->kept[i]);
    }
    report->tried = found->tried;
    report->all_tried = found->all_tried;
    report->same_draw = found->as_well[EXPLAIN_SAME_DRAW];
    report->same_site = found->as_well[EXPLAIN_SAME_SITE];
    report->other_site = found->as_well[EXPLAIN_OTHER_SITE];
    report->as_well = as_well;
    report->as_well_count = found->kept_count;
}

static const char *last_chance_words(struct explainer *explainer)
{
    struct text_pool *texts = texts_of(explainer);
    const struct tape *tape = &explainer->tape;
    const struct explain_decision *decision = &explainer->found.decision;
    const struct choice_site *site =
        choice_site_by_key(catalogue_registry(), decision->last_chance.key);
    uint32_t at = 0;
    if (decision->last_chance.value != 0) {
        return text_format(texts,
                           "%s, %s",
                           words_of_line(texts, &decision->last_chance),
                           catalogue_outcome_words(site, decision->last_chance.value));
    }
    while (tape->entries[at].position != decision->draw) {
        at++;
    }
    return text_format(texts, "choice %" PRIu32 " itself, not made", at + 1);
}

static void report_decision(struct explainer *explainer)
{
    struct report_explanation *report = &explainer->report;
    struct text_pool *texts = texts_of(explainer);
    const struct explain_decision *decision = &explainer->found.decision;
    report->decided = decision->is_found;
    report->behind_tried = decision->tried;
    report->behind_unclear = decision->unclear;
    report->behind_all_tried = decision->all_tried;
    report->decisive = "";
    report->last_chance = "";
    if (!decision->is_found) {
        return;
    }
    const uint32_t line = line_of_draw(explainer, decision->draw, &report->decisive_event);
    (void)run_kept(explainer, &explainer->tape);
    report->decisive = words_of_entry(texts, explainer->run.reproducer, line);
    report->last_chance = last_chance_words(explainer);
}

static void fill_report(struct explainer *explainer, uint64_t started_ms)
{
    struct report_explanation *report = &explainer->report;
    struct text_pool *texts = texts_of(explainer);
    const struct options *options = explainer->session.options;
    const struct tape *tape = &explainer->tape;
    struct report_choice *choices = text_memory(texts, (size_t)tape->count + 1, sizeof *choices);
    report->scenario = explainer->run.scenario->name;
    report->profile = profile_name(explainer->run.scenario->config.profile);
    report->oracle = summary_oracle_name(explainer->run.culprit.oracle);
    report->tape = failures_tape_text(texts, explainer->run.scenario, tape);
    report->found = explainer->run.tape.count;
    for (uint32_t i = 0; i < tape->count; i++) {
        report_choice(explainer, i, &choices[i]);
    }
    report->choices = choices;
    report->choice_count = tape->count;
    report_decision(explainer);
    report_twin(explainer);
    (void)run_kept(explainer, tape);
    report->story_count = words_of_subject(texts,
                                           explainer->run.reproducer,
                                           &explainer->run.culprit,
                                           explainer->decided_position,
                                           &report->story);
    report->command = text_format(texts,
                                  "%s replay %s --tape %s%s --trace",
                                  text_shell_word(texts, options->program),
                                  text_shell_word(texts, options->arguments[0]),
                                  options->output != NULL ? text_shell_word(texts, options->output)
                                                          : "TAPE (-o keeps it)",
                                  session_selection(&explainer->session));
    report->runs = explainer->runs;
    report->elapsed_ms = wall_milliseconds() - started_ms;
}

static enum status explain(struct explainer *explainer)
{
    const uint64_t started = wall_milliseconds();
    const struct options *options = explainer->session.options;
    if (explainer->run.culprit.oracle == SUMMARY_ORACLE_CRASH) {
        complain("explain: the run takes its process with it; wanted: a run that an oracle judges; "
                 "its last line is what replay shows");
        return STATUS_BROKEN;
    }
    progress_start(&explainer->progress, "explain", 0);
    enum status status = shrink(explainer);
    if (status == STATUS_OK) {
        search(explainer);
        fill_report(explainer, started);
    }
    progress_end(&explainer->progress);
    if (status == STATUS_OK) {
        report_text_explanation(stdout, &explainer->report);
        status = output_explanation(options->json, &explainer->report);
    }
    if (status == STATUS_OK && options->output != NULL) {
        status = failing_run_write(&explainer->run, &explainer->tape);
    }
    return status;
}

enum status command_explain(const struct options *options)
{
    /* Too large for the stack. */
    struct explainer *explainer = memory_take(sizeof *explainer);
    enum status status = session_open(&explainer->session, options);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        status = failing_run_open(&explainer->run, &explainer->session, "explain");
    }
    if (status == STATUS_OK) {
        status = explain(explainer);
    }
    shrinking_free(&explainer->shrinking);
    failing_run_close(&explainer->run);
    session_close(&explainer->session);
    free(explainer);
    return status;
}
