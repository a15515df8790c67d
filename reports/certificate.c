/* What was done for a claim and what that leaves open, in words: the same in every form of the
 * matrix. */
#include "reports/matrix.h"
#include "sinks/base/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *const report_matrix_limits[] = {
    "A claim that holds was not broken in so many runs. That is a search and no proof: only what "
    "is "
    "enumerated leaves nothing out, within its bound.",
    "A model knows what its clauses say. Where the documentation of a service is wrong, so is the "
    "model; what is not modelled is listed at the end.",
    "Time is virtual and everything runs in one thread: data races inside a sink and throughput "
    "under "
    "real load are out of reach.",
    "The stream engine follows the rules of a framework with checkpoints; it is not that "
    "framework, "
    "and the user's own code is that of the scenario.",
};
const size_t report_matrix_limit_count = ARRAY_COUNT(report_matrix_limits);

static void add(struct report_lines *lines, const char *format, ...) PRINTF_LIKE(2, 3);
static void add(struct report_lines *lines, const char *format, ...)
{
    va_list arguments;
    CHECK(lines->count < REPORT_LINES_MAX);
    va_start(arguments, format);
    (void)vsnprintf(lines->lines[lines->count++], REPORT_LINE_SIZE, format, arguments);
    va_end(arguments);
}

void report_number(uint64_t value, char text[REPORT_NUMBER_SIZE])
{
    char digits[REPORT_NUMBER_SIZE];
    const int size = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t at = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = digits[i];
    }
    text[at] = '\0';
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *report_claim_verdict(const struct report_claim *claim)
{
    if (claim->as_expected) {
        return claim->verdict == REPORT_FAILS ? "fails, as claimed" : "holds";
    }
    switch (claim->verdict) {
    case REPORT_HOLDS:
        return "holds, claimed to fail";
    case REPORT_FAILS:
        return "fails, claimed to hold";
    case REPORT_REFUSED:
        return "refused to run";
    case REPORT_UNTESTED:
        return "untested";
    case REPORT_INCONCLUSIVE:
    case REPORT_VERDICT_COUNT:
        break;
    }
    return "inconclusive";
}

/* --- done ---------------------------------------------------------------------------------------- */

static void add_runs(const struct report_claim *claim, struct report_lines *lines)
{
    char runs[REPORT_NUMBER_SIZE];
    char crashes[REPORT_NUMBER_SIZE];
    report_number(claim->seeds, runs);
    report_number(claim->crash_runs.count, crashes);
    switch (claim->way) {
    case REPORT_WAY_SEEDS:
        if (claim->crash_runs.count > 0) {
            add(lines,
                "%s counted run%s of %s under the profile %s, %s of them with a crash and a "
                "restore",
                runs,
                plural(claim->seeds),
                claim->scenario,
                claim->profile,
                crashes);
        } else {
            add(lines,
                "%s counted run%s of %s under the profile %s",
                runs,
                plural(claim->seeds),
                claim->scenario,
                claim->profile);
        }
        return;
    case REPORT_WAY_WITNESS:
        if (claim->has_witness && claim->witness_deviations == 0) {
            add(lines, "the run of %s without any fault breaks it", claim->scenario);
        } else if (claim->has_witness) {
            add(lines,
                "a witness of %" PRIu32 " choice%s, found among %s run%s of %s and shrunk; without "
                "any choice the run is %s",
                claim->witness_deviations,
                plural(claim->witness_deviations),
                runs,
                plural(claim->seeds),
                claim->scenario,
                claim->calm_breaks ? "broken as well" : "clean");
        } else {
            add(lines, "no witness in %s run%s of %s", runs, plural(claim->seeds), claim->scenario);
        }
        if (claim->twin_scenario[0] != '\0') {
            add(lines,
                "the same without the condition, %s: %s",
                claim->twin_scenario,
                report_verdict_name(claim->twin));
        }
        return;
    case REPORT_WAY_REFUSAL:
        add(lines,
            "%s configuration%s tried: the ones that must be refused, and the ones just inside the "
            "rule, which must run",
            runs,
            plural(claim->seeds));
        return;
    case REPORT_WAY_WORDS:
        add(lines,
            "one run of %s that keeps the first word and breaks the second, with %" PRIu32
            " choice%s on its tape",
            claim->scenario,
            claim->witness_deviations,
            plural(claim->witness_deviations));
        return;
    case REPORT_WAY_FIGURES:
        add(lines, "%s case%s judged: %s", runs, plural(claim->seeds), claim->figures_or_null);
        return;
    case REPORT_WAY_MEASURED:
        for (size_t i = 0; i < claim->figure_count; i++) {
            add(lines, "%s", claim->figures[i]);
        }
        return;
    case REPORT_WAY_NONE:
    case REPORT_WAY_COUNT:
        break;
    }
}

void report_claim_done(const struct report_claim *claim, struct report_lines *lines)
{
    char number[REPORT_NUMBER_SIZE];
    lines->count = 0;
    add_runs(claim, lines);
    if (claim->explored_runs > 0) {
        report_number(claim->explored_runs, number);
        add(lines,
            "every run of %s with at most %" PRIu32 " deviation%s from the calm one: %s",
            claim->small,
            claim->explored_deviations,
            plural(claim->explored_deviations),
            number);
    }
    if (claim->crash_points_seen > 0) {
        add(lines,
            "crash points hit in these: %" PRIu64 " of %" PRIu64,
            claim->crash_points_hit,
            claim->crash_points_seen);
    }
    if (claim->adversary_seeds > 0) {
        report_number(claim->adversary_seeds, number);
        add(lines,
            "%s run%s under the profile adversary: %s",
            number,
            plural(claim->adversary_seeds),
            claim->adversary);
    }
    if (claim->mutants_known) {
        add(lines,
            "%" PRIu32 " planted bug%s caught by its oracles on its scenarios",
            claim->mutants_killed,
            plural(claim->mutants_killed));
    }
}

/* --- open ---------------------------------------------------------------------------------------- */

static void add_enumeration(const struct report_claim *claim, struct report_lines *lines)
{
    if (claim->explored_runs > 0) {
        add(lines,
            "runs with more than %" PRIu32
            " deviation%s, and runs of more than its few records, are "
            "sampled and not enumerated",
            claim->explored_deviations,
            plural(claim->explored_deviations));
    } else {
        add(lines, "nothing was enumerated");
    }
    if (claim->crash_points_hit < claim->crash_points_seen) {
        add(lines,
            "%" PRIu64 " crash points were seen and not hit",
            claim->crash_points_seen - claim->crash_points_hit);
    }
}

static void add_profile(const struct report_claim *claim, struct report_lines *lines)
{
    if (strcmp(claim->profile, "adversary") == 0 || claim->way == REPORT_WAY_FIGURES) {
        return;
    }
    if (strncmp(claim->adversary, "relies on ", 10) == 0) {
        add(lines,
            "where the documentation is silent in the worst way it breaks: it %s",
            claim->adversary);
    } else if (strcmp(claim->adversary, "fails") == 0) {
        add(lines, "under the profile adversary it breaks");
    } else if (claim->adversary_seeds == 0) {
        add(lines, "profiles above %s were not tried", claim->profile);
    }
}

void report_claim_open(const struct report_claim *claim, struct report_lines *lines)
{
    lines->count = 0;
    switch (claim->way) {
    case REPORT_WAY_SEEDS:
        add_enumeration(claim, lines);
        add_profile(claim, lines);
        if (claim->kinds_absent[0] != '\0') {
            add(lines, "faults that its scenario does not offer: %s", claim->kinds_absent);
        }
        break;
    case REPORT_WAY_WITNESS:
        add(lines, "that it can break is shown, not how often, nor every way in which it can");
        break;
    case REPORT_WAY_REFUSAL:
        add(lines, "configurations other than those listed by the claim");
        break;
    case REPORT_WAY_WORDS:
        add(lines, "that the words differ is shown, not when else they do");
        break;
    case REPORT_WAY_FIGURES:
        add(lines, "figures other than those of its cases; simulated ones are of a cost model");
        break;
    case REPORT_WAY_MEASURED:
        add(lines, "time is virtual: latencies and costs are those that the scenario says");
        break;
    case REPORT_WAY_NONE:
    case REPORT_WAY_COUNT:
        break;
    }
    if (claim->way == REPORT_WAY_SEEDS && !claim->mutants_known) {
        add(lines,
            "which planted bugs its oracles catch was not counted in this run: it needs --mutants");
    }
}

/* --- one line ------------------------------------------------------------------------------------ */

static void append(char line[REPORT_LINE_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);
static void append(char line[REPORT_LINE_SIZE], const char *format, ...)
{
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + used, REPORT_LINE_SIZE - used, format, arguments);
    va_end(arguments);
}

void report_claim_established(const struct report_claim *claim, char line[REPORT_LINE_SIZE])
{
    char number[REPORT_NUMBER_SIZE];
    report_number(claim->seeds, number);
    line[0] = '\0';
    switch (claim->way) {
    case REPORT_WAY_SEEDS:
        append(line, "%s runs", number);
        break;
    case REPORT_WAY_WITNESS:
    case REPORT_WAY_WORDS:
        if (!claim->has_witness) {
            append(line, "no witness in %s runs", number);
        } else if (claim->witness_deviations == 0) {
            append(line, "breaks without any fault");
        } else {
            append(line,
                   "witness of %" PRIu32 " choice%s",
                   claim->witness_deviations,
                   plural(claim->witness_deviations));
        }
        break;
    case REPORT_WAY_REFUSAL:
        append(line, "%s configurations", number);
        break;
    case REPORT_WAY_FIGURES:
        append(line, "%s cases", number);
        break;
    case REPORT_WAY_MEASURED:
        append(line, "%s", claim->figure_count > 0 ? claim->figures[0] : "nothing measured");
        if (claim->figure_count > 1) {
            append(line, ", and %zu more", claim->figure_count - 1);
        }
        break;
    case REPORT_WAY_NONE:
    case REPORT_WAY_COUNT:
        break;
    }
    if (claim->way == REPORT_WAY_WITNESS && claim->twin != REPORT_UNTESTED) {
        append(line, ", twin %s", report_verdict_name(claim->twin));
    }
    if (claim->explored_runs > 0) {
        report_number(claim->explored_runs, number);
        append(line, ", %s enumerated", number);
    }
    if (claim->crash_points_seen > 0) {
        append(line,
               ", %" PRIu64 " of %" PRIu64 " crash points",
               claim->crash_points_hit,
               claim->crash_points_seen);
    }
    if (claim->mutants_killed > 0) {
        append(line,
               ", %" PRIu32 " planted bug%s caught",
               claim->mutants_killed,
               plural(claim->mutants_killed));
    }
}

/* --- order --------------------------------------------------------------------------------------- */

const char *report_matrix_service(const struct report_matrix *matrix, size_t index)
{
    for (size_t i = 0; i < matrix->count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++) {
            is_first = strcmp(matrix->claims[k].service, matrix->claims[i].service) != 0;
        }
        if (is_first && index-- == 0) {
            return matrix->claims[i].service;
        }
    }
    return NULL;
}

static bool is_of(const struct report_claim *claim, const char *service, const char *sink)
{
    return strcmp(claim->service, service) == 0 && strcmp(claim->sink, sink) == 0;
}

const char *
report_matrix_sink(const struct report_matrix *matrix, const char *service, size_t index)
{
    for (size_t i = 0; i < matrix->count; i++) {
        bool is_first = strcmp(matrix->claims[i].service, service) == 0;
        for (size_t k = 0; k < i && is_first; k++) {
            is_first = !is_of(&matrix->claims[k], service, matrix->claims[i].sink);
        }
        if (is_first && index-- == 0) {
            return matrix->claims[i].sink;
        }
    }
    return NULL;
}

const struct report_sink *report_matrix_find_sink(const struct report_matrix *matrix,
                                                  const char *name)
{
    for (size_t i = 0; i < matrix->sink_count; i++) {
        if (strcmp(matrix->sinks[i].name, name) == 0) {
            return &matrix->sinks[i];
        }
    }
    return NULL;
}
