/* SARIF: a whole file of a small literal, and what is a result.
 * link: reports/sarif reports/escape reports/failure reports/records reports/report_testkit
 * link: sinks/base/sha256 sinks/base/bytes
 */
#include "reports/sarif.h"

#include "reports/report_testkit.h"
#include "sinks/base/test.h"

#include <jansson.h>

#include <string.h>

static const struct report_rule rules[] = {
    {"no-silent-loss", "nothing covered is missing"},
    {"crash", "a run ends by itself"},
};

static FILE *written(const struct report_run *runs, size_t count)
{
    const struct report_sarif sarif = {
        .version = "1.2.3",
        .clauses = "0x1",
        .rules = rules,
        .rule_count = 2,
        .runs = runs,
        .run_count = count,
    };
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_sarif_runs(file, &sarif));
    return file;
}

static void a_failing_sweep_is_this_file(void **state)
{
    (void)state;
    struct report_run run = kit_failing();
    run.violation_count = 1;
    kit_assert_golden(written(&run, 1), "failing.sarif");
}

/* The results of one sweep; give the root back. */
static json_t *results_of(const struct report_run *run, json_t **root)
{
    json_error_t error;
    FILE *file = written(run, 1);
    rewind(file);
    *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    (void)fclose(file);
    assert_non_null(*root);
    json_t *results = json_object_get(json_array_get(json_object_get(*root, "runs"), 0), "results");
    assert_true(json_is_array(results));
    return results;
}

static void assert_text(json_t *object, const char *key, const char *expected)
{
    assert_non_null(json_string_value(json_object_get(object, key)));
    assert_string_equal(json_string_value(json_object_get(object, key)), expected);
}

static void what_was_asked_for_is_no_result(void **state)
{
    (void)state;
    json_t *root = NULL;
    struct report_run run = kit_failing();
    run.expected = REPORT_FAILS;
    run.as_expected = true;
    assert_int_equal(json_array_size(results_of(&run, &root)), 0);
    json_decref(root);
}

static void a_result_names_its_rule_and_whether_it_is_new(void **state)
{
    (void)state;
    json_t *root = NULL;
    struct report_violation violations[2] = {kit_violations[0], kit_violations[1]};
    struct report_run run = kit_failing();
    violations[0].novelty = REPORT_NOVELTY_NEW;
    run.violations = violations;
    json_t *results = results_of(&run, &root);
    assert_int_equal(json_array_size(results), 2);
    json_t *first = json_array_get(results, 0);
    json_t *second = json_array_get(results, 1);
    assert_text(first, "ruleId", "no-silent-loss");
    assert_int_equal(json_integer_value(json_object_get(first, "ruleIndex")), 0);
    assert_text(first, "baselineState", "new");
    assert_text(second, "ruleId", "crash");
    assert_int_equal(json_integer_value(json_object_get(second, "ruleIndex")), 1);
    assert_text(second, "baselineState", "unchanged");
    assert_null(json_object_get(second, "codeFlows"));
    json_decref(root);
}

/* Goal: a verdict without a violation is a result, too, of a rule of its own. */
static void an_inconclusive_verdict_is_a_result(void **state)
{
    (void)state;
    json_t *root = NULL;
    const struct report_run run = kit_inconclusive();
    json_t *results = results_of(&run, &root);
    assert_int_equal(json_array_size(results), 1);
    json_t *first = json_array_get(results, 0);
    assert_text(first, "ruleId", "verdict");
    assert_int_equal(json_integer_value(json_object_get(first, "ruleIndex")), 2);
    assert_text(json_object_get(first, "message"),
                "text",
                "inconclusive, expected holds: 12 counted runs of 40, wanted: 20");
    json_decref(root);
}

/* Goal: a path that is not below the current folder is a whole URI, and odd ones are escaped. */
static void a_scenario_lies_at_a_uri(void **state)
{
    (void)state;
    json_t *root = NULL;
    struct report_run run = kit_inconclusive();
    run.file = "/a b/x.json";
    json_t *result = json_array_get(results_of(&run, &root), 0);
    json_t *location = json_array_get(json_object_get(result, "locations"), 0);
    assert_text(json_object_get(json_object_get(location, "physicalLocation"), "artifactLocation"),
                "uri",
                "file:///a%20b/x.json");
    json_decref(root);
}

static void a_stream_that_takes_nothing_is_told(void **state)
{
    (void)state;
    const struct report_run run = kit_failing();
    const struct report_sarif sarif = {.version = "", .clauses = "", .runs = &run, .run_count = 1};
    FILE *file = fopen("/dev/full", "w");
    if (file == NULL) {
        skip();
    }
    (void)setvbuf(file, NULL, _IONBF, 0);
    assert_false(report_sarif_runs(file, &sarif));
    (void)fclose(file);
}

TEST_MAIN(sarif,
          TEST(a_failing_sweep_is_this_file),
          TEST(what_was_asked_for_is_no_result),
          TEST(a_result_names_its_rule_and_whether_it_is_new),
          TEST(an_inconclusive_verdict_is_a_result),
          TEST(a_scenario_lies_at_a_uri),
          TEST(a_stream_that_takes_nothing_is_told))
