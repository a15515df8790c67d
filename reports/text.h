/* Reports as text for a terminal. */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

#include "reports/records.h"

#include <stdio.h>

/* A violation in at most this many lines, the command that replays it included. */
#define REPORT_FAILURE_LINES 12

/* One line per sweep, with failures and what is missing below it. */
void report_text_run(FILE *file, const struct report_run *run);

/* The same for an exploration, with its certificate: what was made within which bound. */
void report_text_explored(FILE *file, const struct report_explored *explored);
void report_text_violation(FILE *file, const struct report_run *run, size_t index);
void report_text_claims(FILE *file, const struct report_claim *claims, size_t count);
/* The kill matrix: mutants down, the oracles that killed any of them across. */
void report_text_mutants(FILE *file, const struct report_mutant *mutants, size_t count);
/* What became of a kept tape: one line, and below it what changed; and the sum of many. */
void report_text_entry(FILE *file, const struct report_entry *entry);
void report_text_entries(FILE *file, const struct report_entry *entries, size_t count);
/* Why a run fails, on a screen. */
void report_text_explanation(FILE *file, const struct report_explanation *explanation);
void report_text_metrics(FILE *file, const struct report_metric *metrics, size_t count);

/* Which behaviour marks were reached. Returns whether all were that are wanted. */
bool report_text_survey(FILE *file, const struct report_survey *survey);

#endif
