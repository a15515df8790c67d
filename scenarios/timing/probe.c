#include "scenarios/timing/probe.h"

#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/timing/variant.h"
#include "scenarios/timing/worst.h"
#include "sim/oracle_set.h"

/* --- runs ---------------------------------------------------------------------------------------- */

struct probing {
    struct text_pool *texts;
    struct reproducer *reproducer;
    const struct scenario *scenario;
    struct timing_shown *shown;
    uint64_t broken_anyway; /* oracles that the calm run breaks, or what only comes before */
};

static uint64_t broken_in(const struct result *result)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        bits |= UINT64_C(1) << result->findings[i].oracle;
    }
    return bits;
}

static void show(struct probing *probing, const struct result_finding *found)
{
    struct timing_shown *shown = probing->shown;
    const struct tape tape = reproducer_recorded(probing->reproducer);
    shown->is_shown = true;
    shown->oracle = oracle_types[found->oracle]->name;
    shown->message = text_copy(probing->texts, bytes_of_text(found->finding.message));
    shown->entries = tape.count;
    shown->tape = failures_tape_text(probing->texts, probing->scenario, &tape);
}

/* Whether the job ended because a sink's own attempts were used up: an outage of other requests was too long for
 * this one. It says nothing of a checkpoint's timeout, which ends jobs by itself. */
static bool is_used_up(const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct result_finding *found = &result->findings[i];
        if (oracle_types[found->oracle] == &oracle_progress &&
            found->finding.subject == SINK_REASON_EXHAUSTED) {
            return true;
        }
    }
    return false;
}

/* Whether a run breaks what the calm one does not; then it is shown. */
static bool try_run(struct probing *probing, const struct run_request *request, uint64_t but)
{
    const struct result *result = reproducer_run(probing->reproducer, request);
    probing->shown->runs++;
    if (result->verdict == RUN_REFUSED) {
        probing->shown->is_shown = true;
        probing->shown->is_refused = true;
        probing->shown->message = text_copy(probing->texts, bytes_of_text(result->message));
        return true;
    }
    for (uint32_t i = 0; i < result->finding_count && !is_used_up(result); i++) {
        if ((but >> result->findings[i].oracle & 1) == 0) {
            show(probing, &result->findings[i]);
            return true;
        }
    }
    return false;
}

static nanos now_of(const void *context)
{
    const struct probing *probing = context;
    return world_now(reproducer_world(probing->reproducer));
}

/* Whether the run ended before it began: the service's answers to the sink's first calls are refused as a
 * configuration is. */
static bool is_refused_by_calls(const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct result_finding *found = &result->findings[i];
        if (oracle_types[found->oracle] == &oracle_progress &&
            found->finding.subject == SINK_REASON_CONFIG) {
            return true;
        }
    }
    return false;
}

static void search_worst(struct probing *probing,
                         enum timing_shape shape,
                         const struct timing_facts *facts,
                         uint32_t runs_max)
{
    struct worst worst = {
        .shape = (uint8_t)shape,
        .outage = facts->outage,
        .call_outage = facts->call_outage,
        .now = now_of,
        .now_context = probing,
    };
    const struct run_request request = {
        .choice = {
            .mode = CHOICE_POLICY, .identity = 1, .policy = worst_pick, .policy_context = &worst}};
    bool is_left = true;
    worst_init(&worst);
    while (is_left && probing->shown->runs < runs_max) {
        const bool is_alone = shape == TIMING_SHAPE_CLOCK && worst.way == 0;
        if (try_run(probing, &request, is_alone ? UINT64_MAX : probing->broken_anyway)) {
            return;
        }
        probing->broken_anyway |= is_alone ? broken_in(reproducer_result(probing->reproducer)) : 0;
        is_left = worst_next(&worst);
    }
    probing->shown->all_tried = !is_left;
}

static void search(struct probing *probing, enum timing_shape shape, uint32_t runs_max)
{
    const struct run_request calm = {.choice = {.mode = CHOICE_CALM, .identity = 1}};
    struct timing_facts facts;
    timing_facts_of(probing->scenario, &facts);
    /* Where nothing is tried again, a slow request is the worst there is. */
    const bool is_calm =
        shape == TIMING_SHAPE_CALM || (shape == TIMING_SHAPE_RETRIES && facts.outage == 0);
    if (try_run(probing, &calm, is_calm ? 0 : UINT64_MAX)) {
        return;
    }
    const struct result *result = reproducer_result(probing->reproducer);
    probing->broken_anyway = broken_in(result);
    if (result->finding_count > 0) {
        probing->shown->anyway = oracle_types[result->findings[0].oracle]->name;
    }
    if (shape > TIMING_SHAPE_CALM && !is_calm) {
        search_worst(probing, shape, &facts, runs_max);
        return;
    }
    probing->shown->all_tried = true;
    if (shape == TIMING_SHAPE_REFUSED && is_refused_by_calls(result)) {
        show(probing, &result->findings[0]);
        probing->shown->is_refused = true;
    }
}

/* --- all ----------------------------------------------------------------------------------------- */

/* The variant with its tape in it, so that running it replays it. */
static void keep_variant(struct probing *probing, const struct timing_variant *variant)
{
    const struct timing_shown *shown = probing->shown;
    probing->shown->variant = timing_variant_text(
        variant, probing->texts, shown->tape, shown->is_refused ? "refused" : "fails");
}

enum err timing_probe(struct text_pool *texts,
                      const struct timing_source *source,
                      const struct timing_constraint *constraint,
                      uint32_t runs_max,
                      struct timing_shown *shown,
                      struct scenario_fault *fault)
{
    const enum timing_shape shape = (enum timing_shape)constraint->shape;
    struct probing probing = {.texts = texts, .shown = shown};
    struct timing_variant variant = {0};
    *shown =
        (struct timing_shown){.oracle = "", .message = "", .tape = "", .variant = "", .anyway = ""};
    enum err err = timing_variant_open(&variant, texts, source, shape, false, fault);
    if (err == ERR_OK) {
        probing.scenario = variant.scenario;
        probing.reproducer = reproducer_create_alone(variant.scenario);
        err = probing.reproducer == NULL ? ERR_LIMIT : ERR_OK;
    }
    if (err == ERR_OK) {
        search(&probing, shape, runs_max);
        if (shown->is_shown) {
            keep_variant(&probing, &variant);
        }
        reproducer_destroy(probing.reproducer);
    }
    timing_variant_close(&variant);
    return err;
}
