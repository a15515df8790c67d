#include "reports/gate.h"

#include <jansson.h>

#include <inttypes.h>

static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);
    return value != NULL ? value : json_string("(not UTF-8)");
}

static json_t *digest_of(uint64_t digest)
{
    char text[24];
    (void)snprintf(text, sizeof text, "0x%016" PRIx64, digest);
    return json_string(text);
}

static json_t *run_json(const struct report_gate_run *run)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "seed",
                     number(run->seed),
                     "standing",
                     text_of(run->standing),
                     "cause",
                     text_of(run->cause),
                     "throughput_milli_per_s",
                     number(run->throughput),
                     "p50_ns",
                     number(run->p50),
                     "p95_ns",
                     number(run->p95),
                     "p99_ns",
                     number(run->p99),
                     "checkpoint_wait_p95_ns",
                     number(run->wait_p95),
                     "drain_p95_ns",
                     number(run->drain_p95),
                     "digest",
                     digest_of(run->digest));
}

static json_t *arm_json(const struct report_gate_arm *arm)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < arm->run_count; i++) {
        (void)json_array_append_new(runs, run_json(&arm->runs[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "side",
                     text_of(arm->side),
                     "arm",
                     text_of(arm->name),
                     "mean_throughput_milli_per_s",
                     number(arm->throughput),
                     "mean_p95_ns",
                     number(arm->p95),
                     "variation_permille",
                     number(arm->variation),
                     "submitted_again",
                     number(arm->again),
                     "doubled",
                     number(arm->doubled),
                     "runs",
                     runs);
}

static json_t *cell_json_of(const struct report_gate_cell *cell)
{
    json_t *arms = json_array();
    for (size_t i = 0; i < cell->arm_count; i++) {
        (void)json_array_append_new(arms, arm_json(&cell->arms[i]));
    }
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}",
                               "payload_bytes",
                               number(cell->payload_bytes),
                               "keys",
                               text_of(cell->keys),
                               "parallelism",
                               number(cell->parallelism),
                               "in_flight",
                               number(cell->concurrency),
                               "interval_s",
                               number(cell->interval_s),
                               "offered_milli_per_s",
                               number(cell->offered),
                               "at_ceiling",
                               cell->at_ceiling,
                               "kind",
                               "MODEL");
    json_t *verdict = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
                                "verdict",
                                text_of(cell->verdict),
                                "rule",
                                text_of(cell->rule),
                                "clause",
                                text_of(cell->clause),
                                "reason",
                                text_of(cell->reason),
                                "as_written",
                                text_of(cell->as_written),
                                "other_costs",
                                text_of(cell->varied),
                                "as_expected",
                                cell->as_expected);
    (void)json_object_update(object, verdict);
    json_decref(verdict);
    if (cell->has_ratios) {
        (void)json_object_set_new(
            object, "throughput_ratio_permille", number(cell->throughput_ratio));
        (void)json_object_set_new(object, "p95_ratio_percent", number(cell->latency_ratio));
    }
    (void)json_object_set_new(object, "arms", arms);
    return object;
}

static json_t *candidate_json(const struct report_gate_candidate *candidate)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < candidate->cell_count; i++) {
        (void)json_array_append_new(cells, cell_json_of(&candidate->cells[i]));
    }
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
                               "name",
                               text_of(candidate->name),
                               "candidate",
                               text_of(candidate->candidate),
                               "baseline",
                               text_of(candidate->baseline),
                               "p95_exempt",
                               text_of(candidate->exempt),
                               "refused",
                               text_of(candidate->refused),
                               "grid_cells",
                               number(candidate->grid_count));
    if (candidate->has_stage_1) {
        (void)json_object_set_new(object, "stage_1", cell_json_of(&candidate->stage_1));
    }
    (void)json_object_set_new(object, "stage_2", cells);
    return object;
}

static json_t *costs_json(const struct report_gate *gate)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gate->cost_count; i++) {
        const struct report_cost *cost = &gate->costs[i];
        json_t *values = json_array();
        for (size_t k = 0; k < cost->value_count; k++) {
            (void)json_array_append_new(values, number(cost->values[k]));
        }
        (void)json_array_append_new(list,
                                    json_pack("{s:o, s:o, s:o, s:o}",
                                              "name",
                                              text_of(cost->name),
                                              "values",
                                              values,
                                              "kind",
                                              text_of(cost->kind),
                                              "source",
                                              text_of(cost->source)));
    }
    return json_pack("{s:o, s:o, s:o, s:o}",
                     "name",
                     text_of(gate->costs_name),
                     "title",
                     text_of(gate->costs_title),
                     "digest",
                     digest_of(gate->costs_digest),
                     "numbers",
                     list);
}

static json_t *calibrations_json(const struct report_gate *gate)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gate->calibration_count; i++) {
        const struct report_gate_calibration *known = &gate->calibrations[i];
        (void)json_array_append_new(list,
                                    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
                                              "arm",
                                              text_of(known->name),
                                              "offered_milli_per_s",
                                              number(known->offered),
                                              "free_milli_per_s",
                                              number(known->free_throughput),
                                              "free_p95_ns",
                                              number(known->free_p95),
                                              "slower_milli_per_s",
                                              number(known->slower_throughput),
                                              "slower_p95_ns",
                                              number(known->slower_p95),
                                              "wanted",
                                              text_of(known->wanted),
                                              "as_known",
                                              known->is_known));
    }
    return list;
}

static json_t *cases_json(const struct report_gate *gate)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gate->case_count; i++) {
        const struct report_gate_case *one = &gate->cases[i];
        (void)json_array_append_new(list,
                                    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}",
                                              "name",
                                              text_of(one->name),
                                              "verdict",
                                              text_of(one->verdict),
                                              "rule",
                                              text_of(one->rule),
                                              "clause",
                                              text_of(one->clause),
                                              "figures",
                                              text_of(one->figures),
                                              "note",
                                              text_of(one->note),
                                              "as_published",
                                              one->as_published,
                                              "kind",
                                              "MEASURED"));
    }
    return list;
}

bool report_gate_json(FILE *file, const struct report_gate *gate)
{
    json_t *candidates = json_array();
    for (size_t i = 0; i < gate->candidate_count; i++) {
        (void)json_array_append_new(candidates, candidate_json(&gate->candidates[i]));
    }
    json_t *root = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                             "schema",
                             1,
                             "version",
                             text_of(gate->version),
                             "costs",
                             costs_json(gate),
                             "load",
                             text_of(gate->load),
                             "repetitions",
                             text_of(gate->repetitions),
                             "keys",
                             text_of(gate->keys),
                             "calibrations",
                             calibrations_json(gate),
                             "gate",
                             candidates,
                             "published",
                             cases_json(gate),
                             "runs",
                             number(gate->runs),
                             "digest",
                             digest_of(gate->digest));
    const bool ok =
        root != NULL && json_dumpf(root, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    json_decref(root);
    return ok;
}
