#include "reports/step_summary.h"

#include "reports/escape.h"
#include "reports/failure.h"
#include "reports/text.h"

#include <inttypes.h>

#define FAILURES_MAX 20u /* in full: a summary has a size that it may not exceed */

static const char *mark_of(bool is_good, bool is_known)
{
    return is_good ? "✅" : is_known ? "➖" : "❌";
}

/* --- sweeps ------------------------------------------------------------------------------------ */

static bool run_is_known(const struct report_run *run)
{
    for (size_t i = 0; i < run->violation_count; i++) {
        if (run->violations[i].novelty != REPORT_NOVELTY_KNOWN) {
            return false;
        }
    }
    return run->violation_count > 0 ? run->verdict != REPORT_INCONCLUSIVE
                                    : run->novelty == REPORT_NOVELTY_KNOWN;
}

static void write_row(FILE *file, const struct report_run *run)
{
    (void)fprintf(file, "| %s ", mark_of(run->as_expected, run_is_known(run)));
    escape_markdown(file, run->scenario);
    (void)fputs(" | ", file);
    escape_markdown(file, run->profile);
    (void)fprintf(file,
                  " | %s | %s | %" PRIu64 " of %" PRIu64 " | ",
                  report_verdict_name(run->verdict),
                  report_verdict_name(run->expected),
                  run->counted,
                  run->runs);
    for (size_t i = 0; i < run->violation_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", file);
        escape_markdown(file, run->violations[i].oracles[0]);
        if (run->violations[i].novelty != REPORT_NOVELTY_NONE) {
            (void)fprintf(file, " (%s)", report_novelty_name(run->violations[i].novelty));
        }
    }
    (void)fprintf(file, " | `0x%016" PRIx64 "` |\n", run->digest);
}

static void take_line(void *context, enum failure_part part, const char *line)
{
    FILE *file = context;
    (void)part;
    escape_xml_content(file, line);
    (void)fputc('\n', file);
}

static void open_fold(FILE *file, const char *first, const char *second, const char *third)
{
    (void)fputs("\n<details><summary>", file);
    escape_xml_content(file, first);
    (void)fputs(": ", file);
    escape_xml_content(file, second);
    (void)fputs(": ", file);
    escape_xml_content(file, third);
    (void)fputs("</summary>\n\n<pre>\n", file);
}

static void write_failure(FILE *file, const struct report_run *run, size_t index)
{
    const struct report_violation *violation = &run->violations[index];
    open_fold(file, run->scenario, violation->oracles[0], violation->subject);
    failure_lines(violation, file, take_line);
    (void)fputs("</pre>\n</details>\n", file);
}

static void write_missing(FILE *file, const struct report_run *run)
{
    for (size_t i = 0; i < run->shortfall_count; i++) {
        (void)fputs("\n- ", file);
        escape_markdown(file, run->scenario);
        (void)fputs(": missing: ", file);
        escape_markdown(file, run->shortfalls[i]);
    }
    if (run->shortfall_count > 0) {
        (void)fputc('\n', file);
    }
}

static void write_baseline(FILE *file, const struct report_baseline *baseline)
{
    uint64_t there = 0;
    uint64_t fixed = 0;
    report_baseline_counts(baseline, &there, &fixed);
    (void)fprintf(file,
                  "\nAgainst the baseline: **%" PRIu64 " new**, %" PRIu64 " still there, %" PRIu64
                  " fixed.\n",
                  baseline->new_count,
                  there,
                  fixed);
}

bool report_step_summary_runs(FILE *file,
                              const struct report_run *runs,
                              size_t count,
                              const struct report_baseline *baseline_or_null)
{
    size_t good = 0;
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        good += runs[i].as_expected ? 1 : 0;
    }
    (void)fprintf(file,
                  "## sinkproof: %zu of %zu scenarios as expected\n\n"
                  "| scenario | profile | verdict | expected | runs counted | broken | digest |\n"
                  "|---|---|---|---|---|---|---|\n",
                  good,
                  count);
    for (size_t i = 0; i < count; i++) {
        write_row(file, &runs[i]);
    }
    if (baseline_or_null != NULL) {
        write_baseline(file, baseline_or_null);
    }
    for (size_t i = 0; i < count; i++) {
        write_missing(file, &runs[i]);
        for (size_t k = 0; k < runs[i].violation_count && !runs[i].as_expected; k++) {
            if (failures < FAILURES_MAX) {
                write_failure(file, &runs[i], k);
            }
            failures++;
        }
    }
    if (failures > FAILURES_MAX) {
        (void)fprintf(file, "\nand %zu more failures\n", failures - FAILURES_MAX);
    }
    return ferror(file) == 0;
}

/* --- the matrix -------------------------------------------------------------------------------- */

static void write_claim(FILE *file, const struct report_claim *claim)
{
    open_fold(file, claim->id, claim->sink, claim->property);
    (void)fprintf(file,
                  "  %s, expected %s\n  condition: ",
                  report_verdict_name(claim->verdict),
                  report_verdict_name(claim->expected));
    escape_xml_content(file, claim->condition);
    (void)fputs("\n  why: ", file);
    escape_xml_content(file, claim->why);
    if (claim->has_witness) {
        (void)fputs("\n  witness: ", file);
        escape_xml_content(file, claim->witness_message);
        (void)fputc('\n', file);
        escape_xml_content(file, claim->witness_tape);
    }
    (void)fputs("\n</pre>\n</details>\n", file);
}

bool report_step_summary_claims(FILE *file, const struct report_claim *claims, size_t count)
{
    size_t good = 0;
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        good += claims[i].as_expected ? 1 : 0;
    }
    (void)fprintf(file, "## sinkproof: %zu of %zu claims as expected\n", good, count);
    for (size_t i = 0; i < count; i++) {
        if (!claims[i].as_expected && shown < FAILURES_MAX) {
            write_claim(file, &claims[i]);
            shown++;
        }
    }
    if (count - good > shown) {
        (void)fprintf(file, "\nand %zu more\n", count - good - shown);
    }
    return ferror(file) == 0;
}
