#include "scenarios/cli/matrix/evidence.h"

#include "scenarios/cli/search/explaining.h"
#include "scenarios/cli/story/swimlane.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <string.h>

/* What may be tried to explain one witness: so many events, and in runs no fewer and no more. Counted
 * and not timed, so that the page is the same on every machine. */
#define EVENTS_TRIED (UINT64_C(1) << 20)
#define RUNS_LEAST   60u
#define RUNS_MOST    4000u

struct looking {
    struct session *session;
    const struct report_claim *claim;
    enum profile profile;
    struct text_pool *texts;
    struct scenario *scenario;
    struct reproducer *reproducer;
    struct tape tape;
    struct culprit culprit;
    uint64_t events; /* of the witness's run */
    struct report_evidence *evidence;
};

/* --- the witness --------------------------------------------------------------------------------- */

/* The tape names its scenario: that of the claim, or its small one. */
static enum status read_witness(struct looking *looking)
{
    const struct report_claim *claim = looking->claim;
    struct tape_header header = {0};
    struct tape_fault fault = {0};
    enum profile profile = looking->profile;
    looking->tape = (struct tape){
        .entries = text_memory(looking->texts, RESULT_TAPE_MAX, sizeof(struct tape_entry)),
        .capacity = RESULT_TAPE_MAX,
    };
    if (tape_read_text(bytes_of_text(claim->witness_tape),
                       catalogue_registry(),
                       &looking->tape,
                       &header,
                       &fault) != ERR_OK ||
        profile_parse(bytes_of_text(header.profile), &profile) != ERR_OK) {
        complain("%s: its witness cannot be read: %s", claim->id, fault.message);
        return STATUS_INTERNAL;
    }
    const bool is_small = strcmp(header.scenario, claim->small) == 0;
    return session_scenario_under(
        looking->session, is_small ? claim->small : claim->scenario, profile, &looking->scenario);
}

/* The oracles that the witness is of. */
static uint64_t wanted_oracles(const struct report_claim *claim)
{
    uint64_t bits = 0;
    uint8_t oracle = 0;
    for (size_t i = 0; i < claim->break_count; i++) {
        if (summary_oracle_parse(claim->breaks[i], &oracle) == ERR_OK) {
            bits |= UINT64_C(1) << oracle;
        }
    }
    return bits;
}

/* Run it again, and see what it breaks. */
static bool find_culprit(struct looking *looking)
{
    const struct run_request request = reproducer_tape_request(&looking->tape);
    const uint64_t wanted = wanted_oracles(looking->claim);
    int detail = 0;
    if (reproducer_run_guarded(
            looking->reproducer, &request, looking->session->options->hang_after, &detail) !=
        REPRODUCER_DONE) {
        return false;
    }
    const struct result *result = reproducer_result(looking->reproducer);
    looking->events = result->events;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if ((wanted >> result->findings[i].oracle & 1) != 0) {
            looking->culprit = culprit_of_finding(&result->findings[i]);
            return true;
        }
    }
    return false;
}

/* --- lanes --------------------------------------------------------------------------------------- */

static void draw_fails(struct looking *looking, struct explaining *explaining)
{
    const struct report_explanation *report = &explaining->report;
    uint32_t *lines = text_memory(looking->texts, report->choice_count + 1, sizeof *lines);
    for (size_t i = 0; i < report->choice_count; i++) {
        lines[i] = report->choices[i].position;
    }
    (void)explaining_keep(explaining, &explaining->tape);
    const struct swimlane_options options = {
        .title = text_format(looking->texts, "It fails: %s", looking->scenario->name),
        .culprit = &looking->culprit,
        .last = report->decided_position,
        .ending = report->message,
        .decisive = report->decisive_position,
        .choices = lines,
        .choice_count = (uint32_t)report->choice_count,
    };
    swimlane_make(looking->texts, looking->reproducer, &options, &looking->evidence->fails);
    looking->evidence->has_fails = true;
}

/* A run that breaks nothing, of the scenario that the reproducer is of. */
static void draw_passes(struct looking *looking,
                        struct reproducer *reproducer,
                        const char *title,
                        const uint32_t *lines,
                        uint32_t line_count)
{
    const struct swimlane_options options = {
        .title = title,
        .culprit = &looking->culprit,
        .last = POSITION_END,
        .ending = "the run ends, and nothing of it is broken",
        .decisive = UINT32_MAX,
        .choices = lines,
        .choice_count = line_count,
    };
    swimlane_make(looking->texts, reproducer, &options, &looking->evidence->passes);
    looking->evidence->has_passes = true;
}

/* The nearest run that passes; its choices stand elsewhere in it than in the run that fails. */
static void draw_twin(struct looking *looking, struct explaining *explaining)
{
    struct report_evidence *evidence = looking->evidence;
    (void)explaining_keep(explaining, &explaining->twin);
    struct tape twin = reproducer_recorded(looking->reproducer);
    struct tape_entry *entries =
        text_memory(looking->texts, (size_t)twin.count + 1, sizeof *entries);
    for (uint32_t i = 0; i < twin.count; i++) {
        entries[i] = twin.entries[i];
    }
    twin.entries = entries;
    const uint32_t *lines = explaining_lines(explaining, &twin);
    (void)explaining_keep(explaining, &twin);
    draw_passes(looking,
                looking->reproducer,
                text_format(looking->texts, "It passes %s", explaining->report.twin),
                lines,
                twin.count);
    evidence->fails.parting = report_timeline_parting(&evidence->fails, &evidence->passes);
    evidence->passes.parting = evidence->fails.parting;
}

/* Where no choice can be taken away: the calm run of the scenario without the condition. */
static enum status draw_twin_scenario(struct looking *looking)
{
    const struct report_claim *claim = looking->claim;
    struct scenario *scenario = NULL;
    struct tape_entry none;
    const struct tape calm = {.entries = &none, .identity = 1};
    enum status status =
        session_scenario_under(looking->session, claim->twin_scenario, looking->profile, &scenario);
    if (status != STATUS_OK) {
        return status;
    }
    struct reproducer *reproducer = reproducer_create(scenario);
    struct run_request request = reproducer_tape_request(&calm);
    request.keep_trace = true;
    if (reproducer == NULL) {
        status = STATUS_INTERNAL;
    } else if (reproducer_run(reproducer, &request)->finding_count == 0 &&
               reproducer_world(reproducer) != NULL) {
        draw_passes(looking,
                    reproducer,
                    text_format(looking->texts,
                                "Without the condition it passes: %s",
                                claim->twin_scenario),
                    NULL,
                    0);
    }
    if (reproducer != NULL) {
        reproducer_destroy(reproducer);
    }
    scenario_destroy(scenario);
    return status;
}

/* --- all ----------------------------------------------------------------------------------------- */

static uint64_t runs_allowed(uint64_t events)
{
    const uint64_t runs = EVENTS_TRIED / (events > 0 ? events : 1);
    return runs < RUNS_LEAST ? RUNS_LEAST : runs > RUNS_MOST ? RUNS_MOST : runs;
}

static enum status look(struct looking *looking)
{
    struct report_evidence *evidence = looking->evidence;
    if (!find_culprit(looking)) {
        return STATUS_OK;
    }
    struct explaining *explaining = text_memory(looking->texts, 1, sizeof *explaining);
    *explaining = (struct explaining){
        .texts = looking->texts,
        .reproducer = looking->reproducer,
        .scenario = looking->scenario,
        .culprit = looking->culprit,
        .runs_max = runs_allowed(looking->events),
    };
    if (!explaining_start(explaining, &looking->tape)) {
        complain("%s: its witness did not break it again", looking->claim->id);
        return STATUS_NONDETERMINISM;
    }
    explaining_run(explaining);
    evidence->explanation = explaining->report;
    evidence->has_explanation = true;
    draw_fails(looking, explaining);
    if (explaining->report.twin[0] != '\0') {
        draw_twin(looking, explaining);
    } else if (looking->claim->twin_scenario[0] != '\0') {
        return draw_twin_scenario(looking);
    }
    return STATUS_OK;
}

enum status evidence_find(struct session *session,
                          const struct report_claim *claim,
                          struct report_evidence *evidence)
{
    struct looking looking = {
        .session = session, .claim = claim, .texts = &session->texts, .evidence = evidence};
    if (profile_parse(bytes_of_text(claim->profile), &looking.profile) != ERR_OK) {
        complain("%s: there is no profile \"%s\"", claim->id, claim->profile);
        return STATUS_INTERNAL;
    }
    enum status status = read_witness(&looking);
    if (status == STATUS_OK) {
        looking.reproducer = reproducer_create(looking.scenario);
        status = looking.reproducer == NULL ? STATUS_INTERNAL : look(&looking);
    }
    if (looking.reproducer != NULL) {
        reproducer_destroy(looking.reproducer);
    }
    if (looking.scenario != NULL) {
        scenario_destroy(looking.scenario);
    }
    return status;
}
