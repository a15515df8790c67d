/* The gate's report: what a person reads, and what a program does.
 *
 * link: reports/gate reports/gate_json
 */
#include "reports/gate.h"

#include "sinks/base/test.h"

#include <jansson.h>

#include <string.h>

static const struct report_gate_run runs[] = {
    {.seed = 7,
     .standing = "OBSERVED",
     .cause = "",
     .throughput = 24390,
     .p50 = 500000000,
     .p95 = 1034250000,
     .p99 = 1040000000,
     .wait_p95 = 1002500000,
     .drain_p95 = 482449999,
     .digest = 0xabc},
    {.seed = 8, .standing = "FAILED", .cause = "capacity"},
};

static struct report_gate_arm arm_of(const char *side, const char *name)
{
    return (struct report_gate_arm){.side = side,
                                    .name = name,
                                    .runs = runs,
                                    .run_count = 1,
                                    .throughput = 24390,
                                    .p95 = 1034250000,
                                    .wait_p95 = 1002500000,
                                    .drain_p95 = 482449999,
                                    .variation = 12,
                                    .again = 79};
}

static struct report_gate_cell cell_of(const char *verdict, const char *rule)
{
    return (struct report_gate_cell){
        .shape = "1024 B, even keys, 1 x 4, 10 s",
        .payload_bytes = 1024,
        .keys = "even",
        .parallelism = 1,
        .concurrency = 4,
        .interval_s = 10,
        .offered = 26164,
        .arms = {arm_of("baseline", "now"), arm_of("candidate", "new"), arm_of("replay", "new")},
        .arm_count = 3,
        .verdict = verdict,
        .rule = rule,
        .clause = "13.2",
        .reason = "why",
        .as_written = "DECLINE",
        .throughput_ratio = 998,
        .latency_ratio = 3969,
        .has_ratios = true,
        .as_expected = true,
        .varied = "the same",
    };
}

/* One candidate with a cell that has a verdict, one that has none and one that was not measured. */
struct sheet {
    uint64_t values[1];
    struct report_cost cost;
    struct report_gate_cell cells[3];
    struct report_gate_candidate candidate;
    struct report_gate_case published;
    struct report_gate gate;
};

static void fill(struct sheet *sheet)
{
    *sheet = (struct sheet){.values = {2050000}};
    sheet->cost = (struct report_cost){"leg_ns", sheet->values, 1, "MEASURED", "a probe"};
    sheet->cells[0] = cell_of("GENERAL", "throughput gate");
    sheet->cells[0].at_ceiling = true;
    sheet->cells[1] = cell_of("no verdict", "not observed");
    sheet->cells[1].has_ratios = false;
    sheet->cells[1].reason = "candidate, seed 8: FAILED: capacity";
    sheet->cells[1].arms[1].runs = &runs[1];
    sheet->cells[2] = cell_of("no verdict", "UNMEASURED");
    sheet->cells[2].arm_count = 0;
    sheet->cells[2].has_ratios = false;
    sheet->candidate = (struct report_gate_candidate){.name = "new/now",
                                                      .candidate = "new",
                                                      .baseline = "now",
                                                      .exempt = "by design",
                                                      .refused = "",
                                                      .cells = sheet->cells,
                                                      .cell_count = 3,
                                                      .grid_count = 108};
    sheet->published = (struct report_gate_case){
        "F0", "a set", "DECLINE", "p95", "13.2", "p95 ratio 5", "", false};
    sheet->gate = (struct report_gate){.version = "0",
                                       .costs_name = "toy",
                                       .costs_title = "nothing real",
                                       .costs_digest = 0x12,
                                       .costs = &sheet->cost,
                                       .cost_count = 1,
                                       .load = "half",
                                       .repetitions = "seeds 7 to 7",
                                       .keys = "even",
                                       .candidates = &sheet->candidate,
                                       .candidate_count = 1,
                                       .cases = &sheet->published,
                                       .case_count = 1,
                                       .digest = 0x34,
                                       .runs = 5};
}

/* What a report writes, in memory of the test's. */
static char text[1 << 16];

static const char *text_report(const struct report_gate *gate)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    report_gate_text(file, gate);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

/* Goal: verdict, deciding rule, ratios and their parts stand on the line of a cell; a cell without a verdict
 * says why; every number of the model is named with its kind and source. */
static void a_person_reads_verdict_rule_ratios_and_assumptions(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "costs \"toy\": nothing real (digest 0x0000000000000012)\n",
        "  leg_ns                 2050000\n      MEASURED: a probe\n",
        "candidate new against its current path now\n",
        "\"as written\": by design\n",
        "    1024 even  1 x 4    10   26.164^     24.390   1.2 %     24.390   1.2 %  0.998   "
        "1034.3   "
        "1034.3    39.69   1002.5    482.4     79  0  GENERAL (throughput gate)\n",
        "no verdict (not observed): candidate, seed 8: FAILED: capacity\n",
        "    1024 even  1 x 4    10  UNMEASURED: why\n",
        "  3 of the 108 cells of the grid were asked for: 1 GENERAL, 1 no verdict, 1 UNMEASURED\n",
        "without the exemption, 1 of them would be another verdict (DECLINE)\n",
        "    candidate new            24.390/1034.3\n",
        "  F0     DECLINE      a set; rule \"p95\" (13.2): NOT AS PUBLISHED\n",
        "\n         p95 ratio 5\n",
        "\n5 runs, digest 0x0000000000000034\n",
    };
    struct sheet sheet;
    fill(&sheet);
    const char *said = text_report(&sheet.gate);
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        if (strstr(said, lines[i]) == NULL) {
            fail_msg("no \"%s\" in:\n%s", lines[i], said);
        }
    }
}

static void a_refused_connector_has_no_cells(void **state)
{
    (void)state;
    struct sheet sheet;
    fill(&sheet);
    sheet.candidate.refused = "stage 1 says DECLINE";
    const char *said = text_report(&sheet.gate);
    assert_non_null(strstr(said, "stage 2, the connector: REFUSED: stage 1 says DECLINE\n"));
    assert_null(strstr(said, "GENERAL"));
}

static void published_sets_alone_have_no_head(void **state)
{
    (void)state;
    struct sheet sheet;
    fill(&sheet);
    sheet.gate.candidate_count = 0;
    const char *said = text_report(&sheet.gate);
    assert_null(strstr(said, "MODEL"));
    assert_non_null(strstr(said, "F0"));
}

static uint64_t number_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    assert_non_null(value);
    return value;
}

/* Goal: a program finds every figure under its own name, raw repetitions included. */
static void a_program_reads_every_figure(void **state)
{
    (void)state;
    struct sheet sheet;
    fill(&sheet);
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(report_gate_json(file, &sheet.gate));
    rewind(file);
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, NULL);
    (void)fclose(file);
    assert_non_null(root);
    assert_int_equal(number_of(root, "schema"), 1);
    assert_string_equal(text_of(root, "digest"), "0x0000000000000034");
    json_t *cost = json_array_get(json_object_get(json_object_get(root, "costs"), "numbers"), 0);
    assert_string_equal(text_of(cost, "kind"), "MEASURED");
    json_t *candidate = json_array_get(json_object_get(root, "gate"), 0);
    assert_int_equal(number_of(candidate, "grid_cells"), 108);
    json_t *cell = json_array_get(json_object_get(candidate, "stage_2"), 0);
    assert_string_equal(text_of(cell, "verdict"), "GENERAL");
    assert_string_equal(text_of(cell, "kind"), "MODEL");
    assert_int_equal(number_of(cell, "throughput_ratio_permille"), 998);
    assert_int_equal(number_of(cell, "p95_ratio_percent"), 3969);
    json_t *arm = json_array_get(json_object_get(cell, "arms"), 1);
    assert_int_equal(number_of(arm, "variation_permille"), 12);
    json_t *run = json_array_get(json_object_get(arm, "runs"), 0);
    assert_int_equal(number_of(run, "seed"), 7);
    assert_int_equal(number_of(run, "p95_ns"), 1034250000);
    assert_int_equal(number_of(run, "checkpoint_wait_p95_ns"), 1002500000);
    cell = json_array_get(json_object_get(candidate, "stage_2"), 1);
    assert_null(json_object_get(cell, "throughput_ratio_permille"));
    json_t *published = json_array_get(json_object_get(root, "published"), 0);
    assert_true(json_is_false(json_object_get(published, "as_published")));
    assert_string_equal(text_of(published, "kind"), "MEASURED");
    json_decref(root);
}

TEST_MAIN(gate,
          TEST(a_person_reads_verdict_rule_ratios_and_assumptions),
          TEST(a_refused_connector_has_no_cells),
          TEST(published_sets_alone_have_no_head),
          TEST(a_program_reads_every_figure))
