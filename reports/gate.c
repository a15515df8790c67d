#include "reports/gate.h"

#include <inttypes.h>
#include <string.h>

#define MILLI UINT64_C(1000)

/* --- numbers ----------------------------------------------------------------------------------- */

/* "24.390": thousandths. */
static const char *milli_text(uint64_t thousandths, char text[32])
{
    (void)snprintf(text, 32, "%" PRIu64 ".%03" PRIu64, thousandths / MILLI, thousandths % MILLI);
    return text;
}

/* Milliseconds with one digit, rounded half up. */
static const char *time_text(uint64_t ns, char text[32])
{
    const uint64_t tenths = (ns + 50000) / 100000;
    (void)snprintf(text, 32, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
    return text;
}

static const char *hundredths_text(uint64_t hundredths, char text[32])
{
    (void)snprintf(text, 32, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
    return text;
}

/* Percent with one digit, of thousandths. */
static const char *percent_text(uint64_t thousandths, char text[32])
{
    (void)snprintf(text, 32, "%" PRIu64 ".%" PRIu64 " %%", thousandths / 10, thousandths % 10);
    return text;
}

/* --- head -------------------------------------------------------------------------------------- */

static void print_costs(FILE *file, const struct report_gate *gate)
{
    (void)fprintf(file,
                  "\ncosts \"%s\": %s (digest 0x%016" PRIx64 ")\n",
                  gate->costs_name,
                  gate->costs_title,
                  gate->costs_digest);
    for (size_t i = 0; i < gate->cost_count; i++) {
        const struct report_cost *cost = &gate->costs[i];
        (void)fprintf(file, "  %-22s", cost->name);
        for (size_t k = 0; k < cost->value_count; k++) {
            (void)fprintf(file, " %" PRIu64, cost->values[k]);
        }
        (void)fprintf(file, "\n      %s: %s\n", cost->kind, cost->source);
    }
}

static void print_calibrations(FILE *file, const struct report_gate *gate)
{
    char a[32];
    char b[32];
    if (gate->calibration_count == 0) {
        return;
    }
    (void)fprintf(file,
                  "\ncalibration: a service that costs nothing, and one that takes %" PRIu64
                  " ms more\n",
                  gate->calibrations[0].slower / 1000000);
    for (size_t i = 0; i < gate->calibration_count; i++) {
        const struct report_gate_calibration *known = &gate->calibrations[i];
        (void)fprintf(file, "  %-16s %s", known->name, milli_text(known->free_throughput, a));
        (void)fprintf(file, " and %s/s", milli_text(known->slower_throughput, a));
        (void)fprintf(file,
                      " of %s/s, p95 %s and %s ms: %s",
                      milli_text(known->offered, a),
                      time_text(known->free_p95, b),
                      time_text(known->slower_p95, (char[32]){0}),
                      known->is_known ? "as known" : "NOT AS KNOWN; wanted: ");
        (void)fprintf(file, "%s\n", known->is_known ? "" : known->wanted);
    }
}

static void print_head(FILE *file, const struct report_gate *gate)
{
    (void)fprintf(
        file,
        "The performance decision rule, in virtual time. Every row is MODEL: its latencies "
        "are inputs, and a\nverdict describes this cost model, not the service. Ratios "
        "are between two arms in one environment.\n");
    print_costs(file, gate);
    (void)fprintf(
        file, "\nload: %s\nrepetitions: %s\nkeys: %s\n", gate->load, gate->repetitions, gate->keys);
    print_calibrations(file, gate);
}

/* --- cells ------------------------------------------------------------------------------------- */

static const struct report_gate_arm *find_arm(const struct report_gate_cell *cell, const char *side)
{
    for (size_t i = 0; i < cell->arm_count; i++) {
        if (strcmp(cell->arms[i].side, side) == 0) {
            return &cell->arms[i];
        }
    }
    return NULL;
}

/* "25.000 (0.0 %)": mean and variation. */
static void print_throughput(FILE *file, const struct report_gate_arm *arm)
{
    char mean[32];
    char variation[32];
    (void)fprintf(file,
                  " %10s %7s",
                  milli_text(arm->throughput, mean),
                  percent_text(arm->variation, variation));
}

static void print_cell(FILE *file, const struct report_gate_cell *cell)
{
    const struct report_gate_arm *baseline = find_arm(cell, "baseline");
    const struct report_gate_arm *candidate = find_arm(cell, "candidate");
    char text[32];
    (void)fprintf(file,
                  "  %6" PRIu32 " %-4s %2" PRIu32 " x %-3" PRIu32 " %3" PRIu64,
                  cell->payload_bytes,
                  cell->keys,
                  cell->parallelism,
                  cell->concurrency,
                  cell->interval_s);
    if (baseline == NULL || candidate == NULL) {
        (void)fprintf(file, "  %s: %s\n", cell->rule, cell->reason);
        return;
    }
    (void)fprintf(file, " %8s%c", milli_text(cell->offered, text), cell->at_ceiling ? '^' : ' ');
    print_throughput(file, baseline);
    print_throughput(file, candidate);
    (void)fprintf(file, " %6s", cell->has_ratios ? milli_text(cell->throughput_ratio, text) : "-");
    (void)fprintf(file, " %8s", time_text(baseline->p95, text));
    (void)fprintf(file, " %8s", time_text(candidate->p95, text));
    (void)fprintf(
        file, " %8s", cell->has_ratios ? hundredths_text(cell->latency_ratio, text) : "-");
    (void)fprintf(file, " %8s", time_text(candidate->wait_p95, text));
    (void)fprintf(file, " %8s", time_text(candidate->drain_p95, text));
    const struct report_gate_arm *replay = find_arm(cell, "replay");
    (void)fprintf(file,
                  " %6" PRIu64 " %2" PRIu64 "  %s (%s)",
                  replay == NULL ? 0 : replay->again,
                  replay == NULL ? 0 : replay->doubled,
                  cell->verdict,
                  cell->rule);
    if (!cell->has_ratios) {
        (void)fprintf(file, ": %s", cell->reason);
    } else if (strcmp(cell->varied, "the same") != 0) {
        (void)fprintf(file, "; %s", cell->varied);
    }
    (void)fprintf(file, "\n");
}

static void print_columns(FILE *file)
{
    (void)fprintf(file,
                  "  %6s %-4s %-6s %3s %9s %18s %18s %6s %8s %8s %8s %8s %8s %9s  %s\n",
                  "bytes",
                  "keys",
                  "p x c",
                  "s",
                  "offered/s",
                  "baseline/s   var",
                  "candidate/s   var",
                  "ratio",
                  "p95 ms",
                  "p95 ms",
                  "ratio",
                  "wait ms",
                  "drain ms",
                  "again x2",
                  "verdict (rule)");
}

/* Raw repetitions of an arm, on one line. */
static void print_repetitions(FILE *file, const struct report_gate_arm *arm)
{
    char text[32];
    (void)fprintf(file, "    %-9s %-14s", arm->side, arm->name);
    for (size_t i = 0; i < arm->run_count; i++) {
        const struct report_gate_run *run = &arm->runs[i];
        (void)fprintf(file, " %s", milli_text(run->throughput, text));
        (void)fprintf(file, "/%s", time_text(run->p95, text));
    }
    (void)fprintf(file, "\n");
}

static void print_stage_1(FILE *file, const struct report_gate_candidate *candidate)
{
    const struct report_gate_cell *cell = &candidate->stage_1;
    char text[32];
    char ratio[32];
    if (!candidate->has_stage_1) {
        return;
    }
    (void)fprintf(file, "  stage 1, the primitive, %s: %s", cell->shape, cell->verdict);
    (void)fprintf(file,
                  " by rule \"%s\" (%s): %s; as much as the service takes\n",
                  cell->rule,
                  cell->clause,
                  cell->reason);
    (void)fprintf(file,
                  "    ratios: throughput %s, p95 %s; other costs: %s\n",
                  milli_text(cell->throughput_ratio, text),
                  hundredths_text(cell->latency_ratio, ratio),
                  cell->varied);
    for (size_t i = 0; i < cell->arm_count; i++) {
        print_repetitions(file, &cell->arms[i]);
    }
    const struct report_gate_arm *replay = find_arm(cell, "replay");
    if (replay != NULL) {
        (void)fprintf(file, "    replay: %" PRIu64 " effects doubled\n", replay->doubled);
    }
}

struct tally {
    const char *name;
    size_t count;
};

static void print_summary(FILE *file, const struct report_gate_candidate *candidate)
{
    struct tally tallies[16] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < candidate->cell_count; i++) {
        const struct report_gate_cell *cell = &candidate->cells[i];
        const char *name = cell->arm_count == 0 ? cell->rule : cell->verdict;
        size_t at = 0;
        while (at < count && strcmp(tallies[at].name, name) != 0) {
            at++;
        }
        if (at == count && count < sizeof tallies / sizeof tallies[0]) {
            tallies[count].name = name;
            count++;
        }
        tallies[at].count++;
    }
    (void)fprintf(file,
                  "  %zu of the %zu cells of the grid were asked for:",
                  candidate->cell_count,
                  candidate->grid_count);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(file, "%s %zu %s", i > 0 ? "," : "", tallies[i].count, tallies[i].name);
    }
    (void)fprintf(file, "\n");
}

static void print_candidate(FILE *file, const struct report_gate_candidate *candidate)
{
    (void)fprintf(file,
                  "\ncandidate %s against its current path %s\n",
                  candidate->candidate,
                  candidate->baseline);
    if (candidate->exempt[0] != '\0') {
        (void)fprintf(
            file,
            "  p95 is printed and not applied, but for what would be said \"as written\": "
            "%s\n",
            candidate->exempt);
    }
    print_stage_1(file, candidate);
    if (candidate->refused[0] != '\0') {
        (void)fprintf(file, "  stage 2, the connector: REFUSED: %s\n", candidate->refused);
        return;
    }
    (void)fprintf(file,
                  "  stage 2, the connector (p x c: subtasks x in flight; wait: p95 until the "
                  "checkpoint that releases\n  a record; drain: p95 from there; again x2: records "
                  "replayed, effects doubled; ^: load at the ceiling)\n");
    print_columns(file);
    for (size_t i = 0; i < candidate->cell_count; i++) {
        print_cell(file, &candidate->cells[i]);
    }
    print_summary(file, candidate);
}

static bool is_in_doubt(const struct report_gate_cell *cell)
{
    return cell->arm_count > 0 && cell->has_ratios && strcmp(cell->as_written, cell->verdict) != 0;
}

static void print_as_written(FILE *file, const struct report_gate_candidate *candidate)
{
    size_t count = 0;
    const char *verdict = "";
    for (size_t i = 0; i < candidate->cell_count; i++) {
        if (is_in_doubt(&candidate->cells[i])) {
            count++;
            verdict = candidate->cells[i].as_written;
        }
    }
    if (count > 0 && candidate->exempt[0] != '\0') {
        (void)fprintf(file,
                      "  as written, without the exemption, %zu of them would be another verdict "
                      "(%s)\n",
                      count,
                      verdict);
    }
}

static void print_all_repetitions(FILE *file, const struct report_gate_candidate *candidate)
{
    if (candidate->cell_count > 0) {
        (void)fprintf(file,
                      "  repetitions, throughput per s / p95 ms, in the order of their seeds\n");
    }
    for (size_t i = 0; i < candidate->cell_count; i++) {
        const struct report_gate_cell *cell = &candidate->cells[i];
        if (cell->arm_count > 0) {
            (void)fprintf(file, "   %s\n", cell->shape);
        }
        for (size_t k = 0; k < cell->arm_count; k++) {
            print_repetitions(file, &cell->arms[k]);
        }
    }
}

static void print_more(FILE *file, const char *text)
{
    if (text[0] != '\0') {
        (void)fprintf(file, "         %s\n", text);
    }
}

static void print_cases(FILE *file, const struct report_gate *gate)
{
    if (gate->case_count > 0) {
        (void)fprintf(
            file, "\npublished data sets, MEASURED on the real services, under the same rule\n");
    }
    for (size_t i = 0; i < gate->case_count; i++) {
        const struct report_gate_case *one = &gate->cases[i];
        (void)fprintf(file,
                      "  %-6s %-12s %s; rule \"%s\" (%s)%s\n",
                      one->name,
                      one->verdict,
                      one->title,
                      one->rule,
                      one->clause,
                      one->as_published ? "" : ": NOT AS PUBLISHED");
        print_more(file, one->figures);
        print_more(file, one->note);
    }
}

void report_gate_text(FILE *file, const struct report_gate *gate)
{
    if (gate->candidate_count > 0) {
        print_head(file, gate);
    }
    for (size_t i = 0; i < gate->candidate_count; i++) {
        print_candidate(file, &gate->candidates[i]);
        print_as_written(file, &gate->candidates[i]);
        print_all_repetitions(file, &gate->candidates[i]);
    }
    print_cases(file, gate);
    (void)fprintf(file, "\n%" PRIu64 " runs, digest 0x%016" PRIx64 "\n", gate->runs, gate->digest);
}
