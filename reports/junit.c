#include "reports/junit.h"

#include "reports/escape.h"
#include "reports/failure.h"

#include <inttypes.h>
#include <string.h>

enum case_state {
    CASE_PASSED = 0,
    CASE_FAILED,
    CASE_SKIPPED, /* known */
    CASE_ERROR,   /* no verdict: a limit */
};

struct totals {
    uint64_t tests;
    uint64_t failures;
    uint64_t errors;
    uint64_t skipped;
};

static void count_case(struct totals *totals, enum case_state state)
{
    totals->tests++;
    totals->failures += state == CASE_FAILED ? 1 : 0;
    totals->errors += state == CASE_ERROR ? 1 : 0;
    totals->skipped += state == CASE_SKIPPED ? 1 : 0;
}

static void add_totals(struct totals *sum, const struct totals *more)
{
    sum->tests += more->tests;
    sum->failures += more->failures;
    sum->errors += more->errors;
    sum->skipped += more->skipped;
}

/* --- a sweep ----------------------------------------------------------------------------------- */

/* Violations that are asked for are no failures. */
static bool is_failure(const struct report_run *run)
{
    return !(run->expected == REPORT_FAILS && run->as_expected);
}

static enum case_state property_state(const struct report_run *run, const char *oracle)
{
    enum case_state state = CASE_PASSED;
    for (size_t i = 0; i < run->violation_count; i++) {
        const struct report_violation *violation = &run->violations[i];
        if (strcmp(violation->oracles[0], oracle) != 0 || !is_failure(run)) {
            continue;
        }
        if (violation->novelty != REPORT_NOVELTY_KNOWN) {
            return CASE_FAILED;
        }
        state = CASE_SKIPPED;
    }
    return state;
}

/* Where a property was broken, its own case tells. */
static enum case_state verdict_state(const struct report_run *run)
{
    const bool is_told = run->violation_count > 0 && is_failure(run);
    if (run->as_expected || (is_told && run->verdict != REPORT_INCONCLUSIVE)) {
        return CASE_PASSED;
    }
    if (run->limited > 0 && run->verdict == REPORT_INCONCLUSIVE) {
        return CASE_ERROR;
    }
    return run->novelty == REPORT_NOVELTY_KNOWN ? CASE_SKIPPED : CASE_FAILED;
}

/* An oracle that no judge calls (a crash, a hang) is no property of the list. */
static bool is_listed(const struct report_run *run, const char *oracle)
{
    for (size_t i = 0; i < run->oracle_count; i++) {
        if (strcmp(run->oracles[i], oracle) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_first_of_unlisted(const struct report_run *run, size_t index)
{
    const char *oracle = run->violations[index].oracles[0];
    for (size_t i = 0; i < index; i++) {
        if (strcmp(run->violations[i].oracles[0], oracle) == 0) {
            return false;
        }
    }
    return !is_listed(run, oracle);
}

static struct totals totals_of(const struct report_run *run)
{
    struct totals totals = {0};
    for (size_t i = 0; i < run->oracle_count; i++) {
        count_case(&totals, property_state(run, run->oracles[i]));
    }
    for (size_t i = 0; i < run->violation_count; i++) {
        if (is_first_of_unlisted(run, i)) {
            count_case(&totals, property_state(run, run->violations[i].oracles[0]));
        }
    }
    count_case(&totals, verdict_state(run));
    return totals;
}

/* --- writing ----------------------------------------------------------------------------------- */

static void write_attribute(FILE *file, const char *name, const char *value)
{
    (void)fprintf(file, " %s=\"", name);
    escape_xml_attribute(file, value);
    (void)fputc('"', file);
}

static void write_totals(FILE *file, const struct totals *totals, bool with_skipped)
{
    (void)fprintf(file,
                  " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\"",
                  totals->tests,
                  totals->failures,
                  totals->errors);
    if (with_skipped) {
        (void)fprintf(file, " skipped=\"%" PRIu64 "\"", totals->skipped);
    }
}

/* Open a test case; one that passed is closed at once. */
static void open_case(FILE *file, const char *class_name, const char *name, const char *profile)
{
    (void)fputs("    <testcase", file);
    write_attribute(file, "classname", class_name);
    (void)fputs(" name=\"", file);
    escape_xml_attribute(file, name);
    (void)fputs(" (", file);
    escape_xml_attribute(file, profile);
    (void)fputs(")\"", file);
}

static void take_line(void *context, enum failure_part part, const char *line)
{
    FILE *file = context;
    (void)part;
    (void)fputc('\n', file);
    escape_xml_content(file, line);
}

static void write_violation(FILE *file, const struct report_violation *violation)
{
    (void)fputs("      <failure", file);
    write_attribute(file, "type", violation->oracles[0]);
    (void)fputs(" message=\"", file);
    escape_xml_attribute(file, violation->subject);
    (void)fputs(": ", file);
    escape_xml_attribute(file, violation->message);
    (void)fputs("\">", file);
    failure_lines(violation, file, take_line);
    (void)fputs("\n      </failure>\n", file);
}

static void write_property(FILE *file, const struct report_run *run, const char *oracle)
{
    const enum case_state state = property_state(run, oracle);
    open_case(file, run->scenario, oracle, run->profile);
    if (state == CASE_PASSED) {
        (void)fputs("/>\n", file);
        return;
    }
    (void)fputs(">\n", file);
    if (state == CASE_SKIPPED) {
        (void)fputs("      <skipped>known from the baseline</skipped>\n", file);
    }
    for (size_t i = 0; i < run->violation_count && state == CASE_FAILED; i++) {
        const struct report_violation *violation = &run->violations[i];
        if (strcmp(violation->oracles[0], oracle) == 0 &&
            violation->novelty != REPORT_NOVELTY_KNOWN) {
            write_violation(file, violation);
        }
    }
    (void)fputs("    </testcase>\n", file);
}

static void write_reasons(FILE *file, const struct report_run *run)
{
    if (run->refused > 0) {
        (void)fprintf(file, "\n  refused in %" PRIu64 " runs: ", run->refused);
        escape_xml_content(file, run->refusal);
    }
    if (run->limited > 0) {
        (void)fprintf(file, "\n  a limit ended %" PRIu64 " runs: ", run->limited);
        escape_xml_content(file, run->limit);
    }
    for (size_t i = 0; i < run->shortfall_count; i++) {
        (void)fputs("\n  missing: ", file);
        escape_xml_content(file, run->shortfalls[i]);
    }
}

static void write_verdict(FILE *file, const struct report_run *run)
{
    const enum case_state state = verdict_state(run);
    const char *element = state == CASE_ERROR ? "error" : "failure";
    open_case(file, run->scenario, "verdict", run->profile);
    if (state == CASE_PASSED) {
        (void)fputs("/>\n", file);
        return;
    }
    (void)fputs(">\n", file);
    if (state == CASE_SKIPPED) {
        (void)fputs("      <skipped>known from the baseline</skipped>\n", file);
    } else {
        (void)fprintf(file,
                      "      <%s type=\"%s\" message=\"%s, expected %s\">",
                      element,
                      report_verdict_name(run->verdict),
                      report_verdict_name(run->verdict),
                      report_verdict_name(run->expected));
        write_reasons(file, run);
        (void)fprintf(file, "\n      </%s>\n", element);
    }
    (void)fputs("    </testcase>\n", file);
}

static void write_number_property(FILE *file, const char *name, uint64_t value)
{
    (void)fprintf(file, "      <property name=\"%s\" value=\"%" PRIu64 "\"/>\n", name, value);
}

static void write_text_property(FILE *file, const char *name, const char *value)
{
    (void)fprintf(file, "      <property name=\"%s\"", name);
    write_attribute(file, "value", value);
    (void)fputs("/>\n", file);
}

static void write_suite(FILE *file, const struct report_run *run)
{
    const struct totals totals = totals_of(run);
    (void)fputs("  <testsuite name=\"", file);
    escape_xml_attribute(file, run->scenario);
    (void)fputs(" (", file);
    escape_xml_attribute(file, run->profile);
    (void)fputs(")\"", file);
    write_totals(file, &totals, true);
    (void)fputs(">\n    <properties>\n", file);
    write_text_property(file, "seeds", run->seeds);
    write_number_property(file, "runs", run->runs);
    write_number_property(file, "counted", run->counted);
    write_number_property(file, "with a violation", run->violating);
    write_text_property(file, "expected", report_verdict_name(run->expected));
    write_text_property(file, "verdict", report_verdict_name(run->verdict));
    (void)fprintf(
        file, "      <property name=\"digest\" value=\"0x%016" PRIx64 "\"/>\n", run->digest);
    (void)fputs("    </properties>\n", file);
    for (size_t i = 0; i < run->oracle_count; i++) {
        write_property(file, run, run->oracles[i]);
    }
    for (size_t i = 0; i < run->violation_count; i++) {
        if (is_first_of_unlisted(run, i)) {
            write_property(file, run, run->violations[i].oracles[0]);
        }
    }
    write_verdict(file, run);
    (void)fputs("  </testsuite>\n", file);
}

static void open_file(FILE *file, const struct totals *totals)
{
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sinkproof\"", file);
    write_totals(file, totals, false);
    (void)fputs(">\n", file);
}

static bool close_file(FILE *file)
{
    (void)fputs("</testsuites>\n", file);
    return ferror(file) == 0;
}

bool report_junit_runs(FILE *file, const struct report_run *runs, size_t count)
{
    struct totals sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct totals totals = totals_of(&runs[i]);
        add_totals(&sum, &totals);
    }
    open_file(file, &sum);
    for (size_t i = 0; i < count; i++) {
        write_suite(file, &runs[i]);
    }
    return close_file(file);
}

/* --- the matrix -------------------------------------------------------------------------------- */

static void write_line(FILE *file, const char *words, const char *text)
{
    if (text[0] != '\0') {
        (void)fprintf(file, "\n  %s: ", words);
        escape_xml_content(file, text);
    }
}

static void write_claim(FILE *file, const struct report_claim *claim)
{
    (void)fputs("    <testcase", file);
    write_attribute(file, "classname", claim->sink);
    (void)fputs(" name=\"", file);
    escape_xml_attribute(file, claim->id);
    (void)fputs(": ", file);
    escape_xml_attribute(file, claim->property);
    (void)fprintf(file, " %s (", report_verdict_name(claim->expected));
    escape_xml_attribute(file, claim->profile);
    if (claim->as_expected) {
        (void)fputs(")\"/>\n", file);
        return;
    }
    (void)fprintf(file,
                  ")\">\n      <failure type=\"%s\" message=\"%s, expected %s\">",
                  report_verdict_name(claim->verdict),
                  report_verdict_name(claim->verdict),
                  report_verdict_name(claim->expected));
    write_line(file, "condition", claim->condition);
    write_line(file, "why", claim->why);
    write_line(file, "witness", claim->witness_message);
    write_line(file, "tape", claim->witness_tape);
    (void)fputs("\n      </failure>\n    </testcase>\n", file);
}

bool report_junit_claims(FILE *file, const struct report_claim *claims, size_t count)
{
    struct totals totals = {0};
    for (size_t i = 0; i < count; i++) {
        count_case(&totals, claims[i].as_expected ? CASE_PASSED : CASE_FAILED);
    }
    open_file(file, &totals);
    (void)fputs("  <testsuite name=\"guarantee matrix\"", file);
    write_totals(file, &totals, true);
    (void)fputs(">\n", file);
    for (size_t i = 0; i < count; i++) {
        write_claim(file, &claims[i]);
    }
    (void)fputs("  </testsuite>\n", file);
    return close_file(file);
}
