#include "scenarios/cli/search/explaining.h"

#include "scenarios/cli/story/words.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARTING_LINES 2u

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

const struct result *explaining_keep(struct explaining *explaining, const struct tape *tape)
{
    struct run_request request = reproducer_tape_request(tape);
    request.keep_trace = true;
    explaining->runs++;
    return reproducer_run(explaining->reproducer, &request);
}

bool explaining_start(struct explaining *explaining, const struct tape *tape)
{
    const struct result *last = explaining_keep(explaining, tape);
    const struct finding *finding = culprit_find(&explaining->culprit, last);
    if (finding == NULL) {
        return false;
    }
    const struct tape recorded = reproducer_recorded(explaining->reproducer);
    explaining->tape = copy_of(explaining->texts, &recorded, 0);
    explaining->timeline = (struct timeline){
        .reproducer = explaining->reproducer,
        .tape = &explaining->tape,
        .events = last->events,
    };
    explaining->report.decided_position = finding->position;
    explaining->report.message = text_copy(explaining->texts, bytes_of_text(finding->message));
    explaining->report.subject =
        summary_subject(explaining->texts, finding->subject_kind, finding->subject);
    return true;
}

/* --- search ------------------------------------------------------------------------------------ */

/* An oracle keeps its first violation only, and another run may come to another subject first: so what
 * fails alike here is what breaks the same oracle at all. */
static bool breaks_alike(const struct explaining *explaining, const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].oracle == explaining->culprit.oracle) {
            return true;
        }
    }
    return false;
}

static enum explain_answer try_tape(void *context, const struct tape *candidate)
{
    struct explaining *explaining = context;
    const struct run_request request = reproducer_tape_request(candidate);
    const struct result *result = reproducer_run(explaining->reproducer, &request);
    return breaks_alike(explaining, result) ? EXPLAIN_FAILS
           : result->verdict == RUN_LIMIT   ? EXPLAIN_UNCLEAR
                                            : EXPLAIN_PASSES;
}

static uint32_t offers(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity)
{
    struct explaining *explaining = context;
    return reproducer_deviations(explaining->reproducer, tape, from, entries, capacity);
}

static bool keep_going(void *context)
{
    struct explaining *explaining = context;
    if (explaining->progress_or_null != NULL) {
        progress_show(explaining->progress_or_null, explaining->runs + explaining->found.runs);
    }
    return explaining->deadline_ms == 0 || wall_milliseconds() < explaining->deadline_ms;
}

/* The first draw behind the event in which the violation showed. */
static uint32_t decided_draw(struct explaining *explaining)
{
    if (explaining->report.decided_position == POSITION_END) {
        return UINT32_MAX;
    }
    const uint64_t event =
        timeline_event_of_entry(&explaining->timeline, explaining->report.decided_position);
    return timeline_before(&explaining->timeline, event + 1).draws;
}

static void search(struct explaining *explaining)
{
    const struct explain_options options = {
        .try_tape = try_tape,
        .offers = offers,
        .keep_going = keep_going,
        .context = explaining,
        .runs_max = (uint32_t)explaining->runs_max,
        .decided_draw = decided_draw(explaining),
    };
    void *memory = memory_take(explain_memory_size(explaining->tape.count));
    explain_run(&explaining->tape, &options, memory, &explaining->found);
    free(memory);
    explaining->runs += explaining->found.runs;
}

/* --- the nearest run that passes --------------------------------------------------------------- */

/* Where the journals of two runs first differ: the number of lines that are equal. before: those of
 * the other run. */
static uint32_t
equal_lines(const struct explaining *explaining, const struct journal_entry *before, uint32_t count)
{
    const struct journal *journal = reproducer_world(explaining->reproducer)->journal;
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
static struct journal_entry *lines_of(struct explaining *explaining, uint32_t *count)
{
    const struct journal *journal = reproducer_world(explaining->reproducer)->journal;
    struct journal_entry *lines =
        text_memory(explaining->texts, (size_t)journal->count + 1, sizeof *lines);
    for (uint32_t i = 0; i < journal->count; i++) {
        lines[i] = *journal_at(journal, i);
    }
    *count = journal->count;
    return lines;
}

static const char *const *parting_lines(struct explaining *explaining, uint32_t from, size_t *count)
{
    const char **lines = text_memory(explaining->texts, PARTING_LINES, sizeof *lines);
    const uint32_t end = reproducer_world(explaining->reproducer)->journal->count;
    *count = 0;
    for (uint32_t i = from; i < end && *count < PARTING_LINES; i++) {
        lines[(*count)++] = words_of_entry(explaining->texts, explaining->reproducer, i);
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
static void consider(struct explaining *explaining,
                     const struct journal_entry *lines,
                     uint32_t line_count,
                     const struct nearest *twin,
                     struct nearest *nearest)
{
    const struct result *result = explaining_keep(explaining, &twin->tape);
    if (breaks_alike(explaining, result) || result->verdict == RUN_LIMIT) {
        return;
    }
    const bool is_clean = result->finding_count == 0;
    const uint32_t equal = equal_lines(explaining, lines, line_count);
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
static struct nearest find_nearest(struct explaining *explaining)
{
    struct text_pool *texts = explaining->texts;
    const struct tape *tape = &explaining->tape;
    const struct explain_decision *decision = &explaining->found.decision;
    struct nearest nearest = {.is_found = false};
    uint32_t line_count = 0;
    (void)explaining_keep(explaining, tape);
    const struct journal_entry *lines = lines_of(explaining, &line_count);
    for (uint32_t i = 0; i < tape->count && i < EXPLAIN_CHOICES_MAX; i++) {
        struct nearest twin = {.tape = copy_of(texts, tape, 0), .changes = 1};
        twin.tape.count = 0;
        for (uint32_t k = 0; k < tape->count; k++) {
            if (k != i) {
                twin.tape.entries[twin.tape.count++] = tape->entries[k];
            }
        }
        twin.words = text_format(texts, "without choice %" PRIu32, i + 1);
        consider(explaining, lines, line_count, &twin, &nearest);
    }
    if (!nearest.is_found && decision->is_found && decision->last_chance.value != 0) {
        struct nearest twin = {.tape = copy_of(texts, tape, 1), .changes = 1};
        twin.tape.entries[twin.tape.count++] = decision->last_chance;
        twin.words = text_format(texts, "with %s", words_of_line(texts, &decision->last_chance));
        consider(explaining, lines, line_count, &twin, &nearest);
    }
    if (!nearest.is_found && tape->count > 0) {
        struct nearest twin = {
            .tape = *tape, .changes = tape->count, .words = "without any choice"};
        twin.tape.count = 0;
        consider(explaining, lines, line_count, &twin, &nearest);
    }
    return nearest;
}

static void report_twin(struct explaining *explaining)
{
    struct report_explanation *report = &explaining->report;
    struct text_pool *texts = explaining->texts;
    const struct nearest nearest = find_nearest(explaining);
    report->twin = "";
    report->twin_tape = "";
    if (!nearest.is_found) {
        return;
    }
    report->twin = nearest.is_clean
                       ? nearest.words
                       : text_format(texts, "%s, and breaks something else", nearest.words);
    explaining->twin = nearest.tape;
    report->twin_changes = nearest.changes;
    report->twin_tape = failures_tape_text(texts, explaining->scenario, &nearest.tape);
    (void)explaining_keep(explaining, &nearest.tape);
    report->passes = parting_lines(explaining, nearest.equal, &report->passes_count);
    (void)explaining_keep(explaining, &explaining->tape);
    report->fails = parting_lines(explaining, nearest.equal, &report->fails_count);
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
static uint32_t line_of_draw(struct timeline *timeline, uint32_t draw, uint64_t *event)
{
    *event = timeline_event_of_draw(timeline, draw);
    return *event == 0 ? 0 : timeline_before(timeline, *event).entries;
}

const uint32_t *explaining_lines(struct explaining *explaining, const struct tape *tape)
{
    uint32_t *lines = text_memory(explaining->texts, (size_t)tape->count + 1, sizeof *lines);
    struct timeline timeline = {
        .reproducer = explaining->reproducer,
        .tape = tape,
        .events = explaining_keep(explaining, tape)->events,
    };
    for (uint32_t i = 0; i < tape->count; i++) {
        uint64_t event = 0;
        lines[i] = line_of_draw(&timeline, tape->entries[i].position, &event);
    }
    explaining->runs += timeline.runs;
    return lines;
}

static void report_choice(struct explaining *explaining, uint32_t at, struct report_choice *report)
{
    struct text_pool *texts = explaining->texts;
    const struct tape_entry *choice = &explaining->tape.entries[at];
    const struct explain_choice *found =
        at < explaining->found.choice_count ? &explaining->found.choices[at] : NULL;
    uint64_t event = 0;
    const uint32_t line = line_of_draw(&explaining->timeline, choice->position, &event);
    (void)explaining_keep(explaining, &explaining->tape);
    const struct choice_words words = words_of_choice(texts, explaining->reproducer, choice, line);
    *report = (struct report_choice){
        .line = words_of_line(texts, choice),
        .when = words.when,
        .words = words.what,
        .need = need_name(found == NULL ? EXPLAIN_UNKNOWN : found->need),
        .position = line,
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

static const char *last_chance_words(struct explaining *explaining)
{
    struct text_pool *texts = explaining->texts;
    const struct tape *tape = &explaining->tape;
    const struct explain_decision *decision = &explaining->found.decision;
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

static void report_decision(struct explaining *explaining)
{
    struct report_explanation *report = &explaining->report;
    struct text_pool *texts = explaining->texts;
    const struct explain_decision *decision = &explaining->found.decision;
    report->decided = decision->is_found;
    report->behind_tried = decision->tried;
    report->behind_unclear = decision->unclear;
    report->behind_all_tried = decision->all_tried;
    report->decisive = "";
    report->last_chance = "";
    report->decisive_position = UINT32_MAX;
    if (!decision->is_found) {
        return;
    }
    const uint32_t line =
        line_of_draw(&explaining->timeline, decision->draw, &report->decisive_event);
    (void)explaining_keep(explaining, &explaining->tape);
    report->decisive_position = line;
    report->decisive = words_of_entry(texts, explaining->reproducer, line);
    report->last_chance = last_chance_words(explaining);
}

void explaining_run(struct explaining *explaining)
{
    struct report_explanation *report = &explaining->report;
    const struct tape *tape = &explaining->tape;
    search(explaining);
    struct report_choice *choices =
        text_memory(explaining->texts, (size_t)tape->count + 1, sizeof *choices);
    report->scenario = explaining->scenario->name;
    report->profile = profile_name(explaining->scenario->config.profile);
    report->oracle = summary_oracle_name(explaining->culprit.oracle);
    report->tape = failures_tape_text(explaining->texts, explaining->scenario, tape);
    for (uint32_t i = 0; i < tape->count; i++) {
        report_choice(explaining, i, &choices[i]);
    }
    report->choices = choices;
    report->choice_count = tape->count;
    report_decision(explaining);
    report_twin(explaining);
    (void)explaining_keep(explaining, tape);
    report->story_count = words_of_subject(explaining->texts,
                                           explaining->reproducer,
                                           &explaining->culprit,
                                           report->decided_position,
                                           &report->story);
    explaining->runs += explaining->timeline.runs;
    report->runs = explaining->runs;
}
