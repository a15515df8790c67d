#include "scenarios/timing/probe.h"

#include "scenarios/cli/failures.h"
#include "scenarios/cli/reproducer.h"
#include "scenarios/scenario_reader.h"
#include "scenarios/timing/worst.h"
#include "sim/oracle_set.h"

#include <stdlib.h>
#include <string.h>

#define CAP_MAX 254

/* --- the variant --------------------------------------------------------------------------------- */

/* The object of a key, made where there is none. */
static json_t *object_in(json_t *parent, const char *key)
{
    json_t *object = json_object_get(parent, key);
    if (!json_is_object(object)) {
        object = json_object();
        (void)json_object_set_new(parent, key, object);
    }
    return object;
}

static json_t *faults_of(enum timing_shape shape)
{
    json_t *kinds = json_array();
    json_t *caps = json_object();
    const bool crashes = shape == TIMING_SHAPE_CRASH || shape == TIMING_SHAPE_CLOCK;
    if (crashes) {
        (void)json_array_append_new(kinds, json_string("crash"));
        (void)json_object_set_new(caps, "crash", json_integer(1));
    }
    if (shape == TIMING_SHAPE_CLOCK) {
        (void)json_array_append_new(kinds, json_string("clock"));
    }
    if (shape == TIMING_SHAPE_RETRIES) {
        (void)json_array_append_new(kinds, json_string("request_lost"));
        (void)json_array_append_new(kinds, json_string("latency"));
    }
    return json_pack("{s:o,s:o,s:i}",
                     "kinds",
                     kinds,
                     "caps",
                     caps,
                     "cap_total",
                     shape == TIMING_SHAPE_CRASH ? 1 : CAP_MAX);
}

/* What a scenario says of itself, and would be wrong of its variant. */
static const char *const left_out[] = {"claim",
                                       "expect",
                                       "oracle",
                                       "must_reach",
                                       "tape",
                                       "strict_tape",
                                       "digest",
                                       "excuses",
                                       "oracles",
                                       "stop_reasons",
                                       "race_window"};

static void vary(json_t *root, enum timing_shape shape)
{
    for (size_t i = 0; i < ARRAY_COUNT(left_out); i++) {
        (void)json_object_del(root, left_out[i]);
    }
    (void)json_object_set_new(root, "faults", faults_of(shape));
    json_t *restart = object_in(object_in(root, "engine"), "restart");
    (void)json_object_set_new(restart, "attempts", json_integer(0));
}

static enum err create(json_t *root,
                       const struct timing_source *source,
                       struct text_pool *texts,
                       const char **text,
                       struct scenario **scenario,
                       struct scenario_fault *fault)
{
    char *dumped = json_dumps(root, JSON_INDENT(2));
    if (dumped == NULL) {
        return ERR_LIMIT;
    }
    *text = text_copy(texts, bytes_of_text(dumped));
    free(dumped);
    return scenario_create(bytes_of_text(*text), &source->options, scenario, fault);
}

/* Those that the guarantee brings, which are in force when a scenario names none; and progress. */
static json_t *oracles_of(const struct scenario *scenario)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < scenario->config.oracle_count; i++) {
        (void)json_array_append_new(names, json_string(scenario->config.oracles[i]->name));
    }
    (void)json_array_append_new(names, json_string("progress"));
    return names;
}

/* Read the variant twice: the first time tells the oracles. */
static enum err create_variant(json_t *root,
                               const struct timing_source *source,
                               struct text_pool *texts,
                               struct scenario **scenario,
                               struct scenario_fault *fault)
{
    const char *text = NULL;
    struct scenario *plain = NULL;
    const enum err err = create(root, source, texts, &text, &plain, fault);
    if (err != ERR_OK) {
        return err;
    }
    (void)json_object_set_new(root, "oracles", oracles_of(plain));
    scenario_destroy(plain);
    return create(root, source, texts, &text, scenario, fault);
}

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
    for (uint32_t i = 0; i < result->finding_count; i++) {
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

static void search_worst(struct probing *probing, enum timing_shape shape, uint32_t runs_max)
{
    struct timing_facts facts;
    timing_facts_of(probing->scenario, &facts);
    struct worst worst = {
        .shape = (uint8_t)shape, .outage = facts.outage, .now = now_of, .now_context = probing};
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
    if (try_run(probing, &calm, shape == TIMING_SHAPE_CALM ? 0 : UINT64_MAX)) {
        return;
    }
    const struct result *result = reproducer_result(probing->reproducer);
    probing->broken_anyway = broken_in(result);
    if (shape > TIMING_SHAPE_CALM) {
        search_worst(probing, shape, runs_max);
        return;
    }
    probing->shown->all_tried = true;
    if (shape == TIMING_SHAPE_REFUSED && is_refused_by_calls(result)) {
        show(probing, &result->findings[0]);
        probing->shown->is_refused = true;
    }
}

/* --- all ----------------------------------------------------------------------------------------- */

/* The variant with its tape in it, one line each, so that running it replays it. */
static enum err keep_variant(struct probing *probing, json_t *root)
{
    json_t *lines = json_array();
    const char *at = probing->shown->tape;
    while (*at != '\0') {
        const size_t size = strcspn(at, "\n");
        (void)json_array_append_new(lines, json_stringn(at, size));
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    if (json_array_size(lines) > 0) {
        (void)json_object_set(root, "tape", lines);
    }
    json_decref(lines);
    (void)json_object_set_new(
        root, "expect", json_string(probing->shown->is_refused ? "refused" : "fails"));
    char *dumped = json_dumps(root, JSON_INDENT(2));
    if (dumped == NULL) {
        return ERR_LIMIT;
    }
    probing->shown->variant = text_copy(probing->texts, bytes_of_text(dumped));
    free(dumped);
    return ERR_OK;
}

static enum err probe(struct probing *probing,
                      json_t *root,
                      const struct timing_constraint *constraint,
                      uint32_t runs_max)
{
    probing->reproducer = reproducer_create_alone(probing->scenario);
    if (probing->reproducer == NULL) {
        return ERR_LIMIT;
    }
    search(probing, (enum timing_shape)constraint->shape, runs_max);
    const enum err err = probing->shown->is_shown ? keep_variant(probing, root) : ERR_OK;
    reproducer_destroy(probing->reproducer);
    return err;
}

enum err timing_probe(struct text_pool *texts,
                      const struct timing_source *source,
                      const struct timing_constraint *constraint,
                      uint32_t runs_max,
                      struct timing_shown *shown,
                      struct scenario_fault *fault)
{
    struct scenario_store memory = {0};
    struct reader reader = {.name = source->options.name, .fault = fault, .memory = &memory};
    struct probing probing = {.texts = texts, .shown = shown};
    struct scenario *scenario = NULL;
    json_t *root = NULL;
    *shown = (struct timing_shown){.oracle = "", .message = "", .tape = "", .variant = ""};
    enum err err = reader_parse(&reader, source->json, 1, &root);
    scenario_give_all(&memory);
    if (err != ERR_OK) {
        return err;
    }
    vary(root, (enum timing_shape)constraint->shape);
    err = create_variant(root, source, texts, &scenario, fault);
    if (err == ERR_OK) {
        probing.scenario = scenario;
        err = probe(&probing, root, constraint, runs_max);
        scenario_destroy(scenario);
    }
    json_decref(root);
    return err;
}
