/* The guarantee matrix to be read by people: what is claimed, how each claim was established, what that
 * leaves open. The same records give the same bytes: nothing here tells when or how fast. */
#ifndef REPORTS_MATRIX_H
#define REPORTS_MATRIX_H

#include "reports/records.h"
#include "reports/timeline.h"

#include <stdio.h>

/* What is behind a witness. */
struct report_evidence {
    bool has_explanation;
    struct report_explanation explanation;
    bool has_fails;
    struct report_timeline fails;
    bool has_passes;
    struct report_timeline passes; /* the nearest run that does */
};

/* A clause of a service's documentation that its model leaves out. */
struct report_gap {
    const char *service;
    const char *clause;
    const char *sentence;
    const char *why;
};

struct report_sink {
    const char *name;
    const char *sentence;
};

struct report_matrix {
    const char *version; /* "0.1.0" */
    uint64_t clauses;    /* digest of their set */
    const char *budget;  /* in words */
    const char *command; /* that makes it again */
    const struct report_claim *claims;
    const struct report_evidence *evidence_or_null; /* one per claim */
    size_t count;
    const struct report_gap *gaps;
    size_t gap_count;
    const struct report_sink *sinks;
    size_t sink_count;
};

/* Write a whole file. False when the stream gave out. */
bool report_markdown_matrix(FILE *file, const struct report_matrix *matrix);
bool report_html_matrix(FILE *file, const struct report_matrix *matrix);

/* --- for the writers ---------------------------------------------------------------------------- */

#define REPORT_LINES_MAX 18
#define REPORT_LINE_SIZE 320

struct report_lines {
    size_t count;
    char lines[REPORT_LINES_MAX][REPORT_LINE_SIZE];
};

/* What was done for a claim, and what that does not cover. */
void report_claim_done(const struct report_claim *claim, struct report_lines *lines);
void report_claim_open(const struct report_claim *claim, struct report_lines *lines);

/* The same in one line: "2,000 runs, 363 enumerated, 22 of 22 crash points". */
void report_claim_established(const struct report_claim *claim, char line[REPORT_LINE_SIZE]);

/* What holds of every claim, whatever was done. */
extern const char *const report_matrix_limits[];
extern const size_t report_matrix_limit_count;

/* "holds" as it is; "fails, as claimed"; "holds, and was claimed to fail". */
const char *report_claim_verdict(const struct report_claim *claim);

/* Claims of one service, of one sink: the i-th that no earlier claim names; NULL past the end. */
const char *report_matrix_service(const struct report_matrix *matrix, size_t index);
const char *
report_matrix_sink(const struct report_matrix *matrix, const char *service, size_t index);
const struct report_sink *report_matrix_find_sink(const struct report_matrix *matrix,
                                                  const char *name);

#define REPORT_NUMBER_SIZE 32

/* "20,000". */
void report_number(uint64_t value, char text[REPORT_NUMBER_SIZE]);

#endif
