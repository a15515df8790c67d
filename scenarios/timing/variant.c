#include "scenarios/timing/variant.h"

#include "scenarios/scenario_reader.h"

#include <stdlib.h>
#include <string.h>

#define CAP_MAX 254

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

static void vary(json_t *root, enum timing_shape shape, bool by_arrival)
{
    for (size_t i = 0; i < ARRAY_COUNT(left_out); i++) {
        (void)json_object_del(root, left_out[i]);
    }
    (void)json_object_set_new(root, "faults", faults_of(shape));
    json_t *restart = object_in(object_in(root, "engine"), "restart");
    (void)json_object_set_new(restart, "attempts", json_integer(0));
    if (by_arrival) {
        json_t *origin = object_in(object_in(root, "engine"), "source");
        (void)json_object_set_new(origin, "pace", json_string("arrivals"));
    }
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

enum err timing_variant_open(struct timing_variant *variant,
                             struct text_pool *texts,
                             const struct timing_source *source,
                             enum timing_shape shape,
                             bool by_arrival,
                             struct scenario_fault *fault)
{
    struct scenario_store memory = {0};
    struct reader reader = {.name = source->options.name, .fault = fault, .memory = &memory};
    const enum err err = reader_parse(&reader, source->json, 1, &variant->root);
    scenario_give_all(&memory);
    if (err != ERR_OK) {
        return err;
    }
    vary(variant->root, shape, by_arrival);
    return create_variant(variant->root, source, texts, &variant->scenario, fault);
}

void timing_variant_close(struct timing_variant *variant)
{
    if (variant->scenario != NULL) {
        scenario_destroy(variant->scenario);
    }
    json_decref(variant->root);
    *variant = (struct timing_variant){0};
}

const char *timing_variant_text(const struct timing_variant *variant,
                                struct text_pool *texts,
                                const char *tape,
                                const char *expectation)
{
    json_t *lines = json_array();
    const char *at = tape;
    while (*at != '\0') {
        const size_t size = strcspn(at, "\n");
        (void)json_array_append_new(lines, json_stringn(at, size));
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    json_t *root = json_deep_copy(variant->root);
    if (json_array_size(lines) > 0) {
        (void)json_object_set(root, "tape", lines);
    }
    json_decref(lines);
    (void)json_object_set_new(root, "expect", json_string(expectation));
    char *dumped = json_dumps(root, JSON_INDENT(2));
    const char *text = text_copy(texts, bytes_of_text(dumped == NULL ? "" : dumped));
    free(dumped);
    json_decref(root);
    return text;
}
