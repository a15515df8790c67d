#include "scenarios/gate/cases.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"
#include "scenarios/gate/figures.h"
#include "scenarios/gate/simulate.h"
#include "scenarios/gate/strict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CASE_KEYS                                                                                  \
    "id title note repetitions_least latency_exempt keys stage_1 arms failed simulated expected"
#define ARM_KEYS                                                                                   \
    "throughput p95_ms repetitions warmed_up read_back errors doubled pacing_waits standing shape"
#define EXPECTED_KEYS                                                                              \
    "verdict rule side as_written by_ratios throughput_ratio p95_ratio variation "                 \
    "throughput_ratio_least throughput_ratio_most"

#define PART_MAX 8u

static const char *const file_names[] = {"published", "boundaries", "simulated"};

/* --- optional values --------------------------------------------------------------------------- */

static bool optional_bool(struct json_input *input, json_t *object, const char *key, bool fallback)
{
    return json_object_get(object, key) == NULL ? fallback : json_input_bool(input, object, key);
}

static uint64_t
optional_number(struct json_input *input, json_t *object, const char *key, uint64_t fallback)
{
    return json_object_get(object, key) == NULL ? fallback : json_input_number(input, object, key);
}

static const char *optional_text(struct json_input *input, json_t *object, const char *key)
{
    return json_object_get(object, key) == NULL ? "" : json_input_text(input, object, key);
}

/* --- arms -------------------------------------------------------------------------------------- */

static uint8_t standing_of(struct json_input *input, json_t *arm)
{
    const char *name = optional_text(input, arm, "standing");
    for (uint32_t i = 0; i < DECISION_STANDING_COUNT; i++) {
        if (strcmp(name, decision_standing_name(i)) == 0) {
            return (uint8_t)i;
        }
    }
    if (name[0] != '\0') {
        json_input_complain(input, "standing", "OBSERVED, CENSORED, FAILED, INVALID, UNMEASURED");
    }
    return DECISION_OBSERVED;
}

static struct decision_shape shape_of(struct json_input *input, json_t *arm)
{
    json_t *shape = json_object_get(arm, "shape");
    if (shape == NULL) {
        return (struct decision_shape){0};
    }
    strict_keys(
        input, shape, "shape", "payload_bytes key_skew parallelism in_flight capacity interval_s");
    return (struct decision_shape){
        .payload_bytes = (uint32_t)optional_number(input, shape, "payload_bytes", 0),
        .key_skew = (uint32_t)optional_number(input, shape, "key_skew", 0),
        .parallelism = (uint32_t)optional_number(input, shape, "parallelism", 0),
        .concurrency = (uint32_t)optional_number(input, shape, "in_flight", 0),
        .capacity = optional_number(input, shape, "capacity", 0),
        .checkpoint_interval = SECONDS(optional_number(input, shape, "interval_s", 0)),
    };
}

/* Figures of an arm; how exactly each was printed goes to the other side. */
static void read_figures(struct json_input *input,
                         json_t *arm,
                         struct decision_arm *out,
                         struct figures_arm *printed)
{
    size_t count = 0;
    size_t latency_count = 0;
    const char *const *throughputs = json_input_texts(input, arm, "throughput", &count);
    const char *const *latencies = json_input_texts(input, arm, "p95_ms", &latency_count);
    if (count == 0 || count > DECISION_RUN_MAX || (latency_count != 0 && latency_count != count)) {
        json_input_complain(
            input, "throughput", "1 to 32 figures, and as many of p95_ms, or none of these");
        return;
    }
    out->run_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct figure throughput = {0};
        struct figure latency = {0};
        if (!figure_parse(throughputs[i], FIGURE_MILLI, &throughput) ||
            (latency_count > 0 && !figure_parse(latencies[i], FIGURE_NANOS, &latency))) {
            json_input_complain(input, "throughput", "decimal texts as they were printed");
        }
        out->runs[i] = (struct decision_run){.throughput = throughput.value,
                                             .latency = latency.value,
                                             .standing = standing_of(input, arm)};
        printed->throughput_unit = throughput.unit;
        printed->latency_unit = latency.unit;
    }
}

static void read_arm(struct json_input *input,
                     json_t *arm,
                     struct decision_arm *out,
                     struct figures_arm *printed)
{
    strict_keys(input, arm, "arms", ARM_KEYS);
    read_figures(input, arm, out, printed);
    out->given = true;
    out->shape = shape_of(input, arm);
    out->repetitions = (uint32_t)optional_number(input, arm, "repetitions", out->run_count);
    out->warmed_up = optional_bool(input, arm, "warmed_up", true);
    out->read_back = optional_bool(input, arm, "read_back", true);
    out->errors = (uint32_t)optional_number(input, arm, "errors", 0);
    out->doubled_effects = optional_number(input, arm, "doubled", 0);
    out->pacing_waits = optional_number(input, arm, "pacing_waits", 0);
}

static void read_keys(struct json_input *input, json_t *item, struct decision_input *decided)
{
    uint64_t buckets[2] = {0};
    if (json_object_get(item, "keys") == NULL) {
        return;
    }
    if (strict_numbers(input, item, "keys", 0, UINT32_MAX, buckets, 2) != 2) {
        json_input_complain(input, "keys", "records in the fullest bucket and in the emptiest");
    }
    decided->keys_counted = true;
    decided->keys_most = buckets[0];
    decided->keys_least = buckets[1];
}

static uint8_t read_verdict(struct json_input *input, json_t *object, const char *key)
{
    const char *name = optional_text(input, object, key);
    for (uint32_t i = 0; i < DECISION_VERDICT_COUNT; i++) {
        if (strcmp(decision_verdict_name(i), name) == 0) {
            return (uint8_t)i;
        }
    }
    if (name[0] != '\0') {
        json_input_complain(input, key, "a verdict as docs/gate.md lists them");
    }
    return DECISION_VERDICT_COUNT;
}

static void read_input(struct json_input *input,
                       json_t *item,
                       struct decision_input *decided,
                       struct figures *figures)
{
    json_t *arms = json_input_object(input, item, "arms");
    strict_keys(input, arms, "arms", "baseline candidate replay control");
    *decided = (struct decision_input){
        .repetitions_least = (uint32_t)optional_number(input, item, "repetitions_least", 3),
        .latency_exempt = optional_bool(input, item, "latency_exempt", false),
        .needs_stage_1 = json_object_get(item, "stage_1") != NULL,
        .stage_1 = read_verdict(input, item, "stage_1"),
    };
    read_keys(input, item, decided);
    for (uint32_t i = 0; i < DECISION_SIDE_COUNT; i++) {
        json_t *arm = json_object_get(arms, decision_side_name(i));
        if (arm != NULL) {
            read_arm(input, arm, &decided->arms[i], &figures->arms[i]);
        }
    }
}

/* --- comparing --------------------------------------------------------------------------------- */

struct comparison {
    struct json_input *input;
    json_t *expected;
    const struct decision *decision;
    const struct figures *figures;
    bool is_good;
    const char *words; /* what was compared */
};

static void PRINTF_LIKE(2, 3) say(struct comparison *comparison, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    comparison->words = text_format(comparison->input->texts,
                                    "%s%s%s",
                                    comparison->words,
                                    comparison->words[0] == '\0' ? "" : "; ",
                                    text);
}

/* A published ratio, to the digit that it was printed with; figures that were rounded before may move
 * that digit, and then the true one must be possible. */
static void compare_ratio(struct comparison *comparison,
                          const char *name,
                          const char *published,
                          struct decision_ratio ratio,
                          struct figures_range range)
{
    char computed[32];
    if (published[0] == '\0') {
        return;
    }
    const enum figures_match match = figures_compare(published, ratio, range, computed);
    comparison->is_good = comparison->is_good && match != FIGURES_DIFFER;
    if (match == FIGURES_EQUAL) {
        say(comparison, "%s %s", name, published);
    } else if (match == FIGURES_WITHIN_ROUNDING) {
        say(comparison,
            "%s %s, published %s: within the rounding of the printed figures",
            name,
            computed,
            published);
    } else {
        say(comparison, "%s %s, published %s: NOT THE SAME", name, computed, published);
    }
}

static void compare_name(struct comparison *comparison, const char *key, const char *found)
{
    const char *wanted = optional_text(comparison->input, comparison->expected, key);
    if (wanted[0] != '\0' && strcmp(wanted, found) != 0) {
        comparison->is_good = false;
        say(comparison, "%s is %s, wanted: %s", key, found, wanted);
    }
}

/* What the thresholds alone say, where that is told. */
static void
compare_aside(struct comparison *comparison, const char *key, const char *words, const char *found)
{
    compare_name(comparison, key, found);
    if (optional_text(comparison->input, comparison->expected, key)[0] != '\0') {
        say(comparison, "%s %s", words, found);
    }
}

static void compare_variations(struct comparison *comparison)
{
    json_t *variation = json_object_get(comparison->expected, "variation");
    if (variation == NULL) {
        return;
    }
    strict_keys(comparison->input, variation, "variation", "baseline candidate replay");
    for (uint32_t i = 0; i < DECISION_SIDE_COUNT; i++) {
        const struct decision_ratio ratio = comparison->decision->variation[i];
        const struct decision_ratio percent = {ratio.numerator * 100, ratio.denominator};
        compare_ratio(
            comparison,
            text_format(comparison->input->texts, "%s varies by %%", decision_side_name(i)),
            optional_text(comparison->input, variation, decision_side_name(i)),
            percent,
            figures_variation_range(comparison->figures, (enum decision_side)i));
    }
}

static void compare(struct comparison *comparison)
{
    struct json_input *input = comparison->input;
    json_t *expected = comparison->expected;
    const struct decision *decision = comparison->decision;
    strict_keys(input, expected, "expected", EXPECTED_KEYS);
    compare_ratio(comparison,
                  "throughput ratio",
                  optional_text(input, expected, "throughput_ratio"),
                  decision->throughput,
                  figures_throughput_range(comparison->figures));
    compare_ratio(comparison,
                  "p95 ratio",
                  optional_text(input, expected, "p95_ratio"),
                  decision->latency,
                  figures_latency_range(comparison->figures));
    compare_variations(comparison);
    compare_name(comparison, "verdict", decision_verdict_name(decision->verdict));
    compare_name(comparison, "rule", decision_rule_name(decision->rule));
    compare_name(comparison, "side", decision_side_name(decision->side));
    compare_aside(comparison,
                  "as_written",
                  "without the exemption",
                  decision_verdict_name(decision->as_written));
    compare_aside(
        comparison, "by_ratios", "ratios alone", decision_verdict_name(decision->by_ratios));
}

/* Runs that failed, by cause: the parts make up the whole (F11). */
static void compare_failed(struct comparison *comparison, json_t *item)
{
    struct json_input *input = comparison->input;
    json_t *failed = json_object_get(item, "failed");
    if (failed == NULL) {
        return;
    }
    strict_keys(input, failed, "failed", "runs observed causes");
    uint64_t sum = json_input_number(input, failed, "observed");
    const uint64_t runs = json_input_number(input, failed, "runs");
    json_t *causes = json_input_object(input, failed, "causes");
    const char *cause = NULL;
    json_t *parts = NULL;
    json_object_foreach(causes, cause, parts)
    {
        uint64_t numbers[PART_MAX] = {0};
        uint64_t total = 0;
        const uint32_t count = strict_numbers(input, causes, cause, 0, 1000000, numbers, PART_MAX);
        for (uint32_t i = 0; i < count; i++) {
            total += numbers[i];
        }
        sum += total;
        say(comparison, "%" PRIu64 " %s", total, cause);
    }
    say(comparison, "of %" PRIu64 " runs", runs);
    comparison->is_good = comparison->is_good && sum == runs;
}

/* --- a case ------------------------------------------------------------------------------------ */

static void judge_figures(struct json_input *input, json_t *item, struct report_gate_case *record)
{
    struct decision_input decided;
    struct decision decision;
    struct figures figures = {0};
    read_input(input, item, &decided, &figures);
    if (input->failed) {
        return;
    }
    decision_make(&decided, &decision);
    figures.input = &decided;
    struct comparison comparison = {
        .input = input,
        .expected = json_input_object(input, item, "expected"),
        .decision = &decision,
        .figures = &figures,
        .is_good = true,
        .words = "",
    };
    compare(&comparison);
    compare_failed(&comparison, item);
    record->verdict = decision_verdict_name(decision.verdict);
    record->rule = decision_rule_name(decision.rule);
    record->clause = decision_rule_clause(decision.rule);
    record->figures = comparison.words;
    record->as_published = comparison.is_good && !input->failed;
}

static uint64_t
milli_of(struct json_input *input, json_t *object, const char *key, uint64_t fallback)
{
    struct figure figure = {0};
    const char *text = optional_text(input, object, key);
    if (text[0] == '\0') {
        return fallback;
    }
    if (!figure_parse(text, FIGURE_MILLI, &figure)) {
        json_input_complain(input, key, "a decimal text");
    }
    return figure.value;
}

static enum status judge_simulated(struct json_input *input,
                                   json_t *item,
                                   uint32_t jobs,
                                   struct report_gate_case *record)
{
    json_t *wanted = json_input_object(input, item, "simulated");
    json_t *expected = json_input_object(input, item, "expected");
    strict_keys(input,
                wanted,
                "simulated",
                "candidate payload_bytes keys parallelism in_flight interval_s grid_cells");
    strict_keys(input, expected, "expected", EXPECTED_KEYS);
    const struct simulate_request request = {
        .candidate = json_input_text(input, wanted, "candidate"),
        .payload_bytes = (uint32_t)strict_number(input, wanted, "payload_bytes", 16, 2000000),
        .is_hot = strcmp(json_input_text(input, wanted, "keys"), "hot") == 0,
        .parallelism = (uint32_t)strict_number(input, wanted, "parallelism", 1, 16),
        .concurrency = (uint32_t)strict_number(input, wanted, "in_flight", 1, 1000),
        .interval_s = strict_number(input, wanted, "interval_s", 1, 3600),
        .grid_cells = (uint32_t)optional_number(input, wanted, "grid_cells", 0),
        .verdict = optional_text(input, expected, "verdict"),
        .rule = optional_text(input, expected, "rule"),
        .as_written = optional_text(input, expected, "as_written"),
        .ratio_least = milli_of(input, expected, "throughput_ratio_least", 0),
        .ratio_most = milli_of(input, expected, "throughput_ratio_most", UINT64_MAX),
    };
    return input->failed ? STATUS_USAGE : simulate_cell(input->texts, &request, jobs, record);
}

static enum status
judge_case(struct json_input *input, json_t *item, uint32_t jobs, struct report_gate_case *record)
{
    enum status status = STATUS_OK;
    strict_keys(input, item, "cases", CASE_KEYS);
    *record = (struct report_gate_case){
        .name = json_input_text(input, item, "id"),
        .title = json_input_text(input, item, "title"),
        .note = optional_text(input, item, "note"),
        .verdict = "",
        .rule = "",
        .clause = "",
        .figures = "",
    };
    if (json_object_get(item, "simulated") != NULL) {
        status = judge_simulated(input, item, jobs, record);
    } else {
        judge_figures(input, item, record);
    }
    return input->failed ? STATUS_USAGE : status;
}

/* --- files ------------------------------------------------------------------------------------- */

static enum status open_cases(struct json_input *input, struct text_pool *texts, const char *path)
{
    const enum status status = json_input_open(input, texts, path);
    if (status != STATUS_OK) {
        return status;
    }
    strict_keys(input, input->root, "", "schema cases");
    (void)json_input_list(input, input->root, "cases");
    return input->failed ? STATUS_USAGE : STATUS_OK;
}

static const char *case_file(struct text_pool *texts, const char *name)
{
    const char *root = scenarios_folder(texts);
    return text_format(texts, "%s/gate/%s.json", root == NULL ? "scenarios" : root, name);
}

enum status cases_judge_file(struct text_pool *texts,
                             const char *path,
                             uint32_t jobs,
                             struct report_gate_case **records,
                             size_t *count)
{
    struct json_input input;
    enum status status = open_cases(&input, texts, path);
    *count = 0;
    if (status == STATUS_OK) {
        json_t *list = json_object_get(input.root, "cases");
        *count = json_array_size(list);
        *records = text_memory(texts, *count + 1, sizeof **records);
        for (size_t i = 0; i < *count && status == STATUS_OK; i++) {
            status = judge_case(&input, json_array_get(list, i), jobs, &(*records)[i]);
        }
    }
    json_input_close(&input);
    return status;
}

enum status cases_published(struct text_pool *texts, struct report_gate *report)
{
    struct report_gate_case *records = NULL;
    const enum status status =
        cases_judge_file(texts, case_file(texts, file_names[0]), 1, &records, &report->case_count);
    report->cases = records;
    return status;
}

static json_t *find_case(const struct json_input *input, const char *id)
{
    json_t *list = json_object_get(input->root, "cases");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, "id"));
        if (name != NULL && strcmp(name, id) == 0) {
            return item;
        }
    }
    return NULL;
}

enum status
cases_judge(struct text_pool *texts, const char *id, uint32_t jobs, struct report_gate_case *record)
{
    for (size_t i = 0; i < ARRAY_COUNT(file_names); i++) {
        struct json_input input;
        enum status status = open_cases(&input, texts, case_file(texts, file_names[i]));
        json_t *item = status == STATUS_OK ? find_case(&input, id) : NULL;
        if (item != NULL) {
            status = judge_case(&input, item, jobs, record);
        }
        json_input_close(&input);
        if (item != NULL || status != STATUS_OK) {
            return status;
        }
    }
    complain("gate: case \"%s\": no such case; allowed: those of scenarios/gate/published.json and "
             "boundaries.json, simulated.json",
             id);
    return STATUS_USAGE;
}
