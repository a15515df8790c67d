/* JSON files: the fields that DESIGN section 7 fixes, their order and types.
 * link: reports/json reports/escape reports/failure reports/records sinks/base/sha256 sinks/base/bytes
 */
#include "reports/json.h"

#include "sinks/base/test.h"

#include <jansson.h>

#include <stdio.h>
#include <string.h>

static const char *const oracles[] = {"at-least-once", "ownership"};

static const struct report_violation violation = {
    .oracles = oracles,
    .oracle_count = 2,
    .subject = "record 17",
    .seed = 18446744073709551615u,
    .tape = "sinkproof-tape 1\nend 0\n",
    .deviations = 3,
    .message = "a \"quoted\" message",
    .decisive = "it happened",
    .command = "sinkproof replay x",
    .deviations_found = 9,
};

static const struct report_run run = {
    .scenario = "cloudtasks/x",
    .profile = "documented",
    .seeds = "1-2000",
    .runs = 2000,
    .counted = 1999,
    .events = 12345,
    .expected = REPORT_HOLDS,
    .verdict = REPORT_FAILS,
    .violations = &violation,
    .violation_count = 1,
    .digest = 0xabc,
    .elapsed_ms = 7,
    .runs_per_s = 8,
    .events_per_s = 9,
    .expected_oracle = "",
    .shard_index = 1,
    .shard_count = 1,
    .refusal = "",
    .limit = "",
    .crashes = {.name = "crash with restore"},
};

static const struct report_entry entry = {
    .file = "a.tape",
    .scenario = "cloudtasks/x",
    .profile = "documented",
    .oracle = "ownership",
    .subject = "record 3",
    .was = REPORT_FAILS,
    .is = REPORT_HOLDS,
    .state = REPORT_ENTRY_DIFFERS,
    .entries = 4,
    .aligned = 3,
    .digest_was = 1,
    .digest = 2,
    .finding = "",
    .tape = "t",
    .command = "",
};

/* Write by one of the writers and read the file back. */
static json_t *read_back(FILE *file)
{
    json_error_t error;
    rewind(file);
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    (void)fclose(file);
    assert_int_equal(json_integer_value(json_object_get(root, "schema")), 1);
    return root;
}

/* The keys of an object, in order, separated by blanks. */
static void assert_keys(json_t *object, const char *expected)
{
    char keys[400] = {0};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        assert_true(strlen(keys) + strlen(key) + 2 < sizeof keys);
        (void)strcat(keys, keys[0] == '\0' ? "" : " ");
        (void)strcat(keys, key);
        assert_false(json_is_real(value));
    }
    assert_string_equal(keys, expected);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static void an_exploration_has_exactly_its_fields(void **state)
{
    (void)state;
    const struct report_explored explored[] = {
        {.run = run, .deviations = 2, .levels = {1, 3, 5}, .distinct = 8},
        {.run = run, .is_states = true, .distinct = 8, .traces_or_null = "x.traces"},
    };
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_explored(file, explored, ARRAY_COUNT(explored)));
    json_t *root = read_back(file);
    json_t *list = json_object_get(root, "explored");
    json_t *evidence = json_object_get(root, "evidence");
    assert_keys(json_array_get(list, 0),
                "scenario profile deviations crash_points complete runs runs_by_deviations counted "
                "events distinct_traces crash_points_hit crash_points_seen expected verdict "
                "violations digest elapsed_ms runs_per_s");
    json_t *levels = json_object_get(json_array_get(list, 0), "runs_by_deviations");
    assert_int_equal(json_array_size(levels), 3);
    assert_int_equal(json_integer_value(json_array_get(levels, 2)), 5);
    assert_keys(json_array_get(list, 1),
                "scenario complete states transitions violations digest_bits states_published "
                "transitions_published expected verdict elapsed_ms runs_per_s");
    assert_keys(json_array_get(evidence, 1), "shard shards traces");
    json_decref(root);
}

static void a_run_has_exactly_its_fields(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_runs(file, &run, 1));
    json_t *root = read_back(file);
    json_t *object = json_array_get(json_object_get(root, "runs"), 0);
    assert_keys(object,
                "scenario profile seeds runs counted events expected verdict violations digest "
                "elapsed_ms runs_per_s events_per_s");
    assert_string_equal(text_of(object, "digest"), "0x0000000000000abc");
    assert_string_equal(text_of(object, "expected"), "holds");
    assert_string_equal(text_of(object, "verdict"), "fails");
    assert_int_equal(json_integer_value(json_object_get(object, "counted")), 1999);
    json_t *first = json_array_get(json_object_get(object, "violations"), 0);
    assert_keys(first, "oracles subject seed tape deviations message");
    assert_string_equal(text_of(first, "seed"), "18446744073709551615");
    assert_string_equal(text_of(first, "message"), violation.message);
    assert_int_equal(json_array_size(json_object_get(first, "oracles")), 2);
    json_decref(root);
}

static void a_claim_has_exactly_its_fields(void **state)
{
    (void)state;
    const struct report_claim claims[] = {
        {.id = "A-1",
         .sink = "s",
         .condition = "c",
         .property = "p",
         .profile = "observed",
         .expected = REPORT_FAILS,
         .verdict = REPORT_FAILS,
         .adversary = "untested",
         .has_witness = true,
         .witness_tape = "t",
         .witness_deviations = 2,
         .twin = REPORT_HOLDS,
         .witness_message = "m",
         .service = "x",
         .way = REPORT_WAY_WITNESS,
         .why = "",
         .scenario = "x/main",
         .small = "",
         .twin_scenario = "x/twin",
         .breaks = oracles,
         .break_count = 2,
         .crashes = 7,
         .kinds_absent = "clock"},
        {.id = "A-2",
         .sink = "s",
         .condition = "c",
         .property = "p",
         .profile = "observed",
         .expected = REPORT_HOLDS,
         .verdict = REPORT_INCONCLUSIVE,
         .adversary = "holds",
         .service = "x",
         .way = REPORT_WAY_SEEDS,
         .why = "",
         .scenario = "x/main",
         .small = "",
         .twin_scenario = "",
         .kinds_absent = ""},
    };
    const struct report_matrix matrix = {
        .version = "1.2.3", .budget = "b", .command = "c", .claims = claims, .count = 2};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_matrix(file, &matrix));
    json_t *root = read_back(file);
    json_t *first = json_array_get(json_object_get(root, "claims"), 0);
    json_t *second = json_array_get(json_object_get(root, "claims"), 1);
    assert_keys(first,
                "id sink condition property profile expected verdict adversary established "
                "witness digest");
    assert_keys(json_object_get(first, "established"),
                "seeds explored_deviations explored_runs crash_points_hit crash_points_seen "
                "mutants_killed");
    assert_keys(json_object_get(first, "witness"), "tape deviations calm twin message");
    assert_string_equal(text_of(json_object_get(first, "witness"), "calm"), "clean");
    assert_true(json_is_null(json_object_get(second, "witness")));
    json_t *evidence = json_array_get(json_object_get(root, "evidence"), 0);
    assert_keys(
        evidence,
        "id service way as_expected why properties figures scenario small twin twin_verdict breaks "
        "crashes crash_runs adversary_seeds kinds kinds_absent marks mutants_known mutants");
    assert_string_equal(text_of(evidence, "way"), "witness");
    assert_int_equal(json_integer_value(json_object_get(evidence, "crashes")), 7);
    assert_int_equal(json_array_size(json_object_get(evidence, "breaks")), 2);
    json_decref(root);
}

static void a_mutant_and_a_metric_have_exactly_their_fields(void **state)
{
    (void)state;
    const struct report_mutant mutant = {
        .name = "m-x-01",
        .target = "engine",
        .scenario = "s",
        .mechanism = "m",
        .oracle = "at-least-once",
        .killed = true,
        .killed_by = oracles,
        .killed_by_count = 2,
        .runs_to_kill = 12,
        .deviations = 3,
    };
    const struct report_metric metric = {
        .name = "pop_push",
        .value = 17,
        .unit = "events/s",
        .reference = 16,
        .ratio_thousandth = 1062,
    };
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_mutants(file, &mutant, 1));
    json_t *root = read_back(file);
    json_t *object = json_array_get(json_object_get(root, "mutants"), 0);
    assert_keys(object,
                "name target scenario mechanism oracle killed killed_by runs_to_kill deviations");
    assert_true(json_is_true(json_object_get(object, "killed")));
    json_decref(root);

    file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_metrics(file, &metric, 1));
    root = read_back(file);
    object = json_array_get(json_object_get(root, "metrics"), 0);
    assert_keys(object, "name value unit reference ratio");
    assert_string_equal(text_of(object, "ratio"), "1.062");
    json_decref(root);
}

static void an_explanation_has_exactly_its_fields(void **state)
{
    (void)state;
    const struct report_choice choice = {
        .line = "a/writer0#1 = b (1/2)",
        .when = "at 1.000 s",
        .words = "it happened",
        .need = "one of several",
        .tried = 7,
        .all_tried = true,
        .as_well = oracles,
        .as_well_count = 1,
    };
    struct report_explanation explanations[2] = {
        {.scenario = "s",
         .profile = "documented",
         .oracle = "ownership",
         .subject = "record 3",
         .message = "m",
         .tape = "t",
         .minimal = "proven minimal",
         .choices = &choice,
         .choice_count = 1,
         .decided = true,
         .decisive = "d",
         .last_chance = "l",
         .twin = "without choice 1",
         .twin_tape = "t",
         .command = "c"},
    };
    explanations[1] = explanations[0];
    explanations[1].decided = false;
    explanations[1].twin = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_explanations(file, explanations, 2));
    json_t *root = read_back(file);
    json_t *first = json_array_get(json_object_get(root, "explanations"), 0);
    json_t *second = json_array_get(json_object_get(root, "explanations"), 1);
    assert_keys(
        first,
        "scenario profile oracle subject message tape minimal deviations_found choices story "
        "decision twin runs elapsed_ms command");
    assert_keys(json_array_get(json_object_get(first, "choices"), 0),
                "line when words need tried same_draw same_site other_site all_tried as_well");
    assert_keys(json_object_get(first, "decision"),
                "event words last_chance behind_tried behind_unclear behind_all_tried");
    assert_keys(json_object_get(first, "twin"), "words changes tape fails passes");
    assert_true(json_is_null(json_object_get(second, "decision")));
    assert_true(json_is_null(json_object_get(second, "twin")));
    json_decref(root);
}

/* Goal: a kept tape tells its verdicts then and now, and what was tried near it only where that was
 * done. */
static void an_entry_has_exactly_its_fields(void **state)
{
    (void)state;
    struct report_entry entries[] = {entry, entry};
    FILE *file = tmpfile();
    assert_non_null(file);
    entries[1].searched = true;
    entries[1].near_runs = 7;
    assert_true(report_json_entries(file, entries, 2));
    json_t *root = read_back(file);
    json_t *list = json_object_get(root, "entries");
    json_t *first = json_array_get(list, 0);
    assert_keys(first,
                "file scenario profile oracle subject was is state entries aligned drifted "
                "digest_was digest near finding tape");
    assert_string_equal(text_of(first, "was"), "fails");
    assert_string_equal(text_of(first, "is"), "holds");
    assert_string_equal(text_of(first, "state"), "differs");
    assert_string_equal(text_of(first, "digest_was"), "0x0000000000000001");
    assert_string_equal(text_of(first, "digest"), "0x0000000000000002");
    assert_true(json_is_null(json_object_get(first, "near")));
    json_t *near = json_object_get(json_array_get(list, 1), "near");
    assert_keys(near, "found runs steps all_tried");
    assert_int_equal(json_integer_value(json_object_get(near, "runs")), 7);
    json_decref(root);
}

static void text_that_is_not_utf8_does_not_spoil_a_file(void **state)
{
    (void)state;
    struct report_run odd = run;
    odd.scenario = "\xff\xfe";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_json_runs(file, &odd, 1));
    json_decref(read_back(file));
}

static void a_stream_that_takes_nothing_is_told(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/full", "w");
    if (file == NULL) {
        skip();
    }
    (void)setvbuf(file, NULL, _IONBF, 0);
    assert_false(report_json_runs(file, &run, 1));
    (void)fclose(file);
}

TEST_MAIN(json,
          TEST(an_exploration_has_exactly_its_fields),
          TEST(a_run_has_exactly_its_fields),
          TEST(a_claim_has_exactly_its_fields),
          TEST(a_mutant_and_a_metric_have_exactly_their_fields),
          TEST(an_explanation_has_exactly_its_fields),
          TEST(an_entry_has_exactly_its_fields),
          TEST(text_that_is_not_utf8_does_not_spoil_a_file),
          TEST(a_stream_that_takes_nothing_is_told))
