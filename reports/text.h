/* Reports as text for a terminal. */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

#include "reports/records.h"

#include <stdio.h>

/* Colour is for a terminal whose user did not say no to it. */
enum report_style {
    REPORT_PLAIN = 0,
    REPORT_COLOUR,
};

/* One line per sweep, with failures and what is missing below it. */
void report_text_run(FILE *file, const struct report_run *run, enum report_style style);

/* The same for an exploration, with its certificate: what was made within which bound. */
void report_text_explored(FILE *file,
                          const struct report_explored *explored,
                          enum report_style style);
/* A violation in at most REPORT_FAILURE_LINES lines. */
void report_text_violation(FILE *file, const struct report_run *run, size_t index);
void report_text_claims(FILE *file, const struct report_claim *claims, size_t count);
/* The kill matrix: mutants down, the oracles that killed any of them across. */
void report_text_mutants(FILE *file, const struct report_mutant *mutants, size_t count);
/* What became of a kept tape: one line, and below it what changed; and the sum of many. */
void report_text_entry(FILE *file, const struct report_entry *entry);
void report_text_entries(FILE *file, const struct report_entry *entries, size_t count);
/* Why a run fails, on a screen. */
void report_text_explanation(FILE *file, const struct report_explanation *explanation);
/* What of an earlier run is new, still there and fixed. */
void report_text_baseline(FILE *file, const struct report_baseline *baseline);
/* How many of its failures are still there, and how many are fixed. */
void report_baseline_counts(const struct report_baseline *baseline,
                            uint64_t *there,
                            uint64_t *fixed);
void report_text_metrics(FILE *file, const struct report_metric *metrics, size_t count);

/* Which behaviour marks were reached. Returns whether all were that are wanted. */
bool report_text_survey(FILE *file, const struct report_survey *survey);

#endif
