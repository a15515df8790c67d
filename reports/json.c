#include "reports/json.h"

#include "reports/escape.h"
#include "reports/failure.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdlib.h>

/* The object being filled; jansson answers NULL when memory is out, and ok remembers. */
struct builder {
    json_t *object;
    bool *ok;
};

static struct builder builder_in(bool *ok)
{
    struct builder builder = {.object = json_object(), .ok = ok};
    *ok = *ok && builder.object != NULL;
    return builder;
}

static void put(const struct builder *builder, const char *key, json_t *value)
{
    *builder->ok = json_object_set_new(builder->object, key, value) == 0 && *builder->ok;
}

/* Bytes that are not UTF-8 (of a name out of a hostile file) are shown. */
static json_t *text_value(const char *text)
{
    char *copy = escape_utf8_copy(text);
    json_t *value = copy == NULL ? NULL : json_string(copy);
    free(copy);
    return value;
}

static void put_text(const struct builder *builder, const char *key, const char *text)
{
    put(builder, key, text_value(text));
}

static void put_count(const struct builder *builder, const char *key, uint64_t value)
{
    put(builder, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static void put_bool(const struct builder *builder, const char *key, bool value)
{
    put(builder, key, json_boolean(value));
}

static void put_seed(const struct builder *builder, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put_text(builder, key, text);
}

static void put_id(const struct builder *builder, const char *key, uint64_t id)
{
    char text[24];
    (void)snprintf(text, sizeof text, "0x%016" PRIx64, id);
    put_text(builder, key, text);
}

static void put_digest(const struct builder *builder, uint64_t digest)
{
    put_id(builder, "digest", digest);
}

static void append(json_t *list, json_t *value, bool *ok)
{
    *ok = json_array_append_new(list, value) == 0 && *ok;
}

static void
put_texts(const struct builder *builder, const char *key, const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, text_value(texts[i]), builder->ok);
    }
    put(builder, key, list);
}

/* Write a whole file and give everything back. */
static bool dump_root(FILE *file, const struct builder *root, bool ok)
{
    ok = ok && json_dumpf(root->object, file, JSON_INDENT(2)) == 0 && fputc('\n', file) == '\n';
    json_decref(root->object);
    return ok;
}

/* Wrap the list as a whole file, write it and give everything back. */
static bool
dump(FILE *file, const char *key, json_t *list, const char *second, json_t *list_or_null, bool ok)
{
    const struct builder root = builder_in(&ok);
    put_count(&root, "schema", 1);
    put(&root, key, list);
    if (list_or_null != NULL) {
        put(&root, second, list_or_null);
    }
    return dump_root(file, &root, ok);
}

static json_t *violation_json(const struct report_violation *violation, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_texts(&builder, "oracles", violation->oracles, violation->oracle_count);
    put_text(&builder, "subject", violation->subject);
    put_seed(&builder, "seed", violation->seed);
    put_text(&builder, "tape", violation->tape);
    put_count(&builder, "deviations", violation->deviations);
    put_text(&builder, "message", violation->message);
    return builder.object;
}

static json_t *violations_json(const struct report_run *run, bool *ok)
{
    json_t *violations = json_array();
    for (size_t i = 0; i < run->violation_count; i++) {
        append(violations, violation_json(&run->violations[i], ok), ok);
    }
    return violations;
}

static json_t *run_json(const struct report_run *run, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "scenario", run->scenario);
    put_text(&builder, "profile", run->profile);
    put_text(&builder, "seeds", run->seeds);
    put_count(&builder, "runs", run->runs);
    put_count(&builder, "counted", run->counted);
    put_count(&builder, "events", run->events);
    put_text(&builder, "expected", report_verdict_name(run->expected));
    put_text(&builder, "verdict", report_verdict_name(run->verdict));
    put(&builder, "violations", violations_json(run, ok));
    put_digest(&builder, run->digest);
    put_count(&builder, "elapsed_ms", run->elapsed_ms);
    put_count(&builder, "runs_per_s", run->runs_per_s);
    put_count(&builder, "events_per_s", run->events_per_s);
    return builder.object;
}

static json_t *count_json(const struct report_count *count, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "name", count->name);
    put_count(&builder, "count", count->count);
    put_count(&builder, "wanted", count->wanted);
    return builder.object;
}

static json_t *counts_json(const struct report_count *counts, size_t count, bool *ok)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, count_json(&counts[i], ok), ok);
    }
    return list;
}

static json_t *reached_json(const struct report_run *run, bool *ok)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->reached_count; i++) {
        const struct builder builder = builder_in(ok);
        put_text(&builder, "name", run->reached[i].name);
        put_count(&builder, "count", run->reached[i].count);
        put_seed(&builder, "first_seed", run->reached[i].first_seed);
        put_bool(&builder, "pair", run->reached[i].is_pair);
        append(list, builder.object, ok);
    }
    return list;
}

static json_t *details_json(const struct report_run *run, bool *ok)
{
    char fingerprint[FAILURE_FINGERPRINT_SIZE];
    json_t *details = json_array();
    for (size_t i = 0; i < run->violation_count; i++) {
        const struct builder builder = builder_in(ok);
        put_count(&builder, "deviations_found", run->violations[i].deviations_found);
        put_text(&builder, "decisive", run->violations[i].decisive);
        put_text(&builder, "command", run->violations[i].command);
        failure_fingerprint(run->scenario, &run->violations[i], fingerprint);
        put_text(&builder, "fingerprint", fingerprint);
        if (run->violations[i].novelty != REPORT_NOVELTY_NONE) {
            put_text(&builder, "novelty", report_novelty_name(run->violations[i].novelty));
        }
        if (run->violations[i].run_or_null != NULL) {
            put_text(&builder, "run", run->violations[i].run_or_null);
        }
        append(details, builder.object, ok);
    }
    return details;
}

/* What merge needs beside the record: enough to judge the union of shards as one sweep. */
static json_t *policy_json(const struct report_policy *policy, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "name", policy->name);
    put_count(&builder, "by_seeds", policy->by_seeds);
    put_count(&builder, "by_pct", policy->by_pct);
    put_count(&builder, "depth", policy->depth);
    put_count(&builder, "steps", policy->steps);
    put_count(&builder, "chains", policy->chains);
    put_seed(&builder, "bound", policy->bound);
    put_count(&builder, "permille", policy->permille);
    return builder.object;
}

static json_t *evidence_json(const struct report_run *run, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_count(&builder, "shard", run->shard_index);
    put_count(&builder, "shards", run->shard_count);
    put_text(&builder, "expected_oracle", run->expected_oracle);
    put_count(&builder, "budget", run->budget);
    put_count(&builder, "violating", run->violating);
    put_count(&builder, "vacuous", run->vacuous);
    put_count(&builder, "refused", run->refused);
    put_count(&builder, "limited", run->limited);
    put_count(&builder, "excused", run->excused);
    put_text(&builder, "refusal", run->refusal);
    put_text(&builder, "limit", run->limit);
    put(&builder, "crashes", count_json(&run->crashes, ok));
    put(&builder, "kinds", counts_json(run->kinds, run->kind_count, ok));
    put(&builder, "marks", counts_json(run->marks, run->mark_count, ok));
    put_count(&builder, "must_after", run->must_after);
    put(&builder, "reached", reached_json(run, ok));
    put_texts(&builder, "never_reached", run->never, run->never_count);
    put_count(&builder, "pairs", run->pair_count);
    put_texts(&builder, "shortfalls", run->shortfalls, run->shortfall_count);
    put(&builder, "policy", run->policy.name == NULL ? json_null() : policy_json(&run->policy, ok));
    put(&builder, "details", details_json(run, ok));
    return builder.object;
}

bool report_json_runs(FILE *file, const struct report_run *runs, size_t count)
{
    bool ok = true;
    json_t *list = json_array();
    json_t *evidence = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, run_json(&runs[i], &ok), &ok);
        append(evidence, evidence_json(&runs[i], &ok), &ok);
    }
    return dump(file, "runs", list, "evidence", evidence, ok);
}

static json_t *levels_json(const struct report_explored *explored, bool *ok)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i <= explored->deviations && i < REPORT_LEVEL_MAX; i++) {
        append(list, json_integer((json_int_t)explored->levels[i]), ok);
    }
    return list;
}

static json_t *states_json(const struct report_explored *explored, bool *ok)
{
    const struct report_run *run = &explored->run;
    const struct builder builder = builder_in(ok);
    put_text(&builder, "scenario", run->scenario);
    put_bool(&builder, "complete", explored->is_complete);
    put_count(&builder, "states", explored->distinct);
    put_count(&builder, "transitions", run->runs);
    put_count(&builder, "violations", run->violating);
    put_count(&builder, "digest_bits", 64);
    put_count(&builder, "states_published", explored->states_known);
    put_count(&builder, "transitions_published", explored->transitions_known);
    put_text(&builder, "expected", report_verdict_name(run->expected));
    put_text(&builder, "verdict", report_verdict_name(run->verdict));
    put_count(&builder, "elapsed_ms", run->elapsed_ms);
    put_count(&builder, "runs_per_s", run->runs_per_s);
    return builder.object;
}

static json_t *explored_json(const struct report_explored *explored, bool *ok)
{
    const struct report_run *run = &explored->run;
    if (explored->is_states) {
        return states_json(explored, ok);
    }
    const struct builder builder = builder_in(ok);
    put_text(&builder, "scenario", run->scenario);
    put_text(&builder, "profile", run->profile);
    put_count(&builder, "deviations", explored->deviations);
    put_bool(&builder, "crash_points", explored->crash_points);
    put_bool(&builder, "complete", explored->is_complete);
    put_count(&builder, "runs", run->runs);
    put(&builder, "runs_by_deviations", levels_json(explored, ok));
    put_count(&builder, "counted", run->counted);
    put_count(&builder, "events", run->events);
    put_count(&builder, "distinct_traces", explored->distinct);
    put_count(&builder, "crash_points_hit", explored->crash_points_hit);
    put_count(&builder, "crash_points_seen", explored->crash_points_seen);
    put_text(&builder, "expected", report_verdict_name(run->expected));
    put_text(&builder, "verdict", report_verdict_name(run->verdict));
    put(&builder, "violations", violations_json(run, ok));
    put_digest(&builder, run->digest);
    put_count(&builder, "elapsed_ms", run->elapsed_ms);
    put_count(&builder, "runs_per_s", run->runs_per_s);
    return builder.object;
}

/* What merge needs beside the record; nothing that depends on where a shard begins. */
static json_t *explored_evidence_json(const struct report_explored *explored, bool *ok)
{
    const struct report_run *run = &explored->run;
    const struct builder builder = builder_in(ok);
    put_count(&builder, "shard", run->shard_index);
    put_count(&builder, "shards", run->shard_count);
    if (!explored->is_states) {
        put_text(&builder, "expected_oracle", run->expected_oracle);
        put_count(&builder, "violating", run->violating);
        put_count(&builder, "vacuous", run->vacuous);
        put_count(&builder, "refused", run->refused);
        put_count(&builder, "limited", run->limited);
        put_count(&builder, "excused", run->excused);
        put_text(&builder, "refusal", run->refusal);
        put(&builder, "kinds", counts_json(run->kinds, run->kind_count, ok));
        put(&builder, "marks", counts_json(run->marks, run->mark_count, ok));
        put(&builder, "details", details_json(run, ok));
    }
    if (explored->traces_or_null != NULL) {
        put_text(&builder, "traces", explored->traces_or_null);
    }
    return builder.object;
}

bool report_json_explored(FILE *file, const struct report_explored *explored, size_t count)
{
    bool ok = true;
    json_t *list = json_array();
    json_t *evidence = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, explored_json(&explored[i], &ok), &ok);
        append(evidence, explored_evidence_json(&explored[i], &ok), &ok);
    }
    return dump(file, "explored", list, "evidence", evidence, ok);
}

static json_t *established_json(const struct report_claim *claim, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_count(&builder, "seeds", claim->seeds);
    put_count(&builder, "explored_deviations", claim->explored_deviations);
    put_count(&builder, "explored_runs", claim->explored_runs);
    put_count(&builder, "crash_points_hit", claim->crash_points_hit);
    put_count(&builder, "crash_points_seen", claim->crash_points_seen);
    put_count(&builder, "mutants_killed", claim->mutants_killed);
    return builder.object;
}

static json_t *witness_json(const struct report_claim *claim, bool *ok)
{
    if (!claim->has_witness) {
        return json_null();
    }
    const struct builder builder = builder_in(ok);
    put_text(&builder, "tape", claim->witness_tape);
    put_count(&builder, "deviations", claim->witness_deviations);
    put_text(&builder, "calm", claim->calm_breaks ? "breaks" : "clean");
    put_text(&builder, "twin", report_verdict_name(claim->twin));
    put_text(&builder, "message", claim->witness_message);
    return builder.object;
}

static json_t *claim_json(const struct report_claim *claim, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "id", claim->id);
    put_text(&builder, "sink", claim->sink);
    put_text(&builder, "condition", claim->condition);
    put_text(&builder, "property", claim->property);
    put_text(&builder, "profile", claim->profile);
    put_text(&builder, "expected", report_verdict_name(claim->expected));
    put_text(&builder, "verdict", report_verdict_name(claim->verdict));
    put_text(&builder, "adversary", claim->adversary);
    put(&builder, "established", established_json(claim, ok));
    put(&builder, "witness", witness_json(claim, ok));
    put_digest(&builder, claim->digest);
    return builder.object;
}

static json_t *claims_json(const struct report_claim *claims, size_t count, bool *ok)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, claim_json(&claims[i], ok), ok);
    }
    return list;
}

/* What the claim's fixed fields do not tell of how it was established. */
static json_t *claim_evidence_json(const struct report_claim *claim, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "id", claim->id);
    put_text(&builder, "service", claim->service);
    put_text(&builder, "way", report_way_name(claim->way));
    put_bool(&builder, "as_expected", claim->as_expected);
    put_text(&builder, "why", claim->why);
    put_texts(&builder, "properties", claim->properties, claim->property_count);
    put_text(&builder, "figures", claim->figures_or_null != NULL ? claim->figures_or_null : "");
    put_text(&builder, "scenario", claim->scenario);
    put_text(&builder, "small", claim->small);
    put_text(&builder, "twin", claim->twin_scenario);
    put_text(&builder, "twin_verdict", report_verdict_name(claim->twin));
    put_texts(&builder, "breaks", claim->breaks, claim->break_count);
    put_count(&builder, "crashes", claim->crashes);
    put_count(&builder, "crash_runs", claim->crash_runs.count);
    put_count(&builder, "adversary_seeds", claim->adversary_seeds);
    put(&builder, "kinds", counts_json(claim->kinds, claim->kind_count, ok));
    put_text(&builder, "kinds_absent", claim->kinds_absent);
    put(&builder, "marks", counts_json(claim->marks, claim->mark_count, ok));
    if (claim->figure_count > 0) {
        put_texts(&builder, "measured", claim->figures, claim->figure_count);
    }
    put_bool(&builder, "mutants_known", claim->mutants_known);
    put_texts(&builder, "mutants", claim->mutants, claim->mutants_killed);
    return builder.object;
}

bool report_json_matrix(FILE *file, const struct report_matrix *matrix)
{
    bool ok = true;
    json_t *evidence = json_array();
    for (size_t i = 0; i < matrix->count; i++) {
        append(evidence, claim_evidence_json(&matrix->claims[i], &ok), &ok);
    }
    const struct builder made = builder_in(&ok);
    put_text(&made, "version", matrix->version);
    put_id(&made, "clauses", matrix->clauses);
    put_text(&made, "budget", matrix->budget);
    put_text(&made, "command", matrix->command);
    const struct builder root = builder_in(&ok);
    put_count(&root, "schema", 1);
    put(&root, "claims", claims_json(matrix->claims, matrix->count, &ok));
    put(&root, "evidence", evidence);
    put(&root, "made", made.object);
    return dump_root(file, &root, ok);
}

static json_t *mutant_json(const struct report_mutant *mutant, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "name", mutant->name);
    put_text(&builder, "target", mutant->target);
    put_text(&builder, "scenario", mutant->scenario);
    put_text(&builder, "mechanism", mutant->mechanism);
    put_text(&builder, "oracle", mutant->oracle);
    put_bool(&builder, "killed", mutant->killed);
    put_texts(&builder, "killed_by", mutant->killed_by, mutant->killed_by_count);
    put_count(&builder, "runs_to_kill", mutant->runs_to_kill);
    put_count(&builder, "deviations", mutant->deviations);
    return builder.object;
}

bool report_json_mutants(FILE *file, const struct report_mutant *mutants, size_t count)
{
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, mutant_json(&mutants[i], &ok), &ok);
    }
    return dump(file, "mutants", list, NULL, NULL, ok);
}

static json_t *near_json(const struct report_entry *entry, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_bool(&builder, "found", entry->near_found);
    put_count(&builder, "runs", entry->near_runs);
    put_count(&builder, "steps", entry->near_steps);
    put_bool(&builder, "all_tried", entry->near_all_tried);
    return builder.object;
}

static json_t *entry_json(const struct report_entry *entry, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "file", entry->file);
    put_text(&builder, "scenario", entry->scenario);
    put_text(&builder, "profile", entry->profile);
    put_text(&builder, "oracle", entry->oracle);
    put_text(&builder, "subject", entry->subject);
    put_text(&builder, "was", report_verdict_name(entry->was));
    put_text(&builder, "is", report_verdict_name(entry->is));
    put_text(&builder, "state", report_entry_state_name(entry->state));
    put_count(&builder, "entries", entry->entries);
    put_count(&builder, "aligned", entry->aligned);
    put_count(&builder, "drifted", entry->drifted);
    put_id(&builder, "digest_was", entry->digest_was);
    put_digest(&builder, entry->digest);
    put(&builder, "near", entry->searched ? near_json(entry, ok) : json_null());
    put_text(&builder, "finding", entry->finding);
    put_text(&builder, "tape", entry->tape);
    return builder.object;
}

bool report_json_entries(FILE *file, const struct report_entry *entries, size_t count)
{
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, entry_json(&entries[i], &ok), &ok);
    }
    return dump(file, "entries", list, NULL, NULL, ok);
}

static json_t *choice_json(const struct report_choice *choice, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "line", choice->line);
    put_text(&builder, "when", choice->when);
    put_text(&builder, "words", choice->words);
    put_text(&builder, "need", choice->need);
    put_count(&builder, "tried", choice->tried);
    put_count(&builder, "same_draw", choice->same_draw);
    put_count(&builder, "same_site", choice->same_site);
    put_count(&builder, "other_site", choice->other_site);
    put_bool(&builder, "all_tried", choice->all_tried);
    put_texts(&builder, "as_well", choice->as_well, choice->as_well_count);
    return builder.object;
}

static json_t *decision_json(const struct report_explanation *explanation, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_count(&builder, "event", explanation->decisive_event);
    put_text(&builder, "words", explanation->decisive);
    put_text(&builder, "last_chance", explanation->last_chance);
    put_count(&builder, "behind_tried", explanation->behind_tried);
    put_count(&builder, "behind_unclear", explanation->behind_unclear);
    put_bool(&builder, "behind_all_tried", explanation->behind_all_tried);
    return builder.object;
}

static json_t *twin_json(const struct report_explanation *explanation, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "words", explanation->twin);
    put_count(&builder, "changes", explanation->twin_changes);
    put_text(&builder, "tape", explanation->twin_tape);
    put_texts(&builder, "fails", explanation->fails, explanation->fails_count);
    put_texts(&builder, "passes", explanation->passes, explanation->passes_count);
    return builder.object;
}

static json_t *explanation_json(const struct report_explanation *explanation, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "scenario", explanation->scenario);
    put_text(&builder, "profile", explanation->profile);
    put_text(&builder, "oracle", explanation->oracle);
    put_text(&builder, "subject", explanation->subject);
    put_text(&builder, "message", explanation->message);
    put_text(&builder, "tape", explanation->tape);
    put_text(&builder, "minimal", explanation->minimal);
    put_count(&builder, "deviations_found", explanation->found);
    json_t *choices = json_array();
    for (size_t i = 0; i < explanation->choice_count; i++) {
        append(choices, choice_json(&explanation->choices[i], ok), ok);
    }
    put(&builder, "choices", choices);
    put_texts(&builder, "story", explanation->story, explanation->story_count);
    put(&builder, "decision", explanation->decided ? decision_json(explanation, ok) : json_null());
    put(&builder, "twin", explanation->twin[0] != '\0' ? twin_json(explanation, ok) : json_null());
    put_count(&builder, "runs", explanation->runs);
    put_count(&builder, "elapsed_ms", explanation->elapsed_ms);
    put_text(&builder, "command", explanation->command);
    return builder.object;
}

bool report_json_explanations(FILE *file, const struct report_explanation *list, size_t count)
{
    bool ok = true;
    json_t *explanations = json_array();
    for (size_t i = 0; i < count; i++) {
        append(explanations, explanation_json(&list[i], &ok), &ok);
    }
    return dump(file, "explanations", explanations, NULL, NULL, ok);
}

static json_t *metric_json(const struct report_metric *metric, bool *ok)
{
    char ratio[32];
    const struct builder builder = builder_in(ok);
    put_text(&builder, "name", metric->name);
    put_count(&builder, "value", metric->value);
    put_text(&builder, "unit", metric->unit);
    put_count(&builder, "reference", metric->reference);
    (void)snprintf(ratio,
                   sizeof ratio,
                   "%" PRIu64 ".%03" PRIu64,
                   metric->ratio_thousandth / 1000,
                   metric->ratio_thousandth % 1000);
    put_text(&builder, "ratio", ratio);
    return builder.object;
}

bool report_json_metrics(FILE *file, const struct report_metric *metrics, size_t count)
{
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        append(list, metric_json(&metrics[i], &ok), &ok);
    }
    return dump(file, "metrics", list, NULL, NULL, ok);
}

static json_t *surveyed_json(const struct report_surveyed *surveyed, bool *ok)
{
    const struct builder builder = builder_in(ok);
    put_text(&builder, "name", surveyed->name);
    put_text(&builder, "sentence", surveyed->sentence);
    put_count(&builder, "runs", surveyed->runs);
    put_bool(&builder, "wanted", surveyed->wanted);
    put_bool(&builder, "pair", surveyed->is_pair);
    put_text(&builder,
             "unit_test",
             surveyed->unit_test_or_null == NULL ? "" : surveyed->unit_test_or_null);
    return builder.object;
}

bool report_json_survey(FILE *file, const struct report_survey *survey)
{
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < survey->count; i++) {
        append(list, surveyed_json(&survey->records[i], &ok), &ok);
    }
    return dump(file, "marks", list, NULL, NULL, ok);
}
