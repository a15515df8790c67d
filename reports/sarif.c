#include "reports/sarif.h"

#include "reports/escape.h"
#include "reports/failure.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_URI  "https://json.schemastore.org/sarif-2.1.0.json"
#define FINGERPRINT "sinkproof/v1" /* names how it is made: another way is another name */
#define URI_SIZE    4096

/* jansson answers NULL when memory is out, and ok remembers. */
struct object {
    json_t *json;
    bool *ok;
};

static struct object object_in(bool *ok)
{
    struct object object = {.json = json_object(), .ok = ok};
    *ok = *ok && object.json != NULL;
    return object;
}

static void put(struct object object, const char *key, json_t *value)
{
    *object.ok = json_object_set_new(object.json, key, value) == 0 && *object.ok;
}

static void append(json_t *list, json_t *value, bool *ok)
{
    *ok = json_array_append_new(list, value) == 0 && *ok;
}

static json_t *text(const char *value)
{
    char *copy = escape_utf8_copy(value);
    json_t *json = copy == NULL ? NULL : json_string(copy);
    free(copy);
    return json;
}

/* { key: value } */
static json_t *one(const char *key, json_t *value, bool *ok)
{
    const struct object object = object_in(ok);
    put(object, key, value);
    return object.json;
}

static json_t *message(const char *words, bool *ok)
{
    return one("text", text(words), ok);
}

/* --- rules ------------------------------------------------------------------------------------- */

static json_t *rule_json(const char *name, const char *sentence, bool *ok)
{
    const struct object rule = object_in(ok);
    put(rule, "id", text(name));
    put(rule, "shortDescription", message(sentence, ok));
    put(rule, "defaultConfiguration", one("level", text("error"), ok));
    return rule.json;
}

static json_t *rules_json(const struct report_sarif *sarif, bool *ok)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < sarif->rule_count; i++) {
        append(rules, rule_json(sarif->rules[i].name, sarif->rules[i].sentence, ok), ok);
    }
    append(
        rules,
        rule_json(REPORT_RULE_VERDICT, "the verdict on a scenario is the one that it expects", ok),
        ok);
    return rules;
}

/* The place of a rule; the last one is that of verdicts. */
static size_t rule_index(const struct report_sarif *sarif, const char *name)
{
    size_t i = 0;
    while (i < sarif->rule_count && strcmp(sarif->rules[i].name, name) != 0) {
        i++;
    }
    return i;
}

static json_t *tool_json(const struct report_sarif *sarif, bool *ok)
{
    const struct object driver = object_in(ok);
    put(driver, "name", text("sinkproof"));
    put(driver, "version", text(sarif->version));
    put(driver, "rules", rules_json(sarif, ok));
    put(driver, "properties", one("clauses", text(sarif->clauses), ok));
    return one("driver", driver.json, ok);
}

/* --- places ------------------------------------------------------------------------------------ */

static json_t *artifact_json(const struct report_run *run, bool *ok)
{
    char path[URI_SIZE];
    char uri[URI_SIZE + 8];
    escape_uri_path(run->file, path, sizeof path);
    (void)snprintf(uri, sizeof uri, "%s%s", path[0] == '/' ? "file://" : "", path);
    return one("uri", text(uri), ok);
}

/* A scenario has no line of its own that is to blame: its file stands for it. */
static json_t *location_json(const struct report_run *run, const char *words_or_null, bool *ok)
{
    const struct object location = object_in(ok);
    if (run->file[0] != '\0') {
        const struct object physical = object_in(ok);
        put(physical, "artifactLocation", artifact_json(run, ok));
        put(physical, "region", one("startLine", json_integer(1), ok));
        put(location, "physicalLocation", physical.json);
    }
    json_t *logical = json_array();
    append(logical, one("fullyQualifiedName", text(run->scenario), ok), ok);
    put(location, "logicalLocations", logical);
    if (words_or_null != NULL) {
        put(location, "message", message(words_or_null, ok));
    }
    return location.json;
}

static json_t *locations_json(const struct report_run *run, bool *ok)
{
    json_t *locations = json_array();
    append(locations, location_json(run, NULL, ok), ok);
    return locations;
}

/* --- the story of a failing run ---------------------------------------------------------------- */

static json_t *step_json(const struct report_run *run,
                         const struct report_violation *violation,
                         size_t index,
                         bool *ok)
{
    const struct object step = object_in(ok);
    const bool decides = index + 1 == violation->story_decisive;
    put(step, "location", location_json(run, violation->story[index], ok));
    put(step, "executionOrder", json_integer((json_int_t)index + 1));
    put(step, "importance", text(decides ? "essential" : "important"));
    return step.json;
}

static json_t *
flow_json(const struct report_run *run, const struct report_violation *violation, bool *ok)
{
    json_t *steps = json_array();
    json_t *threads = json_array();
    json_t *flows = json_array();
    for (size_t i = 0; i < violation->story_count; i++) {
        append(steps, step_json(run, violation, i, ok), ok);
    }
    append(threads, one("locations", steps, ok), ok);
    const struct object flow = object_in(ok);
    put(flow, "message", message("the smallest run that fails, in virtual time", ok));
    put(flow, "threadFlows", threads);
    append(flows, flow.json, ok);
    return flows;
}

/* --- results ----------------------------------------------------------------------------------- */

static void put_novelty(struct object result, enum report_novelty novelty)
{
    if (novelty != REPORT_NOVELTY_NONE) {
        put(result, "baselineState", text(novelty == REPORT_NOVELTY_NEW ? "new" : "unchanged"));
    }
}

static struct object result_in(const struct report_sarif *sarif,
                               const struct report_run *run,
                               const char *rule,
                               bool *ok)
{
    const struct object result = object_in(ok);
    const size_t index = rule_index(sarif, rule);
    put(result, "ruleId", text(index == sarif->rule_count ? REPORT_RULE_VERDICT : rule));
    put(result, "ruleIndex", json_integer((json_int_t)index));
    put(result, "locations", locations_json(run, ok));
    return result;
}

static json_t *
facts_json(const struct report_run *run, const struct report_violation *violation, bool *ok)
{
    char seed[24];
    const struct object facts = object_in(ok);
    (void)snprintf(seed, sizeof seed, "%" PRIu64, violation->seed);
    put(facts, "profile", text(run->profile));
    put(facts, "subject", text(violation->subject));
    put(facts, "seed", text(seed));
    put(facts, "tape", text(violation->tape));
    put(facts, "replay", text(violation->command));
    return facts.json;
}

static void take_line(void *context, enum failure_part part, const char *line)
{
    char **whole = context;
    const size_t used = *whole == NULL ? 0 : strlen(*whole);
    const size_t size = strlen(line);
    char *more = realloc(*whole, used + size + 2);
    (void)part;
    if (more == NULL) {
        return;
    }
    (void)snprintf(&more[used], size + 2, "%s\n", line);
    *whole = more;
}

static json_t *violation_json(const struct report_sarif *sarif,
                              const struct report_run *run,
                              const struct report_violation *violation,
                              bool *ok)
{
    char fingerprint[FAILURE_FINGERPRINT_SIZE];
    char *lines = NULL;
    const struct object result = result_in(sarif, run, violation->oracles[0], ok);
    failure_lines(violation, &lines, take_line);
    put(result, "level", text("error"));
    put(result, "message", message(lines == NULL ? "" : lines, ok));
    free(lines);
    if (violation->story_count > 0) {
        put(result, "codeFlows", flow_json(run, violation, ok));
    }
    failure_fingerprint(run->scenario, violation, fingerprint);
    put(result, "partialFingerprints", one(FINGERPRINT, text(fingerprint), ok));
    put_novelty(result, violation->novelty);
    put(result, "properties", facts_json(run, violation, ok));
    return result.json;
}

/* Why no oracle is to blame. */
static const char *reason(const struct report_run *run)
{
    return run->refused > 0           ? run->refusal
           : run->limited > 0         ? run->limit
           : run->shortfall_count > 0 ? run->shortfalls[0]
                                      : "no run broke what it expects to be broken";
}

static json_t *
verdict_json(const struct report_sarif *sarif, const struct report_run *run, bool *ok)
{
    char words[512];
    const struct object result = result_in(sarif, run, REPORT_RULE_VERDICT, ok);
    (void)snprintf(words,
                   sizeof words,
                   "%s, expected %s: %.400s",
                   report_verdict_name(run->verdict),
                   report_verdict_name(run->expected),
                   reason(run));
    put(result, "level", text("warning"));
    put(result, "message", message(words, ok));
    put_novelty(result, run->novelty);
    return result.json;
}

/* What was asked for is no result. */
static void append_results(const struct report_sarif *sarif,
                           const struct report_run *run,
                           json_t *list,
                           bool *ok)
{
    if (run->as_expected) {
        return;
    }
    for (size_t i = 0; i < run->violation_count; i++) {
        append(list, violation_json(sarif, run, &run->violations[i], ok), ok);
    }
    if (run->violation_count == 0 || run->verdict == REPORT_INCONCLUSIVE) {
        append(list, verdict_json(sarif, run, ok), ok);
    }
}

bool report_sarif_runs(FILE *file, const struct report_sarif *sarif)
{
    bool ok = true;
    json_t *results = json_array();
    json_t *runs = json_array();
    const struct object run = object_in(&ok);
    const struct object root = object_in(&ok);
    for (size_t i = 0; i < sarif->run_count; i++) {
        append_results(sarif, &sarif->runs[i], results, &ok);
    }
    put(run, "tool", tool_json(sarif, &ok));
    put(run, "automationDetails", one("id", text("sinkproof/run/"), &ok));
    put(run, "columnKind", text("unicodeCodePoints"));
    put(run, "results", results);
    append(runs, run.json, &ok);
    put(root, "$schema", text(SCHEMA_URI));
    put(root, "version", text("2.1.0"));
    put(root, "runs", runs);
    ok = ok && json_dumpf(root.json, file, JSON_INDENT(2)) == 0 && fputc('\n', file) == '\n';
    json_decref(root.json);
    return ok;
}
